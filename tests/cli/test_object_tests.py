#!/usr/bin/env python3
"""Object tests (intact/test.h) as their author meets them: what a test may say, what is wrong with one, options, the stress test.

Usage: test_object_tests.py INTACT SOURCE-ROOT      (TAP on stdout)
"""
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from tap import check, done

intact, root = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
tmp = tempfile.TemporaryDirectory(prefix="intact-object-tests-")
work = Path(tmp.name)
env = dict(os.environ, NO_COLOR="1", INTACT=str(intact))

COUNTER = r"""
#include <intact/test.h>
#include <stdatomic.h>
#include <assert.h>
static atomic_int n;
static void *create(void) { n = 0; return 0; }
static long inc(void *o, const long *arg) { (void)o; (void)arg; %(inc)s }
static long get(void *o, const long *arg) { (void)o; (void)arg; return n; }
static const struct intact_test counter = { .name = "counter", .create = create, %(more)s
	.operations = { INTACT_OPERATION(inc%(op)s), INTACT_OPERATION(get) } };
INTACT_TEST_MAIN(counter)
"""
RIGHT, LOST = "return atomic_fetch_add(&n, 1) + 1;", "int v = n; n = v + 1; return v + 1;"


def run(*words, seconds=300, **more):
    p = subprocess.run([str(w) for w in words], capture_output=True, text=True, cwd=work, env=dict(env, **more), timeout=seconds)
    return p.returncode, p.stdout, p.stderr


def build(name, text, compiler=None, *flags):
    source = work / (name + (".cc" if compiler == "c++" else ".c"))
    source.write_text(text)
    words = [compiler] if compiler and compiler != "c++" else [intact, compiler or "cc"]
    rc, out, err = run(*words, "-g", "-O1", "-Wall", "-Wextra", "-Werror", *flags, source, "-o", work / name, "-pthread")
    if rc:
        print("# " + err.replace("\n", "\n# "))
    return work / name


def counter(inc=RIGHT, more="", op=""):
    return COUNTER % {"inc": inc, "more": more, "op": op}


def explore(*words, **more):
    return run(intact, "explore", *words, **more)


right = build("right", counter())
lost = build("lost", counter(LOST))

# ---- verdicts

rc, out, err = explore("-x", right)
check("a right counter: all traces of all scenarios", rc == 0 and re.match(r"no violation: 'counter' is linearizable in all \d+ traces of all 14 scenarios \(2x2, 3x1\)", out), out + err)
rc, out, err = explore(lost)
check("a lost update is found, with a minimal scenario", rc == 1 and out.startswith("NOT LINEARIZABLE") and "inc() -> 1   inc() -> 1" in out
      and "--scenario 'inc() | inc()'" in out and "would return 2, not 1" in out and "* " in out, out + err)
check("... and its steps have the calls, values and lines", re.search(r"calls inc\(\) .*lost\.c:7 inc", out) and "atomic read n -> 0" in out and "returns 1" in out, out)
rc, out, err = explore("--scenario", "inc() | get()", "-x", lost)
check("--scenario: only this one", rc == 0 and "in all" in out and "of 1 scenario (the one that was given)" in out, out + err)
rc, out, err = explore("--scenario", "inc() inc() | inc()", "--no-minimise", lost)
check("--no-minimise keeps the scenario", rc == 1 and "--scenario 'inc() inc() | inc()'" in out, out + err)
a, b = (explore("--json=-", "--seed", "7", lost)[1] for _ in range(2))
check("the same seed gives the same document", a == b and json.loads(a)["object"]["scenario"] == "inc() | inc()", a[:300])
rc, out, err = explore("-x", "-j", "2", "--shape", "2x2,2x3", right)
check("two processes explore scenarios", rc == 0 and "linearizable in all" in out, out + err)
rc, out, err = explore("-x", "--shape", "3x3", "--time", "1", "-n", "5", right)
check("a limit on schedules is no proof", rc == 3 and "not exhaustive" in out, out + err)

# ---- progress

