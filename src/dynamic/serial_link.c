/*
 * serial_link: a link between transactions that an open block may reach
 * (serial.c has the algorithm and its proof).
 *
 * Who reaches the source and not yet the target gains a path; when the target
 * is in an open block, all that the block reaches, too. That is done column by
 * column or row by row, whichever looks at less.
 */
#include "dynamic/serial_int.h"

static struct cycle_end end_of(const struct serial *s, const struct serial_access *a, enum event_kind kind, uint32_t target)
{
	const struct serial_block *b = &s->blocks[a->block];
	return (struct cycle_end){ a->event,     a->block ? b->event : 0, a->thread, target, a->loc, b->loc, b->label, a->serial,
		                   (uint8_t)kind };
}

static struct cycle_end end_here(const struct serial *s, const struct event *e)
{
	const struct serial_thread *th = &s->threads[e->thread];
	const struct serial_block *b = &s->blocks[th->block];
	return (struct cycle_end){ e->index, th->block ? b->event : 0, e->thread, e->target, e->loc, b->loc, b->label, th->serial,
		                   e->kind };
}

/* E[v][a] becomes what it is by way of b, E[v][a] at `at` of its row (SERIAL_NONE: SERIAL_INF). */
static void gain(struct serial *s, uint32_t v, uint32_t a, uint32_t at, const struct serial_reach *by, uint32_t to_b)
{
	uint32_t why = why_cat(s, to_b, s->rows[v].e[by->at].why);
	if (at == SERIAL_NONE) {
		reach_add(s, v, a, by->serial, why);
		return;
	}
	struct serial_entry *e = &s->rows[v].e[at];
	why_drop(s, e->why);
	e->why = why;
	e->serial = by->serial;
	/* It may be of the block's own thread, around a cycle: a path from now on. */
	s->slots[a].reach[e->back].serial = by->serial;
	s->slots[a].reach[e->back].path = true;
	if (by->serial < s->rows[v].min)
		s->rows[v].min = by->serial;
}

/* A newly reaches the open block in column b: what b reaches, A reaches. */
static void inherit(struct serial *s, uint32_t a, uint32_t b, uint32_t to_b)
{
	uint32_t stamp = reach_stamp(s);
	const struct serial_slot *A = &s->slots[a], *B = &s->slots[b];
	for (uint32_t i = 0; i < A->n; i++)
		s->marks[A->reach[i].thread] = (struct serial_mark){ stamp, A->reach[i].at, A->reach[i].serial };
	for (uint32_t i = 0; i < B->n && !s->end; i++) {
		const struct serial_reach *x = &B->reach[i];
		const struct serial_mark *m = &s->marks[x->thread];
		if (!x->path)
			continue;
		if (m->stamp != stamp)
			gain(s, x->thread, a, SERIAL_NONE, x, to_b);
		else if (x->serial < m->serial)
			gain(s, x->thread, a, m->at, x, to_b);
	}
}

/* The same for all of s->fresh, thread by thread that b reaches. */
static void inherit_by_rows(struct serial *s, uint32_t fresh, uint32_t b)
{
	const struct serial_slot *B = &s->slots[b];
	for (uint32_t i = 0; i < B->n && !s->end; i++) {
		const struct serial_reach x = B->reach[i];
		const struct serial_row *r = &s->rows[x.thread];
		uint32_t stamp = reach_stamp(s);
		if (!x.path)
			continue;
		for (uint32_t k = 0; k < r->n; k++) {
			struct serial_slot *sl = &s->slots[r->e[k].slot];
			sl->stamp = stamp;
			sl->at = k;
		}
		for (uint32_t k = 0; k < fresh && !s->end; k++) {
			uint32_t a = s->fresh[k].slot;
			const struct serial_slot *A = &s->slots[a];
			if (A->stamp != stamp)
				gain(s, x.thread, a, SERIAL_NONE, &x, s->fresh[k].why);
			else if (x.serial < s->rows[x.thread].e[A->at].serial)
				gain(s, x.thread, a, A->at, &x, s->fresh[k].why);
		}
	}
}

