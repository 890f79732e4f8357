#!/usr/bin/env python3
"""make bench-explore-core: what each reduction is worth, and what a second thread is.

    explore_core.py BUILD [--quick] [--only NAME] [--seconds S]

For each benchmark of the commit-atomicity paper and a number of threads, the
instrumented semantics with all reductions off, each one alone (where it can
stand alone) and all: states, transitions, CPU seconds and peak memory of the
whole command, bytes a state (of what the search says it used). Then raw
exploration of acquire1 with one thread and with two: the second column of
CPU seconds should be that of the first, the wall clock half of it when the
machine has two idle cores. A dash is a limit that was reached."""
import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
parser = argparse.ArgumentParser()
parser.add_argument("build")
parser.add_argument("--quick", action="store_true", help="few threads")
parser.add_argument("--only", help="one benchmark")
parser.add_argument("--seconds", type=int, default=120, help="CPU seconds a run may use")
args = parser.parse_args()
BUILD = Path(args.build).resolve()
INTACT, MEASURE = f"{BUILD}/src/cli/intact", f"{BUILD}/bench/measure"
NAMES = ["symmetry", "local", "pure", "transactions", "dead"]
# model, the threads' name, numbers of threads (quick), numbers of threads
BENCHMARKS = [
    ("acquire1", "worker", [2, 4, 7], [2, 4, 7, 9, 11, 32]),
    ("acquire2", "worker", [2, 3], [2, 3, 4, 5, 32]),
    ("transaction", "worker", [2, 4], [2, 4, 6, 8, 32]),
    ("bluetooth-fixed", "add", [2, 4], [2, 4, 6, 11, 31]),
]


def without(*keep):
    """The options that leave only these reductions on."""
    return [f"--no-reduce={n}" for n in NAMES if n not in keep]


ROWS = [("none", without())] + [(n, without(n)) for n in NAMES if n != "pure"] + \
       [("local, pure", without("local", "pure")), ("all", [])]


def run(model, threads, extra):
    """(states, transitions, CPU s, MB, wall s), or None when a limit was reached"""
    limit = f"ulimit -t {args.seconds}; exec \"$@\""
    start = time.monotonic()
    done = subprocess.run([MEASURE, "bash", "-c", limit, "bash", INTACT, "check", "--engine=commit", "--max-memory=4G",
                           "--json", "-", "--threads", threads, *extra, str(ROOT / "examples" / f"{model}.atm")],
                          capture_output=True, text=True, errors="replace")
    wall = time.monotonic() - start
    cpu, kb, rc = done.stderr.strip().split("\n")[-1].split()
    if int(rc) != 0:
        return None
    result = [r for r in json.loads(done.stdout)["results"] if r["block"] is None][-1]
    return result["states"], result["transitions"], float(cpu), int(kb) / 1024, wall


def show(name, n, row, r):
    if r is None:
        print(f"{name:16} {n:7} {row:14} {'-':>11} {'-':>12} {'-':>8} {'-':>7} {'-':>7}", flush=True)
        return
    states, transitions, cpu, mb, _ = r
    # a command that does nothing takes 3 MB
    each = f"{(mb - 3) * (1 << 20) / states:7.1f}" if states > 100000 else f"{'':7}"
    print(f"{name:16} {n:7} {row:14} {states:11,} {transitions:12,} {cpu:8.2f} {mb:7.0f} {each}", flush=True)


print(f"{'benchmark':16} {'threads':>7} {'reductions':14} {'states':>11} {'transitions':>12} {'CPU s':>8} {'MB':>7} {'B/state':>7}")
for name, thread, few, many in BENCHMARKS:
    if args.only and args.only != name:
        continue
    dead = set()  # rows that reached a limit
    for n in few if args.quick else many:
        for row, extra in ROWS:
            if row in dead or (n > 20 and row != "all"):
                continue
            r = run(name, f"{thread}={n}", extra)
            if r is None:
                dead.add(row)
            show(name, n + (thread == "add"), row, r)

if not args.only or args.only == "acquire1":
    n = 9 if args.quick else 11
    print(f"\nacquire1, {n} threads, no reductions: {'CPU s':>10} {'wall s':>8} {'M transitions/CPU s':>20}")
    for jobs in ("1", "2"):
        best = None
        for _ in range(3):
            r = run("acquire1", f"worker={n}", without() + ["-j", jobs])
            if r and (best is None or r[2] < best[2]):
                best = r
        if best:
            print(f"{'-j ' + jobs:>39} {best[2]:10.2f} {best[4]:8.2f} {best[1] / best[2] / 1e6:20.1f}")
sys.exit(0)
