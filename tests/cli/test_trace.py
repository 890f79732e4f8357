#!/usr/bin/env python3
"""intact trace as a user meets it: verdicts, exit codes, formats, pipes,
damage, JSON and its verification; and both algorithms on larger random
traces, every cycle through `trace verify`, corrupted reports rejected.

INTACT_TRACE_RUNS sets the number of large random traces, INTACT_SEED the seed."""
import copy
import gzip
import json
import os
import random
import sys
import tempfile
from pathlib import Path

from tap import check, done, run

intact, root = sys.argv[1], Path(sys.argv[2])
examples = root / "examples" / "traces"
tmp = Path(tempfile.mkdtemp(prefix="intact-trace-"))


def trace(*args, stdin=None):
    return run([intact, "trace", *args], stdin=stdin)


def report(*args):
    rc, out, err = trace("--json=-", *args)
    return rc, json.loads(out), err


def write(name, text):
    p = tmp / name
    p.write_bytes(text.encode() if isinstance(text, str) else text)
    return p


# ---- verdicts ---------------------------------------------------------------
lost, sbuf, ok2pl, crossed = (examples / f"{n}.std" for n in ("lost-update", "stringbuffer", "two-phase", "crossed"))
for path, want in ((lost, 1), (sbuf, 0), (ok2pl, 0), (crossed, 1)):
    for algorithm in ("clock", "graph"):
        rc, out, err = trace("--algorithm=" + algorithm, path)
        check(f"{path.name} {algorithm}: exit {want}", rc == want and not err, out + err)
rc, out, err = trace(lost)
check("the lost update names block, accesses, closing edge",
      "block `deposit` begun at 10" in out and "r(balance) at 11" in out and "closes the cycle" in out, out)
rc, out, err = trace("-q", lost, ok2pl)
check("several files: the worst counts", rc == 1 and out.count("serializable:") == 2 and len(out.splitlines()) == 2, out)
rc, out, err = trace(lost, tmp / "missing.std")
check("a missing file: exit 2, and the other one is judged", rc == 2 and "No such file" in err and "not serializable" in out, err)
check("no file: usage", trace()[0] == 2)
check("an empty trace is serializable", trace("-", stdin="")[0] == 0)
rc, out, err = trace("-", stdin=lost.read_text())
check("a pipe", rc == 1 and "not atomic" in out)

# ---- what is a transaction ---------------------------------------------------
def verdict(text, *args):
    return trace(*args, "-", stdin=text.replace(";", "\n"))[0]


check("events outside of blocks alone are serializable", verdict("A|r(x)|1;B|w(x)|2;A|w(x)|3") == 0)
check("an open block at the end counts", verdict("A|begin|0;A|r(x)|1;B|w(x)|2;A|w(x)|3") == 1)
check("two open blocks at the end, crossed", verdict("A|begin|1;A|w(x)|2;B|begin|3;B|w(y)|4;B|r(x)|5;A|r(y)|6") == 1)
check("nested blocks belong to the outermost", verdict("A|begin|0;A|begin|0;A|r(x)|1;A|end|1;B|w(x)|2;A|begin|1;A|w(x)|3;A|end|4;A|end|5") == 1)
check("two blocks after another do not", verdict("A|begin|0;A|r(x)|1;A|end|1;B|w(x)|2;A|begin|1;A|w(x)|3;A|end|4") == 0)
check("locks order blocks", verdict("A|begin|0;A|acq(m)|1;A|rel(m)|1;B|acq(m)|1;B|rel(m)|2;A|acq(m)|3;A|end|4") == 1)
check("reads alone do not conflict", verdict("A|begin|0;A|r(x)|1;B|r(x)|1;A|r(x)|3;A|end|4") == 0)
check("fork and join order", verdict("A|begin|0;A|fork(B)|1;B|w(x)|1;A|join(B)|3;A|end|4") == 1)
check("a fork alone does not", verdict("A|begin|0;A|fork(B)|1;B|w(x)|1;A|end|4;A|join(B)|3") == 0)
rc, out, err = trace("-", stdin="A|begin(o)|1\nA|w(z)|1\nA|begin(i)|2\nA|r(x)|3\nB|w(x)|4\nA|w(x)|5\nA|end|6\nA|end|7\n")
check("the nested block that holds it is named", "The nested block `i` begun at 2" in out, out)
rc, out, err = trace("-a", "graph", "-", stdin="A|begin(o)|1\nA|w(z)|1\nA|begin(i)|2\nA|r(x)|3\nB|w(x)|4\nA|w(x)|5\nA|end|6\nA|end|7\n")
check("the nested block that holds it is named by the graph too", "The nested block `i` begun at 2" in out, out)

