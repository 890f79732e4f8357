/*
 * cmd_history: `intact history FILE...` and `intact history convert`.
 *
 * Each file is a history of its own. Reads it, understands it as calls on an
 * object, judges it, says what came out; with --follow the same while it is
 * being written.
 */
#include <setjmp.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fold.h"
#include "cli/claims.h"
#include "cli/progress.h"
#include "lang/spec.h"
#include "lin/check.h"
#include "lin/follow.h"
#include "history/read.h"
#include "lin/say.h"
#include "report/doc.h"
#include "verify/history_json.h"

static const char *const order_names[] = { "strict", "lines", "time", NULL };
static const char *const nil_names[] = { "guess", "value", "any", NULL };
static const char *const failed_names[] = { "drop", "unequal", NULL };
static const char *const pairs_names[] = { "guess", "yes", "no", NULL };

struct args {
	int format, object, condition, algorithm, order, nil, failed_cas, pairs, to;
	const char *init, *k, *verify, *spec;
	uint64_t jobs, timeout, max_memory;
	bool delta, follow, witness, quiet;
	struct outputs outputs;
};

struct run {
	struct cli *cli;
	const struct cmd *cmd;
	struct args *a;
	struct check_options opts;
	struct limits lim;
	struct lang lang;            /* of --spec */
	const struct seqspec *spec; /* or NULL */
	struct buf doc; /* results, when a report is wanted */
	struct claim_list claims; /* of --verify */
	struct progress progress;
	atomic_flag ticking;
};

/* Where the next result goes; NULL: none is wanted. */
static struct buf *next_result(struct run *run)
{
	if (!outputs_wanted(&run->a->outputs))
		return NULL;
	if (run->doc.len)
		buf_str(&run->doc, ",\n");
	return &run->doc;
}

static uint64_t default_memory(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
	return pages > 0 && size > 0 ? (uint64_t)pages / 10 * 8 * (uint64_t)size : 0;
}

/* One line about what takes its time, on a terminal; parts may be judged by
 * several threads. */
static void tick(void *arg, size_t used)
{
	struct run *run = arg;
	double t = clock_seconds();
	if (!run->progress.on || t - run->progress.last < 0.2 || t - run->progress.start < 0.4 || atomic_flag_test_and_set(&run->ticking))
		return;
	fprintf(stderr, "\rchecking the history: %.1f s, %zu MiB\033[K", t - run->progress.start, used >> 20);
	fflush(stderr);
	run->progress.shown = true;
	run->progress.last = t;
	atomic_flag_clear(&run->ticking);
}

static void start_limits(struct run *run)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	memset(&run->lim, 0, sizeof run->lim);
	progress_begin(&run->progress);
	run->lim.tick = run->a->quiet || run->a->follow ? NULL : tick;
	run->lim.tick_arg = run;
	run->lim.max_memory = run->a->max_memory ? run->a->max_memory : default_memory();
	if (run->a->timeout)
		run->lim.deadline_ns = (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec +
		                       (int64_t)run->a->timeout * 1000000000;
}

/* --init: whatever reads as EDN or JSON; a bare word is a string. */
static bool parse_init(struct run *run, struct history *h, val *init)
{
	const char *s = run->a->init;
	*init = VAL_NONE;
	if (!s)
		return true;
	size_t len = strlen(s);
	struct form f = { .p = s, .end = s + len, .last = true, .vals = &h->vals };
	if (len && form_value(&f, init, 1) == FORM_OK && f.p == f.end && val_kind(&h->vals, *init) != VK_WORD)
		return true;
	if (len && strchr("[({\"", *s)) {
		buf_printf(&run->cli->err, "intact history: --init: '");
		buf_safe(&run->cli->err, s, len);
		buf_str(&run->cli->err, "' is not a value: expected 3, nil, \"text\" or [1 2]\n");
		return false;
	}
	*init = val_text(&h->vals, VK_STR, s, len);
	return true;
}

static int exit_of(enum lin_verdict v)
{
	static const int code[] = { EXIT_HOLDS, EXIT_VIOLATED, EXIT_UNKNOWN, EXIT_USAGE };
	return code[v];
}

