/*
 * deps: see deps.h. Cost: linear in the micro-operations and the elements of the lists read.
 */
#include "txn/deps.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"

#define ANOMALIES_KEPT 64u

const char *const anomaly_names[] = {
	[ANOMALY_NONE] = "none",
	[ANOMALY_INTERNAL] = "internal",
	[ANOMALY_G1A] = "G1a",
	[ANOMALY_G1B] = "G1b",
	[ANOMALY_GARBAGE] = "garbage-read",
	[ANOMALY_FUTURE] = "future-read",
	[ANOMALY_DIRTY_UPDATE] = "dirty-update",
	[ANOMALY_DUPLICATE] = "duplicate-elements",
	[ANOMALY_INCOMPATIBLE] = "incompatible-order",
	[ANOMALY_G0] = "G0",
	[ANOMALY_G1C] = "G1c",
	[ANOMALY_LOST_UPDATE] = "lost-update",
	[ANOMALY_FRACTURED_READ] = "fractured-read",
	[ANOMALY_LONG_FORK] = "long-fork",
	[ANOMALY_WRITE_SKEW] = "write-skew",
	[ANOMALY_G_SINGLE] = "G-single",
	[ANOMALY_G_NONADJACENT] = "G-nonadjacent",
	[ANOMALY_G2_ITEM] = "G2-item",
	[ANOMALY_G_CURSOR] = "G-cursor",
	[ANOMALY_G_MONOTONIC] = "G-monotonic",
	[ANOMALY_NO_ORDER] = "no-order",
	NULL,
};

/* One write of the history: who made it, and where. */
struct written {
	uint32_t txn, op; /* its last write of the value */
	uint32_t times;   /* how often it wrote it */
	uint32_t next;    /* another transaction's write of the same value + 1, or 0 */
};

struct txn_builder {
	struct deps *d;
	const struct txn_history *th;
	struct arena *a;
	struct diags *diags;
	struct map by_value; /* (key, value) -> index into `writes` */
	AVEC(struct written) writes;
	uint8_t *kind;        /* by key: 1 register, 2 list */
	uint32_t *stamp;      /* by key: transaction + 1 that touched it last */
	uint32_t *last_write; /* ... its last write of it (op) + 1, or 0 */
	uint32_t *last_read;  /* ... and its last read + 1, or 0 */
	uint32_t *slot;       /* by key: scratch */
	bool *seen;           /* by transaction: another transaction saw a write of it */
	val *longest;         /* by key: the longest list that was read, or VAL_NONE */
	uint32_t *longest_txn, *longest_op;
};

static const struct mop *op_at(const struct txn_builder *b, uint32_t t, uint32_t op)
{
	assert(t < b->th->n && op < b->th->txns[t].nops);
	return &b->th->ops[b->th->txns[t].first + op];
}

static void anomaly(struct txn_builder *b, enum anomaly_kind k, uint32_t t, uint32_t op, uint32_t other, uint32_t other_op, val v)
{
	assert(k > ANOMALY_NONE && k < ANOMALY_G0 && t < b->th->n);
	assert(other == DEPS_NONE || other < b->th->n);
	struct anomaly x = { (uint8_t)k, t, op, other, other_op, v };
	if (b->d->nanomalies[k]++ < ANOMALIES_KEPT)
		avec_push(b->a, &b->d->anomalies, x);
}

static uint64_t value_key(uint32_t key, val v)
{
	return (uint64_t)key << 32 | v;
}

/* ---- who wrote what ------------------------------------------------------------------- */

static bool note_write(struct txn_builder *b, uint32_t t, uint32_t op)
{
	const struct mop *m = op_at(b, t, op);
	assert(m->kind != MOP_READ && m->key < b->th->h->keys.len);
	uint8_t kind = m->kind == MOP_APPEND ? 2 : 1;
	if (b->kind[m->key] && b->kind[m->key] != kind) {
		struct buf key;
		buf_init(&key);
		val_print(&b->th->h->vals, b->th->h->keys.data[m->key], &key);
		diag_error(b->diags, "mixed-key", b->th->h->show_line ? b->th->h->show_line(b->th->h, b->th->txns[t].line) : NULL,
		           (struct span){ 0, 0 }, "key %s is both written and appended to", buf_cstr(&key));
		diag_hint(b->diags, "a key is a register (w) or a list (append)");
		buf_free(&key);
		return false;
	}
	b->kind[m->key] = kind;
	uint32_t id = b->writes.len, first = id;
	struct written w = { t, op, 1, 0 };
	if (!map_intern(&b->by_value, value_key(m->key, m->v), &first))
		longjmp(*b->a->oom, 1);
	if (first != id) {
		/* the same transaction again: the later one counts */
		for (uint32_t i = first + 1; i; i = b->writes.data[i - 1].next)
			if (b->writes.data[i - 1].txn == t) {
				b->writes.data[i - 1].op = op;
				b->writes.data[i - 1].times++;
				return true;
			}
		w.next = b->writes.data[first].next;
		b->writes.data[first].next = id + 1;
	}
	avec_push(b->a, &b->writes, w);
	assert(b->writes.len);
	return true;
}

