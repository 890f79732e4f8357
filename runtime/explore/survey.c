/*
 * survey: what happens in a run, told in the records of `intact run` (event/record.h), so that the tool finds with
 * the analyses of `intact run` (dynamic/replay.h) which functions are not atomic by them. Those are judged in the
 * search that follows (gap.c).
 *
 * The records of each run are stored one after the other in memory that is shared with the tool; when it is
 * full the run is cut there and no more are recorded. Functions come as differences, in front of the record
 * that needs them, as record.h has it.
 *
 * Left out: what main does while it is alone; the order of relaxed atomics (every atomic hands over).
 */
#include <sys/mman.h>
#include <sys/syscall.h>

#include "event/event.h"
#include "event/record.h"
#include "runtime/explore/explorer.h"

void x_survey_map(void)
{
	struct control *c = X.ctl;
	if (c->survey_fd <= 0 || !c->survey_room)
		return;
	long p = x_sys(SYS_mmap, 0, (long)(c->survey_room * sizeof(struct rec)), PROT_READ | PROT_WRITE, MAP_SHARED, c->survey_fd,
	               0);
	x_sys(SYS_close, c->survey_fd, 0, 0, 0, 0, 0);
	if (p > 0)
		X.survey = (struct rec *)p;
}

static void put(unsigned kind, unsigned arg, uint64_t addr, unsigned slot, uint64_t pc)
{
	struct control *c = X.ctl;
	if (c->nsurvey == c->survey_room) {
		c->survey_full = 1;
		X.surveying = false;
		X.logging = 0;
		return;
	}
	X.survey[c->nsurvey++] = rec_make(kind, arg, addr, slot, pc);
}

static unsigned own_slot(void)
{
	return X.current + 1;
}

/* ---- functions ---- */

void x_survey_left(uint32_t stay)
{
	struct x_thread_more *m = &X.thread_more[X.current];
	if (m->told > stay) {
		m->told = stay;
		m->popped = true;
	}
}

static bool inlined(const struct x_thread_more *m, uint32_t i)
{
	struct frame f[2];
	for (int k = 0; i && k < 2; k++)
		f[k] = (struct frame){ .pc = m->frame[i - 1 + (unsigned)k].pc,
			               .site = m->frame[i - 1 + (unsigned)k].site,
			               .sp = m->frame[i - 1 + (unsigned)k].sp,
			               .fn = m->frame[i - 1 + (unsigned)k].fn };
	return i && red_inlined(&f[1]);
}

static void tell_frames(void)
{
	struct x_thread_more *m = &X.thread_more[X.current];
	if (m->popped)
		put(REC_POP, 0, m->told, own_slot(), 0);
	m->popped = false;
	for (; m->told < x_me()->top; m->told++) {
		bool inl = inlined(m, m->told);
		uintptr_t fn = inl ? m->frame[m->told].fn : 0;
		put(REC_PUSH, inl ? REC_INLINED : 0, fn && fn != FRAME_NO_FN ? fn + 1 : m->frame[m->told].site, own_slot(),
		    m->frame[m->told].pc);
	}
}

static void tell(unsigned kind, unsigned arg, uintptr_t addr, uintptr_t pc)
{
	tell_frames();
	put(kind, arg, addr, own_slot(), pc);
}

/* As forward.c has it, at the thread's first lock. */
static void tell_called(void)
{
	struct x_thread_more *m = &X.thread_more[X.current];
	uint32_t set = 0;
	if (m->called)
		return;
	m->called = true;
	for (uint32_t i = 1; X.current && i < x_me()->top && i <= RED_CALLED_MAX; i++)
		if (!inlined(m, i) && rt_after_pointer((const unsigned char *)m->frame[i].site))
			set |= 1u << (i - 1);
	if (set)
		tell(REC_STACK, REC_CALLED, set, 0);
}

/* ---- runs and threads ---- */

void x_survey_run(void)
{
	struct control *c = X.ctl;
	X.surveying = X.survey && !c->survey_full && c->nsurveys < CONTROL_SURVEYS;
	if (!X.surveying)
		return;
	X.logging = X_LOG_BLOCKS;
	X.survey_atomic = 0;
	X.thread_more[0].told = 0;
	X.thread_more[0].popped = X.thread_more[0].called = false;
	put(REC_CREATE, 0, 1ull << 32 | 1, 0, 0);
	uintptr_t hi = (uintptr_t)X.main_sp + (64 << 10); /* main's frames are below, or a little above */
	put(REC_STACK, 0, hi - (8u << 20), 1, hi);
}

void x_survey_end(void)
{
	struct control *c = X.ctl;
	if (!X.surveying)
		return;
	X.surveying = false;
	X.logging = 0;
	c->survey_end[c->nsurveys++] = c->nsurvey;
}

