#!/usr/bin/env python3
"""Certificates: what `intact check --certificate` writes, `intact verify --certificate` accepts, question by question; what it does not cover
is listed; and nothing is accepted that was changed.

    test_certificate.py PATH-OF-INTACT EXAMPLES

INTACT_CORRUPTED: how many corrupted certificates (80). TAP on stdout."""
import json
import os
import random
import re
import shutil
import sys
import tempfile
from pathlib import Path

from schema import validate
from tap import check, done, run

intact, examples = sys.argv[1], Path(sys.argv[2])
schema = json.loads((Path(__file__).resolve().parents[2] / "share/report.schema.json").read_text())
tmp = Path(tempfile.mkdtemp())
cert = tmp / "model.certificate"
ORDER = "some runs have no explanation that keeps to the order of time"
OBJECT = "the histories of objects have no certificates"
# what holds and has no certificate: all of it
REFUSED = {
    "fig1.sml": {"T1.block@23": ORDER, "T2.block@29": ORDER},
    "fig7-seen.sml": {"T2.block@21": ORDER, "program": ORDER},
    "token-channel.atm": {"worker.add": ORDER, "program": ORDER, "start.begin": None, "hasty.try_add": None},
    "treiber-stack-aba.atm": {"mixer.third": ORDER},
    "torn-register-fixed.atm": {"r": OBJECT}, "tromp.atm": {"bit": OBJECT}, "tromp-endless.atm": {"bit": OBJECT},
}


def name_of(result):
    return result.get("block") or result.get("object") or result.get("property") or "program"


def make(model, *more):
    cert.unlink(missing_ok=True)
    rc, out, err = run([intact, "check", "-q", "--json=-", "--certificate", cert, *more, model])
    return rc, json.loads(out) if out else None, err


def verify(model, *more):
    rc, out, err = run([intact, "verify", "--json=-", "--certificate", cert, *more, model])
    return rc, json.loads(out) if out else None, err


# ---- every example --------------------------------------------------------------------------------
models = sorted(p for d in (examples, examples / "separating") for p in d.iterdir() if p.suffix in (".atm", ".sml"))
sizes, wrong, uncovered, held = {}, [], {}, 0
for m in models:
    rc, doc, err = make(m)
    plain, out, _ = run([intact, "check", "-q", "--json=-", m])
    bad = [] if doc else [f"no document: {err}"]
    if doc:
        bad += validate(schema, doc)[:2]
        if rc != plain:
            bad.append(f"the exit code is {rc}, and {plain} without a certificate")
        told = {q["name"]: q for q in doc["certificate"]["questions"]}
        code, answer, err = verify(m)
        bad += validate(schema, answer)[:2] if answer else [f"not verified: {err}"]
        claims = {c["name"]: c for c in answer["results"]} if answer else {}
        for q in told.values():
            want = "accepted" if q.get("certified") else "unchecked"
            if claims.get(q["name"], {}).get("answer") != want:
                bad.append(f"{q['name']}: {want} expected, {claims.get(q['name'])}")
            if not q.get("certified") and not q.get("why"):
                bad.append(f"{q['name']}: not certified, and no reason")
        # every question of the check is one of the certificate, and what is violated is never certified
        for r in doc["results"]:
            name = name_of(r)
            if r["problem"] in ("fault", "deadlock", "quiescence"):
                name = {"fault": "faults", "quiescence": "way out"}.get(r["problem"], r["problem"])
            if name not in told and name != "deadlock":
                bad.append(f"{name}: a question without a line")
            elif r["verdict"] == "violated" and told[name].get("certified"):
                bad.append(f"{name}: violated and certified")
            elif r["verdict"] == "holds":
                held += 1
                if not told[name].get("certified"):
                    uncovered.setdefault(m.name, {})[name] = told[name]["why"]
        if code != (0 if all(q.get("certified") for q in told.values()) else 3):
            bad.append(f"verify ends with {code}")
        sizes[m.name] = doc["certificate"]["bytes"]
        if sizes[m.name] != cert.stat().st_size:
            bad.append("another size than said")
    wrong += [f"{m.name}: {b}" for b in bad]
