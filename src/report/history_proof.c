#include "report/history_text.h"

#include <string.h>

#include "ir/seqspec.h"

struct say {
	const struct history *h;
	const struct interpretation *in;
	const struct lin_check_options *o;
	struct buf *out;
};

/* "read -> 3 by process 7 (line 12)" */
static void op(const struct say *s, uint32_t i)
{
	if (i == RANK_INF)
		buf_str(s->out, "the initial value");
	else
		hop_print(s->h, &s->h->ops[i], s->in->object, s->out);
}

static void value(const struct say *s, val v)
{
	val_print(&s->h->vals, v, s->out);
}

static val value_of(const struct say *s, uint32_t i)
{
	const struct hop *o = i == RANK_INF ? NULL : &s->h->ops[i];
	return !o ? s->in->init : o->fn == FN_READ || o->fn == FN_DEQ || o->fn == FN_POP || o->fn == FN_POLL ? o->b : o->a;
}

/* x ended before y began, so what x saw or wrote came first. */
static void before(const struct say *s, uint32_t x, uint32_t y)
{
	if (x == RANK_INF) {
		buf_str(s->out, "the register started with ");
		value(s, s->in->init);
	} else {
		op(s, x);
		buf_str(s->out, " had ended when ");
		op(s, y);
		buf_str(s->out, " began");
	}
	buf_str(s->out, ", so ");
	value(s, value_of(s, x));
	buf_str(s->out, " came before ");
	value(s, value_of(s, y));
}

/* The last write of the value before the lower bound. */
static uint32_t older_write(const struct say *s, uint32_t read, uint32_t bound)
{
	const struct hop *r = &s->h->ops[read], *b = &s->h->ops[bound];
	uint32_t last = RANK_INF;
	for (uint32_t i = 0; i < s->h->n; i++) {
		const struct hop *w = &s->h->ops[i];
		if (w->fn == FN_WRITE && w->a == r->b && w->call < r->ret && w->key == r->key &&
		    (b->fn != FN_WRITE || w->call < b->call))
			last = i;
	}
	return last;
}

static void chain(const struct say *s, const struct result *r)
{
	uint32_t read = r->ops[r->nops - 1], by = r->ops[r->nops - 2];
	uint32_t old = older_write(s, read, by);
	bool write = s->h->ops[by].fn == FN_WRITE;
	op(s, read);
	buf_str(s->out, " returned ");
	value(s, s->h->ops[read].b);
	if (old != RANK_INF && s->h->ops[old].line)
		buf_printf(s->out, ", last written in line %u", s->h->ops[old].line);
	else if (old == RANK_INF)
		buf_str(s->out, ", the initial value");
	buf_str(s->out, ", but ");
	op(s, by);
	buf_str(s->out,
	        write ? ", which had ended before it began, had overwritten that" : ", which had ended before it began, returned ");
	if (!write) {
		value(s, s->h->ops[by].b);
		buf_str(s->out, ", written later");
	}
	if (r->nops > 2)
		buf_printf(s->out, " (a chain of %u operations shows that it is later)", r->nops);
	buf_char(s->out, '.');
}

static void exhausted(const struct say *s, const struct part *part)
{
	const struct result *r = &part->r;
	if (r->culprit == RANK_INF) {
		buf_str(s->out, "No order of the operations is legal for the object; every one was tried.");
		return;
	}
	if (r->moment_open) {
		buf_str(s->out, "No order of the operations invoked before ");
		op(s, r->culprit);
		buf_str(s->out, " returned is legal; every one was tried.");
		return;
	}
	op(s, r->culprit);
	buf_str(s->out, " cannot be explained: ");
	bool known = r->nstates;
	if (known) {
		buf_printf(s->out, "without it, the %s can only be ", history_object(s->h, s->in->object));
		for (uint32_t i = 0; i < r->nstates; i++)
			buf_printf(s->out, "%s%s", !i ? "" : i + 1 == r->nstates && !r->more_states ? " or " : ", ", r->states[i]);
		buf_printf(s->out, "%s when it returns", r->more_states ? " or others" : "");
	}
	if (r->nops > 1)
		buf_printf(s->out, "%sno order of the %u operations that overlap it is legal; every one was tried.",
		           known ? ", and " : "", r->nops);
	else
		buf_str(s->out, known ? "." : "no order of the operations is legal; every one was tried.");
}

/* "between write 0 (line 3) and read -> 1 (line 7)" */
static void between(const struct say *s, uint32_t other, uint32_t shows)
{
	buf_str(s->out, other == RANK_INF ? "before " : "between ");
	if (other != RANK_INF) {
		op(s, other);
		buf_str(s->out, " and ");
	}
	op(s, shows);
}

#define MAX_SPANS_SHOWN 3

