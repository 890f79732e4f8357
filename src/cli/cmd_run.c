/*
 * cmd_run: `intact run -- PROGRAM ARGS`: watches a program built with `intact
 * cc` (run_once.c), once or until nothing new is found (--infer), and writes
 * what was found as text and as reports.
 */
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "cli/outputs.h"
#include "program/run_settings.h"
#include "program/explore_confirm.h"
#include "program/run_once.h"

static struct {
	struct opt_list atomic, not_atomic, specs, suppressions;
	struct run_how how;
	const char *infer, *log_path, *baseline, *learn;
	uint64_t exitcode, runs;
	bool gen, strict, confirm, all, accept, no_atomicity;
	uint64_t top;
	const char *save;
	uint64_t schedules, seconds, seed;
	struct explore_confirmation explored;
	struct outputs outputs;
} o;

/* clang-format off */
static const struct opt table[] = {
	{ OPT_GROUP, NULL, 0, NULL, NULL, "What is atomic", 0, 0, NULL },
	{ OPT_LIST, "atomic", 0, "PATTERN", &o.atomic, "check only these functions, as marked blocks", 0, 0, NULL },
	{ OPT_LIST, "not-atomic", 0, "PATTERN", &o.not_atomic, "do not expect these functions to be atomic", 0, 0, NULL },
	{ OPT_LIST, "spec", 0, "FILE", &o.specs, "read `atomic` and `not-atomic` lines", 0, 0, NULL },
	{ OPT_STR, "infer", 0, "FILE", &o.infer, "infer a specification: drop functions that are shown not to be atomic", 0, 0, NULL },
	{ OPT_UINT, "runs", 0, "N", &o.runs, "with --infer: repeat the run until nothing new is found, at most N times", 1, 1000, NULL },
	{ OPT_FLAG, "strict", 0, NULL, &o.strict, "report functions at any call distance from their locks", 0, 0, NULL },
	{ OPT_FLAG, "loops", 0, NULL, &o.how.loops, "also report loops that only repeat one critical section", 0, 0, NULL },
	{ OPT_GROUP, NULL, 0, NULL, NULL, "What is looked for", 0, 0, NULL },
	{ OPT_STR, "only", 0, "KINDS", &o.how.only, "look only for atomicity, races or locks; several with commas", 0, 0, NULL },
	{ OPT_FLAG, "races", 0, NULL, &o.how.races, "also report data races", 0, 0, NULL },
	{ OPT_FLAG, "locks", 0, NULL, &o.how.locks, "also report locks taken in a circle, or released or destroyed by who must not", 0, 0, NULL },
	{ OPT_FLAG, "no-atomicity", 0, NULL, &o.no_atomicity, "do not report atomicity violations", 0, 0, NULL },
	{ OPT_FLAG, "no-races", 0, NULL, &o.how.no_races, "do not report data races", 0, 0, NULL },
	{ OPT_FLAG, "no-locks", 0, NULL, &o.how.no_locks, "do not report what is wrong with locks", 0, 0, NULL },
	{ OPT_GROUP, NULL, 0, NULL, NULL, "What is shown", 0, 0, NULL },
	{ OPT_FLAG, "all", 0, NULL, &o.all, "show all findings, also those whose pattern is most often meant", 0, 0, NULL },
	{ OPT_UINT, "top", 0, "N", &o.top, "show only the first N", 1, 1000000, NULL },
	{ OPT_LIST, "suppressions", 0, "FILE", &o.suppressions, "suppress findings listed in FILE (`kind:PATTERN` lines)", 0, 0, NULL },
	{ OPT_FLAG, "gen-suppressions", 0, NULL, &o.gen, "end each report with a suppression for it", 0, 0, NULL },
	{ OPT_STR, "baseline", 0, "FILE", &o.baseline, "do not report the findings in FILE, which are known", 0, 0, NULL },
	{ OPT_STR, "learn", 0, "FILE", &o.learn, "add what is found to the baseline FILE, except what is shown by default", 0, 0, NULL },
	{ OPT_FLAG, "accept", 0, NULL, &o.accept, "with --learn: add what is shown by default, too", 0, 0, NULL },
	{ OPT_STR, "log-path", 0, "FILE", &o.log_path, "write reports to FILE.PID", 0, 0, NULL },
	{ OPT_FLAG, "halt-on-error", 0, NULL, &o.how.halt, "stop the program at the first finding", 0, 0, NULL },
	{ OPT_GROUP, NULL, 0, NULL, NULL, "Exploring", 0, 0, NULL },
	{ OPT_FLAG, "confirm", 0, NULL, &o.confirm, "then explore each finding for a schedule that shows it, as `intact explore --confirm`", 0, 0, NULL },
	{ OPT_STR, "save", 0, "DIR", &o.save, "with --confirm: the directory for these schedules (intact-schedules)", 0, 0, NULL },
	{ OPT_UINT, "schedules", 0, "N", &o.schedules, "with --confirm: schedules for each finding at most (10,000)", 1, 0, NULL },
	{ OPT_UINT, "time", 0, "SECONDS", &o.seconds, "with --confirm: stop exploring after so long", 1, 10000000, NULL },
	{ OPT_UINT, "seed", 0, "N", &o.seed, "with --confirm: the same seed gives the same schedules (1)", 0, INT64_MAX, NULL },
	{ OPT_GROUP, NULL, 0, NULL, NULL, "Schedule", 0, 0, NULL },
	{ OPT_SEED, "perturb", 0, "SEED", &o.how.perturb, "delay threads where findings are predicted, so that others come in", 1, 1000000000, NULL },
	{ OPT_GROUP, NULL, 0, NULL, NULL, "Recording", 0, 0, NULL },
	{ OPT_STR, "record", 0, "FILE", &o.how.record, "also record the run for `intact trace`", 0, 0, NULL },
	{ OPT_SIZE, "keep-last", 0, "SIZE", &o.how.keep, "with --record: keep only about the last SIZE bytes", 0, 0, NULL },
	{ OPT_GROUP, NULL, 0, NULL, NULL, "Other", 0, 0, NULL },
	{ OPT_UINT, "exitcode", 0, "N", &o.exitcode, "exit status when something is found (66; 0: the program's status)", 0, 255, NULL },
	OUTPUT_OPTIONS(&o.outputs),
	{ 0, NULL, 0, NULL, NULL, NULL, 0, 0, NULL },
};
/* clang-format on */

