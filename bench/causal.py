#!/usr/bin/env python3
"""make bench-causal: Table 1 of the causal-atomicity paper, row by row.

    causal.py BUILD [--quick] [--only NAME] [--memory GB] [--seconds S]

For each row: the paper's verdict, conditions, events and seconds; `intact check
--engine=unfold` (exact prefix, and the reduced one where there is one) with
conditions, events, cut-offs, CPU seconds and peak memory of the whole command;
`--engine=cover`; and unfolders that are installed, on the exported net (PEP's
ll_net with the chosen copy of the block, without colours, so they do not decide
anything): mole and cunf, found on the PATH or named by $MOLE and $CUNF, and
verifypn ($VERIFYPN) on the PNML. Then larger numbers of threads, and any number.

The starred rows look at the blocks of all threads at once. Events are compared
with the paper's only where the net is known to be like its own (Acquire1).
Exit code 1 when a verdict is not the paper's."""
import argparse
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
parser = argparse.ArgumentParser()
parser.add_argument("build")
parser.add_argument("--quick", action="store_true", help="no row of more than 200 threads")
parser.add_argument("--only", help="rows whose name begins so")
parser.add_argument("--memory", type=int, default=6, help="GB a side may use")
parser.add_argument("--seconds", type=int, default=120, help="CPU seconds a side may use")
args = parser.parse_args()
BUILD = Path(args.build).resolve()
INTACT = f"{BUILD}/src/cli/intact"
MEASURE = f"{BUILD}/bench/measure"
PEERS = {name: os.environ.get(name.upper()) or shutil.which(name) for name in ("mole", "cunf", "verifypn")}

# name, model, threads, block (None: all blocks, starred), verdict, paper: conditions, events, seconds
ROWS = [
    ("Dekker", "dekker-causal.atm", {}, "one.update", True, (52, 24, "0")),
    ("Dekker*", "dekker-causal.atm", {}, None, True, (795, 409, "0.01")),
    *[("Acquire1", "acquire1-table.atm", {"worker": n}, "update", True, p) for n, p in
      ((4, (81, 34, "0")), (30, (2135, 1022, "0.03")), (100, (21105, 10402, "3.71")), (150, (46655, 23102, "22.31")))],
    *[("Acquire1*", "acquire1-table.atm", {"worker": n}, None, True, p) for n, p in
      ((4, (146, 56, "0")), (30, (4202, 1200, "0.35")), (50, (10582, 2985, "5.02")), (100, (40486, 10784, "635.56")))],
    *[("nAcquire1", "nacquire1.atm", {"worker": n - 1}, "update", False, p) for n, p in
      ((4, (97, 43, "0")), (6, (171, 77, "0")), (8, (261, 119, "0")))],
    *[("Acquire2", "acquire2-causal.atm", {"worker": n}, "update", True, p) for n, p in
      ((4, (73, 30, "0")), (6, (146, 74, "0")))],
    ("Bluetooth", "bluetooth-bug.atm", {"add": 1}, "pnp_add", False, (235, 116, "0")),
    ("Bluetooth3", "bluetooth-fixed.atm", {"add": 1}, "pnp_add", False, (223, 109, "0")),
]
LARGE = [(name, "acquire1-table.atm", {"worker": n}, block, True, None)
         for name, block in (("Acquire1", "update"), ("Acquire1*", None)) for n in (1000, 5000)]
ANY = [("Acquire1", "acquire1-table.atm", "worker"), ("Acquire1, two steps", "acquire1-causal.atm", "worker"),
       ("Acquire2", "acquire2-causal.atm", "worker"), ("nAcquire1", "nacquire1.atm", "worker"),
       ("Bluetooth", "bluetooth-bug.atm", "add"), ("Bluetooth3", "bluetooth-fixed.atm", "add")]


def measure(argv, stdin=None):
    """(CPU seconds, MB, exit code, output); a limit reached is exit code None"""
    limit = f"ulimit -v {args.memory << 20} -t {args.seconds}; exec \"$@\""
    done = subprocess.run([MEASURE, "bash", "-c", limit, "bash", *map(str, argv)], capture_output=True, text=True,
                          errors="replace", stdin=stdin)
    cpu, kb, rc = done.stderr.strip().split("\n")[-1].split()
    rc = int(rc)
    return float(cpu), int(kb) / 1024, None if rc >= 128 else rc, done.stdout


def options(row):
    _, model, threads, block, _, _ = row
    return [*(x for name, n in threads.items() for x in ("--threads", f"{name}={n}")),
            *(["--block", block] if block else []), str(ROOT / "examples" / model)]


def ours(row, engine, *more):
    """(broken, numbers, MB, CPU) or None. A starred row holds when no block is broken."""
    cpu, mb, rc, out = measure([INTACT, "check", "-q", "--stats", f"--engine={engine}", f"--max-memory={args.memory}G",
                                *more, *options(row)])
    line = [x for x in out.split("\n\n")[0].split("\n") if "conditions" in x or "states" in x]
    if rc is None or not line or "the limit on" in out:
        return None
    n = [int(x) for x in re.findall(r"(\d+) (?:conditions|events|of them|states)", line[-1])]
    return "NOT" in out, n, mb, cpu


