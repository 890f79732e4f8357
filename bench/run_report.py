#!/usr/bin/env python3
"""What `intact run` costs over the same program run directly, both reporting the
same findings: a generated program with thousands of functions that have one, and
stacks of 150 (tests/programs/large.py). CPU time, children included, the least of
the runs; `run` may cost 5 % and 0.2 s more.

    run_report.py INTACT [--runs N] [PROGRAM ARGS...]    a program of your own, built with intact cc
"""
import os
import resource
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "programs"))
import large  # noqa: E402


def cpu(cmd):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(cmd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    args = sys.argv[1:]
    intact, runs = os.path.abspath(args.pop(0)), 5
    if args[:1] == ["--runs"]:
        runs, args = int(args[1]), args[2:]
    with tempfile.TemporaryDirectory(prefix="intact-bench-") as tmp:
        if not args:
            src, exe = os.path.join(tmp, "many.c"), os.path.join(tmp, "many")
            large.many(src)
            subprocess.run([intact, "cc", "-O0", "-g", src, "-o", exe], check=True)
            args = [exe]
        both = [(cpu(args), cpu([intact, "run", *args])) for _ in range(runs)]
    direct, run = min(d for d, _ in both), min(r for _, r in both)
    print("%-10s %10s %10s %10s" % ("", "direct", "run", "run/direct"))
    print("%-10s %8.2f s %8.2f s %9.2f" % (os.path.basename(args[0]), direct, run, run / direct if direct else 0))
    return 0


if __name__ == "__main__":
    sys.exit(main())
