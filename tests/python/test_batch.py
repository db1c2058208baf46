"""stiction.Batch: the same bits as systems that step alone, arrays without copies, worlds that fail, refusals by name."""
import gc
import signal
import threading
import unittest

import stiction
import support

try:
    import numpy
except ImportError:
    numpy = None


def make(worlds=3, **keywords):
    return stiction.Batch(stiction.Scene.from_dict(support.box()), worlds, **keywords)


class Batch(unittest.TestCase):
    def test_worlds_are_systems(self):
        batch = make(3, threads=2)
        self.assertEqual(batch.worlds, 3)
        self.assertEqual(batch.step(5), 0)
        self.assertEqual(batch.step([0, 2, 4]), 0)
        self.assertEqual(batch.step(3, mask=[True, False, False]), 0)
        for world, steps in enumerate([8, 7, 9]):
            alone = stiction.Scene.from_dict(support.box()).system()
            alone.step(steps=steps)
            self.assertEqual(batch.system(world).hash(), alone.hash())
            self.assertEqual(batch.info(world).time, alone.time)
        batch.reset(mask=[0, 0, 1])
        self.assertEqual(batch.system(2).hash(), stiction.Scene.from_dict(support.box()).system().hash())
        self.assertEqual([t > 0 for t in batch.time], [True, True, False])

    def test_keyframes_and_states(self):
        batch = make(2)
        start = batch.system(0)
        moved = list(start.q)
        moved[0] += 1
        kept = batch.add_keyframe(moved, list(start.v), time=2.0)
        self.assertEqual(kept, 1)
        batch.reset(keyframe=[0, kept])
        self.assertEqual([row[0] for row in batch.q], [start.q[0], moved[0]])
        self.assertEqual(list(batch.time), [0, 2])
        batch.reset(keyframe=kept)
        self.assertEqual([row[0] for row in batch.q], [moved[0], moved[0]])
        batch.set_states([list(start.q), moved], [list(start.v)] * 2, mask=[True, False])
        self.assertEqual([row[0] for row in batch.q], [start.q[0], moved[0]])

    def test_names(self):
        batch = stiction.Batch(stiction.Scene.from_dict(support.pendulum()), 2, parameters=["bodies/rod/mass"])
        self.assertEqual(batch.parameter_names, ("bodies/rod/mass",))
        self.assertTrue(any(name.endswith(".motor") for name in batch.control_names))
        self.assertTrue(any(name.endswith(".coordinate") for name in batch.sensor_names))
        self.assertEqual(len(batch.read_sensors()[0]), len(batch.sensor_names))

    def test_a_world_that_fails(self):
        batch = make(2, speed_limit=10.0)
        fast = list(batch.system(0).v)
        fast[0] = 100
        batch.set_states([list(batch.system(0).q)] * 2, [list(batch.system(0).v), fast])
        self.assertEqual(batch.step(4), 1)
        self.assertEqual(batch.failures, 1)
        self.assertEqual(batch.status[0], 0)
        self.assertNotEqual(batch.status[1], 0)
        self.assertIn("box", batch.message(1))
        self.assertEqual(batch.message(0), "")
        batch.reset()
        self.assertEqual(batch.step(4), 0)

    def test_refusals(self):
        scene = stiction.Scene.from_dict(support.box())
        for keywords, error, text in [
            ({"worlds": 0}, stiction.Error, "a batch of 0 worlds"),
            ({"worlds": -5}, stiction.Error, "-5 worlds"),
            ({"worlds": 10**30}, OverflowError, ""),
            ({"worlds": "many"}, TypeError, "worlds must be an integer"),
            ({"worlds": 2.5}, TypeError, "worlds must be an integer"),
            ({"worlds": 2, "threads": 0}, stiction.Error, "0 threads"),
            ({"worlds": 2, "threads": None}, TypeError, "threads must be an integer"),
            ({"worlds": 2, "parameters": "bodies/box/mass"}, TypeError, "a sequence of str"),
            ({"worlds": 2, "parameters": [1]}, TypeError, "must be a str"),
            ({"worlds": 2, "parameters": ["bodies/bix/mass"]}, stiction.Error, "nothing in the scene has this path"),
            ({"worlds": 2, "hh": 1}, Exception, "hh"),
            ({}, TypeError, "number of worlds"),
        ]:
            with self.assertRaisesRegex(error, text, msg=str(keywords)):
                stiction.Batch(scene, **keywords)
        with self.assertRaises(TypeError):
            stiction.Batch("scene", 2)
        batch = make(2)
        q, v = list(batch.system(0).q), list(batch.system(0).v)
        for call, error, text in [
            (lambda: batch.step(-1), stiction.Error, "-1 steps"),
            (lambda: batch.step("two"), TypeError, "steps"),
            (lambda: batch.step([1, 2, 3]), ValueError, "steps has 3 numbers, must have one for each of 2 worlds"),
            (lambda: batch.step([1, 1], mask=[1, 1]), TypeError, "a mask is not allowed"),
            (lambda: batch.step([1, 2**40]), OverflowError, r"steps\[1\] is 1099511627776, too large"),
            (lambda: batch.step(1, mask=[1]), ValueError, "mask has 1 numbers"),
            (lambda: batch.step(1, mask=[1, 0.5]), TypeError, "mask"),
            (lambda: batch.reset(keyframe=3), stiction.Error, "keyframe 3, must be 0 to 0"),
            (lambda: batch.reset(mask=[1, 1, 1]), ValueError, "mask has 3"),
            (lambda: batch.set_states([q], [v]), ValueError, "q has 1 rows, must have 2"),
            (lambda: batch.set_states([q, q[:-1]], [v, v]), ValueError, "q has 6 numbers, must have 7"),
            (lambda: batch.set_states([q, q], [v, ["x"] * len(v)]), TypeError, "v"),
            (lambda: batch.set_states(3, [v, v]), TypeError, "q must be an array"),
            (lambda: batch.add_keyframe(q[:-1], v), ValueError, "q has 6"),
            (lambda: batch.apply_parameters(), stiction.Error, "without parameters"),
            (lambda: batch.info(2), IndexError, "world is 2"),
            (lambda: batch.system("a"), TypeError, "world must be"),
        ]:
            before = batch.system(0).hash()
            with self.assertRaisesRegex(error, text):
                call()
            self.assertEqual(batch.system(0).hash(), before)
        self.assertEqual(batch.step(1), 0)

    def test_ctrl_c(self):
        batch = make(2)
        main = threading.main_thread().ident
        threading.Timer(0.3, lambda: signal.pthread_kill(main, signal.SIGINT)).start()
        with self.assertRaises(KeyboardInterrupt):
            batch.step(2000000000)
        self.assertEqual(batch.step(1), 0)


