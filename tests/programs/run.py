#!/usr/bin/env python3
"""Builds and runs the programs of this folder under intact and compares what
is found with what each program's first comment says:

    intact: none                       nothing is found
    intact: find NAME KIND             exactly this block; KIND is confirmed,
                                       predicted or any
    intact: tier2 LABEL -- why         what is found has this pattern: it is not shown, the last line counts it;
                                       with all=1 it is what `find` says
    intact: pattern TEXT               the pattern that the report names, and its variables
    intact: commits NAME...            the functions of the stack where it commits, innermost first
    intact: says TEXT                  the report has it
    intact: option KEY=VALUE           goes into INTACT_OPTIONS
    intact: miss COMPILER OPT          a known weakness: nothing is found there, and
                                       the day something is, this line must go

No report shows a line 0, or that something is <null>.

Lines marked @entered, @commit, @violation are where the report must point.

No expectation may depend on the schedule. The last run of each is made with
preload/jitter.c, which lets threads wait where they synchronise.

    run.py INTACT [--all] [--jitter N] [NAME...]
                                       --all: both compilers, -O0 and -O2, 20
                                       runs each; else a rotating sample
                                       --jitter: so many runs with it, seeds 1 to N
"""
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
COMBOS = [(cc, opt) for cc in ("gcc", "clang") for opt in ("-O0", "-O2")]
FULL = {"string_buffer.c", "string_buffer.cc", "lost_update.c", "lost_update.cc"}


def expectation(path):
    text = open(path).read()
    want = {"find": None, "options": [], "marks": {}, "misses": set(), "commits": None, "says": [], "tier2": None, "pattern": None}
    for line in re.findall(r"intact: ([^*\n]*)", text):
        words = line.split()
        if words[0] == "find":
            want["find"] = (words[1], words[2])
        elif words[0] == "commits":
            want["commits"] = words[1:]
        elif words[0] == "says":
            want["says"].append(" ".join(words[1:]))
        elif words[0] == "tier2":
            want["tier2"] = line[6:].split("--")[0].strip()
        elif words[0] == "pattern":
            want["pattern"] = line[8:].strip()
        elif words[0] == "option":
            want["options"].append(words[1])
        elif words[0] == "miss":
            want["misses"].add((words[1], words[2]))
    for no, line in enumerate(text.split("\n"), 1):
        for mark in re.findall(r"@(\w+)", line):
            want["marks"][mark] = no
    return want


def functions(part, title, above):
    """The functions of a stack; the end of it may be that of the one above."""
    stack = re.search(r"^  " + title + r".*\n((?:    #.*\n)+)", part, re.M)
    names = []
    for line in stack.group(1).splitlines() if stack else []:
        m = re.match(r"    #\d+ \.\.\. (\d+) frames as above, from (.*) on$", line)
        names += above[-int(m.group(1)):] if m else [line.split()[1]]
    return names


def parse(report):
    found = []
    for part in re.split(r"^WARNING: Intact: ", report, flags=re.M)[1:]:
        m = re.search(r"^  (?:block '.*' in )?(.*?)(?:\(.*\))?(?: const)? is not atomic \((\w+)", part, re.M)
        item = {"name": m.group(1), "kind": m.group(2)}
        for mark, title in (("entered", "Atomic block entered"), ("commit", "Atomic block commits"),
                            ("violation", "Atomicity violation at")):
            f = re.search(r"^  " + title + r".*\n    #0 (.*?) (\S+?):(\d+)", part, re.M)
            item[mark] = int(f.group(3)) if f else None
        item["commits"] = functions(part, "Atomic block commits", functions(part, "Atomic block entered", []))
        item["text"] = part
        item["summary"] = re.search(r"^SUMMARY: Intact: atomicity violation \S+:\d+ in ", part, re.M)
        found.append(item)
    return found


def compare(want, found, code):
    for f in found:
        nowhere = re.search(r"^    #.*(?::0\b|<null>).*|^SUMMARY.*:0 in .*|.*\((?:made|first taken) in .*:0\).*", f["text"], re.M)
        if nowhere:
            return "a place that is none: " + nowhere.group(0)
    if want["find"] is None:
        if found:
            return "found %s" % ", ".join(f["name"] for f in found)
        return None if code == 0 else "exit status %d" % code
    name, kind = want["find"]
    if [f["name"] for f in found] != [name]:
        return "found %s, expected %s" % ([f["name"] for f in found], name)
    if code != 66:
        return "exit status %d, expected 66" % code
    f = found[0]
    if kind != "any" and f["kind"] != kind:
        return "%s, expected %s" % (f["kind"], kind)
    for mark, line in want["marks"].items():
        slack = (line, line - 1) if mark == "entered" else (line,)
        if f[mark] not in slack:
            return "%s at line %s, expected %d" % (mark, f[mark], line)
    named = re.search(r"^  Pattern: (.*)", f["text"], re.M)
    if want["pattern"] and (not named or named.group(1) != want["pattern"]):
        return "pattern %s, expected %s" % (named and named.group(1), want["pattern"])
    for text in want["says"]:
        if text not in f["text"]:
            return "does not say: " + text
    if want["commits"] and f["commits"] != want["commits"]:
        return "commits through %s, expected %s" % (f["commits"], want["commits"])
    return None if f["summary"] else "no summary"


