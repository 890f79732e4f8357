#!/usr/bin/env python3
"""The include graph of src/ and runtime/, drawn into docs/architecture.md from the sources.

    includes.py                  prints the figure and the sizes of the rooms
    includes.py --update         writes both into docs/architecture.md, between their markers
    includes.py --check          fails when the figure there is not that of the sources, or a function that the
                                 table of flows names is not where it says (tests/cli/test_includes.py does this)

The figure has an arrow from a room to each room that it includes, unless another arrow implies it (the transitive
reduction): what is below a room is what it may see. The sizes are those of the last --update: they are not compared."""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'\s*#\s*include\s+"([^"]+)"', re.M)
DOC = "docs/architecture.md"


def room_of(path, root=ROOT):
    parts = path.relative_to(root).parts
    return parts[1] if parts[0] == "src" else parts[0]


def sources(root=ROOT):
    return [p for top in ("src", "runtime") for p in sorted((root / top).rglob("*.[ch]"))]


def included(path, root=ROOT):
    """(line, as written, room) of each include of a room's header."""
    for n, line in enumerate(path.read_text().splitlines(), 1):
        m = INCLUDE.match(line)
        if m and m[1] != "version.h" and not m[1].startswith("intact/"):
            yield n, m[1], m[1].split("/")[0] if "/" in m[1] else room_of(path, root)


def graph(root=ROOT):
    """room -> the other rooms that its files include."""
    rooms = {}
    for path in sources(root):
        room = room_of(path, root)
        rooms.setdefault(room, set()).update(other for _, _, other in included(path, root) if other != room)
    return rooms


def below(rooms, room, seen=None):
    """All rooms that this one includes, directly or through others."""
    seen = set() if seen is None else seen
    for r in rooms.get(room, ()):
        if r not in seen:
            seen.add(r)
            below(rooms, r, seen)
    return seen


def reduced(rooms):
    """Without the arrows that others imply. The graph has no cycle (tests/cli/test_includes.py)."""
    return {room: {r for r in to if not any(r in below(rooms, other) for other in to if other != r)}
            for room, to in rooms.items()}


def figure(root=ROOT):
    rooms = graph(root)
    depth = {}

    def level(room):
        if room not in depth:
            depth[room] = 1 + max((level(r) for r in rooms.get(room, ())), default=-1)
        return depth[room]
    lines = ["```mermaid", "graph TD"]
    for room in sorted(rooms, key=lambda r: (-level(r), r)):
        for to in sorted(reduced(rooms)[room]):
            lines.append(f"  {room} --> {to}")
        if not rooms[room]:
            lines.append(f"  {room}")
    return "\n".join(lines + ["```"])


ASSERT = re.compile(r"\b(?:assert|PARANOID|UNREACHABLE|_Static_assert)\(")


def asserts(root=ROOT):
    """By room: lines of its files, asserts of all kinds in them."""
    counts = {}
    for p in sources(root):
        text, (lines, n) = p.read_text(), counts.get(room_of(p, root), (0, 0))
        counts[room_of(p, root)] = lines + text.count("\n"), n + len(ASSERT.findall(text))
    return counts


def sizes(root=ROOT):
    lines = ["| room | files | lines | asserts | includes |", "|---|---|---|---|---|"]
    rooms, total = graph(root), [0, 0, 0]
    for room in sorted(rooms):
        files = [p for p in sources(root) if room_of(p, root) == room]
        row = [len(files), *asserts(root)[room]]
        total = [a + b for a, b in zip(total, row)]
        lines.append(f"| {room} | {row[0]} | {row[1]:,} | {row[2]} | {' '.join(sorted(rooms[room])) or '-'} |")
    return "\n".join(lines + [f"| all | {total[0]} | {total[1]:,} | {total[2]} | |"])


PARTS = {"include graph": figure, "sizes": sizes}


def between(name):
    return re.compile(rf"(<!-- {name}: tools/includes.py --update -->\n).*?(<!-- end of {name} -->)", re.S)


def written(text, name):
    m = between(name).search(text)
    return m and text[m.end(1):m.start(2)].strip()


def flows(text):
    """(function, file) of each hop that the table of flows names as `function` (`file`)."""
    part = re.search(r"^### Three flows\n(.*?)(?=^## )", text, re.S | re.M)
    return re.findall(r"`(\w+)` \(`([\w./]+)`\)", part[1]) if part else []


def stale(root=ROOT):
    """What of the document is not true of the sources."""
    text = (root / DOC).read_text()
    wrong = []
    if written(text, "include graph") != figure(root):
        wrong.append("the include graph is not that of the sources: run tools/includes.py --update")
    if not flows(text):
        wrong.append("the table of flows is missing")
    for function, name in flows(text):
        path = root / name
        if not path.exists() or not re.search(rf"^\w[^;\n]*\b{function}\(", path.read_text(), re.M):
            wrong.append(f"{DOC} names {function} in {name}, and it is not there")
    return wrong


def main():
    if "--check" in sys.argv:
        wrong = stale()
        print("\n".join(wrong), end="\n" if wrong else "")
        return 1 if wrong else 0
    if "--update" in sys.argv:
        text = (ROOT / DOC).read_text()
        for name, make in PARTS.items():
            text = between(name).sub(lambda m: m[1] + make() + "\n" + m[2], text)
        (ROOT / DOC).write_text(text)
        return 0
    print(figure(), sizes(), sep="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
