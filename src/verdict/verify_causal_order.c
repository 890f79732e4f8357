/*
 * verify_causal_order: see verify_causal_order.h.
 *
 * Representation: pairs (state_sets.h) of a state and a set of rows of pending_items.h. Serial states are rows of their own; the results
 * of an item from one of them are computed once.
 */
#include "verdict/verify_causal_order.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "verdict/pending_items.h"
#include "verdict/state_sets.h"

#define CAUSES_MAX_ALONE 200000u /* states of one block that runs alone */
#define CAUSES_MAX_LOOKS 50u     /* runs that are compared with all serial orders */

struct cause_ids {
	uint32_t *v;
	uint32_t n, cap;
};

struct causes {
	const struct ir *p;
	uint32_t block, most;
	bool last;
	struct verify_exhaustive *out;
	struct state_sets pairs;
	struct seqtab serial;
	struct map effects;       /* serial state, thread, block or step: into results, where a length and serial states stand */
	struct cause_ids results; /* the first is the empty list */
	uint32_t wrong;           /* a pair that is not explained, or MAP_NONE */
	uint32_t looked;          /* such pairs whose runs have an explanation */
	bool stop;                /* a wider search is needed */
	uint64_t all, gone;       /* threads; those that have finished in x->to */
	/* the step being taken */
	uint32_t at, thread, outcome;
	uint32_t places[IR_MAX_EVENTS], nplaces;
	struct ir_event events[IR_MAX_EVENTS];
	int32_t *from, *to, *alone, *room, *other, *step;
	int32_t row[PENDING_ROW];
	struct pending_items now, next;
};

static bool inside(const struct causes *x, const int32_t *state, uint32_t t)
{
	uint32_t b = ir_block_of(x->p, state, t);
	return b != IR_NONE && (x->block == VERDICT_PROGRAM || b == x->block);
}

static void put(struct causes *x, struct pending_items *l)
{
	pending_items_prune(l, x->gone, x->all);
	state_sets_put_row(&x->pairs, x->row, pending_items_pack(l, x->row));
}

/* ---- what an item comes to ---------------------------------------------- */

struct effect {
	struct causes *x;
	struct seqtab met; /* states inside a block that runs alone */
	uint32_t thread;
};

static bool one_effect(void *arg, enum ir_result r, const int32_t *next, const struct ir_choices *ch, const struct ir_effect *eff)
{
	struct effect *e = arg;
	struct causes *x = e->x;
	bool in_block = e->met.n > 0;
	(void)ch;
	state_sets_stepped(&x->pairs, r, eff);
	if (r != IR_OK)
		return !x->out->limit;
	memcpy(x->other, next, sizeof *next * x->p->nstate);
	ir_clear_dead(x->p, x->other);
	bool still = inside(x, x->other, e->thread);
	if (still && !in_block)
		return true; /* a step outside does not enter */
	uint32_t id = seqtab_add(still ? &e->met : &x->serial, x->other, x->p->nstate);
	if (id == MAP_NONE || (!still && !GROW(x->results.v, x->results.cap, x->results.n + 1ull)))
		state_sets_spent(&x->pairs, "memory");
	else if (e->met.n > CAUSES_MAX_ALONE)
		state_sets_spent(&x->pairs, "states of a block alone");
	else if (!still)
		x->results.v[x->results.n++] = id;
	return !x->out->limit;
}

static bool before_block(const struct causes *x, const int32_t *state, uint32_t thread, uint32_t block)
{
	const struct ir_node *n = &x->p->nodes[ir_node_of(x->p, state, thread)];
	return n->kind == IRN_ENTER && (uint32_t)x->p->code[n->ins + 1].a == block;
}

/* The thread's next item, `block` or a step outside (IR_NONE), from a serial state: the number of resulting states is at
 * the returned place, followed by the states. */
