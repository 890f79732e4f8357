#!/usr/bin/env python3
"""make bench-run: the cost of watching, side by side in one run: native code,
hooks with nothing behind them, intact, clang's and gcc's ThreadSanitizer,
Helgrind (a tenth of the work, times ten). CPU time (user + system) and peak
memory; the least of the runs.

    run.py INTACT [--runs N] [--quick] [NAME...]

Our own kernels are built here, and real programs when their sources can be had
(real_programs.py). NAMEs choose among lock_heavy, read_mostly, alloc_heavy,
pbzip2 and zstd.
"""
import os
import shutil
import subprocess
import sys
import tempfile

import real_programs

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "run")
COLUMNS = ("native", "no-op", "intact", "intact-gcc", "clang-tsan", "gcc-tsan", "helgrind")


def cost(cmd):
    env = dict(os.environ, TSAN_OPTIONS="report_bugs=0:exitcode=0", INTACT_OPTIONS="exitcode=0:atexit_report=0")
    # A small process starts it: the peak memory of whoever forks is inherited.
    with tempfile.NamedTemporaryFile("r") as out:
        r = subprocess.run(["/usr/bin/time", "-o", out.name, "-f", "%U %S %M", *cmd], stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, env=env)
        if r.returncode:
            return None
        user, system, peak = out.read().split()[-3:]
    return float(user) + float(system), int(peak)


def best(cmds, runs):
    """{column: command} in turn, so that what else the machine does falls on all of them."""
    got = {c: [] for c in cmds}
    for _ in range(runs):
        for c, cmd in cmds.items():
            got[c].append(cost(cmd))
    got = {c: [v for v in g if v] for c, g in got.items()}
    return {c: (min(v[0] for v in g), max(v[1] for v in g)) if g else None for c, g in got.items()}


def helgrind(exe, args, tmp):
    """A tenth of the work, times ten. Valgrind does not read the debugging information of every clang."""
    bare = os.path.join(tmp, "bare")
    subprocess.run(["objcopy", "--strip-debug", exe, bare], check=True)
    h = best({"helgrind": ["valgrind", "-q", "--tool=helgrind", bare, *args]}, 1)["helgrind"]
    return (h[0] * 10, h[1]) if h else None


def build(intact, name, tmp):
    src = os.path.join(HERE, name + ".c")
    noop = os.path.join(HERE, "noop.c")
    flags = ["-O2", "-g", "-pthread"]
    out = {c: os.path.join(tmp, name + "." + c) for c in COLUMNS}
    # The floor: our instrumentation, linked with the empty hooks.
    obj = os.path.join(tmp, "k.o")
    env = dict(os.environ, INTACT_CC="clang")
    subprocess.run([intact, "cc", *flags, "-c", src, "-o", obj], check=True, env=env)
    nobj = os.path.join(tmp, "noop.o")
    subprocess.run(["clang", "-O2", "-c", noop, "-o", nobj], check=True)
    subprocess.run(["clang", "-pthread", obj, nobj, "-o", out["no-op"]], check=True)
    subprocess.run(["clang", *flags, src, "-o", out["native"]], check=True)
    subprocess.run([intact, "cc", *flags, src, "-o", out["intact"]], check=True, env=env)
    env["INTACT_CC"] = "gcc"
    subprocess.run([intact, "cc", *flags, src, "-o", out["intact-gcc"]], check=True, env=env)
    for cc in ("clang", "gcc"):
        r = subprocess.run([cc, *flags, "-fsanitize=thread", src, "-o", out[cc + "-tsan"]], capture_output=True)
        if r.returncode:
            out.pop(cc + "-tsan")
    if not shutil.which("valgrind"):
        out.pop("helgrind")
    return out


def row(title, cells):
    base = cells.get("native")
    tsan = cells.get("clang-tsan")
    print("%-24s" % title, end="")
    for c in COLUMNS:
        v = cells.get(c)
        print(" %18s" % ("%.2fs %4.1fx %dM" % (v[0], v[0] / max(base[0], 1e-3), v[1] // 1024) if v else "-"), end="")
    if tsan and cells.get("intact"):
        print("   intact/tsan: cpu %.2f memory %.2f" % (cells["intact"][0] / tsan[0], cells["intact"][1] / tsan[1]), end="")
    print(flush=True)


def kernel(intact, name, work, tmp, runs, quick):
    exe = build(intact, name, tmp)
    cells = best({c: [path, "4", str(work)] for c, path in exe.items() if c != "helgrind"}, runs)
    if "helgrind" in exe and not quick:
        cells["helgrind"] = helgrind(exe["native"], ["4", str(work // 10)], tmp)
    row(name, cells)
    for n in (1, 2, 4, 8, 16):
        row("  %2d threads, same work" % n,
            best({c: [exe[c], str(n), str(work * 4 // n)] for c in ("native", "intact", "clang-tsan") if c in exe},
                 1 if quick else runs))


def real(intact, name, src, tmp, runs, quick):
    packages, _, arguments = real_programs.PROGRAMS[name]
    missing = [p for p in packages if p not in src]
    if missing:
        print("%s: skipped: no source of %s (BENCH_SOURCES, or apt-get source)" % (name, ", ".join(missing)))
        return
    noop = os.path.join(tmp, "noop.o")
    subprocess.run(["clang", "-O2", "-c", os.path.join(HERE, "noop.c"), "-o", noop], check=True)
    exe = real_programs.build(intact, name, src, tmp, noop)
    whole, tenth = os.path.join(tmp, "whole.dat"), os.path.join(tmp, "tenth.dat")
    size = (2 if quick else 10) << 20
    real_programs.input_file(whole, size)
    real_programs.input_file(tenth, size // 10)
    cells = best({c: [path] + arguments(4, whole) for c, path in exe.items()}, runs)
    if shutil.which("valgrind") and "native" in exe and not quick:
        cells["helgrind"] = helgrind(exe["native"], arguments(4, tenth), tmp)
    row(name, cells)
    for n in (1, 2, 4, 8, 16):
        row("  %2d threads, same work" % n,
            best({c: [exe[c]] + arguments(n, whole) for c in ("native", "intact", "clang-tsan") if c in exe},
                 1 if quick else runs))


def main():
    intact = os.path.abspath(sys.argv[1])
    runs = int(sys.argv[sys.argv.index("--runs") + 1]) if "--runs" in sys.argv else 3
    quick = "--quick" in sys.argv
    names = [a for i, a in enumerate(sys.argv[2:], 2) if not a.startswith("--") and sys.argv[i - 1] != "--runs"]

    def chosen(name):
        return not names or any(n in name for n in names)

    print("%-24s" % "CPU, x native, memory", end="")
    print("".join(" %18s" % c for c in COLUMNS))
    with tempfile.TemporaryDirectory(prefix="intact-bench-") as tmp:
        for name, work in (("lock_heavy", 400000), ("read_mostly", 40000), ("alloc_heavy", 400)):
            if chosen(name):
                kernel(intact, name, work, tmp, runs, quick)
        wanted = [name for name in real_programs.PROGRAMS if chosen(name)]
        src = real_programs.sources(tmp) if wanted else {}
        for name in wanted:
            real(intact, name, src, tmp, runs, quick)
    return 0


if __name__ == "__main__":
    sys.exit(main())
