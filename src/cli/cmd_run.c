/*
 * cmd_run: `intact run -- PROGRAM ARGS`: watches a program built with `intact
 * cc` (run_once.c), once or until nothing new is found (--infer), and writes
 * what was found as text and as reports.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/paths.h"
#include "cli/outputs.h"
#include "program/explore_confirm.h"
#include "program/explore_schedule.h"
#include "program/run_once.h"
#include "report/doc.h"

static struct {
	struct opt_list atomic, not_atomic, specs, suppressions;
	struct run_how how;
	const char *infer, *log_path;
	uint64_t exitcode, runs;
	bool gen, strict, confirm;
	const char *save;
	uint64_t schedules, seconds, seed;
	struct explore_confirmation explored;
	struct outputs outputs;
} o;

static const struct opt table[] = {
	{ OPT_GROUP, NULL, 0, NULL, NULL, "What is atomic", 0, 0, NULL },
	{ OPT_LIST, "atomic", 0, "PATTERN", &o.atomic, "judge only these functions, as marked blocks", 0, 0, NULL },
	{ OPT_LIST, "not-atomic", 0, "PATTERN", &o.not_atomic, "these are not meant to be atomic", 0, 0, NULL },
	{ OPT_LIST, "spec", 0, "FILE", &o.specs, "read `atomic` and `not-atomic` lines", 0, 0, NULL },
	{ OPT_STR, "infer", 0, "FILE", &o.infer, "drop what is shown non-atomic; write the rest as a specification", 0, 0, NULL },
	{ OPT_UINT, "runs", 0, "N", &o.runs, "with --infer: run until nothing new is found, at most N times", 1, 1000, NULL },
	{ OPT_FLAG, "strict", 0, NULL, &o.strict, "report functions however far they are from their locks", 0, 0, NULL },
	{ OPT_FLAG, "loops", 0, NULL, &o.how.loops, "also report blocks that only repeat one section", 0, 0, NULL },
	{ OPT_GROUP, NULL, 0, NULL, NULL, "What is shown", 0, 0, NULL },
	{ OPT_LIST, "suppressions", 0, "FILE", &o.suppressions, "leave out what `kind:PATTERN` lines name", 0, 0, NULL },
	{ OPT_FLAG, "gen-suppressions", 0, NULL, &o.gen, "end each report with a suppression for it", 0, 0, NULL },
	{ OPT_STR, "log-path", 0, "FILE", &o.log_path, "write reports to FILE.PID", 0, 0, NULL },
	{ OPT_FLAG, "halt-on-error", 0, NULL, &o.how.halt, "stop the program at the first finding", 0, 0, NULL },
	{ OPT_GROUP, NULL, 0, NULL, NULL, "Exploring", 0, 0, NULL },
	{ OPT_FLAG, "confirm", 0, NULL, &o.confirm, "then explore each finding for a schedule that shows it, as `intact explore --confirm`", 0, 0, NULL },
	{ OPT_STR, "save", 0, "DIR", &o.save, "with --confirm: the directory for these schedules (intact-schedules)", 0, 0, NULL },
	{ OPT_UINT, "schedules", 0, "N", &o.schedules, "with --confirm: schedules for each finding at most (10,000)", 1, 0, NULL },
	{ OPT_UINT, "time", 0, "SECONDS", &o.seconds, "with --confirm: stop exploring after so long", 1, 10000000, NULL },
	{ OPT_UINT, "seed", 0, "N", &o.seed, "with --confirm: the same seed gives the same schedules (1)", 0, 0, NULL },
	{ OPT_GROUP, NULL, 0, NULL, NULL, "Recording", 0, 0, NULL },
	{ OPT_STR, "record", 0, "FILE", &o.how.record, "also record what happens, for `intact trace`", 0, 0, NULL },
	{ OPT_SIZE, "keep-last", 0, "SIZE", &o.how.keep, "with --record: keep about the last SIZE bytes of it", 0, 0, NULL },
	{ OPT_GROUP, NULL, 0, NULL, NULL, "Other", 0, 0, NULL },
	{ OPT_UINT, "exitcode", 0, "N", &o.exitcode, "exit status when something is found (66; 0: the program's own)", 0, 255, NULL },
	OUTPUT_OPTIONS(&o.outputs),
	{ 0, NULL, 0, NULL, NULL, NULL, 0, 0, NULL },
};

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
	static uint64_t at[2048];
	char path[PATH_MAX];
	struct buf list;
	if (!s->filter.atomic.len || !find_in_path(program, path, sizeof path))
		return;
	uint32_t n = symbols_functions(&s->arena, path, wanted, &s->filter, at, 2048);
	buf_init(&list);
	for (uint32_t i = 0; i < n; i++)
		buf_printf(&list, "%s%llx", i ? "," : "", (unsigned long long)at[i]);
	setenv("INTACT_ATOMIC_FUNCTIONS", buf_cstr(&list), 1);
	buf_free(&list);
	for (uint32_t i = 0; i < s->filter.atomic.len; i++)
		if (!s->filter.atomic.data[i].hits)
			buf_printf(&cli->err, "intact: warning: --atomic '%s' names no function of %s%s\n",
			           s->filter.atomic.data[i].text, program,
			           s->filter.atomic.data[i].inlined
			                   ? " but such as are inlined and have no hooks: they make at most one access\n"
			                     "hint: INTACT_CC_HOOKS=all when compiling keeps them" : "");
}

/* ---- reports ---- */

