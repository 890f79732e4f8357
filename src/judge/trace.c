#include "judge/trace.h"

#include <string.h>

#include "base/invariant.h"
#include "dynamic/predict.h"
#include "dynamic/serial.h"
#include "event/order.h"
#include "event/reader.h"
#include "judge/document.h"
#include "judge/trace_recorded.h"

const char *const trace_algorithms[] = { "clock", "graph", NULL };

/* One file on its way to a trace_judged. */
struct trace_run {
	struct trace_judged j;
	struct trace_reader *r;
	struct predict *predict;
	struct predictions predicted;
	enum serial_end end;
};

const char *trace_args_wrong(const struct trace_args *o, int files)
{
	return o->witness && (!o->predict || files > 1) ? "--witness requires --predict and a single trace" : NULL;
}

static enum serial_end feed(struct serial *s, struct graph *g, const struct event *ev, size_t n)
{
	assert((s != NULL) != (g != NULL));
	return g ? graph_feed(g, ev, n) : serial_feed(s, ev, n);
}

/* Reads the events through the analyses; one of s and g is there. */
static void read_events(struct trace_run *x, struct serial *s, struct graph *g, struct order *ord)
{
	assert(x->j.failed || (x->r && ord));
	struct trace_judged *j = &x->j;
	struct event *ev;
	size_t n;
	while (!j->failed && !x->end && (n = trace_next(x->r, &ev))) {
		size_t good = order_check(ord, ev, n, trace_reader_names(x->r));
		for (size_t i = 0; i < good; i++)
			j->blocks += ev[i].kind == EVENT_BEGIN && !(ev[i].flags & EVENT_INNER);
		x->end = feed(s, g, ev, good);
		if (!x->end && x->predict && !predict_feed(x->predict, ev, good))
			x->end = SERIAL_NOMEM;
		j->failed = good < n;
		if (j->failed)
			j->events = ev[good].index - 1;
	}
	if (x->r && !j->failed)
		j->events = trace_count(x->r);
	if (!j->failed && !x->end && x->predict && !predict_finish(x->predict))
		x->end = SERIAL_NOMEM;
}

/* Reads the whole trace through the analyses. */
static void judge_blocks(struct trace_run *x, const struct trace_args *o, struct msgs *m)
{
	struct trace_judged *j = &x->j;
	struct serial_opts so = { .found = cycles_add, .ctx = &j->found, .budget = (size_t)o->memory };
	struct graph *g = o->algorithm == 1 ? graph_new(&so) : NULL;
	struct serial *s = o->algorithm == 0 ? serial_new(&so) : NULL;
	struct order *ord = order_new(j->file, o->lenient, msgs_add, m);
	if (o->predict)
		x->predict = predict_new(&(struct predict_opts){ .window = (size_t)o->window, .limit = (uint32_t)o->limit });
	x->r = trace_open(j->file, msgs_add, m);
	j->failed = !x->r;
	if (x->r) {
		j->recording = trace_is_recording(x->r);
		if (o->process)
			trace_process(x->r, (uint32_t)o->process - 1);
		trace_lives(x->r, o->predict ? LIVES_APART : LIVES_REUSED);
		trace_leave(x->r, g ? LEAVE_BLOCKLESS : o->predict ? LEAVE_FLAGGED : LEAVE_OWN);
	}
	if (!ord || !(g || s) || (o->predict && !x->predict))
		x->end = SERIAL_NOMEM;
	read_events(x, s, g, ord);
	if (x->r) {
		j->failed |= trace_failed(x->r);
		j->damaged = trace_damaged(x->r);
	}
	graph_free(g);
	serial_free(s);
	order_free(ord);
	if (m->nomem && x->r) {
		j->failed = false;
		x->end = SERIAL_NOMEM;
	}
	if (j->found.nomem)
		x->end = SERIAL_NOMEM;
}

