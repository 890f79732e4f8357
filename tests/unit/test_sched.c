/*
 * The scheduler's room: sampling finds planted bugs in every seed, replay is
 * exact and names divergence, minimising, bounds, steering, coverage, shards,
 * limits, schedule files. The exhaustive search has test_sched_dpor.c.
 */
#include "check.h"
#include "sched/minimize.h"
#include "sched/schedule.h"
#include "sched_brute.h"
#include "sched_gen.h"
#include "soak.h"

static void *memory, *memory2;
static const size_t MEMORY = (size_t)96 << 20;
enum { SEEDS = 20 };

static struct sched *begin(void *mem, struct sched_options o)
{
	o.max_threads = o.max_threads ? o.max_threads : 64;
	o.max_steps = o.max_steps ? o.max_steps : 2000;
	struct sched *s = sched_begin(mem, MEMORY, false, &o);
	if (!s)
		abort();
	return s;
}

static void put(struct twin_program *p, int t, struct twin_ins x)
{
	int n = 0;
	while (p->code[t][n].code != I_END)
		n++;
	p->code[t][n] = x;
}
#define PUT(t, c, ...) put(p, t, (struct twin_ins){ .code = c, __VA_ARGS__ })

static void threads(struct twin_program *p, int n)
{
	memset(p, 0, sizeof *p);
	p->threads = n + 1;
	for (int t = 1; t <= n; t++)
		PUT(0, I_CREATE, .b = (uint8_t)t);
}
#define BUG(t) PUT(t, I_WRITE, .a = WORDS - 1, .v = 99)

/* --- planted bugs ------------------------------------------------------------ */

/* x++ in two threads without a lock; main looks after both. */
static void lost_update(struct twin_program *p, int n)
{
	threads(p, n);
	for (int t = 1; t <= n; t++) {
		PUT(t, I_READ, .a = 0);
		PUT(t, I_WRITER, .a = 0, .v = 1);
		PUT(0, I_JOIN, .b = (uint8_t)t);
	}
	PUT(0, I_READ, .a = 0);
	PUT(0, I_SKIP, .v = (int8_t)n, .b = 1);
	BUG(0);
}

/* get and set under a lock each: no race, updates lost. */
static void lost_update_locked(struct twin_program *p, int n)
{
	threads(p, n);
	for (int t = 1; t <= n; t++) {
		PUT(t, I_LOCK, .a = 0);
		PUT(t, I_READ, .a = 0);
		PUT(t, I_UNLOCK, .a = 0);
		PUT(t, I_LOCK, .a = 0);
		PUT(t, I_WRITER, .a = 0, .v = 1);
		PUT(t, I_UNLOCK, .a = 0);
		PUT(0, I_JOIN, .b = (uint8_t)t);
	}
	PUT(0, I_READ, .a = 0);
	PUT(0, I_SKIP, .v = (int8_t)n, .b = 1);
	BUG(0);
}

/* n philosophers */
static void lock_order(struct twin_program *p, int n)
{
	threads(p, n);
	for (int t = 1; t <= n; t++) {
		PUT(t, I_LOCK, .a = (uint8_t)(t - 1));
		PUT(t, I_LOCK, .a = (uint8_t)(t % n));
		PUT(t, I_UNLOCK, .a = (uint8_t)(t % n));
		PUT(t, I_UNLOCK, .a = (uint8_t)(t - 1));
	}
}

/* The flag is tested outside the lock: the signal may come before the wait. */
static void lost_wakeup(struct twin_program *p, int n)
{
	(void)n;
	threads(p, 2);
	PUT(1, I_READ, .a = 0);
	PUT(1, I_SKIP, .v = 1, .b = 3);
	PUT(1, I_LOCK, .a = 0);
	PUT(1, I_WAIT, .a = 0, .b = 0);
	PUT(1, I_UNLOCK, .a = 0);
	PUT(2, I_WRITE, .a = 0, .v = 1);
	PUT(2, I_LOCK, .a = 0);
	PUT(2, I_SIGNAL, .a = 0);
	PUT(2, I_UNLOCK, .a = 0);
}

/* depth 4: a thread must see x and y between two writes each of the other */
static void depth_four(struct twin_program *p, int n)
{
	(void)n;
	threads(p, 2);
	PUT(1, I_WRITE, .a = 0, .v = 1);
	PUT(1, I_WRITE, .a = 0, .v = 0);
	PUT(1, I_WRITE, .a = 1, .v = 1);
	PUT(1, I_WRITE, .a = 1, .v = 0);
	PUT(2, I_READ, .a = 0);
	PUT(2, I_SKIPIF0, .b = 3);
	PUT(2, I_READ, .a = 1);
	PUT(2, I_SKIPIF0, .b = 1);
	BUG(2);
}

/* a signal with two waiters: the wrong one is woken (a choice by value) */
static void wrong_waiter(struct twin_program *p, int n)
{
	(void)n;
	threads(p, 3);
	for (int t = 1; t <= 2; t++) {
		PUT(t, I_LOCK, .a = 0);
		PUT(t, I_ADD, .a = 2, .v = 1);
		PUT(t, I_WAIT, .a = 0, .b = 0);
		if (t == 2)
			BUG(t);
		PUT(t, I_UNLOCK, .a = 0);
		PUT(t, I_SIGNAL, .a = 0);
	}
	PUT(3, I_AWAIT, .a = 2, .v = 0);
	PUT(3, I_AWAIT, .a = 2, .v = 1);
	PUT(3, I_LOCK, .a = 0);
	PUT(3, I_SIGNAL, .a = 0);
	PUT(3, I_UNLOCK, .a = 0);
}