# ---- ill-formed and strange --------------------------------------------------
rc, out, err = trace("-", stdin="A|acq(m)|1\nB|acq(m)|2\n")
check("a lock held twice: error with line, exit 2, no verdict",
      rc == 2 and "<stdin>:2: error: thread B acquires lock m, which thread A holds since event 1" in err and not out, err)
rc, out, err = trace("--lenient", "-", stdin="A|acq(m)|1\nB|acq(m)|2\n")
check("--lenient goes on with a warning", rc == 0 and "warning" in err and "serializable" in out, err)
rc, out, err = trace("-", stdin="A|rel(m)|1\nA|end|1\n")
check("a start in the middle is a warning", rc == 0 and err.count("warning") == 2, err)
rc, out, err = trace("-", stdin="T1|w(x)|1\nT1|wr(x)|12\n")
check("a syntax error has a place and a caret", rc == 2 and "<stdin>:2:4: error: unknown operation" in err and "       |    ^~" in err, err)
rc, out, err = trace("-", stdin=b"T1|w(\x1b[31mx)|1\nT\xff|r(\x1b[31mx)|\x07\nT1|begin|1\nT1|r(\x1b[31mx)|1\nB|w(\x1b[31mx)|1\nT1|w(\x1b[31mx)|1\n")
check("names cannot act on the terminal", rc == 1 and "\x1b" not in out + err, out + err)
wide = write("wide.std", "".join(f"A|w(v{i})|1\n" for i in range(5000)))
check("many variables are no problem", trace(wide)[0] == 0)
rc, out, err = trace("--memory=64K", wide)
check("a used-up budget is unknown and says so", rc == 3 and "unknown: out of memory" in out, out + err)
rc, j, err = report("--memory=64K", wide)
check("a budget of nothing too", trace("--memory=1", ok2pl)[0] == 3)
check("also in JSON", rc == 3 and j["results"][0]["verdict"] == "unknown" and j["results"][0]["limit"] == "memory")
check("a directory is no trace", trace(tmp)[0] == 2)
check("a wrong option is answered", "did you mean '--predict'" in trace("--predikt", lost)[2])

# ---- formats -----------------------------------------------------------------
def convert(a, b, *args):
    rc, out, err = trace("convert", *args, a, b)
    return check(f"convert {Path(a).name} to {Path(b).name} {' '.join(args)}", rc == 0 and not err, out + err)


plain = "".join(l + "\n" for l in lost.read_text().splitlines() if not l.startswith("#"))
for name, args in (("a.itr", ()), ("a.raw", ("--compress=none",)), ("a.std.zst", ()), ("a.std.gz", ()), ("a.txt", ())):
    convert(lost, tmp / name, *args)
    rc, out, err = trace("-q", tmp / name)
    check(f"{name} is judged the same", rc == 1 and not err, out + err)
    rc, out, err = trace("convert", tmp / name, "-")
    check(f"{name} back to text", rc == 0 and out == plain, out + err)
