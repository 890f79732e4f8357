#!/usr/bin/env python3
"""`intact explore` as a user meets it: usage, messages, reports, saved schedules."""
import json
import os
import sys
import tempfile
from pathlib import Path

from tap import check, done, run

intact, root = os.path.abspath(sys.argv[1]), Path(sys.argv[2]).resolve()
PROGRAM = r"""
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int is(int argc, char **argv, const char *word) { return argc > 1 && !strcmp(argv[1], word); }
static void *worker(void *arg) { return arg; }
int main(int argc, char **argv)
{
	pthread_t t;
	printf("hello\n");
	pthread_create(&t, NULL, worker, NULL);
	pthread_join(t, NULL);
	if (is(argc, argv, "loop"))
		for (;;)
			__asm__ volatile("");
	if (is(argc, argv, "file")) {
		FILE *f = fopen(argv[2], "a");
		fprintf(f, "x");
		fclose(f);
	}
	if (is(argc, argv, "fail")) {
		fprintf(stderr, "on stderr\n");
		return 7;
	}
	if (is(argc, argv, "fork"))
		return fork() < 0;
	if (is(argc, argv, "exec"))
		return execl("/bin/true", "true", (char *)0);
	return 0;
}
"""


def explore(*args, **kw):
    return run([intact, "explore", *args], **kw)


def build(tmp, name, source, *flags):
    exe = tmp / name
    rc, out, err = run([intact, "cc", "-g", *flags, source, "-o", exe, "-pthread"])
    check("%s compiles" % name, rc == 0, err)
    return exe


def usage():
    for args, text in ((["--preemption-bound", "2", "x"], "--exhaustive"), (["-x", "--strategy", "pct", "x"], "cannot be combined"),
                       (["--gdb", "x"], "--replay"), ([], "missing PROGRAM"), (["--strategy", "best", "x"], "strategy"),
                       (["--replay", "f", "-j", "2"], "one schedule")):
        rc, out, err = explore(*args)
        check("usage: " + " ".join(args), rc == 2 and text in err and not out, err)
    rc, out, err = explore("--", "/bin/true")
    check("a program that was not built with intact cc: one message", rc == 2 and err.startswith("intact: '/bin/true' was not built")
          and err.count("intact: ") == 1, err)
    rc, out, err = explore("./is-not-there")
    check("a program that is not there", rc == 2 and "cannot run" in err and "hint" not in err, err)
    with tempfile.TemporaryDirectory() as d:
        os.symlink("/bin/true", os.path.join(d, "only-here"))
        for command in ("explore", "run"):
            rc, out, err = run([intact, command, "only-here"], cwd=d)
            check(command + " of a file that is not on the PATH",
                  rc in (2, 127) and "hint: the file in this directory is ./only-here\n" in err, err)


def programs(tmp):
    (tmp / "p.c").write_text(PROGRAM)
    exe = build(tmp, "p", tmp / "p.c")
    rc, out, err = explore("-n", "50", "--", exe)
    check("nothing found", rc == 0 and out.startswith("no violation found (not exhaustive)") and "50 schedules" in out and not err, out + err)
    check("the output of good schedules is not shown", "hello" not in out + err, out + err)
    rc, out, err = explore("--exhaustive", "--", exe)
    check("exhaustive", rc == 0 and "all 1 traces explored" in out, out)
    rc, out, err = explore("--", exe, "fail")
    check("exit status and output of the failing one", rc == 1 and "exit status 7" in out and "| hello" in out and "| on stderr" in out, out + err)
    rc, out, err = explore("--stall", "1", "--", exe, "loop")
    check("a loop without a point", rc == 1 and out.startswith("ENDLESS LOOP"), out + err)
    data = tmp / "data"
    rc, out, err = explore("-n", "20", "--functions=no", "--", exe, "file", data)
    check("a program that writes a file gets a process for each schedule", rc == 0 and "runs in its own process" in err and "for writing" in err, out + err)
    check("and writes it each time", len(data.read_text()) == 20, data.read_text())
    for word, text in (("fork", "forks a process"), ("exec", "executes another program")):
        rc, out, err = explore("--", exe, word)
        check("cannot be explored: " + word, rc == 2 and "cannot be explored" in err and text in err, err)
    check("the place is named", "p.c:" in err, err)


