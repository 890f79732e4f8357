/*
 * Conflict serializability: both engines against a judge that knows only the
 * definitions, on random small traces; every cycle through the independent
 * checker, and corrupted cycles rejected.
 *
 * INTACT_TRACES sets how many traces (the whole campaign: 200000), and
 * INTACT_SEED the seed.
 */
#include "check.h"

#include "dynamic/serial.h"
#include "event/order.h"
#include "trace_judge.h"
#include "verdict/verify_cycle.h"
#include "verdict/verify_serial.h"

/* ---- the judge (trace_judge.h) ------------------------------------------- */

/*
 * Is there a serial order of the transactions that keeps the order of all
 * conflicting events? Tries them all: a transaction can be next when none
 * that is not placed yet has an event that must come before one of its own.
 */
static bool place(const struct judge *j, bool *placed, uint32_t count)
{
	if (count == j->ntxn)
		return true;
	for (uint32_t t = 0; t < j->ntxn; t++) {
		if (placed[t])
			continue;
		bool can = true;
		for (uint32_t b = 0; b < j->n && can; b++)
			for (uint32_t a = 0; j->txn[b] == t && a < b && can; a++)
				can = j->txn[a] == t || placed[j->txn[a]] || !ordered(j, a, b);
		if (!can)
			continue;
		placed[t] = true;
		if (place(j, placed, count + 1))
			return true;
		placed[t] = false;
		return false; /* what can be first never has to be later */
	}
	return false;
}

static bool serializable(const struct judge *j)
{
	bool placed[GEN_MAX] = { false };
	return place(j, placed, 0);
}

/* All permutations, nothing clever; for few transactions. */
static bool permute(const struct judge *j, uint32_t *pos, bool *used, uint32_t at)
{
	if (at == j->ntxn) {
		for (uint32_t b = 0; b < j->n; b++)
			for (uint32_t a = 0; a < b; a++)
				if (j->txn[a] != j->txn[b] && ordered(j, a, b) &&
				    pos[j->txn[a]] > pos[j->txn[b]])
					return false;
		return true;
	}
	for (uint32_t t = 0; t < j->ntxn; t++) {
		if (used[t])
			continue;
		used[t] = true;
		pos[t] = at;
		if (permute(j, pos, used, at + 1))
			return true;
		used[t] = false;
	}
	return false;
}

/* ---- running the engines ------------------------------------------------ */

struct found {
	const struct event *ev;
	uint32_t n;
	bool block[GEN_MAX]; /* by begin event */
	uint32_t count, bad, doubles, corrupted, let_through;
	const struct judge *judge;
	struct rng *rng;
};

static const char *check_cycle(const struct found *f, const struct cycle *c)
{
	uint32_t link;
	struct cycle_judge *v = judge_new();
	const char *why = "memory";
	if (judge_want_cycle(v, c) && judge_feed(v, f->ev, f->n))
		why = judge_cycle(v, c, &link);
	judge_free(v);
	return why;
}

/* The rules again, from the judge's tables. */
static bool really_a_cycle(const struct judge *j, const struct cycle *c)
{
	for (uint32_t i = 0; i < c->n; i++) {
		const struct cycle_end *end[2] = { &c->links[i].from, &c->links[i].to };
		for (int k = 0; k < 2; k++) {
			uint64_t at = end[k]->event - 1;
			if (at >= j->n)
				return false;
			const struct event *e = &j->ev[at];
			uint32_t t = j->txn[at];
			if (end[k]->thread != e->thread || end[k]->kind != e->kind ||
			    end[k]->target != e->target ||
			    end[k]->block != (j->block[t] ? j->first[t] + 1 : 0))
				return false;
		}
		uint64_t a = end[0]->event - 1, b = end[1]->event - 1;
		if (a >= b || j->ev[a].thread == j->ev[b].thread ||
		    !clash(j, (uint32_t)a, (uint32_t)b))
			return false;
		uint64_t next = c->links[(i + 1) % c->n].from.event - 1;
		if (next >= j->n || j->ev[next].thread != j->ev[b].thread ||
		    j->txn[next] < j->txn[b])
			return false;
		if (i + 1 < c->n && c->links[i].to.event >= c->links[c->n - 1].to.event)
			return false;
		if (i + 1 == c->n && (j->txn[next] != j->txn[b] || !j->block[j->txn[b]]))
			return false;
	}
	return c->n >= 2 && c->closing.event == c->links[c->n - 1].to.event;
}

