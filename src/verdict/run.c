#include "verdict/run.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/invariant.h"

#define FIRST_STRIDE 16u

/* ---- memory ------------------------------------------------------------- */

static int32_t *state_alloc(const struct ir *p)
{
	return calloc((size_t)p->nstate + 1, sizeof(int32_t));
}

bool run_init(struct run *r, const struct ir *p)
{
	memset(r, 0, sizeof *r);
	r->ir = p;
	r->stride = FIRST_STRIDE;
	r->budget = RUN_STATE_BUDGET;
	r->now = state_alloc(p);
	r->prev = state_alloc(p);
	r->cursor = state_alloc(p);
	r->spare = state_alloc(p);
	r->alt = state_alloc(p);
	r->room = calloc(IR_MAX_EVENTS, sizeof *r->room);
	r->order = calloc((size_t)p->nthreads + 1, sizeof *r->order);
	if (!r->now || !r->prev || !r->cursor || !r->spare || !r->alt || !r->room || !r->order)
		return false;
	memcpy(r->now, p->init, p->nstate * sizeof *r->now);
	memcpy(r->cursor, p->init, p->nstate * sizeof *r->now);
	return true;
}

void run_free(struct run *r)
{
	free(r->steps);
	free(r->picks);
	free(r->events);
	free(r->changes);
	free(r->locals);
	free(r->now);
	free(r->prev);
	free(r->cursor);
	free(r->spare);
	free(r->alt);
	free(r->kept);
	free(r->room);
	free(r->order);
	memset(r, 0, sizeof *r);
}

/* ---- kept states -------------------------------------------------------- */

static int32_t *kept_at(const struct run *r, uint32_t k)
{
	assert(k < r->nkept || k == r->nkept);
	return r->kept + (size_t)k * r->ir->nstate;
}

/* Every other one goes: the rest are those of twice the stride. */
static void thin_out(struct run *r)
{
	assert(r->nkept > 1);
	for (uint32_t k = 1; 2 * k < r->nkept; k++)
		memcpy(kept_at(r, k), kept_at(r, 2 * k), r->ir->nstate * sizeof *r->kept);
	r->nkept = (r->nkept + 1) / 2;
	r->stride *= 2;
}

/* Keeps the present state when its turn has come. Not being able to is no
 * failure: the run is only stepped from further back. */
static void keep(struct run *r)
{
	assert(r->nkept <= r->kept_cap);
	size_t bytes = r->ir->nstate * sizeof *r->kept;
	if (r->nsteps % r->stride || r->nsteps / r->stride != r->nkept)
		return;
	while (r->nkept > 1 && (r->nkept + 1) * bytes > r->budget)
		thin_out(r);
	if (r->nsteps % r->stride || r->nsteps / r->stride != r->nkept)
		return;
	if (!GROW_AS(GROW_UNSET, NULL, r->kept, r->kept_cap, r->nkept + 1ull, r->ir->nstate)) {
		if (r->nkept > 1)
			thin_out(r);
		return;
	}
	memcpy(kept_at(r, r->nkept++), r->now, bytes);
}

/* Steps `state`, the one before step i, forward over it. */
static void replay(const struct run *r, int32_t *state, uint32_t i)
{
	assert(i < r->nsteps && r->steps[i].npick <= IR_MAX_CHOICES && r->steps[i].pick + r->steps[i].npick <= r->npicks);
	const struct run_step *s = &r->steps[i];
	struct ir_choices ch = { .fixed = s->npick };
	if (s->npick)
		memcpy(ch.pick, r->picks + s->pick, s->npick * sizeof *ch.pick);
	enum ir_result res = ir_step(r->ir, state, s->thread, &ch, state, NULL);
	assert(res == IR_OK);
	(void)res;
}

/* The state before step i into `out`, from the nearest one known. */
static void rebuild(const struct run *r, uint32_t i, int32_t *out)
{
	assert(i <= r->nsteps && r->stride >= FIRST_STRIDE);
	uint32_t k = i / r->stride;
	size_t bytes = r->ir->nstate * sizeof *out;
	if (k >= r->nkept)
		k = r->nkept ? r->nkept - 1 : 0;
	memcpy(out, r->nkept ? kept_at(r, k) : r->ir->init, bytes);
	for (uint32_t j = r->nkept ? k * r->stride : 0; j < i; j++)
		replay(r, out, j);
}

const int32_t *run_state(struct run *r, uint32_t i)
{
	if (i > r->nsteps)
		return NULL;
	if (i == r->nsteps || (run_faulted(r) && i == r->nsteps - 1))
		return r->now;
	if (i < r->cursor_at || i - r->cursor_at > r->stride) {
		rebuild(r, i, r->cursor);
	} else {
		for (uint32_t j = r->cursor_at; j < i; j++)
			replay(r, r->cursor, j);
	}
	r->cursor_at = i;
	return r->cursor;
}

