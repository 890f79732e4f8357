#include "report/serial_run.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "report/step_text.h"
#include "verdict/verdict.h"

struct serial_rerun {
	const struct run *from;
	uint32_t block;
	struct run *run;
	struct run_outcome *room;
};

/* One step: with the same picks as there, when they are possible here. */
static bool take(struct serial_rerun *s, uint32_t thread, const struct run_step *like)
{
	assert(thread < s->run->ir->nthreads);
	const uint32_t *picks = like && like->npick ? s->from->picks + like->pick : NULL;
	if (like && run_step(s->run, thread, picks, like->npick) == RUN_OK)
		return true;
	uint32_t n = run_outcomes(s->run, thread, s->room, 1);
	return n && s->room[0].result == IR_OK && run_step(s->run, thread, s->room[0].pick, s->room[0].npick) == RUN_OK;
}

/* The whole block, in one piece: the picks are those of its steps there. */
static bool take_block(struct serial_rerun *s, uint32_t first)
{
	assert(first < s->from->nsteps && s->from->steps[first].entered != IR_NONE);
	const struct run *r = s->from;
	uint32_t thread = r->steps[first].thread, block = r->steps[first].entered, i = first;
	for (uint32_t n = 0; n < SERIAL_RUN_MAX; n++) {
		const struct run_step *like = i < r->nsteps ? &r->steps[i] : NULL;
		const struct run_step *did;
		if (!take(s, thread, like))
			return false;
		did = &s->run->steps[s->run->nsteps - 1];
		if (did->exited == block)
			return true;
		do /* this thread's next step there */
			i++;
		while (i < r->nsteps && r->steps[i].thread != thread);
	}
	return false;
}

/* Where the block entered at step `at` is left; nsteps: nowhere. */
static uint32_t left_at(const struct run *r, uint32_t at)
{
	assert(at < r->nsteps && r->steps[at].entered != IR_NONE);
	uint32_t i = at;
	while (i < r->nsteps && !(r->steps[i].thread == r->steps[at].thread && r->steps[i].exited == r->steps[at].entered))
		i++;
	return i;
}

/* Builds the run; blocks take effect where they are entered, or left. */
static bool build(struct serial_rerun *s, bool at_exit)
{
	const struct run *r = s->from;
	uint32_t *enter = calloc((size_t)r->nsteps + 1, sizeof *enter); /* step -> its block's entry + 1 */
	bool ok = enter != NULL;
	for (uint32_t i = 0; ok && i < r->nsteps; i++) {
		uint32_t b = r->steps[i].entered;
		if (b == IR_NONE || enter[i] || (s->block != VERDICT_PROGRAM && b != s->block))
			continue;
		uint32_t end = left_at(r, i);
		ok = end < r->nsteps;
		for (uint32_t k = i; ok && k <= end; k++)
			if (r->steps[k].thread == r->steps[i].thread)
				enter[k] = i + 1;
	}
	for (uint32_t i = 0; ok && i < r->nsteps; i++) {
		if (!enter[i])
			ok = take(s, r->steps[i].thread, &r->steps[i]);
		else if (at_exit ? left_at(r, enter[i] - 1) == i : enter[i] - 1 == i)
			ok = take_block(s, enter[i] - 1);
		ok = ok && s->run->nsteps < SERIAL_RUN_MAX;
	}
	free(enter);
	return ok;
}

bool serial_run(const struct run *r, uint32_t block, bool at_exit, struct run *out)
{
	struct serial_rerun s = { .from = r, .block = block, .run = out, .room = calloc(2, sizeof *s.room) };
	bool ok = run_init(out, r->ir) && s.room && r->nsteps <= SERIAL_RUN_MAX && build(&s, at_exit);
	free(s.room);
	return ok;
}

/* ---- beside each other --------------------------------------------------- */

