#include "explore/property_search.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "explore/state_graph.h"

struct watching {
	const struct ir *ir;
	struct property_answer *answers;
	uint32_t *bad; /* by property: the first state that breaks it, or IR_NONE */
	uint32_t open; /* properties that a further state can break or that need all states */
	int32_t *state;
};

/* Which of the conditions that must be reachable hold here; what is broken is noted. */
static uint32_t look(void *arg, struct state_graph *q, uint32_t id, const uint32_t *ids)
{
	struct watching *w = arg;
	const struct ir *p = w->ir;
	uint32_t marks = 0;
	state_graph_state(q, ids, w->state);
	bool finished = ir_all_finished(p, w->state);
	for (uint32_t i = 0; i < p->nproperties; i++) {
		enum ir_property_kind k = p->properties[i].kind;
		if (k == IRP_REACH) {
			marks |= (uint32_t)ir_property_holds(p, i, w->state) << i;
			continue;
		}
		w->answers[i].looked |= k == IRP_ALWAYS || finished;
		if (w->bad[i] != IR_NONE || (k == IRP_FINALLY && !finished) || ir_property_holds(p, i, w->state))
			continue;
		w->bad[i] = id;
		q->enough = !--w->open;
	}
	return marks;
}

/* The first state from which the condition cannot be reached any more. */
static uint32_t find_lost(struct state_graph *q, uint32_t property)
{
	uint32_t mark = 1u << property;
	if (!state_graph_back(q, mark)) {
		q->limit = "memory";
		return IR_NONE;
	}
	for (uint32_t i = 0; i < q->states.n; i++)
		if (!(q->marks[i] & mark))
			return i;
	return IR_NONE;
}

void property_search(const struct ir *ir, const struct search_options *o, struct property_answer *answers, struct search_result *r)
{
	_Static_assert(IR_MAX_PROPERTIES <= 32, "a mark for each property");
	struct search_options plain = *o;
	plain.checkpoint = NULL; /* what it finds is about several questions; it is done again */
	struct watching w = { .ir = ir, .answers = answers, .open = ir->nproperties };
	struct state_graph q = { .ir = ir, .o = &plain, .r = r, .look = look, .arg = &w };
	uint32_t bad[IR_MAX_PROPERTIES];
	assert(ir->nproperties && ir->nproperties <= IR_MAX_PROPERTIES);
	memset(r, 0, sizeof *r);
	w.bad = bad;
	w.state = malloc(sizeof *w.state * (ir->nstate + 1ull));
	for (uint32_t i = 0; i < ir->nproperties; i++) {
		answers[i] = (struct property_answer){ .answer = ANSWER_UNKNOWN };
		bad[i] = IR_NONE;
		q.keep_arrows |= ir->properties[i].kind == IRP_REACH;
	}
	if (w.state)
		state_graph_explore(&q);
	else
		q.limit = "memory";
	for (uint32_t i = 0; i < ir->nproperties && w.state; i++) {
		if (ir->properties[i].kind == IRP_REACH && !q.limit)
			bad[i] = find_lost(&q, i);
		if (bad[i] != IR_NONE && state_graph_path(&q, bad[i], &answers[i].path, &answers[i].npath))
			answers[i].answer = ANSWER_VIOLATED;
		else if (bad[i] != IR_NONE)
			q.limit = "memory";
		else if (!q.limit && (ir->properties[i].kind != IRP_FINALLY || answers[i].looked))
			answers[i].answer = ANSWER_HOLDS;
	}
	r->limit = q.limit;
	if (w.state)
		state_graph_free(&q);
	free(w.state);
}