rc, out, err = trace("-q", "-", stdin=gzip.compress(lost.read_bytes()) + gzip.compress(b"X|w(q)|1\n"))
check("gzip with two members through a pipe", rc == 1 and "(13 events)" in out, out + err)
rc, out, err = trace("convert", "--to=std", "--numeric", sbuf, "-")
check("--numeric writes numbers only", rc == 0 and all(l.split("|")[2].isdigit() for l in out.splitlines()), out)
data = (tmp / "a.itr").read_bytes()
rc, out, err = trace("-q", write("cut.itr", data[:-10]))
check("a cut file: warning, verdict of what is there", rc in (0, 1) and "[damaged-trace]" in err and "the readable part" in out, err)
bad = bytearray(data)
bad[-60] ^= 4
rc, out, err = trace("-q", write("flip.itr", bytes(bad)))
check("a wrong bit: warning", "[damaged-trace]" in err, err)
rc, out, err = trace("convert", lost, "/dev/full")
check("a full disk is told", rc == 2 and "cannot write" in err, err)
check("IN and OUT the same is refused", trace("convert", tmp / "a.itr", tmp / "a.itr")[0] == 2)

# ---- stats -------------------------------------------------------------------
rc, out, err = trace("stats", lost)
check("stats", rc == 0 and "events     12" in out and "threads    3" in out and "2 outermost" in out, out)
rc, out, err = trace("stats", "--json", lost)
s = json.loads(out)
check("stats --json", s["stats"]["kinds"]["w"] == 2 and s["stats"]["hot_variables"][0]["name"] == "balance"
      and s["complete"] and s["format"] == "std", out)

# ---- prediction --------------------------------------------------------------
rc, out, err = trace("--predict", sbuf)
check("StringBuffer: all three places of the paper's warning",
      rc == 1 and "entered at             T1 begin at StringBuffer.java:445" in out
      and "commits at             T1 rel(sb) at StringBuffer.java:144" in out
      and "violated at            T1 acq(sb) at StringBuffer.java:326" in out, out)
check("StringBuffer: and a run that breaks it", "can be broken (proven)" in out and "T2 does 18-20, then T1 does 11-12." in out, out)
w = tmp / "witness.std"
rc, out, err = trace("--predict", "--witness", w, sbuf)
check("the witness is a trace in which the block is broken", rc == 1 and not err and trace("-q", w)[0] == 1
      and "block `append` begun at StringBuffer.java:445" in trace(w)[1], err)
check("no witness from a pipe: told", "no witness written" in trace("-p", "--witness", w, "-", stdin=sbuf.read_text())[2])
check("--witness alone is a mistake", trace("--witness", w, sbuf)[0] == 2)
rc, j, err = report("--predict", sbuf)
p = j["results"][0]["predicted"]
check("the same in JSON", p["proven"] == 1 and p["possible"] == 1 and j["results"][0]["serializable"] is True)
rc, out, err = trace("--predict", ok2pl)
check("two-phase locking: nothing to predict", rc == 0 and "0 proven, 0 possible" in out, out)
rc, j, err = report("--predict", "--window=16", lost)
check("a small window works", rc == 1 and j["results"][0]["predicted"]["proven"] >= 1)

# ---- merging -----------------------------------------------------------------
many = "".join(f"A|begin|1\nA|r(x{i})|2\nB|w(x{i})|3\nA|w(x{i})|4\nA|end|5\n" for i in range(100))
rc, out, err = trace(write("many.std", many))
check("the same places are one finding with a count", "100 of 100 blocks" in out and "[100 times at these places" in out
      and "\n2. " not in out, out[:400])
rc, j, err = report("--each", "--limit=0", tmp / "many.std")
check("--each shows every block", len(j["results"][0]["findings"]) == 100)
rc, j, err = report("--each", tmp / "many.std")
check("the limit is told", len(j["results"][0]["findings"]) == 50 and j["results"][0]["findings_not_shown"] == 50)

# ---- verify ------------------------------------------------------------------
def verify(j, path):
    return trace("verify", write("report.json", json.dumps(j)), path)


