/*
 * cmd_trace: `intact trace FILE...`, judging recorded executions, and its
 * helpers convert, stats and verify. The files are streams: read once, batch
 * by batch, through order_check into the analyses.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/outputs.h"
#include "cli/trace_predict.h"
#include "cli/trace_recorded.h"
#include "cli/trace_report.h"
#include "cli/trace_tools.h"
#include "cli/trace_verify.h"
#include "dynamic/predict.h"
#include "dynamic/serial.h"
#include "event/order.h"
#include "event/reader.h"
#include "report/doc.h"

typedef unsigned long long ull;

struct trace_opts {
	int algorithm;
	bool predict, lenient, each, quiet;
	struct outputs outputs;
	uint64_t limit, memory, window, process;
	const char *witness;
};

/* One file and what became of it. */
struct judged {
	const char *file;
	struct cycles found;
	struct predict *predict;
	struct trace_reader *r;
	uint64_t events, blocks;
	enum serial_end end;
	bool failed, damaged;
	bool recording;
	struct recorded rec; /* when it is one: the findings of the run */
	struct serial_stats st;
};

static enum serial_end feed(struct serial *s, struct graph *g,
                            const struct event *ev, size_t n)
{
	return g ? graph_feed(g, ev, n) : serial_feed(s, ev, n);
}

/* Reads the whole trace through the analyses. */
static void judge(struct judged *j, const struct trace_opts *o, struct msgs *m)
{
	struct serial_opts so = { .found = cycles_add, .ctx = &j->found,
		                  .budget = (size_t)o->memory };
	struct graph *g = o->algorithm == 1 ? graph_new(&so) : NULL;
	struct serial *s = o->algorithm == 0 ? serial_new(&so) : NULL;
	struct order *ord = order_new(j->file, o->lenient, msgs_add, m);
	struct event *ev;
	size_t n;
	if (o->predict)
		j->predict = predict_new(&(struct predict_opts){
			.window = (size_t)o->window, .limit = (uint32_t)o->limit });
	j->r = trace_open(j->file, msgs_add, m);
	j->failed = !j->r;
	j->recording = j->r && trace_is_recording(j->r);
	if (j->r && o->process)
		trace_process(j->r, (uint32_t)o->process - 1);
	if (j->r) {
		trace_lives(j->r, o->predict ? LIVES_APART : LIVES_REUSED);
		trace_leave(j->r, g ? LEAVE_BLOCKLESS : o->predict ? LEAVE_FLAGGED : LEAVE_OWN);
	}
	if (!ord || !(g || s) || (o->predict && !j->predict))
		j->end = SERIAL_NOMEM;
	while (!j->failed && !j->end && (n = trace_next(j->r, &ev))) {
		size_t good = order_check(ord, ev, n, trace_reader_names(j->r));
		for (size_t i = 0; i < good; i++)
			j->blocks += ev[i].kind == EVENT_BEGIN && !(ev[i].flags & EVENT_INNER);
		j->end = feed(s, g, ev, good);
		if (!j->end && j->predict && !predict_feed(j->predict, ev, good))
			j->end = SERIAL_NOMEM;
		j->failed = good < n;
		if (j->failed)
			j->events = ev[good].index - 1;
	}
	if (j->r && !j->failed)
		j->events = trace_count(j->r);
	if (!j->failed && !j->end && j->predict && !predict_finish(j->predict))
		j->end = SERIAL_NOMEM;
	if (j->r) {
		j->failed |= trace_failed(j->r);
		j->damaged = trace_damaged(j->r);
	}
	if (g)
		graph_stats(g, &j->st);
	else if (s)
		serial_stats(s, &j->st);
	graph_free(g);
	serial_free(s);
	order_free(ord);
	if (m->nomem && j->r) {
		j->failed = false;
		j->end = SERIAL_NOMEM;
	}
	if (j->found.nomem)
		j->end = SERIAL_NOMEM;
}

/*
 * A violation seen stays one, whatever came after it. A trace that is not
 * well-formed has no verdict at all.
 */
