/*
 * txn_gen: random histories of transactions, small enough for the twin: transactions run on snapshots of a random interleaving, so that
 * many of them are right, and some of their reads are then replaced.
 */
#ifndef INTACT_TESTS_TXN_GEN_H
#define INTACT_TESTS_TXN_GEN_H

#include <stdio.h>

#include "base/rng.h"
#include "txn/txn.h"
#include "txn_twin.h"

/* Calls and returns: sessions run their transactions one behind the other. */
static void gen_txn_times(struct twin *h, struct rng *r, int sessions)
{
	int open[TWIN_TXNS], nopen = 0, started = 0, at = 0;
	bool busy[TWIN_TXNS] = { false };
	while (started < h->n || nopen) {
		bool start = started < h->n && nopen < sessions && (!nopen || rng_below(r, 3));
		if (start) {
			int s = (int)rng_below(r, (uint32_t)sessions);
			while (busy[s])
				s = (s + 1) % sessions;
			busy[s] = true;
			h->t[started].session = (uint8_t)s;
			h->t[started].call = at++;
			open[nopen++] = started++;
		} else {
			int i = (int)rng_below(r, (uint32_t)nopen);
			h->t[open[i]].ret = at++;
			busy[h->t[open[i]].session] = false;
			open[i] = open[--nopen];
		}
	}
}

static void gen_txn_ops(struct twin *h, struct rng *r, int keys, int most, uint32_t writes)
{
	int next[TWIN_KEYS] = { 0 };
	for (int t = 0; t < h->n; t++) {
		struct twin_txn *x = &h->t[t];
		uint32_t fate = rng_below(r, 16);
		x->status = fate == 0 ? TWIN_FAIL : fate == 1 ? TWIN_INFO : TWIN_OK;
		x->nops = (uint8_t)(1 + rng_below(r, (uint32_t)most));
		for (int i = 0; i < x->nops; i++) {
			struct twin_op *o = &x->ops[i];
			o->key = (uint8_t)rng_below(r, (uint32_t)keys);
			if (rng_below(r, 100) < writes) {
				o->kind = h->is_list[o->key] ? TWIN_APPEND : TWIN_WRITE;
				if (next[o->key] < TWIN_LIST)
					o->v = ++next[o->key];
				else
					o->kind = TWIN_READ;
			}
		}
	}
}

/* Runs transactions on snapshots, ends in random order; `stale` in 16 begins see an older state, `torn` in 16 reads another snapshot
 * than the reads before. */
static void gen_txn_reads(struct twin *h, struct rng *r, uint32_t stale, uint32_t torn)
{
	static struct twin_state past[2 * TWIN_TXNS + 1];
	int npast = 1, order[TWIN_TXNS];
	memset(&past[0], 0, sizeof past[0]);
	for (int t = 0; t < h->n; t++)
		order[t] = t;
	for (int i = h->n - 1; i > 0; i--) { /* near the order of calls, mostly */
		int k = rng_below(r, 3) ? i : (int)rng_below(r, (uint32_t)i + 1);
		int x = order[i];
		order[i] = order[k];
		order[k] = x;
	}
	for (int i = 0; i < h->n; i++) {
		struct twin_txn *x = &h->t[order[i]];
		struct twin_state view = past[rng_below(r, 16) < stale ? (int)rng_below(r, (uint32_t)npast) : npast - 1],
				  now = past[npast - 1];
		for (int k = 0; k < x->nops; k++) {
			struct twin_op *o = &x->ops[k];
			if (o->kind == TWIN_WRITE) {
				view.reg[o->key] = now.reg[o->key] = o->v;
			} else if (o->kind == TWIN_APPEND) {
				view.list[o->key][view.n[o->key]++] = o->v;
				now.list[o->key][now.n[o->key]++] = o->v;
			} else {
				bool wrote = false;
				for (int j = 0; j < k; j++)
					wrote |= x->ops[j].key == o->key;
				if (!wrote && rng_below(r, 16) < torn) {
					const struct twin_state *other = &past[rng_below(r, (uint32_t)npast)];
					view.reg[o->key] = other->reg[o->key];
					view.n[o->key] = other->n[o->key];
					memcpy(view.list[o->key], other->list[o->key], sizeof view.list[o->key]);
				}
				o->v = view.reg[o->key];
				o->nlist = view.n[o->key];
				memcpy(o->list, view.list[o->key], sizeof o->list);
			}
		}
		if (x->status == TWIN_OK || (x->status == TWIN_INFO && rng_below(r, 2)) || !rng_below(r, 8))
			past[npast++] = now;
	}
}

