#!/usr/bin/env python3
"""`intact explore --confirm`, `intact run --confirm`, the functions that `intact explore` judges by default, and what
their reports say. TAP.

    test_confirm.py INTACT SOURCE_ROOT
"""
import json
import os
import pty
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

INTACT, ROOT = os.path.abspath(sys.argv[1]), sys.argv[2]
TMP = tempfile.TemporaryDirectory(prefix="intact-confirm-cli-")
CORPUS = os.path.join(ROOT, "tests", "confirm")

# The finding is real by what each thread does, but the threads never meet.
APART = r"""
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int count;
static int get(void) { pthread_mutex_lock(&m); int v = count; pthread_mutex_unlock(&m); return v; }
static void set(int v) { pthread_mutex_lock(&m); count = v; pthread_mutex_unlock(&m); }
static void add(void) { set(get() + 1); }
static void *worker(void *arg) { add(); return arg; }
int main(void)
{
	for (int i = 0; i < 2; i++) {
		pthread_t t;
		pthread_create(&t, NULL, worker, NULL);
		pthread_join(t, NULL);
	}
	return 0;
}
"""
# A failure that has nothing to do with the finding; and one that has.
FAILS = r"""
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int count;
static int get(void) { pthread_mutex_lock(&m); int v = count; pthread_mutex_unlock(&m); return v; }
static void set(int v) { pthread_mutex_lock(&m); count = v; pthread_mutex_unlock(&m); }
static void add(void) { set(get() + 1); }
static void *worker(void *arg) { add(); return arg; }
int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, worker, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	assert(count == 2);
	return 0;
}
"""
# In its first process the threads come one after the other, in every later one they meet: what `run` sees can only be
# predicted, and what is explored after it can be confirmed.
FIRST_APART = r"""
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int count;
static int get(void) { pthread_mutex_lock(&m); int v = count; pthread_mutex_unlock(&m); return v; }
static void set(int v) { pthread_mutex_lock(&m); count = v; pthread_mutex_unlock(&m); }
static void add(void) { set(get() + 1); }
static void *worker(void *arg) { add(); return arg; }
int main(int argc, char **argv)
{
	int first = argc > 1 && access(argv[1], F_OK) != 0;
	if (first)
		close(open(argv[1], O_CREAT | O_WRONLY, 0644));
	pthread_t t[2];
	for (int i = 0; i < 2; i++) {
		pthread_create(&t[i], NULL, worker, NULL);
		if (first)
			pthread_join(t[i], NULL);
	}
	for (int i = 0; i < 2 && !first; i++)
		pthread_join(t[i], NULL);
	return 0;
}
"""


def path(name):
    return os.path.join(TMP.name, name)


def intact(*args, **kw):
    return subprocess.run([INTACT, *args], capture_output=True, text=True, cwd=TMP.name, timeout=300, **kw)


def build(name, source=None, flags=()):
    file = os.path.join(CORPUS, name) if source is None else path(name + ".c")
    if source is not None:
        open(file, "w").write(source)
    exe = path(os.path.basename(file).split(".")[0])
    r = intact("c++" if file.endswith(".cc") else "cc", "-g", *flags, file, "-o", exe, "-pthread")
    assert r.returncode == 0, r.stderr
    return exe


def report(exe):
    r = intact("run", "--json=%s.json" % exe, exe)
    assert r.returncode in (66, 128 + 6), (r.returncode, r.stderr)
    return exe + ".json"


def confirmed_in_every_form():
    exe = build("get_set.c")
    file = report(exe)
    r = intact("explore", "--confirm", file, "--save", "schedules", "--", exe)
    assert r.returncode == 1, r
    assert "add (" in r.stdout and "confirmed in schedule" in r.stdout and "The schedule (" in r.stdout, r.stdout
    assert "replay: intact explore --replay schedules/add.schedule" in r.stdout, r.stdout
    assert r.stdout.rstrip().split("\n")[-1].startswith("1 finding of %s: 1 confirmed, 0 not reached" % file), r.stdout
    again = intact("explore", "--replay", "schedules/add.schedule")
    assert again.returncode == 1 and again.stdout.startswith("NOT ATOMIC"), again
    intact("explore", "--confirm", file, "--json=c.json", "--sarif=c.sarif", "--junit=c.xml", "--html=c.html", "--", exe)
    assert intact("report", "--check", "c.json").returncode == 0
    doc = json.load(open(path("c.json")))
    assert doc["confirm"] == {"report": file, "findings": 1, "confirmed": 1, "not_reached": 0, "cut_short": 0}, doc["confirm"]
    one = doc["results"][0]
    assert one["kind"] == "atomicity" and one["finding"]["status"] == "confirmed" and one["steps"] and one["cycle"], one
    sarif = json.load(open(path("c.sarif")))["runs"][0]["results"]
    assert len(sarif) == 1 and sarif[0]["ruleId"] == "atomicity-violation-confirmed" and sarif[0]["codeFlows"], sarif
    assert sarif[0]["properties"]["next"].startswith("intact explore --replay"), sarif
    case = xml.parse(path("c.xml")).find(".//testcase")
    assert case.get("name") == "add" and case.find("failure") is not None, xml.tostring(case)
    assert "confirmed in schedule" in open(path("c.html")).read()
    hub = intact("explore", "--confirm", file, "--github", "--", exe)
    assert hub.stdout.count("::error ") == 1, hub.stdout
    twice = [intact("explore", "--confirm", file, "--json=-", "--", exe).stdout for _ in range(2)]
    assert twice[0] == twice[1], "the same question, two documents"


