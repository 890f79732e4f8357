#!/usr/bin/env bash
# make test: builds with gcc as a user does, with clang and asserts, and with
# ASan+UBSan and all checks of src/base/invariant.h (warnings are errors), runs
# every test in the first and in the others those that can differ there (see
# tests/meson.build), and closes with "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/.."

CC=gcc tools/build.sh build '' -Dwerror=true
CC=clang tools/build.sh build-clang '' -Dwerror=true -Db_ndebug=false
CC=gcc tools/build.sh build-asan '' -Dwerror=true -Db_ndebug=false -Dparanoid=true -Db_sanitize=address,undefined -Doptimization=1

export ASAN_OPTIONS=detect_leaks=1:abort_on_error=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
status=0
for dir in build build-clang build-asan; do
	case $dir in
	build) skip="" what="every test" ;;
	build-clang) skip="--no-suite text --no-suite run --no-suite explore --no-suite record --no-suite browser --no-suite peer" what="clang: unit tests and command lines" ;;
	build-asan) skip="--no-suite text --no-suite search --no-suite run --no-suite explore --no-suite browser --no-suite peer" what="sanitizers: unit tests, command lines, recordings" ;;
	esac
	echo "testing: $dir ($what)"
	# shellcheck disable=SC2086
	if ! meson test -C "$dir" --no-rebuild --print-errorlogs --timeout-multiplier 4 $skip ${TESTS:-} 2>&1 | tee "$dir/test.log" |
		sed -u -n '/^ *[0-9]*\/[0-9]* /p; /stderr\|stdout\|^FAIL\|not ok/p'; then
		status=1
		tail -60 "$dir/test.log"
	fi
done
python3 tools/summary.py build build-clang build-asan || status=1
exit $status
