// json_text.js -- a JSON text with the places of its values, so that a slider or a completion changes the text itself
// and leaves the rest as it was written.

const TOKEN = /\s*(?:([{}[\],:])|"((?:[^"\\]|\\.)*)("?)|([^\s{}[\],:"]+))/gy;

// Tokens {kind: a bracket, ",", ":", "string" or "word"; text; start, end; closed} up to the end of the text.
function* tokens(text) {
  TOKEN.lastIndex = 0;
  for (let m; TOKEN.lastIndex < text.length && (m = TOKEN.exec(text)); ) {
    const end = TOKEN.lastIndex, length = m[0].trimStart().length;
    yield { kind: m[1] ?? (m[2] != null ? "string" : "word"), text: m[1] ?? m[2] ?? m[4], start: end - length, end, closed: m[3] !== "" };
    TOKEN.lastIndex = end;
  }
}

// Values and their positions, as far as the text can be parsed. `at`: stop there, for a completion at that position.
export function scan(text, at = Infinity) {
  const values = [], stack = [];
  let top = null, partial = null;
  const path = () => stack.map((f) => (f.kind === "{" ? f.key : f.index));
  for (const t of tokens(text)) {
    const inside = t.kind === "string" ? t.start < at && (at < t.end || !t.closed) : t.kind === "word" && t.start < at && at <= t.end;
    if (inside) partial = t;
    if (t.start >= at || inside) break;
    if (t.kind === "{" || t.kind === "[") {
      stack.push((top = { kind: t.kind, key: null, index: 0, keys: new Set(), members: {}, start: t.start, expects: t.kind === "{" ? "key" : "value", at: path() }));
    } else if (t.kind === "}" || t.kind === "]") {
      const closed = stack.pop();
      if (closed) values.push({ path: path(), kind: closed.kind, start: closed.start, end: t.end, members: closed.members });
      top = stack[stack.length - 1] ?? null;
      if (top) top.expects = ",";
    } else if (!top) {
      continue;
    } else if (t.kind === ",") {
      top.index++;
      top.expects = top.kind === "{" ? "key" : "value";
    } else if (t.kind === ":") {
      top.expects = "value";
    } else if (top.kind === "{" && top.expects === "key" && t.kind === "string") {
      top.keys.add((top.key = t.text));
      top.expects = ":";
    } else {
      const value = t.kind === "string" ? t.text : Number(t.text);
      values.push({ path: path(), kind: t.kind === "string" ? "string" : Number.isFinite(value) ? "number" : "word", value, start: t.start, end: t.end });
      if (top.kind === "{") top.members[top.key] = value;
      top.expects = ",";
    }
  }
  return { values, stack, top, partial, path: path() };
}

export function find(text, path) {
  const wanted = path.join("/");
  return scan(text).values.find((v) => v.path.join("/") === wanted) ?? null;
}

// The text with these spans {start, end} replaced by `by`.
export function replace(text, spans, by) {
  let out = text;
  for (const { start, end } of [...spans].sort((a, b) => b.start - a.start)) out = out.slice(0, start) + by + out.slice(end);
  return out;
}

// The text with a member of one of its outermost objects set; it is added if it is missing.
export function setMember(text, group, key, value) {
  const found = find(text, [group, key]), object = find(text, [group]), written = JSON.stringify(value);
  if (found) return replace(text, [found], written);
  const empty = (o) => text.slice(o.start + 1, o.end - 1).trim() === "";
  if (object) return `${text.slice(0, object.start + 1)}"${key}": ${written}${empty(object) ? "" : ", "}${text.slice(object.start + 1)}`;
  const open = text.indexOf("{");
  return `${text.slice(0, open + 1)}\n  "${group}": {"${key}": ${written}},${text.slice(open + 1)}`;
}

// ---- completion from the schema

const resolve = (schema, node) => (node?.$ref ? node.$ref.split("/").slice(1).reduce((x, k) => x?.[k], schema) : node);

// All forms that an object may have here; of those with a fixed "type" (or another constant), the matching ones.
function forms(schema, node, members) {
  node = resolve(schema, node);
  const choices = [...(node?.oneOf ?? []), ...(node?.anyOf ?? [])].map((n) => resolve(schema, n)).filter((n) => n?.properties || n?.items || n?.oneOf);
  if (!choices.length || node.properties) return node ? [node] : [];
  const all = choices.flatMap((n) => forms(schema, n, members));
  const fits = all.filter((n) => Object.entries(n.properties ?? {}).every(([k, p]) => p.const === undefined || members?.[k] === undefined || members[k] === p.const));
  return fits.length ? fits : all;
}

// Completions at a position of the text: {from, to, items: [{text, label, help}]}, or null.
export function complete(schema, text, at) {
  const { stack, top, partial } = scan(text, at);
  if (!top || (top.expects !== "key" && top.expects !== "value")) return null;
  let nodes = [schema];
  stack.forEach((frame, k) => {
    nodes = nodes.flatMap((n) => forms(schema, n, frame.members));
    if (k === stack.length - 1 && frame.expects === "key") return;
    nodes = nodes.flatMap((n) => (frame.kind === "{" ? [n.properties?.[frame.key]] : [n.items])).filter(Boolean);
  });
  const word = partial ? text.slice(partial.start, at).replace(/^"/, "") : "", items = new Map();
  const close = partial?.kind === "string" && partial.closed && !partial.text.includes("\n") ? partial.end : at;
  if (top.expects === "key") {
    for (const n of nodes) for (const [key, p] of Object.entries(n.properties ?? {})) if (!top.keys.has(key)) items.set(key, { text: `"${key}": ${template(schema, p)}`, label: key, help: resolve(schema, p)?.description ?? p.description ?? "" });
  } else {
    for (const n of nodes.flatMap((n) => [resolve(schema, n), ...(resolve(schema, n)?.oneOf ?? []), ...(resolve(schema, n)?.anyOf ?? [])])) {
      for (const w of n?.enum ?? (n?.const !== undefined ? [n.const] : n?.type === "boolean" ? [true, false] : [])) items.set(String(w), { text: JSON.stringify(w), label: String(w), help: n.description ?? "" });
      for (const form of n?.properties?.type?.const ? [n] : []) items.set(form.properties.type.const, { text: `{"type": "${form.properties.type.const}"}`, label: form.properties.type.const, help: form.description ?? "" });
    }
  }
  const fits = [...items.values()].filter((i) => i.label.toLowerCase().startsWith(word.toLowerCase()));
  return fits.length ? { from: partial ? partial.start : at, to: partial ? close : at, items: fits.sort((a, b) => (a.label < b.label ? -1 : 1)) } : null;
}

// The text of a new member.
function template(schema, p) {
  const n = resolve(schema, p);
  if (p.const !== undefined) return JSON.stringify(p.const);
  if (n?.default !== undefined) return JSON.stringify(n.default);
  if (n?.type === "array") return "[]";
  if (n?.type === "object" || n?.properties) return "{}";
  return n?.type === "string" || n?.enum ? '""' : "";
}
