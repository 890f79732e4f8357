/* txn_facts: see txn_facts.h. Written for clearness: each read is looked at for itself. */
#include "verify/txn_facts.h"

#include <assert.h>
#include <string.h>

#include "txn/members.h"

static const struct mop *op_at(const struct txn_facts *f, uint32_t t, uint32_t op)
{
	assert(t < f->th->n && op < f->th->txns[t].nops);
	return &f->th->ops[f->th->txns[t].first + op];
}

static uint64_t pair(uint32_t key, uint32_t v)
{
	return (uint64_t)key << 32 | v;
}

static void put(struct txn_facts *f, struct map *m, uint64_t key, uint32_t v)
{
	if (!map_put(m, key, v))
		longjmp(*f->a->oom, 1);
}

/* ---- who wrote a value --------------------------------------------------------------------------- */

/* The only transaction that may have written it, or FACT_NONE: none, or several. *aborted: only such ones did. *op: its last such write. */
static uint32_t writer_of(const struct txn_facts *f, uint32_t key, val v, bool *aborted, uint32_t *op)
{
	uint32_t i = map_get(&f->by_value, pair(key, v)), t = FACT_NONE;
	bool several = false;
	*aborted = false;
	if (i == MAP_NONE)
		return FACT_NONE;
	*aborted = true;
	for (i++; i; i = f->writes.data[i - 1].next) {
		const struct fact_write *w = &f->writes.data[i - 1];
		if (f->th->txns[w->txn].status == TXN_ABORTED)
			continue;
		*aborted = false;
		several |= t != FACT_NONE && t != w->txn;
		if (t == FACT_NONE || w->op > *op || t != w->txn)
			*op = w->op;
		t = w->txn;
	}
	return several ? FACT_NONE : t;
}

/* By anyone; *certain: by transactions that did not abort. */
static uint32_t times_written(const struct txn_facts *f, uint32_t key, val v, uint32_t *certain)
{
	uint32_t n = 0, i = map_get(&f->by_value, pair(key, v));
	*certain = 0;
	if (i == MAP_NONE)
		return 0;
	for (i++; i; i = f->writes.data[i - 1].next, n++)
		*certain += f->th->txns[f->writes.data[i - 1].txn].status != TXN_ABORTED;
	return n;
}

static bool is_list(const struct txn_facts *f, const struct mop *m)
{
	return f->kind[m->key] == 2 || (!f->kind[m->key] && val_kind(&f->th->h->vals, m->v) >= VK_LIST);
}

uint32_t facts_saw(const struct txn_facts *f, const struct mop *m)
{
	uint32_t n, op = 0;
	bool aborted;
	val v = m->v;
	if (v == VAL_NONE)
		return FACT_NONE;
	if (is_list(f, m)) {
		const val *list = val_elems(&f->th->h->vals, v, &n);
		if (!n)
			return PROOF_INITIAL;
		v = list[n - 1];
	} else if (v == VAL_NIL || v == f->init) {
		/* the initial value, unless a transaction may have written it */
		times_written(f, m->key, v, &n);
		return n ? FACT_NONE : PROOF_INITIAL;
	}
	uint32_t t = writer_of(f, m->key, v, &aborted, &op);
	return aborted ? FACT_NONE : t;
}

/* A read behind an own write of the key sees it; of a list, what was read before and the own appends. */
static bool agrees_with_own(const struct txn_facts *f, uint32_t t, uint32_t op, bool *external)
{
	const struct mop *m = op_at(f, t, op);
	uint32_t from = 0, own = 0, n, k = 0, write = FACT_NONE;
	bool read = false;
	for (uint32_t i = 0; i < op; i++) {
		const struct mop *x = op_at(f, t, i);
		if (x->key != m->key)
			continue;
		if (x->kind != MOP_READ) {
			write = i;
			own++;
		} else if (x->v != VAL_NONE) {
			read = true;
			from = i + 1;
			own = 0;
		}
	}
	*external = write == FACT_NONE;
	if (*external)
		return true;
	if (f->kind[m->key] == 1)
		return m->v == op_at(f, t, write)->v;
	const val *list = val_elems(&f->th->h->vals, m->v, &n),
		  *before = read ? val_elems(&f->th->h->vals, op_at(f, t, from - 1)->v, &k) : NULL;
	if (n < own || (read && n != k + own) || (read && k && memcmp(list, before, k * sizeof *list)))
		return false;
	for (uint32_t i = from, at = n - own; i < op; i++)
		if (op_at(f, t, i)->kind == MOP_APPEND && op_at(f, t, i)->key == m->key && list[at++] != op_at(f, t, i)->v)
			return false;
	return true;
}

bool facts_external(const struct txn_facts *f, uint32_t t, uint32_t op)
{
	bool external, agrees = agrees_with_own(f, t, op, &external);
	return external || !agrees;
}

