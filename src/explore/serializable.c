#include "explore/serializable.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/invariant.h"
#include "base/map.h"
#include "explore/vector_table.h"
#include "verdict/replay.h"

struct explains_item {
	uint32_t thread;
	uint32_t block;  /* IR_NONE: a step outside */
	uint32_t *after; /* by thread: how many of its items come before */
};

struct explains_place {     /* what a shared slot passes on: ended items, by thread */
	uint32_t *by_write; /* of those who wrote it */
	uint32_t *by_any;   /* of those who touched it */
};

enum explains_why { WHY_OTHER = 1, WHY_STUCK = 2, WHY_ENDLESS = 4 };

struct halt { /* a block that does not finish alone */
	enum verdict_problem problem;
	uint32_t thread;
	int32_t *state; /* where it is blocked, or loops */
};

struct serializable {
	const struct ir *p;
	uint32_t block, n; /* n: threads */
	struct explains_item *items;
	uint32_t nitems, *of, *start; /* of[start[t] + k]: the k-th item of thread t */
	uint32_t *knows;              /* n x n: the ended items each thread knows of */
	uint32_t *total;              /* items of each thread */
	struct map index;             /* slot -> places */
	struct explains_place *places;
	uint32_t nplaces, cap_places;
	struct vector_table layer[2]; /* (cut, state) */
	struct vector_table seen;     /* inside a serial block */
	int32_t *point, *scratch, *first, *goal;
	uint64_t points, bytes; /* tried; at most so many in the tables */
	bool failed;            /* memory or a limit */
	/* why it does not go on: see serializable_stuck */
	uint32_t why;                /* of the items tried at one point: enum explains_why */
	uint64_t made;               /* points that came out */
	bool other;                  /* some dead end is no waiting block */
	struct halt now, first_halt; /* at this point; at the first dead end */
};

static bool inside(const struct serializable *x, uint32_t node)
{
	uint32_t b = x->p->nodes[node].block;
	return b != IR_NONE && (x->block == VERDICT_PROGRAM || b == x->block);
}

/* ---- items and their order ---------------------------------------------- */

static void join(uint32_t *into, const uint32_t *from, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (from[i] > into[i])
			into[i] = from[i];
}

static struct explains_place *place_of(struct serializable *x, uint32_t slot)
{
	uint32_t v = x->nplaces;
	if (!map_intern(&x->index, slot, &v)) {
		x->failed = true;
		return NULL;
	}
	if (v < x->nplaces)
		return &x->places[v];
	if (!GROW(x->places, x->cap_places, x->nplaces + 1ull)) {
		x->failed = true;
		return NULL;
	}
	assert(v == x->nplaces);
	struct explains_place *p = &x->places[x->nplaces];
	p->by_write = calloc(x->n, sizeof *p->by_write);
	p->by_any = calloc(x->n, sizeof *p->by_any);
	x->nplaces++;
	if (!p->by_write || !p->by_any)
		x->failed = true;
	return x->failed ? NULL : p;
}

static bool is_write(uint32_t mode)
{
	return mode & (IRA_WRITE | IRA_ACQUIRE | IRA_RELEASE | IRA_WRITE_INV | IRA_WRITE_RESP);
}

/* What the step learns from the places it touches, or leaves there. */
static void exchange(struct serializable *x, const struct run *r, const struct run_step *s, bool learn)
{
	assert(s->thread < x->n && s->event + s->nevent <= r->nevents);
	uint32_t *own = x->knows + (size_t)s->thread * x->n;
	for (uint32_t i = 0; i < s->nevent && !x->failed; i++) {
		const struct ir_event *e = &r->events[s->event + i];
		struct explains_place *p = place_of(x, x->p->vars[e->var].slot + e->elem);
		if (!p)
			return;
		bool w = is_write(e->mode);
		if (learn) {
			join(own, w ? p->by_any : p->by_write, x->n);
		} else {
			join(p->by_any, own, x->n);
			if (w)
				join(p->by_write, own, x->n);
		}
	}
}

static void add_item(struct serializable *x, uint32_t thread, uint32_t block)
{
	assert(thread < x->n && (block == IR_NONE || block < x->p->nblocks));
	struct explains_item *it = &x->items[x->nitems++];
	*it = (struct explains_item){ thread, block, malloc(sizeof *it->after * x->n) };
	if (!it->after) {
		x->failed = true;
		return;
	}
	memcpy(it->after, x->knows + (size_t)thread * x->n, sizeof *it->after * x->n);
	it->after[thread] = x->total[thread]++; /* in the order of its thread */
}

