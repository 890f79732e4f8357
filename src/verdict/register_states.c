#include "verdict/register_states.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/invariant.h"

void register_states_init(struct register_states *w, struct state_sets *pairs, enum object_condition c, uint32_t nthreads)
{
	assert(nthreads <= REGISTER_THREADS);
	*w = (struct register_states){ .pairs = pairs, .condition = c, .nthreads = nthreads };
}

void register_states_free(struct register_states *w)
{
	seqtab_free(&w->events);
	map_free(&w->next);
	free(w->room);
}

uint64_t register_states_bytes(const struct register_states *w)
{
	return seqtab_bytes(&w->events) + w->next.cap * sizeof(struct map_slot);
}

static bool room_for(struct register_states *w, uint32_t words)
{
	if (!GROW(w->room, w->cap, (uint64_t)words)) {
		state_sets_spent(w->pairs, "memory");
		return false;
	}
	return true;
}

/* ---- atomic -------------------------------------------------------------- */

/* A member: the value, and of each thread two words: where its operation is, and the value it writes or has seen. */
enum { IDLE, READ_ASKED, WRITE_ASKED, DONE };

static int32_t *of_thread(int32_t *member, uint32_t thread)
{
	assert(thread < REGISTER_THREADS);
	return member + 1 + 2 * thread;
}

/* The operation takes effect. */
static void take_effect(int32_t *member, uint32_t thread)
{
	assert(of_thread(member, thread)[0] != IDLE);
	int32_t *now = of_thread(member, thread);
	if (now[0] == WRITE_ASKED)
		member[0] = now[1];
	else
		now[1] = member[0];
	now[0] = DONE;
}

static void put_answered(struct register_states *w, int32_t *member, uint32_t thread, enum register_states_event e, int32_t value)
{
	int32_t *now = of_thread(member, thread);
	if (e == REGISTER_READ && now[1] != value)
		return;
	now[0] = IDLE;
	now[1] = 0;
	state_sets_put_row(w->pairs, member, 1 + 2 * w->nthreads);
}

/* An answer: every order of what has been asked, as far as the answered one. */
static void answer_atomic(struct register_states *w, const int32_t *member, uint32_t thread, enum register_states_event e,
                          int32_t value)
{
	uint32_t width = 1 + 2 * w->nthreads, len;
	int32_t *way = w->room, *then = w->room + width;
	struct seqtab met = { 0 };
	memcpy(way, member, width * sizeof *way);
	if (of_thread(way, thread)[0] == DONE) {
		put_answered(w, way, thread, e, value);
		return;
	}
	if (seqtab_add(&met, way, width) == SEQTAB_NONE)
		state_sets_spent(w->pairs, "memory");
	for (uint32_t i = 0; i < met.n && !w->pairs->out->limit; i++) {
		memcpy(way, seqtab_get(&met, i, &len), width * sizeof *way);
		for (uint32_t t = 0; t < w->nthreads && !w->pairs->out->limit; t++) {
			int32_t at = of_thread(way, t)[0];
			if (at != READ_ASKED && at != WRITE_ASKED)
				continue;
			memcpy(then, way, width * sizeof *then);
			take_effect(then, t);
			if (t == thread)
				put_answered(w, then, thread, e, value);
			else if (seqtab_add(&met, then, width) == SEQTAB_NONE)
				state_sets_spent(w->pairs, "memory");
		}
		if (met.n > 100000)
			state_sets_spent(w->pairs, w->pairs->crowded);
	}
	state_sets_worked(w->pairs, met.n);
	seqtab_free(&met);
}

static void next_atomic(struct register_states *w, uint32_t id, uint32_t thread, enum register_states_event e, int32_t value)
{
	uint32_t width = 1 + 2 * w->nthreads, len;
	if (!room_for(w, 3 * width))
		return;
	int32_t *member = w->room + 2 * width;
	memcpy(member, seqtab_get(&w->pairs->members, id, &len), width * sizeof *member);
	if (e == REGISTER_READ || e == REGISTER_WRITTEN) {
		answer_atomic(w, member, thread, e, value);
		return;
	}
	int32_t *now = of_thread(member, thread);
	now[0] = e == REGISTER_ASK_WRITE ? WRITE_ASKED : READ_ASKED;
	now[1] = e == REGISTER_ASK_WRITE ? value : 0;
	state_sets_put_row(w->pairs, member, width);
}

/* ---- regular and safe ---------------------------------------------------- */

