#include "cli/trace_tools.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli/trace_report.h"
#include "event/order.h"
#include "event/stats.h"
#include "event/writer.h"
#include "verdict/verify_cycle.h"

typedef unsigned long long ull;

void msgs_add(void *ctx, const struct trace_msg *m)
{
	struct msgs *x = ctx;
	x->errors += m->error;
	x->nomem |= m->error && m->code && !strcmp(m->code, "memory");
	if (!x->silent)
		trace_msg_render(m, &x->cli->err, x->cli->color_err);
}

/* Options and exactly `want` words; -1 to go on, else the exit code. */
static int parse(struct cli *cli, const struct cmd *sub, const struct opt *table,
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
	struct msgs m = { .cli = cli };
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
		  "none, zstd or gzip; auto: by OUT's name, zstd for intact", 0, 0, codecs },
		{ OPT_UINT, "level", 'l', "N", &level, "how hard to compress (1 to 19)", 1, 19, NULL },
		{ OPT_FLAG, "numeric", 0, NULL, &numeric,
		  "std: places as numbers only, which is all some tools read", 0, 0, NULL },
		{ OPT_FLAG, "fixed", 0, NULL, &fixed,
		  "intact: 16 bytes an event and no names, as a recorder writes", 0, 0, NULL },
		{ .help = NULL },
	};
	struct cmd sub = *cmd;
	sub.name = "trace convert";
	sub.usage = "trace convert [OPTIONS] IN OUT";
	sub.about = "Writes the trace IN to OUT (\"-\": standard input and output) in another format.";
	const char **args = calloc((size_t)argc + 1, sizeof *args);
	if (!args)
		return EXIT_INTERNAL;
	int rc = parse(cli, &sub, table, argc, argv, 2, "expected two files: IN and OUT", args);
	if (rc < 0) {
		choose(args[1], to, compress, &wo);
		wo.level = (int)level;
		wo.numeric = numeric;
		wo.fixed = fixed;
		if (wo.format == FORMAT_ITR && wo.codec == CODEC_GZIP)
			rc = cli_usage(cli, &sub, "Intact's own format is compressed by zstd or not at all");
		else if (wo.format == FORMAT_STD && wo.codec == CODEC_GZIP && level > 9)
			rc = cli_usage(cli, &sub, "gzip knows the levels 1 to 9");
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
	struct msgs m = { .cli = cli };
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
			buf_str(&cli->out, "{\"schema\":\"intact-trace-stats-1\",\"file\":");
			buf_json(&cli->out, file, strlen(file));
			buf_printf(&cli->out, ",\"format\":\"%s\",\"compression\":\"%s\",\"complete\":%s,\"stats\":",
			           trace_reader_format(r) == FORMAT_STD ? "std" : "intact",
			           trace_reader_codec(r), trace_damaged(r) ? "false" : "true");
			stats_json(s, trace_reader_names(r), top, &cli->out);
			buf_str(&cli->out, "}\n");
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
	sub.about = "Counts what a trace holds: threads, events by kind, blocks, locks, hot variables.";
	const char **args = calloc((size_t)argc + 1, sizeof *args);
	if (!args)
		return EXIT_INTERNAL;
	int rc = parse(cli, &sub, table, argc, argv, 1, "expected one trace", args);
	if (rc < 0)
		rc = stats(cli, args[0], json, (uint32_t)top);
	free(args);
	return rc;
}

/* ---- verify ------------------------------------------------------------- */

/* One end as the report has it; the strings belong to the JSON. */
struct claim_end {
	uint64_t event, block;
	const char *thread, *op;
};

struct claims {
	struct claim_end *ends;   /* two a link */
	struct cycle_link *links;
	struct cycle *cycles;
	size_t nlinks, ncycles;
};

static bool read_end(json_t *o, struct claim_end *e)
{
	json_t *event = json_object_get(o, "event"), *block = json_object_get(o, "block");
	json_t *at = block ? json_object_get(block, "event") : NULL;
	e->thread = json_string_value(json_object_get(o, "thread"));
	e->op = json_string_value(json_object_get(o, "op"));
	if (!json_is_integer(event) || json_integer_value(event) < 1 || !e->thread ||
	    !e->op || (block && (!json_is_integer(at) || json_integer_value(at) < 1)))
		return false;
	e->event = (uint64_t)json_integer_value(event);
	e->block = at ? (uint64_t)json_integer_value(at) : 0;
	return true;
}

