// render.js -- frames for `stiction render`: the page draws, the serving program stores the pictures.

import { Vector3 } from "three";

// ?render&from=..&to=..&fps=..&speed=..&theme=..: pictures go to /frame, then /done.
export async function renderFrames(app, wanted) {
  const number = (key, otherwise) => (wanted.has(key) ? Number(wanted.get(key)) : otherwise);
  const { run, picture } = app, from = number("from", run.first), to = number("to", run.last);
  const step = number("speed", 1) / number("fps", 30), count = to > from ? Math.max(1, Math.round((to - from) / step)) + 1 : 1;
  document.body.classList.add("bare");
  app.setTheme(wanted.get("theme") !== "light");
  app.setPlaying(false);
  const width = number("width", 1280), height = number("height", 720), canvas = document.createElement("canvas"), ctx = canvas.getContext("2d");
  canvas.width = width, canvas.height = height;
  picture.ratio = 1;
  picture.resize(width, height);
  picture.inset = [0, 0]; // no controls cover it
  app.setTime(from);
  picture.measure(from, to);
  picture.resetView(wanted.has("look") ? new Vector3(...wanted.get("look").split(",").map(Number)) : undefined);
  const send = (path, body) => fetch(path, { method: "POST", body, headers: { "X-Stiction": wanted.get("key") } });
  for (let k = 0; k < count; k++) {
    app.setTime(Math.min(to, from + k * step));
    picture.render();
    const sky = ctx.createRadialGradient(width / 2, 0, 0, width / 2, 0, 1.1 * Math.max(width, height)), look = getComputedStyle(document.body);
    sky.addColorStop(0, look.getPropertyValue("--sky")), sky.addColorStop(0.75, look.getPropertyValue("--back"));
    ctx.fillStyle = sky;
    ctx.fillRect(0, 0, width, height);
    ctx.drawImage(picture.canvas, 0, 0, width, height);
    const file = await new Promise((done) => canvas.toBlob(done, wanted.get("kind") === "jpg" ? "image/jpeg" : "image/png", 0.86));
    const answer = await send(`frame?n=${k}&of=${count}`, file);
    if (!answer.ok) return;
  }
  await send("done", "");
}
