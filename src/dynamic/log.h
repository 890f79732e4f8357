/*
 * log: the recent actions of a thread that its blocks need: sections,
 * acquires, reads of unprotected data. A ring; entries have numbers that only
 * grow, and every frame knows the number at its entry, so the functions that
 * contain an entry are those entered before it.
 */
#ifndef INTACT_DYNAMIC_LOG_H
#define INTACT_DYNAMIC_LOG_H

#include "base/invariant.h"
#include "dynamic/reduction.h"

static inline void log_push(struct thread *t, struct log_entry e)
{
	uint32_t i = t->nlog++ % RED_LOG;
	t->log[i] = e;
	t->log_key[i] = e.key;
	t->log_taken[i] = 0;
}

/* A lock is taken: what else an entry has is not asked for. */
static inline void log_acquire(struct thread *t)
{
	uint32_t i = t->nlog++ % RED_LOG;
	t->log[i].kind = LOG_ACQUIRE;
	t->log_trail[i] = trail_now(t->trail);
	t->log_key[i] = UINT64_MAX;
}

/* Of a section that ends now: log_entry.back. */
static inline uint8_t log_back(const struct thread *t, const struct held *section)
{
	uint32_t back = t->nlog - section->log;
	return back < UINT8_MAX && section->traced ? (uint8_t)back : UINT8_MAX;
}

/* Where the trail was when the section that entry `at` is of began, or at another entry. False: that is not known any more. */
static inline bool log_trail_at(const struct thread *t, uint32_t at, uint32_t *trail)
{
	const struct log_entry *e = &t->log[at % RED_LOG];
	if (t->nlog - at > RED_LOG)
		return false;
	if (e->kind == LOG_SECTION) {
		at -= e->back;
		if (e->back == UINT8_MAX || t->nlog - at > RED_LOG)
			return false;
	}
	*trail = t->log_trail[at % RED_LOG];
	return true;
}

/* The oldest entry that a block other than the outermost can contain. */
static inline uint32_t log_floor(const struct dynamic *d, const struct thread *t)
{
	assert(d->history <= RED_LOG);
	if (t->top <= t->frames + 1)
		return t->nlog;
	uint32_t floor = t->frames[2].log;
	return t->nlog - floor > d->history ? t->nlog - d->history : floor;
}

static inline bool log_find(const struct dynamic *d, const struct thread *t, uint64_t key, uint32_t *at)
{
	uint32_t floor = log_floor(d, t);
	for (uint32_t i = t->nlog; i != floor; i--)
		if (t->log_key[(i - 1) % RED_LOG] == key) {
			*at = i - 1;
			return true;
		}
	return false;
}

/* The same for what the thread's first function contains, where that finds nothing: of a lock the last section
 * is known (`known`), for other keys a few entries are looked at. */
static inline bool log_find_section(const struct dynamic *d, const struct thread *t, uint32_t lock, uint32_t last)
{
	return t->nlog - 1 - last < d->history && t->log_key[last % RED_LOG] == lock;
}

static inline bool log_find_back(const struct dynamic *d, const struct thread *t, uint64_t key, uint32_t *at)
{
	uint32_t from = log_floor(d, t), n = from < RED_OUTER_BACK ? from : RED_OUTER_BACK;
	for (uint32_t i = from; i != from - n && t->nlog - i < d->history; i--)
		if (t->log_key[(i - 1) % RED_LOG] == key) {
			*at = i - 1;
			return true;
		}
	return false;
}

/* The deepest frame entered before entry `at` was written. */
static inline struct frame *log_home(const struct thread *t, uint32_t at)
{
	struct frame *f = t->top;
	while (f > t->frames && (int32_t)(f->log - at) > 0)
		f--;
	return f;
}

/* The outermost function of a thread or of a signal handler is no block. */
static inline bool log_outermost(const struct thread *t, const struct frame *f)
{
	return f <= t->frames + 1 || !f->pc || !f[-1].pc;
}

/* Is it the first function of a thread, or main? Those are judged, but less readily (finding_pattern.c). */
static inline bool log_first_function(const struct thread *t, const struct frame *f)
{
	return f == t->frames + 1 && f <= t->top && f->pc;
}

/* Since entry e: has anything but locks ordered the thread with others? */
static inline bool log_crossed(const struct thread *t, const struct log_entry *e)
{
	return e->epoch < t->since || e->epoch < t->synced;
}

/* Is there a marked block, in this function or what it calls, around all that
 * happened since entry `at`? Then it is judged, and told of once. */
static inline bool log_marked(const struct thread *t, uint32_t at, const struct frame *home)
{
	for (uint32_t i = t->nmarks; i; i--) {
		const struct mark *m = &t->marks[i - 1];
		if ((int32_t)(m->log - at) <= 0)
			return m->nframes >= (uint32_t)(home - t->frames);
	}
	return false;
}

/* Locks held all the way from entry `at` until now. */
static inline uint32_t log_held_across(struct dynamic *d, struct thread *t, uint32_t at)
{
	assert(t->nlog - at <= RED_LOG);
	uint32_t set = lockset_meet(&d->sets, &t->cache, t->log[at % RED_LOG].held, t->acc.all);
	for (uint32_t i = at + 1; set && i != t->nlog; i++)
		if (t->log[i % RED_LOG].kind == LOG_SECTION)
			set = lockset_remove(&d->sets, &t->cache, set, (uint32_t)t->log[i % RED_LOG].key);
	return set;
}

#endif
