/*
 * verify: see verify.h.
 *
 * First the causal order, as it is defined: a step comes after another when
 * it is a later step of the same thread, or a later one that conflicts with
 * it (both touch a variable, an element or a lock, one of them writes), and
 * so on from there: a row of bits for each step. Then the items, block
 * instances and steps outside, are made to happen one after the other on a
 * serial state, a block from its entry to its exit without a break. Every
 * order is tried, depth first, in which nothing happens before an item whose
 * last step causally precedes its first step. A point of the search (how far
 * each thread is, serial state) that has failed once is not tried again. An
 * item that touches nothing shared may happen at once.
 */
#include "verdict/verify.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/invariant.h"
#include "base/map.h"
#include "verdict/replay.h"

#define MAX_POINTS       20000000u /* visited */
#define VERIFY_MAX_DEPTH 4000u     /* recursion: items of the run, choices in blocks */
#define VERIFY_MAX_STEPS 20000u    /* of the run: the order takes a bit for each two */
#define MAX_STATES       2000000u  /* examined after a run, for a way out */
#define MAX_HALTS        200000u   /* places where blocks are */

struct verify_item {
	uint32_t thread, block; /* IR_NONE: a step outside */
	uint32_t first, last;   /* steps */
};

struct verify_search {
	const struct ir *p;
	const struct run *r;
	uint32_t block;
	const int32_t *goal;
	uint64_t *past; /* nsteps rows of `words`: the steps before a step */
	uint32_t words;
	struct verify_item *items; /* in order of their threads, then of time */
	uint32_t *start;           /* thread t's are start[t] .. start[t + 1] - 1 */
	uint32_t width;            /* of a point: items done by thread, state */
	int32_t *points;           /* failed ones, one after the other */
	uint32_t npoints, cap;
	struct map index; /* hash -> point; chained by next */
	uint32_t *next;
	uint64_t visited, most;
	uint32_t depth;
	bool limit;
	/* what verify_halt asks */
	bool ended;          /* some order has terminated */
	bool other;          /* some order stops, and not because of a block alone */
	bool waits, circles; /* some stops because a block alone waits, loops */
	struct tried {
		bool moved, astray, waits, circles;
	} now; /* at one point */
	/* what was met, when that is asked; else NULL */
	struct seqtab *ends;  /* states at the end of an order */
	struct seqtab *halts; /* a thread, and the state its block stands in, running alone: where it waits, ... */
	bool anywhere;        /* ... or anywhere on its way */
};

static bool inside(const struct verify_search *s, uint32_t node)
{
	assert(node < s->p->nnodes);
	uint32_t b = s->p->nodes[node].block;
	return b != IR_NONE && (s->block == VERDICT_PROGRAM || b == s->block);
}

/* ---- the causal order --------------------------------------------------- */

static bool only_reads(const struct ir_event *e)
{
	return !(e->mode & ~(uint32_t)(IRA_READ | IRA_READ_INV | IRA_READ_RESP));
}

static bool conflict(const struct run *r, const struct run_step *a, const struct run_step *b)
{
	for (uint32_t i = 0; i < a->nevent; i++)
		for (uint32_t k = 0; k < b->nevent; k++) {
			const struct ir_event *x = &r->events[a->event + i], *y = &r->events[b->event + k];
			if (x->var == y->var && x->elem == y->elem && !(only_reads(x) && only_reads(y)))
				return true;
		}
	return false;
}

static bool precedes(const struct verify_search *s, uint32_t a, uint32_t b)
{
	assert(a < s->r->nsteps && b < s->r->nsteps);
	return s->past[(size_t)b * s->words + a / 64] >> a % 64 & 1;
}

