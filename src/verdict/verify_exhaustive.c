/*
 * verify_exhaustive: see verify_exhaustive.h.
 *
 * Representation: pairs (state_sets.h) of a state and the set of its shadows. A shadow is a state and a bit for each thread.
 * The results of a block from a shadow are computed once.
 */
#include "verdict/verify_exhaustive.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/invariant.h"
#include "verdict/state_sets.h"
#include "verdict/verify_causal_order.h"

#define MAX_ALONE 200000u /* states of one block that runs alone */
#define MAX_LOOKS 1000u   /* runs that are compared with all serial orders */

/* ---- the search --------------------------------------------------------- */

struct ids {
	uint32_t *v;
	uint32_t n, cap;
};

struct anew {
	const struct ir *p;
	uint32_t block, width; /* of a shadow */
	struct verify_exhaustive *out;
	struct state_sets pairs; /* states with their shadows */
	struct map alone;        /* shadow and thread: into results, where a length and the shadows are */
	struct ids results;
	uint32_t wrong;  /* a pair that is not explained, or MAP_NONE */
	uint32_t looked; /* such pairs whose runs have an explanation by causes */
	/* the step being taken */
	uint32_t at, thread, outcome;
	int32_t *from, *to, *shadow, *room, *other;
};

static bool inside(const struct anew *x, const int32_t *state, uint32_t t)
{
	uint32_t b = ir_block_of(x->p, state, t);
	return b != IR_NONE && (x->block == VERDICT_PROGRAM || b == x->block);
}

static bool done(const struct anew *x, const int32_t *shadow, uint32_t t)
{
	assert(t < x->p->nthreads);
	return (uint32_t)shadow[x->p->nstate + t / 32] >> t % 32 & 1;
}

static void set_done(const struct anew *x, int32_t *shadow, uint32_t t, bool on)
{
	assert(t < x->p->nthreads);
	uint32_t *w = (uint32_t *)&shadow[x->p->nstate + t / 32], bit = 1u << t % 32;
	*w = on ? *w | bit : *w & ~bit;
	assert(done(x, shadow, t) == on);
}

static bool same_frame(const struct anew *x, const int32_t *a, const int32_t *b, uint32_t t)
{
	assert(t < x->p->nthreads);
	const struct ir_thread *th = &x->p->threads[t];
	return !memcmp(a + th->frame, b + th->frame, x->p->templates[th->tmpl].nslots * sizeof *a);
}

/* ---- shadows ------------------------------------------------------------ */

struct alone { /* a block on its own, from a shadow */
	struct anew *x;
	struct seqtab met;
	struct ids *to;
	uint32_t thread;
};

static bool one_alone(void *arg, enum ir_result r, const int32_t *next, const struct ir_choices *ch, const struct ir_effect *eff)
{
	struct alone *a = arg;
	struct anew *x = a->x;
	(void)ch;
	state_sets_stepped(&x->pairs, r, eff);
	if (r != IR_OK)
		return !x->out->limit;
	memcpy(x->other, next, sizeof *next * x->p->nstate);
	ir_clear_dead(x->p, x->other);
	bool still = inside(x, x->other, a->thread);
	set_done(x, x->other, a->thread, !still);
	uint32_t id = still ? seqtab_add(&a->met, x->other, x->width) : seqtab_add(&x->pairs.members, x->other, x->width);
	if (id == MAP_NONE || a->met.n > MAX_ALONE || (!still && !GROW(a->to->v, a->to->cap, a->to->n + 1ull)))
		state_sets_spent(&x->pairs, id == MAP_NONE ? "memory" : "states of a block alone");
	else if (!still)
		a->to->v[a->to->n++] = id;
	return !x->out->limit;
}

/* What the block of `thread` comes to from the shadow: their number is at the
 * returned place, followed by them. */
