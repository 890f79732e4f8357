/*
 * translate_cells: which bytes of the program's memory are variables, whose they
 * are, and the accesses to them as events.
 *
 * Representation. Memory is looked at in cells of eight bytes, 512 a page. The
 * *shape* of a cell says which of its bytes are only ever used together: all of an
 * access that is always the same (so many bytes of the eight, 255 shapes), or a
 * partition of the eight (a split cell, at most 4,140 of them). So two bytes per
 * cell hold it, and what an access makes of a shape, and how many variables it
 * touches, is looked up. The *owner* is the only thread that has used the cell
 * since its memory was last freed. Once there were two (SEVERAL) it stays so: what
 * is taken for shared without need costs memory, and changes no answer. Variables
 * get ids, and names, when an event of theirs is emitted.
 *
 * Cost: a page is found in a table of recently used ones, or by one probe of a
 * map. Memory: half a byte for each byte of touched pages; where variables have
 * ids, half a byte more, and 4 bytes per byte in split cells.
 */
#include <stdlib.h>
#include <string.h>

#include "event/translate_int.h"

#define SPLIT (UINT64_C(1) << 32)

struct shape {
	uint32_t parts; /* of a split cell: 8 numbers of 4 bits */
	bool split;
	uint16_t next[256]; /* after an access to these bytes; 0: not asked yet */
	uint8_t count[256]; /* variables among these bytes */
};

/* ---- pages --------------------------------------------------------------- */

/* The page of an address, made when asked for; NULL: none. */
static struct page *page_find(struct translate *t, uint64_t addr, bool make)
{
	uint32_t at = map_get(&t->page_at, addr >> 12);
	if (at != MAP_NONE || !make)
		return at == MAP_NONE ? NULL : t->pages[at];
	t->pages = tr_grow(t, t->pages, &t->pages_cap, t->npages, sizeof *t->pages);
	struct page *p = t->nomem ? NULL : calloc(1, sizeof *p);
	if (!p || !map_put(&t->page_at, addr >> 12, t->npages)) {
		free(p);
		t->nomem = true;
		return NULL;
	}
	p->number = addr >> 12;
	t->pages[t->npages++] = p;
	return p;
}

static inline struct page *page_of(struct translate *t, uint64_t addr, bool make)
{
	struct near *near = &t->near[(addr >> 12) % NEAR_PAGES];
	if (near->number != addr >> 12 || !near->page) {
		struct page *p = page_find(t, addr, make);
		if (!p)
			return NULL;
		*near = (struct near){ addr >> 12, p };
	}
	return near->page;
}

void tr_free_cells(struct translate *t)
{
	for (uint32_t i = 0; i < t->npages; i++) {
		free(t->pages[i]->var);
		free(t->pages[i]->life);
		free(t->pages[i]);
	}
	for (uint32_t i = 0; i < t->nshapes; i++)
		free(t->shapes[i]);
	free(t->pages);
	free(t->shapes);
	free(t->splits);
	map_free(&t->page_at);
	map_free(&t->shape_at);
}

/* ---- shapes -------------------------------------------------------------- */

/* The parts of a cell: bytes with equal numbers are always used together. */
static uint32_t refine(uint32_t parts, unsigned mask)
{
	uint32_t out = 0;
	unsigned old[8], in[8], now[8], n = 0;
	for (unsigned b = 0; b < 8; b++) {
		old[b] = parts >> 4 * b & 15;
		in[b] = mask >> b & 1;
		unsigned k = 0;
		while (k < b && (old[k] != old[b] || in[k] != in[b]))
			k++;
		now[b] = k < b ? now[k] : n++;
		out |= (uint32_t)now[b] << 4 * b;
	}
	return out;
}

static unsigned count_parts(uint32_t parts, unsigned mask)
{
	unsigned seen = 0;
	for (unsigned b = 0; b < 8; b++)
		if (mask >> b & 1)
			seen |= 1u << (parts >> 4 * b & 15);
	return (unsigned)__builtin_popcount(seen);
}

