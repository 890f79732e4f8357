#!/usr/bin/env python3
"""docs/ladder.md: which engine proves or refutes which block of which example.

    ladder-table.py PATH-OF-INTACT [--write]

Without --write the page goes to standard output. A test compares it with the file and holds the
two columns against each other: the ladder's answer is that of the cheapest engine that has one."""
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "ladder.md"
ENGINES = ["reduction", "causal", "commit", "exact"]

HEAD = """# The ladder on the examples

This page is made by `tools/ladder-table.py` from what `intact check` says of the files in `examples/`; a test compares the
two. *answered by* is the rung of the ladder that answered, with the number of threads a proof is for; the columns behind
it are what each engine says when it is asked alone (`--engine=all`), where a block is judged with the marks of the others
ignored: **yes** it proves it, **NO** it has a run that no serial order explains, *suspects* its abstract run is not the last
word, - it cannot tell.

A block *as a part* is atomic because the program, all blocks counting at once, is serializable; it is listed with the cheapest
argument for that.

Blocks that tell the rungs apart:

- `acquire1` and `acquire2` have the taking of the lock inside the block, as the commit-atomicity paper marks them. A waiting
  thread sees the lock come and go, so causality suspects them; once the boolean is recognised as a lock, whose failed tries
  change nothing, they reduce. Without that they need commit or exact.
- `acquire1-causal` and `acquire2-causal` mark the critical section alone, as the causal-atomicity paper does: causality suffices,
  and so does reduction.
- `dekker` has the flags, the turn and the waiting inside the block: a thread that waits sees the other one's flag come and go,
  there is no lock to recognise, and only the concrete engines prove it. `dekker-causal` marks the critical sections alone: the
  values of the two flags, which the net keeps, exclude each other, so causality proves it; reduction sees no lock.
- `late-choice` and `helping` have no commit point: exact alone.

| example | block | answered by | reduction | causal | commit | exact |
|---|---|---|---|---|---|---|
"""


def check(intact, path, *options):
    r = subprocess.run([intact, "check", "-q", "--json=-", *options, path], capture_output=True, text=True,
                       encoding="utf-8", timeout=600)
    return json.loads(r.stdout)["results"]


def name(r):
    return "program" if r["block"] is None else r["block"]


def is_question(r):
    return r["engine"] not in ("search",) and "object" not in r and "attempts" in r or r.get("as_part")


def word(attempt):
    return {"holds": "**yes**", "violated": "suspects" if attempt["engine"] == "causal" else "**NO**"}.get(attempt["verdict"], "-")


def threads(r, model_any):
    if r["verdict"] != "holds":
        return ""
    return ", any number of threads" if r.get("any_number_of") else ""


def rows(intact):
    """(example, block, ladder's result, {engine: attempt}) of every question."""
    for path in sorted([*(ROOT / "examples").rglob("*.atm"), *(ROOT / "examples").rglob("*.sml")]):
        ladder = {name(r): r for r in check(intact, path) if is_question(r)}
        sides = {name(r): {a["engine"]: a for a in r["attempts"]} for r in check(intact, path, "--engine=all") if "attempts" in r}
        for block, r in ladder.items():
            yield path.relative_to(ROOT / "examples").as_posix(), block, r, sides[block]


def page(intact):
    out, last = HEAD, None
    for example, block, r, sides in rows(intact):
        shown = f"[{example}](../examples/{example})" if example != last else ""
        last = example
        part = " (as a part)" if r.get("as_part") and len(sides) and sides[r["engine"]]["verdict"] != "holds" else ""
        by = r["engine"] if r["verdict"] != "unknown" else "unknown"
        by = f"**{by}**, not atomic" if r["verdict"] == "violated" and block != "program" else \
            f"**{by}**, not serializable" if r["verdict"] == "violated" else f"{by}{part}{threads(r, None)}"
        out += f"| {shown} | `{block}` | {by} | " + " | ".join(word(sides[e]) if e in sides else "" for e in ENGINES) + " |\n"
    return out


def misfits(intact):
    """Questions that a cheaper engine than the one named could have answered."""
    bad = []
    for example, block, r, sides in rows(intact):
        answers = [e for e in ENGINES if sides[e]["verdict"] == "holds" or sides[e]["verdict"] == "violated" and e != "causal"]
        if r.get("as_part"):  # another question; but what proves it alone is an argument too
            first = [e for e in answers if sides[e]["verdict"] == "holds"]
            if first and ENGINES.index(r["engine"]) > ENGINES.index(first[0]):
                bad.append(f"{example} {block}: {r['engine']}, but {first[0]} proves it alone")
        elif answers and r["engine"] != answers[0]:
            bad.append(f"{example} {block}: {r['engine']}, but {answers[0]} answers first")
        if answers and r["verdict"] != sides[answers[0]]["verdict"] and not r.get("as_part"):
            bad.append(f"{example} {block}: {r['verdict']} against {sides[answers[0]]['verdict']}")
    return bad


if __name__ == "__main__":
    text = page(sys.argv[1])
    if "--write" in sys.argv:
        PAGE.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
