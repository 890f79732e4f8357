#!/usr/bin/env python3
"""docs/language.md is true: its models check, are in canonical layout, and
the lists in it agree with the sources.

Usage: test_language_doc.py INTACT SOURCE_ROOT      (TAP on stdout)
"""
import re
import sys
import tempfile
from pathlib import Path

from tap import check, done, run

intact, root = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
text = (root / "docs/language.md").read_text()

blocks = re.findall(r"^```(atm|sml)\n(.*?)^```$", text, re.M | re.S)
check("the page has models", len(blocks) >= 5, len(blocks))
for n, (kind, model) in enumerate(blocks, 1):
    with tempfile.TemporaryDirectory() as tmp:
        path = Path(tmp, f"model.{kind}")
        path.write_text(model)
        rc, out, err = run([intact, "check", "--dump=ir", path])
        check(f"model {n} is right, without a warning", rc == 0 and not err, err)
        rc, out, err = run([intact, "fmt", path])
        check(f"model {n} is in canonical layout", rc == 0 and out == model, out + err)

# the words that cannot be names are those of the lexer
words = re.findall(r'\{ "(\w+)", T_\w+, true, \w+ \}', (root / "src/lang/lex.c").read_text())
said = re.search(r"cannot be names: `([^`]*)`", text)[1].split()
check("the list of words is the lexer's", sorted(words) == said, f"{sorted(words)}\n{said}")


def number(name, file):
    m = re.search(rf"^#define {name}\s+\(?([^/\n]*)", (root / file).read_text(), re.M)
    expr = re.sub(r"\((?:size_t|int)\)|[u()]", "", m[1]).strip()
    return eval(expr)  # 1 << 20 and such, from our own headers


limits = dict(re.findall(r"^\| ([a-z][^|]*?) \| (\d+)[^|]*\|$", text, re.M))
for what, name, file in (
        ("nesting of statements and parentheses", "PARSE_DEPTH", "src/lang/parse.h"),
        ("height of an expression", "EXPR_HEIGHT", "src/lang/parse.h"),
        ("calls inside calls", "LOWER_INLINE_DEPTH", "src/lang/lower.h"),
        ("statements and expressions inside each other, through all calls", "LOWER_DEPTH", "src/lang/lower.h"),
        ("shared values altogether", "IR_MAX_GLOBALS", "src/ir/ir.h"),
        ("local values of a thread that live across a step", "IR_MAX_SLOTS", "src/ir/ir.h"),
        ("choices in one step", "IR_MAX_CHOICES", "src/ir/ir.h"),
        ("jumps in one step", "IR_FUEL", "src/ir/ir.h"),
        ("program after inlining", "IR_MAX_CODE", "src/ir/ir.h")):
    check(f"the limit on {what}", limits.get(what) == str(number(name, file)),
          f"{limits.get(what)}, in the source {number(name, file)}")
check("the limit on a file", number("SOURCE_MAX", "src/base/source.h") == 256 << 20)
done()
