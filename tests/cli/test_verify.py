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
BY_HAND = ("acquire", "acquire1", "acquire1-causal", "acquire2", "acquire2-causal")
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
        lines.append(f"{c['answer']}: {c['name']}" + (f", link {c['link']}" if "link" in c else "") +
                     (f": {c['why']}" if "why" in c else "") + (f" {c['schedule']}" if "schedule" in c else ""))
    count = {a: sum(c["answer"] == a for c in doc["results"]) for a in ("accepted", "rejected", "unknown", "unchecked")}
    if any(doc[a] != n for a, n in count.items()):
        return f"counts {count}"
    if doc["of"] == "check":
        lines.append(f"{count['accepted']} accepted, {count['rejected']} rejected, {count['unknown']} unknown, "
                     f"{count['unchecked']} unchecked")
    elif doc["of"] == "trace":
        n = sum(c["name"].startswith("finding ") and "run" not in c["name"] for c in doc["results"])
        good = sum(c["name"].startswith("finding ") and c["answer"] == "accepted" for c in doc["results"])
        ends = (": trace", ": result", "unchecked: prediction", "unchecked: finding of", ": run")
        tail = [x for x in lines if any(x[x.index(":"):].startswith(e) or x.startswith(e) for e in ends)]
        lines = [x for x in lines if x not in tail and not x.startswith("accepted: finding")] + \
                [f"{good} of {n} cycle{'' if n == 1 else 's'} accepted"] + tail
    return None if "\n".join(lines) + "\n" == text else "\n".join(lines) + "\n--- the text:\n" + text

def name_of(r):
    """What verify calls a result."""
    return r["block"] or r.get("object") or r.get("property") or "program"


for path in sorted([*examples.rglob("*.atm"), *examples.rglob("*.sml")]):
    out = Path(tmp.name) / "result.json"
    rc, text, err = run([intact, "check", "--json", out, path])
    again = run([intact, "check", "--json", "-", path])[1]
    data = json.loads(out.read_text())
    vrc, vtext, verr = run([intact, "verify", "--max-states=60000", out, path])
    violated = [r for r in data["results"] if r["verdict"] == "violated"]
    holds = [r for r in data["results"] if r["verdict"] == "holds"]
    # every answer, that there is no fault, a way out of the blocks; a proof for any number of threads is checked by the locks of the
    # language alone, so that one by a lock coded by hand is left unchecked, and said so
    names = [name_of(r) for r in violated + holds]
    names += [] if any(r["problem"] in ("fault", "deadlock") for r in violated) else ["faults"]
    names += ["way out"] if data.get("quiescence") == "always" else []
    left = [x for x in vtext.splitlines() if x.startswith("unchecked:")]
    ok = (rc in (0, 1, 3) and vrc == (3 if left else 0) and again == out.read_text() and bool(violated) == (rc == 1)
          and all(any(x.startswith(f"accepted: {n}:") for x in vtext.splitlines()) for n in names)
          and all(", any number of " in x for x in left) and bool(left) == (path.stem in BY_HAND))
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
                      f"accepted: {name_of(r)}: {r['problem']}" in vtext for r in bad),
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
    if rc not in (1, 2) and not (rc == 3 and "unchecked: too many serial orders to try" in out):
        accepted.append(f"{where}: exit {rc}: {out}{err}")
    if n % 10 == 0 and rc == 1:
        bad = document(["-"], out, rc, stdin=json.dumps(data))
        if bad:
            accepted.append(f"{where}: the document: {bad}")
check(f"{wanted} corrupted results are all rejected", not accepted, "\n".join(accepted[:5]))

# omissions, and forgeries that agree with themselves: the verdict is always that of the results that are left
def verdict_of(rows):
    said = {r["verdict"] for r in rows}
    return "violated" if "violated" in said else "unknown" if "unknown" in said else "holds"


def made_to_hold(r, engine):
    for k in ("counterexample", "sentence", "marks", "serial", "waits", "history"):
        r.pop(k, None)
    r.update(verdict="holds", problem="none", engine=engine, any_number_of=[])


