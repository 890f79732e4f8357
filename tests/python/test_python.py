#!/usr/bin/env python3
"""The Python package, as a user has it: an installed copy, and every function of it.

Usage: test_python.py BUILD INTACT ROOT      (TAP on stdout)

The interpreter that runs this imports the copy. pytest's part runs by the first interpreter that has pytest.
"""
import json
import os
import pathlib
import shutil
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "cli"))
from tap import check, done, run

BUILD, INTACT, ROOT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), pathlib.Path(os.path.abspath(sys.argv[3]))
TMP = pathlib.Path(tempfile.mkdtemp(prefix="intact-python-"))

rc, out, err = run(["meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", TMP / "dest"])
packages = next((p.parent.parent for p in (TMP / "dest").rglob("pytest_plugin.py")), None)
library = next((TMP / "dest").rglob("libintact.so.1"), None)
check("it is installed", rc == 0 and packages and library, out[-800:] + err)
check("with what pytest needs to find its plugin", "intact.pytest_plugin" in next(packages.glob("intact-*.dist-info/entry_points.txt")).read_text())
ENV = {"PYTHONPATH": str(packages), "INTACT_LIBRARY": str(library)}


def python(code, env=None):
    return run([sys.executable, "-c", code], env=ENV if env is None else env)


# ---- the library that is loaded --------------------------------------------------------------------------
rc, out, err = python("import intact; print(intact.version())", {"PYTHONPATH": str(packages), "INTACT_LIBRARY": "/nonexistent/libintact.so.1"})
check("a library that is not there: an ImportError that says what to install", rc == 1 and "ImportError" in err and "libintact1" in err and "INTACT_LIBRARY" in err, err)
rc, out, err = python("import intact", {"PYTHONPATH": str(packages), "INTACT_LIBRARY": "libc.so.6"})
check("a library that is another one: an ImportError that says so", rc == 1 and "ImportError" in err and "not the library of Intact" in err, err)

os.environ.update(INTACT_LIBRARY=str(library))
sys.path.insert(0, str(packages))
import intact  # noqa: E402

check("version", intact.version() == run([INTACT, "--version"])[1].split()[1], intact.version())


def raises(kind, function, *args, **kw):
    try:
        function(*args, **kw)
    except kind as e:
        return str(e) or kind.__name__
    return ""


# ---- models: the same documents as the command's ------------------------------------------------------------
def command(*args):
    path = TMP / "c.json"
    path.unlink(missing_ok=True)
    run([INTACT, *args, f"--json={path}"])
    return json.loads(path.read_text())


for name in ("lost-update.atm", "acquire.atm"):
    model = ROOT / "examples" / name
    r = intact.check(model)
    c = command("check", str(model))
    check(f"{name}: the document of the command", r.document["results"] == c["results"] and str(r.verdict) == c["verdict"], (r.document, c))
r = intact.check(ROOT / "examples/lost-update.atm")
a = next(x for x in r.answers if x.name == "worker.increment")
check("an answer has its words, its place and its run", a.verdict is intact.VIOLATED and "lost" in a.message and a.line and a.schedule and a.engine and
      a.file.endswith("lost-update.atm") and len(a.steps) > 3 and a.steps[0].thread and a.steps[0].text, (a, a.message, a.steps))
check("the text is the command's", r.text == run([INTACT, "report", (r.save(TMP / "r.json"), TMP / "r.json")[1]])[1], r.text)
check("saved: as the suffix says", json.loads((TMP / "r.json").read_text()) == r.document and (r.save(TMP / "r.html"), "<html" in (TMP / "r.html").read_text())[1] and
      (r.save(TMP / "r.xml"), "<testsuite" in (TMP / "r.xml").read_text())[1])
check("saved: a suffix that says nothing is an error", "format=" in raises(ValueError, r.save, TMP / "r.doc"))
check("loaded again", intact.load(TMP / "r.json").verdict is intact.VIOLATED and intact.load(text=r.render("json")).kind == "check")
check("assert_holds raises, with the report", "lost" in raises(intact.Violation, r.assert_holds) and raises(AssertionError, r.assert_holds))
check("a result is not true or false", "verdict" in raises(TypeError, bool, r))
check("every format is rendered", all(r.render(f) for f in ("json", "text", "html", "sarif", "junit", "github")) and raises(ValueError, r.render, "pdf"))
check("a model as text", intact.check(text="int x;\nthread p * 2 { int t; atomic b { t = x; x = t + 1; } }").verdict is intact.VIOLATED)
check("threads", intact.check(ROOT / "examples/lost-update.atm", threads={"worker": 1}).verdict is intact.HOLDS)
check("options, also unset", intact.check(ROOT / "examples/lost-update.atm", engine="exact", timeout=20, block="worker.increment", faults=False, jobs=None).verdict is intact.VIOLATED)
check("a wrong option is an InputError", "no-such" in raises(intact.InputError, intact.check, ROOT / "examples/lost-update.atm", no_such=1))
check("a wrong value is an InputError", "nonsense" in raises(intact.InputError, intact.check, ROOT / "examples/lost-update.atm", engine="nonsense"))
message = raises(intact.InputError, intact.check, text="int x;\nthread p { y = 1; }\n", name="m.atm")
check("an error has its place", "m.atm:2:" in message and "^" in message, message)
check("a file that is not there", "nowhere.atm" in raises(intact.InputError, intact.check, "nowhere.atm"))
check("neither file nor text", raises(TypeError, intact.check) and raises(TypeError, intact.check, "a", text="b") and raises(TypeError, intact.load))

