#!/usr/bin/env python3
"""The history command from outside: exit codes, formats, compression, pipes,
limits, reports and their verification. TAP on standard output."""
import fcntl
import gzip
import json
import os
import pty
import random
import re
import struct
import subprocess
import sys
import tempfile
import termios

INTACT, ROOT = sys.argv[1], sys.argv[2]
tests = []


def test(f):
    tests.append(f)
    return f


def run(*args, stdin=None, want=None):
    env = dict(os.environ, NO_COLOR="1")
    p = subprocess.run([INTACT, "history", *args], input=stdin, capture_output=True, env=env, timeout=60)
    if want is not None:
        assert p.returncode == want, f"{args}: exit {p.returncode}, expected {want}\n{p.stdout.decode()}{p.stderr.decode()}"
    return p


def example(name):
    folder = "spec" if name.endswith(".spec") or name.startswith("account") else "history"
    return os.path.join(ROOT, "examples", folder, name)


def event(process, kind, f, value, **more):
    return json.dumps({"process": process, "type": kind, "f": f, "value": value, **more})


def atomic_history(n, writers, readers, seed, distinct=True, keys=1):
    """Operations take effect between invocation and response."""
    rng, lines, held = random.Random(seed), [], {}
    op, nextv = [None] * (writers + readers), 0
    started = 0
    while started < n or any(op):
        p = rng.randrange(len(op))
        if op[p] is None:
            if started == n:
                continue
            started += 1
            k = rng.randrange(keys)
            if p < writers:
                nextv += 1
                op[p] = ["write", nextv if distinct else nextv % 2, k, False]
            else:
                op[p] = ["read", None, k, False]
            lines.append(event(p, "invoke", op[p][0], op[p][1], **({"key": k} if keys > 1 else {})))
        elif not op[p][3]:
            op[p][3] = True
            if op[p][0] == "write":
                held[op[p][2]] = op[p][1]
            else:
                op[p][1] = held.get(op[p][2], 0)
        else:
            lines.append(event(p, "ok", op[p][0], op[p][1], **({"key": op[p][2]} if keys > 1 else {})))
            op[p] = None
    return lines


@test
def examples_have_their_verdicts():
    run(example("queue.csv"), want=0)
    out = run(example("stale-read.edn"), want=1).stdout.decode()
    assert "which had ended before it began, returned 2, written later" in out, out
    assert "failing window: the operations invoked from line 10 to line 12" in out, out
    run("--condition=regular", example("stale-read.edn"), want=0)
    assert "2-atomic, and no less" in run("--k=min", example("stale-read.edn"), want=0).stdout.decode()
    out = run(example("two-keys.json"), want=1).stdout.decode()
    assert 'key "x"' in out and "1 of 2 parts" in out, out
    run("-c", "sequential", example("two-keys.json"), want=0)
    run("-c", "sequential", example("stale-read.edn"), want=1)


@test
def algorithms_agree_and_refuse():
    for a in ("soar", "clmt", "greedy", "backward", "zones", "search", "dfs", "bfs", "brute", "auto"):
        p = run("--algorithm=" + a, example("stale-read.edn"), want=1)
        assert ("algorithm: " + a) in p.stdout.decode() or a == "auto", p.stdout
    p = run("--algorithm=soar", example("queue.csv"), want=2)
    assert b"registers" in p.stderr, p.stderr
    two = "0,write,1,0,5\n1,write,2,1,4\n2,read,1,6,7\n"
    p = run("--algorithm=soar", "-", stdin=("client,op,value,call,return\n" + two).encode(), want=2)
    assert b"two writes overlap" in p.stderr, p.stderr


@test
def compressed_and_piped():
    data = open(example("stale-read.edn"), "rb").read()
    run("-", stdin=data, want=1)
    run("-", stdin=gzip.compress(data), want=1)
    run("-", stdin=gzip.compress(data[:200]) + gzip.compress(data[200:]), want=1)
    try:
        z = subprocess.run(["zstd", "-q", "-c"], input=data, capture_output=True).stdout
        run("-", stdin=z, want=1)
        assert b"ends too early" in run("-", stdin=z[:-8], want=2).stderr
    except FileNotFoundError:
        print("# no zstd program: its files are not tried")
    assert b"ends too early" in run("-", stdin=gzip.compress(data)[:-12], want=2).stderr


