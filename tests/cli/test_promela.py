#!/usr/bin/env python3
"""SPIN judges exported models as `intact check` does, on the same number of states.

    test_promela.py PATH-OF-INTACT EXAMPLES [all]

The counts are equal, not just near: processes are `active`, so there is no
state in which they are being created; END nodes are end labels, so no process
dies in a step of its own; faults stop both. For that SPIN's reductions are
off (-o1 -o2 -o3: data flow, dead variables, merged statements; -DNOREDUCE:
partial order) and so are symmetry and merged steps on our side. Dead
variables are reset by the exported model, so they are on for both, except
with --keep-dead, which is held against --no-reduce=all.

`all` runs every example. TAP on stdout."""
import re
import shutil
import sys
import tempfile
from pathlib import Path

from tap import check, done, run

intact, examples = sys.argv[1], Path(sys.argv[2])
everything = len(sys.argv) > 3 and sys.argv[3] == "all"

SMALL = ["acquire1.atm", "peterson.atm", "lost-update.atm", "bank-transfer-deadlock.atm", "treiber-stack.atm",
         "bounded-buffer.atm", "fig1.sml", "separating/await-each-other.atm", "separating/late-choice.atm"]
# (name, text, what is wrong with it)
MODELS = [
    ("structs", "struct point { int[0..2] x, y; }; struct node { lock l; point at[2]; }; node pool[2]; int[0..2] g[2][2], k;"
     "thread a { acquire(pool[1].l); pool[k % 2].at[1] = pool[1].at[0]; release(pool[1].l); g[1][k % 2] = 1; }"
     "thread b { k = 1; pool[1].at[k].x = 2; }", None),
    ("references", "struct p { int[0..2] v[2]; lock l; }; p s[2]; proc f(p &q, int[0..2] &x, int[0..2] &r[2]) {"
     " acquire(q.l); x = (x + 1) % 3; r[x % 2] = q.v[0]; release(q.l); }"
     "thread a { f(s[0], s[0].v[1], s[0].v); } thread b { f(s[0], s[0].v[0], s[1].v); }", None),
    ("types that wrap", "wrap int[-1..1] x; wrap u8 y = 255; thread a * 2 { x = x + 2; fetch_add(y, 3); } thread b { x--; y = x; }", None),
    ("channels", "chan int[0..2] c[2], d[2][1]; int[0..2] x; thread a { send(c, 1); send(c, 2); x = recv(d[1]); }"
     "thread b { int[0..2] y = recv(c); send(d[1], y); if (try_recv(c, y)) x = y; }", None),
    ("index of a row", "int[0..2] g[2][2], k; thread a { g[k][1] = 1; } thread b { k = 2; }", "fault"),
    ("names that differ by a dot", "struct s { int[0..1] y; }; s x; int[0..1] x_y; thread a { x.y = 1; x_y = x.y; }", None),
    ("range", "int[0..2] x; thread t * 2 { repeat (2) { x = x + 1; } }", "fault"),
    ("no range", "int[0..4] x; thread t * 2 { repeat (2) { x = x + 1; } }", None),
    ("overflow", "int x = 2147483646; thread t * 2 { int y = x; x = y + 1; y = x; y = y * 1; }", "fault"),
    ("overflow of +", "int x = 2147483646; thread t * 3 { fetch_add(x, 1); }", "fault"),
    ("overflow of *", "int x = -65536; thread t { x = x * 32768; x = x * -1; }", "fault"),
    ("smallest int", "int x = -65536; thread t { x = x * 32768; x = x % -1; assert(x == 0); x = -7 / 2; assert(x == -3);"
                     " x = x << 3; assert(x == -24); x = x >> 1; assert(x == -12); }", None),
    ("division", "int[0..2] x = 2; thread t * 2 { int y = 6 / x; fetch_add(x, -1); }", None),
    ("division by zero", "int[0..2] x = 1; thread t * 2 { int y = 6 / x; fetch_add(x, -1); }", "fault"),
    ("index", "int[0..3] i; bool a[3]; thread t * 3 { a[fetch_add(i, 1)] = true; }", None),
    ("index outside", "int[0..3] i; bool a[2]; thread t * 3 { a[fetch_add(i, 1)] = true; }", "fault"),
    ("release", "lock l[2]; thread t * 2 { int[0..1] i = any(0..1); acquire(l[i]); release(l[1]); }", "fault"),
    ("second commit", "bool x; thread t { atomic { x = true; commit; if (x) commit; } }", "fault"),
    ("assertion", "bool a; bool b; thread p { a = true; bool v = b; assert(v || !a); } thread q { b = true; }", "fault"),
    ("forbidden choices", "int[0..9] x; thread t * 2 { int[0..4] k = any(0..4); assume(k % 2 == 1); x = k; x += any(0..2); }", None),
    ("all choices forbidden", "int[0..9] x; thread t * 2 { int[0..4] k = any(0..4); assume(k > x + 3); x = 9; }", "deadlock"),
    ("step", "int[0..3] a[3]; int[0..2] i; thread t * 2 { step { assume(a[i] < 3); a[i]++; i = (i + a[i]) % 3;"
             " a[i] = a[(i + 1) % 3]; assume(a[i] != 2 || a[0] == 0); } }", None),
    ("step with choices", "int[0..9] x; thread t * 2 { step { either { x = x + 1; } or { assume(x > 1); x = 0; } or"
                          " { x = exchange(x, 3); } } cas(x, 3, 2); }", None),
    ("local arrays", "int[0..9] x; thread t * 2 { int[0..3] v[3]; repeat (3) { v[x % 3] += 1; x = (x + v[x % 3]) % 10; }"
                     " int[0..2] k = x % 3; v[k] = 3; x = v[(k + 1) % 3]; }", None),
    ("enum and ?:", "enum e { A, B, C }; e s; thread t * 2 { s = s == A ? B : C; assume(s == C); }", "deadlock"),
    ("for and switch", "enum e { A, B }; e s; int[0..4] x; thread t * 2 { for (int[0..2] i = 0; i < 2; i++) { switch (s) {"
                       " case A: s = B; break; case B: x = x + 1; } } do { s = A; } while (s == B); assert(x < 4); }", None),
    ("semaphore", "semaphore s = 1; int[0..2] x; thread t * 2 { wait(s); x = x + 1; assert(x == 1); x = x - 1; post(s); }", None),
    ("semaphore of two", "semaphore s = 2; int[0..2] x; thread t * 2 { wait(s); x = x + 1; assert(x == 1); x = x - 1; post(s); }",
     "fault"),
    ("rwlock", "rwlock r[2]; int[0..2] x; thread t * 2 { acquire_read(r[1]); assert(x % 2 == 0); release(r[1]);"
               " acquire_write(r[1]); x = x + 1; x = (x + 1) % 2; release(r[1]); }", None),
    ("rwlock not held", "rwlock r; thread t * 2 { acquire_read(r); release(r); release(r); }", "fault"),
    ("lost wake-up", "lock l; cond c; bool x; thread p { x = true; signal(c); }"
                     " thread q { acquire(l); if (!x) wait(c, l); release(l); }", "deadlock"),
    ("no lost wake-up", "lock l; cond c; bool x; thread p { acquire(l); x = true; release(l); signal(c); }"
                        " thread q * 2 { acquire(l); while (!x) wait(c, l); release(l); signal(c); }", None),
    ("spurious wake-up", "lock l; spurious cond c; bool x; thread p { acquire(l); x = true; release(l); signal(c); }"
                         " thread q { acquire(l); if (!x) wait(c, l); assert(x); release(l); }", "fault"),
    ("barrier", "barrier b = 2; int[0..9] x; thread t * 2 { fetch_add(x, 1); wait(b); assert(x >= 2); fetch_add(x, 1); wait(b);"
                " assert(x == 4); }", None),
    ("barrier for one too many", "barrier b = 2; thread t * 3 { wait(b); }", "deadlock"),
    ("once", "once o; int[0..2] n; proc f() { n = n + 1; } thread t * 3 { call_once(o, f); assert(n == 1); }", None),
]
MARKED = ["acquire.atm"]
# no marks: the points that `check` finds are exported
UNMARKED = ["acquire1.atm", "transaction.atm", "bluetooth-fixed.atm", "reduction.atm", "bounded-buffer.atm"]
TEXT_UNMARKED = [
    ("lock without marks", "lock l; int[0..7] x; int[0..1] y; thread t * 2 { repeat (2) atomic u { acquire(l); x = (2 * x + 1) % 8;"
                           " release(l); y = 0; } }", True),
    ("lost update without marks", "int[0..7] x; thread t * 2 { atomic u { int[0..7] y = x; x = (2 * y + 1) % 8; } }", False),
    ("choices outside", "int[0..7] x; bool z; lock l; thread t * 2 { int[0..3] k = any(0..3); z = any(bool); atomic u { acquire(l);"
                        " x = (2 * x + k) % 8; release(l); } }", True),
    ("choices in the block", "int[0..7] x; lock l; thread t * 2 { atomic u { int[0..2] k = any(0..2); acquire(l); either { k = 0; } or"
                             " { skip; } x = (2 * x + k) % 8; release(l); } }", True),
    ("choices in a broken block", "int[0..7] x; thread t * 2 { atomic u { int[0..7] y = x; y = y + any(0..1); x = (2 * y) % 8; } }", False),
]
TEXT_MARKED = [
    ("marked lock", "lock l; int[0..7] x; thread t * 2 { repeat (2) atomic u { acquire(l); x = (2 * x + 1) % 8; commit;"
                    " release(l); } }", True),
    ("marked lost update", "int[0..7] x; thread t * 2 { atomic u { int[0..7] y = x; x = (2 * y + 1) % 8; commit; } }", False),
    ("marked too early", "lock l; int[0..7] x; int[0..2] n; thread t * 2 { int[0..1] i = fetch_add(n, 1); atomic u { skip; commit;"
                         " acquire(l); x = (2 * x + i) % 8; release(l); } }", False),
    ("a local that differs", "int[0..3] x; int[0..3] z; thread t * 2 { int[0..3] y; atomic u { y = x; commit; x = y; } z = y; }"
                             " thread w { x = 2; }", False),
    ("a serial run that waits", "bool a; bool b; thread p { atomic { a = true; assume(b); commit; } }"
                                " thread q { atomic { b = true; assume(a); commit; } }", False),
    ("commits at its exit", "int[0..3] x; int[0..3] y; thread t * 2 { atomic { if (x == 0) { x = 1; commit; } else { y = 1; } } }",
     False),
]


