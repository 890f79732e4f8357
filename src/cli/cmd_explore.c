/*
 * cmd_explore: `intact explore -- PROGRAM ARGS`: runs a program built with `intact
 * cc` under many schedules (explore_search.c) and reports the first that fails.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/invariant.h"
#include "base/paths.h"
#include "cli/outputs.h"
#include "cli/progress.h"
#include "judge/explore_program.h"
#include "judge/object_test.h"
#include "program/run_settings.h"
#include "program/explore_confirm.h"
#include "program/explore_schedule.h"
#include "program/explore_search.h"
#include "program/explore_story.h"
#include "program/inline_atomics.h"
#include "report/finding.h"

static struct {
	uint64_t schedules, seconds, seed, depth, max_steps, jobs, bound, stall;
	const char *shard;
	uint32_t part, parts; /* of --shard; the first part is 0 */
	int strategy, races, functions, memory;
	struct opt_list atomic, only;
	bool exhaustive, spurious, fork;
	bool cases, list_cases;
	const char *save, *replay, *confirm, *case_list, *case_run;
	bool keep, gdb, real, no_coverage;
	struct object_test_options test;
	struct outputs outputs;
} o;

static const char *const strategies[] = { "mix", "random", "pct", "pos", "delay", "preempt", NULL };
static const char *const yes_no[] = { "yes", "no", NULL };
enum { NO_BOUND = 1000001, SCHEDULES = 10000 };

