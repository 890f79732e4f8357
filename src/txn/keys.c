/*
 * keys: see keys.h. The keys are put one after the other in time, so that one decision about a history of parts (a transaction's operations on one
 * key) settles all of them: parts of different keys have nothing in common but that order, which all keys agree on. The chains of graph.h are
 * as few as transactions overlap. A key that is not linearizable is then decided alone, under the numbers of the history. The members of a
 * set or counter (members.h) are one key.
 */
#include "txn/keys.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "txn/members.h"
#include "txn/members.h"

/* A micro-operation, and its transaction. */
struct keyed_op {
	uint32_t t, op;
};

struct key_split {
	const struct txn_history *th;
	uint32_t *first;       /* by key: its slice of `ops`; nkeys + 1 */
	struct keyed_op *ops;  /* by key, in the order of transactions and operations */
	struct txn_history to; /* the parts */
};

static uint32_t whole_key(const struct txn_history *th, uint32_t key)
{
	const struct txn_member *e = members_of(th, key);
	return e ? e->key : key;
}

static void sort_by_key(struct key_split *s, uint32_t nkeys, struct arena *a)
{
	const struct txn_history *th = s->th;
	s->first = arena_array(a, uint32_t, (size_t)nkeys + 2);
	s->ops = arena_array(a, struct keyed_op, (size_t)th->nops + 1);
	for (uint32_t t = 0; t < th->n; t++)
		for (uint32_t i = 0; i < th->txns[t].nops; i++)
			s->first[whole_key(th, th->ops[th->txns[t].first + i].key) + 2]++;
	for (uint32_t k = 0; k < nkeys; k++)
		s->first[k + 2] += s->first[k + 1];
	for (uint32_t t = 0; t < th->n; t++)
		for (uint32_t i = 0; i < th->txns[t].nops; i++) {
			uint32_t op = th->txns[t].first + i;
			s->ops[s->first[whole_key(th, th->ops[op].key) + 1]++] = (struct keyed_op){ t, op };
		}
	assert(s->first[nkeys] <= th->nops);
}

static bool copy_op(struct txn_history *to, const struct mop *m)
{
	*(m->kind == MOP_READ ? &to->reads : m->kind == MOP_WRITE ? &to->writes : &to->appends) += 1;
	return txn_push_op(to, (enum mop_kind)m->kind, m->key, m->v);
}

static void copy_facts(struct txn_history *to, const struct txn_history *th)
{
	txn_history_init(to, th->h);
	to->nsessions = th->nsessions;
	to->sessions = th->sessions;
	to->realtime = true;
	to->version_order = th->version_order;
	to->init = th->init;
	if (th->members) { /* what they are, not where they stand */
		to->members = arena_new(th->h->arena, struct txn_members);
		to->members->first = th->members->first;
		to->members->members.data = th->members->members.data;
		to->members->members.len = th->members->members.len;
		to->members->head = th->members->head;
	}
}

static int by_rank(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return *x < *y ? -1 : *x > *y;
}

/* The parts from `first` on are those of one key: their moments come behind all before, in the order that they have. */
static uint32_t place_in_time(struct txn_history *to, uint32_t first, uint32_t now, uint64_t *events)
{
	uint32_t n = 0;
	for (uint32_t p = first; p < to->n; p++) {
		events[n++] = (uint64_t)to->txns[p].call << 32 | (p - first) << 1;
		if (to->txns[p].ret != RANK_INF)
			events[n++] = (uint64_t)to->txns[p].ret << 32 | (p - first) << 1 | 1;
	}
	qsort(events, n, sizeof *events, by_rank);
	for (uint32_t i = 0; i < n; i++) {
		struct txn *t = &to->txns[first + ((uint32_t)events[i] >> 1)];
		*(events[i] & 1 ? &t->ret : &t->call) = now + i;
	}
	return now + n;
}

/* False: memory, or a limit. */
static bool split(struct key_split *s, uint32_t nkeys, struct arena *a)
{
	const struct txn_history *th = s->th;
	uint64_t *events = arena_array(a, uint64_t, 2 * (size_t)th->n + 1);
	uint32_t now = 0;
	for (uint32_t k = 0; k < nkeys; k++) {
		uint32_t first = s->to.n, last = UINT32_MAX;
		for (uint32_t i = s->first[k]; i < s->first[k + 1]; i++) {
			if (s->ops[i].t != last) {
				struct txn *t = txn_push(&s->to);
				if (!t)
					return false;
				uint32_t from = t->first;
				*t = th->txns[last = s->ops[i].t];
				t->first = from;
				t->nops = 0;
			}
			if (!copy_op(&s->to, &th->ops[s->ops[i].op]))
				return false;
			s->to.txns[s->to.n - 1].nops++;
		}
		now = place_in_time(&s->to, first, now, events);
	}
	return true;
}

