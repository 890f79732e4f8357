#include "report/story_json.h"

#include <stdlib.h>
#include <string.h>

#include "report/check_text.h"
#include "report/run_json.h"
#include "report/step_text.h"
#include "verdict/explain.h"

/* Longer counterexamples get no serial companion: it would be as long. */
enum { SERIAL_MAX_STEPS = 2000 };

/* ---- a serial run of the same blocks ------------------------------------- */

struct serial {
	const struct run *from;
	uint32_t block;
	struct run run;
	struct run_outcome *room;
};

/* One step: with the same picks as there, when they are possible here. */
static bool take(struct serial *s, uint32_t thread, const struct run_step *like)
{
	if (like && run_step(&s->run, thread, s->from->picks + like->pick, like->npick) == RUN_OK)
		return true;
	uint32_t n = run_outcomes(&s->run, thread, s->room, 1);
	return n && s->room[0].result == IR_OK &&
	       run_step(&s->run, thread, s->room[0].pick, s->room[0].npick) == RUN_OK;
}

/* The whole block, in one piece: the picks are those of its steps there. */
static bool take_block(struct serial *s, uint32_t first)
{
	const struct run *r = s->from;
	uint32_t thread = r->steps[first].thread, block = r->steps[first].entered, i = first;
	for (uint32_t n = 0; n < SERIAL_MAX_STEPS; n++) {
		const struct run_step *like = i < r->nsteps ? &r->steps[i] : NULL;
		const struct run_step *did;
		if (!take(s, thread, like))
			return false;
		did = &s->run.steps[s->run.nsteps - 1];
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
	uint32_t i = at;
	while (i < r->nsteps &&
	       !(r->steps[i].thread == r->steps[at].thread && r->steps[i].exited == r->steps[at].entered))
		i++;
	return i;
}

/* Builds the run; blocks take effect where they are entered, or left. */
static bool serial_run(struct serial *s, bool at_exit)
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
		ok = ok && s->run.nsteps < SERIAL_MAX_STEPS;
	}
	free(enter);
	return ok;
}

/* The threads whose blocks these are, in order: "1, 2, 1". */
static void order_text(const struct run *r, uint32_t block, struct buf *out)
{
	bool first = true;
	for (uint32_t i = 0; i < r->nsteps; i++)
		if (r->steps[i].entered != IR_NONE && (block == VERDICT_PROGRAM || r->steps[i].entered == block)) {
			buf_printf(out, "%s%u", first ? "" : ", ", r->steps[i].thread + 1);
			first = false;
		}
}

static void orders(const struct run *r, uint32_t block, struct buf *out)
{
	struct buf seen, order;
	bool first = true;
	buf_init(&seen);
	buf_init(&order);
	for (int at_exit = 0; at_exit < 2; at_exit++) {
		struct serial s = { .from = r, .block = block, .room = calloc(2, sizeof *s.room) };
		if (run_init(&s.run, r->ir) && s.room && serial_run(&s, at_exit != 0)) {
			buf_clear(&order);
			order_text(&s.run, block, &order);
			if (first || strcmp(buf_cstr(&seen), buf_cstr(&order))) {
				buf_printf(out, "%s{\"order\": \"%s\",\n", first ? "" : ",\n", buf_cstr(&order));
				run_json(&s.run, out);
				buf_char(out, '}');
				buf_add(&seen, buf_cstr(&order), order.len);
				first = false;
			}
		}
		run_free(&s.run);
		free(s.room);
	}
	buf_free(&seen);
	buf_free(&order);
}

/* ---- the members --------------------------------------------------------- */

static void ends(const struct run *r, const struct verdict *v, struct buf *out)
{
	buf_str(out, "\"ends\": [");
	for (uint32_t i = 0; i < v->nserial; i++) {
		buf_str(out, i ? ", " : "");
		run_json_shared(r->ir, v->serial + (size_t)i * r->ir->nstate, out);
	}
	buf_printf(out, "], \"more\": %u", v->nserial_all > v->nserial ? v->nserial_all - v->nserial : 0);
}

static void sentence(const struct run *r, const struct verdict *v, struct buf *out)
{
	struct buf text;
	bool *marks = calloc((size_t)r->nsteps + 1, sizeof *marks), first = true;
	buf_init(&text);
	if (marks && explain_run(r, v->block, marks, &text) && text.len) {
		if (text.data[0] >= 'a' && text.data[0] <= 'z')
			text.data[0] = (char)(text.data[0] - 'a' + 'A');
		buf_char(&text, '.');
		buf_str(out, ",\n     \"sentence\": ");
		buf_json(out, buf_cstr(&text), text.len);
		buf_str(out, ", \"marks\": [");
		for (uint32_t i = 0; i < r->nsteps; i++)
			if (marks[i]) {
				buf_printf(out, "%s%u", first ? "" : ", ", i + 1);
				first = false;
			}
		buf_char(out, ']');
	}
	free(marks);
	buf_free(&text);
}

static void halt(const struct ir *p, const struct verdict *v, struct buf *out)
{
	struct buf text;
	buf_init(&text);
	check_text_halt(p, v, &text);
	buf_str(out, ",\n     \"sentence\": ");
	buf_json(out, buf_cstr(&text), text.len);
	buf_free(&text);
}

static void waits(const struct run *r, struct buf *out)
{
	bool first = true;
	buf_str(out, ",\n     \"waits\": [");
	for (uint32_t t = 0; t < r->ir->nthreads; t++) {
		struct buf text;
		if (r->ir->nodes[ir_node_of(r->ir, run_now(r), t)].kind == IRN_END)
			continue;
		buf_init(&text);
		text_wait(r, t, &text);
		buf_printf(out, "%s{\"thread\": %u, \"text\": ", first ? "" : ", ", t + 1);
		buf_json(out, buf_cstr(&text), text.len);
		buf_char(out, '}');
		buf_free(&text);
		first = false;
	}
	buf_char(out, ']');
}

void story_json(struct run *r, const struct verdict *v, struct buf *out)
{
	if (v->problem == PROBLEM_ATOMICITY)
		sentence(r, v, out);
	if (v->problem == PROBLEM_STUCK || v->problem == PROBLEM_ENDLESS)
		halt(r->ir, v, out);
	if (v->why) {
		buf_str(out, ",\n     \"sentence\": ");
		buf_json(out, v->why, strlen(v->why));
	}
	if (v->problem == PROBLEM_DEADLOCK || v->problem == PROBLEM_QUIESCENCE)
		waits(r, out);
	if (v->problem != PROBLEM_ATOMICITY && v->problem != PROBLEM_COMMIT)
		return;
	buf_str(out, ",\n     \"serial\": {");
	ends(r, v, out);
	buf_str(out, ", \"orders\": [");
	if (r->nsteps <= SERIAL_MAX_STEPS)
		orders(r, v->block, out);
	buf_str(out, "]}");
}
