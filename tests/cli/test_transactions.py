#!/usr/bin/env python3
"""Histories of transactions from outside: which anomaly is named, which levels hold, formats, options, messages.

Usage: test_transactions.py INTACT TXN_GEN      (TAP on stdout)

Cases are written as in Elle's own tests: ax1 appends 1 to x, rx12 reads [1 2], rx reads nothing, wx1 and rx1 for registers."""
import gzip
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

from tap import check, done, run

INTACT, GEN = sys.argv[1], sys.argv[2]
TMP = tempfile.mkdtemp(prefix="intact-txn-")


def mops(text, lists):
    """rx1ay2 -> [[:r :x [1]] [:append :y 2]]"""
    out = []
    for f, k, v in re.findall(r"([raw])([a-z])(_|\d*)", text):
        if f != "r":
            out.append(f"[:{'append' if f == 'a' else 'w'} :{k} {v}]")
        elif lists:
            out.append(f"[:r :{k} {'nil' if not v else '[' + ' '.join(v) + ']'}]")
        else:
            out.append(f"[:r :{k} {v if v and v != '_' else 'nil'}]")
    return "[" + " ".join(out) + "]"


def history(txns):
    """Transactions as text, 'P:ops' names a process, a trailing ! is a failure, ? an unknown fate; completions alone."""
    lists = not any("w" in re.sub(r"^\d+:", "", t) for t in txns)
    lines = []
    for t in txns:
        proc, _, ops = t.rpartition(":")
        kind = {"!": "fail", "?": "info"}.get(ops[-1], "ok")
        lines.append("{" + (f":process {proc}, " if proc else "") + f":type :{kind}, :f :txn, :value {mops(ops, lists)}}}")
    return "\n".join(lines) + "\n"


def judge(text, *args):
    code, out, err = run([INTACT, "history", "--json=-", *args, "-"], stdin=text)
    results = json.loads(out)["results"] if out.startswith("{") else []
    return code, (results[0] if results else None), err


def level(result, name):
    return next((l for l in result["levels"] if l["level"] == name), None)


# name, transactions, the level that is violated by it (the weakest), the anomaly, a level that holds
CASES = [
    ("G0: a write cycle", ["ax1ay1", "ax2ay2", "rx12ry21"], "read-uncommitted", "G0", None),
    ("G1a: an aborted read", ["ax1!", "rx1"], "read-committed", "G1a", "read-uncommitted"),
    ("G1a of a register", ["wx1!", "rx1wy1"], "read-committed", "G1a", "read-uncommitted"),
    ("G1b: an intermediate read", ["rx1", "rx12ry3", "ax1ax2", "rx123", "ay3", "ax3"], "read-committed", "G1b", "read-uncommitted"),
    ("G1b of a register", ["wx1wx2", "rx1"], "read-committed", "G1b", "read-uncommitted"),
    ("G1c: circular information flow", ["ax1ry1", "ax2ay1", "rx12"], "read-committed", "G1c", "read-uncommitted"),
    ("G1c of registers", ["wx1ry1", "wy1rx1"], "read-committed", "G1c", "read-uncommitted"),
    ("dirty update", ["ax1!", "ax2", "rx12"], "read-committed", "dirty-update", "read-uncommitted"),
    ("garbage", ["rx1", "ay1"], "read-committed", "garbage-read", "read-uncommitted"),
    ("duplicate elements", ["ax1", "rx11"], "read-uncommitted", "duplicate-elements", None),
    ("incompatible orders", ["ax1", "ax2", "rx12", "rx21"], "read-committed", "incompatible-order", None),
    ("internal: read, append, read", ["ax1", "ax2", "rx12ax3rx12"], "cursor-stability", "internal", "read-committed"),
    ("internal: append, read nothing", ["ax6rx"], "cursor-stability", "internal", "read-committed"),
    ("internal of a register", ["wx1rx2", "wx2"], "cursor-stability", "internal", "read-committed"),
    ("future read, external", ["ax0", "rx01ax1"], "read-committed", "future-read", "read-uncommitted"),
    ("future read, internal", ["ax1rx01ax0ax3"], "read-committed", "future-read", "read-uncommitted"),
    ("future read of a register", ["rx1wx1"], "read-committed", "future-read", "read-uncommitted"),
    ("a read that is not repeatable", ["wx1", "rxrx1"], "read-atomic", "fractured-read", "monotonic-view"),
    ("fractured read", ["wx1wy1", "rx1ry_"], "monotonic-atomic-view", "fractured-read", "cursor-stability"),
    ("G-single of lists", ["ax1ay1", "rx1ry"], "monotonic-atomic-view", "fractured-read", "cursor-stability"),
    ("causality", ["wx1", "rx1wy1", "ry1rx_"], "causal", "G-single", "read-atomic"),
    ("lost update", ["wx0", "rx0wx1", "rx0wx2"], "cursor-stability", "lost-update", "causal"),
    ("lost update of lists", ["rxax1", "rxax2", "rx12"], "cursor-stability", "lost-update", "causal"),
    ("long fork", ["wx1", "wy1", "rx1ry_", "rx_ry1"], "prefix", "long-fork", "consistent-view"),
    ("write skew", ["rx_wy1", "ry_wx1"], "update-serializable", "write-skew", "snapshot-isolation"),
    ("write skew of lists (G2 in Elle)", ["rxay1", "ryax1", "rx1ry1"], "update-serializable", "write-skew", "snapshot-isolation"),
    ("two readers see two writes in different orders", ["ax1", "ay1", "rx1ry", "rxry1"], "prefix", "long-fork", "consistent-view"),
    ("serializable: figure 3 of Adya, Liskov, O'Neil", ["az1ax1ay1", "rx1ay2", "ry12az3", "rz13"], None, None, "serializable"),
    ("an unknown read says nothing", ["ax2ry?", "ax1ay1", "rx12ry1"], None, None, "serializable"),
    ("an append that nobody saw may come last", ["rx", "ax1", "ax2"], None, None, "serializable"),
]