static int exit_of(const struct judged *j)
{
	if (j->failed)
		return EXIT_USAGE;
	if (j->found.blocks || j->rec.shown.count)
		return EXIT_VIOLATED;
	if (j->end || j->rec.nomem || j->rec.shown.cut)
		return EXIT_UNKNOWN;
	if (j->predict && predict_count(j->predict, PREDICT_PROVEN))
		return EXIT_VIOLATED;
	return EXIT_HOLDS;
}

static const char *limit_of(enum serial_end end)
{
	return end == SERIAL_LIMIT   ? "transactions of one thread under one open block"
	       : end == SERIAL_PAIRS ? "room for blocks that are open at once and reach each other "
	                               "(--memory=SIZE allows more)"
	                             : "memory";
}

/* ---- reports ------------------------------------------------------------ */

static void plural(struct buf *out, uint64_t n, const char *word)
{
	buf_printf(out, "%llu %s%s", (ull)n, word, n == 1 ? "" : "s");
}

/* Of a recording: the findings of the run, and what the marked blocks add. */
static void headline_recorded(const struct judged *j, struct buf *out)
{
	const struct run_shown *s = &j->rec.shown;
	if (!s->count && s->cut) {
		buf_str(out, "unknown: there were more findings than can be kept");
		return;
	}
	if (!s->count) {
		buf_str(out, "nothing found: ");
		if (j->blocks)
			plural(out, j->blocks, "marked block");
		else
			buf_str(out, "no block is marked, and no function is reported");
		buf_str(out, j->blocks ? ", serializable" : "");
		return;
	}
	buf_str(out, "not atomic: ");
	plural(out, s->count, "finding");
	if (s->confirmed == s->count)
		buf_str(out, s->count == 1 ? ", confirmed" : ", all confirmed");
	else if (s->confirmed)
		buf_printf(out, ", %u confirmed and %u predicted", s->confirmed, s->count - s->confirmed);
	else
		buf_str(out, s->count == 1 ? ", predicted: another schedule can violate it"
		                           : ", all predicted: another schedule can violate them");
	if (j->blocks) {
		buf_str(out, "; the ");
		plural(out, j->blocks, "marked block");
		buf_str(out, j->blocks == 1 ? " is serializable in this run" : " are serializable in this run");
	}
}

static void headline(const struct judged *j, struct buf *out)
{
	if (j->found.blocks) {
		buf_str(out, "not serializable: ");
		buf_printf(out, "%llu of ", (ull)j->found.blocks);
		plural(out, j->blocks, "block");
		buf_str(out, j->found.blocks == 1 ? " is not atomic" : " are not atomic");
	} else if (j->recording && j->rec.shown.count) {
		headline_recorded(j, out);
	} else if (j->end || j->rec.nomem) {
		buf_printf(out, "unknown: out of %s", limit_of(j->end ? j->end : SERIAL_NOMEM));
	} else if (j->recording) {
		headline_recorded(j, out);
	} else {
		buf_str(out, "serializable: ");
		if (j->blocks)
			plural(out, j->blocks, "block");
		else
			buf_str(out, "there are no blocks");
	}
}

static void text_report(struct cli *cli, const struct judged *j,
                        const struct trace_opts *o)
{
	struct buf *out = &cli->out;
	const struct trace_names *t = trace_reader_names(j->r);
	buf_safe(out, j->file, strlen(j->file));
	buf_str(out, ": ");
	headline(j, out);
	buf_str(out, " (");
	plural(out, j->events, "event");
	if (j->rec.processes > 1 && o->process)
		buf_printf(out, " of process %llu of %u", (ull)o->process, j->rec.processes);
	else if (j->rec.processes > 1)
		buf_printf(out, " of the first of %u processes", j->rec.processes);
	buf_char(out, ')');
	if (j->end && (j->found.blocks || j->rec.shown.count))
		buf_printf(out, ", then out of %s: there may be more", limit_of(j->end));
	if (j->damaged)
		buf_str(out, ", the readable part");
	buf_char(out, '\n');
	if (o->quiet)
		return;
	cycles_text(&j->found, t, cli->columns, cli->color_out, out);
	if (j->predict)
		predict_text(j->predict, t, cli->color_out, out);
	if (j->found.blocks || j->predict)
		buf_char(out, '\n');
	if (j->recording)
		buf_add(out, buf_cstr(&j->rec.text), j->rec.text.len);
}

