"""Systems: known answers, state in and out, control, reports, queries."""
import array
import copy
import ctypes
import math
import os
import tempfile
import unittest

import stiction
import support


class Stepping(unittest.TestCase):
    def test_unknown_names_are_told_the_nearest(self):
        system = stiction.Scene.from_dict(
            {"bodies": [{"name": name, "mass": 1, "inertia": [1, 1, 1]} for name in ("left", "right")]}
        ).system()
        with self.assertRaisesRegex(KeyError, "no body 'rigth'; did you mean 'right'?"):
            system.pose("rigth")
        with self.assertRaisesRegex(KeyError, r"no body 'nobody'; there are \['left', 'right'\]"):
            system.pose("nobody")
        with self.assertRaisesRegex(KeyError, "no joint 'elbow'; there are none"):
            system.joint("elbow")
        with self.assertRaisesRegex(TypeError, "no setting 'tolerence'; did you mean 'tolerance'?"):
            system.scene.system(tolerence=1e-3)

    def test_coulomb_stops_the_box(self):
        system = support.system(support.box())
        info = system.step(steps=1000)
        # v^2/(2 mu g), less h v/2: the default scheme is of first order
        self.assertAlmostEqual(system.pose("box").position[0], 4 / (2 * 0.5 * 9.81) - 1e-3, delta=2e-5)
        self.assertAlmostEqual(info.time, 1, 9)
        self.assertAlmostEqual(system.time, 1, 9)
        self.assertEqual(info.steps, 1000)
        self.assertTrue(info.converged)
        self.assertEqual(info.unconverged, 0)
        self.assertLessEqual(info.residual, info.worst_residual)
        self.assertLessEqual(info.worst_residual, 1e-9)  # few contacts: solved exactly
        # All kinetic energy has become work of friction: 1/2 m v^2, to first order in h
        self.assertAlmostEqual(info.friction, -0.5 * 2 * 4, delta=0.02)

    def test_parameters_of_a_running_system(self):
        system = stiction.Scene.from_dict(support.box()).system()
        said = support.box()
        said["ground"][0]["friction"] = 0.25
        other = stiction.Scene.from_dict(said).system()
        self.assertEqual(system.parameter("ground/floor/friction"), 0.5)
        system.set_parameter("ground/floor/friction", 0.25)
        self.assertEqual(system.parameter("ground/floor/friction"), 0.25)
        copy = system.clone()
        for one in (system, other, copy):
            one.step(steps=20)
        self.assertEqual(system.hash(), other.hash())
        self.assertEqual(system.hash(), copy.hash())
        restored = stiction.Scene.from_dict(support.box()).system()
        restored.restore(system.save())
        self.assertEqual(restored.parameter("ground/floor/friction"), 0.25)
        with self.assertRaisesRegex(stiction.Error, "mass is -1"):
            system.set_parameter("bodies/box/mass", -1)
        with self.assertRaisesRegex(stiction.Error, "nothing in the scene has this path"):
            system.parameter("bodies/bix/mass")
        self.assertRaises(TypeError, system.set_parameter, "bodies/box/mass", None)
        self.assertEqual(system.hash(), copy.hash())

    def test_many_steps_are_the_same_as_one_by_one(self):
        one, many = support.system(support.drop()), support.system(support.drop())
        for _ in range(100):
            one.step()
        many.step(steps=100)
        self.assertEqual(one.hash(), many.hash())
        self.assertEqual(one.q.tolist(), many.q.tolist())

    def test_a_belt_takes_the_box_along(self):
        description = support.box()
        description["bodies"][0]["velocity"] = [0, 0, 0]
        description["ground"][0]["surface_velocity"] = [0.5, 0, 0]
        system = support.system(description)
        system.step(steps=50)
        self.assertAlmostEqual(system.velocity("box").linear[0], 0.5 * 9.81 * 0.05, 6)  # mu g t
        info = system.step(steps=200)
        self.assertAlmostEqual(system.velocity("box").linear[0], 0.5, 6)
        # as much heat as it gained, m s^2/2, to first order in h
        self.assertAlmostEqual(info.friction, -0.5 * 2 * 0.25, delta=0.5 * 2 * 9.81 * 0.5 * 1e-3)

    def test_run_ends_on_time(self):
        system = support.system(support.box())
        self.assertEqual(system.run(until=0.0105).steps, 11)
        self.assertAlmostEqual(system.time, 0.0105, 14)
        self.assertEqual(system.run(until=0.001).steps, 0)  # it is later already
        self.assertAlmostEqual(system.run(h=0.1).time, 1, 12)  # the setting `end`

    def test_events_may_end_a_step_early(self):
        description = support.drop(1)
        system = support.system(description, preset="anitescu-potra-2002", h=0.01)
        info = next(i for i in (system.step() for _ in range(100)) if i.collisions)
        self.assertLess(info.h, 0.01)
        event = system.events()[0]
        # From 0.1 m above the floor: linearly implicit Euler is of first order, t within h of sqrt(2 s/g)
        self.assertAlmostEqual(event.time, math.sqrt(2 * 0.1 / 9.81), delta=0.01)
        self.assertEqual(event.kind, "collision")
        self.assertEqual({event.a, event.b}, {0, 1})

    def test_failed_steps_leave_the_state(self):
        system = support.system(support.box(), speed_limit=2.5, gravity=(100, 0, 9.81))
        before = system.time
        with self.assertRaises(stiction.Error) as caught:
            system.step(steps=1000)
        self.assertEqual(caught.exception.status, "numeric")
        self.assertIn("box", str(caught.exception))
        self.assertGreater(system.time, before)
        self.assertLess(max(abs(x) for x in system.v), 2.5)

    def test_wrong_steps(self):
        system = support.system(support.box())
        for h in (0, -1, math.nan, math.inf):
            with self.assertRaises(ValueError):
                system.step(h)
        for steps in (0, -3):
            with self.assertRaises(ValueError):
                system.step(steps=steps)
        for wrong in ({"h": "x"}, {"steps": "x"}, {"steps": 1.5}, {"nothing": 1}):
            with self.assertRaises(TypeError):
                system.step(**wrong)
        with self.assertRaises(ValueError):
            system.run(until=math.inf)
        self.assertEqual(system.time, 0)


