#!/usr/bin/env python3
"""Random small objects: the verdict of `intact explore --exhaustive` is that of brute force (every schedule, every
explanation; random_brute.c), and a violation is confirmed by an executed schedule. Every object is judged for linearizability, two of
three for sequential or quiescent consistency, too; the calls of every fourth may wait forever.

    random_objects.py INTACT [FIRST COUNT]     the seeds; each is an object and a scenario
"""
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
FOUND = (2171,)  # had another verdict once
CONDITIONS = ("linearizable", "sequential", "quiescent")


def explore(intact, exe, seed, scenario, more=("--exhaustive",)):
    env = dict(os.environ, OBJECT_SEED=seed)
    r = subprocess.run([intact, "explore", *more, "--no-minimise", "--scenario", scenario, "--json=-", exe],
                       capture_output=True, text=True, env=env, timeout=300)
    return {0: "holds", 1: "violated"}.get(r.returncode, "exit status %d: %s" % (r.returncode, r.stderr[-200:])), r.stdout


def judged(intact, exe, seed, verdict, scenario):
    got, out = explore(intact, exe, seed, scenario)
    if got != verdict:
        return "brute force says %s, explore says %s" % (verdict, got)
    doc = json.loads(out)
    if verdict == "violated" and doc["results"][0]["kind"] != "linearizability":
        return "the failure is a %s" % doc["results"][0]["kind"]
    if verdict == "holds" and not doc["exhaustive"]:
        return "not exhaustive"
    return None


def one(intact, exes, line):
    """None, or what is wrong."""
    seed, letters, scenario = line.split(" ", 2)
    verdicts = [{"h": "holds", "v": "violated"}[x] for x in letters]
    for condition in (0, *([int(seed) % 3] if int(seed) % 3 else [])):
        wrong = judged(intact, exes[condition], seed, verdicts[condition], scenario)
        if wrong:
            return "seed %s, %s, %s: %s" % (seed, scenario, CONDITIONS[condition], wrong)
    got, _ = explore(intact, exes[0], seed, scenario, ("-n", "200"))
    if verdicts[0] == "holds" and got != "holds":
        return "seed %s: sampling says %s" % (seed, got)
    return None


def main():
    intact = os.path.abspath(sys.argv[1])
    first, count = (int(x) for x in sys.argv[2:4]) if len(sys.argv) > 3 else (1, 60)
    bad = []
    with tempfile.TemporaryDirectory(prefix="intact-objects-") as tmp:
        exes, brute = [os.path.join(tmp, c) for c in CONDITIONS], os.path.join(tmp, "brute")
        for exe, condition in zip(exes, CONDITIONS):
            subprocess.run([intact, "cc", "-g", "-O1", '-DCONDITION="%s"' % condition, os.path.join(HERE, "random_object.c"), "-o", exe,
                            "-pthread"], check=True)
        subprocess.run(["cc", "-O2", os.path.join(HERE, "random_brute.c"), "-o", brute], check=True)
        print("1..1", flush=True)
        lines = []
        for seed in FOUND:
            found = subprocess.run([brute, str(seed), str(seed)], capture_output=True, text=True, check=True).stdout.strip()
            wrong = one(intact, exes, found)
            if wrong:
                bad.append(wrong)
                print("# " + wrong, flush=True)
        with subprocess.Popen([brute, str(first), str(first + count - 1)], stdout=subprocess.PIPE, text=True) as p:
            for line in p.stdout:
                lines.append(line.rstrip("\n"))
                wrong = one(intact, exes, lines[-1])
                if wrong:
                    bad.append(wrong)
                    print("# " + wrong, flush=True)
    letters = [x.split(" ")[1] for x in lines]
    violated = [sum(x[c] == "v" for x in letters) for c in range(3)]
    enough = len(lines) == count and 0 < violated[0] < count
    print("%s 1 - %d random objects from seed %d: %d of them not linearizable, %d not sequentially consistent, %d not quiescently" %
          ("ok" if not bad and enough else "not ok", len(lines), first, *violated))
    return 1 if bad or not enough else 0


sys.exit(main())
