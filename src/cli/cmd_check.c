/* check: verify a model. Options in, check/check.h, reports out. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/check_read.h"
#include "base/clock.h"
#include "base/invariant.h"
#include "check/args.h"
#include "check/certify.h"
#include "check/check.h"
#include "cli/keep.h"
#include "cli/model.h"
#include "cli/outputs.h"
#include "cli/progress.h"
#include "cli/ranks.h"
#include "report/check_json.h"
#include "report/check_text.h"

struct command {
	struct cli *cli;
	const struct cmd *cmd;
	const char *path;
	struct model_options model;
	struct check_args args;
	struct opt_list no_reduce;
	int dump;
	struct outputs outputs;
	struct keep keep;
	struct ranks ranks;
	bool full;
	const char *certificate;
};

/* --no-reduce=LIST: which reductions are off. */
static bool set_reductions(struct command *c, struct buf *err)
{
	struct search_options *s = &c->args.options.search;
	for (int i = 0; i < c->no_reduce.n; i++) {
		const char *name = c->no_reduce.items[i];
		bool all = !strcmp(name, "all");
		if (all || !strcmp(name, "symmetry"))
			s->symmetry = false;
		if (all || !strcmp(name, "local"))
			s->merge_local = s->drop_pure = false;
		if (all || !strcmp(name, "pure"))
			s->drop_pure = false;
		if (all || !strcmp(name, "transactions"))
			s->transactions = false;
		if (all || !strcmp(name, "dead"))
			c->model.keep_dead = true;
		static const char *const known[] = { "all", "symmetry", "local", "pure", "transactions", "dead" };
		bool found = false;
		for (int k = 0; k < 6; k++)
			found |= !strcmp(name, known[k]);
		if (found)
			continue;
		buf_str(err, "--no-reduce: '");
		buf_safe(err, name, strlen(name));
		buf_str(err, "' is not one of all, symmetry, local, pure, transactions, dead");
		return false;
	}
	return true;
}

/* ---- what is wrong ------------------------------------------------------------ */

/* --block names none; says what may have been meant. */
static int no_block(struct command *c, const struct ir *p)
{
	assert(c->args.options.block);
	const char **names = calloc(p->nblocks + 1ull, sizeof *names), *name = c->args.options.block;
	struct buf asked;
	int rc;
	buf_init(&asked);
	buf_safe(&asked, name, strlen(name));
	for (uint32_t b = 0; names && b < p->nblocks; b++)
		names[b] = p->blocks[b].name;
	int near = names ? nearest_name(name, names, (int)p->nblocks) : -1;
	if (near >= 0)
		rc = cli_usage(c->cli, c->cmd, "--block: the model has no block '%s'; did you mean '%s'?", buf_cstr(&asked),
		               names[near]);
	else
		rc = cli_usage(c->cli, c->cmd, "--block: the model has no block '%s'", buf_cstr(&asked));
	buf_free(&asked);
	free(names);
	return rc;
}

/* ---- reports ------------------------------------------------------------------ */

static void say(struct command *c, const struct checked *told)
{
	assert(told->p);
	struct cli *cli = c->cli;
	struct check_text_options o = { .width = cli->columns,
		                        .utf8 = cli->utf8_out,
		                        .color = cli->color_out,
		                        .stats = c->args.options.count,
		                        .max_rows = c->full ? 0 : 60 };
	cli->prose = true;
	check_text(told, &o, &cli->out);
	if (c->args.options.count)
		ranks_say(&c->ranks, &cli->out);
}

static int write_reports(struct command *c, const struct checked *told, int rc)
{
	struct buf doc;
	if (!outputs_wanted(&c->outputs))
		return rc;
	buf_init(&doc);
	check_json(told, &doc);
	rc = outputs_write(c->cli, c->cmd, &c->outputs, &doc, rc);
	buf_free(&doc);
	return rc;
}

/* ---- certificates -------------------------------------------------------------- */

