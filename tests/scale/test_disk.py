#!/usr/bin/env python3
"""Searches on disk: the same JSON as in memory; full, damaged and interrupted ones lose nothing and claim nothing.

    test_disk.py PATH-OF-INTACT EXAMPLES [COUNT [SEED]]

COUNT is the number of random models, and of random breaks (20). TAP on stdout; a failure prints the seed."""
import os
import random
import re
import shlex
import shutil
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
intact, examples = sys.argv[1], Path(sys.argv[2])
count = int(sys.argv[3]) if len(sys.argv) > 3 else 20
seed = int(sys.argv[4]) if len(sys.argv) > 4 else 1
rnd = random.Random(seed)
# a file system in memory: what is tested is not the disk
tmp = tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
top = Path(tmp.name)
preload = top / "break_at.so"
subprocess.run([os.environ.get("CC", "cc").split()[-1], "-shared", "-fPIC", "-O1", str(HERE / "break_at.c"), "-o", str(preload), "-ldl"], check=True)


def broken(at=0, how="", span=0, counted=None):
    env = {"LD_PRELOAD": str(preload), "ASAN_OPTIONS": "verify_asan_link_order=0:" + os.environ.get("ASAN_OPTIONS", "")}
    if at:
        env.update(BREAK_AT=str(at), BREAK_HOW=how, BREAK_FOR=str(span))
    if counted:
        env["BREAK_COUNT"] = str(counted)
    return env


def asked(model, *options):
    # little memory, so that the tables of a search on disk are small: what they take of the machine is not tested
    little = [] if any(o.startswith("--max-memory") for o in options) else ["--max-memory=200M"]
    return [intact, "check", "-q", "--json=-", *little, *options, str(model)]


def fresh(name):
    d = top / name
    shutil.rmtree(d, ignore_errors=True)
    d.mkdir()
    return d


def text(name, lines):
    p = top / name
    p.write_text(lines)
    return p


GOES_ON = re.compile(r"^intact check: (--disk-from was reached|the memory limit was reached) after \d+ states: the search goes on in files in '.*'$", re.M)

# ---- the same bytes -------------------------------------------------------------------------------------------------------
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
cases = [("acquire1, 7 threads", examples / "acquire1.atm", ["--threads=worker=7", "--engine=commit", "--no-reduce=all"]),
         ("acquire1, 20 threads", examples / "acquire1.atm", ["--threads=worker=20", "--engine=commit", "--no-reduce=transactions", "--no-reduce=local"]),
         ("a lost update", lost, ["--no-reduce=all"]), ("a deadlock", deadlock, ["--deadlock", "--no-reduce=all"]),
         ("transaction, each block", examples / "transaction.atm", ["--stats", "--no-reduce=all"]),
         ("transaction, 4 threads", examples / "transaction.atm", ["--threads=worker=4", "--engine=commit", "--no-reduce=all"])]
whole, moments, d = {}, {}, fresh("d")
for name, model, options in cases:
    whole[name] = run(asked(model, *options))[:2]
    for more in [["--disk-from=1"], ["--disk-from=9", "-j2"]]:
        rc, out, err = run(asked(model, *options, f"--disk={d}", *more))
        check(f"{name}, {' '.join(more)}: the same JSON, one line that says so, no files left",
              (rc, out) == whole[name] and GOES_ON.search(err) and not list(d.iterdir()), f"{rc} {whole[name][0]}\n{err}")
name, model, options = "acquire1, 9 threads", examples / "acquire1.atm", ["--threads=worker=9", "--engine=commit", "--no-reduce=all"]
rc, out, err = run(asked(model, *options, f"--disk={d}", "--max-memory=4500K"))
check("when the memory limit is reached: the same JSON", (rc, out) == run(asked(model, *options))[:2] and rc == 0 and "memory limit was reached after" in err, f"{rc}\n{err}")
rc, out, err = run(asked(model, *options, f"--disk={d}", "--disk-from=9999999"))
check("with enough memory nothing is said and nothing is written", rc == 0 and not err and not list(d.iterdir()), f"{rc}\n{err}")
bad = []
for model in sorted(examples.glob("*.[as][tm][ml]")):
    one = run(asked(model, "--max-states=30000"))
    two = run(asked(model, "--max-states=30000", f"--disk={d}", "--disk-from=2"))
    if one[:2] != two[:2]:
        bad.append(f"{model.name}: {one[0]}, {two[0]}\n{two[2]}")
check("every example: the same JSON, no files left", not bad and not list(d.iterdir()), "\n".join(bad))
bad = []
for i in range(max(count, 12)):
    s = rnd.randrange(1 << 30)
    m = text("random.atm", random_model(random.Random(s)))
    options = rnd.choice([[], ["--no-reduce=all"], ["--engine=commit", "--no-reduce=symmetry"], ["--engine=all"], ["--deadlock"]])
    one = run(asked(m, *options, "--max-states=3000"))
    two = run(asked(m, *options, "--max-states=3000", f"--disk={d}", f"--disk-from={rnd.choice([1, 2, 50, 200])}", f"-j{1 + i % 2}"))
    if one[:2] != two[:2] or one[0] not in (0, 1, 3):
        bad.append(f"model seed {s}, {options}: {one[0]}, {two[0]}\n{two[2]}{m.read_text()}")
check(f"{max(count, 12)} random models: the same JSON", not bad, "\n".join(bad))