static bool causal_order(struct verify_search *s)
{
	assert(!s->past);
	const struct run *r = s->r;
	s->words = r->nsteps / 64 + 1;
	if (r->nsteps > VERIFY_MAX_STEPS)
		return false;
	s->past = calloc((size_t)s->words * (r->nsteps + 1), sizeof *s->past);
	for (uint32_t b = 0; s->past && b < r->nsteps; b++) {
		uint64_t *row = s->past + (size_t)b * s->words;
		if (r->steps[b].cut)
			return false;
		for (uint32_t a = b; a-- > 0;) {
			const struct run_step *x = &r->steps[a], *y = &r->steps[b];
			if (precedes(s, a, b) || (x->thread != y->thread && !conflict(r, x, y)))
				continue;
			row[a / 64] |= (uint64_t)1 << a % 64;
			for (uint32_t w = 0; w < s->words; w++)
				row[w] |= s->past[(size_t)a * s->words + w];
		}
	}
	return s->past != NULL;
}

static bool make_items(struct verify_search *s)
{
	const struct run *r = s->r;
	uint32_t n = 0;
	s->items = calloc(r->nsteps + 1, sizeof *s->items);
	s->start = calloc(s->p->nthreads + 1, sizeof *s->start);
	if (!s->items || !s->start)
		return false;
	for (uint32_t t = 0; t < s->p->nthreads; t++) {
		s->start[t] = n;
		for (uint32_t i = 0; i < r->nsteps; i++) {
			const struct run_step *e = &r->steps[i];
			if (e->thread != t)
				continue;
			bool in = inside(s, e->next);
			if (!inside(s, e->node))
				s->items[n++] = (struct verify_item){ t, in ? s->p->nodes[e->next].block : IR_NONE, i, i };
			else
				s->items[n - 1].last = i;
		}
	}
	s->start[s->p->nthreads] = n;
	assert(n <= r->nsteps);
	return true;
}

/* The thread's next item when it may happen now, else NULL. */
static const struct verify_item *may_happen(const struct verify_search *s, const int32_t *point, uint32_t thread)
{
	assert(thread < s->p->nthreads);
	uint32_t at = s->start[thread] + (uint32_t)point[thread];
	assert(at <= s->start[thread + 1]);
	if (at == s->start[thread + 1])
		return NULL;
	for (uint32_t u = 0; u < s->p->nthreads; u++) {
		uint32_t other = s->start[u] + (uint32_t)point[u];
		if (u != thread && other < s->start[u + 1] && precedes(s, s->items[other].last, s->items[at].first))
			return NULL;
	}
	return &s->items[at];
}

/* ---- trying ------------------------------------------------------------- */

/* Remembers the point; false when it was there already. */
static bool fresh(struct verify_search *s, const int32_t *point)
{
	assert(s->npoints <= s->cap);
	uint64_t h = 1;
	for (uint32_t i = 0; i < s->width; i++)
		h = hash64(h * 31 + (uint32_t)point[i]);
	uint32_t first = map_get(&s->index, h);
	for (uint32_t k = first; k != MAP_NONE; k = s->next[k])
		if (!memcmp(s->points + (size_t)k * s->width, point, sizeof *point * s->width))
			return false;
	uint32_t cap = s->cap;
	if (!GROW_AS(GROW_UNSET, NULL, s->points, cap, s->npoints + 1ull, s->width) ||
	    !GROW_RAW(s->next, s->cap, s->npoints + 1ull)) {
		s->limit = true;
		return false;
	}
	memcpy(s->points + (size_t)s->npoints * s->width, point, sizeof *point * s->width);
	s->next[s->npoints] = first;
	if (!map_put(&s->index, h, s->npoints++))
		s->limit = true;
	return !s->limit;
}

static bool explain(struct verify_search *s, const int32_t *point);

struct verify_alone { /* trying the outcomes of one step */
	struct verify_search *s;
	const int32_t *point;
	uint32_t thread;
	bool in_block; /* a block that runs alone; else a step outside */
	bool found;
};

static bool run_alone(struct verify_search *s, const int32_t *point, uint32_t thread, bool in_block);

