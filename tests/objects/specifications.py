#!/usr/bin/env python3
"""The built-in specifications that an object test can name, each on an object that has it and, with -DBROKEN, one that has not.

    specifications.py INTACT

The right one: every trace of 2x2 and 3x1 is linearizable. The broken one is refuted. A stress test of the right one passes, too:
its history goes through `intact history`. What a relaxed queue does is wrong for a plain one, and a bounded queue that says it is
full although there is room is refuted.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
INTACT = os.path.abspath(sys.argv[1])
NAMES = ("register cas-register counter queue stack set kv priority-queue mutex semaphore bounded-queue deque "
         "relaxed-queue relaxed-stack relaxed-priority-queue").split()
BLOCKING = ("mutex", "semaphore")
tmp = tempfile.TemporaryDirectory(prefix="intact-specifications-")
done = [0, 0]


def test(name, bad):
    done[0] += 1
    done[1] += bad is not None
    if bad:
        print("# " + str(bad).replace("\n", "\n# "))
    print("%s %d - %s" % ("not ok" if bad else "ok", done[0], name), flush=True)


def build(number, *flags, source="specifications.c", cc=None):
    exe = os.path.join(tmp.name, "object-%d%s" % (number, "".join(flags).replace('"', "").replace("/", "")))
    cc = cc or ("gcc", "clang")[number % 2]
    subprocess.run([INTACT, "cc", "-g", "-O1", "-DOBJECT=%d" % number, *flags, os.path.join(HERE, source), "-o", exe, "-pthread"],
                   check=True, env=dict(os.environ, INTACT_CC=cc))
    return exe


def explore(exe, *options):
    r = subprocess.run([INTACT, "explore", *options, "--json=-", "--", exe], capture_output=True, text=True, timeout=300)
    return r.returncode, json.loads(r.stdout) if r.stdout.startswith("{") else None, r.stderr


def named(number, name):
    rc, doc, err = explore(build(number), "--exhaustive")
    if rc != 0 or not doc["exhaustive"] or not doc["object"]["all_scenarios"] or "'%s'" % name not in doc["object"]["against"]:
        return "the right one: exit status %d %s %s" % (rc, err[-400:], doc and [r.get("sentence") for r in doc["results"]])
    if doc["object"]["histories"] == 0:
        return "no history was judged"
    rc, doc, err = explore(build(number, "-DBROKEN"), "--exhaustive")
    if rc != 1 or doc["results"][0]["kind"] != "linearizability":
        return "the broken one: exit status %d %s %s" % (rc, err[-400:], doc and [r["kind"] for r in doc["results"]])
    return None


def stress(number, name):
    """Compiled by itself, with real threads."""
    exe = os.path.join(tmp.name, "stress-%d" % number)
    subprocess.run([("gcc", "clang")[number % 2], "-O1", "-I", os.path.join(HERE, "../../include"), "-DOBJECT=%d" % number,
                    os.path.join(HERE, "specifications.c"), "-o", exe, "-pthread"], check=True)
    r = subprocess.run([exe, "--rounds", "300"], capture_output=True, text=True, timeout=300, env=dict(os.environ, INTACT=INTACT))
    if name in BLOCKING:
        return None if r.returncode == 2 and "may wait" in r.stderr else "%d %s" % (r.returncode, r.stderr)
    return None if r.returncode == 0 else "exit status %d\n%s%s" % (r.returncode, r.stdout[-600:], r.stderr[-600:])


def replaced(number, name, old, new, want):
    """The same source with a line changed."""
    source = re.sub(r"\s+([?:]) ", r" \1 ", open(os.path.join(HERE, "specifications.c")).read())  # without its columns
    assert old in source, old
    path = os.path.join(tmp.name, "changed.c")
    with open(path, "w") as f:
        f.write(source.replace(old, new))
    exe = build(number, "-DCHANGED", source=path)
    rc, doc, err = explore(exe, "--exhaustive")
    kinds = doc and [r["kind"] for r in doc["results"]]
    return None if (rc, kinds) == want else "%s: exit status %d %s %s" % (name, rc, kinds, err[-300:])


def main():
    for i, name in enumerate(NAMES, 1):
        test("%s: exhausted, and refuted when it is broken" % name, named(i, name))
        test("%s: as a stress test" % name, stress(i, name))
    wrong = (1, ["linearizability"])
    test("a relaxed queue is no queue", replaced(13, "k = 1", 'RELAXED ? "2"', 'RELAXED ? "1"', wrong))
    test("nor one with k = 3 that takes what is second", replaced(13, "k = 3", 'RELAXED ? "2"', 'RELAXED ? "3"', (0, [])))
    test("full without being full", replaced(11, "room", 'BOUNDED_QUEUE ? "1"', 'BOUNDED_QUEUE ? "2"', wrong))
    test("no bound is given", replaced(11, "no bound", '.initial = OBJECT == BOUNDED_QUEUE ? "1" : ', ".initial = ", (2, None)))
    print("1..%d" % done[0])
    return done[1] != 0


sys.exit(main())
