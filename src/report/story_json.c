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

static void orders(const struct run *r, uint32_t block, struct buf *out)
{
	struct buf seen, order;
	bool first = true;
	buf_init(&seen);
	buf_init(&order);
	for (int at_exit = 0; at_exit < 2; at_exit++) {
		struct run serial;
		if (serial_run(r, block, at_exit != 0, &serial)) {
			buf_clear(&order);
			order_text(&serial, block, &order);
			if (first || strcmp(buf_cstr(&seen), buf_cstr(&order))) {
				buf_printf(out, "%s{\"order\": \"%s\",\n", first ? "" : ",\n", buf_cstr(&order));
				run_json(&serial, out);
				buf_char(out, '}');
				buf_add(&seen, buf_cstr(&order), order.len);
				first = false;
			}
		}
		run_free(&serial);
	}
	buf_free(&seen);
	buf_free(&order);
}

enum { STORY_ENDS = 16 };

/* ---- the members --------------------------------------------------------- */

static void ends(const struct run *r, const struct verdict *v, struct buf *out)
{
	struct buf got[STORY_ENDS];
	uint32_t n = 0;
	buf_str(out, "\"end\": ");
	run_json_end(r->ir, run_now(r), out);
	buf_str(out, ", \"ends\": [");
	for (uint32_t i = 0; i < v->nserial && n < STORY_ENDS; i++) {
		bool known = false;
		buf_init(&got[n]);
		run_json_end(r->ir, v->serial + (size_t)i * r->ir->nstate, &got[n]);
		for (uint32_t k = 0; k < n; k++)
			known |= !strcmp(buf_cstr(&got[k]), buf_cstr(&got[n]));
		if (known) {
			buf_free(&got[n]);
			continue;
		}
		buf_str(out, n ? ", " : "");
		buf_add(out, buf_cstr(&got[n]), got[n].len);
		n++;
	}
	buf_printf(out, "], \"more\": %u%s", v->nserial_all - n, v->serial ? "" : ", \"cut\": true");
	while (n)
		buf_free(&got[--n]);
}

static void sentence(const struct run *r, const struct verdict *v, struct buf *out)
{
	struct buf text;
	bool *marks = calloc((size_t)r->nsteps + 1, sizeof *marks), first = true;
	buf_init(&text);
	if (marks && explain_run(r, v->block, marks, &text) && text.len) {
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
	if (r->nsteps <= SERIAL_RUN_MAX)
		orders(r, v->block, out);
	buf_str(out, "]}");
}
