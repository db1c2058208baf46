// copies.js -- many copies of one geometry in one draw call. A renderer in software, which a browser without a graphics card has,
// makes each instance of a THREE.InstancedMesh a draw call of its own (50 us). Here poses and tints of the copies are
// textures, which the vertex shader reads by the number of the corner.
import * as THREE from "three";

const ROW = 256; // copies in a row of the textures
const CORNERS = 2e6; // at most, in a geometry that is written out for every copy

// Under the names that instances have, so that all meshes are moved and painted alike.
class Posed extends THREE.Mesh {
  posed(room) {
    const rows = Math.ceil(room / ROW), texture = (wide) => {
      const array = new Float32Array(4 * wide * ROW * rows).fill(wide > 1 ? 0 : 1);
      const data = new THREE.DataTexture(array, wide * ROW, rows, THREE.RGBAFormat, THREE.FloatType);
      data.needsUpdate = true;
      return { array, data, setUsage() {}, set needsUpdate(on) { data.needsUpdate = on; } };
    };
    this.instanceMatrix = texture(4), this.instanceColor = texture(1);
  }

  setColorAt(k, colour) { colour.toArray(this.instanceColor.array, 4 * k); }

  dispose() {
    this.instanceMatrix.data.dispose(), this.instanceColor.data.dispose(), this.geometry.dispose(), this.material.dispose();
  }
}

const FETCH = `
  int row = copy / ${ROW}, at = copy - row * ${ROW};
  mat4 pose = mat4(texelFetch(poses, ivec2(4 * at, row), 0), texelFetch(poses, ivec2(4 * at + 1, row), 0), texelFetch(poses, ivec2(4 * at + 2, row), 0), texelFetch(poses, ivec2(4 * at + 3, row), 0));`;

// The corners of `one` written out `room` times. Its material is its own: the textures belong to it.
class Written extends Posed {
  constructor(one, material, room, like) {
    super(new THREE.BufferGeometry(), material);
    this.room = this.shown = room;
    this.corners = { value: 1 };
    if (like) (this.instanceMatrix = like.instanceMatrix), (this.instanceColor = like.instanceColor), (this.geometry = like.geometry), (this.one = like.one), (this.corners = like.corners), (this.per = like.per);
    else this.posed(room), this.write(one);
    this.readPoses(material);
  }

  // Another geometry for all copies.
  write(one) {
    const { room } = this, n = one.getAttribute("position").count, all = new THREE.BufferGeometry();
    for (const [name, { array, itemSize }] of Object.entries(one.attributes)) {
      const out = new Float32Array(room * n * itemSize);
      for (let k = 0; k < room; k++) out.set(array, k * n * itemSize);
      all.setAttribute(name, new THREE.BufferAttribute(out, itemSize));
    }
    if (one.index) {
      const from = one.index.array, m = from.length, out = new Uint32Array(room * m);
      for (let k = 0, to = 0; k < room; k++) for (let i = 0; i < m; i++) out[to++] = from[i] + k * n;
      all.setIndex(new THREE.BufferAttribute(out, 1));
    }
    one.computeBoundingBox(), one.computeBoundingSphere();
    all.boundingBox = one.boundingBox, all.boundingSphere = one.boundingSphere;
    this.geometry.dispose();
    this.geometry = all, this.one = one, this.corners.value = n, this.per = one.index ? one.index.count : n;
    this.count = this.shown;
  }

  get count() { return this.shown; }
  set count(n) {
    this.shown = n;
    this.geometry.setDrawRange(0, n * this.per);
    this.visible = n > 0;
  }

  readPoses(material) {
    const before = material.onBeforeCompile, key = material.customProgramCacheKey();
    material.onBeforeCompile = (shader, renderer) => {
      before.call(material, shader, renderer);
      Object.assign(shader.uniforms, { poses: { value: this.instanceMatrix.data }, tints: { value: this.instanceColor.data }, corners: this.corners });
      shader.vertexShader = `#define USE_INSTANCING\nuniform highp sampler2D poses, tints; uniform int corners; mat4 instanceMatrix; varying vec4 copyTint;\n${shader.vertexShader}`
        .replace("void main() {", `void main() { int copy = gl_VertexID / corners; ${FETCH} instanceMatrix = pose, copyTint = texelFetch(tints, ivec2(at, row), 0);`);
      shader.fragmentShader = `varying vec4 copyTint;\n${shader.fragmentShader}`.replace("#include <color_fragment>", "#include <color_fragment>\ndiffuseColor.rgb *= copyTint.rgb;");
    };
    material.customProgramCacheKey = () => `${key} copies`;
  }

