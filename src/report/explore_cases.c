/*
 * explore_cases: the test cases of a program, each explored by itself, as text and as a document, and back. A case is
 * one member of `cases`; what was found in it is in `results`, with its name.
 */
#include <string.h>

#include "base/invariant.h"
#include "report/explore_int.h"

static const struct {
	const char *word, *many;
} outcomes[] = {
	[EXPLORE_VIOLATED] = { "VIOLATED", "violated" },
	[EXPLORE_NOT_EXPLORED] = { "not explored", "not explored" },
	[EXPLORE_UNKNOWN] = { "unknown", "unknown" },
	[EXPLORE_ALONE] = { "one thread", "with one thread only" },
	[EXPLORE_FINE] = { "no violation", "without a violation" },
};
_Static_assert(sizeof outcomes / sizeof *outcomes == EXPLORE_OUTCOMES, "a word for each");

enum explore_outcome explore_case_outcome(const struct explore_case *c)
{
	if (!c->report)
		return EXPLORE_NOT_EXPLORED;
	const char *v = explore_verdict(c->report);
	if (!strcmp(v, "violated"))
		return EXPLORE_VIOLATED;
	if (strcmp(v, "holds") != 0)
		return EXPLORE_UNKNOWN;
	return c->report->threads == 1 ? EXPLORE_ALONE : EXPLORE_FINE;
}

static const char *lower(struct arena *a, const char *title)
{
	char *s = arena_strdup(a, title);
	for (char *c = s; *c; c++)
		*c = *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c;
	return s;
}

const char *explore_case_text(const struct explore_case *c, struct arena *a)
{
	const struct explore_report *r = c->report;
	switch (explore_case_outcome(c)) {
	case EXPLORE_VIOLATED:
		if (r->failure && strcmp(r->failure->kind, "race") != 0)
			return arena_printf(a, "%s in schedule %llu", lower(a, r->failure->title), (ull)r->failure->schedule);
		return arena_printf(a, "%u data race%s, the first in schedule %llu", r->races.len, r->races.len == 1 ? "" : "s",
		                    (ull)(r->races.len ? r->races.data[0].schedule : 0));
	case EXPLORE_NOT_EXPLORED:
		return c->why ? c->why : "";
	case EXPLORE_UNKNOWN:
		return r->stopped ? r->stopped : "every schedule was cut off by the limit on steps (--max-steps)";
	case EXPLORE_ALONE:
		return "it never has a second thread: there is nothing to interleave";
	default:
		if (r->exhausted && !r->cut && !r->bounded)
			return arena_printf(a, "all %llu traces explored", (ull)r->traces);
		return arena_printf(a, "%llu schedule%s, %llu distinct%s", (ull)r->schedules, r->schedules == 1 ? "" : "s",
		                    (ull)r->traces, r->cut ? arena_printf(a, ", %llu cut off by --max-steps", (ull)r->cut) : "");
	}
}

static void summary(const struct explore_cases *c, struct arena *a, struct buf *b, bool color)
{
	uint32_t n[EXPLORE_OUTCOMES] = { 0 };
	size_t width = 0;
	buf_str(b, "Test cases of ");
	buf_safe(b, c->program, strlen(c->program));
	if (c->framework)
		buf_printf(b, " (%s)", c->framework);
	buf_str(b, ":\n\n");
	for (uint32_t i = 0; i < c->cases.len; i++) {
		size_t w = strlen(c->cases.data[i].name);
		width = w > width && w <= 40 ? w : width;
	}
	for (uint32_t i = 0; i < c->cases.len; i++) {
		const struct explore_case *k = &c->cases.data[i];
		enum explore_outcome o = explore_case_outcome(k);
		const char *text = explore_case_text(k, a);
		size_t w = strlen(k->name);
		n[o]++;
		buf_printf(b, "  %s%-12s%s  ", color && o == EXPLORE_VIOLATED ? "\033[1;31m" : "", outcomes[o].word,
		           color && o == EXPLORE_VIOLATED ? "\033[0m" : "");
		buf_safe(b, k->name, w);
		buf_repeat(b, ' ', 2 + (w < width ? width - w : 0));
		buf_safe(b, text, strlen(text));
		buf_char(b, '\n');
	}
	buf_printf(b, "\n%u case%s:", c->cases.len, c->cases.len == 1 ? "" : "s");
	bool any = false;
	for (int o = 0; o < EXPLORE_OUTCOMES; o++)
		if (n[o]) {
			buf_printf(b, "%s %u %s", any ? "," : "", n[o], outcomes[o].many);
			any = true;
		}
	if (c->disabled)
		buf_printf(b, "; %u disabled case%s left out", c->disabled, c->disabled == 1 ? "" : "s");
	buf_printf(b, "; seed %llu\n", (unsigned long long)c->seed);
}

