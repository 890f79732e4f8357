#!/usr/bin/env python3
"""What `intact run` and `intact record` say of a run: what was watched and what not, how the program ended,
and that findings survive a sudden end, an unloaded library and lost symbols.

    watched.py INTACT [NAME...]
"""
import json
import os
import pty
import re
import signal
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET

HERE = os.path.dirname(os.path.abspath(__file__))
INTACT = os.path.abspath(sys.argv[1])
ONLY = sys.argv[2:]
COMPILERS = ("gcc", "clang")
TESTS = []


def test(f):
    TESTS.append(f)
    return f


def sh(cmd, cwd=None, env=None):
    return subprocess.run(cmd, shell=isinstance(cmd, str), capture_output=True, text=True, timeout=120, cwd=cwd,
                          env=dict(os.environ, **(env or {})))


def build(tmp, source, exe, cc="gcc", flags=""):
    path = source if os.path.isabs(source) else os.path.join(HERE, source)
    out = os.path.join(tmp, exe)
    r = sh("INTACT_CC=%s %s cc -std=gnu11 -O1 %s %s -o %s" % (cc, INTACT, flags, path, out))
    assert r.returncode == 0, r.stderr
    return out


def plain(tmp, source, exe):
    out = os.path.join(tmp, exe)
    r = sh("gcc -O1 %s -o %s -lpthread" % (os.path.join(HERE, source), out))
    assert r.returncode == 0, r.stderr
    return out


def want(r, status, *lines):
    text = r.stdout + r.stderr
    assert r.returncode == status, "status %d, not %d\n%s" % (r.returncode, status, text)
    for l in lines:
        assert l in text, "no '%s' in\n%s" % (l, text)


def on_terminal(cmd):
    """What the command writes to a terminal that is its standard error."""
    master, slave = pty.openpty()
    p = subprocess.Popen(cmd, stdout=subprocess.DEVNULL, stderr=slave)
    os.close(slave)
    out = b""
    while True:
        try:
            part = os.read(master, 4096)
        except OSError:
            break
        if not part:
            break
        out += part
    os.close(master)
    return p.wait(), out.decode().replace("\r\n", "\n")



def clean(tmp, cc="gcc"):
    src = os.path.join(tmp, "clean.c")
    with open(src, "w") as f:
        f.write('''#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x;
static void bump(void) { pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); }
static void *worker(void *arg) { bump(); return arg; }
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, 0, worker, 0);
	pthread_create(&b, 0, worker, 0);
	pthread_join(a, 0);
	pthread_join(b, 0);
	bump();
	printf("x = %d\\n", x);
	return 0;
}
''')
    return build(tmp, src, "clean", cc)


# ---- what was not watched ----

@test
def a_program_not_built_with_the_wrapper_is_an_error(tmp):
    exe = plain(tmp, "dies.c", "plain")
    hint = "CC=intact-cc"
    want(sh([INTACT, "run", exe]), 70, "nothing was watched", "`intact cc`", hint)
    want(sh([INTACT, "record", "-o", tmp + "/r", exe]), 70, "nothing was recorded", hint)
    want(sh([INTACT, "run", "--exitcode=0", exe]), 70, "nothing was watched")
    want(sh([INTACT, "run", "--infer", tmp + "/spec", "--runs", "3", exe]), 70, "nothing was watched")
    assert not os.path.exists(tmp + "/spec")
    want(sh([INTACT, "run", "sh", "-c", "%s; true" % exe]), 70, "nothing was watched")


@test
def no_report_of_it_is_green(tmp):
    exe = plain(tmp, "dies.c", "plain")
    r = sh([INTACT, "run", "--json=-", exe])
    doc = json.loads(r.stdout)
    assert r.returncode == 70 and doc["verdict"] == "unknown" and doc["processes"] == [], r.stdout
    assert "intact cc" in doc["reason"], doc
    r = sh([INTACT, "run", "--junit=-", exe])
    suites = ET.fromstring(r.stdout)
    assert suites.get("errors") == "1" and suites.find(".//error") is not None, r.stdout
    run = json.loads(sh([INTACT, "run", "--sarif=-", exe]).stdout)["runs"][0]
    assert run["invocations"][0]["executionSuccessful"] is False, run["invocations"]
    assert run["invocations"][0]["toolExecutionNotifications"][0]["level"] == "error"
    assert sh([INTACT, "run", "--github", exe]).stdout.startswith("::error ")
    sh([INTACT, "run", "--json=" + tmp + "/doc.json", exe])
    want(sh([INTACT, "report", "--check", tmp + "/doc.json"]), 0)
    want(sh([INTACT, "report", tmp + "/doc.json"]), 3, "intact cc")


