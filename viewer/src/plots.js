// plots.js -- curves over time with one cursor for all of them and the picture.
import uPlot from "uplot";
import { download, el } from "./dom.js";

const COLOURS = { dark: ["#6ea8fe", "#ffb454", "#5fd3a6", "#f38bc1", "#c3a6ff", "#e6e06b"], light: ["#2f6fd0", "#c77700", "#16825d", "#b63a7f", "#6b4bc4", "#8a7a00"] };

const short = (x) => (x == null || Number.isNaN(x) ? "" : Math.abs(x) >= 1e5 || (Math.abs(x) < 1e-3 && x !== 0) ? x.toExponential(1) : +x.toPrecision(4) + "");

const power = (x) => { const e = Math.floor(Math.log10(x) + 1e-9), m = +(x / 10 ** e).toPrecision(2); return m === 1 ? `1e${e}` : Math.abs(e) < 4 ? short(x) : `${m}e${e}`; };

// Powers of ten, at most five of them; in less than two, parts of one.
function decades(u, axis, lo, hi) {
  if (hi < 20 * lo) { // 1, 2, 5, 10, ...; equal steps where these are fewer than two
    const some = [];
    for (let e = Math.floor(Math.log10(lo)); 10 ** e <= hi; e++) some.push(...[1, 2, 5].map((m) => m * 10 ** e).filter((x) => x >= lo && x <= hi));
    if (some.length > 1) return some;
    const raw = (hi - lo) / 3, ten = 10 ** Math.floor(Math.log10(raw)), step = ten * (raw / ten >= 5 ? 5 : raw / ten >= 2 ? 2 : 1), out = [];
    for (let k = Math.ceil(lo / step); k * step <= hi; k++) out.push(k * step);
    return out;
  }
  const a = Math.ceil(Math.log10(lo) - 1e-9), b = Math.floor(Math.log10(hi) + 1e-9), step = Math.max(1, Math.ceil((b - a + 1) / 5)), out = [];
  for (let k = a; k <= b; k += step) out.push(10 ** k);
  return out;
}

// On a log axis a zero cannot be drawn: the curve has a gap there, and a single point between two gaps is a dot.
function alone(values) {
  const out = [];
  for (let k = 0; k < values.length; k++) if (values[k] != null && values[k - 1] == null && values[k + 1] == null) out.push(k);
  return out.length ? out : null;
}

// More points than pixels: the mean of each column (on a log axis, of the logarithms), with its least and most
function columns(time, curves, from, to, most, log) {
  let a = 0, b = time.length;
  while (a < b && time[a] < from) a++;
  while (b > a && time[b - 1] > to) b--;
  a = Math.max(0, a - 1), b = Math.min(time.length, b + 1);
  if (b - a <= 2 * most) return null;
  const out = [new Float64Array(most)];
  for (const values of curves) {
    const mean = new Array(most).fill(null), least = new Array(most).fill(null), top = new Array(most).fill(null);
    for (let k = 0; k < most; k++) {
      const first = a + Math.floor(((b - a) * k) / most), last = a + Math.floor(((b - a) * (k + 1)) / most);
      let sum = 0, n = 0, lo = Infinity, hi = -Infinity;
      for (let i = first; i < last; i++) if (values[i] != null) (sum += log ? Math.log(values[i]) : values[i]), n++, (lo = Math.min(lo, values[i])), (hi = Math.max(hi, values[i]));
      if (n) (mean[k] = log ? Math.exp(sum / n) : sum / n), (least[k] = lo), (top[k] = hi);
      out[0][k] = time[(first + last) >> 1];
    }
    out.push(mean, least, top);
  }
  return out;
}

export class Plots {
  constructor(root, onScrub, name = "run") {
    this.root = root;
    this.onScrub = onScrub;
    this.name = name;
    this.cards = [];
    this.now = 0;
    this.dark = true;
    this.range = null; // of time, where it is zoomed
    this.hidden = new Set(); // "key/label"
    this.logs = new Map(); // key -> switched by hand
    new ResizeObserver(() => this.resize()).observe(root);
  }

  colours() { return COLOURS[this.dark ? "dark" : "light"]; }

