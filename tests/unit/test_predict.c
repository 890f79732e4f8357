/*
 * Prediction. Reorderings: every one that is claimed is an execution by a strict
 * checker of its own (all events of the threads it runs, blocks that nest and locks
 * that are taken again too), names the innermost block that holds both events, and
 * breaks it when judged as a trace of its own, by two judges; corrupted ones are
 * rejected. How many of the blocks that some order can break are found is counted
 * against all orders there are. Reduction: the paper's cases and the refinements.
 *
 * INTACT_TRACES sets how many traces, INTACT_SEED the seed.
 */
#include "check.h"

#include "dynamic/predict.h"
#include "dynamic/serial.h"
#include "event/order.h"
#include "event/std.h"
#include "trace_gen.h"
#include "trace_judge.h"
#include "verdict/verify_reorder.h"

#define SMALL 16

/* ---- the strict checker ------------------------------------------------- */

struct world {
	const struct event *ev;
	uint32_t n;
	uint32_t rf[GEN_MAX];  /* write + 1 */
	uint32_t after[GEN_MAX]; /* per event: the thread's next, n: none */
	uint32_t first[GEN_THREADS];
	uint32_t fork[GEN_THREADS]; /* event + 1 */
	uint32_t root[GEN_MAX], inner[GEN_MAX]; /* begin + 1 of the outermost, innermost block */
	uint32_t around[GEN_MAX];   /* of a begin: that of the block around it */
};

static void world_init(struct world *w, const struct event *ev, uint32_t n)
{
	uint32_t last[8] = { 0 }, next[GEN_THREADS], now[GEN_THREADS] = { 0 };
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
		if (ev[i].kind == EVENT_BEGIN) {
			w->around[i] = now[t];
			now[t] = i + 1;
		}
		w->inner[i] = w->root[i] = now[t];
		while (w->root[i] && w->around[w->root[i] - 1])
			w->root[i] = w->around[w->root[i] - 1];
		if (ev[i].kind == EVENT_END && now[t])
			now[t] = w->around[now[t] - 1];
	}
}

struct run {
	uint32_t at[GEN_THREADS]; /* next event */
	bool frozen[GEN_THREADS]; /* its last read got another value */
	uint32_t owner[8], depth[8], last[8];
	uint32_t blocks[GEN_THREADS];
	bool done[GEN_MAX];
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
		if (!s->depth[e->target] || s->owner[e->target] != t)
			return false;
		s->depth[e->target]--;
		break;
	case EVENT_JOIN:
		for (uint32_t k = 0; k < i; k++)
			if (w->ev[k].thread == e->target && !s->done[k])
				return false;
		break;
	case EVENT_BEGIN:
		s->blocks[t]++;
		break;
	case EVENT_END:
		if (!s->blocks[t]--)
			return false;
		break;
	default:
		break;
	}
	s->done[i] = true;
	s->at[t] = w->after[i];
	return true;
}

/* Is it an execution: what each thread did, from its start, in its order? */
static bool strict(const struct world *w, const uint32_t *order, size_t k)
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

/* ---- all orders --------------------------------------------------------- */

/* Orders that differ only in what happens between events that do not depend on each
 * other are one: by what each event depends on. */
struct orders {
	const struct world *w;
	uint64_t seen[1 << 16];
	uint32_t nseen, nruns;
	bool full;
	bool broken[GEN_MAX]; /* by begin: the outermost block violates in some order */
};

static bool depend(const struct event *a, const struct event *b)
{
	if (a->thread == b->thread)
		return true;
	if (a->kind <= EVENT_WRITE && b->kind <= EVENT_WRITE)
		return a->target == b->target && a->kind + b->kind > 0;
	if (a->kind >= EVENT_ACQ && a->kind <= EVENT_REL && b->kind >= EVENT_ACQ && b->kind <= EVENT_REL)
		return a->target == b->target;
	return (a->kind == EVENT_FORK && a->target == b->thread) ||
	       (b->kind == EVENT_JOIN && b->target == a->thread) ||
	       (b->kind == EVENT_FORK && b->target == a->thread) ||
	       (a->kind == EVENT_JOIN && a->target == b->thread);
}

