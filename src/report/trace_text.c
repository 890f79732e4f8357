/*
 * trace_text: a result of `intact trace`, as a document has it, for a terminal:
 * the verdict, each block that is not atomic with its cycle, what other schedules
 * could do, and of a recording what the run itself found.
 */
#include <string.h>

#include "base/invariant.h"
#include "base/utf8.h"
#include "event/event.h"
#include "report/doc.h"
#include "report/finding.h"
#include "report/line.h"
#include "report/trace_judged.h"

struct trace_text_out { /* the document is a file: what it says goes through buf_safe */
	struct buf *b;
	unsigned width;
	bool color, full;
};

static uint64_t number(const json_t *o, const char *key)
{
	return (uint64_t)doc_number(o, key);
}

static void member(struct buf *out, const json_t *o, const char *key, const char *otherwise)
{
	const char *s = doc_text(o, key);
	buf_safe(out, *s ? s : otherwise, strlen(*s ? s : otherwise));
}

static void plural(struct buf *out, uint64_t n, const char *word)
{
	buf_printf(out, "%llu %s%s", (ull)n, word, n == 1 ? "" : "s");
}

static void bold(const struct trace_text_out *o, bool on)
{
	if (o->color)
		buf_str(o->b, on ? BOLD : RESET);
}

/* ---- the verdict -------------------------------------------------------- */

/* Is a finding of the run about a block? Others are about data and locks. */
static bool about_block(const json_t *run)
{
	size_t i;
	const json_t *f;
	json_array_foreach(json_object_get(run, "results"), i, f)
	{
		if (!hazard_named(doc_text(f, "kind")))
			return true;
	}
	return !json_array_size(json_object_get(run, "results"));
}

/* Of a recording: the findings of the run, and what the marked blocks add. */
static void headline_recorded(const json_t *r, const json_t *run, struct buf *out)
{
	uint64_t n = number(run, "findings"), confirmed = number(run, "confirmed"), blocks = number(r, "blocks");
	if (!n && json_is_true(json_object_get(run, "cut"))) {
		buf_str(out, "unknown: there were more findings than can be kept");
		return;
	}
	if (!n) {
		buf_str(out, "nothing found: ");
		if (blocks)
			plural(out, blocks, "marked block");
		else
			buf_str(out, "no block is marked, and no function is reported");
		buf_str(out, blocks ? ", serializable" : "");
		return;
	}
	buf_str(out, about_block(run) ? "not atomic: " : "found: ");
	plural(out, n, "finding");
	if (confirmed == n)
		buf_str(out, n == 1 ? ", confirmed" : ", all confirmed");
	else if (confirmed)
		buf_printf(out, ", %llu confirmed and %llu predicted", (ull)confirmed, (ull)(n - confirmed));
	else
		buf_str(out, n == 1 ? ", predicted: another schedule can violate it"
		                    : ", all predicted: another schedule can violate them");
	if (blocks) {
		buf_str(out, "; the ");
		plural(out, blocks, "marked block");
		buf_str(out, blocks == 1 ? " is serializable in this run" : " are serializable in this run");
	}
}

static void headline(const json_t *r, const json_t *run, struct buf *out)
{
	uint64_t bad = number(r, "violating_blocks"), blocks = number(r, "blocks");
	if (doc_is(r, "verdict", "error")) {
		buf_str(out, "not judged: it cannot be read, or cannot have happened");
	} else if (bad) {
		buf_printf(out, "not serializable: %llu of ", (ull)bad);
		plural(out, blocks, "block");
		buf_str(out, bad == 1 ? " is not atomic" : " are not atomic");
	} else if (*doc_text(r, "limit") && !number(run, "findings")) {
		buf_str(out, "unknown: out of ");
		member(out, r, "limit", "");
	} else if (run) {
		headline_recorded(r, run, out);
	} else {
		buf_str(out, "serializable: ");
		if (blocks)
			plural(out, blocks, "block");
		else
			buf_str(out, "there are no blocks");
	}
}

