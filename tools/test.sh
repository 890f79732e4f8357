#!/usr/bin/env bash
# make test: builds with gcc, clang and ASan+UBSan (warnings are errors), runs
# every test in the first and in the others those that can differ there (see
# tests/meson.build), and closes with "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/.."

# build DIR COMPILER MESON-OPTIONS...
build() {
	local dir=$1 compiler=$2
	shift 2
	if [ ! -f "$dir/build.ninja" ]; then
		CC=$compiler meson setup "$dir" -Dwerror=true "$@" >"$dir.setup.log" 2>&1 ||
			{ cat "$dir.setup.log"; rm -f "$dir.setup.log"; exit 1; }
		rm -f "$dir.setup.log"
	fi
	ninja -C "$dir" >"$dir/build.log" 2>&1 || { cat "$dir/build.log"; exit 1; }
}

build build gcc
build build-clang clang
build build-asan gcc -Db_sanitize=address,undefined -Doptimization=1

export ASAN_OPTIONS=detect_leaks=1:abort_on_error=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
status=0
for dir in build build-clang build-asan; do
	echo "== $dir"
	case $dir in
	build) skip="" ;;
	build-clang) skip="--no-suite run --no-suite explore --no-suite record --no-suite browser --no-suite peer" ;;
	build-asan) skip="--no-suite run --no-suite explore --no-suite browser --no-suite peer" ;;
	esac
	# shellcheck disable=SC2086
	meson test -C "$dir" --no-rebuild --print-errorlogs --timeout-multiplier 4 $skip ${TESTS:-} >"$dir/test.log" 2>&1 || status=1
	sed -n '/^ *[0-9]*\/[0-9]* /p; /stderr\|stdout\|^FAIL\|not ok/p' "$dir/test.log" | head -200
	[ $status = 0 ] || tail -60 "$dir/test.log"
done
python3 tools/summary.py build build-clang build-asan || status=1
exit $status
