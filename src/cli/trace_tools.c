#include "base/invariant.h"
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

#include "cli/outputs.h"
#include "judge/trace.h"
#include "verify/verify.h"

/* Options and exactly `want` words; -1 to go on, else the exit code. */
static int trace_tool_parse(struct cli *cli, const struct cmd *sub, const struct opt *table, int argc, char **argv, int want,
                            const char *what, const char **args)
{
	assert(want >= 0 && args);
	struct opts p = { table, args, 0, false };
	struct buf err;
	int rc = -1;
	buf_init(&err);
	if (!opts_parse(&p, argc, argv, &err))
		rc = cli_usage(cli, sub, "%s", buf_cstr(&err));
	else if (p.help)
		rc = cli_help(cli, sub, table);
	else if (p.nargs != want)
		rc = cli_usage(cli, sub, "%s", what);
	buf_free(&err);
	return rc;
}

/* ---- convert ------------------------------------------------------------ */

int trace_convert(struct cli *cli, const struct cmd *cmd, int argc, char **argv)
{
	static const char *const formats[] = { "auto", "std", "intact", NULL };
	static const char *const codecs[] = { "auto", "none", "zstd", "gzip", NULL };
	struct writer_opts wo = { 0 };
	struct msgs m = { .err = &cli->err, .color = cli->color_err };
	int to = 0, compress = 0;
	uint64_t level = 0, events = 0;
	bool numeric = false, fixed = false;
	const struct opt table[] = {
		{ OPT_CHOICE, "to", 't', "FORMAT", &to, "std or intact; auto: std when OUT is - or its name says .std or .txt", 0,
		  0, formats },
		{ OPT_CHOICE, "compress", 'c', "CODEC", &compress, "none, zstd or gzip; auto: by the name of OUT, zstd for intact",
		  0, 0, codecs },
		{ OPT_UINT, "level", 'l', "N", &level, "compression level (1 to 19)", 1, 19, NULL },
		{ OPT_FLAG, "numeric", 0, NULL, &numeric, "std: write places as numbers only, for tools that require it", 0, 0,
		  NULL },
		{ OPT_FLAG, "fixed", 0, NULL, &fixed, "intact: 16 bytes per event without names, as the recorder writes", 0, 0,
		  NULL },
		{ .help = NULL },
	};
	struct cmd sub = *cmd;
	sub.name = "trace convert";
	sub.usage = "trace convert [OPTIONS] IN OUT";
	sub.about = "Writes the trace IN to OUT (\"-\": standard input and output) in another format.";
	const char **args = calloc((size_t)argc + 1, sizeof *args);
	if (!args)
		return EXIT_INTERNAL;
	int rc = trace_tool_parse(cli, &sub, table, argc, argv, 2, "expected two files: IN and OUT", args);
	if (rc < 0) {
		trace_choose(args[1], to, compress, &wo);
		wo.level = (int)level;
		wo.numeric = numeric;
		wo.fixed = fixed;
		if (wo.format == FORMAT_ITR && wo.codec == CODEC_GZIP)
			rc = cli_usage(cli, &sub, "Intact's own format is compressed by zstd or not at all");
		else if (wo.format == FORMAT_STD && wo.codec == CODEC_GZIP && level > 9)
			rc = cli_usage(cli, &sub, "gzip supports the levels 1 to 9");
		else if (!strcmp(args[0], args[1]) && strcmp(args[0], "-"))
			rc = cli_usage(cli, &sub, "IN and OUT are the same file");
		else
			rc = trace_copy(args[0], args[1], &wo, &m, &events);
		if (rc == EXIT_HOLDS && strcmp(args[1], "-"))
			buf_printf(&cli->out, "%llu event%s written to %s\n", (ull)events, events == 1 ? "" : "s", args[1]);
	}
	free(args);
	return rc;
}

/* ---- stats -------------------------------------------------------------- */

int trace_stats_cmd(struct cli *cli, const struct cmd *cmd, int argc, char **argv)
{
	struct msgs m = { .err = &cli->err, .color = cli->color_err };
	bool json = false;
	uint64_t top = 10;
	const struct opt table[] = {
		{ OPT_FLAG, "json", 'j', NULL, &json, "write JSON", 0, 0, NULL },
		{ OPT_UINT, "top", 'n', "N", &top, "list the N busiest (default 10)", 1, 1000000, NULL },
		{ .help = NULL },
	};
	struct cmd sub = *cmd;
	sub.name = "trace stats";
	sub.usage = "trace stats [OPTIONS] FILE";
	sub.about = "Counts the contents of a trace: threads, events by kind, blocks, locks, hot variables.";
	const char **args = calloc((size_t)argc + 1, sizeof *args);
	if (!args)
		return EXIT_INTERNAL;
	int rc = trace_tool_parse(cli, &sub, table, argc, argv, 1, "expected one trace", args);
	if (rc < 0)
		rc = trace_count_file(args[0], json, (uint32_t)top, &m, &cli->out);
	free(args);
	return rc;
}

/* ---- verify -------------------------------------------------------------- */

static int verify(struct cli *cli, const struct cmd *sub, struct outputs *o, const char *report, const char *trace)
{
	json_error_t err;
	struct claim_list l;
	struct buf wrong;
	json_t *root = strcmp(report, "-") ? json_load_file(report, JSON_REJECT_DUPLICATES, &err)
	                                   : json_loadf(stdin, JSON_REJECT_DUPLICATES, &err);
	if (!root) {
		buf_safe(&cli->err, report, strlen(report));
		buf_printf(&cli->err, ":%d:%d: error: ", err.line > 0 ? err.line : 1, err.column > 0 ? err.column : 1);
		buf_safe(&cli->err, err.text, strlen(err.text));
		buf_char(&cli->err, '\n');
		return EXIT_USAGE;
	}
	claims_init(&l, cli, report, "trace");
	buf_init(&wrong);
	int rc = trace_verify_report(&l, root, trace, &wrong);
	if (wrong.len)
		rc = cli_usage(cli, sub, "%s", buf_cstr(&wrong));
	rc = claims_end(&l, cli, sub, o, rc);
	buf_free(&wrong);
	json_decref(root);
	return rc;
}

int trace_verify(struct cli *cli, const struct cmd *cmd, int argc, char **argv)
{
	struct outputs outputs = { 0 };
	const struct opt table[] = { OUTPUT_OPTIONS(&outputs), { .help = NULL } };
	struct cmd sub = *cmd;
	sub.name = "trace verify";
	sub.usage = "trace verify [OPTIONS] REPORT.json TRACE";
	sub.about = "Checks every cycle of a report that `intact trace --json TRACE` wrote, with a small\n"
		    "checker that shares no code with the analyses. Exit code 0: all hold, 1: one does not.";
	const char **args = calloc((size_t)argc + 1, sizeof *args);
	if (!args)
		return EXIT_INTERNAL;
	int rc = trace_tool_parse(cli, &sub, table, argc, argv, 2, "expected the report and the trace", args);
	if (rc < 0)
		rc = outputs_wrong(&outputs) ? cli_usage(cli, &sub, "%s", outputs_wrong(&outputs))
		                             : verify(cli, &sub, &outputs, args[0], args[1]);
	free(args);
	return rc;
}
