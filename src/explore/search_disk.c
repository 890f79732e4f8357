#include "explore/search_disk.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/grow.h"
#include "base/invariant.h"

#define DEFAULT_BYTES ((uint64_t)1 << 30) /* of memory, when there is no limit */
#define LEAST_KEYS    ((uint64_t)4096)    /* collected by a thread */
#define MOST_KEYS     ((uint64_t)1 << 28)
#define PORTION       ((uint64_t)1 << 16) /* keys sorted at a time when the search comes from memory */
#define LOG_STATES    ((uint64_t)1 << 14) /* of a run of the level log */
#define LOG_BYTES     ((uint64_t)1 << 20) /* that it may take */
#define READERS       32u                 /* of a merge, about */
#define LEAST_CACHE   ((uint64_t)1024)    /* slots */

/* Records of a traced search: parent << 32 | thread << EDGE_BITS | outcome. */
#define EDGE_BITS 15u
#define MAX_NAMED (1u << (32 - EDGE_BITS)) /* threads */

struct disk_shape { /* layouts of one width of the fields; those of before are kept, as runs have them */
	struct key_layout plain, found, level;
	struct disk_shape *older;
};

struct disk_worker {
	struct key_sorter found;
	uint64_t *cache, cap; /* slots */
	uint32_t victim;
	uint64_t *record; /* room for one */
};

struct disk_search {
	struct scratch scratch;
	struct disk_place *place;
	struct disk_shape *shape;
	uint64_t keys, slots;  /* of a worker: collected, of the cache */
	struct key_run *known; /* states of earlier levels, by size */
	uint32_t nknown, cap_known;
	uint64_t states;        /* known ones, of the level, and of the next at the beginning of the level */
	struct key_run **level; /* the last is the present one; the others only when tracing */
	uint32_t nlevels, cap_levels;
	bool level_known;    /* its states are among the known ones */
	struct key_run next; /* what was known of the next level at the beginning of this one */
	struct key_reader reader;
	uint64_t taken; /* states of the level */
	bool reading, ended, saved;
	uint64_t transitions; /* at the beginning of the level */
	uint64_t merge_bytes;
	struct key_sorter loading[2]; /* states of this level and of the next */
};

bool disk_taken(const struct disk_search *d)
{
	return d->ended;
}

bool disk_saved(const struct disk_search *d)
{
	return d->saved;
}

uint64_t disk_states(const struct disk_search *d)
{
	return d->states;
}

uint64_t disk_transitions(const struct disk_search *d)
{
	return d->transitions;
}

static const char *limit_of(const struct disk_search *d)
{
	return scratch_trouble(&d->scratch) == SCRATCH_MEMORY ? "memory" : "disk";
}

/* Why it ended, for the user. */
static void tell_why(struct disk_search *d)
{
	if (scratch_trouble(&d->scratch) && scratch_trouble(&d->scratch) != SCRATCH_MEMORY)
		why_set(&d->place->why, "%s", scratch_why(&d->scratch));
}

static void end_of_disk(struct search *s)
{
	search_limit(s, limit_of(s->disk));
}

/* ---- layouts ------------------------------------------------------------ */

static bool new_shape(struct search *s, const uint8_t *bits)
{
	struct disk_search *d = s->disk;
	struct disk_shape *sh = calloc(1, sizeof *sh);
	if (!sh || !store_lay_out(&sh->plain.at, s->nthreads + 1, bits)) {
		free(sh);
		return false;
	}
	sh->found = sh->level = sh->plain;
	assert(!d->shape || sh->plain.at.nfields == d->shape->plain.at.nfields);
	sh->found.low = sh->level.high = s->tracing;
	sh->older = d->shape;
	d->shape = sh;
	return true;
}

static void free_shapes(struct disk_search *d)
{
	for (struct disk_shape *sh = d->shape, *older; sh; sh = older) {
		older = sh->older;
		free(sh->plain.at.field);
		free(sh);
	}
}

/* ---- workers ------------------------------------------------------------ */

bool disk_worker_init(struct worker *w)
{
	struct disk_search *d = w->s->disk;
	uint32_t words = d->shape->plain.at.words;
	struct disk_worker *k = calloc(1, sizeof *k);
	if (!k)
		return false;
	w->disk = k;
	k->cap = d->slots;
	k->cache = calloc(k->cap * words, sizeof *k->cache);
	k->record = malloc((words + 1) * sizeof *k->record);
	if (k->cache && k->record && key_sorter_init(&k->found, &d->scratch, &d->shape->found, d->keys))
		return true;
	disk_worker_free(w);
	return false;
}

void disk_worker_free(struct worker *w)
{
	struct disk_worker *k = w->disk;
	if (!k)
		return;
	if (k->found.s)
		key_sorter_free(&k->found);
	free(k->cache);
	free(k->record);
	free(k);
	w->disk = NULL;
}

