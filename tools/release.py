#!/usr/bin/env python3
"""Versions, release notes and the source tarball.

  release.py version             the version, as meson.build has it
  release.py notes [VERSION]     the section of CHANGELOG.md about it; default: the first
  release.py check               all files that name the version agree
  release.py set VERSION DATE    a release: writes the version into these files (DATE: 2026-11-16)
  release.py dist DIR            DIR/intact-VERSION.tar.gz, its sha256 and the release notes

The tarball has the files that git knows (without git: all but builds), sorted, with one time (SOURCE_DATE_EPOCH, or the last
commit's) and no owner: the same commit gives the same bytes. MIT licensed, as the rest."""
import gzip
import hashlib
import io
import os
import re
import subprocess
import sys
import tarfile
import time
from email.utils import formatdate
from pathlib import Path

root = Path(__file__).resolve().parents[1]
# (file, pattern with the version as its first group)
PLACES = [
    ("meson.build", r"^  version: '([^']+)'"),
    ("debian/changelog", r"\Aintact \(([^)-]+)-\d+\)"),
    ("packaging/rpm/intact.spec", r"^Version: +(\S+)"),
    ("packaging/arch/PKGBUILD", r"^pkgver=(\S+)"),
]
DATES = [("meson.build", r"set_quoted\('INTACT_DATE', '([^']+)'\)")]
HEADING = re.compile(r"^## (\S+) \((.*)\)$", re.M)


def fail(message):
    sys.exit(f"release.py: {message}")


def read(name):
    return (root / name).read_text(encoding="utf-8")


def places():
    return [(f, p) for f, p in PLACES if (root / f).exists()]


def version():
    return re.search(PLACES[0][1], read("meson.build"), re.M)[1]


def sections():
    """[(version, remark, text)] of CHANGELOG.md, the newest first."""
    text = read("CHANGELOG.md")
    found = list(HEADING.finditer(text))
    ends = [m.start() for m in found[1:]] + [len(text)]
    return [(m[1], m[2], text[m.end():end].strip() + "\n") for m, end in zip(found, ends)]


def same(a, b):
    """0.2 and 0.2.0 are one version."""
    return re.sub(r"(\.0)+$", "", a) == re.sub(r"(\.0)+$", "", b)


def notes(wanted=None):
    for v, remark, text in sections():
        if wanted is None or same(v, wanted):
            return f"# Intact {v} ({remark})\n\n{text}"
    fail(f"CHANGELOG.md has no section about {wanted}")


def problems():
    now, bad = version(), []
    for f, pattern in places():
        m = re.search(pattern, read(f), re.M)
        if not m or m[1] != now:
            bad.append(f"{f}: version {m[1] if m else '(none)'}, meson.build has {now}")
    parts = sections()
    if not parts:
        return bad + ["CHANGELOG.md: no section '## VERSION (DATE)'"]
    v, remark, _ = parts[0]
    if remark == "not released":
        key = lambda s: [int(n) for n in s.split(".")]
        if key(v) < key(now)[:len(key(v))]:
            bad.append(f"CHANGELOG.md: {v} is not released, but meson.build has {now}")
    elif not same(v, now):
        bad.append(f"CHANGELOG.md: the newest section is {v}, meson.build has {now}")
    elif not re.fullmatch(r"\d{4}-\d\d-\d\d", remark):
        bad.append(f"CHANGELOG.md: {v} ({remark}): expected a date or 'not released'")
    return bad


def put(name, pattern, value):
    text = read(name)
    m = re.search(pattern, text, re.M)
    if not m:
        fail(f"{name}: no version to replace")
    (root / name).write_text(text[:m.start(1)] + value + text[m.end(1):], encoding="utf-8")


def release(new, date):
    if not re.fullmatch(r"\d+\.\d+\.\d+", new) or not re.fullmatch(r"\d{4}-\d\d-\d\d", date):
        fail("expected a VERSION such as 1.2.3 and a DATE such as 2026-11-16")
    v, remark, _ = sections()[0]
    if remark != "not released" or not same(v, new):
        fail(f"CHANGELOG.md begins with {v} ({remark}); expected {new} (not released)")
    text = read("CHANGELOG.md")
    (root / "CHANGELOG.md").write_text(text.replace(f"## {v} (not released)", f"## {new} ({date})", 1), encoding="utf-8")
    for f, pattern in places():
        if f != "debian/changelog":
            put(f, pattern, new)
    for f, pattern in DATES:
        put(f, pattern, date)
    if (root / "debian/changelog").exists():
        when = formatdate(time.mktime(time.strptime(date + " 12:00 UTC", "%Y-%m-%d %H:%M %Z")))
        old = read("debian/changelog")
        who = re.search(r"^ -- (.*?)  ", old, re.M)[1]
        entry = f"intact ({new}-1) unstable; urgency=medium\n\n  * New release: see /usr/share/doc/intact/changelog.gz.\n\n -- {who}  {when}\n\n"
        (root / "debian/changelog").write_text(entry + old, encoding="utf-8")


