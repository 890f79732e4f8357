#!/usr/bin/env python3
"""`intact explore --cases`: a test binary explored case by case. A program of our own speaks the protocols of the
frameworks; GoogleTest itself is used where it is installed."""
import json
import os
import sys
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path

from tap import check, done, run

intact, root = sys.argv[1], Path(sys.argv[2])
# Lists what the file LIST has; runs the case that its arguments name.
RUNNER = r"""
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
const char *mark = MARK;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int count, raced;
static int get(void) { pthread_mutex_lock(&m); int v = count; pthread_mutex_unlock(&m); return v; }
static void set(int v) { pthread_mutex_lock(&m); count = v; pthread_mutex_unlock(&m); }
static void *loses(void *a) { set(get() + 1); return a; }
static void *adds(void *a) { pthread_mutex_lock(&m); count++; pthread_mutex_unlock(&m); return a; }
static void *races(void *a) { raced++; return a; }
static void *hangs(void *a) { for (;;) __asm__ volatile(""); return a; }
static int two(void *(*f)(void *))
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], 0, f, 0);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], 0);
	return count;
}
static int list(void)
{
	FILE *f = fopen(getenv("LIST"), "rb");
	for (int c; f && (c = getc(f)) != EOF;)
		putchar(c);
	fflush(stdout);
	if (getenv("LIST_SIGNAL"))
		abort();
	return getenv("LIST_STATUS") ? atoi(getenv("LIST_STATUS")) : 0;
}
static int is(const char *name, const char *want) { return !strcmp(name, want); }
int main(int argc, char **argv)
{
	const char *name = "";
	for (int i = 1; i < argc; i++) {
		if (strstr(argv[i], "list"))
			return list();
		name = strchr(argv[i], '=') ? strchr(argv[i], '=') + 1 : argv[i];
	}
	if (is(name, "Counter.Loses") || is(name, "a case, that\\, loses") || is(name, "a case\\, that \\[loses\\]")) {
		two(loses);
		assert(count == 2);
	} else if (is(name, "Counter.Adds") || is(name, "Range/Counter.Adds/0") || is(name, "adds")) {
		assert(two(adds) == 2);
	} else if (is(name, "Counter.Races")) {
		two(races);
	} else if (is(name, "Counter.Hangs")) {
		two(hangs);
	} else if (is(name, "Plain.Forks")) {
		return fork() < 0;
	} else if (!is(name, "Plain.Arithmetic")) {
		fprintf(stderr, "no case '%s'\n", name);
		return 9;
	}
	return 0;
}
"""
GTEST = """Running main() from gtest_main.cc
Counter.
  Loses
  Adds
  DISABLED_Old
Range/Counter.  # TypeParam = int
  Adds/0  # GetParam() = 2
DISABLED_Suite.
  Any
Plain.
  Arithmetic
"""
where = Path(tempfile.mkdtemp(prefix="intact-cases-"))
os.environ.pop("INTACT_OPTIONS", None)
os.environ["LIST"] = str(where / "list")


def explore(*args, **kw):
    return run([intact, "explore", *args], **kw)


def listed(text):
    (where / "list").write_bytes(text if isinstance(text, bytes) else text.encode())


def build(name, mark):
    exe = where / name
    rc, out, err = run([intact, "cc", "-g", "-DMARK=\"%s\"" % mark, where / "runner.c", "-o", exe, "-pthread"])
    check("%s compiles" % name, rc == 0, err)
    return exe


def rows(out):
    return [line.split("  ") for line in out.splitlines() if line.startswith("  ")]


def googletest(exe):
    listed(GTEST)
    rc, out, err = explore("--list-cases", "--", exe)
    check("the names, without disabled ones", (rc, out, err) == (0, "Counter.Loses\nCounter.Adds\nRange/Counter.Adds/0\nPlain.Arithmetic\n", ""), out + err)
    saved = where / "saved"
    rc, out, err = explore("--cases", "-n", "200", "--save", saved, "--", exe)
    check("each case has a result, and the worst is the exit status", rc == 1 and not err
          and "VIOLATED      Counter.Loses         failed assertion in schedule" in out
          and "no violation  Counter.Adds          200 schedules, 2 distinct" in out
          and "no violation  Range/Counter.Adds/0  200 schedules" in out
          and "one thread    Plain.Arithmetic      it never has a second thread" in out
          and "4 cases: 1 violated, 1 with one thread only, 2 without a violation; 2 disabled cases left out; seed 1" in out, out + err)
    check("the failure of a case is shown whole, with how to repeat it", "assertion 'count == 2' failed" in out and "The schedule (" in out
          and "replay: intact explore --replay %s" % (saved / "1-Counter.Loses.schedule") in out, out)
    rc, out, err = explore("--replay", saved / "1-Counter.Loses.schedule")
    check("it repeats", rc == 1 and out.startswith("FAILED ASSERTION"), out + err)
    rc, out, err = explore("--cases", "-x", "--case", "*.Adds*", "--", exe)
    check("--case with --exhaustive", rc == 0 and out.count("all 2 traces explored") == 2 and "2 cases: 2 without a violation" in out, out + err)
    rc, out, err = explore("--case", "Plain.*", "--", exe)
    check("nothing but cases with one thread: nothing was explored", rc == 2 and "nothing was explored" in err and "one thread" in out, out + err)
    rc, out, err = explore("--case", "Counter.*", "--case", "Missing", "--", exe)
    check("a pattern that matches none", rc == 2 and "--case 'Missing' matches none of the 4 cases" in err and not out, err)


