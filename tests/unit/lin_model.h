/*
 * lin_model: random histories of every object: calls at random, carried out on
 * a plain model at random moments of theirs, some answers then made wrong, and
 * `crashes` in 256 of the operations never answering.
 */
#ifndef INTACT_TESTS_LIN_MODEL_H
#define INTACT_TESTS_LIN_MODEL_H

#include "lin_gen.h"

/* The operations of a relaxed object: what puts in; what takes, which is followed by what looks. */
static inline uint32_t relaxed_puts(enum object o)
{
	return o == OBJ_RELAXED_QUEUE ? FN_ENQ : o == OBJ_RELAXED_STACK ? FN_PUSH : FN_INSERT;
}
static inline uint32_t relaxed_takes(enum object o)
{
	return o == OBJ_RELAXED_QUEUE   ? FN_RELAXED_QUEUE_FIRST
	       : o == OBJ_RELAXED_STACK ? FN_RELAXED_STACK_FIRST
	                                : FN_RELAXED_PQUEUE_FIRST;
}
static inline bool is_relaxed(enum object o)
{
	return o == OBJ_RELAXED_QUEUE || o == OBJ_RELAXED_STACK || o == OBJ_RELAXED_PQUEUE;
}

/* A random call; its answer comes when it takes effect. */
static inline void random_call(struct gen *g, struct rng *r, struct hop *op, int *next)
{
	int small = (int)rng_below(r, 3);
	bool distinct = *next >= 0;
	switch (g->p.obj) {
	case OBJ_REGISTER:
	case OBJ_CAS_REGISTER:
		op->fn = (uint8_t)(rng_below(r, 2) ? FN_READ : g->p.obj == OBJ_CAS_REGISTER && rng_below(r, 2)
		                                             ? FN_CAS : FN_WRITE);
		op->a = num(g, small);
		if (op->fn == FN_CAS)
			op->b = num(g, (int)rng_below(r, 3));
		break;
	case OBJ_COUNTER:
		op->fn = rng_below(r, 2) ? FN_READ : FN_ADD;
		op->a = num(g, small - 1);
		break;
	case OBJ_MUTEX:
		op->fn = rng_below(r, 2) ? FN_ACQUIRE : FN_RELEASE;
		break;
	case OBJ_SEMAPHORE: {
		static const uint8_t fn[] = { FN_ACQUIRE, FN_RELEASE, FN_SEMAPHORE_FIRST, FN_READ };
		op->fn = fn[rng_below(r, 4)];
		break;
	}
	case OBJ_DEQUE: /* push-front, push-back, pop-front, pop-back */
		op->fn = (uint8_t)(FN_DEQUE_FIRST + rng_below(r, 4));
		op->a = op->fn < FN_DEQUE_FIRST + 2 ? num(g, small) : VAL_NONE;
		break;
	case OBJ_BOUNDED_QUEUE:
		op->fn = (uint8_t)(rng_below(r, 9) == 0 ? FN_PEEK : rng_below(r, 2) ? FN_DEQ : FN_BOUNDED_QUEUE_FIRST);
		op->a = op->fn == FN_BOUNDED_QUEUE_FIRST ? num(g, small) : VAL_NONE;
		break;
	case OBJ_RELAXED_QUEUE:
	case OBJ_RELAXED_STACK:
	case OBJ_RELAXED_PQUEUE: {
		uint32_t roll = rng_below(r, 9), takes = relaxed_takes(g->p.obj);
		op->fn = (uint8_t)(roll == 0 ? takes + 1 : roll < 5 ? takes : relaxed_puts(g->p.obj));
		op->a = roll < 5 ? VAL_NONE : num(g, distinct ? ++*next : small);
		break;
	}
	case OBJ_SET:
		op->fn = (uint8_t)(rng_below(r, 4) == 0 ? FN_READ : rng_below(r, 3) == 0 ? FN_CONTAINS
		                   : rng_below(r, 2) ? FN_ADD : FN_REMOVE);
		op->a = num(g, small);
		if (distinct) { /* one element */
			op->fn = (uint8_t)(rng_below(r, 3) == 0 ? FN_CONTAINS : rng_below(r, 2) ? FN_ADD : FN_REMOVE);
			op->a = num(g, 1);
		}
		break;
	case OBJ_QUEUE:
	case OBJ_STACK:
	case OBJ_PQUEUE: {
		static const uint8_t in[] = { FN_ENQ, FN_PUSH, FN_INSERT }, out[] = { FN_DEQ, FN_POP, FN_POLL };
		int k = g->p.obj == OBJ_QUEUE ? 0 : g->p.obj == OBJ_STACK ? 1 : 2;
		uint32_t roll = rng_below(r, 16);
		op->fn = roll < 8 ? in[k] : roll < 15 || distinct ? out[k] : (uint8_t)FN_PEEK;
		op->a = distinct ? num(g, (int)rng_below(r, 2) ? ++*next : 1000 - ++*next) : num(g, small);
		break;
	}
	case OBJ_KV: {
		static const char *const text[] = { "", "a", "b", "ab" };
		const char *s = text[rng_below(r, 4)];
		op->fn = (uint8_t)(rng_below(r, 2) ? FN_READ : rng_below(r, 2) ? FN_APPEND : FN_WRITE);
		op->a = val_text(&g->vals, VK_STR, s, strlen(s));
		break;
	}
	default:
		op->fn = rng_below(r, 2) ? FN_READ : FN_APPEND;
		op->a = num(g, small);
	}
}

