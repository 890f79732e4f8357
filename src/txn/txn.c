/* txn: see txn.h. */
#include "txn/txn.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "txn/members.h"

const char *const version_order_names[] = { "any", "session", "realtime", "recorded", NULL };

void txn_history_init(struct txn_history *th, struct history *h)
{
	memset(th, 0, sizeof *th);
	th->h = h;
	th->init = VAL_NONE;
}

void txn_history_free(struct txn_history *th)
{
	lim_free(th->h->lim, th->txns, th->cap * sizeof *th->txns);
	lim_free(th->h->lim, th->ops, th->ops_cap * sizeof *th->ops);
	members_free(th);
	th->txns = NULL;
	th->ops = NULL;
	th->n = th->cap = th->nops = th->ops_cap = 0;
}

/* Room for one element more; false when memory or a limit ends. */
static bool room(struct limits *lim, void **array, uint32_t n, uint32_t *cap, size_t elem)
{
	assert(n <= *cap);
	if (n < *cap)
		return true;
	uint32_t c = *cap ? *cap * 2 : 256;
	void *p = c <= HISTORY_MAX_OPS ? lim_realloc(lim, *array, *cap * elem, c * elem) : NULL;
	if (!p)
		return false;
	*array = p;
	*cap = c;
	assert(n < *cap);
	return true;
}

struct txn *txn_push(struct txn_history *th)
{
	void *p = th->txns;
	bool ok = room(th->h->lim, &p, th->n, &th->cap, sizeof *th->txns);
	th->txns = p;
	if (!ok)
		return NULL;
	struct txn *t = &th->txns[th->n++];
	memset(t, 0, sizeof *t);
	t->first = th->nops;
	t->ret = RANK_INF;
	t->status = TXN_UNKNOWN;
	return t;
}

bool txn_push_op(struct txn_history *th, enum mop_kind kind, uint32_t key, val v)
{
	assert(kind <= MOP_INC);
	void *p = th->ops;
	bool ok = room(th->h->lim, &p, th->nops, &th->ops_cap, sizeof *th->ops);
	th->ops = p;
	if (!ok)
		return false;
	th->ops[th->nops++] = (struct mop){ .key = key, .v = v, .kind = (uint8_t)kind };
	return true;
}

/* ---- words ------------------------------------------------------------------------ */

void txn_name(const struct txn_history *th, uint32_t t, struct buf *out)
{
	assert(t < th->n);
	(void)th;
	buf_printf(out, "T%u", t + 1);
}

void txn_print(const struct txn_history *th, uint32_t t, struct buf *out)
{
	assert(t < th->n);
	const struct txn *x = &th->txns[t];
	txn_name(th, t, out);
	if (x->session < th->h->procs.len) {
		buf_str(out, " by process ");
		val_print(&th->h->vals, th->h->procs.data[x->session], out);
	}
	if (x->line)
		buf_printf(out, " (line %u)", x->line);
}

void mop_print(const struct txn_history *th, const struct mop *m, struct buf *out)
{
	assert(m->kind <= MOP_INC && m->key < th->h->keys.len);
	static const char *const word[] = { "r", "w", "append", "add", "inc" };
	const struct txn_member *member = members_of(th, m->key);
	m = members_told(th, m);
	buf_printf(out, "[:%s ", word[m->kind]);
	val_print(&th->h->vals, th->h->keys.data[m->key], out);
	buf_char(out, ' ');
	if (member && m->key >= th->members->first) /* a part of an operation, alone */
		members_print(th, member, m, out);
	else if (m->v == VAL_NONE)
		buf_str(out, "?");
	else
		val_print(&th->h->vals, m->v, out);
	buf_char(out, ']');
}

void txn_print_ops(const struct txn_history *th, uint32_t t, struct buf *out)
{
	assert(t < th->n && th->txns[t].first + th->txns[t].nops <= th->nops);
	const struct txn *x = &th->txns[t];
	buf_char(out, '[');
	const struct mop *last = NULL;
	for (uint32_t i = 0; i < x->nops; i++) {
		const struct mop *m = &th->ops[x->first + i], *told = members_told(th, m);
		if (told == last) /* another element of the same read */
			continue;
		if (last)
			buf_char(out, ' ');
		last = told;
		mop_print(th, m, out);
	}
	buf_char(out, ']');
}
