/*
 * explore_json: a result of `intact explore` as a document (docs/json.md). No
 * address, no time, no process number: the same seed gives the same bytes.
 */
#include <string.h>

#include "report/doc.h"
#include "report/explore.h"

static void member(struct buf *b, const char *name, const char *text)
{
	buf_printf(b, "\"%s\": ", name);
	buf_json(b, text, strlen(text));
}

static const char *yes(bool v)
{
	return v ? "true" : "false";
}

static void place(struct buf *b, const struct explore_place *p)
{
	const char *comma = "";
	buf_char(b, '{');
	if (p->function) {
		member(b, "function", p->function);
		comma = ", ";
	}
	if (p->file) {
		buf_str(b, comma);
		member(b, "file", p->file);
		buf_printf(b, ", \"line\": %u", p->line);
	} else if (p->module) {
		buf_str(b, comma);
		member(b, "module", p->module);
		buf_printf(b, ", \"offset\": %llu", (unsigned long long)p->offset);
	}
	buf_char(b, '}');
}

static void places(struct buf *b, const char *name, const struct explore_place *p, uint32_t n)
{
	buf_printf(b, "\"%s\": [", name);
	for (uint32_t i = 0; i < n; i++) {
		buf_str(b, i ? ", " : "");
		place(b, &p[i]);
	}
	buf_char(b, ']');
}

static void threads(struct buf *b, const struct explore_failure *f)
{
	buf_str(b, ",\n  \"threads\": [");
	for (uint32_t i = 0; i < f->threads.len; i++) {
		const struct explore_thread *t = &f->threads.data[i];
		buf_printf(b, "%s\n   {\"number\": %u, ", i ? "," : "", i);
		member(b, "name", t->name);
		buf_printf(b, ", \"parent\": %u, \"created\": ", t->parent);
		place(b, &t->created);
		buf_str(b, ", ");
		member(b, "state", t->state);
		if (t->waits) {
			buf_str(b, ", ");
			member(b, "waits", t->waits);
			buf_str(b, ", \"at\": ");
			place(b, &t->at);
		}
		buf_char(b, '}');
	}
	buf_char(b, ']');
}

static void steps(struct buf *b, const struct explore_failure *f)
{
	buf_str(b, ",\n  \"steps\": [");
	for (uint32_t i = 0; i < f->steps.len; i++) {
		const struct explore_step *s = &f->steps.data[i];
		buf_printf(b, "%s\n   {\"thread\": %u, ", i ? "," : "", s->thread);
		member(b, "op", s->op);
		buf_str(b, ", ");
		member(b, "text", s->text);
		buf_printf(b, ", \"choices\": %u, \"preempts\": %s, \"at\": ", s->enabled, yes(s->preempts));
		place(b, &s->at);
		if (s->nstack) {
			buf_str(b, ", ");
			places(b, "stack", s->stack, s->nstack);
		}
		buf_char(b, '}');
	}
	buf_char(b, ']');
}

static void failure(struct buf *b, const struct explore_failure *f)
{
	buf_str(b, "\n {");
	member(b, "kind", f->kind);
	buf_str(b, ", \"verdict\": \"violated\", ");
	member(b, "title", f->title);
	buf_str(b, ", ");
	member(b, "sentence", f->sentence);
	buf_str(b, ", \"at\": ");
	place(b, &f->at);
	buf_printf(b, ", \"schedule\": %llu, \"preemptions\": %u, \"switches\": %u", (unsigned long long)f->schedule,
	           f->preemptions, f->switches);
	buf_str(b, ",\n  ");
	places(b, "stack", f->stack.data, f->stack.len);
	if (f->gone) {
		buf_str(b, ", ");
		member(b, "gone", f->gone);
	}
	threads(b, f);
	steps(b, f);
	if (f->cycle.len) {
		buf_str(b, ",\n  \"cycle\": [");
		for (uint32_t i = 0; i < f->cycle.len; i++)
			for (int k = 0; k < 2; k++) {
				buf_str(b, i || k ? ", {" : "{");
				member(b, "text", f->cycle.data[i].what[k]);
				buf_str(b, ", \"at\": ");
				place(b, &f->cycle.data[i].at[k]);
				buf_char(b, '}');
			}
		buf_char(b, ']');
	}
	buf_str(b, ",\n  ");
	member(b, "output", f->output ? f->output : "");
	buf_printf(b, ", \"output_bytes\": %llu}", (unsigned long long)f->output_bytes);
}

static void race(struct buf *b, const struct explore_race *r)
{
	buf_str(b, "\n {\"kind\": \"race\", \"verdict\": \"violated\", ");
	member(b, "data", r->what);
	buf_printf(b, ", \"size\": %u, \"schedule\": %llu, \"accesses\": [", r->size, (unsigned long long)r->schedule);
	for (int i = 0; i < 2; i++) {
		buf_printf(b, "%s{\"thread\": %u, \"write\": %s, \"atomic\": %s, \"at\": ", i ? ", " : "", r->thread[i],
		           yes(r->write[i]), yes(r->atomic[i]));
		place(b, &r->at[i]);
		buf_char(b, '}');
	}
	buf_str(b, "]}");
}

void explore_json(const struct explore_report *r, struct buf *b)
{
	buf_char(b, '{');
	doc_begin(b, "explore");
	buf_printf(b, ", \"verdict\": \"%s\", ", explore_verdict(r));
	member(b, "program", r->program);
	buf_str(b, ", \"arguments\": [");
	for (uint32_t i = 0; i < r->narguments; i++) {
		buf_str(b, i ? ", " : "");
		buf_json(b, r->arguments[i], strlen(r->arguments[i]));
	}
	buf_str(b, "],\n ");
	member(b, "strategy", r->strategy);
	buf_str(b, ", ");
	member(b, "mode", r->mode);
	buf_printf(b, ", \"seed\": %llu, \"schedules\": %llu, \"cut\": %llu, \"points\": %llu, \"traces\": %llu, "
	           "\"traces_are_a_lower_bound\": %s, \"exhaustive\": %s, \"pairs\": %llu, \"pairs_in_both_orders\": %llu, "
	           "\"traces_judged\": %llu, \"traces_not_judged\": %llu",
	           (unsigned long long)r->seed, (unsigned long long)r->schedules, (unsigned long long)r->cut,
	           (unsigned long long)r->points, (unsigned long long)r->traces, yes(r->traces_full),
	           yes(r->exhausted && !r->bounded && !r->cut), (unsigned long long)r->pairs,
	           (unsigned long long)r->pairs_both, (unsigned long long)r->judged, (unsigned long long)r->unjudged);
	if (r->awaits)
		buf_str(b, ", \"awaits\": true");
	if (r->cancels)
		buf_str(b, ", \"cancels\": true");
	if (r->estimate_known)
		buf_printf(b, ", \"estimated_traces\": %.0f", r->estimate_total);
	if (r->why_fork) {
		buf_str(b, ",\n ");
		member(b, "why_fork", r->why_fork);
	}
	buf_str(b, ",\n\"results\": [");
	if (r->failure)
		failure(b, r->failure);
	for (uint32_t i = 0; i < r->races.len; i++) {
		buf_str(b, i || r->failure ? "," : "");
		race(b, &r->races.data[i]);
	}
	buf_str(b, "]}\n");
}
