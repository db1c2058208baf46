// run.js -- unpacks a run (src/record/pack.h) into arrays.

const KINDS = { f64: [8, Float64Array], i32: [4, Int32Array], u16: [2, Uint16Array], i16: [2, Int16Array] };
const TURN = 1 / 32767;

export function bytesOfBase64(text) {
  text = text.trim();
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const out = new Uint8Array(Math.floor((text.length * 3) / 4) - (text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0));
  const slice = 1 << 20; // a multiple of 4: slices decode on their own
  for (let at = 0, to = 0; at < text.length; at += slice) {
    const part = atob(text.slice(at, at + slice));
    for (let k = 0; k < part.length; k++) out[to++] = part.charCodeAt(k);
  }
  return out;
}

async function inflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Bytes by significance -> values -> sums of rows.
function restore(planes, block) {
  const [width, Kind] = KINDS[block.kind];
  const n = block.count;
  const bytes = new Uint8Array(n * width);
  for (let b = 0; b < width; b++) {
    const from = b * n;
    for (let k = 0, to = b; k < n; k++, to += width) bytes[to] = planes[from + k];
  }
  const values = new Kind(bytes.buffer);
  if (block.order > 0) for (let k = 0; k < n; k++) values[k] = (values[k] >>> 1) ^ -(values[k] & 1);
  for (let o = 0; o < block.order; o++) for (let k = block.row; k < n; k++) values[k] += values[k - block.row];
  return values;
}

export async function decodeRun(bytes) {
  if (new TextDecoder().decode(bytes.subarray(0, 8)) !== "STRUN001") throw new Error("this is not a run of stiction");
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(8, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(12, 12 + length)));
  const block = {};
  for (const b of header.blocks) {
    const at = 12 + length + b.offset;
    block[b.name] = b.count > 0 ? restore(await inflate(bytes.subarray(at, at + b.bytes)), b) : new KINDS[b.kind][1](0);
  }
  return new Run(header, block);
}

// Moves bodies into the periodic cell; recorded positions may be outside. From body `first` on.
export const intoCell = (model, position, first = 0) => {
  const { lower, length } = model.periodic ?? { length: [0, 0, 0] }, n = position.length / 3;
  for (let e = 0; e < 3; e++)
    for (let k = 0; length[e] > 0 && k < n; k++)
      if (!model.bodies[first + k].fixed) position[3 * k + e] -= length[e] * Math.floor((position[3 * k + e] - lower[e]) / length[e]);
};

// Velocity and angular velocity, world axes, of a body from its poses at two times dt apart.
function between(p, a, q, b, turnA, c, turnB, d, dt) {
  if (!(dt > 0)) return { velocity: [0, 0, 0], spin: [0, 0, 0] };
  const [x, y, z, w] = turnA.subarray(c, c + 4), [e, f, g, s] = turnB.subarray(d, d + 4); // turn = B * conj(A)
  let turn = [-s * x + e * w - f * z + g * y, -s * y + e * z + f * w - g * x, -s * z - e * y + f * x + g * w, s * w + e * x + f * y + g * z];
  if (turn[3] < 0) turn = turn.map((k) => -k);
  const size = Math.hypot(turn[0], turn[1], turn[2]), rate = size > 1e-12 ? (2 * Math.atan2(size, turn[3])) / size / dt : 0;
  return { velocity: [0, 1, 2].map((k) => (q[b + k] - p[a + k]) / dt), spin: turn.slice(0, 3).map((k) => k * rate) };
}

// How far each body went, over dt; 1-based, 0 where a body is absent.
function distances(p, q, dt) {
  const out = new Float32Array(p.length / 3 + 1);
  for (let i = 0; i < p.length / 3 && dt > 0; i++) out[i + 1] = Math.hypot(q[3 * i] - p[3 * i], q[3 * i + 1] - p[3 * i + 1], q[3 * i + 2] - p[3 * i + 2]) / dt || 0;
  return out;
}

