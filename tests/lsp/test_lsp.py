#!/usr/bin/env python3
"""`intact lsp` over the protocol: every method, wrong orders, broken frames, checks with cancel and time limit, and random edits of which
the text equals that of a naive twin and the diagnostics equal what the command prints for it.

Usage: test_lsp.py INTACT SOURCE-ROOT [SEED [EDITS]]      (TAP on stdout)"""
import json
import random
import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))
from client import Client, Error, frame, position, units, word
from tap import check, done, run

intact, root = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
edits = int(sys.argv[4]) if len(sys.argv) > 4 else 10000
tmp = tempfile.TemporaryDirectory(prefix="intact-lsp-test-")
work = Path(tmp.name)
LOST = (root / "examples/lost-update.atm").read_text()
ATM, SML, SPEC = "file:///w/model.atm", "file:///w/model.sml", "file:///w/queue.spec"
doc = lambda uri: {"textDocument": {"uri": uri}}


def span(text, r):
    """The text of a range, by a conversion of its own."""
    def index(p):
        lines = re.split(r"(\r\n|\n|\r)", text)
        start = sum(len(x) for x in lines[:2 * p["line"]])
        line, i = lines[2 * p["line"]], 0
        while units(line[:i]) < p["character"]:
            i += 1
        return start + i
    return text[index(r["start"]):index(r["end"])]


def told(text, name):
    """What the command says about a text: (line, column, level, message, code) of each, and notes and hints."""
    path = work / name
    path.write_bytes(text.encode())
    if name.endswith(".spec"):
        (work / "h.edn").write_text("[]")
        err = run([intact, "history", f"--spec={path}", work / "h.edn"])[2]
    else:
        err = run([intact, "check", "--faults", "--max-states=1", path])[2]
    found = []
    for line in err.splitlines():
        m = re.match(re.escape(str(path)) + r":(\d+):(\d+): (error|warning): (.*) \[([\w-]+)\]$", line)
        whole = re.match(r"(error|warning): (.*) \[([\w-]+)\]$", line)
        child = re.match(r"  (?:" + re.escape(str(path)) + r":(\d+):(\d+): )?(note|hint): (.*)$", line)
        if m:
            found.append([int(m[1]), int(m[2]), m[3], m[4], m[5], []])
        elif whole and "h.edn" not in line:
            found.append([1, 1, whole[1], whole[2], whole[3], []])
        elif child and found and "--format" not in line:
            found[-1][5].append((int(child[1]), int(child[2]), child[4]) if child[1] else f"{child[3]}: {child[4]}")
    return found


def seen(text, diagnostics):
    """The same from diagnostics."""
    def place(p):
        line = text.split("\n")[p["line"]]
        return p["line"] + 1, len(line.encode("utf-16-le")[:2 * p["character"]].decode("utf-16-le")) + 1
    found = []
    for d in diagnostics:
        message, *rest = d["message"].split("\n")
        notes = rest + [(*place(r["location"]["range"]["start"]), r["message"]) for r in d.get("relatedInformation", [])]
        found.append([*place(d["range"]["start"]), {1: "error", 2: "warning"}[d["severity"]], message, d["code"], notes])
    return found


def same(a, b):
    order = lambda found: [f[:5] + [sorted(map(str, f[5]))] for f in found]
    return order(a) == order(b)


# ---- the life of a session -----------------------------------------------------------------

c = Client(intact)
e = c.fails("textDocument/hover", {**doc(ATM), "position": {"line": 0, "character": 0}})
check("a request before initialize is refused", e.code == -32002, e)
c.open(ATM, "int x;\n")
caps = c.initialize()
check("initialize tells what it can do", caps["capabilities"]["positionEncoding"] == "utf-16" and caps["serverInfo"]["name"] == "intact" and
      caps["capabilities"]["executeCommandProvider"]["commands"] == ["intact.checkBlock", "intact.checkModel", "intact.showRun"], caps)
e = c.fails("initialize")
check("a second initialize is refused", e.code == -32600 and "already" in e.message, e)
e = c.fails("textDocument/hover", {**doc(ATM), "position": {"line": 0, "character": 0}})
check("what was opened before initialize is not open", e.code == -32602 and "not open" in e.message, e)
e = c.fails("textDocument/nonsense")
check("an unknown method is named", e.code == -32601 and "nonsense" in e.message, e)
e = c.fails("textDocument/didOpen", doc(ATM))
check("a notification with an id is refused", e.code == -32600 and "notification" in e.message, e)
c.open(ATM, LOST)
for bad in ({}, {"line": -1, "character": 0}, {"line": "1", "character": 0}, {"line": 0}):
    e = c.fails("textDocument/definition", {**doc(ATM), "position": bad})
    check(f"position {bad} is refused", e.code == -32602, e)
