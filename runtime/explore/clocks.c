/*
 * clocks: happens-before by vector clocks.
 *
 * A thread's clock has one entry per thread; its own grows at each release. An
 * object's clock is what its last releases knew. Where one thread has written all
 * of it (`last`), knowing all that was there before, a thread that knows that
 * thread up to then knows the whole clock, and joining it costs one comparison.
 *
 * Virtual time goes along: it is a function of the trace, not of the interleaving.
 *
 * Memory comes from X.clocks, which starts empty in every run; when it is used up
 * the run is aborted with a message, because dropping an edge would cause false
 * races.
 */
#include "base/invariant.h"
#include "runtime/explore/explorer.h"

/* With many threads. Clocks are used four entries at a time, here eight where the processor can. */
typedef int32_t eight __attribute__((vector_size(32), aligned(4), may_alias));

__attribute__((target("avx2"))) static NOINLINE unsigned join_eights(uint32_t *to, const uint32_t *from, unsigned n)
{
	unsigned i = 0;
	for (; i + 8 <= n; i += 8) {
		eight a = *(eight *)(to + i), b = *(const eight *)(from + i), greater = a > b;
		*(eight *)(to + i) = (a & greater) | (b & ~greater);
	}
	return i;
}

__attribute__((target("avx2"))) static NOINLINE unsigned copy_eights(uint32_t *to, const uint32_t *from, unsigned n)
{
	unsigned i = 0;
	for (; i + 8 <= n; i += 8)
		*(eight *)(to + i) = *(const eight *)(from + i);
	return i;
}

void x_join_clock_many(uint32_t *to, const uint32_t *from, unsigned n)
{
	for (unsigned i = X.avx2 && n >= 24 ? join_eights(to, from, n) : 0; i < n; i += 4)
		x_join_four(to + i, from + i);
}

void x_copy_clock_many(uint32_t *to, const uint32_t *from, unsigned n)
{
	for (unsigned i = X.avx2 && n >= 24 ? copy_eights(to, from, n) : 0; i < n; i += 4)
		*(x_four *)(to + i) = *(const x_four *)(from + i);
}

void x_clock_room(struct x_clock *c)
{
	unsigned n = (X.nthreads + X.nthreads / 2 + 3) & ~3u;
	if (n > X_THREADS)
		n = X_THREADS;
	if (X.nclocks + n > X_CLOCKS)
		x_give_up(CONTROL_WHY_INTERNAL, "a run has more locks and atomics than can be tracked");
	uint32_t *at = &X.clocks[X.nclocks];
	X.nclocks += n;
	for (unsigned i = 0; i < n; i++)
		at[i] = i < c->n ? c->at[i] : 0;
	c->at = at;
	c->n = (uint16_t)n;
}

void x_release_join(struct x_clock *c)
{
	uint32_t *mine = X.clock[X.current];
	bool all = !c->n || (c->last < X_THREADS && mine[c->last] >= c->last_clock);
	if (c->n < X.nthreads)
		x_clock_room(c);
	x_join_clock(c->at, mine, X.nthreads);
	if (x_me()->now > c->now)
		c->now = x_me()->now;
	c->last = all ? (uint16_t)X.current : X_THREADS;
	c->last_clock = mine[X.current]++;
}
