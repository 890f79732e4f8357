#include "explore/search_dist_int.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/grow.h"
#include "base/invariant.h"
#include "explore/key_code.h"
#include "explore/key_merge.h"

#define BATCH_STATES 65536u        /* of a message at most */
#define BOX_BYTES    (64ull << 20) /* of all batches of a worker, about */
#define LEAST_BATCH  512u          /* states */
#define SLICE        192u          /* states taken in between looks at the store; below STORE_SLACK */
#define WINDOW       (16ull << 20) /* bytes on their way to others, from which on a worker waits */
#define MESSAGE_HEAD 2u            /* bytes of a message before its states: kind, list */

struct outbox { /* states for a rank */
	uint64_t *keys;
	uint32_t n;
};

struct dist_worker {
	struct outbox *box; /* by rank */
	uint64_t *room;     /* to sort a box */
	uint64_t *in;       /* states that came, */
	uint32_t nin, at;   /* from `at` on to be taken in */
	unsigned list;      /* what they are */
	struct chunk *held; /* being filled */
};

uint64_t dist_states(const struct dist_search *x)
{
	return x->states;
}

uint64_t dist_transitions(const struct dist_search *x)
{
	return x->transitions;
}

/* ---- workers --------------------------------------------------------------- */

static uint32_t batch_of(const struct search *s)
{
	const struct dist_search *x = s->dist;
	assert(s->store.at.words && x->d->n > 1);
	if (x->ranks->batch)
		return x->ranks->batch;
	uint64_t jobs = s->o->jobs ? s->o->jobs : 1, max = s->o->max_bytes / 16 / jobs;
	uint64_t n = (max && max < BOX_BYTES ? max : BOX_BYTES) / (8ull * s->store.at.words * x->d->n);
	return n > BATCH_STATES ? BATCH_STATES : n < LEAST_BATCH ? LEAST_BATCH : (uint32_t)n;
}

bool dist_worker_new(struct worker *w)
{
	struct dist_search *x = w->s->dist;
	assert(!w->dist && x->batch);
	size_t room = (size_t)x->batch * w->s->store.at.words;
	struct dist_worker *k = calloc(1, sizeof *k);
	w->dist = k;
	if (k) {
		k->box = calloc(x->d->n, sizeof *k->box);
		k->room = malloc(room * sizeof *k->room);
		k->in = malloc(room * sizeof *k->in);
	}
	if (k && k->box && k->room && k->in)
		return true;
	dist_worker_end(w);
	return false;
}

void dist_worker_end(struct worker *w)
{
	struct dist_worker *k = w->dist;
	if (!k)
		return;
	for (uint32_t i = 0; k->box && i < w->s->dist->d->n; i++)
		free(k->box[i].keys);
	search_chunk_free(w->s, k->held);
	free(k->box);
	free(k->room);
	free(k->in);
	free(k);
	w->dist = NULL;
}

bool dist_busy(const struct worker *w)
{
	return w->dist->at < w->dist->nin;
}

uint64_t dist_bytes(const struct search *s)
{
	const struct dist_search *x = s->dist;
	uint64_t n = x->arrived_bytes + x->d->ops->waiting(x->d) + x->held.cap * sizeof(struct chunk *), states = 0;
	for (uint32_t i = 0; i < s->nworkers; i++) {
		const struct dist_worker *k = s->workers[i].dist;
		states += k ? 2ull * x->batch : 0;
		for (uint32_t r = 0; k && r < x->d->n; r++)
			states += k->box[r].keys ? x->batch : 0;
	}
	return n + states * s->store.at.words * 8;
}

/* ---- messages ----------------------------------------------------------------- */

/* What has come is put into the queue; net is held. */
static void poll(struct dist_search *x)
{
	uint32_t from;
	unsigned char *bytes;
	size_t n;
	while (dist_take(x->d, &from, &bytes, &n)) {
		struct arrived *a = malloc(sizeof *a);
		if (!a || bytes[0] != DIST_STATES || n < MESSAGE_HEAD) {
			dist_fail(x->d, a ? "a message is not what it should be" : "out of memory");
			free(bytes);
			free(a);
			return;
		}
		*a = (struct arrived){ .bytes = bytes, .n = n };
		*x->last = a;
		x->last = &a->next;
		x->arrived_bytes += n;
	}
}