def schedules(tmp):
    exe = build(tmp, "counter", root / "tests/explore/racy_counter.c", "-O1")
    saved = tmp / "saved"
    rc, out, err = explore("--races=no", "--save", saved, "--", exe)
    check("a schedule is saved", rc == 1 and "replay: intact explore --replay" in out, out + err)
    text = saved.read_text()
    check("it names the build, places and choices", "build-id" in text and "\npoint 0+0x" in text and "\nstep 0 create 0+0x" in text, text)
    first = explore("--replay", saved)
    check("it is replayed without naming the program", first[0] == 1 and "count == 4" in first[1], first)
    check("a replay is the same every time", all(explore("--replay", saved) == first for _ in range(5)))
    saved.write_text(text.replace(" read ", " lock ", 1))
    rc, out, err = explore("--replay", saved)
    check("a replay that cannot be followed names the step", rc == 3 and "could not be followed" in out and "at step" in out, out + err)
    saved.write_text(text.replace("end ", "fin ", 1))
    rc, out, err = explore("--replay", saved)
    check("a broken file: place and caret", rc == 2 and "saved:" in err and "^" in err, err)
    saved.write_text(text)
    build(tmp, "counter", root / "tests/explore/racy_counter.c", "-O2")
    rc, out, err = explore("--replay", saved)
    check("a program that was rebuilt", rc == 2 and "was rebuilt" in err, err)


def functions(tmp):
    exe = build(tmp, "lost", root / "tests/explore/function_block.c")
    rc, out, err = explore("-n", "1000", "--", exe)
    check("a function is judged when `intact run` would report it", rc == 1 and out.startswith("NOT ATOMIC") and "increment of T" in out, out + err)
    rc, out, err = explore("-n", "1000", "--functions=no", "--", exe)
    check("or not", rc == 0, out)
    rc, out, err = explore("-n", "1000", "--atomic", "increment", "--", exe)
    check("--atomic", rc == 1 and out.startswith("NOT ATOMIC") and "increment of T" in out and "writes count" in out, out + err)
    fixed = build(tmp, "kept", root / "tests/explore/function_block.c", "-DFIXED")
    rc, out, err = explore("--exhaustive", "--atomic", "increment", "--", fixed)
    check("--atomic of a function that is", rc == 0 and "judged in" in out, out + err)
    rc, out, err = explore("--atomic", "incremental", "--", exe)
    check("--atomic that names nothing", rc == 2 and "names no function" in err, out + err)


    # room for the block that both share (less than 60 MB), none for the records of the survey (64 MB)
    rc, out, err = run(["bash", "-c", "trap '' XFSZ; ulimit -f 61000; exec \"$@\"", "bash", intact, "explore", "-n", "100", "--", exe])
    check("a survey that fails is reported", rc == 0 and "could not be determined; they are not judged" in err
          and "no violation" in out, out + err)


INLINE = r"""
#include <pthread.h>
static int count;
static void *worker(void *arg)
{
#ifdef ASM
	__asm__ volatile("lock; addl $1, %0" : "+m"(count));
#else
	__atomic_fetch_add(&count, 1, __ATOMIC_SEQ_CST);
	__sync_synchronize();
#endif
	return arg;
}
int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], 0, worker, 0);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], 0);
	return count != 2;
}
"""


def inline_assembly(tmp):
    (tmp / "inline.c").write_text(INLINE)
    for cc in ("gcc", "clang"):
        os.environ["INTACT_CC"] = cc
        exe = build(tmp, "inline", tmp / "inline.c", "-DASM", "-O1")
        rc, out, err = explore("-n", "10", "--", exe)
        check("%s: atomics in inline assembly are named" % cc, rc == 0 and "not scheduling points" in err and "inline.c:7\n" in err, out + err)
        rc, out, err = explore("-n", "10", "--", "./inline", cwd=tmp)
        check("%s: of a relative path, too" % cc, rc == 0 and "inline.c:7\n" in err, out + err)
        exe = build(tmp, "builtin", tmp / "inline.c", "-O1")
        rc, out, err = explore("-n", "10", "--", exe)
        check("%s: the compiler's are not" % cc, rc == 0 and not err, out + err)
    del os.environ["INTACT_CC"]