static int certificate_error(struct command *c, const char *why)
{
	buf_str(&c->cli->err, "intact check: --certificate: ");
	buf_safe(&c->cli->err, c->certificate, strlen(c->certificate));
	buf_printf(&c->cli->err, ": %s\n", why);
	return EXIT_USAGE;
}

/* What is there already must be a certificate. */
static int certificate_place(struct command *c)
{
	assert(c->certificate);
	char magic[19];
	FILE *f = fopen(c->certificate, "rb");
	if (!f)
		return errno == ENOENT ? EXIT_HOLDS : certificate_error(c, strerror(errno));
	size_t n = fread(magic, 1, sizeof magic, f);
	bool other = n && (n < sizeof magic || memcmp(magic, "intact-certificate ", sizeof magic) != 0);
	fclose(f);
	return other ? certificate_error(c, "file exists and is not a certificate; not overwritten") : EXIT_HOLDS;
}

/* Writes it for what holds. */
static int write_certificate(struct command *c, const struct ir *p, const struct check_result *r, struct certified *made)
{
	struct certify_options o = { .path = c->certificate, .check = &c->args.options };
	struct buf program;
	buf_init(&program);
	ir_print(p, &program);
	text_hash(p->src->text, p->src->len, o.text);
	text_hash(buf_cstr(&program), program.len, o.program);
	buf_free(&program);
	switch (certify(p, r, &o, made)) {
	case CERTIFY_OK:
		return EXIT_HOLDS;
	case CERTIFY_NOT_WRITTEN:
		return certificate_error(c, strerror(errno));
	case CERTIFY_CONTRADICTION:
		buf_str(&c->cli->err,
		        "intact check: the search for a certificate refutes what an engine proves: this is a bug in intact\n");
		break;
	case CERTIFY_NO_MEMORY:
		buf_str(&c->cli->err, "intact check: --certificate: out of memory\n");
		break;
	}
	return EXIT_INTERNAL;
}

static int report(struct command *c, const struct ir *p, const struct check_result *r)
{
	assert(r->n == 0 || r->v);
	static const int codes[] = {
		[ANSWER_HOLDS] = EXIT_HOLDS, [ANSWER_VIOLATED] = EXIT_VIOLATED, [ANSWER_UNKNOWN] = EXIT_UNKNOWN
	};
	int rc = codes[answers_together(r->v, r->n)];
	struct checked told;
	struct certified made = { 0 };
	int certificate = c->certificate ? write_certificate(c, p, r, &made) : EXIT_HOLDS;
	if (certificate == EXIT_USAGE) {
		free(made.v);
		return EXIT_USAGE;
	}
	bool ok = check_result_told(r, &c->args.options, c->path, c->model.keep_dead, &told);
	told.certificate = made.v ? &made : NULL;
	if (ok && !outputs_take_stdout(&c->outputs))
		say(c, &told);
	if (r->contradiction) {
		buf_str(&c->cli->err, "intact check: one engine proves what another refutes: this is a bug in intact\n");
		rc = EXIT_INTERNAL;
	}
	rc = certificate == EXIT_INTERNAL ? EXIT_INTERNAL : rc;
	if (!r->causality)
		outputs_hint(c->cli, c->cmd, &c->outputs, c->path, rc);
	rc = ok ? write_reports(c, &told, rc) : EXIT_INTERNAL;
	stories_free(told.stories, told.n);
	free(made.v);
	return rc;
}

