#include "explore/search.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "explore/store.h"

struct level { /* packed states, one after the other */
	uint32_t *keys;
	uint64_t n, cap;
};

struct origin { /* how a state was reached, kept only when tracing */
	uint32_t parent, thread, edge;
};

struct found { /* a violation */
	enum search_verdict verdict;
	uint32_t parent, thread, edge; /* thread IR_NONE: the state `parent` itself */
};

#define BATCH 256u

struct search {
	const struct search_options *o;
	struct product prod;
	struct store store;
	struct level cur, next;
	uint32_t nthreads;
	uint32_t *first;  /* by position: first position of its symmetric group */
	uint32_t *last;
	uint32_t *ids, *tmp;
	bool tracing;
	bool plain;       /* no groups, no origins, no deadlocks: expand_plain will do */
	struct origin *origins;
	uint64_t norigins, cap_origins;
	uint64_t base;    /* number of the first state of cur */
	struct found hit;
	struct search_result *r;
	/* successors waiting for their insertion */
	uint32_t *batch;
	struct origin batch_from[BATCH];
	uint64_t batch_hash[BATCH];
	uint32_t nbatch;
};

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void give_up(struct search *s, const char *limit)
{
	if (s->r->verdict == SEARCH_HOLDS) {
		s->r->verdict = SEARCH_LIMIT;
		s->r->limit = limit;
	}
}

static void hit(struct search *s, enum search_verdict v, uint32_t parent, uint32_t thread,
                uint32_t edge)
{
	if (s->r->verdict != SEARCH_HOLDS)
		return;
	s->r->verdict = v;
	s->hit = (struct found){ v, parent, thread, edge };
}

/* ---- levels ------------------------------------------------------------- */

static bool level_push(struct search *s, struct level *l, const uint32_t *key)
{
	uint32_t w = s->store.words;
	if ((l->n + 1) * w > l->cap) {
		uint64_t cap = l->cap ? l->cap * 2 : 1 << 16;
		uint32_t *p = realloc(l->keys, cap * 4);
		if (!p)
			return false;
		l->keys = p;
		l->cap = cap;
	}
	memcpy(l->keys + l->n++ * w, key, 4 * (size_t)w);
	return true;
}

static bool repack_keys(struct search *s, const struct store *old, uint32_t **keys, uint64_t n,
                        uint64_t *cap)
{
	uint64_t need = n * s->store.words + s->store.words;
	uint32_t *out = malloc(need * 4);
	uint32_t *ids = malloc(sizeof *ids * s->store.nfields);
	if (!out || !ids) {
		free(out);
		free(ids);
		return false;
	}
	for (uint64_t i = 0; i < n; i++) {
		store_unpack(old, *keys + i * old->words, ids);
		store_pack(&s->store, ids, out + i * s->store.words);
	}
	free(ids);
	free(*keys);
	*keys = out;
	*cap = need;
	return true;
}

static bool flush(struct search *s);

/* A field has outgrown its width: everything packed is packed again. */
static bool widen(struct search *s, uint32_t field, uint32_t id)
{
	if (!flush(s))
		return false;
	uint32_t from = field ? s->first[field - 1] + 1 : 0, to = field ? s->last[field - 1] + 1 : 0;
	for (uint32_t f = from; f <= to; f++) { /* a group keeps one width */
		struct store old = s->store;
		uint8_t *width = malloc(old.nfields);
		uint16_t *offset = malloc(old.nfields * sizeof *offset);
		bool ok = width && offset;
		if (ok) {
			memcpy(width, old.width, old.nfields);
			memcpy(offset, old.offset, old.nfields * sizeof *offset);
			old.width = width;
			old.offset = offset;
			ok = store_widen(&s->store, f, id) &&
			     repack_keys(s, &old, &s->cur.keys, s->cur.n, &s->cur.cap) &&
			     repack_keys(s, &old, &s->next.keys, s->next.n, &s->next.cap);
			free(s->batch);
			s->batch = malloc(4 * (size_t)(BATCH + 1) * s->store.words);
			ok = ok && s->batch;
		}
		free(width);
		free(offset);
		if (!ok)
			return false;
	}
	return true;
}

/* ---- new states --------------------------------------------------------- */

static bool is_wrong(const struct search *s, const uint32_t *ids)
{
	const struct product *x = &s->prod;
	bool equal = product_global_equal(x, ids[0]);
	for (uint32_t i = 0; i < s->nthreads; i++) {
		const struct prod_local *l = product_local(x, x->kind_of[i], ids[i + 1]);
		if (l->inside)
			return false;
		equal &= l->equal;
	}
	return !equal;
}