/* Replaces the answer of a read by another one that the key may have had. */
static void gen_txn_noise(struct twin *h, struct rng *r, int many)
{
	for (int i = 0; i < many; i++) {
		struct twin_txn *x = &h->t[rng_below(r, (uint32_t)h->n)];
		struct twin_op *o = &x->ops[rng_below(r, x->nops)];
		if (o->kind != TWIN_READ)
			continue;
		if (h->is_list[o->key]) {
			if (o->nlist)
				o->nlist -= 1 + (int)rng_below(r, (uint32_t)o->nlist);
			continue;
		}
		int top = 0;
		for (int t = 0; t < h->n; t++)
			for (int k = 0; k < h->t[t].nops; k++)
				if (h->t[t].ops[k].kind == TWIN_WRITE && h->t[t].ops[k].key == o->key && h->t[t].ops[k].v > top)
					top = h->t[t].ops[k].v;
		o->v = (int)rng_below(r, (uint32_t)top + 1);
	}
}

static void gen_txn(struct twin *h, uint64_t seed)
{
	struct rng r;
	rng_seed(&r, seed);
	memset(h, 0, sizeof *h);
	h->n = 2 + (int)rng_below(&r, TWIN_TXNS - 1); /* six, in a fifth of them */
	int keys = 1 + (int)rng_below(&r, TWIN_KEYS);
	uint32_t kind = rng_below(&r, 4); /* registers, lists, both */
	for (int k = 0; k < keys; k++)
		h->is_list[k] = kind == 0 ? false : kind == 1 ? true : rng_below(&r, 2);
	gen_txn_times(h, &r, 1 + (int)rng_below(&r, 4));
	gen_txn_ops(h, &r, keys, 2 + (int)rng_below(&r, TWIN_OPS - 1), 30 + rng_below(&r, 40));
	uint32_t stale = rng_below(&r, 4) * 4;
	gen_txn_reads(h, &r, stale, rng_below(&r, 3) * 6);
	gen_txn_noise(h, &r, rng_below(&r, 4) ? 0 : 1 + (int)rng_below(&r, 2));
}

/* The same as a history of src/txn. */
static bool gen_txn_history(const struct twin *h, struct txn_history *th)
{
	for (int k = 0; k < TWIN_KEYS; k++)
		key_intern(th->h, val_int(&th->h->vals, k));
	for (int t = 0; t < h->n; t++) {
		const struct twin_txn *x = &h->t[t];
		struct txn *y = txn_push(th);
		if (!y)
			return false;
		y->session = proc_intern(th->h, val_int(&th->h->vals, x->session));
		th->nsessions = th->h->procs.len;
		y->status = x->status;
		y->call = (uint32_t)x->call;
		y->ret = x->status == TWIN_OK ? (uint32_t)x->ret : RANK_INF;
		y->line = (uint32_t)t + 1;
		for (int i = 0; i < x->nops; i++) {
			const struct twin_op *o = &x->ops[i];
			val v = o->v ? val_int(&th->h->vals, o->v) : VAL_NIL;
			if (o->kind == TWIN_READ && h->is_list[o->key]) {
				val e[TWIN_LIST];
				for (int k = 0; k < o->nlist; k++)
					e[k] = val_int(&th->h->vals, o->list[k]);
				v = val_list(&th->h->vals, VK_LIST, e, (uint32_t)o->nlist);
			}
			if (o->kind == TWIN_READ && x->status != TWIN_OK)
				v = VAL_NONE;
			if (!txn_push_op(th, (enum mop_kind)o->kind, o->key, v))
				return false;
			th->txns[th->n - 1].nops++;
		}
	}
	th->realtime = th->sessions = true;
	return true;
}

static inline void gen_txn_print(const struct twin *h)
{
	static const char *const word[] = { "r", "w", "append" };
	for (int t = 0; t < h->n; t++) {
		const struct twin_txn *x = &h->t[t];
		printf("#  T%d session %d %d..%d %s:", t + 1, x->session, x->call, x->ret,
		       x->status == TWIN_OK     ? "ok"
		       : x->status == TWIN_FAIL ? "fail"
		                                : "info");
		for (int i = 0; i < x->nops; i++) {
			const struct twin_op *o = &x->ops[i];
			printf(" %s %c ", word[o->kind], 'x' + o->key);
			if (o->kind == TWIN_READ && h->is_list[o->key]) {
				for (int k = 0; k < o->nlist; k++)
					printf("%s%d", k ? "," : "[", o->list[k]);
				printf(o->nlist ? "]" : "[]");
			} else {
				printf("%d", o->v);
			}
		}
		printf("\n");
	}
}

#endif
