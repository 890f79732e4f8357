#!/usr/bin/env python3
"""Builds and runs the programs of this folder under `intact run` and compares the data races that are found with what
each program's first comment says:

    intact: race NAME,...              a race is found, and each is about one of these variables; 'heap': about memory without a name
    intact: locks KIND                 a finding about locks, of this kind
    intact: miss COMPILER OPT -- why   a known weakness: nothing is found there, and the day something is, this line must go

Each place of each race is in a line marked @race. The twin, built with -DFIXED, has no finding, and so has each of them
from its recording (`intact trace`), which must say what the run said.

    run.py INTACT [--all] [--peers] [--only=COMPILER-OPT] [NAME...]
                             --all: both compilers, -O0 and -O2, 5 runs each; else a sample, each once
                             --peers: beside clang's ThreadSanitizer and, where it is there, Helgrind: a table. Fails
                             when ThreadSanitizer reports a program that we do not
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
COMBOS = [(cc, opt) for cc in ("gcc", "clang") for opt in ("-O0", "-O2")]


def expectation(path):
    text = open(path).read()
    what, rest = re.search(r"intact: (race|locks) ([^*\n]*)", text).groups()
    want = {"only": "races" if what == "race" else "locks", "kind": "data race" if what == "race" else rest.strip(),
            "names": rest.strip().split(",") if what == "race" else ["heap"], "lines": set(), "misses": set()}
    for words in re.findall(r"intact: miss (\S+) (\S+)", text):
        want["misses"].add(words)
    for no, line in enumerate(text.split("\n"), 1):
        if "@race" in line:  # or where a lock is taken or released
            want["lines"].add(no)
    return want


def build(tool, path, cc, opt, fixed, exe):
    std = "-std=c++17" if path.endswith(".cc") else "-std=gnu11"
    extra = ["-DFIXED"] if fixed else []
    cmd = tool + [std, "-g", "-Wall", "-Wextra", "-Wno-unused-value", "-Wno-unused-but-set-variable", opt, path, "-o", exe, "-pthread"] + extra
    b = subprocess.run(cmd, env=dict(os.environ, INTACT_CC=cc), capture_output=True, text=True)
    return "does not build: " + b.stderr[-800:] if b.returncode else None


def places(result, base):
    """The line of each access: of the innermost frame in this file."""
    out = []
    for a in result["accesses"]:
        own = [f for f in a["stack"] if os.path.basename(f.get("file", "")) == base]
        out.append(own[0].get("line", 0) if own else 0)
    return out


def judge(want, doc, code, fixed, base):
    found = doc["results"]
    if any(r.get("kind") != want["kind"] for r in found):
        return "other findings: %s" % [r.get("kind", r["block"]) for r in found]
    if fixed:
        return "found %s" % [places(r, base) for r in found] if found else None if code == 0 else "exit status %d" % code
    if not found:
        return "nothing is found"
    if code != 66:
        return "exit status %d" % code
    for r in found:
        for line in places(r, base):
            if line not in want["lines"]:
                return "a place at line %d, which is not marked" % line
        for a in r["accesses"]:
            if "free" not in a["what"] and not any(n == "heap" or "'%s'" % n in a["what"] or ".%s'" % n in a["what"]
                                                  for n in want["names"]):
                return "is about %s" % a["what"]
    return None


def same(a, b, base):
    key = lambda d: sorted((r.get("kind", ""), r["block"], sorted(places(r, base))) for r in d["results"] if r.get("accesses"))
    return key(a) == key(b)


def document(cmd, tmp, env=None):
    out = os.path.join(tmp, "out.json")
    if os.path.exists(out):
        os.unlink(out)
    try:
        r = subprocess.run(cmd[:2] + ["--json=" + out] + cmd[2:], capture_output=True, text=True, timeout=60, env=env)
    except subprocess.TimeoutExpired:
        return None, -1, "hangs"
    if not os.path.exists(out):
        return None, r.returncode, r.stderr[-1500:]
    return json.load(open(out)), r.returncode, r.stderr


def one(intact, name, cc, opt, fixed, runs, tmp):
    path = os.path.join(HERE, name)
    want = expectation(path)
    exe = os.path.join(tmp, "p")
    tool = [intact, "c++" if name.endswith(".cc") else "cc"]
    why = build(tool, path, cc, opt, fixed, exe)
    if why:
        return why
    for i in range(runs):
        trace = os.path.join(tmp, "t.itr")
        rec = ["--record=" + trace] if i == 0 else []
        doc, code, text = document([intact, "run", "--only=" + want["only"]] + rec + [exe], tmp)
        if not doc:
            return text
        if (cc, opt) in want["misses"] and not fixed:
            why = "is found: the line 'miss' must go" if doc["results"] else None
        else:
            why = judge(want, doc, code, fixed, name)
        if why:
            return "%s\n%s" % (why, text[-3000:])
        if rec:
            again, code, text = document([intact, "trace", trace], tmp, dict(os.environ, INTACT_OPTIONS="only=" + want["only"]))
            if not again:
                return "the recording: " + text
            if not same(doc, again["results"][0]["run"], name):
                return "the recording says something else\n%s" % text[-3000:]
    return None


def peer(cmd, exe, tmp, pattern):
    """Does it report a race? None: it hangs."""
    try:
        r = subprocess.run(cmd + [exe], capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        return None
    return bool(re.search(pattern, r.stdout + r.stderr))


def peers(intact, files, tmp):
    helgrind = shutil.which("valgrind")
    count = {}
    bad = 0
    for name in files:
        path = os.path.join(HERE, name)
        if expectation(path)["only"] != "races":
            continue
        for fixed in (False, True):
            ours = os.path.join(tmp, "ours")
            theirs = os.path.join(tmp, "theirs")
            plain = os.path.join(tmp, "plain")
            cxx = name.endswith(".cc")
            for tool, exe in (([intact, "c++" if cxx else "cc"], ours), (["clang++" if cxx else "clang", "-fsanitize=thread"], theirs),
                              (["g++" if cxx else "gcc"], plain)):
                why = build(tool, path, "clang", "-O1", fixed, exe)
                if why:
                    print("# %s: %s" % (name, why))
            doc, _, _ = document([intact, "run", "--only=races", ours], tmp)
            seen = {"intact": bool(doc and doc["results"]),
                    "tsan": peer([], theirs, tmp, "WARNING: ThreadSanitizer: (data race|heap-use-after-free)")}
            if helgrind:
                seen["helgrind"] = peer(["valgrind", "--tool=helgrind"], plain, tmp, "Possible data race")
            for k, v in seen.items():
                key = (k, fixed)
                count.setdefault(key, [0, 0])
                count[key][0] += bool(v)
                count[key][1] += v is None
            if bool(seen["tsan"]) and not seen["intact"] and not fixed:
                bad += 1
                print("not ok - %s: ThreadSanitizer reports it, we do not" % name)
            if seen["intact"] == fixed or any(v == fixed for v in seen.values()):
                print("# %-28s %-5s %s" % (name, "fixed" if fixed else "race",
                                           ", ".join("%s %s" % (k, {True: "reports", False: "silent", None: "hangs"}[v]) for k, v in seen.items())))
    print("\n%d programs\n| tool | races reported | twins reported | did not end |\n|---|---|---|---|" % len(files))
    for k in ("intact", "tsan", "helgrind"):
        if (k, False) in count:
            print("| %s | %d | %d | %d |" % (k, count[k, False][0], count[k, True][0], count[k, False][1] + count[k, True][1]))
    return 1 if bad else 0


def main():
    intact = os.path.abspath(sys.argv[1])
    rest = sys.argv[2:]
    everything = "--all" in rest or os.environ.get("INTACT_SOAK")
    names = [a for a in rest if not a.startswith("--")]
    files = sorted(f for f in os.listdir(HERE) if f.endswith((".c", ".cc")))
    if names:
        files = [f for f in files if any(n in f for n in names)]
    combos = [a[7:].split("-") for a in rest if a.startswith("--only=")]
    bad = 0
    with tempfile.TemporaryDirectory(prefix="intact-races-") as tmp:
        if "--peers" in rest:
            return peers(intact, files, tmp)
        plan = []
        for i, f in enumerate(files):
            for k, (cc, opt) in enumerate(COMBOS):
                if combos and [cc, opt[1:]] not in combos:
                    continue
                if everything or names or combos or i % (32 if f.endswith(".cc") else 12) == 2 * k:
                    plan += [(f, cc, opt, False), (f, cc, opt, True)]
        print("1..%d" % len(plan))
        for n, (f, cc, opt, fixed) in enumerate(plan, 1):
            why = one(intact, f, cc, opt, fixed, 5 if everything else 1, tmp)
            print("%s %d - %s %s %s%s" % ("not ok" if why else "ok", n, f, cc, opt, " fixed" if fixed else ""), flush=True)
            if why:
                bad += 1
                print("\n".join("# " + l for l in why.split("\n")), flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