static bool remember(struct search *s, const struct origin *from)
{
	if (!s->tracing)
		return true;
	if (s->norigins == s->cap_origins) {
		uint64_t cap = s->cap_origins ? s->cap_origins * 2 : 1024;
		struct origin *p = realloc(s->origins, cap * sizeof *p);
		if (!p)
			return false;
		s->origins = p;
		s->cap_origins = cap;
	}
	s->origins[s->norigins++] = *from;
	return true;
}

/* Inserts what waits in the batch. */
static bool flush(struct search *s)
{
	for (uint32_t i = 0; i < s->nbatch; i++) {
		const uint32_t *key = s->batch + (size_t)i * s->store.words;
		switch (store_insert(&s->store, key, s->batch_hash[i])) {
		case STORE_OLD:
			continue;
		case STORE_FULL:
			give_up(s, "memory");
			s->nbatch = 0;
			return false;
		case STORE_NEW:
			break;
		}
		if (!level_push(s, &s->next, key) || !remember(s, &s->batch_from[i])) {
			give_up(s, "memory");
			s->nbatch = 0;
			return false;
		}
		if (s->prod.mode == PROD_COMMIT) {
			store_unpack(&s->store, key, s->tmp);
			if (is_wrong(s, s->tmp))
				hit(s, SEARCH_WRONG, s->batch_from[i].parent,
				    s->batch_from[i].thread, s->batch_from[i].edge);
		}
	}
	s->nbatch = 0;
	return s->r->verdict == SEARCH_HOLDS;
}

/* Puts the changed field where it belongs within its sorted group. */
static void sort_into(const struct search *s, uint32_t *ids, uint32_t pos)
{
	uint32_t i = pos, lo = s->first[pos], hi = s->last[pos], v = ids[pos + 1];
	for (; i > lo && ids[i] > v; i--)
		ids[i + 1] = ids[i];
	for (; i < hi && ids[i + 2] < v; i++)
		ids[i + 1] = ids[i + 2];
	ids[i + 1] = v;
}

/* Puts the packed state behind the batch into it. */
static inline bool batch_add(struct search *s, const uint32_t *out, struct origin from)
{
	uint64_t hash = store_hash(out, s->store.words);
	store_prefetch(&s->store, hash);
	s->batch_hash[s->nbatch] = hash;
	s->batch_from[s->nbatch++] = from;
	return s->nbatch < BATCH || flush(s);
}

/* The general case: fields that may have to grow, groups to be sorted. */
static bool add_general(struct search *s, const struct prod_edge *e, struct origin from)
{
	uint32_t pos = from.thread;
	while (!store_fits(&s->store, 0, e->global) || !store_fits(&s->store, pos + 1, e->local)) {
		uint32_t field = store_fits(&s->store, 0, e->global) ? pos + 1 : 0;
		if (!widen(s, field, field ? e->local : e->global)) {
			give_up(s, "memory");
			return false;
		}
	}
	uint32_t *out = s->batch + (size_t)s->nbatch * s->store.words;
	memcpy(s->tmp, s->ids, sizeof *s->tmp * (s->nthreads + 1));
	s->tmp[0] = e->global;
	s->tmp[pos + 1] = e->local;
	sort_into(s, s->tmp, pos);
	store_pack(&s->store, s->tmp, out);
	return batch_add(s, out, from);
}

/* `key` is the state's packed form, or NULL when the layout has changed. */
static inline bool add_successor(struct search *s, const uint32_t *key, const struct prod_edge *e,
                                 struct origin from)
{
	const struct store *st = &s->store;
	uint32_t pos = from.thread;
	s->r->transitions++;
	if (e->global == s->ids[0] && e->local == s->ids[pos + 1])
		return true; /* back to the same state */
	if (!key || s->first[pos] != s->last[pos] || !store_fits(st, 0, e->global) ||
	    !store_fits(st, pos + 1, e->local))
		return add_general(s, e, from);
	uint32_t *out = s->batch + (size_t)s->nbatch * st->words;
	for (uint32_t w = 0; w < st->words; w++)
		out[w] = key[w];
	store_change(st, out, 0, s->ids[0], e->global);
	store_change(st, out, pos + 1, s->ids[pos + 1], e->local);
	return batch_add(s, out, from);
}

/* ---- one state ---------------------------------------------------------- */

