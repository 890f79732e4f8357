#include "base/invariant.h"
#include "check/causal_question.h"

#include <stdlib.h>
#include <string.h>

#include "lang/lang.h"
#include "verdict/causal_run.h"
#include "verdict/replay.h"

/* ---- the run, concretely ---------------------------------------------------- */

/* "--threads worker=2 --schedule 1,1,2": what `intact sim` takes. p is the
 * model with the threads of the run. */
static void write_schedule(const struct ir *p, const uint32_t *declared, struct causal_run *r)
{
	struct run run;
	struct buf b;
	buf_init(&b);
	for (uint32_t t = 0; t < p->ntemplates; t++)
		if (p->templates[t].count != declared[t])
			buf_printf(&b, "--threads %s=%u ", p->templates[t].name, p->templates[t].count);
	buf_str(&b, "--schedule ");
	if (r->concrete == CAUSAL_POSSIBLE && run_init(&run, p)) {
		if (replay(&run, r->path, r->npath))
			schedule_text(&run, &b);
		run_free(&run);
	} else {
		for (uint32_t e = 0; e < r->nevents; e++) {
			const struct causal_thread *t = &r->threads[r->events[e].thread];
			buf_printf(&b, "%s%u", e ? "," : "", p->templates[t->tmpl].first_thread + t->index);
		}
	}
	free(r->schedule);
	r->schedule = b.failed ? NULL : strdup(buf_cstr(&b));
	buf_free(&b);
}

/* The model once more with as many threads as the run has, and the run tried on it. */
static void try_with_more(const struct ir *p, const uint32_t *declared, struct causal_run *r)
{
	struct lang l;
	lang_init(&l);
	if (lang_load_again(&l, p, IR_NONE, r->count)) {
		causal_replay(l.ir, r);
		write_schedule(l.ir, declared, r);
	}
	lang_free(&l);
}

static void look_at_run(const struct ir *p, struct causal_run *r)
{
	assert(r->count);
	uint32_t *declared = calloc(p->ntemplates + 1ull, sizeof *declared);
	bool same = true;
	for (uint32_t t = 0; declared && t < p->ntemplates; t++) {
		declared[t] = p->templates[t].count;
		same &= r->count[t] == declared[t];
	}
	if (declared && same)
		write_schedule(p, declared, r);
	else if (declared && !p->sml)
		try_with_more(p, declared, r);
	free(declared);
}

/* ---- the question ------------------------------------------------------------ */

/* The answer about a block in a program without the other blocks' marks. A boundary that does not count touches nothing,
 * but a value that lives across it may be forgotten there: the whole model can only look worse. */
static bool ask_alone(const struct ir *p, uint32_t block, const struct causal_options *c, struct diags *d, struct verdict *v,
                      enum causal_engine *by)
{
	assert(block == VERDICT_PROGRAM || block < p->nblocks);
	struct lang l;
	lang_init(&l);
	bool again = block != VERDICT_PROGRAM && p->nblocks > 1 && lang_load_again(&l, p, block, NULL);
	bool ok = causal_check(again ? l.ir : p, block, c, d, v, by);
	if (ok && again && v->answer == ANSWER_VIOLATED) { /* a run of the model, for readers who have only that */
		struct verdict whole;
		ok = causal_check(p, block, c, d, &whole, by);
		if (whole.answer == ANSWER_HOLDS)
			whole = (struct verdict){ .block = block,
				                  .answer = ANSWER_UNKNOWN,
				                  .reason = "the run found is none of the whole model" };
		verdict_free(v);
		*v = whole;
	}
	lang_free(&l);
	return ok;
}

bool causal_question(const struct ir *p, uint32_t block, enum causal_engine engine, const struct check_options *o, struct diags *d,
                     struct verdict *v)
{
	assert(block == VERDICT_PROGRAM || block < p->nblocks);
	const struct search_options *s = &o->search;
	struct causal_options c = { .engine = engine,
		                    .track = o->track,
		                    .abstract = o->abstract,
		                    .ntrack = o->ntrack,
		                    .nabstract = o->nabstract,
		                    .max_states = s->max_states,
		                    .max_bytes = s->max_bytes,
		                    .deadline = s->deadline,
		                    .reduced = o->reduced };
	enum causal_engine by;
	assert(block < p->nblocks || block == VERDICT_PROGRAM);
	bool ok = ask_alone(p, block, &c, d, v, &by);
	v->engine = by == CAUSAL_UNFOLD ? &engine_unfold.about : &engine_cover.about;
	if (v->causal)
		look_at_run(p, v->causal);
	return ok;
}

bool causal_names_fit(const struct ir *p, const struct check_options *o, struct diags *d)
{
	struct causal_options c = { .engine = CAUSAL_PICK,
		                    .track = o->track,
		                    .abstract = o->abstract,
		                    .ntrack = o->ntrack,
		                    .nabstract = o->nabstract,
		                    .max_states = 1,
		                    .max_bytes = o->search.max_bytes,
		                    .deadline = o->search.deadline };
	struct verdict v;
	if (!o->ntrack && !o->nabstract)
		return true;
	bool ok = causal_check(p, VERDICT_PROGRAM, &c, d, &v, NULL);
	verdict_free(&v);
	return ok;
}
