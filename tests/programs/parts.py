#!/usr/bin/env python3
"""Every part of every report against the recording of the same run.

Each program of this folder is run watched and recorded at once. A judge that
shares nothing with the analyses (it reads the records as text, tests/record/
dump.c) looks for one occurrence that has all that the report says:

  - the thread entered the block: a function that it was in, or a mark it met
  - it committed there and then violated there, by operations of that kind, at
    those lines, in those functions, on one lock or datum where the report says
    so, and the block was not left in between
  - the other thread is another one, and did what is said of it, at that line,
    in those functions, under that lock; of a confirmed finding between the two
    (of a marked block: while it was open, or in a block that overlaps it)
  - each thread was created where it is said, by whom it is said

    parts.py INTACT DUMP [--all] [NAME...]   --all: both compilers, -O0 and -O2,
                                             5 runs each; else a rotating sample
"""
import json
import os
import re
import subprocess
import sys
import tempfile

from run import COMBOS, HERE, expectation

(READ, WRITE, ATOMIC_READ, ATOMIC_WRITE, ACQUIRE, RELEASE, TRY_FAILED, SYNC_RELEASE, SYNC_ACQUIRE, RENEW, FORGET, CREATE, STACK,
 END, JOIN, POP, PUSH, MARK, MARK_END, TEXT, MODULE, FORK, FORKED) = range(23)
WAIT, INLINED = 2, 1
# Functions of the runtime or libc below a thread's first one.
STARTS = {"intact_thread_main", "intact_c11_main", "intact_run_once", "start_thread", "call_init", "execute_native_thread_routine"}


class Symbols:
    def __init__(self):
        self.frames = {}

    def line(self, text):
        f = text.split("\t")
        if f[0] == "a":
            self.last = self.frames.setdefault(int(f[1], 16), [])
        elif f[0] == "f":
            line, decl = int(f[3], 16) if f[3] != "-" else 0, int(f[5], 16) if f[5] != "-" else 0
            self.last.append({"function": f[1], "line": line or decl, "system": f[9] not in ("0", "-")})

    def at(self, pc):
        return self.frames.get(pc - 1, [])

    def function(self, site):
        """Of an entry hook (where it returns to, how deep it is inlined): the function it is the hook of. gcc 14 gives the
        hook of a function that is not inlined the place of the first inlined one, and that of an inlined one at times
        the place of the function around it: then its name is not known ("-")."""
        pc, inlined = site
        f = self.at(pc)
        if not f or (inlined and len(f) <= inlined):
            return {"function": "-", "line": 0, "system": False}
        return f[0 if inlined else -1]


class Event:
    __slots__ = ("n", "kind", "arg", "addr", "pc", "uid", "frames", "marks", "target")


class Process:
    def __init__(self):
        self.threads, self.events, self.forks, self.pid = {}, [], {}, None

    def thread(self, slot):
        return self.threads.setdefault(slot, {"uid": -slot, "frames": (), "marks": ()})


def read(dump, path):
    """Processes with their events: who, what, where, in which activations."""
    out = subprocess.run([dump, path], capture_output=True, text=True, errors="replace", timeout=120)
    if out.returncode:
        raise ValueError("dump: " + out.stderr)
    processes, symbols, serial, activation = {}, Symbols(), 0, 0
    for text in out.stdout.split("\n"):
        if not text.startswith(("r ", "t ")):
            if text:
                symbols.line(text)
            continue
        w = text.split(" ")
        p = processes.setdefault(int(w[1], 16), Process())
        if w[0] == "t":
            if int(w[2], 16) == 2:
                p.pid = int(w[3])
            continue
        kind, arg, addr, slot, pc = (int(x, 16) for x in w[2:7])
        serial += 1
        if kind == FORKED:
            for q in processes.values():
                if q.pid == pc and addr in q.forks:
                    p.threads = {k: dict(v) for k, v in q.forks[addr].items()}
            continue
        if kind == CREATE:
            p.threads[addr >> 32] = {"uid": addr & 0xffffffff, "frames": (), "marks": ()}
        if kind == CREATE and not slot:
            continue
        t = p.thread(slot)
        if kind == FORK:
            p.forks[addr] = {k: dict(v) for k, v in p.threads.items() if k == slot}
        elif kind == POP:
            t["frames"] = t["frames"][:addr]
        elif kind == PUSH:
            keep = arg >> 1
            activation += 1
            below = t["frames"][:keep - 1] if keep else t["frames"]
            depth = (below[-1][0][1] if below else 0) + 1 if arg & INLINED else 0
            t["frames"] = below + (((pc, depth), activation),)
        if kind in (POP, PUSH):
            t["marks"] = tuple(m for m in t["marks"] if m[1] <= len(t["frames"]))
            continue
        e = Event()
        e.n, e.kind, e.arg, e.addr, e.pc, e.uid, e.frames = serial, kind, arg, addr, pc, t["uid"], t["frames"]
        e.target = addr & 0xffffffff if kind == CREATE else None
        if kind == MARK:
            t["marks"] += ((e, len(t["frames"])),)
        e.marks = t["marks"]
        if kind == MARK_END:
            t["marks"] = t["marks"][:-1]
        p.events.append(e)
    return processes, symbols