void disk_aim(struct worker *w)
{
	assert(w->disk && w->disk->cap % STORE_LINE == 0);
	w->table = w->disk->cache;
	w->cap = w->disk->cap;
}

/* How much a worker collects and remembers. */
static void share_memory(struct search *s)
{
	struct disk_search *d = s->disk;
	const struct search_options *o = s->o;
	uint64_t jobs = o->jobs > 1 && !s->tracing ? o->jobs : 1, words = key_layout_words(&d->shape->found);
	uint64_t all = o->max_bytes ? o->max_bytes : DEFAULT_BYTES;
	uint64_t other = product_bytes(&s->prod) * 5 / 4 + READERS * key_reader_bytes((uint32_t)words) + LOG_BYTES;
	uint64_t each = all > other ? (all - other) / jobs : 0; /* two thirds to collect, a sixth to remember */
	d->keys = d->place->keys ? d->place->keys : each * 2 / 3 / (16 * words);
	d->keys = d->keys > MOST_KEYS ? MOST_KEYS : d->place->keys || d->keys > LEAST_KEYS ? d->keys : LEAST_KEYS;
	d->slots = d->place->keys ? d->place->keys * 2 : each / 6 / (8 * words);
	d->slots = (d->slots > LEAST_CACHE || d->place->keys ? d->slots : LEAST_CACHE) & ~(uint64_t)(STORE_LINE - 1);
	d->slots += d->slots ? 0 : STORE_LINE;
	assert(d->keys && d->slots % STORE_LINE == 0);
}

/* Was it met lately? It is from now on. */
static inline bool met1(struct disk_worker *k, uint64_t key, uint64_t place)
{
	uint64_t *t = k->cache + place;
#define AT(i) (unsigned)(t[i] == key)
	if (AT(0) | AT(1) | AT(2) | AT(3) | AT(4) | AT(5) | AT(6) | AT(7))
		return true;
#undef AT
	t[k->victim++ % STORE_LINE] = key;
	return false;
}

static bool met(struct disk_worker *k, const uint64_t *key, uint64_t place, uint32_t words)
{
	uint64_t *t = k->cache + place * words;
	if (!memcmp(t, key, words * sizeof *t))
		return true;
	memcpy(t, key, words * sizeof *t);
	return false;
}

static bool collect(struct worker *w, uint32_t i, const uint64_t *key)
{
	struct disk_worker *k = w->disk;
	if (!w->s->tracing)
		return key_sorter_put(&k->found, key);
	struct origin from = w->from[i];
	if (from.thread >= MAX_NAMED || from.edge >> EDGE_BITS) {
		search_give_up(w->s, "step");
		return true;
	}
	k->record[0] = (uint64_t)from.parent << 32 | (uint64_t)from.thread << EDGE_BITS | from.edge;
	memcpy(k->record + 1, key, w->s->store.key * sizeof *key);
	return key_sorter_put(&k->found, k->record);
}

void disk_found(struct worker *w)
{
	struct search *s = w->s;
	struct disk_worker *k = w->disk;
	uint32_t words = s->store.key;
	assert(w->nbatch <= BATCH && s->store.flat);
	for (uint32_t i = 0; i < w->nbatch; i++) {
		const uint64_t *key = w->batch + (size_t)i * words;
		if (words == 1 ? met1(k, *key, w->place[i]) : met(k, key, w->place[i], words))
			continue;
		if (!collect(w, i, key)) {
			search_give_up(s, limit_of(s->disk));
			return;
		}
		if (!w->check[i] || !search_is_wrong(w, key))
			continue;
		/* no level before had it: it would have ended there */
		if (s->tracing)
			s->hit_transitions = w->count[i];
		search_hit(s, SEARCH_WRONG, w->from[i]);
		if (s->tracing)
			return;
	}
}

/* ---- the level ---------------------------------------------------------- */

static bool open_level(struct search *s)
{
	struct disk_search *d = s->disk;
	assert(!d->reading && d->nlevels);
	d->taken = 0;
	d->ended = d->saved = false;
	return d->reading = key_reader_init(&d->reader, &d->scratch, d->level[d->nlevels - 1], &d->shape->level);
}

static void close_level(struct disk_search *d)
{
	if (d->reading)
		key_reader_free(&d->reader);
	d->reading = false;
}

