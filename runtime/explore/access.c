/*
 * access: plain accesses: which of them race in this schedule, and which are
 * points.
 *
 * A cell of eight bytes remembers earlier accesses that a later one could race
 * with: who, when, which bytes, where. One that a new access covers and that
 * happened before it is dropped: whatever is unordered with the old one is so
 * with the new. So nothing is forgotten and the answer is exact for the schedule
 * (FastTrack keeps one write and the reads; here it is by bytes). Of several places
 * of one thread that race with the same access, the latest is told: it becomes a
 * point, and schedules that stop there show the one before.
 *
 * Two accesses race when they touch a byte, one writes, not both are atomic, and
 * neither happened before the other. Their places become points from the next run
 * on: in this run they were passed without a choice, and a schedule must mean the
 * same from its first step.
 *
 * Memory that is freed is written as by free, and marked: every later access is
 * a use after free, ordered or not.
 */
#include "base/invariant.h"
#include "runtime/explore/explorer.h"

/* ---- places ---- */

uint32_t x_place_look(uintptr_t pc)
{
	assert(pc);
	uint32_t h = x_place_hash(pc);
	while (X.place[h].pc != pc) {
		if (!X.place[h].pc) {
			if (++X.nplaces > X_PLACES - X_PLACES / 4)
				x_give_up(CONTROL_WHY_INTERNAL, "the program has accesses at more than %d places",
				          X_PLACES - X_PLACES / 4);
			X.place[h].pc = pc;
			break;
		}
		h = (h + 1) & (X_PLACES - 1);
	}
	return h;
}

static void becomes_point(uint32_t place)
{
	assert(place < X_PLACES);
	struct x_place *p = &X.place[place];
	if (p->flags & (XP_POINT | XP_NEXT))
		return;
	p->flags |= XP_NEXT;
	X.new_places = true;
}

/* Between two runs. */
void x_places_next(void)
{
	struct control *c = X.ctl;
	X.new_places = false;
	for (uint32_t i = 0; i < X_PLACES; i++)
		if (X.place[i].flags & XP_NEXT) {
			X.place[i].flags = XP_POINT;
			if (c->nplaces < CONTROL_PLACES)
				c->places[c->nplaces++] = X.place[i].pc;
		}
}

/* ---- cells ---- */

static struct x_cell *cell_at(uintptr_t addr)
{
	uint64_t key = (uint64_t)(addr >> 3) << 20 | (X.run & 0xfffff);
	uint32_t h = (uint32_t)((addr >> 3) ^ (addr >> 20) * 0x9e3779b1u) & (X_CELLS - 1);
	for (uint32_t tries = 0;; tries++) {
		struct x_cell *c = &X.cell[h];
		if (likely(c->key == key))
			return c;
		if ((c->key & 0xfffff) != (X.run & 0xfffff)) {
			c->key = key;
			c->n = 0;
			c->more = 0;
			return c;
		}
		if (tries > X_CELLS / 2)
			x_give_up(CONTROL_WHY_INTERNAL, "a run uses more memory than can be tracked (%d cells)", X_CELLS / 2);
		h = (h + 1) & (X_CELLS - 1);
	}
}

static bool before_me(const struct x_past *p)
{
	assert(p->thread < X_THREADS);
	return (p->thread == X.current) | (p->clock <= X.clock[X.current][p->thread]);
}

/* Does the compiler count there which lines are executed? */
static bool is_counter(uintptr_t addr)
{
	const struct control *c = X.ctl;
	uintptr_t at = addr - (c->nmodules ? c->modules[0].base : 0); /* the program's */
	for (uint32_t i = 0; i < c->ncounters && i < CONTROL_COUNTERS; i++)
		if (at >= c->counter[i].lo && at < c->counter[i].hi)
			return true;
	return false;
}

