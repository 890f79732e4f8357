/*
 * trace_timeline: the trace is read once more. Findings are taken from the result: a cycle has the numbers of its events; a
 * finding of a recorded run has places, which are looked for in the events: a release at its commit and the next
 * acquisition of the same thread at its violation are a gap. At most MAX_FINDINGS are drawn, and MAX_GAPS gaps of each.
 */
#include "judge/trace_timeline.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "event/order.h"
#include "event/reader.h"

enum { MAX_FINDINGS = 200, MAX_GAPS = 1000, PLACE = 300 };

struct timeline_finding {
	char name[PLACE];
	const char *detail;
	uint64_t from, to;                    /* of a cycle */
	char commit[PLACE], violation[PLACE]; /* of a run: "file.c:12" */
	uint32_t gaps;
};

struct timeline_drawing {
	struct timeline t;
	const struct trace_names *names;
	struct timeline_finding found[MAX_FINDINGS];
	uint32_t nfound;
	uint32_t *depth, ndepth;       /* of each thread: open blocks */
	uint64_t *released, nreleased; /* of each thread and finding: the event of the release; 0: none */
	bool *seen_thread, *seen_lock, *held;
	uint32_t nseen_thread, nseen_lock, nheld;
	uint64_t last;
	bool failed;
};

/* ---- findings --------------------------------------------------------------------- */

static uint64_t event_of(const json_t *o, const char *end)
{
	json_int_t v = json_integer_value(json_object_get(json_object_get(o, end), "event"));
	return v > 0 ? (uint64_t)v : 0;
}

static void cycle(struct timeline_drawing *d, const json_t *f)
{
	struct timeline_finding *x = &d->found[d->nfound];
	const json_t *closing = json_object_get(f, "closing"), *steps = json_object_get(f, "cycle");
	const char *label = json_string_value(json_object_get(json_object_get(closing, "block"), "label"));
	const char *op = json_string_value(json_object_get(closing, "op"));
	uint64_t at = event_of(f, "closing");
	if (!at)
		return;
	x->from = x->to = at;
	for (size_t i = 0; i < json_array_size(steps); i++) {
		uint64_t from = event_of(json_array_get(steps, i), "from");
		x->from = from && from < x->from ? from : x->from;
	}
	x->detail = op;
	snprintf(x->name, sizeof x->name, "%.200s is not atomic (cycle)", label ? label : "block");
	d->nfound++;
}

/* "file.c:12" of the innermost frame. */
static bool place_of(const json_t *f, const char *part, char out[PLACE])
{
	const json_t *frame = json_array_get(json_object_get(json_object_get(f, part), "stack"), 0);
	const char *file = json_string_value(json_object_get(frame, "file"));
	json_int_t line = json_integer_value(json_object_get(frame, "line"));
	const char *slash = file ? strrchr(file, '/') : NULL;
	if (!file || line <= 0)
		return false;
	snprintf(out, PLACE, "%.250s:%lld", slash ? slash + 1 : file, (long long)line);
	return true;
}

static void of_run(struct timeline_drawing *d, const json_t *f)
{
	struct timeline_finding *x = &d->found[d->nfound];
	const char *block = json_string_value(json_object_get(f, "block"));
	if (!place_of(f, "commit", x->commit) || !place_of(f, "violation", x->violation))
		return;
	x->detail = json_string_value(json_object_get(f, "sentence"));
	snprintf(x->name, sizeof x->name, "%.200s is not atomic (%s)", block ? block : "function",
	         json_is_true(json_object_get(f, "confirmed")) ? "confirmed" : "predicted");
	d->nfound++;
}

static void take_findings(struct timeline_drawing *d, const json_t *result)
{
	const json_t *cycles = json_object_get(result, "findings"),
		     *run = json_object_get(json_object_get(result, "run"), "results");
	for (size_t i = 0; i < json_array_size(cycles) && d->nfound < MAX_FINDINGS; i++)
		cycle(d, json_array_get(cycles, i));
	for (size_t i = 0; i < json_array_size(run) && d->nfound < MAX_FINDINGS; i++)
		of_run(d, json_array_get(run, i));
}

