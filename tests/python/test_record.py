"""Recordings: the steps that are read back are those of the run, however it ends."""
import csv
import inspect
import json
import os
import tempfile
import unittest

import stiction
import support


class Recordings(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = os.path.join(folder.name, "run.h5")

    def test_what_is_stepped_is_read_back(self):
        system = support.system(support.drop(), h=1e-3)
        poses, times = [system.poses().tolist()], [0.0]
        with system.record(self.path, rate=0) as recorder:
            for _ in range(60):
                info = system.step()
                poses.append(system.poses().tolist())
                times.append(info.time)
            self.assertGreater(recorder.size, 0)
            self.assertFalse(recorder.closed)
            self.assertEqual(recorder.path, self.path)
        self.assertTrue(recorder.closed)
        with stiction.Recording(self.path) as recording:
            self.assertEqual(recording.poses().tolist(), poses)  # bit for bit
            self.assertEqual(recording.poses(7).tolist(), poses[7])
            self.assertEqual(recording.poses(-1).tolist(), system.poses().tolist())
            self.assertEqual(recording.velocities(-1).tolist(), system.velocities().tolist())
            self.assertEqual(recording.frames()["time"].tolist(), times)
            self.assertEqual(recording.steps()[-1].residual, info.residual)
            self.assertEqual(recording.steps()["solver"][-1], info.solver or "")
            self.assertEqual(recording.info.outcome, "finished")
            self.assertEqual(recording.info.n_steps, 61)
            self.assertEqual(recording.settings["h"], 1e-3)
            self.assertEqual([b["name"] for b in recording.model["bodies"]][-4:], list(system.scene.bodies))
            steps = recording.steps()
        self.assertEqual(len(steps), 61)  # data read before stays
        for call in (recording.steps, recording.poses, lambda: recording.info, recording.scene, recording.curves):
            self.assertRaises(ValueError, call)

    def test_what_is_told_of_it(self):
        scene = stiction.Scene.from_dict(support.pendulum(), overrides={"simulation/end": 2})
        system = stiction.System(scene)
        with system.record(self.path, rate=0):
            system.step(steps=3)
        with stiction.Recording(self.path) as recording:
            info, joint, now = recording.info, recording.joints()[0], system.joints()[0]
            self.assertEqual(info.sets, ("simulation/end=2",))
            self.assertEqual(json.loads(info.text)["joints"], support.pendulum()["joints"])
            self.assertEqual(len(info.stage_seconds), len(system.profile()))
            self.assertGreater(sum(info.stage_seconds), 0)
            self.assertEqual((joint.other, joint.other_speed), (now.other, now.other_speed))

    def test_contacts_joints_and_events(self):
        description = support.pendulum()
        description["ground"] = [{"type": "plane", "position": [0, 0, -3]}]
        description["bodies"].append(
            {"name": "ball", "position": [2, 0, -2.85], "shapes": [{"type": "sphere", "radius": 0.1, "density": 500}]}
        )
        system = support.system(description, preset="accurate")
        with system.record(self.path, rate=0):
            system.run(until=0.2)
        recording = stiction.Recording(self.path)
        self.assertEqual(recording.contacts()["b"].tolist(), [2])
        self.assertEqual(len(recording.contacts(0)), 0)
        self.assertAlmostEqual(recording.joints()[0].force[2], 9.81, 6)
        self.assertEqual([e.kind for e in recording.events()][0], "collision")
        table = os.path.join(self.folder, "contacts.csv")
        recording.write_csv(table)
        with open(table) as lines:
            rows = list(csv.DictReader(lines))
        self.assertAlmostEqual(float(rows[-1]["ball.contact_fz"]), system.contact_force("ball").force[2], 4)
        self.assertGreater(float(rows[-1]["ball.contact_fz"]), 1)
        self.assertAlmostEqual(recording.events()[0].time, (2 * 0.05 / 9.81) ** 0.5, 6)  # order two, located
        for wrong in (10**6, -(10**6)):
            with self.assertRaises(IndexError):
                recording.poses(wrong)
        with self.assertRaises(TypeError):
            recording.contacts("x")

    def test_springs_and_residuals(self):
        description = support.pendulum()
        body = description["bodies"][0]["name"]
        description["springs"] = [{"name": "coil", "b": body, "point_a": [0, 0, 5], "stiffness": 7, "rest": 1}]
        system = support.system(description)
        with system.record(self.path, rate=0):
            info = system.step(steps=20)
        self.assertGreaterEqual(info.joint_residual, 0)
        recording = stiction.Recording(self.path)
        (now,), (then,) = recording.springs(), recording.springs(0)
        (coil,) = system.springs()
        for key in ("length", "rate", "force", "force_on_b", "torque_on_b"):
            self.assertEqual(getattr(now, key), getattr(coil, key), key)
        self.assertEqual((then.force, then.length), (0, now.length))  # at the start nothing has acted yet

    def test_going_on_bit_for_bit_with_changed_settings(self):
        system = stiction.Scene.from_dict(support.drop(), {"bodies/ball 0/velocity": [0.1, 0, 0]}).system(
            preset="negrut-2017", solver="admm", tolerance=1e-6
        )
        system.step(steps=50)
        with system.record(self.path, checkpoint=0.05):
            system.step(steps=100)
        system.step(steps=50)
        recording = stiction.Recording(self.path)
        scene = recording.scene()
        self.assertEqual(scene.settings, system.settings)
        again = scene.system()
        recording.restore(again)
        again.step(steps=50)
        self.assertEqual(again.hash(), system.hash())
        self.assertGreater(len(recording.checkpoints()), 2)
        recording.restore(again, 0)
        self.assertEqual(again.hash(), recording.checkpoints()[0].hash)
        with self.assertRaises(IndexError):
            recording.restore(again, 1000)
        with self.assertRaises(stiction.Error):
            recording.restore(support.system(support.box()))

    def test_outcomes(self):
        def run(end):
            system = support.system(support.box(), speed_limit=2.5, gravity=(100, 0, 9.81))
            try:
                with system.record(self.path):
                    system.step()
                    end(system)
            except (stiction.Error, KeyboardInterrupt, ZeroDivisionError):
                pass
            with stiction.Recording(self.path) as recording:
                return recording.info.outcome, recording.info.message

        def interrupt(_):
            raise KeyboardInterrupt

        self.assertEqual(run(lambda s: None), ("finished", ""))
        self.assertEqual(run(interrupt)[0], "interrupted")
        self.assertEqual(run(lambda s: 1 / 0), ("failed", "division by zero"))
        outcome, message = run(lambda s: s.step(steps=1000))
        self.assertEqual(outcome, "diverged")
        self.assertIn("box", message)

    def test_dropped_recorder_leaves_a_file_that_says_so(self):
        system = support.system(support.box())
        recorder = system.record(self.path)
        with self.assertRaises(ValueError):
            system.record(os.path.join(self.folder, "second.h5"))
        system.step(steps=10)
        del recorder
        with stiction.Recording(self.path) as recording:
            self.assertEqual(recording.info.outcome, "interrupted")
            self.assertEqual(recording.info.n_steps, 11)
        system.step()  # and is no longer recorded
        system.record(self.path).close("failed", "as a test")
        self.assertEqual(stiction.Recording(self.path).info.message, "as a test")

    def test_time_does_not_jump_while_recorded(self):
        system = support.system(support.box())
        saved = system.save()
        with system.record(self.path):
            with self.assertRaises(ValueError):
                system.time = 3
            with self.assertRaises(ValueError):
                system.restore(saved)
            system.q = system.q
            system.step()
        system.restore(saved)

    def test_exports(self):
        system = support.system(support.drop())
        with system.record(self.path):
            system.step(steps=50)
        recording = stiction.Recording(self.path)
        # the default that is shown is the library's
        self.assertEqual(inspect.signature(stiction.System.record).parameters["rate"].default, recording.info.rate)
        recording.write_csv(os.path.join(self.folder, "t.csv"))
        recording.write_vtk(os.path.join(self.folder, "vtk"))
        recording.plot(os.path.join(self.folder, "p.svg"), ["kinetic", "ball 0.z"])
        recording.plot(os.path.join(self.folder, "o.svg"), "kinetic", over="potential")
        with open(os.path.join(self.folder, "t.csv")) as table:
            self.assertEqual(len(table.readlines()), recording.info.n_frames + 1)
        with open(os.path.join(self.folder, "p.svg")) as picture:
            self.assertIn("<svg", picture.read())
        self.assertIn("kinetic", recording.curves())
        with self.assertRaises(stiction.Error):
            recording.plot(os.path.join(self.folder, "x.svg"), ["nothing of that name"])
        with self.assertRaises(TypeError):
            recording.plot(os.path.join(self.folder, "x.svg"), [3])

    def test_closed_while_arguments_are_read(self):
        system = support.system(support.box())
        with system.record(self.path):
            system.step(steps=3)

        class Sly:
            def __index__(self):
                recording.close()
                return 0

            def __fspath__(self):
                recording.close()
                return path

            def __iter__(self):
                recording.close()
                return iter(["time"])

        class Overrides(dict):
            def items(self):
                recording.close()
                return [("simulation/h", 0.01)]

        path, sly = os.path.join(self.folder, "x"), Sly()
        for call in (
            lambda: recording.scene(Overrides(a=1)),
            lambda: recording.restore(system, sly),
            lambda: recording.contacts(sly),
            lambda: recording.joints(sly),
            lambda: recording.poses(sly),
            lambda: recording.velocities(sly),
            lambda: recording.write_csv(sly),
            lambda: recording.write_vtk(sly),
            lambda: recording.plot(sly, ["kinetic"]),
            lambda: recording.plot(path, sly),
        ):
            recording = stiction.Recording(self.path)
            with self.assertRaisesRegex(ValueError, "closed"):
                call()

    def test_wrong_files(self):
        system = support.system(support.box())
        with self.assertRaises(stiction.Error):
            system.record(os.path.join(self.folder, "no", "such", "folder.h5"))
        with self.assertRaises(TypeError):
            system.record(3)
        for bad in ({"rate": -1}, {"checkpoint": float("nan")}):
            with self.assertRaises(stiction.Error):
                system.record(self.path, **bad)
        with self.assertRaises(stiction.Error):
            stiction.Recording(os.path.join(self.folder, "none.h5"))
        with open(self.path, "wb") as file:
            file.write(b"not HDF5" * 100)
        with self.assertRaises(stiction.Error):
            stiction.Recording(self.path)
        system.step()


if __name__ == "__main__":
    unittest.main()
