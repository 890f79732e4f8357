#include "explore/exact.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/clock.h"
#include "base/invariant.h"
#include "explore/serializable.h"
#include "explore/serial.h"
#include "explore/shadows.h"
#include "explore/step_access.h"

#define SERIAL_MAX      200000u  /* states looked at for a serial way to a state */
#define DELAYED_STATES  2000000u /* of one search with lag */
#define SHORTEN_STATES  30000u
#define SHORTEN_SECONDS 2

struct came_from {
	uint32_t parent, thread, edge; /* thread: its position in the parent */
};

struct exact {
	const struct ir *ir;
	const struct search_options *o;
	struct product x;
	struct shadow_sets sets;
	struct step_access touch;
	struct vector_table states; /* globals, locals, set */
	struct came_from *from;
	uint32_t cap_from;
	uint32_t *cur, *next;
	uint32_t *first, *last; /* by position: its group of identical threads */
	uint32_t *order;        /* a permutation */
	struct search_result *r;
	bool forget;    /* explained quiescent states restart */
	uint32_t fresh; /* of a suspicion: moves before the last such start */
};

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
	return (uint32_t)vector_table_get(&k->frames, k->info[local].frame)[0];
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
	if (e->x.out_of_memory || e->sets.out_of_memory || e->touch.out_of_memory)
		give_up(e, "memory");
	if (e->touch.limit)
		give_up(e, "step");
	if (e->sets.limit)
		give_up(e, e->sets.lag ? "lag" : "shadows");
}

/* ---- successors --------------------------------------------------------- */

/* The state after an edge of a thread, in e->next. False on trouble. */
static bool successor(struct exact *e, uint32_t thread, const struct prod_edge *edge)
{
	assert(thread < e->ir->nthreads && !edge->flags);
	uint32_t n = e->ir->nthreads;
	uint32_t from = node_of(e, thread, e->cur[thread + 1]);
	uint32_t to = node_of(e, thread, edge->local);
	struct shadow_step s = { .thread = thread, .event = shadows_event(&e->x, from, to) };
	s.block = e->ir->nodes[s.event == SHADOW_ENTER ? to : from].block;
	assert((s.event != SHADOW_ENTER && s.event != SHADOW_LEAVE) || s.block < e->ir->nblocks);
	if (e->sets.lag)
		s.touch = step_access_of(&e->touch, e->x.kind_of[thread], e->cur[0], e->cur[thread + 1], edge, &s.ntouch);
	memcpy(e->next, e->cur, sizeof *e->next * (n + 2));
	e->next[0] = edge->global;
	e->next[thread + 1] = edge->local;
	e->next[n + 1] = shadows_step(&e->sets, e->cur[n + 1], &s);
	trouble(e);
	return e->r->verdict == SEARCH_HOLDS;
}

/*
 * Puts the thread that has moved where its local state belongs in its sorted
 * group. *who (when given) are the names of the threads, taken along.
 */
static void sort_thread(struct exact *e, uint32_t *ids, uint32_t pos, uint32_t *who)
{
	uint32_t n = e->ir->nthreads, i = pos, v = ids[pos + 1], name = who ? who[pos] : 0;
	for (uint32_t k = 0; k < n; k++)
		e->order[k] = k;
	for (; i > e->first[pos] && ids[i] > v; i--) {
		ids[i + 1] = ids[i];
		e->order[i - 1] = i;
		if (who)
			who[i] = who[i - 1];
	}
	for (; i < e->last[pos] && ids[i + 2] < v; i++) {
		ids[i + 1] = ids[i + 2];
		e->order[i + 1] = i;
		if (who)
			who[i] = who[i + 1];
	}
	ids[i + 1] = v;
	if (who)
		who[i] = name;
	e->order[pos] = i;
	assert(i >= e->first[pos] && i <= e->last[pos]);
	assert((i == e->first[pos] || ids[i] <= v) && (i == e->last[pos] || v <= ids[i + 2])); /* the group is sorted */
	if (i != pos && !who)
		ids[n + 1] = shadows_permute(&e->sets, ids[n + 1], e->order);
}

