#!/usr/bin/env python3
"""Random small objects: the verdict of `intact explore --exhaustive` is that of brute force (every schedule, every
linearization; random_brute.c), and a violation is confirmed by an executed schedule.

    random.py INTACT [FIRST COUNT]     the seeds; each is an object and a scenario
"""
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def explore(intact, exe, seed, scenario, more=("--exhaustive",)):
    env = dict(os.environ, OBJECT_SEED=seed)
    r = subprocess.run([intact, "explore", *more, "--no-minimise", "--scenario", scenario, "--json=-", exe],
                       capture_output=True, text=True, env=env, timeout=300)
    return {0: "holds", 1: "violated"}.get(r.returncode, "exit status %d: %s" % (r.returncode, r.stderr[-200:])), r.stdout


def one(intact, exe, line):
    seed, verdict, scenario = line.split(" ", 2)
    got, out = explore(intact, exe, seed, scenario)
    if got != verdict:
        return "seed %s, %s: brute force says %s, explore says %s" % (seed, scenario, verdict, got)
    doc = json.loads(out)
    if verdict == "violated" and doc["results"][0]["kind"] != "linearizability":
        return "seed %s: the failure is a %s" % (seed, doc["results"][0]["kind"])
    if verdict == "holds" and not doc["exhaustive"]:
        return "seed %s: not exhaustive" % seed
    got, _ = explore(intact, exe, seed, scenario, ("-n", "200"))
    if verdict == "holds" and got != "holds":
        return "seed %s: sampling says %s" % (seed, got)
    return None


def main():
    intact = os.path.abspath(sys.argv[1])
    first, count = (int(x) for x in sys.argv[2:4]) if len(sys.argv) > 3 else (1, 60)
    bad = []
    with tempfile.TemporaryDirectory(prefix="intact-objects-") as tmp:
        exe, brute = os.path.join(tmp, "object"), os.path.join(tmp, "brute")
        subprocess.run([intact, "cc", "-g", "-O1", os.path.join(HERE, "random_object.c"), "-o", exe, "-pthread"], check=True)
        subprocess.run(["cc", "-O2", os.path.join(HERE, "random_brute.c"), "-o", brute], check=True)
        lines = subprocess.run([brute, str(first), str(first + count - 1)], capture_output=True, text=True, check=True).stdout.splitlines()
        for line in lines:
            wrong = one(intact, exe, line)
            if wrong:
                bad.append(wrong)
                print("# " + wrong, flush=True)
        violated = sum(" violated " in x for x in lines)
    print("1..1")
    enough = len(lines) == count and 0 < violated < count
    print("%s 1 - %d random objects from seed %d, %d of them not linearizable" %
          ("ok" if not bad and enough else "not ok", len(lines), first, violated))
    return 1 if bad or not enough else 0


sys.exit(main())
