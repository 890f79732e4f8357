/*
 * Registers: every algorithm against every other one and the permutation
 * brute force, exhaustively on small histories and at random on larger ones.
 * INTACT_SOAK=1 runs the whole campaigns.
 */
#include "lin_enum.h"

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

/* ---- exhaustive ----------------------------------------------------------------- */

static void visit_one_writer(struct enumerate *e)
{
	static const engine all[] = { lin_soar, lin_greedy, lin_backward, lin_search, lin_zones, lin_clmt };
	struct result r;
	enum lin_verdict want = lin_brute(&e->g.p, &r);
	result_free(&r);
	count_bad += want == LIN_VIOLATED;
	compare(&e->g, all, 6, want);
}

/* Zones judges distinct values, greedy where writes do not overlap. */
static void visit_many_writers(struct enumerate *e)
{
	static const engine all[] = { lin_zones, lin_search, lin_bfs, lin_greedy };
	struct result r;
	enum lin_verdict want = lin_brute(&e->g.p, &r);
	result_free(&r);
	count_bad += want == LIN_VIOLATED;
	if (e->distinct) { /* none is refused */
		enum lin_verdict v = lin_zones(&e->g.p, &r);
		disagreements += v == LIN_REFUSED;
		result_free(&r);
	}
	compare(&e->g, all, 4, want);
}

static void exhaustive(struct enumerate *e, const char *what)
{
	count_bad = disagreements = 0;
	enum_run(e);
	uint64_t judged = e->count / e->parts + (e->count % e->parts > e->part);
	printf("# %s, up to %u operations, part %llu of %llu: %llu of %llu histories judged, %llu not atomic, "
	       "%llu disagreements\n", what, e->max_ops, (unsigned long long)e->part, (unsigned long long)e->parts,
	       (unsigned long long)judged, (unsigned long long)e->count, (unsigned long long)count_bad,
	       (unsigned long long)disagreements);
	CHECK(e->count > 1000 && count_bad > 100 / e->parts && count_bad < judged);
	CHECK_EQ(disagreements, 0);
}

static uint32_t exhaustive_ops(uint32_t sample, uint32_t whole)
{
	const char *ops = getenv("INTACT_SOAK_OPS");
#ifdef __SANITIZE_ADDRESS__ /* ten times slower there */
	sample--;
#endif
	whole = ops ? (uint32_t)atoi(ops) : whole;
	return !getenv("INTACT_SOAK") ? sample : whole > 8 ? 8 : whole; /* enumerate.open has room for 8 */
}

static void test_exhaustive_single_writer(void)
{
	exhaustive(&(struct enumerate){ .max_ops = exhaustive_ops(5, 7), .readers = 3, .writers = 1,
	                                .visit = visit_one_writer }, "one writer, three values, three readers");
}

