#!/usr/bin/env python3
"""Documents and what is rendered from them, over results of every kind.

Usage: test_report.py INTACT SOURCE-ROOT

Every command's --json is validated against the schema (here, and by intact
itself), is the same bytes twice, and renders the same through `intact report`
as in the command. SARIF is held against the standard's requirements, and
against the official schema when INTACT_SARIF_SCHEMA names it and Debian's
python3-jsonschema is there.
"""
import copy
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path

from schema import sarif_complaints, validate
from tap import check, done, run

intact, root = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
examples = root / "examples"
schema = json.loads((root / "share" / "report.schema.json").read_text())
seed = int(os.environ.get("SEED", "9"))
rng = random.Random(seed)
print(f"# seed {seed}")
tmp = tempfile.TemporaryDirectory()
work = Path(tmp.name)
os.chdir(root)


def rel(p):
    return str(Path(p).relative_to(root))


# ---- the questions -----------------------------------------------------------

questions = [["check", rel(p)] for p in sorted([*examples.rglob("*.atm"), *examples.rglob("*.sml")])]
questions += [["check", "--deadlock", "examples/bank-transfer-deadlock.atm"],
              ["check", "--max-states=2", "examples/lost-update.atm"],
              ["sim", "--seed=3", "examples/tromp.atm"], ["sim", "--until=fault", "examples/bluetooth-bug.atm"]]
questions += [["history", rel(p)] for p in sorted((examples / "history").iterdir()) if p.suffix != ".c"]
questions += [["history", "-w", "-c", "regular", "examples/history/stale-read.edn"],
              ["history", "examples/history/stale-read.edn", "examples/history/two-keys.json"],
              ["history", "--follow", "--init=0", "examples/history/stale-read.edn"]]
questions += [["trace", "--predict", rel(p)] for p in sorted((examples / "traces").iterdir())]
questions += [["net", rel(p)] for p in sorted((examples / "nets").iterdir())]
questions += [["net", "--cover=" + json.loads(run([intact, "net", "--json=-", "examples/nets/acquire1-4.ll_net"])[1])
               ["results"][0]["net"]["places"][0], "--deadlock", "examples/nets/acquire1-4.ll_net"],
              ["net", "--max-events=1", "examples/nets/acquire1-4.ll_net"]]

program = work / "lost-update"
rc, out, err = run([intact, "cc", "-g", "-pthread", "-o", program, root / "tests/programs/lost_update.c"])
check("a program to watch is built", rc == 0, out + err)
shown = work / "hide.supp"
shown.write_text("block:*\n")
questions += [["run", "--", str(program)], ["run", "--suppressions", str(shown), "--", str(program)]]


def saved(name, *args, change=None):
    """A result on disk, for verify to look at."""
    data = json.loads(run([intact, args[0], "--json=-", *args[1:]])[1])
    if change:
        change(data)
    path = work / (name + ".saved")
    path.write_text(json.dumps(data))
    return str(path)


def call_it_atomic(data):
    for r in data["results"]:
        r.update(verdict="holds", problem="none")
        r.pop("counterexample", None)
    data["verdict"] = "holds"


def spoil_the_cycle(data):
    data["results"][0]["findings"][0]["cycle"][0]["to"]["event"] += 1


questions += [["verify", saved("true", "check", "examples/lost-update.atm")],
              ["verify", saved("false", "check", "examples/lost-update.atm", change=call_it_atomic), "examples/lost-update.atm"],
              ["verify", saved("other", "check", "examples/lost-update.atm"), "examples/lost-update-fixed.atm"],
              ["verify", "--max-states=20", saved("large", "check", "examples/acquire2.atm")],
              ["verify", saved("open", "check", "--max-states=2", "examples/lost-update.atm")],
              ["verify", saved("trace", "trace", "--predict", "examples/traces/lost-update.std")],
              ["verify", saved("spoilt", "trace", "examples/traces/lost-update.std", change=spoil_the_cycle)],
              ["verify", saved("history", "history", "-w", "examples/history/stale-read.edn")],
              ["diff", saved("before", "run", "--suppressions", str(shown), "--", str(program)), saved("after", "run", "--", str(program))],
              ["diff", "--new", saved("first", "run", "--", str(program)), saved("second", "run", "--suppressions", str(shown), "--", str(program))],
              ["history", "--verify=" + saved("again", "history", "-w", "examples/history/stale-read.edn"), "examples/history/stale-read.edn"]]


