#!/usr/bin/env python3
"""`intact explore --memory=tso` on programs and object tests: what is right under sequential consistency and wrong on x86.

    tso.py INTACT ROOT [--all]      --all: both compilers for everything; else they take turns
"""
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
INTACT, ROOT = os.path.abspath(sys.argv[1]), sys.argv[2]
ALL = "--all" in sys.argv
COMPILERS = ("gcc", "clang")
tmp = tempfile.TemporaryDirectory(prefix="intact-tso-")
done = [0, 0]

# examples/memory: what is found in the broken one, options
EXAMPLES = {
    "dekker": ("assertion", []),
    "peterson-lock": ("linearizability race", ["--shape", "2x1"]),
    "chase-lev-fence": ("linearizability", []),
    "hazard-pointer-fence": ("misuse race", []),
}


def test(name, bad):
    done[0] += 1
    done[1] += bad is not None
    if bad:
        print("# " + str(bad).replace("\n", "\n# "))
    print("%s %d - %s" % ("not ok" if bad else "ok", done[0], name), flush=True)


def build(path, cc, *flags):
    exe = os.path.join(tmp.name, "%s-%s%s" % (os.path.basename(path)[:-2], cc, "".join(flags)))
    if not os.path.exists(exe):
        subprocess.run([INTACT, "cc", "-g", "-O1", *flags, path, "-o", exe, "-pthread"], check=True,
                       env=dict(os.environ, INTACT_CC=cc))
    return exe


def run(*args):
    r = subprocess.run([INTACT, "explore", *args], capture_output=True, text=True, timeout=600)
    return r.returncode, r.stdout, r.stderr


def explore(*args):
    rc, out, err = run("--json=-", *args)
    try:
        return rc, json.loads(out), err
    except ValueError:
        return rc, None, err


def holds(memory, exe, *options):
    rc, doc, err = explore("--exhaustive", "--memory=" + memory, *options, "--", exe)
    if rc != 0 or not doc["exhaustive"] or doc["results"]:
        return "%s: exit status %d %s %s" % (memory, rc, err[-300:], doc and [x.get("sentence") for x in doc["results"]])
    if (doc.get("memory") == "tso") != (memory == "tso") or bool(doc.get("memory_not_covered")) != (memory == "tso"):
        return "the document does not say what memory was: %r" % doc.get("memory")
    return None


def fails(kinds, exe, *options):
    rc, doc, err = explore("--memory=tso", *options, "--", exe)
    if rc != 1 or doc["results"][0]["kind"] not in kinds.split():
        return "%s: exit status %d %s %s" % (options, rc, err[-300:], doc and [x["kind"] for x in doc["results"]])
    steps = doc["results"][0].get("steps", [])
    if not any(s["op"] == "buffer" and "buffered" in s["text"] for s in steps):
        return "%s: no step says that a store is buffered" % (options,)
    names = {t["name"] if isinstance(t, dict) else t for t in doc["results"][0].get("threads", [])}
    return None if len(names) <= 3 else "the buffers are told as threads: %r" % names


def example(name, cc):
    kinds, options = EXAMPLES[name]
    path = os.path.join(ROOT, "examples", "memory", name + ".c")
    right, broken = build(path, cc), build(path, cc, "-DBROKEN")
    saved = os.path.join(tmp.name, "schedule")
    bad = holds("sc", broken, *options) or holds("tso", right, *options) or fails(kinds, broken, "--exhaustive", *options)
    bad = bad or fails(kinds, broken, "--save", saved, *options)
    if bad:
        return bad
    for way in ([], ["--fork"], ["--threads"]):
        rc, doc, err = explore("--replay", saved, *way)
        if rc != 1 or doc["results"][0]["kind"] not in kinds.split() or doc["memory"] != "tso":
            return "replay %s: exit status %d: %s" % (way, rc, err[-300:])
    return None


