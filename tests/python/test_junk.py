"""Whatever is passed to whatever there is: an exception or an answer, never a crash."""
import inspect
import math
import os
import random
import tempfile
import unittest

import stiction
import support

JUNK = [
    None,
    True,
    0,
    -1,
    3,
    2**31,
    -(2**70),
    0.5,
    -1.5,
    math.nan,
    math.inf,
    "",
    "x",
    "box",
    "a\0b",
    b"",
    b"\xff",
    [],
    [1],
    [math.nan] * 3,
    [1, 2, 3],
    [[1, 2], [3]],
    ["a"] * 7,
    {},
    {"type": "sphere"},
    {"h": 1},
    (),
    ([1.0], ([0], [0])),
    ([1.0], [0], [0, 1]),
    object(),
    int,
    len,
    memoryview(b"12345678"),
    memoryview(b"1" * 56).cast("d"),
    range(7),
    "\ud800",
    slice(None, None, 0),
    slice(5, -9, -3),
]
LONG = {"step", "run"}  # these take a number of steps: a large one is not junk but patience


class Junk(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)

    def objects(self):
        system = support.system(support.box())
        with system.record("run.h5"):
            system.step(steps=5)
        problem = system.problem(local=True)
        yield from (
            stiction,
            stiction.Scene,
            stiction.Scene.from_dict(support.box()),
            system,
            system.q,
            system.contacts(),
            stiction.Recording("run.h5"),
            problem,
            stiction.LcpProblem([[1.0]], [1.0]),
            stiction.Error,
        )

    def call(self, thing, arguments, keywords=()):
        try:
            thing(*arguments, **dict(keywords))
        except (Exception, RecursionError):
            pass

    def test_every_function_with_anything(self):
        rng = random.Random(1)
        count = 0
        for thing in self.objects():
            for name in sorted(dir(thing), key=lambda n: n in ("close", "__exit__")):  # these last
                value = getattr(thing, name, None)
                if not callable(value) or name in LONG or name in ("__class__", "__subclasshook__"):
                    continue
                for _ in range(40):
                    self.call(value, rng.choices(JUNK, k=rng.randrange(4)))
                    count += 1
                try:
                    names = [
                        p.name
                        for p in inspect.signature(value).parameters.values()
                        if p.kind == p.POSITIONAL_OR_KEYWORD
                    ]
                except (TypeError, ValueError):
                    continue
                for _ in range(20):
                    chosen = [n for n in names if rng.random() < 0.7]
                    self.call(value, (), [(n, rng.choice(JUNK)) for n in chosen])
        self.assertGreater(count, 5000)

    def test_steps(self):
        system = support.system(support.box())
        for junk in JUNK:
            self.call(system.step, (junk,))
            if not isinstance(junk, int) or junk < 10:
                self.call(system.step, (1e-3, junk))
            self.call(system.run, (0.01, junk if junk != 2**31 else None))
        system.step()

    def test_attributes_and_items(self):
        for thing in self.objects():
            for name in dir(thing):
                for junk in JUNK:
                    if name.startswith("__") or isinstance(thing, type) or thing is stiction:
                        continue
                    self.call(setattr, (thing, name, junk))
            for junk in JUNK:
                self.call(lambda: thing[junk], ())

    def test_types_are_what_they_are(self):
        system = support.system(support.box())
        for thing in (system, system.q, system.scene, system.contacts()):
            with self.assertRaises(TypeError):
                thing.__class__ = stiction.Recording
            with self.assertRaises(TypeError):
                type(thing).new_member = 1
            with self.assertRaises(TypeError):
                object.__new__(type(thing))
            with self.assertRaises(TypeError):
                type("Derived", (type(thing),), {})
        for cls in (stiction.Array, stiction.Table, stiction.Recorder):
            with self.assertRaises(TypeError):
                cls()


if __name__ == "__main__":
    unittest.main()
