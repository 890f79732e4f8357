#!/usr/bin/env python3
"""make bench-trace: events per second of CPU, memory, and how they grow.

Traces are made by bench/trace_make (eight threads, 64 locks, 6,400 variables,
two-phase locking). RAPID's AeroDrome is measured beside us when
INTACT_RAPID holds its Java class path. INTACT_BENCH_EVENTS sets the size
(default 10,000,000); INTACT_BENCH_BIG=0 leaves out the largest growth step.
"""
import os
import subprocess
import sys
import tempfile

build = sys.argv[1] if len(sys.argv) > 1 else "build"
intact = os.path.join(build, "src/cli/intact")
make = os.path.join(build, "bench/trace_make")
events = int(os.environ.get("INTACT_BENCH_EVENTS", "10000000"))
rapid = os.environ.get("INTACT_RAPID")
big = os.environ.get("INTACT_BENCH_BIG", "1") != "0"


def measure(cmd, env=None):
    """Exit code, CPU seconds, peak memory in MB, all output."""
    p = subprocess.run([os.path.join(build, "bench/measure")] + cmd, env=env,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    text, _, last = p.stdout.decode(errors="replace").rstrip("\n").rpartition("\n")
    cpu, kb, rc = last.split()
    return int(rc), float(cpu), int(kb) / 1024, text


def row(what, n, cpu, mb, note=""):
    print(f"  {what:<34}{n / cpu / 1e6:9.2f} M/s{cpu:9.2f} s{mb:9.1f} MB  {note}", flush=True)


def judge(path, n, what, algorithm):
    rc, cpu, mb, text = measure([intact, "trace", "-q", "-a", algorithm, path])
    if rc != 0:
        sys.exit(f"bench-trace: {path}: exit code {rc}\n{text}")
    row(what, n, cpu, mb)
    return n / cpu, mb


def java(path, n, ours):
    env = dict(os.environ, JAVA_TOOL_OPTIONS="")
    rc, cpu, mb, text = measure(["timeout", "900", "java", "-cp", rapid, "Aerodrome", "-f", "std", "-p", path], env=env)
    done = "No atomicity violation detected" in text
    if not done:
        last = text.strip().splitlines()[-1:] or ["no output"]
        print(f"  {'RAPID AeroDrome':<34}did not finish: {last[0][:60]}")
        return
    row("RAPID AeroDrome", n, cpu, mb, f"ours is {ours / (n / cpu):.1f} times as fast")


with tempfile.TemporaryDirectory(prefix="intact-bench-") as tmp:
    slowest, largest = None, 0.0
    for kind in ("short", "early", "long"):
        print(f"== {kind}: {events:,} events")
        std, itr = os.path.join(tmp, kind + ".std"), os.path.join(tmp, kind + ".itr")
        for path in (std, itr):
            subprocess.run([make, kind, str(events), path], check=True)
        size = os.path.getsize(itr) / events
        for algorithm in ("clock", "graph"):
            for path, what in ((std, "STD text"), (itr, f"own format ({size:.1f} bytes/event)")):
                speed, mb = judge(path, events, f"{algorithm}, {what}", algorithm)
                if algorithm == "clock":
                    slowest = min(slowest or speed, speed)
                    largest = max(largest, mb)
                    if path == std:
                        ours = speed
        if rapid:
            java(std, events, ours)
        os.unlink(std)
        os.unlink(itr)
    if not rapid:
        print("  (INTACT_RAPID is not set: RAPID is left out)")

    print("== growth: short, own format, clock: nanoseconds of CPU an event")
    for n in (1000000, 10000000, 100000000):
        if n > 10000000 and not big:
            print("  (INTACT_BENCH_BIG=0: 100,000,000 events left out)")
            continue
        path = os.path.join(tmp, "grow.itr")
        subprocess.run([make, "short", str(n), path], check=True)
        rc, cpu, mb, _ = measure([intact, "trace", "-q", path])
        print(f"  {n:>12,} events {cpu / n * 1e9:8.1f} ns{mb:9.1f} MB", flush=True)
        os.unlink(path)

    n = min(events, 1000000)
    print(f"== a block that stays open while {n:,} events of others come after it")
    path = os.path.join(tmp, "open.itr")
    subprocess.run([make, "open", str(n), path], check=True)
    judge(path, n, "clock", "clock")
    rc, cpu, mb, text = measure(["timeout", "60", intact, "trace", "-q", "-a", "graph", path])
    if rc == 0:
        row("graph", n, cpu, mb)
    else:
        print(f"  {'graph':<34}not done after {cpu:.0f} s, {mb:.0f} MB")

    print("== many threads: short, clock")
    for threads in (8, 64, 256):
        path = os.path.join(tmp, "many.itr")
        subprocess.run([make, "short", str(n), path, "1", str(threads)], check=True)
        judge(path, n, f"{threads} threads", "clock")

    print(f"slowest of clock: {slowest / 1e6:.2f} million events per second; most memory {largest:.1f} MB")