static int spent(struct run *run, const char *name)
{
	struct buf *out = &run->cli->out, *json = next_result(run);
	const char *limit = say_limit(&run->lim);
	if (json) {
		buf_str(json, "{\"file\":");
		buf_json(json, name, strlen(name));
		buf_printf(json, ",\"verdict\":\"unknown\",\"limit\":\"%s\"}", limit);
	}
	if (!outputs_take_stdout(&run->a->outputs)) {
		buf_safe(out, name, strlen(name));
		buf_printf(out, ": UNKNOWN: the limit on %s was reached\n", limit);
	}
	return EXIT_UNKNOWN;
}

/* Lines are broken for who reads them on a terminal, not for programs. */
static void fold_out(struct run *run, const struct buf *text)
{
	fold_lines(&run->cli->out, buf_cstr(text), text->len, isatty(STDOUT_FILENO) ? run->cli->columns : 0);
}

static int refused(struct run *run, const struct history *h, const struct check *c, enum object o)
{
	for (uint32_t i = 0; i < c->nparts; i++) {
		const struct result *r = &c->parts[i].r;
		if (r->verdict != LIN_REFUSED)
			continue;
		struct buf *err = &run->cli->err;
		buf_safe(err, h->name, strlen(h->name));
		if (run->a->condition != COND_ATOMIC || run->a->algorithm == ALG_AUTO)
			buf_printf(err, ": %s", r->why);
		else
			buf_printf(err, ": --algorithm=%s cannot check this history: %s",
			           algorithm_names[run->a->algorithm], r->why);
		for (int k = 0; k < 2; k++)
			if (r->refused[k] != RANK_INF) {
				buf_str(err, "\n  ");
				hop_print(h, &h->ops[r->refused[k]], o, err);
			}
		buf_str(err, "\n");
		break;
	}
	return EXIT_USAGE;
}

static struct interpretation interpretation_of(const struct args *a, val init)
{
	return (struct interpretation){ .object = (enum object)a->object, .init = init, .nil_reads = a->nil,
		                        .failed_cas = a->failed_cas, .pairs = a->pairs };
}

static int verify_report(struct run *run, struct history *h, const char *path, struct diags *d)
{
	char why[VERIFY_WHY] = "";
	struct source src;
	const char *bad;
	if (!source_read(&src, h->arena, run->a->verify, &bad)) {
		diag_error(d, "cannot-read", NULL, (struct span){ 0, 0 }, "%s: %s", run->a->verify, bad);
		return EXIT_USAGE;
	}
	enum verify_answer v = verify_history_json(h, src.text, src.len, why);
	static const char *const word[] = { "ACCEPTED", "REJECTED", "UNDECIDED" };
	static const enum claim_answer answers[] = { CLAIM_ACCEPTED, CLAIM_REJECTED, CLAIM_UNKNOWN };
	const char *said = v ? why : "the report is true for the history";
	if (!outputs_take_stdout(&run->a->outputs))
		buf_printf(&run->cli->out, "%s: %s\n", word[v], said);
	claim_list_add(&run->claims, &(struct claim){ .name = path, .answer = answers[v], .why = said });
	return v == VERIFY_ACCEPTED ? EXIT_HOLDS : v == VERIFY_REJECTED ? EXIT_VIOLATED : EXIT_UNKNOWN;
}

/* A history that says nothing is not right: nothing was judged. */
static int nothing_to_judge(const struct history *h, const char *name, uint32_t records, struct diags *d)
{
	if (!records && h->nskipped)
		diag_error(d, "no-operations", NULL, (struct span){ 0, 0 }, "%s: no operation to check: only %u record%s or line%s of non-clients (read as %s)",
		           name, h->nskipped, h->nskipped == 1 ? "" : "s", h->nskipped == 1 ? "" : "s", h->format);
	else if (!records)
		diag_error(d, "no-operations", NULL, (struct span){ 0, 0 }, "%s: no operation to check: the history is empty (read as %s)", name, h->format);
	else
		diag_error(d, "no-operations", NULL, (struct span){ 0, 0 }, "%s: no operation to check: all %u failed, or never returned and constrain nothing",
		           name, records);
	diag_hint(d, records ? "a history needs at least one read or removal that returned"
	                     : "--format=NAME sets the format if the guess is wrong");
	return EXIT_USAGE;
}

