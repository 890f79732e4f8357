/*
 * The exhaustive search against a walk over all schedules: as many traces, each
 * once, the same final states, no blocked runs; random programs with every
 * primitive, and the benchmarks with published counts.
 */
#include "check.h"
#include "sched_brute.h"
#include "sched_gen.h"
#include "soak.h"

static void *memory;
static const char *only; /* the first argument: run that campaign alone */
static const size_t MEMORY = (size_t)192 << 20;

static struct sched *session(enum sched_strategy g, uint32_t steps, const struct sched_options *more)
{
	struct sched_options o = more ? *more : (struct sched_options){ .max_preemptions = -1 };
	o.strategy = g;
	o.max_steps = steps;
	o.max_threads = 32;
	struct sched *s = sched_begin(memory, MEMORY, false, &o);
	if (!s)
		abort();
	return s;
}

struct counted {
	uint64_t traces, twice, unknown, blocked, cut;
	struct hset seen, states, hashes;
	enum sched_verdict verdict;
};

/* Everything under DPOR; with the brute force at hand, against it. */
static void explore(struct counted *c, const struct twin_program *p, const struct brute *b,
                    const struct sched_options *more)
{
	struct driver d = { .p = p, .s = session(SCHED_DPOR, EV_MAX, more) };
	memset(c, 0, sizeof *c);
	do {
		enum sched_outcome out;
		c->verdict = drive(&d, &out);
		if (c->verdict == SCHED_NONDETERMINISTIC)
			break;
		if (out == SCHED_CUT)
			continue;
		c->traces++;
		if (!b)
			continue;
		struct digest x = driven_digest(&d), y = state_digest(p, &d.m);
		uint64_t h[2] = { sched_trace_hash(d.s), 1 };
		c->twice += !hset_add(&c->seen, x.h);
		c->unknown += !hset_has(&b->traces, x.h);
		hset_add(&c->states, y.h);
		hset_add(&c->hashes, h);
	} while (c->verdict == SCHED_GO_ON && (!b || c->traces <= b->traces.n * 2 + 1000));
	struct sched_stats st;
	sched_stats(d.s, &st);
	c->blocked = st.blocked;
	c->cut = st.cut;
}

static void counted_free(struct counted *c)
{
	hset_free(&c->seen);
	hset_free(&c->states);
	hset_free(&c->hashes);
}

static bool agrees(const struct twin_program *p, const struct brute *b, const char *what)
{
	struct counted c;
	explore(&c, p, b, NULL);
	bool ok = c.verdict == SCHED_EXHAUSTED && c.traces == b->traces.n && !c.twice && !c.unknown && !c.blocked &&
	          !c.cut && c.states.n == b->states.n && c.hashes.n == c.traces;
	if (!ok) {
		printf("# %s seed %llu: verdict %d, %llu traces of %zu (%llu twice, %llu unknown), %llu blocked, %llu cut, "
		       "%zu states of %zu, %zu hashes\n",
		       what, (unsigned long long)p->seed, c.verdict, (unsigned long long)c.traces, b->traces.n,
		       (unsigned long long)c.twice, (unsigned long long)c.unknown, (unsigned long long)c.blocked,
		       (unsigned long long)c.cut, c.states.n, b->states.n, c.hashes.n);
	}
	counted_free(&c);
	return ok;
}

/* --- random programs --------------------------------------------------------- */

static void campaign_of(const char *what, uint32_t mask, uint32_t sample, uint32_t whole)
{
	if (only && strcmp(only, what))
		return;
	uint32_t rounds = soak_rounds(sample, whole), bad = 0, judged = 0;
	uint64_t seed = soak_seed(soak_from(1)), traces = 0, schedules = 0, commuted = 0;
	for (uint32_t i = 0; i < rounds && bad < 5; i++) {
		struct twin_program p;
		struct brute b;
		gen_program(&p, seed + i, mask);
		/* in a long campaign some with up to a million schedules */
		brute_force(&b, &p, rounds > 1000 && i % 200 == 0 ? 1000000 : 20000, true);
		if (!b.over) {
			judged++;
			traces += b.traces.n;
			schedules += b.schedules;
			commuted += b.commuted;
			CHECK_EQ(b.invalid, 0);
			if (!agrees(&p, &b, what)) {
				bad++;
				print_program(&p);
			}
		}
		brute_free(&b);
	}
	CHECK_EQ(bad, 0);
	CHECK(judged > rounds / 3);
	printf("# %s: %u programs from seed %llu, %llu schedules, %llu traces, %llu independent pairs swapped\n", what,
	       judged, (unsigned long long)seed, (unsigned long long)schedules, (unsigned long long)traces,
	       (unsigned long long)commuted);
}

#define CAMPAIGN(name, mask, sample)                                           \
	static void test_random_##name(void) { campaign_of(#name, mask, sample, 20000); }
