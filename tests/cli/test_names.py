#!/usr/bin/env python3
"""Which names Intact takes from a program: hooks and interposers of the runtime, intact_* of the library, no
other; and a program's own function of an interposed name is the one that is called.

    test_names.py INTACT BUILD SOURCE [NAME...]
"""
import fnmatch
import os
import re
import subprocess
import sys
import tempfile

INTACT, BUILD, SOURCE = (os.path.abspath(a) for a in sys.argv[1:4])
ONLY = sys.argv[4:]
RUNTIME = os.path.join(BUILD, "runtime")
TESTS = []


def test(f):
    TESTS.append(f)
    return f


def sh(cmd, **kw):
    return subprocess.run(cmd, shell=isinstance(cmd, str), capture_output=True, text=True, timeout=120, **kw)


def symbols(archive):
    """Defined global names with their letters (nm's, TLS as 'L')."""
    out = sh(["readelf", "-sW", archive]).stdout
    found = {}
    for line in out.split("\n"):
        f = line.split()
        if len(f) < 8 or not re.match(r"\d+:$", f[0]) or f[6] in ("UND", "Ndx"):
            continue
        kind, bind, name = f[3], f[4], f[7]
        if bind in ("GLOBAL", "WEAK") and kind not in ("SECTION", "FILE"):
            found[name] = ("W" if bind == "WEAK" else "G") + {"FUNC": "T", "TLS": "L"}.get(kind, "D")
    return found


def documented():
    text = open(os.path.join(SOURCE, "runtime", "intact.dynlist")).read()
    return re.findall(r"^\t(\S+);", text, re.M)


def internal(*archives):
    """What the unlocalised objects define and the linker of a program must not see."""
    names = {}
    for a in archives:
        names.update(symbols(a))
    known = documented()
    return sorted(n for n in names if not any(fnmatch.fnmatchcase(n, k) for k in known)
                  and not n.startswith("intact_") and re.fullmatch(r"[A-Za-z_]\w*", n))


def runtime_internal():
    return internal(os.path.join(RUNTIME, "libintact_rt_core.a"), os.path.join(RUNTIME, "libintact_rt_plain.a"))


LOST = open(os.path.join(SOURCE, "tests", "programs", "lost_update.c")).read()
DEFINE = {"function": "int %s(void); int %s(void) { return 7; }", "data": "extern int %s; int %s = 7;",
          "thread-local data": "extern __thread int %s; __thread int %s = 7;"}


def names_of(text):
    return set(re.findall(r"\w+", text))


def build_and_run(tmp, cc, text, flags="", want=66, lines=()):
    src, exe = os.path.join(tmp, "p.c"), os.path.join(tmp, "p")
    with open(src, "w") as f:
        f.write(text)
    r = sh("INTACT_CC=%s %s cc -O1 -w -fno-builtin %s %s -o %s" % (cc, INTACT, flags, src, exe))
    assert r.returncode == 0, "%s %s: %s" % (cc, flags, r.stderr[-2000:])
    if want is None:
        return None
    r = sh([INTACT, "run", exe])
    assert r.returncode == want, "%s %s: status %d\n%s%s" % (cc, flags, r.returncode, r.stdout, r.stderr[-2000:])
    for l in lines:
        assert l in r.stdout + r.stderr, "no '%s' in\n%s%s" % (l, r.stdout, r.stderr[-2000:])
    return r


@test
def the_runtime_shows_the_linker_what_is_documented_and_no_more(tmp):
    found, known = symbols(os.path.join(RUNTIME, "libintact_rt.a")), documented()
    extra = [n for n in found if not any(fnmatch.fnmatchcase(n, k) for k in known)]
    assert not extra, extra
    missing = [k for k in known if k != "__intact_tool" and not fnmatch.filter(found, k.replace("?", "*"))]
    assert not missing, "in intact.dynlist, not in the archive: %s" % missing
    hooks = ("__tsan_", "__cyg_profile_", "__intact_")
    for n, k in sorted(found.items()):
        assert k[0] == ("G" if n.startswith(hooks) else "W"), "%s is %s" % (n, k)
    assert len(found) > 200, len(found)


