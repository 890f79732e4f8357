/*
 * misfit_text: the text of a misfit: the two steps, where they are, and what makes
 * them what they are.
 */
#include "base/invariant.h"
#include "reduce/reduce.h"

#include <string.h>

static void say(struct buf *out, const char *s)
{
	buf_safe(out, s, strlen(s));
}

static void place(const struct ir *p, uint32_t offset, struct buf *out)
{
	struct source_pos at = source_pos(p->src, offset);
	buf_printf(out, "%u:%u", at.line, at.column);
}

static void variable(const struct ir *p, uint32_t var, uint32_t elem, struct buf *out)
{
	struct buf text;
	buf_init(&text);
	ir_print_element(&p->vars[var], elem, "[..]", &text);
	say(out, buf_cstr(&text));
	buf_free(&text);
}

/* The name of what lies at this place of the globals. */
static void lock_name(const struct ir *p, uint32_t slot, struct buf *out)
{
	for (uint32_t v = 0; v < p->nvars; v++)
		if (slot - p->vars[v].slot < p->vars[v].len) {
			variable(p, v, slot - p->vars[v].slot, out);
			return;
		}
}

/* "lock l", "locks l and m" */
static void lock_names(const struct flow *f, uint32_t set, struct buf *out)
{
	uint32_t n;
	const uint32_t *e = held_locks_members(&f->sets, set, &n);
	buf_str(out, n == 1 ? "lock " : "locks ");
	for (uint32_t i = 0; i < n; i++) {
		buf_str(out, !i ? "" : i + 1 < n ? ", " : " and ");
		lock_name(f->ir, e[i], out);
	}
}

struct why_question {
	const struct flow *f;
	const struct movers *m;
	uint32_t block; /* or FLOW_ALL */
};

static enum reduce_mover kind(const struct why_question *q, uint32_t node)
{
	return mover_of(q->m, q->f, node, q->block);
}

/* The access a step is about: what is to blame when it is a non-mover, else
 * its lock, else its first. IR_NONE when it has none. */
static uint32_t telling_access(const struct flow *f, const struct movers *m, uint32_t node)
{
	const struct ir_node *n = &f->ir->nodes[node];
	uint32_t found = n->naccess ? n->access : IR_NONE;
	if (m->cause[node] != IR_NONE) {
		const struct group *g = &m->groups[m->cause[node]];
		for (uint32_t k = n->access; k < n->access + n->naccess; k++) {
			const struct ir_access *a = &f->ir->accesses[k];
			if (a->var == g->var && (!f->ir->vars[a->var].is_array || a->index == g->elem) &&
			    ((a->mode & (IRA_WRITE | IRA_WRITE_INV | IRA_WRITE_RESP)) != 0) == g->write)
				return k;
		}
	}
	for (uint32_t k = n->access; k < n->access + n->naccess; k++) {
		const struct ir_access *a = &f->ir->accesses[k];
		if (a->mode & (IRA_ACQUIRE | IRA_RELEASE) || f->hand[a->var] & HAND_LOCK)
			found = k;
	}
	return found;
}

static const char *verb(const struct flow *f, const struct movers *m, uint32_t node, uint32_t k)
{
	const struct ir_access *a = &f->ir->accesses[k];
	if (a->mode == IRA_ACQUIRE || m->mover[node] == MOVER_RIGHT)
		return "acquire";
	if (a->mode == IRA_RELEASE || m->mover[node] == MOVER_LEFT)
		return "release";
	if (a->mode == IRA_RMW)
		return "update";
	return a->mode & (IRA_READ | IRA_READ_INV | IRA_READ_RESP) ? "read" : "write";
}

/* "14:5 (write data)" */
static void step(const struct flow *f, const struct movers *m, uint32_t node, struct buf *out)
{
	const struct ir *p = f->ir;
	uint32_t k = telling_access(f, m, node);
	if (k == IR_NONE) {
		place(p, p->nodes[node].span.start, out);
		return;
	}
	place(p, p->spans[p->accesses[k].ins].start, out);
	buf_printf(out, " (%s ", verb(f, m, node, k));
	variable(p, p->accesses[k].var, p->accesses[k].index, out);
	buf_char(out, ')');
}

static const char *done(const struct ir *p, const struct group *g)
{
	uint32_t mode = p->accesses[g->access].mode;
	return mode == IRA_RMW ? "updated" : g->write ? "written" : "read";
}

