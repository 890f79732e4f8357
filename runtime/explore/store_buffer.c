/*
 * store_buffer: `intact explore --memory=tso`: total store order, as x86 has it (Owens, Sarkar, Sewell: A better x86
 * memory model, TPHOLs 2009).
 *
 * Each thread has a buffer of stores, first in, first out. A store goes into it (SCHED_BUFFER), and reaches memory when
 * the scheduler chooses the buffer's agent (SCHED_FLUSH), which is a thread for the scheduler but has no code: its steps are
 * executed by the thread that has called the scheduler (x_buffer_step, from points.c). Before an operation that drains, the
 * thread waits until all its stores are flushed (SCHED_DRAIN). Which operations drain, and whether a point is there at
 * all, is a function of the thread's own past, never of what was flushed meanwhile: the exhaustive search needs that.
 *
 * FORWARDING. A thread sees its own stores. Compiled code accesses memory itself, so memory holds the view of the thread
 * that runs: when another one goes on, its unflushed stores are undone, newest first, and when it goes on again
 * they are made again on top of what memory then holds, oldest first. So an access of whatever kind, size
 * and overlap finds the right bytes. The value of a store is read from memory when it is undone: the code of a plain store
 * comes after its hook, and no other thread runs before the next point.
 *
 * NOT BUFFERED. Stores to the thread's own stack and thread-local data (code without hooks uses such memory again at once),
 * of more than eight bytes, and by functions like memcpy: the buffer is drained before them. A buffer has X_STORES entries;
 * a further store waits for the oldest one, and the tool says so (control.buffers_full).
 */
#include "base/invariant.h"
#include "runtime/explore/explorer.h"

static struct x_buffer *mine(void)
{
	return &X.buffer[X.current];
}

static struct x_store *entry(struct x_buffer *b, uint32_t i)
{
	return &b->store[i % X_STORES];
}

static uint64_t bytes_at(const struct x_store *e)
{
	uint64_t v = 0;
	__builtin_memcpy(&v, (const void *)e->addr, e->size);
	return v;
}

static void put_bytes(const struct x_store *e, uint64_t v)
{
	__builtin_memcpy((void *)e->addr, &v, e->size);
}

/* With its agent, although it may never store: the ids of threads must not depend on who stores first. */
void x_buffer_begin(uint32_t thread)
{
	assert(thread < X_THREADS);
	struct x_buffer *b = &X.buffer[thread];
	b->stored = b->flushed = b->drained = 0;
	b->atomic = NULL;
	b->agent = sched_agent(X.sched, thread);
	if (b->agent >= X_THREADS)
		x_give_up(CONTROL_WHY_UNSUPPORTED, "more than %d threads with store buffers in a run", X_THREADS / 2);
	x_agent_begin(b->agent, thread);
}

/* ---- views ---- */

void x_buffer_undo(uint32_t thread)
{
	struct x_buffer *b = &X.buffer[thread];
	for (uint32_t i = b->stored; i-- > b->flushed;) {
		struct x_store *e = entry(b, i);
		e->value = bytes_at(e);
		put_bytes(e, e->under);
	}
}

void x_buffer_redo(uint32_t thread)
{
	struct x_buffer *b = &X.buffer[thread];
	for (uint32_t i = b->flushed; i < b->stored; i++) {
		struct x_store *e = entry(b, i);
		e->under = bytes_at(e);
		put_bytes(e, e->value);
	}
}

/* ---- questions ---- */

static bool overlaps(const struct x_store *e, uintptr_t addr, size_t size)
{
	return e->addr < addr + size && addr < e->addr + e->size;
}

bool x_buffer_holds(uintptr_t addr, size_t size)
{
	struct x_buffer *b = mine();
	for (uint32_t i = b->flushed; i < b->stored; i++)
		if (overlaps(entry(b, i), addr, size))
			return true;
	return false;
}

bool x_buffer_since_drain(uintptr_t addr, size_t size)
{
	struct x_buffer *b = mine();
	uint32_t from = b->stored - b->drained > X_STORES ? b->stored - X_STORES : b->drained;
	for (uint32_t i = from; i < b->stored; i++)
		if (overlaps(entry(b, i), addr, size))
			return true;
	return false;
}

