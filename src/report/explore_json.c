/*
 * explore_json: a result of `intact explore` as a document (docs/json.md), and
 * back. No address, no time, no process number: the same seed gives the same
 * bytes.
 */
#include <string.h>

#include "base/invariant.h"
#include "report/doc.h"
#include "report/explore.h"
#include "report/explore_int.h"
#include "report/explore_object.h"

static void place(struct json_out *j, const char *key, const struct explore_place *p)
{
	json_begin_object(j, key);
	json_text_if(j, "function", p->function);
	if (p->file) {
		json_text(j, "file", p->file);
		json_uint(j, "line", p->line);
	} else if (p->module) {
		json_text(j, "module", p->module);
		json_uint(j, "offset", p->offset);
	}
	json_end(j);
}

static void stack(struct json_out *j, const struct explore_place *p, uint32_t n)
{
	assert(!n || p);
	json_begin_array(j, "stack");
	for (uint32_t i = 0; i < n; i++)
		place(j, NULL, &p[i]);
	json_end(j);
}

static void threads(struct json_out *j, const struct explore_failure *f)
{
	json_line(j, 2);
	json_begin_array(j, "threads");
	for (uint32_t i = 0; i < f->threads.len; i++) {
		const struct explore_thread *t = &f->threads.data[i];
		json_line(j, 3);
		json_begin_object(j, NULL);
		json_uint(j, "number", i);
		json_text(j, "name", t->name);
		json_uint(j, "parent", t->parent);
		place(j, "created", &t->created);
		json_text(j, "state", t->state);
		if (t->waits) {
			json_text(j, "waits", t->waits);
			place(j, "at", &t->at);
		}
		json_end(j);
	}
	json_end(j);
}

static void steps(struct json_out *j, const struct explore_failure *f)
{
	json_line(j, 2);
	json_begin_array(j, "steps");
	for (uint32_t i = 0; i < f->steps.len; i++) {
		const struct explore_step *s = &f->steps.data[i];
		json_line(j, 3);
		json_begin_object(j, NULL);
		json_uint(j, "thread", s->thread);
		json_text(j, "op", s->op);
		json_text(j, "text", s->text);
		json_uint(j, "choices", s->enabled);
		json_bool(j, "preempts", s->preempts);
		place(j, "at", &s->at);
		if (s->nstack)
			stack(j, s->stack, s->nstack);
		json_end(j);
	}
	json_end(j);
}

static void accesses(struct json_out *j, const struct explore_failure *f)
{
	if (!f->accesses.len)
		return;
	json_line(j, 2);
	assert(f->accesses.data);
	json_begin_array(j, "plain_accesses");
	for (uint32_t i = 0; i < f->accesses.len; i++) {
		const struct explore_access *x = &f->accesses.data[i];
		json_line(j, 3);
		json_begin_object(j, NULL);
		json_uint(j, "step", x->step);
		json_uint(j, "thread", x->thread);
		json_text(j, "text", x->text);
		place(j, "at", &x->at);
		json_end(j);
	}
	json_end(j);
}

static void blocks(struct json_out *j, const struct explore_failure *f)
{
	if (!f->blocks.len)
		return;
	json_line(j, 2);
	json_begin_array(j, "allocated");
	for (uint32_t i = 0; i < f->blocks.len; i++) {
		const struct explore_block *x = &f->blocks.data[i];
		json_line(j, 3);
		json_begin_object(j, NULL);
		json_text(j, "name", x->name);
		json_uint(j, "offset", x->offset);
		json_uint(j, "size", x->size);
		json_uint(j, "thread", x->thread);
		place(j, "at", &x->at);
		json_end(j);
	}
	json_end(j);
}

static void cycle(struct json_out *j, const struct explore_failure *f)
{
	if (!f->cycle.len)
		return;
	json_line(j, 2);
	json_begin_array(j, "cycle");
	for (uint32_t i = 0; i < f->cycle.len; i++)
		for (int k = 0; k < 2; k++) {
			json_begin_object(j, NULL);
			json_text(j, "text", f->cycle.data[i].what[k]);
			place(j, "at", &f->cycle.data[i].at[k]);
			if (f->cycle.data[i].step[k])
				json_uint(j, "step", f->cycle.data[i].step[k]);
			json_end(j);
		}
	json_end(j);
}