def forge(data, how):
    """A copy that claims something false or leaves something out; None: this way does not suit it."""
    data = copy.deepcopy(data)
    rows = data["results"]
    bad = [r for r in rows if r["verdict"] == "violated"]
    serial = [r for r in bad if r.get("serial")]
    if how == "one answer left out":
        rows.remove(rng.choice(rows))
    elif how == "what is violated left out":
        if not bad:
            return None
        data["results"] = rows = [r for r in rows if r not in bad]
        data["quiescence"] = "always"
    elif how == "no answers":
        data["results"] = rows = []
    elif how == "an answer twice":
        rows.append(copy.deepcopy(rng.choice(rows)))
    elif how == "lost without a run":
        if data.get("quiescence") != "always":
            return None
        data["quiescence"] = "lost"
    elif how == "no word about the way out":
        if not data.pop("quiescence", None):
            return None
    elif how == "no way out left out":
        if data.get("quiescence") != "lost":
            return None
        data["results"] = rows = [r for r in rows if r["problem"] != "quiescence"]
        data["quiescence"] = rng.choice(["always", "unknown"])
    elif how == "holds":
        if not bad:
            return None
        for r in bad:
            made_to_hold(r, rng.choice(["commit", "exact", "reduction"]))
        if data.get("quiescence") == "lost":
            data["quiescence"] = "always"
    elif how == "unknown":
        if not bad:
            return None
        for r in bad:
            made_to_hold(r, r["engine"])
            r["verdict"] = "unknown"
            del r["any_number_of"]
    elif how == "any number":
        good = [r for r in rows if r["verdict"] == "holds" and not r.get("any_number_of")]
        if not good:
            return None
        r = rng.choice(good)
        r["any_number_of"] = rng.choice([list(data["model"]["threads"]), ["nobody"]])
        r["engine"] = rng.choice([r["engine"], "reduction", "causal"])
    elif how == "sentence":
        told = [r for r in bad if "sentence" in r]
        if not told:
            return None
        r = rng.choice(told)
        r["sentence"] = rng.choice(["All is well.", "", r["sentence"].replace("step", "move", 1) + " "])
    elif how == "marks":
        told = [r for r in bad if r.get("marks")]
        if not told:
            return None
        rng.choice(told)["marks"].pop()
    elif how == "waits":
        told = [r for r in bad if r.get("waits")]
        if not told:
            return None
        r = rng.choice(told)
        r["waits"] = rng.choice([[], r["waits"][1:], [dict(w, text="goes on") for w in r["waits"]]])
    elif not serial:
        return None
    elif how == "ends":
        s = rng.choice(serial)["serial"]
        total = len(s["ends"]) + s["more"]
        if not total:
            return None
        ways = [dict(ends=[]), dict(ends=[], more=total), dict(more=s["more"] + 1), dict(ends=[s["end"]], more=total - 1),
                dict(ends=s["ends"] + s["ends"][:1], more=max(0, s["more"] - 1)), dict(end=s["ends"][0])]
        # ends can be equal but for where a thread is: then this is another order of the same ends
        s.update(rng.choice([w for w in ways if dict(s, **w) != s and not (w.get("ends") == [s["end"]] and s["end"] in s["ends"])]))
    elif how == "orders":
        s = rng.choice(serial)["serial"]
        if not s["orders"]:
            return None
        s["orders"] = []
    data["verdict"] = verdict_of(rows)
    return data


FALSE = ("one answer left out", "what is violated left out", "no answers", "an answer twice", "lost without a run", "no word about the way out",
         "holds", "sentence", "marks", "waits", "ends", "orders")
OPEN = ("unknown", "any number", "no way out left out")  # claims nothing false, or nothing that is checked: but is never accepted
faulty = Path(tmp.name) / "faulty.atm"
faulty.write_text("int x;\nthread a {\n  atomic one {\n    x = 1;\n    x = 0;\n  }\n}\nthread b {\n  atomic two {\n    assert(x == 0);\n  }\n}\n")
bases = results + [json.loads(run([intact, "check", "--json=-", *a])[1]) for a in (
    [faulty], ["--deadlock", examples / "bank-transfer-deadlock.atm"], [examples / "treiber-stack.atm"], [examples / "tromp.atm"],
    [examples / "bounded-buffer.atm"], ["--engine=all", examples / "stringbuffer.atm"], ["--block=audit", examples / "bank-transfer-bug.atm"])]
for base in bases[-7:]:
    rc, out, err = run([intact, "verify", "-"], stdin=json.dumps(base))
    check(f"{base['model']['name']}: what it is forged from is accepted", rc == 0, out + err)
