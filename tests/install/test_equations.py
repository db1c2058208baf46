#!/usr/bin/env python3
"""test_equations.py -- equations of the papers are found in both directions: every number in the table of docs/methods.md 13 is in
a file of its row, and every number in a comment of the library is in the table. Functions in the table exist."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
NUMBER = r"(?:AP|PAGT|SPK|NST|PPR) eq\. \d+(?:\.\d+)?"
errors = []


def joined(path):
    """The text of a file, with the lines of each comment joined."""
    return re.sub(r"\s*\n \*\s*", " ", path.read_text(encoding="utf8"))


page = (ROOT / "docs/methods.md").read_text(encoding="utf8")
table = page[page.index("## 13."):page.index("## 14.")]
files_of = {}  # by number: the files of its rows
for row in re.findall(r"^\| (.*) \|$", table, re.M):
    cells = row.split(" | ")
    names = re.findall(r"`([^`]+)`", cells[-1])
    files, folder = [], None
    for name in names:
        if not re.search(r"\.[ch]$", name):
            continue
        path = ROOT / name if "/" in name else folder / name  # without a folder: in that of the file before
        folder = path.parent
        if not path.is_file():
            errors.append("docs/methods.md: there is no %s" % name)
            continue
        files.append(path)
    text = "".join(joined(f) for f in files)
    for name in names:
        if re.fullmatch(r"[a-z_0-9]+", name) and not re.search(r"\b%s\b" % name, text):
            errors.append("docs/methods.md: %s is not in the files of its row" % name)
    for number in re.findall(NUMBER, cells[0]):
        files_of.setdefault(number, set()).update(files)
        if not re.search(re.escape(number) + r"(?!\.?\d)", text):
            errors.append("docs/methods.md: %s is in no file of its row" % number)
if len(files_of) < 30:
    errors.append("docs/methods.md: section 13 has %d equations, expected 30 or more" % len(files_of))

for number in re.findall(NUMBER, page):
    if number not in files_of:
        errors.append("docs/methods.md: %s is not in section 13" % number)
for path in sorted([*ROOT.glob("src/**/*.[ch]"), *ROOT.glob("include/**/*.h")]):
    comments = "\n".join(re.findall(r"/\*.*?\*/", joined(path), re.S))
    name = path.relative_to(ROOT)
    for number in set(re.findall(NUMBER, comments)):
        if number not in files_of:
            errors.append("%s: %s is not in docs/methods.md 13" % (name, number))
    for found in re.findall(r"(\S+) (?:eq|eqs|Eq|equation)\. ?\(?\d", comments):
        if not re.search(r"(AP|PAGT|SPK|NST|PPR)$", found):
            errors.append("%s: an equation without the paper, after \"%s\"" % (name, found))

print("\n".join(errors), end="\n" if errors else "")
sys.exit(1 if errors else 0)
