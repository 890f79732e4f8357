/*
 * txn_twin: the isolation levels by their definitions, for histories of up to six transactions: every order of commits, every
 * interleaving of begins and commits, nothing clever. It knows nothing of src/txn but the numbers of the levels.
 *
 * Values are small numbers, 0 is nil; a value of a key is written once. Lists are kept as arrays of elements.
 */
#ifndef INTACT_TESTS_TXN_TWIN_H
#define INTACT_TESTS_TXN_TWIN_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "txn/level.h"

#define TWIN_TXNS 6
#define TWIN_OPS  5
#define TWIN_KEYS 3
#define TWIN_LIST 12

enum { TWIN_READ, TWIN_WRITE, TWIN_APPEND };
enum { TWIN_OK, TWIN_FAIL, TWIN_INFO };

struct twin_op {
	uint8_t kind, key;
	int v;                      /* registers */
	int list[TWIN_LIST], nlist; /* reads of lists */
};

struct twin_txn {
	uint8_t status, session, nops;
	int call, ret;
	struct twin_op ops[TWIN_OPS];
};

struct twin {
	int n;
	bool is_list[TWIN_KEYS];
	struct twin_txn t[TWIN_TXNS];
};

/* ---- running transactions one by one (serializability) or on snapshots --------------------- */

struct twin_state {
	int reg[TWIN_KEYS];
	int list[TWIN_KEYS][TWIN_LIST], n[TWIN_KEYS];
};

/* Runs t on the state; false: a read saw something else. What it writes goes into the state. */
static bool twin_step(const struct twin *h, const struct twin_txn *t, struct twin_state *s)
{
	for (int i = 0; i < t->nops; i++) {
		const struct twin_op *o = &t->ops[i];
		if (o->kind == TWIN_WRITE)
			s->reg[o->key] = o->v;
		else if (o->kind == TWIN_APPEND)
			s->list[o->key][s->n[o->key]++] = o->v;
		else if (t->status != TWIN_OK)
			continue;
		else if (!h->is_list[o->key] && s->reg[o->key] != o->v)
			return false;
		else if (h->is_list[o->key] &&
		         (s->n[o->key] != o->nlist || memcmp(s->list[o->key], o->list, (size_t)o->nlist * sizeof(int))))
			return false;
	}
	return true;
}

/* Does a come before b by the order that counts? */
static bool twin_so(const struct twin *h, int a, int b, enum txn_order o)
{
	const struct twin_txn *x = &h->t[a], *y = &h->t[b];
	if (o == ORDER_NONE || x->status != TWIN_OK)
		return false;
	return o == ORDER_SESSION ? x->session == y->session && x->call < y->call : x->ret < y->call;
}

static bool twin_serial(const struct twin *h, unsigned left, const struct twin_state *s, enum txn_order o)
{
	if (!left)
		return true;
	for (int t = 0; t < h->n; t++) {
		bool first = left >> t & 1;
		for (int u = 0; u < h->n && first; u++)
			first = !(left >> u & 1) || !twin_so(h, u, t, o);
		struct twin_state next = *s;
		if (first && twin_step(h, &h->t[t], &next) && twin_serial(h, left & ~(1u << t), &next, o))
			return true;
	}
	return false;
}

static bool twin_writes(const struct twin_txn *t, int key)
{
	for (int i = 0; i < t->nops; i++)
		if (t->ops[i].kind != TWIN_READ && t->ops[i].key == key)
			return true;
	return false;
}

/* waiting: not begun; open: begun. A transaction reads and writes its snapshot when it begins; its writes take effect when it ends. */
static bool twin_snapshots(const struct twin *h, unsigned waiting, unsigned open, const struct twin_state *s, enum txn_order o,
                           bool first_wins)
{
	if (!waiting && !open)
		return true;
	for (int t = 0; t < h->n; t++) {
		if (open >> t & 1) {
			struct twin_state next = *s;
			struct twin_txn writes = h->t[t];
			writes.status = TWIN_INFO; /* only what it writes */
			twin_step(h, &writes, &next);
			if (twin_snapshots(h, waiting, open & ~(1u << t), &next, o, first_wins))
				return true;
		}
		if (waiting >> t & 1) {
			bool may = true;
			for (int u = 0; u < h->n && may; u++) {
				may = !((waiting | open) >> u & 1) || !twin_so(h, u, t, o);
				for (int k = 0; k < TWIN_KEYS && may && first_wins && (open >> u & 1); k++)
					may = !twin_writes(&h->t[t], k) || !twin_writes(&h->t[u], k);
			}
			struct twin_state view = *s;
			if (may && twin_step(h, &h->t[t], &view) &&
			    twin_snapshots(h, waiting & ~(1u << t), open | 1u << t, s, o, first_wins))
				return true;
		}
	}
	return false;
}