static uint32_t run_block(struct anew *x, uint32_t shadow, uint32_t thread)
{
	assert(thread < x->p->nthreads);
	uint64_t key = (uint64_t)shadow << 32 | thread;
	uint32_t at = map_get(&x->alone, key), len;
	if (at != MAP_NONE)
		return at;
	struct alone a = { .x = x, .to = &x->results, .thread = thread };
	at = x->results.n;
	if (!GROW(x->results.v, x->results.cap, at + 1ull) || !map_put(&x->alone, key, at)) {
		state_sets_spent(&x->pairs, "memory");
		return at;
	}
	x->results.n++;
	memcpy(x->other, seqtab_get(&x->pairs.members, shadow, &len), x->width * sizeof *x->other);
	seqtab_add(&a.met, x->other, x->width);
	for (uint32_t i = 0; i < a.met.n && !x->out->limit; i++) {
		memcpy(x->shadow, seqtab_get(&a.met, i, &len), x->width * sizeof *x->shadow);
		memcpy(x->other, x->shadow, x->width * sizeof *x->other); /* the other threads' bits */
		ir_successors(x->p, x->shadow, thread, x->room, one_alone, &a);
	}
	state_sets_worked(&x->pairs, a.met.n);
	seqtab_free(&a.met);
	x->results.v[at] = x->results.n - at - 1;
	return at;
}

/* Every block that has begun and not taken effect may do so now. */
static void close_set(struct anew *x)
{
	uint32_t len;
	for (uint32_t i = 0; i < x->pairs.nset && !x->out->limit; i++)
		for (uint32_t t = 0; t < x->p->nthreads && !x->out->limit; t++) {
			if (!inside(x, x->to, t) || done(x, seqtab_get(&x->pairs.members, x->pairs.set[i], &len), t))
				continue;
			uint32_t at = run_block(x, x->pairs.set[i], t);
			for (uint32_t k = 1; !x->out->limit && k <= x->results.v[at]; k++) {
				const int32_t *s = seqtab_get(&x->pairs.members, x->results.v[at + k], &len);
				memcpy(x->other, s, x->width * sizeof *x->other);
				state_sets_put(&x->pairs, x->other);
			}
		}
}

static bool one_outside(void *arg, enum ir_result r, const int32_t *next, const struct ir_choices *ch, const struct ir_effect *eff)
{
	struct anew *x = arg;
	(void)ch;
	state_sets_stepped(&x->pairs, r, eff);
	if (r != IR_OK)
		return !x->out->limit;
	memcpy(x->other, x->shadow, x->width * sizeof *x->other);
	memcpy(x->other, next, sizeof *next * x->p->nstate);
	ir_clear_dead(x->p, x->other);
	if (same_frame(x, x->other, x->to, x->thread))
		state_sets_put(&x->pairs, x->other);
	return !x->out->limit;
}

/* The shadows after the step of x->thread from x->from to x->to. */
static void follow(struct anew *x, uint32_t set)
{
	assert(x->thread < x->p->nthreads);
	uint32_t n, len;
	bool was = inside(x, x->from, x->thread), now = inside(x, x->to, x->thread);
	state_sets_begin_set(&x->pairs);
	for (uint32_t i = 0; seqtab_get(&x->pairs.sets, set, &n), i < n && !x->out->limit; i++) {
		uint32_t id = (uint32_t)seqtab_get(&x->pairs.sets, set, &n)[i];
		memcpy(x->shadow, seqtab_get(&x->pairs.members, id, &len), x->width * sizeof *x->shadow);
		if (!was && !now) {
			ir_successors(x->p, x->shadow, x->thread, x->room, one_outside, x);
		} else if (!was || now) {
			state_sets_put(&x->pairs, x->shadow);
		} else if (done(x, x->shadow, x->thread) && same_frame(x, x->shadow, x->to, x->thread)) {
			set_done(x, x->shadow, x->thread, false);
			state_sets_put(&x->pairs, x->shadow);
		}
	}
	close_set(x);
}

/* ---- pairs -------------------------------------------------------------- */

/* All threads outside: is the state one of its shadows? */
static bool explained(struct anew *x)
{
	for (uint32_t t = 0; t < x->p->nthreads; t++)
		if (inside(x, x->to, t))
			return true;
	memset(x->other, 0, x->width * sizeof *x->other);
	memcpy(x->other, x->to, x->p->nstate * sizeof *x->other);
	return state_sets_in_set(&x->pairs, x->other);
}

/* The state x->to with the set that has been made. */
static void add_pair(struct anew *x)
{
	bool good = explained(x);
	uint32_t id = state_sets_add(&x->pairs, x->to, state_sets_keep_set(&x->pairs), x->at,
	                             (struct move){ x->thread, x->outcome },
	                             x->alone.cap * sizeof(struct map_slot) + x->results.cap * sizeof *x->results.v);
	if (id == MAP_NONE || good)
		return;
	if (x->looked < MAX_LOOKS)
		x->wrong = id;
	else
		x->looked++;
}