# ---- verify ---------------------------------------------------------------------------------------------------
v = intact.verify(r, ROOT / "examples/lost-update.atm")
check("verify accepts", v.kind == "verify" and v.verdict is intact.HOLDS, v.text)
forged = r.document
forged["results"][0]["verdict"] = "holds"
forged["verdict"] = "holds"
check("verify rejects a forgery", intact.verify(intact.load(text=json.dumps(forged)), ROOT / "examples/lost-update.atm").verdict is intact.VIOLATED)

# ---- histories --------------------------------------------------------------------------------------------------
STALE = [(0, "invoke", "write", 1), (0, "ok", "write", 1), (1, "invoke", "read", None), (1, "ok", "read", 0)]
r = intact.history(STALE, object="register", init=0)
check("a history of tuples", r.verdict is intact.VIOLATED and "overwritten" in r.text, r.text)
keys = ("process", "type", "f", "value")
check("a history of mappings, from a generator", intact.history((dict(zip(keys, e)) for e in STALE), object="register", init=0).verdict is intact.VIOLATED)
check("a history that holds", intact.history(STALE[:2] + [(1, "invoke", "read", None), (1, "ok", "read", 1)], object="register", init=0).assert_holds().verdict is intact.HOLDS)
(TMP / "h.edn").write_text("".join('{:process %d, :type :%s, :f :%s, :value %s}\n' % (p, t, f, "nil" if x is None else x) for p, t, f, x in STALE))
check("a file", intact.history(TMP / "h.edn", object="register", init=0).verdict is intact.VIOLATED and intact.history(str(TMP / "h.edn"), object="register", init=0).verdict is intact.VIOLATED)
check("values of every kind", intact.history([(0, "invoke", "write", 'a"\\b\n\u00e4'), (0, "ok", "write", 'a"\\b\n\u00e4'), (0, "invoke", "read", None), (0, "ok", "read", 'a"\\b\n\u00e4'),
      (0, "invoke", "write", [1, (2, True), {3}]), (0, "ok", "write", None), (0, "invoke", "read", None), (0, "ok", "read", [1, [2, True], {3}])], object="register").verdict is intact.HOLDS)
check("an empty history is an error", "empty" in raises(intact.InputError, intact.history, [], object="register"))
check("an event that is none", "event 1" in raises(ValueError, intact.history, [STALE[0], ("ok",)], object="register"))
check("a type that is none", "'done'" in raises(ValueError, intact.history, [(0, "done", "read", 1)]))
check("a value that is none", "event 0" in raises(TypeError, intact.history, [(0, "invoke", "write", 1.5)]) and "event 0" in raises(ValueError, intact.history, [(0, "invoke", "write", "\x01")]))
check("a name that is none", "not the name" in raises(ValueError, intact.history, [(0, "invoke", "wr}ite", 1)]))
check("an operation that the object has not", "frob" in raises(intact.InputError, intact.history, [(0, "invoke", "frob", 1)], object="register"))

# ---- the recorder ------------------------------------------------------------------------------------------------
record = intact.Recorder()
turn = [threading.Event() for _ in range(3)]
value = [0]


def late():
    with record.operation("read") as op:
        turn[0].set()
        turn[1].wait()
        op.result = value[0]


def early():
    turn[0].wait()
    with record.operation("write", 7):
        value[0] = 7
    turn[1].set()


threads = [threading.Thread(target=f) for f in (late, early)]
for t in threads:
    t.start()
for t in threads:
    t.join()
events = list(record)
check("two threads, in the order in which it happened", [(e["type"], e["f"]) for e in events] == [("invoke", "read"), ("invoke", "write"), ("ok", "write"), ("ok", "read")] and
      events[0]["process"] == events[3]["process"] != events[1]["process"] and events[3]["value"] == 7, events)
check("checked", intact.history(record, object="register", init=0).verdict is intact.HOLDS and len(record) == 4)
record = intact.Recorder()


def lost():
    """An operation that times out."""
    with record.operation("write", 1, process="a"):
        raise TimeoutError