check("a position behind the end is the end", c.at("definition", ATM, 10**12, 10**12) is None)
for uri in (None, 5, "file:///nowhere.atm"):
    e = c.fails("textDocument/formatting", {"textDocument": {"uri": uri}})
    check(f"a file that is not open: {uri}", e.code == -32602, e)
e = c.fails("workspace/executeCommand", {"command": "rm"})
check("an unknown command is named", e.code == -32602 and "rm" in e.message, e)
c.call("shutdown")
e = c.fails("textDocument/hover", {**doc(ATM), "position": {"line": 0, "character": 0}})
check("after shutdown requests are refused", e.code == -32600 and "shut down" in e.message, e)
c.notify("exit")
check("exit after shutdown: 0", c.process.wait(60) == 0)
c.close()
c = Client(intact)
c.initialize()
c.notify("exit")
check("exit without shutdown: 1", c.process.wait(60) == 1)
c.close()
c = Client(intact)
c.initialize()
c.process.stdin.close()
check("the end of the stream: 1", c.process.wait(60) == 1)
c.close()
for words, said in ((["--nonsense"], "nonsense"), (["model.atm"], "takes no arguments"), (["--timeout=0"], "timeout")):
    rc, out, err = run([intact, "lsp", *words])
    check(f"lsp {' '.join(words)} is a usage error", rc == 2 and said in err and not out, err)

# ---- broken frames -------------------------------------------------------------------------


def error_of(data, *expected):
    """The error that these bytes cause; then the session goes on."""
    c.raw(data)
    m = c.receive()
    while "method" in m:
        m = c.receive()
    ok = m.get("id") is None and "error" in m and all(x in json.dumps(m) for x in expected)
    return ok and c.at("definition", ATM, 0, 0) is None, m


c = Client(intact)
c.initialize()
c.open(ATM, "int x;\n")
for name, data, expected in (
        ("not JSON", frame(b"{nonsense"), ["-32700", "not JSON"]),
        ("an empty message", frame(b""), ["-32700"]),
        ("not UTF-8", frame(b'{"jsonrpc":"2.0","method":"\xff"}'), ["-32700"]),
        ("deep nesting", frame(b"[" * 100000 + b"]" * 100000), ["-32700"]),
        ("an array", frame(b"[]"), ["-32600", "object"]),
        ("a number", frame(b"7"), ["-32600", "object"]),
        ("no method", frame(b'{"jsonrpc":"2.0"}'), ["-32600", "method is missing"]),
        ("a strange id", frame(b'{"jsonrpc":"2.0","id":[1],"method":"shutdown"}'), ["-32600", "id must be"]),
        ("no length", b"Content-Type: x\r\n\r\n", ["-32700", "no Content-Length"]),
        ("a length that is no number", b"Content-Length: many\r\n\r\n", ["-32700", "not a number"]),
        ("a negative length", b"Content-Length: -4\r\n\r\n", ["-32700", "not a number"]),
        ("garbage", b"GET / HTTP/1.1\r\nmore garbage\r\n", ["-32700", "expected a header"]),
        ("a NUL in the header", b"Content-Length\0: 3\r\n", ["-32700", "NUL"]),
        ("a long line", b"x" * 100000 + b"\r\n", ["-32700", "1024"]),
        ("a long message", b"Content-Length: 40000000\r\n\r\n" + b"x" * 40000000, ["-32700", "32 MiB"])):
    ok, m = error_of(data, *expected)
    check(f"broken frame: {name}", ok, m)
body = json.dumps({"jsonrpc": "2.0", "id": 900, "method": "textDocument/documentSymbol", "params": doc(ATM)}).encode()
for byte in b"content-length: %d\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n" % len(body) + body:
    c.raw(bytes([byte]))
check("a message in single bytes, another header beside, names in lower case", c.answer(900)[0]["name"] == "x")
c.raw(frame(b'{"jsonrpc":"2.0","id":901,"method":"textDocument/documentSymbol"}') + frame(b'{"jsonrpc":"2.0","id":"s","method":"shutdown"}'))
try:
    c.answer(901)
