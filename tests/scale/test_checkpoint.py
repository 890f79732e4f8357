#!/usr/bin/env python3
"""Checks that are stopped and resumed: the same JSON as one that was never stopped, or a refusal with a reason.

    test_checkpoint.py PATH-OF-INTACT EXAMPLES [COUNT [SEED]]

COUNT is the number of random breaks (20). TAP on stdout; a failure prints the seed."""
import json
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

intact, examples = sys.argv[1], Path(sys.argv[2])
count = int(sys.argv[3]) if len(sys.argv) > 3 else 20
seed = int(sys.argv[4]) if len(sys.argv) > 4 else 1
rnd = random.Random(seed)
# every checkpoint is synced: a file system in memory makes that quick
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
    return [intact, "check", "-q", "--json=-", *options, str(model)]


def fresh(name):
    d = top / name
    shutil.rmtree(d, ignore_errors=True)
    return d


def text(name, lines):
    p = top / name
    p.write_text(lines)
    return p


# ---- models: one word, two, a tree; a proof, a counterexample, questions one after the other ----------------------------
acquire = ([examples / "acquire1.atm"], ["--threads=worker=6", "--engine=commit", "--no-reduce=all"])
wide = ([examples / "acquire1.atm"], ["--threads=worker=20", "--engine=commit", "--no-reduce=transactions", "--no-reduce=local"])
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
cases = [("acquire1, 6 threads", acquire[0][0], acquire[1]), ("acquire1, 20 threads", wide[0][0], wide[1]),
         ("a lost update", lost, ["--no-reduce=all"]), ("a deadlock", deadlock, ["--deadlock", "--no-reduce=all"]),
         ("tromp, every engine", examples / "tromp.atm", ["--engine=all"]),
         ("stringbuffer", examples / "stringbuffer.atm", []),
         ("bluetooth, the ladder", examples / "bluetooth-bug.atm", ["--no-reduce=symmetry"]),
         ("transaction, each block", examples / "transaction.atm", ["--stats", "--no-reduce=all"])]

whole, moments = {}, {}
for name, model, options in cases:
    whole[name] = run(asked(model, *options))[:2]
    d, counted = fresh("d"), top / "count"
    rc, out, err = run(asked(model, *options, f"--checkpoint={d}", "--every=0"), env=broken(counted=counted))
    moments[name] = int(counted.read_text())
    check(f"{name}: with checkpoints at every level, the same JSON", (rc, out) == whole[name] and not err, f"{rc} {whole[name][0]}\n{err}")
    rc, out, err = run(asked(model, *options, f"--resume={d}"))
    check(f"{name}: resumed when it had ended, the same JSON", (rc, out) == whole[name], f"{rc}\n{err}")
verdicts = {json.loads(w[1])["verdict"] for w in whole.values()}
check("among them are proofs and counterexamples, and searches long enough to break", verdicts >= {"holds", "violated"} and sum(m > 50 for m in moments.values()) >= 4, str(moments))

# ---- broken at random moments ------------------------------------------------------------------------------------------
def resumed(name, model, options, d, what, jobs):
    """Goes on from d until it ends; True when the answer is that of the whole check."""
    rc, out, err = run(asked(model, *options, f"--resume={d}", "--every=0", *jobs))
    if (rc, out) == whole[name]:
        return True
    if rc == 2 and "holds no checkpoint" in err and not (d / "checkpoint").exists():
        return (lambda r: r[:2] == whole[name])(run(asked(model, *options, f"--checkpoint={d}", "--every=0", *jobs)))
    check(f"{name}: {what} (seed {seed})", False, f"exit {rc}, {whole[name][0]} expected\n{err}")
    return False


