// main.js -- the page: load the run, build the layout, keep picture, plots and controls at one time.
import "uplot/dist/uPlot.min.css";
import "./style.css";
import { bytesOfBase64, decodeRun, LiveRun } from "./run.js";
import { Picture } from "./scene3d.js";
import { Plots, runPlots, bodyPlots } from "./plots.js";
import { el, icon } from "./dom.js";
import { bodiesPanel, facts, scenePanel, summaryPanel, thinned } from "./panels.js";
import { Live } from "./live.js";
import { renderFrames } from "./render.js";

const SPEEDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10];
const KEYS = [["Space", "play, pause"], ["← →", "a frame back, on (with Shift: ten)"], ["Home End", "first, last frame"], ["− +", "slower, faster"], ["C A Q", "contact points, their forces, forces in joints: on the selected body, else on what can move"], ["[ ]", "shorter, longer arrows"], ["T J W", "trails, joints, wireframe"], ["F", "follow the selected body"], ["N P", "next, previous body"], ["Esc", "nothing selected"], ["R", "view as at first"], ["D", "light, dark"]];

class App {
  constructor(run) {
    this.run = run;
    this.time = run.first;
    this.playing = false;
    this.speed = 1;
    this.dirty = true;
    this.build();
    this.picture = new Picture(run, this.canvas, () => (this.dirty = true));
    if (this.picture.blind) this.canvas.replaceWith(el("p.failed", { role: "alert" }, this.picture.blind)), this.bars[0].remove();
    for (const [what, b] of Object.entries(this.toggles)) b.setAttribute("aria-pressed", this.picture.show[what]);
    this.plots = new Plots(this.plotPanel, (t) => this.setTime(t));
    this.setTheme(localTheme() ?? matchMedia("(prefers-color-scheme: dark)").matches);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (e) => localTheme() == null && this.setTheme(e.matches));
    if (run.live) this.live = new Live(this); // its bar is part of what covers the picture
    new ResizeObserver(() => this.resize()).observe(this.stage);
    this.resize();
    this.listen();
    this.setTime(run.first);
    requestAnimationFrame((now) => this.tick(now));
  }

  // ---- layout

  build() {
    const run = this.run, h = run.header;
    document.title = `${h.name || "run"} · stiction`;
    const less = thinned(run);
    const head = el("header", {}, el("span.mark", {}, "stiction"), el("h1", { title: h.description || h.name }, h.name || "run"),
      el("div.facts", {}, facts(run).join(" · "), h.summary && h.summary.outcome !== "finished" ? el("b", {}, ` · ${h.summary.closed ? h.summary.outcome : "cut off"}`) : null, less ? el("b", { title: less }, " · thinned") : null),
      this.button("sun", "Light or dark (D)", () => this.setTheme(!this.dark, true)), this.button("help", "Keys (?)", () => this.help.showModal()));
    this.canvas = el("canvas", { tabindex: 0, role: "img", "aria-label": "The motion in three dimensions: drag to turn, wheel to come nearer, click a body to select it" });
    this.tag = el("div.tag", { hidden: true });
    this.bars = [this.buildTools(), this.buildTransport()];
    this.stage = el("main.stage", {}, this.canvas, this.tag, ...this.bars);
    this.help = el("dialog", { "aria-label": "Keys" }, el("h2", {}, "Keys"), el("table", {}, ...KEYS.map(([k, what]) => el("tr", {}, el("td", {}, el("kbd", {}, k)), el("td", {}, what)))), el("p.hint", {}, "Drag turns the view, the wheel zooms, the right button shifts it. Press a plot to go to its time."), el("form", { method: "dialog" }, el("button.icon", { autofocus: true }, "Close")));
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
    const colours = el("select", { "aria-label": "Colour of bodies", onchange: (e) => this.picture.setColouring(e.target.value) }, ...[["body", "own colours"], ["speed", "by speed"], ["load", "by contact force"]].filter(([v]) => !(this.run.live && v === "speed")).map(([v, t]) => el("option", { value: v }, t)));
    return el("div.tools", { role: "toolbar", "aria-label": "What is shown" }, this.button("home", "View as at first (R)", () => this.picture.resetView()), toggle("contacts", "contacts", "C"), toggle("forces", "forces", "A"), this.run.live ? null : toggle("trails", "trails", "T"), this.run.model.joints.length ? toggle("reactions", "reactions", "Q") : null, this.run.model.joints.length + this.run.model.springs.length ? toggle("joints", "joints", "J") : null, toggle("wireframe", "wire", "W"), this.followButton, colours);
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
    this.speedSelect = el("select.optional", { "aria-label": "Speed", title: "Speed (− +)", onchange: (e) => this.setSpeed(+e.target.value) }, ...SPEEDS.map((s) => el("option", { value: s, selected: s === 1 }, `${s}×`)));
    return el("div.transport", { role: "toolbar", "aria-label": "Playing" }, this.button("start", "First frame (Home)", () => this.setTime(this.run.first), {}), this.playButton, this.button("back", "A frame back (←)", () => this.stepFrames(-1)), this.button("forward", "A frame on (→)", () => this.stepFrames(1)), el("div.track", {}, this.slider, marks), this.clock, this.speedSelect);
  }

  buildSide() {
    this.plotPanel = el("div.panel");
    this.bodyList = bodiesPanel(this.run, (id) => this.select(id));
    this.bodyTable = el("div");
    const panels = { Plots: this.plotPanel, Bodies: el("div.panel", {}, this.bodyTable, this.bodyList), Scene: el("div.panel", {}, scenePanel(this.run)), Summary: el("div.panel", {}, summaryPanel(this.run)) };
    if (this.run.live) panels.Live = this.livePanel = el("div.panel");
    this.tabs = {};
    const bar = el("div.tabs", { role: "tablist" });
    for (const [name, panel] of Object.entries(panels)) {
      panel.id = `panel-${name}`;
      panel.setAttribute("role", "tabpanel");
      const tab = el("button", { type: "button", role: "tab", "aria-controls": panel.id, onclick: () => this.openTab(name), onkeydown: (e) => this.tabKey(e, name) }, name);
      this.tabs[name] = { tab, panel };
      this.run.live && name === "Live" ? bar.prepend(tab) : bar.append(tab);
    }
    this.openTab(this.run.live ? "Live" : "Plots");
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
    const p = this.picture.bodyPosition(id), b = this.run.model.bodies[id - 1], f = (x) => x.toFixed(4);
    this.bodyTable.replaceChildren(el("h2.name", {}, b.name), el("table", {}, ...[["position", `${f(p.x)}, ${f(p.y)}, ${f(p.z)} m`], ["mass", b.fixed ? "fixed" : `${+b.mass.toPrecision(6)} kg`]].map(([k, x]) => el("tr", {}, el("th", {}, k), el("td", {}, x)))), el("h2", {}, "All bodies"));
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
      if (down && Math.hypot(e.clientX - down[0], e.clientY - down[1]) < 4) this.select(this.picture.pick(e.clientX, e.clientY)?.body ?? 0);
      down = null;
    });
    document.addEventListener("keydown", (e) => this.key(e));
  }

  key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey || this.help.open || /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName) && e.target.type !== "range") return;
    if (e.target.type === "range" && e.target !== this.slider) return;
    const n = this.run.nBodies, p = this.picture, nudge = e.shiftKey ? 10 : 1, live = this.run.live;
    const actions = {
      " ": () => (live ? this.live.togglePause() : this.setPlaying(!this.playing)),
      ArrowLeft: () => !live && this.stepFrames(-nudge), ArrowRight: () => (live ? this.live.send({ do: "step" }) : this.stepFrames(nudge)),
      Home: () => !live && this.setTime(this.run.first), End: () => !live && this.setTime(this.run.last),
      "+": () => this.faster(1), "=": () => this.faster(1), "-": () => this.faster(-1),
      c: () => this.toggle("contacts"), a: () => this.toggle("forces"), q: () => this.toggle("reactions"), t: () => this.toggle("trails"), j: () => this.toggle("joints"), w: () => this.toggle("wireframe"),
      "[": () => this.scaleForces(0.8), "]": () => this.scaleForces(1.25),
      f: () => this.setFollow(!p.follow), n: () => this.select((p.selected % n) + 1), p: () => this.select(p.selected > 1 ? p.selected - 1 : n),
      Escape: () => this.select(0), r: () => p.resetView(), d: () => this.setTheme(!this.dark, true), "?": () => this.help.showModal(),
    };
    const action = actions[e.key.length === 1 ? e.key.toLowerCase() : e.key];
    if (!action || (e.key === " " && e.target.tagName === "BUTTON")) return;
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

  tick(now) {
    if (this.playing) {
      this.slow = now - (this.before ?? now) > 200 ? (this.slow ?? 0) + 1 : 0;
      if (this.slow >= 2) this.slow = 0, this.picture.lowerQuality();
      const t = this.time + this.speed * Math.min(0.1, (now - (this.before ?? now)) / 1000);
      this.setTime(t);
      if (t >= this.run.last) this.setPlaying(false);
    }
    this.before = now;
    if (this.dirty) {
      this.dirty = false;
      this.picture.render();
      this.placeTag();
      this.frames = (this.frames ?? 0) + 1;
    }
    requestAnimationFrame((t) => this.tick(t));
  }
}