/* clang-format off */
static const struct opt table[] = {
	{ OPT_GROUP, NULL, 0, NULL, NULL, "What is explored", 0, 0, NULL },
	{ OPT_UINT, "schedules", 'n', "N", &o.schedules, "schedules at most (10,000; with --exhaustive or --time no limit)", 1, 0, NULL },
	{ OPT_UINT, "time", 't', "SECONDS", &o.seconds, "time limit; a schedule that does not end by then is cut off", 1, 10000000, NULL },
	{ OPT_CHOICE, "strategy", 0, "NAME", &o.strategy, "mix (default), pos, pct, random, delay, preempt", 0, 0, strategies },
	{ OPT_UINT, "depth", 0, "N", &o.depth, "pct: bug depth, one more than the changes of priority (3)", 1, 64, NULL },
	{ OPT_UINT, "seed", 0, "N", &o.seed, "the same seed gives the same schedules (1)", 0, INT64_MAX, NULL },
	{ OPT_FLAG, "exhaustive", 'x', NULL, &o.exhaustive, "every distinct trace once (optimal DPOR)", 0, 0, NULL },
	{ OPT_UINT, "preemption-bound", 0, "N", &o.bound, "with --exhaustive: only schedules with at most N preemptions", 0, 1000000, NULL },
	{ OPT_UINT, "max-steps", 0, "N", &o.max_steps, "cut off a schedule after N scheduling points (20,000)", 10, CONTROL_STEPS, NULL },
	{ OPT_CHOICE, "memory", 0, "sc|tso|c11", &o.memory, "sequentially consistent memory (sc), a store buffer for each thread, as x86 has it (tso), or what C11 allows (c11)", 0, 0, explore_memories },
	{ OPT_GROUP, NULL, 0, NULL, NULL, "What counts", 0, 0, NULL },
	{ OPT_CHOICE, "races", 0, "yes|no", &o.races, "report data races (yes)", 0, 0, yes_no },
	{ OPT_CHOICE, "functions", 0, "yes|no", &o.functions, "judge the functions that `intact run` would report (yes, unless --atomic is given)", 0, 0, yes_no },
	{ OPT_LIST, "atomic", 0, "PATTERN", &o.atomic, "these functions are marked blocks, too", 0, 0, NULL },
	{ OPT_FLAG, "spurious", 0, NULL, &o.spurious, "condition variables may wake up by themselves", 0, 0, NULL },
	{ OPT_STR, "confirm", 0, "REPORT", &o.confirm, "explore each finding of REPORT, the JSON of `intact run` or `intact trace`", 0, 0, NULL },
	{ OPT_GROUP, NULL, 0, NULL, NULL, "Test binaries with many cases", 0, 0, NULL },
	{ OPT_FLAG, "cases", 0, NULL, &o.cases, "explore each test case of a GoogleTest, Catch2 or doctest binary by itself; --time is for all of them", 0, 0, NULL },
	{ OPT_LIST, "case", 0, "PATTERN", &o.only, "only the cases whose names match, e.g. 'Queue.*'", 0, 0, NULL },
	{ OPT_FLAG, "list-cases", 0, NULL, &o.list_cases, "print the names of the cases", 0, 0, NULL },
	{ OPT_STR, "case-list", 0, "COMMAND", &o.case_list, "other programs: a shell command that prints the names, one per line", 0, 0, NULL },
	{ OPT_STR, "case-run", 0, "ARGUMENTS", &o.case_run, "and the arguments with which PROGRAM runs the case {}", 0, 0, NULL },
	{ OPT_GROUP, NULL, 0, NULL, NULL, "Object tests (intact/test.h)", 0, 0, NULL },
	{ OPT_UINT, "scenarios", 0, "N", &o.test.scenarios, "draw N scenarios (100), each under --schedules schedules (1,000); with --exhaustive: all there are", 1, 1000000, NULL },
	{ OPT_STR, "shape", 0, "TxN,...", &o.test.shape, "scenarios of T threads with N calls each (with --exhaustive: 2x2,3x1)", 0, 0, NULL },
	{ OPT_STR, "scenario", 0, "CALLS", &o.test.scenario, "only this one: 'push(1) pop() | push(2)'", 0, 0, NULL },
	{ OPT_GROUP, NULL, 0, NULL, NULL, "Schedules", 0, 0, NULL },
	{ OPT_STR, "save", 0, "FILE", &o.save, "write the failing schedule to FILE (with --confirm or --cases: a directory)", 0, 0, NULL },
	{ OPT_STR, "replay", 0, "FILE", &o.replay, "follow the schedule in FILE (PROGRAM may be omitted)", 0, 0, NULL },
	{ OPT_FLAG, "threads", 0, NULL, &o.real, "with --replay: real threads instead of fibers", 0, 0, NULL },
	{ OPT_FLAG, "gdb", 0, NULL, &o.gdb, "with --replay: real threads, under gdb, which stops at the failure", 0, 0, NULL },
	{ OPT_FLAG, "no-minimise", 0, NULL, &o.keep, "show the failing schedule as it was found", 0, 0, NULL },
	{ OPT_GROUP, NULL, 0, NULL, NULL, "How it runs", 0, 0, NULL },
	{ OPT_UINT, "jobs", 'j', "N", &o.jobs, "processes that explore at the same time (1)", 1, 64, NULL },
	{ OPT_STR, "shard", 0, "K/N", &o.shard, "only part K of N of the search, for N machines (docs/scale.md)", 0, 0, NULL },
	{ OPT_FLAG, "no-coverage", 0, NULL, &o.no_coverage, "do not count distinct traces: about a third faster", 0, 0, NULL },
	{ OPT_FLAG, "fork", 0, NULL, &o.fork, "run each schedule in its own process (slower)", 0, 0, NULL },
	{ OPT_UINT, "stall", 0, "SECONDS", &o.stall, "report an endless loop after this time without a scheduling point (10)", 1, 100000, NULL },
	OUTPUT_OPTIONS(&o.outputs),
	{ 0, NULL, 0, NULL, NULL, NULL, 0, 0, NULL },
};
/* clang-format on */

static bool name_functions(struct cli *cli, const char *program);

static int write_reports(struct cli *cli, const struct cmd *cmd, const struct explore_report *report, int rc)
{
	struct buf doc;
	if (!outputs_wanted(&o.outputs))
		return rc;
	buf_init(&doc);
	explore_json(report, &doc);
	rc = outputs_write(cli, cmd, &o.outputs, &doc, rc);
	buf_free(&doc);
	return rc;
}

