#!/usr/bin/env python3
"""Timelines of traces: Chrome's JSON and Perfetto's protobuf are parsed back, tell the same, and agree with the trace.

Usage: test_timeline.py INTACT SOURCE-ROOT      (TAP on stdout)"""
import json
import random
import re
import sys
import tempfile
from pathlib import Path

from tap import check, done, run

intact, root = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
tmp = tempfile.TemporaryDirectory(prefix="intact-timeline-")
work = Path(tmp.name)
GROUPS = ["threads", "locks", "findings"]


def chrome(path):
    """(tracks, events) of Chrome's JSON, each part checked: {(group, id): name}, [(phase, track, time, name, detail)]."""
    doc = json.loads(path.read_text())
    assert set(doc) == {"otherData", "displayTimeUnit", "traceEvents"} and doc["displayTimeUnit"] == "ms", doc.keys()
    tracks, events, processes = {}, [], {}
    for e in doc["traceEvents"]:
        assert type(e["pid"]) is int and type(e["tid"]) is int and e["ph"] in "MBEi", e
        where = (GROUPS[e["pid"] - 1], e["tid"] - 1)
        if e["ph"] == "M":
            assert set(e) == {"ph", "pid", "tid", "name", "args"} and set(e["args"]) == {"name"}, e
            (processes if e["name"] == "process_name" else tracks)[where] = e["args"]["name"]
            continue
        assert type(e["ts"]) is int and e["ts"] > 0, e
        assert set(e) - {"args", "s", "name", "cat"} == {"ph", "pid", "tid", "ts"} and ("name" in e) == (e["ph"] != "E") and ("s" in e) == (e["ph"] == "i"), e
        assert where in tracks, e
        events.append((e["ph"], where, e["ts"], e.get("name"), e.get("args", {}).get("detail")))
    assert [processes[g, 0] for g in GROUPS] == GROUPS, processes
    return tracks, events


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7f) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
        assert shift < 64


def message(data):
    """{field: [values]}: numbers, or bytes."""
    at, fields = 0, {}
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        else:
            assert tag & 7 == 2, tag
            size, at = varint(data, at)
            assert at + size <= len(data)
            value, at = data[at:at + size], at + size
        fields.setdefault(tag >> 3, []).append(value)
    return fields


def perfetto(path):
    """The same of Perfetto's packets (trace_packet.proto, track_event.proto, track_descriptor.proto)."""
    trace = message(path.read_bytes())
    assert set(trace) == {1}
    names, parents, tracks, events = {}, {}, {}, []
    for p in trace[1]:
        p = message(p)
        assert p[10] == [1] and set(p) <= {8, 10, 11, 60}, p
        if 60 in p:
            d = message(p[60][0])
            uuid, names[d[1][0]] = d[1][0], d[2][0].decode()
            parents[uuid] = d.get(5, [0])[0]
            if parents[uuid] and parents[parents[uuid]]:
                tracks[uuid] = (names[parents[uuid]], (uuid & ((1 << 40) - 1)) - 1)
        else:
            e = message(p[11][0])
            assert e[11][0] in tracks and p[8][0] % 1000 == 0, e
            note = message(e[4][0]) if 4 in e else None
            assert note is None or note[10] == [b"detail"]
            events.append((" BEi"[e[9][0]], tracks[e[11][0]], p[8][0] // 1000, e[23][0].decode() if 23 in e else None,
                           note[6][0].decode() if note else None))
            assert 22 not in e or e[22][0].decode() == tracks[e[11][0]][0]
    return {where: names[u] for u, where in tracks.items()}, events


def slices(events, where):
    """[(from, to, name)] of a track; every slice is closed, the innermost first."""
    stack, done_ = [], []
    for phase, w, ts, name, _ in events:
        if w == where and phase == "B":
            stack.append((ts, name))
        elif w == where and phase == "E":
            begin, name = stack.pop()
            assert begin < ts
            done_.append((begin, ts, name))
    assert not stack, stack
    return done_


def make(trace, *options):
    a, b = work / "t.json", work / "t.pftrace"
    for f in (a, b):
        f.unlink(missing_ok=True)
    rc, out, err = run([intact, "trace", *options, f"--chrome={a}", f"--perfetto={b}", trace])
    tracks, events = chrome(a)
    same = perfetto(b)
    assert same == (tracks, events), (same, tracks, events)
    return rc, tracks, events, err


rc, tracks, events, err = make(root / "examples/traces/lost-update.std")
ids = {(g, n): i for (g, i), n in tracks.items()}
check("both formats have the same tracks and events", rc == 1 and {n for (g, i), n in tracks.items() if g == "threads"} == {"main", "T1", "T2"}, tracks)
check("blocks are slices of their threads", slices(events, ("threads", ids["threads", "T1"])) == [(3, 10, "deposit")] and
      slices(events, ("threads", ids["threads", "T2"])) == [(5, 8, "deposit")], events)
check("the finding is a slice from its first event to the closing one", [n for (g, i), n in tracks.items() if g == "findings"] == ["deposit is not atomic (cycle)"] and
      slices(events, ("findings", 0)) == [(4, 9, "deposit is not atomic (cycle)")], events)
