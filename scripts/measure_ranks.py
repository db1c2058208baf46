"""measure_ranks.py PROGRAM [KILLS] [INTERRUPTS] -- runs of several ranks (mpirun) that lose a rank while they record.

A rank is killed (SIGKILL) at a random moment (seeded), KILLS times, on 2, 3 and 4 ranks by turns, the one that records
(rank 0) every third time. mpirun must end with a status other than 0, no rank may be left, and the recording must open
and contain everything up to the last flush, which happens every second. The longest time between the last recorded step
and the kill is printed. Every fifth recording is continued on another number of ranks, and must end well. Then INTERRUPTS
runs get Ctrl-C (SIGINT to mpirun): no rank may be left, and the recording must be closed as interrupted."""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time

from recorded_runs import PATIENCE, info, remove, start, wait_for, wait_for_recording

program = sys.argv[1]
kills = int(sys.argv[2]) if len(sys.argv) > 2 else 20
interrupts = int(sys.argv[3]) if len(sys.argv) > 3 else 6

SCENE = """{"ground": [{"type": "plane", "friction": 0.5}],
"fills": [{"name": "grains", "region": {"type": "box", "position": [0, 0, 0.5], "size": [0.6, 0.6, 0.8]},
           "shapes": [{"type": "sphere", "radius": 0.04}], "number": 200, "arrangement": "lattice", "seed": 3}],
"simulation": {"h": 0.002, "end": 1e6, "device": "flat"}}"""

environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_mpi_yield_when_idle="1", OMP_NUM_THREADS="1")


def run_on(ranks, *words):
    return start(["mpirun", "-n", str(ranks), program, "run", *words, "-q"], env=environment)


def ranks_of(run):
    """The process id of each rank, by its number."""
    found = {}
    for task in os.listdir(f"/proc/{run.pid}/task"):
        with open(f"/proc/{run.pid}/task/{task}/children", encoding="ascii") as text:
            for child in text.read().split():
                try:
                    with open(f"/proc/{child}/environ", "rb") as names:
                        for name in names.read().split(b"\0"):
                            if name.startswith(b"OMPI_COMM_WORLD_RANK="):
                                found[int(name.split(b"=")[1])] = int(child)
                except OSError:
                    pass
    return found


def is_there(process):
    try:
        with open(f"/proc/{process}/stat", encoding="ascii") as text:
            return text.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def finish(run, processes, what):
    try:
        message = run.communicate(timeout=PATIENCE)[1]
    except subprocess.TimeoutExpired:
        sys.exit(f"{what}: mpirun did not end within {PATIENCE} s")
    wait_for(lambda: not any(is_there(process) for process in processes), f"{what}: a rank is left")
    return message


randomly = random.Random(26)
with tempfile.TemporaryDirectory() as folder:
    scene, path = f"{folder}/pile.json", f"{folder}/run.h5"
    with open(scene, "w", encoding="utf-8") as out:
        out.write(SCENE)
    lost, gone_on, longest_end = [], 0, 0.0
    for k in range(kills + interrupts):
        ranks = 2 + k % 3
        what = f"run {k} on {ranks} ranks"
        remove(path)
        run = run_on(ranks, scene, "-o", path)
        wait_for_recording(run, path, what)
        seen = time.monotonic()
        processes = ranks_of(run)
        if len(processes) != ranks:
            sys.exit(f"{what}: ranks {sorted(processes)} were found")
        time.sleep(randomly.uniform(0, 2.5 if k % 4 == 0 else 0.6))
        killed = 0 if k % 3 == 0 else randomly.randrange(1, ranks)
        end = time.monotonic()
        if k < kills:
            os.kill(processes[killed], signal.SIGKILL)
        else:
            run.send_signal(signal.SIGINT)
        message = finish(run, processes.values(), what)
        longest_end = max(longest_end, time.monotonic() - end)
        if run.returncode == 0:
            sys.exit(f"{what}: ended with status 0")
        found = info(program, path, what)
        if k >= kills:
            if found["outcome"] != "interrupted":
                sys.exit(f"{what}: after Ctrl-C the recording is called {found['outcome']}: {message}")
            continue
        lost.append(end - seen - found["wall_seconds"])
        if k % 5 == 0:
            other = 2 + (k + 1) % 3
            further, to = f"{folder}/further.h5", found["last"] + 0.05 if "last" in found else 1e3
            run = run_on(other, "--restart", path, "-o", further, "--set", f"simulation/end={to}")
            message = finish(run, [], f"{what}, going on with {other}")
            if run.returncode != 0 or info(program, further, what)["outcome"] != "finished":
                sys.exit(f"{what}: going on with {other} ranks ended with {run.returncode}: {message}")
            os.unlink(further)
            gone_on += 1
    if lost:
        print(f"{kills} kills of a rank: {len(lost)} recordings open, at most {max(lost):.2f} s lost (a flush is due every "
              f"1 s), {gone_on} gone on with another number of ranks")
    print(f"{interrupts} times Ctrl-C: {interrupts} recordings closed as interrupted; no rank left after at most {longest_end:.1f} s")
