#include "explore/exact.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "explore/shadows.h"

struct came_from {
	uint32_t parent, thread, edge;
};

struct exact {
	const struct ir *ir;
	const struct search_options *o;
	struct product x;
	struct shadow_sets sets;
	struct vectab states; /* globals, locals, set */
	struct came_from *from;
	uint32_t cap_from;
	uint32_t *cur, *next;
	struct search_result *r;
	bool forget; /* explained quiescent states start anew */
};

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void give_up(struct exact *e, const char *limit)
{
	if (e->r->verdict == SEARCH_HOLDS) {
		e->r->verdict = SEARCH_LIMIT;
		e->r->limit = limit;
	}
}

static uint32_t node_of(const struct exact *e, uint32_t thread, uint32_t local)
{
	const struct prod_kind *k = &e->x.kinds[e->x.kind_of[thread]];
	return (uint32_t)vectab_get(&k->frames, k->info[local].frame)[0];
}

static bool quiescent(const struct exact *e, const uint32_t *ids)
{
	for (uint32_t i = 0; i < e->ir->nthreads; i++)
		if (e->x.kinds[e->x.kind_of[i]].info[ids[i + 1]].inside)
			return false;
	return true;
}

static void trouble(struct exact *e)
{
	if (e->x.out_of_memory || e->sets.out_of_memory)
		give_up(e, "memory");
	if (e->sets.limit)
		give_up(e, "shadows");
}

/* The state after an edge of a thread, in e->next. False on trouble. */
static bool successor(struct exact *e, uint32_t thread, const struct prod_edge *edge)
{
	uint32_t n = e->ir->nthreads;
	uint32_t from = node_of(e, thread, e->cur[thread + 1]);
	uint32_t to = node_of(e, thread, edge->local);
	memcpy(e->next, e->cur, sizeof *e->next * (n + 2));
	e->next[0] = edge->global;
	e->next[thread + 1] = edge->local;
	e->next[n + 1] = shadows_step(&e->sets, e->cur[n + 1], thread,
	                              shadows_event(&e->x, from, to), e->ir->nodes[to].block);
	trouble(e);
	return e->r->verdict == SEARCH_HOLDS;
}

static bool remember(struct exact *e, uint32_t id, struct came_from from)
{
	if (id >= e->cap_from) {
		uint32_t cap = e->cap_from ? e->cap_from * 2 : 1024;
		struct came_from *p = realloc(e->from, sizeof *p * cap);
		if (!p)
			return false;
		e->from = p;
		e->cap_from = cap;
	}
	e->from[id] = from;
	return true;
}

static bool add_path(struct exact *e, uint32_t thread, uint32_t local_before, uint32_t global_before,
                     uint32_t edge)
{
	uint32_t n;
	const struct prod_edge *list =
		product_step(&e->x, e->x.kind_of[thread], global_before, local_before, &n);
	struct search_result *r = e->r;
	struct move *p = realloc(r->path, sizeof *p * (r->npath + 1));
	if (!p)
		return false;
	r->path = p;
	p[r->npath++] = (struct move){ thread, e->x.moves[list[edge].move] };
	return true;
}

/* From the initial state to `state`, then one more move when thread is given. */
static void make_path(struct exact *e, uint32_t state, uint32_t thread, uint32_t edge)
{
	uint32_t n = 0;
	for (uint32_t i = state; i; i = e->from[i].parent)
		n++;
	uint32_t *order = malloc(sizeof *order * (n + 1));
	if (!order)
		return;
	for (uint32_t i = state, k = n; k; i = e->from[i].parent)
		order[--k] = i;
	for (uint32_t i = 0; i < n; i++) {
		const struct came_from *f = &e->from[order[i]];
		const int32_t *v = vectab_get(&e->states, f->parent);
		add_path(e, f->thread, (uint32_t)v[f->thread + 1], (uint32_t)v[0], f->edge);
	}
	if (thread != IR_NONE) {
		const int32_t *v = vectab_get(&e->states, state);
		add_path(e, thread, (uint32_t)v[thread + 1], (uint32_t)v[0], edge);
	}
	free(order);
}

