"""A parameter sweep over processes: how far a box slides on an incline for each friction, and where it stops sliding.
Scenes can be pickled, systems are made where they run."""
import math
import multiprocessing

import stiction

SLOPE = math.radians(20)
SCENE = {
    "simulation": {"h": 2e-3, "gravity": [9.81 * math.sin(SLOPE), 0, -9.81 * math.cos(SLOPE)]},
    "ground": [{"name": "incline", "type": "plane", "friction": 0.3}],
    "bodies": [
        {
            "name": "box",
            "position": [0, 0, 0.05],
            "shapes": [{"name": "cube", "type": "box", "size": [0.3, 0.3, 0.1], "density": 500, "friction": 0.3}],
        }
    ],
}


def slide(scene):
    system = scene.system()
    info = system.run(until=1)
    return system.pose("box").position[0], info.worst_residual


def main():
    frictions = [0.05 * k for k in range(12)]
    scenes = [
        stiction.Scene.from_dict(SCENE, {"ground/incline/friction": mu, "bodies/box/shapes/cube/friction": mu})
        for mu in frictions
    ]
    with multiprocessing.Pool(2) as pool:
        results = pool.map(slide, scenes)
    print("friction   slid [m]   exact [m]  residual")
    for mu, (x, residual) in zip(frictions, results):
        exact = max(0.0, 9.81 / 2 * (math.sin(SLOPE) - mu * math.cos(SLOPE)))  # in one second
        print(f"{mu:8.2f} {x:10.5f} {exact:11.5f}  {residual:.1e}")
        assert abs(x - exact) < 0.01  # the default scheme is of first order: a h/2 in one second, 0.0034 at most


if __name__ == "__main__":
    main()