struct model { /* a plain array with its own rules: not the specs under test */
	int64_t v[GEN_MAX * 2];
	int n;
	int bound;       /* room, or k */
	uint32_t choice; /* of a relaxed object: which of the k */
	char text[GEN_MAX * 4];
};

static inline val list_of(struct gen *g, const struct model *m, enum value_kind kind)
{
	val e[GEN_MAX * 2];
	for (int i = 0; i < m->n; i++)
		e[i] = num(g, (int)m->v[i]);
	return val_list(&g->vals, kind, e, (uint32_t)m->n);
}

static inline int find(const struct model *m, int64_t x)
{
	for (int i = 0; i < m->n; i++)
		if (m->v[i] == x)
			return i;
	return -1;
}

static inline void drop(struct model *m, int at)
{
	memmove(m->v + at, m->v + at + 1, (size_t)(m->n - at - 1) * sizeof *m->v);
	m->n--;
}

/* Which element is taken, when `skip` of those that are next are passed over. */
static inline int relaxed_place(const struct model *m, enum object o, int skip)
{
	bool gone[GEN_MAX * 2] = { false };
	int at = 0;
	for (int k = 0; k <= skip; k++) {
		at = -1;
		for (int i = 0; i < m->n; i++)
			if (!gone[i] && (at < 0 || o == OBJ_RELAXED_STACK || (o == OBJ_RELAXED_PQUEUE && m->v[i] < m->v[at])))
				at = i;
		gone[at] = true;
	}
	return at;
}