for name, txns, weakest, anomaly, holds in CASES:
    code, r, err = judge(history(txns))
    if weakest is None:
        bad = [l["level"] for l in r["levels"] if l["verdict"] != "holds"] if r else err
        check(name, code == 0 and not bad, bad)
        continue
    l = level(r, weakest) if r else None
    ok = code == 1 and l and l["verdict"] == "violated" and l.get("weakest") and l["anomaly"] == anomaly
    check(name, ok and (holds is None or level(r, holds)["verdict"] == "holds"), (code, err, r and [(x["level"], x["verdict"], x.get("anomaly")) for x in r["levels"]]))

def rendered(name, text, *args):
    """What `intact report` makes of the result is what the command printed."""
    path, saved = os.path.join(TMP, "rendered.edn"), os.path.join(TMP, "rendered.json")
    with open(path, "w") as f:
        f.write(text)
    if os.path.exists(saved):
        os.remove(saved)
    code, out, err = run([INTACT, "history", *args, path])
    run([INTACT, "history", *args, "--json=" + saved, path])
    again = run([INTACT, "report", saved])
    check("report prints what the command printed: " + name, code in (0, 1, 3) and out and again[0] == code and again[1] == out,
          (code, out, err, again))


INVOKED = "".join("{:process %d, :type :%s, :f :txn, :value %s}\n" % e for e in [
    (0, "invoke", "[[:w :x 1]]"), (0, "ok", "[[:w :x 1]]"), (1, "invoke", "[[:r :x nil] [:w :y 1]]"), (1, "ok", "[[:r :x nil] [:w :y 1]]")])
for name, txns in [("all levels", ["rx_wy1", "ry_wx1"]), ("all levels hold", ["ax1", "rx1"]), ("direct", ["ax1!", "rx1"]),
                   ("lists", ["0:rxax1", "1:rxax2", "0:rx12"]), ("several writers", ["wx1", "wx1", "rx1"])]:
    rendered(name, history(txns))
rendered("one level", history(["rx_wy1", "ry_wx1"]), "--level=serializable")
rendered("an order of transactions", history(["wx1", "rx1wx2"]), "--level=serializable", "--witness")
rendered("begins and ends", history(["0:rx_wy1", "1:ry_wx1"]), "--level=snapshot-isolation", "--witness")
rendered("real time, keys", INVOKED, "--keys", "--level=strict-serializable")
rendered("version order", INVOKED, "--version-order=realtime", "--level=serializable")
rendered("an initial value", history(["rx0wx1"]), "--init=0")
rendered("a control character in a key", "{:type :ok, :f :txn, :value [[:w \"a\\u0007b\" 1] [:r \"a\\u0007b\" 2]]}\n")


# ---- Elle's own cases, as data -----------------------------------------------------------------------


def elle_history(text):
    lists, lines = "w" not in text, []
    for token in text.split():
        proc, how, ops, fate = re.match(r"(?:(\d+)([:<>]))?(.*?)([!?]?)$", token).groups()
        named = f":process {proc}, " if proc is not None else ""
        if how in (":", "<"):
            asked = re.sub(r"r([a-z])[0-9_]*", r"r\1", ops)
            lines.append(f"{{{named}:type :invoke, :f :txn, :value {mops(asked, lists)}}}")
        if how != "<":
            kind = {"!": "fail", "?": "info", "": "ok"}[fate]
            lines.append(f"{{{named}:type :{kind}, :f :txn, :value {mops(ops, lists)}}}")
    return "\n".join(lines) + "\n"


with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../txn/elle.txt")) as f:
    ELLE_CASES = [[x.strip() for x in line.split("|")] for line in f if line.strip() and not line.startswith("#")]
check("Elle's cases are there", len(ELLE_CASES) > 70)
for name, text, options, elle, want in ELLE_CASES:
    asked, anomaly = want.split()
    code, r, err = judge(elle_history(text), *options.split())
    l = level(r, asked) if r else None
    if l and l.get("anomaly") not in (None, anomaly):  # a weaker level's reason: by itself it has its own
        l = level(judge(elle_history(text), "--level=" + asked, *options.split())[1], asked)
    ok = l and (l["verdict"] == "holds" if anomaly == "holds" else l.get("anomaly") == anomaly)
    model = elle.split()[1] if len(elle.split()) == 2 else None  # what Elle rules out is ruled out
    model = "serializable" if model == "repeatable-read" else model
    check("Elle: " + name, ok and (not model or level(r, model)["verdict"] == "violated"), (want, err, r and [(x["level"], x["verdict"], x.get("anomaly")) for x in r["levels"]]))

# Elle times out: a component of 100,000 transactions; a G-single hidden among 1,000 and their noise
N = 100000
RING = "".join(f"w({i},1,{i},{i})\nr({(i + 1) % N},1,{i},{i})\n" for i in range(N))
code, r, err = judge(RING, "--level=read-committed,serializable")
check("a cycle of 100,000 transactions is found", code == 1 and level(r, "read-committed")["anomaly"] == "G1c" and len(level(r, "read-committed")["cycle"]) == N, err)
code, out, err = run([INTACT, "history", "--level=read-committed", "-"], stdin=RING)
check("... and told in a few lines", code == 1 and out.count("\n") < 120 and "99960 more steps" in out, out[-500:])


