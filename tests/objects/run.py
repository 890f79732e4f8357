#!/usr/bin/env python3
"""The objects of examples/objects, each right and (with -DBROKEN) broken.

    run.py INTACT [--all] [NAME...]    --all: both compilers, -O0 and -O2; else a rotating sample

The right one: every trace of every scenario of 2x2 and 3x1 is explored and nothing is found, and larger ones are sampled (mpmc-ring, as its first
comment says, is not what it claims there). The broken one: it is refuted, by sampling and by --exhaustive (how long that takes: bench/object_tests.py), with a scenario as small as the one that is written here; the schedule that is saved fails again in
every way of running it.
"""
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
OBJECTS = os.path.join(HERE, "..", "..", "examples", "objects")
COMBOS = [(cc, opt) for cc in ("gcc", "clang") for opt in ("-O0", "-O2")]
# the kind of failure, calls of the smallest scenario (of the threads; with the calls before and after they need)
BROKEN = {
    "chase-lev-deque": ("linearizability", 2),
    "claim-counter": ("lock-freedom", 2),
    "harris-list": ("linearizability", 2),
    "hash-map": ("linearizability", 2),
    "hazard-pointers": ("misuse", 2),
    "mcs-lock": ("endless", 2),
    "mpmc-ring": ("linearizability", 2),
    "mpsc-queue": ("lock-freedom", 2),
    "ms-queue": ("linearizability", 4),
    "rcu-list": ("misuse", 2),
    "refcount-cache": ("misuse", 2),
    "seqlock": ("linearizability", 2),
    "ticket-lock": ("endless", 2),
    "treiber-stack": ("linearizability", 4),
    "work-queue": ("linearizability", 5),
}


def build(intact, name, combo, flags, exe):
    env = dict(os.environ, INTACT_CC=combo[0])
    subprocess.run([intact, "cc", "-g", combo[1], *flags, os.path.join(OBJECTS, name + ".c"), "-o", exe, "-pthread"],
                   check=True, env=env)


def explore(intact, options, exe=None, seconds=600):
    r = subprocess.run([intact, "explore", *options, "--json=-", *(["--", exe] if exe else [])], capture_output=True, text=True,
                       timeout=seconds)
    try:
        return r.returncode, json.loads(r.stdout), r.stderr
    except ValueError:
        return r.returncode, None, r.stderr


def right(intact, exe, name):
    rc, doc, err = explore(intact, ["--exhaustive"], exe)
    if rc != 0 or not doc["exhaustive"] or doc["object"]["scenarios_exhausted"] != doc["object"]["scenarios"]:
        return "the right one: exit status %d, %s %s" % (rc, err[-300:], doc and [r.get("sentence") for r in doc["results"]])
    if not doc["object"]["all_scenarios"] or doc["object"]["shapes"] != "2x2, 3x1" or doc["object"]["histories"] < doc["object"]["scenarios"]:
        return "the right one: %r" % doc["object"]
    rc, doc, err = explore(intact, ["--shape", "2x3,3x2", "--scenarios", "15", "-n", "300"], exe)
    wanted = (1, ["linearizability"]) if name == "mpmc-ring" else (0, [])
    if (rc, [r["kind"] for r in doc["results"]]) != wanted or not doc["object"]["scenarios"]:
        return "the right one, larger scenarios: exit status %d, %s %s" % (rc, err[-300:], [r.get("sentence") for r in doc["results"]])
    return None


def broken(intact, exe, name, tmp):
    kind, calls = BROKEN[name]
    saved = os.path.join(tmp, "schedule")
    for options in ([], ["--exhaustive", "--shape", "2x2,3x2"]):
        rc, doc, err = explore(intact, [*options, "--save", saved], exe)
        if rc != 1:
            return "the broken one, %s: exit status %d: %s" % (options, rc, err[-300:])
        if doc["results"][0]["kind"] != kind:
            return "the broken one, %s: %s" % (options, doc["results"][0]["kind"])
        if len(doc["object"]["calls"]) > calls:
            return "the broken one, %s: the scenario is not minimal: %s" % (options, doc["object"]["scenario"])
    if kind == "endless":
        return None
    for way in ([], ["--fork"], ["--threads"]):
        rc, again, err = explore(intact, ["--replay", saved, *way])
        if rc != 1 or again["results"][0]["kind"] != doc["results"][0]["kind"] or again["object"]["scenario"] != doc["object"]["scenario"]:
            return "the replay %s: exit status %d: %s" % (way, rc, err[-300:])
    return None


def check(intact, name, combo):
    with tempfile.TemporaryDirectory(prefix="intact-objects-") as tmp:
        good, bad = os.path.join(tmp, name), os.path.join(tmp, name + "-broken")
        build(intact, name, combo, [], good)
        build(intact, name, combo, ["-DBROKEN"], bad)
        return right(intact, good, name) or broken(intact, bad, name, tmp)


def safe_stack(intact):
    """The bug needs three threads with two calls each and many switches: sampling finds it, in a given scenario."""
    with tempfile.TemporaryDirectory(prefix="intact-objects-") as tmp:
        exe, saved = os.path.join(tmp, "safe-stack"), os.path.join(tmp, "schedule")
        build(intact, "safe-stack", ("gcc", "-O2"), [], exe)
        rc, doc, err = explore(intact, ["--strategy", "pos", "-n", "1000000", "--no-coverage", "--races=no", "--no-minimise", "--scenario",
                                        "use() use() | use() use() | use() use()", "--save", saved], exe)
        if rc != 1 or doc["results"][0]["kind"] != "assertion":
            return "exit status %d: %s" % (rc, err[-300:])
        rc, doc, err = explore(intact, ["--replay", saved])
        return None if rc == 1 and doc["results"][0]["kind"] == "assertion" else "the replay: exit status %d: %s" % (rc, err[-300:])


def main():
    args = [a for a in sys.argv[1:] if a != "--all"]
    intact, names = os.path.abspath(args[0]), args[1:] or sorted(BROKEN)
    there = {f[:-2] for f in os.listdir(OBJECTS) if f.endswith(".c")}
    jobs = [(n, c) for i, n in enumerate(names) for k, c in enumerate(COMBOS) if "--all" in sys.argv or k == i % len(COMBOS)]
    failed = there != {*BROKEN, "safe-stack"}
    print("1..%d" % (len(jobs) + 2))
    print("%s 1 - every example is tested" % ("not ok" if failed else "ok"))
    for i, (name, combo) in enumerate(jobs):
        wrong = check(intact, name, combo)
        failed |= wrong is not None
        print("%s %d - %s, %s" % ("not ok" if wrong else "ok", i + 2, name, " ".join(combo)), flush=True)
        if wrong:
            print("# " + wrong.replace("\n", "\n# "), flush=True)
    wrong = safe_stack(intact)
    print("%s %d - SafeStack is refuted" % ("not ok" if wrong else "ok", len(jobs) + 2))
    if wrong:
        print("# " + wrong.replace("\n", "\n# "))
    return 1 if failed or wrong else 0


sys.exit(main())