static struct arrived *pop(struct dist_search *x)
{
	struct arrived *a = x->first;
	if (a) {
		assert(x->arrived_bytes >= a->n);
		x->first = a->next;
		x->arrived_bytes -= a->n;
	}
	if (!x->first)
		x->last = &x->first;
	return a;
}

static void drop_arrived(struct dist_search *x)
{
	for (struct arrived *a; (a = pop(x)) != NULL; free(a))
		free(a->bytes);
}

/* A message becomes what the worker takes in. */
static bool read_message(struct worker *w, struct arrived *a)
{
	struct dist_search *x = w->s->dist;
	struct dist_worker *k = w->dist;
	assert(k->at == k->nin);
	uint64_t n = key_code_read(a->bytes + MESSAGE_HEAD, a->n - MESSAGE_HEAD, w->s->store.at.words, k->in, x->batch);
	k->list = a->bytes[1];
	free(a->bytes);
	free(a);
	k->at = 0;
	k->nin = n <= x->batch ? (uint32_t)n : 0;
	return n <= x->batch;
}

/* The states in the box, sorted, as a message; NULL: out of memory. */
static unsigned char *message_of(struct worker *w, struct outbox *b, unsigned list, size_t *n)
{
	uint32_t words = w->s->store.at.words;
	struct dist_search *x = w->s->dist;
	assert(b->n && b->n <= x->batch);
	uint64_t *sorted = key_sort(b->keys, w->dist->room, b->n, words), states = key_code_distinct(sorted, b->n, words);
	unsigned char *bytes = malloc(MESSAGE_HEAD + key_code_room(states, words)), *less;
	if (!bytes)
		return NULL;
	bytes[0] = DIST_STATES;
	bytes[1] = (unsigned char)list;
	*n = (size_t)(key_code_write(bytes + MESSAGE_HEAD, sorted, states, words) - bytes);
	__atomic_fetch_add(&x->ranks->states, states, __ATOMIC_RELAXED);
	__atomic_fetch_add(&x->ranks->bytes, *n, __ATOMIC_RELAXED);
	b->n = 0;
	less = realloc(bytes, *n);
	return less ? less : bytes;
}

static void broken(struct search *s)
{
	search_give_up(s, "ranks");
}

static void send_box(struct worker *w, uint32_t to, unsigned list)
{
	struct dist_search *x = w->s->dist;
	size_t n;
	assert(to != x->d->rank); /* own states are inserted */
	unsigned char *bytes = message_of(w, &w->dist->box[to], list, &n);
	if (!bytes) {
		search_give_up(w->s, "memory");
		return;
	}
	uint32_t idle = 0;
	pthread_mutex_lock(&x->net);
	bool ok = dist_put(x->d, to, bytes, n);
	while (ok && x->d->ops->waiting(x->d) > WINDOW) { /* others take them in as we take in theirs */
		poll(x);
		ok = !x->d->broken;
		pthread_mutex_unlock(&x->net);
		dist_pause(&idle);
		pthread_mutex_lock(&x->net);
	}
	pthread_mutex_unlock(&x->net);
	if (!ok)
		broken(w->s);
}

/* Puts a state into a box, which must not be full; false: out of memory. */
static inline bool box_put(struct worker *w, uint32_t to, const uint64_t *words)
{
	struct outbox *b = &w->dist->box[to];
	uint32_t n = w->s->store.at.words;
	if (!b->keys && !(b->keys = malloc((size_t)w->s->dist->batch * n * sizeof *b->keys))) {
		search_give_up(w->s, "memory");
		return false;
	}
	assert(b->n < w->s->dist->batch);
	uint64_t *at = b->keys + (size_t)b->n++ * n;
	for (uint32_t i = 0; i < n; i++)
		at[i] = words[i];
	return true;
}

/* Every batch of the worker. */
static void send_all(struct worker *w, unsigned list)
{
	for (uint32_t r = 0; r < w->s->dist->d->n; r++)
		if (w->dist->box[r].n)
			send_box(w, r, list);
}

/* ---- taking in ------------------------------------------------------------------ */