static bool collect_writes(struct txn_builder *b)
{
	for (uint32_t t = 0; t < b->th->n; t++)
		for (uint32_t i = 0; i < b->th->txns[t].nops; i++)
			if (op_at(b, t, i)->kind != MOP_READ && !note_write(b, t, i))
				return false;
	return true;
}

/* The write that a read of this value by t saw, or NULL. Of several, one that committed is preferred; *several: there are others
 * that could be it. */
static const struct written *writer_of(const struct txn_builder *b, uint32_t key, val v, bool *several)
{
	assert(key < b->th->h->keys.len && v != VAL_NONE);
	uint32_t i = map_get(&b->by_value, value_key(key, v));
	const struct written *best = NULL;
	uint32_t possible = 0;
	*several = false;
	if (i == MAP_NONE)
		return NULL;
	for (i++; i; i = b->writes.data[i - 1].next) {
		const struct written *w = &b->writes.data[i - 1];
		uint8_t s = b->th->txns[w->txn].status;
		possible += s != TXN_ABORTED;
		if (!best || s < b->th->txns[best->txn].status ||
		    (s == TXN_UNKNOWN && b->th->txns[best->txn].status == TXN_ABORTED))
			best = w;
	}
	*several = possible > 1;
	assert(best);
	return best;
}

/* How often the value was written, by transactions that aborted and by others. */
static uint32_t times_written(const struct txn_builder *b, uint32_t key, val v, uint32_t *aborted)
{
	uint32_t i = map_get(&b->by_value, value_key(key, v)), n = 0;
	*aborted = 0;
	for (i = i == MAP_NONE ? 0 : i + 1; i; i = b->writes.data[i - 1].next) {
		const struct written *w = &b->writes.data[i - 1];
		*(b->th->txns[w->txn].status == TXN_ABORTED ? aborted : &n) += w->times;
	}
	return n;
}

static uint32_t aborted_writer(const struct txn_builder *b, uint32_t key, val v)
{
	uint32_t i = map_get(&b->by_value, value_key(key, v));
	for (i = i == MAP_NONE ? 0 : i + 1; i; i = b->writes.data[i - 1].next)
		if (b->th->txns[b->writes.data[i - 1].txn].status == TXN_ABORTED)
			return b->writes.data[i - 1].txn;
	return DEPS_NONE;
}

/* Nil, or the initial value. When a transaction may have written it, too, it is ambiguous. */
static bool is_initial(const struct txn_builder *b, const struct mop *m)
{
	assert(m->kind == MOP_READ);
	return m->v == VAL_NIL || m->v == b->d->init;
}

static void ambiguous(struct txn_builder *b, uint32_t t, uint32_t op, uint32_t other, uint32_t other_op, val v)
{
	if (!b->d->nambiguous++)
		b->d->ambiguous = (struct anomaly){ ANOMALY_NONE, t, op, other, other_op, v };
}

static void guess_initial(struct txn_builder *b)
{
	val zero = val_int(&b->th->h->vals, 0);
	bool nil = false, unwritten = false;
	for (uint32_t t = 0; t < b->th->n; t++)
		for (uint32_t i = 0; i < b->th->txns[t].nops; i++) {
			const struct mop *m = op_at(b, t, i);
			if (m->kind != MOP_READ || b->kind[m->key] == 2)
				continue;
			nil |= m->v == VAL_NIL;
			unwritten |= m->v == zero && map_get(&b->by_value, value_key(m->key, zero)) == MAP_NONE;
		}
	b->d->init_guessed = unwritten && !nil;
	b->d->init = b->d->init_guessed ? zero : VAL_NIL;
	assert(b->d->init != VAL_NONE);
}