LOCK = ("static atomic_int held;\nstatic void take(void) { while (atomic_exchange(&held, 1)) ; }\nstatic void give(void) { held = 0; }\n",
        "#include <pthread.h>\nstatic pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\nstatic void take(void) { pthread_mutex_lock(&m); }\nstatic void give(void) { pthread_mutex_unlock(&m); }\n",
        "#include <semaphore.h>\nstatic sem_t s;\n__attribute__((constructor)) static void one(void) { sem_init(&s, 0, 1); }\nstatic void take(void) { sem_wait(&s); }\nstatic void give(void) { sem_post(&s); }\n",
        "#include <pthread.h>\nstatic pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;\nstatic void take(void) { pthread_rwlock_wrlock(&l); }\nstatic void give(void) { pthread_rwlock_unlock(&l); }\n")
for i, lock in enumerate(LOCK):
    text = counter("take(); int v = n; n = v + 1; give(); return v + 1;", '.progress = "%s-free",' % ("lock", "obstruction")[i % 2]).replace("static long inc", lock + "static long inc")
    locked = build("locked%d" % i, text)
    for options in ((), ("-x",)):
        rc, out, err = explore(*options, locked)
        check("a lock in a lock-free object %d %s" % (i, options), rc == 1 and out.startswith("NOT " + ("LOCK-FREE", "OBSTRUCTION-FREE")[i % 2])
              and "cannot finish while the other threads do not run" in out and "--scenario 'inc() | inc()'" in out, out + err)
    if not i:
        continue  # its loop writes, so that there is no last trace
    rc, out, err = explore("-x", build("without%d" % i, re.sub('.progress = "[a-z-]*",', "", text)))
    check("... which is right otherwise", rc == 0 and "linearizable in all" in out and "free" not in out, out + err)
free = build("free", counter("int v = n; while (!atomic_compare_exchange_strong(&n, &v, v + 1)) ; return v + 1;", '.progress = "lock-free",'))
rc, out, err = explore("-x", free)
check("a loop around a compare-and-swap is lock-free", rc == 0 and "is linearizable and lock-free in all" in out, out + err)
rc, out, err = explore("-x", "--json=-", free)
check("... the document says so", json.loads(out)["object"]["progress"] == "lock-free", out[:300])

# ---- accesses that race and are no atomics: points only when they are known to race

ring = r"""
#include <intact/test.h>
#include <stdlib.h>
struct ring { volatile unsigned in, out; volatile long item[4]; };
static void *create(void) { return calloc(1, sizeof(struct ring)); }
static long put(void *o, const long *arg) { struct ring *r = o; unsigned in = r->in; if (in - r->out == 4) return INTACT_FULL; %s return INTACT_VOID; }
static long take(void *o, const long *arg) { struct ring *r = o; unsigned out = r->out; (void)arg; if (out == r->in) return INTACT_EMPTY; long v = r->item[out %% 4]; r->out = out + 1; return v; }
static const struct intact_test ring = { .name = "ring", .create = create, .destroy = free,
	.operations = { INTACT_OPERATION(put, .arg = { INTACT_UNIQUE }, .threads = INTACT_THREAD(1)), INTACT_OPERATION(take, .threads = INTACT_THREAD(2)) } };
INTACT_TEST_MAIN(ring)
"""
for name, body, verdict in (("volatile", "r->item[in % 4] = arg[0]; r->in = in + 1;", 0), ("early", "r->in = in + 1; r->item[in % 4] = arg[0];", 1)):
    volatile = build(name, ring % body)
    for options in ((), ("-x",)):
        rc, out, err = explore("--races=no", *options, volatile)
        check("a ring of volatile variables, %s %s" % (name, options), rc == verdict and (not rc or "put(1)     take() -> 0" in out), out + err)
    rc, out, err = explore("-x", volatile)
    check("... which is a data race", rc == 1 and "data race on" in out, out + err)

# ---- specifications