/* ---- definitions by commit orders --------------------------------------------------------- */

struct twin_rel {
	uint8_t to[TWIN_TXNS]; /* bit b of to[a]: a -> b */
};

static bool twin_has(const struct twin_rel *r, int a, int b)
{
	return r->to[a] >> b & 1;
}

static struct twin_rel twin_or(struct twin_rel a, struct twin_rel b)
{
	for (int i = 0; i < TWIN_TXNS; i++)
		a.to[i] |= b.to[i];
	return a;
}

static struct twin_rel twin_then(struct twin_rel a, struct twin_rel b)
{
	struct twin_rel r = { { 0 } };
	for (int i = 0; i < TWIN_TXNS; i++)
		for (int k = 0; k < TWIN_TXNS; k++)
			if (twin_has(&a, i, k))
				r.to[i] |= b.to[k];
	return r;
}

static struct twin_rel twin_plus(struct twin_rel r)
{
	for (int k = 0; k < TWIN_TXNS; k++)
		for (int i = 0; i < TWIN_TXNS; i++)
			if (twin_has(&r, i, k))
				r.to[i] |= r.to[k];
	return r;
}

static bool twin_loops(struct twin_rel r)
{
	for (int i = 0; i < TWIN_TXNS; i++)
		if (twin_has(&r, i, i))
			return true;
	return false;
}

static bool twin_acyclic(struct twin_rel r)
{
	return !twin_loops(twin_plus(r));
}

#define TWIN_INIT (-1)
#define TWIN_BAD  (-2)

/* One external read: place in the transaction, key, whose version. */
struct twin_ext {
	int po, key, from;
};

struct twin_facts {
	unsigned in; /* transactions that count */
	int next[TWIN_TXNS];
	struct twin_ext ext[TWIN_TXNS][TWIN_OPS];
	bool internal, dirty; /* what is wrong with single reads */
	struct twin_rel so, wr;
};

static const struct twin_op *twin_last_write(const struct twin_txn *t, int key)
{
	const struct twin_op *w = NULL;
	for (int i = 0; i < t->nops; i++)
		if (t->ops[i].kind != TWIN_READ && t->ops[i].key == key)
			w = &t->ops[i];
	return w;
}

/* Who wrote v into key: TWIN_BAD when nobody of those that count did, or not as its last write (G1a, G1b). */
static int twin_writer(const struct twin *h, unsigned in, int key, int v)
{
	for (int t = 0; t < h->n; t++)
		for (int i = 0; i < h->t[t].nops; i++) {
			const struct twin_op *o = &h->t[t].ops[i];
			if (o->kind != TWIN_READ && o->key == key && o->v == v)
				return in >> t & 1 ? t : TWIN_BAD;
		}
	return TWIN_BAD;
}