/* Carries out op on the model; false: it would have to wait (mutex). */
static inline bool effect(struct gen *g, struct model *m, struct hop *op)
{
	int64_t x = 0, y = 0;
	if (op->a != VAL_NONE)
		val_get_int(&g->vals, op->a, &x);
	if (is_relaxed(g->p.obj) && op->fn >= FN_COUNT) {
		int most = m->n < m->bound ? m->n : m->bound, at = m->n ? relaxed_place(m, g->p.obj, (int)m->choice % most) : 0;
		op->b = m->n ? num(g, (int)m->v[at]) : VAL_NIL;
		if (m->n && op->fn == relaxed_takes(g->p.obj))
			drop(m, at);
		return true;
	}
	switch (op->fn) {
	case FN_BOUNDED_QUEUE_FIRST:
		op->res = m->n < m->bound ? RES_TRUE : RES_FALSE;
		if (op->res == RES_TRUE)
			m->v[m->n++] = x;
		break;
	case FN_READ:
		if (g->p.obj == OBJ_SET || g->p.obj == OBJ_LIST)
			op->b = list_of(g, m, g->p.obj == OBJ_SET ? VK_SET : VK_LIST);
		else if (g->p.obj == OBJ_KV)
			op->b = val_text(&g->vals, VK_STR, m->text, strlen(m->text));
		else
			op->b = num(g, (int)m->v[0]);
		break;
	case FN_WRITE:
		m->v[0] = x;
		if (g->p.obj == OBJ_KV)
			strcpy(m->text, g->vals.tab.data[op->a].text);
		break;
	case FN_CAS:
		val_get_int(&g->vals, op->b, &y);
		op->res = m->v[0] == x ? RES_TRUE : RES_FALSE;
		if (m->v[0] == x)
			m->v[0] = y;
		break;
	case FN_ADD:
		if (g->p.obj == OBJ_COUNTER) {
			m->v[0] += x;
			break;
		}
		op->res = find(m, x) < 0 ? RES_TRUE : RES_FALSE;
		if (op->res == RES_TRUE)
			m->v[m->n++] = x;
		break;
	case FN_REMOVE:
		op->res = find(m, x) >= 0 ? RES_TRUE : RES_FALSE;
		if (op->res == RES_TRUE)
			drop(m, find(m, x));
		break;
	case FN_CONTAINS:
		op->res = find(m, x) >= 0 ? RES_TRUE : RES_FALSE;
		break;
	case FN_ACQUIRE:
	case FN_RELEASE:
		if (g->p.obj == OBJ_SEMAPHORE) {
			if (op->fn == FN_ACQUIRE && m->v[0] == 0)
				return false;
			m->v[0] += op->fn == FN_ACQUIRE ? -1 : 1;
			break;
		}
		if (m->v[0] == (op->fn == FN_ACQUIRE))
			return false;
		m->v[0] = op->fn == FN_ACQUIRE;
		break;
	case FN_APPEND:
		if (g->p.obj == OBJ_KV)
			strcat(m->text, g->vals.tab.data[op->a].text);
		else
			m->v[m->n++] = x;
		break;
	case FN_ENQ: case FN_PUSH: case FN_INSERT:
		m->v[m->n++] = x;
		break;
	case FN_SEMAPHORE_FIRST:
		op->b = val_bool(m->v[0] > 0);
		m->v[0] -= m->v[0] > 0;
		break;
	case FN_DEQUE_FIRST:
		memmove(m->v + 1, m->v, (size_t)m->n++ * sizeof *m->v);
		m->v[0] = x;
		break;
	case FN_DEQUE_FIRST + 1:
		m->v[m->n++] = x;
		break;
	case FN_DEQUE_FIRST + 2:
	case FN_DEQUE_FIRST + 3: {
		int at = op->fn == FN_DEQUE_FIRST + 2 ? 0 : m->n - 1;
		op->b = m->n ? num(g, (int)m->v[at]) : VAL_NIL;
		if (m->n)
			drop(m, at);
		break;
	}
	default: { /* removals and peek */
		int at = g->p.obj == OBJ_STACK ? m->n - 1 : 0;
		for (int i = 0; i < m->n && g->p.obj == OBJ_PQUEUE; i++)
			at = m->v[i] < m->v[at] ? i : at;
		op->b = m->n ? num(g, (int)m->v[at]) : VAL_NIL;
		if (m->n && op->fn != FN_PEEK)
			drop(m, at);
	}
	}
	return true;
}

