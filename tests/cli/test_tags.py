#!/usr/bin/env python3
"""A name means one thing in src/, runtime/ and include/: no struct, union or enum tag, no typedef and no macro is
defined in two places, every header compiles alone, and all headers compile together. A reason without a place has one type
(docs/architecture.md, idioms): no character arrays, pointers to strings or static buffers for it.

Not counted: macros that their file undefines, and alternatives of one name in one header (#if ... #else)."""
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

root = Path(sys.argv[1])
generated = sys.argv[2:]  # directories of generated headers
TAG = re.compile(r"\b(?:struct|union|enum)\s+(?:__attribute__\s*\(\(.*?\)\)\s*)?(\w+)\s*\{")
MACRO = re.compile(r"^[ \t]*#\s*define\s+(\w+)", re.M)
TYPEDEF = re.compile(r"^typedef\b[^;{]*?(?:\(\*(\w+)\)[^;]*|\b(\w+)(?:\[[^]]*\])?)\s*;", re.M)
NOISE = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.S)


REASON = re.compile(r"\bconst char \*\*\w*(?:why|reason|error|problem)\b|\bchar (?:why|reason|error|problem)\w*\[(?!CONTROL_TEXT)"
                    r"|\bchar \*(?:why|reason|error|problem), (?:size_t|unsigned)\b")


def code(path):
    """The file's text without comments and strings, lines kept."""
    return NOISE.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), path.read_text())


def defined(text):
    """(kind, name, offset) of each definition."""
    undefined = set(re.findall(r"#\s*undef\s+(\w+)", text))
    for m in TAG.finditer(text):
        yield "tag", m[1], m.start()
    for m in MACRO.finditer(text):
        if m[1] not in undefined:
            yield "macro", m[1], m.start()
    for m in TYPEDEF.finditer(text):
        yield "typedef", m[1] or m[2], m.start()


def twice(texts):
    """{(kind, name): places} of what is defined more than once."""
    places = defaultdict(list)
    for path, text in texts.items():
        for kind, name, at in defined(text):
            places[kind, name].append((path, text.count("\n", 0, at) + 1))
    return {key: at for key, at in places.items()
            if len(at) > 1 and (key[0] == "tag" or len({path for path, _ in at}) > 1)}, len(places)


def compiles(headers):
    """Messages about a file that includes these headers."""
    flags = [f"-I{d}" for d in (root / "src", root / "include", root, *generated)]
    with tempfile.NamedTemporaryFile("w", suffix=".c") as f:
        f.write("".join(f'#include "{h}"\n' for h in headers))
        f.flush()
        cc = os.environ.get("CC", "cc").split()
        done = subprocess.run([*cc, "-std=gnu11", "-fsyntax-only", "-Wall", "-Werror", "-Wno-unused", *flags, f.name],
                              capture_output=True, text=True)
    return done.stderr if done.returncode else ""


texts = {p.relative_to(root): code(p) for top in ("src", "runtime", "include") for p in sorted((root / top).rglob("*.[ch]"))}
found, names = twice(texts)
reasons = [f"{p}:{text.count(chr(10), 0, m.start()) + 1}" for p, text in texts.items() if p.parts[0] == "src" for m in REASON.finditer(text)]
headers = [p for p in texts if p.suffix == ".h"]
alone = {h: message for h in headers if (message := compiles([h]))}
together = compiles(headers)
sample = {Path("a.h"): code(root / "src/base/arena.h"), Path("b.h"): "struct arena { int x; };\n#define AVEC 1\ntypedef int t;\n",
          Path("c.c"): "typedef int (*t)(void);\n/* struct arena {} */"}
tests = [("no tag, typedef or macro is defined twice", not found), ("the tree was read", names > 1000 and len(headers) > 100),
         ("each header compiles alone", not alone), ("all headers compile together", not together),
         ("a second definition is seen", sorted(twice(sample)[0]) == [("macro", "AVEC"), ("tag", "arena"), ("typedef", "t")]),
         ("a reason without a place is a struct why", not reasons),
         ("other forms are seen", all(REASON.search(s) for s in ("f(const char **why)", "char why[200];", "f(char *error, size_t n)")))]
for (kind, name), at in sorted(found.items()):
    print(f"# {kind} {name} is defined in", ", ".join(f"{path}:{line}" for path, line in at))
for at in reasons:
    print("# a reason that is no struct why:", at)
for header, message in alone.items():
    print(f"# {header} alone: {message.splitlines()[0]}")
for line in together.splitlines()[:20]:
    print("#", line)
for i, (name, ok) in enumerate(tests, 1):
    print("ok" if ok else "not ok", i, "-", name)
print(f"1..{len(tests)}")
