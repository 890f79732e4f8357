#include "check/assertion.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "lin/lin.h"

void assertion_open(struct assertion *a, bool clmt, int32_t init)
{
	memset(a, 0, sizeof *a);
	a->clmt = clmt;
	arena_init(&a->arena, 0);
	values_init(&a->vals, &a->arena);
	a->init = val_int(&a->vals, init);
}

void assertion_close(struct assertion *a)
{
	free(a->hops);
	values_free(&a->vals);
	arena_free(&a->arena);
}

static bool room(struct assertion *a, uint32_t n)
{
	if (n <= a->cap)
		return true;
	free(a->hops);
	a->cap = n * 2;
	a->hops = malloc(a->cap * sizeof *a->hops);
	a->cap = a->hops ? a->cap : 0;
	assert(!a->hops || n <= a->cap);
	return a->hops != NULL;
}

/* A read that is still open has returned nothing and is left out; an open
 * write may have taken effect: its response is at infinity, as in line 041 of
 * the paper's Fig. 4. */
bool assertion_judge(void *arg, const struct monitor_op *ops, uint32_t n, uint32_t nevents)
{
	assert(nevents <= 2 * n);
	struct assertion *a = arg;
	struct result r;
	uint32_t m = 0;
	if (!room(a, n)) {
		a->refused = true;
		return true;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (!ops[i].is_write && ops[i].open)
			continue;
		val v = val_int(&a->vals, ops[i].value);
		a->hops[m++] = (struct hop){ .call = ops[i].call,
			                     .ret = ops[i].open ? RANK_INF : ops[i].ret,
			                     .proc = ops[i].client,
			                     .fn = ops[i].is_write ? FN_WRITE : FN_READ,
			                     .a = ops[i].is_write ? v : VAL_NONE,
			                     .b = ops[i].is_write ? VAL_NONE : v };
	}
	struct problem p = { .ops = a->hops,
		             .n = m,
		             .nevents = nevents,
		             .obj = OBJ_REGISTER,
		             .init = a->init,
		             .k = 1,
		             .vals = &a->vals,
		             .lim = &a->lim };
	enum lin_verdict v = a->clmt ? lin_clmt(&p, &r) : lin_soar(&p, &r);
	result_free(&r);
	a->refused |= v == LIN_REFUSED || v == LIN_UNKNOWN;
	return v != LIN_VIOLATED;
}
