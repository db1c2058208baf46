#!/usr/bin/env python3
"""scenes.py [NAME...] -- writes the scenes of this folder that have many and regular bodies, beside itself."""
import json
import math
import os
import sys


def number(x):
    return float(f"{x:.9g}")


def vector(*x):
    return [number(v) for v in x]


def line(thing):
    return json.dumps(thing, separators=(", ", ": "))


def write(name, scene, folder=os.path.dirname(os.path.abspath(__file__))):
    """One line a member of a list, so that a diff and a reader see bodies, not braces."""
    parts = []
    for key, value in scene.items():
        if isinstance(value, list):
            value = "[\n" + ",\n".join("    " + line(v) for v in value) + "\n  ]"
        else:
            value = line(value)
        parts.append(f'  "{key}": {value}')
    with open(os.path.join(folder, name + ".json"), "w", encoding="utf-8") as out:
        out.write("{\n" + ",\n".join(parts) + "\n}\n")


def arch(count=15, inner=0.5, thickness=0.1, depth=0.15):
    """Half a ring of wedges; below them a drum that is lowered."""
    outer, half = inner + thickness, math.pi / (2 * count)
    middle = inner + thickness / 2
    stones = []
    for k in range(count):
        a = math.pi - math.pi * (k + 0.5) / count
        points = []
        for r, s, y in ((r, s, y) for r in (inner, outer) for s in (-1, 1) for y in (-depth / 2, depth / 2)):
            points.append(vector(r * math.sin(s * half), y, r * math.cos(half) - middle))
        stones.append({
            "name": f"stone {k + 1}", "position": vector(middle * math.cos(a), 0, middle * math.sin(a)), "recentre": True,
            "orientation": {"axis": [0, 1, 0], "angle": number(math.pi / 2 - a)},
            "shapes": [{"type": "hull", "points": points, "density": 2400, "friction": 0.7}],
        })
    radius = inner * math.cos(half) - 1e-4
    drum = {"name": "centring", "mass": 5, "inertia": 1,
            "shapes": [{"type": "cylinder", "radius": number(radius), "length": 0.1, "axis": [0, 1, 0], "friction": 0.3}]}
    write("stone-arch", {
        "name": "stone arch",
        "description": "Fifteen stones without mortar lie on a drum, which is then lowered. Look for: they stay. The arrows show "
        "the line of thrust. It stays within the stones if they are thicker than 0.1075 of their mean radius "
        "(Milankovitch, 1907).",
        "simulation": {"h": 0.002, "end": 3, "tolerance": 1e-6, "margin": 0.001},
        "ground": [
            {"name": "left footing", "type": "box", "size": [0.2, 0.3, 0.5], "position": vector(-inner - 0.1, 0, -0.25), "friction": 0.7},
            {"name": "right footing", "type": "box", "size": [0.2, 0.3, 0.5], "position": vector(inner + 0.1, 0, -0.25), "friction": 0.7},
        ],
        "bodies": stones + [drum],
        "joints": [{"name": "jack", "type": "prismatic", "b": "centring", "axis": [0, 0, -1],
                    "motor": {"type": "motion", "target": 0.35, "profile": "table", "table": [[0, 0], [0.4, 0], [0.6, 0.02], [1.8, 1], [2, 1]]}}],
    })


