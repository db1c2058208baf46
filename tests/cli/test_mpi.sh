#!/bin/sh
# test_mpi.sh PROGRAM -- `mpirun stiction run`: the state of two and three ranks is that of one, one recording is
# written, refusals are printed once, and recorded steps are kept after Ctrl-C and after kill -9 of a rank.
# Skipped (77) where there is no mpirun, or the program was built without MPI.
set -eu
program=$1
command -v mpirun >/dev/null || { echo "no mpirun"; exit 77; }
ldd "$program" | grep -q libmpi || { echo "built without MPI"; exit 77; }
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 # of containers
OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_rmaps_base_oversubscribe OMPI_MCA_mpi_yield_when_idle
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
fail() {
    echo "test_mpi: $*"
    exit 1
}

cat >pile.json <<'SCENE'
{"ground": [{"type": "plane", "friction": 0.5}],
 "fills": [{"name": "grains", "region": {"type": "box", "position": [0, 0, 0.25], "size": [0.5, 0.5, 0.4]},
            "shapes": [{"type": "sphere", "radius": 0.05}], "number": 64, "arrangement": "lattice", "seed": 3}],
 "simulation": {"h": 0.005, "end": 0.05, "device": "flat"}}
SCENE
hash_of() { # RANKS
    mpirun -n "$1" "$program" run pile.json --json -o "$1.h5" | sed -n 's/.*"state_hash": *"\([0-9a-f]*\)".*/\1/p'
}
one=$("$program" run pile.json --json | sed -n 's/.*"state_hash": *"\([0-9a-f]*\)".*/\1/p')
[ -n "$one" ] || fail "no hash in --json"
for ranks in 2 3; do
    several=$(hash_of $ranks)
    [ "$several" = "$one" ] || fail "$ranks ranks end with the state $several, one with $one"
    "$program" info "$ranks.h5" | grep -q "0.05 s" || fail "the recording of $ranks ranks is not whole"
done

# refused once, with the reason, and no rank is left waiting
if mpirun -n 2 "$program" run pile.json --set simulation/device=none >out.txt 2>&1; then fail "device none was not refused"; fi
[ "$(grep -c '2 ranks share piles' out.txt)" = 1 ] || fail "a refusal that is not said once: $(cat out.txt)"

# Ctrl-C, and kill -9 of the last rank, while recording
for signal in INT KILL; do
    mpirun -n 2 "$program" run pile.json --set simulation/end=1000 -o $signal.h5 >$signal.txt 2>&1 &
    run=$!
    for _ in $(seq 300); do
        [ -z "$(find . -maxdepth 1 -name "*$signal.h5*")" ] || break
        sleep 0.1
    done
    sleep 2
    if [ $signal = INT ]; then kill -INT $run; else pkill -KILL -n -f "run pile.json --set simulation/end=1000 -o KILL.h5"; fi
    wait $run && fail "a run that was ended by SIG$signal says that all is well"
    for wait in $(seq 100); do # mpirun ends before the other rank has left the table of processes
        pgrep -f "run pile.json --set simulation/end=1000 -o $signal.h5" >/dev/null || break
        [ "$wait" -lt 100 ] || fail "a rank is left 10 s after SIG$signal"
        sleep 0.1
    done
    found=$(find . -maxdepth 1 -name "*$signal.h5*" -print -quit)
    [ -n "$found" ] || fail "no recording after SIG$signal"
    "$program" info "$found" >info.txt 2>&1 || fail "the recording after SIG$signal: $(cat info.txt)"
done
