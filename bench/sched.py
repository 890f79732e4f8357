#!/usr/bin/env python3
"""What the scheduler's room costs a point: instructions (callgrind, exact) and CPU time, by strategy and threads.

    bench/sched.py BUILD

The bench's own part, measured without the room in the same run, is subtracted. Coverage is the hash of the trace and
the pairs of places.
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

build = Path(sys.argv[1])
prog = build / "bench/sched_point"


def instructions(strategy, threads, runs, *more):
    with tempfile.NamedTemporaryFile() as f:
        p = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={f.name}", prog, strategy, str(threads), str(runs), *more],
                           capture_output=True, text=True, check=True)
    return int(re.search(r"Collected : (\d+)", p.stderr)[1]), int(re.search(r"points (\d+)", p.stdout)[1])


def per_point(strategy, threads, *more):
    """The difference between two lengths: without start and layout."""
    few, many = max(1, 8000 // (threads * 40)), max(2, 48000 // (threads * 40))
    (a, n), (b, m) = instructions(strategy, threads, few, *more), instructions(strategy, threads, many, *more)
    return (b - a) / (m - n)


def nanoseconds(strategy, threads, *more):
    """The least of five, so that a busy machine counts less."""
    runs = 1000000 // (threads * 40)
    out = [subprocess.run([prog, strategy, str(threads), str(runs), *more], capture_output=True, text=True, check=True).stdout for _ in range(5)]
    return min(float(re.search(r"ns/point ([\d.]+)", o)[1]) for o in out)


print("| strategy | threads | instructions a point | with coverage | ns a point | with coverage |")
print("|---|---|---|---|---|---|")
for threads in (2, 4, 100):
    bare, bare_ns = per_point("none", threads), nanoseconds("none", threads)
    for strategy in ("random", "pct", "pos", "mix"):
        row = [per_point(strategy, threads) - bare, per_point(strategy, threads, "coverage") - bare]
        ns = [nanoseconds(strategy, threads) - bare_ns, nanoseconds(strategy, threads, "coverage") - bare_ns]
        print(f"| {strategy} | {threads} | {row[0]:.0f} | {row[1]:.0f} | {ns[0]:.1f} | {ns[1]:.1f} |", flush=True)
