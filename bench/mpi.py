#!/usr/bin/env python3
"""make bench-mpi: what a search that MPI ranks share costs beside the same search alone, one after the other in one run.

    mpi.py BUILD [--threads N] [--model NAME] [--ranks N...] [--mpirun 'WORDS']

acquire1 without reductions, without mpirun (-j1), then under mpirun: CPU of all ranks together (user and system, waiting for each
other and starting MPI included), the largest rank's memory, states that rank 0 sent and bytes for each, and whether the documents have the
same bytes. One rank is not shared: it is the command itself."""
import argparse
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
parser = argparse.ArgumentParser()
parser.add_argument("build")
parser.add_argument("--threads", type=int, default=11)
parser.add_argument("--model", default="acquire1")
parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 4])
parser.add_argument("--mpirun", default="mpirun.openmpi --allow-run-as-root --oversubscribe")
args = parser.parse_args()
BUILD = Path(args.build).resolve()


def run(ranks, out):
    launch = [*shlex.split(args.mpirun), "-n", str(ranks)] if ranks else []
    done = subprocess.run([*launch, f"{BUILD}/bench/measure", f"{BUILD}/src/cli/intact", "check", "-q", "--stats", f"--json={out}", "--engine=commit",
                           "--no-reduce=all", f"--threads=worker={args.threads}", str(ROOT / "examples" / f"{args.model}.atm")],
                          capture_output=True, text=True)
    lines = re.findall(r"^(\d+\.\d+) (\d+) (\d+)$", done.stderr, re.M)
    if len(lines) != max(ranks, 1) or any(int(rc) for _, _, rc in lines):
        sys.exit(done.stdout + done.stderr)
    sent = re.search(r"rank 0 sent (\d+) states in\s+(\d+)\s+bytes", re.sub(r"\s+", " ", done.stdout))
    return sum(float(cpu) for cpu, _, _ in lines), max(int(kb) for _, kb, _ in lines), sent and (int(sent[1]), int(sent[2])), out.read_text()


print(f"{args.model}, {args.threads} threads: {'CPU s':>8} {'of alone':>9} {'MB':>7} {'sent by rank 0':>15} {'bytes a state':>14}")
with tempfile.TemporaryDirectory() as d:
    whole = run(0, Path(d) / "0")
    wrong = False
    for n in [0, *args.ranks]:
        cpu, kb, sent, text = run(n, Path(d) / str(n)) if n else whole
        wrong |= text != whole[3]
        print(f"{'without mpirun' if not n else f'{n} ranks':>22}: {cpu:8.2f} {whole[0] / cpu:9.2f} {kb / 1024:7.1f} "
              + (f"{sent[0]:15,} {sent[1] / sent[0]:14.2f}" if sent else f"{'-':>15} {'-':>14}") + ("" if text == whole[3] else "  DIFFERENT DOCUMENT"), flush=True)
sys.exit(wrong)
