/*
 * txn_order: see txn_order.h. All edges that count must go forward in the order. Then each read is looked at: a later version than the one it saw,
 * of a transaction that stands before the reader, must not be one that the level lets the reader see; for levels that follow
 * dependencies, everything that reaches the reader is marked by walking back, no further than the first such version stands.
 * Real time is walked through by the order of answers. Cost: the walks, up to TXN_ORDER_STEPS.
 */
#include "verify/txn_order.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "txn/members.h"
#include "verify/txn_facts.h"

struct order_read {
	uint32_t key, po, saw; /* saw: a transaction or PROOF_INITIAL */
	bool then_written;
};

struct order_checker {
	const struct txn_facts *f;
	const struct txn_history *th;
	struct isolation level;
	struct arena *a;
	uint32_t *pos, *at, n;         /* place of a transaction (FACT_NONE: left out), transaction at a place */
	uint32_t *key_first, *writers; /* by key: its writers in the order */
	uint32_t *read_first;
	struct order_read *reads;
	uint32_t *mark, stamp, *queue;
	uint32_t *by_ret, nret, ret_seen; /* transactions by their answers; how many of them are marked */
	uint32_t floor;
	uint64_t steps;
};

static const struct mop *op_at(const struct order_checker *c, uint32_t t, uint32_t i)
{
	return &c->th->ops[c->th->txns[t].first + i];
}

/* ---- tables ------------------------------------------------------------------------------------------ */

static const char *take_order(struct order_checker *c, const int64_t *list, size_t n)
{
	c->pos = arena_array(c->a, uint32_t, c->th->n + 1);
	c->at = arena_array(c->a, uint32_t, c->th->n + 1);
	for (uint32_t t = 0; t < c->th->n; t++)
		c->pos[t] = FACT_NONE;
	for (size_t i = 0; i < n; i++) {
		if (list[i] < 1 || list[i] > c->th->n || c->th->txns[list[i] - 1].status == TXN_ABORTED)
			return "the order has a transaction that is not there or aborted";
		uint32_t t = (uint32_t)list[i] - 1;
		if (c->pos[t] != FACT_NONE)
			return "the order has a transaction twice";
		c->pos[t] = c->n;
		c->at[c->n++] = t;
	}
	for (uint32_t t = 0; t < c->th->n; t++)
		if (c->pos[t] == FACT_NONE && c->f->took_effect[t])
			return "a transaction that took effect is missing in the order";
	return NULL;
}

static void make_writers(struct order_checker *c)
{
	uint32_t nkeys = c->th->h->keys.len;
	c->key_first = arena_array(c->a, uint32_t, nkeys + 2);
	for (int round = 0; round < 2; round++) {
		uint32_t *next = arena_array(c->a, uint32_t, nkeys + 1);
		memcpy(next, c->key_first, (nkeys + 1) * sizeof *next);
		for (uint32_t i = 0; i < c->n; i++) {
			uint32_t t = c->at[i];
			for (uint32_t k = 0; k < c->th->txns[t].nops; k++) {
				uint32_t key = op_at(c, t, k)->key;
				if (op_at(c, t, k)->kind == MOP_READ || facts_writes(c->f, t, key) != k)
					continue;
				if (round)
					c->writers[next[key]++] = t;
				else
					c->key_first[key + 1]++;
			}
		}
		for (uint32_t k = 0; k < nkeys && !round; k++)
			c->key_first[k + 1] += c->key_first[k];
		if (!round)
			c->writers = arena_array(c->a, uint32_t, c->key_first[nkeys] + 1);
	}
}

/* External reads, as txn_facts.h has them. False: one saw what is in no order. */
static bool make_reads(struct order_checker *c)
{
	AVEC(struct order_read) reads = { 0 };
	c->read_first = arena_array(c->a, uint32_t, c->th->n + 1);
	for (uint32_t t = 0; t < c->th->n; t++) {
		const struct txn *x = &c->th->txns[t];
		for (uint32_t i = 0, moment = 0; x->status == TXN_COMMITTED && i < x->nops; i++) {
			const struct mop *m = op_at(c, t, i);
			uint32_t saw = FACT_NONE, k = i;
			moment = members_same(c->th, x->first + i, x->first + moment) ? moment : i; /* a set is read at once */
			if (m->kind != MOP_READ || m->v == VAL_NONE || !facts_external(c->f, t, i))
				continue;
			saw = facts_saw(c->f, m);
			if (saw == t && c->level.level <= LEVEL_RC)
				continue; /* an internal anomaly, which these levels allow */
			if (saw == FACT_NONE || (saw != PROOF_INITIAL && (saw == t || c->pos[saw] == FACT_NONE)))
				return c->level.level == LEVEL_RU;
			while (++k < x->nops && op_at(c, t, k)->key != m->key)
				;
			struct order_read r = { m->key, moment, saw, k < x->nops && op_at(c, t, k)->kind != MOP_READ };
			avec_push(c->a, &reads, r);
		}
		c->read_first[t + 1] = reads.len;
	}
	c->reads = reads.data;
	return true;
}