static void verdict_line(const json_t *r, const json_t *run, struct buf *out)
{
	bool limit = *doc_text(r, "limit") != 0;
	member(out, r, "file", "");
	buf_str(out, ": ");
	headline(r, run, out);
	buf_str(out, " (");
	plural(out, number(r, "events"), "event");
	if (number(run, "processes") > 1 && number(r, "process"))
		buf_printf(out, " of process %llu of %llu", (ull)number(r, "process"), (ull)number(run, "processes"));
	else if (number(run, "processes") > 1)
		buf_printf(out, " of the first of %llu processes", (ull)number(run, "processes"));
	buf_char(out, ')');
	if (limit && (number(r, "violating_blocks") || number(run, "findings"))) {
		buf_str(out, ", then out of ");
		member(out, r, "limit", "");
		buf_str(out, ": there may be more");
	}
	if (json_is_true(json_object_get(r, "damaged")))
		buf_str(out, ", the readable part");
	buf_char(out, '\n');
}

/* ---- cycles ------------------------------------------------------------- */

/* "block `f` begun at 12 (event 3)" */
static void block_show(const json_t *b, struct buf *out)
{
	buf_str(out, "block ");
	if (*doc_text(b, "label")) {
		buf_char(out, '`');
		member(out, b, "label", "");
		buf_str(out, "` ");
	}
	buf_str(out, "begun at ");
	member(out, b, "place", "?");
	buf_printf(out, " (event %llu)", (ull)number(b, "event"));
}

/* One event of the cycle; `what` closes the line, or stands below when the
 * line would be wider than the terminal. Long names are cut. */
static void event_line(const struct trace_text_out *o, const json_t *e, const char *what)
{
	assert(what);
	struct line l = { o->b, false, 0, 0 };
	struct buf b;
	unsigned need = (unsigned)utf8_columns(what, strlen(what)), width = o->width;
	buf_init(&b);
	buf_printf(&b, "    event %llu", (ull)number(e, "event"));
	line_put(&l, NULL, buf_cstr(&b), b.len);
	buf_clear(&b);
	member(&b, e, "thread", "");
	line_pad(&l, 19);
	line_fit(&l, NULL, buf_cstr(&b), b.len, 24, "...");
	buf_clear(&b);
	member(&b, e, "op", "");
	buf_str(&b, " at ");
	member(&b, e, "place", "?");
	line_pad(&l, l.at < 28 ? 28 : l.at + 1);
	line_fit(&l, NULL, buf_cstr(&b), b.len, width > l.at + 40 ? width - l.at - 4 : 40, "...");
	line_pad(&l, l.at < 56 ? 56 : l.at + 1);
	if (l.at + l.pending + need > width && need + 8 < width) {
		buf_char(o->b, '\n');
		l = (struct line){ o->b, false, 0, need + 28 <= width ? 28 : 8 };
	}
	line_put(&l, NULL, what, strlen(what));
	buf_char(o->b, '\n');
	buf_free(&b);
}

/* Of a long cycle the middle is left out. */
enum { LINKS_SHOWN = 24 };

static bool is_kind(const json_t *e, enum event_kind k)
{
	assert(k < EVENT_KINDS);
	const char *op = doc_text(e, "op");
	size_t n = strlen(event_kind_name[k]);
	return !strncmp(op, event_kind_name[k], n) && op[n] == '(';
}

/* The reason that connects the two ends of a link. */
static const char *reason(const json_t *link)
{
	const json_t *from = json_object_get(link, "from"), *to = json_object_get(link, "to");
	if (is_kind(from, EVENT_WRITE))
		return is_kind(to, EVENT_WRITE) ? "overwritten by" : "read by";
	if (is_kind(from, EVENT_READ) && is_kind(to, EVENT_WRITE))
		return "then overwritten by";
	if (is_kind(from, EVENT_REL) && is_kind(to, EVENT_ACQ))
		return "lock passed on to";
	return is_kind(from, EVENT_FORK) ? "starts" : "awaited by";
}

/* Do both belong to one transaction? */
static bool same_transaction(const json_t *a, const json_t *b)
{
	uint64_t x = number(json_object_get(a, "block"), "event"), y = number(json_object_get(b, "block"), "event");
	return !strcmp(doc_text(a, "thread"), doc_text(b, "thread")) && x == y && (x || number(a, "event") == number(b, "event"));
}

