/*
 * Prediction. Reorderings: every one that is claimed is checked by a second,
 * naive checker, breaks the block when judged as a trace of its own, and is
 * among those that an exhaustive search of all feasible runs finds; corrupted
 * ones are rejected. Reduction: the paper's cases and the refinements.
 *
 * INTACT_TRACES sets how many traces, INTACT_SEED the seed.
 */
#include "check.h"

#include "dynamic/predict.h"
#include "dynamic/serial.h"
#include "event/order.h"
#include "event/std.h"
#include "trace_gen.h"
#include "verdict/verify_reorder.h"

#define SMALL 11

/* ---- the naive checker -------------------------------------------------- */

struct world {
	const struct event *ev;
	uint32_t n;
	uint32_t rf[GEN_MAX];  /* write + 1 */
	uint32_t after[GEN_MAX]; /* per event: the thread's next, n: none */
	uint32_t first[GEN_THREADS];
	uint32_t fork[GEN_THREADS]; /* event + 1 */
	uint32_t block[GEN_MAX]; /* begin + 1 */
};

static void world_init(struct world *w, const struct event *ev, uint32_t n)
{
	uint32_t last[8] = { 0 }, next[GEN_THREADS], depth[GEN_THREADS] = { 0 };
	uint32_t begin[GEN_THREADS] = { 0 };
	memset(w, 0, sizeof *w);
	w->ev = ev;
	w->n = n;
	for (uint32_t t = 0; t < GEN_THREADS; t++)
		next[t] = n;
	for (uint32_t i = n; i-- > 0;) {
		w->after[i] = next[ev[i].thread];
		next[ev[i].thread] = i;
	}
	memcpy(w->first, next, sizeof next);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t t = ev[i].thread;
		if (ev[i].kind == EVENT_READ)
			w->rf[i] = last[ev[i].target];
		if (ev[i].kind == EVENT_WRITE)
			last[ev[i].target] = i + 1;
		if (ev[i].kind == EVENT_FORK)
			w->fork[ev[i].target] = i + 1;
		if (ev[i].kind == EVENT_BEGIN && !depth[t]++)
			begin[t] = i + 1;
		w->block[i] = depth[t] ? begin[t] : 0;
		if (ev[i].kind == EVENT_END && depth[t])
			depth[t]--;
	}
}

struct run {
	uint32_t at[GEN_THREADS]; /* next event */
	bool frozen[GEN_THREADS]; /* its last read got another value */
	uint32_t owner[8], depth[8], last[8];
	bool done[GEN_MAX];
	uint32_t when[GEN_MAX], clock;
};

static void run_init(const struct world *w, struct run *s)
{
	memset(s, 0, sizeof *s);
	memcpy(s->at, w->first, sizeof s->at);
}

/* Thread t does its next event; false when it cannot. */
static bool run_step(const struct world *w, struct run *s, uint32_t t)
{
	uint32_t i = s->at[t];
	if (i >= w->n || s->frozen[t])
		return false;
	const struct event *e = &w->ev[i];
	if (w->fork[t] && w->fork[t] - 1 < i && !s->done[w->fork[t] - 1])
		return false;
	switch (e->kind) {
	case EVENT_READ:
		s->frozen[t] = s->last[e->target] != w->rf[i];
		break;
	case EVENT_WRITE:
		s->last[e->target] = i + 1;
		break;
	case EVENT_ACQ:
		if (s->depth[e->target] && s->owner[e->target] != t)
			return false;
		s->owner[e->target] = t;
		s->depth[e->target]++;
		break;
	case EVENT_REL:
		s->depth[e->target]--;
		break;
	case EVENT_JOIN:
		for (uint32_t k = 0; k < i; k++)
			if (w->ev[k].thread == e->target && !s->done[k])
				return false;
		break;
	default:
		break;
	}
	s->done[i] = true;
	s->when[i] = ++s->clock;
	s->at[t] = w->after[i];
	return true;
}

