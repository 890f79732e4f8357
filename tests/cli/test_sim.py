#!/usr/bin/env python3
"""intact sim as a student meets it: tables, schedules, sessions, errors, JSON."""
import fcntl
import json
import os
import pty
import random
import re
import select
import struct
import sys
import tempfile
import termios
from pathlib import Path

from tap import check, done, run

intact, examples = str(Path(sys.argv[1]).resolve()), Path(sys.argv[2])
lost = examples / "lost-update.atm"
tmp_dir = tempfile.TemporaryDirectory()
tmp = Path(tmp_dir.name)


def sim(*args, **kw):
    return run([intact, "sim", *args], **kw)


def write(name, text):
    path = tmp / name
    path.write_text(text)
    return path


small = write("small.atm", """\
int[0..9] x;
thread a {
  atomic inc {
    x = x + 1;
  }
}
thread b * 2 {
  x = 5;
}
""")

# ---- the table ---------------------------------------------------------------

rc, out, err = sim(small, "--schedule", "1,1,3,1,1,2")
expected = f"""\
step  1: a           2: b 1  3: b 2  line  changes
   1  / inc                             3
   2  | read x -> 0                     4
   3  |                      x = 5      8  x: 0 -> 5
   4  | x = 1                           4  x: 5 -> 1
   5  \\ inc                             3
   6                 x = 5              8  x: 1 -> 5

all threads finished after 6 steps
final state: x = 5
replay: intact sim {small} --schedule 1,1,3,1,1,2
"""
check("the table of a small model, to the byte", rc == 0 and out == expected and not err, out + err)

rc, out, err = sim(small, "--schedule", "1,1,1", "--charset", "utf8")
expected = f"""\
step  1: a          line  changes
   1  ┌ inc            3
   2  │ read x → 0     4
   3  │ x = 1          4  x: 0 → 1

3 steps taken; the threads can go on
final state: x = 1
replay: intact sim {small} --schedule 1,1,1
"""
check("the same with box characters", rc == 0 and out == expected, out)

rc, out, err = sim(small, "--schedule", "1,3", "--trace=list")
check("as a list", rc == 0 and out.startswith(
    "step  thread         line  changes\n"
    "   1  1: a    / inc     3\n"
    "   2  3: b 2  x = 5     8  x: 0 -> 5\n\n"), out)
rc, out, err = sim(small, "--schedule", "1,3", "--trace=none")
check("without a trace", rc == 0 and out.startswith("2 steps taken"), out)

rc, out, err = sim(examples / "acquire1.atm", "--threads", "worker=9", "--seed", "1", "--steps", "30")
check("many threads: marks in the lanes, words beside", rc == 0 and
      re.match(r"step  (\d )+ thread ", out) and
      all(len(line) <= 100 for line in out.splitlines() if not line.startswith("replay")), out)

rc, out, err = sim(examples / "acquire1.atm", "--seed", "1", "--steps", "10000")
check("10,000 steps are not 10,000 rows", rc == 0 and len(out.splitlines()) == 1 + 100 + 1 + 5 and
      ".. 9900 steps not shown (--full shows all)" in out, out[:3000])
check("a long random run is replayed by its seed", f"replay: intact sim {examples}/acquire1.atm --seed 1 --steps 10000\n" in out, out[-300:])
rc, out, err = sim(examples / "acquire1.atm", "--seed", "1", "--steps", "10000", "--full")
check("--full shows all of them", rc == 0 and len(out.splitlines()) == 1 + 10000 + 5)

# ---- random runs ----------------------------------------------------------------

