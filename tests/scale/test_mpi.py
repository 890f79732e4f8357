#!/usr/bin/env python3
"""Checks that mpirun starts: the same JSON as without MPI, for 1 to 4 ranks and one thread or two in each, with each MPI library
that is here (Open MPI, MPICH); a rank that is killed; what is refused. Where there is no MPI, what must be refused is still tested,
and the rest is skipped with a line that says so.

    test_mpi.py PATH-OF-INTACT EXAMPLES [COUNT [SEED]]

COUNT is the number of random models and of examples (0: all examples); without it 4 examples and no random model: ranks that share a small
search from its first states on meet at each of thousands of levels, which takes minutes. TAP on stdout; a failure prints the seed."""
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cli"))
sys.path.insert(0, str(HERE))
from random_models import random_model  # noqa: E402
from tap import check, done, run  # noqa: E402

# meson has malloc fill what it gives out: tables of 68 MB for each level, of which a small search uses a few pages
os.environ.pop("MALLOC_PERTURB_", None)
intact, examples = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
count = int(sys.argv[3]) if len(sys.argv) > 3 else 4
seed = int(sys.argv[4]) if len(sys.argv) > 4 else 1
rnd = random.Random(seed)
tmp = tempfile.TemporaryDirectory()
top = Path(tmp.name)
modules = intact.parent.parent / "dist/mpi"
# the sanitizers' runtime reports what MPI's libraries keep for themselves
quiet = {"ASAN_OPTIONS": "detect_leaks=0:" + os.environ.get("ASAN_OPTIONS", "")}


def launchers():
    """[(name, the words before the number of ranks)] of the MPI libraries for which there is a module and a launcher."""
    found = []
    for name, module, words, option, says in (
            ("Open MPI", "intact-openmpi.so", ("mpirun.openmpi", "mpirun"), ["--allow-run-as-root", "--oversubscribe"], "Open MPI"),
            ("MPICH", "intact-mpich.so", ("mpirun.mpich", "mpirun"), [], "HYDRA")):
        for word in words if (modules / module).exists() else ():
            try:
                version = subprocess.run([word, "--version"], capture_output=True, text=True).stdout
            except OSError:
                continue
            if says in version:
                found.append((name, [word, *option, "-n"]))
                break
    return found


def asked(model, *options):
    return [intact, "check", "-q", "--json=-", "--max-memory=200M", *options, model]


def text(name, lines):
    p = top / name
    p.write_text(lines)
    return p


lost = text("lost.atm", """int[0..7] x, y;
thread worker * 4 {
  int[0..7] t;
  y = (y + 1) % 8;
  y = (y + 3) % 8;
  atomic update {
    t = x;
    x = (t + 1) % 8;
  }
}
""")
deadlock = text("deadlock.atm", """lock a, b, c;
int[0..3] x;
thread one { while (true) { acquire(a); acquire(b); x = (x + 1) % 4; release(b); release(a); } }
thread two { while (true) { acquire(b); acquire(c); x = (x + 1) % 4; release(c); release(b); } }
thread three { while (true) { acquire(c); acquire(a); x = (x + 1) % 4; release(a); release(c); } }
""")

# ---- without a module: refused, whatever is installed ---------------------------------------------------------------------------
for what, env in (("Open MPI", {"OMPI_COMM_WORLD_SIZE": "2"}), ("MPICH", {"PMI_SIZE": "3", "PMI_RANK": "1"}), ("Open MPI", {"PMIX_RANK": "0"})):
    rc, out, err = run(asked(lost), env={**env, "INTACT_MPI_DIR": str(top)})
    check(f"started by {what}, no module: exit 2, a line that names the package and the option, no result",
          rc == 2 and not out and f"launcher ({what})" in err and "-dev" in err and "-Dmpi=enabled" in err and err.count("\n") == 1, f"{rc}\n{out}{err}")
one = run(asked(lost))
for env in ({"OMPI_COMM_WORLD_SIZE": "1"}, {"PMI_SIZE": "1", "PMI_RANK": "0"}, {"PMIX_RANK": "0", "SLURM_STEP_NUM_TASKS": "1"}):
    check(f"one rank needs no module ({', '.join(env)})", run(asked(lost), env={**env, "INTACT_MPI_DIR": str(top)}) == one)
text("intact-openmpi.so", "no library")
rc, out, err = run(asked(lost), env={"OMPI_COMM_WORLD_SIZE": "2", "INTACT_MPI_DIR": str(top)})
check("a module that cannot be loaded: exit 2 and the reason", rc == 2 and not out and "cannot be loaded" in err, f"{rc}\n{err}")

found = launchers()
if not found:
    print("# SKIP: no MPI here (libopenmpi-dev and openmpi-bin, or libmpich-dev and mpich): no search was shared")
cases = [("acquire1, 7 threads", examples / "acquire1.atm", ["--threads=worker=7", "--engine=commit", "--no-reduce=all"]),
         ("acquire1, 20 threads", examples / "acquire1.atm", ["--threads=worker=20", "--engine=commit", "--no-reduce=transactions", "--no-reduce=local"]),
         ("a lost update", lost, ["--no-reduce=all"]), ("a deadlock", deadlock, ["--deadlock", "--no-reduce=all"]),
         ("transaction, each block", examples / "transaction.atm", ["--stats", "--no-reduce=all"]),
         ("transaction, 4 threads", examples / "transaction.atm", ["--threads=worker=4", "--engine=commit", "--no-reduce=all"])]
