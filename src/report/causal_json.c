#include "report/causal_json.h"

#include "report/causal_text.h"
#include "report/check_text.h"
#include "report/step_text.h"

/* A text that is put together first, and is freed here. */
static void made(struct json_out *j, const char *key, struct buf *text)
{
	json_text_buf(j, key, text);
	buf_free(text);
}

static void variable(const struct ir *p, const char *key, uint32_t var, uint32_t elem, struct json_out *j)
{
	struct buf name;
	buf_init(&name);
	if (elem == IR_NONE)
		buf_str(&name, p->vars[var].name);
	else
		text_variable(p, var, elem, &name);
	made(j, key, &name);
}

static void value(const struct ir *p, const char *key, uint32_t var, int32_t x, struct json_out *j)
{
	struct buf text;
	buf_init(&text);
	text_value(p, var, x, &text);
	made(j, key, &text);
}

static void event(const struct ir *p, const struct causal_run *r, uint32_t i, struct json_out *j)
{
	const struct causal_event *e = &r->events[i];
	struct buf text;
	json_line(j, 8);
	json_begin_object(j, NULL);
	json_uint(j, "event", i + 1);
	buf_init(&text);
	causal_thread_text(p, r, e->thread, &text);
	made(j, "thread", &text);
	json_uint(j, "line", text_line(p, e->node));
	buf_init(&text);
	causal_event_text(p, r, i, false, &text);
	made(j, "text", &text);
	if (e->block != IR_NONE)
		json_text(j, "block", p->blocks[e->block].name);
	json_begin_array(j, "touches");
	for (uint32_t k = 0; k < e->ntouch; k++) {
		const struct causal_touch *t = &r->touches[e->touch + k];
		json_begin_object(j, NULL);
		variable(p, "variable", t->var, t->elem, j);
		json_text(j, "mode", t->write ? "write" : "read");
		if (t->valued && t->looked)
			value(p, "found", t->var, t->found, j);
		if (t->valued && t->write)
			value(p, "left", t->var, t->left, j);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

static void chain(const struct ir *p, const struct causal_run *r, struct json_out *j)
{
	json_begin_array(j, "chain");
	for (uint32_t i = 0; i < r->nlinks; i++) {
		const struct causal_link *k = &r->links[i];
		json_begin_object(j, NULL);
		json_uint(j, "from", k->from + 1);
		json_uint(j, "to", k->to + 1);
		if (k->var == IR_NONE)
			json_nothing(j, "by");
		else
			variable(p, "by", k->var, k->elem, j);
		json_end(j);
	}
	json_end(j);
}

static void run(const struct ir *p, const struct causal_run *r, struct json_out *j)
{
	static const char *const concrete[] = { "not tried", "possible", "impossible", "not known" };
	json_line(j, 5);
	json_begin_object(j, "causal");
	json_bool(j, "abstract", true);
	json_text(j, "concrete", concrete[r->concrete]);
	json_begin_object(j, "threads");
	for (uint32_t t = 0; t < p->ntemplates; t++)
		json_uint(j, p->templates[t].name, r->count[t]);
	json_end(j);
	json_bool(j, "smallest", r->smallest);
	json_line(j, 6);
	json_begin_array(j, "events");
	for (uint32_t i = 0; i < r->nevents; i++)
		event(p, r, i, j);
	json_line(j, 6);
	json_end(j);
	json_line(j, 6);
	chain(p, r, j);
	if (r->schedule) {
		json_line(j, 6);
		json_text(j, "schedule", r->schedule);
	}
	json_end(j);
}

/* "Chain: worker 1: read data, before meddler: write data (data), ..." */
static void sentence(const struct ir *p, const struct verdict *v, struct json_out *j)
{
	const struct causal_run *r = v->causal;
	struct buf text;
	buf_init(&text);
	buf_str(&text, v->block == VERDICT_PROGRAM ? "Blocks have to come before each other: "
	                                           : "A causal chain leaves the block and comes back to it: ");
	for (uint32_t i = 0; i < r->nlinks; i++) {
		const struct causal_link *k = &r->links[i];
		if (!i || r->links[i - 1].to != k->from) {
			buf_str(&text, i ? "; and in that block " : "");
			causal_thread_text(p, r, r->events[k->from].thread, &text);
			buf_str(&text, ": ");
			causal_event_text(p, r, k->from, false, &text);
		}
		buf_str(&text, ", before ");
		causal_thread_text(p, r, r->events[k->to].thread, &text);
		buf_str(&text, ": ");
		causal_event_text(p, r, k->to, false, &text);
	}
	buf_char(&text, '.');
	json_line(j, 5);
	made(j, "sentence", &text);
}

static void marks(const struct causal_run *r, struct json_out *j)
{
	json_begin_array(j, "marks");
	for (uint32_t e = 0; e < r->nevents; e++)
		for (uint32_t i = 0; i < r->nlinks; i++)
			if (r->links[i].from == e || r->links[i].to == e) {
				json_uint(j, NULL, e + 1);
				break;
			}
	json_end(j);
}

void causal_json(const struct ir *p, const struct verdict *v, struct json_out *j)
{
	if (v->events) {
		json_uint(j, "conditions", v->conditions);
		json_uint(j, "events", v->events);
		json_uint(j, "cutoffs", v->cutoffs);
	}
	if (!v->causal)
		return;
	sentence(p, v, j);
	marks(v->causal, j);
	run(p, v->causal, j);
}
