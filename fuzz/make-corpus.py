#!/usr/bin/env python3
"""Makes fuzz/corpus anew: a few small inputs of every kind for each target.

Usage: fuzz/make-corpus.py INTACT      from the root of the source

Histories, specifications and suppression files are written down here; results
and recordings are made by intact, so run this when their formats change.
"""
import json
import os
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

intact = str(Path(sys.argv[1]).resolve())
root = Path(__file__).resolve().parents[1]
corpus = root / "fuzz/corpus"


def put(target, name, data):
    path = corpus / target / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())


def run(*args, cwd=root, env=None):
    return subprocess.run([intact, *map(str, args)], cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(os.environ, **(env or {}))).stdout


# ---- histories: (process, type, f, value), in the order of events ----
HISTORIES = {
    "register": [(0, "invoke", "write", 1), (1, "invoke", "read", None), (0, "ok", "write", 1), (1, "ok", "read", 1),
                 (1, "invoke", "read", None), (1, "ok", "read", 0)],
    "cas": [(0, "invoke", "write", 1), (0, "ok", "write", 1), (1, "invoke", "cas", [1, 2]), (2, "invoke", "cas", [1, 3]),
            (1, "ok", "cas", [1, 2]), (2, "fail", "cas", [1, 3]), (0, "invoke", "read", None), (0, "ok", "read", 2)],
    "crashed": [(0, "invoke", "write", 1), (1, "invoke", "write", 2), (0, "info", "write", 1), (2, "invoke", "read", None),
                (2, "ok", "read", 1), (1, "info", "write", 2), (2, "invoke", "read", None), (2, "ok", "read", 2)],
    "queue": [(0, "invoke", "enqueue", 1), (0, "ok", "enqueue", 1), (0, "invoke", "enqueue", 2), (1, "invoke", "dequeue", None),
              (0, "ok", "enqueue", 2), (1, "ok", "dequeue", 2)],
    "stack": [(0, "invoke", "push", 1), (0, "ok", "push", 1), (1, "invoke", "pop", None), (1, "ok", "pop", 1),
              (1, "invoke", "pop", None), (1, "ok", "pop", None)],
    "set": [(0, "invoke", "add", 1), (0, "ok", "add", 1), (1, "invoke", "contains", 1), (1, "ok", "contains", 1),
            (0, "invoke", "remove", 1), (0, "ok", "remove", 1)],
    "keys": [(0, "invoke", "write", ["x", 1]), (0, "ok", "write", ["x", 1]), (1, "invoke", "read", ["y", None]), (1, "ok", "read", ["y", 0]),
             (1, "invoke", "read", ["x", None]), (1, "ok", "read", ["x", 1])],
}


def edn(v):
    if isinstance(v, list):
        return "[" + " ".join(edn(x) for x in v) + "]"
    return "nil" if v is None else f'"{v}"' if isinstance(v, str) else str(v)


for name, events in HISTORIES.items():
    put("history_edn", name, "".join(f"{{:process {p}, :type :{t}, :f :{f}, :value {edn(v)}, :time {i}}}\n" for i, (p, t, f, v) in enumerate(events)))
    put("history_json", name, "".join(json.dumps({"process": p, "type": t, "f": f, "value": v, "time": i}) + "\n" for i, (p, t, f, v) in enumerate(events)))
    put("history_log", name, "".join(f"INFO  jepsen.util - {p}\t:{t}\t:{f}\t{edn(v)}\n" for p, t, f, v in events))
put("history_edn", "vector", "[{:process :nemesis, :type :info, :f :start}\n {:process 0 :type :invoke :f :write :value 3}\n {:process 0 :type :ok :f :write :value 3}]\n")
put("history_json", "array", '[{"process":0,"type":"invoke","f":"read"},\n{"process":0,"type":"ok","f":"read","value":0}]\n')
put("history_json", "porcupine", '{"ClientId":0,"Input":{"op":1,"key":"a","value":"x"},"Call":1,"Output":{"value":""},"Return":5}\n'
    '{"ClientId":1,"Input":{"op":0,"key":"a"},"Call":2,"Output":{"value":"x"},"Return":7}\n')