/* What the run found that a recording is of, and whether it has the process that was asked about. */
static void judge_run(struct trace_run *x, const struct trace_args *o, const struct trace_sink *to)
{
	assert(!x->j.recording || x->r);
	struct trace_judged *j = &x->j;
	if (j->recording && !j->failed) {
		struct run_reporting how = { .options = to->options,
			                     .baseline = o->baseline,
			                     .err = to->err,
			                     .color = to->color_err,
			                     .progress = to->progress };
		recorded_judge(&how, trace_reopen(x->r), &(struct msgs){ .silent = true }, &j->rec);
		j->failed |= j->rec.failed;
	}
	if (!j->failed && o->process > (j->recording ? j->rec.processes : 1)) {
		buf_safe(to->err, j->file, strlen(j->file));
		buf_printf(to->err, ": error: there is no process %llu: %s %u [no-such-process]\n", (ull)o->process,
		           j->recording ? "it holds" : "a trace of events has", j->recording ? j->rec.processes : 1);
		j->failed = true;
	}
}

/*
 * A violation seen stays one, whatever came after it. A trace that is not
 * well-formed has no verdict at all.
 */
static int exit_of(const struct trace_judged *j)
{
	if (j->failed)
		return EXIT_USAGE;
	if (j->found.blocks || j->rec.shown.count)
		return EXIT_VIOLATED;
	if (j->limit || j->rec.nomem || j->rec.shown.cut)
		return EXIT_UNKNOWN;
	if (j->predicted && j->predicted->proven)
		return EXIT_VIOLATED;
	return EXIT_HOLDS;
}

static const char *limit_of(enum serial_end end)
{
	assert(end != SERIAL_OK);
	return end == SERIAL_LIMIT   ? "transactions of one thread under one open block"
	       : end == SERIAL_PAIRS ? "room for blocks that are open at once and reach each other "
	                               "(--memory=SIZE allows more)"
	                             : "memory";
}

/* The code when it fails. */
static int write_witness(const struct trace_run *x, const char *path, struct buf *err)
{
	bool found = false;
	struct why why;
	if (x->predict && !x->j.failed && !predict_witness(&x->predicted, x->j.file, path, &found, &why)) {
		buf_safe(err, path, strlen(path));
		buf_printf(err, ": error: no witness written: %s\n", why.text);
		return EXIT_USAGE;
	}
	if (!found)
		buf_str(err, "no reordering was proven: no witness written\n");
	return EXIT_HOLDS;
}

/* The result, and the text of it. */
static void tell(const struct trace_judged *j, const struct trace_sink *to)
{
	assert(j->code >= EXIT_HOLDS && j->code <= EXIT_UNKNOWN);
	struct buf json;
	buf_init(&json);
	trace_json(j, &json);
	if (to->results) {
		buf_add(judge_next(to->results), buf_cstr(&json), json.len);
		to->results->failed |= json.failed;
	}
	if (to->text && !j->failed) {
		json_t *result = json_loadb(buf_cstr(&json), json.len, 0, NULL);
		if (result)
			trace_text(result,
			           &(struct trace_text_options){ .width = to->width, .color = to->color, .quiet = to->quiet },
			           to->text);
		to->text->failed |= !result;
		json_decref(result);
	}
	buf_free(&json);
}

int trace_judge(const struct trace_args *o, const char *file, const struct trace_sink *to)
{
	assert(o->algorithm >= 0 && o->algorithm <= 1 && to->err);
	struct trace_run x = { .j = { .file = file, .algorithm = trace_algorithms[o->algorithm], .process = o->process } };
	struct trace_judged *j = &x.j;
	struct msgs m = { .err = to->err, .color = to->color_err };
	cycles_init(&j->found, (uint32_t)o->limit, o->each);
	judge_blocks(&x, o, &m);
	judge_run(&x, o, to);
	if (x.predict) {
		x.predicted = predict_all(x.predict);
		j->predicted = &x.predicted;
	}
	j->names = x.r ? trace_reader_names(x.r) : NULL;
	j->limit = x.end ? limit_of(x.end) : NULL;
	j->code = exit_of(j);
	tell(j, to);
	int rc = j->code;
	if (o->witness)
		rc = judge_worse(rc, write_witness(&x, o->witness, to->err));
	cycles_free(&j->found);
	predict_free(x.predict);
	recorded_free(&j->rec);
	trace_close(x.r);
	return rc;
}
