// plots.js -- curves over time with one cursor for all of them and the picture.
import uPlot from "uplot";

const COLOURS = { dark: ["#6ea8fe", "#ffb454", "#5fd3a6", "#f38bc1", "#c3a6ff", "#e6e06b"], light: ["#2f6fd0", "#c77700", "#16825d", "#b63a7f", "#6b4bc4", "#8a7a00"] };

const short = (x) => (x == null ? "" : Math.abs(x) >= 1e5 || (Math.abs(x) < 1e-3 && x !== 0) ? x.toExponential(1) : +x.toPrecision(4) + "");

// Powers of ten, at most five of them.
function decades(u, axis, lo, hi) {
  const a = Math.ceil(Math.log10(lo) - 1e-9), b = Math.floor(Math.log10(hi) + 1e-9), step = Math.max(1, Math.ceil((b - a + 1) / 5)), out = [];
  for (let k = a; k <= b; k += step) out.push(10 ** k);
  return out;
}

// On a log axis a zero is nowhere: the curve has a gap there, and what stands alone between two of them is a dot.
function alone(values) {
  const out = [];
  for (let k = 0; k < values.length; k++) if (values[k] != null && values[k - 1] == null && values[k + 1] == null) out.push(k);
  return out.length ? out : null;
}

export class Plots {
  constructor(root, onScrub) {
    this.root = root;
    this.onScrub = onScrub;
    this.cards = [];
    this.now = 0;
    this.dark = true;
    new ResizeObserver(() => this.resize()).observe(root);
  }

  colours() { return COLOURS[this.dark ? "dark" : "light"]; }

  // specs: {key, title, unit, time, curves: [{label, values}], log}
  show(specs) {
    for (const card of this.cards) card.plot.destroy();
    this.root.replaceChildren();
    this.cards = specs.filter((s) => s.time.length > 1 && s.curves.length > 0).map((s) => this.card(s));
    this.resize();
    this.setTime(this.now);
  }

  card(spec) {
    const box = document.createElement("section");
    box.className = "plot";
    box.dataset.plot = spec.key;
    const head = document.createElement("h3");
    head.textContent = spec.title + (spec.unit ? ` [${spec.unit}]` : "");
    const legend = document.createElement("div");
    legend.className = "legend";
    const values = spec.curves.map((c, k) => {
      const item = document.createElement("span"), value = document.createElement("b");
      item.style.setProperty("--ink", this.colours()[k % 6]);
      item.append(c.label, " ", value);
      legend.append(item);
      return value;
    });
    const holder = document.createElement("div");
    box.append(head, legend, holder);
    this.root.append(box);
    const axis = getComputedStyle(document.body).getPropertyValue("--soft").trim(), grid = getComputedStyle(document.body).getPropertyValue("--grid").trim();
    const floor = (y) => (spec.log ? Array.from(y, (x) => (x > 0 ? Math.max(x, 1e-18) : null)) : y);
    const font = "11px ui-sans-serif, system-ui, sans-serif";
    const plot = new uPlot({
      width: Math.max(200, this.root.clientWidth - 26),
      height: 132,
      legend: { show: false },
      cursor: { sync: { key: "time" }, drag: { x: false, y: false }, points: { size: 5 }, y: false },
      scales: { x: { time: false }, y: spec.log ? { distr: 3 } : { range: (u, lo, hi) => { const m = hi > lo ? 0.06 * (hi - lo) : Math.abs(hi) * 0.1 || 1; return [lo - m, hi + m]; } } },
      axes: [
        { stroke: axis, grid: { stroke: grid, width: 1 }, ticks: { show: false }, size: 26, font, gap: 6 },
        { stroke: axis, grid: { stroke: grid, width: 1 }, ticks: { show: false }, size: 50, font, gap: 3, values: (u, ticks) => ticks.map((x) => (spec.log ? `1e${Math.round(Math.log10(x))}` : short(x))), ...(spec.log ? { splits: decades, filter: (u, ticks) => ticks } : { space: 26 }) },
      ],
      series: [{}, ...spec.curves.map((c, k) => ({ label: c.label, stroke: this.colours()[k % 6], width: 1.5, points: { show: false, filter: (u, i) => alone(u.data[i]), size: 3, width: 0, fill: this.colours()[k % 6] }, dash: c.dash }))],
      hooks: { draw: [(u) => this.drawNow(u)] },
    }, [spec.time, ...spec.curves.map((c) => floor(c.values))], holder);
    this.scrubWith(plot);
    return { spec, plot, values, holder };
  }

