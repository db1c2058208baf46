#!/usr/bin/env python3
"""test_docs_blocks.py PROGRAM [PAGE...] -- what the pages show runs: shell, Python and scenes, page by page, from top to bottom, in
an empty folder of each page's own. A JSON block is saved under the name that stands in backquotes before it, with the robots
of the examples that it names. A block that begins with ```sh skip is not run (it installs, or opens a window). No pages: the start and the tutorials, and with
ST_TEST_FULL in the environment all pages of docs/ that have such blocks."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def blocks(text):
    """(kind, rest of the line, code, what stands before it) of every fenced block."""
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
        script = ""  # the Python of a page goes on where it stopped
        for kind, rest, code, before in blocks(text):
            line = text[: text.index(code)].count("\n") + 1
            where = f"{page.relative_to(ROOT)}:{line}"
            if rest == "skip" or kind not in ("sh", "json", "python"):
                continue
            ran += 1
            if kind == "json":
                names = ["scene.json", *re.findall(r"`([\w.-]+\.json)`", before)]
                for robot in re.findall(r'"([\w.-]+\.urdf)"', code):
                    shutil.copy(ROOT / "examples/robots" / robot, folder)
                (pathlib.Path(folder) / names[-1]).write_text(code, encoding="utf8")
                run([program, "check", names[-1]], where, cwd=folder, env=environment)
            elif kind == "sh":
                run(["sh", "-e", "-c", code], where, cwd=folder, env=environment)
            else:
                script += code + "\n"
                run([sys.executable, "-c", script], where, cwd=folder, env=environment)
    return ran


def main():
    program, pages = sys.argv[1], [pathlib.Path(p).resolve() for p in sys.argv[2:]]
    if not pages:
        docs = ROOT / "docs"
        pages = [docs / "start.md", *sorted((docs / "tutorials").glob("*.md"))]
        if os.environ.get("ST_TEST_FULL"):  # python.md has a test of its own, tests/python/test_docs.py
            pages += [p for p in sorted([*docs.glob("*.md"), *(docs / "examples").glob("*.md")]) if p not in pages and p.name != "python.md"]
    ran = [check(page, program) for page in pages]
    print(f"{sum(ran)} blocks of {len(pages)} pages run")


if __name__ == "__main__":
    main()
