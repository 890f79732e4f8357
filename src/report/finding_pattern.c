/*
 * finding_pattern: what a gap means for the variables that a finding is about
 * (dynamic/facts.h): the pattern, whether it is shown by default, and how high it ranks.
 *
 * One variable, block - other - block (Lu et al., AVIO, ASPLOS 2006, fig. 4): read, write,
 * blind write is a lost update; read, write, update a check-then-act; read, write, read a
 * torn read; write, write, read and a value that is not read again are stale values; write,
 * read, write shows an intermediate state. Two variables that another thread changes in
 * one section, changed or read on different sides of the gap, are a pair (MUVI's).
 *
 * An update, a read and a write of one variable in one section, is whole by itself: on
 * both sides of a gap (counters, reference counts, lists) it is evidence of nothing.
 *
 * What the compiler knew of the code (cc/effects.h; clang's objects have it) tells an update that commutes from one whose value
 * is used, and whether the second part depends on the first. Without it lines are compared.
 *
 * What is not known never makes a finding less: LABEL_UNKNOWN is shown.
 *
 * Two classes are weaker: what is not one of the patterns that they are known for is no finding. Main and the first
 * function of a thread are most often a list of steps, or a loop, that is not meant to be atomic (first_function_shows). A
 * check without the lock in front of a section under it (`bare`) is none when the section checks again (bare_shows).
 */
#include <string.h>

#include "base/invariant.h"
#include "report/finding_int.h"

/* Others come in all the time: at least 2 % of so many executions. */
enum { BUSY_COUNT = 100, BUSY_PERCENT = 2 };
/* Without lines: calls this near belong to one statement. */
enum { ONE_STATEMENT = 48 };
/* Accesses of a section that is about a few variables. */
enum { FEW = 8 };

static const struct {
	const char *name;
	uint32_t tier, score;
} labels[] = {
	[LABEL_NONE] = { NULL, 1, 100 },
	[LABEL_LOST_UPDATE] = { "lost update", 1, 80 },
	[LABEL_WRONG_LOCK] = { "wrong lock", 1, 75 },
	[LABEL_CHECK_THEN_ACT] = { "check-then-act", 1, 70 },
	[LABEL_BROKEN_INVARIANT] = { "broken invariant", 1, 60 },
	[LABEL_TORN_READ] = { "torn read", 1, 55 },
	[LABEL_STALE_VALUE] = { "stale value", 1, 45 },
	[LABEL_INTERMEDIATE] = { "intermediate state seen", 1, 40 },
	[LABEL_UNKNOWN] = { "unknown", 1, 30 },
	[LABEL_BUSY_GAP] = { "busy gap", 2, 25 },
	[LABEL_DELIBERATE_RELEASE] = { "deliberate release", 2, 20 },
	[LABEL_HAND_OVER] = { "hand-over", 2, 15 },
	[LABEL_SPLIT_COUNTERS] = { "split counters", 2, 10 },
	[LABEL_ONE_THREAD_ROLE] = { "one-thread role", 2, 10 },
	[LABEL_SEPARATE_DATA] = { "separate data", 2, 5 },
};
_Static_assert(sizeof labels / sizeof *labels == LABEL_KINDS, "each has a name");

const char *label_name(enum label l)
{
	return labels[l].name;
}

enum { ENOUGH = 16 }; /* executions of a gap that show a habit */

/* ---- one variable ---- */

static struct src_frame place(struct writer *w, uint64_t pc)
{
	struct src_frame v[FINDING_MAX_FRAMES];
	struct raw_stack st = { &pc, 1 };
	return symbols_stack(w->sym, &st, v, FINDING_MAX_FRAMES) ? v[0] : (struct src_frame){ 0 };
}

/* Reads it, then writes it. */
static bool updates(const struct raw_fact *f, unsigned side)
{
	unsigned u = f->use[side];
	return u & FACT_READ && u & FACT_WRITE && !(u & FACT_BLIND);
}

/* x++, x += n: read and written in one statement, and not looked at before. The compiler knows; else lines tell. */
static bool one_statement(struct writer *w, const struct raw_fact *f, unsigned side)
{
	bool looked;
	if (!updates(f, side))
		return false;
	if (symbols_update(w->sym, f->read[side], f->write[side], &looked))
		return !looked;
	struct src_frame r = place(w, f->read[side]), x = place(w, f->write[side]);
	if (!r.file || !x.file)
		return f->write[side] - f->read[side] < ONE_STATEMENT;
	return r.line == x.line && !strcmp(r.file, x.file);
}

