#include "explore/shadows.h"

#include <stdlib.h>
#include <string.h>

#define SET_MAX 100000u /* shadows of one set */

/* ---- growing ------------------------------------------------------------ */

static bool grow(void **data, uint64_t *cap, uint64_t need, size_t elem)
{
	if (need <= *cap)
		return true;
	uint64_t n = *cap ? *cap : 256;
	while (n < need)
		n *= 2;
	void *p = realloc(*data, n * elem);
	if (!p)
		return false;
	*data = p;
	*cap = n;
	return true;
}

struct list { /* shadow ids being collected */
	uint32_t *ids;
	uint64_t n, cap;
};

static bool list_add(struct shadow_sets *s, struct list *l, uint32_t id)
{
	if (id == VECTAB_NONE || !grow((void **)&l->ids, &l->cap, l->n + 1, sizeof *l->ids)) {
		s->out_of_memory = true;
		return false;
	}
	l->ids[l->n++] = id;
	return true;
}

static int by_id(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return x < y ? -1 : x > y;
}

static void list_tidy(struct list *l)
{
	if (!l->n)
		return;
	qsort(l->ids, l->n, sizeof *l->ids, by_id);
	uint64_t out = 1;
	for (uint64_t i = 1; i < l->n; i++)
		if (l->ids[i] != l->ids[out - 1])
			l->ids[out++] = l->ids[i];
	l->n = out;
}

/* ---- sets --------------------------------------------------------------- */

static bool same_set(const struct shadow_sets *s, uint32_t set, const struct list *l)
{
	uint64_t n = s->start[set + 1] - s->start[set];
	return n == l->n && (!n || !memcmp(s->pool + s->start[set], l->ids, n * sizeof *l->ids));
}

/* The id of a tidy list. */
static uint32_t set_intern(struct shadow_sets *s, const struct list *l)
{
	uint64_t h = 0x12345;
	for (uint64_t i = 0; i < l->n; i++)
		h = hash64(h * 31 + l->ids[i]);
	uint32_t first = map_get(&s->by_hash, h);
	for (uint32_t k = first; k != MAP_NONE; k = s->same_hash[k] - 1)
		if (same_set(s, k, l))
			return k;
	uint64_t cap_s = s->cap_sets, cap_h = s->cap_sets;
	if (!grow((void **)&s->pool, &s->cap_pool, s->npool + l->n, sizeof *s->pool) ||
	    !grow((void **)&s->start, &cap_s, s->nsets + 2, sizeof *s->start) ||
	    !grow((void **)&s->same_hash, &cap_h, s->nsets + 2, sizeof *s->same_hash)) {
		s->out_of_memory = true;
		return 0;
	}
	s->cap_sets = (uint32_t)cap_s;
	if (l->n)
		memcpy(s->pool + s->npool, l->ids, l->n * sizeof *l->ids);
	s->npool += l->n;
	s->same_hash[s->nsets] = first == MAP_NONE ? 0 : first + 1;
	s->start[s->nsets + 1] = s->npool;
	if (!map_put(&s->by_hash, h, s->nsets))
		s->out_of_memory = true;
	return s->nsets++;
}

bool shadows_init(struct shadow_sets *s, struct product *x)
{
	memset(s, 0, sizeof *s);
	s->x = x;
	s->nthreads = x->ir->nthreads;
	vectab_init(&s->shadows, 1 + s->nthreads + (s->nthreads + 15) / 16);
	vectab_init(&s->events, 3);
	map_init(&s->by_hash);
	map_init(&s->memo);
	map_init(&s->serial);
	s->start = calloc(256, sizeof *s->start);
	s->same_hash = calloc(256, sizeof *s->same_hash);
	s->cap_sets = 256;
	return s->start && s->same_hash;
}

void shadows_free(struct shadow_sets *s)
{
	vectab_free(&s->shadows);
	vectab_free(&s->events);
	map_free(&s->by_hash);
	map_free(&s->memo);
	map_free(&s->serial);
	free(s->pool);
	free(s->start);
	free(s->same_hash);
	free(s->results);
	memset(s, 0, sizeof *s);
}

/* ---- shadows ------------------------------------------------------------ */

enum status { OUTSIDE, WAITING, EFFECTIVE };

static enum status status_of(const struct shadow_sets *s, const int32_t *v, uint32_t thread)
{
	return (enum status)((uint32_t)v[1 + s->nthreads + thread / 16] >> 2 * (thread % 16) & 3);
}

static void set_status(const struct shadow_sets *s, int32_t *v, uint32_t thread, enum status st)
{
	uint32_t *w = (uint32_t *)&v[1 + s->nthreads + thread / 16], shift = 2 * (thread % 16);
	*w = (*w & ~(3u << shift)) | (uint32_t)st << shift;
}

static uint32_t node_of(const struct shadow_sets *s, const int32_t *v, uint32_t thread)
{
	const struct prod_kind *k = &s->x->kinds[s->x->kind_of[thread]];
	return (uint32_t)vectab_get(&k->frames, k->info[v[1 + thread]].frame)[0];
}