static bool outcome(void *arg, enum ir_result r, const int32_t *next, const struct ir_choices *ch, const struct ir_effect *eff)
{
	struct verify_alone *a = arg;
	struct verify_search *s = a->s;
	(void)ch;
	if (r != IR_OK) {
		s->limit |= eff->fault == IRF_LIMIT;
		s->now.astray = true;
		return !s->limit;
	}
	int32_t *point = malloc(sizeof *point * s->width);
	if (!point) {
		s->limit = true;
		return false;
	}
	memcpy(point, a->point, sizeof *point * s->p->nthreads);
	memcpy(point + s->p->nthreads, next, sizeof *next * s->p->nstate);
	bool in = inside(s, ir_node_of(s->p, next, a->thread));
	if (a->in_block && in) {
		a->found = run_alone(s, point, a->thread, true);
	} else if (!in) {
		point[a->thread]++;
		ir_clear_dead(s->p, point + s->p->nthreads);
		a->found = explain(s, point);
		s->now.moved = true;
	} else {
		s->now.astray = true; /* it enters a block instead */
	}
	free(point);
	return !a->found && !s->limit;
}

struct only { /* the one outcome of a step, if there is just one */
	int32_t *next;
	uint32_t nstate, n;
	bool limit;
};

static bool count_outcome(void *arg, enum ir_result r, const int32_t *next, const struct ir_choices *ch,
                          const struct ir_effect *eff)
{
	struct only *o = arg;
	(void)ch;
	o->limit |= r == IR_FAULT && eff->fault == IRF_LIMIT;
	if (r == IR_OK && o->n++ == 0)
		memcpy(o->next, next, sizeof *next * o->nstate);
	return o->n < 2;
}

/* Keeps where the thread's block is. */
static void note_halt(struct verify_search *s, const int32_t *state, uint32_t thread)
{
	assert(s->halts && thread < s->p->nthreads);
	int32_t *both = malloc((s->p->nstate + 1ull) * sizeof *both);
	if (both) {
		both[0] = (int32_t)thread;
		memcpy(both + 1, state, s->p->nstate * sizeof *both);
	}
	s->limit |= !both || seqtab_add(s->halts, both, s->p->nstate + 1) == SEQTAB_NONE || s->halts->n > MAX_HALTS;
	free(both);
}

/*
 * Runs a block on while there is one way to go, so that only choices cost
 * recursion. Stops where it leaves, where it has a choice, and where it
 * cannot continue or loops (then false: it leads nowhere).
 */
static bool run_straight(struct verify_search *s, int32_t *state, uint32_t thread)
{
	assert(thread < s->p->nthreads);
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
		struct only o = { next, s->p->nstate, 0, false };
		uint32_t all = ir_successors(s->p, state, thread, scratch, count_outcome, &o);
		s->limit |= o.limit;
		s->now.waits |= !all;
		s->now.astray |= all && !o.n;
		if (s->halts && (s->anywhere || !all))
			note_halt(s, state, thread);
		if (o.n != 1 || !inside(s, ir_node_of(s->p, next, thread))) {
			going = o.n > 0;
			break;
		}
		memcpy(state, next, size);
		if (!memcmp(state, mark, size)) {
			going = false;
			s->now.circles = true;
		} else if (i == due) {
			memcpy(mark, state, size);
			due *= 2;
		}
	}
	free(room);
	return going;
}

/* Takes the thread's block to its end, or one step outside, in every way. */
static bool run_alone(struct verify_search *s, const int32_t *point, uint32_t thread, bool in_block)
{
	if (++s->depth > VERIFY_MAX_DEPTH) {
		s->limit = true;
		s->depth--;
		return false;
	}
	int32_t *room = malloc(sizeof *room * (s->width + s->p->nstate));
	struct verify_alone a = { s, room, thread, in_block, false };
	s->limit |= !room;
	if (room) {
		int32_t *state = room + s->p->nthreads;
		memcpy(room, point, sizeof *room * s->width);
		if (!in_block || run_straight(s, state, thread))
			ir_successors(s->p, state, thread, room + s->width, outcome, &a);
	}
	free(room);
	s->depth--;
	assert(s->depth < VERIFY_MAX_DEPTH);
	return a.found;
}

/* Is the thread of the serial state about to enter this block? */
static bool before_block(const struct verify_search *s, const int32_t *state, uint32_t thread, uint32_t block)
{
	assert(thread < s->p->nthreads && block < s->p->nblocks);
	const struct ir_node *n = &s->p->nodes[ir_node_of(s->p, state, thread)];
	return n->kind == IRN_ENTER && (uint32_t)s->p->code[n->ins + 1].a == block;
}

