/* search: see search.h. Here are the levels, the meetings and the limits. */
#include "base/clock.h"
#include "base/grow.h"
#include "base/invariant.h"
#include "explore/search_disk.h"
#include "explore/search_dist.h"
#include "explore/search_int.h"

#include <stdlib.h>
#include <string.h>

#define TICK         0.1    /* seconds between looks at the limits */
#define TICK_WORK    65536u /* thread states between looks at the clock */
#define CHUNK_STATES 1024u  /* states of a chunk */
#define JOBS_FROM    20000u /* states; fewer are not worth more threads */

void search_ask_meeting(struct search *s)
{
	__atomic_store_n(&s->stop, 1, __ATOMIC_RELAXED);
}

/* The first to say something is heard; a violation outweighs a limit. */
static void decide(struct search *s, enum search_verdict v, const char *limit, struct origin at)
{
	assert(v != SEARCH_HOLDS && (v == SEARCH_LIMIT) == (limit != NULL));
	pthread_mutex_lock(&s->lock);
	if (s->r->verdict == SEARCH_HOLDS || (s->r->verdict == SEARCH_LIMIT && v != SEARCH_LIMIT)) {
		s->r->verdict = v;
		s->r->limit = limit;
		s->hit.parent = at.parent;
		s->hit.thread = at.thread;
		s->hit.edge = at.edge;
	}
	pthread_mutex_unlock(&s->lock);
	search_ask_meeting(s);
}

void search_give_up(struct search *s, const char *limit)
{
	decide(s, SEARCH_LIMIT, limit, (struct origin){ 0, IR_NONE, 0 });
}

void search_hit(struct search *s, enum search_verdict v, struct origin at)
{
	decide(s, v, NULL, at);
}

/* ---- levels ------------------------------------------------------------- */

bool search_level_add(struct level *l, struct chunk *c)
{
	assert(c->n);
	if (!GROW(l->chunk, l->cap, l->n + 1))
		return false;
	l->chunk[l->n++] = c;
	return true;
}

struct chunk *search_chunk_new(struct search *s)
{
	struct chunk *c = calloc(1, sizeof *c);
	if (c)
		c->keys = malloc((size_t)s->chunk * s->store.key * sizeof *c->keys);
	if (!c || !c->keys) {
		free(c);
		return NULL;
	}
	__atomic_fetch_add(&s->chunk_bytes, s->chunk * s->store.key * 8, __ATOMIC_RELAXED);
	return c;
}

void search_chunk_free(struct search *s, struct chunk *c)
{
	if (!c)
		return;
	__atomic_fetch_sub(&s->chunk_bytes, s->chunk * s->store.key * 8, __ATOMIC_RELAXED);
	free(c->keys);
	free(c);
}

void search_level_free(struct search *s, struct level *l)
{
	for (uint64_t i = 0; i < l->n; i++)
		search_chunk_free(s, l->chunk[i]);
	free(l->chunk);
	memset(l, 0, sizeof *l);
}

bool search_put(struct worker *w, struct chunk **out, struct level *l, const uint64_t *key)
{
	struct search *s = w->s;
	if (*out && (*out)->n == s->chunk) {
		pthread_mutex_lock(&s->lock);
		bool ok = search_level_add(l, *out);
		pthread_mutex_unlock(&s->lock);
		if (!ok)
			return false;
		*out = NULL;
	}
	if (!*out && !(*out = search_chunk_new(s)))
		return false;
	assert((*out)->n < s->chunk && key[0]);
	uint64_t *to = (*out)->keys + (size_t)(*out)->n++ * s->store.key;
	for (uint32_t i = 0; i < s->store.key; i++)
		to[i] = key[i];
	return true;
}

/* A state for the next level. */
bool search_push(struct worker *w, const uint64_t *key)
{
	return search_put(w, &w->out, &w->s->next, key);
}