/* Such an update is whole by itself: counters, reference counts. Not one that gives an index, as far as is known. */
static bool counts(struct writer *w, const struct raw_fact *f, unsigned side)
{
	bool looked;
	char kind = updates(f, side) ? symbols_update(w->sym, f->read[side], f->write[side], &looked) : SYM_UNKNOWN;
	return kind != SYM_INDEX && one_statement(w, f, side);
}

/* Is what the update gave used as an index? That is no counter: what it leads to is the block's. */
static bool index_update(struct writer *w, const struct raw_fact *f, unsigned side)
{
	bool looked;
	return updates(f, side) && symbols_update(w->sym, f->read[side], f->write[side], &looked) == SYM_INDEX;
}

/* What the compiler knows of the calls in the block that lead to both sides of the gap. */
static char calls_of(struct writer *w, const struct view *v)
{
	const struct src_frame *a = finding_in_block(v, &v->commit), *b = finding_in_block(v, &v->violation);
	return a && b && v->f->commit.n ? symbols_calls(w->sym, v->f->commit.pcs[0], a, b) : SYM_UNKNOWN;
}

static bool only_reads(const struct raw_fact *f, unsigned side)
{
	return f->use[side] & FACT_READ && !(f->use[side] & FACT_WRITE);
}

static enum label label_of(const struct raw_fact *f)
{
	unsigned b = f->use[FACT_BEFORE], a = f->use[FACT_AFTER], o = f->use[FACT_OTHER];
	if (o & FACT_WRITE) {
		if (b & FACT_READ && a & FACT_BLIND)
			return LABEL_LOST_UPDATE;
		if (only_reads(f, FACT_BEFORE))
			return a & FACT_WRITE ? LABEL_CHECK_THEN_ACT : a ? LABEL_TORN_READ : LABEL_STALE_VALUE;
		if (b & FACT_WRITE && only_reads(f, FACT_AFTER))
			return LABEL_STALE_VALUE;
		return b && a ? LABEL_SPLIT_COUNTERS : b ? LABEL_HAND_OVER : LABEL_SEPARATE_DATA;
	}
	if (!(o & FACT_READ))
		return b & FACT_WRITE || a & FACT_WRITE ? LABEL_ONE_THREAD_ROLE : LABEL_SEPARATE_DATA;
	if (b & FACT_WRITE && a & FACT_WRITE)
		return (b | a) & FACT_BLIND ? LABEL_INTERMEDIATE : LABEL_SPLIT_COUNTERS;
	return b & FACT_WRITE ? LABEL_HAND_OVER : LABEL_ONE_THREAD_ROLE;
}

/* A value that was read before the gap and is not looked at again: does what follows use
 * anything of others', other than to count? */
static bool acts(struct writer *w, const struct raw_finding *f)
{
	for (uint32_t i = 0; i < f->facts.len; i++) {
		const struct raw_fact *x = &f->facts.data[i];
		if (x->use[FACT_AFTER] && !counts(w, x, FACT_AFTER))
			return true;
	}
	return false;
}

/* Nothing that others use is touched after the gap: this execution ended there, another may go on. */
static bool ends_there(const struct raw_finding *f)
{
	for (uint32_t i = 0; i < f->facts.len; i++)
		if (f->facts.data[i].use[FACT_AFTER])
			return false;
	return true;
}

/* ---- pairs ---- */

/* Written on this side, and not used on the other. */
static bool one_sided(const struct raw_fact *f, unsigned side)
{
	return f->use[side] & FACT_WRITE && !f->use[side == FACT_BEFORE ? FACT_AFTER : FACT_BEFORE];
}

/* Two counters, which a section reads that shows dozens of them (statistics). */
static bool statistics(struct writer *w, const struct raw_fact *x, const struct raw_fact *y)
{
	return counts(w, x, FACT_BEFORE) && counts(w, y, FACT_AFTER) && x->span > FEW;
}

/* Two variables, one on each side, that one section of another thread uses. */
static enum label pair_of(struct writer *w, const struct raw_fact *x, const struct raw_fact *y)
{
	unsigned both = x->use[FACT_OTHER] & y->use[FACT_OTHER];
	if (!x->section || x->section != y->section)
		return LABEL_SEPARATE_DATA;
	if (one_sided(x, FACT_BEFORE) && one_sided(y, FACT_AFTER) && !statistics(w, x, y))
		return only_reads(x, FACT_OTHER) && only_reads(y, FACT_OTHER) ? LABEL_INTERMEDIATE
		       : both & FACT_WRITE && !counts(w, x, FACT_OTHER)       ? LABEL_BROKEN_INVARIANT
		                                                              : LABEL_SEPARATE_DATA;
	if (both & FACT_WRITE && only_reads(x, FACT_BEFORE) && only_reads(y, FACT_AFTER) && !x->use[FACT_AFTER] &&
	    !y->use[FACT_BEFORE])
		return LABEL_TORN_READ;
	if (both & FACT_WRITE && only_reads(x, FACT_BEFORE) && !x->use[FACT_AFTER] && one_sided(y, FACT_AFTER) &&
	    !one_statement(w, y, FACT_AFTER))
		return LABEL_CHECK_THEN_ACT;
	return LABEL_SEPARATE_DATA;
}

