/*
 * trace_verify: see verify.h. The judge of a cycle is verdict/verify_cycle.h; here the report is read and
 * what it says of the events is compared with what the trace has.
 */
#include "base/invariant.h"
#include "verify/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/reader.h"
#include "report/trace_report.h"
#include "verdict/verify_cycle.h"
#include "verdict/verify_serial.h"

static const char *text_of(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));
	return s ? s : "";
}

/* One end as the report has it; the strings belong to the JSON. */
struct claim_end {
	uint64_t event, block;
	const char *thread, *op;
};

struct cycles_claimed {
	struct claim_end *ends; /* two a link */
	struct cycle_link *links;
	struct cycle *cycles;
	size_t nlinks, ncycles;
};

static bool read_end(json_t *o, struct claim_end *e)
{
	json_t *event = json_object_get(o, "event"), *block = json_object_get(o, "block");
	json_t *at = block ? json_object_get(block, "event") : NULL;
	e->thread = json_string_value(json_object_get(o, "thread"));
	e->op = json_string_value(json_object_get(o, "op"));
	if (!json_is_integer(event) || json_integer_value(event) < 1 || !e->thread || !e->op ||
	    (block && (!json_is_integer(at) || json_integer_value(at) < 1)))
		return false;
	e->event = (uint64_t)json_integer_value(event);
	assert(e->event && e->thread && e->op);
	e->block = at ? (uint64_t)json_integer_value(at) : 0;
	return true;
}

static bool read_claims(json_t *findings, struct cycles_claimed *c, struct why *why)
{
	size_t i, k, links = 0;
	json_t *f, *l;
	why_set(why, "\"findings\" is not a list of cycles");
	json_array_foreach(findings, i, f) links += json_array_size(json_object_get(f, "cycle"));
	c->cycles = calloc(json_array_size(findings) + 1, sizeof *c->cycles);
	c->links = calloc(links + 1, sizeof *c->links);
	c->ends = calloc(2 * links + 2, sizeof *c->ends);
	if (!c->cycles || !c->links || !c->ends) {
		return why_set(why, "out of memory");
	}
	json_array_foreach(findings, i, f)
	{
		struct cycle *y = &c->cycles[c->ncycles++];
		assert(c->ncycles <= json_array_size(findings));
		json_t *list = json_object_get(f, "cycle");
		json_t *closing = json_object_get(json_object_get(f, "closing"), "event");
		if (!json_is_array(list) || !json_is_integer(closing))
			return false;
		y->closing.event = (uint64_t)json_integer_value(closing);
		y->links = c->links + c->nlinks;
		y->n = (uint32_t)json_array_size(list);
		json_array_foreach(list, k, l)
		{
			struct claim_end *e = &c->ends[2 * c->nlinks];
			assert(c->nlinks < links);
			struct cycle_link *x = &c->links[c->nlinks++];
			if (!read_end(json_object_get(l, "from"), &e[0]) || !read_end(json_object_get(l, "to"), &e[1]))
				return false;
			x->from.event = e[0].event;
			x->from.block = e[0].block;
			x->to.event = e[1].event;
			x->to.block = e[1].block;
		}
	}
	assert(c->ncycles == json_array_size(findings) && c->nlinks == links);
	return true;
}

/* The names the report gives must be those of the trace. */
static bool same_names(const struct trace_names *t, const struct cycle_fact *f, const struct claim_end *e, struct cycle_end *out)
{
	struct buf b;
	bool same;
	assert(e->thread && e->op);
	if (!f)
		return true; /* the judge says it better */
	buf_init(&b);
	names_show(&t->ns[NS_THREAD], f->thread, &b);
	same = !strcmp(buf_cstr(&b), e->thread);
	buf_clear(&b);
	op_show(t, f->kind, f->target, &b);
	same &= !strcmp(buf_cstr(&b), e->op);
	buf_free(&b);
	out->thread = f->thread;
	out->kind = f->kind;
	out->target = f->target;
	return same;
}