spec = build("spec", counter(LOST, '.spec = "counter",', ', .as = "add"').replace("INTACT_OPERATION(get)", 'INTACT_OPERATION(get, .as = "read")')
             .replace("return v + 1;", "return INTACT_VOID;").replace("static const", "static const"))
rc, out, err = explore("--scenarios", "60", spec)
check("an object of intact history is the specification", rc == 1 and "the built-in specification 'counter'" in out and "NOT LINEARIZABLE" in out, out + err)
model = build("model", r"""
#include <intact/test.h>
#include <stdatomic.h>
#include <stdlib.h>
static atomic_int n;
static long take(void *o, const long *arg) { (void)o; (void)arg; return atomic_fetch_add(&n, 1); }
static void *ideal(void) { return calloc(1, sizeof(long)); }
static long ideal_take(void *o, const long *arg) { long *p = o; (void)arg; return (*p)++ % 2; }
static const struct intact_test test = { .name = "ticket", .model_create = ideal, .model_destroy = free,
	.operations = { INTACT_OPERATION(take, .model = ideal_take) } };
INTACT_TEST_MAIN(test)
""")
rc, out, err = explore(model)
check("a model: what C functions say counts, not the object", rc == 1 and "against the model" in out and "would return 0, not 2" in out, out + err)
(work / "even.spec").write_text("object o {\n  int[0..100] n;\n  int take() {\n    n = n + 2;\n    return n - 2;\n  }\n}\n")
filespec = build("filespec", (work / "model.c").read_text().replace(".model_create = ideal, .model_destroy = free,", '.spec = "even.spec",')
                 .replace(", .model = ideal_take", "").replace("static void *ideal", "__attribute__((unused)) static void *ideal")
                 .replace("static long ideal_take", "__attribute__((unused)) static long ideal_take"))
rc, out, err = explore(filespec)
check("a specification file", rc == 1 and "the specification in even.spec" in out, out + err)
# its operations share nothing: whether one call ended before another began is not the order of any step
sequential = build("sequential", r"""
#include <intact/test.h>
static _Thread_local long mine;
static long set(void *o, const long *arg) { (void)o; mine = arg[0]; return INTACT_VOID; }
static long get(void *o, const long *arg) { (void)o; (void)arg; return mine; }
static const struct intact_test test = { .name = "private", .model_create = 0, .spec = "register", .condition = CONDITION,
	.operations = { INTACT_OPERATION(set, .arg = { INTACT_UNIQUE }), INTACT_OPERATION(get) } };
INTACT_TEST_MAIN(test)
""", None, '-DCONDITION="linearizable"')
rc, out, err = explore("-x", "--shape", "2x1", sequential)
build("sequential2", (work / "sequential.c").read_text(), None, '-DCONDITION="sequential"')
rc2, out2, err2 = explore("-x", "--shape", "2x1", work / "sequential2")
check("sequential consistency is weaker than linearizability", rc == 1 and rc2 == 0 and "sequentially consistent" in out2, out + err + out2 + err2)

titles = {"sequential": "NOT SEQUENTIALLY CONSISTENT", "quiescent": "NOT QUIESCENTLY CONSISTENT", "linearizable": "NOT LINEARIZABLE"}
for name, title in titles.items():
    rc, out, err = explore(build("titled", counter(LOST, '.condition = "%s",' % name)))
    check("a condition that is violated is named: " + name, rc == 1 and out.startswith(title + " in schedule"), out + err)
