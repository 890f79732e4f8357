/*
 * expand: the successors of one state.
 *
 * Expanding can be broken off and done again: inserting is idempotent and
 * transitions are counted at the end. That is what happens when an id does
 * not fit its field or a table is crowded.
 *
 * Successors wait in a batch, with the place of each in the table already on
 * its way to the cache.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/invariant.h"
#include "explore/search_disk.h"
#include "explore/search_dist.h"
#include "explore/search_int.h"

/* ---- inserting ---------------------------------------------------------- */

bool search_is_wrong(struct worker *w, const uint64_t *key)
{
	assert(w->s->prod.mode == PROD_COMMIT);
	const struct search *s = w->s;
	const struct product *x = &s->prod;
	const uint64_t *words = key;
	if (s->store.tree) {
		tree_words(&s->store.nodes, key[0], s->store.at.words, w->child, w->child_nodes);
		words = w->child;
	}
	bool unequal = product_unequal(x, store_field(&s->store, words, 0));
	for (uint32_t i = 0; i < s->nthreads; i++) {
		uint8_t a = product_attr(&x->kinds[x->kind_of[i]], store_field(&s->store, words, i + 1));
		if (a & PRODA_INSIDE)
			return false;
		unequal |= a & PRODA_UNEQUAL;
	}
	return unequal;
}

static bool remember(struct search *s, const struct origin *from)
{
	assert(s->tracing && from->parent < s->norigins);
	if (!GROW_RAW(s->origins, s->cap_origins, s->norigins + 1))
		return false;
	s->origins[s->norigins++] = *from;
	return true;
}

static bool is_new(struct worker *w, uint32_t i, const uint64_t *key)
{
	struct search *s = w->s;
	if (!search_push(w, key) || (s->tracing && !remember(s, &w->from[i]))) {
		search_give_up(s, "memory");
		return false;
	}
	if (w->check[i] && search_is_wrong(w, key)) {
		if (s->tracing)
			s->hit_transitions = w->count[i];
		search_hit(s, SEARCH_WRONG, w->from[i]);
		return !s->tracing; /* the first one is the one that counts */
	}
	return true;
}

/* Inserts what waits in the batch. */
void flush(struct worker *w)
{
	assert(w->nbatch <= BATCH);
	struct store *st = &w->s->store;
	uint64_t added = 0;
	if (w->disk || w->dist) {
		if (w->disk)
			disk_found(w);
		else
			dist_found(w);
		w->nbatch = 0;
		return;
	}
	if (st->key == 1) {
		uint64_t *table = st->table, cap = st->cap;
		bool alone = st->users == 1;
		for (uint32_t i = 0; i < w->nbatch; i++)
			if (store_insert1(table, cap, w->batch[i], w->place[i], alone) == STORE_NEW) {
				added++;
				if (!is_new(w, i, &w->batch[i]))
					break;
			}
	} else {
		for (uint32_t i = 0; i < w->nbatch; i++) {
			const uint64_t *key = w->batch + (size_t)i * st->key;
			if (store_insert(st, key, w->place[i]) == STORE_NEW) {
				added++;
				if (!is_new(w, i, key))
					break;
			}
		}
	}
	w->nbatch = 0;
	store_added(st, added);
	if (store_crowded(st))
		search_ask_meeting(w->s);
}

static inline bool stopping(const struct worker *w)
{
	return __atomic_load_n(&w->s->stop, __ATOMIC_RELAXED);
}

/* ---- the general case --------------------------------------------------- */

static enum search_verdict verdict_of(uint32_t flags)
{
	assert(flags & (PRODF_FAULT | PRODF_SHADOW_STUCK | PRODF_SHADOW_ENDLESS | PRODF_SHADOW_FAULT) && !(flags & PRODF_LIMIT));
	return flags & PRODF_FAULT            ? SEARCH_FAULT
	       : flags & PRODF_SHADOW_STUCK   ? SEARCH_SHADOW_STUCK
	       : flags & PRODF_SHADOW_ENDLESS ? SEARCH_SHADOW_ENDLESS
	                                      : SEARCH_SHADOW_FAULT;
}

