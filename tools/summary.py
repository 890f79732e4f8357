#!/usr/bin/env python3
"""Adds up the JUnit files that `meson test` left in the build directories and
prints the closing line: N passed, N failed. Exits 1 unless all passed. A test
program that died without a failing case of its own (a sanitizer's report, a
crash) counts as one failure."""
import json
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

passed = failed = skipped = 0
for build in sys.argv[1:]:
    for line in (Path(build) / "meson-logs" / "testlog.json").read_text().splitlines():
        test = json.loads(line)
        if test["result"] in ("ERROR", "TIMEOUT", "INTERRUPT"):
            failed += 1
            print(f"FAILED {build}: {test['name']}: {test['result'].lower()}")
    for case in ET.parse(Path(build) / "meson-logs" / "testlog.junit.xml").iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
            print(f"FAILED {build}: {case.get('classname')} {case.get('name')}")
        elif case.find("skipped") is not None:
            skipped += 1
        else:
            passed += 1
print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
sys.exit(1 if failed or not passed else 0)