def unfindable(n, noise):
    """As in Elle's test of this name: a ring of appends closed by one missed write, and chains hanging off it that close by two."""
    txns = [[f"[:append :ring {i}]", "[:append :anti 1]" if i == 0 else "[:r :anti nil]" if i == n - 1 else f"[:append {i} 0]"] for i in range(n)]
    txns.append([f"[:r :ring [{' '.join(map(str, range(n)))}]]"])
    for i in range(1, n - 1):
        for j in range(1, noise):
            txns.append([f"[:r {i} [{' '.join(map(str, range(noise - 2)))}]]", f"[:r [:anti {i}] nil]"] if j == noise - 2 else
                        [f"[:append [:anti {i}] 0]", "[:r :ring nil]"] if j == noise - 1 else [f"[:append {i} {j}]"])
    return "".join("{:type :ok, :f :txn, :value [" + " ".join(t) + "]}\n" for t in txns)


code, r, err = judge(unfindable(1000, 30), "--level=snapshot-isolation,consistent-view,update-serializable")
check("a G-single hidden among 1,000 is found", code == 1 and level(r, "consistent-view")["anomaly"] == "G-single" and
      level(r, "snapshot-isolation")["verdict"] == "violated", (code, err, r and [(x["level"], x["verdict"], x.get("anomaly")) for x in r["levels"]]))

# ---- sessions and real time ----------------------------------------------------------------------

code, r, err = judge(history(["0:wx1", "0:rx_"]))
check("session order: serializable alone, not in its session", level(r, "serializable")["verdict"] == "holds" and
      level(r, "strong-session-read-atomic")["verdict"] == "violated", r)
code, r, err = judge(history(["0:wx1", "0:rx_"]), "--sessions", "--level=read-atomic,read-committed")
check("--sessions: names mean Biswas and Enea's levels", code == 1 and [l["level"] for l in r["levels"]] ==
      ["strong-session-read-atomic", "strong-session-monotonic-atomic-view"] and r["levels"][0]["verdict"] == "violated", r)
STALE = ('{:process 0 :type :invoke :f :txn :value [[:w x 1]]}\n{:process 0 :type :ok :f :txn :value [[:w x 1]]}\n'
         '{:process 1 :type :invoke :f :txn :value [[:r x nil]]}\n{:process 1 :type :ok :f :txn :value [[:r x nil]]}\n')
code, r, err = judge(STALE)
check("a stale read: strict serializability alone is violated", level(r, "strict-serializable")["verdict"] == "violated" and
      level(r, "strong-session-serializable")["verdict"] == "holds", r)
code, r, err = judge(STALE, "--level=strict-serializable")
check("--level=strict-serializable", code == 1 and len(r["levels"]) == 1 and "had ended before" in r["levels"][0]["sentence"], r)
check("--level=serializable holds", judge(STALE, "--level=serializable")[0] == 0)
check("--realtime: serializable means strict", judge(STALE, "--level=serializable", "--realtime")[0] == 1)
check("aliases", judge(STALE, "--level=PL-3,repeatable-read,parallel-snapshot-isolation,PL-SI")[0] == 0)
code, r, err = judge(history(["wx1", "rx_"]), "--level=strict-serializable")
check("real time is missing: said so", code == 2 and "real time" in err, err)
# operations on an object, not transactions: nothing would be checked
OBJECT = "{:type :invoke, :f :write, :value 1, :process 0}\n{:type :ok, :f :write, :value 1, :process 0}\n" \
    "{:type :invoke, :f :read, :value nil, :process 1}\n{:type :ok, :f :read, :value 1, :process 1}\n"
for more in ([], ["--follow"]):
    code, r, err = judge(OBJECT, "--level=serializable", *more)
    check("no transaction reads or writes: no verdict %s" % more, code == 2 and "nothing to judge" in err, (code, err))
    for option in ("--keys", "--sessions", "--realtime", "--version-order=session"):
        code, r, err = judge(OBJECT, option, *more)
        check("%s %s of an object's history is refused" % (option, more), code == 2 and option.split("=")[0] + " is about transactions" in err, (code, err))
check("the object's history is checked without them", judge(OBJECT)[0] == 0)
code, r, err = judge(STALE, "--level=serialisable")
check("an unknown level: the nearest is named", code == 2 and "serializable" in err, err)

# registers: what is assumed of the order of versions
SWAPPED = history(["0:wx1wy1", "0:wx2wy2", "1:rx2", "1:rx1"])
check("no version order is assumed", judge(SWAPPED, "--level=serializable")[0] == 0)
code, r, err = judge(history(["0:wx1", "0:wx2", "1:rx2wz1", "2:rz1rx1"]), "--level=causal", "--version-order=session")
check("--version-order=session", code == 1 and r["version_order"] == "session" and judge(history(["0:wx1", "0:wx2", "1:rx2wz1", "2:rz1rx1"]), "--level=causal")[0] == 0, (code, r, err))
TIMED = elle_history("0:wx1 1:wx2 2:rx2wz1 3:rz1rx1")
code, r, err = judge(TIMED, "--level=causal", "--version-order=realtime")
check("--version-order=realtime", code == 1 and judge(TIMED, "--level=causal")[0] == 0, (code, r, err))
CROSSED = history(["wx1wy2", "wx2wy1", "rx2ry2"])
code, r, err = judge(CROSSED, "--level=serializable", "--version-order=recorded")
check("--version-order=recorded", code == 1 and judge(CROSSED, "--level=serializable")[0] == 1 and
      judge(history(["wx1", "wx2", "rx2wz1", "rz1rx1"]), "--level=causal", "--version-order=recorded")[0] == 1 and
      judge(history(["wx1", "wx2", "rx2", "rx1"]), "--level=serializable", "--version-order=recorded")[0] == 0, (code, r, err))
code, r, err = judge(history(["wx1"]), "--version-order=realtime")
check("error: --version-order=realtime without times", code == 2 and "no real time" in err, err)
assumed = os.path.join(TMP, "assumed.edn")
with open(assumed, "w") as f:
    f.write(TIMED)
