#!/usr/bin/env python3
"""src/sched calls nothing but itself and what compilers emit: it is linked into guests."""
import re
import subprocess
import sys

nm = subprocess.run(["nm", sys.argv[1]], capture_output=True, text=True, check=True).stdout
members = {m[1]: m[2] for m in re.finditer(r"^(\S*src_sched_\S*\.o):\n((?:.+\n)*)", nm, re.M)}
allowed = {"memcpy", "memset", "memmove", "memcmp", "__stack_chk_fail", "__assert_fail"}
defined, wanted, data = set(), {}, []
for name, text in members.items():
    for line in text.splitlines():
        m = re.match(r"^[0-9a-f ]* (\w) (\S+)$", line)
        if m and m[1] == "U":
            wanted.setdefault(m[2], name)
        elif m:
            defined.add(m[2])
            if m[1] in "BbDdCG" and not m[2].startswith("kinds"):
                data.append(f"{name}: {m[2]}")
outside = {f: n for f, n in wanted.items() if f not in defined | allowed and not f.startswith("_GLOBAL_OFFSET")}
for f, n in outside.items():
    print(f"# {n} calls {f}")
for d in data:
    print(f"# writable: {d}")
tests = [("the room was found", len(members) > 10), ("it calls nothing outside", not outside), ("it has no writable data", not data)]
for i, (name, ok) in enumerate(tests, 1):
    print("ok" if ok else "not ok", i, "-", name)
print(f"1..{len(tests)}")