static int judge_file(struct run *run, struct history *h, const char *path, struct diags *d)
{
	struct args *a = run->a;
	struct read_options ro = { (enum format)a->format, (enum order)a->order, a->delta, !a->delta };
	val init;
	if (!parse_init(run, h, &init))
		return EXIT_USAGE;
	if (!history_read(h, path, &ro, d))
		return d->errors ? EXIT_USAGE : spent(run, path);
	if (a->verify)
		return verify_report(run, h, path, d);
	struct interpretation in = interpretation_of(a, init);
	uint32_t records = h->n;
	if (!history_interpret(h, &in, d))
		return EXIT_USAGE;
	if (!h->n)
		return nothing_to_judge(h, path, records, d);
	struct check c;
	if (!lin_check(h, &in, &run->opts, &c)) {
		check_free(&c, h);
		return spent(run, path);
	}
	int rc;
	if (c.verdict == LIN_REFUSED) {
		rc = refused(run, h, &c, in.object);
	} else {
		rc = exit_of(c.verdict);
		struct buf *json = next_result(run);
		if (json)
			say_json(h, &in, &run->opts, &c, a->witness, json);
		if (!a->quiet && !outputs_take_stdout(&a->outputs)) {
			struct buf text;
			buf_init(&text);
			say_text(h, &in, &run->opts, &c, a->witness, run->cli->color_out, &text);
			fold_out(run, &text);
			run->cli->out.failed |= text.failed;
			buf_free(&text);
		}
	}
	check_free(&c, h);
	return rc;
}

static void say_follow(struct run *run, const char *path, const struct history *h,
                       const struct interpretation *in, const struct follow_result *f)
{
	struct buf text, *out = &text;
	static const char *const word[] = { "HOLDS", "VIOLATED", "UNKNOWN" };
	static const char *const json[] = { "holds", "violated", "unknown" };
	struct buf *doc = next_result(run);
	if (doc) {
		buf_str(doc, "{\"file\":");
		buf_json(doc, path, strlen(path));
		buf_printf(doc, ",\"follow\":true,\"object\":\"%s\",\"init\":", history_object(h, in->object));
		val_json(&h->vals, in->init, doc);
		buf_printf(doc, ",\"verdict\":\"%s\",\"operations\":%llu,\"completed\":%llu,\"line\":%u,"
		                "\"configurations\":%u,\"overlap\":%u}",
		           json[f->verdict], (unsigned long long)f->ops, (unsigned long long)f->completed, f->line,
		           f->peak, f->max_open);
	}
	if (outputs_take_stdout(&run->a->outputs))
		return;
	buf_init(&text);
	buf_printf(out, "checked as: %s%s", history_object(h, in->object), in->object_guessed ? " (guessed)" : "");
	if (!h->user) {
		buf_str(out, ", initially ");
		val_print(&h->vals, in->init, out);
		buf_str(out, in->init_guessed ? " (guessed)" : "");
	}
	buf_printf(out, "\n%s: ", word[f->verdict]);
	if (f->verdict == LIN_VIOLATED) {
		buf_str(out, "not atomic, certain since line ");
		buf_printf(out, "%u\n  ", f->line);
		hop_print(h, &f->culprit, in->object, out);
		buf_str(out, " cannot be explained\n");
		if (f->sentence)
			buf_printf(out, "  %s\n", f->sentence);
	} else if (f->verdict == LIN_UNKNOWN) {
		buf_printf(out, "the limit on %s was reached in line %u\n", say_limit(&run->lim), f->line);
	} else {
		buf_str(out, "atomic so far\n");
	}
	buf_printf(out, "%llu operations, %llu completed; at most %u open at once, %u configurations\n",
	           (unsigned long long)f->ops, (unsigned long long)f->completed, f->max_open, f->peak);
	fold_out(run, &text);
	buf_free(&text);
}

static int follow_file(struct run *run, struct history *h, const char *path, struct diags *d)
{
	struct read_options ro = { (enum format)run->a->format, ORDER_LINES, false, false };
	struct follow_result f;
	val init;
	if (!parse_init(run, h, &init))
		return EXIT_USAGE;
	struct interpretation in = interpretation_of(run->a, init);
	if (!follow(h, path, &ro, &in, run->opts.k, 0, d, &f)) {
		free(f.sentence);
		return EXIT_USAGE;
	}
	if (!f.ops && f.verdict == LIN_HOLDS) {
		free(f.sentence);
		return nothing_to_judge(h, path, 0, d);
	}
	say_follow(run, path, h, &in, &f);
	free(f.sentence);
	return exit_of(f.verdict);
}

