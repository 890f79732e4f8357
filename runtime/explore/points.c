/*
 * points: where the scheduler is asked which thread continues.
 *
 * The current thread says what it is about to do; sched_point answers with the
 * thread whose pending operation comes next, and the fiber is switched. What is
 * possible is kept exact without looking at all threads: each object knows the
 * threads whose pending operation it decides (`pend`), and when it changes those
 * alone are looked at.
 */
#include "base/invariant.h"
#include "runtime/explore/explorer.h"

/* Can the pending operation of `t` be done now? */
bool x_possible(const struct x_thread *t)
{
	const struct x_object *o = t->pends;
	int self = (int)(t - X.thread);
	switch (t->op->kind) {
	case SCHED_LOCK:
		return o->owner < 0 || (o->owner == self && t->recursive);
	case SCHED_COND_WAKE:
		return (t->signalled || t->timed) && o->owner < 0;
	case SCHED_RDLOCK:
		return o->owner < 0;
	case SCHED_WRLOCK:
		return o->owner < 0 && !o->count;
	case SCHED_SEM_WAIT:
		return o->count > 0 || (t->cancelled && !t->cancel_off);
	case SCHED_ONCE:
		return o->owner < 0;
	case SCHED_BARRIER_LEAVE:
	case SCHED_FUTEX_WOKEN:
		return t->signalled || t->timed;
	case SCHED_DRAIN:
		return X.buffer[self].flushed >= X.buffer[self].until;
	case SCHED_JOIN:
		return X.thread[t->op->a].state == XT_ENDED || (t->cancelled && !t->cancel_off);
	default:
		return true;
	}
}

bool x_can_go_on(const struct x_thread *t)
{
	return t->state == XT_LIVE && t->op->kind != SCHED_YIELD && t->op->kind != SCHED_SLEEP && t->op->kind != SCHED_INVOKE &&
	       (t->pends || t->op->kind != SCHED_COND_WAKE) && x_possible(t);
}

static void evaluate(struct x_thread *t)
{
	uint32_t i = (uint32_t)(t - X.thread);
	if (x_possible(t))
		sched_enable(X.sched, i);
	else
		sched_disable(X.sched, i);
}

void x_changed(struct x_object *o)
{
	for (unsigned w = 0; w * 64 < X.nthreads; w++)
		for (uint64_t m = o->pend[w]; m; m &= m - 1)
			evaluate(&X.thread[w * 64 + (unsigned)__builtin_ctzll(m)]);
}

void x_pends(struct x_thread *t, struct x_object *o)
{
	assert(t >= X.thread && t < X.thread + X.nthreads);
	uint32_t i = (uint32_t)(t - X.thread);
	if (t->pends)
		x_bit_clear(t->pends->pend, i);
	t->pends = o;
	if (o)
		x_bit_set(o->pend, i);
	evaluate(t);
}

/* ---- no thread can continue ---- */

/* Whose wait would end if others went on; the rest wait for a wake-up that no thread is left to send. */
static bool waits_for_thread(const struct x_thread *t)
{
	switch (t->op->kind) {
	case SCHED_LOCK:
	case SCHED_RDLOCK:
	case SCHED_WRLOCK:
	case SCHED_ONCE:
		return true;
	case SCHED_COND_WAKE:
		return t->signalled;
	default:
		return false;
	}
}

static _Noreturn void nobody(void)
{
	unsigned locks = 0, awaits = 0, waits = 0, joins = 0, inputs = 0;
	for (uint32_t i = 0; i < X.nthreads; i++) {
		const struct x_thread *t = &X.thread[i];
		if (t->state != XT_LIVE)
			continue;
		inputs += t->waits_io;
		awaits += sched_awaiting(X.sched, i) && !t->waits_io;
		if (t->op->kind == SCHED_JOIN)
			joins++;
		else if (waits_for_thread(t))
			locks++;
		else
			waits++;
	}
	if (awaits && X.new_places && !X.detail) {
		/* A plain access that was no point yet may have changed what they read; it is one in the next run. */
		X.end = CONTROL_PRUNED;
		x_end_run();
	}
	if (X.tests && x_object_waits())
		x_end_run();
	if ((awaits || inputs) && X.outside) {
		X.end_pc = X.call_pc;
		x_give_up(CONTROL_WHY_UNSUPPORTED, "the threads wait for something outside of the program");
	}
	if (awaits)
		x_fail(CONTROL_ENDLESS, "every runnable thread repeats the same reads forever");
	if (waits && !locks)
		x_fail(CONTROL_LOST_WAKEUP, "every thread waits, and no thread is left to wake one");
	if (!waits && !locks && !joins)
		x_end_run(); /* all have ended: main by pthread_exit */
	x_fail(CONTROL_DEADLOCK, waits ? "deadlock: threads wait for locks whose holders also wait" : "deadlock");
}