/* ---- --atomic: functions of the program by name ---- */

static bool wanted(void *ctx, const char *function, const char *file, uint32_t line, bool there)
{
	struct filter *f = ctx;
	struct src_frame fr = { .function = function, .file = file, .line = line };
	for (uint32_t i = 0; i < f->atomic.len; i++)
		if (pattern_matches(f->atomic.data[i].text, &fr)) {
			f->atomic.data[i].hits += there;
			f->atomic.data[i].inlined |= !there;
			return true;
		}
	return false;
}

static void name_functions(struct cli *cli, struct settings *s, const char *program)
{
	if (!s->filter.atomic.len || !atomic_functions_set(&s->arena, program, wanted, &s->filter))
		return;
	for (uint32_t i = 0; i < s->filter.atomic.len; i++)
		if (!s->filter.atomic.data[i].hits)
			buf_printf(&cli->err, "intact: warning: --atomic '%s' names no function of %s%s\n",
			           s->filter.atomic.data[i].text, program,
			           s->filter.atomic.data[i].inlined
			                   ? " except inlined ones without hooks, which make at most one access\n"
			                     "hint: compile with INTACT_CC_HOOKS=all to keep their hooks"
			                   : "");
}

/* ---- reports ---- */

static int write_reports(struct cli *cli, const struct cmd *cmd, struct settings *s, const char *program,
                         const struct run_result *r, int rc)
{
	struct buf doc;
	if (!outputs_wanted(&o.outputs))
		return rc;
	buf_init(&doc);
	run_document(s, program, r, &doc);
	int failed = outputs_write(cli, cmd, &o.outputs, &doc, EXIT_HOLDS);
	buf_free(&doc);
	return failed ? failed : rc;
}

/* ---- --confirm ---- */

struct exploring {
	struct cli *cli;
	struct settings *s;
	char **argv;
};

static bool gather(struct cli *cli, struct settings *s);

