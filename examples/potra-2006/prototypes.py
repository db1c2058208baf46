#!/usr/bin/env python3
"""prototypes.py [NAME...] -- writes pawl, rover and jacks, the scenes after section 10.4 of the paper, beside itself."""
import math
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "toys"))
from scenes import number, vector, write  # noqa: E402 pylint: disable=wrong-import-position

PAPER = "Potra, Anitescu, Gavrea & Trinkle 2006, section 10.4"


# ---- meshes as CAD programs make them: an outline, cut into triangles, between two levels ------------------------------------


def turn(a, b, c):
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def ears(points):
    """A simple polygon, counter-clockwise, as triangles (numbers of points): ear after ear is cut off."""
    left, triangles = list(range(len(points))), []
    while len(left) > 3:
        for k in range(len(left)):
            i, j, l = left[k - 1], left[k], left[(k + 1) % len(left)]
            a, b, c = points[i], points[j], points[l]
            others = (points[m] for m in left if m not in (i, j, l))
            if turn(a, b, c) > 1e-12 and not any(turn(a, b, p) >= 0 and turn(b, c, p) >= 0 and turn(c, a, p) >= 0 for p in others):
                triangles.append((i, j, l))
                del left[k]
                break
    return triangles + [tuple(left)]


def refined(points, triangles, count):
    """At least this many triangles: the longest edge is halved, in both triangles beside it."""
    points, triangles = list(points), list(triangles)

    def length(edge):
        return math.dist(points[edge[0]], points[edge[1]])

    while len(triangles) < count:
        a, b = max((tuple(sorted((t[k - 1], t[k]))) for t in triangles for k in range(3)), key=lambda edge: (length(edge), edge))
        points.append(tuple((x + y) / 2 for x, y in zip(points[a], points[b])))
        new = []
        for t in triangles:
            if a in t and b in t:
                new += [tuple(len(points) - 1 if v == a else v for v in t), tuple(len(points) - 1 if v == b else v for v in t)]
            else:
                new.append(t)
        triangles = new
    return points, triangles


def lamina(name, outline, low, high, count=50):
    """An OBJ file: a plate with this outline, each face of it cut into so many triangles."""
    points, triangles = refined(outline, ears(outline), count)
    n = len(points)
    faces = [(c, b, a) for a, b, c in triangles] + [(a + n, b + n, c + n) for a, b, c in triangles]
    edges = {(t[k - 1], t[k]) for t in triangles for k in range(3)}
    for a, b in sorted(edges):
        if (b, a) not in edges:  # on the border
            faces += [(a, b, b + n), (a, b + n, a + n)]
    with open(os.path.join(HERE, name + ".obj"), "w", encoding="utf-8") as out:
        out.write(f"# {len(triangles)} triangles a face; lengths in mm; made by prototypes.py\n")
        for z in (low, high):
            out.writelines(f"v {x:.9g} {y:.9g} {z:.9g}\n" for x, y in points)
        out.writelines(f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in faces)