good, ways = 0, ["kill", "torn", "kill", "torn", "term", "int", "full"]
for i in range(count):
    name, model, options = cases[i % len(cases)]
    how, at, d = ways[i % len(ways)], rnd.randint(1, moments[name]), fresh("d")
    jobs = [f"-j{rnd.randint(1, 2)}"]
    what = f"{how} at moment {at} of {moments[name]}"
    span = rnd.choice([0, 1, 3])
    rc, out, err = run(asked(model, *options, f"--checkpoint={d}", "--every=0", *jobs), env=broken(at, how, span))
    if how in ("kill", "torn"):
        ok = rc in (-signal.SIGKILL, whole[name][0])
        again = rnd.randint(1, moments[name])
        if ok and (d / "checkpoint").exists():  # once more, while it is resumed
            run(asked(model, *options, f"--resume={d}", "--every=0", *jobs), env=broken(again, how))
            what += f", then {again}"
    elif how == "full":
        ok = (rc, out) == whole[name]  # what cannot be written does not change the answer
    else:
        ok = rc == whole[name][0] or (rc == 3 and re.search(r"^resume: intact check --resume ", err, re.M) and not out)
    if not ok:
        check(f"{name}: {what} (seed {seed})", False, f"exit {rc}\n{err}")
    elif how == "full" and not (d / "checkpoint").exists():
        good += 1
    else:
        good += resumed(name, model, options, d, what, jobs)
check(f"{count} breaks: killed, torn writes, signals, full disks, one thread or two: each continues to the same JSON", good == count, f"{good} of {count}, seed {seed}")

