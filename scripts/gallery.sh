#!/bin/sh
# gallery.sh PROGRAM [NAME...] -- docs/gallery.md and a picture of each example, drawn by `stiction render`. With names, only those
# pictures are made again. All of them take a few minutes, most of it for starting a browser each time.
set -eu
cd "$(dirname "$0")/.."
program=$1
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p docs/gallery

# Time and view: a scene that is not listed here is drawn at half time, with the view of `stiction view`.
view() {
    case $1 in
    newtons-cradle) echo "--at 0.44" ;;
    woodpecker) echo "--at 0.42 --look 0.35,-1,0.15" ;;
    tippe-top) echo "--at 1.25 --look 0.4,-1,0.15" ;;
    rattleback) echo "--at 1.95 --look 0.2,-1,0.55" ;;
    eulers-disk) echo "--at 1.3" ;;
    walker) echo "--at 2.62 --look 0.75,-1,0.3" ;;
    gripper) echo "--at 3 --look 0.5,-1,0.2" ;;
    hourglass) echo "--at 0.42" ;;
    stone-arch) echo "--at 1.25 --look 0.35,-1,0.25" ;;
    chain-on-peg) echo "--at 0.5 --look 0.3,-1,0.1" ;;
    card-house) echo "--at 1 --look 0.45,-1,0.4" ;;
    painleve-chalk) echo "--at 0.035 --look 0.15,-1,0.25" ;;
    ratchet) echo "--at 1.15 --look 0.3,-1,0.25" ;;
    escapement) echo "--at 2 --look 0.3,-1,0.2" ;;
    dominoes) echo "--at 0.36 --look 0.5,-1,0.35" ;;
    arm.urdf) echo "--at 0.3 --look 0.6,-1,0.3" ;;
    dog-stands) echo "--at 0.12 --look 0.6,-1,0.35" ;;
    dog-on-pebbles) echo "--at 0.9 --look 0.6,-1,0.5" ;;
    hopper.xml) echo "--at 0.35 --look 0.5,-1,0.2" ;;
    ragdoll.xml) echo "--at 0.4 --look 0.4,-1,0.25" ;;
    wall) echo "--at 0.42" ;;
    conveyor) echo "--at 4 --look=-0.3,-1,0.7" ;;
    drum) echo "--at 1.9 --look 0.3,-1,0.2" ;;
    poured) echo "--at 0.95" ;;
    terrain) echo "--at 0.8" ;;
    free-box) echo "--at 1.17" ;;
    gear_train) echo "--look 0.35,0.3,1" ;;
    double-pendulum) echo "--look 0.5,0.2,1" ;;
    pawl) echo "--at 0.22 --look=-0.1,-0.5,1" ;;
    rover) echo "--at 7 --look 0.5,-1,0.4" ;;
    jacks) echo "--at 2.9 --look 0.5,-1,0.4" ;;
    stiff-forces) echo "--at 0.5" ;;
    b_g100_explicit) echo "--at 0.1 --look 0.1,0.5,1" ;;
    b_* | two-carts*) echo "--look 0.1,0.5,1" ;;
    esac
}

for scene in $(find examples -name '*.json' -o -name '*.urdf' -o -name '*.xml' | sort); do
    name=$(basename "$scene" .json)
    wanted=no
    [ $# -gt 0 ] || wanted=yes
    for one in "$@"; do [ "$one" != "$name" ] || wanted=yes; done
    [ $wanted = yes ] || continue
    # A run that is meant to diverge also has a picture.
    "$program" run "$scene" -q -o "$folder/run.h5" 2>/dev/null || true
    # shellcheck disable=SC2046 # words
    "$program" render "$folder/run.h5" -o "docs/gallery/$name.jpg" --size 960x600 --theme light $(view "$name") ||
        echo "gallery: no picture of $name" >&2
    rm -f "$folder/run.h5"
done

STICTION_EXAMPLES=examples "$program" examples --json >"$folder/list.json"
python3 - "$folder/list.json" >"$folder/gallery.md" <<'PYTHON'
import json
import os
import sys

TEXTS = {  # of the themes of `stiction examples`
    "Toys": "Small scenes with a known behaviour, which `tests/scene/test_toys.c` and `tests/scene/test_held.c` check.",
    "Piles, walls, terrain": "Scenes with many shapes and many contacts.",
    "Grains": "Granular matter: regions, fills, inlets and measures ([grains.md](grains.md)).",
    "Mechanisms": "Joints, motors, limits, gears and springs, including benchmarks of the multibody community ([joints.md](joints.md)).",
    "Robots": "URDF and MJCF files, run directly or as part of a scene ([robots.md](robots.md)).",
    "Known answers, second order": "Scenes for `stiction converge`, which shows errors and orders ([methods.md](methods.md)).",
    "Stiff springs and dampers": "The experiments of Anitescu & Potra (2002), sections 3.2 and 3.3.",
    "Contact laws": "The convex cone law, patches of compliant elements, and regularised contact with its rigid limit.",
}


def anchor(title):
    return title.lower().replace(",", "").replace(" ", "-")


scenes = {}
with open(sys.argv[1], encoding="utf-8") as file:
    for example in json.load(file)["examples"]:
        scenes.setdefault(example["theme"], []).append(example)
order = [*TEXTS, *sorted(set(scenes) - set(TEXTS))]

print("""# Gallery

This page shows every example scene. Orange arrows are contact forces.

| to | command |
|---|---|
| watch a scene live and pull at bodies | `stiction view NAME` |
| run it and look at the recording | `stiction run NAME -o NAME.h5`, then `stiction view NAME.h5` |
| make a film | `stiction render NAME.h5 -o NAME.mp4` |
| copy it to edit it | `stiction examples NAME -o NAME.json` |

`scripts/gallery.sh` makes this page and its pictures.
""")
for title in order:
    print(f"- [{title}](#{anchor(title)}): {', '.join(example['name'] for example in scenes[title])}")
for title in order:
    print(f"\n## {title}\n\n{TEXTS.get(title, '')}\n\n| | |\n|---|---|")
    for example in scenes[title]:
        name = example["name"]
        about = example["description"].replace("|", "\\|").replace("Look for: ", "<br>**Look for** ")
        picture = f'<img src="gallery/{name}.jpg" alt="{name}" width="480">' if os.path.exists(f"docs/gallery/{name}.jpg") else ""
        print(f"| {picture} | **{name}**<br>{about} |")
PYTHON
mv "$folder/gallery.md" docs/gallery.md