static void violation(struct exact *e, enum search_verdict v, uint32_t state, uint32_t thread,
                      uint32_t edge)
{
	if (e->r->verdict != SEARCH_HOLDS)
		return;
	make_path(e, state, thread, edge);
	e->r->verdict = v;
}

static bool insert(struct exact *e, uint32_t parent, uint32_t thread, uint32_t edge)
{
	uint32_t before = e->states.n, *set = &e->next[e->ir->nthreads + 1];
	bool quiet = quiescent(e, e->next);
	bool explained = !quiet || shadows_contain(&e->sets, *set, e->next);
	if (quiet && explained && e->forget)
		*set = shadows_initial(&e->sets, e->next);
	uint32_t id = vectab_add(&e->states, (const int32_t *)e->next);
	if (id == VECTAB_NONE || (id >= before && !remember(e, id, (struct came_from){ parent, thread, edge }))) {
		give_up(e, "memory");
		return false;
	}
	if (!explained)
		violation(e, SEARCH_WRONG, id, IR_NONE, 0);
	trouble(e);
	return e->r->verdict == SEARCH_HOLDS;
}

static bool expand(struct exact *e, uint32_t id)
{
	bool moved = false, finished = true;
	memcpy(e->cur, vectab_get(&e->states, id), sizeof *e->cur * (e->ir->nthreads + 2));
	for (uint32_t t = 0; t < e->ir->nthreads; t++) {
		uint32_t n;
		finished &= e->ir->nodes[node_of(e, t, e->cur[t + 1])].kind == IRN_END;
		product_step(&e->x, e->x.kind_of[t], e->cur[0], e->cur[t + 1], &n);
		for (uint32_t k = 0; k < n; k++) {
			/* looked up anew: inserting may move the edges */
			const struct prod_edge *list =
				product_step(&e->x, e->x.kind_of[t], e->cur[0], e->cur[t + 1], &n);
			if (!list)
				break;
			struct prod_edge edge = list[k];
			moved = true;
			e->r->transitions++;
			if (edge.flags & PRODF_LIMIT)
				give_up(e, "step");
			else if (edge.flags && e->o->faults)
				violation(e, SEARCH_FAULT, id, t, k);
			else if (!edge.flags && successor(e, t, &edge))
				insert(e, id, t, k);
			if (e->r->verdict != SEARCH_HOLDS)
				return false;
		}
		trouble(e);
	}
	if (!moved && !finished && e->o->deadlock)
		violation(e, SEARCH_DEADLOCK, id, IR_NONE, 0);
	return e->r->verdict == SEARCH_HOLDS;
}

static void check_limits(struct exact *e)
{
	const struct search_options *o = e->o;
	e->r->bytes = vectab_bytes(&e->states) + vectab_bytes(&e->sets.shadows) +
	              e->cap_from * sizeof *e->from + e->sets.cap_pool * 4 + product_bytes(&e->x) +
	              (e->sets.memo.cap + e->sets.by_hash.cap) * sizeof(struct map_slot);
	if (o->max_states && e->states.n > o->max_states)
		give_up(e, "states");
	if (o->max_bytes && e->r->bytes > o->max_bytes)
		give_up(e, "memory");
	if (o->deadline > 0 && now() > o->deadline)
		give_up(e, "time");
}

/* Can a step have several outcomes? */
static bool has_choices(const struct ir *p)
{
	for (uint32_t i = 0; i < p->ncode; i++)
		if ((p->code[i].op == IR_CHOOSE && p->code[i].b != p->code[i].c) ||
		    p->code[i].op == IR_RRESP)
			return true;
	return false;
}

static bool exact_init(struct exact *e, const struct ir *ir, uint32_t block)
{
	uint32_t n = ir->nthreads;
	bool ok = product_init(&e->x, ir, PROD_STANDARD, block, NULL);
	ok = shadows_init(&e->sets, &e->x) && ok;
	vectab_init(&e->states, n + 2);
	e->ir = ir;
	e->cur = calloc(n + 2, sizeof *e->cur);
	e->next = calloc(n + 2, sizeof *e->next);
	if (!ok || !e->cur || !e->next)
		return false;
	e->cur[0] = product_initial_global(&e->x);
	for (uint32_t i = 0; i < n; i++)
		e->cur[i + 1] = product_initial_local(&e->x, i);
	e->cur[n + 1] = shadows_initial(&e->sets, e->cur);
	return !e->x.out_of_memory && !e->sets.out_of_memory;
}

