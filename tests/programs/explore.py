#!/usr/bin/env python3
"""Explores every program of this folder and compares the outcome with what the program's first comment says of it.

Each is built twice: as it is, where sched.h forces one order of the threads, and with -DSCHED_FREE, where the explorer
chooses. Both are explored by sampling and with --exhaustive, within SHORT limits or, with --all, LONG ones. What must come of it is told by
`intact: none` (nothing is found) or `intact: find NAME` (NAME is not atomic in some schedule, or the program fails
itself), or by these lines, which come first:

    explore: OUTCOME -- why           of both builds; of only one: `explore: free OUTCOME`, `explore: forced OUTCOME`
    OUTCOME: none, atomicity, exit, race, refused (the message must say why) or bug (as `find`)

For each build a line says what came out: the finding, how many schedules, and whether these were all traces. `cut`: with
--exhaustive, which is not fair, the program waits in a loop that is not known for one (sched.h; a lock taken again and
again), and no schedule comes to its end. A schedule that was cut off must be named by the report; a search that ended early
must say which limit it reached. Anything else fails the test: another finding, none, a crash of the explorer, an internal
error.

    explore.py INTACT [--all | --once] [NAME...]   --all: gcc and clang, -O0 and -O2; --once: each program by one of these in
                                                   turn; else so for every eighth program and those of ALWAYS
"""
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
COMBOS = [(cc, opt) for cc in ("gcc", "clang") for opt in ("-O0", "-O2")]
SHORT, LONG = ["-n", "100"], ["-n", "1000", "-t", "60"]
ALWAYS = ("cas_loop.c", "cas_stack.c", "scoped_lock.cc", "trampoline.c", "cycle_fork_join.c", "coverage_counters.c") # found defects
KINDS = ("none", "atomicity", "exit", "race", "refused", "bug")
SAYS = {"NOT ATOMIC": "atomicity", "FAILURE": "exit", "data race": "race", "no violation": "none"}


def expectation(text):
    """The outcome of the build as it is and of the free one, and the function at fault."""
    found = re.search(r"intact: find (\S+)", text)
    options = re.findall(r"intact: option (\S+)", text)
    want = dict.fromkeys(("forced", "free"), "bug" if found else "none")
    if "sched.h" in text and found:
        want["forced"] = "any"
    for which, kind in re.findall(r"explore: (?:(free|forced) )?(\w+)", text):
        if kind not in KINDS:
            sys.exit("explore.py: unknown outcome '%s'" % kind)
        for w in (which,) if which else want:
            want[w] = kind
    return want, found and found.group(1), dict(os.environ, INTACT_OPTIONS=":".join(options))


def cut(text):
    """Schedules that were cut off, as the report names them."""
    m = re.search(r"^(\d+) schedules? (?:was|were) cut off", text, re.M)
    return int(m[1]) if m else 0


def outcome(r):
    """What the report's first line says; a text in brackets if it is nothing that it may say."""
    if r.returncode == 2 and "cannot be explored: " in r.stderr:
        return "refused"
    for title, kind in SAYS.items():
        if r.stdout.startswith(title) and r.returncode == (0 if kind == "none" else 1):
            return kind
    if r.returncode == 3 and r.stdout.startswith("unknown: every schedule was cut off") and cut(r.stdout):
        return "cut"
    if r.returncode == 3 and r.stdout.startswith("unknown: no schedule came to its end") and "--time" in r.stdout:
        return "cut"
    if r.returncode == 3 and r.stdout.startswith("no violation found") and re.search(r"^the search ended early: ", r.stdout, re.M):
        return "none"
    return "(exit status %d: %s%s)" % (r.returncode, r.stdout[:300], r.stderr[:500])


