#!/bin/sh
# test_install.sh BUILD -- install into an empty prefix and use it from outside the tree: programs
# through pkg-config and through the CMake package, shared and static; what the shared libraries
# export; the public headers alone, in C17 and C++17. CC, CXX, CMAKE and PYTHON may name the tools.
set -eu
build=$1
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
: "${CC:=cc}" "${CXX:=c++}" "${CMAKE:=cmake}" "${PYTHON:=python3}"
version=$(sed -n 's/^#define ST_VERSION_[A-Z]* //p' "$source/include/stiction/base.h" | paste -sd.)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() {
    echo "FAILED: $*"
    exit 1
}

# The prefix has a space in it, as a user's might.
shared="$work/the shared"
static="$work/the static"
"$CMAKE" --install "$build" --prefix "$shared" >install.log || fail "cmake --install"

echo "* what is installed"
for file in bin/stiction include/stiction/stiction.h include/stiction/io.h share/stiction/examples/hello.c \
    share/man/man1/stiction.1 share/bash-completion/completions/stiction share/zsh/vendor-completions/_stiction \
    share/fish/vendor_completions.d/stiction.fish; do
    [ -f "$shared/$file" ] || fail "$file was not installed"
done
if command -v bash >/dev/null; then
    echo "* completion in bash"
    # offered WORD...: the completions offered for the last one
    offered() {
        PATH="$shared/bin:$PATH" bash -c '. "$0"; COMP_WORDS=(stiction "$@"); COMP_CWORD=$#; _stiction; echo "${COMPREPLY[@]}"' \
            "$shared/share/bash-completion/completions/stiction" "$@"
    }
    [ "$(offered conv)" = "converge convert" ] || fail "conv is completed by: $(offered conv)"
    [ "$(offered run --chec)" = "--checkpoint" ] || fail "--chec is completed by: $(offered run --chec)"
    [ "$(offered run card-h)" = "card-house" ] || fail "card-h is completed by: $(offered run card-h)"
fi
if command -v fish >/dev/null; then
    echo "* completion in fish"
    # shellcheck disable=SC2016 # fish expands it
    offered=$(HOME="$work" PATH="$shared/bin:$PATH" fish -N -c \
        'source $argv[1]; complete -C"stiction conv"; complete -C"stiction run card-h"; complete -C"stiction run --chec"' \
        "$shared/share/fish/vendor_completions.d/stiction.fish" | cut -f1 | paste -sd' ')
    [ "$offered" = "converge convert card-house --checkpoint" ] || fail "fish completes by: $offered"
fi
if command -v zsh >/dev/null; then
    echo "* completion in zsh"
    zsh -n "$shared/share/zsh/vendor-completions/_stiction" || fail "zsh cannot read its completion"
    HOME="$work" zsh -fc "fpath=('$shared/share/zsh/vendor-completions' \$fpath); autoload -U compinit; compinit -u -D
        [[ \$_comps[stiction] = _stiction ]]" || fail "zsh does not know the completion"
fi
if command -v groff >/dev/null; then
    groff -man -Tascii -ww "$shared/share/man/man1/stiction.1" >page 2>warnings || fail "groff"
    [ ! -s warnings ] || fail "the manual page: $(head -3 warnings)"
    grep -q 'checkpoint' page || fail "the manual page has no options"
