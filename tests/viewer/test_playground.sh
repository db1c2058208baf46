#!/bin/sh
# test_playground.sh PROGRAM FOLDER -- the playground that `make playground` left in FOLDER: the same bits as the program,
# and the page in Chromium. Ends with 77 (skipped), saying why, where there is none or something to test it with is
# missing.
set -eu
cd "$(dirname "$0")/../.."
program=$1
folder=$2

skip() {
    echo "playground: skipped: $*"
    exit 77
}

[ -e "$folder/playground.html" ] || skip "there is none here; make playground builds it with emscripten"
newer=$(find src include playground viewer/src cli/live.c examples -newer "$folder/playground.html" -type f | head -1)
[ -z "$newer" ] || skip "$newer is newer than the page; make playground builds it again"
command -v node >/dev/null 2>&1 || skip "there is no node here (Debian: nodejs, npm)"
node tests/viewer/test_playground_bits.mjs "$program" "$folder"
for browser in "${STICTION_BROWSER:-chromium}" chromium-browser google-chrome; do
    chromium=$(command -v "$browser" || true)
    [ -z "$chromium" ] || break
done
[ -n "$chromium" ] || skip "there is no Chromium here (Debian: chromium); only the bits were compared"
exec node tests/viewer/test_playground.mjs "$program" "$folder" "$chromium"