static int check(struct command *c, const struct ir *p)
{
	assert(p && c->path);
	struct check_result r;
	struct progress line;
	struct arena a;
	struct diags d;
	int rc;
	arena_init(&a, 0);
	diags_init(&d, &a);
	check_args_done(&c->args);
	c->keep.line = &line;
	rc = ranks_check(&c->ranks, c->cli, c->cmd, &c->keep, &c->args.options);
	if (rc == EXIT_HOLDS)
		rc = keep_begin(&c->keep, c->cli, c->cmd, p, &c->args.options);
	if (rc != EXIT_HOLDS) {
		arena_free(&a);
		return rc;
	}
	progress_begin(&line);
	line.on &= !c->model.quiet;
	c->args.options.search.progress = line.on ? progress_line : NULL;
	c->args.options.search.progress_arg = &line;
	enum check_status status = check_run(p, &c->args.options, &d, &r);
	progress_end(&line);
	diags_render(&d, &c->cli->err, c->cli->color_err);
	rc = EXIT_INTERNAL;
	if (keep_cut(&c->keep, c->cli, c->cmd, &rc))
		; /* no result to report */
	else if (status == CHECK_OK)
		rc = report(c, p, &r);
	else if (status == CHECK_NO_BLOCK)
		rc = no_block(c, p);
	else if (status == CHECK_WRONG_OPTIONS)
		rc = EXIT_USAGE;
	keep_end(&c->keep, c->cli, c->cmd, rc);
	check_result_free(&r);
	arena_free(&a);
	return rc;
}

/* ---- the command -------------------------------------------------------------- */

/* The engines are those of the table. */
static int help(struct cli *cli, const struct cmd *cmd, const struct opt *table)
{
	struct cmd whole = *cmd;
	struct buf about;
	buf_init(&about);
	buf_printf(&about, "%s\n\nengines, the cheapest first ('intact explain ENGINE' describes one):", cmd->about);
	for (const struct check_engine *const *e = engines; *e; e++)
		if (engine_is_choice(*e))
			buf_printf(&about, "\n  %-10s %s", (*e)->about.name, (*e)->about.summary);
	whole.about = buf_cstr(&about);
	int rc = cli_help(cli, &whole, table);
	buf_free(&about);
	return rc;
}