a, b = sim(lost, "--seed", "7"), sim(lost, "--seed", "7")
check("the same seed, the same run", a == b and a[0] == 0 and "seed: 7\n" in a[1], a[1])
check("seeds differ", len({sim(lost, "--seed", str(i))[1] for i in range(8)}) > 3)
rc, out, err = sim(lost)
seed = re.search(r"^seed: (\d+)$", out, re.M)
replay = re.search(r"^replay: intact (.*)$", out, re.M)
check("without a seed one is chosen and printed", rc == 0 and seed and replay, out)
check("it gives the run again", sim(lost, "--seed", seed.group(1))[1] == out)
again = run([intact, *replay.group(1).split()])
check("so does the replay line", again[0] == 0 and again[1] == out.replace(seed.group(0) + "\n", ""), again[1] + again[2])
finals = set()
for i in range(1, 60):
    m = re.search(r"count = (\d)$", sim(lost, "--seed", str(i), "--trace=none")[1], re.M)
    finals.add(m and m.group(1))
check("random runs lose updates and keep them", finals == {"1", "2"}, finals)
rc, out, err = sim(lost, "--steps", "0")
check("no steps at all", rc == 0 and "stopped after 0 steps" in out and "replay" not in out, out)
rc, out, err = sim(lost, "--until=quiescent", "--seed", "2", "--json")
r = json.loads(out)
check("--until=quiescent stops outside every block", rc == 0 and r["end"] in ("quiescent", "finished") and
      all(t["block"] is None for t in r["state"]["threads"]), out)
rc, out, err = sim(small, "--schedule", "1,1", "--steps", "4", "--seed", "3", "--json")
r = json.loads(out)
check("random steps behind a schedule", rc == 0 and r["schedule"].startswith("1,1,") and r["end"] == "finished", out)

# ---- faults and deadlocks ---------------------------------------------------------

faulty = write("faulty.atm", """\
int[0..2] x;
thread a * 3 {
  int v = x;
  x = v + 1;
  assert(x != 2);
}
""")
rc, out, err = sim(faulty, "--schedule", "1*3,2,2,2")
check("a failed assertion: exit 1, place, caret", rc == 1 and "fault at step 6\n" in out and
      f"{faulty}:5:3: error: thread 2 (a 2): the assertion fails: assert(x != 2) [assert]\n"
      "     5 |   assert(x != 2);\n       |   ^~~~~~~~~~~~~~\n" in out and
      "read x -> 2, fault (assert)" in out, out + err)
rc, out, err = sim(faulty, "--schedule", "1*3,2,2,2,3")
check("nothing follows a fault", rc == 2 and not out and
      "position 7: thread 3 (a 3) cannot move: the run ended with a fault at position 6" in err, err)
rc, out, err = sim(faulty, "--until=fault", "--seed", "1", "--steps", "50")
check("--until=fault tries seeds until one goes wrong", rc == 1 and "fault at step" in out, out)
replay = re.search(r"^replay: intact (.*)$", out, re.M).group(1).split()
check("its replay goes wrong too", run([intact, *replay])[0] == 1)
rc, out, err = sim(lost, "--until=fault", "--runs", "5", "--seed", "1", "--trace=none")
check("--until=fault without one", rc == 0 and "no fault in 5 runs" in out, out)
for name, body, kind in [
        ("range", "x = 3;", "range"), ("division", "x = 1 / x;", "division"),
        ("index", "int i = 5; a[i + x] = 1;", "index"), ("release", "release(l);", "release"),
        ("commit", "atomic { x = 1; commit; x = 2; commit; }", "commit")]:
    path = write(name + ".atm", f"int[0..2] x; int a[2]; lock l;\nthread t {{ {body} }}\n")
    rc, out, err = sim(path)
    check(f"fault: {kind}", rc == 1 and f"[{kind}]" in out and f"{path}:2:" in out and "^" in out, out + err)
endless = write("endless.atm", "int x; thread t { step { while (x == 0) { } } }\n")
rc, out, err = sim(endless)
check("a step that does not end is unknown, not a violation", rc == 3 and "[limit]" in out, out + err)

rc, out, err = sim(examples / "bank-transfer-deadlock.atm", "--schedule", "1,2,1,2")
check("a deadlock says who waits for whom", rc == 0 and "deadlock after 4 steps: no thread can move\n"
      "  thread 1 (forth) waits at line 21: acquire(lb); lb is held by thread 2 (back)\n"
      "  thread 2 (back) waits at line 32: acquire(la); la is held by thread 1 (forth)\n" in out, out)
