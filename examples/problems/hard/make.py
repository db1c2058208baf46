#!/usr/bin/env python3
"""make.py FAMILY SIZE SEED FILE -- hard contact problems, as many and as large as you like.

    mass-ratio   a pile of SIZE spheres in a box, masses drawn from 1 to 1e6 (log-uniform)
    redundant    a pile of SIZE bricks with 8 contact points on every face that touches
    chain        SIZE links with ball joints between them, lying on a rough floor
    stack        SIZE boxes on each other, masses growing to 1e6 towards the top, mu from 0.1 to 5
    rubble       SIZE stones, masses drawn from 1 to 1e6, each on three others with up to three contacts per pair
    spheres      a pile of SIZE spheres in a box, in the packing of cannon balls (about 5 contacts per sphere)
    lcp          the frictional pyramids (4 facets) of SIZE spheres as a linear complementarity problem

The same arguments give the same file. FILE ends in .hdf5; docs/problems.md has the layout. Needs the Python module of
stiction and nothing else.
"""
import math
import random
import sys

import stiction

H = 0.01  # time step [s]
G = 9.81


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def frame(n):
    """The normal n and two tangents."""
    t = (0.0, 0.0, 1.0) if abs(n[2]) < 0.7 else (1.0, 0.0, 0.0)
    o = cross(n, t)
    length = math.sqrt(sum(x * x for x in o))
    o = tuple(x / length for x in o)
    return n, cross(o, n), o


class World:
    """Bodies with a mass and a moment of inertia, contacts with a point and a normal, ball joints."""

    def __init__(self):
        self.position, self.mass, self.inertia, self.velocity = [], [], [], []
        self.contacts, self.joints = [], []

    def body(self, position, mass, radius, velocity=(0.0, 0.0, 0.0)):
        self.position.append(position)
        self.mass.append(mass)
        self.inertia.append(0.4 * mass * radius * radius)
        self.velocity.append(velocity)
        return len(self.mass) - 1

    def contact(self, a, b, point, normal, mu):
        """The normal points from a to b; a is -1 for the ground."""
        self.contacts.append((a, b, point, normal, mu))

    def column(self, a, b, point, d):
        """Entries of the row d . (velocity of b - velocity of a) at the point, as (velocity, value)."""
        out = []
        for body, sign in ((a, -1.0), (b, 1.0)):
            if body < 0:
                continue
            lever = [point[k] - self.position[body][k] for k in range(3)]
            row = list(d) + list(cross(lever, d))
            out += [(6 * body + k, sign * x) for k, x in enumerate(row) if x != 0.0]
        return out

    def problem(self):
        n = len(self.mass)
        weight = [x for m, i in zip(self.mass, self.inertia) for x in (m, m, m, i, i, i)]
        f = [0.0] * (6 * n)
        for k in range(n):
            v = list(self.velocity[k])
            v[2] -= H * G
            for d in range(3):
                f[6 * k + d] = self.mass[k] * v[d]
        p, i, x = [0], [], []
        for a, b, point, normal, mu in self.contacts:
            for d in frame(normal):
                for row, value in self.column(a, b, point, d):
                    i.append(row)
                    x.append(value)
                p.append(len(i))
        matrices = {"M": (weight, list(range(6 * n)), list(range(6 * n + 1))), "H": (x, i, p)}
        if self.joints:
            gp, gi, gx = [0], [], []
            for a, b, point in self.joints:
                for d in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)):
                    for row, value in self.column(a, b, point, d):
                        gi.append(row)
                        gx.append(value)
                    gp.append(len(gi))
            matrices["G"] = (gx, gi, gp)
            matrices["b"] = [0.0] * (3 * len(self.joints))
        mu = [c[4] for c in self.contacts]
        return stiction.FrictionProblem(mu, f=f, w=[0.0] * (3 * len(mu)), **matrices)


