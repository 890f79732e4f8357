/*
 * clocks: happens-before by vector clocks.
 *
 * A thread's clock has one entry a thread; its own grows at each release. An
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
#include "runtime/explore/explorer.h"

/* Four entries at a time: all clocks have room for a multiple of four, and stay below 2^31. */
typedef int32_t four __attribute__((vector_size(16), aligned(4), may_alias));

void x_join_clock(uint32_t *to, const uint32_t *from, unsigned n)
{
	for (unsigned i = 0; i < n; i += 4) {
		four a = *(four *)(to + i), b = *(const four *)(from + i), greater = a > b;
		*(four *)(to + i) = (a & greater) | (b & ~greater);
	}
}

static void copy_clock(uint32_t *to, const uint32_t *from, unsigned n)
{
	for (unsigned i = 0; i < n; i += 4)
		*(four *)(to + i) = *(const four *)(from + i);
}

void x_acquire(const struct x_clock *c)
{
	uint32_t *mine = X.clock[X.current];
	if (c->now > x_me()->now)
		x_me()->now = c->now;
	if (!c->n || (c->last < X_THREADS && mine[c->last] >= c->last_clock))
		return;
	x_join_clock(mine, c->at, c->n);
}

static void room(struct x_clock *c)
{
	if (c->n >= X.nthreads)
		return;
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

void x_release(struct x_clock *c)
{
	uint32_t *mine = X.clock[X.current];
	room(c);
	copy_clock(c->at, mine, X.nthreads);
	c->now = x_me()->now;
	c->last = (uint16_t)X.current;
	c->last_clock = mine[X.current]++;
}

void x_release_join(struct x_clock *c)
{
	uint32_t *mine = X.clock[X.current];
	bool all = !c->n || (c->last < X_THREADS && mine[c->last] >= c->last_clock);
	room(c);
	x_join_clock(c->at, mine, X.nthreads);
	if (x_me()->now > c->now)
		c->now = x_me()->now;
	c->last = all ? (uint16_t)X.current : X_THREADS;
	c->last_clock = mine[X.current]++;
}
