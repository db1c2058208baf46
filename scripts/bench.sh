#!/bin/sh
# bench.sh BUILD [--quick] -- every scene with every engine, one after another on one core: bench/results/{results.csv,
# results.md,*.svg}; with --quick a few scenes once, under bench/results/quick/ (not kept in git). BENCH_SCENES,
# BENCH_CURVES, BENCH_GRAINS, BENCH_REPEAT, BENCH_LIMIT (seconds of processor time for one run) and BENCH_GROWTH (bodies) narrow the long one.
set -eu
build=$1
mode=${2:-}
out=bench/results
repeat=${BENCH_REPEAT:-3}
limit=${BENCH_LIMIT:-300}
scenes=${BENCH_SCENES:-'bowling incline-0.99 push-0 push-30 push-45 bounce-1 bounce-0.5 gripper-0.95 column-1 column-10
    column-100 column-1000 chain-100 whip-100 springs-1e2 springs-1e4 springs-1e6 springs-1e8 ring-1e2 slider quadruped
    pair springrow dominoes-30 tower-20 boxes-30 boxes-60 rods-60 ragdolls-10 slope-500 hopper-500 spheres-666 hulls-200 wall-100
    pyramid-820 smash-800 rods-1000 boxes-3000 spheres-2000 spheres-8000 spheres-32000'}
curves=${BENCH_CURVES:-'spheres-666 wall-100 hulls-200'}
if [ "$mode" = --quick ]; then
    out=bench/results/quick
    repeat=1
    limit=4
    scenes='bowling incline-0.99 push-45 column-100 chain-100 springs-1e6 quadruped spheres-666 hulls-200 wall-100'
    curves=spheres-666
fi
mkdir -p "$out"
rows=$out/results.csv
engines=
peers='ode bullet mujoco siconos simbody dart'
[ "$mode" = --quick ] && peers=${peers% dart} # a second a step where there are many contacts
for engine in stiction $peers; do
    if [ -x "$build/bench/run-$engine" ]; then engines="$engines $engine"; else
        echo "bench: no $engine (run-$engine was not built)" >&2
    fi
done
# One core and one thread for all. Without taskset the system mostly keeps a process on one core.
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
pin=
if command -v taskset >/dev/null 2>&1; then pin='taskset -c 0'; fi

# run SCENE ENGINE [setting...]: one row. If an engine cannot run a scene, its row has the reason.
run() {
    scene=$1 engine=$2
    shift 2
    printf '%s %s %s\n' "$scene" "$engine" "$*" >&2
    # shellcheck disable=SC2086 # $pin is several words or none
    $pin "$build/bench/run-$engine" "$scene" "$@" --csv --repeat "$repeat" --limit "$limit" >>"$rows" 2>/dev/null || true
}

# drives ENGINE SCENE: is the engine used for the scene? Simbody is used for joints, Siconos for contacts, DART for
# spheres and boxes up to a few hundred contacts, because of its pivoting, and MuJoCo up to 1,000 bodies, because of its
# dense matrices.
drives() {
    case $1-$2 in
    simbody-chain* | simbody-whip* | simbody-springs* | simbody-ring*) ;;
    simbody-*) return 1 ;;
    siconos-chain* | siconos-whip* | siconos-springs* | siconos-ring*) return 1 ;;
    siconos-slider* | siconos-quadruped* | siconos-gripper* | siconos-spheres-????*) return 1 ;;
    mujoco-spheres-????*) return 1 ;;
    dart-spheres* | dart-hulls*) return 1 ;;
    stiction-* | ode-*) ;;
    *-rods* | *-ragdolls*) return 1 ;; # their drivers know neither round rods nor fixed boxes
    *-pyramid* | *-smash* | *-boxes-????*)
        [ "$1" = bullet ] || return 1
        ;;
    esac
}

