#!/usr/bin/env python3
"""Histories as people have them: formats, answers that say no, empty files, explanations and their
verification, following, conditions that imply each other, and searches of wrong histories. TAP on standard output."""
import bz2
import json
import lzma
import os
import pty
import random
import subprocess
import sys
import tempfile

INTACT, GEN = sys.argv[1], sys.argv[2]
tests = []


def test(f):
    tests.append(f)
    return f


def run(*args, stdin=None, want=None, command="history"):
    p = subprocess.run([INTACT, command, *args], input=stdin, capture_output=True, env=dict(os.environ, NO_COLOR="1"), timeout=120)
    if want is not None:
        assert p.returncode == want, f"{args}: exit {p.returncode}, expected {want}\n{p.stdout.decode()}{p.stderr.decode()}"
    return p


def event(process, kind, f, value):
    return json.dumps({"process": process, "type": kind, "f": f, "value": value})


def generated(*args):
    return subprocess.run([GEN, *map(str, args)], capture_output=True, check=True).stdout


def reported(text, *args, want):
    """The report of a history in a file, and the file's name; the caller's directory goes away with it."""
    folder = tempfile.mkdtemp()
    path, report = os.path.join(folder, "h"), os.path.join(folder, "r.json")
    with open(path, "wb") as f:
        f.write(text)
    run(*args, "--witness", f"--json={report}", path, want=want)
    with open(report) as f:
        return json.load(f), path, report


def verify(document, path, report, want):
    with open(report, "w") as f:
        json.dump(document, f)
    return run(report, path, command="verify", want=want)


# ---- what says nothing is not right -------------------------------------------------

@test
def nothing_to_judge_is_an_error():
    for args, text in [(["-f", "log"], b"some words\nand more of them\n"), ([], b"[]"), ([], b""), (["--follow"], b""),
                       (["--follow", "-f", "log"], b"some words\n"), (["-f", "csv"], b"client,op,value,call,return\n"),
                       ([], b"# @object atomic-queue\n"), ([], b"{:process :nemesis, :type :info, :f :kill}\n")]:
        p = run(*args, "-", stdin=text, want=2)
        assert b"no operation" in p.stderr, (args, text, p.stderr)
    failed = "\n".join([event(0, "invoke", "write", 1), event(0, "fail", "write", 1)]).encode()
    assert b"all 1 failed" in run("-", stdin=failed, want=2).stderr


@test
def xz_and_bzip2_are_named():
    for pack, name in [(lzma.compress, b"xz"), (bz2.compress, b"bzip2")]:
        with tempfile.NamedTemporaryFile() as f:
            f.write(pack(b"[]"))
            f.flush()
            p = run(f.name, want=2)
        assert name + b" compression is not supported" in p.stderr and name + b" -dc" in p.stderr, p.stderr


# ---- formats -------------------------------------------------------------------------

@test
def vectors_are_records():
    lines = b"[81 :invoke :read nil]\n[81 :ok :read 0]\n[82 :invoke :write 3]\n[82 :ok :write 3]\n"
    out = run("-", stdin=lines, want=0).stdout
    assert b"2 operations by 2 processes (edn)" in out, out
    run("--init=0", "-", stdin=lines.replace(b"read 0", b"read 5"), want=1)
    run("--init=0", "-", stdin=b"[" + lines.replace(b"read 0", b"read 5") + b"]", want=1)
    run("--init=0", "-", stdin=b'[0,"invoke","write",3]\n[0,"ok","write",3]\n[1,"invoke","read",null]\n[1,"ok","read",4]\n', want=1)
    p = run("-", stdin=b"[81 :invoke]\n", want=2)
    assert b"a process, a type and an operation" in p.stderr, p.stderr
    assert b"1 | [81 :invoke]" in p.stderr, p.stderr


