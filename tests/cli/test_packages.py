#!/usr/bin/env python3
"""An installed copy as other projects use it: the CMake package, the Meson dependency; the source tarball and the versions.

Usage: test_packages.py INTACT BUILD-ROOT SOURCE-ROOT      (TAP on stdout)"""
import fnmatch
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from tap import check, done, run

intact, build, root = (Path(a).resolve() for a in sys.argv[1:4])
tmp = tempfile.TemporaryDirectory(prefix="intact-packages-")
work = Path(tmp.name)
rc, out, err = run(["meson", "install", "-C", build, "--no-rebuild", "--quiet", "--destdir", work / "dest"], timeout=300)
check("it is installed", rc == 0, out + err)
[config] = (work / "dest").rglob("IntactConfig.cmake")
[command] = (work / "dest").rglob("bin/intact")
[pc] = (work / "dest").rglob("intact.pc")
[shared] = (work / "dest").rglob("libintact.so")
prefix = command.parents[1]
version = run([intact, "--version"])[1].split()[1]
env = {"PATH": f"{prefix / 'bin'}:{os.environ['PATH']}", "CMAKE_PREFIX_PATH": str(prefix)}


def sh(line, cwd, **more):
    return run(["sh", "-c", line], cwd=cwd, env=dict(env, **more), timeout=300)


# ---- CMake ------------------------------------------------------------------------

LISTS = """cmake_minimum_required(VERSION 3.16)
project(user C)
find_package(Intact %s REQUIRED)
find_package(Threads REQUIRED)
enable_testing()
add_executable(bank bank.c)
target_link_libraries(bank Threads::Threads Intact::annotate)
add_executable(api api.c)
target_link_libraries(api Intact::intact)
intact_add_explore_test(NAME schedules TARGET bank SCHEDULES 2000 SEED 1 REPORTS reports)
intact_add_run_test(NAME watched TARGET bank REPORTS reports)
intact_add_run_test(NAME hidden TARGET bank SUPPRESSIONS bank.supp)
%s
"""
API = """#include <intact/intact.h>
#include <stdio.h>
int main(void) { printf("version %s\\n", intact_version()); return 0; }
"""
if not shutil.which("cmake"):
    check("cmake is not installed # SKIP", True)
else:
    project = work / "cmake"
    project.mkdir()
    shutil.copy(root / "examples/c/bank.c", project)
    (project / "api.c").write_text(API)
    (project / "bank.supp").write_text("block:deposit\n")
    lists = project / "CMakeLists.txt"
    lists.write_text(LISTS % (version, ""))
    rc, out, err = sh("cmake -S . -B plain && cmake --build plain && plain/api", project)
    check("cmake: find_package finds the library, a program links and runs", rc == 0 and f"version {version}" in out, out + err)
    check("cmake: without the wrappers the tests are announced as disabled", "test schedules is disabled" in out and "intact-cc" in out, out)
    rc, out, err = sh("ctest --test-dir plain", project)
    check("cmake: and CTest says so", re.search(r"schedules.*\(Disabled\)", out) and re.search(r"watched.*\(Disabled\)", out), out + err)
    rc, out, err = sh("cmake -S . -B watched -DCMAKE_C_COMPILER=intact-cc -DCMAKE_BUILD_TYPE=RelWithDebInfo && cmake --build watched --target bank", project)
    check("cmake: builds with intact-cc", rc == 0 and "disabled" not in out, out + err)
    rc, out, err = sh("ctest --test-dir watched --output-on-failure", project)
    check("cmake: explored and watched tests fail with the finding, the suppressed one passes", rc != 0 and "schedules (Failed)" in out and
          "watched (Failed)" in out and "hidden (Failed)" not in out and "deposit is not atomic" in out and "NOT ATOMIC in schedule" in out, out + err)
    made = sorted(p.name for p in (project / "watched/reports").glob("*"))
    check("cmake: REPORTS has every form", made == sorted(f"{n}.{s}" for n in ("schedules", "watched") for s in ("json", "sarif", "xml", "html")), made)
    for name, line, said in (("an unknown argument", "intact_add_explore_test(NAME x TARGET bank SHEDULES 3)", "unknown argument SHEDULES"),
                             ("a missing name", "intact_add_run_test(TARGET bank)", "NAME and TARGET are required"),
                             ("a target that is not there", "intact_add_run_test(NAME x TARGET bnak)", "no target bnak")):
        lists.write_text(LISTS % (version, line))
        rc, out, err = sh("cmake -S . -B wrong", project)
        check(f"cmake: {name} is an error", rc != 0 and said in re.sub(r"\s+", " ", err), out + err)
    for asked in ("99.0", "0.0.1" if not version.startswith("0.0") else "1"):
        lists.write_text(LISTS % (asked, ""))
        rc, out, err = sh("cmake -S . -B other", project)
        check(f"cmake: version {asked} is not this one", rc != 0 and "compatible" in err and version in err, err)
    library = prefix / "lib"
    moved = shared.resolve()
    moved.rename(moved.with_suffix(".away"))
    lists.write_text(LISTS % (version, ""))
    rc, out, err = sh("cmake -S . -B broken", project)
    check("cmake: an incomplete installation is named", rc != 0 and "not complete" in re.sub(r"\s+", " ", err), err)
    moved.with_suffix(".away").rename(moved)