# The writer changes two copies, readers look at them in turns: a later read may return the older value, which is regular. While the
# copies differ, a read may return anything: safe. With -DWRONG it returns that at any time.
register = r"""
#include <intact/test.h>
#include <stdatomic.h>
static atomic_long a, b, turn;
static void *create(void) { a = b = turn = 0; return 0; }
static long set(void *o, const long *arg) { (void)o; a = arg[0]; b = arg[0]; return INTACT_VOID; }
static long get(void *o, const long *arg) { (void)o; (void)arg; long x = a, y = b; if (SAFE && x != y) return 9; if (WRONG && x) return 9; return turn++ % 2 ? y : x; }
static const struct intact_test test = { .name = "register", .create = create, .spec = "register", .condition = CONDITION,
	.operations = { INTACT_OPERATION(set, .arg = { INTACT_RANGE(1, 1) }, .threads = INTACT_THREAD(1)),
	                INTACT_OPERATION(get, .threads = INTACT_THREAD(2)) } };
INTACT_TEST_MAIN(test)
"""
for safe, wrong, condition, title in ((0, 0, "linearizable", "NOT LINEARIZABLE"), (0, 0, "regular", ""), (1, 0, "regular", "NOT REGULAR"), (1, 0, "safe", ""),
                                      (0, 1, "safe", "NOT SAFE")):
    weak = build("weak", register, None, '-DCONDITION="%s"' % condition, "-DSAFE=%d" % safe, "-DWRONG=%d" % wrong)
    rc, out, err = explore("-x", "--shape", "2x2", weak)
    check("%s: %s" % (condition, title or "holds"), rc == (title != "") and (out.startswith(title + " in") if title else "'register' is %s in all" % condition in out), out + err)
silent = LOST.replace("return v + 1;", "return INTACT_VOID;")
unread = counter(silent, op=", .threads = INTACT_THREADS_FROM(1)").replace(", INTACT_OPERATION(get)", "").replace("static long get", "__attribute__((unused)) static long get")
rc, out, err = explore("-x", build("unread", unread))
rc2, out2, err2 = explore("-x", build("after", counter(silent, '.after = { { "get" } },').replace("INTACT_OPERATION(get)", "INTACT_OPERATION(get, .threads = INTACT_THREAD(9))")))
check("calls after the others are judged: only they show a lost update", rc == 0 and rc2 == 1 and "  after: get() -> 1\n" in out2
      and "--scenario 'inc() | inc() [get()]'" in out2, out + err + out2 + err2)
late = counter("int v = n; if (v < 2) return atomic_fetch_add(&n, 1) + 1; n = v + 1; return v + 1;", "%s")
rc, out, err = explore("-x", "--shape", "2x1", build("early2", late % ""))
rc2, out2, err2 = explore("-x", "--shape", "2x1", build("before", late % '.before = { { "inc" }, { "inc" } },'))
check("calls before the others are made: a bug that begins at 2 is found", rc == 0 and rc2 == 1 and "  before: inc() -> 1, inc() -> 2\n" in out2, out + err + out2 + err2)
rc, out, err = explore("-x", build("unjudged", counter(LOST, '.condition = "none",')))
check("condition none: results are not judged", rc == 0 and re.match(r"no violation: 'counter' does not fail in all \d+ traces", out) and "compared with nothing" in out
      and "histor" not in out, out + err)
rc, out, err = explore("-x", build("asserted", counter(LOST, '.condition = "none", .validate = validate,').replace("static void *create", "static atomic_int incs;\nstatic void validate(void *o) { (void)o; assert(n == incs); }\nstatic void *create")
                                      .replace("int v = n;", "incs++; int v = n;")))
check("... what validate asserts is", rc == 1 and out.startswith("FAILED ASSERTION"), out + err)

# ---- threads, waiting, validation, races

