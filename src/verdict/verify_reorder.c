#include "verdict/verify_reorder.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define REORDER_NO UINT32_MAX

struct reorder_check {
	const struct event *ev;
	size_t n;
	const uint32_t *order;
	size_t k;
	uint32_t *next;          /* by thread: its next event in ev, REORDER_NO: none */
	uint32_t *after;         /* by event: the thread's next one */
	uint32_t *source;        /* by event: the write a read got its value from */
	uint32_t *last;          /* by variable: last write in the new order */
	uint32_t *forked_by;     /* by thread: the fork in ev */
	uint32_t *owner, *depth; /* by lock */
	bool *done;              /* by event */
	size_t nthreads, nvars, nlocks;
};

static void measure(struct reorder_check *c)
{
	for (size_t i = 0; i < c->n; i++) {
		const struct event *e = &c->ev[i];
		size_t *max = e->kind <= EVENT_WRITE  ? &c->nvars
		              : e->kind <= EVENT_REL  ? &c->nlocks
		              : e->kind <= EVENT_JOIN ? &c->nthreads
		                                      : NULL;
		if (e->thread >= c->nthreads)
			c->nthreads = e->thread + 1;
		if (max && e->target >= *max)
			*max = e->target + 1;
	}
}

static uint32_t *filled(size_t n, uint32_t with)
{
	uint32_t *p = malloc((n + 1) * sizeof *p);
	for (size_t i = 0; p && i <= n; i++)
		p[i] = with;
	return p;
}

static bool start(struct reorder_check *c, const uint32_t *held, size_t nheld)
{
	c->nlocks = nheld;
	measure(c);
	c->next = filled(c->nthreads, REORDER_NO);
	c->forked_by = filled(c->nthreads, REORDER_NO);
	c->after = filled(c->n, REORDER_NO);
	c->source = filled(c->n, REORDER_NO);
	c->last = filled(c->nvars, REORDER_NO);
	c->owner = filled(c->nlocks, 0);
	c->depth = filled(c->nlocks, 0);
	c->done = calloc(c->n + 1, sizeof *c->done);
	if (!c->next || !c->forked_by || !c->after || !c->source || !c->last || !c->owner || !c->depth || !c->done)
		return false;
	for (size_t i = c->n; i-- > 0;) {
		c->after[i] = c->next[c->ev[i].thread];
		c->next[c->ev[i].thread] = (uint32_t)i;
	}
	for (size_t i = 0; i < c->n; i++) {
		const struct event *e = &c->ev[i];
		if (e->kind == EVENT_READ)
			c->source[i] = c->last[e->target];
		if (e->kind == EVENT_WRITE)
			c->last[e->target] = (uint32_t)i;
		if (e->kind == EVENT_FORK)
			c->forked_by[e->target] = (uint32_t)i;
	}
	for (size_t i = 0; i < c->nvars; i++)
		c->last[i] = REORDER_NO;
	for (size_t i = 0; i < nheld; i++) {
		c->owner[i] = held[i];
		c->depth[i] = held[i] != 0;
	}
	return true;
}

/* All that `thread` did before event i must have been done. */
static bool all_done(const struct reorder_check *c, uint32_t thread, size_t i)
{
	return c->next[thread] == REORDER_NO || c->next[thread] > i;
}

static const char *step(struct reorder_check *c, uint32_t i, bool is_last)
{
	const struct event *e = &c->ev[i];
	uint32_t fork = c->forked_by[e->thread];
	if (c->next[e->thread] != i)
		return "a thread does not run in its own order";
	c->next[e->thread] = c->after[i];
	if (fork != REORDER_NO && fork < i && !c->done[fork])
		return "a thread runs before it is forked";
	c->done[i] = true;
	if (e->flags & EVENT_INNER && (e->kind == EVENT_ACQ || e->kind == EVENT_REL))
		return c->depth[e->target] && c->owner[e->target] == e->thread + 1
		               ? NULL
		               : "a thread re-acquires a lock that it does not hold";
	switch (e->kind) {
	case EVENT_READ:
		if (!is_last && c->last[e->target] != c->source[i])
			return "a read gets another value than recorded";
		break;
	case EVENT_WRITE:
		c->last[e->target] = i;
		break;
	case EVENT_ACQ:
		if (c->depth[e->target] && c->owner[e->target] != e->thread + 1)
			return "a lock is acquired while another thread holds it";
		c->owner[e->target] = e->thread + 1;
		c->depth[e->target]++;
		break;
	case EVENT_REL:
		if (!c->depth[e->target] || c->owner[e->target] != e->thread + 1)
			return "a thread releases a lock that it does not hold";
		c->depth[e->target]--;
		break;
	case EVENT_JOIN:
		if (!all_done(c, e->target, i))
			return "a thread is joined before it is done";
		break;
	default:
		break;
	}
	return NULL;
}

const char *verify_reorder(const struct event *ev, size_t n, const uint32_t *held, size_t nlocks, const uint32_t *order, size_t k)
{
	struct reorder_check c = { .ev = ev, .n = n, .order = order, .k = k };
	const char *why = NULL;
	uint32_t *final = NULL; /* by thread: its last event in the new order */
	if (!start(&c, held, nlocks) || !(final = filled(c.nthreads, REORDER_NO)))
		why = "out of memory";
	for (size_t i = 0; !why && i < k; i++) {
		if (order[i] >= n || c.done[order[i]])
			why = "an event appears twice or is not in the trace";
		else
			final[ev[order[i]].thread] = order[i];
		if (!why)
			c.done[order[i]] = true;
	}
	if (!why)
		memset(c.done, 0, n * sizeof *c.done);
	for (size_t i = 0; !why && i < k; i++)
		why = step(&c, order[i], final[ev[order[i]].thread] == order[i]);
	free(final);
	free(c.next);
	free(c.forked_by);
	free(c.after);
	free(c.source);
	free(c.last);
	free(c.owner);
	free(c.depth);
	free(c.done);
	return why;
}
