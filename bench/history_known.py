#!/usr/bin/env python3
"""Known histories beside porcupine, file by file: make bench-history runs it when INTACT_HISTORIES names porcupine's test_data.

    bench/history_known.py INTACT HISTORIES [PORCUPINE]

PORCUPINE: a program that takes `jepsen FILE` or `kv FILE` and exits with 0 or 1. CPU time (user + system) of the whole command,
the least of five runs (of 45 where it is close); what a program takes to start (on the emptiest history) is told beside it, because most of the files need less."""
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

intact, top = sys.argv[1], Path(sys.argv[2])
porcupine = sys.argv[3] if len(sys.argv) > 3 else None
GOOD = {2, 5, 7, 18, 25, 31, 38, 45, 48, 49, 51, 53, 56, 67, 75, 76, 80, 87, 92, 98, 100, 101, 102}


def measure(args, runs=5):
    least = None
    for _ in range(runs):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        rc = subprocess.run(args, capture_output=True).returncode
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        least = took if least is None else min(least, took)
    return rc, 1000 * least


def files():
    for path in sorted((top / "jepsen").glob("etcd_*.log")):
        if path.stat().st_size:
            yield path, "jepsen", ["--object=cas-register", "--init=nil"], int(path.name[5:8]) not in GOOD
    for path in sorted((top / "kv").glob("*.txt")):
        yield path, "kv", [], path.name.endswith("-bad.txt")


with tempfile.NamedTemporaryFile("w", suffix=".log") as f:
    f.write("INFO  jepsen.util - 0\t:invoke\t:read\tnil\n")
    f.flush()
    start = measure([intact, "history", f.name], 30)[1]
    peer_start = measure([porcupine, "jepsen", f.name], 30)[1] if porcupine else 0
sums, wrong, slower, rows = {}, [], [], []
for path, kind, options, bad in files():
    rc, ours = measure([intact, "history", *options, str(path)])
    peer = measure([porcupine, kind, str(path)])[1] if porcupine else 0
    if rc != bad:
        wrong.append(path.name)
    if porcupine and ours > peer:  # a few tenths of a millisecond: look again
        ours, peer = min(ours, measure([intact, "history", *options, str(path)], 40)[1]), min(peer, measure([porcupine, kind, str(path)], 40)[1])
    if porcupine and ours > peer:
        slower.append(f"{path.name} ({ours:.2f} ms, porcupine {peer:.2f})")
    total = sums.setdefault(kind, [0, 0.0, 0.0])
    total[0] += 1
    total[1] += ours
    total[2] += peer
    if kind == "kv":
        rows.append((path.name, ours, peer))
print("\nknown histories, CPU time of the commands; a history of one operation takes "
      f"{start:.2f} ms" + (f", {peer_start:.2f} ms in porcupine" if porcupine else ""))
print("\n| histories | intact history | porcupine |\n|---|---|---|")
for kind, (n, ours, peer) in sums.items():
    print(f"| {n} of {kind} | {ours:.1f} ms | {f'{peer:.1f} ms' if porcupine else '-'} |")
for name, ours, peer in rows:
    print(f"| {name} | {ours:.2f} ms | {f'{peer:.2f} ms' if porcupine else '-'} |")
print(f"\nverdicts that are not the known ones: {', '.join(wrong) or 'none'}")
if porcupine:
    print(f"slower than porcupine: {', '.join(slower) or 'none'}")
sys.exit(bool(wrong))