static void failure(struct json_out *j, const struct explore_failure *f)
{
	assert(f->kind && f->title && f->sentence);
	json_text(j, "kind", f->kind);
	json_text(j, "verdict", "violated");
	json_text(j, "title", f->title);
	json_text(j, "sentence", f->sentence);
	place(j, "at", &f->at);
	json_uint(j, "schedule", f->schedule);
	json_uint(j, "preemptions", f->preemptions);
	json_uint(j, "switches", f->switches);
	json_line(j, 2);
	stack(j, f->stack.data, f->stack.len);
	json_text_if(j, "gone", f->gone);
	json_text_if(j, "cause", f->cause);
	threads(j, f);
	steps(j, f);
	accesses(j, f);
	blocks(j, f);
	cycle(j, f);
	json_line(j, 2);
	json_text(j, "output", f->output ? f->output : "");
	json_uint(j, "output_bytes", f->output_bytes);
}

/* With the schedule that shows it, if there is one. */
static void race(struct json_out *j, const struct explore_race *r, const struct explore_failure *f, const char *of)
{
	assert(r->what);
	json_line(j, 1);
	json_begin_object(j, NULL);
	json_text_if(j, "case", of);
	json_text(j, "kind", "race");
	json_text(j, "verdict", "violated");
	json_text(j, "data", r->what);
	json_uint(j, "size", r->size);
	json_uint(j, "schedule", r->schedule);
	json_begin_array(j, "accesses");
	for (int i = 0; i < 2; i++) {
		json_begin_object(j, NULL);
		json_uint(j, "thread", r->thread[i]);
		json_bool(j, "write", r->write[i]);
		json_bool(j, "atomic", r->atomic[i]);
		place(j, "at", &r->at[i]);
		json_end(j);
	}
	json_end(j);
	if (f) {
		json_uint(j, "preemptions", f->preemptions);
		json_uint(j, "switches", f->switches);
		if (f->step)
			json_uint(j, "step", f->step);
		threads(j, f);
		steps(j, f);
	}
	json_end(j);
}

void explore_json_begin(struct json_out *j, const char *verdict, const char *program, const char *const *arguments, uint32_t n)
{
	assert(verdict && program && (!n || arguments));
	doc_begin(j, "explore", 0);
	json_text(j, "verdict", verdict);
	json_text(j, "program", program);
	json_begin_array(j, "arguments");
	for (uint32_t i = 0; i < n; i++)
		json_text(j, NULL, arguments[i]);
	json_end(j);
	json_line(j, 1);
}

void explore_json_search(struct json_out *j, const struct explore_report *r)
{
	json_text(j, "strategy", r->strategy);
	json_text(j, "mode", r->mode);
	json_uint(j, "seed", r->seed);
	if (r->shards) {
		json_uint(j, "shard", r->shard);
		json_uint(j, "shards", r->shards);
		json_text_if(j, "build_id", r->build_id);
		json_text_if(j, "asked", r->asked);
	}
	json_uint(j, "schedules", r->schedules);
	json_uint(j, "cut", r->cut);
	json_uint(j, "points", r->points);
	json_uint(j, "traces", r->traces);
	json_bool(j, "traces_are_a_lower_bound", r->traces_full);
	json_bool(j, "exhaustive", r->exhausted && !r->bounded && !r->cut && !r->shards);
	json_flag(j, "searched_to_the_end", r->exhausted);
	json_flag(j, "bounded", r->bounded);
	json_flag(j, "replayed", r->replayed);
	json_text_if(j, "stopped", r->stopped);
	json_text_if(j, "replay", r->replay);
	if (r->threads)
		json_uint(j, "threads", r->threads);
	json_uint(j, "pairs", r->pairs);
	json_uint(j, "pairs_in_both_orders", r->pairs_both);
	json_uint(j, "traces_judged", r->judged);
	json_uint(j, "traces_not_judged", r->unjudged);
	json_flag(j, "awaits", r->awaits);
	if (r->memory)
		json_text(j, "memory", explore_memories[r->memory]);
	if (r->memory == EXPLORE_TSO) {
		json_uint(j, "stores_buffered", r->buffered);
		json_uint(j, "store_buffer_entries", EXPLORE_STORES);
		json_uint(j, "store_buffers_full", r->buffers_full);
	} else if (r->memory == EXPLORE_C11) {
		json_uint(j, "older_stores_chosen", r->buffered);
		json_uint(j, "choices_left_out", r->buffers_full);
	}
	if (r->memory)
		json_text(j, "memory_not_covered", explore_memory_not_covered[r->memory]);
	json_flag(j, "cancels", r->cancels);
	if (r->estimate_known)
		buf_printf(json_value(j, "estimated_traces"), "%.0f", r->estimate_total);
	if (r->estimate_known)
		buf_printf(json_value(j, "estimated_share"), "%.17g", r->estimate_seen);
}

