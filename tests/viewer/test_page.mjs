// test_page.mjs PROGRAM CHROMIUM -- the page as a person uses it.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { file, launch, open, sphereScene, stiction, url, writeScene } from "./browser.mjs";

const [, , program, chromium] = process.argv;
const scene = sphereScene(30, { h: 0.004, end: 1.2 });
scene.name = 'a "heap" <b>of</b> spheres';
scene.description = "Its `bodies` and their `shapes` <i>fall</i>, and `that is all.";
scene.bodies.push({ name: "crate", position: [1.2, 0, 0.2], velocity: [-1, 0, 0], shapes: [{ type: "box", size: [0.4, 0.4, 0.4] }] });
writeScene("scene.json", scene);
stiction(program, "run", file("scene.json"), "-o", file("run.h5"), "-q");
stiction(program, "report", file("run.h5"), "-o", file("report.html"));
stiction(program, "export", file("run.h5"), "--csv", file("run.csv"));
const browser = await launch(chromium);

// Keeps the picture of the canvas under a name; the share of its pixels that differ between two of those.
const keep = (page, name) => page.evaluate((name) => {
  const { picture } = stiction, c = document.createElement("canvas"), x = c.getContext("2d", { willReadFrequently: true });
  c.width = 320, c.height = 240;
  picture.render();
  x.drawImage(picture.canvas, 0, 0, 320, 240);
  (globalThis.kept ??= {})[name] = x.getImageData(0, 0, 320, 240).data;
}, name);
const differing = (page, first, second) => page.evaluate(([first, second]) => {
  const a = kept[first], b = kept[second];
  let n = 0;
  for (let k = 0; k < a.length; k += 4) n += Math.abs(a[k] - b[k]) + Math.abs(a[k + 1] - b[k + 1]) + Math.abs(a[k + 2] - b[k + 2]) + Math.abs(a[k + 3] - b[k + 3]) > 24;
  return n / (a.length / 4);
}, [first, second]);

// Everything requested is on the screen.
const drawn = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