static void exact_free(struct exact *e)
{
	shadows_free(&e->sets);
	product_free(&e->x);
	vectab_free(&e->states);
	free(e->from);
	free(e->cur);
	free(e->next);
}

/* ---- a serial way to a state -------------------------------------------- */

/* Is the thread allowed to move when blocks run serially? */
static bool serial_turn(const struct exact *e, const int32_t *v, uint32_t thread)
{
	for (uint32_t i = 0; i < e->ir->nthreads; i++)
		if (i != thread && e->x.kinds[e->x.kind_of[i]].info[v[i + 1]].inside)
			return false;
	return true;
}

/* Puts a serial execution to the state `goal` into r->path, shortest first. */
static bool serial_path(struct exact *e, const int32_t *goal)
{
	uint32_t n = e->ir->nthreads;
	struct exact s = *e; /* shares the product, has its own states */
	vectab_init(&s.states, n + 1);
	s.from = NULL;
	s.cap_from = 0;
	uint32_t found = IR_NONE;
	s.cur[0] = product_initial_global(&s.x);
	for (uint32_t i = 0; i < n; i++)
		s.cur[i + 1] = product_initial_local(&s.x, i);
	remember(&s, vectab_add(&s.states, (const int32_t *)s.cur), (struct came_from){ 0, IR_NONE, 0 });
	for (uint32_t i = 0; i < s.states.n && found == IR_NONE; i++) {
		memcpy(s.cur, vectab_get(&s.states, i), sizeof *s.cur * (n + 1));
		if (!memcmp(s.cur, goal, sizeof *goal * (n + 1)))
			found = i;
		for (uint32_t t = 0; t < n && found == IR_NONE; t++) {
			uint32_t count;
			if (!serial_turn(&s, (const int32_t *)s.cur, t))
				continue;
			const struct prod_edge *edge =
				product_step(&s.x, s.x.kind_of[t], s.cur[0], s.cur[t + 1], &count);
			for (uint32_t k = 0; edge && k < count; k++) {
				if (edge[k].flags)
					continue;
				uint32_t before = s.states.n;
				memcpy(s.next, s.cur, sizeof *s.next * (n + 1));
				s.next[0] = edge[k].global;
				s.next[t + 1] = edge[k].local;
				uint32_t id = vectab_add(&s.states, (const int32_t *)s.next);
				if (id != VECTAB_NONE && id >= before)
					remember(&s, id, (struct came_from){ i, t, k });
			}
		}
	}
	if (found != IR_NONE)
		make_path(&s, found, IR_NONE, 0);
	e->x = s.x; /* its tables may have grown */
	vectab_free(&s.states);
	free(s.from);
	return found != IR_NONE;
}

/*
 * A violation found by forgetting whose whole path has another explanation:
 * the part before the last fresh start is replaced by a serial execution.
 */
static void straighten(struct exact *e)
{
	struct search_result *r = e->r;
	if (!e->forget || exact_explains(e->ir, e->x.block, r->path, r->npath) != 1)
		return;
	uint32_t n = e->ir->nthreads, last = e->states.n - 1, start = e->from[last].parent, tail = 1;
	for (;; start = e->from[start].parent, tail++) {
		memcpy(e->cur, vectab_get(&e->states, start), sizeof *e->cur * (n + 2));
		if (!start || quiescent(e, e->cur))
			break;
	}
	struct move *old = r->path;
	uint32_t nold = r->npath;
	int32_t *goal = malloc(sizeof *goal * (n + 2));
	r->path = NULL;
	r->npath = 0;
	if (goal) {
		memcpy(goal, vectab_get(&e->states, start), sizeof *goal * (n + 2));
		serial_path(e, goal);
	}
	struct move *p = realloc(r->path, sizeof *p * (r->npath + tail));
	if (p) {
		memcpy(p + r->npath, old + nold - tail, sizeof *p * tail);
		r->path = p;
		r->npath += tail;
	}
	free(goal);
	free(old);
}

