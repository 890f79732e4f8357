#!/usr/bin/env python3
"""`intact net`: sizes, deadlock, cover, refusals, limits, forms.

    test_net.py PATH-OF-INTACT EXAMPLES

TAP on stdout."""
import json
import sys
import tempfile
from pathlib import Path

from tap import check, done, run

intact, examples = sys.argv[1], Path(sys.argv[2])
ACQUIRE = examples / "nets" / "acquire1-4.ll_net"


def pep(places, transitions):
    """places: name or name! (marked); transitions: (name, taken, put)."""
    number = {p.rstrip("!"): i + 1 for i, p in enumerate(places)}
    out = ["PEP", "PTNet", "FORMAT_N", "PL"]
    out += [f'"{p.rstrip("!")}"' + ("M1" if p.endswith("!") else "") for p in places]
    out += ["TR"] + [f'"{t}"' for t, _, _ in transitions]
    out += ["TP"] + [f"{i + 1}<{number[p]}" for i, (_, _, put) in enumerate(transitions) for p in put]
    out += ["PT"] + [f"{number[p]}>{i + 1}" for i, (_, take, _) in enumerate(transitions) for p in take]
    return "\n".join(out) + "\n"


def pnml(kind="ptnet", marking="1", arc="", more=""):
    return (f'<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml"><net id="n" type='
            f'"http://www.pnml.org/version-2009/grammar/{kind}"><page id="g"><place id="a"><initialMarking><text>{marking}'
            f'</text></initialMarking></place><place id="b"/><transition id="t"/><arc id="x" source="a" target="t">{arc}'
            f'</arc><arc id="y" source="t" target="b"/>{more}</page></net></pnml>')


def net(text, *options):
    return run([intact, "net", *options, "-"], stdin=text)


# Two philosophers: each takes its left fork, then its right one.
DINING = pep(["f0!", "f1!", "p0!", "p1!", "h0", "h1", "e0", "e1"],
             [("left0", ["p0", "f0"], ["h0"]), ("right0", ["h0", "f1"], ["e0"]),
              ("done0", ["e0"], ["p0", "f0", "f1"]),
              ("left1", ["p1", "f1"], ["h1"]), ("right1", ["h1", "f0"], ["e1"]),
              ("done1", ["e1"], ["p1", "f0", "f1"])])

rc, out, err = run([intact, "net", ACQUIRE])
check("the example's size", rc == 0 and "34 events, 16 of them cut-offs; 64 conditions" in out, out + err)
check("and that it never stops", "deadlock  no (decided on the prefix)" in out, out)

rc, out, err = net(DINING)
check("a deadlock is shown and is no failure", rc == 0 and "deadlock  yes: nothing can fire at { h0, h1 }" in out, out + err)
check("with the firings that lead to it", "after 2 firings: left0 left1" in out or "after 2 firings: left1 left0" in out, out)
rc, out, err = net(DINING, "--deadlock")
check("--deadlock makes it one", rc == 1, (rc, out, err))
rc, out, err = run([intact, "net", "--deadlock", ACQUIRE])
check("--deadlock without one", rc == 0, (rc, out, err))

rc, out, err = net(DINING, "--cover", "e0,e1")
check("both eating: not reachable", rc == 0 and "e0, e1: not reachable" in out, out + err)
rc, out, err = net(DINING, "--cover", "e1,p0")
check("one eating: reachable, exit 1", rc == 1 and "e1, p0: reachable, for example at { p0, e1 }" in out, out + err)
check("with its firings", "after 2 firings: left1 right1" in out, out)
rc, out, err = net(DINING, "--cover", "e2")
check("an unknown place", rc == 2 and "no place 'e2'" in err and "did you mean" in err, err)
rc, out, err = net(DINING, "--prefix")
check("--prefix does not look for deadlocks", rc == 0 and "deadlock" not in out and "events" in out, out + err)
rc, out, err = net(DINING, "--prefix", "--deadlock")
check("--prefix with --deadlock is refused", rc == 2 and "--deadlock" in err, err)

rc, out, err = net(DINING, "--json", "--cover", "e1,p0")
j = json.loads(out)["results"][0]
check("JSON", rc == 1 and j["deadlock"]["answer"] == "yes" and sorted(j["deadlock"]["marking"]) == ["h0", "h1"]
      and sorted(j["deadlock"]["run"]) == ["left0", "left1"] and j["cover"]["run"] == ["left1", "right1"]
      and j["safe"] is True and j["events"] > j["cutoffs"], out)
check("JSON is the same every time", net(DINING, "--json", "--cover", "e1,p0")[1] == out)

with tempfile.TemporaryDirectory() as tmp:
    for form in ("pnml", "pep"):
        rc, text, err = net(DINING, "--to", form)
        path = Path(tmp) / form
        path.write_text(text)
        rc2, out2, _ = run([intact, "net", path])
        check(f"--to {form} reads back", rc == 0 and rc2 == 0 and out2 == net(DINING)[1], text + err + out2)