static const struct {
	const char *name;
	void (*make)(struct twin_program *p, int n);
	int n, within;
	int preemptions; /* fewest that show it */
} bugs[] = {
	{ "lost update", lost_update, 2, 100, 1 },
	{ "lost update of five", lost_update, 5, 100, 1 },
	{ "lost update with locks", lost_update_locked, 2, 100, 1 },
	{ "lost update with locks of four", lost_update_locked, 4, 100, 1 },
	{ "lock order", lock_order, 2, 200, 1 },
	{ "lock order of three", lock_order, 3, 500, 1 },
	{ "lost wake-up", lost_wakeup, 0, 500, 1 },
	{ "depth four", depth_four, 0, 1000, 3 },
	{ "wrong waiter", wrong_waiter, 0, 200, 0 },
};
enum { BUGS = sizeof bugs / sizeof *bugs };

/* Runs until the first bug: how many; 0: none within. */
static int first_bug(struct driver *d, int within)
{
	for (int i = 1; i <= within; i++) {
		enum sched_outcome out;
		drive(d, &out);
		if (out == SCHED_BUG)
			return i;
	}
	return 0;
}

static void test_sampling_finds(void)
{
	static const enum sched_strategy mostly[] = { SCHED_MIX, SCHED_POS, SCHED_PCT, SCHED_RANDOM };
	static const char *const name[] = { "mix", "pos", "pct", "random" };
	for (int g = 0; g < 4; g++) {
		double sum = 0;
		for (int b = 0; b < BUGS; b++)
			for (uint64_t seed = 1; seed <= SEEDS; seed++) {
				struct twin_program p;
				bugs[b].make(&p, bugs[b].n);
				struct driver d = { .p = &p, .s = begin(memory, (struct sched_options){
					.strategy = mostly[g], .seed = seed, .depth = 4 }) };
				if (mostly[g] == SCHED_PCT && bugs[b].preemptions > 2)
					continue; /* one in n k^3 */
				int n = first_bug(&d, bugs[b].within * (g == 3 ? 4 : 1));
				if (!n)
					printf("# %s: %s not found with seed %d\n", name[g], bugs[b].name, (int)seed);
				CHECK(n > 0);
				sum += n;
			}
		printf("# %s: %.1f runs to a bug on the average\n", name[g], sum / (double)BUGS / (double)SEEDS);
	}
}

/* --- replay ------------------------------------------------------------------ */

static struct sched_event saved[2000];
static struct sched_origin origins[64];

static uint32_t save(const struct sched *s)
{
	uint32_t n;
	const struct sched_event *e = sched_events(s, &n);
	memcpy(saved, e, n * sizeof *e);
	for (uint32_t t = 0; t < sched_thread_count(s); t++)
		sched_thread_origin(s, t, &origins[t].parent, &origins[t].ordinal);
	return n;
}

static void test_replay_exact(void)
{
	uint32_t rounds = soak_rounds(300, 20000);
	for (uint32_t i = 0; i < rounds; i++) {
		struct twin_program p;
		gen_program(&p, 7000 + i, GEN_ALL & ~(uint32_t)GEN_EXIT);
		struct driver d = { .p = &p, .s = begin(memory, (struct sched_options){ .seed = i }) };
		for (int k = 0; k < 5; k++)
			drive(&d, NULL);
		uint32_t n = save(d.s), count = sched_thread_count(d.s);
		struct twin end;
		memcpy(&end, &d.m, sizeof end);
		struct digest was = driven_digest(&d);
		struct driver r = { .p = &p, .s = begin(memory2, (struct sched_options){ .strategy = SCHED_REPLAY }) };
		CHECK(sched_replay(r.s, saved, n, origins, count));
		drive(&r, NULL);
		struct digest is = driven_digest(&r);
		uint32_t m;
		sched_events(r.s, &m);
		CHECK_EQ(sched_divergence(r.s)->what, SCHED_SAME);
		CHECK_EQ(m, n);
		CHECK(!memcmp(&end, &r.m, sizeof end) && was.h[0] == is.h[0] && was.h[1] == is.h[1]);
	}
}