static void cycle_text(const struct trace_text_out *o, const json_t *cycle)
{
	struct buf b;
	size_t n = json_array_size(cycle);
	buf_init(&b);
	for (size_t i = 0; i < n; i++) {
		if (n > LINKS_SHOWN && i == LINKS_SHOWN / 2 && !o->full) {
			size_t hidden = n - LINKS_SHOWN;
			buf_printf(o->b, "    ... %zu links left out (--json has them)\n", hidden);
			i += hidden;
		}
		const json_t *link = json_array_get(cycle, i), *next = json_array_get(cycle, i + 1);
		const json_t *from = json_object_get(link, "from"), *to = json_object_get(link, "to");
		const json_t *before = i ? json_object_get(json_array_get(cycle, i - 1), "to") : NULL;
		if (!before || number(before, "event") != number(from, "event")) {
			buf_clear(&b);
			buf_printf(&b, "%s %s",
			           !before                          ? "in the block;"
			           : same_transaction(before, from) ? "in the same block;"
			                                            : "later in that thread;",
			           reason(link));
			event_line(o, from, buf_cstr(&b));
		}
		buf_clear(&b);
		if (!next) {
			buf_str(&b, "in the block: closes the cycle");
		} else {
			buf_str(&b, json_object_get(to, "block") ? "in the " : "outside of blocks");
			if (json_object_get(to, "block"))
				block_show(json_object_get(to, "block"), &b);
			if (number(json_object_get(next, "from"), "event") == number(to, "event"))
				buf_printf(&b, "; %s", reason(next));
		}
		event_line(o, to, buf_cstr(&b));
	}
	buf_free(&b);
}

/* The others on the cycle, as text. */
static void advice(const json_t *f, struct buf *out)
{
	const json_t *first = json_array_get(json_object_get(f, "cycle"), 0), *inner = json_object_get(f, "inner");
	if (!json_is_true(json_object_get(f, "alone"))) {
		buf_str(out, "    Each of these blocks must come before the next, and the last before the first:\n"
		             "    they cannot all be atomic.\n");
		return;
	}
	buf_str(out, "    Between ");
	member(out, json_object_get(first, "from"), "op", "");
	buf_str(out, " and ");
	member(out, json_object_get(f, "closing"), "op", "");
	buf_str(out, " of this block, thread ");
	member(out, json_object_get(first, "to"), "thread", "");
	buf_str(out, " intervened:\n    no serial order of the block gives the same result.\n");
	if (inner) {
		buf_str(out, "    The nested ");
		block_show(inner, out);
		buf_str(out, " holds both and is not atomic either.\n");
	}
}

static void times(const json_t *f, struct buf *out)
{
	if (number(f, "count") > 1)
		buf_printf(out, "   [%llu times at these places; the first:]", (ull)number(f, "count"));
	buf_char(out, '\n');
}

static void cycles(const struct trace_text_out *o, const json_t *r)
{
	const json_t *f;
	size_t i;
	uint64_t more = number(r, "findings_not_shown");
	json_array_foreach(json_object_get(r, "findings"), i, f)
	{
		const json_t *closing = json_object_get(f, "closing"), *cycle = json_object_get(f, "cycle");
		buf_printf(o->b, "\n%zu. ", i + 1);
		bold(o, true);
		buf_str(o->b, "thread ");
		member(o->b, closing, "thread", "");
		buf_str(o->b, ": ");
		block_show(json_object_get(closing, "block"), o->b);
		buf_str(o->b, " is not atomic");
		bold(o, false);
		times(f, o->b);
		if (!json_array_size(cycle)) {
			event_line(o, closing, "closes a cycle that is too long to record");
			continue;
		}
		cycle_text(o, cycle);
		advice(f, o->b);
	}
	if (more)
		buf_printf(o->b, "\n... and %llu more violating block%s at other places (--limit=0 shows all)\n", (ull)more,
		           more == 1 ? "" : "s");
}

/* ---- predictions -------------------------------------------------------- */

static void predicted_line(const char *what, const json_t *e, struct buf *out)
{
	size_t from = out->len;
	buf_printf(out, "    %-22s ", what);
	member(out, e, "thread", "");
	buf_char(out, ' ');
	if (*doc_text(e, "label"))
		buf_str(out, event_kind_name[EVENT_BEGIN]); /* its label stands above */
	else
		member(out, e, "op", "");
	buf_str(out, " at ");
	member(out, e, "place", "?");
	size_t w = out->len - from;
	buf_repeat(out, ' ', w < 56 ? 56 - w : 1);
	if (number(e, "event"))
		buf_printf(out, "event %llu", (ull)number(e, "event"));
	buf_char(out, '\n');
}

enum { RUNS_SHOWN = 12 };

