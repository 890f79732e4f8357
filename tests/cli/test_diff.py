#!/usr/bin/env python3
"""`intact diff`: a kernel of the corpus and its repaired twin, and documents made from theirs.

Usage: test_diff.py INTACT SOURCE-ROOT
"""
import copy
import json
import os
import sys
import tempfile
from pathlib import Path

from tap import check, done, run

intact, root = str(Path(sys.argv[1]).resolve()), Path(sys.argv[2]).resolve()

with tempfile.TemporaryDirectory(prefix="intact-diff-") as tmp:
    os.chdir(tmp)
    for name, flags in (("bug", []), ("repaired", ["-DFIXED"])):
        rc, out, err = run([intact, "cc", "-g", str(root / "tests/corpus/avio_bank.c"), "-o", name, "-pthread"] + flags)
        check("%s: builds" % name, rc == 0, err)
        run([intact, "run", "--json", name + ".json", "./" + name])
    bug = json.load(open("bug.json"))
    block = bug["results"][0]["block"]

    def diff(before, after):
        return run([intact, "diff", before, after])

    def made(name, change):
        doc = copy.deepcopy(bug)
        change(doc, doc["results"][0])
        json.dump(doc, open(name, "w"))
        return name

    rc, out, err = diff("bug.json", "bug.json")
    check("the same: nothing", (rc, out, err) == (0, "0 new, 0 gone, 0 changed\n", ""), out + err)
    rc, out, err = diff("repaired.json", "bug.json")
    check("new: exit 1", rc == 1 and out.startswith("new: %s (" % block) and out.endswith("\n1 new, 0 gone, 0 changed\n"), out + err)
    rc, out, err = diff("bug.json", "repaired.json")
    check("gone: exit 0", rc == 0 and out.startswith("gone: %s (" % block) and out.endswith("\n0 new, 1 gone, 0 changed\n"), out + err)

    rc, out, err = run([intact, "diff", "--new", "bug.json", "repaired.json"])
    check("--new: only those", (rc, out) == (0, "0 new, 1 gone, 0 changed\n"), out + err)

    def moved(doc, r):
        for part in ("entered", "commit", "violation"):
            for f in r[part]["stack"]:
                f["line"] = f.get("line", 1) + 7
                f["offset"] += 64
    rc, out, err = diff("bug.json", made("moved.json", moved))
    check("moved lines are no change", (rc, out) == (0, "0 new, 0 gone, 0 changed\n"), out + err)
    rc, out, err = diff("bug.json", made("pattern.json", lambda d, r: r.update(pattern="torn read")))
    check("another pattern is a change", rc == 0 and out.startswith("changed: %s (torn read)" % block) and "; pattern torn read, was " in out
          and out.endswith("0 new, 0 gone, 1 changed\n"), out + err)
    rc, out, err = diff("bug.json", made("call.json", lambda d, r: r["commit"]["stack"][0].update(function="elsewhere")))
    check("another call before the gap is a change", rc == 0 and "gap after elsewhere, was " in out, out + err)

    def hidden(doc, r):
        doc["not_shown"] = [{"block": r["block"], "pattern": "busy gap", "count": 1, "confirmed": False}]
        doc["results"] = []
    rc, out, err = diff(made("hidden.json", hidden), "bug.json")
    check("what was not shown before is new, and says so", rc == 1 and "; was not shown: busy gap\n" in out, out + err)
    rc, out, err = diff("bug.json", "hidden.json")
    check("what is not shown now is gone, and says so", rc == 0 and "; not shown now: busy gap\n" in out, out + err)

    def suppressed(doc, r):
        r["suppressed"] = {"by": "block:x", "file": "s", "line": 1}
    rc, out, err = diff("repaired.json", made("suppressed.json", suppressed))
    check("suppressed findings are not compared", (rc, out) == (0, "0 new, 0 gone, 0 changed\n"), out + err)

    run([intact, "check", "--json", "check.json", str(root / "examples/lost-update.atm")])
    open("bad.json", "w").write("{\n")
    for name, args, words in (
            ("one file", ["bug.json"], "expected two files"),
            ("no such file", ["bug.json", "none.json"], "cannot read none.json"),
            ("no JSON", ["bad.json", "bug.json"], "bad.json:2:"),
            ("another command's result", ["bug.json", "check.json"], "check.json: error: expected a result of 'intact run', found one of 'intact check'")):
        rc, out, err = run([intact, "diff"] + args)
        check("%s: exit 2" % name, rc == 2 and words in err and not out, err)
done()
