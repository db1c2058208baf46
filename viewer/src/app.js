// app.js -- the page of a run: layout; picture, plots and controls at one time.
import "uplot/dist/uPlot.min.css";
import "./style.css";
import { Picture } from "./scene3d.js";
import { Plots, runPlots, bodyPlots } from "./plots.js";
import { download, el, icon, table } from "./dom.js";
import { bodiesPanel, facts, scenePanel, summaryPanel, thinned } from "./panels.js";
import { Live } from "./live.js";

const SPEEDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10];
const VIEWS = { 1: "x", 2: "y", 3: "z", 4: "-x", 5: "-y", 6: "-z" };
const KEYS = [["Space", "play, pause"], ["L", "play again and again"], ["← →", "a frame back, on (with Shift: ten)"], ["Home End", "first, last frame"], ["− +", "slower, faster"], ["C A Q", "contact points, their forces, forces in joints: on the selected body, else on what can move"], ["B", "forces on both of two bodies"], ["[ ]", "shorter, longer arrows"], ["T J W", "trails, joints, wireframe"], ["F", "follow the selected body"], ["N P", "next, previous body"], ["Esc", "nothing selected"], ["R", "view as at first"], ["1 2 3", "look along x, y, z (4 5 6: from the other side)"], ["Alt ← → ↑ ↓", "turn the camera; with + −: nearer, further"], ["S", "save the picture"], ["U", "copy a link to this moment and view"], ["Enter", "full screen"], ["D", "light, dark"]];