OUTSIDE = r"""
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>
static int waits_on, end[2];
__attribute__((noinline)) static int deep(char *p, int n) { char c[256]; memset(c, n, sizeof c); *p ^= c[n]; return n ? deep(c, n - 1) + 1 : 0; }
static void *waiter(void *arg)
{
	char c[8];
	struct epoll_event e = { .events = EPOLLIN };
	if (!arg)
		return (void *)read(end[0], c, 1);
	int ep = epoll_create1(0);
	epoll_ctl(ep, EPOLL_CTL_ADD, waits_on, &e);
	return (void *)(long)epoll_wait(ep, &e, 1, -1);
}
static int never(void) /* a datagram that nobody sends */
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int s = socket(AF_INET, SOCK_DGRAM, 0);
	return bind(s, (struct sockaddr *)&a, sizeof a) ? -1 : s;
}
int main(int argc, char **argv)
{
	pthread_t t;
	char c = 0;
	int timer = argc > 1 && !strcmp(argv[1], "timer"), net = argc > 1 && !strcmp(argv[1], "net");
	deep(&c, 7);
	if (argc > 1 && !strcmp(argv[1], "unlink"))
		unlink("/nowhere/at/all");
	if (timer) {
		struct itimerspec at = { .it_value.tv_nsec = 20000000 };
		timerfd_settime(waits_on = timerfd_create(CLOCK_MONOTONIC, 0), 0, &at, NULL);
	}
	if (net)
		waits_on = never();
	if (pipe(end))
		return 1;
	if (timer) /* alone */
		return waiter(&t) != (void *)1;
	pthread_create(&t, NULL, waiter, net ? &t : NULL);
	pthread_join(t, NULL);
	return 0;
}
"""


def outside(tmp):
    """What is awaited from outside of the program is no lost wake-up; what only its threads could send is."""
    (tmp / "outside.c").write_text(OUTSIDE)
    exe = build(tmp, "outside", tmp / "outside.c", "-O2")
    at = OUTSIDE[:OUTSIDE.index("unlink(")].count("\n") + 1
    rc, out, err = explore("-n", "5", "--", exe, "unlink")
    check("a call that cannot be undone is named, and its place", "it calls unlink at main %s/outside.c:%d)" % (tmp, at) in err, out + err)
    check("nobody writes to the pipe", rc == 1 and out.startswith("LOST WAKE-UP") and "T1 waiter waits at waiter " in out and " for a descriptor\n" in out, out + err)
    rc, out, err = explore("-n", "5", "--", exe, "timer")
    check("a timer is waited for", rc == 0 and "it calls timerfd_create at main" in err, out + err)
    rc, out, err = explore("-n", "5", "--", exe, "net")
    check("a datagram could come from outside", rc == 2 and "wait for something outside of the program" in err, out + err)


def reports(tmp):
    exe = build(tmp, "block", root / "tests/explore/marked_block.c")
    a, b = (explore("--json=-", "--", exe) for _ in range(2))
    check("JSON, the same each time", a == b and a[0] == 1, a[1][:300])
    doc = json.loads(a[1])
    r = doc["results"][0]
    check("what is in it", doc["kind"] == "explore" and r["kind"] == "atomicity" and len(r["cycle"]) >= 4 and r["steps"], r)
    check("each conflict has its step", all(1 <= c["step"] <= len(r["steps"]) and
                                            c["text"].startswith("T%d " % r["steps"][c["step"] - 1]["thread"] if
                                                                 r["steps"][c["step"] - 1]["thread"] else "main ")
                                            for c in r["cycle"]), r["cycle"])
    (tmp / "doc.json").write_text(a[1])
    rc, out, err = run([intact, "report", "--check", tmp / "doc.json"])
    check("it meets the schema", rc == 0, out + err)
    for kind, text in (("--sarif=-", '"ruleId"'), ("--junit=-", "<failure"), ("--html=-", "scheduleView"), ("--github", "::error ")):
        rc, out, err = explore(kind, "--", exe)
        check(kind, rc == 1 and text in out, out[:300] + err)


