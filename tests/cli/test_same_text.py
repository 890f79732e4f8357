#!/usr/bin/env python3
"""What a command prints and what `intact report` prints of its saved document
are the same text, byte by byte, for every example. What may differ is listed
here, each with its reason, and nothing else may.

Usage: test_same_text.py INTACT SOURCE-ROOT
"""
import re
import sys
import tempfile
from pathlib import Path

from tap import check, done, run

intact, root = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
work = Path(tempfile.mkdtemp())


def without_times(text):
    """Documents have no times (the same question gives the same bytes), so the table of a saved result has no such column."""
    lines = text.split("\n")
    if lines[0].startswith("thread.block") and lines[0].endswith("  time"):
        at = lines[0].rindex("  time")
        end = lines.index("") if "" in lines else len(lines)
        lines[:end] = [x[:at].rstrip() for x in lines[:end]]
    return "\n".join(lines)


def same(name, args, differs=lambda text: text, report=(), width="100"):
    saved = work / "saved.json"
    saved.unlink(missing_ok=True)
    env = {"COLUMNS": width, "NO_COLOR": "1"}
    rc, text, err = run([intact, args[0], f"--json={saved}", *args[1:]], cwd=root, env=env)
    rc2, again, err2 = run([intact, "report", *report, saved], cwd=root, env=env)
    ok = rc == rc2 and not err2 and text and differs(text) == again
    if not ok:
        a, b = differs(text).split("\n"), again.split("\n")
        at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
        err2 += f"\nexit {rc} and {rc2}; line {at + 1}: {a[at:at + 2]} and {b[at:at + 2]}"
    check(name, ok, err2)


examples = [p.relative_to(root) for p in sorted(root.glob("examples/*.atm")) + sorted(root.glob("examples/*.sml")) +
            sorted(root.glob("examples/separating/*.atm"))]
for path in examples:
    same(f"check {path}", ["check", "-q", path], without_times)
for engine in ("all", "causal", "cover", "unfold", "exact", "reduction", "commit"):
    for name in ("lost-update", "bluetooth-bug", "dekker", "acquire1-causal", "reader-writer"):
        same(f"check {name} by {engine}", ["check", "-q", f"--engine={engine}", "--max-states=20000", f"examples/{name}.atm"], without_times)
for name in ("lost-update", "bank-transfer-deadlock", "stringbuffer", "transaction"):
    for args in (["--faults"], ["--faults", "--deadlock"], ["--deadlock"], ["--max-states=3"], ["--no-reduce=all"], ["--full"]):
        same(f"check {name} {' '.join(args)}", ["check", "-q", *args, f"examples/{name}.atm"], without_times,
             ["--full"] if args == ["--full"] else [])
same("check with more threads than declared", ["check", "-q", "--threads", "worker=3", "examples/lost-update.atm"], without_times)
same("check about any number", ["check", "-q", "--threads", "worker=any", "examples/lost-update.atm"], without_times)
same("check of one block", ["check", "-q", "--block", "worker.increment", "examples/lost-update.atm"], without_times)
same("check on a narrow page", ["check", "-q", "examples/bluetooth-bug.atm"], without_times, width="50")


# verify: each result of an example, held against it
for name, args in (("check", ["check", "-q", "examples/bluetooth-bug.atm"]), ("a deadlock", ["check", "-q", "examples/bank-transfer-deadlock.atm"]),
                   ("trace", ["trace", "examples/traces/crossed.std"]), ("history", ["history", "-w", "examples/history/two-keys.json"])):
    run([intact, args[0], f"--json={work / 'claims.json'}", *args[1:]], cwd=root)
    same(f"verify of {name}", ["verify", work / "claims.json"])
same("history --verify", ["history", f"--verify={work / 'claims.json'}", "examples/history/two-keys.json"])

# explore: real programs
for name in ("lost_update", "deadlock", "racy_counter", "marked_block", "lost_wakeup", "freed_lock"):
    program = work / name
    rc, out, err = run([intact, "cc", "-g", "-O1", "-pthread", "-I", root / "include", "-o", program, root / f"tests/explore/{name}.c"], cwd=work)
    check(f"{name} is built", rc == 0, err)
    for args in ([], ["--exhaustive"], ["--schedules=3", "--strategy=random"]):
        same(f"explore {' '.join([name, *args])}", ["explore", *args, "--", program])