check("an exception goes on", raises(TimeoutError, lost))
with record.operation("read", process="a") as op:
    op.result = 1
kinds = [(e["process"], e["type"]) for e in record]
check("its outcome is unknown, and its process goes on under a new number", kinds == [(0, "invoke"), (0, "info"), (1, "invoke"), (1, "ok")], kinds)
check("so both outcomes are possible", intact.history(record, object="register", init=0).verdict is intact.HOLDS)
with record.operation("cas", [5, 6], process="b") as op:
    op.failed()
check("one that did not take place", list(record)[-1]["type"] == "fail")
check("a value that is none is refused at once", raises(TypeError, record.operation("write", object()).__enter__) and len(record) == 6, list(record))


def nested():
    with record.operation("read"):
        with record.operation("read"):
            pass


check("two operations of one process at a time are refused", "process=" in raises(RuntimeError, nested))
record = intact.Recorder()
check("call", record.call("enqueue", lambda x: None, 3) is None and record.call("dequeue", lambda: 3) == 3 and
      intact.history(record, object="queue").verdict is intact.HOLDS and '":dequeue"' not in record.edn() and ":f :dequeue, :value 3" in record.edn(), record.edn())

record = intact.Recorder()
with record.transaction(process="alice") as a:
    with record.transaction(process="bob") as b:
        a += [("r", "bob", None), ("w", "alice", 0)]
        b += [("r", "alice", None), ("w", "bob", 0)]
with record.transaction(process="carol") as c:
    c.append(("w", "carol", 1))
    raise intact.Recorder.Aborted
check("an aborted transaction", [e["type"] for e in record][-1] == "fail")
r = intact.history(record, level="serializable")
check("transactions: write skew", r.verdict is intact.VIOLATED and "write-skew" in r.text, r.text)
check("transactions: another level", intact.history(record, level="snapshot-isolation").verdict is intact.HOLDS)

# ---- traces, nets ---------------------------------------------------------------------------------------------------
trace = next(iter(sorted((ROOT / "examples").rglob("*.std"))), None)
check("a trace", trace and intact.trace(trace).kind == "trace", trace)
check("a net", intact.net(ROOT / "examples/nets/acquire1-4.ll_net").kind == "net")
check("a trace that is none", raises(intact.InputError, intact.trace, TMP / "nowhere.std"))

# ---- memory: objects are freed, in any order and by any thread ------------------------------------------------------
for _ in range(200):
    intact.history(STALE, object="register", init=0)
held = [intact.history(STALE, object="register", init=0) for _ in range(50)]
del held
check("many results", True)

# ---- pytest ---------------------------------------------------------------------------------------------------------------
pytest = next((p for p in (sys.executable, "/usr/bin/python3") if shutil.which(p) and run([p, "-c", "import pytest"])[0] == 0), None)
check("pytest is installed (python3-pytest; tools/setup.sh test)", pytest)
project = TMP / "project"
project.mkdir()
(project / "good.atm").write_text("int x;\nthread p * 2 { x = 1; }\n")
shutil.copy(ROOT / "examples/lost-update.atm", project / "bad.atm")
(project / "broken.atm").write_text("int x\n")
(project / "test_store.py").write_text('''
import intact


def test_good(intact_history):
    with intact_history.operation("write", 1):
        pass
    with intact_history.operation("read") as op:
        op.result = 1
    intact_history.expect(object="register", init=0)


def test_stale(intact_history):
    with intact_history.operation("write", 1):
        pass
    with intact_history.operation("read") as op:
        op.result = 0
    intact_history.expect(object="register", init=0)


def test_nothing_asked(intact_history):
    with intact_history.operation("write", 1):
        pass
''')
env = dict(ENV, PYTHONDONTWRITEBYTECODE="1", COLUMNS="200")
rc, out, err = run([pytest, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--intact", "-rA", project], env=env, cwd=project)
check("pytest finds the plugin by itself; models and histories are judged", rc == 1 and "1 failed" not in out and "PASSED good.atm::good" in out and "FAILED bad.atm::bad" in out and
      "FAILED broken.atm::broken" in out and "PASSED test_store.py::test_good" in out, out[-3000:] + err)
check("a violated model shows its run, a wrong one its error", "was lost" in out and "broken.atm:" in out and "expected" in out, out[-3000:])
check("a violated history fails its test, with the report", "test_stale" in out and "VIOLATED: not atomic" in out, out[-3000:])
check("a test that asks nothing fails", "nothing was asked" in out, out[-3000:])
rc, out, err = run([pytest, "-m", "pytest", "-q", "-p", "no:cacheprovider", project, "--collect-only"], env=env, cwd=project)
check("without --intact models are no tests", ".atm" not in out and "test_good" in out, out)
shutil.rmtree(TMP)
done()
