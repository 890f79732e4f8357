#!/usr/bin/env python3
"""make bench-explore-programs: schedules a second of `intact explore`, CPU time, in one
process restored in place and with a process for each schedule, side by side in one
run. The cost of starting is taken off: two lengths are measured, each the least of three.

    explore_programs.py INTACT [--relacy DIR] [--quick]

The program is W threads that each make K atomic increments; a schedule has
W * (K + 4) + 1 points. With --relacy (a checkout of dvyukov/relacy) the same in
Relacy, its random scheduler, beside it: that is the same algorithm as `random` without
coverage, but no threads are created and joined, and no memory is restored.

Then two processes (-j2) against one: schedules a CPU second, and by the clock, which means
something only when the machine has two idle processors.
"""
import os
import resource
import subprocess
import sys
import tempfile
import time

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
CASES = (("2 threads", 2, 14), ("2 threads", 2, 450), ("4 threads", 4, 200), ("100 threads", 100, 20))


def cpu(cmd):
    a = resource.getrusage(resource.RUSAGE_CHILDREN)
    r = subprocess.run(cmd, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    b = resource.getrusage(resource.RUSAGE_CHILDREN)
    if r.returncode not in (0, 1):
        sys.exit("explore_programs.py: %s: %s" % (" ".join(cmd), r.stderr[-300:]))
    return b.ru_utime + b.ru_stime - a.ru_utime - a.ru_stime


def rate(command, n):
    low = max(n // 20, 1)
    few, many = min(cpu(command(low)) for _ in range(3)), min(cpu(command(n)) for _ in range(3))
    return (n - low) / max(many - few, 1e-6)


def build_relacy(relacy, tmp, w, k):
    src, exe = os.path.join(tmp, "r.cc"), os.path.join(tmp, "r")
    open(src, "w").write(RELACY)
    r = subprocess.run(["g++", "-O2", "-w", "-fpermissive", "-I" + relacy, "-I" + os.path.join(relacy, "include"), "-DW=%d" % w,
                        "-DK=%d" % k, src, "-o", exe], capture_output=True, text=True)
    if r.returncode:
        print("# Relacy does not compile: " + r.stderr[:200])
        return None
    return exe


def two_processes(intact, exe, n):
    best = {}
    for jobs in ("1", "2"):
        for _ in range(3):
            begin = time.monotonic()
            used = cpu([intact, "explore", "-j", jobs, "-n", str(n), exe])
            wall = time.monotonic() - begin
            old = best.get(jobs, (used, wall))
            best[jobs] = (min(used, old[0]), min(wall, old[1]))
    print("-j2 against one: %.2f of the schedules a CPU second, %.2f times as many by the clock"
          % (best["1"][0] / best["2"][0], best["1"][1] / best["2"][1]))


def main():
    args = sys.argv[2:]
    intact, quick = os.path.abspath(sys.argv[1]), "--quick" in args
    relacy = args[args.index("--relacy") + 1] if "--relacy" in args else None
    print("%-12s %7s %20s %12s %9s %12s %7s %12s %7s" % ("program", "points", "strategy", "schedules/s", "ns/point", "with fork/s",
                                                      "ratio", "Relacy/s", "ratio"))
    with tempfile.TemporaryDirectory(prefix="intact-bench-") as tmp:
        src, exe = os.path.join(tmp, "p.c"), os.path.join(tmp, "p")
        open(src, "w").write(PROGRAM)
        for name, w, k in CASES:
            subprocess.run([intact, "cc", "-O2", "-DW=%d" % w, "-DK=%d" % k, src, "-o", exe, "-pthread"], check=True)
            points = w * (k + 4) + 1
            n = max(8000000 // points // (10 if quick else 1), 100)
            forked = rate(lambda m: [intact, "explore", "--fork", "--strategy", "random", "-n", str(m), exe], max(n // 200, 40))
            rexe = build_relacy(relacy, tmp, w, k) if relacy and w < 10 else None
            other = rate(lambda m: [rexe, str(m)], n) if rexe else None
            for strategy, more in (("random", ["--no-coverage"]), ("random", []), ("mix", ["--no-coverage"]), ("mix", [])):
                fast = rate(lambda m: [intact, "explore", "--strategy", strategy, *more, "-n", str(m), exe], n)
                print("%-12s %7d %20s %12.0f %9.1f %12.0f %7.1f %12s %7s" % (
                    name, points, strategy + (", no coverage" if more else ""), fast, 1e9 / fast / points, forked, fast / forked,
                    "%.0f" % other if other else "-", "%.2f" % (fast / other) if other else "-"), flush=True)
            if w == 2 and k > 100:
                two_processes(intact, exe, 2 * n)


main()