def other_ends(exe):
    listed("Counter.\n  Adds\n  Hangs\nPlain.\n  Forks\n")
    rc, out, err = explore("--cases", "--time", "3", "--functions=no", "--stall", "100000", "--case", "Counter.*", "--", exe)
    check("the time is divided: one that hangs takes its part only", rc == 3 and "no violation  Counter.Adds" in out
          and "unknown       Counter.Hangs" in out and "the time limit (--time) was reached in the middle of the first schedule" in out, out + err)
    rc, out, err = explore("--cases", "-n", "50", "--case", "*s", "--case", "*Forks", "--case", "Counter.Adds", "--stall", "1", "--", exe)
    check("one that cannot be explored is named, the others are explored", rc == 1 and "VIOLATED      Counter.Hangs  endless loop" in out
          and "not explored  Plain.Forks    the program cannot be explored: it forks a process" in out
          and "intact: case 'Plain.Forks':" in err, out + err)
    rc, out, err = explore("--cases", "-n", "50", "--case", "*Forks", "--case", "Counter.Adds", "--", exe)
    check("without a violation it decides the exit status", rc == 2 and "1 not explored, 1 without a violation" in out, out + err)


def reports(exe):
    listed("Counter.\n  Loses\n  Races\n  Adds\nPlain.\n  Arithmetic\n  Forks\n")
    a, b = (explore("--cases", "-n", "100", "--json=-", "--", exe) for _ in range(2))
    check("JSON, the same each time", a == b and a[0] == 1, a[1][:500] + a[2])
    doc = json.loads(a[1])
    verdicts = [(c["name"], c["verdict"]) for c in doc["cases"]]
    check("a member for each case", doc["verdict"] == "violated" and verdicts == [
        ("Counter.Loses", "violated"), ("Counter.Races", "violated"), ("Counter.Adds", "holds"), ("Plain.Arithmetic", "holds"),
        ("Plain.Forks", "unknown")], verdicts)
    found = [(r["case"], r["kind"]) for r in doc["results"]]  # the update of a counter without a lock is not atomic, and a race
    check("and findings with their case", found[0] == ("Counter.Loses", "assertion") and set(found[1:]) == {
        ("Counter.Races", "atomicity"), ("Counter.Races", "race")}, found)
    check("threads", [c.get("threads") for c in doc["cases"]] == [3, 3, 3, 1, None], doc["cases"])
    saved = where / "doc.json"
    saved.write_text(a[1])
    rc, out, err = run([intact, "report", "--check", saved])
    check("it meets the schema", rc == 0, out + err)
    text = explore("--cases", "-n", "100", "--", exe)[1]
    rc, out, err = run([intact, "report", saved])
    check("`intact report` shows the same text", out == text, out + err)
    rc, out, err = explore("--cases", "-n", "100", "--junit=-", "--", exe)
    suite = ET.fromstring(out).find("testsuite")
    tests = [(t.get("name"), [e.tag for e in t]) for t in suite if ": " not in t.get("name")]
    check("JUnit: a test for each case", tests == [("Counter.Loses", ["failure"]), ("Counter.Races", ["failure"]), ("Counter.Adds", []),
                                                   ("Plain.Arithmetic", []), ("Plain.Forks", ["error"])], out)
    rc, out, err = explore("--cases", "-n", "100", "--sarif=-", "--", exe)
    rules = [r["ruleId"] for r in json.loads(out)["runs"][0]["results"] if r.get("kind", "fail") == "fail"]
    check("SARIF: the findings", rc == 1 and rules[0] == "explore-failure" and set(rules[1:]) == {"atomicity-violation-confirmed", "explore-race"}, rules)
    rc, out, err = explore("--cases", "-n", "100", "--github", "--", exe)
    check("GitHub", rc == 1 and "::error file=" in out and "Counter.Loses" in out, out[:500])
    rc, out, err = explore("--cases", "-n", "100", "--html=-", "--", exe)
    check("the page", rc == 1 and "Counter.Races" in out and "caseItems" in out, out[:200])