/* ---- walking through a transaction ------------------------------------------------------ */

static void touch(struct txn_builder *b, uint32_t t, uint32_t key)
{
	if (b->stamp[key] == t + 1)
		return;
	b->stamp[key] = t + 1;
	b->last_write[key] = b->last_read[key] = 0;
	assert(b->stamp[key] == t + 1);
}

/* Is this read external? Else it must agree with what its transaction did before; *ok says whether. */
static bool external(struct txn_builder *b, uint32_t t, uint32_t op, bool *ok)
{
	const struct mop *m = op_at(b, t, op);
	*ok = true;
	if (!b->last_write[m->key])
		return true;
	if (b->kind[m->key] == 1) {
		*ok = m->v == op_at(b, t, b->last_write[m->key] - 1)->v;
		return false;
	}
	/* a list: what was read before, if anything, and then the own appends */
	uint32_t n, k, own = 0;
	const val *list = val_elems(&b->th->h->vals, m->v, &n), *before = NULL;
	uint32_t from = b->last_read[m->key];
	if (from)
		before = val_elems(&b->th->h->vals, op_at(b, t, from - 1)->v, &k);
	else
		k = 0;
	for (uint32_t i = from; i < op; i++)
		own += op_at(b, t, i)->kind == MOP_APPEND && op_at(b, t, i)->key == m->key;
	if (n < own || (from && n != k + own) || (from && k && memcmp(list, before, k * sizeof *list))) {
		*ok = false;
		return false;
	}
	uint32_t at = n - own;
	for (uint32_t i = from; i < op; i++)
		if (op_at(b, t, i)->kind == MOP_APPEND && op_at(b, t, i)->key == m->key && list[at++] != op_at(b, t, i)->v)
			*ok = false;
	return false;
}

/* ---- lists ------------------------------------------------------------------------------- */

/* The list that a read saw must be a beginning of the longest, or the longest of it. */
static void compare_lists(struct txn_builder *b, uint32_t t, uint32_t op)
{
	assert(op_at(b, t, op)->kind == MOP_READ);
	const struct mop *m = op_at(b, t, op);
	uint32_t n, k;
	const val *list = val_elems(&b->th->h->vals, m->v, &n);
	if (!n)
		return;
	if (b->longest[m->key] == VAL_NONE) {
		b->longest[m->key] = m->v;
		b->longest_txn[m->key] = t;
		b->longest_op[m->key] = op;
		return;
	}
	const val *longest = val_elems(&b->th->h->vals, b->longest[m->key], &k);
	uint32_t less = n < k ? n : k;
	if (m->v != b->longest[m->key] && memcmp(list, longest, less * sizeof *list))
		anomaly(b, ANOMALY_INCOMPATIBLE, t, op, b->longest_txn[m->key], b->longest_op[m->key], VAL_NONE);
	else if (n > k) {
		b->longest[m->key] = m->v;
		b->longest_txn[m->key] = t;
		b->longest_op[m->key] = op;
	}
}

/* Every element of a list that was read has a writer, none aborted; each stands there once, or as often as it was appended. */
static void check_elements(struct txn_builder *b, uint32_t t, uint32_t op, struct map *once)
{
	assert(op_at(b, t, op)->kind == MOP_READ);
	const struct mop *m = op_at(b, t, op);
	uint32_t n;
	const val *list = val_elems(&b->th->h->vals, m->v, &n);
	uint32_t aborted = DEPS_NONE;
	for (uint32_t i = 0; i < n; i++) {
		bool several;
		const struct written *w = writer_of(b, m->key, list[i], &several);
		uint32_t seen = map_get(once, list[i]), gone, times = times_written(b, m->key, list[i], &gone);
		seen = seen == MAP_NONE ? 1 : seen + 1;
		if (!map_put(once, list[i], seen))
			longjmp(*b->a->oom, 1);
		if (seen > 1 && seen > times + gone) {
			anomaly(b, ANOMALY_DUPLICATE, t, op, w ? w->txn : DEPS_NONE, w ? w->op : DEPS_NONE, list[i]);
			continue;
		}
		if (times && seen > times) { /* one of them is of a transaction that aborted */
			anomaly(b, ANOMALY_G1A, t, op, aborted_writer(b, m->key, list[i]), DEPS_NONE, list[i]);
			continue;
		}
		if (!w) {
			anomaly(b, ANOMALY_GARBAGE, t, op, DEPS_NONE, DEPS_NONE, list[i]);
			continue;
		}
		if (several || times > 1) {
			ambiguous(b, t, op, w->txn, w->op, list[i]);
			b->d->nambiguous_lists++;
		}
		b->seen[w->txn] = true;
		uint8_t s = b->th->txns[w->txn].status;
		if (s == TXN_ABORTED) {
			anomaly(b, ANOMALY_G1A, t, op, w->txn, w->op, list[i]);
			aborted = i;
		} else if (aborted != DEPS_NONE && s == TXN_COMMITTED) {
			anomaly(b, ANOMALY_DIRTY_UPDATE, t, op, w->txn, w->op, list[aborted]);
			aborted = DEPS_NONE;
		}
	}
}