/* A working copy of a shadow; the caller frees it. */
static int32_t *copy_of(struct shadow_sets *s, uint32_t id)
{
	int32_t *v = malloc(sizeof *v * s->shadows.width);
	if (v)
		memcpy(v, vectab_get(&s->shadows, id), sizeof *v * s->shadows.width);
	else
		s->out_of_memory = true;
	return v;
}

uint32_t shadows_initial(struct shadow_sets *s, const uint32_t *ids)
{
	int32_t *v = calloc(s->shadows.width, sizeof *v);
	struct list l = { 0 };
	uint32_t set = 0;
	if (v) {
		memcpy(v, ids, sizeof *v * (s->nthreads + 1));
		list_add(s, &l, vectab_add(&s->shadows, v));
		set = set_intern(s, &l);
	} else {
		s->out_of_memory = true;
	}
	free(v);
	free(l.ids);
	return set;
}

/* Is the shadow this state, with everybody outside and dead slots aside? */
static bool same_state(const struct shadow_sets *s, const int32_t *v, const uint32_t *ids)
{
	if ((uint32_t)v[0] != ids[0])
		return false;
	for (uint32_t i = 0; i < s->nthreads; i++) {
		const struct prod_local *info = s->x->kinds[s->x->kind_of[i]].info;
		if (status_of(s, v, i) != OUTSIDE || info[v[1 + i]].canon != info[ids[1 + i]].canon)
			return false;
	}
	return true;
}

bool shadows_contain(const struct shadow_sets *s, uint32_t set, const uint32_t *ids)
{
	for (uint64_t i = s->start[set]; i < s->start[set + 1]; i++)
		if (same_state(s, vectab_get(&s->shadows, s->pool[i]), ids))
			return true;
	return false;
}

/* ---- running a block serially ------------------------------------------- */

static bool seen_add(struct map *seen, uint32_t g, uint32_t l)
{
	uint32_t v = 0;
	size_t before = seen->len;
	return map_intern(seen, (uint64_t)g << 32 | l, &v) && seen->len > before;
}

#define SERIAL_STATES 1000000u

/*
 * All (global, local) pairs in which the block that starts here can end, as
 * [n, pairs...] in s->results. Blocked, endless and faulty runs give none.
 */
static uint32_t serial_results(struct shadow_sets *s, uint32_t kind, uint32_t g, uint32_t l)
{
	struct prod_kind *k = &s->x->kinds[kind];
	uint64_t key = hash64((uint64_t)g << 32 | l) * 64 + kind;
	uint32_t at = map_get(&s->serial, key);
	if (at != MAP_NONE && s->results[at + 1] == g && s->results[at + 2] == l &&
	    s->results[at + 3] == kind)
		return at;
	struct list work = { 0 }, done = { 0 };
	struct map seen;
	map_init(&seen);
	list_add(s, &work, g);
	list_add(s, &work, l);
	while (work.n && !s->out_of_memory) {
		uint32_t wl = work.ids[--work.n], wg = work.ids[--work.n], n;
		if (seen.len > SERIAL_STATES) {
			s->limit = true;
			break;
		}
		const struct prod_edge *e = product_step(s->x, kind, wg, wl, &n);
		if (s->x->out_of_memory) {
			s->out_of_memory = true;
			break;
		}
		for (uint32_t i = 0; i < n; i++) {
			if (e[i].flags & PRODF_LIMIT)
				s->limit = true;
			if (e[i].flags || !seen_add(&seen, e[i].global, e[i].local))
				continue;
			struct list *to = k->info[e[i].local].inside ? &work : &done;
			list_add(s, to, e[i].global);
			list_add(s, to, e[i].local);
		}
	}
	map_free(&seen);
	at = s->nresults;
	uint64_t cap = s->cap_results;
	if (grow((void **)&s->results, &cap, at + done.n + 4, sizeof *s->results)) {
		s->cap_results = (uint32_t)cap;
		s->results[at] = (uint32_t)(done.n / 2);
		s->results[at + 1] = g;
		s->results[at + 2] = l;
		s->results[at + 3] = kind;
		if (done.n)
			memcpy(s->results + at + 4, done.ids, done.n * sizeof *done.ids);
		s->nresults = at + 4 + (uint32_t)done.n;
		if (!map_put(&s->serial, key, at))
			s->out_of_memory = true;
	} else {
		s->out_of_memory = true;
	}
	free(work.ids);
	free(done.ids);
	return at;
}

/* ---- transitions -------------------------------------------------------- */