def chain_on_peg(links=40, pitch=0.03, around=7, shorter=10):
    """Capsules joined end to end over a round peg, straight down on both sides; the one side is longer."""
    radius, turn = 0.006, math.pi / around
    ring = pitch / 2 / math.sin(turn / 2)  # the corners' circle
    corner = [(-ring, -pitch * k) for k in range(shorter, 0, -1)]
    corner += [(-ring * math.cos(turn * k), ring * math.sin(turn * k)) for k in range(around + 1)]
    corner += [(ring, -pitch * k) for k in range(1, links - shorter - around + 1)]
    bodies, joints = [], []
    for k in range(links):
        (x0, z0), (x1, z1) = corner[k], corner[k + 1]
        bodies.append({"name": f"link {k + 1}", "position": vector((x0 + x1) / 2, 0, (z0 + z1) / 2), "locks": "planar-xz",
                       "shapes": [{"type": "capsule", "radius": radius, "length": pitch, "axis": vector(x1 - x0, 0, z1 - z0),
                                   "density": 7800, "friction": 0.2}]})
        if k > 0:
            joints.append({"type": "revolute", "a": f"link {k}", "b": f"link {k + 1}", "point": vector(x0, 0, z0), "axis": [0, 1, 0]})
    peg = ring * math.cos(turn / 2) - radius  # touches the middles of the links
    write("chain-on-peg", {
        "name": "chain on a peg",
        "description": "A chain hangs over a peg, longer on one side. It slides off, slowly at first, then faster and faster. "
        "Look for: the tail that whips over the peg. With a friction of 0.3 instead of 0.2 it stays forever (Euler's "
        "rope: exp(mu pi) on one side holds 1 on the other).",
        "simulation": {"h": 0.001, "end": 0.9, "tolerance": 1e-8, "margin": 0.002},
        "ground": [{"name": "peg", "type": "cylinder", "radius": number(peg), "length": 0.12, "axis": [0, 1, 0], "friction": 0.2}],
        "bodies": bodies,
        "joints": joints,
    })


def card_house(length=0.088, width=0.063, thick=0.0005, lean=0.38):
    """Two pairs of cards, one across, a pair on top of it; then a marble."""
    c, s = math.cos(lean), math.sin(lean)
    rise = length * c + thick * s  # of a pair
    span = 2 * length * s + 2 * thick * c + 0.002
    cards = []

    def card(name, x, z, angle):
        cards.append({"name": name, "position": vector(x, 0, z), "orientation": {"axis": [0, 1, 0], "angle": number(angle)},
                      "shapes": [{"type": "box", "size": [thick, width, length], "density": 1200, "friction": 0.6}]})

    def pair(name, x, floor):
        """Leaning on each other along their upper edges, above x."""
        for side in (-1, 1):
            card(f"{name} {'left' if side < 0 else 'right'}", x + side * (thick / 2 * c + length / 2 * s), floor + rise / 2, -side * lean)

    pair("west", -span / 2, 0)
    pair("east", span / 2, 0)
    card("floor", 0, rise + thick / 2, math.pi / 2)
    pair("top", 0, rise + thick)
    marble = {"name": "marble", "position": [-0.16, 0.006, 0.01],
              "shapes": [{"type": "sphere", "radius": 0.01, "density": 7800, "friction": 0.6}]}
    write("card-house", {
        "name": "card house",
        "description": "Seven cards stand by friction alone, until a marble rolls in. Look for: nothing moves for two seconds. A "
        "pair of cards at an angle a to the vertical needs a friction coefficient of tan(a)/2 under its feet, and falls "
        "flat with less.",
        "simulation": {"h": 0.001, "end": 3, "tolerance": 1e-7, "margin": 0.0005},
        "ground": [{"name": "table", "type": "plane", "friction": 0.6}],
        "bodies": cards + [marble],
        "forces": [{"name": "flick", "body": "marble", "force": [0.9, 0, 0], "profile": "table", "table": [[1.99, 0], [2, 1], [2.05, 1], [2.06, 0]]}],
    })


