"""recorded_runs.py -- shared by measure_kills.py and measure_ranks.py: starts runs that record, and reads their
recordings."""

import json
import os
import signal
import subprocess
import sys
import time

PATIENCE = 120  # seconds until a busy machine has started or ended a run


def start(command, **more):
    """Start a run. Its standard error is a pipe, and Ctrl-C ends it even if this script ignores that."""
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL), **more)


def wait_for(condition, what):
    """Wait until the condition is true; exit with an error after PATIENCE seconds."""
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"{what}: not within {PATIENCE} s")
        time.sleep(0.005)


def wait_for_recording(run, path, what):
    """Wait until the recording exists or the run has ended."""
    wait_for(lambda: os.path.exists(path) or run.poll() is not None, f"{what}: no recording")


def remove(path):
    """Remove the file if it exists."""
    if os.path.exists(path):
        os.unlink(path)


def info(program, path, what):
    """`PROGRAM info` of a recording, which must open."""
    done = subprocess.run([program, "info", path, "--json"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{what}: the recording does not open: {done.stderr}")
    return json.loads(done.stdout)
