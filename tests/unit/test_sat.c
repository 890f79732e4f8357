/*
 * sat: the solver against trying all assignments on small random clauses, a
 * family without a model that takes thousands of conflicts (so that learnt
 * clauses are swept), models of larger instances, clauses added after an
 * answer, and limits.
 */
#include "check.h"

#include "base/rng.h"
#include "causal/sat.h"

enum { MAXC = 1024 };

struct formula {
	uint32_t nvars, nclauses, size[MAXC], lit[MAXC][4];
};

static void random_formula(struct rng *r, uint32_t nvars, uint32_t nclauses, struct formula *f)
{
	f->nvars = nvars;
	f->nclauses = nclauses;
	for (uint32_t i = 0; i < nclauses; i++) {
		f->size[i] = rng_below(r, 20) ? 3 : 1 + rng_below(r, 4);
		for (uint32_t k = 0; k < f->size[i]; k++)
			f->lit[i][k] = rng_below(r, 2 * nvars);
	}
}

static bool holds(const struct formula *f, uint32_t clauses, uint64_t model)
{
	for (uint32_t i = 0; i < clauses; i++) {
		bool some = false;
		for (uint32_t k = 0; k < f->size[i]; k++)
			some |= (model >> (f->lit[i][k] / 2) & 1) != (f->lit[i][k] & 1);
		if (!some)
			return false;
	}
	return true;
}

static bool brute(const struct formula *f, uint32_t clauses)
{
	for (uint64_t m = 0; m < UINT64_C(1) << f->nvars; m++)
		if (holds(f, clauses, m))
			return true;
	return false;
}

static uint64_t model_of(const struct sat *s, uint32_t n)
{
	uint64_t m = 0;
	for (uint32_t v = 0; v < n; v++)
		m |= (uint64_t)sat_value(s, v) << v;
	return m;
}

static void test_random(void)
{
	static struct formula f;
	uint32_t yes = 0, no = 0;
	for (uint64_t seed = 1; seed <= 600; seed++) {
		struct rng r;
		rng_seed(&r, seed);
		uint32_t n = 4 + rng_below(&r, 9);
		random_formula(&r, n, n * (3 + rng_below(&r, 3)), &f);
		struct sat *s = sat_new(0, 0);
		for (uint32_t v = 0; v < n; v++)
			CHECK_EQ(sat_var(s, rng_below(&r, 2)), v);
		uint32_t half = rng_below(&r, f.nclauses);
		for (uint32_t i = 0; i < f.nclauses; i++) {
			uint32_t lits[4];
			if (i == half) { /* asked in between, too */
				int rc = sat_solve(s);
				CHECK_EQ(rc, brute(&f, half));
				CHECK(rc != 1 || holds(&f, half, model_of(s, n)));
			}
			memcpy(lits, f.lit[i], sizeof lits);
			CHECK(sat_add(s, lits, f.size[i]));
		}
		int rc = sat_solve(s);
		CHECK_EQ(rc, brute(&f, f.nclauses));
		CHECK(rc != 1 || holds(&f, f.nclauses, model_of(s, n)));
		yes += rc == 1;
		no += rc == 0;
		CHECK_EQ(sat_solve(s), rc);
		sat_free(s);
		if (check_failed) {
			printf("# seed %" PRIu64 "\n", seed);
			break;
		}
	}
	CHECK(yes > 100 && no > 100);
}

/* n + 1 pigeons in n holes. */
static struct sat *pigeons(uint32_t n, uint64_t bytes, double deadline)
{
	struct sat *s = sat_new(bytes, deadline);
	uint32_t lits[16];
	for (uint32_t v = 0; v < (n + 1) * n; v++)
		if (sat_var(s, false) == UINT32_MAX)
			return s;
	for (uint32_t i = 0; i <= n; i++) {
		for (uint32_t h = 0; h < n; h++)
			lits[h] = sat_pos(i * n + h);
		sat_add(s, lits, n);
	}
	for (uint32_t h = 0; h < n; h++)
		for (uint32_t i = 0; i <= n; i++)
			for (uint32_t k = 0; k < i; k++) {
				uint32_t two[2] = { sat_neg(i * n + h), sat_neg(k * n + h) };
				sat_add(s, two, 2);
			}
	return s;
}

static void test_pigeons(void)
{
	for (uint32_t n = 2; n <= 8; n++) {
		struct sat *s = pigeons(n, 0, 0);
		CHECK_EQ(sat_solve(s), 0);
		CHECK(n < 8 || sat_conflicts(s) > 4000); /* enough to sweep */
		sat_free(s);
	}
}

static void test_larger(void)
{
	static struct formula f;
	uint32_t yes = 0;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct rng r;
		rng_seed(&r, seed);
		random_formula(&r, 60, 228, &f);
		struct sat *s = sat_new(0, 0);
		for (uint32_t v = 0; v < 60; v++)
			sat_var(s, false);
		for (uint32_t i = 0; i < f.nclauses; i++) {
			uint32_t lits[4];
			memcpy(lits, f.lit[i], sizeof lits);
			sat_add(s, lits, f.size[i]);
		}
		int rc = sat_solve(s);
		CHECK(rc == 0 || rc == 1);
		CHECK(rc != 1 || holds(&f, f.nclauses, model_of(s, 60)));
		yes += rc == 1;
		sat_free(s);
	}
	CHECK(yes > 5);
}

static void test_limits(void)
{
	struct sat *s = pigeons(10, 0, 1e-9);
	CHECK_EQ(sat_solve(s), -1);
	CHECK_STR(sat_limit(s), "time");
	sat_free(s);
	s = pigeons(10, 1 << 18, 0);
	CHECK_EQ(sat_solve(s), -1);
	CHECK_STR(sat_limit(s), "memory");
	CHECK(sat_bytes(s) <= 1 << 18);
	sat_free(s);
}

int main(void)
{
	RUN(test_random);
	RUN(test_pigeons);
	RUN(test_larger);
	RUN(test_limits);
	return check_done();
}