def command(q, *more):
    """The command with report options in front of what ends them."""
    return [intact, q[0], *more, *q[1:]]


def official(paths):
    """Complaints of the official schema, when it is at hand."""
    where = os.environ.get("INTACT_SARIF_SCHEMA")
    if not where or not Path("/usr/bin/python3").exists():
        return None
    code = ("import json,sys,jsonschema\ns=json.load(open(sys.argv[1]))\n"
            "v=jsonschema.validators.validator_for(s)(s)\n"
            "for p in sys.argv[2:]:\n  for e in v.iter_errors(json.load(open(p))):\n"
            "    print(p, list(e.absolute_path), e.message[:200])\n")
    rc, out, err = run(["/usr/bin/python3", "-W", "ignore", "-c", code, where, *paths])
    return (out + err).strip() if rc == 0 or "ModuleNotFoundError" not in err else None


documents, sarifs = [], []
for n, q in enumerate(questions):
    name = " ".join(str(a).replace(tmp.name, "") for a in q)
    files = {k: work / f"{n}.{k}" for k in ("json", "html", "sarif", "xml")}
    rc, out, err = run(command(q, "--json", files["json"], "--html", files["html"], "--sarif", files["sarif"],
                               "--junit", files["xml"]))
    ok = rc in (0, 1, 3, 66) and all(f.exists() for f in files.values())
    if not check(f"{name}: writes its reports", ok, f"exit {rc}\n{out}{err}"):
        continue
    text = files["json"].read_text()
    doc = json.loads(text)
    documents.append(doc)
    complaints = validate(schema, doc)
    check(f"{name}: the document is as the schema says", not complaints, "\n".join(complaints[:8]))
    if q[0] != "run":
        again = run(command(q, "--json=-"))[1]
        check(f"{name}: the same bytes again", again == text, f"{again[:300]}\n---\n{text[:300]}")
        code = {"holds": 0, "violated": 1, "unknown": 3}
        check(f"{name}: verdict and exit code agree", code[doc["verdict"]] == rc, f"{doc['verdict']} {rc}")
    # rendered again: the same
    same = []
    for kind, option in (("html", "--html"), ("sarif", "--sarif"), ("xml", "--junit")):
        out = run([intact, "report", files["json"], option + "=-"])[1]
        if out != files[kind].read_text():
            same.append(kind)
    check(f"{name}: `intact report` makes the same", not same, same)
    log = json.loads(files["sarif"].read_text())
    complaints = sarif_complaints(log)
    check(f"{name}: SARIF as the standard asks", not complaints, "\n".join(complaints[:8]))
    sarifs.append(files["sarif"])
    results = log["runs"][0]["results"]
    junit = ET.parse(files["xml"]).getroot()
    failures = [f for f in junit.iter("failure")]
    counted = sum(int(s.get("failures")) for s in junit.iter("testsuite"))
    hidden = [x for x in results if x.get("suppressions")]
    annotations = run([intact, "report", files["json"], "--github"])[1].splitlines()
    shown_now = [a for a in annotations if a.startswith("::error ") or a.startswith("::warning ")]
    check(f"{name}: SARIF, JUnit and annotations count alike",
          len(results) - len(hidden) == len(failures) == counted == int(junit.get("failures")) == len(shown_now)
          and all(re.match(r"::(error|warning|notice) [^\n]*::", a) for a in annotations),
          f"{len(results)} {len(failures)} {counted} {annotations}")
    page = files["html"].read_text()
    data = re.search(r'<script type="application/json" id="document">(.*?)</script>', page, re.S).group(1)
    check(f"{name}: the page carries the document", json.loads(data) == doc and "<" not in data)

bad = official([str(s) for s in sarifs])
if bad is None:
    print("# the official SARIF schema is not at hand (INTACT_SARIF_SCHEMA): the coded requirements stand alone")
else:
    check("SARIF is valid against the official schema", bad == "", bad[:2000])

# ---- the rules of SARIF and their help ----------------------------------------

log = json.loads(run([intact, "check", "--sarif=-", "examples/lost-update.atm"])[1])
rules = log["runs"][0]["tool"]["driver"]["rules"]
manual = (root / "docs/report.md").read_text()
described = dict(re.findall(r"^### ([a-z-]+)\n\n(.*?)\n(?=\n|\Z)", manual, re.M | re.S))
check("docs/report.md describes every rule, as its help does", {r["id"]: r["shortDescription"]["text"] + " " + r["help"]["text"] for r in rules}
      == {k: " ".join(v.split()) for k, v in described.items()},
      [r["id"] for r in rules if " ".join(described.get(r["id"], "").split()) != r["shortDescription"]["text"] + " " + r["help"]["text"]])
