#!/usr/bin/env python3
"""make bench-explore-programs: schedules a second of `intact explore`, CPU time, in one
process restored in place and with a process for each schedule, side by side in one
run. The cost of starting is taken off: two lengths are measured.

    explore_programs.py INTACT [--relacy DIR] [--quick]

The program is W threads that each make K atomic increments; a schedule has about
W * (K + 2) + W points. With --relacy (a checkout of dvyukov/relacy) the same in
Relacy, its random scheduler, beside it.
"""
import os
import resource
import subprocess
import sys
import tempfile

PROGRAM = """#include <pthread.h>
#include <stdatomic.h>
atomic_int x;
static void *f(void *a) { for (int i = 0; i < K; i++) atomic_fetch_add(&x, 1); return a; }
int main(void)
{
	pthread_t t[W];
	for (int i = 0; i < W; i++) pthread_create(&t[i], 0, f, 0);
	for (int i = 0; i < W; i++) pthread_join(t[i], 0);
	return 0;
}
"""
RELACY = """#include <relacy/relacy.hpp>
#include <cstdlib>
struct test : rl::test_suite<test, W> {
	rl::atomic<int> x;
	void before() { x($).store(0, rl::mo_relaxed); }
	void thread(unsigned) { for (int i = 0; i < K; i++) x($).fetch_add(1, rl::mo_seq_cst); }
};
int main(int, char **v)
{
	rl::test_params p;
	p.iteration_count = atoi(v[1]);
	p.search_type = rl::random_scheduler_type;
	rl::simulate<test>(p);
}
"""
CASES = (("2 threads", 2, 15), ("2 threads", 2, 450), ("4 threads", 4, 200), ("100 threads", 100, 20))


def cpu(cmd):
    a = resource.getrusage(resource.RUSAGE_CHILDREN)
    r = subprocess.run(cmd, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    b = resource.getrusage(resource.RUSAGE_CHILDREN)
    if r.returncode not in (0, 1):
        sys.exit("explore_programs.py: %s: %s" % (" ".join(cmd), r.stderr[-300:]))
    return b.ru_utime + b.ru_stime - a.ru_utime - a.ru_stime


def rate(command, n):
    low = max(n // 20, 1)
    few, many = cpu(command(low)), cpu(command(n))
    return (n - low) / max(many - few, 1e-6)


def main():
    args = sys.argv[2:]
    intact, quick = os.path.abspath(sys.argv[1]), "--quick" in args
    relacy = args[args.index("--relacy") + 1] if "--relacy" in args else None
    print("%-12s %7s %9s %12s %9s %12s %7s %12s %7s" % ("program", "points", "strategy", "schedules/s", "ns/point", "with fork/s",
                                                     "ratio", "Relacy/s", "ratio"))
    with tempfile.TemporaryDirectory(prefix="intact-bench-") as tmp:
        src, exe = os.path.join(tmp, "p.c"), os.path.join(tmp, "p")
        open(src, "w").write(PROGRAM)
        for name, w, k in CASES:
            subprocess.run([intact, "cc", "-O2", "-DW=%d" % w, "-DK=%d" % k, src, "-o", exe, "-pthread"], check=True)
            points = w * (k + 3) + w + 1
            n = max(2000000 // points // (10 if quick else 1), 100)
            forked = rate(lambda m: [intact, "explore", "--fork", "--strategy", "random", "-n", str(m), exe], max(n // 50, 40))
            other = None
            if relacy and w < 10:
                rsrc, rexe = os.path.join(tmp, "r.cc"), os.path.join(tmp, "r")
                open(rsrc, "w").write(RELACY)
                r = subprocess.run(["g++", "-O2", "-w", "-fpermissive", "-I" + relacy, "-I" + os.path.join(relacy, "include"), "-DW=%d" % w,
                                    "-DK=%d" % k, rsrc, "-o", rexe], capture_output=True, text=True)
                if r.returncode:
                    print("# Relacy does not compile: " + r.stderr[:200])
                else:
                    other = rate(lambda m: [rexe, str(m)], n)
            for strategy in ("random", "mix"):
                fast = rate(lambda m: [intact, "explore", "--strategy", strategy, "-n", str(m), exe], n)
                print("%-12s %7d %9s %12.0f %9.1f %12.0f %7.1f %12s %7s" % (
                    name, points, strategy, fast, 1e9 / fast / points, forked, fast / forked,
                    "%.0f" % other if other else "-", "%.2f" % (fast / other) if other else "-"), flush=True)


main()
