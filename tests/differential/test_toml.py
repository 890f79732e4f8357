#!/usr/bin/env python3
"""The reader of project files compared with Python's tomllib: what it accepts, tomllib accepts with the same values; files made
of what it supports are accepted; what it refuses has a place, and where tomllib accepts it, one of the things that are documented
as not supported.

Usage: test_toml.py TOML_DUMP [SEED]     (TAP on stdout)"""
import json
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))
from tap import check, done  # noqa: E402

try:
    import tomllib
except ImportError:
    check("Python's tomllib (3.11) is not there # SKIP", True)
    done()

dump = sys.argv[1]
seed = int(sys.argv[2]) if len(sys.argv) > 2 else 20261116
rng = random.Random(seed)
print(f"# seed {seed}")
UNSUPPORTED = r"not supported|is not a value|expected a string or '\]' in an array|an empty key|more than|is larger|expected the end of the line|control character|invalid escape"


def flat(tree, table=""):
    """[(table, key, value)] of a parsed document; tables are no values."""
    for k, v in tree.items():
        if isinstance(v, dict):
            yield from flat(v, f"{table}.{k}" if table else k)
        else:
            yield table, k, v


def word():
    return "".join(rng.choice("abcXYZ019_-") for _ in range(rng.randint(1, 8)))


def string():
    if rng.random() < 0.3:
        return "'" + "".join(rng.choice("abc \\\"#*?[]=é") for _ in range(rng.randint(0, 12))) + "'"
    parts = ["a", "*", "?", " ", "#", "\\n", "\\t", "\\\"", "\\\\", "\\u00e9", "\\U0001F600", "é", "[", "]", "=", "'", "{"]
    return '"' + "".join(rng.choice(parts) for _ in range(rng.randint(0, 12))) + '"'


def value():
    kind = rng.random()
    if kind < 0.35:
        return string()
    if kind < 0.55:
        return rng.choice(["0", "7", "-3", "+12", "1_000", "123456789012345678"])
    if kind < 0.7:
        return rng.choice(["true", "false"])
    items, text = [string() for _ in range(rng.randint(0, 4))], "["
    gap = lambda: rng.choice(["", " ", "\n", "\n  # note\n", "\t", "\r\n"])
    for i, s in enumerate(items):
        text += gap() + s + gap() + ("," if i + 1 < len(items) or rng.random() < 0.3 else "")
    return text + gap() + "]"


def document():
    lines, taken = [], set()
    table, heads = "", set()
    for _ in range(rng.randint(0, 12)):
        r = rng.random()
        if r < 0.2:
            name = word()
            if name in heads or any(t == name or t.startswith(name + ".") for t, _ in taken) or ("", name) in taken:
                continue
            heads.add(name)
            table = name
            lines.append(rng.choice(["", " "]) + f"[{rng.choice(['', ' '])}{name}]" + rng.choice(["", "  # here"]))
        elif r < 0.3:
            lines.append(rng.choice(["", "# a comment", "   "]))
        else:
            key = word()
            if (table, key) in taken or (table == "" and key in heads):
                continue
            taken.add((table, key))
            shown = key if rng.random() < 0.8 else f'"{key}"'
            lines.append(f"{shown}{rng.choice(['=', ' = '])}{value()}{rng.choice(['', ' # why'])}")
    return rng.choice(["\n", "\r\n"]).join(lines) + rng.choice(["", "\n"])


def mutant(text):
    text = list(text)
    for _ in range(rng.randint(1, 3)):
        at = rng.randint(0, len(text))
        piece = rng.choice(list("[]{}=\"'#.,\\\n\t 0-_") + ["\x00", "\x7f", "1.5", "[[", '"""', "1979-05-27", "{ a = 1 }", "0x1f", "inf", "é"])
        if rng.random() < 0.5:
            text[at:at] = piece
        else:
            del text[at:at + rng.randint(1, 3)]
    return "".join(text)


def peer(data):
    try:
        return list(flat(tomllib.loads(data.decode("utf-8"))))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError):
        return None


made = [(document().encode(), True) for _ in range(400)]
made += [(mutant(d.decode()).encode(), False) for d, _ in made for _ in range(4)]
made += [(b"a = \xff\n", False), (b"\xef\xbb\xbfa = 1\n", False), (b"a", False), (b"[", False), (b"x = [\"a\",", False), (b"", True)]
with tempfile.TemporaryDirectory() as tmp:
    paths = []
    for i, (data, _) in enumerate(made):
        paths.append(Path(tmp) / f"{i}.toml")
        paths[-1].write_bytes(data)
    ours = []
    for at in range(0, len(paths), 500):
        p = subprocess.run([dump, *paths[at:at + 500]], capture_output=True, text=True, timeout=120)
        assert p.returncode == 0, p.stderr
        ours += [json.loads(line) for line in p.stdout.split("\n") if line]
check("every file is answered", len(ours) == len(made), (len(ours), len(made)))
wrong, refused, placeless, unexplained = [], [], [], []
agreed = 0
for (data, good), got in zip(made, ours):
    theirs = peer(data)
    if isinstance(got, str):
        if good:
            refused.append((data, got))
        if not re.search(r"^\S*\d+\.toml:\d+:\d+: error: ", got):
            placeless.append((data, got))
        if theirs is not None and not re.search(UNSUPPORTED, got):
            unexplained.append((data, got))
    elif theirs is None or sorted((t, k, json.dumps(v)) for t, k, v in theirs) != sorted((t, k, json.dumps(v)) for t, k, v in got):
        wrong.append((data, got, theirs))
    else:
        agreed += 1
check(f"{agreed} files are read with the values of tomllib", not wrong and agreed > 600, "\n".join(map(str, wrong[:5])))
check("files of the supported part are accepted", not refused, "\n".join(map(str, refused[:5])))
check("each refusal has a place", not placeless, "\n".join(map(str, placeless[:5])))
check("what tomllib accepts is refused only as not supported", not unexplained, "\n".join(map(str, unexplained[:5])))
done()