static bool happen(struct verify_search *s, const int32_t *point, const struct verify_item *it)
{
	assert(it >= s->items && it->thread < s->p->nthreads);
	if (it->block == IR_NONE)
		return run_alone(s, point, it->thread, false);
	if (before_block(s, point + s->p->nthreads, it->thread, it->block))
		return run_alone(s, point, it->thread, true);
	s->now.astray = true;
	return false;
}

/* An item that may happen and touches nothing shared: it commutes with all. */
static const struct verify_item *harmless(const struct verify_search *s, const int32_t *point)
{
	for (uint32_t t = 0; t < s->p->nthreads; t++) {
		const struct verify_item *it = may_happen(s, point, t);
		uint32_t node = ir_node_of(s->p, point + s->p->nthreads, t);
		if (it && it->block == IR_NONE && !s->p->nodes[node].naccess)
			return it;
	}
	return NULL;
}

static bool explain(struct verify_search *s, const int32_t *point)
{
	const struct ir *p = s->p;
	bool found = false, done = true;
	if (s->limit || ++s->visited > s->most || s->depth > VERIFY_MAX_DEPTH) {
		s->limit = true;
		return false;
	}
	for (uint32_t t = 0; t < p->nthreads; t++)
		done &= s->start[t] + (uint32_t)point[t] == s->start[t + 1];
	s->ended |= done;
	if (done && s->ends)
		s->limit |= seqtab_add(s->ends, point + p->nthreads, p->nstate) == SEQTAB_NONE;
	if (done)
		return !memcmp(point + p->nthreads, s->goal, sizeof *point * p->nstate);
	if (!fresh(s, point))
		return false;
	s->depth++;
	struct tried before = s->now;
	s->now = (struct tried){ 0 };
	const struct verify_item *first = harmless(s, point);
	if (first)
		found = happen(s, point, first);
	for (uint32_t t = 0; t < p->nthreads && !first && !found && !s->limit; t++) {
		const struct verify_item *it = may_happen(s, point, t);
		if (it)
			found = happen(s, point, it);
	}
	if (!s->now.moved) {
		s->other |= s->now.astray || !(s->now.waits || s->now.circles);
		s->waits |= s->now.waits;
		s->circles |= s->now.circles;
	}
	s->now = before;
	s->depth--;
	return found;
}

static enum verify_run_answer answer(struct verify_search *s, int32_t *goal, int32_t *point)
{
	const struct ir *p = s->p;
	memcpy(goal, run_now(s->r), sizeof *goal * p->nstate);
	for (uint32_t t = 0; t < p->nthreads; t++)
		if (inside(s, ir_node_of(p, goal, t)))
			return VERIFY_OPEN;
	ir_clear_dead(p, goal);
	s->goal = goal;
	memcpy(point + p->nthreads, p->init, sizeof *p->init * p->nstate);
	ir_clear_dead(p, point + p->nthreads);
	if (!causal_order(s) || !make_items(s))
		return VERIFY_LIMIT;
	if (explain(s, point))
		return VERIFY_EXPLAINED;
	return s->limit ? VERIFY_LIMIT : VERIFY_UNEXPLAINED;
}

/* `s` has what is to be kept on the way. */
static enum verify_run_answer ask(struct run *r, uint32_t block, struct verify_search *s, uint64_t points)
{
	assert(block == VERDICT_PROGRAM || block < r->ir->nblocks);
	const struct ir *p = r->ir;
	s->p = p;
	s->r = r;
	s->block = block;
	s->width = p->nthreads + p->nstate;
	s->most = points ? points : MAX_POINTS;
	int32_t *goal = malloc(sizeof *goal * (p->nstate + 1));
	int32_t *point = calloc(s->width + 1, sizeof *point);
	enum verify_run_answer a = VERIFY_LIMIT;
	map_init(&s->index);
	if (goal && point && !run_faulted(r))
		a = answer(s, goal, point);
	map_free(&s->index);
	free(s->past);
	free(s->items);
	free(s->start);
	free(s->points);
	free(s->next);
	free(goal);
	free(point);
	return a;
}