# Hopper, drum and clumps, also with Yade and LIGGGHTS (bench/grains/): a separate table.
grains() {
    printf '\n## Grains\n\nThe same grains and walls for the same time. Yade and LIGGGHTS have soft contacts, as stiff as keeps overlaps below 1 per\n'
    printf 'cent of d and a step that resolves them; the others have rigid ones. Overlaps are looked at 100 times a second.\n\n'
    "$build/bench/grains-stiction" --header
    for scene in ${BENCH_GRAINS:-$([ "$mode" = --quick ] && echo drum-60 || echo hopper-500 drum-500 clumps-500)}; do
        for engine in stiction ode bullet yade liggghts; do
            if [ ! -x "$build/bench/grains-$engine" ]; then
                echo "bench: no $engine (grains-$engine was not built)" >&2
                continue
            fi
            printf '%s %s\n' "$scene" "$engine" >&2
            # shellcheck disable=SC2086 # $pin is several words or none
            $pin "$build/bench/grains-$engine" "$scene" || true
        done
    done
}

"$build/bench/run-stiction" --header >"$rows"
for scene in $scenes; do
    for engine in $engines; do
        drives "$engine" "$scene" || continue
        run "$scene" "$engine"
        run "$scene" "$engine" --tuned
    done
done

# Accuracy over time: iterations of all engines.
repeat=1
iterations='5 10 50 100'
sweeps='4 8 16 50'
[ "$mode" = --quick ] && iterations='5 50' && sweeps='8 16'
for scene in $curves; do
    for engine in $engines; do
        case $engine in
        ode) for n in $iterations; do run "$scene" ode iterations="$n"; done ;;
        bullet) for n in $iterations; do run "$scene" bullet iterations="$n"; done ;;
        mujoco) for n in $iterations; do run "$scene" mujoco iterations="$n"; done ;;
        stiction) for n in $sweeps; do run "$scene" stiction --tuned tolerance=1e-6 max_iterations="$n"; done ;;
        esac
    done
    "$build/bench/table" "$rows" --curve "$scene" >"$out/$scene.svg"
done

{
    cat <<HEAD
# Measured

By \`make bench${mode:+-quick}\`, commit $(git describe --always --dirty 2>/dev/null || echo unknown), $(date -u +%Y-%m-%d).
Machine: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $(getconf _NPROCESSORS_ONLN) cores, one used;
vector units: $(grep -m1 -o -w -E 'avx2|avx512f' /proc/cpuinfo | sort -u | tr '\n' ' ' | sed 's/ $//'); $(uname -sr); ${CC:-cc} $(${CC:-cc} -dumpversion); load at the end $(cut -d' ' -f1 /proc/loadavg).

Each engine runs with its own defaults first; a row marked "tuned" has settings chosen by hand for the scene.
Times: processor time of the steps, least of the repeats (and how much more the slowest took); sleeping off in all engines.
First and slowest step: each step's time is its least over the repeats. Kinetic: the largest kinetic energy in the last
second, and gain: the sum of all rises of the mechanical energy, both in units of M g d (total mass, gravity, mean of the
smallest diameters). At rest is below 1e-6; no gain is below 1e-4.
Penetration in per cent of the radius (spheres, hulls), of half the height (boxes) or of the clearance (slider): worst once
at rest, worst of the whole run, mean of all overlaps at the end. Joints: largest error [m, rad]. Energy: largest rise, in
conservative scenes largest change, relative to the energy at the start. \`x ODE\`: ms per step over ODE's in the same run.
bench/README.md says more; curves of accuracy against time are the pictures beside this file.

HEAD
    "$build/bench/table" "$rows"
    grains
    if [ -z "$mode" ]; then
        printf '\n## Growth\n\nA settled pile ten spheres deep, every step to the same residual (bench/growth.c):\n\n'
        $pin "$build/bench/growth" "${BENCH_GROWTH:-100000}"
    fi
} >"$out/results.md"
echo "bench: $out/results.md" >&2
