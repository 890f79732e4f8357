#!/usr/bin/env python3
"""`intact run --baseline` and `--learn`: known findings are not reported, new ones are, and what is shown by default is never learned
silently. The programs force their schedule.

Usage: test_baseline.py INTACT SOURCE-ROOT
"""
import json
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path

from schema import sarif_complaints, validate
from tap import check, done, run

intact, root = str(Path(sys.argv[1]).resolve()), Path(sys.argv[2]).resolve()
schema = json.loads((root / "share/report.schema.json").read_text())
HEADER = '{"intact": "baseline", "version": 1}\n'
DEPOSIT = '{"function": "deposit", "pattern": "lost update", "after": ["get"], "before": ["set"]}\n'
LET_IN = '{"function": "let_in", "pattern": "deliberate release", "after": ["open_door"], "before": []}\n'

PROGRAM = """#include <pthread.h>
#include "SCHED"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
static long balance, queue;
static long get(void) { pthread_mutex_lock(&m); long b = balance; pthread_mutex_unlock(&m); return b; }
static void set(long b) { pthread_mutex_lock(&m); balance = b; pthread_mutex_unlock(&m); }
static long peek(void) { pthread_mutex_lock(&m); long b = balance; pthread_mutex_unlock(&m); return b; }
static void deposit(void) { set(FIRST() + 1); }
static void open_door(void) { pthread_mutex_unlock(&n); }
static void let_in(void) { long q = queue; open_door(); pthread_mutex_lock(&n); queue = q + 1; }
static void withdraw(void) { set(get() - 1); }
#ifndef BUG
#define deposit()
#endif
#ifndef RELEASE
#define let_in()
#endif
#ifndef MORE
#define withdraw()
#endif
/* a thread's first function is not expected to be atomic */
#define WORK() do { deposit(); withdraw(); pthread_mutex_lock(&n); let_in(); pthread_mutex_unlock(&n); } while (0)
static void *one(void *a) { WORK(); at(1); return a; }
static void *two(void *a) { while (sched_step < 1) sched_yield(); WORK(); at(2); return a; }
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, 0, one, 0);
	pthread_create(&b, 0, two, 0);
	pthread_join(a, 0);
	pthread_join(b, 0);
	return STATUS;
}
""".replace("SCHED\"", str(root / "tests/programs/sched.h") + '"')


def build(name, *defines, lines=0):
    """`lines`: so many in front, which moves all others."""
    Path(name + ".c").write_text("\n" * lines + PROGRAM)
    given = " ".join(defines)
    more = [d for d, text in (("-DFIRST=get", "FIRST="), ("-DSTATUS=0", "STATUS=")) if text not in given]
    rc, out, err = run([intact, "cc", "-g", name + ".c", "-o", name, "-pthread", "-w", *more, *["-D" + d for d in defines]])
    assert rc == 0, err


def watch(*args):
    rc, out, err = run([intact, "run", *args])
    return rc, err


