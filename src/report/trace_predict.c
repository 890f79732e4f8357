#include "report/trace_predict.h"

#include "report/trace_report.h"
#include "event/event.h"

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

void predict_text(const struct predictions *p, const struct trace_names *t, bool color,
                  struct buf *out)
{
	size_t n = p->n;
	const struct predicted *list = p->list;
	uint64_t proven = p->proven, possible = p->possible;
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
	json_event_line(t, e->event, out);
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

void predict_json(const struct predictions *p, const struct trace_names *t, struct buf *out)
{
	size_t n = p->n;
	const struct predicted *list = p->list;
	struct buf tmp;
	buf_init(&tmp);
	buf_printf(out, "{\"proven\":%llu,\"possible\":%llu,\"findings\":[",
	           (ull)p->proven, (ull)p->possible);
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
