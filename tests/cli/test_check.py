#!/usr/bin/env python3
"""`intact check` on every example: its verdicts are those of the header, and
its counterexamples replay in `intact sim`.

    test_check.py PATH-OF-INTACT EXAMPLES

TAP on stdout."""
import importlib.util
import json
import re
import sys
import tempfile
from pathlib import Path

from tap import check, done, run

intact, examples = sys.argv[1], Path(sys.argv[2])
spec = importlib.util.spec_from_file_location("examples_table",
                                              Path(__file__).resolve().parents[2] / "tools" / "examples-table.py")
table = importlib.util.module_from_spec(spec)
sys.dont_write_bytecode = True
spec.loader.exec_module(table)

WORDS = {"atomic": "yes", "serializable": "yes", "NOT ATOMIC": "no", "NOT SERIALIZABLE": "no",
         "STUCK": "no", "ENDLESS": "no", "unknown": "unknown", "linearizable": "yes", "regular": "yes", "safe": "yes", "NOT LINEARIZABLE": "no",
         "NOT REGULAR": "no", "NOT SAFE": "no"}
CONDITIONS = {"linearizable": "atomic", "regular": "regular", "safe": "safe"}


def expectations(path):
    out = {}
    for line in path.read_text().splitlines():
        if m := re.match(r"// @expect (\S+(?: \S+)?): (.*)", line):
            out[m[1]] = dict(p.split("=") for p in m[2].split() if "=" in p) or m[2].strip()
    return out


CONDITION = re.compile(r"^(always|finally|can always reach) (.*?) +(\d+)  (holds|BROKEN|OUT OF REACH|unknown) ", re.M)


def conditions(text):
    """{always, finally, reach: [yes/no, ...], leak: yes/no} from the summary table."""
    out = {}
    for m in CONDITION.finditer(text.split("\n\n")[0]):
        value = {"holds": "yes", "unknown": "unknown"}.get(m[4], "no")
        if m[1] == "finally" and m[2].startswith("leaked("):
            out["leak"] = "yes" if value == "no" else "no"
        else:
            out.setdefault(m[1].split()[-1], []).append(value)
    return out


def verdicts(text):
    """{block or 'program': yes/no} from the summary table."""
    out = {}
    for line in text.split("\n\n")[0].splitlines()[1:]:
        if m := re.match(r"((?:object )?\S+) +(?:\d+)? +(NOT [A-Z]+|STUCK|ENDLESS|NO WAY OUT|atomic|serializable|linearizable|regular|safe|unknown"
                         r"|FAULT|DEADLOCK)", line):
            out["quiescence" if m[2] == "NO WAY OUT" else m[1]] = WORDS.get(m[2], m[2])
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
    said = conditions(out)
    for kind in ("always", "finally", "reach", "leak"):
        told = " ".join(said.get(kind, [])) if kind != "leak" else said.get(kind, "")
        if told != want.get(kind, ""):
            bad.append(f"{kind}: {told}, expected {want.get(kind, '')}")
    halts = "quiescence" in got or re.search(r"^\S+ .*\b(STUCK|ENDLESS)\b", out, re.M)
    if want.get("stuck", "") in ("yes", "no") and bool(halts) != (want["stuck"] == "yes"):
        bad.append(f"stuck: {bool(halts)}, expected {want['stuck']}")
    violated = "no" in got.values() or "quiescence" in got or said.get("leak") == "yes"
    violated |= any("no" in said.get(kind, []) for kind in ("always", "finally", "reach"))
    for name, props in want.items():
        for prop, value in props.items() if name.startswith("object ") else ():
            orc, oout, oerr = run([intact, "check", f"--condition={CONDITIONS[prop]}", path])
            if verdicts(oout).get(name) != value or orc != (0 if value == "yes" else 1):
                bad.append(f"{name}: {prop} is not {value}, exit code {orc}\n{oout}{oerr}")
    if want.get("fault", "none") == "none" and rc != (1 if violated else 0):
        bad.append(f"exit code {rc}")
    for schedule in re.findall(r"--schedule (\S+)", out):
        if run([intact, "sim", path, "--schedule", schedule, "--trace=none"])[0] not in (0, 1):
            bad.append(f"schedule {schedule} does not replay")
    check(f"{path.relative_to(examples)}: verdicts of the header", not bad, "\n".join(bad) + "\n" + out + err)

