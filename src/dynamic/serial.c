/*
 * serial: conflict serializability with forward clocks.
 *
 * What is decided (docs/trace.md): transactions are the outermost blocks and
 * the single events outside of them. A *link* into transaction T is a pair
 * (c, e) of conflicting events of different threads, e in T, such that no
 * event between them on the same object conflicts with c and is of e's thread
 * or conflicts with e. Links and program order have the same paths as all
 * conflicts (an excluded pair is a path of shorter pairs). Block B violates
 * when some link (c, e) into B comes from a transaction that B reaches.
 * Every cycle has a last link to appear; it enters a block that is still open
 * and that reaches the link's source: so the execution is serializable if and
 * only if no block violates.
 *
 * Method. Only an open block can receive links, and a path is only asked for
 * from an open block. So instead of a clock on every event (who reaches it:
 * AeroDrome, ASPLOS 2020), keep one on every *open block*: what it reaches.
 * The transactions of a thread are a chain, hence
 *
 *   E[u][A] = the first transaction of thread u (its serial) that the open
 *             block A reaches; SERIAL_INF when none
 *
 * says it all: A reaches (u, n) iff E[u][A] <= n. A variable remembers only
 * the (thread, serial) of its last writer and readers.
 *
 * Invariants, with T = (t, n) the current transaction of thread t:
 *  I1  E[u][A] <= n iff there is a path from A to (u, n) in the graph so far.
 *  I2  if A reaches the open block B then E[u][A] <= E[u][B] for every u.
 * A link from (u, m) to T gives new paths only to those A with E[u][A] <= m
 * (A itself, at its own serial, is among them): for each that did not reach T,
 * E[t][A] = n, and when T is the open block B then E[.][A] = min(E[.][A],
 * E[.][B]). No one else changes: if X reaches A it reaches (u, m) as well, by
 * I1, and is updated likewise; B's own reach is not enlarged by a link into
 * B; finished transactions receive no links. A new transaction of t is
 * reached by those that reach the thread's last one: E[t][A] <= n already. So
 * both invariants hold after every event, and violation is tested exactly, at
 * the very event that closes the cycle: nothing is postponed to the end of
 * blocks, which is where the published optimised AeroDrome loses cycles.
 * After a violation the link is kept like any other: the invariants do not
 * need an acyclic graph.
 *
 * Serials. A block gets a new serial at its begin. An event outside of blocks is
 * its own transaction, but needs a new serial only when it receives a link that
 * gives a block a new path to its thread: events with one serial that are not
 * separated so are reached together or not at all.
 *
 * Garbage: a transaction that no open block reaches (m < min[u], a lower
 * bound of E[u][.]) can never be on a cycle again: one comparison dismisses
 * its links. A row E[u][.] holds only the blocks that reach u, a block's
 * column goes when it ends.
 *
 * Cost: a link costs one comparison, or a pass over the open blocks that reach
 * the two threads when its source is reached; an open block newly reached by
 * another costs a pass over the threads the two reach. Memory: variables, locks,
 * threads, and the pairs of an open block and a thread it reaches. These are
 * the square of the blocks that are open at once, and the passes the cube, so
 * without a budget the analysis ends (SERIAL_PAIRS) at 2^23 of them, 1 GB:
 * three thousand blocks open at once that all reach each other.
 *
 * The witness. Along with E[u][A] the reason is kept: the path by which A first
 * reached that transaction, an immutable list of links shared between paths
 * (`link`: a path and one link more; `cat`: two paths, when a reached block
 * brings its own). As the chain of a thread can be entered at its first reached
 * transaction and left at any later one, paths visit a thread once, except
 * around cycles already reported; they are cut short there, and given up
 * (`lost`) beyond WHY_MAX links.
 */
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "dynamic/serial_int.h"

static bool need_thread(struct serial *s, uint32_t t)
{
	uint32_t old = s->nthreads, n = old;
	if (t < old)
		return true;
	if (!SERIAL_ROOM(s, s->rows, n, t) || !SERIAL_ROOM(s, s->marks, s->nmarks, t))
		return false;
	if (!SERIAL_ROOM(s, s->threads, s->nthreads, t))
		return false;
	for (uint32_t i = old; i < s->nthreads; i++) {
		s->threads[i].slot = SERIAL_NONE;
		s->threads[i].serial = 1;
		s->rows[i].min = SERIAL_INF;
	}
	return true;
}

/* ---- block records ------------------------------------------------------ */

