#!/usr/bin/env bash
# make soak: the random campaigns whole, then every fuzz target for SOAK_FUZZ_SECONDS (3600; two at a time, 0: none).
# The result goes into docs/reliability.md by hand.
set -euo pipefail
cd "$(dirname "$0")/.."
BUILD=${BUILD:-build}
intact=${INTACT:-$BUILD/src/cli/intact}
ninja -C "$BUILD" >/dev/null
# a campaign's seeds, half of them in each of two processes
halves() {
	INTACT_SOAK_PART=0/2 "$@" & local half=$!
	INTACT_SOAK_PART=1/2 "$@"
	wait $half
}
echo "== random models: commit, exact, reductions and the judge"
INTACT_SOAK=${INTACT_SOAK:-20000} halves "$BUILD/tests/unit/test_explore"
echo "== random models: blocks that wait, threads without end"
INTACT_SOAK=${INTACT_SOAK:-20000} halves "$BUILD/tests/unit/test_explore_waits"
echo "== random models: every set of reductions, one thread and two"
INTACT_SOAK=${INTACT_SOAK:-20000} halves "$BUILD/tests/unit/test_explore_core"
echo "== random models that synchronise: reduction and causality against exact"
INTACT_SOAK=${INTACT_SOAK:-20000} "$BUILD/tests/unit/test_reduce"
echo "== random models of both kinds: the independent checker of what holds against exact"
INTACT_SOAK=${INTACT_SOAK:-20000} "$BUILD/tests/unit/test_verify"
echo "== random programs: cover, unfold and the coloured marking graph; cycles; what is proved against exact"
for t in test_causal test_causal_check; do
	INTACT_SOAK=${INTACT_SOAK:-20000} halves "$BUILD/tests/unit/$t" examples
done
echo "== random nets: the prefix against its definition; coloured nets, exact and reduced, against their markings"
INTACT_SOAK=${INTACT_SOAK:-20000} "$BUILD/tests/unit/test_net"
INTACT_SOAK=${INTACT_SOAK:-100000} "$BUILD/tests/unit/test_colour"
echo "== programs under exploration: optimal DPOR against every schedule; planted bugs by seed and compiler; replays"
python3 tests/explore/soak.py "$intact" --seeds "${EXPLORE_SEEDS:-20}" --replays "${EXPLORE_REPLAYS:-100}" --gdb "${EXPLORE_REPLAYS:-100}"
echo "== checks that are killed, stopped, or out of disk at random moments, and resumed"
python3 tests/scale/test_checkpoint.py "$intact" examples "${CHECKPOINT_BREAKS:-200}" "${CHECKPOINT_SEED:-2}" | tail -1
echo "== object tests: every example with both compilers, every mutant, random objects against brute force"
python3 tests/objects/run.py "$intact" --all | tail -2
python3 tests/objects/mutants.py "$intact" --all
python3 tests/objects/random_objects.py "$intact" 1 "${OBJECTS_COUNT:-10000}"
echo "== examples, walked with many seeds"
INTACT_WALK_SEEDS=${INTACT_WALK_SEEDS:-100} "$BUILD/tests/unit/walk_examples" examples
python3 tests/cli/test_examples.py "$intact" 40 | tail -1
echo "== random one-thread models against interpreters of their own"
python3 tests/differential/test_lower.py "$intact" "${LOWER_COUNT:-5000}" | tail -2
python3 tests/differential/test_lower_sml.py "$intact" "${LOWER_COUNT:-5000}" | tail -2
echo "== models with scrambled white space and comments through the formatter"
python3 tests/cli/test_fmt.py "$intact" 100 | tail -1
echo "== random edits in the language server: diagnostics against those of the command"
for seed in $(seq 1 "${LSP_SEEDS:-20}"); do
	python3 tests/lsp/test_lsp.py "$intact" . "$seed" 20000 | grep -E "^not ok|random edits"