# a program that is proved without visiting its states is searched for faults all the same
with tempfile.TemporaryDirectory() as folder:
    model = Path(folder) / "fault.atm"
    model.write_text("""int[0..9] data;
bool want[2], done;
proc use(int[0..1] me) { want[me] = true; assume(!want[1 - me]); atomic critical { data = data + 1; } want[me] = false; }
thread a { use(0); done = true; }
thread b { use(1); bool d = done; assert(!d); }
""")
    rc, out, err = run([intact, "check", model])
    check("a failed assertion beside blocks that causality proves is found", rc == 1 and re.search(r"^program .* causal ", out, re.M)
          and "the assertion fails: assert(!d)" in out, f"exit {rc}\n{out}{err}")

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
check("any number of threads is not claimed from a fixed one", rc == 3 and "proved only for the numbers" in out, out)
rc, out, err = run([intact, "check", "--threads", "worker=any", examples / "acquire1.atm"])
check("any number of threads is proved by reduction", rc == 0 and re.search(r"serializable +reduction +any ", out), out)
rc, out, err = run([intact, "check", "--threads", "auditor=any", examples / "bank-transfer.atm"])
check("an assertion is not proved for any number of threads",
      rc == 3 and verdicts(out)["auditor.audit"] == "yes" and "no fault with the numbers of threads searched" in out, out)
rc, out, err = run([intact, "check", "--deadlock", examples / "bank-transfer-deadlock.atm"])
check("--deadlock finds the deadlock and says who waits for what",
      rc == 1 and "DEADLOCK" in out and out.count("waits") >= 2 and "held by" in out, out)
rc, out, err = run([intact, "check", separating / "await-each-other.atm"])
check("a block that waits forever alone is a verdict of its own, with the place",
      rc == 1 and "STUCK: program" in out and "waits forever at line 20: assume(b) (b is false)" in out, out)
spin = "bool a; bool b; thread left { atomic meet { a = true; while (!b) { } } } thread right { atomic meet { b = true; while (!a) { } } }"
rc, out, err = run([intact, "check", "-"], stdin=spin)
check("so is one that loops forever", rc == 1 and "ENDLESS: program" in out and "loops forever" in out, out)
rc, out, err = run([intact, "check", "--json", "-", "-"], stdin=spin)
check("ENDLESS in JSON, and verified", '"problem": "endless"' in out and '"quiescence": "always"' in out
      and "accepted: program: endless" in run([intact, "verify", "-"], stdin=out)[1], out)
rc, out, err = run([intact, "check", examples / "bank-transfer-deadlock.atm"])
check("no way out of the blocks: the shortest way there, and who waits for what",
      rc == 1 and "NO WAY OUT" in out and "after 4 steps" in out and out.count("held by") == 2, out)
rc, out, err = run([intact, "check", "-"], stdin="bool x; thread t { atomic b { x = true; while (true) { x = !x; } } } thread u { x = true; }")
check("no way out while threads still move", rc == 1 and "NO WAY OUT" in out and "can go on at line 1, inside t.b" in out, out)
rc, out, err = run([intact, "check", "--max-states=50", examples / "transaction.atm"])
check("a limit that is reached is unknown, exit 3, and named", rc == 3 and "unknown" in out and "states" in out, out)
rc, out, err = run([intact, "check", "-"], stdin="int[0..1] x; thread t * 2 { x = x + 1; }")
check("a fault is a violation with its place and a run", rc == 1 and "FAULT" in out and ":1:" in out and "outside the range" in out, out)
for reductions in ["all", "symmetry", "local", "pure", "dead"]:
    rc, out, err = run([intact, "check", "--no-reduce", reductions, examples / "bluetooth-bug.atm"])
    check(f"--no-reduce={reductions}: the bluetooth bug is still found", rc == 1 and verdicts(out)["program"] == "no", out)