/* ---- a pair that is not explained --------------------------------------- */

static void forget_path(struct verify_exhaustive *v)
{
	free(v->path);
	v->path = NULL;
	v->npath = 0;
}

/* Is the run that leads to the wrong pair explained when causes alone give the order, or is that hard to tell? Then the search
 * goes on, and has no proof any more, but may find a run that is not. */
static void look_closer(struct anew *x)
{
	enum verify_run_answer a = VERIFY_LIMIT;
	forget_path(x->out);
	if (state_sets_path(&x->pairs, x->wrong))
		a = verify_path(x->p, x->block, x->out->path, x->out->npath, VERIFY_LOOK);
	if (a != VERIFY_UNEXPLAINED) {
		forget_path(x->out);
		x->looked++;
		x->wrong = MAP_NONE;
	}
}

static bool one_step(void *arg, enum ir_result r, const int32_t *next, const struct ir_choices *ch, const struct ir_effect *eff)
{
	struct anew *x = arg;
	(void)ch;
	state_sets_stepped(&x->pairs, r, eff);
	if (r == IR_OK) {
		memcpy(x->to, next, sizeof *next * x->p->nstate);
		ir_clear_dead(x->p, x->to);
		follow(x, x->pairs.v[x->at].set);
		if (!x->out->limit)
			add_pair(x);
		if (x->wrong != MAP_NONE)
			look_closer(x);
	}
	x->outcome++;
	return !x->out->limit && x->wrong == MAP_NONE;
}

static void search(struct anew *x, int32_t *scratch)
{
	uint32_t len;
	memcpy(x->to, x->p->init, x->p->nstate * sizeof *x->to);
	ir_clear_dead(x->p, x->to);
	memset(x->shadow, 0, x->width * sizeof *x->shadow);
	memcpy(x->shadow, x->to, x->p->nstate * sizeof *x->to);
	state_sets_begin_set(&x->pairs);
	state_sets_put(&x->pairs, x->shadow);
	add_pair(x);
	for (x->at = 0; x->at < x->pairs.n && !x->out->limit && x->wrong == MAP_NONE; x->at++) {
		memcpy(x->from, seqtab_get(&x->pairs.states, x->pairs.v[x->at].state, &len), x->p->nstate * sizeof *x->from);
		for (x->thread = 0; x->thread < x->p->nthreads && !x->out->limit && x->wrong == MAP_NONE; x->thread++) {
			x->outcome = 0;
			ir_successors(x->p, x->from, x->thread, scratch, one_step, x);
		}
	}
}

/* ---- the answer --------------------------------------------------------- */

/* The definition with outside steps in the order in which they are taken. */
static void in_order(struct verify_exhaustive *v, const struct ir *p, uint32_t block)
{
	struct anew x = { .p = p, .block = block, .out = v, .wrong = MAP_NONE, .width = p->nstate + (p->nthreads + 31) / 32 };
	x.pairs = (struct state_sets){ .out = v, .crowded = "shadows of one state", .nstate = p->nstate, .width = x.width };
	size_t n = (size_t)x.width + 1;
	int32_t *room = calloc(n * 6, sizeof *room);
	v->limit = NULL;
	v->path = NULL;
	v->npath = 0;
	v->answer = VERIFY_LIMIT;
	if (!room) {
		v->limit = "memory";
		return;
	}
	x.from = room;
	x.to = room + n;
	x.shadow = room + 2 * n;
	x.room = room + 3 * n;
	x.other = room + 4 * n;
	search(&x, room + 5 * n);
	v->states = x.pairs.n;
	if (x.wrong != MAP_NONE)
		v->answer = VERIFY_UNEXPLAINED;
	else if (!v->limit)
		v->answer = x.looked ? VERIFY_OPEN : VERIFY_EXPLAINED;
	state_sets_free(&x.pairs);
	map_free(&x.alone);
	free(x.results.v);
	free(room);
}

void verify_exhaustive(struct verify_exhaustive *v, const struct ir *p, uint32_t block)
{
	static const uint32_t most[] = { 1, 2, 4, 8, 16 };
	v->behind = 0;
	in_order(v, p, block);
	for (size_t i = 0; i < sizeof most / sizeof *most && v->answer == VERIFY_OPEN; i++) {
		v->behind = most[i];
		verify_causal_order(v, p, block, most[i], i + 1 == sizeof most / sizeof *most);
	}
}
