#!/usr/bin/env python3
"""`intact run --perturb`: delays where findings are predicted. The programs of this folder take another way only when a thread
comes into a gap, and it comes only when it sees that the thread in the gap sleeps (gap.h), which nothing but a delay makes it do.

    run.py INTACT [NAME...]
"""
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
INTACT = os.path.abspath(sys.argv[1])
OTHER, SAME = "the other way: 1\n", "the other way: 0\n"
# the function, and its pattern
WANT = {"retry": ("add", "lost update"), "write": ("add", "lost update"), "check": ("take", "check-then-act"), "torn": ("report", "torn read")}


def build(name, cc, tmp):
    exe = os.path.join(tmp, "%s-%s" % (name, cc))
    r = subprocess.run([INTACT, "cc", "-g", "-O1", "-Wall", "-Wextra", os.path.join(HERE, name + ".c"), "-o", exe, "-pthread"],
                       env=dict(os.environ, INTACT_CC=cc), capture_output=True, text=True)
    assert r.returncode == 0, r.stderr[-600:]
    return exe


def alone(exe, options):
    """Without `intact run`: nothing is sent, so nothing but a delay sleeps."""
    return subprocess.run([exe], capture_output=True, text=True, timeout=60,
                          env=dict(os.environ, INTACT_OPTIONS="atexit_report=0:" + options))


def watched(exe, tmp, args, options):
    out = os.path.join(tmp, "run.json")
    r = subprocess.run([INTACT, "run", "--json=" + out] + args + [exe], capture_output=True, text=True, timeout=300,
                       env=dict(os.environ, INTACT_OPTIONS=options))
    return r, json.load(open(out))


def path(name, cc, tmp):
    """The other way is taken with delays, for every seed, and never without."""
    exe = build(name, cc, tmp)
    r = alone(exe, "")
    assert (r.returncode, r.stdout) == (0, SAME), "without delays: %d %s" % (r.returncode, r.stdout)
    for seed in (1, 2, 3):
        r = alone(exe, "perturb=%d:perturb_ms=1000:verbosity=1" % seed)
        assert (r.returncode, r.stdout) == (0, OTHER), "seed %d: %d %s%s" % (seed, r.returncode, r.stdout, r.stderr[-600:])
        assert "another thread came" in r.stderr, r.stderr


def reported(name, cc, tmp):
    """The finding is confirmed then, what others did in delays makes it no less, and the recording says the same."""
    exe = os.path.join(tmp, "%s-%s" % (name, cc))
    record = os.path.join(tmp, "r.itr")
    r, doc = watched(exe, tmp, ["--perturb", "--record=" + record], "perturb_ms=1000")
    assert r.returncode == 66 and r.stdout == OTHER, "%d %s%s" % (r.returncode, r.stdout, r.stderr[-800:])
    function, pattern = WANT[name]
    found = [x for x in doc["results"] if x["block"] == function]
    assert found and found[0]["pattern"] == pattern, [(x["block"], x["pattern"]) for x in doc["results"]] + doc["not_shown"]
    assert found[0]["confirmed"], "not confirmed"
    p = doc["processes"][0]
    assert 0 < p["others_came"] <= p["delays"], p
    text = re.search(r"^intact: perturbed: (\d+) delays?, another thread came in during (\d+)$", r.stderr, re.M)
    assert text and [int(x) for x in text.groups()] == [p["delays"], p["others_came"]], r.stderr[-400:]
    again = os.path.join(tmp, "t.json")
    subprocess.run([INTACT, "trace", "--json=" + again, record], capture_output=True, text=True, timeout=300)
    trace = json.load(open(again))["results"][0]["run"]
    key = lambda d: sorted((x["block"], x["pattern"], x["confirmed"]) for x in d["results"])
    assert key(trace) == key(doc), "the recording: %s" % key(trace)


def visits(text):
    return re.findall(r"perturb: place (\w+), visit (\d+)", text)


