#include "check/suspicion.h"

#include <stdlib.h>
#include <string.h>

#include "explore/exact.h"

#define GO_ON_STEPS 2000u /* after the run, until no thread is inside */

struct going { /* one step: its outcome number `want` */
	uint32_t want, seen;
	bool taken;
	int32_t *next;
	uint32_t nstate;
};

static bool visit(void *arg, enum ir_result r, const int32_t *next, const struct ir_choices *ch, const struct ir_effect *eff)
{
	struct going *g = arg;
	(void)ch;
	(void)eff;
	if (g->seen++ != g->want)
		return true;
	if (r == IR_OK) {
		memcpy(g->next, next, g->nstate * sizeof *next);
		g->taken = true;
	}
	return false;
}

/* Takes the step in place; `room` has two states. */
static bool take(const struct ir *p, int32_t *state, struct move m, int32_t *room)
{
	struct going g = { .want = m.outcome, .next = room, .nstate = p->nstate };
	ir_successors(p, state, m.thread, room + p->nstate, visit, &g);
	if (g.taken)
		memcpy(state, room, p->nstate * sizeof *state);
	return g.taken;
}

static bool inside(const struct ir *p, const int32_t *state, uint32_t thread, uint32_t block)
{
	uint32_t b = ir_block_of(p, state, thread);
	return b != IR_NONE && (block == VERDICT_PROGRAM || b == block);
}

/* Lets those inside go on in turn, alone, until they are out. */
static bool leave(const struct ir *p, uint32_t block, int32_t *state, struct move *run, uint32_t *n, int32_t *room)
{
	for (uint32_t end = *n + GO_ON_STEPS;;) {
		bool quiet = true, moved = false;
		for (uint32_t t = 0; t < p->nthreads; t++)
			while (inside(p, state, t, block)) {
				struct move m = { t, 0 };
				quiet = false;
				if (*n == end)
					return false;
				int32_t before = state[p->threads[t].frame];
				if (!take(p, state, m, room))
					break;
				run[(*n)++] = m;
				moved = true;
				if (state[p->threads[t].frame] == before)
					break; /* a round of waiting: let others on */
			}
		if (quiet)
			return true;
		if (!moved)
			return false;
	}
}

bool suspicion_holds(const struct ir *p, uint32_t block, const struct move *path, uint32_t n, uint64_t bytes, struct move **out,
                     uint32_t *nout)
{
	int32_t *state = malloc((size_t)p->nstate * 3 * sizeof *state);
	struct move *run = malloc((n + GO_ON_STEPS + 1ull) * sizeof *run);
	bool ok = state && run;
	uint32_t len = 0;
	if (ok)
		memcpy(state, p->init, p->nstate * sizeof *state);
	for (uint32_t i = 0; ok && i < n; i++) {
		ok = take(p, state, path[i], state + p->nstate);
		run[len++] = path[i];
	}
	ok = ok && leave(p, block, state, run, &len, state + p->nstate) && exact_explains(p, block, run, len, bytes) == 0;
	free(state);
	if (!ok) {
		free(run);
		return false;
	}
	*out = run;
	*nout = len;
	return true;
}