/* ---- events ------------------------------------------------------------------------ */

static void name_of(const struct timeline_drawing *d, enum name_space ns, uint32_t id, struct buf *out)
{
	buf_clear(out);
	names_show(&d->names->ns[ns], id, out);
}

/* The track gets its name before the first thing on it. */
static bool meet(struct timeline_drawing *d, enum timeline_group group, uint32_t id)
{
	bool lock = group == TIMELINE_LOCKS;
	if (lock ? !GROW(d->seen_lock, d->nseen_lock, (uint64_t)id + 1) || !GROW(d->held, d->nheld, (uint64_t)id + 1)
	         : !GROW(d->seen_thread, d->nseen_thread, (uint64_t)id + 1) || !GROW(d->depth, d->ndepth, (uint64_t)id + 1))
		return false;
	bool *seen = lock ? &d->seen_lock[id] : &d->seen_thread[id];
	if (!*seen) {
		struct buf name;
		buf_init(&name);
		name_of(d, lock ? NS_LOCK : NS_THREAD, id, &name);
		timeline_track(&d->t, group, id, buf_cstr(&name));
		buf_free(&name);
		*seen = true;
	}
	return true;
}

static void place(const struct timeline_drawing *d, const struct event *e, struct buf *out)
{
	buf_clear(out);
	if (e->loc == LOC_NONE)
		return;
	if (e->loc & LOC_TEXT)
		names_show(&d->names->ns[NS_LOC], e->loc & ~LOC_TEXT, out);
	else
		buf_printf(out, "line %u", e->loc);
}

static bool at(const char *place, const char *wanted)
{
	size_t n = strlen(wanted);
	return !strncmp(place, wanted, n) && (place[n] < '0' || place[n] > '9');
}

/* A release or an acquisition at the places of a finding. */
static void gap(struct timeline_drawing *d, const struct event *e, const char *where)
{
	if (!*where || !d->nfound || !GROW(d->released, d->nreleased, ((uint64_t)e->thread + 1) * d->nfound))
		return;
	for (uint32_t i = 0; i < d->nfound; i++) {
		struct timeline_finding *f = &d->found[i];
		uint64_t *since = &d->released[(uint64_t)e->thread * d->nfound + i];
		if (!*f->commit)
			continue;
		if (e->kind == EVENT_ACQ && *since && at(where, f->violation) && f->gaps < MAX_GAPS) {
			struct buf thread;
			buf_init(&thread);
			name_of(d, NS_THREAD, e->thread, &thread);
			timeline_open(&d->t, TIMELINE_FINDINGS, i, *since, buf_cstr(&thread), f->detail);
			timeline_close(&d->t, TIMELINE_FINDINGS, i, e->index);
			timeline_instant(&d->t, TIMELINE_THREADS, e->thread, e->index, f->name, f->detail);
			buf_free(&thread);
			f->gaps++;
		}
		*since = e->kind == EVENT_REL && at(where, f->commit) ? e->index : 0;
	}
}

static void event(struct timeline_drawing *d, const struct event *e, struct buf *name, struct buf *where)
{
	if (event_is_access(e) || (e->flags & EVENT_INNER))
		return;
	bool lock = e->kind == EVENT_ACQ || e->kind == EVENT_REL;
	if (!meet(d, TIMELINE_THREADS, e->thread) || (lock && !meet(d, TIMELINE_LOCKS, e->target))) {
		d->failed = true;
		return;
	}
	place(d, e, where);
	const char *detail = where->len ? buf_cstr(where) : NULL;
	if (lock)
		gap(d, e, buf_cstr(where));
	switch (e->kind) {
	case EVENT_BEGIN:
		name_of(d, NS_LABEL, e->target, name);
		timeline_open(&d->t, TIMELINE_THREADS, e->thread, e->index, e->target ? buf_cstr(name) : "block", detail);
		d->depth[e->thread]++;
		break;
	case EVENT_END:
		if (d->depth[e->thread]) {
			d->depth[e->thread]--;
			timeline_close(&d->t, TIMELINE_THREADS, e->thread, e->index);
		}
		break;
	case EVENT_ACQ:
		name_of(d, NS_THREAD, e->thread, name);
		if (!d->held[e->target])
			timeline_open(&d->t, TIMELINE_LOCKS, e->target, e->index, buf_cstr(name), detail);
		d->held[e->target] = true;
		break;
	case EVENT_REL:
		if (d->held[e->target])
			timeline_close(&d->t, TIMELINE_LOCKS, e->target, e->index);
		d->held[e->target] = false;
		break;
	case EVENT_FORK:
	case EVENT_JOIN:
		name_of(d, NS_THREAD, e->target, name);
		struct buf what;
		buf_init(&what);
		buf_printf(&what, "%s %s", event_kind_name[e->kind], buf_cstr(name));
		timeline_instant(&d->t, TIMELINE_THREADS, e->thread, e->index, buf_cstr(&what), detail);
		buf_free(&what);
		break;
	default:
		break;
	}
}