/* ---- a gap ---- */

static void better(struct judged *j, enum label l, const struct raw_fact *x, const struct raw_fact *y)
{
	bool changed = j->fact && j->fact->changed;
	if (j->fact && (labels[l].score < labels[j->label].score || (l == j->label && (!x->changed || changed))))
		return;
	j->label = l;
	j->fact = x;
	j->second = y;
}

/* Of a check without the lock: is it the variable that was checked? */
static bool checked(const struct raw_finding *f, const struct raw_fact *x)
{
	return f->address2 - x->address < x->size;
}

/* Two updates that give an index each, and what both lead to is used together: elements that belong together. */
static bool torn_updates(struct writer *w, const struct view *v, const struct raw_fact *x)
{
	assert(v->f->kind == FIND_LOCK);
	return x->use[FACT_OTHER] & FACT_WRITE && index_update(w, x, FACT_BEFORE) && index_update(w, x, FACT_AFTER) &&
	       calls_of(w, v);
}

static void judge_lock(struct writer *w, const struct view *v, struct judged *j)
{
	const struct raw_finding *f = v->f;
	bool acting = acts(w, f);
	j->label = LABEL_SEPARATE_DATA;
	for (uint32_t i = 0; i < f->facts.len; i++) {
		const struct raw_fact *x = &f->facts.data[i];
		if (f->bare && !checked(f, x))
			continue;
		enum label l = label_of(x);
		if (l == LABEL_STALE_VALUE && !x->use[FACT_AFTER] && !acting)
			l = ends_there(f) ? LABEL_UNKNOWN : LABEL_SPLIT_COUNTERS;
		if (l == LABEL_SPLIT_COUNTERS && torn_updates(w, v, x))
			l = LABEL_TORN_READ;
		if (l == LABEL_HAND_OVER && updates(x, FACT_BEFORE))
			l = LABEL_SPLIT_COUNTERS;
		better(j, l, x, NULL);
		for (uint32_t k = 0; k < f->facts.len; k++)
			if (k != i && pair_of(w, x, &f->facts.data[k]) != LABEL_SEPARATE_DATA)
				better(j, pair_of(w, x, &f->facts.data[k]), x, &f->facts.data[k]);
	}
	/* What others were not seen to do in a few executions they may do in the next. */
	bool absent = j->label == LABEL_ONE_THREAD_ROLE || j->label == LABEL_SEPARATE_DATA;
	if (labels[j->label].tier > 1 && (!f->known || (absent && f->count < ENOUGH)))
		j->label = LABEL_UNKNOWN;
	bool weak = j->label != LABEL_LOST_UPDATE && j->label != LABEL_CHECK_THEN_ACT;
	if (labels[j->label].tier == 1 && f->inherited)
		j->label = LABEL_DELIBERATE_RELEASE;
	else if (labels[j->label].tier == 1 && weak && f->count >= BUSY_COUNT &&
	         f->came * 100ull >= f->count * (uint64_t)BUSY_PERCENT)
		j->label = LABEL_BUSY_GAP;
}

static void reason(struct judged *j, struct arena *a, int points, const char *why)
{
	j->score = (uint32_t)((int)j->score + points);
	j->reasons = arena_printf(a, "%s, %s %+d", j->reasons, why, points);
}

/*
 * A section after the gap that looks again before it writes has thought of it; in main or a thread's first function that is
 * common, and so is a flag that is read twice. And a gap in which the thread was ordered with others (it made or
 * joined some, waited, met them at a barrier), or which leads to the next turn of a loop, lies between two of the steps.
 */
static bool first_function_shows(struct writer *w, const struct view *v)
{
	const struct judged *j = &v->judged;
	assert(v->first_function && j->label < LABEL_KINDS);
	if (v->f->crossed || finding_round(v))
		return false;
	switch (j->label) {
	case LABEL_WRONG_LOCK:
		return true;
	case LABEL_LOST_UPDATE: /* after an update of its own it sets something back */
		return v->f->kind == FIND_RACE || only_reads(j->fact, FACT_BEFORE);
	case LABEL_CHECK_THEN_ACT:
		return j->second || one_statement(w, j->fact, FACT_AFTER);
	case LABEL_TORN_READ:
		return j->second != NULL;
	default:
		return false;
	}
}

