#!/bin/sh
# setup.sh GROUP... -- installs what these groups need: build, python, test, numpy, mpi, vtk, browser, playground,
# site, bench, deb, lint, structure, threads.
#
# Silent when nothing is missing. On Debian and similar systems the missing packages are installed, each with its
# reason; elsewhere they are listed, and the script stops.
set -eu

# group | Debian package | purpose | elsewhere: a command, a Python module, or a header and a library
needs='
build|gcc|compiles C|command cc
build|libc6-dev|the headers of the C library|header math.h m
build|cmake|configures the build|command cmake
build|pkg-config|finds libraries|command pkg-config
build|libsuitesparse-dev|AMD, which orders sparse factorisations|header suitesparse/amd.h amd
build|libqhull-dev|convex hulls|header libqhull_r/qhull_ra.h qhull_r
build|libjansson-dev|reads and writes JSON|header jansson.h jansson
build|libhdf5-dev|recordings of runs, problem files|header hdf5.h hdf5
build|libexpat1-dev|reads robots: URDF, MJCF|header expat.h expat
build|zlib1g-dev|reports with the run inside|header zlib.h z
python|python3-dev|the Python module|command python3-config
test|libcmocka-dev|the tests are written with it|header cmocka.h cmocka
test|libgmp-dev|certificates of solutions are checked in rational arithmetic|header gmp.h gmp
numpy|python3-numpy|the Python module is tested with it, too|module numpy
mpi|openmpi-bin|piles are shared among processes by it: mpirun|command mpirun
mpi|libopenmpi-dev|likewise|command mpicc
vtk|python3-vtk9|what is exported for ParaView is read with it|module vtk
browser|nodejs|builds the page of the viewer again, to compare|command node
browser|npm|fetches what the page is made of, pinned by viewer/package-lock.json|command npm
browser|chromium|the page of the viewer is tested in it|command chromium
playground|emscripten|compiles the engine for browsers|command emcc
playground|clang|likewise|command clang
playground|lld|likewise|command wasm-ld
playground|dpkg-dev|fetches the sources of AMD, qhull, jansson, expat and zlib|command dpkg-source
site|python3-sphinx|makes the site of the documentation|module sphinx
site|python3-myst-parser|likewise, of Markdown|module myst_parser
site|furo|its looks|module furo
bench|g++|compiles the drivers of peers in C++|command c++
bench|libode-dev|a peer to be measured against: ODE|header ode/ode.h ode
bench|libbullet-dev|likewise: Bullet|header bullet/btBulletCollisionCommon.h LinearMath
bench|libmujoco-dev|likewise: MuJoCo|header mujoco/mujoco.h mujoco
bench|libsiconos-mechanics-dev|likewise: Siconos|header siconos/SiconosConfig.h siconos_kernel
bench|libsimbody-dev|likewise: Simbody|header simbody/Simbody.h SimTKsimbody
bench|libdart-dev|likewise: DART|header dart/config.hpp dart
bench|libdart-external-ikfast-dev|what the headers of DART ask for|header dart/external/ikfast/ikfast.h dart
bench|libdart-external-convhull-3d-dev|likewise|header dart/external/convhull_3d/convhull_3d.h dart
bench|yade|likewise, for grains: Yade|command yade
bench|liggghts|likewise: LIGGGHTS|command liggghts
deb|debhelper|builds Debian packages|command dh
deb|dpkg-dev|likewise|command dpkg-buildpackage
deb|dh-python|likewise, of the Python module|command dh_python3
deb|lintian|checks them|command lintian
lint|clang-format|checks the layout of the code|command clang-format
lint|clang-tidy|looks for mistakes|command clang-tidy
lint|cppcheck|looks for mistakes|command cppcheck
lint|shellcheck|looks for mistakes in shell scripts|command shellcheck
structure|universal-ctags|lists functions for scripts/measure_structure.sh|command ctags
threads|clang|ThreadSanitizer that understands OpenMP|command clang
threads|libomp-dev|the OpenMP of clang, with libarcher|header omp.h omp
'

say() {
    printf 'setup: %s\n' "$*" >&2
}

# The lines of $needs of the given groups.
wanted() {
    for group in "$@"; do
        printf '%s' "$needs" | grep "^$group|" || { say "no such group: $group" && return 1; }
    done
}