waits = write("waits.atm", "bool b; int x;\nthread t { assume(b); }\nthread u { x = 1; assume(false); }\n")
rc, out, err = sim(waits, "--seed", "1", "-q")
check("so does one that waits for a value, or forever", rc == 0 and
      "thread 1 (t) waits at line 2: assume(b); now b = false" in out and
      "thread 2 (u) waits forever at line 3" in out, out + err)

# ---- schedules ---------------------------------------------------------------------

want = sim(small, "--schedule", "1,1,3,1")[1]
for name, text in [("spaces", "1 1 3 1"), ("repetition", "1*2,3,1"), ("names", "a,a,b.2,a"),
                   ("mixed", " a.1*2 ,, b.2\n1\n"), ("with alternatives of steps that have one", "1.1,1,3.1,1")]:
    rc, out, err = sim(small, "--schedule", text)
    check(f"a schedule: {name}", rc == 0 and out == want, out + err)
sched = write("s.txt", "# my schedule\n1,1   // twice\nb.2\n\n1\n")
check("from a file", sim(small, "--schedule", f"@{sched}")[1] == want)
check("from a file, without the @", sim(small, "--schedule", str(sched))[1] == want)
saved = tmp / "saved.txt"
rc, out, err = sim(examples / "acquire1.atm", "--seed", "3", "--steps", "500", "--save", saved, "--trace=none")
again = sim(examples / "acquire1.atm", "--schedule", f"@{saved}", "--trace=none")[1]
check("--save writes one", rc == 0 and again.splitlines()[1] == out.splitlines()[1] and "500 steps" in again, out + again)
check("--save where it cannot", sim(small, "--save", tmp / "no" / "way")[0] == 2)

choice = write("choice.atm", """\
int[0..9] x;
thread t {
  x = 1;
  either { x = 2; } or { x = any(3..5); }
}
""")
for text, final in [("1.1,1", 2), ("1.2.1,1", 3), ("1.2.3,1", 5), ("t.1.2.2,t", 4)]:
    rc, out, err = sim(choice, "--schedule", text)
    check(f"a choice: {text}", rc == 0 and f"final state: x = {final}\n" in out, out + err)

errors = [
    (small, "1,2,2,1", ["--schedule:1:5: error: position 3: thread 2 (b 1) cannot move: it has finished",
                        "threads that can move here: thread 1 (a), thread 3 (b 2)", "     1 | 1,2,2,1\n       |     ^\n"]),
    (small, "4", ["there is no thread 4", "1 to 3"]),
    (small, "0", ["there is no thread 0"]),
    (small, "99999999999999999999", ["there is no thread 99999999999999999999"]),
    (small, "1,c", ["--schedule:1:3", "no thread 'c'"]),
    (small, "b", ["there are 2 threads 'b'; add an index", "b.1 to b.2"]),
    (small, "b.3", ["there are 2 threads 'b'"]),
    (small, "a.2", ["there is 1 thread 'a'"]),
    (small, "1.2", ["position 1: thread 1 (a) has no such alternative"]),
    (small, "1;2", ["this is not a step"]),
    (small, "1.", ["expected the number of an alternative"]),
    (small, "1*0", ["repeat count"]),
    (small, "-1", ["expected a thread"]),
    (small, "", ["contains no step"]),
    (small, "@" + str(tmp / "none"), ["cannot read the schedule", "No such file"]),
    (small, "1*5000000,1*5000001", ["more than 10000000 steps"]),
    (choice, "1", ["position 1: thread 1 (t) has a choice here", "1.1  x = 1", "1.2.3  x = 1"]),
    (choice, "1.3", ["no such alternative"]),
    (choice, "1.2", ["has one more choice"]),
    (lost, "1,1,2,2", ["position 4: thread 2 (worker 2) cannot move: it waits at line 16: acquire(m); "
                       "m is held by thread 1 (worker 1)", "threads that can move here: thread 1 (worker 1)"]),
]
for path, text, parts in errors:
    rc, out, err = sim(path, f"--schedule={text}")
    check(f"impossible: {text[:30] or '(empty)'}", rc == 2 and not out and all(p in err for p in parts), f"{rc}\n{out}{err}")