class State(unittest.TestCase):
    def test_keyframes_and_sensors(self):
        scene = stiction.Scene.from_dict({
            "simulation": {"gravity": [0, 0, 0]},
            "bodies": [{"name": "a", "mass": 1, "inertia": [1, 1, 1]}],
            "measures": [{"type": "position", "name": "where", "body": "a", "point": [0, 1, 0]},
                         {"type": "angular_velocity", "name": "gyro", "body": "a", "axes": "body"}],
            "keyframes": [{"name": "there", "time": 2, "bodies": [
                {"body": "a", "position": [3, 4, 5], "velocity": [1, 0, 0], "angular_velocity": [0, 0, 6]}]}]})
        system = scene.system()
        for key in (1, "there"):
            system.set_state(time=0, q=[0, 0, 0, 1, 0, 0, 0], v=[0] * 6)
            system.set_keyframe(key)
            self.assertEqual((system.time, list(system.pose("a")[0])), (2, [3, 4, 5]))
            self.assertEqual(system.measures()["where"], {"x": 3, "y": 5, "z": 5})
            self.assertEqual(system.measures()["gyro"]["wz"], 6)
        self.assertEqual(scene.system(keyframe=1).time, 2)
        with self.assertRaisesRegex(KeyError, "no keyframe"):
            system.set_keyframe("nowhere")
        for bad in (0, 2, -1):
            with self.assertRaisesRegex(stiction.Error, "keyframe"):
                system.set_keyframe(bad)
        with self.assertRaises(TypeError):
            system.set_keyframe(None)

    def test_arrays_in_and_out(self):
        system = support.system(support.box())
        self.assertEqual(system.q.tolist(), [0, 0, 0.1, 1, 0, 0, 0])
        self.assertEqual(system.v.tolist(), [2, 0, 0, 0, 0, 0])
        system.q = array.array("d", [1, 2, 3, 1, 0, 0, 0])
        system.v = [0, 0, 1, 0, 0, 0]
        self.assertEqual(system.pose("box").position, (1, 2, 3))
        self.assertEqual(system.pose(1).orientation, (1, 0, 0, 0))
        self.assertEqual(system.velocity("box"), ((0, 0, 1), (0, 0, 0)))
        system.set_state(time=5)
        self.assertEqual(system.time, 5)
        self.assertEqual(system.v[2], 1)
        system.time = 6
        self.assertEqual(system.time, 6)
        self.assertEqual(system.poses().tolist(), [system.q.tolist()])
        self.assertEqual(system.velocities().tolist(), [system.v.tolist()])

    def test_arrays_are_copies_that_cannot_be_changed(self):
        system = support.system(support.box())
        before = system.q
        system.step(steps=10)
        self.assertEqual(before[0], 0)
        self.assertNotEqual(system.q[0], 0)
        with self.assertRaises(TypeError):
            system.q[0] = 1
        view = memoryview(before)
        self.assertTrue(view.readonly)
        self.assertEqual((view.format, view.shape), ("d", (7,)))
        del system, before
        self.assertEqual(view.tolist()[2], 0.1)  # it keeps the data it shows

    def test_who_asks_for_one_block_does_not_get_strides(self):
        system = support.system(support.box())
        system.step()
        get = ctypes.pythonapi.PyObject_GetBuffer
        get.argtypes = [ctypes.py_object, ctypes.c_void_p, ctypes.c_int]
        release = ctypes.pythonapi.PyBuffer_Release
        release.argtypes = [ctypes.c_void_p]
        strides, c, fortran, either = 0x18, 0x38, 0x58, 0x98  # PyBUF_STRIDES, _C_, _F_ and _ANY_CONTIGUOUS
        view = ctypes.create_string_buffer(256)  # a Py_buffer is 80 bytes
        gaps, q = system.contacts()["gap"], system.q
        self.assertEqual(len(gaps), 4)
        for array_, kind in [(gaps, strides)] + [(q, kind) for kind in (strides, c, fortran, either)]:
            get(array_, view, kind)
            release(view)
        for array_ in (gaps, q[::2]):
            for kind in (c, fortran, either):
                with self.assertRaises(BufferError):
                    get(array_, view, kind)

    def test_wrong_states(self):
        system = support.system(support.box())
        for wrong in ([], [0] * 6, [0] * 8, array.array("d", [0] * 6)):
            with self.assertRaises(ValueError):
                system.q = wrong
        for wrong in (None, 3, "text", b"bytes", ["a"] * 7, [None] * 7, {1: 2}, object()):
            with self.assertRaises((TypeError, ValueError)):
                system.q = wrong
        with self.assertRaises(TypeError):
            del system.q
        for bad in (math.nan, math.inf):
            with self.assertRaises(stiction.Error):
                system.v = [bad, 0, 0, 0, 0, 0]
            with self.assertRaises(stiction.Error):
                system.time = bad
        self.assertEqual(system.q.tolist(), [0, 0, 0.1, 1, 0, 0, 0])
        with self.assertRaisesRegex(stiction.Error, 'body "box": its orientation has length 0'):
            system.q = [0] * 7

    def test_clone_save_restore_go_on_bit_for_bit(self):
        system = support.system(support.drop())
        system.step(steps=150)
        saved = system.save()
        twin, copied = system.clone(), copy.deepcopy(system)
        system.step(steps=100)
        reached = system.hash()
        for other in (twin, copied, copy.copy(twin)):
            other.step(steps=100 - round((other.time - 0.3) / 2e-3))
            self.assertEqual(other.hash(), reached)
        system.restore(saved)
        system.step(steps=100)
        self.assertEqual(system.hash(), reached)
        fresh = support.system(support.drop())
        fresh.restore(bytearray(saved))
        fresh.step(steps=100)
        self.assertEqual(fresh.hash(), reached)

    def test_states_of_others_are_refused(self):
        system = support.system(support.drop())
        for wrong in (b"", b"nonsense" * 100, support.system(support.box()).save(), system.save()[:-8]):
            with self.assertRaises(stiction.Error):
                system.restore(wrong)
        with self.assertRaises(TypeError):
            system.restore(3)
        system.step(steps=10)


