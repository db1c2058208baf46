// page.mjs PROGRAM CHROMIUM [N...] -- weight and load time of reports with N falling spheres, and what a frame costs drawn by
// software: frames per second, and processor time of the whole browser per frame, which a busy machine changes little. Markdown on stdout. `cd viewer && npm ci` first.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { file, launch, open, sphereScene, stiction, url, writeScene } from "../tests/viewer/browser.mjs";

const [, , program, chromium, ...sizes] = process.argv, browser = await launch(chromium);

// Processor time of all processes below this one [s].
function spent() {
  const of = new Map();
  for (const pid of readdirSync("/proc").filter((p) => /^\d+$/.test(p))) {
    try {
      const f = readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\) /s, "").split(" ");
      of.set(pid, { parent: f[1], time: (Number(f[11]) + Number(f[12])) / 100 });
    } catch { /* it has ended */ }
  }
  const ours = (pid) => pid === String(process.pid) || (of.has(pid) && pid !== "1" && ours(of.get(pid).parent));
  return [...of].filter(([pid]) => pid !== String(process.pid) && ours(pid)).reduce((sum, [, p]) => sum + p.time, 0);
}

console.log("| bodies | report, kB | opens in, s | processor time to open, s | frames/s | processor time per frame, ms | quality level |\n|---|---|---|---|---|---|---|");
for (const n of sizes.length ? sizes.map(Number) : [100, 1000, 10000, 100000]) {
  writeScene("scene.json", sphereScene(n, { end: 0.2, h: 0.01, preset: "real-time" }));
  stiction(program, "run", file("scene.json"), "-o", file("run.h5"), "-q");
  stiction(program, "report", file("run.h5"), "-o", file("report.html"));
  const before = spent(), { page, took, close } = await open(browser, url("report.html"), { viewport: { width: 1280, height: 720 } }), opened = spent() - before;
  await page.evaluate(() => { stiction.setLoop(true), stiction.setSpeed(0.1), stiction.setPlaying(true); });
  await page.waitForTimeout(6000); // quality settles
  const frames = () => page.evaluate(() => [stiction.frames, performance.now() / 1000, stiction.picture.level]);
  const [first, began] = await frames(), cost = spent();
  await page.waitForTimeout(6000);
  const [last, ended, level] = await frames(), n_frames = Math.max(1, last - first);
  console.log(`| ${n.toLocaleString("en")} | ${Math.round(statSync(file("report.html")).size / 1000).toLocaleString("en")} | ${(took / 1000).toFixed(1)} | ${opened.toFixed(1)} | ${(n_frames / (ended - began)).toFixed(1)} | ${Math.round((1000 * (spent() - cost)) / n_frames)} | ${level} |`);
  await close();
}
await browser.close();