static void twin_facts(const struct twin *h, unsigned in, enum txn_order o, struct twin_facts *f)
{
	memset(f, 0, sizeof *f);
	f->in = in;
	for (int a = 0; a < h->n; a++)
		for (int b = 0; b < h->n; b++)
			if ((in >> a & 1) && (in >> b & 1) && a != b && twin_so(h, a, b, o))
				f->so.to[a] |= (uint8_t)(1u << b);
	for (int t = 0; t < h->n; t++) {
		const struct twin_txn *x = &h->t[t];
		if (!(in >> t & 1) || x->status != TWIN_OK)
			continue;
		for (int i = 0; i < x->nops; i++) {
			const struct twin_op *r = &x->ops[i];
			int own[TWIN_OPS], nown = 0, mine = 0, from;
			if (r->kind != TWIN_READ)
				continue;
			const int *before = NULL;
			int nbefore = 0;
			bool wrote = false;
			for (int k = 0; k < i; k++) {
				const struct twin_op *p = &x->ops[k];
				if (p->key != r->key)
					continue;
				if (p->kind == TWIN_READ) {
					before = p->list;
					nbefore = p->nlist;
					nown = 0;
				} else {
					wrote = true;
					own[nown++] = mine = p->v;
				}
			}
			if (h->is_list[r->key]) {
				for (int e = 0; e < r->nlist; e++) {
					if (twin_writer(h, in, r->key, r->list[e]) == TWIN_BAD)
						f->dirty = true;
					for (int k = i + 1; k < x->nops; k++)
						if (x->ops[k].kind == TWIN_APPEND && x->ops[k].key == r->key &&
						    x->ops[k].v == r->list[e])
							f->dirty = true;
				}
				if (wrote) {
					bool ok = before ? r->nlist == nbefore + nown &&
					                           !memcmp(before, r->list, (size_t)nbefore * sizeof(int))
					                 : r->nlist >= nown;
					for (int e = 0; e < nown && ok; e++)
						ok = r->list[r->nlist - nown + e] == own[e];
					if (ok)
						continue;
					f->internal = true;
				}
				from = r->nlist ? twin_writer(h, in, r->key, r->list[r->nlist - 1]) : TWIN_INIT;
			} else {
				if (wrote) {
					if (mine == r->v)
						continue;
					f->internal = true;
				}
				from = r->v ? twin_writer(h, in, r->key, r->v) : TWIN_INIT;
			}
			if (from == t) { /* its own later write; an earlier one is an internal matter only */
				for (int k = i; k < x->nops; k++)
					if (x->ops[k].kind != TWIN_READ && x->ops[k].key == r->key &&
					    x->ops[k].v == (h->is_list[r->key] ? r->list[r->nlist - 1] : r->v))
						f->dirty = true;
				continue;
			}
			if (from == TWIN_BAD) {
				f->dirty = true;
				continue;
			}
			if (from >= 0) {
				int v = h->is_list[r->key] ? r->list[r->nlist - 1] : r->v;
				if (twin_last_write(&h->t[from], r->key)->v != v)
					f->dirty = true;
				f->wr.to[from] |= (uint8_t)(1u << t);
			}
			f->ext[t][f->next[t]++] = (struct twin_ext){ i, r->key, from };
		}
	}
}

/* Do the lists fit the commit order: each that was read is the whole list up to its last element? */
static bool twin_lists_fit(const struct twin *h, const struct twin_facts *f, const int *place)
{
	for (int t = 0; t < h->n; t++)
		for (int i = 0; i < h->t[t].nops && (f->in >> t & 1) && h->t[t].status == TWIN_OK; i++) {
			const struct twin_op *r = &h->t[t].ops[i];
			if (r->kind != TWIN_READ || !h->is_list[r->key] || !r->nlist)
				continue;
			int last = -1;
			unsigned there = 0;
			for (int e = 0; e < r->nlist; e++) {
				int w = twin_writer(h, f->in, r->key, r->list[e]);
				if (w == TWIN_BAD)
					continue;
				if (last >= 0 && w != last && place[w] < place[last])
					return false;
				there |= 1u << w;
				last = w;
			}
			for (int u = 0; u < h->n && last >= 0; u++)
				if ((f->in >> u & 1) && twin_writes(&h->t[u], r->key) && !(there >> u & 1) &&
				    place[u] < place[last])
					return false;
		}
	return true;
}