cxx = build("cxx", counter(LOST).replace("<stdatomic.h>", "<atomic>").replace("static atomic_int", "static std::atomic<int>"), "c++")
rc, out, err = explore(cxx)
check("C++", rc == 1 and "NOT LINEARIZABLE" in out, out + err)
sem = r"""
#include <intact/test.h>
#include <semaphore.h>
#include <stdlib.h>
static void *create(void) { sem_t *s = malloc(sizeof *s); sem_init(s, 0, 0); return s; }
static long down(void *s, const long *arg) { (void)arg; sem_wait(s); return INTACT_VOID; }
static long up(void *s, const long *arg) { (void)arg; %s return INTACT_VOID; }
static const struct intact_test test = { .name = "semaphore", .create = create, .destroy = free,
	.operations = { INTACT_OPERATION(down%s), INTACT_OPERATION(up, .threads = INTACT_THREAD(1)) } };
INTACT_TEST_MAIN(test)
"""
rc, out, err = explore("-x", build("sem", sem % ("sem_post(s);", ", .flags = INTACT_BLOCKS")))
check("calls that wait are pending, not wrong", rc == 0, out + err)
rc, out, err = explore("-x", build("sem2", sem % ("sem_post(s);", "")))
check("... without INTACT_BLOCKS they are", rc == 1 and ("LOST WAKE-UP" in out or "DEADLOCK" in out) and "waits" in out, out + err)
rc, out, err = explore("-x", build("sem3", sem % ("int v; sem_getvalue(s, &v); if (v == 0) sem_post(s);", ", .flags = INTACT_BLOCKS")))
check("threads' roles: only T1 calls up", "up()" not in out.split("T2")[-1].split("\n")[0], out + err)
rc, out, err = explore(build("valid", counter(LOST, ".validate = validate,").replace("static const", "static int made;\nstatic void validate(void *o) { (void)o; assert(made >= 0 && n != 1); }\nstatic const")))
check("validate is called at the end", rc == 1 and "FAILED ASSERTION" in out and "The scenario" in out, out + err)
rc, out, err = explore("-x", build("racy", counter(LOST).replace("static atomic_int n", "static int n")))
check("data races in an object are reported, with the scenario", rc == 1 and ("data race" in out or "NOT LINEARIZABLE" in out) and "T1" in out, out + err)

producer = build("producer", counter(op=", .threads = INTACT_THREAD(1)").replace("INTACT_OPERATION(get)", "INTACT_OPERATION(get, .threads = INTACT_THREAD(2))"))
rc, out, err = explore("-x", producer)
check("shapes with a thread that has nothing to call are left out", rc == 0 and "(2x2)" in out, out + err)
rc, out, err = explore("-x", "--shape", "3x1", producer)
check("... and refused when they are asked for", rc == 2 and "may be called by thread 3" in err, out + err)

# ---- loops on plain data

CELL = """
#include <intact/test.h>
#include <stdlib.h>
struct cell { volatile long full, value, looks; };
static void *create(void) { return calloc(1, sizeof(struct cell)); }
static long put(void *o, const long *arg) { struct cell *c = o; while (c->full) LOOK; c->value = arg[0]; c->full = 1; return INTACT_VOID; }
static long take(void *o, const long *arg) { struct cell *c = o; (void)arg; while (!c->full) LOOK; long v = c->value; c->full = 0; return v; }
static const struct intact_test cell = { .name = "cell", .create = create, .destroy = free,
	.operations = { INTACT_OPERATION(take, .threads = 1), INTACT_OPERATION(put, .arg = { INTACT_UNIQUE }, .threads = 2) } };
INTACT_TEST_MAIN(cell)
"""
waits = build("waits", CELL.replace(" LOOK", ""))
rc, out, err = explore("-x", "--races=no", waits)
check("a loop that waits for a volatile variable is one that waits", rc == 0 and re.match(r"no violation: 'cell' is linearizable in all \d+ traces of 1 scenario \(2x2\)", out), out + err)
rc, out, err = explore("-x", "--races=no", "--max-steps=200", build("looks", CELL.replace("LOOK", "c->looks = 1")))
check("one that writes is cut off: unknown", rc == 3 and out.startswith("unknown: every schedule was cut off"), out + err)

# ---- mistakes

def refused(name, text, *words):
    rc, out, err = explore(*(words or [build(name, text)]))
    return rc == 2 and not out, out + err, err