static struct explore_ask asked(char **argv)
{
	assert(argv && argv[0]);
	return (struct explore_ask){
		.argv = argv,
		.seed = o.seed,
		.jobs = o.jobs,
		.depth = o.depth,
		.max_steps = o.max_steps,
		.seconds = o.seconds,
		.shard = o.part,
		.shards = o.parts,
		.until = o.seconds ? server_now() + (double)o.seconds : 0,
		.stall = o.stall,
		.preemptions = o.bound == NO_BOUND ? -1 : (int64_t)o.bound,
		.races = o.races == 0,
		.spurious = o.spurious,
		.memory = (uint32_t)o.memory,
		.fork = o.fork,
		.schedules = o.schedules                 ? o.schedules
		             : o.exhaustive || o.seconds ? 0
		                                         : SCHEDULES,
		.strategy = o.exhaustive ? SCHED_DPOR : o.strategy,
		.keep = o.keep,
		.no_coverage = o.no_coverage,
		.gdb = o.gdb,
		.real = o.real || o.gdb,
		.atomic = o.atomic.items,
		.natomic = (uint32_t)o.atomic.n,
	};
}

/* The report, on all outputs; a failing schedule is saved before, when that was asked for. `code`: of the report. */
static int tell(struct cli *cli, const struct cmd *cmd, const struct explore_ask *ask, const struct explore_got *got,
                struct arena *a, struct explore_report *report, int code)
{
	if (got->failed && o.save) {
		if (!explore_save(cli, o.save, ask, got))
			return EXIT_USAGE;
		report->replay = explore_replay_line(a, o.save);
	}
	if (!outputs_take_stdout(&o.outputs))
		explore_text(report, &cli->out, cli->color_out, cli->columns);
	return write_reports(cli, cmd, report, code);
}

/* An object test: scenarios in place of main. */
static int explore_object(struct cli *cli, const struct cmd *cmd, char **argv, const struct explore_file *file)
{
	struct explore_ask ask = asked(argv);
	struct explore_got got = { 0 };
	struct explore_report report;
	struct progress progress;
	struct arena a;
	int rc;
	ask.schedules = o.schedules;
	o.test.exhaustive = o.exhaustive;
	if (!name_functions(cli, argv[0]))
		return EXIT_USAGE;
	struct object_test *t = object_test_new(cli, &ask, &o.test, &rc);
	if (!t)
		return rc;
	arena_init(&a, 0);
	progress_begin(&progress);
	ask.progress = progress.on ? progress_schedules : NULL;
	ask.arg = &progress;
	if (file) {
		ask.strategy = SCHED_REPLAY;
		ask.replay = file->c;
		rc = object_test_replay(t, &ask, file->scenario, &got);
	} else {
		rc = object_test_search(t, &ask, &got);
	}
	progress_end(&progress);
	if (rc == EXIT_HOLDS && !ask.gdb) {
		explore_story(&ask, &got, &a, &report);
		object_test_tell(t, &got, &a, &report);
		ask.scenario = got.failed ? report.object->scenario : NULL;
		rc = tell(cli, cmd, &ask, &got, &a, &report, object_test_code(&report, &ask));
	}
	explore_got_free(&got);
	object_test_free(t);
	arena_free(&a);
	return rc;
}

static bool judges_functions(void)
{
	return !o.atomic.n && o.functions == 0 && o.memory == 0;
}

/* What all parts of a search must have in common for their results to be merged. */
static void identify(const struct explore_ask *ask, struct arena *a, struct explore_report *report)
{
	char path[PATH_MAX], id[128] = "";
	if (find_in_path(ask->argv[0], path, sizeof path))
		explore_build_id(path, id, sizeof id);
	report->build_id = *id ? arena_strdup(a, id) : NULL;
	const char *text = arena_printf(
		a, "jobs %llu, schedules %llu, depth %llu, max-steps %llu, preemptions %lld%s%s%s%s%s%s",
		(unsigned long long)ask->jobs, (unsigned long long)ask->schedules, (unsigned long long)ask->depth,
		(unsigned long long)ask->max_steps, (long long)ask->preemptions, ask->races ? "" : ", no races",
		ask->spurious ? ", spurious" : "", ask->fork ? ", fork" : "", ask->no_coverage ? ", no coverage" : "",
		ask->keep ? ", keep" : "", judges_functions() ? ", functions" : "");
	for (uint32_t i = 0; i < ask->natomic; i++)
		text = arena_printf(a, "%s, atomic %s", text, ask->atomic[i]);
	report->asked = text;
}

