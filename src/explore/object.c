#include "explore/object.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/grow.h"
#include "explore/object_step.h"

/* A state is a vector of ids: the globals, the monitor, a frame per thread.
 * Its number is its place in `states`; beside it how it was reached. */
struct object_seen {
	uint32_t parent, edge; /* edge: into steps.edges */
	uint32_t rename;       /* into renamings, applied after the edge */
	uint32_t dist;         /* steps; the top bit: its successors are known */
	uint32_t thread;       /* who took the edge */
};
#define SETTLED 0x80000000u
#define RING    (OBJECT_CHAIN + 1)

struct bucket {
	uint32_t *ids;
	uint32_t n, cap;
};

struct object_search {
	const struct ir *ir;
	const struct object_options *o;
	struct object_result *r;
	struct object_steps steps;
	struct monitor mon;
	uint32_t nthreads, *client_of;   /* IR_NONE: no client of the object */
	uint32_t *event_ids, nevent_ids; /* by rel * nclients + client: id + 1 */
	struct vector_table states, renamings;
	struct map renamed; /* (monitor state, renaming) -> monitor state */
	struct object_seen *seen;
	uint32_t cap_seen;
	struct bucket ring[RING]; /* states by dist, those of the next steps */
	uint64_t waiting;
	bool symmetric;
	/* the shortest violation so far */
	uint32_t best, best_state, best_edge, best_thread, best_moves;
	int32_t *cur, *room, *next;  /* room for a state */
	uint32_t *order, *to, *hash; /* room for a renaming of threads */
};

/* ---- set up ------------------------------------------------------------------------- */

static uint32_t find_clients(struct object_search *s, uint32_t object)
{
	const struct ir *p = s->ir;
	uint32_t n = 0;
	for (uint32_t t = 0; t < p->nthreads; t++) {
		s->client_of[t] = IR_NONE;
		for (uint32_t o = 0; o < p->nopers && s->client_of[t] == IR_NONE; o++)
			if (p->opers[o].tmpl == p->threads[t].tmpl && p->opers[o].object == object && ir_oper_counts(p, o))
				s->client_of[t] = n++;
	}
	return n;
}

static bool open_search(struct object_search *s, uint32_t object)
{
	const struct ir *p = s->ir;
	size_t n = p->nthreads + 2ull;
	s->nthreads = p->nthreads;
	s->client_of = calloc(n, sizeof *s->client_of);
	s->cur = calloc(n, sizeof *s->cur);
	s->room = calloc(n, sizeof *s->room);
	s->next = calloc(n, sizeof *s->next);
	s->order = calloc(n, sizeof *s->order);
	s->to = calloc(n, sizeof *s->to);
	s->hash = calloc(n, sizeof *s->hash);
	vector_table_init(&s->states, p->nthreads + 2);
	vector_table_init(&s->renamings, p->nthreads);
	map_init(&s->renamed);
	if (!s->client_of || !s->cur || !s->room || !s->next || !s->order || !s->to || !s->hash)
		return false;
	uint32_t clients = find_clients(s, object);
	if (clients > MONITOR_MAX_CLIENTS) {
		s->r->limit = "clients";
		return false;
	}
	for (uint32_t t = 0; t < p->ntemplates; t++)
		s->symmetric |= p->templates[t].count > 1 && !p->templates[t].names_threads;
	s->symmetric &= s->o->symmetry && s->o->kind != MONITOR_RECORD;
	bool ok = monitor_open(&s->mon, s->o->kind, clients, p->objects[object].init);
	s->mon.judge = s->o->judge;
	s->mon.judge_arg = s->o->judge_arg;
	return object_steps_init(&s->steps, p, object, s->o->local) && ok;
}

static void close_search(struct object_search *s)
{
	object_steps_free(&s->steps);
	monitor_close(&s->mon);
	vector_table_free(&s->states);
	vector_table_free(&s->renamings);
	map_free(&s->renamed);
	for (uint32_t i = 0; i < RING; i++)
		free(s->ring[i].ids);
	free(s->seen);
	free(s->event_ids);
	free(s->client_of);
	free(s->cur);
	free(s->room);
	free(s->next);
	free(s->order);
	free(s->to);
	free(s->hash);
}

/* ---- symmetry ------------------------------------------------------------------------ */

static bool exchangeable(const struct object_search *s, uint32_t a, uint32_t b)
{
	const struct ir *p = s->ir;
	return p->threads[a].tmpl == p->threads[b].tmpl && !p->templates[p->threads[a].tmpl].names_threads;
}

