"""With numpy: arrays without copies in both directions, structured tables. Ends with 77 (skipped) without."""
import os
import sys
import tempfile
import unittest

try:
    import numpy
except ImportError:
    print("numpy: skipped: there is none here (Debian: python3-numpy)")
    sys.exit(77)

import stiction
import support


class Numpy(unittest.TestCase):
    def test_arrays_share_memory(self):
        system = support.system(support.drop())
        array = system.poses()
        first, second = numpy.asarray(array), numpy.asarray(array)
        self.assertTrue(numpy.shares_memory(first, second))
        self.assertEqual((first.dtype, first.shape), (numpy.float64, (4, 7)))
        self.assertFalse(first.flags.writeable)
        self.assertTrue(numpy.array_equal(numpy.asarray(array[2]), first[2]))
        self.assertTrue(numpy.array_equal(numpy.asarray(array[::-1]), first[::-1]))
        self.assertTrue(numpy.array_equal(numpy.asarray(array[::-2]), first[::-2]))
        del array, system
        self.assertEqual(first[0, 2], 0.2)

    def test_state_from_any_array(self):
        system = support.system(support.box())
        q = numpy.array(system.q)
        q[0] = 3
        system.q = q
        self.assertEqual(system.pose("box").position[0], 3)
        wide = numpy.zeros((7, 2))
        wide[:, 1] = q
        system.q = wide[:, 1]  # with strides
        self.assertEqual(system.pose("box").position[0], 3)
        system.v = numpy.ones(6, dtype=numpy.int32)
        self.assertEqual(system.v.tolist(), [1] * 6)
        system.v = numpy.zeros(6, dtype=">f8")  # of another byte order
        self.assertEqual(system.v.tolist(), [0] * 6)
        with self.assertRaises(ValueError):
            system.v = numpy.zeros(5)
        with self.assertRaises((TypeError, ValueError)):
            system.v = numpy.zeros(6, dtype=complex)

    def test_tables_are_structured_arrays(self):
        system = support.system(support.box())
        system.step(steps=10)
        table = system.contacts()
        array = numpy.asarray(table)
        self.assertEqual(array.dtype.names, tuple(n for n in table.columns))
        for name in array.dtype.names:
            self.assertTrue(numpy.array_equal(array[name], numpy.asarray(table[name])), name)
            self.assertTrue(numpy.shares_memory(array[name], numpy.asarray(table[name])), name)
        for k, row in enumerate(table):
            for name in array.dtype.names:
                self.assertTrue(numpy.array_equal(array[k][name], getattr(row, name)), name)

    def test_every_kind_of_table(self):
        description = support.pendulum()
        description["ground"] = [{"type": "plane", "position": [0, 0, -1.2]}]
        description["bodies"].append(
            {"name": "ball", "position": [2, 0, -1], "shapes": [{"type": "sphere", "radius": 0.1, "density": 500}]}
        )
        system = support.system(description, preset="accurate")
        tables = []
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "r.h5")
            with system.record(path, rate=0):
                while not len(system.events()):
                    system.step()
                tables += [system.events(), system.islands(), system.contacts(), system.joints()]
                tables += [system.rays([(0, 0, 9)], [(0, 0, -1)])]
            with stiction.Recording(path) as recording:
                tables += [
                    recording.steps(),
                    recording.frames(),
                    recording.contacts(),
                    recording.joints(),
                    recording.events(),
                    recording.checkpoints(),
                ]
        for table in tables:
            array = numpy.asarray(table)
            self.assertEqual(len(array), len(table))
            self.assertGreater(len(array), 0)
            for name in array.dtype.names:
                value = getattr(table[-1], name)
                got = array[-1][name]
                if isinstance(value, str):
                    continue  # texts are bytes, events numbers
                self.assertTrue(numpy.array_equal(got, value), (table, name))

    def test_matrices(self):
        W = numpy.eye(3) * 2
        problem = stiction.FrictionProblem(numpy.array([0.5]), W=W, q=numpy.array([-1.0, 0, 0]))
        self.assertAlmostEqual(problem.solve().r[0], 0.5, 9)
        order = numpy.asfortranarray(numpy.arange(9.0).reshape(3, 3) + 20 * numpy.eye(3))
        data, rows, starts = stiction.FrictionProblem([0.5], W=order, q=[0, 0, 0]).W
        dense = numpy.zeros((3, 3))
        for j in range(3):
            for k in range(starts[j], starts[j + 1]):
                dense[rows[k], j] = data[k]
        self.assertTrue(numpy.array_equal(dense, order))
        ints = stiction.FrictionProblem([0.5], W=numpy.eye(3, dtype=int), q=[-1, 0, 0])
        self.assertAlmostEqual(ints.solve().r[0], 1, 9)
        with self.assertRaises(ValueError):
            stiction.FrictionProblem([0.5], W=numpy.eye(9)[:1], q=[0, 0, 0])
        with self.assertRaises((TypeError, ValueError)):
            stiction.FrictionProblem([0.5], W=numpy.zeros(9), q=[0, 0, 0])

    def test_rays_of_any_array(self):
        system = support.system(support.box())
        expected = system.rays([(0, 0, 1), (5, 0, 1)], [(0, 0, -1)] * 2)["distance"].tolist()
        for kind in ("f8", "f4", "f2", ">f8", "i1", "i2", "i4", "i8", "u1", "u8", "g"):
            start = numpy.array([[0, 0, 1], [5, 0, 1]], dtype=kind)
            down = numpy.array([[0, 0, -1]] * 2, dtype="f4")
            for given in (start, numpy.asfortranarray(start), numpy.repeat(start, 2, axis=1)[:, ::2]):
                self.assertEqual(system.rays(given, down)["distance"].tolist(), expected, kind)

    def test_scene_from_arrays(self):
        description = support.box()
        description["bodies"][0]["position"] = numpy.array([0, 0, 0.1])
        description["simulation"]["h"] = numpy.float64(0.002)
        self.assertEqual(stiction.Scene.from_dict(description).settings["h"], 0.002)
        self.assertEqual(
            support.system(support.box(), h=numpy.float32(0.5), facets=numpy.int64(6)).settings["facets"], 6
        )


if __name__ == "__main__":
    unittest.main()