@test
def the_library_shows_intact_names_and_all_that_its_headers_declare(tmp):
    found = symbols(os.path.join(BUILD, "libintact.a"))
    assert found and all(re.match(r"intact_", n) for n in found), sorted(found)
    text = "".join(open(os.path.join(SOURCE, "include", "intact", h)).read() for h in ("history.h", "intact.h", "txn.h"))
    declared = set(re.findall(r"\b(intact_\w+)\(", re.sub(r"/\*.*?\*/", "", text, flags=re.S)))
    assert declared == set(found), declared ^ set(found)


@test
def a_program_may_define_every_internal_name_of_the_runtime(tmp):
    names = runtime_internal()
    for n in ("lock_init", "stack_push", "clock_copy", "me", "rt", "message_begin"):
        assert n in names, n
    names = [n for n in names if n not in names_of(LOST)]
    for cc in ("gcc", "clang"):
        for what, form in DEFINE.items():
            mine = "\n".join(form % (n, n) for n in names)
            build_and_run(tmp, cc, LOST + mine, lines=["deposit is not atomic"])
    build_and_run(tmp, "gcc", LOST + "\n".join(DEFINE["function"] % (n, n) for n in names), "-flto",
                  lines=["deposit is not atomic"])


@test
def a_program_may_define_every_internal_name_of_the_library(tmp):
    names = internal(os.path.join(BUILD, "libintact_all.a"))
    assert len(names) > 500 and "lock_init" in names, len(names)
    use = '''#include <intact/history.h>
int main(void)
{
	struct intact_history *h = intact_history_new(INTACT_COUNTER, 0);
	struct intact_recorder *r = intact_history_recorder(h);
	intact_invoke(r, INTACT_ADD, 0);
	intact_return(r, 0);
	int bad = intact_history_check(h) != INTACT_HOLDS;
	intact_history_free(h);
	return bad;
}
'''
    with open(os.path.join(BUILD, "libintact.a"), "rb") as f:
        flags = "-fsanitize=address,undefined" if b"__asan_init" in f.read() else ""
    for cc, suffix in (("gcc", "c"), ("clang", "c"), ("g++", "cc"), ("clang++", "cc")):
        src, exe = os.path.join(tmp, "u." + suffix), os.path.join(tmp, "u")
        # C++ has further keywords; its own names are mangled but for these
        mine = "\n".join("int %s(void) { return 7; }" % n for n in names
                         if n not in names_of(use) and n not in ("and", "or", "not", "xor"))
        if suffix == "cc":
            mine = 'extern "C" {\n' + mine + "\n}\n"
        with open(src, "w") as f:
            f.write(use + mine)
        r = sh("%s -O1 -w -fno-builtin %s -I%s/include %s %s/libintact.a -lpthread -o %s" % (cc, flags, SOURCE, src, BUILD, exe))
        assert r.returncode == 0, "%s: %s" % (cc, r.stderr[-2000:])
        r = sh([exe])
        assert r.returncode == 0, "%s: %d %s" % (cc, r.returncode, r.stderr)


@test
def a_program_may_define_any_interposed_name(tmp):
    """All of them at once: it links, and the definitions are the program's."""
    names = [n for n, k in symbols(os.path.join(RUNTIME, "libintact_rt.a")).items() if k == "WT"]
    assert "pthread_mutex_lock" in names and "read" in names and len(names) > 100, len(names)
    mine = "\n".join("int %s() { return 7; }" % n for n in names)
    for cc in ("gcc", "clang"):
        build_and_run(tmp, cc, mine + "\nint main(void) { return 0; }\n", want=None)