static enum search_verdict verdict_of(uint32_t flags)
{
	return flags & PRODF_FAULT            ? SEARCH_FAULT
	       : flags & PRODF_SHADOW_STUCK   ? SEARCH_SHADOW_STUCK
	       : flags & PRODF_SHADOW_ENDLESS ? SEARCH_SHADOW_ENDLESS
	                                      : SEARCH_SHADOW_FAULT;
}

static bool all_finished(const struct search *s)
{
	const struct product *x = &s->prod;
	for (uint32_t i = 0; i < s->nthreads; i++) {
		const struct prod_kind *k = &x->kinds[x->kind_of[i]];
		uint32_t node = (uint32_t)vectab_get(&k->frames, k->info[s->ids[i + 1]].frame)[0];
		if (x->ir->nodes[node].kind != IRN_END)
			return false;
	}
	return true;
}

static bool expand(struct search *s, uint64_t index)
{
	struct product *x = &s->prod;
	uint32_t version = s->store.version, number = (uint32_t)(s->base + index);
	bool moved = false;
	store_unpack(&s->store, s->cur.keys + index * s->store.words, s->ids);
	for (uint32_t i = 0; i < s->nthreads; i++) {
		if (i > s->first[i] && s->ids[i + 1] == s->ids[i])
			continue; /* as the thread before */
		uint32_t n;
		const struct prod_edge *e = product_step(x, x->kind_of[i], s->ids[0], s->ids[i + 1], &n);
		if (x->out_of_memory) {
			give_up(s, "memory");
			return false;
		}
		for (uint32_t k = 0; k < n; k++) {
			uint32_t bad = e[k].flags & ~(uint32_t)PRODF_COMMIT;
			struct origin from = { number, i, k };
			moved = true;
			if (bad & PRODF_LIMIT) {
				give_up(s, "step");
				return false;
			}
			if (bad == PRODF_FAULT && !s->o->faults)
				continue;
			if (bad) {
				s->r->transitions++;
				hit(s, verdict_of(bad), number, i, k);
				return false;
			}
			const uint32_t *key = s->cur.keys + index * s->store.words;
			if (!add_successor(s, version == s->store.version ? key : NULL, &e[k], from))
				return false;
		}
	}
	if (!moved && s->o->deadlock && !all_finished(s)) {
		hit(s, SEARCH_DEADLOCK, number, IR_NONE, 0);
		return false;
	}
	return true;
}

/*
 * The same for the plain case: no groups to sort, no origins to keep, fields
 * of one byte, one outcome without anything to report. Whatever is not that
 * is left to expand(). Instantiated for each packed size, so that keys live
 * in registers. A transition is two table look-ups, two additions, a hash and
 * a prefetch.
 */
static inline bool expand_plain(struct search *s, uint64_t index, const uint32_t words)
{
	struct product *x = &s->prod;
	struct store *st = &s->store;
	const uint32_t *key = s->cur.keys + index * words;
	const uint8_t *bytes = (const uint8_t *)key;
	uint32_t global = bytes[st->offset[0]] - 1u, taken = 0;
	const uint16_t *off = st->offset;
	for (uint32_t i = 0; i < s->nthreads; i++) {
		const struct prod_kind *k = &x->kinds[x->kind_of[i]];
		uint32_t local = bytes[off[i + 1]] - 1u, at1 = 0;
		if (global < k->dense_globals && local < k->dense_locals)
			at1 = k->dense[(uint64_t)global * k->dense_locals + local];
		if (!at1)
			return false;
		uint32_t n = x->edges[at1 - 1].global;
		const struct prod_edge *e = &x->edges[at1];
		for (uint32_t m = 0; m < n; m++, e++) {
			if ((e->flags & ~(uint32_t)PRODF_COMMIT) || e->global >= 255 ||
			    e->local >= 255 || s->nbatch >= BATCH)
				return false;
			uint32_t dg = e->global - global, dl = e->local - local;
			taken++;
			if (!(dg | dl))
				continue;
			uint32_t *out = s->batch + (size_t)s->nbatch * words;
			for (uint32_t w = 0; w < words; w++)
				out[w] = key[w];
			out[off[0] / 4] += dg << 8 * (off[0] % 4);
			out[off[i + 1] / 4] += dl << 8 * (off[i + 1] % 4);
			uint64_t hash = store_hash(out, words);
			store_prefetch(st, hash);
			s->batch_hash[s->nbatch++] = hash;
		}
	}
	s->r->transitions += taken;
	return true;
}