for name, text, says in (
        ("e1", counter(more='.spec = "queue7",'), "unknown specification 'queue7'"),
        ("e2", counter(more='.spec = "queue",'), "the specification has no operation 'get'"),
        ("e3", counter(more='.condition = "eventual",'), "unknown condition 'eventual'"),
        ("e10", counter(more='.condition = "none", .spec = "counter",').replace("INTACT_OPERATION(get)", 'INTACT_OPERATION(get, .as = "read")'), "and the condition is 'none'"),
        ("e4", counter(more='.before = { { "dec", { 0 } } },'), "`before` or `after` names an operation that the object does not have"),
        ("e5", counter(more='.model_create = create,'), "not every operation has a `model`"),
        ("e6", counter(op=", .arg = { INTACT_RANGE(3, 1) }"), "an argument's range is empty"),
        ("e7", counter(more='.spec = "none.spec",'), "none.spec"),
        ("e8", counter(more='.progress = "wait-free",'), '`progress` is neither "obstruction-free" nor "lock-free"'),
        ("e9", counter(more='.progress = "lock-free",', op=", .flags = INTACT_BLOCKS"), "`progress` is given, but an operation may wait")):
    ok, text, err = refused(name, text)
    check("a wrong test: " + says, ok and says in err, text)
for words, says in ((("--shape", "2y2"), "--shape: expected THREADSxCALLS"), (("--shape", "9x1"), "at most 8 threads"),
                    (("--scenario", "inc( | get()"), "expected )"), (("--scenario", "dec()"), "the object has no such operation"),
                    (("--scenario", ""), "expected a call"), (("--scenario", "inc()", "--shape", "2x2"), "cannot be combined"),
                    (("--confirm", "x.json"), "x.json")):
    ok, text, err = refused("", "", *words, right)
    check("wrong option: " + " ".join(words), ok and says in err, text)
(work / "plain.c").write_text("int main(void) { return 0; }\n")
run(intact, "cc", "-g", work / "plain.c", "-o", work / "plain")
rc, out, err = explore("--shape", "2x2", work / "plain")
check("--shape needs an object test", rc == 2 and "require an object test" in err, out + err)
alone = build("alone", counter(), "gcc", "-I", str(root / "include"))
rc, out, err = explore(alone)
check("a test that was not built with intact cc", rc == 2 and "was not built with `intact cc`" in err, out + err)
rc, out, err = explore("-x", "--shape", "4x4", build("big", counter(op=", .arg = { INTACT_RANGE(0, 1000000) }")))
check("too many scenarios to enumerate", rc == 2 and "more than a million scenarios" in err and "--scenarios N" in err, out + err)

# ---- replay

rc, out, err = explore("--save", work / "s", lost)
for way in ([], ["--threads"], ["--fork"]):
    rc, out, err = explore("--replay", work / "s", *way)
    check("replay " + " ".join(way), rc == 1 and "inc() -> 1   inc() -> 1" in out, out + err)
text = (work / "s").read_text()
(work / "s2").write_text(text.replace('"inc() | inc()"', '"dec() | inc()"'))
rc, out, err = explore("--replay", work / "s2")
check("a scenario that does not fit the program", rc == 2 and "no such operation" in err, out + err)
(work / "s3").write_text(re.sub(r'setting "scenario".*\n', "", text))
rc, out, err = explore("--replay", work / "s3")
check("a schedule of no object test", rc == 2 and "object test" in err, out + err)

# ---- reports

rc, out, err = explore("--json", work / "r.json", "--html", work / "r.html", "--sarif", work / "r.sarif", "--junit", work / "r.xml", lost)
rc2, out2, err2 = run(intact, "report", work / "r.json")
check("a saved result renders as the same text", rc == 1 and out == out2, out + out2 + err2)
page = (work / "r.html").read_text()
check("the page has the scenario, SARIF the rule, JUnit the failure", "objectTable" in page and "inc() | inc()" in page
      and "explore-not-linearizable" in (work / "r.sarif").read_text() and "<failure" in (work / "r.xml").read_text(), page[:200])

# ---- the stress test, compiled plainly

