/*
 * cmd_history: `intact history FILE...` and `intact history convert`: options, and what becomes of the results.
 * Each file is a history of its own (judge/history.h).
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fold.h"
#include "base/invariant.h"
#include "cli/outputs.h"
#include "cli/progress.h"
#include "history/read.h"
#include "judge/document.h"
#include "judge/history.h"

struct history_command {
	struct cli *cli;
	const struct cmd *cmd;
	struct history_args a;
	const char *verify, *generate, *dot, *shard;
	int to;
	bool convert, follow, quiet;
	struct outputs outputs;
	struct history_sink sink;
	struct buf text, results;
	struct progress progress;
	atomic_flag ticking;
};

/* One line about what takes its time, on a terminal; parts may be judged by
 * several threads. */
static void tick(void *arg, size_t used)
{
	struct history_command *c = arg;
	double t = clock_seconds();
	if (!c->progress.on || t - c->progress.last < 0.2 || t - c->progress.start < 0.4 || atomic_flag_test_and_set(&c->ticking))
		return;
	fprintf(stderr, "\rchecking the history: %.1f s, %zu MiB\033[K", t - c->progress.start, used >> 20);
	fflush(stderr);
	c->progress.shown = true;
	c->progress.last = t;
	atomic_flag_clear(&c->ticking);
}

static bool flush_out(void *arg, struct buf *b)
{
	(void)arg;
	return buf_flush(b, stdout);
}

/* One file; its text is folded for who reads it on a terminal, not for programs. */
static int one_file(struct history_command *c, struct history_run *run, const char *path, struct claim_list *l)
{
	assert(path && run);
	int rc;
	progress_begin(&c->progress);
	if (c->convert)
		rc = history_convert(run, path, c->to, &c->cli->out, flush_out, NULL);
	else if (c->follow)
		rc = history_follow(run, path);
	else if (c->verify)
		rc = history_hold(run, path, c->verify, l);
	else
		rc = history_judge(run, path);
	progress_end(&c->progress);
	fold_lines(&c->cli->out, buf_cstr(&c->text), c->text.len, isatty(STDOUT_FILENO) ? c->cli->columns : 0);
	c->cli->out.failed |= c->text.failed;
	buf_clear(&c->text);
	return rc;
}

static int all_files(struct history_command *c, struct history_run *run, const char **files, int n)
{
	assert(n >= 1);
	struct claim_list l;
	int rc = EXIT_HOLDS;
	claim_list_init(&l, &c->cli->err, c->verify ? c->verify : "", "history");
	l.subject = files[0];
	for (int i = 0; i < n; i++) {
		if (i && c->sink.text && !c->quiet && !c->convert && !c->verify)
			buf_char(&c->cli->out, '\n');
		rc = judge_worse(rc, one_file(c, run, files[i], &l));
	}
	if (!c->convert && !c->verify && !c->quiet && n == 1)
		outputs_hint(c->cli, c->cmd, &c->outputs, files[0], rc);
	if (c->verify)
		return claims_end(&l, c->cli, c->cmd, &c->outputs, rc);
	claim_list_free(&l);
	if ((outputs_wanted(&c->outputs) || c->dot) && !c->convert && rc != EXIT_INTERNAL) {
		struct buf doc;
		buf_init(&doc);
		judge_document("history", rc, &c->results, &doc);
		if (outputs_wanted(&c->outputs))
			rc = outputs_write(c->cli, c->cmd, &c->outputs, &doc, rc);
		if (c->dot && !outputs_dot(c->cli, c->cmd, c->dot, &doc))
			rc = EXIT_USAGE;
		buf_free(&doc);
	}
	return rc;
}

static int judge(struct history_command *c, const char **files, int n)
{
	assert(n >= 1);
	struct cli *cli = c->cli;
	c->sink = (struct history_sink){ .err = &cli->err,
		                         .color = cli->color_out,
		                         .color_err = cli->color_err,
		                         .quiet = c->quiet,
		                         .tick = c->quiet || c->follow ? NULL : tick,
		                         .tick_arg = c,
		                         .text = outputs_take_stdout(&c->outputs) ? NULL : &c->text,
		                         .results = outputs_wanted(&c->outputs) || c->dot ? &c->results : NULL };
	struct history_run *run = history_run_new(&c->a, &c->sink);
	int rc;
	if (!run)
		return EXIT_USAGE;
	if (c->follow && history_run_chooses(run))
		rc = cli_usage(cli, c->cmd, "--follow does not support nondeterministic specifications (any, either)");
	else
		rc = all_files(c, run, files, n);
	history_run_free(run);
	return rc;
}

/* What is wrong with the options together, or NULL. */
static const char *wrong(const struct history_command *c, int files, struct why *why)
{
	if (outputs_wrong(&c->outputs))
		return outputs_wrong(&c->outputs);
	if (c->shard && (c->follow || c->convert || c->verify))
		return "--shard cannot be combined with --follow, --verify and convert";
	if (c->follow && files > 1)
		return "--follow checks atomicity (or --k=N) of one history";
	if (c->follow && history_follow_wrong(&c->a))
		return history_follow_wrong(&c->a);
	if (c->convert && !history_writes(c->to))
		return "--to: edn, json, csv or log";
	return history_args_wrong(&c->a, why);
}

