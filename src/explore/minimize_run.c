#include "explore/minimize_run.h"

#include <stdlib.h>
#include <string.h>

#include "explore/serializable.h"
#include "explore/vector_table.h"
#include "verdict/replay.h"

uint32_t minimize_run_switches(const struct move *path, uint32_t n)
{
	uint32_t count = 0;
	for (uint32_t i = 1; i < n; i++)
		count += path[i].thread != path[i - 1].thread;
	return count;
}

/* ---- reordering --------------------------------------------------------- */

struct tidy_way { /* to a point */
	uint32_t from, switches;
};

struct tidy_order {
	const struct run *r;
	uint32_t n;                 /* threads */
	uint32_t *of, *start;       /* of[start[t] + k]: the k-th step of thread t */
	uint32_t *after;            /* step x thread: steps of it that come before */
	struct vector_table points; /* how far each thread is, who moved last + 1 */
	struct tidy_way *ways;
	uint32_t cap;
	bool failed;
};

static bool is_write(uint32_t mode)
{
	return mode & ~(uint32_t)(IRA_READ | IRA_READ_INV | IRA_READ_RESP);
}

static bool conflict(const struct run *r, const struct run_step *a, const struct run_step *b)
{
	for (uint32_t i = 0; i < a->nevent; i++)
		for (uint32_t k = 0; k < b->nevent; k++) {
			const struct ir_event *x = &r->events[a->event + i], *y = &r->events[b->event + k];
			if (x->var == y->var && x->elem == y->elem && (is_write(x->mode) || is_write(y->mode)))
				return true;
		}
	return a->fault != IRF_NONE || b->fault != IRF_NONE || a->cut || b->cut;
}

static bool make_order(struct tidy_order *o)
{
	const struct run *r = o->r;
	o->of = calloc(r->nsteps + 1, sizeof *o->of);
	o->start = calloc(o->n + 1, sizeof *o->start);
	o->after = calloc((size_t)r->nsteps * o->n + 1, sizeof *o->after);
	if (!o->of || !o->start || !o->after)
		return false;
	for (uint32_t t = 0, at = 0; t < o->n; t++) {
		o->start[t] = at;
		for (uint32_t i = 0; i < r->nsteps; i++)
			if (r->steps[i].thread == t)
				o->of[at++] = i;
		o->start[t + 1] = at;
		for (uint32_t k = o->start[t]; k < at; k++)
			for (uint32_t i = 0; i < r->nsteps; i++)
				if (i > o->of[k] && r->steps[i].thread != t && conflict(r, &r->steps[o->of[k]], &r->steps[i]))
					o->after[(size_t)i * o->n + t] = k - o->start[t] + 1;
	}
	return true;
}

/* The point, new or old, and the better way to it. */
static void add_point(struct tidy_order *o, const int32_t *point, struct tidy_way w)
{
	uint32_t before = o->points.n, id = vector_table_add(&o->points, point);
	if (id != VECTOR_TABLE_NONE && id >= o->cap) {
		uint32_t cap = o->cap ? o->cap * 2 : 1024;
		struct tidy_way *p = realloc(o->ways, sizeof *p * cap);
		if (p) {
			o->ways = p;
			o->cap = cap;
		}
	}
	if (id == VECTOR_TABLE_NONE || id >= o->cap || o->points.n > MINIMIZE_RUN_POINTS)
		o->failed = true;
	else if (id >= before || w.switches < o->ways[id].switches)
		o->ways[id] = w;
}

/* Points are numbered by the number of steps before them, so every path to a
 * point is known before it is continued. */
static void expand(struct tidy_order *o, uint32_t id, int32_t *point)
{
	memcpy(point, vector_table_get(&o->points, id), sizeof *point * (o->n + 1));
	uint32_t last = (uint32_t)point[o->n], switches = o->ways[id].switches;
	for (uint32_t t = 0; t < o->n && !o->failed; t++) {
		uint32_t at = o->start[t] + (uint32_t)point[t];
		bool ready = at < o->start[t + 1];
		for (uint32_t u = 0; ready && u < o->n; u++)
			ready = u == t || (uint32_t)point[u] >= o->after[(size_t)o->of[at] * o->n + u];
		if (!ready)
			continue;
		point[t]++;
		point[o->n] = (int32_t)t + 1;
		add_point(o, point, (struct tidy_way){ id, switches + (last && last != t + 1) });
		point[t]--;
		point[o->n] = (int32_t)last;
	}
}

/* The best of the points at which everything has happened, from its end. */
static void take_best(struct tidy_order *o, struct move *path)
{
	uint32_t best = IR_NONE, n = o->r->nsteps;
	for (uint32_t i = o->points.n; i-- > 0;) {
		uint32_t done = 0;
		for (uint32_t t = 0; t < o->n; t++)
			done += (uint32_t)vector_table_get(&o->points, i)[t];
		if (done < n)
			break;
		if (best == IR_NONE || o->ways[i].switches < o->ways[best].switches)
			best = i;
	}
	struct move *old = malloc(sizeof *old * (n + 1));
	if (best == IR_NONE || !old || o->ways[best].switches >= minimize_run_switches(path, n)) {
		free(old);
		return;
	}
	memcpy(old, path, sizeof *old * n);
	for (uint32_t k = n; k-- > 0; best = o->ways[best].from) {
		const int32_t *p = vector_table_get(&o->points, best);
		uint32_t t = (uint32_t)p[o->n] - 1;
		path[k] = old[o->of[o->start[t] + (uint32_t)p[t] - 1]];
	}
	free(old);
}

