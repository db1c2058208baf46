// test_playground.mjs PROGRAM FOLDER CHROMIUM -- the playground as a person uses it.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { statSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { file, launch, open } from "./browser.mjs";

const [, , program, folder, chromium] = process.argv, path = resolve(folder, "playground.html");
assert.ok(statSync(path).size < 3e6, `the page has ${statSync(path).size} bytes, at most 3 MB`);
const browser = await launch(chromium), t = await open(browser, `file://${path}#scene=woodpecker`), { page } = t;

const runs = (more) => page.waitForFunction((more) => stiction.run.now > more, more);
const text = () => page.evaluate(() => playground.editor.text);
// A scene is on the page when its App is.
const choose = async (name) => {
  await page.evaluate(() => (globalThis.before = globalThis.stiction));
  await page.locator(".scenes").selectOption(name);
  await page.waitForFunction(() => globalThis.stiction !== before);
};
const type = (value) => page.evaluate((value) => { playground.editor.text = value; playground.editor.edited(); }, value);

const tests = {
  async "opens from disk, asks nobody, and runs"() {
    assert.equal(await page.evaluate(() => document.body.dataset.ready), "yes");
    await runs(0.05);
    assert.deepEqual(t.asked.filter((u) => !u.startsWith("file:") && !u.startsWith("data:") && !u.startsWith("blob:")), []);
  },

  async "every example of the gallery is there, and every toy runs"() {
    const list = JSON.parse(execFileSync(program, ["examples", "--json"], { encoding: "utf8", env: { ...process.env, STICTION_EXAMPLES: resolve("examples") } }));
    const names = await page.evaluate(() => playground.scenes.map((s) => s.name));
    for (const { name } of list.examples ?? list) assert.ok(names.includes(name), name);
    for (const name of ["tippe-top", "newtons-cradle", "gripper"]) await choose(name), await runs(0.02);
  },

  async "a slider changes the scene's text and starts it again"() {
    await choose("incline");
    await runs(0.1);
    const slider = page.locator('.knobs input[aria-label^="friction"]').first();
    await slider.fill("0");
    await page.waitForFunction(() => /"friction": 0[,}\s]/.test(playground.text));
    await page.waitForFunction(() => stiction.run.model === playground.header.model);
    await runs(0.05);
    // without friction the block goes down its plane as g sin(a) t^2/2 does
    assert.match(await text(), /"friction": 0[,}\s]/);
  },

  async "errors are the program's own, at their lines; the scene before goes on"() {
    await choose("card-house");
    const wrong = (await text()).replace('"density": 1200', '"density": -1200').replace('"radius": 0.01', '"raduis": 0.01');
    writeFileSync(file("wrong.json"), wrong);
    const said = spawnSync(program, ["run", file("wrong.json")], { encoding: "utf8" }).stderr.trim().split("\n").map((l) => l.replace(/^stiction: /, "").replace(file("wrong.json"), "toys/card-house.json"));
    await type(wrong);
    await page.waitForFunction(() => document.querySelectorAll(".errors button").length > 0);
    assert.deepEqual(await page.locator(".errors button").allTextContents(), said);
    assert.ok((await page.locator(".gutter .wrong").count()) > 0);
    const now = await page.evaluate(() => stiction.run.now);
    await runs(now);
    await type(await page.evaluate(() => playground.scene.text));
    await page.waitForFunction(() => document.querySelectorAll(".errors button").length === 0);
  },

  async "the schema completes keys and words"() {
    await page.locator("#tab-Edit").click();
    const offered = (value) => page.evaluate((value) => {
      const at = value.indexOf("|");
      const { area } = playground.editor;
      playground.editor.text = value.replace("|", "");
      area.setSelectionRange(at, at);
      playground.editor.edited();
      return playground.editor.found?.items.map((i) => i.label) ?? [];
    }, value);
    assert.deepEqual(await offered('{"bodies": [{"name": "a", "shapes": [{"type": "sphere", "ra|"}]}]}'), ["radius"]);
    assert.ok(!(await offered('{"bodies": [{"shapes": [{"type": "sphere", "s|"}]}]}')).includes("size"), "a sphere has no size");
    assert.ok((await offered('{"bodies": [{"shapes": [{"type": "b|"}]}]}')).includes("box"));
    assert.ok((await offered('{"simulation": {"preset": "ac|"}}')).includes("accurate"));
    await page.evaluate(() => playground.editor.area.focus());
    await page.keyboard.press("Enter");
    assert.equal(await text(), '{"simulation": {"preset": "accurate"}}');
  },

  async "a body is pulled with the mouse, and plots have data"() {
    await choose("stack");
    await page.evaluate(() => (globalThis.before = stiction));
    await type(JSON.stringify({ ground: [{ type: "plane" }], bodies: [{ name: "crate", position: [0, 0, 0.1], shapes: [{ type: "box", size: [0.2, 0.2, 0.2] }] }] }));
    await page.waitForFunction(() => stiction !== before);
    await page.locator("#tab-Play").click();
    await runs(0.05);
    const at = await page.evaluate(() => {
      const body = 1 + stiction.run.model.bodies.findIndex((b) => !b.fixed), [x, y] = stiction.picture.onScreen(body), box = stiction.canvas.getBoundingClientRect();
      return { body, x: box.x + x, y: box.y + y, z: stiction.run.position[3 * (body - 1) + 2] };
    });
    await page.mouse.move(at.x, at.y);
    await page.mouse.down();
    await page.mouse.move(at.x, at.y - 120, { steps: 4 });
    await page.waitForFunction(({ body, z }) => stiction.run.position[3 * (body - 1) + 2] > z + 0.02, at);
    await page.mouse.up();
    await page.waitForFunction(() => stiction.run.series.time.length > 5);
    await page.locator("#tab-Plots").click();
    await page.waitForFunction(() => document.querySelectorAll(".plot canvas").length > 2);
  },
};

let failed = 0;
for (const [name, test] of Object.entries(tests)) {
  try {
    await test();
    console.log(`ok   ${name}`);
  } catch (error) {
    failed++;
    console.log(`FAIL ${name}\n${error.stack}`);
  }
}
assert.deepEqual(t.noise, []);
await browser.close();
console.log(`${Object.keys(tests).length - failed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