def spin(directory, text):
    """{'fault', 'deadlock': bool, 'states': of the search for faults} or the error as a string"""
    (directory / "m.pml").write_text(text)
    for argv in (["spin", "-o1", "-o2", "-o3", "-a", "m.pml"],
                 ["gcc", "-w", "-O0", "-pipe", "-DSAFETY", "-DNOREDUCE", "-o", "pan", "pan.c"]):
        rc, out, err = run(argv, cwd=directory)
        if rc or "rror" in out:
            return out + err
    found = {}
    for what, flags in (("fault", ["-E"]), ("deadlock", [])):
        rc, out, err = run(["./pan", "-m20000", "-w16", *flags], cwd=directory)
        m = re.search(r"errors: (\d+)\s+(\d+) states, stored", out)
        if not m or "too small" in out:
            return out + err
        found[what] = m[1] != "0"
        found["states" if what == "fault" else "-"] = int(m[2])
    found["deadlock"] &= not found["fault"]
    return found


def export(*argv, stdin=None):
    return run([intact, "export", "--promela", "-q", *argv], stdin=stdin)


def same(name, path, text=None, want=None, keep_dead=False):
    off = ["--no-reduce=all"] if keep_dead else ["--no-reduce=symmetry", "--no-reduce=local", "--no-reduce=transactions"]
    rc, pml, err = export(*(["--keep-dead"] if keep_dead else []), path, stdin=text)
    crc, out, cerr = run([intact, "check", "-q", "--stats", *off, path], stdin=text)
    dout = run([intact, "check", "-q", "--deadlock", *off, path], stdin=text)[1]
    with tempfile.TemporaryDirectory() as tmp:
        got = spin(Path(tmp), pml) if rc == 0 else err
    if isinstance(got, str):
        return check(name, False, got + pml)
    ours = {"fault": "FAULT" in out, "deadlock": "DEADLOCK" in dout and "FAULT" not in out}
    m = re.search(r"no fault in the (\d+) states", out)
    detail = f"ours {ours} {m and m[1]}, SPIN {got}\n{out}{cerr}\n{pml}"
    ok = all(ours[k] == got[k] for k in ours) and (ours["fault"] or (m and int(m[1]) == got["states"]))
    if want != "either":
        ok = ok and ours == {"fault": want == "fault", "deadlock": want == "deadlock"}
    return check(f"{name}: same verdict" + ("" if ours["fault"] else f", same {got['states']} states"), ok, detail)


