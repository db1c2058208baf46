#!/bin/sh
# gallery.sh PROGRAM [NAME...] -- docs/gallery.md and a picture of each example, drawn by `stiction render`. With names, only those
# pictures are made again.
set -eu
cd "$(dirname "$0")/.."
program=$1
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p docs/gallery

{
    echo "# Gallery"
    echo
    echo "Every example scene, as \`stiction view\` shows it. Made by \`scripts/gallery.sh\`; run one with"
    echo "\`stiction run NAME -o NAME.h5\` and look at it with \`stiction view NAME.h5\`, or push it about with"
    echo "\`stiction view --live NAME\`."
} >"$folder/gallery.md"

find examples -name '*.json' | sort | while read -r scene; do
    name=$(basename "$scene" .json)
    wanted=no
    [ $# -gt 0 ] || wanted=yes
    for one in "$@"; do [ "$one" != "$name" ] || wanted=yes; done
    picture=docs/gallery/$name.png
    if [ $wanted = yes ]; then
        # A run that is meant to diverge has a picture, too.
        "$program" run "$scene" -q -o "$folder/run.h5" 2>/dev/null || true
        "$program" render "$folder/run.h5" -o "$picture" --size 480x300 --theme light ||
            { echo "gallery: no picture of $name" >&2; continue; }
    fi
    [ -e "$picture" ] || continue
    printf '\n## %s\n\n![%s](gallery/%s.png)\n\n' "$name" "$name" "$name"
    python3 -c 'import json, sys; print(json.load(open(sys.argv[1])).get("description", ""))' "$scene"
done >>"$folder/gallery.md"
mv "$folder/gallery.md" docs/gallery.md