# ---- histories of transactions: (process, type, micro-operations) ----
TRANSACTIONS = {
    "write_skew": [(0, "ok", [["r", "x", None], ["w", "y", 1]]), (1, "ok", [["r", "y", None], ["w", "x", 1]]), (2, "info", [["r", "x", 1], ["w", "z", 2]])],
    "lists": [(0, "ok", [["append", "x", 1], ["append", "x", 2]]), (1, "fail", [["append", "x", 3]]), (2, "ok", [["r", "x", [1]], ["append", "y", 1]]),
              (0, "ok", [["r", "x", [1, 2]], ["r", "y", []]])],
    "no_order": [(0, "ok", [["w", "x", 1], ["w", "y", 1]]), (1, "ok", [["w", "x", 2], ["w", "y", 2]]), (2, "ok", [["r", "x", 1], ["r", "y", 2]]),
                 (3, "ok", [["r", "x", 2], ["r", "y", 1]])],
}
for name, txns in TRANSACTIONS.items():
    put("txn_edn", name, "".join(f"{{:process {p}, :type :{t}, :f :txn, :value [" + " ".join(f"[:{f} {k} {edn(v)}]" for f, k, v in ops) + "]}\n"
                                 for p, kind, ops in txns for t in ("invoke", kind)))
    put("txn_json", name, json.dumps([{"process": p, "type": t, "f": "txn", "value": ops} for p, t, ops in txns]))
    put("txn_csv", name, "session,txn,op,key,value,status,call,return\n" + "".join(
        f'{p},{i},{f},{k},{"" if v is None else "[" + " ".join(map(str, v)) + "]" if isinstance(v, list) else v},{t},{2 * i},{2 * i + 3}\n'
        for i, (p, t, ops) in enumerate(txns) for f, k, v in ops))
put("txn_plume", "write_skew", "w(1,1,0,0)\nr(2,0,0,0)\nw(2,1,1,1)\nr(1,0,1,1)\nw(3,9,2,-1)\n")
put("txn_plume", "g1c", "w(1,1,0,0)\nr(2,1,0,0)\nw(2,1,1,1)\nr(1,1,1,1)\n")
put("txn_dbcop_json", "write_skew", json.dumps({"params": {"id": 0}, "info": "", "data": [
    [{"events": [{"Read": {"variable": 0, "version": None}}, {"Write": {"variable": 1, "version": 1}}], "committed": True}],
    [{"events": [["r", 1, None], ["w", 0, 2]], "committed": True}, {"events": [["w", 0, 3]], "committed": False}]]}))


def dbcop(sessions):
    text = struct.pack("<5Q", 0, len(sessions), 2, 1, 2) + 3 * (struct.pack("<Q", 2) + b"ab") + struct.pack("<Q", len(sessions))
    for s in sessions:
        text += struct.pack("<Q", len(s))
        for events in s:
            text += struct.pack("<Q", len(events)) + b"".join(struct.pack("<?QQ?", w, k, v, True) for w, k, v in events) + b"\1"
    return text


def cobra(txns):
    return b"".join(b"S" + struct.pack(">q", i) + b"".join((b"W" + struct.pack(">3q", v, k, v)) if w else (b"R" + struct.pack(">4q", by, v, k, v))
                                                           for w, k, v, by in ops) + b"C" + struct.pack(">q", i) for i, ops in enumerate(txns))


put("txn_dbcop", "write_skew", dbcop([[[(False, 0, 0), (True, 1, 1)]], [[(False, 1, 0), (True, 0, 1)], []]]))
put("txn_cobra", "stale", cobra([[(True, 7, 1, 0)], [(False, 7, 0xbebeebee, 0xbebeebee), (True, 8, 2, 0)], [(False, 8, 2, 1)]]))
put("history_csv", "register", "process,op,value,call,return\n0,write,1,1,4\n1,read,1,2,5\n2,read,0,6,8\n")
put("history_csv", "queue", "client;op;value;call;return\n0;enq;1;1;2\n0;enq;2;3;\n1;deq;2;4;6\n")
put("history_csv", "keys", "key,client,op,value,result,call,return\nx,0,cas,1 2,true,1,3\ny,1,write,2,,2,4\nx,1,read,,2,5,6\n")
put("history_csv", "blanks", "0 write 1 1 4\n1 read 1 2 5\n")
put("history_csv", "quoted", 'process,op,value,call,return\n0,write,"a ""b""",1,2\n1,read,"a ""b""",3,4\n')
for f in sorted((root / "examples/history").glob("*")) + sorted((root / "examples/spec").glob("*.edn")):
    if f.suffix[1:] in ("edn", "json", "csv"):
        put("history_" + f.suffix[1:], f.name, f.read_bytes())

