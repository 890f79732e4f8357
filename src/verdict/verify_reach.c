#include "verdict/verify_reach.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/invariant.h"
#include "base/map.h"
#include "base/seqtab.h"

#define REACH_MAX_BYTES ((uint64_t)1 << 30)

struct reach_pairs {
	const struct ir *p;
	struct verify_reach *out;
	struct seqtab states;
	struct came {
		uint32_t parent;
		struct move by;
	} * came; /* by state */
	uint32_t cap_came;
	uint32_t *from, *to, nsteps, cap_from, cap_to; /* steps, when they are needed */
	bool back;                                     /* what can get to where it is fine is fine */
	bool *fine;                                    /* by state: has a way out */
	uint32_t cap_fine;
	int32_t *now, *next;
	uint32_t at, thread, outcome;
};

static void spent(struct reach_pairs *x, const char *limit)
{
	if (!x->out->limit)
		x->out->limit = limit;
}

/* The way to a state, and one more move when there is one. */
static struct move *path_to(struct reach_pairs *x, uint32_t state, const struct move *more, uint32_t *n)
{
	uint32_t k = more != NULL;
	for (uint32_t i = state; i; i = x->came[i].parent)
		k++;
	struct move *path = malloc((k + 1ull) * sizeof *path);
	*n = path ? k : 0;
	if (!path) {
		spent(x, "memory");
		return NULL;
	}
	if (more)
		path[--k] = *more;
	for (uint32_t i = state; i; i = x->came[i].parent)
		path[--k] = x->came[i].by;
	return path;
}

/* May such a state be? With a condition on single states, those that break it may not. */
static bool is_fine(struct reach_pairs *x, const int32_t *state)
{
	const struct ir *p = x->p;
	x->out->ended |= ir_all_finished(p, state);
	if (!x->out->property1)
		return ir_quiescent(p, state);
	uint32_t k = x->out->property1 - 1;
	return p->properties[k].kind == IRP_REACH ? ir_property_holds(p, k, state) : !ir_property_broken(p, k, state);
}

static void add_state(struct reach_pairs *x, struct move by)
{
	uint32_t before = x->states.n, id = seqtab_add(&x->states, x->next, x->p->nstate);
	if (id == MAP_NONE || !GROW(x->came, x->cap_came, id + 1ull) || !GROW(x->fine, x->cap_fine, id + 1ull) ||
	    seqtab_bytes(&x->states) > REACH_MAX_BYTES) {
		spent(x, "memory");
		return;
	}
	if (id == before) {
		x->came[id] = (struct came){ x->at, by };
		x->fine[id] = is_fine(x, x->next);
		if (x->states.n > x->out->max_states)
			spent(x, "states");
	}
	if (!x->back || x->states.n == 1)
		return;
	if (!GROW(x->from, x->cap_from, x->nsteps + 1ull) || !GROW(x->to, x->cap_to, x->nsteps + 1ull)) {
		spent(x, "memory");
		return;
	}
	x->from[x->nsteps] = x->at;
	x->to[x->nsteps++] = id;
}

static bool one_step(void *arg, enum ir_result r, const int32_t *next, const struct ir_choices *ch, const struct ir_effect *eff)
{
	struct reach_pairs *x = arg;
	struct move by = { x->thread, x->outcome++ };
	(void)ch;
	if (r == IR_FAULT && eff->fault == IRF_LIMIT) {
		spent(x, "instructions of one step");
	} else if (r == IR_FAULT) {
		if (x->back)
			x->fine[x->at] = true;
		if (!x->out->fault_path)
			x->out->fault_path = path_to(x, x->at, &by, &x->out->nfault);
	} else if (r == IR_OK) {
		memcpy(x->next, next, x->p->nstate * sizeof *next);
		ir_clear_dead(x->p, x->next);
		add_state(x, by);
	}
	return !x->out->limit;
}

/* Marks what can get to where it is fine; the first state that cannot is shown. */
static void look_back(struct reach_pairs *x)
{
	uint32_t n = x->states.n, head = 0, tail = 0;
	assert(x->back || !x->nsteps);
	uint32_t *start = calloc(n + 2ull, sizeof *start), *back = calloc(x->nsteps + 1ull, sizeof *back);
	uint32_t *queue = calloc(n + 1ull, sizeof *queue);
	if (!start || !back || !queue)
		spent(x, "memory");
	if (!x->out->limit) {
		for (uint32_t i = 0; i < x->nsteps; i++)
			start[x->to[i] + 2]++;
		for (uint32_t i = 0; i < n; i++)
			start[i + 2] += start[i + 1];
		for (uint32_t i = 0; i < x->nsteps; i++)
			back[start[x->to[i] + 1]++] = x->from[i];
		for (uint32_t i = 0; i < n; i++)
			if (x->fine[i])
				queue[tail++] = i;
		for (; head < tail; head++)
			for (uint32_t k = start[queue[head]]; k < start[queue[head] + 1]; k++)
				if (!x->fine[back[k]]) {
					x->fine[back[k]] = true;
					queue[tail++] = back[k];
				}
		for (uint32_t i = 0; i < n && !x->out->out_path && !x->out->limit; i++)
			if (!x->fine[i])
				x->out->out_path = path_to(x, i, NULL, &x->out->nout);
	}
	free(start);
	free(back);
	free(queue);
}

void verify_reach(struct verify_reach *v, const struct ir *p)
{
	struct reach_pairs x = { .p = p, .out = v };
	x.back = v->property1 ? p->properties[v->property1 - 1].kind == IRP_REACH : v->ways_out;
	bool whole = v->ways_out || v->property1;
	v->ended = false;
	size_t n = (size_t)p->nstate + 1;
	int32_t *room = calloc(3 * n, sizeof *room);
	uint32_t len;
	v->limit = room ? NULL : "memory";
	v->fault_path = v->out_path = NULL;
	v->nfault = v->nout = 0;
	if (room) {
		x.now = room;
		x.next = room + n;
		memcpy(x.next, p->init, p->nstate * sizeof *room);
		ir_clear_dead(p, x.next);
		add_state(&x, (struct move){ 0, 0 });
	}
	for (x.at = 0; x.at < x.states.n && !v->limit && (whole || !v->fault_path); x.at++) {
		memcpy(x.now, seqtab_get(&x.states, x.at, &len), p->nstate * sizeof *room);
		uint32_t moves = 0;
		for (x.thread = 0; x.thread < p->nthreads && !v->limit; x.thread++) {
			x.outcome = 0;
			moves += ir_successors(p, x.now, x.thread, room + 2 * n, one_step, &x);
		}
		if (v->deadlocks && !moves && !v->limit && !v->fault_path && !ir_all_finished(p, x.now))
			v->fault_path = path_to(&x, x.at, NULL, &v->nfault);
	}
	if (whole && !v->limit)
		look_back(&x);
	v->states = x.states.n;
	v->fault = v->fault_path ? VERIFY_UNEXPLAINED : v->limit ? VERIFY_LIMIT : VERIFY_EXPLAINED;
	v->out = v->limit || !whole ? VERIFY_LIMIT : v->out_path ? VERIFY_UNEXPLAINED : VERIFY_EXPLAINED;
	seqtab_free(&x.states);
	free(x.came);
	free(x.from);
	free(x.to);
	free(x.fine);
	free(room);
}

void verify_reach_free(struct verify_reach *v)
{
	free(v->fault_path);
	free(v->out_path);
	v->fault_path = v->out_path = NULL;
}