/* Reads the state: its words, and the runs of equal ids in each group. */
static void decode(struct worker *w, const uint64_t *key)
{
	const struct search *s = w->s;
	const struct store *st = &s->store;
	if (st->tree)
		tree_words(&st->nodes, key[0], st->at.words, w->words, w->nodes);
	else
		for (uint32_t i = 0; i < st->at.words; i++)
			w->words[i] = key[i];
	w->global = store_field(st, w->words, 0);
	uint32_t n = 0;
	const uint64_t *words = w->words;
	for (uint32_t i = 0; i < s->nthreads;) {
		uint32_t low = n, last = s->last[i], from = i, id = store_field(st, words, i + 1);
		const struct store_field *f = &st->at.field[i + 1];
		const uint64_t mask = ((uint64_t)1 << f->bits) - 1; /* one width a group */
		while (++i <= last) {
			f++;
			uint32_t next = (uint32_t)(words[f->word] >> f->shift & mask);
			if (next == id)
				continue;
			assert(id < next); /* a group is sorted: the state is canonical */
			w->runs[n++] = (struct search_run){ from, i - 1, id, low, 0, 0 };
			from = i;
			id = next;
		}
		w->runs[n++] = (struct search_run){ from, last, id, low, 0, 0 };
		for (uint32_t k = low; k < n; k++)
			w->runs[k].high = n - 1;
	}
	w->nruns = n;
	assert(n <= s->nthreads && w->global < s->prod.globals.n + 1ull);
}

/*
 * Replaces an id of a sorted group and keeps it sorted. Moving everything
 * between the old and the new place by one changes only the borders of the
 * runs of equal ids, so only those fields are touched.
 */
static void replace(const struct worker *w, uint64_t *child, uint32_t r, uint32_t to)
{
	assert(r < w->nruns);
	const struct store *st = &w->s->store;
	const struct search_run *run = w->runs;
	uint32_t i = r;
	if (to > run[r].id) {
		for (; i < run[r].high && run[i + 1].id < to; i++)
			store_change(st, child, run[i].last + 1, run[i].id, run[i + 1].id);
		store_change(st, child, run[i].last + 1, run[i].id, to);
	} else if (to < run[r].id) {
		for (; i > run[r].low && run[i - 1].id > to; i--)
			store_change(st, child, run[i].first + 1, run[i].id, run[i - 1].id);
		store_change(st, child, run[i].first + 1, run[i].id, to);
	}
}

/* A thread of run r goes to `local`. */
static enum expanded add_successor(struct worker *w, uint32_t r, uint32_t global, uint32_t local, struct origin from, bool check,
                                   uint32_t taken)
{
	assert(w->nbatch < BATCH);
	struct store *st = &w->s->store;
	if (global == w->global && local == w->runs[r].id)
		return EXPANDED; /* back to the same state */
	uint64_t *key = w->batch + (size_t)w->nbatch * st->key;
	uint64_t *child = st->tree ? w->child : key;
	for (uint32_t i = 0; i < st->at.words; i++)
		child[i] = w->words[i];
	store_change(st, child, 0, w->global, global);
	replace(w, child, r, local);
	if (st->tree) {
		key[0] = tree_root(&st->nodes, child, st->at.words, w->child_nodes, w->words, w->nodes);
		if (!key[0]) {
			search_ask_meeting(w->s);
			return AGAIN;
		}
	}
	assert(key[0]);
	uint64_t place = store_place(store_hash(key, st->key), w->cap);
	__builtin_prefetch(w->table + place * st->key, 1);
	w->place[w->nbatch] = place;
	w->check[w->nbatch] = check;
	if (w->s->tracing || check)
		w->from[w->nbatch] = from;
	if (w->s->tracing)
		w->count[w->nbatch] = w->transitions + taken;
	if (++w->nbatch == BATCH) {
		flush(w);
		if (stopping(w))
			return AGAIN;
	}
	return EXPANDED;
}