static bool orders_new(struct orders *o, const uint32_t *order, size_t k)
{
	uint64_t before[GEN_MAX] = { 0 }, h = k;
	for (size_t i = 0; i < k; i++)
		for (size_t c = 0; c < i; c++)
			if (depend(&o->w->ev[order[c]], &o->w->ev[order[i]]))
				before[order[i]] |= before[order[c]] | 1ull << order[c];
	for (uint32_t i = 0; i < o->w->n; i++)
		h = (h ^ before[i]) * 0x9e3779b97f4a7c15ull, h ^= h >> 29;
	for (size_t i = 0; i < k; i++)
		h += (order[i] + 1) * 0xbf58476d1ce4e5b9ull;
	h |= 1;
	uint32_t at = (uint32_t)(h >> 40) % (1 << 16);
	for (; o->seen[at]; at = (at + 1) % (1 << 16))
		if (o->seen[at] == h)
			return false;
	if (o->nseen == (1 << 15)) {
		o->full = true;
		return false;
	}
	o->nseen++;
	o->seen[at] = h;
	return true;
}

/* By the definitions: which blocks does this order break? */
static void orders_judge(const struct world *w, const uint32_t *order, size_t k, bool *broken)
{
	struct event ev[GEN_MAX];
	struct judge j;
	bool out[GEN_MAX];
	memset(ev, 0, sizeof *ev); /* there may be none */
	for (size_t i = 0; i < k; i++)
		ev[i] = w->ev[order[i]];
	judge_init(&j, ev, (uint32_t)k);
	violating(&j, out);
	for (size_t i = 0; i < k; i++)
		if (out[i] && ev[i].kind == EVENT_BEGIN)
			broken[order[i]] = true;
}