@test
def wrong_input():
    p = run("/nonexistent.edn", want=2)
    assert b"No such file" in p.stderr
    p = run("-", stdin=b"{:process 0, :type :ok, :f :read, :value 1}\n", want=2)
    assert b"<stdin>:1:1: error:" in p.stderr and b"^~" in p.stderr, p.stderr
    run("--object=quue", example("queue.csv"), want=2)
    run("--k=0", example("queue.csv"), want=2)
    run("--init=[1", example("queue.csv"), want=2)
    run(want=2)
    p = run("--object=mutex", example("queue.csv"), want=2)
    assert b"not an operation of this object" in p.stderr, p.stderr
    p = run("-c", "regular", example("queue.csv"), want=2)
    assert b"registers" in p.stderr, p.stderr


def on_a_terminal(columns, *args):
    """What the command prints there."""
    pid, fd = pty.fork()
    if pid == 0:
        sys.stdin.readline()  # until the terminal has its size
        os.environ["NO_COLOR"] = "1"
        os.execv(INTACT, [INTACT, "history", *args])
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    os.write(fd, b"\n")
    text = b""
    while True:
        try:
            chunk = os.read(fd, 65536)
        except OSError:
            break
        if not chunk:
            break
        text += chunk
    os.waitpid(pid, 0)
    return text.decode().replace("\r\n", "\n")


@test
def lines_fit_the_terminal():
    for columns in (80, 50):
        text = on_a_terminal(columns, example("stale-read.edn"))
        body = [l for l in text.splitlines() if "stale-read.edn" not in l]
        assert len(body) > 10 and max(map(len, body)) <= columns, text
        words = " ".join(text.split())
        assert "which had ended before it began, returned 2, written later." in words, text
    whole = run(example("stale-read.edn"), want=1).stdout.decode()  # a program reads one line a fact
    assert max(map(len, whole.splitlines())) > 100, whole


@test
def long_values_are_cut():
    long = list(range(100))
    lines = [event(0, "invoke", "append", 1), event(0, "ok", "append", 1), event(1, "invoke", "read", None), event(1, "ok", "read", long)]
    out = run("--object=append-list", "-", stdin="\n".join(lines).encode(), want=1).stdout.decode()
    assert " ... " in out and max(map(len, out.splitlines())) < 260, out


@test
def options_that_do_not_apply_are_refused():
    q = example("queue.csv")
    for args, why in [(["--init=3", q], "a queue cannot start as 3"), (["--object=counter", "--init=x", q], "cannot start as"),
                      (["--delta", q], "staleness is defined only for reads of registers"), (["--k=2", q], "k-atomicity is defined only for registers"),
                      (["--condition=regular", q], "regular and safe are defined only for registers"), (["--condition=safe", q], "defined only for registers"),
                      (["--condition=sequential", "--algorithm=soar", q], "--algorithm requires"),
                      (["--k=min", "--algorithm=soar", example("stale-read.edn")], "selects the algorithms itself"),
                      (["--follow", "--algorithm=soar", example("stale-read.edn")], "uses its own algorithm"),
                      (["--condition=safe", "--k=2", q], "require --condition=atomic")]:
        p = run(*args, want=2)
        assert why in p.stderr.decode(), (args, p.stderr)


@test
def a_set_starts_as_told():
    lines = "\n".join([event(0, "invoke", "remove", 1), event(0, "ok", "remove", 1), event(0, "invoke", "read", None),
                       event(0, "ok", "read", [2, 3])]).encode()
    with tempfile.TemporaryDirectory() as d:
        log, report = os.path.join(d, "h.json"), os.path.join(d, "r.json")
        with open(log, "wb") as f:
            f.write(lines)
        for init, want in [("[3 2 1]", 0), ("[3 2]", 0), ("[3 2 7]", 1), ("[]", 1)]:
            run("--object=set", "--init=" + init, "--witness", "--json", report, log, want=want)
            run("--verify=" + report, log, want=0)
            run("--object=set", "--init=" + init, "--follow", log, want=want)
        with open(report) as f:
            text = f.read()
        with open(report, "w") as f:
            f.write(text.replace('"init":[]', '"init":[1,2,3]'))
        run("--verify=" + report, log, want=1)


@test
def failed_reads_do_not_tell_the_initial_value():
    lines = [event(0, "invoke", "write", 5), event(1, "invoke", "read", None), event(1, "fail", "read", None), event(0, "ok", "write", 5),
             event(1, "invoke", "read", None), event(1, "ok", "read", 5)]
    out = run("-", stdin="\n".join(lines).encode(), want=0).stdout.decode()
    assert "initially 0 (guessed)" in out, out