# ---- Meson ------------------------------------------------------------------------

project = work / "meson"
project.mkdir()
(project / "api.c").write_text(API)
(project / "meson.build").write_text("""project('user', 'c')
intact = dependency('intact', version: '>=0.1')
message('wrapper:', intact.get_variable('cc'))
test('api', executable('api', 'api.c', dependencies: intact))
""")
rc, out, err = sh("meson setup b && meson test -C b", project, PKG_CONFIG_PATH=str(pc.parent), PKG_CONFIG_SYSROOT_DIR=str(work / "dest"),
                  LD_LIBRARY_PATH=str(shared.parent))
check("meson: dependency('intact') from pkg-config, with its variables", rc == 0 and "bin/intact-cc" in out, out + err)
project = work / "super"
(project / "subprojects").mkdir(parents=True)
(project / "subprojects/intact").symlink_to(root)
(project / "api.c").write_text(API)
(project / "meson.build").write_text("""project('user', 'c')
intact = dependency('intact', fallback: 'intact')
assert(intact.type_name() == 'internal')
executable('api', 'api.c', dependencies: intact)
message('command:', find_program('intact').full_path())
""")
rc, out, err = sh("meson setup b", project, PKG_CONFIG_LIBDIR=subprocess.run(["pkg-config", "--variable", "pc_path", "pkg-config"],
                                                                           capture_output=True, text=True).stdout.strip())
check("meson: as a subproject it is the same dependency", rc == 0 and "subprojects/intact/src/cli/intact" in out, out + err)

# ---- the lists of files of the packages ------------------------------------------------

options = {o["name"]: o["value"] for o in json.loads(run(["meson", "introspect", "--buildoptions", build])[1])}
place = {n: options["prefix"] + "/" + options[n] for n in ("bindir", "libdir", "includedir", "datadir", "mandir")}


def installed():
    """Every file of the installation, as {libdir}/... and the like."""
    top = work / "dest"
    place["pythondir"] = "/" + str(next(top.rglob("pytest_plugin.py")).relative_to(top).parent.parent)
    for path in sorted(top.rglob("*")):
        if path.is_dir():
            continue
        name = "/" + str(path.relative_to(top))
        for key in ("pythondir", "mandir", "libdir", "bindir", "includedir", "datadir"):
            if name.startswith(place[key] + "/"):
                yield "{%s}%s" % (key, name[len(place[key]):])
                break
        else:
            yield name


