#!/usr/bin/env python3
"""Makes docs/examples.md from the headers of the files in examples/.

    tools/examples-table.py            print the page
    tools/examples-table.py --write    write docs/examples.md
    tools/examples-table.py --check    exit 1 when docs/examples.md is not what would be written

A header is the comment that opens a file: a title, `From:` up to a line that
ends with a full stop, what is right or wrong, an empty comment line, and the
expectation lines. Tests use `examples()` and `Header` to read them.
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "examples.md"

BLOCK_KEYS = ("atomic", "commit", "causal", "reducible")
KEYS = {"block": BLOCK_KEYS, "program": ("serializable", "commit"),
        "object": ("linearizable", "regular", "safe")}
CONDITIONS = ("always", "finally", "reach", "leak")  # those of each kind in the order of the text
FAULTS = ("none", "range", "overflow", "division", "shift", "index", "release", "assert", "commit", "null", "freed", "double-free", "exhausted")

SECTIONS = [  # how `From:` starts, heading
    ("commit-atomicity paper", "Commit-atomicity (Flanagan, 2004)"),
    ("causal-atomicity paper", "Causal atomicity (Farzan and Madhusudan, 2006)"),
    ("Atomizer paper", "Atomizer (Flanagan and Freund, 2004)"),
    ("SOAR paper", "Atomic registers (Guerraoui and Vukolić, 2008)"),
    ("everyday; tells", "Programs that tell one notion from another"),
    ("everyday", "Everyday programs"),
]

INTRO = """\
# The examples

This page is made by `tools/examples-table.py` from the comments that open the
files in `examples/`; a test compares the two. Try any of them:

    intact sim examples/lost-update.atm
    intact check examples/lost-update.atm

What the verdicts mean:

- **atomic**: every run has the same outcome as one in which the block happens
  at one moment, the marks of other blocks ignored.
- **commit**: the block's commit marks, or some commit points where it has
  none, prove it by the shadow store. On the line of the program: with all
  blocks at once.
- **causal**: no other thread's step is caused by the block and causes a later
  step of it.
- **reducible**: right-movers, one non-mover at the most, left-movers.
- **serializable**: all blocks of the program at once happen one after another.
- **linearizable**, **regular**, **safe**: conditions on the histories of an object.
- **fault**, **deadlock**: some run goes wrong in itself; some run stops with
  unfinished threads.
- **always**, **finally**, **can always reach**: the model's conditions on its states; **leaks**: an allocated cell is lost
  at the end.
- **stuck**: a block cannot finish when it runs alone, or the threads can get
  to where they never leave their blocks again.