static _Noreturn NOINLINE void stopped(void)
{
	switch (sched_stop_reason(X.sched)) {
	case SCHED_STOP_STEPS:
		X.end = CONTROL_LIMIT;
		break;
	case SCHED_STOP_DIVERGED:
		X.end = CONTROL_DIVERGED;
		break;
	default:
		X.end = CONTROL_PRUNED;
	}
	x_end_run();
}

/* ---- the point ---- */

/* What may turn out to have had no effect; the rest certainly has one. */
static bool may_spin(unsigned kind)
{
	switch (kind) {
	case SCHED_READ:
	case SCHED_LOAD:
	case SCHED_TRYLOCK:
	case SCHED_TRYRD:
	case SCHED_TRYWR:
	case SCHED_SEM_TRY:
	case SCHED_SEM_VALUE:
	case SCHED_TRYJOIN:
	case SCHED_YIELD:
	case SCHED_SLEEP:
	case SCHED_FENCE:
	case SCHED_FENCE_SC:
	case SCHED_FUTEX_WAIT:
		return true;
	case SCHED_RMW: /* one that writes ends the iteration, and there is no iteration yet if no attempt failed */
		return x_me()->spins;
	default:
		return false;
	}
}

/* The steps of store buffers that come before that of a thread; who that is. */
static NOINLINE uint32_t flushes(uint32_t next)
{
	if (X.detail)
		x_report_written();
	x_buffer_undo(X.current);
	while (next < SCHED_STOP && X.thread[next].state == XT_AGENT)
		next = x_buffer_step(next);
	return next;
}

static NOINLINE void go_to(struct x_thread *t, uint32_t next)
{
	if (unlikely(X.tso)) {
		next = flushes(next);
		if (next == X.current) {
			x_buffer_redo(X.current);
			return;
		}
	}
	if (next == SCHED_NOBODY)
		nobody();
	if (next == SCHED_STOP)
		stopped();
	x_fiber_go(t, &X.thread[next]);
	if (unlikely(X.tso))
		x_buffer_redo(X.current);
}

static inline void unpend(struct x_thread *t)
{
	assert(t == x_me());
	if (t->pends) {
		x_bit_clear(t->pends->pend, X.current);
		t->pends = NULL;
	}
}

/* While progress is judged (progress.c) the scheduler is not asked. */
static NOINLINE bool goes_its_own_way(struct x_thread *t, bool can)
{
	if (X.detail)
		x_report_written();
	if (X.solo) {
		x_progress_solo(can);
		return true;
	}
	if (!can && x_must_not_wait())
		x_progress_waits();
	if (!X.forced)
		return false;
	uint32_t next = x_progress_next();
	if (next != X.current)
		x_fiber_go(t, &X.thread[next]);
	x_progress_chosen();
	return true;
}

/* In words of eight bytes, as the scheduler copies it. */
static inline void set_op(struct sched_op *op, unsigned kind, uintptr_t a, uintptr_t b, unsigned size, unsigned flags, uintptr_t pc)
{
	typedef uint64_t __attribute__((may_alias)) word;
	_Static_assert(offsetof(struct sched_op, size) == 24 && offsetof(struct sched_op, kind) == 28 &&
	                       offsetof(struct sched_op, flags) == 30,
	               "the last word");
	op->a = a;
	op->b = b;
	op->pc = pc;
	((word *)op)[3] = (uint64_t)size | (uint64_t)kind << 32 | (uint64_t)flags << 48;
}

/* Must the store buffer be empty before it? What the thread does by itself is in the caller's hands: sched_yield and the
 * yield of a long loop are one kind, and fences of all orders. */
static bool drains(unsigned kind, uintptr_t a)
{
	switch (kind) {
	case SCHED_READ:
	case SCHED_FENCE:
	case SCHED_YIELD:
	case SCHED_CHOICE:
	case SCHED_INVOKE:
	case SCHED_FREE: /* of what is in the block it was emptied */
		return false;
	case SCHED_LOAD:
		return a < 4096; /* input and output */
	default:
		return true;
	}
}

