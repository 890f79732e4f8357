/*
 * predict_reduce: the Atomizer over a trace (002, sections 2 and 3): the
 * analysis of running programs (reduction.h, mark.h), fed with events.
 *
 * An event is one call of it, as a record of a program is (replay.h): a
 * variable is eight bytes at its own address, a lock is another address, a
 * block is a marked block. Stacks consist of one "program counter" each, the
 * number of a place: what was done (kind, target), where, by which thread. A
 * finding names stacks, so places, so the events that were last there when it
 * was first met.
 *
 * What is not known of a trace is taken so that no alarm is missed: all its
 * threads are there from the start. Beyond the bounds of that analysis (16,383
 * threads at a time, 32 blocks in each other, 4,096 findings) nothing is said.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/invariant.h"
#include "base/map.h"
#include "dynamic/predict.h"
#include "dynamic/reduction.h"

#define VARS  (UINT64_C(1) << 12)
#define LOCKS (UINT64_C(1) << 46)

struct reduce_watched {
	struct thread t;
	struct frame frames[4];
	uint32_t depth; /* blocks, may exceed RED_MARKS */
};

/* Where the events of a finding are taken from. */
struct reduce_seen {
	struct predict_event begin, first, second;
	bool told;
};

struct reduce {
	struct predict *p;
	struct dynamic d;
	struct reduce_watched **threads; /* by thread of the trace */
	uint32_t nthreads;
	uint32_t *free_slots, nfree, free_cap, nslots;
	uint32_t *slot_epoch, epoch_cap;
	struct map by_place;
	struct predict_event *places; /* [0] unused */
	uint32_t nplaces, places_cap;
	struct reduce_seen *seen; /* by finding */
	uint32_t nseen;
	bool nomem;
};

/* Room for element `want`. */
#define REDUCE_ROOM(r, p, n, want) (GROW(p, n, (want) + 1ull) || ((r)->nomem = true, false))

/* ---- places ------------------------------------------------------------- */

static struct predict_event event_of(const struct event *e)
{
	return (struct predict_event){ e->index, e->thread, e->target, e->loc, e->kind };
}

/* The number of the event's place; the event is the last one there. */
static uintptr_t place_of(struct reduce *r, const struct event *e)
{
	uint64_t key = hash64((uint64_t)e->thread << 32 | e->target);
	key = hash64(key ^ ((uint64_t)e->kind << 32 | e->loc));
	uint32_t id = r->nplaces;
	if (!map_intern(&r->by_place, key, &id) || !REDUCE_ROOM(r, r->places, r->places_cap, id)) {
		r->nomem = true;
		return 1;
	}
	if (id == r->nplaces)
		r->nplaces++;
	r->places[id] = event_of(e);
	return id;
}

static struct predict_event place_at(const struct reduce *r, uint32_t stack)
{
	assert(r->nplaces >= 1);
	uint64_t pc = 0;
	stack_walk(&r->d.stacks, stack, &pc, 1);
	return r->places[pc < r->nplaces ? pc : 0];
}

/* ---- threads ------------------------------------------------------------ */

static struct reduce_watched *thread_new(struct reduce *r, uint32_t id, struct reduce_watched *parent, uintptr_t pc)
{
	assert(id >= r->nthreads || !r->threads[id]);
	if (!REDUCE_ROOM(r, r->threads, r->nthreads, id))
		return NULL;
	uint32_t slot = r->nfree ? r->free_slots[--r->nfree] : r->nslots;
	struct reduce_watched *w = slot <= SHADOW_MAX_TID ? calloc(1, sizeof *w) : NULL;
	if (!w || !REDUCE_ROOM(r, r->slot_epoch, r->epoch_cap, slot)) {
		free(w);
		r->nomem = true;
		return NULL;
	}
	if (slot == r->nslots)
		r->nslots++;
	w->t.frames = w->t.top = w->frames;
	w->t.limit = w->frames + 2;
	red_thread_begin(&r->d, &w->t, parent ? &parent->t : NULL, slot, id + 1, r->slot_epoch[slot] + 1, pc);
	w->t.acc.live = 2;
	r->threads[id] = w;
	return w;
}

static struct reduce_watched *thread_of(struct reduce *r, uint32_t id)
{
	if (id < r->nthreads && r->threads[id])
		return r->threads[id];
	return thread_new(r, id, NULL, 0);
}

/* A joined thread is over; its slot is free for another. */
static void join_thread(struct reduce *r, struct reduce_watched *w, uint32_t id)
{
	struct reduce_watched *o = id < r->nthreads ? r->threads[id] : NULL;
	if (!o || o == w || !REDUCE_ROOM(r, r->free_slots, r->free_cap, r->nfree))
		return;
	red_join(&r->d, &w->t, &o->t, 0);
	r->slot_epoch[o->t.tid] = o->t.acc.epoch + 1;
	r->free_slots[r->nfree++] = o->t.tid;
	r->threads[id] = NULL;
	free(o);
}

