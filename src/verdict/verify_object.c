/*
 * verify_object: every history of a register in a model, searched independently (verify_exhaustive.h).
 *
 * A state of the search is an interleaved state with what the register can be (register_states.h). An answer that leaves nothing is a
 * history that does not meet the condition, and this is exact: a set holds what every order of the operations
 * leads to, and a history that meets the condition so far always leaves something.
 *
 * Not every run is looked at. An invocation and an answer touch nothing that another thread can see. Take a run with a history that
 * does not meet the condition: when each invocation in it is delayed until right before its thread's next step (or dropped if there
 * is none), and each return happens as soon as its thread can, it still is a run, and its history still does not meet the condition:
 * operations precede each other wherever they did before, and each of the three conditions allows the less the more precedence there
 * is, and the fewer operations are only begun. So
 *   - where a thread can answer (and does not go wrong in the same step), only that is done,
 *   - an invocation is taken together with the thread's next step.
 * Returns cannot follow each other forever without an invocation, so no thread waits forever.
 */
#include <stdlib.h>
#include <string.h>

#include "verdict/register_states.h"

struct verify_object_search {
	const struct ir *p;
	uint32_t object;
	struct verify_exhaustive *out;
	struct state_sets pairs; /* states with what the register can be */
	struct register_states ways;
	uint32_t wrong; /* a pair with an empty set, or MAP_NONE */
	int32_t *from, *to, *between, *scratch2;
	uint32_t at, thread, set;
	struct move first; /* the invocation, when it is taken together with a step */
	bool calling;      /* it is */
	uint32_t outcome;  /* of the step being taken */
	bool moved;        /* a step was possible, and did not go wrong */
};

static bool counts(const struct verify_object_search *x, uint32_t oper)
{
	return oper != IR_NONE && x->p->opers[oper].object == x->object && ir_oper_counts(x->p, oper);
}

static void add_pair(struct verify_object_search *x, uint32_t set)
{
	struct move by = { x->thread, x->outcome };
	uint32_t n, id = x->calling
	                         ? state_sets_add_two(&x->pairs, x->to, set, x->at, x->first, by, register_states_bytes(&x->ways))
	                         : state_sets_add(&x->pairs, x->to, set, x->at, by, register_states_bytes(&x->ways));
	if (id == MAP_NONE)
		return;
	seqtab_get(&x->pairs.sets, set, &n);
	if (!n)
		x->wrong = id;
}

/* What the register can be after the step; MAP_NONE: a limit is reached. */
static uint32_t behind(struct verify_object_search *x, uint32_t set, const struct ir_effect *eff)
{
	if (counts(x, eff->invoked)) {
		bool writes = x->p->opers[eff->invoked].is_write;
		set = register_states_next(&x->ways, set, x->thread, writes ? REGISTER_ASK_WRITE : REGISTER_ASK_READ,
		                           writes ? eff->arg : 0);
	}
	if (set != MAP_NONE && counts(x, eff->responded)) {
		bool writes = x->p->opers[eff->responded].is_write;
		set = register_states_next(&x->ways, set, x->thread, writes ? REGISTER_WRITTEN : REGISTER_READ,
		                           writes ? 0 : eff->result);
	}
	return set;
}

static bool one_step(void *arg, enum ir_result r, const int32_t *next, const struct ir_choices *ch, const struct ir_effect *eff)
{
	struct verify_object_search *x = arg;
	(void)ch;
	state_sets_stepped(&x->pairs, r, eff);
	if (r == IR_OK) {
		x->moved = true;
		memcpy(x->to, next, sizeof *next * x->p->nstate);
		ir_clear_dead(x->p, x->to);
		uint32_t set = behind(x, x->set, eff);
		if (set != MAP_NONE && !x->out->limit)
			add_pair(x, set);
	}
	x->outcome++;
	return !x->out->limit && x->wrong == MAP_NONE;
}