def hourglass(grains=260, radius=0.004, neck=0.0160):
    """Two cones that meet in a neck, a sheet of triangles turned about z, over a closed bottom; grains above."""
    height, wide, sides = 0.1, 0.055, 24
    profile = [(wide, height + 0.03), (wide, height), (neck, 0.008), (neck, -0.008), (wide, -height), (wide, -height - 0.03)]
    points = [vector(r * math.cos(2 * math.pi * k / sides), r * math.sin(2 * math.pi * k / sides), z) for r, z in profile for k in range(sides)]
    triangles = []
    for ring in range(len(profile) - 1):
        for k in range(sides):
            a, b = ring * sides + k, ring * sides + (k + 1) % sides
            triangles += [[a, a + sides, b], [b, a + sides, b + sides]]
    bodies, layer, z = [], 0, 0.03
    pitch = 2.08 * radius
    while len(bodies) < grains:
        room = min(wide, neck + (wide - neck) * (z - 0.008) / (height - 0.008)) - 1.25 * radius
        shift = 0.5 * pitch * (layer % 2)
        n = int(room / pitch) + 1
        for i in range(-n, n + 1):
            for k in range(-n, n + 1):
                x, y = pitch * i + shift, pitch * k + shift
                if math.hypot(x, y) <= room and len(bodies) < grains:
                    bodies.append({"name": f"grain {len(bodies) + 1}", "position": vector(x, y, z), "shapes": [{"type": "sphere", "radius": radius, "density": 2500, "friction": 0.3}]})
        z += 0.74 * pitch
        layer += 1
    write("hourglass", {
        "name": "hourglass",
        "description": "Two hundred and sixty grains run through a neck four grains wide. Look for: as many grains pass in the "
        "last tenth of a second as in the first, because the walls carry the grains above. Water would slow down.",
        "simulation": {"h": 0.001, "end": 1, "tolerance": 1e-4, "margin": 0.001},
        "ground": [{"name": "glass", "type": "mesh", "points": points, "triangles": triangles, "friction": 0.3},
                   {"name": "bottom", "type": "plane", "position": [0, 0, -height - 0.03], "friction": 0.3}],
        "bodies": bodies,
    })


def prism(outline, half):
    """A hull with this outline (x, z) and half a thickness along y."""
    return [vector(x, y, z) for x, z in outline for y in (-half, half)]


def ratchet(teeth=12, inner=0.08, outer=0.1, half=0.005):
    """Saw teeth on a wheel, and a pawl that drops in after each of them."""
    pitch = 2 * math.pi / teeth
    shapes = [{"type": "cylinder", "radius": number(inner * math.cos(pitch / 2)), "length": 2 * half, "axis": [0, 1, 0], "density": 2700}]
    for k in range(teeth):  # angles from the top, clockwise: each tooth rises slowly and ends in a radial face
        a, b = k * pitch - 0.01, (k + 1) * pitch - 0.01
        corners = [(0.6 * inner, a), (0.6 * inner, b), (inner, a), (inner, b), (outer, b)]
        shapes.append({"type": "hull", "points": prism([(r * math.sin(t), r * math.cos(t)) for r, t in corners], half), "density": 2700, "friction": 0.2})
    pivot, low = (0.09, 0.104), 0.0835  # its end is before a face and below its pivot, so a push holds it down
    pawl = prism([(0.001, low), (0.001, low + 0.01), (pivot[0] + 0.006, pivot[1] + 0.004), (pivot[0] + 0.006, pivot[1] - 0.004)], half)
    write("ratchet", {
        "name": "ratchet",
        "description": "A torque turns a wheel back and forth, and a pawl lets it turn one way only. Look for: the wheel clicks "
        "forward tooth by tooth, and turns back by less than one tooth, until the force of the pawl passes through its "
        "pivot.",
        "simulation": {"h": 0.001, "end": 4},
        "bodies": [
            {"name": "wheel", "locks": "planar-xz", "shapes": shapes},
            {"name": "pawl", "recentre": True, "locks": "planar-xz", "shapes": [{"type": "hull", "points": pawl, "density": 7800, "friction": 0.2}]},
        ],
        "joints": [
            {"name": "axle", "type": "revolute", "b": "wheel", "point": [0, 0, 0], "axis": [0, -1, 0], "damping": 0.02,
             "motor": {"type": "force", "target": 0.12, "profile": "harmonic", "frequency": number(2 * math.pi)}},
            {"name": "pivot", "type": "revolute", "b": "pawl", "point": vector(pivot[0], 0, pivot[1]), "axis": [0, 1, 0]},
        ],
    })


