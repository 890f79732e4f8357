/*
 * txn_replay: see txn_replay.h. A transaction reads everything when it begins, from the state that the ends before left and its own writes, and
 * its writes take effect when it ends. Lists are kept whole. Cost: linear in the micro-operations and the elements read.
 */
#include "verify/txn_replay.h"

#include <string.h>

#include "base/invariant.h"

struct txn_replay {
	const struct txn_history *th;
	struct isolation level;
	val init;
	struct arena *a;
	val *reg;         /* by key: the register, VAL_NIL at first */
	AVEC(val) * list; /* by key */
	uint32_t *own;    /* by key: transaction + 1 whose own writes these are */
	val *own_reg;
	uint32_t *own_n;       /* appends of its own so far */
	size_t *written;       /* by key: event + 1 of the last end that wrote it */
	size_t *begins, *ends; /* by transaction: event + 1 */
};

/* What t appended to the key so far is at the end of `list`, in order. */
static bool own_suffix(const struct txn_replay *r, const struct txn *x, uint32_t op, uint32_t key, const val *list, uint32_t n)
{
	assert(op <= x->nops);
	uint32_t at = n;
	for (uint32_t i = op; i-- > 0;) {
		const struct mop *m = &r->th->ops[x->first + i];
		if (m->kind == MOP_APPEND && m->key == key && (!at || list[--at] != m->v))
			return false;
	}
	assert(at <= n);
	return true;
}

static bool reads_right(const struct txn_replay *r, const struct txn *x, uint32_t op, uint32_t t)
{
	const struct mop *m = &r->th->ops[x->first + op];
	assert(op < x->nops && m->kind == MOP_READ);
	bool own = r->own[m->key] == t + 1;
	uint32_t n, mine = own ? r->own_n[m->key] : 0;
	const val *list = val_elems(&r->th->h->vals, m->v, &n);
	if (mine || r->list[m->key].len || list) { /* a list */
		uint32_t before = r->list[m->key].len;
		return n == before + mine && (!before || !memcmp(list, r->list[m->key].data, before * sizeof *list)) &&
		       own_suffix(r, x, op, m->key, list, n);
	}
	val now = own ? r->own_reg[m->key] : r->reg[m->key];
	return m->v == now || (now == VAL_NIL && m->v == r->init);
}

/* The micro-operations at the beginning: reads are compared, writes are the transaction's own. */
static const char *begin(struct txn_replay *r, uint32_t t)
{
	const struct txn *x = &r->th->txns[t];
	assert(t < r->th->n && x->first + x->nops <= r->th->nops);
	for (uint32_t i = 0; i < x->nops; i++) {
		const struct mop *m = &r->th->ops[x->first + i];
		if (m->kind == MOP_READ && m->v != VAL_NONE && !reads_right(r, x, i, t))
			return "a read does not see what the order gives it";
		if (m->kind == MOP_READ)
			continue;
		if (r->own[m->key] != t + 1) {
			r->own[m->key] = t + 1;
			r->own_n[m->key] = 0;
		}
		r->own_reg[m->key] = m->v;
		r->own_n[m->key] += m->kind == MOP_APPEND;
	}
	for (uint32_t i = 0; i < x->nops; i++)
		r->own[r->th->ops[x->first + i].key] = 0;
	return NULL;
}

static const char *end(struct txn_replay *r, uint32_t t, size_t at)
{
	const struct txn *x = &r->th->txns[t];
	assert(t < r->th->n && r->begins[t] && r->begins[t] <= at + 1);
	for (uint32_t i = 0; i < x->nops; i++) {
		const struct mop *m = &r->th->ops[x->first + i];
		if (m->kind == MOP_READ)
			continue;
		if (r->level.level == LEVEL_SI && r->written[m->key] > r->begins[t] && r->written[m->key] != at + 1)
			return "two transactions that write a key overlap";
		r->written[m->key] = at + 1;
		if (m->kind == MOP_WRITE)
			r->reg[m->key] = m->v;
		else
			avec_push(r->a, &r->list[m->key], m->v);
	}
	return NULL;
}