@test
def only_the_nemesis_is_skipped():
    big = 99999999999999999999
    out = run("-", stdin="\n".join([event(big, "invoke", "read", None), event(big, "ok", "read", 7), event(2, "invoke", "read", None),
                                    event(2, "ok", "read", 8)]).encode(), want=1).stdout.decode()
    assert "2 operations by 2 processes" in out, out
    for name, mark in (("nemesis", ""), (":nemesis", ":")):
        lines = [event(name, mark + "info", mark + "kill", None), event(0, mark + "invoke", mark + "write", 3),
                 event(name, mark + "info", mark + "kill", None), event(0, mark + "ok", mark + "write", 3)]
        out = run("-", stdin="\n".join(lines).encode(), want=0).stdout.decode()
        assert "1 operation by 1 process" in out, out
    err = run("-", stdin=b"{:process :nemesis, :type :info, :f :kill, :value nil}\n", want=2).stderr.decode()
    assert "no operation to check: only 1 record" in err, err


@test
def atomic_is_sequential_also_when_a_process_goes_on():
    lines = [event(0, "invoke", "write", 1), event(0, "info", "write", 1), event(0, "invoke", "read", None), event(0, "ok", "read", 0),
             event(0, "invoke", "read", None), event(0, "ok", "read", 1)]
    text = "\n".join(lines).encode()
    run("--init=0", "-", stdin=text, want=0)
    run("--init=0", "--condition=sequential", "-", stdin=text, want=0)


@test
def every_answer_is_verified():
    """Whatever algorithm or condition: a report with an order or a proof that verify accepts, keys included."""
    good = atomic_history(30, 2, 2, 5, keys=2)
    bad = good + [event(9, "invoke", "read", None, key=1), event(9, "ok", "read", 77, key=1)]
    with tempfile.TemporaryDirectory() as d:
        log, report = os.path.join(d, "h.json"), os.path.join(d, "r.json")
        for lines, want in ((good, 0), (bad, 1)):
            with open(log, "w") as f:
                f.write("\n".join(lines))
            for args in ([], ["--algorithm=bfs"], ["--algorithm=dfs"], ["--condition=sequential"], ["--condition=regular"], ["--condition=safe"]):
                run("--init=0", *args, "--witness", "--json", report, log, want=want)
                p = subprocess.run([INTACT, "verify", report], capture_output=True, timeout=60)
                hard = want == 1 and args == ["--condition=sequential"]  # every order is tried again, within a budget
                assert p.returncode in ((0, 3) if hard else (0,)), (args, p.stdout, p.stderr)
        for early in ([], [event(0, "invoke", "write", 1), event(0, "ok", "write", 1)]):
            with open(log, "w") as f:  # no k explains it
                f.write("\n".join(early + [event(1, "invoke", "read", None), event(1, "ok", "read", 9)]))
            run("--init=0", "--k=min", "--witness", "--json", report, log, want=1)
            p = subprocess.run([INTACT, "verify", report], capture_output=True, timeout=60)
            assert p.returncode == 0, (p.stdout, p.stderr)
        with open(log, "w") as f:
            f.write("\n".join(atomic_history(12, 1, 2, 3, distinct=False)))
        for algorithm in ("soar", "clmt"):
            run("--init=0", "--algorithm=" + algorithm, "--witness", "--json", report, log, want=0)
            assert subprocess.run([INTACT, "verify", report], capture_output=True, timeout=60).returncode == 0


@test
def records_of_two_kinds_are_refused():
    whole = json.dumps({"ClientId": 0, "Input": "read", "Call": 1, "Output": 3, "Return": 2})
    for text in (whole + "\n" + event(1, "invoke", "read", None), event(1, "invoke", "read", None) + "\n" + whole):
        p = run("-", stdin=text.encode(), want=2)
        assert b":2:1: error" in p.stderr and b"mixed-records" in p.stderr, p.stderr


@test
def converted_specifications():
    spec = example("account.spec")
    for form in ("edn", "json", "csv", "log"):
        text = run("convert", "--spec", spec, "--to=" + form, example("account-bad.edn"), want=0).stdout
        run("--spec", spec, "-", stdin=text, want=1)


