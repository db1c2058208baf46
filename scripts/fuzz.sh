#!/bin/sh
# fuzz.sh FOLDER SECONDS [TARGET...] -- the fuzz targets of tests/fuzz with clang's libFuzzer and sanitizers, one
# after another, SECONDS each. Results are kept in FOLDER: corpus/TARGET (inputs that reach something new), crash-*
# (inputs that break something). `fuzz.sh keep FOLDER` adds the smallest inputs that reach new edges to
# tests/fuzz/corpus.
set -eu
cd "$(dirname "$0")/.."

# Even the smallest HDF5 files are longer than that; truncated, none of them opens.
longest() {
    case $1 in problem | recording) echo 65536 ;; *) echo 4096 ;; esac
}

all='scene set urdf mjcf sdf obj stl dae problem recording state http'

if [ "$1" = keep ]; then
    for target in $all; do
        found=$2/corpus/$target kept=tests/fuzz/corpus/$target
        [ -d "$found" ] || continue
        rm -rf "$2/merged/$target"
        mkdir -p "$2/merged/$target"
        cp "$kept"/* "$2/merged/$target"
        "$2/tests/fuzz_$target" -merge=1 -use_counters=0 -max_len="$(longest "$target")" "$2/merged/$target" "$found" >/dev/null 2>&1
        # inputs that reach edges which the kept ones do not; the smallest first, because people read a corpus in a
        # repository, too
        for file in $(find "$2/merged/$target" -type f -size -4k -printf '%s %p\n' | sort -n | cut -d' ' -f2); do
            cmp -s "$file" "$kept/$(basename "$file")" || echo "$file"
        done | head -25 | while read -r file; do
            cp "$file" "$kept/$(sha1sum "$file" | cut -c1-10)"
        done
    done
    exit 0
fi

folder=$1 seconds=$2
shift 2
cmake --log-level=NOTICE -S . -B "$folder" -DST_FUZZ=ON -DST_TESTS=ON -DST_SANITIZE=ON -DST_OPENMP=OFF \
    -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=RelWithDebInfo
# shellcheck disable=SC2048 # words
for target in ${*:-$all}; do
    cmake --build "$folder" --parallel "$(getconf _NPROCESSORS_ONLN)" --target "fuzz_$target" >/dev/null
done
broken=0
# shellcheck disable=SC2048
for target in ${*:-$all}; do
    mkdir -p "$folder/corpus/$target"
    echo "fuzz_$target: $seconds s"
    LSAN_OPTIONS=suppressions=tests/fuzz/leaks.supp ASAN_OPTIONS=allocator_may_return_null=1:detect_leaks=1 "$folder/tests/fuzz_$target" -max_total_time="$seconds" \
        -max_len="$(longest "$target")" -timeout=20 -rss_limit_mb=3000 -print_final_stats=1 -artifact_prefix="$folder/crash-$target-" \
        "$folder/corpus/$target" "tests/fuzz/corpus/$target" >"$folder/$target.log" 2>&1 || broken=1
    grep -E '^#[0-9]+.*(DONE|INITED)|stat::number_of_executed_units|ERROR|SUMMARY|violated' "$folder/$target.log" | tail -6
done
exit $broken