bool search_level_of(struct search *s, struct level *l)
{
	struct worker *w = &s->workers[0];
	bool ok = true;
	for (uint64_t i = 0; ok && l != &s->next && i < s->next.n; i++)
		ok = search_level_add(l, s->next.chunk[i]);
	if (!ok)
		return false;
	s->next.n = 0;
	ok = !w->out || search_level_add(l, w->out);
	if (ok)
		w->out = NULL;
	return ok;
}

static bool take_chunk(struct worker *w)
{
	assert(!w->chunk);
	struct search *s = w->s;
	if (s->disk)
		return disk_take(w);
	if (__atomic_load_n(&s->taken, __ATOMIC_RELAXED) >= s->cur.n)
		return false;
	uint64_t i = __atomic_fetch_add(&s->taken, 1, __ATOMIC_RELAXED);
	if (i >= s->cur.n)
		return false;
	w->chunk = s->cur.chunk[i];
	assert(w->chunk && w->chunk->n); /* no thread has taken it before */
	s->cur.chunk[i] = NULL;          /* the worker's now */
	w->at = 0;
	return true;
}

/* ---- what is done alone ------------------------------------------------- */

static uint8_t bits_for(uint32_t n)
{
	return (uint8_t)(n > 1 ? 32 - __builtin_clz(n - 1) : 1);
}

void search_worker_free_room(struct worker *w)
{
	free(w->batch);
	free(w->ids);
	free(w->runs);
	free(w->nodes);
	free(w->child_nodes);
	free(w->words);
	free(w->child);
}

/* Room that depends on the layout. */
bool search_worker_room(struct worker *w)
{
	const struct search *s = w->s;
	size_t n = s->nthreads + 2, words = s->store.at.words;
	search_worker_free_room(w);
	w->batch = malloc(BATCH * s->store.key * sizeof *w->batch);
	w->ids = malloc(n * sizeof *w->ids);
	w->runs = malloc(n * sizeof *w->runs);
	w->nodes = malloc(tree_room((uint32_t)words) * sizeof *w->nodes);
	w->child_nodes = malloc(tree_room((uint32_t)words) * sizeof *w->child_nodes);
	w->words = malloc(words * sizeof *w->words);
	w->child = malloc((words + 1) * sizeof *w->child);
	return w->batch && w->ids && w->runs && w->nodes && w->child_nodes && w->words && w->child;
}

struct converting {
	struct search *s;
	uint32_t *ids;
	uint64_t *words;
};

static bool convert_chunk(struct converting *v, const struct store *from, struct store *to, struct chunk *c)
{
	if (!c)
		return true;
	uint64_t *keys = malloc((size_t)v->s->chunk * to->key * sizeof *keys);
	for (uint32_t i = 0; keys && i < c->n; i++)
		if (!store_convert(from, c->keys + (size_t)i * from->key, to, keys + (size_t)i * to->key, v->ids, v->words)) {
			free(keys);
			return false;
		}
	if (!keys)
		return false;
	assert(c->n <= v->s->chunk && v->s->chunk_bytes >= v->s->chunk * 8 * from->key);
	v->s->chunk_bytes += v->s->chunk * 8 * to->key;
	v->s->chunk_bytes -= v->s->chunk * 8 * from->key;
	free(c->keys);
	c->keys = keys;
	return true;
}

/* The keys that wait in chunks, when the layout changes. */
static bool convert_chunks(void *arg, const struct store *from, struct store *to)
{
	struct search *s = arg;
	struct converting v = { s, malloc(sizeof *v.ids * (s->nthreads + 1)),
		                malloc(sizeof *v.words * (from->at.words + to->at.words)) };
	bool ok = v.ids && v.words;
	for (uint64_t i = 0; ok && i < s->cur.n; i++)
		ok = convert_chunk(&v, from, to, s->cur.chunk[i]);
	for (uint64_t i = 0; ok && i < s->next.n; i++)
		ok = convert_chunk(&v, from, to, s->next.chunk[i]);
	for (uint32_t i = 0; ok && i < s->nworkers; i++)
		ok = convert_chunk(&v, from, to, s->workers[i].chunk) && convert_chunk(&v, from, to, s->workers[i].out);
	free(v.ids);
	free(v.words);
	s->torn |= !ok;
	return ok;
}

