#include "verdict/verify_cycle.h"
#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

struct cycle_lock {
	uint32_t owner1, depth; /* owner + 1; 0 = none */
	uint32_t life;
};

struct cycle_thread {
	uint64_t ordinal, block;
	uint32_t depth;
};

struct cycle_judge {
	struct cycle_fact *facts; /* sorted by `wanted` once fed */
	uint64_t *wanted;
	uint64_t n, cap, next; /* next: first fact not met yet */
	bool sorted;
	struct cycle_lock *locks;
	struct cycle_thread *threads;
	uint64_t nlocks, nthreads;
	uint32_t *lives; /* of variables; only where one was renewed */
	uint64_t nlives;
};

struct cycle_judge *judge_new(void)
{
	return calloc(1, sizeof(struct cycle_judge));
}

void judge_free(struct cycle_judge *j)
{
	if (!j)
		return;
	free(j->facts);
	free(j->wanted);
	free(j->locks);
	free(j->threads);
	free(j->lives);
	free(j);
}

/* Events the cycles name, before the trace is fed. False: out of memory. */
static bool judge_want(struct cycle_judge *j, uint64_t event)
{
	if (!GROW(j->wanted, j->cap, j->n + 1))
		return false;
	j->wanted[j->n++] = event;
	return true;
}

bool judge_want_cycle(struct cycle_judge *j, const struct cycle *c)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (!judge_want(j, c->links[i].from.event) || !judge_want(j, c->links[i].to.event))
			return false;
	return true;
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

static bool start(struct cycle_judge *j)
{
	size_t out = 0;
	j->sorted = true;
	if (j->n)
		qsort(j->wanted, j->n, sizeof *j->wanted, by_number);
	for (size_t i = 0; i < j->n; i++)
		if (!out || j->wanted[out - 1] != j->wanted[i])
			j->wanted[out++] = j->wanted[i];
	j->n = out;
	j->facts = calloc(out + 1, sizeof *j->facts);
	return j->facts != NULL;
}

/* Follows the lock; true when the event only repeats. */
static bool follow_lock(struct cycle_lock *l, const struct event *e)
{
	if (e->kind == EVENT_ACQ) {
		if (l->owner1 == e->thread + 1) {
			l->depth++;
			return true;
		}
		*l = (struct cycle_lock){ e->thread + 1, 1, l->life + (e->flags & EVENT_FIRST ? 1 : 0) };
		return false;
	}
	if (l->owner1 == e->thread + 1 && --l->depth)
		return true;
	*l = (struct cycle_lock){ 0, 0, l->life };
	return false;
}

/* The life of the variable or lock of an event; false: out of memory. */
static bool follow_life(struct cycle_judge *j, const struct event *e, uint32_t *life)
{
	*life = 0;
	if (e->kind == EVENT_ACQ || e->kind == EVENT_REL) {
		*life = j->locks[e->target].life;
	} else if (e->kind <= EVENT_WRITE) {
		bool first = e->flags & EVENT_FIRST;
		if (first && !GROW(j->lives, j->nlives, e->target + 1ull))
			return false;
		if (first)
			j->lives[e->target]++;
		*life = e->target < j->nlives ? j->lives[e->target] : 0;
	}
	return true;
}

bool judge_feed(struct cycle_judge *j, const struct event *ev, size_t n)
{
	if (!j->sorted && !start(j))
		return false;
	for (size_t i = 0; i < n; i++) {
		const struct event *e = &ev[i];
		bool repeats = false, ok = GROW(j->threads, j->nthreads, e->thread + 1ull);
		uint32_t life;
		if (ok && (e->kind == EVENT_ACQ || e->kind == EVENT_REL)) {
			ok = GROW(j->locks, j->nlocks, e->target + 1ull);
			if (ok)
				repeats = follow_lock(&j->locks[e->target], e);
		}
		if (!ok || !follow_life(j, e, &life))
			return false;
		struct cycle_thread *t = &j->threads[e->thread];
		/* a transaction starts at an outermost begin, and at every event
		 * outside of blocks */
		if (!t->depth) {
			t->ordinal++;
			t->block = e->kind == EVENT_BEGIN ? e->index : 0;
		}
		if (e->kind == EVENT_BEGIN)
			t->depth++;
		while (j->next < j->n && j->wanted[j->next] < e->index)
			j->next++;
		if (j->next < j->n && j->wanted[j->next] == e->index)
			j->facts[j->next] = (struct cycle_fact){ e->index, t->block, t->ordinal, e->thread, e->target,
				                                 e->loc,   life,     e->kind,    repeats };
		if (e->kind == EVENT_END && t->depth)
			t->depth--;
	}
	return true;
}

const struct cycle_fact *judge_fact(const struct cycle_judge *j, uint64_t event)
{
	size_t lo = 0, hi = j->sorted ? j->n : 0;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (j->wanted[mid] < event)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!j->sorted || lo >= j->n || j->wanted[lo] != event || !j->facts[lo].event)
		return NULL;
	return &j->facts[lo];
}

/* ---- judging ------------------------------------------------------------ */

static const char *check_end(const struct cycle_end *e, const struct cycle_fact *f)
{
	if (!f)
		return "there is no such event in the trace";
	if (e->thread != f->thread || e->kind != f->kind || e->target != f->target)
		return "the event is not what the cycle says";
	if (e->block != f->block)
		return "the event is in a different block than the cycle says";
	return NULL;
}

static bool conflict(const struct cycle_fact *a, const struct cycle_fact *b)
{
	if (a->thread == b->thread)
		return false;
	if (a->kind <= EVENT_REL && b->kind <= EVENT_REL && a->life != b->life)
		return false;
	if (a->kind <= EVENT_WRITE && b->kind <= EVENT_WRITE && a->target == b->target &&
	    (a->kind == EVENT_WRITE || b->kind == EVENT_WRITE))
		return true;
	if (a->kind == EVENT_REL && b->kind == EVENT_ACQ && a->target == b->target)
		return !a->repeats && !b->repeats;
	if (a->kind == EVENT_FORK && a->target == b->thread)
		return true;
	return b->kind == EVENT_JOIN && b->target == a->thread;
}

const char *judge_cycle(const struct cycle_judge *j, const struct cycle *c, uint32_t *link)
{
	*link = 0;
	if (c->n < 2)
		return "a cycle has at least two links";
	const struct cycle_fact *first = NULL, *last = NULL;
	for (uint32_t i = 0; i < c->n; i++) {
		const struct cycle_link *l = &c->links[i];
		const struct cycle_fact *from = judge_fact(j, l->from.event);
		const struct cycle_fact *to = judge_fact(j, l->to.event);
		const char *why = check_end(&l->from, from);
		*link = i + 1;
		if (!why)
			why = check_end(&l->to, to);
		if (why)
			return why;
		if (from->event >= to->event)
			return "a link goes from an event to a later one";
		if (!conflict(from, to))
			return "the two events do not conflict";
		if (i && (last->thread != from->thread || last->ordinal > from->ordinal))
			return "the link does not start where the one before arrived";
		if (!i)
			first = from;
		last = to;
	}
	*link = c->n;
	if (!first->block)
		return "the cycle does not start in a block";
	if (last->thread != first->thread || last->ordinal != first->ordinal)
		return "the last link does not return to the block";
	for (uint32_t i = 0; i + 1 < c->n; i++)
		if (c->links[i].to.event >= last->event)
			return "another link is later than the one that closes the cycle";
	*link = 0;
	if (c->closing.event != last->event)
		return "the closing event is not that of the last link";
	return NULL;
}
