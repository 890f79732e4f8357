/*
 * cmd_trace: `intact trace FILE...`: options, and what becomes of the results (judge/trace.h); its helpers convert,
 * stats and verify are in trace_tools.c.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/invariant.h"
#include "cli/outputs.h"
#include "cli/cli.h"
#include "judge/document.h"
#include "judge/trace.h"
#include "judge/trace_timeline.h"

struct trace_command {
	struct trace_args a;
	bool quiet;
	const char *timelines[2]; /* by timeline_format */
	struct outputs outputs;
};

/* --chrome and --perfetto. */
static int write_timelines(struct cli *cli, const struct cmd *cmd, const struct trace_command *c, const char *file,
                           const struct buf *results, int rc)
{
	for (int i = 0; i < 2 && rc != EXIT_USAGE; i++) {
		struct buf text;
		uint64_t cut = 0;
		if (!c->timelines[i])
			continue;
		buf_init(&text);
		if (!trace_timeline(file, c->a.process, results, (enum timeline_format)i, &text, &cli->err, &cut) ||
		    !outputs_file(cli, cmd, c->timelines[i], TIMELINE_MARK, &text))
			rc = EXIT_USAGE;
		if (cut)
			buf_printf(
				&cli->err,
				"intact trace: note: the timeline has the first %d slices and instants; %llu more are left out\n",
				TIMELINE_MAX, (unsigned long long)cut);
		buf_free(&text);
	}
	return rc;
}

static const char *timelines_wrong(const struct trace_command *c, const char *const *files, int n)
{
	bool wanted = c->timelines[TIMELINE_CHROME] || c->timelines[TIMELINE_PERFETTO];
	return wanted && (n > 1 || !strcmp(files[0], "-")) ? "--chrome and --perfetto take one trace, from a file" : NULL;
}

static int run_files(struct cli *cli, const struct cmd *cmd, const struct trace_command *c, const char **files, int n)
{
	assert(cmd->name);
	struct buf results, doc;
	bool timeline = c->timelines[TIMELINE_CHROME] || c->timelines[TIMELINE_PERFETTO];
	struct trace_sink sink = { .text = outputs_take_stdout(&c->outputs) ? NULL : &cli->out,
		                   .results = outputs_wanted(&c->outputs) || timeline ? &results : NULL,
		                   .err = &cli->err,
		                   .color = cli->color_out,
		                   .color_err = cli->color_err,
		                   .quiet = c->quiet,
		                   .width = cli->columns,
		                   .options = getenv("INTACT_OPTIONS"),
		                   .progress = isatty(STDERR_FILENO) };
	int rc = EXIT_HOLDS;
	buf_init(&results);
	buf_init(&doc);
	for (int i = 0; i < n; i++)
		rc = judge_worse(rc, trace_judge(&c->a, files[i], &sink));
	cli->prose |= cli->out.len > 0;
	if (n == 1 && !c->quiet)
		outputs_hint(cli, cmd, &c->outputs, files[0], rc);
	if (timeline)
		rc = write_timelines(cli, cmd, c, files[0], &results, rc);
	if (outputs_wanted(&c->outputs)) {
		judge_document("trace", rc, &results, &doc);
		rc = outputs_write(cli, cmd, &c->outputs, &doc, rc);
	}
	buf_free(&results);
	buf_free(&doc);
	return rc;
}

static int run(struct cli *cli, const struct cmd *cmd, int argc, char **argv)
{
	struct trace_command c = { .a = TRACE_DEFAULTS };
	const struct opt table[] = {
		TRACE_FINDING_OPTIONS(&c.a),
		{ OPT_FLAG, "quiet", 'q', NULL, &c.quiet, "the verdict line alone", 0, 0, NULL },
		TRACE_READING_OPTIONS(&c.a),
		OUTPUT_OPTIONS(&c.outputs),
		{ OPT_STR, "chrome", 0, "FILE", &c.timelines[TIMELINE_CHROME],
		  "a timeline as Chrome's JSON, for chrome://tracing and Perfetto", 0, 0, NULL },
		{ OPT_STR, "perfetto", 0, "FILE", &c.timelines[TIMELINE_PERFETTO], "a timeline as Perfetto's protobuf", 0, 0,
		  NULL },
		{ .help = NULL },
	};
	if (argc > 0 && !strcmp(argv[0], "convert"))
		return trace_convert(cli, cmd, argc - 1, argv + 1);
	if (argc > 0 && !strcmp(argv[0], "stats"))
		return trace_stats_cmd(cli, cmd, argc - 1, argv + 1);
	if (argc > 0 && !strcmp(argv[0], "verify"))
		return trace_verify(cli, cmd, argc - 1, argv + 1);

	const char **args = calloc((size_t)argc + 1, sizeof *args);
	struct buf err;
	int rc;
	if (!args)
		return EXIT_INTERNAL;
	struct opts p = { table, args, 0, false };
	buf_init(&err);
	if (!opts_parse(&p, argc, argv, &err))
		rc = cli_usage(cli, cmd, "%s", buf_cstr(&err));
	else if (p.help)
		rc = cli_help(cli, cmd, table);
	else if (!p.nargs && outputs_swallowed(&c.outputs, &err))
		rc = cli_usage(cli, cmd, "%s", buf_cstr(&err));
	else if (!p.nargs)
		rc = cli_usage(cli, cmd, "missing FILE argument (\"-\" is standard input)");
	else if (outputs_wrong(&c.outputs))
		rc = cli_usage(cli, cmd, "%s", outputs_wrong(&c.outputs));
	else if (timelines_wrong(&c, args, p.nargs))
		rc = cli_usage(cli, cmd, "%s", timelines_wrong(&c, args, p.nargs));
	else if (trace_args_wrong(&c.a, p.nargs))
		rc = cli_usage(cli, cmd, "%s", trace_args_wrong(&c.a, p.nargs));
	else
		rc = run_files(cli, cmd, &c, args, p.nargs);
	buf_free(&err);
	free(args);
	return rc;
}

const struct cmd cmd_trace = {
	"trace",
	"check whether the blocks of a recorded execution are atomic",
	"trace [OPTIONS] FILE...\n"
	"       intact trace convert [OPTIONS] IN OUT\n"
	"       intact trace stats [OPTIONS] FILE\n"
	"       intact trace verify REPORT.json TRACE",
	"Checks whether the recorded execution is conflict-serializable: whether some order\n"
	"without interleaved blocks agrees with it on all conflicts. Each violating block is\n"
	"shown with its cycle. For a recording of a program (`intact run --record`) the\n"
	"findings of the run follow, and count. Reads Intact's own trace files and STD text\n"
	"(T1|w(x)|12 with r w acq rel fork join begin end), plain, zstd or gzip; \"-\" is\n"
	"standard input. Memory depends on threads, variables and open blocks, not on length.\n\n"
	"convert  writes a trace in another format     (intact trace convert --help)\n"
	"stats    counts the contents of a trace       (intact trace stats --help)\n"
	"verify   verifies the cycles of a --json report against the trace, independently\n\n"
	"Exit code: 0 serializable and nothing found, 1 not, 2 the trace cannot be read or\n"
	"is impossible, 3 unknown (a limit was reached).",
	"convert stats verify *.trace *.itr *.std *.txt *.gz *.zst",
	run,
};
