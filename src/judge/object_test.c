#include "judge/object_test.h"

#include <elf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/paths.h"
#include "judge/object_judge.h"
#include "judge/object_scenario.h"

enum { SERVERS = 64, USUAL_SCENARIOS = 100, USUAL_SCHEDULES = 1000, SMALL_TRACES = 4000, SMALL_SCHEDULES = 2000 };

_Static_assert((int)EXPLORE_TEST_ROUNDS == (int)CONTROL_TEST_ROUNDS, "what the report says");

struct object_test {
	struct cli *cli;
	const struct object_test_options *o;
	struct objtest_about about;
	struct object_judge judge;
	struct scenario_source source;
	struct explore_tests hooks;
	uint64_t seed, max_runs;
	/* what each server explores */
	struct objtest_scenario now[SERVERS];
	uint64_t number[SERVERS];
	bool has[SERVERS];
	/* what was explored so far */
	uint64_t begun, scenarios, exhausted;
	struct sched_stats stats;
	uint64_t cut, awaits, cancels, judged, unjudged, blocks, buffered, buffers_full;
	bool ended; /* there are no more scenarios */
	bool small; /* one scenario is explored to see whether it fails, too: nothing is counted */
	uint64_t failed_number, tried;
};

/* ---- is it one? ---- */

bool object_test_is(const char *program)
{
	static const char section[] = "intact_test";
	char path[PATH_MAX];
	Elf64_Ehdr e;
	Elf64_Shdr names, s;
	bool is = false;
	FILE *f = find_in_path(program, path, sizeof path) ? fopen(path, "rb") : NULL;
	if (!f)
		return false;
	bool ok = fread(&e, sizeof e, 1, f) == 1 && !memcmp(e.e_ident, ELFMAG, SELFMAG) && e.e_ident[EI_CLASS] == ELFCLASS64 &&
	          e.e_shentsize == sizeof s && e.e_shstrndx < e.e_shnum &&
	          !fseek(f, (long)(e.e_shoff + e.e_shstrndx * sizeof s), SEEK_SET) && fread(&names, sizeof names, 1, f) == 1;
	for (unsigned i = 0; ok && i < e.e_shnum && !is; i++) {
		char name[sizeof section];
		ok = !fseek(f, (long)(e.e_shoff + i * sizeof s), SEEK_SET) && fread(&s, sizeof s, 1, f) == 1;
		is = ok && !fseek(f, (long)(names.sh_offset + s.sh_name), SEEK_SET) && fread(name, sizeof name, 1, f) == 1 &&
		     !memcmp(name, section, sizeof section);
	}
	fclose(f);
	return is;
}

/* What the program said about itself is within bounds and its texts end. */
static bool about_fits(struct objtest_about *a)
{
	a->name[OBJTEST_NAME - 1] = a->spec[OBJTEST_TEXT - 1] = a->initial[OBJTEST_TEXT - 1] = a->condition[OBJTEST_NAME - 1] = 0;
	bool ok = a->nops && a->nops <= OBJTEST_OPS && a->nbefore <= OBJTEST_LISTED && a->nafter <= OBJTEST_LISTED;
	for (uint32_t i = 0; ok && i < a->nops; i++)
		a->op[i].name[OBJTEST_NAME - 1] = a->op[i].as[OBJTEST_NAME - 1] = 0;
	for (uint32_t i = 0; ok && i < a->nbefore; i++)
		ok = a->before[i].op < a->nops;
	for (uint32_t i = 0; ok && i < a->nafter; i++)
		ok = a->after[i].op < a->nops;
	return ok;
}

static int describe(struct object_test *t, const struct explore_ask *ask)
{
	struct explore_server v;
	struct buf *err = &t->cli->err;
	int rc = EXIT_USAGE;
	if (!server_new(&v, err))
		return EXIT_INTERNAL;
	v.c->object.mode = OBJTEST_DESCRIBE;
	v.c->mode = CONTROL_SNAPSHOT;
	if (!server_start(&v, ask->argv, t->cli->keeps_pipe, err)) {
		server_free(&v);
		return EXIT_INTERNAL;
	}
	while (!v.ended)
		server_wait(&v, 1, 1e9, (double)ask->stall);
	t->about = v.c->object.about;
	v.c->text[CONTROL_TEXT - 1] = 0;
	if (v.c->state == CONTROL_OBJECT && about_fits(&t->about)) {
		rc = EXIT_HOLDS;
	} else if (v.c->state == CONTROL_GIVEN_UP) {
		buf_str(err, "intact: ");
		buf_safe(err, v.c->text, strlen(v.c->text));
		buf_char(err, '\n');
	} else if (!(WIFEXITED(v.status) && WEXITSTATUS(v.status) == 70)) { /* which has said why */
		buf_str(err, "intact: '");
		buf_safe(err, ask->argv[0], strlen(ask->argv[0]));
		buf_str(err, "' is an object test (intact/test.h) that was not built with `intact cc`, or it ends before main\n"
		             "hint: compile and link it with `intact cc`\n");
	}
	server_free(&v);
	return rc;
}

