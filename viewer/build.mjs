// build.mjs OUT -- everything of src/ in one HTML file: the page's style, its code with three.js and uPlot, and an
// empty place for a run. The same sources and package-lock.json give the same bytes.
import { build } from "esbuild";
import { readFileSync, writeFileSync } from "node:fs";

const here = (name) => new URL(name, import.meta.url).pathname;
const bundle = await build({
  entryPoints: [here("src/main.js")],
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
let page = readFileSync(here("src/page.html"), "utf8");
page = put(page, "/*STYLE*/", style.trim());
page = put(page, "/*SCRIPT*/", script.trim());
writeFileSync(process.argv[2] ?? here("stiction.html"), page);