static bool all_finished(const struct worker *w)
{
	const struct product *x = &w->s->prod;
	for (uint32_t r = 0; r < w->nruns; r++)
		if (!(product_attr(&x->kinds[x->kind_of[w->runs[r].first]], w->runs[r].id) & PRODA_END))
			return false;
	return true;
}

#define LATER (IR_NONE - 1) /* the state waits for ids */

/* What the runs can do; how many threads are inside a block, or IR_NONE when
 * there is trouble. */
static uint32_t look_up(struct worker *w)
{
	struct search *s = w->s;
	struct product *x = &s->prod;
	uint32_t inside = 0;
	bool later = false;
	for (uint32_t r = 0; r < w->nruns; r++) {
		struct search_run *run = &w->runs[r];
		run->code = search_frozen(s, run->first) ? PROD_BLOCKED
		                                         : product_code(x, x->kind_of[run->first], w->global, run->id);
		if (run->code == PROD_WIDEN &&
		    w->dist) { /* the other runs' steps are worked out, too: their ids are agreed at once */
			later = true;
			continue;
		}
		if (run->code == PROD_TROUBLE)
			search_give_up(s, "memory");
		if (run->code == PROD_WIDEN)
			__atomic_store_n(&s->widen, true, __ATOMIC_RELAXED);
		if (run->code == PROD_TROUBLE || run->code == PROD_WIDEN) {
			search_ask_meeting(s);
			return IR_NONE;
		}
		inside += run->code >> 63 ? run->last - run->first + 1 : 0;
	}
	assert(inside <= s->nthreads);
	return later ? LATER : inside;
}

/* The outcomes in a list; how many there were is added to *taken. */
static enum expanded add_list(struct worker *w, uint32_t r, struct origin from, bool check, uint32_t *taken, bool *moved)
{
	struct search *s = w->s;
	uint32_t n;
	const struct prod_edge *e = product_list(&s->prod, w->runs[r].code, &n);
	for (uint32_t k = 0; k < n; k++) {
		uint32_t bad = e[k].flags & ~(uint32_t)PRODF_COMMIT;
		assert(bad || (e[k].global < s->prod.limit && e[k].local < s->prod.kinds[s->prod.kind_of[w->runs[r].first]].limit));
		from.edge = k;
		*moved = true;
		if (bad == PRODF_FAULT && !s->o->faults)
			continue;
		++*taken;
		if (bad & PRODF_LIMIT) {
			search_give_up(s, "step");
			return AGAIN;
		}
		if (bad) {
			w->transitions += *taken; /* up to here; traced again anyway */
			search_hit(s, verdict_of(bad), from);
			return AGAIN;
		}
		if (add_successor(w, r, e[k].global, e[k].local, from, check, *taken) == AGAIN)
			return AGAIN;
	}
	return EXPANDED;
}

static enum expanded expand_general(struct worker *w)
{
	assert(w->chunk && w->at < w->chunk->n);
	struct search *s = w->s;
	decode(w, w->chunk->keys + (size_t)w->at * s->store.key);
	uint32_t inside = look_up(w), taken = 0;
	if (inside == IR_NONE)
		return AGAIN;
	if (inside == LATER) {
		dist_hold(w, w->chunk->keys + (size_t)w->at * s->store.key);
		return EXPANDED;
	}
	bool moved = false, check = s->prod.mode == PROD_COMMIT && inside <= 1;
	struct origin from = { (uint32_t)(w->chunk->first + w->at), 0, 0 };
	for (uint32_t r = 0; r < w->nruns; r++) {
		uint64_t code = w->runs[r].code & ~PROD_INSIDE;
		enum expanded done = EXPANDED;
		from.thread = w->runs[r].first;
		from.edge = 0;
		if (code == PROD_BLOCKED)
			continue;
		if (product_is_list(code)) {
			done = add_list(w, r, from, check, &taken, &moved);
		} else {
			moved = true;
			taken++;
			done = add_successor(w, r, (uint32_t)(code >> 32) - 1, (uint32_t)code, from, check, taken);
		}
		if (done == AGAIN)
			return AGAIN;
	}
	if (!moved && s->o->deadlock && !all_finished(w)) {
		from.thread = IR_NONE;
		search_hit(s, SEARCH_DEADLOCK, from);
		return AGAIN;
	}
	w->transitions += taken;
	return EXPANDED;
}