def not_reached_is_no_violation():
    exe = build("apart", APART)
    file = report(exe)
    r = intact("explore", "--confirm", file, "-n", "200", "--junit=n.xml", "--json=n.json", "--sarif=n.sarif", "--", exe)
    assert r.returncode == 0 and "add (" in r.stdout and "not reached in 221 schedules" in r.stdout, r
    assert "0 confirmed, 1 not reached" in r.stdout, r.stdout
    case = xml.parse(path("n.xml")).find(".//testcase")
    assert case.find("skipped") is not None, xml.tostring(case)
    assert json.load(open(path("n.sarif")))["runs"][0]["results"] == []
    assert json.load(open(path("n.json")))["results"][0]["kind"] == "prediction"
    assert intact("report", "--check", "n.json").returncode == 0
    all_ = intact("explore", "--confirm", file, "--exhaustive", "--", exe)
    assert all_.returncode == 0 and "no schedule reaches it" in all_.stdout, all_.stdout
    cut = intact("explore", "--confirm", file, "--max-steps", "10", "-n", "20", "--", exe)
    assert cut.returncode in (0, 3), cut
    r = intact("run", "--confirm", "--schedules", "200", exe)
    assert r.returncode == 66 and "Explored: not reached in 221 schedules." in r.stderr, r.stderr


def what_is_no_report_of_this_program():
    exe, other = build("get_set.c"), build("apart", APART)
    file = report(exe)
    r = intact("explore", "--confirm", file, "--", other)
    assert r.returncode == 2 and "is not about" in r.stderr and "build id" in r.stderr, r
    doc = json.load(open(file))
    del doc["build_id"]
    json.dump(doc, open(path("old.json"), "w"))
    r = intact("explore", "--confirm", "old.json", "--", build("average.c"))
    assert r.returncode == 2 and "none of the findings" in r.stderr, r
    fixed = build("get_set.c", flags=["-DFIXED"])
    assert intact("run", "--json=f.json", fixed).returncode == 0
    r = intact("explore", "--confirm", "f.json", "--", fixed)
    assert r.returncode == 2 and "nothing to confirm" in r.stderr, r
    open(path("bad.json"), "w").write('{"kind": ')
    r = intact("explore", "--confirm", "bad.json", "--", exe)
    assert r.returncode == 2 and "bad.json" in r.stderr, r
    r = intact("explore", "--confirm", "missing.json", "--", exe)
    assert r.returncode == 2 and "cannot read 'missing.json'" in r.stderr, r
    r = intact("explore", "--confirm", file, "--replay", "x")
    assert r.returncode == 2 and "--confirm" in r.stderr, r


def limits_cut_it_short():
    exe = build("average.c")
    file = report(exe)
    r = intact("explore", "--confirm", file, "--max-steps", "10", "--", exe)
    assert r.returncode == 3 and "cut short" in r.stdout and "--max-steps" in r.stdout, r


def a_failure_in_the_gap_confirms():
    exe = build("fails", FAILS)
    r = intact("explore", "--confirm", report(exe), "--json=a.json", "--", exe)
    assert r.returncode == 1, r
    one = json.load(open(path("a.json")))["results"][0]
    assert one["kind"] in ("assertion", "atomicity") and one["finding"]["status"] == "confirmed", one


