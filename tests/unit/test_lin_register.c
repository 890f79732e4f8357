/*
 * Registers: every algorithm against every other one and the permutation
 * brute force, exhaustively on small histories and at random on larger ones.
 * INTACT_SOAK=1 runs the whole campaigns.
 */
#include "lin_gen.h"

#include "check.h"

typedef enum lin_verdict (*engine)(const struct problem *, struct result *);

static uint64_t count, count_bad, disagreements;

static void compare(struct gen *g, const engine *engines, int n, enum lin_verdict want)
{
	for (int i = 0; i < n; i++) {
		struct result r;
		enum lin_verdict v = engines[i](&g->p, &r);
		bool ok = (v == want || v == LIN_REFUSED) && gen_verify(&g->p, &r);
		if (!ok && disagreements++ < 3) {
			gen_dump(g);
			printf("# %s says %d, expected %d\n", algorithm_names[r.algorithm], v, want);
		}
		result_free(&r);
	}
}

/* ---- exhaustive, one writer -------------------------------------------------- */

struct enumerate {
	struct gen g;
	uint32_t max_ops, readers;
	uint32_t open[8], nopen, nwrites_open, nreads_open;
	bool slow; /* clmt too */
	uint64_t part, parts; /* every parts-th history, from this one on */
};

static void visit(struct enumerate *e)
{
	static const engine fast[] = { lin_soar, lin_greedy, lin_backward, lin_search, lin_zones };
	static const engine all[] = { lin_soar, lin_greedy, lin_backward, lin_search, lin_zones, lin_clmt };
	struct result r;
	if (count++ % e->parts != e->part)
		return;
	enum lin_verdict want = lin_brute(&e->g.p, &r);
	result_free(&r);
	count_bad += want == LIN_VIOLATED;
	compare(&e->g, e->slow ? all : fast, e->slow ? 6 : 5, want);
}

/*
 * One history for all that differ in nothing an engine may look at:
 *   - the order of neighbouring invocations, or of neighbouring responses:
 *     which operations precede which is the same;
 *   - which reader a read belongs to: reads that overlap need different ones,
 *     so at most three are open at once, and no verdict depends on more;
 *   - values 1 and 2 exchanged (0 is the initial one).
 */
/* Runs of invocations (kinds ascending) and of responses (operations
 * ascending) in turn: one word for every interval order. Kinds: write v is
 * v, read v is 3 + v. Value 2 appears only after value 1: the two are alike. */
static void extend(struct enumerate *e, int last_kind, int last_op, int values)
{
	struct problem *p = &e->g.p;
	if (!e->nopen && p->n)
		visit(e);
	if (p->n < e->max_ops)
		for (int kind = last_kind < 0 ? 0 : last_kind; kind < 6; kind++) {
			int v = kind % 3;
			bool write = kind < 3;
			if (v > values || (write ? e->nwrites_open : e->nreads_open >= e->readers))
				continue;
			e->g.ops[p->n] = (struct hop){ .fn = write ? FN_WRITE : FN_READ, .call = p->nevents,
				                       .a = num(&e->g, v), .b = num(&e->g, v) };
			e->open[e->nopen++] = p->n++;
			p->nevents++;
			*(write ? &e->nwrites_open : &e->nreads_open) += 1;
			extend(e, kind, -1, v == values && v < 2 && v > 0 ? v + 1 : values);
			*(write ? &e->nwrites_open : &e->nreads_open) -= 1;
			p->nevents--;
			p->n--;
			e->nopen--;
		}
	for (uint32_t i = 0; i < e->nopen; i++) {
		uint32_t op = e->open[i];
		if ((int)op < last_op)
			continue;
		bool write = e->g.ops[op].fn == FN_WRITE;
		uint32_t saved[8];
		memcpy(saved, e->open, sizeof saved);
		memmove(e->open + i, e->open + i + 1, (e->nopen - i - 1) * sizeof *e->open);
		e->nopen--;
		*(write ? &e->nwrites_open : &e->nreads_open) -= 1;
		e->g.ops[op].ret = p->nevents++;
		extend(e, -1, (int)op, values);
		p->nevents--;
		*(write ? &e->nwrites_open : &e->nreads_open) += 1;
		e->nopen++;
		memcpy(e->open, saved, sizeof saved);
	}
}

