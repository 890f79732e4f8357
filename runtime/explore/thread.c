/*
 * thread: threads begin, end and are joined under exploration.
 *
 * A thread's number is the scheduler's (sched_thread): the same in every run for
 * the same parent and the same of its children. It ends with the destructors of
 * its thread-local objects and keys, as libc does it, and is over at the point
 * after those.
 */
#include <errno.h>

#include "runtime/explore/explorer.h"

struct x_thread *x_thread_of(pthread_t id)
{
	uint32_t i = x_slot_hash(id);
	while (X.slot_of[i].id != id) {
		if (!X.slot_of[i].id)
			return NULL;
		i = (i + 1) % (2 * X_THREADS);
	}
	uint32_t slot = X.slot_of[i].slot;
	if (!slot)
		return X.thread[0].state == XT_LIVE || X.thread[0].state == XT_ENDED ? &X.thread[0] : NULL;
	struct x_thread *t = &X.thread[X.slot[slot].thread];
	return x_bit(X.slots, slot) && t->state != XT_JOINED ? t : NULL;
}

static uint16_t take_slot(void)
{
	uint32_t n = X.ctl->threads;
	assert(n <= UINT16_MAX);
	X.slots[0] |= 1; /* main's */
	for (uint32_t w = 0; w * 64 < n; w++) {
		uint32_t i = w * 64 + (~X.slots[w] ? (uint32_t)__builtin_ctzll(~X.slots[w]) : n);
		if (i < n) {
			x_bit_set(X.slots, i);
			return (uint16_t)i;
		}
	}
	X.ctl->need = n * 2;
	x_give_up(CONTROL_WHY_THREADS, "more than %u threads at a time", n - 1);
}

/* A clock of X.width entries, as `from` or zero. */
void x_clock_begin(uint32_t *c, const uint32_t *from)
{
	for (uint32_t i = 0; i < X.width; i++)
		c[i] = from ? from[i] : 0;
}

/* Ids that are new in this run; there may be gaps. */
static void new_ids(uint32_t id)
{
	uint32_t width = (id | 3) + 1; /* clocks are used four entries at a time */
	if (unlikely(width > X.width)) {
		for (uint32_t u = 0; u < X_THREADS; u++)
			for (uint32_t n = X.width; n < width; n++)
				X.clock[u][n] = X.thread_more[u].fence_rel[n] = X.thread_more[u].fence_acq[n] = 0;
		X.width = width;
	}
	for (; X.nthreads <= id; X.nthreads++)
		X.thread[X.nthreads].state = XT_FREE;
	if (X.fences) {
		x_clock_begin(X.thread_more[id].fence_rel, NULL);
		x_clock_begin(X.thread_more[id].fence_acq, NULL);
	}
}

void x_agent_begin(uint32_t id, uint32_t owner)
{
	new_ids(id);
	X.thread[id] = (struct x_thread){
		.state = XT_AGENT, .parent = (uint16_t)owner, .joiner = X_THREADS, .op = sched_op_at(X.sched, id)
	};
	x_clock_begin(X.clock[id], NULL);
}

static struct x_thread *begin(uint32_t id, uintptr_t pc)
{
	struct x_thread *t = &X.thread[id], *parent = x_me();
	new_ids(id);
	*t = (struct x_thread){ .state = XT_LIVE,
		                .parent = (uint16_t)X.current,
		                .joiner = X_THREADS,
		                .created_pc = pc,
		                .slot = take_slot(),
		                .now = parent->now,
		                .op = sched_op_at(X.sched, id) };
	X.slot[t->slot].thread = (uint16_t)id;
	uint32_t *mine = X.clock[X.current];
	x_clock_begin(X.clock[id], mine);
	X.clock[id][id] = 1;
	mine[X.current]++;
	x_heap_begin(id);
	if (unlikely(X.tso))
		x_buffer_begin(id);
	X.live++;
	return t;
}

int x_create(pthread_t *id, const pthread_attr_t *attr, void *(*fn)(void *), void *arg, uintptr_t pc)
{
	if (!X.ready)
		x_give_up(CONTROL_WHY_UNSUPPORTED, "a thread is created before main");
	x_point(SCHED_CREATE, NULL, 0, 0, 0, 0, pc);
	X.alone = false;
	uint32_t n = sched_thread(X.sched, X.current, pc);
	X.end_pc = pc; /* should there be too many */
	if (n >= X_THREADS)
		x_give_up(CONTROL_WHY_UNSUPPORTED, "more than %d threads in a run", X_THREADS);
	struct x_thread *t = begin(n, pc);
	if (unlikely(X.logging))
		x_log_thread(false, n, pc);
	int state = PTHREAD_CREATE_JOINABLE;
	if (attr)
		pthread_attr_getdetachstate(attr, &state);
	X.end_pc = 0;
	t->detached = state == PTHREAD_CREATE_DETACHED;
	t->fn = fn;
	t->arg = arg;
	x_fiber_prepare(t);
	*id = X.slot[t->slot].id;
	return 0;
}