/* What is open at the end of the trace ends there. */
static void close_all(struct timeline_drawing *d)
{
	for (uint32_t i = 0; i < d->ndepth; i++)
		for (; d->depth[i]; d->depth[i]--)
			timeline_close(&d->t, TIMELINE_THREADS, i, d->last + 1);
	for (uint32_t i = 0; i < d->nheld; i++)
		if (d->held[i])
			timeline_close(&d->t, TIMELINE_LOCKS, i, d->last + 1);
}

static bool draw(struct timeline_drawing *d, struct trace_reader *r, struct order *ord)
{
	struct event *ev;
	struct buf name, where;
	size_t n;
	buf_init(&name);
	buf_init(&where);
	for (uint32_t i = 0; i < d->nfound; i++) {
		timeline_track(&d->t, TIMELINE_FINDINGS, i, d->found[i].name);
		if (d->found[i].from) {
			timeline_open(&d->t, TIMELINE_FINDINGS, i, d->found[i].from, d->found[i].name, d->found[i].detail);
			timeline_close(&d->t, TIMELINE_FINDINGS, i,
			               d->found[i].to > d->found[i].from ? d->found[i].to : d->found[i].from + 1);
		}
	}
	while (!d->failed && (n = trace_next(r, &ev))) {
		d->names = trace_reader_names(r);
		size_t good = order_check(ord, ev, n, d->names);
		for (size_t i = 0; i < good && !d->failed; i++)
			event(d, &ev[i], &name, &where);
		if (good)
			d->last = ev[good - 1].index;
		if (good < n)
			break;
	}
	close_all(d);
	buf_free(&name);
	buf_free(&where);
	return !d->failed;
}

bool trace_timeline(const char *file, uint64_t process, const struct buf *results, enum timeline_format format, struct buf *out,
                    struct buf *err, uint64_t *cut)
{
	struct msgs m = { .silent = true, .err = err };
	struct timeline_drawing *d = calloc(1, sizeof *d);
	struct trace_reader *r = trace_open(file, msgs_add, &m);
	struct order *ord = order_new(file, true, NULL, NULL);
	json_t *result = json_loadb(buf_cstr(results), results->len, JSON_DISABLE_EOF_CHECK, NULL);
	bool ok = d && r && ord;
	if (ok) {
		if (process)
			trace_process(r, (uint32_t)process - 1);
		trace_leave(r, LEAVE_OWN);
		trace_lives(r, LIVES_REUSED);
		take_findings(d, result);
		timeline_begin(&d->t, format, out);
		ok = draw(d, r, ord);
		timeline_end(&d->t);
		*cut = d->t.cut;
	}
	if (!ok)
		buf_str(err, "intact trace: cannot make the timeline: out of memory, or the trace cannot be read again\n");
	json_decref(result);
	order_free(ord);
	if (r)
		trace_close(r);
	if (d) {
		free(d->depth);
		free(d->released);
		free(d->seen_thread);
		free(d->seen_lock);
		free(d->held);
	}
	free(d);
	return ok && !out->failed;
}
