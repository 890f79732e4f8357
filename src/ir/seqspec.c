#include "ir/seqspec.h"

#include <string.h>

#include "base/invariant.h"

struct apply {
	const struct seqspec *s;
	int32_t *after;
	seqspec_visit *visit;
	void *arg;
	bool limit;
};

static bool outcome(void *arg, enum ir_result r, const int32_t *g, const int32_t *f, const struct ir_choices *ch,
                    const struct ir_effect *eff)
{
	struct apply *a = arg;
	const struct seqspec *s = a->s;
	assert(r != IR_BLOCKED && s->result < s->ir->nglobals && (r == IR_FAULT) == (eff->fault != IRF_NONE));
	(void)ch;
	if (r != IR_OK) {
		a->limit |= eff->fault == IRF_LIMIT;
		return !a->limit;
	}
	if (s->ir->nodes[f[0]].kind != IRN_END) /* a local assume that never holds */
		return true;
	int32_t result = g[s->result];
	memcpy(a->after, g, s->ir->nglobals * sizeof *g);
	for (uint32_t i = 0; i < s->narg; i++)
		a->after[s->arg[i]] = 0;
	a->after[s->result] = 0;
	a->visit(a->arg, a->after, result);
	return true;
}

bool seqspec_apply(const struct seqspec *s, const int32_t *g, uint32_t method, const int32_t *args, int32_t *room,
                   seqspec_visit *visit, void *arg)
{
	assert(method < s->nmethods && s->narg <= SEQSPEC_MAX_PARAMS && s->methods[method].nparams <= s->narg);
	const struct seqspec_method *m = &s->methods[method];
	uint32_t n = s->ir->nglobals, frame = s->ir->threads[m->thread].frame;
	struct apply a = { .s = s, .after = room + 2 * (size_t)n, .visit = visit, .arg = arg };
	assert(m->thread < s->ir->nthreads && !g[s->result]); /* arguments and result are 0 between calls */
	memcpy(room, g, n * sizeof *g);
	for (uint32_t i = 0; i < m->nparams; i++) {
		assert(s->arg[i] < n && !g[s->arg[i]] && args[i] >= m->params[i].lo && args[i] <= m->params[i].hi);
		room[s->arg[i]] = args[i];
	}
	ir_each(s->ir, m->thread, room, s->ir->init + frame, room + n, room + 3 * (size_t)n, outcome, &a);
	return !a.limit;
}
