/*
 * sched_brute: all schedules of a twin program, its distinct traces and final
 * states; and a twin program run under the room.
 *
 * A trace is compared by its canonical form: for each thread its events, each
 * with its label, choice and vector clock. The clocks are computed pair by pair
 * from the definition. Forms and states are kept as two 64-bit hashes each.
 */
#ifndef INTACT_TESTS_SCHED_BRUTE_H
#define INTACT_TESTS_SCHED_BRUTE_H

#include "sched_twin.h"

/* --- sets of hashes -------------------------------------------------------- */

struct hset {
	uint64_t (*e)[2];
	size_t size, n;
};

static inline void hset_free(struct hset *h)
{
	free(h->e);
	memset(h, 0, sizeof *h);
}

static inline bool hset_add(struct hset *h, const uint64_t k[2])
{
	if (h->n * 2 >= h->size) {
		struct hset g = { calloc(h->size ? h->size * 2 : 64, sizeof *g.e), h->size ? h->size * 2 : 64, 0 };
		for (size_t i = 0; i < h->size; i++)
			if (h->e[i][0])
				hset_add(&g, h->e[i]);
		free(h->e);
		*h = g;
	}
	size_t i = k[0] & (h->size - 1);
	for (; h->e[i][0]; i = (i + 1) & (h->size - 1))
		if (h->e[i][0] == k[0] && h->e[i][1] == k[1])
			return false;
	h->e[i][0] = k[0];
	h->e[i][1] = k[1];
	h->n++;
	return true;
}

static inline bool hset_has(const struct hset *h, const uint64_t k[2])
{
	if (!h->size)
		return false;
	for (size_t i = k[0] & (h->size - 1); h->e[i][0]; i = (i + 1) & (h->size - 1))
		if (h->e[i][0] == k[0] && h->e[i][1] == k[1])
			return true;
	return false;
}

struct digest {
	uint64_t h[2];
};

static inline void digest_add(struct digest *d, uint64_t x)
{
	uint64_t a = d->h[0] ^ x, b = d->h[1] + x * 0x9e3779b97f4a7c15u;
	d->h[0] = rng_mix(&a);
	d->h[1] = rng_mix(&b) | 1;
}

/* --- traces ---------------------------------------------------------------- */

struct tev {
	struct sched_op op; /* with SCHED_PASSED where it passed */
	int thread;
	uint32_t step;      /* the thread's operation, from 0 */
	uint32_t choice, choices;
	int cause_thread;
	uint32_t cause_step;
};

struct trace {
	int n;
	struct tev e[EV_MAX];
};

static inline bool edge(const struct trace *x, int i, int j)
{
	const struct tev *a = &x->e[i], *b = &x->e[j];
	if (a->thread == b->thread)
		return true;
	if (b->cause_thread == a->thread && b->cause_step == a->step)
		return true;
	if (b->op.kind == SCHED_JOIN && a->op.kind == SCHED_EXIT && b->op.a == a->op.a)
		return true;
	/* a leave comes after every arrival up to the one that opened */
	if (b->op.kind == SCHED_BARRIER_LEAVE && a->op.kind == SCHED_BARRIER_ARRIVE && a->op.a == b->op.a &&
	    (a->op.flags & SCHED_COMMUTES))
		return true;
	return sched_op_dependent(&a->op, &b->op);
}

static inline struct digest trace_digest(const struct trace *x, int threads)
{
	static uint32_t clock[EV_MAX][T_MAX];
	struct digest d = { { 1, 1 } };
	memset(clock, 0, sizeof clock[0] * (size_t)x->n);
	for (int j = 0; j < x->n; j++) {
		for (int i = 0; i < j; i++)
			if (edge(x, i, j))
				for (int t = 0; t < threads; t++)
					clock[j][t] = clock[j][t] > clock[i][t] ? clock[j][t] : clock[i][t];
		clock[j][x->e[j].thread] = x->e[j].step + 1;
	}
	for (int t = 0; t < threads; t++)
		for (int j = 0; j < x->n; j++) {
			const struct tev *e = &x->e[j];
			if (e->thread != t)
				continue;
			digest_add(&d, (uint64_t)e->op.kind << 32 | e->op.size << 16 | (uint64_t)e->choice << 8 | e->choices);
			digest_add(&d, e->op.a ^ (uint64_t)t << 48);
			for (int u = 0; u < threads; u++)
				digest_add(&d, clock[j][u]);
		}
	return d;
}