static int explore(struct cli *cli, const struct cmd *cmd, char **argv, const struct explore_file *file)
{
	bool object = object_test_is(argv[0]);
	if (object && o.shard)
		return cli_usage(cli, cmd,
		                 "--shard applies to programs; scenarios of an object test are divided by --seed or --shape");
	if (object && (!file || file->scenario))
		return explore_object(cli, cmd, argv, file);
	if (object || (file && file->scenario)) {
		buf_printf(&cli->err, "intact: the schedule %s of an object test, and the program %s one\n",
		           object ? "is not" : "is", object ? "is" : "is not");
		return EXIT_USAGE;
	}
	if (o.test.scenarios || o.test.shape || o.test.scenario)
		return cli_usage(cli, cmd,
		                 "--scenarios, --shape and --scenario require an object test: a program with INTACT_TEST_MAIN of "
		                 "<intact/test.h>");
	struct explore_ask ask = asked(argv);
	if (file) {
		ask.strategy = SCHED_REPLAY;
		ask.replay = file->c;
		ask.gaps = file->gaps.n ? &file->gaps : NULL;
	}
	struct explore_got got;
	struct explore_report report;
	if (!name_functions(cli, argv[0]))
		return EXIT_USAGE;
	struct arena a;
	arena_init(&a, 0);
	if (!file)
		inline_atomics_warn(argv[0], &cli->err);
	struct progress progress;
	progress_begin(&progress);
	ask.progress = progress.on ? progress_schedules : NULL;
	ask.arg = &progress;
	int rc = explore_program(cli, &ask, judges_functions(), &a, &got, &report);
	progress_end(&progress);
	if (rc == EXIT_HOLDS) {
		if (o.shard)
			identify(&ask, &a, &report);
		if (!ask.gdb)
			rc = tell(cli, cmd, &ask, &got, &a, &report, explore_code(&ask, &report));
		explore_got_free(&got);
	}
	arena_free(&a);
	return rc;
}

/* ---- --cases ---- */

static bool wants_cases(void)
{
	return o.cases || o.list_cases || o.only.n || o.case_list || o.case_run;
}

/* NULL, or what is wrong with the options. */
static const char *cases_wrong(void)
{
	if (o.replay || o.confirm)
		return "--cases explores every test case: it cannot be combined with --replay or --confirm";
	if (o.test.scenarios || o.test.shape || o.test.scenario)
		return "--scenarios, --shape and --scenario are for an object test, which has no test cases";
	if (!o.case_list != !o.case_run)
		return "--case-list and --case-run belong together: the names of the cases, and how one is run";
	if (o.case_run && !strstr(o.case_run, "{}"))
		return "--case-run has no {}, the place of the name of the case";
	return NULL;
}

static int print_cases(struct cli *cli, const struct test_cases *cases)
{
	for (uint32_t i = 0; i < cases->list.len; i++) {
		buf_safe(&cli->out, cases->list.data[i].name, strlen(cases->list.data[i].name));
		buf_char(&cli->out, '\n');
	}
	return EXIT_HOLDS;
}

static int explore_all(struct cli *cli, const struct cmd *cmd, char **argv, const struct test_cases *cases, struct arena *a)
{
	struct explore_cases got;
	struct explore_ask ask = asked(argv);
	struct progress progress;
	struct buf doc;
	if (!name_functions(cli, argv[0]))
		return EXIT_USAGE;
	inline_atomics_warn(argv[0], &cli->err);
	progress_begin(&progress);
	ask.progress = progress.on ? progress_schedules : NULL;
	ask.arg = &progress;
	int rc = explore_test_cases(cli, &ask, judges_functions(), cases, o.save, a, &got);
	progress_end(&progress);
	if (!got.cases.len)
		return rc;
	if (!outputs_take_stdout(&o.outputs))
		explore_cases_text(&got, a, &cli->out, cli->color_out, cli->columns);
	if (!outputs_wanted(&o.outputs))
		return rc;
	buf_init(&doc);
	explore_cases_json(&got, a, &doc);
	rc = outputs_write(cli, cmd, &o.outputs, &doc, rc);
	buf_free(&doc);
	return rc;
}