/* The item a step belongs to, by number among those of its thread. */
static uint32_t item_of(const struct run *r, uint32_t block, uint32_t step)
{
	assert(step < r->nsteps);
	uint32_t item = 0, thread = r->steps[step].thread;
	bool in = false;
	for (uint32_t i = 0; i < step; i++) {
		const struct run_step *s = &r->steps[i];
		if (s->thread != thread)
			continue;
		if (s->entered != IR_NONE && (block == VERDICT_PROGRAM || s->entered == block))
			in = true;
		if (s->exited != IR_NONE && (block == VERDICT_PROGRAM || s->exited == block))
			in = false;
		item += !in;
	}
	return item;
}

/* How often the thread was at the step's node before, within its item. */
static uint32_t round_of(const struct run *r, const uint32_t *items, uint32_t step)
{
	assert(step < r->nsteps);
	uint32_t n = 0;
	for (uint32_t i = 0; i < step; i++)
		n += r->steps[i].thread == r->steps[step].thread && items[i] == items[step] &&
		     r->steps[i].node == r->steps[step].node;
	return n;
}

/* The same step there: of the same item, at the same place, in the same round. */
static uint32_t counterpart(const struct run *r, const uint32_t *items, uint32_t step, const struct run *there,
                            const uint32_t *items_there)
{
	assert(step < r->nsteps);
	uint32_t round = round_of(r, items, step);
	for (uint32_t i = 0; i < there->nsteps; i++)
		if (there->steps[i].thread == r->steps[step].thread && items_there[i] == items[step] &&
		    there->steps[i].node == r->steps[step].node && round_of(there, items_there, i) == round)
			return i;
	return IR_NONE;
}

static bool writes_only(const struct ir_event *e)
{
	return (e->mode & (IRA_WRITE | IRA_WRITE_RESP)) && !(e->mode & IRA_READ);
}

static bool same_access(const struct ir_event *a, const struct ir_event *b)
{
	return a->mode == b->mode && a->var == b->var && a->elem == b->elem &&
	       (writes_only(a) ? a->after == b->after : a->before == b->before);
}

/* "-> 1", "= 2", "next[1] -> 0": the first access that differs there. */
static char *difference(const struct run *r, uint32_t a, const struct run *there, uint32_t b, const struct glyphs *g)
{
	assert(a < r->nsteps && b < there->nsteps);
	const struct run_step *x = &r->steps[a], *y = &there->steps[b];
	const struct ir_event *f = NULL, *e = NULL;
	for (uint32_t i = 0; i < y->nevent && !f; i++) {
		e = i < x->nevent ? &r->events[x->event + i] : NULL;
		if (!e || !same_access(e, &there->events[y->event + i]))
			f = &there->events[y->event + i];
	}
	if (!f)
		return NULL;
	struct buf text;
	buf_init(&text);
	if (y->nevent > 1 || !e || e->var != f->var || e->elem != f->elem)
		text_variable(r->ir, f->var, f->elem, &text);
	buf_str(&text, text.len ? " " : "");
	buf_str(&text, writes_only(f) ? "=" : g->arrow);
	buf_char(&text, ' ');
	text_value(r->ir, f->var, writes_only(f) ? f->after : f->before, &text);
	char *s = strdup(buf_cstr(&text));
	buf_free(&text);
	return s;
}

bool serial_notes(const struct run *r, uint32_t block, const struct run *there, const struct glyphs *g, char **notes)
{
	assert(r->ir == there->ir);
	uint32_t *items = calloc((size_t)r->nsteps + there->nsteps + 1, sizeof *items);
	uint32_t *items_there = items ? items + r->nsteps : NULL;
	bool any = false;
	for (uint32_t i = 0; items && i < r->nsteps; i++)
		items[i] = item_of(r, block, i);
	for (uint32_t i = 0; items && i < there->nsteps; i++)
		items_there[i] = item_of(there, block, i);
	for (uint32_t i = 0; items && i < r->nsteps; i++) {
		if (!r->steps[i].nevent)
			continue;
		uint32_t k = counterpart(r, items, i, there, items_there);
		notes[i] = k == IR_NONE ? strdup("not reached") : difference(r, i, there, k, g);
		any |= notes[i] != NULL;
	}
	free(items);
	return any;
}