# traces, and a recording of a program
for path in sorted(root.glob("examples/traces/*.std")):
    for args in ([], ["--predict"], ["--each"], ["--algorithm=graph"], ["--limit=1"]):
        same(f"trace {' '.join(args)} {path.name}", ["trace", *args, path.relative_to(root)])
same("trace of a recording", ["trace", "tests/record/version2.itr.gz"])
same("trace on a narrow page", ["trace", "examples/traces/stringbuffer.std"], width="60")


# run: the reports go to standard error there, to standard output here
def without_pids(text):
    """Documents have no process numbers: they are another every time."""
    return re.sub(r"(atomicity violation) \(pid=\d+\)", r"\1", text)


for name in ("bank", "lost-update"):
    program, saved = work / name, work / "run.json"
    rc, out, err = run([intact, "cc", "-g", "-O1", "-pthread", "-o", program, root / f"examples/c/{name}.c"], cwd=work)
    rc, out, err = run([intact, "run", f"--json={saved}", program], cwd=root)
    rc2, again, err2 = run([intact, "report", saved], cwd=root)
    own = "".join(x + "\n" for x in without_pids(err).splitlines() if not x.startswith("intact: "))
    check(f"run {name}", rc == 66 and "WARNING: Intact" in again and own == again and not err2, f"{own}\n----\n{again}{err2}")
program, saved = work / "bank", work / "run.json"
rc, out, err = run([intact, "run", "--confirm", "--schedules=300", f"--json={saved}", f"--save={work / 'schedules'}", program], cwd=root)
rc2, again, err2 = run([intact, "report", saved], cwd=root)
own = "".join(x + "\n" for x in without_pids(err).splitlines() if not x.startswith("intact: "))
check("run --confirm", "Explored: " in again and own == again and not err2, f"{own}\n----\n{again}{err2}")
same("explore --confirm", ["explore", "--schedules=300", f"--confirm={saved}", f"--save={work / 'schedules'}", "--", program])

# histories
for name in ("queue.csv", "stale-read.edn", "two-keys.json"):
    for args in ([], ["--condition=sequential"], ["--algorithm=bfs"], *([["--follow"]] if name != "queue.csv" else [])):
        same(f"history {' '.join([*args, name])}", ["history", *args, f"examples/history/{name}"])
for args in (["--k=min"], ["--k=2"], ["--delta"], ["--condition=regular"], ["--init=7"], ["--max-memory=1K"]):
    same(f"history {' '.join(args)}", ["history", *args, "examples/history/stale-read.edn"])
same("history of an object of one's own", ["history", "--spec=examples/spec/account.spec", "examples/spec/account-bad.edn"])
same("two histories", ["history", "examples/history/stale-read.edn", "examples/history/two-keys.json"])
(work / "keys.edn").write_text("".join(f"{{:process {k} :type :invoke :f :write :key {k} :value 1}}\n{{:process {k} :type :ok :f :write :key {k} :value 1}}\n"
                                       f"{{:process {k} :type :invoke :f :read :key {k} :value nil}}\n{{:process {k} :type :ok :f :read :key {k} :value {k % 2}}}\n"
                                       for k in range(20)))
same("a history of many keys, of which half are violated", ["history", "--init=0", work / "keys.edn"])


def without_orders(text):
    """--witness lists every operation of an order; the document has them as columns, for the page and for programs."""
    return text[:text.index("order: ")]


same("history --witness", ["history", "--witness", "--condition=sequential", "examples/history/two-keys.json"], without_orders)

# nets
for args in ([], ["--deadlock"], ["--prefix"], ["--cover=m.free,w1.start"], ["--cover=w1.leave.done,w2.leave.done"], ["--max-events=3"]):
    same(f"net {' '.join(args)}", ["net", *args, "examples/nets/acquire1-4.ll_net"])

# sim
for path in examples:
    same(f"sim {path}", ["sim", "-q", "--seed=3", path])
for args in (["--schedule=1,1,2"], ["--until=fault", "--seed=1"], ["--threads", "worker=3", "--seed=2"], ["--seed=5", "--steps=300"]):
    same(f"sim {' '.join(args)}", ["sim", "-q", *args, "examples/lost-update.atm"])
done()