def same_instrumented(name, path, text=None, want=None, one=True):
    """Points that fit: proved on as many states as the commit engine has in its last search (all of
    them when it needs but `one`). Others: an error."""
    rc, pml, err = export("--semantics=instrumented", path, stdin=text)
    crc, out, cerr = run([intact, "check", "-q", "--engine=commit", "--stats", "--no-reduce=symmetry",
                          "--no-reduce=local", "--no-reduce=transactions", path], stdin=text)
    with tempfile.TemporaryDirectory() as tmp:
        got = spin(Path(tmp), pml) if rc == 0 else err
    if isinstance(got, str):
        return check(name, False, got + pml)
    m = re.search(r"^program .*\n +(\d+) states", out, re.M)
    ok = got["fault"] == (crc != 0) and (crc != 0 or not one or (m and int(m[1]) == got["states"]))
    ok = ok and want in (None, not got["fault"])
    return check(f"instrumented, {name}: same verdict" + ("" if crc else f", same {got['states']} states"), ok,
                 f"SPIN {got}\n{out}{cerr}\n{pml}")


# what is refused, and how: needs no SPIN
rc, out, err = export(examples / "safe-bit.atm")
check("safe variables are refused with their place", rc == 2 and not out and "safe-bit.atm:11:13: error:" in err, err)
rc, out, err = export("--semantics=instrumented", "-", stdin="bool x; bool y; thread t { atomic { x = true; commit; bool v = x; y = any(bool); } }")
check("instrumented: choices after the commit are refused with their place",
      rc == 2 and not out and ":1:" in err and "choice after" in err, err)