class Changing(unittest.TestCase):
    def test_bodies_come_and_go(self):
        description = support.drop(2)
        system = support.system(description)
        system.step(steps=100)
        before = system.pose("ball 1"), system.velocity("ball 1"), system.time
        new = {**description["bodies"][0], "name": "another", "position": [1, 0, 3]}
        description["bodies"] = [description["bodies"][1], new]
        system.change(stiction.Scene.from_dict(description))
        self.assertEqual((system.pose("ball 1"), system.velocity("ball 1"), system.time), before)
        self.assertEqual(system.pose("another").position, (1, 0, 3))
        self.assertEqual(dict(system.scene.bodies), {"ball 1": 1, "another": 2})
        with self.assertRaises(KeyError):
            system.pose("ball 0")
        twin = system.clone()
        system.step(steps=50)
        twin.step(steps=50)
        self.assertEqual(system.hash(), twin.hash())
        self.assertEqual(len(system.q), 14)

    def test_wrong_changes(self):
        system = support.system(support.drop(2))
        with self.assertRaises(TypeError):
            system.change(support.drop(1))
        before = system.hash()
        with tempfile.TemporaryDirectory() as folder:
            with system.record(os.path.join(folder, "r.h5")):
                with self.assertRaises(ValueError):
                    system.change(system.scene)
        system.change(system.scene)
        self.assertEqual(system.hash(), before)

    def test_change_while_a_state_is_read(self):
        small, system = stiction.Scene.from_dict(support.drop(1)), support.system(support.drop(6))

        class Sly:
            def __float__(self):
                system.change(small)
                return 0.0

        with self.assertRaises(ValueError):
            system.q = [Sly()] + [0.0] * 41
        self.assertEqual(len(system.q), 7)

    def test_change_while_an_id_is_read(self):
        for call in ("pose", "velocity", "wake", "contact_force"):
            for n in (1, 8):
                system = support.system(support.drop(6))  # nobody else holds the scene

                class Sly:
                    def __index__(self):
                        system.change(stiction.Scene.from_dict(support.drop(n)))
                        self.other = [{} for _ in range(100)]  # where its names were
                        return 6

                if n == 8:
                    getattr(system, call)(Sly())
                    continue
                with self.assertRaises(stiction.Error, msg=call):
                    getattr(system, call)(Sly())