static void test_exhaustive_many_writers(void)
{
	exhaustive(&(struct enumerate){ .max_ops = exhaustive_ops(5, 7), .readers = 8, .writers = 8, .distinct = true,
	                                .visit = visit_many_writers }, "any number of writers, distinct values");
	exhaustive(&(struct enumerate){ .max_ops = exhaustive_ops(5, 7), .readers = 8, .writers = 8,
	                                .visit = visit_many_writers }, "any number of writers, three values");
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

/* Random histories of `least` to `most` operations: the fast algorithms, the
 * general search, and every permutation where there are at most `brute`. */
struct campaign {
	const char *what;
	uint32_t writers, least, most, brute;
	bool distinct;
	uint64_t seed;
};

static void blames_right(struct gen *g, uint64_t *wrong)
{
	for (int e = 0; e < 2; e++) {
		struct result r;
		enum lin_verdict v = e ? lin_zones(&g->p, &r) : lin_greedy(&g->p, &r);
		if (v == LIN_VIOLATED && !culprit_right(g, &r) && (*wrong)++ < 3) {
			gen_dump(g);
			printf("# %s blames %u\n", algorithm_names[r.algorithm], r.culprit);
		}
		result_free(&r);
	}
}

static void random_campaign(const struct campaign *c, uint32_t rounds)
{
	static const engine single[] = { lin_soar, lin_greedy, lin_backward, lin_zones };
	static const engine many[] = { lin_zones, lin_greedy };
	struct rng rng;
	struct gen g;
	uint64_t wrong_culprit = 0, brute = 0;
	rng_seed(&rng, soak_seed(c->seed));
	gen_open(&g);
	g.p.obj = OBJ_REGISTER;
	count = count_bad = disagreements = 0;
	while (count < rounds) {
		uint32_t n = c->least + rng_below(&rng, c->most - c->least + 1), procs = 2 + rng_below(&rng, 4);
		g.p.init = num(&g, 0);
		gen_times(&g, &rng, n, procs, rng_below(&rng, 3) ? 0 : 20);
		fill_register(&g, &rng, c->writers == 1 ? 1 : 1 + rng_below(&rng, procs), c->distinct,
		              rng_below(&rng, 2) ? 0 : 30);
		struct result r;
		enum lin_verdict want = lin_search(&g.p, &r);
		bool fine = gen_verify(&g.p, &r) && (want == LIN_HOLDS || culprit_right(&g, &r));
		if (g.p.n <= c->brute) {
			struct result b;
			fine &= lin_brute(&g.p, &b) == want;
			result_free(&b);
			brute++;
		}
		result_free(&r);
		if (!fine && disagreements++ < 3) {
			gen_dump(&g);
			printf("# search says %d\n", want);
		}
		count++;
		count_bad += want == LIN_VIOLATED;
		compare(&g, c->writers == 1 ? single : many, c->writers == 1 ? 4 : 2, want);
		if (want == LIN_VIOLATED)
			blames_right(&g, &wrong_culprit);
	}
	printf("# %s, seed %llu: %llu histories of %u to %u operations (%llu by brute force too), %llu not atomic, "
	       "%llu disagreements, %llu others blamed\n", c->what, (unsigned long long)soak_seed(c->seed),
	       (unsigned long long)count, c->least, c->most, (unsigned long long)brute, (unsigned long long)count_bad,
	       (unsigned long long)disagreements, (unsigned long long)wrong_culprit);
	CHECK(count_bad > rounds / 20 && count_bad < rounds - rounds / 20);
	CHECK(brute > rounds / 5);
	CHECK_EQ(disagreements, 0);
	CHECK_EQ(wrong_culprit, 0);
	gen_close(&g);
}

static void test_random_single_writer(void)
{
	random_campaign(&(struct campaign){ "one writer, repeated values", 1, 3, 24, 12, false, 101 },
	                soak_rounds(2000, 1000000));
	random_campaign(&(struct campaign){ "one writer, distinct values", 1, 3, 24, 12, true, 102 },
	                soak_rounds(2000, 1000000));
	random_campaign(&(struct campaign){ "one writer, repeated values", 1, 8, 12, 12, false, 105 },
	                soak_rounds(1000, 1000000));
	random_campaign(&(struct campaign){ "one writer, distinct values", 1, 8, 12, 12, true, 106 },
	                soak_rounds(1000, 1000000));
}

static void test_random_many_writers(void)
{
	random_campaign(&(struct campaign){ "many writers, distinct values", 4, 3, 20, 12, true, 103 },
	                soak_rounds(2000, 1000000));
	random_campaign(&(struct campaign){ "many writers, repeated values", 4, 3, 14, 12, false, 104 },
	                soak_rounds(2000, 1000000));
	random_campaign(&(struct campaign){ "many writers, distinct values", 4, 8, 12, 12, true, 107 },
	                soak_rounds(1000, 1000000));
	random_campaign(&(struct campaign){ "many writers, repeated values", 4, 8, 12, 12, false, 108 },
	                soak_rounds(1000, 1000000));
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

/* With an argument: one part alone, or all but the exhaustive ones ("random"). */
int main(int argc, char **argv)
{
	const char *only = argc > 1 ? argv[1] : "";
	if (!*only || !strcmp(only, "exhaustive"))
		RUN(test_exhaustive_single_writer);
	if (!*only || !strcmp(only, "exhaustive-many"))
		RUN(test_exhaustive_many_writers);
	if (!strncmp(only, "exhaustive", 10))
		return check_done();
	RUN(test_planted);
	RUN(test_random_single_writer);
	RUN(test_random_many_writers);
	return check_done();
}