static void add_end(struct json_out *j, const struct run_result *r)
{
	const char *name = r->signal ? sigabbrev_np(r->signal) : NULL;
	if (r->failed && !r->signal)
		return;
	json_begin_object(j, "ended");
	json_int(j, r->signal ? "signal" : "status", r->signal ? r->signal : r->status);
	if (r->signal)
		buf_printf(json_value(j, "name"), "\"SIG%s\"", name ? name : "?");
	json_end(j);
}

static int write_reports(struct cli *cli, const struct cmd *cmd, struct settings *s, const char *program,
                         const struct run_result *r, int rc)
{
	struct buf doc;
	struct json_out j;
	if (!outputs_wanted(&o.outputs))
		return rc;
	buf_init(&doc);
	json_out_init(&j, &doc, false);
	doc_begin(&j, "run", 0);
	bool halted = processes_halted(&r->processes), found = s->shown.count || halted;
	const char *reason = halted ? "stopped at the first finding, which the program printed itself"
	                     : r->failed ? "the program could not be run"
	                     : r->signal ? "a signal ended the program: what it would have done is not known"
	                     : run_unwatched(r) ? run_unwatched(r)
	                     : settings_cut(s)  ? "more was found than is kept, or could be read"
	                                        : NULL;
	json_text(&j, "verdict", found ? "violated" : reason ? "unknown" : "holds");
	json_text(&j, "program", program);
	char path[PATH_MAX], id[128] = "";
	if (find_in_path(program, path, sizeof path))
		explore_build_id(path, id, sizeof id);
	json_text_if(&j, "build_id", *id ? id : NULL);
	json_text_if(&j, "reason", !found || halted ? reason : NULL);
	add_end(&j, r);
	processes_json(&r->processes, &j);
	json_line(&j, 0);
	json_uint(&j, "findings", s->shown.count);
	json_uint(&j, "confirmed", s->shown.confirmed);
	json_uint(&j, "suppressed", s->shown.suppressed);
	json_begin_array(&j, "results");
	json_line(&j, 0);
	json_items(&j, &s->log.results);
	json_end(&j);
	json_line(&j, 0);
	finding_summary(&s->log.summary, &j);
	finding_sources(&s->log, &j);
	doc_end(&j);
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
	struct confirm_ask ask = { .explore = { .argv = e->argv, .seed = o.seed, .jobs = 1, .max_steps = 20000, .stall = 10,
			.schedules = o.schedules ? o.schedules : o.seconds ? 0 : 10000, .seconds = o.seconds, .preemptions = -1 },
		.report = "the run", .save = o.save ? o.save : "intact-schedules", .optional_save = true };
	buf_init(&text);
	arena_init(&s.arena, 0);
	if (gather(e->cli, &s)) {
		for (uint32_t i = 0; i < n; i++)
			findings_add(said[i], &s.filter, &s.text, &s.arena, &s.shown);
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

/* ---- --infer ---- */

static bool write_spec(struct cli *cli, struct settings *s)
{
	FILE *f = fopen(o.infer, "w");
	if (!f) {
		buf_printf(&cli->err, "intact: cannot write '%s': %s\n", o.infer, strerror(errno));
		return false;
	}
	fputs("# What is not atomic, as seen by intact run --infer. Every other function\n"
	      "# that takes a lock was atomic in the runs so far.\n", f);
	for (uint32_t i = 0; i < s->filter.atomic.len; i++)
		fprintf(f, "atomic %s\n", s->filter.atomic.data[i].text);
	for (uint32_t i = 0; i < s->filter.not_atomic.len; i++)
		fprintf(f, "not-atomic %s\n", s->filter.not_atomic.data[i].text);
	bool ok = !ferror(f);
	return !fclose(f) && ok;
}

static int infer(struct cli *cli, struct settings *s, char **argv, struct run_result *r)
{
	int rc = 0;
	uint32_t total = 0;
	if (access(o.infer, F_OK) == 0 && !filter_read_spec(&s->filter, o.infer, &cli->err))
		return EXIT_USAGE;
	for (uint64_t i = 0; i < o.runs; i++) {
		uint32_t before = s->shown.names.len;
		rc = run_once(cli, s, &o.how, argv, r);
		if (!r->watched)
			return rc; /* it said why */
		uint32_t fresh = 0;
		for (uint32_t k = before; k < s->shown.names.len; k++) {
			const char *name = s->shown.names.data[k];
			struct src_frame fr = { .function = name };
			bool known = false;
			for (uint32_t j = 0; j < s->filter.not_atomic.len; j++)
				known |= pattern_matches(s->filter.not_atomic.data[j].text, &fr);
			if (known)
				continue;
			struct pattern p = { .text = arena_printf(&s->arena, "%.*s",
			                                          (int)strcspn(name, "("), name) };
			avec_push(&s->arena, &s->filter.not_atomic, p);
			fresh++;
		}
		total += fresh;
		if (!fresh)
			break;
	}
	if (!write_spec(cli, s))
		return EXIT_USAGE;
	buf_printf(&cli->err, "intact: %u function%s dropped; %s lists what is not atomic\n", total,
	           total == 1 ? "" : "s", o.infer);
	return rc;
}

/* ---- the command ---- */

/* Where the program's own words begin. */
static int first_word(int argc, char **argv)
{
	for (int i = 0; i < argc; i++) {
		if (!strcmp(argv[i], "--"))
			return i + 1;
		if (argv[i][0] != '-')
			return i;
		for (const struct opt *t = table; t->help; t++)
			if (t->name && !strcmp(argv[i] + (argv[i][1] == '-' ? 2 : 1), t->name) &&
			    t->kind != OPT_FLAG && t->kind != OPT_GROUP) {
				i++;
				break;
			}
	}
	return argc;
}

static void add_patterns(struct settings *s, const struct opt_list *l, bool atomic)
{
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
	s->text.gen_suppressions |= o.gen;
	s->text.strict |= o.strict;
	if (o.log_path)
		s->log_path = o.log_path;
	if (strcmp(s->log_path, "stderr") != 0)
		s->text.color = false;
	if (!strcmp(s->log_path, "stdout") && o.how.stdout_taken) {
		buf_str(&cli->err, "intact run: log_path=stdout and a report on standard output would be mixed\n"
		                   "hint: name a file for one of them\n");
		ok = false;
	}
	return ok;
}

/* Findings have a status of their own; a death is not hidden by it. */
static int found_status(struct cli *cli, struct settings *s, const struct run_result *r, int rc)
{
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

static int run(struct cli *cli, const struct cmd *cmd, int argc, char **argv)
{
	int at = first_word(argc, argv), own = at;
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
		rc = cli_usage(cli, cmd, "which program?");
	} else if (o.how.record && o.infer) {
		rc = cli_usage(cli, cmd, "--record and --infer do not go together");
	} else if (o.how.keep && !o.how.record) {
		rc = cli_usage(cli, cmd, "--keep-last goes with --record");
	} else if (o.confirm && (o.infer || o.how.halt)) {
		rc = cli_usage(cli, cmd, "--confirm does not go with --infer or --halt-on-error");
	} else if ((o.save || o.schedules || o.seconds || o.seed != 1) && !o.confirm) {
		rc = cli_usage(cli, cmd, "--save, --schedules, --time and --seed go with --confirm");
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
			name_functions(cli, &s, argv[at]);
			struct run_result result = { 0 };
			rc = o.infer ? infer(cli, &s, argv + at, &result)
			             : run_once(cli, &s, &o.how, argv + at, &result);
			rc = found_status(cli, &s, &result, rc);
			rc = write_reports(cli, cmd, &s, argv[at], &result, rc);
		}
		settings_free(&s);
	}
	buf_free(&err);
	free(room);
	return rc;
}

const struct cmd cmd_run = {
	"run", "watch a program built with `intact cc`", "run [OPTIONS] [--] PROGRAM [ARGUMENTS]",
	"Runs the program and reports functions that are not atomic: a lock is given\n"
	"up in the middle, or shared data is used without one, so that another thread\n"
	"can come in between. By default every function that takes a lock, itself or\n"
	"in what it calls, is expected to be atomic, except main and thread functions.\n\n"
	"A PATTERN is a function name with * and ?, a file, or file:line.\n"
	"INTACT_OPTIONS=help=1 PROGRAM lists what can be set without `intact run`.\n\n"
	"Exit status: the program's, 128 + N when signal N ended it; 66 when something is\n"
	"found (see --exitcode) and no signal ended it; 70 when no process of the run was\n"
	"built with `intact cc`, or findings were cut (a line says so). When a report goes\n"
	"to standard output (--json=-), what the program writes there goes to standard\n"
	"error.\n",
	table, run,
};
