/*
 * predict_reduce: the Atomizer over a trace (002, section 2 and 3).
 *
 * Locksets. A variable is owned by one thread until another uses it; it stays
 * owned when fork and join order the uses (ownership is handed over). After
 * that its locksets are what has been held at every access, and at every
 * write. An access is a both-mover when the variable is owned, has only been
 * read since it was shared, or has a lock in common; when only the writes
 * have one, reads with it are both-movers (write-protected data) and the
 * rest are non-movers. A lock only one thread has used so far, or that was
 * always taken under another lock, is a both-mover; else its acquire is a
 * right mover, its release a left mover. A fork is a left mover, a join a
 * right mover.
 *
 * Reduction. A block commits at its first left mover or non-mover; a right
 * mover or non-mover after that is the warning. Nested blocks each have their
 * own automaton; the innermost that breaks is named, those around it are then
 * broken too and stay silent.
 *
 * Sets of locks are interned: a set is an id, intersection is memoised.
 * Fork/join order: a sparse vector clock a thread, advanced at forks and joins
 * only, of live threads alone: what a joined thread did counts as done by the
 * one who waited for it, at that moment.
 */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "dynamic/predict.h"

#define DEPTH_MAX 64
#define HELD_MAX 256
#define JOIN_CHAIN 1000 /* joiners of joiners followed */
#define NOBODY UINT32_MAX

enum mover { BOTH, RIGHT, LEFT, NON };

/* Lock sets by id; 0 is the empty set. */
struct set {
	uint32_t at, len, next; /* next: of the same hash, 0 = none */
};

enum shared { FRESH, OWNED, READ_SHARED, SHARED };

struct var {
	uint8_t state;
	uint32_t owner, epoch; /* last access while owned */
	uint32_t all, writes;  /* locksets */
};

struct lock {
	uint32_t owner;        /* thread + 1 of its only user; NOBODY: several */
	uint32_t under;        /* locks held at every acquire */
	bool seen;
};

struct level {
	struct predict_event begin, commit;
	bool post, done;
};

struct tick {
	uint32_t thread, value;
};

struct thread {
	uint32_t held;
	struct tick *clock;    /* by increasing thread */
	uint32_t nclock;
	uint32_t now;          /* its own value */
	bool dead;             /* joined, by `joiner` at its time `joined_at` */
	uint32_t joiner, joined_at;
	struct level *levels;
	uint32_t depth;
};

struct reduce {
	struct predict *p;
	struct set *sets;
	uint32_t *elems;
	struct map by_hash, inter;
	struct var *vars;
	struct lock *locks;
	struct thread *threads;
	uint32_t nsets, sets_cap, nelems, elems_cap;
	uint32_t nvars, nlocks, nthreads;
	uint32_t *tmp, tmp_cap;
	bool nomem;
};

static bool grow(struct reduce *r, void **p, uint32_t *n, uint32_t want, size_t elem)
{
	size_t cap = *n ? *n : 16;
	while (cap <= want)
		cap *= 2;
	char *q = cap > UINT32_MAX / 2 ? NULL : realloc(*p, cap * elem);
	if (!q) {
		r->nomem = true;
		return false;
	}
	memset(q + *n * elem, 0, (cap - *n) * elem);
	*p = q;
	*n = (uint32_t)cap;
	return true;
}
#define GROW(r, p, n, want)                                                    \
	((want) < (n) ? true : grow((r), (void **)&(p), &(n), (want), sizeof *(p)))

/* ---- sets --------------------------------------------------------------- */

/* The id of the sorted set in r->tmp. */
static uint32_t intern(struct reduce *r, uint32_t len)
{
	uint64_t h = len;
	if (!len)
		return 0;
	for (uint32_t i = 0; i < len; i++)
		h = hash64(h ^ r->tmp[i]);
	uint32_t first = map_get(&r->by_hash, h);
	for (uint32_t id = first == MAP_NONE ? 0 : first; id; id = r->sets[id].next)
		if (r->sets[id].len == len &&
		    !memcmp(r->elems + r->sets[id].at, r->tmp, len * sizeof *r->tmp))
			return id;
	uint32_t id = r->nsets;
	if (!GROW(r, r->sets, r->sets_cap, id) ||
	    !GROW(r, r->elems, r->elems_cap, r->nelems + len) ||
	    !map_put(&r->by_hash, h, id)) {
		r->nomem = true;
		return 0;
	}
	r->sets[id] = (struct set){ r->nelems, len, first == MAP_NONE ? 0 : first };
	memcpy(r->elems + r->nelems, r->tmp, len * sizeof *r->tmp);
	r->nelems += len;
	r->nsets++;
	return id;
}