static void test_replay_diverges(void)
{
	struct twin_program p, q;
	lost_update_locked(&p, 2);
	struct driver d = { .p = &p, .s = begin(memory, (struct sched_options){ .seed = 3 }) };
	drive(&d, NULL);
	uint32_t n = save(d.s);
	/* another program: thread 2 has a read more at its beginning */
	q = p;
	memmove(&q.code[2][1], &q.code[2][0], sizeof q.code[2] - sizeof q.code[2][0]);
	q.code[2][0] = (struct twin_ins){ .code = I_READ, .a = 5 };
	struct driver r = { .p = &q, .s = begin(memory2, (struct sched_options){ .strategy = SCHED_REPLAY }) };
	CHECK(sched_replay(r.s, saved, n, origins, 3));
	drive(&r, NULL);
	const struct sched_divergence *v = sched_divergence(r.s);
	CHECK_EQ(v->what, SCHED_DIFF_KIND);
	CHECK_EQ(v->thread, 2);
	CHECK_EQ(v->expected.kind, SCHED_LOCK);
	CHECK_EQ(v->found.kind, SCHED_READ);
	/* a schedule for a thread that is not there, or cannot run */
	struct sched_event one = { .thread = 7, .op.kind = SCHED_READ };
	r.s = begin(memory2, (struct sched_options){ .strategy = SCHED_REPLAY });
	CHECK(sched_replay(r.s, &one, 1, NULL, 0));
	drive(&r, NULL);
	CHECK_EQ(sched_divergence(r.s)->what, SCHED_DIFF_ABSENT);
	one.thread = 64;
	CHECK(!sched_replay(r.s, &one, 1, NULL, 0));
	/* shorter than the schedule */
	memset(&q, 0, sizeof q);
	q.threads = 1;
	struct sched_event two[2] = { { .op.kind = SCHED_EXIT }, { .op.kind = SCHED_EXIT } };
	r = (struct driver){ .p = &q, .s = begin(memory2, (struct sched_options){ .strategy = SCHED_REPLAY }) };
	CHECK(sched_replay(r.s, two, 2, NULL, 0));
	drive(&r, NULL);
	CHECK_EQ(sched_divergence(r.s)->what, SCHED_DIFF_SHORT);
}

/* --- minimising ---------------------------------------------------------------- */

static void test_minimize(void)
{
	uint32_t most = 0;
	for (int b = 0; b < BUGS; b++)
		for (uint64_t seed = 1; seed <= SEEDS; seed++) {
			struct twin_program p;
			bugs[b].make(&p, bugs[b].n);
			struct driver d = { .p = &p, .s = begin(memory, (struct sched_options){ .strategy = SCHED_RANDOM, .seed = seed }) };
			if (!first_bug(&d, bugs[b].within * 4))
				continue; /* test_sampling_finds says so */
			uint32_t n = save(d.s), after;
			bool dead = d.deadlock;
			d.s = begin(memory, (struct sched_options){ .strategy = SCHED_GUIDE });
			struct minimize *m = minimize_begin(memory2, MEMORY, saved, n, 0);
			CHECK(m != NULL);
			while (minimize_next(m, d.s)) {
				enum sched_outcome out;
				drive(&d, &out);
				minimize_result(m, d.s, out == SCHED_BUG && d.deadlock == dead);
			}
			const struct sched_event *best = minimize_best(m, &after);
			if (minimize_preemptions(m) != (uint32_t)bugs[b].preemptions)
				printf("# %s seed %d: %u preemptions after %u runs, %u steps of %u\n", bugs[b].name, (int)seed,
				       minimize_preemptions(m), minimize_tried(m), after, n);
			CHECK_EQ(minimize_preemptions(m), bugs[b].preemptions);
			CHECK(after <= n);
			most = minimize_tried(m) > most ? minimize_tried(m) : most;
			/* and it replays */
			memcpy(saved, best, after * sizeof *best);
			struct driver r = { .p = &p, .s = begin(memory, (struct sched_options){ .strategy = SCHED_REPLAY }) };
			CHECK(sched_replay(r.s, saved, after, origins, (uint32_t)p.threads));
			enum sched_outcome out;
			drive(&r, &out);
			CHECK_EQ(out, SCHED_BUG);
			CHECK_EQ(sched_divergence(r.s)->what, SCHED_SAME);
		}
	printf("# at most %u runs to minimise\n", most);
}

/* --- bounds --------------------------------------------------------------------- */

static uint64_t all_runs(struct driver *d, struct hset *states, enum sched_verdict *verdict)
{
	uint64_t n = 0;
	do {
		*verdict = drive(d, NULL);
		struct digest x = state_digest(d->p, &d->m);
		hset_add(states, x.h);
	} while (++n < 1000000 && *verdict == SCHED_GO_ON);
	return n;
}

static void test_bounds_complete(void)
{
	static const enum sched_strategy kinds[] = { SCHED_ALL, SCHED_PREEMPT, SCHED_DELAY };
	uint32_t rounds = soak_rounds(40, 2000);
	for (uint32_t i = 0; i < rounds; i++) {
		struct twin_program p;
		struct brute b;
		gen_program(&p, 8 * (uint64_t)i, GEN_ALL & ~(uint32_t)GEN_EXIT); /* seeds that are walked whole */
		brute_force(&b, &p, 3000, false);
		for (int k = 0; k < 3 && !b.over; k++) {
			struct hset states = { 0 };
			enum sched_verdict v;
			struct driver d = { .p = &p, .s = begin(memory, (struct sched_options){ .strategy = kinds[k] }) };
			uint64_t n = all_runs(&d, &states, &v);
			CHECK_EQ(v, SCHED_EXHAUSTED);
			CHECK_EQ(states.n, b.states.n);
			if (kinds[k] == SCHED_ALL)
				CHECK_EQ(n, b.schedules);
			hset_free(&states);
		}
		brute_free(&b);
	}
}

