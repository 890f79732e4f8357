#!/usr/bin/env python3
"""intact fmt: exact layouts, round trips of every model in the tree, models
whose white space and comments were scrambled, and the command's options.

Usage: test_fmt.py INTACT [SEEDS]    (SEEDS: scrambled variants a model, 4)

What counts as the same model is decided here by a lexer of its own: the
sequence of tokens, and the sequence of comments, must not change. (The
command itself also compares the trees before it prints.)
"""
import difflib
import os
import random
import re
import stat
import sys
import tempfile
from pathlib import Path

from tap import check, done, run

intact = str(Path(sys.argv[1]).resolve())
seeds = int(sys.argv[2]) if len(sys.argv) > 2 else 4
root = Path(__file__).resolve().parent.parent.parent

LEX = re.compile(r"(?P<space>[ \t\r\n\f\v]+|\ufeff)|(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<token>[A-Za-z_]\w*|0[xX]\w+|\d+"
                 r"|<<=|>>=|\.\.|:=|<=|>=|==|!=|<<|>>|&&|\|\||\+\+|--|\+=|-=|\*=|/=|%=|&=|\|=|\^=|.)", re.S)


def lex(text):
    """(tokens, comments without the white space that layout may change)"""
    tokens, comments = [], []
    for m in LEX.finditer(text):
        if m.lastgroup == "token":
            tokens.append(m[0])
        elif m.lastgroup == "comment":
            comments.append([s.strip() for s in m[0].split("\n")])
    # the paper's "! =" in two becomes one
    joined = "\x00".join(tokens).replace("!\x00=", "!=")
    return joined, comments


def fmt(text, sml):
    return run([intact, "fmt", "-"] + (["--sml"] if sml else []), stdin=text.encode())


def fmt_all(models):
    """[(name, text)] -> [formatted text or None], in one run of the command (a
    file with errors is left alone), and the names a second run would change."""
    with tempfile.TemporaryDirectory() as tmp:
        paths = [Path(tmp, f"{i}{Path(name).suffix}") for i, (name, _) in enumerate(models)]
        for path, (_, text) in zip(paths, models):
            path.write_bytes(text.encode())
        rc, out, err = run([intact, "fmt", "-w", *paths], timeout=600)
        if rc not in (0, 2):
            check("fmt -w of many files", False, f"exit {rc}\n{err}")
        wrong = {m[1] for m in re.finditer(r"^(\S+?):\d+:\d+: error", err, re.M)}
        again = run([intact, "fmt", "--check", *[p for p in paths if str(p) not in wrong]], timeout=600)
        unstable = set(again[1].split())
        return [(None if str(p) in wrong else p.read_bytes().decode(), str(p) in unstable) for p in paths], err


def what_changed(text, once, unstable):
    """None when all is well, else what is wrong."""
    if once is None:
        return "it has errors"
    if lex(once) != lex(text):
        return "tokens or comments changed\n" + diff(text, once)
    if unstable:
        return "formatting it again changes it\n" + once
    if any(s != s.rstrip() for s in once.split("\n")) and not re.search(r"/\*[^*]*\n", once):
        return "white space at the end of a line"
    if "\n\n\n" in re.sub(r"/\*.*?\*/", "c", once, flags=re.S):
        return "two blank lines"
    return None


def diff(a, b):
    return "\n".join(difflib.unified_diff(a.split("\n"), b.split("\n"), "before", "after", lineterm=""))


def scramble(text, rng):
    """The same tokens with other white space and more comments between them."""
    out = []
    for m in LEX.finditer(text):
        if m.lastgroup == "comment":
            out.append(m[0] + ("\n" if m[0].startswith("//") else ""))
        elif m.lastgroup == "token":
            out.append(m[0])
        else:
            continue
        r = rng.random()
        if r < 0.60:
            out.append(" ")
        elif r < 0.80:
            out.append(rng.choice(["\n", "\n\n", "\n\n\n  ", "\t", "\r\n", "\n      ", "   "]))
        elif r < 0.88:
            out.append(rng.choice([" // c\n", " /* c */ ", "\n/* c */\n", "\n// c\n", " // c\n   // d\n",
                                   " /* a\n  * b\n  */ ", "\n  /* x\n y */ /* z */\n", " /* c */"]))
        else:
            out.append(" ")
    return "".join(out)


# ---- exact layouts ---------------------------------------------------------

