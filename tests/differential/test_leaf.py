#!/usr/bin/env python3
"""Functions without hooks where they are inlined (src/cc/leaf.h), against what
the functions do: random C is compiled by clang without optimisation, every
access counted while it runs, and no call of a function on the list may have
made two.

    test_leaf.py TEST_LEAF [COUNT [SEED]]      COUNT units of 24 functions; INTACT_SOAK: 400
"""
import os
import random
import shutil
import subprocess
import sys
import tempfile

COUNTER = r"""
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
static struct { void *fn; long n; } open_[4096];
static int depth;
static struct { void *fn; long worst, calls; } seen[4096];
static char *top;
void __cyg_profile_func_enter(void *f, void *s) { (void)s; open_[depth].fn = f; open_[depth++].n = 0; }
void __cyg_profile_func_exit(void *f, void *s)
{
	(void)s;
	long n = open_[--depth].n;
	if (depth) open_[depth - 1].n += n;
	int i = 0;
	while (seen[i].fn && seen[i].fn != f) i++;
	seen[i].fn = f;
	seen[i].calls++;
	if (n > seen[i].worst) seen[i].worst = n;
}
static void touch(void *p)
{
	char here;
	if (depth && !((char *)p > &here && (char *)p < top)) open_[depth - 1].n++;
}
#define T(n) void __tsan_read##n(void *p) { touch(p); } void __tsan_write##n(void *p) { touch(p); } \
	void __tsan_unaligned_read##n(void *p) { touch(p); } void __tsan_unaligned_write##n(void *p) { touch(p); } \
	void __tsan_read_write##n(void *p) { touch(p); touch(p); }
T(1) T(2) T(4) T(8) T(16)
void __tsan_func_entry(void *p) { (void)p; }
void __tsan_func_exit(void) {}
void __tsan_init(void) {}
void *__wrap_memset(void *d, int c, size_t n) { touch(d); for (size_t i = 0; i < n; i++) ((volatile char *)d)[i] = (char)c; return d; }
void *__wrap_memcpy(void *d, const void *s, size_t n)
{ touch((void *)s); touch(d); for (size_t i = 0; i < n; i++) ((volatile char *)d)[i] = ((const char *)s)[i]; return d; }
void *__tsan_memset(void *d, int c, size_t n) { return __wrap_memset(d, c, n); }
void *__tsan_memcpy(void *d, const void *s, size_t n) { return __wrap_memcpy(d, s, n); }
int __tsan_atomic32_fetch_add(volatile int *p, int v, int o) { (void)o; touch((void *)p); int r = *p; *p = r + v; return r; }
int __tsan_atomic32_load(const volatile int *p, int o) { (void)o; touch((void *)p); return *p; }
void run(void);
extern struct { const char *name; void *fn; } list[];
int main(void)
{
	char here;
	top = &here + 256;
	run();
	for (int i = 0; seen[i].fn; i++)
		for (int k = 0; list[k].name; k++)
			if (list[k].fn == seen[i].fn)
				printf("%s %ld %ld\n", list[k].name, seen[i].worst, seen[i].calls);
	return 0;
}
"""
HEAD = r"""
#include <stdatomic.h>
#define memcpy __builtin_memcpy
struct pair { int a, b; };
static int g, h;
static _Atomic int n;
static struct pair p0, many[4];
static char raw[64];
"""


def expression(r, callees, depth):
    kind = r.randrange(16)
    if kind < 3:
        return str(r.randrange(9))
    if kind < 6:
        return "x"
    if kind == 6:
        return "g"
    if kind == 7:
        return "p->a"
    if kind == 8:
        return "p->b" if r.random() < .5 else "many[x & 3].b"
    if kind == 9 and r.random() < .4:
        return "atomic_load(&n)" if r.random() < .5 else "atomic_fetch_add(&n, 1)"
    if kind <= 11 and callees:
        return "%s(p, x)" % r.choice(callees)
    if kind == 12:
        return "__builtin_ctz((unsigned)x | 1)"
    if depth > 2:
        return "y"
    a, b = expression(r, callees, depth + 1), expression(r, callees, depth + 1)
    return r.choice(["(%s + %s)", "(%s ^ %s)", "(%s < %s)", "(%s && %s)", "(%s || %s)"]) % (a, b) if r.random() < .8 else \
        "(x & 1 ? %s : %s)" % (a, b)


