#!/usr/bin/env python3
"""`intact history --shard K/N` and `intact merge`: the parts together are the whole, byte by byte, and nothing is held to be checked
that was not.

    test_merge.py PATH-OF-INTACT SOURCE-ROOT [SEED [HISTORIES]]

TAP on stdout."""
import json
import os
import random
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cli"))
from schema import sarif_complaints, validate  # noqa: E402
from tap import check, done, run  # noqa: E402

intact, root = str(Path(sys.argv[1]).resolve()), Path(sys.argv[2]).resolve()
seed = int(sys.argv[3]) if len(sys.argv) > 3 else 20261117
histories = int(sys.argv[4]) if len(sys.argv) > 4 else 60
schema = json.loads((root / "share/report.schema.json").read_text())
tmp = tempfile.TemporaryDirectory(prefix="intact-merge-")
os.chdir(tmp.name)


def shards(n, *args, command="history"):
    """The documents of all parts: (exit codes, names)."""
    codes, names = [], []
    if command == "history" and "--pairs=yes" not in args:
        args = ("--pairs=yes", *args)
    for k in range(1, n + 1):
        rc, out, err = run([intact, command, f"--shard={k}/{n}", "--json", f"part{k}.json", *args])
        codes.append(rc)
        names.append(f"part{k}.json")
        if not Path(names[-1]).exists():
            raise SystemExit(f"no document of part {k}/{n}: {rc} {err}")
    return codes, names


def merge(names, *options):
    return run([intact, "merge", *options, *names])


# ---- random histories: registers, sets and queues with keys ------------------------------------------------------------------


def history(rng, keys, ops, kind):
    """Operations of three processes on several keys; some answers are wrong, some never come."""
    lines, state, busy, t = [], {}, {}, 0
    for _ in range(ops):
        p = rng.randrange(3)
        if p in busy:
            key, f, value, answer = busy.pop(p)
            if rng.random() < 0.05:
                lines.append({"process": p, "type": "info", "f": f, "value": [key, value]})
                continue
            lines.append({"process": p, "type": "ok", "f": f, "value": [key, answer]})
            continue
        key = rng.choice(keys)
        if kind == "register":
            f = rng.choice(["read", "write", "write"] if rng.random() < 0.3 else ["read", "write"])
            value = rng.randrange(4) if f == "write" else None
            now = state.get(key)
            answer = value if f == "write" else now if rng.random() > 0.04 else rng.randrange(4)
            if f == "write":
                state[key] = value
        else:
            f = rng.choice(["enqueue", "dequeue"])
            queue = state.setdefault(key, [])
            t += 1
            if f == "dequeue" and not queue:
                f = "enqueue"
            value = t if f == "enqueue" else None
            answer = value
            if f == "enqueue":
                queue.append(t)
            else:
                answer = queue.pop(0 if rng.random() > 0.05 else -1)
        busy[p] = (key, f, value, answer)
        lines.append({"process": p, "type": "invoke", "f": f, "value": [key, value]})
    return "".join(json.dumps(e) + "\n" for e in lines)


def compare(name, args, n, file):
    rc, out, err = run([intact, "history", "--json", "whole.json", *args, file])
    codes, names = shards(n, *args, file)
    want = rc
    rng.shuffle(names)
    mrc, text, merr = merge(names, "--json", "merged.json")
    whole, merged = Path("whole.json").read_bytes(), Path("merged.json").read_bytes()
    worst = 1 if 1 in codes else 3 if 3 in codes else 0
    same = whole == merged and mrc == want == worst and (text == out or "-w" in args) and not merr
    return same, f"{name}: exit {want}, parts {codes}, merged {mrc}\n{err}{merr}{text}"


print(f"# seed {seed}, {histories} histories")
rng = random.Random(seed)
bad, verdicts, questions = [], set(), 0
for i in range(histories):
    kind = rng.choice(["register", "register", "queue"])
    keys = [rng.choice([k, f"k{k}", f"ключ {k}"]) for k in range(rng.randrange(1, 9))]
    file = f"h{i % 4}.json"
    Path(file).write_text(history(rng, keys, rng.randrange(4, 120), kind))
    args = ["--object=queue" if kind == "queue" else "--object=register", "--pairs=yes", *rng.choice(
        [[], ["-w"], ["-j2"], ["--condition=regular"], ["--k=2"], ["--k=min"], ["--delta"], ["--init=0"]] if kind == "register" else [[], ["-w"], ["-j2"]])]
    rc, out, err = run([intact, "history", *args, file])
    if rc == 2:
        continue
    questions += 1
    verdicts.add(rc)
    n = rng.choice([1, 2, 3, 5, 8])
    ok, why = compare(f"history {i}, {' '.join(args)}, {n} shards", args, n, file)
    if not ok:
        bad.append(why)