void minimize_run_order(const struct ir *ir, struct move *path, uint32_t n)
{
	struct run r;
	struct tidy_order o = { .r = &r, .n = ir->nthreads };
	int32_t *point = calloc(o.n + 2, sizeof *point);
	vector_table_init(&o.points, o.n + 1);
	if (run_init(&r, ir) && point && n <= 2000 && replay(&r, path, n) && make_order(&o)) {
		add_point(&o, point, (struct tidy_way){ 0, 0 });
		for (uint32_t i = 0; i < o.points.n && !o.failed; i++)
			expand(&o, i, point);
		if (!o.failed)
			take_best(&o, path);
	}
	run_free(&r);
	vector_table_free(&o.points);
	free(o.of);
	free(o.start);
	free(o.after);
	free(o.ways);
	free(point);
}

/* ---- searching ---------------------------------------------------------- */

struct better {
	const struct ir *p;
	uint32_t block;
	uint32_t n;        /* not longer than this */
	uint32_t switches; /* not more than these */
	struct move *path; /* so far */
	int32_t *states;   /* before each of them, and room for outcomes */
	uint32_t steps, tries;
	bool found;
};

static bool outside(const struct better *b, const int32_t *state)
{
	for (uint32_t t = 0; t < b->p->nthreads; t++) {
		uint32_t blk = ir_block_of(b->p, state, t);
		if (blk != IR_NONE && (b->block == VERDICT_PROGRAM || blk == b->block))
			return false;
	}
	return true;
}

/* Is a thread other than this inside? What it does then is not serial. */
static bool intrudes(const struct better *b, const int32_t *state, uint32_t thread)
{
	for (uint32_t t = 0; t < b->p->nthreads; t++) {
		uint32_t blk = ir_block_of(b->p, state, t);
		if (t != thread && blk != IR_NONE && (b->block == VERDICT_PROGRAM || blk == b->block))
			return true;
	}
	return false;
}

static void go_on(struct better *b, uint32_t depth, uint32_t left, bool mixed);

struct one_step {
	struct better *b;
	uint32_t depth, left, thread, outcome;
	bool mixed;
};

static bool step(void *arg, enum ir_result r, const int32_t *next, const struct ir_choices *ch, const struct ir_effect *eff)
{
	struct one_step *s = arg;
	struct better *b = s->b;
	uint32_t n = b->p->nstate;
	(void)ch;
	(void)eff;
	uint32_t outcome = s->outcome++;
	if (r != IR_OK)
		return true;
	b->path[s->depth] = (struct move){ s->thread, outcome };
	memcpy(b->states + (size_t)(s->depth + 1) * 2 * n, next, sizeof *next * n);
	b->steps++;
	go_on(b, s->depth + 1, s->left, s->mixed);
	return !b->found && b->steps < MINIMIZE_RUN_STEPS;
}

/* `mixed`: some step so far was not serial; else there is nothing to decide. */
static void go_on(struct better *b, uint32_t depth, uint32_t left, bool mixed)
{
	int32_t *state = b->states + (size_t)depth * 2 * b->p->nstate;
	if (mixed && outside(b, state) && b->tries++ < MINIMIZE_RUN_TRIES &&
	    serializable_path(b->p, b->block, b->path, depth, 0, MINIMIZE_RUN_BYTES) == 0) {
		b->found = true;
		b->n = depth;
		return;
	}
	uint32_t last = depth ? b->path[depth - 1].thread : IR_NONE;
	for (uint32_t k = 0; k <= b->p->nthreads && depth < b->n; k++) { /* the same thread first */
		uint32_t t = k ? k - 1 : last;
		bool turn = depth && t != last;
		if (t == IR_NONE || (k && t == last) || (turn && !left))
			continue;
		struct one_step s = { b, depth, left - turn, t, 0, mixed || intrudes(b, state, t) };
		ir_successors(b->p, state, t, state + b->p->nstate, step, &s);
		if (b->found || b->steps >= MINIMIZE_RUN_STEPS || b->tries >= MINIMIZE_RUN_TRIES)
			return;
	}
}

uint32_t minimize_run_violation(const struct ir *ir, uint32_t block, struct move *path, uint32_t n)
{
	minimize_run_order(ir, path, n);
	struct better b = { .p = ir, .block = block, .n = n };
	uint32_t most = minimize_run_switches(path, n);
	if (n > 2000)
		return n;
	b.path = calloc(n + 1, sizeof *b.path);
	b.states = calloc((size_t)(n + 2) * 2 * ir->nstate + 1, sizeof *b.states);
	if (b.path && b.states) {
		memcpy(b.states, ir->init, sizeof *b.states * ir->nstate);
		while (b.switches < most && !b.found && b.steps < MINIMIZE_RUN_STEPS && b.tries < MINIMIZE_RUN_TRIES)
			go_on(&b, 0, b.switches++, false);
	}
	if (b.found) {
		memcpy(path, b.path, sizeof *path * b.n);
		n = b.n;
	}
	free(b.path);
	free(b.states);
	return n;
}
