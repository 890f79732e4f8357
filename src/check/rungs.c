#include "check/rungs.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/invariant.h"
#include "explore/exact.h"
#include "explore/minimize_run.h"

#define SERIAL_SHOWN 4u

/* ---- the budget --------------------------------------------------------- */

struct search_options rung_remaining(const struct decide *d)
{
	struct search_options s = d->o.search;
	if (s.max_states)
		s.max_states = s.max_states > d->states ? s.max_states - d->states : 1;
	if (d->slice.states) {
		uint64_t left = d->slice.states > d->states ? d->slice.states - d->states : 1;
		s.max_states = s.max_states && s.max_states < left ? s.max_states : left;
	}
	if (d->slice.deadline > 0 && (s.deadline <= 0 || d->slice.deadline < s.deadline))
		s.deadline = d->slice.deadline;
	return s;
}

static const char *spent(const struct decide *d, uint64_t states, double deadline)
{
	if (checkpoint_stops(d->o.search.checkpoint))
		return "interrupt";
	return states && d->states >= states ? "states" : deadline > 0 && clock_seconds() >= deadline ? "time" : NULL;
}

const char *rung_all_spent(const struct decide *d)
{
	return spent(d, d->o.search.max_states, d->o.search.deadline);
}

const char *rung_spent(const struct decide *d)
{
	const char *all = rung_all_spent(d);
	return all ? all : spent(d, d->slice.states, d->slice.deadline);
}

double rung_part_of_time(const struct decide *d, double part)
{
	assert(part > 0 && part <= 1);
	double now = clock_seconds(), end = d->o.search.deadline;
	return end <= 0 ? 0 : now < end ? now + (end - now) * part : end;
}

void rung_take(struct verdict *v, struct search_result *r)
{
	v->states += r->states;
	v->transitions += r->transitions;
	v->bytes = r->bytes > v->bytes ? r->bytes : v->bytes;
	v->path = r->path;
	v->npath = r->npath;
	r->path = NULL;
	v->limit = r->limit;
}

void rung_drop_path(struct verdict *v)
{
	free(v->path);
	v->path = NULL;
	v->npath = 0;
}

void rung_serial(const struct decide *d, uint32_t block, bool shortest, struct verdict *v)
{
	const struct ir *p = d->p;
	assert(v->answer == ANSWER_VIOLATED);
	if (!shortest)
		exact_shorten(p, block, d->o.search.deadline, d->o.search.max_bytes, &v->path, &v->npath);
	v->npath = minimize_run_violation(p, block, v->path, v->npath);
	enum verdict_problem halt = rung_ends(p, block, d->o.search.max_bytes, v);
	v->problem = halt != PROBLEM_NONE ? halt : v->problem;
}

enum verdict_problem rung_ends(const struct ir *p, uint32_t block, uint64_t bytes, struct verdict *v)
{
	exact_alternatives(p, block, v->path, v->npath, SERIAL_SHOWN, bytes, &v->serial, &v->nserial_all);
	v->nserial = v->nserial_all < SERIAL_SHOWN ? v->nserial_all : SERIAL_SHOWN;
	if (v->nserial_all)
		return PROBLEM_NONE;
	return exact_stuck(p, block, v->path, v->npath, bytes, &v->halt_thread, &v->halt);
}

char *rung_copy(const char *s)
{
	return s ? strdup(s) : NULL;
}

enum scope rung_scope(const struct ir *p, bool any)
{
	if (p->fixed_counts)
		return SCOPE_DECLARED;
	if (any)
		return SCOPE_ANY;
	for (uint32_t t = 0; t < p->ntemplates; t++)
		if (p->templates[t].count > 1 || p->templates[t].any_count)
			return SCOPE_ANY_OF;
	return SCOPE_DECLARED;
}

/* ---- asking ------------------------------------------------------------- */

bool rung_ask(struct decide *d, const struct check_engine *e, const struct engine_ask *q, struct verdict *v)
{
	struct attempt a = { .engine = &e->about, .answer = ANSWER_UNKNOWN };
	uint64_t before = v->states;
	double start = clock_seconds();
	bool done = false;
	assert(e->ladder && v->nattempts < VERDICT_ATTEMPTS);
	a.limit = e->free ? NULL : rung_spent(d);
	if (a.limit) {
		v->limit = a.limit;
		v->reason = NULL;
		v->engine = v->engine ? v->engine : a.engine;
		a.why = strdup("not asked: the budget is used up");
	} else {
		done = e->ask(d, q, v, &a);
		assert(v->engine == &e->about && (!done || v->answer != ANSWER_UNKNOWN));
		a.limit = a.answer == ANSWER_UNKNOWN ? v->limit : NULL;
		a.states = v->states - before;
		a.seconds += clock_seconds() - start;
	}
	v->attempts[v->nattempts++] = a;
	v->seconds += a.seconds;
	return done;
}