def step(lists, files):
    """What is wrong with {package: patterns}: files in no package or in two, patterns without a file."""
    wrong, used = [], set()
    for f in files:
        owners = set()
        for package, patterns in lists.items():
            for p in patterns:
                if fnmatch.fnmatchcase(f, p.rstrip("/")) or fnmatch.fnmatchcase(f, p.rstrip("/") + "/*"):
                    owners.add(package)
                    used.add((package, p))
        if len(owners) != 1:
            wrong.append(f"{f}: in {', '.join(sorted(owners)) or 'no package'}")
    return wrong + [f"{k}: {p} matches nothing" for k, patterns in lists.items() for p in patterns if (k, p) not in used]


there = list(installed())
check("every place of the installation is known", len(there) > 60 and all(f.startswith("{") for f in there), "\n".join(there))
debian = {p.name[:-len(".install")]: [re.sub(r"^usr/lib/\*", "{libdir}", line.split()[0].replace("usr/lib/python3/dist-packages", "{pythondir}")) for line in p.read_text().splitlines()]
          for p in (root / "debian").glob("*.install")}
for prefix_, key in (("usr/bin", "bindir"), ("usr/include", "includedir"), ("usr/share/man", "mandir"), ("usr/share", "datadir")):
    debian = {k: [re.sub("^" + prefix_ + "(?=/|$)", "{%s}" % key, p) for p in v] for k, v in debian.items()}
packages = set(re.findall(r"^Package: (\S+)", (root / "debian/control").read_text(), re.M))
check("debian: a list for each package", set(debian) == packages == {"intact", "libintact1", "libintact-dev", "python3-intact", "intact-doc"}, debian)
wrong = step(debian, there)
check("debian: each file is in one package", not wrong, "\n".join(wrong))
spec = (root / "packaging/rpm/intact.spec").read_text()
MACRO = {"_bindir": "{bindir}", "_libdir": "{libdir}", "_includedir": "{includedir}", "_datadir": "{datadir}", "_mandir": "{mandir}", "_docdir": "{datadir}/doc", "python3_sitelib": "{pythondir}"}
rpm = {}
for name, body in re.findall(r"^%files ?(?:-n )?([\w-]*)\n(.*?)(?=^%(?:files|changelog))", spec, re.M | re.S):
    rpm[name or "intact"] = [re.sub(r"%\{(\w+)\}", lambda m: MACRO[m[1]], line) for line in body.split("\n") if line.startswith("%{")]
wrong = step(rpm, there)
check("rpm: each file is in one package", not wrong and set(rpm) == {"intact", "libs", "devel", "python3-intact", "doc"}, "\n".join(wrong))
check("a file that no list has is found", step(rpm, there + ["{bindir}/other"]) == ["{bindir}/other: in no package"])
check("a line without a file is found", step({"x": ["{bindir}/other"]}, []) == ["x: {bindir}/other matches nothing"])
if shutil.which("rpmspec"):
    rc, out, err = run(["rpmspec", "-P", root / "packaging/rpm/intact.spec"])
    check("rpm: the spec is read", rc == 0 and f"Version:        {version}" in out, out + err)
rc, out, err = run(["bash", "-c", "set -eu; source packaging/arch/PKGBUILD; echo $pkgname $pkgver ${depends[*]}; declare -F build package"], cwd=root)
check("arch: the PKGBUILD is read", rc == 0 and f"intact {version}" in out and all(d in out for d in ("jansson", "zstd", "zlib", "libelf")), out + err)
needed = set(re.findall(r"^\w+ = dependency\('([\w-]+)'\)", (root / "meson.build").read_text(), re.M)) - {"threads"}
names = {"libzstd": "libzstd-dev", "zlib": "zlib1g-dev", "jansson": "libjansson-dev", "libdw": "libdw-dev"}
control, docker = (root / "debian/control").read_text(), (root / "packaging/docker/Dockerfile").read_text()
check("what meson.build depends on is in every package's list", needed == set(names) and all(n in control and n in docker for n in names.values()) and
      all(f"pkgconfig({n})" in spec for n in needed), needed)