const tests = {
  async "opens from disk, asks nobody, says nothing"(t) {
    assert.equal(await t.page.evaluate(() => document.body.dataset.ready), "yes");
    assert.deepEqual(t.noise, []);
    assert.deepEqual(t.asked.filter((u) => !u.startsWith("file:") && !u.startsWith("data:") && !u.startsWith("blob:")), []);
    assert.equal(await t.page.locator("h1").textContent(), scene.name); // as text, not as markup
  },

  async "plays, and stops"({ page }) {
    const now = () => page.evaluate(() => stiction.time);
    await page.evaluate(() => { stiction.setSpeed(0.05); stiction.setTime(0); stiction.setPlaying(true); }); // slow: it must not end before the key
    await page.waitForFunction(() => stiction.time > 0);
    await page.locator("canvas").first().press("Space");
    const stopped = await now();
    assert.ok(stopped < 1.2, "stopped by the key, not by its end");
    await page.waitForTimeout(200);
    assert.equal(await now(), stopped);
    await page.evaluate(() => stiction.setSpeed(1));
  },

  async "scrubs with slider, keys and plots"({ page }) {
    const now = () => page.evaluate(() => stiction.time), slider = page.locator(".track input");
    await slider.focus();
    await page.keyboard.press("Home");
    assert.equal(await now(), 0);
    await page.keyboard.press("End");
    assert.ok(Math.abs((await now()) - 1.2) < 1e-6);
    await page.locator("canvas").first().press("ArrowLeft");
    const back = await now();
    assert.ok(back < 1.2 && back > 1.1);
    const plot = await page.locator('[data-plot="energy"] .u-over').boundingBox();
    await page.mouse.click(plot.x + plot.width / 2, plot.y + plot.height / 2);
    assert.ok(Math.abs((await now()) - 0.6) < 0.02, `half way along the plot is t = 0.6, got ${await now()}`);
  },

  // The page's rounded poses against the table of the same recording.
  async "shows what was recorded"({ page }) {
    const [head, ...rows] = readFileSync(file("run.csv"), "utf8").trim().split("\n").map((l) => l.split(","));
    const x = head.indexOf("crate.x"), run = await page.evaluate(() => ({ time: Array.from(stiction.run.time), crate: Array.from(stiction.run.bodySeries(31).x), quantum: stiction.run.header.quantum, z: Array.from(stiction.run.bodySeries(7).z) }));
    assert.equal(run.time.length, rows.length);
    rows.forEach((row, k) => {
      assert.ok(Math.abs(run.time[k] - Number(row[0])) < 1e-9);
      // half a quantum of rounding, and a float's
      assert.ok(Math.abs(run.crate[k] - Number(row[x])) < 0.5 * run.quantum + 1e-6, `frame ${k}: ${run.crate[k]} against ${row[x]}`);
      assert.ok(Math.abs(run.z[k] - Number(row[head.indexOf("s7.z")])) < 0.5 * run.quantum + 1e-6);
    });
  },

  // At rest every ball and the crate stand on the floor: the arrows add up to the weight of all.
  async "has forces that carry the weight"({ page }) {
    const sum = await page.evaluate(() => {
      const c = stiction.run.contactsAt(stiction.run.last);
      let z = 0, n = 0;
      for (let k = c.begin; k < c.end; k++) if (c.pair[2 * k] === 0 || c.pair[2 * k + 1] === 0) z += (c.pair[2 * k] === 0 ? 1 : -1) * c.force[3 * k + 2], n++;
      return { z, n, mass: stiction.run.model.bodies.reduce((m, b) => m + b.mass, 0) };
    });
    assert.ok(sum.n >= 31);
    // balls still roll and settle a little: a few per cent
    assert.ok(Math.abs(sum.z / (9.81 * sum.mass) - 1) < 0.05, `floor carries ${sum.z} N of ${9.81 * sum.mass} N`);
  },

  // The floor pushes up; if a body on another one is selected, the one below pushes up, and those on it push down.
  async "arrows show what is done to the body that is looked at"({ page }) {
    const got = await page.evaluate(() => {
      const { picture, run } = stiction, c = run.contactsAt(run.last), out = { floor: 0, down: 0, balls: 0, wrong: 0 };
      const arrow = (k) => picture.arrows.meshes[0].instanceMatrix.array.slice(16 * k + 4, 16 * k + 7); // the shaft, along y of its own
      stiction.setPlaying(false), stiction.setTime(run.last), stiction.select(0);
      for (let k = c.begin; k < c.end; k++) if (c.pair[2 * k] === 0 || c.pair[2 * k + 1] === 0) out.floor++, (out.down += arrow(k - c.begin)[2] < 0);
      for (let k = c.begin; k < c.end; k++) {
        const [a, b] = c.pair.slice(2 * k, 2 * k + 2), sum = (way) => way.reduce((s, x, i) => s + x * c.force[3 * k + i], 0);
        if (a === 0 || b === 0 || Math.hypot(...c.force.slice(3 * k, 3 * k + 3)) === 0) continue;
        out.balls++;
        for (const [body, sign] of [[a, -1], [b, 1]]) stiction.select(body), (out.wrong += sign * sum(arrow(k - c.begin)) <= 0);
      }
      stiction.select(0);
      return out;
    });
    assert.ok(got.floor >= 31 && got.down === 0, JSON.stringify(got));
    assert.ok(got.balls > 0 && got.wrong === 0, JSON.stringify(got));
  },

  async "a curve over powers of ten has gaps where it is 0, and dots between them"({ page }) {
    await page.evaluate(() => {
      const at = Object.assign(document.createElement("div"), { id: "log" }), values = Array.from({ length: 101 }, (_, k) => (k === 50 ? 1e-3 : k < 20 || k > 80 ? 1e-2 : 0));
      at.style.width = "400px";
      document.body.append(at);
      globalThis.log = new stiction.plots.constructor(at, () => {});
      log.show([{ key: "log", title: "log", log: true, time: values.map((_, k) => k), curves: [{ label: "log", values }] }]);
      log.setTime(-1); // its line is not among them
    });
    await drawn(page);
    const drawnAt = await page.evaluate(() => { // has the column of the canvas ink of the curve, which is blue?
      const { plot } = log.cards[0], { left, top, width, height } = plot.bbox, d = plot.ctx.getImageData(left, top, width, height).data;
      document.querySelector("#log").remove();
      return [10, 35, 50, 65, 90].map((x) => {
        const middle = Math.round((x / 100) * (width - 1));
        for (let y = 0; y < height; y++) for (let column = middle - 1; column <= middle + 1; column++) { const i = 4 * (y * width + column); if (d[i + 3] > 100 && d[i + 2] > d[i] + 40) return true; }
        return false;
      });
    });
    assert.deepEqual(drawnAt, [true, false, true, false, true]);
  },

  async "a click selects the body under it"({ page }) {
    await page.evaluate(() => { stiction.setTime(0.3); stiction.picture.resetView(); });
    await drawn(page);
    const at = await page.evaluate(() => { const box = stiction.canvas.getBoundingClientRect(), p = stiction.picture.onScreen(31); return [box.left + p[0], box.top + p[1]]; });
    await page.mouse.click(...at);
    assert.equal(await page.evaluate(() => stiction.picture.selected), 31);
    await page.waitForFunction(() => document.querySelector(".tag").textContent === "crate"); // with the next frame
    await keep(page, "edged");
    await page.evaluate(() => (stiction.picture.edge.group.visible = false));
    await keep(page, "bare");
    await page.evaluate(() => (stiction.picture.edge.group.visible = true));
    assert.ok((await differing(page, "edged", "bare")) > 0.0005, "the selected body has an edge");
    await page.getByRole("tab", { name: "Bodies" }).click();
    assert.equal(await page.locator("#panel-Bodies h2").first().evaluate((e) => e.innerText), "crate"); // as it is written
    await page.getByRole("tab", { name: "Plots" }).click();
    assert.ok(await page.locator('[data-plot="position"]').isVisible());
    await page.locator("canvas").first().press("Escape");
    assert.equal(await page.evaluate(() => stiction.picture.selected), 0);
  },

  async "arrows, contacts, trails and wires can be seen and hidden"({ page }) {
    await page.evaluate(() => stiction.setTime(1.1));
    await keep(page, "before");
    for (const [key, share] of [["a", 0.0005], ["w", 0.005]]) {
      await page.locator("canvas").first().press(key);
      await keep(page, "changed");
      const changed = await differing(page, "before", "changed");
      assert.ok(changed > share, `${key}: only ${changed} of the picture changed`);
      await page.locator("canvas").first().press(key);
      await keep(page, "again");
      assert.ok((await differing(page, "before", "again")) < 1e-4, `${key} twice is as before`);
    }
    await page.locator('[data-toggle="trails"]').click();
    assert.equal(await page.evaluate(() => stiction.picture.trails.size), 31);
    await page.locator('[data-toggle="trails"]').click();
  },

  async "the picture is not an empty one"({ page }) {
    await keep(page, "full");
    await page.evaluate(() => { for (const g of stiction.picture.groups) g.visible = false; });
    await keep(page, "empty");
    await page.evaluate(() => { for (const g of stiction.picture.groups) g.visible = true; });
    const share = await differing(page, "full", "empty");
    assert.ok(share > 0.01, `bodies are ${share} of the picture`);
  },

  async "plots have data"({ page }) {
    await page.evaluate(() => stiction.select(31));
    const cards = await page.evaluate(() => stiction.plots.cards.map(({ spec, plot }) => ({ key: spec.key, n: spec.time.length, ink: (() => { const c = plot.ctx.canvas, d = plot.ctx.getImageData(0, 0, c.width, c.height).data; let n = 0; for (let k = 3; k < d.length; k += 4) n += d[k] > 0; return n; })(), finite: spec.curves.every((c) => Array.from(c.values).some(Number.isFinite)) })));
    for (const key of ["energy", "residual", "contacts", "iterations", "position", "speed", "force"]) assert.ok(cards.some((c) => c.key === key), `no plot of ${key}`);
    for (const c of cards) assert.ok(c.n > 50 && c.ink > 300 && c.finite, JSON.stringify(c));
    await page.evaluate(() => stiction.select(0));
  },

  // The crate slides on the floor: friction is all it can be, the geometric mean of 0.4 and 0.5 times its load.
  async "a picked contact shows its friction cone and how near it is to sliding"({ page }) {
    const got = await page.evaluate(async () => {
      const { picture, run } = stiction, c = (stiction.setTime(0.1), run.contactsAt(0.1)), box = stiction.canvas.getBoundingClientRect();
      picture.resetView();
      let k = c.begin;
      while (k < c.end && !(c.pair[2 * k] === 0 && c.pair[2 * k + 1] === 31)) k++;
      const p = picture.camera.position.clone().fromArray(c.point, 3 * k).project(picture.camera), x = box.left + ((p.x + 1) / 2) * box.width, y = box.top + ((1 - p.y) / 2) * box.height;
      stiction.clickAt(x, y);
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
      const info = { ...picture.contactInfo }, words = document.querySelector(".contact").textContent, bar = document.querySelector(".scalebar").textContent, cone = picture.cone.visible;
      stiction.setTime(run.last); // at rest among the balls: it sticks
      const rest = picture.contactInfo.share;
      picture.setContact(null);
      return { info, words, bar, cone, rest, shown: picture.cone.visible };
    });
    assert.ok(got.cone && !got.shown);
    assert.ok(Math.abs(got.info.mu - Math.sqrt(0.4 * 0.5)) < 1e-9, JSON.stringify(got.info));
    assert.ok(got.info.normal > 0 && Math.abs(got.info.tangent / (got.info.mu * got.info.normal) - 1) < 0.01, JSON.stringify(got.info));
    assert.match(got.words, /slides/);
    assert.ok(got.rest < 0.99, `at rest it uses ${got.rest}`);
    assert.match(got.bar, /^[\d.e+-]+ N/);
  },

  async "plots zoom, hide curves, show values under the pointer, and are saved as tables"({ page }) {
    const plot = page.locator('[data-plot="energy"]'), over = await plot.locator(".u-over").boundingBox(), shown = () => page.evaluate(() => stiction.plots.cards.find((c) => c.spec.key === "energy").plot.scales.x);
    await page.mouse.move(over.x + 0.25 * over.width, over.y + 40);
    await page.mouse.down();
    await page.mouse.move(over.x + 0.5 * over.width, over.y + 40, { steps: 4 });
    await page.mouse.up();
    let x = await shown();
    assert.ok(Math.abs(x.min - 0.3) < 0.02 && Math.abs(x.max - 0.6) < 0.02, JSON.stringify(x));
    await page.mouse.dblclick(over.x + 0.5 * over.width, over.y + 40);
    x = await shown();
    assert.ok(x.min === 0 && Math.abs(x.max - 1.2) < 1e-6);
    await page.mouse.move(over.x + 1, over.y + 40); // at the start only the crate moves: 64 kg at 1 m/s
    assert.match(await plot.locator(".legend").textContent(), /^kinetic 32potential/);
    await plot.getByRole("button", { name: /potential/ }).click();
    assert.equal(await page.evaluate(() => stiction.plots.cards.find((c) => c.spec.key === "energy").plot.series[2].show), false);
    await plot.getByRole("button", { name: /potential/ }).click();
    await plot.getByRole("button", { name: "log" }).click();
    assert.equal(await page.evaluate(() => stiction.plots.cards.find((c) => c.spec.key === "energy").plot.scales.y.distr), 3);
    await plot.getByRole("button", { name: "log" }).click();
    const [table, last] = await page.evaluate(() => { const { spec } = stiction.plots.cards.find((c) => c.spec.key === "energy"), n = spec.time.length - 1; return [stiction.plots.table(spec).trim().split("\n"), [spec.time[n], ...spec.curves.map((c) => c.values[n])]]; });
    assert.equal(table[0], "time [s],kinetic [J],potential [J],total [J]");
    assert.deepEqual(table.at(-1).split(",").map(Number), last);
    // more points than pixels: no curve leaves the envelope of its column
    const held = await page.evaluate(() => {
      const at = Object.assign(document.createElement("div"), { id: "many" }), n = 20000, values = Float64Array.from({ length: n }, (_, k) => Math.sin(k) * k);
      at.style.width = "400px", document.body.append(at);
      const plots = new stiction.plots.constructor(at, () => {});
      plots.show([{ key: "many", title: "many", time: Float64Array.from(values, (_, k) => k), curves: [{ label: "many", values }] }]);
      const [, mean, least, top] = plots.cards[0].plot.data, all = [Math.min(...values), Math.max(...values)];
      at.remove();
      return { columns: mean.length, inside: mean.every((m, k) => least[k] <= m && m <= top[k]), ends: Math.min(...least) === all[0] && Math.max(...top) === all[1] };
    });
    assert.ok(held.columns < 400 && held.inside && held.ends, JSON.stringify(held));
  },

  // W3C's formula of contrast, for every text that is seen.
  async "text has a contrast of at least 4.5, and everything has a name"({ page }) {
    await page.addStyleTag({ content: "* { transition: none !important; }" }); // colours as they end
    for (const dark of [true, false]) {
      const poor = await page.evaluate((dark) => {
        stiction.setTheme(dark);
        const channel = (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4), numbers = (text) => text.match(/[\d.]+/g).map(Number), scale = (text) => (text.startsWith("color(") ? 1 : 255);
        const colour = (text) => { const [r, g, b, a = 1] = numbers(text.replace("color(srgb", "(")).map(Number); return [r / scale(text), g / scale(text), b / scale(text), a]; };
        const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b), out = [];
        for (const e of document.querySelectorAll("#app *")) {
          if (![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) || !e.checkVisibility() || e.closest("option, svg, .tag, .corner")) continue;
          let behind = e, back = [0, 0, 0, 0];
          while (behind && back[3] < 0.9) (back = colour(getComputedStyle(behind).backgroundColor)), (behind = behind.parentElement);
          let seen = 1; // a faint text is mixed with the background
          for (let up = e; up; up = up.parentElement) seen *= Number(getComputedStyle(up).opacity);
          const ink = colour(getComputedStyle(e).color).map((c, k) => (k < 3 ? seen * c + (1 - seen) * back[k] : c));
          const [a, b] = [light(ink), light(back)].sort((x, y) => y - x);
          if ((a + 0.05) / (b + 0.05) < 4.5) out.push(`${e.textContent.slice(0, 20)}: ${((a + 0.05) / (b + 0.05)).toFixed(2)}`);
        }
        return out;
      }, dark);
      assert.deepEqual(poor, [], dark ? "dark" : "light");
    }
    await page.evaluate(() => stiction.setTheme(true));
    const nameless = await page.evaluate(() => [...document.querySelectorAll("button, select, input, [role=tab], [role=tabpanel], [role=img], [role=group]")].filter((e) => !(e.getAttribute("aria-label") || e.getAttribute("aria-labelledby") || e.textContent.trim() || e.title)).map((e) => e.outerHTML.slice(0, 80)));
    assert.deepEqual(nameless, []);
  },

  async "a link opens the same moment and view; views, loop and quality go both ways"({ page }) {
    const got = await page.evaluate(() => {
      const { picture } = stiction;
      stiction.setTime(0.7), picture.lookAlong("x");
      const along = picture.camera.position.clone().sub(picture.controls.target).normalize().toArray(), link = stiction.link, view = picture.view;
      stiction.setTime(0), picture.resetView(), history.replaceState(null, "", link);
      const opened = stiction.openLink(), same = picture.view.every((x, k) => Math.abs(x - view[k]) < 1e-4) && Math.abs(stiction.time - 0.7) < 1e-6;
      history.replaceState(null, "", location.href.split("#")[0]);
      const before = [picture.level, picture.sun.castShadow];
      stiction.setQuality(0), stiction.setQuality(2);
      const low = [picture.level, picture.sun.castShadow, stiction.qualityButton.checkVisibility()];
      stiction.setQuality(0);
      const full = [picture.level, picture.sun.castShadow, stiction.qualityButton.checkVisibility()];
      stiction.setQuality(before[0]), picture.resetView();
      return { along, opened, same, low, full };
    });
    assert.ok(got.along[0] > 0.999, got.along.join(" "));
    assert.ok(got.opened && got.same);
    assert.deepEqual([got.low, got.full], [[2, false, true], [0, true, false]]);
  },

  // These tests draw with SwiftShader, which is recognised.
  async "without a graphics card: no shadows unless asked for, one draw call per shape, smooth edges when nothing moves"({ page }) {
    const got = await page.evaluate(async () => {
      const p = stiction.picture, gl = p.renderer.getContext(), seen = [], forces = p.show.forces;
      stiction.setPlaying(false), stiction.setTime(stiction.run.last), p.resetView();
      const until = async (wanted) => { for (let k = 0; k < 600 && !wanted(); k++) await new Promise((go) => setTimeout(go, 50)); return wanted(); };
      const smooth = await until(() => p.still && p.renderer.getPixelRatio() === 2);
      p.setShow("forces", false), p.render();
      const rough = p.renderer.getPixelRatio(), c = p.run.contactsAt(p.time), pixel = new Uint8Array(4);
      for (let k = c.begin; k < c.end; k++) {
        const at = p.camera.position.clone().fromArray(c.point, 3 * k).project(p.camera);
        gl.readPixels(Math.round(((at.x + 1) / 2) * p.canvas.width), Math.round(((at.y + 1) / 2) * p.canvas.height), 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
        seen.push(Math.min(...pixel.slice(0, 3)));
      }
      p.setShow("forces", forces);
      let instanced = 0;
      p.scene.traverse((o) => (instanced += o.isInstancedMesh === true));
      return { smooth, rough, best: p.best, level: p.level, shadows: p.renderer.shadowMap.enabled, instanced, contacts: seen.length, light: Math.max(...seen) };
    });
    assert.deepEqual([got.smooth, got.rough, got.best, got.shadows, got.instanced], [true, got.level === 2 ? 0.5 : 1, 1, false, 0]);
    assert.ok(got.contacts > 0 && got.light > 200, `contact points are white on dark: ${got.light}`);
  },

  // Energy given and taken is the change of the total energy; rotation has its share of the kinetic one.
  async "energies add up"({ page }) {
    const got = await page.evaluate(() => {
      const s = stiction.run.series, n = s.time.length - 1, sum = ["work", "friction", "damping", "impacts", "correction", "scheme"].reduce((x, key) => x + s[key][n], 0);
      const t = 0.06 /* before anything lands */, step = s.time.findIndex((x) => x >= t - 1e-9);
      stiction.setTime(t);
      const bodies = stiction.run.model.bodies.reduce((x, b, k) => { const { velocity, spin } = stiction.run.motion(k + 1, t); return x + 0.5 * b.mass * Math.hypot(...velocity) ** 2 + stiction.picture.rotationEnergy(k + 1, spin); }, 0);
      return { turning: stiction.picture.rotationEnergy(31, [1, 2, 3]), mass: stiction.run.model.bodies[30].mass, change: s.kinetic[n] + s.potential[n] - s.kinetic[0] - s.potential[0], sum, kinetic: s.kinetic[step], bodies, plot: stiction.plots.cards.find((c) => c.spec.key === "balance").spec.curves.map((c) => c.label) };
    });
    // the unexplained part is 1.6e-6 of it, with a tolerance of 1e-3
    assert.ok(Math.abs(got.change - got.sum) < 1e-5 * Math.abs(got.change), JSON.stringify(got));
    assert.ok(Math.abs(got.bodies / got.kinetic - 1) < 0.05, JSON.stringify(got)); // differences of places: half a step of 0.06 s later
    assert.ok(Math.abs(got.turning / (0.5 * 14 * got.mass * 0.4 ** 2 / 6) - 1) < 1e-6, JSON.stringify(got)); // a cube of 0.4 m, spun by (1, 2, 3)
    assert.deepEqual(got.plot.slice(0, 2), ["friction", "impacts"]);
  },

  async "all bodies are in the frame over the whole run"({ page }) {
    const out = await page.evaluate(() => {
      const { picture, run } = stiction, p = picture.camera.position.clone();
      stiction.setTime(0), picture.resetView(), picture.render();
      let n = 0;
      for (let k = 0; k < run.positions.length; k += 3) p.fromArray(run.positions, k).project(picture.camera), (n += Math.abs(p.x) > 1 || Math.abs(p.y) > 1);
      return n;
    });
    assert.equal(out, 0);
  },

  // As one that an inlet has not brought yet.
  async "a body that is not in the scene has neither name nor numbers"({ page }) {
    const got = await page.evaluate(async () => {
      const { run, picture } = stiction, body = 5, frames = run.nFrames, at = (k) => 3 * (k * run.nBodies + body - 1), z = [];
      for (let k = 0; k < frames; k++) z.push(run.positions.slice(at(k), at(k) + 3));
      for (let k = frames >> 1; k < frames; k++) run.positions.fill(NaN, at(k), at(k) + 3);
      stiction.setTime(run.last), stiction.select(body);
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
      const out = { tag: stiction.tag.hidden, text: stiction.plotPanel.textContent + stiction.bodyTable.textContent, edge: picture.edge.items.some((i) => i.mesh.visible) };
      z.forEach((p, k) => run.positions.set(p, at(k)));
      stiction.select(0), stiction.setTime(run.first);
      return out;
    });
    assert.ok(got.tag && !got.edge);
    assert.ok(!got.text.includes("NaN") && got.text.includes("not in the scene"), got.text);
  },

  // Thirty blue and green balls, and a crate.
  async "the one that is different looks different"({ page }) {
    const warm = await page.evaluate(() => stiction.run.model.bodies.map((b, k) => (({ r, g, b }) => r > b + 0.2 && r > g)(stiction.picture.tints()(k + 1))));
    assert.deepEqual(warm.map((x, k) => (x ? k + 1 : 0)).filter(Boolean), [31]);
  },

  async "follows a body"({ page }) {
    const shift = await page.evaluate(() => { stiction.setTime(0); stiction.select(31); stiction.setFollow(true); const a = stiction.picture.controls.target.x; stiction.setTime(0.5); const b = stiction.picture.controls.target.x; stiction.select(0); return [b - a, stiction.run.bodySeries(31).x[stiction.run.frameAt(0.5)] - stiction.run.bodySeries(31).x[0]]; });
    assert.ok(Math.abs(shift[0] - shift[1]) < 0.02 && Math.abs(shift[0]) > 0.05, shift.join(" "));
  },

  async "scene and summary are there"({ page }) {
    await page.locator('[role="tab"]', { hasText: "Scene" }).click();
    assert.ok((await page.locator("#panel-Scene pre").textContent()).includes('"crate"'));
    await page.locator('[role="tab"]', { hasText: "Summary" }).click();
    assert.ok((await page.locator("#panel-Summary").textContent()).includes("finished"));
    assert.equal(await page.locator("#panel-Summary p").first().innerHTML(), "Its <code>bodies</code> and their <code>shapes</code> &lt;i&gt;fall&lt;/i&gt;, and `that is all.");
    await page.locator('[role="tab"]', { hasText: "Plots" }).click();
  },

  async "light and dark, and everything by keyboard"({ page }) {
    const dark = () => page.evaluate(() => document.body.classList.contains("dark"));
    assert.equal(await dark(), true);
    await page.locator("canvas").first().press("d");
    assert.equal(await dark(), false);
    await page.locator("canvas").first().press("d");
    const reached = new Set();
    await page.evaluate(() => document.activeElement.blur());
    for (let k = 0; k < 24; k++) {
      await page.keyboard.press("Tab");
      reached.add(await page.evaluate(() => document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent));
    }
    for (const what of ["Play", "Time", "contacts", "forces", "follow", "Colour of bodies", "Speed", "Plots"]) assert.ok(reached.has(what), `Tab does not reach ${what}: ${[...reached].join(", ")}`);
    await page.locator("canvas").first().press("?");
    assert.ok(await page.locator("dialog").isVisible());
    await page.keyboard.press("Escape");
  },
};

