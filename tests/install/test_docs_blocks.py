#!/usr/bin/env python3
"""test_docs_blocks.py PROGRAM [PAGE...] -- runs the blocks of the pages: shell, Python and scenes, page by page, from top to bottom, in
an empty folder for each page. A JSON block is saved under the name in backquotes before it, with the robots
of the examples that it names. C without a main() is compiled in a function with the variables that it uses. A block that begins with ```sh skip
is not run (it installs, opens a window, or needs a device); one with ```python needs MODULE only where there is that module. No
pages: the start and the tutorials, and with ST_TEST_FULL in the environment all pages of docs/ that have such blocks."""
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
AROUND_C = """#include <stiction/stiction.h>
#include <stiction/batch.h>
void part(st_Scene *scene, st_SystemDef system_def, st_Batch *batch, st_Error err, const unsigned char *done, void policy(const double *, double *))
{
%s}
"""


def blocks(text):
    """(kind, rest of the line, code, text before it) of every fenced block."""
    end = 0
    for found in re.finditer(r"^```(\w+)([^\n]*)\n(.*?)^```$", text, re.S | re.M):
        yield found.group(1), found.group(2).strip(), found.group(3), text[end : found.start()]
        end = found.end()


def run(command, where, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **more)
    if done.returncode != 0:
        sys.exit(f"{where}: exit status {done.returncode}\n{done.stdout}")


def check(page, program):
    text, ran = page.read_text(encoding="utf8"), 0
    environment = dict(os.environ, PATH=f"{pathlib.Path(program).resolve().parent}:{os.environ['PATH']}", STICTION_EXAMPLES=str(ROOT / "examples"))
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "examples").symlink_to(ROOT / "examples")
        script = ""  # the Python of a page goes on where it stopped
        for kind, rest, code, before in blocks(text):
            line = text[: text.index(code)].count("\n") + 1
            where = f"{page.relative_to(ROOT)}:{line}"
            if rest == "skip" or kind not in ("sh", "json", "python", "c"):
                continue
            if rest.startswith("needs ") and importlib.util.find_spec(rest.split()[1]) is None:
                continue
            ran += 1
            for robot in re.findall(r"\b([\w.-]+\.urdf)\b", code):
                if not (pathlib.Path(folder) / robot).exists() and f"-o {robot}" not in code:
                    shutil.copy(ROOT / "examples/robots" / robot, folder)
            if kind == "c":
                run(["cc", "-std=c17", "-fsyntax-only", "-I", ROOT / "include", "-x", "c", "-"], where, input=AROUND_C % code)
            elif kind == "json":
                names = ["scene.json", *re.findall(r"`([\w.-]+\.json)`", before)]
                (pathlib.Path(folder) / names[-1]).write_text(code, encoding="utf8")
                run([program, "check", names[-1]], where, cwd=folder, env=environment)
            elif kind == "sh":
                run(["sh", "-e", "-c", code], where, cwd=folder, env=environment)
            else:
                script += code + "\n"
                run([sys.executable, "-c", script], where, cwd=folder, env=environment)
    return ran


def main():
    program, pages = str(pathlib.Path(sys.argv[1]).resolve()), [pathlib.Path(p).resolve() for p in sys.argv[2:]]
    if not pages:
        docs = ROOT / "docs"
        pages = [ROOT / "README.md", docs / "start.md", *sorted((docs / "tutorials").glob("*.md"))]
        if os.environ.get("ST_TEST_FULL"):  # python.md has a test of its own, tests/python/test_docs.py
            pages += [p for p in sorted([*docs.glob("*.md"), *(docs / "examples").glob("*.md")]) if p not in pages and p.name != "python.md"]
    ran = [check(page, program) for page in pages]
    print(f"{sum(ran)} blocks of {len(pages)} pages run")


if __name__ == "__main__":
    main()
