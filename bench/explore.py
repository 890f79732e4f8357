#!/usr/bin/env python3
"""make bench-explore: the table of the commit-atomicity paper's Fig. 1, with SPIN beside it.

    explore.py BUILD [--quick] [--only NAME,...] [--threads A-B] [--semantics S]
               [--memory GB] [--seconds S] [--no-spin]

For each benchmark and number of threads, under the standard and the
instrumented semantics: SPIN on the exported model with its own reductions
(partial order, dead variables, merged statements), `intact check` with every
reduction off, and with all of them. States, peak memory, CPU seconds of the
search (spin -a and gcc are not counted; ours is the whole command, the search
for commit points included). The factors are SPIN's seconds by ours. Then the
benchmarks with 32 threads, ours alone, and a summary. Rows are printed as they
are finished, as a table for docs/benchmarks.md.

SPIN searches depth first and wants to be told how deep: as deep as there are
states, which our own search has counted just before (at most 20 million; were
that too little, it is asked again and the row says so). A dash is a limit
that was reached, or what failed is named; what fails is not tried with more
threads, and everything else goes on.

`paper` is the paper's own column of instrumented states, where it has one.
SPIN's columns are left out when it is not installed. Exit code 1 when the
two disagree on a verdict."""
import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].strip())
parser.add_argument("build")
parser.add_argument("--quick", action="store_true", help="rows that take SPIN a few seconds at the most")
parser.add_argument("--only", help="these benchmarks")
parser.add_argument("--threads", help="only so many: N or A-B (32: the table of 32 threads)")
parser.add_argument("--semantics", choices=["standard", "instrumented"], help="one of the two")
parser.add_argument("--memory", type=int, default=12, help="GB a side may use")
parser.add_argument("--seconds", type=int, default=600, help="CPU seconds a side may use")
parser.add_argument("--no-spin", action="store_true", help="ours alone")
args = parser.parse_args()
BUILD = Path(args.build).resolve()
INTACT = f"{BUILD}/src/cli/intact"
MEASURE = f"{BUILD}/bench/measure"
MAX_DEPTH = 20_000_000


def same(name):
    return lambda n: ["--threads", f"{name}={n}"]


# name, model, how the number of threads is set, from, to (quick), to, the paper's instrumented states (0: a dash)
BENCHMARKS = [
    ("dekker", "dekker.atm", lambda n: [], 2, 2, 2, {2: 3601}),
    ("acquire1", "acquire1.atm", same("worker"), 2, 7, 12, {2: 278, 3: 1795, 4: 20935, 5: 118242, 6: 658038, 7: 0}),
    ("acquire2", "acquire2.atm", same("worker"), 2, 4, 9, {2: 8278, 3: 58795, 4: 714359, 5: 0}),
    ("transaction", "transaction.atm", same("worker"), 2, 4, 7, {2: 4730, 3: 532457, 4: 0}),
    ("bluetooth-fixed", "bluetooth-fixed.atm", lambda n: same("add")(n - 1), 2, 5, 7,
     {2: 116, 3: 1187, 4: 16383, 5: 271111, 6: 0}),
]
OFF = ["--no-reduce=all"]


class Failed(Exception):
    """what a side could not do, in a few words"""


class Result:
    def __init__(self, states, mb, cpu, holds, note=""):
        self.states, self.mb, self.cpu, self.holds, self.note = states, mb, cpu, holds, note

    def text(self):
        return f"{self.states:,}, {self.mb:,.0f}, {self.cpu:.2f}{self.note}"


def wanted(n):
    if not args.threads:
        return True
    low, _, high = args.threads.partition("-")
    return int(low) <= n <= int(high or low)


def measure(argv, cwd=None):
    """(CPU seconds, MB, exit code, output)"""
    limit = f"ulimit -v {args.memory << 20} -t {args.seconds}; exec \"$@\""
    done = subprocess.run([MEASURE, "bash", "-c", limit, "bash", *map(str, argv)], cwd=cwd, capture_output=True,
                          text=True, errors="replace")
    cpu, kb, rc = done.stderr.strip().split("\n")[-1].split()
    if int(rc) >= 128:
        raise Failed("-" if float(cpu) < args.seconds else f"- (over {args.seconds} s)")
    return float(cpu), int(kb) / 1024, int(rc), done.stdout


def run(argv, **more):
    done = subprocess.run(argv, capture_output=True, text=True, errors="replace", **more)
    if done.returncode:
        raise Failed(f"{argv[0].rsplit('/')[-1]} failed")
    return done.stdout