except Error as e:
    check("two messages in one piece; params are missing", e.code == -32602 and "uri is missing" in e.message, e)
check("an id may be a string", c.answer("s") is None)
c.close()
c = Client(intact)
c.raw(b"Content-Length: 18446744073709551999\r\n\r\n" + b"x" * 1000)
check("an absurd length is told", "32 MiB" in c.receive()["error"]["message"])
c.process.stdin.close()
check("and the end of the stream ends it", c.process.wait(60) == 1)
c.close()

# ---- diagnostics ---------------------------------------------------------------------------

c = Client(intact)
c.initialize()
TEXTS = {
    "good.atm": LOST,
    "errors.atm": "int x = true + y;\nthread t { z = 1 }\nint x;\nthread u { acquire(x); }\n",
    "unused.atm": "int x; int y;\nthread t { y = y + 1; }\n",
    "wide.atm": "int x; /* 🎉🎉 ä */ int x; // 𝒙\nthread t { /* 🎉 */ nothing = 1; }\n",
    "crlf.atm": "int x;\r\nthread t {\r\n  x = zz;\r\n}\r\n",
    "empty.atm": "",
    "brace.atm": "thread t { if (true) { x = 1;\n",
    "strange.atm": "int \u202ex;\n\0\nthread t { \u2028 }",
    "good.sml": (root / "examples/fig1.sml").read_text(),
    "bad.sml": "int Y;\nbegin Y := Z + 1; acquire(Y) end\n||\nx = 1\n",
    "good.spec": (root / "examples/spec/account.spec").read_text(),
    "threads.spec": "object o { int x; void set(int v) { x = v; } }\nthread t { }\n",
    "type.spec": "object o { int x; void set(int v) { x = w; } bool f() { } }\n",
    "two.spec": "object o { void f() { } }\nobject p { void f() { } }\n",
    "none.spec": "int x;\n",
}
for path in sorted((root / "tests/golden").rglob("*.atm"))[:25] + sorted((root / "tests/golden").rglob("*.sml"))[:10]:
    TEXTS[f"golden-{path.name}"] = path.read_bytes().decode("utf-8", "replace")
wrong = []
for name, text in TEXTS.items():
    uri = f"file:///w/{name}"
    c.open(uri, text)
    got = seen(text.replace("\r\n", "\n"), c.diagnostics(uri))
    if not same(got, told(text, name)):
        wrong.append((name, got, told(text, name)))
check(f"the diagnostics of {len(TEXTS)} files are those of the commands", not wrong, wrong[:3])
found = {n: told(TEXTS[n], n) for n in ("errors.atm", "bad.sml", "type.spec")}
check("and there are some in each language", all(len(f) for f in found.values()), found)
c.open("file:///w/wide.atm", TEXTS["wide.atm"], 2)
d = c.diagnostics("file:///w/wide.atm", 2)
check("ranges count UTF-16 code units", [span(TEXTS["wide.atm"], x["range"]) for x in d] == ["x", "nothing"] and d[0]["range"]["start"]["character"] == 24, d)
check("a note with a place is related information", span(TEXTS["wide.atm"], d[0]["relatedInformation"][0]["location"]["range"]) == "x" and
      "first declared here" in d[0]["relatedInformation"][0]["message"], d)
c.open(ATM, "int x; int y;\nthread t { y = z + yy; }\n", 3)
d = c.diagnostics(ATM, 3)
check("hints are lines of the message", any("\nhint: did you mean 'y'" in x["message"] for x in d), d)
c.open(ATM, TEXTS["unused.atm"], 4)
d = c.diagnostics(ATM, 4)
check("what is unused is tagged so", [x.get("tags") for x in d] == [[1]] and d[0]["severity"] == 2, d)
c.notify("textDocument/didSave", doc(ATM))
check("a file that is saved gets its diagnostics again", len(c.diagnostics(ATM)) == 1)
c.notify("textDocument/didClose", doc(ATM))
check("a file that is closed loses them", c.diagnostics(ATM) == [])
e = c.fails("textDocument/documentSymbol", doc(ATM))
check("and is not open", e.code == -32602, e)
c.open(ATM, "int x;" + " " * (9 << 20))
check("a file that is too large is not analysed, and says so", "8 MiB" in c.diagnostics(ATM)[0]["message"] and
      any("8 MiB" in n["params"].get("message", "") for n in c.notes))
