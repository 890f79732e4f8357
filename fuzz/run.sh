#!/usr/bin/env bash
# make fuzz: builds the libFuzzer targets (clang, ASan+UBSan) and runs each for
# FUZZ_SECONDS (60), with fuzz/corpus, the examples and the golden cases as seeds.
# What it finds is kept under build-fuzz/findings; any finding makes the exit code 1.
# Usage: fuzz/run.sh [TARGET...]      (the names in fuzz/meson.build; default: all)
#        fuzz/run.sh --list | --build
# FUZZ_BUILT=1: they are built already (several of these run at once).
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${FUZZ_SECONDS:-60}
build=build-fuzz
all=$(sed -n "s/^  '\([a-z_]*\)': \[.*/\1/p" fuzz/meson.build)
case ${1:-} in
--list) echo "$all"; exit 0 ;;
--build) targets=$all ;;
*) targets=${*:-$all} ;;
esac

[ -n "${FUZZ_BUILT:-}" ] || CC=clang tools/build.sh $build "$(printf 'fuzz/fuzz_%s ' $targets)" -Dfuzz=true -Db_sanitize=address,undefined -Db_lundef=false \
	-Doptimization=1 -Dc_args=-fsanitize=fuzzer-no-link

[ "${1:-}" != --build ] || exit 0
export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
status=0
for t in $targets; do
	corpus=$build/corpus-$t
	seeds=$build/seeds-$t
	rm -rf "$seeds"
	mkdir -p "$corpus" "$seeds" $build/findings
	dict=fuzz/models.dict max_len=4096 pattern=
	case $t in
	sml) pattern='*.sml' ;;
	atm) pattern='*.atm' ;;
	fmt) pattern='*.[as][tm][ml]' ;;
	trace) pattern='*.std' ;;
	net) pattern='*.ll_net' ;;
	spec) ;;
	report | verify) dict=fuzz/results.dict max_len=24576 ;;
	recording) dict='' max_len=10240 ;;
	lsp) dict='' ;;
	*) dict=fuzz/histories.dict ;;
	esac
	[ ! -d fuzz/corpus/$t ] || cp fuzz/corpus/$t/* "$seeds"
	[ -z "$pattern" ] || find examples tests/golden -name "$pattern" -size -64k | while read -r f; do
		cp "$f" "$seeds/$(echo "$f" | tr / _)"
	done
	log=$build/fuzz-$t.log
	if $build/fuzz/fuzz_$t -max_total_time="$seconds" -max_len=$max_len -timeout=30 -rss_limit_mb=2048 \
		${dict:+-dict=$dict} -artifact_prefix="$build/findings/$t-" -print_final_stats=1 \
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