for name, want in (("causal", "violated"), ("read-atomic", "holds"), ("serializable", "violated")):
    run([INTACT, "history", "-q", "--witness", "--version-order=realtime", "--level=" + name, "--json=" + assumed + ".json", assumed])
    with open(assumed + ".json") as f:
        told = json.load(f)
    code, out, err = run([INTACT, "verify", assumed + ".json"])
    check(f"verify knows the assumption: {name}", code == 0 and told["results"][0]["levels"][0]["verdict"] == want, (code, out, err))
    if want == "violated":
        told["results"][0].pop("version_order")
        with open(assumed + ".json", "w") as f:
            json.dump(told, f)
        check(f"... and rejects without it: {name}", run([INTACT, "verify", assumed + ".json"])[0] == 1)

# ---- formats ---------------------------------------------------------------------------------------

ELLE = [{"index": 0, "type": "invoke", "f": "txn", "value": [["append", "x", 1], ["r", "y", None]], "process": 0, "time": 1},
        {"index": 1, "type": "invoke", "f": "txn", "value": [["append", "y", 1], ["r", "x", None]], "process": 1, "time": 2},
        {"index": 2, "type": "ok", "f": "txn", "value": [["append", "x", 1], ["r", "y", None]], "process": 0, "time": 3},
        {"index": 3, "type": "ok", "f": "txn", "value": [["append", "y", 1], ["r", "x", None]], "process": 1, "time": 4}]
for name, text in (("an array", json.dumps(ELLE)), ("lines", "\n".join(json.dumps(e) for e in ELLE))):
    code, r, err = judge(text)
    check(f"elle-cli's JSON, {name}", code == 1 and r["format"] == "json" and level(r, "update-serializable")["anomaly"] == "write-skew", (r, err))
PLUME = "w(1,1,0,0)\nr(2,0,0,0)\nw(2,1,1,1)\nr(1,0,1,1)\nw(3,9,2,-1)\n"
code, r, err = judge(PLUME)
check("Plume's text", code == 1 and r["format"] == "plume" and r["transactions"] == 3 and r["init"] == 0 and r["failed"] == 1 and
      level(r, "update-serializable")["anomaly"] == "write-skew", (r, err))
DBCOP = [[{"events": [{"Read": {"variable": 0, "version": None}}, {"Write": {"variable": 1, "version": 1}}], "committed": True}],
         [{"events": [["r", 1, None], ["w", 0, 2]], "committed": True}, {"events": [["w", 0, 3]], "committed": False}]]
for name, doc in (("bare", DBCOP), ("with its parameters", {"params": {"id": 0}, "info": "", "start": "", "end": "", "data": DBCOP})):
    code, r, err = judge(json.dumps(doc))
    check(f"dbcop's JSON, {name}", code == 1 and r["format"] == "dbcop-json" and r["transactions"] == 3 and r["failed"] == 1 and
          level(r, "update-serializable")["anomaly"] == "write-skew", (r, err))


def bincode(sessions):
    """As dbcop and PolySI write it: numbers of 8 bytes, strings with their length."""
    text = struct.pack("<5Q", 0, len(sessions), 2, 1, 2) + 3 * (struct.pack("<Q", 2) + b"ab") + struct.pack("<Q", len(sessions))
    for s in sessions:
        text += struct.pack("<Q", len(s))
        for ok, events in s:
            text += struct.pack("<Q", len(events)) + b"".join(struct.pack("<?QQ?", w, k, v, True) for w, k, v in events) + bytes([ok])
    return text


def binary(name, data, *args):
    path = os.path.join(TMP, name)
    if isinstance(data, bytes):
        with open(path, "wb") as f:
            f.write(data)
    code, out, err = run([INTACT, "history", "--json=-", *args, path])
    results = json.loads(out)["results"] if out.startswith("{") else []
    return code, results[0] if results else None, err


BINCODE = bincode([[(1, [(False, 0, 0), (True, 1, 1)])], [(1, [(False, 1, 0), (True, 0, 1)]), (0, [(True, 0, 5)])]])
code, r, err = binary("h.bincode", BINCODE)
check("dbcop's bincode", code == 1 and r["format"] == "dbcop" and r["init"] == 0 and r["failed"] == 1 and
      level(r, "update-serializable")["anomaly"] == "write-skew", (r, err))
for name, data, word in (("cut", BINCODE[:-5], "ends in the middle"), ("longer", BINCODE + b"x", "more after"),
                         ("wrong truth value", BINCODE[:-1] + b"\7", "truth value")):
    code, r, err = binary("bad.bincode", data)
    check("error: bincode, " + name, code == 2 and word in err and "byte" in err, (code, err))
COBRA = os.path.join(TMP, "cobra")
os.mkdir(COBRA)


def cobra(name, *txns):
    """One client's log: (id, [('W', write, key) or ('R', writer's transaction, write, key)])."""
    with open(os.path.join(COBRA, name), "wb") as f:
        for i, ops in txns:
            f.write(b"S" + struct.pack(">Q", i))
            for o in ops:
                f.write(b"W" + struct.pack(">3Q", o[1], o[2], 9) if o[0] == "W" else b"R" + struct.pack(">4Q", o[1], o[2], o[3], 9))
            f.write(b"C" + struct.pack(">Q", i))


NONE = 0xbebeebee
cobra("T1.log", (11, [("R", NONE, NONE, 5), ("W", 101, 6)]))
cobra("T2.log", (12, [("R", NONE, NONE, 6), ("W", 102, 5)]), (13, [("R", 12, 102, 5)]))
code, r, err = binary("cobra", None)
check("Cobra's directory of logs", code == 1 and r["format"] == "cobra" and r["transactions"] == 3 and r["processes"] == 2 and
      level(r, "update-serializable")["anomaly"] == "write-skew", (r, err))