/* A state that is new here. */
static bool enter(struct worker *w, const uint64_t *key, unsigned list)
{
	struct search *s = w->s;
	assert(list == LIST_FOUND || list == LIST_LEVEL || list == LIST_NEXT);
	if (!search_push(w, key)) {
		search_give_up(s, "memory");
		return false;
	}
	if (list == LIST_FOUND && s->prod.mode == PROD_COMMIT && search_is_wrong(w, key))
		search_hit(s, SEARCH_WRONG, (struct origin){ 0, IR_NONE, 0 });
	return true;
}

/* Some of what has come; a meeting is asked for when the store is full. */
static void take_slice(struct worker *w)
{
	struct search *s = w->s;
	struct store *st = &s->store;
	struct dist_worker *k = w->dist;
	uint32_t words = st->at.words, n = k->nin - k->at < SLICE ? k->nin - k->at : SLICE;
	const uint64_t *in = k->in + (size_t)k->at * words;
	bool stored = k->list == LIST_FOUND || k->list == LIST_KNOWN;
	uint64_t place[SLICE], root[SLICE], added = 0;
	for (uint32_t i = 0; i < n; i++) {
		const uint64_t *key = in + (size_t)i * words;
		if (st->tree) {
			root[i] = tree_root(&st->nodes, key, words, w->child_nodes, NULL, NULL);
			key = &root[i];
		}
		if (!key[0]) {
			n = i;
			search_ask_meeting(s);
			break;
		}
		place[i] = store_place(store_hash(key, st->key), st->cap);
		store_prefetch(st, place[i]);
	}
	for (uint32_t i = 0; i < n; i++) {
		const uint64_t *key = st->tree ? &root[i] : in + (size_t)i * words;
		bool new = !stored || store_insert(st, key, place[i]) == STORE_NEW;
		added += stored && new;
		if (new && k->list != LIST_KNOWN && !enter(w, key, k->list))
			break;
	}
	k->at += n;
	assert(k->at <= k->nin && added <= n);
	store_added(st, added);
	if (store_crowded(st))
		search_ask_meeting(s);
}

bool dist_take_in(struct worker *w)
{
	struct dist_search *x = w->s->dist;
	if (dist_busy(w)) {
		take_slice(w);
		return true;
	}
	if (pthread_mutex_trylock(&x->net)) /* another thread is at it */
		return false;
	poll(x);
	struct arrived *a = pop(x);
	bool lost = x->d->broken;
	pthread_mutex_unlock(&x->net);
	if (lost)
		broken(w->s);
	if (a && !read_message(w, a)) {
		pthread_mutex_lock(&x->net);
		dist_fail(x->d, "a message is not what it should be");
		pthread_mutex_unlock(&x->net);
		broken(w->s);
	}
	return a != NULL;
}

/* All that the worker has been given, when no other thread works. */
static void take_all(struct worker *w)
{
	struct search *s = w->s;
	while (dist_busy(w) && s->r->verdict == SEARCH_HOLDS) {
		take_slice(w);
		if (store_crowded(&s->store) && !store_grow(&s->store))
			search_give_up(s, "memory");
	}
	w->dist->at = w->dist->nin = 0;
}

/* ---- successors ------------------------------------------------------------------ */

static inline uint32_t owner_of(const struct dist_search *x, uint64_t hash)
{
	return (uint32_t)((hash & 0xffffffff) * x->d->n >> 32);
}

/* One that belongs to this rank; is it new? */
static inline bool found_here(struct worker *w, uint32_t i, const uint64_t *key)
{
	struct search *s = w->s;
	if (store_insert(&s->store, key, w->place[i]) != STORE_NEW)
		return false;
	if (!search_push(w, key))
		search_give_up(s, "memory");
	else if (w->check[i] && search_is_wrong(w, key))
		search_hit(s, SEARCH_WRONG, (struct origin){ 0, IR_NONE, 0 });
	return true;
}

static void found_there(struct worker *w, uint32_t to, const uint64_t *words)
{
	if (box_put(w, to, words) && w->dist->box[to].n == w->s->dist->batch)
		send_box(w, to, LIST_FOUND);
}