/* ---- events ------------------------------------------------------------- */

static void access(struct reduce *r, struct thread *t, const struct event *e, uintptr_t pc)
{
	uintptr_t addr = (uintptr_t)(VARS + (uint64_t)e->target * 8);
	bool write = e->kind == EVENT_WRITE;
	uint64_t *c = shadow_cell(r->d.shadow.dir, addr);
	if (!c || !red_own(t, CELL_KEY(t->acc.tid, t->acc.epoch), c, write ? 0xffff : 0xff00, write, addr, pc))
		red_access(&r->d, t, addr, 0xff, write, pc, NULL);
}

/* The thread's own data: a both-mover without conflicts. But it may be what a
 * section or block writes first. */
static void own_access(struct reduce *r, const struct event *e)
{
	struct reduce_watched *w = thread_of(r, e->thread);
	if (w && e->kind == EVENT_WRITE && !w->t.wrote && (w->t.nheld || w->t.nmarks))
		red_wrote(&r->d, &w->t, (uintptr_t)(VARS + (uint64_t)e->target * 8), 0xff, false, place_of(r, e));
}

static void one(struct reduce *r, const struct event *e)
{
	struct reduce_watched *w = thread_of(r, e->thread);
	uintptr_t pc = place_of(r, e), lock = (uintptr_t)(LOCKS + (uint64_t)e->target * 64);
	if (!w || r->nomem)
		return;
	switch (e->kind) {
	case EVENT_READ:
	case EVENT_WRITE:
		access(r, &w->t, e, pc);
		break;
	case EVENT_ACQ:
		red_acquire(&r->d, &w->t, lock, false, false, pc);
		break;
	case EVENT_REL:
		red_release(&r->d, &w->t, lock, false, pc);
		break;
	case EVENT_FORK:
		if (e->target != e->thread && (e->target >= r->nthreads || !r->threads[e->target]))
			thread_new(r, e->target, w, pc);
		break;
	case EVENT_JOIN:
		join_thread(r, w, e->target);
		break;
	case EVENT_BEGIN:
		if (w->depth++ < RED_MARKS)
			red_mark_begin(&r->d, &w->t, NULL, pc);
		break;
	default:
		if (w->depth && --w->depth < RED_MARKS)
			red_mark_end(&w->t);
	}
}

/* Findings that are new: the events they are about. */
static void note(struct reduce *r)
{
	assert(r->d.nfindings <= RED_MAX_FINDINGS);
	for (; r->nseen < r->d.nfindings; r->nseen++) {
		const struct finding *f = &r->d.findings[r->nseen];
		r->seen[r->nseen] = (struct reduce_seen){ place_at(r, f->entered), place_at(r, f->commit),
			                                  place_at(r, f->violation), false };
	}
}

static void tell(struct reduce *r)
{
	for (uint32_t i = 1; i < r->nseen; i++) {
		struct reduce_seen *s = &r->seen[i];
		if (s->told || !r->d.findings[i].ready)
			continue;
		s->told = true;
		predict_add(r->p, (struct predicted){
					  .kind = PREDICT_POSSIBLE, .begin = s->begin, .first = s->first, .second = s->second });
	}
}

bool reduce_feed(struct reduce *r, const struct event *ev, size_t n)
{
	for (size_t i = 0; i < n && !r->nomem; i++) {
		if (ev[i].flags & EVENT_OWN) {
			own_access(r, &ev[i]);
			continue;
		}
		one(r, &ev[i]);
		note(r);
	}
	tell(r);
	return !r->nomem;
}

struct reduce *reduce_new(struct predict *p)
{
	struct reduce *r = calloc(1, sizeof *r);
	if (!r)
		return NULL;
	r->p = p;
	r->nslots = r->nplaces = r->nseen = 1;
	map_init(&r->by_place);
	r->seen = calloc(RED_MAX_FINDINGS, sizeof *r->seen);
	if (r->seen && dynamic_init(&r->d) && REDUCE_ROOM(r, r->places, r->places_cap, 1))
		return r;
	reduce_free(r);
	return NULL;
}

void reduce_free(struct reduce *r)
{
	if (!r)
		return;
	for (uint32_t i = 0; i < r->nthreads; i++)
		free(r->threads[i]);
	map_free(&r->by_place);
	free(r->threads);
	free(r->free_slots);
	free(r->slot_epoch);
	free(r->places);
	free(r->seen);
	dynamic_free(&r->d);
	free(r);
}