/* The stack of the current thread, and its thread-local data. */
static bool is_own(uintptr_t addr)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	const struct x_slot *s = &X.slot[x_me()->slot];
	uintptr_t end = X.current ? (uintptr_t)s->hi : (uintptr_t)X.stack_hi;
	uintptr_t tls = (uintptr_t)__builtin_thread_pointer();
	return (addr >= here - 65536 && addr < end) || (addr < tls + 4096 && addr + 65536 >= tls);
}

bool x_buffer_takes(uintptr_t addr, size_t size)
{
	return size <= sizeof(uint64_t) && !is_own(addr);
}

/* ---- stores and drains ---- */

static void flush_op(const struct x_store *e, uint32_t owner, struct sched_op *op)
{
	*op = (struct sched_op){
		.a = e->addr, .size = e->size, .pc = e->pc, .kind = SCHED_FLUSH, .order = (uint8_t)owner, .flags = SCHED_OWN
	};
}
_Static_assert(X_THREADS <= 256, "an owner fits into sched_op.order");

static void pend(struct x_buffer *b, uint32_t owner)
{
	struct sched_op op;
	const struct x_store *e = entry(b, b->flushed);
	flush_op(e, owner, &op);
	sched_agent_pend(X.sched, b->agent, &op, e->event);
}

void x_buffer_store(uintptr_t addr, unsigned size, uintptr_t pc)
{
	struct x_buffer *b = mine();
	assert(!X.alone && size && size <= sizeof(uint64_t));
	if (b->stored - b->drained >= X_STORES) {
		X.ctl->buffers_full++;
		x_point_drain(b->stored - X_STORES + 1, pc);
	}
	x_point_memory(SCHED_BUFFER, addr, size, pc);
	uint32_t n;
	sched_events(X.sched, &n);
	assert(b->stored - b->flushed < X_STORES && n);
	struct x_store *e = entry(b, b->stored++);
	*e = (struct x_store){ .addr = addr, .size = size, .pc = pc, .event = n - 1 };
	e->under = e->value = bytes_at(e);
	X.ctl->buffered++;
	if (b->stored - b->flushed == 1)
		pend(b, X.current);
}

void x_drain(uintptr_t pc)
{
	struct x_buffer *b = mine();
	if (X.alone || b->stored == b->drained)
		return;
	x_point_drain(b->stored, pc);
	assert(b->flushed == b->stored);
	b->drained = b->stored;
}

/* ---- flushes ---- */

static void report(const struct x_store *e, uint64_t before, uint32_t n)
{
	if (n > CONTROL_STEPS)
		return;
	struct control_step *s = &X.ctl->steps[n - 1];
	*s = (struct control_step){ .before = before, .after = e->value, .flags = STEP_VALUES, .nstack = 1, .stack = { e->pc } };
}

static void flush(struct x_buffer *b, uint32_t owner)
{
	struct x_store *e = entry(b, b->flushed);
	uint32_t n;
	sched_events(X.sched, &n);
	uint64_t before = bytes_at(e);
	x_flushes(e);
	put_bytes(e, e->value);
	if (unlikely(X.detail))
		report(e, before, n);
	b->flush_event[b->flushed % X_STORES] = n - 1;
	b->flushed++;
	struct x_thread *t = &X.thread[owner];
	if (t->state == XT_LIVE && t->op->kind == SCHED_DRAIN && b->flushed == b->until) {
		sched_caused(X.sched, owner);
		sched_enable(X.sched, owner);
	}
	if (b->flushed < b->stored)
		pend(b, owner);
}

/* The agent's operation was chosen. No thread's stores are in memory now but those that are flushed. */
uint32_t x_buffer_step(uint32_t agent)
{
	uint32_t owner = X.thread[agent].parent, was = X.current;
	assert(X.thread[agent].state == XT_AGENT && X.buffer[owner].agent == agent);
	X.current = owner; /* whose store it is, should it be a misuse */
	flush(&X.buffer[owner], owner);
	X.current = was;
	return sched_agent_point(X.sched, agent);
}
