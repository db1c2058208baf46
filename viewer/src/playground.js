// playground.js -- stiction in the browser: scenes that run live, sliders for their numbers, an editor of their text.
import { App } from "./app.js";
import { el } from "./dom.js";
import { Editor } from "./editor.js";
import { find, replace, scan, setMember } from "./json_text.js";
import { bytesOfBase64, LiveRun } from "./run.js";
import "./playground.css";

// Numbers that get sliders, in this order: least and most for a value v, and whether the scale is logarithmic.
const KNOBS = {
  friction: (v) => [0, Math.max(1.2, 2 * v)], restitution: () => [0, 1], rolling_friction: (v) => [0, Math.max(4 * v, 1e-4)], spinning_friction: (v) => [0, Math.max(4 * v, 1e-4)],
  stiffness: (v) => [v / 100, v * 100, true], damping: (v) => [v / 100, v * 100, true], young: (v) => [v / 100, v * 100, true],
  speed: (v) => [-2 * Math.abs(v), 2 * Math.abs(v)], velocity: (v) => [-2 * Math.abs(v), 2 * Math.abs(v)], torque: (v) => [-2 * Math.abs(v), 2 * Math.abs(v)], limit: (v) => [0, 2 * Math.abs(v)], amplitude: (v) => [0, 2 * Math.abs(v)], frequency: (v) => [0, 3 * Math.abs(v)],
  density: (v) => [v / 30, v * 30, true], mass: (v) => [v / 30, v * 30, true], radius: (v) => [v / 2, v * 2],
};
const UNITS = { rolling_friction: "m", spinning_friction: "m", young: "Pa", torque: "N m", density: "kg/m³", mass: "kg", radius: "m" }; // the same in every object
const MOST_KNOBS = 8;
// Settings for scenes that are far from real time with their own settings.
const LIGHTER = { hourglass: { preset: "real-time", h: 0.005, tolerance: 0.02 }, drum: { preset: "real-time", h: 0.004, tolerance: 0.01 }, hopper: { preset: "real-time", h: 0.0025, tolerance: 0.02 } };