static void orders_all(struct orders *o, const struct run *s, uint32_t *order, size_t k)
{
	bool last = true;
	for (uint32_t t = 0; t < GEN_THREADS && !o->full; t++) {
		struct run next = *s;
		uint32_t i = s->at[t];
		if (!run_step(o->w, &next, t))
			continue;
		last = false;
		order[k] = i;
		if (orders_new(o, order, k + 1))
			orders_all(o, &next, order, k + 1);
	}
	if (last) { /* what an order breaks it breaks however it goes on */
		o->nruns++;
		orders_judge(o->w, order, k, o->broken);
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
	bool broken[GEN_MAX] = { false };
	for (size_t i = 0; i < k; i++) {
		ev[i] = w->ev[order[i]];
		ev[i].index = i + 1;
		ev[i].flags = 0;
		if (order[i] == w->root[a2] - 1)
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
	orders_judge(w, order, k, broken);
	return ok && begin && broken[w->root[a2] - 1];
}

/* The innermost block that holds both is the one that is named. */
static bool well_named(const struct world *w, const struct predicted *f)
{
	uint32_t a1 = (uint32_t)f->first.event - 1, a2 = (uint32_t)f->second.event - 1;
	uint32_t b = w->inner[a2];
	while (b && b - 1 > a1)
		b = w->around[b - 1];
	return b && f->begin.event == b && f->begin.kind == EVENT_BEGIN && f->begin.thread == w->ev[a2].thread;
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
	return ok == strict(w, o, k);
}

/* The whole order of a claim. */
static size_t order_of(const struct predicted *f, uint32_t *order)
{
	size_t k = 0;
	for (; k + 1 < f->start; k++)
		order[k] = (uint32_t)k;
	for (size_t m = 0; m < f->norder; m++)
		order[k++] = (uint32_t)f->order[m] - 1;
	return k;
}

static bool claim_holds(struct rng *r, const struct world *w, const struct predicted *f)
{
	uint32_t order[GEN_MAX], none[8] = { 0 }, a2 = (uint32_t)f->second.event - 1;
	size_t k = order_of(f, order);
	bool ok = strict(w, order, k) && !verify_reorder(w->ev, w->n, none, 8, order, k) &&
	          breaks(w, order, k, a2) && order[k - 1] == a2 && well_named(w, f);
	if (!ok)
		printf("# claim %u .. %u of block %u\n", (uint32_t)f->first.event, a2 + 1,
		       (uint32_t)f->begin.event);
	for (int c = 0; c < 3; c++)
		ok &= corrupt_and_compare(r, w, order, k);
	return ok;
}

static void flag(struct gen *g)
{
	struct trace_names names;
	trace_names_init(&names);
	struct order *o = order_new("random", false, NULL, NULL);
	order_check(o, g->ev, g->n, &names);
	order_free(o);
	trace_names_free(&names);
}

static void show(const struct gen *g)
{
	for (uint32_t k = 0; k < g->n; k++)
		printf("#   %2u T%u|%s(%u)\n", k + 1, g->ev[k].thread,
		       event_kind_name[g->ev[k].kind], g->ev[k].target);
}

struct score {
	uint64_t claims, wrong, breakable, found, runs, large;
};

static void compare(struct rng *r, struct gen *g, struct score *sc)
{
	static struct orders o;
	struct world w;
	struct run s;
	bool as_recorded[GEN_MAX] = { false }, found[GEN_MAX] = { false };
	uint32_t order[GEN_MAX];
	size_t nf;
	flag(g);
	world_init(&w, g->ev, g->n);
	struct predict *p = predict_new(&(struct predict_opts){ .window = 64 });
	CHECK(predict_feed(p, g->ev, g->n / 2) && predict_feed(p, g->ev + g->n / 2, g->n - g->n / 2) &&
	      predict_finish(p));
	const struct predicted *f = predict_list(p, &nf);
	for (size_t i = 0; i < nf; i++)
		if (f[i].kind == PREDICT_PROVEN) {
			sc->claims++;
			if (!claim_holds(r, &w, &f[i])) {
				sc->wrong++;
				show(g);
			}
			found[w.root[f[i].second.event - 1] - 1] = true;
		}
	predict_free(p);
	memset(&o, 0, sizeof o);
	o.w = &w;
	run_init(&w, &s);
	orders_all(&o, &s, order, 0);
	for (uint32_t i = 0; i < g->n; i++)
		order[i] = i;
	orders_judge(&w, order, g->n, as_recorded);
	sc->runs += o.nruns;
	sc->large += o.full;
	for (uint32_t i = 0; i < g->n && !o.full; i++) {
		bool can = o.broken[i] && !as_recorded[i];
		sc->breakable += can;
		sc->found += can && found[i];
		if (can && !found[i] && getenv("INTACT_SHOW")) {
			printf("# missed: block %u\n", i + 1);
			show(g);
		}
	}
}

static uint64_t number(const char *env, uint64_t other)
{
	const char *v = getenv(env);
	return v && *v ? strtoull(v, NULL, 10) : other;
}

static void reorderings(void (*gen)(struct rng *, struct gen *, uint32_t), const char *what)
{
	uint64_t seed = number("INTACT_SEED", 4), count = number("INTACT_TRACES", 1500);
	struct score sc = { 0 };
	struct rng r;
	rng_seed(&r, seed);
	for (uint64_t i = 0; i < count && sc.wrong < 3; i++) {
		struct gen g;
		gen(&r, &g, SMALL);
		compare(&r, &g, &sc);
	}
	printf("# seed %" PRIu64 ", %s: %" PRIu64 " traces, %" PRIu64 " orders, %" PRIu64
	       " traces with too many; precision %" PRIu64 " of %" PRIu64 " claims, recall %" PRIu64
	       " of %" PRIu64 " blocks, %.1f %%\n",
	       seed, what, count, sc.runs, sc.large, sc.claims - sc.wrong, sc.claims, sc.found,
	       sc.breakable, sc.breakable ? 100.0 * (double)sc.found / (double)sc.breakable : 0.0);
	CHECK_EQ(sc.wrong, 0);
	CHECK(sc.breakable > count / 100);
	CHECK(sc.found * 100 >= sc.breakable * 97);
}

static void test_reorderings(void)
{
	reorderings(gen_trace, "few forks");
	reorderings(gen_forking, "forks and joins in blocks");
	printf("# %" PRIu64 " corrupted orders, %" PRIu64 " feasible still\n", corrupted, let_through);
	CHECK(let_through < corrupted);
}

/* A window that slides over longer traces: every claim holds for the whole. */
static void test_sliding(void)
{
	uint64_t seed = number("INTACT_SEED", 4), count = number("INTACT_TRACES", 1500);
	uint64_t bad = 0, claims = 0, late = 0, nested = 0;
	struct rng r;
	rng_seed(&r, seed + 7);
	for (uint64_t i = 0; i < count; i++) {
		struct gen g;
		struct world w;
		size_t nf;
		(i % 2 ? gen_forking : gen_trace)(&r, &g, 60);
		flag(&g);
		world_init(&w, g.ev, g.n);
		struct predict *p = predict_new(&(struct predict_opts){ .window = i % 3 ? 16 : 40 });
		CHECK(predict_feed(p, g.ev, g.n) && predict_finish(p));
		const struct predicted *f = predict_list(p, &nf);
		for (size_t m = 0; m < nf; m++) {
			if (f[m].kind != PREDICT_PROVEN)
				continue;
			claims++;
			late += f[m].start > 1;
			nested += w.root[f[m].begin.event - 1] != f[m].begin.event;
			if (!claim_holds(&r, &w, &f[m]) && !bad++)
				show(&g);
		}
		predict_free(p);
	}
	printf("# seed %" PRIu64 ": %" PRIu64 " claims, %" PRIu64 " of them in later windows, %" PRIu64
	       " of nested blocks\n", seed + 7, claims, late, nested);
	CHECK_EQ(bad, 0);
	CHECK(late > 10);
	CHECK(nested > 10);
}

/* ---- written cases ------------------------------------------------------ */

struct answer {
	uint64_t proven, possible;
	struct predicted first; /* the first possible one; order is not valid */
};

/* The events of a text, one for each ';'. */
static uint32_t scan(const char *text, struct trace_names *names, struct event *ev)
{
	struct std_error err;
	uint32_t n = 0;
	char line[256];
	for (const char *s = text; *s;) {
		size_t len = strcspn(s, ";");
		memset(line, 0, sizeof line);
		memcpy(line, s, len);
		line[len] = '\n';
		memset(&ev[n], 0, sizeof ev[n]);
		CHECK_EQ(std_scan(line, line + len, names, &ev[n], &err), STD_EVENT);
		ev[n].loc = n + 1;
		ev[n].index = n + 1;
		n++;
		s += len + (s[len] == ';');
	}
	return n;
}

/* Do the judge and the clocks say that the block that begins with this event (from 1) violates? They must agree. */
static bool judged(const char *text, uint64_t begin)
{
	struct trace_names names;
	struct event ev[GEN_MAX];
	struct judge j;
	bool out[GEN_MAX];
	trace_names_init(&names);
	names_add_safe(&names.ns[NS_LABEL], "", 0);
	uint32_t n = scan(text, &names, ev);
	judge_init(&j, ev, n);
	violating(&j, out);
	struct serial *s = serial_new(&(struct serial_opts){ .found = on_cycle, .ctx = &begin });
	has_block = false;
	CHECK_EQ(serial_feed(s, ev, n), SERIAL_OK);
	CHECK_EQ(has_block, out[begin - 1]);
	serial_free(s);
	trace_names_free(&names);
	return out[begin - 1];
}

static struct answer ask(const char *text)
{
	struct trace_names names;
	struct event ev[128];
	size_t nf;
	struct answer a = { 0, 0, { 0 } };
	trace_names_init(&names);
	names_add_safe(&names.ns[NS_LABEL], "", 0);
	uint32_t n = scan(text, &names, ev);
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
	/* B's block joins the thread that forked B: a conflict over two lives, of which the join is a link */
	CHECK(judged("A|begin|;A|fork(C)|;C|fork(B)|;B|begin|;B|w(x)|;A|w(x)|;B|join(C)|", 4));
	CHECK(judged("A|begin|;A|fork(C)|;C|fork(B)|;B|begin|;B|w(x)|;A|w(x)|;B|join(C)|", 1));
	CHECK(!judged("A|begin|;A|fork(C)|;C|fork(B)|;B|begin|;B|w(x)|;A|w(y)|;B|join(C)|", 4));
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