/* Do the thread and its left neighbour play the same part here? */
static bool as_before(struct exact *e, uint32_t t)
{
	uint32_t n = e->ir->nthreads;
	if (t == e->first[t] || e->cur[t + 1] != e->cur[t])
		return false;
	for (uint32_t k = 0; k < n; k++)
		e->order[k] = k;
	e->order[t] = t - 1;
	e->order[t - 1] = t;
	return shadows_permute(&e->sets, e->cur[n + 1], e->order) == e->cur[n + 1];
}

static bool remember(struct exact *e, uint32_t id, struct came_from from)
{
	if (!GROW_RAW(e->from, e->cap_from, id + 1ull))
		return false;
	assert(id < e->cap_from && from.parent <= id && (from.thread == IR_NONE) == !id);
	e->from[id] = from;
	return true;
}

/* ---- paths -------------------------------------------------------------- */

static bool add_move(struct search_result *r, struct move m)
{
	struct move *p = realloc(r->path, sizeof *p * (r->npath + 1));
	if (!p)
		return false;
	r->path = p;
	p[r->npath++] = m;
	return true;
}

/* The initial state, into ids. */
static void start_state(struct exact *e, uint32_t *ids)
{
	ids[0] = product_initial_global(&e->x);
	for (uint32_t i = 0; i < e->ir->nthreads; i++)
		ids[i + 1] = product_initial_local(&e->x, i);
}

/* From the initial state to `state`, then one more move when thread is given;
 * e->fresh is the number of moves to the last quiescent state before. */
static bool make_path(struct exact *e, uint32_t state, uint32_t thread, uint32_t edge)
{
	uint32_t n = 0, *who = calloc(e->ir->nthreads + 1, sizeof *who);
	for (uint32_t i = state; i; i = e->from[i].parent)
		n++;
	struct came_from *steps = calloc(n + 2, sizeof *steps);
	bool ok = who && steps;
	for (uint32_t i = state, k = n; ok && k; i = e->from[i].parent)
		steps[--k] = e->from[i];
	if (ok && thread != IR_NONE)
		steps[n++] = (struct came_from){ 0, thread, edge };
	for (uint32_t i = 0; ok && i < e->ir->nthreads; i++)
		who[i] = i;
	if (ok)
		start_state(e, e->cur);
	for (uint32_t i = 0; ok && i < n; i++) {
		uint32_t t = steps[i].thread, count;
		const struct prod_edge *list = product_step(&e->x, e->x.kind_of[t], e->cur[0], e->cur[t + 1], &count);
		if (quiescent(e, e->cur))
			e->fresh = i;
		ok = list && add_move(e->r, (struct move){ who[t], e->x.moves[list[steps[i].edge].move] });
		if (!ok)
			break;
		e->cur[0] = list[steps[i].edge].global;
		e->cur[t + 1] = list[steps[i].edge].local;
		sort_thread(e, e->cur, t, who);
	}
	assert(!ok || e->r->npath == n);
	free(who);
	free(steps);
	return ok;
}

static void found(struct exact *e, enum search_verdict v, uint32_t state, uint32_t thread, uint32_t edge)
{
	assert(v != SEARCH_HOLDS && v != SEARCH_LIMIT);
	if (e->r->verdict != SEARCH_HOLDS)
		return;
	if (make_path(e, state, thread, edge))
		e->r->verdict = v;
	else
		give_up(e, "memory");
}

/* ---- the search --------------------------------------------------------- */