KINDS = [("lock release", (RELEASE,)), ("lock acquire", (ACQUIRE,)), ("condition wait", (ACQUIRE, RELEASE)),
         ("atomic access", (ATOMIC_READ, ATOMIC_WRITE)), ("unprotected read", (READ,)), ("read of", (READ, ATOMIC_READ)),
         ("unprotected write", (WRITE,)), ("write of", (WRITE, ATOMIC_WRITE)), ("join of", (JOIN,)), ("the start of", (CREATE, MARK))]


def uid_of(name):
    return 1 if name == "main thread" else int(re.match(r"thread T(\d+)$", name).group(1)) + 1


def names(stack):
    return [f.get("function", "-") for f in stack]


def inside(needle, hay):
    it = iter(hay)
    return all(x in it for x in needle)


def place(sym, e, stack):
    """Is event e at the innermost place of the stack, in its functions?"""
    own = [f for f in sym.at(e.pc) if not f["system"]]
    top = stack[0]
    if own and (own[0]["function"], own[0]["line"]) != (top.get("function", "-"), top.get("line", 0)):
        return False
    if not own and not any(f["function"] in names(stack) for f in [sym.function(site) for site, _ in e.frames]):
        return False
    active = [f["function"] for f in (sym.function(site) for site, _ in reversed(e.frames)) if not f["system"]]
    active = [f for f in active if f not in STARTS and f != "-"]
    if "main" in active:  # what calls main is not shown
        active = active[:active.index("main") + 1]
    return inside(active, names(stack))


def at(sym, events, uid, kinds, stack):
    return [e for e in events if e.uid == uid and e.kind in kinds and place(sym, e, stack)]


def kinds_of(what):
    return next(k for text, k in KINDS if what.startswith(text))


def still_open(events, e, lo):
    """Is an event in a marked block that goes on behind lo? To others that is one step."""
    return any(x.n > lo and x.uid == e.uid and any(m is y for m, _ in e.marks for y, _ in x.marks) for x in events)


def other_did(sym, events, f, uid, lock, lo, hi):
    """What is said of the other thread, between two events."""
    acq, acc = f.get("other_acquire"), f.get("other_access")
    part = [e for e in events if e.n < hi and (e.n > lo or ("mark" in f and still_open(events, e, lo)))]
    if not acq and not acc:
        return True
    if not acq:
        kinds = (READ, WRITE, ATOMIC_READ, ATOMIC_WRITE) if "data" in acc["what"] else range(MARK_END)
        return bool(at(sym, part, uid, kinds, acc["stack"]))
    for a in at(sym, part, uid, (ACQUIRE,), acq["stack"]):
        if lock is not None and a.addr not in lock:
            continue
        if not acc or not acc["stack"]:
            return True
        until = next((e.n for e in events if e.n > a.n and e.uid == uid and e.kind == RELEASE and e.addr == a.addr), 1 << 60)
        if at(sym, [e for e in events if a.n < e.n < until], uid, (WRITE, ATOMIC_WRITE), acc["stack"]):
            return True
    return False


def same_block(sym, f, c, v):
    """The activation of the block that contains both, or None."""
    if "mark" in f:
        both = [m for m, _ in c.marks if any(m is x for x, _ in v.marks)]
        return [m for m in both if place(sym, m, f["entered"]["stack"])]
    return [a for a in c.frames if a in v.frames and sym.function(a[0])["function"] == f["block"]]