/* The next block of the level, as a chunk. */
static struct chunk *next_chunk(struct search *s)
{
	struct disk_search *d = s->disk;
	if (d->ended || !key_reader_next(&d->reader)) {
		d->ended = true;
		return NULL;
	}
	struct chunk *c = search_chunk_new(s);
	if (!c || (s->tracing && d->taken + d->reader.n > UINT32_MAX)) {
		search_chunk_free(s, c);
		scratch_fail(&d->scratch, SCRATCH_MEMORY, 0);
		d->ended = true;
		return NULL;
	}
	assert(d->reader.n <= s->chunk);
	for (uint64_t i = 0; i < d->reader.n; i++)
		memcpy(c->keys + i * s->store.key, d->reader.keys + i * d->reader.words, s->store.key * sizeof *c->keys);
	c->n = (uint32_t)d->reader.n;
	c->first = d->taken;
	d->taken += c->n;
	return c;
}

bool disk_take(struct worker *w)
{
	struct search *s = w->s;
	pthread_mutex_lock(&s->lock);
	w->chunk = next_chunk(s);
	w->at = 0;
	pthread_mutex_unlock(&s->lock);
	if (!w->chunk && scratch_trouble(&s->disk->scratch))
		search_give_up(s, limit_of(s->disk));
	return w->chunk != NULL;
}

/* ---- merging ------------------------------------------------------------ */

/* Time and signals, while a merge goes on. */
static bool stopping(void *arg)
{
	struct search *s = arg;
	if (checkpoint_stopping(s->o->checkpoint))
		search_limit(s, "interrupt");
	else if (s->o->deadline > 0 && clock_seconds() > s->o->deadline)
		search_limit(s, "time");
	return s->r->verdict == SEARCH_LIMIT;
}

struct readers {
	struct key_reader *r;
	uint32_t n, cap;
};

static bool readers_room(struct disk_search *d, struct readers *rs, uint32_t more)
{
	return GROW(rs->r, rs->cap, (uint64_t)rs->n + more) || scratch_fail(&d->scratch, SCRATCH_MEMORY, 0);
}

static bool read_run(struct disk_search *d, struct readers *rs, const struct key_run *run, const struct key_layout *as)
{
	if (!readers_room(d, rs, 1) || !key_reader_init(&rs->r[rs->n], &d->scratch, run, as))
		return false;
	rs->n++;
	return true;
}

static bool read_sorter(struct disk_search *d, struct readers *rs, struct key_sorter *t, const struct key_layout *as)
{
	if (!key_sorter_sort(t) || !readers_room(d, rs, t->nruns + 1) || !key_sorter_read(t, rs->r + rs->n, as))
		return false;
	rs->n += t->nruns + 1;
	return true;
}

static void close_readers(struct readers *rs)
{
	for (uint32_t i = 0; i < rs->n; i++)
		key_reader_free(&rs->r[i]);
	free(rs->r);
	*rs = (struct readers){ 0 };
}

/* Where what is new goes. */
struct sink {
	struct search *s;
	struct key_writer plain;
	struct key_sorter *order; /* when tracing: by number */
	uint64_t n;
	uint64_t *record;
};

static bool each_plain(void *arg, const uint64_t *keys, uint64_t n)
{
	struct sink *k = arg;
	k->n += n;
	return key_writer_put(&k->plain, keys, n);
}

static bool each_traced(void *arg, const uint64_t *keys, uint64_t n)
{
	struct sink *k = arg;
	uint32_t words = k->s->store.key;
	k->n += n;
	for (uint64_t i = 0; i < n; i++, keys += words + 1) {
		memcpy(k->record, keys + 1, words * sizeof *keys);
		k->record[words] = keys[0];
		if (!key_writer_put(&k->plain, keys + 1, 1) || !key_sorter_put(k->order, k->record))
			return false;
	}
	return true;
}

static bool each_counted(void *arg, const uint64_t *keys, uint64_t n)
{
	struct sink *k = arg;
	(void)keys;
	k->n += n;
	return true;
}

/* All sources without what is known, given to the sink. */
static bool merge(struct search *s, struct readers *from, struct readers *known, const struct key_layout *layout, key_each *each,
                  struct sink *to)
{
	struct disk_search *d = s->disk;
	struct key_merge m = { .s = &d->scratch,
		               .words = key_layout_words(layout),
		               .low = layout->low,
		               .source = from->r,
		               .known = known->r,
		               .nsources = from->n,
		               .nknown = known->n,
		               .each = each,
		               .arg = to,
		               .stopping = stopping,
		               .stop_arg = s };
	bool ok = key_merge(&m);
	uint64_t words = m.words, bytes = m.bytes + (from->n + known->n) * key_reader_bytes((uint32_t)words);
	d->merge_bytes = bytes > d->merge_bytes ? bytes : d->merge_bytes;
	return ok;
}