fi
lib=$(dirname "$(find "$shared" -name libstiction.a)")
libdir=${lib#"$shared"/}
[ "$("$shared/bin/stiction" --version)" = "stiction $version" ] || fail "stiction --version does not print $version"
[ "$(readelf -d "$lib/libstiction.so" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')" = "libstiction.so.${version%.*}" ] ||
    fail "the soname of libstiction.so is not libstiction.so.${version%.*}"

if [ -f "$build/python/stiction.abi3.so" ]; then
    echo "* the Python module"
    module=$(find "$shared" -name stiction.abi3.so)
    [ -n "$module" ] || fail "the Python module was not installed"
    [ -f "$(dirname "$module")/stiction.pyi" ] || fail "the Python module was not installed with its stub"
    [ "$(nm -D --defined-only "$module" | awk '{ print $3 }')" = PyInit_stiction ] ||
        fail "the Python module exports more than PyInit_stiction"
    [ "$(PYTHONPATH=$(dirname "$module") "$PYTHON" -c 'import stiction; print(stiction.__version__)')" = "$version" ] ||
        fail "the installed Python module is not of version $version"
fi

echo "* nothing that is linked is GPL"
# Every library that ours name must be in the table of THIRD_PARTY.md, with its licence.
for file in "$shared/bin/stiction" "$lib/libstiction.so" "$lib/libstiction-io.so" ${module:+"$module"}; do
    for name in $(readelf -d "$file" | sed -n 's/.*NEEDED.*\[\(lib[A-Za-z0-9_+-]*\)[.].*/\1/p'); do
        case $name in
        libstiction*) continue ;;
        esac
        licence=$(sed -n "s/^| \`$name\` |[^|]*| \([^|]*\) |.*/\1/p" "$source/THIRD_PARTY.md")
        case $licence in
        "") fail "$(basename "$file") needs $name, which is not in THIRD_PARTY.md" ;;
        *exception* | LGPL*) ;;
        *GPL*) fail "$(basename "$file") needs $name, whose licence is $licence" ;;
        esac
    done
done
# And none of those that are known to be GPL comes in by way of the others.
if command -v ldd >/dev/null; then
    ! ldd "$shared/bin/stiction" | grep -E 'lib(cholmod|umfpack|spqr|gsl|fftw3|readline|glpk|cxsparse|rbio)' ||
        fail "GPL libraries are linked"
fi

echo "* only st_* is exported"
for library in stiction stiction-io; do
    nm -D --defined-only "$lib/lib$library.so" | awk '{ print $3 }' >"$library.exports"
    [ -s "$library.exports" ] || fail "lib$library.so exports nothing"
    ! grep -v '^st_[a-z]' "$library.exports" || fail "lib$library.so exports the names above"
done
sort stiction.exports stiction-io.exports | uniq -d >twice
[ ! -s twice ] || fail "exported by both libraries: $(cat twice)"

# Where there is no shared library, -lstiction means the static one.
cp -R "$shared" "$static"
find "$static" -name '*.so*' -exec rm {} +

echo "* programs built with pkg-config"
# build_and_run KIND PREFIX PKG_CONFIG_OPTION
build_and_run() {
    export PKG_CONFIG_PATH="$2/$libdir/pkgconfig"
    for package in stiction stiction-io; do
        [ "$(pkg-config --modversion $package)" = "$version" ] || fail "$package.pc has another version than base.h"
        # pkg-config escapes the space in the prefix for a shell: hence eval.
        eval "$CC -std=c17 '$here/use_$package.c' -o use_$package-$1 $(pkg-config "$3" --cflags --libs $package)" ||
            fail "$package, $1, with pkg-config"
        LD_LIBRARY_PATH="$2/$libdir" "./use_$package-$1" "$version" || fail "the $1 program of $package"
    done
}
build_and_run shared "$shared" --print-errors
build_and_run static "$static" --static