/* Does what must come before come before? */
static const char *orders_right(const struct txn_replay *r)
{
	const struct txn_history *th = r->th;
	size_t *last = arena_array(r->a, size_t, th->nsessions + 1);
	for (uint32_t t = 0; t < th->n && r->level.order == ORDER_SESSION; t++) { /* in the order of their calls */
		const struct txn *x = &th->txns[t];
		if (r->begins[t] && r->begins[t] < last[x->session])
			return "a transaction begins before the one before it in its session ended";
		if (r->ends[t] && x->status == TXN_COMMITTED)
			last[x->session] = r->ends[t];
	}
	if (r->level.order != ORDER_REALTIME)
		return NULL;
	/* by rank of the answer: the latest end among those that had answered */
	uint32_t top = 0;
	for (uint32_t t = 0; t < th->n; t++) {
		top = th->txns[t].call > top ? th->txns[t].call : top;
		top = th->txns[t].ret != RANK_INF && th->txns[t].ret > top ? th->txns[t].ret : top;
	}
	size_t *latest = arena_array(r->a, size_t, (size_t)top + 2);
	for (uint32_t t = 0; t < th->n; t++)
		if (th->txns[t].ret != RANK_INF && r->ends[t] > latest[th->txns[t].ret + 1])
			latest[th->txns[t].ret + 1] = r->ends[t];
	for (uint32_t i = 1; i <= top + 1; i++)
		latest[i] = latest[i] > latest[i - 1] ? latest[i] : latest[i - 1];
	for (uint32_t t = 0; t < th->n; t++)
		if (r->begins[t] && latest[th->txns[t].call] > r->begins[t])
			return "a transaction begins before one ends that had answered before it was called";
	return NULL;
}

const char *txn_replay(const struct txn_history *th, struct isolation level, val init, const int64_t *list, size_t n, bool events,
                       struct arena *a)
{
	uint32_t nkeys = th->h->keys.len;
	struct txn_replay *r = arena_new(a, struct txn_replay);
	*r = (struct txn_replay){ .th = th, .level = level, .init = init, .a = a };
	r->reg = arena_array(a, val, nkeys + 1); /* VAL_NIL is 0 */
	r->list = arena_calloc(a, nkeys + 1, sizeof *r->list);
	r->own = arena_array(a, uint32_t, nkeys + 1);
	r->own_reg = arena_array(a, val, nkeys + 1);
	r->own_n = arena_array(a, uint32_t, nkeys + 1);
	r->written = arena_array(a, size_t, nkeys + 1);
	r->begins = arena_array(a, size_t, th->n + 1);
	r->ends = arena_array(a, size_t, th->n + 1);
	for (size_t i = 0; i < n; i++) {
		int64_t x = list[i] < 0 ? -list[i] : list[i];
		const char *wrong = NULL;
		if (x < 1 || x > th->n || (!events && list[i] < 0))
			return "the order names a transaction that is not there";
		uint32_t t = (uint32_t)x - 1;
		if (th->txns[t].status == TXN_ABORTED)
			return "the order has a transaction that aborted";
		if (list[i] > 0) {
			if (r->begins[t])
				return "a transaction begins twice";
			r->begins[t] = i + 1;
			wrong = begin(r, t);
		}
		if (!wrong && (list[i] < 0 || !events)) {
			if (!r->begins[t] || r->ends[t])
				return "a transaction ends that is not open";
			r->ends[t] = i + 1;
			wrong = end(r, t, i);
		}
		if (wrong)
			return wrong;
	}
	for (uint32_t t = 0; t < th->n; t++)
		if ((th->txns[t].status == TXN_COMMITTED && !r->ends[t]) || (r->begins[t] && !r->ends[t]))
			return "a transaction that committed is missing";
	return orders_right(r);
}
