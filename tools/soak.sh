#!/usr/bin/env bash
# make soak: the random campaigns whole, then every fuzz target for SOAK_FUZZ_SECONDS (3600; 0: none).
#
#   SOAK_SECONDS  stop after so many seconds: a campaign under way is cut, and says so (default: run to the end)
#   SOAK_SLICE    a campaign has at most so many seconds, so that each has its turn within SOAK_SECONDS (default: no limit)
#   SOAK_JOBS     campaigns at a time (2)
#   SOAK_LOGS     the directory of the logs (soak-logs); a campaign that ended well there is not run again
#   SOAK_ONLY     campaigns whose name matches this extended regular expression only
#
# Exit status: 0 when every campaign ended well, 1 when one failed, 3 when the time was up before the end.
# The result goes into docs/reliability.md by hand.
set -euo pipefail
cd "$(dirname "$0")/.."
BUILD=${BUILD:-build}
intact=${INTACT:-$BUILD/src/cli/intact}
logs=${SOAK_LOGS:-soak-logs}
mkdir -p "$logs"

# A campaign: its name, then its command. `halves` makes two of one that can divide its seeds.
list=()
campaign() {
	local name=$1
	shift
	if [ -z "${SOAK_ONLY:-}" ] || [[ $name =~ $SOAK_ONLY ]]; then list+=("$name $*"); fi
}
halves() {
	local name=$1
	shift
	campaign "$name-1of2" "INTACT_SOAK_PART=0/2 $*"
	campaign "$name-2of2" "INTACT_SOAK_PART=1/2 $*"
}
unit=$BUILD/tests/unit
models=INTACT_SOAK=${INTACT_SOAK:-20000}

# the quick ones first: with SOAK_SECONDS every area gets its turn early
# isolation levels of transactions against their definitions, damaged texts
halves transactions "INTACT_SOAK=1 $unit/test_txn"
# random traces: clocks, graph and the judge; every cycle verified, corrupted ones rejected; predictions against all runs
campaign traces "INTACT_TRACES=${INTACT_TRACES:-200000} $unit/test_serial"
campaign traces-predicted "INTACT_TRACES=${INTACT_TRACES:-200000} $unit/test_predict"
campaign traces-verified "INTACT_TRACE_RUNS=${INTACT_TRACE_RUNS:-100} python3 tests/cli/test_trace.py $intact ."
# locksets, stacks, locks and cells against twins; confirmed cycles against the judge; recordings
for t in dynamic dynamic_blocks; do
	halves "runtime-$t" "INTACT_SOAK=1 $unit/test_$t"
done
campaign recordings-random "INTACT_SOAK=${INTACT_RECORDINGS:-200000} $unit/test_translate"
# schedules: optimal partial-order reduction against all schedules, replay, shards, coverage, files
halves schedules-reduced "$models $unit/test_sched_dpor"
halves schedules "INTACT_SOAK=500 $unit/test_sched"
# objects in models against every execution and every order
campaign model-objects "INTACT_SOAK=1 $unit/test_objects"
# examples walked with many seeds; random one-thread models against interpreters of their own; the formatter
campaign examples-walked "INTACT_WALK_SEEDS=${INTACT_WALK_SEEDS:-100} $unit/walk_examples examples"
campaign examples "python3 tests/cli/test_examples.py $intact 40"
campaign language-atm "python3 tests/differential/test_lower.py $intact ${LOWER_COUNT:-5000}"
campaign language-sml "python3 tests/differential/test_lower_sml.py $intact ${LOWER_COUNT:-5000}"
# words and structs against their spelling without them
campaign language-words "python3 tests/differential/test_words.py $intact ${WORDS_COUNT:-2000}"
campaign formatter "python3 tests/cli/test_fmt.py $intact 100"
# random edits in the language server: diagnostics against those of the command
for seed in $(seq 1 "${LSP_SEEDS:-20}"); do
	campaign "language-server-$seed" "python3 tests/lsp/test_lsp.py $intact . $seed 20000"
