/*
 * verify: see verify.h.
 *
 * The steps of the run are gone through once more on a serial state. Before
 * each of them any block that is inside and has not taken effect may be run
 * to its end, alone; then the step: one outside every block is taken by the
 * serial state too, entering and leaving change a thread's status, a step
 * inside does nothing. All ways are tried depth first; a point of the search
 * (position, serial state, statuses) that has failed once is not tried again.
 */
#include "verdict/verify.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"

#define MAX_POINTS 20000000u /* visited */
#define MAX_DEPTH  1500u     /* recursion: steps of the run, choices in blocks */

enum { OUTSIDE, WAITING, EFFECTIVE };

struct search {
	const struct ir *p;
	const struct run *r;
	uint32_t block;
	const int32_t *goal;
	uint32_t width;      /* of a point: position, statuses, state */
	int32_t *points;     /* failed ones, one after the other */
	uint32_t npoints, cap;
	struct map index;    /* hash -> point; chained by next */
	uint32_t *next;
	uint64_t visited;
	uint32_t depth;
	bool limit;
};

static bool inside(const struct search *s, uint32_t node)
{
	uint32_t b = s->p->nodes[node].block;
	return b != IR_NONE && (s->block == VERDICT_PROGRAM || b == s->block);
}

/* Remembers the point; false when it was there already. */
static bool fresh(struct search *s, const int32_t *point)
{
	uint64_t h = 1;
	for (uint32_t i = 0; i < s->width; i++)
		h = hash64(h * 31 + (uint32_t)point[i]);
	uint32_t first = map_get(&s->index, h);
	for (uint32_t k = first; k != MAP_NONE; k = s->next[k])
		if (!memcmp(s->points + (size_t)k * s->width, point, sizeof *point * s->width))
			return false;
	if (s->npoints == s->cap) {
		uint32_t cap = s->cap ? s->cap * 2 : 256;
		int32_t *p = realloc(s->points, sizeof *p * s->width * cap);
		if (p)
			s->points = p;
		uint32_t *n = realloc(s->next, sizeof *n * cap);
		if (n)
			s->next = n;
		if (!p || !n) {
			s->limit = true;
			return false;
		}
		s->cap = cap;
	}
	memcpy(s->points + (size_t)s->npoints * s->width, point, sizeof *point * s->width);
	s->next[s->npoints] = first;
	if (!map_put(&s->index, h, s->npoints++))
		s->limit = true;
	return !s->limit;
}

static bool explain(struct search *s, const int32_t *point);

struct alone { /* trying the outcomes of one step */
	struct search *s;
	const int32_t *point;
	uint32_t thread;
	bool in_block; /* a block that runs alone; else a step outside */
	bool found;
};

static bool run_alone(struct search *s, const int32_t *point, uint32_t thread, bool in_block);

static bool outcome(void *arg, enum ir_result r, const int32_t *next, const struct ir_choices *ch,
                    const struct ir_effect *eff)
{
	struct alone *a = arg;
	struct search *s = a->s;
	(void)ch;
	(void)eff;
	if (r != IR_OK)
		return true;
	int32_t *point = malloc(sizeof *point * s->width);
	if (!point) {
		s->limit = true;
		return false;
	}
	memcpy(point, a->point, sizeof *point * (1 + s->p->nthreads));
	memcpy(point + 1 + s->p->nthreads, next, sizeof *next * s->p->nstate);
	bool in = inside(s, ir_node_of(s->p, next, a->thread));
	if (a->in_block && in) {
		a->found = run_alone(s, point, a->thread, true);
	} else if (a->in_block) {
		point[1 + a->thread] = EFFECTIVE;
		a->found = explain(s, point);
	} else if (!in) {
		point[0]++;
		a->found = explain(s, point);
	}
	free(point);
	return !a->found && !s->limit;
}

struct only { /* the one outcome of a step, if there is just one */
	int32_t *next;
	uint32_t nstate, n;
};

static bool count_outcome(void *arg, enum ir_result r, const int32_t *next,
                          const struct ir_choices *ch, const struct ir_effect *eff)
{
	struct only *o = arg;
	(void)ch;
	(void)eff;
	if (r == IR_OK && o->n++ == 0)
		memcpy(o->next, next, sizeof *next * o->nstate);
	return o->n < 2;
}

/*
 * Runs a block on while there is one way to go, so that only choices cost
 * recursion. Stops where it leaves, where it has a choice, and where it
 * cannot go on or goes round in a circle (then false: it leads nowhere).
 */