/* Changes the cycle somewhere; false when nothing changed. */
static bool corrupt(struct rng *r, const struct cycle *c, struct cycle *out,
                    struct cycle_link *links)
{
	memcpy(links, c->links, c->n * sizeof *links);
	*out = *c;
	out->links = links;
	uint32_t i = rng_below(r, c->n);
	struct cycle_end *e = rng_below(r, 2) ? &links[i].from : &links[i].to;
	switch (rng_below(r, 10)) {
	case 0:
		e->event += 1 + rng_below(r, 3);
		break;
	case 1:
		e->event -= 1 + rng_below(r, 3);
		break;
	case 2:
		e->thread ^= 1;
		break;
	case 3:
		e->kind ^= 1;
		break;
	case 4:
		e->target += 1;
		break;
	case 5:
		e->block = e->block ? 0 : 1;
		break;
	case 6: {
		struct cycle_end t = links[i].from;
		links[i].from = links[i].to;
		links[i].to = t;
		break;
	}
	case 7:
		memmove(links + i, links + i + 1, (c->n - i - 1) * sizeof *links);
		out->n--;
		break;
	case 8: {
		struct cycle_link t = links[0];
		memmove(links, links + 1, (c->n - 1) * sizeof *links);
		links[c->n - 1] = t;
		break;
	}
	default:
		out->closing.event += 1;
		break;
	}
	return true;
}

static void on_cycle(void *ctx, const struct cycle *c)
{
	struct found *f = ctx;
	uint64_t begin = c->closing.block;
	f->count++;
	if (c->lost || !c->n || begin == 0 || begin > f->n) {
		f->bad++;
		return;
	}
	f->doubles += f->block[begin - 1];
	f->block[begin - 1] = true;
	if (c->links[0].from.block != begin || check_cycle(f, c) ||
	    !really_a_cycle(f->judge, c))
		f->bad++;
	for (int i = 0; f->rng && i < 4; i++) {
		struct cycle k;
		struct cycle_link links[GEN_MAX * 4];
		if (c->n > GEN_MAX * 2 || !corrupt(f->rng, c, &k, links))
			continue;
		f->corrupted++;
		bool accepted = !check_cycle(f, &k);
		if (accepted != really_a_cycle(f->judge, &k))
			f->bad++;
		f->let_through += accepted;
	}
}

static void run(bool graph, const struct event *ev, uint32_t n, struct found *f,
                uint32_t limit, enum serial_end *end)
{
	struct serial_opts o = { .found = on_cycle, .ctx = f, .serial_limit = limit };
	if (graph) {
		struct graph *g = graph_new(&o);
		*end = graph_feed(g, ev, n);
		graph_free(g);
	} else {
		struct serial *s = serial_new(&o);
		/* in two parts, as a stream comes */
		*end = serial_feed(s, ev, n / 2);
		if (!*end)
			*end = serial_feed(s, ev + n / 2, n - n / 2);
		serial_free(s);
	}
}

static void print_trace(const struct event *ev, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		printf("#   T%u|%s(%u)|%u\n", ev[i].thread, event_kind_name[ev[i].kind],
		       ev[i].target, ev[i].loc);
}

static uint64_t number(const char *env, uint64_t other)
{
	const char *s = getenv(env);
	return s && *s ? strtoull(s, NULL, 10) : other;
}

static uint64_t judged[3]; /* by the judge of verify: serializable, not, unknown */

/* The independent judge of a whole trace. 1: a cycle, whose transactions are of at least two threads; 0: none, -1: unknown */
static int judge_whole(const struct event *ev, size_t n)
{
	struct serial_judge *s = serial_judge_new();
	serial_judge_feed(s, ev, n);
	struct serial_judged d = serial_judge_end(s);
	int answer = d.limit ? -1 : d.n > 0;
	if (d.n == 1)
		answer = 2; /* nothing comes before itself */
	judged[answer < 0 ? 2 : answer > 0]++;
	serial_judge_free(s);
	return answer;
}

