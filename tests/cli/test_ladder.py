#!/usr/bin/env python3
"""The ladder: on every example the cheapest engine that can answer does, docs/ladder.md says which,
and the reports explain it.

    test_ladder.py PATH-OF-INTACT ROOT

TAP on stdout."""
import importlib.util
import json
import re
import sys
import tempfile
from pathlib import Path

from tap import check, done, run

intact, root = sys.argv[1], Path(sys.argv[2])
examples = root / "examples"
spec = importlib.util.spec_from_file_location("ladder_table", root / "tools" / "ladder-table.py")
table = importlib.util.module_from_spec(spec)
sys.dont_write_bytecode = True
spec.loader.exec_module(table)

bad = table.misfits(intact)
check("every example is answered by the cheapest engine that can", not bad, "\n".join(bad))
text = table.PAGE.read_text(encoding="utf-8") if table.PAGE.is_file() else ""
check("docs/ladder.md is up to date", text == table.page(intact), "run tools/ladder-table.py INTACT --write")

# reducible= of the headers
bad = []
for path in sorted([*examples.rglob("*.atm"), *examples.rglob("*.sml")]):
    want = dict(re.findall(r"^// @expect (\S+): .*\breducible=(yes|no)", path.read_text(encoding="utf-8"), re.M))
    if not want:
        continue
    rc, out, err = run([intact, "check", "-q", "--engine=reduction", "--json=-", path])
    got = {r["block"]: "yes" if r["verdict"] == "holds" else "no" for r in json.loads(out)["results"] if r["block"]}
    bad += [f"{path.name} {b}: {got.get(b)}, expected {w}" for b, w in want.items() if got.get(b) != w]
check("reduction says what the headers promise", not bad, "\n".join(bad))


def ask(*args, stdin=None):
    return run([intact, "check", *args], stdin=stdin)


# as each paper marks them, and the report tells the difference
rc, out, err = ask(examples / "acquire1.atm")
check("acquire1: the lock is recognised, any number of threads",
      rc == 0 and re.search(r"worker.update +23 +atomic +reduction +any ", out) and "hand-coded lock" in out and "m (taken at 18:11)" in out, out)
rc, out, err = ask("--engine=all", examples / "acquire1.atm")
check("acquire1: causality suspects the waiting, and is refuted",
      rc == 0 and re.search(r"worker.update +23 +atomic +yes +suspects +yes +yes", out) and "refutes the suspicion" in out and "18:3" in out, out)
rc, out, err = ask("--engine=all", examples / "acquire1-causal.atm")
check("the critical section alone: causality suffices", rc == 0 and re.search(r"worker.update +\d+ +atomic +yes +yes +yes +yes", out), out)
rc, out, err = ask(examples / "dekker.atm")
check("dekker with its waiting inside needs commit, and it says why not less",
      rc == 0 and re.search(r"worker.update +\d+ +atomic +commit +2 ", out) and "not by reduction: second non-mover" in out
      and "not by causal:" in out and "commit refutes the suspicion" in out, out)
rc, out, err = ask(examples / "dekker-causal.atm")
check("dekker's critical sections alone: causal", rc == 0 and re.search(r"serializable +causal +2 ", out) and "not by reduction" in out, out)
rc, out, err = ask(examples / "lost-update.atm")
check("a suspicion that is confirmed", rc == 1 and "commit confirms the suspicion with a run" in out, out)

# misfits have places and reasons
rc, out, err = ask("--engine=reduction", "-", stdin="lock l;\nint data;\nthread t * 2 { atomic b {\n  acquire(l);\n  data = (data + 1) % 4;\n  release(l); } }\nthread u {\n  data = 0; }\n")
check("the two steps that do not fit, with the place of the access without the lock",
      rc == 3 and "second non-mover at 5:3 (write data): data is written at 8:3 without lock l; the first is at 5:11 (read data)" in out, out)