static bool insert(struct exact *e, uint32_t parent, uint32_t thread, uint32_t edge)
{
	uint32_t before = e->states.n, *set = &e->next[e->ir->nthreads + 1];
	sort_thread(e, e->next, thread, NULL);
	bool quiet = quiescent(e, e->next);
	bool explained = !quiet || shadows_contain(&e->sets, *set, e->next);
	if (quiet && explained && e->forget)
		*set = shadows_initial(&e->sets, e->next);
	assert(*set < e->sets.sets.n);
	uint32_t id = vector_table_add(&e->states, (const int32_t *)e->next);
	if (id == VECTOR_TABLE_NONE || (id >= before && !remember(e, id, (struct came_from){ parent, thread, edge }))) {
		give_up(e, "memory");
		return false;
	}
	trouble(e);
	if (!explained)
		found(e, SEARCH_WRONG, id, IR_NONE, 0);
	return e->r->verdict == SEARCH_HOLDS;
}

static bool expand(struct exact *e, uint32_t id)
{
	assert(id < e->states.n);
	bool moved = false, finished = true;
	memcpy(e->cur, vector_table_get(&e->states, id), sizeof *e->cur * (e->ir->nthreads + 2));
	for (uint32_t t = 0; t < e->ir->nthreads; t++) {
		uint32_t n;
		finished &= e->ir->nodes[node_of(e, t, e->cur[t + 1])].kind == IRN_END;
		if (as_before(e, t))
			continue;
		product_step(&e->x, e->x.kind_of[t], e->cur[0], e->cur[t + 1], &n);
		for (uint32_t k = 0; k < n; k++) {
			/* looked up again: inserting may move the edges */
			const struct prod_edge *list = product_step(&e->x, e->x.kind_of[t], e->cur[0], e->cur[t + 1], &n);
			if (!list)
				break;
			struct prod_edge edge = list[k];
			moved = true;
			e->r->transitions++;
			if (edge.flags & PRODF_LIMIT)
				give_up(e, "step");
			else if (edge.flags && e->o->faults)
				found(e, SEARCH_FAULT, id, t, k);
			else if (!edge.flags && successor(e, t, &edge))
				insert(e, id, t, k);
			if (e->r->verdict != SEARCH_HOLDS)
				return false;
		}
		trouble(e);
	}
	if (!moved && !finished && e->o->deadlock)
		found(e, SEARCH_DEADLOCK, id, IR_NONE, 0);
	return e->r->verdict == SEARCH_HOLDS;
}

static void check_limits(struct exact *e)
{
	const struct search_options *o = e->o;
	e->r->bytes = vector_table_bytes(&e->states) + shadows_bytes(&e->sets) + seqtab_bytes(&e->touch.lists) +
	              e->cap_from * sizeof *e->from + product_bytes(&e->x);
	if (o->max_states && e->r->states + e->states.n > o->max_states)
		give_up(e, "states");
	if (e->sets.lag && e->states.n > DELAYED_STATES)
		give_up(e, "lag");
	if (o->max_bytes && e->r->bytes > o->max_bytes)
		give_up(e, "memory");
	if (o->deadline > 0 && clock_seconds() > o->deadline)
		give_up(e, "time");
	if (checkpoint_stopping(o->checkpoint))
		give_up(e, "interrupt");
	if (o->progress)
		o->progress(o->progress_arg, e->states.n, e->r->transitions, e->r->depth, e->r->bytes);
}

static void make_groups(struct exact *e)
{
	uint32_t n = e->ir->nthreads;
	for (uint32_t i = 0; i < n; i++) {
		bool joins = i && e->o->symmetry && e->x.kind_of[i] == e->x.kind_of[i - 1];
		e->first[i] = joins ? e->first[i - 1] : i;
	}
	for (uint32_t i = n; i-- > 0;)
		e->last[i] = i + 1 < n && e->first[i + 1] == e->first[i] ? e->last[i + 1] : i;
}