c.change(ATM, 2, {"text": "int x;\n"})
check("until it is smaller", all("8 MiB" not in d["message"] for d in c.diagnostics(ATM, 2)))
c.open("untitled:one", "int Y;\nbegin Y := 1 end", language="intact-sml")
check("a file without an ending has the language of its id", c.diagnostics("untitled:one") == [])
c.open("file:///w/a%20b%C3%A4.atm", "thread t { q = 1; }")
check("a URI may be escaped", len(c.diagnostics("file:///w/a%20b%C3%A4.atm")) == 1)
check("the session ends well", c.end() == 0)

# ---- reading and changing a model ----------------------------------------------------------

MODEL = """enum color { RED, GREEN };
const N = 2;
lock l;
int[0..9] a[N], b;
color shade = RED;
object R : register(bool) = false {
  bool v;
  void write(bool x) { v = x; }
  bool read() { return v; }
}

proc add(int n) {
  acquire(l);
  b = b + n;
  release(l);
}

thread worker * N {
  int b2 = 1;
  atomic update {
    add(b2);
    a[0] = b;
  }
  R.write(true);
  if (shade == GREEN) { int b2 = 3; add(b2); }
}
"""
c = Client(intact)
c.initialize()
c.open(ATM, MODEL)
where = lambda r: (r["range"]["start"]["line"] + 1, span(MODEL, r["range"]))


def names(method, what, nth=0, **more):
    p = word(MODEL, what, nth)
    return c.at(method, ATM, p["line"], p["character"], **more)


check("definition: of a global, a procedure, a constant, an enumerator, an operation, an object, a type", [
    where(names("definition", "b + n")), where(names("definition", "add(b2)")), where(names("definition", "N {")), where(names("definition", "GREEN)")),
    where(names("definition", "write(true)")), where(names("definition", "R.write")), where(names("definition", "color shade"))] ==
    [(4, "b"), (12, "add"), (2, "N"), (1, "GREEN"), (8, "write"), (6, "R"), (1, "color")])
check("definition: the innermost of two locals", where(names("definition", "b2);", 1)) == (25, "b2") and where(names("definition", "b2);")) == (19, "b2"))
check("definition: none of a word, a primitive or white space", names("definition", "acquire") is None and names("definition", "  atomic") is None)
check("references: all of them, with and without the declaration", [where(r) for r in names("references", "b;", context={"includeDeclaration": True})] ==
      [(4, "b"), (14, "b"), (14, "b"), (22, "b")] and len(names("references", "b;", context={"includeDeclaration": False})) == 3)
check("highlights know reads and writes", [h["kind"] for h in names("documentHighlight", "b = b")] == [1, 3, 2, 2], names("documentHighlight", "b = b"))
outline = c.call("textDocument/documentSymbol", doc(ATM))
flat = lambda symbols: [(s["name"], flat(s["children"])) for s in symbols]
check("the outline is a tree", flat(outline) == [("color", [("RED", []), ("GREEN", [])]), ("N", []), ("l", []), ("a", []), ("b", []), ("shade", []),
      ("R", [("v", []), ("write", []), ("read", [])]), ("add", []), ("worker", [("update", [])])], flat(outline))
inside = lambda r, s: (r["start"]["line"], r["start"]["character"]) <= (s["start"]["line"], s["start"]["character"]) and \
    (s["end"]["line"], s["end"]["character"]) <= (r["end"]["line"], r["end"]["character"])
check("each name is inside of its range", all(inside(s["range"], s["selectionRange"]) and span(MODEL, s["selectionRange"]) == s["name"] for s in outline), outline)

value = lambda r: r["contents"]["value"]
h = value(names("hover", "b = b"))
check("hover: the declaration, the type, the locks at each access", "int[0..9] b" in h and "values 0 to 9" in h and "No lock is held at every access" in h and
      "line 14: written, holding `l` (this line)" in h and "line 14: read, holding `l`" in h and "line 22: read, holding no lock" in h, h)
h = value(names("hover", "add(b2)"))
check("hover: a procedure's head", "proc add(int n)" in h and "procedure" in h, h)
check("hover: a constant's value, an enumerator's number, a thread's count", "constant, 2" in value(names("hover", "N {")) and "number 1" in value(names("hover", "GREEN)")) and
      "started 2 times" in value(names("hover", "worker")))