/* ---- which scenarios ---- */

static const char *usual_shapes(const struct object_test_options *o)
{
	return o->exhaustive ? "2x2,3x1" : "2x1,2x2,3x1,2x3,3x2,4x1,2x4,3x3";
}

/* Shapes with a thread that may call nothing are left out, unless they were asked for; one must be left. */
static bool keep_possible(struct object_test *t, struct buf *why)
{
	struct scenario_source *s = &t->source;
	uint32_t n = 0, idle = 0;
	for (uint32_t i = 0; i < s->nshapes; i++) {
		uint32_t thread = scenario_idle_thread(&t->about, s->shape[i]);
		if (!thread)
			s->shape[n++] = s->shape[i];
		else if (!idle || t->o->shape)
			idle = thread;
	}
	bool ok = n && (n == s->nshapes || !t->o->shape);
	s->nshapes = n;
	if (!ok)
		buf_printf(why, "no operation of '%s' may be called by thread %u (`threads` of the operations)", t->about.name,
		           idle);
	return ok;
}

static bool choose_scenarios(struct object_test *t)
{
	struct scenario_source *s = &t->source;
	struct buf *err = &t->cli->err, why;
	bool ok = true;
	s->about = &t->about;
	s->enumerate = t->o->exhaustive && !t->o->scenarios;
	s->limit = t->o->scenarios ? t->o->scenarios : USUAL_SCENARIOS;
	rng_seed(&s->rng, t->seed);
	buf_init(&why);
	if (t->o->scenario) {
		s->has_only = true;
		ok = scenario_read(&t->about, t->o->scenario, &s->only, &why);
	} else {
		ok = scenario_shapes_read(s, t->o->shape ? t->o->shape : usual_shapes(t->o), &why);
		ok = ok && keep_possible(t, &why);
		for (uint32_t i = 0; ok && s->enumerate && i < s->nshapes; i++)
			if (!scenario_count(&t->about, s->shape[i])) {
				ok = false;
				buf_printf(&why,
				           "there are more than a million scenarios of the shape %ux%u\n"
				           "hint: --scenarios N draws some of them, or make the ranges of arguments smaller",
				           s->shape[i].threads, s->shape[i].each);
			}
	}
	if (!ok) {
		buf_str(err, "intact: ");
		buf_add(err, why.data, why.len);
		buf_char(err, '\n');
	}
	buf_free(&why);
	return ok;
}

/* ---- questions of the servers ---- */

static void give(struct object_test *t, unsigned i, struct control *c)
{
	if (t->has[i])
		c->object.scenario = t->now[i];
	else
		c->object.scenario = (struct objtest_scenario){ 0 };
	c->sched.seed = t->seed + t->number[i] * 0x9e3779b97f4a7c15u;
	c->sched.max_runs = t->max_runs;
}

static void begin(void *arg, unsigned i, struct control *c)
{
	struct object_test *t = arg;
	if (!t->has[i] && !t->ended) {
		t->has[i] = scenario_next(&t->source, &t->now[i]);
		t->ended = !t->has[i];
		t->number[i] = ++t->begun;
	}
	give(t, i, c);
}

/* A scenario has been explored. */
static void count(struct object_test *t, struct control *c, bool whole)
{
	const struct sched_stats *s = &c->stats;
	t->scenarios++;
	t->exhausted += whole && c->verdict == SCHED_EXHAUSTED && !c->cut && !s->left_out;
	t->stats.runs += s->runs;
	t->stats.points += s->points;
	t->stats.traces += s->traces;
	t->stats.traces_full |= s->traces_full;
	t->stats.left_out += s->left_out;
	t->cut += c->cut;
	t->awaits += c->awaits;
	t->buffered += c->buffered;
	t->buffers_full += c->buffers_full;
	t->cancels += c->cancels;
	t->judged += c->judged;
	t->unjudged += c->unjudged;
	t->blocks += c->nblocks;
	memset(&c->stats, 0, sizeof c->stats);
	c->buffered = c->buffers_full = 0;
	c->cut = c->awaits = c->cancels = c->judged = c->unjudged = c->nblocks = 0;
}

