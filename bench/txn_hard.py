#!/usr/bin/env python3
"""How many violated, or nearly violated, write-heavy histories are decided: families of histories in which one read saw a version that was
overwritten long before, without session order, so that every transaction between may be reordered.

Usage: txn_hard.py INTACT TXN_GEN [SECONDS [SEEDS]]      SECONDS of CPU for each history, 20 by default; SEEDS for each family, 4

For each family: how many hold, are violated, are undecided, and the median and the longest CPU time of the decided ones."""
import random
import re
import resource
import subprocess
import sys
import tempfile
import os

intact, gen = sys.argv[1], sys.argv[2]
seconds = int(sys.argv[3]) if len(sys.argv) > 3 else 20
seeds = int(sys.argv[4]) if len(sys.argv) > 4 else 4
FAMILIES = [(n, keys, reads) for n in (2500, 3000) for keys in (1500, 3000, 5000) for reads in (20, 30, 40)]
LEVELS = ["serializable", "snapshot-isolation"]


def stale(n, keys, reads, seed):
    """A serial history; one read of its second half sees what a third of the history before overwrote. None: no read can."""
    text = subprocess.run([gen, f"--n={n}", "--completions", f"--seed={seed}", f"--keys={keys}", f"--reads={reads}"], capture_output=True, text=True, check=True).stdout
    lines, writes, seen = text.splitlines(), {}, []
    for i, line in enumerate(lines):
        for m in re.finditer(r"\[:w (\d+) (\d+)\]", line):
            writes.setdefault(m[1], []).append((i, m[2]))
        seen += [(i, m[1], m[2], m.start(), m.end()) for m in re.finditer(r"\[:r (\d+) (\d+)\]", line)]
    random.Random(seed).shuffle(seen)
    for i, key, value, start, end in seen:
        older = [v for at, v in writes.get(key, []) if at < i - n // 3 and v != value]
        if older and i > n // 2 and lines[i].count(f" {key} ") == 1:
            lines[i] = lines[i][:start] + f"[:r {key} {older[0]}]" + lines[i][end:]
            return "\n".join(lines) + "\n"
    return None


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))


def ask(path, level):
    """(verdict, CPU seconds); a process that spent its time is undecided."""
    p = subprocess.Popen([intact, "history", "-q", "--level=" + level, path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=limit)
    _, status, used = os.wait4(p.pid, 0)
    p.returncode = os.waitstatus_to_exitcode(status)
    if p.returncode not in (0, 1, 3) and p.returncode >= 0:
        sys.exit(f"{path}: exit {p.returncode}")
    return {0: "holds", 1: "violated"}.get(p.returncode, "undecided"), used.ru_utime + used.ru_stime


print(f"{'transactions':>13}{'keys':>7}{'reads':>7}  {'level':20}{'holds':>7}{'violated':>10}{'undecided':>11}{'median':>9}{'longest':>9}")
for n, keys, reads in FAMILIES:
    for level in LEVELS:
        count, times = {"holds": 0, "violated": 0, "undecided": 0}, []
        for seed in range(11, 11 + seeds):
            text = stale(n, keys, reads, seed)
            if not text:
                continue
            with tempfile.NamedTemporaryFile("w", suffix=".edn") as f:
                f.write(text)
                f.flush()
                verdict, cpu = ask(f.name, level)
            count[verdict] += 1
            if verdict != "undecided":
                times.append(cpu)
        times.sort()
        shown = f"{times[len(times) // 2]:8.2f}s{times[-1]:8.2f}s" if times else ""
        print(f"{n:13}{keys:7}{reads:6}%  {level:20}{count['holds']:7}{count['violated']:10}{count['undecided']:11}{shown}", flush=True)