static int by_answer(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return *x < *y ? -1 : *x > *y;
}

static void sort_answers(struct order_checker *c)
{
	uint64_t *key = arena_array(c->a, uint64_t, c->th->n + 1);
	for (uint32_t t = 0; t < c->th->n; t++)
		if (c->th->txns[t].ret != RANK_INF && c->pos[t] != FACT_NONE)
			key[c->nret++] = (uint64_t)c->th->txns[t].ret << 32 | t;
	qsort(key, c->nret, sizeof *key, by_answer);
	c->by_ret = arena_array(c->a, uint32_t, c->nret + 1);
	for (uint32_t i = 0; i < c->nret; i++)
		c->by_ret[i] = (uint32_t)key[i];
}

/* ---- edges go forward ---------------------------------------------------------------------------------- */

static const char *sessions_forward(const struct order_checker *c)
{
	uint32_t *last = arena_array(c->a, uint32_t, c->th->nsessions + 1);
	for (uint32_t t = 0; t < c->th->n; t++) {
		const struct txn *x = &c->th->txns[t];
		if (c->pos[t] == FACT_NONE)
			continue;
		if (c->pos[t] + 1 < last[x->session])
			return "the order does not keep the order of a session";
		if (x->status == TXN_COMMITTED)
			last[x->session] = c->pos[t] + 1;
	}
	return NULL;
}

static const char *time_forward(const struct order_checker *c)
{
	uint32_t next = 0, most = 0;
	for (uint32_t t = 0; t < c->th->n; t++) { /* in the order of their calls */
		if (c->pos[t] == FACT_NONE)
			continue;
		for (; next < c->nret && c->th->txns[c->by_ret[next]].ret < c->th->txns[t].call; next++)
			most = c->pos[c->by_ret[next]] + 1 > most ? c->pos[c->by_ret[next]] + 1 : most;
		if (c->pos[t] + 1 < most)
			return "the order does not keep real time";
	}
	return NULL;
}

/* Lists are in one order, so that neighbours tell; of what is assumed, the latest call and, by session, the last transaction so far do. */
static const char *versions_forward(const struct order_checker *c)
{
	uint32_t *last = arena_array(c->a, uint32_t, c->th->nsessions + 1), *of = arena_array(c->a, uint32_t, c->th->nsessions + 1);
	bool time = c->th->version_order == VERSIONS_REALTIME, session = c->th->version_order == VERSIONS_SESSION;
	for (uint32_t k = 0; k < c->th->h->keys.len; k++) {
		uint32_t latest = 0, ret = 0;
		for (uint32_t i = c->key_first[k]; i < c->key_first[k + 1]; i++) {
			uint32_t t = c->writers[i];
			const struct txn *x = &c->th->txns[t];
			if (i + 1 < c->key_first[k + 1] && facts_before(c->f, k, c->writers[i + 1], t))
				return "the order contradicts the order of appends that a list shows";
			if ((time && x->ret != RANK_INF && x->ret < latest) ||
			    (c->th->version_order == VERSIONS_RECORDED && x->ret != RANK_INF && x->ret < ret) ||
			    (session && x->status == TXN_COMMITTED && of[x->session] == k + 1 && t < last[x->session]))
				return "the order contradicts the order of versions that is assumed";
			latest = x->call > latest ? x->call : latest;
			ret = x->ret != RANK_INF && x->ret > ret ? x->ret : ret;
			last[x->session] = of[x->session] == k + 1 && last[x->session] > t ? last[x->session] : t;
			of[x->session] = k + 1;
		}
	}
	return NULL;
}

