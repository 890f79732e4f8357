#!/usr/bin/env python3
"""make bench-object-tests: what judging the histories of an object test costs beside executing its schedules, and how long it takes to
refute a broken object; CPU time of all processes.

    object_tests.py INTACT [--quick] [--refuted] [NAME...]

Each object of examples/objects (NAME: of these) is built twice: as it is, and with the condition "none", which executes the same schedules and
compares their results with nothing. `share` is what the first costs more than the second, of the second; each is the least of three runs.
`exhaustive` executes all traces of 2x2 and 3x1; `sampled` draws twenty scenarios of 2x3 and 3x2, each with 5,000 schedules. The second table is about the
objects with -DBROKEN: found by the usual options and by --exhaustive, made smaller, repeated and told.
"""
import json
import os
import re
import resource
import subprocess
import sys
import tempfile

OBJECTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "examples", "objects")
NAMES = ("treiber-stack", "ms-queue", "chase-lev-deque", "seqlock", "hazard-pointers", "rcu-list", "mpmc-ring", "ticket-lock", "mcs-lock", "harris-list",
         "hash-map", "work-queue", "refcount-cache", "mpsc-queue", "claim-counter")


def cpu(command, expected=(0, 3)):
    a = resource.getrusage(resource.RUSAGE_CHILDREN)
    r = subprocess.run(command, capture_output=True, text=True)
    b = resource.getrusage(resource.RUSAGE_CHILDREN)
    if r.returncode not in expected:
        sys.exit("object_tests.py: %s: exit status %d: %s" % (" ".join(command), r.returncode, (r.stdout + r.stderr)[-300:]))
    return b.ru_utime + b.ru_stime - a.ru_utime - a.ru_stime, json.loads(r.stdout)


def least(command, times):
    runs = [cpu(command) for _ in range(times)]
    return min(r[0] for r in runs), runs[0][1]


def source(name, judged):
    text = open(os.path.join(OBJECTS, name + ".c")).read()
    if not judged:
        text = re.sub(r"#ifndef LINEARIZABLE\n.*?#endif\n", "", text, flags=re.S)
        text = re.sub(r'\t\.(spec|condition|initial) = "[^"]*",\n', "", text)
        text = re.sub(r'(\t\.name = "[^"]*",\n)', r'\1\t.condition = "none",\n', text, count=1)
    return text


def build(intact, name, judged, tmp, *flags):
    path, exe = os.path.join(tmp, name + ".c"), os.path.join(tmp, name + ("" if judged else "-unjudged") + "".join(flags))
    open(path, "w").write(source(name, judged))
    subprocess.run([intact, "cc", "-O2", "-g", *flags, path, "-o", exe, "-pthread"], check=True)
    return exe


def cost(intact, names, times, tmp):
    modes = (("exhaustive", ["--exhaustive", "--shape", "2x2,3x1"]), ("sampled", ["--shape", "2x3,3x2", "--scenarios", "20", "-n", "5000"]))
    print("%-16s %-10s %10s %10s %10s %10s %11s %7s" % ("object", "schedules", "executed", "histories", "none, s", "judged, s", "schedules/s", "share"))
    total = [0, 0]
    for name in names:
        with_it, without = build(intact, name, True, tmp), build(intact, name, False, tmp)
        for mode, options in modes:
            if name == "mpmc-ring" and mode == "sampled":
                continue  # refuted there: its first comment
            command = [intact, "explore", "--json=-", "--no-coverage", *options]
            none, _ = least(command + [without], times)
            judged, doc = least(command + [with_it], times)
            total = [total[0] + none, total[1] + judged]
            print("%-16s %-10s %10d %10d %10.2f %10.2f %11.0f %6.0f%%" % (name, mode, doc["schedules"], doc["object"]["histories"], none, judged,
                                                                doc["schedules"] / judged, 100 * (judged - none) / none), flush=True)
    print("%-16s %-10s %10s %10s %10.2f %10.2f %11s %6.0f%%\n" % ("all", "", "", "", *total, "", 100 * (total[1] - total[0]) / total[0]), flush=True)


def refuted(intact, names, tmp):
    print("%-16s %22s %22s" % ("broken object", "usual options, s", "--exhaustive, s"))
    for name in names:
        exe = build(intact, name, True, tmp, "-DBROKEN")
        row = [cpu([intact, "explore", "--json=-", *o, exe], (1,))[0] for o in ([], ["--exhaustive", "--shape", "2x2,3x2"])]
        print("%-16s %22.2f %22.2f" % (name, *row), flush=True)


def main():
    args = sys.argv[2:]
    intact, quick = os.path.abspath(sys.argv[1]), "--quick" in args
    names = [a for a in args if not a.startswith("-")] or NAMES
    with tempfile.TemporaryDirectory(prefix="intact-bench-") as tmp:
        if "--refuted" not in args:
            cost(intact, names, 1 if quick else 3, tmp)
        refuted(intact, names, tmp)


main()