static uint32_t effect(struct causes *x, uint32_t serial, uint32_t thread, uint32_t block)
{
	uint64_t key = (uint64_t)serial << 32 | thread << 1 | (block != IR_NONE);
	struct effect e = { .x = x, .thread = thread };
	uint32_t len, at;
	if (block != IR_NONE && !before_block(x, seqtab_get(&x->serial, serial, &len), thread, block))
		return 0;
	if ((at = map_get(&x->effects, key)) != MAP_NONE)
		return at;
	at = x->results.n;
	if (!GROW(x->results.v, x->results.cap, at + 1ull) || !map_put(&x->effects, key, at)) {
		state_sets_spent(&x->pairs, "memory");
		return 0;
	}
	x->results.n++;
	memcpy(x->alone, seqtab_get(&x->serial, serial, &len), x->p->nstate * sizeof *x->alone);
	if (block == IR_NONE)
		ir_successors(x->p, x->alone, thread, x->room, one_effect, &e);
	else if (seqtab_add(&e.met, x->alone, x->p->nstate) == SEQTAB_NONE)
		state_sets_spent(&x->pairs, "memory");
	for (uint32_t i = 0; i < e.met.n && !x->out->limit; i++) {
		memcpy(x->alone, seqtab_get(&e.met, i, &len), x->p->nstate * sizeof *x->alone);
		ir_successors(x->p, x->alone, thread, x->room, one_effect, &e);
	}
	state_sets_worked(&x->pairs, e.met.n);
	seqtab_free(&e.met);
	x->results.v[at] = x->results.n - at - 1;
	return at;
}

/* ---- sets --------------------------------------------------------------- */

/* x->next, with every state its item can come to. */
static void happen(struct causes *x, uint32_t thread, uint32_t block)
{
	uint32_t at = effect(x, x->next.serial, thread, block);
	for (uint32_t k = 1; !x->out->limit && k <= x->results.v[at]; k++) {
		x->next.serial = x->results.v[at + k];
		put(x, &x->next);
	}
}

/* Has the thread's block begun, and may it happen now? */
static bool may_happen(const struct causes *x, const struct pending_items *l, uint32_t thread)
{
	return inside(x, x->to, thread) && !(l->done >> thread & 1) && pending_items_open(l, thread) == PENDING_ITEMS;
}

/* Everything that may happen now does, or not yet. */
static void close_set(struct causes *x)
{
	uint32_t len, kept = 0;
	for (uint32_t i = 0; i < x->pairs.nset && !x->out->limit; i++) {
		const int32_t *words = seqtab_get(&x->pairs.members, x->pairs.set[i], &len);
		pending_items_unpack(&x->now, words, len);
		for (uint32_t t = 0; t < x->p->nthreads && !x->out->limit; t++)
			if (may_happen(x, &x->now, t)) {
				pending_items_copy(&x->next, &x->now);
				x->next.done |= (uint64_t)1 << t;
				happen(x, t, ir_block_of(x->p, x->to, t));
			}
		for (uint32_t k = 0; k < x->now.n && !x->out->limit; k++)
			if (!x->now.item[k].open && !x->now.item[k].before) {
				pending_items_copy(&x->next, &x->now);
				pending_items_remove(&x->next, k);
				happen(x, x->now.item[k].thread, x->now.item[k].block);
			}
	}
	for (uint32_t i = 0; i < x->pairs.nset && !x->out->limit; i++) {
		const int32_t *words = seqtab_get(&x->pairs.members, x->pairs.set[i], &len);
		bool idle = true;
		pending_items_unpack(&x->now, words, len);
		for (uint32_t t = 0; t < x->p->nthreads && x->now.n; t++)
			idle &= !may_happen(x, &x->now, t);
		if (!pending_items_forced(&x->now, x->all, idle))
			x->pairs.set[kept++] = x->pairs.set[i];
	}
	x->pairs.nset = kept;
}

/* A step outside, or the end of a block that has not happened, becomes late. */
static void put_off(struct causes *x, uint32_t block, uint32_t before, bool step)
{
	struct pending_item it = { .thread = x->thread, .block = block, .before = before, .knows = (uint64_t)1 << x->thread };
	if (pending_items_ended(&x->now) >= x->most)
		return;
	if (step && x->nplaces > PENDING_PLACES) {
		state_sets_spent(&x->pairs, "places of a pending step");
		return;
	}
	it.nplaces = step ? x->nplaces : 0;
	memcpy(it.places, x->places, it.nplaces * sizeof *it.places);
	pending_items_copy(&x->next, &x->now);
	if (pending_items_insert(&x->next, &it))
		put(x, &x->next);
}