static void make_items(struct serializable *x, const struct run *r, uint32_t from)
{
	for (uint32_t i = from; i < r->nsteps && !x->failed; i++) {
		const struct run_step *s = &r->steps[i];
		uint32_t t = s->thread, *own = x->knows + (size_t)t * x->n;
		bool was = inside(x, s->node), in = inside(x, s->next);
		x->failed |= s->cut || s->fault != IRF_NONE;
		exchange(x, r, s, true);
		if (!was)
			add_item(x, t, in ? x->p->nodes[s->next].block : IR_NONE);
		if (!in)
			own[t] = x->total[t]; /* the item has ended */
		exchange(x, r, s, false);
	}
	assert(x->nitems <= r->nsteps - from || x->failed);
	uint32_t at = 0;
	for (uint32_t t = 0; t < x->n; t++) {
		assert(at <= x->nitems);
		x->start[t] = at;
		for (uint32_t i = 0; i < x->nitems; i++)
			if (x->items[i].thread == t)
				x->of[at++] = i;
	}
}

/* ---- taking effect ------------------------------------------------------ */

static void add_point(struct serializable *x, struct vector_table *to, uint32_t thread, const int32_t *state)
{
	assert((uint32_t)x->point[thread] < x->total[thread]);
	memcpy(x->point + x->n, state, sizeof *state * x->p->nstate);
	ir_clear_dead(x->p, x->point + x->n);
	x->point[thread]++;
	if (vector_table_add(to, x->point) == VECTOR_TABLE_NONE)
		x->failed = true;
	x->point[thread]--;
	x->made++;
}

struct taking {
	struct serializable *x;
	struct vector_table *to;
	uint32_t thread;
	bool block;
};

static bool take(void *arg, enum ir_result r, const int32_t *next, const struct ir_choices *ch, const struct ir_effect *eff)
{
	struct taking *a = arg;
	struct serializable *x = a->x;
	(void)ch;
	if (r == IR_FAULT && eff->fault == IRF_LIMIT)
		x->failed = true;
	if (r != IR_OK) {
		x->why |= WHY_OTHER;
		return !x->failed;
	}
	bool in = inside(x, ir_node_of(x->p, next, a->thread));
	if (a->block && in)
		x->failed |= vector_table_add(&x->seen, next) == VECTOR_TABLE_NONE;
	else if (!in)
		add_point(x, a->to, a->thread, next);
	else
		x->why |= WHY_OTHER; /* it enters a block instead */
	return !x->failed;
}

/* The block of `thread` does not go on from here. */
static void halts(struct serializable *x, enum verdict_problem problem, uint32_t thread, const int32_t *state)
{
	assert(problem == PROBLEM_STUCK || problem == PROBLEM_ENDLESS);
	x->why |= problem == PROBLEM_STUCK ? WHY_STUCK : WHY_ENDLESS;
	if (x->now.problem == PROBLEM_NONE) {
		x->now.problem = problem;
		x->now.thread = thread;
		memcpy(x->now.state, state, sizeof *state * x->p->nstate);
	}
}

/* Everything the thread's next item can lead to from this state. */
static void take_item(struct serializable *x, const struct explains_item *it, const int32_t *state, struct vector_table *to)
{
	const struct ir *p = x->p;
	const struct ir_node *at = &p->nodes[ir_node_of(p, state, it->thread)];
	struct taking a = { x, to, it->thread, it->block != IR_NONE };
	if (!a.block) {
		ir_successors(p, state, it->thread, x->scratch, take, &a);
		return;
	}
	if (at->kind != IRN_ENTER || (uint32_t)p->code[at->ins + 1].a != it->block) {
		x->why |= WHY_OTHER;
		return;
	}
	uint64_t made = x->made;
	uint32_t why = x->why;
	x->why = 0;
	vector_table_free(&x->seen);
	vector_table_add(&x->seen, state);
	for (uint32_t i = 0; i < x->seen.n && !x->failed; i++) {
		memcpy(x->first, vector_table_get(&x->seen, i), sizeof *state * p->nstate);
		if (!ir_successors(p, x->first, it->thread, x->scratch, take, &a))
			halts(x, PROBLEM_STUCK, it->thread, x->first);
		x->failed |= ++x->points > 16 * SERIALIZABLE_POINTS || vector_table_bytes(&x->seen) > x->bytes;
	}
	if (x->made == made && !x->why)
		halts(x, PROBLEM_ENDLESS, it->thread, x->first);
	x->why |= why;
}