def spin(model, threads, semantics, states, directory):
    text = run([INTACT, "export", "--promela", "-q", f"--semantics={semantics}", *threads, str(model)])
    (directory / "m.pml").write_text(text)
    run(["spin", "-a", "m.pml"], cwd=directory)
    run(["gcc", "-w", "-O2", "-DSAFETY", f"-DMEMLIM={args.memory << 10}", "-o", "pan", "pan.c"], cwd=directory)
    depth, note = min(MAX_DEPTH, max(100_000, states + states // 8)), ""
    while True:
        cpu, mb, _, out = measure(["./pan", f"-m{depth}", "-E"], directory)
        found = re.search(r"errors: (\d+)\s+([\d.e+]+) states, stored", out)
        if not found or "out of memory" in out or "memory limit" in out or "reached -DMEMLIM" in out:
            raise Failed(f"- (over {args.memory} GB)")
        if "too small" not in out:
            return Result(int(float(found[2])), mb, cpu, found[1] == "0", note)
        depth, note = depth * 4, " (the second time, deeper)"


def intact(model, threads, semantics, off):
    # --stats asks for the states of the plain program, a search of its own: not with the shadow
    what = ["--faults", "--stats"] if semantics == "standard" else ["--engine=commit", "--json=-"]
    cpu, mb, rc, out = measure([INTACT, "check", "-q", *what, *off, f"--max-memory={args.memory}G", *threads, model])
    if rc not in (0, 1):
        raise Failed("-")
    if semantics == "standard":
        states = int(re.search(r"no fault in the (\d+) states", out)[1])
    else:
        states = [r for r in json.loads(out)["results"] if r["block"] is None][-1]["states"]
    return Result(states, mb, cpu, rc == 0)


def attempt(dead, key, side, *how):
    """a Result, or why there is none"""
    if key in dead:
        return "-"
    try:
        return side(*how)
    except Failed as why:
        dead.add(key)
        return str(why)
    except (OSError, ValueError, TypeError, LookupError) as why: # nothing that one row does ends the others
        dead.add(key)
        return f"- ({why})"


def cell(r):
    return r.text() if isinstance(r, Result) else r


def factor(theirs, ours):
    """how many times faster; a time under a millisecond counts as one"""
    if not isinstance(theirs, Result) or not isinstance(ours, Result):
        return None
    return theirs.cpu / max(ours.cpu, 0.001)


def times(f):
    return "" if f is None else f"{f:,.0f}" if f >= 10 else f"{f:.1f}"


def row_of(name, file, threads, n, semantics, dead, tmp, have_spin):
    model = ROOT / "examples" / file
    off = attempt(dead, ("off", semantics), intact, model, threads(n), semantics, OFF)
    all_on = attempt(dead, ("all", semantics), intact, model, threads(n), semantics, [])
    states = off.states if isinstance(off, Result) else MAX_DEPTH
    peer = attempt(dead, ("spin", semantics), spin, model, threads(n), semantics, states, tmp) if have_spin else "not run"
    return peer, off, all_on


def whole_table(rows, have_spin):
    print("| benchmark | threads | semantics | paper: states | SPIN: states, MB, s | no reduction: states, MB, s | times faster "
          "| all reductions: states, MB, s | times faster |\n|---|---|---|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as tmp:
        for name, file, threads, first, quick, last, paper in BENCHMARKS:
            dead = set()
            for n in range(first, (quick if args.quick else last) + 1):
                if args.only and name not in args.only.split(",") or not wanted(n):
                    continue
                for semantics in ("standard", "instrumented"):
                    if args.semantics not in (None, semantics):
                        continue
                    peer, off, all_on = row_of(name, file, threads, n, semantics, dead, Path(tmp), have_spin)
                    said = "" if n not in paper or semantics == "standard" else f"{paper[n]:,}" if paper[n] else "-"
                    print(f"| {name} | {n} | {semantics} | {said} | {cell(peer)} | {cell(off)} | {times(factor(peer, off))} "
                          f"| {cell(all_on)} | {times(factor(peer, all_on))} |", flush=True)
                    rows.append((f"{name} {n} {semantics}", semantics, peer, off, all_on))


def many_threads():
    print("\n32 threads, all reductions, instrumented; the whole command.\n\n| benchmark | states, MB, s |\n|---|---|", flush=True)
    for name, file, threads, first, _, last, _ in BENCHMARKS:
        if first < last and (not args.only or name in args.only.split(",")):
            r = attempt(set(), name, intact, ROOT / "examples" / file, threads(32), "instrumented", [])
            print(f"| {name} | {cell(r)} |", flush=True)


def summary(rows):
    """over the rows where SPIN needs more than a second"""
    slow = [r for r in rows if isinstance(r[2], Result) and r[2].cpu > 1]
    print(f"\nSPIN finished {sum(isinstance(r[2], Result) for r in rows)} of {len(rows)} rows and needed over a second on {len(slow)}.")
    for semantics in ("standard", "instrumented"):
        for column, what in ((4, "all reductions"), (3, "no reduction")):
            of = [(factor(r[2], r[column]), r[0]) for r in slow if r[1] == semantics]
            known = sorted(f for f in of if f[0] is not None)
            if not of:
                continue
            text = f"least {times(known[0][0])} ({known[0][1]}), median {times(known[len(known) // 2][0])}, most {times(known[-1][0])}" \
                if known else "none finished"
            print(f"- {semantics}, {what}: times faster than SPIN on these {len(of)}: {text}" +
                  (f"; {len(of) - len(known)} not finished" if len(known) < len(of) else ""))
    short = [r[0] for r in slow if (factor(r[2], r[4]) or 0) < 10]
    print("- not 10 times faster with all reductions: " + (", ".join(short) or "none"))


def main():
    have_spin = bool(shutil.which("spin") and shutil.which("gcc")) and not args.no_spin
    rows = []
    print(f"At most {args.memory} GB and {args.seconds} s of CPU for each search.\n")
    if not have_spin and not args.no_spin:
        print("SPIN is not installed: its columns are left out\n")
    if not args.threads or args.threads != "32":
        whole_table(rows, have_spin)
    if wanted(32) and args.semantics != "standard":
        many_threads()
    if have_spin and rows:
        summary(rows)
    wrong = [r[0] for r in rows if len({x.holds for x in r[2:] if isinstance(x, Result)}) > 1]
    for w in wrong:
        print("VERDICTS DIFFER:", w)
    return 1 if wrong else 0


sys.exit(main())