/* ---- what a step did ---------------------------------------------------- */

static bool writes(uint32_t mode)
{
	return mode == IRA_WRITE || mode == IRA_RMW || mode == IRA_ACQUIRE || mode == IRA_RELEASE || mode == IRA_WRITE_RESP;
}

/* From the events: one change a variable, the first value to the last. */
static void changes_from_events(struct run *r, struct run_step *s)
{
	assert(s->event + s->nevent <= r->nevents);
	for (uint32_t i = 0; i < s->nevent; i++) {
		const struct ir_event *e = &r->events[s->event + i];
		uint32_t k = s->change;
		if (!writes(e->mode))
			continue;
		while (k < r->nchanges && (r->changes[k].var != e->var || r->changes[k].elem != e->elem))
			k++;
		if (k == r->nchanges)
			r->changes[r->nchanges++] = (struct run_change){ e->var, e->elem, e->before, e->before };
		r->changes[k].after = e->after;
	}
	uint32_t out = s->change;
	for (uint32_t k = s->change; k < r->nchanges; k++)
		if (r->changes[k].before != r->changes[k].after)
			r->changes[out++] = r->changes[k];
	r->nchanges = out;
}

/* From the states, when there were more events than are recorded. */
static bool changes_from_states(struct run *r, const int32_t *before, const int32_t *after)
{
	assert(before != after);
	for (uint32_t v = 0; v < r->ir->nvars; v++) {
		const struct ir_var *var = &r->ir->vars[v];
		for (uint32_t i = 0; i < var->len; i++) {
			int32_t x = before[var->slot + i], y = after[var->slot + i];
			if (x == y)
				continue;
			if (!GROW_RAW(r->changes, r->changes_cap, r->nchanges + 1ull))
				return false;
			r->changes[r->nchanges++] = (struct run_change){ v, i, x, y };
		}
	}
	return true;
}

static bool in_scope(const struct ir *p, uint32_t scope, uint32_t local)
{
	assert(local < p->nlocals);
	for (; scope != IR_NONE; scope = p->scopes[scope].parent)
		if (local - p->scopes[scope].local < p->scopes[scope].nlocal)
			return true;
	return false;
}

static bool killed(const struct ir *p, const struct ir_node *n, uint32_t slot)
{
	assert(n->kill + n->nkill <= p->nkills);
	for (uint32_t i = 0; i < n->nkill; i++)
		if (p->kills[n->kill + i] == slot)
			return true;
	return false;
}

/* Does another outcome of the step, that leads to the same node, leave a
 * different value at `at`? Then the picks have decided it. */
static bool decided(const struct run *r, const struct run_step *s, const struct ir_choices *ch, uint32_t at)
{
	assert(at < r->ir->nstate);
	for (uint32_t k = 0; k < ch->n; k++) {
		struct ir_choices other = { .fixed = k + 1 };
		memcpy(other.pick, ch->pick, (k + 1) * sizeof *other.pick);
		other.pick[k] = other.pick[k] ? other.pick[k] - 1 : 1;
		if (ir_step(r->ir, r->now, s->thread, &other, r->alt, NULL) == IR_OK &&
		    ir_node_of(r->ir, r->alt, s->thread) == s->next && r->alt[at] != r->spare[at])
			return true;
	}
	return false;
}

/* Named locals, visible where the step led, that it declared or changed. One
 * that is dead there was reset, not given a value. */
static bool record_locals(struct run *r, const struct run_step *s, const struct ir_choices *ch)
{
	assert(s->thread < r->ir->nthreads && s->node < r->ir->nnodes && s->next < r->ir->nnodes);
	const struct ir *p = r->ir;
	const int32_t *before = r->now, *after = r->spare;
	const struct ir_node *from = &p->nodes[s->node], *to = &p->nodes[s->next];
	uint32_t frame = p->threads[s->thread].frame;
	for (uint32_t sc = to->scope; sc != IR_NONE; sc = p->scopes[sc].parent) {
		for (uint32_t k = 0; k < p->scopes[sc].nlocal; k++) {
			uint32_t id = p->scopes[sc].local + k;
			const struct ir_local *l = &p->locals[id];
			if (l->slot == IR_NONE)
				continue;
			bool fresh = !in_scope(p, from->scope, id);
			for (uint32_t i = 0; i < l->len; i++) {
				uint32_t at = frame + l->slot + i;
				bool told = before[at] != after[at] || (fresh && !l->is_array);
				if (killed(p, to, l->slot + i) || (!told && !decided(r, s, ch, at)))
					continue;
				if (!GROW_RAW(r->locals, r->locals_cap, r->nlocals + 1ull))
					return false;
				r->locals[r->nlocals++] = (struct run_local){ id, i, after[at] };
			}
		}
	}
	return true;
}

