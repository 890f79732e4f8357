#!/usr/bin/env python3
"""docs/tutorial.md as a reader goes through it, in an empty directory; and the projects of docs/howto.md.

Usage: test_tutorial.py INTACT SOURCE-ROOT      (TAP on stdout)
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tap import check, done

intact, root = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
page = (root / "docs/tutorial.md").read_text()
blocks = re.findall(r"^```(\w+)\n(.*?)^```$", page, re.M | re.S)
code = [body for lang, body in blocks if lang == "c"]
program, model, fix, fixed_block = code
tmp = tempfile.TemporaryDirectory()
work = Path(tmp.name)
(work / "bin").mkdir()
for name in ("intact", "intact-cc", "intact-c++"):
    (work / "bin" / name).symlink_to(intact)
env = dict(os.environ, PATH=f"{work / 'bin'}:{os.environ['PATH']}", NO_COLOR="1")


def sh(line, cwd=work):
    p = subprocess.run(line, shell=True, cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return p.returncode, p.stdout, p.stderr


check("bank.c is the example of that name", program == (root / "examples/c/bank.c").read_text()
      and all((root / "examples/projects" / b / "bank.c").read_text() == program for b in ("cmake", "meson")))
(work / "bank.c").write_text(program)
rc, out, err = sh("intact cc -g -pthread bank.c -o bank && intact run ./bank")
# 130 unless the customers met: then it is 110 or 120, and the finding is confirmed
balance = re.search(r"balance = (130|110|120)\n", out)
told = "deposit is not atomic (predicted" in err or "deposit is not atomic (confirmed" in err
check("the report names deposit", rc == 66 and balance and told and (balance[1] == "130" or "(confirmed" in err), out + err)
(work / "bank.atm").write_text(model)
rc, out, err = sh("intact check bank.atm --html bank.html")
check("the model's deposit is lost", rc == 1 and "It ends with balance = 110" in out and "ends with balance = 120" in out
      and (work / "bank.html").stat().st_size > 10000, out + err)
start, end = program.index("static void deposit"), program.index("static void *customer")
fixed = program[:start] + fix + "\n" + program[end:]
fixed = re.sub(r"static (int get|void set).*?^}\n\n", "", fixed, flags=re.M | re.S)
(work / "bank.c").write_text(fixed)
rc, out, err = sh("intact cc -g -pthread bank.c -o bank && intact run ./bank")
check("the fixed program has no finding", rc == 0 and "balance = 130" in out and "not atomic" not in err, out + err)
(work / "bank.atm").write_text(re.sub(r"  atomic deposit \{.*?^  \}\n", lambda m: fixed_block, model, flags=re.M | re.S))
rc, out, err = sh("intact check bank.atm")
check("the fixed model is proved for any number of customers", rc == 0 and re.search(r"customer.deposit +\d+ +atomic +reduction +any", out), out + err)

# ---- the projects of docs/howto.md ------------------------------------------------

for tool, lines in (("cmake", ["cmake -S . -B build-intact -DCMAKE_C_COMPILER=intact-cc -DCMAKE_BUILD_TYPE=RelWithDebInfo", "cmake --build build-intact",
                               "ctest --test-dir build-intact --output-on-failure"]),
                    ("meson", ["CC=intact-cc meson setup build-intact", "meson test -C build-intact --print-errorlogs"])):
    if not shutil.which(tool):
        print(f"# the {tool} project did NOT run: {tool} is not installed")
        continue
    project = work / tool
    shutil.copytree(root / "examples/projects" / tool, project)
    for line in lines[:-1]:
        rc, out, err = sh(line, project)
        check(f"{tool}: {line.split(' -')[0]}", rc == 0, out + err)
    rc, out, err = sh(lines[-1], project)
    check(f"{tool}: the test fails with the finding", rc != 0 and "deposit is not atomic" in out + err, out + err)
    log = out + err + "".join(p.read_text() for p in project.glob("build-intact/meson-logs/testlog.txt"))
    check(f"{tool}: so does the one that explores", "NOT ATOMIC in schedule" in log and "deposit of T" in log, log)
if not shutil.which("cmake") or not Path("/usr/include/gtest/gtest.h").exists():
    print("# the googletest project did NOT run: cmake or GoogleTest (libgtest-dev) is not installed")
else:
    project = work / "googletest"
    shutil.copytree(root / "examples/projects/googletest", project)
    rc, out, err = sh("cmake -S . -B build-intact -DCMAKE_CXX_COMPILER=intact-c++ -DCMAKE_BUILD_TYPE=RelWithDebInfo && cmake --build build-intact", project)
    check("googletest: builds", rc == 0, out + err)
    rc, out, err = sh("ctest --test-dir build-intact --output-on-failure", project)
    check("googletest: the case that fails in some schedule fails, the other passes", rc != 0 and "50% tests passed" in out
          and "Queue.TwoPops (Failed)" in out and "Expected equality" in out and "The schedule (" in out, out + err)
done()