/* ---- ends ---- */

static void run_key_dtors(struct x_thread *t)
{
	void **value = X.thread_more[X.current].keys;
	for (unsigned round = 0; round < 4 /* PTHREAD_DESTRUCTOR_ITERATIONS */; round++) {
		bool any = false;
		for (uint32_t k = 0; k < t->nkeys; k++) {
			void *v = value[k];
			value[k] = NULL;
			if (!v || !X.key_dtor[k] || !X.key_used[k])
				continue;
			any = true;
			X.key_dtor[k](v);
		}
		if (!any)
			return;
	}
}

void x_run_dtors(struct x_thread *t)
{
	while (t->dtors) {
		struct x_tls_dtor *d = t->dtors;
		t->dtors = d->next;
		d->fn(d->arg);
		x_free(d, 0);
	}
	if (t->nkeys)
		run_key_dtors(t);
}

static void free_slot(struct x_thread *t)
{
	t->state = XT_JOINED;
	if (!X.real) /* a real thread that is over sleeps where it ended: it begins no other one */
		x_bit_clear(X.slots, t->slot);
}

void x_thread_exit(void *value)
{
	struct x_thread *t = x_me();
	x_run_dtors(t);
	while (t->blocks)
		x_block_end(0);
	x_point(SCHED_EXIT, NULL, X.current, 0, 0, 0, 0);
	t->value = value;
	t->state = XT_ENDED;
	X.live--;
	if (X.held[X.current])
		x_owner_died(X.current);
	if (t->joiner != X_THREADS)
		sched_enable(X.sched, t->joiner);
	if (t->detached && X.current)
		free_slot(t);
	if (X.alone) /* main ends, and there is no other thread */
		x_end_run();
	x_thread_over();
}

void x_thread_main(void)
{
	struct x_thread *t = x_me();
	if (unlikely(X.detail))
		x_report_step();
	x_thread_exit(t->fn(t->arg));
}

/* ---- joins ---- */

static _Noreturn void no_thread(uintptr_t pc, const char *what)
{
	X.end_pc = pc;
	x_fail(CONTROL_MISUSE, "%s of a thread that was joined or detached, or does not exist", what);
}

int x_join(pthread_t id, void **value, bool try, const struct timespec *ts, clockid_t clock, uintptr_t pc)
{
	x_drain_if_tso(pc); /* before it counts as the one that waits */
	struct x_thread *t = x_thread_of(id);
	if (!t || t->detached)
		no_thread(pc, "join");
	if (t == x_me())
		return EDEADLK;
	uint32_t n = (uint32_t)(t - X.thread);
	if (!try)
		x_cancel_point();
	if (try || ts) {
		x_point(SCHED_TRYJOIN, NULL, n, 0, 0, ts ? SCHED_TIMED : 0, pc);
		x_result(t->state == XT_ENDED ? 0 : SCHED_RES_FAILED, 0);
		if (t->state != XT_ENDED) {
			if (ts && x_me()->now < x_deadline(clock, ts))
				x_me()->now = x_deadline(clock, ts);
			return ts ? ETIMEDOUT : EBUSY;
		}
	} else {
		if (t->joiner != X_THREADS)
			return EINVAL;
		t->joiner = (uint16_t)X.current;
		x_point(SCHED_JOIN, NULL, n, 0, 0, 0, pc);
		if (t->state != XT_ENDED) { /* the one that waits was cancelled */
			t->joiner = X_THREADS;
			x_cancel_point();
		}
	}
	x_join_clock(X.clock[X.current], X.clock[n], X.nthreads);
	if (t->now > x_me()->now)
		x_me()->now = t->now;
	if (unlikely(X.logging))
		x_log_thread(true, n, pc);
	if (value)
		*value = t->value;
	free_slot(t);
	return 0;
}

int x_detach(pthread_t id, uintptr_t pc)
{
	struct x_thread *t = x_thread_of(id);
	if (!t || t->detached)
		no_thread(pc, "detach");
	t->detached = true;
	if (t->state == XT_ENDED)
		free_slot(t);
	return 0;
}
