#!/bin/sh
# site.sh BUILD -- the documentation as a site: BUILD/site/html/docs/site/index.html, which needs no server and
# includes a search. Pages are the Markdown files of this repository; the API reference is generated from headers
# and docstrings.
set -eu
cd "$(dirname "$0")/.."
root=$(pwd)
out=$root/$1/site
rm -rf "$out"
mkdir -p "$out/source"
for name in docs bench examples include python src README.md CHANGELOG.md CODE_OF_CONDUCT.md CONTRIBUTING.md SECURITY.md THIRD_PARTY.md \
    CITATION.cff LICENSE; do
    ln -s "$root/$name" "$out/source/$name"
done
PYTHONPATH=$root/$1/python PYTHONDONTWRITEBYTECODE=1 python3 docs/site/site.py "$out/source/api"
# Debian's Python has Sphinx; another one that comes first may not.
python=$(for p in /usr/bin/python3 python3; do "$p" -c 'import sphinx, myst_parser, furo' 2>/dev/null && echo "$p" && break; done || true)
[ -n "$python" ] || { echo "site: no Python with sphinx, myst_parser and furo" >&2 && exit 1; }
"$python" -m sphinx -q -W --keep-going -c docs/site -d "$out/cache" -b html "$out/source" "$out/html"
python3 docs/site/theme.py "$out/html/_static"
# The page of an example shows the run of its first command.
for page in docs/examples/*.md; do
    name=$(basename "$page" .md)
    scene=$(sed -n 's/^stiction run \([A-Za-z0-9_-]*\).*/\1/p' "$page" | head -n 1)
    [ -n "$scene" ] || continue
    "$1/bin/stiction" run "$scene" --quiet -o "$out/$name.h5"
    "$1/bin/stiction" report "$out/$name.h5" --poses 200000 -o "$out/html/docs/examples/$name-film.html" >/dev/null
done
[ ! -e "$1/playground/playground.html" ] || cp "$1/playground/playground.html" "$out/html/docs/playground-page.html"
printf '<!doctype html><meta http-equiv="refresh" content="0; url=docs/site/index.html"><title>stiction</title>\n' >"$out/html/index.html"
echo "site: $out/html/index.html, $(find "$out/html" -name '*.html' | wc -l) pages"