static void mark(struct serial *s, const struct serial_access *a)
{
	assert(a->block < s->nblocks || !a->block);
	s->blocks[a->block].mark = true;
}

/* Frees the records that nothing names any more. A cycle_end of a path holds
 * the block's data itself, so paths need no mark. */
static void sweep_blocks(struct serial *s)
{
	for (uint32_t i = 0; i < s->nvars; i++) {
		mark(s, &s->vars[i].w);
		mark(s, &s->vars[i].r);
	}
	for (uint32_t i = 0; i < s->nmore; i++)
		mark(s, &s->more[i]);
	for (uint32_t i = 0; i < s->nlocks; i++)
		mark(s, &s->locks[i]);
	for (uint32_t i = 0; i < s->nthreads; i++) {
		s->blocks[s->threads[i].block].mark = true;
		s->blocks[s->threads[i].last_block].mark = true;
		mark(s, &s->threads[i].forked);
	}
	s->blocks_free = 0;
	s->blocks_live = 0;
	for (uint32_t i = s->nblocks; i-- > 1;) {
		struct serial_block *b = &s->blocks[i];
		if (b->mark) {
			b->mark = false;
			s->blocks_live++;
		} else {
			b->next_free = s->blocks_free;
			s->blocks_free = i;
		}
	}
}

static uint32_t block_new(struct serial *s, const struct event *e)
{
	if (!s->blocks_free && s->nblocks == s->blocks_cap) {
		uint32_t holders = s->nvars / 4 + s->nthreads;
		if (s->nblocks > 4096 && s->nblocks > holders)
			sweep_blocks(s);
		if (!s->blocks_free || s->blocks_live > s->nblocks / 2)
			if (!SERIAL_ROOM(s, s->blocks, s->blocks_cap, s->blocks_cap))
				return 0;
	}
	uint32_t id = s->blocks_free;
	if (id)
		s->blocks_free = s->blocks[id].next_free;
	else
		id = s->nblocks++;
	s->blocks[id] = (struct serial_block){ e->index, e->loc, e->target, 0, false };
	return id;
}

/* ---- events ------------------------------------------------------------- */

static inline void link_in(struct serial *s, const struct serial_access *a, enum event_kind kind, uint32_t target,
                           const struct event *e)
{
	assert(!a->event || a->event < e->index);
	if (!a->event || a->thread == e->thread)
		return;
	s->st.links++;
	if (a->serial >= s->rows[a->thread].min)
		link_slow(s, a, kind, target, e);
}

static inline struct serial_access access_of(const struct serial *s, const struct event *e)
{
	assert(e->thread < s->nthreads);
	const struct serial_thread *th = &s->threads[e->thread];
	return (struct serial_access){ e->index, e->thread, th->serial, e->loc, th->block, 0, 0 };
}

static uint32_t more_new(struct serial *s)
{
	uint32_t id = s->more_free;
	if (id) {
		s->more_free = s->more[id].next;
		return id;
	}
	id = s->nmore ? s->nmore : 1;
	if (!SERIAL_ROOM(s, s->more, s->more_cap, id))
		return 0;
	s->nmore = id + 1;
	return id;
}

/* This thread's read of the variable since the last write, or NULL. */
static struct serial_access *my_read(struct serial *s, struct serial_var *v, const struct event *e)
{
	struct serial_access *r = &v->r;
	if (!r->event)
		return NULL;
	if (r->thread == e->thread)
		return r;
	if (v->w.var > READERS_LIST) {
		uint32_t at = map_get(&s->readers, (uint64_t)e->target << 32 | e->thread);
		if (at != MAP_NONE) {
			r = &s->more[at];
			if (r->event && r->thread == e->thread && r->var == e->target)
				return r;
		}
		return NULL;
	}
	while (r->next) {
		r = &s->more[r->next];
		if (r->thread == e->thread)
			return r;
	}
	return NULL;
}

/* Into the map; all of them when the list has just become too long. */
static void look_up_from_now(struct serial *s, const struct serial_var *v)
{
	bool all = v->w.var == READERS_LIST + 1;
	for (uint32_t id = v->r.next; id; id = all ? s->more[id].next : 0) {
		const struct serial_access *r = &s->more[id];
		size_t before = s->readers.cap;
		if (!map_put(&s->readers, (uint64_t)r->var << 32 | r->thread, id))
			s->end = SERIAL_NOMEM;
		s->memory.used += (s->readers.cap - before) * sizeof *s->readers.slots;
		if (s->memory.max && s->memory.used > s->memory.max)
			s->end = SERIAL_NOMEM;
	}
}