static inline struct digest state_digest(const struct twin_program *p, const struct twin *m)
{
	struct digest d = { { 1, 1 } };
	struct twin c;
	memcpy(&c, m, sizeof c);
	for (int t = 0; t < p->threads; t++) {
		c.t[t].changed = 0;
		c.t[t].cause_thread = -1;
		c.t[t].cause_step = 0;
	}
	for (size_t i = 0; i + 8 <= sizeof c; i += 8) {
		uint64_t w;
		memcpy(&w, (char *)&c + i, 8);
		digest_add(&d, w);
	}
	return d;
}

/* --- all schedules ---------------------------------------------------------- */

struct brute {
	const struct twin_program *p;
	uint64_t schedules, limit;
	bool over;          /* more than limit */
	struct hset traces, states;
	struct trace now;
	bool validate;      /* check that independent operations commute */
	bool eager;         /* operations that depend on nothing are executed at once */
	bool tryjoins, exits; /* the program has such: then fewer are eager */
	uint64_t commuted, invalid;
};

static inline void tev_make(struct tev *e, const struct twin_program *p, const struct twin *m, int t)
{
	e->thread = t;
	e->step = m->t[t].steps;
	e->cause_thread = m->t[t].cause_thread;
	e->cause_step = m->t[t].cause_step;
	e->choice = e->choices = 0;
	twin_pending(p, m, t, &e->op);
	struct sched_range r[4];
	uint32_t ops;
	if (twin_awaits(p, m, t, r, &ops) > 1)
		e->op.flags |= SCHED_MANY;
}

/* Independent and both enabled: either order, same state and results. */
static inline bool commutes(const struct twin_program *p, const struct twin *m, int a, int b)
{
	for (uint32_t ca = 0; ca < 3; ca++)
		for (uint32_t cb = 0; cb < 3; cb++) {
			uint32_t na = twin_choices(p, m, a), nb = twin_choices(p, m, b);
			if (ca >= (na ? na : 1) || cb >= (nb ? nb : 1))
				continue;
			struct twin x, y;
			memcpy(&x, m, sizeof x);
			memcpy(&y, m, sizeof y);
			struct twin_result xa = { .choice = ca }, xb = { .choice = cb }, ya = xa, yb = xb;
			twin_step(p, &x, a, &xa);
			if (!twin_enabled(p, &x, b) || twin_choices(p, &x, b) != nb)
				return false;
			twin_step(p, &x, b, &xb);
			twin_step(p, &y, b, &yb);
			if (!twin_enabled(p, &y, a) || twin_choices(p, &y, a) != na)
				return false;
			twin_step(p, &y, a, &ya);
			/* values of a semaphore before a post are no result; nor is who was
			 * the last at a barrier whose arrivals commute */
			for (int t = 0; t < p->threads && p->commutes; t++) {
				x.t[t].cause_thread = y.t[t].cause_thread;
				x.t[t].cause_step = y.t[t].cause_step;
				xa.flags = ya.flags;
				xb.flags = yb.flags;
			}
			if (memcmp(&x, &y, sizeof x) || xa.flags != ya.flags || xb.flags != yb.flags)
				return false;
		}
	return true;
}

static inline void validate(struct brute *b, const struct twin *m)
{
	struct tev x, y;
	for (int t = 0; t < b->p->threads; t++)
		for (int u = t + 1; u < b->p->threads; u++)
			if (twin_enabled(b->p, m, t) && twin_enabled(b->p, m, u)) {
				tev_make(&x, b->p, m, t);
				tev_make(&y, b->p, m, u);
				/* what passes now is known to */
				if (x.op.kind == SCHED_ONCE && m->once[twin_ins(b->p, m, t)->a] == -2)
					x.op.flags |= SCHED_PASSED;
				if (y.op.kind == SCHED_ONCE && m->once[twin_ins(b->p, m, u)->a] == -2)
					y.op.flags |= SCHED_PASSED;
				if (sched_op_dependent(&x.op, &y.op) != sched_op_dependent(&y.op, &x.op))
					b->invalid++;
				if (sched_op_dependent(&x.op, &y.op))
					continue;
				b->commuted++;
				if (!commutes(b->p, m, t, u)) {
					if (!b->invalid++)
						printf("# %s of %d and %s of %d do not commute (seed %llu)\n",
						       sched_kind_name(x.op.kind), t, sched_kind_name(y.op.kind), u,
						       (unsigned long long)b->p->seed);
				}
			}
}