/* --generate: a history of transactions to standard output. */
static int generate(struct history_command *c, int files)
{
	struct why why = { "" };
	if (files || c->shard)
		return cli_usage(c->cli, c->cmd, files ? "--generate reads no FILE" : "--generate has no --shard");
	int rc = history_generate(c->generate, &c->cli->out, flush_out, NULL, &why);
	if (rc == EXIT_USAGE)
		return cli_usage(c->cli, c->cmd, "--generate: %s", why.text);
	if (rc)
		buf_str(&c->cli->err, "intact history: the history could not be written\n");
	return rc;
}

static int run_history(struct cli *cli, const struct cmd *cmd, int argc, char **argv)
{
	struct history_command c = { .cli = cli, .cmd = cmd, .a.jobs = 1, .to = FORMAT_JSON };
	/* clang-format off */
	const struct opt table[] = {
		{ OPT_GROUP, NULL, 0, NULL, NULL, "what to check", 0, 0, NULL },
		HISTORY_QUESTION_OPTIONS(&c.a),
		{ OPT_GROUP, NULL, 0, NULL, NULL, "transactions", 0, 0, NULL },
		HISTORY_LEVEL_OPTIONS(&c.a),
		{ OPT_GROUP, NULL, 0, NULL, NULL, "input", 0, 0, NULL },
		HISTORY_READING_OPTIONS(&c.a),
		{ OPT_STR, "generate", 0, "N=V,...", &c.generate, "write a history of transactions instead (docs/transactions.md)", 0, 0, NULL },
		{ OPT_FLAG, "follow", 0, NULL, &c.follow, "check while the history is being written (a pipe, -)", 0, 0, NULL },
		{ OPT_GROUP, NULL, 0, NULL, NULL, "limits and output", 0, 0, NULL },
		HISTORY_LIMIT_OPTIONS(&c.a),
		{ OPT_STR, "shard", 0, "K/N", &c.shard, "check only part K of N of the keys, for N machines; 'intact merge' joins the results", 0, 0, NULL },
		{ OPT_STR, "verify", 0, "REPORT", &c.verify, "check a report (from --json --witness) against the history", 0, 0, NULL },
		{ OPT_FLAG, "quiet", 'q', NULL, &c.quiet, "print nothing; only set the exit code", 0, 0, NULL },
		{ OPT_CHOICE, "to", 0, "FORMAT", &c.to, "convert: output format", 0, 0, format_names },
		{ OPT_STR, "dot", 0, "FILE", &c.dot, "draw the cycles of transactions for graphviz", 0, 0, NULL },
		OUTPUT_OPTIONS(&c.outputs),
		{ 0 },
	};
	/* clang-format on */
	const char **args = calloc((size_t)argc + 1, sizeof *args);
	struct opts o = { table, args, 0, false };
	struct buf err;
	struct why why;
	int rc;
	buf_init(&err);
	buf_init(&c.text);
	buf_init(&c.results);
	c.convert = argc > 0 && !strcmp(argv[0], "convert");
	if (!args || !opts_parse(&o, argc - c.convert, argv + c.convert, &err))
		rc = cli_usage(cli, cmd, "%s", buf_cstr(&err));
	else if (o.help)
		rc = cli_help(cli, cmd, table);
	else if (c.generate)
		rc = generate(&c, o.nargs);
	else if (!o.nargs && outputs_swallowed(&c.outputs, &err))
		rc = cli_usage(cli, cmd, "%s", buf_cstr(&err));
	else if (!o.nargs)
		rc = cli_usage(cli, cmd, "missing FILE argument (- is standard input)");
	else if (c.shard && !cli_shard(c.shard, &c.a.shard, &c.a.shards))
		rc = cli_usage(cli, cmd, "--shard: expected K/N, with K from 1 to N, such as 2/8");
	else if (wrong(&c, o.nargs, &why))
		rc = cli_usage(cli, cmd, "%s", wrong(&c, o.nargs, &why));
	else
		rc = judge(&c, o.args, o.nargs);
	buf_free(&err);
	buf_free(&c.text);
	buf_free(&c.results);
	free(args);
	return rc;
}

const struct cmd cmd_history = {
	"history",
	"check recorded histories of registers, queues, maps, ...",
	"history [OPTIONS] FILE...\n       intact history convert --to=FORMAT FILE\n       intact history --generate=N=V,...",
	"Checks whether a recorded history is atomic (linearizable) or meets a weaker\n"
	"condition. If it does, shows an order of the operations; if not, the operations in\n"
	"conflict. Reads Jepsen and Knossos histories (EDN, JSON, logs), porcupine's\n"
	"operations, Violin's logs and CSV tables, plain, gzip or zstd. Operations that never\n"
	"returned may or may not have taken effect.\n\n"
	"Transactions (Jepsen's and Elle's [:r k v] [:w k v] [:append k v]; the formats of Plume,\n"
	"dbcop and Cobra; CSV) are checked for isolation levels, from read-uncommitted to\n"
	"strict-serializable.\n\n"
	"exit codes: 0 holds, 1 violated, 2 wrong input or options, 3 unknown (a limit\n"
	"was reached).",
	"convert *.edn *.json *.csv *.log *.txt *.gz *.zst",
	run_history,
};
