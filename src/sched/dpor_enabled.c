/*
 * dpor_enabled: would e' be enabled without e?
 *
 * Let w be the events of the run without e and what happens after e. w is
 * closed under happens-before, so it can be executed and its operations have
 * the results they had. What must be known is the state of e's object after w.
 *
 *   mutex         if e is on it: w has the operations before e. It is free iff
 *                 it was free when e came: e took it. (An unlock, or a try that
 *                 failed: it was held.) Otherwise the last operation in w decides.
 *   once, rwlock for reading   the last operation in w that takes or gives.
 *   semaphore     the sum over w.
 *   rwlock for writing   no writer and no reader in w. If e takes it for
 *                 reading others may hold it too, whether they came before e or
 *                 after: e' can only go before them all, so their locks go with
 *                 e, until none is left, unless one must happen before e'
 *                 anyway.
 *   await         a change of what is awaited, in w, since the thread has
 *                 looked at it.
 *   wakes, leave, start, join, drain   what enables it is in w (a timed wake needs
 *                 nothing); cond wake: and the mutex is free.
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
		case SCHED_TRYLOCK: /* failed: another thread holds it */
			return false;
		case SCHED_UNLOCK:
		case SCHED_COND_WAIT:
		case SCHED_INIT:
			return true; /* a destroy changes nothing: the one before tells */
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

static bool once_free(const struct sched *s, const struct goes *g, uint64_t a)
{
	for (uint32_t j = s->n; j-- > 0;) {
		const struct sched_event *e = &s->ev[j];
		if (e->op.a != a || !stays(s, g, j))
			continue;
		if (e->op.kind == SCHED_ONCE)
			return e->result & SCHED_RES_PASSED;
		if (e->op.kind == SCHED_ONCE_END || e->op.kind == SCHED_INIT)
			return true;
	}
	return true;
}

static bool is_semaphore(uint8_t kind)
{
	return kind >= SCHED_SEM_WAIT && kind <= SCHED_SEM_VALUE;
}

/* The value after w: what it was at first, and what w makes of it. */
static bool semaphore_positive(const struct sched *s, const struct goes *g, uint64_t a)
{
	int64_t value = 0;
	bool known = false;
	for (uint32_t j = 0; j < s->n; j++) {
		const struct sched_event *e = &s->ev[j];
		if (e->op.a != a || !(is_semaphore(e->op.kind) || e->op.kind == SCHED_INIT))
			continue;
		bool in = stays(s, g, j), init = e->op.kind == SCHED_INIT;
		if ((!known && !init) || (init && in))
			value = e->value;
		known = true;
		if (!in)
			continue;
		value += e->op.kind == SCHED_SEM_POST;
		value -= (e->op.kind == SCHED_SEM_WAIT || e->op.kind == SCHED_SEM_TRY) && succeeded(e);
	}
	return value > 0;
}

/* Does a writer hold `a` after w? */
static bool writer_left(const struct sched *s, const struct goes *g, uint64_t a)
{
	for (uint32_t j = s->n; j-- > 0;) {
		const struct sched_event *e = &s->ev[j];
		if (e->op.a != a || !stays(s, g, j))
			continue;
		if (e->op.kind == SCHED_WRLOCK || (e->op.kind == SCHED_TRYWR && succeeded(e)))
			return true;
		if (e->op.kind == SCHED_WRUNLOCK || e->op.kind == SCHED_INIT)
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
	while (!writer_left(s, g, l->op.a)) {
		uint32_t r = reader_left(s, g, l->op.a);
		if (r == NONE)
			return true;
		uint8_t kind = s->ev[g->e[0]].op.kind;
		if ((kind != SCHED_RDLOCK && kind != SCHED_TRYRD) || g->n == SET_MAX || d->base[s->ev[r].thread] >= d->link[r].seq)
			return false;
		g->e[g->n++] = r;
		if (r < g->e[0]) { /* the first is where the tree is */
			g->e[g->n - 1] = g->e[0];
			g->e[0] = r;
		}
	}
	return false;
}

static bool await_over(const struct sched *s, const struct goes *g, const struct later *l)
{
	const struct await_record *r = &s->dpor->await[l->await];
	for (uint32_t i = 0; i < r->n; i++)
		for (uint32_t j = r->since[i]; j < s->n; j++)
			if (!is_own(s, &s->ev[j], l->thread) && await_changes(&s->ev[j], &r->range[i]) && stays(s, g, j))
				return true;
	return false;
}

bool enabled_without(struct sched *s, struct goes *g, const struct later *l)
{
	const struct sched_event *e = &s->ev[g->e[0]];
	const struct dpor *d = s->dpor;
	if (l->await != NONE && !await_over(s, g, l))
		return false;
	bool woken = l->op.flags & (SCHED_TIMED | SCHED_SPURIOUS) || (l->cause != NONE && stays(s, g, l->cause));
	switch (l->op.kind) {
	case SCHED_LOCK:
		return mutex_free(s, g, l->op.a);
	case SCHED_COND_WAKE:
		return woken && mutex_free(s, g, l->op.b);
	case SCHED_START:
	case SCHED_FUTEX_WOKEN:
	case SCHED_BARRIER_LEAVE:
	case SCHED_DRAIN:
		return woken;
	case SCHED_JOIN:
		return l->op.a < s->n_ids && d->exit[l->op.a] != NONE && stays(s, g, d->exit[l->op.a]);
	case SCHED_SEM_WAIT:
		return semaphore_positive(s, g, l->op.a);
	case SCHED_ONCE:
		return once_free(s, g, l->op.a);
	case SCHED_RDLOCK:
		return (e->op.a == l->op.a && e->op.kind == SCHED_WRLOCK) || !writer_left(s, g, l->op.a);
	case SCHED_WRLOCK:
		return writer_enabled(s, g, l);
	default:
		return true;
	}
}
