#include "report/history_text.h"

#include <string.h>

#include "ir/seqspec.h"

const char *const history_verdicts[] = { "holds", "violated", "unknown", "refused", NULL };

const char *history_limit(const struct limits *lim)
{
	switch (atomic_load(&((struct limits *)(uintptr_t)lim)->spent)) {
	case LIMIT_TIME:
		return "time";
	case LIMIT_MEMORY:
		return "memory";
	default:
		return "none";
	}
}

/* ---- what is to be told ------------------------------------------------------ */

static const char *keep(struct arena *a, struct buf *b)
{
	const char *s = arena_strndup(a, buf_cstr(b), b->len);
	buf_free(b);
	return s;
}

static const char *value(const struct history *h, val v, struct arena *a)
{
	struct buf b;
	buf_init(&b);
	val_print(&h->vals, v, &b);
	return keep(a, &b);
}

const char *history_part_label(const struct history *h, const struct part *p, struct arena *a)
{
	if (p->key == VAL_NONE)
		return NULL;
	const char *what = arena_printf(a, "%s %s", p->element ? "element" : "key", value(h, p->key, a));
	return p->element && p->outer != VAL_NONE ? arena_printf(a, "%s of key %s", what, value(h, p->outer, a)) : what;
}

static const char *operation(const struct history *h, const struct interpretation *in, uint32_t op, bool brief, struct arena *a)
{
	struct buf b;
	buf_init(&b);
	(brief ? hop_print_short : hop_print)(h, &h->ops[op], in->object, &b);
	return keep(a, &b);
}

static void tell_conflict(struct history_told_part *t, struct arena *a, const struct history *h, const struct interpretation *in,
                          const struct result *r)
{
	for (uint32_t i = 0; i < r->nops && i < HISTORY_CONFLICT_TOLD; i++) {
		bool told = r->ops[i] == RANK_INF;
		for (uint32_t j = 0; j < i; j++)
			told |= r->ops[j] == r->ops[i];
		if (!told)
			t->conflict[t->nconflict++] = operation(h, in, r->ops[i], false, a);
	}
	if (r->nops > HISTORY_CONFLICT_TOLD)
		t->more_conflict = r->nops - HISTORY_CONFLICT_TOLD;
}

static void tell_part(struct history_told_part *t, struct arena *a, const struct history *h, const struct interpretation *in,
                      const struct lin_check_options *o, const struct part *p)
{
	const struct result *r = &p->r;
	struct buf b;
	buf_init(&b);
	history_proof_text(h, in, o, p, &b);
	t->label = history_part_label(h, p, a);
	t->sentence = keep(a, &b);
	if (r->culprit == RANK_INF)
		return;
	t->culprit = operation(h, in, r->culprit, true, a);
	t->line = h->ops[r->culprit].line;
	t->open = r->moment_open;
	t->ended = p->ended;
	t->from = p->window_op == RANK_INF || r->moment_open ? 0 : h->ops[p->window_op].line;
	if (o->condition == COND_ATOMIC)
		tell_conflict(t, a, h, in, r);
}

void history_told_make(struct history_told *t, struct arena *a, const struct history *h, const struct interpretation *in,
                       const struct lin_check_options *o, const struct check *c)
{
	uint32_t shown = 0;
	*t = (struct history_told){ .file = h->name,
		                    .format = h->format,
		                    .object = history_object(h, in->object),
		                    .init = value(h, in->init, a),
		                    .spec = h->user ? h->user->path : NULL,
		                    .operations = h->n,
		                    .processes = h->procs.len,
		                    .pending = h->npending,
		                    .failed = h->nfailed,
		                    .keys = h->keys.len,
		                    .object_guessed = in->object_guessed,
		                    .init_guessed = in->init_guessed,
		                    .paired = in->paired,
		                    .nil_any = in->nil_any,
		                    .verdict = c->verdict,
		                    .condition = condition_names[o->condition],
		                    .limit = history_limit(h->lim),
		                    .k = o->k_min ? c->k : o->k,
		                    .least_k = o->k_min,
		                    .has_delta = o->delta,
		                    .delta = c->delta,
		                    .parts = c->nparts,
		                    .violated = c->nviolated,
		                    .undecided = c->nskipped > 0,
		                    .shard = o->shards ? o->shard + 1 : 0,
		                    .shards = o->shards,
		                    .all_parts = c->all_parts };
	for (uint32_t i = 0; i < c->nparts; i++) {
		const struct result *r = &c->parts[i].r;
		t->algorithms[r->algorithm].parts++;
		t->algorithms[r->algorithm].why = r->why;
		if (r->verdict == LIN_VIOLATED && shown < HISTORY_PARTS_TOLD)
			tell_part(&t->shown[shown++], a, h, in, o, &c->parts[i]);
	}
}

