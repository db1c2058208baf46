#!/bin/sh
# test_deb.sh [FOLDER] -- the Debian packages in FOLDER (make deb): lintian prints nothing, and installed into an empty
# root they are all there and work. Without FOLDER they are built first, which takes minutes: only in `make test-full`.
set -eu
source=$(cd "$(dirname "$0")/../.." && pwd)
if [ $# -eq 0 ]; then
    [ -n "${ST_TEST_FULL:-}" ] || { echo "deb: skipped: only with ST_TEST_FULL=1 (make test-full)" && exit 77; }
    command -v dh lintian >/dev/null || { echo "deb: skipped: there is no debhelper or no lintian here" && exit 77; }
    "$source/scripts/deb.sh"
    set -- "$source/build/deb"
fi
folder=$(cd "$1" && pwd)
version=$(sed -n 's/^#define ST_VERSION_[A-Z]* //p' "$source/include/stiction/base.h" | paste -sd.)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

fail() {
    echo "FAILED: $*"
    exit 1
}

echo "* lintian"
allowed=
[ "$(id -u)" -ne 0 ] || allowed=--allow-root
# The packages have no maintainer with an address yet, and close no bugs.
# shellcheck disable=SC2086 # one word or none
lintian $allowed --fail-on error,warning \
    --suppress-tags bogus-mail-host,bogus-mail-host-in-debian-changelog,initial-upload-closes-no-bugs \
    "$folder"/*.changes || fail "lintian"

echo "* an empty root"
mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates"
: >"$root/var/lib/dpkg/status"
dpkg --root="$root" --force-depends --force-not-root --force-script-chrootless --install "$folder"/*.deb >"$root/log" 2>&1 ||
    { cat "$root/log" && fail "dpkg --install"; }
for package in stiction "libstiction${version%.*}" libstiction-dev python3-stiction stiction-doc; do
    grep -q "^Package: $package\$" "$root/var/lib/dpkg/status" || fail "$package is not installed"
done
lib=$(dirname "$(find "$root" -name "libstiction.so.$version")")
[ "$("$root/usr/bin/stiction" --version)" = "stiction $version" ] || fail "the program is not of $version"
"$root/usr/bin/stiction" run incline -q || fail "the program does not run an example"
[ -f "$root/usr/include/stiction/stiction.h" ] || fail "no headers"
[ -f "$root/usr/share/man/man1/stiction.1.gz" ] || fail "no manual page"
[ -n "$(find "$root/usr/share/doc" -name 'methods.md*')" ] || fail "no documentation"
[ "$(PYTHONPATH=$root/usr/lib/python3/dist-packages /usr/bin/python3 -c 'import stiction; print(stiction.__version__)')" = "$version" ] ||
    fail "the Python module is not of $version"
cc=${CC:-cc}
"$cc" -std=c17 -I"$root/usr/include" "$source/examples/hello.c" -o "$root/hello" -L"$lib" -lstiction -lm || fail "linking"
LD_LIBRARY_PATH=$lib "$root/hello" || fail "the linked program"
echo "all is well"
