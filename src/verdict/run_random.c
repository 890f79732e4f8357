/*
 * run_random: a step drawn at random.
 *
 * The thread is drawn uniformly from those that can move, by drawing from all
 * and putting aside those that cannot; its picks alternative by alternative.
 * The same generator state always gives the same step, so that a seed names a
 * run.
 */
#include <string.h>

#include "verdict/run.h"

struct sample {
	struct rng *rng;
	uint32_t seen;
	struct ir_choices ch;
};

static bool sample_outcome(void *arg, enum ir_result res, const int32_t *next, const struct ir_choices *ch,
                           const struct ir_effect *eff)
{
	struct sample *s = arg;
	(void)res;
	(void)next;
	(void)eff;
	if (rng_below(s->rng, ++s->seen) == 0)
		s->ch = *ch;
	return true;
}

/* Picks for a step of `thread`, alternative by alternative. Where that runs
 * into what an assume forbids again and again, all outcomes are listed. */
static bool random_picks(struct run *r, uint32_t thread, struct rng *rng, struct ir_choices *ch)
{
	struct ir_effect eff = { 0 };
	for (int attempt = 0; attempt < 16; attempt++) {
		uint32_t done = 0;
		enum ir_result res;
		for (;;) {
			ch->fixed = done;
			res = ir_step(r->ir, r->now, thread, ch, r->spare, &eff);
			if (ch->n <= done)
				break;
			ch->pick[done] = rng_below(rng, ch->size[done]);
			done++;
		}
		if (res != IR_BLOCKED && !(eff.stuck && ch->n))
			return true;
		if (res == IR_BLOCKED && !ch->n)
			return false;
	}
	struct sample s = { .rng = rng };
	ir_successors(r->ir, r->now, thread, r->spare, sample_outcome, &s);
	*ch = s.ch;
	return s.seen > 0;
}

enum run_status run_random(struct run *r, struct rng *rng)
{
	struct ir_choices ch;
	if (run_faulted(r))
		return RUN_OVER;
	for (uint32_t i = 0; i < r->ir->nthreads; i++)
		r->order[i] = i;
	for (uint32_t left = r->ir->nthreads; left > 0; left--) {
		uint32_t k = rng_below(rng, left), thread = r->order[k];
		if (random_picks(r, thread, rng, &ch))
			return run_step(r, thread, ch.pick, ch.n);
		r->order[k] = r->order[left - 1];
	}
	return RUN_BLOCKED;
}