rc, j, err = report(lost)
rc, out, err = verify(j, lost)
check("verify accepts", rc == 0 and "1 of 1 cycle accepted" in out, out + err)
rc, out, err = verify(j, crossed)
check("verify rejects it for another trace", rc == 1, out + err)
rc, out, err = run([intact, "verify", write("report.json", json.dumps(j)), lost])
check("intact verify does the same", rc == 0 and "1 of 1 cycle accepted" in out, out + err)
rc, out, err = run([intact, "verify", write("report.json", json.dumps(j))])
check("and finds the trace the report names", rc == 0, out + err)
k = copy.deepcopy(j)
k["results"][0]["findings"] = []
check("a verdict without findings is rejected", verify(k, lost)[0] == 1)
k = copy.deepcopy(j)
k["results"][0].update(findings=[], serializable=True, verdict="holds", violating_blocks=0)
k["verdict"] = "holds"
rc, out, err = verify(k, lost)
check("called serializable, it is rejected with a cycle", rc == 1 and "rejected: trace: its conflicts close a cycle through what begins at event 3, " in out, out + err)
rc, j, err = report(write("serial.std", "T1|begin|1\nT1|w(x)|2\nT1|end|3\nT2|begin|1\nT2|r(x)|2\nT2|end|3\n"))
rc, out, err = verify(j, tmp / "serial.std")
check("and what is serializable is accepted", rc == 0 and "accepted: trace: its conflicts close no cycle" in out, out + err)
rc, j, err = report(lost)
check("verify wants a report", verify([], lost)[0] == 2 and trace("verify", lost, lost)[0] == 2)


# ---- larger random traces ----------------------------------------------------
def generate(rng, n, threads, nvars, nlocks):
    """A well-formed trace, mostly serializable, with reentrant locks and nesting."""
    lines, depth, held, owner = [], [0] * threads, [[] for _ in range(threads)], {}
    while len(lines) < n:
        t = rng.randrange(threads)
        k = rng.random()
        loc = rng.randrange(1, 400)
        if k < 0.5 and (held[t] or rng.random() < 0.08):
            base = rng.choice(held[t]) if held[t] and rng.random() < 0.97 else rng.randrange(nlocks)
            lines.append(f"T{t}|{'rw'[rng.random() < 0.4]}(V{base}.{rng.randrange(nvars)})|{loc}")
        elif k < 0.7:
            lock = rng.randrange(nlocks)
            if owner.get(lock, t) == t and len(held[t]) < 4:
                owner[lock] = t
                held[t].append(lock)
                lines.append(f"T{t}|acq(L{lock})|{loc}")
        elif k < 0.85 and held[t]:
            lock = held[t].pop()
            if lock not in held[t]:
                del owner[lock]
            lines.append(f"T{t}|rel(L{lock})|{loc}")
        elif k < 0.92 and depth[t] < 3 and (not held[t] or rng.random() < 0.1):
            depth[t] += 1
            lines.append(f"T{t}|begin|{loc}")
        elif depth[t]:
            depth[t] -= 1
            lines.append(f"T{t}|end|{loc}")
    return "\n".join(lines) + "\n"


def blocks(j):
    return sorted(f["closing"]["block"]["event"] for f in j["results"][0]["findings"])


def corruptions(rng, f):
    """Reports that claim something the trace does not have."""
    for what in ("event", "op", "thread", "block", "drop", "rotate", "swap"):
        g = copy.deepcopy(f)
        c = g["cycle"]
        e = rng.choice(c)[rng.choice(["from", "to"])]
        if what == "event":
            e["event"] += 10 ** 9
        elif what == "op":
            e["op"] = "w(nothing)"
        elif what == "thread":
            e["thread"] += "x"
        elif what == "block":
            e["block"] = {"event": e.get("block", {"event": 0})["event"] + 1}
        elif what == "drop":
            c[:] = c[:1]
        elif what == "rotate":
            c.append(c.pop(0))
        else:
            l = rng.choice(c)
            l["from"], l["to"] = l["to"], l["from"]
        yield what, g


def outermost(lines):
    """The place of the begin of the outermost block that the last event stands in."""
    thread, depth, begin = lines[-1].split("|")[0], 0, 0
    for k, l in enumerate(lines, 1):
        if l.startswith(thread + "|begin"):
            begin = begin if depth else k
            depth += 1
        elif l.startswith(thread + "|end"):
            depth -= 1
    return begin