/* ---- first pass: single reads ------------------------------------------------------------- */

static bool is_list(const struct txn_builder *b, const struct mop *m)
{
	assert(m->kind == MOP_READ);
	enum value_kind k = val_kind(&b->th->h->vals, m->v);
	return b->kind[m->key] == 2 || (!b->kind[m->key] && k == VK_LIST);
}

/* Elements were checked when a list is a beginning of one that was: only lists that differ need it again. */
static void look_at_list(struct txn_builder *b, uint32_t t, uint32_t op)
{
	assert(op_at(b, t, op)->kind == MOP_READ);
	const struct mop *m = op_at(b, t, op);
	uint32_t n, k = 0;
	const val *list = val_elems(&b->th->h->vals, m->v, &n), *longest = NULL;
	if (val_kind(&b->th->h->vals, m->v) != VK_LIST && m->v != VAL_NIL) {
		anomaly(b, ANOMALY_GARBAGE, t, op, DEPS_NONE, DEPS_NONE, m->v);
		return;
	}
	for (uint32_t i = op + 1; i < b->th->txns[t].nops; i++) {
		const struct mop *later = op_at(b, t, i);
		for (uint32_t e = 0; later->kind == MOP_APPEND && later->key == m->key && e < n; e++)
			if (list[e] == later->v)
				anomaly(b, ANOMALY_FUTURE, t, op, t, i, later->v);
	}
	if (b->longest[m->key] != VAL_NONE)
		longest = val_elems(&b->th->h->vals, b->longest[m->key], &k);
	bool known = n <= k && (!n || !memcmp(list, longest, n * sizeof *list));
	if (!known) {
		struct map once;
		map_init(&once);
		check_elements(b, t, op, &once);
		map_free(&once);
		compare_lists(b, t, op);
	}
}

static void look_at_register(struct txn_builder *b, uint32_t t, uint32_t op)
{
	assert(op_at(b, t, op)->kind == MOP_READ);
	const struct mop *m = op_at(b, t, op);
	bool several;
	const struct written *w = writer_of(b, m->key, m->v, &several);
	if (is_initial(b, m)) {
		if (w && b->th->txns[w->txn].status != TXN_ABORTED) {
			ambiguous(b, t, op, DEPS_NONE, DEPS_NONE, m->v);
			b->seen[w->txn] = true;
		}
		return;
	}
	if (!w) {
		anomaly(b, ANOMALY_GARBAGE, t, op, DEPS_NONE, DEPS_NONE, m->v);
		return;
	}
	if (several)
		ambiguous(b, t, op, w->txn, w->op, m->v);
	b->seen[w->txn] = true;
	if (b->th->txns[w->txn].status == TXN_ABORTED)
		anomaly(b, ANOMALY_G1A, t, op, w->txn, w->op, m->v);
}

/* Aborted reads, garbage, internal contradictions; which transactions of unknown fate took effect. */
static void look_at_reads(struct txn_builder *b)
{
	for (uint32_t t = 0; t < b->th->n; t++) {
		const struct txn *x = &b->th->txns[t];
		if (x->status != TXN_COMMITTED)
			continue;
		for (uint32_t i = 0; i < x->nops; i++) {
			const struct mop *m = op_at(b, t, i);
			touch(b, t, m->key);
			if (m->kind != MOP_READ) {
				b->last_write[m->key] = i + 1;
				continue;
			}
			if (m->v == VAL_NONE)
				continue;
			bool ok, outside = external(b, t, i, &ok);
			if (!ok)
				anomaly(b, ANOMALY_INTERNAL, t, i, t, b->last_write[m->key] - 1, m->v);
			if (is_list(b, m))
				look_at_list(b, t, i);
			else if (outside || !ok)
				look_at_register(b, t, i);
			b->last_read[m->key] = i + 1;
		}
	}
}