static bool naive(const struct world *w, const uint32_t *order, size_t k)
{
	struct run s;
	run_init(w, &s);
	for (size_t i = 0; i < k; i++) {
		if (order[i] >= w->n)
			return false;
		uint32_t t = w->ev[order[i]].thread;
		if (s.at[t] != order[i] || !run_step(w, &s, t))
			return false;
	}
	return true;
}

/* ---- all feasible runs -------------------------------------------------- */

static bool broken[SMALL][SMALL][SMALL][SMALL]; /* a1, r1, r2, a2 */

static bool clash(const struct event *a, const struct event *b)
{
	return a->kind <= EVENT_WRITE && b->kind <= EVENT_WRITE && a->target == b->target &&
	       (a->kind == EVENT_WRITE || b->kind == EVENT_WRITE);
}

/* The access before i to its variable in the same block. */
static uint32_t before_in_block(const struct world *w, uint32_t i)
{
	for (uint32_t a = i; a-- > 0;)
		if (w->ev[a].thread == w->ev[i].thread && w->ev[a].kind <= EVENT_WRITE &&
		    w->ev[a].target == w->ev[i].target)
			return w->block[a] == w->block[i] ? a : w->n;
	return w->n;
}

/* Between a1 and a2 of a block, one variable (neighbours) or two: which r1
 * and r2 of another thread stand there in this run? */
static void note_pair(const struct world *w, const struct run *s, uint32_t a1, uint32_t a2)
{
	bool one = w->ev[a1].target == w->ev[a2].target;
	if (one && before_in_block(w, a2) != a1)
		return;
	for (uint32_t x = 0; x < w->n; x++)
		for (uint32_t y = x; y < w->n; y++)
			if (s->done[x] && s->done[y] && s->when[x] > s->when[a1] &&
			    w->ev[x].thread == w->ev[y].thread && (!one || x == y) &&
			    w->ev[x].thread != w->ev[a2].thread && !(a1 < x && y < a2) &&
			    clash(&w->ev[a1], &w->ev[x]) && clash(&w->ev[y], &w->ev[a2]))
				broken[a1][x][y][a2] = true;
}

static void note(const struct world *w, const struct run *s, uint32_t a2)
{
	if (w->ev[a2].kind > EVENT_WRITE || !w->block[a2])
		return;
	for (uint32_t a1 = 0; a1 < a2; a1++)
		if (w->ev[a1].thread == w->ev[a2].thread && w->block[a1] == w->block[a2] &&
		    w->ev[a1].kind <= EVENT_WRITE)
			note_pair(w, s, a1, a2);
}

static void all_runs(const struct world *w, const struct run *s)
{
	for (uint32_t t = 0; t < GEN_THREADS; t++) {
		struct run next = *s;
		uint32_t i = s->at[t];
		if (!run_step(w, &next, t))
			continue;
		note(w, &next, i);
		all_runs(w, &next);
	}
}

/* ---- claims ------------------------------------------------------------- */

static bool has_block;

static void on_cycle(void *ctx, const struct cycle *c)
{
	const uint64_t *begin = ctx;
	if (c->closing.block == *begin)
		has_block = true;
}

/* The reordering as a trace of its own: does the block violate in it? */
static bool breaks(const struct world *w, const uint32_t *order, size_t k, uint32_t a2)
{
	struct event ev[GEN_MAX];
	struct trace_names names;
	uint64_t begin = 0;
	for (size_t i = 0; i < k; i++) {
		ev[i] = w->ev[order[i]];
		ev[i].index = i + 1;
		ev[i].flags = 0;
		if (order[i] == w->block[a2] - 1)
			begin = i + 1;
	}
	trace_names_init(&names);
	struct order *o = order_new("reordered", false, NULL, NULL);
	bool ok = order_check(o, ev, k, &names) == k;
	order_free(o);
	trace_names_free(&names);
	struct serial_opts so = { .found = on_cycle, .ctx = &begin };
	struct serial *s = serial_new(&so);
	has_block = false;
	ok &= serial_feed(s, ev, k) == SERIAL_OK && has_block;
	serial_free(s);
	return ok;
}