/* ---- the text ------------------------------------------------------------------ */

static void safe(struct buf *out, const char *s)
{
	buf_safe(out, s, strlen(s));
}

static void header(const struct history_told *t, struct buf *out)
{
	safe(out, t->file);
	buf_printf(out, ": %u operation%s by %u process%s (%s)", t->operations, t->operations == 1 ? "" : "s", t->processes,
	           t->processes == 1 ? "" : "es", t->format);
	if (t->pending)
		buf_printf(out, ", %u never answered", t->pending);
	if (t->failed)
		buf_printf(out, ", %u failed", t->failed);
	if (t->keys)
		buf_printf(out, ", %u key%s", t->keys, t->keys == 1 ? "" : "s");
	if (t->shard)
		buf_printf(out, "\nshard %u of %u: %u of %u part%s", t->shard, t->shards, t->parts, t->all_parts,
		           t->all_parts == 1 ? "" : "s");
	if (t->missing) {
		buf_str(out, "\nmerged without these of its shards: ");
		safe(out, t->missing);
		buf_printf(out, " (of %u)", t->shards);
	}
	buf_printf(out, "\nchecked as: %s%s, %s ", t->object, t->object_guessed ? " (guessed)" : "",
	           t->spec ? "specified in" : "initially");
	safe(out, t->spec ? t->spec : t->init);
	buf_printf(out, "%s%s%s\n", t->init_guessed ? " (guessed)" : "", t->paired ? ", values taken as [key value] pairs" : "",
	           t->nil_any ? ", reads of nil say nothing" : "");
}

static void verdict_line(const struct history_told *t, bool color, struct buf *out)
{
	static const char *const paint[] = { "\033[1;32m", "\033[1;31m", "\033[1;33m", "\033[1;33m" };
	buf_printf(out, "%s%s%s: ", color ? paint[t->verdict] : "",
	           t->verdict == LIN_HOLDS      ? "HOLDS"
	           : t->verdict == LIN_VIOLATED ? "VIOLATED"
	                                        : "UNKNOWN",
	           color ? "\033[0m" : "");
	if (t->least_k && t->verdict == LIN_HOLDS) {
		buf_printf(out, t->k == 1 ? "atomic (the least k is 1)" : "%u-atomic, and no less", t->k);
	} else {
		buf_str(out, t->verdict == LIN_VIOLATED ? "not " : "");
		if (t->k > 1 && !t->least_k)
			buf_printf(out, "%u-atomic", t->k);
		else
			buf_str(out, t->condition);
	}
	if (!t->parts && t->verdict == LIN_HOLDS)
		buf_str(out, ", as no part of the history is in this shard");
	if (t->verdict == LIN_UNKNOWN && t->missing && !*t->limit)
		buf_str(out, "? shards are missing");
	else if (t->verdict == LIN_UNKNOWN)
		buf_printf(out, "? the limit on %s was reached%s", t->limit, t->parts > 1 ? " for some parts" : "");
	if (t->parts > 1 && t->violated)
		buf_printf(out, " (%u of %u parts%s)", t->violated, t->parts,
		           t->undecided ? "; hard ones among the others were left undecided" : "");
	buf_char(out, '\n');
}

static void part_text(const struct history_told_part *p, struct buf *out)
{
	buf_printf(out, "  %s%s%s\n", p->label ? p->label : "", p->label ? ": " : "", p->sentence);
	if (!p->culprit)
		return;
	buf_printf(out, "%s%s", p->open ? "  certain at the latest when " : "  longest good prefix: until ", p->culprit);
	if (p->line)
		buf_printf(out, " (line %u)", p->line);
	buf_printf(out, " returned; %u operation%s had completed before\n", p->ended, p->ended == 1 ? "" : "s");
	if (p->from && p->line == p->from)
		buf_printf(out, "  failing window: the operation invoked in line %u\n", p->from);
	else if (p->from && p->line)
		buf_printf(out, "  failing window: the operations invoked from line %u to line %u\n", p->from, p->line);
	if (p->nconflict || p->more_conflict)
		buf_str(out, "  in conflict:\n");
	for (uint32_t i = 0; i < p->nconflict; i++)
		buf_printf(out, "    %s\n", p->conflict[i]);
	if (p->more_conflict)
		buf_printf(out, "    and %u more\n", p->more_conflict);
}

