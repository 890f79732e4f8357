#include "report/causal_json.h"

#include <string.h>

#include "report/causal_text.h"
#include "report/check_text.h"
#include "report/step_text.h"

static void string(struct buf *out, const char *s)
{
	buf_json(out, s, strlen(s));
}

/* A text that is put together first. */
static void quoted(struct buf *out, struct buf *text)
{
	buf_json(out, buf_cstr(text), text->len);
	buf_free(text);
}

static void numbers(const struct ir *p, const uint32_t *count, struct buf *out)
{
	buf_str(out, "\"threads\": {");
	for (uint32_t t = 0; t < p->ntemplates; t++) {
		buf_str(out, t ? ", " : "");
		string(out, p->templates[t].name);
		buf_printf(out, ": %u", count[t]);
	}
	buf_char(out, '}');
}

static void variable(const struct ir *p, uint32_t var, uint32_t elem, struct buf *out)
{
	struct buf name;
	buf_init(&name);
	if (elem == IR_NONE)
		buf_str(&name, p->vars[var].name);
	else
		text_variable(p, var, elem, &name);
	quoted(out, &name);
}

static void value(const struct ir *p, const char *key, uint32_t var, int32_t x, struct buf *out)
{
	struct buf text;
	buf_init(&text);
	text_value(p, var, x, &text);
	buf_printf(out, ", \"%s\": ", key);
	quoted(out, &text);
}

static void event(const struct ir *p, const struct causal_run *r, uint32_t i, struct buf *out)
{
	const struct causal_event *e = &r->events[i];
	struct buf text;
	buf_printf(out, "        {\"event\": %u, \"thread\": ", i + 1);
	buf_init(&text);
	causal_thread_text(p, r, e->thread, &text);
	quoted(out, &text);
	buf_printf(out, ", \"line\": %u, \"text\": ", text_line(p, e->node));
	buf_init(&text);
	causal_event_text(p, r, i, false, &text);
	quoted(out, &text);
	if (e->block != IR_NONE) {
		buf_str(out, ", \"block\": ");
		string(out, p->blocks[e->block].name);
	}
	buf_str(out, ", \"touches\": [");
	for (uint32_t k = 0; k < e->ntouch; k++) {
		const struct causal_touch *t = &r->touches[e->touch + k];
		buf_str(out, k ? ", {\"variable\": " : "{\"variable\": ");
		variable(p, t->var, t->elem, out);
		buf_printf(out, ", \"mode\": \"%s\"", t->write ? "write" : "read");
		if (t->valued && t->looked)
			value(p, "found", t->var, t->found, out);
		if (t->valued && t->write)
			value(p, "left", t->var, t->left, out);
		buf_char(out, '}');
	}
	buf_printf(out, "]}%s\n", i + 1 < r->nevents ? "," : "");
}

static void run(const struct ir *p, const struct causal_run *r, struct buf *out)
{
	static const char *const concrete[] = { "not tried", "possible", "impossible", "not known" };
	buf_printf(out, ",\n     \"causal\": {\"abstract\": true, \"concrete\": \"%s\", ", concrete[r->concrete]);
	numbers(p, r->count, out);
	buf_printf(out, ", \"smallest\": %s,\n      \"events\": [\n", r->smallest ? "true" : "false");
	for (uint32_t i = 0; i < r->nevents; i++)
		event(p, r, i, out);
	buf_str(out, "      ],\n      \"chain\": [");
	for (uint32_t i = 0; i < r->nlinks; i++) {
		const struct causal_link *k = &r->links[i];
		buf_printf(out, "%s{\"from\": %u, \"to\": %u, \"by\": ", i ? ", " : "", k->from + 1, k->to + 1);
		if (k->var == IR_NONE)
			buf_str(out, "null");
		else
			variable(p, k->var, k->elem, out);
		buf_char(out, '}');
	}
	buf_char(out, ']');
	if (r->schedule) {
		buf_str(out, ",\n      \"schedule\": ");
		string(out, r->schedule);
	}
	buf_char(out, '}');
}

/* "Chain: worker 1: read data, before meddler: write data (data), ..." */
static void sentence(const struct ir *p, const struct verdict *v, struct buf *out)
{
	const struct causal_run *r = v->causal;
	struct buf text;
	buf_init(&text);
	buf_str(&text, v->block == VERDICT_PROGRAM ? "The blocks form a causal cycle: "
	                                           : "A causal chain leaves the block and returns to it: ");
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
	buf_str(out, ",\n     \"sentence\": ");
	quoted(out, &text);
}

static void marks(const struct causal_run *r, struct buf *out)
{
	bool first = true;
	buf_str(out, ", \"marks\": [");
	for (uint32_t e = 0; e < r->nevents; e++)
		for (uint32_t i = 0; i < r->nlinks; i++)
			if (r->links[i].from == e || r->links[i].to == e) {
				buf_printf(out, "%s%u", first ? "" : ", ", e + 1);
				first = false;
				break;
			}
	buf_char(out, ']');
}

void causal_json(const struct ir *p, const struct verdict *v, struct buf *out)
{
	if (v->events)
		buf_printf(out, ", \"conditions\": %llu, \"events\": %llu, \"cutoffs\": %llu",
		           (unsigned long long)v->conditions, (unsigned long long)v->events,
		           (unsigned long long)v->cutoffs);
	if (!v->causal)
		return;
	sentence(p, v, out);
	marks(v->causal, out);
	run(p, v->causal, out);
}