class Control(unittest.TestCase):
    def test_motor_gives_the_torque_it_is_told(self):
        system = support.system(support.pendulum(), gravity=(0, 0, 0), h=1e-4)
        system.set_motor("hinge", 0.2)
        system.step(steps=1000)
        # J = 1/12 + 1/4 about the hinge: speed = torque t/J, exact for a constant torque
        self.assertAlmostEqual(system.joint("hinge").speed, 0.2 * 0.1 / (1 / 3), delta=1e-6)
        self.assertAlmostEqual(system.joint("hinge").motor, 0.2, 9)
        system.set_motor("hinge", None)
        speed = system.joint(1).speed
        system.step(steps=100)
        self.assertAlmostEqual(system.joint(1).speed, speed, delta=1e-6)
        self.assertEqual(system.joints()[0], system.joint("hinge"))
        self.assertEqual(system.joints()["coordinate"][0], system.joint("hinge").coordinate)

    def test_force(self):
        system = support.system(support.pendulum(), gravity=(0, 0, 0))
        system.set_force("push", [1, 0, 0])
        system.step()
        self.assertLess(system.velocity("rod").spin[1], 0)  # pushed along x below the hinge: about -y
        system.set_force("push", torque=(0, 0.5, 0))
        system.set_force(1)

    def test_one_body_in_hand(self):
        system = support.system(support.box(), gravity=(0, 0, 0))
        system.set_pose("box", (0, 0, 5))
        system.set_velocity("box", linear=(0, 1, 0))
        system.push("box", force=(4, 0, 0), torque=(0, 0, 0.1))
        system.step(steps=100)
        body = system.velocity("box")
        self.assertAlmostEqual(body.linear[0], 4 * 0.1 / 2, 9)  # F t/m
        self.assertAlmostEqual(body.linear[1], 1, 9)
        self.assertAlmostEqual(body.spin[2], 0.1 * 0.1 / (2 * 0.04 / 6), 9)  # T t/I, I = m a^2/6
        self.assertAlmostEqual(system.pose("box").position[1], 0.1, 9)
        system.push("box")
        system.set_velocity("box", spin=(0, 0, 0))
        system.set_pose("box", orientation=(0, 1, 0, 0))
        system.step()
        self.assertAlmostEqual(system.velocity("box").linear[0], 0.2, 9)
        self.assertAlmostEqual(system.pose("box").orientation[1], 1, 9)
        self.assertEqual(copy.copy(system).hash(), system.hash())
        self.assertRaises(KeyError, lambda: system.push("nobody", (1, 0, 0)))
        self.assertRaises(ValueError, lambda: system.set_pose("box", orientation=(1, 0, 0)))
        self.assertRaises(ValueError, lambda: system.set_velocity("box", (1, 0)))
        with self.assertRaises(stiction.Error):
            system.set_pose("box", orientation=(2, 0, 0, 0))

    def test_a_body_taken_out_and_thrown_in(self):
        system = support.system(support.box(), gravity=(0, 0, -9.81))
        system.remove_body("box")
        self.assertFalse(system.present("box"))
        with self.assertRaises(stiction.Error):
            system.remove_body("box")
        self.assertFalse(copy.copy(system).present("box"))
        system.step(steps=10)
        system.insert_body("box", (0, 0, 5), linear=(0, 0, 1), spin=(0, 0, 2))
        self.assertTrue(system.present("box"))
        self.assertEqual(system.pose("box").position[2], 5)
        system.step(steps=100)
        self.assertAlmostEqual(system.velocity("box").linear[2], 1 - 9.81 * 0.1, 9)
        self.assertAlmostEqual(system.velocity("box").spin[2], 2, 9)
        self.assertRaises(TypeError, lambda: system.insert_body("box"))
        with self.assertRaises(stiction.Error):
            system.insert_body("box", (0, 0, 5))

    def test_hanging_still(self):
        system = support.system(support.pendulum())
        system.step(steps=10)
        force = system.joint("hinge").force  # of the ground on the rod: its weight
        self.assertAlmostEqual(force[2], 9.81, 9)
        for x, y in zip(system.joint("hinge", frame="a").force, force):
            self.assertEqual(x, y)
        self.assertAlmostEqual(system.energy().potential, -0.5 * 9.81, 9)

    def test_wrong_control(self):
        system = support.system(support.pendulum())
        for call in (
            lambda: system.pose("nobody"),
            lambda: system.joint("none"),
            lambda: system.set_motor("none", 1),
            lambda: system.set_force("none", (0, 0, 0)),
        ):
            self.assertRaises(KeyError, call)
        for call in (
            lambda: system.pose(0),
            lambda: system.pose(2),
            lambda: system.velocity(-1),
            lambda: system.pose(10**30),
        ):
            self.assertRaises(IndexError, call)
        for call in (lambda: system.pose(None), lambda: system.pose(1.5), lambda: system.set_motor("hinge", "x")):
            self.assertRaises(TypeError, call)
        for call in (
            lambda: system.set_motor("hinge", math.nan),
            lambda: system.set_force("push", [1, 2]),
            lambda: system.joint("hinge", frame="b"),
        ):
            self.assertRaises(ValueError, call)
        with self.assertRaises(stiction.Error):
            system.set_force("push", [math.inf, 0, 0])