static const struct explains_item *next_item(const struct serializable *x, const int32_t *cut, uint32_t t)
{
	assert((uint32_t)cut[t] <= x->total[t]);
	if ((uint32_t)cut[t] == x->total[t])
		return NULL;
	const struct explains_item *it = &x->items[x->of[x->start[t] + (uint32_t)cut[t]]];
	for (uint32_t u = 0; u < x->n; u++)
		if ((uint32_t)cut[u] < it->after[u])
			return NULL;
	assert(it->thread == t && it->after[t] == (uint32_t)cut[t]);
	return it;
}

/* Nothing can happen at this point. */
static void dead_end(struct serializable *x)
{
	if ((x->why & WHY_OTHER) || x->now.problem == PROBLEM_NONE) {
		x->other = true;
	} else if (x->first_halt.problem == PROBLEM_NONE) {
		x->first_halt.problem = x->now.problem;
		x->first_halt.thread = x->now.thread;
		memcpy(x->first_halt.state, x->now.state, sizeof *x->now.state * x->p->nstate);
	}
}

static void expand(struct serializable *x, uint32_t id, int32_t *state, const struct vector_table *from, struct vector_table *to)
{
	assert(id < from->n && from != to);
	const struct ir *p = x->p;
	uint64_t made = x->made;
	bool taken = false;
	x->why = 0;
	x->now.problem = PROBLEM_NONE;
	memcpy(x->point, vector_table_get(from, id), sizeof *x->point * from->width);
	memcpy(state, x->point + x->n, sizeof *state * p->nstate);
	for (uint32_t t = 0; t < x->n && !taken; t++) {
		const struct explains_item *it = next_item(x, x->point, t);
		taken = it && it->block == IR_NONE && !p->nodes[ir_node_of(p, state, t)].naccess;
		if (taken)
			take_item(x, it, state, to);
	}
	for (uint32_t t = 0; t < x->n && !x->failed && !taken; t++) {
		const struct explains_item *it = next_item(x, x->point, t);
		if (it)
			take_item(x, it, state, to);
	}
	if (x->made == made)
		dead_end(x);
}

/* Layer by layer; the last one is what can come out. */
static const struct vector_table *run_layers(struct serializable *x, const int32_t *init)
{
	int32_t *state = malloc(sizeof *state * (x->p->nstate + 1));
	struct vector_table *from = &x->layer[0], *to = &x->layer[1];
	x->failed |= !state;
	if (!x->failed) {
		memset(x->point, 0, sizeof *x->point * x->n);
		memcpy(x->point + x->n, init, sizeof *init * x->p->nstate);
		ir_clear_dead(x->p, x->point + x->n);
		x->failed |= vector_table_add(from, x->point) == VECTOR_TABLE_NONE;
	}
	for (uint32_t k = 0; k < x->nitems && !x->failed; k++) {
		for (uint32_t i = 0; i < from->n && !x->failed; i++) {
			expand(x, i, state, from, to);
			x->failed |= ++x->points > SERIALIZABLE_POINTS * 16 || to->n > SERIALIZABLE_POINTS ||
			             vector_table_bytes(from) + vector_table_bytes(to) > x->bytes;
		}
		vector_table_free(from);
		struct vector_table *swap = from;
		from = to;
		to = swap;
	}
	free(state);
	assert(x->failed || !to->n);
	return from;
}

/* ---- the whole ---------------------------------------------------------- */

static bool serializable_init(struct serializable *x, const struct ir *p, uint32_t block, uint32_t steps, uint64_t bytes)
{
	size_t n = p->nthreads;
	memset(x, 0, sizeof *x);
	x->p = p;
	x->block = block;
	x->n = p->nthreads;
	x->bytes = bytes ? bytes : SERIALIZABLE_BYTES;
	map_init(&x->index);
	vector_table_init(&x->layer[0], p->nthreads + p->nstate);
	vector_table_init(&x->layer[1], p->nthreads + p->nstate);
	vector_table_init(&x->seen, p->nstate);
	x->items = calloc(steps + 1, sizeof *x->items);
	x->of = calloc(steps + 1, sizeof *x->of);
	x->start = calloc(n + 1, sizeof *x->start);
	x->total = calloc(n + 1, sizeof *x->total);
	x->knows = calloc(n * n + 1, sizeof *x->knows);
	x->point = calloc(n + p->nstate + 1, sizeof *x->point);
	x->scratch = calloc(p->nstate + 1, sizeof *x->scratch);
	x->first = calloc(p->nstate + 1, sizeof *x->first);
	x->goal = calloc(p->nstate + 1, sizeof *x->goal);
	x->now.state = calloc(p->nstate + 1, sizeof *x->now.state);
	x->first_halt.state = calloc(p->nstate + 1, sizeof *x->first_halt.state);
	return x->now.state && x->first_halt.state && x->items && x->of && x->start && x->total && x->knows && x->point &&
	       x->scratch && x->first && x->goal;
}