def chosen(cc, tmp):
    """The same seed delays the same visits, another one others; half of them, 32 times at a place; 0 is no seed."""
    exe = build("alone", cc, tmp)
    one = alone(exe, "perturb=7:perturb_ms=1:verbosity=1")
    assert one.returncode == 0 and "another thread came" not in one.stderr, one.stderr[-400:]
    places = {p for p, _ in visits(one.stderr)}
    assert places, "no delay"
    for p in places:
        at = [int(v) for q, v in visits(one.stderr) if q == p]
        assert len(at) == 32 and len(set(at)) == 32 and at == sorted(at), at
        assert 40 < at[-1] < 120, "32 delays in %d visits" % at[-1]
    again = alone(exe, "perturb=7:perturb_ms=1:verbosity=1")
    assert sorted(visits(again.stderr)) == sorted(visits(one.stderr)), "the same seed, other visits"
    other = alone(exe, "perturb=8:perturb_ms=1:verbosity=1")
    assert sorted(visits(other.stderr)) != sorted(visits(one.stderr)), "another seed, the same visits"
    none = alone(exe, "perturb=0:verbosity=1")
    assert not visits(none.stderr)
    r, doc = watched(exe, tmp, ["--perturb=7"], "perturb_ms=1")
    assert doc["processes"][0]["delays"] == len(visits(one.stderr)) and doc["processes"][0]["others_came"] == 0, doc["processes"]


def nothing(cc, tmp):
    """Nothing is predicted, or not asked for: it is said that there was no delay, or nothing."""
    exe = build("alone", cc, tmp)
    r, doc = watched(exe, tmp, [], "")
    assert "perturbed" not in r.stderr and "delays" not in doc["processes"][0], r.stderr[-300:]
    source = os.path.join(tmp, "quiet.c")
    with open(source, "w") as f:
        f.write("int main(void) { return 3; }\n")
    subprocess.run([INTACT, "cc", "-g", source, "-o", source[:-2]], check=True)
    r = subprocess.run([INTACT, "run", "--perturb", source[:-2]], capture_output=True, text=True)
    assert r.returncode == 3 and r.stderr == \
        "intact: perturbed: no delay: no thread came again to where a finding had been predicted\n", r.stderr


def wrong():
    for args, said in ((["--perturb=x"], "--perturb: expected a whole number, found 'x'"), (["--perturb=0"], "--perturb: 0 is out of range (1 to 1000000000)")):
        r = subprocess.run([INTACT, "run"] + args + ["true"], capture_output=True, text=True)
        assert r.returncode == 2 and said in r.stderr, "%s: %d %s" % (args, r.returncode, r.stderr)


def main():
    names = [a for a in sys.argv[2:] if not a.startswith("--")]
    with tempfile.TemporaryDirectory(prefix="intact-perturb-") as tmp:
        cases = []
        for cc in ("gcc", "clang"):
            for name in WANT:
                cases.append(("%s %s: the path is taken with delays only" % (name, cc), lambda n=name, c=cc: path(n, c, tmp)))
                cases.append(("%s %s: the report and the recording" % (name, cc), lambda n=name, c=cc: reported(n, c, tmp)))
        cases.append(("which visits are delayed", lambda: chosen("gcc", tmp)))
        cases.append(("no delay", lambda: nothing("gcc", tmp)))
        cases.append(("wrong values", wrong))
        cases = [c for c in cases if not names or any(n in c[0] for n in names)]
        print("1..%d" % len(cases), flush=True)
        failed = 0
        for i, (what, run) in enumerate(cases, 1):
            try:
                run()
                bad = None
            except (AssertionError, OSError, KeyError, IndexError, ValueError, subprocess.SubprocessError) as e:
                bad = "%s: %s" % (type(e).__name__, e)
            failed += bad is not None
            print("%s %d - %s" % ("not ok" if bad else "ok", i, what), flush=True)
            if bad:
                print("# " + bad.replace("\n", "\n# "), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