def reduced():
    help_text = subprocess.run([INTACT, "check", "--help"], capture_output=True, text=True).stdout
    return ["--reduced"] if "--reduced" in help_text else None


def peer(name, row, tmp):
    """events and CPU seconds of another tool on the net, or None"""
    if not row[3]:
        return None # its net has a copy for one block only
    fmt = "pnml" if name == "verifypn" else "pep"
    path = Path(tmp) / f"net.{fmt}"
    block = row[3]
    text = subprocess.run([INTACT, "export", "-q", f"--net={fmt}", "--block", block,
                           *[x for k, n in row[2].items() for x in ("--threads", f"{k}={n}")],
                           str(ROOT / "examples" / row[1])], capture_output=True, text=True).stdout
    path.write_text(text)
    if name == "mole":
        argv = [PEERS[name], str(path), "-m", str(Path(tmp) / "out.mci")]
    elif name == "cunf":
        argv = [PEERS[name], "-i", "-c", "mole", str(path)]
    else:
        query = Path(tmp) / "q.xml"
        query.write_text('<?xml version="1.0"?><property-set xmlns="http://tapaal.net/"><property><id>dead</id>'
                         '<description/><formula><exists-path><finally><deadlock/></finally></exists-path></formula>'
                         '</property></property-set>')
        argv = [PEERS[name], "-n", "-x", "1", str(path), str(query)]
    cpu, mb, rc, out = measure(argv)
    if name == "verifypn" and rc in (0, 1): # satisfied or not; it has states, no events
        return cpu, mb, None
    if rc:
        return None
    found = re.search(r"^events +: (\d+)", out, re.M)
    if name == "mole": # its output file begins with the numbers of conditions and events
        found = [0, struct.unpack("ii", (Path(tmp) / "out.mci").read_bytes()[:8])[1]]
    return cpu, mb, int(found[1]) if found else None


def number(x):
    return "-" if x is None else f"{x:,}"


def main():
    wrong = []
    more = reduced()
    peers = [p for p in PEERS if PEERS[p]]
    for p in PEERS:
        if not PEERS[p]:
            print(f"{p} is not installed: its column is left out")
    print(f"{'':22}|{'paper':^28}|{'unfold, exact prefix':^45}|" + (f"{'reduced':^18}|" if more else "") + f"{'cover':^17}|")
    print(f"{'benchmark':10} {'thr':>4} atomic| {'conditions':>10} {'events':>7} {'s':>7} | {'conditions':>10} {'events':>10} "
          f"{'cut-offs':>10} {'MB':>4} {'CPU s':>6} |" + (f" {'events':>9} {'CPU s':>6} |" if more else "") +
          f" {'states':>7} {'CPU s':>6} |" + "".join(f" {p + ' events':>13} {'MB':>5} {'CPU s':>6} |" for p in peers))
    rows = ROWS + ([] if args.quick else LARGE)
    with tempfile.TemporaryDirectory() as tmp:
        for row in rows:
            name, model, threads, block, atomic, paper = row
            if args.only and not name.startswith(args.only):
                continue
            n = 2 if not threads else sum(threads.values()) + (0 if model.startswith("acq") else 1)
            u, c = ours(row, "unfold"), ours(row, "cover")
            r = ours(row, "unfold", *more) if more else None
            for which, x in (("unfold", u), ("cover", c), ("reduced", r)):
                if x and x[0] == atomic:
                    wrong.append(f"{name} {n}: {which}")
            if u and name == "Acquire1" and paper and u[1][1] != paper[1]:
                wrong.append(f"{name} {n}: {u[1][1]} events, the paper has {paper[1]}")
            line = f"{name:10} {n:4} {'yes' if atomic else 'no':>6}|"
            line += " %10s %7s %7s |" % ((number(paper[0]), number(paper[1]), paper[2]) if paper else ("", "", ""))
            line += " %10s %10s %10s %4s %6s |" % ((*map(number, u[1][:3]), f"{u[2]:.0f}", f"{u[3]:.2f}") if u else ("-",) * 5)
            if more:
                line += " %9s %6s |" % ((number(r[1][1]), f"{r[3]:.2f}") if r else ("-", "-"))
            line += " %7s %6s |" % ((number(c[1][0]), f"{c[3]:.2f}") if c else ("-", "-"))
            for p in peers:
                x = peer(p, row, tmp)
                line += " %13s %5s %6s |" % ((number(x[2]), f"{x[1]:.0f}", f"{x[0]:.2f}") if x else ("-",) * 3)
            print(line, flush=True)
    if not args.only:
        print("\nany number of threads, by cover:")
        for name, model, who in ANY:
            cpu, mb, rc, out = measure([INTACT, "check", "-q", "--engine=cover", "--stats", "--threads", f"{who}=any",
                                        str(ROOT / "examples" / model)])
            for line in filter(str.strip, out.split("\n\n")[0].split("\n")[1:]):
                print(f"  {name:20} {line.strip()}")
    for w in wrong:
        print("NOT THE PAPER'S:", w)
    sys.exit(1 if wrong else 0)


main()