def escapement(teeth=15, R=0.1, half=0.004):
    """Graham's dead-beat escapement: pallets 3.5 teeth apart, where the tangents from the pivot touch the wheel, so that they move
    along its radius. A tooth rests on the radial face of a pallet, and when that lets it go pushes at its slanted end."""
    pitch = 2 * math.pi / teeth
    span, wide = 1.75 * pitch, 10 * math.pi / 180  # of the pallets from the top, and of each: half a pitch less the drop
    depth, lock = 0.08 * R, 0.03 * R  # of the slanted end; by how much a tooth is caught
    clear = 0.5 * (depth - lock)
    pivot = R / math.cos(span)
    shapes = [{"type": "cylinder", "radius": 0.06, "length": 2 * half, "axis": [0, 1, 0], "density": 1000}]
    for k in range(teeth):  # spikes; one of them rests on the right pallet
        a = span + k * pitch - 0.02
        side, up = (math.cos(a), -math.sin(a)), (math.sin(a), math.cos(a))
        outline = [(r * up[0] + w * side[0], r * up[1] + w * side[1]) for r, w in ((0.055, -0.003), (0.055, 0.003), (R, -0.0007), (R, 0.0))]
        shapes.append({"type": "hull", "points": prism(outline, half), "density": 1000, "friction": 0.1})
    pallets = []
    for name, a in (("entry", -span), ("exit", span)):
        corners = [(R + clear, a), (R + clear - depth, a + wide), (1.25 * R, a + wide), (1.25 * R, a)]
        pallets.append({"name": name, "type": "hull", "points": prism([(r * math.sin(t), r * math.cos(t)) for r, t in corners], half),
                        "density": 2700, "friction": 0.1})
        arm = [(0, pivot - 0.006), (0, pivot + 0.006)] + [(1.25 * R * math.sin(t), 1.25 * R * math.cos(t)) for t in (a, a + wide)]
        pallets.append({"name": f"{name} arm", "type": "hull", "points": prism(arm, half), "density": 2700})
    y, length = 0.03, 0.25
    pendulum = [
        {"name": "rod", "type": "box", "size": [0.006, 0.006, number(length)], "position": vector(0, y, pivot - length / 2), "density": 1200},
        {"name": "bob", "type": "cylinder", "radius": 0.03, "length": 0.02, "axis": [0, 1, 0], "position": vector(0, y, pivot - length), "density": 7800},
    ]
    lean = 0.14
    turned = {"orientation": {"axis": [0, 1, 0], "angle": lean}, "position": vector(-pivot * math.sin(lean), 0, pivot * (1 - math.cos(lean)))}
    write("escapement", {
        "name": "escapement",
        "description": "A pendulum clock with Graham's dead-beat escapement. Look for: one tooth passes per period of the "
        "pendulum. The teeth rest on the radial faces of the pallets and push on their slanted ends, which keeps the "
        "pendulum swinging against friction.",
        "simulation": {"h": 0.0005, "end": 6},
        "bodies": [
            {"name": "wheel", "locks": "planar-xz", "shapes": shapes},
            {"name": "pendulum", "recentre": True, "locks": "planar-xz", **turned, "shapes": pallets + pendulum},
        ],
        "joints": [
            {"name": "arbor", "type": "revolute", "b": "wheel", "point": [0, 0, 0], "axis": [0, 1, 0], "damping": 1e-4,
             "motor": {"type": "force", "target": 0.011}},
            {"name": "pivot", "type": "revolute", "b": "pendulum", "point": vector(0, 0, pivot), "axis": [0, 1, 0], "damping": 0.0005},
        ],
    })


SCENES = {"stone-arch": arch, "chain-on-peg": chain_on_peg, "card-house": card_house, "hourglass": hourglass, "ratchet": ratchet,
          "escapement": escapement}

if __name__ == "__main__":
    for wanted in sys.argv[1:] or SCENES:
        SCENES[wanted]()
