// playground.mjs PROGRAM FOLDER [SCENE...] -- the engine of the playground in Node against the program with one thread: steps per
// second of processor time of both, in the second run of the page's engine, and simulated over processor time in the page's engine. FOLDER is build/playground. Markdown on
// stdout. With the simulation settings that the page opens a scene with (LIGHTER in viewer/src/playground.js).
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { file, sphereScene } from "../tests/viewer/browser.mjs";

const [, , program, folder, ...wanted] = process.argv;
const lighter = eval(`(${/const LIGHTER = ({.*});/.exec(readFileSync(new URL("../viewer/src/playground.js", import.meta.url), "utf8"))[1]})`);
const scenes = readdirSync("examples/toys").filter((f) => f.endsWith(".json")).map((f) => ({ name: f.replace(".json", ""), label: `examples/toys/${f}`, text: readFileSync(`examples/toys/${f}`, "utf8") }));
for (const [preset, h] of [["default", 0.01], ["real-time", 0.01]]) scenes.push({ name: `500 spheres, h = ${1000 * h} ms, ${preset}`, label: "spheres", text: JSON.stringify(sphereScene(500, { h, end: 2, preset, tolerance: -1 })) });
const e = await createRequire(import.meta.url)(resolve(folder, "wasm/engine.js"))({ wasmBinary: readFileSync(resolve(folder, "wasm/engine.wasm")) });
const open = e.cwrap("engine_open", "string", ["string", "string", "string"]), run = e.cwrap("engine_run", "string", []);

console.log("| scene | steps | steps/s in the page | steps/s of the program | page / program | real time in the page |\n|---|---|---|---|---|---|");
for (const { name, label, text } of scenes.filter((s) => !wanted.length || wanted.includes(s.name))) {
  const sets = Object.entries(lighter[name] ?? {}).map(([k, v]) => `simulation/${k}=${v}`), answer = JSON.parse(open(text, label, sets.join("\n")));
  if (answer.errors) throw new Error(JSON.stringify(answer.errors));
  run(), open(text, label, sets.join("\n")); // once before, while Node compiles: browsers do that on another core
  const before = process.cpuUsage(), steps = Number(run().split(" ")[0]), { user, system } = process.cpuUsage(before), spent = (user + system) / 1e6;
  writeFileSync(file("scene.json"), text);
  const native = JSON.parse(execFileSync(program, ["run", file("scene.json"), "--json", "-q", ...sets.flatMap((s) => ["--set", s])], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }));
  const round = (x) => +x.toPrecision(2);
  console.log(`| ${name}${sets.length ? `, ${sets.map((s) => s.replace("simulation/", "")).join(", ")}` : ""} | ${steps} | ${round(steps / spent)} | ${round(native.steps / native.cpu_seconds)} | ${round((steps / spent) / (native.steps / native.cpu_seconds))} | ${round(native.time / spent)} × |`);
}