static uint32_t next(struct object_test *t, struct control *c)
{
	unsigned i = c->object.server < SERVERS ? c->object.server : 0;
	if (t->has[i] && !t->small)
		count(t, c, true);
	if (t->small || c->stop)
		return OBJTEST_END;
	t->has[i] = !t->ended && scenario_next(&t->source, &t->now[i]);
	if (!t->has[i]) {
		t->ended = true;
		return OBJTEST_END;
	}
	t->number[i] = ++t->begun;
	give(t, i, c);
	return OBJTEST_FINE;
}

static uint32_t serve(void *arg, struct control *c)
{
	struct object_test *t = arg;
	if (c->object.ask == OBJTEST_ASK_NEXT)
		return next(t, c);
	enum seq_verdict v = object_judge(&t->judge, &c->object.scenario, &c->object.history);
	c->object.ordered = v == SEQ_EXPLAINED ? t->judge.ordered : 0;
	memcpy(c->object.before, t->judge.before, sizeof c->object.before);
	if (t->judge.error.len)
		c->stop = 1; /* nothing can be judged: object_test_search says why */
	return v == SEQ_EXPLAINED ? OBJTEST_FINE : v == SEQ_NOT_EXPLAINED ? OBJTEST_WRONG : OBJTEST_UNKNOWN;
}

/* ---- smaller scenarios ---- */

/* Does the scenario fail like `like`? Then *found replaces what is there. */
static bool fails_too(struct object_test *t, const struct explore_ask *ask, const struct objtest_scenario *s, uint32_t like,
                      struct explore_got *got)
{
	struct explore_ask one = *ask;
	struct explore_got again;
	bool is = false, over = false;
	t->small = true;
	for (int way = 0; way < 2 && !is && !over; way++) {
		t->now[0] = *s;
		t->has[0] = true;
		t->max_runs = way ? SMALL_SCHEDULES : SMALL_TRACES;
		one.strategy = way ? SCHED_MIX : SCHED_DPOR;
		one.schedules = t->max_runs;
		one.jobs = 1;
		one.raw = true;
		one.progress = NULL;
		one.until = 0; /* as long again */
		is = explore_search(t->cli, &one, &again) == EXIT_HOLDS && again.failed && again.failed->end == like;
		over = again.verdict == SCHED_EXHAUSTED;
		if (is) {
			free(got->failed);
			got->failed = got->modules = again.failed;
			got->mode = again.mode;
			got->schedule = again.schedule;
			memcpy(got->race, again.race, sizeof got->race);
			got->nraces = again.nraces;
			again.failed = again.modules = NULL;
		}
		explore_got_free(&again);
	}
	t->small = false;
	t->tried++;
	return is;
}

static bool late(const struct explore_ask *ask, double began)
{
	return ask->seconds && server_now() - began > (double)ask->seconds;
}

static void shrink(struct object_test *t, const struct explore_ask *ask, struct objtest_scenario best, struct explore_got *got)
{
	uint32_t like = got->failed->end;
	double began = server_now();
	struct objtest_scenario smaller;
	for (uint32_t nth = 0; scenario_smaller(&t->about, &best, nth, &smaller) && !late(ask, began); nth++)
		if (fails_too(t, ask, &smaller, like, got)) {
			best = smaller;
			nth = UINT32_MAX; /* from the beginning */
		}
	if (scenario_renumber(&t->about, &best, &smaller))
		fails_too(t, ask, &smaller, like, got);
}

/* ---- entries ---- */

struct object_test *object_test_new(struct cli *cli, const struct explore_ask *ask, const struct object_test_options *o, int *code)
{
	struct object_test *t = calloc(1, sizeof *t);
	*code = EXIT_INTERNAL;
	if (!t)
		return NULL;
	t->cli = cli;
	t->o = o;
	t->seed = ask->seed;
	t->hooks = (struct explore_tests){ begin, serve, t };
	*code = describe(t, ask);
	if (*code == EXIT_HOLDS && (!object_judge_init(&t->judge, &t->about, ask->argv, cli->keeps_pipe, (double)ask->stall,
	                                               ask->max_steps, ask->memory == CONTROL_C11, &cli->err) ||
	                            !choose_scenarios(t)))
		*code = EXIT_USAGE;
	if (*code == EXIT_HOLDS)
		return t;
	object_test_free(t);
	return NULL;
}

