#!/usr/bin/env python3
"""Exploration from the command line: the result does not depend on the number
of threads nor on the reductions; limits; the line about progress, which a
terminal gets and nobody else.

    test_explore.py PATH-OF-INTACT EXAMPLES

TAP on stdout."""
import json
import os
import pty
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from tap import check, done, run

intact, examples = sys.argv[1], Path(sys.argv[2])
LISTS = ["acquire1", "transaction", "bluetooth-bug", "dekker", "lost-update", "double-checked-bug"]
REDUCTIONS = ["symmetry", "local", "pure", "transactions", "dead"]


def json_of(*args):
    rc, out, err = run([intact, "check", "--engine=commit", "--json", "-", *args], timeout=600)
    return rc, out, err


def verdicts(text):
    return re.findall(r'"verdict": "(\w+)"', text)


# ---- -j ----------------------------------------------------------------------
# enough states for the others to be called in (20,000), with and without a violation
for name, *args in [("transaction", "--threads", "worker=10", "--no-reduce=transactions"),
                    ("acquire1", "--threads", "worker=8", "--no-reduce=all"),
                    ("bluetooth-fixed", "--threads", "add=12"),
                    ("bluetooth-bug", "--threads", "add=5", "--no-reduce=symmetry"),
                    ("bluetooth-fixed", "--threads", "add=12", "--max-states=30000")]:
    path = examples / f"{name}.atm"
    one = json_of(path, *args)
    for jobs in ("2", "3"):
        many = json_of(path, *args, "-j", jobs)
        check(f"{name} {' '.join(args)}: -j {jobs} gives the same bytes", many == one, many[2])
    check(f"{name}: says something", '"verdict"' in one[1] and one[0] in (0, 1, 3), one[2])
check("the last of them met its limit", '"states"' in one[1] and one[0] == 3, one[1][-400:])

# ---- reductions --------------------------------------------------------------
for name in LISTS:
    path = examples / f"{name}.atm"
    whole = json_of(path)
    for r in REDUCTIONS + ["all"]:
        part = json_of(path, f"--no-reduce={r}")
        check(f"{name}: the same without {r}", verdicts(part[1]) == verdicts(whole[1]) and part[0] == whole[0],
              part[1][-300:] + part[2])
    if whole[0] == 1:
        with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
            f.write(whole[1])
            f.flush()
            rc, out, err = run([intact, "verify", f.name], timeout=300)
        open_answers = any(r["verdict"] == "unknown" for r in json.loads(whole[1])["results"])  # there is nothing to check about those
        check(f"{name}: verify accepts it", rc == (3 if open_answers else 0) and not re.search("^(rejected|unknown):", out, re.M), out + err)
rc, out, err = run([intact, "check", "--no-reduce=nothing", examples / "acquire1.atm"])
check("an unknown reduction is an error that names them", rc == 2 and "transactions" in err, err)
rc, out, err = run([intact, "check", "-j", "0", examples / "acquire1.atm"])
check("-j 0 is an error", rc == 2 and "jobs" in err, err)

# ---- commit points -------------------------------------------------------------
# Stop commits where it writes the flag, Add where it reads it; on either way out, so that no
# thread is left waiting to commit at its exit
rc, out, err = run([intact, "check", "--engine=commit", "--threads", "add=11", examples / "bluetooth-fixed.atm"])
check("bluetooth: the commit points are the flag's", rc == 0 and re.search(
    r"stop\.pnp_stop: commits at line 40 \(write stoppingFlag .*\n"
    r"add\.pnp_add: commits at line 31 \(read stoppingFlag in if \(stoppingFlag\)\)\n", out), out + err)
data = json.loads(json_of(examples / "bluetooth-fixed.atm", "--threads", "add=11")[1])
states = data["results"][-1]["states"]
check("bluetooth, 12 threads: fewer than 30,000 states", 0 < states < 30000, str(states))

# ---- blocks of a program that is not decided -----------------------------------
rc, out, err = run([intact, "check", "--engine=commit", "--max-memory=1M", "--threads", "add=16",
                    examples / "bluetooth-fixed.atm"])
check("a reached limit makes no violation of a block that fails alone",
      rc == 3 and "NOT ATOMIC" not in out and "not atomic alone" in out, out + err)
rc, out, err = run([intact, "check", "--block", "pnp_add", examples / "bluetooth-fixed.atm"])
check("which --block shows", rc == 1 and "NOT ATOMIC" in out, out + err)
# commit finds no points for `late`, and all it sees before it gives up is explained; the lost
# update lies deeper, and only the question about its block gets there
MIXED = """int x; int y; int r; int d; int e;
thread reader { atomic late { int u = x; int v = y; if (v == 1) { r = u; } else { r = x; } } }
thread writer { x = 1; y = 1; }
thread worker * 2 {
  int i = 0;
  while (i < 9) { step { i = i + 1; e = i; } }
  atomic update { int t = d; d = 2 * t + 1; }
}
"""
with tempfile.TemporaryDirectory() as tmp:
    model, result = f"{tmp}/mixed.atm", f"{tmp}/r.json"
    open(model, "w").write(MIXED)
    rc, out, err = run([intact, "check", "--engine=commit", "--json", result, model])
    said = {r["block"]: r["verdict"] for r in json.load(open(result))["results"]}
    check("a block's run that no order of whole blocks explains is the program's", rc == 1 and said == {
        "reader.late": "unknown", "worker.update": "violated", None: "violated"}, str(said) + err)
    rc, out, err = run([intact, "verify", result])
    check("and verify accepts both", rc == 3 and "accepted: worker.update: atomicity" in out and "accepted: program: atomicity" in out
          and "unchecked: reader.late" in out and "rejected:" not in out, out + err)

# ---- limits and progress -----------------------------------------------------
ENDLESS = "int x; int y; thread w * 3 { while (true) { atomic { x = x + 1; y = y + x; } } }\n"


def on_terminal(argv):
    """Exit code and what stderr got, on a terminal."""
    ours, theirs = pty.openpty()
    p = subprocess.Popen([str(a) for a in argv], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                         stderr=theirs, env=dict(os.environ, NO_COLOR="1"))
    os.close(theirs)
    got = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        got += part
    os.close(ours)
    return p.wait(), got.decode()


with tempfile.NamedTemporaryFile("w", suffix=".atm") as f:
    f.write(ENDLESS)
    f.flush()
    base = [intact, "check", "--faults", "-j", "2", "--timeout", "2", "--max-memory", "1G", f.name]
    rc, err = on_terminal(base)
    check("a terminal sees progress", rc in (1, 3) and re.search(
        r"\r[\d.]+[kM]? states, [\d.]+[kM]?/s, depth \d+, \d+ MiB, \d+\.\d s\x1b\[K", err), repr(err[-300:]))
    check("and the line is cleared", err.endswith("\r\x1b[K"), repr(err[-40:]))
    rc, out, err = run(base)
    check("nobody else does", rc in (1, 3) and "states," not in err and "\r" not in err, err)
    rc, err = on_terminal(base + ["--quiet"])
    check("nor does who asks for quiet", rc in (1, 3) and "\r" not in err.replace("\r\n", "\n"), repr(err[-200:]))
    for jobs in ("1", "2"):
        rc, out, err = run([intact, "check", "--faults", "--json", "-", "-j", jobs, "--max-memory", "16M", f.name])
        check(f"-j {jobs}: reached memory limit is unknown", rc == 3 and '"memory"' in out, out[-300:] + err)
done()