void search_aim(struct search *s)
{
	for (uint32_t i = 0; i < s->nworkers; i++) {
		struct worker *w = &s->workers[i];
		if (s->disk)
			disk_aim(w);
		else
			w->table = s->store.table, w->cap = s->store.cap;
	}
}

void search_tell_limits(struct search *s)
{
	struct product *x = &s->prod;
	x->limit = store_limit(&s->store, 0);
	for (uint32_t i = 0; i < s->nthreads; i++)
		x->kinds[x->kind_of[i]].limit = store_limit(&s->store, i + 1);
}

void search_widths(const struct search *s, uint8_t *bits, bool ahead)
{
	const struct product *x = &s->prod;
	uint32_t sum = bits[0] = bits_for(x->globals.n + 1);
	for (uint32_t i = 0; i < s->nthreads; i++)
		sum += bits[i + 1] = bits_for(x->kinds[x->kind_of[i]].ninfo);
	/* At a widening one thread moves all states. Where they stay one word, ids
	 * to come get a bit beforehand. */
	for (uint32_t i = 0; ahead && sum + s->nthreads + 1 <= 63 && i <= s->nthreads; i++)
		bits[i]++;
	assert(bits[0] <= 32);
}

static bool widen(struct search *s)
{
	search_widths(s, s->bits, true);
	s->widen = false;
	return search_set_fields(s);
}

bool search_set_fields(struct search *s)
{
	const struct product *x = &s->prod;
	bool ok = s->disk ? disk_widen(s) : store_widen(&s->store, s->bits, convert_chunks, s);
	for (uint32_t i = 0; ok && i < s->nworkers; i++)
		ok = search_worker_room(&s->workers[i]);
	search_tell_limits(s);
	search_make_spans(s);
	for (uint32_t i = 0; ok && i < s->nthreads; i++)
		assert(x->kinds[x->kind_of[i]].ninfo <= x->kinds[x->kind_of[i]].limit + 1ull); /* each id fits its field */
	return ok;
}

void search_limit(struct search *s, const char *name)
{
	if (s->r->verdict == SEARCH_HOLDS) {
		s->r->verdict = SEARCH_LIMIT;
		s->r->limit = name;
	}
}

uint64_t search_states(const struct search *s)
{
	return s->disk ? disk_states(s->disk) : s->dist ? dist_states(s->dist) : s->store.n;
}

/* How many bytes there are at present. */
static uint64_t count(struct search *s)
{
	struct search_result *r = s->r;
	r->states = search_states(s);
	r->transitions = 0;
	for (uint32_t i = 0; i < s->nworkers; i++)
		r->transitions += s->workers[i].transitions;
	if (s->dist)
		r->transitions = dist_transitions(s->dist);
	uint64_t bytes = store_bytes(&s->store) + s->chunk_bytes + level_log_bytes(&s->log) +
	                 (s->cur.cap + s->next.cap) * sizeof(struct chunk *) + s->cap_origins * sizeof *s->origins +
	                 product_bytes(&s->prod) + (s->disk ? disk_bytes(s) : 0) + (s->dist ? dist_bytes(s) : 0);
	assert(s->store.n <= s->store.cap);
	r->bytes = bytes > r->bytes ? bytes : r->bytes;
	return bytes;
}

/* A search that does not fit into memory goes on elsewhere; false when it cannot. */
static bool leave_memory(struct search *s)
{
	if (!s->o->disk || s->disk || s->dist || s->tracing || s->torn || s->store.broken)
		return false;
	return disk_begin(s);
}