bad = write("bad.txt", "1,1\n# comment\n  2,oops\n")
rc, out, err = sim(small, "--schedule", f"@{bad}")
check("errors in a file have its name and line", rc == 2 and f"{bad}:3:5: error: the model has no thread 'oops'" in err, err)
for args, part in [(["-i", "--json"], "cannot be combined"), (["--until=fault", "--schedule=1"], "cannot be combined"),
                   (["--trace=tabel"], "did you mean 'table'"), (["--sede=1"], "did you mean '--seed'"),
                   (["--steps=x"], "whole number"), (["--threads", "a"], "expected name=N")]:
    rc, out, err = sim(small, *args)
    check("wrong usage: " + " ".join(args), rc == 2 and not out and part in err, out + err)
rc, out, err = sim()
check("no model", rc == 2 and "missing MODEL argument" in err)

rng = random.Random(1)
alphabet = "0123456789.,*#/ \n@abworkert\x00\x1b\xff\u202e-+:" + "12345678" * 3
bad = []
for i in range(150):
    text = "".join(rng.choice(alphabet) for _ in range(rng.randrange(1, 40)))
    path = tmp / "random.txt"
    path.write_bytes(text.encode("latin-1", "replace"))
    rc, out, err = sim(small, "--schedule", f"@{path}", "--trace=none")
    if rc not in (0, 2) or "\x1b" in err or (rc == 2) != bool(err):
        bad.append((text, rc, err))
check("150 random files: a run or an error", not bad, bad[:3])

# ---- JSON ---------------------------------------------------------------------------

rc, out, err = sim(lost, "--json")
check("--json without a seed is the same every time", rc == 0 and out == sim(lost, "--json")[1] and json.loads(out)["seed"] == 1)
r = json.loads(out)
check("it has the threads", [(t["number"], t["name"], t["index"]) for t in r["threads"]] == [(1, "worker", 1), (2, "worker", 2)])
shared = {"m": "free", "count": 0}
ok = True
for i, s in enumerate(r["steps"]):
    ok &= s["step"] == i + 1
    for c in s["changes"]:
        ok &= shared[c["variable"]] == c["before"]
        shared[c["variable"]] = c["after"]
check("the changes lead to the final state", ok and shared == r["state"]["shared"], shared)
check("the schedule is that of the steps", r["schedule"] == ",".join(str(s["thread"]) for s in r["steps"]))
inside = {1: None, 2: None}
ok = True
for s in r["steps"]:
    ok &= s["block"] == inside[s["thread"]]
    if "entered" in s:
        inside[s["thread"]] = s["entered"]
    if "left" in s:
        inside[s["thread"]] = None
check("blocks are entered and left", ok and set(inside.values()) == {None})
rc, out, err = sim(examples / "tromp.atm", "--json", "--seed", "4")
r = json.loads(out)
calls = [s for s in r["steps"] if "invoked" in s]
returns = [s for s in r["steps"] if "answered" in s]
check("operations have their values", rc == 0 and len(calls) == 5 == len(returns) and
      all(isinstance(s["answered"]["result"], bool) for s in returns if s["answered"]["method"] == "read") and
      all(isinstance(s["invoked"]["argument"], bool) for s in calls if s["invoked"]["method"] == "write"), out)