# any number of threads
rc, out, err = ask("--threads", "one=any", examples / "dekker-causal.atm")
check("a claim for any number is not made from two", rc in (1, 3), out)
mutex = """bool m; int x;
thread worker * 2 { while (true) { while (!cas(m, false, true)) { } atomic update { x = (x + 1) % 4; x = (x * 3) % 4; } m = false; } }
"""
rc, out, err = ask("--threads", "worker=any", "-", stdin=mutex)
check("--threads worker=any is answered", rc == 0 and re.search(r"serializable +reduction +any ", out), out)
flags = """enum turn { LEFT, RIGHT }; turn t; int x;
thread left * 2 { while (true) { assume(t == LEFT); atomic one { x = (x + 1) % 4; t = RIGHT; } } }
"""
rc, out, err = ask("--threads", "left=any", "-", stdin=flags)
check("a violation found with the declared number is one for any", rc == 1 and "NOT SERIALIZABLE" in out, out)

# one budget, and what to change
big = """int x[4]; int[0..9] n;
thread worker * 8 { while (true) { atomic add { int i = any(0..3); x[i] = x[(i + 1) % 4] + n; n = (n + 1) % 10; } } }
"""
rc, out, err = ask("--max-states=3000", "--engine=auto", "-", stdin="int[0..99] c; thread w * 6 { while (true) { atomic a { while (true) { int t = c; if (cas(c, t, (t + 1) % 100)) { break; } } } } }\n")
check("too large: what each engine said, how far it got, what to change",
      rc == 3 and "reduction: " in out and re.search(r"commit: the limit on states was reached after \d+ states", out)
      and "exact: not asked" in out and "--threads w=3" in out and "a smaller range for c (it has 100 values)" in out and "--max-states" in out, out)
retry = """bool f[10]; lock l; int[0..3] x; int[0..3] y; int[0..99] c;
thread w * 8 {
  int[0..9] i = any(0..9);
  while (true) {
    atomic a {
      acquire(l); release(l);
      while (true) { int t = c; if (cas(c, t, (t + 1) % 100)) { break; } f[i] = !f[i]; }
      x = (x + y) % 4; y = (y + 1) % 4;
    }
  }
}
"""
with tempfile.TemporaryDirectory() as d:
    model, result = Path(d) / "retry.atm", Path(d) / "retry.json"
    model.write_text(retry)
    rc, out, err = ask("--max-states=20000", f"--json={result}", model)
    check("a suspicion is followed when the searches have run out",
          rc == 1 and "exact confirms the suspicion with a run" in out and "NOT SERIALIZABLE" in out, out)
    rc, out, err = run([intact, "verify", result], timeout=900)
    check("and its run stands by itself", rc == 3 and "accepted" in out and "rejected" not in out.replace("0 rejected", ""), out + err)
rc, out, err = ask("--timeout=1", "-", stdin=big)
check("a time limit is kept and named, unless it was decided", rc in (1, 3) and (rc == 1 or "time" in out), out)
rc, out, err = ask("--json=-", examples / "transaction.atm")
again = ask("--json=-", examples / "transaction.atm")
check("the same question, the same bytes", out == again[1] and '"attempts"' in out and "seconds" not in out, out[-400:])
rc, out, err = ask("--engine=all", "--json=-", examples / "dekker.atm")
engines = [[a["engine"] for a in r["attempts"]] for r in json.loads(out)["results"]]
check("--engine=all asks all of them", rc == 0 and all(e == ["reduction", "causal", "commit", "exact"] for e in engines), out)
rc, out, err = ask("--track", "nothing", examples / "dekker.atm")
check("--track of no variable is an error", rc == 2 and not out, out + err)

# more pairs of accesses to one variable than reduction compares one by one: a lock common to all of them proves, else nothing does
writes = " ".join(f"a[{i}] = 1;" for i in range(1200))
locked = f"int[0..9] a[1200]; lock l;\nthread w * 2 {{ atomic b {{ acquire(l); {writes} release(l); }} }}\n"
rc, out, err = ask("--engine=reduction", "-", stdin=locked)
check("many accesses under one lock: reduction proves", rc == 0 and re.search(r"w.b +2 +atomic +reduction +any ", out), out)
rc, out, err = ask("--engine=reduction", "-", stdin=locked + "thread o { atomic c { a[3] = 2; a[3] = 5; } }\n")
check("... and one without it: reduction proves none of them", rc == 3 and re.search(r"o.c +3 +unknown", out) and "serializable" not in out, out)
done()
