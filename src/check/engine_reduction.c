/* engine_reduction: right-movers, one non-mover, left-movers (reduce/reduce.h). The text is read once, when the
 * ladder begins (decide_begin); asking looks the answer up. */
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "check/rungs.h"

/* The first block that does not fit, for the program's line. */
static char *program_why(const struct decide *d)
{
	struct buf b;
	buf_init(&b);
	uint32_t bad = 0, first = IR_NONE;
	for (uint32_t i = 0; i < d->p->nblocks; i++)
		if (!d->reduce.blocks[i].part) {
			bad++;
			first = first == IR_NONE ? i : first;
		}
	if (first == IR_NONE || !d->reduce.blocks[first].part_why)
		buf_str(&b, "out of memory");
	else if (d->p->nblocks == 1)
		buf_str(&b, d->reduce.blocks[first].part_why);
	else
		buf_printf(&b, "%u of %u blocks do not reduce", bad, d->p->nblocks);
	char *s = strdup(buf_cstr(&b));
	buf_free(&b);
	return s;
}

static bool ask(struct decide *d, const struct engine_ask *q, struct verdict *v, struct attempt *a)
{
	uint32_t block = q->block;
	const struct reduce_result *r = &d->reduce;
	bool program = block == VERDICT_PROGRAM;
	bool holds = program ? r->all : r->blocks[block].reducible;
	v->engine = &engine_reduction.about;
	a->seconds = d->reduce_seconds;
	v->answer = holds ? ANSWER_HOLDS : ANSWER_UNKNOWN;
	if (holds) {
		v->scope = rung_scope(d->p, program ? r->all_any : r->blocks[block].any);
		v->notes = rung_copy(r->locks);
	} else {
		a->why = program ? program_why(d) : rung_copy(r->blocks[block].why);
	}
	a->answer = v->answer;
	return holds;
}

static bool ask_part(struct decide *d, uint32_t block, const struct verdict *program, struct verdict *v)
{
	const struct reduce_block *r = &d->reduce.blocks[block];
	assert(program->answer == ANSWER_HOLDS);
	if (!r->part)
		return false;
	v->engine = &engine_reduction.about;
	v->scope = rung_scope(d->p, r->part_any);
	return true;
}

static const char *part_why(const struct decide *d, uint32_t block)
{
	return d->reduce.blocks[block].part_why;
}

const struct check_engine engine_reduction = {
	.about = { .name = "reduction",
	           .summary = "right-movers, one non-mover, left-movers: for any number of threads",
	           .question = ENGINE_BLOCKS,
	           .any_threads = true,
	           .topic = "reduction" },
	.ladder = true,
	.free = true,
	.ask = ask,
	.ask_part = ask_part,
	.part_why = part_why,
};