check(f"{len(models)} examples: what is certified is accepted, what is not is listed, in the answer and by verify", not wrong, "\n".join(wrong[:20]))
want = {k: {n: w for n, w in v.items() if w} for k, v in REFUSED.items()}
got = {k: {n: w for n, w in v.items()} for k, v in uncovered.items()}
for k, v in got.items():  # blocks that are proved by text or causes, and belong to no program that is certified, may have one of their own
    for n in [n for n in v if REFUSED.get(k, {}).get(n, 0) is None]:
        del v[n]
check(f"of {held} answers that something holds, these have no certificate and no other", got == want, f"{got}\n{want}")

# ---- what a user reads ------------------------------------------------------------------------------
m = examples / "bluetooth-fixed.atm"
cert.unlink(missing_ok=True)
rc, out, err = run([intact, "check", "-q", "--certificate", cert, m])
check("check says what is certified, and the price", rc == 0 and re.search(r"certificate: \S+: 5 of 5 questions certified \(\d+ states, \d+ bytes", out)
      and re.search(r"^  certified +program$", out, re.M) and "without reductions" in out, out)
rc, out, err = run([intact, "verify", "--certificate", cert, m])
check("verify lists every question", rc == 0 and re.search(r"^accepted: program: every run ends like a serial run \(\d+ states", out, re.M)
      and all(f"accepted: {n}" in out for n in ("stop.pnp_stop", "add.pnp_add", "faults", "way out")) and "0 unchecked" in out, out)
rc, out, err = run([intact, "check", "-q", "--certificate", tmp / "o", examples / "tromp.atm"])
check("check says what is not certified, and why", "not certified  bit: " + OBJECT in out, out)
rc, out, err = run([intact, "verify", "--certificate", tmp / "o", examples / "tromp.atm"])
check("verify ends with 3 when a question is not certified", rc == 3 and "unchecked: bit: not certified: " + OBJECT in out, out)
make(m)
a = cert.read_bytes()
make(m)
check("the same certificate for the same question", a == cert.read_bytes())
rc, doc, err = make(m, "--threads", "add=3")
code, answer, _ = verify(m)
check("other numbers of threads are told", code == 0 and answer["results"][0] == {"name": "threads", "answer": "accepted",
                                                                                    "why": "it is about 3 add instead of 2"}, answer["results"][0])
rc, doc, err = make(examples / "bank-transfer-deadlock.atm", "--deadlock")
told = {q["name"]: q for q in doc["certificate"]["questions"]}
check("--deadlock is a question of its own", rc == 1 and not told["deadlock"].get("certified"), told)
rc, doc, err = make(examples / "acquire2.atm", "--threads", "worker=any")
code, answer, _ = verify(examples / "acquire2.atm")
check("a proof for any number of threads is certified for the declared one", rc == 0 and code == 0, answer)
rc, doc, err = make(examples / "acquire2.atm", "--max-states", "100")
told = {q["name"]: q for q in doc["certificate"]["questions"]}
check("a limit is a reason", rc == 0 and told["program"]["why"] == "limit on states reached" and not told["faults"].get("certified"), told)
code, answer, _ = verify(examples / "acquire2.atm")
check("... and nothing is covered", code == 3 and answer["accepted"] == 0 and answer["unchecked"] == 4, answer)

# ---- bad input ----------------------------------------------------------------------------------------
make(m)
good = cert.read_bytes()
for args, want in [(["--block", "pnp_add"], "--block"), (["--faults"], "--faults"), (["--engine=exact"], "--engine"), (["--no-reduce=dead"], "--no-reduce=dead")]:
    rc, out, err = run([intact, "check", "--certificate", cert, *args, m])
    check(f"--certificate is about everything: {want}", rc == 2 and f"cannot be combined with {want}" in err, err)