export class Run {
  constructor(header, block) {
    this.header = header;
    this.model = header.model;
    this.nBodies = header.model.bodies.length;
    this.time = block.frame_time;
    this.series = block; // time, kinetic, ... of the steps
    this.unpackPoses(block.poses);
    this.unpackContacts(block);
    this.unpackReactions(block);
  }

  get nFrames() { return this.time.length; }
  get first() { return this.nFrames ? this.time[0] : 0; }
  get last() { return this.nFrames ? this.time[this.nFrames - 1] : 0; }

  unpackPoses(values) {
    const n = this.nBodies, f = this.time.length, { origin, quantum } = this.header;
    const p = (this.positions = new Float32Array(3 * n * f)), q = (this.turns = new Float32Array(4 * n * f));
    for (let k = 0, i = 0; k < n * f; k++, i += 7) {
      if (!(values[i + 3] || values[i + 4] || values[i + 5] || values[i + 6])) { // absent: an inlet has yet to bring it, or it is gone
        p.fill(NaN, 3 * k, 3 * k + 3);
        continue;
      }
      p[3 * k] = origin[0] + quantum * values[i];
      p[3 * k + 1] = origin[1] + quantum * values[i + 1];
      p[3 * k + 2] = origin[2] + quantum * values[i + 2];
      q[4 * k] = TURN * values[i + 4]; // x y z w, as three.js has them
      q[4 * k + 1] = TURN * values[i + 5];
      q[4 * k + 2] = TURN * values[i + 6];
      q[4 * k + 3] = TURN * values[i + 3];
    }
  }

  unpackContacts(block) {
    const { contact_origin: origin, contact_size: size } = this.header, n = block.contact_pair.length / 2;
    const first = (this.contactFirst = block.contact_first);
    this.pair = block.contact_pair;
    const point = (this.point = new Float32Array(3 * n)), force = (this.force = new Float32Array(3 * n));
    if (block.contact_normal) this.normal = Float32Array.from(block.contact_normal, (x) => x * TURN);
    for (let f = 0; f < this.time.length; f++)
      for (let k = 3 * first[f]; k < 3 * first[f + 1]; k++) {
        point[k] = origin[k % 3] + (size * block.contact_point[k]) / 65535;
        force[k] = block.contact_scale[f] * block.contact_force[k];
      }
  }

  unpackReactions(block) {
    if (!block.joint_force?.length) return;
    const row = 3 * this.model.joints.length;
    this.reaction = Float32Array.from(block.joint_force, (x, k) => x * block.joint_scale[Math.floor(k / row)]);
  }

  // The frame at or before t.
  frameAt(t) {
    let lo = 0, hi = this.nFrames - 1;
    while (lo < hi) {
      const mid = (lo + hi + 1) >> 1;
      if (this.time[mid] <= t + 1e-12) lo = mid;
      else hi = mid - 1;
    }
    return Math.max(0, lo);
  }

  // Poses at t, straight between frames.
  sample(t, position, turn) {
    const k = this.frameAt(t), n = this.nBodies, next = Math.min(k + 1, this.nFrames - 1);
    const span = this.time[next] - this.time[k], s = span > 0 ? Math.min(1, Math.max(0, (t - this.time[k]) / span)) : 0;
    const { positions: p, turns: q } = this, a = 3 * n * k, b = 3 * n * next, c = 4 * n * k, d = 4 * n * next;
    for (let i = 0; i < 3 * n; i++) position[i] = p[a + i] + s * (p[b + i] - p[a + i]);
    for (let i = 0; i < 4 * n; i += 4) {
      const x = q[c + i] + s * (q[d + i] - q[c + i]), y = q[c + i + 1] + s * (q[d + i + 1] - q[c + i + 1]);
      const z = q[c + i + 2] + s * (q[d + i + 2] - q[c + i + 2]), w = q[c + i + 3] + s * (q[d + i + 3] - q[c + i + 3]);
      const u = 1 / (Math.sqrt(x * x + y * y + z * z + w * w) || 1); // hypot is ten times slower, and nothing here is large
      turn[i] = x * u, turn[i + 1] = y * u, turn[i + 2] = z * u, turn[i + 3] = w * u;
    }
    intoCell(this.model, position);
  }