void object_test_free(struct object_test *t)
{
	if (!t)
		return;
	object_judge_free(&t->judge);
	scenario_source_free(&t->source);
	free(t);
}

/* What the judge could not do. */
static int spoilt(struct object_test *t, int rc)
{
	if (rc != EXIT_HOLDS || !t->judge.error.len)
		return rc;
	buf_add(&t->cli->err, t->judge.error.data, t->judge.error.len);
	return t->judge.sequential.broken ? EXIT_INTERNAL : EXIT_USAGE;
}

int object_test_search(struct object_test *t, struct explore_ask *ask, struct explore_got *got)
{
	ask->tests = &t->hooks;
	if (!ask->schedules && ask->strategy != SCHED_DPOR)
		ask->schedules = USUAL_SCHEDULES;
	t->max_runs = ask->schedules;
	struct explore_ask raw = *ask;
	raw.raw = true;
	int rc = spoilt(t, explore_search(t->cli, &raw, got));
	if (rc != EXIT_HOLDS)
		return rc;
	if (got->failed) {
		struct control *c = got->failed;
		unsigned i = c->object.server < SERVERS ? c->object.server : 0;
		t->failed_number = t->number[i];
		struct sched_stats stats = got->stats;
		double seconds = got->seconds;
		c->object.scenario = t->now[i];
		t->scenarios++;
		if (!ask->keep)
			shrink(t, ask, t->now[i], got);
		rc = explore_settle(t->cli, ask, got);
		got->stats = stats;
		got->seconds = seconds;
	} else if (t->has[0] && !t->ended) {
		t->scenarios++; /* it was cut short */
	}
	return spoilt(t, rc);
}

int object_test_replay(struct object_test *t, struct explore_ask *ask, const char *text, struct explore_got *got)
{
	struct buf why;
	struct control *c = (struct control *)(uintptr_t)ask->replay;
	buf_init(&why);
	bool ok = scenario_read(&t->about, text, &c->object.scenario, &why);
	if (!ok)
		buf_printf(&t->cli->err, "intact: the scenario of the schedule does not fit the program: %s\n", buf_cstr(&why));
	buf_free(&why);
	if (!ok)
		return EXIT_USAGE;
	ask->tests = &t->hooks;
	t->now[0] = c->object.scenario;
	t->has[0] = true;
	t->scenarios = 1;
	return spoilt(t, explore_search(t->cli, ask, got));
}

/* ---- what is told ---- */

const char *object_test_scenario(const struct object_test *t, const struct explore_got *got, struct arena *a)
{
	struct buf b;
	buf_init(&b);
	scenario_write(&t->about, &got->failed->object.scenario, &b);
	const char *text = arena_strdup(a, buf_cstr(&b));
	buf_free(&b);
	return text;
}

static const char *scope(const struct object_test *t, struct arena *a)
{
	const struct scenario_source *s = &t->source;
	struct buf b;
	buf_init(&b);
	if (s->has_only) {
		buf_str(&b, "the one that was given");
	} else {
		for (uint32_t i = 0; i < s->nshapes; i++)
			buf_printf(&b, "%s%ux%u", i ? ", " : "", s->shape[i].threads, s->shape[i].each);
	}
	const char *text = arena_strdup(a, buf_cstr(&b));
	buf_free(&b);
	return text;
}

static const char *text_of(struct arena *a, struct buf *b)
{
	const char *s = arena_strdup(a, buf_cstr(b));
	buf_clear(b);
	return s;
}

