#!/usr/bin/env python3
"""Programs with more to tell than fits one message: thousands of functions with
findings, hundreds of loaded files and threads, deep stacks, long C++ names. No
finding may be lost; a program that is killed in the midst has told what it met; what
is cut for lack of room is said, and the status is not 0.

    large.py INTACT
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

FUNCTIONS, FILES, DEPTH, NAMES = 2000, 200, 150, 60
count = bad = 0


def say(name, why):
    global count, bad
    count += 1
    bad += bool(why)
    print("%s %d - %s" % ("not ok" if why else "ok", count, name), flush=True)
    if why:
        print("\n".join("# " + l for l in why.split("\n")), flush=True)


def sh(cmd, **kw):
    return subprocess.run(cmd, capture_output=True, text=True, errors="replace", timeout=400, **kw)


GAP = """static __attribute__((noinline)) void %s(void)
{
	pthread_mutex_lock(&m);
	int v = n;
	pthread_mutex_unlock(&m);
	pthread_mutex_lock(&m);
	n = v + 1;
	pthread_mutex_unlock(&m);
}
"""


def many(path):
    """Two threads call all functions, one after the other; with an argument the second is killed after so many:
    by then its first section has made all gaps of the first thread findings, at once."""
    with open(path, "w") as f:
        f.write("#include <pthread.h>\n#include <signal.h>\n#include <stdlib.h>\n"
                "static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\nstatic int n;\n")
        for i in range(FUNCTIONS):
            f.write(GAP % ("f%04d" % i))
        f.write("static void (*const all[])(void) = {%s};\n" % ", ".join("f%04d" % i for i in range(FUNCTIONS)))
        f.write("""static __attribute__((noinline)) void deep(int depth, int i)
{
	if (depth)
		deep(depth - 1, i);
	else
		all[i]();
	n += 0 * depth;
}
static int stop = -1;
static void *work(void *arg)
{
	for (int i = 0; i < %d; i++) {
		deep(%d, i);
		if (arg && i + 1 == stop)
			kill(0 * stop + getpid(), SIGKILL);
	}
	return arg;
}
int main(int argc, char **argv)
{
	pthread_t t;
	stop = argc > 1 ? atoi(argv[1]) : -1;
	pthread_create(&t, NULL, work, NULL);
	pthread_join(t, NULL);
	pthread_create(&t, NULL, work, &t);
	pthread_join(t, NULL);
	return 0;
}
""".replace("%d", str(FUNCTIONS), 1).replace("%d", str(DEPTH), 1).replace("#include <pthread.h>", ""))
    text = open(path).read().replace("#include <stdlib.h>\n", "#include <stdlib.h>\n#include <unistd.h>\n", 1)
    open(path, "w").write(text)


PLUGIN = """#include <pthread.h>
int shared_counter(pthread_mutex_t *m, int *n);
int shared_counter(pthread_mutex_t *m, int *n)
{
	pthread_mutex_lock(m);
	int v = *n;
	pthread_mutex_unlock(m);
	pthread_mutex_lock(m);
	*n = v + 1;
	pthread_mutex_unlock(m);
	return v;
}
"""
HOST = """#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int n;
static int (*last)(pthread_mutex_t *, int *);
static void *work(void *arg)
{
	int (*call)(pthread_mutex_t *, int *) = arg;
	call(&m, &n);
	last(&m, &n);
	return NULL;
}
int main(int argc, char **argv)
{
	pthread_t t[%d];
	for (int i = 1; i < argc; i++) {
		void *h = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
		int (*f)(pthread_mutex_t *, int *) = h ? (int (*)(pthread_mutex_t *, int *))dlsym(h, "shared_counter") : NULL;
		if (!f) {
			fprintf(stderr, "%%s\\n", dlerror());
			return 3;
		}
		last = f;
		pthread_create(&t[i - 1], NULL, work, (void *)f);
		pthread_join(t[i - 1], NULL);
	}
	return 0;
}
"""


def long_names(path):
    """C++ functions whose names have thousands of letters."""
    word = "a_namespace_with_a_name_that_says_at_length_what_it_is_for"
    with open(path, "w") as f:
        f.write("#include <mutex>\n#include <thread>\n#include <map>\n#include <string>\n#include <vector>\n"
                "static std::mutex m;\nstatic int n;\nnamespace %s {\n" % word)
        f.write("template <class A, class B, int N> struct pair_of_things_to_keep_together {};\n"
                "template <class T> __attribute__((noinline)) void update()\n{\n\tint v;\n"
                "\t{ std::lock_guard<std::mutex> l(m); v = n; }\n\t{ std::lock_guard<std::mutex> l(m); n = v + 1; }\n}\n}\n")
        f.write("using base = std::map<std::string, std::vector<std::string>>;\n")
        f.write("namespace w = %s;\ntemplate <class T, int N> using two = w::pair_of_things_to_keep_together<T, T, N>;\n" % word)
        for i in range(NAMES):
            f.write("using t%d = two<two<two<base, %d>, 1>, 2>;\n" % (i, i))
        f.write("static void work()\n{\n%s}\n" % "".join("\tw::update<t%d>();\n" % i for i in range(NAMES)))
        f.write("int main()\n{\n\tfor (int i = 0; i < 2; i++) { std::thread t([] { work(); }); t.join(); }\n}\n")


TREE = """#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int n;
%s
static __attribute__((noinline)) void left(int d);
static __attribute__((noinline)) void right(int d)
{
	if (!d)
		leaf();
	else {
		left(d - 1);
		right(d - 1);
	}
	n += 0 * d;
}
static __attribute__((noinline)) void left(int d)
{
	if (!d)
		leaf();
	else {
		left(d - 1);
		right(d - 1);
	}
	n += 0 * d;
}
static void *work(void *arg)
{
	left(14);
	right(14);
	return arg;
}
int main(void)
{
	pthread_t t;
	for (int i = 0; i < 2; i++) {
		pthread_create(&t, NULL, work, NULL);
		pthread_join(t, NULL);
	}
	return 0;
}
"""


def names_of(text):
    return re.findall(r"^  (\S+?)(?:\(.*)? is not atomic", text, re.M)


def big_program(intact, tmp):
    src, exe = os.path.join(tmp, "many.c"), os.path.join(tmp, "many")
    many(src)
    b = sh([intact, "cc", "-O0", "-g", src, "-o", exe])
    if b.returncode:
        return say("%d functions" % FUNCTIONS, b.stderr[-2000:])
    want = ["f%04d" % i for i in range(FUNCTIONS)]
    out = os.path.join(tmp, "many.json")
    for how, cmd in (("intact run", [intact, "run", "--json", out, exe]), ("by itself", [exe])):
        r = sh(cmd)
        got = names_of(r.stderr)
        why = None if sorted(got) == want and r.returncode == 66 and "reported %d warnings" % FUNCTIONS in r.stderr else \
            "exit %d, %d of %d reported, ends %s" % (r.returncode, len(set(got)), FUNCTIONS, r.stderr[-600:])
        say("%d functions with findings, stacks of %d: %s" % (FUNCTIONS, DEPTH, how), why)
    doc = json.load(open(out))
    say("all of them in the document", None if sorted(r["block"] for r in doc["results"]) == want else str(len(doc["results"])))
    half = FUNCTIONS // 2
    r = sh([intact, "run", exe, str(half)])
    got = names_of(r.stderr)
    say("killed in the midst: what it met is told", None if sorted(got) == want and r.returncode
        else "exit %d, %d of %d reported\n%s" % (r.returncode, len(got), FUNCTIONS, r.stderr[-300:]))
    sup = os.path.join(tmp, "sup")
    open(sup, "w").write("block:f*\n")
    r = sh([intact, "run", "--suppressions", sup, exe])
    say("all of them suppressed", None if r.returncode == 0 and "(%d findings)" % FUNCTIONS in r.stderr and not names_of(r.stderr)
        else "exit %d %s" % (r.returncode, r.stderr[-600:]))


def many_files(intact, tmp):
    one, src, exe = os.path.join(tmp, "plugin.c"), os.path.join(tmp, "host.c"), os.path.join(tmp, "host")
    open(one, "w").write(PLUGIN)
    open(src, "w").write(HOST % FILES)
    lib = os.path.join(tmp, "lib0.so")
    b = sh([intact, "cc", "-O0", "-g", "-shared", "-fPIC", one, "-o", lib])
    c = sh([intact, "cc", "-O0", "-g", src, "-o", exe, "-ldl"])
    if b.returncode or c.returncode:
        return say("%d files" % FILES, b.stderr + c.stderr)
    libs = [lib]
    for i in range(1, FILES):
        libs.append(os.path.join(tmp, "a-directory-with-a-rather-long-name-" * 3 + "lib%d.so" % i))
        shutil.copy(lib, libs[-1])
    out = os.path.join(tmp, "host.json")
    r = sh([intact, "run", "--json", out, exe] + libs)
    doc = json.load(open(out))
    # They are one function to a reader: it has one report, and each file was met.
    seen = re.search(r"seen (\d+) times", r.stderr)
    ok = r.returncode == 66 and len(doc["results"]) == 1 and seen and int(seen.group(1)) >= FILES and "<null>" not in r.stderr
    say("%d loaded files, %d threads" % (FILES, FILES), None if ok else "exit %d\n%s" % (r.returncode, r.stderr[-1500:]))


def cplusplus(intact, tmp):
    src, exe = os.path.join(tmp, "names.cc"), os.path.join(tmp, "names")
    long_names(src)
    b = sh([intact, "c++", "-O0", "-g", src, "-o", exe])
    if b.returncode:
        return say("long names", b.stderr[-1500:])
    r = sh([intact, "run", exe])
    long = max((len(l) for l in r.stderr.split("\n") if "is not atomic" in l), default=0)
    n = len(re.findall(r"^  .*update<.*is not atomic", r.stderr, re.M))
    say("%d functions with names of %d letters" % (NAMES, long), None if n == NAMES and long > 1000 and r.returncode == 66
        else "exit %d, %d\n%s" % (r.returncode, n, r.stderr[-800:]))


def cut(intact, tmp):
    """More ways to one gap than the table holds."""
    src, exe, sup = os.path.join(tmp, "tree.c"), os.path.join(tmp, "tree"), os.path.join(tmp, "tsup")
    open(src, "w").write(TREE % (GAP % "leaf"))
    open(sup, "w").write("block:leaf\nblock:left\nblock:right\n")
    b = sh([intact, "cc", "-O0", "-g", src, "-o", exe])
    if b.returncode:
        return say("cut", b.stderr)
    full = "the list of findings was full"
    for how, cmd, code in (("shown", [intact, "run", exe], 66), ("suppressed", [intact, "run", "--suppressions", sup, exe], 70),
                           ("by itself", [exe], 66)):
        r = sh(cmd)
        say("a full table is said, and not 0: " + how, None if r.returncode == code and full in r.stderr
            else "exit %d\n%s" % (r.returncode, r.stderr[-600:]))
    rec = os.path.join(tmp, "t.itr")
    sh([intact, "record", "-o", rec, exe])
    r = sh([intact, "trace", rec], env=dict(os.environ, INTACT_OPTIONS="suppressions=" + sup))
    say("a full table of a recording is unknown", None if r.returncode == 3 and "more findings than can be kept" in r.stdout
        else "exit %d\n%s" % (r.returncode, r.stdout[-600:]))


def main():
    intact = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="intact-large-") as tmp:
        big_program(intact, tmp)
        many_files(intact, tmp)
        cplusplus(intact, tmp)
        cut(intact, tmp)
    print("1..%d" % count)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