/* All of s->fresh newly reach b: by whichever way is the shorter. */
static void inherit_all(struct serial *s, uint32_t fresh, uint32_t b)
{
	uint64_t columns = 0, rows = 0;
	for (uint32_t i = 0; i < fresh; i++) {
		s->whys[s->fresh[i].why].refs++; /* E[.][a] may release it meanwhile */
		columns += s->slots[s->fresh[i].slot].n;
	}
	for (uint32_t i = 0; i < s->slots[b].n && rows < columns; i++)
		if (s->slots[b].reach[i].path)
			rows += s->rows[s->slots[b].reach[i].thread].n;
	if (rows < columns)
		inherit_by_rows(s, fresh, b);
	for (uint32_t i = 0; i < fresh; i++) {
		if (rows >= columns && !s->end)
			inherit(s, s->fresh[i].slot, b, s->fresh[i].why);
		why_drop(s, s->fresh[i].why);
	}
}

/*
 * The open blocks that reach (u, m) and not yet thread t go to s->fresh; their
 * number. *any: does one reach (u, m) at all? *own: the path by which block b
 * does, SERIAL_NONE when it does not.
 */
static uint32_t find_fresh(struct serial *s, struct serial_row *ru, uint32_t m, const struct serial_row *rt, uint32_t b, bool *any,
                           uint32_t *own)
{
	uint32_t min = SERIAL_INF, n = 0, stamp = reach_stamp(s);
	*any = false;
	*own = SERIAL_NONE;
	for (uint32_t i = 0; i < rt->n; i++)
		s->slots[rt->e[i].slot].stamp = stamp;
	for (uint32_t i = 0; i < ru->n; i++) {
		const struct serial_entry *x = &ru->e[i];
		min = x->serial < min ? x->serial : min;
		if (x->serial > m)
			continue;
		*any = true;
		if (x->slot == b)
			*own = x->why;
		if (s->slots[x->slot].stamp == stamp)
			continue; /* reaches t's current transaction by program order */
		if (!SERIAL_ROOM(s, s->fresh, s->fresh_cap, n))
			return 0;
		s->fresh[n++] = *x;
	}
	ru->min = min;
	return n;
}

void link_slow(struct serial *s, const struct serial_access *a, enum event_kind kind, uint32_t target, const struct event *e)
{
	struct serial_thread *th = &s->threads[e->thread];
	bool any;
	uint32_t m = a->serial, b = th->slot, own;
	uint32_t fresh = find_fresh(s, &s->rows[a->thread], m, &s->rows[e->thread], b, &any, &own);
	if (!any)
		return;
	s->st.slow++;
	if (!fresh && (b == SERIAL_NONE || s->slots[b].found))
		return;
	struct cycle_link link = { end_of(s, a, kind, target), end_here(s, e) };
	if (b != SERIAL_NONE && own != SERIAL_NONE && !s->slots[b].found)
		why_report(s, b, own, &link);
	if (!fresh)
		return;
	if (b == SERIAL_NONE) {
		row_next_serial(s, e->thread);
		link.to.serial = th->serial;
		/* a rebase moves no serial of another thread */
	}
	uint32_t shared = why_link_new(s, &link);
	for (uint32_t i = 0; shared && i < fresh && !s->end; i++) {
		struct serial_entry *x = &s->fresh[i];
		const struct serial_slot *from = &s->slots[x->slot];
		bool first = from->thread == a->thread && from->serial == m;
		x->why = why_link(s, first ? 0 : x->why, shared);
		x->serial = th->serial;
	}
	for (uint32_t i = 0; i < fresh && !s->end; i++)
		reach_add(s, e->thread, s->fresh[i].slot, s->fresh[i].serial, s->fresh[i].why);
	if (s->end)
		return; /* memory has ended: everything is given up together */
	if (b != SERIAL_NONE)
		inherit_all(s, fresh, b);
	why_link_drop(s, shared);
}