@test
def children_count_and_it_is_said_who_was_watched(tmp):
    """A shell, make, a test driver: the program itself need not be instrumented."""
    exe = clean(tmp)
    found = build(tmp, "dies.c", "dies")
    r = sh([INTACT, "run", "sh", "-c", "%s; true" % exe])
    want(r, 0, "'sh' itself was not built with `intact cc`", "started: clean\n")
    want(sh([INTACT, "run", "sh", "-c", "%s; %s; true" % (found, exe)]), 66, "deposit is not atomic", "started: dies, clean\n")
    r = sh([INTACT, "run", "sh", "-c", "exec " + exe])
    assert r.returncode == 0 and "itself" not in r.stderr, r.stderr
    r = sh([INTACT, "run", "--json=-", "sh", "-c", "%s; %s" % (exe, exe)])
    doc = json.loads(r.stdout)
    assert doc["verdict"] == "holds" and [p["program"] for p in doc["processes"]] == ["clean", "clean"], doc
    want(sh([INTACT, "record", "-o", tmp + "/r", "sh", "-c", "%s; true" % exe]), 0, "started: clean\n", "recorded")


@test
def a_clean_run_says_on_a_terminal_what_was_watched(tmp):
    for cc in COMPILERS:
        exe = clean(tmp, cc)
        rc, text = on_terminal([INTACT, "run", exe])
        assert rc == 0 and text == "intact: nothing found; watched clean: 3 threads, 1 function, 1 lock\n", text
        r = sh([INTACT, "run", exe])
        assert r.returncode == 0 and r.stderr == "" and r.stdout == "x = 3\n", r
        doc = json.loads(sh([INTACT, "run", "--json=-", exe]).stdout)
        assert doc["processes"] == [{"program": "clean", "threads": 3, "functions": 1, "locks": 1}], doc
        assert doc["ended"] == {"status": 0}, doc


@test
def a_runtime_that_cannot_start_is_no_clean_run(tmp):
    exe = clean(tmp)
    r = sh([INTACT, "run", "sh", "-c", "ulimit -v 200000; exec " + exe])
    want(r, 70, "nothing was watched: there was not enough address space", "x = 3")


@test
def what_cannot_be_run_is_told_apart(tmp):
    r = sh([INTACT, "run", "--json=-", tmp + "/nothing"])
    want(r, 127, "cannot run", "No such file")
    assert json.loads(r.stdout)["verdict"] == "unknown" and "nothing was watched" not in r.stderr
    open(tmp + "/file", "w").close()
    want(sh([INTACT, "run", tmp + "/file"]), 126, "Permission denied")


# ---- how it ended ----

@test
def a_sudden_end_hides_nothing(tmp):
    """Online and the recording of the same run say the same; the death is the status."""
    for cc in COMPILERS:
        exe = build(tmp, "dies.c", "dies", cc)
        for sig in (signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV):
            r = sh([INTACT, "run", "--record", tmp + "/trace", "--json=" + tmp + "/doc.json", exe, str(int(sig))])
            want(r, 128 + sig, "deposit is not atomic (confirmed", "reported 1 warning (1 confirmed)",
                 "killed by signal %d (%s)" % (sig, sig.name))
            doc = json.load(open(tmp + "/doc.json"))
            assert doc["confirmed"] == 1 and doc["verdict"] == "violated", doc
            assert doc["ended"] == {"signal": sig, "name": sig.name}, doc["ended"]
            want(sh([INTACT, "trace", tmp + "/trace"]), 1, "deposit is not atomic (confirmed", "(1 confirmed)")
            os.remove(tmp + "/doc.json")
        r = sh([INTACT, "run", exe, "0"])
        want(r, 66, "reported 1 warning (1 confirmed)")
        assert "ended by" not in r.stderr, r.stderr