with tempfile.TemporaryDirectory(prefix="intact-baseline-") as tmp:
    os.chdir(tmp)
    build("bank", "BUG", "RELEASE")
    build("moved", "BUG", "RELEASE", lines=40)
    build("worse", "BUG", "RELEASE", "MORE", "STATUS=3")
    build("other", "BUG", "RELEASE", "FIRST=peek")
    build("fixed", "STATUS=3")
    rc, err = watch("./bank")
    check("without a baseline: one finding, one function not shown", rc == 66 and "reported 1 warning" in err and "deliberate release" in err, err)

    # ---- learning ----
    rc, err = watch("--learn", "base", "./bank")
    check("--learn: what is not shown is learned; what is shown is listed, and still fails", rc == 66 and
          "intact: base: learned 1 gap; 1 finding shown by default was not learned (--accept learns them, too):\n  deposit (lost update), " in err, err)
    check("... the file", Path("base").read_text() == HEADER + LET_IN, Path("base").read_text())
    rc, err = watch("--learn", "base", "--accept", "./bank")
    check("--accept: all of them", rc == 0 and "intact: base: learned 1 gap\n" in err and "1 known finding is not reported (baseline base)" in err and "WARNING" not in err, err)
    check("... sorted, added to what is there", Path("base").read_text() == HEADER + DEPOSIT + LET_IN, Path("base").read_text())
    rc, err = watch("--learn", "base", "--accept", "./bank")
    check("again: nothing to learn, the same bytes", rc == 0 and "learned 0 gaps\n" in err and Path("base").read_text() == HEADER + DEPOSIT + LET_IN, err)

    # ---- comparing ----
    for name in ("bank", "moved"):
        rc, err = watch("--baseline", "base", "./" + name)
        check(f"{name}: known findings only: the program's status, the last line counts them", rc == 0 and "WARNING" not in err
              and err.endswith("Intact: 1 known finding is not reported (baseline base)\n"), err)
    rc, err = watch("--baseline", "base", "--all", "./bank")
    check("--all: also those that are not shown by default", rc == 0 and "Intact: 2 known findings are not reported (baseline base)\n" in err, err)
    rc, err = watch("--baseline", "base", "--json", "worse.json", "--sarif", "worse.sarif", "--junit", "worse.xml", "--html", "worse.html", "./worse")
    check("a new finding: 66, and it alone is reported", rc == 66 and err.count("WARNING: Intact") == 1 and " in withdraw\n" in err and " in deposit\n" not in err
          and "the program's own was 3" in err, err)
    doc = json.loads(Path("worse.json").read_text())
    bad = validate(schema, doc)
    check("... the document: both, the known one marked", not bad and {r["block"]: r.get("baseline") for r in doc["results"]}
          == {"deposit": {"file": "base", "line": 2}, "withdraw": None}, f"{bad} {doc['results']}")
    check("... findings, and what the baseline holds", (doc["findings"], doc["baseline"]) == (1, {"file": "base", "entries": 2, "known": 1, "absent": []}), doc["baseline"])
    suite = ET.parse("worse.xml").getroot()
    check("... JUnit: the known one is skipped", (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("2", "1", "1"), ET.tostring(suite))
    sarif = json.loads(Path("worse.sarif").read_text())
    check("... SARIF: the known one is suppressed", not sarif_complaints(sarif) and [len(r["suppressions"]) for r in sarif["runs"][0]["results"]].count(1) == 1,
          sarif_complaints(sarif))
    rc, out, err = run([intact, "report", "worse.json"])
    check("... `intact report` says the same", rc == 1 and out.count("WARNING: Intact") == 1 and "1 known finding is not reported" in out, out)
    rc, err = watch("--baseline", "base", "./other")
    check("another call before the gap is another finding", rc == 66 and err.count("WARNING: Intact") == 1, err)
    check("... and the entry that did not occur is named", "Intact: base:2: note: deposit (lost update) did not occur in this run\n" in err, err)
    rc, err = watch("--baseline", "base", "--json", "fixed.json", "./fixed")
    check("entries that do not occur are said, and are no error", rc == 3 and err.count(" did not occur in this run") == 2, err)
    doc = json.loads(Path("fixed.json").read_text())
    check("... in the document, too", not validate(schema, doc) and [(a["line"], a["function"]) for a in doc["baseline"]["absent"]] == [(2, "deposit"), (3, "let_in")], doc)
    check("... whose verdict is holds", doc["verdict"] == "holds")
    rc, err = watch("--baseline", "base", "--not-atomic", "deposit", "./bank")
    check("patterns still count", rc == 0, err)

    # ---- recordings ----
    watch("--record", "bank.itr", "./bank")
    rc, out, err = run([intact, "trace", "bank.itr"])
    check("a recording: the finding counts", rc == 1 and "in deposit" in out, out + err)
    rc, out, err = run([intact, "trace", "--baseline", "base", "--json", "trace.json", "bank.itr"])
    doc = json.loads(Path("trace.json").read_text())
    check("... unless it is known", rc == 0 and "1 known finding is not reported" in out and doc["results"][0]["run"]["known"] == 1 and not validate(schema, doc), out + err)
    Path("bad").write_text("{}\n")
    rc, out, err = run([intact, "trace", "--baseline", "bad", "bank.itr"])
    check("... and a damaged baseline is an error there", rc == 2 and "bad:1:1: error: not a baseline" in err, f"{rc} {out} {err}")

    # ---- comments, the project file ----
    Path("base").write_text("# ours\n" + HEADER + "\n# by design\n#  since 2019\n" + DEPOSIT + "# the end\n")
    watch("--learn", "base", "./bank")
    check("comments stay with their entries", Path("base").read_text() == HEADER + "# ours\n# by design\n#  since 2019\n" + DEPOSIT + LET_IN + "# the end\n", Path("base").read_text())
    Path("sub").mkdir()
    Path("intact.toml").write_text('baseline = "base"\n')
    rc, out, err = run([intact, "run", "../bank"], cwd="sub")
    check("the project file names a baseline, relative to itself", rc == 0 and "1 known finding is not reported" in err, err)
    rc, err = watch("--halt-on-error", "./bank")
    check("--halt-on-error fails at a known finding, and says so", rc == 66 and "also if it is in the baseline" in err, err)
    Path("intact.toml").unlink()

    # ---- several learn at a time: no update is lost ----
    for i in range(3):
        Path(f"p{i}.c").write_text(PROGRAM.replace("deposit", f"deposit{i}"))
        rc, out, err = run([intact, "cc", "-g", f"p{i}.c", "-o", f"p{i}", "-pthread", "-w", "-DFIRST=get", "-DSTATUS=0", "-DBUG"])
        assert rc == 0, err
    many = [subprocess.Popen([intact, "run", "--learn", "shared", "--accept", f"./p{i % 3}"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for i in range(6)]
    said = [p.communicate()[1].decode() for p in many]
    check("runs that learn at the same time lose nothing", [p.returncode for p in many] == [0] * 6 and Path("shared").read_text() == HEADER + "".join(
        DEPOSIT.replace("deposit", f"deposit{i}") for i in range(3)), Path("shared").read_text() + "\n".join(said))
    check("... and leave nothing behind", sorted(p.name for p in Path(".").glob("shared*")) == ["shared"])

    # ---- what is wrong ----
    for name, text, words in (
            ("an empty file", "", "bad:1:1: error: not a baseline: expected {\"intact\""),
            ("a result", Path("worse.json").read_text(), "bad:1:1: error: not a baseline"),
            ("another version", '{"intact": "baseline", "version": 2}\n', "bad:1:24: error: a version of baselines that this Intact does not read"),
            ("no JSON", HEADER + "# x\n<<<<<<< HEAD\n", "bad:3:1: error: not JSON: "),
            ("a line cut off", HEADER + DEPOSIT[:40] + "\n", "bad:2:"),
            ("no function", HEADER + '{"pattern": "lost update"}\n', "bad:2:1: error: an entry without a 'function'"),
            ("a number for a text", HEADER + '{"function": "f", "pattern": 3}\n', "bad:2:19: error: 'pattern' is not a text"),
            ("a text for calls", HEADER + '{"function": "f", "after": "g"}\n', "bad:2:19: error: 'after' is not a list of functions"),
            ("calls with a line end", HEADER + '{"function": "f", "after": ["a\\nb"]}\n', "is not a list of functions"),
            ("an unknown member", HEADER + '{"function": "f", "befor": []}\n', "bad:2:19: error: unknown member 'befor'"),
            ("a member twice", HEADER + '{"function": "f", "function": "g"}\n', "bad:2:"),
            ("a list", HEADER + "[1]\n", "bad:2:1: error: expected an object"),
            ("bytes that are no text", HEADER + '{"function": "\x00\udcff"}\n', "bad:2:"),
            ("deep nesting", HEADER + "[" * 100000 + "\n", "bad:2:")):
        Path("bad").write_bytes(text.encode("utf-8", "surrogateescape"))
        for option in ("--baseline", "--learn"):
            rc, err = watch(option, "bad", "touch", "ran")
            wanted = rc == 70 and option == "--learn" if not text and option == "--learn" else rc == 2 and words in err
            check(f"{name}, {option}: refused before the program runs", wanted and (not text or not Path("ran").exists()), f"{rc} {err[:600]}")
            check("... the file is as it was", Path("bad").read_bytes() == text.encode("utf-8", "surrogateescape"))
            Path("ran").unlink(missing_ok=True)
    rc, err = watch("--baseline", "bad", "true")
    check("a line, a caret and a hint", "\n     2 | ...[[[" in err and "hint: 'intact run --learn FILE' writes baselines" in err, err[:300])
    rc, err = watch("--baseline", "none", "./bank")
    check("no such file", rc == 2 and "cannot read the baseline 'none': No such file" in err and "--learn" in err, err)
    rc, err = watch("--learn", "nowhere/base", "./bank")
    check("a file that cannot be written: 70, not green", rc == 70 and "cannot write the baseline 'nowhere/base'" in err, f"{rc} {err[-300:]}")
    rc, err = watch("--learn", "new", "true")
    check("nothing was watched: nothing is written", rc == 70 and not Path("new").exists(), err)
    for args, words in ((["--accept"], "--accept requires --learn"), (["--learn=a", "--infer=b"], "--learn cannot be combined"),
                        (["--learn=a", "--halt-on-error"], "--learn cannot be combined"), (["--learn=a", "--baseline=b"], "name different files")):
        rc, err = watch(*args, "./bank")
        check(" ".join(args) + ": refused", rc == 2 and words in err, err)
done()
