#!/usr/bin/env python3
"""What `intact check` does with its budget: every block gets its share, what is not the question has a limit of its own, memory is bounded,
and with --threads NAME=any there are as many threads as a suspicion needs. And what differs at the end of a run is shown.

    test_budget.py PATH-OF-INTACT

TAP on stdout."""
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from tap import check, done, run

intact = sys.argv[1]
tmp = tempfile.TemporaryDirectory()


def model(name, text):
    path = Path(tmp.name) / name
    path.write_text(text)
    return path


# ---- six threads that retry, each with a block that is hard to decide, and a lost update -------
retry = "".join(f"""thread r{i} {{
  atomic bump{i} {{
    bool done = false;
    while (!done) {{
      int[0..99] v = c;
      int[0..99] w = d;
      done = cas(c, v, (v + {i + 1}) % 100);
      if (done) {{ d = (w + v) % 100; }}
    }}
  }}
}}
""" for i in range(6))
six = model("six.atm", "int[0..99] c, d;\nint[0..3] x;\n" + retry +
            "thread worker * 2 {\n  atomic increment {\n    int[0..3] t = x;\n    x = (t + 1) % 4;\n  }\n}\n")
rc, out, err = run([intact, "check", "-q", "--max-states=30000", six])
check("an innocent block does not eat the budget of the guilty one", rc == 1 and re.search(r"^worker\.increment .* NOT ATOMIC", out, re.M), out + err)
docs = [run([intact, "check", "-q", "--max-states=30000", f"-j{j}", "--json=-", six])[1] for j in (1, 2, 1)]
check("the same bytes for any -j, and again", docs[0] == docs[1] == docs[2] and '"verdict": "violated"' in docs[0], "")
asked = [r for r in json.loads(docs[0])["results"] if (r["block"] or "").startswith("r")]
check("and every other block was asked", len(asked) == 6 and all(r["verdict"] == "unknown" and r["states"] > 1000 for r in asked),
      str([(r["block"], r["verdict"], r["states"]) for r in asked]))
rc, out, err = run([intact, "check", "-q", "--timeout=30", "--max-states=30000", six])
check("with a time limit too", rc == 1 and re.search(r"^worker\.increment .* NOT ATOMIC", out, re.M), out + err)

# ---- what is not the question has a limit of its own --------------------------------------------
big = model("big.atm", "int x;\nlock m;\nthread worker * 2 {\n  while (true) {\n    atomic increment {\n      acquire(m);\n      x = x + 1;\n"
                       "      release(m);\n    }\n  }\n}\n")
try:
    rc, out, err = run([intact, "check", "-q", big], timeout=600)
except subprocess.TimeoutExpired:
    rc, out, err = -1, "", "it does not end"
check("2^32 values: the blocks are proved, and the search for faults ends by itself", rc == 3 and "program" in out and "serializable" in out and
      re.search(r"^faults +unknown", out, re.M), out + err)
check("and it is said what lifts the limit", "--faults lifts this limit" in out, out)
rc, out, err = run([intact, "check", "-q", "--max-states=1000", big])
check("a limit that is set is the limit", "reached after 100" in out, out)

# ---- memory --------------------------------------------------------------------------------------
sanitized = b"__asan_init" in Path(intact).read_bytes()