static bool compare(struct rng *r, struct gen *g, uint64_t *broken, uint64_t *blocks,
                    uint64_t *corrupted, uint64_t *let_through)
{
	struct judge j;
	bool want[GEN_MAX];
	struct trace_names names;
	bool ok = true;
	judge_init(&j, g->ev, g->n);
	violating(&j, want);
	trace_names_init(&names);
	struct order *o = order_new("random", false, NULL, NULL);
	ok = order_check(o, g->ev, g->n, &names) == g->n;
	order_free(o);
	trace_names_free(&names);

	bool any = memchr(want, 1, sizeof want) != NULL;
	*broken += any;
	ok &= serializable(&j) == !any;
	ok &= judge_whole(g->ev, g->n) == (any ? 1 : 0);
	if (j.ntxn <= 7) {
		uint32_t pos[GEN_MAX];
		bool used[GEN_MAX] = { false };
		ok &= permute(&j, pos, used, 0) == !any;
	}
	for (int engine = 0; engine < 3; engine++) {
		struct found f = { .ev = g->ev, .n = g->n, .judge = &j,
			           .rng = engine == 2 ? NULL : r };
		enum serial_end end;
		run(engine == 1, g->ev, g->n, &f, engine == 2 ? 8 : 0, &end);
		if (engine == 2 && end == SERIAL_LIMIT)
			continue;
		if (end || f.bad || f.doubles || memcmp(f.block, want, sizeof want)) {
			printf("# engine %d: end %d, bad %u, doubles %u\n", engine, end,
			       f.bad, f.doubles);
			for (uint32_t i = 0; i < g->n; i++)
				if (f.block[i] != want[i])
					printf("#  block at %u: %d, judge %d\n", i + 1,
					       f.block[i], want[i]);
			ok = false;
		}
		if (engine == 0)
			*blocks += f.count;
		*corrupted += f.corrupted;
		*let_through += f.let_through;
	}
	return ok;
}

static void test_against_the_judge(void)
{
	uint64_t seed = number("INTACT_SEED", 8), count = number("INTACT_TRACES", 6000);
	uint64_t broken = 0, blocks = 0, corrupted = 0, let_through = 0, bad = 0;
	struct rng r;
	rng_seed(&r, seed);
	for (uint64_t i = 0; i < count && bad < 3; i++) {
		struct gen g;
		gen_trace(&r, &g, i % 4 == 3 ? 48 : i % 2 ? 24 : 14);
		if (!compare(&r, &g, &broken, &blocks, &corrupted, &let_through)) {
			printf("# trace %" PRIu64 " of seed %" PRIu64 ":\n", i, seed);
			print_trace(g.ev, g.n);
			bad++;
		}
	}
	printf("# seed %" PRIu64 ": %" PRIu64 " traces, %" PRIu64
	       " not serializable, %" PRIu64 " violating blocks; %" PRIu64
	       " corrupted cycles, %" PRIu64 " of them cycles still\n",
	       seed, count, broken, blocks, corrupted, let_through);
	CHECK_EQ(bad, 0);
	CHECK(broken > count / 10);
	CHECK(broken < count);
	CHECK(let_through * 5 < corrupted);
}

/* ---- larger, and not well-formed ---------------------------------------- */

struct sets {
	const struct event *ev;
	size_t n;
	uint8_t *block; /* by begin event */
	uint64_t count, bad;
	struct cycle *kept;
	size_t nkept, cap;
};

static void keep_cycle(void *ctx, const struct cycle *c)
{
	struct sets *f = ctx;
	f->count++;
	f->bad += c->lost || !c->closing.block || f->block[c->closing.block - 1];
	f->block[c->closing.block - 1] = 1;
	if (f->nkept == f->cap) {
		f->cap = f->cap ? f->cap * 2 : 64;
		f->kept = realloc(f->kept, f->cap * sizeof *f->kept);
	}
	struct cycle_link *links = malloc((c->n + 1) * sizeof *links);
	memcpy(links, c->links, c->n * sizeof *links);
	f->kept[f->nkept] = *c;
	f->kept[f->nkept++].links = links;
}

static void check_kept(struct sets *f)
{
	struct cycle_judge *v = judge_new();
	uint32_t link;
	for (size_t i = 0; i < f->nkept; i++)
		CHECK(judge_want_cycle(v, &f->kept[i]));
	CHECK(judge_feed(v, f->ev, f->n));
	for (size_t i = 0; i < f->nkept; i++) {
		f->bad += judge_cycle(v, &f->kept[i], &link) != NULL;
		free((void *)(uintptr_t)f->kept[i].links);
	}
	free(f->kept);
	judge_free(v);
}

