#include "verdict/object_history.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "verdict/object_problem.h"
#include "verdict/verify_history.h"

const char *const object_conditions[] = { "atomic", "regular", "safe", NULL };

bool object_history_init(struct object_history *h, const struct run *r, uint32_t object)
{
	assert(object < r->ir->nobjects);
	const struct ir *p = r->ir;
	uint32_t writes = 0, reads = 0, *open = calloc(p->nthreads + 1ull, sizeof *open);
	*h = (struct object_history){ .ir = p, .object = object };
	h->ops = calloc(r->nsteps + 1ull, sizeof *h->ops);
	for (uint32_t i = 0; open && h->ops && i < r->nsteps; i++) {
		const struct run_step *s = &r->steps[i];
		if (s->invoked != IR_NONE && p->opers[s->invoked].object == object && ir_oper_counts(p, s->invoked)) {
			bool w = p->opers[s->invoked].is_write;
			open[s->thread] = h->n;
			h->ops[h->n++] = (struct object_op){
				.thread = s->thread,
				.oper = s->invoked,
				.is_write = w,
				.value = w ? s->arg : 0,
				.call = h->nevents++,
				.ret = OBJECT_OPEN,
				.call_step = i,
				.ret_step = OBJECT_OPEN,
				.number = w ? ++writes : ++reads,
			};
		}
		if (s->responded != IR_NONE && p->opers[s->responded].object == object && ir_oper_counts(p, s->responded)) {
			struct object_op *o = &h->ops[open[s->thread]];
			o->ret = h->nevents++;
			o->ret_step = i;
			if (!o->is_write)
				o->value = s->result;
		}
	}
	bool ok = open && h->ops;
	free(open);
	return ok;
}

void object_history_free(struct object_history *h)
{
	free(h->ops);
	h->ops = NULL;
}

/* ---- words ---------------------------------------------------------------------------- */

void object_op_name(const struct object_op *o, struct buf *out)
{
	buf_printf(out, "%c%u", o->is_write ? 'w' : 'r', o->number);
}

static void value(const struct object_history *h, int32_t v, struct buf *out)
{
	const struct ir_object *o = &h->ir->objects[h->object];
	ir_print_value(h->ir, o->value, o->enum_id, v, out);
}

void object_op_text(const struct object_history *h, const struct object_op *o, bool utf8, struct buf *out)
{
	assert(o >= h->ops && o < h->ops + h->n);
	buf_str(out, o->is_write ? "write(" : "read");
	if (o->is_write) {
		value(h, o->value, out);
		buf_char(out, ')');
	} else if (o->ret != OBJECT_OPEN) {
		buf_str(out, utf8 ? " → " : " -> ");
		value(h, o->value, out);
	}
}

/* ---- judging ---------------------------------------------------------------------------- */

bool object_problem_init(struct object_problem *j, const struct object_history *h)
{
	memset(j, 0, sizeof *j);
	arena_init(&j->arena, 0);
	values_init(&j->vals, &j->arena);
	j->hops = calloc(h->n + 1ull, sizeof *j->hops);
	j->number = calloc(h->n + 1ull, sizeof *j->number);
	if (!j->hops || !j->number)
		return false;
	uint32_t n = 0;
	for (uint32_t i = 0; i < h->n; i++) {
		const struct object_op *o = &h->ops[i];
		if (!o->is_write && o->ret == OBJECT_OPEN)
			continue;
		val v = val_int(&j->vals, o->value);
		j->number[n] = i;
		j->hops[n++] = (struct hop){ .call = o->call,
			                     .ret = o->ret == OBJECT_OPEN ? RANK_INF : o->ret,
			                     .fn = o->is_write ? FN_WRITE : FN_READ,
			                     .a = o->is_write ? v : VAL_NONE,
			                     .b = o->is_write ? VAL_NONE : v,
			                     .proc = o->thread };
	}
	j->p = (struct problem){ .ops = j->hops,
		                 .n = n,
		                 .nevents = h->nevents,
		                 .obj = OBJ_REGISTER,
		                 .init = val_int(&j->vals, h->ir->objects[h->object].init),
		                 .k = 1,
		                 .vals = &j->vals,
		                 .lim = &j->lim };
	assert(j->p.n <= h->n);
	return true;
}

void object_problem_free(struct object_problem *j)
{
	free(j->hops);
	free(j->number);
	values_free(&j->vals);
	arena_free(&j->arena);
}

#define REFUTE_BUDGET 1000000u

int object_history_refuted(const struct object_history *h, enum object_condition c, struct why *why)
{
	assert(c <= OBJECT_SAFE);
	struct object_problem j;
	enum verify_answer a = VERIFY_UNDECIDED;
	if (object_problem_init(&j, h)) {
		if (c == OBJECT_ATOMIC)
			a = verify_violation(&j.p, PROOF_EXHAUSTED, NULL, 0, RANK_INF, REFUTE_BUDGET, why);
		else
			a = VERIFY_REJECTED;
		for (uint32_t i = 0; i < j.p.n && c != OBJECT_ATOMIC && a != VERIFY_ACCEPTED; i++)
			if (j.p.ops[i].fn == FN_READ)
				a = verify_read_impossible(&j.p, i, c == OBJECT_SAFE, why);
	}
	object_problem_free(&j);
	if (c != OBJECT_ATOMIC)
		why_set(why, "every read returned what it may");
	return a == VERIFY_ACCEPTED ? 1 : a == VERIFY_REJECTED ? 0 : -1;
}