def pawl():
    """In millimetres, in the plane of the disk. The pawl comes from the left; the lever above it has its pivot at the left, too."""
    half, clear = 0.3, 0.01
    lamina("pawl", [(0, -half), (1.9, -half), (2.3, -0.12), (2.3, 0.08), (1.95, half), (1.3, half), (1.3, 0.14), (0.95, 0.14), (0.85, half), (0, half)], 0, 0.25)
    # the hole: the pawl's outline, a little wider, open to the left and above where the lever is
    wall, end = half + clear, 2.6
    lamina("hole", [(-1, -0.8), (end + 0.4, -0.8), (end + 0.4, 0.9), (end - 0.36, 0.9), (end - 0.36, wall + 0.01), (end - 0.01, 0.09), (end - 0.01, -0.13),
                    (end - 0.41, -wall), (-1, -wall)], 0, 0.25)
    lamina("disk", [(0.7 + 2.5 * math.cos(2 * math.pi * k / 16), 2.5 * math.sin(2 * math.pi * k / 16)) for k in range(16)], -0.3, 0)
    pivot, tip = (0.85, 0.55), (1.45, 0.16)  # of the lever: a pull at the tip turns it into the notch
    beam = [(pivot[0] - 0.05, 0.45), (tip[0] - 0.02, 0.45), (tip[0] - 0.02, 0.62), (pivot[0] - 0.05, 0.62)]
    hook = [(tip[0] - 0.22, 0.45), (tip[0] - 0.06, tip[1]), (tip[0], tip[1]), (tip[0], 0.45), (tip[0], 0.62), (tip[0] - 0.22, 0.62)]

    def prism(outline):
        return [vector(x * 1e-3, y * 1e-3, z * 1e-3) for x, y in outline for z in (0.02, 0.22)]

    nickel = {"density": 8900, "friction": 0.15}
    write("pawl", {
        "name": "pawl",
        "description": f"A pawl of 2.3 mm slides over a disk into a hole of its own shape. It passes a lever on a spring; the hook of the lever drops into "
        f"the notch of the pawl. Then the pawl is pulled back (after an application in {PAPER}; shapes and numbers are ours). Look for: the hook holds it. CAD has cut each flat face into about 50 "
        "triangles, so dozens of corners touch. drop_redundant keeps only those that the others do not imply. With --set "
        "simulation/drop_redundant=false --set simulation/all_points=true all of them are in the step problem.",
        # lengths and speeds for parts of this size, under every preset
        "simulation": {"h": 0.0005, "end": 0.5, "drop_redundant": True, "margin": 2e-5, "active_gap": 1e-10, "correction_speed": 0.05, "restitution_speed": 1e-4},
        "ground": [
            {"name": "disk", "type": "mesh", "file": "disk.obj", "scale": 0.001, "friction": 0.15},
            {"name": "hole", "type": "mesh", "file": "hole.obj", "scale": 0.001, "friction": 0.15},
        ],
        "bodies": [
            {"name": "pawl", "position": [-0.0012, 0, 0], "recentre": True, "shapes": [{"type": "mesh", "file": "pawl.obj", "scale": 0.001, **nickel}]},
            {"name": "pusher", "position": [-0.00145, 0, 0.000125], "shapes": [{"type": "box", "size": [0.0005, 0.0003, 0.0002], **nickel}]},
            {"name": "lever", "position": [0, 0, 0], "recentre": True,
             "shapes": [{"name": "beam", "type": "hull", "points": prism(beam), **nickel}, {"name": "hook", "type": "hull", "points": prism(hook), **nickel}]},
        ],
        "joints": [
            {"name": "slide", "type": "prismatic", "b": "pusher", "axis": [1, 0, 0],
             "motor": {"type": "motion", "target": 0.001, "profile": "table", "table": [[0, 0], [0.02, 0.04], [0.3, 1.46], [0.32, 1.48], [0.34, 1.46], [0.4, 0.9]]}},
            {"name": "pivot", "type": "revolute", "b": "lever", "point": vector(pivot[0] * 1e-3, pivot[1] * 1e-3, 0.000125), "axis": [0, 0, 1],
             "stiffness": 2e-7, "damping": 2e-10, "rest": -0.1, "lower": 0},
        ],
        "forces": [{"name": "pull", "body": "pawl", "force": [-2e-4, 0, 0], "profile": "table", "table": [[0.4, 0], [0.42, 1], [0.5, 1]]}],
    }, HERE)


def rover():
    """Two axles, of which the front one tilts about the length of the vehicle, so that all four wheels stay on the ground."""
    spacing, columns, rows = 0.25, 49, 25

    def height(x, y):
        return 0.12 * math.sin(1.1 * x + 0.4) * math.cos(0.8 * y) + 0.05 * math.sin(2.3 * x - 1.7 * y) + 0.02 * x

    terrain = [[number(round(height((i - (columns - 1) / 2) * spacing, (j - (rows - 1) / 2) * spacing), 4)) for i in range(columns)] for j in range(rows)]
    start, radius = -4.2, 0.22
    hubs = (("front left", 0.45, 0.36), ("front right", 0.45, -0.36), ("rear left", -0.45, 0.36), ("rear right", -0.45, -0.36))
    axle = number(round(max(height(start + x, y) for _, x, y in hubs) + radius + 0.03, 2))
    bodies = [
        {"name": "chassis", "position": vector(start, 0, axle + 0.14), "shapes": [{"type": "box", "size": [1.1, 0.5, 0.16], "density": 300}]},
        {"name": "front axle", "position": vector(start + 0.45, 0, axle), "shapes": [{"type": "box", "size": [0.1, 0.5, 0.1], "density": 1000}]},
    ]
    joints = [{"name": "bogie", "type": "revolute", "a": "chassis", "b": "front axle", "point": vector(start + 0.45, 0, axle), "axis": [1, 0, 0],
               "lower": -0.4, "upper": 0.4}]
    for name, x, y in hubs:
        bodies.append({"name": name, "position": vector(start + x, y, axle), "shapes": [
            {"type": "cylinder", "radius": radius, "length": 0.14, "axis": [0, 1, 0], "density": 250, "friction": 0.8}]})
        joints.append({"name": f"{name} hub", "type": "revolute", "a": "front axle" if x > 0 else "chassis", "b": name, "point": vector(start + x, y, axle),
                       "axis": [0, 1, 0], "motor": {"type": "speed", "target": 3, "max_force": 60, "profile": "table", "table": [[0.5, 0], [1, 1], [8, 1], [8.5, 0]]}})
    # the arm: a turntable, two long links, up and folded forward; it reaches out while the rover drives
    base = (start - 0.2, axle + 0.22)
    arm = [("turntable", (0, 0.05), [0.16, 0.16, 0.1], [0, 0, 1], (0, 0), 0.6), ("upper arm", (0, 0.3), [0.07, 0.07, 0.4], [0, 1, 0], (0, 0.1), 0.5),
           ("forearm", (0.2, 0.5), [0.4, 0.06, 0.06], [0, 1, 0], (0, 0.5), 0.4), ("hand", (0.46, 0.5), [0.12, 0.1, 0.04], [0, 1, 0], (0.4, 0.5), -0.6)]
    below = "chassis"
    for name, (x, z), size, axis, (px, pz), angle in arm:
        bodies.append({"name": name, "position": vector(base[0] + x, 0, base[1] + z), "shapes": [{"type": "box", "size": size, "density": 600}]})
        joints.append({"name": f"{name} drive", "type": "revolute", "a": below, "b": name, "point": vector(base[0] + px, 0, base[1] + pz), "axis": axis,
                       "motor": {"type": "position", "target": angle, "stiffness": 400, "damping": 40, "profile": "table", "table": [[1, 0], [4, 1], [6, -0.5], [8, 0]]}})
        below = name
    write("rover", {
        "name": "rover",
        "description": f"A rover on four driven wheels, with an arm, crosses rough ground (after an application in {PAPER}; shapes and numbers are ours). The front axle tilts, "
        "so every wheel stays on the ground. Look for: it drives through a hollow and up the other side, as far as its wheels roll minus their slip. With --set "
        "ground/terrain/friction=0.02 it cannot climb the other side.",
        "simulation": {"preset": "potra-2006", "events": "off", "drift": "gap", "h": 0.005, "end": 10},
        "ground": [{"name": "terrain", "type": "height-field", "spacing": spacing, "heights": terrain, "friction": 0.8}],
        "bodies": bodies,
        "joints": joints,
    }, HERE)