void dist_found(struct worker *w)
{
	struct search *s = w->s;
	struct store *st = &s->store;
	const struct dist_search *x = s->dist;
	uint32_t me = x->d->rank, n = st->at.words;
	uint64_t added = 0;
	assert(w->nbatch <= STORE_SLACK && me < x->d->n);
	for (uint32_t i = 0; i < w->nbatch; i++) {
		const uint64_t *key = w->batch + (size_t)i * st->key, *words = key;
		if (st->tree) {
			tree_words(&st->nodes, key[0], n, w->child, w->child_nodes);
			words = w->child;
		}
		uint32_t to = owner_of(x, store_hash(words, n));
		if (to == me)
			added += found_here(w, i, key);
		else
			found_there(w, to, words);
	}
	store_added(st, added);
	if (store_crowded(st))
		search_ask_meeting(s);
}

void dist_hold(struct worker *w, const uint64_t *key)
{
	if (!search_put(w, &w->dist->held, &w->s->dist->held, key))
		search_give_up(w->s, "memory");
}

/* ---- distributing again -------------------------------------------------------------- */

/* A state, as packed words, goes to its owner. This rank's own take the same way. */
static void route(struct worker *w, const uint64_t *words, unsigned list)
{
	struct dist_search *x = w->s->dist;
	uint32_t to = owner_of(x, store_hash(words, w->s->store.at.words));
	struct outbox *b = &w->dist->box[to];
	assert(list != LIST_FOUND && to < x->d->n);
	if (!box_put(w, to, words) || b->n < x->batch)
		return;
	if (to != x->d->rank) {
		send_box(w, to, list);
		return;
	}
	memcpy(w->dist->in, b->keys, (size_t)b->n * w->s->store.at.words * sizeof *b->keys);
	w->dist->nin = b->n;
	w->dist->at = b->n = 0;
	w->dist->list = list;
	take_all(w);
}

/* All that is on its way has come and is taken in. No other thread works. */
static void drain(struct worker *w)
{
	struct search *s = w->s;
	struct dist_search *x = s->dist;
	uint32_t idle = 0;
	bool more = true;
	while (more) {
		pthread_mutex_lock(&x->net);
		poll(x);
		struct arrived *a = pop(x);
		bool lost = x->d->broken, ended = dist_ended(x->d);
		pthread_mutex_unlock(&x->net);
		if (a && s->r->verdict != SEARCH_HOLDS) { /* the search ends: it is not looked at */
			free(a->bytes);
			free(a);
		} else if (a) {
			if (!read_message(w, a)) {
				dist_fail(x->d, "a message is not what it should be");
				broken(s);
			}
			take_all(w);
		}
		if (lost)
			broken(s);
		if (a)
			idle = 0;
		else if (!lost && !ended)
			dist_pause(&idle);
		more = a || (!lost && !ended);
	}
}

/* The lists that states are sent by, one phase each. */
static void end_phase(struct worker *w, unsigned list)
{
	struct dist_search *x = w->s->dist;
	struct outbox *own = &w->dist->box[x->d->rank];
	if (own->n) {
		memcpy(w->dist->in, own->keys, (size_t)own->n * w->s->store.at.words * sizeof *own->keys);
		w->dist->nin = own->n;
		w->dist->at = own->n = 0;
		w->dist->list = list;
		take_all(w);
	}
	send_all(w, list);
	dist_end(x->d);
	drain(w);
	uint64_t none = 0;
	dist_sum(x->d, &none, 1);
}

struct moving { /* from one layout to another */
	struct search *s;
	const struct store *from;
	uint32_t *ids;
	uint64_t *old, *new;
};

static void move_key(struct moving *m, const uint64_t *key, unsigned list)
{
	assert(key[0]); /* a slot that is taken */
	store_words(m->from, key, m->old);
	store_unpack(m->from, m->old, m->ids);
	store_pack(&m->s->store, m->ids, m->new);
	route(&m->s->workers[0], m->new, list);
}

static void move_level(struct moving *m, struct level *l, unsigned list)
{
	for (uint64_t c = 0; c < l->n; c++)
		for (uint32_t i = 0; l->chunk[c] && i < l->chunk[c]->n && m->s->r->verdict == SEARCH_HOLDS; i++)
			move_key(m, l->chunk[c]->keys + (size_t)i * m->from->key, list);
}

