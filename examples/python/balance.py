"""A controller of one's own: in every step it reads two joints and sets a motor. A cart on a rail keeps a pole
upright by state feedback, though a gust hits it after two seconds. The same as examples/balance.c."""
import sys

import stiction

scene = stiction.Scene.from_dict(
    {
        "bodies": [
            {"name": "cart", "mass": 1, "inertia": [0.01, 0.01, 0.01]},
            {"name": "pole", "mass": 0.2, "inertia": [1 / 60, 1 / 60, 1e-4], "position": [0, 0, 0.5]},
        ],
        "joints": [
            {
                "name": "rail",
                "type": "prismatic",
                "a": "ground",
                "b": "cart",
                "axis": [1, 0, 0],
                "point": [0, 0, 0],
                "motor": {"type": "force", "target": 0, "max_force": 20},
            },
            {"name": "hinge", "type": "revolute", "a": "cart", "b": "pole", "axis": [0, 1, 0], "point": [0, 0, 0]},
        ],
        "forces": [{"name": "gust", "body": "pole", "force": [0, 0, 0]}],
    }
)
system = scene.system(h=1e-3)

print("  time    cart [m]  pole [rad]  force [N]")
for k in range(8000):
    cart, pole = system.joint("rail"), system.joint("hinge")
    if k % 1000 == 0:
        print(f"{system.time:6.2f} {cart.coordinate:11.5f} {pole.coordinate:11.5f} {cart.motor:10.4f}")
    # the gains that give the upright equilibrium of these masses the rates -1.5, -2, -3 and -4 1/s
    wanted = 2.569 * cart.coordinate + 4.495 * cart.speed + 41.13 * pole.coordinate + 10.35 * pole.speed
    system.set_motor("rail", wanted)
    system.set_force("gust", (3, 0, 0) if 2000 <= k < 2100 else (0, 0, 0))
    system.step()

stands = abs(system.joint("hinge").coordinate) < 1e-3
print("it stands" if stands else "it fell")
sys.exit(0 if stands else 1)
