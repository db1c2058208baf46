// worker.js -- the engine beside the page: messages in place of the requests that `stiction view` answers. The page's
// build puts emscripten's createEngine before it.
let open, control, advance, waiting = false;

// A state goes out when the page has shown the one before.
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
    waiting = true; // the states of the scene before are of no use any more
    const answer = open(data.open, data.label, "");
    waiting = false;
    postMessage({ opened: answer });
  } else if (data.seen) waiting = false;
  else if (data.control) control(data.control);
};
