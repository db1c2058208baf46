"""A picture of a scene without a screen, as a PPM file; and where ffmpeg is, a film of it.

    python3 examples/python/picture.py [PICTURE.ppm [FILM.mp4]]
"""
import os
import sys
import tempfile

import stiction
import stiction.film

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def main(picture, film=None):
    system = stiction.Scene(os.path.join(ROOT, "examples/toys/stone-arch.json")).system()
    system.step(steps=20)
    # a camera is a dict; without one it looks at all that can move, with up against gravity
    array = system.render(320, 240, {"angle": 0.7})
    height, width, _ = array.shape
    with open(picture, "wb") as file:
        file.write(f"P6 {width} {height} 255\n".encode())
        file.write(memoryview(array).cast("B"))  # numpy.asarray(array) is the same without a copy
    print(f"{picture}: {width} x {height} at t = {system.time:.3f} s")
    if film is not None:
        with stiction.film.Film(film, 640, 480, fps=30) as frames:
            while system.time < 2:
                system.run(until=system.time + 1 / 30)
                frames.add(system)
        print(f"{film}: {frames.frames} frames")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(*sys.argv[1:3])
    else:
        with tempfile.TemporaryDirectory() as folder:
            main(os.path.join(folder, "picture.ppm"))