static void json_report(const struct judged *j, const struct trace_opts *o, struct buf *out)
{
	static const char *const verdict[] = { "holds", "violated", "error", "unknown" };
	buf_str(out, "{\"file\":");
	buf_json(out, j->file, strlen(j->file));
	buf_printf(out, ",\"verdict\":\"%s\",\"algorithm\":\"%s\"", verdict[exit_of(j)],
	           o->algorithm ? "graph" : "clock");
	if (j->recording && o->process)
		buf_printf(out, ",\"process\":%llu", (ull)o->process);
	if (j->end)
		buf_printf(out, ",\"limit\":\"%s\"", limit_of(j->end));
	buf_printf(out,
	           ",\"complete\":%s,\"events\":%llu,\"blocks\":%llu,"
	           "\"serializable\":%s,\"violating_blocks\":%llu,\"findings\":",
	           j->failed || j->damaged || j->end ? "false" : "true", (ull)j->events,
	           (ull)j->blocks,
	           j->found.blocks ? "false" : j->end || j->failed ? "null" : "true",
	           (ull)j->found.blocks);
	if (j->r)
		cycles_json(&j->found, trace_reader_names(j->r), out);
	else
		buf_str(out, "[]");
	buf_printf(out, ",\"findings_not_shown\":%llu", (ull)j->found.unkept);
	if (j->recording) {
		buf_printf(out, ",\"run\":{\"processes\":%u,\"records\":%llu,\"findings\":%u,"
		           "\"confirmed\":%u,\"suppressed\":%u,\"results\":[",
		           j->rec.processes, (ull)j->rec.records, j->rec.shown.count,
		           j->rec.shown.confirmed, j->rec.shown.suppressed);
		buf_add(out, buf_cstr(&j->rec.results), j->rec.results.len);
		buf_str(out, "]}");
	}
	if (j->predict && j->r) {
		buf_str(out, ",\"predicted\":");
		predict_json(j->predict, trace_reader_names(j->r), out);
	}
	buf_char(out, '}');
}

/* ------------------------------------------------------------------------- */

static int worse(int a, int b)
{
	static const int rank[] = { 0, 2, 3, 1, 4 }; /* holds, unknown, violated, error, internal */
	return rank[b] > rank[a] ? b : a;
}

/* --witness; the exit code when it fails. */
static int write_witness(struct cli *cli, const struct judged *j, const char *to)
{
	bool found = false;
	const char *why = j->predict && !j->failed
	                          ? predict_witness(j->predict, j->file, to, &found)
	                          : NULL;
	if (why) {
		buf_safe(&cli->err, to, strlen(to));
		buf_printf(&cli->err, ": error: no witness written: %s\n", why);
		return EXIT_USAGE;
	}
	if (!found)
		buf_str(&cli->err, "no reordering was proven: no witness written\n");
	return EXIT_HOLDS;
}

static int write_reports(struct cli *cli, const struct cmd *cmd, const struct trace_opts *o, const struct buf *results,
                         int rc)
{
	static const char *const word[] = { "holds", "violated", "unknown", "unknown" };
	struct buf doc;
	buf_init(&doc);
	buf_char(&doc, '{');
	doc_begin(&doc, "trace");
	buf_printf(&doc, ", \"verdict\": \"%s\", \"results\": [\n", word[rc]);
	buf_add(&doc, buf_cstr(results), results->len);
	buf_str(&doc, "\n]}\n");
	rc = outputs_write(cli, cmd, &o->outputs, &doc, rc);
	buf_free(&doc);
	return rc;
}

