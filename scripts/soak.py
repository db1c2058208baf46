"""soak.py PROGRAM [MINUTES [HOURS]] -- scenes that should stay at rest, for a long simulated time, with sleeping off.

Walls, columns, bowls and piles for MINUTES simulated minutes (10), and four scenes with at most 20 contacts for
HOURS simulated hours (10): a column, a box on an incline, balls in a corner, a robot that stands. A hopper is run
only for its memory. Printed for each: the drift of the second tenth of the run and of the last, memory and
processor time per step early and late. An error is: a drift of the last tenth above that of the second (or, of
the long ones, a drift between the two above 1e-9 m), or memory that grows."""

import csv
import json
import math
import os
import subprocess
import sys
import tempfile

program = sys.argv[1]
minutes = float(sys.argv[2]) if len(sys.argv) > 2 else 10.0
hours = float(sys.argv[3]) if len(sys.argv) > 3 else 10.0
only = sys.argv[4] if len(sys.argv) > 4 else ""
SAMPLES = 2000  # rows of the table of a run
SMALL = 1e-9  # m


def box(name, at, size, **more):
    return {"name": name, "position": at, "shapes": [{"type": "box", "size": size, "friction": 0.6}], **more}


def ball(name, at, radius):
    return {"name": name, "position": at, "shapes": [{"type": "sphere", "radius": radius, "friction": 0.5}]}


plane = {"type": "plane", "friction": 0.6}
funnel = [{"type": "plane", "normal": [a, b, 1]} for a, b in ((1, 0), (-1, 0), (0, 1), (0, -1))]


def wall(rows, columns):
    return [box(f"b{r}_{c}", [0.21 * c + 0.105 * (r % 2), 0, 0.05 + 0.1 * r], [0.2, 0.1, 0.1])
            for r in range(rows) for c in range(columns)]


tilt = math.radians(20)
# name: (scene or example, does it run for hours?, is its drift judged?)
scenes = {
    "column of 4 boxes": ({"ground": [plane], "bodies": [box(f"b{k}", [0, 0, 0.1 + 0.2 * k], [0.2, 0.2, 0.2]) for k in range(4)]},
                          True, True),
    "box on an incline": ({"ground": [plane], "bodies": [box("b", [0, 0, 0.1], [0.2, 0.2, 0.2])],
                           "simulation": {"gravity": [9.81 * math.sin(tilt), 0, -9.81 * math.cos(tilt)]}}, True, True),
    "balls in a corner": ({"ground": [plane, {"type": "plane", "normal": [1, 0, 0.2]}],
                           "bodies": [ball(f"s{k}", [0.1 + 0.2 * k, 0, 0.1], 0.1) for k in range(3)]}, True, True),
    "robot that stands": ("examples/robots/dog-stands.json", True, True),
    "column of 10 boxes": ({"ground": [plane], "bodies": [box(f"b{k}", [0, 0, 0.1 + 0.2 * k], [0.2, 0.2, 0.2]) for k in range(10)]},
                           False, True),
    "wall of 5 x 6": ({"ground": [plane], "bodies": wall(5, 6)}, False, True),
    "bowl of 27 balls": ({"ground": funnel, "bodies": [ball(f"s{k}", [0.1 * (k % 3 - 1), 0.1 * (k // 3 % 3 - 1),
                                                                      0.4 + 0.11 * (k // 9)], 0.05) for k in range(27)]},
                         False, True),
    "pile of 36 boxes": ({"ground": [*funnel, plane], "bodies": [box(f"p{k}", [0.13 * (k % 3 - 1), 0.13 * (k // 3 % 3 - 1),
                                                                                0.3 + 0.13 * (k // 9)], [0.1, 0.08, 0.06])
                                                                 for k in range(36)]}, False, True),
    "hopper": ("examples/grains/hopper.json", False, False),
}


def sample(pid, table):
    """Bytes of memory, processor time [s], bytes of the table so far."""
    with open(f"/proc/{pid}/statm", encoding="ascii") as text:
        memory = int(text.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    with open(f"/proc/{pid}/schedstat", encoding="ascii") as text:
        cpu = 1e-9 * int(text.read().split()[0])
    return memory, cpu, os.path.getsize(table) if os.path.exists(table) else 0


def run(name, scene, long, judged, folder):
    length = 3600 * hours if long else 60 * minutes
    if not judged:
        length = min(length, 20.0)  # simulated time is expensive if grains flow
    path, table = f"{folder}/scene.json", f"{folder}/run.csv"
    if isinstance(scene, str):
        path = scene
    else:
        scene.setdefault("simulation", {}).update({"h": 0.005})
        with open(path, "w", encoding="utf-8") as out:
            json.dump(scene, out)
    if os.path.exists(table):
        os.unlink(table)
    child = subprocess.Popen([program, "run", path, "-q", "-o", table, "--rate", repr(SAMPLES / length), "--set",
                              f"simulation/end={length!r}", "--set", "simulation/sleep=false"])
    seen = []
    while child.poll() is None:
        try:
            child.wait(0.5)
        except subprocess.TimeoutExpired:
            try:
                seen.append(sample(child.pid, table))
            except OSError:
                pass
    if child.returncode not in (0, 3):
        return [f"{name}: ended with status {child.returncode}"]
    with open(table, encoding="utf-8") as text:
        rows = list(csv.DictReader(text))
    places = [key for key in rows[0] if key.endswith((".x", ".y", ".z"))]
    times = [float(row["t"]) for row in rows]

    def at(share):
        return max(k for k, t in enumerate(times) if t <= share * length + 1e-9)

    def drift(begin, end):
        return max((abs(float(rows[at(end)][key]) - float(rows[at(begin)][key])) for key in places), default=0)

    second, last, between = drift(0.1, 0.2), drift(0.9, 1.0), drift(0.1, 1.0)
    seen = [s for s in seen if s[2] > 0]
    text = f"{name:20s} {length:9.6g} s: drift {second:.1e} m in the second tenth, {last:.1e} m in the last, {between:.1e} m from 0.1 to 1"
    wrong = []
    if len(seen) > 8:
        quarter = len(seen) // 4
        early, late = seen[quarter][0], seen[-1][0]
        pace = [(b[1] - a[1]) / max(1, b[2] - a[2]) for a, b in ((seen[0], seen[quarter]), (seen[-1 - quarter], seen[-1]))]
        text += f"; memory {early / 2**20:.1f} -> {late / 2**20:.1f} MB; time per step x {pace[1] / max(pace[0], 1e-300):.2f}"
        if judged and late > 1.05 * early + 2**20:
            wrong.append("its memory grows")
    print(text, flush=True)
    if judged and last > max(second, SMALL):
        wrong.append("it drifts faster at the end")
    if judged and long and between > SMALL:
        wrong.append(f"it drifts by more than {SMALL} m")
    return [f"{name}: {what}" for what in wrong]


with tempfile.TemporaryDirectory() as room:
    found = [text for name, (scene, long, judged) in scenes.items() if only in name for text in run(name, scene, long, judged, room)]
for text in found:
    print("wrong:", text)
sys.exit(1 if found else 0)