static uint64_t corrupted, let_through;

static bool corrupt_and_compare(struct rng *r, const struct world *w,
                                const uint32_t *order, size_t k)
{
	uint32_t o[GEN_MAX], none[8] = { 0 };
	memcpy(o, order, k * sizeof *o);
	uint32_t a = rng_below(r, (uint32_t)k), b = rng_below(r, (uint32_t)k), t = o[a];
	switch (rng_below(r, 3)) {
	case 0:
		o[a] = o[b];
		o[b] = t;
		break;
	case 1:
		memmove(o + a, o + a + 1, (k - a - 1) * sizeof *o);
		k--;
		break;
	default:
		o[a] = rng_below(r, w->n + 1);
	}
	bool ok = !verify_reorder(w->ev, w->n, none, 8, o, k);
	corrupted++;
	let_through += ok;
	return ok == naive(w, o, k);
}

/* The events without those that only repeat: what a reordering speaks of. */
static uint32_t effective(const struct event *ev, uint32_t n, struct event *out)
{
	uint32_t k = 0;
	for (uint32_t i = 0; i < n; i++)
		if (!(ev[i].flags & EVENT_INNER)) {
			out[k] = ev[i];
			out[k].index = k + 1;
			k++;
		}
	return k;
}

static uint64_t claimed, breakable;

static bool compare(struct rng *r, struct gen *g, uint32_t window)
{
	struct trace_names names;
	struct event ev[GEN_MAX];
	struct world w;
	struct run s;
	size_t nf;
	bool ok = true;
	trace_names_init(&names);
	struct order *o = order_new("random", false, NULL, NULL);
	order_check(o, g->ev, g->n, &names);
	order_free(o);
	trace_names_free(&names);
	uint32_t n = effective(g->ev, g->n, ev);
	if (n > SMALL)
		return true;
	world_init(&w, ev, n);
	memset(broken, 0, sizeof broken);
	run_init(&w, &s);
	all_runs(&w, &s);

	struct predict *p = predict_new(&(struct predict_opts){ .window = window });
	ok &= predict_feed(p, ev, n / 2) && predict_feed(p, ev + n / 2, n - n / 2) &&
	      predict_finish(p);
	const struct predicted *f = predict_list(p, &nf);
	for (size_t i = 0; i < nf; i++) {
		if (f[i].kind != PREDICT_PROVEN)
			continue;
		uint32_t a1 = (uint32_t)f[i].first.event - 1, x = (uint32_t)f[i].between.event - 1;
		uint32_t a2 = (uint32_t)f[i].second.event - 1, order[GEN_MAX];
		uint32_t y = f[i].until.event ? (uint32_t)f[i].until.event - 1 : x;
		size_t k = 0;
		for (; k + 1 < f[i].start; k++)
			order[k] = (uint32_t)k;
		for (size_t m = 0; m < f[i].norder; m++)
			order[k++] = (uint32_t)f[i].order[m] - 1;
		claimed++;
		uint32_t none[8] = { 0 };
		if (!broken[a1][x][y][a2] || !naive(&w, order, k) || !breaks(&w, order, k, a2) ||
		    verify_reorder(ev, n, none, 8, order, k)) {
			printf("# claim %u %u %u %u\n", a1, x, y, a2);
			ok = false;
		}
		for (int c = 0; c < 5; c++)
			ok &= corrupt_and_compare(r, &w, order, k);
	}
	for (uint32_t a = 0; a < n; a++)
		for (uint32_t b = 0; b < n; b++)
			for (uint32_t c = 0; c < n; c++)
				for (uint32_t d = 0; d < n; d++)
					breakable += broken[a][b][c][d];
	predict_free(p);
	return ok;
}