static const char *edges_forward(const struct order_checker *c)
{
	const char *why = c->level.order == ORDER_SESSION    ? sessions_forward(c)
	                  : c->level.order == ORDER_REALTIME ? time_forward(c)
	                                                     : NULL;
	for (uint32_t t = 0; t < c->th->n && !why && c->level.level != LEVEL_RU; t++)
		for (uint32_t i = c->read_first[t]; i < c->read_first[t + 1]; i++)
			if (c->reads[i].saw != PROOF_INITIAL && c->pos[c->reads[i].saw] > c->pos[t])
				why = "a transaction stands before one that it read from";
	return why ? why : versions_forward(c);
}

/* ---- walking back ---------------------------------------------------------------------------------------- */

static void put(struct order_checker *c, uint32_t t, uint32_t *n)
{
	if (c->pos[t] == FACT_NONE || c->mark[t] == c->stamp || c->pos[t] < c->floor)
		return;
	c->mark[t] = c->stamp;
	c->queue[(*n)++] = t;
}

/* Who answered before t was called. */
static void put_earlier(struct order_checker *c, uint32_t t, uint32_t *n)
{
	if (c->level.order == ORDER_REALTIME)
		while (c->ret_seen < c->nret && c->th->txns[c->by_ret[c->ret_seen]].ret < c->th->txns[t].call)
			put(c, c->by_ret[c->ret_seen++], n);
	for (uint32_t p = t; c->level.order == ORDER_SESSION && p-- > 0;) {
		c->steps++;
		if (c->th->txns[p].session == c->th->txns[t].session && c->th->txns[p].status == TXN_COMMITTED) {
			put(c, p, n);
			break;
		}
	}
}

