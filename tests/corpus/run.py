#!/usr/bin/env python3
"""The corpus: kernels of published bugs, each with its repaired twin (-DFIXED), watched by `intact run` as a user does.

    corpus: finds FUNCTION -- PATTERN[, PATTERN...]     what must be shown by default, and as what
    corpus: misses FUNCTION -- why                      a known bug that is not found: it counts against recall

    run.py INTACT [--all] [--bench] [NAME...]   --all: both compilers, -O0 and -O2; else one of them for each, in turn
                                                --bench: print precision, recall and ranks, fail for nothing

As a test: every bug that is said to be found is, first in its report, with one of its patterns; the repaired twins show
nothing; and of all kernels 95 % are found.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
COMBOS = [(cc, opt) for cc in ("gcc", "clang") for opt in ("-O0", "-O2")]


def watch(intact, path, combo, fixed, tmp):
    """What is shown: functions with their patterns, in the order of the report."""
    exe, out = os.path.join(tmp, "kernel"), os.path.join(tmp, "run.json")
    cmd = [intact, "cc", "-g", "-Wall", "-Wextra", "-Werror", "-Wno-unused", combo[1], path, "-o", exe, "-pthread"] + (["-DFIXED"] if fixed else [])
    b = subprocess.run(cmd, capture_output=True, text=True, env=dict(os.environ, INTACT_CC=combo[0]))
    if b.returncode:
        raise ValueError("does not compile: " + b.stderr[-600:])
    r = subprocess.run([intact, "run", "--json", out, exe], capture_output=True, text=True, timeout=60)
    doc = json.load(open(out))
    if r.returncode != (66 if doc["results"] else 0):
        raise ValueError("exit status %d: %s" % (r.returncode, r.stderr[-600:]))
    return [(x["block"], x.get("pattern")) for x in doc["results"]], [(x["block"], x["pattern"]) for x in doc["not_shown"]]


def expectation(path):
    m = re.search(r"corpus: (finds|misses) (\w+) -- ([^*]*)", open(path).read())
    return m.group(1), m.group(2), [p.strip() for p in m.group(3).split(",")]


def check(intact, path, combo, score, tmp):
    how, function, patterns = expectation(path)
    shown, rest = watch(intact, path, combo, False, tmp)
    names = [b for b, _ in shown]
    score["kernels"] += 1
    score["shown"] += len(shown)
    score["real"] += names.count(function)
    if function in names:
        score["found"] += 1
        score["ranks"].append(names.index(function) + 1)
    fixed, _ = watch(intact, path, combo, True, tmp)
    score["fixed"] += len(fixed)
    if fixed:
        return "repaired, and shown: %s" % fixed
    if how == "misses":
        return "found now: it no longer misses" if function in names else None
    if not names or names[0] != function:
        return "shown are %s; not shown %s" % (shown, rest)
    return None if shown[0][1] in patterns else "the pattern is %s" % shown[0][1]


def main():
    args = [a for a in sys.argv[2:] if not a.startswith("--")]
    intact, everything, bench = os.path.abspath(sys.argv[1]), "--all" in sys.argv, "--bench" in sys.argv
    names = sorted(n for n in os.listdir(HERE) if n.endswith(".c") and (not args or any(a in n for a in args)))
    cases = [(n, c) for i, n in enumerate(names) for k, c in enumerate(COMBOS) if everything or k == i % len(COMBOS)]
    score = {"kernels": 0, "shown": 0, "real": 0, "found": 0, "fixed": 0, "ranks": []}
    print("1..%d" % (len(cases) + 1), flush=True)
    failed = 0
    with tempfile.TemporaryDirectory(prefix="intact-corpus-") as tmp:
        for i, (name, combo) in enumerate(cases, 1):
            try:
                bad = check(intact, os.path.join(HERE, name), combo, score, tmp)
            except (ValueError, OSError, subprocess.TimeoutExpired) as e:
                bad = str(e)
            failed += bad is not None
            print("%s %d - %s %s %s" % ("not ok" if bad else "ok", i, name, *combo), flush=True)
            if bad:
                print("# " + bad.replace("\n", "\n# "), flush=True)
    n = score["kernels"] or 1
    print("# %d kernels: recall %.1f %%, %d shown, of these the bug %.1f %%, worst rank %d; %d shown of the repaired"
          % (score["kernels"], 100 * score["found"] / n, score["shown"], 100 * score["real"] / (score["shown"] or 1),
             max(score["ranks"] or [0]), score["fixed"]))
    enough = score["found"] >= 0.95 * n
    print("%s %d - 95 %% are found" % ("ok" if enough else "not ok", len(cases) + 1))
    return 0 if bench or (enough and not failed) else 1


if __name__ == "__main__":
    sys.exit(main())