static uint64_t number(const char *env, uint64_t other)
{
	const char *v = getenv(env);
	return v && *v ? strtoull(v, NULL, 10) : other;
}

static void test_reorderings(void)
{
	uint64_t seed = number("INTACT_SEED", 4), count = number("INTACT_TRACES", 4000), bad = 0;
	struct rng r;
	rng_seed(&r, seed);
	for (uint64_t i = 0; i < count && bad < 3; i++) {
		struct gen g;
		gen_trace(&r, &g, SMALL);
		if (!compare(&r, &g, 64)) {
			printf("# trace %" PRIu64 " of seed %" PRIu64 "\n", i, seed);
			for (uint32_t k = 0; k < g.n; k++)
				printf("#   T%u|%s(%u)\n", g.ev[k].thread,
				       event_kind_name[g.ev[k].kind], g.ev[k].target);
			bad++;
		}
	}
	printf("# seed %" PRIu64 ": %" PRIu64 " traces; %" PRIu64 " of %" PRIu64
	       " breakable combinations proven; %" PRIu64 " corrupted orders, %" PRIu64 " feasible still\n",
	       seed, count, claimed, breakable, corrupted, let_through);
	CHECK_EQ(bad, 0);
	CHECK(claimed * 2 > breakable);
	CHECK(claimed > count / 100);
	CHECK(let_through < corrupted);
}

/* A window that slides over longer traces: every claim holds for the whole. */
static void test_sliding(void)
{
	uint64_t seed = number("INTACT_SEED", 4), count = number("INTACT_TRACES", 4000) / 2;
	uint64_t bad = 0, claims = 0, late = 0;
	struct rng r;
	rng_seed(&r, seed + 7);
	for (uint64_t i = 0; i < count; i++) {
		struct gen g;
		struct event ev[GEN_MAX];
		struct trace_names names;
		struct world w;
		size_t nf;
		gen_trace(&r, &g, 60);
		trace_names_init(&names);
		struct order *o = order_new("random", false, NULL, NULL);
		order_check(o, g.ev, g.n, &names);
		order_free(o);
		trace_names_free(&names);
		uint32_t n = effective(g.ev, g.n, ev);
		world_init(&w, ev, n);
		struct predict *p = predict_new(&(struct predict_opts){ .window = 16 });
		CHECK(predict_feed(p, ev, n) && predict_finish(p));
		const struct predicted *f = predict_list(p, &nf);
		for (size_t m = 0; m < nf; m++) {
			uint32_t order[GEN_MAX], none[8] = { 0 };
			size_t k = 0;
			if (f[m].kind != PREDICT_PROVEN)
				continue;
			for (; k + 1 < f[m].start; k++)
				order[k] = (uint32_t)k;
			for (size_t q = 0; q < f[m].norder; q++)
				order[k++] = (uint32_t)f[m].order[q] - 1;
			claims++;
			late += f[m].start > 1;
			bad += !naive(&w, order, k) || verify_reorder(ev, n, none, 8, order, k) ||
			       !breaks(&w, order, k, (uint32_t)f[m].second.event - 1);
		}
		predict_free(p);
	}
	printf("# seed %" PRIu64 ": %" PRIu64 " claims, %" PRIu64 " of them in later windows\n",
	       seed + 7, claims, late);
	CHECK_EQ(bad, 0);
	CHECK(late > 10);
}

/* ---- written cases ------------------------------------------------------ */

struct answer {
	uint64_t proven, possible;
	struct predicted first; /* the first possible one; order is not valid */
};