static int run_files(struct cli *cli, const struct cmd *cmd, const struct trace_opts *o,
                     const char **files, int n)
{
	int rc = EXIT_HOLDS;
	bool wanted = outputs_wanted(&o->outputs);
	struct buf results;
	buf_init(&results);
	for (int i = 0; i < n; i++) {
		struct judged j = { .file = files[i] };
		struct msgs m = { .cli = cli };
		cycles_init(&j.found, (uint32_t)o->limit, o->each);
		judge(&j, o, &m);
		if (j.recording && !j.failed) {
			recorded_judge(cli, trace_reopen(j.r), &(struct msgs){ .cli = cli, .silent = true }, &j.rec);
			j.failed |= j.rec.failed;
		}
		if (!j.failed && o->process > (j.recording ? j.rec.processes : 1)) {
			buf_safe(&cli->err, j.file, strlen(j.file));
			buf_printf(&cli->err, ": error: there is no process %llu: %s %u [no-such-process]\n",
			           (ull)o->process, j.recording ? "it holds" : "a trace of events has",
			           j.recording ? j.rec.processes : 1);
			j.failed = true;
		}
		if (wanted) {
			buf_str(&results, i ? ",\n" : "");
			json_report(&j, o, &results);
		}
		if (!j.failed && !outputs_take_stdout(&o->outputs)) {
			cli->prose = true;
			text_report(cli, &j, o);
		}
		rc = worse(rc, exit_of(&j));
		if (o->witness)
			rc = worse(rc, write_witness(cli, &j, o->witness));
		cycles_free(&j.found);
		predict_free(j.predict);
		recorded_free(&j.rec);
		trace_close(j.r);
	}
	if (n == 1 && !o->quiet)
		outputs_hint(cli, cmd, &o->outputs, files[0], rc);
	if (wanted)
		rc = write_reports(cli, cmd, o, &results, rc);
	buf_free(&results);
	return rc;
}

static int run(struct cli *cli, const struct cmd *cmd, int argc, char **argv)
{
	static const char *const algorithms[] = { "clock", "graph", NULL };
	struct trace_opts o = { .limit = 50, .window = 20000 };
	const struct opt table[] = {
		{ OPT_CHOICE, "algorithm", 'a', "NAME", &o.algorithm,
		  "clock (linear, the default) or graph (transaction graph, slower; for comparison)", 0, 0, algorithms },
		{ OPT_FLAG, "predict", 'p', NULL, &o.predict,
		  "also report blocks that other schedules can break", 0, 0, NULL },
		{ OPT_UINT, "window", 0, "EVENTS", &o.window,
		  "window of events in which --predict searches for a reordering (default 20000)", 16, 10000000, NULL },
		{ OPT_STR, "witness", 0, "FILE", &o.witness,
		  "write the first proven reordering of --predict as a trace", 0, 0, NULL },
		{ OPT_UINT, "limit", 'n', "N", &o.limit,
		  "show at most N findings (default 50; 0: all)", 0, 1000000000, NULL },
		{ OPT_FLAG, "each", 0, NULL, &o.each,
		  "show every violating block, even if the places are the same", 0, 0, NULL },
		{ OPT_FLAG, "quiet", 'q', NULL, &o.quiet, "the verdict line alone", 0, 0, NULL },
		{ OPT_UINT, "process", 0, "N", &o.process,
		  "in a recording of several processes: check the blocks of the Nth (default: the first)", 1, 4096, NULL },
		{ OPT_FLAG, "lenient", 0, NULL, &o.lenient,
		  "treat impossible events (a lock held twice, ...) as warnings", 0, 0, NULL },
		{ OPT_SIZE, "memory", 'm', "SIZE", &o.memory,
		  "memory limit; when reached, the verdict is unknown", 0, 0, NULL },
		OUTPUT_OPTIONS(&o.outputs),
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
	else if (!p.nargs && outputs_swallowed(&o.outputs, &err))
		rc = cli_usage(cli, cmd, "%s", buf_cstr(&err));
	else if (!p.nargs)
		rc = cli_usage(cli, cmd, "missing FILE argument (\"-\" is standard input)");
	else if (outputs_wrong(&o.outputs))
		rc = cli_usage(cli, cmd, "%s", outputs_wrong(&o.outputs));
	else if (o.witness && (!o.predict || p.nargs > 1))
		rc = cli_usage(cli, cmd, "--witness requires --predict and a single trace");
	else
		rc = run_files(cli, cmd, &o, args, p.nargs);
	buf_free(&err);
	free(args);
	return rc;
}

const struct cmd cmd_trace = {
	"trace", "check whether the blocks of a recorded execution are atomic",
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
	NULL, run,
};