/* ---- second pass: the transactions that count, their versions and reads --------------------- */

static void keep_transactions(struct txn_builder *b)
{
	struct deps *d = b->d;
	uint32_t n = 0;
	d->dense = arena_array(b->a, uint32_t, b->th->n + 1);
	for (uint32_t t = 0; t < b->th->n; t++) {
		uint8_t s = b->th->txns[t].status;
		d->dense[t] = s == TXN_COMMITTED || (s == TXN_UNKNOWN && b->seen[t]) ? n++ : DEPS_NONE;
	}
	d->n = n;
	assert(n <= b->th->n);
	d->txn = arena_array(b->a, uint32_t, n + 1);
	d->prev = arena_array(b->a, uint32_t, n + 1);
	uint32_t *last = arena_array(b->a, uint32_t, b->th->nsessions + 1);
	for (uint32_t t = 0; t < b->th->n; t++) {
		const struct txn *x = &b->th->txns[t];
		if (d->dense[t] == DEPS_NONE)
			continue;
		d->txn[d->dense[t]] = t;
		d->prev[d->dense[t]] = last[x->session] ? last[x->session] - 1 : DEPS_NONE;
		if (x->status == TXN_COMMITTED) /* the other kind may take effect at any later time */
			last[x->session] = d->dense[t] + 1;
	}
}

/* Versions by key, and by transaction. */
static void make_versions(struct txn_builder *b)
{
	struct deps *d = b->d;
	d->nkeys = b->th->h->keys.len;
	d->key_first = arena_array(b->a, uint32_t, d->nkeys + 2);
	d->write_first = arena_array(b->a, uint32_t, d->n + 1);
	memset(b->stamp, 0, d->nkeys * sizeof *b->stamp);
	uint32_t nwrites = 0;
	for (uint32_t k = 0; k < d->nkeys; k++)
		d->key_first[k + 1] = 1;
	for (uint32_t t = 0; t < d->n; t++) {
		uint32_t h = d->txn[t];
		for (uint32_t i = 0; i < b->th->txns[h].nops; i++) {
			const struct mop *m = op_at(b, h, i);
			if (m->kind == MOP_READ || b->stamp[m->key] == t + 1)
				continue;
			b->stamp[m->key] = t + 1;
			d->key_first[m->key + 1]++;
			nwrites++;
		}
		d->write_first[t + 1] = nwrites;
	}
	for (uint32_t k = 0; k < d->nkeys; k++)
		d->key_first[k + 1] += d->key_first[k];
	d->nversions = d->key_first[d->nkeys];
	d->versions = arena_array(b->a, struct dversion, d->nversions + 1);
	d->writes = arena_array(b->a, uint32_t, nwrites + 1);
	for (uint32_t k = 0; k < d->nkeys; k++) {
		b->slot[k] = d->key_first[k];
		d->versions[b->slot[k]++] = (struct dversion){ .key = k, .t = DEPS_NONE, .v = VAL_NIL };
	}
	memset(b->stamp, 0, d->nkeys * sizeof *b->stamp);
	nwrites = 0;
	for (uint32_t t = 0; t < d->n; t++) {
		uint32_t h = d->txn[t];
		for (uint32_t i = 0; i < b->th->txns[h].nops; i++) {
			const struct mop *m = op_at(b, h, i);
			if (m->kind == MOP_READ)
				continue;
			if (b->stamp[m->key] != t + 1) {
				b->stamp[m->key] = t + 1;
				d->writes[nwrites++] = b->slot[m->key];
				d->versions[b->slot[m->key]++] = (struct dversion){ .key = m->key, .t = t, .first_po = i };
			}
			struct dversion *v = &d->versions[b->slot[m->key] - 1];
			assert(v->t == t);
			v->po = i;
			v->v = m->v;
		}
	}
	assert(d->key_first[d->nkeys] == d->nversions && d->write_first[d->n] + d->nkeys == d->nversions);
}

/* The version of `key` by this transaction (it has one). */
static uint32_t version_by(const struct deps *d, uint32_t key, uint32_t t)
{
	uint32_t lo = d->key_first[key] + 1, hi = d->key_first[key + 1];
	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (d->versions[mid].t <= t)
			lo = mid;
		else
			hi = mid;
	}
	assert(d->versions[lo].t == t);
	return lo;
}

