/*
 * dpor_enabled: would e' be enabled without e?
 *
 * Let w be the events of the run without e and what happens after e. w is
 * closed under happens-before, so it can be executed and its operations have
 * the results they had. What must be known is the state of e's object after w.
 *
 *   mutex, once   all operations on it are dependent with e: w has those
 *                 before e. So it is free after w iff it was free when e came:
 *                 e took it. (An unlock, or a try that failed: it was held.)
 *   semaphore     if e is a wait or try: w has those before e, the value is
 *                 the one that e found. If e is a post: also the posts after e
 *                 that do not happen after it.
 *   rwlock, rd    writers' operations are totally ordered; the last one before
 *                 e tells.
 *   rwlock, wr    e takes it for writing: it was free. e takes it for reading:
 *                 other readers may hold it in w, whether they came before e or
 *                 after; e' can only go before them all, so their locks go with
 *                 e (until there is none left), unless one of them must happen
 *                 before e' anyway.
 *   await         another change of what is awaited, in w, since the iteration
 *                 began.
 *   cond wake     mutex as above, and what woke it is in w (unless timed).
 * Everything else is always enabled.
 */
#include "sched/dpor.h"

/* Is event j in w? */
static bool stays(const struct sched *s, const struct goes *g, uint32_t j)
{
	for (uint32_t i = 0; i < g->n; i++)
		if (g->e[i] <= j && happens_after(s, j, g->e[i]))
			return false;
	return true;
}

static bool succeeded(const struct sched_event *e)
{
	return !(e->result & SCHED_RES_FAILED);
}

/* Is lock m free after w? Its operations are totally ordered: the last tells. */
static bool mutex_free_after(const struct sched *s, const struct goes *g, uint64_t m)
{
	for (uint32_t j = s->n; j-- > 0;) {
		const struct sched_event *e = &s->ev[j];
		if ((e->op.a != m && e->op.b != m) || !stays(s, g, j))
			continue;
		switch (e->op.kind) {
		case SCHED_LOCK:
		case SCHED_COND_WAKE:
		case SCHED_TRYLOCK: /* failed: somebody else holds it */
			return false;
		case SCHED_UNLOCK:
		case SCHED_COND_WAIT:
		case SCHED_INIT:
		case SCHED_DESTROY:
			return true;
		}
	}
	return true;
}

static bool mutex_free(const struct sched *s, const struct goes *g, uint64_t m)
{
	const struct sched_event *e = &s->ev[g->e[0]];
	bool mine = (e->op.kind == SCHED_COND_WAIT || e->op.kind == SCHED_COND_WAKE ? e->op.b : e->op.a) == m;
	switch (mine ? e->op.kind : SCHED_NONE) {
	case SCHED_LOCK:
	case SCHED_COND_WAKE:
		return true;
	case SCHED_TRYLOCK:
		return succeeded(e);
	case SCHED_UNLOCK:
	case SCHED_COND_WAIT:
		return false;
	default:
		return mutex_free_after(s, g, m);
	}
}

static bool once_free(const struct sched *s, uint32_t k)
{
	const struct sched_event *e = &s->ev[k];
	if (e->op.kind == SCHED_ONCE)
		return true;
	if (e->op.kind == SCHED_ONCE_END)
		return false;
	for (uint64_t a = e->op.a; k-- > 0;)
		if (s->ev[k].op.a == a && s->ev[k].op.kind == SCHED_ONCE)
			return s->ev[k].result & SCHED_RES_PASSED;
		else if (s->ev[k].op.a == a && s->ev[k].op.kind == SCHED_ONCE_END)
			return true;
	return true;
}

static bool semaphore_positive(const struct sched *s, const struct goes *g, uint32_t k)
{
	const struct sched_event *e = &s->ev[k];
	if (e->op.kind == SCHED_INIT || e->op.kind == SCHED_DESTROY)
		return false;
	if (e->value)
		return true;
	if (e->op.kind == SCHED_SEM_POST)
		for (uint32_t j = k + 1; j < s->n; j++)
			if (s->ev[j].op.a == e->op.a && s->ev[j].op.kind == SCHED_SEM_POST && stays(s, g, j))
				return true;
	return false;
}

