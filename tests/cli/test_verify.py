#!/usr/bin/env python3
"""`intact verify`: accepts the counterexamples of every example, rejects
corrupted ones.

    test_verify.py PATH-OF-INTACT EXAMPLES [CORRUPTIONS]

What --json says is what the text says, for every claim, and meets the schema.
TAP on stdout; prints its seed."""
import copy
import json
import random
import re
import sys
import tempfile
from pathlib import Path

from schema import validate
from tap import check, done, run

intact, examples = sys.argv[1], Path(sys.argv[2])
wanted = int(sys.argv[3]) if len(sys.argv) > 3 else 150
seed = 20
rng = random.Random(seed)
print(f"# seed {seed}")
tmp = tempfile.TemporaryDirectory()
results = []
weak = []
schema = json.loads((examples.resolve().parent / "share" / "report.schema.json").read_text())


def document(args, text, rc, stdin=None, twice=False):
    """verify --json with the same words: what is wrong with it, or None. `text`: what it says without; `twice`: is it the same again?"""
    jrc, out, err = run([intact, "verify", "--json=-", *args], stdin=stdin)
    if twice and run([intact, "verify", "--json=-", *args], stdin=stdin)[1] != out:
        return "other bytes the second time"
    doc = json.loads(out)
    bad = validate(schema, doc)
    if bad:
        return str(bad[:4])
    if jrc != rc or {"holds": 0, "violated": 1, "unknown": 3}[doc["verdict"]] != rc or doc["kind"] != "verify":
        return f"exit {jrc} and {rc}: {doc['verdict']}"
    lines = []
    for c in doc["results"]:
        word = c.get("claim", "unchecked") if c["answer"] == "unchecked" else c["answer"]
        lines.append(f"{word}: {c['name']}" + (f", link {c['link']}" if "link" in c else "") +
                     (f": {c['why']}" if "why" in c else "") + (f" {c['schedule']}" if "schedule" in c else ""))
    count = {a: sum(c["answer"] == a for c in doc["results"]) for a in ("accepted", "rejected", "unknown", "unchecked")}
    if any(doc[a] != n for a, n in count.items()):
        return f"counts {count}"
    if doc["of"] == "check":
        lines.append(f"{count['accepted']} accepted, {count['rejected']} rejected, {count['unknown']} unknown, "
                     f"{count['unchecked']} without a witness")
    elif doc["of"] == "trace":
        n = sum(c["name"].startswith("finding ") and "run" not in c["name"] for c in doc["results"])
        good = sum(c["name"].startswith("finding ") and c["answer"] == "accepted" for c in doc["results"])
        lines = [x for x in lines if x.startswith("rejected: finding")] + [f"{good} of {n} cycle{'' if n == 1 else 's'} accepted"] + \
                [x for x in lines if x.startswith(("accepted: trace", "rejected: trace", "unknown: trace"))] + \
                [x for x in lines if x.startswith("rejected: result")]
    return None if "\n".join(lines) + "\n" == text else "\n".join(lines) + "\n--- the text:\n" + text

