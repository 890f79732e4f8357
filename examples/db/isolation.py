#!/usr/bin/env python3
"""Do databases keep what their isolation levels promise? Runs transactions against SQLite and PostgreSQL, and asks Intact.

Usage: isolation.py [--intact=PATH] [--db=sqlite,postgresql] [--rounds=N] [--seed=S] [--keep=DIR]

SQLite comes with Python. A PostgreSQL server (Debian: postgresql) is started on a socket in a temporary folder and stopped in the end; without
one, it is left out, and said so. For each database and each of its levels:

  1. forced schedules, statement by statement, that bring out an anomaly when the level allows it: dirty read, non-repeatable read,
     lost update, write skew, long fork;
  2. a random workload: sessions take turns statement by statement, by a seeded generator.

What every transaction read and wrote goes into one history (Jepsen's EDN). `intact history --level=...` must say that the level promised
holds, and that an anomaly it allows is there, so that the check is known to see it. Exit code 0: all as expected, 1: not, 2: usage.
"""
import argparse
import glob
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile

KEYS = 8


class Aborted(Exception):
    """The database refused a statement or the commit; the transaction is over."""


# ---- connections: begin, read, write, commit, rollback -------------------------------------------------------


class SQLite:
    def __init__(self, folder, mode):
        self.mode = mode
        shared = mode == "read uncommitted"
        path = os.path.join(folder, "test.db")
        self.db = sqlite3.connect(f"file:{path}" + ("?cache=shared" if shared else ""), uri=True, isolation_level=None, timeout=0)
        if mode == "wal":
            self.db.execute("pragma journal_mode = wal")
        self.db.execute("pragma synchronous = off")
        if shared:
            self.db.execute("pragma read_uncommitted = true")

    def sql(self, text, *args):
        try:
            return self.db.execute(text, args).fetchall()
        except sqlite3.OperationalError as e:
            self.rollback()
            raise Aborted(str(e)) from e

    def create(self):
        self.sql("create table if not exists t (k integer primary key, v integer)")

    def begin(self):
        self.sql("begin")

    def read(self, key):
        rows = self.sql("select v from t where k = ?", key)
        return rows[0][0] if rows else None

    def write(self, key, value):
        self.sql("insert into t values (?, ?) on conflict (k) do update set v = excluded.v", key, value)

    def commit(self):
        self.sql("commit")

    def rollback(self):
        if self.db.in_transaction:
            self.db.execute("rollback")

    def close(self):
        self.db.close()


class PostgreSQL:
    """A psql process on the server's socket: statements go in, rows and a mark come out."""

    MARK = "==done=="

    def __init__(self, folder, level):
        self.level = level
        self.p = subprocess.Popen(["psql", "-X", "-q", "-A", "-t", "-h", folder, "-U", "intact", "-d", "postgres", "-v", "ON_ERROR_STOP=0"],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, bufsize=1)
        self.sql("set lock_timeout = '100ms'")  # who would wait is aborted: the schedule goes on

    def sql(self, text):
        self.p.stdin.write(text + ";\n\\echo " + self.MARK + "\n")
        self.p.stdin.flush()
        rows = []
        for line in self.p.stdout:
            if line.strip() == self.MARK:
                break
            rows.append(line.rstrip("\n"))
        else:
            raise RuntimeError("psql ended: " + "\n".join(rows))
        if any(r.startswith(("ERROR:", "FATAL:")) for r in rows):
            self.rollback()
            raise Aborted(rows[0])
        return [r for r in rows if not r.startswith(("NOTICE:", "WARNING:", "DETAIL:", "HINT:"))]

    def create(self):
        self.sql("drop table if exists t")
        self.sql("create table t (k integer primary key, v integer)")
        # rows are there from the first, so that keys are locked as rows
        self.sql(f"insert into t select k, null from generate_series(0, {20 * KEYS}) k")

    def begin(self):
        self.sql("begin isolation level " + self.level)

    def read(self, key):
        rows = self.sql(f"select v from t where k = {key}")
        return int(rows[0]) if rows and rows[0] else None

    def write(self, key, value):
        self.sql(f"update t set v = {value} where k = {key}")

    def commit(self):
        self.sql("commit")

    def rollback(self):
        self.p.stdin.write("rollback;\n\\echo " + self.MARK + "\n")
        self.p.stdin.flush()
        for line in self.p.stdout:
            if line.strip() == self.MARK:
                return

    def close(self):
        self.p.stdin.close()
        self.p.wait(timeout=20)