check("hover: a parameter, a local, a field", "parameter" in value(names("hover", "n;")) and "local variable" in value(names("hover", "b2 = 1")) and
      "field" in value(names("hover", "v = x")))
h = value(names("hover", "update"))
check("hover: a block that was not checked", "worker.update" in h and ("not checked yet" in h or "atomic" in h), h)
check("hover: nothing on a brace", names("hover", "{ RED") is None)
c.open("file:///w/l.atm", LOST)
p = word(LOST, "count = v")
h = value(c.at("hover", "file:///w/l.atm", p["line"], p["character"]))
check("hover: the lock that protects", "Protected by `m`, held at every access" in h, h)

labels = lambda r: [i["label"] for i in r["items"]]
got = labels(names("completion", "add(b2)"))
check("completion: names in scope, each once, and the words", all(n in got for n in ("b2", "a", "b", "l", "add", "R", "N", "RED", "color", "while", "for", "semaphore", "wait")) and
      "n" not in got and "v" not in got and got.count("b2") == 1 and "end" not in got, got)
check("completion: parameters and fields where they are", "n" in labels(names("completion", "b = b")) and "v" in labels(names("completion", "v = x")))
check("completion: operations behind the dot", labels(names("completion", "write(true)")) == ["write", "read"])
c.open("file:///w/c.atm", "int x; // com\n/* in */ \n")
check("completion: nothing in a comment", not labels(c.at("completion", "file:///w/c.atm", 0, 12)) and not labels(c.at("completion", "file:///w/c.atm", 1, 4)) and
      "x" in labels(c.at("completion", "file:///w/c.atm", 1, 9)))


def renamed(text, result, uri=ATM):
    for e in sorted(result["changes"][uri], key=lambda e: -e["range"]["start"]["line"] * 10000 - e["range"]["start"]["character"]):
        assert span(text, e["range"])
        at = next(i for i in range(len(text) + 1) if position(text, i) == e["range"]["start"])
        end = next(i for i in range(len(text) + 1) if position(text, i) == e["range"]["end"])
        text = text[:at] + e["newText"] + text[end:]
    return text


def refused(what, nth, new):
    p = word(MODEL, what, nth)
    return c.fails("textDocument/rename", {**doc(ATM), "position": p, "newName": new}).message


p = names("prepareRename", "b = b")
check("prepareRename: the name and its range", p["placeholder"] == "b" and span(MODEL, p["range"]) == "b", p)
check("prepareRename: not a word, a primitive, nothing", names("prepareRename", "acquire") is None and names("prepareRename", "thread") is None and
      names("prepareRename", "{ RED") is None)
check("rename: every use", renamed(MODEL, names("rename", "b = b", newName="total")) == re.sub(r"\bb\b", "total", MODEL))
check("rename: the inner of two locals only", renamed(MODEL, names("rename", "b2 = 3", newName="q")) == MODEL.replace("int b2 = 3; add(b2)", "int q = 3; add(q)"))
check("rename: a block's name", renamed(MODEL, names("rename", "update", newName="change")) == MODEL.replace("update", "change"))
check("rename: an enum, a constant", "hue shade" in renamed(MODEL, names("rename", "color", newName="hue")) and "worker * M" in renamed(MODEL, names("rename", "N =", newName="M")))
check("rename: a word of the language is refused", "word of the language" in refused("b = b", 0, "while"))
check("rename: what is no name is refused", all("not a name" in refused("b = b", 0, n) for n in ("", "2x", "a b", "x;", "ä", "x//", "x" * 300)))
check("rename: a name that is declared is refused", "declared twice" in refused("b = b", 0, "shade"))
check("rename: the capture of a local is refused", "something else" in refused("b = b", 0, "b2"), refused("b = b", 0, "b2"))
check("rename: the capture of a parameter is refused", "mean something else" in refused("b = b", 0, "n"), refused("b = b", 0, "n"))
check("rename: what a register must have is refused", "register" in refused("write(true)", 0, "put"))
check("rename: nothing to rename", "no name here" in refused("acquire", 0, "x") and "missing" in c.fails("textDocument/rename", {**doc(ATM), "position": word(MODEL, "b")}).message)
SM = "int Y;\nx := Y; z := x\n||\nx := 2\n"
c.open(SML, SM)
c2 = lambda new, at: c.fails("textDocument/rename", {**doc(SML), "position": at, "newName": new}).message
got = renamed(SM, c.call("textDocument/rename", {**doc(SML), "position": word(SM, "x"), "newName": "w"}), SML)
check("rename: a local of SML in its own thread", got == "int Y;\nw := Y; z := w\n||\nx := 2\n", got)
check("rename: and not onto another one", "something else" in c2("z", word(SM, "x")), c2("z", word(SM, "x")))
check("rename: nor onto a capital letter", c2("W", word(SM, "x")))
SP = (root / "examples/spec/account.spec").read_text()
c.open(SPEC, SP)
check("a specification: outline with its object", flat(c.call("textDocument/documentSymbol", doc(SPEC)))[0][0] == "account")
got = c.call("textDocument/rename", {**doc(SPEC), "position": word(SP, "balance"), "newName": "money"})
check("a specification: rename of a field", renamed(SP, got, SPEC) == re.sub(r"\bbalance\b", "money", SP))
got = c.call("textDocument/rename", {**doc(SPEC), "position": word(SP, "account {"), "newName": "purse"})
check("a specification: rename of the object", renamed(SP, got, SPEC) == SP.replace("account {", "purse {"), renamed(SP, got, SPEC))
check("a specification: no lens, no check", c.call("textDocument/codeLens", doc(SPEC)) == [] and
      "--spec" in c.fails("workspace/executeCommand", {"command": "intact.checkModel", "arguments": [SPEC]}).message)