static bool read_claims(json_t *findings, struct claims *c, const char **why)
{
	size_t i, k, links = 0;
	json_t *f, *l;
	*why = "\"findings\" is not a list of cycles";
	json_array_foreach(findings, i, f)
		links += json_array_size(json_object_get(f, "cycle"));
	c->cycles = calloc(json_array_size(findings) + 1, sizeof *c->cycles);
	c->links = calloc(links + 1, sizeof *c->links);
	c->ends = calloc(2 * links + 2, sizeof *c->ends);
	if (!c->cycles || !c->links || !c->ends) {
		*why = "out of memory";
		return false;
	}
	json_array_foreach(findings, i, f) {
		struct cycle *y = &c->cycles[c->ncycles++];
		json_t *list = json_object_get(f, "cycle");
		json_t *closing = json_object_get(json_object_get(f, "closing"), "event");
		if (!json_is_array(list) || !json_is_integer(closing))
			return false;
		y->closing.event = (uint64_t)json_integer_value(closing);
		y->links = c->links + c->nlinks;
		y->n = (uint32_t)json_array_size(list);
		json_array_foreach(list, k, l) {
			struct claim_end *e = &c->ends[2 * c->nlinks];
			struct cycle_link *x = &c->links[c->nlinks++];
			if (!read_end(json_object_get(l, "from"), &e[0]) ||
			    !read_end(json_object_get(l, "to"), &e[1]))
				return false;
			x->from.event = e[0].event;
			x->from.block = e[0].block;
			x->to.event = e[1].event;
			x->to.block = e[1].block;
		}
	}
	return true;
}

/* The names the report gives must be those of the trace. */
static bool same_names(const struct trace_names *t, const struct cycle_fact *f,
                       const struct claim_end *e, struct cycle_end *out)
{
	struct buf b;
	bool same;
	if (!f)
		return true; /* the judge says it better */
	buf_init(&b);
	names_show(&t->ns[NS_THREAD], f->thread, &b);
	same = !strcmp(buf_cstr(&b), e->thread);
	buf_clear(&b);
	op_show(t, f->kind, f->target, &b);
	same &= !strcmp(buf_cstr(&b), e->op);
	buf_free(&b);
	out->thread = f->thread;
	out->kind = f->kind;
	out->target = f->target;
	return same;
}

static int judge_claims(struct cli *cli, struct claims *c, struct cycle_judge *j,
                        const struct trace_names *t)
{
	int rc = EXIT_HOLDS;
	size_t held = 0;
	for (size_t i = 0; i < c->ncycles; i++) {
		struct cycle *y = &c->cycles[i];
		const char *why = NULL;
		uint32_t link = 0;
		if (!y->n)
			continue; /* a cycle that was too long to keep */
		for (uint32_t k = 0; k < y->n && !why; k++) {
			size_t at = (size_t)(y->links - c->links) + k;
			struct cycle_link *l = &c->links[at];
			if (!same_names(t, judge_fact(j, l->from.event), &c->ends[2 * at], &l->from) ||
			    !same_names(t, judge_fact(j, l->to.event), &c->ends[2 * at + 1], &l->to)) {
				why = "the event is not what the report says";
				link = k + 1;
			}
		}
		if (!why)
			why = judge_cycle(j, y, &link);
		held += !why;
		if (!why)
			continue;
		rc = EXIT_VIOLATED;
		buf_printf(&cli->out, "rejected: finding %zu", i + 1);
		if (link)
			buf_printf(&cli->out, ", link %u", link);
		buf_printf(&cli->out, ": %s\n", why);
	}
	buf_printf(&cli->out, "%zu of %zu cycle%s accepted\n", held, c->ncycles,
	           c->ncycles == 1 ? "" : "s");
	return rc;
}