def git(*args):
    p = subprocess.run(["git", "-C", root, *args], capture_output=True)
    return p.stdout if p.returncode == 0 else None


def files():
    """{path in the tarball: (bytes or link target, executable)}, the time."""
    top = git("rev-parse", "--show-toplevel")
    if top and Path(top.decode().strip()).resolve() == root:
        tree = git("ls-tree", "-r", "-z", "HEAD")
        found = {}
        for row in filter(None, tree.split(b"\0")):
            (mode, kind, name), path = row.split(b"\t", 1)[0].split(), row.split(b"\t", 1)[1].decode()
            if kind == b"blob":
                found[path] = (name.decode(), mode)
        names = list(found)
        batch = subprocess.run(["git", "-C", root, "cat-file", "--batch"], input="".join(found[n][0] + "\n" for n in names).encode(),
                               capture_output=True, check=True).stdout
        at, contents = 0, {}
        for n in names:
            end = batch.index(b"\n", at)
            size = int(batch[at:end].split()[2])
            contents[n] = (batch[end + 1:end + 1 + size], found[n][1] == b"100755", found[n][1] == b"120000")
            at = end + 2 + size
        if git("status", "--porcelain").strip():
            print("release.py: warning: the tarball has what is committed; the tree has other changes", file=sys.stderr)
        return contents, int(git("log", "-1", "--format=%ct"))
    contents = {}
    for path in sorted(root.rglob("*")):
        rel = path.relative_to(root)
        if rel.parts[0].startswith(("build", "dist")) or ".git" in rel.parts or "__pycache__" in rel.parts or path.is_dir():
            continue
        contents[str(rel)] = (os.readlink(path).encode() if path.is_symlink() else path.read_bytes(),
                              os.access(path, os.X_OK) and not path.is_symlink(), path.is_symlink())
    return contents, int(max(p.stat().st_mtime for p in [root / "CHANGELOG.md"]))


def dist(where):
    where = Path(where)
    where.mkdir(parents=True, exist_ok=True)
    contents, when = files()
    when = int(os.environ.get("SOURCE_DATE_EPOCH", when))
    name = f"intact-{version()}"
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w", format=tarfile.GNU_FORMAT) as t:
        for path in sorted(contents):
            data, executable, link = contents[path]
            info = tarfile.TarInfo(f"{name}/{path}")
            info.mtime, info.mode = when, 0o755 if executable else 0o644
            if link:
                info.type, info.linkname, info.mode = tarfile.SYMTYPE, data.decode(), 0o777
                t.addfile(info)
            else:
                info.size = len(data)
                t.addfile(info, io.BytesIO(data))
    packed = gzip.compress(tar.getvalue(), 9, mtime=0)
    archive = where / f"{name}.tar.gz"
    archive.write_bytes(packed)
    (where / f"{name}.tar.gz.sha256").write_text(f"{hashlib.sha256(packed).hexdigest()}  {name}.tar.gz\n")
    (where / f"{name}.notes.md").write_text(notes(), encoding="utf-8")
    print(archive)


def main(args):
    verb = args[0] if args else ""
    if verb == "version" and len(args) == 1:
        print(version())
    elif verb == "notes" and len(args) <= 2:
        print(notes(*args[1:]), end="")
    elif verb == "check" and len(args) == 1:
        bad = problems()
        print("\n".join(bad or [f"version {version()} everywhere"]))
        sys.exit(1 if bad else 0)
    elif verb == "set" and len(args) == 3:
        release(*args[1:])
    elif verb == "dist" and len(args) == 2:
        bad = problems()
        if bad:
            fail("\n".join(bad))
        dist(args[1])
    else:
        sys.exit(__doc__)


main(sys.argv[1:])