void search_check_limits(struct search *s)
{
	const struct search_options *o = s->o;
	double t = clock_seconds();
	uint64_t bytes = count(s);
	bool much = o->disk && o->disk->from && s->store.n >= o->disk->from && !s->disk;
	if (o->max_bytes && bytes > o->max_bytes && s->r->verdict == SEARCH_HOLDS && !leave_memory(s))
		search_limit(s, "memory");
	else if (much && s->r->verdict == SEARCH_HOLDS)
		leave_memory(s);
	if (o->max_states && search_states(s) / 4 > o->max_states)
		search_limit(s, "states"); /* a level much larger than what was asked for */
	if (o->deadline > 0 && t > o->deadline)
		search_limit(s, "time");
	if (checkpoint_stopping(o->checkpoint))
		search_limit(s, "interrupt");
	if (o->progress && t >= s->next_tick)
		o->progress(o->progress_arg, s->r->states, s->r->transitions, s->r->depth, s->r->bytes);
	if (t >= s->next_tick)
		s->next_tick = t + TICK;
}

static void *work(void *arg);

/* A new thread waits until the meeting that called it in is over. */
static void *come_in(void *arg)
{
	struct worker *w = arg;
	pthread_mutex_lock(&w->s->lock);
	pthread_mutex_unlock(&w->s->lock);
	return work(w);
}

/* More threads, when there is enough to do. Those that cannot be had are done
 * without. */
void search_hire(struct search *s)
{
	assert(s->nworkers >= 1);
	uint32_t jobs = s->o->jobs < STORE_USERS ? s->o->jobs : STORE_USERS;
	uint64_t from = s->o->jobs_from ? s->o->jobs_from : JOBS_FROM;
	if (s->nworkers >= jobs || search_states(s) < from || s->tracing || (!s->disk && !store_admit(&s->store, jobs)))
		return;
	while (s->nworkers < jobs) {
		struct worker *w = &s->workers[s->nworkers];
		w->s = s;
		if (!search_worker_room(w) || (s->disk && !disk_worker_init(w)) || (s->dist && !dist_worker_new(w)) ||
		    pthread_create(&w->thread, NULL, come_in, w)) {
			search_worker_free_room(w);
			disk_worker_free(w);
			dist_worker_end(w);
			memset(w, 0, sizeof *w);
			return;
		}
		s->nworkers++;
	}
	search_aim(s);
}

/* The next level becomes the present one; false: there is none, or it could not be made. */
bool search_next_level(struct search *s)
{
	uint64_t number = 0;
	if (s->disk)
		return disk_advance(s);
	for (uint32_t i = 0; i < s->nworkers; i++) {
		struct worker *w = &s->workers[i];
		if (w->out && !search_level_add(&s->next, w->out)) {
			search_limit(s, "memory");
			return false;
		}
		w->out = NULL;
	}
	for (uint64_t i = 0; i < s->next.n; i++)
		number += s->next.chunk[i]->n;
	assert(number <= s->store.n && !s->workers[0].chunk);
	number = s->store.n - number;
	for (uint64_t i = 0; i < s->next.n; i++) {
		s->next.chunk[i]->first = number;
		number += s->next.chunk[i]->n;
	}
	assert(number == s->store.n); /* each state is of one level */
	struct level t = s->cur;
	s->cur = s->next;
	s->next = t;
	s->next.n = 0;
	s->taken = 0;
	s->quit = !s->cur.n;
	return !s->quit;
}

static void advance(struct search *s)
{
	if (!search_next_level(s))
		return;
	s->r->depth++;
	if (s->o->max_states && search_states(s) > s->o->max_states)
		search_limit(s, "states");
	if (s->log.name)
		search_log_level(s); /* when it fails no checkpoint of this search is written any more */
	if (s->o->ranks && !s->disk && !s->tracing && !s->log.name && s->r->verdict == SEARCH_HOLDS)
		dist_begin(s);
	search_hire(s);
}