@test
def a_death_without_findings_is_not_green(tmp):
    src = os.path.join(tmp, "abort.c")
    with open(src, "w") as f:
        f.write("#include <stdlib.h>\nint main(void) { abort(); }\n")
    exe = build(tmp, src, "aborts")
    r = sh([INTACT, "run", "--json=-", exe])
    want(r, 134, "killed by signal 6 (SIGABRT)")
    doc = json.loads(r.stdout)
    assert doc["verdict"] == "unknown" and doc["ended"] == {"signal": 6, "name": "SIGABRT"}, doc
    want(sh([INTACT, "record", "-o", tmp + "/r", exe]), 134, "killed by signal 6")


@test
def the_programs_own_status_stays_visible(tmp):
    exe = build(tmp, "dies.c", "dies")
    want(sh([INTACT, "run", "sh", "-c", exe + "; exit 3"]), 66, "exit status 66 for the findings; the program's own was 3")
    want(sh([INTACT, "run", "--exitcode=0", "sh", "-c", exe + "; exit 3"]), 3)


@test
def a_program_that_was_stopped_is_not_green(tmp):
    """--halt-on-error: the program prints its finding itself."""
    exe = build(tmp, "dies.c", "dies")
    r = sh([INTACT, "run", "--halt-on-error", "--json=-", exe])
    want(r, 66, "deposit is not atomic", "stopped at the first finding")
    doc = json.loads(r.stdout)
    assert doc["verdict"] == "violated" and "first finding" in doc["reason"], doc
    suites = ET.fromstring(sh([INTACT, "run", "--halt-on-error", "--junit=-", exe]).stdout)
    assert suites.get("failures") == "1", suites.attrib


# ---- standard output ----

@test
def a_report_on_standard_output_is_alone_there(tmp):
    exe = clean(tmp)
    r = sh([INTACT, "run", "--json=-", exe])
    assert json.loads(r.stdout)["verdict"] == "holds" and "x = 3" in r.stderr, r
    r = sh([INTACT, "run", "--sarif=-", exe])
    assert json.loads(r.stdout)["version"] == "2.1.0" and "x = 3" in r.stderr, r
    ET.fromstring(sh([INTACT, "run", "--junit=-", exe]).stdout)
    assert sh([INTACT, "run", "--html=-", exe]).stdout.startswith("<!")
    r = sh([INTACT, "run", "--json=" + tmp + "/doc.json", exe])
    assert r.stdout == "x = 3\n", r.stdout
    want(sh([INTACT, "run", "--json=-", exe], env={"INTACT_OPTIONS": "log_path=stdout"}), 2, "cannot be combined", "hint")


# ---- libraries that go ----

@test
def a_library_that_is_gone_keeps_its_names(tmp):
    for cc in COMPILERS:
        exe = build(tmp, "dlclose_marked.c", "dlclose_marked", cc)
        libs = [build(tmp, "marked_plugin.c", n + ".so", cc, "-shared -fPIC -DNAME=" + n) for n in ("alpha", "bravo")]
        for how in ([], [INTACT, "run"]):
            for last, status in (([], 66), (["abort"], 134 if how else -6)):
                r = sh(how + [exe] + libs + libs[:1] + last)
                assert r.returncode == status, "%s\n%s" % (r.returncode, r.stderr)
                if not how and last:
                    continue  # nobody is left to tell
                assert "one address" in r.stdout, "the libraries were not loaded at one address: " + r.stdout
                reports = r.stderr.split("WARNING: ")[1:]
                assert len(reports) == 2, r.stderr
                for name, text in zip(("alpha", "bravo"), reports):
                    other = "bravo" if name == "alpha" else "alpha"
                    assert "block 'block of %s' in %s_step is not atomic" % (name, name) in text, text
                    assert "'%s_lock'" % name in text and "(%s.so+0x" % name in text, text
                    assert other not in text.split("SUMMARY")[0], text
        r = sh([INTACT, "run", "--record", tmp + "/trace", exe] + libs)
        r = sh([INTACT, "trace", tmp + "/trace"])
        for name in ("alpha", "bravo"):
            assert "block 'block of %s' in %s_step is not atomic" % (name, name) in r.stdout, r.stdout
            assert "'%s_lock'" % name in r.stdout and "(%s.so+0x" % name in r.stdout, r.stdout