/* The findings as a document's results, to be explored; they are written once more, with what came of it. */
static void explore_findings(void *arg, struct raw_report *const *said, uint32_t n)
{
	struct exploring *e = arg;
	struct settings s = { 0 };
	struct buf text;
	struct confirm_ask ask = { .explore = { .argv = e->argv,
		                                .seed = o.seed,
		                                .jobs = 1,
		                                .max_steps = 20000,
		                                .stall = 10,
		                                .schedules = o.schedules ? o.schedules
		                                             : o.seconds ? 0
		                                                         : 10000,
		                                .seconds = o.seconds,
		                                .preemptions = -1 },
		                   .report = "the run",
		                   .save = o.save ? o.save : "intact-schedules",
		                   .optional_save = true };
	buf_init(&text);
	arena_init(&s.arena, 0);
	if (gather(e->cli, &s)) {
		for (uint32_t i = 0; i < n; i++)
			findings_add(said[i], &s.filter, &s.text, &s.arena, &s.shown);
		findings_rank(&s.filter, &s.text, &s.arena, &s.shown);
		buf_char(&text, '[');
		buf_add(&text, buf_cstr(&s.log.results), s.log.results.len);
		buf_char(&text, ']');
		json_t *findings = json_loadb(buf_cstr(&text), text.len, 0, NULL);
		if (s.shown.count && confirm_findings(e->cli, &ask, findings, e->s->log.arena, &o.explored) == EXIT_HOLDS)
			e->s->text.explored = &o.explored;
		json_decref(findings);
	}
	buf_free(&text);
	settings_free(&s);
}

/* ---- the command ---- */

static void add_patterns(struct settings *s, const struct opt_list *l, bool atomic)
{
	assert(!l->n || l->items);
	for (int i = 0; i < l->n; i++) {
		struct pattern p = { .text = l->items[i] };
		if (atomic)
			avec_push(&s->arena, &s->filter.atomic, p);
		else
			avec_push(&s->arena, &s->filter.not_atomic, p);
	}
}

static bool gather(struct cli *cli, struct settings *s)
{
	bool ok = settings_of_command(s, cli);
	add_patterns(s, &o.atomic, true);
	add_patterns(s, &o.not_atomic, false);
	for (int i = 0; i < o.specs.n; i++)
		ok &= filter_read_spec(&s->filter, o.specs.items[i], &cli->err);
	for (int i = 0; i < o.suppressions.n; i++)
		ok &= filter_read_suppressions(&s->filter, o.suppressions.items[i], &cli->err);
	const char *known = o.learn ? o.learn : o.baseline;
	ok &= !known || settings_baseline(s, known, o.learn != NULL, o.accept, &cli->err, cli->color_err);
	s->text.gen_suppressions |= o.gen;
	s->text.strict |= o.strict;
	s->text.all |= o.all;
	if (o.how.only)
		ok &= settings_only(s, o.how.only, &cli->err);
	s->text.no |= (o.no_atomicity ? FINDING_ATOMICITY : 0u) | (o.how.no_races ? FINDING_RACES : 0u) |
	              (o.how.no_locks ? FINDING_LOCKS : 0u);
	if (o.top)
		s->text.top = (uint32_t)o.top;
	if (o.log_path)
		s->log_path = o.log_path;
	if (strcmp(s->log_path, "stderr") != 0)
		s->text.color = false;
	if (!strcmp(s->log_path, "stdout") && o.how.stdout_taken) {
		buf_str(&cli->err, "intact run: log_path=stdout and a report on standard output cannot be combined\n"
		                   "hint: name a file for one of them\n");
		ok = false;
	}
	return ok;
}

/* Findings have a status of their own; a death is not hidden by it. */
static int found_status(struct cli *cli, struct settings *s, const struct run_result *r, int rc)
{
	assert(rc >= 0);
	const char *v = settings_option(s, "exitcode");
	uint64_t code = o.exitcode < 1000 ? o.exitcode : v ? strtoull(v, NULL, 10) : 66;
	if (r->signal || r->failed)
		return rc;
	if (!s->shown.count || !code || o.infer)
		return rc || !settings_cut(s) ? rc : EXIT_UNWATCHED; /* what was cut may have been findings */
	if (rc && (uint64_t)rc != code)
		buf_printf(&cli->err, "intact: exit status %d for the findings; the program's own was %d\n", (int)code, rc);
	return (int)code;
}

/* What is wrong with the options that are about the baseline, or NULL. */
static const char *baseline_wrong(void)
{
	if (o.accept && !o.learn)
		return "--accept requires --learn";
	if (o.learn && (o.infer || o.how.halt))
		return "--learn cannot be combined with --infer or --halt-on-error";
	if (o.learn && o.baseline && strcmp(o.learn, o.baseline) != 0)
		return "--learn and --baseline name different files";
	return NULL;
}

/* What was found is learned when the program was watched, however it ended. */
static int learn(struct cli *cli, const struct settings *s, const struct run_result *r, int rc)
{
	if (!o.learn || !r->watched)
		return rc;
	return settings_learned(s, &cli->err, cli->color_err) ? rc : EXIT_UNWATCHED;
}