/* Appends the step that `eff` describes; r->spare is the state it led to. */
static bool record(struct run *r, uint32_t thread, const struct ir_choices *ch, const struct ir_effect *eff)
{
	assert(!run_faulted(r) && ch->n <= IR_MAX_CHOICES && eff->nevents <= IR_MAX_EVENTS);
	const struct ir *p = r->ir;
	bool ok = eff->fault == IRF_NONE;
	if (r->nsteps >= RUN_MAX_STEPS || !GROW_RAW(r->steps, r->steps_cap, r->nsteps + 1ull) ||
	    !GROW_RAW(r->picks, r->picks_cap, (uint64_t)r->npicks + ch->n) ||
	    !GROW_RAW(r->events, r->events_cap, (uint64_t)r->nevents + eff->nevents) ||
	    !GROW_RAW(r->changes, r->changes_cap, (uint64_t)r->nchanges + eff->nevents))
		return false;
	struct run_step s = {
		.thread = thread,
		.node = ir_node_of(p, r->now, thread),
		.pick = r->npicks,
		.npick = ch->n,
		.event = r->nevents,
		.nevent = eff->nevents,
		.change = r->nchanges,
		.local = r->nlocals,
		.entered = eff->entered,
		.exited = eff->exited,
		.committed = eff->committed,
		.invoked = eff->invoked,
		.responded = eff->responded,
		.arg = eff->invoked == IR_NONE ? 0 : eff->arg,
		.result = eff->responded == IR_NONE ? 0 : eff->result,
		.fault = eff->fault,
		.fault_ins = ok ? 0 : eff->fault_ins,
		.fault_value = ok ? 0 : eff->fault_value,
		.stuck = eff->stuck,
		.cut = eff->nevents >= IR_MAX_EVENTS,
	};
	s.next = ok ? ir_node_of(p, r->spare, thread) : s.node;
	if (ch->n)
		memcpy(r->picks + r->npicks, ch->pick, ch->n * sizeof *r->picks);
	if (eff->nevents)
		memcpy(r->events + r->nevents, eff->events, eff->nevents * sizeof *r->events);
	r->npicks += ch->n;
	r->nevents += eff->nevents;
	if (!s.cut)
		changes_from_events(r, &s);
	if ((ok && s.cut && !changes_from_states(r, r->now, r->spare)) || (ok && !record_locals(r, &s, ch))) {
		r->npicks = s.pick;
		r->nevents = s.event;
		r->nchanges = s.change;
		r->nlocals = s.local;
		return false;
	}
	s.nchange = r->nchanges - s.change;
	s.nlocal = r->nlocals - s.local;
	r->steps[r->nsteps++] = s;
	return true;
}

/* ---- outcomes ----------------------------------------------------------- */

struct run_listing {
	struct run_outcome *out;
	uint32_t n, max;
};

static bool list_outcome(void *arg, enum ir_result res, const int32_t *next, const struct ir_choices *ch,
                         const struct ir_effect *eff)
{
	struct run_listing *l = arg;
	(void)next;
	(void)eff;
	if (l->n < l->max) {
		struct run_outcome *o = &l->out[l->n];
		o->npick = ch->n;
		memcpy(o->pick, ch->pick, ch->n * sizeof *o->pick);
		o->result = res;
	}
	return l->n++ < l->max;
}

uint32_t run_outcomes(struct run *r, uint32_t thread, struct run_outcome *out, uint32_t max)
{
	struct run_listing l = { out, 0, max };
	if (thread >= r->ir->nthreads || run_faulted(r))
		return 0;
	ir_successors(r->ir, r->now, thread, r->spare, list_outcome, &l);
	return l.n;
}

bool run_enabled(struct run *r, uint32_t thread)
{
	return run_outcomes(r, thread, NULL, 0) > 0;
}

/* An outcome that ends in IRN_STUCK after a choice counts only when nothing
 * else does, and then only the first (ir_successors). */
static bool counts(struct run *r, uint32_t thread, const struct ir_choices *ch, const struct ir_effect *eff)
{
	assert(thread < r->ir->nthreads);
	struct run_outcome first;
	if (!eff->stuck || !ch->n)
		return true;
	run_outcomes(r, thread, &first, 1);
	return first.npick == ch->n && !memcmp(first.pick, ch->pick, ch->n * sizeof *ch->pick);
}

/* ---- steps -------------------------------------------------------------- */