again = json.loads(sim(examples / "tromp.atm", "--json", "--schedule", r["schedule"])[1])
check("choices replay", again["steps"] == r["steps"] and again["state"] == r["state"])
rc, out, err = sim(faulty, "--json", "--schedule", "1*3,2,2,2")
r = json.loads(out)
check("a fault in JSON", rc == 1 and r["end"] == "fault" and r["steps"][-1]["fault"] ==
      {"kind": "assert", "line": 5, "column": 3, "text": "the assertion fails: assert(x != 2)"}, out)

# ---- sessions ------------------------------------------------------------------------

rc, out, err = sim(small, "-i", stdin="1\n3\nu\nq\n")
expected = f"""\
Give the number of the thread that takes the next step; ? lists the commands.

after 0 steps: x = 0
  1: a    line 3  enter inc
  2: b 1  line 8  x = 5
  3: b 2  line 8  x = 5
> 1
step 1, thread 1 (a): enter inc

after 1 step: x = 0
  1: a    [inc]  line 4  read x -> 0
  2: b 1  line 8  x = 5
  3: b 2  line 8  x = 5
> 3
step 2, thread 3 (b 2): x = 5  [x: 0 -> 5]

after 2 steps: x = 5
  1: a    [inc]  line 4  read x -> 5
  2: b 1  line 8  x = 5
  3: b 2  has finished
> u
undid 1 step

after 1 step: x = 0
  1: a    [inc]  line 4  read x -> 0
  2: b 1  line 8  x = 5
  3: b 2  line 8  x = 5
> q
1 step taken; the threads can go on
final state: x = 0
replay: intact sim {small} --schedule 1
"""
check("a session through a pipe, to the byte", rc == 0 and out == expected and not err, out + err)

mine = tmp / "mine.txt"
rc, out, err = sim(lost, "--interactive", "--seed", "5",
                   stdin=f"1,1,1,1\nworker.2*4\np\nt\ns\nw {mine}\n2.7\nr 100\nu 3\n?\nw\nnonsense\n9\nu x\nquit\n")
check("several steps, names, state, help", rc == 0 and "1,1,1,1,2,2,2,2\n" in out and "at line 23  v = 1" in out and
      "saved to" in out and "undid 3 steps" in out and "w FILE: missing file name" in out and "no thread 'nonsense'" in out and
      "there is no thread 9" in out and "has no such alternative" in out and "u N: N is a number" in out, out + err)
check("a saved session replays", sim(lost, "--schedule", f"@{mine}")[1].endswith("--schedule 1,1,1,1,2,2,2,2\n"))
rc, out, err = sim(lost, "-i", "--schedule", "1,1,2", stdin="2\n")
check("a session may begin with a schedule, and ends with the input", rc == 0 and "after 3 steps" in out and
      "thread 2 (worker 2) cannot move: it waits at line 16" in out and "--schedule 1,1,2\n" in out, out)
rc, out, err = sim(choice, "-i", stdin="1\n1.2.2\n1\n1\nq\n")
check("choices are listed and taken", rc == 0 and "has a choice:" in out and "1.2.2" in out and "final state: x = 4" in out and
      "all threads have finished" in out, out)
rc, out, err = sim(faulty, "-i", stdin="1*3,2*3\nr\nu\n3\nq\n")
check("a fault can be undone", rc == 0 and "[assert]" in out and "the run ended with a fault" in out, out)
check("a session that ends with a fault", sim(faulty, "-i", stdin="1*3,2*3\n")[0] == 1)
rc, out, err = sim(small, "-i", stdin="u\nr 1000\nr\nx" + "y" * 100000 + "\n\x1b[31m\nq\n")
check("odd input", rc == 0 and "no step to undo" in out and "no thread can move" in out and
      "line is too long" in out and "\x1b" not in out, out[:3000])


