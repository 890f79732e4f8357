/*
 * progress: does a call of an object test always finish? Obstruction-freedom: it does when no other thread runs.
 * Lock-freedom: besides, as long as threads run, some call finishes.
 *
 * A call that cannot finish alone waits for another thread: for a lock, a semaphore, a condition, or by repeating
 * the same reads. Locks are tried (sync.c): whether a call meets one that is held is then a difference between traces, so
 * that the exhaustive search sees it. A loop that repeats its reads (await.c) is continued without the other threads: a call
 * that makes SOLO more steps without an end is stuck; one that ends after all (a loop that counts) makes the run worthless, which is
 * counted as cut.
 *
 * A cycle of several threads: of the steps since a call has returned last, those of each thread are compared. When several threads
 * have repeated theirs (place, address, value found there), the order in which they did is followed again and again; after ROUNDS
 * times with the same values it is a cycle. A search that ends without having met either has seen every execution, and none of them is infinite.
 */
#include "base/invariant.h"
#include "intact/test.h"
#include "runtime/explore/explorer.h"

enum { SOLO = 5000, LONGEST = 64, TIMES = 3, ROUNDS = 500 };

_Static_assert(4 * TIMES * LONGEST <= X_BEATS, "rounds of two threads are kept in half of them");

static _Noreturn void cut(void)
{
	X.end = CONTROL_LIMIT;
	x_end_run();
}

static unsigned end_kind(void)
{
	return X.progress == OBJTEST_LOCK_FREE ? CONTROL_NOT_LOCK_FREE : CONTROL_NOT_OBSTRUCTION_FREE;
}

static _Noreturn void stuck(const char *how)
{
	char call[160];
	x_object_call_text(call, sizeof call);
	x_fail(end_kind(), "%s cannot finish while the other threads do not run: it %s", call, how);
}

bool x_must_not_wait(void)
{
	return X.progress && x_me()->in_call;
}

void x_progress_waits(void)
{
	stuck("waits for what another thread holds or has to do");
}

void x_progress_awaits(void)
{
	if (!x_must_not_wait() || X.forced || !sched_awaiting(X.sched, X.current))
		return;
	X.solo = true;
	X.solo_steps = 0;
}

void x_progress_solo(bool can)
{
	assert(X.solo);
	if (!can)
		x_progress_waits();
	if (x_me()->op->kind == SCHED_CREATE)
		cut();
	if (++X.solo_steps > SOLO)
		stuck("repeats the same steps forever");
}

void x_progress_returned(void)
{
	if (X.solo || X.forced)
		cut();
	X.nbeats = 0;
}

/* ---- cycles ---- */

static uint64_t found_there(const struct sched_op *op)
{
	uint64_t v = 0;
	if (op->kind >= SCHED_READ && op->kind <= SCHED_RMW && op->a >= 4096 && op->size <= sizeof v)
		__builtin_memcpy(&v, (const void *)op->a, op->size);
	return v;
}

static bool same(const struct x_beat *a, const struct x_beat *b)
{
	return a->thread == b->thread && a->kind == b->kind && a->pc == b->pc && a->a == b->a && a->value == b->value;
}

/* A cycle that turns out to be none makes the run worthless, which matters when all runs count. */
static uint32_t times(void)
{
	return X.ctl->sched.strategy == SCHED_DPOR ? TIMES : 2;
}

/* The smallest round of thread t: it has made its last q steps `times` times, and one of them writes. Their indices go to `at`, the latest
 * first. 0: there is none. */
static uint32_t round_of(uint32_t t, uint32_t *at)
{
	uint32_t n = 0, writes = 0, k = times();
	for (uint32_t i = X.nbeats; i-- > 0 && n < TIMES * LONGEST;)
		if (X.beat[i].thread == t)
			at[n++] = i;
	for (uint32_t q = 1; k * q <= n; q++) {
		uint8_t kind = X.beat[at[q - 1]].kind;
		uint32_t i = 0;
		writes += kind == SCHED_WRITE || kind == SCHED_STORE || kind == SCHED_RMW;
		while (i < (k - 1) * q && same(&X.beat[at[i]], &X.beat[at[i + q]]))
			i++;
		if (i == (k - 1) * q && writes)
			return q;
	}
	return 0;
}

/* The last rounds of all threads that repeat theirs, in the order in which they were made, are what is followed. */
static void find_cycle(void)
{
	uint32_t at[TIMES * LONGEST], threads = 0;
	bool undisturbed = false; /* a thread has made its rounds without any other */
	uint8_t in[X_BEATS] = { 0 };
	for (uint32_t t = 0; t < X.nthreads; t++) {
		uint32_t q = X.thread[t].state == XT_LIVE && X.thread[t].in_call ? round_of(t, at) : 0;
		undisturbed |= q && at[times() * q - 1] + times() * q == X.nbeats;
		threads += q > 0;
		while (q-- > 0)
			in[at[q]] = 1;
	}
	if (!undisturbed && (threads < 2 || X.progress != OBJTEST_LOCK_FREE))
		return;
	X.forced = X.forced_steps = 0;
	for (uint32_t i = 0; i < X.nbeats; i++)
		if (in[i])
			X.beat[X.forced++] = X.beat[i];
	X.nbeats = X.forced;
}

static void keep(struct x_beat now)
{
	if (X.nbeats == X_BEATS) {
		__builtin_memmove(X.beat, X.beat + X_BEATS / 2, X_BEATS / 2 * sizeof *X.beat);
		X.nbeats = X_BEATS / 2;
	}
	X.beat[X.nbeats++] = now;
	if (!(X.nbeats & 15))
		find_cycle();
}

/* The current thread is about to make the step that it was chosen for. */
void x_progress_chosen(void)
{
	const struct sched_op *op = x_me()->op;
	struct x_beat now = { .pc = op->pc, .a = op->a, .value = found_there(op), .thread = (uint16_t)X.current, .kind = op->kind };
	if (X.solo)
		return;
	if (!X.forced) {
		if (x_me()->in_call)
			keep(now);
		else
			X.nbeats = 0;
		return;
	}
	if (!same(&now, &X.beat[X.forced_steps % X.forced]))
		cut();
	if (++X.forced_steps < X.forced * ROUNDS)
		return;
	bool alone = true;
	for (uint32_t i = 1; i < X.forced; i++)
		alone &= X.beat[i].thread == X.beat[0].thread;
	if (alone)
		stuck("repeats the same steps forever");
	x_fail(end_kind(), "the last %u steps of the threads repeat forever, and no call returns", X.forced);
}

/* Who comes next in the cycle. */
uint32_t x_progress_next(void)
{
	assert(X.forced && X.forced <= X.nbeats);
	uint32_t next = X.beat[X.forced_steps % X.forced].thread;
	if (X.thread[next].state != XT_LIVE || !x_possible(&X.thread[next]))
		cut();
	return next;
}