check(f"{questions} random histories: the merged result has the bytes of the whole, its text and its exit code", not bad and questions > histories // 2, "\n".join(bad[:3]))
check("... of which some hold and some do not", verdicts >= {0, 1}, verdicts)

# ---- what is missing, doubled or foreign ---------------------------------------------------------------------------------------
good = "".join(json.dumps({"process": p, "type": t, "f": "write", "value": [k, 1]}) + "\n" for k in range(6) for p in (k % 2,) for t in ("invoke", "ok"))
bad = good + "".join(json.dumps({"process": 0, "type": t, "f": "read", "value": [3, None if t == "invoke" else 7]}) + "\n" for t in ("invoke", "ok"))
Path("good.json").write_text(good)
Path("bad.json").write_text(bad)
codes, names = shards(4, "-w", "good.json")
check("a history that holds: every shard does", codes == [0] * 4, codes)
docs = [json.loads(Path(n).read_text()) for n in names]
check("a shard is a valid document, and says which it is", not any(validate(schema, d) for d in docs) and [(d["results"][0]["shard"], d["results"][0]["shards"], len(
    d["results"][0]["parts"])) for d in docs] == [(1, 4, 2), (2, 4, 2), (3, 4, 1), (4, 4, 1)], [validate(schema, d) for d in docs])
rc, out, err = run([intact, "history", "--shard=3/4", "--pairs=yes", "good.json"])
check("... its text, too", rc == 0 and "\nshard 3 of 4: 1 of 6 parts\n" in out and out == run([intact, "report", "part3.json"])[1], out)
rc, out, err = run([intact, "history", "--shard=8/9", "--pairs=yes", "good.json"])
check("a shard without parts says so", rc == 0 and "HOLDS: atomic, as no part of the history is in this shard" in out, out)
rc, out, err = merge([names[0], names[2]], "--json", "some.json")
some = json.loads(Path("some.json").read_text())
check("missing shards: unknown, and they are named", rc == 3 and "intact merge: shards 2 and 4 of 4 are missing: " in err and "UNKNOWN: atomic? shards are missing" in out
      and "merged without these of its shards: 2, 4 (of 4)" in out, out + err)
check("... in the document", some["verdict"] == "unknown" and some["results"][0]["missing"] == [2, 4] and len(some["results"][0]["parts"]) == 3 and not validate(schema, some), some)
check("... which verify does not accept", run([intact, "verify", "some.json"])[0] == 3)
check("nor a single shard", run([intact, "verify", names[0]])[0] == 3 and "part of the history only" in run([intact, "verify", names[0]])[1])
merge(names, "--json", "all.json")
check("the merged result is accepted by verify", run([intact, "verify", "all.json"])[:2] == (0, "accepted: good.json: holds (atomic)\n"), run([intact, "verify", "all.json"]))
rc, out, err = merge([*names, names[1]])
check("a shard twice: refused", rc == 2 and "part2.json: error: part 2 of 4 is also in part2.json" in err and not out, err)
rc, out, err = merge([names[0], "all.json"])
check("a whole among parts: refused", rc == 2 and "all.json: error: this is the result of a whole check" in err, err)
for name in names:
    os.rename(name, "good-" + name)
names = ["good-" + n for n in names]
shards(4, "bad.json")
rc, out, err = merge([*names[:3], "part4.json"])
check("a shard of another history: refused", rc == 2 and "part4.json: error: '" in err and "these are not parts of one whole" in err and "hint: " in err, err)
shards(4, "good.json")
rc, out, err = merge([*names[:3], "part4.json"])
check("a shard with other options: refused", rc == 2 and "part4.json: error: 'asked' is not what it is in" in err, err)
shards(5, "-w", "good.json")
rc, out, err = merge([*names[:3], "part4.json"])
check("a shard of another division: refused", rc == 2 and "part4.json: error: a part of 5, but good-part1.json is a part of 4" in err, err)
codes, parts = shards(4, "-w", "bad.json")
check("a violated key: one shard is", sorted(codes) == [0, 0, 0, 1], codes)
rc, out, err = merge(parts[:3] + parts[3:])
check("... and so is the whole", rc == 1 and "VIOLATED: not atomic (1 of 6 parts)" in out, out + err)
rc, out, err = merge([p for k, p in enumerate(parts) if codes[k] == 1])
check("... also when others are missing", rc == 1 and "shards 1, 2 and 3 of 4 are missing" in err, out + err)

# ---- damaged documents ---------------------------------------------------------------------------------------------------------
doc = json.loads(Path(names[0]).read_text())


def damaged(change):
    d = json.loads(Path(names[0]).read_text())
    change(d["results"][0])
    Path("damaged.json").write_text(json.dumps(d))
    return merge(["damaged.json", *names[1:]])


for name, change in (("a part left out", lambda r: r["parts"].pop()), ("another number of parts", lambda r: r.update(all_parts=4000000000)),
                     ("an order cut short", lambda r: r["log"].update(order=r["log"]["order"][:2])), ("no order", lambda r: r["log"].pop("order")),
                     ("no base64", lambda r: r["log"].update(order="!!!!")), ("lengths that do not fit", lambda r: r["log"].update(order_lengths=[1 << 40, 2])),
                     ("a negative length", lambda r: r["log"].update(order_lengths=[-1, 2])), ("shard 0", lambda r: r.update(shard=0)),
                     ("shard 9 of 4", lambda r: r.update(shard=9)), ("no log", lambda r: r.pop("log")), ("another hash", lambda r: r.update(hash="0"))):
    rc, out, err = damaged(change)
    check(f"{name}: refused", rc == 2 and "error: " in err and not out, f"{rc} {out} {err}")
rc, out, err = damaged(lambda r: r["parts"][0].update(verdict="violated"))
check("a shard that calls itself better than its parts does not make the whole hold", rc == 1, f"{rc} {out} {err}")
rc, out, err = damaged(lambda r: r.update(verdict="unknown", limit="time"))
check("an unknown shard: unknown, with its limit", rc == 3 and "the limit on time was reached" in out, f"{rc} {out} {err}")
again = json.loads(Path(names[0]).read_text())
Path("pretty.json").write_text(json.dumps(again, indent=3, ensure_ascii=True))
rc, out, err = merge(["pretty.json", *names[1:]], "--json", "pretty-merged.json")
check("a document that was laid out anew: the same result", rc == 0 and json.loads(Path("pretty-merged.json").read_text()) == json.loads(Path("all.json").read_text()), err)
codes, parts = shards(2, "good.json", "bad.json")
run([intact, "history", "--json", "whole.json", "--pairs=yes", "good.json", "bad.json"])
rc, out, err = merge(parts, "--json", "merged.json")
check("several files in each shard are merged file by file", rc == 1 and Path("merged.json").read_bytes() == Path("whole.json").read_bytes(), err)

# ---- what has no shards --------------------------------------------------------------------------------------------------------
rc, out, err = run([intact, "history", "--shard=1/2", root / "examples/history/write-skew.edn"])
check("transactions do not divide by key", rc == 2 and "transactions are about several keys" in err and not out, err)
for args, words in ((["--shard=3/2", "good.json"], "--shard: expected K/N"), (["--shard=x", "good.json"], "--shard: expected K/N"),
                    (["--shard=1/2", "--follow", "good.json"], "--shard cannot be combined"), (["--shard=1/2", "--condition=sequential", "good.json"], "sequential consistency"),
                    (["--shard=1/2", "--generate=n=3"], "no --shard")):
    rc, out, err = run([intact, "history", *args])
    check(" ".join(args) + ": refused", rc == 2 and words in err and not out, err)
run([intact, "check", "--json", "check.json", root / "examples/lost-update.atm"])
for args, words in (([], "missing RESULT arguments"), (["check.json"], "results of 'intact check' cannot be merged"), ([names[0], "check.json"], "a result of 'intact check', but"),
                    (["none.json"], "cannot read none.json"), (["good.json"], "good.json:")):
    rc, out, err = merge(args)
    check(f"merge {' '.join(args)}: refused", rc == 2 and words in err and not out, err)

# ---- reports of a merged result ------------------------------------------------------------------------------------------------
codes, parts = shards(4, "bad.json")
rc, out, err = merge(parts, "--json", "m.json", "--sarif", "m.sarif", "--junit", "m.xml", "--html", "m.html")
run([intact, "history", "--json", "w.json", "--sarif", "w.sarif", "--junit", "w.xml", "--html", "w.html", "--pairs=yes", "bad.json"])
check("JSON, SARIF, JUnit and the page are those of the whole", rc == 1 and all(Path("m." + x).read_bytes() == Path("w." + x).read_bytes() for x in ("json", "sarif", "xml", "html")))
check("... and `intact report` prints the text", run([intact, "report", "m.json"])[1] == run([intact, "history", "--pairs=yes", "bad.json"])[1])
assert not sarif_complaints(json.loads(Path("m.sarif").read_text())) and ET.parse("m.xml")

# ---- schedules -----------------------------------------------------------------------------------------------------------------
THREE = """#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x;
static void *work(void *a)
{
	for (int i = 0; i < 2; i++) {
		pthread_mutex_lock(&m);
		x++;
		pthread_mutex_unlock(&m);
	}
	return a;
}
int main(void)
{
	pthread_t t[3];
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], 0, work, 0);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], 0);
	return x != 6;
}
"""
LOST = """#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x;
static int get(void) { pthread_mutex_lock(&m); int v = x; pthread_mutex_unlock(&m); return v; }
static void set(int v) { pthread_mutex_lock(&m); x = v; pthread_mutex_unlock(&m); }
static void deposit(void) { set(get() + 1); }
static void *work(void *a) { deposit(); return a; }
int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], 0, work, 0);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], 0);
	return x != 2;
}
"""
for name, text in (("three", THREE), ("lost", LOST)):
    Path(name + ".c").write_text(text)
    rc, out, err = run([intact, "cc", "-g", name + ".c", "-o", name, "-pthread"])
    assert rc == 0, err
#     what the parts of a search repeat, or cannot know of each other (docs/scale.md)
DIFFER = {"schedules", "points", "pairs", "pairs_in_both_orders", "estimated_traces", "estimated_share", "traces_judged", "traces_not_judged"}


def explored(*args):
    rc, out, err = run([intact, "explore", "--json=-", *args])
    return rc, json.loads(out)


rc, whole = explored("--exhaustive", "--functions=no", "./three")
codes, parts = shards(3, "--exhaustive", "--functions=no", "./three", command="explore")
mrc, text, err = merge(parts, "--json", "e.json")
merged = json.loads(Path("e.json").read_text())
strip = lambda d: {k: v for k, v in d.items() if k not in DIFFER}  # noqa: E731
check("explore: the parts of an exhaustive search are the whole, exhaustive", (rc, codes, mrc) == (0, [0] * 3, 0) and merged["exhaustive"] and merged["traces"] == 90
      and strip(merged) == strip(whole) and list(merged) == [k for k in whole if k in merged] and not validate(schema, merged), f"{mrc} {err}\n{strip(whole)}\n{strip(merged)}")
check("... its text", "all 90 traces" in text or "90" in text, text)
rc, out, err = merge(parts[:2], "--json", "e.json")
merged = json.loads(Path("e.json").read_text())
check("... without a part: unknown, not exhaustive", rc == 3 and not merged["exhaustive"] and merged["verdict"] == "unknown" and merged["stopped"] == "part 3 of 3 is missing"
      and "shard 3 of 3 is missing" in err, f"{rc} {out} {err}")
rc, out, err = merge([parts[0], parts[0], parts[1]])
check("... a part twice: refused", rc == 2 and "part 1 of 3 is also in" in err, err)
unknown = json.loads(Path(parts[2]).read_text())
del unknown["searched_to_the_end"]
unknown.update(verdict="unknown", schedules=0)
Path("unknown.json").write_text(json.dumps(unknown))
rc, out, err = merge([*parts[:2], "unknown.json"])
check("... with an unknown part: unknown", rc == 3 and "part 3 of 3 is unknown" in out, f"{rc} {out} {err}")
run([intact, "explore", "--exhaustive", "--functions=no", "--seed=9", "--shard=3/3", "--json", "seed.json", "./three"])
rc, out, err = merge([*parts[:2], "seed.json"])
check("... with another seed: refused", rc == 2 and "seed.json: error: 'seed'" in err, err)
run([intact, "explore", "--exhaustive", "--functions=no", "--shard=3/3", "-j2", "--json", "jobs.json", "./three"])
rc, out, err = merge([*parts[:2], "jobs.json"])
check("... with another -j, which divides otherwise: refused", rc == 2 and "jobs.json: error: 'asked'" in err, err)
Path("three.c").write_text(THREE.replace("x != 6", "x != 7 - 1 + (int)sizeof(char) - 1"))
run([intact, "cc", "-g", "-O1", "three.c", "-o", "three", "-pthread"])
run([intact, "explore", "--exhaustive", "--functions=no", "--shard=3/3", "--json", "other.json", "./three"])
rc, out, err = merge([*parts[:2], "other.json"])
check("... of another build of the program: refused", rc == 2 and "other.json: error: 'build_id'" in err, err)
codes, parts = shards(3, "--exhaustive", "./lost", command="explore")
rc, text, err = merge(parts, "--json", "e.json")
merged = json.loads(Path("e.json").read_text())
first = next(json.loads(Path(p).read_text()) for k, p in enumerate(parts) if codes[k] == 1)
check("explore: what one part finds the search has found", rc == 1 and merged["results"][0] == first["results"][0] and merged["verdict"] == "violated" and not validate(schema, merged)
      and not merged["exhaustive"], f"{rc} {codes} {err}")
codes, parts = shards(4, "-n40", "--strategy=random", "--functions=no", "./lost", command="explore")
rc, text, err = merge(parts, "--json", "e.json")
merged = json.loads(Path("e.json").read_text())
check("explore: sampled schedules add up", rc == (1 if 1 in codes else 0) and merged["schedules"] == sum(json.loads(Path(p).read_text())["schedules"] for p in parts)
      and merged["traces_are_a_lower_bound"], f"{rc} {codes} {err}")

# ---- runs ----------------------------------------------------------------------------------------------------------------------
SCHED = f'#include "{root / "tests/programs/sched.h"}"\n'
RUN = SCHED + LOST.replace("static void *work(void *a) { deposit(); return a; }",
                           "static void *work(void *a) { deposit(); at(1); return a; }\nstatic void *two(void *a) { while (sched_step < 1) sched_yield(); deposit(); return a; }"
                           ).replace("for (int i = 0; i < 2; i++)\n\t\tpthread_create(&t[i], 0, work, 0);", "pthread_create(&t[0], 0, work, 0);\n\tpthread_create(&t[1], 0, two, 0);")
for name, text in (("one", RUN), ("two", RUN.replace("deposit", "withdraw")), ("same", RUN), ("fine", THREE)):
    Path(name + ".c").write_text(text)
    rc, out, err = run([intact, "cc", "-g", name + ".c", "-o", name, "-pthread"])
    assert rc == 0, err
    run([intact, "run", "--json", name + "-run.json", "./" + name])
rc, out, err = merge(["one-run.json", "two-run.json", "same-run.json", "fine-run.json"], "--json", "runs.json")
merged = json.loads(Path("runs.json").read_text())
one = json.loads(Path("one-run.json").read_text())
check("runs: each function once, counts added", rc == 1 and [r["block"] for r in merged["results"]] == ["deposit", "withdraw"] and merged["findings"] == 2 and not validate(schema, merged)
      and merged["results"][0]["count"] == 2 * one["results"][0]["count"] and merged["program"] == "./one, ./two, ./same, ./fine", f"{rc} {validate(schema, merged)} {err}")
check("... the text has both", out.count("WARNING: Intact") == 2 and out.endswith("Intact: 2 warnings (0 confirmed) in 4 runs\n"), out[-300:])
rc, out, err = merge(["fine-run.json", "fine-run.json"])
check("runs without findings: holds", rc == 0, out + err)
run([intact, "run", "--json", "plain-run.json", "true"])
rc, out, err = merge(["fine-run.json", "plain-run.json"])
check("... unless one of them watched nothing", rc == 3 and "plain-run.json: no process of the run was built" in out, f"{rc} {out} {err}")

# ---- the commands of docs/scale.md -----------------------------------------------------------------------------------------------
env = dict(os.environ, PATH=str(Path(intact).parent) + ":" + os.environ["PATH"], NO_COLOR="1")
p = subprocess.run("seq 4 | xargs -P 2 -I{} sh -c 'intact history --quiet --pairs=yes --shard={}/4 --json=h{}-part.json bad.json; [ $? -le 1 ]'\nintact merge --json=all.json h*-part.json", shell=True, env=env,
                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
check("xargs: four shards and one result", p.returncode == 1 and b"VIOLATED" in p.stdout and not p.stderr, p.stdout + p.stderr)
done()