static NOINLINE void clash(const struct x_past *p, uintptr_t addr, unsigned bytes, unsigned kind, uint32_t place)
{
	if (p->kind & XA_FREE) {
		X.end_pc = X.place[place].pc;
		X.end_addr = (addr & ~(uintptr_t)7) + (unsigned)__builtin_ctz(bytes);
		X.gone_pc = X.place[p->place].pc;
		X.gone_thread = p->thread;
		x_fail(CONTROL_MISUSE, kind & XA_FREE    ? "free of memory that is already freed"
		                       : kind & XA_WRITE ? "write to freed memory"
		                                         : "read of freed memory");
	}
	if (X.ctl->ncounters && is_counter((addr & ~(uintptr_t)7) + (unsigned)__builtin_ctz(bytes)))
		return;
	X.race_points |= X.place[place].flags & X.place[p->place].flags & XP_POINT;
	X.race_unseen |= !(X.place[place].flags & X.place[p->place].flags & XP_POINT);
	becomes_point(place);
	becomes_point(p->place);
	uintptr_t pc = X.place[place].pc, before = X.place[p->place].pc;
	if (!X.raced || (X.ctl->goal_pc && (pc == X.ctl->goal_pc || before == X.ctl->goal_pc)))
		X.race_pc = before == X.ctl->goal_pc ? before : pc;
	X.raced = true;
	x_report_race(p, addr, bytes, kind, place);
}

/*
 * The entries of a cell, and of those that follow it. KNOWN: the new one is there already. KNOWN_ELSEWHERE: but at
 * another place of the same thread, with no synchronisation since: the entry has the latest place from now on, and what
 * follows is looked at, so that each place that races is found in the schedules that other points make possible.
 */
enum look { NEW, KNOWN, KNOWN_ELSEWHERE };

static enum look look(struct x_cell *c, uintptr_t addr, unsigned bytes, unsigned kind, uint32_t place)
{
	assert(c->n <= sizeof c->past / sizeof *c->past && bytes && bytes <= 0xff && place < X_PLACES);
	uint32_t now = X.clock[X.current][X.current];
	enum look known = NEW;
	for (uint32_t i = 0; i < c->n;) {
		struct x_past *p = &c->past[i];
		if (!(p->bytes & bytes)) {
			i++;
			continue;
		}
		bool ordered = before_me(p);
		if (unlikely(p->kind & XA_FREE) || (!ordered && (p->kind | kind) & XA_WRITE && !(p->kind & kind & XA_ATOMIC)))
			clash(p, addr, p->bytes & bytes, kind, place);
		if (p->thread == X.current && p->clock == now && (p->bytes & bytes) == bytes &&
		    (p->kind & XA_WRITE) >= (kind & XA_WRITE) && (p->kind & XA_ATOMIC) == (kind & XA_ATOMIC)) {
			if (p->place == place)
				return KNOWN;
			if (p->kind == kind)
				p->place = place;
			known = KNOWN_ELSEWHERE;
			i++;
			continue;
		}
		/* An atomic one is not replaced by a plain one, nor the other way round, unless
		 * the new one clashes with all that the old one does. */
		bool covers = ordered && !(p->bytes & ~bytes) && (kind & XA_WRITE) >= (p->kind & XA_WRITE) &&
		              (kind & XA_ATOMIC) <= (p->kind & XA_ATOMIC);
		if (covers)
			*p = c->past[--c->n];
		else
			i++;
	}
	return known;
}

static void remember_in(struct x_cell *c, uintptr_t addr, unsigned bytes, unsigned kind, uint32_t place)
{
	struct x_cell *room = NULL;
	bool known = false;
	for (;; c = &X.more[c->more]) {
		enum look l = look(c, addr, bytes, kind, place);
		if (l == KNOWN)
			return;
		known |= l == KNOWN_ELSEWHERE;
		if (!room && c->n < 4)
			room = c;
		if (!c->more)
			break;
	}
	if (known)
		return;
	if (!room) {
		if (X.nmore + 1 >= X_MORE)
			x_give_up(CONTROL_WHY_INTERNAL, "a run has more unordered accesses than can be tracked");
		c->more = ++X.nmore;
		room = &X.more[c->more];
		room->n = 0;
		room->more = 0;
	}
	room->past[room->n++] = (struct x_past){ X.clock[X.current][X.current], (uint16_t)X.current, (uint8_t)bytes, (uint8_t)kind,
		                                 place };
}

static void remember(uintptr_t addr, unsigned bytes, unsigned kind, uint32_t place)
{
	remember_in(cell_at(addr), addr, bytes, kind, place);
}

