#include "verdict/replay.h"

#include <stdlib.h>
#include <string.h>
#include "base/invariant.h"

bool replay(struct run *r, const struct move *path, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t room = path[i].outcome + 1;
		struct run_outcome *out = calloc(room, sizeof *out);
		if (!out)
			return false;
		uint32_t count = run_outcomes(r, path[i].thread, out, room);
		bool ok = path[i].outcome < count;
		if (ok) {
			const struct run_outcome *o = &out[path[i].outcome];
			enum run_status s = run_step(r, path[i].thread, o->pick, o->npick);
			ok = s == RUN_OK || (s == RUN_FAULT && i + 1 == n);
		}
		free(out);
		if (!ok)
			return false;
	}
	return true;
}

struct like { /* looking for the outcome with these picks */
	const uint32_t *picks;
	uint32_t n, at;
	bool found;
};

static bool compare(void *arg, enum ir_result r, const int32_t *next, const struct ir_choices *ch, const struct ir_effect *eff)
{
	struct like *l = arg;
	(void)r;
	(void)next;
	(void)eff;
	l->found = ch->n == l->n && (!l->n || !memcmp(ch->pick, l->picks, l->n * sizeof *l->picks));
	l->at += !l->found;
	return !l->found;
}

bool replay_moves(struct run *r, struct move **path)
{
	const struct ir *p = r->ir;
	int32_t *room = malloc((2ull * p->nstate + 1) * sizeof *room);
	bool ok = room && (*path = malloc((r->nsteps + 1ull) * sizeof **path)) != NULL;
	for (uint32_t i = 0; ok && i < r->nsteps; i++) {
		const struct run_step *s = &r->steps[i];
		struct like l = { .picks = r->picks + s->pick, .n = s->npick };
		const int32_t *state = run_state(r, i);
		ok = state != NULL;
		if (ok) {
			memcpy(room, state, p->nstate * sizeof *room);
			ir_successors(p, room, s->thread, room + p->nstate, compare, &l);
			ok = l.found;
			(*path)[i] = (struct move){ s->thread, l.at };
		}
	}
	free(room);
	return ok;
}

void schedule_text_step(const struct run *r, uint32_t i, struct buf *out)
{
	assert(i < r->nsteps);
	const struct run_step *s = &r->steps[i];
	buf_printf(out, "%u", s->thread + 1);
	for (uint32_t k = 0; k < s->npick; k++)
		buf_printf(out, ".%u", r->picks[s->pick + k] + 1);
}

void schedule_text(const struct run *r, struct buf *out)
{
	for (uint32_t i = 0; i < r->nsteps; i++) {
		if (i)
			buf_char(out, ',');
		schedule_text_step(r, i, out);
	}
}