/* An odd read of the operation that was copied last. */
static void odd_too(struct txn_history *to, const struct odd_read *was)
{
	struct odd_read o = *was;
	o.op = to->nops - 1 - to->txns[to->n - 1].first;
	avec_push(to->h->arena, &to->members->odd, o);
}

/* All transactions, with what they did to the key: in k->th. */
static bool restrict_to(struct txn_keys *k, const struct txn_history *th, uint32_t key)
{
	txn_history_free(&k->th);
	copy_facts(&k->th, th);
	if (th->members) { /* it is told in the words of the whole */
		k->th.members->told = th->members->told;
		k->th.members->told_of = arena_array(th->h->arena, uint32_t, th->nops + 1);
	}
	for (uint32_t t = 0; t < th->n; t++) {
		struct txn *to = txn_push(&k->th);
		if (!to)
			return false;
		uint32_t from = to->first;
		*to = th->txns[t];
		to->first = from;
		to->nops = 0;
		for (uint32_t i = 0; i < th->txns[t].nops; i++) {
			const struct mop *m = &th->ops[th->txns[t].first + i];
			if (whole_key(th, m->key) != key)
				continue;
			if (!copy_op(&k->th, m))
				return false;
			if (th->members)
				k->th.members->told_of[k->th.nops - 1] = th->members->told_of[m - th->ops];
			for (uint32_t o = 0; th->members && o < th->members->odd.len; o++)
				if (th->members->odd.data[o].txn == t && th->members->odd.data[o].op == i)
					odd_too(&k->th, &th->members->odd.data[o]);
			k->th.txns[k->th.n - 1].nops++;
		}
	}
	return true;
}

/* The key alone. True: it is decided to be violated. */
static bool explain(struct txn_keys *k, const struct deps *d, uint32_t key, struct arena *keep, struct diags *diags,
                    struct limits *lim)
{
	const struct isolation strict = { LEVEL_SER, ORDER_REALTIME };
	if (!restrict_to(k, d->th, key) || !deps_build(&k->deps, &k->th, d->init, keep, diags))
		return false;
	txn_decide(&k->deps, strict, (struct txn_decide_options){ 0 }, keep, lim, &k->why);
	k->key = key;
	return k->why.verdict == TXN_VIOLATED;
}

/* A key that the anomaly is about, or nkeys. */
static uint32_t key_of(const struct decision *x, const struct deps *d)
{
	if (x->direct)
		return whole_key(d->th, d->th->ops[d->th->txns[x->direct->txn].first + x->direct->op].key);
	for (uint32_t i = 0; i < x->ncycle; i++)
		if (x->cycle[i].kind >= EDGE_WR)
			return whole_key(d->th, x->cycle[i].key);
	return d->nkeys;
}

void txn_keys_check(struct txn_keys *k, const struct deps *d, struct arena *keep, struct diags *diags, struct limits *lim)
{
	assert(d->th->realtime);
	struct key_split s = { .th = d->th };
	struct deps parts;
	struct decision x = { .verdict = TXN_UNDECIDED, .limit = "memory" };
	memset(k, 0, sizeof *k);
	txn_history_init(&k->th, d->th->h);
	copy_facts(&s.to, d->th);
	sort_by_key(&s, d->nkeys, keep);
	for (uint32_t i = 0; i < d->nkeys; i++)
		k->njudged += s.first[i] != s.first[i + 1];
	if (split(&s, d->nkeys, keep) && deps_build(&parts, &s.to, d->init, keep, diags))
		txn_decide(&parts, (struct isolation){ LEVEL_SER, ORDER_REALTIME }, (struct txn_decide_options){ 0 }, keep, lim,
		           &x);
	const struct txn_members *members = d->th->members;
	if (d->certain && (x.verdict == TXN_VIOLATED || members->nopen))
		x = (struct decision){ .verdict = TXN_UNDECIDED, .limit = COUNTER_READS };
	bool odd = members && members->odd.len;
	k->verdict = odd ? TXN_VIOLATED : x.verdict;
	k->limit = x.limit;
	if (k->verdict == TXN_VIOLATED) {
		uint32_t key = odd ? d->th->ops[d->th->txns[members->odd.data[0].txn].first + members->odd.data[0].op].key
		                   : key_of(&x, &parts);
		bool found = key < d->nkeys && explain(k, d, key, keep, diags, lim);
		for (key = 0; key < d->nkeys && !found && !lim_spent(lim); key++)
			found = explain(k, d, key, keep, diags, lim);
		if (!found) { /* a limit in between: nothing is said that cannot be shown */
			k->verdict = TXN_UNDECIDED;
			k->limit = k->why.limit ? k->why.limit : "memory";
		}
	}
	txn_history_free(&s.to);
	assert(k->verdict != TXN_UNDECIDED || k->limit);
}

void txn_keys_free(struct txn_keys *k)
{
	txn_history_free(&k->th);
}