static void serializable_free(struct serializable *x)
{
	for (uint32_t i = 0; i < x->nplaces; i++) {
		free(x->places[i].by_write);
		free(x->places[i].by_any);
	}
	for (uint32_t i = 0; x->items && i < x->nitems; i++)
		free(x->items[i].after);
	map_free(&x->index);
	vector_table_free(&x->layer[0]);
	vector_table_free(&x->layer[1]);
	vector_table_free(&x->seen);
	free(x->places);
	free(x->items);
	free(x->of);
	free(x->start);
	free(x->total);
	free(x->knows);
	free(x->point);
	free(x->scratch);
	free(x->first);
	free(x->goal);
	free(x->now.state);
	free(x->first_halt.state);
}

static bool all_outside(const struct serializable *x, const int32_t *state)
{
	for (uint32_t t = 0; t < x->n; t++)
		if (inside(x, ir_node_of(x->p, state, t)))
			return false;
	return true;
}

/* The last layer of this path, or NULL. x->goal is its end. */
static const struct vector_table *judge(struct serializable *x, const struct ir *ir, uint32_t block, const struct move *path,
                                        uint32_t n, uint32_t from, uint64_t bytes)
{
	assert(from <= n);
	struct run r;
	const struct vector_table *last = NULL;
	bool ok = serializable_init(x, ir, block, n, bytes);
	if (run_init(&r, ir) && ok && replay(&r, path, n) && !run_faulted(&r)) {
		const int32_t *end = run_now(&r), *start;
		memcpy(x->goal, end, sizeof *end * ir->nstate);
		ir_clear_dead(ir, x->goal);
		make_items(x, &r, from);
		start = run_state(&r, from);
		if (start && !x->failed && all_outside(x, start) && all_outside(x, x->goal))
			last = run_layers(x, start);
	}
	run_free(&r);
	return x->failed ? NULL : last;
}

int serializable_path(const struct ir *ir, uint32_t block, const struct move *path, uint32_t n, uint32_t from, uint64_t bytes)
{
	struct serializable x;
	const struct vector_table *last = judge(&x, ir, block, path, n, from, bytes);
	int answer = last ? 0 : -1;
	for (uint32_t i = 0; last && i < last->n && answer == 0; i++)
		answer = !memcmp(vector_table_get(last, i) + x.n, x.goal, sizeof *x.goal * ir->nstate);
	assert(answer >= -1 && answer <= 1);
	serializable_free(&x);
	return answer;
}

bool serializable_ends(const struct ir *ir, uint32_t block, const struct move *path, uint32_t n, uint32_t max, uint64_t bytes,
                       int32_t **states, uint32_t *nstates)
{
	struct serializable x;
	const struct vector_table *last = judge(&x, ir, block, path, n, 0, bytes);
	*states = NULL;
	*nstates = last ? last->n : 0;
	uint32_t count = *nstates < max ? *nstates : max;
	if (last)
		*states = malloc(sizeof **states * ((size_t)count * ir->nstate + 1));
	for (uint32_t i = 0; *states && i < count; i++)
		memcpy(*states + (size_t)i * ir->nstate, vector_table_get(last, i) + x.n, sizeof **states * ir->nstate);
	serializable_free(&x);
	return *states != NULL;
}

enum verdict_problem serializable_stuck(const struct ir *ir, uint32_t block, const struct move *path, uint32_t n, uint64_t bytes,
                                        uint32_t *thread, int32_t **state)
{
	struct serializable x;
	const struct vector_table *last = judge(&x, ir, block, path, n, 0, bytes);
	enum verdict_problem problem = PROBLEM_NONE;
	*state = NULL;
	if (last && !last->n && !x.other && x.first_halt.problem != PROBLEM_NONE) {
		problem = x.first_halt.problem;
		*thread = x.first_halt.thread;
		*state = x.first_halt.state;
		x.first_halt.state = NULL;
	}
	assert((problem != PROBLEM_NONE) == (*state != NULL));
	serializable_free(&x);
	return problem;
}