static int verify_against(struct cli *cli, struct claims *c, const char *trace, uint32_t process)
{
	struct msgs m = { .cli = cli };
	struct cycle_judge *j = judge_new();
	struct trace_reader *r = trace_open(trace, msgs_add, &m);
	struct event *ev;
	size_t n;
	bool ok = j != NULL;
	int rc = EXIT_USAGE;
	if (r) {
		trace_lives(r, LIVES_REUSED);
		trace_process(r, process);
	}
	for (size_t i = 0; ok && i < c->ncycles; i++)
		ok = judge_want_cycle(j, &c->cycles[i]);
	while (ok && r && (n = trace_next(r, &ev)))
		ok = judge_feed(j, ev, n);
	if (!ok)
		rc = EXIT_UNKNOWN;
	else if (r && !trace_failed(r))
		rc = judge_claims(cli, c, j, trace_reader_names(r));
	trace_close(r);
	judge_free(j);
	return rc;
}

/* Is the verdict the one its own parts lead to? */
static bool verdict_fits(const json_t *one)
{
	const char *verdict = json_string_value(json_object_get(one, "verdict"));
	json_t *run = json_object_get(one, "run"), *predicted = json_object_get(one, "predicted");
	bool broken = json_is_false(json_object_get(one, "serializable")) ||
	              json_integer_value(json_object_get(run, "confirmed")) > 0 ||
	              json_integer_value(json_object_get(predicted, "proven")) > 0 ||
	              (predicted && json_integer_value(json_object_get(run, "findings")) > 0);
	return verdict && (!strcmp(verdict, "violated") ? broken
	                   : !strcmp(verdict, "holds")  ? !broken
	                                                : true);
}

int trace_verify_report(struct cli *cli, const struct cmd *sub, json_t *root,
                        const char *trace)
{
	struct claims c = { 0 };
	const char *why = "it has no findings";
	json_t *traces = json_object_get(root, "results");
	json_t *one = json_array_size(traces) == 1 ? json_array_get(traces, 0) : NULL;
	json_t *findings = json_object_get(one, "findings");
	json_t *fine = json_object_get(one, "serializable");
	int rc;
	if (!trace)
		trace = json_string_value(json_object_get(one, "file"));
	if (json_array_size(traces) > 1) {
		rc = cli_usage(cli, sub, "the report is about %zu traces; make one of a single trace",
		               json_array_size(traces));
	} else if (!trace || !json_is_array(findings) || !read_claims(findings, &c, &why)) {
		rc = cli_usage(cli, sub, "not a report of intact trace --json: %s", why);
	} else {
		json_int_t process = json_integer_value(json_object_get(one, "process"));
		rc = verify_against(cli, &c, trace, process > 1 ? (uint32_t)(process - 1) & 0xffff : 0);
		if (rc == EXIT_HOLDS && (json_is_true(fine) == (c.ncycles > 0) || !verdict_fits(one))) {
			buf_str(&cli->out, "rejected: its verdict is not that of its findings\n");
			rc = EXIT_VIOLATED;
		}
	}
	free(c.cycles);
	free(c.links);
	free(c.ends);
	return rc;
}

static int verify(struct cli *cli, const struct cmd *sub, const char *report,
                  const char *trace)
{
	json_error_t err;
	json_t *root = strcmp(report, "-") ? json_load_file(report, 0, &err)
	                                   : json_loadf(stdin, 0, &err);
	if (!root) {
		buf_safe(&cli->err, report, strlen(report));
		buf_printf(&cli->err, ":%d:%d: error: ", err.line > 0 ? err.line : 1,
		           err.column > 0 ? err.column : 1);
		buf_safe(&cli->err, err.text, strlen(err.text));
		buf_char(&cli->err, '\n');
		return EXIT_USAGE;
	}
	int rc = trace_verify_report(cli, sub, root, trace);
	json_decref(root);
	return rc;
}

int trace_verify(struct cli *cli, const struct cmd *cmd, int argc, char **argv)
{
	const struct opt table[] = { { .help = NULL } };
	struct cmd sub = *cmd;
	sub.name = "trace verify";
	sub.usage = "trace verify REPORT.json TRACE";
	sub.about = "Checks every cycle of a report that `intact trace --json TRACE` wrote, with a small\n"
	            "checker that shares no code with the analyses. Exit code 0: all hold, 1: one does not.";
	const char **args = calloc((size_t)argc + 1, sizeof *args);
	if (!args)
		return EXIT_INTERNAL;
	int rc = parse(cli, &sub, table, argc, argv, 2, "expected the report and the trace", args);
	if (rc < 0)
		rc = verify(cli, &sub, args[0], args[1]);
	free(args);
	return rc;
}