# have command NAME, have module NAME, or have header FILE LIBRARY: does this machine have it, from any source?
have() {
    case $1 in
    command)
        command -v "$2" >/dev/null 2>&1 || { [ "$2" = cc ] && command -v "${CC:-gcc}" >/dev/null 2>&1; }
        ;;
    module)
        python3 -c "import $2" >/dev/null 2>&1
        ;;
    header)
        for header in "$2" "${2##*/}"; do
            printf '#include <setjmp.h>\n#include <stdarg.h>\n#include <stddef.h>\n#include <stdint.h>\n%s\n' \
                "#include <$header>
                int main(void) { return 0; }" >"$scratch/try.c"
            # shellcheck disable=SC2046 # pkg-config prints several words
            "${CC:-cc}" $(pkg-config --cflags --libs "$3" 2>/dev/null) "$scratch/try.c" -o "$scratch/try" "-l$3" \
                >/dev/null 2>&1 && return 0
        done
        return 1
        ;;
    esac
}

# Reads lines of $needs, writes those that are missing on this machine.
missing() {
    while IFS='|' read -r group package why how; do
        # shellcheck disable=SC2086 # $how is a few words on purpose
        have $how || printf '%s|%s|%s|%s\n' "$group" "$package" "$why" "$how"
    done
}

# Reads lines of $needs, writes those with packages that dpkg does not list as installed.
not_installed() {
    lines=$(cat)
    # shellcheck disable=SC2046,SC2016 # one word a package; dpkg-query expands ${...} itself
    installed=$(dpkg-query -W -f '|${db:Status-Status} ${Package}|' \
        $(printf '%s\n' "$lines" | cut -d'|' -f2) 2>/dev/null || true)
    printf '%s\n' "$lines" | while IFS='|' read -r group package why how; do
        case $installed in
        *"|installed $package|"*) ;;
        *) printf '%s|%s|%s|%s\n' "$group" "$package" "$why" "$how" ;;
        esac
    done
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif [ -t 0 ]; then
        sudo "$@"
    else
        sudo -n "$@" # nobody is there to type a password
    fi
}

apt() {
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 "$@"
}

install_packages() {
    if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null 2>&1; then
        say "you are not root and there is no sudo; as root, run"
        say "    apt-get install $*"
        return 1
    fi
    if ! apt-get --simulate install "$@" >/dev/null 2>&1; then # a new machine has no list of packages yet
        say "fetching the list of packages (apt-get update)"
        apt update
    fi
    say "installing: apt-get install $*"
    install="install -y --no-install-recommends"
    # shellcheck disable=SC2086 # $install is several words
    apt $install "$@" >/dev/null && return
    say "trying again with a fresh list of packages (apt-get update)"
    # shellcheck disable=SC2086
    apt update && apt $install "$@" >/dev/null && return
    say "apt-get could not install: $*"
    return 1
}

# Reads lines of $needs, writes those with an available package; missing peers are not required.
available() {
    while IFS='|' read -r group package why how; do
        if [ "$group" = bench ] && ! apt-cache show "$package" >/dev/null 2>&1; then
            say "$package is not in this release and is left out ($why)"
        else
            printf '%s|%s|%s|%s\n' "$group" "$package" "$why" "$how"
        fi
    done
}

# Finds missing tools: packages first, because that is quick; then, one by one, tools that no package provides.
list=$(wanted "$@")
apt=$(command -v apt-get || true)
if [ -n "$apt" ]; then
    list=$(printf '%s\n' "$list" | not_installed)
    [ -n "$list" ] || exit 0
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
list=$(printf '%s\n' "$list" | missing)
[ -n "$list" ] || exit 0
if [ -n "$apt" ]; then
    apt-cache show gcc >/dev/null 2>&1 || apt update # a new machine has no list of packages yet
    list=$(printf '%s\n' "$list" | available)
    [ -n "$list" ] || exit 0
fi

if [ -n "$apt" ]; then
    say "these Debian packages are missing:"
else
    say "these are missing; there is no apt-get here to install them (Debian's names for them are given):"
fi
printf '%s\n' "$list" | while IFS='|' read -r group package why how; do
    printf '  %-20s %s\n' "$package" "$why" >&2
done
if [ -z "$apt" ]; then
    say "install them in this system's way and run make again"
    exit 1
fi
# shellcheck disable=SC2046 # one word a package
install_packages $(printf '%s\n' "$list" | cut -d'|' -f2)