/* Chunks of a layout that is not the store's any more. */
static void free_level(struct search *s, struct level *l, uint32_t key)
{
	for (uint64_t c = 0; c < l->n; c++) {
		if (!l->chunk[c])
			continue;
		assert(s->chunk_bytes >= (uint64_t)s->chunk * key * 8);
		s->chunk_bytes -= (uint64_t)s->chunk * key * 8;
		free(l->chunk[c]->keys);
		free(l->chunk[c]);
	}
	free(l->chunk);
	*l = (struct level){ 0 };
}

/* A store with fields so wide, without states; rooms for that. */
static bool new_layout(struct search *s, const uint8_t *bits, uint32_t users)
{
	struct dist_search *x = s->dist;
	assert(users && bits[0]);
	memcpy(s->bits, bits, s->nthreads + 1ull);
	bool ok = store_init(&s->store, s->nthreads + 1, s->bits, s->o->max_bytes) && (users == 1 || store_admit(&s->store, users));
	if (!ok)
		return false;
	x->batch = batch_of(s);
	for (uint32_t i = 0; ok && i < s->nworkers; i++) {
		dist_worker_end(&s->workers[i]);
		ok = search_worker_room(&s->workers[i]) && dist_worker_new(&s->workers[i]);
	}
	search_tell_limits(s);
	search_make_spans(s);
	search_aim(s);
	return ok && store_reserve(&s->store, x->states / x->d->n);
}

/* The worker's chunks become the level's. */
static bool collect(struct search *s, struct level *next)
{
	for (uint32_t i = 0; i < s->nworkers; i++) {
		struct worker *w = &s->workers[i];
		if (w->out && !search_level_add(next, w->out))
			return false;
		w->out = NULL;
	}
	return true;
}

bool dist_distribute(struct search *s, const uint8_t *bits, struct level *level)
{
	struct store old = s->store;
	struct level cur = *level, next;
	struct moving m = { .s = s, .from = &old, .ids = malloc(sizeof *m.ids * (s->nthreads + 2ull)) };
	struct worker *w = &s->workers[0];
	bool ok = collect(s, &s->next);
	next = s->next;
	*level = s->next = (struct level){ 0 };
	s->store = (struct store){ 0 };
	ok = new_layout(s, bits, old.users) && ok;
	m.old = malloc(sizeof *m.old * old.at.words);
	m.new = malloc(sizeof *m.new *(s->store.at.words + 1ull));
	if (!ok || !m.ids || !m.old || !m.new)
		search_give_up(s, "memory");
	/* whatever happens here, the other ranks are in the same phases */
	for (uint64_t i = 0; i < old.cap && s->r->verdict == SEARCH_HOLDS; i++)
		if (old.table[i * old.key])
			move_key(&m, old.table + i * old.key, LIST_KNOWN);
	bool there = w->dist != NULL;
	if (there) {
		end_phase(w, LIST_KNOWN);
		move_level(&m, &cur, LIST_LEVEL);
		end_phase(w, LIST_LEVEL);
		ok = search_level_of(s, level);
		if (!ok)
			search_give_up(s, "memory");
		move_level(&m, &next, LIST_NEXT);
		end_phase(w, LIST_NEXT);
	} else {
		dist_fail(s->dist->d, "out of memory");
	}
	free_level(s, &cur, old.key);
	free_level(s, &next, old.key);
	store_free(&old);
	free(m.ids);
	free(m.old);
	free(m.new);
	return !s->dist->d->broken;
}

/* ---- the end of a level ---------------------------------------------------------------- */

enum { /* what ranks add up */
       SUM_NEW,
       SUM_HELD,
       SUM_TRANSITIONS,
       SUM_BYTES,
       SUM_VERDICT,                            /* ranks, by verdict */
       SUM_LIMIT = SUM_VERDICT + SEARCH_LIMIT, /* ranks, by limit */
};

static const char *const limits[] = { "memory", "step", "time", "interrupt", "states", "ranks" };

enum { NLIMITS = sizeof limits / sizeof *limits, NSUMS = SUM_LIMIT + NLIMITS };

static uint64_t states_of(const struct level *l)
{
	uint64_t n = 0;
	for (uint64_t i = 0; i < l->n; i++)
		n += l->chunk[i]->n;
	return n;
}