def wrong(kind, want, name, text, exhaustive):
    if kind == "cut" and exhaustive:
        return None
    if want == "any":
        want = kind if kind in ("none", "atomicity", "exit", "race") else "bug"
    if want == "bug":
        if kind == "atomicity":
            return None if re.search(r"\b%s\b" % re.escape(name), text.split("\n")[0]) else "another function than %s is blamed" % name
        return None if kind in ("exit", "race") else "%s is not found" % name
    return None if kind == want else "expected " + want


def explore(intact, exe, options, env):
    try:
        return subprocess.run([intact, "explore", *options, "--", exe], capture_output=True, text=True, timeout=900, env=env)
    except subprocess.TimeoutExpired:
        return None


def one(intact, exe, want, name, env, limits):
    """What is wrong, and the line that says what came out."""
    said = []
    for more in ([], ["--exhaustive"]):
        r = explore(intact, exe, limits + more, env)
        if not r:
            return "does not end", "-"
        kind, text = outcome(r), r.stdout
        all_of_it = "traces explored" in text.split("\n")[0]
        bad = wrong(kind, want, name, text, more)
        # the sampled search and the exhaustive one may end at another finding; what is rare may take more than the limit
        if bad and not (more and want in ("bug", "exit", "race", "atomicity") and kind == "none" and not all_of_it):
            return "%s%s%s: %s" % ("exhaustive: " if more else "", bad, ", found " + kind if kind[0] != "(" else "", text[:1500] + r.stderr[:500]), "-"
        n = re.search(r"^(\d+) schedules?", text, re.M) or re.search(r"all (\d+) traces", text)
        said.append("%s%s in %s schedules%s%s" % ("exhaustive: " if more else "", kind, n[1] if n else "0",
                                                  ", all traces" if all_of_it else "", ", %d cut off" % cut(text) if cut(text) else ""))
        if kind == "refused":
            return None, "refused: " + r.stderr.strip().split("cannot be explored: ")[1].split("\n")[0]
    return None, "; ".join(said)


def check(intact, name, combo, limits, tmp):
    """What is wrong, and a line for each build."""
    path, cc = os.path.join(HERE, name), combo[0]
    text = open(path).read()
    want, function, env = expectation(text)
    lines = []
    for which in ("forced", "free") if "sched.h" in text else ("free",):
        exe = os.path.join(tmp, name + "." + which)
        cxx = name.endswith(".cc")
        cmd = [intact, "c++" if cxx else "cc", "-std=c++17" if cxx else "-std=gnu11", "-g", combo[1], path, "-o", exe, "-pthread"]
        b = subprocess.run(cmd + (["-DSCHED_FREE"] if which == "free" else []), env=dict(os.environ, INTACT_CC=cc),
                           capture_output=True, text=True)
        if b.returncode:
            return "does not build: " + b.stderr[-500:], lines
        bad, line = one(intact, exe, want[which], function, env, limits)
        os.unlink(exe)
        if bad:
            return "%s: %s" % (which, bad), lines
        lines.append("%s: %s" % (which, line))
    return None, lines


def main():
    args = [a for a in sys.argv[2:] if a[:2] != "--"]
    intact, everything, once = os.path.abspath(sys.argv[1]), "--all" in sys.argv, "--once" in sys.argv or len(sys.argv) > 2
    names = sorted(n for n in os.listdir(HERE) if n.endswith((".c", ".cc")) and (not args or n in args))
    cases = [(n, combo) for i, n in enumerate(names) for k, combo in enumerate(COMBOS)
             if everything or (k == i % len(COMBOS) and (once or i % 8 == 0 or n in ALWAYS))]
    print("1..%d" % len(cases), flush=True)
    failed = False
    with tempfile.TemporaryDirectory(prefix="intact-programs-") as tmp:
        for i, (name, combo) in enumerate(cases, 1):
            bad, lines = check(intact, name, combo, LONG if everything else SHORT, tmp)
            failed |= bad is not None
            for line in ([bad] if bad else []) + lines:
                print("# " + line.replace("\n", "\n# "))
            print("%s %d - %s %s %s" % ("not ok" if bad else "ok", i, name, *combo), flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