def strategies(cc):
    exe = build(os.path.join(ROOT, "examples", "memory", "dekker.c"), cc, "-DBROKEN")
    for options in (["--strategy", "pos"], ["--strategy", "pct"], ["--strategy", "random"], ["--strategy", "delay"],
                    ["--strategy", "preempt"], ["-j", "2"], ["--exhaustive", "-j", "2"], ["--fork"], ["--exhaustive", "--fork"]):
        bad = fails("assertion", exe, *options)
        if bad:
            return bad
    return None


def pair(name, kinds, cc):
    path = os.path.join(HERE, name + ".c")
    return fails(kinds, build(path, cc), "--exhaustive") or holds("tso", build(path, cc, "-DFIXED"))


def full(cc):
    exe = build(os.path.join(HERE, "buffer_full.c"), cc)
    rc, doc, err = explore("--memory=tso", "--exhaustive", "--", exe, "8")
    if rc != 1:
        return "8 stores: exit status %d %s" % (rc, err)
    rc, doc, err = explore("--memory=tso", "--exhaustive", "--", exe, "9")
    if rc != 0 or doc["exhaustive"] or not doc["bounded"] or not doc["store_buffers_full"] or doc["store_buffer_entries"] != 8:
        return "9 stores: exit status %d %r" % (rc, doc)
    rc, out, err = run("--memory=tso", "--exhaustive", "--", exe, "9")
    if "a store buffer was full: behaviour with more than 8 stores in a buffer was not explored" not in out or "all " in out.split("\n")[0]:
        return out
    return None


def report(cc):
    """What a user reads."""
    exe = build(os.path.join(ROOT, "examples", "memory", "dekker.c"), cc, "-DBROKEN")
    rc, out, err = run("--memory=tso", "--exhaustive", "--", exe)
    for want in ("flag[0] = 1, buffered", "flag[0] = 1 reaches memory", "T1 thread", "T2 thread", "memory: TSO, as on x86",
                 "not covered: loads reordered with other loads or with later stores, "):
        if want not in out:
            return "%r is missing:\n%s" % (want, out)
    return "T3" in out and out or None


def usage():
    saved = os.path.join(tmp.name, "schedule")
    for args, want in ((["--memory=tso", "--replay", saved], "--memory cannot be given"),
                       (["--memory=tso", "--confirm", "x.json", "--", "true"], "cannot be combined with --memory=tso"),
                       (["--memory=pso", "--", "true"], "sc")):
        rc, out, err = run(*args)
        if rc != 2 or want not in err:
            return "%s: exit status %d: %s" % (args, rc, err)
    text = open(saved).read()
    with open(saved + "2", "w") as f:
        f.write(text.replace('"memory" "tso"', '"memory" "arm"'))
    rc, out, err = run("--replay", saved + "2")
    return None if rc == 2 and "neither" in err else "a schedule of another memory: %d %s" % (rc, err)


def main():
    for i, name in enumerate(sorted(EXAMPLES)):
        for k, cc in enumerate(COMPILERS):
            if ALL or k == i % 2:
                test("%s (%s)" % (name, cc), example(name, cc))
    for i, (name, check) in enumerate((
            ("every strategy finds it", strategies),
            ("a store that is in the buffer when its block is freed", lambda cc: pair("freed_buffered", "misuse", cc)),
            ("marked blocks", lambda cc: pair("block_of_stores", "atomicity", cc)),
            ("stacks, thread-local data and freed blocks", lambda cc: holds("tso", build(os.path.join(HERE, "own_memory.c"), cc))),
            ("a full buffer is said", full),
            ("the report", report))):
        for k, cc in enumerate(COMPILERS):
            if ALL or k == i % 2:
                test("%s (%s)" % (name, cc), check(cc))
    test("wrong usage", usage())
    print("1..%d" % done[0])
    return done[1] != 0


if __name__ == "__main__":
    sys.exit(main())