skips = work / "skips.std"
skips.write_text("# a comment\nT1|begin(left)|1\nT1|w(x)|2\n\nT2|begin(right)|11\nT2|w(y)|12\nT2|r(x)|13\nT2|end(right)|14\n# more\nT1|r(y)|3\nT1|end(left)|4\n")
log = json.loads(run([intact, "trace", "--sarif=-", skips])[1])
result = log["runs"][0]["results"][0]
lines = {s["location"]["message"]["text"]: s["location"]["physicalLocation"]["region"]["startLine"]
         for f in result["codeFlows"][0]["threadFlows"] for s in f["locations"]}
check("places of a trace are its lines", lines == {"w(x) at 2": 3, "r(y) at 3": 10, "w(y) at 12": 6, "r(x) at 13": 7}
      and result["locations"][0]["physicalLocation"]["region"]["startLine"] == 2, lines)

# ---- what the results say ---------------------------------------------------

doc = json.loads(run([intact, "check", "--json=-", "examples/lost-update.atm"])[1])
r = doc["results"][0]
check("the sentence and its steps are there", "lost" in r["sentence"] and r["marks"] == [3, 10, 14], r["sentence"])
orders = r["serial"]["orders"]
check("serial orders are runs of the same blocks in one piece",
      {o["order"] for o in orders} == {"1, 2", "2, 1"} and all(o["state"]["shared"]["count"] == 2 for o in orders)
      and all(len({s["thread"] for s in o["steps"][:8]}) == 1 for o in orders), orders)
log = json.loads(run([intact, "check", "--sarif=-", "examples/lost-update.atm"])[1])
result = log["runs"][0]["results"][0]
flows = result["codeFlows"][0]["threadFlows"]
merged = sorted((l["executionOrder"], l["state"]["count"]["text"]) for t in flows for l in t["locations"])
check("one thread flow per thread, values of the variables behind each step",
      len(flows) == 2 and [v for _, v in merged] == ["0"] * 9 + ["1"] * 7, merged)