static struct answer ask(const char *text)
{
	struct trace_names names;
	struct event ev[128];
	struct std_error err;
	uint32_t n = 0;
	size_t nf;
	char line[256];
	struct answer a = { 0, 0, { 0 } };
	trace_names_init(&names);
	names_add_safe(&names.ns[NS_LABEL], "", 0);
	for (const char *s = text; *s;) {
		size_t len = strcspn(s, ";");
		memset(line, 0, sizeof line);
		memcpy(line, s, len);
		line[len] = '\n';
		memset(&ev[n], 0, sizeof ev[n]);
		CHECK_EQ(std_scan(line, line + len, &names, &ev[n], &err), STD_EVENT);
		ev[n].loc = n + 1;
		ev[n].index = n + 1;
		n++;
		s += len + (s[len] == ';');
	}
	struct order *o = order_new("text", false, NULL, NULL);
	CHECK_EQ(order_check(o, ev, n, &names), n);
	order_free(o);
	struct predict *p = predict_new(&(struct predict_opts){ .window = 100 });
	CHECK(predict_feed(p, ev, n) && predict_finish(p));
	a.proven = predict_count(p, PREDICT_PROVEN);
	a.possible = predict_count(p, PREDICT_POSSIBLE);
	const struct predicted *f = predict_list(p, &nf);
	for (size_t i = nf; i-- > 0;)
		if (f[i].kind == PREDICT_POSSIBLE)
			a.first = f[i];
	predict_free(p);
	trace_names_free(&names);
	return a;
}

#define SET_LENGTH "B|begin|;B|acq(sb)|;B|w(n)|;B|rel(sb)|;B|end|;"

static void test_string_buffer(void)
{
	/* the window is not exploited; all three places right */
	struct answer a = ask(SET_LENGTH "A|begin|;A|acq(this)|;A|acq(sb)|;A|r(n)|;A|rel(sb)|;"
	                      "A|acq(sb)|;A|r(n)|;A|rel(sb)|;A|rel(this)|;A|end|;" SET_LENGTH);
	CHECK_EQ(a.possible, 1);
	CHECK_EQ(a.proven, 1);
	CHECK_EQ(a.first.begin.event, 6);
	CHECK_EQ(a.first.first.event, 10);
	CHECK_EQ(a.first.second.event, 11);
	/* fixed: one critical section */
	a = ask(SET_LENGTH "A|begin|;A|acq(this)|;A|acq(sb)|;A|r(n)|;"
	        "A|r(n)|;A|rel(sb)|;A|rel(this)|;A|end|;" SET_LENGTH);
	CHECK_EQ(a.possible + a.proven, 0);
}

