/*
 * explore_search: see explore_search.h.
 *
 * A server that dies or gives up is looked at: more threads or another way of
 * running may help, then it is started again from the beginning; otherwise the
 * reason is the answer. What a server says of a failure is not believed: its
 * schedule is followed by a fresh process, in detail, and the failure must come
 * again; that process's account is the one that is reported.
 */
#include "program/explore_search.h"
#include "base/invariant.h"
#include "program/counters.h"
#include "program/explore_story.h"

#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { MAX_JOBS = 64, TRIES = 12, LOST_MAX = 4, WARM_UP = 32 };

struct explore_search {
	struct cli *cli;
	const struct explore_ask *ask;
	struct explore_got *got;
	uint32_t mode, threads;
	struct explore_server server[MAX_JOBS];
	unsigned n;
	unsigned replaced;      /* servers that were lost */
	double began, until;    /* until: 0, no limit */
	struct control *points; /* a process whose places are points from the first run on; NULL: none */
	bool no_await;          /* loops that repeat the same reads are not taken to wait */
	uint32_t ncounters;
	struct counter_range counter[CONTROL_COUNTERS];
};

static void fill(const struct explore_search *s, struct control *c, unsigned i)
{
	assert(c && i < s->n + !s->n);
	assert(c->magic == CONTROL_MAGIC && s->threads <= CONTROL_THREADS);
	const struct explore_ask *a = s->ask;
	c->mode = s->mode;
	c->threads = s->threads;
	c->races = a->races;
	c->spurious = a->spurious;
	c->memory = a->memory;
	c->no_await = s->no_await;
	c->ncounters = s->ncounters;
	for (uint32_t k = 0; k < s->ncounters; k++) {
		c->counter[k].lo = s->counter[k].lo;
		c->counter[k].hi = s->counter[k].hi;
	}
	/* the processes of all parts are the shards of one search */
	uint32_t n = s->n * (a->shards ? a->shards : 1), at = a->shard * s->n + i;
	c->sched = (struct sched_options){
		.strategy = (enum sched_strategy)a->strategy,
		.seed = a->seed,
		.depth = (uint32_t)a->depth,
		.max_threads = CONTROL_THREADS,
		.max_steps = (uint32_t)a->max_steps,
		.max_runs = a->schedules ? a->schedules / n + (at < a->schedules % n) : 0,
		.max_preemptions = (int32_t)a->preemptions,
		.no_coverage = a->no_coverage,
		.shard = at,
		.shards = n > 1 ? n : 0,
	};
	c->survey_fd = a->survey_fd;
	c->survey_room = a->survey_room;
	if (a->gaps) {
		c->ngaps = a->gaps->n;
		c->only_gaps = a->only_gaps;
		c->lock_order = a->gaps->lock_order;
		memcpy(c->gap, a->gaps->gap, sizeof c->gap);
		memcpy(c->gap_module, a->gaps->module, sizeof c->gap_module);
	}
	if (s->points) {
		c->nplaces = s->points->nplaces <= CONTROL_PLACES ? s->points->nplaces : CONTROL_PLACES;
		memcpy(c->places, s->points->places, sizeof c->places);
		c->ngiven = s->points->nmodules <= CONTROL_MODULES ? s->points->nmodules : CONTROL_MODULES;
		memcpy(c->given, s->points->modules, sizeof c->given);
	}
}

/* A server with its block filled in. */
static bool prepare(struct explore_search *s, struct explore_server *v, unsigned i)
{
	const struct explore_tests *t = s->ask->tests;
	if (!server_new(v, &s->cli->err))
		return false;
	fill(s, v->c, i);
	v->until = s->until;
	if (!t)
		return true;
	v->serve = t->serve;
	v->serve_arg = t->arg;
	v->c->object.mode = OBJTEST_EXPLORE;
	v->c->object.server = i;
	v->c->sched.shard = v->c->sched.shards = 0; /* each explores scenarios of its own */
	v->c->sched.max_runs = s->ask->schedules;
	return server_asks(v, &s->cli->err);
}