void explore_cases_text(const struct explore_cases *c, struct arena *a, struct buf *b, bool color, unsigned columns)
{
	for (uint32_t i = 0; i < c->cases.len; i++) {
		const struct explore_case *k = &c->cases.data[i];
		if (explore_case_outcome(k) != EXPLORE_VIOLATED)
			continue;
		buf_printf(b, "%s", color ? "\033[1m" : "");
		buf_safe(b, k->name, strlen(k->name));
		buf_printf(b, "%s\n", color ? "\033[0m" : "");
		explore_text(k->report, b, color, columns);
		buf_char(b, '\n');
	}
	summary(c, a, b, color);
}

/* ---- the document ---- */

static const char *verdict_of(const struct explore_case *c)
{
	return c->report ? explore_verdict(c->report) : "unknown";
}

static const char *verdict_of_all(const struct explore_cases *c)
{
	bool unknown = !c->cases.len;
	for (uint32_t i = 0; i < c->cases.len; i++) {
		if (!strcmp(verdict_of(&c->cases.data[i]), "violated"))
			return "violated";
		unknown |= strcmp(verdict_of(&c->cases.data[i]), "holds") != 0;
	}
	return unknown ? "unknown" : "holds";
}

static void one_case(struct json_out *j, const struct explore_case *c, struct arena *a)
{
	json_line(j, 1);
	json_begin_object(j, NULL);
	json_text(j, "name", c->name);
	json_text(j, "verdict", verdict_of(c));
	json_text(j, "text", explore_case_text(c, a));
	if (c->report) {
		json_line(j, 2);
		explore_json_search(j, c->report);
		json_text_if(j, "why_fork", c->report->why_fork);
	} else {
		json_text(j, "not_explored", c->why ? c->why : "");
	}
	json_end(j);
}

void explore_cases_json(const struct explore_cases *c, struct arena *a, struct buf *out)
{
	struct json_out w, *j = &w;
	uint64_t schedules = 0;
	const struct explore_report *first = NULL;
	for (uint32_t i = 0; i < c->cases.len; i++) {
		const struct explore_report *r = c->cases.data[i].report;
		first = first ? first : r;
		schedules += r ? r->schedules : 0;
	}
	json_out_init(j, out, false);
	explore_json_begin(j, verdict_of_all(c), c->program, c->arguments, c->narguments);
	json_text(j, "strategy", first ? first->strategy : "none");
	json_text(j, "mode", first ? first->mode : "snapshot");
	json_uint(j, "seed", c->seed);
	json_uint(j, "schedules", schedules);
	json_text_if(j, "framework", c->framework);
	if (c->disabled)
		json_uint(j, "disabled", c->disabled);
	json_line(j, 0);
	json_begin_array(j, "cases");
	for (uint32_t i = 0; i < c->cases.len; i++)
		one_case(j, &c->cases.data[i], a);
	json_end(j);
	json_line(j, 0);
	json_begin_array(j, "results");
	for (uint32_t i = 0; i < c->cases.len; i++)
		if (c->cases.data[i].report)
			explore_json_results(j, c->cases.data[i].report, c->cases.data[i].name);
	json_end(j);
	doc_end(j);
}

bool explore_cases_read(const json_t *doc, struct arena *a, struct explore_cases *c)
{
	const json_t *cases = json_object_get(doc, "cases"), *o;
	size_t i;
	*c = (struct explore_cases){ .program = doc_text(doc, "program"),
		                     .framework = json_string_value(json_object_get(doc, "framework")),
		                     .disabled = (uint32_t)doc_number(doc, "disabled"),
		                     .seed = (uint64_t)doc_number(doc, "seed") };
	json_array_foreach(cases, i, o)
	{
		struct explore_case k = { .name = doc_text(o, "name") };
		if (json_object_get(o, "not_explored")) {
			k.why = doc_text(o, "not_explored");
		} else {
			k.report = arena_new(a, struct explore_report);
			explore_read_search(o, a, k.report);
			k.report->program = c->program;
			explore_read_results(json_object_get(doc, "results"), k.name, a, k.report);
		}
		avec_push(a, &c->cases, k);
	}
	return cases != NULL;
}