/* Runs of consecutive numbers: 12-17, 20 */
static void runs(const json_t *list, struct buf *out)
{
	const json_t *r;
	size_t i;
	json_array_foreach(list, i, r)
	{
		ull a = (ull)json_integer_value(json_array_get(r, 0)), b = (ull)json_integer_value(json_array_get(r, 1));
		if (i == RUNS_SHOWN) {
			buf_str(out, ", ...");
			return;
		}
		buf_printf(out, "%s%llu", i ? ", " : "", a);
		if (b != a)
			buf_printf(out, "-%llu", b);
	}
}

static void schedule(const json_t *f, struct buf *out)
{
	const json_t *parts = json_object_get(f, "parts"), *first = json_object_get(parts, "first");
	const char *const who[] = { "between", "second" }, *const what[] = { "other", "rest" };
	uint64_t start = number(f, "as_recorded_before");
	buf_str(out, "    A run that shows it: ");
	if (start > 1)
		buf_printf(out, "events 1-%llu as recorded, then ", (ull)(start - 1));
	if (json_array_size(first)) {
		buf_str(out, "events ");
		runs(first, out);
		if (!json_array_size(json_object_get(parts, "rest"))) { /* in no such shape */
			buf_str(out, ", in this order.\n");
			return;
		}
		buf_str(out, ", then ");
	}
	for (int i = 0; i < 2; i++) {
		buf_str(out, i ? ", then " : "");
		member(out, json_object_get(f, who[i]), "thread", "");
		buf_str(out, " does ");
		runs(json_object_get(parts, what[i]), out);
	}
	buf_str(out, ".\n");
}

static void prediction(const struct trace_text_out *o, const json_t *f, size_t n)
{
	assert(n);
	static const struct {
		const char *what, *key;
	} lines[2][4] = {
		{ { "entered at", "begin" }, { "commits at", "commits" }, { "violated at", "violated" } },
		{ { "in the block", "first" },
		  { "can come between", "between" },
		  { "and", "until" },
		  { "in the block", "second" } },
	};
	const json_t *begin = json_object_get(f, "begin");
	bool proven = doc_is(f, "kind", "proven");
	buf_printf(o->b, "\nP%zu. ", n);
	bold(o, true);
	buf_str(o->b, "thread ");
	member(o->b, json_object_get(f, proven ? "second" : "violated"), "thread", "");
	buf_str(o->b, ": block ");
	if (*doc_text(begin, "label")) {
		buf_char(o->b, '`');
		member(o->b, begin, "label", "");
		buf_str(o->b, "` ");
	}
	buf_str(o->b, "begun at ");
	member(o->b, begin, "place", "?");
	buf_str(o->b, proven ? " can be broken (proven)" : " may not be atomic (possible)");
	bold(o, false);
	times(f, o->b);
	for (int i = 0; i < 4 && lines[proven][i].what; i++)
		if (json_object_get(f, lines[proven][i].key))
			predicted_line(lines[proven][i].what, json_object_get(f, lines[proven][i].key), o->b);
	if (proven)
		schedule(f, o->b);
}

static void predictions(const struct trace_text_out *o, const json_t *p)
{
	const json_t *all = json_object_get(p, "findings"), *f;
	uint64_t proven = number(p, "proven"), possible = number(p, "possible");
	size_t i, n = 0;
	buf_printf(o->b, "\nother schedules: %llu proven, %llu possible\n", (ull)proven, (ull)possible);
	for (int first = 1; first >= 0; first--)
		json_array_foreach(all, i, f) if (doc_is(f, "kind", "proven") == (first != 0)) prediction(o, f, ++n);
	if (n < proven + possible)
		buf_printf(o->b, "\n... and %llu more (--limit=0 shows all)\n", (ull)(proven + possible - n));
}

void trace_text(const json_t *result, const struct trace_text_options *how, struct buf *out)
{
	assert(json_is_object(result) && how);
	const struct trace_text_out o = { out, how->width, how->color, how->full };
	const json_t *run = json_object_get(result, "run"), *predicted = json_object_get(result, "predicted");
	verdict_line(result, run, out);
	if (how->quiet)
		return;
	cycles(&o, result);
	if (predicted)
		predictions(&o, predicted);
	if (number(result, "violating_blocks") || predicted)
		buf_char(out, '\n');
	if (run)
		findings_text(run, &(struct finding_text_options){ .color = how->color }, out);
}
