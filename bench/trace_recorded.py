#!/usr/bin/env python3
"""make bench-trace: recordings of programs judged again: events per second of
CPU and peak memory of `intact trace`, of `--predict` where blocks are marked,
and beside them of `intact trace stats`, which looks at every variable.

    trace_recorded.py BUILD

The kernels of bench/run are built and recorded here. Programs are measured when
BENCH_PROGRAMS names a folder with PROGRAM.intact and PROGRAM.cmd, the arguments
(see run.py); PROGRAM.atomic holds patterns of functions to mark, one a line.
"""
import os
import re
import subprocess
import sys
import tempfile

build = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build")
intact = os.path.join(build, "src/cli/intact")
HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "run")
KERNELS = (("pipeline", ["4", "40", "200000"], ()), ("pipeline", ["4", "40", "200000"], ("put", "take", "add")),
           ("lock_heavy", ["4", "400000"], ()), ("lock_heavy", ["4", "100000"], ("transfer",)),
           ("read_mostly", ["4", "80000"], ()), ("alloc_heavy", ["4", "300"], ()))


def measure(cmd):
    p = subprocess.run([os.path.join(build, "bench/measure")] + cmd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    text, _, last = p.stdout.decode(errors="replace").rstrip("\n").rpartition("\n")
    cpu, kb, rc = last.split()
    return int(rc), float(cpu), int(kb) / 1024, text


def row(what, n, cpu, mb):
    print(f"  {what:<34}{n / cpu / 1e6:9.2f} M/s{cpu:9.2f} s{mb:9.1f} MB", flush=True)


def judge(name, cmd, marks, cwd, tmp):
    path = os.path.join(tmp, "r.itr")
    env = dict(os.environ, INTACT_OPTIONS="exitcode=0:log_path=/dev/null")
    p = subprocess.run([intact, "run", "--record", path, *["--atomic=" + m for m in marks], "--", *cmd],
                       env=env, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if not os.path.exists(path):
        sys.exit(f"bench-trace: {name}: nothing recorded: {p.stderr.decode(errors='replace')[-300:]}")
    rc, cpu, mb, text = measure([intact, "trace", "stats", path])
    m = re.search(r"events +(\d+)", text)
    if rc or not m:
        sys.exit(f"bench-trace: {name}: {text[-300:]}")
    n, vars_ = int(m.group(1)), re.search(r"variables +(.*)", text).group(1)
    print(f"== {name}{', blocks ' + ' '.join(marks) if marks else ''}: {n:,} events, {os.path.getsize(path) / n:.2f} bytes"
          f" each, {vars_}")
    stats = (cpu, mb)
    for what, extra in (("trace", []), ("trace --predict", ["--predict"])):
        if extra and not marks:
            continue
        rc, cpu, mb, text = measure([intact, "trace", "-q", *extra, path])
        if rc > 1:
            sys.exit(f"bench-trace: {name}: exit code {rc}\n{text}")
        row(what, n, cpu, mb)
    row("trace stats", n, *stats)
    os.unlink(path)


with tempfile.TemporaryDirectory(prefix="intact-bench-") as tmp:
    for name, args, marks in KERNELS:
        exe = os.path.join(tmp, name)
        env = dict(os.environ)
        env.setdefault("INTACT_CC", "clang")
        if not os.path.exists(exe):
            subprocess.run([intact, "cc", "-O2", "-g", "-pthread", os.path.join(HERE, name + ".c"), "-o", exe],
                           check=True, env=env)
        judge(" ".join([name] + args), [exe, *args], marks, tmp, tmp)
    folder = os.environ.get("BENCH_PROGRAMS")
    for f in sorted(os.listdir(folder)) if folder else []:
        if not f.endswith(".intact"):
            continue
        name = os.path.join(os.path.abspath(folder), f[:-len(".intact")])
        cmd = [name + ".intact", *open(name + ".cmd").read().split()]
        judge(os.path.basename(name), cmd, (), folder, tmp)
        if os.path.exists(name + ".atomic"):
            judge(os.path.basename(name), cmd, open(name + ".atomic").read().split(), folder, tmp)
    if not folder:
        print("(BENCH_PROGRAMS is not set: no real programs)")