enum verify_run_answer verify_run(struct run *r, uint32_t block)
{
	struct verify_search s = { 0 };
	return ask(r, block, &s, 0);
}

enum verify_run_answer verify_path(const struct ir *p, uint32_t block, const struct move *path, uint32_t n, uint64_t points)
{
	enum verify_run_answer a = VERIFY_LIMIT;
	struct verify_search s = { 0 };
	struct run r;
	if (run_init(&r, p) && replay(&r, path, n))
		a = ask(&r, block, &s, points);
	run_free(&r);
	return a;
}

enum verify_run_answer verify_halt(struct run *r, uint32_t block, enum verdict_problem problem)
{
	assert(problem == PROBLEM_STUCK || problem == PROBLEM_ENDLESS);
	struct verify_search s = { 0 };
	enum verify_run_answer a = ask(r, block, &s, 0);
	if (a != VERIFY_UNEXPLAINED)
		return a;
	bool holds = !s.ended && !s.other && (problem == PROBLEM_STUCK ? s.waits : s.circles);
	return holds ? VERIFY_UNEXPLAINED : VERIFY_EXPLAINED;
}

enum verify_run_answer verify_ends(struct run *r, uint32_t block, struct seqtab *ends)
{
	struct verify_search s = { .ends = ends };
	return ask(r, block, &s, 0);
}

enum verify_run_answer verify_halts(struct run *r, uint32_t block, enum verdict_problem problem, struct seqtab *halts)
{
	struct verify_search s = { .halts = halts, .anywhere = problem == PROBLEM_ENDLESS };
	return ask(r, block, &s, 0);
}

/* ---- no way out --------------------------------------------------------- */

struct going_on {
	struct verify_search *s;
	uint32_t property; /* IR_NONE: all threads outside their blocks */
	bool out;          /* such a state, or a fault: no claim about such runs */
};

static bool is_goal(const struct going_on *g, const int32_t *state)
{
	const struct ir *p = g->s->p;
	return g->property == IR_NONE ? ir_quiescent(p, state) : ir_property_holds(p, g->property, state);
}

static bool go_on(void *arg, enum ir_result r, const int32_t *next, const struct ir_choices *ch, const struct ir_effect *eff)
{
	struct going_on *g = arg;
	(void)ch;
	g->s->limit |= r == IR_FAULT && eff->fault == IRF_LIMIT;
	g->out |= r != IR_OK || is_goal(g, next);
	if (!g->out)
		fresh(g->s, next);
	return !g->out && !g->s->limit;
}

/* Can a goal be reached from the end of the run? */
static enum verify_run_answer search_goal(struct run *r, uint32_t property)
{
	const struct ir *p = r->ir;
	struct verify_search s = { .p = p, .r = r, .block = VERDICT_PROGRAM, .width = p->nstate };
	struct going_on g = { .s = &s, .property = property };
	int32_t *state = malloc(sizeof *state * 2 * (p->nstate + 1));
	g.out = run_faulted(r) || is_goal(&g, run_now(r));
	map_init(&s.index);
	s.limit = !state;
	if (state)
		fresh(&s, run_now(r));
	for (uint32_t i = 0; i < s.npoints && !s.limit && !g.out; i++) {
		memcpy(state, s.points + (size_t)i * s.width, sizeof *state * p->nstate);
		for (uint32_t t = 0; t < p->nthreads && !g.out && !s.limit; t++)
			ir_successors(p, state, t, state + p->nstate, go_on, &g);
		s.limit |= s.npoints > MAX_STATES;
	}
	map_free(&s.index);
	free(s.points);
	free(s.next);
	free(state);
	return g.out ? VERIFY_EXPLAINED : s.limit ? VERIFY_LIMIT : VERIFY_UNEXPLAINED;
}

enum verify_run_answer verify_quiescence(struct run *r)
{
	return search_goal(r, IR_NONE);
}

enum verify_run_answer verify_out_of_reach(struct run *r, uint32_t property)
{
	assert(property < r->ir->nproperties);
	return search_goal(r, property);
}