with open(os.path.join(COBRA, "T3.log"), "wb") as f:
    f.write(b"S" + struct.pack(">Q", 20) + b"Q")
code, r, err = binary("cobra", None)
check("error: a damaged log names its file and byte", code == 2 and "T3.log: byte 9" in err, err)
os.remove(os.path.join(COBRA, "T3.log"))
os.mkdir(os.path.join(TMP, "empty"))
code, r, err = binary("empty", None)
check("error: a directory without logs", code == 2 and "without log files" in err, err)
CSV = ("session,txn,op,key,value,status,call,return\n0,1,w,x,1,ok,10,20\n1,1,r,x,,ok,30,40\n1,1,append,l,3\n2,7,r,l,[3],ok,50,60\n"
       '3,1,r,"a ""b"", c",nil,info,5\n')
code, r, err = judge(CSV)
check("CSV of transactions, with times", code == 1 and r["format"] == "txn-csv" and r["transactions"] == 4 and r["pending"] == 1 and
      level(r, "serializable")["verdict"] == "holds" and level(r, "strict-serializable")["verdict"] == "violated", (r, err))
code, r, err = judge("txn,op,key,value\n1,w,x,1\n2,r,x,1\n")
check("CSV without sessions and times", code == 0 and [l["level"] for l in r["levels"] if "strong" in l["level"]] == [], (r, err))
for name, text, word in (("an operation", "txn,op,key,value\n1,q,x,1\n", "<stdin>:2:3"), ("a status", "txn,op,key,value,status\n1,w,x,1,done\n", "ok, fail or info"),
                         ("a time", "txn,op,key,value,call\n1,w,x,1,noon\n", "whole number"), ("a value", "txn,op,key,value\n1,w,x,\n", "needs its value"),
                         ("times backwards", "txn,op,key,value,call,return\n1,w,x,1,5,3\n", "before it is called"),
                         ("quotes", 'txn,op,key,value\n1,w,"x,1\n', "does not end")):
    code, r, err = judge(text)
    check("error: CSV, " + name, code == 2 and word in err, (code, err))
path = os.path.join(TMP, "h.csv.zst")
zstd = subprocess.run(["zstd", "-q", "-c"], input=CSV.encode(), capture_output=True) if shutil.which("zstd") else None
if zstd:
    code, r, err = binary("h.csv.zst", zstd.stdout)
    check("zstd", code == 1 and r["format"] == "txn-csv", err)
path = os.path.join(TMP, "h.edn.gz")
with gzip.open(path, "wb") as f:
    f.write(STALE.encode())
check("gzip", run([INTACT, "history", "-q", "--level=strict-serializable", path])[0] == 1)
VECTOR = "[" + STALE.replace("\n", " ") + "]"
check("all records in one vector", judge(VECTOR)[1]["transactions"] == 2)
NEMESIS = '{:process :nemesis :type :info :f :start :value [:isolated {"n1" #{"n2"}}]}\n' + STALE
check("the nemesis is skipped", judge(NEMESIS)[1]["transactions"] == 2)

# ---- messages ----------------------------------------------------------------------------------------

for name, text, word in (("a micro-operation that is none", "{:process 0 :type :ok :f :txn :value [[:r x 1] [:q x 1]]}", "expected r, w, append, add or inc"),
                         ("a write without its value", "{:process 0 :type :ok :f :txn :value [[:r x 1] [:w x]]}", "needs its value"),
                         ("a key both written and appended to", "{:process 0 :type :ok :f :txn :value [[:w x 1] [:append x 1]]}", "both written and appended"),
                         ("two open transactions", STALE.split("\n")[0] + "\n" + STALE.split("\n")[0], "while another one of it is open"),
                         ("a text that is cut", '{:process 0 :type :ok :f :txn :value [[:r x 1] [:w', "ends in the middle"),
                         ("no transactions", "{:process :nemesis :type :info :f :txn :value nil}", "no transaction")):
    code, r, err = judge(text)
    check("error: " + name, code == 2 and word in err, (code, err))
code, r, err = judge(STALE, "--condition=sequential")
check("options of objects are refused", code == 2 and "--condition" in err and "--level" in err, err)
DUP = history(["wx1", "wx1", "rx1"])
code, r, err = judge(DUP)
check("a value written twice and read: unknown, and why", code == 3 and level(r, "serializable")["limit"] == "ambiguous", (code, r))
check("... and read uncommitted, too, when lists show it", level(judge(history(["ax1ay4", "ax2ay3", "ax1", "rx12ry34"]))[1], "read-uncommitted")["verdict"] == "unknown")
code, r, err = judge(history(["ax1", "ax1", "rx11"]))
check("a list that holds a value as often as it was appended: no duplicate", code == 3 and level(r, "read-uncommitted")["verdict"] == "unknown", (code, r))
code, r, err = judge(history(["ax1", "ax1!", "rx11"]))
check("... and once more than was committed: an aborted read", code == 1 and level(r, "read-committed")["anomaly"] == "G1a", (code, r))
code, r, err = judge(history(["wx0", "rx0"]), "--init=0")
check("a read of the initial value, which was written, too: unknown", code == 3 and level(r, "serializable")["limit"] == "ambiguous", (code, r))
code, out, err = run([INTACT, "history", "--init=0", "-"], stdin=history(["wx0", "rx0"]))
check("... and the report says why", "may be the initial one" in out, out)
code, out, err = run([INTACT, "history", "-"], stdin=DUP)
check("a value written twice: the report says why", "has several writers" in out and "[:r x 1]" in out and out.count("UNKNOWN") == 1, out)
code, out, err = run([INTACT, "history", "-"], stdin=history(["wx1", "rx7"]))
check("a read of what nobody wrote: the report says so", "saw 7, which no transaction wrote" in out, out)
code, out, err = run([INTACT, "history", "-"], stdin=PLUME)
check("an initial value that is guessed: the report says so", "registers are initially 0 (guessed)" in out, out)
check("reads of :info say nothing", judge(history(["wx1", "rx7?"]))[0] == 0)
check("a write of :info that was seen took effect", judge(history(["wx1?", "rx1", "rx_"]))[0] == 0 and
      level(judge(history(["0:wx1?", "1:rx1", "1:rx_"]))[1], "strong-session-serializable")["verdict"] == "violated")