/* A checkpoint: when it is time for one, when a signal asks for it, and at a limit of time or memory, so that a later
 * check can go on from there. */
static void save_if_due(struct search *s)
{
	struct checkpoint *c = s->o->checkpoint;
	const char *end = s->r->verdict == SEARCH_LIMIT ? s->r->limit : NULL;
	if (end && !strcmp(end, "states"))
		return; /* that is a result */
	if (end || (checkpoint_due(c) && !(s->disk && disk_saved(s->disk))))
		search_save(s);
	if (end && strcmp(end, "interrupt") != 0)
		checkpoint_keep(c);
}

/* All threads are here; s->lock is held. */
static void lead(struct search *s)
{
	assert(s->waiting == s->nworkers);
	for (uint32_t i = 0; i < s->nworkers; i++)
		assert(!s->workers[i].nbatch);
	bool done = s->disk ? disk_taken(s->disk) : s->taken >= s->cur.n;
	__atomic_store_n(&s->stop, 0, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < s->nworkers; i++)
		done &= !s->workers[i].chunk;
	if (s->dist) {
		dist_meet(s, done);
		search_aim(s);
		return;
	}
	bool whole = s->r->verdict == SEARCH_HOLDS; /* what is in memory is one state of the search */
	if (whole && s->widen && !widen(s) && !(leave_memory(s) && widen(s))) {
		search_limit(s, "memory");
		whole = false;
	}
	if (s->r->verdict == SEARCH_HOLDS && store_crowded(&s->store) && !store_grow(&s->store) && !leave_memory(s))
		search_limit(s, "memory");
	search_check_limits(s);
	if (s->r->verdict == SEARCH_HOLDS && done)
		advance(s);
	if (s->r->verdict == SEARCH_LIMIT && !strcmp(s->r->limit, "interrupt") && !s->log.name && whole)
		leave_memory(s); /* a checkpoint is made there */
	if (s->log.name && whole && !s->store.broken && !s->quit)
		save_if_due(s);
	search_aim(s);
	s->quit |= s->r->verdict != SEARCH_HOLDS;
}

static void meet(struct worker *w)
{
	struct search *s = w->s;
	flush(w);
	assert(!w->nbatch);
	pthread_mutex_lock(&s->lock);
	uint64_t meeting = s->meeting;
	if (++s->waiting == s->nworkers) {
		lead(s);
		s->waiting = 0;
		s->meeting++;
		pthread_cond_broadcast(&s->met);
	} else {
		while (s->meeting == meeting)
			pthread_cond_wait(&s->met, &s->lock);
	}
	pthread_mutex_unlock(&s->lock);
}

/* ---- exploring ---------------------------------------------------------- */

static void look_at_clock(struct worker *w)
{
	w->ticks += w->s->nthreads;
	if (w->ticks < TICK_WORK)
		return;
	w->ticks = 0;
	if (clock_seconds() >= w->s->next_tick)
		search_ask_meeting(w->s);
}

static void *work(void *arg)
{
	struct worker *w = arg;
	struct search *s = w->s;
	while (!s->quit) {
		bool stop = __atomic_load_n(&s->stop, __ATOMIC_RELAXED);
		if (!stop && !w->chunk && w->dist && dist_take_in(w))
			continue;
		if (stop || (!w->chunk && !take_chunk(w))) {
			meet(w);
			continue;
		}
		if (expand(w) == AGAIN)
			continue;
		look_at_clock(w);
		assert(w->at < w->chunk->n);
		if (++w->at == w->chunk->n) {
			search_chunk_free(s, w->chunk);
			w->chunk = NULL;
		}
	}
	return NULL;
}

