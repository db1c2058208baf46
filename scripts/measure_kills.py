"""measure_kills.py PROGRAM [KILLS] [WRITERS] -- runs that are killed while they record, and runs that write to one file.

A run is killed (SIGKILL) at a random moment (seeded), KILLS times. Its recording must open, and must hold all but what the
last flush interval, a second, computed: printed is the longest time between the last recorded step and the kill. Then two
runs get the same output at once, WRITERS times: one of them must write it, and the other must refuse by name."""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

program = sys.argv[1]
kills = int(sys.argv[2]) if len(sys.argv) > 2 else 200
writers = int(sys.argv[3]) if len(sys.argv) > 3 else 100
SCENE = """{"ground": [{"type": "plane"}], "simulation": {"end": 1e7, "h": 0.001}, "bodies":
[{"position": [0, 0, 1], "shapes": [{"type": "sphere", "radius": 0.1}]}]}"""


def start(scene, path, *more):
    return subprocess.Popen([program, "run", scene, "-q", "-o", path, *more], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                            text=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))


def info(path):
    done = subprocess.run([program, "info", path, "--json"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{path} does not open: {done.stderr}")
    return json.loads(done.stdout)


randomly = random.Random(23)
with tempfile.TemporaryDirectory() as folder:
    scene, path = f"{folder}/ball.json", f"{folder}/run.h5"
    with open(scene, "w", encoding="utf-8") as out:
        out.write(SCENE)
    lost = []
    for k in range(kills):
        if os.path.exists(path):
            os.unlink(path)
        child = start(scene, path)
        begin = time.monotonic()
        while not os.path.exists(path) and time.monotonic() < begin + 20:
            time.sleep(0.002)
        seen = time.monotonic()  # the run began before: what is lost is at most a little more than what is found here
        time.sleep(randomly.uniform(0, 2.5 if k % 10 == 0 else 0.4))
        child.kill()
        end = time.monotonic()
        child.wait()
        child.stderr.close()
        found = info(path)
        lost.append(end - seen - found["wall_seconds"])
    if lost:
        print(f"{kills} kills: {len(lost)} recordings open, at most {max(lost):.2f} s lost (a flush is due every 1 s)")

    refused = 0
    for k in range(writers):
        if os.path.exists(path):
            os.unlink(path)
        both = [start(scene, path, "--set", "simulation/end=1e7") for _ in range(2)]
        deadline = time.monotonic() + 60
        while all(child.poll() is None for child in both) and time.monotonic() < deadline:
            time.sleep(0.005)
        ended = [child for child in both if child.poll() is not None]
        if len(ended) != 1 or ended[0].returncode != 2:
            sys.exit(f"pair {k}: {[child.poll() for child in both]}")
        said = ended[0].stderr.read()
        if path not in said or "another run" not in said:
            sys.exit(f"pair {k}: the second run says: {said}")
        refused += 1
        winner = both[1 - both.index(ended[0])]
        while not os.path.exists(path) and winner.poll() is None:
            time.sleep(0.005)
        winner.send_signal(signal.SIGINT)
        winner.wait()
        for child in both:
            child.stderr.close()
        if winner.returncode != 130 or info(path)["outcome"] != "interrupted":
            sys.exit(f"pair {k}: the winner ended with {winner.returncode}")
    print(f"{writers} pairs of writers: {refused} refused by name, {writers} recordings whole")