check("a value written twice and never read: decided", judge(history(["wx1", "wx1", "ry_"]))[0] == 0)
check("--init", judge(history(["wx1", "rx7"]), "--init=7")[0] == 0 and judge(history(["wx1", "rx7"]))[0] == 1)
code, out, err = run([INTACT, "history", "-"], stdin=STALE)
check("the text report: lattice, reason", code == 1 and "strong-session" in out and "had ended before" in out and "Let" in out, out)
code, out, err = run([INTACT, "history", "--witness", "--level=serializable", "-"], stdin=STALE)
check("--witness: the order", code == 0 and "in this order: T2 T1" in out, out)

code, out, err = run([INTACT, "history", "--follow", "-"], stdin=history(["0:wx1", "1:rx1"]))
check("--follow: answers alone are refused", code == 2 and "not answers alone" in err, err)
code, out, err = run([INTACT, "history", "--follow", "-"], stdin="r(1,2,3,4)\n")
check("--follow: formats without invocations are refused", code == 2 and "a record a line" in err, err)
page = os.path.join(TMP, "p.html")
run([INTACT, "history", "-q", "--html=" + page, "-"], stdin=STALE)
check("a page", os.path.getsize(page) > 10000)


def shown_on(page):
    """The data that the page shows."""
    with open(page) as f:
        return json.loads(re.search(r'<script type="application/json" id="document">(.*?)</script>', f.read(), re.S)[1])["results"][0]


# a cycle of 100,000 transactions, and a history of as many: the page stays small, and says how much of the cycle it leaves out
run([INTACT, "history", "-q", "--level=read-committed,serializable", "--html=" + page, "-"], stdin=RING)
levels = shown_on(page)["levels"]
check("the page of a cycle of 100,000 transactions is small", os.path.getsize(page) < 2 << 20 and all(
    len(l["cycle"]) + l["more_steps"] == N and {s["from"] for s in l["cycle"]} <= {t["transaction"] for t in l["transactions"]} for l in levels), os.path.getsize(page))
large = subprocess.run([GEN, "--n=100000", "--completions"], capture_output=True, text=True, check=True).stdout
large += history(["90:wx1wy1", "91:rx1ry_"]).replace(":x", "x").replace(":y", "y")
code, out, err = run([INTACT, "history", "-q", "--level=strong-session-read-atomic,read-committed", "--witness", "--html=" + page, "-"], stdin=large)
r = shown_on(page)
check("the page of a history of 100,000 transactions, one of them wrong", code == 1 and os.path.getsize(page) < 1 << 20 and r["transactions"] == 100002 and
      level(r, "strong-session-read-atomic")["anomaly"] == "fractured-read", (code, err, os.path.getsize(page)))
dot = os.path.join(TMP, "c.dot")
code, out, err = run([INTACT, "history", "-q", "--dot=" + dot, "-"], stdin=history(["0:rx_wy1", "1:ry_wx1"]))
with open(dot) as f:
    drawn = f.read()
check("--dot: the transactions and the steps of the cycle", code == 1 and drawn.count("style=dashed, label=\"rw") == 2 and "T1 (process 0) [[:r x nil] [:w y 1]]" in drawn, drawn)
if shutil.which("dot"):
    check("graphviz reads it", subprocess.run(["dot", "-Tsvg", dot], capture_output=True).returncode == 0)

# ---- reports are checked ------------------------------------------------------------------------------

edn = os.path.join(TMP, "h.edn")
with open(edn, "w") as f:
    f.write(subprocess.run([GEN, "--n=400", "--keys=40", "--si", "--reads=50"], capture_output=True, text=True, check=True).stdout)
doc = os.path.join(TMP, "r.json")
code, out, err = run([INTACT, "history", "-q", "--witness", "--json=" + doc, edn])
check("a report on transactions verifies", code == 1 and run([INTACT, "verify", doc])[0] == 0, run([INTACT, "verify", doc])[1])
with open(doc) as f:
    saved = json.load(f)


def damaged(change):
    d = json.loads(json.dumps(saved))
    change(d["results"][0]["levels"])
    with open(doc, "w") as f:
        json.dump(d, f)
    return run([INTACT, "verify", doc])


def swap(levels):
    events = next(l["events"] for l in levels if l["level"] == "strong-snapshot-isolation")
    events[10], events[300] = events[300], events[10]


def flip(levels):
    l = next(l for l in levels if l["level"] == "serializable")
    l["verdict"] = "holds"
    l.pop("by", None)


def shorten(levels):
    next(l["events"] for l in levels if l["level"] == "strong-snapshot-isolation").pop()


def blame(levels):
    """The proof of a violation with another transaction in a step."""
    proof = next(l["proof"] for l in levels if l.get("proof"))
    proof[-1]["cycle"][0][1] += 1


def cut_proof(levels):
    for l in levels:
        if l.get("proof"):
            l["proof"] = l["proof"][:-1] if len(l["proof"]) > 1 else []


