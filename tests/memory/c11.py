#!/usr/bin/env python3
"""`intact explore --memory=c11`: litmus programs against the axioms of RC11 (rc11.py), and lock-free objects with a missing release or acquire.

    c11.py INTACT ROOT [--random N] [--seed S] [--only litmus|examples]

Programs are in the language of litmus.c. The outcomes of all traces are those of the axioms, no more and no fewer. The model itself is held
to what the literature says of the classic tests (FORBIDDEN), and to RC11 with its own, weaker axiom for seq_cst."""
import argparse
import os
import random
import subprocess
import sys
import tempfile

import json

import litmus
import rc11

HERE = os.path.dirname(os.path.abspath(__file__))
COMPILERS = ("gcc", "clang")

# name, program, the outcome in question (what is read, then the last bytes of x, y, z; None: any), and whether RC11 allows it
CLASSIC = [
    ("SB relaxed", "Wx1r Ryr | Wy1r Rxr", "0,0,", True),
    ("SB release, acquire", "Wx1a Rya | Wy1a Rxa", "0,0,", True),
    ("SB seq_cst", "Wx1s Rys | Wy1s Rxs", "0,0,", False),
    ("SB seq_cst fences", "Wx1r Fs Ryr | Wy1r Fs Rxr", "0,0,", False),
    ("SB one fence", "Wx1r Fs Ryr | Wy1r Rxr", "0,0,", True),
    ("SB acq_rel fences", "Wx1r Fa Ryr | Wy1r Fa Rxr", "0,0,", True),
    ("MP relaxed", "Wx1r Wy1r | Ryr Rxr", "1,0,", True),
    ("MP release, acquire", "Wx1r Wy1a | Rya Rxr", "1,0,", False),
    ("MP no acquire", "Wx1r Wy1a | Ryr Rxr", "1,0,", True),
    ("MP no release", "Wx1r Wy1r | Rya Rxr", "1,0,", True),
    ("MP fences", "Wx1r Fa Wy1r | Ryr Fa Rxr", "1,0,", False),
    ("MP one fence", "Wx1r Fa Wy1r | Ryr Rxr", "1,0,", True),
    ("MP through an update", "Wx1r Wy1a | Xy2r | Rya Rxr", "1,2,0,", False),
    ("LB", "Rxr Wy1r | Ryr Wx1r", "1,1,", False),
    ("IRIW acquire", "Wx1a | Wy1a | Rxa Rya | Rya Rxa", "1,0,1,0,", True),
    ("IRIW seq_cst", "Wx1s | Wy1s | Rxs Rys | Rys Rxs", "1,0,1,0,", False),
    ("IRIW seq_cst fences", "Wx1r | Wy1r | Rxr Fs Ryr | Ryr Fs Rxr", "1,0,1,0,", False),
    ("R relaxed", "Wx1r Wy1r | Wy2r Rxr", "0,1,2", True),
    ("R seq_cst", "Wx1s Wy1s | Wy2s Rxs", "0,1,2", False),
    ("R fences", "Wx1r Fs Wy1r | Wy2r Fs Rxr", "0,1,2", False),
    ("S relaxed", "Wx2r Wy1r | Ryr Wx1r", "1,2,1", True),
    ("S release, acquire", "Wx2r Wy1a | Rya Wx1r", "1,2,1", False),
    ("2+2W release", "Wx1a Wy2a | Wy1a Wx2a", "1,1,", True),
    ("2+2W seq_cst", "Wx1s Wy2s | Wy1s Wx2s", "1,1,", False),
    ("2+2W fences", "Wx1r Fs Wy2r | Wy1r Fs Wx2r", "1,1,", False),
    ("CoRR", "Wx1r | Rxr Rxr", "1,0,", False),
    ("CoWR", "Wx1r Rxr | Wx2r", "0,", False),
    ("CoRW", "Rxr Wx1r | Wx2r", "1,", False),
    ("WRC relaxed", "Wx1r | Rxr Wy1r | Ryr Rxr", "1,1,0,", True),
    ("WRC release, acquire", "Wx1r | Rxa Wy1a | Rya Rxr", "1,1,0,", False),
    ("ISA2 release, acquire", "Wx1r Wy1a | Rya Wz1a | Rza Rxr", "1,1,0,", False),
    ("ISA2 relaxed in the middle", "Wx1r Wy1a | Ryr Wz1r | Rza Rxr", "1,1,0,", True),
    ("RWC seq_cst fences", "Wx1r | Rxa Fs Ryr | Wy1r Fs Rxr", "1,0,0,", False),
    ("updates are atomic", "Xx1r | Xx2r", "0,0,", False),
    ("compare-and-swap once", "Cx1r | Cx2r", "0,0,", False),
    ("a store that is not seq_cst between", "Wx1s Wx2r Rys | Wy1s Rxs", "0,0,", False),
]
# RC11 allows it; no order of the seq_cst fences agrees with po and rf, so it is not explored
CONTRARY = ("Wz1r Fs Wx1r | Rxr Wy1r | Ryr Fs Rzr", "1,1,0,")

# examples/memory: options
EXAMPLES = {
    "seqlock-orders": ["--shape", "2x1"],
    "treiber-orders": ["--shape", "2x1"],
    "ms-queue-orders": ["--shape", "2x1"],
    "spsc-ring-orders": ["--shape", "2x2"],
    "chase-lev-orders": ["--shape", "2x1"],
}
done = [0, 0]


def test(name, bad):
    done[0] += 1
    done[1] += bad is not None
    if bad:
        print("# " + str(bad).replace("\n", "\n# "))
    print("%s %d - %s" % ("not ok" if bad else "ok", done[0], name.replace("#", "")), flush=True)