@test
def k_is_about_registers():
    assert b"registers" in run("--k=2", example("queue.csv"), want=2).stderr
    assert b"registers" in run("--k=min", example("queue.csv"), want=2).stderr
    cas = "\n".join([event(0, "invoke", "cas", [0, 1]), event(0, "ok", "cas", [0, 1])]).encode()
    assert b"registers" in run("--k=2", "--init=0", "-", stdin=cas, want=2).stderr
    assert b"registers" in run("--k=2", "--init=0", "--follow", "-", stdin=cas, want=2).stderr
    run("--k=2", example("stale-read.edn"), want=0)
    run("--k=2", "--follow", "--init=0", example("stale-read.edn"), want=0)
    assert b"registers" in run("-c", "safe", "-", stdin=cas, want=2).stderr


@test
def initial_value_counts():
    h = "\n".join([event(0, "invoke", "read", None), event(0, "ok", "read", 5)]).encode()
    run("--init=5", "-", stdin=h, want=0)
    run("--init=0", "-", stdin=h, want=1)
    out = run("-", stdin=h, want=0).stdout.decode()
    assert "initially 5 (guessed)" in out, out


@test
def several_files_worst_code():
    run(example("queue.csv"), example("stale-read.edn"), want=1)
    run(example("queue.csv"), "/nonexistent", example("stale-read.edn"), want=2)


@test
def convert_keeps_the_verdict():
    for to in ("edn", "json", "csv", "log"):
        for name, want in (("stale-read.edn", 1), ("queue.csv", 0)):
            p = run("convert", "--to=" + to, example(name), want=0)
            run("-", stdin=p.stdout, want=want)


@test
def json_is_deterministic_and_verified():
    cases = [("stale-read.edn", [], 1), ("queue.csv", [], 0), ("two-keys.json", [], 1),
             ("stale-read.edn", ["-c", "regular"], 0), ("stale-read.edn", ["-c", "safe"], 0)]
    for name, options, want in cases:
        a = run("--json", "--witness", *options, example(name), want=want).stdout
        assert a == run("--json", "--witness", *options, example(name)).stdout
        document = json.loads(a)
        report = document["results"][0]
        assert document["verdict"] == report["verdict"] == ("violated" if want else "holds")
        with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
            f.write(a.decode())
            f.flush()
            run("--verify=" + f.name, example(name), want=0)
            # the other verdict is not accepted
            report["verdict"] = "holds" if want else "violated"
            for p in report["parts"]:
                p["verdict"] = report["verdict"]
            f.seek(0)
            f.truncate()
            f.write(json.dumps(document))
            f.flush()
            run("--verify=" + f.name, example(name), want=1)


@test
def the_verify_command_takes_history_reports():
    def verify(*args):
        return subprocess.run([INTACT, "verify", *args], capture_output=True, timeout=60, env=dict(os.environ, NO_COLOR="1"))
    with tempfile.TemporaryDirectory() as d:
        r = os.path.join(d, "r.json")
        for name, options in (("stale-read.edn", []), ("queue.csv", []), ("two-keys.json", []), ("stale-read.edn", ["-c", "regular"]),
                              ("account-bad.edn", ["--spec", example("account.spec")])):
            report = json.loads(run("--json", "--witness", *options, example(name)).stdout)
            json.dump(report, open(r, "w"))
            for args in ([r], [r, example(name)]):
                p = verify(*args)
                assert p.returncode == 0 and p.stdout.startswith(b"accepted: "), p.stdout + p.stderr
            one = report["results"][0]
            report["verdict"] = one["verdict"] = "holds" if report["verdict"] == "violated" else "violated"
            for part in one["parts"]:
                part["verdict"] = report["verdict"]
            json.dump(report, open(r, "w"))
            p = verify(r)
            assert p.returncode == 1 and p.stdout.startswith(b"rejected: "), p.stdout + p.stderr
        one["file"] = "/nonexistent"
        json.dump(report, open(r, "w"))
        assert verify(r).returncode == 2