def cannon_balls(size, rng, mass, mu):
    """Spheres in layers on a floor between four walls, each layer in the hollows of the one below; every sphere is moved
    a little, so that no two contacts have the same direction, and some gaps are taken to be closed."""
    world = World()
    side = max(2, round((size / 1.4) ** (1 / 3)))
    radius, rise = 0.5, math.sqrt(0.5)
    where = {}
    layer = 0
    while len(world.mass) < size:
        inner = side - layer % 2
        for ix in range(inner):
            for iy in range(inner):
                if len(world.mass) == size:
                    break
                shift = 0.5 * (layer % 2)
                at = [ix + shift, iy + shift, radius + layer * rise]
                at = tuple(x + rng.uniform(-0.02, 0.02) for x in at)
                velocity = tuple(rng.uniform(-0.05, 0.05) for _ in range(3))
                where[(layer, ix, iy)] = world.body(at, mass(rng), radius, velocity)
        layer += 1
    for (layer, ix, iy), b in sorted(where.items(), key=lambda item: item[1]):
        below = -1 if layer % 2 == 0 else 0
        near = [(layer - 1, ix + dx + below, iy + dy + below) for dx in (0, 1) for dy in (0, 1)]
        near += [(layer, ix - 1, iy), (layer, ix, iy - 1)]
        for key in near:
            if key not in where or (key[0] == layer and rng.random() < 0.7):
                continue
            a = where[key]
            d = [world.position[b][k] - world.position[a][k] for k in range(3)]
            length = math.sqrt(sum(x * x for x in d))
            normal = tuple(x / length for x in d)
            point = tuple(world.position[a][k] + 0.5 * d[k] for k in range(3))
            world.contact(a, b, point, normal, mu(rng))
        x, y, z = world.position[b]
        if layer == 0:
            world.contact(-1, b, (x, y, z - radius), (0.0, 0.0, 1.0), mu(rng))
        if layer % 2 == 0:
            last = side - 1
            for axis, index in ((0, ix), (1, iy)):
                if index in (0, last):
                    normal = [0.0, 0.0, 0.0]
                    normal[axis] = 1.0 if index == 0 else -1.0
                    point = tuple((x, y, z)[k] - radius * normal[k] for k in range(3))
                    world.contact(-1, b, point, tuple(normal), mu(rng))
    return world


def mass_ratio(size, rng):
    return cannon_balls(size, rng, lambda r: 10.0 ** r.uniform(0, 6), lambda r: r.uniform(0.2, 0.8)).problem()


def spheres(size, rng):
    return cannon_balls(size, rng, lambda r: r.uniform(0.8, 1.2), lambda r: 0.5).problem()


def brick_points(x0, x1, y0, y1, z):
    """Eight points around the border of a rectangle."""
    xm, ym = 0.5 * (x0 + x1), 0.5 * (y0 + y1)
    return [(x0, y0, z), (xm, y0, z), (x1, y0, z), (x0, ym, z), (x1, ym, z), (x0, y1, z), (xm, y1, z), (x1, y1, z)]


def redundant(size, rng):
    """A wall of bricks in running bond, two bricks per course, pushed from the side."""
    world = World()
    bricks = []
    for k in range(size):
        course, left = divmod(k, 2)
        x = 2.0 * left + (course % 2) * 1.0
        push = (rng.uniform(-0.1, 0.1), rng.uniform(-0.02, 0.02), 0.0)
        b = world.body((x, 0.0, 0.5 + course), rng.uniform(1.0, 3.0), 0.8, push)
        bricks.append((x - 1.0, x + 1.0, course, b))
        mu = rng.uniform(0.3, 0.9)
        if course == 0:
            for point in brick_points(x - 1.0, x + 1.0, -0.5, 0.5, 0.0):
                world.contact(-1, b, point, (0.0, 0.0, 1.0), mu)
        for x0, x1, other_course, a in bricks:
            low, high = max(x0, x - 1.0), min(x1, x + 1.0)
            if other_course == course - 1 and high > low:
                for point in brick_points(low, high, -0.5, 0.5, float(course)):
                    world.contact(a, b, point, (0.0, 0.0, 1.0), mu)
            if other_course == course and x1 == x - 1.0:
                for point in brick_points(course, course + 1.0, -0.5, 0.5, x1):
                    world.contact(a, b, (point[2], point[1], point[0]), (1.0, 0.0, 0.0), mu)
    return world.problem()


def chain(size, rng):
    """Links along a curve on the floor, two contacts each, ball joints between neighbours, pulled at one end."""
    world = World()
    x, y, heading = 0.0, 0.0, 0.0
    previous = None
    for k in range(size):
        heading += rng.uniform(-0.6, 0.6)
        direction = (math.cos(heading), math.sin(heading), 0.0)
        centre = (x + 0.5 * direction[0], y + 0.5 * direction[1], 0.1)
        pull = tuple(3.0 * d for d in direction) if k in (0, size - 1) else (0.0, 0.0, 0.0)
        b = world.body(centre, rng.uniform(0.5, 2.0), 0.3, pull)
        for at in (0.2, 0.8):
            point = (x + at * direction[0], y + at * direction[1], 0.0)
            world.contact(-1, b, point, (0.0, 0.0, 1.0), rng.uniform(0.2, 0.9))
        if previous is not None:
            world.joints.append((previous, b, (x, y, 0.1)))
        previous = b
        x, y = x + direction[0], y + direction[1]
    return world.problem()


