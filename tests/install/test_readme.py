#!/usr/bin/env python3
"""test_readme.py PROGRAM -- README.md, docs/library.md and docs/results.md keep their word: the C program is examples/hello.c, and
every command in them runs. Commands of the
program run in an empty folder where build/ and examples/ are those of this tree; `view` is ended once a browser has had its page.
Targets of make and names of tests are looked up; `make install` and the lines of pkg-config and CMake run in
test_install.sh, `pip install .` in test_pip.sh, `make deb` in test_deb.sh, `make playground` in test_playground.sh. The two
commands that take a minute (`validate`, `solve --all`) run with ST_TEST_FULL; else with fewer cases."""
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHORT = {"validate": "validate --only S3", "solve examples/problems --all": "solve examples/problems/box-on-slope.hdf5 --all"}
full = bool(os.environ.get("ST_TEST_FULL"))


def commands(text):
    """Lines of indented blocks, and text in backquotes in tables and paragraphs, without their comments."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.S | re.M)
    for line in re.findall(r"^    (\S.*)$", text, re.M):
        yield from re.sub(r"\s+#.*", "", line).split(" && ")
    for code in re.findall(r"`([^`\n]+)`", text):
        if re.match(r"(stiction \w+ |make [a-z]|build/|ST_TEST_FULL)", code):
            yield code


def view(words, folder, environment):
    """The page is served, and Ctrl-C ends it."""
    seen = pathlib.Path(folder) / "seen"
    browser = pathlib.Path(folder) / "browser"
    browser.write_text('#!/bin/sh\nfor last; do :; done\npython3 -c "import sys, urllib.request; print(len(urllib.request.urlopen(sys.argv[1]).read()))" '
                       f'"$last" >"{seen}.part" && mv "{seen}.part" "{seen}"\n', encoding="utf8")
    browser.chmod(0o755)
    run = subprocess.Popen(words, cwd=folder, env={**environment, "BROWSER": str(browser)}, stdout=subprocess.DEVNULL,
                           stderr=subprocess.PIPE, text=True)
    for _ in range(600):
        if seen.exists() or run.poll() is not None:
            break
        time.sleep(0.1)
    run.send_signal(signal.SIGINT)
    _, said = run.communicate(timeout=60)
    assert seen.exists(), f"{shlex.join(words)}: no browser got the page: {said}"
    assert int(seen.read_text()) > 100000, f"{shlex.join(words)}: the page is {seen.read_text()} bytes"
    seen.unlink()


program = pathlib.Path(sys.argv[1]).resolve()
readme, library, results = [(ROOT / page).read_text(encoding="utf8") for page in ("README.md", "docs/library.md", "docs/results.md")]
shown = re.search(r"^```c\n(.*?)^```$", library, re.S | re.M).group(1)
assert shown == (ROOT / "examples/hello.c").read_text(encoding="utf8"), "the C program of docs/library.md is not examples/hello.c"
makefile = (ROOT / "Makefile").read_text(encoding="utf8")
environment = {**os.environ, "STICTION_EXAMPLES": str(ROOT / "examples")}
ran, looked_up, done = 0, 0, set()
with tempfile.TemporaryDirectory() as folder:
    (pathlib.Path(folder) / "build").symlink_to(program.parent.parent)
    (pathlib.Path(folder) / "examples").symlink_to(ROOT / "examples")
    for command in commands(f"{readme}\n{library}\n{results}"):
        words = shlex.split(command)
        if command in done:
            continue
        done.add(command)
        if words[0] in ("stiction", "build/bin/stiction"):
            rest = shlex.join(words[1:])
            words = [str(program), *shlex.split(SHORT.get(rest, rest) if not full else rest)]
            if words[1] == "view":
                view(words, folder, environment)
            else:
                got = subprocess.run(words, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
                assert got.returncode == 0, f"README: {command}: exit status {got.returncode}\n{got.stderr}"
            ran += 1
        elif words[0] == "make":
            target = words[1] if len(words) > 1 else "all"
            assert re.search(rf"^{target}:", makefile, re.M), f"README: {command}: there is no such target"
            looked_up += 1
        elif words[0] == "ST_TEST_FULL=1" or words[0].startswith("build/tests/"):
            name = words[-1].rsplit("/", 1)[1]
            assert list((ROOT / "tests").glob(f"*/{name}.c")), f"README: {command}: there is no such test"
            looked_up += 1
assert ran >= 14, f"only {ran} commands were found"
print(f"readme: {ran} commands run, {looked_up} looked up")