@test
def specifications():
    spec = example("account.spec")
    out = run("--spec", spec, example("account-bad.edn"), want=1).stdout.decode()
    assert "withdraw 8 -> true by process 1 (line 3) cannot be explained" in out and "{balance = 3}" in out, out
    run("--spec", spec, "--follow", example("account-bad.edn"), want=1)
    run("--spec", spec, "-c", "sequential", example("account-bad.edn"), want=1)
    for algorithm, want in (("dfs", 1), ("bfs", 1), ("brute", 1), ("zones", 2), ("soar", 2), ("direct", 2)):
        run("--spec", spec, "--algorithm=" + algorithm, example("account-bad.edn"), want=want)
    queue = example("bounded-queue.spec")
    csv = b"client,op,value,call,return,result\n0,put,1,1,4,true\n1,put,2,2,3,true\n0,put,3,5,6,true\n1,get,,7,8,2\n0,put,4,9,10,%s\n"
    run("--spec", queue, "-", stdin=csv % b"true", want=0)
    run("--spec", queue, "-", stdin=csv % b"false", want=1)
    for args in (["--object=queue"], ["--init=3"], ["-c", "safe"], ["--k=2"], ["--delta"]):
        p = run("--spec", queue, *args, "-", stdin=csv % b"true", want=2)
        assert b"--spec" in p.stderr, p.stderr
    with tempfile.NamedTemporaryFile("w", suffix=".atm") as f:
        f.write(open(spec).read().replace("balance -= n", "balnce -= n"))
        f.flush()
        p = run("--spec", f.name, example("account-bad.edn"), want=2)
        assert b":15:5: error:" in p.stderr and b"did you mean 'balance'" in p.stderr and b"spec__" not in p.stderr, p.stderr
    p = run("--spec", queue, example("account-bad.edn"), want=2)
    assert b":1:33: error: 'deposit' is not a known operation" in p.stderr and b"put get" in p.stderr, p.stderr
    p = run("--spec", "/nonexistent", example("account-bad.edn"), want=2)
    p = run("--spec", queue, "-", stdin=b'{"process":0,"type":"invoke","f":"put","value":"x"}\n', want=2)
    assert b"not a value of its type" in p.stderr, p.stderr
    # names that are words of the language, and a choice
    chooses = "object o { int x; bool cas_(int a, int b) { if (x != a) { return false; } x = b; return true; } " \
              "int get_any() { return any(0..2); } }"
    lines = [event(0, "invoke", "cas", [0, 1]), event(0, "ok", "cas", True), event(0, "invoke", "get-any", None)]
    with tempfile.NamedTemporaryFile("w", suffix=".atm") as f:
        f.write(chooses)
        f.flush()
        for answer, want in ((0, 0), (2, 0), (3, 1)):
            run("--spec", f.name, "-", stdin="\n".join(lines + [event(0, "ok", "get-any", answer)]).encode(), want=want)
        run("--spec", f.name, "--follow", "-", stdin="\n".join(lines).encode(), want=2)


@test
def verify_refuses_a_spoiled_order():
    lines = "\n".join(atomic_history(300, 2, 3, 5)).encode()
    with tempfile.TemporaryDirectory() as d:
        h, r = os.path.join(d, "h.json"), os.path.join(d, "r.json")
        open(h, "wb").write(lines)
        report = json.loads(run("--json", "--witness", h, want=0).stdout)
        json.dump(report, open(r, "w"))
        run("--verify=" + r, h, want=0)
        order = report["results"][0]["parts"][0]["order"]
        order[0], order[-1] = order[-1], order[0]
        json.dump(report, open(r, "w"))
        p = run("--verify=" + r, h, want=1)
        assert b"rejected: " in p.stdout, p.stdout


@test
def jobs_do_not_change_the_answer():
    lines = "\n".join(atomic_history(4000, 3, 5, 7, keys=40)).encode()
    a = run("--json", "--init=0", "-", stdin=lines, want=0).stdout
    assert a == run("--json", "--init=0", "-j4", "-", stdin=lines, want=0).stdout
    assert len(json.loads(a)["results"][0]["parts"]) == 40


@test
def limits_are_unknown():
    lines = "\n".join(atomic_history(20000, 1, 4, 3)).encode()
    p = run("--max-memory=100K", "-", stdin=lines, want=3)
    assert b"memory" in p.stdout, p.stdout
    # sixty concurrent increments and a read nobody can explain: a search too long
    hard = [event(i, "invoke", "add", 2 ** i) for i in range(28)] + [event(99, "invoke", "read", None)]
    hard += [event(99, "ok", "read", -1)] + [event(i, "ok", "add", 2 ** i) for i in range(28)]
    p = run("--object=counter", "--timeout=1", "--json=-", "-", stdin="\n".join(hard).encode(), want=3)
    assert json.loads(p.stdout)["results"][0]["limit"] in ("time", "memory"), p.stdout