@test
def a_library_loads_others_from_where_it_says(tmp):
    """The loader looks in the directories of dlopen's caller, which must not become us."""
    os.mkdir(tmp + "/sub")
    for name, text in (("inner", "int inner(void); int inner(void) { return 7; }"),
                       ("outer", "#include <dlfcn.h>\nint outer(void); int outer(void) { return dlopen(\"inner.so\", RTLD_NOW) != 0; }"),
                       ("main", "#include <dlfcn.h>\nint main(int argc, char **argv) { void *h = dlopen(argv[argc - 1], RTLD_NOW);"
                                "\nreturn !h || !((int (*)(void))dlsym(h, \"outer\"))(); }")):
        with open("%s/%s.c" % (tmp, name), "w") as f:
            f.write(text)
    for cc in COMPILERS:
        build(tmp, tmp + "/inner.c", "sub/inner.so", cc, "-shared -fPIC")
        outer = build(tmp, tmp + "/outer.c", "sub/outer.so", cc, "-shared -fPIC -Wl,-rpath,'$ORIGIN' -Wl,--enable-new-dtags")
        r = sh([build(tmp, tmp + "/main.c", "main", cc), outer])
        assert r.returncode == 0, (cc, r)


@test
def loading_again_and_again_costs_nothing(tmp):
    """One library, loaded and unloaded: one finding, one entry in the table."""
    exe = build(tmp, "dlclose_marked.c", "dlclose_marked")
    lib = build(tmp, "marked_plugin.c", "alpha.so", "gcc", "-shared -fPIC -DNAME=alpha")
    r = sh([exe] + [lib] * 300)
    assert r.returncode == 66 and r.stderr.count("WARNING: ") == 1 and "seen 600 times" in r.stderr, r.stderr


# ---- without symbols ----

@test
def a_stripped_program_shows_what_was_found(tmp):
    for cc in COMPILERS:
        exe = build(tmp, "dies.c", "dies", cc)
        sh(["strip", "-o", tmp + "/bare", exe])
        for how in ([], [INTACT, "run"]):
            r = sh(how + [tmp + "/bare"])
            want(r, 66, "reported 1 warning (1 confirmed)", "shown by file and offset")
            block = re.search(r"^  (bare\+0x[0-9a-f]+) is not atomic", r.stderr, re.M)
            assert block and "<null>" not in r.stderr, r.stderr
            # its first instruction is deposit's, and the thread's first functions and main are not blamed
            at = int(block.group(1).split("0x")[1], 16)
            symbols = dict((int(l.split()[0], 16), l.split()[2]) for l in sh(["nm", exe]).stdout.split("\n") if len(l.split()) == 3)
            assert symbols.get(at) == "deposit", (hex(at), symbols.get(at))
        r = sh([INTACT, "run", "--json=-", tmp + "/bare"])
        doc = json.loads(r.stdout)
        assert doc["verdict"] == "violated" and doc["results"][0]["block"] == block.group(1), doc
        with open(tmp + "/supp", "w") as f:
            f.write("block:%s\n" % block.group(1))
        want(sh([INTACT, "run", "--suppressions", tmp + "/supp", tmp + "/bare"]), 0)
        r = sh([INTACT, "run", "--record", tmp + "/trace", tmp + "/bare"])
        r = sh([INTACT, "trace", tmp + "/trace"])
        assert block.group(1) + " is not atomic (confirmed" in r.stdout and "<null>" not in r.stdout, r.stdout


@test
def a_function_that_was_inlined_is_found_without_symbols(tmp):
    """All of it lies in the thread's first function, which alone would not be judged."""
    for cc in COMPILERS:
        exe = build(tmp, "../programs/lost_update.c", "lost", cc, "-O2")
        want(sh([INTACT, "run", exe]), 66, "deposit is not atomic")
        sh(["strip", exe])
        r = sh([INTACT, "run", exe])
        want(r, 66, "reported 1 warning")
        assert re.search(r"^  lost\+0x[0-9a-f]+ is not atomic", r.stderr, re.M), r.stderr