uint32_t facts_reads(const struct txn_facts *f, uint32_t t, uint32_t key, uint32_t version)
{
	uint32_t found = FACT_NONE;
	for (uint32_t i = 0; i < f->th->txns[t].nops; i++) {
		const struct mop *m = op_at(f, t, i);
		if (m->key == key && m->kind == MOP_READ && m->v != VAL_NONE && !members_guessed(f->th, f->th->txns[t].first + i) &&
		    facts_external(f, t, i) && facts_saw(f, m) == version)
			found = i;
	}
	return found;
}

uint32_t facts_writes(const struct txn_facts *f, uint32_t t, uint32_t key)
{
	for (uint32_t i = f->th->txns[t].nops; i-- > 0;)
		if (op_at(f, t, i)->kind != MOP_READ && op_at(f, t, i)->key == key)
			return i;
	return FACT_NONE;
}

/* By what is assumed of a key's versions. */
bool facts_assumed(const struct txn_facts *f, uint32_t a, uint32_t b)
{
	const struct txn *x = &f->th->txns[a], *y = &f->th->txns[b];
	switch ((enum version_order)f->th->version_order) {
	case VERSIONS_SESSION:
		return x->session == y->session && a < b && x->status == TXN_COMMITTED;
	case VERSIONS_REALTIME:
		return x->ret != RANK_INF && x->ret < y->call;
	case VERSIONS_RECORDED:
		return x->ret != RANK_INF && y->ret != RANK_INF && x->ret < y->ret;
	case VERSIONS_ANY:
		break;
	}
	return false;
}

bool facts_before(const struct txn_facts *f, uint32_t key, uint32_t a, uint32_t b)
{
	if (a == PROOF_INITIAL || b == PROOF_INITIAL)
		return a != b && a == PROOF_INITIAL;
	if (facts_assumed(f, a, b))
		return true;
	uint32_t first = map_get(&f->place, pair(key, a)), last = map_get(&f->last_place, pair(key, b));
	/* what the longest list does not show comes behind what it shows */
	return first != MAP_NONE && (last == MAP_NONE || first < last);
}

/* ---- reads one by one -------------------------------------------------------------------------------- */

/* From this level on the anomaly is one. */
static void wrong(struct txn_facts *f, enum txn_level from, const char *what)
{
	for (unsigned l = from; l < LEVEL_COUNT; l++)
		if (!f->direct[l])
			f->direct[l] = what;
}

static void look_at_element(struct txn_facts *f, uint32_t t, uint32_t op, val v, bool last)
{
	const struct mop *m = op_at(f, t, op);
	uint32_t at = 0;
	bool aborted;
	uint32_t w = writer_of(f, m->key, v, &aborted, &at), certain, times = times_written(f, m->key, v, &certain);
	if (!times)
		wrong(f, LEVEL_RC, "a read saw a value that no transaction wrote");
	else if (aborted)
		wrong(f, LEVEL_RC, "a read saw a write of a transaction that aborted");
	else if (w == t && at > op && times == 1)
		wrong(f, LEVEL_RC, "a read saw what its own transaction wrote later");
	else if (w != FACT_NONE && w != t && last && facts_writes(f, w, m->key) != at)
		wrong(f, LEVEL_RC, "a read saw a value that its writer itself overwrote");
	if (w != FACT_NONE)
		f->took_effect[w] = true;
}

static void look_at_list(struct txn_facts *f, uint32_t t, uint32_t op, bool counts)
{
	const struct mop *m = op_at(f, t, op);
	uint32_t n, k, certain;
	const val *list = val_elems(&f->th->h->vals, m->v, &n);
	enum value_kind kind = val_kind(&f->th->h->vals, m->v);
	if (!list && m->v != VAL_NIL && kind != VK_LIST && (kind != VK_SET || f->kind[m->key])) {
		wrong(f, LEVEL_RC, "a read of a list saw something else");
		return;
	}
	if (f->longest_txn[m->key] != FACT_NONE) {
		const val *longest = val_elems(&f->th->h->vals, op_at(f, f->longest_txn[m->key], f->longest_op[m->key])->v, &k);
		uint32_t less = n < k ? n : k;
		if (less && memcmp(list, longest, less * sizeof *list))
			wrong(f, LEVEL_RC, "of two lists that were read neither is a beginning of the other");
		if (n <= k && (!n || !memcmp(list, longest, n * sizeof *list))) {
			if (n && counts)
				look_at_element(f, t, op, list[n - 1], true);
			for (uint32_t i = 0; i < n; i++) /* its own later appends */
				for (uint32_t j = op + 1; j < f->th->txns[t].nops; j++)
					if (op_at(f, t, j)->kind == MOP_APPEND && op_at(f, t, j)->key == m->key &&
					    op_at(f, t, j)->v == list[i] && times_written(f, m->key, list[i], &certain) == 1)
						wrong(f, LEVEL_RC, "a read saw what its own transaction wrote later");
			return;
		}
	}
	struct map count;
	map_init(&count);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t seen = map_get(&count, list[i]);
		seen = seen == MAP_NONE ? 1 : seen + 1;
		if (!map_put(&count, list[i], seen))
			longjmp(*f->a->oom, 1);
		uint32_t written = times_written(f, m->key, list[i], &certain);
		if (seen > 1 && seen > written)
			wrong(f, LEVEL_RU, "a list holds an element more often than it was appended");
		else if (certain && seen > certain)
			wrong(f, LEVEL_RC, "a read saw a write of a transaction that aborted");
		look_at_element(f, t, op, list[i], i + 1 == n && counts);
	}
	map_free(&count);
	if (f->longest_txn[m->key] == FACT_NONE || n > k) {
		f->longest_txn[m->key] = t;
		f->longest_op[m->key] = op;
	}
}