static int explore_cases_of(struct cli *cli, const struct cmd *cmd, char **argv)
{
	struct test_cases cases;
	struct arena a;
	struct test_cases_ask ask = {
		.argv = argv, .list = o.case_list, .run = o.case_run, .only = o.only.items, .nonly = o.only.n
	};
	arena_init(&a, 0);
	int rc = EXIT_USAGE;
	if (test_cases_list(cli, &ask, &a, &cases))
		rc = o.list_cases ? print_cases(cli, &cases) : explore_all(cli, cmd, argv, &cases, &a);
	arena_free(&a);
	return rc;
}

/* ---- --confirm ---- */

static int confirm(struct cli *cli, const struct cmd *cmd, char **argv)
{
	assert(o.confirm);
	struct confirm_ask ask = {
		.explore = asked(argv), .report = o.confirm, .save = o.save ? o.save : "intact-schedules", .optional_save = !o.save
	};
	struct explore_confirmation got;
	json_t *document;
	struct arena a;
	const json_t *findings = confirm_read(cli, o.confirm, argv[0], &document);
	struct progress progress;
	progress_begin(&progress);
	ask.explore.progress = progress.on ? progress_schedules : NULL;
	ask.explore.arg = &progress;
	arena_init(&a, 0);
	int rc = findings ? confirm_findings(cli, &ask, findings, &a, &got) : EXIT_USAGE;
	progress_end(&progress);
	if (rc == EXIT_HOLDS) {
		rc = confirm_code(&got);
		if (!outputs_take_stdout(&o.outputs))
			explore_confirmation_text(&got, &a, &cli->out, cli->color_out);
		if (outputs_wanted(&o.outputs)) {
			struct buf doc;
			buf_init(&doc);
			explore_confirmation_json(&got, &a, &doc);
			rc = outputs_write(cli, cmd, &o.outputs, &doc, rc);
			buf_free(&doc);
		}
	}
	json_decref(document);
	arena_free(&a);
	return rc;
}

/* ---- --atomic ---- */

static bool wanted(void *ctx, const char *function, const char *file, uint32_t line, bool there)
{
	assert(o.atomic.n > 0 && o.atomic.n <= 256);
	bool *found = ctx, any = false;
	struct src_frame fr = { .function = function, .file = file, .line = line };
	for (int i = 0; i < o.atomic.n; i++)
		if (pattern_matches(o.atomic.items[i], &fr)) {
			found[i] |= there;
			any = true;
		}
	return any;
}

/* Tells the program which functions; false after a message when a pattern names none. */
static bool name_functions(struct cli *cli, const char *program)
{
	bool found[256] = { false }, ok = true;
	if (!o.atomic.n)
		return true;
	if (o.atomic.n > 256) {
		buf_str(&cli->err, "intact: more than 256 --atomic\n");
		return false;
	}
	struct arena a;
	arena_init(&a, 0);
	bool there = atomic_functions_set(&a, program, wanted, found);
	arena_free(&a);
	for (int i = 0; there && i < o.atomic.n; i++)
		if (!found[i]) {
			buf_printf(&cli->err,
			           "intact: --atomic '%s' names no function of %s that has hooks\n"
			           "hint: compile with INTACT_CC_HOOKS=all to keep the hooks of small inlined functions\n",
			           o.atomic.items[i], program);
			ok = false;
		}
	return ok;
}

static int replay_file(struct cli *cli, const struct cmd *cmd, char **argv)
{
	assert(o.replay);
	struct explore_file f;
	int rc = EXIT_USAGE;
	if (explore_load(cli, o.replay, &f)) {
		char **words = argv ? argv : f.argv;
		o.seed = f.seed;
		o.memory = (int)f.memory_model;
		if (!o.atomic.n)
			o.atomic = (struct opt_list){ f.atomic, (int)f.natomic };
		if (explore_same_build(cli, &f, words[0]))
			rc = explore(cli, cmd, words, &f);
	}
	explore_file_free(&f);
	return rc;
}