/* ---- the plain case ----------------------------------------------------- */

void search_make_spans(struct search *s)
{
	const struct product *x = &s->prod;
	s->nspans = 0;
	for (uint32_t i = 0; i < s->nthreads; i++) {
		const struct store_field *f = &s->store.at.field[i + 1];
		if (i && x->kind_of[i] == x->kind_of[i - 1])
			s->spans[s->nspans - 1].count++;
		else
			s->spans[s->nspans++] = (struct thread_span){ x->kind_of[i], 1, f->shift, f->bits };
	}
}

/*
 * No groups to sort, no origins to keep, a key of one word, at most one
 * outcome and nothing to report: then a successor is the key with two fields
 * replaced. Whatever is not that is left to expand_general(). A transition
 * is a table look-up, some arithmetic on one register and a prefetch.
 */
static bool expand_plain(struct worker *w)
{
	const struct search *s = w->s;
	const struct store *st = &s->store;
	const uint64_t key = w->chunk->keys[w->at], gmask = ((uint64_t)1 << st->at.field[0].bits) - 1;
	const uint32_t global = (uint32_t)(key & gmask) - 1;
	const uint64_t rest = key & ~gmask, cap = w->cap, *table = w->table;
	uint32_t n = w->nbatch, taken = 0;
	uint64_t inside = 0;
	for (uint32_t p = 0; p < s->nspans; p++) {
		const struct thread_span sp = s->spans[p];
		const struct prod_row *row = product_row(&s->prod.kinds[sp.kind], global);
		const uint64_t mask = ((uint64_t)1 << sp.bits) - 1;
		uint32_t shift = sp.shift;
		if ((!row || row->cap <= mask) && !(row = product_whole_row(&w->s->prod, sp.kind, global)))
			return false;
		for (uint32_t i = 0; i < sp.count; i++, shift += sp.bits) {
			uint64_t e = __atomic_load_n(&row->entry[key >> shift & mask], __ATOMIC_ACQUIRE);
			uint64_t g1 = e >> 32 & 0x7fffffff;
			inside += e >> 63;
			if (!g1) {
				if ((e & ~PROD_INSIDE) == PROD_BLOCKED)
					continue;
				return false;
			}
			uint64_t child = ((rest & ~(mask << shift)) | (e & 0xffffffff) << shift) + g1;
			taken++;
			if (child == key)
				continue;
			uint64_t place = store_place(store_hash(&child, 1), cap);
			__builtin_prefetch(table + place);
			w->batch[n] = child;
			w->place[n++] = place;
		}
	}
	bool check = s->prod.mode == PROD_COMMIT && inside <= 1;
	memset(w->check + w->nbatch, check, n - w->nbatch);
	assert(n <= BATCH && n - w->nbatch <= s->nthreads);
	w->nbatch = n;
	w->transitions += taken;
	return true;
}

enum expanded expand(struct worker *w)
{
	const struct search *s = w->s;
	if (s->plain && s->store.at.words == 1) {
		if (w->nbatch + s->nthreads > BATCH) {
			flush(w);
			if (stopping(w))
				return AGAIN;
		}
		assert(w->nbatch + s->nthreads <= BATCH || s->nthreads > BATCH);
		if (expand_plain(w))
			return EXPANDED;
	}
	return expand_general(w);
}