static void tell_calls(const struct object_test *t, const struct control *c, struct arena *a, struct explore_object *o)
{
	const struct objtest_scenario *s = &c->object.scenario;
	const struct objtest_history *h = &c->object.history;
	uint32_t called[OBJTEST_CALLS] = { 0 }, returned[OBJTEST_CALLS] = { 0 };
	struct buf b;
	buf_init(&b);
	for (uint32_t i = 0; i < h->nevents && i < 2 * OBJTEST_CALLS; i++)
		if (h->event[i] / 2 < OBJTEST_CALLS)
			(h->event[i] & 1 ? returned : called)[h->event[i] / 2] = i + 1;
	for (uint32_t i = 0; i < s->ncalls && i < OBJTEST_CALLS; i++) {
		const struct objtest_call *k = &s->call[i];
		if (k->op >= t->about.nops)
			continue;
		scenario_call_write(&t->about, k, &b);
		struct explore_call e = {
			.text = text_of(a, &b), .thread = k->thread, .called = called[i], .returned = returned[i]
		};
		if (h->state[i] == OBJTEST_RETURNED) {
			scenario_result_write(&t->about, k, h->result[i], &b);
			e.result = text_of(a, &b);
		}
		e.waits = h->stuck == OBJTEST_WAITS && h->state[i] == OBJTEST_CALLED;
		if (k->part == OBJTEST_BEFORE)
			avec_push(a, &o->before, e);
		else if (k->part == OBJTEST_AFTER)
			avec_push(a, &o->after, e);
		else
			avec_push(a, &o->calls, e);
	}
	o->threads = s->nthreads;
	buf_free(&b);
}

/* What main does to begin and end threads is no part of the story. */
static bool is_housekeeping(const char *op)
{
	static const char *const ops[] = { "create", "start", "exit", "join", "process-exit", "invoke", NULL };
	for (int i = 0; ops[i]; i++)
		if (!strcmp(op, ops[i]))
			return true;
	return false;
}

static const char *call_text(const struct object_test *t, const struct control *c, uint32_t event, struct arena *a)
{
	const struct objtest_history *h = &c->object.history;
	uint32_t call = h->event[event] / 2;
	struct buf b;
	buf_init(&b);
	buf_str(&b, h->event[event] & 1 ? "returns " : "calls ");
	if (h->event[event] & 1)
		scenario_result_write(&t->about, &c->object.scenario.call[call], h->result[call], &b);
	else
		scenario_call_write(&t->about, &c->object.scenario.call[call], &b);
	const char *text = text_of(a, &b);
	buf_free(&b);
	return text;
}

/* Rows for the events of the history at step `i`: invocations come before it, returns behind it. */
static bool add_calls(const struct object_test *t, const struct control *c, uint32_t i, bool returns, struct explore_step like,
                      struct arena *a, struct explore_failure *f)
{
	const struct objtest_history *h = &c->object.history;
	bool any = false;
	for (uint32_t k = 0; k < h->nevents && k < 2 * OBJTEST_CALLS; k++) {
		if (h->step[k] != i || (h->event[k] & 1) != returns || h->event[k] / 2 >= c->object.scenario.ncalls)
			continue;
		like.op = returns ? "return" : "invoke";
		like.text = call_text(t, c, k, a);
		like.nstack = 0;
		avec_push(a, &f->steps, like);
		like.preempts = false;
		any = true;
	}
	return any;
}

/* Steps up to the last return; when calls are made after, all of main's: validate and destroy cannot be told from them. */
static uint32_t needed(const struct control *c, const struct explore_step *s, uint32_t n)
{
	const struct objtest_history *h = &c->object.history;
	uint32_t last = 0;
	for (uint32_t k = 0; k < h->nevents && k < 2 * OBJTEST_CALLS; k++)
		last = h->step[k] != OBJTEST_NO_STEP && h->step[k] > last ? h->step[k] : last;
	bool after = false;
	for (uint32_t k = 0; k < c->object.scenario.ncalls && k < OBJTEST_CALLS; k++)
		after |= c->object.scenario.call[k].part == OBJTEST_AFTER;
	while (n > last + 1 && !(after && s[n - 1].thread == 0))
		n--;
	return n;
}

/* The steps with the calls that they belong to. */
static void tell_steps(const struct object_test *t, const struct control *c, struct arena *a, struct explore_failure *f)
{
	struct explore_step *old = f->steps.data;
	uint32_t n = f->steps.len;
	bool preempts = false; /* a switch to a step that is not shown */
	if (c->end == CONTROL_NOT_LINEARIZABLE)
		n = needed(c, old, n);
	memset(&f->steps, 0, sizeof f->steps);
	for (uint32_t i = 0; i < n; i++) {
		struct explore_step s = old[i];
		bool shown = !is_housekeeping(s.op);
		preempts = s.preempts = s.preempts || (preempts && i && old[i - 1].thread == s.thread);
		uint32_t before = f->steps.len;
		if (add_calls(t, c, i, false, s, a, f))
			s.preempts = false;
		if (shown)
			avec_push(a, &f->steps, s);
		preempts &= f->steps.len == before;
		s.preempts = false;
		add_calls(t, c, i, true, s, a, f);
	}
	for (uint32_t i = 1; i < f->threads.len; i++)
		f->threads.data[i].name = i <= c->object.scenario.nthreads ? "" : f->threads.data[i].name;
}