@test
def logs_of_violin_and_limo():
    good = b"# @object atomic-queue\n[1] call add(1)\n[2] call remove\n[1] return\n[2] return 1\n[3] call remove\n[3] return empty\n"
    out = run("-", stdin=good, want=0).stdout
    assert b"3 operations by 3 processes (violin)" in out and b"queue" in out, out
    run("-", stdin=good.replace(b"return empty", b"return 1"), want=1)
    run("--follow", "-", stdin=good, want=0)
    run("-", stdin=good.replace(b"queue", b"stack"), want=0)
    limo = b"# @object atomic-queue\n\n[1] call enq(a)\n[1] return\n[1] call enq(b)\n[1] return\n[1] call deq()\n[1] return b\n[1] call deq()\n[1] return a"
    run("-", stdin=limo, want=1)
    early = b"# @object atomic-stack\n[0] call push(?<0,0>)\n[0] return\n[1] call pop(?<0,0>)\n[1] return\n[1] call pop\n[1] return empty\n"
    assert b"pop -> \"?<0,0>\"" in run("--witness", "-", stdin=early, want=0).stdout
    for bad, what in [(b"[1] call add(1\n", b"not closed"), (b"[1] calls add(1)\n", b"expected a call or a return"),
                      (b"[1] return 3\n", b"no open operation"), (b"[1] call fly(3)\n", b"not a known operation")]:
        p = run("-f", "violin", "-", stdin=bad, want=2)
        assert what in p.stderr and b"1 | [1]" in p.stderr, p.stderr


@test
def rows_of_one_client_in_any_order():
    rows = ["1,write,2,10,20", "1,write,1,10,10", "1,read,2,50,60", "2,write,3,5,6", "1,read,3,8,9"]
    for seed in range(6):
        random.Random(seed).shuffle(rows)
        run("-", stdin="\n".join(["client,op,value,call,return", *rows]).encode(), want=0)
    p = run("-", stdin=b"client,op,value,call,return\n1,write,2,30,40\n1,write,1,10,35\n", want=2)
    assert b"while its previous one is open" in p.stderr and b"2 | 1,write,2,30,40" in p.stderr, p.stderr


@test
def contains_without_an_answer_says_nothing():
    lines = [event(0, "invoke", "add", 1), event(0, "ok", "add", 1), event(1, "invoke", "contains", 1), event(1, "ok", "contains", None),
             event(1, "invoke", "contains", 1), event(1, "ok", "contains", True)]
    run("-", stdin="\n".join(lines).encode(), want=0)
    run("--follow", "--object=set", "-", stdin="\n".join(lines).encode(), want=0)
    assert b"true, false or nothing" in run("-", stdin="\n".join(lines).replace("null}", "7}").encode(), want=2).stderr


def operation(client, op, call, ret, out, **fields):
    return {"ClientId": client, "Input": {"op": op, **fields}, "Call": call, "Output": out, "Return": ret}


@test
def ok_false_of_whole_operations():
    no = {"ok": False}
    put = [operation(0, "put", 1, 2, no, key="x", value=5), operation(0, "get", 3, 4, {"value": 0}, key="x")]
    run("--init=0", "-", stdin=json.dumps(put).encode(), want=0)  # it did not happen
    run("--init=0", "-", stdin=json.dumps([dict(put[0], Output={"ok": True}), put[1]]).encode(), want=1)
    run("--init=0", "-", stdin=json.dumps([put[0], dict(put[1], Output={"value": 5})]).encode(), want=1)
    run("--init=0", "-", stdin=json.dumps([dict(put[0], Output=False), put[1]]).encode(), want=0)
    # a read that failed says nothing, whatever stands beside it
    run("--init=0", "-", stdin=json.dumps([put[1], dict(put[1], Call=5, Return=6, Output={"ok": False, "value": 9})]).encode(), want=0)
    # a cas that failed found another value
    cas = operation(0, "cas", 1, 2, no, **{"from": 0, "to": 1})
    run("--init=0", "-", stdin=json.dumps([cas]).encode(), want=1)
    run("--init=3", "-", stdin=json.dumps([cas]).encode(), want=0)
    # a removal that failed found nothing; the answer may stand before the input
    deq = {"Output": no, "ClientId": 0, "Call": 3, "Return": 4, "Input": {"op": "dequeue"}}
    enq = operation(0, "enqueue", 1, 2, {"ok": True}, value=1)
    run("-", stdin=json.dumps([deq]).encode(), want=0)
    run("-", stdin=json.dumps([enq, deq]).encode(), want=1)
    run("-", stdin=json.dumps([dict(enq, Output=no), deq]).encode(), want=0)