static bool out_of_order(const struct object_search *s, const int32_t *v, uint32_t a, uint32_t b)
{
	if (v[2 + a] != v[2 + b])
		return v[2 + a] > v[2 + b];
	return s->hash[a] > s->hash[b];
}

/* Sorts the exchangeable threads of v; the number of the renaming. Returns
 * VECTOR_TABLE_NONE when out of memory. */
static uint32_t normalise(struct object_search *s, int32_t *v)
{
	uint32_t n = s->nthreads;
	bool changed = false;
	for (uint32_t t = 0; t < n; t++) {
		s->order[t] = t;
		s->hash[t] = s->symmetric && s->client_of[t] != IR_NONE
		                     ? monitor_client_hash(&s->mon, (uint32_t)v[1], s->client_of[t])
		                     : 0;
	}
	for (uint32_t i = 1; i < n && s->symmetric; i++) /* they are few and mostly sorted */
		for (uint32_t j = i; j > 0 && exchangeable(s, j - 1, j) && out_of_order(s, v, s->order[j - 1], s->order[j]); j--) {
			uint32_t x = s->order[j];
			s->order[j] = s->order[j - 1];
			s->order[j - 1] = x;
			changed = true;
		}
	for (uint32_t t = 0; t < n; t++)
		s->to[s->order[t]] = t;
	uint32_t id = vector_table_add(&s->renamings, (const int32_t *)s->to);
	if (id == VECTOR_TABLE_NONE || !changed)
		return id;
	for (uint32_t t = 0; t < n; t++)
		s->next[t] = v[2 + s->order[t]];
	memcpy(v + 2, s->next, n * sizeof *v);
	uint64_t key = (uint64_t)(uint32_t)v[1] << 32 | id;
	uint32_t to = map_get(&s->renamed, key);
	if (to == MAP_NONE) {
		uint32_t clients[MONITOR_MAX_CLIENTS];
		for (uint32_t t = 0; t < n; t++)
			if (s->client_of[t] != IR_NONE)
				clients[s->client_of[t]] = s->client_of[s->to[t]];
		to = monitor_rename(&s->mon, (uint32_t)v[1], clients);
		if (to == MONITOR_FAILED || !map_put(&s->renamed, key, to))
			return VECTOR_TABLE_NONE;
	}
	v[1] = (int32_t)to;
	return id;
}

/* ---- the search ---------------------------------------------------------------------- */

static bool wait_in_ring(struct object_search *s, uint32_t id, uint32_t dist)
{
	struct bucket *b = &s->ring[dist % RING];
	if (!GROW_RAW(b->ids, b->cap, b->n + 1ull))
		return false;
	b->ids[b->n++] = id;
	s->waiting++;
	return true;
}

/* A state was reached: new, or by fewer steps than before, or nothing new. */
static bool reach(struct object_search *s, int32_t *v, struct object_seen how)
{
	uint32_t before = s->states.n, id;
	how.rename = normalise(s, v);
	id = how.rename == VECTOR_TABLE_NONE ? VECTOR_TABLE_NONE : vector_table_add(&s->states, v);
	if (id == VECTOR_TABLE_NONE)
		return false;
	if (id < before && (s->seen[id].dist & ~SETTLED) <= how.dist)
		return true;
	if (!GROW_RAW(s->seen, s->cap_seen, id + 1ull))
		return false;
	s->seen[id] = how;
	return wait_in_ring(s, id, how.dist);
}

static uint32_t event_id(struct object_search *s, uint32_t rel, uint32_t client)
{
	uint32_t at = rel * s->mon.nclients + client;
	if (!GROW(s->event_ids, s->nevent_ids, at + 1ull))
		return VECTOR_TABLE_NONE;
	if (!s->event_ids[at]) {
		const int32_t *e = vector_table_get(&s->steps.rels, rel);
		s->event_ids[at] = monitor_event(&s->mon, client, (enum monitor_event)e[0], e[1]) + 1;
	}
	return s->event_ids[at] - 1;
}

