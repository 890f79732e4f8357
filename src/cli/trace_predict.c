#include "cli/trace_predict.h"

#include <stdlib.h>
#include <string.h>

#include "cli/trace_report.h"
#include "event/order.h"
#include "event/reader.h"
#include "event/writer.h"

typedef unsigned long long ull;

static void line(const struct trace_names *t, const char *what,
                 const struct predict_event *e, struct buf *out)
{
	size_t from = out->len;
	buf_printf(out, "    %-22s ", what);
	names_show(&t->ns[NS_THREAD], e->thread, out);
	buf_char(out, ' ');
	op_show(t, e->kind, e->kind == EVENT_BEGIN ? 0 : e->target, out);
	buf_str(out, " at ");
	loc_show(t, e->loc, out);
	size_t w = out->len - from;
	buf_repeat(out, ' ', w < 56 ? 56 - w : 1);
	if (e->event)
		buf_printf(out, "event %llu", (ull)e->event);
	buf_char(out, '\n');
}

static void head(const struct predicted *f, const struct trace_names *t, size_t number,
                 bool color, struct buf *out)
{
	buf_printf(out, "\nP%zu. %sthread ", number, color ? "\033[1m" : "");
	names_show(&t->ns[NS_THREAD], f->second.thread, out);
	buf_str(out, ": block ");
	if (f->begin.target) {
		buf_char(out, '`');
		names_show(&t->ns[NS_LABEL], f->begin.target, out);
		buf_str(out, "` ");
	}
	buf_str(out, "begun at ");
	loc_show(t, f->begin.loc, out);
	buf_str(out, f->kind == PREDICT_PROVEN ? " can be broken (proven)"
	                                       : " may not be atomic (possible)");
	buf_str(out, color ? "\033[0m" : "");
	if (f->count > 1)
		buf_printf(out, "   [%llu times at these places; the first:]", (ull)f->count);
	buf_char(out, '\n');
}

/* Runs of consecutive numbers: 12-17, 20 */
static void runs(const uint64_t *o, size_t from, size_t to, size_t max, struct buf *out)
{
	size_t shown = 0;
	for (size_t i = from; i < to;) {
		size_t k = i + 1;
		while (k < to && o[k] == o[k - 1] + 1)
			k++;
		if (shown++ == max) {
			buf_str(out, ", ...");
			return;
		}
		buf_printf(out, "%s%llu", i > from ? ", " : "", (ull)o[i]);
		if (k > i + 1)
			buf_printf(out, "-%llu", (ull)o[k - 1]);
		i = k;
	}
}

static void schedule(const struct predicted *f, const struct trace_names *t,
                     struct buf *out)
{
	buf_str(out, "    A run that shows it: ");
	if (f->start > 1)
		buf_printf(out, "events 1-%llu as recorded, then ", (ull)(f->start - 1));
	if (f->remote) {
		buf_str(out, "events ");
		runs(f->order, 0, f->remote, 12, out);
		if (f->remote == f->norder) { /* no such shape */
			buf_str(out, ", in this order.\n");
			return;
		}
		buf_str(out, ", then ");
	}
	names_show(&t->ns[NS_THREAD], f->between.thread, out);
	buf_str(out, " does ");
	runs(f->order, f->remote, f->local, 12, out);
	buf_str(out, ", then ");
	names_show(&t->ns[NS_THREAD], f->second.thread, out);
	buf_str(out, " does ");
	runs(f->order, f->local, f->norder, 12, out);
	buf_str(out, ".\n");
}

void predict_text(const struct predict *p, const struct trace_names *t, bool color,
                  struct buf *out)
{
	size_t n;
	const struct predicted *list = predict_list(p, &n);
	uint64_t proven = predict_count(p, PREDICT_PROVEN);
	uint64_t possible = predict_count(p, PREDICT_POSSIBLE);
	buf_printf(out, "\nother schedules: %llu proven, %llu possible\n", (ull)proven,
	           (ull)possible);
	size_t number = 0;
	for (int kind = PREDICT_PROVEN; kind >= PREDICT_POSSIBLE; kind--)
		for (size_t i = 0; i < n; i++) {
			const struct predicted *f = &list[i];
			if ((int)f->kind != kind)
				continue;
			head(f, t, ++number, color, out);
			if (kind == PREDICT_PROVEN) {
				line(t, "in the block", &f->first, out);
				line(t, "can come between", &f->between, out);
				if (f->until.event)
					line(t, "and", &f->until, out);
				line(t, "in the block", &f->second, out);
				schedule(f, t, out);
			} else {
				line(t, "entered at", &f->begin, out);
				line(t, "commits at", &f->first, out);
				line(t, "violated at", &f->second, out);
			}
		}
	if (n < proven + possible)
		buf_printf(out, "\n... and %llu more (--limit=0 shows all)\n",
		           (ull)(proven + possible - n));
}

/* ---- JSON --------------------------------------------------------------- */