# ---- signals ------------------------------------------------------------------------------------------------------------
name, model, options = cases[0]
for how in ("term", "int"):
    d = fresh("d with 'quotes'")
    rc, out, err = run([*asked(model, *options), "--checkpoint", d, "--every=0"], env=broken(moments[name] // 2, how))
    line = re.search(r"^resume: (intact check --resume .*)$", err, re.M)
    check(f"SIG{how.upper()}: a checkpoint, exit 3, no report, and the command that resumes", rc == 3 and not out and line and "interrupted" in err, f"{rc}\n{out}{err}")
    if line:
        words = shlex.split(line.group(1))
        rc, out, err = run([intact, *words[1:]])
        check("... which gives the same JSON", (rc, out) == whole[name], f"{rc}\n{err}")

# ---- limits: what was reached is not lost ---------------------------------------------------------------------------------
d = fresh("d")
more = ["--threads=worker=8", *options[1:]]
rc, out, err = run(asked(model, *more, f"--checkpoint={d}", "--max-memory=2M", "--every=1h"))
check("memory ends: unknown, and the checkpoint is where the search was", rc == 3 and "--max-memory" in err and (d / "checkpoint").exists(), f"{rc}\n{out}{err}")
rc, out, err = run(asked(model, *more, f"--resume={d}"))
check("... and with more memory it continues to the answer", (rc, out) == run(asked(model, *more))[:2] and rc == 0, f"{rc}\n{err}")

# ---- damaged, truncated, foreign ------------------------------------------------------------------------------------------
d, bad = fresh("d"), fresh("bad")
run(asked(model, *options, f"--checkpoint={d}", "--every=0"), env=broken(moments[name] // 2, "kill"))
files = sorted(p.name for p in d.iterdir() if re.match(r"(levels|state|checkpoint)", p.name) and p.name != "checkpoint.new")
refused = same = 0
wrong = []
for i in range(max(count, 30)):
    shutil.rmtree(bad, ignore_errors=True)
    shutil.copytree(d, bad)
    victim = bad / files[i % len(files)]
    data = bytearray(victim.read_bytes())
    if i % 5 == 4:
        victim.unlink()
        what = f"{victim.name} removed"
    elif i % 2:
        at = rnd.randrange(len(data)) if data else 0
        victim.write_bytes(data[:at])
        what = f"{victim.name} cut at {at} of {len(data)}"
    else:
        at = rnd.randrange(len(data))
        data[at] ^= 1 << rnd.randrange(8)
        victim.write_bytes(data)
        what = f"{victim.name}: a bit of byte {at} of {len(data)}"
    rc, out, err = run(asked(model, *options, f"--resume={bad}"))
    refused += rc == 2 and err.startswith("intact check: --resume: directory '") and not out
    same += (rc, out) == whole[name]
    if not ((rc == 2 and err.startswith("intact check: --resume: directory '") and not out) or (rc, out) == whole[name]):
        wrong.append(f"{what}: exit {rc}: {err}")
check(f"damaged files: refused with a reason ({refused}) or the same JSON ({same})", not wrong and refused > 20, "\n".join(wrong + [f"seed {seed}"]))

for what, argv, reason in [
        ("another model", asked(examples / "tromp.atm", f"--resume={d}"), "is of another check: model:"),
        ("other options", asked(model, "--threads=worker=6", "--engine=exact", "--no-reduce=all", f"--resume={d}"), "engine: commit there, engine: exact here"),
        ("another number of threads", asked(model, "--threads=worker=5", *options[1:], f"--resume={d}"), "threads: worker=6 there, threads: worker=5 here"),
        ("no directory", asked(model, f"--resume={top}/none"), "cannot be opened: No such file"),
        ("an empty directory", asked(model, f"--resume={examples}"), "holds no checkpoint"),
        ("a directory that holds one", asked(model, *options, f"--checkpoint={d}"), "holds a checkpoint already"),
        ("a file", asked(model, f"--checkpoint={model}"), "cannot be opened: Not a directory")]:
    rc, out, err = run(argv)
    check(f"{what}: refused", rc == 2 and not out and reason in err, f"{rc}\n{err}")
for what, argv, reason in [
        ("--every alone", ["--every=1m"], "--every needs --checkpoint"),
        ("an interval that is none", [f"--checkpoint={top}/x", "--every=soon"], "expected a time such as"),
        ("an engine that is no search", [f"--checkpoint={top}/x", "--engine=unfold"], "--engine=unfold cannot be checkpointed")]:
    rc, out, err = run(asked(model, *argv))
    check(f"{what}: refused", rc == 2 and reason in err and not (top / "x").exists(), f"{rc}\n{err}")
p = subprocess.Popen(["flock", str(d), "sh", "-c", "echo held; cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
p.stdout.readline()
rc, out, err = run(asked(model, *options, f"--resume={d}"))
check("in use by another process: refused", rc == 2 and "in use by another process" in err, f"{rc}\n{err}")
p.communicate()


# ---- random models ---------------------------------------------------------------------------------------------------------
bad = []
for i in range(max(count // 2, 8)):
    s = rnd.randrange(1 << 30)
    m = text("random.atm", random_model(random.Random(s)))
    options = rnd.choice([[], ["--no-reduce=all"], ["--engine=commit", "--no-reduce=symmetry"], ["--engine=all"], ["--deadlock"]])
    options = [*options, "--max-states=3000"]
    rc, out, err = run(asked(m, *options))
    d, counted = fresh("d"), top / "count"
    jobs = f"-j{1 + i % 2}"
    first = run(asked(m, *options, jobs, f"--checkpoint={d}", "--every=0"), env=broken(counted=counted))
    d = fresh("d")
    at = rnd.randint(1, max(1, int(counted.read_text())))
    run(asked(m, *options, jobs, f"--checkpoint={d}", "--every=0"), env=broken(at, rnd.choice(["kill", "torn", "term"])))
    last = run(asked(m, *options, jobs, f"--resume={d}")) if (d / "checkpoint").exists() else (rc, out, "")
    if rc not in (0, 1, 3) or first[:2] != (rc, out) or last[:2] != (rc, out):
        bad.append(f"model seed {s}, {options}, {jobs}, broken at {at}: {rc}, {first[0]}, {last[0]}\n{err}{first[2]}{last[2]}{m.read_text()}")
check("random models: the same JSON with checkpoints, and broken and resumed", not bad, "\n".join(bad))
done()