def hidden(want, report, code):
    """What is in tier 2 is counted, and is no reason to fail."""
    if parse(report):
        return "tier 2 is shown"
    if not re.search(r"^Intact: 1 function is not shown: 1 %s \(--all shows them\)$" % want["tier2"], report, re.M):
        return "tier 2 is not counted as %s" % want["tier2"]
    return None if code == 0 else "exit status %d" % code


def build_jitter(tmp):
    lib = os.path.join(tmp, "jitter.so")
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror",
                    os.path.join(HERE, "preload", "jitter.c"), "-o", lib, "-ldl", "-lpthread"], check=True)
    return lib


def one(intact, path, cc, opt, runs, jitter, tmp):
    """jitter: the library, and seeds to run with it"""
    want = expectation(path)
    if (cc, opt) in want["misses"]:
        want["find"] = None
    exe = os.path.join(tmp, os.path.basename(path) + "." + cc + opt)
    env = dict(os.environ, INTACT_CC=cc)
    tool = "c++" if path.endswith(".cc") else "cc"
    std = "-std=c++17" if tool == "c++" else "-std=gnu11"
    build = subprocess.run([intact, tool, std, "-Wall", "-Wextra", "-Werror", opt, path, "-o", exe],
                           env=env, capture_output=True, text=True)
    if build.returncode:
        return "does not build: " + build.stderr[-800:]
    env["INTACT_OPTIONS"] = ":".join(want["options"])
    if want["tier2"] and want["find"]:
        r = subprocess.run([intact, "run", exe], env=env, capture_output=True, text=True, timeout=120)
        bad = hidden(want, r.stderr, r.returncode)
        if bad:
            return "%s\n%s" % (bad, r.stderr[-3000:])
        env["INTACT_OPTIONS"] = ":".join(want["options"] + ["all=1"])
    for i in range(runs + len(jitter[1])):
        cmd = [intact, "run", exe] if i % 2 == 0 or i >= runs else [exe]
        if i >= runs:
            env.update(INTACT_JITTER=str(jitter[1][i - runs]), LD_PRELOAD=jitter[0])
        try:
            r = subprocess.run(cmd, env=env, capture_output=True, text=True, timeout=120)
        except subprocess.TimeoutExpired:
            return "hangs"
        bad = compare(want, parse(r.stderr), r.returncode if path.find("fork_child") < 0 or cmd[0] == intact
                      else (66 if "WARNING" in r.stderr else r.returncode))
        if bad:
            return "run %d (%s): %s\n%s" % (i, " ".join(cmd), bad, r.stderr[-3000:])
    os.unlink(exe)
    return None


def main():
    intact = os.path.abspath(sys.argv[1])
    rest = sys.argv[2:]
    everything = "--all" in rest or os.environ.get("INTACT_SOAK")
    seeds = 0
    if "--jitter" in rest:
        at = rest.index("--jitter")
        seeds = int(rest[at + 1])
        del rest[at:at + 2]
    names = [a for a in rest if not a.startswith("--")]
    files = sorted(f for f in os.listdir(HERE) if f.endswith((".c", ".cc")))
    if names:
        files = [f for f in files if any(n in f for n in names)]
    plan = []
    for i, f in enumerate(files):
        for k, (cc, opt) in enumerate(COMBOS):
            if everything or names or f in FULL or i % 4 == k:
                plan.append((f, cc, opt))
    bad = 0
    with tempfile.TemporaryDirectory(prefix="intact-programs-") as tmp:
        print("1..%d" % len(plan))
        lib = build_jitter(tmp)
        for n, (f, cc, opt) in enumerate(plan, 1):
            jitter = range(1, seeds + 1) if seeds else range(1, 7) if everything else [n % 6 + 1]
            why = one(intact, os.path.join(HERE, f), cc, opt, 20 if everything else 2, (lib, jitter), tmp)
            print("%s %d - %s %s %s" % ("not ok" if why else "ok", n, f, cc, opt), flush=True)
            if why:
                bad += 1
                print("\n".join("# " + l for l in why.split("\n")), flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