def run_does_both():
    exe = build("first_apart", FIRST_APART)
    r = intact("run", "--confirm", "--json=b.json", "--sarif=b.sarif", "--junit=b.xml", "--html=b.html", exe, "seen")
    assert r.returncode == 66, r
    for text in ("predicted, and confirmed by exploring", "Explored: confirmed in schedule", "The schedule (",
                 "Replay: intact explore --replay intact-schedules/add.schedule", "explored 1 of them: 1 confirmed, 0 not reached"):
        assert text in r.stderr, (text, r.stderr)
    assert intact("report", "--check", "b.json").returncode == 0
    one = json.load(open(path("b.json")))["results"][0]
    assert one["exploration"]["status"] == "confirmed" and one["exploration"]["failure"]["steps"], one
    sarif = json.load(open(path("b.sarif")))["runs"][0]["results"][0]
    assert sarif["ruleId"] == "atomicity-violation-confirmed" and "Explored: confirmed" in sarif["message"]["text"], sarif
    assert "Explored: confirmed" in xml.parse(path("b.xml")).find(".//failure").text
    assert "confirmed in schedule" in open(path("b.html")).read()
    assert intact("explore", "--replay", "intact-schedules/add.schedule").returncode == 1
    r = intact("run", "--confirm", build("get_set.c", flags=["-DFIXED"]))
    assert r.returncode == 0 and not r.stderr, r
    assert intact("run", "--save", "x", exe).returncode == 2


def a_recording_is_a_report():
    exe = build("get_set.c")
    assert intact("run", "--record", "r.itr", exe).returncode == 66
    intact("trace", "--json=t.json", "r.itr")
    r = intact("explore", "--confirm", "t.json", "--", exe)
    assert r.returncode == 1 and "add (" in r.stdout, r


def unmarked_functions_are_judged():
    exe = build("get_set.c")
    r = intact("explore", "--save", "u.schedule", exe)
    assert r.returncode == 1 and r.stdout.startswith("NOT ATOMIC in schedule") and ": add of T" in r.stdout, r.stdout
    assert "thread function" not in r.stdout
    again = intact("explore", "--replay", "u.schedule")
    assert again.returncode == 1 and again.stdout.startswith("NOT ATOMIC"), again.stdout
    every = intact("explore", "--exhaustive", exe)
    assert every.returncode == 1 and every.stdout.startswith("NOT ATOMIC"), every.stdout
    r = intact("explore", "--functions=no", exe)
    assert r.returncode == 0, r.stdout
    fixed = build("get_set.c", flags=["-DFIXED"])
    r = intact("explore", "--exhaustive", fixed)
    assert r.returncode == 0 and "traces explored" in r.stdout, r.stdout
    # the program's own failure says more
    r = intact("explore", build("fails", FAILS))
    assert r.returncode == 1 and r.stdout.startswith("FAILED ASSERTION"), r.stdout


def atomic_is_kept_for_a_replay():
    exe = build("get_set.c")
    assert intact("explore", "--atomic", "add", "--save", "k.schedule", exe).returncode == 1
    r = intact("explore", "--replay", "k.schedule")
    assert r.returncode == 1 and r.stdout.startswith("NOT ATOMIC"), r.stdout


def a_race_shows_its_schedule():
    exe = build("racy_statistics.c")
    r = intact("explore", "--functions=no", "--save", "race.schedule", "--json=race.json", exe)
    assert r.returncode == 1 and r.stdout.startswith("data race on calls") and "The schedule (" in r.stdout, r.stdout
    assert "calls = " in r.stdout, r.stdout
    assert json.load(open(path("race.json")))["results"][0]["steps"]
    assert intact("report", "--check", "race.json").returncode == 0
    again = intact("explore", "--replay", "race.schedule")
    assert again.returncode == 1 and again.stdout.startswith("data race on calls"), again.stdout


def progress_on_a_terminal():
    exe = build("get_set.c", flags=["-DFIXED"])
    main, side = pty.openpty()
    r = subprocess.Popen([INTACT, "explore", "--time", "2", exe], stdout=subprocess.PIPE, stderr=side, cwd=TMP.name)
    os.close(side)
    seen = b""
    try:
        while True:
            piece = os.read(main, 4096)
            if not piece:
                break
            seen += piece
    except OSError:
        pass
    r.communicate()
    assert b" schedules, " in seen and b"/s, " in seen and b" distinct" in seen, seen
    assert intact("explore", "--time", "1", exe).stderr == ""


TESTS = [confirmed_in_every_form, not_reached_is_no_violation, what_is_no_report_of_this_program, limits_cut_it_short,
         a_failure_in_the_gap_confirms, run_does_both, a_recording_is_a_report, unmarked_functions_are_judged,
         atomic_is_kept_for_a_replay, a_race_shows_its_schedule, progress_on_a_terminal]


def main():
    print("1..%d" % len(TESTS), flush=True)
    failed = 0
    for i, test in enumerate(TESTS, 1):
        bad = None
        try:
            test()
        except Exception as e:  # noqa: BLE001: told, and the next one runs
            bad = "%s: %s" % (type(e).__name__, e)
        failed += bad is not None
        if bad:
            print("# " + bad.replace("\n", "\n# "))
        print("%s %d - %s" % ("not ok" if bad else "ok", i, test.__name__.replace("_", " ")), flush=True)
    return 1 if failed else 0


sys.exit(main())