def no_execution(trace, witness):
    """Why the witness is not a run that a program which ran the trace could make; None when it is. Each thread does what
    it did, from its start on; locks are counted; blocks nest; a thread runs after its fork and has ended when it is
    joined; reads read what they read, but a thread's last."""
    own, forks, ends, reads, last = {}, {}, {}, {}, {}
    for i, line in enumerate(trace):
        t, op, _ = line.split("|")
        what, _, target = op.rstrip(")").partition("(")
        own.setdefault(t, []).append(i)
        if what == "fork":
            forks[target] = i
        elif what == "join":
            ends[i] = list(own.get(target, []))
        elif what == "r":
            reads[i] = last.get(target)
        elif what == "w":
            last[target] = i
    at, done, owner, held, depth, wrote, strange = {}, set(), {}, {}, {}, {}, {}
    for n, line in enumerate(witness, 1):
        t, op, _ = line.split("|")
        what, _, target = op.rstrip(")").partition("(")
        k = at.get(t, 0)
        at[t] = k + 1
        if k >= len(own.get(t, [])) or trace[own[t][k]] != line:
            return f"line {n}: {line} is not what {t} does next"
        i = own[t][k]
        if t in strange:
            return f"line {n}: {t} goes on after a read of another value (line {strange[t]})"
        if t in forks and forks[t] < i and forks[t] not in done:
            return f"line {n}: {t} runs before it is forked"
        if what == "acq":
            if held.get(target) and owner[target] != t:
                return f"line {n}: {t} takes {target}, which {owner[target]} holds"
            owner[target], held[target] = t, held.get(target, 0) + 1
        elif what == "rel":
            if not held.get(target) or owner[target] != t:
                return f"line {n}: {t} releases {target}, which it does not hold"
            held[target] -= 1
        elif what == "join" and any(e not in done for e in ends[i]):
            return f"line {n}: {target} is joined before it is done"
        elif what == "begin":
            depth[t] = depth.get(t, 0) + 1
        elif what == "end":
            depth[t] = depth.get(t, 0) - 1
            if depth[t] < 0:
                return f"line {n}: a block ends that did not begin"
        elif what == "r" and wrote.get(target) != reads[i]:
            strange[t] = n
        elif what == "w":
            wrote[target] = i
        done.add(i)
    return None


def small(rng):
    """A small trace in which blocks nest, locks are taken again, and threads are forked and joined in blocks."""
    lines, depth, held, owner = [], {}, {}, {}
    alive, fresh = ["A", "B"], ["C", "D"]
    while len(lines) < rng.randrange(10, 30):
        t, k, loc = rng.choice(alive), rng.random(), len(lines) + 1
        if k < 0.45:
            lines.append(f"{t}|{'rw'[rng.random() < 0.5]}({rng.choice('xy')})|{loc}")
        elif k < 0.57:
            lock = rng.choice("mn")
            if owner.get(lock, t) == t:
                owner[lock] = t
                held.setdefault(t, []).append(lock)
                lines.append(f"{t}|acq({lock})|{loc}")
        elif k < 0.7 and held.get(t):
            lock = held[t].pop(rng.randrange(len(held[t])))
            if lock not in held[t]:
                del owner[lock]
            lines.append(f"{t}|rel({lock})|{loc}")
        elif k < 0.8 and depth.get(t, 0) < 3:
            depth[t] = depth.get(t, 0) + 1
            lines.append(f"{t}|begin|{loc}")
        elif k < 0.88 and depth.get(t):
            depth[t] -= 1
            lines.append(f"{t}|end|{loc}")
        elif k < 0.95 and fresh:
            alive.append(fresh.pop())
            lines.append(f"{t}|fork({alive[-1]})|{loc}")
        elif k > 0.97 and len(alive) > 2:
            other = alive.pop()
            if other != t:
                lines.append(f"{t}|join({other})|{loc}")
            else:
                alive.append(other)
    return "\n".join(lines) + "\n"