/* One line: how many parts each algorithm judged, and why the last of them. */
static void algorithms(const struct history_told *t, struct buf *out)
{
	bool first = true;
	if (!t->parts)
		return;
	buf_str(out, "algorithm: ");
	for (int a = 0; a <= ALG_BRUTE; a++) {
		const struct history_told_algorithm *x = &t->algorithms[a];
		if (!x->parts)
			continue;
		buf_printf(out, "%s%s", first ? "" : ", ", algorithm_names[a]);
		if (t->parts > 1)
			buf_printf(out, " for %u of %u parts", x->parts, t->parts);
		if (x->why)
			buf_printf(out, " (%s)", x->why);
		first = false;
	}
	buf_char(out, '\n');
}

void history_text(const struct history_told *t, bool color, struct buf *out)
{
	header(t, out);
	verdict_line(t, color, out);
	for (uint32_t i = 0; i < t->violated && i < HISTORY_PARTS_TOLD; i++)
		part_text(&t->shown[i], out);
	if (t->violated > HISTORY_PARTS_TOLD)
		buf_printf(out, "  and %u more parts\n", t->violated - HISTORY_PARTS_TOLD);
	if (t->has_delta && t->verdict <= LIN_VIOLATED && t->delta >= 0)
		buf_printf(out,
		           "staleness: it is atomic when reads may be up to %lld old, and not with less "
		           "(in the units of its times; events when it has none)\n",
		           (long long)t->delta);
	else if (t->has_delta && t->verdict <= LIN_VIOLATED)
		buf_str(out, "staleness: no amount of it explains the history\n");
	algorithms(t, out);
}

void history_followed_text(const struct history_followed *f, struct buf *out)
{
	static const char *const word[] = { "HOLDS", "VIOLATED", "UNKNOWN" };
	buf_printf(out, "checked as: %s%s", f->object, f->object_guessed ? " (guessed)" : "");
	if (f->init)
		buf_printf(out, ", initially %s%s", f->init, f->init_guessed ? " (guessed)" : "");
	buf_printf(out, "\n%s: ", word[f->verdict]);
	if (f->verdict == LIN_VIOLATED) {
		buf_printf(out, "not atomic, certain since line %u\n  %s cannot be explained\n", f->line, f->culprit);
		if (f->sentence)
			buf_printf(out, "  %s\n", f->sentence);
	} else if (f->verdict == LIN_UNKNOWN) {
		buf_printf(out, "the limit on %s was reached in line %u\n", f->limit, f->line);
	} else {
		buf_str(out, "atomic so far\n");
	}
	buf_printf(out, "%llu operations, %llu completed; at most %u open at once, %u configurations\n",
	           (unsigned long long)f->operations, (unsigned long long)f->completed, f->open, f->configurations);
}

/* ---- orders --------------------------------------------------------------------- */

static void order_line(const struct history *h, const struct interpretation *in, bool weak, uint32_t self, uint32_t saw,
                       struct buf *out)
{
	buf_str(out, "  ");
	hop_print(h, &h->ops[weak ? self : saw], in->object, out);
	if (weak && h->ops[self].fn == FN_READ) {
		buf_str(out, saw == self ? " overlaps a write" : " saw ");
		if (saw == RANK_INF)
			buf_str(out, "the initial value");
		else if (saw != self)
			hop_print(h, &h->ops[saw], in->object, out);
	}
	buf_char(out, '\n');
}

void history_orders_text(const struct history *h, const struct interpretation *in, const struct lin_check_options *o,
                         const struct check *c, struct buf *out)
{
	bool weak = o->condition == COND_REGULAR || o->condition == COND_SAFE;
	struct arena a;
	arena_init(&a, 0);
	for (uint32_t k = 0; k < c->nparts; k++) {
		const struct part *p = &c->parts[k];
		if (p->r.verdict != LIN_HOLDS || !p->r.order)
			continue;
		const char *label = history_part_label(h, p, &a);
		buf_printf(out, "order: %s%s\n", label ? label : "", label ? ": " : "");
		for (uint32_t i = 0; i < p->r.norder; i++)
			order_line(h, in, weak, c->ops ? c->ops[p->first + i] : i, p->r.order[i], out);
	}
	arena_free(&a);
}
