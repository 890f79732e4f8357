#include "base/invariant.h"
#include "program/run_once.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/paths.h"
#include "program/explore_schedule.h"
#include "report/doc.h"

static void add_end(struct json_out *j, const struct run_result *r)
{
	const char *abbreviation = r->signal ? sigabbrev_np(r->signal) : NULL;
	char name[32];
	if (r->failed && !r->signal)
		return;
	snprintf(name, sizeof name, "SIG%s", abbreviation ? abbreviation : "?");
	json_begin_object(j, "ended");
	json_int(j, r->signal ? "signal" : "status", r->signal ? r->signal : r->status);
	if (r->signal)
		json_text(j, "name", name);
	json_end(j);
}

void run_document(const struct settings *s, const char *program, const struct run_result *r, struct buf *out)
{
	assert(s->text.json == &s->log); /* run_log_begin() */
	struct json_out j;
	json_out_init(&j, out, false);
	doc_begin(&j, "run", 0);
	bool halted = processes_halted(&r->processes), found = s->shown.count || halted;
	const char *reason = halted             ? "stopped at the first finding, which the program printed itself"
	                     : r->failed        ? "the program could not be run"
	                     : r->signal        ? "a signal ended the program: its remaining behaviour is unknown"
	                     : run_unwatched(r) ? run_unwatched(r)
	                     : settings_cut(s)  ? "some findings were not kept or could not be read"
	                                        : NULL;
	json_text(&j, "verdict", found ? "violated" : reason ? "unknown" : "holds");
	json_text(&j, "program", program);
	char path[PATH_MAX], id[128] = "";
	if (find_in_path(program, path, sizeof path))
		explore_build_id(path, id, sizeof id);
	json_text_if(&j, "build_id", *id ? id : NULL);
	json_text_if(&j, "reason", !found || halted ? reason : NULL);
	add_end(&j, r);
	processes_json(&r->processes, &j);
	json_line(&j, 0);
	json_uint(&j, "findings", s->shown.count);
	json_uint(&j, "confirmed", s->shown.confirmed);
	json_uint(&j, "suppressed", s->shown.suppressed);
	if (s->filter.baseline)
		baseline_json(s->filter.baseline, s->shown.known, &j);
	json_begin_array(&j, "results");
	json_line(&j, 0);
	json_items(&j, &s->log.results);
	json_end(&j);
	json_line(&j, 0);
	finding_not_shown(&s->log, &j);
	json_line(&j, 0);
	finding_summary(&s->log.summary, &j);
	finding_sources(&s->log, &j);
	doc_end(&j);
}