@test
def errors_on_standard_input_show_the_line():
    lines = [event(0, "invoke", "add", 1), event(0, "ok", "add", 1), event(0, "invoke", "contains", None), event(0, "ok", "contains", True)]
    p = run("--object=set", "-", stdin="\n".join(lines).encode(), want=2)
    assert b"3 | " + lines[2].encode() in p.stderr and b"| ^" in p.stderr, p.stderr
    two = [event(0, "invoke", "write", 1), event(0, "invoke", "write", 2)]
    p = run("-", stdin="\n".join(two).encode(), want=2)
    assert b"1 | " + two[0].encode() in p.stderr and b"2 | " + two[1].encode() in p.stderr, p.stderr


# ---- explanations ---------------------------------------------------------------------

def kv(*ops):
    lines = []
    for f, value in ops:
        lines += [event(0, "invoke", f, None if f == "get" else value), event(0, "ok", f, value)]
    return "\n".join(lines).encode()


@test
def the_states_of_an_explanation_are_true():
    text = kv(("append", "a"), ("get", "ab"))
    out = run("--object=kv", '--init="q"', "-", stdin=text, want=1).stdout.decode()
    assert 'the kv can only be "qa" when it returns' in out, out


@test
def explanations_are_verified():
    doc, path, report = reported(kv(("append", "a"), ("get", "ab")), "--object=kv", '--init="q"', want=1)
    verify(doc, path, report, 0)
    part = doc["results"][0]["parts"][0]
    for change in [{"states": ['"q"']}, {"states": ['"q"'], "sentence": part["sentence"].replace('"qa"', '"q"')},
                   {"sentence": "All is well."}, {"sentence": None}, {"line": 1}, {"prefix": 7}, {"states": ['"qa"', '"q"']},
                   {"more_states": True}, {"conflict": [0, 1], "sentence": part["sentence"]}]:
        forged = json.loads(json.dumps(doc))
        forged["results"][0]["parts"][0].update(change)
        verify(forged, path, report, 1)


@test
def a_value_never_written_is_a_conflict_of_one():
    lines = []
    for p in range(12):
        lines.append(event(p, "invoke", "write" if p % 3 else "cas", [p % 4, (p + 1) % 4] if p % 3 == 0 else p % 4))
    lines += [event(50, "invoke", "read", None), event(50, "ok", "read", 99)]
    lines += [event(p, "ok", "write" if p % 3 else "cas", [p % 4, (p + 1) % 4] if p % 3 == 0 else p % 4) for p in range(1, 12) if p % 3]
    doc, path, report = reported("\n".join(lines).encode(), "--init=0", want=1)
    part = doc["results"][0]["parts"][0]
    assert part["proof"] == "unwritten" and len(part["conflict"]) == 1 and part["exact"], part
    verify(doc, path, report, 0)


@test
def a_lack_of_supply_is_told_and_verified():
    doc, path, report = reported(generated(300, "cas", 5, "end", 8, 30), "--init=0", want=1)
    part = doc["results"][0]["parts"][0]
    assert part["proof"] == "supply" and len(part["conflict"]) % 3 == 2, part
    assert "must have become" in part["sentence"], part
    verify(doc, path, report, 0)
    forged = json.loads(json.dumps(doc))
    del forged["results"][0]["parts"][0]["conflict"][-1]
    verify(forged, path, report, 1)


# ---- conditions ------------------------------------------------------------------------