static int run(struct cli *cli, const struct cmd *cmd, int argc, char **argv)
{
	int rc;
	const char **args = calloc((size_t)argc * 5 + 5, sizeof *args);
	struct command c = { .cli = cli, .cmd = cmd, .keep = { .argc = argc, .argv = argv } };
	c.model.threads.items = args + argc + 1;
	c.no_reduce.items = args + 2 * argc + 2;
	c.args.track.items = args + 3 * argc + 3;
	c.args.abstract.items = args + 4 * argc + 4;
	check_args_init(&c.args);
	static const char *const dumps[] = { "none", "ir", NULL };
	/* clang-format off */
	const struct opt table[] = {
		CHECK_ENGINE_OPTION(&c.args),
		{ OPT_LIST, "threads", 0, "NAME=N", &c.model.threads, "run N threads of this name", 0, 0, NULL },
		CHECK_QUESTION_OPTIONS(&c.args),
		{ OPT_GROUP, NULL, 0, NULL, NULL, "objects", 0, 0, NULL },
		CHECK_OBJECT_OPTIONS(&c.args),
		{ OPT_GROUP, NULL, 0, NULL, NULL, "limits (when one is reached, undecided results are reported as unknown)", 0, 0, NULL },
		CHECK_LIMIT_OPTIONS(&c.args),
		{ OPT_GROUP, NULL, 0, NULL, NULL, "long checks (docs/scale.md)", 0, 0, NULL },
		KEEP_OPTIONS(&c.keep),
		RANKS_OPTIONS(&c.ranks),
		{ OPT_GROUP, NULL, 0, NULL, NULL, "output and experiments", 0, 0, NULL },
		{ OPT_FLAG, "stats", 0, NULL, &c.args.options.count, "states, transitions, memory and time of each verdict", 0, 0, NULL },
		{ OPT_STR, "certificate", 0, "FILE", &c.certificate, "write a certificate of what holds, for intact verify (docs/certificates.md)", 0, 0, NULL },
		{ OPT_FLAG, "full", 0, NULL, &c.full, "show counterexamples in full", 0, 0, NULL },
		{ OPT_LIST, "no-reduce", 0, "WHAT", &c.no_reduce, "switch a reduction off: symmetry, local, pure, transactions, dead, all", 0, 0, NULL },
		{ OPT_CHOICE, "dump", 0, "WHAT", &c.dump, "print the program instead of checking it", 0, 0, dumps },
		{ OPT_FLAG, "sml", 0, NULL, &c.model.sml, "read the file as SML regardless of its name", 0, 0, NULL },
		{ OPT_FLAG, "quiet", 'q', NULL, &c.model.quiet, "no warnings", 0, 0, NULL },
		OUTPUT_OPTIONS(&c.outputs),
		{ 0 },
	};
	/* clang-format on */
	struct opts o = { table, args, 0, false };
	struct buf err;
	struct lang l;
	bool rest;
	if (!args)
		return EXIT_INTERNAL;
	rc = ranks_begin(&c.ranks, cli, cmd, &rest);
	if (rest || rc != EXIT_HOLDS) {
		free(args);
		return rc;
	}
	buf_init(&err);
	lang_init(&l);
	if (!opts_parse(&o, argc, argv, &err) || !set_reductions(&c, &err))
		rc = cli_usage(cli, cmd, "%s", buf_cstr(&err));
	else if (o.help)
		rc = help(cli, cmd, table);
	else if (!o.nargs && outputs_swallowed(&c.outputs, &err))
		rc = cli_usage(cli, cmd, "%s", buf_cstr(&err));
	else if (o.nargs != 1)
		rc = cli_usage(cli, cmd, o.nargs ? "expected one MODEL argument" : "missing MODEL argument");
	else if (c.args.options.faults && (c.args.options.block || c.args.engine))
		rc = cli_usage(cli, cmd, "--faults checks no block: it cannot be combined with %s",
		               c.args.options.block ? "--block" : "--engine");
	else if (outputs_wrong(&c.outputs))
		rc = cli_usage(cli, cmd, "%s", outputs_wrong(&c.outputs));
	else if (c.certificate && (c.args.options.block || c.args.options.faults || c.args.engine || c.model.keep_dead))
		rc = cli_usage(cli, cmd, "--certificate is about all questions: it cannot be combined with %s",
		               c.args.options.block    ? "--block"
		               : c.args.options.faults ? "--faults"
		               : c.args.engine         ? "--engine"
		                                       : "--no-reduce=dead");
	else if (c.certificate && (rc = certificate_place(&c)) != EXIT_HOLDS)
		;
	else {
		c.path = args[0];
		rc = model_load(cli, cmd, &l, c.path, &c.model);
		if (rc == EXIT_HOLDS && c.dump == 1)
			ir_print(l.ir, &cli->out);
		else if (rc == EXIT_HOLDS)
			rc = check(&c, l.ir);
	}
	ranks_end(&c.ranks, cli, cmd);
	lang_free(&l);
	buf_free(&err);
	free(args);
	return rc;
}

const struct cmd cmd_check = {
	"check",
	"verify the atomic blocks and objects of a model",
	"check [OPTIONS] MODEL",
	"Decides whether every execution of a model (.atm or .sml) has a serial explanation: for all its\n"
	"atomic blocks together and, if that fails, for each block alone. Shows a run without a serial\n"
	"explanation if there is one. Also reports faults and failed assertions, and checks every history\n"
	"of every object against the object's specification.\n\n"
	"auto asks the engines in the order of the list below until one answers; all asks each of the first\n"
	"four and shows the answers side by side. causal, cover and unfold, selected by name, analyse only\n"
	"causality (docs/causal.md): is there a chain of events that leaves a block and returns to it, or a\n"
	"cycle through several blocks? They track only small data: their proofs are valid, but what they\n"
	"find may be impossible in the program. causal selects cover or unfold.\n\n"
	"Exit code: 0 holds, 1 violated, 2 usage or input, 3 unknown (a limit was reached), 4 internal error.",
	"*.atm *.sml",
	run,
};