done
echo "== random traces: clocks, graph and the judge; every cycle verified, corrupted ones rejected"
INTACT_TRACES=${INTACT_TRACES:-200000} "$BUILD/tests/unit/test_serial"
INTACT_TRACE_RUNS=${INTACT_TRACE_RUNS:-100} python3 tests/cli/test_trace.py "$intact" . | tail -3
echo "== predicted reorderings against all feasible runs"
INTACT_TRACES=${INTACT_TRACES:-200000} "$BUILD/tests/unit/test_predict"
echo "== histories: every small one, and a million random ones of each kind"
# every single-writer history of up to seven operations, half of them on each of two cores
INTACT_SOAK=1 INTACT_SOAK_PART=0/2 "$BUILD/tests/unit/test_lin_register" exhaustive & half=$!
INTACT_SOAK=1 INTACT_SOAK_PART=1/2 "$BUILD/tests/unit/test_lin_register" exhaustive
wait $half
# every history of up to seven operations with any number of writers
INTACT_SOAK=1 INTACT_SOAK_PART=0/2 "$BUILD/tests/unit/test_lin_register" exhaustive-many & half=$!
INTACT_SOAK=1 INTACT_SOAK_PART=1/2 "$BUILD/tests/unit/test_lin_register" exhaustive-many
wait $half
INTACT_SOAK=1 "$BUILD/tests/unit/test_lin_register" random
echo "== objects in models against every execution and every order"
INTACT_SOAK=1 "$BUILD/tests/unit/test_objects"
for t in objects follow conditions formats spec; do
	INTACT_SOAK=1 "$BUILD/tests/unit/test_lin_$t"
done
echo "== isolation levels of transactions against their definitions, damaged texts"
INTACT_SOAK=1 halves "$BUILD/tests/unit/test_txn"
echo "== findings of intact run, explored: both compilers, -O0 and -O2"
python3 tests/confirm/run.py "$intact" --all | tail -2
echo "== locksets, stacks, locks and cells against twins; confirmed cycles against the judge"
for t in test_dynamic test_dynamic_blocks; do
	INTACT_SOAK=1 halves "$BUILD/tests/unit/$t"
done
echo "== schedules: optimal partial-order reduction against all schedules, replay, shards, coverage, files"
INTACT_SOAK=${INTACT_SOAK:-20000} halves "$BUILD/tests/unit/test_sched_dpor"
INTACT_SOAK=500 halves "$BUILD/tests/unit/test_sched"
echo "== functions without hooks where they are inlined, against what they do"
INTACT_SOAK=1 python3 tests/differential/test_leaf.py "$BUILD/tests/unit/test_leaf"
echo "== programs under watch: both compilers, -O0 and -O2, 20 runs each, always the same verdict"
INTACT_SOAK=1 python3 tests/programs/run.py "$intact" --all
echo "== faults: both compilers, 9,000 live threads"
INTACT_SOAK=1 python3 tests/fault/run.py "$intact"
echo "== recordings: run = trace, orders that can have happened, tens of millions of events in the same memory"
INTACT_SOAK=${INTACT_RECORDINGS:-200000} "$BUILD/tests/unit/test_translate"
INTACT_SOAK=1 python3 tests/record/run.py "$intact" --all
echo "== the wrapper: every command line"
INTACT_SOAK=1 python3 tests/cli/test_cc.py "$intact"
if [ "${SOAK_FUZZ_SECONDS:-3600}" != 0 ]; then
	echo "== fuzz targets, ${SOAK_FUZZ_SECONDS:-3600} s each"
	tools/setup.sh fuzz
	targets=$(fuzz/run.sh --list)
	fuzz/run.sh --build # once, not by two at a time
	# shellcheck disable=SC2086
	printf '%s\n' $targets | FUZZ_BUILT=1 FUZZ_SECONDS=${SOAK_FUZZ_SECONDS:-3600} xargs -n 1 -P 2 fuzz/run.sh
fi