static void test_bound_stops(void)
{
	struct twin_program p;
	depth_four(&p, 0); /* needs three preemptions */
	for (uint32_t bound = 2; bound <= 3; bound++) {
		struct driver d = { .p = &p, .s = begin(memory, (struct sched_options){ .strategy = SCHED_PREEMPT, .max_bound = bound }) };
		enum sched_verdict v;
		struct hset states = { 0 };
		all_runs(&d, &states, &v);
		struct sched_stats st;
		sched_stats(d.s, &st);
		CHECK_EQ(v, SCHED_LIMIT);
		CHECK_EQ(st.bound, bound);
		CHECK_EQ(st.bugs > 0, bound == 3);
		hset_free(&states);
	}
	/* DPOR with a bound says that it left something out */
	struct driver d = { .p = &p, .s = begin(memory, (struct sched_options){ .strategy = SCHED_DPOR, .max_preemptions = 0 }) };
	enum sched_verdict v;
	struct hset states = { 0 };
	all_runs(&d, &states, &v);
	struct sched_stats st;
	sched_stats(d.s, &st);
	CHECK_EQ(v, SCHED_EXHAUSTED);
	CHECK(st.left_out > 0);
	CHECK_EQ(st.bugs, 0);
	hset_free(&states);
}

/* --- steering -------------------------------------------------------------------- */

static void test_steer(void)
{
	/* thread 1: many reads, then x is read and written; thread 2 writes x once, late */
	struct twin_program p0, *p = &p0;
	threads(p, 2);
	for (int i = 0; i < 20; i++) {
		PUT(1, I_READ, .a = 2);
		PUT(2, I_READ, .a = 3);
	}
	PUT(1, I_READ, .a = 0);
	PUT(1, I_WRITER, .a = 0, .v = 1);
	PUT(1, I_READ, .a = 0);
	PUT(1, I_SKIP, .v = 8, .b = 1);
	PUT(1, I_READ, .a = 4);
	PUT(2, I_WRITE, .a = 0, .v = 7);
	int first[2] = { 0 };
	uint64_t hits = 0;
	for (int steered = 0; steered < 2; steered++)
		for (uint64_t seed = 1; seed <= SEEDS; seed++) {
			struct driver d = { .p = p, .s = begin(memory, (struct sched_options){ .seed = seed }) };
			struct sched_bias b = { .after = 0x400000 + 256 + 20 * 4 + 1, .before = 0x400000 + 256 + 21 * 4 + 1,
				                .until = 0x400000 + 512 + 20 * 4 + 1 };
			if (steered)
				CHECK(sched_steer(d.s, &b, 1));
			for (int i = 0; i < 200; i++) {
				drive(&d, NULL);
				if (d.m.word[0] == 1) { /* 7 was overwritten: in the gap */
					first[steered] += i;
					break;
				}
			}
			if (steered)
				hits += sched_steered(d.s, 0);
		}
	printf("# into the gap: %.1f runs, steered %.1f\n", first[0] / (double)SEEDS, first[1] / (double)SEEDS);
	CHECK(hits > SEEDS / 2);
	CHECK(first[1] < first[0] / 2);
	CHECK(first[1] <= 4 * SEEDS);
}

/* --- coverage --------------------------------------------------------------------- */

static void test_trace_hash(void)
{
	uint32_t rounds = soak_rounds(150, 5000);
	for (uint32_t i = 0; i < rounds; i++) {
		struct twin_program p;
		gen_program(&p, 400 + i, GEN_ALL);
		/* an await on two words changes how all is hashed when it is first met */
		for (int t = 0; t < p.threads; t++)
			for (int k = 0; k < CODE_MAX; k++)
				if (p.code[t][k].code == I_AWAIT2)
					p.code[t][k].code = I_AWAIT;
		struct driver d = { .p = &p, .s = begin(memory, (struct sched_options){ .seed = i }) };
		struct hset traces = { 0 }, hashes = { 0 }, both = { 0 };
		for (int k = 0; k < 300; k++) {
			drive(&d, NULL);
			struct digest x = driven_digest(&d);
			uint64_t h[2] = { sched_trace_hash(d.s), 1 }, hx[2] = { h[0] ^ x.h[0], x.h[1] };
			hset_add(&traces, x.h);
			hset_add(&hashes, h);
			hset_add(&both, hx);
		}
		struct sched_stats st;
		sched_stats(d.s, &st);
		if (traces.n != hashes.n || both.n != traces.n) {
			printf("# seed %u: %zu traces, %zu hashes, %zu pairs\n", 400 + i, traces.n, hashes.n, both.n);
			print_program(&p);
		}
		CHECK_EQ(hashes.n, traces.n);
		CHECK_EQ(both.n, traces.n);
		CHECK_EQ(st.traces, traces.n);
		hset_free(&traces);
		hset_free(&hashes);
		hset_free(&both);
	}
}

/* Many sampled runs: all are hashed at first, then a sample, unless hashes are asked for. */
static void test_sampled_coverage(void)
{
	enum { RUNS = 80000, FIRST = 1 << 16 };
	struct twin_program p;
	lost_update(&p, 3);
	for (int asks = 0; asks < 2; asks++) {
		struct driver d = { .p = &p, .s = begin(memory, (struct sched_options){ .strategy = SCHED_MIX, .seed = 1 }) };
		struct sched_stats st, first;
		uint32_t hashed = 0;
		for (uint32_t i = 1; i <= RUNS; i++) {
			drive(&d, NULL);
			if (i == FIRST)
				sched_stats(d.s, &first);
			if (asks || i == RUNS)
				hashed += sched_trace_hash(d.s) != 0;
		}
		sched_stats(d.s, &st);
		CHECK(!first.traces_full && first.complete == FIRST);
		CHECK(st.complete == RUNS && st.traces >= first.traces && st.seen_once <= first.traces);
		CHECK_EQ(st.traces_full, !asks);
		CHECK(st.estimate_known && st.estimate_seen > 0 && st.estimate_seen <= 1 && st.estimate_total >= (double)st.traces);
		CHECK(!asks || hashed == RUNS);
	}
}