@test
def follow_reports_before_the_end():
    lines = atomic_history(2000, 1, 3, 11)
    last = [json.loads(x) for x in lines if '"ok"' in x and '"write"' in x][-1]["value"]
    stale = [event(50, "invoke", "read", None), event(50, "ok", "read", last - 1)]
    p = subprocess.Popen([INTACT, "history", "--follow", "--init=0", "--json=-", "-"], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE)
    p.stdin.write(("\n".join(lines + stale) + "\n").encode())
    p.stdin.flush()
    # the pipe stays open: the answer must come from what was written
    assert p.wait(timeout=60) == 1
    r = json.loads(p.stdout.read())["results"][0]
    assert r["line"] == len(lines) + 2 and r["verdict"] == "violated", r
    p.stdin.close()
    out = run("--follow", "--init=0", "-", stdin="\n".join(lines).encode(), want=0).stdout.decode()
    assert "atomic so far" in out and "2000 operations" in out, out


@test
def follow_sees_pairs():
    def two_keys(first):
        rest = [event(0, "invoke", "write", ["y", 2]), event(0, "ok", "write", ["y", 2]), event(1, "invoke", "read", ["x", None]),
                event(1, "ok", "read", ["x", 1])]
        return [event(0, "invoke", "write", first), event(0, "ok", "write", first)] + rest
    text = "\n".join(two_keys(["x", 1])).encode()
    for args in ([], ["--pairs=yes"]):
        out = run("--follow", *args, "-", stdin=text, want=0).stdout.decode()
        assert "6 operations" not in out and "initially 0" in out, out
    run("--follow", "--pairs=no", "-", stdin=text, want=1)
    bad = text.replace(b'["x", 1]}', b'["x", 2]}')
    run("--follow", "-", stdin=bad.replace(b'"write", "value": ["x", 2]', b'"write", "value": ["x", 1]'), want=1)
    late = "\n".join(two_keys(7)).encode()  # the first value is no pair
    p = run("--follow", "-", stdin=late, want=2)
    assert b":5:1: error" in p.stderr and b"--pairs=yes" in p.stderr, p.stderr
    # nothing waits when there are no pairs: told at once, while the pipe is open
    p = subprocess.Popen([INTACT, "history", "--follow", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    p.stdin.write(("\n".join([event(0, "invoke", "write", 1), event(0, "ok", "write", 1), event(1, "invoke", "read", None),
                              event(1, "ok", "read", 2)]) + "\n").encode())
    p.stdin.flush()
    assert p.wait(timeout=60) == 1
    p.stdin.close()
    p.stdout.close()


@test
def follow_with_specifications():
    good = [event(0, "invoke", "deposit", 5), event(0, "ok", "deposit", 5), event(1, "invoke", "withdraw", 5)]
    out = run("--follow", "--spec", example("account.spec"), "-", want=0, stdin="\n".join(good + [event(1, "ok", "withdraw", True)]).encode())
    assert "checked as: account" in out.stdout.decode(), out.stdout
    bad = good + [event(1, "ok", "withdraw", False), event(0, "invoke", "deposit", 5)]
    out = run("--follow", "--spec", example("account.spec"), "-", want=1, stdin="\n".join(bad).encode()).stdout.decode()
    assert "certain since line 4" in out and "{balance = 5}" in out, out
    with tempfile.NamedTemporaryFile("w", suffix=".atm") as f:
        f.write("object coin { bool toss() { return any(bool); } }\n")
        f.flush()
        p = run("--follow", "--spec", f.name, "-", stdin=b"", want=2)
        assert b"does not support nondeterministic specifications" in p.stderr, p.stderr


@test
def programs_link_with_the_library_alone():
    """The C API in C and in C++: -lintact and threads, and nothing else."""
    lib = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(INTACT)))), "libintact.a")
    with open(lib, "rb") as f:
        flags = ["-fsanitize=address,undefined"] if b"__asan_init" in f.read() else []
    cc, cxx = ("clang", "clang++") if "clang" in lib else ("cc", "c++")
    program = """#include <intact/history.h>
#include <thread>
#include <vector>
int main(int argc, char **) {
    intact_history *h = intact_history_new(INTACT_COUNTER, 0);
    std::vector<std::thread> threads;
    for (int i = 0; i < 16; i++)
        threads.emplace_back([=] {
            intact_recorder *r = intact_history_recorder(h);
            for (int k = 0; k < 3; k++) { intact_invoke(r, INTACT_ADD, 0); intact_return(r, 0); }
            intact_invoke(r, INTACT_READ, 0);
            intact_return(r, i == 7 && argc > 1);
        });
    for (auto &t : threads) t.join();
    int verdict = intact_history_check(h);
    intact_history_free(h);
    return verdict;
}
"""
    with tempfile.TemporaryDirectory() as d:
        source = os.path.join(d, "api.cc")
        with open(source, "w") as f:
            f.write(program)
        for compiler, text in ((cc, example("ring.c")), (cxx, source)):
            exe = os.path.join(d, "exe")
            p = subprocess.run([compiler, "-O1", "-Wall", "-Wextra", "-Werror", *flags, "-I", os.path.join(ROOT, "include"), text, lib,
                                "-lpthread", "-o", exe], capture_output=True, text=True)
            assert p.returncode == 0, p.stderr
            p = subprocess.run([exe], capture_output=True, text=True, timeout=60)
            assert p.returncode == 0, p.stdout + p.stderr
        p = subprocess.run([exe, "wrong"], capture_output=True, text=True, timeout=60)
        assert p.returncode == 1, p.stdout + p.stderr