static bool flush_out(void *arg, struct buf *b)
{
	(void)arg;
	return buf_flush(b, stdout);
}

static int convert_file(struct run *run, struct history *h, const char *path, struct diags *d)
{
	struct read_options ro = { (enum format)run->a->format, (enum order)run->a->order, false, false };
	if (!history_read(h, path, &ro, d))
		return d->errors ? EXIT_USAGE : spent(run, path);
	history_write(h, (enum format)run->a->to, &run->cli->out, flush_out, NULL);
	if (run->a->to == FORMAT_LOG && h->keys.len)
		buf_str(&run->cli->err, "note: a log has no keys: values are written as [key value] (--pairs=yes reads them)\n");
	return EXIT_HOLDS;
}

/* One file in an arena of its own; out-of-memory longjmps return here. */
static int with_file(struct run *run, const char *path,
                     int (*f)(struct run *, struct history *, const char *, struct diags *))
{
	struct arena arena;
	struct history h;
	struct diags d;
	jmp_buf oom;
	start_limits(run);
	arena_init(&arena, run->lim.max_memory);
	arena.oom = &oom;
	int rc;
	if (setjmp(oom)) {
		atomic_store(&run->lim.spent, LIMIT_MEMORY);
		rc = spent(run, path);
		values_free(&h.vals);
		arena_free(&arena);
		return rc;
	}
	history_init(&h, &arena, &run->lim);
	h.user = run->spec;
	diags_init(&d, &arena);
	rc = f(run, &h, path, &d);
	progress_end(&run->progress);
	diags_render(&d, &run->cli->err, run->cli->color_err);
	history_free(&h);
	arena_free(&arena);
	return rc;
}

/* The code of several files: what is worst for who relies on it. */
static int worse(int a, int b)
{
	static const int rank[] = { 0, 2, 3, 1, 4 };
	return rank[b] > rank[a] ? b : a;
}

/* The document around the results. */
static int write_reports(struct run *run, int rc)
{
	static const char *const word[] = { "holds", "violated", "unknown", "unknown" };
	struct buf doc;
	buf_init(&doc);
	buf_char(&doc, '{');
	doc_begin(&doc, "history");
	/* a file that could not be read leaves the whole undecided */
	buf_printf(&doc, ", \"verdict\": \"%s\", \"results\": [\n", word[rc]);
	buf_add(&doc, buf_cstr(&run->doc), run->doc.len);
	buf_str(&doc, "\n]}\n");
	rc = outputs_write(run->cli, run->cmd, &run->a->outputs, &doc, rc);
	buf_free(&doc);
	return rc;
}

static bool parse_k(struct run *run)
{
	const char *k = run->a->k;
	run->opts.k = 1;
	if (!k)
		return true;
	run->opts.k_min = !strcmp(k, "min");
	char *end;
	unsigned long n = strtoul(k, &end, 10);
	if (run->opts.k_min)
		return true;
	run->opts.k = (uint32_t)n;
	return *k >= '0' && *k <= '9' && !*end && n >= 1 && n <= 1000000;
}

/* --spec: loads it; false after a message. */
static bool load_spec(struct run *run)
{
	if (!run->a->spec)
		return true;
	run->spec = lang_load_spec(&run->lang, run->a->spec);
	if (!run->spec) {
		if (run->lang.out_of_memory)
			buf_str(&run->cli->err, "intact history: out of memory while reading the specification\n");
		diags_render(&run->lang.diags, &run->cli->err, run->cli->color_err);
	}
	return run->spec != NULL;
}

/* What cannot be combined with --spec, or NULL. */
static const char *spec_conflict(const struct run *run)
{
	const struct args *a = run->a;
	if (!a->spec)
		return NULL;
	if (a->object != OBJ_GUESS || a->init)
		return "--spec defines the object and its initial state: it cannot be combined with --object and --init";
	if (a->condition == COND_REGULAR || a->condition == COND_SAFE || a->k || a->delta)
		return "regular, safe, --k and --delta apply to registers, not to --spec";
	return NULL;
}