static void test_estimates(void)
{
	struct twin_program p;
	lost_update(&p, 4);
	struct driver d = { .p = &p, .s = begin(memory2, (struct sched_options){ .strategy = SCHED_DPOR, .max_preemptions = -1 }) };
	struct sched_stats st;
	enum sched_verdict v;
	double half = 0;
	do {
		v = drive(&d, NULL);
		sched_stats(d.s, &st);
		if (st.complete == 500)
			half = st.estimate_total;
	} while (v == SCHED_GO_ON);
	sched_stats(d.s, &st);
	uint64_t total = st.complete;
	CHECK_EQ(v, SCHED_EXHAUSTED);
	CHECK(st.estimate_known && st.estimate_seen == 1 && st.estimate_total == (double)total);
	CHECK(half > 500);
	/* sampling: Chao's number is between what is seen and twice what there is */
	struct driver r = { .p = &p, .s = begin(memory, (struct sched_options){ .strategy = SCHED_RANDOM, .seed = 1 }) };
	for (uint64_t i = 0; i < total; i++)
		drive(&r, NULL);
	sched_stats(r.s, &st);
	printf("# %llu traces; DPOR thought %.0f at 500; %llu random runs saw %llu, Chao thinks %.0f, coverage %.2f\n",
	       (unsigned long long)total, half, (unsigned long long)total, (unsigned long long)st.traces,
	       st.estimate_total, st.estimate_seen);
	CHECK(st.estimate_known && st.traces < total);
	CHECK(st.estimate_total > (double)st.traces && st.estimate_total < 2 * (double)total);
	CHECK(st.estimate_seen > 0 && st.estimate_seen < 1);
	/* pairs: x read and written at two places in each of four threads */
	CHECK(st.pairs > 0 && st.pairs_both == st.pairs - 4 /* main's look comes after the joins */);
	uint64_t a, b;
	uint32_t orders;
	for (uint64_t i = 0; i < st.pairs; i++) {
		sched_pair(r.s, i, &a, &b, &orders);
		CHECK(a <= b && orders >= 1 && orders <= 3);
	}
}

/* --- shards ------------------------------------------------------------------------- */

static void test_shards(void)
{
	uint32_t rounds = soak_rounds(60, 5000);
	for (uint32_t i = 0; i < rounds; i++) {
		struct twin_program p;
		struct brute b;
		gen_program(&p, 300 + i, GEN_ALL);
		brute_force(&b, &p, 5000, false);
		for (uint32_t shards = 2; shards <= 3 && !b.over; shards++) {
			struct hset seen = { 0 };
			uint64_t sum = 0;
			for (uint32_t k = 0; k < shards; k++) {
				struct driver d = { .p = &p, .s = begin(memory, (struct sched_options){ .strategy = SCHED_DPOR,
					.max_preemptions = -1, .shard = k, .shards = shards }) };
				enum sched_verdict v;
				do {
					enum sched_outcome out;
					v = drive(&d, &out);
					if (out == SCHED_CUT || sched_stop_reason(d.s) == SCHED_STOP_SHARD)
						continue;
					struct digest x = driven_digest(&d);
					CHECK(hset_has(&b.traces, x.h));
					hset_add(&seen, x.h);
				} while (v == SCHED_GO_ON);
				CHECK_EQ(v, SCHED_EXHAUSTED);
				struct sched_stats st;
				sched_stats(d.s, &st);
				sum += st.complete;
			}
			if (seen.n != b.traces.n || sum != seen.n) {
				printf("# seed %u, %u shards: %zu of %zu traces, %llu runs\n", 300 + i, shards, seen.n, b.traces.n,
				       (unsigned long long)sum);
				print_program(&p);
			}
			CHECK_EQ(seen.n, b.traces.n);
			CHECK_EQ(sum, b.traces.n);
			hset_free(&seen);
		}
		brute_free(&b);
	}
	/* sampling: other seeds, other schedules */
	struct twin_program p;
	lost_update(&p, 5);
	uint64_t h[2];
	for (uint32_t k = 0; k < 2; k++) {
		struct driver d = { .p = &p, .s = begin(memory, (struct sched_options){ .strategy = SCHED_RANDOM, .shard = k, .shards = 2 }) };
		drive(&d, NULL);
		h[k] = sched_trace_hash(d.s);
	}
	CHECK(h[0] != h[1]);
}

/* --- limits, ids, awaits --------------------------------------------------------------- */

