#!/usr/bin/env bash
# make coverage: which lines and branches of src/ and runtime/ the tests reach. Builds in build-coverage (gcc, no optimisation,
# no asserts: a branch that must never be taken is no gap), runs every test but the browser's there (TESTS="name..." for some
# of them), prints the totals and the files that are covered least, and leaves a page a file in build-coverage/coverage/.
# Counters are atomic, and a process that forks writes its own part: gcov adds them up. The runtime's counters are in one file
# that all watched programs share (runtime/coverage.c); one more such program writes them in gcov's format.
set -euo pipefail
cd "$(dirname "$0")/.."
dir=build-coverage

CC=gcc tools/build.sh $dir '' -Db_coverage=true -Doptimization=0 -Db_ndebug=true -Dc_args=-fprofile-update=atomic
find $dir -name '*.gcda' -delete
rm -f $dir/runtime.counters
# shellcheck disable=SC2086
meson test -C $dir --no-rebuild --timeout-multiplier 20 --no-suite browser ${TESTS:-} >$dir/test.log 2>&1 ||
	echo "coverage: not all tests passed: see $dir/test.log" >&2
mkdir -p $dir/coverage
echo 'int main(void) { return 0; }' >$dir/coverage/dump.c
$dir/src/cli/intact cc $dir/coverage/dump.c -o $dir/coverage/dump
INTACT_COVERAGE_DUMP=1 $dir/coverage/dump
# The least covered files are the last lines of the table that gcovr sorts.
gcovr --root . --object-directory $dir --filter src/ --filter runtime/ --exclude-unreachable-branches --exclude-throw-branches \
	--html-details $dir/coverage/index.html --json-summary $dir/coverage/summary.json --print-summary >/dev/null
python3 - $dir/coverage/summary.json <<'PY'
import json, sys
s = json.load(open(sys.argv[1]))
print(f"lines {s['line_percent']:.1f} % of {s['line_total']:,}, branches {s['branch_percent']:.1f} % of {s['branch_total']:,}")
rooms = {}
for f in s["files"]:
    room = f["filename"].rsplit("/", 1)[0].removeprefix("src/")
    r = rooms.setdefault(room, [0, 0, 0, 0])
    for i, key in enumerate(("line_covered", "line_total", "branch_covered", "branch_total")):
        r[i] += f[key]
for name, (lc, lt, bc, bt) in sorted(rooms.items(), key=lambda x: x[1][0] / max(1, x[1][1])):
    print(f"  {name:15} lines {100 * lc / max(1, lt):5.1f} %  branches {100 * bc / max(1, bt):5.1f} %")
print("least covered files:")
for f in sorted((f for f in s["files"] if f["line_total"] >= 20), key=lambda f: f["line_percent"])[:15]:
    print(f"  {f['line_percent']:5.1f} % of {f['line_total']:4} lines  {f['filename']}")
PY