static enum run_status why_blocked(struct run *r, uint32_t thread, const struct ir_choices *ch)
{
	assert(thread < r->ir->nthreads);
	switch (r->ir->nodes[ir_node_of(r->ir, r->now, thread)].kind) {
	case IRN_END:
		return RUN_FINISHED;
	case IRN_STUCK:
		return RUN_STUCK;
	default:
		return ch->n && run_enabled(r, thread) ? RUN_FORBIDDEN : RUN_BLOCKED;
	}
}

enum run_status run_step(struct run *r, uint32_t thread, const uint32_t *picks, uint32_t npicks)
{
	struct ir_choices ch = { .fixed = npicks };
	struct ir_effect eff = { .events = r->room };
	PARANOID(run_faulted(r) || ir_state_valid(r->ir, r->now));
	if (run_faulted(r))
		return RUN_OVER;
	if (thread >= r->ir->nthreads)
		return RUN_NO_THREAD;
	if (npicks > IR_MAX_CHOICES)
		return RUN_NO_PICK;
	if (npicks)
		memcpy(ch.pick, picks, npicks * sizeof *picks);
	enum ir_result res = ir_step(r->ir, r->now, thread, &ch, r->spare, &eff);
	for (uint32_t i = 0; i < ch.n && i < npicks; i++)
		if (picks[i] >= ch.size[i])
			return RUN_NO_PICK;
	if (ch.n > npicks)
		return run_enabled(r, thread) ? RUN_PICKS : why_blocked(r, thread, &ch);
	if (res == IR_BLOCKED)
		return why_blocked(r, thread, &ch);
	if (ch.n < npicks)
		return RUN_NO_PICK;
	if (!counts(r, thread, &ch, &eff))
		return RUN_FORBIDDEN;
	if (eff.stuck && ch.n) /* counts() used the spare state */
		ir_step(r->ir, r->now, thread, &ch, r->spare, &eff);
	keep(r);
	if (!record(r, thread, &ch, &eff))
		return RUN_MEMORY;
	if (res == IR_FAULT)
		return RUN_FAULT;
	int32_t *old = r->prev;
	r->prev = r->now;
	r->now = r->spare;
	r->spare = old;
	r->has_prev = true;
	return RUN_OK;
}

/* Forgets the steps from n on; r->now is the caller's to set. */
static void truncate_to(struct run *r, uint32_t n)
{
	assert(n < r->nsteps);
	const struct run_step *s = &r->steps[n];
	r->nsteps = n;
	r->npicks = s->pick;
	r->nevents = s->event;
	r->nchanges = s->change;
	r->nlocals = s->local;
	if (r->cursor_at > n) {
		memcpy(r->cursor, r->ir->init, r->ir->nstate * sizeof *r->cursor);
		r->cursor_at = 0;
	}
	while (r->nkept && (r->nkept - 1) * r->stride > n)
		r->nkept--;
}

bool run_undo(struct run *r)
{
	if (!r->nsteps)
		return false;
	bool fault = run_faulted(r);
	truncate_to(r, r->nsteps - 1);
	if (fault) /* the state is that before it already */
		return true;
	if (r->has_prev) {
		int32_t *t = r->now;
		r->now = r->prev;
		r->prev = t;
	} else {
		rebuild(r, r->nsteps, r->now);
	}
	r->has_prev = false;
	return true;
}

void run_rewind(struct run *r, uint32_t n)
{
	if (n >= r->nsteps)
		return;
	if (n + 1 == r->nsteps) {
		run_undo(r);
		return;
	}
	truncate_to(r, n);
	rebuild(r, n, r->now);
	r->has_prev = false;
	assert(r->nsteps == n);
}

/* ---- questions ---------------------------------------------------------- */

uint32_t run_holder(const struct run *r, uint32_t var, uint32_t elem)
{
	assert(var < r->ir->nvars && elem < r->ir->vars[var].len && r->ir->vars[var].kind == IRV_LOCK);
	const struct ir *p = r->ir;
	for (uint32_t t = 0; t < p->nthreads; t++) {
		const struct ir_template *tm = &p->templates[p->threads[t].tmpl];
		for (uint32_t i = 0; i < tm->nslots; i++) {
			const struct ir_slot *s = &p->slots[tm->slot + i];
			if (s->is_lock && s->var == var && s->elem == elem && r->now[p->threads[t].frame + i])
				return t;
		}
	}
	return IR_NONE;
}

struct ir_effect run_fault(const struct run *r)
{
	struct ir_effect eff = { .fault = IRF_NONE };
	if (run_faulted(r)) {
		const struct run_step *s = &r->steps[r->nsteps - 1];
		eff.fault = s->fault;
		eff.fault_ins = s->fault_ins;
		eff.fault_value = s->fault_value;
	}
	return eff;
}
