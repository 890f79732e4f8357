#!/usr/bin/env bash
# make fuzz: builds the libFuzzer targets (clang, ASan+UBSan) and runs each for
# FUZZ_SECONDS (60), with the examples and golden cases as seeds. What it finds
# is kept under build-fuzz/findings; any finding makes the exit code 1.
# Usage: fuzz/run.sh [TARGET...]      (atm sml fmt net trace)
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${FUZZ_SECONDS:-60}
build=build-fuzz

if [ ! -f $build/build.ninja ]; then
	CC=clang meson setup $build -Dfuzz=true -Db_sanitize=address,undefined -Db_lundef=false \
		-Doptimization=1 -Dc_args=-fsanitize=fuzzer-no-link >$build.log 2>&1 ||
		{ cat $build.log; rm -f $build.log; exit 1; }
	rm -f $build.log
fi
targets=${*:-atm sml fmt net trace}
# shellcheck disable=SC2086
ninja -C $build $(printf 'fuzz/fuzz_%s ' $targets) >$build/build.log 2>&1 || { cat $build/build.log; exit 1; }

export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
status=0
for t in $targets; do
	corpus=$build/corpus-$t
	mkdir -p "$corpus" $build/findings
	case $t in
	sml) pattern='*.sml' ;;
	atm) pattern='*.atm' ;;
	trace) pattern='*.std' ;;
	net) pattern='*.ll_net' ;;
	*) pattern='*.[as][tm][ml]' ;;
	esac
	seeds=$build/seeds-$t
	rm -rf "$seeds"
	mkdir -p "$seeds"
	{ find examples tests/golden -name "$pattern" -size -64k 2>/dev/null || true; } | while read -r f; do
		cp "$f" "$seeds/$(echo "$f" | tr / _)"
	done
	log=$build/fuzz-$t.log
	if $build/fuzz/fuzz_$t -max_total_time="$seconds" -max_len=4096 -timeout=20 -rss_limit_mb=2048 \
		-dict=fuzz/models.dict -artifact_prefix="$build/findings/$t-" -print_final_stats=1 \
		-verbosity=1 "$corpus" "$seeds" >"$log" 2>&1; then
		runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
		cov=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -1)
		echo "fuzz_$t: ${runs:-?} inputs in $seconds s, ${cov:-?} edges covered, no finding"
	else
		grep -v "^#[0-9]" "$log" | tail -40
		echo "fuzz_$t: FINDING, see $build/findings and $log"
		status=1
	fi
done
exit $status
