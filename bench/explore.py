#!/usr/bin/env python3
"""make bench-explore: the table of the commit-atomicity paper's Fig. 1, with SPIN beside it.

    explore.py BUILD [--quick] [--only NAME] [--memory GB] [--seconds S]

For each benchmark and number of threads, under the standard and the
instrumented semantics: SPIN on the exported model with its own reductions
(partial order, dead variables, merged statements), `intact check` with every
reduction off, and with all of them. States, peak memory, CPU seconds of the
search (spin -a and gcc are not counted; ours is the whole command). A dash is
a limit that was reached; a configuration that one side failed is not tried
with more threads. Then the benchmarks with 32 threads.

`paper` is the paper's own column of instrumented states, where it has one.
SPIN's columns are left out when it is not installed. Exit code 1 when the
two disagree on a verdict."""
import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
parser = argparse.ArgumentParser()
parser.add_argument("build")
parser.add_argument("--quick", action="store_true", help="rows that take SPIN a few seconds at the most")
parser.add_argument("--only", help="one benchmark")
parser.add_argument("--memory", type=int, default=8, help="GB a side may use")
parser.add_argument("--seconds", type=int, default=300, help="CPU seconds a side may use")
args = parser.parse_args()
BUILD = Path(args.build).resolve()
INTACT = f"{BUILD}/src/cli/intact"
MEASURE = f"{BUILD}/bench/measure"

# name, model, how the number of threads is set, from, to (quick), to, the paper's instrumented states
def same(name):
    return lambda n: ["--threads", f"{name}={n}"]


BENCHMARKS = [
    ("dekker", "dekker.atm", lambda n: [], 2, 2, 2, {2: 3601}),
    ("acquire1", "acquire1.atm", same("worker"), 2, 7, 12, {2: 278, 3: 1795, 4: 20935, 5: 118242, 6: 658038, 7: 0}),
    ("acquire2", "acquire2.atm", same("worker"), 2, 4, 9, {2: 8278, 3: 58795, 4: 714359, 5: 0}),
    ("transaction", "transaction.atm", same("worker"), 2, 4, 7, {2: 4730, 3: 532457, 4: 0}),
    ("bluetooth", "bluetooth-fixed.atm", lambda n: same("add")(n - 1), 2, 5, 7,
     {2: 116, 3: 1187, 4: 16383, 5: 271111, 6: 0}),
]
OFF = ["--no-reduce=all"]


def measure(argv, cwd=None):
    """(CPU seconds, MB, exit code, output); a limit reached is exit code None"""
    limit = f"ulimit -v {args.memory << 20} -t {args.seconds}; exec \"$@\""
    done = subprocess.run([MEASURE, "bash", "-c", limit, "bash", *map(str, argv)], cwd=cwd, capture_output=True,
                          text=True, errors="replace")
    cpu, kb, rc = done.stderr.strip().split("\n")[-1].split()
    rc = int(rc)
    return float(cpu), int(kb) / 1024, None if rc >= 128 else rc, done.stdout


def spin(model, threads, semantics, directory):
    """(states, MB, seconds, holds) or None"""
    text = subprocess.run([INTACT, "export", "--promela", "-q", f"--semantics={semantics}", *threads, model],
                          capture_output=True, text=True)
    if text.returncode:
        sys.exit(f"export: {text.stderr}")
    (directory / "m.pml").write_text(text.stdout)
    for argv in (["spin", "-a", "m.pml"], ["gcc", "-w", "-O2", "-DSAFETY", f"-DMEMLIM={args.memory << 10}", "-o", "pan", "pan.c"]):
        if subprocess.run(argv, cwd=directory, capture_output=True).returncode:
            sys.exit(f"{argv[0]} failed on {model}")
    depth = 1000000
    while True:
        cpu, mb, rc, out = measure(["./pan", f"-m{depth}", "-E"], directory)
        found = re.search(r"errors: (\d+)\s+([\d.e+]+) states, stored", out)
        if rc is None or not found or "out of memory" in out or "memory limit" in out:
            return None
        if "too small" not in out:
            return int(float(found[2])), mb, cpu, found[1] == "0"
        depth *= 8


def intact(model, threads, semantics, off):
    """(states, MB, seconds, holds) or None"""
    if semantics == "standard":
        what = ["--faults"]
    else:
        what = ["--engine=commit"]
    cpu, mb, rc, out = measure([INTACT, "check", "-q", "--stats", *what, *off, f"--max-memory={args.memory}G", *threads, model])
    if rc not in (0, 1):
        return None
    if semantics == "standard":
        found = re.search(r"no fault in the (\d+) states", out)
    else:
        found = re.search(r"^program .*\n +(\d+) states", out, re.M)
    return int(found[1]) if found else 0, mb, cpu, rc == 0


def cells(r):
    return "%11s %7s %8s" % (("-",) * 3 if r is None else (f"{r[0]:,}", f"{r[1]:.0f}", f"{r[2]:.2f}"))


HEAD = f"{'benchmark':12} {'thr':>3} {'semantics':12} |"


def header(columns):
    print(f"{'':30}|" + "|".join(f"{c:^30}" for c in columns))
    print(HEAD + "|".join(f" {'states':>11} {'MB':>7} {'CPU s':>8} " for _ in columns), flush=True)


def main():
    have_spin = shutil.which("spin") and shutil.which("gcc")
    if not have_spin:
        print("SPIN is not installed: its columns are left out\n")
    columns = (["SPIN, its reductions on"] if have_spin else []) + ["intact, reductions off", "intact, all reductions"]
    header(columns)
    wrong, slow = [], []
    with tempfile.TemporaryDirectory() as tmp:
        for name, file, threads, first, quick, last, paper in BENCHMARKS:
            if args.only not in (None, name):
                continue
            dead = set()
            for n in range(first, (quick if args.quick else last) + 1):
                for semantics in ("standard", "instrumented"):
                    model = ROOT / "examples" / file
                    got = []
                    for side in columns:
                        if (side, semantics) in dead:
                            got.append(None)
                            continue
                        if side.startswith("SPIN"):
                            got.append(spin(model, threads(n), semantics, Path(tmp)))
                        else:
                            got.append(intact(model, threads(n), semantics, OFF if "off" in side else []))
                        if got[-1] is None:
                            dead.add((side, semantics))
                    note = ""
                    if semantics == "instrumented" and n in paper:
                        note = f" paper {paper[n]:,}" if paper[n] else " paper -"
                    print(f"{name:12} {n:3} {semantics:12} | " + " | ".join(cells(r) for r in got) + note, flush=True)
                    if len({r[3] for r in got if r}) > 1:
                        wrong.append((name, n, semantics))
                    if have_spin and got[0] and got[0][2] > 1 and (got[-1] is None or got[0][2] < 10 * got[-1][2]):
                        slow.append(f"{name} {n} {semantics}")
    print("\n32 threads, all reductions, instrumented")
    header(columns[-1:])
    for name, file, threads, first, _, last, _ in BENCHMARKS:
        if first < last and args.only in (None, name) and not (args.quick and name in ("transaction", "bluetooth")):
            print(f"{name:12} {32:3} {'instrumented':12} | " +
                  cells(intact(ROOT / "examples" / file, threads(32), "instrumented", [])), flush=True)
    if have_spin:
        print("\nrows where SPIN needs over a second and is not 10 times slower: " + (", ".join(slow) or "none"))
    for w in wrong:
        print("VERDICTS DIFFER:", *w)
    return 1 if wrong else 0


sys.exit(main())