/* Blind writes of what was checked are told of as racing data. */
static bool bare_shows(struct writer *w, const struct view *v)
{
	const struct judged *j = &v->judged;
	assert(v->f->bare && j->label < LABEL_KINDS);
	return j->label == LABEL_CHECK_THEN_ACT && !finding_round(v) && (j->second || one_statement(w, j->fact, FACT_AFTER));
}

bool finding_judged(struct writer *w, struct view *v)
{
	const struct raw_finding *f = v->f;
	struct judged *j = &v->judged;
	*j = (struct judged){ .label = f->kind == FIND_LOCK   ? LABEL_UNKNOWN
		                       : f->kind == FIND_RACE ? f->wrong ? LABEL_WRONG_LOCK : LABEL_LOST_UPDATE
		                                              : LABEL_NONE };
	if (f->kind == FIND_LOCK)
		judge_lock(w, v, j);
	if ((v->first_function && !first_function_shows(w, v)) || (f->bare && !bare_shows(w, v)))
		return false;
	j->tier = labels[j->label].tier;
	j->score = labels[j->label].score;
	if (j->label == LABEL_NONE) {
		j->reasons = "said to be atomic 100";
		return true;
	}
	j->reasons = arena_printf(w->arena, "%s %u", j->label == LABEL_UNKNOWN ? "the pattern is not known" : labels[j->label].name,
	                          j->score);
	if (j->tier > 1)
		return true;
	if (v->first_function)
		reason(j, w->arena, -10, "main, or the first function of a thread");
	if (j->fact && j->fact->changed)
		reason(j, w->arena, 15, "the variable was changed in the gap in this run");
	else if (f->confirmed)
		reason(j, w->arena, 5, "another thread intervened in this run");
	if (calls_of(w, v) == SYM_DEPENDS)
		reason(j, w->arena, 5, "the part after the gap depends on the part before it");
	if (v->depth <= 1)
		reason(j, w->arena, 5, "the function itself releases the lock, or what it calls");
	if (f->apart)
		reason(j, w->arena, -5, "the two threads never ran concurrently");
	if (v->uses == USES_BACK && j->label != LABEL_LOST_UPDATE)
		reason(j, w->arena, -5, "the last part writes first what an earlier one wrote first");
	return true;
}

/* ---- for reports ---- */

/* One access to a variable: { "when": ..., "what": ..., "stack": [...] }. */
static void put_use(struct writer *w, const char *when, const char *what, uint64_t pc)
{
	struct json_out *j = &w->o->json->j;
	struct src_frame v[FINDING_MAX_FRAMES];
	struct raw_stack st = { &pc, 1 };
	uint32_t n = pc ? symbols_stack(w->sym, &st, v, FINDING_MAX_FRAMES) : 0;
	if (!n)
		return;
	json_begin_object(j, NULL);
	json_text(j, "when", when);
	json_text(j, "what", what);
	finding_frames(w, v, n);
	json_end(j);
}

static void put_side(struct writer *w, const struct raw_fact *f, unsigned side)
{
	static const char *const when[] = { "before the gap", "after the gap", "another thread" };
	if (one_statement(w, f, side)) {
		put_use(w, when[side], "updated", f->write[side]);
		return;
	}
	if (f->use[side] & FACT_READ)
		put_use(w, when[side], "read", f->read[side]);
	if (f->use[side] & FACT_WRITE)
		put_use(w, when[side], "written", f->write[side]);
}

static void put_variable(struct writer *w, const struct raw_fact *f)
{
	struct json_out *j = &w->o->json->j;
	json_line(j, 2);
	json_begin_object(j, NULL);
	json_text(j, "name", finding_data(w, f->address));
	json_uint(j, "size", f->size);
	json_flag(j, "changed", f->changed != 0);
	json_begin_array(j, "uses");
	for (unsigned s = 0; s < FACT_SIDES; s++)
		put_side(w, f, s);
	json_end(j);
	json_end(j);
}

void finding_judged_json(struct writer *w, const struct view *v)
{
	const struct judged *d = &v->judged;
	struct json_out *j = &w->o->json->j;
	json_text_if(j, "pattern", labels[d->label].name);
	json_uint(j, "tier", d->tier);
	json_uint(j, "score", d->score);
	json_text(j, "reasons", d->reasons);
	if (!d->fact || d->label == LABEL_UNKNOWN)
		return;
	json_begin_array(j, "variables");
	put_variable(w, d->fact);
	if (d->second)
		put_variable(w, d->second);
	json_end(j);
}
