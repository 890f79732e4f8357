/*
 * verify_object: every history of a register in a model, gone through anew (verify_anew.h).
 *
 * A state of the search is an interleaved state with the set of what the register can be: its value, and of each
 * operation that has been invoked and not answered whether it has taken effect and, of a read, what
 * it then saw. An operation may take effect at any moment between its invocation and its answer; the answer needs
 * the effect, and of a read the value that was seen. A set that becomes empty is a history that is not
 * atomic, and this is exact: the set holds what any order of the operations leads to.
 *
 * Representation: one of the set is a row: the value, then a word for each thread: IDLE, ASKED (and the value to
 * be written behind it), DONE (and the value seen). Values have 32 bits, so a thread has two words.
 */
#include <stdlib.h>
#include <string.h>

#include "verdict/pairs.h"

enum { IDLE, READ_ASKED, WRITE_ASKED, DONE };

struct object_search {
	const struct ir *p;
	uint32_t object, width;
	struct verify_anew *out;
	struct pairs pairs;   /* states with what the register can be */
	uint32_t wrong;        /* a pair with an empty set, or MAP_NONE */
	int32_t *from, *to, *way, *other;
	uint32_t at, thread, outcome;
};

/* What has been asked may be done now. */
static void close_set(struct object_search *x)
{
	uint32_t len;
	for (uint32_t i = 0; i < x->pairs.nset && !x->out->limit; i++)
		for (uint32_t t = 0; t < x->p->nthreads && !x->out->limit; t++) {
			memcpy(x->other, row(&x->pairs.members, x->pairs.set[i], &len), x->width * sizeof *x->other);
			int32_t *now = x->other + 1 + 2 * t;
			if (now[0] == WRITE_ASKED)
				x->other[0] = now[1];
			else if (now[0] == READ_ASKED)
				now[1] = x->other[0];
			else
				continue;
			now[0] = DONE;
			pairs_put(&x->pairs, x->other);
		}
}

static bool counts(const struct object_search *x, uint32_t oper)
{
	return oper != IR_NONE && x->p->opers[oper].object == x->object && ir_oper_counts(x->p, oper);
}

/* The set `from` behind what the step invoked or answered. */
static void follow(struct object_search *x, uint32_t from, const struct ir_effect *eff, bool answer)
{
	uint32_t n, len, oper = answer ? eff->responded : eff->invoked;
	bool writes = x->p->opers[oper].is_write;
	pairs_begin_set(&x->pairs);
	for (uint32_t i = 0; row(&x->pairs.sets, from, &n), i < n && !x->out->limit; i++) {
		uint32_t id = (uint32_t)row(&x->pairs.sets, from, &n)[i];
		memcpy(x->way, row(&x->pairs.members, id, &len), x->width * sizeof *x->way);
		int32_t *now = x->way + 1 + 2 * x->thread;
		if (answer && (now[0] != DONE || (!writes && now[1] != eff->result)))
			continue;
		now[0] = answer ? IDLE : writes ? WRITE_ASKED : READ_ASKED;
		now[1] = !answer && writes ? eff->arg : 0;
		pairs_put(&x->pairs, x->way);
	}
	close_set(x);
}

static void add_pair(struct object_search *x, uint32_t set)
{
	uint32_t n, id = pairs_add(&x->pairs, x->to, set, x->at, (struct move){ x->thread, x->outcome }, 0);
	if (id == MAP_NONE)
		return;
	row(&x->pairs.sets, set, &n);
	if (!n)
		x->wrong = id;
}

static bool one_step(void *arg, enum ir_result r, const int32_t *next, const struct ir_choices *ch,
                     const struct ir_effect *eff)
{
	struct object_search *x = arg;
	(void)ch;
	if (r == IR_FAULT && eff->fault == IRF_LIMIT)
		pairs_spent(&x->pairs, "instructions of one step");
	if (r == IR_OK) {
		uint32_t set = x->pairs.v[x->at].set;
		memcpy(x->to, next, sizeof *next * x->p->nstate);
		ir_clear_dead(x->p, x->to);
		for (int answer = 0; answer < 2; answer++)
			if (counts(x, answer ? eff->responded : eff->invoked)) {
				follow(x, set, eff, answer);
				set = pairs_keep_set(&x->pairs);
			}
		if (!x->out->limit)
			add_pair(x, set);
	}
	x->outcome++;
	return !x->out->limit && x->wrong == MAP_NONE;
}

static void search(struct object_search *x, int32_t *scratch)
{
	uint32_t len;
	memcpy(x->to, x->p->init, x->p->nstate * sizeof *x->to);
	ir_clear_dead(x->p, x->to);
	x->way[0] = x->p->objects[x->object].init;
	pairs_begin_set(&x->pairs);
	pairs_put(&x->pairs, x->way);
	uint32_t set = pairs_keep_set(&x->pairs);
	if (!x->out->limit)
		add_pair(x, set);
	for (x->at = 0; x->at < x->pairs.n && !x->out->limit && x->wrong == MAP_NONE; x->at++) {
		memcpy(x->from, row(&x->pairs.states, x->pairs.v[x->at].state, &len), x->p->nstate * sizeof *x->from);
		for (x->thread = 0; x->thread < x->p->nthreads && !x->out->limit && x->wrong == MAP_NONE; x->thread++) {
			x->outcome = 0;
			ir_successors(x->p, x->from, x->thread, scratch, one_step, x);
		}
	}
}

void verify_anew_object(struct verify_anew *v, const struct ir *p, uint32_t object)
{
	struct object_search x = { .p = p, .object = object, .out = v, .wrong = MAP_NONE, .width = 1 + 2 * p->nthreads };
	x.pairs = (struct pairs){ .out = v, .crowded = "orders of the operations at one state", .nstate = p->nstate, .width = x.width };
	size_t n = (size_t)p->nstate + x.width;
	int32_t *room = calloc(n * 5, sizeof *room);
	v->limit = NULL;
	v->path = NULL;
	v->npath = 0;
	v->answer = VERIFY_LIMIT;
	if (!room) {
		v->limit = "memory";
		return;
	}
	x.from = room;
	x.to = room + n;
	x.way = room + 2 * n;
	x.other = room + 3 * n;
	search(&x, room + 4 * n);
	v->states = x.pairs.n;
	if (x.wrong != MAP_NONE && pairs_path(&x.pairs, x.wrong))
		v->answer = VERIFY_UNEXPLAINED;
	else if (x.wrong != MAP_NONE)
		v->limit = "memory";
	else if (!v->limit)
		v->answer = VERIFY_EXPLAINED;
	pairs_free(&x.pairs);
	free(room);
}