/* x->now after a step of x->thread that items in `before` come before. */
static void one_behind(struct causes *x, bool was, bool now, uint32_t before)
{
	uint64_t bit = (uint64_t)1 << x->thread;
	if (was && now) {
		put(x, &x->now);
	} else if (now) {
		struct pending_item it = {
			.thread = x->thread, .block = ir_block_of(x->p, x->to, x->thread), .open = true, .before = before
		};
		pending_items_copy(&x->next, &x->now);
		if (!before || pending_items_insert(&x->next, &it))
			put(x, &x->next);
	} else if (was && (x->now.done & bit)) {
		x->now.done &= ~bit;
		put(x, &x->now);
	} else if (was) {
		uint32_t open = pending_items_open(&x->now, x->thread), comes = 0;
		if (open != PENDING_ITEMS) {
			comes = x->now.item[open].before; /* of pending ones, which come before or after it */
			comes = (comes & ((1u << open) - 1)) | (comes >> 1 & ~((1u << open) - 1));
			pending_items_remove(&x->now, open);
		}
		put_off(x, ir_block_of(x->p, x->from, x->thread), comes, false);
	} else {
		if (x->nplaces || before)
			put_off(x, IR_NONE, before, true);
		pending_items_copy(&x->next, &x->now);
		if (!before)
			happen(x, x->thread, IR_NONE);
	}
}

/* The set after the step of x->thread from x->from to x->to. */
static void follow(struct causes *x, uint32_t set)
{
	uint32_t n, len, before;
	bool was = inside(x, x->from, x->thread), now = inside(x, x->to, x->thread);
	state_sets_begin_set(&x->pairs);
	for (uint32_t i = 0; seqtab_get(&x->pairs.sets, set, &n), i < n && !x->out->limit; i++) {
		uint32_t id = (uint32_t)seqtab_get(&x->pairs.sets, set, &n)[i];
		const int32_t *words = seqtab_get(&x->pairs.members, id, &len);
		pending_items_unpack(&x->now, words, len);
		if (!pending_items_step(&x->now, x->thread, x->places, x->nplaces, &before))
			state_sets_spent(&x->pairs, "places that know of a pending step");
		else
			one_behind(x, was, now, before);
	}
	close_set(x);
}

/* ---- the search --------------------------------------------------------- */

/* All threads outside: is the state one of the serial ones? */
static bool explained(struct causes *x)
{
	for (uint32_t t = 0; t < x->p->nthreads; t++)
		if (inside(x, x->to, t))
			return true;
	uint32_t id = seqtab_find(&x->serial, x->to, x->p->nstate);
	x->next.serial = id;
	x->next.done = 0;
	x->next.n = 0;
	return id != MAP_NONE && state_sets_in_set_row(&x->pairs, x->row, pending_items_pack(&x->next, x->row));
}

static void add_pair(struct causes *x)
{
	bool good = explained(x);
	uint32_t id = state_sets_add(
		&x->pairs, x->to, state_sets_keep_set(&x->pairs), x->at, (struct move){ x->thread, x->outcome },
		seqtab_bytes(&x->serial) + x->effects.cap * sizeof(struct map_slot) + x->results.cap * sizeof *x->results.v);
	if (id == MAP_NONE || good)
		return;
	if (x->looked++ >= CAUSES_MAX_LOOKS)
		return;
	free(x->out->path);
	enum verify_run_answer a = VERIFY_LIMIT;
	if (state_sets_path(&x->pairs, id))
		a = verify_path(x->p, x->block, x->out->path, x->out->npath, x->last ? 0 : VERIFY_LOOK);
	if (a == VERIFY_LIMIT && x->last)
		state_sets_spent(&x->pairs, "serial orders of one run");
	if (a == VERIFY_UNEXPLAINED) {
		x->wrong = id;
		return;
	}
	x->stop = !x->last;
	free(x->out->path);
	x->out->path = NULL;
	x->out->npath = 0;
}

/* What the step touches, as pending_items.h has places. */
static void touched(struct causes *x, const struct ir_choices *ch)
{
	struct ir_choices again = *ch;
	struct ir_effect eff = { .events = x->events };
	x->nplaces = 0;
	again.fixed = again.n;
	ir_step(x->p, x->from, x->thread, &again, x->step, &eff);
	if (eff.nevents >= IR_MAX_EVENTS)
		state_sets_spent(&x->pairs, "accesses of one step");
	for (uint32_t i = 0; i < eff.nevents; i++) {
		const struct ir_event *e = &eff.events[i];
		bool reads = !(e->mode & ~(uint32_t)(IRA_READ | IRA_READ_INV | IRA_READ_RESP));
		uint32_t place = (x->p->vars[e->var].slot + e->elem) * 2 + !reads, at = 0, n = x->nplaces;
		while (at < n && x->places[at] / 2 < place / 2)
			at++;
		if (at < n && x->places[at] / 2 == place / 2) {
			x->places[at] |= place;
			continue;
		}
		memmove(x->places + at + 1, x->places + at, (n - at) * sizeof *x->places);
		x->places[at] = place;
		x->nplaces++;
	}
}

