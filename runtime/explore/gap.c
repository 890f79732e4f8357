/*
 * gap: functions that may not be atomic, each with the two places between which
 * another thread can come in (sched/control.h, `gap`). They are blocks, the search is
 * steered into their gaps (sched_steer), and a cycle of conflicts counts when it
 * leaves the block before its gap and comes back after the gap has begun.
 *
 * Sets of gaps are words: gap g is bit g. A table from addresses to what they are
 * says what to do at a function's entry and at a point; it is made before the
 * first run. A thread knows the gaps whose blocks it is in (`gaps`) and those of
 * them that it is between the two places of (`in_gap`).
 */
#include "runtime/explore/explorer.h"

enum { INNER = 6 };

static struct x_gap_at *slot_of(uintptr_t at)
{
	uint32_t h = (uint32_t)(at * 0x9e3779b97f4a7c15ull >> 40) & (X_GAP_ATS - 1);
	while (X.gap_at[h].at && X.gap_at[h].at != at)
		h = (h + 1) & (X_GAP_ATS - 1);
	return &X.gap_at[h];
}

static const struct x_gap_at *look_up(uintptr_t at)
{
	const struct x_gap_at *p = slot_of(at);
	return p->at ? p : NULL;
}

/* A place is told by the address of its call's last byte, or by the one behind it. */
static struct x_gap_at *place(uint64_t at, unsigned more)
{
	struct x_gap_at *p = slot_of((uintptr_t)at + more);
	p->at = (uintptr_t)at + more;
	return p;
}

static uint64_t address(const struct control_gap_place *p)
{
	const struct control *c = X.ctl;
	if (!p->offset || p->module >= CONTROL_GAP_MODULES)
		return 0;
	const char *a = c->gap_module[p->module], *s, *b, *t;
	for (s = a; *s; s++)
		a = *s == '/' ? s + 1 : a;
	for (uint32_t k = 0; k < c->nmodules; k++) {
		for (b = t = c->modules[k].path; *t; t++)
			b = *t == '/' ? t + 1 : b;
		if (rt_same(a, b))
			return c->modules[k].base + p->offset;
	}
	return 0;
}

/* An access there, if it is one, is a point; otherwise no thread could intervene. */
static void becomes_point(uint64_t at)
{
	struct control *c = X.ctl;
	struct x_place *p = at ? &X.place[x_place((uintptr_t)at + 1)] : NULL;
	if (!p || p->flags & XP_POINT)
		return;
	p->flags = XP_POINT;
	if (c->nplaces < CONTROL_PLACES)
		c->places[c->nplaces++] = p->pc;
}

void x_gaps_begin(void)
{
	struct control *c = X.ctl;
	struct sched_bias none[CONTROL_GAPS] = { { 0 } };
	X.ngaps = c->ngaps < CONTROL_GAPS ? c->ngaps : CONTROL_GAPS;
	for (uint32_t i = 0; i < X.ngaps; i++) {
		const struct control_gap *g = &c->gap[i];
		uint64_t bit = 1ull << i, entered = address(&g->entered), commit = address(&g->commit),
			 violation = address(&g->violation), until = address(&g->until);
		for (int k = 0; k < CONTROL_GAP_FNS; k++)
			if (address(&g->fn[k]))
				place(address(&g->fn[k]), 0)->block |= bit;
		for (unsigned k = 0; k < 2; k++) {
			if (entered)
				place(entered, k)->block |= bit;
			if (commit)
				place(commit, k)->commit |= bit;
			if (violation)
				place(violation, k)->violation |= bit;
			if (until)
				place(until, k)->until |= bit;
		}
		if (g->any_cycle)
			X.gap_any |= bit;
		becomes_point(commit);
		becomes_point(violation);
		becomes_point(until);
	}
	X.hooked = X.ngaps || X.survey;
	if (X.ngaps)
		sched_steer(X.sched, none, X.ngaps);
}

void x_gaps_run(void)
{
	uint32_t now = sched_steering(X.sched);
	X.gap_now = now < X.ngaps ? 1ull << now : 0;
	X.gap_hit = 0;
}

uint64_t x_gap_blocks(uintptr_t fn, uintptr_t pc)
{
	const struct x_gap_at *f = look_up(fn), *p = look_up(pc);
	return (f ? f->block : 0) | (p ? p->block : 0);
}

/* What the operation at `pc` is to which gaps. Reports name the program's own calls: the operation may be
 * a few functions of the system's headers (a guard's destructor, std::mutex) further in. */
static bool here(uintptr_t pc, struct x_gap_at *out)
{
	const struct x_thread *t = x_me();
	const struct x_thread_more *m = &X.thread_more[X.current];
	const struct x_gap_at *p = look_up(pc);
	bool any = p;
	*out = p ? *p : (struct x_gap_at){ 0 };
	for (uint32_t i = t->top; i-- > 0 && t->top - i <= INNER;) {
		p = look_up(m->frame[i].site);
		if (!p)
			continue;
		any = true;
		out->commit |= p->commit;
		out->violation |= p->violation;
		out->until |= p->until;
	}
	return any;
}

unsigned x_gap_flags(uintptr_t pc)
{
	struct x_gap_at p;
	if (!X.ngaps || !here(pc, &p))
		return 0;
	return (p.violation & X.gap_now & x_me()->in_gap ? SCHED_AT_BEFORE : 0u) | (p.until & X.gap_now ? SCHED_AT_UNTIL : 0u);
}

void x_gap_passed(uintptr_t pc)
{
	struct x_thread *t = x_me();
	struct x_gap_at at, *p = &at;
	if (unlikely(X.surveying))
		x_survey_op(t->op);
	if (!X.ngaps || !here(pc, p))
		return;
	for (uint32_t i = 0; p->until && i < X.nthreads; i++)
		if (i != X.current && X.thread[i].state == XT_LIVE)
			X.gap_hit |= p->until & X.thread[i].in_gap;
	t->in_gap &= ~p->violation;
	if (p->commit & t->gaps) {
		t->in_gap |= p->commit & t->gaps;
		x_log_gap(XL_IN_GAP, p->commit & t->gaps);
	}
}
