#!/bin/sh
# bench.sh BUILD [--quick] -- every scene with every engine, one after another on one core: bench/results/{results.csv,
# results.md,*.svg}; with --quick a few scenes once, under bench/results/quick/ (not kept in git).
set -eu
build=$1
mode=${2:-}
out=bench/results
repeat=3
limit=300
scenes='spheres-666 spheres-2000 spheres-8000 spheres-32000 hulls-200 wall-100 tower-20 column-1 column-10 column-100
    column-1000 dominoes-30 bowling incline-0.99 push-0 push-30 push-45 bounce-1 bounce-0.5 gripper-0.95 chain-100 whip-100
    springs-1e2 springs-1e4 springs-1e6 springs-1e8 ring-1e2 slider quadruped'
if [ "$mode" = --quick ]; then
    out=bench/results/quick
    repeat=1
    limit=10
    scenes='spheres-666 hulls-200 wall-100 column-100 bowling incline-0.99 push-45 chain-100 springs-1e6 quadruped'
fi
mkdir -p "$out"
rows=$out/results.csv
engines=
for engine in stiction ode bullet mujoco siconos simbody dart; do
    if [ -x "$build/bench/run-$engine" ]; then engines="$engines $engine"; else
        echo "bench: no $engine (run-$engine was not built)" >&2
    fi
done
# One core and one thread for all; where there is no taskset the system keeps a process where it is, mostly.
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
pin=
if command -v taskset >/dev/null 2>&1; then pin='taskset -c 0'; fi

# run SCENE ENGINE [setting...]: one row. An engine that cannot do a scene says why in its row.
run() {
    scene=$1 engine=$2
    shift 2
    printf '%s %s %s\n' "$scene" "$engine" "$*" >&2
    # shellcheck disable=SC2086 # $pin is several words or none
    $pin "$build/bench/run-$engine" "$scene" "$@" --csv --repeat "$repeat" --limit "$limit" >>"$rows" 2>/dev/null || true
}

"$build/bench/run-stiction" --header >"$rows"
for scene in $scenes; do
    for engine in $engines; do run "$scene" "$engine"; done
done

# Accuracy against time: a peer's iterations, our tolerance.
curves='spheres-666 wall-100 hulls-200'
[ "$mode" = --quick ] && curves=spheres-666
repeat=1
for scene in $curves; do
    for engine in $engines; do
        case $engine in
        ode) for n in 5 10 50 100 200; do run "$scene" ode iterations=$n; done ;;
        bullet) for n in 5 20 50 100 200; do run "$scene" bullet iterations=$n; done ;;
        mujoco) for n in 5 10 100; do run "$scene" mujoco iterations=$n; done ;;
        stiction) for t in 1e-1 1e-2 1e-4 1e-5 1e-6; do run "$scene" stiction tolerance=$t; done ;;
        esac
    done
    "$build/bench/table" "$rows" --curve "$scene" >"$out/$scene.svg"
done

{
    cat <<HEAD
# Measured

By \`make bench${mode:+-quick}\`, commit $(git describe --always --dirty 2>/dev/null || echo unknown), $(date -u +%Y-%m-%d).
Machine: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $(getconf _NPROCESSORS_ONLN) cores, one used;
$(uname -sr); ${CC:-cc} $(${CC:-cc} -dumpversion); load at the end $(cut -d' ' -f1 /proc/loadavg).

Times: processor time of the steps, least of the repeats (and how much more the slowest took); sleeping off in all engines.
Penetration in per cent of the radius (spheres, hulls), of half the height (boxes) or of the clearance (slider): worst once
at rest, worst of the whole run, mean of all overlaps at the end. Joints: largest error [m, rad]. Energy: largest rise, in
conservative scenes largest change, of what there is at the start. \`x ODE\`: ms a step over ODE's in the same run.
bench/README.md says more; curves of accuracy against time are the pictures beside this file.

HEAD
    "$build/bench/table" "$rows"
} >"$out/results.md"
echo "bench: $out/results.md" >&2