# ---- the history ----------------------------------------------------------------------------------------------


class Recorder:
    def __init__(self):
        self.lines = []
        self.value = 0
        self.committed = self.aborted = 0

    def next_value(self):
        self.value += 1
        return self.value

    def event(self, process, kind, ops):
        text = " ".join(f"[:{f} {k} {'nil' if v is None or (f == 'r' and kind == 'invoke') else v}]" for f, k, v in ops)
        self.lines.append(f"{{:index {len(self.lines)}, :process {process}, :type :{kind}, :f :txn, :value [{text}]}}")


class Transaction:
    """One transaction, a statement at a time. `plan`: ("r", key) and ("w", key); the history has what came of it."""

    def __init__(self, recorder, connection, process, plan, abort=False):
        self.recorder, self.db, self.process, self.abort = recorder, connection, process, abort
        self.plan = [(f, k, recorder.next_value() if f == "w" else None) for f, k in plan]
        self.done, self.begun, self.over = [], False, False
        recorder.event(process, "invoke", self.plan)

    def end(self, kind):
        self.over = True
        self.recorder.event(self.process, kind, self.done + self.plan[len(self.done):])
        self.recorder.committed += kind == "ok"
        self.recorder.aborted += kind == "fail"

    def step(self):
        """Begin with the first statement, one statement, or the end. True while there is more."""
        if self.over:
            return False
        try:
            if not self.begun:
                self.begun = True
                self.db.begin()
            if len(self.done) < len(self.plan):
                f, k, v = self.plan[len(self.done)]
                if f == "r":
                    v = self.db.read(k)
                else:
                    self.db.write(k, v)
                self.done.append((f, k, v))
            elif self.abort:
                self.db.rollback()
                self.end("fail")
            else:
                self.db.commit()
                self.end("ok")
        except Aborted:
            self.end("fail")
        return not self.over


# ---- schedules -------------------------------------------------------------------------------------------------

# name: the plans of transactions 0, 1, ...; which one takes the next step (all of them end afterwards); who rolls back
FORCED = {
    "dirty read": (["wx", "rx"], "0 1 1 1 0 0", {0}),
    "non-repeatable read": (["rxry", "wxwy"], "0 1 1 1 0 0", set()),
    "lost update": (["rxwx", "rxwx"], "0 1 0 0 1 1", set()),
    "write skew": (["rxrywx", "rxrywy"], "0 0 1 1 0 1 0 1", set()),
    "long fork": (["rxry", "wx", "wy", "rxry"], "0 1 1 3 2 2 0 0 3 3", set()),
}


def forced(recorder, connections, first_process):
    """Each schedule on keys of its own."""
    for n, (plans, turns, rolled_back) in enumerate(FORCED.values()):
        key = {"x": KEYS + 2 * n, "y": KEYS + 2 * n + 1}
        txns = [Transaction(recorder, connections[i], first_process + i, [(p[j], key[p[j + 1]]) for j in range(0, len(p), 2)], i in rolled_back)
                for i, p in enumerate(plans)]
        for i in turns.split():
            txns[int(i)].step()
        for t in txns:
            while t.step():
                pass


def workload(recorder, connections, rounds, rng):
    """Sessions take turns; each runs one transaction after the other."""
    running = [None] * len(connections)
    while rounds or any(running):
        s = rng.randrange(len(connections))
        if running[s] is None and rounds:
            rounds -= 1
            plan = [(rng.choice("rrw"), rng.randrange(KEYS)) for _ in range(rng.randint(1, 5))]
            running[s] = Transaction(recorder, connections[s], s, plan, rng.random() < 0.05)
        elif running[s] is not None and not running[s].step():
            running[s] = None


# ---- databases and what they promise ----------------------------------------------------------------------------

# level of the database: (what must hold, what must be seen to be violated with one of these anomalies)
SQLITE = {
    "wal": ("strict-serializable", None),
    "delete": ("strict-serializable", None),
    "read uncommitted": ("read-uncommitted", ("read-committed", {"G1a"})),
}
POSTGRESQL = {
    "read uncommitted": ("read-committed", ("read-atomic", {"fractured-read"})),  # PostgreSQL has no dirty reads
    "read committed": ("read-committed", ("cursor-stability", {"lost-update"})),
    "repeatable read": ("snapshot-isolation", ("serializable", {"write-skew", "G2-item"})),
    "serializable": ("serializable", None),
}