/* ---- why a server has ended ---- */

static void say_text(struct buf *b, const struct control *c)
{
	buf_safe(b, c->text, strnlen(c->text, CONTROL_TEXT));
}

/* It gave up. EXIT_HOLDS: another try may do, with what was changed. */
static int gave_up(struct explore_search *s, const struct control *c)
{
	struct buf *err = &s->cli->err;
	switch (c->why) {
	case CONTROL_WHY_THREADS:
		if (s->threads >= CONTROL_THREADS)
			break;
		s->threads = s->threads * 2 > CONTROL_THREADS ? CONTROL_THREADS : s->threads * 2;
		return EXIT_HOLDS;
	case CONTROL_WHY_RESTORE:
		if (s->mode != CONTROL_SNAPSHOT)
			break;
		s->mode = CONTROL_FORK;
		snprintf(s->got->why_fork, sizeof s->got->why_fork, "%.*s", CONTROL_TEXT - 1, c->text);
		buf_str(err, "intact: the program cannot be restarted in place (");
		say_text(err, c);
		explore_say_place(err, c);
		buf_str(err, "): each schedule runs in its own process, which is slower\n");
		return EXIT_HOLDS;
	default:
		break;
	}
	buf_str(err, "intact: the program cannot be explored: ");
	say_text(err, c);
	explore_say_place(err, c);
	buf_char(err, '\n');
	assert(c->state == CONTROL_GIVEN_UP);
	return c->why == CONTROL_WHY_INTERNAL ? EXIT_INTERNAL : EXIT_USAGE;
}

/* It has ended without a result. */
static int died(struct explore_search *s, const struct explore_server *v)
{
	assert(v->ended && v->c);
	struct buf *err = &s->cli->err;
	const char *program = s->ask->argv[0];
	if (v->c->state == CONTROL_GIVEN_UP)
		return gave_up(s, v->c);
	if (v->c->state == CONTROL_OBJECT) {
		buf_str(err, "intact: the program is an object test (intact/test.h), to which this option does not apply\n");
		return EXIT_USAGE;
	}
	if (v->c->state == CONTROL_NEW) {
		if (WIFEXITED(v->status) && (WEXITSTATUS(v->status) == 126 || WEXITSTATUS(v->status) == 127))
			return EXIT_USAGE; /* said by itself */
		if (WIFEXITED(v->status) && WEXITSTATUS(v->status) == 70)
			return EXIT_USAGE;
		buf_str(err, "intact: '");
		buf_safe(err, program, strlen(program));
		buf_str(err, WIFEXITED(v->status)
		                     ? "' was not built with `intact cc`, or ends before main\nhint: link it with `intact cc`\n"
		                     : "' was ended by a signal before main\n");
		return EXIT_USAGE;
	}
	buf_str(err, v->stalled ? "intact: a schedule does not terminate and could not be stopped"
	                        : "intact: the exploring process was killed");
	if (WIFSIGNALED(v->status))
		buf_printf(err, " (signal %d, %s)", WTERMSIG(v->status), strsignal(WTERMSIG(v->status)));
	buf_char(err, '\n');
	return EXIT_INTERNAL;
}

/* ---- results ---- */

static void add_stats(struct sched_stats *to, const struct sched_stats *from)
{
	to->runs += from->runs;
	to->complete += from->complete;
	to->cut += from->cut;
	to->points += from->points;
	to->switches += from->switches;
	to->traces += from->traces; /* of several servers: an upper bound */
	to->traces_full |= from->traces_full;
	to->blocked += from->blocked;
	to->left_out += from->left_out;
	to->pairs = from->pairs > to->pairs ? from->pairs : to->pairs;
	to->pairs_both = from->pairs_both > to->pairs_both ? from->pairs_both : to->pairs_both;
	if (from->estimate_known) {
		to->estimate_known = true;
		to->estimate_seen = from->estimate_seen;
		to->estimate_total = from->estimate_total;
	}
}

