"""System.render: pictures of known scenes, and films where ffmpeg is."""
import os
import shutil
import tempfile
import unittest
from unittest import mock

import stiction
import stiction.film
import support

# A camera above, looking down on a floor at z = 0: x is right, y is up in the picture.
ABOVE = {"eye": [0, 0, 10], "target": [0, 0, 0], "up": [0, 1, 0], "angle": 0.4}


def ball(x, y, radius=0.5):
    return stiction.Scene.from_dict(
        {
            "ground": [{"type": "plane"}],
            "bodies": [{"name": "ball", "position": [x, y, radius], "mass": 1,
                        "shapes": [{"type": "sphere", "radius": radius}]}],
        }
    ).system()


def is_blue(pixel):
    return pixel[2] > pixel[0] + 40


def blue_pixels(picture):
    return [(row, column) for row, line in enumerate(picture.tolist()) for column, p in enumerate(line) if is_blue(p)]


class Render(unittest.TestCase):
    def test_a_ball_is_where_the_camera_sees_it(self):
        # pixels per metre at distance 9.5, that of the middle of the ball: 50/tan(0.2)/9.5
        scale = 50 / 0.2027100355086725 / 9.5
        for x, y in [(0, 0), (1, 0), (0, -1), (-0.8, 0.6)]:
            found = blue_pixels(ball(x, y).render(120, 100, ABOVE))
            rows, columns = [r for r, _ in found], [c for _, c in found]
            middle = (sum(rows) / len(rows) + 0.5, sum(columns) / len(columns) + 0.5)
            self.assertAlmostEqual(middle[0], 50 - scale * y, delta=1.5)  # the light side is larger than the dark one
            self.assertAlmostEqual(middle[1], 60 + scale * x, delta=1.5)
            self.assertAlmostEqual(max(columns) - min(columns) + 1, 2 * 0.5 * scale, delta=3)

    def test_what_is_nearer_hides_what_is_behind(self):
        # body 1 is blue, body 2 orange: it is above and smaller
        scene = {"bodies": [
            {"name": "low", "position": [0, 0, 0], "shapes": [{"type": "box", "size": [2, 2, 0.1]}]},
            {"name": "high", "position": [0, 0, 1], "shapes": [{"type": "box", "size": [1, 1, 0.1]}]},
        ]}
        picture = stiction.Scene.from_dict(scene).system().render(100, 100, ABOVE)
        self.assertFalse(is_blue(picture[50][50]))
        self.assertGreater(picture[50][50][0], picture[50][50][2] + 40)
        self.assertTrue(is_blue(picture[50][68]))

    def test_shape_and_defaults(self):
        system = ball(3, 4)
        picture = system.render()
        self.assertEqual(picture.shape, (480, 640, 3))
        self.assertTrue(blue_pixels(picture))  # the camera finds the bodies
        self.assertEqual(bytes(memoryview(picture)), bytes(memoryview(system.render())))
        empty = stiction.Scene.from_dict({"ground": [{"type": "plane"}], "bodies": [{"name": "a", "mass": 1, "inertia": 1}]})
        self.assertEqual(empty.system().render(32, 16).shape, (16, 32, 3))

    def test_refusals(self):
        system = ball(0, 0)
        for arguments, error, text in [
            ((0, 100), ValueError, "0 x 100"),
            ((100, -1), ValueError, "100 x -1"),
            ((8, 100), stiction.Error, "8 x 100"),
            ((10**6, 100), ValueError, "8192"),
            (("a", 100), TypeError, ""),
            ((100, 100, "front"), TypeError, "camera must be a dict"),
            ((100, 100, {"eyes": [0, 0, 1]}), ValueError, "'eyes'"),
            ((100, 100, {"eye": [0, 0, 1]}), ValueError, "both eye and target"),
            ((100, 100, {**ABOVE, "eye": [0, 0]}), ValueError, "eye has 2"),
            ((100, 100, {**ABOVE, "eye": [float("nan"), 0, 0]}), stiction.Error, "nan"),
            ((100, 100, {**ABOVE, "angle": 4}), stiction.Error, "angle of 4"),
            ((100, 100, {**ABOVE, "up": [0, 0, 0]}), stiction.Error, "up of the camera is 0"),
        ]:
            with self.assertRaisesRegex(error, text, msg=str(arguments)):
                system.render(*arguments)

    def test_frames_go_to_ffmpeg(self):
        with tempfile.TemporaryDirectory() as folder:
            tool, path = os.path.join(folder, "ffmpeg"), os.path.join(folder, "film.mp4")
            with open(tool, "w", encoding="utf-8") as file:  # keeps the given view
                file.write('#!/bin/sh\nfor last; do :; done\ncase $last in *.bad) echo no such codec >&2; exit 1;; esac\n'
                           'exec cat >"$last"\n')
            os.chmod(tool, 0o755)
            system = ball(0, 0)
            with mock.patch.dict(os.environ, {"PATH": folder + os.pathsep + os.environ["PATH"]}):
                with stiction.film.Film(path, 64, 48, camera=ABOVE) as film:
                    film.add(system)
                    film.add(system, camera={**ABOVE, "angle": 0.2})
                with self.assertRaisesRegex(RuntimeError, "no such codec"):
                    with stiction.film.Film(os.path.join(folder, "film.bad"), 64, 48) as film:
                        film.add(system)
            with open(path, "rb") as file:
                frames = file.read()
            self.assertEqual(len(frames), 2 * 64 * 48 * 3)
            self.assertEqual(frames[: 64 * 48 * 3], bytes(memoryview(system.render(64, 48, ABOVE))))

    def test_film(self):
        system = ball(0, 0)
        if shutil.which("ffmpeg") is None:
            with self.assertRaisesRegex(RuntimeError, "ffmpeg"):
                stiction.film.Film("film.mp4")
            return
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "film.mp4")
            with stiction.film.Film(path, 64, 48) as film:
                for _ in range(5):
                    system.step(steps=10)
                    film.add(system)
            self.assertEqual(film.frames, 5)
            self.assertGreater(os.path.getsize(path), 500)
            with self.assertRaisesRegex(ValueError, "closed"):
                film.add(system)
        with self.assertRaisesRegex(ValueError, "must be even"):
            stiction.film.Film("film.mp4", 63, 48)


if __name__ == "__main__":
    unittest.main()