def stack(size, rng):
    """Boxes on each other, four contacts each, shaken."""
    world = World()
    below = -1
    for k in range(size):
        mass = 10.0 ** (6.0 * k / max(1, size - 1))
        shake = (rng.uniform(-0.1, 0.1), rng.uniform(-0.1, 0.1), 0.0)
        b = world.body((0.0, 0.0, 0.5 + k), mass, 0.7, shake)
        for px, py in ((-0.5, -0.5), (0.5, -0.5), (-0.5, 0.5), (0.5, 0.5)):
            world.contact(below, b, (px, py, float(k)), (0.0, 0.0, 1.0), 10.0 ** rng.uniform(-1.0, math.log10(5.0)))
        below = b
    return world.problem()


def rubble(size, rng):
    """Stones that rest on three of the eight stones before them. Contacts of a pair have nearly the same normal."""
    world = World()
    for k in range(size):
        if k < 5:
            below = []
            at = (rng.uniform(-1.0, 1.0), rng.uniform(-1.0, 1.0), 0.3)
        else:
            below = rng.sample(range(max(0, k - 8), k), 3)
            at = tuple(sum(world.position[a][i] for a in below) / 3.0 + rng.gauss(0.0, 0.05) for i in range(3))
            at = (at[0], at[1], at[2] + 0.5)
        velocity = tuple(rng.gauss(0.0, 0.2) for _ in range(3))
        b = world.body(at, 10.0 ** rng.uniform(0, 6), 0.3, velocity)
        if not below:
            world.contact(-1, b, (at[0], at[1], 0.0), (0.0, 0.0, 1.0), rng.uniform(0.2, 1.0))
        for a in below:
            for _ in range(rng.randint(1, 3)):
                point = tuple(0.5 * (x + y) + rng.gauss(0.0, 0.05) for x, y in zip(world.position[a], at))
                normal = [y - x + rng.gauss(0.0, 0.02) for x, y in zip(world.position[a], at)]
                length = math.sqrt(sum(x * x for x in normal))
                world.contact(a, b, point, tuple(x / length for x in normal), rng.uniform(0.2, 1.0))
    return world.problem()


def lcp(size, rng):
    """(N'v, D'v + lambda, mu r_n - sum beta) >= 0: Anitescu & Potra 1997 with four facets."""
    world = cannon_balls(size, rng, lambda r: r.uniform(0.5, 2.0), lambda r: 0.5)
    inverse = [1.0 / x for m, i in zip(world.mass, world.inertia) for x in (m, m, m, i, i, i)]
    velocity = []
    for v in world.velocity:
        velocity += [v[0], v[1], v[2] - H * G, 0.0, 0.0, 0.0]
    rows, q = [], []  # of every impulse its row over the velocities
    for a, b, point, normal, _ in world.contacts:
        n, t, o = frame(normal)
        for d in (n, t, tuple(-x for x in t), o, tuple(-x for x in o)):
            rows.append(dict(world.column(a, b, point, d)))
    touching = {}
    for k, row in enumerate(rows):
        for v in row:
            touching.setdefault(v, []).append(k)
    place = [6 * (k // 5) + k % 5 for k in range(len(rows))]
    columns = [dict() for _ in range(6 * len(world.contacts))]
    for k, row in enumerate(rows):
        for v, value in row.items():
            for other in touching[v]:
                into = columns[place[k]]
                into[place[other]] = into.get(place[other], 0.0) + value * inverse[v] * rows[other][v]
    q = [0.0] * len(columns)
    for k, row in enumerate(rows):
        q[place[k]] = sum(value * velocity[v] for v, value in row.items())
    for c, contact in enumerate(world.contacts):
        columns[6 * c][6 * c + 5] = contact[4]
        for facet in range(1, 5):
            columns[6 * c + facet][6 * c + 5] = -1.0
            columns[6 * c + 5][6 * c + facet] = 1.0
    p, i, x = [0], [], []
    for column in columns:
        for row in sorted(column):
            i.append(row)
            x.append(column[row])
        p.append(len(i))
    return stiction.LcpProblem((x, i, p), q)


FAMILIES = {
    "mass-ratio": mass_ratio,
    "redundant": redundant,
    "chain": chain,
    "stack": stack,
    "rubble": rubble,
    "spheres": spheres,
    "lcp": lcp,
}


def main():
    if len(sys.argv) != 5 or sys.argv[1] not in FAMILIES or not sys.argv[2].isdigit() or not sys.argv[3].isdigit():
        sys.exit(__doc__ + "\nfamilies: " + ", ".join(FAMILIES))
    family, size, seed, path = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    problem = FAMILIES[family](size, random.Random(f"{family} {seed}"))
    problem.write(path, title=f"{family} {size} {seed}", description="examples/problems/hard/make.py")


if __name__ == "__main__":
    main()