/*
 * The member, taken apart. As words: how many writes have ended and are not overwritten, each with its value and
 * two words of open writes; then of each thread: 0, or 1 and the value of its open write, or 2 and how many values
 * its open read may return, and they, or 3: a read that may return anything.
 */
struct ended {
	int32_t value;
	uint64_t after; /* threads whose open write began after it ended */
};

struct weak {
	struct ended *ended;
	uint32_t nended, cap_ended;
	struct weak_op {
		int32_t kind;    /* as above */
		int32_t *values; /* sorted; of a write, the one */
		uint32_t n, cap;
	} op[REGISTER_THREADS];
	bool failed;
};

static void weak_free(struct weak *k)
{
	for (uint32_t t = 0; t < REGISTER_THREADS; t++)
		free(k->op[t].values);
	free(k->ended);
}

static void add_value(struct weak *k, struct weak_op *o, int32_t value)
{
	uint32_t at = 0;
	while (at < o->n && o->values[at] < value)
		at++;
	if (at < o->n && o->values[at] == value)
		return;
	if (!GROW(o->values, o->cap, o->n + 1ull)) {
		k->failed = true;
		return;
	}
	memmove(o->values + at + 1, o->values + at, (o->n - at) * sizeof *o->values);
	o->values[at] = value;
	o->n++;
}

/* Keeps what says more: of two ends with one value, the one that fewer open writes began after; in order. */
static void add_ended(struct weak *k, int32_t value, uint64_t after)
{
	uint32_t n = 0, at = 0;
	for (uint32_t i = 0; i < k->nended; i++)
		if (k->ended[i].value == value && (k->ended[i].after & after) == k->ended[i].after)
			return;
	for (uint32_t i = 0; i < k->nended; i++)
		if (k->ended[i].value != value || (k->ended[i].after & after) != after)
			k->ended[n++] = k->ended[i];
	k->nended = n;
	if (!GROW(k->ended, k->cap_ended, n + 1ull)) {
		k->failed = true;
		return;
	}
	while (at < n && (k->ended[at].value < value || (k->ended[at].value == value && k->ended[at].after < after)))
		at++;
	memmove(k->ended + at + 1, k->ended + at, (n - at) * sizeof *k->ended);
	k->ended[at] = (struct ended){ value, after };
	k->nended++;
}

static void weak_unpack(struct weak *k, const int32_t *w, uint32_t nthreads)
{
	uint32_t at = 1;
	for (int32_t i = 0; i < w[0]; i++, at += 3)
		add_ended(k, w[at], (uint32_t)w[at + 1] | (uint64_t)(uint32_t)w[at + 2] << 32);
	for (uint32_t t = 0; t < nthreads; t++) {
		k->op[t].kind = w[at++];
		int32_t n = k->op[t].kind == 1 ? 1 : k->op[t].kind == 2 ? w[at++] : 0;
		for (int32_t i = 0; i < n; i++)
			add_value(k, &k->op[t], w[at++]);
	}
}

static void weak_put(struct register_states *w, const struct weak *k)
{
	uint32_t words = 1 + 3 * k->nended, at = 0;
	for (uint32_t t = 0; t < w->nthreads; t++)
		words += 2 + k->op[t].n;
	if (k->failed)
		state_sets_spent(w->pairs, "memory");
	if (k->failed || !room_for(w, words))
		return;
	w->room[at++] = (int32_t)k->nended;
	for (uint32_t i = 0; i < k->nended; i++) {
		w->room[at++] = k->ended[i].value;
		w->room[at++] = (int32_t)(uint32_t)k->ended[i].after;
		w->room[at++] = (int32_t)(uint32_t)(k->ended[i].after >> 32);
	}
	for (uint32_t t = 0; t < w->nthreads; t++) {
		const struct weak_op *o = &k->op[t];
		w->room[at++] = o->kind;
		if (o->kind == 2)
			w->room[at++] = (int32_t)o->n;
		for (uint32_t i = 0; i < o->n; i++)
			w->room[at++] = o->values[i];
	}
	state_sets_put_row(w->pairs, w->room, at);
}

/* A write begins: open reads may return it, safe ones anything; it comes after what has ended. */
static void ask_write(struct register_states *w, struct weak *k, uint32_t thread, int32_t value)
{
	for (uint32_t t = 0; t < w->nthreads; t++) {
		struct weak_op *o = &k->op[t];
		if (o->kind != 2)
			continue;
		if (w->condition == OBJECT_SAFE) {
			o->kind = 3;
			o->n = 0;
		} else {
			add_value(k, o, value);
		}
	}
	k->op[thread].kind = 1;
	add_value(k, &k->op[thread], value);
	for (uint32_t i = 0; i < k->nended; i++)
		k->ended[i].after |= (uint64_t)1 << thread;
}