def frameworks():
    exe = build("catch3", "Catch2 v3.4.0")
    listed("a case, that [loses]\nadds\n")
    rc, out, err = explore("--cases", "-n", "100", "--", exe)
    check("Catch2: names are escaped", rc == 1 and "(Catch2)" in out and "VIOLATED      a case, that [loses]" in out and "no violation  adds" in out, out + err)
    rc, out, err = explore("--list-cases", "--", exe, env={"LIST_STATUS": "2"})
    check("Catch2: the exit status may be the number of cases", rc == 0 and out == "a case, that [loses]\nadds\n", out + err)
    exe = build("doctest", "list-test-cases")
    listed("[doctest] listing all test case names\n%s\na case, that, loses\nadds\n%s\n[doctest] unskipped test cases: 2\n" % ("=" * 79, "=" * 79))
    rc, out, err = explore("--list-cases", "--", exe)
    check("doctest: the names", rc == 0 and out == "a case, that, loses\nadds\n", out + err)
    rc, out, err = explore("--case", "adds", "-n", "10", "--", exe)
    check("doctest: a case", rc == 0 and "no violation  adds" in out, out + err)


def plain():
    exe = build("plain", "nothing")
    rc, out, err = explore("--cases", "--", exe)
    check("no framework: what to do", rc == 2 and "no test framework was recognised" in err and "--case-list" in err, err)
    names = "printf 'adds\\n\\n  Plain.Arithmetic\\r\\n'"
    rc, out, err = explore("--case-list", names, "--case-run", "-q --only={}", "-n", "20", "--", exe, "common")
    check("a list of one's own", rc == 0 and "no violation  adds" in out and "one thread    Plain.Arithmetic" in out, out + err)
    for args, text in ((["--case-list", "true", "--case-run", "{}"], "cannot get the list of test cases from 'true': it lists none"),
                       (["--case-list", "false", "--case-run", "{}"], "exit status 1"),
                       (["--case-list", "kill -9 $$", "--case-run", "{}"], "signal 9"),
                       (["--case-list", "echo a; echo a", "--case-run", "{}"], "this name occurs twice: 'a'"),
                       (["--case-list", "printf 'a\\0b\\n'", "--case-run", "{}"], "zero byte"),
                       (["--case-list", "head -c 5000 /dev/zero | tr '\\0' x", "--case-run", "{}"], "more than 4,096 characters"),
                       (["--case-list", "yes '' | head -n 10001 | cat -n", "--case-run", "{}"], "more than 10,000 cases"),
                       (["--case-list", "yes", "--case-run", "{}"], "more than 8 MB"),
                       (["--case-list", "true"], "belong together"), (["--case-run", "{}"], "belong together"),
                       (["--case-list", "true", "--case-run", "x"], "has no {}"), (["--cases", "--replay", "x"], "cannot be combined"),
                       (["--cases", "--shape", "2x2"], "object test")):
        rc, out, err = explore(*args, "--", exe)
        check("a mistake: " + " ".join(args), rc == 2 and text in err and not out, out + err)
    rc, out, err = explore("--cases", "--", where / "missing")
    check("no such program", rc == 2 and "no such program" in err, err)


def installed():
    """GoogleTest itself."""
    exe = where / "queue_test"
    rc, out, err = run([intact, "c++", "-g", "-O1", "-std=c++14", root / "examples/projects/googletest/queue_test.cc", "-o", exe, "-lgtest",
                        "-lgtest_main", "-pthread"])
    if rc:
        check("GoogleTest: is not installed # SKIP", True)
        return
    rc, names, err = explore("--list-cases", "--", exe)
    check("GoogleTest: the names", rc == 0 and names.splitlines(), names + err)
    rc, out, err = explore("--cases", "-n", "50", "--", exe)
    check("GoogleTest: each is explored", "(GoogleTest)" in out and all(n in out for n in names.splitlines())
          and "not explored" not in out and rc in (0, 1), out + err)


(where / "runner.c").write_text(RUNNER)
gtest = build("gtest", "gtest_list_tests")
googletest(gtest)
other_ends(gtest)
reports(gtest)
frameworks()
plain()
installed()
run(["rm", "-r", where])
done()
