// live.js -- a simulation that runs while it is shown: states arrive as events (run.events), controls are sent as small posts
// (run.post), to the program or to the playground's worker.
import * as THREE from "three";
import { el, icon } from "./dom.js";
import { runPlots } from "./plots.js";

export class Live {
  constructor(app) {
    this.app = app;
    this.run = app.run;
    this.paused = false;
    this.plotted = 0;
    this.turned = {}; // knobs that were changed
    this.build();
    this.events = this.run.events;
    this.events.onmessage = (e) => this.take(JSON.parse(e.data));
    this.events.onerror = () => this.say("The program has ended or does not answer.");
  }

  build() {
    const { app } = this, c = this.run.header.choices;
    this.pauseButton = el("button.icon.play", { type: "button", title: "Pause (Space)", "aria-label": "Pause", onclick: () => this.togglePause() }, icon("pause"));
    const stepButton = el("button.icon", { type: "button", title: "One step (→)", onclick: () => this.send({ do: "step" }) }, "step");
    const resetButton = el("button.icon", { type: "button", title: "Back to the start", onclick: () => this.send({ do: "reset" }) }, "reset");
    this.clock = el("div.clock", { role: "timer" });
    this.pace = el("div.hint");
    app.transport.append(this.pauseButton, stepButton, resetButton, this.clock, this.pace);
    const g = Math.hypot(...c.gravity), out = {};
    const knob = (key, label, min, max, value, show) => {
      const text = (out[key] = el("output", {}, show(value)));
      const input = el("input", { type: "range", min, max, step: "any", value, "aria-label": label, oninput: (e) => { text.textContent = show(+e.target.value); this.turned[key] = +e.target.value; this.send({ [key]: +e.target.value }); } });
      return [el("span", {}, label), input, text];
    };
    app.livePanel.append(
      el("p.hint", {}, "Drag a body to pull it with a spring. Space pauses, → takes one step."),
      el("div.knobs", {}, ...knob("log_h", "step h", -4.3, -1, Math.log10(c.h), (x) => `${(10 ** x).toPrecision(2)} s`), ...knob("gravity", "gravity", 0, Math.max(20, 2 * g), g, (x) => `${x.toFixed(2)} m/s²`), ...knob("friction", "friction ×", 0, 3, 1, (x) => x.toFixed(2)), ...knob("speed", "speed ×", 0.05, 2, 1, (x) => x.toFixed(2))),
      (this.message = el("p.notice", { hidden: true })), (this.info = el("p.hint")));
  }

  // The run is held at its start until the first picture of it is drawn.
  ready() {
    this.send({ do: "ready" });
  }

  // Sends the present knobs to a simulation that was restarted.
  again() {
    this.send({ do: "ready", ...this.turned });
  }

  send(wish) {
    if (wish.friction != null) this.run.friction = wish.friction;
    return this.run.post(Object.entries(wish).map(([k, x]) => `${k}=${x}`).join("&"));
  }

  say(text) {
    this.message.hidden = !text;
    this.message.textContent = text;
  }

  togglePause() {
    this.send({ do: this.paused ? "run" : "pause" });
  }

  take(state) {
    const { app, run } = this;
    run.take(state);
    this.say(state.message ?? "");
    if (state.paused !== this.paused) {
      this.paused = state.paused;
      this.pauseButton.replaceChildren(icon(this.paused ? "play" : "pause"));
      this.pauseButton.setAttribute("aria-label", this.paused ? "Run" : "Pause");
    }
    app.time = run.now;
    app.picture.setTime(run.now);
    app.fillBody();
    if (performance.now() - (this.fitted ?? 0) > 400) (this.fitted = performance.now()), app.picture.refit();
    this.clock.textContent = `${run.now.toFixed(3)} s`;
    this.pace.textContent = `${state.real.toFixed(2)}× real time`;
    this.info.textContent = `${state.contacts_n} contact${state.contacts_n === 1 ? "" : "s"} · ${state.iterations} iteration${state.iterations === 1 ? "" : "s"} · ${(1e3 * state.cost).toPrecision(2)} ms per step`;
    if (performance.now() - this.plotted > 500 && run.series.time.length > 2) {
      this.plotted = performance.now();
      app.plots.now = run.now;
      app.plots.show(runPlots(run));
    }
  }

  // A body under the pointer is pulled until the button is released. True: taken.
  grab(e) {
    if (e.button !== 0) return false;
    const { picture } = this.app, hit = picture.pick(e.clientX, e.clientY);
    if (!hit || this.run.model.bodies[hit.body - 1].fixed) return false;
    this.app.select(hit.body);
    picture.controls.enabled = false;
    const inverse = picture.bodyMatrix(hit.body, new THREE.Matrix4()).clone().invert(), local = hit.point.clone().applyMatrix4(inverse).toArray();
    const pull = (event) => {
      const to = picture.facing(event.clientX, event.clientY, hit.point);
      if (to) this.send({ drag: hit.body, ax: local[0], ay: local[1], az: local[2], x: to.x, y: to.y, z: to.z });
    };
    const release = () => {
      removeEventListener("pointermove", pull);
      picture.controls.enabled = true;
      this.send({ drag: 0 });
    };
    addEventListener("pointermove", pull);
    addEventListener("pointerup", release, { once: true });
    pull(e);
    return true;
  }
}