void x_point(unsigned kind, struct x_object *o, uintptr_t a, uintptr_t b, unsigned size, unsigned flags, uintptr_t pc)
{
	assert(X.active && x_me()->state == XT_LIVE && kind < SCHED_KINDS);
	if (unlikely(X.tso) && drains(kind, a))
		x_drain(pc);
	struct x_thread *t = x_me();
	set_op(t->op, kind, a, b, size, flags, pc);
	bool can = true;
	if (o) {
		t->pends = o;
		x_bit_set(o->pend, X.current);
		can = x_possible(t);
	} else if (kind == SCHED_JOIN || kind == SCHED_BARRIER_LEAVE || kind == SCHED_FUTEX_WOKEN || kind == SCHED_COND_WAKE) {
		can = kind != SCHED_COND_WAKE && x_possible(t);
	}
	if (unlikely(X.alone) && can && kind != SCHED_CREATE) {
		unpend(t);
		return;
	}
	X.unpointed = 0;
	if (unlikely(X.progress) && goes_its_own_way(t, can)) {
		unpend(t);
		return;
	}
	if (unlikely(X.hooked))
		t->op->flags |= (uint16_t)x_gap_flags(pc);
	if (may_spin(kind))
		x_spin(a, size, pc, kind == SCHED_YIELD || kind == SCHED_SLEEP);
	else
		x_effect();
	if (unlikely(X.solo)) { /* it has just begun */
		unpend(t);
		return;
	}
	uint32_t next = sched_point(X.sched, X.current, t->op, can);
	if (next != X.current)
		go_to(t, next);
	unpend(t);
	if (unlikely(X.progress))
		x_progress_chosen();
	if (unlikely(t->invokes))
		x_object_invoked();
	if (unlikely(X.hooked))
		x_gap_passed(pc);
	if (unlikely(X.detail))
		x_report_step();
}

/* With store buffers, or C11 memory. */
static NOINLINE void weak_flags(struct sched_op *op)
{
	if (X.c11) {
		op->flags = X.views.seq_cst ? SCHED_SEQ_CST : 0;
		X.views.seq_cst = false;
		return;
	}
	if (op->kind != SCHED_READ && op->kind != SCHED_LOAD)
		return;
	op->flags = SCHED_OWN;
	op->order = (uint8_t)X.current;
}

void x_point_memory(unsigned kind, uintptr_t addr, unsigned size, uintptr_t pc)
{
	struct x_thread *t = x_me();
	if (unlikely(X.alone))
		return;
	set_op(t->op, kind, addr, 0, size, 0, pc);
	if (unlikely(X.weak))
		weak_flags(t->op);
	X.unpointed = 0;
	if (unlikely(X.progress) && goes_its_own_way(t, true))
		return;
	if (kind == SCHED_READ || kind == SCHED_LOAD || (kind == SCHED_RMW && t->spins))
		x_spin(addr, size, pc, false);
	else
		t->spins = 0;
	if (unlikely(X.solo))
		return;
	if (unlikely(X.hooked))
		t->op->flags |= (uint16_t)x_gap_flags(pc);
	uint32_t next = sched_point(X.sched, X.current, t->op, true);
	if (next != X.current)
		go_to(t, next);
	if (unlikely(X.progress))
		x_progress_chosen();
	if (unlikely(t->invokes))
		x_object_invoked();
	if (unlikely(X.hooked))
		x_gap_passed(pc);
	if (unlikely(X.detail))
		x_report_step();
}

void x_point_drain(uint32_t until, uintptr_t pc)
{
	struct x_thread *t = x_me();
	struct x_buffer *b = &X.buffer[X.current];
	assert(X.tso && !X.alone && until && until <= b->stored && until + X_STORES > b->stored);
	set_op(t->op, SCHED_DRAIN, b->agent, 0, 0, 0, pc);
	b->until = until;
	X.unpointed = 0;
	uint32_t next = b->flushed >= until ? sched_point_after(X.sched, X.current, t->op, b->flush_event[(until - 1) % X_STORES])
	                                    : sched_point(X.sched, X.current, t->op, false);
	if (next != X.current)
		go_to(t, next);
	if (unlikely(t->invokes))
		x_object_invoked();
	if (unlikely(X.detail))
		x_report_step();
}

void x_thread_over(void)
{
	assert(x_me()->state != XT_LIVE && X.live);
	struct x_thread *t = x_me();
	uint32_t next = sched_gone(X.sched, X.current);
	go_to(t, next);
	__builtin_trap();
}