  // Poses, tints and geometry of this mesh in another material.
  twin(material) { return new Written(null, material, this.room, this); }

  // Shadows are drawn by a material of their own.
  set castShadow(on) {
    this.casts = on;
    if (on && !this.customDepthMaterial) this.readPoses((this.customDepthMaterial = new THREE.MeshDepthMaterial()));
  }
  get castShadow() { return this.casts; }

  raycast(caster, hits) {
    const one = new THREE.Mesh(this.one, this.material);
    for (let k = 0; k < this.count; k++) {
      const found = [];
      one.matrixWorld.fromArray(this.instanceMatrix.array, 16 * k);
      one.raycast(caster, found);
      for (const hit of found) hits.push(Object.assign(hit, { instanceId: k, object: this }));
    }
  }
}

// `material` is for these copies only. `written`: even if there are very many.
export function copies(geometry, material, room, written = false) {
  const mesh = !written && room * geometry.getAttribute("position").count > CORNERS ? new THREE.InstancedMesh(geometry, material, room) : new Written(geometry, material, room);
  mesh.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
  mesh.frustumCulled = false;
  return mesh;
}

// Balls: one triangle each, around the disc in which the ball is seen; the fragment knows where on the ball it is.
export class Discs extends Posed {
  constructor(count) {
    const corners = new Float32Array(9 * count), w = Math.sqrt(3);
    for (let k = 0; k < count; k++) corners.set([-w, -1, 0, w, -1, 0, 0, 2, 0], 9 * k);
    super(new THREE.BufferGeometry(), discMaterial());
    this.geometry.setAttribute("position", new THREE.BufferAttribute(corners, 3));
    this.geometry.boundingBox = new THREE.Box3().setFromCenterAndSize(new THREE.Vector3(), new THREE.Vector3(2, 2, 2)); // of one
    this.posed(count);
    this.count = count;
    this.frustumCulled = false;
    this.material.uniforms.poses = { value: this.instanceMatrix.data }, this.material.uniforms.tints = { value: this.instanceColor.data };
  }
}

function discMaterial() {
  const colour = () => ({ value: new THREE.Color() }), direction = () => ({ value: new THREE.Vector3() });
  return new THREE.ShaderMaterial({
    uniforms: { sun: colour(), sky: colour(), ground: colour(), toSun: direction(), up: direction(), wire: { value: false } },
    vertexShader: `
      uniform highp sampler2D poses, tints; uniform vec3 toSun, up; varying vec2 disc; varying vec3 flat_, deep, tint; varying vec4 lit; varying vec4 depth;
      void main() {
        int copy = gl_VertexID / 3; ${FETCH}
        vec4 centre = modelViewMatrix * pose * vec4(0.0, 0.0, 0.0, 1.0);
        float r = length(pose[0].xyz);
        vec3 z = normalize(-centre.xyz), x = normalize(cross(vec3(0.0, 1.0, 0.0), z)), y = cross(z, x), across = position.x * x + position.y * y;
        mat3 toBody = transpose(mat3(viewMatrix) * mat3(pose)) / r;
        vec3 s = mat3(viewMatrix) * toSun, u = mat3(viewMatrix) * up;
        disc = position.xy, flat_ = toBody * across, deep = toBody * z, tint = texelFetch(tints, ivec2(at, row), 0).rgb;
        lit = vec4(dot(across, s), dot(z, s), dot(across, u), dot(z, u));
        gl_Position = projectionMatrix * vec4(centre.xyz + r * across, 1.0);
        vec4 rise = projectionMatrix * vec4(r * z, 0.0); // of the surface above the disc
        depth = vec4(gl_Position.zw, rise.zw);
      }`,
    fragmentShader: `
      uniform vec3 sun, sky, ground; uniform bool wire; varying vec2 disc; varying vec3 flat_, deep, tint; varying vec4 lit; varying vec4 depth;
      void main() {
        float s = dot(disc, disc);
        if (s > 1.0 || (wire && s < 0.7)) discard;
        float z = sqrt(1.0 - s);
        gl_FragDepth = 0.5 + 0.5 * (depth.x + z * depth.z) / (depth.y + z * depth.w);
        vec3 n = flat_ + z * deep; // on the ball, in its own axes
        vec3 light = sun * max(0.0, lit.x + z * lit.y) + mix(ground, sky, 0.5 + 0.5 * (lit.z + z * lit.w));
        gl_FragColor = vec4(tint * light * (n.x * n.y * n.z > 0.0 ? 1.0 : 0.72), 1.0);
        #include <colorspace_fragment>
      }`,
  });
}
