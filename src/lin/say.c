#include "lin/say.h"

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
	buf_str(s->out, write ? ", which had ended before it began, had overwritten that"
	                      : ", which had ended before it began, returned ");
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

void say_proof(const struct history *h, const struct interpretation *in, const struct lin_check_options *o,
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
		buf_str(out, h->ops[f[0]].fn == FN_READ || h->ops[f[0]].fn == FN_CAS ? ", which nothing had written and which is not the initial value "
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
			buf_printf(out, " must have found the element %s, but whatever is let happen as late as it can, "
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

const char *say_limit(const struct limits *lim)
{
	switch (atomic_load(&((struct limits *)(uintptr_t)lim)->spent)) {
	case LIMIT_TIME: return "time";
	case LIMIT_MEMORY: return "memory";
	default: return "none";
	}
}

/* ---- text ------------------------------------------------------------------------- */

static const char *verdict_word(enum lin_verdict v)
{
	static const char *const w[] = { "holds", "violated", "unknown", "refused" };
	return w[v];
}

static void condition(const struct lin_check_options *o, struct buf *out)
{
	if (o->k > 1)
		buf_printf(out, "%u-atomic", o->k);
	else
		buf_str(out, condition_names[o->condition]);
}

static void header(const struct say *s)
{
	const struct history *h = s->h;
	struct buf *out = s->out;
	buf_safe(out, h->name, strlen(h->name));
	buf_printf(out, ": %u operation%s by %u process%s (%s)", h->n, h->n == 1 ? "" : "s", h->procs.len,
	           h->procs.len == 1 ? "" : "es", h->format);
	if (!h->n && h->nskipped)
		buf_printf(out, ", nothing but %u record%s that %s no client's", h->nskipped, h->nskipped == 1 ? "" : "s",
		           h->nskipped == 1 ? "is" : "are");
	if (h->npending)
		buf_printf(out, ", %u never answered", h->npending);
	if (h->nfailed)
		buf_printf(out, ", %u failed", h->nfailed);
	if (h->keys.len)
		buf_printf(out, ", %u key%s", h->keys.len, h->keys.len == 1 ? "" : "s");
	buf_str(out, "\nchecked as: ");
	buf_str(out, history_object(h, s->in->object));
	if (s->in->object_guessed)
		buf_str(out, " (guessed)");
	if (h->user) {
		buf_str(out, ", specified in ");
		buf_safe(out, h->user->path, strlen(h->user->path));
	} else {
		buf_str(out, ", initially ");
		value(s, s->in->init);
	}
	if (s->in->init_guessed)
		buf_str(out, " (guessed)");
	if (s->in->paired)
		buf_str(out, ", values taken as [key value] pairs");
	if (s->in->nil_any)
		buf_str(out, ", reads of nil say nothing");
	buf_char(out, '\n');
}

static void part_name(const struct say *s, const struct part *p)
{
	if (p->key == VAL_NONE)
		return;
	buf_str(s->out, p->element ? "element " : "key ");
	value(s, p->key);
	if (p->element && p->outer != VAL_NONE) {
		buf_str(s->out, " of key ");
		value(s, p->outer);
	}
	buf_str(s->out, ": ");
}

#define MAX_CONFLICT_SHOWN 12

static void violated_part(const struct say *s, const struct part *p)
{
	const struct result *r = &p->r;
	struct buf *out = s->out;
	buf_str(out, "  ");
	part_name(s, p);
	say_proof(s->h, s->in, s->o, p, out);
	buf_char(out, '\n');
	if (r->culprit == RANK_INF)
		return;
	const struct hop *c = &s->h->ops[r->culprit];
	buf_str(out, r->moment_open ? "  certain at the latest when " : "  longest good prefix: until ");
	hop_print_short(s->h, c, s->in->object, out);
	if (c->line)
		buf_printf(out, " (line %u)", c->line);
	buf_printf(out, " returned; %u operation%s had completed before\n", p->ended, p->ended == 1 ? "" : "s");
	uint32_t from = p->window_op == RANK_INF || r->moment_open ? 0 : s->h->ops[p->window_op].line;
	if (from && c->line == from)
		buf_printf(out, "  failing window: the operation invoked in line %u\n", from);
	else if (from && c->line)
		buf_printf(out, "  failing window: the operations invoked from line %u to line %u\n", from, c->line);
	if (r->nops && s->o->condition == COND_ATOMIC) {
		buf_str(out, "  in conflict:\n");
		for (uint32_t i = 0; i < r->nops && i < MAX_CONFLICT_SHOWN; i++) {
			bool told = r->ops[i] == RANK_INF;
			for (uint32_t j = 0; j < i; j++)
				told |= r->ops[j] == r->ops[i];
			if (told)
				continue;
			buf_str(out, "    ");
			op(s, r->ops[i]);
			buf_char(out, '\n');
		}
		if (r->nops > MAX_CONFLICT_SHOWN)
			buf_printf(out, "    and %u more\n", r->nops - MAX_CONFLICT_SHOWN);
	}
}

static void algorithms(const struct say *s, const struct check *c)
{
	/* one line: how many parts each algorithm judged, and why the first */
	uint32_t count[ALG_BRUTE + 1] = { 0 };
	const char *why[ALG_BRUTE + 1] = { NULL };
	for (uint32_t i = 0; i < c->nparts; i++) {
		count[c->parts[i].r.algorithm]++;
		why[c->parts[i].r.algorithm] = c->parts[i].r.why;
	}
	buf_str(s->out, "algorithm: ");
	bool first = true;
	for (int a = 0; a <= ALG_BRUTE; a++) {
		if (!count[a])
			continue;
		buf_printf(s->out, "%s%s", first ? "" : ", ", algorithm_names[a]);
		if (c->nparts > 1)
			buf_printf(s->out, " for %u of %u parts", count[a], c->nparts);
		if (why[a])
			buf_printf(s->out, " (%s)", why[a]);
		first = false;
	}
	buf_char(s->out, '\n');
}

static void witness_text(const struct say *s, const struct check *c)
{
	for (uint32_t k = 0; k < c->nparts; k++) {
		const struct part *p = &c->parts[k];
		if (p->r.verdict != LIN_HOLDS || !p->r.order)
			continue;
		buf_str(s->out, "order: ");
		part_name(s, p);
		buf_char(s->out, '\n');
		bool weak = s->o->condition == COND_REGULAR || s->o->condition == COND_SAFE;
		for (uint32_t i = 0; i < p->r.norder; i++) {
			buf_str(s->out, "  ");
			if (!weak) {
				op(s, p->r.order[i]);
			} else {
				uint32_t self = c->ops ? c->ops[p->first + i] : i;
				if (p->r.order[i] == self && s->h->ops[self].fn == FN_WRITE)
					buf_str(s->out, "");
				op(s, self);
				if (s->h->ops[self].fn == FN_READ) {
					buf_str(s->out, p->r.order[i] == self ? " overlaps a write" : " saw ");
					if (p->r.order[i] != self)
						op(s, p->r.order[i]);
				}
			}
			buf_char(s->out, '\n');
		}
	}
}

void say_text(const struct history *h, const struct interpretation *in, const struct lin_check_options *o,
              const struct check *c, bool witness, bool color, struct buf *out)
{
	const struct say s = { h, in, o, out };
	static const char *const paint[] = { "\033[1;32m", "\033[1;31m", "\033[1;33m", "\033[1;33m" };
	header(&s);
	if (color)
		buf_str(out, paint[c->verdict]);
	buf_str(out, c->verdict == LIN_HOLDS ? "HOLDS" : c->verdict == LIN_VIOLATED ? "VIOLATED" : "UNKNOWN");
	if (color)
		buf_str(out, "\033[0m");
	buf_str(out, ": ");
	if (o->k_min && c->verdict == LIN_HOLDS) {
		buf_printf(out, c->k == 1 ? "atomic (the least k is 1)" : "%u-atomic, and no less", c->k);
	} else {
		buf_str(out, c->verdict == LIN_HOLDS ? "" : c->verdict == LIN_VIOLATED ? "not " : "");
		condition(o, out);
	}
	if (c->verdict == LIN_UNKNOWN)
		buf_printf(out, "? the limit on %s was spent%s", say_limit(h->lim),
		           c->nparts > 1 ? " for some parts" : "");
	if (c->nparts > 1 && c->nviolated)
		buf_printf(out, " (%u of %u parts%s)", c->nviolated, c->nparts,
		           c->nskipped ? "; hard ones among the others were left undecided" : "");
	buf_char(out, '\n');
	uint32_t shown = 0;
	for (uint32_t i = 0; i < c->nparts; i++)
		if (c->parts[i].r.verdict == LIN_VIOLATED && shown++ < 5)
			violated_part(&s, &c->parts[i]);
	if (shown > 5)
		buf_printf(out, "  and %u more parts\n", shown - 5);
	if (o->delta && c->verdict <= LIN_VIOLATED) {
		if (c->delta >= 0)
			buf_printf(out, "staleness: it is atomic when reads may be up to %lld old, and not with less "
			           "(in the units of its times; events when it has none)\n", (long long)c->delta);
		else
			buf_str(out, "staleness: no amount of it explains the history\n");
	}
	algorithms(&s, c);
	if (witness)
		witness_text(&s, c);
}

/* ---- JSON ------------------------------------------------------------------------------ */

static void json_ops(const struct say *s, const char *name, const uint32_t *ops, uint32_t n)
{
	buf_printf(s->out, ",\"%s\":[", name);
	for (uint32_t i = 0; i < n; i++) {
		if (ops[i] == RANK_INF)
			buf_printf(s->out, "%snull", i ? "," : "");
		else
			buf_printf(s->out, "%s%u", i ? "," : "", ops[i]);
	}
	buf_char(s->out, ']');
}

static void json_part(const struct say *s, const struct part *p, bool witness)
{
	const struct result *r = &p->r;
	struct buf *out = s->out, text;
	buf_printf(out, "{\"verdict\":\"%s\",\"operations\":%u,\"algorithm\":\"%s\"", verdict_word(r->verdict),
	           p->n, algorithm_names[r->algorithm]);
	if (p->key != VAL_NONE) {
		buf_str(out, p->element ? ",\"element\":" : ",\"key\":");
		val_json(&s->h->vals, p->key, out);
	}
	if (r->why) {
		buf_str(out, ",\"why\":");
		buf_json(out, r->why, strlen(r->why));
	}
	if (s->o->k_min)
		buf_printf(out, ",\"k\":%u", p->k);
	if (s->o->delta)
		buf_printf(out, ",\"delta\":%lld", (long long)p->delta);
	if (r->verdict == LIN_HOLDS && r->order && witness)
		json_ops(s, s->o->condition == COND_REGULAR || s->o->condition == COND_SAFE ? "saw" : "order",
		         r->order, r->norder);
	if (r->verdict == LIN_VIOLATED) {
		buf_printf(out, ",\"proof\":\"%s\"", proof_names[r->proof]);
		json_ops(s, "conflict", r->ops, r->nops);
		if (r->culprit != RANK_INF) {
			buf_printf(out, ",\"culprit\":%u,\"line\":%u,\"exact\":%s,\"prefix\":%u", r->culprit,
			           s->h->ops[r->culprit].line, r->moment_open ? "false" : "true", p->ended);
			if (p->window_op != RANK_INF && !r->moment_open)
				buf_printf(out, ",\"window\":[%u,%u]", s->h->ops[p->window_op].line,
				           s->h->ops[r->culprit].line);
		}
		for (uint32_t i = 0; i < r->nstates; i++) {
			buf_str(out, i ? "," : ",\"states\":[");
			buf_json(out, r->states[i], strlen(r->states[i]));
		}
		if (r->nstates)
			buf_printf(out, "],\"more_states\":%s", r->more_states ? "true" : "false");
		say_facts(s->h, s->in, r, out);
		buf_init(&text);
		say_proof(s->h, s->in, s->o, p, &text);
		buf_str(out, ",\"sentence\":");
		buf_json(out, buf_cstr(&text), text.len);
		buf_free(&text);
	}
	buf_char(out, '}');
}

void say_json(const struct history *h, const struct interpretation *in, const struct lin_check_options *o,
              const struct check *c, bool witness, struct buf *out)
{
	const struct say s = { h, in, o, out };
	buf_str(out, "{\"file\":");
	buf_json(out, h->name, strlen(h->name));
	buf_printf(out, ",\"format\":\"%s\",\"object\":\"%s\",\"init\":", h->format, history_object(h, in->object));
	val_json(&h->vals, in->init, out);
	if (h->user) {
		buf_str(out, ",\"spec\":");
		buf_json(out, h->user->path, strlen(h->user->path));
	}
	buf_printf(out, ",\"guessed\":[%s%s%s]", in->object_guessed ? "\"object\"" : "",
	           in->object_guessed && in->init_guessed ? "," : "", in->init_guessed ? "\"init\"" : "");
	if (in->nil_any)
		buf_str(out, ",\"nil_reads\":\"ignored\"");
	if (in->paired)
		buf_str(out, ",\"pairs\":true");
	if (in->failed_cas)
		buf_str(out, ",\"failed_cas\":\"unequal\"");
	buf_printf(out, ",\"condition\":\"%s\",\"k\":%u,\"operations\":%u,\"processes\":%u,\"pending\":%u,\"failed\":%u",
	           condition_names[o->condition], o->k_min ? c->k : o->k, h->n, h->procs.len, h->npending, h->nfailed);
	buf_printf(out, ",\"verdict\":\"%s\"", verdict_word(c->verdict));
	if (c->verdict == LIN_UNKNOWN)
		buf_printf(out, ",\"limit\":\"%s\"", say_limit(h->lim));
	if (o->delta)
		buf_printf(out, ",\"delta\":%lld", (long long)c->delta);
	buf_str(out, ",\"parts\":[");
	for (uint32_t i = 0; i < c->nparts; i++) {
		buf_str(out, i ? "," : "");
		json_part(&s, &c->parts[i], witness);
	}
	buf_char(out, ']');
	say_log(h, in, o, c, out);
	buf_char(out, '}');
}