function localTheme() {
  try {
    const kept = localStorage.getItem("stiction-theme");
    return kept == null ? null : kept === "dark";
  } catch { return null; }
}

// A live run is looked at from where its bodies are: the first state comes before the picture is made.
function firstState(run) {
  return new Promise((done, fail) => {
    run.events = new EventSource("events");
    run.events.onmessage = (e) => { run.take(JSON.parse(e.data)); done(run); };
    run.events.onerror = () => fail(new Error("The program has ended or does not answer."));
  });
}

async function load() {
  const inside = document.querySelector("#run").textContent;
  if (inside.trim()) return decodeRun(bytesOfBase64(inside));
  if (location.protocol === "file:") throw new Error("This page has no run inside. Make one: stiction report FILE.h5 -o report.html");
  const answer = await fetch("run", { cache: "no-store" });
  if (!answer.ok) throw new Error(`The program answered ${answer.status}.`);
  if (answer.headers.get("content-type").startsWith("application/json")) return firstState(new LiveRun(await answer.json()));
  return decodeRun(new Uint8Array(await answer.arrayBuffer()));
}

async function start() {
  const root = document.querySelector("#app");
  try {
    const run = await load();
    document.querySelector("#run").textContent = "";
    const app = new App(run);
    globalThis.stiction = app; // for the console, tests and render
    document.body.dataset.ready = "yes";
    const wanted = new URLSearchParams(location.search);
    if (wanted.has("render") && app.picture.blind) throw new Error(app.picture.blind);
    if (wanted.has("render")) await renderFrames(app, wanted);
    else if (!run.live && !matchMedia("(prefers-reduced-motion: reduce)").matches) app.setPlaying(true);
  } catch (error) {
    console.error(error);
    root.replaceChildren(el("p.failed", { role: "alert" }, error.message || String(error)));
    document.body.dataset.ready = "failed";
  }
}

start();