/* All traces were explored when every server has explored its own. */
static void add_verdict(struct explore_got *g, const struct control *c)
{
	static const uint32_t rank[] = {
		[SCHED_EXHAUSTED] = 0, [SCHED_GO_ON] = 1, [SCHED_LIMIT] = 1, [SCHED_FULL] = 2, [SCHED_NONDETERMINISTIC] = 3
	};
	enum { RANKS = sizeof rank / sizeof *rank };
	uint32_t v = c->verdict < RANKS ? c->verdict : SCHED_GO_ON;
	if (g->ended++ && rank[v] <= rank[g->verdict])
		return;
	g->verdict = v;
	g->divergence = c->divergence;
}

static void add_races(struct explore_got *g, const struct control *c)
{
	for (uint32_t i = 0; i < c->nraces && i < CONTROL_RACES; i++) {
		const struct control_race *r = &c->race[i];
		bool known = false;
		for (uint32_t k = 0; k < g->nraces; k++)
			known |= (g->race[k].pc[0] == r->pc[0] && g->race[k].pc[1] == r->pc[1]) ||
			         (g->race[k].pc[0] == r->pc[1] && g->race[k].pc[1] == r->pc[0]);
		if (!known && g->nraces < CONTROL_RACES)
			g->race[g->nraces++] = *r;
	}
	assert(g->nraces <= CONTROL_RACES);
}

static struct control *copy(const struct control *c)
{
	/* the long arrays only as far as they are used: the rest of the pages is never touched */
	struct control *p = calloc(1, sizeof *p);
	if (!p)
		return NULL;
	uint32_t n = c->nevents < CONTROL_STEPS ? c->nevents : CONTROL_STEPS;
	memcpy(p, c, offsetof(struct control, events));
	memcpy(p->events, c->events, n * sizeof *p->events);
	p->nend_stack = c->nend_stack;
	p->naccesses = c->naccesses;
	memcpy(p->access, c->access, (c->naccesses < CONTROL_ACCESSES ? c->naccesses : CONTROL_ACCESSES) * sizeof *p->access);
	p->nblocks_given = c->nblocks_given;
	memcpy(p->block, c->block, (c->nblocks_given < CONTROL_BLOCKS ? c->nblocks_given : CONTROL_BLOCKS) * sizeof *p->block);
	memcpy(p->end_stack, c->end_stack, sizeof p->end_stack);
	memcpy(p->steps, c->steps, n * sizeof *p->steps);
	p->tried = c->tried;
	return p;
}

static bool is_failure(uint32_t end)
{
	return end > CONTROL_OK && end < CONTROL_LIMIT;
}

/* ---- confirming ---- */

/* A server's block, to follow the schedule of another. */
static void give_schedule(struct control *c, const struct control *from)
{
	c->sched.shard = c->sched.shards = 0;
	c->nreplay = from->nevents <= CONTROL_STEPS ? from->nevents : CONTROL_STEPS;
	memcpy(c->replay, from->events, c->nreplay * sizeof *from->events);
	c->norigins = from->norigins <= CONTROL_THREADS ? from->norigins : CONTROL_THREADS;
	memcpy(c->origins, from->origins, sizeof from->origins);
	c->nplaces = from->nplaces <= CONTROL_PLACES ? from->nplaces : CONTROL_PLACES;
	memcpy(c->places, from->places, sizeof from->places);
	c->ngiven = from->nmodules <= CONTROL_MODULES ? from->nmodules : CONTROL_MODULES;
	memcpy(c->given, from->modules, sizeof from->modules);
	assert(c->nreplay <= CONTROL_STEPS && c->norigins <= CONTROL_THREADS && c->nplaces <= CONTROL_PLACES);
	c->object.scenario = from->object.scenario;
}

