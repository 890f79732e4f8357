#!/usr/bin/env python3
"""Each program of tests/programs is run once, watched and recorded in the same
run; what `intact trace` finds in the recording must be what the run reported,
letter by letter. Then the ways a recording can go wrong.

    run.py INTACT [--all] [NAME...]  --all: both compilers, -O0 and -O2, 10
                                        runs each; else a rotating sample
"""
import importlib.util
import os
import re
import signal
import subprocess
import sys
import tempfile
import time


def load_suite():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "programs", "run.py")
    spec = importlib.util.spec_from_file_location("programs_suite", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


suite = load_suite()

HERE = suite.HERE
results = []


def say(name, why):
    results.append(why)
    print("%s %d - %s" % ("not ok" if why else "ok", len(results), name), flush=True)
    if why:
        print("\n".join("# " + l for l in why.split("\n")), flush=True)


def sh(cmd, env=None, **kw):
    return subprocess.run(cmd, env=env, capture_output=True, text=True, errors="replace", timeout=180, **kw)


def build(intact, path, exe, cc, opt):
    tool = "c++" if path.endswith(".cc") else "cc"
    std = "-std=c++17" if tool == "c++" else "-std=gnu11"
    b = sh([intact, tool, std, "-Wall", opt, path, "-o", exe], dict(os.environ, INTACT_CC=cc))
    return "does not build: " + b.stderr[-800:] if b.returncode else None


def findings(text):
    """The reports alone: from the first bar to the closing lines."""
    lines = [l for l in text.split("\n") if not l.startswith("intact:")]
    first = next((i for i, l in enumerate(lines) if l == "=" * 18), None)
    return "\n".join(lines[first:]).strip() if first is not None else ""


def same(intact, cmd, options, tmp):
    """None when run and recording agree."""
    trace = os.path.join(tmp, "t.itr")
    env = dict(os.environ, INTACT_OPTIONS=":".join(options))
    r = sh([intact, "run", "--record", trace] + cmd, env)
    t = sh([intact, "trace", trace], env)
    online, offline = findings(r.stderr), findings(t.stdout)
    if "damaged" in t.stderr or t.returncode not in (0, 1):
        return "trace: exit %d: %s" % (t.returncode, t.stderr)
    if online != offline:
        return "run:\n%s\ntrace:\n%s" % (online, offline)
    confirmed = re.search(r"\((\d+) confirmed\)", online)
    if t.returncode != (1 if confirmed and int(confirmed.group(1)) else 0) and "not serializable" not in t.stdout:
        return "trace: exit %d" % t.returncode
    if (r.returncode == 66) != bool(online):
        return "run: exit %d" % r.returncode
    return None


def equal_findings(intact, names, everything, tmp):
    files = sorted(f for f in os.listdir(HERE) if f.endswith((".c", ".cc")))
    if names:
        files = [f for f in files if any(n in f for n in names)]
    for i, f in enumerate(files):
        for k, (cc, opt) in enumerate(suite.COMBOS):
            if not (everything or i % 4 == k):
                continue
            exe = os.path.join(tmp, "prog")
            why = build(intact, os.path.join(HERE, f), exe, cc, opt)
            options = suite.expectation(os.path.join(HERE, f))["options"]
            for _ in range(10 if everything else 1):
                why = why or same(intact, [exe], options, tmp)
            say("%s %s %s: run = trace" % (f, cc, opt), why)


def storms(intact, everything, tmp):
    """Everything at once, random; also what is not shown otherwise."""
    exe = os.path.join(tmp, "storm")
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "storm.c")
    for cc, opt in suite.COMBOS if everything else [("gcc", "-O1")]:
        why = build(intact, source, exe, cc, opt)
        for seed in range(1, 51 if everything else 5):
            say("storm %d %s %s: run = trace" % (seed, cc, opt), why or same(
                intact, [exe, str(seed), str(1 + seed % 9), "20000" if everything else "1500"],
                ["strict=1", "report_loops=1"], tmp))


def main():
    intact = os.path.abspath(sys.argv[1])
    rest = sys.argv[2:]
    everything = "--all" in rest or bool(os.environ.get("INTACT_SOAK"))
    names = [a for a in rest if not a.startswith("--")]
    with tempfile.TemporaryDirectory(prefix="intact-record-") as tmp:
        equal_findings(intact, names, everything, tmp)
        if not names:
            storms(intact, everything, tmp)
    print("1..%d" % len(results))
    return 1 if any(results) else 0


if __name__ == "__main__":
    sys.exit(main())