static void json_event(const struct trace_names *t, const char *key,
                       const struct predict_event *e, struct buf *tmp, struct buf *out)
{
	buf_printf(out, ",\"%s\":{\"event\":%llu", key, (ull)e->event);
	json_line(t, e->event, out);
	buf_str(out, ",\"thread\":");
	names_show(&t->ns[NS_THREAD], e->thread, tmp);
	buf_json(out, buf_cstr(tmp), tmp->len);
	buf_clear(tmp);
	buf_str(out, ",\"op\":");
	op_show(t, e->kind, e->target, tmp);
	buf_json(out, buf_cstr(tmp), tmp->len);
	buf_clear(tmp);
	if (e->loc != LOC_NONE) {
		buf_str(out, ",\"place\":");
		loc_show(t, e->loc, tmp);
		buf_json(out, buf_cstr(tmp), tmp->len);
		buf_clear(tmp);
	}
	buf_char(out, '}');
}

void predict_json(const struct predict *p, const struct trace_names *t, struct buf *out)
{
	size_t n;
	const struct predicted *list = predict_list(p, &n);
	struct buf tmp;
	buf_init(&tmp);
	buf_printf(out, "{\"proven\":%llu,\"possible\":%llu,\"findings\":[",
	           (ull)predict_count(p, PREDICT_PROVEN),
	           (ull)predict_count(p, PREDICT_POSSIBLE));
	for (size_t i = 0; i < n; i++) {
		const struct predicted *f = &list[i];
		bool proven = f->kind == PREDICT_PROVEN;
		buf_printf(out, "%s{\"kind\":\"%s\",\"count\":%llu", i ? "," : "",
		           proven ? "proven" : "possible", (ull)f->count);
		json_event(t, "begin", &f->begin, &tmp, out);
		json_event(t, proven ? "first" : "commits", &f->first, &tmp, out);
		if (proven)
			json_event(t, "between", &f->between, &tmp, out);
		if (proven && f->until.event)
			json_event(t, "until", &f->until, &tmp, out);
		json_event(t, proven ? "second" : "violated", &f->second, &tmp, out);
		if (proven) {
			/* pairs: from, to */
			buf_printf(out, ",\"as_recorded_before\":%llu,\"then\":[", (ull)f->start);
			for (size_t a = 0; a < f->norder;) {
				size_t b = a + 1;
				while (b < f->norder && f->order[b] == f->order[b - 1] + 1)
					b++;
				buf_printf(out, "%s[%llu,%llu]", a ? "," : "", (ull)f->order[a],
				           (ull)f->order[b - 1]);
				a = b;
			}
			buf_char(out, ']');
		}
		buf_char(out, '}');
	}
	buf_str(out, "]}");
	buf_free(&tmp);
}

/* ---- the witness as a trace --------------------------------------------- */

struct ranked {
	uint64_t event;
	size_t at; /* in the order */
};

static int by_event(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	return x->event < y->event ? -1 : x->event > y->event;
}

/* Copies the start of the trace, fills `out` with the events of the order. */
static const char *copy(struct trace_reader *r, struct trace_writer *w,
                        struct order *ord, const struct predicted *f,
                        const struct ranked *want, struct event *out)
{
	struct event *ev;
	size_t n, next = 0;
	while (next < f->norder && (n = trace_next(r, &ev))) {
		order_check(ord, ev, n, trace_reader_names(r));
		for (size_t i = 0; i < n && next < f->norder; i++) {
			if (ev[i].index < f->start) {
				if (!writer_put(w, &ev[i], 1))
					return "cannot write";
			} else if (ev[i].index == want[next].event) {
				out[want[next++].at] = ev[i];
			}
		}
	}
	if (next < f->norder)
		return "the trace has changed meanwhile";
	return writer_put(w, out, f->norder) ? NULL : "cannot write";
}

const char *predict_witness(const struct predict *p, const char *file, const char *to,
                            bool *found)
{
	size_t n;
	const struct predicted *f = predict_list(p, &n);
	const char *why = "out of memory", *closing = NULL;
	while (n && f->kind != PREDICT_PROVEN) {
		f++;
		n--;
	}
	*found = n > 0;
	if (!n)
		return NULL;
	struct ranked *want = calloc(f->norder, sizeof *want);
	struct event *out = calloc(f->norder, sizeof *out);
	struct order *ord = order_new(file, true, NULL, NULL);
	struct trace_reader *r = trace_open(file, NULL, NULL);
	struct writer_opts wo = { .format = FORMAT_STD };
	struct trace_writer *w = NULL;
	if (!r)
		why = "the trace cannot be read a second time";
	if (want && out && ord && r)
		w = writer_open(to, &wo, trace_reader_names(r), &why);
	if (w) {
		for (size_t i = 0; i < f->norder; i++)
			want[i] = (struct ranked){ f->order[i], i };
		qsort(want, f->norder, sizeof *want, by_event);
		why = copy(r, w, ord, f, want, out);
		if (!writer_close(w, &closing))
			why = closing;
	}
	trace_close(r);
	order_free(ord);
	free(want);
	free(out);
	return why;
}