/* The same into a run with this layout. */
static bool merge_run(struct search *s, struct readers *from, struct readers *known, const struct key_layout *layout,
                      key_each *each, struct sink *to, const struct key_layout *as, struct key_run *run)
{
	to->s = s;
	to->n = 0;
	if (!key_writer_init(&to->plain, &s->disk->scratch, as))
		return false;
	if (merge(s, from, known, layout, each, to))
		return key_writer_end(&to->plain, run);
	key_writer_cancel(&to->plain);
	return false;
}

static bool push_known(struct disk_search *d, struct key_run *run)
{
	if (!GROW(d->known, d->cap_known, d->nknown + 1ull))
		return scratch_fail(&d->scratch, SCRATCH_MEMORY, 0);
	d->known[d->nknown++] = *run;
	*run = (struct key_run){ .file = { .fd = -1 } };
	return true;
}

/* The runs from `first` on become one. */
static bool join_known(struct search *s, uint32_t first)
{
	struct disk_search *d = s->disk;
	struct readers from = { 0 }, none = { 0 };
	assert(first < d->nknown);
	struct key_run one;
	uint64_t n = 0;
	bool ok = true;
	for (uint32_t i = first; ok && i < d->nknown; i++) {
		n += d->known[i].n;
		ok = read_run(d, &from, &d->known[i], &d->shape->plain);
	}
	const struct key_layout *plain = &d->shape->plain;
	ok = ok && merge_run(s, &from, &none, plain, each_plain, &(struct sink){ 0 }, plain, &one);
	close_readers(&from);
	if (!ok)
		return false;
	assert(one.n <= n);
	for (uint32_t i = first; i < d->nknown; i++)
		key_run_free(&d->scratch, &d->known[i]);
	d->known[first] = one;
	d->nknown = first + 1;
	return one.n == n || scratch_fail(&d->scratch, SCRATCH_DAMAGED, 0); /* no state is in two */
}

/* Few runs, all in the present layout. When it is stopped all is as it was. */
static bool compact(struct search *s)
{
	struct disk_search *d = s->disk;
	uint32_t first = d->nknown;
	uint64_t behind = 0;
	for (uint32_t i = d->nknown; i-- > 0;) {
		if (d->known[i].layout != &d->shape->plain || (behind && d->known[i].n < 2 * behind))
			first = i;
		behind += d->known[i].n;
	}
	bool alone = first + 1 == d->nknown && d->known[first].layout == &d->shape->plain;
	return first == d->nknown || alone || join_known(s, first) || !scratch_trouble(&d->scratch);
}

/* ---- from level to level ------------------------------------------------- */

static bool push_level(struct search *s, struct key_run *run)
{
	struct disk_search *d = s->disk;
	struct key_run *own = malloc(sizeof *own);
	if (!own || !GROW(d->level, d->cap_levels, d->nlevels + 1ull)) {
		free(own);
		return scratch_fail(&d->scratch, SCRATCH_MEMORY, 0);
	}
	*own = *run;
	*run = (struct key_run){ .file = { .fd = -1 } };
	d->level[d->nlevels++] = own;
	return open_level(s);
}

/* The level is over: when its states are not among the known ones yet, they are now. */
static bool retire_level(struct search *s)
{
	struct disk_search *d = s->disk;
	assert(d->nlevels);
	if (s->tracing)
		return true;
	struct key_run *run = d->level[--d->nlevels];
	bool ok = d->level_known || push_known(d, run);
	key_run_free(&d->scratch, run);
	free(run);
	return ok;
}

/* All that was collected, and what was known of the level before. */
static bool read_found(struct search *s, struct readers *from, struct readers *known)
{
	struct disk_search *d = s->disk;
	bool ok = true;
	for (uint32_t i = 0; ok && i < s->nworkers; i++)
		ok = read_sorter(d, from, &s->workers[i].disk->found, &d->shape->found);
	assert(d->nlevels && (!s->tracing || !d->next.n));
	ok = ok && (!d->next.n || read_run(d, from, &d->next, &d->shape->found));
	for (uint32_t i = 0; ok && i < d->nknown; i++)
		ok = read_run(d, known, &d->known[i], &d->shape->plain);
	return ok && (d->level_known || s->tracing || read_run(d, known, d->level[d->nlevels - 1], &d->shape->plain));
}

/* What was found and is new: a run, and when tracing one in the order of the numbers, too. */
static bool make_level(struct search *s, struct key_run *plain, struct key_run *numbered)
{
	struct disk_search *d = s->disk;
	struct readers from = { 0 }, known = { 0 };
	struct key_sorter order = { 0 };
	struct sink to = { .order = &order, .record = s->workers[0].disk->record };
	const struct disk_shape *sh = d->shape;
	bool ok = read_found(s, &from, &known) && (!s->tracing || key_sorter_init(&order, &d->scratch, &sh->level, d->keys)) &&
	          merge_run(s, &from, &known, &sh->found, s->tracing ? each_traced : each_plain, &to, &sh->plain, plain);
	close_readers(&from);
	close_readers(&known);
	if (ok && s->tracing) {
		ok = read_sorter(d, &from, &order, &sh->level) &&
		     merge_run(s, &from, &known, &sh->level, each_plain, &to, &sh->level, numbered);
		close_readers(&from);
		if (!ok)
			key_run_free(&d->scratch, plain);
	}
	if (order.s)
		key_sorter_free(&order);
	return ok;
}