void explore_json_results(struct json_out *j, const struct explore_report *r, const char *of)
{
	bool raced = r->failure && !strcmp(r->failure->kind, "race");
	if (r->failure && !raced) {
		json_line(j, 1);
		json_begin_object(j, NULL);
		json_text_if(j, "case", of);
		failure(j, r->failure);
		json_end(j);
	}
	for (uint32_t i = 0; i < r->races.len; i++)
		race(j, &r->races.data[i], raced && !i ? r->failure : NULL, of);
}

void explore_json(const struct explore_report *r, struct buf *out)
{
	struct json_out w, *j = &w;
	json_out_init(j, out, false);
	explore_json_begin(j, explore_verdict(r), r->program, r->arguments, r->narguments);
	explore_json_search(j, r);
	json_line(j, 1);
	json_text_if(j, "why_fork", r->why_fork);
	if (r->object)
		explore_object_json(j, r->object);
	json_line(j, 0);
	json_begin_array(j, "results");
	explore_json_results(j, r, NULL);
	json_end(j);
	doc_end(j);
}

/* ---- findings of `intact run` that were explored ---- */

static const char *const statuses[] = {
	[EXPLORE_CONFIRMED] = "confirmed", [EXPLORE_NOT_REACHED] = "not-reached", [EXPLORE_CUT_SHORT] = "cut-short"
};

static void status(struct json_out *j, const struct explore_finding *f, struct arena *a)
{
	assert(f->status <= EXPLORE_CUT_SHORT);
	json_text(j, "status", statuses[f->status]);
	json_text(j, "text", explore_status_text(f, a));
	json_uint(j, "schedules", f->schedules);
	json_bool(j, "exhaustive", f->exhausted);
	json_uint(j, "failed_otherwise", f->aside);
	json_text_if(j, "replay", f->replay);
}

void explore_finding_json(struct json_out *j, const struct explore_finding *f, struct arena *a)
{
	assert((f->failure != NULL) == (f->status == EXPLORE_CONFIRMED));
	json_line(j, 2);
	json_begin_object(j, "exploration");
	status(j, f, a);
	if (f->failure) {
		json_begin_object(j, "failure");
		failure(j, f->failure);
		json_end(j);
	}
	json_end(j);
}

static void one_finding(struct json_out *j, const struct explore_finding *f, struct arena *a)
{
	json_line(j, 1);
	json_begin_object(j, NULL);
	if (f->failure) {
		failure(j, f->failure);
	} else {
		json_text(j, "kind", "prediction");
		json_text(j, "verdict", "unknown");
		json_text(j, "title", explore_status_text(f, a));
		json_text(j, "sentence", f->sentence);
		place(j, "at", &f->at);
	}
	json_line(j, 2);
	json_begin_object(j, "finding");
	json_text(j, "block", f->block);
	json_text(j, "sentence", f->sentence);
	place(j, "at", &f->at);
	status(j, f, a);
	json_end(j);
	json_end(j);
}

void explore_confirmation_json(const struct explore_confirmation *c, struct arena *a, struct buf *out)
{
	struct json_out w, *j = &w;
	uint32_t n[3] = { 0 };
	uint64_t schedules = 0;
	for (uint32_t i = 0; i < c->findings.len; i++) {
		n[c->findings.data[i].status]++;
		assert(c->findings.data[i].status <= EXPLORE_CUT_SHORT);
		schedules += c->findings.data[i].schedules;
	}
	json_out_init(j, out, false);
	explore_json_begin(j,
	                   n[EXPLORE_CONFIRMED]   ? "violated"
	                   : n[EXPLORE_CUT_SHORT] ? "unknown"
	                                          : "holds",
	                   c->program, c->arguments, c->narguments);
	json_text(j, "strategy", c->strategy);
	json_text(j, "mode", c->mode);
	json_uint(j, "seed", c->seed);
	json_uint(j, "schedules", schedules);
	json_text_if(j, "why_fork", c->why_fork);
	json_line(j, 1);
	json_begin_object(j, "confirm");
	json_text(j, "report", c->report);
	json_uint(j, "findings", c->findings.len);
	json_uint(j, "confirmed", n[EXPLORE_CONFIRMED]);
	json_uint(j, "not_reached", n[EXPLORE_NOT_REACHED]);
	json_uint(j, "cut_short", n[EXPLORE_CUT_SHORT]);
	json_end(j);
	json_line(j, 0);
	json_begin_array(j, "results");
	for (uint32_t i = 0; i < c->findings.len; i++)
		one_finding(j, &c->findings.data[i], a);
	json_end(j);
	doc_end(j);
}

/* ---- back ------------------------------------------------------------------- */

static const char *text_or_null(const json_t *o, const char *key)
{
	return json_string_value(json_object_get(o, key));
}