/* The place of t among the writers of the key, or where it would stand. */
static uint32_t place(const struct order_checker *c, uint32_t key, uint32_t pos)
{
	uint32_t lo = c->key_first[key], hi = c->key_first[key + 1];
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (c->pos[c->writers[mid]] < pos)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Where the version behind the one that was seen stands among the writers. */
static uint32_t next_version(const struct order_checker *c, const struct order_read *r)
{
	return r->saw == PROOF_INITIAL ? c->key_first[r->key] : place(c, r->key, c->pos[r->saw]) + 1;
}

static bool writes(const struct order_checker *c, uint32_t t)
{
	for (uint32_t k = 0; k < c->th->txns[t].nops; k++)
		if (op_at(c, t, k)->kind != MOP_READ)
			return true;
	return false;
}

/* In-edges of t: order of transactions, wr, and with `ww` the version before each that it wrote, with `rw` who read those. Operations before `po`. */
static void put_before(struct order_checker *c, uint32_t t, bool ww, bool rw, uint32_t po, uint32_t *n)
{
	put_earlier(c, t, n);
	for (uint32_t i = c->read_first[t]; i < c->read_first[t + 1]; i++)
		if (c->reads[i].po < po && c->reads[i].saw != PROOF_INITIAL)
			put(c, c->reads[i].saw, n);
	for (uint32_t k = 0; ww && k < c->th->txns[t].nops; k++) {
		uint32_t key = op_at(c, t, k)->key;
		if (op_at(c, t, k)->kind == MOP_READ || facts_writes(c->f, t, key) != k || k >= po)
			continue;
		uint32_t at = place(c, key, c->pos[t]);
		if (at > c->key_first[key])
			put(c, c->writers[at - 1], n);
	}
	if (!rw)
		return;
	/* readers of the versions before: among all reads of the key; those that write nothing do not count for others */
	for (uint32_t u = 0; u < c->th->n; u++)
		for (uint32_t i = c->read_first[u]; i < c->read_first[u + 1]; i++) {
			uint32_t next = next_version(c, &c->reads[i]);
			c->steps++;
			while (next < c->key_first[c->reads[i].key + 1] && c->writers[next] == u)
				next++;
			if (next < c->key_first[c->reads[i].key + 1] && c->writers[next] == t && u != t && writes(c, u))
				put(c, u, n);
		}
}

/* Marks what reaches t's operations before `po`. */
static void reach(struct order_checker *c, uint32_t t, uint32_t po)
{
	assert(c->floor < c->pos[t]);
	enum txn_level l = (enum txn_level)c->level.level;
	bool ww = l == LEVEL_MV || l == LEVEL_CV || l == LEVEL_US, rw = l == LEVEL_US;
	uint32_t n = 0;
	c->stamp++;
	c->ret_seen = 0;
	put_before(c, t, ww, false, po, &n);
	for (uint32_t i = 0; i < n && c->steps < TXN_ORDER_STEPS; i++) {
		c->steps += 1 + c->th->txns[c->queue[i]].nops;
		put_before(c, c->queue[i], ww, rw, UINT32_MAX, &n);
	}
}

/* ---- one read ---------------------------------------------------------------------------------------------- */

static bool so(const struct order_checker *c, uint32_t u, uint32_t t)
{
	const struct txn *x = &c->th->txns[u], *y = &c->th->txns[t];
	return c->level.order == ORDER_SESSION    ? x->session == y->session && u < t && x->status == TXN_COMMITTED
	       : c->level.order == ORDER_REALTIME ? x->ret != RANK_INF && x->ret < y->call
	                                          : false;
}

/* Does t read from u, before `po`? */
static bool reads_from(const struct order_checker *c, uint32_t t, uint32_t u, uint32_t po)
{
	for (uint32_t i = c->read_first[t]; i < c->read_first[t + 1]; i++)
		if (c->reads[i].saw == u && c->reads[i].po < po)
			return true;
	return false;
}

static bool share_a_key(const struct order_checker *c, uint32_t t, uint32_t u)
{
	for (uint32_t i = 0; i < c->th->txns[t].nops; i++)
		if (op_at(c, t, i)->kind != MOP_READ && facts_writes(c->f, u, op_at(c, t, i)->key) != FACT_NONE)
			return true;
	return false;
}

/* u wrote a later version than the read saw, and stands before t: does the level forbid it? */
static bool must_see(const struct order_checker *c, uint32_t t, uint32_t u, const struct order_read *r)
{
	switch ((enum txn_level)c->level.level) {
	case LEVEL_CS:
		return r->then_written;
	case LEVEL_MAV:
		return reads_from(c, t, u, r->po);
	case LEVEL_RA:
		return so(c, u, t) || reads_from(c, t, u, UINT32_MAX);
	case LEVEL_UA:
		return so(c, u, t) || reads_from(c, t, u, UINT32_MAX) || share_a_key(c, t, u);
	default:
		return c->mark[u] == c->stamp;
	}
}

static bool walks(enum txn_level l)
{
	return l == LEVEL_MV || l == LEVEL_CC || l == LEVEL_CV || l == LEVEL_US;
}

static bool read_right(struct order_checker *c, uint32_t t, const struct order_read *r)
{
	assert(c->pos[t] < c->n && c->at[c->pos[t]] == t && r->key < c->th->h->keys.len);
	enum txn_level l = (enum txn_level)c->level.level;
	uint32_t from = next_version(c, r), end = place(c, r->key, c->pos[t]);
	if (from < end && walks(l)) {
		c->floor = c->pos[c->writers[from]];
		reach(c, t, l == LEVEL_MV ? r->po : UINT32_MAX);
	}
	for (uint32_t i = from; i < end; i++)
		if (c->writers[i] != t && must_see(c, t, c->writers[i], r))
			return false;
	/* among the transactions that write, update-serializable is serializable */
	for (uint32_t i = from; l == LEVEL_US && i < end; i++)
		if (c->writers[i] != t && writes(c, t))
			return false;
	return true;
}

const char *txn_versions_wrong(const struct txn_facts *f, const int64_t *list, size_t n)
{
	struct order_checker *c = arena_new(f->a, struct order_checker);
	*c = (struct order_checker){ .f = f, .th = f->th, .a = f->a };
	const char *why = take_order(c, list, n);
	if (why)
		return why;
	make_writers(c);
	return versions_forward(c);
}

const char *txn_order_wrong(const struct txn_facts *f, struct isolation level, const int64_t *list, size_t n, bool *too_long)
{
	struct order_checker *c = arena_new(f->a, struct order_checker);
	*c = (struct order_checker){ .f = f, .th = f->th, .level = level, .a = f->a };
	*too_long = false;
	const char *why = take_order(c, list, n);
	if (why)
		return why;
	make_writers(c);
	if (!make_reads(c))
		return "a read saw what is not in the order";
	sort_answers(c);
	c->mark = arena_array(c->a, uint32_t, c->th->n + 1);
	c->queue = arena_array(c->a, uint32_t, c->th->n + 1);
	if ((why = edges_forward(c)) != NULL)
		return why;
	for (uint32_t i = 0; i < c->n && !*too_long && level.level > LEVEL_RC; i++)
		for (uint32_t k = c->read_first[c->at[i]]; k < c->read_first[c->at[i] + 1]; k++) {
			if (!read_right(c, c->at[i], &c->reads[k]))
				return "a read misses a write that the level lets it see";
			*too_long |= c->steps >= TXN_ORDER_STEPS;
		}
	return NULL;
}