echo "* the lines of docs/library.md"
ln -s "$shared" prefix # without a space, which $(pkg-config) would split
mkdir readme
cp "$source/examples/hello.c" readme
(
    cd readme
    sed -n 's/^    \(cc hello.c .*\)/\1/p' "$source/docs/library.md" >build.sh
    [ -s build.sh ] || fail "docs/library.md has no line that builds hello.c"
    sed -i "s|^cc |$CC |; s|pkg-config|pkg-config --define-variable=prefix=$work/prefix|" build.sh
    env PKG_CONFIG_PATH="$work/prefix/$libdir/pkgconfig" sh build.sh || fail "the page's line with pkg-config"
    LD_LIBRARY_PATH="$work/prefix/$libdir" ./hello | grep -q '^stopped at 0.4067 m' || fail "hello of the page"
    { printf 'cmake_minimum_required(VERSION 3.18)\nproject(hello C)\nadd_executable(hello hello.c)\n' &&
        sed -n 's/^    \(find_package(\)/\1/p; s/^    \(target_link_libraries(\)/\1/p' "$source/docs/library.md"; } >CMakeLists.txt
    { "$CMAKE" -S . -B made -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_C_COMPILER="$CC" && "$CMAKE" --build made; } >log 2>&1 ||
        { cat log && fail "the page's lines of CMake"; }
    made/hello | grep -q '^stopped at 0.4067 m' || fail "hello of the page, with CMake"
) || exit 1

# linked_as KIND PROGRAM
linked_as() {
    kind=static
    ! readelf -d "$2" | grep -q 'NEEDED.*libstiction' || kind=shared
    [ $kind = "$1" ] || fail "$2 is a $kind program"
}
linked_as shared use_stiction-shared
linked_as shared use_stiction-io-shared
linked_as static use_stiction-static
linked_as static use_stiction-io-static

echo "* a program without any shared library"
export PKG_CONFIG_PATH="$static/$libdir/pkgconfig"
archives=yes # of the dependencies of the core
for name in m amd suitesparseconfig gomp; do
    [ -f "$("$CC" -print-file-name=lib$name.a)" ] || archives="no lib$name.a"
done
[ -f "$("$CC" -print-file-name=libqhullstatic_r.a)" ] || [ -f "$("$CC" -print-file-name=libqhull_r.a)" ] ||
    archives="no archive of qhull"
if [ "$archives" = yes ]; then
    eval "$CC -std=c17 -static '$here/use_stiction.c' -o use_stiction-alone $(pkg-config --static --cflags --libs stiction)" ||
        fail "stiction, -static, with pkg-config"
    ! readelf -d use_stiction-alone | grep -q NEEDED || fail "use_stiction-alone needs shared libraries"
    ./use_stiction-alone "$version" || fail "the program without shared libraries"
else
    echo "  (not here: $archives)"
fi

echo "* programs built with the CMake package"
"$CMAKE" -S "$here" -B outside -DCMAKE_PREFIX_PATH="$shared" -DCMAKE_C_COMPILER="$CC" -DVERSION="$version" \
    >cmake.log 2>&1 || { cat cmake.log && fail "find_package(stiction)"; }
"$CMAKE" --build outside >cmake.log 2>&1 || { cat cmake.log && fail "building against the CMake package"; }
for program in use_stiction use_io; do
    linked_as shared outside/$program
    linked_as static outside/${program}_static
    outside/$program "$version" || fail "$program, shared, with CMake"
    outside/${program}_static "$version" || fail "$program, static, with CMake"
done

echo "* headers alone, beside <sys/stat.h>, in C17 and C++17"
for header in "$shared"/include/stiction/*.h; do
    name=stiction/${header##*/}
    echo "#include <$name>" >alone.c
    # That header defines st_atime and friends as macros: ours must bear it before and after.
    printf '#include <sys/stat.h>\n#include <%s>\n' "$name" >after.c
    printf '#include <%s>\n#include <sys/stat.h>\n' "$name" >before.c
    for file in alone after before; do
        "$CC" -std=c17 -D_XOPEN_SOURCE=700 -Wall -Wextra -Wpedantic -Werror -I "$shared/include" -c $file.c -o header.o ||
            fail "$name in C17, $file"
        cp $file.c $file.cpp
        if command -v "$CXX" >/dev/null; then
            "$CXX" -std=c++17 -Wall -Wextra -Werror -I "$shared/include" -c $file.cpp -o header.o ||
                fail "$name in C++17, $file"
        fi
    done
done
command -v "$CXX" >/dev/null || echo "  (no C++ compiler here: C17 only)"
echo "all is well"
