#!/usr/bin/env python3
"""The project file, `intact doctor` and `intact init`, as a user meets them.

Usage: test_project.py INTACT SOURCE-ROOT      (TAP on stdout)"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tap import check, done, run

intact, root = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
tmp = tempfile.TemporaryDirectory(prefix="intact-project-")
work = Path(tmp.name)
(work / "bin").mkdir()
for name in ("intact", "intact-cc", "intact-c++"):
    (work / "bin" / name).symlink_to(intact)
env = {"PATH": f"{work / 'bin'}:{os.environ['PATH']}", "INTACT_PROJECT": ""}


def sh(line, cwd, **more):
    return run(["sh", "-c", line], cwd=cwd, env=dict(env, **more), timeout=300)


here = work / "p"
deep = here / "a/b"
deep.mkdir(parents=True)
toml = here / "intact.toml"
model = here / "m.atm"
model.write_text((root / "examples/lost-update.atm").read_text())
rc, out, err = sh("intact-cc -g -pthread -o lost '%s'" % (root / "examples/c/lost-update.c"), here)
check("the program is built", rc == 0, err)

# ---- what it does -----------------------------------------------------------------

(here / "known.supp").write_text("block:increment\n")
rc, out, err = sh("intact run ./lost", here)
check("without a project file: the finding", rc == 66 and "increment is not atomic" in err and "note:" not in err, err)
toml.write_text('suppressions = ["known.supp"]\n')
rc, out, err = sh("intact run ./lost", here)
check("suppressions", rc == 0 and "increment is not atomic" not in err and "1 option from 'intact.toml'" in err, err)
rc, out, err = sh("intact run ../../lost", deep)
check("found from a directory below; its paths are relative to it", rc == 0 and f"1 option from '{here}/intact.toml'" in err, err)
rc, out, err = sh("intact run ../../lost", deep, INTACT_PROJECT="none")
check("INTACT_PROJECT=none ignores it", rc == 66 and "note:" not in err, err)
toml.write_text('[run]\nexitcode = 9\nnot-atomic = ["increment"]\n')
check("numbers and arrays", sh("intact run ./lost", here)[0] == 0)
toml.write_text("run.exitcode = 9 # dotted\n")
check("a dotted key", sh("intact run ./lost", here)[0] == 9)
check("the command line has the last word", sh("intact run --exitcode=7 ./lost", here)[0] == 7)
other = work / "other.toml"
other.write_text("[run]\nexitcode = 11\n")
check("INTACT_PROJECT names another file", sh("intact run ./lost", here, INTACT_PROJECT=str(other))[0] == 11)
toml.write_text('atomic = ["get"]\n')
rc, out, err = sh("intact run ./lost", here)
check("atomic functions, for run", rc == 0 and "not atomic" not in err, err)
rc, out, err = sh("intact explore -n 50 -- ./lost", here)
check("and for explore", "1 option from" in err, err)
toml.write_text('[check]\nengine = "exact"\njson = "r.json"\n[fmt]\ncheck = true\n')
rc, out, err = sh("intact check m.atm", here)
made = json.loads((here / "r.json").read_text()) if (here / "r.json").exists() else {}
check("options of check", rc == 1 and "exact" in out and made.get("tool", made), out + err)
rc, out, err = sh("intact trace convert '%s' -" % (root / "examples/traces/lost-update.std"), here)
check("a subcommand and commands without a table are not concerned", rc == 0 and "note:" not in err, err)
rc, out, err = sh("intact check --help", here)
check("--help does not need it", rc == 0 and not err)
repo = here / "repo"
(repo / ".git").mkdir(parents=True)
rc, out, err = sh("intact check ../m.atm", repo)
check("not above the root of a repository", rc == 1 and "note:" not in err, err)
if os.geteuid() == 0:
    stranger = work / "shared"
    (stranger / "mine").mkdir(parents=True)
    (stranger / "intact.toml").write_text("[check]\nengine = 'exact'\n")
    os.chown(stranger / "intact.toml", 12345, 12345)
    rc, out, err = sh(f"intact check {model}", stranger / "mine")
    check("a stranger's file above is ignored, with a warning", rc == 1 and "belongs to another user" in err and "note:" not in err, err)

# ---- what is wrong with it -----------------------------------------------------------

BAD = [
    ("unknown key", '[run]\nstrct = true\n', r"intact\.toml:2:1: error: unknown key 'strct'.*\n.*\n +\| \^~~~~\n.*did you mean 'strict'\?"),
    ("unknown table", "[rn]\nstrict = true\n", r"intact\.toml:1:1: error: unknown table \[rn\].*(?:\n.*)*did you mean \[run\]\?"),
    ("unknown key at the top", 'atomc = ["x"]\n', r":1:1: error: unknown key 'atomc'(?:.*\n)*.*did you mean 'atomic'"),
    ("an option at the top", "strict = true\n", r":1:1: error: unknown key 'strict'(?:.*\n)*.*go into its table"),
    ("wrong kind", "[run]\nstrict = 3\n", r":2:10: error: expected true or false for 'strict'"),
    ("wrong kind of list", "[run]\natomic = true\n", r":2:10: error: expected an array of strings"),
    ("out of range", "[run]\nexitcode = 300\n", r":2:12: error: --exitcode: 300 is out of range"),
    ("negative", "[run]\nexitcode = -1\n", r":2:12: error: expected a number"),
    ("wrong choice", "[explore]\nstrategy = 'pcd'\n", r":2:12: error: --strategy: 'pcd' is not one of.*did you mean 'pct'"),
    ("a command without options", "[version]\nx = 1\n", r":2:1: error: 'intact version' takes no options"),
    ("twice", "[run]\nstrict = true\nstrict = false\n", r":3:1: error: key 'strict' is defined twice(?:.*\n)*.*:2:1: note: the first one"),
    ("a table twice", "[run]\n[check]\n[run]\n", r":3:1: error: table \[run\] is defined twice"),
    ("not closed", "[run]\nlog-path = \"x\n", r":2:12: error: the string is not closed"),
    ("not quoted", "[run]\nlog-path = x\n", r":2:12: error: 'x' is not a value(?:.*\n)*.*strings are quoted: \"x\""),
    ("several lines", '[run]\nlog-path = """x"""\n', r":2:12: error: strings of several lines are not supported"),
    ("inline table", "run = { strict = true }\n", r":1:7: error: inline tables are not supported"),
    ("no value", "[run]\nstrict\n", r":2:7: error: expected '='"),
    ("array", 'atomic = ["a" "b"]\n', r":1:15: error: expected ',' or '\]'"),
    ("not UTF-8", b"atomic = ['\xff']\n", r":1:12: error: the text is not UTF-8"),
]
for name, text, said in BAD:
    toml.write_bytes(text if isinstance(text, bytes) else text.encode())
    rc, out, err = sh("intact check m.atm", here)
    check(f"wrong: {name}", rc == 2 and not out and re.search(said, err), err)
for name, text in (("large", b"#" * (2 << 20)), ("many keys", b"".join(b"k%d = 1\n" % i for i in range(5000))), ("deep key", b"a." * 100000 + b"b = 1\n"),
                   ("long array", b"atomic = [" + b'"a",' * 200000 + b"]\n"), ("zeros", b"\0" * 1000), ("open brackets", b"[" * 100000)):
    toml.write_bytes(text)
    rc, out, err = sh("intact check m.atm", here)
    check(f"hostile: {name}", rc == 2 and re.search(r"intact\.toml:\d+:\d+: error: ", err) and len(err) < 20000, err[:500])
toml.unlink()
os.mkfifo(toml)
toml.unlink()
rc, out, err = sh("intact check m.atm", here, INTACT_PROJECT="no/such.toml")
check("a file that was named must be there", rc == 2 and "no/such.toml" in err and "No such file" in err, err)
toml.write_text("")
plain = [re.sub(r"<?[\d.]+ m?s\b", "TIME", "%d %s%s" % sh("intact check m.atm", here, INTACT_PROJECT=p)) for p in ("", "none")]
check("an empty file changes nothing", re.sub(" +", " ", plain[0]) == re.sub(" +", " ", plain[1]), "\n".join(plain))

# ---- the keys are the options ----------------------------------------------------------

listed = set(re.findall(r"^\| `\[(\w+)\]`", (root / "docs/project.md").read_text(), re.M))
reading = set()
for c in re.findall(r"^  (\S+) +\S", run([intact, "help"])[1].split("commands:")[1].split("\n\n")[0], re.M):
    toml.write_text(f"[{c}]\nno-such-option = 1\n")
    if "has no such option" in sh("intact check m.atm", here)[2]:
        reading.add(c)
check("docs/project.md lists the tables that are read", reading == listed, (sorted(reading), sorted(listed)))
toml.unlink()

# ---- doctor -------------------------------------------------------------------------

rc, out, err = sh("intact doctor", here)
check("doctor: this machine builds, watches and explores", rc == 0 and "a lost update is built, watched, reported with its lines, and explored" in out and
      "everything that is needed works" in out, out + err)
check("doctor: nothing is left behind", not [p for p in Path(tempfile.gettempdir()).glob("intact-doctor-*") if (p / "lost.c").exists()])
rc, out, err = sh("intact doctor --quick", here, INTACT_CC="no-such-compiler")
check("doctor: a compiler that is not there is a problem with its fix", rc == 1 and "no-such-compiler: not found" in out and "fix: INTACT_CC" in out, out)
fake = work / "fakecc"
fake.write_text('#!/bin/sh\n[ "$1" = --version ] && { echo fake 1.0; exit 0; }\necho "lost.c:1:10: fatal error: pthread.h: No such file or directory" >&2\nexit 1\n')
fake.chmod(0o755)
rc, out, err = sh("intact doctor", here, INTACT_CC=str(fake))
check("doctor: a compiler without headers", rc == 1 and "does not build a program" in out and "libc6-dev" in out and "fake 1.0" in out, out)
rc, out, err = sh("ulimit -v 8000000; intact doctor --quick", here)
check("doctor: limited address space", rc == 1 and "is limited (ulimit -v)" in out and "ulimit -v unlimited" in out, out)
rc, out, err = sh("intact doctor --quick", here, INTACT_RUNTIME_DIR="/nowhere")
check("doctor: no runtime", rc == 1 and "libintact_rt.a is not found" in out, out)
toml.write_text("[run]\nstrct = 1\n")
rc, out, err = sh("intact doctor --quick", here)
check("doctor: a project file with errors", rc == 1 and "intact.toml has errors" in out and ":2:1: error" in err, out + err)
toml.unlink()
subprocess.run(["cc", "-pthread", "-o", here / "plain", root / "examples/c/lost-update.c"], check=True)
shutil.copy(here / "lost", here / "stripped")
subprocess.run(["strip", here / "stripped"], check=True)
(here / "script").write_text("#!/bin/sh\n")
rc, out, err = sh("intact doctor --quick lost plain stripped script none", here)
rows = [re.sub(r" +", " ", line) for line in out.splitlines()]
for want in ("ok lost is built with `intact cc`", "ok lost has debug information", "bad plain is not built with `intact cc`", "note plain has no debug information",
             "ok stripped is built with `intact cc`", "note stripped is stripped", "bad script is not an ELF file", "bad none No such file"):
    check(f"doctor: {want}", rc == 1 and any(r.startswith(want) for r in rows), out)
rc, out, err = sh("intact doctor --quick --json lost", here)
told = json.loads(out)
check("doctor: --json", rc == 0 and told["problems"] == 0 and {c["state"] for c in told["checks"]} <= {"ok", "note"} and
      any(c["subject"] == "lost" for c in told["checks"]), out)

# ---- init ----------------------------------------------------------------------------

rc, out, err = sh("intact init", deep)
check("init: a directory without a build system", rc == 2 and "has no CMakeLists.txt, meson.build" in err, err)
for system, files in (("cmake", {"CMakePresets.json"}), ("meson", {"intact.ini"}), ("autotools", set()), ("make", set())):
    project = work / system
    if system in ("cmake", "meson"):
        shutil.copytree(root / "examples/projects" / system, project)
    else:
        project.mkdir()
        shutil.copy(root / "examples/c/bank.c", project)
        if system == "make":
            (project / "Makefile").write_text("bank: bank.c\n\t$(CC) -g -pthread -o $@ bank.c\ntest: bank\n\t./bank\nclean:\n\trm -f bank\n")
        else:
            (project / "configure").write_text("#!/bin/sh\nfor a; do case $a in CC=*) cc=${a#CC=} ;; esac; done\n"
                                               "d=$(dirname \"$0\"); printf 'check:\\n\\t%s -g -pthread -o bank %s/bank.c\\n\\t./bank\\n' \"${cc:-cc}\" \"$d\" > Makefile\n")
            (project / "configure").chmod(0o755)
    before = set(os.listdir(project))
    rc, out, err = sh("intact init", project)
    check(f"init: {system} is recognised, nothing is written", rc == 0 and out.startswith(f"{system} project (") and set(os.listdir(project)) == before, out + err)
    rc, out, err = sh("intact init --write", project)
    check(f"init: {system}: --write writes", rc == 0 and set(os.listdir(project)) - before == files | {"intact.toml", "intact.supp"}, out + err)
    commands = re.search(r"Build and test with\n((?:  .*\n)+)", out)[1]
    again = sh("intact init --write", project)
    check(f"init: {system}: a second time changes nothing", again[0] == 0 and "written" not in again[1] and "exists; not changed" in again[1], again[1])
    if shutil.which("cmake" if system == "cmake" else "make"):
        rc, out, err = sh("set -e\n" + commands, project)
        check(f"init: {system}: the commands build it and the test fails with the finding", rc != 0 and "deposit is not atomic" in out + err, commands + out + err)
project = work / "both"
shutil.copytree(root / "examples/projects/cmake", project)
(project / "Makefile").write_text("all:\n")
(project / "CMakePresets.json").write_text("{}\n")
rc, out, err = sh("intact init --write --build-system=make", project)
check("init: the build system can be chosen", rc == 0 and out.startswith("make project"), out)
rc, out, err = sh("intact init --write", project)
check("init: presets that exist are not changed; what to add is shown", rc == 0 and (project / "CMakePresets.json").read_text() == "{}\n" and
      '"configurePresets"' in out and "intact-cc" in out, out)
rc, out, err = sh("intact init /nowhere", work)
check("init: a directory that is not there", rc == 2 and err, err)
done()