rc, out, err = run(alone, "--rounds", "50")
check("stress: every round is explained", rc == 0 and "every round is linearizable" in out, out + err)
wrong = build("wrong", counter("static atomic_int calls; return atomic_fetch_add(&calls, 1) == 3 ? 7 : atomic_fetch_add(&n, 1) + 1;"), "clang", "-I", str(root / "include"))
rc, out, err = run(wrong, "--rounds", "50")
check("stress: a wrong result is reported with the round", rc == 1 and "NOT LINEARIZABLE in round" in out and "returns 7" in out, out + err)
handed = build("handed", (work / "spec.c").read_text(), "gcc", "-I", str(root / "include"))
rc, out, err = run(handed, "--rounds", "20", "--history", work / "h.json")
check("stress: a history for intact history", rc in (0, 1) and "checked as: counter" in out and len((work / "h.json").read_text().splitlines()) == 20 * 3 * 4 * 2, out + err)
rc, out, err = run(handed, "--rounds", "0")
check("stress: wrong usage", rc == 2 and "usage:" in err, out + err)
# Each of two threads waits inside its calls until the other has got as far, so that there is one history: set1 returns before the second get
# is called, no moment is quiet, and both gets return 0. The model is a register.
FORCED = r"""
#include <intact/test.h>
#include <stdatomic.h>
#include <stdlib.h>
static atomic_int sets, gets;
static void *create(void) { sets = gets = 0; return 0; }
static long set(void *o, const long *arg) { (void)o; (void)arg; int n = ++sets; while (gets < n) ; return INTACT_VOID; }
static long get(void *o, const long *arg) { (void)o; (void)arg; ++gets; while (sets < 2) ; return GOT; }
static void *model(void) { return calloc(1, sizeof(long)); }
static long model_set(void *o, const long *arg) { *(long *)o = arg[0]; return INTACT_VOID; }
static long model_get(void *o, const long *arg) { (void)arg; return *(long *)o; }
static const struct intact_test test = { .name = "stale", .create = create, .model_create = model, .model_destroy = free, .condition = CONDITION,
	.operations = { INTACT_OPERATION(set, .arg = { INTACT_UNIQUE }, .threads = INTACT_THREAD(1), .model = model_set),
	                INTACT_OPERATION(get, .threads = INTACT_THREAD(2), .model = model_get) } };
INTACT_TEST_MAIN(test)
"""
for condition, got, title in (("linearizable", 0, "NOT LINEARIZABLE"), ("sequential", 0, ""), ("quiescent", 0, ""),
                              ("sequential", 7, "NOT SEQUENTIALLY CONSISTENT"), ("quiescent", 7, "NOT QUIESCENTLY CONSISTENT")):
    stale = build("stale", FORCED, "gcc", "-I", str(root / "include"), '-DCONDITION="%s"' % condition, "-DGOT=%d" % got)
    rc, out, err = run(stale, "--threads", "2", "--operations", "2", "--rounds", "5")
    check("stress: %s: %s" % (condition, title or "holds"), rc == (title != "") and ("stale: %s in round 1" % title if title else "every round is %s" % condition[:6]) in out, out + err)
for spec, condition, rc_wanted, says in (("register", "linearizable", 1, "violated: not atomic"), ("register", "sequential", 0, "sequential")):
    stale = build("stale2", FORCED.replace(".model_create = model, .model_destroy = free,", '.spec = "%s",' % spec).replace(", .model = model_set", "").replace(", .model = model_get", "")
                  .replace("static void *model(", "__attribute__((unused)) static void *model(").replace("static long model", "__attribute__((unused)) static long model"),
                  "gcc", "-I", str(root / "include"), '-DCONDITION="%s"' % condition, "-DGOT=0")
    rc, out, err = run(stale, "--threads", "2", "--operations", "2", "--rounds", "5")
    check("stress: intact history is given the condition: " + condition, rc == rc_wanted and says in (out + err).lower(), "%d %s" % (rc, out + err))
unknown = build("unknown", counter(more='.condition = "eventual",'), "gcc", "-I", str(root / "include"))
rc, out, err = run(unknown)
check("stress: an unknown condition", rc == 2 and "'eventual' is unknown" in err, out + err)
blocks = build("blocks", (work / "sem.c").read_text(), "gcc", "-I", str(root / "include"))
rc, out, err = run(blocks)
check("stress: operations that wait are refused", rc == 2 and "may wait" in err, out + err)
done()