static int run_to_end(struct explore_search *s, struct explore_server *v)
{
	if (!server_start(v, s->ask->argv, s->cli->keeps_pipe, &s->cli->err))
		return EXIT_INTERNAL;
	while (!v->ended)
		server_wait(v, 1, 1e9, v->gdb ? 1e8 : (double)s->ask->stall);
	assert(v->ended);
	return EXIT_HOLDS;
}

/* A schedule that was found is minimised, and then repeated, for as long again as the search may take. */
static double allowance(const struct explore_search *s)
{
	return s->ask->seconds ? server_now() + (double)s->ask->seconds : 0;
}

/* A shorter schedule that fails the same way replaces the one in `found`. Whatever goes
 * wrong here, the one that was found is still good. */
static void minimise(struct explore_search *s, struct control *found)
{
	struct explore_server v;
	if (found->end == CONTROL_ENDLESS || !prepare(s, &v, 0))
		return;
	give_schedule(v.c, found);
	v.until = allowance(s);
	v.c->sched.strategy = SCHED_GUIDE;
	v.c->sched.max_runs = 0;
	v.c->sched.no_coverage = true;
	v.c->goal = found->end;
	v.c->goal_pc = found->pc;
	if (run_to_end(s, &v) == EXIT_HOLDS && v.c->state == CONTROL_DONE && v.c->nevents && v.c->nevents <= CONTROL_STEPS) {
		found->nevents = v.c->nevents;
		memcpy(found->events, v.c->events, v.c->nevents * sizeof *found->events);
		s->got->tried = v.c->tried;
	}
	server_free(&v);
}

/* An endless loop is one when the schedule, followed without awaits, does not end. */
static bool same_end(const struct control *found, const struct control *again)
{
	if (found->end == CONTROL_ENDLESS)
		return again->end == CONTROL_LIMIT || again->end == CONTROL_ENDLESS;
	return again->end == found->end;
}

/* The same schedule in a fresh process, in detail. EXIT_UNKNOWN: it does not fail there, as is said if `tell`. */
static int confirm(struct explore_search *s, const struct control *found, bool tell)
{
	struct explore_server v;
	struct buf *err = &s->cli->err;
	if (!prepare(s, &v, 0))
		return EXIT_INTERNAL;
	give_schedule(v.c, found);
	v.until = allowance(s);
	v.c->sched.strategy = SCHED_REPLAY;
	v.c->sched.max_runs = 1;
	v.c->detail = 1;
	v.c->no_await = s->no_await || found->end == CONTROL_ENDLESS;
	int rc = run_to_end(s, &v);
	if (rc == EXIT_HOLDS && v.c->state == CONTROL_DONE && same_end(found, v.c)) {
		v.c->end = found->end;
		if (found->end == CONTROL_ENDLESS) {
			memcpy(v.c->text, found->text, sizeof v.c->text);
			v.c->nevents = found->nevents < v.c->nevents ? found->nevents : v.c->nevents;
		}
		s->got->failed = copy(v.c);
		s->got->modules = s->got->failed;
		rc = s->got->failed ? EXIT_HOLDS : EXIT_INTERNAL;
	} else if (rc == EXIT_HOLDS) {
		if (tell)
			explore_say_repeated(err, found, v.c);
		rc = EXIT_UNKNOWN;
	}
	server_free(&v);
	return rc;
}

/* In a fresh process, minimised if that fails, too. */
static int repeat(struct explore_search *s, struct control *found)
{
	struct control *shorter = s->ask->keep ? NULL : copy(found);
	int rc = EXIT_UNKNOWN;
	if (shorter) {
		minimise(s, shorter);
		rc = confirm(s, shorter, false);
	}
	if (rc == EXIT_UNKNOWN)
		rc = confirm(s, found, found->end != CONTROL_ENDLESS || s->no_await);
	free(shorter);
	return rc;
}

/* ---- the search ---- */