static void lack(const struct say *s, const struct result *r)
{
	uint32_t n = (r->nops + 1) / 3;
	const struct hop *shows = &s->h->ops[r->ops[1]];
	buf_str(s->out, "The register must have become ");
	value(s, shows->fn == FN_CAS ? shows->a : shows->b);
	if (n > 1)
		buf_printf(s->out, " %u times: ", n);
	else
		buf_char(s->out, ' ');
	for (uint32_t i = 0; i < n && i < MAX_SPANS_SHOWN; i++) {
		buf_str(s->out, i ? i + 1 == n ? ", and " : ", " : "");
		between(s, r->ops[2 * i], r->ops[2 * i + 1]);
	}
	if (n > MAX_SPANS_SHOWN)
		buf_printf(s->out, ", and %u times more until ", n - MAX_SPANS_SHOWN);
	if (n > MAX_SPANS_SHOWN)
		op(s, r->ops[2 * n - 1]);
	if (n == 1)
		buf_str(s->out, "; but no operation could have done that.");
	else
		buf_printf(s->out, "; but only %u operation%s could have done that.", n - 1, n == 2 ? "" : "s");
}

void history_proof_text(const struct history *h, const struct interpretation *in, const struct lin_check_options *o,
                        const struct part *part, struct buf *out)
{
	const struct say s = { h, in, o, out };
	const struct result *r = &part->r;
	const uint32_t *f = r->ops;
	bool inside = r->proof == PROOF_INSIDE;
	switch (r->proof) {
	case PROOF_UNWRITTEN:
		op(&s, f[0]);
		buf_str(out, h->ops[f[0]].fn == FN_CAS ? " succeeded, so it found " : " returned ");
		value(&s, value_of(&s, f[0]));
		buf_str(out, h->ops[f[0]].fn == FN_READ || h->ops[f[0]].fn == FN_CAS
		                     ? ", which nothing had written and which is not the initial value "
		                     : ", which nothing had put in ");
		buf_char(out, '(');
		value(&s, in->init);
		buf_str(out, ").");
		break;
	case PROOF_FUTURE:
		op(&s, f[0]);
		buf_str(out, " returned before ");
		op(&s, f[1]);
		buf_str(out, ", the first to bring that value, was invoked.");
		break;
	case PROOF_CHAIN:
		chain(&s, r);
		break;
	case PROOF_ZONES:
	case PROOF_INSIDE:
		before(&s, f[0], inside ? f[2] : f[3]);
		buf_str(out, "; but ");
		before(&s, inside ? f[3] : f[2], f[1]);
		buf_str(out, ". Each of the two is written only once.");
		break;
	case PROOF_STALE:
		op(&s, f[0]);
		buf_str(out, " returned ");
		value(&s, h->ops[f[0]].b);
		buf_str(out, ", but ");
		op(&s, f[2]);
		buf_str(out, " had overwritten it before the read began.");
		break;
	case PROOF_FIFO:
		op(&s, f[0]);
		buf_str(out, " had ended when ");
		op(&s, f[1]);
		buf_str(out, " began, but ");
		op(&s, f[3]);
		if (f[2] == RANK_INF) {
			buf_str(out, " took the second while the first never came out.");
		} else {
			buf_str(out, " had ended when ");
			op(&s, f[2]);
			buf_str(out, " began: first in, last out.");
		}
		break;
	case PROOF_TWICE:
		op(&s, f[0]);
		buf_str(out, " and ");
		op(&s, f[1]);
		buf_str(out, " both took a value that was put in once.");
		break;
	case PROOF_NOT_EMPTY:
		op(&s, f[0]);
		buf_str(out, " found nothing, but at every moment of it some value was inside.");
		break;
	case PROOF_PRIORITY:
		op(&s, f[0]);
		buf_str(out, " took its value although at every moment of it a smaller one was inside");
		if (r->nops > 1 && f[1] != RANK_INF) {
			buf_str(out, ", such as the one of ");
			op(&s, f[1]);
		}
		buf_char(out, '.');
		break;
	case PROOF_COUNTS:
		if (object_has(in->object, OBJECT_ELEMENTS)) {
			const struct hop *x = &h->ops[f[0]];
			bool out_of = x->fn == FN_ADD ? x->res != RES_FALSE : x->res == RES_FALSE;
			op(&s, f[0]);
			buf_printf(out,
			           " must have found the element %s, but whatever is let happen as late as it can, "
			           "nothing that is still open then has %s it: no order exists.",
			           out_of ? "missing" : "there", out_of ? "removed" : "added");
			break;
		}
		buf_printf(out, "Taking off, again and again, what can be at the %s leaves values that cannot: no order exists.",
		           object_type(in->object)->first);
		break;
	case PROOF_SUPPLY:
		lack(&s, r);
		break;
	case PROOF_EXHAUSTED:
	case PROOF_NONE:
		exhausted(&s, part);
	}
}