/* The version that this external read of dense transaction t saw, or DEPS_NONE (garbage, aborted, its own). */
static uint32_t version_read(struct txn_builder *b, uint32_t t, uint32_t op)
{
	assert(t < b->d->n);
	struct deps *d = b->d;
	uint32_t h = d->txn[t], n;
	const struct mop *m = op_at(b, h, op);
	val v = m->v;
	if (is_list(b, m)) {
		const val *list = val_elems(&b->th->h->vals, v, &n);
		if (!n)
			return v == VAL_NIL || val_kind(&b->th->h->vals, v) == VK_LIST ? deps_init_version(d, m->key) : DEPS_NONE;
		v = list[n - 1];
	} else if (is_initial(b, m)) {
		return deps_init_version(d, m->key);
	}
	bool several;
	const struct written *w = writer_of(b, m->key, v, &several);
	if (!w || d->dense[w->txn] == DEPS_NONE)
		return DEPS_NONE;
	if (w->txn == h) {                        /* else its own earlier write: an internal anomaly, noted already */
		if (w->op > op && !is_list(b, m)) /* lists were looked at */
			anomaly(b, ANOMALY_FUTURE, h, op, h, w->op, v);
		return DEPS_NONE;
	}
	uint32_t version = version_by(d, m->key, d->dense[w->txn]);
	if (d->versions[version].v != v)
		anomaly(b, ANOMALY_G1B, h, op, w->txn, w->op, v);
	return version;
}

static void make_reads(struct txn_builder *b)
{
	struct deps *d = b->d;
	AVEC(struct dread) reads = { 0 };
	d->read_first = arena_array(b->a, uint32_t, d->n + 1);
	memset(b->stamp, 0, d->nkeys * sizeof *b->stamp);
	for (uint32_t t = 0; t < d->n; t++) {
		uint32_t h = d->txn[t];
		const struct txn *x = &b->th->txns[h];
		for (uint32_t i = 0; i < x->nops; i++) {
			const struct mop *m = op_at(b, h, i);
			if (b->stamp[m->key] != t + 1) {
				b->stamp[m->key] = t + 1;
				b->last_write[m->key] = b->last_read[m->key] = 0;
				b->slot[m->key] = 0;
			}
			if (m->kind != MOP_READ) {
				if (!b->last_write[m->key] && b->slot[m->key])
					reads.data[b->slot[m->key] - 1].then_written = true;
				b->last_write[m->key] = i + 1;
			} else if (m->v != VAL_NONE) {
				bool ok, outside = external(b, h, i, &ok);
				if (outside || !ok) {
					uint32_t v = version_read(b, t, i);
					struct dread r = { v, i, false };
					if (v != DEPS_NONE) {
						avec_push(b->a, &reads, r);
						b->slot[m->key] = reads.len;
					}
				}
				b->last_read[m->key] = i + 1;
			}
		}
		d->read_first[t + 1] = reads.len;
	}
	d->reads = reads.data;
	assert(d->read_first[d->n] == reads.len);
}

static void make_readers(struct txn_builder *b)
{
	struct deps *d = b->d;
	uint32_t nreads = d->read_first[d->n];
	d->reader_first = arena_array(b->a, uint32_t, d->nversions + 2);
	d->readers = arena_array(b->a, uint32_t, nreads + 1);
	for (uint32_t i = 0; i < nreads; i++)
		d->reader_first[d->reads[i].version + 1]++;
	for (uint32_t v = 0; v < d->nversions; v++)
		d->reader_first[v + 1] += d->reader_first[v];
	uint32_t *at = arena_array(b->a, uint32_t, d->nversions + 1);
	memcpy(at, d->reader_first, d->nversions * sizeof *at);
	for (uint32_t t = 0; t < d->n; t++)
		for (uint32_t i = d->read_first[t]; i < d->read_first[t + 1]; i++) {
			uint32_t v = d->reads[i].version;
			if (at[v] == d->reader_first[v] || d->readers[at[v] - 1] != t)
				d->readers[at[v]++] = t;
		}
	/* those that read a version twice leave holes: close them */
	uint32_t to = 0;
	for (uint32_t v = 0; v < d->nversions; v++) {
		uint32_t from = d->reader_first[v], end = at[v];
		d->reader_first[v] = to;
		for (; from < end; from++)
			d->readers[to++] = d->readers[from];
	}
	d->reader_first[d->nversions] = to;
	assert(to <= nreads && d->reader_first[0] == 0);
}