/* The variable is another from here on: its memory was given back. */
static void var_renew(struct serial *s, struct serial_var *v)
{
	for (uint32_t id = v->r.next; id;) {
		uint32_t next = s->more[id].next;
		s->more[id].event = 0;
		s->more[id].next = s->more_free;
		s->more_free = id;
		id = next;
	}
	*v = (struct serial_var){ 0 };
}

static void do_read(struct serial *s, const struct event *e)
{
	struct serial_var *v = &s->vars[e->target];
	struct serial_access *r = my_read(s, v, e);
	struct serial_access a;
	if (r) {
		if (r->serial != s->threads[e->thread].serial) {
			a = access_of(s, e);
			a.next = r->next;
			a.var = r->var;
			*r = a;
		}
		return;
	}
	link_in(s, &v->w, EVENT_WRITE, e->target, e);
	a = access_of(s, e);
	if (!v->r.event) {
		v->r = a;
		return;
	}
	uint32_t id = more_new(s);
	if (!id)
		return;
	a.next = v->r.next;
	a.var = e->target;
	s->more[id] = a;
	v->r.next = id;
	if (++v->w.var > READERS_LIST)
		look_up_from_now(s, v);
}

static void do_write(struct serial *s, const struct event *e)
{
	struct serial_var *v = &s->vars[e->target];
	const struct serial_thread *th = &s->threads[e->thread];
	bool mine = false;
	if (!v->r.event && v->w.thread == e->thread && v->w.event && v->w.serial == th->serial)
		return;
	for (uint32_t id = 0; v->r.event;) {
		struct serial_access *r = id ? &s->more[id] : &v->r;
		uint32_t next = r->next;
		if (r->thread == e->thread)
			mine = true;
		else
			link_in(s, r, EVENT_READ, e->target, e);
		if (id) {
			r->event = 0;
			r->next = s->more_free;
			s->more_free = id;
		}
		if (!next)
			break;
		id = next;
	}
	v->r.event = 0;
	v->r.next = 0;
	if (!mine)
		link_in(s, &v->w, EVENT_WRITE, e->target, e);
	v->w = access_of(s, e);
}

static void do_begin(struct serial *s, const struct event *e)
{
	struct serial_thread *th = &s->threads[e->thread];
	uint32_t k;
	if (e->flags & EVENT_INNER) {
		if (th->ninner < SERIAL_INNER_MAX) {
			uint32_t room = th->inner ? SERIAL_INNER_MAX : 0;
			if (!SERIAL_ROOM(s, th->inner, room, SERIAL_INNER_MAX - 1))
				return;
			th->inner[th->ninner] = (struct serial_inner){ e->index, e->loc, e->target };
		}
		th->ninner++;
		return;
	}
	row_next_serial(s, e->thread);
	if (!s->nfree_slots && s->nslots == s->slots_cap && !row_slots_grow(s))
		return;
	k = s->nfree_slots ? s->free_slots[--s->nfree_slots] : s->nslots++;
	uint32_t block = block_new(s, e);
	if (!block)
		return;
	th->slot = k;
	th->block = block;
	th->ninner = 0;
	struct serial_slot *sl = &s->slots[k];
	sl->thread = e->thread;
	sl->serial = th->serial;
	sl->found = false;
	reach_add(s, e->thread, k, th->serial, 0);
}

static void do_end(struct serial *s, const struct event *e)
{
	struct serial_thread *th = &s->threads[e->thread];
	if (e->flags & EVENT_INNER) {
		if (th->ninner)
			th->ninner--;
		return;
	}
	uint32_t k = th->slot;
	if (k == SERIAL_NONE)
		return;
	reach_end(s, k);
	th->slot = SERIAL_NONE;
	th->block = 0;
	s->free_slots[s->nfree_slots++] = k;
}

/* The thread is over: what it does not need to be remembered by goes. */
static void thread_done(struct serial *s, uint32_t t)
{
	struct serial_thread *th = &s->threads[t];
	struct serial_row *r = &s->rows[t];
	if (th->inner) {
		free(th->inner);
		th->inner = NULL;
		th->ninner = 0;
		s->memory.used -= SERIAL_INNER_MAX * sizeof *th->inner;
	}
	if (r->e && !r->n) {
		s->memory.used -= r->cap * sizeof *r->e;
		free(r->e);
		r->e = NULL;
		r->cap = 0;
	}
}