void exact_run(const struct ir *ir, uint32_t block, const struct search_options *o,
               struct search_result *r)
{
	struct exact e = { .o = o, .r = r };
	memset(r, 0, sizeof *r);
	e.forget = !has_choices(ir);
	if (!exact_init(&e, ir, block)) {
		give_up(&e, "memory");
	} else {
		uint32_t first = vectab_add(&e.states, (const int32_t *)e.cur);
		if (first == VECTAB_NONE || !remember(&e, first, (struct came_from){ 0, IR_NONE, 0 }))
			give_up(&e, "memory");
		for (uint32_t i = 0; i < e.states.n && r->verdict == SEARCH_HOLDS; i++) {
			if (i % 1024 == 0)
				check_limits(&e);
			if (r->verdict == SEARCH_HOLDS)
				expand(&e, i);
		}
	}
	if (r->verdict == SEARCH_HOLDS)
		check_limits(&e);
	r->states = e.states.n;
	if (r->verdict == SEARCH_WRONG)
		straighten(&e);
	exact_free(&e);
}

/* Takes a path from the initial state, into e->cur. */
static bool follow(struct exact *e, const struct move *path, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t t = path[i].thread, count, k;
		const struct prod_edge *list =
			product_step(&e->x, e->x.kind_of[t], e->cur[0], e->cur[t + 1], &count);
		for (k = 0; k < count && e->x.moves[list[k].move] != path[i].outcome; k++)
			;
		if (!list || k == count || list[k].flags)
			return false;
		struct prod_edge edge = list[k];
		if (!successor(e, t, &edge))
			return false;
		memcpy(e->cur, e->next, sizeof *e->cur * (e->ir->nthreads + 2));
	}
	return true;
}

int exact_explains(const struct ir *ir, uint32_t block, const struct move *path, uint32_t n)
{
	struct search_result r = { 0 };
	struct search_options o = { 0 };
	struct exact e = { .o = &o, .r = &r };
	int answer = -1;
	bool ok = exact_init(&e, ir, block) && follow(&e, path, n);
	if (ok && quiescent(&e, e.cur))
		answer = shadows_contain(&e.sets, e.cur[ir->nthreads + 1], e.cur);
	exact_free(&e);
	return answer;
}

static void spell_out(const struct exact *e, const int32_t *shadow, int32_t *state)
{
	const struct ir *p = e->ir;
	uint32_t plain = (uint32_t)vectab_get(&e->x.globals, (uint32_t)shadow[0])[0];
	memcpy(state, vectab_get(&e->x.plain_globals, plain), sizeof *state * p->nglobals);
	for (uint32_t i = 0; i < p->nthreads; i++) {
		const struct prod_kind *k = &e->x.kinds[e->x.kind_of[i]];
		memcpy(state + p->threads[i].frame,
		       vectab_get(&k->frames, k->info[shadow[i + 1]].frame),
		       sizeof *state * k->frames.width);
	}
}

bool exact_alternatives(const struct ir *ir, uint32_t block, const struct move *path, uint32_t n,
                        uint32_t max, int32_t **states, uint32_t *nstates)
{
	struct search_result r = { 0 };
	struct search_options o = { 0 };
	struct exact e = { .o = &o, .r = &r };
	*states = NULL;
	*nstates = 0;
	bool ok = exact_init(&e, ir, block) && follow(&e, path, n);
	if (ok) {
		uint32_t set = e.cur[ir->nthreads + 1];
		*nstates = (uint32_t)(e.sets.start[set + 1] - e.sets.start[set]);
		uint32_t count = *nstates < max ? *nstates : max;
		*states = malloc(sizeof **states * ((size_t)count * ir->nstate + 1));
		ok = *states != NULL;
		for (uint32_t i = 0; ok && i < count; i++)
			spell_out(&e, vectab_get(&e.sets.shadows, e.sets.pool[e.sets.start[set] + i]),
			          *states + (size_t)i * ir->nstate);
	}
	exact_free(&e);
	return ok;
}
