#!/usr/bin/env python3
"""`intact check` on every example: its verdicts are those of the header, and
its counterexamples replay in `intact sim`.

    test_check.py PATH-OF-INTACT EXAMPLES

TAP on stdout."""
import importlib.util
import re
import sys
from pathlib import Path

from tap import check, done, run

intact, examples = sys.argv[1], Path(sys.argv[2])
spec = importlib.util.spec_from_file_location("examples_table",
                                              Path(__file__).resolve().parents[2] / "tools" / "examples-table.py")
table = importlib.util.module_from_spec(spec)
sys.dont_write_bytecode = True
spec.loader.exec_module(table)

WORDS = {"atomic": "yes", "serializable": "yes", "NOT ATOMIC": "no", "NOT SERIALIZABLE": "no",
         "unknown": "unknown"}


def expectations(path):
    out = {}
    for line in path.read_text().splitlines():
        if m := re.match(r"// @expect (\S+(?: \S+)?): (.*)", line):
            out[m[1]] = dict(p.split("=") for p in m[2].split() if "=" in p) or m[2].strip()
    return out


def verdicts(text):
    """{block or 'program': yes/no} from the summary table."""
    out = {}
    for line in text.split("\n\n")[0].splitlines()[1:]:
        if m := re.match(r"(\S+) +(?:\d+)? +(NOT ATOMIC|NOT SERIALIZABLE|atomic|serializable|unknown|FAULT|DEADLOCK)", line):
            out[m[1]] = WORDS.get(m[2], m[2])
    return out


for path in sorted([*examples.rglob("*.atm"), *examples.rglob("*.sml")]):
    want = expectations(path)
    rc, out, err = run([intact, "check", path])
    got = verdicts(out)
    bad = []
    for name, props in want.items():
        if name == "program" and got.get("program") != props.get("serializable"):
            bad.append(f"program: {got.get('program')}, expected {props}")
        elif "." in name and isinstance(props, dict) and "atomic" in props and got.get(name) != props["atomic"]:
            bad.append(f"{name}: {got.get(name)}, expected {props['atomic']}")
    violated = "no" in got.values()
    objects = any(name.startswith("object ") for name in want)
    if objects and "histories of objects are not checked" not in out:
        bad.append("objects pass unmentioned")
    if want.get("fault", "none") == "none" and rc != (1 if violated else 3 if objects else 0):
        bad.append(f"exit code {rc}")
    for schedule in re.findall(r"--schedule (\S+)", out):
        if run([intact, "sim", path, "--schedule", schedule, "--trace=none"])[0] not in (0, 1):
            bad.append(f"schedule {schedule} does not replay")
    check(f"{path.relative_to(examples)}: verdicts of the header", not bad, "\n".join(bad) + "\n" + out + err)

# what each engine says of programs made to tell them apart
separating = examples / "separating"
rc, out, err = run([intact, "check", "--engine=commit", separating / "late-choice.atm"])
check("no commit labelling fits late-choice: commit alone does not know", rc == 3 and "no labelling" in out, out)
rc, out, err = run([intact, "check", "--engine=exact", separating / "late-choice.atm"])
check("exact proves late-choice", rc == 0, out)
rc, out, err = run([intact, "check", "--engine=exact", examples / "fig1.sml"])
check("Fig. 1 is atomic block by block and not serializable, by exact alone",
      rc == 1 and verdicts(out) == {"T1.block@23": "yes", "T2.block@29": "yes", "program": "no"}, out)
for name, want in [("fig5a", "yes"), ("fig5a-seen", "no"), ("fig5b", "yes"), ("fig7", "yes"), ("fig7-seen", "yes")]:
    rc, out, err = run([intact, "check", "--engine=exact", examples / f"{name}.sml"])
    check(f"{name}: by exact alone", rc == (want == "no") and set(verdicts(out).values()) == {want}, out)
# Figure 5(b), the reader's result kept: what it waits for orders it
rc, out, err = run([intact, "check", "--engine=exact", "--sml", "-"], stdin="""lock l; int Y; int R;
begin acquire(l); Y := 5; Y := 3; release(l) end
||
acquire(l); x := Y - 2; release(l); R := x""")
check("fig5b with its result seen: by exact alone", rc == 0 and set(verdicts(out).values()) == {"yes"}, out)
# without end, and no order in time between the two that write: shadows fall ever further behind
rc, out, err = run([intact, "check", "--engine=exact", "--block", "look", "-"], stdin="""bool z; bool t; int[0..3] y; int[0..3] r;
thread reader { atomic look { int[0..1] a = z; int[0..1] b = t; r = a + 2 * b; } }
thread first { z = true; while (true) { y = (y + 1) % 4; } }
thread second { t = true; }""")
check("a lag without end is unknown, and said to be that", rc in (0, 3) and (rc == 0 or "lag" in out), out)
rc, out, err = run([intact, "check", "--engine=commit", separating / "locked-double-early.atm"])
check("a mark at the wrong place is said to be that", rc == 3 and "commit" in out, out)
rc, out, err = run([intact, "check", "--threads", "worker=any", examples / "transaction.atm"])
check("any number of threads is not claimed from a fixed one", rc == 3 and "not for any number" in out, out)
rc, out, err = run([intact, "check", "--threads", "worker=any", examples / "acquire1.atm"])
check("any number of threads is proved by reduction", rc == 0 and re.search(r"serializable +reduction +any ", out), out)
rc, out, err = run([intact, "check", "--threads", "auditor=any", examples / "bank-transfer.atm"])
check("an assertion is not proved for any number of threads",
      rc == 3 and verdicts(out)["auditor.audit"] == "yes" and "no fault with the declared number" in out, out)
rc, out, err = run([intact, "check", "--deadlock", examples / "bank-transfer-deadlock.atm"])
check("--deadlock finds the deadlock and says who waits for what",
      rc == 1 and "DEADLOCK" in out and out.count("waits") >= 2 and "held by" in out, out)
rc, out, err = run([intact, "check", "--max-states=50", examples / "transaction.atm"])
check("a spent limit is unknown, exit 3, and named", rc == 3 and "unknown" in out and "states" in out, out)
rc, out, err = run([intact, "check", "-"], stdin="int[0..1] x; thread t * 2 { x = x + 1; }")
check("a fault is a violation with its place and a run", rc == 1 and "FAULT" in out and ":1:" in out and "outside the range" in out, out)
for reductions in ["all", "symmetry", "local", "pure", "dead"]:
    rc, out, err = run([intact, "check", "--no-reduce", reductions, examples / "bluetooth-bug.atm"])
    check(f"--no-reduce={reductions}: the bluetooth bug is still found", rc == 1 and verdicts(out)["program"] == "no", out)
rc, out, err = run([intact, "check", "--engine=commit", "--threads", "worker=8", "--stats", examples / "acquire1.atm"])
check("acquire1 with 8 threads is proved without a commit mark in the source", rc == 0 and "commits at" in out, out)
done()