# ---- specifications, suppressions ----
for f in (root / "examples/spec").glob("*.spec"):
    put("spec", f.name, f.read_bytes())
put("spec", "choice.spec", "object account {\n  int[0..20] balance;\n  lock l;\n\n  void deposit(int[0..9] n) {\n    choose {\n      { balance = n; }\n"
    "      { balance += n; }\n    }\n  }\n\n  int[0..20] read() {\n    return balance;\n  }\n\n  bool withdraw(int[0..9] n) {\n    return n < balance;\n  }\n}\n")
put("spec", "array.spec", "object account {\n  int[0..9] slot[3] = { 1, 2 };\n\n  void deposit(int[0..9] n) {\n    for (i : 0..2) {\n      slot[i] = n;\n    }\n  }\n\n"
    "  int[0..9] read() {\n    assert(slot[0] >= 0);\n    return slot[1];\n  }\n}\n")
put("suppressions", "both", "# known\natomicity:increment\nblock:std::vector<*>::push_back\natomicity:src/*.c\nblock:lost-update.c:30\n")
put("suppressions", "spec", "atomic incr*\natomic ns::Class::method(int, char*)\nnot-atomic *:30\nnot-atomic /usr/include/*\n")
put("suppressions", "wrong", "atomicity\nblok:x\n:\natomic\nblock:\n\tblock: a b \r\n")