/* The shape of this description (a mask, or SPLIT | parts), made when new. */
static uint16_t shape_get(struct translate *t, uint64_t what)
{
	uint32_t id = map_get(&t->shape_at, what);
	if (id != MAP_NONE)
		return (uint16_t)id;
	struct shape *s = calloc(1, sizeof *s);
	t->shapes = tr_grow(t, t->shapes, &t->shapes_cap, t->nshapes, sizeof *t->shapes);
	if (!s || t->nomem || !map_put(&t->shape_at, what, t->nshapes)) {
		free(s);
		t->nomem = true;
		return 0;
	}
	s->split = what & SPLIT;
	s->parts = (uint32_t)what;
	for (unsigned mask = 1; mask < 256; mask++)
		s->count[mask] = (uint8_t)(s->split ? count_parts(s->parts, mask) : 1);
	t->shapes[t->nshapes] = s;
	return (uint16_t)t->nshapes++;
}

static uint16_t shape_next(struct translate *t, uint16_t id, unsigned mask)
{
	struct shape *s = t->shapes[id];
	uint32_t first = s->parts;
	uint16_t next;
	if (!s->split && (!first || first == mask))
		next = shape_get(t, mask);
	else
		next = shape_get(t, SPLIT | refine(s->split ? s->parts : refine(0, first), mask));
	s->next[mask] = next;
	return next;
}

/* ---- the first reading --------------------------------------------------- */

void tr_look_access(struct translate *t, uint32_t number, uint64_t addr, unsigned mask)
{
	struct page *p = mask ? page_of(t, addr, true) : NULL;
	if (!p || (!t->nshapes && (shape_get(t, 0) || t->nomem)))
		return;
	uint64_t cell = (addr >> 3) % PAGE;
	uint16_t me = number < SEVERAL - 1 ? (uint16_t)(number + 1) : SEVERAL;
	if (p->owner[cell] != me)
		p->owner[cell] = p->owner[cell] ? SEVERAL : me;
	uint16_t next = t->shapes[p->shape[cell]]->next[mask];
	p->shape[cell] = next ? next : shape_next(t, p->shape[cell], mask);
}

void tr_look_several(struct translate *t, uint64_t addr)
{
	struct page *p = page_of(t, addr, true);
	if (p)
		p->owner[(addr >> 3) % PAGE] = SEVERAL;
}

/* Calls fn for the part of each page that there is in a range of cells. */
static void each_page(struct translate *t, uint64_t addr, uint64_t size,
                      void fn(struct translate *, struct page *, uint64_t, uint64_t))
{
	uint64_t from = (addr + 7) >> 3, to = (addr + size) >> 3;
	if (to <= from)
		return;
	uint64_t first = from / PAGE, last = (to - 1) / PAGE;
	bool all = last - first >= t->npages;
	for (uint64_t n = all ? 0 : first; n < (all ? t->npages : last + 1); n++) {
		struct page *p = all ? t->pages[n] : page_of(t, n << 12, false);
		if (!p || p->number < first || p->number > last)
			continue;
		uint64_t lo = p->number * PAGE, hi = lo + PAGE;
		fn(t, p, (from > lo ? from : lo) - lo, (to < hi ? to : hi) - lo);
	}
}

static void disown(struct translate *t, struct page *p, uint64_t from, uint64_t to)
{
	(void)t;
	for (uint64_t cell = from; cell < to; cell++)
		p->owner[cell] = p->owner[cell] == SEVERAL ? SEVERAL : 0;
}

void tr_look_forget(struct translate *t, uint64_t addr, uint64_t size)
{
	each_page(t, addr, size, disown);
}

/* ---- the second ---------------------------------------------------------- */

/* The event of one variable; *var is where its id is kept. */
static void access_var(struct translate *t, struct translate_thread *th, unsigned kind, uint32_t *var, uint64_t byte, uint32_t life,
                       uint32_t loc)
{
	bool renewed = *var & RENEWED;
	if (!*var)
		*var = tr_name(t, NS_VAR, "", byte, life) + 1;
	*var &= ~RENEWED;
	tr_first(t, &renewed);
	tr_put(t, th, kind, *var - 1, loc);
}

static void access_split(struct translate *t, struct translate_thread *th, unsigned kind, struct split *s, uint32_t parts,
                         uint64_t cell, unsigned mask, uint32_t life, uint32_t loc)
{
	uint32_t done = 0;
	for (unsigned b = 0; b < 8; b++) {
		unsigned part = parts >> 4 * b & 15;
		if (!(mask >> b & 1) || done >> part & 1)
			continue;
		done |= 1u << part;
		access_var(t, th, kind, &s->var[b], cell << 3 | b, life, loc);
	}
}