@test
def a_stripped_cxx_program_is_not_green(tmp):
    """Between the block and the lock lie the library's templates, which look like the program's functions now."""
    with open(tmp + "/t.cc", "w") as f:
        f.write('''#include <mutex>
#include <thread>
struct Account {
	std::mutex m;
	int v = 0;
	int get() { std::lock_guard<std::mutex> g(m); return v; }
	void set(int n) { std::lock_guard<std::mutex> g(m); v = n; }
	__attribute__((noinline)) void deposit(int n) { set(get() + n); }
};
int main()
{
	Account a;
	for (int i = 0; i < 2; i++) {
		std::thread t([&] { a.deposit(1); });
		t.join();
	}
}
''')
    for cxx in ("g++", "clang++"):
        for level in ("-O0", "-O2"):
            r = sh("INTACT_CXX=%s %s c++ %s t.cc -o whole && strip -o bare whole && %s run ./whole; %s run ./bare"
                   % (cxx, INTACT, level, INTACT, INTACT), cwd=tmp)
            want(r, 66, "Account::deposit(int) is not atomic", "  bare+0x")
            at = int(re.search(r"  bare\+0x([0-9a-f]+) is not atomic", r.stderr).group(1), 16)
            names = [l.split(" ", 2)[2] for l in sh(["nm", "-C", tmp + "/whole"]).stdout.split("\n")
                     if len(l) > 16 and l[0] == "0" and int(l.split()[0], 16) == at]
            assert "Account::deposit(int)" in names, (cxx, level, hex(at), names)


@test
def a_marked_block_of_a_stripped_library_has_its_name(tmp):
    exe = build(tmp, "dlclose_marked.c", "dlclose_marked")
    lib = build(tmp, "marked_plugin.c", "alpha.so", "gcc", "-shared -fPIC -DNAME=alpha")
    sh(["strip", lib])
    r = sh([INTACT, "run", exe, lib])
    want(r, 66, "block 'block of alpha' in alpha.so+0x")
    assert "<null>" not in r.stderr, r.stderr


@test
def names_come_from_dynamic_symbols_and_debug_files(tmp):
    text = open(os.path.join(HERE, "dies.c")).read().replace("static void deposit", "void deposit(int); void deposit")
    with open(tmp + "/open.c", "w") as f:
        f.write(text)
    for cc in COMPILERS:
        exe = build(tmp, tmp + "/open.c", "open", cc, "-rdynamic -Wno-missing-prototypes")
        sh(["strip", exe])
        want(sh([INTACT, "run", exe]), 66, "deposit is not atomic")
        exe = build(tmp, "dies.c", "linked", cc)
        sh("objcopy --only-keep-debug linked linked.debug && strip linked && objcopy --add-gnu-debuglink=linked.debug linked", cwd=tmp)
        want(sh([INTACT, "run", exe]), 66, "deposit is not atomic", "dies.c:")
        exe = build(tmp, "dies.c", "byid", cc, "-Wl,--build-id=0x" + os.urandom(20).hex())
        sh("objcopy --only-keep-debug byid byid.debug && strip byid", cwd=tmp)
        by_build_id(tmp, exe)


def by_build_id(tmp, exe):
    name = re.search(r"Build ID: (\w+)", sh(["readelf", "-n", exe]).stdout).group(1)
    where = "/usr/lib/debug/.build-id/%s" % name[:2]
    put = "mkdir -p %s && cp %s/byid.debug %s/%s.debug" % (where, tmp, where, name[2:])
    if os.access("/usr/lib/debug", os.W_OK) or (not os.path.exists("/usr/lib/debug") and os.access("/usr/lib", os.W_OK)):
        try:
            sh(put)
            want(sh([INTACT, "run", exe]), 66, "deposit is not atomic", "dies.c:")
        finally:
            sh("rm -f %s/%s.debug; rmdir -p %s" % (where, name[2:], where))
    else:  # where it cannot be put: over an empty directory of a namespace of one's own
        r = sh("unshare -Urm sh -c 'mount -t tmpfs none /usr/lib/debug && %s && %s run %s'" % (put, INTACT, exe))
        assert "mount" in r.stderr or "unshare" in r.stderr or "deposit is not atomic" in r.stderr, r.stderr


def main():
    bad = n = 0
    for t in TESTS:
        if ONLY and t.__name__ not in ONLY:
            continue
        n += 1
        with tempfile.TemporaryDirectory(prefix="intact-watched-") as tmp:
            try:
                t(tmp)
                print("ok %d - %s" % (n, t.__name__), flush=True)
            except (AssertionError, subprocess.TimeoutExpired, ValueError, ET.ParseError) as e:
                bad += 1
                print("not ok %d - %s" % (n, t.__name__))
                print("\n".join("# " + l for l in (type(e).__name__ + ": " + str(e))[-3000:].split("\n")), flush=True)
    print("1..%d" % n)
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