/* The monitor after the events of an edge; *move: with which move it died. */
static uint32_t run_monitor(struct object_search *s, uint32_t mon, const struct object_edge *e, uint32_t thread, uint32_t *move)
{
	for (uint32_t i = 0; i < e->nevents && mon < MONITOR_DEAD; i++) {
		const struct object_event *ev = &s->steps.events[e->event + i];
		uint32_t id = event_id(s, ev->rel, s->client_of[thread]);
		mon = id == VECTOR_TABLE_NONE ? MONITOR_FAILED : monitor_step(&s->mon, mon, id);
		*move = ev->move;
	}
	return mon;
}

/* All successors of state `id` by `thread`. */
static bool expand(struct object_search *s, uint32_t id, uint32_t thread)
{
	uint32_t n, move = 0, dist = s->seen[id].dist & ~SETTLED;
	uint32_t kind = s->steps.kind_of[thread];
	const struct object_edge *e = object_steps_of(&s->steps, kind, (uint32_t)s->cur[0], (uint32_t)s->cur[2 + thread], &n);
	uint32_t first = e ? (uint32_t)(e - s->steps.edges) : 0;
	if (s->steps.failed || s->steps.limit)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		const struct object_edge *at = &s->steps.edges[first + i];
		uint32_t mon = run_monitor(s, (uint32_t)s->cur[1], at, thread, &move);
		s->r->transitions++;
		if (mon == MONITOR_FAILED)
			return false;
		if (mon == MONITOR_DEAD) {
			if (dist + move + 1 < s->best) {
				s->best = dist + move + 1;
				s->best_state = id;
				s->best_edge = first + i;
				s->best_thread = thread;
				s->best_moves = move + 1;
			}
			continue;
		}
		if (dist + at->nmoves >= s->best) /* no shorter violation that way */
			continue;
		int32_t *v = s->room;
		memcpy(v, s->cur, (2ull + s->nthreads) * sizeof *v);
		v[0] = (int32_t)at->global;
		v[1] = (int32_t)mon;
		v[2 + thread] = (int32_t)at->frame;
		if (!reach(s, v,
		           (struct object_seen){ .parent = id, .edge = first + i, .dist = dist + at->nmoves, .thread = thread }))
			return false;
	}
	return true;
}

static uint64_t bytes(const struct object_search *s)
{
	uint64_t n = vector_table_bytes(&s->states) + s->cap_seen * sizeof *s->seen + monitor_bytes(&s->mon) +
	             object_steps_bytes(&s->steps) + vector_table_bytes(&s->renamings) + s->renamed.cap * sizeof(struct map_slot);
	for (uint32_t i = 0; i < RING; i++)
		n += s->ring[i].cap * 4ull;
	return n;
}

/* Which limit was reached, or NULL. */
static const char *spent(const struct object_search *s, uint64_t count)
{
	const struct object_options *o = s->o;
	if (o->max_states && s->states.n > o->max_states)
		return "states";
	if (count % 1024 != 1)
		return NULL;
	if (o->max_bytes && bytes(s) > o->max_bytes)
		return "memory";
	if (checkpoint_stops(o->checkpoint))
		return "interrupt";
	return o->deadline > 0 && clock_seconds() > o->deadline ? "time" : NULL;
}

static bool start(struct object_search *s)
{
	const struct ir *p = s->ir;
	int32_t *v = s->room;
	v[0] = (int32_t)vector_table_add(&s->steps.globals, p->init);
	v[1] = (int32_t)monitor_initial(&s->mon);
	bool ok = (uint32_t)v[0] != VECTOR_TABLE_NONE && (uint32_t)v[1] < MONITOR_DEAD;
	for (uint32_t t = 0; t < s->nthreads; t++) {
		struct object_kind *k = &s->steps.kinds[s->steps.kind_of[t]];
		v[2 + t] = (int32_t)vector_table_add(&k->frames, p->init + p->threads[t].frame);
		ok &= (uint32_t)v[2 + t] != VECTOR_TABLE_NONE;
	}
	return ok && reach(s, v, (struct object_seen){ .parent = IR_NONE });
}

