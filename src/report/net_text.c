/* net_text: a result of `intact net`, as a document has it, for a terminal. */
#include <string.h>

#include "report/doc.h"
#include "report/render.h"

enum { PLACES_SHOWN = 40, RUN_SHOWN = 60, RUN_HEAD = 40, RUN_TAIL = 10 };

static void name(const json_t *list, size_t i, struct buf *out)
{
	const json_t *s = json_array_get(list, i);
	buf_safe(out, json_is_string(s) ? json_string_value(s) : "", json_string_length(s));
}

static void places(const json_t *list, struct buf *out)
{
	size_t n = json_array_size(list);
	for (size_t i = 0; i < n && i <= PLACES_SHOWN; i++) {
		buf_str(out, i ? ", " : "");
		if (i < PLACES_SHOWN)
			name(list, i, out);
		else
			buf_printf(out, "... (%zu in all)", n);
	}
}

/* Where it is so, and the run that leads there, without the middle when it is long. */
static void witness(const json_t *answer, struct buf *out)
{
	const json_t *marking = json_object_get(answer, "marking"), *run = json_object_get(answer, "run");
	size_t n = json_array_size(run);
	buf_str(out, json_array_size(marking) ? "{ " : "{");
	places(marking, out);
	buf_str(out, " }\n          ");
	if (!n)
		buf_str(out, "initially");
	else
		buf_printf(out, "after %zu firing%s:", n, n > 1 ? "s" : "");
	for (size_t i = 0; i < n; i++) {
		bool middle = n > RUN_SHOWN && i >= RUN_HEAD && i + RUN_TAIL < n;
		if (!middle || i == RUN_HEAD)
			buf_str(out, middle ? " ..." : " ");
		if (!middle)
			name(run, i, out);
	}
	buf_char(out, '\n');
}

static void limit(const json_t *o, struct buf *out)
{
	buf_safe(out, doc_text(o, "limit"), strlen(doc_text(o, "limit")));
}

static void deadlock(const json_t *d, struct buf *out)
{
	buf_printf(out, "deadlock  %s", doc_text(d, "answer"));
	if (doc_is(d, "answer", "yes")) {
		buf_str(out, ": nothing can fire at ");
		witness(d, out);
	} else if (doc_is(d, "answer", "unknown")) {
		buf_str(out, " (");
		limit(d, out);
		buf_str(out, ")\n");
	} else {
		buf_str(out, " (decided on the prefix)\n");
	}
}

static void cover(const json_t *c, struct buf *out)
{
	buf_str(out, "cover     ");
	places(json_object_get(c, "places"), out);
	if (doc_is(c, "answer", "yes")) {
		buf_str(out, ": reachable, for example at ");
		witness(c, out);
	} else if (doc_is(c, "answer", "unknown")) {
		buf_str(out, ": unknown (");
		limit(c, out);
		buf_str(out, ")\n");
	} else {
		buf_str(out, ": not reachable (decided on the prefix)\n");
	}
}

void net_result_text(const json_t *r, struct buf *out)
{
	if (*doc_text(r, "limit")) {
		buf_str(out, "unknown: the limit on ");
		limit(r, out);
		buf_printf(out, " was reached after %lld events\n", (long long)doc_number(r, "events"));
		return;
	}
	buf_printf(out, "net       %lld places, %lld transitions, %lld initially marked\n", (long long)doc_number(r, "places"),
	           (long long)doc_number(r, "transitions"), (long long)doc_number(r, "initially_marked"));
	buf_printf(out, "prefix    %lld events, %lld of them cut-offs; %lld conditions\n", (long long)doc_number(r, "events"),
	           (long long)doc_number(r, "cutoffs"), (long long)doc_number(r, "conditions"));
	buf_str(out, "1-safe    yes\n");
	if (json_object_get(r, "deadlock"))
		deadlock(json_object_get(r, "deadlock"), out);
	if (json_object_get(r, "cover"))
		cover(json_object_get(r, "cover"), out);
}