LONG = r"""
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static long rounds, points;
static void *worker(void *arg)
{
	for (long i = 0; i != rounds; i++) {
		for (long k = 0; k < 20000000; k++)
			__asm__ volatile("" : "+r"(k));
		if (points && !pthread_mutex_lock(&m))
			pthread_mutex_unlock(&m);
	}
	return arg;
}
int main(int argc, char **argv)
{
	pthread_t t[2];
	rounds = argc > 1 ? atol(argv[1]) : 0;
	points = argc > 2;
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], 0, worker, 0);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], 0);
	return 0;
}
"""


def long_schedules(tmp):
    """-1 rounds never end: only the time limit ends them."""
    (tmp / "long.c").write_text(LONG)
    exe = build(tmp, "long", tmp / "long.c", "-O1")
    for args, how in ((("-1",), ()), (("-1", "points"), ("--fork",)), (("-1", "points"), ("--exhaustive", "-j2"))):
        rc, out, err = explore("--time", "1", "--stall", "100000", "--max-steps", "131072", *how, "--", exe, *args)
        check("a schedule without an end is cut off by --time: " + " ".join(how + args), rc == 3 and out.startswith("unknown: no schedule came to its end")
              and "the time limit (--time) was reached in the middle of the first schedule" in out, out + err)
    rc, out, err = explore("--json=-", "--time", "1", "--stall", "100000", "--functions=no", "--", exe, "-1")
    check("in the document, too", rc == 3 and json.loads(out)["verdict"] == "unknown" and "--time" in json.loads(out)["stopped"], out + err)
    rc, out, err = explore("--stall", "1", "-n", "1", "--functions=no", "--", exe, "100", "points")
    check("a schedule that takes longer than --stall, but has points, is no endless loop", rc == 0 and "1 schedule, 1 distinct" in out, out + err)


UNEVEN = r"""
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x, first;
static void *a(void *p)
{
	int n = atomic_exchange(&first, 1) ? 1 : 4;
	for (int i = 0; i < n; i++)
		x++;
	return p;
}
static void *b(void *p)
{
	int n = atomic_exchange(&first, 2) ? 4 : 0;
	for (int i = 0; i < n; i++)
		x++;
	return p;
}
int main(void)
{
	pthread_t t[2];
	pthread_create(&t[0], 0, a, 0);
	pthread_create(&t[1], 0, b, 0);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], 0);
	return 0;
}
"""


def several_processes(tmp):
    """One process has explored its few traces, another has reached its limit: whichever ends last."""
    (tmp / "uneven.c").write_text(UNEVEN)
    exe = build(tmp, "uneven", tmp / "uneven.c", "-O1")
    rc, out, err = explore("--exhaustive", "--", exe)
    check("71 traces", rc == 0 and out.startswith("no violation: all 71 traces explored"), out + err)
    for jobs in ("2", "3"):
        for limit in ("20", "40", "60"):
            rc, out, err = explore("--exhaustive", "-j", jobs, "-n", limit, "--functions=no", "--", exe)
            check("-j %s -n %s: not all traces were explored" % (jobs, limit), rc == 3 and out.startswith("no violation found (not exhaustive)")
                  and "the limit on schedules (--schedules) was reached" in out, out + err)
        for extra in ([], ["--exhaustive"]):
            rc, out, err = explore(*extra, "-j", jobs, "-n", "1", "--functions=no", "--", exe)
            check("-j %s -n 1 %s: one schedule" % (jobs, " ".join(extra)), "\n1 schedule, 1 distinct" in out or "\n1 schedule;" in out, out + err)
        rc, out, err = explore("--exhaustive", "-j", jobs, "--functions=no", "--", exe)
        check("-j %s without a limit: all are" % jobs, rc == 0 and out.startswith("no violation: all 71 traces explored"), out + err)


with tempfile.TemporaryDirectory(prefix="intact-explore-") as where:
    os.environ.pop("INTACT_OPTIONS", None)
    usage()
    programs(Path(where))
    schedules(Path(where))
    functions(Path(where))
    inline_assembly(Path(where))
    outside(Path(where))
    reports(Path(where))
    several_processes(Path(where))
    long_schedules(Path(where))
done()
