#include "cli/trace_tools.h"

#include <stdlib.h>
#include <string.h>

#include "cli/claims.h"
#include "event/order.h"
#include "event/stats.h"
#include "event/writer.h"
#include "verify/trace_verify.h"

typedef unsigned long long ull;

int trace_tool_parse(struct cli *cli, const struct cmd *sub, const struct opt *table,
                     int argc, char **argv, int want, const char *what,
                     const char **args)
{
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

static bool ends_with(const char *s, const char *suffix)
{
	size_t n = strlen(s), m = strlen(suffix);
	return n >= m && !strcmp(s + n - m, suffix);
}

/* Format and compression from the options, else from the name. */
static void choose(const char *path, int to, int compress, struct writer_opts *o)
{
	bool zst = ends_with(path, ".zst"), gz = ends_with(path, ".gz");
	bool std = strstr(path, ".std") || strstr(path, ".txt") || !strcmp(path, "-");
	o->format = to == 1 || (to == 0 && std) ? FORMAT_STD : FORMAT_ITR;
	if (compress)
		o->codec = compress == 1 ? CODEC_NONE : compress == 2 ? CODEC_ZSTD : CODEC_GZIP;
	else if (o->format == FORMAT_ITR)
		o->codec = CODEC_ZSTD;
	else
		o->codec = zst ? CODEC_ZSTD : gz ? CODEC_GZIP : CODEC_NONE;
}

static int convert(struct cli *cli, const char *in, const char *to,
                   const struct writer_opts *wo, uint64_t *events)
{
	struct msgs m = { .err = &cli->err, .color = cli->color_err };
	struct trace_reader *r = trace_open(in, msgs_add, &m);
	const char *why = "";
	struct event *ev;
	size_t n;
	if (!r)
		return EXIT_USAGE;
	struct trace_writer *w = writer_open(to, wo, trace_reader_names(r), &why);
	while (w && (n = trace_next(r, &ev)) && writer_put(w, ev, n))
		*events += n;
	bool ok = w && writer_close(w, &why);
	int rc = trace_failed(r) ? EXIT_USAGE : EXIT_HOLDS;
	trace_close(r);
	if (!ok) {
		buf_safe(&cli->err, to, strlen(to));
		buf_printf(&cli->err, ": error: cannot write: %s\n", why);
		rc = EXIT_USAGE;
	}
	return rc;
}

int trace_convert(struct cli *cli, const struct cmd *cmd, int argc, char **argv)
{
	static const char *const formats[] = { "auto", "std", "intact", NULL };
	static const char *const codecs[] = { "auto", "none", "zstd", "gzip", NULL };
	struct writer_opts wo = { 0 };
	int to = 0, compress = 0;
	uint64_t level = 0, events = 0;
	bool numeric = false, fixed = false;
	const struct opt table[] = {
		{ OPT_CHOICE, "to", 't', "FORMAT", &to,
		  "std or intact; auto: std when OUT is - or its name says .std or .txt", 0, 0, formats },
		{ OPT_CHOICE, "compress", 'c', "CODEC", &compress,
		  "none, zstd or gzip; auto: by the name of OUT, zstd for intact", 0, 0, codecs },
		{ OPT_UINT, "level", 'l', "N", &level, "compression level (1 to 19)", 1, 19, NULL },
		{ OPT_FLAG, "numeric", 0, NULL, &numeric,
		  "std: write places as numbers only, for tools that require it", 0, 0, NULL },
		{ OPT_FLAG, "fixed", 0, NULL, &fixed,
		  "intact: 16 bytes per event without names, as the recorder writes", 0, 0, NULL },
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
		choose(args[1], to, compress, &wo);
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
			rc = convert(cli, args[0], args[1], &wo, &events);
		if (rc == EXIT_HOLDS && strcmp(args[1], "-"))
			buf_printf(&cli->out, "%llu event%s written to %s\n", (ull)events,
			           events == 1 ? "" : "s", args[1]);
	}
	free(args);
	return rc;
}

/* ---- stats -------------------------------------------------------------- */

static int stats(struct cli *cli, const char *file, bool json, uint32_t top)
{
	struct msgs m = { .err = &cli->err, .color = cli->color_err };
	struct trace_reader *r = trace_open(file, msgs_add, &m);
	if (!r)
		return EXIT_USAGE;
	trace_lives(r, LIVES_REUSED);
	struct order *ord = order_new(file, true, NULL, NULL);
	struct trace_stats *s = stats_new();
	struct event *ev;
	size_t n;
	bool ok = ord && s;
	while (ok && (n = trace_next(r, &ev))) {
		const struct trace_names *t = trace_reader_names(r);
		ok = order_check(ord, ev, n, t) == n && stats_feed(s, ev, n);
	}
	bool failed = trace_failed(r);
	if (ok && !failed) {
		if (json) {
			struct json_out j;
			json_out_init(&j, &cli->out, true);
			json_begin_object(&j, NULL);
			json_text(&j, "schema", "intact-trace-stats-1");
			json_text(&j, "file", file);
			json_text(&j, "format", trace_reader_format(r) == FORMAT_STD ? "std" : "intact");
			json_text(&j, "compression", trace_reader_codec(r));
			json_bool(&j, "complete", !trace_damaged(r));
			stats_json(s, trace_reader_names(r), top, "stats", &j);
			json_end(&j);
			buf_char(&cli->out, '\n');
		} else {
			stats_text(s, trace_reader_names(r), top, &cli->out);
		}
	}
	if (!ok)
		buf_str(&cli->err, "intact trace stats: out of memory\n");
	stats_free(s);
	order_free(ord);
	trace_close(r);
	return failed ? EXIT_USAGE : ok ? EXIT_HOLDS : EXIT_UNKNOWN;
}

int trace_stats_cmd(struct cli *cli, const struct cmd *cmd, int argc, char **argv)
{
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
		rc = stats(cli, args[0], json, (uint32_t)top);
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
		buf_printf(&cli->err, ":%d:%d: error: ", err.line > 0 ? err.line : 1,
		           err.column > 0 ? err.column : 1);
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
