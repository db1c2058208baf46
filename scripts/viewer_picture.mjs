// viewer_picture.mjs PROGRAM CHROMIUM -- docs/viewer.png: the page of a report, with a contact of the house of cards selected.
// `cd viewer && npm ci` first.
import { file, launch, open, stiction, url } from "../tests/viewer/browser.mjs";

const [, , program, chromium] = process.argv, here = (name) => new URL(`../${name}`, import.meta.url).pathname;
stiction(program, "run", here("examples/toys/card-house.json"), "-q", "-o", file("run.h5"));
stiction(program, "report", file("run.h5"), "-o", file("report.html"));
const browser = await launch(chromium), { page } = await open(browser, url("report.html"), { viewport: { width: 1150, height: 640 }, deviceScaleFactor: 2, colorScheme: "light" });
await page.evaluate(() => {
  stiction.setPlaying(false), stiction.setTime(1), stiction.setQuality(0, true);
  const { picture, run } = stiction, c = run.contactsAt(1), east = run.model.bodies.findIndex((b) => b.name === "east right") + 1;
  for (let k = c.begin; k < c.end; k++) // the corner of its foot on the right
    if (c.pair[2 * k] === 0 && c.pair[2 * k + 1] === east && !(picture.contact?.point.y > c.point[3 * k + 1]))
      picture.setContact({ a: 0, b: east, point: picture.camera.position.clone().fromArray(c.point, 3 * k) });
});
await page.waitForTimeout(2000); // drawn, with smooth edges
await page.screenshot({ path: here("docs/viewer.png") });
await browser.close();