/* Why the step is a non-mover: who else is there, and under which locks. */
static void reason(const struct why_question *q, uint32_t node, struct buf *out)
{
	const struct flow *f = q->f;
	const struct movers *m = q->m;
	const struct ir *p = f->ir;
	uint32_t who;
	if (kind(q, node) != MOVER_NON)
		return;
	if (m->mover[node] != MOVER_NON) { /* a lock on which an attempt fails */
		flow_private(f, m->lock[node], q->block, &who);
		assert(who != IR_NONE);
		buf_str(out, ": ");
		variable(p, m->lock[node], 0, out);
		buf_str(out, " is a hand-coded lock, and an attempt at ");
		place(p, p->spans[p->accesses[p->nodes[who].access].ins].start, out);
		buf_str(out, p->nodes[who].block == IR_NONE ? ", outside every block, can observe it taken"
		                                            : ", outside this block, can observe it taken");
		return;
	}
	if (m->cause[node] == IR_NONE) {
		buf_str(out, ": it acquires a lock and releases one in the same step");
		return;
	}
	assert(m->cause[node] < m->ngroups && m->groups[m->cause[node]].conflict < m->ngroups);
	const struct group *g = &m->groups[m->cause[node]], *o = &m->groups[g->conflict];
	uint32_t at = p->spans[p->accesses[o->access].ins].start;
	bool same = at == p->spans[p->accesses[g->access].ins].start;
	bool here = g->set != HELD_LOCKS_NONE, there = o->set != HELD_LOCKS_NONE;
	buf_str(out, ": ");
	variable(p, g->var, o->elem, out);
	if (same) {
		buf_printf(out, " is %s here by other threads too", done(p, o));
	} else {
		buf_printf(out, " is %s at ", done(p, o));
		place(p, at, out);
	}
	if (here && !there) {
		buf_str(out, " without ");
		lock_names(f, g->set, out);
	} else if (there) {
		buf_str(out, " under ");
		lock_names(f, o->set, out);
		buf_str(out, here ? ", here under " : ", which is not held here");
		if (here)
			lock_names(f, g->set, out);
	} else {
		buf_str(out, same ? ", without a lock" : ", and no lock is held at either place");
	}
	if (f->hand[g->var] == (HAND_LOCK | HAND_OBSERVED | HAND_TAKEN | HAND_FREED))
		buf_str(out, " (it is used like a lock, but also accessed in other ways)");
}

void reduce_why(const struct flow *f, const struct movers *m, uint32_t block, uint32_t first, uint32_t second, struct buf *out)
{
	assert(first != IR_NONE && second != IR_NONE && f->ir->nodes[first].block == f->ir->nodes[second].block);
	const struct why_question q = { f, m, block };
	bool non = kind(&q, second) == MOVER_NON, after_non = kind(&q, first) == MOVER_NON;
	if (first == second) {
		buf_str(out, "the non-mover at ");
		step(f, m, second, out);
		buf_str(out, " is repeated in a later iteration of its loop");
		reason(&q, second, out);
		return;
	}
	buf_str(out, non ? after_non ? "second non-mover at " : "non-mover at " : "right-mover at ");
	step(f, m, second, out);
	if (!after_non) {
		buf_str(out, " after the left-mover at ");
		step(f, m, first, out);
		reason(&q, second, out);
		return;
	}
	reason(&q, second, out);
	buf_str(out, non ? "; the first is at " : " after the non-mover at ");
	step(f, m, first, out);
	reason(&q, first, out);
}

static bool coded_by_hand(const struct flow *f, uint32_t v)
{
	return (f->hand[v] & (HAND_LOCK | HAND_TAKEN | HAND_FREED | HAND_OBSERVED)) == (HAND_LOCK | HAND_TAKEN | HAND_FREED);
}

/* "m (taken at 18:11)" */
static void say_lock(const struct flow *f, uint32_t v, struct buf *out)
{
	assert(f->at[v].taken != IR_NONE);
	const struct ir *p = f->ir;
	const struct ir_node *n = &p->nodes[f->at[v].taken];
	uint32_t offset = n->span.start;
	for (uint32_t k = n->access; k < n->access + n->naccess; k++)
		if (p->accesses[k].var == v)
			offset = p->spans[p->accesses[k].ins].start;
	variable(p, v, 0, out);
	buf_str(out, " (taken at ");
	place(p, offset, out);
	buf_str(out, ")");
}

void reduce_say_locks(const struct flow *f, struct buf *out)
{
	enum { SHOWN = 4 };
	uint32_t n = 0, all = 0;
	for (uint32_t v = 0; v < f->ir->nvars; v++)
		all += coded_by_hand(f, v);
	if (all)
		buf_str(out, all == 1 ? "hand-coded lock, released only by its holder: "
		                      : "hand-coded locks, released only by their holders: ");
	for (uint32_t v = 0; v < f->ir->nvars; v++) {
		if (!coded_by_hand(f, v) || n++ >= SHOWN)
			continue;
		buf_str(out, n == 1 ? "" : ", ");
		say_lock(f, v, out);
	}
	if (n > SHOWN)
		buf_printf(out, " and %u more", n - SHOWN);
}