check("forks and joins are instants", {(n, ts) for p, w, ts, n, d in events if p == "i"} == {("fork T1", 1), ("fork T2", 2), ("join T1", 11), ("join T2", 12)}, events)

odd = work / "odd.std"
odd.write_text("T1|acq(m)|1\nT1|acq(m)|2\nT1|acq(n)|3\nT1|rel(m)|4\nT1|rel(m)|5\nT1|begin(a)|6\nT1|begin(b)|7\nT1|end(b)|8\nT2|rel(q)|9\nT2|begin|10\n")
rc, tracks, events, err = make(odd)
ids = {(g, n): i for (g, i), n in tracks.items()}
check("a lock taken twice is held once; what is open at the end is closed there", slices(events, ("locks", ids["locks", "m"])) == [(1, 5, "T1")] and
      slices(events, ("locks", ids["locks", "n"])) == [(3, 11, "T1")] and slices(events, ("threads", ids["threads", "T1"])) == [(6, 11, "a")], events)
rng = random.Random(20261116)
for k in range(30):
    held, depth, lines = {}, {}, []
    for i in range(rng.randint(1, 120)):
        t, m = f"T{rng.randint(1, 4)}", f"m{rng.randint(1, 3)}"
        what = rng.choice("rwablue")
        if what == "a" and m not in held:
            held[m] = t
            lines.append(f"{t}|acq({m})|{i}")
        elif what == "l" and held.get(m) == t:
            del held[m]
            lines.append(f"{t}|rel({m})|{i}")
        elif what == "b":
            depth[t] = depth.get(t, 0) + 1
            lines.append(f"{t}|begin(x)|{i}")
        elif what == "e" and depth.get(t):
            depth[t] -= 1
            lines.append(f"{t}|end(x)|{i}")
        else:
            lines.append(f"{t}|{rng.choice('rw')}(v)|{i}")
    odd.write_text("\n".join(lines) + "\n")
    rc, tracks, events, err = make(odd)
    # a naive twin: who holds each lock, and the outermost blocks
    want, since = {}, {}
    for i, line in enumerate(lines, 1):
        t, op, _ = line.split("|")
        name = re.search(r"\((.*)\)", op)[1]
        if op.startswith("acq"):
            since[name] = (i, t)
        elif op.startswith("rel"):
            want.setdefault(name, []).append((since[name][0], i, since.pop(name)[1]))
    for name, (i, t) in since.items():
        want.setdefault(name, []).append((i, len(lines) + 1, t))
    got = {n: slices(events, (g, i)) for (g, i), n in tracks.items() if g == "locks"}
    for where in tracks:
        slices(events, where)
    if got != want:
        break
check("30 random traces (seed 20261116): who holds which lock is what a naive reading says", got == want, (got, want, lines))

rc, out, err = run([intact, "cc", "-g", "-pthread", "-o", work / "lost", root / "examples/c/lost-update.c"])
rc, out, err = run([intact, "record", "-o", work / "l.trace", work / "lost"])
rc, tracks, events, err = make(work / "l.trace")
names = {n: w for w, n in tracks.items()}
check("a recording: its lock, its threads and the finding of the run", rc == 1 and ("locks", "m") in {(g, n) for (g, i), n in tracks.items()} and
      "increment is not atomic (predicted)" in names, tracks)
gaps = slices(events, names["increment is not atomic (predicted)"])
held = slices(events, names["m"])
check("the finding's slices are the gaps in which the lock is free, one for each thread", {n for _, _, n in gaps} == {"T1", "T2"} and
      all(any(h[1] == g[0] and h[2] == g[2] for h in held) and any(h[0] == g[1] and h[2] == g[2] for h in held) for g in gaps), (gaps, held))
check("and say why", any(n == "increment is not atomic (predicted)" and "lock" in (d or "") for p, w, ts, n, d in events if p == "i"), events)

rc, out, err = run([intact, "trace", "--perfetto", work / "x", "-"], stdin=(root / "examples/traces/lost-update.std").read_text())
check("standard input cannot be read twice: a usage error", rc == 2 and "one trace, from a file" in err, err)
(work / "mine.txt").write_text("my notes\n")
rc, out, err = run([intact, "trace", "--chrome", work / "mine.txt", odd])
check("a file that is no timeline is not overwritten", rc == 2 and (work / "mine.txt").read_text() == "my notes\n" and "not overwritten" in err, err)
rc, out, err = run([intact, "trace", "--chrome", work / "t.pftrace", odd])
check("a timeline is replaced, of either format", (work / "t.pftrace").read_text().startswith("{"), err)
(work / "bad.std").write_text("T1|nonsense\n")
rc, out, err = run([intact, "trace", "--chrome", work / "none.json", work / "bad.std"])
check("a trace that cannot be read has no timeline", rc == 2 and not (work / "none.json").exists(), err)
rc, out, err = run([intact, "trace", "--chrome=-", "-q", root / "examples/traces/two-phase.std"])
check("a trace without findings", rc == 0, out + err)
done()
