#!/usr/bin/env python3
"""accuracy.py PROGRAM -- measures the tables of docs/accuracy.md: every preset on scenes with different kinds of
errors. Takes half a minute."""
import contextlib
import io
import json
import pathlib
import re
import subprocess
import sys

PROGRAM = sys.argv[1]
PAGE = pathlib.Path(__file__).resolve().parent.parent / "docs/accuracy.md"

# scene, kind of error, halvings, reference, overrides
CASES = [
    ("free-box", "a free body turns", "9..11", 14, ["simulation/end=1"]),
    ("pendulum-a01", "a joint", "9..11", 14, ["simulation/end=2"]),
    ("spatial-linkage", "links in space", "9..11", 14, ["simulation/end=0.3"]),
    ("sliding-block", "friction, then rest", "9..11", 14, []),
    ("landing-box", "impacts with friction", "9..11", 14, []),
]
PRESETS = list(json.loads(subprocess.check_output([PROGRAM, "settings", "--json"], text=True))["settings"]["preset"]["words"])


def program(*words, seconds=120):
    done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=seconds, check=False)
    try:
        return json.loads(done.stdout)
    except ValueError:
        return None


def order(scene, preset, halvings, reference, sets):
    """Observed order of positions between the two finest steps, and the error of the finest."""
    answer = program("converge", scene, "--halvings", halvings, "--reference", str(reference), "--json", "--set",
                     f"simulation/preset={preset}", "--reference-set", "simulation/preset=accurate", *(w for s in sets for w in ("--set", s)))
    rows = [row for row in (answer or {}).get("rows", []) if row.get("position_error") is not None]
    if len(rows) < 2 or rows[-1].get("order") is None:
        return "-"
    return f"{rows[-1]['order']:.1f}, {rows[-1]['position_error']:.0e}"


def quality(preset):
    """A pendulum for 10 s: the change of its energy of 9.81 J; a stack of boxes for 2 s: its remaining motion."""
    swing = program("run", "pendulum-a01", "--json", "-q", "--set", f"simulation/preset={preset}", "--set", "simulation/h=0.001")
    rest = program("run", "stack", "--json", "-q", "--set", f"simulation/preset={preset}", "--set", "simulation/h=0.005", "--set", "simulation/end=2")
    if not swing or not rest or "finished" not in (swing["status"], rest["status"]):
        return ["-"] * 3
    change = (swing["energy"]["end"]["total"] - swing["energy"]["start"]["total"]) / 9.81
    return [f"{change:+.0e}", f"{swing['worst_joint_error']:.0e}", f"{rest['energy']['end']['kinetic']:.0e}"]


def main():
    print("| preset | " + " | ".join(f"{what}: `{scene}`" for scene, what, *_ in CASES) + " |")
    print("|---|" + "---|" * len(CASES))
    for preset in PRESETS:
        print(f"| `{preset}` | " + " | ".join(order(scene, preset, halvings, reference, sets) for scene, _, halvings, reference, sets in CASES) + " |", flush=True)


    print("\n| preset | energy of a pendulum after 10 s | its joint open by [m] | kinetic energy of a stack after 2 s [J] |")
    print("|---|---|---|---|")
    for preset in PRESETS:
        print(f"| `{preset}` | " + " | ".join(quality(preset)) + " |", flush=True)


if __name__ == "__main__":
    tables = io.StringIO()
    with contextlib.redirect_stdout(tables):
        main()
    parts = tables.getvalue().strip().split("\n\n")
    text = PAGE.read_text(encoding="utf8")
    for name, table in zip(("orders", "energy"), parts):
        text = re.sub(rf"(<!-- {name} -->\n).*?(<!-- end -->)", lambda m, t=table: m.group(1) + t + "\n" + m.group(2), text, flags=re.S)
    PAGE.write_text(text, encoding="utf8")
