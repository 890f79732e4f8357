#!/usr/bin/env python3
"""check --engine=cover|unfold|causal and export --net as a user meets them: the
verdicts that the examples promise (@expect ... causal=), text, JSON, options."""
import json
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tap  # noqa: E402

intact, examples = sys.argv[1], sys.argv[2]


def run(*args, stdin=None):
    return tap.run([intact, *args], stdin=stdin, env={"LC_ALL": "C"})


def ok(good, name, detail=""):
    tap.check(name, good, detail)


def model(name):
    return os.path.join(examples, name)


def expectations(path):
    out = {}
    for line in open(path, encoding="utf-8"):
        m = re.search(r"@expect (\S+): .*\bcausal=(yes|no)", line)
        if m:
            out[m.group(1)] = m.group(2) == "yes"
    return out


for name in sorted(os.listdir(examples)):
    if not name.endswith((".atm", ".sml")):
        continue
    want = expectations(model(name))
    if not want:
        continue
    for engine in ("cover", "unfold"):
        rc, out, err = run("check", "-q", "--engine=" + engine, "--json=-", model(name))
        got = {r["block"]: r["verdict"] == "holds" for r in json.loads(out)["results"] if r["block"]}
        ok({b: got.get(b) for b in want} == want, f"{name}: {engine} says what the example promises",
               f"expected {want}, got {got}\n{err}")

# any number of threads
rc, out, err = run("check", "--engine=cover", "--threads", "worker=any", model("acquire1-causal.atm"))
ok(rc == 0 and "cover: any number of worker" in out, "a proof for any number of threads", out + err)
rc, out, err = run("check", "--engine=cover", "--threads", "worker=any", model("nacquire1.atm"))
ok(rc == 1 and "1 worker, 1 meddler are enough to violate it, and no fewer" in out,
       "the least number of threads that breaks it", out + err)
ok("The data allow it" in out and "--threads worker=1 --schedule" in out, "with a schedule for sim", out)
command = re.search(r"replay: intact (sim .*)", out).group(1).split()
rc, sim, err = run(*command)
ok(rc == 0, "which sim takes", sim + err)
rc, out, err = run("check", "--engine=unfold", "--threads", "worker=any", model("nacquire1.atm"))
ok(rc == 3 and "unfold requires fixed numbers" in out, "unfold does not answer for any number", out + err)

# Figure 1
rc, out, err = run("check", "--engine=causal", model("fig1.sml"))
ok(rc == 1 and out.count("causally atomic") == 2 and "NOT CAUSALLY SERIALIZABLE" in out,
       "Figure 1: every block atomic, the program not serializable", out + err)

# options
rc, out, err = run("check", "--engine=cover", "--abstract", "m", model("acquire1-causal.atm"))
ok(rc == 1, "with the lock's value forgotten the block is no longer atomic", out + err)
rc, out, err = run("check", "--engine=cover", "--track", "data", model("acquire1-causal.atm"))
ok(rc == 2 and "4294967296 values" in err and "hint:" in err, "--track of a wide type is refused", out + err)
rc, out, err = run("check", "--engine=cover", "--track", "nobody", model("acquire1-causal.atm"))
ok(rc == 2 and "no variable 'nobody'" in err, "--track of no variable", out + err)
rc, out, err = run("check", "--engine=cover", "--block", "nobody", model("acquire1-causal.atm"))
ok(rc == 2 and "no block 'nobody'" in err, "--block of no block", out + err)
rc, out, err = run("check", "--engine=cover", "--max-states=3", model("acquire1-causal.atm"))
ok(rc == 3 and "the limit on states was reached" in out, "a limit that is reached is unknown", out + err)
rc, out, err = run("check", "--engine=unfold", "--max-states=3", model("acquire1-causal.atm"))
ok(rc == 3 and "the limit on events was reached" in out, "and of events", out + err)
rc, out, err = run("check", "--engine=unfold", "--stats", "--block", "update", model("acquire1-table.atm"))
ok(rc == 0 and "34 events, 16 of them cut-offs" in out, "--stats counts events", out + err)
rc, a, err = run("check", "--engine=causal", "--json=-", model("bluetooth-bug.atm"))
rc, b, err = run("check", "--engine=causal", "--json=-", model("bluetooth-bug.atm"))
ok(a == b and json.loads(a)["verdict"] == "violated", "JSON is the same every time", a)
r = json.loads(a)["results"][0]["causal"]
ok(r["abstract"] and r["chain"] and all(k["from"] < k["to"] for k in r["chain"]), "and has the chain", a)

with tempfile.TemporaryDirectory() as d:
    saved, page, sarif = (os.path.join(d, f) for f in ("r.json", "r.html", "r.sarif"))
    run("check", "-q", "--engine=cover", "--json", saved, "--html", page, "--sarif", sarif, model("fig1.sml"))
    rc, out, err = run("verify", saved)
    ok(rc == 0 and "accepted: program: causality" in out and "3 accepted" in out, "verify accepts the cycle, and that the blocks are atomic", out + err)
    ok("not causally serializable" in open(sarif).read(), "SARIF says what it is")
    ok(os.path.getsize(page) > 1000, "a page")
    doc = json.load(open(saved))
    bad = [r for r in doc["results"] if r["verdict"] == "violated"][0]
    bad["block"], bad["line"] = doc["results"][0]["block"], doc["results"][0]["line"]
    json.dump(doc, open(saved, "w"))
    rc, out, err = run("verify", saved)
    ok(rc == 1 and "no causal chain leaves the block" in out + err, "and not the same run for a block", out + err)
    run("check", "-q", "--engine=cover", "--json", saved, model("nacquire1.atm"))
    rc, out, err = run("verify", saved)
    ok(rc == 0 and "accepted" in out, "verify accepts a broken block", out + err)

# nets
for fmt in ("pep", "pnml"):
    rc, net, err = run("export", "--net=" + fmt, "--block", "update", "--threads", "worker=4", model("acquire1-table.atm"))
    rc2, out, err2 = run("net", "-", stdin=net)
    ok(rc == 0 and rc2 == 0 and "34 events" in out, f"export --net={fmt} is read by net", out + err + err2)
rc, net, err = run("export", "--net=dot", model("fig5a.sml"))
ok(rc == 0 and net.startswith("digraph"), "export --net=dot", net[:200] + err)
for name in sorted(os.listdir(examples)):
    if name.endswith((".atm", ".sml")):
        rc, net, err = run("export", "-q", "--net=pep", model(name))
        rc2, out, err2 = run("net", "--max-events=20000", "--prefix", "-", stdin=net)
        ok(rc == 0 and rc2 in (0, 3) and "not 1-safe" not in out + err2, f"{name}: its net is 1-safe", out + err + err2)
rc, out, err = run("export", model("fig5a.sml"))
ok(rc == 2 and "--net=pnml|pep|dot" in err, "export asks for a format", err)
rc, out, err = run("export", "--net=pep", "--threads", "worker=any", model("acquire1-table.atm"))
ok(rc == 2, "a net needs a number of threads", err)
tap.done()
