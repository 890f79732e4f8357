#include "report/explore_object.h"

#include <string.h>

#include "report/doc.h"

enum { MIN_COLUMN = 8, GAP = 3 };

/* ---- text ---- */

static void cell(struct buf *b, const struct explore_call *c)
{
	buf_safe(b, c->text, strlen(c->text));
	if (c->result && strcmp(c->result, "done") != 0) {
		buf_str(b, " -> ");
		buf_safe(b, c->result, strlen(c->result));
	} else if (c->waits) {
		buf_str(b, " waits");
	} else if (!c->called) {
		buf_str(b, " (not called)");
	} else if (!c->returned) {
		buf_str(b, " (did not return)");
	}
}

static void main_rows(struct buf *b, const char *when, const struct explore_call *c, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		buf_printf(b, "%s", i ? ", " : when);
		cell(b, &c[i]);
	}
	if (n)
		buf_char(b, '\n');
}

static const struct explore_call *nth_of(const struct explore_object *o, uint32_t thread, uint32_t nth)
{
	for (uint32_t i = 0; i < o->calls.len; i++)
		if (o->calls.data[i].thread == thread && nth-- == 0)
			return &o->calls.data[i];
	return NULL;
}

static void columns(const struct explore_object *o, struct buf *b)
{
	size_t width[64] = { 0 };
	uint32_t rows = 0, n = o->threads < 63 ? o->threads : 63;
	struct buf t;
	buf_init(&t);
	for (uint32_t k = 1; k <= n; k++) {
		width[k] = MIN_COLUMN;
		for (uint32_t i = 0; nth_of(o, k, i); i++) {
			buf_clear(&t);
			cell(&t, nth_of(o, k, i));
			width[k] = t.len > width[k] ? t.len : width[k];
			rows = i + 1 > rows ? i + 1 : rows;
		}
	}
	for (uint32_t i = 0; i <= rows; i++) {
		buf_str(b, "  ");
		for (uint32_t k = 1; k <= n; k++) {
			buf_clear(&t);
			if (!i)
				buf_printf(&t, "T%u", k);
			else if (nth_of(o, k, i - 1))
				cell(&t, nth_of(o, k, i - 1));
			buf_add(b, t.data, t.len);
			buf_repeat(b, ' ', k < n && t.len < width[k] + GAP ? width[k] + GAP - t.len : 0);
		}
		while (b->len && b->data[b->len - 1] == ' ')
			b->len--;
		buf_char(b, '\n');
	}
	buf_free(&t);
}

void explore_object_table(const struct explore_object *o, struct buf *b)
{
	if (!o->calls.len && !o->before.len)
		return;
	buf_str(b, "\nThe scenario");
	if (o->number)
		buf_printf(b, "%s%llu", o->tried ? ", made smaller from scenario " : " ", (ull)o->number);
	buf_str(b, ", with the results:\n\n");
	main_rows(b, "  before: ", o->before.data, o->before.len);
	columns(o, b);
	main_rows(b, "  after: ", o->after.data, o->after.len);
}

static const char *adjective(const struct explore_object *o)
{
	return strcmp(o->condition, "sequential") == 0  ? "sequentially consistent"
	       : strcmp(o->condition, "quiescent") == 0 ? "quiescently consistent"
	                                                : o->condition;
}

static bool is_judged(const struct explore_object *o)
{
	return strcmp(o->condition, "none") != 0;
}

static void write_condition(const struct explore_object *o, struct buf *b)
{
	if (is_judged(o))
		buf_str(b, adjective(o));
	if (o->progress)
		buf_printf(b, "%s%s", is_judged(o) ? " and " : "", o->progress);
}

void explore_object_holds(const struct explore_report *r, struct buf *b)
{
	const struct explore_object *o = r->object;
	if (r->exhausted && !r->cut && !r->bounded) {
		buf_printf(b, "no violation: '%s' ", o->name);
		if (is_judged(o) || o->progress)
			buf_str(b, "is ");
		else
			buf_str(b, "does not fail");
		write_condition(o, b);
		buf_printf(b, " in all %llu traces of %s%llu scenario%s (%s)\n", (ull)r->traces, o->scenarios == 1 ? "" : "all ",
		           (ull)o->scenarios, o->scenarios == 1 ? "" : "s", o->scope);
	} else {
		buf_printf(b, "no violation found in %llu scenario%s (%s; not exhaustive)\n", (ull)o->scenarios,
		           o->scenarios == 1 ? "" : "s", o->scope);
	}
	if (o->early)
		buf_str(b, "a limit was reached before all scenarios were explored\n");
}