/* NULL when the report's cycle is one of the trace. */
static const char *judge_one(struct cycles_claimed *c, struct cycle *y, struct cycle_judge *j, const struct trace_names *t,
                             uint32_t *link)
{
	for (uint32_t k = 0; k < y->n; k++) {
		size_t at = (size_t)(y->links - c->links) + k;
		assert(at < c->nlinks);
		struct cycle_link *l = &c->links[at];
		if (!same_names(t, judge_fact(j, l->from.event), &c->ends[2 * at], &l->from) ||
		    !same_names(t, judge_fact(j, l->to.event), &c->ends[2 * at + 1], &l->to)) {
			*link = k + 1;
			return "the event is not what the report says";
		}
	}
	return judge_cycle(j, y, link);
}

static void judge_claims(struct claim_list *l, struct cycles_claimed *c, struct cycle_judge *j, const struct trace_names *t)
{
	for (size_t i = 0; i < c->ncycles; i++) {
		struct cycle *y = &c->cycles[i];
		char name[40];
		struct claim one = { .name = name, .claimed = "violated" };
		snprintf(name, sizeof name, "finding %zu", i + 1);
		if (!y->n) {
			one.answer = CLAIM_UNCHECKED;
			one.why = "the cycle was too long to record";
		} else {
			one.why = judge_one(c, y, j, t, &one.link);
			one.answer = one.why ? CLAIM_REJECTED : CLAIM_ACCEPTED;
			if (!one.why) {
				one.link = 0;
				one.why = "its links are conflicts of the trace, and close";
			}
		}
		claim_list_add(l, &one);
	}
	assert(!c->ncycles ||
	       l->n[CLAIM_ACCEPTED] + l->n[CLAIM_REJECTED] + l->n[CLAIM_UNKNOWN] + l->n[CLAIM_UNCHECKED] >= c->ncycles);
}

/* What a report of a trace says besides its cycles, and gives no witness for. `recording`: of a run of a program. */
static void without_witness(struct claim_list *l, json_t *one, bool recording)
{
	json_t *predicted = json_object_get(json_object_get(one, "predicted"), "findings");
	json_t *run = json_object_get(json_object_get(one, "run"), "results");
	if (recording && !json_is_array(run))
		claim_list_add(
			l, &(struct claim){ .name = "run",
		                            .answer = CLAIM_REJECTED,
		                            .why = "the trace is a recording, and the findings of the run itself are missing" });
	else if (recording && !json_array_size(run))
		claim_list_add(l, &(struct claim){ .name = "run",
		                                   .claimed = "holds",
		                                   .answer = CLAIM_UNCHECKED,
		                                   .why = "the absence of findings in the run itself has no witness to check" });
	for (size_t i = 0; i < json_array_size(predicted); i++) {
		char name[40];
		bool proven = !strcmp(text_of(json_array_get(predicted, i), "kind"), "proven");
		snprintf(name, sizeof name, "prediction %zu", i + 1);
		claim_list_add(
			l, &(struct claim){ .name = name,
		                            .claimed = proven ? "violated" : "unknown",
		                            .answer = CLAIM_UNCHECKED,
		                            .why = proven ? "reports do not contain the reordering (--witness writes it as a trace)"
		                                          : "nothing to check" });
	}
	for (size_t i = 0; i < json_array_size(run); i++) {
		char name[40];
		snprintf(name, sizeof name, "finding of the run %zu", i + 1);
		claim_list_add(l, &(struct claim){ .name = name,
		                                   .claimed = "violated",
		                                   .answer = CLAIM_UNCHECKED,
		                                   .why = "findings of the run itself have no witness to check" });
	}
}

/* Decides independently that the trace is serializable. */
static void judge_whole(struct claim_list *l, struct serial_judge *s)
{
	struct claim c = { .name = "trace", .claimed = "holds" };
	struct serial_judged r = serial_judge_end(s);
	assert(!r.n || (r.cycle && !r.limit));
	struct buf why;
	buf_init(&why);
	if (r.limit) {
		c.answer = CLAIM_UNKNOWN;
		buf_printf(&why, "unchecked: out of %s", r.limit);
	} else if (r.n) {
		c.answer = CLAIM_REJECTED;
		buf_str(&why, "its conflicts close a cycle through what begins at event ");
		for (uint32_t i = 0; i < r.n && i < 20; i++)
			buf_printf(&why, "%s%llu", i ? ", " : "", (unsigned long long)r.cycle[i]);
		if (r.n > 20)
			buf_printf(&why, " and %u more", r.n - 20);
	} else {
		c.answer = CLAIM_ACCEPTED;
		buf_str(&why, "its conflicts close no cycle");
	}
	c.why = buf_cstr(&why);
	claim_list_add(l, &c);
	buf_free(&why);
}

