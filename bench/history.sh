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

# Values that repeat, and what nothing can explain: each family grows tenfold.
# The limit is one of CPU time (HARD_LIMIT). OLD names an earlier intact to
# measure beside.
limited() { # limited COMMAND...: as measure does, or "over N s"
	local rc=0
	(ulimit -t "$HARD_LIMIT" && exec /usr/bin/time -o "$T/time" -f "%U %S %M" "$@") >"$T/out" 2>&1 || rc=$?
	awk -v rc=$rc -v n="$HARD_LIMIT" 'END { if (rc > 3) printf "over %s s", n
		else printf "%.2f s, %.0f MB, %s", $1 + $2, $3 / 1024, rc == 0 ? "holds" : rc == 1 ? "violated" : "unknown" }' "$T/time"
}
printf '\nrepeated values and a violation: CPU time, at most %s s each\n\n' "${HARD_LIMIT:=20}"
printf '| object | operations | clients | values | crashes of 1000 | violation | intact history | %sporcupine |\n' "${OLD:+before | }"
printf '|---|---|---|---|---|---|---|%s---|\n' "${OLD:+---|}"
while read -r n o v w c k; do
	"$G" "$n" "$o" "$v" "$w" "$c" "$k" >"$T/h.edn"
	printf '| %s | %s | %s | %s | %s | %s | %s | %s%s |\n' "$o" "$n" "$c" "$v" "$k" "$w" \
		"$(limited "$I" history "$T/h.edn")" \
		"$([ -z "${OLD:-}" ] || { limited "$OLD" history "$T/h.edn"; echo -n ' | '; })" \
		"$([ -z "${INTACT_PORCUPINE:-}" ] && echo 'not here (INTACT_PORCUPINE)' || limited "$INTACT_PORCUPINE" "$T/h.edn")"
done <<'ROWS'
200 queue 5 none 8 0
200 queue 5 end 8 0
2000 queue 5 end 8 0
20000 queue 5 end 8 0
200 queue 5 end 8 10
2000 queue 5 end 8 10
200 cas 5 none 32 0
200 cas 5 end 32 0
2000 cas 5 end 32 0
20000 cas 5 end 32 0
2000 cas 5 end 64 0
200 cas 20 end 8 20
2000 cas 20 end 8 20
2000 cas 20 end 32 20
20000 cas 20 end 32 20
ROWS

if [ -n "${INTACT_HISTORIES:-}" ]; then
	python3 "$(dirname "$0")/history_known.py" "$I" "$INTACT_HISTORIES" ${INTACT_PORCUPINE:+"$INTACT_PORCUPINE"}
else
	printf '\nknown histories: not here (INTACT_HISTORIES names the test_data of porcupine)\n'
fi
