#!/bin/sh
# docs.sh PROGRAM -- write the files of docs/ that are made from the program itself.
set -eu
cd "$(dirname "$0")/.."
program=$1

"$program" schema >docs/scene.schema.json.new
mv docs/scene.schema.json.new docs/scene.schema.json
"$program" validate --markdown >docs/validation.md.new
mv docs/validation.md.new docs/validation.md