# ---- results ----
COMMANDS = {
    "check-proved": ("check", "examples/lost-update-fixed.atm"),
    "check-object": ("check", "examples/regular-bit.atm"), "check-deadlock": ("check", "--deadlock", "examples/bank-transfer-deadlock.atm"),
    "check-any": ("check", "--threads", "worker=any", "examples/acquire1.atm"),
    "check-cover": ("check", "--engine=cover", "--threads", "worker=any", "--block", "update", "examples/nacquire1.atm"),
    "history-stale": ("history", "--witness", "examples/history/stale-read.edn"), "history-queue": ("history", "--witness", "examples/history/queue.csv"),
    "history-keys": ("history", "--witness", "examples/history/two-keys.json"),
    "history-spec": ("history", "--witness", "--spec", "examples/spec/account.spec", "examples/spec/account-bad.edn"),
    "trace-crossed": ("trace", "examples/traces/crossed.std"), "trace-holds": ("trace", "examples/traces/two-phase.std"),
    "trace-predict": ("trace", "--predict", "examples/traces/stringbuffer.std"),
    "sim": ("sim", "--seed=2", "examples/lost-update.atm"), "net": ("net", "examples/nets/acquire1-4.ll_net"),
}
with tempfile.TemporaryDirectory() as tmp:
    fault = Path(tmp, "fault.atm")
    fault.write_text("int x;\nthread a {\n  atomic one {\n    x = 1;\n    x = 0;\n  }\n}\nthread b {\n  atomic two {\n    assert(x == 0);\n  }\n}\n")
    Path(tmp, "small.atm").write_text("int x;\nthread t * 2 {\n  atomic up {\n    x = (x + 1) % 3;\n  }\n}\n")
    COMMANDS["check-fault"] = ("check", "fault.atm")
    COMMANDS["check-small"] = ("check", "small.atm")
    COMMANDS["check-engines"] = ("check", "--engine=all", "small.atm")
    for name, words in COMMANDS.items():
        cwd = tmp if words[-1] in ("fault.atm", "small.atm") else root
        doc = run(words[0], "--json=-", *words[1:], cwd=cwd)
        doc = json.dumps(json.loads(doc), separators=(",", ":"), ensure_ascii=False).encode()
        if len(doc) > 20000:
            print(f"{name}: {len(doc)} bytes, left out")
            continue
        put("report", name + ".json", doc)
        if words[0] in ("check", "history", "trace"):
            put("verify", name + ".json", doc)
    saved = Path(tmp, "r.json")
    saved.write_bytes(run("check", "--json=-", "examples/lost-update.atm"))
    put("report", "verify.json", run("verify", "--json=-", saved).replace(str(saved).encode(), b"r.json"))

    # ---- recordings, of streams that are not compressed ----
    for name, source, words in (("lost-update", "examples/c/lost-update.c", []), ("marked", "tests/programs/marked_ok.c", []),
                                ("cycle", "tests/programs/cycle_three.c", []), ("rwlock", "tests/programs/rwlock_upgrade.c", []),
                                ("cond", "tests/programs/cond_two_sections.c", []), ("forked", "tests/programs/fork_child.c", [])):
        exe, rec = Path(tmp, "prog"), Path(tmp, "rec")
        rec.unlink(missing_ok=True)
        subprocess.run([intact, "cc", "-std=gnu11", "-g", str(root / source), "-o", str(exe), "-pthread"], check=True)
        subprocess.run([str(exe)], env=dict(os.environ, INTACT_OPTIONS=f"record={rec}:log_path=/dev/null"), stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, cwd=tmp)
        data = rec.read_bytes()
        # no path of this machine's: the target mends the checksums
        data = data.replace(str(exe).encode(), b"/p" + b"r" * (len(str(exe)) - 2)).replace(tmp.encode(), b"/" + b"t" * (len(tmp) - 1))
        data = data.replace(b"/lib", b"/lix").replace(b"/usr", b"/usx")  # nor its libraries: opening them takes long
        put("recording", name, data[:30000])
        if name == "lost-update":
            text = b"".join(b"a\t%x\t%x\tincrement\nf\tincrement\tl.c\t1e\t2\t1d\tl.c\t/prog\t%x\t0\n" % (pc, pc & ~0xfff, pc & 0xfff) for pc in (0x401000, 0x401100))
            text += b"d\t404040\t28\tm\n"
            block = struct.pack("<IBBBBIIQIIII", 0x4B4C4249, 6, 0, 0, 0, len(text), len(text), 0, 0, 0, 0, 0) + text
            put("recording", "symbols", data[:-40] + block + data[-40:])
sizes = [p.stat().st_size for p in corpus.rglob("*") if p.is_file()]
print(f"{len(sizes)} files, {sum(sizes)} bytes")

# ---- messages of a client of the language server ----
AT = {"line": 0, "character": 12}
for name in ("definition", "references", "documentHighlight", "prepareRename", "hover", "completion", "formatting", "documentSymbol", "codeLens"):
    put("lsp", name, "".join(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "textDocument/" + name, "params": {
        "textDocument": {"uri": uri}, "position": AT}}) + "\n" for uri in ("a.atm", "a.sml", "a.spec")))
put("lsp", "rename", json.dumps({"jsonrpc": "2.0", "id": 1, "method": "textDocument/rename", "params": {
    "textDocument": {"uri": "a.atm"}, "position": AT, "newName": "y"}}))
put("lsp", "change", json.dumps({"jsonrpc": "2.0", "method": "textDocument/didChange", "params": {"textDocument": {"uri": "a.atm", "version": 2}, "contentChanges": [
    {"range": {"start": AT, "end": {"line": 1, "character": 3}}, "text": "\U0001F389\r\n"}, {"text": "thread t { x = 1; }"}]}}))
put("lsp", "command", json.dumps({"jsonrpc": "2.0", "id": "a", "method": "workspace/executeCommand", "params": {
    "command": "intact.checkBlock", "arguments": ["a.atm", "t.b"]}}) + "\n" + json.dumps({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": "a"}}))
put("lsp", "frames", "Content-Length: 44\r\n\r\n" + json.dumps({"jsonrpc": "2.0", "id": 1, "method": "shutdown"}) + "Content-Length: 36\r\n\r\n" + '{"jsonrpc": "2.0", "method": "exit"}')