/* The order of versions that the longest list of each key shows; appends that are not in it come behind. */
static void order_lists(struct txn_builder *b)
{
	struct deps *d = b->d;
	bool *in = arena_array(b->a, bool, d->nversions + 1);
	for (uint32_t k = 0; k < d->nkeys; k++) {
		uint32_t n, last = DEPS_NONE;
		if (b->kind[k] != 2)
			continue;
		const val *list = b->longest[k] == VAL_NONE ? NULL : val_elems(&b->th->h->vals, b->longest[k], &n);
		for (uint32_t i = 0; list && i < n; i++) {
			bool several;
			const struct written *w = writer_of(b, k, list[i], &several);
			if (!w || d->dense[w->txn] == DEPS_NONE)
				continue;
			uint32_t v = version_by(d, k, d->dense[w->txn]);
			in[v] = true;
			if (last != DEPS_NONE && last != v)
				avec_push(b->a, &d->known, ((struct dpair){ last, v }));
			last = v;
		}
		for (uint32_t v = d->key_first[k] + 1; v < d->key_first[k + 1]; v++) {
			if (in[v])
				continue;
			d->nunseen++;
			if (last != DEPS_NONE)
				avec_push(b->a, &d->known, ((struct dpair){ last, v }));
		}
	}
}

/* ---- the order of versions that is assumed ------------------------------------------------------ */

static void known(struct txn_builder *b, uint32_t x, uint32_t y)
{
	avec_push(b->a, &b->d->known, ((struct dpair){ x, y }));
}

static int by_ret(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return *x < *y ? -1 : *x > *y;
}

/* The versions of a key whose transactions answered, by their answers: (rank, version). */
static uint32_t sort_by_ret(struct txn_builder *b, uint32_t key, uint64_t *list)
{
	const struct deps *d = b->d;
	uint32_t n = 0;
	for (uint32_t v = d->key_first[key] + 1; v < d->key_first[key + 1]; v++)
		if (b->th->txns[d->txn[d->versions[v].t]].ret != RANK_INF)
			list[n++] = (uint64_t)b->th->txns[d->txn[d->versions[v].t]].ret << 32 | v;
	qsort(list, n, sizeof *list, by_ret);
	return n;
}

/* Versions are in the order of calls. Of those that had answered before one was called, the ones that no other of them follows. */
static void order_by_time(struct txn_builder *b, uint32_t key, const uint64_t *list, uint32_t n)
{
	const struct deps *d = b->d;
	uint32_t from = 0, to = 0, latest = 0;
	for (uint32_t v = d->key_first[key] + 1; v < d->key_first[key + 1]; v++) {
		uint32_t call = b->th->txns[d->txn[d->versions[v].t]].call;
		for (; to < n && list[to] >> 32 < call; to++) {
			uint32_t c = b->th->txns[d->txn[d->versions[(uint32_t)list[to]].t]].call;
			latest = c > latest ? c : latest;
		}
		while (from < to && list[from] >> 32 < latest)
			from++;
		for (uint32_t i = from; i < to; i++)
			known(b, (uint32_t)list[i], v);
	}
}

static void order_versions(struct txn_builder *b)
{
	struct deps *d = b->d;
	uint32_t most = 0, *last = arena_array(b->a, uint32_t, b->th->nsessions + 1);
	for (uint32_t k = 0; k < d->nkeys; k++)
		most = d->key_first[k + 1] - d->key_first[k] > most ? d->key_first[k + 1] - d->key_first[k] : most;
	uint64_t *list = arena_array(b->a, uint64_t, most + 1);
	for (uint32_t k = 0; k < d->nkeys; k++) {
		uint32_t first = d->key_first[k] + 1, end = d->key_first[k + 1];
		uint32_t n = b->th->version_order == VERSIONS_SESSION ? 0 : sort_by_ret(b, k, list);
		if (b->th->version_order == VERSIONS_REALTIME)
			order_by_time(b, k, list, n);
		for (uint32_t i = 1; b->th->version_order == VERSIONS_RECORDED && i < n; i++)
			known(b, (uint32_t)list[i - 1], (uint32_t)list[i]);
		for (uint32_t v = first; b->th->version_order == VERSIONS_SESSION && v < end; v++) {
			const struct txn *x = &b->th->txns[d->txn[d->versions[v].t]];
			if (last[x->session] >= first) /* of this key */
				known(b, last[x->session], v);
			if (x->status == TXN_COMMITTED)
				last[x->session] = v;
		}
	}
}