static int run(struct cli *cli, const struct cmd *cmd, int argc, char **argv)
{
	int at = opts_first_word(table, argc, argv), own = at;
	if (own > 0 && own <= argc && !strcmp(argv[own - 1], "--"))
		own--;
	memset(&o, 0, sizeof o);
	o.seed = 1;
	o.jobs = 1;
	o.max_steps = 20000;
	o.bound = NO_BOUND;
	o.stall = 10;
	const char **room = calloc((size_t)argc * 3 + 3, sizeof *room);
	if (!room)
		return EXIT_INTERNAL;
	o.atomic.items = room + argc + 1;
	o.only.items = room + 2 * (argc + 1);
	struct opts opts = { .table = table, .args = room };
	struct buf err;
	buf_init(&err);
	int rc;
	if (!opts_parse(&opts, own, argv, &err))
		rc = cli_usage(cli, cmd, "%s", buf_cstr(&err));
	else if (opts.help)
		rc = cli_help(cli, cmd, table);
	else if (at >= argc && !o.replay)
		rc = cli_usage(cli, cmd, "missing PROGRAM argument");
	else if (outputs_wrong(&o.outputs))
		rc = cli_usage(cli, cmd, "%s", outputs_wrong(&o.outputs));
	else if (o.bound != NO_BOUND && !o.exhaustive)
		rc = cli_usage(cli, cmd, "--preemption-bound requires --exhaustive");
	else if (o.replay && (o.exhaustive || o.strategy || o.schedules || o.seconds || o.jobs > 1))
		rc = cli_usage(cli, cmd,
		               "--replay follows one schedule: it cannot be combined with --exhaustive, --strategy, --schedules, "
		               "--time or --jobs");
	else if (o.confirm && (o.replay || o.atomic.n))
		rc = cli_usage(cli, cmd,
		               "--confirm checks the functions of its report: it cannot be combined with --replay or --atomic");
	else if (o.memory && o.replay)
		rc = cli_usage(cli, cmd,
		               "--replay follows a schedule under the memory that it was found with: --memory cannot be given");
	else if (o.memory && o.confirm)
		rc = cli_usage(
			cli, cmd,
			"--confirm looks for schedules of sequentially consistent memory: it cannot be combined with --memory=%s",
			explore_memories[o.memory]);
	else if ((o.gdb || o.real) && !o.replay)
		rc = cli_usage(cli, cmd, "--gdb and --threads require --replay");
	else if (o.test.scenario && (o.test.scenarios || o.test.shape))
		rc = cli_usage(cli, cmd, "--scenario names the only scenario: it cannot be combined with --scenarios and --shape");
	else if (o.shard && !cli_shard(o.shard, &o.part, &o.parts))
		rc = cli_usage(cli, cmd, "--shard: expected K/N, with K from 1 to N, such as 2/8");
	else if (o.shard && (o.schedules || (!o.exhaustive && !o.seconds)) &&
	         (o.schedules ? o.schedules : SCHEDULES) < o.parts * o.jobs)
		rc = cli_usage(cli, cmd, "--shard: there are fewer schedules than parts");
	else if (o.shard && (o.replay || o.confirm || wants_cases()))
		rc = cli_usage(cli, cmd,
		               "--shard is a part of one search: it cannot be combined with --replay, --confirm and --cases");
	else if (wants_cases() && cases_wrong())
		rc = cli_usage(cli, cmd, "%s", cases_wrong());
	else if (o.exhaustive && o.strategy)
		rc = cli_usage(cli, cmd, "--exhaustive and --strategy cannot be combined");
	else
		rc = o.replay        ? replay_file(cli, cmd, at < argc ? argv + at : NULL)
		     : o.confirm     ? confirm(cli, cmd, argv + at)
		     : wants_cases() ? explore_cases_of(cli, cmd, argv + at)
		                     : explore(cli, cmd, argv + at, NULL);
	buf_free(&err);
	free(room);
	return rc;
}

const struct cmd cmd_explore = {
	"explore",
	"run a program built with `intact cc` under many schedules",
	"explore [OPTIONS] [--] PROGRAM [ARGUMENTS]",
	"Runs the program repeatedly under different schedules. One thread runs at a time; a\n"
	"scheduler selects the next thread at every synchronisation and at every access that was\n"
	"seen to race. The first schedule that crashes, fails an assertion, exits with a nonzero\n"
	"status, deadlocks, loses a wake-up or misuses a lock or memory is reported with all its\n"
	"steps; data races are reported as they are found. Time is virtual: sleeps and timed\n"
	"waits take no real time.\n\n"
	"Exit status: 0 nothing found, 1 something found, 2 wrong usage or a program that\n"
	"cannot be explored, 3 unknown, 4 internal error.\n",
	"@program",
	run,
};