def statement(r, callees, depth):
    kind = r.randrange(15)
    e = expression(r, callees, 1)
    if kind < 5:
        return "y = %s;" % e
    if kind == 5:
        return r.choice(["g = %s;", "p->a = %s;", "h += %s;", "q.b = %s;"]) % e
    if kind == 6:
        return "memcpy(&y, raw + (x & 7), 4);"
    if kind == 7:
        return r.choice(["q = *p;", "q = p0;", "memcpy(raw, &q, 8);", "memcpy(raw + 32, raw, 16);", "y = q.a;"])
    if kind == 8:
        return "return %s;" % e
    if kind == 9 and depth < 2:
        return "for (int i = 0; i < %d; i++) { %s }" % (r.randrange(1, 4), statement(r, callees, depth + 1))
    if kind < 12 and depth < 2:
        return "if (%s) { %s } else { %s }" % (expression(r, [], 2), statement(r, callees, depth + 1), statement(r, callees, depth + 1))
    if kind == 12 and depth < 2:
        return "switch (x & 3) { case 0: %s break; case 1: %s break; default: %s }" % tuple(
            statement(r, callees, depth + 1) for _ in range(3))
    return "y ^= x;"


def unit(r, count):
    text, names = HEAD, []
    for i in range(count):
        name = "f%d" % i
        small = r.random() < .6
        callees = r.sample(names, min(len(names), 3))
        body = " ".join(statement(r, callees, 0) for _ in range(r.randrange(3) if small else r.randrange(6)))
        text += "static int %s(struct pair *p, int x) { int y = 0; struct pair q = { 1, 2 }; (void)p; (void)q; %s return y; }\n" % (name, body)
        names.append(name)
    calls = "".join("\tfor (int x = 0; x < 8; x++) %s(&many[x & 3], x);\n" % f for f in names)
    text += "void run(void);\nvoid run(void)\n{\n%s}\n" % calls
    text += "struct entry { const char *name; void *fn; };\nextern struct entry list[];\nstruct entry list[] = { %s { 0, 0 } };\n" % (
        "".join('{ "%s", (void *)%s }, ' % (f, f) for f in names))
    return text


def check(test_leaf, tmp, seed):
    """(functions, on the list, of these called, what is wrong)"""
    path = os.path.join(tmp, "u.c")
    open(path, "w").write(unit(random.Random(seed), 24))
    flags = ["-w", "-Xclang", "-fsanitize=thread", "-finstrument-functions"]
    subprocess.run(["clang", "-O2", *flags, "-S", "-emit-llvm", "-Xclang", "-disable-llvm-passes", path, "-o", path + ".ll"], check=True)
    leaves = set(subprocess.run([test_leaf, "--list", path + ".ll"], check=True, capture_output=True, text=True).stdout.split())
    exe = os.path.join(tmp, "u")
    subprocess.run(["clang", "-O0", *flags, "-mllvm", "-tsan-instrument-read-before-write=1",
                    "-c", path, "-o", exe + ".o"], check=True)
    subprocess.run(["clang", exe + ".o", os.path.join(tmp, "count.o"), "-Wl,--wrap=memcpy,--wrap=memset", "-o", exe], check=True)
    out = subprocess.run([exe], check=True, capture_output=True, text=True, timeout=60).stdout
    wrong, called, single = [], 0, 0
    for line in out.split("\n"):
        if line:
            name, worst, _ = line.split()
            called += name in leaves
            single += int(worst) < 2
            if name in leaves and int(worst) > 1:
                wrong.append("%s: %s accesses" % (name, worst))
    return len(leaves), called, single, wrong


def main():
    soak = bool(os.environ.get("INTACT_SOAK"))
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 400 if soak else 8
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    if not shutil.which("clang"):
        print("1..1\nok 1 - leaves # SKIP clang is not installed")
        return 0
    leaves = called = single = 0
    wrong = []
    with tempfile.TemporaryDirectory(prefix="intact-leaf-") as tmp:
        open(os.path.join(tmp, "count.c"), "w").write(COUNTER)
        subprocess.run(["clang", "-O1", "-w", "-fno-builtin", "-c", os.path.join(tmp, "count.c"), "-o", os.path.join(tmp, "count.o")], check=True)
        for seed in range(first, first + count):
            a, b, c, w = check(sys.argv[1], tmp, seed)
            leaves, called, single = leaves + a, called + b, single + c
            wrong += ["seed %d: %s" % (seed, x) for x in w]
    for w in wrong:
        print("# " + w)
    print("# %d units from seed %d: %d functions on the list, %d of them called, %d made at most one access" %
          (count, first, leaves, called, single))
    print("1..2\n%s 1 - none of them makes two accesses" % ("not ok" if wrong else "ok"))
    # A list that is nearly empty would pass the first.
    ok = called * 2 > single
    print("%s 2 - most functions that make at most one are on it" % ("ok" if ok else "not ok"))
    return 1 if wrong or not ok else 0


if __name__ == "__main__":
    sys.exit(main())
