/* promela_ex: see promela_ex.h. */
#include "report/promela_ex.h"
#include "base/grow.h"
#include "base/invariant.h"

#define PROMELA_MAX_DEPTH 400u
#define MAX_EX            (1u << 20)

uint32_t ex_add(struct paths *x, struct ex e)
{
	if (x->nex >= MAX_EX || !GROW(x->ex, x->cap_ex, x->nex + 1ull)) {
		paths_fail(x, "the step is too large", IR_NONE);
		return 0;
	}
	if (e.depth > PROMELA_MAX_DEPTH)
		paths_fail(x, "the step computes an expression that is too long", IR_NONE);
	x->ex[x->nex] = e;
	assert(x->nex < MAX_EX);
	return x->nex++;
}

uint32_t ex_const(struct paths *x, int64_t v)
{
	assert(v >= INT32_MIN && v <= INT32_MAX);
	return ex_add(x, (struct ex){ .kind = EX_CONST, .a = (int32_t)v, .lo = v, .hi = v });
}

bool ex_is_const(const struct paths *x, uint32_t e)
{
	assert(e < x->nex);
	return x->ex[e].kind == EX_CONST;
}

uint16_t ex_deeper(const struct paths *x, uint32_t a, uint32_t b)
{
	assert(a < x->nex && b < x->nex);
	uint16_t d = x->ex[a].depth > x->ex[b].depth ? x->ex[a].depth : x->ex[b].depth;
	return (uint16_t)(d + 1);
}

/* -1: not decided by the intervals */
static int decided(enum ir_op op, const struct ex *a, const struct ex *b)
{
	switch (op) {
	case IR_EQ:
		return a->hi < b->lo || a->lo > b->hi ? 0 : a->lo == a->hi && b->lo == b->hi ? 1 : -1;
	case IR_NE:
		return a->hi < b->lo || a->lo > b->hi ? 1 : a->lo == a->hi && b->lo == b->hi ? 0 : -1;
	case IR_LT:
		return a->hi < b->lo ? 1 : a->lo >= b->hi ? 0 : -1;
	case IR_LE:
		return a->hi <= b->lo ? 1 : a->lo > b->hi ? 0 : -1;
	case IR_GT:
		return a->lo > b->hi ? 1 : a->hi <= b->lo ? 0 : -1;
	case IR_GE:
		return a->lo >= b->hi ? 1 : a->hi < b->lo ? 0 : -1;
	default:
		return -1;
	}
}

static void min_max(int64_t v, int64_t *lo, int64_t *hi)
{
	*lo = v < *lo ? v : *lo;
	*hi = v > *hi ? v : *hi;
	assert(*lo <= v && v <= *hi);
}

void ex_interval(enum ir_op op, const struct ex *a, const struct ex *b, int64_t *lo, int64_t *hi)
{
	*lo = INT32_MIN;
	*hi = INT32_MAX;
	switch (op) {
	case IR_ADD:
		*lo = a->lo + b->lo;
		*hi = a->hi + b->hi;
		break;
	case IR_SUB:
		*lo = a->lo - b->hi;
		*hi = a->hi - b->lo;
		break;
	case IR_MUL:
		*lo = *hi = a->lo * b->lo;
		min_max(a->lo * b->hi, lo, hi);
		min_max(a->hi * b->lo, lo, hi);
		min_max(a->hi * b->hi, lo, hi);
		break;
	case IR_DIV:
		if (a->lo == INT32_MIN && b->lo <= -1 && b->hi >= -1)
			*hi = (int64_t)INT32_MAX + 1;
		else if (a->lo >= 0 && b->lo >= 0)
			*lo = 0, *hi = a->hi;
		break;
	case IR_MOD:
		if (b->lo > 0) {
			*lo = a->lo >= 0 ? 0 : -(b->hi - 1);
			*hi = b->hi - 1;
		}
		break;
	case IR_SHL:
		if (b->lo < 0 || b->hi > 31) {
			*lo = (int64_t)INT32_MIN * 2;
			*hi = (int64_t)INT32_MAX * 2;
			break;
		}
		*lo = a->lo * (1LL << (a->lo < 0 ? b->hi : b->lo));
		*hi = a->hi * (1LL << (a->hi < 0 ? b->lo : b->hi));
		break;
	case IR_AND:
	case IR_OR:
	case IR_XOR:
		if (a->lo >= 0 && a->hi <= 1 && b->lo >= 0 && b->hi <= 1)
			*lo = 0, *hi = 1;
		break;
	case IR_EQ ... IR_GE:
		*lo = 0, *hi = 1;
		break;
	default:
		break;
	}
}

int64_t ex_fold(enum ir_op op, int64_t a, int64_t b)
{
	switch (op) {
	case IR_ADD:
		return a + b;
	case IR_SUB:
		return a - b;
	case IR_MUL:
		return a * b;
	case IR_DIV:
		return b ? a / b : 0;
	case IR_MOD:
		return b ? a % b : 0;
	case IR_SHL:
		return b >= 0 && b < 32 ? a * (1LL << b) : 0;
	case IR_SHR:
		return b >= 0 && b < 32 ? a >> b : 0;
	case IR_AND:
		return a & b;
	case IR_OR:
		return a | b;
	default:
		return a ^ b;
	}
}