static void test_limits(void)
{
	struct twin_program p;
	lost_update(&p, 6);
	struct sched_options o = { .strategy = SCHED_DPOR, .max_preemptions = -1, .max_steps = 200, .max_threads = 16 };
	size_t least = sched_memory(&o, NULL);
	CHECK(!sched_begin(memory, least - 1, false, &o));
	o.max_threads = SCHED_THREADS_MAX + 1;
	CHECK(!sched_begin(memory, MEMORY, false, &o));
	o.max_threads = 16;
	/* 720^2 traces do not fit into the smallest memory, or they do: never a wrong end */
	struct driver d = { .p = &p, .s = sched_begin(memory, least, false, &o) };
	CHECK(d.s != NULL);
	enum sched_verdict v = SCHED_GO_ON;
	for (int i = 0; i < 20000 && v == SCHED_GO_ON; i++)
		v = drive(&d, NULL);
	CHECK(v == SCHED_GO_ON || v == SCHED_FULL);
	/* max_runs, max_steps */
	d.s = begin(memory, (struct sched_options){ .max_runs = 3 });
	CHECK_EQ(drive(&d, NULL), SCHED_GO_ON);
	drive(&d, NULL);
	CHECK_EQ(drive(&d, NULL), SCHED_LIMIT);
	d.s = begin(memory, (struct sched_options){ .max_steps = 5 });
	enum sched_outcome out;
	drive(&d, &out);
	CHECK_EQ(out, SCHED_CUT);
	CHECK_EQ(sched_stop_reason(d.s), SCHED_STOP_STEPS);
	struct sched_stats st;
	sched_stats(d.s, &st);
	CHECK_EQ(st.cut, 1);
	CHECK_EQ(st.complete, 0);
}

/* Two threads each create one: the ids do not depend on who is first. */
static void test_thread_ids(void)
{
	struct twin_program p0, *p = &p0;
	memset(p, 0, sizeof *p);
	p->threads = 5;
	PUT(0, I_CREATE, .b = 1);
	PUT(0, I_CREATE, .b = 2);
	PUT(1, I_CREATE, .b = 3);
	PUT(2, I_CREATE, .b = 4);
	struct driver d = { .p = p, .s = begin(memory, (struct sched_options){ .strategy = SCHED_RANDOM }) };
	drive(&d, NULL);
	uint32_t three = d.id[3], four = d.id[4], parent, ordinal;
	for (int i = 0; i < 50; i++) {
		drive(&d, NULL);
		CHECK(d.id[3] == three && d.id[4] == four);
	}
	sched_thread_origin(d.s, three, &parent, &ordinal);
	CHECK(parent == d.id[1] && ordinal == 0);
	CHECK_EQ(sched_thread_count(d.s), 5);
}

static void test_awaits(void)
{
	/* spins until the other writes: ends under every strategy */
	struct twin_program p0, *p = &p0;
	threads(p, 2);
	PUT(1, I_AWAIT, .a = 0, .v = 0);
	PUT(2, I_READ, .a = 1);
	PUT(2, I_WRITE, .a = 0, .v = 1);
	for (int g = SCHED_MIX; g <= SCHED_DPOR; g++)
		for (uint64_t seed = 0; seed < 20; seed++) {
			struct driver d = { .p = p, .s = begin(memory, (struct sched_options){ .strategy = (enum sched_strategy)g,
				.seed = seed, .max_preemptions = -1 }) };
			enum sched_outcome out;
			drive(&d, &out);
			CHECK_EQ(out, SCHED_FINE);
		}
	/* nobody writes: everybody waits, and it is said to be an await */
	p->code[2][1] = (struct twin_ins){ .code = I_READ, .a = 0 };
	struct driver d = { .p = p, .s = begin(memory, (struct sched_options){ 0 }) };
	enum sched_outcome out;
	drive(&d, &out);
	CHECK_EQ(out, SCHED_BUG);
	CHECK(d.deadlock && sched_awaiting(d.s, d.id[1]) && !sched_awaiting(d.s, d.id[2]));
}

/* exit_last: the process's end only when nobody else can run. */
static void test_exit_last(void)
{
	struct twin_program p0, *p = &p0;
	threads(p, 2);
	PUT(0, I_EXITALL, .a = 0);
	PUT(1, I_WRITE, .a = 0, .v = 1);
	PUT(2, I_WRITE, .a = 0, .v = 2);
	for (int last = 0; last < 2; last++) {
		struct driver d = { .p = p, .s = begin(memory, (struct sched_options){ .strategy = SCHED_DPOR,
			.max_preemptions = -1, .exit_last = last }) };
		enum sched_verdict v;
		int runs = 0, unwritten = 0;
		do {
			v = drive(&d, NULL);
			runs++;
			unwritten += d.m.word[0] == 0;
		} while (v == SCHED_GO_ON);
		CHECK_EQ(v, SCHED_EXHAUSTED);
		if (last)
			CHECK(runs == 2 && !unwritten);
		else
			CHECK(runs > 2 && unwritten);
	}
}

/* A program that does not repeat itself is noticed, not believed. */
static void test_nondeterminism(void)
{
	struct twin_program p, q;
	lost_update(&p, 3);
	q = p;
	q.code[2][0] = (struct twin_ins){ .code = I_LOCK, .a = 1 };
	struct driver d = { .p = &p, .s = begin(memory, (struct sched_options){ .strategy = SCHED_DPOR, .max_preemptions = -1 }) };
	enum sched_verdict v = drive(&d, NULL);
	for (int i = 0; i < 200 && v == SCHED_GO_ON; i++) {
		d.p = i % 2 ? &p : &q;
		v = drive(&d, NULL);
	}
	CHECK_EQ(v, SCHED_NONDETERMINISTIC);
	CHECK(sched_divergence(d.s)->what != SCHED_SAME);
}

/* --- schedule files -------------------------------------------------------------------- */

static char text[1 << 16];

