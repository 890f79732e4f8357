#!/usr/bin/env bash
# make bench: the tables of docs/benchmarks.md that need no peer.
set -euo pipefail
cd "$(dirname "$0")/.."
BUILD=${BUILD:-build}
ninja -C "$BUILD" bench/bench_step bench/bench_front >/dev/null
echo "== step: one step of the semantics (bench/bench_step)"
"$BUILD/bench/bench_step" examples/acquire1.atm examples/transaction.atm examples/bluetooth-fixed.atm
echo
echo "== front end: text to validated program (bench/bench_front)"
"$BUILD/bench/bench_front"
