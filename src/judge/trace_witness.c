#include "judge/trace_recorded.h"

#include <stdlib.h>

#include "base/invariant.h"
#include "event/order.h"
#include "event/reader.h"
#include "event/writer.h"

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
static const char *copy(struct trace_reader *r, struct trace_writer *w, struct order *ord, const struct predicted *f,
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

bool predict_witness(const struct predictions *p, const char *file, const char *to, bool *found, struct why *why)
{
	size_t n = p->n;
	const struct predicted *f = p->list;
	while (n && f->kind != PREDICT_PROVEN) {
		f++;
		n--;
	}
	*found = n > 0;
	assert(!n || f->norder);
	if (!n)
		return true;
	struct ranked *want = calloc(f->norder, sizeof *want);
	struct event *out = calloc(f->norder, sizeof *out);
	struct order *ord = order_new(file, true, NULL, NULL);
	struct trace_reader *r = trace_open(file, NULL, NULL);
	struct writer_opts wo = { .format = FORMAT_STD };
	struct trace_writer *w = NULL;
	why_set(why, "%s", r ? "out of memory" : "the trace cannot be read a second time");
	if (want && out && ord && r)
		w = writer_open(to, &wo, trace_reader_names(r), why);
	bool ok = w != NULL;
	if (w) {
		for (size_t i = 0; i < f->norder; i++)
			want[i] = (struct ranked){ f->order[i], i };
		qsort(want, f->norder, sizeof *want, by_event);
		const char *wrong = copy(r, w, ord, f, want, out);
		if (wrong)
			why_set(why, "%s", wrong);
		ok = writer_close(w, why) && !wrong;
	}
	trace_close(r);
	order_free(ord);
	free(want);
	free(out);
	return ok;
}
