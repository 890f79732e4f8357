#!/usr/bin/env python3
"""`intact explore --shard K/N`: the parts together are the whole search, each trace in one of them.

    test_shard.py PATH-OF-INTACT

TAP on stdout."""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cli"))
from tap import check, done, run  # noqa: E402

intact = sys.argv[1]
tmp = tempfile.TemporaryDirectory()
top = Path(tmp.name)


def program(name, text):
    (top / f"{name}.c").write_text(text)
    rc, out, err = run([intact, "cc", "-g", top / f"{name}.c", "-o", top / name, "-pthread"])
    assert rc == 0, err
    return top / name


three = """#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x;
static void *work(void *a)
{
	for (int i = 0; i < ROUNDS; i++) {
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
	return x != 3 * ROUNDS;
}
"""
good = program("good", three.replace("ROUNDS", "2"))
lost = program("lost", """#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x;
static int get(void) { pthread_mutex_lock(&m); int v = x; pthread_mutex_unlock(&m); return v; }
static void set(int v) { pthread_mutex_lock(&m); x = v; pthread_mutex_unlock(&m); }
static void *work(void *a) { set(get() + 1); return a; }
int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], 0, work, 0);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], 0);
	return x != 2;
}
""")


def explored(*options):
    rc, out, err = run([intact, "explore", "--json=-", *options])
    return rc, json.loads(out) if out else {}, err


# ---- every trace, in one part each ---------------------------------------------------------------------------------------
rc, whole, err = explored("--exhaustive", "--functions=no", good)
check("the whole search: every trace", rc == 0 and whole["exhaustive"] and whole["traces"] == 90, f"{rc} {whole}\n{err}")
for n in (1, 2, 3, 5):
    parts = [explored("--exhaustive", "--functions=no", f"--shard={k}/{n}", good) for k in range(1, n + 1)]
    check(f"{n} parts: together as many traces, each part searched to its end",
          all(p[0] == 0 and p[1]["searched_to_the_end"] and (p[1]["shard"], p[1]["shards"]) == (k + 1, n) for k, p in enumerate(parts))
          and sum(p[1]["traces"] for p in parts) == whole["traces"], str([(p[0], p[1].get("traces")) for p in parts]))
    check("... and none of them claims to be the whole", not any(p[1]["exhaustive"] for p in parts), str(parts))
rc, out, err = run([intact, "explore", "--exhaustive", "--functions=no", "--shard=2/3", good])
check("the text names the part", rc == 0 and "no violation in part 2 of 3: all " in out and ", part 2 of 3" in out, out + err)
again = [explored("--exhaustive", "--functions=no", "--shard=2/3", good)[1]["traces"] for _ in range(2)]
check("a part is the same each time", again[0] == again[1], str(again))

# ---- a bug is in at least one part ---------------------------------------------------------------------------------------
parts = [explored("--exhaustive", f"--shard={k}/3", lost) for k in (1, 2, 3)]
check("a lost update: some part finds it, the others find nothing", {p[0] for p in parts} <= {0, 1} and any(p[0] == 1 for p in parts),
      str([p[0] for p in parts]))

# ---- sampled schedules -----------------------------------------------------------------------------------------------------
whole = explored("-n60", "--strategy=random", "--functions=no", good)[1]
parts = [explored("-n60", "--strategy=random", "--functions=no", f"--shard={k}/4", good)[1] for k in (1, 2, 3, 4)]
check("60 schedules in 4 parts: 15 each, with the same number of scheduling points in all as the 60 of the whole",
      [p["schedules"] for p in parts] == [15] * 4 and sum(p["points"] for p in parts) == whole["points"],
      str(([p["schedules"] for p in parts], [p["points"] for p in parts], whole["points"])))

# ---- refused ---------------------------------------------------------------------------------------------------------------
for value in ("0/3", "4/3", "1", "1/0", "a/b", "1/3x", "-1/3", "1/999999"):
    rc, out, err = run([intact, "explore", f"--shard={value}", good])
    check(f"--shard={value}: refused", rc == 2 and "--shard: expected K/N" in err, f"{rc} {err}")
rc, out, err = run([intact, "explore", "-n3", "--shard=1/4", good])
check("fewer schedules than parts: refused", rc == 2 and "fewer schedules than parts" in err, f"{rc} {err}")
rc, out, err = run([intact, "explore", "--replay=x", "--shard=1/4", good])
check("with --replay: refused", rc == 2 and "--shard is a part of one search" in err, f"{rc} {err}")
# the commands of docs/scale.md
rc = subprocess.run(f"seq 4 | xargs -P 2 -I{{}} {intact} explore --exhaustive --functions=no --shard={{}}/4 --json={top}/part{{}}.json {good}",
                    shell=True, stdout=subprocess.DEVNULL).returncode
check("xargs: four documents, exit 0", rc == 0 and sum(json.loads((top / f"part{k}.json").read_text())["traces"] for k in range(1, 5)) == 90, str(rc))
rc = subprocess.run(f"seq 3 | xargs -P 2 -I{{}} {intact} explore --exhaustive --shard={{}}/3 {lost}", shell=True, stdout=subprocess.DEVNULL).returncode
check("xargs: not 0 when a part finds something", rc == 123, str(rc))
done()
