/*
 * deps_reads: who wrote which value, and the first pass over a history: what is wrong with single reads whatever the order (direct anomalies).
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "txn/deps_int.h"

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

void deps_anomaly(struct txn_builder *b, enum anomaly_kind k, uint32_t t, uint32_t op, uint32_t other, uint32_t other_op, val v)
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

/* The first write of the value to the key, or MAP_NONE. */
static uint32_t first_write(const struct txn_builder *b, uint32_t key, val v)
{
	int64_t n = val_is_small(v) ? val_small(v) : -1;
	if (n >= 0 && n < b->ndirect) {
		uint32_t w = b->direct[n];
		if (!w || b->writes.data[w - 1].key == key)
			return w ? w - 1 : MAP_NONE;
	}
	return map_get(&b->by_value, value_key(key, v));
}

/* The same; when there is none, `id` becomes it. */
static uint32_t intern_write(struct txn_builder *b, uint32_t key, val v, uint32_t id)
{
	int64_t n = val_is_small(v) ? val_small(v) : -1;
	if (n >= 0 && n < b->ndirect) {
		if (!b->direct[n])
			b->direct[n] = id + 1;
		if (b->direct[n] == id + 1 || b->writes.data[b->direct[n] - 1].key == key)
			return b->direct[n] - 1;
	}
	uint32_t first = id;
	if (!map_intern(&b->by_value, value_key(key, v), &first))
		longjmp(*b->a->oom, 1);
	return first;
}