check("a violation comes with a proof", any(l.get("proof") for l in saved["results"][0]["levels"]))
out = run([INTACT, "verify", "--json=-", doc])[1]
check("verify checks it step by step", "every step of the proof is right" in out, out[:2000])
for name, change in (("a step of a proof changed", blame), ("a proof that is cut", cut_proof), ("an order changed", swap), ("a verdict changed", flip), ("an order that lacks its last event", shorten)):
    code, out, err = damaged(change)
    check("verify rejects " + name, code == 1, (code, out, err))

# what is around a true verdict must be true as well, and everything must be answered
def forged(change):
    d = json.loads(json.dumps(saved))
    r = d["results"][0]
    change(r, next(l for l in r["levels"] if l.get("sentence")))
    d["verdict"] = r["verdict"]
    with open(doc, "w") as f:
        json.dump(d, f)
    return run([INTACT, "verify", doc])


FORGERIES = [
    ("a level's sentence", lambda r, l: l.update(sentence="  All is well.\n")),
    ("the result's sentence", lambda r, l: r.update(sentence="All is well.")),
    ("an anomaly's name", lambda r, l: l.update(anomaly="G0" if l["anomaly"] != "G0" else "G1a")),
    ("the text of a step", lambda r, l: l["cycle"][0].update(text="T1 did nothing")),
    ("the end of a step", lambda r, l: l["cycle"][0].update(to=l["cycle"][0]["to"] + 1)),
    ("a transaction of the cycle", lambda r, l: l["transactions"][0].update(operations="[]")),
    ("the strongest level", lambda r, l: [x.pop("strongest", None) for x in r["levels"]] and r["levels"][-1].update(strongest=True)),
    ("the counts", lambda r, l: r["counts"].update(reads=1)),
    ("no levels", lambda r, l: r.update(levels=[])),
    ("no levels, and holds", lambda r, l: r.update(levels=[], verdict="holds")),
    ("the violated levels left out", lambda r, l: (r.update(levels=[x for x in r["levels"] if x["verdict"] == "holds"], verdict="holds"), r.pop("sentence"), r.pop("line"))),
    ("the verdict alone", lambda r, l: r.update(verdict="holds")),
]
for name, change in FORGERIES:
    code, out, err = forged(change)
    check("verify rejects a forgery: " + name, code == 1 and "rejected" in out, (code, out, err))

# ---- generated ones: what is planted is what is found ----------------------------------------------

PLANTED = {"G0": "read-uncommitted", "G1a": "read-committed", "G1b": "read-committed", "G1c": "read-committed", "garbage-read": "read-committed",
           "future-read": "read-committed", "dirty-update": "read-committed", "duplicate-elements": "read-uncommitted",
           "incompatible-order": "read-committed", "internal": "cursor-stability", "lost-update": "cursor-stability",
           "fractured-read": "monotonic-atomic-view", "G-monotonic": "monotonic-view", "G-single": "causal", "long-fork": "prefix",
           "G-nonadjacent": "prefix", "write-skew": "update-serializable", "G2-item": "update-serializable"}


def generated(spec):
    code, out, err = run([INTACT, "history", "--generate=" + spec])
    return out if code == 0 else (code, err)


for spec in ("n=400", "n=400,lists", "n=300,aborts=10,infos=10,seed=4", "n=300,lists,aborts=10,infos=10", "n=200,sessions=1", "n=300,ops=9,keys=5,reads=20"):
    code, r, err = judge(generated(spec))
    check(f"--generate={spec}: every level holds", code == 0 and r["transactions"] == int(spec.split(",")[0][2:]) and
          level(r, "strict-serializable")["verdict"] == "holds", (code, err))
for anomaly, weakest in PLANTED.items():
    for more in ("", ",lists,aborts=5,infos=5,planted=3,seed=2"):
        code, r, err = judge(generated(f"n=150,anomaly={anomaly}{more}"))
        l = level(r, weakest) if r else None
        check(f"planted: {anomaly}{more}", code == 1 and l["verdict"] == "violated" and l["weakest"] and l["anomaly"] == anomaly,
              (code, err, r and [(x["level"], x.get("anomaly")) for x in r["levels"] if x.get("weakest")]))
check("--generate: the same seed, the same history", generated("n=50,seed=9") == generated("n=50,seed=9") != generated("n=50,seed=8"))
for spec, word in (("m=3", "no parameter"), ("n=x", "number from"), ("anomaly=G3", "did you mean"), ("reads=101", "0 to 100"), ("aborts=60,infos=60", "100 percent")):
    code, out, err = run([INTACT, "history", "--generate=" + spec])
    check(f"error: --generate={spec}", code == 2 and word in err, err)

# ---- as lines come --------------------------------------------------------------------------------------


def overlapping(seed):
    """Lines of a random history of three processes with wrong reads, lost answers and aborts: invocations and answers."""
    rng = random.Random(seed)
    lists, lines, todo, written = seed % 2, [], {}, {k: [] for k in "xy"}
    for number in range(1, 14):
        p = rng.randrange(3)
        if p in todo:
            ops, kind = todo.pop(p), rng.choices(["ok", "fail", "info"], [8, 1, 1])[0]
        else:
            ops, kind = [], "invoke"
            for i in range(rng.randint(1, 3)):
                k = rng.choice("xy")
                v = f"{number}{i}" if rng.random() < .5 else None
                ops.append((k, v))
                written[k] += [v] if v else []
            todo[p] = ops
        said = []
        for k, v in ops:
            seen = rng.randint(0, len(written[k]))
            read = "nil" if not seen or kind == "invoke" else f"[{' '.join(written[k][:seen])}]" if lists else written[k][seen - 1]
            said.append(f"[{':append' if lists else ':w'} :{k} {v}]" if v else f"[:r :{k} {read}]")
        lines.append(f"{{:process {p}, :type :{kind}, :f :txn, :value [{' '.join(said)}]}}\n")
    return lines