/* A thread whose operation depends on nothing and is never disabled: every
 * trace has a schedule in which it comes now. -1: none. */
static inline int eager_thread(const struct brute *b, const struct twin *m)
{
	struct sched_op op;
	for (int t = 0; t < b->p->threads && b->eager && !b->exits; t++)
		if (m->t[t].state == TW_LIVE && twin_pending(b->p, m, t, &op) &&
		    (op.kind == SCHED_START || op.kind == SCHED_CREATE || op.kind == SCHED_YIELD ||
		     op.kind == SCHED_JOIN || op.kind == SCHED_BARRIER_LEAVE ||
		     (op.kind == SCHED_EXIT && !b->tryjoins)))
			return t;
	return -1;
}

static inline void brute_walk(struct brute *b, const struct twin *m)
{
	bool any = false;
	if (b->over)
		return;
	if (b->validate)
		validate(b, m);
	int eager = eager_thread(b, m);
	for (int t = 0; t < b->p->threads; t++) {
		if (!twin_enabled(b->p, m, t) || (eager >= 0 && t != eager))
			continue;
		any = true;
		uint32_t n = twin_choices(b->p, m, t);
		for (uint32_t c = 0; c < (n ? n : 1); c++) {
			if (b->now.n == EV_MAX) {
				b->over = true;
				return;
			}
			struct twin next;
			memcpy(&next, m, sizeof next);
			struct tev *e = &b->now.e[b->now.n++];
			tev_make(e, b->p, m, t);
			struct twin_result r = { .choice = c };
			e->choice = c;
			e->choices = n;
			twin_step(b->p, &next, t, &r);
			if (r.flags & SCHED_RES_PASSED)
				e->op.flags |= SCHED_PASSED;
			brute_walk(b, &next);
			b->now.n--;
		}
	}
	if (any)
		return;
	if (++b->schedules > b->limit) {
		b->over = true;
		return;
	}
	struct digest d = trace_digest(&b->now, b->p->threads), s = state_digest(b->p, m);
	hset_add(&b->traces, d.h);
	hset_add(&b->states, s.h);
}

static inline void brute_force(struct brute *b, const struct twin_program *p, uint64_t limit, bool check)
{
	struct twin m;
	memset(b, 0, sizeof *b);
	b->p = p;
	b->limit = limit;
	b->validate = check;
	b->eager = p->seed % 8 != 0; /* now and then without */
	for (int t = 0; t < p->threads; t++)
		for (int i = 0; i < CODE_MAX; i++) {
			b->tryjoins |= p->code[t][i].code == I_TRYJOIN;
			b->exits |= p->code[t][i].code == I_EXITALL;
		}
	twin_begin(&m, p);
	twin_local(p, &m, 0);
	brute_walk(b, &m);
}

static inline void brute_free(struct brute *b)
{
	hset_free(&b->traces);
	hset_free(&b->states);
}

/* --- a program under the room ------------------------------------------------ */

struct driver {
	const struct twin_program *p;
	struct sched *s;
	struct twin m;
	uint32_t id[T_MAX];  /* the room's id of the twin's thread */
	int twin_of[256];
	bool on[T_MAX];      /* what the room was told last */
	bool bug;            /* the program's own: word 0 is 99, or a deadlock */
	bool deadlock;
	uint32_t lose_after; /* give the run up after so many operations; 0: not */
};

static inline void tell(struct driver *d, int but)
{
	for (int t = 0; t < d->p->threads; t++) {
		if (d->m.t[t].state != TW_LIVE || t == but)
			continue;
		/* the room wakes awaits: what it hears is what it would be without */
		struct sched_range r[4];
		uint32_t ops;
		bool e = twin_awaits(d->p, &d->m, t, r, &ops) || twin_enabled(d->p, &d->m, t);
		if (e != d->on[t]) {
			d->on[t] = e;
			if (e)
				sched_enable(d->s, d->id[t]);
			else
				sched_disable(d->s, d->id[t]);
		}
	}
}

