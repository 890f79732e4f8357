#include "report/trace_judged.h"

#include "event/event.h"
#include "report/trace_report.h"

static void event(const struct trace_names *t, const char *key, const struct predict_event *e, struct buf *tmp, struct json_out *j)
{
	struct trace_event one = { e->event, e->thread, e->target, e->loc, e->kind };
	json_begin_object(j, key);
	json_event(t, &one, tmp, j);
	if (e->kind == EVENT_BEGIN && e->target) {
		buf_clear(tmp);
		names_show(&t->ns[NS_LABEL], e->target, tmp);
		json_text_buf(j, "label", tmp);
	}
	json_end(j);
}

/* Runs of consecutive numbers, from and to, of one part of the witness. */
static void part(const struct predicted *f, const char *key, size_t from, size_t to, struct json_out *j)
{
	json_begin_array(j, key);
	for (size_t a = from, b; a < to; a = b) {
		for (b = a + 1; b < to && f->order[b] == f->order[b - 1] + 1; b++)
			;
		json_begin_array(j, NULL);
		json_uint(j, NULL, f->order[a]);
		json_uint(j, NULL, f->order[b - 1]);
		json_end(j);
	}
	json_end(j);
}

void predict_json(const struct predictions *p, const struct trace_names *t, struct json_out *j)
{
	struct buf tmp;
	buf_init(&tmp);
	json_begin_object(j, "predicted");
	json_uint(j, "proven", p->proven);
	json_uint(j, "possible", p->possible);
	json_begin_array(j, "findings");
	for (size_t i = 0; i < p->n; i++) {
		const struct predicted *f = &p->list[i];
		bool proven = f->kind == PREDICT_PROVEN;
		json_begin_object(j, NULL);
		json_text(j, "kind", proven ? "proven" : "possible");
		json_uint(j, "count", f->count);
		event(t, "begin", &f->begin, &tmp, j);
		event(t, proven ? "first" : "commits", &f->first, &tmp, j);
		if (proven)
			event(t, "between", &f->between, &tmp, j);
		if (proven && f->until.event)
			event(t, "until", &f->until, &tmp, j);
		event(t, proven ? "second" : "violated", &f->second, &tmp, j);
		if (proven) {
			json_uint(j, "as_recorded_before", f->start);
			part(f, "then", 0, f->norder, j);
			json_begin_object(j, "parts");
			part(f, "first", 0, f->remote, j);
			part(f, "other", f->remote, f->local, j);
			part(f, "rest", f->local, f->norder, j);
			json_end(j);
		}
		json_end(j);
	}
	json_end(j);
	json_end(j);
	buf_free(&tmp);
}