done
# checks that are killed, stopped, or out of disk at random moments, and resumed
campaign shards-merged "python3 tests/scale/test_merge.py $intact . ${MERGE_SEED:-2} ${MERGE_HISTORIES:-5000}"
campaign searches-on-disk "python3 tests/scale/test_disk.py $intact examples ${DISK_COUNT:-1000} ${DISK_SEED:-2}"
campaign searches-shared-by-mpi "python3 tests/scale/test_mpi.py $intact examples ${MPI_COUNT:-1000} ${MPI_SEED:-2}"
campaign checkpoints "python3 tests/scale/test_checkpoint.py $intact examples ${CHECKPOINT_BREAKS:-200} ${CHECKPOINT_SEED:-2}"
# random models: commit, exact, reductions and the judge; blocks that wait, threads without end; every set of reductions
halves models "$models $unit/test_explore"
halves models-that-wait "$models $unit/test_explore_waits"
halves models-reductions "$models $unit/test_explore_core"
halves models-shared-by-ranks "$models $unit/test_dist"
# random models that synchronise: reduction and causality against exact; the independent checker against exact
campaign models-movers "$models $unit/test_reduce"
campaign models-checker "$models $unit/test_verify"
# certificates of random models against the engines and a twin, damaged ones; corrupted certificates of examples
halves certificates "INTACT_SOAK=${INTACT_CERTIFICATES:-5000} INTACT_DAMAGES=20 INTACT_CORRUPTED=10000 $unit/test_certificate"
campaign certificates-corrupted "INTACT_CORRUPTED=${INTACT_CORRUPTED:-2000} python3 tests/cli/test_certificate.py $intact examples"
# random programs: cover, unfold and the coloured marking graph; cycles; what is proved against exact
halves causal "$models $unit/test_causal examples"
halves causal-proofs "$models $unit/test_causal_check examples"
# random nets: the prefix against its definition; coloured nets, exact and reduced, against their markings
campaign nets "$models $unit/test_net"
campaign nets-coloured "INTACT_SOAK=${INTACT_SOAK:-100000} $unit/test_colour"
# histories: every small one, and a million random ones of each kind
halves histories-one-writer "INTACT_SOAK=1 $unit/test_lin_register exhaustive"
halves histories-all "INTACT_SOAK=1 $unit/test_lin_register exhaustive-many"
campaign histories-random "INTACT_SOAK=1 $unit/test_lin_register random"
for t in objects follow conditions formats spec; do
	campaign "histories-$t" "INTACT_SOAK=1 $unit/test_lin_$t"
done
# object tests: every example with both compilers, every mutant, random objects against brute force
campaign objects "python3 tests/objects/run.py $intact --all"
campaign objects-mutants "python3 tests/objects/mutants.py $intact --all"
campaign objects-random "python3 tests/objects/random_objects.py $intact 1 ${OBJECTS_COUNT:-10000}"
# findings of intact run, explored: both compilers, -O0 and -O2
campaign confirm "python3 tests/confirm/run.py $intact --all"
# functions without hooks where they are inlined, against what they do; the wrapper: every command line
campaign leaf-functions "INTACT_SOAK=1 python3 tests/differential/test_leaf.py $unit/test_leaf"
campaign compiler-wrapper "INTACT_SOAK=1 python3 tests/cli/test_cc.py $intact"
# programs under watch: both compilers, -O0 and -O2, 20 runs each, always the same verdict; faults; recordings of them
campaign races "python3 tests/races/run.py $intact --all"
campaign programs-perturbed "python3 tests/perturb/run.py $intact"
campaign programs "INTACT_SOAK=1 python3 tests/programs/run.py $intact --all"
campaign faults "INTACT_SOAK=1 python3 tests/fault/run.py $intact"
campaign recordings "INTACT_SOAK=1 python3 tests/record/run.py $intact --all"
# every program of tests/programs explored: both compilers, -O0 and -O2
campaign programs-explored "python3 tests/programs/explore.py $intact --all"
# planted bugs by seed and compiler, each found, and replayed in every way
campaign planted-bugs "python3 tests/explore/soak.py $intact --seeds ${EXPLORE_SEEDS:-20} --replays ${EXPLORE_REPLAYS:-100} --gdb ${EXPLORE_REPLAYS:-100}"
fuzz_seconds=${SOAK_FUZZ_SECONDS:-3600}
if [ -n "${SOAK_SLICE:-}" ] && [ "$fuzz_seconds" -ge "$SOAK_SLICE" ]; then fuzz_seconds=$((SOAK_SLICE * 3 / 4)); fi # it also starts and ends
if [ "$fuzz_seconds" != 0 ]; then
	for t in $(fuzz/run.sh --list); do
		campaign "$t" "FUZZ_BUILT=1 FUZZ_SECONDS=$fuzz_seconds fuzz/run.sh $t"
	done