static void thread_begins(uint32_t n, uintptr_t pc)
{
	const struct x_slot *s = &X.slot[X.thread[n].slot];
	tell(REC_CREATE, 0, (uint64_t)(n + 1) << 32 | (n + 1), pc);
	put(REC_STACK, 0, (uintptr_t)s->lo, n + 1, (uintptr_t)s->hi);
	X.thread_more[n].told = 0;
	X.thread_more[n].popped = X.thread_more[n].called = false;
}

/* ---- what happens ---- */

/* Of the log (atomicity.c). */
void x_survey_event(unsigned kind, unsigned bytes, uintptr_t addr, uintptr_t pc)
{
	bool atomic = X.survey_atomic && (X.survey_atomic & ~(uintptr_t)7) == addr;
	switch (kind) {
	case EVENT_READ:
		tell(atomic ? REC_ATOMIC_READ : REC_READ, bytes, addr, pc);
		break;
	case EVENT_WRITE:
		tell(atomic ? REC_ATOMIC_WRITE : REC_WRITE, bytes, addr, pc);
		break;
	case EVENT_FORK:
		thread_begins((uint32_t)addr, pc);
		break;
	case EVENT_JOIN:
		tell(REC_JOIN, 0, addr + 1, pc);
		break;
	case EVENT_BEGIN:
		tell(REC_MARK, 0, 0, pc);
		break;
	case EVENT_END:
		tell(REC_MARK_END, 0, 0, pc);
		break;
	default:
		break;
	}
}

void x_survey_forget(uintptr_t addr, size_t size)
{
	put(REC_FORGET, 0, addr, 0, size);
}

static void lock(uintptr_t at, unsigned arg, uintptr_t pc)
{
	tell_called();
	tell(REC_ACQUIRE, arg, at, pc);
}

/* Does a try get it? */
static bool gets(const struct sched_op *op)
{
	const struct x_object *o = x_object_find(op->a);
	if (!o)
		return true;
	if (op->kind == SCHED_SEM_TRY)
		return o->count > 0;
	return o->owner < 0 ? op->kind != SCHED_TRYWR || !o->count : o->owner == (int)X.current && op->kind == SCHED_TRYLOCK;
}

static void try(const struct sched_op *op)
{
	if (!gets(op))
		tell(REC_TRY_FAILED, 0, 0, op->pc);
	else if (op->kind == SCHED_SEM_TRY)
		tell(REC_SYNC_ACQUIRE, 0, op->a, op->pc);
	else
		lock(op->a, op->kind == SCHED_TRYRD ? REC_SHARED : 0, op->pc);
}

/* The operation is chosen, and done next. */
void x_survey_op(const struct sched_op *op)
{
	uintptr_t a = op->a, pc = op->pc;
	const struct x_object *o;
	X.survey_atomic = 0;
	switch (op->kind) {
	case SCHED_LOCK:
	case SCHED_WRLOCK:
		lock(a, 0, pc);
		break;
	case SCHED_RDLOCK:
		lock(a, REC_SHARED, pc);
		break;
	case SCHED_TRYLOCK:
	case SCHED_TRYRD:
	case SCHED_TRYWR:
	case SCHED_SEM_TRY:
		try(op);
		break;
	case SCHED_UNLOCK:
	case SCHED_RDUNLOCK:
	case SCHED_WRUNLOCK:
		tell(REC_RELEASE, 0, a, pc);
		break;
	case SCHED_COND_WAIT:
		tell(REC_RELEASE, REC_WAIT, op->b, pc);
		break;
	case SCHED_COND_WAKE:
		tell(REC_ACQUIRE, REC_WAIT, op->b, pc);
		tell(REC_SYNC_ACQUIRE, 0, a, pc);
		break;
	case SCHED_COND_SIGNAL:
	case SCHED_COND_BROADCAST:
		tell(REC_SYNC_RELEASE, REC_WAIT, a, pc);
		break;
	case SCHED_BARRIER_ARRIVE:
		tell(REC_SYNC_RELEASE, 0, a, pc);
		o = x_object_find(a);
		if (o && o->count + 1 >= o->need)
			tell(REC_SYNC_ACQUIRE, 0, a, pc);
		break;
	case SCHED_SEM_POST:
	case SCHED_ONCE_END:
	case SCHED_FUTEX_WAKE:
		tell(REC_SYNC_RELEASE, 0, a, pc);
		break;
	case SCHED_SEM_WAIT:
	case SCHED_ONCE:
	case SCHED_BARRIER_LEAVE:
	case SCHED_FUTEX_WOKEN:
		tell(REC_SYNC_ACQUIRE, 0, a, pc);
		break;
	case SCHED_LOAD:
		tell(REC_SYNC_ACQUIRE, 0, a, pc);
		X.survey_atomic = a;
		break;
	case SCHED_STORE:
	case SCHED_RMW:
		tell(REC_SYNC_RELEASE, 0, a, pc);
		if (op->kind == SCHED_RMW)
			tell(REC_SYNC_ACQUIRE, 0, a, pc);
		X.survey_atomic = a;
		break;
	case SCHED_EXIT:
		put(REC_END, 0, 0, own_slot(), 0);
		break;
	default:
		break;
	}
}
