#!/usr/bin/env python3
"""Confirmed findings on marked blocks against an exact judge: each program of
this folder that marks blocks is run watched and recorded at once. The blocks
that the run calls confirmed must be those that `intact trace` finds on a cycle
in the recording, place by place, and `intact verify` must accept the cycles.

    intact: restarts      a block of the program waits or backs off and begins
                          anew there (docs/run.md): to the trace it is one block,
                          which may then be on a cycle that is not confirmed

    confirm.py INTACT [--all] [NAME...]   --all: both compilers, -O0 and -O2, 10
                                          runs each; else a rotating sample
"""
import json
import os
import re
import subprocess
import sys
import tempfile

from run import COMBOS, HERE, expectation

HEAP = ("heap_counter.c", "heap_race.c")


def sh(cmd, env=None):
    return subprocess.run(cmd, env=env, capture_output=True, text=True, timeout=120)


def confirmed(report):
    """Places of the marked blocks that a run says were broken."""
    out = set()
    for f in report["results"]:
        if f["confirmed"] and "mark" in f:
            at = f["entered"]["stack"][0]
            out.add("%s:%d" % (os.path.basename(at["file"]), at["line"]))
    return out


def cycles(report):
    out = set()
    for f in report["results"][0]["findings"]:
        if f["kind"] == "cycle":
            block = f.get("inner") or f["closing"]["block"]
            out.add(os.path.basename(re.match(r"\S+", block["place"]).group(0)))
    return out


def once(intact, exe, options, tmp, restarts):
    rec, run, trace = (os.path.join(tmp, n) for n in ("r.itr", "run.json", "trace.json"))
    env = dict(os.environ, INTACT_OPTIONS=":".join(options))
    sh([intact, "run", "--record", rec, "--json", run, exe], env)
    r = sh([intact, "trace", rec, "--json", trace], env)
    if r.returncode not in (0, 1):
        return "trace: exit status %d\n%s" % (r.returncode, r.stderr[-1000:])
    a, b = confirmed(json.load(open(run))), cycles(json.load(open(trace)))
    if a != b and not (restarts and a <= b):
        return "the run confirms %s, the trace has cycles at %s" % (sorted(a), sorted(b))
    # What the run itself found has no witness: that alone is left unchecked.
    v = sh([intact, "verify", trace])
    open_ = [l for l in v.stdout.splitlines() if not re.match(r"accepted: |unchecked: (run|finding of the run \d+): |\d", l)]
    count = re.search(r"^(\d+) of (\d+) cycles? accepted$", v.stdout, re.M)
    ok = v.returncode == 3 and not open_ and count and count.group(1) == count.group(2)
    return None if ok else "verify: exit status %d\n%s" % (v.returncode, v.stdout[-1000:])


def one(intact, path, cc, opt, runs, tmp):
    text = open(path).read()
    exe = os.path.join(tmp, "program")
    tool = "c++" if path.endswith(".cc") else "cc"
    std = "-std=c++17" if tool == "c++" else "-std=gnu11"
    b = sh([intact, tool, std, opt, path, "-o", exe], dict(os.environ, INTACT_CC=cc))
    if b.returncode:
        return "does not build: " + b.stderr[-800:]
    for _ in range(runs):
        why = once(intact, exe, expectation(path)["options"], tmp, "intact: restarts" in text)
        if why:
            return why
    return None


def same_json(intact, path, tmp):
    """Addresses change from run to run; the document must not."""
    exe, out = os.path.join(tmp, "heap"), os.path.join(tmp, "heap.json")
    if sh([intact, "cc", path, "-o", exe]).returncode:
        return ": does not build"
    seen = set()
    for _ in range(4):
        sh([intact, "run", "--json", out, exe])
        seen.add(open(out).read())
    return ": it differs" if len(seen) > 1 or "0x" in seen.pop() else None


def main():
    intact, rest = os.path.abspath(sys.argv[1]), sys.argv[2:]
    everything = "--all" in rest or os.environ.get("INTACT_SOAK")
    names = [a for a in rest if not a.startswith("--")]
    files = sorted(f for f in os.listdir(HERE) if f.endswith((".c", ".cc")) and
                   "annotate.h" in open(os.path.join(HERE, f)).read())
    plan = [(f, cc, opt) for i, f in enumerate(files) for k, (cc, opt) in enumerate(COMBOS)
            if (not names or any(n in f for n in names)) and (everything or names or i % 4 == k)]
    bad = 0
    print("1..%d" % (len(plan) + len(HEAP)))
    with tempfile.TemporaryDirectory(prefix="intact-confirm-") as tmp:
        for n, (f, cc, opt) in enumerate(plan, 1):
            why = one(intact, os.path.join(HERE, f), cc, opt, 10 if everything else 1, tmp)
            print("%s %d - %s %s %s" % ("not ok" if why else "ok", n, f, cc, opt), flush=True)
            if why:
                bad += 1
                print("\n".join("# " + l for l in why.split("\n")), flush=True)
        for n, f in enumerate(HEAP, len(plan) + 1):
            why = None if names else same_json(intact, os.path.join(HERE, f), tmp)
            print("%s %d - %s: the same JSON every time%s" % ("not ok" if why else "ok", n, f, why or ""))
            bad += bool(why)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