export class App {
  // `more` adds to the page: {title: an element in place of the name, play: one above the knobs, panels: {name: element}}; best:
  // pictures at full quality, however long they take.
  constructor(run, more = {}) {
    this.run = run;
    this.more = more;
    this.gone = new AbortController(); // removes listeners outside the page's own elements
    this.time = run.first;
    this.playing = false;
    this.speed = 1;
    this.dirty = true;
    this.build();
    this.picture = new Picture(run, this.canvas, () => (this.dirty = true), more.best);
    this.showQuality();
    if (this.picture.blind) this.canvas.replaceWith(el("p.failed", { role: "alert" }, this.picture.blind)), this.bars[0].remove();
    for (const [what, b] of Object.entries(this.toggles)) b.setAttribute("aria-pressed", this.picture.show[what]);
    this.plots = new Plots(this.plotPanel, (t) => this.setTime(t), run.header.name || "run");
    this.setTheme(localTheme() ?? matchMedia("(prefers-color-scheme: dark)").matches);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (e) => localTheme() == null && this.setTheme(e.matches), { signal: this.gone.signal });
    if (run.live) this.live = new Live(this); // its bar covers a part of the picture
    new ResizeObserver(() => this.resize()).observe(this.stage);
    this.resize();
    this.listen();
    this.setTime(run.first);
    requestAnimationFrame((now) => this.tick(now));
  }

  // Make room for another run on the same page.
  destroy() {
    this.gone.abort();
    this.picture.dispose();
  }

  // ---- layout

  build() {
    const run = this.run, h = run.header;
    document.title = `${h.name || "run"} · stiction`;
    const less = thinned(run);
    const head = el("header", {}, el("span.mark", {}, "stiction"), this.more.title ?? el("h1", { title: h.description || h.name }, h.name || "run"),
      el("div.facts", {}, facts(run).join(" · "), h.summary && h.summary.outcome !== "finished" ? el("b", {}, ` · ${h.summary.closed ? h.summary.outcome : "cut off"}`) : null, less ? el("b", { title: less }, " · thinned") : null),
      (this.qualityButton = el("button.icon.quality", { type: "button", hidden: true, title: "This browser draws without a graphics card, or frames took long: without shadows, or with fewer pixels. Click for full quality.", onclick: () => this.setQuality(0, true) }, "less detail")),
      this.button("camera", "Save the picture (S)", () => this.savePicture(), { class: "icon optional" }), this.button("link", "Copy a link to this moment and view (U)", () => this.copyLink(), { class: "icon optional" }), this.button("full", "Full screen (Enter)", () => this.fullScreen()), this.button("sun", "Light or dark (D)", () => this.setTheme(!this.dark, true)), this.button("help", "Keys (?)", () => this.help.showModal()));
    this.canvas = el("canvas", { tabindex: 0, role: "img", "aria-label": "The motion in three dimensions: drag to turn, wheel to come nearer, click a body to select it" });
    this.tag = el("div.tag", { hidden: true });
    this.bars = [this.buildTools(), this.buildTransport()];
    this.scaleBar = el("div.scalebar", { hidden: true }, el("i"), el("span"));
    this.colourBar = el("div.colourbar", { hidden: true }, el("span"), el("i"), el("span"));
    this.contactCard = el("div.contact", { hidden: true, role: "status" });
    this.triad = this.buildTriad();
    this.stage = el("main.stage", {}, this.canvas, this.tag, this.contactCard, el("div.corner", {}, this.colourBar, this.scaleBar), this.triad, ...this.bars);
    this.help = el("dialog", { "aria-label": "Keys" }, el("h2", {}, "Keys"), el("table", {}, ...KEYS.map(([k, what]) => el("tr", {}, el("td", {}, el("kbd", {}, k)), el("td", {}, what)))), el("p.hint", {}, "Drag turns the view, the wheel zooms, the right button shifts it. Click a plot to go to its time, drag over it to zoom, click twice for all of it; click a contact point for its friction cone."), el("form", { method: "dialog" }, el("button.icon", {}, "Close")));
    document.querySelector("#app").replaceChildren(head, this.stage, this.buildSide(), this.help);
  }

  button(name, title, onclick, more = {}) {
    return el("button.icon", { type: "button", title, "aria-label": title, onclick, ...more }, icon(name));
  }

  buildTools() {
    const toggle = (what, word, key) => {
      const b = el("button.icon", { type: "button", title: `${word} (${key})`, "data-toggle": what, onclick: () => this.toggle(what) }, word);
      this.toggles[what] = b;
      return b;
    };
    this.toggles = {};
    this.followButton = el("button.icon", { type: "button", title: "Follow the selected body (F)", "aria-pressed": false, onclick: () => this.setFollow(!this.picture.follow) }, "follow");
    const colours = el("select", { "aria-label": "Colour of bodies", onchange: (e) => { this.picture.setColouring(e.target.value); this.dirty = true; } }, ...[["body", "own colours"], ["speed", "by speed"], ["load", "by contact force"]].map(([v, t]) => el("option", { value: v }, t)));
    return el("div.tools", { role: "toolbar", "aria-label": "What is shown" }, this.button("home", "View as at first (R)", () => this.picture.resetView()), toggle("contacts", "contacts", "C"), toggle("forces", "forces", "A"), toggle("both", "both sides", "B"), this.run.live ? null : toggle("trails", "trails", "T"), this.run.model.joints.length ? toggle("reactions", "reactions", "Q") : null, this.run.model.joints.length + this.run.model.springs.length ? toggle("joints", "joints", "J") : null, toggle("wireframe", "wire", "W"), this.followButton, colours);
  }

  // Three arrows that turn with the view; a click looks along one.
  buildTriad() {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("viewBox", "-34 -34 68 68"), svg.setAttribute("class", "triad"), svg.setAttribute("role", "group"), svg.setAttribute("aria-label", "Axes: click one to look along it");
    this.axes = ["x", "y", "z"].map((name) => {
      const g = document.createElementNS(svg.namespaceURI, "g"), line = document.createElementNS(svg.namespaceURI, "line"), dot = document.createElementNS(svg.namespaceURI, "circle"), text = document.createElementNS(svg.namespaceURI, "text");
      g.setAttribute("class", `axis-${name}`), g.setAttribute("role", "button"), g.setAttribute("tabindex", "0"), g.setAttribute("aria-label", `Look along ${name}`);
      dot.setAttribute("r", 8), (text.textContent = name);
      const look = () => this.picture.lookAlong(name);
      g.addEventListener("click", look), g.addEventListener("keydown", (e) => (e.key === "Enter" || e.key === " ") && (look(), e.preventDefault(), e.stopPropagation()));
      g.append(line, dot, text), svg.append(g);
      return { g, line, dot, text };
    });
    return svg;
  }

  placeTriad() {
    const m = this.picture.camera.matrixWorldInverse.elements;
    const ends = this.axes.map((axis, k) => ({ ...axis, x: 24 * m[4 * k], y: -24 * m[4 * k + 1], deep: m[4 * k + 2] })).sort((a, b) => a.deep - b.deep);
    for (const { g, line, dot, text, x, y } of ends) {
      line.setAttribute("x2", x), line.setAttribute("y2", y), dot.setAttribute("cx", x), dot.setAttribute("cy", y), text.setAttribute("x", x), text.setAttribute("y", y);
      if (document.activeElement !== g) this.triad.append(g); // nearer ones over the others
    }
  }

  buildTransport() {
    if (this.run.live) return (this.transport = el("div.transport", { role: "toolbar", "aria-label": "Simulation" }));
    this.playButton = el("button.icon.play", { type: "button", title: "Play (Space)", "aria-label": "Play", onclick: () => this.setPlaying(!this.playing) }, icon("play"));
    this.slider = el("input", { type: "range", min: 0, max: Math.max(1, this.run.nFrames - 1), step: "any", value: 0, "aria-label": "Time", oninput: (e) => this.setTime(this.timeOfSlider(+e.target.value)) });
    const marks = el("div.marks", { "aria-hidden": true });
    for (const e of (this.run.header.events ?? []).slice(0, 400)) {
      const at = this.sliderOfTime(e.time) / Math.max(1, this.run.nFrames - 1), i = el("i");
      i.style.left = `${100 * at}%`;
      marks.append(i);
    }
    this.clock = el("div.clock", { role: "timer" });
    this.loopButton = el("button.icon.optional", { type: "button", title: "Play again and again (L)", "aria-label": "Loop", "aria-pressed": false, onclick: () => this.setLoop(!this.loop) }, icon("loop"));
    this.speedSelect = el("select", { "aria-label": "Speed", title: "Speed (− +)", onchange: (e) => this.setSpeed(+e.target.value) }, ...SPEEDS.map((s) => el("option", { value: s, selected: s === 1 }, `${s}×`)));
    return el("div.transport", { role: "toolbar", "aria-label": "Playing" }, this.button("start", "First frame (Home)", () => this.setTime(this.run.first), {}), this.playButton, this.button("back", "A frame back (←)", () => this.stepFrames(-1), { class: "icon optional" }), this.button("forward", "A frame on (→)", () => this.stepFrames(1), { class: "icon optional" }), el("div.track", {}, this.slider, marks), this.clock, this.loopButton, this.speedSelect);
  }

  buildSide() {
    this.plotPanel = el("div.panel");
    this.bodyList = bodiesPanel(this.run, (id) => this.select(id));
    this.bodyTable = el("div");
    const panels = { ...this.more.panels, Plots: this.plotPanel, Bodies: el("div.panel", {}, this.bodyTable, this.bodyList), Scene: el("div.panel", {}, scenePanel(this.run)), Summary: el("div.panel", {}, summaryPanel(this.run)) };
    const live = this.more.play ? "Play" : "Live";
    if (this.run.live) panels[live] = this.livePanel = el("div.panel", {}, this.more.play);
    if (this.more.panels) delete panels.Scene; // it is edited there
    this.tabs = {};
    const bar = el("div.tabs", { role: "tablist", "aria-label": "About the run" });
    for (const [name, panel] of Object.entries(panels)) {
      panel.id = `panel-${name}`;
      panel.setAttribute("role", "tabpanel");
      panel.setAttribute("aria-labelledby", `tab-${name}`);
      const tab = el("button", { type: "button", role: "tab", id: `tab-${name}`, "aria-controls": panel.id, onclick: () => this.openTab(name), onkeydown: (e) => this.tabKey(e, name) }, name);
      this.tabs[name] = { tab, panel };
      this.run.live && name === live ? bar.prepend(tab) : bar.append(tab);
    }
    this.openTab(this.run.live ? live : "Plots");
    return el("aside.side", {}, bar, ...Object.values(panels));
  }

  openTab(name) {
    for (const [key, { tab, panel }] of Object.entries(this.tabs)) {
      tab.setAttribute("aria-selected", key === name);
      tab.tabIndex = key === name ? 0 : -1;
      panel.hidden = key !== name;
    }
    this.plots?.resize();
  }

  tabKey(e, name) {
    const move = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
    if (!move) return;
    const names = [...e.target.parentNode.children].map((b) => b.textContent), next = names[(names.indexOf(name) + move + names.length) % names.length];
    this.openTab(next);
    this.tabs[next].tab.focus();
    e.stopPropagation();
    e.preventDefault();
  }

  // ---- state

  setTheme(dark, keep) {
    this.dark = dark;
    document.body.classList.toggle("dark", dark);
    if (keep) try { localStorage.setItem("stiction-theme", dark ? "dark" : "light"); } catch { /* private mode, file URLs */ }
    this.plots.dark = dark;
    this.picture.setTheme(dark);
    this.drawPlots();
  }

  drawPlots() {
    const body = this.picture.selected;
    this.plots.show([...bodyPlots(this.run, body), ...runPlots(this.run)]);
    if (body === 0 && !this.run.live) this.plotPanel.append(el("p.hint", {}, "Select a body, in the picture or in Bodies, for its coordinates and contact forces."));
  }

  setTime(t) {
    this.time = Math.min(this.run.last, Math.max(this.run.first, t));
    this.picture.setTime(this.time);
    this.plots?.setTime(this.time);
    if (this.slider) {
      this.slider.value = this.sliderOfTime(this.time);
      this.slider.setAttribute("aria-valuetext", `${this.time.toFixed(3)} seconds`);
      this.clock.replaceChildren(`${this.time.toFixed(3)} `, el("small.end", {}, `/ ${this.run.last.toFixed(2)} `), el("small", {}, "s"));
    }
    this.fillBody();
  }

  // The slider runs over frames, so that bursts of events are not squeezed.
  sliderOfTime(t) {
    const k = this.run.frameAt(t), a = this.run.time[k], b = this.run.time[Math.min(k + 1, this.run.nFrames - 1)];
    return k + (b > a ? (t - a) / (b - a) : 0);
  }

  timeOfSlider(x) {
    const k = Math.floor(x), a = this.run.time[k], b = this.run.time[Math.min(k + 1, this.run.nFrames - 1)];
    return a + (x - k) * (b - a);
  }

  stepFrames(n) {
    this.setPlaying(false);
    const k = this.run.frameAt(this.time), between = this.time > this.run.time[k] + 1e-9;
    this.setTime(this.run.time[Math.min(this.run.nFrames - 1, Math.max(0, k + n + (n < 0 && between ? 1 : 0)))]);
  }

  setPlaying(on) {
    if (on && this.time >= this.run.last) this.setTime(this.run.first);
    this.playing = on;
    this.playButton.replaceChildren(icon(on ? "pause" : "play"));
    this.playButton.setAttribute("aria-label", on ? "Pause" : "Play");
  }

  setLoop(on) {
    this.loop = on;
    this.loopButton?.setAttribute("aria-pressed", on);
  }

  // Level 0 has shadows and every pixel. By hand: stays until frames take long again.
  setQuality(level, byHand) {
    if (byHand) this.patience = 30; // frames before it is lowered again
    if (this.picture.setQuality(level)) this.showQuality();
  }

  showQuality() {
    this.qualityButton.hidden = this.picture.level === 0;
    this.qualityButton.setAttribute("data-level", this.picture.level);
  }

  // Consecutive frames: six slow ones, or two very slow ones, lower the quality. A hundred quick ones raise it, each time later;
  // never to shadows without a graphics card.
  watchQuality(spent) {
    if (this.patience > 0) return void this.patience--;
    this.slow = spent > 100 ? (this.slow ?? 0) + (spent > 500 ? 3 : spent > 200 ? 2 : 1) : 0;
    this.quick = spent < 34 ? (this.quick ?? 0) + 1 : 0;
    if (this.slow >= 6 && this.picture.level < 2) (this.slow = 0), (this.wait = Math.min(3000, 3 * (this.wait ?? 33))), this.setQuality(this.picture.level + 1);
    if (this.quick >= (this.wait ?? 100) && this.picture.level > this.picture.best) (this.quick = 0), this.setQuality(this.picture.level - 1);
  }

  // The picture as a PNG, on the page's background.
  savePicture() {
    const { canvas } = this, out = document.createElement("canvas"), ctx = out.getContext("2d"), look = getComputedStyle(document.body);
    out.width = canvas.width, out.height = canvas.height;
    this.picture.render();
    ctx.fillStyle = look.getPropertyValue("--back"), ctx.fillRect(0, 0, out.width, out.height), ctx.drawImage(canvas, 0, 0);
    out.toBlob((blob) => download(blob, `${this.run.header.name || "run"}-${this.time.toFixed(3)}s.png`));
  }

  get link() {
    return `${location.href.split("#")[0]}#t=${+this.time.toFixed(6)}&view=${this.picture.view.join(",")}${this.picture.selected ? `&body=${this.picture.selected}` : ""}`;
  }

  async copyLink() {
    history.replaceState(null, "", this.link);
    try { await navigator.clipboard.writeText(this.link), this.say("The link is copied."); } catch { this.say("The link is in the address bar."); }
  }

  // Applies the settings in the link.
  openLink() {
    const wanted = new URLSearchParams(location.hash.slice(1)), view = wanted.get("view")?.split(",").map(Number) ?? [], t = Number(wanted.get("t")), body = Number(wanted.get("body"));
    if (!wanted.has("t") || !Number.isFinite(t)) return false;
    this.setTime(t);
    if (Number.isInteger(body) && body > 0 && body <= this.run.nBodies) this.select(body);
    if (view.length === 6 && view.every(Number.isFinite)) this.picture.view = view;
    return true;
  }

  fullScreen() {
    document.fullscreenElement ? document.exitFullscreen() : this.stage.requestFullscreen?.().catch(() => {});
  }

  // Shows a line of text in the picture for two seconds.
  say(text) {
    this.toast?.remove();
    this.stage.append((this.toast = el("div.toast", { role: "status" }, text)));
    const mine = this.toast;
    setTimeout(() => mine.remove(), 2000);
  }

  setSpeed(s) {
    this.speed = s;
    this.speedSelect.value = s;
  }

  toggle(what) {
    if (!this.toggles[what]) return;
    const on = !this.picture.show[what];
    this.picture.setShow(what, on);
    this.toggles[what].setAttribute("aria-pressed", on);
  }

  setFollow(on) {
    this.picture.follow = on && this.picture.selected > 0;
    this.followButton.setAttribute("aria-pressed", this.picture.follow);
    if (this.picture.follow) {
      const step = this.picture.bodyPosition(this.picture.selected).sub(this.picture.controls.target);
      this.picture.camera.position.add(step), this.picture.controls.target.add(step), this.picture.controls.update();
    }
  }

  select(body) {
    this.picture.select(body);
    this.followButton.setAttribute("aria-pressed", this.picture.follow);
    this.bodyList.select(body);
    this.drawPlots();
    this.fillBody();
  }

  fillBody() {
    const id = this.picture.selected;
    if (id === 0) return this.bodyTable.replaceChildren();
    if (Number.isNaN(this.picture.position[3 * (id - 1)])) return this.bodyTable.replaceChildren(el("h2.name", {}, this.run.name(id)), el("p.hint", {}, "This body is not in the scene at this time."));
    const p = this.picture.bodyPosition(id), b = this.run.model.bodies[id - 1], f = (x) => (Math.abs(x) < 5e-5 ? 0 : x).toFixed(4), three = (a, unit) => `${f(a[0])}, ${f(a[1])}, ${f(a[2])} ${unit}`;
    const rows = [["position", three(p.toArray(), "m")]], q = this.picture.turn.subarray(4 * (id - 1), 4 * id), angle = (2 * Math.acos(Math.min(1, Math.abs(q[3]))) * 180) / Math.PI;
    rows.push(["turned by", `${angle.toFixed(2)}°${angle > 0.01 ? ` about ${[0, 1, 2].map((k) => ((Math.sign(q[3] || 1) * q[k]) / Math.hypot(q[0], q[1], q[2])).toFixed(3)).join(", ")}` : ""}`]);
    if (!b.fixed) {
      const { velocity: u, spin: w } = this.run.motion(id, this.time), g = this.run.model.gravity, joule = (x) => `${+x.toPrecision(4)} J`;
      rows.push(["velocity", three(u, "m/s")], ["speed", `${f(Math.hypot(...u))} m/s`], ["spin", three(w, "rad/s")], ["kinetic energy, of its centre", joule(0.5 * b.mass * Math.hypot(...u) ** 2)]);
      if (b.inertia) rows.push(["kinetic energy, of its rotation", joule(this.picture.rotationEnergy(id, w))]);
      rows.push(["potential energy", joule(-b.mass * (g[0] * p.x + g[1] * p.y + g[2] * p.z))]);
    }
    rows.push(["mass", b.fixed ? "fixed" : `${+b.mass.toPrecision(6)} kg`]);
    const c = this.run.contactsAt(this.time), with_ = new Map();
    for (let k = c.begin; k < c.end; k++) for (const side of [0, 1]) if (c.pair[2 * k + side] === id) {
      const other = c.pair[2 * k + 1 - side], sum = with_.get(other) ?? [0, 0, 0, 0];
      for (let i = 0; i < 3; i++) sum[i] += c.force[3 * k + i];
      sum[3]++, with_.set(other, sum);
    }
    for (const [other, sum] of [...with_].slice(0, 12)) rows.push([`touches ${this.run.name(other)}`, `${+Math.hypot(sum[0], sum[1], sum[2]).toPrecision(4)} N at ${sum[3]} point${sum[3] === 1 ? "" : "s"}`]);
    this.bodyTable.replaceChildren(el("h2.name", {}, b.name), table(rows), el("h2", {}, "All bodies"));
  }

  // ---- events

  listen() {
    let down = null;
    this.canvas.addEventListener("pointerdown", (e) => {
      down = [e.clientX, e.clientY];
      this.canvas.focus({ preventScroll: true });
      if (this.live?.grab(e)) down = null;
    }, { capture: true });
    this.canvas.addEventListener("pointerup", (e) => {
      if (down && Math.hypot(e.clientX - down[0], e.clientY - down[1]) < 4) this.clickAt(e.clientX, e.clientY);
      down = null;
    });
    document.addEventListener("keydown", (e) => this.key(e), { signal: this.gone.signal });
  }

  // A contact that is near, else the body.
  clickAt(x, y) {
    const contact = this.picture.pickContact(x, y);
    this.picture.setContact(contact);
    if (!contact) this.select(this.picture.pick(x, y)?.body ?? 0);
  }

  // Camera by keys.
  cameraKey(e) {
    const turn = { ArrowLeft: [-0.12, 0], ArrowRight: [0.12, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1], "+": [0, 0, 1.15], "=": [0, 0, 1.15], "-": [0, 0, 1 / 1.15] }[e.key];
    if (turn) this.picture.orbit(...turn), e.preventDefault();
  }

  key(e) {
    if (e.altKey && !e.ctrlKey && !e.metaKey) return this.cameraKey(e);
    if (e.ctrlKey || e.metaKey || this.help.open || /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName) && e.target.type !== "range") return;
    if (e.target.type === "range" && e.target !== this.slider) return;
    const n = this.run.nBodies, p = this.picture, nudge = e.shiftKey ? 10 : 1, live = this.run.live;
    const actions = {
      " ": () => (live ? this.live.togglePause() : this.setPlaying(!this.playing)),
      ArrowLeft: () => !live && this.stepFrames(-nudge), ArrowRight: () => (live ? this.live.send({ do: "step" }) : this.stepFrames(nudge)),
      Home: () => !live && this.setTime(this.run.first), End: () => !live && this.setTime(this.run.last),
      "+": () => this.faster(1), "=": () => this.faster(1), "-": () => this.faster(-1),
      c: () => this.toggle("contacts"), a: () => this.toggle("forces"), b: () => this.toggle("both"), l: () => !live && this.setLoop(!this.loop), s: () => this.savePicture(), u: () => this.copyLink(), Enter: () => this.fullScreen(), q: () => this.toggle("reactions"), t: () => this.toggle("trails"), j: () => this.toggle("joints"), w: () => this.toggle("wireframe"),
      "[": () => this.scaleForces(0.8), "]": () => this.scaleForces(1.25),
      f: () => this.setFollow(!p.follow), n: () => this.select((p.selected % n) + 1), p: () => this.select(p.selected > 1 ? p.selected - 1 : n),
      Escape: () => (p.contact ? p.setContact(null) : this.select(0)), r: () => p.resetView(), d: () => this.setTheme(!this.dark, true), "?": () => this.help.showModal(),
    };
    const action = VIEWS[e.key] ? () => p.lookAlong(VIEWS[e.key]) : actions[e.key.length === 1 ? e.key.toLowerCase() : e.key];
    if (!action || ((e.key === " " || e.key === "Enter") && /^(BUTTON|A|SUMMARY)$/.test(e.target.tagName))) return;
    action();
    e.preventDefault();
  }

  faster(way) {
    if (this.run.live) return;
    const k = SPEEDS.indexOf(this.speed);
    this.setSpeed(SPEEDS[Math.min(SPEEDS.length - 1, Math.max(0, k + way))]);
  }

  scaleForces(by) {
    this.picture.forceScale *= by;
    this.picture.update();
  }

  resize() {
    const { clientWidth: w, clientHeight: h } = this.stage;
    this.picture.inset = this.bars.map((bar) => (bar.offsetHeight > 0 ? bar.offsetHeight + 14 : 0));
    if (w > 0 && h > 0) this.picture.resize(w, h);
  }

  placeTag() {
    const id = this.picture.selected, at = id > 0 ? this.picture.onScreen(id) : null;
    this.tag.hidden = !at;
    if (!at) return;
    this.tag.textContent = this.run.name(id);
    this.tag.style.left = `${at[0]}px`, this.tag.style.top = `${at[1]}px`;
  }

  // Legends of the picture: the length of a newton, the meaning of colours, how near to sliding the selected contact is.
  placeLegends() {
    const p = this.picture, bar = p.scaleBar(), colours = p.colourScale();
    this.scaleBar.hidden = !bar;
    if (bar) {
      this.scaleBar.firstChild.style.width = `${bar.pixels}px`;
      this.scaleBar.lastChild.textContent = `${short(bar.newtons)} N${bar.cut ? ` · arrows over ${short(bar.cut)} N are cut` : ""}`;
    }
    this.colourBar.hidden = !colours;
    if (colours) {
      this.colourBar.firstChild.textContent = "0";
      this.colourBar.lastChild.textContent = `${short(colours.top)} ${colours.unit}`;
      this.colourBar.children[1].style.background = `linear-gradient(90deg, ${colours.stops.join(", ")})`;
    }
    const c = p.contactInfo;
    this.contactCard.hidden = !c;
    if (!c) return;
    const who = el("b", {}, `${this.run.name(c.a)} · ${this.run.name(c.b)}`);
    if (c.open) return this.contactCard.replaceChildren(who, el("div", {}, "no contact now"));
    const share = c.share == null ? "" : c.share > 0.995 ? "at the limit: it slides, or is about to" : `${Math.round(100 * c.share)} % of what friction can hold: it sticks`;
    const meter = el("meter", { min: 0, max: 1, low: 0.7, high: 0.95, optimum: 0, value: Math.min(1, c.share ?? 0), "aria-label": "Share of the friction limit" });
    this.contactCard.replaceChildren(who, el("div", {}, `normal ${short(c.normal)} N`), el("div", {}, `friction ${short(c.tangent)} N${c.mu == null ? "" : ` of ${short(Math.max(0, c.mu * c.normal))} N (μ ${short(c.mu)})`}`), ...(c.share == null ? [] : [meter, el("div", {}, share)]));
  }

  tick(now) {
    const spent = now - (this.before ?? now), moving = this.playing || (this.run.live && this.dirty && !this.live?.paused);
    if (moving && this.moved && !document.hidden) this.watchQuality(spent);
    this.moved = moving;
    if (this.playing) {
      const t = this.time + this.speed * Math.min(0.1, spent / 1000);
      this.setTime(this.loop && t >= this.run.last ? this.run.first : t);
      if (t >= this.run.last && !this.loop) this.setPlaying(false);
    }
    this.before = now;
    if (this.dirty) {
      this.dirty = false;
      this.picture.render();
      this.placeTag();
      this.placeTriad();
      this.placeLegends();
      this.frames = (this.frames ?? 0) + 1;
      if (this.frames === 1) this.live?.ready(); // a live run waits until it is seen
    } else if (!moving && this.picture.renderStill()) this.frames++; // smooth edges, once nothing moves
    if (!this.gone.signal.aborted) requestAnimationFrame((t) => this.tick(t));
  }
}

const short = (x) => (Math.abs(x) >= 1e5 || (Math.abs(x) < 1e-3 && x !== 0) ? x.toExponential(1) : +x.toPrecision(3) + "");

function localTheme() {
  try {
    const kept = localStorage.getItem("stiction-theme");
    return kept == null ? null : kept === "dark";
  } catch { return null; }
}
