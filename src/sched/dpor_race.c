/*
 * dpor_race: happens-before of the run, and its races.
 *
 * Each event has a vector clock: row[t] is how many of t's events happen
 * before it (itself included). The rows of the prefix that the next run shares
 * are kept. Events hang in chains by the 8-byte granule of their object, so an
 * event is compared with those on its object only; operations that span
 * granules hang in the chain WIDE.
 */
#include "sched/dpor.h"

static uint32_t chain_at(uint64_t a)
{
	return (uint32_t)((a >> 3) * 0x9e3779b97f4a7c15u >> 54);
}
_Static_assert(CHAINS == 1024, "chain_at takes ten bits");

static bool is_local(uint8_t kind)
{
	switch (kind) {
	case SCHED_START:
	case SCHED_CREATE:
	case SCHED_JOIN:
	case SCHED_FENCE:
	case SCHED_BUFFER:
	case SCHED_DRAIN:
	case SCHED_BARRIER_LEAVE:
	case SCHED_YIELD:
	case SCHED_SLEEP:
	case SCHED_CHOICE:
	case SCHED_INVOKE:
		return true;
	default:
		return false;
	}
}

static bool is_wide(const struct sched_op *op)
{
	return op->kind == SCHED_PROCESS_EXIT || op->kind == SCHED_FENCE_SC || op->flags & SCHED_MANY ||
	       (op->size && (op->a ^ (op->a + op->size - 1)) >> 3);
}

/* Dependent with every operation on the same object. */
static bool is_total(uint8_t kind)
{
	return kind == SCHED_WRITE || kind == SCHED_STORE || kind == SCHED_RMW || kind == SCHED_LOCK || kind == SCHED_TRYLOCK ||
	       kind == SCHED_UNLOCK;
}

void race_forget(struct sched *s)
{
	struct dpor *d = s->dpor;
	for (uint32_t i = 0; i <= CHAINS; i++)
		d->head[i] = NONE;
	for (uint32_t t = 0; t < s->o.max_threads; t++)
		d->tail[t] = d->exit[t] = NONE;
	d->clocked = d->n_awaits = 0;
}

/* The events' rows and chains only; awaits stay. */
static void widen(struct sched *s)
{
	struct dpor *d = s->dpor;
	uint32_t awaits = d->n_awaits;
	while (d->stride < s->n_ids)
		d->stride *= 2;
	race_forget(s);
	d->n_awaits = awaits;
}

void race_unlink(struct sched *s, uint32_t keep)
{
	struct dpor *d = s->dpor;
	while (d->clocked > keep) {
		uint32_t i = --d->clocked;
		const struct dpor_link *x = &d->link[i];
		uint32_t t = s->ev[i].thread;
		d->tail[t] = x->before;
		if (s->ev[i].op.kind == SCHED_EXIT)
			d->exit[t] = NONE;
		for (uint32_t c = 2; c-- > 0;)
			if (x->chain[c] != NONE)
				d->head[x->chain[c]] = x->prev[c];
	}
	while (d->n_awaits && d->await[d->n_awaits - 1].event >= keep)
		d->n_awaits--;
}

uint32_t race_await(struct sched *s, uint32_t t, uint32_t event)
{
	struct dpor *d = s->dpor;
	if (d->n_awaits == d->max_awaits) {
		d->full = true;
		return NONE;
	}
	struct await_record *r = &d->await[d->n_awaits];
	const struct awaited *x = &s->awaited[t];
	r->event = event;
	r->n = x->n;
	for (uint32_t i = 0; i < r->n; i++) {
		r->range[i] = x->range[i];
		r->since[i] = x->since[i];
	}
	return d->n_awaits++;
}

static void join(uint32_t *a, const uint32_t *b, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		a[i] = a[i] > b[i] ? a[i] : b[i];
}

/* base, cover and whole := what happens before the thread's event by program
 * order and enabling edges. */
