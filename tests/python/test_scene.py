"""Scenes: files, texts, dicts, overrides, settings; errors are reported."""
import os
import pathlib
import pickle
import tempfile
import unittest

import stiction
import support


class Reading(unittest.TestCase):
    def test_file_text_and_dict_are_the_same_scene(self):
        path = support.ROOT / "examples/world/wall.json"
        from_file = stiction.Scene(path)
        from_text = stiction.Scene.from_json(path.read_text())
        from_dict = stiction.Scene.from_dict(from_file.to_dict())
        hashes = set()
        for scene in (from_file, from_text, from_dict):
            system = scene.system()
            system.step(steps=20)
            hashes.add(system.hash())
        self.assertEqual(len(hashes), 1)
        self.assertEqual(from_file.name, "wall")
        self.assertEqual(from_file.text, path.read_text())
        self.assertEqual(from_file.label, str(path))
        self.assertIn("wall.json", repr(from_file))

    def test_files_beside_the_scene(self):
        path = support.ROOT / "examples/world/bracket.json"  # names an OBJ file
        self.assertEqual(
            len(stiction.Scene(path).bodies), len(stiction.Scene.from_json(path.read_text(), label=str(path)).bodies)
        )

    def test_robots(self):
        paths = sorted(p for p in support.ROOT.glob("examples/robots/*") if p.suffix in (".urdf", ".xml"))
        self.assertGreater(len(paths), 1)
        for path in paths:
            scene = stiction.Scene(path)
            # its meaning, without the robot; its meshes are beside it
            plain = stiction.Scene.from_dict(scene.to_dict(), label=str(path.with_suffix(".json")))
            self.assertEqual((scene.name, dict(scene.joints)), (plain.name, dict(plain.joints)))
            first, second = scene.system(), plain.system()
            first.step(steps=5)
            second.step(steps=5)
            self.assertEqual(first.hash(), second.hash(), path)

    def test_robots_from_texts(self):
        path = support.ROOT / "examples/robots/arm.urdf"
        scene = stiction.Scene.from_json(path.read_text())
        self.assertEqual((scene.name, scene.description), ("arm", ""))
        self.assertEqual(scene.to_dict(), stiction.Scene(path).to_dict())

    def test_robots_whose_file_is_gone(self):
        home = os.getcwd()
        self.addCleanup(os.chdir, home)
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            pathlib.Path("arm.urdf").write_bytes((support.ROOT / "examples/robots/arm.urdf").read_bytes())
            scene = stiction.Scene("arm.urdf")
            os.mkdir("elsewhere")
            os.chdir("elsewhere")
            self.assertEqual(pickle.loads(pickle.dumps(scene)).name, "arm")
            with scene.system().record("run.h5"):
                pass
            with stiction.Recording("run.h5") as recording:
                self.assertEqual(recording.info.name, "arm")
            os.chdir(home)

    def test_robots_whose_meshes_are_gone_are_recorded(self):
        home = os.getcwd()
        self.addCleanup(os.chdir, home)
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            pathlib.Path("mesh.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
            pathlib.Path("robot.urdf").write_text(
                '<robot name="r"><link name="l"><inertial><mass value="3"/><inertia ixx="1" iyy="1" izz="1" ixy="0" '
                'ixz="0" iyz="0"/></inertial><collision><geometry><mesh filename="mesh.obj"/></geometry></collision>'
                "</link></robot>"
            )
            system = stiction.Scene("robot.urdf").system()
            os.remove("mesh.obj")
            with system.record("run.h5"):
                pass
            with stiction.Recording("run.h5") as recording:
                self.assertEqual((recording.info.name, len(recording.model["bodies"])), ("", 1))
            os.chdir(home)

    def test_every_example_is_read(self):
        paths = sorted(support.ROOT.glob("examples/*/*.json"))
        self.assertGreater(len(paths), 50)
        for path in paths:
            self.assertGreater(len(stiction.Scene(str(path)).bodies), 0, path)

    def test_missing_file_is_pythons_own_error(self):
        with self.assertRaises(FileNotFoundError):
            stiction.Scene("/nowhere/at/all.json")
        with self.assertRaises(IsADirectoryError):
            stiction.Scene(support.ROOT)

    def test_errors_have_file_line_and_status(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "bad.json"
            path.write_text('{"bodies": [\n  {"name": "a", "mas": 1}\n]}')
            with self.assertRaises(stiction.Error) as caught:
                stiction.Scene(path)
        self.assertEqual(caught.exception.status, "format")
        self.assertEqual(caught.exception.line, 2)
        self.assertIn("bad.json:2", str(caught.exception))
        self.assertIn("mass", str(caught.exception))  # the name that was meant

    def test_nan_is_refused(self):
        scene = support.box()
        scene["bodies"][0]["position"] = [0, 0, float("nan")]
        with self.assertRaises(stiction.Error) as caught:
            stiction.Scene.from_dict(scene)
        self.assertIn("NaN", str(caught.exception))

    def test_wrong_types(self):
        for wrong in (None, 3, [1], "text"):
            with self.assertRaises(TypeError):
                stiction.Scene.from_dict(wrong)
        for wrong in (None, 3, {}):
            with self.assertRaises(TypeError):
                stiction.Scene.from_json(wrong)
        with self.assertRaises(TypeError):
            stiction.Scene.from_dict({"bodies": object()})
        with self.assertRaises(TypeError):
            stiction.Scene(3)
        for empty in ("", "[]", "{", '{"bodies": []}', "\0", b"\xff\xfe"):
            with self.assertRaises(stiction.Error):
                stiction.Scene.from_json(empty)

    def test_what_has_tolist_is_a_list(self):
        description = support.box()
        description["bodies"][0]["position"] = support.system(support.box()).q[:3]
        self.assertEqual(support.system(description).pose("box").position, (0, 0, 0.1))


class Names(unittest.TestCase):
    def test_ids_by_name_in_order(self):
        scene = stiction.Scene.from_dict(support.pendulum())
        self.assertEqual(dict(scene.bodies), {"rod": 1})
        self.assertEqual(dict(scene.joints), {"hinge": 1})
        self.assertEqual(dict(scene.forces), {"push": 1})
        self.assertEqual(list(stiction.Scene.from_dict(support.box()).shapes.values()), [1, 2])
        self.assertIn("ground/floor", stiction.Scene.from_dict(support.box()).shapes)
        with self.assertRaises(TypeError):
            scene.bodies["another"] = 2  # not to be changed

    def test_mass(self):
        mass, inertia = stiction.Scene.from_dict(support.box()).mass("box")
        self.assertAlmostEqual(mass, 250 * 0.2**3, 12)
        for k in range(3):  # m a^2/6 of a cube
            self.assertAlmostEqual(inertia[k][k], mass * 0.2**2 / 6, 12)


class Settings(unittest.TestCase):
    def test_overrides(self):
        scene = stiction.Scene.from_dict(support.box(), {"simulation/h": 5e-4, "bodies/box/velocity": [1, 0, 0]})
        self.assertEqual(scene.settings["h"], 5e-4)
        self.assertEqual(scene.system().velocity("box").linear, (1, 0, 0))
        texts = stiction.Scene.from_dict(support.box(), ["simulation/h=0.0005"])
        self.assertEqual(texts.settings["h"], 5e-4)
        with self.assertRaises(stiction.Error):
            stiction.Scene.from_dict(support.box(), {"bodies/nobody/mass": 1})
        for wrong in (3, "simulation/h=1", {1: 2}, [3]):
            with self.assertRaises(TypeError):
                stiction.Scene.from_dict(support.box(), wrong)

    def test_every_setting_goes_in_and_out(self):
        scene = stiction.Scene.from_dict(support.box())
        for setting in stiction.settings():
            value = scene.settings[setting.key]
            self.assertEqual(scene.system(**{setting.key: value}).settings[setting.key], value, setting.key)
        self.assertEqual(scene.system(preset="negrut-2017").settings["law"], "cone")
        self.assertEqual(scene.system(law="pyramid", preset="negrut-2017").settings["law"], "pyramid")
        self.assertEqual(scene.system(gravity=(0, 0, 0)).settings["gravity"], (0, 0, 0))

    def test_wrong_settings(self):
        scene = stiction.Scene.from_dict(support.box())
        for wrong in ({"no_such": 1}, {"h": "x"}, {"h": None}, {"law": 3}, {"sleep": 1}, {"gravity": 3}):
            with self.assertRaises(TypeError, msg=wrong):
                scene.system(**wrong)
        for wrong in ({"h": -1}, {"h": float("nan")}, {"law": "no such"}, {"facets": 2.5}, {"tolerance": 2}):
            with self.assertRaises(stiction.Error, msg=wrong):
                scene.system(**wrong)
        with self.assertRaises(ValueError):
            scene.system(gravity=[0, 0])
        with self.assertRaises(TypeError):
            stiction.System({})
        with self.assertRaises(TypeError):
            scene.system(1)

    def test_choices_that_cannot_work_together_are_refused_by_name(self):
        with self.assertRaises(stiction.Error) as caught:
            stiction.Scene.from_dict(support.box()).system(law="coulomb", solver="lemke")
        self.assertEqual(caught.exception.status, "unsupported")
        self.assertIn("lemke", str(caught.exception))


class Overrides(unittest.TestCase):
    def test_items_that_are_no_pairs(self):
        for item in (["simulation/h", 0.01], ("simulation/h",), ("simulation/h", 1, 2), None, "ab"):

            class Sly(dict):
                def items(self):
                    return [item]

            with self.assertRaises(TypeError, msg=item):
                stiction.Scene.from_dict(support.box(), overrides=Sly(a=1))


class Pickling(unittest.TestCase):
    def test_scene_with_overrides(self):
        scene = stiction.Scene.from_dict(support.box(), {"simulation/h": 2e-3}, label="hello")
        again = pickle.loads(pickle.dumps(scene))
        self.assertEqual(again.settings, scene.settings)
        self.assertEqual((again.text, again.label), (scene.text, scene.label))

    def test_systems_are_not_pickled(self):
        with self.assertRaises(TypeError):
            pickle.dumps(support.system(support.box()))

    def test_reports_are(self):
        info = support.system(support.box()).step()
        self.assertEqual(pickle.loads(pickle.dumps(info)), info)


if __name__ == "__main__":
    unittest.main()