TWICE = pep(["a!", "b!", "c"], [("t", ["a"], ["c"]), ("u", ["b"], ["c"])])
rc, out, err = net(TWICE)
check("a net that is not 1-safe", rc == 2 and "place 'c' can hold two tokens" in err and "{ c, c }" in err and not out, err)
LATE = pep(["a!", "b", "c!", "d"], [("t", ["a"], ["b"]), ("u", ["b"], ["a", "d"])])
rc, out, err = net(LATE)
check("one that is not, later on", rc == 2 and "place 'd' can hold two tokens" in err and "d, d" in err, err)
MANY = pep([f"p{i}!" for i in range(60)] + ["a!", "z!", "y"], [("t", ["a"], ["z"]), ("u", ["p0"], ["y"])])
rc, out, err = net(MANY)
check("the place comes first in a long marking", rc == 2 and "the marking is { z, z, p0, " in err and "(62 tokens in all)" in err, err)
for what, text, code in (
        ("nothing", "", "net-syntax"),
        ("an arc to nowhere", DINING + "9>1\n", "net-unknown-node"),
        ("an arc twice", DINING + "1>1\n", "net-arc-twice"),
        ("a transition that takes nothing", pep(["a!"], [("t", [], ["a"])]), "net-no-input"),
        ("two tokens initially", DINING.replace('"f0"M1', '"f0"M2'), "net-unsafe"),
        ("XML that ends early", "<pnml><net id='n' type='t'><place id='a'>", "net-syntax"),
        ("a document type", "<!DOCTYPE a [<!ENTITY b 'c'>]><pnml/>", "net-unsupported"),
        ("two tokens in PNML", pnml(marking="2"), "net-unsafe"),
        ("an arc of weight 2", pnml(arc="<inscription><text>2</text></inscription>"), "net-unsafe"),
        ("an inhibitor arc by its type", pnml(arc='<type value="inhibitor"/>'), "net-unsupported"),
        ("a special arc of the standard", pnml(arc="<arctype><text>inhibitor</text></arctype>"), "net-unsupported"),
        ("an arc with a name of its own", pnml(more='<inhibitorArc id="i" source="a" target="t"/>'), "net-unsupported"),
        ("a coloured net", pnml(kind="symmetricnet"), "net-unsupported"),
        ("declarations of colours", pnml(more="<declaration/>"), "net-unsupported"),
        ("a reference place", pnml(more='<referencePlace id="r" ref="a"/>'), "net-unsupported"),
        ("an arc between places", pnml(more='<arc id="z" source="a" target="b"/>'), "net-syntax")):
    rc, out, err = net(text)
    check(f"refused: {what}", rc == 2 and f"[{code}]" in err and ":" in err.split("error")[0] and not out, err)


rc, out, err = net(pnml(arc='<type value="normal"/>'))
check("a plain arc may say so", rc == 0 and "1 events" in out, out + err)
rc, out, err = net(pep(["a"], []))
check("a marking without tokens", rc == 0 and "nothing can fire at { }" in out, out + err)


def acquire(n):
    """Acquire1 with a place a thread that its three accesses take and put back."""
    places, steps = ["free!", "held", "data!"], []
    for i in range(n):
        places += [f"w{i}.{k}" + ("!" if k == 0 else "") for k in range(5)] + [f"own{i}!"]
        steps += [(f"acq{i}", [f"w{i}.0", "free", f"own{i}"], [f"w{i}.1", "held", f"own{i}"]),
                  (f"begin{i}", [f"w{i}.1"], [f"w{i}.2"]),
                  (f"upd{i}", [f"w{i}.2", "data", f"own{i}"], [f"w{i}.3", "data", f"own{i}"]),
                  (f"end{i}", [f"w{i}.3"], [f"w{i}.4"]),
                  (f"rel{i}", [f"w{i}.4", "held", f"own{i}"], [f"w{i}.0", "free", f"own{i}"]),
                  (f"fail{i}", [f"w{i}.0", "held"], [f"w{i}.0", "held"])]
    places += ["chosen", "chosen.done"]
    steps += [("begin*", ["w0.1"], ["chosen"]), ("upd*", ["chosen", "data"], ["chosen.done", "data"])]
    return pep(places, steps)


for n, conditions, events in ((4, 81, 34), (30, 2135, 1022), (100, 21105, 10402), (150, 46655, 23102)):
    rc, out, err = net(acquire(n), "--prefix")
    check(f"Table 1, Acquire1 of {n} threads: its conditions too",
          f"{events} events, {n * n} of them cut-offs; {conditions} conditions" in out, out + err)


def counters(n):
    """n bits that count: 2^n markings in a row."""
    return pep([f"z{i}!" for i in range(n)] + [f"o{i}" for i in range(n)],
               [(f"up{i}", [f"z{i}"] + [f"o{k}" for k in range(i)], [f"o{i}"] + [f"z{k}" for k in range(i)])
                for i in range(n)])


rc, out, err = net(counters(10), "--deadlock")
check("a counter stops at the end, after 1,023 firings", rc == 1 and "after 1023 firings" in out, out + err)
rc, out, err = net(counters(24), "--max-events", "1000")
check("the limit on events", rc == 3 and "limit on events" in out, out + err)
rc, out, err = net(counters(24), "--max-memory", "1M")
check("the limit on memory", rc == 3 and "limit on memory" in out, out + err)
rc, out, err = net(counters(40), "--timeout", "1")
check("the limit on time", rc == 3 and "limit on time" in out, out + err)
done()