void explore_object_coverage(const struct explore_report *r, struct buf *b)
{
	const struct explore_object *o = r->object;
	buf_str(b, "object '");
	buf_safe(b, o->name, strlen(o->name));
	if (is_judged(o))
		buf_printf(b, "' against %s; condition: ", o->against);
	else
		buf_printf(b, "': the results of its calls are compared with nothing%s", o->progress ? "; condition: " : "");
	write_condition(o, b);
	buf_char(b, '\n');
	buf_printf(b, "%llu scenario%s, of which %llu completely", (ull)o->scenarios, o->scenarios == 1 ? "" : "s",
	           (ull)o->exhausted);
	if (is_judged(o))
		buf_printf(b, "; %llu histor%s judged", (ull)o->histories, o->histories == 1 ? "y" : "ies");
	if (o->orders)
		buf_printf(b, ", with %llu executions one call at a time", (ull)o->orders);
	buf_char(b, '\n');
	if (o->unknown)
		buf_printf(b, "%llu histor%s could not be decided within the limits\n", (ull)o->unknown,
		           o->unknown == 1 ? "y" : "ies");
	if (o->scenario) {
		buf_str(b, "scenario: --scenario '");
		buf_safe(b, o->scenario, strlen(o->scenario));
		buf_str(b, "'\n");
	}
}

/* ---- JSON ---- */

static void calls_json(struct json_out *j, const char *key, const struct explore_call *c, uint32_t n)
{
	json_line(j, 2);
	json_begin_array(j, key);
	for (uint32_t i = 0; i < n; i++) {
		json_begin_object(j, NULL);
		json_uint(j, "thread", c[i].thread);
		json_text(j, "call", c[i].text);
		json_text_if(j, "result", c[i].result);
		json_uint(j, "called", c[i].called);
		json_uint(j, "returned", c[i].returned);
		json_flag(j, "waits", c[i].waits);
		json_end(j);
	}
	json_end(j);
}

void explore_object_json(struct json_out *j, const struct explore_object *o)
{
	json_line(j, 1);
	json_begin_object(j, "object");
	json_text(j, "name", o->name);
	json_text(j, "against", o->against);
	json_text(j, "condition", o->condition);
	json_text_if(j, "progress", o->progress);
	json_flag(j, "progress_not_judged", o->progress_left_out);
	json_text(j, "shapes", o->scope);
	json_uint(j, "scenarios", o->scenarios);
	json_uint(j, "scenarios_exhausted", o->exhausted);
	json_uint(j, "histories", o->histories);
	json_uint(j, "histories_unknown", o->unknown);
	json_uint(j, "orders_executed", o->orders);
	json_bool(j, "all_scenarios", o->enumerated);
	json_flag(j, "ended_early", o->early);
	if (o->scenario) {
		json_text(j, "scenario", o->scenario);
		json_uint(j, "scenario_number", o->number);
		json_uint(j, "smaller_scenarios_tried", o->tried);
		json_uint(j, "threads", o->threads);
		json_text_if(j, "reason", o->reason);
		calls_json(j, "before", o->before.data, o->before.len);
		calls_json(j, "calls", o->calls.data, o->calls.len);
		calls_json(j, "after", o->after.data, o->after.len);
	}
	json_end(j);
}

static struct explore_call read_call(const json_t *x)
{
	return (struct explore_call){ .text = doc_text(x, "call"),
		                      .result = json_string_value(json_object_get(x, "result")),
		                      .thread = (uint32_t)doc_number(x, "thread"),
		                      .called = (uint32_t)doc_number(x, "called"),
		                      .returned = (uint32_t)doc_number(x, "returned"),
		                      .waits = json_is_true(json_object_get(x, "waits")) };
}

struct explore_object *explore_object_read(const json_t *x, struct arena *a)
{
	const json_t *c;
	size_t i;
	if (!json_is_object(x))
		return NULL;
	struct explore_object *o = arena_new(a, struct explore_object);
	*o = (struct explore_object){ .name = doc_text(x, "name"),
		                      .against = doc_text(x, "against"),
		                      .condition = doc_text(x, "condition"),
		                      .progress = json_string_value(json_object_get(x, "progress")),
		                      .progress_left_out = json_is_true(json_object_get(x, "progress_not_judged")),
		                      .scope = doc_text(x, "shapes"),
		                      .scenarios = (uint64_t)doc_number(x, "scenarios"),
		                      .exhausted = (uint64_t)doc_number(x, "scenarios_exhausted"),
		                      .histories = (uint64_t)doc_number(x, "histories"),
		                      .unknown = (uint64_t)doc_number(x, "histories_unknown"),
		                      .orders = (uint64_t)doc_number(x, "orders_executed"),
		                      .enumerated = json_is_true(json_object_get(x, "all_scenarios")),
		                      .early = json_is_true(json_object_get(x, "ended_early")),
		                      .scenario = json_string_value(json_object_get(x, "scenario")),
		                      .number = (uint64_t)doc_number(x, "scenario_number"),
		                      .tried = (uint64_t)doc_number(x, "smaller_scenarios_tried"),
		                      .threads = (uint32_t)doc_number(x, "threads"),
		                      .reason = json_string_value(json_object_get(x, "reason")) };
	json_array_foreach(json_object_get(x, "before"), i, c)
	{
		struct explore_call e = read_call(c);
		avec_push(a, &o->before, e);
	}
	json_array_foreach(json_object_get(x, "calls"), i, c)
	{
		struct explore_call e = read_call(c);
		avec_push(a, &o->calls, e);
	}
	json_array_foreach(json_object_get(x, "after"), i, c)
	{
		struct explore_call e = read_call(c);
		avec_push(a, &o->after, e);
	}
	return o;
}