OWN = {
    "functions of the same names that do something else": ('''
int read(int a) { return a + 1; }
int send(int a) { return a + 2; }
int accept(int a) { return a + 3; }
int signal(int a) { return a + 4; }
int dup(int a) { return a + 5; }
int syscall(int a) { return a + 6; }
int sched_yield(int a) { return a + 7; }
int open(int a) { return a + 8; }
__attribute__((constructor)) static void begin(void)
{
	if (read(0) + send(0) + accept(0) + signal(0) + dup(0) + syscall(0) + sched_yield(0) + open(0) != 36)
		__builtin_trap();
}
''', "", 66, ["deposit is not atomic", "defines"]),
    "memory functions of its own, instrumented": ('''
#include <stddef.h>
static int used;
void *memcpy(void *d, const void *s, size_t n) { char *a = d; const char *b = s; used++; while (n--) *a++ = *b++; return d; }
void *memmove(void *d, const void *s, size_t n) { char *a = d; const char *b = s; used++;
	if (a < b) while (n--) *a++ = *b++; else while (n--) a[n] = b[n]; return d; }
void *memset(void *d, int c, size_t n) { char *a = d; used++; while (n--) *a++ = c; return d; }
size_t strlen(const char *s) { size_t n = 0; used++; while (s[n]) n++; return n; }
char *strchr(const char *s, int c) { used++; for (; *s != c; s++) if (!*s) return 0; return (char *)s; }
__attribute__((destructor)) static void end(void)
{
	char a[100], b[100];
	used = 0;
	memcpy(a, memset(b, 1, 100), 100);
	if (used != 2)
		__builtin_trap();
}
''', "", 66, ["deposit is not atomic"]),
    "an allocator of its own": ('''
#include <stddef.h>
static char pool[1 << 24];
static size_t at;
static int frees;
void *malloc(size_t n) { size_t *p = (size_t *)(pool + __atomic_fetch_add(&at, (n + 31) & ~(size_t)15, __ATOMIC_RELAXED)); *p = n; return p + 2; }
void free(void *p) { frees++; }
void *calloc(size_t n, size_t m) { return malloc(n * m); }
void *realloc(void *p, size_t n) { char *q = malloc(n), *o = p;
	for (size_t i = 0; o && i < n && i < ((size_t *)p)[-2]; i++) q[i] = o[i]; return q; }
__attribute__((destructor)) static void end(void)
{
	int before = frees;
	char *p = malloc(10);
	free(p);
	if (p < pool || p >= pool + sizeof pool || frees == before)
		__builtin_trap();
}
''', "", 66, ["deposit is not atomic", "defines free and realloc itself"]),
}


@test
def what_a_program_defines_is_what_it_calls(tmp):
    for name, (mine, flags, want, lines) in OWN.items():
        for cc in ("gcc", "clang"):
            try:
                # in a file of its own: the headers of the other declare the same names
                with open(os.path.join(tmp, "own.c"), "w") as f:
                    f.write(mine)
                build_and_run(tmp, cc, LOST, "-fno-stack-protector %s %s/own.c" % (flags, tmp), want, lines)
            except AssertionError as e:
                raise AssertionError("%s: %s" % (name, e))


@test
def a_lock_function_of_its_own_is_told_of(tmp):
    """Calls that go past us are not seen: the run says which, text and document."""
    mine = '''
#include <dlfcn.h>
#include <pthread.h>
int pthread_mutex_lock(pthread_mutex_t *m) { return ((int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, "pthread_mutex_lock"))(m); }
int pthread_mutex_unlock(pthread_mutex_t *m) { return ((int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, "pthread_mutex_unlock"))(m); }
'''
    import json
    for cc in ("gcc", "clang"):
        with open(os.path.join(tmp, "own.c"), "w") as f:
            f.write("#define _GNU_SOURCE\n" + mine)
        build_and_run(tmp, cc, LOST, "%s/own.c" % tmp, None)
        r = sh([INTACT, "run", "--json=-", os.path.join(tmp, "p")])
        assert "p defines pthread_mutex_lock and pthread_mutex_unlock itself" in r.stderr, r.stderr
        doc = json.loads(r.stdout)
        assert doc["processes"][0]["own"] == ["pthread_mutex_lock", "pthread_mutex_unlock"], doc["processes"]
        r = sh([INTACT, "run", os.path.join(tmp, "p")])
        assert r.returncode in (0, 66), r.stderr


def main():
    bad = n = 0
    for t in TESTS:
        if ONLY and t.__name__ not in ONLY:
            continue
        n += 1
        with tempfile.TemporaryDirectory(prefix="intact-names-") as tmp:
            try:
                t(tmp)
                print("ok %d - %s" % (n, t.__name__), flush=True)
            except (AssertionError, subprocess.TimeoutExpired) as e:
                bad += 1
                print("not ok %d - %s" % (n, t.__name__))
                print("\n".join("# " + l for l in str(e)[-3000:].split("\n")), flush=True)
    print("1..%d" % n)
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