rc, out, err = export("--semantics=instrumented", "--commit=exit", "-",
                      stdin="int[0..3] x; thread t { atomic { while (x < 3) { x = any(0..3); } } }")
check("instrumented: choices in a loop of a block are refused with their place",
      rc == 2 and not out and ":1:" in err and "choice in a loop" in err, err)
rc, out, err = export("-", stdin="int x; thread t { x = any(0..100000); }")
check("too many ways are refused", rc == 2 and not out and "too many outcomes" in err, err)
rc, out, err = export("--threads", "worker=300", examples / "acquire1.atm")
check("too many threads for SPIN are refused", rc == 2 and not out and "255" in err, err)
rc, out, err = export("-", stdin="int x; thread t { step { while (x < 5) { x = x + 1; } } }")
check("a loop in a step whose end the intervals do not tell is refused", rc == 2 and not out and "too long" in err, err)
rc, out, err = run([intact, "export", examples / "acquire1.atm"])
check("the format must be named", rc == 2 and "--promela" in err, err)

if not shutil.which("spin") or not shutil.which("gcc"):
    print("# SPIN or gcc is not installed: the comparison with SPIN is skipped")
    done()
for model in SMALL if not everything else sorted([*examples.rglob("*.atm"), *examples.rglob("*.sml")]):
    if not everything or not re.search(r"^\s*(object|safe|regular)\b", Path(model).read_text(), re.M):
        same(str(model), examples / model, want="either")
same("seqlock.atm, dead variables kept", examples / "seqlock.atm", keep_dead=True)
for title, source, wrong in MODELS:
    same(title, "-", source, wrong)
for model in MARKED:
    same_instrumented(model, examples / model)
for title, source, fits in TEXT_MARKED:
    same_instrumented(title, "-", source, fits)
for model in UNMARKED:
    same_instrumented(model, examples / model, one=model != "bluetooth-fixed.atm")
for title, source, fits in TEXT_UNMARKED:
    same_instrumented(title, "-", source, fits, one=False)
done()