for path in sorted([*examples.rglob("*.atm"), *examples.rglob("*.sml")]):
    out = Path(tmp.name) / "result.json"
    rc, text, err = run([intact, "check", "--json", out, path])
    again = run([intact, "check", "--json", "-", path])[1]
    data = json.loads(out.read_text())
    vrc, vtext, verr = run([intact, "verify", "--max-states=60000", out, path])
    violated = [r for r in data["results"] if r["verdict"] == "violated"]
    holds = [r for r in data["results"] if r["verdict"] == "holds"]
    whole = (data["verdict"] == "holds") + (data.get("quiescence") == "always")  # no fault; a way out of the blocks
    ok = (rc in (0, 1, 3) and vrc == 0 and again == out.read_text()
          and vtext.count("accepted:") == len(violated) + len(holds) + whole and bool(violated) == (rc == 1))
    check(f"{path.relative_to(examples)}: its result is accepted, and the same every time", ok, text + vtext + verr)
    bad = document(["--max-states=60000", out, path], vtext, vrc, twice=len(vtext) % 4 == 0)
    check(f"{path.relative_to(examples)}: the document says the same as the text", bad is None, str(bad))
    if violated:
        results.append(data)
        # under every switch: what is found replays in verify and in sim
        for off in ("symmetry", "local", "pure", "transactions", "dead", "all"):
            data = json.loads(run([intact, "check", "--json=-", f"--no-reduce={off}", path])[1])
            bad = [r for r in data["results"] if r["verdict"] == "violated"]
            vrc, vtext, verr = run([intact, "verify", "--max-states=20000", "-"], stdin=json.dumps(data))
            srcs = [run([intact, "sim", "-q", path, *(f"--threads={k}={n}" for k, n in data["model"]["threads"].items()),
                         "--schedule", r["counterexample"]["schedule"]]) for r in bad if "counterexample" in r]
            check(f"{path.relative_to(examples)}, without {off}: accepted, and sim replays it",
                  vrc in (0, 3) and "rejected:" not in vtext and all(s[0] in (0, 1) for s in srcs) and bad and all(
                      f"accepted: {r['block'] or r.get('object', 'program')}: {r['problem']}" in vtext for r in bad),
                  vtext + verr + "".join(s[2] for s in srcs))
    if any("object" in r for r in data["results"]):
        for condition in ("regular", "safe"):
            data = json.loads(run([intact, "check", "--json=-", f"--condition={condition}", path])[1])
            rc, text, err = run([intact, "verify", "-"], stdin=json.dumps(data))
            check(f"{path.relative_to(examples)}: {condition} or not, it is accepted",
                  rc == 0 and (f"accepted: {data['results'][0]['object']}: " + ("history" if data["verdict"] == "violated" else f"every history is {condition}"))
                  in text, text + err)
            weak.append(data)
check("there are objects that are regular, and some that are not", {d["verdict"] for d in weak} == {"holds", "violated"}, str(len(weak)))


def paths(node, prefix=()):
    """Every place of a JSON tree that holds a value."""
    if isinstance(node, dict):
        for k, v in node.items():
            yield from paths(v, prefix + (k,))
    elif isinstance(node, list):
        for i, v in enumerate(node):
            yield from paths(v, prefix + (i,))
    else:
        yield prefix


def corrupt(data):
    """A copy that is wrong in one place of a counterexample or of the model; says where."""
    data = copy.deepcopy(data)
    i = rng.choice([i for i, r in enumerate(data["results"]) if r["verdict"] == "violated"])
    r = data["results"][i]
    kind = rng.randrange(8)
    if kind == 0:  # one step more or less, or another thread
        steps = r["counterexample"]["schedule"].split(",")
        how, k = rng.randrange(3), rng.randrange(len(steps))
        if how == 0:
            del steps[k]
        elif how == 1:
            steps.insert(k, steps[k])
        else:
            steps[k] = str(int(steps[k].split(".")[0]) + 1)
        r["counterexample"]["schedule"] = ",".join(steps)
        return data, "schedule"
    if kind == 1:
        data["model"]["text"] += " "
        return data, "model text"
    if kind == 2:
        k = rng.randrange(len(data["model"]["text"]))
        data["model"]["text"] = data["model"]["text"][:k] + data["model"]["text"][k + 1:]
        return data, "model text"
    if kind == 3:
        true = {r["problem"]} | ({"deadlock"} if r["problem"] == "quiescence" else set())  # a deadlock is one way to it
        r["problem"] = rng.choice([p for p in ("none", "deadlock", "fault", "stuck", "endless", "quiescence", "nonsense")
                                   if p not in true])
        return data, "problem"
    if kind == 4:
        data["verdict"] = "holds"
        return data, "verdict"
    if kind == 5:
        r["block"] = "no.such"
        return data, "block"
    place = rng.choice(list(paths(r["counterexample"])))
    node = r["counterexample"]
    for k in place[:-1]:
        node = node[k]
    old = node[place[-1]]
    node[place[-1]] = (not old if isinstance(old, bool) else old + 1 if isinstance(old, int)
                       else "x" if old is None else old + "x")
    return data, "counterexample " + "/".join(map(str, place))


