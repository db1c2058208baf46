// editor.js -- the text of a scene: errors at their lines, completion from the schema.
import { el } from "./dom.js";
import { complete } from "./json_text.js";

export class Editor {
  constructor(schema, onEdit) {
    this.schema = schema;
    this.onEdit = onEdit;
    this.area = el("textarea", { spellcheck: "false", wrap: "off", autocomplete: "off", "aria-label": "The scene as JSON", oninput: () => this.edited(), onscroll: () => this.scrolled(), onkeydown: (e) => this.key(e), onblur: () => this.suggest(null), onclick: () => this.suggest(null) });
    this.gutter = el("div.gutter", { "aria-hidden": true });
    this.list = el("div.suggest", { role: "listbox", "aria-label": "What may come here", hidden: true });
    this.errors = el("div.errors", { role: "status", "aria-label": "Errors of the scene" });
    this.root = el("div.panel.editor", {}, el("div.text", {}, this.gutter, this.area, this.list), this.errors, el("p.hint", {}, "Ctrl+Space: what may come here. The scene starts again when the text can be read."));
  }

  get text() { return this.area.value; }
  set text(value) {
    const { scrollTop, scrollLeft } = this.area;
    this.area.value = value;
    (this.area.scrollTop = scrollTop), (this.area.scrollLeft = scrollLeft);
    this.number();
  }

  edited() {
    this.number();
    const at = this.area.selectionStart;
    this.suggest(/[\w"-]/.test(this.text[at - 1] ?? "") && at === this.area.selectionEnd ? complete(this.schema, this.text, at) : null);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.onEdit(this.text), 500);
  }

  number() {
    const lines = this.text.split("\n").length;
    if (this.gutter.childElementCount !== lines) this.gutter.replaceChildren(...Array.from({ length: lines }, (_, k) => el("i", {}, String(k + 1))));
    this.scrolled();
  }

  scrolled() { this.gutter.style.transform = `translateY(${-this.area.scrollTop}px)`; }

  // [{line, message}]: each is shown at its line; a click moves the cursor there.
  show(errors) {
    for (const i of this.gutter.querySelectorAll(".wrong")) i.classList.remove("wrong");
    this.errors.replaceChildren(...errors.map(({ line, message }) => {
      this.gutter.children[line - 1]?.classList.add("wrong");
      return el("button", { type: "button", onclick: () => this.goTo(line) }, message);
    }));
  }

  goTo(line) {
    const at = this.text.split("\n").slice(0, Math.max(0, line - 1)).reduce((n, l) => n + l.length + 1, 0);
    this.area.focus();
    this.area.setSelectionRange(at, at + (this.text.slice(at).split("\n")[0].length));
    this.area.scrollTop = Math.max(0, (line - 5) * this.lineHeight);
  }

  get lineHeight() { return parseFloat(getComputedStyle(this.area).lineHeight); }

  suggest(found) {
    this.found = found;
    this.list.hidden = !found;
    if (!found) return;
    this.chosen = 0;
    this.list.replaceChildren(...found.items.slice(0, 60).map((item, k) => el("div", { role: "option", "aria-selected": k === 0, title: item.help, onmousedown: (e) => { e.preventDefault(); this.accept(k); } }, el("b", {}, item.label), el("small", {}, item.help))));
    const before = this.text.slice(0, found.from), row = before.split("\n").length, column = before.length - before.lastIndexOf("\n") - 1;
    this.list.style.top = `${row * this.lineHeight + 8 - this.area.scrollTop}px`;
    this.list.style.left = `${Math.max(36, Math.min(36 + column * 7.2 - this.area.scrollLeft, this.area.clientWidth - 255))}px`;
    this.list.scrollTop = 0;
  }

  accept(k) {
    const { from, to, items } = this.found, item = items[k];
    this.area.focus();
    this.area.setSelectionRange(from, to);
    // execCommand keeps the browser's undo; where it is gone, undo is lost
    if (!document.execCommand?.("insertText", false, item.text)) this.area.setRangeText(item.text, from, to, "end");
    if (/(""|\[\]|\{\})$/.test(item.text)) this.area.selectionStart = this.area.selectionEnd = from + item.text.length - 1;
    this.suggest(null);
    this.number();
    this.onEdit(this.text);
  }

  key(e) {
    e.stopPropagation(); // letters are not commands here
    if (e.key === " " && e.ctrlKey) return this.suggest(complete(this.schema, this.text, this.area.selectionStart)), e.preventDefault();
    if (!this.found) return;
    const n = Math.min(60, this.found.items.length), way = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    if (way) {
      this.list.children[this.chosen].setAttribute("aria-selected", false);
      this.chosen = (this.chosen + way + n) % n;
      this.list.children[this.chosen].setAttribute("aria-selected", true);
      this.list.children[this.chosen].scrollIntoView({ block: "nearest" });
    } else if (e.key === "Enter" || e.key === "Tab") this.accept(this.chosen);
    else if (e.key === "Escape") this.suggest(null);
    else return;
    e.preventDefault();
  }
}