static uint32_t set_with(struct reduce *r, uint32_t set, uint32_t lock, bool in)
{
	const struct set *s = &r->sets[set];
	uint32_t n = 0;
	bool put = !in;
	if (in && s->len >= HELD_MAX)
		return set; /* whoever holds so many is not told apart by the rest */
	if (!GROW(r, r->tmp, r->tmp_cap, s->len + 1))
		return 0;
	for (uint32_t i = 0; i < s->len; i++) {
		uint32_t x = r->elems[s->at + i];
		if (!put && x >= lock) {
			r->tmp[n++] = lock;
			put = true;
		}
		if (x != lock)
			r->tmp[n++] = x;
	}
	if (!put)
		r->tmp[n++] = lock;
	return intern(r, n);
}

static uint32_t set_meet(struct reduce *r, uint32_t a, uint32_t b)
{
	if (!a || !b)
		return 0;
	if (a == b)
		return a;
	uint64_t key = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
	uint32_t known = map_get(&r->inter, key);
	if (known != MAP_NONE)
		return known;
	const struct set *x = &r->sets[a], *y = &r->sets[b];
	uint32_t n = 0, i = 0, j = 0;
	if (!GROW(r, r->tmp, r->tmp_cap, x->len))
		return 0;
	while (i < x->len && j < y->len) {
		uint32_t p = r->elems[x->at + i], q = r->elems[y->at + j];
		if (p == q)
			r->tmp[n++] = p;
		i += p <= q;
		j += q <= p;
	}
	uint32_t id = intern(r, n);
	if (!map_put(&r->inter, key, id))
		r->nomem = true;
	return id;
}

/* ---- movers ------------------------------------------------------------- */

static uint32_t clock_of(const struct thread *t, uint32_t who)
{
	uint32_t lo = 0, hi = t->nclock;
	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;
		if (t->clock[mid].thread < who)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < t->nclock && t->clock[lo].thread == who ? t->clock[lo].value : 0;
}

/* Does what `who` did at its time `epoch` come before what `t` does now, by
 * forks and joins? */
static bool is_before(const struct reduce *r, uint32_t who, uint32_t epoch, uint32_t t)
{
	for (uint32_t n = 0; r->threads[who].dead && n < JOIN_CHAIN; n++) {
		epoch = r->threads[who].joined_at;
		who = r->threads[who].joiner;
	}
	return who == t || clock_of(&r->threads[t], who) > epoch;
}

/* Takes over what `from` knows of live threads, and of itself. */
static void clock_join(struct reduce *r, uint32_t into, uint32_t from)
{
	struct thread *a = &r->threads[into], *b = &r->threads[from];
	struct tick self = { from, b->now };
	uint32_t n = 0, i = 0, j = 0, most = a->nclock + b->nclock + 1;
	struct tick *out = malloc(most * sizeof *out);
	if (!out) {
		r->nomem = true;
		return;
	}
	bool put_self = r->threads[from].dead;
	while (i < a->nclock || j < b->nclock || !put_self) {
		struct tick x = { NOBODY, 0 };
		if (i < a->nclock)
			x = a->clock[i];
		if (j < b->nclock && b->clock[j].thread < x.thread)
			x = b->clock[j];
		if (!put_self && self.thread < x.thread)
			x = self;
		uint32_t id = x.thread;
		if (i < a->nclock && a->clock[i].thread == id)
			i++;
		if (j < b->nclock && b->clock[j].thread == id) {
			x.value = b->clock[j].value > x.value ? b->clock[j].value : x.value;
			j++;
		}
		if (!put_self && self.thread == id) {
			x.value = self.value > x.value ? self.value : x.value;
			put_self = true;
		}
		if (!r->threads[id].dead && id != into)
			out[n++] = x;
	}
	free(a->clock);
	a->clock = out;
	a->nclock = n;
}

static enum mover access_mover(struct reduce *r, const struct event *e)
{
	struct var *v = &r->vars[e->target];
	struct thread *t = &r->threads[e->thread];
	bool write = e->kind == EVENT_WRITE;
	if (v->state == FRESH || v->state == OWNED) {
		if (v->state == FRESH || is_before(r, v->owner, v->epoch, e->thread)) {
			v->state = OWNED;
			v->owner = e->thread;
			v->epoch = t->now;
			return BOTH;
		}
		v->state = write ? SHARED : READ_SHARED;
		v->all = v->writes = t->held;
		if (!write)
			return BOTH;
	} else {
		v->all = set_meet(r, v->all, t->held);
		if (write) {
			/* the first write after sharing starts the writes' set */
			v->writes = v->state == READ_SHARED ? t->held
			                                    : set_meet(r, v->writes, t->held);
			v->state = SHARED;
		}
	}
	if (v->state == READ_SHARED || v->all)
		return BOTH;
	if (!write && v->writes && set_meet(r, v->writes, t->held))
		return BOTH;
	return NON;
}

