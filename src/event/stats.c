#include "event/stats.h"
#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

struct trace_stats *stats_new(void)
{
	return calloc(1, sizeof(struct trace_stats));
}

void stats_free(struct trace_stats *s)
{
	if (!s)
		return;
	free(s->vars);
	free(s->locks);
	free(s->threads);
	free(s);
}

static bool touch(struct stats_use *u, uint32_t thread, uint32_t *used)
{
	bool other = u->thread1 && u->thread1 != thread + 1;
	*used += !u->thread1;
	if (!u->threads)
		u->threads = 1;
	if (other)
		u->threads = 2;
	u->thread1 = thread + 1;
	return other;
}

static void block_event(struct trace_stats *s, struct stats_thread *t, const struct event *e)
{
	if (e->kind == EVENT_BEGIN) {
		if (e->flags & EVENT_INNER) {
			s->nested++;
		} else {
			s->blocks++;
			s->open++;
			t->blocks++;
			t->begun_at = t->events;
		}
		if (++t->depth > s->deepest)
			s->deepest = t->depth;
		return;
	}
	if (!t->depth)
		return;
	if (--t->depth)
		return;
	s->open--;
	uint64_t len = t->events - t->begun_at + 1;
	s->in_blocks += len;
	if (len > s->longest) {
		s->longest = len;
		s->longest_thread = e->thread;
	}
}

bool stats_feed(struct trace_stats *s, const struct event *ev, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct event *e = &ev[i];
		bool ok = GROW(s->threads, s->nthreads, e->thread + 1ull);
		if (ok && event_is_access(e))
			ok = GROW(s->vars, s->nvars, e->target + 1ull);
		if (ok && (e->kind == EVENT_ACQ || e->kind == EVENT_REL))
			ok = GROW(s->locks, s->nlocks, e->target + 1ull);
		if (!ok)
			return false;
		struct stats_thread *t = &s->threads[e->thread];
		s->used_threads += !t->events++;
		s->events++;
		s->kinds[e->kind]++;
		if (event_is_access(e)) {
			struct stats_use *u = &s->vars[e->target];
			bool was = u->threads == 2;
			touch(u, e->thread, &s->used_vars);
			s->shared_vars += !was && u->threads == 2;
			if (e->kind == EVENT_READ)
				u->a++;
			else
				u->b++;
		} else if (e->kind == EVENT_ACQ) {
			struct stats_use *u = &s->locks[e->target];
			s->reentrant += e->flags & EVENT_INNER;
			u->b += touch(u, e->thread, &s->used_locks);
			u->a++;
		} else if (e->kind >= EVENT_BEGIN) {
			block_event(s, t, e);
		}
	}
	return true;
}
