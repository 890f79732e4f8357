#!/usr/bin/env python3
"""include/intact/annotate.h, copied alone into a project: every standard, both compilers, no warning, and nothing
left of it in a program that is not watched.

    test_annotate.py INTACT SOURCE
"""
import os
import shutil
import subprocess
import sys
import tempfile

INTACT, SOURCE = (os.path.abspath(a) for a in sys.argv[1:3])
HEADER = os.path.join(SOURCE, "include", "intact", "annotate.h")
STRICT = "-pedantic -Wall -Wextra -Werror -Wshadow -Wconversion -Wdeclaration-after-statement"
STRICT_CXX = "-pedantic -Wall -Wextra -Werror -Wshadow -Wconversion -Wold-style-cast"

# INTACT_ATOMIC among declarations, twice in one function, BEGIN and END, a marked function.
TEXT = '''#include "third_party/annotate.h"
#include "third_party/annotate.h"
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x;

static int get(void)
{
	int v;
	pthread_mutex_lock(&m);
	v = x;
	pthread_mutex_unlock(&m);
	return v;
}

static void set(int v)
{
	pthread_mutex_lock(&m);
	x = v;
	pthread_mutex_unlock(&m);
}

static void *worker(void *arg)
{
	INTACT_ATOMIC("scope");
	int v = get();
	set(v + 1);
	{
		INTACT_ATOMIC("inner");
		v = get();
	}
	return arg;
}

INTACT_ATOMIC_FUNCTION int marked(int v);
INTACT_ATOMIC_FUNCTION int marked(int v)
{
	return v;
}

int main(void)
{
	int i;
	for (i = 0; i < 2; i++) {
		pthread_t t;
		pthread_create(&t, NULL, worker, NULL);
		pthread_join(t, NULL);
	}
	INTACT_BEGIN("stretch");
	i = get();
	INTACT_END();
	return marked(i) == 2 ? 0 : 1;
}
'''
COMPILERS = [("gcc", "c", s) for s in ("c89", "c99", "c11", "gnu17")] + [("g++", "cc", s) for s in ("c++11", "c++20")]
COMPILERS += [({"gcc": "clang", "g++": "clang++"}[c], e, s) for c, e, s in COMPILERS]


def sh(cmd, cwd):
    return subprocess.run(cmd, shell=True, capture_output=True, text=True, timeout=120, cwd=cwd)


def check(tmp, compiler, ending, std):
    strict = STRICT_CXX if ending == "cc" else STRICT
    src = "p." + ending
    with open(os.path.join(tmp, src), "w") as f:
        f.write(TEXT)
    r = sh("%s -std=%s %s %s -o p -lpthread && ./p && nm p" % (compiler, std, strict, src), tmp)
    assert r.returncode == 0, "plain: " + r.stdout + r.stderr
    assert "intact" not in r.stdout.lower(), "left in a plain program: " + r.stdout
    wrapper = "INTACT_CXX=%s %s c++" if ending == "cc" else "INTACT_CC=%s %s cc"
    r = sh((wrapper + " -std=%s %s %s -o w && %s run ./w") % (compiler, INTACT, std, strict, src, INTACT), tmp)
    assert r.returncode == 66, "watched: %d\n%s" % (r.returncode, r.stdout + r.stderr)
    assert "block 'scope' in worker" in r.stderr, r.stderr


def main():
    with open(HEADER) as f:
        licence = "SPDX-License-Identifier: MIT" in f.read(1000)
    print("%s 1 - the header names its licence" % ("ok" if licence else "not ok"))
    bad = not licence
    for n, (compiler, ending, std) in enumerate(COMPILERS, 2):
        with tempfile.TemporaryDirectory(prefix="intact-annotate-") as tmp:
            os.mkdir(os.path.join(tmp, "third_party"))
            shutil.copy(HEADER, os.path.join(tmp, "third_party"))
            try:
                check(tmp, compiler, ending, std)
                print("ok %d - %s -std=%s" % (n, compiler, std), flush=True)
            except (AssertionError, subprocess.TimeoutExpired) as e:
                bad = True
                print("not ok %d - %s -std=%s" % (n, compiler, std))
                print("\n".join("# " + l for l in str(e)[-2000:].split("\n")), flush=True)
    print("1..%d" % (len(COMPILERS) + 1))
    return bad


if __name__ == "__main__":
    sys.exit(main())