@unittest.skipIf(numpy is None, "needs numpy")
class WithNumpy(unittest.TestCase):
    def test_arrays_are_the_memory_of_the_batch(self):
        batch = make(4)
        q, v, controls = batch.q, batch.v, batch.controls
        self.assertIsInstance(q, numpy.ndarray)
        self.assertEqual((q.shape, v.shape), ((4, 7), (4, 6)))
        self.assertEqual(controls.shape, (4, 0))
        before = q[0, 0]
        batch.step(10)
        self.assertGreater(q[0, 0], before)  # the box slides along x: the same memory
        self.assertTrue(numpy.shares_memory(q, batch.q))
        q[:, 0] = [1, 2, 3, 4]
        batch.set_states(q, v)
        self.assertEqual(batch.system(2).pose("box").position[0], 3)
        del batch
        gc.collect()
        self.assertEqual(q[3, 0], 4)  # the view keeps it

    def test_controls_and_parameters(self):
        scene = stiction.Scene.from_dict(support.pendulum())
        batch = stiction.Batch(scene, 3, parameters=["bodies/rod/mass"])
        self.assertTrue(numpy.isnan(batch.controls).all())
        batch.parameters[:, 0] = [1, 2, 3]
        batch.apply_parameters()
        motor = [k for k, name in enumerate(batch.control_names) if name.endswith(".motor")][0]
        batch.controls[:, motor] = 0.5
        batch.step(20)
        for world, mass in enumerate([1, 2, 3]):
            made = support.pendulum()
            made["bodies"][0]["mass"] = mass
            made["bodies"][0]["inertia"] = [mass * x for x in made["bodies"][0]["inertia"]]
            alone = stiction.Scene.from_dict(made).system()
            alone.set_motor(batch.control_names[motor].rsplit(".", 1)[0], 0.5)
            alone.step(steps=20)
            numpy.testing.assert_array_equal(batch.v[world], numpy.asarray(alone.v))

    def test_shapes_and_types_are_refused(self):
        batch = make(3)
        q, v = batch.q.copy(), batch.v.copy()
        for bad, error, text in [
            (q[:2], ValueError, r"q has the shape \(2, 7\), must have \(3, 7\)"),
            (q.T, ValueError, r"q has the shape \(7, 3\)"),
            (q.ravel(), ValueError, "q has 1 dimensions"),
            (q.astype(complex), (TypeError, ValueError), "q"),
            (q.astype(str), (TypeError, ValueError), "q"),
        ]:
            with self.assertRaisesRegex(error, text):
                batch.set_states(bad, v)
        batch.set_states(q.astype(numpy.float32), v)
        self.assertEqual(batch.step(1, mask=numpy.array([True, False, True])), 0)
        self.assertEqual([t > 0 for t in batch.time], [True, False, True])
        with self.assertRaises(ValueError):
            batch.step(1, mask=numpy.ones((3, 2), dtype=int))
        with self.assertRaises(ValueError):
            numpy.asarray(batch.status)[0] = 1  # read only


if __name__ == "__main__":
    unittest.main()
