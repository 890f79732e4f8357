#include "report/trace_judged.h"

#include <string.h>

typedef unsigned long long ull;

static void plural(struct buf *out, uint64_t n, const char *word)
{
	buf_printf(out, "%llu %s%s", (ull)n, word, n == 1 ? "" : "s");
}

/* Of a recording: the findings of the run, and what the marked blocks add. */
static void headline_recorded(const struct trace_judged *j, struct buf *out)
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

static void headline(const struct trace_judged *j, struct buf *out)
{
	if (j->found.blocks) {
		buf_str(out, "not serializable: ");
		buf_printf(out, "%llu of ", (ull)j->found.blocks);
		plural(out, j->blocks, "block");
		buf_str(out, j->found.blocks == 1 ? " is not atomic" : " are not atomic");
	} else if (j->recording && j->rec.shown.count) {
		headline_recorded(j, out);
	} else if (j->limit || j->rec.nomem) {
		buf_printf(out, "unknown: out of %s", j->limit ? j->limit : "memory");
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

void trace_text(const struct trace_judged *j, bool quiet, unsigned width, bool color, struct buf *out)
{
	buf_safe(out, j->file, strlen(j->file));
	buf_str(out, ": ");
	headline(j, out);
	buf_str(out, " (");
	plural(out, j->events, "event");
	if (j->rec.processes > 1 && j->process)
		buf_printf(out, " of process %llu of %u", (ull)j->process, j->rec.processes);
	else if (j->rec.processes > 1)
		buf_printf(out, " of the first of %u processes", j->rec.processes);
	buf_char(out, ')');
	if (j->limit && (j->found.blocks || j->rec.shown.count))
		buf_printf(out, ", then out of %s: there may be more", j->limit);
	if (j->damaged)
		buf_str(out, ", the readable part");
	buf_char(out, '\n');
	if (quiet)
		return;
	cycles_text(&j->found, j->names, width, color, out);
	if (j->predicted)
		predict_text(j->predicted, j->names, color, out);
	if (j->found.blocks || j->predicted)
		buf_char(out, '\n');
	if (j->recording)
		buf_add(out, buf_cstr(&j->rec.text), j->rec.text.len);
}

void trace_json(const struct trace_judged *j, struct buf *out)
{
	static const char *const verdict[] = { "holds", "violated", "error", "unknown" };
	buf_str(out, "{\"file\":");
	buf_json(out, j->file, strlen(j->file));
	buf_printf(out, ",\"verdict\":\"%s\",\"algorithm\":\"%s\"", verdict[j->code],
	           j->algorithm);
	if (j->recording && j->process)
		buf_printf(out, ",\"process\":%llu", (ull)j->process);
	if (j->limit)
		buf_printf(out, ",\"limit\":\"%s\"", j->limit);
	buf_printf(out,
	           ",\"complete\":%s,\"events\":%llu,\"blocks\":%llu,"
	           "\"serializable\":%s,\"violating_blocks\":%llu,\"findings\":",
	           j->failed || j->damaged || j->limit ? "false" : "true", (ull)j->events,
	           (ull)j->blocks,
	           j->found.blocks ? "false" : j->limit || j->failed ? "null" : "true",
	           (ull)j->found.blocks);
	if (j->names)
		cycles_json(&j->found, j->names, out);
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
	if (j->predicted && j->names) {
		buf_str(out, ",\"predicted\":");
		predict_json(j->predicted, j->names, out);
	}
	buf_char(out, '}');
}
