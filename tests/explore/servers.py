#!/usr/bin/env python3
"""The processes that explore: one that dies is replaced, and none outlives `intact`.

    servers.py INTACT
"""
import os
import signal
import subprocess
import sys
import tempfile
import time

PROGRAM = """#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
atomic_int x;
static void *f(void *a) { for (int i = 0; i < 200; i++) atomic_fetch_add(&x, 1); return a; }
int main(int argc, char **argv)
{
	pthread_t t[2];
	if (argc > 1) { FILE *o = fopen(argv[1], "w"); fclose(o); } /* cannot be undone */
	for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, f, 0);
	for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
	return 0;
}
"""
count = 0
failed = False


def check(name, ok, what=""):
    global count, failed
    count += 1
    failed |= not ok
    if not ok:
        print("# " + str(what).replace("\n", "\n# "))
    print("%s %d - %s" % ("ok" if ok else "not ok", count, name), flush=True)


def running(exe):
    """Processes of this executable: parent by process"""
    found = {}
    for p in os.listdir("/proc"):
        try:
            if p.isdigit() and os.readlink("/proc/%s/exe" % p) == exe:
                stat = open("/proc/%s/stat" % p).read().rsplit(")", 1)[1].split()
                if stat[0] != "Z":
                    found[int(p)] = int(stat[1])
        except OSError:
            pass
    return found


def until(what, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        r = what()
        if r:
            return r
        time.sleep(0.02)
    return what()


def threads(pid):
    try:
        return len(os.listdir("/proc/%d/task" % pid))
    except OSError:
        return 0


def main():
    intact = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="intact-servers-") as tmp:
        src, exe = os.path.join(tmp, "p.c"), os.path.join(os.path.realpath(tmp), "p")
        open(src, "w").write(PROGRAM)
        subprocess.run([intact, "cc", src, "-o", exe, "-pthread"], check=True)

        p = subprocess.Popen([intact, "explore", "-j", "2", "-n", "40000", "--", exe], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        # one that has its pool of threads: it explores
        victim = until(lambda: [q for q, parent in running(exe).items() if parent == p.pid and threads(q) > 10])
        os.kill(victim[0], signal.SIGKILL)
        out, err = p.communicate(timeout=120)
        check("a process that dies is replaced, and that is said", p.returncode == 0 and "another takes its place" in err, out + err)
        check("all schedules are run", out.count("40000 schedules") == 1, out)

        for way, more in (([], []), (["--fork"], [])):
            p = subprocess.Popen([intact, "explore", "-j", "2", "-n", "100000000", *way, "--", exe, *more],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            there = until(lambda: running(exe))
            check("it explores " + " ".join(way), bool(there))
            p.kill()
            p.wait()
            check("nobody outlives intact " + " ".join(way), until(lambda: not running(exe)), running(exe))
            for q in running(exe):
                os.kill(q, signal.SIGKILL)
    print("1..%d" % count)
    return failed


sys.exit(main())
