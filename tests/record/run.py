#!/usr/bin/env python3
"""Each program of tests/programs is run once, watched and recorded in the same
run; what `intact trace` finds in the recording must be what the run reported,
letter by letter. Then the ways a recording can go wrong.

    run.py INTACT [--all] [NAME...]  --all: both compilers, -O0 and -O2, 10
                                        runs each; else a rotating sample
"""
import difflib
import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time


def load_suite():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "programs", "run.py")
    spec = importlib.util.spec_from_file_location("programs_suite", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


suite = load_suite()

HERE = suite.HERE
results = []


def say(name, why):
    results.append(why)
    print("%s %d - %s" % ("not ok" if why else "ok", len(results), name), flush=True)
    if why:
        print("\n".join("# " + l for l in why.split("\n")), flush=True)


def sh(cmd, env=None, **kw):
    return subprocess.run(cmd, env=env, capture_output=True, text=True, errors="replace", timeout=180, **kw)


def build(intact, path, exe, cc, opt):
    tool = "c++" if path.endswith(".cc") else "cc"
    std = "-std=c++17" if tool == "c++" else "-std=gnu11"
    b = sh([intact, tool, std, "-Wall", opt, path, "-o", exe], dict(os.environ, INTACT_CC=cc))
    return "does not build: " + b.stderr[-800:] if b.returncode else None


def findings(text):
    """The reports alone: from the first bar to the closing lines."""
    lines = [l for l in text.split("\n") if not l.startswith("intact:")]
    first = next((i for i, l in enumerate(lines) if l == "=" * 18), None)
    return "\n".join(lines[first:]).strip() if first is not None else ""


def headline(text, found):
    """None when the first line says what follows it."""
    first = text.split("\n")[0]
    n = len(re.findall(r"^WARNING: ", found, re.M))
    sure = len(re.findall(r"is not atomic \(confirmed", found))
    if "not serializable" in first:
        return None
    if not n:
        return None if ": nothing found: " in first else "says " + first
    how = ("all confirmed" if n > 1 else "confirmed") if sure == n else "predicted" if not sure else \
        "%d confirmed and %d predicted" % (sure, n - sure)
    return None if ": not atomic: %d finding%s, " % (n, "" if n == 1 else "s") in first and how in first else "says " + first


def same(intact, cmd, options, tmp, pattern=None):
    """None when run and recording agree, and both name the pattern (with its variables), when there is one to name."""
    trace = os.path.join(tmp, "t.itr")
    env = dict(os.environ, INTACT_OPTIONS=":".join(options + ["all=1"]))
    r = sh([intact, "run", "--record", trace] + cmd, env)
    t = sh([intact, "trace", trace], env)
    online, offline = findings(r.stderr), findings(t.stdout)
    if "damaged" in t.stderr or t.returncode not in (0, 1):
        return "trace: exit %d: %s" % (t.returncode, t.stderr)
    if online != offline:
        return "\n".join(difflib.unified_diff(online.split("\n"), offline.split("\n"), "run", "trace", n=2, lineterm=""))
    if pattern and "  Pattern: %s\n" % pattern not in offline:
        return "the pattern is not '%s':\n%s" % (pattern, offline)
    one = headline(t.stdout, offline)
    if one or t.returncode != (1 if offline or "not serializable" in t.stdout else 0):
        return "trace: exit %d, %s" % (t.returncode, one)
    if (r.returncode == 66) != bool(online):
        return "run: exit %d" % r.returncode
    return None


def equal_findings(intact, names, everything, tmp):
    files = sorted(f for f in os.listdir(HERE) if f.endswith((".c", ".cc")))
    if names:
        files = [f for f in files if any(n in f for n in names)]
    for i, f in enumerate(files):
        for k, (cc, opt) in enumerate(suite.COMBOS):
            if not (everything or i % 4 == k):
                continue
            exe = os.path.join(tmp, "prog")
            why = build(intact, os.path.join(HERE, f), exe, cc, opt)
            want = suite.expectation(os.path.join(HERE, f))
            for _ in range(10 if everything else 1):
                why = why or same(intact, [exe], want["options"], tmp, want["pattern"])
            say("%s %s %s: run = trace" % (f, cc, opt), why)


def one_answer(intact, tmp):
    """Text, exit status, JSON, SARIF and JUnit of a recording say one thing."""
    out = {k: os.path.join(tmp, "one." + k) for k in ("json", "sarif", "junit")}
    for name, confirmed, many in (("lost_update.c", False, 1), ("lost_update_confirmed.c", True, 1),
                                      ("lost_update_fixed.c", False, 0)):
        exe, rec = os.path.join(tmp, "one"), os.path.join(tmp, "one.itr")
        why = build(intact, os.path.join(HERE, name), exe, "gcc", "-O0")
        sh([intact, "record", "-o", rec, exe])
        t = sh([intact, "trace", rec] + ["--%s=%s" % x for x in out.items()])
        doc, sarif, junit = json.load(open(out["json"])), json.load(open(out["sarif"])), open(out["junit"]).read()
        results = [r for r in sarif["runs"][0]["results"] if r.get("kind", "fail") == "fail"]
        said = {"exit": t.returncode, "text": t.stdout.count("WARNING: Intact"), "verdict": doc["verdict"],
                "result": doc["results"][0]["verdict"], "sarif": len(results),
                "rules": sorted({r["ruleId"] for r in results}), "junit": junit.count("<failure"),
                "headline": headline(t.stdout, findings(t.stdout))}
        rule = "atomicity-violation-confirmed" if confirmed else "atomicity-violation"
        want = {"exit": min(many, 1), "text": many, "verdict": "violated" if many else "holds",
                "result": "violated" if many else "holds", "sarif": many, "rules": [rule] if many else [],
                "junit": many, "headline": None}
        say("%s: all reports of a recording say one thing" % name,
            why or (None if said == want else "%s\nexpected %s\n%s" % (said, want, t.stdout[:400])))


def storms(intact, everything, tmp):
    """Everything at once, random; also what is not shown otherwise."""
    exe = os.path.join(tmp, "storm")
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "storm.c")
    for cc, opt in suite.COMBOS if everything else [("gcc", "-O1")]:
        why = build(intact, source, exe, cc, opt)
        for seed in range(1, 51 if everything else 5):
            say("storm %d %s %s: run = trace" % (seed, cc, opt), why or same(
                intact, [exe, str(seed), str(1 + seed % 9), "20000" if everything else "1500"],
                ["strict=1", "report_loops=1"], tmp))