static void look_at_reads(struct txn_facts *f)
{
	for (uint32_t t = 0; t < f->th->n; t++)
		for (uint32_t i = 0; f->th->txns[t].status == TXN_COMMITTED && i < f->th->txns[t].nops; i++) {
			const struct mop *m = op_at(f, t, i);
			bool external;
			if (m->kind != MOP_READ || m->v == VAL_NONE)
				continue;
			bool ok = agrees_with_own(f, t, i, &external);
			if (!ok)
				wrong(f, LEVEL_CS, "a read contradicts what its own transaction did before");
			if (is_list(f, m))
				look_at_list(f, t, i, external || !ok);
			else if ((external || !ok) && m->v != VAL_NIL && m->v != f->init)
				look_at_element(f, t, i, m->v, true);
		}
}

/* ---- all of it ---------------------------------------------------------------------------------------- */

static void note_writes(struct txn_facts *f)
{
	for (uint32_t t = 0; t < f->th->n; t++) {
		f->took_effect[t] = f->th->txns[t].status == TXN_COMMITTED;
		for (uint32_t i = 0; i < f->th->txns[t].nops; i++) {
			const struct mop *m = op_at(f, t, i);
			if (m->kind == MOP_READ)
				continue;
			f->kind[m->key] = m->kind == MOP_APPEND ? 2 : 1;
			uint32_t first = map_get(&f->by_value, pair(m->key, m->v));
			struct fact_write w = { t, i, 0 };
			if (first == MAP_NONE) {
				put(f, &f->by_value, pair(m->key, m->v), f->writes.len);
			} else {
				w.next = f->writes.data[first].next;
				f->writes.data[first].next = f->writes.len + 1;
			}
			avec_push(f->a, &f->writes, w);
		}
	}
}

static void note_places(struct txn_facts *f)
{
	for (uint32_t k = 0; k < f->th->h->keys.len; k++) {
		uint32_t n, op;
		bool aborted;
		if (f->longest_txn[k] == FACT_NONE)
			continue;
		const val *list = val_elems(&f->th->h->vals, op_at(f, f->longest_txn[k], f->longest_op[k])->v, &n);
		for (uint32_t i = 0; i < n; i++) {
			uint32_t t = writer_of(f, k, list[i], &aborted, &op);
			if (t == FACT_NONE)
				continue;
			if (map_get(&f->place, pair(k, t)) == MAP_NONE)
				put(f, &f->place, pair(k, t), i);
			put(f, &f->last_place, pair(k, t), i);
		}
	}
}

struct txn_facts *txn_facts_new(const struct txn_history *th, val init, struct arena *a)
{
	uint32_t nkeys = th->h->keys.len;
	struct txn_facts *f = arena_new(a, struct txn_facts);
	*f = (struct txn_facts){ .th = th, .init = init, .a = a };
	map_init(&f->by_value);
	map_init(&f->place);
	map_init(&f->last_place);
	f->kind = arena_array(a, uint8_t, nkeys + 1);
	f->longest_txn = arena_array(a, uint32_t, nkeys + 1);
	f->longest_op = arena_array(a, uint32_t, nkeys + 1);
	f->took_effect = arena_array(a, bool, th->n + 1);
	for (uint32_t k = 0; k < nkeys; k++)
		f->longest_txn[k] = FACT_NONE;
	const char *odd = members_wrong(th);
	if (odd)
		wrong(f, LEVEL_RU, odd);
	for (uint32_t i = 0; th->members && i < th->members->odd.len; i++)
		if (th->members->odd.data[i].kind == ODD_DUPLICATE)
			wrong(f, LEVEL_RU, "a read of a set saw an element twice");
		else
			wrong(f, LEVEL_RC, "a read of a set or counter saw what nothing added to it explains");
	note_writes(f);
	look_at_reads(f);
	note_places(f);
	return f;
}

void txn_facts_free(struct txn_facts *f)
{
	map_free(&f->by_value);
	map_free(&f->place);
	map_free(&f->last_place);
}

const char *txn_direct_anomaly(const struct txn_facts *f, enum txn_level level)
{
	return f->direct[level];
}
