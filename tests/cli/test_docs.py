#!/usr/bin/env python3
"""The commands that README.md and docs/ show are run, and print what is shown.

Usage: test_docs.py INTACT SOURCE-ROOT [--update] [FILE...]      (TAP on stdout)

Every fenced block must be one of these, so that no stale one stays unnoticed:

  - a session: lines "$ COMMAND" with the output (both streams) below. "> LINE" in
    the output is what the reader types. A line "..." stands for any lines.
  - sh: commands alone; none may end with 2 (usage), 4 (internal) or a signal.
  - another language (c, atm, sml, python, yaml, lua, vim, elisp, text): nothing to run. `text` is
    for grammars, pictures and formats.

A comment on the line before the fence changes that:

  <!-- shortened -->            lines are left out, and ends of lines
  <!-- output of: COMMAND -->   the block is this command's output
  <!-- not run: WHY -->         it cannot be run here; listed with its reason

Commands run in a copy of the tree's examples, so files they write are gone
afterwards. Process ids, times and addresses are not compared.

--update writes the output as it is now into the blocks that are not shortened.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from difflib import unified_diff
from pathlib import Path

from tap import check, done

SILENT = {"c", "atm", "sml", "python", "yaml", "lua", "vim", "elisp", "text", "json", "edn", "cmake", "meson", "mermaid"}
FENCE = re.compile(r"^(?:<!-- (?P<mark>[^\n]*?) -->\n)?```(?P<lang>\w*)\n(?P<body>.*?)^```$", re.M | re.S)
args = [a for a in sys.argv[1:] if a != "--update"]
update = "--update" in sys.argv
intact, root = Path(args[0]).resolve(), Path(args[1]).resolve()
files = [Path(f).resolve() for f in args[2:]] or [root / "README.md", *sorted((root / "docs").glob("*.md"))]


class Block:
    def __init__(self, path, m, line):
        self.path, self.span, self.line = path, m.span("body"), line
        self.mark, self.lang, self.body = m["mark"] or "", m["lang"], m["body"]
        self.where = f"{path.name}:{line}"
        self.shortened = self.mark == "shortened"
        self.output_of = self.mark[len("output of: "):] if self.mark.startswith("output of: ") else None
        self.why_not = self.mark[len("not run: "):] if self.mark.startswith("not run: ") else None

    def sessions(self):
        """(command, what is shown below it) for each."""
        if self.output_of:
            return [(self.output_of, self.body)]
        parts = re.split(r"^\$ (.*)\n", self.body, flags=re.M)
        return list(zip(parts[1::2], parts[2::2]))

    def problem(self):
        """Why it is no block of the kinds above, or None."""
        marked = self.shortened or self.output_of or self.why_not
        if self.mark and not marked and re.match(r"(shortened|output|not run)", self.mark):
            return f"the mark is not one of those known: {self.mark}"
        if self.why_not is not None or self.output_of:
            return None
        session = self.body.startswith("$ ")
        if self.lang in SILENT:
            told = re.search(r"^(\$ |intact )", self.body, re.M) if self.lang == "text" else None
            return "a text block with a command" if told else None
        if self.lang == "sh":
            return "a session is no sh block" if session else None
        if self.lang not in ("", "console"):
            return f"unknown language {self.lang}"
        return None if session else "no session, and no mark says why (see tests/cli/test_docs.py)"


def blocks_of(path):
    text = path.read_text()
    return [Block(path, m, text.count("\n", 0, m.start("lang")) + 1) for m in FENCE.finditer(text)]


def typed(shown):
    return "".join(line[2:] + "\n" for line in shown.splitlines() if line.startswith("> "))


def run(command, shown, cwd):
    """Exit status and what both streams said."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("INTACT", "ASAN", "UBSAN", "COLUMNS"))}
    env.update(PATH=f"{cwd}/.bin:{env['PATH']}", NO_COLOR="1", LC_ALL="C.UTF-8", TERM="dumb")
    p = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=cwd, env=env, input=typed(shown).encode(), stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, timeout=300)
    out = p.stdout.decode("utf-8", "replace")
    return p.returncode, out


def even(line):
    """What may differ from run to run is made equal."""
    line = re.sub(r"\bpid=\d+", "pid=N", line)
    line = re.sub(r"0x[0-9a-f]+", "0xN", line)
    return re.sub(r"(^|\s)(?:<?\d+(?:\.\d+)?) (?:ms|s|us|min)\b", r"\1T", line).rstrip()


