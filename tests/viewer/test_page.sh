#!/bin/sh
# test_page.sh PROGRAM -- the viewer's page: is it the one that viewer/ builds, and does it work in Chromium? Ends with 77
# (skipped), saying why, where Node, its packages or Chromium are not to be had.
set -eu
cd "$(dirname "$0")/../../viewer"
program=$1

skip() {
    echo "page: skipped: $*"
    exit 77
}

command -v node >/dev/null 2>&1 || skip "there is no node here (Debian: nodejs, npm)"
if [ ! -e node_modules/.lock ] || ! cmp -s package-lock.json node_modules/.lock; then
    command -v npm >/dev/null 2>&1 || skip "there is no npm here to fetch what package-lock.json names"
    timeout 100 npm ci --ignore-scripts --no-audit --no-fund >/dev/null 2>&1 ||
        skip "npm ci could not fetch what package-lock.json names"
    cp package-lock.json node_modules/.lock
fi

built=$(mktemp)
trap 'rm -f "$built"' EXIT
node build.mjs "$built"
cmp "$built" stiction.html || {
    echo "page: viewer/stiction.html is not what viewer/src makes: cd viewer && npm run build"
    exit 1
}
echo "page: stiction.html is what viewer/src makes, $(wc -c <stiction.html) bytes"

for browser in "${STICTION_BROWSER:-chromium}" chromium-browser google-chrome; do
    chromium=$(command -v "$browser" || true)
    [ -z "$chromium" ] || break
done
[ -n "$chromium" ] || skip "there is no Chromium here (Debian: chromium); the page was only rebuilt"
exec node ../tests/viewer/test_page.mjs "$program" "$chromium"