void search_explore(struct search *s)
{
	s->next_tick = clock_seconds() + TICK;
	search_aim(s);
	if (s->resumed) { /* not before the next level otherwise */
		pthread_mutex_lock(&s->lock);
		search_hire(s);
		pthread_mutex_unlock(&s->lock);
	}
	work(&s->workers[0]);
	for (uint32_t i = 1; i < s->nworkers; i++)
		pthread_join(s->workers[i].thread, NULL);
	count(s);
	if (s->hit_transitions && s->r->verdict == SEARCH_WRONG)
		s->r->transitions = s->hit_transitions;
	if (s->disk)
		disk_count_hit(s);
	assert(s->r->verdict != SEARCH_HOLDS || (s->quit && !s->cur.n && !s->next.n)); /* all levels were done */
	assert(s->r->verdict == SEARCH_LIMIT ? s->r->limit != NULL : !s->r->limit);
}

/* ---- setting up --------------------------------------------------------- */

static void make_groups(struct search *s)
{
	const struct product *x = &s->prod;
	for (uint32_t i = 0; i < s->nthreads; i++) {
		bool joins = i && s->o->symmetry && x->kind_of[i] == x->kind_of[i - 1] &&
		             search_frozen(s, i) == search_frozen(s, i - 1);
		s->first[i] = joins ? s->first[i - 1] : i;
	}
	for (uint32_t i = s->nthreads; i-- > 0;)
		s->last[i] = i + 1 < s->nthreads && s->first[i + 1] == s->first[i] ? s->last[i + 1] : i;
	for (uint32_t i = 0; i < s->nthreads; i++)
		assert(s->first[i] <= i && i <= s->last[i] && x->kind_of[s->first[i]] == x->kind_of[s->last[i]]);
	s->plain = !s->tracing && !s->o->deadlock;
	for (uint32_t i = 0; i < s->nthreads; i++)
		s->plain &= s->first[i] == s->last[i] && !search_frozen(s, i);
}

/* The initial state, inserted and put into the present level. */
static bool begin(struct search *s)
{
	struct worker *w = &s->workers[0];
	struct store *st = &s->store;
	uint64_t key[STORE_INLINE];
	w->ids[0] = product_initial_global(&s->prod);
	for (uint32_t i = 0; i < s->nthreads; i++)
		w->ids[i + 1] = product_initial_local(&s->prod, i);
	if (s->prod.out_of_memory)
		return false;
	/* every kind has its initial local, which fits one bit */
	store_pack(st, w->ids, w->words);
	memcpy(key, w->words, sizeof *key * (st->tree ? 0 : st->key));
	if (st->tree)
		key[0] = tree_root(&st->nodes, w->words, st->at.words, w->nodes, NULL, NULL);
	while (st->tree && !key[0] && tree_grow(&st->nodes))
		key[0] = tree_root(&st->nodes, w->words, st->at.words, w->nodes, NULL, NULL);
	assert(!st->n);
	store_insert(st, key, store_place(store_hash(key, st->key), st->cap));
	store_added(st, 1);
	if (!search_push(w, key) || !search_level_add(&s->cur, w->out))
		return false;
	w->out = NULL;
	if (s->tracing) {
		s->origins = malloc(sizeof *s->origins * 1024);
		s->cap_origins = s->origins ? 1024 : 0;
		if (s->origins)
			s->origins[s->norigins++] = (struct origin){ 0, IR_NONE, 0 };
	}
	return !s->tracing || s->origins;
}

bool search_begin_log(struct search *s)
{
	char name[40];
	checkpoint_level_name(s->o->checkpoint, name);
	return level_log_init(&s->log, checkpoint_dir(s->o->checkpoint), name);
}

