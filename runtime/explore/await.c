/*
 * await: a thread that repeats the same reads without any effect waits for another to
 * change what it reads. The scheduler treats it as waiting (sched_await), so that
 * exhaustive search ends on loops that spin, and a loop that no thread can end is found
 * immediately.
 *
 * Since its last effect a thread keeps one round of what it has done (reads, failed
 * tries, yields: place, address and value) and counts how often it was repeated without a
 * difference. A round that was repeated often enough is taken for a loop that waits.
 * A value that differs from that of the round before begins the count again: the loop may
 * be about to end.
 * This depends on what the program did alone, so it is the same whenever a schedule is
 * followed.
 *
 * It can be wrong: a loop may count its rounds and give up later than that. Then
 * schedules in which it gives up while others could run are left out, which an
 * exhaustive result says (control.awaits); and an endless loop is reported only when
 * the schedule, followed without awaits, does not end either (explore_search.c).
 */
#include "base/invariant.h"
#include "runtime/explore/explorer.h"

/* A loop that yields is not likely to count; calls of an object test are short, and spin more often than they count. */
enum { ROUNDS = 24, ROUNDS_YIELD = 12, ROUNDS_TEST = CONTROL_TEST_ROUNDS };

static uint32_t rounds(bool yields)
{
	return X.tests ? ROUNDS_TEST : yields ? ROUNDS_YIELD : ROUNDS;
}

/* What the thread has read last, in entry e: no other has run since. */
static uint64_t value_of(const struct x_spun *e)
{
	uint64_t v = 0;
	if (unlikely(X.c11) && x_views_last(e->a, &v))
		return v;
	if (e->a >= 4096 && e->size <= sizeof v)
		__builtin_memcpy(&v, (const void *)e->a, e->size);
	return v;
}

static bool same(const struct x_spun *e, uintptr_t a, uintptr_t pc)
{
	return e->a == a && e->pc == pc;
}

/* Position of the iteration in what has been collected: from the last time this was done on. */
static void collect(struct x_thread *t, struct x_spun *e, struct x_spun new)
{
	assert(t->spins <= X_SPIN);
	for (uint32_t i = t->spins; i-- > 0;)
		if (same(&e[i], new.a, new.pc)) {
			for (uint32_t k = i; k < t->spins; k++)
				e[k - i] = e[k];
			t->spins -= i;
			t->spin_rounds = 1;
			t->spin_pos = t->spins > 1;
			return;
		}
	if (t->spins == X_SPIN)
		t->spins = 0;
	e[t->spins++] = new;
}

static void add(struct x_spun new)
{
	struct x_thread *t = x_me();
	struct x_spun *e = X.spin[X.current];
	if (!t->spins) /* an effect has ended the round */
		t->spin_rounds = 0;
	if (t->spins) {
		struct x_spun *last = &e[t->spin_rounds ? (t->spin_pos ? t->spin_pos : t->spins) - 1 : t->spins - 1];
		uint64_t v = value_of(last);
		if (v != last->value && t->spin_rounds)
			t->spin_rounds = 1;
		last->value = v;
	}
	if (t->spin_rounds && same(&e[t->spin_pos], new.a, new.pc)) {
		t->spin_rounds += t->spin_pos == 0;
		t->spin_pos = t->spin_pos + 1 == t->spins ? 0 : t->spin_pos + 1;
		return;
	}
	if (t->spin_rounds)
		t->spin_rounds = t->spins = 0;
	collect(t, e, new);
}

void x_spin_read(uintptr_t addr, unsigned size, uintptr_t pc)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	if (x_me()->spins && addr - here > 4096) /* not its own locals */
		add((struct x_spun){ .a = addr, .pc = pc, .size = size });
}

/* Writes to locals are how a loop keeps what it reads; others are effects. */
void x_spin_write(uintptr_t addr)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	if (addr - here > 4096)
		x_effect();
}

/* A compare-and-swap that changed nothing begins a round; later ones are seen before they are made. */
void x_spin_failed(uintptr_t addr, unsigned size, uintptr_t pc)
{
	if (!x_me()->spins)
		add((struct x_spun){ .a = addr, .pc = pc, .size = size, .op = true });
}

bool x_spinning(void)
{
	const struct x_thread *t = x_me();
	for (uint32_t i = 0; i < t->spins; i++)
		if (!X.spin[X.current][i].a) /* a yield */
			return false;
	return t->spins && t->spin_rounds >= rounds(false);
}

static void await(void)
{
	const struct x_spun *all = X.spin[X.current];
	struct sched_range r[SCHED_AWAIT_MAX];
	uint32_t n = 0, ops = 0;
	for (uint32_t i = 0; i < x_me()->spins; i++) {
		const struct x_spun *e = &all[i];
		bool known = !e->a;
		ops += e->op;
		for (uint32_t k = 0; k < n; k++)
			known |= r[k].a == e->a && r[k].size == e->size;
		if (known)
			continue;
		if (n == SCHED_AWAIT_MAX)
			return;
		r[n++] = (struct sched_range){ e->a, e->size };
	}
	if (!n || X.ctl->no_await)
		return;
	X.ctl->awaits++;
	sched_await(X.sched, X.current, r, n, ops ? ops : 1); /* plain reads alone: others ran before the last point */
	if (unlikely(X.progress))
		x_progress_awaits();
}

/* The current thread is about to do something that may have no effect. */
void x_spin(uintptr_t a, uint32_t size, uintptr_t pc, bool yields)
{
	const struct x_thread *t = x_me();
	add((struct x_spun){ .a = a, .pc = pc, .size = size, .op = true, .yields = yields });
	if (likely(t->spin_rounds < ROUNDS_TEST))
		return;
	bool any = false;
	for (uint32_t i = 0; i < t->spins; i++)
		any |= X.spin[X.current][i].yields;
	/* At an operation that reads: the same one was a whole round ago. */
	if (a && t->spin_rounds >= rounds(any))
		await();
}