static bool note_write(struct txn_builder *b, uint32_t t, uint32_t op)
{
	const struct mop *m = deps_op_at(b, t, op);
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
	uint32_t id = b->writes.len, first = intern_write(b, m->key, m->v, id);
	struct written w = { t, op, 1, 0, m->key };
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

bool deps_collect_writes(struct txn_builder *b)
{
	b->ndirect = b->th->nops < UINT32_MAX / 2 ? 2 * b->th->nops + 64 : UINT32_MAX;
	b->direct = arena_array(b->a, uint32_t, b->ndirect);
	for (uint32_t t = 0; t < b->th->n; t++)
		for (uint32_t i = 0; i < b->th->txns[t].nops; i++)
			if (deps_op_at(b, t, i)->kind != MOP_READ && !note_write(b, t, i))
				return false;
	return true;
}

/* The write that a read of this value by t saw, or NULL. Of several, one that committed is preferred; *several: there are others
 * that could be it. */
const struct written *deps_writer_of(const struct txn_builder *b, uint32_t key, val v, bool *several)
{
	assert(key < b->th->h->keys.len && v != VAL_NONE);
	uint32_t i = first_write(b, key, v);
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
	uint32_t i = first_write(b, key, v), n = 0;
	*aborted = 0;
	for (i = i == MAP_NONE ? 0 : i + 1; i; i = b->writes.data[i - 1].next) {
		const struct written *w = &b->writes.data[i - 1];
		*(b->th->txns[w->txn].status == TXN_ABORTED ? aborted : &n) += w->times;
	}
	return n;
}

static uint32_t aborted_writer(const struct txn_builder *b, uint32_t key, val v)
{
	uint32_t i = first_write(b, key, v);
	for (i = i == MAP_NONE ? 0 : i + 1; i; i = b->writes.data[i - 1].next)
		if (b->th->txns[b->writes.data[i - 1].txn].status == TXN_ABORTED)
			return b->writes.data[i - 1].txn;
	return DEPS_NONE;
}

/* Nil, or the initial value. When a transaction may have written it, too, it is ambiguous. */
bool deps_is_initial(const struct txn_builder *b, const struct mop *m)
{
	assert(m->kind == MOP_READ);
	return m->v == VAL_NIL || m->v == b->d->init; /* no member of a set has the latter (members.h) */
}

static void ambiguous(struct txn_builder *b, uint32_t t, uint32_t op, uint32_t other, uint32_t other_op, val v)
{
	if (!b->d->nambiguous++)
		b->d->ambiguous = (struct anomaly){ ANOMALY_NONE, t, op, other, other_op, v };
}

void deps_guess_initial(struct txn_builder *b)
{
	val zero = val_int(&b->th->h->vals, 0);
	bool nil = false, unwritten = false;
	for (uint32_t t = 0; t < b->th->n; t++)
		for (uint32_t i = 0; i < b->th->txns[t].nops; i++) {
			const struct mop *m = deps_op_at(b, t, i);
			if (m->kind != MOP_READ || b->kind[m->key] == 2 || members_of(b->th, m->key))
				continue;
			nil |= m->v == VAL_NIL;
			unwritten |= m->v == zero && first_write(b, m->key, zero) == MAP_NONE;
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
bool deps_external(struct txn_builder *b, uint32_t t, uint32_t op, bool *ok)
{
	const struct mop *m = deps_op_at(b, t, op);
	*ok = true;
	if (!b->last_write[m->key])
		return true;
	if (b->kind[m->key] == 1) {
		*ok = m->v == deps_op_at(b, t, b->last_write[m->key] - 1)->v;
		return false;
	}
	/* a list: what was read before, if anything, and then the own appends */
	uint32_t n, k, own = 0;
	const val *list = val_elems(&b->th->h->vals, m->v, &n), *before = NULL;
	uint32_t from = b->last_read[m->key];
	if (from)
		before = val_elems(&b->th->h->vals, deps_op_at(b, t, from - 1)->v, &k);
	else
		k = 0;
	for (uint32_t i = from; i < op; i++)
		own += deps_op_at(b, t, i)->kind == MOP_APPEND && deps_op_at(b, t, i)->key == m->key;
	if (n < own || (from && n != k + own) || (from && k && memcmp(list, before, k * sizeof *list))) {
		*ok = false;
		return false;
	}
	uint32_t at = n - own;
	for (uint32_t i = from; i < op; i++)
		if (deps_op_at(b, t, i)->kind == MOP_APPEND && deps_op_at(b, t, i)->key == m->key &&
		    list[at++] != deps_op_at(b, t, i)->v)
			*ok = false;
	return false;
}

/* ---- lists ------------------------------------------------------------------------------- */

/* The list that a read saw must be a beginning of the longest, or the longest of it. */
static void compare_lists(struct txn_builder *b, uint32_t t, uint32_t op)
{
	assert(deps_op_at(b, t, op)->kind == MOP_READ);
	const struct mop *m = deps_op_at(b, t, op);
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
		deps_anomaly(b, ANOMALY_INCOMPATIBLE, t, op, b->longest_txn[m->key], b->longest_op[m->key], VAL_NONE);
	else if (n > k) {
		b->longest[m->key] = m->v;
		b->longest_txn[m->key] = t;
		b->longest_op[m->key] = op;
	}
}

/* Every element of a list that was read has a writer, none aborted; each stands there once, or as often as it was appended. */
static void check_elements(struct txn_builder *b, uint32_t t, uint32_t op, struct map *once)
{
	assert(deps_op_at(b, t, op)->kind == MOP_READ);
	const struct mop *m = deps_op_at(b, t, op);
	uint32_t n;
	const val *list = val_elems(&b->th->h->vals, m->v, &n);
	uint32_t aborted = DEPS_NONE;
	for (uint32_t i = 0; i < n; i++) {
		bool several;
		const struct written *w = deps_writer_of(b, m->key, list[i], &several);
		uint32_t seen = map_get(once, list[i]), gone, times = times_written(b, m->key, list[i], &gone);
		seen = seen == MAP_NONE ? 1 : seen + 1;
		if (!map_put(once, list[i], seen))
			longjmp(*b->a->oom, 1);
		if (seen > 1 && seen > times + gone) {
			deps_anomaly(b, ANOMALY_DUPLICATE, t, op, w ? w->txn : DEPS_NONE, w ? w->op : DEPS_NONE, list[i]);
			continue;
		}
		if (times && seen > times) { /* one of them is of a transaction that aborted */
			deps_anomaly(b, ANOMALY_G1A, t, op, aborted_writer(b, m->key, list[i]), DEPS_NONE, list[i]);
			continue;
		}
		if (!w) {
			deps_anomaly(b, ANOMALY_GARBAGE, t, op, DEPS_NONE, DEPS_NONE, list[i]);
			continue;
		}
		if (several || times > 1) {
			ambiguous(b, t, op, w->txn, w->op, list[i]);
			b->d->nambiguous_lists++;
		}
		b->seen[w->txn] = true;
		uint8_t s = b->th->txns[w->txn].status;
		if (s == TXN_ABORTED) {
			deps_anomaly(b, ANOMALY_G1A, t, op, w->txn, w->op, list[i]);
			aborted = i;
		} else if (aborted != DEPS_NONE && s == TXN_COMMITTED) {
			deps_anomaly(b, ANOMALY_DIRTY_UPDATE, t, op, w->txn, w->op, list[aborted]);
			aborted = DEPS_NONE;
		}
	}
}

/* ---- first pass: single reads ------------------------------------------------------------- */

bool deps_is_list(const struct txn_builder *b, const struct mop *m)
{
	assert(m->kind == MOP_READ);
	enum value_kind k = val_kind(&b->th->h->vals, m->v);
	return b->kind[m->key] == 2 || (!b->kind[m->key] && (k == VK_LIST || k == VK_SET));
}

/* Elements were checked when a list is a beginning of one that was: only lists that differ need it again. */
static void look_at_list(struct txn_builder *b, uint32_t t, uint32_t op)
{
	assert(deps_op_at(b, t, op)->kind == MOP_READ);
	const struct mop *m = deps_op_at(b, t, op);
	uint32_t n, k = 0;
	const val *list = val_elems(&b->th->h->vals, m->v, &n), *longest = NULL;
	enum value_kind kind = val_kind(&b->th->h->vals, m->v);
	if (kind != VK_LIST && m->v != VAL_NIL &&
	    (kind != VK_SET || b->kind[m->key])) { /* of a set that nothing was added to, no more is known */
		deps_anomaly(b, ANOMALY_GARBAGE, t, op, DEPS_NONE, DEPS_NONE, m->v);
		return;
	}
	for (uint32_t i = op + 1; i < b->th->txns[t].nops; i++) {
		const struct mop *later = deps_op_at(b, t, i);
		for (uint32_t e = 0; later->kind == MOP_APPEND && later->key == m->key && e < n; e++)
			if (list[e] == later->v)
				deps_anomaly(b, ANOMALY_FUTURE, t, op, t, i, later->v);
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
	assert(deps_op_at(b, t, op)->kind == MOP_READ);
	const struct mop *m = deps_op_at(b, t, op);
	bool several;
	const struct written *w = deps_writer_of(b, m->key, m->v, &several);
	if (deps_is_initial(b, m)) {
		if (w && b->th->txns[w->txn].status != TXN_ABORTED) {
			ambiguous(b, t, op, DEPS_NONE, DEPS_NONE, m->v);
			b->seen[w->txn] = true;
		}
		return;
	}
	if (!w) {
		deps_anomaly(b, ANOMALY_GARBAGE, t, op, DEPS_NONE, DEPS_NONE, m->v);
		return;
	}
	if (several)
		ambiguous(b, t, op, w->txn, w->op, m->v);
	b->seen[w->txn] = true;
	if (b->th->txns[w->txn].status == TXN_ABORTED)
		deps_anomaly(b, ANOMALY_G1A, t, op, w->txn, w->op, m->v);
}

/* Aborted reads, garbage, internal contradictions; which transactions of unknown fate took effect. */
void deps_look_at_reads(struct txn_builder *b)
{
	const struct txn_members *s = b->th->members;
	for (uint32_t i = 0; s && i < s->odd.len; i++)
		deps_anomaly(b, s->odd.data[i].kind == ODD_DUPLICATE ? ANOMALY_DUPLICATE : ANOMALY_GARBAGE, s->odd.data[i].txn,
		             s->odd.data[i].op, DEPS_NONE, DEPS_NONE, s->odd.data[i].v);
	for (uint32_t t = 0; t < b->th->n; t++) {
		const struct txn *x = &b->th->txns[t];
		if (x->status != TXN_COMMITTED)
			continue;
		for (uint32_t i = 0; i < x->nops; i++) {
			const struct mop *m = deps_op_at(b, t, i);
			touch(b, t, m->key);
			if (m->kind != MOP_READ) {
				b->last_write[m->key] = i + 1;
				continue;
			}
			if (m->v == VAL_NONE)
				continue;
			bool ok, outside = deps_external(b, t, i, &ok);
			if (!ok)
				deps_anomaly(b, ANOMALY_INTERNAL, t, i, t, b->last_write[m->key] - 1, m->v);
			if (deps_is_list(b, m))
				look_at_list(b, t, i);
			else if (outside || !ok)
				look_at_register(b, t, i);
			b->last_read[m->key] = i + 1;
		}
	}
}