nodes = re.findall(r"^(INTACT_\d+) \{", (root / "src/api/exports.map").read_text(), re.M)
symbols = (root / "debian/libintact1.symbols").read_text()
check("debian: the symbols file has every version of the library", nodes and all(f"*@{n} " in symbols for n in nodes), symbols)
scripts = [p for p in (root / "debian/tests").iterdir() if p.name != "control"]
listed = set(re.findall(r"^Tests: (\S+)", (root / "debian/tests/control").read_text(), re.M))
check("debian: the tests are listed and are shell", {p.name for p in scripts} == listed and all(run(["sh", "-n", p])[0] == 0 for p in scripts), listed)
rc, out, err = sh(str(root / "debian/tests/watch"), work, AUTOPKGTEST_TMP=str(work))
check("debian: the test that watches a program passes with the installed copy", rc == 0 and "watch: ok" in out, out + err)
for line in re.findall(r"^RUN (.*(?:\\\n.*)*)", docker, re.M):
    check(f"docker: RUN {line.split()[0]} is shell", run(["sh", "-n", "-c", line])[0] == 0, line)

# ---- versions and the tarball --------------------------------------------------------

release = ["python3", root / "tools/release.py"]
rc, out, err = run([*release, "check"])
check("every file that names the version agrees", rc == 0 and version in out, out + err)
rc, out, err = run([*release, "notes"])
changes = (root / "CHANGELOG.md").read_text()
first = re.search(r"^## (\S+) .*?\n(.*?)(?=^## |\Z)", changes, re.M | re.S)
check("the release notes are the newest section of CHANGELOG.md", rc == 0 and first[2].strip() in out and out.startswith(f"# Intact {first[1]}"), out[:300])
check("a version without a section is an error", run([*release, "notes", "77.1"])[0] == 1)
for where, zone, mask in (("one", "UTC", "022"), ("two", "Asia/Tokyo", "077")):
    rc, out, err = run(["sh", "-c", f"umask {mask}; exec python3 tools/release.py dist {work / where}"], cwd=root, env={"TZ": zone})
    check(f"make dist, {where}", rc == 0, out + err)
name = f"intact-{version}"
a, b = ((work / w / f"{name}.tar.gz").read_bytes() for w in ("one", "two"))
check("the tarball is the same bytes twice", a == b and hashlib.sha256(a).hexdigest() in (work / f"one/{name}.tar.gz.sha256").read_text())
with tarfile.open(work / f"one/{name}.tar.gz") as t:
    members = t.getmembers()
    t.extractall(work / "unpacked")
check("the tarball has one directory, no owner and one time", all(m.name.startswith(name + "/") and not m.uid and not m.gid for m in members) and
      len({m.mtime for m in members}) == 1 and len(members) > 1000, len(members))
tree = work / "unpacked" / name
check("the tarball has what a build needs", all((tree / f).exists() for f in ("meson.build", "tools/setup.sh", "src/cli/main.c", "LICENSE", "docs/index.md")))
rc, out, err = run(["python3", tree / "tools/release.py", "dist", work / "three"], env={"SOURCE_DATE_EPOCH": str(members[0].mtime)})
check("the unpacked tarball makes the same tarball, without git", rc == 0 and (work / f"three/{name}.tar.gz").read_bytes() == a, out + err)
changed = tree / "CHANGELOG.md"
changed.write_text(re.sub(r"^## (\S+) \(.*\)$", "## 9.8 (not released)", changed.read_text(), count=1, flags=re.M))
rc, out, err = run(["python3", tree / "tools/release.py", "set", "9.8.0", "2030-01-02"])
agreed = run(["python3", tree / "tools/release.py", "check"])
check("a release sets the version everywhere", rc == 0 and agreed[0] == 0 and "9.8.0" in agreed[1] and "## 9.8.0 (2030-01-02)" in changed.read_text() and
      "2030-01-02" in (tree / "meson.build").read_text(), out + err + agreed[1])
(tree / "meson.build").write_text((tree / "meson.build").read_text().replace("version: '9.8.0'", "version: '9.8.1'"))
rc, out, err = run(["python3", tree / "tools/release.py", "check"])
check("a version that differs is found", rc == 1 and "CHANGELOG.md" in out, out + err)
done()
