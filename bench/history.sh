#!/usr/bin/env bash
# make bench-history: the tables of docs/benchmarks-history.md. CPU time is
# user + system of the whole command, the file read included.
# N (default 1000000) is the size of the large histories; BIG=1 adds 10^7.
# A peer is measured beside us when INTACT_PORCUPINE names a program that
# takes an EDN file (or `jepsen FILE`, `kv FILE`) and exits with its verdict; else
# its column says so. INTACT_HISTORIES: its test_data, tried file by file.
set -euo pipefail
B=${BUILD:-build}
I=${INTACT:-$B/src/cli/intact}
G=$B/bench/history_gen
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
N=${N:-1000000}

# measure FILE COMMAND...: "CPU s, MB, exit code"
measure() {
	local rc=0
	/usr/bin/time -o "$T/time" -f "%U %S %M" timeout "${LIMIT:-120}" "$@" >"$T/out" 2>&1 || rc=$?
	awk -v rc=$rc 'END { printf "%.2f s, %.0f MB, %s", $1 + $2, $3 / 1024, rc == 0 ? "holds" : rc == 1 ? "violated" : "exit " rc }' "$T/time"
}

peer() {
	if [ -n "${INTACT_PORCUPINE:-}" ]; then
		measure "$INTACT_PORCUPINE" "$1"
	else
		printf 'not here (INTACT_PORCUPINE)'
	fi
}

"$B/bench/history_assertions"

row() { # row N OBJECT VALUES VIOLATION [options]
	"$G" "$1" "$2" "$3" "$4" >"$T/h.edn"
	printf '| %s | %s | %s | %s | %s | %s | %s |\n' "$1" "$2" "$3" "$4" "$(measure "$I" history "$T/h.edn")" \
		"$(measure "$I" history --follow --init=0 "$T/h.edn")" "$([ "${PEER:-0}" = 1 ] && peer "$T/h.edn" || echo '-')"
}

printf '\none writer, seven readers (writers: eight of both); file reading included\n\n'
echo '| operations | object | values | violation | intact history | --follow | porcupine |'
echo '|---|---|---|---|---|---|---|'
for n in 10000 100000; do
	for v in distinct bit; do
		for w in none end; do PEER=1 row $n register $v $w; done
	done
done
for v in distinct bit; do
	for w in none middle end; do row "$N" register $v $w; done
done
row "$N" writers distinct none
row "$N" writers distinct middle
[ -z "${BIG:-}" ] || for v in distinct bit; do for w in none end; do row 10000000 register $v $w; done; done

printf '\ncontainers with distinct values, eight clients\n\n| operations | object | violation | intact history |\n|---|---|---|---|\n'
for o in queue stack priority-queue; do
	for w in none end; do
		"$G" "$N" $o distinct $w >"$T/h.edn"
		printf '| %s | %s | %s | %s |\n' "$N" $o $w "$(measure "$I" history --object=$o "$T/h.edn")"
	done
done

if [ -n "${INTACT_HISTORIES:-}" ]; then
	python3 "$(dirname "$0")/history_known.py" "$I" "$INTACT_HISTORIES" ${INTACT_PORCUPINE:+"$INTACT_PORCUPINE"}
else
	printf '\nknown histories: not here (INTACT_HISTORIES names the test_data of porcupine)\n'
fi
