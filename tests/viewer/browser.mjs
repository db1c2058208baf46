// browser.mjs -- a run, its report, and a page of Chromium that looks at it: for tests and figures.
import { chromium } from "../../viewer/node_modules/playwright-core/index.mjs";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const scratch = mkdtempSync(join(tmpdir(), "stiction-page-"));
process.on("exit", () => rmSync(scratch, { recursive: true, force: true }));

export const file = (name) => join(scratch, name);
export const url = (name) => `file://${file(name)}`;

export function stiction(program, ...args) {
  return execFileSync(program, args, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
}

const PATIENCE = 120000; // ms, for a machine that is busy with other things

export function launch(executablePath, drawing = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader"]) {
  const args = [...drawing];
  if (process.getuid?.() === 0) args.push("--no-sandbox");
  return chromium.launch({ executablePath, args, timeout: PATIENCE });
}

// A page with no network; its console messages and requests are kept.
export async function open(browser, address, options = {}) {
  const context = await browser.newContext({ viewport: { width: 900, height: 480 }, colorScheme: "dark", offline: address.startsWith("file:"), ...options });
  const page = await context.newPage(), noise = [], asked = [];
  page.on("console", (m) => ["error", "warning"].includes(m.type()) && !/GPU stall|swiftshader/i.test(m.text()) && noise.push(m.text()));
  page.on("pageerror", (e) => noise.push(e.message));
  page.on("request", (r) => asked.push(r.url()));
  page.setDefaultTimeout(PATIENCE);
  const began = Date.now();
  await page.goto(address);
  await page.waitForFunction(() => document.body.dataset.ready);
  return { page, noise, asked, took: Date.now() - began, close: () => context.close() };
}

// n spheres dropped on a plane in a square block; a falling start, then a heap.
export function sphereScene(n, more = {}) {
  const side = Math.max(1, Math.round(Math.sqrt(n / Math.max(1, Math.cbrt(n))))), bodies = [];
  let seed = 1;
  const random = () => ((seed = (seed * 48271) % 2147483647) / 2147483647 - 0.5) * 0.04;
  for (let k = 0; k < n; k++)
    bodies.push({ name: `s${k + 1}`, position: [((k % side) - side / 2) * 0.24 + random(), ((Math.floor(k / side) % side) - side / 2) * 0.24 + random(), 0.15 + Math.floor(k / side / side) * 0.24], shapes: [{ type: "sphere", radius: 0.1, friction: 0.4 }] });
  return { name: `spheres-${n}`, simulation: { h: 0.005, end: 1, tolerance: 1e-3, ...more }, ground: [{ type: "plane", normal: [0, 0, 1], friction: 0.4 }], bodies };
}

export const writeScene = (name, scene) => writeFileSync(file(name), JSON.stringify(scene));
