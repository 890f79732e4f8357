/*
 * The moment: with which response a violation became certain. Histories whose
 * prefixes are harder than the whole, judged by trying every prefix in the
 * plainest way, and what is said when prefixes stay undecided.
 */
#include "lin_gen.h"

#include "check.h"

#define EMPTY (-1)
#define TRIES 4000000

struct line { /* value: put in or taken out; of a set operation: did it change something? */
	uint32_t call, ret;
	int fn, value;
};

static const struct line queue[] = {
	{ 0, 11, FN_DEQ, EMPTY }, { 1, 4, FN_ENQ, 1 }, { 2, 18, FN_ENQ, 2 }, { 3, 13, FN_ENQ, 1 },
	{ 5, 6, FN_ENQ, 1 }, { 7, 8, FN_DEQ, 1 }, { 9, 10, FN_ENQ, 2 }, { 12, 20, FN_ENQ, 0 },
	{ 14, 15, FN_ENQ, 1 }, { 16, 31, FN_ENQ, 1 }, { 17, 21, FN_ENQ, 1 }, { 19, 28, FN_ENQ, 2 },
	{ 22, 25, FN_ENQ, 1 }, { 23, 26, FN_ENQ, 0 }, { 24, 30, FN_ENQ, 2 }, { 27, 29, FN_ENQ, 2 },
	{ 32, 33, FN_PEEK, 2 }, { 34, 36, FN_ENQ, 2 }, { 35, 40, FN_ENQ, 2 }, { 37, 44, FN_DEQ, EMPTY },
	{ 38, 43, FN_PEEK, 1 }, { 39, 42, FN_ENQ, 1 }, { 41, 46, FN_PEEK, 2 }, { 45, 47, FN_DEQ, 1 },
	{ 48, 50, FN_PEEK, 2 }, { 49, 51, FN_PEEK, 2 },
};

static const struct line stack_a[] = {
	{ 0, 18, FN_PUSH, 999 }, { 1, 3, FN_PUSH, 2 }, { 2, 12, FN_PUSH, 3 }, { 4, 6, FN_PUSH, 4 },
	{ 5, 7, FN_PUSH, 995 }, { 8, 9, FN_PUSH, 6 }, { 10, 15, FN_POP, 6 }, { 11, 17, FN_PUSH, 8 },
	{ 13, 19, FN_PUSH, 991 }, { 14, 20, FN_PUSH, 990 }, { 16, 31, FN_POP, 991 }, { 21, 24, FN_PUSH, 12 },
	{ 22, 26, FN_POP, 12 }, { 23, 25, FN_PUSH, 14 }, { 27, 29, FN_POP, 990 }, { 28, 30, FN_POP, 3 },
};

static const struct line stack_b[] = {
	{ 0, 8, FN_PUSH, 1 }, { 1, 3, FN_PUSH, 2 }, { 2, 5, FN_PUSH, 997 }, { 4, 14, FN_PUSH, 996 },
	{ 6, 13, FN_PUSH, 5 }, { 7, 9, FN_PUSH, 994 }, { 10, 12, FN_PUSH, 7 }, { 11, 17, FN_PUSH, 992 },
	{ 15, 22, FN_PUSH, 9 }, { 16, 20, FN_POP, 9 }, { 18, 21, FN_PUSH, 11 }, { 19, 31, FN_PUSH, 12 },
	{ 23, 30, FN_POP, 0 }, { 24, 27, FN_POP, 12 }, { 25, 26, FN_POP, 992 }, { 28, 29, FN_PUSH, 984 },
};

/* Nothing is wrong before 2 has answered: it might have put the element in. */
static const struct line set[] = {
	{ 0, 2, FN_ADD, false }, { 1, 3, FN_ADD, false }, { 4, 5, FN_CONTAINS, true },
};

/* 2 might have taken what 1 did not find. */
static const struct line emptied[] = {
	{ 0, 1, FN_ENQ, 1 }, { 2, 4, FN_DEQ, EMPTY }, { 3, 5, FN_DEQ, EMPTY }, { 6, 7, FN_ENQ, 2 },
};

