#!/bin/sh
# deb.sh -- Debian packages of this tree, in build/deb/: stiction, libstiction0.2, libstiction-dev, python3-stiction,
# stiction-doc. The tree is copied first, so that nothing is written into it. Version and date come from base.h and
# CHANGELOG.md.
set -eu
cd "$(dirname "$0")/.."
version=$(sed -n 's/^#define ST_VERSION_[A-Z]* //p' include/stiction/base.h | paste -sd.)
date=$(sed -n "s/^## $version, \([0-9-]*\)\$/\1/p" CHANGELOG.md)
out=$PWD/build/deb
copy=$out/stiction-$version

rm -rf "$out"
mkdir -p "$copy"
git ls-files -z | tar --null --files-from=- -cf - | tar -xf - -C "$copy"
cat >"$copy/debian/changelog" <<CHANGELOG
stiction ($version) unstable; urgency=medium

  * See CHANGELOG.md.

 -- $(sed -n 's/^Maintainer: //p' debian/control)  $(LC_ALL=C date -R -u -d "${date:-now}")
CHANGELOG
cd "$copy"
export MAKEFLAGS="" DEB_BUILD_OPTIONS="${DEB_BUILD_OPTIONS:-parallel=$(getconf _NPROCESSORS_ONLN)}"
dpkg-buildpackage --build=binary --unsigned-changes --unsigned-buildinfo >"$out/log" 2>&1 || {
    tail -40 "$out/log"
    echo "deb: failed, all of it is in $out/log"
    exit 1
}
cd "$out"
rm -rf "$copy"
ls -- *.deb
