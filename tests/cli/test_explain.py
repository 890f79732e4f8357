#!/usr/bin/env python3
"""`intact explain`: every code that a source can print has a page; the wrong
example of a page brings its message and the right one does not; the examples
of topics are decided as the page says.

    test_explain.py PATH-OF-INTACT ROOT

TAP on stdout."""
import json
import re
import sys
import tempfile
from pathlib import Path

from tap import check, done, run

intact, root = sys.argv[1], Path(sys.argv[2])
TOPICS = ["atomic", "ladder", "reduction", "causal", "commit", "exact", "serializable", "monitor", "linearizable"]


def codes():
    """Every literal that is handed on as a diagnostic's code."""
    texts = {p: p.read_text(encoding="utf-8") for p in (root / "src").rglob("*.[ch]")}
    makers = {"diag_error", "diag_warn"}
    for text in texts.values():
        makers.update(re.findall(r"(\w+)\([^;{}()]*const char \*code[^;{}()]*\)", text))
    makers -= {"color"}  # a terminal's code
    found = {}
    for path, text in texts.items():
        if path.suffix == ".c":
            for m in re.finditer(r"\b(%s)\((?:[^\"();]|\([^()]*\))*?\"([a-z][a-z0-9-]*)\"" % "|".join(makers), text):
                found.setdefault(m[2], path.relative_to(root))
    return found


def page(name):
    rc, out, err = run([intact, "explain", name])
    examples = re.findall(r"^(Wrong|Right|Violated in this model|Holds in this model|For example)( \(.*\))?:\n\n((?:    .*\n|\n)+)", out, re.M)
    reader = "atm"
    for _, by, _ in examples:
        reader = {"": "atm", " (SML)": "sml"}.get(by, by.split()[-1].rstrip(")") if by else "atm")
    return rc, out, err, {k: re.sub(r"^    ", "", v, flags=re.M).strip("\n") + "\n" for k, _, v in examples}, reader


rc, out, err = run([intact, "explain"])
listed = re.findall(r"^  (\S+) +\S", out, re.M)
check("the list names every topic once", rc == 0 and len(set(listed)) == len(listed) and set(TOPICS) <= set(listed), out)
found = codes()
check("codes are found in the sources", len(found) > 80 and "undeclared-name" in found and "lock-held" in found, str(found))
missing = [f"{c} ({p})" for c, p in sorted(found.items()) if c not in listed and c != "none"]
check("every code has a page", not missing, "\n".join(missing))

READ = {"trace": ["trace", "-"], "history": ["history", "-"], "net": ["net", "-"],
        "atm": ["check", "--dump=ir", "-"], "sml": ["check", "--sml", "--dump=ir", "-"]}
bad, short, checked = [], [], 0
for name in listed:
    rc, out, err, ex, reader = page(name)
    if rc or err or len(out) < 120 or any(len(line) > 120 for line in out.splitlines()):
        short.append(name)
    if name in TOPICS or "Wrong" not in ex:
        continue
    seen = {}
    for kind, text in ex.items():
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as f:
            f.write(text)
            f.flush()
            seen[kind] = run([intact, *[f.name if a == "-" else a for a in READ[reader]]])[2]
    checked += 1
    if f"[{name}]" not in seen["Wrong"]:
        bad.append(f"{name}: the wrong example does not bring the message\n{ex['Wrong']}{seen['Wrong'][:600]}")
    if f"[{name}]" in seen["Right"] or "error:" in seen["Right"]:
        bad.append(f"{name}: the right example is not right\n{ex['Right']}{seen['Right'][:600]}")
check(f"{len(listed)} pages are neither empty nor too wide", not short, "\n".join(short))
check(f"{checked} examples of diagnostics do as they say", not bad and checked > 60, "\n".join(bad))

for name in ["atomic", "reduction", "serializable"]:
    rc, out, err, ex, reader = page(name)
    wrong, right = (run([intact, "check", "-"], stdin=ex[k]) for k in ["Violated in this model", "Holds in this model"])
    check(f"{name}: the examples are decided as the page says", right[0] == 0 and (wrong[0] == 1 or name == "reduction" and "reduction" not in wrong[1].split("\n\n")[0]),
          wrong[1] + right[1])
# every engine that --engine names, and every one that a result names, is explained
rc, out, err = run([intact, "check", "--help"])
chosen = re.search(r"--engine=ENGINE .*\n +\(([a-z, ]+)\)", out)[1].split(", ")
listed_engines = re.findall(r"^  ([a-z]+) +\S", out[out.index("engines, the cheapest first"):out.index("\noptions:")], re.M)
check("--help lists the engines that --engine takes", chosen == ["auto", *listed_engines, "all"], out)
named = set(listed_engines)
for model in ["bank-transfer-deadlock.atm", "safe-bit.atm", "lost-update.atm"]:
    for more in [["--deadlock"], ["--engine=all"], ["--engine=causal"], ["--engine=exact", "--max-states=2"]]:
        rc, out, err = run([intact, "check", "-q", "--json=-", *more, root / "examples" / model])
        for r in json.loads(out)["results"]:
            named.update([r["engine"], *[a["engine"] for a in r.get("attempts", [])]])
unexplained = [n for n in sorted(named) if run([intact, "explain", n])[0] != 0]
check(f"{len(named)} engines are explained", not unexplained and len(named) > 6, " ".join(unexplained))

rc, out, err, ex, reader = page("linearizable")
wrong, right = (run([intact, "history", "-"], stdin=ex[k])[0] for k in ["Violated in this model", "Holds in this model"])
check("linearizable: the examples are decided as the page says", (wrong, right) == (1, 0), out)
for name, by in [("ladder", "reduction"), ("commit", "commit"), ("exact", "exact")]:
    rc, out, err, ex, reader = page(name)
    rc, out, err = run([intact, "check", "-"], stdin=ex["For example"])
    check(f"{name}: its example is proved by {by}", rc == 0 and re.search(rf"serializable +{by} ", out), out)

rc, out, err = run([intact, "explain", "[undeclared-name]"])
check("a code may be given in its brackets", rc == 0 and out.startswith("undeclared-name:"), out + err)
rc, out, err = run([intact, "explain", "reducton"])
check("a slip is answered with the nearest topic", rc == 2 and "did you mean 'reduction'" in err and not out, err)
rc, out, err = run([intact, "explain", "x" * 300])
check("a long name is no topic", rc == 2 and "unknown topic" in err, err)
rc, out, err = run([intact, "explain", "atomic", "exact"])
check("expected at most one TOPIC argument", rc == 2, err)
done()