bool disk_advance(struct search *s)
{
	struct disk_search *d = s->disk;
	struct key_run run = { .file = { .fd = -1 } }, numbered = run;
	uint64_t transitions = 0;
	if (!make_level(s, &run, &numbered)) {
		if (s->r->verdict == SEARCH_HOLDS)
			end_of_disk(s);
		return false;
	}
	close_level(d);
	uint64_t n = run.n;
	assert(n >= d->next.n && (!s->tracing || numbered.n == n)); /* what was known of it is among it */
	bool ok = retire_level(s);
	for (uint32_t i = 0; i < s->nworkers; i++) {
		transitions += s->workers[i].transitions;
		key_sorter_clear(&s->workers[i].disk->found);
	}
	d->states = d->states - d->next.n + n;
	key_run_free(&d->scratch, &d->next);
	d->transitions = transitions;
	d->level_known = false;
	if (ok && s->tracing) {
		ok = push_known(d, &run);
		run = numbered;
	}
	ok = ok && push_level(s, &run);
	key_run_free(&d->scratch, &run);
	s->quit = ok && !n;
	if (!ok || (n && !compact(s))) /* without room to compact, the search is at the beginning of the new level */
		end_of_disk(s);
	return ok && n;
}

/* ---- widening ------------------------------------------------------------ */

static bool convert_chunk(struct chunk *c, const struct store_layout *from, const struct store_layout *to, uint64_t cap,
                          uint32_t *ids)
{
	uint64_t *keys = malloc(cap * to->words * sizeof *keys);
	if (!keys)
		return false;
	for (uint32_t i = 0; i < c->n; i++) {
		store_unpack_by(from, c->keys + (size_t)i * from->words, ids);
		store_pack_by(to, ids, keys + (size_t)i * to->words);
	}
	free(c->keys);
	c->keys = keys;
	return true;
}

/* Runs keep the layout they were written with; what is in memory gets the new one. */
bool disk_widen(struct search *s)
{
	struct disk_search *d = s->disk;
	struct store_layout from = d->shape->plain.at;
	assert(s->store.flat && s->store.at.words == from.words);
	uint64_t next = d->reader.next;
	bool ok = true, reading = d->reading;
	for (uint32_t i = 0; ok && i < s->nworkers; i++)
		ok = key_sorter_spill(&s->workers[i].disk->found);
	ok = ok && new_shape(s, s->bits);
	if (!ok)
		return false;
	const struct store_layout *to = &d->shape->plain.at;
	share_memory(s);
	for (uint32_t i = 0; ok && i < s->nworkers; i++) {
		struct worker *w = &s->workers[i];
		struct key_run *runs = w->disk->found.runs;
		uint32_t nruns = w->disk->found.nruns, cap = w->disk->found.cap_runs;
		w->disk->found.runs = NULL;
		w->disk->found.nruns = w->disk->found.cap_runs = 0;
		disk_worker_free(w);
		ok = disk_worker_init(w);
		if (!ok) {
			while (nruns)
				key_run_free(&d->scratch, &runs[--nruns]);
			free(runs);
			break;
		}
		w->disk->found.runs = runs;
		w->disk->found.nruns = nruns;
		w->disk->found.cap_runs = cap;
		ok = ok && (!w->chunk || convert_chunk(w->chunk, &from, to, s->chunk, w->ids));
	}
	s->chunk_bytes = s->chunk_bytes / from.words * to->words;
	store_init_flat(&s->store, to);
	close_level(d);
	if (ok && reading) {
		d->reading = ok = key_reader_init(&d->reader, &d->scratch, d->level[d->nlevels - 1], &d->shape->level);
		d->reader.next = next;
	}
	return ok;
}

/* ---- coming from memory --------------------------------------------------- */

static bool put_key(struct search *s, struct key_sorter *t, const uint64_t *key)
{
	uint64_t *words = s->workers[0].child; /* room for a state, and for a number after it */
	store_words(&s->store, key, words);
	if (t->layout->high)
		words[s->store.at.words] = 0; /* when tracing there is one state, the first */
	return key_sorter_put(t, words);
}

