#!/usr/bin/env python3
"""The PNML that `intact export --net=pnml` and `intact net --to pnml` write: is it
what other tools read?

    test_pnml.py PATH-OF-INTACT EXAMPLES

For every example, with and without a chosen block: the document is checked
against what the grammar of PNML's place/transition nets and the readers of
verifypn and LTSmin ask for, and it is the same net as the ll_net. Where
verifypn is installed (on the PATH, or named by $VERIFYPN) it judges the nets
too: a deadlock, and whether each place can hold a token, as `intact net` says.

TAP on stdout."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path

from tap import check, done, run

intact, examples = sys.argv[1], Path(sys.argv[2])
VERIFYPN = os.environ.get("VERIFYPN") or shutil.which("verifypn") or shutil.which("verifypn-linux64")
NS = "{http://www.pnml.org/version-2009/grammar/pnml}"
PTNET = "http://www.pnml.org/version-2009/grammar/ptnet"
# element -> (attributes it has, children it may have); the grammar has more, which is not needed
GRAMMAR = {
    "pnml": (set(), {"net"}),
    "net": ({"id", "type"}, {"name", "page"}),
    "page": ({"id"}, {"name", "place", "transition", "arc"}),
    "place": ({"id"}, {"name", "initialMarking"}),
    "transition": ({"id"}, {"name"}),
    "arc": ({"id", "source", "target"}, {"inscription"}),
    "name": (set(), {"text"}), "initialMarking": (set(), {"text"}), "inscription": (set(), {"text"}),
    "text": (set(), set()),
}


def walk(node, ids, wrong):
    tag = node.tag.removeprefix(NS)
    if tag not in GRAMMAR or not node.tag.startswith(NS):
        wrong.append(f"element {node.tag}")
        return
    attributes, children = GRAMMAR[tag]
    if set(node.attrib) != attributes:
        wrong.append(f"{tag}: attributes {sorted(node.attrib)}")
    if "id" in node.attrib:
        if not re.fullmatch(r"[A-Za-z_][\w.-]*", node.get("id")) or node.get("id") in ids:
            wrong.append(f"id {node.get('id')} is no NCName, or stands twice")
        ids[node.get("id")] = tag
    single = [c.tag for c in node if c.tag.removeprefix(NS) in ("name", "text", "initialMarking", "inscription")]
    if len(single) != len(set(single)):
        wrong.append(f"{tag}: a label stands twice")
    if tag in ("initialMarking", "inscription"): # LTSmin: the number and nothing else, no blank
        if not re.fullmatch(r"0|[1-9]\d{0,8}", node.findtext(NS + "text") or ""):
            wrong.append(f"{tag}: {node.findtext(NS + 'text')!r} is no plain number")
    if tag != "text" and any((t or "").strip() for t in [node.text] + [c.tail for c in node]):
        wrong.append(f"{tag}: text outside of labels")
    for c in node:
        if c.tag.removeprefix(NS) not in children:
            wrong.append(f"{tag} holds {c.tag}")
        walk(c, ids, wrong)


def faults(text):
    """what a reader would not like, and the places by name"""
    if "<!" in text:
        return ["a document type or comment"], {}
    try:
        root = ET.fromstring(text.encode())
    except ET.ParseError as e:
        return [f"not well-formed: {e}"], {}
    wrong, ids, places = [], {}, {}
    walk(root, ids, wrong)
    nets = root.findall(NS + "net")
    if len(nets) != 1 or nets[0].get("type") != PTNET or not nets[0].findall(NS + "page"):
        wrong.append("not one net of type ptnet with a page")
    seen, linked = set(), set()
    for arc in root.iter(NS + "arc"):
        ends = (arc.get("source"), arc.get("target"))
        if sorted(ids.get(x, "?") for x in ends) != ["place", "transition"] or ends in seen:
            wrong.append(f"arc {arc.get('id')}: {ends}")
        seen.add(ends)
        linked.add(ends[1])
    for t in root.iter(NS + "transition"):
        if t.get("id") not in linked:
            wrong.append(f"{t.get('id')} takes nothing")
    for p in root.iter(NS + "place"):
        places[p.get("id")] = p.findtext(f"{NS}name/{NS}text")
    return wrong, places


def verifypn(path, places, tmp):
    """{question: True or False or None}; questions: 'dead' and ids of places"""
    def prop(name, formula):
        return (f"<property><id>{name}</id><description/><formula><exists-path><finally>{formula}"
                "</finally></exists-path></formula></property>")
    queries = [prop("dead", "<deadlock/>")]
    queries += [prop(p, f"<integer-le><integer-constant>1</integer-constant><tokens-count><place>{p}</place>"
                     "</tokens-count></integer-le>") for p in places]
    query = Path(tmp) / "q.xml"
    query.write_text('<?xml version="1.0"?><property-set xmlns="http://mcc.lip6.fr/">' + "".join(queries) +
                     "</property-set>")
    out = subprocess.run([VERIFYPN, "-n", "-x", ",".join(str(i + 1) for i in range(len(queries))), path, query],
                         capture_output=True, text=True, timeout=300).stdout
    return {k: v == "TRUE" for k, v in re.findall(r"^FORMULA (\w+) (TRUE|FALSE)", out, re.M)}


def judged(name, pnml, places, tmp):
    """verifypn and intact on a deadlock and on up to twelve places"""
    path = Path(tmp) / "net.pnml"
    path.write_text(pnml)
    some = list(places)[:: max(1, len(places) // 12)]
    theirs = verifypn(path, some, tmp)
    rc, out, err = run([intact, "net", "--json", "-", "--max-events", "200000", path])
    if rc == 3:
        return print(f"# {name}: more than 200,000 events")
    ours = {"dead": json.loads(out)["results"][0]["deadlock"]["answer"] == "yes"}
    for p in some:
        rc, out, err = run([intact, "net", "--prefix", path, "--cover", places[p]])
        ours[p] = rc == 1 if rc in (0, 1) else None
    check(f"verifypn judges {name} as we do ({len(ours)} questions)", ours == theirs,
          [(k, ours[k], theirs.get(k)) for k in ours if ours[k] != theirs.get(k)])


def forms(model, *options):
    return [run([intact, "export", "-q", f"--net={f}", *options, model]) for f in ("pnml", "pep")]


with tempfile.TemporaryDirectory() as tmp:
    if not VERIFYPN:
        print("# verifypn is not installed: its judgement is left out")
    models = sorted([*examples.glob("*.atm"), *examples.glob("*.sml")])
    count = 0
    for model in models:
        rc, out, _ = run([intact, "check", "-q", "--engine=cover", "--json", "-", "--max-states", "1", model])
        try:
            blocks = [r["block"] for r in json.loads(out)["results"] if r.get("block")]
        except (ValueError, KeyError, TypeError):
            blocks = []
        for options in ([], *[["--block", b] for b in blocks[:1]]):
            name = " ".join([model.name, *options])
            (rc, pnml, err), (rc2, pep, err2) = forms(model, *options)
            if rc or rc2:
                check(f"{name}: a net, or a reason why there is none", rc == rc2 == 2 and "error" in err, (rc, err))
                continue
            count += 1
            wrong, places = faults(pnml)
            check(f"{name}: PNML that others read", not wrong and places, wrong[:5])
            again = [run([intact, "net", "--to", "pnml", "-"], stdin=text) for text in (pnml, pep)]
            check(f"{name}: the same net in both forms", again[0][1] == again[1][1] and again[0][0] == 0, err)
            if VERIFYPN and len(places) < 3000:
                judged(name, pnml, places, tmp)
    check("there are nets to look at", count > 30, count)
    for path in sorted((examples / "nets").glob("*.ll_net")):
        rc, pnml, err = run([intact, "net", "--to", "pnml", path])
        wrong, places = faults(pnml)
        check(f"{path.name}: PNML that others read", rc == 0 and not wrong, wrong[:5] or err)
        if VERIFYPN:
            judged(path.name, pnml, places, tmp)

# names from outside do not break the document
rc, pnml, err = run([intact, "net", "--to", "pnml", "-"],
                    stdin='PEP\nPTNet\nFORMAT_N\nPL\n"a<b>&\'c"M1\n"ü\x01"\nTR\n"]]>"\nTP\n1<2\nPT\n1>1\n')
wrong, places = faults(pnml)
check("names with markup in them", rc == 0 and not wrong and "a<b>&'c" in places.values(), (wrong, err))
done()