def check(sym, events, f):
    """None, or what no occurrence has."""
    uid, other = uid_of(f["thread"]), f["other"]
    if other == f["thread"]:
        return "the intruder is the block's own thread"
    what = f["commit"]["what"], f["violation"]["what"]
    c_all = at(sym, events, uid, kinds_of(what[0]), f["commit"]["stack"])
    v_all = at(sym, events, uid, kinds_of(what[1]), f["violation"]["stack"])
    if what[0].startswith("the start of"):
        c_all += [e for e in events if e.uid == uid and e.kind == MARK and place(sym, e, f["entered"]["stack"])]
    if not c_all or not v_all:
        return "%s was never at the %s" % (f["thread"], "commit" if not c_all else "violation")
    one_lock = what[0].startswith("lock release") and what[1].startswith("lock acquire")
    name = [re.search(r" of (M\d+)", w) for w in what]
    same_object = (one_lock and name[0] and name[1] and name[0].group(1) == name[1].group(1)) or \
        (what[0].startswith("unprotected read") and what[1].startswith("unprotected write") and "mark" not in f)
    reached = "no occurrence of the block has both places"
    for c in c_all:
        for v in v_all:
            if v.n <= c.n and not (c.kind == MARK and v.n > c.n):
                continue
            if same_object and c.addr != v.addr:
                continue
            blocks = same_block(sym, f, c, v)
            if not blocks:
                continue
            reached = "what %s is said to do is not there" % other
            if other == "another thread":
                return None
            lo, hi = 0, 1 << 60
            if f["confirmed"] and "mark" not in f:
                lo, hi = c.n, v.n
            elif f["confirmed"]:
                lo = blocks[0].n
                hi = next((e.n for e in events if e.uid == uid and e.n > v.n and not any(m is blocks[0] for m, _ in e.marks)), hi)
            lock = {c.addr, v.addr} if v.kind == ACQUIRE and "mark" not in f else None
            if other_did(sym, events, f, uid_of(other), lock, lo, hi):
                return None
    return reached


def check_threads(sym, events, f):
    for t in f["threads"]:
        uid = uid_of(t["name"])
        made = [e for e in events if e.kind == CREATE and e.target == uid]
        if not any(e.uid == uid_of(t["parent"]) and place(sym, e, t["stack"]) for e in made):
            return "%s was not created there by %s" % (t["name"], t["parent"])
    return None


def once(intact, dump, exe, options, tmp):
    rec, out = os.path.join(tmp, "r.itr"), os.path.join(tmp, "run.json")
    env = dict(os.environ, INTACT_OPTIONS=":".join(options + ["strict=1", "report_loops=1", "all=1"]))
    subprocess.run([intact, "run", "--record", rec, "--json", out, exe], env=env, capture_output=True, timeout=120)
    doc = json.load(open(out))
    if not doc["results"]:
        return None, 0
    processes, sym = read(dump, rec)
    for f in doc["results"]:
        whys = [check(sym, p.events, f) or check_threads(sym, p.events, f) for p in processes.values()]
        if None not in whys:
            return "%s: %s\n%s" % (f["block"], whys[0], json.dumps(f, indent=1)[:6000]), 0
    return None, len(doc["results"])


def one(intact, dump, path, cc, opt, runs, tmp):
    exe = os.path.join(tmp, "program")
    tool = "c++" if path.endswith(".cc") else "cc"
    std = "-std=c++17" if tool == "c++" else "-std=gnu11"
    b = subprocess.run([intact, tool, std, opt, path, "-o", exe], env=dict(os.environ, INTACT_CC=cc), capture_output=True, text=True)
    if b.returncode:
        return "does not build: " + b.stderr[-800:], 0
    total = 0
    for _ in range(runs):
        why, n = once(intact, dump, exe, expectation(path)["options"], tmp)
        total += n
        if why:
            return why, total
    return None, total


def main():
    intact, dump, rest = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3:]
    everything = "--all" in rest or os.environ.get("INTACT_SOAK")
    wanted = [a for a in rest if not a.startswith("--")]
    files = sorted(f for f in os.listdir(HERE) if f.endswith((".c", ".cc")))
    plan = [(f, cc, opt) for i, f in enumerate(files) for k, (cc, opt) in enumerate(COMBOS)
            if (not wanted or any(n in f for n in wanted)) and (everything or wanted or k in (i % 4, (i + 2) % 4))]
    bad = total = 0
    print("1..%d" % (len(plan) + (not wanted)))
    with tempfile.TemporaryDirectory(prefix="intact-parts-") as tmp:
        for n, (f, cc, opt) in enumerate(plan, 1):
            why, found = one(intact, dump, os.path.join(HERE, f), cc, opt, 5 if everything else 1, tmp)
            total += found
            print("%s %d - %s %s %s: %d findings" % ("not ok" if why else "ok", n, f, cc, opt, found), flush=True)
            if why:
                bad += 1
                print("\n".join("# " + l for l in why.split("\n")), flush=True)
    if not wanted:
        enough = total >= len(plan) / 3
        bad += not enough
        print("%s %d - %d findings were judged" % ("ok" if enough else "not ok", len(plan) + 1, total))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