/* Where --algorithm would say nothing, or NULL. */
static const char *algorithm_unused(const struct run *run)
{
	const struct args *a = run->a;
	if (a->algorithm == ALG_AUTO)
		return NULL;
	if (a->follow && a->algorithm != ALG_BFS)
		return "--follow uses its own algorithm (bfs)";
	if (a->condition != COND_ATOMIC)
		return "--algorithm requires --condition=atomic; each other condition has one algorithm";
	return run->opts.k_min ? "--k=min selects the algorithms itself" : NULL;
}

static int run_history(struct cli *cli, const struct cmd *cmd, int argc, char **argv)
{
	struct args a = { .jobs = 1, .to = FORMAT_JSON };
	const struct opt table[] = {
		{ OPT_GROUP, NULL, 0, NULL, NULL, "what to check", 0, 0, NULL },
		{ OPT_CHOICE, "object", 'o', "NAME", &a.object, "type of the object", 0, 0, object_names },
		{ OPT_STR, "spec", 0, "FILE.atm", &a.spec, "sequential specification of a user-defined object", 0, 0, NULL },
		{ OPT_STR, "init", 0, "VALUE", &a.init, "initial value: 0, nil, \"text\", [1 2]", 0, 0, NULL },
		{ OPT_CHOICE, "condition", 'c', "NAME", &a.condition, "condition to check", 0, 0, condition_names },
		{ OPT_STR, "k", 0, "N|min", &a.k, "allow reads of the last N values; min: find the smallest N", 0, 0, NULL },
		{ OPT_FLAG, "delta", 0, NULL, &a.delta, "also find the smallest staleness of reads that makes it atomic", 0, 0, NULL },
		{ OPT_CHOICE, "algorithm", 'a', "NAME", &a.algorithm, "algorithm; the default selects one and reports why", 0, 0, algorithm_names },
		{ OPT_GROUP, NULL, 0, NULL, NULL, "input", 0, 0, NULL },
		{ OPT_CHOICE, "format", 'f', "NAME", &a.format, "the format; guessed from the content by default", 0, 0, format_names },
		{ OPT_CHOICE, "order", 0, "WHAT", &a.order, "if times and line order disagree: report an error, or use one of them", 0, 0, order_names },
		{ OPT_CHOICE, "nil", 0, "WHAT", &a.nil, "a read of nil: an ordinary value, or no information", 0, 0, nil_names },
		{ OPT_CHOICE, "failed-cas", 0, "WHAT", &a.failed_cas, "a failed cas: did not happen, or found another value", 0, 0, failed_names },
		{ OPT_CHOICE, "pairs", 0, "WHAT", &a.pairs, "values are [key value] pairs", 0, 0, pairs_names },
		{ OPT_FLAG, "follow", 0, NULL, &a.follow, "check while the history is being written (a pipe, -)", 0, 0, NULL },
		{ OPT_GROUP, NULL, 0, NULL, NULL, "limits and output", 0, 0, NULL },
		{ OPT_UINT, "jobs", 'j', "N", &a.jobs, "number of threads (keys are checked in parallel)", 1, 64, NULL },
		{ OPT_UINT, "timeout", 0, "SECONDS", &a.timeout, "time limit; when reached, the verdict is unknown (exit code 3)", 0, 1000000000, NULL },
		{ OPT_SIZE, "max-memory", 0, "SIZE", &a.max_memory, "memory limit; default: four fifths of the machine's memory", 0, 0, NULL },
		{ OPT_FLAG, "witness", 'w', NULL, &a.witness, "show the linearization that was found", 0, 0, NULL },
		{ OPT_STR, "verify", 0, "REPORT", &a.verify, "check a report (from --json --witness) against the history", 0, 0, NULL },
		{ OPT_FLAG, "quiet", 'q', NULL, &a.quiet, "print nothing; only set the exit code", 0, 0, NULL },
		{ OPT_CHOICE, "to", 0, "FORMAT", &a.to, "convert: output format", 0, 0, format_names },
		OUTPUT_OPTIONS(&a.outputs),
		{ 0 },
	};
	const char **args = calloc((size_t)argc + 1, sizeof *args);
	struct opts o = { table, args, 0, false };
	struct buf err;
	buf_init(&err);
	struct run run = { .cli = cli, .cmd = cmd, .a = &a };
	lang_init(&run.lang);
	buf_init(&run.doc);
	int rc = EXIT_HOLDS;
	bool convert = argc > 0 && !strcmp(argv[0], "convert");
	if (!args || !opts_parse(&o, argc - convert, argv + convert, &err))
		rc = cli_usage(cli, cmd, "%s", buf_cstr(&err));
	else if (o.help)
		rc = cli_help(cli, cmd, table);
	else if (!o.nargs && outputs_swallowed(&a.outputs, &err))
		rc = cli_usage(cli, cmd, "%s", buf_cstr(&err));
	else if (!o.nargs)
		rc = cli_usage(cli, cmd, "missing FILE argument (- is standard input)");
	else if (outputs_wrong(&a.outputs))
		rc = cli_usage(cli, cmd, "%s", outputs_wrong(&a.outputs));
	else if (!parse_k(&run))
		rc = cli_usage(cli, cmd, "--k: expected a positive integer or min");
	else if ((run.opts.k > 1 || run.opts.k_min || a.delta) && a.condition != COND_ATOMIC)
		rc = cli_usage(cli, cmd, "--k and --delta require --condition=atomic");
	else if (a.delta && (run.opts.k > 1 || run.opts.k_min))
		rc = cli_usage(cli, cmd, "--delta and --k cannot be combined");
	else if (a.follow && (a.condition != COND_ATOMIC || a.delta || run.opts.k_min || o.nargs > 1))
		rc = cli_usage(cli, cmd, "--follow checks atomicity (or --k=N) of one history");
	else if (algorithm_unused(&run))
		rc = cli_usage(cli, cmd, "%s", algorithm_unused(&run));
	else if (convert && (a.to == FORMAT_GUESS || a.to == FORMAT_VIOLIN))
		rc = cli_usage(cli, cmd, "--to: edn, json, csv or log");
	else if (spec_conflict(&run))
		rc = cli_usage(cli, cmd, "%s", spec_conflict(&run));
	else if (!load_spec(&run))
		rc = EXIT_USAGE;
	else if (a.follow && run.spec && run.spec->choices)
		rc = cli_usage(cli, cmd, "--follow does not support nondeterministic specifications (any, either)");
	else {
		run.opts.condition = (enum condition)a.condition;
		run.opts.algorithm = (enum algorithm)a.algorithm;
		run.opts.delta = a.delta;
		run.opts.order = a.witness || outputs_wanted(&a.outputs);
		run.opts.jobs = (uint32_t)a.jobs;
		claim_list_init(&run.claims, &cli->err, a.verify ? a.verify : "", "history");
		run.claims.keep = outputs_wanted(&a.outputs);
		run.claims.subject = o.args[0];
		run.claims.silent = true;
		for (int i = 0; i < o.nargs; i++) {
			if (i && !outputs_take_stdout(&a.outputs) && !a.quiet && !convert)
				buf_char(&cli->out, '\n');
			rc = worse(rc, with_file(&run, o.args[i], convert ? convert_file
			                                          : a.follow ? follow_file : judge_file));
		}
		if (!convert && !a.verify && !a.quiet && o.nargs == 1)
			outputs_hint(cli, cmd, &a.outputs, o.args[0], rc);
		if (a.verify)
			rc = claims_end(&run.claims, cli, cmd, &a.outputs, rc);
		else if (outputs_wanted(&a.outputs) && !convert && rc != EXIT_INTERNAL)
			rc = write_reports(&run, rc);
		claim_list_free(&run.claims);
	}
	lang_free(&run.lang);
	buf_free(&err);
	buf_free(&run.doc);
	free(args);
	return rc;
}

const struct cmd cmd_history = {
	"history", "check recorded histories of registers, queues, maps, ...",
	"history [OPTIONS] FILE...\n       intact history convert --to=FORMAT FILE",
	"Checks whether a recorded history is atomic (linearizable) or meets a weaker\n"
	"condition. If it does, shows an order of the operations; if not, the operations in\n"
	"conflict. Reads Jepsen and Knossos histories (EDN, JSON, logs), porcupine's\n"
	"operations, Violin's logs and CSV tables, plain, gzip or zstd. Operations that never\n"
	"returned may or may not have taken effect.\n\n"
	"exit codes: 0 holds, 1 violated, 2 wrong input or options, 3 unknown (a limit\n"
	"was reached).",
	NULL, run_history,
};