@test
def follow_needs_events():
    p = run("--follow", example("queue.csv"), want=2)
    assert b"not whole operations" in p.stderr, p.stderr


@test
def objects_table():
    """The help, `intact explain objects` and docs/history.md list the same objects with the same operations."""
    names = run("--help", want=0).stdout.decode().split("(guess, ")[1].split(")")[0].split(", ")
    page = subprocess.run([INTACT, "explain", "objects"], capture_output=True, text=True, check=True).stdout
    shown = dict(line[2:].split(None, 1) for line in page.splitlines() if line.startswith("  ") and line[2:].split()[0] in names)
    doc = open(os.path.join(ROOT, "docs/history.md")).read().split("## Objects")[1].split("###")[0]
    rows = dict(re.findall(r"^\| `([\w-]+)` \| (.*) \|$", doc, re.M))
    assert list(shown) == names and rows == shown, f"{set(rows.items()) ^ set(shown.items())}"


def csv(*rows):
    return ("client,op,value,result,call,return\n" + "".join(f"{r}\n" for r in rows)).encode()


@test
def deque():
    """Both ends; the names of the operations alone tell that it is one."""
    fill = ["1,push-back,1,,0,1", "1,push-back,2,,2,3", "1,pushFront,0,,4,5"]
    out = run("-", stdin=csv(*fill, "2,steal,,0,6,7", "2,pop_back,,2,8,9", "2,pop-front,,1,10,11", "2,pop-back,,nil,12,13"), want=0)
    assert b"deque (guessed)" in out.stdout, out.stdout
    out = run("-", stdin=csv(*fill, "2,pop-back,,0,6,7"), want=1).stdout.decode()
    assert "pop-back -> 0" in out, out
    run("--object=deque", "--init=[7 8]", "-", stdin=csv("1,pop,,8,0,1", "1,steal,,7,2,3", "1,push,1,,4,5"), want=0)
    assert b"not an operation of this object" in run("-", stdin=csv(*fill, "1,enqueue,1,,6,7"), want=2).stderr
    out = run("convert", "--to=edn", "-", stdin=csv(*fill), want=0).stdout
    assert b"push-front" in out and b"deque (guessed)" in run("-", stdin=out, want=0).stdout
    with tempfile.TemporaryDirectory() as d:
        path, doc = os.path.join(d, "h.csv"), os.path.join(d, "r.json")
        for rows, code in ((fill, 0), ([*fill, "2,pop-back,,0,6,7"], 1)):
            open(path, "wb").write(csv(*rows))
            run("--witness", "--json=" + doc, path, want=code)
            run("--verify=" + doc, path, want=0)


@test
def semaphore():
    """As many as there are permits; a try that fails says that there was none."""
    two = ["1,acquire,,,0,1", "2,acquire,,,2,3"]
    run("--object=semaphore", "--init=2", "-", stdin=csv(*two, "3,try-acquire,,false,4,5", "3,read,,0,6,7"), want=0)
    run("--object=semaphore", "--init=2", "-", stdin=csv(*two, "3,try-acquire,,true,4,5"), want=1)
    run("--object=semaphore", "-", stdin=csv(*two), want=1)
    run("--object=semaphore", "-", stdin=csv(two[0], "1,release,,,2,3", "2,try-wait,,false,4,5"), want=1)
    # guessed from try-acquire; one that never answered may have taken the permit
    assert b"semaphore (guessed)" in run("-", stdin=csv("1,try-acquire,,,0,", "2,try-acquire,,false,2,3"), want=0).stdout
    assert b"from 0 to" in run("--object=semaphore", "--init=-1", "-", stdin=csv(*two), want=2).stderr