/* ---- accesses ---- */

static void access_point(uintptr_t addr, unsigned mask, bool write, uintptr_t pc)
{
	assert(mask && mask <= 0xff);
	unsigned from = (unsigned)__builtin_ctz(mask), to = 32 - (unsigned)__builtin_clz(mask);
	x_point_memory(write ? SCHED_WRITE : SCHED_READ, (addr & ~(uintptr_t)7) + from, to - from, pc);
}

/* With store buffers: one that is a point, or goes to where a buffered one goes. False: it goes to memory, after what
 * was buffered. The log of blocks is told when it is flushed. */
static NOINLINE bool plain_store(uintptr_t addr, unsigned mask, bool point, uint32_t place, uintptr_t pc)
{
	unsigned from = (unsigned)__builtin_ctz(mask), size = 32 - (unsigned)__builtin_clz(mask) - from;
	uintptr_t at = (addr & ~(uintptr_t)7) + from;
	if (X.c11) {
		x_views_forget(at, size);
		return false;
	}
	if (!point && !x_buffer_since_drain(at, size))
		return false;
	if (!x_buffer_takes(at, size)) {
		x_drain(pc);
		return false;
	}
	x_buffer_store(at, size, pc);
	remember(addr, mask, XA_WRITE, place);
	return true;
}

/* So that a loop on plain data lets others run. After the first of them what it reads is kept: a loop that repeats the same reads then waits
 * for a change, as one on data that is known to race does; what changes it becomes a point by that. */
static NOINLINE void forced_point(uintptr_t addr, unsigned mask, bool write, uintptr_t pc)
{
	if (!write && x_spinning())
		access_point(addr, mask, false, pc);
	else
		x_point(SCHED_YIELD, NULL, 0, 0, 0, 0, pc);
}

static NOINLINE void noted(uintptr_t addr, unsigned mask, bool write, uintptr_t pc, bool point)
{
	x_log_access(addr, mask, write, false, pc);
	if (X.logging & X_LOG_DETAIL && !point)
		x_tell_access(addr, mask, write, pc);
}

static NOINLINE void noted_range(uintptr_t addr, unsigned mask, bool write, uintptr_t pc, size_t size)
{
	x_log_access(addr, mask, write, false, pc);
	if (X.logging & X_LOG_DETAIL && size <= 64)
		x_tell_range(addr, mask, write, pc);
}

void x_access(uintptr_t addr, unsigned mask, bool write, uintptr_t pc)
{
	assert(mask && mask <= 0xff);
	if (X.alone)
		return;
	uint32_t place = x_place(pc);
	bool point = X.place[place].flags & XP_POINT;
	if (unlikely(X.weak) && write && plain_store(addr, mask, point, place, pc))
		return;
	if (unlikely(point)) {
		access_point(addr, mask, write, pc); /* counts towards a loop that waits by itself */
	} else {
		if (unlikely(++X.unpointed > X_FORCED))
			forced_point(addr, mask, write, pc);
		if (x_me()->spins)
			write ? x_spin_write(addr) : x_spin_read(addr & ~(uintptr_t)7, 8, pc);
	}
	if (unlikely(X.logging))
		noted(addr, mask, write, pc, point);
	remember(addr, mask, write ? XA_WRITE : 0, place);
}

void x_range(uintptr_t addr, size_t size, bool write, uintptr_t pc)
{
	if (X.alone || !size || size >> 40)
		return;
	uint32_t place = x_place(pc);
	if (unlikely(X.c11) && write)
		x_views_forget(addr, size);
	if (unlikely(X.tso) && write && x_buffer_since_drain(addr, size))
		x_drain(pc);
	if (unlikely(X.place[place].flags & XP_POINT))
		x_point(write ? SCHED_WRITE : SCHED_READ, NULL, addr, 0, size < 0xffffffff ? (unsigned)size : 0xffffffff, 0, pc);
	X.unpointed += (uint32_t)(size / 8);
	x_effect(); /* or a read of much: no loop that waits */
	for (uintptr_t end = addr + size; addr < end;) {
		unsigned off = addr & 7, n = 8 - off;
		if (n > end - addr)
			n = (unsigned)(end - addr);
		if (unlikely(X.logging))
			noted_range(addr, (0xffu >> (8 - n)) << off, write, pc, size);
		remember(addr, (0xffu >> (8 - n)) << off, write ? XA_WRITE : 0, place);
		addr += n;
	}
}

