"""measure_signals.py PROGRAM [--only PART] [--python] [--tries N] -- time from a signal to the end of a run.

Every example scene, 100 coincident boxes and spheres and a pile of 20,000 spheres are run with a recording;
SIGINT or SIGTERM arrives at a random moment (seeded), also while the scene is still being read. Printed per
scene: the worst of the tries in seconds of processor time that the run used after the signal, and in seconds by
the clock. The first does not depend on the load of the machine and must stay below 0.1 s plus a flush, which it
includes. A run that ends with another status than 128 + signal, or a recording that does not open, is an error."""

import argparse
import glob
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

LIMIT = 0.1  # seconds of CPU time, in addition to the flush

parser = argparse.ArgumentParser()
parser.add_argument("program")
parser.add_argument("--only", default="")
parser.add_argument("--tries", type=int, default=2)
parser.add_argument("--longest", type=float, default=1.5, help="the signal comes within so many seconds")
parser.add_argument("--python", action="store_true", help="step in Python, KeyboardInterrupt instead of a recording")
parser.add_argument("--view", action="store_true", help="`view --live` instead of `run`")
options = parser.parse_args()


def stacked(kind, count, apart):
    shape = {"type": "box", "size": [0.2, 0.2, 0.2]} if kind == "box" else {"type": "sphere", "radius": 0.1}
    side = round(count ** (1 / 3)) + 1
    at = [[apart * (k % side), apart * (k // side % side), 0.5 + apart * (k // side // side)] for k in range(count)]
    if apart == 0:
        at = [[0, 0, 0.5 + 1e-9 * k] for k in range(count)]
    return {"ground": [{"type": "plane"}], "simulation": {"end": 1000},
            "bodies": [{"position": place, "shapes": [shape]} for place in at]}


def cpu_of(pid):
    """Seconds that all threads of a process and its children have run."""
    total = 0
    for task in glob.glob(f"/proc/{pid}/task/*"):
        try:
            with open(f"{task}/schedstat", encoding="ascii") as text:
                total += 1e-9 * int(text.read().split()[0])
            with open(f"{task}/children", encoding="ascii") as text:
                total += sum(cpu_of(child) for child in text.read().split())
        except (OSError, IndexError):
            pass
    return total


IN_PYTHON = """
import sys, stiction
scene = stiction.Scene(sys.argv[1])
system = scene.system()
print("ready", flush=True)
while True:
    system.step()
"""


def command(path, folder):
    if options.python:
        return [sys.executable, "-c", IN_PYTHON, path]
    if options.view:
        return [options.program, "view", path, "--live", "--no-browser"]
    return [options.program, "run", path, "-q", "-o", f"{folder}/run.h5", "--set", "simulation/end=1e6"]


def try_once(path, folder, number, wait):
    output = f"{folder}/run.h5"
    if os.path.exists(output):
        os.unlink(output)
    with open(f"{folder}/err", "w+b") as err:
        child = subprocess.Popen(command(path, folder), stdout=subprocess.PIPE, stderr=err,
                                 preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        if options.python:
            child.stdout.readline()  # Python sees a signal after the call that reads the scene; steps are what is measured
        time.sleep(wait)
        before, start = cpu_of(child.pid), time.monotonic()
        if child.poll() is not None:
            return None
        child.send_signal(number)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.monotonic() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        child.stdout.close()
        err.seek(0)
        said = err.read().decode(errors="replace").strip()
    expected = [128 + number, -number] if options.python or not os.path.exists(output) else [128 + number]  # reading: plain end
    if options.view:
        expected = [0, *expected]
    if options.python and number == signal.SIGINT:
        expected += [1]
    if child.returncode not in expected:
        if child.returncode == 0 or "end" in said:
            return None
        sys.exit(f"{path}: status {child.returncode} after signal {number}: {said[-300:]}")
    if os.path.exists(output):
        info = subprocess.run([options.program, "info", output], capture_output=True, text=True, check=False)
        if info.returncode != 0:
            sys.exit(f"{path}: the recording does not open: {info.stderr}")
    return usage.ru_utime + usage.ru_stime - before, wall


randomly = random.Random(5)
worst = (0, 0, "")
with tempfile.TemporaryDirectory() as room:
    scenes = sorted(glob.glob("examples/**/*.json", recursive=True)) + sorted(glob.glob("examples/**/*.urdf", recursive=True))
    for name, scene in (("100 coincident boxes", stacked("box", 100, 0)), ("100 coincident spheres", stacked("sphere", 100, 0)),
                        ("20000 spheres", stacked("sphere", 20000, 0.19)), ("1000 boxes", stacked("box", 1000, 0.19))):
        scenes.append(f"{room}/{name}.json")
        with open(scenes[-1], "w", encoding="utf-8") as out:
            json.dump(scene, out)
    for path in scenes:
        if options.only not in path:
            continue
        found = []
        for k in range(options.tries):
            number = (signal.SIGINT, signal.SIGTERM)[k % 2]
            got = try_once(path, room, number, randomly.uniform(0.05, options.longest))
            if got is not None:
                found.append(got)
        if not found:
            print(f"{path:60s} ended by itself")
            continue
        cpu, wall = (max(x[k] for x in found) for k in range(2))
        worst = max(worst, (cpu, wall, path))
        print(f"{path:60s} {cpu:6.3f} s of processor time, {wall:6.3f} s by the clock{'   SLOW' if cpu > LIMIT else ''}", flush=True)
print(f"worst: {worst[0]:.3f} s of processor time ({worst[2]})")