/* Room for variables of a page. */
static bool page_vars(struct translate *t, struct page *p)
{
	if (!p->var)
		p->var = calloc(PAGE, sizeof *p->var);
	if (!p->life && t->lives == LIVES_NAMED)
		p->life = calloc(PAGE, sizeof *p->life);
	t->nomem |= !p->var || (!p->life && t->lives == LIVES_NAMED);
	return !t->nomem;
}

/* Is the access one that no analysis need see? (translate.h) */
static inline bool left_out(const struct translate *t, const struct translate_thread *th, const struct page *p, uint64_t cell)
{
	if (t->marks && (t->leave != LEAVE_OWN || (t->open && p->owner[cell] == SEVERAL)))
		return false;
	return t->leave != LEAVE_NOTHING && !th->fresh && !th->joined && th->accesses != th->last;
}

/* Are accesses to the cell told as EVENT_OWN? */
static inline bool flagged(const struct translate *t, const struct page *p, uint64_t cell)
{
	return t->leave == LEAVE_FLAGGED && t->marks && p->owner[cell] != SEVERAL;
}

/* The variables of a cell that one thread alone uses: eight numbers each. */
static void access_own(struct translate *t, struct translate_thread *th, unsigned kind, uint32_t *var, uint32_t parts,
                       unsigned mask, uint32_t loc)
{
	uint32_t done = 0;
	if (!*var)
		*var = ++t->nown;
	t->nomem |= t->nown >= EVENT_OWN_IDS / 8;
	for (unsigned b = 0; b < 8; b++) {
		unsigned part = parts >> 4 * b & 15;
		if (!(mask >> b & 1) || done >> part & 1)
			continue;
		done |= 1u << part;
		t->flags = EVENT_OWN;
		tr_put(t, th, kind, EVENT_OWN_IDS | (*var * 8 + b), loc);
	}
}

void tr_access(struct translate *t, struct translate_thread *th, struct rec r)
{
	unsigned kind = rec_kind(r) & 1 ? EVENT_WRITE : EVENT_READ, mask = rec_arg(r);
	uint64_t cell = rec_addr(r) >> 3, at = cell % PAGE;
	th->accesses += mask != 0;
	struct page *p = mask ? page_of(t, rec_addr(r), true) : NULL;
	if (!p)
		return;
	const struct shape *s = p->shape[at] ? t->shapes[p->shape[at]] : NULL;
	if (left_out(t, th, p, at)) {
		t->index += s ? s->count[mask] : 1;
		return;
	}
	if (!p->var && !page_vars(t, p))
		return;
	uint32_t loc = tr_here(t, th, rec_pc(r)), life = p->life ? p->life[at] : 0;
	if (flagged(t, p, at)) {
		access_own(t, th, kind, &p->var[at], s && s->split ? s->parts : 0, mask, loc);
		return;
	}
	if (!s || !s->split) {
		access_var(t, th, kind, &p->var[at], cell << 3 | (unsigned)__builtin_ctz(mask), life, loc);
		return;
	}
	if (!p->var[at]) {
		t->splits = tr_grow(t, t->splits, &t->splits_cap, t->nsplits + 1, sizeof *t->splits);
		if (t->nomem)
			return;
		p->var[at] = ++t->nsplits;
	}
	access_split(t, th, kind, &t->splits[p->var[at]], s->parts, cell, mask, life, loc);
}

/* What there is in one of `var` becomes another variable; false: nothing was. */
static bool renew_var(const struct translate *t, uint32_t *var)
{
	bool any = *var != 0;
	if (any)
		*var = t->lives == LIVES_REUSED ? *var | RENEWED : 0;
	return any;
}

static void renew_cells(struct translate *t, struct page *p, uint64_t from, uint64_t to)
{
	for (uint64_t cell = from; p->var && cell < to; cell++) {
		if (!p->var[cell])
			continue;
		bool any = false;
		if (flagged(t, p, cell))
			p->var[cell] = 0;
		else if (p->shape[cell] && t->shapes[p->shape[cell]]->split)
			for (unsigned b = 0; b < 8; b++)
				any |= renew_var(t, &t->splits[p->var[cell]].var[b]);
		else
			any = renew_var(t, &p->var[cell]);
		if (any && p->life)
			p->life[cell]++;
	}
}

void tr_forget_cells(struct translate *t, uint64_t addr, uint64_t size)
{
	each_page(t, addr, size, renew_cells);
}