static bool exact_init(struct exact *e, uint32_t block, uint32_t lag)
{
	uint32_t n = e->ir->nthreads;
	bool ok = product_init(&e->x, e->ir, PROD_STANDARD, block, NULL);
	ok = shadows_init(&e->sets, &e->x, lag) && ok;
	ok = step_access_init(&e->touch, &e->x) && ok;
	vector_table_init(&e->states, n + 2);
	e->cur = calloc(n + 2, sizeof *e->cur);
	e->next = calloc(n + 2, sizeof *e->next);
	e->first = calloc(n + 1, sizeof *e->first);
	e->last = calloc(n + 1, sizeof *e->last);
	e->order = calloc(n + 1, sizeof *e->order);
	if (!ok || !e->cur || !e->next || !e->first || !e->last || !e->order)
		return false;
	make_groups(e);
	start_state(e, e->cur);
	e->cur[n + 1] = shadows_initial(&e->sets, e->cur);
	uint32_t id = vector_table_add(&e->states, (const int32_t *)e->cur);
	return !e->x.out_of_memory && !e->sets.out_of_memory && id != VECTOR_TABLE_NONE &&
	       remember(e, id, (struct came_from){ 0, IR_NONE, 0 });
}

static void exact_free(struct exact *e)
{
	shadows_free(&e->sets);
	step_access_free(&e->touch);
	product_free(&e->x);
	vector_table_free(&e->states);
	free(e->from);
	free(e->cur);
	free(e->next);
	free(e->first);
	free(e->last);
	free(e->order);
}

/* ---- suspicions --------------------------------------------------------- */

/* The local ids after the first n moves, into e->cur. */
static bool follow(struct exact *e, const struct move *path, uint32_t n)
{
	start_state(e, e->cur);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t t = path[i].thread, count, k;
		const struct prod_edge *list = product_step(&e->x, e->x.kind_of[t], e->cur[0], e->cur[t + 1], &count);
		for (k = 0; k < count && e->x.moves[list[k].move] != path[i].outcome; k++)
			;
		assert(!list || k <= count);
		if (!list || k == count || list[k].flags)
			return false;
		e->cur[0] = list[k].global;
		e->cur[t + 1] = list[k].local;
	}
	return true;
}

/* Replaces what came before the last fresh start by a serial execution. */
static bool straighten(struct exact *e)
{
	assert(e->fresh <= e->r->npath);
	struct search_result *r = e->r;
	struct move *before;
	uint32_t n, tail = r->npath - e->fresh;
	if (!follow(e, r->path, e->fresh) || !serial_path(&e->x, e->cur, SERIAL_MAX, &before, &n))
		return false;
	struct move *p = realloc(before, sizeof *p * (n + tail));
	if (!p) {
		free(before);
		return false;
	}
	memcpy(p + n, r->path + e->fresh, sizeof *p * tail);
	free(r->path);
	r->path = p;
	r->npath = n + tail;
	return true;
}

enum next { DONE, MORE_LAG, NO_FORGETTING };

/* What the tables leave of the memory, for judging one run; at least a little. */
static uint64_t left_for_one(const struct exact *e)
{
	uint64_t all = e->o->max_bytes, least = all / 16 + 1;
	if (!all)
		return 0;
	return e->r->bytes + least < all ? all - e->r->bytes : least;
}

/* Decides the path of a suspicion, and what to do if it is refuted. */
static enum next suspicion(struct exact *e)
{
	assert(e->r->verdict == SEARCH_WRONG && e->r->npath);
	struct search_result *r = e->r;
	const struct ir *p = e->ir;
	enum next next = MORE_LAG;
	int whole = serializable_path(p, e->x.block, r->path, r->npath, 0, left_for_one(e)), tail = 1;
	if (whole == 1 && e->forget && e->fresh) {
		tail = serializable_path(p, e->x.block, r->path, r->npath, e->fresh, left_for_one(e));
		if (tail == 0) {
			next = NO_FORGETTING;
			if (straighten(e) && serializable_path(p, e->x.block, r->path, r->npath, 0, left_for_one(e)) == 0)
				whole = 0;
		}
	}
	if (whole == 0)
		return DONE;
	search_result_free(r);
	r->npath = 0;
	r->verdict = SEARCH_HOLDS;
	if (whole == 1 && tail >= 0)
		return next;
	give_up(e, "orders");
	return DONE;
}

