#!/usr/bin/env python3
"""The compiler wrapper on the command lines that builds use, and INTACT_OPTIONS
on the program it makes.

    test_cc.py INTACT [NAME...]       clang gets every third line and the steps, all of them with INTACT_SOAK
"""
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(HERE, "..", "programs")

# name, exit status, command, what standard error must contain. $I and $P are intact-cc and intact-c++; l.c is
# the lost update (66: found).
LINES = [
    ("plain", 66, "$I -O2 l.c -o l && ./l"),
    ("-o before the source", 66, "$I -o l -O2 l.c -lpthread && ./l"),
    ("two sources", 66, "$I -O2 l.c o.c -o l && ./l"),
    ("-c of two sources", 0, "$I -c l.c o.c && test -f l.o -a -f o.o"),
    ("-c, then link", 66, "$I -c l.c -o l.o && $I l.o -o l && ./l"),
    ("-x c from standard input", 66, "$I -O2 -o l -x c - < l.c && ./l"),
    ("-x c of another name", 66, "cp l.c l.foo; $I -O2 -x c l.foo -o l && ./l"),
    ("-xc", 66, "cp l.c l.foo; $I -O2 -xc l.foo -o l && ./l"),
    ("-x none after it", 66, "cp l.c l.foo; $I -c o.c && $I -O2 -x c l.foo -x none o.o -o l && ./l"),
    ("-E", 0, "$I -E l.c | grep -q deposit"),
    ("-E -dM -", 0, "$I -E -dM - </dev/null | grep -q __INTACT__"),
    ("-S", 0, "$I -S -O2 l.c -o l.s && grep -q tsan l.s"),
    ("-M", 0, "$I -M l.c | grep -q l.c"),
    ("-MMD", 0, "$I -MMD -MF l.d -c l.c -o l.o && grep -q l.c l.d"),
    ("-fsyntax-only", 0, "$I -fsyntax-only l.c"),
    ("@file", 66, "echo '-O2 l.c -o \"l at\"' >args; $I @args && './l at'"),
    ("@file in a @file", 66, "echo '-O2 l.c -o l' >args; echo @args >more; $I @more && ./l"),
    ("an archive", 66, "$I -c l.c -o l.o && rm -f l.a && ar rcs l.a l.o && $I -o l l.a && ./l"),
    ("a library by -l alone", 66, "$I -c l.c -o l.o && rm -f libl.a && ar rcs libl.a l.o && "
     "$I -o l -L. -Wl,--whole-archive -ll -Wl,--no-whole-archive && ./l"),
    ("-shared -z defs", 0, "$I -shared -fPIC -Wl,-z,defs l.c -o l.so"),
    ("-shared, linked", 66, "sed 's/^int main/int lib_main/' l.c >d.c; echo 'int lib_main(void); int main(void)"
     "{ return lib_main(); }' >m.c; $I -O2 -shared -fPIC d.c -o libd.so && $I m.c -o l -L. -ld -Wl,-rpath,. && ./l"),
    ("-r", 0, "$I -c l.c && $I -r l.o -o r.o"),
    ("a precompiled header", 0, "$I -O2 h.h -o h.h.gch && test -f h.h.gch"),
    ("-flto", 66, "$I -O2 -flto l.c -o l && ./l"),
    ("-flto, linked apart", 66, "$I -O2 -flto -c l.c && $I -O2 -flto l.o -o l && ./l"),
    ("-save-temps", 66, "mkdir -p t; cd t; $I -O2 -save-temps ../l.c -o l && ./l"),
    ("--gc-sections", 66, "$I -O2 -ffunction-sections -Wl,--gc-sections l.c -o l && ./l"),
    ("-no-pie", 66, "$I -O2 -fno-pie -no-pie l.c -o l && ./l"),
    ("--coverage", 66, "$I -O2 --coverage l.c -o l && ./l"),
    ("-fsanitize=undefined", 66, "$I -O2 -fsanitize=undefined l.c -o l && ./l"),
    ("-fsanitize=thread is ours", 66, "$I -O2 -fsanitize=thread l.c -o l && ./l"),
    ("-fsanitize=thread, linked apart", 66, "$I -fsanitize=thread -c l.c && $I -fsanitize=thread l.o -o l && ./l"),
    ("-fsanitize=thread in a @file", 66, "echo -fsanitize=thread >a; $I l.c @a -o l && ./l"),
    ("-fno-sanitize=thread", 0, "$I -fno-sanitize=thread l.c -o l && ./l"),
    ("-fsanitize=address", 2, "$I -O2 -fsanitize=address l.c -o l", "-fsanitize=address and intact"),
    ("-fsanitize=undefined,leak", 2, "$I -O2 -fsanitize=undefined,leak -c l.c", "-fsanitize=leak and intact"),
    ("-fno-sanitize=all takes it back", 0, "$I -fsanitize=address -fno-sanitize=all l.c -o l && ./l"),
    ("-m32", 2, "$I -m32 -c l.c", "only 64-bit"),
    ("-static", 2, "$I -static l.c -o l", "link without -static"),
    ("-static -c", 0, "$I -static -c l.c"),
    ("-s", 66, "$I -O2 -s l.c -o l && ./l", "shown by file and offset"),
    ("an error in the source", 1, "echo 'int x = ;' >bad.c; $I -c bad.c", "bad.c:1"),
    ("no input", 1, "$I"),
    ("--version", 0, "$I --version"),
    ("-dumpmachine", 0, "$I -dumpmachine"),
    ("assembler beside C", 66, "echo '.globl f; f: ret; .section .note.GNU-stack' >a.S; $I a.S l.c -o l && ./l"),
    ("words in INTACT_CC", 66, "INTACT_CC=\"env $INTACT_CC\" $I l.c -o l && ./l"),
    ("words in INTACT_CC, C++", 66, "INTACT_CC=\"env $INTACT_CC\" $P -std=c++17 l.cc -o l && ./l"),
    ("no such compiler", 127, "INTACT_CC=/nonexistent/gcc $I l.c -o l", "cannot run the compiler '/nonexistent/gcc'"),
    ("TMPDIR left as it was", 66, "mkdir -p td; TMPDIR=$PWD/td $I l.c -o l && test -z \"$(ls td)\" && ./l"),
    ("C++", 66, "$P -std=c++17 -O2 l.cc -o l && ./l"),
    ("C++ -static-libstdc++", 66, "$P -std=c++17 -O2 -static-libstdc++ -static-libgcc l.cc -o l && ./l"),
    ("cmake", 66, "mkdir -p cm && cp l.c l.cc cm && cd cm && printf 'cmake_minimum_required(VERSION 3.5)\\nproject(x C CXX)\\n"
     "add_library(s SHARED l.c)\\nadd_executable(l l.c)\\nadd_executable(k l.cc)\\n' >CMakeLists.txt && "
     "cmake -DCMAKE_C_COMPILER=$I -DCMAKE_CXX_COMPILER=$P -DCMAKE_CXX_STANDARD=17 . >/dev/null && make >/dev/null && { ./k; ./l; }"),
    ("ccache", 66, "export CCACHE_DIR=$PWD/cache; for i in 1 2; do rm -f l.o; ccache $I -O2 -c l.c -o l.o || exit 1; done; "
     "ccache -s >&2; $I l.o -o l && ./l"),
    # What clang does in two steps when it optimises (src/cc/units.h) must look like one.
    ("steps: -MD names itself", 0, "mkdir -p s; cp l.c s; $I -O2 -MD -c s/l.c -o s/k.o && grep -q '^s/k.o: *s/l.c' s/k.d"),
    ("steps: -MMD without -o", 0, "mkdir -p s; cp l.c s; $I -O2 -MMD -c s/l.c && grep -q '^l.o: *s/l.c' l.d && test -f l.o"),
    ("steps: -MD -MT -MF", 0, "$I -O2 -MD -MT x/y.o -MFz.d -MP -c l.c -o k.o && grep -q '^x/y.o: *l.c' z.d && test ! -e k.d"),
    ("steps: two sources, -c", 0, "$I -O2 -c l.c o.c && test -f l.o -a -f o.o"),
    ("steps: a source and an object", 66, "$I -O2 -c o.c && $I -O2 l.c o.o -o l && ./l"),
    ("steps: an error, once", 1, "echo 'int f(void) { return nowhere; }' >e.c; $I -O2 -c e.c 2>e; s=$?; cat e >&2; "
     "test $(grep -c 'error:' e) = 1 && test ! -e e.o && exit $s", "e.c:1:22: error:"),
    ("steps: a warning, once", 0, "echo 'int f(void) { int unused; return 1; }' >e.c; $I -O2 -Wall -c e.c 2>e; s=$?; cat e >&2; "
     "test $(grep -c 'warning:' e) = 1 && exit $s", "e.c:1:19: warning:"),
    ("steps: -Werror", 1, "echo 'int f(void) { int unused; return 1; }' >e.c; $I -O2 -Wall -Werror -c e.c", "unused-variable"),
    ("steps: -include -std -D -U", 66, "echo '#define EXTRA 1' >x.h; $I -O2 -std=gnu11 -include x.h -DA='\"b c\"' -UB -Wall "
     "-fno-strict-aliasing -fPIC -march=x86-64 -c l.c -o l.o && $I -O2 l.o -o l && ./l"),
    ("steps: -Wa, -Xassembler and -Wp,", 0, "$I -O2 -Werror -Wa,--noexecstack -Xassembler --noexecstack -Wp,-DTWO=2 -Wp,-UB "
     "-c l.c -o l.o && readelf -SW l.o | grep -q 'note.GNU-stack.* 0 *0 *1$'"),
    ("steps: -Wp,-MD", 0, "$I -O2 -Wp,-MD,q.d -c l.c -o l.o && grep -q '^l.o: *l.c' q.d"),
    ("steps: the same object", 0, "$I -O2 -c l.c -o a.o && INTACT_CC_HOOKS=all $I -O2 -c l.c -o b.o && "
     "nm a.o | grep -q cyg_profile && for x in a b; do objdump -d $x.o | tail -n +4 >$x.txt; done; cmp a.txt b.txt"),
    ("steps: hooks of small functions go", 0, "printf 'static int get(int *p) { return *p; }\\nint two(int *p) { return get(p) + get(p + 1); }\\n' >s.c; "
     "$I -O2 -c s.c -o a.o && INTACT_CC_HOOKS=all $I -O2 -c s.c -o b.o && n() { objdump -dr $1 | grep -c cyg_profile_func_enter; }; "
     "echo $(n a.o) $(n b.o) >&2; case $INTACT_CC in clang) test $(n a.o) -lt $(n b.o);; *) test $(n a.o) = $(n b.o);; esac"),
    ("steps: hooks of nobody knows what", 2, "INTACT_CC_HOOKS=al $I -O2 -c l.c", "INTACT_CC_HOOKS takes 'all', not 'al'"),
    ("steps: --atomic of a function without", 0, "printf 'static int get(volatile int *p) { return *p; }\\nint x; int main(void) "
     "{ return get(&x); }\\n' >s.c; $I -O2 s.c -o s && $T run --atomic get ./s 2>e; s=$?; cat e >&2; case $INTACT_CC in "
     "clang) grep -q 'inlined ones without hooks' e;; *) ! grep -q warning e;; esac && exit $s"),
    ("steps: TMPDIR left as it was", 66, "mkdir -p td; TMPDIR=$PWD/td $I -O2 l.c o.c -o l && test -z \"$(ls td)\" && ./l"),
    ("steps: TMPDIR, after an error", 1, "mkdir -p td; echo 'int x = ;' >e.c; TMPDIR=$PWD/td $I -O2 o.c e.c -o l; s=$?; test -z \"$(ls td)\" && exit $s"),
    ("steps: a shared object", 0, "$I -O2 -shared -fPIC o.c -o o.so && nm -D o.so | grep -q 'T other'"),
    ("steps: C++", 66, "$P -std=c++17 -O2 -fno-rtti -c l.cc -o l.o && $P -O2 l.o -o l && ./l"),
    ("steps: a path with blanks", 66, "mkdir 'a b'; cp l.c 'a b/l l.c'; $I -O2 'a b/l l.c' -o 'a b/l' && 'a b/l'"),
]
# On the plain program.
OPTIONS = [
    ("help", 66, "INTACT_OPTIONS=help=1 ./l", "suppressions"),
    ("a key nobody knows", 66, "INTACT_OPTIONS=zzzzzz=1 ./l", "unknown option 'zzzzzz'\nIntact: INTACT_OPTIONS=help=1"),
    ("a key that is nearly right", 66, "INTACT_OPTIONS=supressions=x ./l", "did you mean 'suppressions'?"),
    ("a number that is none", 66, "INTACT_OPTIONS=exitcode=abc ./l", "exitcode takes a number, not 'abc'"),
    ("under intact run too", 66, "INTACT_OPTIONS=halt_on_eror=1 $T run ./l", "did you mean 'halt_on_error'?"),
    ("two suppression files", 0, "echo block:nothing >s1; echo block:deposit >s2; INTACT_OPTIONS=suppressions=s1,s2 ./l",
     "1 block:deposit\nIntact: s1:1: warning: suppression block:nothing matched nothing"),
    ("two suppression files, run", 0, "echo block:nothing >s1; echo 'atomicity:depos?t' >s2; "
     "$T run --suppressions s1 --suppressions s2 ./l", "1 atomicity:depos?t"),
    ("a suppression of no kind", 66, "echo leak:deposit >s1; INTACT_OPTIONS=suppressions=s1 ./l", "s1:1:1: error"),
    ("a suppression file that is not there", 2, "$T run --suppressions none ./l", "cannot read the suppression file 'none'"),
    ("what --gen-suppressions prints suppresses", 0, "$T run --gen-suppressions ./l 2>&1 | sed -n "
     "'s/^ *Suppression: *//p' >s3; test -s s3 && $T run --suppressions s3 ./l"),
    ("strip_path_prefix", 66, "INTACT_OPTIONS=strip_path_prefix=$PWD/ ./l", "in deposit"),
    ("color=always", 66, "INTACT_OPTIONS=color=always ./l", "\033["),
    ("log_path of a run", 66, "rm -f lg.*; $T run --log-path lg ./l 2>err; s=$?; test ! -s err && grep -q SUMMARY lg.* && exit $s"),
]


