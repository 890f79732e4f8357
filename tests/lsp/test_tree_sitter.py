#!/usr/bin/env python3
"""The tree-sitter grammars: their own tests; every example, every model of the documentation and of the tests parses; a model that misses
a mark does not; their words are those of the language. Needs the tree-sitter command (Debian 13: tree-sitter-cli), a C compiler and node.

Usage: test_tree_sitter.py INTACT SOURCE-ROOT      (TAP on stdout)"""
import json
import re
import shutil
import sys
import tempfile
from pathlib import Path

here = Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent / "cli"))
from client import Client
from tap import check, done, run

intact, root = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
grammars = root / "share/editors/tree-sitter"
tmp = tempfile.TemporaryDirectory(prefix="intact-tree-sitter-")
work = Path(tmp.name)
env = {"HOME": str(work), "XDG_CONFIG_HOME": str(work / "config"), "XDG_CACHE_HOME": str(work / "cache"), "TREE_SITTER_LIBDIR": str(work / "lib")}

(work / "config/tree-sitter").mkdir(parents=True)
(work / "config/tree-sitter/config.json").write_text(json.dumps({"parser-directories": [str(work)]}))

# the words need no command
c = Client(intact)
c.initialize()
for ending, name in (("atm", "intact"), ("sml", "intact-sml")):
    uri = f"file:///w/empty.{ending}"
    c.open(uri, "")
    words = {i["label"] for i in c.at("completion", uri, 0, 0)["items"]}
    text = (grammars / name / "queries/highlights.scm").read_text()
    coloured = set(re.findall(r'"([a-z_]+)"', text)) | {w for m in re.findall(r'"\^\(([^)]*)\)\$"', text) for w in m.split("|")}
    grammar = (grammars / name / "grammar.js").read_text()
    for kind in ("boolean", "null", "primitive_type", "skip", "word_statement"):
        m = re.search(rf"^    {kind}: \(\) => (.*),$", grammar, re.M)
        coloured |= set(re.findall(r"'([a-z]+)'", m[1])) if m else set()
    check(f"{name}: every word of the language has a colour, and no other", coloured == words, f"missing: {sorted(words - coloured)}\nmore: {sorted(coloured - words)}")
c.end()

tool = shutil.which("tree-sitter")
if not tool:
    check("the tree-sitter command is not installed: grammars were NOT tested # SKIP", True)
    done()


def tree_sitter(name, *args):
    return run([tool, *args], cwd=work / f"tree-sitter-{name}", env=env, timeout=300)


def parses(name, files):
    """Those of the files that do not parse, with what is said."""
    bad = {}
    for i in range(0, len(files), 100):
        rc, out, err = tree_sitter(name, "parse", "--quiet", *files[i:i + 100])
        for f in files[i:i + 100]:
            said = [line for line in (out + err).splitlines() if line.startswith(str(f)) and ("ERROR" in line or "MISSING" in line)]
            if said:
                bad[f] = said[0]
        if rc and not bad:
            bad["?"] = out + err
    return bad


def snippets(language):
    for page in sorted(root.glob("docs/*.md")):
        for i, text in enumerate(re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(), re.M | re.S)):
            f = work / f"{page.stem}-{i}.{language}"
            f.write_text(text)
            yield f


for name, endings in (("intact", ("atm", "spec")), ("intact-sml", ("sml",))):
    shutil.copytree(grammars / name, work / f"tree-sitter-{name}")
    rc, out, err = tree_sitter(name, "generate")
    if not check(f"{name}: a parser is made, without a conflict", rc == 0 and "conflict" not in err.lower(), out + err):
        continue
    rc, out, err = tree_sitter(name, "test")
    check(f"{name}: its own tests", rc == 0, out + err)
    files = [f for e in endings for d in ("examples", "tests/golden/fmt", "bench") for f in sorted((root / d).rglob(f"*.{e}"))]
    files = [f for f in files if not run([intact, "check", "--dump=ir", "-q", f])[0] or f.suffix == ".spec"]
    files += list(snippets(endings[0]))
    bad = parses(name, files)
    check(f"{name}: {len(files)} models that the command reads", not bad and len(files) > (2 if name == "intact-sml" else 60), "\n".join(map(str, bad.items())))
    # each without its last brace, parenthesis or semicolon behind something: an error where there is one
    broken = []
    for f in files:
        text = f.read_text()
        at = max(text.rfind("}"), text.rfind(")"))
        if at < 0:
            continue
        g = work / f"broken-{len(broken)}{f.suffix}"
        g.write_text(text[:at] + text[at + 1:])
        broken.append(g)
    missed = [g for g in broken if g not in parses(name, [g])]
    check(f"{name}: {len(broken)} that miss a brace are errors", broken and not missed, "\n".join(map(str, missed)))
    for f in files[:3]:
        rc, out, err = tree_sitter(name, "highlight", "--html", f)
        check(f"{name}: {f.name} is coloured", rc == 0 and "<span" in out, err or out[-500:])
done()