rc, out, err = run([intact, "check", "--engine=commit", "--threads", "worker=8", "--stats", examples / "acquire1.atm"])
check("acquire1 with 8 threads is proved without a commit mark in the source", rc == 0 and "commits at" in out, out)

# objects: the paper's algorithm and its simplifications
tromp = (examples / "tromp.atm").read_text()
for writes, reads in [(2, 3), (3, 3), (3, 5), (6, 6)]:
    model = re.sub(r"repeat \((\d)\)", lambda m: f"repeat ({writes if m[1] == '2' else reads})", tromp)
    rc, out, err = run([intact, "check", "-"], stdin=model)
    check(f"Tromp's bit is linearizable with {writes} writes and {reads} reads", rc == 0 and verdicts(out)["object bit"] == "yes", out)
endless = tromp.replace("repeat (2)", "while (true)").replace("repeat (3)", "while (true)")
rc, out, err = run([intact, "check", "-"], stdin=endless)
check("and with any number of them: endless loops end", rc == 0 and verdicts(out)["object bit"] == "yes", out)
for assertion in ["soar", "clmt"]:
    for name, code in [("tromp", 0), ("tromp-no-line3", 1), ("tromp-no-line6", 1), ("regular-bit", 1), ("safe-bit", 1)]:
        rc, out, err = run([intact, "check", f"--assertion={assertion}", examples / f"{name}.atm"])
        check(f"--assertion={assertion}: {name}", rc == code and f"  {assertion}" in out, out + err)
rc, out, err = run([intact, "check", examples / "tromp-no-line3.atm"])
check("the history that refutes the first simplification is drawn and explained",
      rc == 1 and re.search(r"writer  \|-w1 write", out) and re.search(r"r\d returned (true|false), and from w\d on nothing", out), out)
rc, out, err = run([intact, "check", "--condition=regular", examples / "tromp-no-line3.atm"])
check("and yet it is regular", rc == 0 and "regular" in out, out)
loops = re.sub(r"repeat \(\d\)", "while (true)", (examples / "tromp-no-line3.atm").read_text())
rc, out, err = run([intact, "check", "--condition=regular", "-"], stdin=loops)
check("for any number of writes and reads", rc == 0 and "regular" in out, out)
for assertion in ["monitor", "soar", "clmt"]:
    for name in ["tromp-no-line3", "tromp-no-line6"]:
        rc, out, err = run([intact, "check", f"--assertion={assertion}", "--json", "-", examples / f"{name}.atm"])
        report = json.loads(out)
        rc, out, err = run([intact, "verify", "-"], stdin=json.dumps(report))
        check(f"--assertion={assertion}: verify accepts the history that refutes {name}", rc == 0 and "accepted: bit: history" in out, out + err)
        steps = report["results"][0]["history"]
        next(o for o in reversed(steps) if o["method"] == "read")["value"] ^= 1
        rc, out, err = run([intact, "verify", "-"], stdin=json.dumps(report))
        check(f"--assertion={assertion}: and rejects another one", rc == 1 and "accepted: bit" not in out, out + err)