class Reports(unittest.TestCase):
    def test_contacts_carry_the_weight(self):
        description = support.box()
        description["bodies"][0]["velocity"] = [0, 0, 0]
        system = support.system(description)
        system.step(steps=20)
        contacts = system.contacts()
        self.assertEqual(len(contacts), 4)
        weight = 2 * 9.81
        self.assertAlmostEqual(sum(c.force[2] for c in contacts), weight, 6)  # relative to the solver's 1e-9
        self.assertAlmostEqual(sum(row[2] for row in contacts["force"]), weight, 6)
        self.assertAlmostEqual(system.contact_force("box").force[2], weight, 6)
        self.assertEqual({(c.a, c.b) for c in contacts}, {(0, 1)})
        self.assertEqual(contacts["b"].tolist(), [1] * 4)
        self.assertEqual(contacts["normal"].shape, (4, 3))
        self.assertEqual(contacts[-1], contacts[3])
        self.assertEqual(contacts[1:3], [contacts[1], contacts[2]])
        self.assertEqual([c.id for c in contacts], contacts["id"].tolist())
        self.assertIn("force", contacts.columns)
        with self.assertRaises(KeyError):
            contacts["nothing"]
        with self.assertRaises(IndexError):
            contacts[4]
        with self.assertRaises(TypeError):
            contacts[1.5]

    def test_reports_outlive_the_system(self):
        system = support.system(support.box())
        system.step()
        contacts, joints, poses = system.contacts(), system.joints(), system.poses()
        column = contacts["point"]
        before = contacts[0], column.tolist(), poses.tolist()
        system.step(steps=100)
        del system
        self.assertEqual((contacts[0], column.tolist(), poses.tolist()), before)
        del contacts
        self.assertEqual(column.tolist(), before[1])
        self.assertEqual(len(joints), 0)

    def test_momentum_of_a_free_flight(self):
        system = support.system(support.drop(2), gravity=(0, 0, 0))
        system.v = [1, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0]
        mass = 1000 * 4 / 3 * math.pi * 0.1**3
        for got, expected in zip(system.momentum().linear, (mass, 2 * mass, 0)):
            self.assertAlmostEqual(got, expected, 12)

    def test_islands_profile_and_sleep(self):
        description = support.drop(1)
        system = support.system(description, sleep=True, sleep_time=0.01)
        system.step(steps=400)
        self.assertTrue(system.asleep("ball 0"))
        system.wake("ball 0")
        self.assertFalse(system.asleep("ball 0"))
        info = system.step()
        self.assertEqual(len(system.islands()), info.islands)
        self.assertEqual(system.islands()[0].bodies, 1)
        self.assertGreater(sum(system.profile().values()), 0)
        self.assertIn("solve", system.profile())


