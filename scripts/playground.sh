#!/bin/sh
# playground.sh BUILD JOBS -- stiction in the browser: BUILD/playground/playground.html, one file without a server. The
# engine and the scene reader are compiled by emscripten; AMD, qhull, jansson, expat and zlib by the same from Debian's
# source packages, which are fetched once into BUILD/playground/deps.
set -eu
cd "$(dirname "$0")/.."
out=$(pwd)/$1/playground
jobs=$2
deps=$out/deps
emscripten=${EMSCRIPTEN:-/usr/share/emscripten}
mkdir -p "$deps"

# Most machines list only binary packages: the sources come from the same archive, with our own lists.
apt_source() {
    apt-get -qq -o Dir::Etc::SourceList="$deps/apt/sources.list" -o Dir::Etc::SourceParts=/dev/null \
        -o Dir::State::Lists="$deps/apt/lists" -o APT::Sandbox::User=root "$@"
}

list_sources() {
    [ ! -d "$deps/apt/lists" ] || return 0
    mkdir -p "$deps/apt/lists/partial"
    # shellcheck disable=SC2016 # apt-get expands $(...) itself
    apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 'Origin: Debian' |
        sort -u | sed '/-security /d; s/^/deb-src /' >"$deps/apt/sources.list"
    apt_source update
}

# fetch PACKAGE PATTERN...: the matching files of its source, in deps/PACKAGE.
fetch() {
    package=$1
    shift
    [ ! -e "$deps/$package/.whole" ] || return 0
    list_sources
    rm -rf "${deps:?}/$package"
    mkdir -p "$deps/$package"
    (cd "$deps/apt" && apt_source source --download-only "$package")
    tar xf "$deps/apt/${package}_"*.orig.tar.* -C "$deps/$package" --strip-components=1 --wildcards "$@"
    touch "$deps/$package/.whole"
}

fetch jansson '*/src/*' '*/android/*' '*/LICENSE'
fetch qhull '*/src/libqhull_r/*' '*/COPYING.txt'
fetch suitesparse '*/AMD/*' '*/SuiteSparse_config/*'
fetch expat '*/expat/lib/*' '*/COPYING'
fetch zlib '*/*.[ch]' '*/LICENSE'

# Debian's emscripten needs acorn, and a node that is not Debian's does not search there.
NODE_PATH=/usr/share/nodejs${NODE_PATH:+:$NODE_PATH}
export NODE_PATH
[ -e "$out/wasm/Makefile" ] || cmake --log-level=NOTICE -S playground -B "$out/wasm" -DDEPS="$deps" \
    -DCMAKE_TOOLCHAIN_FILE="$emscripten/cmake/Modules/Platform/Emscripten.cmake" -DCMAKE_BUILD_TYPE=Release >/dev/null
env -u MAKELEVEL cmake --build "$out/wasm" --parallel "$jobs" # no lines about folders

# The mathematical functions of the engine's C library (musl), for the native program: with them the test compares bits.
musl=$emscripten/system/lib/libc/musl
if [ ! -e "$out/musl-math.so" ]; then
    set --
    for name in acos asin atan atan2 cbrt cos exp exp2 fmax fmin fmod hypot log log10 log2 pow scalbn sin sincos tan \
        __sin __cos __tan __rem_pio2 __rem_pio2_large exp_data log_data log2_data pow_data __math_oflow __math_uflow \
        __math_xflow __math_divzero __math_invalid; do
        set -- "$@" "$musl/src/math/$name.c"
    done
    "${CC:-cc}" -std=c99 -D_GNU_SOURCE -O2 -ffp-contract=off -fPIC -shared -nostdlib -nostdinc -fno-builtin -w \
        -isystem "$emscripten/cache/sysroot/include" -I"$musl/src/internal" -I"$musl/arch/generic" \
        -I"$musl/src/include" -I"$musl/arch/emscripten" -I"$musl/include" -o "$out/musl-math.so" "$@"
fi

# The page, with the packages of package-lock.json.
if [ ! -e viewer/node_modules/.lock ] || ! cmp -s viewer/package-lock.json viewer/node_modules/.lock; then
    (cd viewer && npm ci --ignore-scripts --no-audit --no-fund >/dev/null && cp package-lock.json node_modules/.lock)
fi
cat LICENSE "$deps/jansson/LICENSE" "$deps/qhull/COPYING.txt" "$deps/suitesparse/AMD/Doc/License.txt" "$deps/expat/COPYING" \
    "$deps/zlib/LICENSE" "$musl/COPYRIGHT" >"$out/wasm/licences.txt"
node viewer/build.mjs --playground "$out/playground.html" "$out/wasm" examples
echo "playground: $out/playground.html, $(($(wc -c <"$out/playground.html") / 1000)) kB; open it in a browser"
