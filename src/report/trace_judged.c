#include "report/trace_judged.h"

#include "report/finding.h"

void trace_json(const struct trace_judged *t, struct buf *out)
{
	static const char *const verdict[] = { "holds", "violated", "error", "unknown" };
	struct json_out w, *j = &w;
	json_out_init(j, out, true);
	json_begin_object(j, NULL);
	json_text(j, "file", t->file);
	json_text(j, "verdict", verdict[t->code]);
	json_text(j, "algorithm", t->algorithm);
	if (t->recording && t->process)
		json_uint(j, "process", t->process);
	json_text_if(j, "limit", t->limit ? t->limit : t->rec.nomem ? "memory" : NULL);
	json_bool(j, "complete", !(t->failed || t->damaged || t->limit));
	json_flag(j, "damaged", t->damaged);
	json_uint(j, "events", t->events);
	json_uint(j, "blocks", t->blocks);
	if (!t->found.blocks && (t->limit || t->failed))
		json_nothing(j, "serializable");
	else
		json_bool(j, "serializable", !t->found.blocks);
	json_uint(j, "violating_blocks", t->found.blocks);
	cycles_json(&t->found, t->names, j);
	json_uint(j, "findings_not_shown", t->found.unkept);
	if (t->recording) {
		json_begin_object(j, "run");
		json_uint(j, "processes", t->rec.processes);
		json_uint(j, "records", t->rec.records);
		json_uint(j, "findings", t->rec.shown.count);
		json_uint(j, "confirmed", t->rec.shown.confirmed);
		json_uint(j, "suppressed", t->rec.shown.suppressed);
		if (t->rec.shown.known)
			json_uint(j, "known", t->rec.shown.known);
		json_flag(j, "cut", t->rec.shown.cut);
		json_begin_array(j, "results");
		json_items(j, &t->rec.results);
		json_end(j);
		finding_summary(&t->rec.summary, j);
		json_end(j);
	}
	if (t->predicted && t->names)
		predict_json(t->predicted, t->names, j);
	json_end(j);
	json_out_end(j);
}
