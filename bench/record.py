#!/usr/bin/env python3
"""make bench-record: what recording costs beside watching, in one run: CPU
(user + system, `intact` itself included) of `intact run` and of `intact run
--record`, the least of the runs; the same of the clock; bytes of the file for an event; and how fast
the recording is judged again.

    record.py INTACT [--runs N] [--quick]      --quick: it is not judged again

Our own kernels are built here. Programs are measured when BENCH_PROGRAMS names
a folder with PROGRAM.intact and PROGRAM.cmd, the arguments (see run.py).
"""
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "run")
# Runs of seconds: the names at the end cost a tenth of one, whatever the program does.
KERNELS = (("lock_heavy", ["4", "1200000"]), ("read_mostly", ["4", "400000"]), ("alloc_heavy", ["4", "2400"]))


def cost(cmd, cwd):
    env = dict(os.environ, INTACT_OPTIONS="exitcode=0:log_path=/dev/null")
    with tempfile.NamedTemporaryFile("r") as out:
        r = subprocess.run(["/usr/bin/time", "-o", out.name, "-f", "%U %S %M %e", *cmd], env=env, cwd=cwd,
                           capture_output=True, text=True, errors="replace")
        user, system, peak, wall = out.read().split()[-4:]
    return float(user) + float(system), int(peak) // 1024, r.stderr, float(wall)


def measure(intact, name, cmd, cwd, runs, tmp, quick):
    path = os.path.join(tmp, name + ".itr")
    # Alternating, so that what else the machine does falls on both.
    watch, rec = [], []
    for _ in range(runs):
        watch.append(cost([intact, "run", *cmd], cwd))
        rec.append(cost([intact, "run", "--record", path, *cmd], cwd))
    m = re.search(r"recorded (\d+) events", rec[-1][2])
    if not m:
        print("%-14s nothing recorded: %s" % (name, rec[-1][2][-200:]))
        return
    events, size = int(m.group(1)), os.path.getsize(path)
    a, b = min(w[0] for w in watch), min(r[0] for r in rec)
    wall = min(r[3] for r in rec) / min(w[3] for w in watch)
    print("%-14s watched %7.2f s %5d MB   recorded %7.2f s %5d MB   %.2f times (wall %.2f)   %10d events  %5.2f bytes each"
          % (name, a, watch[-1][1], b, rec[-1][1], b / a, wall, events, size / events), end="", flush=True)
    if not quick:
        again = cost([intact, "trace", "-q", path], cwd)
        print("   judged again in %.2f s, %d MB" % again[:2], end="")
    print(flush=True)
    os.unlink(path)


def main():
    intact = os.path.abspath(sys.argv[1])
    quick = "--quick" in sys.argv
    runs = int(sys.argv[sys.argv.index("--runs") + 1]) if "--runs" in sys.argv else 3
    with tempfile.TemporaryDirectory(prefix="intact-bench-") as tmp:
        for name, args in KERNELS:
            exe = os.path.join(tmp, name)
            env = dict(os.environ)
            env.setdefault("INTACT_CC", "clang")
            subprocess.run([intact, "cc", "-O2", "-g", "-pthread", os.path.join(HERE, name + ".c"), "-o", exe],
                           check=True, env=env)
            measure(intact, name, [exe, *args], tmp, runs, tmp, quick)
        folder = os.environ.get("BENCH_PROGRAMS")
        if not folder:
            print("(BENCH_PROGRAMS is not set: no real programs)")
            return
        for f in sorted(os.listdir(folder)):
            if f.endswith(".intact"):
                name = f[:-len(".intact")]
                args = open(os.path.join(folder, name + ".cmd")).read().split()
                measure(intact, name, [os.path.join(os.path.abspath(folder), f), *args], folder, runs, tmp, quick)


if __name__ == "__main__":
    main()