/* For PARANOID: the tables agree with each other: slices ascend, versions stand with their keys and transactions, reads name versions
 * of other transactions, readers are ascending. */
static bool deps_valid(const struct deps *d)
{
	bool ok = d->read_first[0] == 0 && d->write_first[0] == 0 && d->key_first[0] == 0;
	for (uint32_t t = 0; t < d->n && ok; t++) {
		ok = d->read_first[t] <= d->read_first[t + 1] && d->write_first[t] <= d->write_first[t + 1];
		ok &= d->dense[d->txn[t]] == t && (d->prev[t] == DEPS_NONE || d->prev[t] < t);
		for (uint32_t i = d->write_first[t]; i < d->write_first[t + 1] && ok; i++)
			ok = d->writes[i] < d->nversions && d->versions[d->writes[i]].t == t;
		for (uint32_t i = d->read_first[t]; i < d->read_first[t + 1] && ok; i++)
			ok = d->reads[i].version < d->nversions;
	}
	for (uint32_t k = 0; k < d->nkeys && ok; k++) {
		ok = d->key_first[k] < d->key_first[k + 1] && d->versions[d->key_first[k]].t == DEPS_NONE;
		for (uint32_t v = d->key_first[k]; v < d->key_first[k + 1] && ok; v++)
			ok = d->versions[v].key == k;
	}
	for (uint32_t v = 0; v < d->nversions && ok; v++)
		for (uint32_t i = d->reader_first[v] + 1; i < d->reader_first[v + 1] && ok; i++)
			ok = d->readers[i - 1] < d->readers[i] && d->readers[i] < d->n;
	for (uint32_t i = 0; i < d->known.len && ok; i++)
		ok = d->versions[d->known.data[i].a].key == d->versions[d->known.data[i].b].key;
	return ok;
}

bool deps_build(struct deps *d, const struct txn_history *th, val init, struct arena *arena, struct diags *diags)
{
	uint32_t nkeys = th->h->keys.len;
	struct txn_builder *b = arena_new(arena, struct txn_builder);
	memset(d, 0, sizeof *d);
	*b = (struct txn_builder){ .d = d, .th = th, .a = arena, .diags = diags };
	d->th = th;
	d->arena = arena;
	map_init(&b->by_value);
	b->kind = arena_array(arena, uint8_t, nkeys + 1);
	b->stamp = arena_array(arena, uint32_t, nkeys + 1);
	b->last_write = arena_array(arena, uint32_t, nkeys + 1);
	b->last_read = arena_array(arena, uint32_t, nkeys + 1);
	b->slot = arena_array(arena, uint32_t, nkeys + 1);
	b->longest_txn = arena_array(arena, uint32_t, nkeys + 1);
	b->longest_op = arena_array(arena, uint32_t, nkeys + 1);
	b->longest = arena_array(arena, val, nkeys + 1);
	b->seen = arena_array(arena, bool, th->n + 1);
	for (uint32_t k = 0; k < nkeys; k++)
		b->longest[k] = VAL_NONE;
	bool ok = collect_writes(b);
	d->init = init == VAL_NONE ? th->init : init;
	if (ok && d->init == VAL_NONE)
		guess_initial(b);
	if (ok) {
		look_at_reads(b);
		keep_transactions(b);
		make_versions(b);
		make_reads(b);
		make_readers(b);
		order_lists(b);
		if (th->version_order != VERSIONS_ANY)
			order_versions(b);
	}
	map_free(&b->by_value);
	PARANOID(!ok || deps_valid(d));
	return ok;
}

bool deps_violate(const struct deps *d, enum txn_level l, const struct anomaly **which)
{
	assert(l < LEVEL_COUNT);
	*which = NULL;
	for (uint32_t i = 0; i < d->anomalies.len; i++) {
		const struct anomaly *x = &d->anomalies.data[i];
		bool bad = x->kind == ANOMALY_DUPLICATE || (x->kind == ANOMALY_INTERNAL ? l > LEVEL_RC : l > LEVEL_RU);
		/* a dirty update is an aborted read that says more */
		if (bad && (!*which || ((*which)->kind == ANOMALY_G1A && x->kind == ANOMALY_DIRTY_UPDATE)))
			*which = x;
	}
	return *which != NULL;
}