static bool put_chunk(struct search *s, struct key_sorter *t, const struct chunk *c, uint32_t from)
{
	bool ok = true;
	for (uint32_t i = from; ok && c && i < c->n; i++)
		ok = put_key(s, t, c->keys + (size_t)i * s->store.key);
	return ok;
}

/* The sorter as one run; it is free again. */
static bool run_of(struct search *s, struct key_sorter *t, const struct key_run *without, struct key_run *run)
{
	struct disk_search *d = s->disk;
	struct readers from = { 0 }, known = { 0 };
	bool ok = read_sorter(d, &from, t, t->layout) && (!without || read_run(d, &known, without, t->layout)) &&
	          merge_run(s, &from, &known, t->layout, each_plain, &(struct sink){ 0 }, t->layout, run);
	close_readers(&from);
	close_readers(&known);
	key_sorter_clear(t);
	return ok;
}

/* What the store has, what is known of the next level, and what is left of this one, as runs. */
static bool move_states(struct search *s, struct key_run *level)
{
	struct disk_search *d = s->disk;
	struct key_sorter t = { 0 }, left = { 0 };
	assert(!d->nknown && !s->store.flat);
	struct key_run all = { .file = { .fd = -1 } };
	bool ok = key_sorter_init(&t, &d->scratch, &d->shape->plain, PORTION) &&
	          key_sorter_init(&left, &d->scratch, &d->shape->level, PORTION);
	for (uint64_t i = 0; ok && i < s->next.n; i++)
		ok = put_chunk(s, &t, s->next.chunk[i], 0);
	for (uint32_t i = 0; ok && i < s->nworkers; i++)
		ok = put_chunk(s, &t, s->workers[i].out, 0);
	ok = ok && run_of(s, &t, NULL, &d->next);
	for (uint64_t i = 0; ok && i < s->store.cap; i++)
		if (s->store.table[i * s->store.key])
			ok = put_key(s, &t, s->store.table + i * s->store.key);
	ok = ok && run_of(s, &t, &d->next, &all) && push_known(d, &all);
	for (uint64_t i = 0; ok && i < s->cur.n; i++)
		ok = put_chunk(s, &left, s->cur.chunk[i], 0);
	for (uint32_t i = 0; ok && i < s->nworkers; i++)
		ok = put_chunk(s, &left, s->workers[i].chunk, s->workers[i].at);
	ok = ok && run_of(s, &left, NULL, level);
	key_run_free(&d->scratch, &all);
	if (t.s)
		key_sorter_free(&t);
	if (left.s)
		key_sorter_free(&left);
	return ok;
}

/* Memory that only a search in memory needs. */
static void drop_memory(struct search *s)
{
	search_level_free(s, &s->cur);
	search_level_free(s, &s->next);
	for (uint32_t i = 0; i < s->nworkers; i++) {
		search_chunk_free(s, s->workers[i].chunk);
		search_chunk_free(s, s->workers[i].out);
		s->workers[i].chunk = s->workers[i].out = NULL;
	}
	store_free(&s->store);
	s->taken = 0;
	s->chunk = KEY_BLOCK;
	store_init_flat(&s->store, &s->disk->shape->plain.at);
}

static bool make_disk(struct search *s)
{
	struct disk_search *d = calloc(1, sizeof *d);
	uint8_t *bits = malloc(s->nthreads + 1ull);
	s->disk = d;
	if (d) {
		d->place = s->o->disk;
		d->scratch = (struct scratch){ .dir = d->place->dir, .limit = d->place->limit };
		d->next.file.fd = -1;
		d->place->why = (struct why){ 0 };
	}
	for (uint32_t i = 0; bits && i <= s->nthreads; i++)
		bits[i] = s->store.at.field[i].bits;
	bool ok = d && bits && new_shape(s, bits);
	free(bits);
	if (ok)
		share_memory(s);
	return ok;
}

/* A log of all that is known, for a checkpoint that is made only here. */
static bool begin_late_log(struct search *s)
{
	struct disk_search *d = s->disk;
	struct key_reader r;
	if (!search_begin_log(s) || !key_reader_init(&r, &d->scratch, &d->known[0], &d->shape->plain))
		return false;
	s->log.max = LOG_STATES;
	bool ok = true;
	while (ok && key_reader_next(&r))
		for (uint64_t i = 0; ok && i < r.n; i++)
			ok = level_log_put(&s->log, &s->store, r.keys + i * r.words);
	key_reader_free(&r);
	return ok && !scratch_trouble(&d->scratch) && level_log_end(&s->log);
}

