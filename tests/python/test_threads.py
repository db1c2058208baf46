"""Several threads, Ctrl-C, and memory: nothing is lost, nothing hangs, nothing crashes."""
import gc
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import stiction
import support


class Threads(unittest.TestCase):
    def test_other_threads_run_while_a_system_steps(self):
        system = support.system(support.drop(12))
        counted = 0
        thread = threading.Thread(target=system.step, kwargs={"steps": 3000})
        thread.start()
        while thread.is_alive():
            counted += 1
            time.sleep(1e-4)
        thread.join()
        self.assertGreater(counted, 10)  # with the lock held it would be one or two
        self.assertAlmostEqual(system.time, 6, 6)

    def test_a_system_that_begins_to_step_while_it_is_to_be_recorded(self):
        """record() reads the name of the scene from Python, which lets another thread step."""
        system, loads, threads = support.system(support.drop(12)), json.loads, []

        def busy():
            try:
                system.energy()
            except RuntimeError:
                return True
            return False

        def slow(*args, **keywords):
            if not threads:
                threads.append(threading.Thread(target=system.step, kwargs={"steps": 3000}))
                threads[0].start()
                while not busy() and threads[0].is_alive():
                    time.sleep(1e-4)
            return loads(*args, **keywords)

        with tempfile.TemporaryDirectory() as folder:
            json.loads = slow
            try:
                self.assertRaises(RuntimeError, system.record, os.path.join(folder, "x.h5"))
            finally:
                json.loads = loads
                threads[0].join()
            self.assertEqual(os.listdir(folder), [])

    def test_a_busy_system_refuses(self):
        system = support.system(support.drop(12))
        thread = threading.Thread(target=system.step, kwargs={"steps": 20000})
        thread.start()
        refused, calls = 0, (
            lambda: system.q,
            system.step,
            system.contacts,
            system.clone,
            system.save,
            system.energy,
            lambda: system.ray((0, 0, 9), (0, 0, -1)),
            lambda: system.set_state(time=0),
            repr,
        )
        while thread.is_alive() and refused < 2000:
            for call in calls:
                try:
                    call(system) if call is repr else call()
                except RuntimeError as error:
                    self.assertIn("stepping", str(error))
                    refused += 1
        thread.join()
        self.assertGreater(refused, 10)
        system.step()

    def test_many_systems_of_one_scene(self):
        scene = stiction.Scene.from_dict(support.drop(6))
        hashes = []

        def run():
            system = scene.system()
            for _ in range(20):
                system.step(steps=10)
                system.contacts(), system.poses()
            hashes.append(system.hash())

        threads = [threading.Thread(target=run) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual((len(hashes), len(set(hashes))), (6, 1))

    def test_recorders_in_several_threads(self):
        with tempfile.TemporaryDirectory() as folder:

            def run(k):
                system = support.system(support.drop(3))
                with system.record(os.path.join(folder, f"{k}.h5"), rate=0):
                    for _ in range(10):
                        system.step(steps=5)

            threads = [threading.Thread(target=run, args=(k,)) for k in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            for k in range(4):
                with stiction.Recording(os.path.join(folder, f"{k}.h5")) as recording:
                    self.assertEqual((recording.info.n_steps, recording.info.outcome), (51, "finished"))

    def test_closing_a_recorder_while_its_system_steps(self):
        with tempfile.TemporaryDirectory() as folder:
            system = support.system(support.drop(6))
            recorder = system.record(os.path.join(folder, "r.h5"), rate=0)
            thread = threading.Thread(target=system.step, kwargs={"steps": 500})
            thread.start()
            while thread.is_alive():
                try:
                    recorder.close()
                    break
                except RuntimeError:
                    time.sleep(1e-4)
            thread.join()
            del recorder
            with stiction.Recording(os.path.join(folder, "r.h5")) as recording:
                self.assertTrue(recording.info.closed)

    def test_one_problem_in_several_threads(self):
        problem = stiction.read_problem(support.ROOT / "examples/problems/materials.hdf5")
        outcomes = []

        def run():
            for _ in range(20):
                try:
                    outcomes.append(problem.solve().converged)
                except RuntimeError:  # busy
                    outcomes.append(True)

        threads = [threading.Thread(target=run) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(outcomes, [True] * 80)


INTERRUPTED = """
import signal, sys, threading, time, os
sys.path[:0] = {path!r}
import stiction, support
system = support.system(support.drop(6))
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    system.step(steps=10**12)
    print("ended")
except KeyboardInterrupt:
    steps = system.time / 2e-3
    print("whole" if abs(steps - round(steps)) < 1e-6 and steps > 1 else "torn")
system.step()
"""


@unittest.skipUnless(hasattr(signal, "SIGINT") and os.name == "posix", "needs signals")
class Signals(unittest.TestCase):
    def test_ctrl_c_stops_between_two_steps(self):
        code = INTERRUPTED.format(path=[os.path.dirname(stiction.__file__), os.path.dirname(__file__)])
        started = time.monotonic()
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
        self.assertEqual((done.stdout.strip(), done.returncode), ("whole", 0), done.stderr)
        self.assertLess(time.monotonic() - started, 30)

    def test_handlers_that_touch_the_system_are_refused(self):
        system = support.system(support.drop(6))
        seen = []

        def look(*_):
            try:
                system.q
            except RuntimeError as error:
                seen.append(str(error))
            raise InterruptedError

        before = signal.signal(signal.SIGALRM, look)
        self.addCleanup(signal.signal, signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with self.assertRaises(InterruptedError):
            system.step(steps=10**12)
        self.assertEqual(len(seen), 1)
        system.step()

    def test_a_solver_is_stopped_between_two_iterations(self):
        # Dense and far from diagonal: Gauss-Seidel does not get to 1e-16, and would go on for weeks
        n = 30
        W = [[1.0 + (i == j) * 1e-3 + 0.5 * ((i * j) % 7 == 0) * (i == j) for j in range(3 * n)] for i in range(3 * n)]
        problem = stiction.FrictionProblem([0.7] * n, W=W, q=[-1.0 + 0.37 * (k % 5) for k in range(3 * n)])

        def stop(*_):
            raise InterruptedError

        before = signal.signal(signal.SIGALRM, stop)
        self.addCleanup(signal.signal, signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with self.assertRaises(InterruptedError):
            problem.solve(solver="nsgs", tolerance=1e-16, max_iterations=10**9)
        self.assertGreater(problem.error([0.0] * (3 * n)).error, 0)  # and it can be used again


@unittest.skipIf(support.SANITIZED, "AddressSanitizer keeps what is freed for a while")
@unittest.skipUnless(os.path.exists("/proc/self/statm"), "needs /proc")
class Memory(unittest.TestCase):
    def resident(self):
        gc.collect()
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def flat(self, work, repeats):
        """A cache fills up, a leak goes on: one block lost in every call would be `repeats` blocks in every batch of
        calls. Of pages, the library's memory, a quarter of a megabyte is left for chance: a system takes more than
        50 kB."""
        least_pages = least_blocks = float("inf")
        for _ in range(6):
            pages, blocks = self.resident(), sys.getallocatedblocks()
            for _ in range(repeats):
                work()
            least_pages = min(least_pages, self.resident() - pages)
            least_blocks = min(least_blocks, sys.getallocatedblocks() - blocks)
            if least_pages <= 1 << 18 and least_blocks < repeats / 2:
                return
        self.fail(f"{repeats} calls take {least_pages} bytes and {least_blocks} blocks, every time")

    def test_a_thousand_systems(self):
        description = support.drop(3)

        def work():
            system = stiction.Scene.from_dict(description).system()
            system.step(steps=3)
            system.contacts()["force"].tolist(), list(system.contacts()), system.q, system.clone(), system.save()

        self.flat(work, 1000)

    def test_refusals(self):
        scene = stiction.Scene.from_dict(support.drop(3))
        system = scene.system()

        def work():
            for call in (
                lambda: scene.system(h=-1),
                lambda: stiction.Scene.from_dict({"bodies": 3}),
                lambda: system.pose("nobody"),
                lambda: system.step("x"),
                lambda: system.restore(b"x" * 100),
                lambda: stiction.FrictionProblem([0.5], W=[[1, 2], [3, 4]], q=[1, 2, 3]),
                lambda: stiction.FrictionProblem([-1], W=[[1, 0, 0], [0, 1, 0], [0, 0, 1]], q=[1, 2, 3]),
                lambda: system.rays([(0, 0, 1)], [(0, 0, 0)]),
                lambda: system.overlaps({"type": "sphere"}),
            ):
                try:
                    call()
                except (stiction.Error, KeyError, TypeError, ValueError):
                    pass

        self.flat(work, 200)

    def test_problems_and_queries(self):
        system = support.system(support.drop(3))
        system.step(steps=200)

        def work():
            problem = system.problem(local=True)
            solution = problem.solve()
            problem.error(solution.r), problem.W, problem.determined(solution.r)
            stiction.FrictionProblem(problem.mu, W=problem.W, q=problem.q).solve()
            system.rays([(0, 0, 5)] * 10, [(0, 0, -1)] * 10)["distance"]
            system.closest({"type": "sphere", "radius": 0.1, "position": [0, 0, 3]})
            stiction.LcpProblem([[2, 1], [1, 2]], [-1, -1]).solve()
            stiction.settings(), stiction.presets(), system.settings

        self.flat(work, 200)

    def test_recordings(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "r.h5")
            system = support.system(support.drop(2))

            def work():
                with system.record(path):
                    system.step(steps=2)
                with stiction.Recording(path) as recording:
                    recording.steps(), recording.poses(), recording.contacts(), recording.info, recording.model
                    recording.restore(recording.scene().system())

            self.flat(work, 100)


if __name__ == "__main__":
    unittest.main()