seed = int(os.environ.get("INTACT_SEED", "1"))
runs = int(os.environ.get("INTACT_TRACE_RUNS", "6"))
rng = random.Random(seed)
found = rejected = tried = proven = 0
bad = []
for i in range(runs):
    path = write("random.std", generate(rng, 3000, rng.randrange(2, 9), 4, rng.randrange(2, 12)))
    a, ja, err = report("--each", "--limit=0", path)
    b, jb, err = report("--each", "--limit=0", "--algorithm=graph", path)
    if a not in (0, 1) or a != b or blocks(ja) != blocks(jb):
        bad.append(f"trace {i}: clock {a} {len(blocks(ja))}, graph {b} {len(blocks(jb))} {err}")
        continue
    found += len(blocks(ja))
    for j in (ja, jb):
        rc, out, err = verify(j, path)
        if rc != 0:
            bad.append(f"trace {i}: {out[:300]}{err[:300]}")
    for f in rng.sample(ja["results"][0]["findings"], min(2, len(ja["results"][0]["findings"]))):
        for what, g in corruptions(rng, f):
            j = copy.deepcopy(ja)
            j["results"][0]["findings"] = [g]
            tried += 1
            if verify(j, path)[0] == 1:
                rejected += 1
            else:
                bad.append(f"trace {i}: corrupted {what} accepted")
    rc, jp, err = report("--predict", "--witness", tmp / "w.std", "--window=200", path)
    if jp["results"][0]["predicted"]["proven"]:
        proven += 1
        rc, jw, err = report("--each", "--limit=0", tmp / "w.std")
        lines = (tmp / "w.std").read_text().splitlines()
        begin = outermost(lines)
        if rc != 1 or all(f["closing"]["block"]["event"] != begin for f in jw["results"][0]["findings"]):
            bad.append(f"trace {i}: the witness does not break its last block {err}")
        why = no_execution(path.read_text().splitlines(), lines)
        if why:
            bad.append(f"trace {i}: the witness is no execution: {why}")
print(f"# seed {seed}: {runs} traces, {found} violating blocks, {rejected} of {tried} corrupted reports rejected, {proven} witnesses")
check("clock and graph agree on large traces, every cycle holds, corrupted ones do not", not bad and found and tried and proven, "\n".join(bad))

# ---- witnesses, strictly -------------------------------------------------------
bad, proven, named = [], 0, 0
for i in range(int(os.environ.get("INTACT_WITNESSES", "250"))):
    path = write("small.std", small(rng))
    (tmp / "w.std").unlink(missing_ok=True)
    rc, jp, err = report("--predict", "--witness", tmp / "w.std", path)
    if not jp["results"][0]["predicted"]["proven"]:
        continue
    proven += 1
    lines, trace_lines = (tmp / "w.std").read_text().splitlines(), path.read_text().splitlines()
    first = next(f for f in jp["results"][0]["predicted"]["findings"] if f["kind"] == "proven")
    why = no_execution(trace_lines, lines)
    rc, jw, err = report("--each", "--limit=0", tmp / "w.std")
    if not why and (rc != 1 or all(f["closing"]["block"]["event"] != outermost(lines)
                                   for f in jw["results"][0]["findings"])):
        why = "it does not break the block"
    # the innermost block that holds both events is the one that is named
    opened = []
    for n, line in enumerate(trace_lines[:first["second"]["event"]], 1):
        if line.startswith(first["second"]["thread"] + "|begin"):
            opened.append(n)
        elif line.startswith(first["second"]["thread"] + "|end"):
            opened.pop()
    around = [b for b in opened if b <= first["first"]["event"]]
    named += len(around) > 1
    if not around or first["begin"]["event"] != around[-1]:
        why = why or f"block {first['begin']['event']} is named, {around} hold both"
    if why:
        bad.append(f"trace {i}: {why}\n" + "".join(f"{l}\n" for l in trace_lines) + "--\n" + "\n".join(lines))
print(f"# seed {seed}: {proven} witnesses, {named} of nested blocks")
check("witnesses are executions, nested begins and re-entrant locks included, and name the innermost block",
      not bad and proven > 50 and named > 10, "\n".join(bad[:2]))

for p in tmp.iterdir():
    p.unlink()
tmp.rmdir()
done()
