/*
 * serial_rows: the clocks themselves (serial.c): rows E[t][.], serials, and
 * the memory they live in.
 *
 * A row is an array of entries, a column (a slot's `reach`) is an array of the
 * rows that contain it; each side knows where the other is. So an entry is
 * added and taken out in constant time, however many blocks are open. Marks
 * (`stamp`) show whether one column has what another has, without searching.
 */
#include <stdlib.h>
#include <string.h>

#include "dynamic/serial_int.h"

/* ---- the clocks --------------------------------------------------------- */

uint32_t reach_stamp(struct serial *s)
{
	if (++s->stamp)
		return s->stamp;
	for (uint32_t i = 0; i < s->nslots; i++)
		s->slots[i].stamp = 0;
	for (uint32_t i = 0; i < s->nmarks; i++)
		s->marks[i].stamp = 0;
	return s->stamp = 1;
}

void reach_add(struct serial *s, uint32_t t, uint32_t k, uint32_t serial, uint32_t why)
{
	struct serial_row *r = &s->rows[t];
	struct serial_slot *sl = &s->slots[k];
	if (!s->o.budget && s->entries >= (s->o.pairs ? s->o.pairs : SERIAL_PAIRS_MAX))
		s->end = SERIAL_PAIRS;
	if (s->end || !SERIAL_ROOM(s, sl->reach, sl->cap, sl->n) || !SERIAL_ROOM(s, r->e, r->cap, r->n)) {
		why_drop(s, why);
		return;
	}
	sl->reach[sl->n] = (struct serial_reach){ t, r->n, serial, why != 0 };
	r->e[r->n++] = (struct serial_entry){ k, serial, why, sl->n++ };
	if (serial < r->min)
		r->min = serial;
	if (++s->entries > s->st.live)
		s->st.live = s->entries;
}

void reach_end(struct serial *s, uint32_t k)
{
	struct serial_slot *sl = &s->slots[k];
	for (uint32_t i = 0; i < sl->n; i++) {
		struct serial_row *r = &s->rows[sl->reach[i].thread];
		uint32_t at = sl->reach[i].at;
		why_drop(s, r->e[at].why);
		if (at != --r->n) {
			r->e[at] = r->e[r->n];
			s->slots[r->e[at].slot].reach[r->e[at].back].at = at;
		}
		if (!r->n)
			r->min = SERIAL_INF;
	}
	s->entries -= sl->n;
	sl->n = 0;
}

bool row_slots_grow(struct serial *s)
{
	uint32_t n = s->slots_cap;
	return SERIAL_ROOM(s, s->free_slots, n, n) && SERIAL_ROOM(s, s->slots, s->slots_cap, s->slots_cap);
}

/*
 * Moves the serials of thread t down when they reach the limit: all below the
 * first one that an open block reaches are alike.
 */
static void rebase(struct serial *s, uint32_t t)
{
	struct serial_thread *th = &s->threads[t];
	struct serial_row *r = &s->rows[t];
	uint32_t base = th->serial;
	for (uint32_t i = 0; i < r->n; i++)
		if (r->e[i].serial < base)
			base = r->e[i].serial;
	uint32_t shift = base - 1;
	uint32_t limit = s->o.serial_limit ? s->o.serial_limit : SERIAL_BLOCKS_MAX;
	if (shift < limit / 4) {
		s->end = SERIAL_LIMIT;
		return;
	}
#define DOWN(x)    ((x) = (x) > shift ? (x)-shift : 0)
#define DOWN_IF(a) ((a)->thread == t ? (void)DOWN((a)->serial) : (void)0)
	for (uint32_t i = 0; i < s->nvars; i++) {
		DOWN_IF(&s->vars[i].w);
		DOWN_IF(&s->vars[i].r);
	}
	for (uint32_t i = 1; i < s->nmore; i++)
		DOWN_IF(&s->more[i]);
	for (uint32_t i = 0; i < s->nlocks; i++)
		DOWN_IF(&s->locks[i]);
	for (uint32_t i = 0; i < s->nthreads; i++)
		DOWN_IF(&s->threads[i].forked);
	for (uint32_t i = 1; i < s->nlinks; i++) {
		DOWN_IF(&s->links[i].link.from);
		DOWN_IF(&s->links[i].link.to);
	}
	for (uint32_t k = 0; k < s->nslots; k++)
		DOWN_IF(&s->slots[k]);
	for (uint32_t i = 0; i < r->n; i++) {
		DOWN(r->e[i].serial);
		s->slots[r->e[i].slot].reach[r->e[i].back].serial = r->e[i].serial;
	}
	DOWN(th->serial);
	if (r->min < SERIAL_INF)
		DOWN(r->min);
}

void row_next_serial(struct serial *s, uint32_t t)
{
	uint32_t limit = s->o.serial_limit ? s->o.serial_limit : SERIAL_BLOCKS_MAX;
	if (s->threads[t].serial >= limit)
		rebase(s, t);
	s->threads[t].serial++;
}