for how in FALSE + OPEN:
    made, accepted = 0, []
    for base in rng.choices([b for b in bases if forge(b, how)], k=max(6, wanted // 10)):
        data = forge(base, how)
        if not data:
            continue
        made += 1
        rc, out, err = run([intact, "verify", "--max-states=20000", "-"], stdin=json.dumps(data))
        if rc not in ((1,) if how in FALSE else (1, 3)):
            accepted.append(f"{data['model']['name']}: exit {rc}: {out}{err}")
        bad = document(["--max-states=20000", "-"], out, rc, stdin=json.dumps(data)) if made == 1 else None
        if bad:
            accepted.append(f"the document: {bad}")
    check(f"forged, {how}: none of {made} is accepted", made and not accepted, "\n".join(accepted[:3]))

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
check("a limit that is reached is unknown and named", rc == 3 and "limit on states reached after 21 states" in out, out + err)

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
            for what, root, part in (("its findings left out", "holds", dict(findings=[], serializable=True, verdict="holds")),
                                     ("no word whether it is serializable", "holds", dict(serializable=None, verdict="holds")),
                                     ("its findings left out and no word", "holds", dict(findings=[], serializable=None, verdict="holds")),
                                     ("another verdict of the whole", "holds", {})):
                forged = copy.deepcopy(data)
                forged["verdict"] = root
                forged["results"][0].update(part)
                rc, text, err = run([intact, "verify", "-", path], stdin=json.dumps(forged))
                check(f"{path.relative_to(examples)}: {what}: rejected", rc == 1, text + err)
            data["results"][0]["findings"][-1]["cycle"][0]["from"]["event"] += 1
            rc, text, err = run([intact, "verify", "-", path], stdin=json.dumps(data))
            bad = document(["-", path], text, rc, stdin=json.dumps(data))
            check(f"{path.relative_to(examples)}: a spoilt cycle is rejected, and the document says the same", rc == 1 and bad is None, str(bad))
        if kind == "history":
            hrc, text, err = run([intact, "history", f"--verify={out}", "--json=-", path])
            doc = json.loads(text)
            check(f"{path.relative_to(examples)}: history --verify writes one too", hrc == rc and not validate(schema, doc) and
                  doc["kind"] == "verify" and (doc["accepted"] > 0) == (rc == 0) and doc["subject"] == str(path), text)

# what goes wrong, or has no way out, is not accepted when the result says nothing of it
wrong = Path(tmp.name) / "wrong.atm"
wrong.write_text("int x;\nthread a {\n  atomic one {\n    x = 1;\n    x = 0;\n  }\n}\nthread b {\n  atomic two {\n    assert(x == 0);\n  }\n}\n")
for name, model, problem, told in (("a fault", wrong, "fault", "rejected: faults: the run has a fault "),
                                   ("a deadlock", examples / "bank-transfer-deadlock.atm", "quiescence",
                                    "rejected: way out: after the run the threads can never all leave their blocks ")):
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
check("the report does not replace the result", rc == 2 and "would overwrite" in err and one.read_text() == before, err)
rc, out, err = run([intact, "verify", "--json", one])
check("--json in front of the result alone is explained", rc == 2 and "--json took" in err and one.read_text() == before, err)
rc, out, err = run([intact, "verify", "no-such-file.json"])
check("a missing file is named", rc == 2 and "no-such-file.json" in err, err)

# Conditions on states: each is asked, none can be left out, turned round or moved.


def together(data):
    said = [r["verdict"] for r in data["results"]]
    data["verdict"] = "violated" if "violated" in said else "unknown" if "unknown" in said else "holds"
    return data


def forged(data):
    one.write_text(json.dumps(data))
    return run([intact, "verify", one])[0]


for name in ("mcs-lock", "dining", "dining-deadlock", "ms-queue", "bakery-bug", "work-stealing-bug", "treiber-pool-freed"):
    data = json.loads(run([intact, "check", "-q", "--json", examples / (name + ".atm")])[1])
    taken = []
    for i, r in enumerate(data["results"]):
        if "property" not in r:
            continue
        fake = copy.deepcopy(data)
        fake["results"].pop(i)
        taken += [("left out", r["property"])] if forged(together(fake)) != 1 else []
        fake = copy.deepcopy(data)
        fake["results"][i]["line"] += 1
        taken += [("another line", r["property"])] if forged(fake) != 1 else []
        fake = copy.deepcopy(data)
        if r["verdict"] == "violated":
            for member in ("counterexample", "sentence", "waits"):
                fake["results"][i].pop(member, None)
            fake["results"][i].update(verdict="holds", problem="none", scope="declared", any_number_of=[])
        else:
            fake["results"][i].update(verdict="violated", problem="always", counterexample=fake["results"][i].get("counterexample"))
        taken += [("turned round", r["property"])] if forged(together(fake)) != 1 else []
    check(f"{name}: forged answers about conditions are rejected", not taken, str(taken))
done()
