#include "report/story_json.h"

#include <stdlib.h>
#include <string.h>

#include "report/check_text.h"
#include "report/run_json.h"
#include "report/serial_run.h"
#include "report/step_text.h"
#include "verdict/explain.h"

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

static void orders(const struct run *r, uint32_t block, struct json_out *j)
{
	struct buf seen, order;
	buf_init(&seen);
	buf_init(&order);
	for (int at_exit = 0; at_exit < 2; at_exit++) {
		struct run serial;
		if (serial_run(r, block, at_exit != 0, &serial)) {
			buf_clear(&order);
			order_text(&serial, block, &order);
			if (!at_exit || strcmp(buf_cstr(&seen), buf_cstr(&order))) {
				if (seen.len)
					json_line(j, 0);
				json_begin_object(j, NULL);
				json_text_buf(j, "order", &order);
				run_json(&serial, j);
				json_end(j);
				buf_add(&seen, buf_cstr(&order), order.len);
			}
		}
		run_free(&serial);
	}
	buf_free(&seen);
	buf_free(&order);
}

enum { STORY_ENDS = 16 };

/* ---- the members --------------------------------------------------------- */

static void ends(const struct run *r, const struct verdict *v, struct json_out *j)
{
	struct buf got[STORY_ENDS];
	uint32_t n = 0;
	run_json_end(r->ir, run_now(r), "end", j);
	json_begin_array(j, "ends");
	for (uint32_t i = 0; i < v->nserial && n < STORY_ENDS; i++) {
		struct json_out end;
		bool known = false;
		buf_init(&got[n]);
		json_out_init(&end, &got[n], false);
		run_json_end(r->ir, v->serial + (size_t)i * r->ir->nstate, NULL, &end);
		for (uint32_t k = 0; k < n; k++)
			known |= !strcmp(buf_cstr(&got[k]), buf_cstr(&got[n]));
		if (known)
			buf_free(&got[n]);
		else
			json_items(j, &got[n++]);
	}
	json_end(j);
	json_uint(j, "more", v->nserial_all - n);
	json_flag(j, "cut", !v->serial);
	while (n)
		buf_free(&got[--n]);
}

static void sentence(const struct run *r, const struct verdict *v, struct json_out *j)
{
	struct buf text;
	bool *marks = calloc((size_t)r->nsteps + 1, sizeof *marks);
	buf_init(&text);
	if (marks && explain_run(r, v->block, marks, &text) && text.len) {
		buf_char(&text, '.');
		json_line(j, 5);
		json_text_buf(j, "sentence", &text);
		json_begin_array(j, "marks");
		for (uint32_t i = 0; i < r->nsteps; i++)
			if (marks[i])
				json_uint(j, NULL, i + 1);
		json_end(j);
	}
	free(marks);
	buf_free(&text);
}

static void halt(const struct ir *p, const struct verdict *v, struct json_out *j)
{
	struct buf text;
	buf_init(&text);
	check_text_halt(p, v, &text);
	json_line(j, 5);
	json_text_buf(j, "sentence", &text);
	buf_free(&text);
}

static void waits(const struct run *r, struct json_out *j)
{
	json_line(j, 5);
	json_begin_array(j, "waits");
	for (uint32_t t = 0; t < r->ir->nthreads; t++) {
		struct buf text;
		if (r->ir->nodes[ir_node_of(r->ir, run_now(r), t)].kind == IRN_END)
			continue;
		buf_init(&text);
		text_wait(r, t, &text);
		json_begin_object(j, NULL);
		json_uint(j, "thread", t + 1);
		json_text_buf(j, "text", &text);
		json_end(j);
		buf_free(&text);
	}
	json_end(j);
}

void story_json(struct run *r, const struct verdict *v, struct json_out *j)
{
	if (v->problem == PROBLEM_ATOMICITY)
		sentence(r, v, j);
	if (v->problem == PROBLEM_STUCK || v->problem == PROBLEM_ENDLESS)
		halt(r->ir, v, j);
	if (v->why) {
		json_line(j, 5);
		json_text(j, "sentence", v->why);
	}
	if (v->problem == PROBLEM_DEADLOCK || v->problem == PROBLEM_QUIESCENCE)
		waits(r, j);
	if (v->problem != PROBLEM_ATOMICITY && v->problem != PROBLEM_COMMIT)
		return;
	json_line(j, 5);
	json_begin_object(j, "serial");
	ends(r, v, j);
	json_begin_array(j, "orders");
	if (r->nsteps <= SERIAL_RUN_MAX)
		orders(r, v->block, j);
	json_end(j);
	json_end(j);
}
