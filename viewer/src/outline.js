// outline.js -- the edge around the selected body: its shapes once more, larger by a few pixels, their far sides only.
import * as THREE from "three";

const WIDTH = 3; // pixels

export class Outline {
  constructor(scene) {
    this.group = new THREE.Group();
    this.items = []; // { mesh, body, local }
    scene.add(this.group);
    this.material = { colour: { value: new THREE.Color() }, pixel: { value: 1 } };
  }

  clear() {
    for (const { mesh } of this.items) this.group.remove(mesh), mesh.geometry.dispose(), mesh.material.dispose();
    this.items = [];
  }

  // A shape: its geometry, and its place in the axes of its body.
  add(geometry, body, local) {
    geometry.computeBoundingBox();
    const middle = geometry.boundingBox.getCenter(new THREE.Vector3()), half = geometry.boundingBox.getSize(new THREE.Vector3()).multiplyScalar(0.5).max(new THREE.Vector3(1e-9, 1e-9, 1e-9));
    const mesh = new THREE.Mesh(geometry, new THREE.ShaderMaterial({
      side: THREE.BackSide, uniforms: { ...this.material, middle: { value: middle }, half_: { value: half } },
      vertexShader: `
        uniform vec3 middle, half_; uniform float pixel;
        void main() {
          vec3 out_ = (position - middle) / half_; // a corner of a box is moved along its diagonal, a point of a ball along its normal
          out_ /= max(max(abs(out_.x), abs(out_.y)), max(abs(out_.z), 1e-9));
          mat3 turn = mat3(normalize(modelMatrix[0].xyz), normalize(modelMatrix[1].xyz), normalize(modelMatrix[2].xyz));
          vec4 at = modelViewMatrix * vec4(position, 1.0);
          at.xyz -= mat3(viewMatrix) * (turn * out_) * pixel * at.z;
          gl_Position = projectionMatrix * at;
        }`,
      fragmentShader: "uniform vec3 colour; void main() { gl_FragColor = vec4(colour, 1.0); \n#include <colorspace_fragment>\n}",
    }));
    mesh.matrixAutoUpdate = false, mesh.frustumCulled = false;
    this.group.add(mesh), this.items.push({ mesh, body, local });
  }

  // `matrix`: of a body. `tall`: the height of the picture in pixels.
  place(matrix, camera, tall) {
    this.material.pixel.value = (WIDTH * 2 * Math.tan((camera.fov * Math.PI) / 360)) / Math.max(1, tall);
    for (const { mesh, body, local } of this.items) mesh.matrix.multiplyMatrices(matrix(body), local), mesh.visible = !Number.isNaN(mesh.matrix.elements[12]);
  }
}