static inline void spoil(struct gen *g, struct rng *r, struct hop *op, int next)
{
	int x = (int)rng_below(r, 4);
	if (op->res != RES_NONE)
		op->res = op->res == RES_TRUE ? RES_FALSE : RES_TRUE;
	else if (is_relaxed(g->p.obj) && op->fn >= FN_COUNT)
		op->b = x == 0 ? VAL_NIL : num(g, next > 0 ? (int)rng_below(r, (uint32_t)next + 2) : x);
	else if (op->fn == FN_READ && (g->p.obj == OBJ_REGISTER || g->p.obj == OBJ_CAS_REGISTER ||
	                               g->p.obj == OBJ_COUNTER || g->p.obj == OBJ_SEMAPHORE))
		op->b = num(g, x);
	else if (op->fn == FN_READ && g->p.obj == OBJ_KV)
		op->b = val_text(&g->vals, VK_STR, &"aab"[x % 3], (size_t)(3 - x % 3));
	else if (op->fn == FN_READ) {
		val e[4] = { num(g, x), num(g, 0), num(g, 1), num(g, 2) };
		op->b = val_list(&g->vals, g->p.obj == OBJ_SET ? VK_SET : VK_LIST, e, rng_below(r, 4));
	} else if (op->fn == FN_SEMAPHORE_FIRST)
		op->b = val_bool(op->b == VAL_FALSE);
	else if (op->fn == FN_DEQUE_FIRST + 2 || op->fn == FN_DEQUE_FIRST + 3 || op->fn == FN_DEQ || op->fn == FN_POP || op->fn == FN_POLL || op->fn == FN_PEEK)
		op->b = x == 0 ? VAL_NIL : num(g, next > 0 ? (int)rng_below(r, (uint32_t)next + 2) : x);
}

/* Random times; operations take effect at random moments; some answers are
 * then made wrong, and some operations never answer. */
static inline void random_history(struct gen *g, struct rng *r, uint32_t n, bool distinct, uint32_t crashes)
{
	struct model m = { 0 };
	bool done[GEN_MAX] = { false };
	int next = distinct ? 0 : -1;
	g->p.init = object_default_init(g->p.obj, &g->vals);
	if (g->p.obj == OBJ_REGISTER || g->p.obj == OBJ_CAS_REGISTER)
		g->p.init = num(g, 0);
	if (g->p.obj == OBJ_KV)
		g->p.init = val_text(&g->vals, VK_STR, "", 0);
	if (g->p.obj == OBJ_SEMAPHORE) {
		m.v[0] = rng_below(r, 3);
		g->p.init = num(g, (int)m.v[0]);
	}
	if (g->p.obj == OBJ_BOUNDED_QUEUE || is_relaxed(g->p.obj)) {
		m.bound = 1 + (int)rng_below(r, 3);
		g->p.init = num(g, m.bound);
	}
	gen_times(g, r, n, 2 + rng_below(r, 4) + (crashes > 24 ? 6 : 0), crashes);
	for (uint32_t i = 0; i < g->p.n; i++)
		random_call(g, r, &g->ops[i], &next);
	for (uint32_t t = 0; t < g->p.nevents; t++)
		for (uint32_t i = 0; i < g->p.n; i++) {
			struct hop *op = &g->ops[i];
			if (op->call > t || op->ret < t || done[i] || (op->ret != t && rng_below(r, 3)))
				continue;
			m.choice = rng_below(r, 60);
			effect(g, &m, op);
			done[i] = true;
		}
	uint32_t k = 0, wrong = rng_below(r, 2) ? 0 : 30;
	for (uint32_t i = 0; i < g->p.n; i++) {
		struct hop op = g->ops[i];
		if (op.ret == RANK_INF) {
			op.res = RES_NONE;
			if (op.fn == FN_READ || op.fn == FN_PEEK || op.fn == FN_CONTAINS ||
			    (is_relaxed(g->p.obj) && op.fn == relaxed_takes(g->p.obj) + 1))
				continue;
			if (op.fn == FN_DEQ || op.fn == FN_POP || op.fn == FN_POLL || op.fn >= FN_COUNT)
				op.b = VAL_NONE;
		} else if (rng_below(r, 256) < wrong) {
			spoil(g, r, &op, next);
		}
		g->ops[k++] = op;
	}
	g->p.n = k;
}

#endif