def short(outcome):
    """'0101,0000,020100000000' as '1,0,2,1,0'."""
    *read, last = outcome.split(",")
    return ",".join([str(int(x[:2], 16)) for x in read] + [str(int(last[4 * i:4 * i + 2], 16)) for i in range(3)])


def compare(explorer, text, sampled=False):
    want = rc11.outcomes(text)
    assert want <= rc11.outcomes(text, ordered=False), "the axioms of %s" % text
    got = explorer.outcomes(text, "c11", sampled=sampled)
    if sampled and got and got <= want or got == want:
        return None
    return "%s\n  missing: %s\n  not allowed: %s" % (text, " ".join(map(short, sorted(want - got))) or "-",
                                                     " ".join(map(short, sorted(got - want))) or "-")


def random_program(rng):
    n = rng.choice((2, 2, 2, 3))
    threads = []
    for _ in range(n):
        ops = []
        for _ in range(rng.randint(2, 4) if n == 2 else rng.randint(1, 2)):
            at, order, value = rng.choice("xxxyyyz"), rng.choice("rrras"), rng.randint(1, 3)
            ops.append({"W": "W%s%d%s" % (at, value, order), "R": "R%s%s" % (at, order), "X": "X%s%d%s" % (at, value, order),
                        "C": "C%s%dr" % (at, value), "F": "F" + rng.choice("ass")}[rng.choice("WWWRRRRXCF")])
        threads.append(" ".join(ops))
    return " | ".join(threads)


def litmus_tests(a, where):
    for i, (name, text, outcome, allowed) in enumerate(CLASSIC):
        told = any(short(o).startswith(outcome) for o in rc11.outcomes(text))
        bad = None if told == allowed else "the axioms say of %s: %s" % (outcome, "allowed" if told else "forbidden")
        test("%s: %s" % (name, text), bad or compare(where[i % 2], text))
    text, outcome = CONTRARY
    weak = [short(o).startswith(outcome) for o in rc11.outcomes(text, ordered=False)]
    strong = [short(o).startswith(outcome) for o in rc11.outcomes(text)]
    test("seq_cst against po and rf", compare(where[0], text) if any(weak) and not any(strong) else "the axioms do not differ")
    rng = random.Random(a.seed)
    for i in range(a.random):
        text = random_program(rng)
        test("random, seed %d: %s" % (a.seed, text), compare(where[i % 2], text) or (compare(where[i % 2], text, True) if i % 4 == 0 else None))


def explore(intact, *args):
    r = subprocess.run([intact, "explore", "--json=-", *args], capture_output=True, text=True, timeout=900)
    return r.returncode, json.loads(r.stdout) if r.stdout.startswith("{") else None, r.stderr


def example(a, tmp, name, cc):
    exe = {}
    for flags in ((), ("-DBROKEN",)):
        exe[flags] = os.path.join(tmp, "%s%s%s" % (name, cc, "".join(flags)))
        subprocess.run([a.intact, "cc", "-g", "-O1", *flags, os.path.join(a.root, "examples/memory", name + ".c"), "-o", exe[flags], "-pthread"],
                       check=True, env=dict(os.environ, INTACT_CC=cc))
    for memory, flags in (("sc", ("-DBROKEN",)), ("tso", ("-DBROKEN",)), ("c11", ())):
        rc, doc, err = explore(a.intact, "--exhaustive", "--memory=" + memory, *EXAMPLES[name], "--", exe[flags])
        if rc != 0 or not doc["exhaustive"] or doc["results"]:
            return "%s under %s: exit status %d %s %s" % (flags, memory, rc, err[-300:], doc and [x.get("sentence") for x in doc["results"]])
        if memory == "c11" and (doc["memory"] != "c11" or not doc["memory_not_covered"] or not doc["older_stores_chosen"]):
            return "the document does not say what memory was: %r" % doc
    saved = os.path.join(tmp, "schedule")
    for options in (["--exhaustive"], ["--save", saved]):
        rc, doc, err = explore(a.intact, "--memory=c11", *options, *EXAMPLES[name], "--", exe[("-DBROKEN",)])
        if rc != 1 or doc["results"][0]["kind"] != "linearizability":
            return "the broken one, %s: exit status %d %s" % (options, rc, err[-300:])
        if not any("older store" in s["text"] for s in doc["results"][0]["steps"]):
            return "no step says that it reads an older store"
    for way in ([], ["--fork"], ["--threads"]):
        rc, doc, err = explore(a.intact, "--replay", saved, *way)
        if rc != 1 or doc["results"][0]["kind"] != "linearizability" or doc["memory"] != "c11":
            return "replay %s: exit status %d: %s" % (way, rc, err[-300:])
    return None


def main():
    p = argparse.ArgumentParser()
    p.add_argument("intact")
    p.add_argument("root")
    p.add_argument("--random", type=int, default=40)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--only", default="")
    a = p.parse_args()
    a.intact = os.path.abspath(a.intact)
    with tempfile.TemporaryDirectory(prefix="intact-c11-") as tmp:
        if a.only != "examples":
            explorers = []
            for cc in COMPILERS:
                program = os.path.join(tmp, "litmus-" + cc)
                subprocess.run([a.intact, "cc", "-O1", "-g", os.path.join(HERE, "litmus.c"), "-o", program, "-pthread"], check=True,
                               env=dict(os.environ, INTACT_CC=cc))
                explorers.append(litmus.Explorer(a.intact, program, tmp))
            litmus_tests(a, explorers)
        for i, name in enumerate(sorted(EXAMPLES) if a.only != "litmus" else ()):
            test(name, example(a, tmp, name, COMPILERS[i % 2]))
    print("1..%d" % done[0])
    return done[1] != 0


if __name__ == "__main__":
    sys.exit(main())
