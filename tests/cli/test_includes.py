#!/usr/bin/env python3
"""Every #include "..." in src/ is allowed by the table in docs/architecture.md, and no engine is known by a
comparison of its name: the table of src/check is the one place that has the names."""
import re
import sys
from pathlib import Path

root = Path(sys.argv[1])
rows = re.findall(r"^\| (\w+) \| ([\w ]+) \|$", (root / "docs/architecture.md").read_text(), re.M)
allowed = {room: set(may.split()) for room, may in rows if room != "room"}
bad, files, compared = [], 0, []
for path in sorted((root / "src").rglob("*.[ch]")):
    room = path.relative_to(root / "src").parts[0]
    files += 1
    for n, line in enumerate(path.read_text().splitlines(), 1):
        if re.search(r"str(n|case)?cmp\((?:[^()]|\([^()]*\))*engine", line) and path.name != "engines.c":
            compared.append(f"{path.relative_to(root)}:{n}: {line.strip()}")
        m = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
        if not m or m[1] == "version.h" or m[1].startswith("intact/"):
            continue
        other = m[1].split("/")[0] if "/" in m[1] else room
        if other not in allowed.get(room, set()):
            bad.append(f"{path.relative_to(root)}:{n}: {room} may not include {m[1]}")
missing = {p.name for p in (root / "src").iterdir() if p.is_dir()} - set(allowed)
tests = [("includes follow docs/architecture.md", not bad), ("every room is in the table", not missing),
         ("the tree was read", files > 20), ("no engine is known by a comparison of its name", not compared)]
for line in bad + compared:
    print("#", line)
if missing:
    print("# rooms without a row:", *sorted(missing))
for i, (name, ok) in enumerate(tests, 1):
    print("ok" if ok else "not ok", i, "-", name)
print(f"1..{len(tests)}")