void x_accessed_atomic(struct x_object *o, uintptr_t addr, unsigned size, bool write, uintptr_t pc)
{
	assert(size >= 1 && size <= 16);
	if (o->pc != pc) {
		o->pc = pc;
		o->place = x_place(pc);
	}
	uint32_t place = o->place;
	unsigned off = addr & 7, mask = ((1u << size) - 1) << off;
	if (likely(mask <= 0xff && size != 16 && !X.logging)) {
		if (!o->cell)
			o->cell = cell_at(addr);
		remember_in(o->cell, addr, mask, XA_ATOMIC | (write ? XA_WRITE : 0), place);
		return;
	}
	if (unlikely(X.logging)) {
		x_log_access(addr, mask & 0xff, write, true, pc);
		if (mask > 0xff)
			x_log_access(addr + 8, mask >> 8 & 0xff, write, true, pc);
	}
	remember(addr, mask & 0xff, XA_ATOMIC | (write ? XA_WRITE : 0), place);
	if (mask > 0xff || size == 16)
		remember(addr + 8, size == 16 ? 0xff : mask >> 8, XA_ATOMIC | (write ? XA_WRITE : 0), place);
}

/* Given out again: what was there is over. */
void x_forget(uintptr_t addr, size_t size)
{
	if (unlikely(X.surveying))
		x_survey_forget(addr, size);
	if (unlikely(X.c11))
		x_views_forget(addr, size);
	for (uintptr_t a = addr & ~(uintptr_t)7; a < addr + size; a += 8) {
		struct x_cell *c = cell_at(a);
		c->n = 0;
		c->more = 0;
	}
}

void x_flush_freed(const struct x_store *e)
{
	unsigned off = e->addr & 7, mask = ((1u << e->size) - 1) << off;
	for (unsigned k = 0; k < 2 && mask >> 8 * k; k++) {
		const struct x_cell *c = cell_at(e->addr + 8 * k);
		for (;; c = &X.more[c->more]) {
			for (uint32_t i = 0; i < c->n; i++)
				if (c->past[i].kind & XA_FREE && c->past[i].bytes & mask >> 8 * k)
					clash(&c->past[i], e->addr, c->past[i].bytes & mask >> 8 * k & 0xff, XA_WRITE,
					      x_place(e->pc));
			if (!c->more)
				break;
		}
	}
}

bool x_was_freed(uintptr_t addr, uintptr_t *pc, uint16_t *thread)
{
	if (X.alone || !x_owns((void *)addr))
		return false;
	for (const struct x_cell *c = cell_at(addr);; c = &X.more[c->more]) {
		for (uint32_t i = 0; i < c->n; i++)
			if (c->past[i].kind & XA_FREE && c->past[i].bytes >> (addr & 7) & 1) {
				*pc = X.place[c->past[i].place].pc;
				*thread = c->past[i].thread;
				return true;
			}
		if (!c->more)
			return false;
	}
}

/*
 * A place that frees is a point once a block was freed there that another thread accessed in no order with it, or that had an object
 * (a lock, say) that was not destroyed: what comes before the free in this run may come after it in another.
 */
void x_free_point(uintptr_t addr, size_t size, uintptr_t pc)
{
	if (!X.alone && pc && X.place[x_place(pc)].flags & XP_POINT)
		x_point(SCHED_FREE, NULL, addr, 0, size < 0xffffffff ? (unsigned)size : 0xffffffff, 0, pc);
}

/* Of a large block the first 64 KiB: the rest is seldom all that is used later. */
void x_freed(uintptr_t addr, size_t size, bool objects, uintptr_t pc)
{
	if (X.alone)
		return;
	if (unlikely(X.surveying))
		x_survey_forget(addr, size);
	uint32_t place = x_place(pc);
	if (objects)
		becomes_point(place);
	for (uintptr_t a = addr, end = addr + (size > (64 << 10) ? (64 << 10) : size); a < end; a += 8)
		remember(a, 0xff, XA_WRITE | XA_FREE, place);
}