static void test_schedule_text(void)
{
	struct twin_program p;
	wrong_waiter(&p, 0);
	struct driver d = { .p = &p, .s = begin(memory, (struct sched_options){ .seed = 5 }) };
	drive(&d, NULL);
	uint32_t n = save(d.s);
	const char *arguments[] = { "--fast", "a \"b\"\n\x01" }, *environment[] = { "TZ=UTC" };
	struct schedule_module modules[] = { { "./test", "8a0f", 0x400000, 0x500000 }, { "libc.so.6", "", 0x700000, 0x800000 } };
	struct schedule_place points[] = { { 0, 0x123 }, { 1, 4 } };
	struct schedule_pair settings[] = { { "rand", "7" } };
	struct schedule f = { .program = "./test", .mode = "fibers", .arguments = arguments, .n_arguments = 2,
		.environment = environment, .n_environment = 1, .seed = 42, .settings = settings, .n_settings = 1,
		.modules = modules, .n_modules = 2, .points = points, .n_points = 2, .origins = origins,
		.n_threads = sched_thread_count(d.s), .steps = saved, .n_steps = n };
	size_t len = schedule_write(&f, text, sizeof text);
	CHECK(len < sizeof text);
	CHECK_EQ(schedule_write(&f, NULL, 0), len);
	struct schedule g;
	struct schedule_error error;
	CHECK(schedule_memory(len) <= MEMORY);
	CHECK(schedule_read(&g, text, len, memory2, schedule_memory(len), &error));
	CHECK_STR(g.program, "./test");
	CHECK_STR(g.mode, "fibers");
	CHECK_STR(g.arguments[1], arguments[1]);
	CHECK_STR(g.environment[0], "TZ=UTC");
	CHECK_STR(g.settings[0].value, "7");
	CHECK_STR(g.modules[0].build_id, "8a0f");
	CHECK_STR(g.modules[1].build_id, "");
	CHECK(g.seed == 42 && g.n_steps == n && g.n_threads == f.n_threads && g.n_points == 2 && g.points[1].offset == 4);
	g.modules[0].from = 0x400000;
	schedule_resolve(&g);
	bool choices = false;
	for (uint32_t i = 0; i < n; i++) {
		CHECK(g.steps[i].thread == saved[i].thread && g.steps[i].op.kind == saved[i].op.kind &&
		      g.steps[i].choice == saved[i].choice && g.steps[i].choices == saved[i].choices);
		CHECK(g.steps[i].op.pc == saved[i].op.pc);
		choices |= saved[i].choices;
	}
	CHECK(choices);
	/* written again, the same; and it replays */
	static char again[1 << 16];
	CHECK_EQ(schedule_write(&g, again, sizeof again), len);
	CHECK(!memcmp(text, again, len));
	struct driver r = { .p = &p, .s = begin(memory, (struct sched_options){ .strategy = SCHED_REPLAY }) };
	CHECK(sched_replay(r.s, g.steps, g.n_steps, g.origins, g.n_threads));
	drive(&r, NULL);
	CHECK_EQ(sched_divergence(r.s)->what, SCHED_SAME);
}

static void test_schedule_errors(void)
{
	static const struct {
		const char *text;
		uint32_t line, column;
		const char *message;
	} bad[] = {
		{ "", 1, 1, "empty file" },
		{ "hello\n", 1, 1, "not a schedule file" },
		{ "intact-schedule 2\n", 1, 17, "unknown version of the format" },
		{ "intact-schedule 1\nseed 1\n", 3, 1, "no 'end' line" },
		{ "intact-schedule 1\nstep 0 lock -\nend 2\n", 3, 5, "the number of steps is not what the file has" },
		{ "intact-schedule 1\nstep 1 lock -\nend 1\n", 2, 6, "no such thread" },
		{ "intact-schedule 1\nstep 0 look -\nend 1\n", 2, 8, "unknown operation" },
		{ "intact-schedule 1\nstep 0 lock 0+4\nend 1\n", 2, 13, "no such module" },
		{ "intact-schedule 1\nmodule 0 \"a\"\nstep 0 lock 0-4\nend 1\n", 3, 14, "expected '+' and an offset" },
		{ "intact-schedule 1\nstep 0 cond-signal - choice 2/2\nend 1\n", 2, 31, "a choice is less than the number of alternatives" },
		{ "intact-schedule 1\nprogram \"a\nend 0\n", 2, 9, "string without its closing quote" },
		{ "intact-schedule 1\nprogram \"a\\q\"\nend 0\n", 2, 11, "unknown escape in a string" },
		{ "intact-schedule 1\nseed 99999999999999999999\nend 0\n", 2, 6, "number too large" },
		{ "intact-schedule 1\nthread 2 parent 0 child 0\nend 0\n", 2, 8, "threads are numbered 1, 2, 3, ..." },
		{ "intact-schedule 1\nthread 1 parent 1 child 0\nend 0\n", 2, 17, "number out of range" },
		{ "intact-schedule 1\nthread 1 mother 0\nend 0\n", 2, 9, "expected 'parent' and an earlier thread" },
		{ "intact-schedule 1\nfoo\nend 0\n", 2, 1, "unknown line" },
		{ "intact-schedule 1\nend 0\nseed 1\n", 3, 1, "text after 'end'" },
		{ "intact-schedule 1\nend 0 0\n", 2, 7, "unexpected text at the end of the line" },
		{ "intact-schedule 1\nstep 0 lock -\nseed 1\nend 1\n", 3, 1, "expected 'step' or 'end'" },
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct schedule g;
		struct schedule_error e;
		size_t len = strlen(bad[i].text);
		CHECK(!schedule_read(&g, bad[i].text, len, memory2, schedule_memory(len), &e));
		CHECK_STR(e.message, bad[i].message);
		CHECK_EQ(e.line, bad[i].line);
		CHECK_EQ(e.column, bad[i].column);
	}
}

