#!/usr/bin/env python3
"""The project is written in plain technical English: README, docs, --help, explain pages, string literals and comments
use none of the turns below. Each comes with the words to write instead. Also: every page of docs/ is linked from
docs/index.md, and the cells of the tables in README and in the summaries are short.

Usage: test_voice.py INTACT ROOT     (TAP on stdout)"""
import re
import subprocess
import sys
from pathlib import Path

intact, root = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()

TURNS = {
    r"for ever\b": "forever",
    r"memory (ends|ended)\b|memory's end": "out of memory",
    r"(limit|budget|bound|memory|time|one) (is|was|has been) spent\b|\b(a|the) spent (limit|budget)": "is reached, is used up",
    r"dearest": "most expensive",
    r"whoever": "the caller, the thread that ...",
    r"who asks (for|about)": "a caller that ...",
    r"none of (ours|yours)\b": "not our own, or leave it out",
    r"\banew\b": "again, independently",
    r"held against": "compared with, checked against",
    r"(gone|going) through\b": "visited, searched, read",
    r"goes? round\b|goes round": "loops",
    r"stands? behind": "follows, is after",
    r"one behind the other": "one after the other",
    r"(step|node|state|statement|declaration|name|condition|run|gap|section|event|mark|comma) behind (it|them|the|a)\b": "after",
    r"(?<!lags )(?<!lag )behind (the|a|an|its) (statement|declaration|condition|step|name|node|command|gap|table|run)\b": "after",
    r"lets? go of": "releases",
    r"passed over": "ignored, skipped",
    r"in vain": "fails, unsuccessfully",
    r"come in between": "intervene",
    r"(?-i:[Nn]obody)": "no thread, no other thread, or the passive",
    r"somebody": "another thread, a user",
    r"everybody": "all threads",
    r"but for (the|a|an|its|those|what)\b": "except",
    r"all the same\b": "still, nevertheless",
    r"circle of causes": "causal cycle",
    r"\ba (line|column|byte|word|bit|flag|question|text|frame) an? (block|thread|claim|question|step|event|local|global|spot|file|line)\b": "one ... per ...",
    r"\bof late\b": "recent",
    r"(does|do) not go (with|together)": "cannot be combined with",
    r"left alone": "not changed",
    r"stands? for ever": "is permanent",
    r"has no way out\b.*for ever": "can get stuck",
    r"hangs? on the": "depends on the",
    r"last word says": "final message",
    r"told apart": "distinguished",
    r"(bytes|bits|instructions|ns) an? (event|state|slot|thread|step|operation|record|node|byte|cell|condition|transaction|variable)\b": "... per ...",
    r"which (model|net|program|history|trace|result)\?": "missing ... argument",
}
ALLOWED = {  # a place where the words mean what they say
    "src/lang/parse_foreign.c",  # words of other languages
}
rules = [(re.compile(r"(?<![\w-])(?:" + rx + ")", re.I), instead) for rx, instead in TURNS.items()]
TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
number = 0


def check(name, ok, why=""):
    global number
    number += 1
    print(f"{'ok' if ok else 'not ok'} {number} - {name}")
    if not ok:
        print("\n".join("# " + line for line in why.splitlines()[:400]))


def turns(where, text):
    """The turns in a text, as lines 'where: ... -> words to use'."""
    text = re.sub(r"\s+", " ", text)
    return [f"{where}: ...{text[max(0, m.start() - 40):m.end() + 20]}... -> {instead}" for rx, instead in rules for m in rx.finditer(text)]


def prose(path):
    """The comments and string literals of a C file; adjacent lines of a comment and adjacent literals are one text."""
    text, literal = path.read_text(encoding="utf-8"), None
    for m in TOKEN.finditer(text):
        t, line = m[0], text.count("\n", 0, m.start()) + 1
        if t[0] == "/":
            yield line, re.sub(r"\n\s*\*(?!/)", "\n", t)
        elif t[0] == '"':
            if literal and not text[literal[2]:m.start()].strip():
                literal = [literal[0], literal[1] + t[1:-1], m.end()]
            else:
                if literal:
                    yield literal[0], literal[1].replace("\\n", " ")
                literal = [line, t[1:-1], m.end()]
    if literal:
        yield literal[0], literal[1].replace("\\n", " ")


def sources(*folders):
    bad = []
    for folder in folders:
        for path in sorted((root / folder).rglob("*.[ch]")):
            if str(path.relative_to(root)) not in ALLOWED:
                for line, text in prose(path):
                    bad += turns(f"{path.relative_to(root)}:{line}", text)
    return bad


def run(*args):
    p = subprocess.run([intact, *args], capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
    return p.stdout + p.stderr


check("the list finds what it is meant to find", all(turns("", t) for t in [
    "goes round for\never", "when memory ends", "the limit was spent", "judged anew", "none of ours", "nobody asks", "a line a block"]))
bad = []
for path in [root / n for n in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")] + sorted((root / "docs").glob("*.md")):
    bad += turns(path.name, path.read_text(encoding="utf-8"))
check("README and docs", not bad, "\n".join(bad))

commands = re.findall(r"^  (\S+) +\S", run("help").split("commands:")[1], re.M)
bad = [b for c in commands for b in turns(f"intact {c} --help", run("help", c))]
check(f"the help of {len(commands)} commands", len(commands) > 12 and not bad, "\n".join(bad))
topics = re.findall(r"^  ([a-z0-9-]+) +\S", run("explain"), re.M)
bad = [b for t in topics for b in turns(f"intact explain {t}", run("explain", t))]
check(f"{len(topics)} pages of explain", len(topics) > 100 and not bad, "\n".join(bad))
for folder in sorted(p.name for p in (root / "src").iterdir() if p.is_dir()):
    bad = sources(f"src/{folder}")
    check(f"comments and messages of src/{folder}", not bad, "\n".join(bad))
bad = sources("runtime", "include")
check("comments and messages of runtime and include", not bad, "\n".join(bad))

index = (root / "docs/index.md").read_text(encoding="utf-8")
missing = [p.name for p in sorted((root / "docs").glob("*.md")) if p.name != "index.md" and f"({p.name}" not in index]
check("docs/index.md links every page", not missing, "\n".join(missing))
wide = []
for name in ("README.md", "docs/index.md", "docs/architecture.md", "docs/reliability.md", "docs/findings.md"):
    for line in (root / name).read_text(encoding="utf-8").splitlines():
        if line.startswith("|"):
            cells = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", c).strip() for c in line.strip("|").split("|")]
            wide += [f"{name}: {c}" for c in cells if len(c) > 200]
check("tables hold words, not paragraphs", not wide, "\n".join(wide))
print(f"1..{number}")