/* Level by level; the ring holds what is within OBJECT_CHAIN steps. */
static void search(struct object_search *s)
{
	uint64_t count = 0;
	s->best = s->o->max_steps ? s->o->max_steps : SETTLED - 1;
	uint32_t most = s->best;
	bool ok = start(s);
	for (uint32_t dist = 0; ok && s->waiting && dist < s->best && !s->r->limit; dist++) {
		struct bucket *b = &s->ring[dist % RING];
		/* successors are at least one step further: b does not grow */
		for (uint32_t i = 0; i < b->n && ok && !s->r->limit; i++) {
			uint32_t id = b->ids[i];
			if (s->seen[id].dist != dist) /* settled, or reached earlier */
				continue;
			s->seen[id].dist |= SETTLED;
			memcpy(s->cur, vector_table_get(&s->states, id), (2ull + s->nthreads) * sizeof *s->cur);
			for (uint32_t t = 0; t < s->nthreads && ok; t++)
				ok = expand(s, id, t);
			s->r->limit = spent(s, ++count);
		}
		s->waiting -= b->n;
		b->n = 0;
	}
	if (s->steps.limit)
		s->r->limit = "step";
	else if (!ok && !s->r->limit)
		s->r->limit = "memory";
	/* a violation is one, whatever ended the search */
	s->r->answer = s->best < most ? ANSWER_VIOLATED : s->r->limit ? ANSWER_UNKNOWN : ANSWER_HOLDS;
}

/* ---- the run ----------------------------------------------------------------------------- */

/* The moves of the best violation. Threads are renamed on the way: real[t] is
 * the thread at place t. */
static bool build_path(struct object_search *s)
{
	uint32_t n = 0, *chain, *real, *was;
	for (uint32_t id = s->best_state; id != IR_NONE; id = s->seen[id].parent)
		n++;
	chain = calloc(n, sizeof *chain);
	real = calloc(s->nthreads + 1ull, sizeof *real);
	was = calloc(s->nthreads + 1ull, sizeof *was);
	s->r->path = calloc(s->best, sizeof *s->r->path);
	bool ok = chain && real && was && s->r->path;
	for (uint32_t id = s->best_state, i = n; ok && i-- > 0; id = s->seen[id].parent)
		chain[i] = id;
	for (uint32_t t = 0; ok && t < s->nthreads; t++)
		real[t] = t;
	for (uint32_t i = 0; ok && i <= n; i++) {
		const struct object_seen *how = i < n ? &s->seen[chain[i]] : NULL;
		if (i) { /* the first has no edge, the last is the violation's */
			const struct object_edge *e = &s->steps.edges[how ? how->edge : s->best_edge];
			uint32_t thread = real[how ? how->thread : s->best_thread];
			for (uint32_t k = 0; k < (how ? e->nmoves : s->best_moves); k++)
				s->r->path[s->r->npath++] = (struct move){ thread, s->steps.moves[e->move + k] };
		}
		if (!how)
			break;
		const int32_t *to = vector_table_get(&s->renamings, how->rename);
		memcpy(was, real, s->nthreads * sizeof *was);
		for (uint32_t t = 0; t < s->nthreads; t++)
			real[to[t]] = was[t];
	}
	free(chain);
	free(real);
	free(was);
	return ok;
}

static void run_search(const struct ir *p, uint32_t object, const struct object_options *o, struct object_result *r)
{
	struct object_search s = { .ir = p, .o = o, .r = r };
	memset(r, 0, sizeof *r);
	r->answer = ANSWER_UNKNOWN;
	if (open_search(&s, object))
		search(&s);
	else if (!r->limit)
		r->limit = "memory";
	if (r->answer == ANSWER_VIOLATED && !build_path(&s)) {
		object_result_free(r);
		r->answer = ANSWER_UNKNOWN;
		r->limit = "memory";
	}
	if (r->answer != ANSWER_UNKNOWN)
		r->limit = NULL;
	r->states = s.states.n;
	r->bytes = bytes(&s);
	r->monitor_states = s.mon.states.n;
	r->judged = s.mon.judged;
	close_search(&s);
}

#define OBJECT_SHORTEN_STATES 200000u

void object_check(const struct ir *p, uint32_t object, const struct object_options *o, struct object_result *r)
{
	run_search(p, object, o, r);
	if (r->answer != ANSWER_VIOLATED || !o->local || o->kind == MONITOR_RECORD)
		return;
	/* the reduced graph takes some unneeded steps early */
	struct object_options plain = *o;
	struct object_result shorter;
	plain.local = false;
	plain.max_steps = r->npath;
	plain.max_states = OBJECT_SHORTEN_STATES;
	run_search(p, object, &plain, &shorter);
	if (shorter.answer == ANSWER_VIOLATED) {
		free(r->path);
		r->path = shorter.path;
		r->npath = shorter.npath;
		shorter.path = NULL;
	}
	object_result_free(&shorter);
}

void object_result_free(struct object_result *r)
{
	free(r->path);
	memset(r, 0, sizeof *r);
}