@test
def atomic_implies_sequential_and_k():
    for args in [(300, "writers", "distinct", "none", 16), (300, "writers", 6, "none", 24), (100, "queue", "distinct", "none", 24)]:
        text = generated(*args)
        doc, path, report = reported(text, "--condition=sequential", "--timeout=60", want=0)
        assert doc["results"][0]["parts"][0]["why"] == "it is atomic, which implies it", doc["results"][0]["parts"][0]["why"]
        verify(doc, path, report, 0)
    run("--k=3", "--init=0", "-", stdin=generated(3000, "writers", "distinct", "none", 16), want=0)
    # and what is not atomic is still searched
    lines = [event(0, "invoke", "write", 1), event(0, "ok", "write", 1), event(1, "invoke", "read", None), event(1, "ok", "read", 0)]
    run("--init=0", "--condition=sequential", "-", stdin="\n".join(lines).encode(), want=0)
    run("--init=0", "-", stdin="\n".join(lines).encode(), want=1)


# ---- following -------------------------------------------------------------------------

def crashed_writes(n, last):
    lines = []
    for i in range(1, n + 1):
        lines += [event(10 + i, "invoke", "write", i), event(10 + i, "info", "write", i), event(0, "invoke", "read", None),
                  event(1, "invoke", "write", 1000), event(1, "ok", "write", 1000), event(0, "ok", "read", i if i % 2 else 1000)]
    return lines + [event(1, "invoke", "write", 1000), event(1, "ok", "write", 1000), event(0, "invoke", "read", None), event(0, "ok", "read", last)]


@test
def follow_with_crashed_writes():
    good = "\n".join(crashed_writes(200, 2)).encode()
    bad = crashed_writes(200, 3)
    for args in ([], ["--follow"]):
        run("--init=0", *args, "-", stdin=good, want=0)
        run("--init=0", *args, "-", stdin="\n".join(bad).encode(), want=1)
    out = run("--init=0", "--follow", "-", stdin="\n".join(bad + [event(0, "invoke", "read", None)]).encode(), want=1).stdout.decode()
    assert f"certain since line {len(bad)}" in out, out
    assert "cannot be explained" in out and ("can only be" in out or "must have become" in out), out