static bool one_step(void *arg, enum ir_result r, const int32_t *next, const struct ir_choices *ch, const struct ir_effect *eff)
{
	struct causes *x = arg;
	state_sets_stepped(&x->pairs, r, eff);
	if (r == IR_OK) {
		memcpy(x->to, next, sizeof *next * x->p->nstate);
		ir_clear_dead(x->p, x->to);
		x->gone = 0;
		for (uint32_t t = 0; t < x->p->nthreads; t++)
			if (x->p->nodes[ir_node_of(x->p, x->to, t)].kind == IRN_END)
				x->gone |= (uint64_t)1 << t;
		touched(x, ch);
		if (!x->out->limit)
			follow(x, x->pairs.v[x->at].set);
		if (!x->out->limit)
			add_pair(x);
	}
	x->outcome++;
	return !x->out->limit && !x->stop && x->wrong == MAP_NONE;
}

static void search(struct causes *x, int32_t *scratch)
{
	uint32_t len;
	memcpy(x->to, x->p->init, x->p->nstate * sizeof *x->to);
	ir_clear_dead(x->p, x->to);
	x->now.serial = seqtab_add(&x->serial, x->to, x->p->nstate);
	if (x->now.serial == MAP_NONE || !GROW(x->results.v, x->results.cap, 1ull)) {
		state_sets_spent(&x->pairs, "memory");
		return;
	}
	x->results.v[x->results.n++] = 0;
	state_sets_begin_set(&x->pairs);
	put(x, &x->now);
	add_pair(x);
	for (x->at = 0; x->at < x->pairs.n && !x->out->limit && !x->stop && x->wrong == MAP_NONE; x->at++) {
		memcpy(x->from, seqtab_get(&x->pairs.states, x->pairs.v[x->at].state, &len), x->p->nstate * sizeof *x->from);
		for (x->thread = 0; x->thread < x->p->nthreads && !x->out->limit && !x->stop && x->wrong == MAP_NONE; x->thread++) {
			x->outcome = 0;
			ir_successors(x->p, x->from, x->thread, scratch, one_step, x);
		}
	}
}

void verify_causal_order(struct verify_exhaustive *v, const struct ir *p, uint32_t block, uint32_t most, bool last)
{
	struct causes *x = calloc(1, sizeof *x);
	size_t n = (size_t)p->nstate + 1;
	int32_t *room = calloc(n * 7, sizeof *room);
	v->limit = NULL;
	v->path = NULL;
	v->npath = 0;
	v->answer = VERIFY_LIMIT;
	if (!x || !room || p->nthreads > PENDING_THREADS) {
		v->limit = x && room ? "threads" : "memory";
		free(x);
		free(room);
		return;
	}
	x->p = p;
	x->block = block;
	x->most = most;
	x->last = last;
	x->out = v;
	x->wrong = MAP_NONE;
	x->all = p->nthreads == 64 ? UINT64_MAX : ((uint64_t)1 << p->nthreads) - 1;
	x->pairs = (struct state_sets){ .out = v, .crowded = "serial executions of one state", .nstate = p->nstate };
	x->from = room;
	x->to = room + n;
	x->alone = room + 2 * n;
	x->room = room + 3 * n;
	x->other = room + 4 * n;
	x->step = room + 5 * n;
	search(x, room + 6 * n);
	v->states = x->pairs.n;
	if (x->wrong != MAP_NONE)
		v->answer = VERIFY_UNEXPLAINED;
	else if (!v->limit)
		v->answer = x->looked ? VERIFY_OPEN : VERIFY_EXPLAINED;
	state_sets_free(&x->pairs);
	seqtab_free(&x->serial);
	map_free(&x->effects);
	free(x->results.v);
	free(room);
	free(x);
}