static void test_reduction(void)
{
	/* racy read, then racy write */
	struct answer a = ask("B|w(x)|;A|w(x)|;A|begin|;A|r(x)|;A|w(x)|;A|end|");
	CHECK_EQ(a.possible, 1);
	CHECK_EQ(a.first.first.event, 4);
	CHECK_EQ(a.first.second.event, 5);
	/* one racy access alone is atomic */
	a = ask("B|w(x)|;A|w(x)|;A|begin|;A|w(x)|;A|end|");
	CHECK_EQ(a.possible, 0);
	/* a lock nobody else uses is no lock */
	a = ask("A|begin|;A|acq(m)|;A|rel(m)|;A|acq(m)|;A|rel(m)|;A|end|");
	CHECK_EQ(a.possible, 0);
	/* nor one always taken under another */
	a = ask("B|acq(p)|;B|acq(m)|;B|rel(m)|;B|rel(p)|;"
	        "A|begin|;A|acq(p)|;A|acq(m)|;A|rel(m)|;A|acq(m)|;A|rel(m)|;A|rel(p)|;A|end|");
	CHECK_EQ(a.possible, 0);
	/* a lock held already */
	a = ask("B|acq(m)|;B|rel(m)|;A|begin|;A|acq(m)|;A|acq(m)|;A|rel(m)|;A|acq(m)|;A|rel(m)|;"
	        "A|rel(m)|;A|end|");
	CHECK_EQ(a.possible, 0);
	/* handed over by fork and join */
	a = ask("A|w(x)|;A|fork(B)|;B|begin|;B|r(x)|;B|w(x)|;B|r(x)|;B|end|;A|join(B)|;"
	        "A|begin|;A|r(x)|;A|w(x)|;A|end|");
	CHECK_EQ(a.possible, 0);
	/* only read since it was shared */
	a = ask("A|w(x)|;B|r(x)|;A|begin|;A|r(x)|;A|r(x)|;A|end|");
	CHECK_EQ(a.possible, 0);
	/* writes protected, read with the lock and without */
	a = ask("A|acq(m)|;A|w(x)|;A|rel(m)|;B|acq(m)|;B|w(x)|;B|rel(m)|;A|r(x)|;"
	        "A|begin|;A|acq(m)|;A|r(x)|;A|r(x)|;A|rel(m)|;A|end|");
	CHECK_EQ(a.possible, 0);
	a = ask("A|acq(m)|;A|w(x)|;A|rel(m)|;B|acq(m)|;B|w(x)|;B|rel(m)|;A|r(x)|;"
	        "A|begin|;A|r(x)|;A|r(x)|;A|end|");
	CHECK_EQ(a.possible, 1);
	/* the inner block is named, the outer one is silent */
	a = ask("B|w(x)|;A|w(x)|;A|begin|;A|begin|;A|r(x)|;A|w(x)|;A|end|;A|end|");
	CHECK_EQ(a.possible, 1);
	CHECK_EQ(a.first.begin.event, 4);
	/* two inner blocks, each atomic: the outer one is at fault */
	a = ask("B|w(x)|;A|w(x)|;A|begin|;A|begin|;A|r(x)|;A|end|;A|begin|;A|w(x)|;A|end|;A|end|");
	CHECK_EQ(a.possible, 1);
	CHECK_EQ(a.first.begin.event, 3);
}

static void test_reordering_cases(void)
{
	/* unlocked: the other write can fall between */
	CHECK_EQ(ask("A|begin|;A|r(x)|;A|w(x)|;A|end|;B|w(x)|").proven, 1);
	/* one lock around both: it cannot */
	CHECK_EQ(ask("A|begin|;A|acq(m)|;A|r(x)|;A|w(x)|;A|rel(m)|;A|end|;"
	             "B|acq(m)|;B|w(x)|;B|rel(m)|").proven, 0);
	/* two critical sections */
	CHECK_EQ(ask("A|begin|;A|acq(m)|;A|r(x)|;A|rel(m)|;A|acq(m)|;A|w(x)|;A|rel(m)|;A|end|;"
	             "B|acq(m)|;B|w(x)|;B|rel(m)|").proven, 1);
	/* two variables, each access locked by itself: an old x with a new y */
	CHECK_EQ(ask("A|begin|;A|acq(m)|;A|r(x)|;A|rel(m)|;A|acq(m)|;A|r(y)|;A|rel(m)|;A|end|;"
	             "B|acq(m)|;B|w(x)|;B|w(y)|;B|rel(m)|").proven, 1);
	CHECK_EQ(ask("A|begin|;A|acq(m)|;A|r(x)|;A|r(y)|;A|rel(m)|;A|end|;"
	             "B|acq(m)|;B|w(x)|;B|w(y)|;B|rel(m)|").proven, 0);
	/* fork after the block: B cannot have run */
	CHECK_EQ(ask("A|begin|;A|r(x)|;A|w(x)|;A|end|;A|fork(B)|;B|w(x)|").proven, 0);
	/* what the block reads first comes from the other write: it must stay */
	CHECK_EQ(ask("B|w(x)|;A|begin|;A|r(x)|;A|r(x)|;A|end|").proven, 0);
}

int main(void)
{
	RUN(test_reorderings);
	RUN(test_sliding);
	RUN(test_string_buffer);
	RUN(test_reduction);
	RUN(test_reordering_cases);
	return check_done();
}
