"""A box falls on a floor: five lines, and their output."""
import stiction

floor = {"type": "plane", "friction": 0.5}
box = {"name": "box", "position": [0, 0, 1], "shapes": [{"type": "box", "size": [0.2, 0.2, 0.2], "density": 500}]}
system = stiction.Scene.from_dict({"ground": [floor], "bodies": [box]}).system()
info = system.step(steps=1000)
print(f"after {info.time:.3f} s it is at z = {system.pose('box').position[2]:.6f} m")
print(f"residual {info.residual:.1e} by {info.solver}, {info.contacts} contacts")
