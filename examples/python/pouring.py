"""A scene that changes while it runs: balls are poured on a trapdoor, after two seconds its latch is taken out, and balls
that have fallen far enough are taken out, too. The same as examples/pouring.c."""
import sys

import stiction

description: dict = {
    "simulation": {"h": 1 / 400},
    "bodies": [
        {
            "name": "door",
            "position": [0, 0, 0],
            "shapes": [
                {"type": "box", "size": [1, 1, 0.04], "density": 500, "friction": 0.5, "rolling_friction": 0.01}
            ],
        }
    ],
    "joints": [
        {"name": "hinge", "type": "revolute", "a": "ground", "b": "door", "point": [-0.5, 0, 0], "axis": [0, 1, 0]},
        {"name": "latch", "type": "fixed", "a": "ground", "b": "door", "point": [0.5, 0, 0]},
    ],
}


def ball(number):
    return {
        "name": f"ball {number}",
        "position": [number % 5 * 0.1 - 0.2, number // 5 % 5 * 0.1 - 0.2, 0.5],
        "velocity": [0, 0, -2],
        "shapes": [{"type": "sphere", "radius": 0.05, "density": 1000, "friction": 0.5, "rolling_friction": 0.01}],
    }


system = stiction.Scene.from_dict(description).system()
poured = fallen = 0
print("  time  poured  fallen")
for k in range(0, 1600, 40):
    bodies = description["bodies"]
    gone = {name for name in system.scene.bodies if name != "door" and system.pose(name).position[2] < -2}
    description["bodies"] = [body for body in bodies if body["name"] not in gone]
    fallen += len(gone)
    if k < 800:
        description["bodies"].append(ball(poured))
        poured += 1
    else:
        description["joints"] = description["joints"][:1]  # without the latch
    system.change(stiction.Scene.from_dict(description))
    system.step(steps=40)
    if k % 200 == 160:
        print(f"{system.time:6.2f} {poured:7d} {fallen:7d}")

print("all of them have fallen" if fallen == poured else "some are left")
sys.exit(0 if fallen == poured else 1)