many = count == 0 or count > 20
for name, launch in found:
    def ranks(n, *argv, timeout=600, env=None):
        return run([*launch, str(n), *argv], env={**quiet, **(env or {})}, timeout=timeout)

    def differs(n, model, options, *more):
        a, b = run(asked(model, *options)), ranks(n, *asked(model, *options), *more)
        return "" if a[:2] == b[:2] else f"{n} ranks, {model.name} {' '.join(options)}: exit {a[0]}, {b[0]}\n{b[2]}{b[1][:2000]}"

    for i, (what, model, options) in enumerate(cases):
        turns = [(n, j) for n in (1, 2, 3, 4) for j in (1, 2)]
        if not many:
            turns = [turns[i % 6 + 2]] + ([turns[0]] if i == 0 else [])
        for n, j in turns:
            bad = differs(n, model, options, f"-j{j}", f"--mpi-from={rnd.choice([2, 30, 200])}")
            check(f"{name}, {what}, {n} ranks, -j{j}: the same JSON", not bad, bad)
    bad, some = [], sorted(examples.glob("*.[as][tm][ml]"))
    for model in some if many else rnd.sample(some, count):
        bad.append(differs(2 + len(bad) % 3, model, ["--max-states=30000"], "--mpi-from=2"))
    check(f"{name}, {len(bad)} examples: the same JSON", not any(bad), "\n".join(filter(None, bad)))
    bad = []
    for i in range(count if len(sys.argv) > 3 else 0):
        s = rnd.randrange(1 << 30)
        m = text("random.atm", random_model(random.Random(s)))
        options = rnd.choice([[], ["--no-reduce=all"], ["--engine=commit", "--no-reduce=symmetry"], ["--engine=all"], ["--deadlock"]])
        wrong = differs(rnd.randint(2, 4), m, [*options, "--max-states=3000"], f"--mpi-from={rnd.choice([1, 2, 50, 200])}", f"-j{1 + i % 2}")
        if wrong:
            bad.append(f"model seed {s}: {wrong}{m.read_text()}")
    if len(sys.argv) > 3:
        check(f"{name}, {count} random models: the same JSON", not bad, "\n".join(bad))

    what, model, options = cases[0]
    rc, out, err = ranks(2, intact, "check", "-q", "--stats", *options, model, "--mpi-from=50")
    said = re.search(rf"2 MPI ranks \({name}.*\): [1-9]\d* search(es)?\s+over states shared by all; .* the\s+exact\s+engine, quiescence, .* ran\s+on\s+rank 0 while\s+the\s+others\s+waited", out, re.S)
    check(f"{name}: the report is there once, and --stats says what was shared", rc == 0 and said and out.count("verdict") == 1 and "ids were agreed" in out, f"{rc}\n{out}{err}")
    rc, out, err = ranks(2, *asked(top / "none.atm"))
    check(f"{name}, no such model: exit 2, said once", rc == 2 and not out and err.count("No such file") == 1, f"{rc}\n{out}{err}")
    rc, out, err = ranks(2, intact, "check", "--max-memory=much", model)
    check(f"{name}, a wrong option: exit 2, said once", rc == 2 and not out and err.count("--max-memory") == 1, f"{rc}\n{out}{err}")
    for option in ("--checkpoint", "--resume", "--disk"):
        rc, out, err = ranks(2, *asked(model, f"{option}={top}"))
        check(f"{name}, {option}: refused", rc == 2 and not out and err.count("cannot be used with several MPI ranks") == 1, f"{rc}\n{out}{err}")

    # ---- a rank that dies ---------------------------------------------------------------------------------------------------------
    def of_rank(pid, number):
        try:
            env = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
            argv = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except OSError:
            return False
        return str(intact).encode() == argv[0] and (f"OMPI_COMM_WORLD_RANK={number}".encode() in env or f"PMI_RANK={number}".encode() in env) and \
            f"INTACT_TEST_MARK={os.getpid()}".encode() in env

    def serves(pid):
        try:
            return "intact-" in Path(f"/proc/{pid}/maps").read_text()
        except OSError:
            return False

    for victim in (1, 0):
        p = subprocess.Popen([str(a) for a in [*launch, "3", *asked(examples / "acquire1.atm", "--threads=worker=14", "--engine=commit", "--no-reduce=all"), "--mpi-from=50", "--timeout=300"]],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             env=dict(os.environ, NO_COLOR="1", INTACT_TEST_MARK=str(os.getpid()), **quiet))
        pids = []
        while not pids and p.poll() is None:
            pids = [int(d.name) for d in Path("/proc").iterdir() if d.name.isdigit() and of_rank(d.name, victim) and serves(d.name)]
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        out, err = p.communicate(timeout=280)  # MPICH's launcher says on standard output what it thinks of it
        check(f"{name}, rank {victim} is killed: all end, no result, exit code not 0" + (", a sentence of rank 0 at most once" if victim else ""),
              pids and p.returncode not in (0, 1) and '"verdict"' not in out and err.count("nothing is decided (unknown)") <= 1, f"{p.returncode}\n{out[:500]}\n{err}")
        left = [d.name for d in Path("/proc").iterdir() if d.name.isdigit() and any(of_rank(d.name, n) for n in range(3))]
        check(f"{name}, rank {victim} is killed: no rank is left", not left, str(left))
done()
