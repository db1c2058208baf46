"""measure_kills.py PROGRAM [KILLS] [WRITERS] -- runs that are killed while they record, and runs that write to one file.

A run is killed (SIGKILL) at a random moment (seeded), KILLS times. Its recording must open and contain everything up to the
last flush, which happens every second. The longest time between the last recorded step and the kill is printed. Then two
runs get the same output at once, WRITERS times: one of them must write it, and the other must fail with a message that names
the file."""

import random
import signal
import sys
import tempfile
import time

from recorded_runs import info, remove, start, wait_for, wait_for_recording

program = sys.argv[1]
kills = int(sys.argv[2]) if len(sys.argv) > 2 else 200
writers = int(sys.argv[3]) if len(sys.argv) > 3 else 100
SCENE = """{"ground": [{"type": "plane"}], "simulation": {"end": 1e7, "h": 0.001}, "bodies":
[{"position": [0, 0, 1], "shapes": [{"type": "sphere", "radius": 0.1}]}]}"""


def run_scene(*more):
    return start([program, "run", scene, "-q", "-o", path, *more])


randomly = random.Random(23)
with tempfile.TemporaryDirectory() as folder:
    scene, path = f"{folder}/ball.json", f"{folder}/run.h5"
    with open(scene, "w", encoding="utf-8") as out:
        out.write(SCENE)
    lost = []
    for k in range(kills):
        remove(path)
        child = run_scene()
        wait_for_recording(child, path, f"run {k}")
        seen = time.monotonic()  # the run began earlier, so the loss is at most slightly larger than computed here
        time.sleep(randomly.uniform(0, 2.5 if k % 10 == 0 else 0.4))
        child.kill()
        end = time.monotonic()
        child.wait()
        child.stderr.close()
        lost.append(end - seen - info(program, path, f"run {k}")["wall_seconds"])
    if lost:
        print(f"{kills} kills: {len(lost)} recordings open, at most {max(lost):.2f} s lost (a flush is due every 1 s)")

    refused = 0
    for k in range(writers):
        remove(path)
        both = [run_scene("--set", "simulation/end=1e7") for _ in range(2)]
        wait_for(lambda: any(child.poll() is not None for child in both), f"pair {k}: neither run was refused")
        ended = [child for child in both if child.poll() is not None]
        if len(ended) != 1 or ended[0].returncode != 2:
            sys.exit(f"pair {k}: {[child.poll() for child in both]}")
        message = ended[0].stderr.read()
        if path not in message or "another run" not in message:
            sys.exit(f"pair {k}: message of the second run: {message}")
        refused += 1
        winner = both[1 - both.index(ended[0])]
        wait_for_recording(winner, path, f"pair {k}")
        winner.send_signal(signal.SIGINT)
        winner.wait()
        for child in both:
            child.stderr.close()
        if winner.returncode != 130 or info(program, path, f"pair {k}")["outcome"] != "interrupted":
            sys.exit(f"pair {k}: the winner ended with {winner.returncode}")
    print(f"{writers} pairs of writers: {refused} refused by name, {writers} recordings whole")