bool disk_begin(struct search *s)
{
	struct key_run level = { .file = { .fd = -1 } };
	uint64_t transitions = 0;
	assert(!s->disk && (!s->tracing || s->store.n == 1));
	bool ok = make_disk(s) && move_states(s, &level);
	if (!ok) {
		if (s->disk && scratch_trouble(&s->disk->scratch))
			end_of_disk(s);
		disk_free(s);
		return false;
	}
	struct disk_search *d = s->disk;
	d->states = s->store.n;
	assert(s->tracing || d->known[0].n + d->next.n == d->states);
	d->level_known = true;
	drop_memory(s);
	for (uint32_t i = 0; i < s->nworkers; i++)
		transitions += s->workers[i].transitions;
	d->transitions = transitions;
	ok = push_level(s, &level);
	for (uint32_t i = 0; ok && i < s->nworkers; i++)
		ok = search_worker_room(&s->workers[i]) && disk_worker_init(&s->workers[i]);
	s->log.max = LOG_STATES;
	if (ok && s->o->checkpoint && !s->tracing && !s->log.name && !begin_late_log(s))
		level_log_free(&s->log); /* then there is none; checkpoint_trouble says why */
	if (!ok)
		search_limit(s, "memory");
	if (ok && d->place->begun && !s->tracing && s->r->verdict == SEARCH_HOLDS) /* a signal asks for no more than a checkpoint */
		d->place->begun(d->place->arg, d->states);
	search_aim(s);
	return ok;
}

static void free_runs(struct disk_search *d)
{
	close_level(d);
	for (uint32_t i = 0; i < d->nknown; i++)
		key_run_free(&d->scratch, &d->known[i]);
	for (uint32_t i = 0; i < d->nlevels; i++) {
		key_run_free(&d->scratch, d->level[i]);
		free(d->level[i]);
	}
	key_run_free(&d->scratch, &d->next);
	d->nknown = d->nlevels = 0;
}

void disk_free(struct search *s)
{
	struct disk_search *d = s->disk;
	if (!d)
		return;
	tell_why(d);
	for (uint32_t i = 0; i < s->nworkers; i++)
		disk_worker_free(&s->workers[i]);
	for (int i = 0; i < 2; i++)
		if (d->loading[i].s)
			key_sorter_free(&d->loading[i]);
	free_runs(d);
	free_shapes(d);
	free(d->known);
	free(d->level);
	assert(!d->scratch.used);
	if (d->scratch.most > d->place->most)
		d->place->most = d->scratch.most;
	free(d);
	s->disk = NULL;
}

uint64_t disk_bytes(const struct search *s)
{
	const struct disk_search *d = s->disk;
	uint64_t n = d->merge_bytes + key_reader_bytes(key_layout_words(&d->shape->level));
	for (uint32_t i = 0; i < d->nknown; i++)
		n += key_run_bytes(&d->known[i]);
	for (uint32_t i = 0; i < d->nlevels; i++)
		n += key_run_bytes(d->level[i]);
	for (uint32_t i = 0; i < s->nworkers; i++)
		if (s->workers[i].disk)
			n += key_sorter_bytes(&s->workers[i].disk->found) + s->workers[i].disk->cap * s->store.key * 8;
	return n;
}

/* ---- the way to a violation ----------------------------------------------- */

void disk_count_hit(struct search *s)
{
	struct readers from = { 0 }, known = { 0 };
	struct sink to = { .s = s };
	if (!s->tracing || s->r->verdict == SEARCH_HOLDS || s->r->verdict == SEARCH_LIMIT)
		return;
	bool ok = read_found(s, &from, &known) && merge(s, &from, &known, &s->disk->shape->found, each_counted, &to);
	close_readers(&from);
	close_readers(&known);
	if (ok) {
		s->r->states = s->disk->states + to.n;
		return;
	}
	s->r->verdict = SEARCH_LIMIT;
	s->r->limit = limit_of(s->disk);
}

struct origin *disk_steps_to_hit(const struct search *s, uint32_t *n)
{
	const struct disk_search *d = s->disk;
	struct origin *steps = calloc(d->nlevels + 1ull, sizeof *steps);
	uint64_t at = s->hit.parent;
	bool ok = steps != NULL;
	for (uint32_t l = d->nlevels; ok && --l > 0;) {
		struct key_reader r;
		const struct key_run *run = d->level[l];
		ok = at < run->n && key_reader_init(&r, &s->disk->scratch, run, run->layout);
		if (!ok)
			break;
		ok = key_reader_block(&r, at / KEY_BLOCK);
		uint64_t number = ok ? r.keys[at % KEY_BLOCK * r.words + r.words - 1] : 0;
		key_reader_free(&r);
		steps[l - 1] = (struct origin){ 0, (uint32_t)number >> EDGE_BITS, (uint32_t)number & ((1u << EDGE_BITS) - 1) };
		at = number >> 32;
	}
	if (!ok) {
		free(steps);
		return NULL;
	}
	assert(!at); /* the first state */
	*n = d->nlevels - 1;
	if (s->hit.thread != IR_NONE)
		steps[(*n)++] = (struct origin){ 0, s->hit.thread, s->hit.edge };
	return steps;
}