static bool flag(const json_t *o, const char *key)
{
	return json_is_true(json_object_get(o, key));
}

static uint64_t number(const json_t *o, const char *key)
{
	return (uint64_t)doc_number(o, key);
}

static struct explore_place read_place(const json_t *p)
{
	return (struct explore_place){ .function = text_or_null(p, "function"),
		                       .file = text_or_null(p, "file"),
		                       .line = (uint32_t)number(p, "line"),
		                       .module = text_or_null(p, "module"),
		                       .offset = number(p, "offset") };
}

void explore_failure_read(const json_t *o, struct arena *a, struct explore_failure *f)
{
	assert(json_is_object(o));
	const json_t *x;
	size_t i;
	*f = (struct explore_failure){ .kind = doc_text(o, "kind"),
		                       .title = doc_safe(a, o, "title"),
		                       .sentence = doc_text(o, "sentence"),
		                       .at = read_place(json_object_get(o, "at")),
		                       .schedule = number(o, "schedule"),
		                       .preemptions = (uint32_t)number(o, "preemptions"),
		                       .switches = (uint32_t)number(o, "switches"),
		                       .step = (uint32_t)number(o, "step"),
		                       .gone = text_or_null(o, "gone"),
		                       .cause = text_or_null(o, "cause"),
		                       .output = text_or_null(o, "output"),
		                       .output_bytes = number(o, "output_bytes") };
	json_array_foreach(json_object_get(o, "threads"), i, x)
	{
		struct explore_thread t = { .name = doc_text(x, "name"),
			                    .parent = (uint32_t)number(x, "parent"),
			                    .created = read_place(json_object_get(x, "created")),
			                    .state = doc_text(x, "state"),
			                    .waits = text_or_null(x, "waits"),
			                    .at = read_place(json_object_get(x, "at")) };
		avec_push(a, &f->threads, t);
	}
	json_array_foreach(json_object_get(o, "steps"), i, x)
	{
		struct explore_step s = { .thread = (uint32_t)number(x, "thread"),
			                  .op = doc_text(x, "op"),
			                  .text = doc_text(x, "text"),
			                  .at = read_place(json_object_get(x, "at")),
			                  .enabled = (uint32_t)number(x, "choices"),
			                  .preempts = flag(x, "preempts") };
		avec_push(a, &f->steps, s);
	}
	json_array_foreach(json_object_get(o, "plain_accesses"), i, x)
	{
		struct explore_access p = { .step = (uint32_t)number(x, "step"),
			                    .thread = (uint32_t)number(x, "thread"),
			                    .text = doc_text(x, "text"),
			                    .at = read_place(json_object_get(x, "at")) };
		avec_push(a, &f->accesses, p);
	}
	json_array_foreach(json_object_get(o, "allocated"), i, x)
	{
		struct explore_block p = { .name = doc_text(x, "name"),
			                   .offset = number(x, "offset"),
			                   .size = number(x, "size"),
			                   .thread = (uint32_t)number(x, "thread"),
			                   .at = read_place(json_object_get(x, "at")) };
		avec_push(a, &f->blocks, p);
	}
	json_array_foreach(json_object_get(o, "stack"), i, x)
	{
		struct explore_place p = read_place(x);
		avec_push(a, &f->stack, p);
	}
	const json_t *cycle = json_object_get(o, "cycle");
	for (i = 0; i + 1 < json_array_size(cycle); i += 2) {
		struct explore_link l;
		for (size_t k = 0; k < 2; k++) {
			l.what[k] = doc_text(json_array_get(cycle, i + k), "text");
			l.at[k] = read_place(json_object_get(json_array_get(cycle, i + k), "at"));
			l.step[k] = (uint32_t)number(json_array_get(cycle, i + k), "step");
		}
		avec_push(a, &f->cycle, l);
	}
}

static void read_race(const json_t *o, struct arena *a, struct explore_report *r)
{
	struct explore_race x = { .what = doc_text(o, "data"),
		                  .size = (uint32_t)number(o, "size"),
		                  .schedule = number(o, "schedule") };
	for (size_t i = 0; i < 2; i++) {
		const json_t *e = json_array_get(json_object_get(o, "accesses"), i);
		x.thread[i] = (uint32_t)number(e, "thread");
		x.write[i] = flag(e, "write");
		x.atomic[i] = flag(e, "atomic");
		x.at[i] = read_place(json_object_get(e, "at"));
	}
	avec_push(a, &r->races, x);
}

static enum explore_memory memory_of(const json_t *doc)
{
	return doc_is(doc, "memory", "tso") ? EXPLORE_TSO : doc_is(doc, "memory", "c11") ? EXPLORE_C11 : EXPLORE_SC;
}

