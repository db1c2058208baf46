// panels.js -- the panels beside the picture: bodies, the scene's text, the summary.
import { bodyColour } from "./scene3d.js";
import { el, table } from "./dom.js";

const number = (x, digits = 5) => (typeof x === "number" ? +x.toPrecision(digits) + "" : String(x));
const count = (x) => x.toLocaleString("en").replaceAll(",", "\u202f");

export function facts(run) {
  const h = run.header, s = h.summary, out = [];
  const bodies = `${count(run.nBodies)} ${run.nBodies === 1 ? "body" : "bodies"}`;
  if (!s) return [bodies];
  out.push(bodies, `${number(run.first)} to ${number(run.last)} s`, `${count(Math.max(0, s.steps - 1))} steps`, h.choices.preset ?? "");
  return out.filter(Boolean);
}

// A description of the parts of the recording that are not in the page; "": all are.
export function thinned(run) {
  const kept = run.header.kept, s = run.header.summary, out = [];
  if (!kept || !s) return "";
  const nth = (n) => `${n}${["th", "st", "nd", "rd"][n % 100 > 10 && n % 100 < 14 ? 0 : n % 10] ?? "th"}`;
  if (kept.frame_stride > 1) out.push(`every ${nth(kept.frame_stride)} of ${count(s.frames)} recorded frames is shown, the motion between them is straight`);
  if (kept.contact_stride > 1) out.push(`contacts are kept in every ${nth(kept.contact_stride)} of those`);
  if (kept.steps < s.steps) out.push(`plots have ${count(kept.steps)} of ${count(s.steps)} steps, each the worst of its group`);
  return out.length ? `Thinned to fit into a page: ${out.join("; ")}. The recording has all of it.` : "";
}

// Scenes write `keys` like that.
const coded = (text) => text.split(/`([^`]+)`/).map((part, k) => (k % 2 === 1 ? el("code", {}, part) : part));

export function summaryPanel(run) {
  const h = run.header, s = h.summary, root = el("div");
  if (h.description) root.append(el("p", {}, ...coded(h.description)));
  if (s && !s.closed) root.append(el("p.notice", {}, "The run was cut off, or is still going on: this is what it had written."));
  else if (s && s.outcome !== "finished") root.append(el("p.notice", {}, `${s.outcome}${s.message ? ": " + s.message : ""}`));
  const less = thinned(run);
  if (less) root.append(el("p.notice", {}, less));
  if (s) {
    const e = run.series, n = e.time.length - 1, total = (k) => e.kinetic[k] + e.potential[k], worst = (a) => a.reduce((x, y) => Math.max(x, y), 0);
    root.append(el("h2", {}, "Run"), table([
      ["outcome", s.outcome], ["time", `${number(run.first)} to ${number(run.last)} s`], ["steps", count(Math.max(0, s.steps - 1))],
      ["wall time", `${number(s.wall, 3)} s`], ["events", count(s.events)], ["contacts at most", count(worst(e.contacts))],
      ["worst overlap", `${number(worst(e.penetration), 3)} m`], ["worst residual", number(worst(e.residual), 3)],
      ["energy, start", `${number(n >= 0 ? total(0) : 0, 7)} J`], ["energy, end", `${number(n >= 0 ? total(n) : 0, 7)} J`],
    ]));
    const all = Object.values(s.stages).reduce((a, b) => a + b, 0);
    if (all > 0) root.append(el("h2", {}, "Where the time went"), table(Object.entries(s.stages).filter(([, x]) => x > 0).map(([k, x]) => [k, `${number(x, 3)} s, ${Math.round((100 * x) / all)} %`])));
  }
  root.append(el("h2", {}, "Choices"), table(Object.entries(h.choices).map(([k, x]) => [k, Array.isArray(x) ? x.map((y) => number(y)).join(", ") : number(x, 9)])));
  if (s) root.append(el("h2", {}, "Recording"), table([["made", h.created], ["by", `stiction ${h.version}`], ["scene", h.label], ["frames", count(s.frames)], ["positions here", `rounded to ${number(h.quantum, 2)} m`]]));
  return root;
}

export function scenePanel(run) {
  const h = run.header, root = el("div");
  if (h.sets?.length) root.append(el("h2", {}, "Overrides"), el("pre", { tabindex: 0 }, h.sets.map((s) => `--set ${s}`).join("\n")));
  if (h.sets?.length) root.append(el("h2", {}, "Scene"));
  root.append(h.scene ? el("pre", { tabindex: 0 }, h.scene) : el("p.hint", {}, "This run was recorded without the text of its scene."));
  return root;
}

// A list of bodies with a search; of a long list only a part is shown.
export function bodiesPanel(run, onSelect) {
  const MOST = 200, list = el("div.bodies"), search = el("input.search", { type: "search", placeholder: "Find a body", "aria-label": "Find a body" });
  let selected = 0;
  const fill = () => {
    const word = search.value.toLowerCase(), found = [];
    run.model.bodies.forEach((b, k) => b.name.toLowerCase().includes(word) && found.push(k + 1));
    list.replaceChildren(...found.slice(0, MOST).map((id) => {
      const b = run.model.bodies[id - 1], dot = el("i");
      dot.style.background = `#${bodyColour(id, run).getHexString()}`;
      return el("button", { type: "button", "aria-pressed": id === selected, onclick: () => onSelect(id === selected ? 0 : id) }, dot, b.name, el("small", {}, b.fixed ? "fixed" : `${number(b.mass, 4)} kg`));
    }));
    if (found.length > MOST) list.append(el("p.hint", {}, `and ${count(found.length - MOST)} more: type a part of the name`));
  };
  search.addEventListener("input", fill);
  fill();
  const root = el("div", {}, run.nBodies > 12 ? search : null, list);
  root.select = (id) => { selected = id; fill(); };
  return root;
}
