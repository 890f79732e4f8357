#!/usr/bin/env python3
"""Isolation levels of generated histories: CPU time (user and system) and peak memory, over sizes and workloads.

Usage: txn.py INTACT TXN_GEN [MOST]        MOST: the largest history, 100000 by default (1000000 takes 200 MB of disk and minutes)

Workloads: 25 sessions, 8 operations a transaction, 10,000 keys, 30 % reads unless the row says otherwise. An exclamation mark: the level is
violated; the others hold, so that nothing ends early."""
import os
import subprocess
import sys
import tempfile

intact, gen = sys.argv[1], sys.argv[2]
most = int(sys.argv[3]) if len(sys.argv) > 3 else 100000
ROWS = [("uniform", []), ("50 % reads", ["--reads=50"]), ("95 % reads", ["--reads=95"]), ("zipf", ["--zipf"]), ("snapshots, 50 % reads, 1,000 keys", ["--si", "--reads=50", "--keys=1000"]),
        ("lists, 3 operations", ["--lists", "--ops=3", "--reads=50"])]
LEVELS = ["strong-session-serializable", "strong-session-snapshot-isolation", "strong-session-causal", "strong-session-read-atomic", "read-committed"]


def measure(argv):
    """(seconds of CPU, MiB, verdict) of a command that must decide."""
    p = subprocess.Popen(argv, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(p.pid, 0)
    p.returncode = os.waitstatus_to_exitcode(status)
    if p.returncode > 1:
        sys.exit(f"{' '.join(argv)}: exit {p.returncode}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, "!" if p.returncode else " "


print(f"{'history':34}{'transactions':>13}" + "".join(f"{l.replace('strong-session-', 's-'):>26}" for l in LEVELS))
n = 1000
while n <= most:
    for name, args in ROWS:
        with tempfile.NamedTemporaryFile(suffix=".edn") as f:
            subprocess.run([gen, f"--n={n}", "--completions", *args], stdout=f, check=True)
            cells = [measure([intact, "history", "-q", "--level=" + l, f.name]) for l in LEVELS]
        print(f"{name:34}{n:13}" + "".join(f"{t:15.2f} s {m:5.0f} MB{v}" for t, m, v in cells), flush=True)
    n *= 10