def matches(shown, got, shortened):
    """Is each line shown printed, in this order, with nothing else where nothing is left out?"""
    at, skip = 0, shortened
    for line in shown:
        if line == "...":
            skip = True
            continue
        same = (lambda g: g.startswith(line)) if shortened else (lambda g: g == line)
        while skip and at < len(got) and not same(got[at]):
            at += 1
        if at == len(got) or not same(got[at]):
            return False
        at, skip = at + 1, shortened
    return skip or at == len(got)


def lines_of(text):
    lines = [even(line) for line in text.splitlines()]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def session(block, cwd):
    """Differences, as text, and the body with the output of now."""
    wrong, now = [], ""
    for command, shown in block.sessions():
        _, out = run(command, shown, cwd)
        want, got = lines_of(shown), lines_of(out)
        if not matches(want, got, block.shortened):
            wrong.append("\n".join(unified_diff(want, got, "shown", "printed", lineterm="", n=2)))
        keep = block.shortened or "..." in shown.splitlines() or matches(want, got, False)
        now += ("" if block.output_of else f"$ {command}\n") + (shown if keep else out.rstrip("\n") + "\n")
    return wrong, now


def commands(block, cwd):
    wrong = []
    for line in re.sub(r"\\\n", "", block.body).splitlines():
        rc, out = run(line, "", cwd)
        if rc in (2, 4) or rc >= 124 or rc < 0:
            wrong.append(f"{line}\nexits with {rc}: {out[-800:]}")
    return wrong


def work_dir(tmp):
    """The examples, writable, and intact on the path."""
    shutil.copytree(root / "examples", tmp / "examples")
    (tmp / ".bin").mkdir()
    for name in ("intact", "intact-cc", "intact-c++"):
        (tmp / ".bin" / name).symlink_to(intact)
    return tmp


def check_file(path, cwd):
    fresh, exempt, ran = {}, [], 0
    for b in blocks_of(path):
        why = b.problem()
        if why:
            check(f"{b.where}: a block of a known kind", False, why)
        elif b.why_not is not None:
            exempt.append(f"{b.where}: {b.why_not}")
        elif b.lang == "sh":
            wrong = commands(b, cwd)
            check(f"{b.where}: the commands work", not wrong, "\n".join(wrong))
            ran += 1
        elif b.lang not in SILENT or b.output_of:
            wrong, now = session(b, cwd)
            if update and now != b.body:
                fresh[b.span] = now
            check(f"{b.where}: prints what is shown: {b.sessions()[0][0][:60]}", not wrong,
                  "\n".join(wrong) + f"\ntests/cli/test_docs.py INTACT ROOT --update {path.name} writes what is printed")
            ran += 1
    text = path.read_text()
    for (a, z), now in sorted(fresh.items(), reverse=True):
        text = text[:a] + now + text[z:]
    if fresh:
        path.write_text(text)
        print(f"# {path.name}: {len(fresh)} blocks updated")
    return exempt, ran


def see_what_is_wrong():
    """This test notices a block that is stale, unmarked or marked wrongly."""
    with tempfile.TemporaryDirectory() as tmp:
        page = Path(tmp, "page.md")
        fence = "```"
        for text, good in ((f"{fence}\nintact check m.atm\n{fence}\n", False), (f"{fence}\n$ intact\n{fence}\n", True),
                           (f"<!-- not run: none -->\n{fence}\nx\n{fence}\n", True), (f"<!-- not ran: why -->\n{fence}\nx\n{fence}\n", False),
                           (f"{fence}text\n$ intact\n{fence}\n", False), (f"{fence}rust\nx\n{fence}\n", False)):
            page.write_text(text)
            found = blocks_of(page)
            check(f"a block is {'good' if good else 'refused'}: {text!r}", len(found) == 1 and (found[0].problem() is None) == good)
    for shown, short, good in ((["a", "b"], False, True), (["a"], False, False), (["a"], True, True), (["a", "..."], False, True),
                               (["...", "b"], False, True), (["b", "a"], True, False), (["x"], True, False), ([], False, False)):
        check(f"{shown} is {'' if good else 'not '}what a, b says{', shortened' if short else ''}", matches(shown, ["a", "b"], short) == good)


see_what_is_wrong()
exempt, ran = [], 0
with tempfile.TemporaryDirectory(prefix="intact-docs-") as tmp:
    cwd = work_dir(Path(tmp))
    for f in files:
        e, n = check_file(f, cwd)
        exempt += e
        ran += n
for e in exempt:
    print(f"# not run: {e}")
check("there are sessions, and every exemption has a reason", ran and all(e.split(": ", 1)[1] for e in exempt), exempt)
done()