/* `whole`: it is claimed to be serializable. *recording: the trace is one of a program. */
static int verify_against(struct claim_list *l, struct cycles_claimed *c, const char *trace, uint32_t process, bool whole,
                          bool *recording)
{
	struct msgs m = { .err = l->err, .color = l->color };
	struct cycle_judge *j = judge_new();
	struct serial_judge *s = serial_judge_new();
	struct trace_reader *r = trace_open(trace, msgs_add, &m);
	struct event *ev;
	size_t n;
	bool ok = j && s;
	int rc = CLAIM_INPUT;
	assert(trace && recording);
	*recording = r && trace_is_recording(r);
	if (r) {
		trace_lives(r, LIVES_REUSED);
		trace_process(r, process);
	}
	for (size_t i = 0; ok && i < c->ncycles; i++)
		ok = judge_want_cycle(j, &c->cycles[i]);
	while (ok && r && (n = trace_next(r, &ev))) {
		ok = judge_feed(j, ev, n);
		if (whole)
			serial_judge_feed(s, ev, n);
	}
	if (!ok) {
		claim_list_add(
			l, &(struct claim){ .name = "trace", .answer = CLAIM_UNKNOWN, .why = "out of memory while reading it" });
		rc = CLAIM_OPEN;
	} else if (r && !trace_failed(r)) {
		judge_claims(l, c, j, trace_reader_names(r));
		if (whole)
			judge_whole(l, s);
		rc = claim_list_code(l);
	}
	trace_close(r);
	judge_free(j);
	serial_judge_free(s);
	return rc;
}

/* Is the verdict the one its own parts lead to, and that of the whole report? */
static bool verdict_fits(const json_t *root, const json_t *one, bool cycles)
{
	assert(json_is_object(one));
	const char *verdict = json_string_value(json_object_get(one, "verdict"));
	json_t *run = json_object_get(one, "run"), *predicted = json_object_get(one, "predicted");
	json_t *fine = json_object_get(one, "serializable");
	bool broken = json_is_false(fine) || cycles || json_integer_value(json_object_get(run, "findings")) > 0 ||
	              json_integer_value(json_object_get(predicted, "proven")) > 0;
	if (!verdict || strcmp(verdict, text_of(root, "verdict")) || json_is_true(fine) == cycles)
		return false;
	return !strcmp(verdict, "violated") ? broken : !strcmp(verdict, "holds") ? !broken && json_is_true(fine) : true;
}

int trace_verify_report(struct claim_list *l, json_t *root, const char *trace, struct buf *wrong)
{
	assert(wrong);
	struct cycles_claimed c = { 0 };
	struct why why = { "it has no findings" };
	json_t *traces = json_object_get(root, "results");
	json_t *one = json_array_size(traces) == 1 ? json_array_get(traces, 0) : NULL;
	json_t *findings = json_object_get(one, "findings");
	json_t *fine = json_object_get(one, "serializable");
	int rc = CLAIM_INPUT;
	if (!trace)
		trace = json_string_value(json_object_get(one, "file"));
	if (json_array_size(traces) > 1) {
		buf_printf(wrong, "the report covers %zu traces; verify supports reports on one trace", json_array_size(traces));
	} else if (!trace || !json_is_array(findings) || !read_claims(findings, &c, &why)) {
		buf_printf(wrong, "not a report of intact trace --json: %s", why.text);
	} else {
		json_int_t process = json_integer_value(json_object_get(one, "process"));
		l->subject = trace;
		bool recording;
		rc = verify_against(l, &c, trace, process > 1 ? (uint32_t)(process - 1) & 0xffff : 0, json_is_true(fine),
		                    &recording);
		if ((rc == CLAIM_HOLDS || rc == CLAIM_OPEN) && !verdict_fits(root, one, c.ncycles > 0))
			claim_list_add(l, &(struct claim){ .name = "result",
			                                   .answer = CLAIM_REJECTED,
			                                   .why = "its verdict does not match its findings" });
		if (rc == CLAIM_HOLDS || rc == CLAIM_VIOLATED || rc == CLAIM_OPEN) {
			without_witness(l, one, recording);
			rc = claim_list_code(l);
		}
	}
	free(c.cycles);
	free(c.links);
	free(c.ends);
	return rc;
}