A property that is not listed for a program is not claimed either way. Most
often that is a block whose neighbours, their own marks ignored, can be caught
waiting for it half-way: taken alone it is not at one moment for them, though
all blocks together are serializable.
"""


class Header:
    """What the comment at the top of an example says."""

    def __init__(self, path):
        self.path = path
        self.title = self.origin = self.text = ""
        self.blocks, self.objects, self.program = {}, {}, {}
        self.fault = self.deadlock = self.stuck = None
        self.conditions = {}
        self.errors = []
        lines = []
        for line in path.read_text(encoding="utf-8").split("\n"):
            if not line.startswith("//"):
                break
            lines.append(line[2:].strip())
        self._prose([l for l in lines if not l.startswith("@")])
        for n, line in enumerate(lines, 1):
            if line.startswith("@"):
                self._expectation(n, line)

    def _prose(self, lines):
        part = "title"
        for line in lines:
            if part == "title" and line.startswith("From: "):
                part, line = "origin", line[len("From: "):]
            setattr(self, part, (getattr(self, part) + " " + line).strip())
            if part == "origin" and line.endswith("."):
                part = "text"
        self.origin = self.origin.removesuffix(".").removeprefix("the ")
        if not (self.title and self.origin and self.text):
            self.errors.append("the header needs a title, a `From:` sentence and an explanation")

    def _expectation(self, n, line):
        m = re.fullmatch(r"@expect (?:(object) (\w+)|([\w.@]+)): (.+)", line)
        if not m:
            self.errors.append(f"line {n}: not an expectation: {line}")
            return
        what, rest = m[2] or m[3], m[4]
        if not m[1] and what in ("fault", "deadlock", "stuck"):
            if rest not in (FAULTS if what == "fault" else ("yes", "no")):
                self.errors.append(f"line {n}: {what} cannot be {rest}")
            setattr(self, what, rest)
            return
        if not m[1] and what in CONDITIONS:
            if not re.fullmatch(r"(yes|no)( (yes|no))*", rest) or (what == "leak" and " " in rest):
                self.errors.append(f"line {n}: {what} cannot be {rest}")
            self.conditions[what] = rest.split()
            return
        kind = "object" if m[1] else "program" if what == "program" else "block"
        into = self.program
        if kind != "program":
            table = self.objects if kind == "object" else self.blocks
            into = table.setdefault(what, {})
        for word in rest.split(" "):
            key, _, value = word.partition("=")
            if key not in KEYS[kind] or value not in ("yes", "no") or key in into:
                self.errors.append(f"line {n}: a {kind} cannot have {word}")
            into[key] = value

    def verdicts(self):
        """The expectations as the lines of a table cell."""
        out = []
        for name, p in list(self.blocks.items()) + list(self.objects.items()):
            said = ", ".join(("" if v == "yes" else "**not** ") + k for k, v in p.items())
            out.append(f"`{name}`: {said}" if said else f"`{name}`")
        words = {"serializable": "serializable", "commit": "commit-atomic"}
        if self.program:
            out.append("program: " + ", ".join(
                ("" if v == "yes" else "**not** ") + words[k] for k, v in self.program.items()))
        if self.fault not in (None, "none"):
            out.append(f"fault: {self.fault}")
        words = {"always": ("always holds", "always **not** held"), "finally": ("finally holds", "finally **not** held"),
                 "reach": ("can always reach", "**not** always reachable"), "leak": ("leaks", "")}
        for what, values in self.conditions.items():
            out += [words[what][v == "no"] for v in values if words[what][v == "no"]]
        for what in ("deadlock", "stuck"):
            if getattr(self, what) == "yes":
                out.append(what)
        return out


def examples():
    """The headers of all examples, in the order of their names."""
    folder = ROOT / "examples"
    return [Header(p) for p in sorted(folder.rglob("*")) if p.suffix in (".atm", ".sml")]


def cell(text):
    return text.replace("|", "\\|").replace("*", "\\*").replace("\\*\\*not\\*\\*", "**not**")


def page():
    out = [INTRO]
    left = examples()
    for start, heading in SECTIONS:
        rows = [h for h in left if h.origin.startswith(start)]
        left = [h for h in left if h not in rows]
        out.append(f"## {heading}\n\n| file | from | what it shows | expected |\n|---|---|---|---|")
        for h in rows:
            name = h.path.relative_to(ROOT).as_posix()
            out.append(f"| [{name.removeprefix('examples/')}](../{name}) | {cell(h.origin)} | "
                       f"{cell(h.title)} {cell(h.text)} | {'<br>'.join(map(cell, h.verdicts()))} |")
        out.append("")
    if left:
        raise SystemExit(f"{left[0].path}: no section for `From: {left[0].origin}`")
    return "\n".join(out)


def main(argv):
    if argv == ["--write"]:
        PAGE.parent.mkdir(exist_ok=True)
        PAGE.write_text(page(), encoding="utf-8")
    elif argv == ["--check"]:
        return 0 if PAGE.is_file() and PAGE.read_text(encoding="utf-8") == page() else 1
    elif not argv:
        sys.stdout.write(page())
    else:
        sys.stderr.write(__doc__)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
