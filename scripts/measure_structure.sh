#!/bin/sh
# measure_structure.sh -- figures of how the code reads, as a Markdown table for docs/architecture.md.
#
#     scripts/measure_structure.sh [SCENE]       # SCENE: wall; its first step under the default is traced
#
# Functions and their signatures come from ctags. The trace comes from a build with -finstrument-functions
# (build-trace/). Its hooks are a small library that is loaded first: it records every function that is entered
# inside st_system_step, and its depth.
set -eu
cd "$(dirname "$0")/.."
scripts/setup.sh build structure
scene=${1:-wall}
build="build-trace"
cmake --log-level=NOTICE -S . -B $build -DST_TESTS=OFF -DST_OPENMP=OFF -DCMAKE_BUILD_TYPE=Debug \
    -DCMAKE_C_FLAGS="-O0 -finstrument-functions -finstrument-functions-exclude-file-list=/usr" >/dev/null
cmake --build $build --parallel "$(getconf _NPROCESSORS_ONLN)" --target st_program >/dev/null

cat >$build/hooks.c <<'HOOKS'
/* Notes the functions entered while the function at offset ST_TRACE_FROM is running. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define ROOM 65536 /* functions of the program, at most */
static uintptr_t seen[ROOM], from, base;
static int depth_at[ROOM], depth = -1, steps;

__attribute__((no_instrument_function)) static void start(void)
{
    FILE *maps = fopen("/proc/self/maps", "r"); /* begins with the program, which is position-independent */
    if (maps == NULL || fscanf(maps, "%lx", &base) != 1) exit(1);
    fclose(maps);
    from = base + (uintptr_t)strtoull(getenv("ST_TRACE_FROM"), NULL, 16);
}

__attribute__((no_instrument_function)) void __cyg_profile_func_enter(void *function, void *caller)
{
    (void)caller;
    if (from == 0) start();
    if ((uintptr_t)function == from && steps == 0) depth = 0;
    if (depth < 0) return;
    depth++;
    size_t k = ((uintptr_t)function >> 2) % ROOM;
    while (seen[k] != 0 && seen[k] != (uintptr_t)function) k = (k + 1) % ROOM;
    seen[k] = (uintptr_t)function;
    if (depth > depth_at[k]) depth_at[k] = depth;
}

__attribute__((no_instrument_function)) void __cyg_profile_func_exit(void *function, void *caller)
{
    (void)caller;
    if (depth < 0) return;
    depth--;
    if ((uintptr_t)function != from || depth != 0) return;
    depth = -1;
    steps++;
    FILE *out = fopen(getenv("ST_TRACE_TO"), "w");
    for (int i = 0; out != NULL && i < ROOM; i++)
        if (seen[i] != 0) fprintf(out, "%#lx %d\n", (unsigned long)(seen[i] - base), depth_at[i]);
    if (out != NULL) fclose(out);
}
HOOKS
cc -shared -fPIC -O1 $build/hooks.c -o $build/hooks.so
from=$(nm $build/bin/stiction | awk '$3 == "st_system_step" { print $1 }')
ST_TRACE_FROM=$from ST_TRACE_TO=$build/trace.txt LD_PRELOAD=$PWD/$build/hooks.so \
    $build/bin/stiction run "$scene" --quiet --set simulation/end=0.001 --set simulation/h=0.001 >/dev/null
awk '{ print $1 }' $build/trace.txt | addr2line -f -s -e $build/bin/stiction | paste - - >$build/names.txt
paste $build/names.txt $build/trace.txt >$build/traced.txt
# shellcheck disable=SC2046 # names without spaces
ctags -x --c-kinds=f --_xformat='%N|%F|%n|%S' $(find src -name '*.[ch]') >$build/functions.txt

python3 - $build "$scene" <<'PYTHON'
import collections, pathlib, re, sys
build, scene = pathlib.Path(sys.argv[1]), sys.argv[2]
traced = [line.split() for line in (build / "traced.txt").read_text().splitlines()]
laws = ("sti_slope", "sti_natural", "sti_project", "sti_shift", "sti_one_contact", "sti_alart")
functions = [line.split("|", 3) for line in (build / "functions.txt").read_text().splitlines()]
text = {f: pathlib.Path(f).read_text() for f in {f for _, f, _, _ in functions}}
plain = {f: re.sub(r'"(\\.|[^"\\])*"', '""', re.sub(r"/\*.*?\*/", "", t, flags=re.S)) for f, t in text.items()}
lines = {f: t.splitlines() for f, t in text.items()}

step = [f for f in functions if f[1].startswith("src/step/")]
whole = [f for f in step if re.search(r"\bst_System\s*\*", f[3])]
outside = [f for f in whole if f[1] not in ("src/step/step.c", "src/step/system.c") and not f[0].startswith("st_")]

def is_static(name, file, number):
    number = int(number)
    return any(re.match(r"\s*(static|STATIC)\b", lines[file][i]) for i in (number - 1, number - 2) if 0 <= i)

def uses(code):  # by name: how often it is called, and how often it is named otherwise
    called = collections.Counter(re.findall(r"\b(\w+)\s*\(", code))
    named = collections.Counter(re.findall(r"\b\w+\b", code))
    return called, named

in_file = {f: uses(t) for f, t in plain.items()}
anywhere = uses("\n".join(plain.values()))  # for functions of headers
once = statics = 0
for name, file, number, _ in functions:
    if not is_static(name, file, number):
        continue
    statics += 1
    called, named = anywhere if file.endswith(".h") else in_file[file]
    calls, others = called[name], named[name] - called[name]
    declared = len(re.findall(r"^static[^;{}=]*\b%s\s*\([^;{}]*\)\s*;" % name, plain[file], flags=re.M))
    once += calls - 1 - declared == 1 and others == 0

count = collections.Counter(name for name, _, _, _ in functions)
shared = [name for name, n in count.items() if n > 1]
# An inline function of a header has a copy in every file that calls it: it counts once.
inline = {name for name, file, _, _ in functions if file.endswith(".h")}
entered = {(t[0], "" if t[0] in inline else t[1].split(":")[0]) for t in traced}
clash = [n for n, c in collections.Counter(name for name, _ in entered).items() if c > 1]
deep = [(int(t[3]), t[0]) for t in traced if t[0].startswith(laws)]
print("| | measured |\n|---|---|")
print("| distinct functions in the first default step of `%s` | %d in %d files |" %
      (scene, len(entered), len({t[1].split(":")[0] for t in traced})))
print("| call depth from `st_system_step` to the law that is evaluated | %d (`%s`) |" % max(deep, default=(0, "none")))
print("| functions in `src/step` that take the whole `st_System` outside step.c, system.c and the public functions | %d of %d |" %
      (len(outside), len(step)))
print("| static functions called exactly once | %d of %d |" % (once, statics))
print("| names shared by several functions | %d, of which %d in that step |" % (len(shared), len(clash)))
PYTHON
