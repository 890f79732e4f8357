#!/usr/bin/env python3
"""make bench-certificate: what certificates cost: to find the answer, to make the certificate, to check it.

    certificate.py BUILD [MODEL[:NAME=N]...]

CPU seconds (user and system) of `intact check`, of what `--certificate` adds to it, and of `intact verify --certificate`; the states of the sets,
bytes of the file per state, memory of the checker. The last columns are ratios: checking to the search for the certificate (the same space,
the same rules), and to all of `check --certificate`. `check` alone uses reductions, and often no search at all."""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MODELS = ["acquire1:worker=8", "acquire2:worker=7", "bluetooth-fixed:add=7", "transaction:worker=4", "reader-writer:reader=4", "seqlock:reader=4",
          "rcu-grace-period:reader=3", "treiber-stack:popper=3", "ms-queue", "filter"]
BUILD = Path(sys.argv[1]).resolve()


def run(*command):
    done = subprocess.run([f"{BUILD}/bench/measure", f"{BUILD}/src/cli/intact", *map(str, command)], capture_output=True, text=True)
    cpu, kb, rc = done.stderr.strip().split("\n")[-1].split()
    if int(rc) not in (0, 1, 3):
        sys.exit(done.stdout + done.stderr)
    return json.loads(done.stdout), float(cpu), int(kb) / 1024


print(f"{'model':<24} {'check s':>8} {'+ made s':>8} {'verify s':>8} {'states':>10} {'B/state':>8} {'verify MB':>9}  covered  verify/made  verify/all")
with tempfile.TemporaryDirectory() as d:
    for what in sys.argv[2:] or MODELS:
        model, _, threads = what.partition(":")
        path, cert = ROOT / "examples" / f"{model}.atm", f"{d}/certificate"
        more = [f"--threads={threads}"] if threads else []
        _, find, _ = run("check", "-q", "--json=-", *more, path)
        doc, both, _ = run("check", "-q", "--json=-", *more, "--certificate", cert, path)
        answer, check, mb = run("verify", "--json=-", "--certificate", cert, path)
        c = doc["certificate"]
        covered = sum(q.get("certified", False) for q in c["questions"])
        assert answer["rejected"] == 0, what
        made = max(both - find, 1e-4)
        print(f"{what:<24} {find:8.2f} {made:8.2f} {check:8.2f} {c['states']:10,} {c['bytes'] / max(c['states'], 1):8.2f} {mb:9.1f}  "
              f"{covered}/{len(c['questions'])}      {check / made:8.2f}    {check / both:8.2f}", flush=True)
