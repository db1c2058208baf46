"""coverage.py FOLDER FLOOR -- coverage of src/ by gcov, per folder: lines and branches in per cent, compared with the
floor."""

import glob
import gzip
import json
import os
import subprocess
import sys
import tempfile

build, floor_file = sys.argv[1:]
lines, branches = {}, {}  # (file, line) -> reached; (file, line, k) -> reached
notes = [os.path.abspath(p) for p in glob.glob(f"{build}/**/*.gcda", recursive=True) if "/src/" in p]
with tempfile.TemporaryDirectory() as room:
    for first in range(0, len(notes), 50):
        subprocess.run(["gcov", "--json-format", "--branch-probabilities", *notes[first : first + 50]],
                       cwd=room, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        for path in glob.glob(f"{room}/*.gz"):
            with gzip.open(path) as text:
                report = json.load(text)
            os.unlink(path)
            for file in report["files"]:
                name = os.path.relpath(os.path.join(report["current_working_directory"], file["file"]))
                if not name.startswith("src/"):
                    continue
                for line in file["lines"]:
                    at = (name, line["line_number"])
                    lines[at] = lines.get(at, False) or line["count"] > 0
                    for k, branch in enumerate(line["branches"]):
                        if not branch["throw"]:
                            branches[(*at, k)] = branches.get((*at, k), False) or branch["count"] > 0

floor = {}
if os.path.exists(floor_file):
    for row in open(floor_file, encoding="utf-8"):
        words = row.split()
        if words and not row.startswith("#"):
            floor[words[0]] = (float(words[1]), float(words[2]))


def share(reached, folder):
    found = [hit for at, hit in reached.items() if at[0].split("/")[1] == folder]
    return 100.0 * sum(found) / max(1, len(found))


low, table = [], {}
for folder in sorted({at[0].split("/")[1] for at in lines}):
    now = share(lines, folder), share(branches, folder)
    table[folder] = now
    least = floor.get(folder, (0.0, 0.0))
    print(f"{folder:12s} lines {now[0]:5.1f} % (at least {least[0]:.1f})   branches {now[1]:5.1f} % (at least {least[1]:.1f})")
    if now[0] < least[0] - 0.05 or now[1] < least[1] - 0.05:
        low.append(folder)
if os.environ.get("ST_UPDATE_COVERAGE") == "1":
    with open(floor_file, "w", encoding="utf-8") as out:
        out.write("# folder of src/, lines and branches in per cent that the plain tests reach at least: only rises\n")
        for folder, now in table.items():
            least = floor.get(folder, (0.0, 0.0))
            out.write(f"{folder} {max(least[0], now[0] - 0.5):.1f} {max(least[1], now[1] - 0.5):.1f}\n")
elif low:
    sys.exit(f"coverage fell in: {', '.join(low)}")