def main():
    intact = os.path.abspath(sys.argv[1])
    names = sys.argv[2:]
    whole = bool(os.environ.get("INTACT_SOAK"))
    plan = []
    for cc in ("gcc", "clang"):
        for i, line in enumerate(LINES):
            if cc == "gcc" or whole or names or i % 3 == 0 or line[0].startswith("steps: "):
                plan.append((cc, line))
    plan += [("gcc", ("option: " + o[0],) + o[1:]) for o in OPTIONS]
    if names:
        plan = [p for p in plan if any(n in p[1][0] for n in names)]
    bad = 0
    print("1..%d" % len(plan))
    with tempfile.TemporaryDirectory(prefix="intact-cc-") as tmp:
        env = dict(os.environ, I=os.path.join(tmp, "intact-cc"), P=os.path.join(tmp, "intact-c++"), T=intact, NO_COLOR="1")
        env.pop("INTACT_OPTIONS", None)
        os.symlink(intact, env["I"])
        os.symlink(intact, env["P"])
        for n, (cc, line) in enumerate(plan, 1):
            name, want, command = line[:3]
            title = "%s %s" % (cc, name)
            tool = name if name in ("cmake", "ccache") else None
            if tool and not shutil.which(tool):
                print("ok %d - %s # SKIP %s is not installed" % (n, title, tool), flush=True)
                continue
            cwd = os.path.join(tmp, str(n))
            os.mkdir(cwd)
            for f in ("lost_update.c", "lost_update.cc"):
                shutil.copy(os.path.join(PROGRAMS, f), os.path.join(cwd, f.replace("lost_update", "l")))
            for f, text in (("o.c", "int other(void);\nint other(void) { return 1; }\n"), ("h.h", "extern int h;\n")):
                open(os.path.join(cwd, f), "w").write(text)
            env["INTACT_CC"] = cc
            if name.startswith("option: "):
                command = "$I -O2 l.c -o l && { " + command + "; }"
            r = subprocess.run(["bash", "-c", command], env=env, cwd=cwd, capture_output=True, text=True, errors="replace",
                               stdin=subprocess.DEVNULL, timeout=120)
            ok = r.returncode == want and (len(line) < 4 or line[3] in r.stderr)
            bad += not ok
            print("%s %d - %s" % ("ok" if ok else "not ok", n, title), flush=True)
            if not ok:
                print("# exit status %d, expected %d\n%s" % (r.returncode, want, "\n".join(
                    "# " + l for l in (r.stdout + r.stderr)[-1500:].split("\n"))), flush=True)
            shutil.rmtree(cwd, ignore_errors=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
