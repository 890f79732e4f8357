#!/usr/bin/env python3
"""Every #include "..." in src/ and runtime/ is allowed by the table in docs/architecture.md; no two rooms include each
other, directly or through others; the graph that docs/architecture.md draws is that of the sources; what is compiled
into the guest comes from the rooms that the runtime's row names; no engine is known by a comparison of its name: the
table of src/check is the one place that has the names; and the front end stays thin: procedures belong into the rooms
below it. Invariants are asserted, not only told: about one assert for every fifty lines, and none of the rooms has few."""
import re
import sys
from pathlib import Path

root = Path(sys.argv[1]).resolve()
sys.dont_write_bytecode = True
sys.path.insert(0, str(root / "tools"))
import includes  # noqa: E402

rows = re.findall(r"^\| (\w+) \| ([\w ]+) \|$", (root / "docs/architecture.md").read_text(), re.M)
allowed = {room: set(may.split()) for room, may in rows if room != "room"}


def room_of(path):
    return includes.room_of(path, root)


def included(path):
    return includes.included(path, root)


def cycle(graph):
    """Rooms that include each other, as a path, or None."""
    done = set()

    def visit(room, way):
        if room in way:
            return way[way.index(room):] + [room]
        if room in done:
            return None
        found = next(filter(None, (visit(r, way + [room]) for r in sorted(graph.get(room, set()) - {room}))), None)
        done.add(room)
        return found
    return next(filter(None, (visit(r, []) for r in sorted(graph))), None)


def guest():
    """The files that runtime/ is made of, with all that they include."""
    inside = re.search(r"^dynamic_src = files\(([^)]*)\)", (root / "src/dynamic/meson.build").read_text(), re.M)[1]
    todo = [root / "src/dynamic" / name for name in re.findall(r"'([^']+)'", inside)] + sorted((root / "runtime").rglob("*.[ch]"))
    seen = set()
    while todo:
        path = todo.pop()
        if path in seen:
            continue
        seen.add(path)
        for _, name, _ in included(path):
            todo.append(path.parent / name if "/" not in name else root / name if name.startswith("runtime/") else root / "src" / name)
    return seen


bad, files, compared, by_hand = [], 0, [], []
stale = includes.stale(root)
for path in includes.sources(root):
    room = room_of(path)
    files += 1
    for n, name, other in included(path):
        if other not in allowed.get(room, set()):
            bad.append(f"{path.relative_to(root)}:{n}: {room} may not include {name}")
    for n, line in enumerate(path.read_text().splitlines(), 1):
        if re.search(r"str(n|case)?cmp\((?:[^()]|\([^()]*\))*engine", line) and path.name != "engines.c":
            compared.append(f"{path.relative_to(root)}:{n}: {line.strip()}")
        if re.search(r'buf_(printf|str|add)\(.*\\":', line):
            by_hand.append(f"{path.relative_to(root)}:{n}: {line.strip()}")
rooms = {p.name for p in (root / "src").iterdir() if p.is_dir()} | {"runtime"}
way = cycle(allowed)
THIN = 7000
front = sum(len(p.read_text().splitlines()) for p in (root / "src/cli").rglob("*.[ch]"))
stray = [f"{p.relative_to(root)} is compiled into programs" for p in sorted(guest()) if room_of(p) not in allowed.get("runtime", set())]
# `explain` has texts only; most of the runtime runs in signal handlers and hooks, which assert little
told = {room: counts for room, counts in includes.asserts(root).items() if room not in ("explain", "runtime")}
EVERY, ROOM = 60, 120  # lines for one assert: in all, in any room
few = [f"{room}: {n} asserts in {lines} lines" for room, (lines, n) in told.items() if n * ROOM < lines]
lines, n = (sum(counts[i] for counts in told.values()) for i in (0, 1))
tests = [("includes follow docs/architecture.md", not bad), ("every room is in the table", rooms == set(allowed)),
         ("the tree was read", files > 20 and len(guest()) > 30), ("no rooms include each other", not way),
         ("the guest has the runtime's rooms alone", not stray),
         ("docs/architecture.md draws the sources", not stale),
         ("no engine is known by a comparison of its name", not compared),
         ("JSON is written by base/json_out.h alone", not by_hand),
         (f"src/cli has at most {THIN} lines ({front})", 1000 < front <= THIN),
         (f"one assert for every {EVERY} lines, and in each room for every {ROOM}", not few and n * EVERY >= lines and n > 1000)]
for line in bad + stray + stale + compared + by_hand + few:
    print("#", line)
if way:
    print("# rooms include each other:", " -> ".join(way))
if rooms != set(allowed):
    print("# rooms and rows differ:", *sorted(rooms ^ set(allowed)))
for i, (name, ok) in enumerate(tests, 1):
    print("ok" if ok else "not ok", i, "-", name)
print(f"1..{len(tests)}")