static void clock_base(struct sched *s, uint32_t before, const struct sched_op *op, uint32_t cause)
{
	struct dpor *d = s->dpor;
	uint32_t n = d->stride;
	for (uint32_t i = 0; i < n; i++)
		d->base[i] = before == NONE ? 0 : clock_of(d, before)[i];
	/* a timed wake could have come before what woke it: the relation orders them */
	if (cause != NONE && !(op->flags & (SCHED_TIMED | SCHED_SPURIOUS)))
		join(d->base, clock_of(d, cause), n);
	if (op->kind == SCHED_JOIN && op->a < s->n_ids && d->exit[op->a] != NONE)
		join(d->base, clock_of(d, d->exit[op->a]), n);
	if (op->kind == SCHED_BARRIER_LEAVE && cause != NONE) {
		/* with SCHED_COMMUTES the arrivals are not ordered: all of them */
		uint32_t c = chain_at(op->a);
		for (uint32_t k = d->head[c]; k != NONE; k = d->link[k].prev[d->link[k].chain[0] != c])
			if (k <= cause && s->ev[k].op.kind == SCHED_BARRIER_ARRIVE && s->ev[k].op.a == op->a)
				join(d->base, clock_of(d, k), n);
	}
	for (uint32_t i = 0; i < n; i++)
		d->cover[i] = d->whole[i] = d->base[i];
}

/* Event k against the one in hand: happens-before, and the race if reversible.
 * True when nothing earlier on this object can matter. */
static bool meet(struct sched *s, uint32_t k, const struct sched_op *op, const struct later *l, bool reverse)
{
	struct dpor *d = s->dpor;
	const struct sched_event *e = &s->ev[k];
	uint32_t t = e->thread, seq = d->link[k].seq;
	if (t == l->thread || d->cover[t] >= seq || !sched_op_dependent(&e->op, op))
		return false;
	if (d->whole[t] < seq)
		join(d->whole, clock_of(d, k), d->stride);
	if (reverse) {
		struct goes g = { .n = 1, .e = { k } };
		if (!enabled_without(s, &g, l))
			return false;
		tree_insert(s, &g, l);
		if (g.n > 1)
			return false; /* it hides only what happens before all of them */
	}
	join(d->cover, clock_of(d, k), d->stride);
	return d->link[k].same && is_total(e->op.kind) && e->op.a == op->a && e->op.size == op->size;
}

static uint32_t earlier(const struct dpor *d, uint32_t k, uint32_t c)
{
	return d->link[k].prev[d->link[k].chain[0] != c];
}

/* The events of chain c before i, latest first. */
static void meet_chain(struct sched *s, uint32_t c, uint32_t i, const struct sched_op *op, const struct later *l, bool reverse)
{
	const struct dpor *d = s->dpor;
	uint32_t k = d->head[c];
	if (i < d->clocked && (d->link[i].chain[0] == c || d->link[i].chain[1] == c))
		k = earlier(d, i, c);
	for (; k != NONE; k = earlier(d, k, c))
		if (k < i && meet(s, k, op, l, reverse))
			return;
}

static void meet_all(struct sched *s, uint32_t i, const struct sched_op *op, const struct later *l, bool reverse)
{
	if (is_local(op->kind)) {
		meet_chain(s, WIDE, i, op, l, reverse); /* a process exit */
		return;
	}
	if (is_wide(op)) {
		for (uint32_t k = i; k-- > 0;)
			meet(s, k, op, l, reverse);
		return;
	}
	meet_chain(s, WIDE, i, op, l, reverse);
	meet_chain(s, chain_at(op->a), i, op, l, reverse);
	if (op->b && chain_at(op->b) != chain_at(op->a))
		meet_chain(s, chain_at(op->b), i, op, l, reverse);
}