  // specs: {key, title, unit, time, curves: [{label, values}], log, least: a smaller range of values is only rounding}
  show(specs) {
    for (const card of this.cards) card.plot.destroy();
    this.root.replaceChildren();
    this.cards = specs.filter((s) => s.time.length > 1 && s.curves.length > 0).map((s) => this.card(s));
    this.resize();
    this.setTime(this.now);
  }

  card(spec) {
    const log = this.logs.get(spec.key) ?? spec.log ?? false, card = { spec, log, hovered: null, most: largest(spec.curves) };
    const switchLog = () => { this.logs.set(spec.key, !log); this.show(this.cards.map((c) => c.spec)); };
    const tools = el("div.plotbar", {},
      el("button", { type: "button", title: "Logarithmic axis", "aria-pressed": log, onclick: switchLog }, "log"),
      el("button", { type: "button", title: "Save the curves as a table", onclick: () => download(new Blob([this.table(spec)], { type: "text/csv" }), `${this.name}-${spec.key}.csv`) }, "CSV"),
      el("button", { type: "button", title: "Save the plot as a picture", onclick: () => this.picture(card) }, "PNG"));
    const legend = el("div.legend");
    card.values = spec.curves.map((c, k) => {
      const value = el("b"), id = `${spec.key}/${c.label}`;
      const item = el("button", { type: "button", title: "Show or hide this curve", "aria-pressed": !this.hidden.has(id), onclick: () => this.hide(card, k, id, item) }, c.label, " ", value);
      item.style.setProperty("--ink", this.colours()[k % 6]);
      legend.append(item);
      return value;
    });
    const holder = el("div", { role: "img", "aria-label": `${spec.title}${spec.unit ? ` in ${spec.unit}` : ""} over time: ${spec.curves.map((c) => c.label).join(", ")}` });
    this.root.append(el("section.plot", { "data-plot": spec.key, "aria-label": spec.title }, tools, el("h3", {}, spec.title + (spec.unit ? ` [${spec.unit}]` : "")), legend, holder));
    const look = getComputedStyle(document.body), axis = look.getPropertyValue("--soft").trim(), grid = look.getPropertyValue("--grid").trim();
    const font = "11px ui-sans-serif, system-ui, sans-serif", ink = (k) => this.colours()[k % 6], width = Math.max(200, this.root.clientWidth - 26);
    card.curves = spec.curves.map((c) => (log ? Array.from(c.values, (x) => (x > 0 ? Math.max(x, 1e-18) : null)) : c.values));
    card.many = spec.time.length > 2 * width;
    const each = card.many ? 3 : 1; // a curve with its range
    const line = (c, k) => ({ label: c.label, show: !this.hidden.has(`${spec.key}/${c.label}`), stroke: ink(k), width: 1.5, points: { show: false, filter: (u, i) => alone(u.data[i]), size: 3, width: 0, fill: ink(k) }, dash: c.dash });
    const edge = (c, k) => ({ ...line(c, k), stroke: "transparent", width: 0, points: { show: false } });
    card.plot = new uPlot({
      width, height: 138,
      legend: { show: false },
      cursor: { sync: { key: "time", setSeries: false }, drag: { x: true, y: false, dist: 5 }, points: { size: 5, show: !card.many }, y: false },
      scales: { x: { time: false, range: () => this.range ?? [spec.time[0], spec.time[spec.time.length - 1]] }, y: log ? { distr: 3 } : { range: (u, lo, hi) => { const wide = hi - lo, m = wide > (spec.least ?? 0) ? 0.06 * wide : Math.max((spec.least ?? 0) - wide, Math.abs(hi) * 0.1 || 1) / 2; return [lo - m, hi + m]; } } },
      axes: [
        { stroke: axis, grid: { stroke: grid, width: 1 }, ticks: { show: false }, size: 26, font, gap: 6, values: (u, ticks) => ticks.map((x, k) => (k === ticks.length - 1 ? `${short(x)} s` : short(x))) },
        { stroke: axis, grid: { stroke: grid, width: 1 }, ticks: { show: false }, size: 50, font, gap: 3, values: (u, ticks) => ticks.map((x) => (log ? power(x) : short(x))), ...(log ? { splits: decades, filter: (u, ticks) => ticks } : { space: 26 }) },
      ],
      series: [{}, ...spec.curves.flatMap((c, k) => (card.many ? [line(c, k), edge(c, k), edge(c, k)] : [line(c, k)]))],
      bands: card.many ? spec.curves.map((c, k) => ({ series: [each * k + 3, each * k + 2], fill: `${ink(k)}44` })) : [],
      hooks: { draw: [() => card.now && this.placeNow(card)], setCursor: [(u) => this.hover(card, u)], setSelect: [(u) => this.zoom(u)] },
    }, this.data(card, width), holder);
    card.plot.over.append((card.now = el("div.now")));
    this.scrubWith(card.plot);
    return card;
  }