# ---- interrupted, killed, full, damaged at random moments ------------------------------------------------------------------
cases = [c for c in cases if c[0] != "a deadlock"]
for name, model, options in cases:
    counted = top / "count"
    run(asked(model, *options, f"--disk={fresh('d')}", "--disk-from=1", "--every=0"), env=broken(counted=counted))
    moments[name] = int(counted.read_text())
check("there are moments at which to break", all(n > 20 for n in moments.values()), str(moments))


def resume_line(err):
    line = re.search(r"^resume: (intact check --resume .*)$", err, re.M)
    return shlex.split(line.group(1)) if line else None


good, ways, wrong = 0, ["term", "kill", "full", "flip", "int", "torn", "full"], []
for i in range(count):
    name, model, options = cases[i % len(cases)]
    how, at, d, c = ways[i % len(ways)], rnd.randint(1, moments[name]), fresh("d"), fresh("c")
    own = rnd.random() < 0.5  # a directory of its own for the checkpoint, or one in that of the disk
    c.rmdir()
    span = rnd.choice([0, 1, 2])
    what = f"{name}: {how} at moment {at} of {moments[name]}, {'its own' if own else 'no'} checkpoint, for {span} (seed {seed})"
    rc, out, err = run(asked(model, *options, f"--disk={d}", "--disk-from=1", "--every=0", f"-j{1 + i % 2}", *([f"--checkpoint={c}"] if own else [])), env=broken(at, how, span))
    again = resume_line(err)
    if how in ("kill", "torn"):
        ok = rc in (-signal.SIGKILL, whole[name][0])
        where = c if own else next(iter(d.iterdir()), None)
        if where and (where / "checkpoint").exists():
            again = ["intact", "check", "--resume", str(where), *asked(model, *options)[2:]]
    elif (rc, out) == whole[name]:
        ok, again = True, None
    else:
        if how in ("term", "int"):
            ok = rc == 3 and not out
        else:  # another question, or another engine, may still be decided: the one that was not says why
            ok = rc in (3, whole[name][0]) and '"limit": "disk"' in out and (rc != 3 or "intact check: --disk: " in err)
    if ok and again:
        more = rnd.choice([[], [f"--disk={fresh('e')}", "--disk-from=1"], ["-j2"]])
        rc, out, err = run([intact, *again[1:], *more])
        ok = (rc, out) == whole[name]
    good += ok
    if not ok:
        wrong.append(f"{what}: exit {rc}, expected {whole[name][0]}\n{err}{out if how == 'full' else ''}")
check(f"{count} breaks: resumed to the same JSON, or an honest end", not wrong, "\n".join(wrong))
name, model, options = cases[0]
full, wrong = 0, []
for at in range(45, 105, 12):
    rc, out, err = run(asked(model, *options, f"--disk={fresh('d')}", "--disk-from=1"), env=broken(at, "full"))
    seen = rc == 3 and '"limit": "disk"' in out and "intact check: --disk: " in err and "No space left" in err
    full += seen
    if not seen and (rc, out) != whole[name]:
        wrong.append(f"moment {at}: exit {rc}\n{err}")
check("a full disk is told as such", full and not wrong, f"{full}\n" + "\n".join(wrong))
damaged, wrong = 0, []
for at in range(45, 105, 3):
    rc, out, err = run(asked(model, *options, f"--disk={fresh('d')}", "--disk-from=1"), env=broken(at, "flip"))
    seen = rc == 3 and '"limit": "disk"' in out and "--disk: a file is damaged: its checksum is wrong" in err
    damaged += seen
    if not seen and (rc, out) != whole[name]:
        wrong.append(f"moment {at}: exit {rc}\n{err}")
check("a damaged file is found when it is read: unknown (disk) and the reason", damaged > 5 and not wrong, f"{damaged}\n" + "\n".join(wrong))

# ---- the limit of the files ---------------------------------------------------------------------------------------------------
name, model, options = "transaction, 4 threads", examples / "transaction.atm", ["--threads=worker=4", "--engine=commit", "--no-reduce=all"]
for own in (False, True):
    d, c = fresh("d"), top / "own"
    shutil.rmtree(c, ignore_errors=True)
    rc, out, err = run(asked(model, *options, f"--disk={d}", "--disk-from=1", "--disk-size=64K", *([f"--checkpoint={c}"] if own else [])))
    again = resume_line(err)
    check("--disk-size is reached: unknown (disk), the reason, and the command that resumes",
          rc == 3 and '"limit": "disk"' in out and "--disk: the limit --disk-size was reached" in err and again, f"{rc}\n{out}{err}")
    if again:
        rc, out, err = run([intact, *again[1:], "--disk-size=1G"])
        check("... with more of it the same JSON", (rc, out) == whole[name], f"{rc}\n{err}")
        rc, out, err = run([intact, *[w for w in again[1:] if not w.startswith("--disk")]])
        check("... and from the same checkpoint in memory", (rc, out) == whole[name], f"{rc}\n{err}")

# ---- usage --------------------------------------------------------------------------------------------------------------------
for what, argv, reason in [
        ("no such directory", [f"--disk={top}/none"], "cannot be opened: No such file"),
        ("a file", [f"--disk={model}"], "cannot be opened: Not a directory"),
        ("--disk-size alone", ["--disk-size=1G"], "--disk-size needs --disk"),
        ("--disk-from alone", ["--disk-from=7"], "--disk-from needs --disk"),
        ("an engine that is no search", [f"--disk={top}", "--engine=cover"], "--engine=cover cannot use --disk")]:
    rc, out, err = run(asked(model, *argv))
    check(f"{what}: refused", rc == 2 and not out and reason in err, f"{rc}\n{err}")
done()
