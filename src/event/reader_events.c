/*
 * reader_events: the records of one process of a recording as events. The file is
 * read twice (translate.h): first to see which bytes go together and whose they
 * are, then for the events. Memory: that of translate.h, gone at the end.
 */
#include "base/invariant.h"
#include "event/itr.h"
#include "event/reader_int.h"

/* A first reading of a recording: which bytes go together, what has names. */
static bool look_ahead(struct trace_reader *r)
{
	struct trace_reader *in = trace_open(trace_reopen(r), NULL, NULL);
	struct rec *recs;
	uint32_t process;
	size_t n, len = 0;
	bool ok = in != NULL;
	r->events_of = translate_new(&r->names, r->lives);
	if (r->events_of)
		translate_leave(r->events_of, r->leave);
	while (ok && r->events_of && (n = trace_next_recs(in, &recs, &process)))
		if ((process & ~ITR_OPENING) == r->wanted)
			ok = translate_look(r->events_of, recs, n);
	const char *text = in ? trace_symbols(in, &len) : NULL;
	ok = ok && r->events_of && symtab_read(&r->symtab, text, len);
	if (ok && len)
		translate_symbols(r->events_of, &r->symtab);
	trace_close(in);
	return ok;
}

/* Records of the process that is wanted, into r->todo; false: the end. */
static bool more_records(struct trace_reader *r)
{
	struct rec *recs;
	uint32_t process;
	while (!r->ntodo && (r->ntodo = trace_next_recs(r, &recs, &process))) {
		r->todo = recs;
		if ((process & ~ITR_OPENING) != r->wanted)
			r->ntodo = 0;
	}
	return r->ntodo > 0;
}

size_t reader_next_recorded(struct trace_reader *r, struct event **batch)
{
	assert(r->recording);
	size_t count = 0, used;
	bool ok = r->events_of || look_ahead(r);
	while (ok && !count && more_records(r)) {
		*batch = translate_some(r->events_of, r->todo, r->ntodo, READER_BATCH, &used, &count);
		ok = *batch != NULL;
		r->todo += used;
		r->ntodo -= used;
		r->next_index = translate_index(r->events_of) + 1;
	}
	if (!ok)
		reader_tell_plain(r, true, "memory", "out of memory", NULL);
	if (!ok || !count)
		reader_release(r);
	return ok ? count : 0;
}