  // Contacts shown at t: of the last frame that kept its contacts.
  contactsAt(t) {
    const stride = this.header.kept.contact_stride, k = this.frameAt(t);
    const f = k - (k % stride);
    return { begin: this.contactFirst[f] ?? 0, end: this.contactFirst[f + 1] ?? 0, pair: this.pair, point: this.point, force: this.force, normal: this.normal };
  }

  // A body's coordinates and speed over the frames; 1-based.
  bodySeries(body) {
    const n = this.nBodies, f = this.nFrames, i = body - 1;
    const x = new Float64Array(f), y = new Float64Array(f), z = new Float64Array(f), speed = new Float64Array(f);
    for (let k = 0; k < f; k++) {
      const at = 3 * (n * k + i);
      x[k] = this.positions[at], y[k] = this.positions[at + 1], z[k] = this.positions[at + 2];
    }
    for (let k = 0; k < f; k++) {
      const a = Math.max(0, k - 1), b = Math.min(f - 1, k + 1), dt = this.time[b] - this.time[a];
      speed[k] = dt > 0 ? Math.hypot(x[b] - x[a], y[b] - y[a], z[b] - z[a]) / dt : 0;
    }
    return { time: this.time, x, y, z, speed };
  }

  // Velocity and angular velocity of a body at t, from the frames around it, world axes.
  motion(body, t) {
    const k = this.frameAt(t), a = Math.max(0, k - 1), b = Math.min(this.nFrames - 1, k + 1), dt = this.time[b] - this.time[a], n = this.nBodies, i = body - 1;
    return between(this.positions, 3 * (n * a + i), this.positions, 3 * (n * b + i), this.turns, 4 * (n * a + i), this.turns, 4 * (n * b + i), dt);
  }

  // Speeds of all bodies at t; 1-based.
  speeds(t) {
    const k = this.frameAt(t), a = Math.max(0, k - 1), b = Math.min(this.nFrames - 1, k + 1), n = 3 * this.nBodies;
    return distances(this.positions.subarray(n * a, n * (a + 1)), this.positions.subarray(n * b, n * (b + 1)), this.time[b] - this.time[a]);
  }

  // The size of the force in a joint over the frames; 0-based.
  jointForce(k) {
    const n = this.model.joints.length, all = this.reaction;
    return Array.from(this.time, (_, f) => (all ? Math.hypot(all[3 * (f * n + k)], all[3 * (f * n + k) + 1], all[3 * (f * n + k) + 2]) : null));
  }

  // Forces in the joints at t, three numbers each; null: left out of the page.
  reactionsAt(t) {
    const n = 3 * this.model.joints.length, f = this.frameAt(t);
    return this.reaction ? this.reaction.subarray(n * f, n * (f + 1)) : null;
  }

  // Contact force on a body, by partner: sizes over the frames that kept contacts. The largest partners first.
  bodyForces(body, most = 5) {
    const stride = this.header.kept.contact_stride, time = [], partners = new Map();
    for (let f = 0; f < this.nFrames; f += stride) {
      const sums = new Map();
      for (let c = this.contactFirst[f]; c < this.contactFirst[f + 1]; c++) {
        const a = this.pair[2 * c], b = this.pair[2 * c + 1];
        if (a !== body && b !== body) continue;
        const other = a === body ? b : a, sum = sums.get(other) ?? [0, 0, 0];
        for (let i = 0; i < 3; i++) sum[i] += this.force[3 * c + i];
        sums.set(other, sum);
      }
      for (const [other, sum] of sums) {
        if (!partners.has(other)) partners.set(other, new Map());
        partners.get(other).set(time.length, Math.hypot(...sum));
      }
      time.push(this.time[f]);
    }
    const total = (m) => { let s = 0; for (const v of m.values()) s += v; return s; };
    const sorted = [...partners].sort((p, q) => total(q[1]) - total(p[1])).slice(0, most);
    return { time, forces: sorted.map(([other, m]) => ({ other, value: time.map((_, k) => m.get(k) ?? 0) })) };
  }