static bool run_straight(struct search *s, int32_t *state, uint32_t thread)
{
	size_t size = sizeof *state * s->p->nstate;
	int32_t *room = malloc(size * 3), *next = room, *mark = NULL, *scratch = NULL;
	bool going = room != NULL;
	s->limit |= !room;
	if (room) {
		mark = room + s->p->nstate;
		scratch = mark + s->p->nstate;
		memcpy(mark, state, size);
	}
	for (uint64_t i = 1, due = 64; going; i++) {
		struct only o = { next, s->p->nstate, 0 };
		ir_successors(s->p, state, thread, scratch, count_outcome, &o);
		if (o.n != 1 || !inside(s, ir_node_of(s->p, next, thread))) {
			going = o.n > 0;
			break;
		}
		memcpy(state, next, size);
		if (!memcmp(state, mark, size)) {
			going = false; /* a circle */
		} else if (i == due) {
			memcpy(mark, state, size);
			due *= 2;
		}
	}
	free(room);
	return going;
}

/* Takes the thread's block to its end, or one step outside, in every way. */
static bool run_alone(struct search *s, const int32_t *point, uint32_t thread, bool in_block)
{
	if (++s->depth > MAX_DEPTH) {
		s->limit = true;
		s->depth--;
		return false;
	}
	int32_t *room = malloc(sizeof *room * (s->width + s->p->nstate));
	struct alone a = { s, room, thread, in_block, false };
	s->limit |= !room;
	if (room) {
		int32_t *state = room + 1 + s->p->nthreads;
		memcpy(room, point, sizeof *room * s->width);
		if (!in_block || run_straight(s, state, thread))
			ir_successors(s->p, state, thread, room + s->width, outcome, &a);
	}
	free(room);
	s->depth--;
	return a.found;
}

/* Is the thread of the serial state about to enter the block of this node? */
static bool before_block(const struct search *s, const int32_t *state, uint32_t thread, uint32_t to)
{
	const struct ir_node *n = &s->p->nodes[ir_node_of(s->p, state, thread)];
	return n->kind == IRN_ENTER && (uint32_t)s->p->code[n->ins + 1].a == s->p->nodes[to].block;
}

static bool with_status(struct search *s, const int32_t *point, uint32_t thread, int32_t status)
{
	int32_t *next = malloc(sizeof *next * s->width);
	bool found = false;
	if (next) {
		memcpy(next, point, sizeof *next * s->width);
		next[0]++;
		if (status >= 0)
			next[1 + thread] = status;
		found = explain(s, next);
	} else {
		s->limit = true;
	}
	free(next);
	return found;
}

static bool explain(struct search *s, const int32_t *point)
{
	const struct ir *p = s->p;
	const int32_t *state = point + 1 + p->nthreads;
	if (s->limit || ++s->visited > MAX_POINTS || s->depth > MAX_DEPTH) {
		s->limit = true;
		return false;
	}
	if ((uint32_t)point[0] == s->r->nsteps)
		return !memcmp(state, s->goal, sizeof *state * p->nstate);
	if (!fresh(s, point))
		return false;
	s->depth++;
	bool found = false;
	for (uint32_t t = 0; t < p->nthreads && !found; t++)
		if (point[1 + t] == WAITING)
			found = run_alone(s, point, t, true);
	const struct run_step *e = &s->r->steps[point[0]];
	bool was = inside(s, e->node), in = inside(s, e->next);
	if (found || s->limit)
		;
	else if (was && in)
		found = with_status(s, point, e->thread, -1);
	else if (!was && in)
		found = before_block(s, state, e->thread, e->next) &&
		        with_status(s, point, e->thread, WAITING);
	else if (was)
		found = point[1 + e->thread] == EFFECTIVE && with_status(s, point, e->thread, OUTSIDE);
	else
		found = run_alone(s, point, e->thread, false);
	s->depth--;
	return found;
}

enum verify_answer verify_run(struct run *r, uint32_t block)
{
	const struct ir *p = r->ir;
	struct search s = { .p = p, .r = r, .block = block, .width = 1 + p->nthreads + p->nstate };
	int32_t *goal = malloc(sizeof *goal * p->nstate);
	int32_t *point = calloc(s.width, sizeof *point);
	enum verify_answer answer = VERIFY_LIMIT;
	map_init(&s.index);
	if (goal && point && !run_faulted(r)) {
		memcpy(goal, run_now(r), sizeof *goal * p->nstate);
		s.goal = goal;
		memcpy(point + 1 + p->nthreads, p->init, sizeof *p->init * p->nstate);
		bool quiet = true;
		for (uint32_t t = 0; t < p->nthreads; t++)
			quiet &= !inside(&s, ir_node_of(p, goal, t));
		if (!quiet)
			answer = VERIFY_OPEN;
		else if (explain(&s, point))
			answer = VERIFY_EXPLAINED;
		else
			answer = s.limit ? VERIFY_LIMIT : VERIFY_UNEXPLAINED;
	}
	map_free(&s.index);
	free(s.points);
	free(s.next);
	free(goal);
	free(point);
	return answer;
}
