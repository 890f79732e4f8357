#include "reduce/flow.h"

#include <string.h>

#include "base/invariant.h"
#include "reduce/spin_wait.h"

enum { ROUNDS = 8 };

/* ---- edges -------------------------------------------------------------- */

/* A scalar that could be a lock. */
static bool candidate(const struct ir *p, uint32_t var)
{
	const struct ir_var *v = &p->vars[var];
	return v->kind == IRV_PLAIN && !v->is_array && v->lo == 0 && v->hi == 1 && p->init[v->slot] == 0;
}

static void drop(struct flow *f, uint32_t var)
{
	f->hand[var] = 0;
}

/* The candidate a node touches; two of them in one step do not count. */
static uint32_t focus_of(struct flow *f, const struct ir_node *n)
{
	uint32_t var = IR_NONE;
	for (uint32_t i = 0; i < n->naccess; i++) {
		uint32_t v = f->ir->accesses[n->access + i].var;
		if (!candidate(f->ir, v) || v == var)
			continue;
		if (var != IR_NONE) {
			drop(f, v);
			drop(f, var);
			continue;
		}
		var = v;
	}
	assert(var == IR_NONE || candidate(f->ir, var));
	return var;
}

/* Looks closely at the steps that may take or free a candidate, and at those
 * with more than one way on: some come back to where they were, some ways
 * cannot be taken. */
static void find_edges(struct flow *f)
{
	const struct ir *p = f->ir;
	struct outcomes out;
	for (uint32_t t = 0; t < p->ntemplates; t++) {
		const struct ir_template *tm = &p->templates[t];
		for (uint32_t id = tm->node; id < tm->node + tm->nnode; id++) {
			uint32_t var = focus_of(f, &p->nodes[id]);
			f->focus[id] = var;
			if (var == IR_NONE && p->nodes[id].nsucc < 2)
				continue;
			outcomes_of(p, t, id, var, &out);
			if (out.gave_up) {
				if (var != IR_NONE)
					drop(f, var);
				continue;
			}
			assert(out.n <= OUTCOMES_MAX);
			struct outcome head = { .succ = out.n, .same = out.plain };
			avec_push(f->arena, &f->edges, head);
			f->special[id] = f->edges.len;
			for (uint32_t i = 0; i < out.n; i++) {
				avec_push(f->arena, &f->edges, out.data[i]);
				if (var != IR_NONE && out.data[i].after == VALUE_UNKNOWN)
					drop(f, var);
			}
		}
	}
}

/* The variable whose value decides at this node, now that some candidates
 * have been dropped. */
static uint32_t deciding(const struct flow *f, uint32_t node)
{
	uint32_t var = f->focus[node];
	return var != IR_NONE && f->hand[var] & HAND_LOCK ? var : IR_NONE;
}

static bool holds(const struct flow *f, uint32_t node, uint32_t var)
{
	return held_locks_has(&f->sets, f->set[node], f->ir->vars[var].slot);
}

bool flow_edge(const struct flow *f, uint32_t node, uint32_t *i, struct outcome *e)
{
	assert(node < f->ir->nnodes && f->special[node] <= f->edges.len);
	const struct ir_node *n = &f->ir->nodes[node];
	uint32_t at = f->special[node];
	if (!at) {
		if (*i >= n->nsucc)
			return false;
		*e = (struct outcome){ f->ir->succs[n->succ + (*i)++], VALUE_UNKNOWN, VALUE_UNKNOWN, false, false };
		return true;
	}
	uint32_t count = f->edges.data[at - 1].succ, var = deciding(f, node);
	assert(at + count <= f->edges.len && *i <= count);
	while (*i < count) {
		*e = f->edges.data[at + (*i)++];
		if (e->pure)
			continue;
		if (var != IR_NONE && e->before == 0 && holds(f, node, var))
			continue; /* who holds it finds it taken */
		return true;
	}
	return false;
}

/* ---- what is held ------------------------------------------------------- */

/* The locks held after the step from `node` that takes edge e. */
static uint32_t after_step(struct flow *f, uint32_t node, const struct outcome *e)
{
	assert(f->set[node] != FLOW_UNREACHED && f->set[node] < f->sets.sets.len);
	const struct ir *p = f->ir;
	const struct ir_node *n = &p->nodes[node];
	uint32_t set = f->set[node], var = deciding(f, node);
	for (uint32_t i = 0; i < n->naccess; i++) {
		const struct ir_access *a = &p->accesses[n->access + i];
		const struct ir_var *v = &p->vars[a->var];
		if (a->mode == IRA_RELEASE && a->index == IR_NONE)
			set = held_locks_remove(&f->sets, set, v->slot, v->len);
		else if (a->mode == IRA_RELEASE)
			set = held_locks_remove(&f->sets, set, v->slot + a->index, 1);
		else if (a->mode == IRA_ACQUIRE && n->kind == IRN_LOCK && a->index < v->len)
			set = held_locks_add(&f->sets, set, v->slot + a->index);
	}
	if (var != IR_NONE && e->before == 0 && e->after == 1)
		set = held_locks_add(&f->sets, set, p->vars[var].slot);
	if (var != IR_NONE && e->after == 0)
		set = held_locks_remove(&f->sets, set, p->vars[var].slot, 1);
	assert(set < f->sets.sets.len);
	return set;
}

struct work {
	uint32_t *nodes; /* a ring: a node is in it at most once */
	uint8_t *queued;
	uint32_t head, len, cap;
};