two = """object R : register(bool) { bool b; void write(bool v) { b = v; } bool read() { return b; } }
thread w * 2 { R.write(true); }
thread r { R.read(); }
"""
rc, out, err = run([intact, "check", "--assertion=soar", "-"], stdin=two)
check("the assertions refuse two writers, with the place", rc == 2 and not out and ":2:16: error:" in err and "a single writer" in err, err)
rc, out, err = run([intact, "check", "-"], stdin=two)
check("the monitor does not", rc == 0 and "linearizable" in out, out + err)
rc, out, err = run([intact, "check", "--assertion=clmt", "--condition=safe", "-"], stdin=two)
check("the assertions are about atomicity", rc == 2 and "atomicity" in err, err)
rc, out, err = run([intact, "check", "--max-states=20", examples / "tromp.atm"])
check("a reached limit of an object's search is unknown", rc == 3 and "states" in out, out)
# one sentence for what went wrong
PATTERNS = {
    "lost update": ("int[0..9] x; thread w * 2 { atomic { x = x + 1; } }", "was lost:"),
    "two reads": ("bool x; bool r; thread a { atomic { bool u = x; bool v = x; r = u != v; } } thread b { x = true; }", "read x twice"),
    "crossed": ("bool x, y, r, s; thread a { atomic { x = true; r = y; } } thread b { atomic { y = true; s = x; } }", "each would have to come after the other"),
    "half an update": ("bool x, y; int[0..3] r; thread a { atomic { x = true; y = true; } } thread b { atomic { int[0..1] u = x; int[0..1] v = y; r = u + 2 * v; } }", "half done:"),
    "between two writes": ("int[0..3] x, r; thread a { atomic { x = 1; x = 2; } } thread b { r = x; }", "half-way: it read x"),
    "torn read": ("bool x, y; int[0..3] r; thread a { atomic { int[0..1] u = x; int[0..1] v = y; r = u + 2 * v; } } thread b { x = true; y = true; }", "before that was written"),
    "skew": ("int[0..1] x = 1, y = 1; thread a { atomic { if (y == 1) { x = 0; } } } thread b { atomic { if (x == 1) { y = 0; } } }", "each would have to come before the other"),
    "check, then act": ("bool open = true; int[0..9] used; thread a { atomic { if (open) { used = 7; } } } thread b { atomic { open = false; used = 5; } }", "acted on open = true"),
}
# after its commit the block reads what it would not read serially, and then makes a choice that its serial run made, too
LATER = """safe int[0..3] r; int x; int y; int z;
thread a { atomic b { x = 1; COMMIT int t = r; int c = any(0..1); if (c == 5) { z = 1; } if (t >= 2) { y = 1; } } }
thread w { int s = x; if (s == 1) { r = 0; } }"""
for mark in "commit;", "":
    for engine in "auto", "exact", "commit":
        rc, out, err = run([intact, "check", "-q", f"--engine={engine}", "-"], stdin=LATER.replace("COMMIT", mark))
        check(f"a choice that was not guessed is not left out: {engine}, {'marked' if mark else 'not marked'}", rc == 1 and "NOT ATOMIC" in out, out)
for name, (text, want) in PATTERNS.items():
    rc, out, err = run([intact, "check", "-q", "-"], stdin=text)
    lines = out.split("\n")
    sentence = next((lines[i + 1] for i, line in enumerate(lines) if line.startswith("NOT ")), "")
    check(f"said in a sentence: {name}", rc == 1 and want in sentence, out)
rc, out, err = run([intact, "check", examples / "fig1.sml"])
check("said in a sentence: a circle through four threads", "They form a cycle: " in out and out.count(" before T") == 4, out)
rc, out, err = run([intact, "check", examples / "lost-update.atm"])
check("the serial order's values stand beside those of the run",
      re.search(r"read count -> 0 .* -> 1\n", out) and re.search(r"count = 1 .* = 2\n", out)
      and "in the order worker 2, then worker 1" in out, out)
rc, out, err = run([intact, "check", "--block", "updat", examples / "acquire1.atm"])
check("--block: a slip is told before anything is searched", rc == 2 and not out and "did you mean 'update'" in err, out + err)
rc, out, err = run([intact, "report", "-"], stdin="# no result")
check("report: what is no JSON is told with its place and a hint", rc == 2 and ":1:1: error:" in err and "--json" in err, out + err)
done()