ends = {0: 0, 1: 0}
for seed in range(24):
    lines, asked = overlapping(seed), [[], ["--level=serializable"], ["--level=read-committed"], ["--level=strong-session-causal"]][seed % 4]
    codes = [run([INTACT, "history", "-q", *asked, "-"], stdin="".join(lines[:n]))[0] for n in range(1, len(lines) + 1)]
    first = codes.index(1) + 1 if 1 in codes else 0
    code, out, err = run([INTACT, "history", "--follow", "--json=-", *asked, "-"], stdin="".join(lines))
    r = json.loads(out)["results"][0]
    check(f"--follow, seed {seed}: ends with the line that an offline check of every prefix names",
          (code, r.get("followed", 0)) == (1 if first else codes[-1], first) and set(codes) <= {0, 1}, (code, r.get("followed"), codes, err))
    ends[code] += 1
check("--follow: some hold, some do not", ends[0] and ends[1], ends)

lines = generated("n=3000,anomaly=long-fork").splitlines(keepends=True)
with subprocess.Popen([INTACT, "history", "--follow", "--json=-", "--witness", "--level=snapshot-isolation", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as p:
    try:
        p.stdin.write("".join(lines))  # the pipe stays open: it ends because of what it has read
        p.stdin.flush()
    except BrokenPipeError:
        pass
    r = json.loads(p.stdout.read())["results"][0]
    try:
        p.stdin.close()
    except BrokenPipeError:
        pass
check("--follow: it ends while the pipe is open", p.returncode == 1 and r["levels"][0]["anomaly"] == "long-fork", r["levels"])
n = r["followed"]
check("--follow: with the first line that violates", [run([INTACT, "history", "-q", "--level=snapshot-isolation", "-"], stdin="".join(lines[:k]))[0]
      for k in (n - 1, n)] == [0, 1], n)
path = os.path.join(TMP, "followed.edn")
with open(path, "w") as f:
    f.write("".join(lines))
run([INTACT, "history", "--follow", "--witness", "--level=snapshot-isolation", "--json=" + path + ".json", path])
code, out, err = run([INTACT, "verify", path + ".json"])
check("--follow: verify checks the report with the lines that it is about", code == 0 and "accepted" in out, out + err)
code, out, err = run([INTACT, "history", "--follow", "--level=snapshot-isolation", path])
check("--follow: says with which line", f"violated with line {n};" in out, out)

# ---- each key alone ---------------------------------------------------------------------------------------

ends = {0: 0, 1: 0}
for seed in range(16):
    text = "".join(overlapping(100 + seed))
    alone = {k: re.sub(rf"\[:(r|w|append) :(?!{k})[xy] (\[[^]]*\]|[^]]*)\] ?", "", text) for k in "xy"}
    want = {k: run([INTACT, "history", "-q", "--level=strict-serializable", "-"], stdin=alone[k])[0] for k in "xy"}
    code, r, err = judge(text, "--keys", "--level=serializable")
    broken = [k for k in "xy" if want[k] == 1]
    both = 1 if broken or level(r, "serializable")["verdict"] == "violated" else 0
    check(f"--keys, seed {seed}: as for the history of each key", set(want.values()) <= {0, 1} and code == both and
          (r["keys"]["verdict"], r["keys"].get("key", "").strip(":") or None) in ([("violated", k) for k in broken] or [("holds", None)]), (code, want, r["keys"], err))
    ends[1 if broken else 0] += 1
check("--keys: some hold, some do not", ends[0] and ends[1], ends)
path = os.path.join(TMP, "fork.edn")
with open(path, "w") as f:
    f.write(generated("n=60,anomaly=long-fork"))
code, out, err = run([INTACT, "history", "--keys", "--level=serializable", "--json=" + path + ".json", path])
check("--keys: a long fork is linearizable key by key, and not serializable", code == 1 and "HOLDS: linearizable keys" in out, out + err)
code, out, err = run([INTACT, "verify", path + ".json"])
check("--keys: verify decides it again", code == 0 and "accepted: linearizable keys" in out, out + err)
with open(path + ".json") as f:
    forged = f.read().replace('"keys":{"verdict":"holds"', '"keys":{"verdict":"violated"')
with open(path + ".json", "w") as f:
    f.write(forged)
code, out, err = run([INTACT, "verify", path + ".json"])
check("--keys: verify rejects a forged one", code == 1 and "linearizable keys" in out, out + err)
code, out, err = run([INTACT, "history", "--keys", "-"], stdin=generated("n=40,anomaly=lost-update"))
check("--keys: the report names the key and why", code == 1 and "key 50 alone is not: lost-update" in out, out)
code, out, err = run([INTACT, "history", "--keys", "-"], stdin=history(["0:wx1", "1:rx1"]))
check("--keys: needs invocations", code == 2 and "no real time" in err, err)

# ---- larger ones -------------------------------------------------------------------------------------

for args, asked, want in ((["--n=3000"], "strict-serializable", 0), (["--n=3000", "--si", "--reads=50", "--keys=300"], "strong-snapshot-isolation", 0),
                          (["--n=3000", "--si", "--reads=50", "--keys=300"], "serializable", 1), (["--n=3000", "--lists", "--keys=100"], "strict-serializable", 0),
                          (["--n=3000", "--lists", "--si", "--keys=200", "--reads=50"], "snapshot-isolation", 0),
                          (["--n=2000", "--zipf", "--plume"], "strong-session-serializable", 0)):
    text = subprocess.run([GEN, *args], capture_output=True, text=True, check=True).stdout
    code, r, err = judge(text, "--level=" + asked)
    check(f"{' '.join(args)}: {asked}", code == want, (code, err, r and r["levels"]))

done()