def jacks(count=24):
    """Three square bars through one another, as one mesh: 12 hollow edges in the middle, 24 sharp corners at the ends."""
    bar, reach = 0.01, 0.05
    points = [(x, y, z) for x in (-bar, bar) for y in (-bar, bar) for z in (-bar, bar)]
    number_of = {p: k for k, p in enumerate(points)}
    triangles = []
    for axis in range(3):
        for side in (-1, 1):
            # round the arm, as seen from its end
            loop = [(-bar, -bar), (bar, -bar), (bar, bar), (-bar, bar)][::side]
            ring = []
            for level in (bar, reach):
                for u, v in loop:
                    p = [0, 0, 0]
                    p[axis], p[(axis + 1) % 3], p[(axis + 2) % 3] = side * level, u, v
                    number_of.setdefault(tuple(p), len(number_of))
                    ring.append(number_of[tuple(p)])
            for k in range(4):
                a, b = ring[k], ring[(k + 1) % 4]
                triangles += [(a, b, ring[4 + (k + 1) % 4]), (a, ring[4 + (k + 1) % 4], ring[4 + k])]
            triangles += [(ring[4], ring[5], ring[6]), (ring[4], ring[6], ring[7])]
    with open(os.path.join(HERE, "jack.obj"), "w", encoding="utf-8") as out:
        out.write("# three bars through one another, one solid; lengths in m; made by prototypes.py\n")
        out.writelines(f"v {x:.9g} {y:.9g} {z:.9g}\n" for x, y, z in sorted(number_of, key=number_of.get))
        out.writelines(f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in triangles)
    bodies, seed = [], 1

    def random():  # the same on every machine
        nonlocal seed
        seed = seed * 16807 % 2147483647
        return seed / 2147483647

    for k in range(count):
        axis = [random() - 0.5 for _ in range(3)]
        x, y = [(-1, -1), (1, -1), (-1, 1), (1, 1)][k % 4]
        bodies.append({"name": f"jack {k + 1}", "position": vector(0.055 * x + 0.01 * random(), 0.055 * y + 0.01 * random(), 0.08 + 0.105 * (k // 4)),
                       "orientation": {"axis": vector(*(round(a, 3) for a in axis)), "angle": number(round(3 * random(), 3))},
                       "shapes": [{"type": "mesh", "file": "jack.obj", "density": 2700, "friction": 0.4}]})
    write("jacks", {
        "name": "jacks",
        "description": f"A heap of jacks with corners over corners and edges over edges, where the set of allowed motions is not convex. {PAPER}, report such a heap that "
        "could not be simulated to its end with linearised gaps. Look for: the jacks hook into each other, none passes through another, and all come to rest, in a "
        "higher heap than balls would form.",
        "simulation": {"h": 0.002, "end": 3},
        "ground": [{"name": "floor", "type": "plane", "friction": 0.4}],
        "bodies": bodies,
    }, HERE)


SCENES = {"pawl": pawl, "rover": rover, "jacks": jacks}

if __name__ == "__main__":
    for wanted in sys.argv[1:] or SCENES:
        SCENES[wanted]()