exact = sorted((root / "tests/golden/fmt").glob("*.in.*"))
check("there are exact cases", len(exact) >= 8)
for path in exact:
    want = Path(str(path).replace(".in.", ".out."))
    rc, got, err = fmt(path.read_bytes().decode(), path.suffix == ".sml")
    check(f"layout of {path.name}", rc == 0 and got == want.read_text(), got + err)

# ---- every model there is ---------------------------------------------------

models = [p for d in ("examples", "tests/golden") for p in sorted((root / d).rglob("*.[as][tm][ml]"))]
texts = [(p.name, p.read_bytes().decode()) for p in models]
good = []
for path, (name, text), (once, unstable) in zip(models, texts, fmt_all(texts)[0]):
    if once is None:
        check(f"{name} has errors on purpose", path.parent.name == "errors")
        continue
    why = what_changed(text, once, unstable)
    check(f"round trip of {path.relative_to(root)}", why is None, why)
    # a line's end may stand for a missing ';' of SML: those cannot be scrambled
    if path.suffix != ".sml" or "missing-semicolon" not in run([intact, "check", "--dump=ir", path])[2]:
        good.append((name, text))
for seed in range(seeds):
    mixed = [(name, scramble(text, random.Random(f"{seed} {name}"))) for name, text in good]
    results, err = fmt_all(mixed)
    bad = [(name, why) for (name, text), (once, unstable) in zip(mixed, results)
           if (why := what_changed(text, once, unstable))]
    check(f"{len(mixed)} scrambled models, seed {seed}", not bad,
          "\n".join(f"{name}: {why}" for name, why in bad[:1]) + "\n" + err)

# ---- the command ------------------------------------------------------------

with tempfile.TemporaryDirectory() as tmp:
    ugly, fine = "int x;thread t{x=1;}", "int x;\nthread t {\n  x = 1;\n}\n"
    a, b, wrong = Path(tmp, "a.atm"), Path(tmp, "b.atm"), Path(tmp, "wrong.atm")
    a.write_text(ugly)
    b.write_text(fine)
    wrong.write_text("int x\nthread t { }")
    rc, out, err = run([intact, "fmt", a])
    check("prints the formatted text and leaves the file", rc == 0 and out == fine and a.read_text() == ugly, out + err)
    rc, out, err = run([intact, "fmt", "--check", a, b])
    check("--check names what would change, exit 1", rc == 1 and out == f"{a}\n" and a.read_text() == ugly, out + err)
    rc, out, err = run([intact, "fmt", "--check", b])
    check("--check is quiet about canonical files", rc == 0 and not out and not err)
    rc, out, err = run([intact, "fmt", "-w", a, wrong, b])
    check("a file with errors is left alone, the others are written, exit 2",
          rc == 2 and a.read_text() == fine and wrong.read_text() == "int x\nthread t { }" and "wrong.atm:1:6" in err, err)
    a.write_text(ugly)
    os.chmod(a, 0o640)
    link = Path(tmp, "link.atm")
    link.symlink_to(a)
    rc, out, err = run([intact, "fmt", "--write", link])
    check("--write keeps the mode and a link", rc == 0 and not out and link.is_symlink() and a.read_text() == fine and
          stat.S_IMODE(a.stat().st_mode) == 0o640, err)
    before = b.stat()
    rc, out, err = run([intact, "fmt", "-w", b])
    check("a canonical file is not touched", rc == 0 and b.stat().st_mtime_ns == before.st_mtime_ns and
          b.stat().st_ino == before.st_ino)
    check("no temporary file is left", sorted(os.listdir(tmp)) == ["a.atm", "b.atm", "link.atm", "wrong.atm"], os.listdir(tmp))
    rc, out, err = run([intact, "fmt", "-w", "-"], stdin="skip")
    check("standard input cannot be rewritten", rc == 2 and "standard input" in err, err)
    rc, out, err = run([intact, "fmt", "--sml", "-"], stdin="int Y;Y:=Y+1")
    check("--sml reads standard input as SML", rc == 0 and out == "int Y;\nY := Y + 1\n", out + err)
    rc, out, err = run([intact, "fmt"])
    check("no file: usage", rc == 2 and "missing MODEL argument" in err, err)
    rc, out, err = run([intact, "fmt", "--chek", a])
    check("a slip suggests the option", rc == 2 and "--check" in err, err)
done()
