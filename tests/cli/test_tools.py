#!/usr/bin/env python3
"""What newcomers' machines need: tools/setup.sh names the right packages, the
browser tests' npm packages are pinned to ones that run on node 18, `make demo`
builds no tests.

Usage: test_tools.py BUILD-ROOT SOURCE-ROOT      (TAP on stdout)
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tap import check, done, run

build, root = Path(sys.argv[1]), Path(sys.argv[2])

# ---- npm ----
package = json.loads((root / "tests/browser/package.json").read_text())
lock_text = (root / "tests/browser/package-lock.json").read_text()
lock = json.loads(lock_text)
wanted = {**package.get("dependencies", {}), **package.get("devDependencies", {})}
check("npm: playwright-core and axe-core", {"playwright-core", "axe-core"} <= set(wanted), wanted)
check("npm: exact versions", all(re.fullmatch(r"\d+\.\d+\.\d+", v) for v in wanted.values()), wanted)
locked = {k.removeprefix("node_modules/"): v for k, v in lock["packages"].items() if k}
check("npm: the lock file has them, with checksums", all(locked.get(n, {}).get("version") == v for n, v in wanted.items()) and
      all(p.get("integrity", "").startswith("sha512-") for p in locked.values()), locked)
check("npm: the lock file names no host", "resolved" not in lock_text and "://" not in lock_text)
floors = {n: re.fullmatch(r">=\s*(\d+)(\.0)*", p.get("engines", {}).get("node", ">=0")) for n, p in locked.items()}
check("npm: every package runs on node 18", all(m and int(m[1]) <= 18 for m in floors.values()), locked)


# ---- setup.sh as an ordinary user of a machine that has next to nothing ----
def missing(target, **stubs):
    """What setup.sh says is missing, with nothing on the path but these commands and the shell's."""
    with tempfile.TemporaryDirectory() as tmp:
        for tool in ("sh", "sed", "cut", "head", "ls", "grep", "cat", "cmp", "tr"):
            os.symlink(shutil.which(tool), f"{tmp}/{tool}")
        for name, text in {"id": "echo 1000", **stubs}.items():
            Path(tmp, name).write_text(f"#!{shutil.which('sh')}\n{text}\n")
            os.chmod(f"{tmp}/{name}", 0o755)
        rc, out, err = run(["sh", "tools/setup.sh", target], cwd=root, env={"PATH": tmp})
        m = re.search(r"apt-get install(.*)", err)
        return rc, set(m[1].split()) if m else set(), out + err


bare = {"gcc", "meson", "ninja-build", "pkg-config", "libjansson-dev", "libzstd-dev", "zlib1g-dev", "libdw-dev"}
rc, names, said = missing("build")
check("setup: names what a build needs", rc == 1 and bare <= names and not names & {"clang", "g++", "chromium"}, said)
for version in ("14", "19"):
    depends = f"echo clang; echo '  Depends: clang-{version}'"
    rc, names, said = missing("test", **{"apt-cache": depends})
    check(f"setup: without clang, the compiler-rt of the clang to come ({version})",
          rc == 1 and f"libclang-rt-{version}-dev" in names and {"g++", "clang", "npm", "chromium", "spin"} <= names, said)
    rc, names, said = missing("test", clang=f"case $1 in -dumpversion) echo {version}.1.7 ;; *) echo /nowhere ;; esac",
                              **{"apt-cache": "echo '  Depends: clang-99'"})
    check(f"setup: with clang {version}, its own compiler-rt", rc == 1 and f"libclang-rt-{version}-dev" in names and "clang" not in names, said)
rc, names, said = missing("test")
check("setup: with no package lists, a command that can work all the same", rc == 1 and "libclang-rt-dev" in names and "apt-get update" in said, said)


# ---- make demo ----
def inputs(target):
    return subprocess.run(["ninja", "-C", build, "-t", "inputs", target], capture_output=True, text=True, check=True).stdout


tool, everything = inputs("tool"), inputs("all")
check("demo: builds the command and the runtime", "src/cli/cmd_check.c" in tool and "libintact_rt" in tool, tool[-500:])
check("demo: builds no tests", "tests/" not in tool and "tests/unit" in everything)
text = (root / "tools/demo.sh").read_text()
check("demo: the C program comes first", 0 < text.index("run \"$out/lost-update\"") < text.index("show 1 check"))

# ---- the scripts ----
for script in sorted((root / "tools").glob("*.sh")):
    shell = "bash" if "bash" in script.read_text().split("\n", 1)[0] else "sh"
    rc, out, err = run([shell, "-n", script])
    check(f"{script.name}: reads", rc == 0 and os.access(script, os.X_OK), err)
for script, more in (("fresh.sh", []), ("packages.sh", [["--debs=/nowhere", "trixie"]]), ("cross.sh", [["--intact=/nowhere", "trixie"], ["--arch=vax", "trixie"]])):
    rc, out, err = run(["bash", root / "tools" / script, "--help"])
    check(f"{script}: --help", rc == 0 and "RELEASE" in out, err)
    for wrong in ([], ["--nonsense", "trixie"], ["Bad Name"], ["trixie", "bookworm"], ["--reuse", "trixie"], *more):
        rc, out, err = run(["bash", root / "tools" / script, *wrong])
        check(f"{script}: usage: {' '.join(wrong) or 'nothing'}", rc == 2, f"{rc}\n{err}")
done()