bool search_prepare(struct search *s, const struct ir *ir, enum prod_mode mode, uint32_t block, const struct labelling *lab,
                    const struct search_options *o, struct search_result *r, bool tracing)
{
	uint32_t n = ir->nthreads;
	memset(s, 0, sizeof *s);
	s->o = o;
	s->r = r;
	s->tracing = tracing;
	s->nthreads = n;
	s->chunk = o->chunk ? o->chunk : CHUNK_STATES;
	s->log.fd = -1;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->met, NULL);
	bool ok = product_init(&s->prod, ir, mode, block, lab);
	s->prod.simple = !tracing;
	s->prod.merge_local = o->merge_local;
	/* both make a thread that waits look as if it had not begun */
	s->prod.drop_pure = o->drop_pure && !o->deadlock;
	if (o->transactions && !o->deadlock)
		ok = ok && product_use_transactions(&s->prod);
	s->first = calloc(n + 1, sizeof *s->first);
	s->last = calloc(n + 1, sizeof *s->last);
	s->spans = calloc(n + 1, sizeof *s->spans);
	s->bits = malloc(n + 1);
	s->workers = calloc(o->jobs ? o->jobs : 1, sizeof *s->workers);
	if (!ok || !s->first || !s->last || !s->spans || !s->bits || !s->workers)
		return false;
	memset(s->bits, 1, n + 1);
	s->bits[0] = 2;
	s->workers[0].s = s;
	s->nworkers = 1;
	make_groups(s);
	ok = store_init(&s->store, n + 1, s->bits, o->max_bytes) && search_worker_room(&s->workers[0]);
	if (ok) {
		search_tell_limits(s);
		search_make_spans(s);
	}
	if (ok && o->checkpoint && !tracing) {
		s->key = checkpoint_key_of(CHECKPOINT_SEARCH, ir, mode, block, lab, o);
		ok = (checkpoint_later(o->checkpoint) || search_begin_log(s)) && search_load(s, &s->resumed);
	}
	return ok;
}

bool search_init(struct search *s, const struct ir *ir, enum prod_mode mode, uint32_t block, const struct labelling *lab,
                 const struct search_options *o, struct search_result *r, bool tracing)
{
	return search_prepare(s, ir, mode, block, lab, o, r, tracing) &&
	       (s->resumed || (begin(s) && (!s->log.name || search_log_level(s))));
}

void search_free(struct search *s)
{
	for (uint32_t i = 0; s->workers && i < s->nworkers; i++) {
		search_chunk_free(s, s->workers[i].chunk);
		search_chunk_free(s, s->workers[i].out);
		search_worker_free_room(&s->workers[i]);
		disk_worker_free(&s->workers[i]);
		dist_worker_end(&s->workers[i]);
	}
	dist_search_free(s);
	search_level_free(s, &s->cur);
	search_level_free(s, &s->next);
	product_free(&s->prod);
	store_free(&s->store);
	disk_free(s);
	level_log_free(&s->log);
	free(s->workers);
	free(s->first);
	free(s->last);
	free(s->spans);
	free(s->bits);
	free(s->origins);
	pthread_mutex_destroy(&s->lock);
	pthread_cond_destroy(&s->met);
}

void search_run(const struct ir *ir, enum prod_mode mode, uint32_t block, const struct labelling *lab,
                const struct search_options *o, struct search_result *r)
{
	struct search s;
	struct checkpoint_key key = { 0 };
	memset(r, 0, sizeof *r);
	if (o->checkpoint)
		key = checkpoint_key_of(CHECKPOINT_SEARCH, ir, mode, block, lab, o);
	if (checkpoint_recall(o->checkpoint, key, r))
		return;
	if (search_init(&s, ir, mode, block, lab, o, r, false))
		search_explore(&s);
	else
		search_limit(&s, "memory");
	bool on_disk = s.disk;
	search_free(&s);
	assert(!r->path && !r->npath);
	if (r->verdict != SEARCH_HOLDS && r->verdict != SEARCH_LIMIT) {
		search_trace(ir, mode, block, lab, o, on_disk, r);
		assert(!r->npath == !r->path);
	}
	checkpoint_record(o->checkpoint, key, r);
}

void search_result_free(struct search_result *r)
{
	free(r->path);
	r->path = NULL;
}