@test
def bounded_and_relaxed():
    """The bound must be said; full is an answer; one of the k next may be taken."""
    full = ["1,enqueue,1,,0,1", "1,enqueue,2,,2,3", "2,enqueue,3,false,4,5"]
    p = run("--object=bounded-queue", "-", stdin=csv(*full), want=2)
    assert b"a bounded-queue needs an initial value" in p.stderr and b"--init=N: the bound" in p.stderr, p.stderr
    assert b"bounded-queue" in run("-", stdin=csv("1,try-enqueue,1,,0,1"), want=2).stderr  # guessed from try-enqueue
    for init in ("0", "x", "[]", "[1 7 8]"):
        assert b"cannot start as" in run("--object=bounded-queue", "--init=" + init, "-", stdin=csv(*full), want=2).stderr
    run("--object=bounded-queue", "--init=2", "-", stdin=csv(*full), want=0)
    out = run("--object=bounded-queue", "--init=3", "-", stdin=csv(*full), want=1).stdout.decode()
    assert "try-enqueue 3 -> false" in out and "[1 2] of 3" in out, out
    run("--object=bounded-queue", "--init=1", "-", stdin=csv(*full), want=1)
    run("--object=bounded-queue", "--init=[3 9]", "-", stdin=csv(*full, "2,dequeue,,9,6,7", "2,dequeue,,1,8,9"), want=0)
    fill = ["1,enqueue,%d,,%d,%d" % (i, 2 * i, 2 * i + 1) for i in range(3)]
    for k, value, want in ((1, 1, 1), (2, 1, 0), (2, 2, 1), (3, 2, 0), (2, "nil", 1)):
        run("--object=relaxed-queue", "--init=%d" % k, "-", stdin=csv(*fill, f"2,dequeue,,{value},8,9"), want=want)
    for name, put, take, value in (("relaxed-stack", "push", "pop", 0), ("relaxed-priority-queue", "insert", "poll", 2)):
        rows = csv(*(f.replace("enqueue", put) for f in fill), f"2,{take},,{value},8,9", "2,peek,,1,10,11")
        run("--object=" + name, "--init=2", "-", stdin=rows, want=1)
        run("--object=" + name, "--init=3", "-", stdin=rows, want=0)
    assert b"--follow cannot check a relaxed-queue" in run("--object=relaxed-queue", "--init=2", "--follow", "-", want=2,
                                                          stdin=b'{"process":0,"type":"invoke","f":"enqueue","value":1}\n').stderr
    with tempfile.TemporaryDirectory() as d:
        path, doc = os.path.join(d, "h.csv"), os.path.join(d, "r.json")
        for name, init, rows, code in (("bounded-queue", 2, full, 0), ("bounded-queue", 3, full, 1),
                                       ("relaxed-queue", 2, [*fill, "2,dequeue,,1,8,9"], 0), ("relaxed-queue", 2, [*fill, "2,dequeue,,2,8,9"], 1)):
            open(path, "wb").write(csv(*rows))
            run("--object=" + name, "--init=%d" % init, "--witness", "--json=" + doc, path, want=code)
            run("--verify=" + doc, path, want=0)


@test
def known_histories():
    """Histories that are not ours are tried when INTACT_HISTORIES names a
    directory with jepsen/etcd_*.log (and kv/*-ok.txt, kv/*-bad.txt)."""
    top = os.environ.get("INTACT_HISTORIES")
    if not top:
        print("# skipped: INTACT_HISTORIES is not set")
        return
    good = {2, 5, 7, 18, 25, 31, 38, 45, 48, 49, 51, 53, 56, 67, 75, 76, 80, 87, 92, 98, 100, 101, 102}
    logs = sorted(os.listdir(os.path.join(top, "jepsen")))
    for name in logs:
        path = os.path.join(top, "jepsen", name)
        if os.path.getsize(path):
            run("-o", "cas-register", "--init=nil", path, want=0 if int(name[5:8]) in good else 1)
    for name in sorted(os.listdir(os.path.join(top, "kv"))):
        run(os.path.join(top, "kv", name), want=0 if name.endswith("-ok.txt") else 1)


failed = 0
for i, t in enumerate(tests, 1):
    try:
        t()
        print(f"ok {i} - {t.__name__}")
    except Exception as e:  # the harness reports whatever went wrong
        failed += 1
        print(f"not ok {i} - {t.__name__}")
        for line in f"{type(e).__name__}: {e}".splitlines():
            print("# " + line)
    sys.stdout.flush()
print(f"1..{len(tests)}")
sys.exit(failed != 0)