def in_order(std):
    """None when the order of tests/record/order.c's accesses is one that can have happened."""
    last, top, seen, lives, accesses = {}, {}, set(), {}, 0
    for n, line in enumerate(open(std), 1):
        if re.match(r"[^|]*\|rel\([^)]*\)\|$", line):  # made up by the reader: another thread has the lock
            return "line %d: %s is not told before the lock is taken" % (n, line.strip())
        m = re.match(r"[^|]*\|([rw])\((?:(0x[0-9a-f#]+)|(wheel|relay|turn|mutexed|shared|handed)(?:\+(\d+))?)\)", line)
        if not m:
            continue
        write, heap, array, at = m.group(1) == "w", m.group(2), m.group(3), int(m.group(4) or "0") // 8
        bad = None
        accesses += 1
        if heap:  # its variables' lives have names of their own; other threads' stacks are not in it
            lives.setdefault(heap, []).append(write)
            continue
        if array in ("wheel", "mutexed"):
            size = 64 if array == "wheel" else 16384
            array, at = "%s %d" % (array, at // size), at % size
        if array[:4] in ("whee", "rela", "turn"):
            if write and at != (last.get(array, -1) + 1) % 64:
                bad = "is written out of turn"
            if write:
                last[array] = at
        elif not write and (array, at) not in seen:
            bad = "is read before it is written"
        elif write and ((array, at) in seen or at < top.get(array, -1)):
            bad = "is written too late"
        if bad:
            return "line %d: %s %s" % (n, line.strip(), bad)
        if write:
            seen.add((array, at))
            top[array] = at
    for name, what in lives.items():
        if "#" in name and (not what[0] or sum(what) != 1):
            return "%s: a life with accesses %s" % (name, "".join("w" if w else "r" for w in what))
    reused = sum("#" in name for name in lives)
    return None if accesses > 2000 and len(last) >= 6 and reused > 100 else \
        "only %d accesses, of %s, %d lives" % (accesses, sorted(last), reused)


def orders(intact, everything, tmp):
    """The order of the recording is one that can have happened."""
    exe, trace, std = (os.path.join(tmp, f) for f in ("order", "order.itr", "order.std"))
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "order.c")
    for cc, opt in suite.COMBOS if everything else [("gcc", "-O1")]:
        why = build(intact, source, exe, cc, opt)
        for seed in range(1, 31 if everything else 5):
            bad = why
            for cmd in ([intact, "record", "-o", trace, exe, str(seed), str(2 + seed % 7), "2000" if everything else "600"],
                        [intact, "trace", "convert", trace, std], [intact, "trace", "-q", trace]):
                r = sh(cmd, dict(os.environ, GLIBC_TUNABLES="glibc.malloc.tcache_count=0")) if not bad else None
                if r and (r.returncode not in (0, 1) or "warning" in r.stderr or "error" in r.stderr):
                    bad = "%s: exit %d\n%s" % (" ".join(cmd), r.returncode, r.stderr[:800])
            say("order %d %s %s: as it happened" % (seed, cc, opt), bad or in_order(std))


