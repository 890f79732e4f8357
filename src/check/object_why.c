#include "check/objects.h"

#include "lin/lin.h"
#include "verdict/object_problem.h"

struct why_say {
	const struct object_history *h;
	const struct object_problem *j;
	struct buf *out;
};

static const struct object_op *op_at(const struct why_say *s, uint32_t i)
{
	return &s->h->ops[s->j->number[i]];
}

static void name(const struct why_say *s, uint32_t i)
{
	if (i == RANK_INF)
		buf_str(s->out, "the initial value");
	else
		object_op_name(op_at(s, i), s->out);
}

static void value(const struct object_history *h, int32_t v, struct buf *out)
{
	const struct ir_object *o = &h->ir->objects[h->object];
	ir_print_value(h->ir, o->value, o->enum_id, v, out);
}

static void value_at(const struct why_say *s, uint32_t i)
{
	value(s->h, i == RANK_INF ? s->h->ir->objects[s->h->object].init : op_at(s, i)->value, s->out);
}

/* "r3 returned true" or "w2 wrote false" */
static void did(const struct why_say *s, uint32_t i)
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
static uint32_t source_of(const struct why_say *s, uint32_t read, uint32_t from)
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
static void chain(const struct why_say *s, const struct result *r)
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

static void say(const struct why_say *s, const struct result *r)
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

bool object_why(const struct object_history *h, enum object_condition c, struct buf *out)
{
	struct object_problem j;
	struct result r;
	bool said = false;
	if (object_problem_init(&j, h)) {
		enum lin_verdict v = c == OBJECT_ATOMIC ? lin_atomic(&j.p, ALG_AUTO, &r) : lin_weak(&j.p, &r, c == OBJECT_SAFE);
		said = v == LIN_VIOLATED;
		if (said)
			say(&(struct why_say){ h, &j, out }, &r);
		result_free(&r);
	}
	object_problem_free(&j);
	return said;
}