  name(body) { return body > 0 ? this.model.bodies[body - 1]?.name ?? `body ${body}` : "ground"; }
}

// A run that is being computed: the newest state only, and a history of its series.
export class LiveRun {
  constructor(header) {
    this.header = header;
    this.model = header.model;
    this.nBodies = header.model.bodies.length;
    this.live = true;
    this.friction = 1; // factor on the friction of the scene
    this.now = 0;
    this.position = new Float32Array(3 * this.nBodies);
    this.turn = new Float32Array(4 * this.nBodies);
    this.contacts = { begin: 0, end: 0, pair: new Int32Array(0), point: new Float32Array(0), force: new Float32Array(0) };
    this.before = { time: 0, position: this.position.slice(), turn: this.turn.slice() };
    this.clear();
  }

  clear() {
    this.series = { time: [], kinetic: [], potential: [], work: [], friction: [], damping: [], impacts: [], correction: [], scheme: [], residual: [], penetration: [], iterations: [], contacts: [] };
    this.before.time = Infinity; // no motion is known yet
  }

  get first() { return this.series.time[0] ?? 0; }
  get last() { return this.now; }
  get nFrames() { return this.series.time.length; }

  take(state) {
    if (state.t > this.now) (this.before.time = this.series.time.length ? this.now : Infinity), this.before.position.set(this.position), this.before.turn.set(this.turn);
    if (state.t < this.now) this.clear();
    this.now = state.t;
    const f = new Float32Array(bytesOfBase64(state.poses).buffer), n = this.nBodies;
    for (let k = 0; k < n; k++) {
      this.position.set(f.subarray(7 * k, 7 * k + 3), 3 * k);
      this.turn.set([f[7 * k + 4], f[7 * k + 5], f[7 * k + 6], f[7 * k + 3]], 4 * k);
    }
    const c = new Float32Array(bytesOfBase64(state.contacts).buffer), m = c.length / 11;
    const contacts = { begin: 0, end: m, pair: new Int32Array(2 * m), point: new Float32Array(3 * m), force: new Float32Array(3 * m), normal: new Float32Array(3 * m) };
    for (let k = 0; k < m; k++) {
      contacts.pair.set(c.subarray(11 * k, 11 * k + 2), 2 * k);
      ["point", "force", "normal"].forEach((what, i) => contacts[what].set(c.subarray(11 * k + 2 + 3 * i, 11 * k + 5 + 3 * i), 3 * k));
    }
    this.contacts = contacts;
    this.reaction = new Float32Array(bytesOfBase64(state.joints).buffer);
    const s = this.series;
    if (s.time.length === 0 || state.t > s.time[s.time.length - 1]) {
      s.time.push(state.t);
      for (const key of Object.keys(s)) if (key !== "time") s[key].push(key === "contacts" ? state.contacts_n : state[key]);
      if (s.time.length > 4000) for (const key of Object.keys(s)) s[key] = s[key].filter((_, k) => k % 2 === 1);
    }
  }

  motion(body) { return between(this.before.position, 3 * (body - 1), this.position, 3 * (body - 1), this.before.turn, 4 * (body - 1), this.turn, 4 * (body - 1), this.now - this.before.time); }
  speeds() { return distances(this.before.position, this.position, this.now - this.before.time); }
  sample(_, position, turn) { position.set(this.position); turn.set(this.turn); intoCell(this.model, position); }
  contactsAt() { return this.contacts; }
  reactionsAt() { return this.reaction; }
  name(body) { return Run.prototype.name.call(this, body); }
}