static void arrive(struct flow *f, struct work *w, uint32_t node, uint32_t set)
{
	assert(node < f->ir->nnodes && set < f->sets.sets.len);
	uint32_t old = f->set[node];
	uint32_t now = old == FLOW_UNREACHED ? set : held_locks_meet(&f->sets, old, set);
	if (now == old)
		return;
	assert(old == FLOW_UNREACHED || f->sets.sets.data[now].len < f->sets.sets.data[old].len); /* sets only shrink */
	f->set[node] = now;
	if (w->queued[node])
		return;
	assert(w->len < w->cap);
	w->queued[node] = 1;
	w->nodes[(w->head + w->len++) % w->cap] = node;
}

static void propagate(struct flow *f, struct work *w)
{
	assert(!w->len);
	const struct ir *p = f->ir;
	memset(f->set, 0xFF, p->nnodes * sizeof *f->set);
	for (uint32_t t = 0; t < p->ntemplates; t++)
		arrive(f, w, p->templates[t].entry, HELD_LOCKS_NONE);
	while (w->len) {
		uint32_t node = w->nodes[w->head], i = 0;
		struct outcome e;
		w->head = (w->head + 1) % w->cap;
		w->len--;
		w->queued[node] = 0;
		assert(f->set[node] != FLOW_UNREACHED);
		while (flow_edge(f, node, &i, &e))
			arrive(f, w, e.succ, after_step(f, node, &e));
	}
}

/* ---- the obligation ----------------------------------------------------- */

/* A try that can fail and leave everything as it was. */
static void note_tries(struct flow *f, uint32_t node, uint32_t var)
{
	assert(f->special[node] && f->focus[node] == var);
	uint32_t at = f->special[node], block = f->ir->nodes[node].block;
	struct flow_hand *h = &f->at[var];
	bool pure = f->waits[node] != IR_NONE;
	for (uint32_t i = 0; i < f->edges.data[at - 1].succ; i++)
		pure |= f->edges.data[at + i].pure;
	if (!pure)
		return;
	if (block == IR_NONE)
		h->outside = node;
	else if (h->try1 == IR_NONE)
		h->try1 = node;
	else if (f->ir->nodes[h->try1].block != block)
		h->try2 = node;
}

bool flow_private(const struct flow *f, uint32_t var, uint32_t block, uint32_t *who)
{
	assert(var < f->ir->nvars && (block == FLOW_ALL || block == IR_NONE || block < f->ir->nblocks));
	const struct flow_hand *h = &f->at[var];
	*who = IR_NONE;
	if ((f->hand[var] & (HAND_LOCK | HAND_OBSERVED | HAND_TAKEN)) != (HAND_LOCK | HAND_TAKEN))
		return false;
	if (h->outside != IR_NONE)
		*who = h->outside;
	else if (block != FLOW_ALL && h->try1 != IR_NONE && f->ir->nodes[h->try1].block != block)
		*who = h->try1;
	else if (block != FLOW_ALL)
		*who = h->try2;
	return *who == IR_NONE;
}

/* True when every candidate met it; the others are dropped. */
static bool check_candidates(struct flow *f)
{
	const struct ir *p = f->ir;
	bool all = true;
	for (uint32_t v = 0; v < p->nvars; v++) {
		f->hand[v] &= HAND_LOCK;
		f->at[v] = (struct flow_hand){ IR_NONE, IR_NONE, IR_NONE, IR_NONE };
	}
	for (uint32_t id = 0; id < p->nnodes; id++) {
		uint32_t var = deciding(f, id), i = 0;
		struct outcome e;
		if (var == IR_NONE || f->set[id] == FLOW_UNREACHED)
			continue;
		bool held = holds(f, id, var);
		if (!held)
			note_tries(f, id, var);
		while (flow_edge(f, id, &i, &e)) {
			if (held) {
				f->hand[var] |= e.after == 0 ? HAND_FREED : 0;
				continue;
			}
			if (e.before == 1 && e.after == 0) {
				drop(f, var);
				all = false;
				break;
			}
			if (e.before == 0 && e.after == 1) {
				f->hand[var] |= HAND_TAKEN;
				if (f->at[var].taken == IR_NONE)
					f->at[var].taken = id;
			} else if (f->waits[id] == IR_NONE) {
				f->hand[var] |= HAND_OBSERVED;
			}
		}
	}
	for (uint32_t v = 0; v < p->nvars; v++)
		assert(!f->hand[v] || candidate(p, v));
	return all;
}

void flow_run(struct flow *f, const struct ir *p, struct arena *a)
{
	struct work w = { 0 };
	memset(f, 0, sizeof *f);
	f->ir = p;
	f->arena = a;
	held_locks_init(&f->sets, a);
	f->hand = arena_array(a, uint8_t, p->nvars + 1);
	f->at = arena_array(a, struct flow_hand, p->nvars + 1);
	f->set = arena_array(a, uint32_t, p->nnodes + 1);
	f->focus = arena_array(a, uint32_t, p->nnodes + 1);
	f->special = arena_array(a, uint32_t, p->nnodes + 1);
	f->waits = arena_array(a, uint32_t, p->nnodes + 1);
	w.cap = p->nnodes + 1;
	w.nodes = arena_array(a, uint32_t, w.cap);
	w.queued = arena_array(a, uint8_t, w.cap);
	for (uint32_t v = 0; v < p->nvars; v++)
		f->hand[v] = candidate(p, v) ? HAND_LOCK : 0;
	find_edges(f);
	spin_wait_find(f);
	propagate(f, &w);
	for (uint32_t round = 1; !check_candidates(f); round++) {
		assert(round <= ROUNDS + 1); /* what is dropped stays dropped */
		for (uint32_t v = 0; round >= ROUNDS && v < p->nvars; v++)
			drop(f, v);
		propagate(f, &w);
	}
}
