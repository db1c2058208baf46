#!/usr/bin/env python3
"""models.py FOLDER... -- robot files of other projects: how many are read, run for two seconds, explode; and, if MuJoCo
is installed (its Python module, or libmujoco-dev), how far free motion differs from it.

Every .urdf, .sdf, .world and .xml file (with <mujoco>, <robot> or <sdf> as its root) below the folders is checked,
and run for two simulated seconds if it is read. Refusals are counted by message. Model files are not in this
repository.

    bench/models/models.py ~/mujoco_menagerie ~/dm_control/suite --jobs 2 --out results.json
"""
import argparse, collections, concurrent.futures, csv, json, math, os, re, subprocess, sys, tempfile

ROOTS = re.compile(rb"<\s*(mujoco|robot|sdf)\b")


def find(folders):
    for folder in folders:
        for base, _, names in sorted(os.walk(folder)):
            for name in sorted(names):
                path = os.path.join(base, name)
                if not name.endswith((".urdf", ".sdf", ".world", ".xml")):
                    continue
                with open(path, "rb") as file:
                    if ROOTS.search(file.read(65536)):
                        yield folder, path


def call(command, seconds):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, errors="replace")
        return done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired:
        return None, "", "takes longer than %g s" % seconds


def one(args, folder, path):
    """The result for one file: read, refused; finished, slow, failed, exploded; agreement."""
    result = {"folder": folder, "file": path}
    status, _, err = call([args.program, "check", path], args.limit)
    result["read"] = status == 0
    if status != 0:
        result["why"] = err.strip().splitlines()[0] if err.strip() else "status %s" % status
        return result
    sets = ["--set", "simulation/end=%g" % args.end]
    status, out, err = call([args.program, "run", path, "--json"] + sets, args.limit)
    result["run"] = "slow" if status is None else "finished" if status == 0 else "failed"
    if status == 0:
        final = json.loads(out)
        fastest = max([abs(x) for body in final["bodies"].values() for x in body.get("velocity", [])] + [0])
        result["fastest"] = fastest
        if fastest > args.fast:
            result["run"] = "exploded"
    else:
        result["why"] = err.strip().splitlines()[0] if err.strip() else "status %s" % status
    if args.peer:
        result["difference"] = difference(args, path)
    return result


def peer_positions(args, path):
    """Centres of mass of named bodies after half a second of MuJoCo without contacts, RK4; or a text with the reason
    why there are none."""
    try:
        import mujoco
    except ImportError:
        if args.motion is None:
            return "MuJoCo is not installed"
        status, out, err = call([args.motion, path, "0.5", "5e-4"], args.limit)
        if status != 0:
            return err.strip() or "takes longer than %g s" % args.limit
        words = [line[5:].rsplit(None, 7) for line in out.splitlines() if line.startswith("body ")]
        return {w[0]: [float(x) for x in w[1:4]] for w in words}
    try:
        model = mujoco.MjModel.from_xml_path(path)
    except ValueError as error:
        return str(error)
    model.opt.integrator, model.opt.timestep = mujoco.mjtIntegrator.mjINT_RK4, 5e-4
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    data = mujoco.MjData(model)
    while data.time < 0.5 - 1e-9:
        mujoco.mj_step(model, data)
    names = {k: mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_BODY, k) for k in range(1, model.nbody)}
    return {name: list(data.xipos[k]) for k, name in names.items() if name}


def difference(args, path):
    """Largest distance of a body's centre of mass after half a second without contacts, both with fine steps."""
    there = peer_positions(args, path)
    if isinstance(there, str):
        return there
    with tempfile.TemporaryDirectory() as folder:
        ours = os.path.join(folder, "run.csv")
        status, _, err = call([args.program, "run", path, "-o", ours, "--set", "simulation/end=0.5", "--set",
                               "simulation/h=0.001", "--set", "simulation/integrator=sdirk2", "--set",
                               "robots/0/merge=false", "--set", "robots/0/contacts=false"], args.limit)
        if status != 0:
            return err.strip()[:200] or "takes longer than %g s" % args.limit
        with open(ours) as file:
            names, last = next(csv.reader(file)), file.readlines()[-1]
        state = dict(zip(names, (float(x) for x in last.strip().split(","))))
    distances = [math.dist(p, [state[name + "." + c] for c in "xyz"]) for name, p in there.items() if name + ".x" in state]
    return max(distances) if distances else "no body of the same name"


def build_motion(folder):
    """The program that runs MuJoCo through its library; None if it cannot be built."""
    out = os.path.join(folder, "mujoco_motion")
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "mujoco_motion.c")
    status, _, _ = call(["cc", "-O1", "-o", out, source, "-lmujoco"], 60)
    return out if status == 0 else None


def table(results):
    by_folder = collections.defaultdict(collections.Counter)
    for r in results:
        count = by_folder[r["folder"]]
        count["files"] += 1
        count["read"] += r["read"]
        count[r.get("run", "refused")] += 1
        if isinstance(r.get("difference"), float):
            count["compared"] += 1
            count["agree"] += r["difference"] < 1e-4
    words = ["files", "read", "refused", "finished", "slow", "failed", "exploded", "compared", "agree"]
    print("%-40s" % "folder" + "".join("%10s" % w for w in words))
    for folder, count in by_folder.items():
        print("%-40.40s" % folder + "".join("%10d" % count[w] for w in words))
    reasons = collections.Counter(re.sub(r'"[^"]*"|-?\d[\d.e+-]*|^[^:]*:[0-9]*: ', "*", r["why"])[:100]
                                  for r in results if "why" in r)
    for reason, n in reasons.most_common(20):
        print("%6d  %s" % (n, reason))


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--program", default=os.path.join(here, "..", "..", "build", "bin", "stiction"))
    parser.add_argument("--end", type=float, default=2.0, help="simulated seconds")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds of wall time for a file")
    parser.add_argument("--fast", type=float, default=200.0, help="a body faster than this [m/s] has exploded")
    parser.add_argument("--peer", action="store_true", help="compare with MuJoCo where it is installed")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", help="write every result there, as JSON")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        args.motion = build_motion(folder) if args.peer else None
        results = list(pool.map(lambda f: one(args, *f), find(args.folders)))
    table(results)
    if args.out:
        with open(args.out, "w") as file:
            json.dump(results, file, indent=1)
    return 0 if all(r["read"] and r["run"] == "finished" for r in results) else 1


if __name__ == "__main__":
    sys.exit(main())
