#!/usr/bin/env python3
"""make bench-hooks: instructions that one call of a hook takes, counted by
callgrind: the same on a busy machine, so that a line more on the fast path is
seen. The loop and an empty call are taken off.

    hooks.py INTACT [CASE...]

`first` is an access to bytes not touched in this epoch, `open` one to data that
all read without a lock in common, `locked` one to data that all read under one;
`marked` while a marked block is open.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

SRC = os.path.join(os.path.dirname(os.path.abspath(__file__)), "run", "hooks_count.c")
LOW, HIGH = 1000, 11000


def count(exe, case, n, tmp):
    env = dict(os.environ, INTACT_OPTIONS="exitcode=0:atexit_report=0")
    r = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=" + os.path.join(tmp, "out"), exe, case,
                        str(n)], capture_output=True, text=True, env=env)
    m = re.search(r"Collected : (\d+)", r.stderr)
    if r.returncode or not m:
        sys.exit("hooks.py: %s: %s" % (case, r.stderr[-400:]))
    return int(m.group(1))


def main():
    intact = os.path.abspath(sys.argv[1])
    if not shutil.which("valgrind"):
        sys.exit("hooks.py: needs valgrind")
    cases = re.findall(r'CASE\("([^"]+)"', open(SRC).read())
    chosen = sys.argv[2:] or [c for c in cases if c != "nothing"]
    with tempfile.TemporaryDirectory(prefix="intact-bench-") as tmp:
        exe = os.path.join(tmp, "hooks_count")
        env = dict(os.environ)
        env.setdefault("INTACT_CC", "gcc")
        # Without debugging information: valgrind does not read that of every clang.
        subprocess.run([intact, "cc", "-O2", "-g0", "-pthread", "-fno-sanitize=thread", SRC, "-o", exe, "-s"],
                       check=True, env=env)

        def each(case):
            return (count(exe, case, HIGH, tmp) - count(exe, case, LOW, tmp)) / (HIGH - LOW)

        empty = each("nothing")
        for c in chosen:
            print("%-24s %8.1f instructions" % (c, each(c) - empty), flush=True)


if __name__ == "__main__":
    main()
