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

from schema import validate
from tap import check, done, run

intact, root = str(Path(sys.argv[1]).resolve()), Path(sys.argv[2]).resolve()
schema = json.loads((root / "share/report.schema.json").read_text())

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

    # ---- as JSON, and the reports made of it ----
    def diff_json(before, after, *options):
        rc, out, err = run([intact, "diff", "--json=-", *options, before, after])
        doc = json.loads(out) if out else {}
        return rc, doc, out, err

    for before, after, want, code in (("repaired.json", "bug.json", ["new"], 1), ("bug.json", "repaired.json", ["gone"], 0),
                                      ("bug.json", "pattern.json", ["changed"], 0), ("bug.json", "call.json", ["changed"], 0),
                                      ("hidden.json", "bug.json", ["new"], 1), ("bug.json", "hidden.json", ["gone"], 0), ("bug.json", "bug.json", [], 0)):
        rc, doc, out, err = diff_json(before, after)
        bad = validate(schema, doc)
        check("--json of %s, %s: as the schema says, the same exit code" % (before, after), rc == code and not bad and not err, "%d %s %s" % (rc, bad, err))
        check("... what changed, and how many", [r["change"] for r in doc["results"]] == want and [doc[k] for k in ("new", "gone", "changed")] == [
            want.count(k) for k in ("new", "gone", "changed")] and doc["verdict"] == ("violated" if code else "holds"), out)
        check("... the same bytes again", diff_json(before, after)[2] == out)
        text = diff(before, after)[1]
        open("diff.json", "w").write(out)
        check("... `intact report` prints the text of the command", run([intact, "report", "diff.json"]) == (code, text, ""), text)
    rc, doc, out, err = diff_json("bug.json", "pattern.json")
    r = doc["results"][0]
    check("a change says what is and what was", r["differences"] == [{"what": "pattern", "is": "torn read", "was": bug["results"][0]["pattern"]}], r)
    rc, doc, out, err = diff_json("hidden.json", "bug.json")
    check("... and what was not shown", doc["results"][0]["not_shown"] == "busy gap", out)
    check("--new: the document has these only, and counts all", diff_json("bug.json", "repaired.json", "--new")[1]["results"] == []
          and diff_json("bug.json", "repaired.json", "--new")[1]["gone"] == 1)
    rc, out, err = run([intact, "diff", "--github", "repaired.json", "bug.json"])
    check("--github: an annotation at the new one", rc == 1 and out.startswith("::warning file=") and "%s is not atomic (new)" % block in out, out + err)
    rc, out, err = run([intact, "diff", "--json", "x.json", "--junit", "x.xml", "--sarif", "x.sarif", "--html", "x.html", "repaired.json", "bug.json"])
    check("files and the text together", rc == 1 and out.startswith("new: ") and "<failure" in open("x.xml").read() and json.load(open("x.sarif"))["runs"][0]["results"]
          and json.load(open("x.json"))["kind"] == "diff", out + err)

    def unwatched(doc, r):
        doc.update(verdict="unknown", reason="no process of the run was built with `intact cc`", results=[], findings=0, confirmed=0)
    rc, out, err = diff("bug.json", made("unwatched.json", unwatched))
    check("a second run without an answer: unknown, not green", rc == 3 and "\nunknown: unwatched.json: no process of the run was built" in out, out + err)
    check("... in JSON, too", diff_json("bug.json", "unwatched.json")[:2][1]["verdict"] == "unknown" and diff_json("bug.json", "unwatched.json")[0] == 3)
    check("a first run without an answer: everything is new", diff("unwatched.json", "bug.json")[0] == 1)

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