/* An invocation, and the next step after it. */
static bool one_call(void *arg, enum ir_result r, const int32_t *next, const struct ir_choices *ch, const struct ir_effect *eff)
{
	struct verify_object_search *x = arg;
	(void)ch;
	state_sets_stepped(&x->pairs, r, eff);
	if (r == IR_OK) {
		uint32_t before = x->set;
		memcpy(x->between, next, sizeof *next * x->p->nstate);
		x->set = behind(x, x->set, eff);
		x->outcome = 0;
		x->calling = true;
		if (x->set != MAP_NONE && !x->out->limit)
			ir_successors(x->p, x->between, x->thread, x->scratch2, one_step, x);
		x->calling = false;
		x->set = before;
	}
	x->first.outcome++;
	return !x->out->limit && x->wrong == MAP_NONE;
}

/* Does the thread's next step touch nothing, and is of this kind? */
static bool silent(const struct verify_object_search *x, uint32_t thread, enum ir_node_kind kind)
{
	const struct ir_node *n = &x->p->nodes[ir_node_of(x->p, x->from, thread)];
	return n->kind == kind && !n->naccess;
}

static void expand(struct verify_object_search *x, uint32_t thread, int32_t *scratch)
{
	x->thread = thread;
	x->outcome = 0;
	x->set = x->pairs.v[x->at].set;
	x->first = (struct move){ thread, 0 };
	ir_successors(x->p, x->from, thread, scratch, silent(x, thread, IRN_INVOKE) ? one_call : one_step, x);
}

static void search(struct verify_object_search *x, int32_t *scratch)
{
	uint32_t len;
	memcpy(x->to, x->p->init, x->p->nstate * sizeof *x->to);
	ir_clear_dead(x->p, x->to);
	uint32_t set = register_states_first(&x->ways, x->p->objects[x->object].init);
	if (!x->out->limit)
		add_pair(x, set);
	for (x->at = 0; x->at < x->pairs.n && !x->out->limit && x->wrong == MAP_NONE; x->at++) {
		uint32_t answers = x->p->nthreads;
		memcpy(x->from, seqtab_get(&x->pairs.states, x->pairs.v[x->at].state, &len), x->p->nstate * sizeof *x->from);
		for (uint32_t t = x->p->nthreads; t-- > 0;)
			if (silent(x, t, IRN_RESPOND))
				answers = t;
		x->moved = false;
		if (answers < x->p->nthreads)
			expand(x, answers, scratch);
		if (x->moved)
			continue;
		for (uint32_t t = 0; t < x->p->nthreads && !x->out->limit && x->wrong == MAP_NONE; t++)
			expand(x, t, scratch);
	}
}

void verify_exhaustive_object(struct verify_exhaustive *v, const struct ir *p, uint32_t object, enum object_condition condition)
{
	struct verify_object_search x = { .p = p, .object = object, .out = v, .wrong = MAP_NONE };
	x.pairs = (struct state_sets){ .out = v, .crowded = "orders of the operations at one state", .nstate = p->nstate };
	size_t n = (size_t)p->nstate + 1;
	int32_t *room = calloc(n * 5, sizeof *room);
	v->limit = NULL;
	v->path = NULL;
	v->npath = 0;
	v->states = 0;
	v->answer = VERIFY_LIMIT;
	if (!room || p->nthreads > REGISTER_THREADS) {
		v->limit = room ? "threads" : "memory";
		free(room);
		return;
	}
	register_states_init(&x.ways, &x.pairs, condition, p->nthreads);
	x.from = room;
	x.to = room + n;
	x.between = room + 2 * n;
	x.scratch2 = room + 3 * n;
	search(&x, room + 4 * n);
	v->states = x.pairs.n;
	if (x.wrong != MAP_NONE && state_sets_path(&x.pairs, x.wrong))
		v->answer = VERIFY_UNEXPLAINED;
	else if (x.wrong != MAP_NONE)
		v->limit = "memory";
	else if (!v->limit)
		v->answer = VERIFY_EXPLAINED;
	register_states_free(&x.ways);
	state_sets_free(&x.pairs);
	free(room);
}
