/*
 * races: random executions of up to four threads against a twin that shares no code: a graph of events, each with all
 * that happened before it as a set of bits. On exactly the bytes on which two events conflict without an order a race is
 * reported, and each that is reported is between two such events.
 */
#include "check.h"

#include "base/rng.h"
#include "campaign.h"
#include "dynamic/reduction.h"

enum { THREADS = 4, EVENTS = 64, WORDS = 3, LOCKS = 2, ATOMS = 2 };
enum { DATA = 0x100000, LOCK_AT = 0x200000, ATOM_AT = DATA, PC = 0x1000 };

struct access {
	uint64_t before; /* events */
	uint32_t thread, word;
	unsigned mask;
	bool write, atomic, is;
};

struct twin {
	struct access e[EVENTS];
	uint32_t n;
	uint64_t now[THREADS];                /* all that happened before the thread's next event, itself included */
	uint64_t written[LOCKS], read[LOCKS]; /* releases */
	uint64_t heads[ATOMS];                /* what an acquire of the present value follows */
	uint64_t fenced[THREADS], pending[THREADS];
	bool held[LOCKS][THREADS], shared[LOCKS][THREADS];
};

static struct dynamic d;
static struct thread *threads[THREADS];

static uint32_t event(struct twin *w, uint32_t t, uint64_t follows)
{
	uint32_t e = w->n++;
	w->e[e] = (struct access){ .thread = t, .before = w->now[t] | follows };
	for (uint32_t i = 0; i < e; i++)
		if (follows >> i & 1)
			w->e[e].before |= w->e[i].before;
	w->now[t] = w->e[e].before | 1ull << e;
	return e;
}

static void access_at(struct twin *w, uint32_t e, uint32_t word, unsigned mask, bool write, bool atomic)
{
	w->e[e].word = word;
	w->e[e].mask = mask;
	w->e[e].write = write;
	w->e[e].atomic = atomic;
	w->e[e].is = true;
}

static bool race_between(const struct twin *w, uint32_t i, uint32_t k, unsigned *bytes)
{
	const struct access *a = &w->e[i], *b = &w->e[k];
	*bytes = a->mask & b->mask;
	return a->is && b->is && a->thread != b->thread && a->word == b->word && *bytes && (a->write || b->write) &&
	       !(a->atomic && b->atomic) && !(b->before >> i & 1);
}

/* ---- one step, in both ---- */

static void step_data(struct twin *w, struct rng *r, uint32_t t)
{
	static const unsigned masks[] = { 0xff, 0x0f, 0xf0, 0x01, 0x18, 0x3c };
	uint32_t word = (uint32_t)rng_below(r, WORDS);
	unsigned mask = masks[rng_below(r, 6)];
	bool write = rng_below(r, 2);
	uint32_t e = event(w, t, 0);
	access_at(w, e, word, mask, write, false);
	races_access(&d, threads[t], DATA + word * 8, mask, write ? RACE_WRITE : 0, PC + e);
}

static void step_lock(struct twin *w, struct rng *r, uint32_t t)
{
	uint32_t l = (uint32_t)rng_below(r, LOCKS);
	uintptr_t at = LOCK_AT + l * 64;
	if (w->held[l][t]) {
		bool shared = w->shared[l][t];
		uint32_t e = event(w, t, 0);
		(shared ? w->read : w->written)[l] |= 1ull << e;
		w->held[l][t] = false;
		red_release(&d, threads[t], at, false, PC + e);
		return;
	}
	bool shared = rng_below(r, 3) == 0, free = true;
	for (uint32_t i = 0; i < THREADS; i++)
		free &= !w->held[l][i] || (shared && w->shared[l][i]);
	if (!free)
		return;
	uint32_t e = event(w, t, w->written[l] | (shared ? 0 : w->read[l]));
	w->held[l][t] = true;
	w->shared[l][t] = shared;
	red_acquire(&d, threads[t], at, shared, false, PC + e);
}

/* Relaxed, acquire, release, both. */
static void step_atomic(struct twin *w, struct rng *r, uint32_t t)
{
	static const int orders[] = { 0, 2, 3, 4, 5 };
	int order = orders[rng_below(r, 5)];
	enum atomic_kind kind = (enum atomic_kind)rng_below(r, 4);
	bool acquires = order == 2 || order >= 4, releases = order >= 3;
	uint32_t a = (uint32_t)rng_below(r, ATOMS);
	if (kind == ATOMIC_FENCE) {
		uint32_t e = event(w, t, acquires ? w->pending[t] : 0);
		if (releases)
			w->fenced[t] = 1ull << e;
		red_atomic(&d, threads[t], 0, 0, kind, order, PC + e);
		return;
	}
	uint64_t heads = w->heads[a];
	uint32_t e = event(w, t, kind != ATOMIC_STORE && acquires ? heads : 0);
	if (kind != ATOMIC_STORE && !acquires)
		w->pending[t] |= heads;
	if (kind != ATOMIC_LOAD)
		w->heads[a] = (kind == ATOMIC_RMW ? heads : 0) | (releases ? 1ull << e : w->fenced[t]);
	access_at(w, e, a, 0x0f, kind != ATOMIC_LOAD, true);
	red_atomic(&d, threads[t], ATOM_AT + a * 8, 4, kind, order, PC + e);
}