def postgresql_binaries():
    """The folder of the server's programs, or None."""
    if not shutil.which("psql"):
        return None
    folders = sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True) + os.environ.get("PATH", "").split(":")
    return next((f for f in folders if all(os.access(os.path.join(f, n), os.X_OK) for n in ("initdb", "postgres", "pg_isready"))), None)


class Server:
    """A PostgreSQL server on a socket in its folder. It does not run as root: then it runs as nobody."""

    def __init__(self, binaries, folder):
        self.folder = folder
        self.user = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"] if os.geteuid() == 0 else []
        if self.user:
            shutil.chown(folder, "nobody", "nogroup")
        data = os.path.join(folder, "data")
        env = dict(os.environ, LC_ALL="C", HOME=folder)
        subprocess.run(self.user + [os.path.join(binaries, "initdb"), "-D", data, "-U", "intact", "-A", "trust", "-N"],
                       check=True, stdout=subprocess.DEVNULL, env=env, cwd=folder)
        self.p = subprocess.Popen(self.user + [os.path.join(binaries, "postgres"), "-D", data, "-k", folder, "-c", "listen_addresses=", "-c", "fsync=off",
                                               "-c", "autovacuum=off", "-c", "log_min_messages=fatal"],
                                  stderr=subprocess.PIPE, text=True, env=env, cwd=folder)
        ready = os.path.join(binaries, "pg_isready")
        while subprocess.run([ready, "-q", "-h", folder]).returncode:
            if self.p.poll() is not None:
                raise RuntimeError("the server did not start: " + self.p.stderr.read())

    def stop(self):
        self.p.send_signal(signal.SIGINT)  # fast shutdown
        self.p.wait(timeout=60)


def judge(intact, path, level):
    p = subprocess.run([intact, "history", "--json=-", "--level=" + level, path], capture_output=True, text=True)
    if p.returncode not in (0, 1):
        raise RuntimeError(p.stderr)
    answer = json.loads(p.stdout)["results"][0]["levels"][0]
    return answer["verdict"], answer.get("anomaly")


def examine(args, name, mode, promise, make, folder):
    """One database at one level: True when it is as expected."""
    holds, shows = promise
    recorder, rng = Recorder(), random.Random(args.seed)
    connections = [make(folder, mode) for _ in range(4)]
    connections[0].create()
    forced(recorder, connections, 100)
    workload(recorder, connections, args.rounds, rng)
    for c in connections:
        c.close()
    path = os.path.join(args.keep or folder, f"{name}-{mode.replace(' ', '-')}.edn")
    with open(path, "w") as f:
        f.write("\n".join(recorder.lines) + "\n")
    verdict, anomaly = judge(args.intact, path, holds)
    ok = verdict == "holds"
    line = f"{name:10} {mode:17} {recorder.committed:5} committed, {recorder.aborted:4} aborted: {holds} {verdict}" + ("" if ok else f" ({anomaly})")
    if shows:
        verdict, anomaly = judge(args.intact, path, shows[0])
        seen = verdict == "violated" and anomaly in shows[1]
        line += f"; {shows[0]} {verdict}" + (f" ({anomaly})" if anomaly else "")
        ok = ok and seen
    print(line + ("" if ok else "   UNEXPECTED"), flush=True)
    return ok


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--intact", default="intact")
    p.add_argument("--db", default="sqlite,postgresql")
    p.add_argument("--rounds", type=int, default=300)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--keep", help="a folder for the histories")
    args = p.parse_args()
    wanted = args.db.split(",")
    if set(wanted) - {"sqlite", "postgresql"}:
        p.error("--db: sqlite, postgresql")
    if args.keep:
        os.makedirs(args.keep, exist_ok=True)
    ok = True
    for mode, promise in SQLITE.items() if "sqlite" in wanted else ():
        with tempfile.TemporaryDirectory(prefix="intact-db-") as folder:
            ok &= examine(args, "sqlite", mode, promise, SQLite, folder)
    binaries = postgresql_binaries()
    if "postgresql" in wanted and not binaries:
        print("postgresql skipped: no server (initdb) and client (psql) found", flush=True)
    elif "postgresql" in wanted:
        with tempfile.TemporaryDirectory(prefix="intact-db-") as folder:
            server = Server(binaries, folder)
            try:
                for mode, promise in POSTGRESQL.items():
                    ok &= examine(args, "postgresql", mode, promise, PostgreSQL, folder)
            finally:
                server.stop()
    return 0 if ok else 1


sys.exit(main())
