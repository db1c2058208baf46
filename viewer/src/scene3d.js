// scene3d.js -- the picture: bodies as instances, contacts and forces, joints, springs, trails.
import * as THREE from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { intoCell } from "./run.js";
import { copies, Discs } from "./copies.js";
import { Outline } from "./outline.js";

const MANY = 2000; // bodies: more are drawn without effects that cost time per pixel
const TRIANGLES = [400000, 20000, 10000]; // of all round shapes, by level of quality
const CROWD = 700; // bodies: with more, contacts and forces are off at the start
const PALETTE = ["#3f7fe8", "#f2a31b", "#23ab83", "#e0559c", "#46b6ee", "#ec6a3c", "#9274ec", "#b9b02c"];
const GLASS = new THREE.Color("#b4c4d2"); // of vessels: their contents keep their colours
const UP = new THREE.Vector3(0, 1, 0), X = new THREE.Vector3(1, 0, 0);
const v = (a) => new THREE.Vector3(a[0], a[1], a[2]);
const quat = (a) => new THREE.Quaternion(a[1], a[2], a[3], a[0]); // w first in files

// The ball that hits a wall, the trunk of a robot: bodies of a kind that few have, or much larger than others of their kind.
function oddOnes(run) {
  const kinds = new Map(), sizes = new Map(), { bodies, shapes } = run.model, odd = new Set();
  for (const s of shapes) if (s.body > 0 && !kinds.has(s.body)) kinds.set(s.body, s.type), sizes.set(s.body, s.radius ?? (s.half ? Math.hypot(...s.half) : s.length ?? 0));
  for (const kind of new Set(kinds.values())) {
    const of = [...kinds].filter(([, k]) => k === kind).map(([body]) => body), median = of.map((b) => sizes.get(b)).sort((a, b) => a - b)[of.length >> 1];
    for (const body of of) if (of.length < 0.25 * bodies.length || sizes.get(body) > 2 * median) odd.add(body);
  }
  return odd.size < 0.3 * bodies.length ? odd : new Set();
}

export function bodyColour(body, run) {
  const count = run.nBodies;
  if (body === 0 || run.model.bodies[body - 1].fixed) return new THREE.Color("#9aa3ad");
  if (count <= PALETTE.length) return new THREE.Color(PALETTE[(body - 1) % PALETTE.length]);
  run.odd ??= oddOnes(run);
  if (run.odd.has(body)) return new THREE.Color(body % 2 ? "#f2a31b" : "#eec443");
  const k = (body * 0.61803398875) % 1; // many bodies: neighbours differ, and all colours fit together
  return new THREE.Color().setHSL(0.54 + 0.16 * Math.sin(6.2832 * k), 0.58 + 0.3 * k, 0.53 + 0.11 * Math.cos(21 * k));
}

// From 0 to 1: dark blue, green, yellow; the root makes small values visible.
function heat(x, colour) {
  const s = Math.sqrt(x);
  return colour.setRGB(0.27 - 0.25 * Math.sin(3.1 * s) + 0.73 * s * s, 0.06 + 0.85 * s, 0.35 + 0.22 * Math.sin(3.4 * s) - 0.27 * s * s);
}

// Surfaces that show how a body turns: octants and sectors on round shapes, edges on boxes.
// `front`: as near to the camera as four radii, so that the ball drawn for a point on a floor is not half below it.
function surface(pattern, many, step = 1, front = false) {
  const material = many ? new THREE.MeshLambertMaterial() : new THREE.MeshStandardMaterial({ roughness: 0.55, metalness: 0.05 });
  material.onBeforeCompile = (shader) => {
    shader.vertexShader = shader.vertexShader
      .replace("#include <common>", "#include <common>\nvarying vec3 vLocal; varying vec2 vFace;")
      .replace("#include <begin_vertex>", "#include <begin_vertex>\nvLocal = position; vFace = uv;");
    if (front) shader.vertexShader = shader.vertexShader.replace("#include <project_vertex>", "#include <project_vertex>\nvec4 nearer = projectionMatrix * (mvPosition + vec4(0.0, 0.0, 4.0 * length(instanceMatrix[0].xyz), 0.0)); gl_Position.z = nearer.z / nearer.w * gl_Position.w;");
    const ink = {
      octants: "float o = vLocal.x * vLocal.y * vLocal.z; diffuseColor.rgb *= mix(0.72, 1.0, smoothstep(-fwidth(o), fwidth(o), o));",
      sectors: "float o = vLocal.x * vLocal.y; diffuseColor.rgb *= mix(0.78, 1.0, smoothstep(-fwidth(o), fwidth(o), o));",
      edges: "vec2 e = min(vFace, 1.0 - vFace) / fwidth(vFace); diffuseColor.rgb *= mix(0.55, 1.0, smoothstep(0.3, 1.6, min(e.x, e.y)));",
      contours: "float h = vLocal.z / contour, f = fwidth(h), g = abs(fract(h - 0.5) - 0.5) / f; diffuseColor.rgb *= 1.0 - 0.4 * (1.0 - smoothstep(0.4, 1.4, g)) * (1.0 - smoothstep(0.2, 0.6, f));",
      plain: "",
    }[pattern];
    shader.fragmentShader = shader.fragmentShader
      .replace("#include <common>", `#include <common>\nvarying vec3 vLocal; varying vec2 vFace; const float contour = ${step.toExponential(6)};`)
      .replace("#include <color_fragment>", `#include <color_fragment>\n${ink}`);
  };
  material.customProgramCacheKey = () => pattern + step + front;
  return material;
}

// A floor without an end: lines every `step`, thicker every ten, fading away.
function floorMaterial(step, reach) {
  const material = new THREE.MeshLambertMaterial({ transparent: true, depthWrite: false }); // it fills the screen: cheap; from inside it is not seen
  material.userData.line = { value: new THREE.Color("#000000") };
  material.onBeforeCompile = (shader) => {
    shader.uniforms.lineColour = material.userData.line;
    shader.uniforms.gridStep = { value: step };
    shader.uniforms.reach = { value: reach };
    shader.vertexShader = shader.vertexShader
      .replace("#include <common>", "#include <common>\nvarying vec2 vGround;")
      .replace("#include <begin_vertex>", "#include <begin_vertex>\nvGround = position.xy;");
    shader.fragmentShader = shader.fragmentShader
      .replace("#include <common>", `#include <common>
        varying vec2 vGround; uniform vec3 lineColour; uniform float gridStep; uniform float reach;
        float gridLine(float s, float w) {
          vec2 c = vGround / s, f = fwidth(c), g = abs(fract(c - 0.5) - 0.5) / f;
          return (1.0 - smoothstep(w - 0.5, w + 0.5, min(g.x, g.y))) * (1.0 - smoothstep(0.2, 0.6, max(f.x, f.y)));
        }`)
      .replace("#include <color_fragment>", `#include <color_fragment>
        float ink = max(0.25 * gridLine(gridStep, 0.6), 0.65 * gridLine(10.0 * gridStep, 0.9));
        diffuseColor.rgb = mix(diffuseColor.rgb, lineColour, ink);
        diffuseColor.a *= 1.0 - smoothstep(0.25, 1.0, length(vGround) / reach);`);
  };
  return material;
}

function helix() {
  const points = [];
  for (let k = 0; k <= 160; k++) {
    const s = k / 160, inside = s > 0.08 && s < 0.92, a = 2 * Math.PI * 9 * (s - 0.08);
    points.push(new THREE.Vector3(s, inside ? Math.cos(a) : 0, inside ? Math.sin(a) : 0));
  }
  return new THREE.TubeGeometry(new THREE.CatmullRomCurve3(points), 320, 0.012, 5);
}

// Arrows as instances, a shaft and a head each; hidden parts are drawn faintly.
class Arrows {
  constructor(picture, colour, front = {}) {
    this.picture = picture;
    this.colour = new THREE.Color(colour);
    this.front = front;
    this.behind = { transparent: true, opacity: picture.n > 150 /* between grains all of a force is inside them */ ? 0.45 : 0.2, depthFunc: THREE.GreaterDepth, depthWrite: false };
    this.room = 0;
  }

  grow(count) {
    if (count <= this.room) return;
    for (const mesh of this.meshes ?? []) this.picture.scene.remove(mesh), mesh.dispose();
    this.room = Math.max(count, 2 * this.room);
    const few = this.picture.n > 150 /* corners */, shaft = new THREE.CylinderGeometry(1, 1, 1, few ? 3 : 10, 1, few).translate(0, 0.5, 0), head = new THREE.ConeGeometry(1, 1, few ? 3 : 16, 1, few).translate(0, 0.5, 0);
    this.meshes = [shaft, head].map((g) => this.picture.instances(g.deleteAttribute("normal").deleteAttribute("uv"), new THREE.MeshBasicMaterial(this.front), this.room, true));
    this.meshes[1].instanceColor = this.meshes[0].instanceColor;
    for (const front of [...this.meshes]) {
      const back = front.twin(new THREE.MeshBasicMaterial(this.behind));
      back.frustumCulled = false, (back.renderOrder = 10);
      this.picture.scene.add(back), this.meshes.push(back);
    }
    for (const mesh of this.meshes) if (this.order) mesh.renderOrder = this.order;
  }

  turn = new THREE.Quaternion();
  size = new THREE.Vector3();
  matrix = new THREE.Matrix4();