  // The drawn data: all points, or, if there are more than pixels, the mean and range of each column.
  data(card, width) {
    const { spec } = card, [from, to] = this.range ?? [spec.time[0], spec.time[spec.time.length - 1]];
    if (!card.many) return [spec.time, ...card.curves];
    return columns(spec.time, card.curves, from, to, Math.max(50, Math.floor(width / 2)), card.log) ?? [spec.time, ...card.curves.flatMap((c) => [c, c, c])];
  }

  hide(card, k, id, item) {
    const on = this.hidden.has(id), each = card.many ? 3 : 1;
    on ? this.hidden.delete(id) : this.hidden.add(id);
    item.setAttribute("aria-pressed", on);
    for (let i = 0; i < each; i++) card.plot.setSeries(each * k + 1 + i, { show: on });
  }

  // The values under the pointer, in place of those of the picture's time.
  hover(card, u) {
    card.hovered = u.cursor.left >= 0 ? u.posToVal(u.cursor.left, "x") : null;
    this.fill(card);
  }

  fill(card) {
    const t = card.hovered ?? this.now, { time, curves } = card.spec;
    let lo = 0, hi = time.length - 1;
    while (lo < hi) { const mid = (lo + hi + 1) >> 1; time[mid] <= t + 1e-12 ? (lo = mid) : (hi = mid - 1); }
    if (card.hovered != null && lo < time.length - 1 && time[lo + 1] - t < t - time[lo]) lo++;
    const rounding = card.log ? 0 : 1e-12 * card.most;
    card.values.forEach((b, k) => { const x = curves[k].values[lo]; b.textContent = short(Math.abs(x) < rounding ? 0 : x); });
  }

  // Dragged over a stretch of time: all plots show that stretch.
  zoom(u) {
    const { left, width } = u.select;
    if (width < 5) return;
    this.setRange([u.posToVal(left, "x"), u.posToVal(left + width, "x")]);
  }