  // Press and drag: the time of the picture.
  scrubWith(plot) {
    let down = false;
    const to = (e) => this.onScrub(plot.posToVal(e.clientX - plot.over.getBoundingClientRect().left, "x"));
    plot.over.addEventListener("pointerdown", (e) => { down = true; plot.over.setPointerCapture(e.pointerId); to(e); });
    plot.over.addEventListener("pointermove", (e) => down && to(e));
    plot.over.addEventListener("pointerup", () => (down = false));
  }

  drawNow(u) {
    const x = Math.round(u.valToPos(this.now, "x", true)), { ctx, bbox } = u;
    if (x < bbox.left || x > bbox.left + bbox.width) return;
    ctx.save();
    ctx.strokeStyle = getComputedStyle(document.body).getPropertyValue("--accent");
    ctx.lineWidth = Math.max(1, devicePixelRatio);
    ctx.setLineDash([]);
    ctx.beginPath(), ctx.moveTo(x, bbox.top), ctx.lineTo(x, bbox.top + bbox.height), ctx.stroke();
    ctx.restore();
  }

  setTime(t) {
    this.now = t;
    for (const { spec, plot, values } of this.cards) {
      let lo = 0, hi = spec.time.length - 1;
      while (lo < hi) { const mid = (lo + hi + 1) >> 1; spec.time[mid] <= t + 1e-12 ? (lo = mid) : (hi = mid - 1); }
      values.forEach((b, k) => (b.textContent = short(spec.curves[k].values[lo])));
      plot.redraw(false, false);
    }
  }

  resize() {
    const width = this.root.clientWidth - 26;
    for (const { plot } of this.cards) if (width > 60 && plot.width !== width) plot.setSize({ width, height: 132 });
  }
}

export function runPlots(run) {
  const s = run.series, total = Array.from(s.kinetic, (k, i) => k + s.potential[i]);
  const specs = [
    { key: "energy", title: "energy", unit: "J", time: s.time, curves: [{ label: "kinetic", values: s.kinetic }, { label: "potential", values: s.potential }, { label: "total", values: total, dash: [6, 4] }] },
    { key: "gap", title: "worst overlap" + (run.model.joints.length ? " and joint error" : ""), unit: "m", log: true, time: s.time, curves: [{ label: "overlap", values: s.penetration }] },
    { key: "residual", title: "residual of the step problem", unit: "", log: true, time: s.time, curves: [{ label: "residual", values: s.residual }] },
    { key: "contacts", title: "contacts", unit: "", time: s.time, curves: [{ label: "contacts", values: s.contacts }] },
    { key: "iterations", title: "solver iterations", unit: "", time: s.time, curves: [{ label: "iterations", values: s.iterations }] },
  ];
  if (run.model.joints.length && s.joint_error) specs[1].curves.push({ label: "joints", values: s.joint_error });
  return specs.filter((p) => p.key === "energy" || p.curves.some((c) => Array.prototype.some.call(c.values, (x) => x > 0)));
}

export function bodyPlots(run, body) {
  if (run.live || body === 0) return [];
  const b = run.bodySeries(body), forces = run.bodyForces(body), name = run.name(body);
  const specs = [
    { key: "position", title: `${name}: position`, unit: "m", time: b.time, curves: ["x", "y", "z"].map((k) => ({ label: k, values: b[k] })) },
    { key: "speed", title: `${name}: speed`, unit: "m/s", time: b.time, curves: [{ label: "speed", values: b.speed }] },
  ];
  const joints = run.model.joints.map((j, k) => ({ ...j, k })).filter((j) => j.a === body || j.b === body);
  if (run.jointForce && joints.length) specs.push({ key: "joints", title: `${name}: joint force`, unit: "N", time: run.time, curves: joints.slice(0, 6).map((j) => ({ label: j.name, values: run.jointForce(j.k) })) });
  if (forces.forces.length) specs.push({ key: "force", title: `${name}: contact force`, unit: "N", time: forces.time, curves: forces.forces.map((f) => ({ label: run.name(f.other), values: f.value })) });
  return specs;
}