static void exhaustive(uint32_t ops, bool slow)
{
	struct enumerate e = { .max_ops = ops, .readers = 3, .slow = slow, .parts = 1 };
	const char *part = getenv("INTACT_SOAK_PART"); /* k/n */
	if (part && strchr(part, '/')) {
		e.part = strtoull(part, NULL, 10);
		e.parts = strtoull(strchr(part, '/') + 1, NULL, 10);
		e.parts = e.parts ? e.parts : 1;
	}
	gen_open(&e.g);
	e.g.p.obj = OBJ_REGISTER;
	e.g.p.init = num(&e.g, 0);
	count = count_bad = disagreements = 0;
	extend(&e, -1, -1, 1);
	printf("# %u operations: %llu histories (one in %llu of them judged), %llu not atomic, %llu disagreements\n", ops,
	       (unsigned long long)count, (unsigned long long)e.parts, (unsigned long long)count_bad,
	       (unsigned long long)disagreements);
	CHECK(count > 1000 && count_bad > 100);
	CHECK_EQ(disagreements, 0);
	gen_close(&e.g);
}

static void test_exhaustive_single_writer(void)
{
#ifdef __SANITIZE_ADDRESS__ /* ten times slower there */
	exhaustive(4, true);
#else
	exhaustive(5, true);
#endif
	if (getenv("INTACT_SOAK"))
		exhaustive(getenv("INTACT_SOAK_OPS") ? (uint32_t)atoi(getenv("INTACT_SOAK_OPS")) : 7, true);
}

/* ---- random ------------------------------------------------------------------- */

/* Reads return what a register that took effect at random moments held, and
 * in `wrong` of 256 something else. */
static void fill_register(struct gen *g, struct rng *r, uint32_t writers, bool distinct, uint32_t wrong)
{
	uint32_t nvalues = 2 + rng_below(r, 3);
	int next = 0;
	val held = g->p.init;
	val seen[GEN_MAX];
	for (uint32_t i = 0; i < g->p.n; i++) {
		struct hop *op = &g->ops[i];
		bool write = op->proc < writers && rng_below(r, 3);
		if (writers == 1)
			write = op->proc == 0;
		op->fn = write ? FN_WRITE : FN_READ;
		op->a = write ? distinct ? num(g, ++next) : num(g, (int)rng_below(r, nvalues)) : VAL_NONE;
		seen[i] = VAL_NONE;
	}
	for (uint32_t t = 0; t < g->p.nevents; t++) {
		/* at every event some open operations take effect, all that return do */
		for (uint32_t i = 0; i < g->p.n; i++) {
			struct hop *op = &g->ops[i];
			if (op->call > t || op->ret < t || seen[i] != VAL_NONE)
				continue;
			if (op->ret != t && rng_below(r, 4))
				continue;
			if (op->fn == FN_WRITE)
				held = op->a;
			seen[i] = held;
		}
	}
	uint32_t m = 0;
	for (uint32_t i = 0; i < g->p.n; i++) {
		struct hop op = g->ops[i];
		if (op.fn == FN_READ) {
			if (op.ret == RANK_INF)
				continue; /* a read without answer says nothing */
			op.b = rng_below(r, 256) < wrong
			               ? num(g, (int)rng_below(r, distinct ? (uint32_t)next + 2 : nvalues + 1))
			               : seen[i];
		}
		g->ops[m++] = op;
	}
	g->p.n = m;
}

/* The culprit's response is the first moment at which it is certain. */
static bool culprit_right(struct gen *g, const struct result *r)
{
	if (r->culprit == RANK_INF)
		return false;
	uint32_t t = g->ops[r->culprit].ret;
	static struct gen before;
	struct result q;
	gen_prefix(g, t, &before);
	enum lin_verdict v = lin_brute(&before.p, &q);
	result_free(&q);
	if (v == LIN_REFUSED) {
		v = lin_search(&before.p, &q);
		result_free(&q);
	}
	struct gen *upto = &before;
	gen_prefix(g, t + 1, upto);
	enum lin_verdict u = lin_search(&upto->p, &q);
	result_free(&q);
	return v == LIN_HOLDS && u == LIN_VIOLATED;
}

