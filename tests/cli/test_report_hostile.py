#!/usr/bin/env python3
"""200 hostile names in model, history, trace, net and symbol positions:
escaped in text, one line an annotation, valid JSON, SARIF and XML, and no
way out of the page's data. (That the page stays inert is for a browser:
tests/browser.)

Usage: test_report_hostile.py INTACT SOURCE-ROOT
"""
import json
import re
import sys
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path

from hostile_inputs import documents
from schema import sarif_complaints, validate
from tap import check, done, run

intact, root = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
schema = json.loads((root / "share" / "report.schema.json").read_text())
# what may not reach a terminal as it is
deceptive = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]")

with tempfile.TemporaryDirectory() as tmp:
    made = documents(intact, root, Path(tmp))
    kinds = {json.loads(d.read_text())["kind"] for d in made}
    check("documents of every kind have hostile names", kinds == {"check", "sim", "history", "trace", "net", "run", "verify", "diff"}, kinds)
    marks = [r.get("mark") for r in json.loads((Path(tmp) / "run.json").read_text())["results"]]
    check("marks of a watched program arrive whole", len(set(marks)) >= 40, marks)
    for path in made:
        name = path.name
        doc = json.loads(path.read_text())
        bad = validate(schema, doc, strict=False)
        check(f"{name}: a valid document", not bad, bad[:4])
        files = {k: Path(tmp) / f"r.{k}" for k in ("sarif", "xml", "html")}
        rc, text, err = run([intact, "report", path, "--text", "--full", "--sarif", files["sarif"], "--junit", files["xml"],
                             "--html", files["html"]])
        found = deceptive.search(text)
        check(f"{name}: text is safe", rc in (0, 1, 3) and not found and not err,
              f"exit {rc} {err} {found and text[max(0, found.start() - 60):found.end() + 20]!r}")
        bad = sarif_complaints(json.loads(files["sarif"].read_text()))
        check(f"{name}: SARIF is valid", not bad, "\n".join(bad[:4]))
        out = files["xml"].read_text()
        try:
            ET.fromstring(out.encode())
            bad = deceptive.search(out)
        except ET.ParseError as e:
            bad = e
        check(f"{name}: JUnit is XML", not bad, bad)
        rc, out, err = run([intact, "report", path, "--github"])
        wrong = [x for x in out.split("\n") if x and not re.fullmatch(r"::(error|warning|notice) [^\n]*?::.*", x)]
        check(f"{name}: an annotation a line, none injected", not wrong and not deceptive.search(out), wrong[:3])
        out = files["html"].read_text()
        data = re.search(r'<script type="application/json" id="document">(.*?)</script>', out, re.S)
        tags = re.findall(r"<(?!!)/?([a-zA-Z]+)", out[:out.index("<style>")] + out[data.start():data.end()])
        check(f"{name}: the page has its own elements alone", json.loads(data.group(1)) == doc and
              set(tags) <= {"html", "head", "meta", "title", "style", "body", "main", "script", "noscript"}, tags)
done()