def peak(args):
    """(exit code, text, MiB of the process)"""
    p = subprocess.Popen([intact, "check", "-q", *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    text = p.stdout.read()
    usage = os.wait4(p.pid, 0)
    p.returncode = 0
    return usage[1] >> 8, text, usage[2].ru_maxrss / 1024


wide = model("wide.atm", "".join(f"int[0..9] a{i};\n" for i in range(40)) + "".join(
    f"thread t{k} {{\n  atomic b{k} {{\n" + "".join(f"    a{(i + k) % 40} = a{(i * 7 + k) % 40};\n" for i in range(6)) + "  }\n}\n" for k in range(7)))
for what, limit, args in (("exact", 24, ["--engine=exact", six]), ("the ladder", 24, [six]), ("commit", 24, ["--engine=commit", wide]),
                          ("the ladder, long states", 24, [wide]), ("faults", 24, ["--faults", wide])):
    rc, text, used = peak(["--max-states=120000", f"--max-memory={limit}M", *args])
    # the sanitizer's own memory is not bounded
    check(f"--max-memory={limit}M bounds all of it: {what}", rc in (0, 1, 3) and (sanitized or used <= limit * 1.25 + 12), f"exit {rc}, {used:.0f} MiB\n{text[:600]}")

# ---- more threads than declared -------------------------------------------------------------------
phases = model("phases.atm", """int[0..3] phase;
int[0..7] x;
thread worker * 2 {
  bool done;
  either {
    done = cas(phase, 0, 1);
  } or {
    done = cas(phase, 1, 2);
  } or {
    assume(phase == 2);
    atomic racy {
      int[0..7] t = x;
      x = (t + 1) % 8;
    }
  }
}
""")
rc, out, err = run([intact, "check", "-q", "--threads", "worker=any", phases])
schedule = re.search(r"replay: intact sim \S+ --threads worker=4 --schedule (\S+)", out)
check("a bug that needs four threads where two are declared is found", rc == 1 and re.search(r"^worker\.racy .* NOT ATOMIC .* 4 ", out, re.M)
      and "searched with 4 worker" in out and schedule, out + err)
rc, out, err = run([intact, "sim", "-q", phases, "--threads", "worker=4", "--schedule", schedule[1] if schedule else "9"])
check("its run replays with as many threads", rc == 0, out + err)
doc = run([intact, "check", "-q", "--threads", "worker=any", "--json=-", phases])[1]
data = json.loads(doc)
rc, out, err = run([intact, "verify", "-", phases], stdin=doc)
check("and verify accepts it", data["model"]["threads"] == {"worker": 4} and data["asked"]["any"] == ["worker"] and "accepted: worker.racy: atomicity" in out
      and "rejected:" not in out, out + err)
# never more than one of them gets there: four threads are suspected, and refuted
safe = model("safe.atm", phases.read_text().replace("assume(phase == 2);", "done = cas(phase, 2, 3);\n    assume(done);"))
rc, out, err = run([intact, "check", "-q", "--threads", "worker=any", safe])
check("a suspicion that is refuted for as many threads as it needs stays unknown, and says so", rc in (0, 3) and "NOT" not in out
      and (rc == 0 or "proved only for the numbers of threads searched" in out), out + err)
rc, out, err = run([intact, "check", "-q", "--threads", "worker=any", "--max-states=40", phases])
check("a used-up budget ends it", rc == 3, out + err)

# ---- what differs at the end ------------------------------------------------------------------------
LOCAL = "int[0..2] x;\nthread a { int[0..2] t; atomic b { t = x; x = 1; } if (x == 1) { x = t; } }\nthread c { atomic d { x = 1; x = 0; } }\n"
rc, out, err = run([intact, "check", "-q", "-"], stdin=LOCAL)
mine = re.search(r"^It ends with (.*)\.$", out, re.M)
ends = re.findall(r"^(?:Serial orders of the same blocks end| +or|Every serial order of the same blocks ends) with (.*)\.$", out, re.M)
check("a local that differs is shown, and no end twice", rc == 1 and mine and ends and "a.t = " in mine[1] and mine[1] not in ends and len(set(ends)) == len(ends), out)
data = json.loads(run([intact, "check", "-q", "--json=-", "-"], stdin=LOCAL)[1])
serial = [r["serial"] for r in data["results"] if "serial" in r]
check("in JSON too", serial and all(s["end"] not in s["ends"] and "a.t" in s["end"] for s in serial), json.dumps(serial)[:600])
PLACE = "int[0..2] x;\nthread a { int[0..2] t; atomic b { t = x; x = 1; } if (t == 1) { x = 2; } }\nthread c { atomic d { x = 1; x = 0; } }\n"
rc, out, err = run([intact, "check", "-q", "-"], stdin=PLACE)
check("and so is where a thread stands", "a finished" in out and "a at 2:" in out, out)
done()