static int run(struct cli *cli, const struct cmd *cmd, int argc, char **argv)
{
	int at = opts_first_word(table, argc, argv), own = at;
	if (own > 0 && own <= argc && !strcmp(argv[own - 1], "--"))
		own--;
	const char **room = calloc((size_t)argc * 5 + 5, sizeof *room);
	if (!room)
		return EXIT_INTERNAL;
	memset(&o, 0, sizeof o);
	o.runs = 1;
	o.exitcode = 1000;
	o.seed = 1;
	o.atomic.items = room;
	o.not_atomic.items = room + argc;
	o.specs.items = room + 2 * argc;
	o.suppressions.items = room + 3 * argc;
	struct opts opts = { .table = table, .args = room + 4 * argc };
	struct buf err;
	buf_init(&err);
	int rc;
	if (!opts_parse(&opts, own, argv, &err)) {
		rc = cli_usage(cli, cmd, "%s", buf_cstr(&err));
	} else if (opts.help) {
		rc = cli_help(cli, cmd, table);
	} else if (at >= argc) {
		rc = cli_usage(cli, cmd, "missing PROGRAM argument");
	} else if (o.how.record && o.infer) {
		rc = cli_usage(cli, cmd, "--record and --infer cannot be combined");
	} else if (o.how.keep && !o.how.record) {
		rc = cli_usage(cli, cmd, "--keep-last requires --record");
	} else if (o.confirm && (o.infer || o.how.halt)) {
		rc = cli_usage(cli, cmd, "--confirm cannot be combined with --infer or --halt-on-error");
	} else if ((o.save || o.schedules || o.seconds || o.seed != 1) && !o.confirm) {
		rc = cli_usage(cli, cmd, "--save, --schedules, --time and --seed go with --confirm");
	} else if (baseline_wrong()) {
		rc = cli_usage(cli, cmd, "%s", baseline_wrong());
	} else if (outputs_wrong(&o.outputs)) {
		rc = cli_usage(cli, cmd, "%s", outputs_wrong(&o.outputs));
	} else {
		struct settings s = { 0 };
		arena_init(&s.arena, 0);
		o.how.stdout_taken = outputs_take_stdout(&o.outputs) || o.outputs.github;
		if (!gather(cli, &s)) {
			rc = EXIT_USAGE;
		} else {
			struct exploring exploring = { cli, &s, argv + at };
			if (o.confirm) {
				o.how.explore = explore_findings;
				o.how.arg = &exploring;
			}
			if (o.baseline && o.how.halt)
				buf_str(&cli->err, "intact run: warning: --halt-on-error stops at the first finding, "
				                   "also if it is in the baseline\n");
			name_functions(cli, &s, argv[at]);
			struct run_result result = { 0 };
			rc = o.infer ? run_infer(cli, &s, &o.how, o.infer, o.runs, argv + at, &result)
			             : run_once(cli, &s, &o.how, argv + at, &result);
			rc = found_status(cli, &s, &result, rc);
			rc = learn(cli, &s, &result, rc);
			rc = write_reports(cli, cmd, &s, argv[at], &result, rc);
		}
		settings_free(&s);
	}
	buf_free(&err);
	free(room);
	return rc;
}

const struct cmd cmd_run = {
	"run",
	"watch a program built with `intact cc`",
	"run [OPTIONS] [--] PROGRAM [ARGUMENTS]",
	"Runs the program and reports functions that are not atomic: they release a lock\n"
	"in the middle, or use shared data without a lock, so that another thread can\n"
	"interfere. By default every function that acquires a lock, directly or through\n"
	"calls, is expected to be atomic; main and thread functions are reported only where\n"
	"the pattern is a likely mistake. --races and --locks look for other mistakes, too.\n\n"
	"A PATTERN is a function name with * and ?, a file, or file:line.\n"
	"INTACT_OPTIONS=help=1 PROGRAM lists the options that need no `intact run`.\n\n"
	"Exit status: the program's, 128 + N if signal N killed it; 66 if something is found\n"
	"(see --exitcode) and no signal killed it; 70 if no process of the run was built with\n"
	"`intact cc`, or if findings were lost (a message says so). With --baseline, 66 is for findings that\n"
	"are not in it; with --learn, for those that were not learned. If a report goes to standard\n"
	"output (--json=-), the program's own standard output goes to standard error.\n",
	"@program",
	run,
};
