"""soak.py PROGRAM [SECONDS] -- things that should stay as they are, for simulated minutes: walls, columns, bowls, inclines,
robots, a hopper. Reports how far they drift in the second tenth and in the last, memory and time per step at the start
and at the end. A drift that grows, or memory that does, is an error. Sleeping is off."""

import csv
import json
import math
import os
import subprocess
import sys
import tempfile

program = sys.argv[1]
length = float(sys.argv[2]) if len(sys.argv) > 2 else 60.0


def box(name, at, size, **more):
    return {"name": name, "position": at, "shapes": [{"type": "box", "size": size, "friction": 0.6}], **more}


def ball(name, at, radius):
    return {"name": name, "position": at, "shapes": [{"type": "sphere", "radius": radius, "friction": 0.5}]}


plane = {"type": "plane", "friction": 0.6}


def wall(rows, columns):
    return [box(f"b{r}_{c}", [0.21 * c + 0.105 * (r % 2), 0, 0.05 + 0.1 * r], [0.2, 0.1, 0.1])
            for r in range(rows) for c in range(columns)]


tilt = math.radians(20)
scenes = {
    "column of 4 boxes": {"ground": [plane], "bodies": [box(f"b{k}", [0, 0, 0.1 + 0.2 * k], [0.2, 0.2, 0.2]) for k in range(4)]},
    "box on an incline": {"ground": [plane], "bodies": [box("b", [0, 0, 0.1], [0.2, 0.2, 0.2])],
                          "simulation": {"gravity": [9.81 * math.sin(tilt), 0, -9.81 * math.cos(tilt)]}},
    "three balls in a corner": {"ground": [plane, {"type": "plane", "axis": [1, 0, 0.2]}],
                                "bodies": [ball(f"s{k}", [0.1 + 0.2 * k, 0, 0.1], 0.1) for k in range(3)]},
    "wall of 5 x 6": {"ground": [plane], "bodies": wall(5, 6)},
    "bowl of balls": {"ground": [{"type": "plane", "axis": [a, b, 1]} for a, b in ((1, 0), (-1, 0), (0, 1), (0, -1))],
                      "bodies": [ball(f"s{k}", [0.1 * (k % 3 - 1), 0.1 * (k // 3 % 3 - 1), 0.4 + 0.11 * (k // 9)], 0.05)
                                 for k in range(27)]},
}


def memory_of(pid):
    with open(f"/proc/{pid}/statm", encoding="ascii") as text:
        return int(text.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def run(name, scene, folder):
    scene.setdefault("simulation", {}).update({"end": length, "h": 0.005, "sleep": False})
    path, table = f"{folder}/scene.json", f"{folder}/run.csv"
    with open(path, "w", encoding="utf-8") as out:
        json.dump(scene, out)
    if os.path.exists(table):
        os.unlink(table)
    child = subprocess.Popen([program, "run", path, "-q", "-o", table, "--rate", "10"])
    memory = []
    while child.poll() is None:
        try:
            child.wait(0.5)
        except subprocess.TimeoutExpired:
            memory.append(memory_of(child.pid))
    if child.returncode != 0:
        sys.exit(f"{name}: ended with status {child.returncode}")
    with open(table, encoding="utf-8") as text:
        rows = list(csv.DictReader(text))
    places = [key for key in rows[0] if key.endswith((".x", ".y", ".z"))]
    times = [float(row["t"]) for row in rows]

    def drift(begin, end):
        a = max(k for k, t in enumerate(times) if t <= begin * length + 1e-9)
        b = max(k for k, t in enumerate(times) if t <= end * length + 1e-9)
        return max(abs(float(rows[b][key]) - float(rows[a][key])) for key in places)

    second, last = drift(0.1, 0.2), drift(0.9, 1.0)
    early, late = (memory[len(memory) // 4], memory[-1]) if len(memory) > 4 else (0, 0)
    print(f"{name:26s} drift {second:.1e} m in the second tenth, {last:.1e} m in the last;"
          f" memory {early / 2**20:.1f} -> {late / 2**20:.1f} MB")
    bad = []
    if last > max(second, 1e-9):
        bad.append("it drifts faster at the end")
    if late > 1.05 * early + 2**20:
        bad.append("its memory grows")
    return [f"{name}: {what}" for what in bad]


with tempfile.TemporaryDirectory() as room:
    wrong = [text for name, scene in scenes.items() for text in run(name, scene, room)]
for text in wrong:
    print("wrong:", text)
sys.exit(1 if wrong else 0)