static int start_all(struct explore_search *s)
{
	assert(s->n && s->n <= MAX_JOBS);
	for (unsigned i = 0; i < s->n; i++) {
		if (!prepare(s, &s->server[i], i))
			return EXIT_INTERNAL;
		if (s->ask->tests)
			s->ask->tests->begin(s->ask->tests->arg, i, s->server[i].c);
		if (!server_start(&s->server[i], s->ask->argv, s->cli->keeps_pipe, &s->cli->err))
			return EXIT_INTERNAL;
	}
	return EXIT_HOLDS;
}

/* It was ended from outside or by its own failure, or its block is damaged. */
static bool is_lost(const struct explore_server *v)
{
	const struct control *c = v->c;
	bool intact = c->magic == CONTROL_MAGIC && c->version == CONTROL_VERSION && c->size == sizeof *c &&
	              c->state <= CONTROL_OBJECT;
	return !v->stalled && !v->cut &&
	       (!intact || c->state == CONTROL_RUNNING || (c->state == CONTROL_NEW && WIFSIGNALED(v->status)));
}

/* Another in its place, from the beginning; what draws, draws otherwise. */
static int replace(struct explore_search *s, unsigned i)
{
	assert(i < s->n && s->server[i].ended);
	struct explore_server *v = &s->server[i];
	struct buf *err = &s->cli->err;
	s->replaced++;
	buf_str(err, "intact: a process that explores was ended or damaged");
	if (WIFSIGNALED(v->status))
		buf_printf(err, " (signal %d, %s)", WTERMSIG(v->status), strsignal(WTERMSIG(v->status)));
	buf_str(err, "; another takes its place\n");
	struct objtest_scenario scenario = v->c->object.scenario;
	server_free(v);
	if (!prepare(s, v, i))
		return EXIT_INTERNAL;
	v->c->object.scenario = scenario;
	v->c->sched.seed += (uint64_t)s->replaced << 40;
	return server_start(v, s->ask->argv, s->cli->keeps_pipe, err) ? EXIT_HOLDS : EXIT_INTERNAL;
}

static void stop_all(struct explore_search *s)
{
	for (unsigned i = 0; i < s->n; i++)
		server_free(&s->server[i]);
}

static void tell_progress(const struct explore_search *s)
{
	assert(s->n <= MAX_JOBS);
	struct explore_progress p = { .limit = s->ask->schedules };
	for (unsigned i = 0; i < s->n; i++) {
		const struct control *c = s->server[i].c;
		p.schedules += c ? __atomic_load_n(&c->beat, __ATOMIC_RELAXED) : 0;
		p.traces += c ? c->stats.traces : 0;
		if (c && c->stats.estimate_known) {
			p.estimate_known = true;
			p.estimate_total = c->stats.estimate_total;
			p.estimate_seen = c->stats.estimate_seen;
		}
	}
	if (s->ask->progress)
		s->ask->progress(s->ask->arg, &p);
}