ENDLESS = r"""
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static sem_t underway;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static long balance, rounds;
static long get(void) { pthread_mutex_lock(&m); long v = balance; pthread_mutex_unlock(&m); return v; }
static void set(long v) { pthread_mutex_lock(&m); balance = v; pthread_mutex_unlock(&m); }
__attribute__((noinline)) void deposit(void) { set(get() + 1); }
static void *worker(void *arg) {
	for (long i = 0; !rounds || i < rounds; i++) {
		deposit();
		if (i == 1000) sem_post(&underway);
	}
	return arg;
}
int main(int argc, char **argv) {
	pthread_t t, t2;
	char line[8];
	rounds = argc > 1 ? 20000 : 0;
	(void)argv;
	sem_init(&underway, 0, 0);
	if (pthread_create(&t, NULL, worker, NULL) || pthread_create(&t2, NULL, worker, NULL)) return 2;
	for (int i = 0; i < 1000; i++) deposit();
	sem_wait(&underway); sem_wait(&underway); /* all three have been at it */
	puts("ready"); fflush(stdout);
	if (!rounds) { if (read(0, line, 1) == 1) *(volatile int *)0 = 1; }
	pthread_join(t, NULL);
	pthread_join(t2, NULL);
	return 0;
}
"""


def reads(intact, everything, tmp):
    """What tests/record/reads.c does is in the trace, each where it must be: a rule that leaves out
    too much, or tells of it in another order, loses one."""
    exe, path, std = (os.path.join(tmp, n) for n in ("reads", "reads.itr", "reads.std"))
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "reads.c")
    # a: the thread of the two that comes first.
    want = {"racing": "a.r b.r a.r b.w a.r", "guarded": "a.w b.w a.r b.w a.r",
            "marked": "a.r a.r a.r b.r b.r",  # in whatever order
            "lock:order": "a.r a.r b.r b.r a.r a.r b.w b.w", "lock:late": "a.r a.r b.w b.w b.w b.w a.r a.r",
            "again": " ".join(["a.r"] + ["b.r"] * 20 + ["c.r"] * 200)}
    for cc, opt in suite.COMBOS if everything else [("gcc", "-O1"), ("clang", "-O2")]:
        why = build(intact, source, exe, cc, opt)
        r = why or sh([intact, "record", "-o", path, exe])
        c = why or sh([intact, "trace", "convert", path, std])
        if not why and (r.returncode or c.returncode):
            why = r.stderr + c.stderr
        say("reads %s %s: run = trace" % (cc, opt), why or same(intact, [exe], [], tmp) or
            (None if "pair_b" in sh([intact, "trace", path], dict(os.environ, INTACT_OPTIONS="all=1")).stdout else "nothing was found"))
        lines = [] if why else [l.split("|")[:2] for l in open(std)]
        for name, should in want.items():
            who, seen = {}, []
            for thread, op in lines:
                kind, _, on = op.partition("(")
                # main reads what was used only after all is over
                if on == name + ")" and kind in "rw" and thread != "main":
                    who.setdefault(thread, "abcdef"[len(who)])
                    seen.append(who[thread] + "." + kind)
            if name == "marked":
                seen.sort()
            say("reads %s %s: %s" % (cc, opt, name), why or (None if " ".join(seen) == should else
                                                           "%s\nnot %s" % (" ".join(seen), should)))