static void random_campaign(uint32_t writers, bool distinct, uint32_t rounds, uint32_t max_n, uint64_t seed)
{
	static const engine single[] = { lin_soar, lin_greedy, lin_backward, lin_zones };
	static const engine many[] = { lin_zones, lin_greedy };
	struct rng rng;
	rng_seed(&rng, seed);
	struct gen g;
	gen_open(&g);
	g.p.obj = OBJ_REGISTER;
	count = count_bad = disagreements = 0;
	uint64_t wrong_culprit = 0;
	for (uint32_t k = 0; k < rounds; k++) {
		uint32_t n = 3 + rng_below(&rng, max_n - 2), procs = 2 + rng_below(&rng, 4);
		g.p.init = num(&g, 0);
		gen_times(&g, &rng, n, procs, rng_below(&rng, 3) ? 0 : 20);
		fill_register(&g, &rng, writers == 1 ? 1 : 1 + rng_below(&rng, procs), distinct,
		              rng_below(&rng, 2) ? 0 : 30);
		struct result r;
		enum lin_verdict want = lin_search(&g.p, &r);
		bool fine = gen_verify(&g.p, &r) && (want == LIN_HOLDS || culprit_right(&g, &r));
		if (g.p.n <= 9) {
			struct result b;
			fine &= lin_brute(&g.p, &b) == want;
			result_free(&b);
		}
		result_free(&r);
		if (!fine && disagreements++ < 3) {
			gen_dump(&g);
			printf("# search says %d\n", want);
		}
		count++;
		count_bad += want == LIN_VIOLATED;
		compare(&g, writers == 1 ? single : many, writers == 1 ? 4 : 2, want);
		/* the moment */
		for (int e = 0; e < 2 && want == LIN_VIOLATED; e++) {
			enum lin_verdict v = e ? lin_zones(&g.p, &r) : lin_greedy(&g.p, &r);
			if (v == LIN_VIOLATED && !culprit_right(&g, &r) && wrong_culprit++ < 3) {
				gen_dump(&g);
				printf("# %s blames %u\n", algorithm_names[r.algorithm], r.culprit);
			}
			result_free(&r);
		}
	}
	printf("# seed %llu: %llu histories, %llu not atomic\n", (unsigned long long)seed,
	       (unsigned long long)count, (unsigned long long)count_bad);
	CHECK(count_bad > rounds / 20 && count_bad < rounds - rounds / 20);
	CHECK_EQ(disagreements, 0);
	CHECK_EQ(wrong_culprit, 0);
	gen_close(&g);
}

static uint32_t rounds(uint32_t small)
{
	return getenv("INTACT_SOAK") ? 1000000 : small;
}

static void test_random_single_writer(void)
{
	random_campaign(1, false, rounds(3000), 24, 101);
	random_campaign(1, true, rounds(3000), 24, 102);
}

static void test_random_many_writers(void)
{
	random_campaign(4, true, rounds(4000), 20, 103);
	random_campaign(4, false, rounds(2000), 14, 104);
}

/* ---- planted violations --------------------------------------------------------- */

/*
 * A long history that is atomic, and one read of it made to return what was
 * overwritten before it began. The read alone is wrong, and nothing is until
 * it returns: it must be the one that is blamed.
 */
#define PLANTED_MAX 3000

struct planted {
	struct gen g; /* values, limits */
	struct hop ops[PLANTED_MAX];
	val saw[PLANTED_MAX];
	struct problem p;
};