class Queries(unittest.TestCase):
    def setUp(self):
        self.system = support.system(support.box())  # a cube of 0.2 on the floor, at the origin

    def test_rays(self):
        hit = self.system.ray((0, 0, 1), (0, 0, -2))
        self.assertAlmostEqual(hit.distance, 0.8, 12)
        self.assertEqual((hit.body, hit.normal), (1, (0, 0, 1)))
        self.assertIsNone(self.system.ray((0, 0, 1), (0, 0, 1)))
        self.assertIsNone(self.system.ray((0, 0, 1), (0, 0, -1), length=0.5))
        self.assertIsNone(self.system.ray((0, 0, 1), (0, 0, -1), groups=2))

        class Bits:  # as numpy's integers are
            def __index__(self):
                return 2

        self.assertIsNone(self.system.ray((0, 0, 1), (0, 0, -1), groups=Bits()))
        hits = self.system.rays([(0, 0, 1), (5, 0, 1), (0, 0, 1)], [(0, 0, -1)] * 2 + [(0, 0, 1)])
        self.assertEqual([h.body for h in hits], [1, 0, 0])
        self.assertEqual(hits["shape"][2], 0)
        self.assertAlmostEqual(hits["distance"][1], 1, 12)
        flat = array.array("d", [0, 0, 1, 5, 0, 1])
        self.assertEqual(len(self.system.rays(flat, flat)), 2)
        many = self.system.rays([(0, 0, 1)] * 1000, [(0, 0, -1)] * 1000)  # more than one batch
        self.assertEqual(set(many["distance"].tolist()), {hit.distance})

    def test_rays_of_any_numbers(self):
        expected = self.system.rays([(0, 0, 1), (5, 0, 1)], [(0, 0, -1)] * 2)["distance"].tolist()
        for code in "fdbhilqBHILQ":
            start = array.array(code, [0, 0, 1, 5, 0, 1])
            for view in (start, memoryview(start).cast("B").cast(code, [2, 3])):  # flat, and 2 x 3
                down = [(0, 0, -1)] * 2
                self.assertEqual(self.system.rays(view, down)["distance"].tolist(), expected, code)
        wide = memoryview(array.array("f", [0, 9, 0, 9, 1, 9, 5, 9, 0, 9, 1, 9]))[::2]  # every other one
        self.assertEqual(self.system.rays(wide, [(0, 0, -1)] * 2)["distance"].tolist(), expected)
        for junk in (b"abc", "abc", memoryview(b"abcd"), 3, [1, 2, 3], array.array("f", [1, 2])):
            self.assertRaises((TypeError, ValueError), self.system.rays, junk, [(0, 0, -1)])

    def test_probes(self):
        ball = {"type": "sphere", "radius": 0.1, "position": [0, 0, 0.5]}
        near = self.system.closest(ball)
        self.assertAlmostEqual(near.gap, 0.2, 12)
        self.assertEqual(near.body, 1)
        self.assertIsNone(self.system.closest(ball, within=0.1))
        self.assertEqual(self.system.overlaps(ball), [])
        self.assertEqual(
            self.system.overlaps({**ball, "position": [0, 0, 0.2]}), [self.system.scene.shapes["box/cube"]]
        )
        self.assertEqual(
            self.system.overlaps({**ball, "position": [5, 0, 0]}), [self.system.scene.shapes["ground/floor"]]
        )

    def test_distance(self):
        self.system.q = [0, 0, 0.6, 1, 0, 0, 0]
        self.assertAlmostEqual(abs(self.system.distance("ground/floor", "box/cube").gap), 0.5, 12)

    def test_wrong_queries(self):
        for call in (
            lambda: self.system.ray((0, 0, 1), (0, 0, 0)),
            lambda: self.system.ray((0, 0, math.nan), (0, 0, 1)),
            lambda: self.system.rays([(0, 0, 0)], [(0, 0, 0)]),
            lambda: self.system.closest({"type": "spher"}),
            lambda: self.system.closest({"type": "sphere", "radius": -1}),
            lambda: self.system.distance(1, 1),
        ):
            self.assertRaises(stiction.Error, call)
        for call in (
            lambda: self.system.ray((0, 0), (0, 0, 1)),
            lambda: self.system.rays([(0, 0, 0)], []),
            lambda: self.system.rays(array.array("d", [1, 2]), array.array("d", [1, 2])),
            lambda: self.system.ray((0, 0, 1), (0, 0, 1), groups=2**40),
        ):
            self.assertRaises(ValueError, call)
        for call in (
            lambda: self.system.ray("x", (0, 0, 1)),
            lambda: self.system.ray((0, 0, 1), (0, 0, 1), length="x"),
            lambda: self.system.ray((0, 0, 1), (0, 0, 1), groups=1.5),
            lambda: self.system.overlaps([1]),
        ):
            self.assertRaises(TypeError, call)
        self.assertRaises(KeyError, lambda: self.system.distance("box", "ground"))


class Grains(unittest.TestCase):
    def test_inlet_outlet_measure(self):
        scene = stiction.Scene.from_dict({
            "inlets": [{"name": "drop", "number": 5, "rate": 100, "shapes": [{"type": "sphere", "radius": 0.005}],
                        "region": {"type": "box", "position": [0, 0, 1], "size": [0.2, 0.2, 0.001]}}],
            "outlets": [{"region": {"type": "half-space", "position": [0, 0, 0.5]}}],
            "measures": [{"name": "line", "type": "flow", "region": {"type": "half-space", "position": [0, 0, 0.9]}}]})
        system = scene.system(h=0.001)
        self.assertFalse(system.present("drop_0001"))
        system.step(steps=21)
        self.assertEqual([system.present(f"drop_{k:04}") for k in range(1, 6)], [True, True, True, False, False])
        self.assertEqual(system.measures()["line"]["number"], 0)
        system.step(steps=200)  # 0.1 m take 0.143 s
        self.assertEqual(system.measures()["line"]["number"], 5)
        system.step(steps=200)
        self.assertFalse(any(system.present(k) for k in range(1, 6)))


if __name__ == "__main__":
    unittest.main()