/* ---- checkpoints ---------------------------------------------------------- */

bool disk_readable(struct search *s)
{
	struct scratch *sc = &s->disk->scratch;
	tell_why(s->disk);
	if (scratch_trouble(sc) == SCRATCH_FULL || scratch_trouble(sc) == SCRATCH_FAILED)
		sc->trouble = SCRATCH_FINE; /* only writing failed */
	return !scratch_trouble(sc);
}

static bool log_run(struct search *s, const struct key_run *run, struct level_log *log)
{
	struct disk_search *d = s->disk;
	struct key_reader r;
	if (!key_reader_init(&r, &d->scratch, run, &d->shape->plain))
		return false;
	bool ok = true;
	while (ok && key_reader_next(&r))
		for (uint64_t i = 0; ok && i < r.n; i++)
			ok = level_log_put(log, &s->store, r.keys + i * r.words);
	key_reader_free(&r);
	return ok && !scratch_trouble(&d->scratch);
}

bool disk_log_level(struct search *s, struct level_log *log)
{
	assert(!s->tracing);
	return s->disk->nlevels && disk_readable(s) && log_run(s, s->disk->level[s->disk->nlevels - 1], log);
}

bool disk_log_next(struct search *s, struct level_log *log)
{
	return !s->disk->next.n || log_run(s, &s->disk->next, log);
}

void disk_set_saved(struct search *s)
{
	s->disk->saved = true;
}

void disk_give_back(struct search *s)
{
	assert(s->r->verdict == SEARCH_LIMIT);
	free_runs(s->disk);
	for (uint32_t i = 0; i < s->nworkers; i++)
		key_sorter_clear(&s->workers[i].disk->found);
}

/* ---- loading --------------------------------------------------------------- */

bool disk_load_begin(struct search *s)
{
	if (!make_disk(s))
		return false;
	drop_memory(s);
	/* the fields may not have fitted into memory: now they do */
	bool ok = search_worker_room(&s->workers[0]) && disk_worker_init(&s->workers[0]) && search_set_fields(s);
	for (int i = 0; ok && i < 2; i++)
		ok = key_sorter_init(&s->disk->loading[i], &s->disk->scratch, &s->disk->shape->plain, PORTION);
	s->log.max = LOG_STATES;
	if (ok)
		search_aim(s);
	return ok;
}

bool disk_load_run(struct search *s, const struct level_run *run)
{
	struct disk_search *d = s->disk;
	struct key_writer w;
	struct key_run here;
	uint32_t *ids = s->workers[0].ids;
	uint64_t *words = s->workers[0].words;
	if (!key_writer_init(&w, &d->scratch, &d->shape->plain))
		return false;
	bool ok = true;
	for (uint64_t i = 0; ok && i < run->n; i++) {
		store_unpack_by(run->at, run->states + i * run->at->words, ids);
		for (uint32_t f = 0; ok && f < run->at->nfields; f++)
			ok = ids[f] < store_limit(&s->store, f);
		if (ok)
			store_pack_by(&d->shape->plain.at, ids, words);
		ok = ok && key_writer_put(&w, words, 1);
	}
	if (!ok) {
		key_writer_cancel(&w);
		return false;
	}
	d->states += run->n;
	if (!key_writer_end(&w, &here))
		return false;
	ok = push_known(d, &here) && compact(s);
	key_run_free(&d->scratch, &here);
	return ok;
}

bool disk_load_state(struct search *s, bool next, const uint32_t *ids)
{
	uint64_t *words = s->workers[0].words;
	assert(ids[0] < store_limit(&s->store, 0));
	store_pack_by(&s->disk->shape->plain.at, ids, words);
	s->disk->states += next;
	return key_sorter_put(&s->disk->loading[next], words);
}

bool disk_load_end(struct search *s, uint64_t states)
{
	struct disk_search *d = s->disk;
	struct key_run level = { .file = { .fd = -1 } };
	uint64_t n = 0;
	bool ok = run_of(s, &d->loading[0], NULL, &level) && run_of(s, &d->loading[1], NULL, &d->next);
	for (uint32_t i = 0; i < d->nknown; i++)
		n += d->known[i].n;
	for (int i = 0; i < 2; i++)
		key_sorter_free(&d->loading[i]);
	d->level_known = true;
	d->transitions = s->workers[0].transitions;
	ok = ok && n + d->next.n == states && d->states == states && push_level(s, &level);
	key_run_free(&d->scratch, &level);
	if (ok && d->place->begun)
		d->place->begun(d->place->arg, d->states);
	return ok;
}
