/*
 * deps: see deps.h. Here: the transactions that count, their versions and reads, and the order of versions that is known. Cost: linear in the
 * micro-operations and the elements of the lists read.
 */
#include "txn/deps.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "txn/deps_int.h"

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
			const struct mop *m = deps_op_at(b, h, i);
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
			const struct mop *m = deps_op_at(b, h, i);
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
	const struct mop *m = deps_op_at(b, h, op);
	val v = m->v;
	if (deps_is_list(b, m)) {
		const val *list = val_elems(&b->th->h->vals, v, &n);
		if (!n)
			return v == VAL_NIL || val_kind(&b->th->h->vals, v) >= VK_LIST ? deps_init_version(d, m->key) : DEPS_NONE;
		v = list[n - 1];
	} else if (deps_is_initial(b, m)) {
		return deps_init_version(d, m->key);
	}
	bool several;
	const struct written *w = deps_writer_of(b, m->key, v, &several);
	if (!w || d->dense[w->txn] == DEPS_NONE)
		return DEPS_NONE;
	if (w->txn == h) {                             /* else its own earlier write: an internal anomaly, noted already */
		if (w->op > op && !deps_is_list(b, m)) /* lists were looked at */
			deps_anomaly(b, ANOMALY_FUTURE, h, op, h, w->op, v);
		return DEPS_NONE;
	}
	uint32_t version = version_by(d, m->key, d->dense[w->txn]);
	if (d->versions[version].v != v)
		deps_anomaly(b, ANOMALY_G1B, h, op, w->txn, w->op, v);
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
		for (uint32_t i = 0, moment = 0; i < x->nops; i++) {
			const struct mop *m = deps_op_at(b, h, i);
			moment = members_same(b->th, x->first + i, x->first + moment) ? moment : i;
			if (b->stamp[m->key] != t + 1) {
				b->stamp[m->key] = t + 1;
				b->last_write[m->key] = b->last_read[m->key] = 0;
				b->slot[m->key] = 0;
			}
			if (m->kind != MOP_READ) {
				if (!b->last_write[m->key] && b->slot[m->key])
					reads.data[b->slot[m->key] - 1].then_written = true;
				b->last_write[m->key] = i + 1;
			} else if (m->v != VAL_NONE && !(b->certain && members_guessed(b->th, x->first + i))) {
				bool ok, outside = deps_external(b, h, i, &ok);
				if (outside || !ok) {
					uint32_t v = version_read(b, t, i);
					struct dread r = { v, moment, false };
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
			const struct written *w = deps_writer_of(b, k, list[i], &several);
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

static bool build(struct deps *d, const struct txn_history *th, val init, struct arena *arena, struct diags *diags, bool certain)
{
	uint32_t nkeys = th->h->keys.len;
	struct txn_builder *b = arena_new(arena, struct txn_builder);
	memset(d, 0, sizeof *d);
	*b = (struct txn_builder){ .d = d, .th = th, .a = arena, .diags = diags, .certain = certain };
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
	bool ok = deps_collect_writes(b);
	d->init = init == VAL_NONE ? th->init : init;
	if (ok && d->init == VAL_NONE)
		deps_guess_initial(b);
	if (ok) {
		deps_look_at_reads(b);
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

bool deps_build(struct deps *d, const struct txn_history *th, val init, struct arena *arena, struct diags *diags)
{
	if (!build(d, th, init, arena, diags, false))
		return false;
	if (!th->members || (!th->members->nguessed && !th->members->nopen))
		return true;
	d->certain = arena_new(arena, struct deps);
	return build(d->certain, th, init, arena, diags, true);
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
