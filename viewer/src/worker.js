// worker.js -- the engine in a worker: messages replace the requests to `stiction view`. The page's
// build puts emscripten's createEngine before it.
let open, control, advance, waiting = false;

// A state is sent after the page has shown the last one.
function loop() {
  const state = waiting ? "" : advance();
  if (state) (waiting = true), postMessage({ state });
  setTimeout(loop, state ? 0 : 4);
}

onmessage = async ({ data }) => {
  if (data.wasm) {
    const engine = await createEngine({ wasmBinary: data.wasm });
    for (const { path, text } of data.files) engine.FS.mkdirTree(path.replace(/\/[^/]*$/, "")), engine.FS.writeFile(path, text);
    open = engine.cwrap("engine_open", "string", ["string", "string", "string"]);
    control = engine.cwrap("engine_control", null, ["string"]);
    advance = engine.cwrap("engine_advance", "string", []);
    postMessage({ schema: engine.cwrap("engine_schema", "string", [])() });
    loop();
  } else if (data.open != null) {
    waiting = true; // states of the previous scene are dropped
    const answer = open(data.open, data.label, "");
    waiting = false;
    postMessage({ opened: answer });
  } else if (data.seen) waiting = false;
  else if (data.control) control(data.control);
};