CAMPAIGN(memory, GEN_MEMORY, 150)
CAMPAIGN(mutex, GEN_MUTEX | GEN_MEMORY, 150)
CAMPAIGN(rwlock, GEN_RWLOCK | GEN_MEMORY, 150)
CAMPAIGN(semaphore, GEN_SEM | GEN_MEMORY, 150)
CAMPAIGN(condition, GEN_COND | GEN_MUTEX | GEN_MEMORY, 150)
CAMPAIGN(barrier, GEN_BARRIER | GEN_MEMORY, 150)
CAMPAIGN(threads, GEN_THREADS | GEN_MEMORY, 150)
CAMPAIGN(once, GEN_ONCE | GEN_MEMORY, 150)
CAMPAIGN(futex, GEN_FUTEX | GEN_MEMORY, 150)
CAMPAIGN(choice, GEN_CHOICE | GEN_MEMORY, 150)
CAMPAIGN(spin, GEN_SPIN | GEN_MEMORY, 150)
CAMPAIGN(exit, GEN_EXIT | GEN_MEMORY, 150)
CAMPAIGN(all, GEN_ALL, 1000)

/* --- benchmarks with published counts (JACM 2017, table 1; Nidhugg) ------------ */

static void put(struct twin_program *p, int t, struct twin_ins x)
{
	int n = 0;
	while (p->code[t][n].code != I_END)
		n++;
	p->code[t][n] = x;
}
#define PUT(t, c, ...) put(&p, t, (struct twin_ins){ .code = c, __VA_ARGS__ })

static struct twin_program with_threads(int n)
{
	struct twin_program p = { .threads = n + 1 };
	for (int t = 1; t <= n; t++)
		PUT(0, I_CREATE, .b = (uint8_t)t);
	return p;
}

static uint64_t traces_of(const struct twin_program *p)
{
	struct counted c;
	explore(&c, p, NULL, NULL);
	CHECK_EQ(c.verdict, SCHED_EXHAUSTED);
	CHECK_EQ(c.cut, 0);
	CHECK_EQ(c.blocked, 0);
	counted_free(&c);
	return c.traces;
}

/* Reader: the last zero of array[0..n]; writers: array[j] = array[j - 1] + 1. */
static struct twin_program lastzero(int n)
{
	struct twin_program p = with_threads(n + 1);
	for (int i = n; i > 0; i--) {
		PUT(1, I_READ, .a = (uint8_t)i);
		PUT(1, I_SKIPIF0, .b = (uint8_t)(2 * i - 1));
	}
	PUT(1, I_READ, .a = 0);
	for (int j = 1; j <= n; j++) {
		PUT(j + 1, I_READ, .a = (uint8_t)(j - 1));
		PUT(j + 1, I_WRITER, .a = (uint8_t)j, .v = 1);
	}
	return p;
}

static struct twin_program readers(int n)
{
	struct twin_program p = with_threads(n + 1);
	PUT(1, I_WRITE, .v = 1);
	for (int t = 2; t <= n + 1; t++)
		PUT(t, I_READ, .a = 0);
	return p;
}

static struct twin_program writers(int n)
{
	struct twin_program p = with_threads(n);
	for (int t = 1; t <= n; t++)
		PUT(t, I_WRITE, .v = (int8_t)t);
	return p;
}

/* i += j against j += i, n times; main looks at both meanwhile. */
static struct twin_program fib_bench(int n)
{
	struct twin_program p = with_threads(2);
	for (int k = 0; k < n; k++)
		for (int t = 0; t < 2; t++) {
			PUT(t + 1, I_READ, .a = (uint8_t)t);
			PUT(t + 1, I_READ, .a = (uint8_t)(1 - t));
			PUT(t + 1, I_WRITER, .a = (uint8_t)t, .v = 1);
		}
	PUT(0, I_READ, .a = 0);
	PUT(0, I_READ, .a = 1);
	return p;
}

/* Each thread puts four messages into a hash table of 128 cells, by CAS. */
static struct twin_program indexer(int n)
{
	struct twin_program p = with_threads(n);
	int cell[128], cells = 0;
	memset(cell, -1, sizeof cell);
	for (int t = 0; t < n; t++)
		for (int m = 1; m <= 4; m++) {
			int h = (m * 11 + t) * 7 % 128;
			for (int k = 0; k < 2; k++) {
				int x = (h + k) % 128;
				if (cell[x] < 0)
					cell[x] = cells++ % WORDS;
				PUT(t + 1, I_CAS, .a = (uint8_t)cell[x], .b = 0, .v = 1);
				if (k == 0)
					PUT(t + 1, I_SKIP, .v = 1, .b = 1);
			}
		}
	return p;
}

