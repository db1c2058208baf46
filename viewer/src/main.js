// main.js -- the page of `stiction view`, `report` and `render`: load the run and show it.
import { App } from "./app.js";
import { el } from "./dom.js";
import { bytesOfBase64, decodeRun, LiveRun } from "./run.js";
import { renderFrames } from "./render.js";

// The view of a live run depends on its bodies: the first state arrives before the picture is made.
function firstState(run) {
  run.post = (body) => fetch("control", { method: "POST", headers: { "Content-Type": "text/plain", "X-Stiction": run.header.key }, body }).catch(() => {});
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
    const wanted = new URLSearchParams(location.search), app = new App(run, { best: wanted.has("render") });
    globalThis.stiction = app; // for the console, tests and render
    document.body.dataset.ready = "yes";
    if (wanted.has("render") && app.picture.blind) throw new Error(app.picture.blind);
    if (wanted.has("render")) await renderFrames(app, wanted);
    else if (!run.live && app.openLink()) app.setPlaying(false);
    else if (!run.live && !matchMedia("(prefers-reduced-motion: reduce)").matches) app.setPlaying(true);
  } catch (error) {
    console.error(error);
    root.replaceChildren(el("p.failed", { role: "alert" }, error.message || String(error)));
    document.body.dataset.ready = "failed";
  }
}

start();