@test
def follow_answers_at_once_what_it_judges_as_recorded():
    """Beyond the monitor's configurations a violation is still told while the pipe is open."""
    p = subprocess.Popen([INTACT, "history", "--follow", "--init=0", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    writers = [event(i, "invoke", "write", i) for i in range(100, 116)] + [event(i, "ok", "write", i) for i in range(100, 116)]
    bad = [event(1, "invoke", "write", 7), event(1, "ok", "write", 7), event(0, "invoke", "read", None), event(0, "ok", "read", 3)]
    p.stdin.write(("\n".join(writers + bad) + "\n").encode())
    p.stdin.flush()
    out = p.stdout.read().decode()  # ends although standard input does not
    assert p.wait(60) == 1 and "certain since line 36" in out, out
    p.stdin.close()


# ---- searches of wrong histories ---------------------------------------------------------

@test
def wrong_histories_are_decided():
    """Ten times what was unknown; --timeout is far from what they take."""
    for args in [(2000, "queue", 5, "end", 8), (2000, "queue", 5, "none", 8), (2000, "queue", 5, "end", 8, 10), (3000, "cas", 5, "end", 32),
                 (3000, "cas", 5, "end", 64), (3000, "cas", 20, "end", 8, 20), (2000, "cas", 20, "end", 32, 20)]:
        run("--init=[]" if args[1] == "queue" else "--init=0", "--timeout=100", "-q", "-", stdin=generated(*args), want=0 if args[3] == "none" else 1)


@test
def a_progress_line_on_a_terminal():
    """A queue that takes longer than any patience: the line comes after less than a second, and only on a terminal."""
    with tempfile.NamedTemporaryFile() as f:
        f.write(generated(400, "queue", 5, "end", 48))
        f.flush()
        assert run("--timeout=2", f.name, want=3).stderr == b""
        primary, replica = pty.openpty()
        p = subprocess.Popen([INTACT, "history", "--timeout=60", f.name], stdout=subprocess.DEVNULL, stderr=replica)
        os.close(replica)
        said = b""
        while b"checking the history: " not in said:
            said += os.read(primary, 1000)
        p.kill()
        p.wait()
        os.close(primary)


OBJECTS = {  # operation -> what it does to the content (a list) and answers; the first one observes
    "stack": {"peek": lambda c, v: c[-1] if c else None, "push": lambda c, v: c.append(v), "pop": lambda c, v: c.pop() if c else None},
    "queue": {"peek": lambda c, v: c[0] if c else None, "enqueue": lambda c, v: c.append(v), "dequeue": lambda c, v: c.pop(0) if c else None},
    "priority-queue": {"peek": lambda c, v: min(c, default=None), "insert": lambda c, v: c.append(v),
                       "poll": lambda c, v: c.pop(c.index(min(c))) if c else None},
    "append-list": {"read": lambda c, v: list(c), "append": lambda c, v: c.append(v)},
    "kv": {"get": lambda c, v: "".join(c), "append": lambda c, v: c.append(v), "put": lambda c, v: c.__setitem__(slice(None), [v])},
}


def lived(name, ops, seed):
    """Lines of a history of a real object: each operation takes effect at a random moment while it is open. One that only
    observes is open most of the time. The last one is observed by itself; its answer is returned, too."""
    rng, content, lines, opened = random.Random(seed), [], [], {}
    table = OBJECTS[name]
    observe, *changes = table

    def line(process, kind, f, value):
        lines.append(event(process, kind, f, ["k", value] if name == "kv" else value))

    def finish(process):
        f, v, answer = opened.pop(process)
        if not answer:
            answer = [table[f](content, v)]
        line(process, "ok", f, v if f in ("push", "enqueue", "insert", "append", "put") else answer[0])

    for n in range(ops):
        process = n % 3
        if process in opened:
            finish(process)
        small = name != "append-list" or len(content) < 1500
        grow = len(content) < 6 or name in ("append-list", "kv")
        f = observe if process == 0 and (n % 60 == 0 or name != "append-list") else changes[0] if grow and rng.random() < 0.6 else changes[-1]
        if not small and f == observe and n % 600:
            f = changes[-1]
        v = rng.randrange(1000) + 1000 * n if f != observe else None
        v = f"{v}," if name == "kv" and v else v
        line(process, "invoke", f, v if f in ("push", "enqueue", "insert", "append", "put") else None)
        opened[process] = [f, v, []]
        for other in rng.sample(sorted(opened), len(opened)):
            if not opened[other][2] and rng.random() < 0.5:
                opened[other][2].append(table[opened[other][0]](content, opened[other][1]))
    for process in sorted(opened):
        finish(process)
    line(7, "invoke", observe, None)
    return "\n".join(lines) + "\n", observe, table[observe](content, None)


@test
def following_forgets_states():
    """A history so long that the monitor drops the states and sets that no configuration needs: the verdict stays the one of
    the recorded history, right to the last answer and wrong with another one."""
    for name, ops in ("stack", 9000), ("queue", 7000), ("priority-queue", 7000), ("append-list", 6000), ("kv", 7000):
        text, f, answer = lived(name, ops, seed=1)
        for last, want in (answer, 0), (answer[:-1] + ("x" if name == "kv" else [5]) if name in ("kv", "append-list") else -5, 1):
            told = text + event(7, "ok", f, ["k", last] if name == "kv" else last) + "\n"
            for how in ["--follow"], []:
                p = run("--object=" + name, *how, "-", stdin=told.encode())
                assert p.returncode == want, (name, how, want, p.returncode, (p.stdout + p.stderr).decode()[-600:])


failed = 0
for n, f in enumerate([t for t in tests if len(sys.argv) < 4 or t.__name__ in sys.argv[3:]], 1):
    try:
        f()
        print(f"ok {n} - {f.__name__}", flush=True)
    except Exception as e:  # noqa: BLE001
        failed += 1
        print(f"not ok {n} - {f.__name__}\n# {type(e).__name__}: " + str(e).replace("\n", "\n# "), flush=True)
print(f"1..{len(tests)}")
sys.exit(failed > 0)