/* One search; what it cannot decide is left to the next one. */
static enum next search(const struct ir *ir, uint32_t block, const struct search_options *o, uint32_t lag, bool forget,
                        struct search_result *r)
{
	struct exact e = { .ir = ir, .o = o, .r = r, .forget = forget };
	enum next next = DONE;
	r->verdict = SEARCH_HOLDS;
	if (!exact_init(&e, block, lag)) {
		give_up(&e, "memory");
	} else {
		for (uint32_t i = 0; i < e.states.n && r->verdict == SEARCH_HOLDS; i++) {
			if (i % 64 == 0) /* one with many shadows takes its time */
				check_limits(&e);
			if (r->verdict == SEARCH_HOLDS)
				expand(&e, i);
		}
		if (r->verdict == SEARCH_HOLDS)
			check_limits(&e);
		if (r->verdict == SEARCH_WRONG)
			next = suspicion(&e);
	}
	r->states += e.states.n;
	assert(next == DONE || r->verdict == SEARCH_HOLDS);
	assert(r->verdict == SEARCH_LIMIT ? r->limit != NULL : r->verdict == SEARCH_HOLDS || r->path || !r->npath);
	exact_free(&e);
	return next;
}

/* With more lag, and without forgetting, as long as suspicions are refuted. */
static void decide(const struct ir *ir, uint32_t block, const struct search_options *o, struct search_result *r)
{
	uint32_t lag = 0;
	bool forget = true;
	for (;;) {
		enum next next = search(ir, block, o, lag, forget, r);
		if (next == DONE)
			return;
		if (next == NO_FORGETTING) {
			forget = false;
		} else if (lag < SHADOWS_LAG_MAX && ir->nthreads <= DELAYED_THREADS) {
			lag = lag ? lag * 2 : 1;
		} else {
			r->verdict = SEARCH_LIMIT;
			r->limit = "lag";
			return;
		}
	}
}

void exact_run(const struct ir *ir, uint32_t block, const struct search_options *o, struct search_result *r)
{
	struct checkpoint_key key = { 0 };
	memset(r, 0, sizeof *r);
	if (o->checkpoint)
		key = checkpoint_key_of(CHECKPOINT_EXACT, ir, PROD_STANDARD, block, NULL, o);
	if (checkpoint_recall(o->checkpoint, key, r))
		return;
	decide(ir, block, o, r);
	checkpoint_record(o->checkpoint, key, r);
}

int exact_explains(const struct ir *ir, uint32_t block, const struct move *path, uint32_t n, uint64_t bytes)
{
	return serializable_path(ir, block, path, n, 0, bytes);
}

bool exact_alternatives(const struct ir *ir, uint32_t block, const struct move *path, uint32_t n, uint32_t max, uint64_t bytes,
                        int32_t **states, uint32_t *nstates)
{
	return serializable_ends(ir, block, path, n, max, bytes, states, nstates);
}

void exact_shorten(const struct ir *ir, uint32_t block, double deadline, uint64_t bytes, struct move **path, uint32_t *n)
{
	struct search_options o = {
		.symmetry = true, .max_states = SHORTEN_STATES, .max_bytes = bytes, .deadline = clock_seconds() + SHORTEN_SECONDS
	};
	struct search_result r;
	if (deadline > 0 && deadline < o.deadline)
		o.deadline = deadline;
	exact_run(ir, block, &o, &r);
	if (r.verdict == SEARCH_WRONG && r.npath < *n) {
		struct move *old = *path;
		*path = r.path;
		*n = r.npath;
		r.path = old;
	}
	search_result_free(&r);
}

enum verdict_problem exact_stuck(const struct ir *ir, uint32_t block, const struct move *path, uint32_t n, uint64_t bytes,
                                 uint32_t *thread, int32_t **state)
{
	return serializable_stuck(ir, block, path, n, bytes, thread, state);
}