static enum mover lock_mover(struct reduce *r, const struct event *e)
{
	struct lock *l = &r->locks[e->target];
	struct thread *t = &r->threads[e->thread];
	if (e->kind == EVENT_ACQ) {
		l->under = l->seen ? set_meet(r, l->under, t->held) : t->held;
		if (!l->seen)
			l->owner = e->thread;
		else if (l->owner != e->thread)
			l->owner = NOBODY;
		l->seen = true;
		t->held = set_with(r, t->held, e->target, true);
	} else {
		if (!l->seen || l->owner != e->thread)
			l->owner = NOBODY;
		l->seen = true;
		t->held = set_with(r, t->held, e->target, false);
	}
	if (l->owner == e->thread || l->under)
		return BOTH;
	return e->kind == EVENT_ACQ ? RIGHT : LEFT;
}

/* ---- the automaton ------------------------------------------------------ */

static struct predict_event event_of(const struct event *e)
{
	return (struct predict_event){ e->index, e->thread, e->target, e->loc, e->kind };
}

static void step(struct reduce *r, struct thread *t, const struct event *e,
                 enum mover m)
{
	uint32_t n = t->depth < DEPTH_MAX ? t->depth : DEPTH_MAX;
	bool broken = false;
	if (m == BOTH)
		return;
	for (uint32_t i = n; i-- > 0;) {
		struct level *l = &t->levels[i];
		if (l->done)
			continue;
		if (broken) {
			l->done = true; /* a block inside is at fault */
		} else if (!l->post) {
			l->post = m != RIGHT;
			if (l->post)
				l->commit = event_of(e);
		} else if (m != LEFT) {
			predict_add(r->p, (struct predicted){
				.kind = PREDICT_POSSIBLE, .begin = l->begin,
				.first = l->commit, .second = event_of(e) });
			l->done = broken = true;
		}
	}
}

static bool need(struct reduce *r, const struct event *e)
{
	if (!GROW(r, r->threads, r->nthreads, e->thread))
		return false;
	switch (e->kind) {
	case EVENT_READ:
	case EVENT_WRITE:
		return GROW(r, r->vars, r->nvars, e->target);
	case EVENT_ACQ:
	case EVENT_REL:
		return GROW(r, r->locks, r->nlocks, e->target);
	case EVENT_FORK:
	case EVENT_JOIN:
		return GROW(r, r->threads, r->nthreads, e->target);
	default:
		return true;
	}
}

static void block(struct reduce *r, struct thread *t, const struct event *e)
{
	if (e->kind == EVENT_END) {
		if (t->depth)
			t->depth--;
		return;
	}
	if (!t->levels)
		t->levels = calloc(DEPTH_MAX, sizeof *t->levels);
	if (!t->levels) {
		r->nomem = true;
		return;
	}
	if (t->depth < DEPTH_MAX)
		t->levels[t->depth] = (struct level){ .begin = event_of(e) };
	t->depth++;
}

/* A joined thread is over: what it knew, the one who waited knows. */
static void join_thread(struct reduce *r, const struct event *e)
{
	struct thread *t = &r->threads[e->target];
	if (e->target == e->thread || t->dead)
		return;
	t->dead = true;
	t->joiner = e->thread;
	t->joined_at = r->threads[e->thread].now;
	clock_join(r, e->thread, e->target);
	free(t->clock);
	free(t->levels);
	t->clock = NULL;
	t->levels = NULL;
	t->nclock = t->depth = 0;
}

static void one(struct reduce *r, const struct event *e)
{
	struct thread *t = &r->threads[e->thread];
	switch (e->kind) {
	case EVENT_READ:
	case EVENT_WRITE:
		step(r, t, e, access_mover(r, e));
		break;
	case EVENT_ACQ:
	case EVENT_REL:
		if (!(e->flags & EVENT_INNER))
			step(r, t, e, lock_mover(r, e));
		break;
	case EVENT_FORK:
		t->now++;
		if (e->target != e->thread && !t->dead)
			clock_join(r, e->target, e->thread);
		step(r, t, e, LEFT);
		break;
	case EVENT_JOIN:
		join_thread(r, e);
		step(r, t, e, RIGHT);
		break;
	default:
		block(r, t, e);
	}
}

bool reduce_feed(struct reduce *r, const struct event *ev, size_t n)
{
	for (size_t i = 0; i < n && !r->nomem; i++)
		if (need(r, &ev[i]))
			one(r, &ev[i]);
	return !r->nomem;
}

struct reduce *reduce_new(struct predict *p)
{
	struct reduce *r = calloc(1, sizeof *r);
	if (!r)
		return NULL;
	r->p = p;
	r->nsets = 1;
	map_init(&r->by_hash);
	map_init(&r->inter);
	if (!GROW(r, r->sets, r->sets_cap, 1)) {
		reduce_free(r);
		return NULL;
	}
	return r;
}

void reduce_free(struct reduce *r)
{
	if (!r)
		return;
	for (uint32_t i = 0; i < r->nthreads; i++) {
		free(r->threads[i].clock);
		free(r->threads[i].levels);
	}
	map_free(&r->by_hash);
	map_free(&r->inter);
	free(r->sets);
	free(r->elems);
	free(r->vars);
	free(r->locks);
	free(r->threads);
	free(r->tmp);
	free(r);
}