check("URIs are relative", "examples/lost-update.atm" ==
      result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"])

# fingerprints: lines move, they stay
text = (examples / "lost-update.atm").read_text()
moved = work / "moved"
moved.mkdir()


def prints(source):
    (moved / "m.atm").write_text(source)
    log = json.loads(run([intact, "check", "--sarif=-", "m.atm"], cwd=moved)[1])
    return [x["partialFingerprints"]["intact/v1"] for x in log["runs"][0]["results"]]


check("fingerprints survive line shifts", prints(text) == prints("// one\n// two\n\n" + text.replace("lock m;", "\n\nlock m;"))
      and len(prints(text)) == 2)
check("and tell blocks apart", prints(text)[0] != prints(text.replace("increment", "decrement"))[0])

# suppressed findings are results with a suppression, and no failures
for doc in documents:
    if doc["kind"] == "run" and doc["results"] and "suppressed" in doc["results"][0]:
        check("a suppressed finding is kept as suppressed", doc["verdict"] == "holds" and doc["suppressed"] >= 1, doc)
        break
else:
    check("a suppressed finding is kept as suppressed", False, [d["kind"] for d in documents])

# ---- text fits --------------------------------------------------------------

ring = work / "ring.std"
n = 60
ring.write_text("".join(f"T{i}|begin(a_rather_long_label_{i})|{i}\n" for i in range(n)) +
                "".join(f"T{i}|w(x{i})|src/some/where/file{i}.c:12\n" for i in range(n)) +
                "".join(f"T{i}|r(x{(i + 1) % n})|13\n" for i in range(n)) +
                "".join(f"T{i}|end(a_rather_long_label_{i})|14\n" for i in range(n)))
rc, out, err = run([intact, "trace", ring])
check("a long cycle is told without its middle, within 100 columns", rc == 1 and "36 links left out" in out and
      max(map(len, out.splitlines())) <= 100, [x for x in out.splitlines() if len(x) > 100][:3])
run([intact, "trace", "--json", work / "ring.json", ring])
rc, out, err = run([intact, "report", work / "ring.json"])
check("and by `intact report`", rc == 1 and "36 links left out" in out and max(map(len, out.splitlines())) <= 100,
      [x for x in out.splitlines() if len(x) > 100][:3])
rc, out, err = run([intact, "report", work / "ring.json", "--full"])
check("--full tells all of it", "left out" not in out and out.count("w(x") >= 60)

# ---- files are not overwritten by mistake ------------------------------------

victim = work / "precious.txt"
victim.write_text("do not touch\n")
rc, out, err = run([intact, "check", f"--json={victim}", "examples/lost-update.atm"])
check("a file that is no report is left alone", rc == 2 and victim.read_text() == "do not touch\n" and "not overwritten" in err, err)
for sub, word in (("check", "examples/lost-update.atm"), ("sim", "examples/lost-update.atm"), ("trace", "examples/traces/crossed.std"),
                  ("history", "examples/history/queue.csv"), ("net", "examples/nets/acquire1-4.ll_net")):
    rc, out, err = run([intact, sub, "--json", word])
    check(f"{sub} --json {word}: read, and the report is on standard output", rc in (0, 1) and json.loads(out)["kind"] == sub, err)
log = work / "log.json"
log.write_text('{"process": 0, "type": "invoke", "f": "write", "value": 1}\n{"process": 0, "type": "ok", "f": "write", "value": 1}\n')
before = log.read_text()
rc, out, err = run([intact, "history", "--json", log])
check("a history that looks like the file to write: the slip is explained",
      rc == 2 and f"--json took '{log}'" in err and log.read_text() == before, err)
rc, out, err = run([intact, "check", "--json=-", "--html=-", "examples/lost-update.atm"])
check("two reports on standard output are refused", rc == 2 and "only one report" in err, err)
rc, out, err = run([intact, "check", "--html", "/nonexistent/x.html", "examples/lost-update.atm"])
check("a file that cannot be written is named", rc == 2 and "/nonexistent/x.html" in err, err)

# ---- documents from outside ---------------------------------------------------

for what, text, part in [("nothing", "", ":1:"), ("no JSON", "{ not json", ":1:"), ("a list", "[]", "object"),
                         ("another object", "{}", "not a result of intact"),
                         ("another schema", '{"schema": "x", "kind": "check"}', "does not have the schema"),
                         ("another kind", '{"intact": "1", "schema": "intact-1", "kind": "x", "verdict": "holds"}', "kind"),
                         ("no results", '{"intact": "1", "schema": "intact-1", "kind": "trace", "verdict": "holds"}',
                          "results: is missing"),
                         ("deep nesting", "[" * 100000, ":"), ("twice the same", '{"kind": 1, "kind": 2}', "duplicate")]:
    rc, out, err = run([intact, "report", "-"], stdin=text)
    check(f"{what} is refused with a reason", rc == 2 and part in err and not out, f"{rc} {out}{err}")


def places(node, prefix=()):
    if isinstance(node, dict):
        for k, v in node.items():
            yield prefix + (k,)
            yield from places(v, prefix + (k,))
    elif isinstance(node, list):
        for i, v in enumerate(node):
            yield prefix + (i,)
            yield from places(v, prefix + (i,))


values = [None, True, -1, 0, 1 << 40, 1.5, "", "x" * 300, "\x01", [], {}, [[]], "AAAA////", [None], {"a": 1}]
wrong, disagree = [], []
wanted = int(os.environ.get("REPORT_MUTANTS", "150"))
for n in range(wanted):
    doc = copy.deepcopy(rng.choice(documents))
    for _ in range(rng.randrange(1, 4)):
        every = list(places(doc))
        if not every:
            break
        where = rng.choice(every)
        node = doc
        for k in where[:-1]:
            node = node[k]
        if rng.random() < 0.3:
            del node[where[-1]]
        else:
            node[where[-1]] = copy.deepcopy(rng.choice(values))
    text = json.dumps(doc)
    rc, out, err = run([intact, "report", "-", "--text", "--html", work / "m.html", "--sarif", work / "m.sarif", "--junit",
                        work / "m.xml", "--dot", work / "m.dot"], stdin=text)
    valid = not validate(schema, doc, strict=False)
    if rc not in (0, 1, 2, 3) or (rc == 2 and not err):
        wrong.append(f"exit {rc}: {err[:300]} for {text[:300]}")
    if (rc != 2) != valid:
        disagree.append(f"exit {rc}, valid {valid}: {err[:200]} {validate(schema, doc, strict=False)[:2]}")
check(f"{wanted} mutated documents: rendered or refused, never worse", not wrong, "\n".join(wrong[:4]))
check("the two validators agree on them", not disagree, "\n".join(disagree[:6]))
done()