static struct twin_program filesystem(int n)
{
	struct twin_program p = with_threads(n);
	for (int i = 0; i < n; i++) {
		uint8_t t = (uint8_t)(i + 1), b = (uint8_t)(i * 2 % 26), c = (uint8_t)(b + 1), in = (uint8_t)(26 + i),
		        li = (uint8_t)i;
		PUT(t, I_LOCK, .a = li);
		PUT(t, I_READ, .a = in);
		PUT(t, I_LOCK, .a = (uint8_t)(20 + b));
		PUT(t, I_READ, .a = b);
		PUT(t, I_SKIPIF0, .b = 6);
		PUT(t, I_UNLOCK, .a = (uint8_t)(20 + b));
		PUT(t, I_LOCK, .a = (uint8_t)(20 + c));
		PUT(t, I_WRITE, .a = c, .v = 1);
		PUT(t, I_WRITE, .a = in, .v = 1);
		PUT(t, I_UNLOCK, .a = (uint8_t)(20 + c));
		PUT(t, I_SKIP, .v = 1, .b = 3);
		PUT(t, I_WRITE, .a = b, .v = 1);
		PUT(t, I_WRITE, .a = in, .v = 1);
		PUT(t, I_UNLOCK, .a = (uint8_t)(20 + b));
		PUT(t, I_UNLOCK, .a = li);
	}
	return p;
}

/* Threads that only meet at a barrier, then write: n! traces, not n! squared. */
static void test_barrier_commutes(void)
{
	for (int commutes = 0; commutes < 2; commutes++) {
		struct twin_program p = with_threads(3);
		p.commutes = commutes;
		p.barrier[0] = 3;
		for (int t = 1; t <= 3; t++) {
			PUT(t, I_BARRIER, .a = 0);
			PUT(t, I_WRITE, .a = 0, .v = (int8_t)t);
		}
		struct brute b;
		p.seed = 1;
		brute_force(&b, &p, 100000, true);
		CHECK_EQ(b.over, 0);
		CHECK_EQ(b.invalid, 0);
		CHECK_EQ(b.traces.n, commutes ? 6 : 36);
		CHECK(agrees(&p, &b, "barrier"));
		brute_free(&b);
	}
}

/* Runs that are lost in the middle are done again: nothing is missed. */
static void test_lost_runs(void)
{
	struct rng r;
	rng_seed(&r, 3);
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct twin_program p;
		struct brute b;
		gen_program(&p, seed, GEN_ALL);
		brute_force(&b, &p, 5000, false);
		struct driver d = { .p = &p, .s = session(SCHED_DPOR, EV_MAX, NULL) };
		uint64_t traces = 0;
		enum sched_verdict v = SCHED_GO_ON;
		while (!b.over && v == SCHED_GO_ON && traces <= b.traces.n) {
			d.lose_after = rng_below(&r, 2) ? rng_below(&r, 20) + 1 : 0;
			enum sched_outcome out;
			v = drive(&d, &out);
			traces += out != SCHED_LOST && out != SCHED_CUT;
		}
		if (!b.over) {
			CHECK_EQ(v, SCHED_EXHAUSTED);
			CHECK_EQ(traces, b.traces.n);
			struct sched_stats st;
			sched_stats(d.s, &st);
			CHECK_EQ(st.blocked, 0);
		}
		brute_free(&b);
	}
}

static void published(const char *what, int n, struct twin_program (*make)(int), uint64_t expected)
{
	struct twin_program p = make(n);
	uint64_t found = traces_of(&p);
	printf("# %s %d: %llu traces\n", what, n, (unsigned long long)found);
	fflush(stdout);
	CHECK_EQ(found, expected);
}

static void test_published(void)
{
	if (only && strcmp(only, "published"))
		return;
	published("lastzero", 11, lastzero, 7168);
	published("readers", 13, readers, 8192);
	published("writers", 8, writers, 40320);
	published("fib_bench", 2, fib_bench, 140);
	published("fib_bench", 5, fib_bench, 218243);
	published("indexer", 15, indexer, 4096);
	published("filesystem", 20, filesystem, 128);
}

int main(int argc, char **argv)
{
	only = argc > 1 ? argv[1] : NULL;
	memory = malloc(MEMORY);
	RUN(test_published);
	RUN(test_barrier_commutes);
	RUN(test_lost_runs);
	RUN(test_random_memory);
	RUN(test_random_mutex);
	RUN(test_random_rwlock);
	RUN(test_random_semaphore);
	RUN(test_random_condition);
	RUN(test_random_barrier);
	RUN(test_random_threads);
	RUN(test_random_once);
	RUN(test_random_futex);
	RUN(test_random_choice);
	RUN(test_random_spin);
	RUN(test_random_exit);
	RUN(test_random_all);
	free(memory);
	return check_done();
}
