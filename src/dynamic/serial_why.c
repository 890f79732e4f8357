/*
 * serial_why: the paths of the clocks (serial.c), and the cycles made of them.
 *
 * A path is an immutable, counted record: `link` (a path and one link more) or
 * `cat` (two paths). Links are records of their own, because one link ends the
 * paths of all the blocks that gain a way by it. Cost: constant for a record;
 * walking one takes as many steps as it has links, at most WHY_MAX.
 */
#include <stdlib.h>
#include <string.h>

#include "dynamic/serial_int.h"

/* ---- why: paths --------------------------------------------------------- */

static uint32_t why_new(struct serial *s)
{
	uint32_t id = s->whys_free;
	if (id) {
		s->whys_free = s->whys[id].left;
	} else {
		id = s->nwhys ? s->nwhys : 1;
		if (!SERIAL_ROOM(s, s->whys, s->whys_cap, id))
			return 0;
		s->nwhys = id + 1;
	}
	s->whys[id] = (struct serial_why){ .refs = 1 };
	return id;
}

/* A link with one reference, the caller's; 0 when out of memory. */
uint32_t why_link_new(struct serial *s, const struct cycle_link *link)
{
	uint32_t id = s->links_free;
	if (id) {
		s->links_free = s->links[id].refs;
	} else {
		id = s->nlinks ? s->nlinks : 1;
		if (!SERIAL_ROOM(s, s->links, s->links_cap, id))
			return 0;
		s->nlinks = id + 1;
	}
	s->links[id] = (struct shared_link){ *link, 1 };
	return id;
}

void why_link_drop(struct serial *s, uint32_t id)
{
	if (id && --s->links[id].refs == 0) {
		s->links[id].refs = s->links_free;
		s->links_free = id;
	}
}

void why_drop(struct serial *s, uint32_t id)
{
	uint32_t depth = 0;
	while (id) {
		struct serial_why *w = &s->whys[id];
		uint32_t next = 0;
		if (--w->refs == 0) {
			next = w->left;
			if (w->right && depth < s->stack_cap)
				s->stack[depth++] = w->right;
			why_link_drop(s, w->link);
			w->left = s->whys_free;
			s->whys_free = id;
		}
		id = next ? next : depth ? s->stack[--depth] : 0;
	}
}

/* Room to walk any path: every cat on it may wait once. */
bool why_stack(struct serial *s)
{
	return s->stack_cap > WHY_MAX || SERIAL_ROOM(s, s->stack, s->stack_cap, WHY_MAX);
}

uint32_t why_link(struct serial *s, uint32_t before, uint32_t link)
{
	uint32_t id = why_new(s);
	if (!id)
		return 0;
	struct serial_why *w = &s->whys[id];
	uint32_t len = before ? s->whys[before].len : 0;
	if (before && (!len || len >= WHY_MAX))
		return id; /* lost */
	w->len = len + 1;
	w->left = before;
	w->link = link;
	s->links[link].refs++;
	if (before)
		s->whys[before].refs++;
	return id;
}

uint32_t why_cat(struct serial *s, uint32_t left, uint32_t right)
{
	uint32_t id = why_new(s);
	if (!id)
		return 0;
	struct serial_why *w = &s->whys[id];
	uint32_t a = s->whys[left].len, b = s->whys[right].len;
	if (!a || !b || a + b > WHY_MAX)
		return id; /* lost */
	w->len = a + b;
	w->left = left;
	w->right = right;
	s->whys[left].refs++;
	s->whys[right].refs++;
	return id;
}

/* Writes the links of a path, first to last, into out[0..len). */
static void why_walk(struct serial *s, uint32_t id, struct cycle_link *out)
{
	uint32_t at = s->whys[id].len, depth = 0;
	while (id) {
		const struct serial_why *w = &s->whys[id];
		if (w->right) {
			s->stack[depth++] = w->left;
			id = w->right;
			continue;
		}
		out[--at] = s->links[w->link].link;
		id = w->left ? w->left : depth ? s->stack[--depth] : 0;
	}
}

/* ---- cycles ------------------------------------------------------------- */

/*
 * Drops what the path does not need: from the last link that leaves the
 * block, jump each time to the last link that leaves the thread reached at
 * the same or a later transaction. Returns the new length.
 */
static uint32_t cut_short(struct cycle_link *l, uint32_t n, const struct serial_slot *b)
{
	uint32_t at = 0, out = 0;
	for (uint32_t j = 0; j < n; j++)
		if (l[j].from.thread == b->thread && l[j].from.serial == b->serial)
			at = j;
	for (;;) {
		struct cycle_link cur = l[at];
		uint32_t next = at;
		l[out++] = cur;
		for (uint32_t j = at + 1; j < n; j++)
			if (l[j].from.thread == cur.to.thread && l[j].from.serial >= cur.to.serial)
				next = j;
		if (next == at)
			return out;
		at = next;
	}
}

static void find_inner(const struct serial_thread *th, struct cycle *c)
{
	uint32_t n = th->ninner < SERIAL_INNER_MAX ? th->ninner : SERIAL_INNER_MAX;
	for (uint32_t i = 0; c->alone && i < n; i++)
		if (th->inner[i].event < c->links[0].from.event) {
			c->inner = th->inner[i].event;
			c->inner_loc = th->inner[i].loc;
			c->inner_label = th->inner[i].label;
		}
}

/* Block k has a path `why` to the source of `last`, which returns to it. */
void why_report(struct serial *s, uint32_t k, uint32_t why, const struct cycle_link *last)
{
	struct serial_slot *b = &s->slots[k];
	struct cycle c = { .closing = last->to };
	b->found = true;
	if (!s->o.found)
		return;
	uint32_t n = why ? s->whys[why].len : 0;
	struct cycle_link *links = n ? malloc((n + 1) * sizeof *links) : NULL;
	if (links && why_stack(s)) {
		why_walk(s, why, links);
		links[n] = *last;
		c.n = cut_short(links, n + 1, b);
		c.links = links;
		c.alone = true;
		for (uint32_t i = 0; i + 1 < c.n; i++)
			if (links[i].to.event > links[i + 1].from.event)
				c.alone = false;
		find_inner(&s->threads[b->thread], &c);
	}
	c.lost = c.n == 0;
	s->o.found(s->o.ctx, &c);
	free(links);
}