/* Adds to l every shadow in which further waiting blocks take effect. */
static void close_set(struct shadow_sets *s, struct list *l)
{
	struct map seen;
	map_init(&seen);
	for (uint64_t i = 0; i < l->n; i++)
		seen_add(&seen, 0, l->ids[i]);
	for (uint64_t i = 0; i < l->n && !s->out_of_memory && !s->limit; i++) {
		if (l->n > SET_MAX) {
			s->limit = true;
			break;
		}
		int32_t *v = copy_of(s, l->ids[i]);
		for (uint32_t t = 0; v && t < s->nthreads && !s->out_of_memory; t++) {
			if (status_of(s, v, t) != WAITING)
				continue;
			uint32_t r = serial_results(s, s->x->kind_of[t], (uint32_t)v[0], (uint32_t)v[1 + t]);
			for (uint32_t k = 0; !s->out_of_memory && k < s->results[r]; k++) {
				int32_t g = v[0], own = v[1 + t];
				v[0] = (int32_t)s->results[r + 4 + 2 * k];
				v[1 + t] = (int32_t)s->results[r + 5 + 2 * k];
				set_status(s, v, t, EFFECTIVE);
				uint32_t id = vectab_add(&s->shadows, v);
				v[0] = g;
				v[1 + t] = own;
				set_status(s, v, t, WAITING);
				if (id == VECTAB_NONE)
					s->out_of_memory = true;
				else if (seen_add(&seen, 0, id))
					list_add(s, l, id);
			}
		}
		free(v);
	}
	map_free(&seen);
}

/* Every way a shadow can take an outside step of the thread. */
static void outside_step(struct shadow_sets *s, uint32_t id, uint32_t thread, struct list *out)
{
	int32_t *v = copy_of(s, id);
	uint32_t kind = s->x->kind_of[thread], n;
	if (!v)
		return;
	const struct prod_edge *e = product_step(s->x, kind, (uint32_t)v[0], (uint32_t)v[1 + thread], &n);
	for (uint32_t i = 0; i < n; i++) {
		if (e[i].flags & PRODF_LIMIT)
			s->limit = true;
		if (e[i].flags || s->x->kinds[kind].info[e[i].local].inside)
			continue; /* it would enter a block instead */
		v[0] = (int32_t)e[i].global;
		v[1 + thread] = (int32_t)e[i].local;
		list_add(s, out, vectab_add(&s->shadows, v));
	}
	s->out_of_memory |= s->x->out_of_memory;
	free(v);
}

static void change_status(struct shadow_sets *s, uint32_t id, uint32_t thread, enum status st,
                          struct list *out)
{
	int32_t *v = copy_of(s, id);
	if (!v)
		return;
	set_status(s, v, thread, st);
	list_add(s, out, vectab_add(&s->shadows, v));
	free(v);
}

/* Is the shadow's thread about to enter this block? */
static bool before_block(const struct shadow_sets *s, const int32_t *v, uint32_t thread,
                         uint32_t block)
{
	const struct ir *p = s->x->ir;
	const struct ir_node *n = &p->nodes[node_of(s, v, thread)];
	return n->kind == IRN_ENTER && (uint32_t)p->code[n->ins + 1].a == block;
}

enum shadow_event shadows_event(const struct product *x, uint32_t from, uint32_t to)
{
	bool was_in = product_marked(x, from), now_in = product_marked(x, to);
	if (was_in)
		return now_in ? SHADOW_INSIDE : SHADOW_LEAVE;
	if (now_in)
		return SHADOW_ENTER;
	return x->ir->nodes[from].naccess ? SHADOW_OUTSIDE : SHADOW_LOCAL;
}

static uint32_t compute(struct shadow_sets *s, uint32_t set, uint32_t thread,
                        enum shadow_event event, uint32_t block)
{
	struct list in = { 0 }, out = { 0 };
	for (uint64_t i = s->start[set]; i < s->start[set + 1]; i++)
		list_add(s, &in, s->pool[i]);
	if (event == SHADOW_OUTSIDE || event == SHADOW_LEAVE)
		close_set(s, &in);
	for (uint64_t i = 0; i < in.n && !s->out_of_memory; i++) {
		const int32_t *v = vectab_get(&s->shadows, in.ids[i]);
		if (event == SHADOW_ENTER && before_block(s, v, thread, block))
			change_status(s, in.ids[i], thread, WAITING, &out);
		else if (event == SHADOW_LEAVE && status_of(s, v, thread) == EFFECTIVE)
			change_status(s, in.ids[i], thread, OUTSIDE, &out);
		else if (event == SHADOW_OUTSIDE || event == SHADOW_LOCAL)
			outside_step(s, in.ids[i], thread, &out);
	}
	list_tidy(&out);
	uint32_t result = set_intern(s, &out);
	free(in.ids);
	free(out.ids);
	return result;
}

uint32_t shadows_step(struct shadow_sets *s, uint32_t set, uint32_t thread,
                      enum shadow_event event, uint32_t block)
{
	if (event == SHADOW_INSIDE)
		return set;
	int32_t what[3] = { (int32_t)thread, (int32_t)event,
		            event == SHADOW_ENTER ? (int32_t)block : 0 };
	uint32_t id = vectab_add(&s->events, what);
	if (id == VECTAB_NONE) {
		s->out_of_memory = true;
		return set;
	}
	uint64_t key = (uint64_t)set << 32 | id;
	uint32_t to = map_get(&s->memo, key);
	if (to != MAP_NONE)
		return to;
	to = compute(s, set, thread, event, block);
	if (!s->out_of_memory && !s->limit && !map_put(&s->memo, key, to))
		s->out_of_memory = true;
	return to;
}