/* Mutated and cut files: an error or a file, within bounds (ASan looks on). */
static void test_schedule_hostile(void)
{
	test_schedule_text();
	size_t len = strlen(text);
	struct rng r;
	rng_seed(&r, 1);
	uint32_t rounds = soak_rounds(3000, 200000), fine = 0;
	char *copy = malloc(len + 1);
	void *room = aligned_alloc(64, (schedule_memory(len) + 63) & ~(size_t)63);
	for (uint32_t i = 0; i < rounds; i++) {
		memcpy(copy, text, len);
		for (uint32_t k = 1 + rng_below(&r, 4); k; k--)
			copy[rng_below(&r, (uint32_t)len)] = (char)(rng_below(&r, 2) ? rng_below(&r, 256) : (uint32_t)text[rng_below(&r, (uint32_t)len)]);
		struct schedule g;
		struct schedule_error e;
		size_t cut = rng_below(&r, 4) ? len : rng_below(&r, (uint32_t)len);
		if (schedule_read(&g, copy, cut, room, schedule_memory(cut), &e))
			fine++;
		else
			CHECK(e.message && e.line && e.column && e.length);
	}
	CHECK(fine > 0 && fine < rounds);
	free(copy);
	free(room);
}

static void test_kind_names(void)
{
	for (uint8_t k = 1; k < SCHED_KINDS; k++) {
		const char *s = sched_kind_name(k);
		CHECK_EQ(sched_kind_of(s, (uint32_t)strlen(s)), k);
	}
	CHECK_EQ(sched_kind_of("lockk", 5), SCHED_NONE);
	CHECK_EQ(sched_kind_of("loc", 3), SCHED_NONE);
}

/* A free depends on what is in its block, from its first byte to its last, and on nothing else. */
static void test_free_dependence(void)
{
	static const uint8_t memory_kinds[] = {
		SCHED_READ, SCHED_WRITE, SCHED_LOAD, SCHED_STORE, SCHED_RMW, SCHED_FLUSH, SCHED_FREE
	};
	static const uint8_t object_kinds[] = { SCHED_LOCK,       SCHED_TRYLOCK,   SCHED_UNLOCK,         SCHED_RDLOCK,
		                                SCHED_WRUNLOCK,   SCHED_COND_WAIT, SCHED_COND_WAKE,      SCHED_COND_SIGNAL,
		                                SCHED_SEM_POST,   SCHED_SEM_VALUE, SCHED_BARRIER_ARRIVE, SCHED_ONCE,
		                                SCHED_FUTEX_WAIT, SCHED_DESTROY };
	static const uint8_t no_kinds[] = { SCHED_START, SCHED_CREATE, SCHED_JOIN, SCHED_TRYJOIN,
		                            SCHED_EXIT,  SCHED_FENCE,  SCHED_YIELD };
	const struct sched_op gone = { .kind = SCHED_FREE, .a = 4096, .size = 48 };
	for (unsigned i = 0; i < sizeof memory_kinds; i++)
		for (uint64_t at = 4080; at < 4160; at++) {
			struct sched_op x = { .kind = memory_kinds[i], .a = at, .size = 4 };
			bool in = at + 4 > 4096 && at < 4144;
			CHECK(sched_op_dependent(&x, &gone) == in && sched_op_dependent(&gone, &x) == in);
		}
	for (unsigned i = 0; i < sizeof object_kinds; i++)
		for (uint64_t at = 4080; at < 4160; at += 4) {
			struct sched_op x = { .kind = object_kinds[i], .a = at }, y = { .kind = object_kinds[i], .a = 8, .b = at };
			bool in = at >= 4096 && at < 4144;
			CHECK(sched_op_dependent(&x, &gone) == in && sched_op_dependent(&gone, &x) == in);
			CHECK(sched_op_dependent(&y, &gone) == in && sched_op_dependent(&gone, &y) == in);
		}
	for (unsigned i = 0; i < sizeof no_kinds; i++) {
		struct sched_op x = { .kind = no_kinds[i], .a = 4096 };
		CHECK(!sched_op_dependent(&x, &gone) && !sched_op_dependent(&gone, &x));
	}
	struct sched_op last = { .kind = SCHED_PROCESS_EXIT };
	CHECK(sched_op_dependent(&last, &gone) && sched_op_dependent(&gone, &last));
}

int main(void)
{
	memory = aligned_alloc(64, MEMORY);
	memory2 = aligned_alloc(64, MEMORY);
	RUN(test_kind_names);
	RUN(test_free_dependence);
	RUN(test_sampling_finds);
	RUN(test_replay_exact);
	RUN(test_replay_diverges);
	RUN(test_minimize);
	RUN(test_bounds_complete);
	RUN(test_bound_stops);
	RUN(test_steer);
	RUN(test_trace_hash);
	RUN(test_sampled_coverage);
	RUN(test_estimates);
	RUN(test_shards);
	RUN(test_limits);
	RUN(test_thread_ids);
	RUN(test_awaits);
	RUN(test_exit_last);
	RUN(test_nondeterminism);
	RUN(test_schedule_text);
	RUN(test_schedule_errors);
	RUN(test_schedule_hostile);
	free(memory);
	free(memory2);
	return check_done();
}