static void tell(struct search *s, uint64_t *v)
{
	const struct search_result *r = s->r;
	memset(v, 0, NSUMS * sizeof *v);
	v[SUM_NEW] = states_of(&s->next);
	v[SUM_HELD] = states_of(&s->dist->held);
	for (uint32_t i = 0; i < s->nworkers; i++) {
		const struct worker *w = &s->workers[i];
		v[SUM_NEW] += w->out ? w->out->n : 0;
		v[SUM_HELD] += w->dist->held ? w->dist->held->n : 0;
		v[SUM_TRANSITIONS] += w->transitions;
	}
	v[SUM_BYTES] = r->bytes;
	if (r->verdict != SEARCH_HOLDS && r->verdict != SEARCH_LIMIT)
		v[SUM_VERDICT + r->verdict] = 1;
	for (uint32_t i = 0; i < NLIMITS && r->verdict == SEARCH_LIMIT; i++)
		v[SUM_LIMIT + i] = !strcmp(r->limit, limits[i]);
}

/* All ranks come to the same conclusion; is the search over? */
static bool conclude(struct search *s, const uint64_t *v)
{
	struct search_result *r = s->r;
	for (uint32_t k = SEARCH_HOLDS + 1; k < SEARCH_LIMIT; k++)
		if (v[SUM_VERDICT + k]) {
			r->verdict = k;
			r->limit = NULL;
			return true;
		}
	for (uint32_t k = 0; k < NLIMITS; k++)
		if (v[SUM_LIMIT + k]) {
			r->verdict = SEARCH_LIMIT;
			r->limit = limits[k];
			return true;
		}
	assert(r->verdict == SEARCH_HOLDS);
	return false;
}

/* A rank is lost: what is known here is all there is. */
static void give_up_ranks(struct search *s)
{
	why_set(&s->dist->ranks->why, "%s", s->dist->d->why.text);
	if (s->r->verdict == SEARCH_HOLDS)
		search_limit(s, "ranks");
}

static bool fields_fit(const struct search *s)
{
	const struct product *x = &s->prod;
	bool fit = x->globals.n <= store_limit(&s->store, 0);
	for (uint32_t i = 0; i < s->nthreads; i++)
		fit &= x->kinds[x->kind_of[i]].ninfo <= store_limit(&s->store, i + 1);
	return fit;
}

static bool agree_on_ids(struct search *s)
{
	struct dist_search *x = s->dist;
	struct buf told;
	unsigned char *all = NULL;
	uint64_t *lengths = calloc(x->d->n, sizeof *lengths), v[2];
	buf_init(&told);
	product_tell(&s->prod, &x->mark, &told);
	if (!lengths || told.failed) {
		dist_fail(x->d, "out of memory");
	} else if (dist_gather(x->d, told.data, told.len, &all, lengths)) {
		uint64_t new = 0;
		for (uint32_t i = 0; i < x->d->n; i++)
			new += lengths[i];
		x->empty = new ? 0 : x->empty + 1; /* once is possible: see wide_slot in product.c */
		if (x->empty > 2)
			dist_fail(x->d, "internal error: states wait for ids that no rank has");
		v[0] = !product_agree(&s->prod, &x->mark, all, lengths, x->d->n);
		uint64_t ids = product_ids(&s->prod);
		v[1] = ids;
		if (dist_sum(x->d, v, 2) && v[0])
			search_limit(s, "memory"); /* on every rank */
		else if (v[1] != ids * x->d->n)
			dist_fail(x->d, "the ranks do not agree about ids");
	}
	x->ranks->agreements++;
	buf_free(&told);
	free(lengths);
	free(all);
	return !x->d->broken && s->r->verdict == SEARCH_HOLDS;
}

/* What has waited for ids is what is left of the level. */
static void expand_held(struct search *s)
{
	struct dist_search *x = s->dist;
	for (uint32_t i = 0; i < s->nworkers; i++) {
		struct dist_worker *k = s->workers[i].dist;
		if (k->held && !search_level_add(&x->held, k->held))
			search_limit(s, "memory");
		else
			k->held = NULL;
	}
	bool ok = agree_on_ids(s);
	struct level held = x->held;
	x->held = (struct level){ 0 };
	search_level_free(s, &s->cur);
	if (ok && !fields_fit(s)) {
		uint8_t *bits = malloc(s->nthreads + 1ull);
		if (bits) {
			search_widths(s, bits, false);
			dist_distribute(s, bits, &held);
			x->ranks->layouts++;
		} else {
			dist_fail(x->d, "out of memory");
		}
		free(bits);
	}
	s->cur = held;
	s->taken = 0;
	assert(!x->held.n && !x->first);
}