/* The thread's next pending operation goes to the room. */
static inline uint32_t arrive(struct driver *d, int t)
{
	struct sched_op op;
	struct sched_range r[4];
	uint32_t ops, n = twin_awaits(d->p, &d->m, t, r, &ops);
	bool e = twin_pending(d->p, &d->m, t, &op) || n;
	if (op.kind == SCHED_JOIN || op.kind == SCHED_TRYJOIN)
		op.a = d->id[op.a];
	if (op.kind == SCHED_EXIT)
		op.a = d->id[t];
	if (n)
		sched_await(d->s, d->id[t], r, n, ops);
	d->on[t] = e;
	return sched_point(d->s, d->id[t], &op, e);
}

/* One run; the events are in the room. */
static inline enum sched_verdict drive(struct driver *d, enum sched_outcome *out)
{
	struct twin *m = &d->m;
	twin_begin(m, d->p);
	twin_local(d->p, m, 0);
	memset(d->on, 0, sizeof d->on);
	sched_run_begin(d->s);
	d->id[0] = 0;
	d->twin_of[0] = 0;
	uint32_t next = arrive(d, 0), done = 0;
	while (next < SCHED_STOP) {
		if (d->lose_after && ++done > d->lose_after) {
			if (out)
				*out = SCHED_LOST;
			return sched_run_end(d->s, SCHED_LOST);
		}
		int t = d->twin_of[next];
		if (!twin_enabled(d->p, m, t)) {
			printf("# the room picked thread %d, which is not enabled (seed %llu)\n", t,
			       (unsigned long long)d->p->seed);
			fflush(stdout);
			abort();
		}
		struct twin_result r = { 0 };
		r.choices = twin_choices(d->p, m, t);
		if (r.choices)
			r.choice = sched_choose(d->s, r.choices);
		twin_step(d->p, m, t, &r);
		sched_result(d->s, r.flags, r.value);
		for (int u = 0; u < d->p->threads; u++)
			if (r.caused >> u & 1)
				sched_caused(d->s, d->id[u]);
		if (r.created >= 0) {
			uint32_t c = sched_thread(d->s, next, 0);
			d->id[r.created] = c;
			d->twin_of[c] = r.created;
			d->on[r.created] = true;
		}
		if (m->ended)
			break;
		tell(d, t);
		next = m->t[t].state == TW_GONE ? sched_gone(d->s, next) : arrive(d, t);
	}
	d->deadlock = false;
	for (int t = 0; t < d->p->threads; t++)
		d->deadlock |= next == SCHED_NOBODY && m->t[t].state == TW_LIVE;
	d->bug = m->word[WORDS - 1] == 99;
	enum sched_outcome o = next == SCHED_STOP ? SCHED_CUT : d->bug || d->deadlock ? SCHED_BUG : SCHED_FINE;
	if (out)
		*out = o;
	return sched_run_end(d->s, o);
}

/* The run's canonical form, with the twin's thread numbers. */
static inline struct digest driven_digest(const struct driver *d)
{
	static struct trace x;
	uint32_t n, steps[T_MAX] = { 0 };
	const struct sched_event *e = sched_events(d->s, &n);
	x.n = 0;
	for (uint32_t i = 0; i < n && i < EV_MAX; i++) {
		struct tev *v = &x.e[x.n++];
		int t = d->twin_of[e[i].thread];
		bool sem = (e[i].op.kind >= SCHED_SEM_WAIT && e[i].op.kind <= SCHED_SEM_VALUE) || e[i].op.kind == SCHED_INIT;
		*v = (struct tev){ .op = e[i].op, .thread = t, .step = steps[t]++, .choice = e[i].choice,
			           .choices = e[i].choices, .cause_thread = -1 };
		if (!sem && e[i].value != 0xffffffffu) {
			v->cause_thread = x.e[e[i].value].thread;
			v->cause_step = x.e[e[i].value].step;
		}
		if (v->op.kind == SCHED_CREATE || v->op.kind == SCHED_JOIN || v->op.kind == SCHED_TRYJOIN ||
		    v->op.kind == SCHED_EXIT || v->op.kind == SCHED_START)
			v->op.a = (uint64_t)d->twin_of[v->op.a];
		v->op.flags &= (uint16_t)~SCHED_AWAITS;
	}
	return trace_digest(&x, d->p->threads);
}

#endif