/* All have ended, or one has failed: which is the answer? */
static int once(struct explore_search *s, struct control **found, bool *again)
{
	int rc = start_all(s);
	*found = NULL;
	*again = false;
	unsigned left = rc == EXIT_HOLDS ? s->n : 0;
	assert(left <= MAX_JOBS);
	bool done[MAX_JOBS] = { false };
	while (left) {
		server_wait(s->server, s->n, s->ask->progress ? 0.2 : 1e9, (double)s->ask->stall);
		tell_progress(s);
		for (unsigned i = 0; i < s->n; i++) {
			struct explore_server *v = &s->server[i];
			if (!v->ended || done[i])
				continue;
			done[i] = true;
			left--;
			if (is_lost(v) && s->replaced < LOST_MAX) { /* nothing that it says is believed */
				rc = replace(s, i);
				if (rc != EXIT_HOLDS)
					return rc;
				done[i] = false;
				left++;
				continue;
			}
			s->got->late |= v->cut && (v->c->late || v->c->state != CONTROL_DONE);
			if (v->cut && v->c->state != CONTROL_DONE) { /* it had to be killed */
				s->got->stats.runs += v->c->runs_done;
				continue;
			}
			if (v->c->state != CONTROL_DONE) {
				rc = died(s, v);
				*again = rc == EXIT_HOLDS;
				return rc;
			}
			add_stats(&s->got->stats, &v->c->stats);
			add_races(s->got, v->c);
			s->got->cut += v->c->cut;
			s->got->blocks += v->c->nblocks;
			s->got->awaits += v->c->awaits;
			s->got->buffered += v->c->buffered;
			s->got->buffers_full += v->c->buffers_full;
			s->got->cancels += v->c->cancels;
			s->got->aside += v->c->aside;
			s->got->judged += v->c->judged;
			s->got->unjudged += v->c->unjudged;
			s->got->cpu_ns += v->c->cpu_ns;
			if (v->c->most_threads > s->got->most_threads)
				s->got->most_threads = v->c->most_threads;
			add_verdict(s->got, v->c);
			if (!s->got->modules)
				s->got->modules = copy(v->c);
			if (is_failure(v->c->end) && !*found) {
				*found = copy(v->c);
				s->got->schedule = v->c->kept_run ? v->c->kept_run : v->c->stats.runs;
				for (unsigned k = 0; k < s->n; k++) /* they end after their run */
					s->server[k].c->stop = CONTROL_STOP_AFTER;
			}
		}
		/* so that each wait waits for those that are left */
		for (unsigned i = 0; i < s->n; i++)
			if (done[i])
				s->server[i].ended = false, s->server[i].pid = 0;
	}
	return rc;
}

/* One run along a saved schedule; what it ends with is the answer. */
static int replay(struct explore_search *s)
{
	assert(s->ask->replay);
	struct explore_server v;
	for (int tries = 0; tries < TRIES; tries++) {
		if (!prepare(s, &v, 0))
			return EXIT_INTERNAL;
		give_schedule(v.c, s->ask->replay);
		v.c->sched.strategy = SCHED_REPLAY;
		v.c->sched.max_runs = 1;
		v.c->detail = 1;
		v.c->show_output = s->ask->gdb;
		v.gdb = s->ask->gdb;
		if (s->ask->real)
			v.c->mode = CONTROL_REAL;
		int rc = run_to_end(s, &v);
		if (s->ask->gdb) {
			server_free(&v);
			return rc;
		}
		if (rc == EXIT_HOLDS && v.c->state != CONTROL_DONE)
			rc = died(s, &v);
		else
			tries = TRIES;
		if (rc == EXIT_HOLDS && tries == TRIES) {
			add_stats(&s->got->stats, &v.c->stats);
			add_races(s->got, v.c);
			s->got->modules = copy(v.c);
			s->got->schedule = 1;
			s->got->divergence = v.c->divergence;
			s->got->verdict = v.c->end == CONTROL_DIVERGED ? SCHED_NONDETERMINISTIC : SCHED_LIMIT;
			if (is_failure(v.c->end))
				s->got->failed = s->got->modules;
		}
		server_free(&v);
		if (rc != EXIT_HOLDS)
			return rc;
	}
	return EXIT_HOLDS;
}

/*
 * An exhaustive search lets a thread that spins on plain data run on, as such data are no points before a race has
 * shown them; sampling is fair. So some sampled schedules come first, for the places that race in them.
 */
static void find_points(struct explore_search *s)
{
	struct explore_server v;
	if (!prepare(s, &v, 0))
		return;
	if (s->until > 0) /* half of the time */
		v.until = (server_now() + s->until) / 2;
	v.c->sched.strategy = SCHED_MIX;
	v.c->sched.max_runs = WARM_UP;
	v.c->sched.shard = v.c->sched.shards = 0;
	v.c->sched.no_coverage = true;
	if (run_to_end(s, &v) == EXIT_HOLDS && v.c->state == CONTROL_DONE && v.c->nplaces)
		s->points = copy(v.c);
	server_free(&v);
}

