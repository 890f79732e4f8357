#!/usr/bin/env python3
"""A block asked about alone: the other blocks' marks are as if absent.

Random models, each asked about one of its blocks as it is and with the other marks taken out of its text. Every
engine must say the same of both, and a run that is found in the first must be one of the model: `intact verify`
accepts it, and `intact sim` replays it.

Usage: test_marks.py INTACT [COUNT [SEED]]      (TAP on stdout; COUNT 150)
"""
import json
import os
import random
import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cli"))
from tap import check, done, run  # noqa: E402

intact = str(Path(sys.argv[1]).resolve())
count = int(sys.argv[2]) if len(sys.argv) > 2 else int(os.environ.get("MARKS_COUNT", "150"))
seed0 = int(sys.argv[3]) if len(sys.argv) > 3 else 1
tmp = tempfile.TemporaryDirectory()


def expr(r):
    return r.choice(["0", "1", "2", "t", "u", "x", "y", "t", "x"])


def stmt(r, depth, inside):
    k = r.randrange(14)
    if k < 4:
        return f"{r.choice('xy')} = {expr(r)};"
    if k < 7:
        return f"{r.choice('tu')} = {expr(r)};"
    if k == 7:
        return f"{r.choice('tu')} = {r.choice('xy')};"
    if k == 8:
        return f"f = cas({r.choice('xy')}, {r.choice('01t')}, {r.choice('12u')});"
    if k == 9 and depth < 2:
        return f"if ({r.choice(['f', 't == 1', 'x == 1', 'u == t'])}) {{ {body(r, depth + 1, inside, 2)} }}"
    if k == 10:
        return f"{r.choice('tu')} = any(0..{r.choice('12')});"
    if k == 11 and depth < 2:
        return f"either {{ {body(r, depth + 1, inside, 1)} }} or {{ {body(r, depth + 1, inside, 1)} }}"
    if k == 12 and depth < 2:
        return f"repeat (2) {{ {body(r, depth + 1, inside, 2)} }}"
    if k == 13 and r.randrange(3) == 0:
        return f"assume({r.choice(['f', 't != 1', 'y != 2'])});"
    return f"{r.choice('xy')} = {r.choice('012')};"


def body(r, depth, inside, most):
    out = []
    for _ in range(r.randint(1, most)):
        if not inside and r.randrange(3) == 0:
            body.blocks += 1
            name = f"b{body.blocks}"
            commit = "commit; " if r.randrange(6) == 0 else ""
            out.append(f"atomic {name} {{ {body(r, depth + 1, True, 3)} {commit}}}")
        else:
            out.append(stmt(r, depth, inside))
    return " ".join(out)


def model(r):
    while True:
        body.blocks = 0
        text = "int[0..2] x, y;\n"
        for i in range(r.choice([2, 2, 3])):
            text += f"thread p{i} {{ bool f; int[0..2] t, u; {body(r, 0, False, 3)} }}\n"
        if 2 <= body.blocks <= 4:
            return text, body.blocks


def without_marks(text, keep):
    """The other blocks as plain braces, their commits gone."""
    out, at = "", 0
    for m in re.finditer(r"atomic (b\d+) \{", text):
        out += text[at:m.start()]
        at = m.end()
        if m[1] == keep:
            out += m[0]
            continue
        depth, end = 1, m.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        out += "{" + text[m.end():end].replace("commit; ", "")
        at = end
    return out + text[at:]


def answers(path, block, engine):
    rc, out, err = run([intact, "check", "-q", "--max-states=20000", f"--engine={engine}", "--block", block, "--json=-", path])
    if rc not in (0, 1, 3):
        return f"exit {rc}: {err}", None
    doc = json.loads(out)
    mine = [r for r in doc["results"] if r["block"]]
    said = [(r["block"], r["verdict"], r["problem"], [(a["engine"], a["verdict"]) for a in r.get("attempts", [])]) for r in mine]
    return said, doc


differ, refuted, kinds, runs = [], [], {}, 0
for n in range(count):
    r = random.Random(seed0 * 1000003 + n)
    text, blocks = model(r)
    whole, alone = Path(tmp.name) / "whole.atm", Path(tmp.name) / "alone.atm"
    keep = f"b{r.randint(1, blocks)}"
    whole.write_text(text)
    alone.write_text(without_marks(text, keep))
    for engine in ("auto", "all", "cover", "unfold"):
        a, doc = answers(whole, keep, engine)
        b, _ = answers(alone, keep, engine)
        if a != b:
            differ.append(f"seed {seed0}, model {n}, --engine={engine} --block {keep}: {a}, but {b} in the model without the other marks\n{text}")
        if not doc or engine in ("cover", "unfold"):
            continue
        for one in doc["results"]:
            kinds[one["verdict"]] = kinds.get(one["verdict"], 0) + 1
        for one in (x for x in doc["results"] if "counterexample" in x and x["block"]):
            runs += 1
            rc, out, err = run([intact, "sim", "-q", whole, "--schedule", one["counterexample"]["schedule"]])
            vrc, vout, verr = run([intact, "verify", "-", whole], stdin=json.dumps(doc))
            if rc not in (0, 1) or f"accepted: {one['block']}:" not in vout:
                refuted.append(f"seed {seed0}, model {n}, --block {keep}:\n{err}{vout}{verr}\n{text}")
check(f"{count} models: every engine says the same without the other blocks' marks (seed {seed0})", not differ, "\n".join(differ[:3]))
check("the runs found are runs of the model, and verify accepts them", not refuted, "\n".join(refuted[:3]))
check("some blocks are atomic and some are not", kinds.get("holds", 0) > count // 8 and runs > count // 20, f"{kinds} {runs}")
example = Path(tmp.name) / "example.atm"
example.write_text("int[0..2] x;\nthread p0 { atomic b0 { x = 2; x = 1; } }\n"
                   "thread p1 { bool t; atomic b3 { t = cas(x, 0, 1); x = 0; } if (t) { } }\n")
rc, out, err = run([intact, "check", "-q", "--block", "b0", example])
check("an ignored boundary is no step", rc == 0 and "atomic" in out, out + err)
# t is known within a step, and forgotten where another block begins: an abstraction must not see that boundary either
example.write_text("int x;\nint y;\nthread a { atomic b { x = 1; x = 2; } }\n"
                   "thread c { int t; y = 1; t = 1000000; atomic other { if (t == 7) { x = x + 1; } } }\n")
for engine in ("cover", "unfold", "causal"):
    rc, out, err = run([intact, "check", "-q", f"--engine={engine}", "--block", "b", example])
    check(f"--engine={engine}: nor does it make a value unknown", rc == 0 and "causally atomic" in out, out + err)
# t is read only to compute what nobody reads: it tells no two states apart
faint = "int[0..2] x, y;\nthread a { int[0..2] t, u; t = x; y = 1; %s }\nthread b { x = 1; x = 2; }\n"
counts = []
for last in ("u = t; y = 2;", "u = 2 - t; y = 2;", "u = 0; y = 2;", "y = t;"):
    example.write_text(faint % last)
    text = run([intact, "check", "-q", "--faults", "--stats", "--no-reduce=transactions", example])[1]
    counts.append(int(re.search(r"([\d,]+) states", text)[1].replace(",", "")))
check("a local read only for what is never used is dead", counts[0] == counts[1] == counts[2] < counts[3], str(counts))
done()
