#!/bin/sh
# make demo: the main job on shipped examples, with a word on what to look at.
set -u
cd "$(dirname "$0")/.." || exit 1
intact=${INTACT:-build/src/cli/intact}
out=${BUILD:-build}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

say() { printf '\n\033[1m%s\033[0m\n' "$*" | if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then cat; else sed 's/\x1b\[[0-9;]*m//g'; fi; }
show() { # show EXPECTED-EXIT-CODE WORDS...
	want=$1
	shift
	printf '\n$ intact %s\n' "$*"
	"$intact" "$@"
	got=$?
	[ "$got" = "$want" ] || { echo "demo: exit code $got, expected $want" >&2; exit 1; }
}

say "1. Two threads call increment. Every access holds the mutex: there is no data race, and it runs well this time."
sed -n '/^```c$/,/^```$/{/^```/!{/./p}}' README.md
say "   Intact names the window all the same:"
show 0 cc -g examples/c/lost-update.c -o "$out/lost-update" -pthread
show 66 run "$out/lost-update"

say "2. The same as a model, for every interleaving there is:"
show 1 check examples/lost-update.atm

say "3. One lock around both calls. Now it is proved:"
show 0 check examples/lost-update-fixed.atm

say "   A lock made by hand from compare-and-swap, proved for any number of threads:"
show 0 check examples/acquire1.atm --threads worker=any

say "4. A driver that worked for years. The bug needs two threads; after the fix, the commit points
   that prove it are found by themselves:"
show 1 check examples/bluetooth-bug.atm
show 0 check examples/bluetooth-fixed.atm

say "5. Run one yourself: a random run of a lock-free stack, as a table (intact sim -i steps by hand):"
show 0 sim examples/treiber-stack.atm --seed 5 --steps 40

say "6. A register of a database, as its clients saw it:"
show 1 history examples/history/stale-read.edn --html "$dir/stale-read.html" --json "$dir/stale-read.json"
printf '(a page for your browser: %s bytes; --sarif, --junit and --github feed other tools)\n' "$(wc -c <"$dir/stale-read.html")"
show 0 verify "$dir/stale-read.json"

say "7. An atomic bit made of three safe ones (Tromp), proved for any number of writes and reads; with one test left out it is
   regular, but not atomic:"
show 0 check examples/tromp-endless.atm
show 0 check --condition=regular examples/tromp-no-line3.atm
show 1 check examples/tromp-no-line3.atm

say "Next: intact help, docs/language.md, and your own model."
