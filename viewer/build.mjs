// build.mjs OUT -- everything of src/ in one HTML file: the page's style, its code with three.js and uPlot, and an
// empty place for a run. The same sources and package-lock.json give the same bytes.
// build.mjs --playground OUT ENGINE EXAMPLES -- the playground: the same page with the engine (ENGINE/engine.js and .wasm,
// made by scripts/playground.sh) and the scenes of the folder EXAMPLES inside.
import { build } from "esbuild";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const here = (name) => new URL(name, import.meta.url).pathname;

async function page(entry, body) {
  const bundle = await build({
    entryPoints: [here(entry)],
    bundle: true,
    minify: true,
    format: "iife",
    target: "es2022",
    legalComments: "none",
    write: false,
    outdir: here("out"),
  });
  const script = bundle.outputFiles.find((f) => f.path.endsWith(".js")).text;
  const style = bundle.outputFiles.find((f) => f.path.endsWith(".css")).text;
  const put = (text, mark, what) => text.split(mark).join(what); // no $-patterns
  let text = readFileSync(here("src/page.html"), "utf8");
  if (body) text = put(text, '<script id="run" type="text/plain"></script>', body);
  text = put(text, "/*STYLE*/", style.trim());
  return put(text, "/*SCRIPT*/", script.trim());
}

const GROUPS = { toys: "Toys", world: "Piles, walls, terrain", grains: "Grains", mechanisms: "Mechanisms", robots: "Robots", accuracy: "Known answers, second order", "potra-2006": "Known answers, second order", "anitescu-potra-2002": "Stiff springs and dampers", "negrut-2017": "Contact laws", "preclik-2011": "Contact laws", "song-2004": "Contact laws" };

// {name, group, file, text, files: what the scenes of the folder refer to}; a folder without a group is one by its own name.
function scenes(folder) {
  const out = [], parts = readdirSync(folder, { withFileTypes: true }).filter((f) => f.isDirectory()).map((f) => f.name), order = [...new Set([...Object.keys(GROUPS), ...parts.sort()])];
  for (const part of order) {
    const group = GROUPS[part] ?? part;
    const files = readdirSync(`${folder}/${part}`).sort(), read = (f) => ({ path: `${part}/${f}`, text: readFileSync(`${folder}/${part}/${f}`, "utf8") });
    const others = files.filter((f) => /\.(obj|stl|urdf|xml)$/.test(f)).map(read);
    for (const f of files.filter((f) => /\.(json|urdf|xml)$/.test(f))) out.push({ name: f.replace(/\.json$/, ""), group, file: `${part}/${f}`, text: read(f).text, files: f.endsWith(".json") ? others : [] });
  }
  return out;
}

const pack = (id, bytes) => `<script id="${id}" type="text/plain">${gzipSync(bytes, { level: 9 }).toString("base64")}</script>`;

if (process.argv[2] === "--playground") {
  const [, , , out, engine, examples] = process.argv, read = (f) => readFileSync(`${engine}/${f}`);
  const worker = `${read("engine.js")}\n${readFileSync(here("src/worker.js"))}`;
  writeFileSync(out, await page("src/playground.js", [pack("scenes", JSON.stringify(scenes(examples))), pack("worker", worker), pack("wasm", read("engine.wasm")), `<script id="licences" type="text/plain">\n${read("licences.txt")}</script>`].join("\n")));
} else {
  writeFileSync(process.argv[2] ?? here("stiction.html"), await page("src/main.js"));
}