/* Does a writer hold `a` before event k? */
static bool writer_before(const struct sched *s, uint32_t k, uint64_t a)
{
	while (k-- > 0) {
		const struct sched_event *e = &s->ev[k];
		if (e->op.a != a)
			continue;
		if (e->op.kind == SCHED_WRLOCK || (e->op.kind == SCHED_TRYWR && succeeded(e)))
			return true;
		if (e->op.kind == SCHED_WRUNLOCK || e->op.kind == SCHED_INIT || e->op.kind == SCHED_DESTROY)
			return false;
	}
	return false;
}

/* A lock for reading that is held after w: its event, NONE if there is none. */
static uint32_t reader_left(const struct sched *s, const struct goes *g, uint64_t a)
{
	/* from the end: an unlock of a thread hides the lock before it; nested
	 * read locks of one thread are counted */
	uint32_t *hidden = s->dpor->first;
	for (uint32_t t = 0; t < s->n_ids; t++)
		hidden[t] = 0;
	for (uint32_t j = s->n; j-- > 0;) {
		const struct sched_event *e = &s->ev[j];
		if (e->op.a != a || !stays(s, g, j))
			continue;
		if (e->op.kind == SCHED_RDUNLOCK)
			hidden[e->thread]++;
		else if (e->op.kind == SCHED_RDLOCK || (e->op.kind == SCHED_TRYRD && succeeded(e))) {
			if (!hidden[e->thread])
				return j;
			hidden[e->thread]--;
		} else if (e->op.kind == SCHED_INIT)
			return NONE;
	}
	return NONE;
}

static bool writer_enabled(struct sched *s, struct goes *g, const struct later *l)
{
	struct dpor *d = s->dpor;
	const struct sched_event *e = &s->ev[g->e[0]];
	switch (e->op.kind) {
	case SCHED_WRLOCK:
		return true;
	case SCHED_TRYWR:
		return succeeded(e);
	case SCHED_WRUNLOCK:
	case SCHED_RDUNLOCK:
		return false;
	case SCHED_TRYRD:
		if (!succeeded(e))
			return false;
	}
	for (;;) {
		uint32_t r = reader_left(s, g, l->op.a);
		if (r == NONE)
			return !writer_before(s, g->e[0], l->op.a);
		if (g->n == SET_MAX || d->base[s->ev[r].thread] >= d->link[r].seq)
			return false;
		g->e[g->n++] = r;
		if (r < g->e[0]) { /* the first is where the tree is */
			g->e[g->n - 1] = g->e[0];
			g->e[0] = r;
		}
	}
}

static bool await_over(const struct sched *s, const struct goes *g, const struct later *l)
{
	const struct await_record *r = &s->dpor->await[l->await];
	for (uint32_t j = r->from; j < s->n; j++)
		if (s->ev[j].thread != l->thread && stays(s, g, j) && await_changes(&s->ev[j], r->range, r->n))
			return true;
	return false;
}

bool enabled_without(struct sched *s, struct goes *g, const struct later *l)
{
	uint32_t k = g->e[0];
	if (l->await != NONE)
		return await_over(s, g, l);
	switch (l->op.kind) {
	case SCHED_LOCK:
		return mutex_free(s, g, l->op.a);
	case SCHED_COND_WAKE:
		if (!(l->op.flags & (SCHED_TIMED | SCHED_SPURIOUS)) && (l->cause == NONE || !stays(s, g, l->cause)))
			return false;
		return mutex_free(s, g, l->op.b);
	case SCHED_SEM_WAIT:
		return semaphore_positive(s, g, k);
	case SCHED_ONCE:
		return once_free(s, k);
	case SCHED_RDLOCK:
		if (s->ev[k].op.kind == SCHED_WRLOCK)
			return true;
		return !writer_before(s, k, l->op.a);
	case SCHED_WRLOCK:
		return writer_enabled(s, g, l);
	case SCHED_PROCESS_EXIT:
		return !s->o.exit_last;
	default:
		return true;
	}
}