/* What the process that failed has left in its block may be damaged. */
static void make_safe(const struct object_test *t, struct control *c)
{
	struct objtest_scenario *s = &c->object.scenario;
	bool ok = s->ncalls <= OBJTEST_CALLS && s->nthreads <= OBJTEST_THREADS && c->object.history.nevents <= 2 * OBJTEST_CALLS;
	for (uint32_t i = 0; ok && i < s->ncalls; i++)
		ok = s->call[i].op < t->about.nops && s->call[i].thread <= s->nthreads;
	if (!ok)
		s->ncalls = s->nthreads = c->object.history.nevents = 0;
}

/* Of a history without an explanation. */
static const char *title(const char *condition)
{
	static const char *const titles[][2] = { { "sequential", "NOT SEQUENTIALLY CONSISTENT" },
		                                 { "quiescent", "NOT QUIESCENTLY CONSISTENT" },
		                                 { "regular", "NOT REGULAR" },
		                                 { "safe", "NOT SAFE" } };
	for (uint32_t i = 0; i < sizeof titles / sizeof *titles; i++)
		if (!strcmp(condition, titles[i][0]))
			return titles[i][1];
	return "NOT LINEARIZABLE";
}

void object_test_tell(struct object_test *t, const struct explore_got *got, struct arena *a, struct explore_report *r)
{
	if (got->failed)
		make_safe(t, got->failed);
	struct explore_object *o = r->object = arena_new(a, struct explore_object);
	*o = (struct explore_object){ .name = arena_strdup(a, t->about.name),
		                      .against = object_judge_against(&t->judge, a),
		                      .condition = arena_strdup(a, t->about.condition),
		                      .progress = r->memory                                       ? NULL
		                                  : t->about.progress == OBJTEST_LOCK_FREE        ? "lock-free"
		                                  : t->about.progress == OBJTEST_OBSTRUCTION_FREE ? "obstruction-free"
		                                                                                  : NULL,
		                      .progress_left_out = r->memory && t->about.progress,
		                      .scope = scope(t, a),
		                      .scenarios = t->scenarios,
		                      .exhausted = t->exhausted,
		                      .histories = t->judge.asked,
		                      .unknown = t->judge.unknown,
		                      .orders = t->judge.sequential.orders,
		                      .enumerated = t->source.enumerate || t->source.has_only,
		                      .early = !t->ended && !got->failed && !r->replayed };
	if (!r->replayed) {
		r->schedules += t->stats.runs;
		r->points += t->stats.points;
		r->traces += t->stats.traces;
		r->traces_full |= t->stats.traces_full;
		r->bounded |= t->stats.left_out > 0;
		r->cut += t->cut;
		r->awaits |= t->awaits > 0;
		r->buffered += t->buffered;
		r->buffers_full += t->buffers_full;
		r->bounded |= t->buffers_full > 0;
		r->cancels |= t->cancels > 0;
		r->judged += t->judged;
		r->unjudged += t->unjudged;
		r->blocks += t->blocks;
	}
	r->exhausted = o->enumerated && !o->early && o->exhausted == o->scenarios && !o->unknown;
	r->estimate_known = false;
	r->pairs = r->pairs_both = 0;
	if (!got->failed)
		return;
	tell_calls(t, got->failed, a, o);
	o->scenario = object_test_scenario(t, got, a);
	o->number = t->failed_number;
	o->tried = t->tried;
	if (r->failure) {
		tell_steps(t, got->failed, a, r->failure);
		if (got->failed->end == CONTROL_NOT_LINEARIZABLE) {
			r->failure->title = title(o->condition);
			o->reason = r->failure->sentence = arena_strdup(a, buf_cstr(&t->judge.reason));
		}
	}
}

int object_test_code(const struct explore_report *r, const struct explore_ask *ask)
{
	const char *v = explore_verdict(r);
	if (!strcmp(v, "violated"))
		return EXIT_VIOLATED;
	if (strcmp(v, "holds") != 0 || r->stopped || r->object->unknown)
		return EXIT_UNKNOWN;
	return ask->strategy == SCHED_DPOR && !r->replayed && !r->exhausted &&
	                       (r->cut || r->object->early || r->object->exhausted < r->object->scenarios)
	               ? EXIT_UNKNOWN
	               : EXIT_HOLDS;
}
