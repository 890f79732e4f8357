/*
 * successors: every outcome of a step, choice by choice (ir_each, ir_successors), and what is asked of whole states. The step
 * itself is ir_exec (step.c).
 */
#include <string.h>

#include "base/invariant.h"
#include "ir/ir.h"

bool ir_choices_next(struct ir_choices *ch)
{
	assert(ch->n <= IR_MAX_CHOICES && (!ch->n || ch->size[ch->n - 1] > 1));
	while (ch->n > 0) {
		uint32_t k = ch->n - 1;
		if (ch->pick[k] + 1 < ch->size[k]) {
			ch->pick[k]++;
			ch->fixed = k + 1;
			ch->n = 0;
			return true;
		}
		ch->n--;
	}
	return false;
}

/* Would this outcome be dropped if another one is enabled? */
static bool forbidden(enum ir_result r, const struct ir_choices *ch, const struct ir_effect *eff)
{
	return r == IR_OK && eff->stuck && ch->n > 0;
}

static enum ir_result exec_copy(const struct ir *p, uint32_t thread, const int32_t *g, const int32_t *f, int32_t *gout,
                                int32_t *fout, struct ir_choices *ch, struct ir_effect *eff)
{
	memcpy(gout, g, p->nglobals * sizeof *g);
	memcpy(fout, f, p->templates[p->threads[thread].tmpl].nslots * sizeof *f);
	return ir_exec(p, thread, gout, fout, ch, eff);
}

uint32_t ir_each(const struct ir *p, uint32_t thread, const int32_t *g, const int32_t *f, int32_t *gout, int32_t *fout,
                 ir_each_fn *visit, void *arg)
{
	struct ir_choices ch = { 0 };
	struct ir_effect eff = { 0 };
	uint32_t n = 0;
	bool others = false, dropped = false;
	do {
		enum ir_result r = exec_copy(p, thread, g, f, gout, fout, &ch, &eff);
		if (r == IR_BLOCKED)
			continue;
		if (forbidden(r, &ch, &eff)) {
			dropped = true;
			continue;
		}
		others = true;
		n++;
		if (!visit(arg, r, gout, fout, &ch, &eff))
			return n;
	} while (ir_choices_next(&ch));
	if (others || !dropped)
		return n;
	/* Every choice is forbidden: the thread is stuck, one way is enough. */
	memset(&ch, 0, sizeof ch);
	do {
		enum ir_result r = exec_copy(p, thread, g, f, gout, fout, &ch, &eff);
		if (forbidden(r, &ch, &eff)) {
			visit(arg, r, gout, fout, &ch, &eff);
			return 1;
		}
	} while (ir_choices_next(&ch));
	return 0;
}

struct step_whole { /* ir_successors in terms of ir_each */
	ir_visit_fn *visit;
	void *arg;
};

static bool visit_whole(void *arg, enum ir_result r, const int32_t *g, const int32_t *f, const struct ir_choices *ch,
                        const struct ir_effect *eff)
{
	const struct step_whole *w = arg;
	(void)f;
	return w->visit(w->arg, r, g, ch, eff);
}

uint32_t ir_successors(const struct ir *p, const int32_t *state, uint32_t thread, int32_t *scratch, ir_visit_fn *visit, void *arg)
{
	struct step_whole w = { visit, arg };
	uint32_t frame = p->threads[thread].frame;
	memcpy(scratch, state, p->nstate * sizeof *state);
	return ir_each(p, thread, state, state + frame, scratch, scratch + frame, visit_whole, &w);
}

bool ir_quiescent(const struct ir *p, const int32_t *state)
{
	for (uint32_t i = 0; i < p->nthreads; i++)
		if (ir_block_of(p, state, i) != IR_NONE)
			return false;
	return true;
}

void ir_clear_dead(const struct ir *p, int32_t *state)
{
	for (uint32_t i = 0; i < p->nthreads; i++) {
		int32_t *f = state + p->threads[i].frame;
		const struct ir_node *n = &p->nodes[f[0]];
		for (uint32_t k = 0; k < n->ndead; k++) {
			assert(p->kills[n->dead + k] >= 1 && p->kills[n->dead + k] < p->templates[p->threads[i].tmpl].nslots);
			f[p->kills[n->dead + k]] = 0;
		}
	}
}