const t = await open(browser, url("report.html"));
for (const [name, test] of Object.entries(tests)) {
  await test(t);
  console.log(`ok: ${name}`);
}
assert.deepEqual(t.noise, [], "the console is quiet to the end");
await t.close();

{ // on a phone nothing is wider than the screen
  const phone = await open(browser, url("report.html"), { viewport: { width: 360, height: 740 }, colorScheme: "light", hasTouch: true, isMobile: true });
  assert.ok(await phone.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  assert.equal(await phone.page.evaluate(() => document.body.classList.contains("dark")), false);
  assert.ok((await phone.page.locator(".stage").boundingBox()).height > 200);
  assert.match(await phone.page.locator(".clock").evaluate((e) => e.innerText), /^\d+\.\d{3} s$/); // with its unit
  await phone.close();
  console.log("ok: fits a phone");
}
{ // a floor hides nothing that passes under it, and is a floor where nothing does
  stiction(program, "run", "slider_crank_clearance", "--set", "simulation/end=0.06", "-o", file("crank.h5"), "-q");
  stiction(program, "report", file("crank.h5"), "-o", file("crank.html"));
  const crank = await open(browser, url("crank.html")), heap = await open(browser, url("report.html"));
  const least = (page) => page.evaluate(() => Math.min(...stiction.picture.floors.map((f) => f.material.opacity)));
  assert.ok((await least(crank.page)) < 0.5);
  assert.equal(await least(heap.page), 1);
  await crank.close(), await heap.close();
  console.log("ok: sees through floors that bodies pass under");
}
{ // a picture by `stiction render` is filled by its scene
  const flat = { simulation: { h: 0.01, end: 0.1, gravity: [0, 0, 0] }, bodies: [{ name: "ball", shapes: [{ type: "sphere", radius: 0.3 }] }] };
  writeScene("ball.json", flat);
  stiction(program, "run", file("ball.json"), "-o", file("ball.h5"), "-q");
  stiction(program, "render", file("ball.h5"), "-o", file("ball.png"), "--size", "240x150", "--theme", "light");
  const { page, close } = await open(browser, url("report.html"));
  const tall = await page.evaluate(async (png) => {
    const image = new Image(), c = document.createElement("canvas"), x = c.getContext("2d");
    image.src = png;
    await image.decode();
    c.width = image.width, c.height = image.height;
    x.drawImage(image, 0, 0);
    const rows = [], data = x.getImageData(0, 0, c.width, c.height).data; // the ball is blue, all else is grey
    for (let k = 0; k < data.length; k += 4) if (data[k + 2] - data[k] > 60) rows.push(Math.floor(k / 4 / c.width));
    return (Math.max(...rows) - Math.min(...rows)) / c.height;
  }, `data:image/png;base64,${readFileSync(file("ball.png")).toString("base64")}`);
  assert.ok(tall > 0.5 && tall < 1, `the ball takes ${tall} of the height`);
  await close();
  console.log("ok: pictures are filled");
}
{ // a closed box that turns is transparent, and its contents are visible; two blocks of one size are not
  const corners = [0, 1, 2, 3, 4, 5, 6, 7].map((k) => [k & 1, k >> 1 & 1, k >> 2].map((b) => b - 0.5));
  const out = [[0, 2, 3], [0, 3, 1], [4, 5, 7], [4, 7, 6], [0, 1, 5], [0, 5, 4], [2, 6, 7], [2, 7, 3], [0, 4, 6], [0, 6, 2], [1, 3, 7], [1, 7, 5]];
  const shell = { type: "mesh", points: [...corners, ...corners.map((p) => p.map((x) => 0.9 * x))], triangles: [...out, ...out.map(([a, b, c]) => [a + 8, c + 8, b + 8])] };
  const block = { type: "mesh", points: corners, triangles: out };
  const turning = (more) => ({ simulation: { h: 0.01, end: 0.1, gravity: [0, 0, 0] }, bodies: [{ name: "box", mass: 1, inertia: 1, angular_velocity: [0, 0, 1], shapes: [shell] }, ...more] });
  writeScene("vessel.json", turning([{ name: "ball", shapes: [{ type: "sphere", radius: 0.2 }] }]));
  writeScene("blocks.json", { ...turning([]), bodies: [0, 0.8].map((x) => ({ position: [x, 0, 2 * x], mass: 1, inertia: 1, shapes: [block] })) });
  const side = (x) => ({ type: "box", size: [0.05, 1, 1], position: [x, 0, 0] });
  const balls = [...Array(9).keys()].map((k) => ({ name: `ball${k}`, position: [(k % 3) * 0.2 - 0.2, Math.floor(k / 3) * 0.2 - 0.2, 0], shapes: [{ type: "sphere", radius: 0.05 }] }));
  writeScene("staves.json", { ...turning([]), bodies: [{ name: "box", mass: 1, inertia: 1, shapes: [side(-0.5), side(0.5), { type: "box", size: [1, 1, 0.05], position: [0, 0, -0.5] }] }, ...balls] });
  const glass = [];
  for (const name of ["vessel", "blocks", "staves"]) {
    stiction(program, "run", file(`${name}.json`), "-o", file(`${name}.h5`), "-q");
    stiction(program, "report", file(`${name}.h5`), "-o", file(`${name}.html`));
    const opened = await open(browser, url(`${name}.html`)), { page } = opened;
    await page.evaluate(() => { stiction.setPlaying(false); stiction.setTime(0.05); for (const what of ["contacts", "forces"]) stiction.picture.show[what] && stiction.toggle(what); });
    glass.push(await page.evaluate(() => stiction.picture.groups.filter((g) => g.material.transparent).length));
    if (name === "vessel") {
      await keep(page, "with");
      await page.evaluate(() => { stiction.picture.groups.find((g) => !g.material.transparent).visible = false; });
      await keep(page, "without");
      assert.ok((await differing(page, "with", "without")) > 0.002, "what is in a vessel is seen");
    }
    await opened.close();
  }
  assert.deepEqual(glass, [1, 0, 1]);
  console.log("ok: sees into what turns");
}
{ // meshes that begin alike and are as long in the file are not one and the same
  const wedge = (top) => ({ type: "mesh", points: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, top]], triangles: [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]] });
  const two = [wedge(1), wedge(2)].map((mesh, k) => ({ position: [3 * k, 0, 0], mass: 1, inertia: 1, shapes: [mesh] }));
  writeScene("wedges.json", { simulation: { h: 0.01, end: 0.02, gravity: [0, 0, 0] }, ground: [{ type: "plane", position: [0, 0, -1], color: "#336699" }], bodies: [...two, { ...two[0], position: [6, 0, 0], shapes: [{ ...wedge(1), color: "#cc0000" }] }] });
  stiction(program, "run", file("wedges.json"), "-o", file("wedges.h5"), "-q");
  stiction(program, "report", file("wedges.h5"), "-o", file("wedges.html"));
  const wedges = await open(browser, url("wedges.html"));
  const groups = await wedges.page.evaluate(() => stiction.picture.groups.map((g) => { g.geometry.computeBoundingBox(); const { max, min } = g.geometry.boundingBox; return [g.count, Math.round(max.z - min.z)]; }));
  assert.deepEqual(groups.sort(), [[1, 2], [2, 1]], "each mesh is drawn as itself, and those that are the same, once");
  const colours = await wedges.page.evaluate(() => {
    const { picture } = stiction, out = [];
    for (const { instanceColor: { array }, userData: { items } } of picture.groups) items.forEach(({ body }, k) => body === 3 && out.push("#" + picture.accent.clone().fromArray(array, 4 * k).getHexString()));
    for (const dark of [true, false]) stiction.setTheme(dark), out.push("#" + picture.floors[0].material.color.getHexString());
    return out;
  });
  assert.deepEqual(colours, ["#cc0000", "#336699", "#336699"], "colours are those of the file, in light and dark");
  await wedges.close();
  console.log("ok: meshes are told apart");
}
{ // joints: Newton's cradle has ten strings, and two of them carry a ball that hangs still
  stiction(program, "run", new URL("../../examples/toys/newtons-cradle.json", import.meta.url).pathname, "-o", file("cradle.h5"), "-q", "--set", "simulation/end=0.2");
  stiction(program, "report", file("cradle.h5"), "-o", file("cradle.html"));
  const cradle = await open(browser, url("cradle.html")), { page } = cradle;
  await page.evaluate(() => { stiction.setPlaying(false); stiction.setTime(0.15); });
  await keep(page, "without");
  await page.locator("canvas").first().press("q");
  await keep(page, "with");
  assert.ok((await differing(page, "without", "with")) > 0.001, "reactions are seen");
  const got = await page.evaluate(() => {
    const { model } = stiction.run, ball = model.bodies.findIndex((b) => b.name === "ball 3") + 1, f = stiction.run.reactionsAt(0.15), sum = [0, 0, 0];
    model.joints.forEach((j, k) => { if (j.b === ball) for (let i = 0; i < 3; i++) sum[i] += f[3 * k + i]; });
    return { sum, weight: 9.81 * model.bodies[ball - 1].mass, strings: stiction.picture.stringMesh.count };
  });
  assert.equal(got.strings, 10);
  assert.ok(Math.abs(got.sum[2] / got.weight - 1) < 1e-3 && Math.abs(got.sum[0]) < 1e-3 * got.weight, JSON.stringify(got));
  assert.deepEqual(cradle.noise, []);
  await cradle.close();
  // A crank of 0.2 m moves a slider by twice that: its rail is as long, and the three hinges have pins. Speeds that are constant but for rounding
  // are not a plot full of it.
  stiction(program, "run", new URL("../../examples/mechanisms/slider_crank.json", import.meta.url).pathname, "-o", file("crank.h5"), "-q", "--set", "simulation/end=1");
  stiction(program, "report", file("crank.h5"), "-o", file("crank.html"));
  const crank = await open(browser, url("crank.html"));
  await crank.page.evaluate(() => stiction.select(1));
  await drawn(crank.page);
  const rods = await crank.page.evaluate(() => {
    const { min, max } = stiction.plots.cards.find((c) => c.spec.key === "speed").plot.scales.y, speed = stiction.run.bodySeries(1).speed;
    return { rods: stiction.picture.rods.map((j) => [j.type, j.range ? j.range[1] - j.range[0] : 0]), height: (max - min) / (Math.max(...speed) - Math.min(...speed)) };
  });
  assert.deepEqual(rods.rods.map(([type]) => type), ["revolute", "revolute", "prismatic"]);
  assert.ok(Math.abs(rods.rods[2][1] - 0.4) < 0.01, `${rods.rods}`);
  assert.ok(rods.height > 5, `rounding fills 1/${rods.height} of the plot`);
  await crank.close();
  console.log("ok: joints and their reactions");
}
{ // a run too large for the page is reported
  stiction(program, "report", file("run.h5"), "-o", file("thin.html"), "--poses", "600");
  const thin = await open(browser, url("thin.html"));
  assert.ok((await thin.page.locator("header").textContent()).includes("thinned"));
  assert.ok((await thin.page.locator("#panel-Summary").textContent()).includes("recorded frames"));
  assert.ok(await thin.page.evaluate(() => stiction.run.nFrames <= 20 && Math.abs(stiction.run.last - 1.2) < 1e-9));
  await thin.close();
  console.log("ok: thinned, and says so");
}
{ // thousands of balls: drawn as discs, which are there, are picked and painted as bodies are
  writeScene("crowd.json", sphereScene(2100, { end: 0.01 }));
  stiction(program, "run", file("crowd.json"), "-q", "-o", file("crowd.h5"));
  stiction(program, "report", file("crowd.h5"), "-o", file("crowd.html"));
  const crowd = await open(browser, url("crowd.html"));
  const found = await crowd.page.evaluate(() => {
    stiction.setPlaying(false);
    const box = stiction.canvas.getBoundingClientRect(), p = stiction.picture;
    let right = 0, tried = 0;
    for (let body = 2100; body > 2080; body--, tried++) { // of the uppermost layer
      const [x, y] = p.onScreen(body), hit = p.pick(box.left + x, box.top + y);
      right += hit != null && (hit.body === body || hit.distance < p.camera.position.distanceTo(p.bodyPosition(body)));
    }
    return { right, tried, triangles: p.renderer.info.render.triangles };
  });
  assert.equal(found.right, found.tried);
  assert.ok(found.triangles >= 2100 && found.triangles < 2200);
  const colour = () => drawn(crowd.page).then(() => crowd.page.evaluate(() => {
    const p = stiction.picture, gl = p.renderer.getContext(), [x, y] = p.onScreen(2100), out = new Uint8Array(4);
    p.render();
    const r = p.renderer.getPixelRatio();
    gl.readPixels(Math.round(x * r), Math.round((p.canvas.clientHeight - y) * r), 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, out);
    return [...out];
  }));
  const before = await colour();
  await crowd.page.evaluate(() => stiction.select(2100));
  assert.notDeepEqual(await colour(), before);
  assert.deepEqual(crowd.noise, []);
  await crowd.close();
  console.log("ok: thousands of balls");
}
{ // a damaged report is reported as damaged
  const text = readFileSync(file("report.html"), "utf8"), at = text.indexOf('type="text/plain">') + 18;
  writeFileSync(file("broken.html"), text.slice(0, at) + "AAAA" + text.slice(at + 4));
  const broken = await open(browser, url("broken.html"));
  assert.equal(await broken.page.evaluate(() => document.body.dataset.ready), "failed");
  assert.ok((await broken.page.locator("[role=alert]").textContent()).includes("not a run"));
  await broken.close();
  console.log("ok: a damaged report says so");
}
{ // without WebGL: why, and everything but the picture
  const plain = await launch(chromium, ["--disable-3d-apis"]), t = await open(plain, url("report.html"));
  assert.equal(await t.page.evaluate(() => document.body.dataset.ready), "yes");
  assert.match(await t.page.locator(".stage [role=alert]").textContent(), /no WebGL/);
  assert.deepEqual(t.noise, []);
  await t.page.locator('[data-plot="energy"] canvas').waitFor();
  await t.page.getByRole("tab", { name: "Bodies" }).click();
  await t.page.getByText("crate").first().click();
  await t.page.evaluate(() => { stiction.setPlaying(false); stiction.setTime(1.2); });
  assert.equal(await t.page.evaluate(() => stiction.picture.selected), 31);
  await plain.close();
  console.log("ok: without WebGL");
}
{ // live: runs, pauses, takes one step, is pushed about
  const server = spawn(program, ["view", "--live", file("scene.json"), "--no-browser"]);
  try {
    const address = await new Promise((done) => server.stdout.on("data", (d) => done(String(d).split(" ")[0])));
    const live = await open(browser, address);
    assert.ok(await live.page.evaluate(() => stiction.run.series.time[0] === 0), "held at its start until it is drawn");
    await live.page.waitForFunction(() => stiction.run.now > 0.2);
    const looks = await live.page.evaluate(() => { // at once: the view of a run that goes on may be fitted again
      const { picture } = stiction, first = picture.camera.position.toArray();
      picture.resetView();
      return [first, picture.camera.position.toArray()];
    });
    looks[0].forEach((x, k) => assert.ok(Math.abs(x - looks[1][k]) < 1e-9, `the first look knows of the bar below: ${looks}`));
    assert.ok(await live.page.evaluate(() => stiction.run.series.contacts.every(Number.isInteger)), "contacts are counted");
    const fast = await live.page.evaluate(() => { stiction.picture.setColouring("speed"); const most = Math.max(...stiction.run.speeds()), of = stiction.run.motion(31).velocity; stiction.picture.setColouring("body"); return [most, Math.hypot(...of), stiction.run.speeds()[31]]; });
    assert.ok(fast[0] > 0.3 && Math.abs(fast[1] - fast[2]) < 1e-6, `speeds of a live run: ${fast}`);
    await live.page.getByRole("tab", { name: "Plots" }).click();
    await live.page.locator('[data-plot="contacts"] canvas').waitFor();
    await live.page.locator("canvas").first().press("Space");
    await live.page.waitForFunction(() => stiction.live.paused);
    const before = await live.page.evaluate(() => stiction.run.now);
    await live.page.locator("canvas").first().press("ArrowRight");
    await live.page.waitForFunction((t) => stiction.run.now > t, before);
    assert.ok(Math.abs((await live.page.evaluate(() => stiction.run.now)) - before - 0.004) < 1e-6);
    await live.page.evaluate(() => stiction.live.send({ drag: 31, ax: 0, ay: 0, az: 0, x: 1, y: 0, z: 3 }));
    await live.page.locator("canvas").first().press("Space");
    await live.page.waitForFunction(() => stiction.run.position[3 * 30 + 2] > 1); // lifted by the hand
    await live.page.evaluate(async () => { // paused, so that a slow page does not look away while it is at the start
      await stiction.live.send({ do: "pause" });
      await stiction.live.send({ do: "reset" });
    });
    await live.page.waitForFunction(() => stiction.run.now < 0.5);
    assert.deepEqual(live.noise, []);
    await live.close();
    console.log("ok: live");
  } finally {
    server.kill();
  }
}
await browser.close();