/* Events without regard for what is possible, except by chance. */
static void wild(struct rng *r, struct event *ev, size_t n, uint32_t threads,
                 uint32_t vars, uint32_t locks, uint32_t calm)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t k = rng_below(r, 100);
		struct event *e = &ev[i];
		memset(e, 0, sizeof *e);
		e->index = i + 1;
		e->thread = rng_below(r, threads);
		e->loc = (uint32_t)i;
		if (k < 60) {
			e->kind = rng_below(r, calm) ? EVENT_READ : EVENT_WRITE;
			e->target = rng_below(r, vars);
		} else if (k < 75) {
			e->kind = rng_below(r, 2) ? EVENT_ACQ : EVENT_REL;
			e->target = rng_below(r, locks);
		} else if (k < 98) {
			e->kind = rng_below(r, 2) ? EVENT_BEGIN : EVENT_END;
		} else {
			e->kind = rng_below(r, 2) ? EVENT_FORK : EVENT_JOIN;
			e->target = rng_below(r, threads);
		}
	}
}

static void both_agree(struct event *ev, size_t n, uint64_t *blocks)
{
	struct trace_names names;
	struct sets f[3];
	trace_names_init(&names);
	struct order *o = order_new("wild", true, NULL, NULL);
	CHECK_EQ(order_check(o, ev, n, &names), n);
	order_free(o);
	trace_names_free(&names);
	for (int engine = 0; engine < 3; engine++) {
		struct sets *x = &f[engine];
		*x = (struct sets){ .ev = ev, .n = n, .block = calloc(n + 1, 1) };
		struct serial_opts so = { .found = keep_cycle, .ctx = x,
			                  .serial_limit = engine == 2 ? 200 : 0 };
		enum serial_end end;
		if (engine == 1) {
			struct graph *g = graph_new(&so);
			end = graph_feed(g, ev, n);
			graph_free(g);
		} else {
			struct serial *s = serial_new(&so);
			end = serial_feed(s, ev, n);
			serial_free(s);
		}
		check_kept(x);
		CHECK_EQ(x->bad, 0);
		if (engine == 2 && end == SERIAL_LIMIT)
			continue;
		CHECK_EQ(end, SERIAL_OK);
		CHECK(!memcmp(x->block, f[0].block, n));
	}
	int whole = judge_whole(ev, n); /* impossible traces it leaves alone */
	CHECK(whole == -1 || whole == (f[0].count > 0));
	*blocks += f[0].count;
	for (int engine = 0; engine < 3; engine++)
		free(f[engine].block);
}

static void test_wild(void)
{
	uint64_t seed = number("INTACT_SEED", 8), blocks = 0;
	uint64_t rounds = number("INTACT_TRACES", 6000) / 20;
	struct rng r;
	struct event *ev = malloc(20000 * sizeof *ev);
	rng_seed(&r, seed);
	for (uint64_t i = 0; i < rounds; i++) {
		size_t n = 1 + rng_below(&r, 200);
		wild(&r, ev, n, 1 + rng_below(&r, 6), 1 + rng_below(&r, 8),
		     1 + rng_below(&r, 4), 1 + rng_below(&r, 8));
		both_agree(ev, n, &blocks);
	}
	printf("# seed %" PRIu64 ": %" PRIu64 " wild traces, %" PRIu64 " violating blocks\n",
	       seed, rounds, blocks);
	CHECK(blocks > rounds);
	free(ev);
}

static void test_large(void)
{
	uint64_t seed = number("INTACT_SEED", 8), blocks = 0;
	struct rng r;
	struct event *ev = malloc(20000 * sizeof *ev);
	rng_seed(&r, seed + 1);
	for (int i = 0; i < 3; i++) {
		/* many threads: more open blocks than one row of the clocks holds */
		wild(&r, ev, 20000, i == 0 ? 4 : 40, i == 2 ? 2000 : 100, 10, 20);
		both_agree(ev, i == 1 ? 5000 : 20000, &blocks);
	}
	printf("# seed %" PRIu64 ": %" PRIu64 " violating blocks in large traces\n", seed + 1, blocks);
	CHECK(blocks > 100);
	free(ev);
}

/*
 * Memory follows threads, variables and open blocks, not the length: short
 * blocks of seven threads, all after an eighth one that stays open; every
 * tenth block is broken; threads come and go.
 */