/* `found` failed: the smallest such schedule, as a fresh process tells it. */
static int settle(struct explore_search *s, struct control *found)
{
	free(s->got->modules);
	s->got->modules = NULL;
	return repeat(s, found);
}

/* The search, and what it found repeated; with `raw` it is left as it was found. */
static int search(struct explore_search *s)
{
	struct explore_got *got = s->got;
	struct control *found = NULL;
	bool again = true;
	int rc = EXIT_HOLDS;
	for (int tries = 0; again && tries < TRIES; tries++) {
		free(got->modules);
		got->modules = NULL;
		got->ended = 0;
		rc = once(s, &found, &again);
		stop_all(s);
	}
	if (rc == EXIT_HOLDS && found && s->ask->raw) {
		free(got->modules);
		got->failed = got->modules = found;
		return rc;
	}
	if (rc == EXIT_HOLDS && found && !s->ask->survey_fd) {
		rc = settle(s, found);
		if (rc == EXIT_UNKNOWN && found->end == CONTROL_ENDLESS && !s->no_await) {
			/* A loop that was taken to wait forever does end: from now on loops are run to their end. */
			s->no_await = true;
			free(found);
			memset(&got->stats, 0, sizeof got->stats);
			got->buffered = got->buffers_full = 0;
			got->cut = got->blocks = got->awaits = got->cancels = got->aside = got->judged = got->unjudged = 0;
			return search(s);
		}
	}
	free(found);
	return rc;
}

static struct explore_search *search_new(struct cli *cli, const struct explore_ask *ask, struct explore_got *got)
{
	assert(ask->argv && ask->argv[0]);
	struct explore_search *s = calloc(1, sizeof *s);
	if (!s)
		return NULL;
	*s = (struct explore_search){ .cli = cli,
		                      .ask = ask,
		                      .got = got,
		                      .threads = 16,
		                      .began = server_now(),
		                      .mode = ask->fork ? CONTROL_FORK : CONTROL_SNAPSHOT,
		                      .n = ask->jobs ? (unsigned)ask->jobs : 1 };
	s->ncounters = counters_of(ask->argv[0], s->counter, CONTROL_COUNTERS);
	if (!ask->replay)
		s->until = ask->until > 0 ? ask->until : ask->seconds ? s->began + (double)ask->seconds : 0;
	/* a share of no schedules would be no limit */
	uint64_t each = ask->schedules / (ask->shards ? ask->shards : 1);
	if (ask->schedules && s->n > each)
		s->n = each ? (unsigned)each : 1;
	for (unsigned i = 0; i < MAX_JOBS; i++)
		s->server[i].fd = s->server[i].pidfd = s->server[i].ask_fd = -1;
	return s;
}

int explore_search(struct cli *cli, const struct explore_ask *ask, struct explore_got *got)
{
	memset(got, 0, sizeof *got);
	struct explore_search *s = search_new(cli, ask, got);
	if (!s)
		return EXIT_INTERNAL;
	if (ask->strategy == SCHED_DPOR && !ask->replay && !ask->tests)
		find_points(s);
	int rc = ask->replay ? replay(s) : search(s);
	free(s->points);
	got->mode = s->mode;
	got->seconds = server_now() - s->began;
	free(s);
	return rc;
}

int explore_settle(struct cli *cli, const struct explore_ask *ask, struct explore_got *got)
{
	struct explore_search *s = search_new(cli, ask, got);
	struct control *found = got->failed;
	if (!s)
		return EXIT_INTERNAL;
	s->mode = got->mode;
	got->failed = got->modules = NULL;
	int rc = settle(s, found);
	free(found);
	free(s);
	return rc;
}

void explore_got_free(struct explore_got *got)
{
	assert(!got->failed || got->modules);
	if (got->modules != got->failed)
		free(got->modules);
	free(got->failed);
	got->modules = got->failed = NULL;
}