/* True when it did all of the state's work; else nothing has happened. */
static bool try_plain(struct search *s, uint64_t index)
{
	uint32_t before = s->nbatch;
	bool done;
	switch (s->store.words) {
	case 1: done = expand_plain(s, index, 1); break;
	case 2: done = expand_plain(s, index, 2); break;
	case 3: done = expand_plain(s, index, 3); break;
	case 4: done = expand_plain(s, index, 4); break;
	default: done = expand_plain(s, index, s->store.words); break;
	}
	if (!done)
		s->nbatch = before;
	return done;
}

static bool expand_one(struct search *s, uint64_t index)
{
	if (!s->plain || !s->store.bytes_only)
		return expand(s, index);
	if (s->nbatch > BATCH / 2 && !flush(s))
		return false;
	return try_plain(s, index) || expand(s, index);
}

static bool limits_hold(struct search *s)
{
	const struct search_options *o = s->o;
	s->r->bytes = s->store.cap * s->store.words * 4 + (s->cur.cap + s->next.cap) * 4 +
	              s->cap_origins * sizeof *s->origins + product_bytes(&s->prod);
	if (o->max_states && s->store.n > o->max_states)
		give_up(s, "states");
	if (o->max_bytes && s->r->bytes > o->max_bytes)
		give_up(s, "memory");
	if (o->deadline > 0 && now() > o->deadline)
		give_up(s, "time");
	if (o->progress)
		o->progress(o->progress_arg, s->store.n, s->r->transitions, s->r->depth, s->r->bytes);
	return s->r->verdict == SEARCH_HOLDS;
}

/* Every state of a level, then the next level. */
static void explore(struct search *s)
{
	while (s->cur.n && limits_hold(s)) {
		for (uint64_t i = 0; i < s->cur.n; i++) {
			if (!expand_one(s, i) || (i % 4096 == 4095 && !limits_hold(s)))
				break;
		}
		if (s->r->verdict == SEARCH_HOLDS)
			flush(s);
		if (s->r->verdict != SEARCH_HOLDS)
			return;
		s->base += s->cur.n;
		struct level t = s->cur;
		s->cur = s->next;
		s->next = t;
		s->next.n = 0;
		s->r->depth++;
	}
}

/* ---- setting up --------------------------------------------------------- */

static void make_groups(struct search *s)
{
	const struct product *x = &s->prod;
	for (uint32_t i = 0; i < s->nthreads; i++) {
		bool joins = i && s->o->symmetry && x->kind_of[i] == x->kind_of[i - 1];
		s->first[i] = joins ? s->first[i - 1] : i;
	}
	for (uint32_t i = s->nthreads; i-- > 0;)
		s->last[i] = i + 1 < s->nthreads && s->first[i + 1] == s->first[i] ? s->last[i + 1] : i;
}

static bool search_init(struct search *s, const struct ir *ir, enum prod_mode mode, uint32_t block,
                        const struct labelling *lab, const struct search_options *o,
                        struct search_result *r, bool tracing)
{
	memset(s, 0, sizeof *s);
	s->o = o;
	s->r = r;
	s->tracing = tracing;
	s->nthreads = ir->nthreads;
	bool ok = product_init(&s->prod, ir, mode, block, lab);
	ok = store_init(&s->store, ir->nthreads + 1, o->max_bytes) && ok;
	s->prod.merge_local = o->merge_local;
	s->prod.drop_pure = o->drop_pure;
	s->first = calloc(ir->nthreads + 1, sizeof *s->first);
	s->last = calloc(ir->nthreads + 1, sizeof *s->last);
	s->ids = calloc(ir->nthreads + 2, sizeof *s->ids);
	s->tmp = calloc(ir->nthreads + 2, sizeof *s->tmp);
	s->batch = malloc(4 * (size_t)(BATCH + 1) * s->store.words);
	if (!ok || !s->first || !s->last || !s->ids || !s->tmp || !s->batch)
		return false;
	make_groups(s);
	s->plain = !tracing && !o->deadlock;
	for (uint32_t i = 0; i < s->nthreads; i++)
		s->plain &= s->first[i] == s->last[i];
	s->ids[0] = product_initial_global(&s->prod);
	for (uint32_t i = 0; i < ir->nthreads; i++)
		s->ids[i + 1] = product_initial_local(&s->prod, i);
	uint32_t *key = s->batch;
	store_pack(&s->store, s->ids, key);
	struct origin none = { 0, IR_NONE, 0 };
	return store_insert(&s->store, key, store_hash(key, s->store.words)) == STORE_NEW && level_push(s, &s->cur, key) &&
	       remember(s, &none);
}