/* The level, for this commit order (place by transaction). */
static bool twin_level(const struct twin *h, const struct twin_facts *f, const int *place, enum txn_level l)
{
	struct twin_rel co = { { 0 } }, ww = { { 0 } }, rw = { { 0 } };
	for (int a = 0; a < h->n; a++)
		for (int b = 0; b < h->n; b++)
			if ((f->in >> a & 1) && (f->in >> b & 1) && place[a] < place[b]) {
				co.to[a] |= (uint8_t)(1u << b);
				for (int k = 0; k < TWIN_KEYS; k++)
					if (twin_writes(&h->t[a], k) && twin_writes(&h->t[b], k))
						ww.to[a] |= (uint8_t)(1u << b);
			}
	for (int t = 0; t < h->n; t++)
		for (int i = 0; i < f->next[t]; i++)
			for (int b = 0; b < h->n; b++) {
				const struct twin_ext *e = &f->ext[t][i];
				if ((f->in >> b & 1) && b != t && b != e->from && twin_writes(&h->t[b], e->key) &&
				    (e->from == TWIN_INIT || place[e->from] < place[b]))
					rw.to[t] |= (uint8_t)(1u << b);
			}
	struct twin_rel vis = twin_or(f->so, f->wr), dep = twin_or(vis, ww);
	if (!twin_acyclic(twin_or(f->so, co)))
		return false;
	if (l == LEVEL_RU)
		return true;
	if (!twin_acyclic(twin_or(dep, co)))
		return false;
	struct twin_rel plus = twin_plus(dep);
	switch (l) {
	case LEVEL_RC:
		return true;
	case LEVEL_RA: /* (t2, t3) visible: t3 does not miss t2 */
		return !twin_loops(twin_then(vis, rw));
	case LEVEL_CC:
		return !twin_loops(twin_then(twin_plus(vis), rw));
	case LEVEL_UA:
		return !twin_loops(twin_then(dep, rw));
	case LEVEL_CV:
		return !twin_loops(twin_then(plus, rw));
	case LEVEL_PC: /* co* ; vis ; rw */
		return !twin_loops(twin_then(twin_or(vis, twin_then(co, vis)), rw));
	case LEVEL_SI: /* and co* ; (co between writers of a key) ; rw */
		return !twin_loops(twin_then(twin_or(dep, twin_then(co, dep)), rw));
	case LEVEL_SER:
		return twin_acyclic(twin_or(dep, rw));
	default:
		break;
	}
	for (int t = 0; t < h->n; t++) {
		if (!(f->in >> t & 1))
			continue;
		if (l == LEVEL_US) {
			struct twin_rel some = twin_or(dep, rw);
			for (int u = 0; u < h->n; u++) {
				bool updates = false;
				for (int k = 0; k < TWIN_KEYS; k++)
					updates |= twin_writes(&h->t[u], k);
				if (updates || u == t)
					continue;
				some.to[u] = 0;
			}
			if (!twin_acyclic(some))
				return false;
			continue;
		}
		for (int i = 0; i < f->next[t]; i++) {
			const struct twin_ext *e = &f->ext[t][i];
			for (int b = 0; b < h->n; b++) {
				if (!(f->in >> b & 1) || b == t || b == e->from || !twin_writes(&h->t[b], e->key) ||
				    (e->from != TWIN_INIT && place[b] < place[e->from]))
					continue;
				/* t misses b's version of the key */
				if (l == LEVEL_CS) {
					bool then = twin_writes(&h->t[t], e->key);
					for (int k = i + 1; k < f->next[t]; k++)
						then &= f->ext[t][k].key != e->key;
					for (int k = 0; k < e->po; k++)
						then &= h->t[t].ops[k].kind == TWIN_READ || h->t[t].ops[k].key != e->key;
					if (then && place[b] < place[t])
						return false;
				}
				if (l == LEVEL_MAV)
					for (int k = 0; k < i; k++)
						if (f->ext[t][k].from == b)
							return false;
				if (l == LEVEL_MV) {
					uint8_t earlier = 0; /* what operations before the read depend on directly */
					for (int u = 0; u < h->n; u++)
						if (twin_has(&f->so, u, t))
							earlier |= (uint8_t)(1u << u);
					for (int k = 0; k < i; k++)
						if (f->ext[t][k].from >= 0)
							earlier |= (uint8_t)(1u << f->ext[t][k].from);
					for (int k = 0; k < e->po; k++) {
						const struct twin_op *w = &h->t[t].ops[k];
						if (w->kind == TWIN_READ || twin_last_write(&h->t[t], w->key) != w)
							continue;
						for (int u = 0; u < h->n; u++)
							if ((f->in >> u & 1) && twin_writes(&h->t[u], w->key) &&
							    place[u] < place[t])
								earlier |= (uint8_t)(1u << u);
					}
					for (int u = 0; u < h->n; u++)
						if ((earlier >> u & 1) && (u == b || twin_has(&plus, b, u)))
							return false;
				}
			}
		}
	}
	return true;
}

