#!/usr/bin/env python3
"""examples/db/isolation.py: SQLite and, where a server is installed, PostgreSQL keep what their levels promise, and the histories show the
anomalies that weaker levels allow.

Usage: test_databases.py INTACT SOURCE_ROOT      (TAP on stdout)"""
import os
import re
import sys
import tempfile

from tap import check, done, run

INTACT, ROOT = os.path.abspath(sys.argv[1]), sys.argv[2]
SCRIPT = os.path.join(ROOT, "examples/db/isolation.py")
TMP = tempfile.mkdtemp(prefix="intact-databases-")

code, out, err = run([sys.executable, SCRIPT, "--intact=" + INTACT, "--db=sqlite", "--rounds=120", "--keep=" + TMP])
check("SQLite: every level as promised", code == 0 and "UNEXPECTED" not in out, (out, err))
check("SQLite in WAL mode is strictly serializable", re.search(r"sqlite +wal .*strict-serializable holds\n", out), out)
check("SQLite with a shared cache and read_uncommitted shows dirty reads", re.search(r"read uncommitted.*read-committed violated \(G1a\)", out), out)
check("the forced schedules are in the history", run([INTACT, "history", "-q", "--level=strict-serializable", os.path.join(TMP, "sqlite-wal.edn")])[0] == 0)
code, out, err = run([sys.executable, SCRIPT, "--db=oracle"])
check("an unknown database is refused", code == 2 and "sqlite, postgresql" in err, err)

code, out, err = run([sys.executable, SCRIPT, "--intact=" + INTACT, "--db=postgresql", "--rounds=60", "--keep=" + TMP])
if "skipped" in out:
    check("PostgreSQL # SKIP no server is installed", code == 0, out)
else:
    check("PostgreSQL: every level as promised", code == 0 and "UNEXPECTED" not in out, (out, err))
    check("read committed shows a lost update", re.search(r"read committed .*cursor-stability violated \(lost-update\)", out), out)
    check("repeatable read shows write skew and no lost update",
          re.search(r"repeatable read .*snapshot-isolation holds; serializable violated \((write-skew|G2-item)\)", out) and
          run([INTACT, "history", "-q", "--level=cursor-stability,update-atomic", os.path.join(TMP, "postgresql-repeatable-read.edn")])[0] == 0, out)
    check("serializable shows nothing", re.search(r"postgresql serializable .*: serializable holds\n", out), out)
done()