/* The rank has nothing more to do in this level: what it has found is sent, what was sent to it taken in. */
static void exchange(struct search *s, uint64_t *v)
{
	struct dist_search *x = s->dist;
	for (uint32_t i = 0; i < s->nworkers; i++)
		send_all(&s->workers[i], LIST_FOUND);
	dist_end(x->d);
	drain(&s->workers[0]);
	tell(s, v);
	dist_sum(x->d, v, NSUMS);
}

/* When the search is to end here, what is left of the level is not expanded. */
static void drop_work(struct search *s)
{
	for (uint64_t i = s->taken; i < s->cur.n; i++) {
		search_chunk_free(s, s->cur.chunk[i]);
		s->cur.chunk[i] = NULL;
	}
	s->taken = s->cur.n;
	for (uint32_t i = 0; i < s->nworkers; i++) {
		struct worker *w = &s->workers[i];
		search_chunk_free(s, w->chunk);
		w->chunk = NULL;
		w->dist->at = w->dist->nin = 0;
	}
}

static void end_of_level(struct search *s)
{
	struct dist_search *x = s->dist;
	uint64_t v[NSUMS] = { 0 };
	for (uint32_t i = 0; i < s->nworkers; i++)
		assert(!s->workers[i].chunk && !dist_busy(&s->workers[i]));
	exchange(s, v);
	if (!x->d->broken) {
		x->transitions = v[SUM_TRANSITIONS];
		x->bytes = v[SUM_BYTES] > x->bytes ? v[SUM_BYTES] : x->bytes;
		s->quit = conclude(s, v);
		if (s->quit)
			x->states += v[SUM_NEW];
		else if (v[SUM_HELD])
			expand_held(s);
	}
	if (x->d->broken) {
		give_up_ranks(s);
		s->quit = true;
	}
	if (s->quit || v[SUM_HELD])
		return;
	bool more = search_next_level(s);
	assert(more == (s->cur.n > 0) || s->r->verdict == SEARCH_LIMIT);
	(void)more;
	x->states += v[SUM_NEW];
	s->quit = !v[SUM_NEW];
	if (s->quit)
		return;
	s->r->depth++;
	if (s->o->max_states && x->states > s->o->max_states) {
		search_limit(s, "states"); /* on every rank */
		s->quit = true;
	}
}

void dist_meet(struct search *s, bool done)
{
	if (s->r->verdict == SEARCH_HOLDS && store_crowded(&s->store) && !store_grow(&s->store))
		search_limit(s, "memory");
	search_check_limits(s);
	if (s->r->verdict != SEARCH_HOLDS) {
		drop_work(s);
		done = true;
	}
	for (uint32_t i = 0; i < s->nworkers; i++)
		done &= !dist_busy(&s->workers[i]);
	if (!done)
		return;
	/* the others wait for the end of this meeting; what takes states in takes the lock itself */
	pthread_mutex_unlock(&s->lock);
	end_of_level(s);
	pthread_mutex_lock(&s->lock);
	s->r->bytes = s->quit && s->dist->bytes > s->r->bytes ? s->dist->bytes : s->r->bytes;
	if (!s->quit)
		search_hire(s);
}

/* ---- beginning and ending ------------------------------------------------------------------ */

bool dist_search_new(struct search *s)
{
	struct search_ranks *ranks = s->o->ranks;
	struct dist_search *x = calloc(1, sizeof *x);
	if (!x)
		return false;
	x->d = ranks->dist;
	x->ranks = ranks;
	x->last = &x->first;
	pthread_mutex_init(&x->net, NULL);
	s->dist = x;
	return true;
}

void dist_search_free(struct search *s)
{
	struct dist_search *x = s->dist;
	if (!x)
		return;
	drop_arrived(x);
	search_level_free(s, &x->held);
	product_mark_free(&x->mark);
	pthread_mutex_destroy(&x->net);
	free(x);
	s->dist = NULL;
}
