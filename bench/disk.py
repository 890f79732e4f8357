#!/usr/bin/env python3
"""make bench-disk: what a search on disk costs beside the same search in memory, one after the other in one run.

    disk.py BUILD [--threads N] [--model NAME] [--dir DIR]

acquire1 without reductions, in memory, then with --disk and a tenth of that memory: transitions per second of CPU (user and
system), resident memory of the process, bytes of files a state (what DIR lost while it ran is not counted: the command says
how many it used at most), and whether the documents have the same bytes."""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
parser = argparse.ArgumentParser()
parser.add_argument("build")
parser.add_argument("--threads", type=int, default=12)
parser.add_argument("--model", default="acquire1")
parser.add_argument("--dir", default="/tmp")
args = parser.parse_args()
BUILD = Path(args.build).resolve()


def run(*extra):
    done = subprocess.run([f"{BUILD}/bench/measure", f"{BUILD}/src/cli/intact", "check", "-q", "--json=-", "--engine=commit", "--no-reduce=all",
                           f"--threads=worker={args.threads}", *extra, str(ROOT / "examples" / f"{args.model}.atm")],
                          capture_output=True, text=True)
    cpu, kb, rc = done.stderr.strip().split("\n")[-1].split()
    if int(rc) != 0:
        sys.exit(done.stdout + done.stderr)
    result = [r for r in json.loads(done.stdout)["results"] if r["block"] is None][-1]
    return done.stdout, result["states"], result["transitions"], float(cpu), int(kb)


print(f"{args.model}, {args.threads} threads: {'states':>12} {'transitions':>13} {'CPU s':>8} {'M transitions/s':>16} {'MB':>7}")
with tempfile.TemporaryDirectory(dir=args.dir) as d:
    one = run()
    two = run(f"--disk={d}", f"--max-memory={one[4] * 9 // 100}K")
for name, r in (("in memory", one), ("on disk", two)):
    print(f"{name:>22}: {r[1]:12,} {r[2]:13,} {r[3]:8.2f} {r[2] / r[3] / 1e6:16.1f} {r[4] / 1024:7.1f}")
print(f"memory {two[4] / one[4]:.3f}, rate {one[3] / two[3]:.2f} of the search in memory; {'the same bytes' if one[0] == two[0] else 'DIFFERENT DOCUMENTS'}")
sys.exit(one[0] != two[0])