static void load(struct gen *g, enum object obj, const struct line *l, uint32_t n)
{
	gen_open(g);
	g->p.obj = obj;
	g->p.init = object_default_init(obj, &g->vals);
	g->p.n = n;
	g->p.nevents = 2 * n;
	for (uint32_t i = 0; i < n; i++) {
		struct hop *o = &g->ops[i];
		val v = l[i].value == EMPTY ? VAL_NIL : num(g, l[i].value);
		bool in = l[i].fn == FN_ENQ || l[i].fn == FN_PUSH;
		*o = (struct hop){ .call = l[i].call, .ret = l[i].ret, .fn = (uint8_t)l[i].fn, .a = in ? v : VAL_NONE,
			           .b = in ? VAL_NONE : v };
		if (obj == OBJ_SET) {
			o->a = num(g, 1);
			o->b = VAL_NONE;
			o->res = l[i].value ? RES_TRUE : RES_FALSE;
		}
	}
}

/* Trying every order of every prefix, with a response at its end: the first
 * that has none. */
static uint32_t first_wrong(const struct problem *p)
{
	uint32_t first = RANK_INF;
	struct why why;
	for (uint32_t i = 0; i < p->n; i++) {
		enum verify_answer a = verify_violation(p, PROOF_EXHAUSTED, NULL, 0, i, TRIES, &why);
		CHECK(a != VERIFY_UNDECIDED);
		if (a == VERIFY_ACCEPTED && (first == RANK_INF || p->ops[i].ret < p->ops[first].ret))
			first = i;
	}
	return first;
}

typedef enum lin_verdict (*engine)(const struct problem *, struct result *);

static enum lin_verdict by_dfs(const struct problem *p, struct result *r)
{
	return lin_dfs(p, r, 0);
}

/* `engine` says the first moment, or, if it may be open, no earlier one. */
static void blames(const struct problem *p, engine e, uint32_t culprit, bool may_be_open)
{
	struct result r;
	CHECK_EQ(e(p, &r), LIN_VIOLATED);
	CHECK(may_be_open || !r.moment_open);
	CHECK(gen_verify(p, &r));
	if (r.moment_open)
		CHECK(p->ops[r.culprit].ret >= p->ops[culprit].ret);
	else
		CHECK_EQ(r.culprit, culprit);
	result_free(&r);
}

static void moment(enum object obj, const struct line *l, uint32_t n, uint32_t culprit, engine direct)
{
	struct gen g;
	load(&g, obj, l, n);
	CHECK_EQ(first_wrong(&g.p), culprit);
	blames(&g.p, lin_search, culprit, false);
	blames(&g.p, lin_bfs, culprit, false);
	blames(&g.p, by_dfs, culprit, true);
	if (direct)
		blames(&g.p, direct, culprit, true);
	gen_close(&g);
}

#define COUNT(a) (sizeof(a) / sizeof *(a))

static void test_hard_prefixes(void)
{
	moment(OBJ_QUEUE, queue, COUNT(queue), 19, NULL);
	moment(OBJ_STACK, stack_a, COUNT(stack_a), 15, lin_stack);
	moment(OBJ_STACK, stack_b, COUNT(stack_b), 12, lin_stack);
}

/* What has not answered might have answered otherwise. */
static void test_answers_to_come(void)
{
	moment(OBJ_SET, set, COUNT(set), 1, lin_set);
	moment(OBJ_QUEUE, emptied, COUNT(emptied), 2, lin_queue);
	moment(OBJ_QUEUE, emptied, COUNT(emptied), 2, lin_queue_pairs);
}

/* ---- undecided prefixes ------------------------------------------------------------- */

static uint32_t asked, undecided; /* the first so many */

static enum lin_verdict sometimes(const struct problem *p, struct result *r, uint64_t max_steps)
{
	result_init(r, ALG_SEARCH, p->lim);
	return r->verdict = asked++ < undecided ? LIN_UNKNOWN : lin_dfs(p, r, max_steps);
}

/* The response named is the first of all, or one with which it is certain. */
static void test_undecided(void)
{
	uint32_t open = 0;
	struct gen g;
	load(&g, OBJ_STACK, stack_b, COUNT(stack_b));
	for (undecided = 0; undecided < 8; undecided++) {
		struct result r;
		CHECK_EQ(lin_dfs(&g.p, &r, 0), LIN_VIOLATED);
		r.culprit = 1; /* the first response */
		asked = 0;
		lin_first_moment(&g.p, &r, lin_certain_by(&g.p, RANK_INF), sometimes);
		CHECK(g.ops[r.culprit].ret >= g.ops[12].ret);
		CHECK(r.moment_open || r.culprit == 12);
		CHECK(asked < 16);
		open += r.moment_open;
		result_free(&r);
	}
	CHECK(open > 0 && open < 8);
	gen_close(&g);
}

int main(void)
{
	RUN(test_hard_prefixes);
	RUN(test_answers_to_come);
	RUN(test_undecided);
	return check_done();
}