/* Every commit order of the transactions that count, for all levels at once: *yes gets a bit for each that some order satisfies. */
static void twin_orders(const struct twin *h, const struct twin_facts *f, int *place, int at, unsigned left, unsigned wanted,
                        unsigned *yes)
{
	if (!left) {
		if (!twin_lists_fit(h, f, place))
			return;
		for (int l = 0; l < LEVEL_COUNT; l++)
			if ((wanted & ~*yes) >> l & 1 && twin_level(h, f, place, (enum txn_level)l))
				*yes |= 1u << l;
		return;
	}
	for (int t = 0; t < h->n && (wanted & ~*yes); t++)
		if (left >> t & 1) {
			place[t] = at;
			twin_orders(h, f, place, at + 1, left & ~(1u << t), wanted, yes);
		}
}

/* The transactions of which a committed one saw a write. */
static unsigned twin_seen(const struct twin *h)
{
	unsigned seen = 0, all = (1u << h->n) - 1;
	for (int t = 0; t < h->n; t++)
		for (int i = 0; i < h->t[t].nops && h->t[t].status == TWIN_OK; i++) {
			const struct twin_op *r = &h->t[t].ops[i];
			for (int e = 0; r->kind == TWIN_READ && e < (h->is_list[r->key] ? r->nlist : r->v != 0); e++) {
				int w = twin_writer(h, all, r->key, h->is_list[r->key] ? r->list[e] : r->v);
				seen |= w >= 0 ? 1u << w : 0;
			}
		}
	return seen;
}

/* A list that was read behind an own append counts as the key's list at that version (docs/transactions.md); a run
 * of transactions on snapshots that may conflict shows another one. */
static bool twin_reads_own_list(const struct twin *h)
{
	for (int t = 0; t < h->n; t++)
		for (int i = 0; i < h->t[t].nops; i++)
			for (int k = 0; k < i; k++)
				if (h->t[t].ops[i].kind == TWIN_READ && h->t[t].ops[k].kind == TWIN_APPEND &&
				    h->t[t].ops[i].key == h->t[t].ops[k].key)
					return true;
	return false;
}

/* Bits of the levels that the history satisfies with this order: by definition, transactions of unknown fate in or out. */
static unsigned twin_judge(const struct twin *h, enum txn_order o)
{
	unsigned ok = 0, info = 0, yes = 0;
	for (int t = 0; t < h->n; t++) {
		ok |= h->t[t].status == TWIN_OK ? 1u << t : 0;
		info |= h->t[t].status == TWIN_INFO ? 1u << t : 0;
	}
	for (unsigned some = info;; some = (some - 1) & info) {
		struct twin_facts f;
		int place[TWIN_TXNS] = { 0 };
		twin_facts(h, ok | some, o, &f);
		if (twin_seen(h) & info & ~some) { /* somebody saw a write of it: it took effect */
			if (!some)
				break;
			continue;
		}
		unsigned wanted = (1u << LEVEL_COUNT) - 1;
		if (f.dirty)
			wanted = 1u << LEVEL_RU;
		else if (f.internal)
			wanted = 1u << LEVEL_RU | 1u << LEVEL_RC;
		twin_orders(h, &f, place, 0, ok | some, wanted, &yes);
		if (!some)
			break;
	}
	return yes;
}

/* The same for three levels by running the transactions: -1 when that would take too long. */
static int twin_run(const struct twin *h, enum txn_level l, enum txn_order o)
{
	unsigned ok = 0, info = 0;
	struct twin_state s;
	memset(&s, 0, sizeof s);
	for (int t = 0; t < h->n; t++) {
		ok |= h->t[t].status == TWIN_OK ? 1u << t : 0;
		info |= h->t[t].status == TWIN_INFO ? 1u << t : 0;
	}
	if ((l != LEVEL_SER && __builtin_popcount(ok | info) > 4) || (l == LEVEL_PC && twin_reads_own_list(h)))
		return -1;
	for (unsigned some = info;; some = (some - 1) & info) {
		unsigned all = ok | some;
		if (l == LEVEL_SER ? twin_serial(h, all, &s, o) : twin_snapshots(h, all, 0, &s, o, l == LEVEL_SI))
			return 1;
		if (!some)
			return 0;
	}
}

#endif