other = tmp / "letter.txt"
other.write_text("dear all,")
rc, out, err = run([intact, "check", "--certificate", other, m])
check("a file that is no certificate is left alone", rc == 2 and "not overwritten" in err and other.read_text() == "dear all,", err)
rc, out, err = run([intact, "check", "-q", "--certificate", tmp / "no" / "where", m])
check("a place that cannot be written to", rc == 2 and "No such file or directory" in err, err)
rc, out, err = run([intact, "verify", "--certificate", other, m])
check("verify: no certificate at all", rc == 2 and "the file is no certificate" in err and "hint:" in err, err)
rc, out, err = run([intact, "verify", "--certificate", tmp / "none", m])
check("verify: no file", rc == 2 and "No such file" in err, err)
rc, out, err = run([intact, "verify", "--certificate", cert])
check("verify: no model", rc == 2 and "expected one MODEL" in err, err)
rc, out, err = run([intact, "verify", "--certificate", cert, tmp / "none.atm"])
check("verify: a model that cannot be read", rc == 2 and "none.atm" in err, err)
cert.write_bytes(good.replace(b"intact-certificate 1", b"intact-certificate 2"))
rc, out, err = run([intact, "verify", "--certificate", cert, m])
check("verify: another version", rc == 2 and "of another version" in err, err)
cert.write_bytes(good)
changed = tmp / "bluetooth-fixed.atm"
changed.write_text(m.read_text() + "\n")
code, answer, _ = verify(changed)
check("verify: another text", code == 1 and answer["results"][0]["why"].startswith("it belongs to another model"), answer)
code, answer, _ = verify(examples / "seqlock.atm")
check("verify: another model", code == 1 and answer["results"][0]["why"].startswith("it belongs to another model"), answer)
make(examples / "acquire2.atm", "--threads", "worker=6")
code, answer, _ = verify(examples / "acquire2.atm", "--max-memory", "1M")
check("verify: a limit is no answer", code == 3 and answer["accepted"] == 1 and "limit on memory" in json.dumps(answer), answer)

# ---- corrupted ------------------------------------------------------------------------------------------
rng = random.Random(22)
kinds = {"flipped": 0, "cut": 0, "left out": 0, "exchanged": 0, "overwritten": 0, "appended": 0, "two certificates": 0}
big = examples / "bank-transfer.atm"
count, accepted, odd = int(os.environ.get("INTACT_CORRUPTED", "80")), [], []
pool = []
for model in (m, big, examples / "filter.atm", examples / "mcs-lock.atm", examples / "fig5a.sml"):
    make(model)
    pool.append((model, cert.read_bytes()))
for i in range(count):
    model, data = rng.choice(pool)
    kind = rng.choice(sorted(kinds))
    d = bytearray(data)
    at = rng.randrange(len(d))
    if kind == "flipped":
        for _ in range(rng.choice((1, 1, 1, 2, 8))):
            d[rng.randrange(len(d))] ^= 1 << rng.randrange(8)
    elif kind == "cut":
        d = d[:at]
    elif kind == "left out":
        del d[at:at + rng.randint(1, 40)]
    elif kind == "exchanged":
        b, n = rng.randrange(len(d)), rng.randint(1, 30)
        d[at:at + n], d[b:b + n] = d[b:b + n], d[at:at + n]
    elif kind == "overwritten":
        d[at:at + 4] = rng.randbytes(4)
    elif kind == "appended":
        d += rng.randbytes(rng.randint(1, 30))
    else:
        d = d[:at] + rng.choice(pool)[1][at:]
    if bytes(d) == data:
        continue
    kinds[kind] += 1
    cert.write_bytes(d)
    rc, out, err = run([intact, "verify", "--certificate", cert, model])
    if rc not in (1, 2) or "accepted:" in out:
        accepted.append((kind, model.name, rc, out[:200]))
    if rc == 2 and "certificate" not in err:
        odd.append((kind, model.name, err[:200]))
check(f"{sum(kinds.values())} corrupted certificates are rejected {kinds}", not accepted and not odd and sum(kinds.values()) > count * 9 // 10, f"{accepted[:5]} {odd[:5]}")
# ---- the checker ------------------------------------------------------------------------------------------
sources = Path(__file__).resolve().parents[2] / "src/verdict"
parts = [sources / f"certificate_{n}.c" for n in ("space", "read", "check")]
code = sum(1 for p in parts for line in p.read_text().splitlines() if line.strip() and not line.lstrip().startswith(("/*", "*")))
included = {i for p in [*parts, sources / "certificate.h"] for i in re.findall(r'#include "(.*?)"', p.read_text())}
check("the checker is less than 800 lines of code, and uses no engine", code < 800
      and included == {"base/grow.h", "base/map.h", "base/seqtab.h", "base/varint.h", "event/crc.h", "verdict/certificate.h", "verdict/verdict.h"}, f"{code} {included}")
shutil.rmtree(tmp)
done()