void explore_read_search(const json_t *doc, struct arena *a, struct explore_report *r)
{
	*r = (struct explore_report){ .strategy = doc_safe(a, doc, "strategy"),
		                      .mode = doc_text(doc, "mode"),
		                      .seed = number(doc, "seed"),
		                      .shard = (uint32_t)number(doc, "shard"),
		                      .shards = (uint32_t)number(doc, "shards"),
		                      .build_id = json_string_value(json_object_get(doc, "build_id")),
		                      .asked = json_string_value(json_object_get(doc, "asked")),
		                      .schedules = number(doc, "schedules"),
		                      .cut = number(doc, "cut"),
		                      .traces = number(doc, "traces"),
		                      .points = number(doc, "points"),
		                      .judged = number(doc, "traces_judged"),
		                      .unjudged = number(doc, "traces_not_judged"),
		                      .traces_full = flag(doc, "traces_are_a_lower_bound"),
		                      .exhausted = flag(doc, "searched_to_the_end"),
		                      .bounded = flag(doc, "bounded"),
		                      .replayed = flag(doc, "replayed"),
		                      .awaits = flag(doc, "awaits"),
		                      .cancels = flag(doc, "cancels"),
		                      .memory = memory_of(doc),
		                      .buffered = number(doc, "stores_buffered") + number(doc, "older_stores_chosen"),
		                      .buffers_full = number(doc, "store_buffers_full") + number(doc, "choices_left_out"),
		                      .estimate_known = json_object_get(doc, "estimated_traces") != NULL,
		                      .estimate_seen = json_number_value(json_object_get(doc, "estimated_share")),
		                      .estimate_total = json_number_value(json_object_get(doc, "estimated_traces")),
		                      .threads = (uint32_t)number(doc, "threads"),
		                      .pairs = number(doc, "pairs"),
		                      .pairs_both = number(doc, "pairs_in_both_orders"),
		                      .stopped = doc_safe(a, doc, "stopped"),
		                      .replay = doc_safe(a, doc, "replay") };
}

void explore_read_results(const json_t *results, const char *of, struct arena *a, struct explore_report *r)
{
	const json_t *o;
	size_t i;
	json_array_foreach(results, i, o)
	{
		if (of && !doc_is(o, "case", of))
			continue;
		bool race = doc_is(o, "kind", "race");
		if (race)
			read_race(o, a, r);
		if (!r->failure && (!race || json_object_get(o, "steps"))) { /* a race may have its schedule */
			r->failure = arena_new(a, struct explore_failure);
			explore_failure_read(o, a, r->failure);
		}
	}
}

void explore_read(const json_t *doc, struct arena *a, struct explore_report *r)
{
	explore_read_search(doc, a, r);
	r->program = doc_text(doc, "program");
	r->object = explore_object_read(json_object_get(doc, "object"), a);
	explore_read_results(json_object_get(doc, "results"), NULL, a, r);
}

static void read_finding(const json_t *o, struct arena *a, struct explore_confirmation *c)
{
	const json_t *told = json_object_get(o, "finding");
	struct explore_finding f = { .index = c->findings.len,
		                     .block = doc_text(told, "block"),
		                     .sentence = doc_text(told, "sentence"),
		                     .at = read_place(json_object_get(told, "at")),
		                     .told = doc_text(told, "text"),
		                     .schedules = number(told, "schedules"),
		                     .aside = number(told, "failed_otherwise"),
		                     .exhausted = flag(told, "exhaustive"),
		                     .replay = doc_safe(a, told, "replay") };
	while (f.status < EXPLORE_CUT_SHORT && !doc_is(told, "status", statuses[f.status]))
		f.status++;
	if (doc_is(o, "verdict", "violated")) {
		f.failure = arena_new(a, struct explore_failure);
		explore_failure_read(o, a, f.failure);
	}
	avec_push(a, &c->findings, f);
	assert(c->findings.len == f.index + 1);
}

bool explore_confirmation_read(const json_t *doc, struct arena *a, struct explore_confirmation *c)
{
	const json_t *confirm = json_object_get(doc, "confirm"), *o;
	size_t i;
	*c = (struct explore_confirmation){ .report = doc_text(confirm, "report"),
		                            .program = doc_text(doc, "program"),
		                            .strategy = doc_safe(a, doc, "strategy"),
		                            .mode = doc_text(doc, "mode"),
		                            .seed = number(doc, "seed") };
	json_array_foreach(json_object_get(doc, "results"), i, o) read_finding(o, a, c);
	return confirm != NULL;
}