static void hang(struct sched *s, uint32_t i, uint32_t which, uint32_t c)
{
	struct dpor *d = s->dpor;
	struct dpor_link *x = &d->link[i];
	x->chain[which] = c;
	x->prev[which] = d->head[c];
	d->head[c] = i;
	if (which)
		return;
	uint32_t p = x->prev[0];
	const struct sched_op *a = &s->ev[i].op;
	bool futex = a->kind >= SCHED_FUTEX_WAIT && a->kind <= SCHED_FUTEX_WAKE; /* not dependent with writes */
	x->same = !futex && (p == NONE ||
	                     (d->link[p].same && d->link[p].chain[0] == c && s->ev[p].op.a == a->a && s->ev[p].op.size == a->size));
}

static struct later later_of(const struct sched *s, uint32_t i)
{
	const struct dpor_link *x = &s->dpor->link[i];
	struct later l = { .event = i, .thread = s->ev[i].thread, .op = s->ev[i].op, .cause = x->cause, .await = x->await };
	l.op.flags &= (uint16_t) ~(SCHED_PASSED | SCHED_AWAITS);
	return l;
}

static void clock_event(struct sched *s, uint32_t i)
{
	struct dpor *d = s->dpor;
	const struct sched_event *e = &s->ev[i];
	struct dpor_link *x = &d->link[i];
	uint32_t t = e->thread;
	struct later l = later_of(s, i);
	x->before = d->tail[t];
	x->seq = x->before == NONE ? 1 : d->link[x->before].seq + 1;
	clock_base(s, x->before, &e->op, x->cause);
	meet_all(s, i, &e->op, &l, false);
	d->whole[t] = x->seq;
	__builtin_memcpy(clock_of(d, i), d->whole, d->stride * sizeof *d->whole);
	d->tail[t] = i;
	if (e->op.kind == SCHED_EXIT)
		d->exit[t] = i;
	x->chain[0] = x->chain[1] = NONE;
	if (is_local(e->op.kind))
		return;
	hang(s, i, 0, is_wide(&e->op) ? WIDE : chain_at(e->op.a));
	if (e->op.b && chain_at(e->op.b) != x->chain[0])
		hang(s, i, 1, chain_at(e->op.b));
}

static void race_event(struct sched *s, uint32_t i)
{
	const struct sched_event *e = &s->ev[i];
	if (e->op.kind == SCHED_PROCESS_EXIT && s->o.exit_last)
		return;
	struct later l = later_of(s, i);
	clock_base(s, s->dpor->link[i].before, &e->op, l.cause);
	meet_all(s, i, &e->op, &l, true);
}

/* What is pending at the end is raced like an event: it may have come earlier. */
static void race_pending(struct sched *s)
{
	struct dpor *d = s->dpor;
	for (uint32_t t = 0; t < s->n_ids; t++) {
		const struct sched_thread *x = &s->th[t];
		if (x->life != LIFE_LIVE || !x->pends || (x->op.kind == SCHED_PROCESS_EXIT && s->o.exit_last))
			continue;
		struct later l = { .event = NONE, .thread = t, .op = x->op, .cause = x->cause, .await = NONE };
		uint32_t awaits = d->n_awaits;
		if (x->op.flags & SCHED_AWAITS)
			l.await = race_await(s, t, s->n);
		l.op.flags &= (uint16_t)~SCHED_AWAITS;
		clock_base(s, d->tail[t], &x->op, x->cause);
		meet_all(s, s->n, &x->op, &l, true);
		d->n_awaits = awaits;
	}
}

bool race_clocks(struct sched *s)
{
	struct dpor *d = s->dpor;
	if (s->n_ids > d->stride)
		widen(s);
	if (((size_t)s->n + 1) * d->stride > d->clock_max) {
		d->full = true;
		return false;
	}
	for (; d->clocked < s->n; d->clocked++)
		clock_event(s, d->clocked);
	return true;
}

/* tree_insert needs the clocks of every event, so first all clocks, then the
 * races: the rows are there when the second pass meets them again. */
void races(struct sched *s)
{
	struct dpor *d = s->dpor;
	if (!race_clocks(s))
		return;
	for (uint32_t i = 0; i < s->n && !d->full; i++)
		race_event(s, i);
	if (!d->full)
		race_pending(s);
}
