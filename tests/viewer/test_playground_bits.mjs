// test_playground_bits.mjs PROGRAM FOLDER -- the engine in WebAssembly against the program, state hash for state hash. The
// C libraries compute sines differently in the last bit: the program gets the mathematics of emscripten's (musl-math.so).
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";

const [, , program, folder] = process.argv;
export async function engine() {
  const create = createRequire(import.meta.url)(resolve(folder, "wasm/engine.js"));
  return create({ wasmBinary: readFileSync(resolve(folder, "wasm/engine.wasm")) });
}

// Scene and how many steps of it. Boxes, cylinders, hulls, meshes, joints, springs, piles, all integrators.
const cases = { "toys/card-house": 60, "toys/chain-on-peg": 40, "toys/eulers-disk": 300, "toys/gripper": 400, "toys/hourglass": 3, "toys/newtons-cradle": 1200, "toys/rattleback": 1000, "toys/stone-arch": 60, "toys/tippe-top": 1000, "toys/walker": 400, "toys/woodpecker": 1000, "world/bracket": 60, "world/dominoes": 60, "world/poured": 20, "world/rocking-ellipse": 60, "world/terrain": 20, "world/turning": 100, "world/wall": 5, "mechanisms/andrews": 60, "mechanisms/bricard": 60, "mechanisms/governor": 100, "mechanisms/whip": 30, "accuracy/heavy-top": 60, "accuracy/spatial-linkage": 60, "potra-2006/double-pendulum": 60, "anitescu-potra-2002/b_g20_implicit": 60, "negrut-2017/stack": 30, "preclik-2011/table": 30, "song-2004/ellipse": 60 };

const e = await engine(), open = e.cwrap("engine_open", "string", ["string", "string", "string"]), run = e.cwrap("engine_run", "string", []);
const preload = resolve(folder, "musl-math.so"), wrong = [];
let own = 0;
for (const [name, steps] of Object.entries(cases)) {
  const file = `examples/${name}.json`, text = readFileSync(file, "utf8"), h = JSON.parse(text).simulation?.h ?? 1e-3, sets = [`simulation/end=${h * steps}`];
  if (name === "world/bracket") e.FS.mkdirTree("examples/world"), e.FS.writeFile("examples/world/bracket.obj", readFileSync("examples/world/bracket.obj"));
  const answer = open(text, file, sets.join("\n"));
  assert.ok(!answer.startsWith('{"errors'), answer);
  const [, hash] = run().split(" "), native = (env) => JSON.parse(execFileSync(program, ["run", file, "--json", "-q", ...sets.flatMap((s) => ["--set", s])], { encoding: "utf8", env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "ignore"] })).state_hash;
  if (hash !== native({ LD_PRELOAD: preload })) wrong.push(name);
  own += hash === native({});
}
assert.deepEqual(wrong, [], "scenes whose state differs from the program's");
console.log(`playground: the same bits as the program in ${Object.keys(cases).length} scenes; with this machine's own sines in ${own} of them`);
