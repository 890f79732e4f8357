#!/usr/bin/env python3
"""make bench-causal: Table 1 of the causal-atomicity paper, row by row.

    causal.py BUILD [--quick] [--only NAME] [--memory GB] [--seconds S]

For each row: the paper's verdict, conditions, events and seconds; `intact check
--engine=unfold` (exact prefix, and apart from it the reduced one) with
conditions, events, cut-offs, CPU seconds and peak memory of the whole command;
`--engine=cover`; and tools that are installed, on the exported net (PEP's
ll_net with the chosen copy of the block, without colours, so they do not decide
causal atomicity): mole and cunf, found on the PATH or named by $MOLE and $CUNF, and
verifypn ($VERIFYPN) on the PNML, asked for a deadlock. Then larger numbers of threads,
and any number. The output is the table of docs/benchmarks.md.

The starred rows look at the blocks of all threads at once. Events are compared
with the paper's only where the net is known to be like its own (Acquire1).
Exit code 1 when a verdict is not the paper's."""
import argparse
import json
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
         for name, block in (("Acquire1", "update"), ("Acquire1*", None)) for n in (1000, 5000, 10000)]
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


def cells(x, conditions=True):
    """conditions, events (cut-offs), MB and seconds of a prefix"""
    if not x:
        return "beyond the limits"
    c, e, k = x[1][:3]
    return (f"{c:,}; " if conditions else "") + f"{e:,} ({k:,}); {x[2]:.0f}, {x[3]:.2f}"


def line(row, peers, tmp, wrong):
    """A row of the table; what is not the paper's goes to `wrong`."""
    name, model, threads, block, atomic, paper = row
    n = 2 if not threads else sum(threads.values()) + (0 if model.startswith("acq") else 1)
    # the exact prefix of 10,000 threads has 10^8 events
    u = ours(row, "unfold") if n <= 5000 else None
    r, c = ours(row, "unfold", "--reduced"), ours(row, "cover")
    for which, x in (("unfold", u), ("cover", c), ("reduced", r)):
        if x and x[0] == atomic:
            wrong.append(f"{name} {n}: {which}")
    if u and name == "Acquire1" and u[1][1] != n * n + 4 * n + 2:
        wrong.append(f"{name} {n}: {u[1][1]} events, not n^2 + 4n + 2")
    if u and name == "Acquire1" and paper and u[1][1] != paper[1]:
        wrong.append(f"{name} {n}: {u[1][1]} events, the paper has {paper[1]}")
    out = [name.replace("*", "\\*"), f"{n:,}", "yes" if atomic else "no",
           f"{paper[0]:,}; {paper[1]:,}; {paper[2]}" if paper else "", cells(u) if n <= 5000 else "not asked",
           cells(r, False), f"{c[1][0]:,}, {c[3]:.2f}" if c else "beyond the limits"]
    for p in peers:
        x = peer(p, row, tmp) if block and n <= 1000 else None
        out.append((f"{x[2]:,}; " if x[2] else "") + f"{x[1]:.0f}, {x[0]:.2f}" if x else
                   "beyond the limits" if block and n <= 1000 else "")
    return "| " + " | ".join(out) + " |"


def main():
    wrong = []
    peers = [p for p in PEERS if PEERS[p]]
    for p in PEERS:
        if not PEERS[p]:
            print(f"{p} is not installed: its column is left out")
    head = ["", "threads", "atomic", "paper: conditions; events; s", "unfold, exact: conditions; events (cut-offs); MB, s",
            "reduced: events (cut-offs); MB, s", "cover: states, s",
            *(f"{p}: {'' if p == 'verifypn' else 'events; '}MB, s" for p in peers)]
    print("| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|")
    with tempfile.TemporaryDirectory() as tmp:
        for row in ROWS + ([] if args.quick else LARGE):
            if not args.only or row[0].startswith(args.only):
                print(line(row, peers, tmp, wrong), flush=True)
    if not args.only:
        print("\nAny number of threads, by cover:\n\n| | block | verdict | states | s |\n|---|---|---|---|---|")
        for name, model, who in ANY:
            cpu, mb, rc, out = measure([INTACT, "check", "-q", "--engine=cover", "--json", "-", "--threads", f"{who}=any",
                                        str(ROOT / "examples" / model)])
            for r in json.loads(out)["results"]:
                least = r.get("causal", {}).get("threads", {})
                print(f"| {name} | {r['block'] or 'the program'} | {r['verdict']}"
                      f"{' by ' + ', '.join(f'{n} {t}' for t, n in least.items()) if least else ''}"
                      f" | {r['states']:,} | {cpu:.3f} |")
    for w in wrong:
        print("NOT THE PAPER'S:", w)
    sys.exit(1 if wrong else 0)


main()