static void search_free(struct search *s)
{
	product_free(&s->prod);
	store_free(&s->store);
	free(s->cur.keys);
	free(s->next.keys);
	free(s->first);
	free(s->last);
	free(s->ids);
	free(s->tmp);
	free(s->batch);
	free(s->origins);
}

/* ---- the path ----------------------------------------------------------- */

/* sort_into, taking the threads' names along. */
static void sort_named(const struct search *s, uint32_t *ids, uint32_t *who, uint32_t pos)
{
	uint32_t name = who[pos], v = ids[pos + 1], i = pos;
	for (; i > s->first[pos] && ids[i] > v; i--) {
		ids[i + 1] = ids[i];
		who[i] = who[i - 1];
	}
	for (; i < s->last[pos] && ids[i + 2] < v; i++) {
		ids[i + 1] = ids[i + 2];
		who[i] = who[i + 1];
	}
	ids[i + 1] = v;
	who[i] = name;
}

static bool append_moves(struct search *s, const struct prod_edge *e, uint32_t thread)
{
	struct search_result *r = s->r;
	struct move *p = realloc(r->path, sizeof *p * (r->npath + e->nmoves));
	if (!p)
		return false;
	r->path = p;
	for (uint32_t i = 0; i < e->nmoves; i++)
		p[r->npath++] = (struct move){ thread, s->prod.moves[e->move + i] };
	return true;
}

/* Follows the recorded origins from the initial state to the violation. */
static bool make_path(struct search *s, const struct ir *ir)
{
	uint32_t n = 0, *who = calloc(s->nthreads + 1, sizeof *who);
	for (uint32_t i = s->hit.parent; s->origins[i].thread != IR_NONE; i = s->origins[i].parent)
		n++;
	struct origin *steps = calloc(n + 2, sizeof *steps);
	bool ok = who && steps;
	if (ok) {
		uint32_t k = n;
		for (uint32_t i = s->hit.parent; s->origins[i].thread != IR_NONE;
		     i = s->origins[i].parent)
			steps[--k] = s->origins[i];
		if (s->hit.thread != IR_NONE)
			steps[n++] = (struct origin){ 0, s->hit.thread, s->hit.edge };
		s->ids[0] = product_initial_global(&s->prod);
		for (uint32_t i = 0; i < ir->nthreads; i++) {
			s->ids[i + 1] = product_initial_local(&s->prod, i);
			who[i] = i;
		}
	}
	for (uint32_t i = 0; ok && i < n; i++) {
		uint32_t pos = steps[i].thread, count;
		const struct prod_edge *e =
			product_step(&s->prod, s->prod.kind_of[pos], s->ids[0], s->ids[pos + 1], &count);
		ok = e && append_moves(s, &e[steps[i].edge], who[pos]);
		if (!ok)
			break;
		s->ids[0] = e[steps[i].edge].global;
		s->ids[pos + 1] = e[steps[i].edge].local;
		sort_named(s, s->ids, who, pos);
	}
	free(who);
	free(steps);
	return ok;
}

/* The same search again, remembering; it is deterministic, so it meets the
 * same violation. */
static void trace(const struct ir *ir, enum prod_mode mode, uint32_t block,
                  const struct labelling *lab, const struct search_options *o,
                  struct search_result *r)
{
	struct search s;
	struct search_options quiet = *o;
	struct search_result again = { 0 };
	quiet.max_states = quiet.max_bytes = 0;
	quiet.deadline = 0;
	quiet.progress = NULL;
	if (search_init(&s, ir, mode, block, lab, &quiet, &again, true)) {
		explore(&s);
		if (again.verdict == r->verdict && make_path(&s, ir)) {
			r->path = again.path;
			r->npath = again.npath;
			again.path = NULL;
		}
	}
	search_free(&s);
	free(again.path);
}

void search_run(const struct ir *ir, enum prod_mode mode, uint32_t block,
                const struct labelling *lab, const struct search_options *o,
                struct search_result *r)
{
	struct search s;
	memset(r, 0, sizeof *r);
	if (search_init(&s, ir, mode, block, lab, o, r, false))
		explore(&s);
	else
		give_up(&s, "memory");
	r->states = s.store.n;
	limits_hold(&s);
	search_free(&s);
	if (r->verdict != SEARCH_HOLDS && r->verdict != SEARCH_LIMIT)
		trace(ir, mode, block, lab, o, r);
}

void search_result_free(struct search_result *r)
{
	free(r->path);
	r->path = NULL;
}