  setRange(range) {
    this.range = range;
    for (const card of this.cards) card.plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false), card.plot.setData(this.data(card, card.plot.width));
  }

  // A click sets the time of the picture; a double click shows the whole run again.
  scrubWith(plot) {
    let down = null;
    const at = (e) => e.clientX - plot.over.getBoundingClientRect().left;
    plot.over.addEventListener("pointerdown", (e) => (down = at(e)));
    plot.over.addEventListener("pointerup", (e) => { if (down != null && Math.abs(at(e) - down) < 5) this.onScrub(plot.posToVal(at(e), "x")); down = null; });
    plot.over.addEventListener("dblclick", () => this.setRange(null));
  }

  table(spec) {
    const rows = [["time [s]", ...spec.curves.map((c) => `${c.label}${spec.unit ? ` [${spec.unit}]` : ""}`)].map((x) => (/[",]/.test(x) ? `"${x.replaceAll('"', '""')}"` : x)).join(",")];
    for (let k = 0; k < spec.time.length; k++) rows.push([spec.time[k], ...spec.curves.map((c) => c.values[k] ?? "")].join(","));
    return rows.join("\n") + "\n";
  }

  picture(card) {
    const from = card.plot.ctx.canvas, out = document.createElement("canvas"), ctx = out.getContext("2d"), ratio = from.width / card.plot.width, look = getComputedStyle(document.body);
    out.width = from.width, out.height = from.height + 24 * ratio;
    ctx.fillStyle = look.getPropertyValue("--panel"), ctx.fillRect(0, 0, out.width, out.height), ctx.drawImage(from, 0, 24 * ratio);
    ctx.font = `600 ${12 * ratio}px sans-serif`, ctx.textBaseline = "middle";
    let x = 8 * ratio;
    const put = (text, colour) => { ctx.fillStyle = colour, ctx.fillText(text, x, 13 * ratio), (x += ctx.measureText(text).width + 10 * ratio); };
    put(card.spec.title + (card.spec.unit ? ` [${card.spec.unit}]` : ""), look.getPropertyValue("--ink"));
    card.spec.curves.forEach((c, k) => put(c.label, this.colours()[k % 6]));
    out.toBlob((blob) => download(blob, `${this.name}-${card.spec.key}.png`));
  }

  // The line at the picture's time is an element over the plot: curves are not drawn again for it.
  placeNow({ now, plot }) {
    const x = plot.valToPos(this.now, "x"), inside = x >= 0 && x <= plot.over.clientWidth;
    now.hidden = !inside;
    if (inside) now.style.transform = `translateX(${x}px)`;
  }

  setTime(t) {
    this.now = t;
    for (const card of this.cards) {
      this.fill(card);
      this.placeNow(card);
    }
  }

  resize() {
    const width = this.root.clientWidth - 26;
    for (const { plot } of this.cards) if (width > 60 && plot.width !== width) plot.setSize({ width, height: 138 });
  }
}

// Of all values, by size.
const largest = (curves) => curves.reduce((most, c) => Array.prototype.reduce.call(c.values, (x, y) => (Math.abs(y) > x ? Math.abs(y) : x), most), 0);

// Is any of these energies more than rounding of the total ones?
function counts(values, total) {
  return values != null && largest([{ values }]) > 1e-6 * largest([{ values: total }]);
}

export function runPlots(run) {
  const s = run.series, total = Array.from(s.kinetic, (k, i) => k + s.potential[i]);
  const specs = [
    { key: "energy", title: "energy", unit: "J", time: s.time, curves: [{ label: "kinetic", values: s.kinetic }, { label: "potential", values: s.potential }, { label: "total", values: total, dash: [6, 4] }] },
    { key: "balance", title: "energy given and taken", unit: "J", time: s.time, curves: [["applied forces, motors", "work"], ["friction", "friction"], ["dampers", "damping"], ["impacts", "impacts"], ["correction of drift", "correction"], ["integrator", "scheme"]].filter(([, key]) => counts(s[key], total)).map(([label, key]) => ({ label, values: s[key] })) },
    { key: "gap", title: "worst overlap" + (run.model.joints.length ? " and joint error" : ""), unit: "m", log: true, time: s.time, curves: [{ label: "overlap", values: s.penetration }] },
    { key: "residual", title: "residual of the step problem", unit: "", log: true, time: s.time, curves: [{ label: "residual", values: s.residual }] },
    { key: "contacts", title: "contacts", unit: "", time: s.time, curves: [{ label: "contacts", values: s.contacts }] },
    { key: "iterations", title: "solver iterations", unit: "", time: s.time, curves: [{ label: "iterations", values: s.iterations }] },
  ];
  if (run.model.joints.length && s.joint_error) specs.find((p) => p.key === "gap").curves.push({ label: "joints", values: s.joint_error });
  return specs.filter((p) => p.key === "energy" || p.curves.some((c) => Array.prototype.some.call(c.values, (x) => x !== 0)));
}

export function bodyPlots(run, body) {
  if (run.live || body === 0) return [];
  const b = run.bodySeries(body), forces = run.bodyForces(body), name = run.name(body), rounding = 20 * (run.header.quantum ?? 0), rate = run.nFrames / Math.max(1e-9, run.last - run.first);
  const specs = [
    { key: "position", title: `${name}: position`, unit: "m", time: b.time, curves: ["x", "y", "z"].map((k) => ({ label: k, values: b[k] })), least: rounding },
    { key: "speed", title: `${name}: speed`, unit: "m/s", time: b.time, curves: [{ label: "speed", values: b.speed }], least: rounding * rate },
  ];
  const joints = run.model.joints.map((j, k) => ({ ...j, k })).filter((j) => j.a === body || j.b === body);
  if (run.jointForce && joints.length) specs.push({ key: "joints", title: `${name}: joint force`, unit: "N", time: run.time, curves: joints.slice(0, 6).map((j) => ({ label: j.name, values: run.jointForce(j.k) })) });
  if (forces.forces.length) specs.push({ key: "force", title: `${name}: contact force`, unit: "N", time: forces.time, curves: forces.forces.map((f) => ({ label: run.name(f.other), values: f.value })) });
  return specs;
}