def trace(intact, path, *more):
    return sh([intact, "trace"] + list(more) + [path])


def older(intact):
    """Recordings of before are read: version2.itr.gz is of version.c, written in format version 2."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "version2.itr.gz")
    r, stats = trace(intact, path), trace(intact, path, "--json=-")
    text = r.stdout + r.stderr
    wrong = [w for w in ("the 2 marked blocks are serializable in this run (78 events)", "block 'increment' in increment is not atomic (predicted", "/p/version.c:8",
                         "Between get() and set() the lock M2 ('m') is released", "reported 1 warning (0 confirmed)") if w not in text]
    say("format version 2 is read", None if not wrong and r.returncode == 1 else "no %s in\n%s" % (wrong, text[-1500:]))
    one = json.loads(stats.stdout)["results"][0]
    say("format version 2, as a document", None if (one["complete"], one["events"], one["run"]["records"], one["run"]["findings"]) ==
        (True, 78, 121, 1) else stats.stdout[:600])


def killed(intact, exe, tmp):
    """kill -9, and a crash: the recording holds what came before."""
    path = os.path.join(tmp, "killed.itr")
    for how in ("kill -9", "crash"):
        p = subprocess.Popen([intact, "run", "--record", path, exe], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        p.stdout.readline()
        child = int(open("/proc/%d/task/%d/children" % (p.pid, p.pid)).read().split()[0])
        if how == "crash":
            p.stdin.write("x")
            p.stdin.flush()
        else:
            os.kill(child, signal.SIGKILL)
        out, err = p.communicate(timeout=60)
        t = trace(intact, path)
        bad = None
        if "recorded" not in err or "killed by signal" not in err:
            bad = err
        elif t.returncode not in (0, 1) or t.stderr or "deposit is not atomic" not in t.stdout:
            bad = "exit %d\n%s\n%s" % (t.returncode, t.stderr, t.stdout[:2000])
        elif int(re.search(r"seen (\d+) times", t.stdout).group(1)) < 1000:
            bad = "what came before is not all there: " + t.stdout[:400]
        say("%s: the recording is whole" % how, bad)


def killed_both(intact, exe, tmp):
    """The recorder dies too: what it had written is read, and named as cut."""
    path = os.path.join(tmp, "cut.itr")
    p = subprocess.Popen([intact, "run", "--record", path, exe], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    p.stdout.readline()
    child = int(open("/proc/%d/task/%d/children" % (p.pid, p.pid)).read().split()[0])
    while os.path.getsize(path) < 50000:
        time.sleep(0.01)
    os.kill(p.pid, signal.SIGKILL)
    p.wait()
    try:
        # the program notices that the recording process has exited, and continues
        deadline = time.time() + 60
        line = ""
        while "recording process has exited" not in line and time.time() < deadline:
            line = p.stderr.readline()
    finally:
        os.kill(child, signal.SIGKILL)
    t = trace(intact, path)
    # whether both threads are in what was written before depends on the schedule
    read = re.search(r"read up to there: (\d+) events", t.stderr)
    ok = "recording process has exited" in line and t.returncode in (0, 1) and "damaged-trace" in t.stderr \
        and read and int(read.group(1)) > 1000 \
        and (t.returncode == 1 and "deposit is not atomic" in t.stdout or t.returncode == 0 and "nothing found" in t.stdout)
    say("the recorder is killed: the program goes on, the file is read up to there",
        None if ok else "%s\nexit %d\n%s\n%s" % (line, t.returncode, t.stderr, t.stdout[:500]))


def damaged(intact, exe, tmp):
    path = os.path.join(tmp, "whole.itr")
    r = sh([intact, "record", "-o", path, exe, "bounded"])
    whole = open(path, "rb").read()
    t = trace(intact, path)
    base = findings(t.stdout)
    say("intact record reports nothing; its trace does", None if r.returncode == 0 and "WARNING" not in r.stderr
        and "deposit is not atomic" in base else "%d %s" % (r.returncode, r.stderr))
    bad = None
    cut = os.path.join(tmp, "cut.itr")
    for i in range(12):
        open(cut, "wb").write(whole[:20 + (len(whole) - 21) * i // 11])
        t = trace(intact, cut, "-q")
        if t.returncode not in (0, 1) or "damaged-trace" not in t.stderr:
            bad = "cut at %d: exit %d %s" % (i, t.returncode, t.stderr)
    for i in range(24):
        at = 16 + (len(whole) - 17) * i // 23
        open(cut, "wb").write(whole[:at] + bytes([whole[at] ^ 0x10]) + whole[at + 1:])
        t = trace(intact, cut, "-q")
        if t.returncode not in (0, 1) or "damaged-trace" not in t.stderr:
            bad = "bit of byte %d: exit %d %s" % (at, t.returncode, t.stderr)
    say("cut and damaged recordings are read up to the damage, with a warning", bad)
    p = sh("cat %s | %s trace -" % (path, intact), shell=True)
    say("a recording from a pipe", None if findings(p.stdout) == base else p.stdout[:500] + p.stderr)
    std = os.path.join(tmp, "t.std")
    c = sh([intact, "trace", "convert", path, std])
    a, b = trace(intact, path, "-q"), trace(intact, std, "-q")
    n = re.search(r"\((\d+) events\)", a.stdout), re.search(r"\((\d+) events\)", b.stdout)
    say("STD made of a recording is judged the same", None if c.returncode == 0 and n[0] and n[1]
        and n[0].group(1) == n[1].group(1) and "balance" in open(std).read(100000) else a.stdout + b.stdout + c.stderr + b.stderr)
    moved = exe + ".gone"
    os.rename(exe, moved)
    t = trace(intact, path)
    os.rename(moved, exe)
    say("the program is gone: the file names all by itself", None if findings(t.stdout) == base else t.stdout[:800])


def by_itself(intact, exe, tmp):
    """Without `intact run`: a raw file."""
    path = os.path.join(tmp, "raw.itr")
    r = sh([exe, "bounded"], dict(os.environ, INTACT_OPTIONS="record=" + path))
    t = trace(intact, path)
    say("a program run by itself records raw, and reports the same",
        None if findings(r.stderr) == findings(t.stdout) and findings(t.stdout) and not t.stderr
        else "%s\n%s\n%s" % (r.stderr[:1500], t.stdout[:1500], t.stderr))
    small = os.path.join(tmp, "packed.itr")
    r = sh([exe, "bounded"], dict(os.environ, INTACT_OPTIONS="record=/dev/full"))
    say("a full disk ends the recording, not the program", None if r.returncode == 66 and "not recording" in r.stderr
        else "%d %s" % (r.returncode, r.stderr[:500]))
    r = sh([exe, "bounded"], dict(os.environ, INTACT_OPTIONS="record=" + os.path.join(tmp, "no", "dir")))
    say("a file that cannot be created is reported", None if r.returncode == 66 and "not recording" in r.stderr
        else "%d %s" % (r.returncode, r.stderr[:500]))


def keep_last(intact, exe, tmp):
    path = os.path.join(tmp, "last.itr")
    p = subprocess.Popen([intact, "record", "-o", path, "--keep-last", "16K", exe], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    p.stdout.readline()
    child = int(open("/proc/%d/task/%d/children" % (p.pid, p.pid)).read().split()[0])
    while not os.path.exists(path + ".part12"):
        time.sleep(0.01)
    most = sum(os.path.getsize(os.path.join(tmp, f)) for f in os.listdir(tmp) if f.startswith("last.itr"))
    os.kill(child, signal.SIGKILL)
    p.communicate(timeout=60)
    t = trace(intact, path)
    size = os.path.getsize(path)
    left = [f for f in os.listdir(tmp) if ".part" in f]
    ok = t.returncode in (0, 1) and not t.stderr and "deposit is not atomic" in t.stdout and not left \
        and 4 << 10 < size < 100 << 10 and most < 60 << 10
    say("--keep-last: the end of a long run, read from the middle", None if ok else
        "%d bytes, at most %d, left %s, exit %d\n%s\n%s" % (size, most, left, t.returncode, t.stderr, t.stdout[:500]))


def long_run(intact, tmp):
    """Ten times the events, tens of millions of them, in the same memory."""
    bench = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench", "run")
    for name, few, many in (("lock_heavy", "40000", "1200000"), ("alloc_heavy", "50", "1000")):
        exe, path = os.path.join(tmp, name), os.path.join(tmp, name + ".itr")
        why = build(intact, os.path.join(bench, name + ".c"), exe, "clang", "-O2")
        peak, events = [], []
        for rounds in (few, many) if not why else ():
            p = subprocess.Popen([intact, "record", "-o", path, exe, "4", rounds], stdout=subprocess.DEVNULL,
                                 stderr=subprocess.PIPE, text=True)
            err = p.stderr.read()
            _, status, usage = os.wait4(p.pid, 0)
            p.returncode = os.waitstatus_to_exitcode(status)
            m = re.search(r"recorded (\d+) events", err)
            events.append(int(m.group(1)) if m else 0)
            peak.append(usage.ru_maxrss)
            why = why or (None if p.returncode == 0 else err)
        if not why and (events[1] < 30000000 or peak[1] > peak[0] * 1.3 + 8000):
            why = "%s events, peaks of %s KB" % (events, peak)
        say("%s: %s events in the memory of %s" % (name, events[-1:], events[:1]), why)
        if os.path.exists(path):
            os.unlink(path)


# A marked block that another one comes into, in a forked child when asked.
BROKEN = r"""
#include <intact/annotate.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static sem_t there, back;
static long balance;
static long get(void) { pthread_mutex_lock(&m); long v = balance; pthread_mutex_unlock(&m); return v; }
static void set(long v) { pthread_mutex_lock(&m); balance = v; pthread_mutex_unlock(&m); }
static void *first(void *arg) {
	INTACT_BEGIN("first");
	long v = get();
	sem_post(&there); sem_wait(&back);
	set(v + 1);
	INTACT_END();
	return arg;
}
static void *second(void *arg) {
	sem_wait(&there);
	INTACT_BEGIN("second");
	set(get() + 1);
	INTACT_END();
	sem_post(&back);
	return arg;
}
static void go(void) {
	pthread_t a, b;
	sem_init(&there, 0, 0); sem_init(&back, 0, 0);
	if (pthread_create(&a, NULL, first, NULL) || pthread_create(&b, NULL, second, NULL)) _exit(2);
	pthread_join(a, NULL); pthread_join(b, NULL);
}
int main(int argc, char **argv) {
	int status;
	(void)argv;
	set(1);
	if (argc == 1) { go(); return 0; }
	pid_t pid = fork();
	if (pid == 0) { go(); exit(0); }
	return waitpid(pid, &status, 0) == pid ? 0 : 2;
}
"""


def reports(intact, exe, tmp):
    """JSON of a recording: the run's results in it, verified, corrupted rejected."""
    path, out = os.path.join(tmp, "b.itr"), os.path.join(tmp, "b.json")
    online = os.path.join(tmp, "run.json")
    r = sh([intact, "run", "--json", online, "--record", path, exe])
    t = sh([intact, "trace", "--json", out, path])
    doc = json.load(open(out))["results"][0]
    first = json.load(open(online))
    bad = None
    if t.returncode != 1 or doc["serializable"] or doc["violating_blocks"] != 1:
        bad = t.stdout + t.stderr
    elif [{k: v for k, v in r.items() if k != "pid"} for r in doc["run"]["results"]] != first["results"] or not first["results"]:
        bad = "run: %s\ntrace: %s" % (first["results"], doc["run"]["results"])
    elif doc["run"]["confirmed"] != first["confirmed"] or doc["run"]["findings"] != first["findings"]:
        bad = "counts differ"
    say("trace --json holds the results of run --json", bad)
    v = sh([intact, "verify", out])
    say("verify accepts the cycles of a recording, and says that the run's own findings are unchecked",
        None if v.returncode == 3 and "1 of 1 cycle accepted" in v.stdout and "unchecked: finding of the run 1" in v.stdout
        and "rejected" not in v.stdout else v.stdout + v.stderr)
    text = open(out).read()
    bad = []
    cycle = doc["findings"][0]["cycle"]
    event = cycle[0]["from"]["event"]
    for what, broken in (("an event", text.replace('"event":%d' % event, '"event":%d' % (event + 1))),
                         ("a name", text.replace(cycle[0]["from"]["op"], cycle[0]["from"]["op"][:-1] + "x)")),
                         ("the verdict", text.replace('"verdict":"violated"', '"verdict":"holds"')),
                         ("no findings", re.sub(r'"findings":\[.*?\],"findings_not', '"findings":[],"findings_not', text, count=1, flags=re.S)),
                         ("the other thread", text.replace('"thread":"T1"', '"thread":"T2"'))):
        if broken == text:
            bad.append(what + ": not in the report")
        open(out, "w").write(broken)
        v = sh([intact, "verify", out])
        if v.returncode not in (1, 2):
            bad.append("%s: exit %d %s%s" % (what, v.returncode, v.stdout, v.stderr))
    whole = json.loads(text)
    del whole["results"][0]["run"]
    open(out, "w").write(json.dumps(whole))
    v = sh([intact, "verify", out])
    if v.returncode != 1 or "are missing" not in v.stdout:
        bad.append("what the run found left out: exit %d %s%s" % (v.returncode, v.stdout, v.stderr))
    say("verify rejects it corrupted", "\n".join(bad) or None)