static void ask_read(struct register_states *w, struct weak *k, uint32_t thread)
{
	struct weak_op *o = &k->op[thread];
	bool met = false;
	o->kind = 2;
	for (uint32_t t = 0; t < w->nthreads; t++)
		if (k->op[t].kind == 1) {
			met = true;
			add_value(k, o, k->op[t].values[0]);
		}
	for (uint32_t i = 0; i < k->nended; i++)
		add_value(k, o, k->ended[i].value);
	if (met && w->condition == OBJECT_SAFE) {
		o->kind = 3;
		o->n = 0;
	}
}

/* A write ends: what ended before it began is overwritten. */
static void written(struct weak *k, uint32_t thread)
{
	uint64_t bit = (uint64_t)1 << thread;
	uint32_t n = 0;
	int32_t value = k->op[thread].n ? k->op[thread].values[0] : 0;
	for (uint32_t i = 0; i < k->nended; i++)
		if (!(k->ended[i].after & bit))
			k->ended[n++] = k->ended[i];
	k->nended = n;
	k->op[thread].kind = 0;
	k->op[thread].n = 0;
	add_ended(k, value, 0);
}

static void next_weak(struct register_states *w, uint32_t id, uint32_t thread, enum register_states_event e, int32_t value)
{
	struct weak k = { 0 };
	uint32_t len;
	bool fine = true;
	weak_unpack(&k, seqtab_get(&w->pairs->members, id, &len), w->nthreads);
	struct weak_op *o = &k.op[thread];
	switch (e) {
	case REGISTER_ASK_READ:
		ask_read(w, &k, thread);
		break;
	case REGISTER_ASK_WRITE:
		ask_write(w, &k, thread, value);
		break;
	case REGISTER_READ:
		fine = o->kind == 3;
		for (uint32_t i = 0; i < o->n; i++)
			fine |= o->values[i] == value;
		o->kind = 0;
		o->n = 0;
		break;
	case REGISTER_WRITTEN:
		written(&k, thread);
		break;
	}
	if (fine || k.failed)
		weak_put(w, &k);
	weak_free(&k);
}

/* ---- both ----------------------------------------------------------------- */

uint32_t register_states_first(struct register_states *w, int32_t value)
{
	struct weak k = { 0 };
	state_sets_begin_set(w->pairs);
	if (w->condition != OBJECT_ATOMIC) {
		add_ended(&k, value, 0);
		weak_put(w, &k);
	} else if (room_for(w, 1 + 2 * w->nthreads)) {
		memset(w->room, 0, (1 + 2 * w->nthreads) * sizeof *w->room);
		w->room[0] = value;
		state_sets_put_row(w->pairs, w->room, 1 + 2 * w->nthreads);
	}
	weak_free(&k);
	return w->pairs->out->limit ? MAP_NONE : state_sets_keep_set(w->pairs);
}

uint32_t register_states_next(struct register_states *w, uint32_t set, uint32_t thread, enum register_states_event e, int32_t value)
{
	assert(thread < w->nthreads);
	int32_t event[] = { (int32_t)thread, (int32_t)e, value };
	uint32_t id = seqtab_add(&w->events, event, 3), n, to;
	uint64_t key = (uint64_t)set << 32 | id;
	if (id == MAP_NONE) {
		state_sets_spent(w->pairs, "memory");
		return MAP_NONE;
	}
	if ((to = map_get(&w->next, key)) != MAP_NONE)
		return to;
	state_sets_begin_set(w->pairs);
	for (uint32_t i = 0; seqtab_get(&w->pairs->sets, set, &n), i < n && !w->pairs->out->limit; i++) {
		uint32_t member = (uint32_t)seqtab_get(&w->pairs->sets, set, &n)[i];
		if (w->condition == OBJECT_ATOMIC)
			next_atomic(w, member, thread, e, value);
		else
			next_weak(w, member, thread, e, value);
	}
	to = w->pairs->out->limit ? MAP_NONE : state_sets_keep_set(w->pairs);
	if (to != MAP_NONE && !map_put(&w->next, key, to)) {
		state_sets_spent(w->pairs, "memory");
		return MAP_NONE;
	}
	return to;
}
