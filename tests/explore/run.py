#!/usr/bin/env python3
"""Explores the programs of this folder and compares what is found with what each
program's first comment says. Every file is two programs: as it is, with a planted
bug, and with -DFIXED, without.

    explore: find KIND         assertion, deadlock, lost-wakeup, crash, abort, exit,
                               misuse, endless, atomicity, race or none
    explore: says TEXT         the report has it
    explore: option OPTIONS    of `intact explore`, for both
    explore: flags FLAGS       of the compiler
    explore: rare              the sampling strategies need not find it; --exhaustive must
    explore: refuses TEXT      it cannot be explored, and the message has it and the place
    explore: sampled           too many traces for --exhaustive to come to the bug
    explore: large             the fixed one has too many traces to explore all
    explore: watched           the fixed one also runs under `intact run`: libc itself answers as the program expects

    run.py INTACT [--all] [NAME...]   --all: both compilers, -O0 and -O2, 20 seeds;
                                      else a rotating sample and 3 seeds

The bug must be found within 1,000 schedules with every seed, and by --exhaustive; nothing on the
fixed one, exhaustively where it is small.
"""
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
COMBOS = [(cc, opt) for cc in ("gcc", "clang") for opt in ("-O0", "-O2")]
TITLES = {"assertion": "FAILED ASSERTION", "deadlock": "DEADLOCK", "lost-wakeup": "LOST WAKE-UP", "crash": "CRASH",
          "abort": "ABORT", "exit": "FAILURE", "atomicity": "NOT ATOMIC", "misuse": "MISUSE", "endless": "ENDLESS LOOP", "race": "data race",
          "none": "no violation"}


def expectation(path):
    want = {"refuses": None, "find": "none", "says": [], "option": [], "flags": [], "rare": False, "large": False, "sampled": False,
            "watched": False}
    for line in re.findall(r"explore: ([^*\n]*)", open(path).read()):
        word, _, rest = line.strip().partition(" ")
        if word == "find":
            want["find"] = rest.strip()
        elif word == "refuses":
            want["refuses"] = rest.strip()
        elif word == "says":
            want["says"].append(rest.strip())
        elif word in ("option", "flags"):
            want[word] += rest.split()
        elif word in ("rare", "large", "sampled", "watched"):
            want[word] = True
        else:
            sys.exit("run.py: %s: unknown line 'explore: %s'" % (path, line))
    return want


def build(intact, path, combo, fixed, want, tmp):
    cc, opt = combo
    cxx = path.endswith(".cc")
    exe = os.path.join(tmp, "fixed" if fixed else "bug")
    env = dict(os.environ, INTACT_CC=cc)
    cmd = [intact, "c++" if cxx else "cc", "-g", opt, path, *want["flags"], "-o", exe, "-pthread"]
    if fixed:
        cmd.insert(2, "-DFIXED")
    r = subprocess.run(cmd, capture_output=True, text=True, env=env)
    return (exe, None) if r.returncode == 0 else (None, "does not compile: " + r.stderr[-300:])


def without_count(option):
    return option[2:] if option[:1] == ["-n"] else option


def explore(intact, exe, options, seconds=30):
    r = subprocess.run([intact, "explore", *options, "--", exe], capture_output=True, text=True, timeout=seconds)
    return r.returncode, r.stdout, r.stderr


def wrong(want_kind, says, got):
    rc, out, err = got
    if rc != (0 if want_kind == "none" else 1) or not out.startswith(TITLES[want_kind]):
        return "expected %s, exit status %d: %s%s" % (want_kind, rc, out[:200], err[:200])
    if want_kind != "race" and want_kind != "none" and "The schedule (" not in out:
        return "no schedule is shown"
    missing = [s for s in says if s not in out]
    return "the report lacks %r" % missing if missing else None


def replays(intact, exe, want, tmp):
    """A saved schedule fails the same way in all three ways of running."""
    if want["find"] in ("race", "endless"):
        return None
    saved = os.path.join(tmp, "schedule")
    explore(intact, exe, ([] if want["sampled"] else ["--exhaustive"]) + ["--save", saved, *want["option"]])
    option = without_count(want["option"])
    for way in ([], ["--fork"], ["--threads"]) * 3:
        bad = wrong(want["find"], want["says"], explore(intact, exe, ["--replay", saved, *way, *option]))
        if bad:
            return " ".join(way) + bad
    return None


def watched(intact, exe):
    """The same program in the real world: what the explorer answers in place of libc, libc answers too."""
    r = subprocess.run([intact, "run", exe], capture_output=True, text=True, timeout=60)
    return None if r.returncode == 0 and "WARNING" not in r.stderr else "watched: exit status %d: %s" % (r.returncode, r.stderr[:500])


def check(intact, path, combo, seeds):
    want = expectation(path)
    with tempfile.TemporaryDirectory(prefix="intact-explore-") as tmp:
        exe, bad = build(intact, path, combo, False, want, tmp)
        fixed, bad2 = build(intact, path, combo, True, want, tmp)
        if bad or bad2:
            return bad or bad2
        if want["refuses"]:
            for more in ([], ["--exhaustive"]):
                rc, out, err = explore(intact, exe, ["-n", "1000", *more, *want["option"]])
                if rc != 2 or want["refuses"] not in err or os.path.basename(path) + ":" not in err:
                    return "expected a refusal, exit status %d: %s%s" % (rc, out[:200], err[:300])
        elif not want["rare"]:
            for seed in range(1, seeds + 1):
                bad = wrong(want["find"], want["says"],
                            explore(intact, exe, ["-n", "1000", "--seed", str(seed), *want["option"]]))
                if bad:
                    return "seed %d: %s" % (seed, bad)
        bad = None if want["refuses"] or want["sampled"] else wrong(want["find"], want["says"],
                                                 explore(intact, exe, ["--exhaustive", *want["option"]]))
        if bad:
            return "--exhaustive: " + bad
        bad = None if want["refuses"] else replays(intact, exe, want, tmp)
        if bad:
            return "replay: " + bad
        bad = watched(intact, fixed) if want["watched"] else None
        bad = bad or wrong("none", [], explore(intact, fixed, ["-n", "1000", *want["option"]]))
        if not bad and not want["large"] and not want["sampled"]:
            got = explore(intact, fixed, ["--exhaustive", *want["option"]])
            bad = wrong("none", [], got) or (None if "traces explored" in got[1] else "not exhaustive: " + got[1])
        return "fixed: " + bad if bad else None


def main():
    args = [a for a in sys.argv[2:] if a != "--all"]
    intact, everything = os.path.abspath(sys.argv[1]), "--all" in sys.argv
    names = sorted(n for n in os.listdir(HERE) if n.endswith((".c", ".cc")) and (not args or n in args))
    cases = []
    for i, name in enumerate(names):
        for k, combo in enumerate(COMBOS):
            if everything or k == i % len(COMBOS):
                cases.append((name, combo))
    print("1..%d" % len(cases), flush=True)
    failed = False
    for i, (name, combo) in enumerate(cases, 1):
        try:
            bad = check(intact, os.path.join(HERE, name), combo, 20 if everything else 3)
        except subprocess.TimeoutExpired:
            bad = "does not end"
        failed |= bad is not None
        if bad:
            print("# " + bad.replace("\n", "\n# "))
        print("%s %d - %s %s %s" % ("not ok" if bad else "ok", i, name, *combo), flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