  // Both vectors are overwritten. `dim`: not of the selected body.
  place(k, at, force, dim) {
    const p = this.picture, thick = (dim ? 0.25 : 0.45) * (p.n > 150 ? 2 : 1) * p.dot, wanted = force.length() * p.perNewton * p.forceScale, length = Math.min(p.longest, wanted), tip = Math.min(0.45 * length, 5 * thick);
    if (wanted > length) p.cut = true;
    force.normalize();
    this.turn.setFromUnitVectors(UP, force);
    this.matrix.compose(at, this.turn, this.size.set(thick, Math.max(1e-9, length - tip), thick)).toArray(this.meshes[0].instanceMatrix.array, 16 * k);
    at.addScaledVector(force, length - tip);
    this.matrix.compose(at, this.turn, this.size.set(0.42 * tip, tip, 0.42 * tip)).toArray(this.meshes[1].instanceMatrix.array, 16 * k);
    (dim ? p.pale : this.colour).toArray(this.meshes[0].instanceColor.array, 4 * k);
  }

  show(count) {
    for (const mesh of this.meshes ?? []) {
      mesh.count = count;
      if (count > 0) (mesh.instanceMatrix.needsUpdate = true), (mesh.instanceColor.needsUpdate = true);
    }
  }
}

// The renderer; without WebGL, one that draws nothing and has the reason: the rest of the page still works.
// `slow`: drawn by the processor, without a graphics card; then smooth edges cost half of the frames.
function drawer(options, patient) {
  try {
    const probe = document.createElement("canvas").getContext("webgl2"); // checked first, because three.js writes an error to the console
    if (!probe) throw new Error("no context");
    const who = probe.getExtension("WEBGL_debug_renderer_info"), slow = !patient && /swiftshader|llvmpipe|softpipe|software|basic render/i.test(probe.getParameter(who?.UNMASKED_RENDERER_WEBGL ?? probe.RENDERER));
    probe.getExtension("WEBGL_lose_context")?.loseContext();
    return Object.assign(new THREE.WebGLRenderer({ ...options, antialias: options.antialias && !slow }), { slow });
  } catch {
    const nothing = () => {};
    return { blind: "This browser has no WebGL 2, so the motion is not drawn. Plots, bodies and summary are all here. WebGL needs hardware acceleration, in the browser's settings, or another browser.", shadowMap: {}, setPixelRatio: nothing, getPixelRatio: () => 1, setSize: nothing, render: nothing };
  }
}

export class Picture {
  // `patient`: a picture is wanted, however long it takes.
  constructor(run, canvas, onChange, patient) {
    this.run = run;
    this.model = run.model;
    this.canvas = canvas;
    this.onChange = onChange;
    this.n = run.nBodies;
    this.position = new Float32Array(3 * this.n);
    this.turn = new Float32Array(4 * this.n);
    this.time = run.first;
    this.many = this.n > MANY;
    const crowded = this.n > CROWD; // a thousand arrows hide the contacts, and take ten times as long as the bodies
    this.show = { contacts: !crowded, forces: !crowded, both: false, reactions: false, trails: false, joints: true, wireframe: false };
    this.colouring = "body";
    this.forceScale = 1;
    this.selected = 0;
    this.follow = false;
    this.renderer = drawer({ canvas, antialias: !this.many, alpha: true, preserveDrawingBuffer: false }, patient);
    this.blind = this.renderer.blind; // the reason if nothing is drawn
    this.level = this.best = this.renderer.slow ? 1 : 0; // of quality; and the best one that is taken without a click
    this.renderer.shadowMap.enabled = !this.many && this.level === 0;
    this.renderer.shadowMap.type = THREE.PCFShadowMap;
    this.scene = new THREE.Scene();
    this.camera = new THREE.PerspectiveCamera(35, 1, 0.01, 1000);
    run.sample(run.first, this.position, this.turn);
    this.addSticks();
    this.measure();
    this.placeLights();
    this.addShapes();
    this.edge = new Outline(this.scene);
    this.addContacts();
    this.addJoints();
    this.addSprings();
    this.addTrails();
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = false;
    this.controls.addEventListener("change", () => this.onChange());
    this.controls.addEventListener("start", () => (this.ownView = true)); // from now on the user controls the view
    this.resetView();
    this.setTheme(true);
  }

  // ---- where things are

  // Half extents of a shape in its own axes, and the middle of them.
  outline(s) {
    if (s.mesh) {
      const lo = [Infinity, Infinity, Infinity], hi = [-Infinity, -Infinity, -Infinity], p = s.mesh.points;
      for (let k = 0; k < p.length; k++) lo[k % 3] = Math.min(lo[k % 3], p[k]), hi[k % 3] = Math.max(hi[k % 3], p[k]);
      return new THREE.Box3(v(lo), v(hi));
    }
    const r = s.radius ?? 0, l = (s.length ?? 0) / 2;
    if (s.half) return new THREE.Box3(v(s.half).negate(), v(s.half));
    if (s.type === "bar") return new THREE.Box3(new THREE.Vector3(-l, 0, 0), new THREE.Vector3(l, 0, 0));
    if (s.type === "cone") return new THREE.Box3(new THREE.Vector3(-r, -r, -l / 2), new THREE.Vector3(r, r, 1.5 * l));
    const z = s.type === "cylinder" ? l : s.type === "capsule" ? l + r : r;
    return new THREE.Box3(new THREE.Vector3(-r, -r, -z), new THREE.Vector3(r, r, z));
  }