accepted = []
for n in range(wanted):
    data, where = corrupt(rng.choice(results))
    rc, out, err = run([intact, "verify", "-"], stdin=json.dumps(data))
    if rc not in (1, 2):
        accepted.append(f"{where}: exit {rc}: {out}{err}")
    if n % 10 == 0 and rc == 1:
        bad = document(["-"], out, rc, stdin=json.dumps(data))
        if bad:
            accepted.append(f"{where}: the document: {bad}")
check(f"{wanted} corrupted results are all rejected", not accepted, "\n".join(accepted[:5]))

# what is not atomic is not accepted as atomic, whatever the result says
called = 0
for data in results + weak:
    data = copy.deepcopy(data)
    wrong = [r for r in data["results"] if r["verdict"] == "violated" and r["problem"] in ("atomicity", "history")]
    for r in data["results"]:
        if r["verdict"] == "violated":
            r.update(verdict="holds", problem="none")
            r.pop("counterexample", None)
    data["verdict"] = "holds"
    rc, out, err = run([intact, "verify", "-"], stdin=json.dumps(data))
    if wrong:
        called += 1
        check(f"{data['model']['name']}: called atomic, it is rejected with a run",
              rc == 1 and re.search(r"^rejected: .*: (no (serial order|order of its operations) explains the run|a read returns what it may not in the run) [0-9.,]+$", out, re.M), out + err)
        bad = document(["-"], out, rc, stdin=json.dumps(data))
        check(f"{data['model']['name']}: and so says the document", bad is None, str(bad))
check("there are such results", called > 10, str(called))
rc, out, err = run([intact, "verify", "--max-states=20", "-"], stdin=run([intact, "check", "--json=-", examples / "acquire2.atm"])[1])
check("a spent limit is unknown and named", rc == 3 and "limit on states spent after 21 states" in out, out + err)

# traces and histories
for kind, args in (("trace", ["--each", "--limit=0"]), ("history", ["-w"])):
    for path in sorted((examples / {"trace": "traces", "history": "history"}[kind]).iterdir()):
        if path.suffix == ".c":
            continue
        out = Path(tmp.name) / "result.json"
        out.unlink(missing_ok=True)
        run([intact, kind, *args, "--json", out, path])
        if not out.exists():
            continue
        rc, text, err = run([intact, "verify", out, path])
        bad = document([out, path], text, rc, twice=True)
        check(f"{path.relative_to(examples)}: accepted, and the document says the same", rc in (0, 3) and bad is None, f"exit {rc} {err}{bad}")
        data = json.loads(out.read_text())
        if kind == "trace" and data["results"][0]["findings"]:
            again = run([intact, "trace", "verify", "--json=-", out, path])[1]
            check(f"{path.relative_to(examples)}: trace verify writes the same document",
                  again == run([intact, "verify", "--json=-", out, path])[1], again[:300])
            data["results"][0]["findings"][-1]["cycle"][0]["from"]["event"] += 1
            rc, text, err = run([intact, "verify", "-", path], stdin=json.dumps(data))
            bad = document(["-", path], text, rc, stdin=json.dumps(data))
            check(f"{path.relative_to(examples)}: a spoilt cycle is rejected, and the document says the same", rc == 1 and bad is None, str(bad))
        if kind == "history":
            hrc, text, err = run([intact, "history", f"--verify={out}", "--json=-", path])
            doc = json.loads(text)
            check(f"{path.relative_to(examples)}: history --verify writes one too", hrc == rc and not validate(schema, doc) and
                  doc["kind"] == "verify" and doc["accepted"] == (rc == 0) and doc["subject"] == str(path), text)