def forked(intact, exe, tmp):
    """A child's events are in the same file: findings as online, its blocks on demand."""
    path, out = os.path.join(tmp, "f.itr"), os.path.join(tmp, "f.json")
    say("a child that does it: run = trace", same(intact, [exe, "fork"], [], tmp))
    r = sh([intact, "record", "-o", path, exe, "fork"])
    one, two, three = trace(intact, path, "-q"), trace(intact, path, "-q", "--process=2"), trace(intact, path, "--process=3")
    j = sh([intact, "trace", "--process=2", "--json", out, path])
    v = sh([intact, "verify", out])
    ok = "2 processes" in r.stderr and "of the first of 2 processes" in one.stdout and one.returncode == 1 and "not atomic: 2 findings, 1 confirmed and 1 predicted" in one.stdout \
        and two.returncode == 1 and "not serializable: 1 of 2 blocks" in two.stdout and "of process 2 of 2" in two.stdout \
        and three.returncode == 2 and "no-such-process" in three.stderr and j.returncode == 1 and v.returncode == 3 and "rejected" not in v.stdout
    say("--process judges the blocks of the child, and verify them", None if ok else "\n".join(
        x.stdout + x.stderr for x in (r, one, two, three, v)))


def one_writer(intact, exe, tmp):
    """Two recordings to one file: the second is refused; by themselves they go apart."""
    path = os.path.join(tmp, "two.itr")
    p = subprocess.Popen([intact, "record", "-o", path, exe], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    p.stdout.readline()
    r = sh([intact, "record", "-o", path, exe, "bounded"])
    k = sh([intact, "record", "-o", path, "--keep-last=1M", exe, "bounded"])
    child = int(open("/proc/%d/task/%d/children" % (p.pid, p.pid)).read().split()[0])
    os.kill(child, signal.SIGKILL)
    p.communicate(timeout=60)
    t = trace(intact, path)
    ok = r.returncode == 2 and k.returncode == 2 and "another recording" in r.stderr + k.stderr and not t.stderr \
        and "deposit is not atomic" in t.stdout
    say("a file that is being recorded to is left alone", None if ok else r.stderr + t.stderr + t.stdout[:300])
    k = sh([intact, "record", "-o", path, "--keep-last=1M", exe, "bounded"])
    t = trace(intact, path)
    say("--keep-last 1M of a short run is all of it", None if k.returncode == 0 and not t.stderr and
        "deposit is not atomic" in t.stdout and not [f for f in os.listdir(tmp) if ".part" in f] else k.stderr + t.stderr)
    raw = os.path.join(tmp, "raw2.itr")
    env = dict(os.environ, INTACT_OPTIONS="record=" + raw)
    p = subprocess.Popen([exe], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
    p.stdout.readline()
    r = subprocess.Popen([exe, "bounded"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env)
    r.wait()
    os.kill(p.pid, signal.SIGKILL)
    p.communicate(timeout=60)
    t, u = trace(intact, raw), trace(intact, "%s.%d" % (raw, r.pid))
    say("programs by themselves that are told the same file: FILE and FILE.PID",
        None if "deposit is not atomic" in u.stdout and not u.stderr and t.returncode in (0, 1) else t.stderr + u.stderr)


def main():
    intact = os.path.abspath(sys.argv[1])
    rest = sys.argv[2:]
    everything = "--all" in rest or bool(os.environ.get("INTACT_SOAK"))
    names = [a for a in rest if not a.startswith("--")]
    with tempfile.TemporaryDirectory(prefix="intact-record-") as tmp:
        if not os.environ.get("INTACT_ONLY_DAMAGE"):
            equal_findings(intact, names, everything, tmp)
        if not names:
            one_answer(intact, tmp)
            storms(intact, everything, tmp)
            orders(intact, everything, tmp)
            reads(intact, everything, tmp)
            older(intact)
            if everything:
                long_run(intact, tmp)
            exe, source = os.path.join(tmp, "endless"), os.path.join(tmp, "endless.c")
            open(source, "w").write(ENDLESS)
            why = build(intact, source, exe, "cc", "-O1")
            if why:
                say("the program that ends badly", why)
            else:
                killed(intact, exe, tmp)
                killed_both(intact, exe, tmp)
                damaged(intact, exe, tmp)
                by_itself(intact, exe, tmp)
                keep_last(intact, exe, tmp)
                one_writer(intact, exe, tmp)
            open(source, "w").write(BROKEN)
            why = build(intact, source, exe, "cc", "-O1")
            if why:
                say("the program that is not serializable", why)
            else:
                reports(intact, exe, tmp)
                forked(intact, exe, tmp)
    print("1..%d" % len(results))
    return 1 if any(results) else 0


if __name__ == "__main__":
    sys.exit(main())