static size_t memory_after(uint64_t events, uint64_t *found)
{
	struct serial_opts so = { 0 };
	struct serial *s = serial_new(&so);
	struct serial_stats st;
	struct rng r;
	struct event e;
	uint64_t made = 0;
	rng_seed(&r, 3);
#define DO(t, k, x)                                                            \
	do {                                                                   \
		e = (struct event){ .index = ++made, .thread = (t), .target = (x), \
			            .loc = 1, .kind = (k) };                   \
		CHECK_EQ(serial_feed(s, &e, 1), SERIAL_OK);                    \
	} while (0)
	DO(0, EVENT_BEGIN, 0);
	DO(0, EVENT_WRITE, 0);
	while (made < events) {
		uint32_t t = 1 + rng_below(&r, 7), x = 1 + rng_below(&r, 50);
		DO(t, EVENT_READ, 0);
		DO(t, EVENT_BEGIN, 0);
		DO(t, EVENT_ACQ, x);
		DO(t, EVENT_READ, x);
		if (rng_below(&r, 10) == 0)
			DO(t % 7 + 1, EVENT_WRITE, x);
		DO(t, EVENT_WRITE, x);
		DO(t, EVENT_REL, x);
		DO(t, EVENT_END, 0);
	}
#undef DO
	serial_stats(s, &st);
	*found = st.live;
	serial_free(s);
	return st.bytes;
}

static void test_memory_is_flat(void)
{
	uint64_t few, many;
	size_t a = memory_after(80000, &few), b = memory_after(800000, &many);
	printf("# %zu bytes after 80,000 events, %zu after 800,000; at most %" PRIu64
	       " and %" PRIu64 " clock entries\n", a, b, few, many);
	CHECK_EQ(b, a);
	CHECK(many <= few + 8);
}

/* ---- many blocks open at once ---- */

static void count_one(void *ctx, const struct cycle *c)
{
	(void)c;
	++*(uint64_t *)ctx;
}

static void add_event(struct event *ev, size_t *n, uint32_t thread, enum event_kind kind, uint32_t target)
{
	ev[*n] = (struct event){ .index = *n + 1, .thread = thread, .kind = (uint8_t)kind,
		                 .target = target, .loc = LOC_NONE };
	++*n;
}

/* A chain of open blocks, linked from its beginning, its end or in any order,
 * then closed: the clocks stay within their pairs, and both engines agree. */
static void test_open_blocks(void)
{
	enum { K = 300 };
	static struct event ev[8 * K];
	struct rng r;
	rng_seed(&r, number("INTACT_SEED", 8) + 2);
	for (int shape = 0; shape < 3; shape++) {
		uint32_t order[K];
		uint64_t clock = 0, graph = 0;
		size_t n = 0;
		for (uint32_t i = 0; i < K; i++) {
			add_event(ev, &n, i, EVENT_BEGIN, 0);
			order[i] = shape == 1 ? K - 1 - i : i;
		}
		for (uint32_t i = K; shape == 2 && i-- > 1;) {
			uint32_t k = rng_below(&r, i + 1), was = order[i];
			order[i] = order[k];
			order[k] = was;
		}
		for (uint32_t i = 0; i < K; i++) {
			if (!order[i])
				continue;
			add_event(ev, &n, order[i] - 1, EVENT_WRITE, order[i]);
			add_event(ev, &n, order[i], EVENT_READ, order[i]);
		}
		add_event(ev, &n, K - 1, EVENT_WRITE, 0);
		for (uint32_t i = 0; i < K / 2; i++)
			add_event(ev, &n, i, EVENT_READ, 0);
		struct serial_opts o = { .found = count_one, .ctx = &clock };
		struct serial *s = serial_new(&o);
		CHECK_EQ(serial_feed(s, ev, n), SERIAL_OK);
		serial_free(s);
		o.ctx = &graph;
		struct graph *g = graph_new(&o);
		CHECK_EQ(graph_feed(g, ev, n), SERIAL_OK);
		graph_free(g);
		CHECK_EQ(clock, graph);
		CHECK_EQ(clock, K / 2);
		o = (struct serial_opts){ .pairs = K * K / 4 };
		s = serial_new(&o);
		CHECK_EQ(serial_feed(s, ev, n), SERIAL_PAIRS);
		serial_free(s);
	}
}

int main(void)
{
	RUN(test_memory_is_flat);
	RUN(test_against_the_judge);
	RUN(test_wild);
	RUN(test_large);
	RUN(test_open_blocks);
	printf("# the judge of whole traces: %" PRIu64 " serializable, %" PRIu64 " not, %" PRIu64 " left alone\n", judged[0], judged[1], judged[2]);
	return check_done();
}
