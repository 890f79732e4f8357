#!/usr/bin/env python3
"""make soak: each planted bug of this folder is found within 1,000 schedules with every seed, with both compilers, and
its saved schedule fails again every time in all three ways of running, and under gdb, which stops at the failure.

    soak.py INTACT [--seeds 20] [--replays 100] [--gdb 100] [NAME...]

Prints a row a program: the schedules it took (median and most over seeds and compilers) and the replays that failed as
they should. Data races are not replayed: they are found beside other findings; endless loops neither: their
schedules have no end.
"""
import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import run  # noqa: E402: the programs and what they say


def seeds_of(intact, exe, want, n):
    """Schedules to the bug by seed; a text if it was not found."""
    took = []
    for seed in range(1, n + 1):
        got = run.explore(intact, exe, ["-n", "1000", "--seed", str(seed), *want["option"]], 300)
        bad = run.wrong(want["find"], want["says"], got)
        if bad:
            return "seed %d: %s" % (seed, bad)
        m = re.search(r" in schedule (\d+)", got[1])
        took.append(int(m[1]) if m else 1)
    return took


def replays_of(intact, exe, want, n, tmp):
    """How many of n replays in each way failed as the schedule did; None: it is not replayed."""
    if want["find"] in ("race", "endless"):
        return None
    saved, good = os.path.join(tmp, "schedule"), []
    run.explore(intact, exe, ["--save", saved, *want["option"]], 300)
    option = run.without_count(want["option"])
    for way in ([], ["--fork"], ["--threads"]):
        good.append(sum(not run.wrong(want["find"], want["says"], run.explore(intact, exe, ["--replay", saved, *way, *option], 300))
                        for _ in range(n)))
    return good


def under_gdb(intact, exe, saved, option):
    """Does gdb stop at the failure, in the frames of the program?"""
    r = subprocess.run([intact, "explore", "--replay", saved, "--gdb", *option, "--", exe], capture_output=True, text=True, timeout=300,
                       input="bt\nkill\nquit\n")
    return "Breakpoint 1, x_failed" in r.stdout


def gdb_of(intact, exe, want, n, tmp):
    """How many of n replays stop; None: it is not replayed."""
    if want["find"] in ("race", "endless") or not n:
        return None
    saved, option = os.path.join(tmp, "schedule"), run.without_count(want["option"])
    return sum(under_gdb(intact, exe, saved, option) for _ in range(n))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("intact")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--replays", type=int, default=100)
    parser.add_argument("--gdb", type=int, default=100)
    parser.add_argument("names", nargs="*")
    a = parser.parse_intermixed_args()
    intact, failed = os.path.abspath(a.intact), False
    print("| program | finds | schedules, median | most | replays of %d: in place, fork, threads | of %d: gdb |\n|---|---|---|---|---|---|" % (a.replays, a.gdb), flush=True)
    for name in sorted(n for n in os.listdir(run.HERE) if n.endswith((".c", ".cc")) and (not a.names or n in a.names)):
        path = os.path.join(run.HERE, name)
        want = run.expectation(path)
        if want["refuses"] or want["rare"]:
            continue
        took, again, stops, bad = [], [], [], None
        for cc in ("gcc", "clang"):
            with tempfile.TemporaryDirectory(prefix="intact-explore-") as tmp:
                exe, bad = run.build(intact, path, (cc, "-O2"), False, want, tmp)
                some = bad or seeds_of(intact, exe, want, a.seeds)
                if isinstance(some, str):
                    bad = some
                    break
                took += some
                good = replays_of(intact, exe, want, a.replays, tmp)
                if good:
                    again.append(good)
                stopped = gdb_of(intact, exe, want, a.gdb, tmp)
                if stopped is not None:
                    stops.append(stopped)
        if bad:
            print("# %s: %s" % (name, bad.replace("\n", "\n# ")), flush=True)
            failed = True
            continue
        least = [min(g[i] for g in again) for i in range(3)] if again else []
        failed |= any(g < a.replays for g in least) or any(g < a.gdb for g in stops)
        print("| %s | %s | %d | %d | %s | %s |" % (name, want["find"], statistics.median(took), max(took),
                                                   ", ".join(map(str, least)) or "-", min(stops) if stops else "-"), flush=True)
    return failed


sys.exit(main())