uint32_t ex_binary(struct paths *x, enum ir_op op, uint32_t a, uint32_t b)
{
	assert(a < x->nex && b < x->nex);
	int known = decided(op, &x->ex[a], &x->ex[b]);
	if (known >= 0)
		return ex_const(x, known);
	if (ex_is_const(x, a) && ex_is_const(x, b)) {
		int64_t v = ex_fold(op, x->ex[a].a, x->ex[b].a);
		if (v >= INT32_MIN && v <= INT32_MAX)
			return ex_const(x, v);
	}
	struct ex e = { .kind = EX_BINARY, .op = (uint8_t)op, .a = (int32_t)a, .b = (int32_t)b, .depth = ex_deeper(x, a, b) };
	ex_interval(op, &x->ex[a], &x->ex[b], &e.lo, &e.hi);
	return ex_add(x, e);
}

uint32_t ex_unary(struct paths *x, enum ir_op op, uint32_t a)
{
	assert(a < x->nex);
	const struct ex *v = &x->ex[a];
	struct ex e = { .kind = EX_UNARY, .op = (uint8_t)op, .a = (int32_t)a, .lo = 0, .hi = 1, .depth = ex_deeper(x, a, a) };
	if (op == IR_NEG) {
		e.lo = -v->hi;
		e.hi = -v->lo;
	} else if (op == IR_BITNOT) {
		e.lo = -1 - v->hi;
		e.hi = -1 - v->lo;
	} else {
		bool never0 = v->lo > 0 || v->hi < 0;
		if (op == IR_BOOL && v->lo == 0 && v->hi == 1)
			return a;
		if (never0 || (v->lo == 0 && v->hi == 0))
			return ex_const(x, never0 == (op == IR_BOOL));
	}
	if (e.lo == e.hi && e.lo >= INT32_MIN && e.lo <= INT32_MAX)
		return ex_const(x, e.lo);
	return ex_add(x, e);
}

uint32_t ex_ite(struct paths *x, uint32_t c, uint32_t yes, uint32_t no)
{
	assert(c < x->nex && yes < x->nex && no < x->nex);
	if (ex_is_const(x, c))
		return x->ex[c].a ? yes : no;
	if (yes == no)
		return yes;
	uint16_t d = ex_deeper(x, yes, no), dc = ex_deeper(x, c, c);
	struct ex e = { .kind = EX_ITE,
		        .a = (int32_t)c,
		        .b = (int32_t)yes,
		        .c = (int32_t)no,
		        .lo = x->ex[yes].lo,
		        .hi = x->ex[yes].hi,
		        .depth = d > dc ? d : dc };
	min_max(x->ex[no].lo, &e.lo, &e.hi);
	min_max(x->ex[no].hi, &e.lo, &e.hi);
	return ex_add(x, e);
}

/* a && b and a || b on values 0 and 1 */
static uint32_t both(struct paths *x, uint32_t a, uint32_t b)
{
	return ex_ite(x, a, b, ex_const(x, 0));
}

static uint32_t either(struct paths *x, uint32_t a, uint32_t b)
{
	return ex_ite(x, a, ex_const(x, 1), b);
}

uint32_t ex_fits(struct paths *x, enum ir_op op, uint32_t a, uint32_t b)
{
	uint32_t zero = ex_const(x, 0), min = ex_const(x, INT32_MIN), max = ex_const(x, INT32_MAX);
	uint32_t minus1 = ex_const(x, -1);
	uint32_t bpos = ex_binary(x, IR_GT, b, zero);
	switch (op) {
	case IR_ADD:
		return ex_ite(x, bpos, ex_binary(x, IR_LE, a, ex_binary(x, IR_SUB, max, b)),
		              ex_binary(x, IR_GE, a, ex_binary(x, IR_SUB, min, b)));
	case IR_SUB:
		return ex_ite(x, bpos, ex_binary(x, IR_GE, a, ex_binary(x, IR_ADD, min, b)),
		              ex_binary(x, IR_LE, a, ex_binary(x, IR_ADD, max, b)));
	case IR_MUL: {
		uint32_t up = ex_binary(x, IR_DIV, max, b), down = ex_binary(x, IR_DIV, min, b);
		uint32_t pos = both(x, ex_binary(x, IR_LE, a, up), ex_binary(x, IR_GE, a, down));
		uint32_t neg = both(x, ex_binary(x, IR_LE, a, down), ex_binary(x, IR_GE, a, up));
		uint32_t m1 = ex_ite(x, ex_binary(x, IR_EQ, b, minus1), ex_binary(x, IR_GT, a, min), neg);
		return either(x, ex_binary(x, IR_EQ, b, zero), ex_ite(x, bpos, pos, m1));
	}
	case IR_DIV:
		return either(x, ex_binary(x, IR_NE, a, min), ex_binary(x, IR_NE, b, minus1));
	default: /* IR_SHL */
		return both(x, ex_binary(x, IR_LE, a, ex_binary(x, IR_SHR, max, b)),
		            ex_binary(x, IR_GE, a, ex_binary(x, IR_SHR, min, b)));
	}
}