  // Bodies without a shape, or with points only, are drawn as sticks from their centres to their joints and springs.
  addSticks() {
    const plain = new Set(this.model.shapes.filter((s) => s.type !== "point").map((s) => s.body)), ends = new Map();
    const add = (body, p) => body > 0 && !plain.has(body) && ends.set(body, [...(ends.get(body) ?? []), v(p)]);
    for (const j of this.model.joints) add(j.a, j.pa), add(j.b, j.pb);
    for (const s of this.model.springs) add(s.a, s.pa), add(s.b, s.pb);
    for (const s of this.model.shapes) if (s.type === "point") add(s.body, s.p);
    const longest = [...ends.values()].map((list) => Math.max(...list.map((p) => p.length()))).filter((l) => l > 0).sort((a, b) => a - b);
    const rods = this.model.joints.filter((j) => j.type === "distance").map((j) => v(j.pa).applyMatrix4(this.bodyMatrix(j.a, this.m0)).distanceTo(v(j.pb).applyMatrix4(this.bodyMatrix(j.b, this.m1))));
    const radius = 0.035 * (longest[longest.length >> 1] ?? Math.max(0, ...rods));
    for (let body = 1; body <= this.n && radius > 0; body++) {
      if (plain.has(body)) continue;
      const list = ends.get(body) ?? [];
      for (const p of list) {
        const length = p.length();
        if (length < radius) continue;
        const q = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), p.clone().divideScalar(length));
        this.model.shapes.push({ body, type: "capsule", radius, length, p: p.clone().multiplyScalar(0.5).toArray(), q: [q.w, q.x, q.y, q.z] });
      }
      this.model.shapes.push({ body, type: "sphere", radius: 2 * radius, p: [0, 0, 0], q: [1, 0, 0, 0] });
    }
  }

  // The box of everything visible in the frames from..to, which the view must contain.
  measure(from = this.run.first, to = this.run.last) {
    const g = v(this.model.gravity), ground = [], local = Array.from({ length: this.n + 1 }, () => new THREE.Box3());
    this.up = g.length() > 0 ? g.normalize().negate() : new THREE.Vector3(0, 0, 1);
    for (const s of this.model.shapes) {
      if (s.type === "plane") continue;
      const box = this.outline(s).applyMatrix4(new THREE.Matrix4().compose(v(s.p), quat(s.q), this.one));
      s.body === 0 ? ground.push(box) : local[s.body].union(box);
    }
    // Everything visible in the run except outliers, so that one body that flies away does not make the rest
    // a dot.
    const axes = [[], [], []], live = this.run.live, first = live ? 0 : this.run.frameAt(from), last = live ? 0 : this.run.frameAt(to);
    const stride = Math.max(1, Math.floor(((last - first + 1) * this.n) / 30000)), around = new THREE.Box3();
    const note = (position, turn, k, body) => {
      if (Number.isNaN(position[3 * k])) return; // absent
      around.copy(local[body].isEmpty() ? new THREE.Box3(new THREE.Vector3(), new THREE.Vector3()) : local[body]);
      const place = position.slice(3 * k, 3 * k + 3);
      intoCell(this.model, place, body - 1);
      around.applyMatrix4(this.m0.compose(this.p0.fromArray(place), this.q0.fromArray(turn, 4 * k), this.one));
      axes.forEach((list, i) => list.push(around.min.getComponent(i), around.max.getComponent(i)));
    };
    if (live) for (let k = 0; k < this.n; k++) note(this.position, this.turn, k, k + 1);
    else for (let k = first * this.n; k < (last + 1) * this.n; k += stride) note(this.run.positions, this.run.turns, k, 1 + (k % this.n));
    this.box = new THREE.Box3();
    const sorted = axes.map((list) => [...list].sort((a, b) => a - b)), cut = this.n > 20 ? Math.floor(0.1 * axes[0].length) : 0;
    sorted.forEach((list, i) => (this.box.min.setComponent(i, list[cut] ?? -1), this.box.max.setComponent(i, list[list.length - 1 - cut] ?? 1)));
    const near_ = this.box.clone().expandByScalar(0.6 * this.box.getSize(new THREE.Vector3()).length());
    for (let k = 0; k < axes[0].length; k += 2) {
      around.set(this.p0.set(axes[0][k], axes[1][k], axes[2][k]), this.d0.set(axes[0][k + 1], axes[1][k + 1], axes[2][k + 1]));
      if (near_.containsPoint(around.getCenter(this.p0))) this.box.union(around);
    }
    for (const list of axes) list.length = 0;
    for (let k = 0; k < this.n; k++) note(this.position, this.turn, k, k + 1); // and all of the moment
    axes.forEach((list, i) => list.forEach((x) => (this.box.min.setComponent(i, Math.min(x, this.box.min.getComponent(i))), this.box.max.setComponent(i, Math.max(x, this.box.max.getComponent(i))))));
    for (const j of [...this.model.joints, ...this.model.springs]) for (const [body, p] of [[j.a, j.pa], [j.b, j.pb]]) if (body === 0) this.box.expandByPoint(v(p));
    // A moment in which there is little to see is shown with some of its surroundings.
    const whole = first === 0 && (live || last === this.run.nFrames - 1) ? 0 : this.whole ?? 0;
    this.box.expandByScalar(Math.max(0, 0.08 * whole - this.box.getSize(new THREE.Vector3()).length() / 2));
    // Adds the near parts of the ground, but not an infinite floor; and room for arrows over flat scenes.
    const size = this.box.getSize(new THREE.Vector3()).length(), near = this.box.clone().expandByScalar(0.35 * size);
    for (const box of ground) if (box.getSize(new THREE.Vector3()).length() < 3 * size && box.intersectsBox(near)) this.box.union(box);
    const tall = this.box.getSize(new THREE.Vector3()), least = 0.25 * tall.length(), high = Math.abs(tall.dot(this.up));
    if (high < least) this.box.expandByPoint(this.box.getCenter(new THREE.Vector3()).addScaledVector(this.up, least - high / 2));
    this.centre = this.box.getCenter(new THREE.Vector3());
    this.radius = Math.max(1e-6, this.box.getSize(new THREE.Vector3()).length() / 2);
    if (this.radius < 1e-5) this.box.expandByScalar(0.5), (this.radius = 0.87); // one point that never moves
    this.whole ??= this.radius;
    const sizes = local.slice(1).filter((b) => !b.isEmpty()).map((b) => b.getSize(new THREE.Vector3()).length() / 2).filter((e) => e > 0).sort((a, b) => a - b);
    this.bodySize = sizes[sizes.length >> 1] || 0.1 * this.radius;
    this.thin = Math.min(0.012 * this.radius, 0.06 * this.bodySize) || 0.01 * this.radius;
  }

  // The axis a planar scene is looked at along; -1: motion in space.
  planarAxis() {
    const moving = this.model.bodies.filter((b) => !b.fixed);
    for (let e = 0; e < 3; e++) {
      const others = [0, 1, 2].filter((k) => k !== e), need = (1 << e) | (8 << others[0]) | (8 << others[1]);
      if (moving.length && moving.every((b) => (b.locks & need) === need)) return e;
    }
    return -1;
  }

  // From `look`, or from where such a scene is best seen: a planar one from its side.
  resetView(look) {
    const e = this.planarAxis(), up = this.up, view = new THREE.Vector3();
    if (look) {
      view.copy(look).normalize();
    } else if (e >= 0 && Math.abs(up.getComponent(e)) < 0.5) {
      view.setComponent(e, 1);
      const right = new THREE.Vector3().crossVectors(up, view);
      if (right.dot(X) < -0.5 || (Math.abs(right.x) < 0.5 && right.y < -0.5)) view.negate();
      view.addScaledVector(up, 0.22).normalize();
    } else {
      const side = Math.abs(up.x) < 0.9 ? new THREE.Vector3(1, 0, 0) : UP.clone();
      side.addScaledVector(up, -side.dot(up)).normalize();
      const other = new THREE.Vector3().crossVectors(up, side);
      view.addScaledVector(other, -1).addScaledVector(side, 0.55).addScaledVector(up, 0.5).normalize();
    }
    this.camera.up.copy(up);
    const target = this.centre.clone(), distance = this.fit(view, target);
    this.camera.position.copy(target).addScaledVector(view, distance);
    this.camera.near = distance / 500;
    this.camera.far = distance + 60 * this.radius;
    this.camera.updateProjectionMatrix();
    if (this.controls) {
      this.controls.minDistance = 0.02 * this.radius, this.controls.maxDistance = 25 * this.radius;
      this.controls.target.copy(target);
      this.controls.update();
    }
    this.ownView = false;
    this.onChange();
  }

  // From where the camera looks, as numbers, and back.
  get view() {
    return [...this.camera.position.toArray(), ...this.controls.target.toArray()].map((x) => +x.toPrecision(6));
  }
  set view(numbers) {
    this.camera.position.fromArray(numbers), this.controls.target.fromArray(numbers, 3);
    this.controls.update();
    this.ownView = true;
    this.onChange();
  }

  // Along an axis of the world: "x", "y", "z", with a minus from the other side.
  lookAlong(axis) {
    const look = new THREE.Vector3().setComponent("xyz".indexOf(axis.at(-1)), axis[0] === "-" ? -1 : 1);
    if (Math.abs(look.dot(this.up)) > 0.99) look.addScaledVector(Math.abs(this.up.y) < 0.9 ? new THREE.Vector3(0, -1, 0) : new THREE.Vector3(0, 0, 1), 0.001);
    this.resetView(look);
  }

  // Turns the camera about its target [rad], and moves it nearer by a factor.
  orbit(sideways, upwards, nearer = 1) {
    const offset = this.camera.position.clone().sub(this.controls.target).divideScalar(nearer), right = new THREE.Vector3().crossVectors(this.up, offset).normalize();
    const steep = offset.angleTo(this.up);
    offset.applyAxisAngle(right, -Math.min(steep - 0.05, Math.max(upwards, steep - Math.PI + 0.05))).applyAxisAngle(this.up, sideways);
    this.camera.position.copy(this.controls.target).add(offset);
    this.controls.update();
    this.ownView = true;
    this.onChange();
  }

  // If bodies of a live run leave the picture or move below its controls, the camera moves back, unless the user has
  // changed the view.
  refit() {
    if (this.ownView || this.follow) return;
    const [above, below] = this.inset.map((x) => (2 * x) / Math.max(1, this.canvas.clientHeight));
    let out = 0, moving = 0;
    for (let body = 1; body <= this.n; body++) {
      if (this.model.bodies[body - 1].fixed) continue;
      const p = this.bodyPosition(body), size = (0.35 * this.sizeOf(body)) / (p.distanceTo(this.camera.position) * Math.tan((this.camera.fov * Math.PI) / 360)); // of half the height
      p.project(this.camera);
      moving++, (out += Math.abs(p.x) + size / this.camera.aspect > 1.02 || p.y + size > 1.02 - above || size - p.y > 1.02 - below || p.z > 1);
    }
    if (out === 0 || out < 0.2 * moving) return;
    const look = this.camera.position.clone().sub(this.controls.target);
    this.measure();
    this.resetView(look);
  }

  inset = [0, 0]; // pixels at the top and at the bottom that controls cover

  // How far back along `view` the whole box is in the picture; `target` is moved to its middle as it is seen.
  fit(view, target) {
    const [above, below] = this.inset.map((x) => x / Math.max(1, this.canvas.clientHeight)), free = Math.max(0.3, 1 - above - below) / (above + below > 0 ? 1.06 : 1.16);
    const tall = Math.tan((this.camera.fov * Math.PI) / 360), wide = tall * (this.camera.aspect || 1);
    const right = new THREE.Vector3().crossVectors(this.up, view).normalize(), top = new THREE.Vector3().crossVectors(view, right);
    const corners = [0, 1, 2, 3, 4, 5, 6, 7].map((k) => new THREE.Vector3(k & 1 ? this.box.min.x : this.box.max.x, k & 2 ? this.box.min.y : this.box.max.y, k & 4 ? this.box.min.z : this.box.max.z));
    let distance = 3 * this.radius;
    for (let round = 0; round < 4; round++) { // nearer parts look larger: the middle depends on the distance
      const lo = [Infinity, Infinity], hi = [-Infinity, -Infinity];
      for (const c of corners) {
        const d = c.clone().sub(target), deep = distance - d.dot(view);
        [d.dot(right) / deep, d.dot(top) / deep].forEach((x, i) => ((lo[i] = Math.min(lo[i], x)), (hi[i] = Math.max(hi[i], x))));
      }
      target.addScaledVector(right, (0.5 * (lo[0] + hi[0])) * distance).addScaledVector(top, (0.5 * (lo[1] + hi[1])) * distance);
      distance = 0;
      for (const c of corners) {
        const d = c.clone().sub(target);
        distance = Math.max(distance, d.dot(view) + 1.1 * Math.abs(d.dot(right)) / wide, d.dot(view) + Math.abs(d.dot(top)) / (free * tall));
      }
    }
    target.addScaledVector(top, (above - below) * tall * distance); // to the middle of the part that is not covered
    return Math.max(distance, 1e-6);
  }

  // A key light from the side, a little sky from above, a weak light from the other side that keeps shadows readable.
  placeLights() {
    this.sky = new THREE.HemisphereLight("#f4f8ff", "#b3a796", 1.0);
    this.sky.position.copy(this.up);
    const sun = (this.sun = new THREE.DirectionalLight("#fff3e0", 2.6)), fill = (this.fill = new THREE.DirectionalLight("#dfe9ff", 0.55));
    const along = new THREE.Vector3(0.75, -0.75, 0.3), across = new THREE.Vector3(-1, -0.5, 0.4);
    // from as high up whichever way is up
    sun.position.copy(this.centre).addScaledVector(along.projectOnPlane(this.up).normalize().addScaledVector(this.up, 1.25).normalize(), 4 * this.radius);
    fill.position.copy(this.centre).addScaledVector(across.projectOnPlane(this.up).normalize().addScaledVector(this.up, 0.5).normalize(), 4 * this.radius);
    sun.target.position.copy(this.centre), fill.target.position.copy(this.centre);
    sun.castShadow = this.renderer.shadowMap.enabled;
    const r = 1.6 * this.radius, c = sun.shadow.camera;
    c.left = c.bottom = -r, c.right = c.top = r, c.near = 0.1 * this.radius, c.far = 9 * this.radius;
    sun.shadow.mapSize.set(2048, 2048);
    sun.shadow.radius = 3.5;
    sun.shadow.normalBias = 0.0015 * this.radius;
    sun.shadow.bias = -0.0004;
    this.scene.add(this.sky, sun, sun.target, fill, fill.target);
  }

  // ---- shapes

  // Corners around a round shape, and along it.
  get fine() {
    const each = TRIANGLES[this.level] / Math.max(1, this.model.shapes.length), around = Math.round(Math.sqrt(0.75 * each));
    return [Math.min(48, Math.max(8, around)), Math.min(32, Math.max(6, Math.round((2 * around) / 3)))];
  }

  // Geometry, its size and its pattern; shapes of one key are instances of one mesh. `make` takes `fine`.
  part(s) {
    const many = this.model.shapes.length;
    const ball = (fine) => new THREE.SphereGeometry(1, ...fine);
    if (s.type === "height-field") {
      const box = this.outline(s), high = Math.max(1e-9, box.max.z - box.min.z);
      return { key: JSON.stringify(s.mesh), make: () => this.meshGeometry(s.mesh, true), size: [1, 1, 1], pattern: "contours", step: 10 ** Math.floor(Math.log10(high / 2)) };
    }
    if (s.mesh) return { key: JSON.stringify(s.mesh), make: () => this.meshGeometry(s.mesh), size: [1, 1, 1], pattern: "plain" };
    if (s.type === "sphere") return { round: true, ball: true, key: "ball", make: ball, size: [s.radius, s.radius, s.radius], pattern: "octants" };
    if (s.type === "ellipsoid") return { round: true, key: "sphere", make: ball, size: s.half, pattern: "octants" };
    if (s.type === "cylinder") return { round: true, key: "cylinder", make: (fine) => new THREE.CylinderGeometry(1, 1, 1, fine[0] + 8).rotateX(Math.PI / 2), size: [s.radius, s.radius, s.length], pattern: "sectors" };
    if (s.type === "cone") return { round: true, key: "cone", make: (fine) => new THREE.ConeGeometry(1, 1, fine[0] + 8).rotateX(Math.PI / 2).translate(0, 0, 0.25), size: [s.radius, s.radius, s.length], pattern: "sectors" };
    if (s.type === "capsule") return { round: true, key: `capsule${s.length / s.radius}`, make: (fine) => new THREE.CapsuleGeometry(1, s.length / s.radius, fine[1] >> 1, fine[0]).rotateX(Math.PI / 2), size: [s.radius, s.radius, s.radius], pattern: "sectors" };
    if (s.type === "box") return { key: "box", make: () => new THREE.BoxGeometry(2, 2, 2), size: s.half, pattern: "edges" };
    if (s.type === "bar") {
      const r = 1.6 * this.thin;
      return { key: `bar${s.length}`, make: () => new THREE.CapsuleGeometry(r, s.length, 6, 16).rotateZ(-Math.PI / 2), size: [1, 1, 1], pattern: "plain" };
    }
    if (s.type === "point") return { key: "point", make: () => new THREE.SphereGeometry(1, ...(many > 600 ? [8, 6] : [20, 14])), size: Array(3).fill((this.only.has(s.body) ? 3.2 : 0.8) * this.thin), pattern: "plain", front: true };
    return null;
  }

  meshGeometry(mesh, smooth) {
    let g = new THREE.BufferGeometry();
    g.setAttribute("position", new THREE.BufferAttribute(new Float32Array(mesh.points), 3));
    g.setAttribute("uv", new THREE.BufferAttribute(new Float32Array((2 * mesh.points.length) / 3), 2));
    g.setIndex(mesh.triangles);
    if (!smooth) g = g.toNonIndexed();
    g.computeVertexNormals();
    return g;
  }

  addShapes() {
    const groups = new Map();
    this.only = new Set(this.model.shapes.map((s) => s.body)); // bodies made of points only: drawn larger
    for (const s of this.model.shapes) if (s.type !== "point") this.only.delete(s.body);
    this.floors = [];
    for (const s of this.model.shapes) {
      if (s.type === "plane") { this.addFloor(s); continue; }
      const part = this.part(s);
      if (!part) continue;
      const opacity = this.hides(s) ? 0.16 : Math.max(0.16, s.color ? parseInt(s.color.slice(7), 16) / 255 : 1), glass = opacity < 1, key = `${part.key} ${opacity}`;
      if (!groups.has(key)) groups.set(key, { part, glass, opacity, items: [] });
      groups.get(key).items.push({ body: s.body, own: s.color && new THREE.Color(s.color.slice(0, 7)), local: new THREE.Matrix4().compose(v(s.p), quat(s.q), v(part.size)) });
    }
    this.addStage();
    for (const { items } of groups.values())
      for (const item of items) { // Most shapes sit in the middle of their bodies, upright: then only a scale is left of the matrix.
        const e = item.local.elements;
        item.plain = Math.abs(e[12]) + Math.abs(e[13]) + Math.abs(e[14]) < 1e-12 && e[0] === e[5] && e[5] === e[10] && Math.abs(e[1]) + Math.abs(e[2]) + Math.abs(e[6]) < 1e-12 ? e[0] : 0;
      }
    this.groups = [...groups.values()].map((group) => this.makeGroup(group));
    this.addDarkening();
  }

  // The mesh of shapes that look the same, at the present quality.
  makeGroup(group) {
    const { part, glass, opacity, items } = group, shadows = this.renderer.shadowMap.enabled;
    const mesh = part.ball && !glass && (this.many || this.level > 0) ? new Discs(items.length) : copies(part.make(this.fine), surface(part.pattern, this.level > 0 || this.model.shapes.length > 600, part.step, part.front), items.length);
    if (glass) Object.assign(mesh.material, { transparent: true, opacity, depthWrite: false, side: THREE.DoubleSide }), (mesh.renderOrder = 1);
    mesh.castShadow = shadows && !glass, mesh.receiveShadow = shadows;
    Object.assign(mesh.userData, group);
    if (mesh instanceof Discs && this.dark != null) this.lightDiscs(mesh.material.uniforms);
    this.scene.add(mesh);
    return mesh;
  }

  // Size of a body: the diagonal of its largest shape.
  sizeOf(body) {
    this.sizes ??= this.model.shapes.reduce((map, s) => (s.type === "plane" ? map : map.set(s.body, Math.max(map.get(s.body) ?? 0, this.outline(s).getSize(new THREE.Vector3()).length()))), new Map());
    return this.sizes.get(body) ?? 0;
  }

  // Does a box, fixed in a frame of a body, hold more than half of the other bodies? Things of its own size, like the links of
  // a chain, it does not hold.
  holdsOthers(box, frame, owner) {
    const size = box.getSize(new THREE.Vector3()).length(), into = frame.premultiply(this.bodyMatrix(owner, this.m0)).invert();
    let inside = 0;
    for (let body = 1; body <= this.n; body++) if (body !== owner && this.sizeOf(body) < 0.5 * size) inside += box.containsPoint(this.bodyPosition(body).applyMatrix4(into));
    return 2 * inside > this.n - (owner > 0) && inside;
  }

  holds(s) {
    return this.holdsOthers(this.outline(s), new THREE.Matrix4().compose(v(s.p), quat(s.q), this.one), s.body) > 0;
  }

  // A vessel made of several shapes: a drum of staves. Few things inside may as well be held by a hand.
  isVessel(body) {
    this.vessels ??= new Map();
    if (!this.vessels.has(body)) {
      this.solids ??= this.model.shapes.reduce((map, s) => (s.type === "plane" ? map : map.set(s.body, [...(map.get(s.body) ?? []), s])), new Map());
      const box = new THREE.Box3(), parts = this.solids.get(body) ?? [];
      if (parts.length > 2) for (const s of parts) box.union(this.outline(s).applyMatrix4(new THREE.Matrix4().compose(v(s.p), quat(s.q), this.one)));
      this.vessels.set(body, parts.length > 2 && this.holdsOthers(box, new THREE.Matrix4(), body) >= 8);
    }
    return this.vessels.get(body);
  }

  // A wall of the ground that reaches above the middle of the scene, or a vessel, which may move: it would hide what is behind
  // or in it, so it is glass.
  hides(s) {
    if (s.type === "mesh" && this.holds(s)) return true;
    if (s.body !== 0) return this.isVessel(s.body);
    if (s.type !== "box") return false;
    const sides = [...s.half].sort((a, b) => a - b);
    if (sides[0] > 0.3 * sides[1]) return false; // a block or a post, not a wall
    const q = quat(s.q), axes = [0, 1, 2].map((i) => new THREE.Vector3().setComponent(i, s.half[i]).applyQuaternion(q));
    const top = v(s.p).dot(this.up) + axes.reduce((sum, a) => sum + Math.abs(a.dot(this.up)), 0);
    return top > this.centre.dot(this.up);
  }

  // A scene without a floor is shown above a grid that only receives shadows: it is not part of the scene.
  addStage() {
    const wide = this.box.getSize(new THREE.Vector3()).projectOnPlane(this.up).length();
    const carried = this.model.shapes.some((s) => s.type === "plane" || (s.body === 0 && s.type !== "point" && this.outline(s).getSize(new THREE.Vector3()).length() > 0.5 * wide));
    if (carried || this.many || Math.hypot(...this.model.gravity) === 0) return;
    const low = Math.min(this.box.min.dot(this.up), this.box.max.dot(this.up)), q = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), this.up);
    const p = this.centre.clone().addScaledVector(this.up, low - 0.12 * this.radius - this.centre.dot(this.up));
    this.addFloor({ body: 0, p: p.toArray(), q: [q.w, q.x, q.y, q.z] });
    this.floors[this.floors.length - 1].material.opacity = 0.55;
  }

  // Where bodies are near a floor it is darker: a soft ellipse below each shape, as wide as it is, and the fainter the higher it
  // is. It shows whether a body touches the floor or hovers, with and without shadows.
  addDarkening() {
    const shapes = this.groups.flatMap(({ userData: { items, glass } }, at) => (glass ? [] : items.map((item, k) => ({ at, item, k })))).filter(({ item }) => item.body > 0);
    this.darkening = [];
    if (shapes.length === 0 || shapes.length > CROWD) return;
    for (const floor of this.floors) {
      const material = new THREE.ShaderMaterial({
        transparent: true, depthWrite: false, polygonOffset: true, polygonOffsetFactor: -1, polygonOffsetUnits: -20,
        vertexShader: "varying vec2 across; void main() { across = position.xy; gl_Position = projectionMatrix * modelViewMatrix * instanceMatrix * vec4(position, 1.0); }",
        fragmentShader: "varying vec2 across; void main() { float s = 1.0 - smoothstep(0.35, 1.0, length(across)); gl_FragColor = vec4(0.0, 0.0, 0.02, copyTint.a * s); }",
      });
      const mesh = this.instances(new THREE.PlaneGeometry(2, 2), material, shapes.length, true);
      mesh.count = shapes.length, (mesh.renderOrder = 0);
      this.darkening.push({ mesh, floor, shapes });
    }
    for (const { at, item } of shapes) item.box ??= this.groups[at].geometry.boundingBox ?? (this.groups[at].geometry.computeBoundingBox(), this.groups[at].geometry.boundingBox);
  }

  placeDarkening() {
    const m = new THREE.Matrix4(), frame = new THREE.Matrix4(), e = m.elements;
    for (const { mesh, floor, shapes } of this.darkening) {
      const dark = mesh.instanceColor, into = frame.copy(floor.matrix).invert(), on = floor.material.opacity;
      shapes.forEach(({ at, item, k }, i) => {
        m.fromArray(this.groups[at].instanceMatrix.array, 16 * k).premultiply(into); // the shape, in the axes of the floor
        const { min, max } = item.box, half = [(max.x - min.x) / 2, (max.y - min.y) / 2, (max.z - min.z) / 2];
        const c = this.p0.addVectors(min, max).multiplyScalar(0.5).applyMatrix4(m);
        // Axes of the shape, projected: xx, xy, yy of the ellipse around them; and how far down it reaches.
        let xx = 0, xy = 0, yy = 0, down = 0;
        half.forEach((h, a) => ((xx += (h * e[4 * a]) ** 2), (xy += h * h * e[4 * a] * e[4 * a + 1]), (yy += (h * e[4 * a + 1]) ** 2), (down += Math.abs(h * e[4 * a + 2]))));
        const turn = 0.5 * Math.atan2(2 * xy, xx - yy), mean = 0.5 * (xx + yy), off = Math.hypot(0.5 * (xx - yy), xy), long = 1.3 * Math.sqrt(mean + off), short = 1.3 * Math.sqrt(Math.max(0, mean - off)) + 0.1 * long;
        const gap = (Math.max(0, c.z) - Math.min(down, c.z)) / Math.max(1e-12, short);
        dark.array[4 * i + 3] = c.z < -down || Number.isNaN(c.z) ? 0 : on * 0.35 * Math.max(0, 1 - gap) ** 2 * Math.min(1, Math.max(0.35, short / c.z));
        this.m1.makeRotationZ(turn).scale(this.d0.set(long, short, 1)).setPosition(c.x, c.y, 0).premultiply(floor.matrix).toArray(mesh.instanceMatrix.array, 16 * i);
      });
      dark.needsUpdate = mesh.instanceMatrix.needsUpdate = true;
    }
  }

  addFloor(s) {
    const wall = Math.abs(new THREE.Vector3(0, 0, 1).applyQuaternion(quat(s.q)).dot(this.up)) < 0.5; // a part of it, that does not look like the floor of another world
    const reach = (wall ? 3 : 14) * this.radius, step = 10 ** Math.round(Math.log10(this.radius / 6));
    const floor = new THREE.Mesh(new THREE.PlaneGeometry(2 * reach, 2 * reach), floorMaterial(step, reach));
    floor.receiveShadow = true;
    floor.renderOrder = -1;
    if (wall) floor.material.opacity = 0.5;
    const q = quat(s.q), normal = new THREE.Vector3(0, 0, 1).applyQuaternion(q);
    // Centred under the scene, whole grid steps from its own origin so that the lines mean something.
    const off = this.centre.clone().sub(v(s.p)).projectOnPlane(normal).applyQuaternion(q.clone().invert());
    off.x = Math.round(off.x / (10 * step)) * 10 * step, off.y = Math.round(off.y / (10 * step)) * 10 * step;
    floor.userData.local = new THREE.Matrix4().compose(v(s.p).add(off.applyQuaternion(q)), q, new THREE.Vector3(1, 1, 1));
    floor.userData.body = s.body;
    floor.userData.colour = s.color?.slice(0, 7); // as the scene has it, else one of the theme
    floor.userData.under = [v(s.p), normal];
    if (!this.run.live) this.seeThrough(floor, this.run.positions);
    floor.matrixAutoUpdate = false;
    this.floors.push(floor);
    this.scene.add(floor);
  }

  // A floor that bodies pass under, as a crank does under the guide of its slider, must not hide them.
  seeThrough(floor, positions) {
    const [p, n] = floor.userData.under, deep = n.dot(p) - 0.02 * this.radius, many = Math.floor(positions.length / 3);
    if (floor.userData.body !== 0 || floor.material.opacity < 1) return;
    for (let k = 0, stride = Math.max(1, Math.floor(many / 20000)); k < many; k += stride)
      if (n.x * positions[3 * k] + n.y * positions[3 * k + 1] + n.z * positions[3 * k + 2] < deep) return void (floor.material.opacity = 0.3);
  }

  // ---- contacts, joints, springs, trails

  instances(geometry, material, count, written) {
    const mesh = copies(geometry, material, Math.max(1, count), written);
    mesh.count = 0;
    this.scene.add(mesh);
    return mesh;
  }

  addContacts() {
    this.arrows = new Arrows(this, "#ef5a2a");
    this.pale = new THREE.Color("#9a948e"); // arrows of others than the selected body
    this.addCone();
    const front = { polygonOffset: true, polygonOffsetFactor: -2, polygonOffsetUnits: -200 }; // on a surface, not half in it
    this.dotMaterial = new THREE.MeshBasicMaterial({ color: "#ffffff", ...front });
    this.dotBehind = new THREE.MeshBasicMaterial({ color: "#ffffff", transparent: true, opacity: 0.3, depthFunc: THREE.GreaterDepth, depthWrite: false });
    this.dotRoom = 0;
    this.dot = Math.min(0.06 * this.bodySize, 0.012 * this.radius);
    this.growContacts(256);
    if (!this.scaleForces(this.run.live ? [] : this.run.force)) {
      const masses = this.model.bodies.filter((b) => !b.fixed).map((b) => b.mass).sort((a, b) => a - b);
      const weight = (masses[masses.length >> 1] || 1) * (Math.hypot(...this.model.gravity) || 9.81);
      this.scaleForces([weight, 0, 0]);
      this.guessed = true;
    }
  }

  // The longest arrow: a part of the scene, or a few bodies where they are small in it.
  get longest() {
    return Math.min(0.6 * this.radius, Math.max(0.25 * this.radius, 6 * this.bodySize));
  }

  // Forces are drawn so that a common one of these is about as long as a body: a large one, but not one of the impacts and
  // jams beside which weights would be invisible. False: there are none.
  scaleForces(forces) {
    const sizes = [], stride = 3 * Math.max(1, Math.floor(forces.length / 3 / 20000));
    for (let k = 0; k < forces.length; k += stride) sizes.push(Math.hypot(forces[k], forces[k + 1], forces[k + 2]));
    sizes.sort((a, b) => a - b);
    const large = sizes[Math.floor(0.9 * (sizes.length - 1))];
    if (!(large > 0)) return false;
    const acting = sizes.filter((x) => x > 1e-6 * large), common = Math.min(large, 4 * acting[Math.floor(acting.length / 2)]);
    this.perNewton = Math.max(1.0 * this.bodySize, 0.12 * this.radius * (this.n < 20 ? 1 : 0)) / common;
    return true;
  }

  growContacts(count) {
    this.arrows.grow(count);
    if (count <= this.dotRoom) return;
    for (const mesh of [this.dots, this.hiddenDots]) if (mesh) this.scene.remove(mesh), mesh.dispose();
    this.dotRoom = Math.max(count, 2 * this.dotRoom);
    this.dotMaterial = this.dotMaterial.clone(), (this.dotBehind = this.dotBehind.clone()); // of the new copies
    this.dots = this.instances(this.n > 150 ? new THREE.OctahedronGeometry(1) : new THREE.SphereGeometry(1, 10, 8), this.dotMaterial, this.dotRoom, true);
    if (this.n > 150) return; // hidden ones of hundreds would look like fog
    this.hiddenDots = this.dots.twin(this.dotBehind);
    this.hiddenDots.frustumCulled = false, (this.hiddenDots.renderOrder = 12);
    this.scene.add(this.hiddenDots);
  }

  addJoints() {
    this.jointMesh = this.instances(new THREE.SphereGeometry(1, 16, 12), new THREE.MeshStandardMaterial({ color: "#f4f4f1", roughness: 0.4 }), this.model.joints.length);
    this.jointMesh.count = this.model.joints.length;
    this.addAxes();
    this.strings = this.model.joints.filter((j) => j.type === "distance" || j.type === "free");
    this.stringMesh = this.instances(new THREE.CylinderGeometry(1, 1, 1, 8).translate(0, 0.5, 0), new THREE.MeshStandardMaterial({ color: "#b9b3a4", roughness: 0.8 }), this.strings.length);
    this.stringMesh.count = this.strings.length;
    this.reactions = new Arrows(this, "#12a594");
    this.reactions.grow(this.model.joints.length);
  }

  // Joints that turn about an axis have a pin along it, and joints that slide a rail as long as they slide in the run.
  addAxes() {
    this.rods = this.model.joints.filter((j) => j.axis && /^(revolute|prismatic|cylindrical|screw)$/.test(j.type));
    const slides = this.rods.filter((j) => j.type !== "revolute"), n = this.run.live ? 1 : this.run.nFrames, stride = Math.max(1, Math.floor(n / 200));
    for (const j of slides) j.range = [0, 0];
    for (let frame = 0; slides.length && frame < n; frame += stride) {
      if (!this.run.live) this.run.sample(this.run.time[frame], this.position, this.turn);
      for (const j of slides) {
        const from = v(j.pa).applyMatrix4(this.bodyMatrix(j.a, this.m0)), along = v(j.axis).transformDirection(this.m0), at = v(j.pb).applyMatrix4(this.bodyMatrix(j.b, this.m1)).sub(from).dot(along) || 0;
        j.range = [Math.min(j.range[0], at), Math.max(j.range[1], at)];
      }
    }
    if (slides.length) this.run.sample(this.run.first, this.position, this.turn);
    this.rodMesh = this.instances(new THREE.CylinderGeometry(1, 1, 1, 12).translate(0, 0.5, 0), this.jointMesh.material.clone(), this.rods.length);
    this.rodMesh.count = this.rods.length;
  }

  placeAxes(r) {
    this.rods.forEach((j, k) => {
      const at = v(j.pa).applyMatrix4(this.bodyMatrix(j.a, this.m0)), along = v(j.axis).transformDirection(this.m0), [lo, hi] = j.range ? [j.range[0] - 2 * r, j.range[1] + 2 * r] : [-1.9 * r, 1.9 * r], thick = (j.range ? 0.2 : 0.5) * r;
      this.q0.setFromUnitVectors(UP, along);
      this.m1.compose(at.addScaledVector(along, lo), this.q0, this.d0.set(thick, hi - lo, thick)).toArray(this.rodMesh.instanceMatrix.array, 16 * k);
    });
    this.rodMesh.visible = this.show.joints && this.rods.length > 0;
    this.rodMesh.instanceMatrix.needsUpdate = true;
  }

  addSprings() {
    const linear = (this.springs = this.model.springs.filter((s) => s.type === "linear"));
    this.springMesh = this.instances(helix(), new THREE.MeshStandardMaterial({ color: "#8b95a1", roughness: 0.4, metalness: 0.5 }), linear.length);
    // A spring along a floor or through a body is fully visible; hidden parts are drawn faintly.
    this.hiddenSprings = this.instances(this.springMesh.geometry, new THREE.MeshBasicMaterial({ color: "#8b95a1", transparent: true, opacity: 0.4, depthTest: false }), linear.length);
    this.hiddenSprings.instanceMatrix = this.springMesh.instanceMatrix, (this.hiddenSprings.renderOrder = 2);
    this.springMesh.count = this.hiddenSprings.count = linear.length;
  }

  addTrails() {
    this.trails = new Map();
    this.trailGroup = new THREE.Group();
    this.scene.add(this.trailGroup);
  }

  trailBodies() {
    if (!this.show.trails || this.run.live) return [];
    if (this.selected > 0) return [this.selected];
    return this.model.bodies.map((b, k) => (b.fixed ? 0 : k + 1)).filter((k) => k > 0).slice(0, 40);
  }

  updateTrails() {
    const wanted = this.trailBodies(), k = this.run.live ? 0 : this.run.frameAt(this.time);
    for (const [body, line] of this.trails) if (!wanted.includes(body)) {
      this.trailGroup.remove(line), line.geometry.dispose(), line.material.dispose(), this.trails.delete(body);
    }
    for (const body of wanted) {
      if (!this.trails.has(body)) {
        const s = this.run.bodySeries(body), points = new Float32Array(3 * s.x.length);
        for (let i = 0; i < s.x.length; i++) points[3 * i] = s.x[i], points[3 * i + 1] = s.y[i], points[3 * i + 2] = s.z[i];
        const g = new THREE.BufferGeometry();
        g.setAttribute("position", new THREE.BufferAttribute(points, 3));
        const line = new THREE.Line(g, new THREE.LineBasicMaterial({ color: bodyColour(body, this.run), transparent: true, opacity: 0.9 }));
        line.frustumCulled = false;
        this.trails.set(body, line), this.trailGroup.add(line);
      }
      this.trails.get(body).geometry.setDrawRange(0, k + 1);
    }
  }

  // ---- a moment

  bodyMatrix(body, out) {
    if (body === 0) return out.identity();
    const i = body - 1, p = this.position, q = this.turn;
    return out.compose(this.p0.set(p[3 * i], p[3 * i + 1], p[3 * i + 2]), this.q0.set(q[4 * i], q[4 * i + 1], q[4 * i + 2], q[4 * i + 3]), this.one);
  }

  p0 = new THREE.Vector3();
  d0 = new THREE.Vector3();
  q0 = new THREE.Quaternion();
  one = new THREE.Vector3(1, 1, 1);
  m0 = new THREE.Matrix4();
  m1 = new THREE.Matrix4();

  setTime(t) {
    const before = this.selected > 0 && this.follow ? this.bodyPosition(this.selected) : null;
    this.time = t;
    this.run.sample(t, this.position, this.turn);
    if (before) {
      const step = this.bodyPosition(this.selected).sub(before);
      this.camera.position.add(step), this.controls.target.add(step);
    }
    this.update();
  }

  bodyPosition(body) {
    return new THREE.Vector3().fromArray(this.position, 3 * (body - 1));
  }

  // Of an angular velocity in world axes [J].
  rotationEnergy(body, spin) {
    const [xx, yy, zz, xy, xz, yz] = this.model.bodies[body - 1].inertia, { x, y, z } = v(spin).applyQuaternion(this.q0.fromArray(this.turn, 4 * (body - 1)).invert());
    return 0.5 * (xx * x * x + yy * y * y + zz * z * z) + xy * x * y + xz * x * z + yz * y * z;
  }

  update() {
    for (const mesh of this.groups) this.placeShapes(mesh);
    if (this.run.live) for (const floor of this.floors) this.seeThrough(floor, this.position);
    for (const floor of this.floors) floor.matrix.multiplyMatrices(this.bodyMatrix(floor.userData.body, this.m0), floor.userData.local);
    this.placeDarkening();
    this.placeContacts();
    this.placeJoints();
    this.placeSprings();
    this.updateTrails();
    if (this.colouring !== "body") this.paint();
    this.onChange();
  }

  // The matrix of a sphere is written directly: this loop must be fast for 10,000 bodies.
  placeShapes(mesh) {
    const out = mesh.instanceMatrix.array, p = this.position, q = this.turn;
    const { items } = mesh.userData;
    for (let k = 0; k < items.length; k++) {
      const item = items[k], i = item.body - 1;
      if (item.body > 0 && item.plain > 0) {
        const x = q[4 * i], y = q[4 * i + 1], z = q[4 * i + 2], w = q[4 * i + 3], s = item.plain, o = 16 * k;
        out[o] = s * (1 - 2 * (y * y + z * z)), out[o + 1] = s * 2 * (x * y + w * z), out[o + 2] = s * 2 * (x * z - w * y), out[o + 3] = 0;
        out[o + 4] = s * 2 * (x * y - w * z), out[o + 5] = s * (1 - 2 * (x * x + z * z)), out[o + 6] = s * 2 * (y * z + w * x), out[o + 7] = 0;
        out[o + 8] = s * 2 * (x * z + w * y), out[o + 9] = s * 2 * (y * z - w * x), out[o + 10] = s * (1 - 2 * (x * x + y * y)), out[o + 11] = 0;
        out[o + 12] = p[3 * i], out[o + 13] = p[3 * i + 1], out[o + 14] = p[3 * i + 2], out[o + 15] = 1;
      } else {
        this.m1.multiplyMatrices(this.bodyMatrix(item.body, this.m0), item.local).toArray(out, 16 * k);
      }
    }
    mesh.instanceMatrix.needsUpdate = true;
    if (mesh.isInstancedMesh) mesh.boundingSphere = null;
  }

  // A run has the force of the first of two bodies on the second. The drawn force is that on the selected body, or else on
  // the one of the two that can move; if both can, on the one that is carried.
  side(a, b, force, k) {
    const still = (body) => body === 0 || this.model.bodies[body - 1].fixed;
    if (this.selected > 0 && (a === this.selected || b === this.selected)) return b === this.selected ? 1 : -1;
    if (still(a) !== still(b)) return still(b) ? -1 : 1;
    return force[k] * this.up.x + force[k + 1] * this.up.y + force[k + 2] * this.up.z < 0 ? -1 : 1;
  }

  // Does the selection leave this pair in the background?
  dims(a, b) {
    return this.selected > 0 && a !== this.selected && b !== this.selected;
  }

  placeContacts() {
    const c = this.run.contactsAt(this.time), on = this.show.contacts || this.show.forces, dot = this.dot, both = this.show.both;
    const n = on ? c.end - c.begin : 0;
    this.cut = false;
    if (this.guessed && n > 0) this.guessed = !this.scaleForces(c.force.slice(3 * c.begin, 3 * c.end)); // a live run: of its first contacts
    this.growContacts(both ? 2 * n : n);
    for (let k = 0; k < n; k++) {
      const i = 3 * (c.begin + k), a = c.pair[2 * (c.begin + k)], b = c.pair[2 * (c.begin + k) + 1];
      for (let way = 0; this.show.forces && way < (both ? 2 : 1); way++)
        this.arrows.place(both ? 2 * k + way : k, this.p0.fromArray(c.point, i), this.d0.fromArray(c.force, i).multiplyScalar(this.side(a, b, c.force, i) * (1 - 2 * way)), this.dims(a, b));
      if (this.show.contacts) this.m0.makeScale(dot, dot, dot).setPosition(c.point[i], c.point[i + 1], c.point[i + 2]).toArray(this.dots.instanceMatrix.array, 16 * k);
    }
    this.arrows.show(this.show.forces ? (both ? 2 * n : n) : 0);
    this.dots.count = this.show.contacts ? n : 0;
    if (this.hiddenDots) this.hiddenDots.count = this.dots.count;
    if (this.dots.count > 0) this.dots.instanceMatrix.needsUpdate = true;
    this.nContacts = n;
    this.placeCone(c);
  }

  // ---- one contact: its friction cone, the force in it, and how near to sliding it is

  addCone() {
    const cone = new THREE.ConeGeometry(1, 1, 48, 1, true).rotateX(Math.PI).translate(0, 0.5, 0); // apex at the origin, open along y
    this.coneMaterial = new THREE.MeshBasicMaterial({ transparent: true, opacity: 0.28, side: THREE.DoubleSide, depthTest: false, depthWrite: false }); // bodies do not hide it: its contact is often inside of them
    this.cone = new THREE.Mesh(cone, this.coneMaterial);
    const ring = Array.from({ length: 65 }, (_, k) => new THREE.Vector3(Math.cos((2 * Math.PI * k) / 64), 1, Math.sin((2 * Math.PI * k) / 64)));
    this.coneRim = new THREE.Line(new THREE.BufferGeometry().setFromPoints(ring), new THREE.LineBasicMaterial({ depthTest: false, transparent: true }));
    this.coneRim.renderOrder = 13;
    this.cone.add(this.coneRim);
    this.coneArrow = new Arrows(this, "#111111", { depthTest: false });
    this.coneArrow.order = 14;
    this.coneArrow.grow(1);
    this.cone.renderOrder = 13;
    this.cone.visible = false;
    this.scene.add(this.cone);
    this.contact = null; // picked: { a, b, point }
  }

  // The contact nearest to a point of the screen, within reach of a finger; null: none.
  pickContact(clientX, clientY) {
    if (!this.show.contacts && !this.show.forces) return null;
    const box = this.canvas.getBoundingClientRect(), c = this.run.contactsAt(this.time), p = new THREE.Vector3();
    let best = 12 ** 2, found = null;
    for (let k = c.begin; k < c.end; k++) {
      p.fromArray(c.point, 3 * k).project(this.camera);
      const d = (box.left + ((p.x + 1) / 2) * box.width - clientX) ** 2 + (box.top + ((1 - p.y) / 2) * box.height - clientY) ** 2;
      if (d < best && p.z < 1) (best = d), (found = { a: c.pair[2 * k], b: c.pair[2 * k + 1], point: new THREE.Vector3().fromArray(c.point, 3 * k) });
    }
    return found;
  }

  setContact(contact) {
    this.contact = contact;
    this.update();
  }

  // Friction of the two shapes that touch: of each body the one nearest to the point.
  friction(a, b, point) {
    const nearest = (body) => {
      let best = Infinity, found = null;
      const to = this.bodyMatrix(body, new THREE.Matrix4()).clone().invert();
      for (const s of this.model.shapes) {
        if (s.body !== body || s.mu == null) continue;
        const local = point.clone().applyMatrix4(to).sub(v(s.p)).applyQuaternion(quat(s.q).invert());
        const d = s.type === "plane" ? Math.abs(local.z) : this.outline(s).distanceToPoint(local);
        if (d < best) (best = d), (found = s);
      }
      return found;
    };
    const x = nearest(a), y = nearest(b);
    if (!x || !y) return null;
    const pair = this.model.friction?.find(([i, j]) => (i === x.material && j === y.material) || (i === y.material && j === x.material));
    return pair ? pair[2] : Math.sqrt(x.mu * y.mu);
  }

  placeCone(c) {
    const picked = this.contact;
    this.cone.visible = false;
    this.coneArrow.show(0);
    this.contactInfo = null;
    if (!picked || !c.normal) return;
    let best = Infinity, at = -1; // the same one, a moment later: the nearest of the same two
    for (let k = c.begin; k < c.end; k++) {
      const same = c.pair[2 * k] === picked.a && c.pair[2 * k + 1] === picked.b, d = same ? this.p0.fromArray(c.point, 3 * k).distanceToSquared(picked.point) : Infinity;
      if (d < best) (best = d), (at = k);
    }
    const info = (this.contactInfo = { a: picked.a, b: picked.b, open: at < 0 });
    if (at < 0) return;
    picked.point.fromArray(c.point, 3 * at);
    const sign = this.side(picked.a, picked.b, c.force, 3 * at), force = new THREE.Vector3().fromArray(c.force, 3 * at).multiplyScalar(sign), normal = new THREE.Vector3().fromArray(c.normal, 3 * at).multiplyScalar(sign);
    const scale = this.run.live ? this.run.friction ?? 1 : 1, mu = this.friction(picked.a, picked.b, picked.point);
    info.normal = force.dot(normal), info.tangent = force.clone().addScaledVector(normal, -info.normal).length(), info.mu = mu == null ? null : mu * scale;
    info.share = info.mu > 0 && info.normal > 0 ? info.tangent / (info.mu * info.normal) : null;
    if (!(info.mu > 0)) return;
    const tall = Math.max(2.2 * this.dot, Math.min(this.longest, 1.25 * info.normal * this.perNewton * this.forceScale));
    this.cone.position.copy(picked.point);
    this.cone.quaternion.setFromUnitVectors(UP, normal);
    this.cone.scale.set(info.mu * tall, tall, info.mu * tall);
    this.cone.visible = true;
    const s = Math.min(1, info.share ?? 0);
    this.coneMaterial.color.setHSL(0.38 * (1 - s ** 2), 0.85, 0.5), this.coneRim.material.color.copy(this.coneMaterial.color);
    this.coneArrow.colour.copy(this.dotMaterial.color);
    this.coneArrow.place(0, picked.point.clone(), force, false);
    this.coneArrow.show(1);
  }

  // A round number of newtons and its length on the screen, at the distance of the camera's target.
  scaleBar() {
    if (!(this.show.forces || this.show.reactions) || !(this.perNewton > 0)) return null;
    const pixels = this.canvas.clientHeight / (2 * Math.tan((this.camera.fov * Math.PI) / 360) * this.camera.position.distanceTo(this.controls.target)), perNewton = this.perNewton * this.forceScale * pixels;
    const raw = 90 / perNewton, ten = 10 ** Math.floor(Math.log10(raw)), newtons = ten * (raw / ten >= 5 ? 5 : raw / ten >= 2 ? 2 : 1);
    return { newtons, pixels: newtons * perNewton, cut: this.cut ? this.longest / (this.perNewton * this.forceScale) : 0 };
  }

  placeJoints() {
    const r = Math.min(2.4 * this.thin, 0.3 * this.bodySize);
    this.model.joints.forEach((j, k) => {
      const p = v(j.pa).applyMatrix4(this.bodyMatrix(j.a, this.m0));
      this.m1.makeScale(r, r, r).setPosition(p).toArray(this.jointMesh.instanceMatrix.array, 16 * k);
    });
    this.jointMesh.visible = this.show.joints && this.model.joints.length > 0;
    this.jointMesh.instanceMatrix.needsUpdate = true;
    this.placeAxes(r);
    this.strings.forEach((j, k) => {
      const a = v(j.pa).applyMatrix4(this.bodyMatrix(j.a, this.m0)), d = v(j.pb).applyMatrix4(this.bodyMatrix(j.b, this.m0)).sub(a), length = Math.max(1e-9, d.length());
      this.q0.setFromUnitVectors(UP, d.divideScalar(length));
      this.m1.compose(a, this.q0, new THREE.Vector3(0.35 * r, length, 0.35 * r)).toArray(this.stringMesh.instanceMatrix.array, 16 * k);
    });
    this.stringMesh.visible = this.show.joints && this.strings.length > 0;
    this.stringMesh.instanceMatrix.needsUpdate = true;
    this.placeReactions();
  }

  // The force in each joint, drawn at the joint.
  placeReactions() {
    const force = this.show.reactions ? this.run.reactionsAt(this.time) : null, n = force ? this.model.joints.length : 0;
    for (let k = 0; k < n; k++) {
      const j = this.model.joints[k];
      this.reactions.place(k, v(j.pa).applyMatrix4(this.bodyMatrix(j.a, this.m0)), this.d0.fromArray(force, 3 * k).multiplyScalar(this.side(j.a, j.b, force, 3 * k)), this.dims(j.a, j.b));
    }
    this.reactions.show(n);
  }

  placeSprings() {
    const wide = Math.min(0.035 * this.radius, 0.5 * this.bodySize);
    this.springs.forEach((s, k) => {
      const a = v(s.pa).applyMatrix4(this.bodyMatrix(s.a, this.m0)), b = v(s.pb).applyMatrix4(this.bodyMatrix(s.b, this.m0));
      const d = b.clone().sub(a), length = Math.max(1e-9, d.length());
      this.q0.setFromUnitVectors(X, d.divideScalar(length));
      this.m1.compose(a, this.q0, new THREE.Vector3(length, wide, wide)).toArray(this.springMesh.instanceMatrix.array, 16 * k);
    });
    this.springMesh.visible = this.hiddenSprings.visible = this.show.joints && this.springs.length > 0;
    this.springMesh.instanceMatrix.needsUpdate = true;
  }

  // ---- colours

  paint() {
    const tint = this.tints(), plain = this.colouring === "body";
    for (const mesh of this.groups) {
      mesh.userData.items.forEach((item, k) => {
        const own = (plain && (item.own || (mesh.userData.glass && GLASS))) || tint(item.body);
        mesh.setColorAt(k, item.body === this.selected && item.body > 0 ? own.clone().lerp(this.accent, 0.25) : own);
      });
      if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
    }
  }

  // The colour of a body whose shapes have none in the scene: its own, or by speed or load.
  tints() {
    if (this.colouring === "body") {
      this.own ??= Array.from({ length: this.n + 1 }, (_, b) => bodyColour(b, this.run));
      return (b) => this.own[b];
    }
    const value = this.colouring === "speed" ? this.run.speeds(this.time) : this.loads(), colour = new THREE.Color();
    let top = 0;
    for (const x of value) top = Math.max(top, x);
    this.peak = Math.max(this.peak ?? 0, top);
    return (b) => heat(b > 0 && this.peak > 0 ? value[b] / this.peak : 0, colour);
  }

  // The legend of the colours; null: bodies have their own.
  colourScale() {
    if (this.colouring === "body" || !(this.peak > 0)) return null;
    const stops = [0, 0.06, 0.15, 0.3, 0.5, 0.75, 1].map((x) => `${heat(x, new THREE.Color()).getStyle()} ${100 * x}%`);
    return { top: this.peak, unit: this.colouring === "speed" ? "m/s" : "N", stops };
  }

  loads() {
    const out = new Float32Array(this.n + 1), c = this.run.contactsAt(this.time);
    for (let k = c.begin; k < c.end; k++) {
      const f = Math.hypot(c.force[3 * k], c.force[3 * k + 1], c.force[3 * k + 2]);
      out[c.pair[2 * k]] += f, out[c.pair[2 * k + 1]] += f;
    }
    return out;
  }

  setColouring(how) {
    this.colouring = how;
    this.peak = 0;
    this.paint();
    this.onChange();
  }

  setTheme(dark) {
    this.dark = dark;
    this.accent = new THREE.Color(dark ? "#ffe14a" : "#e5007e");
    this.edge.material.colour.value.copy(this.accent);
    for (const floor of this.floors) {
      const own = floor.userData.colour && new THREE.Color(floor.userData.colour), line = floor.material.userData.line.value;
      floor.material.color.set(own ?? (dark ? "#3a424c" : "#f0f1ef"));
      own ? line.set(own.getHSL({}).l > 0.4 ? "#000000" : "#ffffff").lerp(own, 0.65) : line.set(dark ? "#6b7886" : "#a3abb0");
    }
    this.dotMaterial.color.set(dark ? "#ffffff" : "#1d242b"), this.dotBehind.color.copy(this.dotMaterial.color);
    this.pale.set(dark ? "#6b6f76" : "#b3aea6");
    this.sky.intensity = dark ? 0.9 : 1.35;
    this.sun.intensity = dark ? 2.3 : 2.5;
    for (const mesh of this.groups) if (mesh instanceof Discs) this.lightDiscs(mesh.material.uniforms);
    this.paint();
    this.onChange();
  }

  // The lights of the scene, which custom shaders do not receive.
  lightDiscs(uniforms) {
    const share = (colour, intensity) => colour.clone().multiplyScalar(intensity / Math.PI); // Lambert's law
    uniforms.sun.value.copy(share(this.sun.color, this.sun.intensity));
    uniforms.sky.value.copy(share(this.sky.color, this.sky.intensity));
    uniforms.ground.value.copy(share(this.sky.groundColor, this.sky.intensity));
    uniforms.toSun.value.copy(this.sun.position).sub(this.sun.target.position).normalize();
    uniforms.up.value.copy(this.up);
  }

  setShow(what, on) {
    this.show[what] = on;
    if (what === "wireframe") for (const mesh of this.groups) this.wire(mesh);
    this.update();
  }

  wire(mesh) {
    mesh instanceof Discs ? (mesh.material.uniforms.wire.value = this.show.wireframe) : (mesh.material.wireframe = this.show.wireframe);
  }

  select(body) {
    this.selected = body;
    if (body === 0) this.follow = false;
    this.edge.clear(); // glass has none: it would be seen through
    for (const { userData: { part, glass, items } } of body > 0 ? this.groups : [])
      for (const item of glass ? [] : items) if (item.body === body) this.edge.add(part.make([24, 16]), body, item.local);
    this.paint();
    this.update(); // arrows and trails are those of the selected body
  }

  // ---- screen

  ray(clientX, clientY) {
    const box = this.canvas.getBoundingClientRect(), caster = new THREE.Raycaster();
    caster.setFromCamera(new THREE.Vector2(((clientX - box.left) / box.width) * 2 - 1, 1 - ((clientY - box.top) / box.height) * 2), this.camera);
    return caster;
  }

  // The body under a point of the screen and where it was hit; null: none.
  pick(clientX, clientY) {
    const caster = this.ray(clientX, clientY);
    let best = null;
    for (const mesh of this.groups) {
      if (mesh instanceof Discs) {
        best = this.pickDisc(mesh, caster.ray, best);
        continue;
      }
      if (mesh.isInstancedMesh) mesh.computeBoundingSphere();
      for (const hit of caster.intersectObject(mesh)) {
        const body = mesh.userData.items[hit.instanceId].body;
        if (body > 0 && (!best || hit.distance < best.distance)) best = { body, point: hit.point, distance: hit.distance };
        break;
      }
    }
    return best;
  }

  // The nearest ball drawn as a disc on the ray, if it is nearer than `best`.
  pickDisc(mesh, ray, best) {
    const m = mesh.instanceMatrix.array, ball = new THREE.Sphere(), point = new THREE.Vector3();
    mesh.userData.items.forEach(({ body }, k) => {
      ball.center.fromArray(m, 16 * k + 12), (ball.radius = Math.hypot(m[16 * k], m[16 * k + 1], m[16 * k + 2]));
      if (body === 0 || !ray.intersectSphere(ball, point)) return;
      const distance = ray.origin.distanceTo(point);
      if (!best || distance < best.distance) best = { body, point: point.clone(), distance };
    });
    return best;
  }

  // Where the ray through a point of the screen meets the plane through `at` that faces the camera.
  facing(clientX, clientY, at) {
    const normal = this.camera.getWorldDirection(new THREE.Vector3());
    return this.ray(clientX, clientY).ray.intersectPlane(new THREE.Plane().setFromNormalAndCoplanarPoint(normal, at), new THREE.Vector3());
  }

  // Pixels of a body's centre in the canvas; null: behind the camera.
  onScreen(body) {
    const p = this.bodyPosition(body).project(this.camera);
    return !(p.z <= 1) ? null : [((p.x + 1) / 2) * this.canvas.clientWidth, ((1 - p.y) / 2) * this.canvas.clientHeight];
  }

  resize(width, height) {
    const first = !this.sized;
    this.sized = true;
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / Math.max(1, height);
    this.camera.updateProjectionMatrix();
    if (first) this.resetView();
    this.onChange();
  }

  // Without a graphics card frames take long. Level 0 has everything, level 1 neither shadows nor fine round shapes, level 2
  // every other pixel.
  setQuality(level) {
    const most = 2, to = Math.min(most, Math.max(0, level)), full = Math.min(globalThis.devicePixelRatio || 1, 2);
    if (to === this.level) return false;
    const shadows = to === 0 && !this.many;
    this.level = to;
    if (this.sun.castShadow !== shadows) {
      this.sun.castShadow = this.renderer.shadowMap.enabled = shadows;
      for (const mesh of [...this.groups, ...this.floors]) (mesh.receiveShadow = shadows), (mesh.castShadow = shadows && this.groups.includes(mesh) && !mesh.userData.glass), (mesh.material.needsUpdate = true);
    }
    this.groups = this.groups.map((mesh) => {
      if (mesh instanceof Discs && (this.many || to > 0)) return mesh;
      this.scene.remove(mesh), mesh.dispose();
      const made = this.makeGroup({ part: mesh.userData.part, glass: mesh.userData.glass, opacity: mesh.userData.opacity, items: mesh.userData.items });
      this.placeShapes(made), this.wire(made);
      return made;
    });
    this.paint();
    this.ratio = to === 2 ? 0.5 * full : full;
    this.onChange();
    return true;
  }

  ratio = Math.min(globalThis.devicePixelRatio || 1, 2); // pixels of the picture per pixel of the page

  render(ratio = this.ratio) {
    this.drawn = performance.now();
    this.still = false;
    if (this.renderer.getPixelRatio() !== ratio) this.renderer.setPixelRatio(ratio);
    this.edge.place((body) => this.bodyMatrix(body, this.m0), this.camera, this.canvas.clientHeight);
    this.renderer.render(this.scene, this.camera);
  }

  // Without a graphics card: what has not moved for a moment is drawn once more, with smooth edges. True: drawn.
  renderStill() {
    if (!this.best || this.still || performance.now() - this.drawn < 300) return false;
    this.render(2);
    return (this.still = true);
  }

  // Frees the memory of the graphics card.
  dispose() {
    this.controls.dispose();
    if (this.blind) return;
    this.renderer.dispose();
    this.renderer.forceContextLoss();
  }
}