async function unpack(id) {
  const stream = new Blob([bytesOfBase64(document.querySelector(id).textContent)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream);
}

const written = (x) => String(+x.toPrecision(3));

class Playground {
  constructor(scenes, worker, schema) {
    this.scenes = scenes;
    this.worker = worker;
    this.schema = schema;
    this.presets = schema.$defs.simulation.properties.preset.enum;
    worker.onmessage = ({ data }) => this.hear(data);
    worker.onerror = (e) => this.say(`The engine stopped: ${e.message}. Load the page again.`);
    this.select = el("select.scenes", { "aria-label": "Scene", onchange: (e) => this.choose(e.target.value) }, ...[...new Set(scenes.map((s) => s.group))].map((group) => el("optgroup", { label: group }, ...scenes.filter((s) => s.group === group).map((s) => el("option", { value: s.name }, s.name)))));
    this.editor = new Editor(schema, (text) => this.open(text));
    this.about = el("p");
    this.knobs = el("div.knobs");
    this.notice = el("p.notice", { role: "alert", hidden: true });
    this.play = el("div", {}, this.notice, this.about, this.knobs);
  }

  say(text) {
    this.notice.hidden = !text;
    this.notice.textContent = text;
  }

  choose(name) {
    this.scene = this.scenes.find((s) => s.name === name) ?? this.scenes[0];
    this.select.value = this.scene.name;
    history.replaceState(null, "", `#scene=${encodeURIComponent(this.scene.name)}`);
    this.edit(Object.entries(LIGHTER[name] ?? {}).reduce((text, [key, value]) => setMember(text, "simulation", key, value), this.scene.text));
  }

  // Sends this text to the engine; while the engine reads one, only the newest is kept.
  open(text) {
    if (this.reading) return void (this.next = text);
    this.reading = text;
    this.worker.postMessage({ open: text, label: this.scene.file });
  }

  hear(data) {
    if (data.state) {
      this.run?.events.onmessage?.({ data: data.state });
      this.worker.postMessage({ seen: true });
    }
    if (data.opened == null) return;
    const text = this.reading, next = this.next;
    this.reading = this.next = null;
    this.opened(text, JSON.parse(data.opened));
    if (next != null && next !== text) this.open(next);
  }

  opened(text, answer) {
    this.editor.show(answer.errors ?? []);
    this.say(answer.errors ? `The scene has ${answer.errors.length === 1 ? "an error" : `${answer.errors.length} errors`}; what runs is the last one without.` : "");
    if (answer.errors) return void (!this.app && this.fail(answer.errors));
    this.text = text;
    this.header = answer;
    this.fillKnobs();
    const shape = JSON.stringify(answer.model, (key, value) => (/friction|restitution|mass/.test(key) ? undefined : value));
    if (this.app && shape === this.shape && this.scene === this.shown) {
      Object.assign(this.run, { header: answer, model: answer.model });
      this.app.picture.model = answer.model;
      this.app.live.again();
      return;
    }
    this.shape = shape;
    this.shown = this.scene;
    this.fresh = new LiveRun(answer);
    this.fresh.post = (control) => this.worker.postMessage({ control });
    this.fresh.events = { onmessage: (e) => this.show(JSON.parse(e.data)) };
    this.run = this.fresh;
  }

  // The first state of a new scene has arrived: the page can be built.
  show(state) {
    const tab = this.app ? Object.entries(this.app.tabs).find(([, t]) => !t.panel.hidden)?.[0] : null, dark = this.app?.dark;
    this.run.take(state);
    this.app?.destroy();
    this.app = globalThis.stiction = new App(this.run, { title: this.select, play: this.play, panels: { Edit: this.editor.root } });
    if (dark != null) this.app.setTheme(dark);
    if (tab && this.app.tabs[tab]) this.app.openTab(tab);
    this.editor.number();
    document.body.dataset.ready = "yes";
  }

  fail(errors) {
    document.querySelector("#app").replaceChildren(el("p.failed", { role: "alert" }, errors.map((e) => e.message).join("\n")));
  }

  // ---- sliders

  fillKnobs() {
    const { text, header } = this, { values } = scan(text), made = [];
    this.about.textContent = header.description || "";
    const names = (spans) => [...new Set(spans.map((v) => { for (let k = v.path.length - 1; k > 0; k--) { const n = find(text, [...v.path.slice(0, k), "name"]); if (n) return n.value; } return v.path[0]; }))];
    for (const [key, range] of Object.entries(KNOBS)) {
      const groups = new Map();
      for (const v of values) if (v.kind === "number" && v.path[v.path.length - 1] === key && (v.value !== 0 || range(0)[1] > 0)) groups.set(v.value, [...(groups.get(v.value) ?? []), v]);
      const sorted = [...groups].sort((a, b) => b[1].length - a[1].length).slice(0, 3);
      for (const [value, spans] of sorted) {
        const who = sorted.length > 1 ? names(spans.slice(0, 3)) : [];
        made.push({ unit: UNITS[key] ? ` ${UNITS[key]}` : "", value, range: range(value), paths: spans.map((v) => v.path), label: key.replace("_", " ") + (who.length ? ` · ${who[0]}${spans.length > 1 ? ", …" : ""}` : "") });
      }
    }
    const shown = made.slice(0, MOST_KNOBS), same = shown.map((m) => m.label + m.paths.join()).join();
    if (same === this.same && !this.knobs.hidden) return this.presetKnob(); // the sliders stay where they are
    this.same = same;
    this.preset = el("select", { "aria-label": "Preset", onchange: (e) => this.edit(setMember(this.text, "simulation", "preset", e.target.value)) }, ...this.presets.map((p) => el("option", {}, p)));
    this.knobs.replaceChildren(el("span", {}, "preset"), this.preset, el("output"), ...shown.flatMap((m) => this.knob(m)));
    this.presetKnob();
  }

  presetKnob() { this.preset.value = this.header.choices.preset; }

  knob({ value, unit, range: [least, most, log], paths, label }) {
    const to = log ? Math.log10 : (x) => x, from = log ? (x) => 10 ** x : (x) => x, output = el("output", {}, written(value) + unit), keys = new Set(paths.map((p) => p.join("/")));
    const turn = (e) => {
      const by = written(from(+e.target.value));
      output.textContent = by + unit;
      this.edit(replace(this.editor.text, scan(this.editor.text).values.filter((v) => keys.has(v.path.join("/"))), by));
    };
    return [el("span", { title: [...keys].slice(0, 12).join("\n") }, label), el("input", { type: "range", min: to(least), max: to(most), step: "any", value: to(value), "aria-label": label, oninput: turn }), output];
  }

  edit(text) {
    this.editor.text = text;
    this.open(text);
  }
}

async function start() {
  try {
    const scenes = await (await unpack("#scenes")).json(), script = await (await unpack("#worker")).text(), wasm = await (await unpack("#wasm")).arrayBuffer();
    const worker = new Worker(URL.createObjectURL(new Blob([script], { type: "text/javascript" })));
    const ready = new Promise((done, fail) => { worker.onmessage = ({ data }) => done(JSON.parse(data.schema)); worker.onerror = (e) => fail(new Error(e.message || "This browser cannot run the engine: it needs WebAssembly.")); });
    worker.postMessage({ wasm, files: scenes.flatMap((s) => [{ path: s.file, text: s.text }, ...s.files]) }, [wasm]);
    const playground = (globalThis.playground = new Playground(scenes, worker, await ready));
    const wanted = () => new URLSearchParams(location.hash.slice(1)).get("scene") ?? "card-house";
    addEventListener("hashchange", () => wanted() !== playground.scene.name && playground.choose(wanted()));
    playground.choose(wanted());
  } catch (error) {
    console.error(error);
    document.querySelector("#app").replaceChildren(el("p.failed", { role: "alert" }, error.message || String(error)));
    document.body.dataset.ready = "failed";
  }
}

start();
