"""Shared by the tests of the Python module: scenes, and paths."""
import os
import pathlib

import stiction

ROOT = pathlib.Path(__file__).resolve().parents[2]
SANITIZED = os.environ.get("ST_SANITIZED") == "1"


def box(**simulation):
    """A box of 2 kg on a rough floor, pushed along x at 2 m/s."""
    return {
        "simulation": {"h": 1e-3, "end": 1, **simulation},
        "ground": [{"name": "floor", "type": "plane", "friction": 0.5}],
        "bodies": [
            {
                "name": "box",
                "position": [0, 0, 0.1],
                "velocity": [2, 0, 0],
                "shapes": [{"name": "cube", "type": "box", "size": [0.2, 0.2, 0.2], "density": 250, "friction": 0.5}],
            }
        ],
    }


def pendulum():
    """A rod of 1 kg hinged at its upper end, with a motor that gives the torque it is set to, and a force to push it."""
    return {
        "simulation": {"h": 1e-3},
        "bodies": [{"name": "rod", "position": [0, 0, -0.5], "mass": 1, "inertia": [1 / 12, 1 / 12, 1e-3]}],
        "joints": [
            {
                "name": "hinge",
                "type": "revolute",
                "a": "ground",
                "b": "rod",
                "point": [0, 0, 0],
                "axis": [0, 1, 0],
                "motor": {"type": "force", "target": 0},
            }
        ],
        "forces": [{"name": "push", "body": "rod", "force": [0, 0, 0]}],
    }


def drop(n=4):
    """A few balls that fall on a floor."""
    return {
        "simulation": {"h": 2e-3},
        "ground": [{"type": "plane", "friction": 0.3}],
        "bodies": [
            {
                "name": f"ball {k}",
                "position": [0.01 * k, 0.005 * k, 0.2 + 0.25 * k],
                "shapes": [{"type": "sphere", "radius": 0.1, "density": 1000, "friction": 0.3}],
            }
            for k in range(n)
        ],
    }


def system(description, **settings):
    return stiction.Scene.from_dict(description).system(**settings)
