#!/usr/bin/env python3
"""The state hash (t, q, v bit for bit) of every example scene under every preset.

    scripts/state_hashes.py > before.txt               # of build/bin/stiction
    scripts/state_hashes.py --program OTHER --compare before.txt

A change that only moves code changes no line. One line per scene and preset: scene, preset, how the run ended,
steps, hash. Runs end after a number of steps, or after a wall time: the latter is "slow" and has no hash, so that
a busy machine gives "slow" and never another hash.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def step_length(scene):
    """h of the scene; files that are no JSON scenes (robots) have the default."""
    try:
        return json.loads(scene.read_text(encoding="utf8")).get("simulation", {}).get("h", 1e-3)
    except ValueError:
        return 1e-3


def run(program, scene, preset, steps, seconds):
    line = [str(scene.relative_to(ROOT / "examples")), preset]
    command = [program, "run", str(scene), "--json", "--quiet", "--set", "simulation/preset=" + preset, "--set",
               "simulation/end=%.17g" % (step_length(scene) * steps)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
        answer = json.loads(done.stdout)
        line += [answer["status"], str(answer["steps"]), answer["state_hash"]]
    except subprocess.TimeoutExpired:
        line += ["slow", "-", "-"]
    except (ValueError, KeyError):
        line += ["refused", str(done.returncode), "-"]
    return " ".join(line)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(ROOT / "build/bin/stiction"))
    parser.add_argument("--compare", metavar="FILE", help="lines of an earlier run to compare with")
    parser.add_argument("--only", default="", help="only scenes whose path contains this")
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--seconds", type=float, default=20, help="wall time of one run, at most")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()

    settings = json.loads(subprocess.check_output([args.program, "settings", "--json"], text=True))
    scenes = sorted(s for s in (ROOT / "examples").rglob("*")
                    if s.suffix in (".json", ".urdf", ".xml") and args.only in str(s))
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        lines = list(pool.map(lambda job: run(args.program, *job, args.steps, args.seconds),
                              [(s, p) for s in scenes for p in settings["settings"]["preset"]["words"]]))
    if args.compare is None:
        print("\n".join(lines))
        return 0
    with open(args.compare, encoding="utf8") as file:
        before = {tuple(line.split()[:2]): line.rstrip("\n") for line in file}
    pairs = [(before.get(tuple(line.split()[:2]), "(new)"), line) for line in lines]
    differ = [(old, new) for old, new in pairs if old != new and " slow " not in old + new]
    for old, new in differ:
        print("- %s\n+ %s" % (old, new))
    print("state_hashes: %d of %d lines differ" % (len(differ), len(lines)))
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