static void plant_history(struct planted *s, struct rng *r, uint32_t n, uint32_t writers, bool distinct)
{
	uint32_t open[8], procs = 8, started = 0, rank = 0, nopen = 0;
	val held = num(&s->g, 0);
	int next = 0;
	for (uint32_t q = 0; q < procs; q++)
		open[q] = RANK_INF;
	while (started < n || nopen) {
		uint32_t q = rng_below(r, procs);
		if (open[q] == RANK_INF && started < n) {
			struct hop *op = &s->ops[started];
			*op = (struct hop){ .call = rank++, .ret = RANK_INF, .proc = q, .a = VAL_NONE, .b = VAL_NONE };
			op->fn = q < writers ? FN_WRITE : FN_READ;
			if (op->fn == FN_WRITE)
				op->a = distinct ? num(&s->g, ++next) : num(&s->g, (int)rng_below(r, 2));
			s->saw[started] = VAL_NONE;
			open[q] = started++;
			nopen++;
		} else if (open[q] != RANK_INF) {
			struct hop *op = &s->ops[open[q]];
			if (s->saw[open[q]] == VAL_NONE) { /* it takes effect */
				held = op->fn == FN_WRITE ? op->a : held;
				s->saw[open[q]] = held;
			} else {
				op->b = op->fn == FN_READ ? s->saw[open[q]] : VAL_NONE;
				op->ret = rank++;
				open[q] = RANK_INF;
				nopen--;
			}
		}
	}
	s->p = s->g.p;
	s->p.ops = s->ops;
	s->p.n = n;
	s->p.nevents = rank;
	s->p.obj = OBJ_REGISTER;
	s->p.k = 1;
	s->p.init = num(&s->g, 0);
}

/* A value that the read cannot have returned: with distinct values, one whose
 * write another write followed before the read; with a bit, the other one
 * when no write overlaps the read. VAL_NONE: none. */
static val impossible(const struct planted *s, struct rng *r, uint32_t read, bool distinct)
{
	const struct hop *rd = &s->ops[read], *last = NULL;
	uint32_t seen = 0;
	val v = VAL_NONE;
	for (uint32_t i = 0; i < s->p.n; i++) { /* the write that began last of those that ended */
		const struct hop *w = &s->ops[i];
		if (w->fn == FN_WRITE && w->ret < rd->call && (!last || w->call > last->call))
			last = w;
		if (!distinct && w->fn == FN_WRITE && w->call < rd->ret && w->ret > rd->call)
			return VAL_NONE;
	}
	if (!last)
		return VAL_NONE;
	if (!distinct)
		return rd->b == val_int((struct values *)(uintptr_t)&s->g.vals, 0)
		               ? val_int((struct values *)(uintptr_t)&s->g.vals, 1)
		               : val_int((struct values *)(uintptr_t)&s->g.vals, 0);
	for (uint32_t i = 0; i < s->p.n; i++)
		if (s->ops[i].fn == FN_WRITE && s->ops[i].ret < last->call && rng_below(r, ++seen) == 0)
			v = s->ops[i].a;
	return v;
}

static void plant(uint32_t writers, bool distinct, uint32_t count_wanted, uint64_t seed)
{
	static struct planted s;
	struct rng r;
	uint32_t done = 0, wrong = 0, refused = 0;
	rng_seed(&r, seed);
	while (done < count_wanted) {
		struct result res;
		gen_open(&s.g);
		plant_history(&s, &r, 30 + rng_below(&r, rng_below(&r, 8) ? 300 : PLANTED_MAX - 30), writers, distinct);
		uint32_t read = rng_below(&r, s.p.n);
		val v = s.ops[read].fn == FN_READ ? impossible(&s, &r, read, distinct) : VAL_NONE;
		if (v != VAL_NONE) {
			CHECK_EQ(lin_atomic(&s.p, ALG_AUTO, &res), LIN_HOLDS);
			result_free(&res);
			s.ops[read].b = v;
			done++;
			wrong += lin_atomic(&s.p, ALG_AUTO, &res) != LIN_VIOLATED || res.culprit != read;
			refused += !gen_verify(&s.p, &res);
			result_free(&res);
		}
		gen_close(&s.g);
	}
	printf("# seed %llu: %u planted, %u others blamed, %u proofs refused\n", (unsigned long long)seed, done, wrong,
	       refused);
	CHECK_EQ(wrong, 0);
	CHECK_EQ(refused, 0);
}

static void test_planted(void)
{
	plant(1, true, 400, 201);
	plant(1, false, 300, 202);
	plant(4, true, 300, 203);
}

/* With an argument: the exhaustive part alone, or all but it. */
int main(int argc, char **argv)
{
	bool all = argc < 2, alone = argc > 1 && !strcmp(argv[1], "exhaustive");
	if (all || alone)
		RUN(test_exhaustive_single_writer);
	if (alone)
		return check_done();
	RUN(test_planted);
	RUN(test_random_single_writer);
	RUN(test_random_many_writers);
	return check_done();
}