ugly = MODEL.replace("  atomic update {\n", "  atomic   update   {").replace(" = b + n", "=b+n")
c.open(ATM, ugly, 2)
(work / "ugly.atm").write_text(ugly)
got = c.call("textDocument/formatting", {**doc(ATM), "options": {"tabSize": 8, "insertSpaces": False}})
check("formatting is that of intact fmt", len(got) == 1 and got[0]["newText"] == run([intact, "fmt", work / "ugly.atm"])[1] and span(ugly, got[0]["range"]) == ugly)
c.open(ATM, got[0]["newText"], 3)
check("and then there is nothing to do", c.call("textDocument/formatting", doc(ATM)) == [])
c.open(ATM, "thread {", 4)
e = c.fails("textDocument/formatting", doc(ATM))
check("a file with errors is not formatted", e.code == -32803 and "syntax errors" in e.message, e)
check("lenses: none while there are errors", c.call("textDocument/codeLens", doc(ATM)) == [])
check("the session ends well", c.end() == 0)
c = Client(intact)
c.initialize(x={})
c.open(ATM, MODEL)
h = names("hover", "b = b")["contents"]
check("a client without Markdown gets plain text", h["kind"] == "plaintext" and "`" not in h["value"] and "holding l" in h["value"], h)
check("a client without trees gets a list", [s["name"] for s in c.call("textDocument/documentSymbol", doc(ATM))][:3] == ["color", "RED", "GREEN"])
c.end()

# ---- checks --------------------------------------------------------------------------------

c = Client(intact, "--timeout=20", env={"TMPDIR": str(work)})
c.initialize()
c.open(ATM, LOST)
c.diagnostics(ATM)
lens = {x["command"]["title"]: x for x in c.call("textDocument/codeLens", doc(ATM))}
check("lenses: check this model, check this block, show the run", list(lens) == ["check this model", "check this block", "show the run"] and
      span(LOST, lens["check this block"]["range"]) == "atomic", lens)
command = lambda title: {k: lens[title]["command"][k] for k in ("command", "arguments")}
got = c.call("workspace/executeCommand", {**command("check this block"), "workDoneToken": "token"})
check("check this block: the verdict and a schedule", got["verdict"] == "violated" and got["answers"][0]["name"] == "worker.increment" and
      re.fullmatch(r"[\d,]+", got["answers"][0]["schedule"]), got)
d = c.diagnostics(ATM)
check("its diagnostic has the steps as related places", len(d) == 1 and d[0]["source"] == "intact check" and d[0]["severity"] == 1 and
      "is not atomic" in d[0]["message"] and span(LOST, d[0]["range"]) == "atomic increment {" and
      any("worker 2: count = 1" in r["message"] and span(LOST, r["location"]["range"]) == "count = v;" for r in d[0]["relatedInformation"]), d)