fi

[ ${#list[@]} -gt 0 ] || { echo "soak.sh: no campaign matches ${SOAK_ONLY:-}" >&2; exit 2; }
ninja -C "$BUILD" >/dev/null
if printf '%s\n' "${list[@]}" | grep -q FUZZ_BUILT; then
	tools/setup.sh fuzz
	fuzz/run.sh --build # once, not by two at a time
fi

# Runs one campaign and prints one line: what became of it, its CPU and its last line. The log opens with the
# commit, and `DONE` is written to it only when all is well.
one() {
	local name=${1%% *} command=${1#* } log=$logs/${1%% *}.log left begin status=0 state
	begin=$(date +%s) left=$((deadline - $(date +%s)))
	if grep -qs '^DONE' "$log"; then echo "$name: ended well before, see $log"; return; fi
	if [ "$left" -le 0 ]; then echo "$name: NOT RUN, the time is up"; echo cut >>"$logs/left"; return; fi
	if [ -n "${SOAK_SLICE:-}" ] && [ "$left" -gt "$SOAK_SLICE" ]; then left=$SOAK_SLICE; fi
	git log -1 --format='%h %s' >"$log" 2>/dev/null || : >"$log"
	TIMEFORMAT='%U'
	{ time timeout -k 10 "$left" bash -c "$command" >>"$log" 2>&1 || status=$?; } 2>"$log.time"
	if [ $status = 0 ] && grep -q '^not ok' "$log"; then status=1; fi
	case $status in
	0) state=passed; echo DONE >>"$log" ;;
	124 | 137)
		state="CUT after $(($(date +%s) - begin)) s"
		echo cut >>"$logs/left"
		if grep -q '^not ok' "$log"; then echo "$name" >>"$logs/failed"; fi
		;;
	*) state="FAILED with status $status, see $log"; echo "$name" >>"$logs/failed" ;;
	esac
	echo "$name: $state ($(cat "$log.time") s of CPU): $(grep -vE '^(DONE|1[.][.])' "$log" | tail -1 | cut -c1-140)"
	rm -f "$log.time"
}
deadline=$(($(date +%s) + ${SOAK_SECONDS:-31536000}))
rm -f "$logs/failed" "$logs/left"
export -f one
export logs deadline
# shellcheck disable=SC2016
printf '%s\0' "${list[@]}" | xargs -0 -n 1 -P "${SOAK_JOBS:-2}" bash -c 'one "$1"' one
if [ -s "$logs/failed" ]; then
	echo "soak: FAILED: $(sort -u "$logs/failed" | tr '\n' ' ')"
	exit 1
fi
if [ -s "$logs/left" ]; then
	echo "soak: no disagreement; $(wc -l <"$logs/left") of ${#list[@]} campaigns cut or not run. Run it again to go on"
	exit 3
fi
echo "soak: all ${#list[@]} campaigns passed"