static void do_sync(struct serial *s, const struct event *e)
{
	struct serial_access a;
	switch (e->kind) {
	case EVENT_ACQ:
		if (e->flags & EVENT_FIRST)
			s->locks[e->target] = (struct serial_access){ 0 };
		a = s->locks[e->target];
		link_in(s, &a, EVENT_REL, e->target, e);
		break;
	case EVENT_REL:
		s->locks[e->target] = access_of(s, e);
		break;
	case EVENT_FORK:
		s->threads[e->target].forked = access_of(s, e);
		break;
	case EVENT_JOIN: {
		const struct serial_thread *c = &s->threads[e->target];
		a = (struct serial_access){ c->last, e->target, c->serial, c->last_loc, c->last_block, 0, 0 };
		link_in(s, &a, (enum event_kind)c->last_kind, c->last_target, e);
		thread_done(s, e->target);
		break;
	}
	default:
		break;
	}
}

/* The one large array: little of it lies idle. */
static bool need_var(struct serial *s, uint32_t v)
{
	return SERIAL_ROOM_AS(GROW_ZERO | GROW_EIGHTHS, s, s->vars, s->nvars, v);
}

static bool need(struct serial *s, const struct event *e)
{
	if (!need_thread(s, e->thread))
		return false;
	switch (e->kind) {
	case EVENT_READ:
	case EVENT_WRITE:
		return need_var(s, e->target);
	case EVENT_ACQ:
	case EVENT_REL:
		return SERIAL_ROOM(s, s->locks, s->nlocks, e->target);
	case EVENT_FORK:
	case EVENT_JOIN:
		return need_thread(s, e->target);
	default:
		return true;
	}
}

static void one(struct serial *s, const struct event *e)
{
	struct serial_thread *th = &s->threads[e->thread];
	if (e->kind >= EVENT_BEGIN && (e->flags & EVENT_INNER)) {
		if (e->kind == EVENT_BEGIN)
			do_begin(s, e);
		else
			do_end(s, e);
		return;
	}
	if (e->flags & EVENT_INNER)
		return;
	if (e->kind == EVENT_BEGIN)
		do_begin(s, e);
	if (th->forked.event && !s->end) {
		struct serial_access f = th->forked;
		th->forked.event = 0;
		link_in(s, &f, EVENT_FORK, e->thread, e);
	}
	if (e->kind <= EVENT_WRITE && e->flags & EVENT_FIRST)
		var_renew(s, &s->vars[e->target]);
	if (e->kind == EVENT_READ)
		do_read(s, e);
	else if (e->kind == EVENT_WRITE)
		do_write(s, e);
	else if (e->kind < EVENT_BEGIN)
		do_sync(s, e);
	th->last = e->index;
	th->last_loc = e->loc;
	th->last_target = e->target;
	th->last_kind = e->kind;
	th->last_block = th->block;
	if (e->kind == EVENT_END)
		do_end(s, e);
}

enum serial_end serial_feed(struct serial *s, const struct event *ev, size_t n)
{
	for (size_t i = 0; i < n && !s->end; i++)
		if (!(ev[i].flags & EVENT_OWN) && need(s, &ev[i]))
			one(s, &ev[i]);
	return s->end;
}

/* ------------------------------------------------------------------------- */

struct serial *serial_new(const struct serial_opts *o)
{
	struct serial *s = calloc(1, sizeof *s);
	if (!s)
		return NULL;
	s->o = *o;
	s->memory.max = o->budget;
	s->nblocks = 1;
	map_init(&s->readers);
	if (!SERIAL_ROOM(s, s->blocks, s->blocks_cap, 1) || !why_stack(s)) {
		serial_free(s);
		return NULL;
	}
	return s;
}

void serial_stats(const struct serial *s, struct serial_stats *out)
{
	*out = s->st;
	out->bytes = s->memory.used;
}

void serial_free(struct serial *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->nthreads; i++) {
		free(s->threads[i].inner);
		free(s->rows[i].e);
	}
	for (uint32_t i = 0; s->slots && i < s->slots_cap; i++)
		free(s->slots[i].reach);
	free(s->vars);
	free(s->locks);
	free(s->threads);
	free(s->rows);
	free(s->more);
	map_free(&s->readers);
	free(s->slots);
	free(s->free_slots);
	free(s->blocks);
	free(s->whys);
	free(s->links);
	free(s->stack);
	free(s->fresh);
	free(s->marks);
	free(s);
}