def terminal(argv, keys, columns=100, **env):
    """What a command shows on a terminal, with keys typed when it waits for them."""
    pid, fd = pty.fork()
    if pid == 0:
        for k in ("NO_COLOR", "LC_ALL", "LC_CTYPE"):
            os.environ.pop(k, None)
        os.environ.update(env)
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        os.execv(argv[0], [str(a) for a in argv])
    seen, typed = b"", 0
    while True:
        ready, _, _ = select.select([fd], [], [], 60)
        if not ready:
            break
        try:
            data = os.read(fd, 65536)
        except OSError:
            break
        if not data:
            break
        seen += data
        while typed < len(keys) and seen.count(b"> ") > typed:
            os.write(fd, keys[typed].encode() + b"\n")
            typed += 1
    os.close(fd)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), seen.decode("utf-8").replace("\r\n", "\n")


rc, out = terminal([intact, "sim", "-i", str(small)], ["1", "1", "t", "q"], LANG="C.UTF-8", NO_COLOR="1")
check("a session on a terminal: box characters, no echo of ours", rc == 0 and "step 2, thread 1 (a): read x → 0\n" in out and
      "   1  ┌ inc            3\n" in out and out.count("> 1\n") == 2, out)
rc, out = terminal([intact, "sim", str(small), "--schedule", "1,1,3,1,1"], [], LANG="C.UTF-8")
plain = re.sub(r"\x1b\[[0-9;]*m", "", out)
check("colours on a terminal", "\x1b[" in out and "│ read x → 0" in plain, out)
rc, out = terminal([intact, "sim", str(small), "--schedule", "1,1,3,1,1"], [], LANG="C")
check("ASCII in another locale", "| read x -> 0" in re.sub(r"\x1b\[[0-9;]*m", "", out), out)
check("NO_COLOR", "\x1b" not in terminal([intact, "sim", str(small), "--seed", "1"], [], LANG="C", NO_COLOR="1")[1])

for columns in (46, 60, 80, 132):
    rc, out = terminal([intact, "sim", str(examples / "tromp.atm"), "--seed", "1"], [], columns=columns, LANG="C.UTF-8", NO_COLOR="1")
    table = out.split("\n\n")[0].splitlines()
    check(f"the table fits {columns} columns", rc == 0 and len(table) > 30 and max(map(len, table)) <= columns, out)

# ---- hostile names --------------------------------------------------------------------

odd = tmp / "a'b \x1b[31m\u202e\u00e9.atm"
odd.write_text(small.read_text())
rc, out, err = sim(odd, "--seed", "1")
check("a hostile file name", rc == 0 and "\x1b" not in out and "\u202e" not in out and "'" in out, repr(out))
long = write("long.atm", f"int {'v' * 10000}; thread {'t' * 2000} * 2 {{ atomic {'b' * 500} {{ {'v' * 10000} = 1; }} }}\n")
rc, out, err = sim(long, "--seed", "1")
rows = [line for line in out.splitlines() if re.match(r" *\d+  ", line)]
check("10,000-character names", rc == 0 and len(rows) == 6 and all(len(line) <= 100 for line in rows), rows)

# ---- the page ---------------------------------------------------------------------------

root = examples.parent
page = (root / "docs" / "sim.md").read_text()
blocks = re.findall(r"```console\n\$ intact (.*)\n((?:.*\n)*?)```\n", page)
check("docs/sim.md has its examples", len(blocks) >= 6)
for command, shown in blocks:
    keys = "".join(k + "\n" for k in re.findall(r"^> (.*)$", shown, re.M))
    rc, out, err = run([intact, *command.split()], stdin=keys, cwd=root)
    check(f"docs/sim.md: intact {command}", err + out == shown, err + out)

# ---- every example --------------------------------------------------------------------

for path in sorted([*examples.rglob("*.atm"), *examples.rglob("*.sml")]):
    text = path.read_text()
    fault = re.search(r"@expect fault: (\S+)", text).group(1)
    rc, out, err = sim(path, "--steps", "10000", "--seed", "1", "-q")
    found = re.search(r"\[([a-z]+)\]$", out, re.M) if rc == 1 else None
    check(f"{path.relative_to(examples)}: 10,000 steps", not err and
          (rc == 0 or (rc == 1 and found and found.group(1) == fault)), out[-1000:] + err)

done()
