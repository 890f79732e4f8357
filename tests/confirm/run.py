#!/usr/bin/env python3
"""Predicts, then confirms: each program of this folder is watched by `intact run`, which predicts a finding, and
the finding is explored (`intact explore --confirm`). Every file is two programs: as it is, not atomic, and with
-DFIXED, atomic.

    confirm: finds FUNCTION [FUNCTION...] -- why
    confirm: unseen -- why             `intact explore` by itself need not find it

    run.py INTACT [--all] [NAME...]   --all: both compilers, -O0 and -O2; else one of them for each program, in turn

Of the findings about FUNCTION all must be there, and 90 % of all findings of all programs confirmed; what is
confirmed must replay. The fixed ones must have no finding, and `intact run --confirm` confirms none. `intact explore`
by itself, without a report, must find the buggy one not atomic, or failing, and nothing in the fixed one.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
COMBOS = [(cc, opt) for cc in ("gcc", "clang") for opt in ("-O0", "-O2")]


def build(intact, path, combo, fixed, tmp):
    exe = os.path.join(tmp, "fixed" if fixed else "buggy")
    cmd = [intact, "c++" if path.endswith(".cc") else "cc", "-g", combo[1], path, "-o", exe, "-pthread"]
    r = subprocess.run(cmd + (["-DFIXED"] if fixed else []), capture_output=True, text=True,
                       env=dict(os.environ, INTACT_CC=combo[0], INTACT_CXX={"gcc": "g++", "clang": "clang++"}[combo[0]]))
    if r.returncode:
        raise AssertionError("does not compile: " + r.stderr[-400:])
    return exe


def intact_run(intact, args, tmp):
    return subprocess.run([intact, *args], capture_output=True, text=True, timeout=120, cwd=tmp)


def bare(name):
    return re.split(r"[(<]", name)[0].split("::")[-1]


def replayed(intact, result, tmp):
    file = result["finding"]["replay"].split()[-1]
    again = intact_run(intact, ["explore", "--replay", file], tmp)
    assert again.returncode == 1 and again.stdout.startswith(result["title"]), \
        "the replay of %s: %d %s%s" % (result["finding"]["block"], again.returncode, again.stdout[:300], again.stderr[:300])


def check(intact, path, combo, score):
    want = re.search(r"confirm: finds ([\w ]+?) --", open(path).read()).group(1).split()
    with tempfile.TemporaryDirectory(prefix="intact-confirm-") as tmp:
        exe = build(intact, path, combo, False, tmp)
        # what is shown by default is the matter of tests/corpus, and depends on what a run shows of other threads
        watched = intact_run(intact, ["run", "--all", "--json=run.json", exe], tmp)
        found = json.load(open(os.path.join(tmp, "run.json")))["results"]
        missing = [w for w in want if w not in [bare(r["block"]) for r in found]]
        assert not missing, "`intact run` does not report %s: %s" % (missing, watched.stderr[:300])
        r = intact_run(intact, ["explore", "--confirm", "run.json", "--json=c.json", "--", exe], tmp)
        assert r.returncode in (0, 1), "--confirm: %d %s%s" % (r.returncode, r.stdout, r.stderr)
        doc = json.load(open(os.path.join(tmp, "c.json")))
        assert len(doc["results"]) == len(found), "%d findings, %d explored" % (len(found), len(doc["results"]))
        confirmed = [x for x in doc["results"] if x["finding"]["status"] == "confirmed"]
        assert (r.returncode == 1) == bool(confirmed), "exit status %d" % r.returncode
        for x in confirmed:
            assert x["verdict"] == "violated" and x["steps"], "no schedule"
            replayed(intact, x, tmp)
        score["predicted"] += len(found)
        score["confirmed"] += len(confirmed)
        score["schedules"] += [x["schedule"] for x in confirmed]
        plain = intact_run(intact, ["explore", "-n", "2000", "--races=no", "--", exe], tmp)
        assert plain.returncode == 1 or "confirm: unseen" in open(path).read(), "`intact explore` by itself: %d %s%s" % (plain.returncode, plain.stdout[:300], plain.stderr)
        note = ["%s: %s" % (x["finding"]["block"], x["finding"]["text"]) for x in doc["results"] if x not in confirmed]
        exe = build(intact, path, combo, True, tmp)
        r = intact_run(intact, ["run", "--confirm", "--json=f.json", exe], tmp)
        doc = json.load(open(os.path.join(tmp, "f.json")))
        assert not doc["results"] and r.returncode == 0, "fixed: %d %s" % (r.returncode, r.stderr[:500])
        plain = intact_run(intact, ["explore", "-n", "2000", "--", exe], tmp)
        assert plain.returncode == 0, "fixed: `intact explore`: %d %s%s" % (plain.returncode, plain.stdout[:1500], plain.stderr)
        score["fixed"] += 1
        return note


def main():
    args = [a for a in sys.argv[2:] if not a.startswith("--")]
    intact, everything = os.path.abspath(sys.argv[1]), "--all" in sys.argv
    names = sorted(n for n in os.listdir(HERE) if n.endswith((".c", ".cc")) and (not args or n in args))
    cases = [(n, c) for i, n in enumerate(names) for k, c in enumerate(COMBOS) if everything or k == i % len(COMBOS)]
    score = {"predicted": 0, "confirmed": 0, "fixed": 0, "schedules": []}
    print("1..%d" % (len(cases) + 1), flush=True)
    failed = 0
    for i, (name, combo) in enumerate(cases, 1):
        note, bad = [], None
        try:
            note = check(intact, os.path.join(HERE, name), combo, score)
        except (AssertionError, subprocess.TimeoutExpired, OSError, ValueError) as e:
            bad = str(e)
        failed += bad is not None
        for line in note + ([bad] if bad else []):
            print("# " + line.replace("\n", "\n# "))
        print("%s %d - %s %s %s" % ("not ok" if bad else "ok", i, name, *combo), flush=True)
    ok = score["predicted"] and score["confirmed"] >= 0.9 * score["predicted"]
    times = sorted(score["schedules"]) or [0]
    print("# %d programs, %d findings predicted, %d confirmed (median schedule %d, last %d); %d fixed, none confirmed"
          % (len(names), score["predicted"], score["confirmed"], times[len(times) // 2], times[-1], score["fixed"]))
    print("%s %d - nine of ten findings are confirmed" % ("ok" if ok else "not ok", len(cases) + 1))
    return 0 if ok and not failed else 1


sys.exit(main())
