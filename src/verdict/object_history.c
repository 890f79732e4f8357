#include "verdict/object_history.h"

#include <stdlib.h>
#include <string.h>

#include "lin/lin.h"
#include "verdict/verify_history.h"

const char *const object_conditions[] = { "atomic", "regular", "safe", NULL };

bool object_history_init(struct object_history *h, const struct run *r, uint32_t object)
{
	const struct ir *p = r->ir;
	uint32_t writes = 0, reads = 0, *open = calloc(p->nthreads + 1ull, sizeof *open);
	*h = (struct object_history){ .ir = p, .object = object };
	h->ops = calloc(r->nsteps + 1ull, sizeof *h->ops);
	for (uint32_t i = 0; open && h->ops && i < r->nsteps; i++) {
		const struct run_step *s = &r->steps[i];
		if (s->invoked != IR_NONE && p->opers[s->invoked].object == object &&
		    ir_oper_counts(p, s->invoked)) {
			bool w = p->opers[s->invoked].is_write;
			open[s->thread] = h->n;
			h->ops[h->n++] = (struct object_op){
				.thread = s->thread, .oper = s->invoked, .is_write = w, .value = w ? s->arg : 0,
				.call = h->nevents++, .ret = OBJECT_OPEN, .call_step = i, .ret_step = OBJECT_OPEN,
				.number = w ? ++writes : ++reads,
			};
		}
		if (s->responded != IR_NONE && p->opers[s->responded].object == object &&
		    ir_oper_counts(p, s->responded)) {
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

/* The history as a problem for the algorithms of `lin`. Reads that were not
 * answered say nothing and are left out; number[i] is what operation i of the
 * problem is here. */
struct judged {
	struct problem p;
	struct hop *hops;
	uint32_t *number;
	struct arena arena;
	struct values vals;
	struct limits lim;
};

static bool judged_open(struct judged *j, const struct object_history *h)
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
		j->hops[n++] = (struct hop){ .call = o->call, .ret = o->ret == OBJECT_OPEN ? RANK_INF : o->ret,
			                     .fn = o->is_write ? FN_WRITE : FN_READ, .a = o->is_write ? v : VAL_NONE,
			                     .b = o->is_write ? VAL_NONE : v, .proc = o->thread };
	}
	j->p = (struct problem){ .ops = j->hops, .n = n, .nevents = h->nevents, .obj = OBJ_REGISTER,
		                 .init = val_int(&j->vals, h->ir->objects[h->object].init), .k = 1,
		                 .vals = &j->vals, .lim = &j->lim };
	return true;
}

static void judged_close(struct judged *j)
{
	free(j->hops);
	free(j->number);
	values_free(&j->vals);
	arena_free(&j->arena);
}

struct say {
	const struct object_history *h;
	const struct judged *j;
	struct buf *out;
};

static const struct object_op *op_at(const struct say *s, uint32_t i)
{
	return &s->h->ops[s->j->number[i]];
}

static void name(const struct say *s, uint32_t i)
{
	if (i == RANK_INF)
		buf_str(s->out, "the initial value");
	else
		object_op_name(op_at(s, i), s->out);
}

static void value_at(const struct say *s, uint32_t i)
{
	value(s->h, i == RANK_INF ? s->h->ir->objects[s->h->object].init : op_at(s, i)->value, s->out);
}

/* "r3 returned true" or "w2 wrote false" */
static void did(const struct say *s, uint32_t i)
{
	if (i == RANK_INF) {
		buf_str(s->out, "the register started with ");
	} else {
		name(s, i);
		buf_str(s->out, op_at(s, i)->is_write ? " wrote " : " returned ");
	}
	value_at(s, i);
}

/* The first write of the value, from number `from` on, that the read could
 * have seen; RANK_INF: the initial value (when from is 0) or none. */
static uint32_t source_of(const struct say *s, uint32_t read, uint32_t from)
{
	const struct problem *p = &s->j->p;
	for (uint32_t i = 0; i < p->n; i++)
		if (p->ops[i].fn == FN_WRITE && p->ops[i].a == p->ops[read].b && op_at(s, i)->number >= from &&
		    p->ops[i].call < p->ops[read].ret)
			return i;
	return RANK_INF;
}

/* Single writer: each operation of the chain needs at least the write of the
 * one before, the last needs one that is not there. */
static void chain(const struct say *s, const struct result *r)
{
	uint32_t least = 0, last = r->ops[r->nops - 1];
	for (uint32_t i = 0; i + 1 < r->nops; i++) {
		uint32_t o = r->ops[i], from = o;
		bool write = op_at(s, o)->is_write;
		did(s, o);
		if (!write) {
			bool initial = !least && s->j->p.ops[o].b == s->j->p.init;
			from = initial ? RANK_INF : source_of(s, o, least ? least : 1);
			buf_str(s->out, initial ? ", perhaps the initial value" : ", written by ");
			if (!initial) {
				name(s, from);
				buf_str(s->out, " at the earliest,");
			}
		}
		if (from != RANK_INF)
			least = op_at(s, from)->number;
		buf_str(s->out, " and had ended when ");
		name(s, r->ops[i + 1]);
		buf_str(s->out, " began; ");
	}
	buf_str(s->out, r->nops > 1 ? "but " : "");
	did(s, last);
	if (least)
		buf_printf(s->out, ", and from w%u on nothing that had begun by then wrote ", least);
	else
		buf_str(s->out, ", which is not the initial value, and nothing that had begun by then wrote ");
	value_at(s, last);
	buf_char(s->out, '.');
}

static void say(const struct say *s, const struct result *r)
{
	const uint32_t *f = r->ops;
	switch (r->proof) {
	case PROOF_UNWRITTEN:
	case PROOF_FUTURE:
		did(s, f[0]);
		buf_str(s->out, ", which is not the initial value and which nothing that began before ");
		name(s, f[0]);
		buf_str(s->out, " ended wrote.");
		break;
	case PROOF_CHAIN:
		chain(s, r);
		break;
	case PROOF_STALE:
		did(s, f[0]);
		buf_str(s->out, ", but ");
		did(s, f[2]);
		buf_str(s->out, " after that and ended before ");
		name(s, f[0]);
		buf_str(s->out, " began.");
		break;
	default:
		if (r->culprit == RANK_INF) {
			buf_str(s->out, "No order of the operations is legal for a register.");
			break;
		}
		did(s, r->culprit);
		buf_str(s->out, ", which no order of the operations explains: every one that lets each operation take "
		                "effect between its call and its answer was tried.");
	}
}

bool object_history_why(const struct object_history *h, enum object_condition c, struct buf *out)
{
	struct judged j;
	struct result r;
	bool said = false;
	if (judged_open(&j, h)) {
		enum lin_verdict v = c == OBJECT_ATOMIC ? lin_atomic(&j.p, ALG_AUTO, &r)
		                                        : lin_weak(&j.p, &r, c == OBJECT_SAFE);
		said = v == LIN_VIOLATED;
		if (said)
			say(&(struct say){ h, &j, out }, &r);
		result_free(&r);
	}
	judged_close(&j);
	return said;
}

#define REFUTE_BUDGET 1000000u

int object_history_refuted(const struct object_history *h, enum object_condition c, struct buf *why)
{
	struct judged j;
	char text[VERIFY_WHY] = "";
	enum verify_answer a = VERIFY_UNDECIDED;
	if (judged_open(&j, h)) {
		if (c == OBJECT_ATOMIC)
			a = verify_violation(&j.p, PROOF_EXHAUSTED, NULL, 0, RANK_INF, REFUTE_BUDGET, text);
		else
			a = VERIFY_REJECTED;
		for (uint32_t i = 0; i < j.p.n && c != OBJECT_ATOMIC && a != VERIFY_ACCEPTED; i++)
			if (j.p.ops[i].fn == FN_READ)
				a = verify_read_impossible(&j.p, i, c == OBJECT_SAFE, text);
	}
	judged_close(&j);
	buf_str(why, c == OBJECT_ATOMIC ? text : "every read returned what it may");
	return a == VERIFY_ACCEPTED ? 1 : a == VERIFY_REJECTED ? 0 : -1;
}