sent = [n["method"] for n in c.notes]
check("a message, progress, new lenses", "window/showMessage" in sent and sent.count("$/progress") == 2 and c.asked[-1]["method"] == "workspace/codeLens/refresh", sent)
(work / "lost.atm").write_text(LOST)
cli = json.loads(run([intact, "check", "--json", "--block=worker.increment", work / "lost.atm"])[1])
check("the verdict is that of intact check", cli["verdict"] == got["verdict"], cli["verdict"])
p = word(LOST, "increment {")
h = value(c.at("hover", ATM, p["line"], p["character"]))
check("hover: why the block is not atomic", "**not atomic**" in h and "was lost" in h and "worker 1" in h, h)
got = c.call("workspace/executeCommand", command("show the run"))
page = Path(got["path"])
check("show the run: the page", page.exists() and page.parent.parent == work and "<html" in page.read_text() and got["uri"] == f"file://{page}" and
      c.asked[-1]["method"] == "window/showDocument" and c.asked[-1]["params"]["uri"] == got["uri"], got)
c.change(ATM, 2, {"range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}, "text": " "})
check("an edit forgets the verdict", c.diagnostics(ATM, 2) == [] and "not checked yet" in value(c.at("hover", ATM, p["line"], p["character"])))
c.open(ATM, (root / "examples/lost-update-fixed.atm").read_text(), 3)
got = c.call("workspace/executeCommand", {"command": "intact.checkModel", "arguments": [ATM]})
check("check this model: what holds has no diagnostic", got["verdict"] == "holds" and c.diagnostics(ATM) == [] and
      c.notes[-1]["params"]["type"] == 3, (got, c.notes[-1]))
e = c.fails("workspace/executeCommand", {"command": "intact.checkBlock", "arguments": [ATM, "nobody"]})
check("a block that is not there", "no block 'nobody'" in e.message, e)
e = c.fails("workspace/executeCommand", {"command": "intact.checkBlock", "arguments": [ATM]})
check("a block that is not named", e.code == -32602, e)
c.open(ATM, "thread t { x = 1; }", 4)
e = c.fails("workspace/executeCommand", {"command": "intact.checkModel", "arguments": [ATM]})
check("a model with errors is not checked", "errors" in e.message, e)
c.open(SML, (root / "examples/fig1.sml").read_text())
got = c.call("workspace/executeCommand", {"command": "intact.checkModel", "arguments": [SML]})
check("SML is checked, too", got["verdict"] == "violated", got)
# A model with infinitely many states, whose block is atomic: its check ends only by its limits. Messages in one piece are
# handled before any answer of a child, so it does not matter how fast the check is.
ENDLESS = """int a;
thread t * 6 {
  while (true) {
    atomic inc {
      bool done;
      while (!done) {
        int v = a;
        done = cas(a, v, v + 1);
      }
    }
  }
}
"""
EURI = "file:///w/e.atm"
ask = {"command": "intact.checkModel", "arguments": [EURI]}
request = lambda number, params=ask: frame({"jsonrpc": "2.0", "id": number, "method": "workspace/executeCommand", "params": params})
notification = lambda method, params: frame({"jsonrpc": "2.0", "method": method, "params": params})


def error(number):
    try:
        return c.answer(number)
    except Error as e:
        return e


c.open(EURI, ENDLESS)
c.raw(request("busy") + frame({"jsonrpc": "2.0", "id": "outline", "method": "textDocument/documentSymbol", "params": doc(EURI)}))
check("the server answers while it checks", [x["name"] for x in c.answer("outline")] == ["a", "t"])
c.notify("$/cancelRequest", {"id": "busy"})
c.raw(request("cancelled") + notification("$/cancelRequest", {"id": "another"}) + notification("$/cancelRequest", {"id": "cancelled"}))
got = error("cancelled")
check("a check is cancelled", getattr(got, "code", 0) == -32800, got)
c.raw(request("old") + notification("textDocument/didChange", {"textDocument": {"uri": EURI, "version": 2}, "contentChanges": [{"text": ENDLESS + "\n"}]}))
got = error("old")
check("an edit ends the check of the old text", getattr(got, "code", 0) == -32801, got)
c.raw(request("closed") + notification("textDocument/didClose", doc(EURI)))
got = error("closed")
check("so does closing the file", getattr(got, "code", 0) == -32801, got)
directory = page.parent
check("the session ends well, and its pages are gone", c.end() == 0 and not directory.exists())
c = Client(intact, "--timeout=1", "--max-memory=64M")
c.initialize()
c.open(EURI, ENDLESS)
c.raw(b"".join(request(f"n{i}") for i in range(5)))
got = error("n4")
check("a fifth check at a time is refused", "4 checks are running" in str(got), got)
got = error("n0")
check("a limit that is reached is unknown, and says so", isinstance(got, dict) and got["verdict"] == "unknown" and
      any("limit" in a["message"] or "limit" in a["title"] for a in got["answers"]), got)
d = c.diagnostics(EURI)
check("and is a warning", d and all(x["severity"] == 2 and x["code"] == "unknown" for x in d), d)
c.raw(b"".join(request(f"m{i}") for i in range(2)) + frame({"jsonrpc": "2.0", "id": "end", "method": "shutdown"}))
check("a shutdown ends the checks that run", error("m0").code == -32800 and c.answer("end") is None)
c.notify("exit")
check("and then the server", c.process.wait(60) == 0)
c.close()

# ---- random edits --------------------------------------------------------------------------

rng = random.Random(seed)
PIECES = ["\n", "\r\n", "\r", " ", "x", "int y;", "{", "}", "🎉", "ä", "atomic", "a[0] = b;", "//", "/*", "*/", ";", "thread t { }", "(", "lock l;", "𝒙\n", "\t", "if (b) "]
text, version, wrong = MODEL, 1, []
c = Client(intact)
c.initialize()
c.open(ATM, text)
sample = max(1, edits // 40)
for n in range(1, edits + 1):
    version += 1
    changes = []
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        if rng.random() < 0.002 or len(text) > 3000:
            text = MODEL if len(text) > 3000 else text[:rng.randrange(len(text) + 1)]
            changes.append({"text": text})
            continue
        a = rng.randrange(len(text) + 1)
        b = min(len(text), a + rng.choice([0, 0, 0, 1, 1, 2, 5, 12]))
        # a place between \r and \n is the end of the line for the protocol
        a, b = (i - (0 < i < len(text) and text[i - 1:i + 1] == "\r\n") for i in (a, b))
        new = "".join(rng.choice(PIECES) for _ in range(rng.choice([0, 1, 1, 2])))
        changes.append({"range": {"start": position(text, a), "end": position(text, b)}, "text": new})
        text = text[:a] + new + text[b:]
    c.change(ATM, version, *changes)
    if n % sample == 0:
        got = c.diagnostics(ATM, version)
        clean = text.replace("\r\n", "\n")
        expected = told(text, "random.atm")
        if "\r" in clean:  # the command does not count a lone \r as a line: messages and codes only
            if [x["code"] for x in got] != [x[4] for x in expected] or [x["message"].split("\n")[0] for x in got] != [x[3] for x in expected]:
                wrong.append((n, text, got, expected))
        elif not same(seen(clean, got), expected):
            wrong.append((n, text, seen(clean, got), expected))
        c.notes.clear()
check(f"seed {seed}: {edits} random edits: the diagnostics are those of the command for the twin's text, at {edits // sample} places", not wrong, wrong[:1])
check("and the session ends well", c.end() == 0)

# The bytes themselves: a comment around everything makes any text a model that is formatted as it is.
bad = []
c = Client(intact)
c.initialize()
for n in range(60):
    text = "int x;\nthread t { x = x + 1; }\n/* " + "".join(rng.choice("ab ä🎉𝒙é") for _ in range(rng.randrange(30))) + "\n" + "z" * rng.randrange(5) + " */\nint  q;\n"
    uri = f"file:///w/t{n}.atm"
    c.open(uri, text)
    low, high = text.index("/*") + 2, text.index("*/")
    for v in range(2, 12):
        a = rng.randrange(low, high)
        b = rng.randrange(a, high)
        new = "".join(rng.choice("cä🎉\n") for _ in range(rng.randrange(6)))
        c.change(uri, v, {"range": {"start": position(text, a), "end": position(text, b)}, "text": new})
        text = text[:a] + new + text[b:]
        high = text.index("*/")
    (work / "t.atm").write_bytes(text.encode())
    got = c.call("textDocument/formatting", doc(uri))
    if not got or got[0]["newText"] != run([intact, "fmt", work / "t.atm"])[1] or got[0]["range"]["end"] != position(text, len(text)):
        bad.append((text, got))
check("the text after incremental edits is the twin's, byte for byte", not bad, bad[:1])
c.end()
done()