# what goes wrong, or has no way out, is not accepted when the result says nothing of it
wrong = Path(tmp.name) / "wrong.atm"
wrong.write_text("int x;\nthread a {\n  atomic one {\n    x = 1;\n    x = 0;\n  }\n}\nthread b {\n  atomic two {\n    assert(x == 0);\n  }\n}\n")
for name, model, problem, told in (("a fault", wrong, "fault", "rejected: faults: the run goes wrong "),
                                   ("a deadlock", examples / "bank-transfer-deadlock.atm", "quiescence",
                                    "rejected: way out: the threads can never all leave their blocks again after the run ")):
    data = json.loads(run([intact, "check", "--json=-", model])[1])
    found = [r for r in data["results"] if r["problem"] == problem]
    data["results"] = [r for r in data["results"] if r["verdict"] == "holds"]
    data.update(verdict="holds", quiescence="always")
    rc, out, err = run([intact, "verify", "-"], stdin=json.dumps(data))
    schedule = out.partition(told)[2].split("\n")[0]
    again = run([intact, "sim", "-q", model, "--schedule", schedule])
    check(f"{name} that is left out of the result is found, with a run that sim replays", found and rc == 1 and schedule and again[0] in (0, 1), out + err + again[2])
    bad = document(["-"], out, rc, stdin=json.dumps(data))
    check(f"{name} that is left out: the document says the same", bad is None, str(bad))

# a run that is no violation is not accepted as one
fixed = examples / "lost-update-fixed.atm"
serial = json.loads(run([intact, "sim", "--json=-", fixed, "--schedule", ",".join("1" * 6 + "2" * 6)])[1])
data = json.loads(run([intact, "check", "--json", "-", fixed])[1])
data["verdict"] = "violated"
r = data["results"][-1]
r.update(verdict="violated", problem="atomicity",
         counterexample={k: serial[k] for k in ("threads", "schedule", "steps", "state")})
rc, out, err = run([intact, "verify", "-"], stdin=json.dumps(data))
check("a serial run is refused as a counterexample", rc == 1 and "a serial order explains" in out, out + err)
rc, out, err = run([intact, "verify", "-"], stdin="{ not json")
check("what is not JSON has its place", rc == 2 and ":1:" in err, err)
rc, out, err = run([intact, "verify", "-"], stdin="[" * 100000)
check("deep nesting is refused", rc == 2, err[:200])
rc, out, err = run([intact, "verify", "-"], stdin="{}")
check("a result without a model is refused", rc == 2 and "no model" in err, err)
for kind, args in (("sim", ["sim", fixed]), ("net", ["net", examples / "nets" / "acquire1-4.ll_net"])):
    rc, out, err = run([intact, "verify", "-"], stdin=run([intact, *args, "--json=-"])[1])
    check(f"a result of {kind} is refused by its name", rc == 2 and f"'{kind}'" in err, err)
one = Path(tmp.name) / "one.json"
one.write_text(run([intact, "check", "--json=-", fixed])[1])
verified = run([intact, "verify", "--json=-", one])[1]
rc, out, err = run([intact, "verify", "-"], stdin=verified)
check("and one of verify", rc == 2 and "'verify'" in err, err)
before = one.read_text()
rc, out, err = run([intact, "verify", "--json", one, one])
check("the report does not replace the result", rc == 2 and "would replace" in err and one.read_text() == before, err)
rc, out, err = run([intact, "verify", "--json", one])
check("--json in front of the result alone is explained", rc == 2 and "--json took" in err and one.read_text() == before, err)
rc, out, err = run([intact, "verify", "no-such-file.json"])
check("a missing file is named", rc == 2 and "no-such-file.json" in err, err)
done()