/* ---- the comparison ---- */

static unsigned reported(const struct hazard *h, uint32_t word)
{
	return (h->parts[0].address - DATA) / 8 == word ? h->parts[0].mask : 0;
}

static uint32_t event_of(const struct hazard_part *p)
{
	return (uint32_t)(hazard_place(&d, p->stack) - PC);
}

static bool agree(const struct twin *w)
{
	for (uint32_t word = 0; word < WORDS; word++) {
		unsigned want = 0, got = 0, bytes;
		for (uint32_t k = 0; k < w->n; k++)
			for (uint32_t i = 0; i < k; i++)
				if (w->e[k].word == word && race_between(w, i, k, &bytes))
					want |= bytes;
		for (uint32_t i = 1; i < d.hazards.n; i++)
			got |= reported(&d.hazards.list[i], word);
		if (want != got) {
			printf("# word %u: bytes %x race, %x are reported\n", word, want, got);
			return false;
		}
	}
	for (uint32_t i = 1; i < d.hazards.n; i++) {
		unsigned bytes;
		uint32_t k = event_of(&d.hazards.list[i].parts[0]), j = event_of(&d.hazards.list[i].parts[1]);
		if (j >= w->n || k >= w->n || !race_between(w, j, k, &bytes)) {
			printf("# events %u and %u are reported and do not race\n", j, k);
			return false;
		}
	}
	return true;
}

static void begin(struct twin *w)
{
	memset(w, 0, sizeof *w);
	if (!dynamic_init(&d) || !races_init(&d.races) || !hazards_init(&d.hazards))
		abort();
	for (uint32_t i = 0; i < THREADS; i++)
		red_thread_begin(&d, threads[i], i ? threads[0] : NULL, i + 1, i + 1, 1, 0x10);
}

static void one_program(uint64_t seed)
{
	struct twin w;
	struct rng r;
	rng_seed(&r, seed);
	begin(&w);
	bool joined[THREADS] = { false };
	while (w.n < EVENTS - 1) {
		uint32_t t = (uint32_t)rng_below(&r, THREADS), what = (uint32_t)rng_below(&r, 16);
		if (joined[t])
			continue;
		if (what == 0 && t && w.n > EVENTS / 2 && !joined[0]) { /* main waits for its end */
			event(&w, 0, w.now[t]);
			joined[t] = true;
			red_join(&d, threads[0], threads[t], 0);
		} else if (what < 6) {
			step_data(&w, &r, t);
		} else if (what < 11) {
			step_lock(&w, &r, t);
		} else {
			step_atomic(&w, &r, t);
		}
	}
	bool ok = agree(&w);
	if (!ok)
		printf("# seed %" PRIu64 "\n", seed);
	CHECK(ok);
	for (uint32_t i = 0; i < THREADS; i++) {
		red_thread_end(threads[i]);
		struct frame *keep = threads[i]->frames;
		memset(threads[i], 0, sizeof *threads[i]);
		threads[i]->frames = keep;
		threads[i]->limit = keep + 6;
	}
	dynamic_free(&d);
}

static void make_threads(void)
{
	for (uint32_t i = 0; i < THREADS; i++) {
		threads[i] = calloc(1, sizeof *threads[i]);
		threads[i]->frames = calloc(8, sizeof *threads[i]->frames);
		threads[i]->limit = threads[i]->frames + 6;
	}
}

static void test_random(void)
{
	struct campaign c = campaign(7000000, 1500);
	for (int i = 0; i < c.n && !check_failed; i++)
		one_program(c.seed + (uint64_t)i);
}

/* Memory that is given back: as a write by who gives it back, and nothing is known of it afterwards. */
static void test_forget(void)
{
	struct twin w;
	begin(&w);
	races_access(&d, threads[1], DATA, 0xff, RACE_WRITE, PC + 1);
	CHECK(!races_forget(&d, threads[1], DATA + 64, 64, PC + 2));
	CHECK(races_forget(&d, threads[1], DATA, 64, PC + 2));
	CHECK_EQ(d.hazards.n, 1);
	races_access(&d, threads[2], DATA, 0xff, RACE_WRITE, PC + 3);
	CHECK_EQ(d.hazards.n, 1);
	CHECK(races_forget(&d, threads[1], DATA, 1 << 23, PC + 4));
	CHECK_EQ(d.hazards.n, 2);
	CHECK_EQ(d.hazards.list[1].parts[0].op, PART_FREE);
	races_access(&d, threads[3], DATA, 0xff, RACE_WRITE, PC + 5);
	CHECK_EQ(d.hazards.n, 2);
	CHECK(races_forget(&d, NULL, DATA, 8, 0));
	CHECK_EQ(d.hazards.n, 2);
	for (uint32_t i = 0; i < THREADS; i++)
		red_thread_end(threads[i]);
	dynamic_free(&d);
}

int main(void)
{
	make_threads();
	RUN(test_random);
	RUN(test_forget);
	for (uint32_t i = 0; i < THREADS; i++) {
		free(threads[i]->frames);
		free(threads[i]);
	}
	return check_done();
}
