#include "api/document_text.h"

#include <string.h>

#include "api/check_read.h"
#include "base/invariant.h"
#include "report/check_text.h"
#include "report/claim_list.h"
#include "report/doc.h"
#include "report/explore.h"
#include "report/finding.h"
#include "report/findings_diff.h"
#include "report/simulated.h"
#include "report/trace_judged.h"
#include "verify/document_model.h"

static bool check(const json_t *doc, const struct render_text_options *o, struct buf *out)
{
	struct check_read r;
	struct check_text_options to = { .width = o->width, .utf8 = o->utf8, .color = o->color, .max_rows = o->max_rows };
	bool ok = check_read(&r, doc);
	if (ok)
		check_text(&r.c, &to, out);
	check_read_free(&r);
	return ok;
}

static bool sim(const json_t *doc, const struct render_text_options *o, struct buf *out)
{
	struct sim_text_options to = { .width = o->width, .utf8 = o->utf8, .color = o->color, .max_rows = o->max_rows ? 100 : 0 };
	struct run run = { 0 };
	struct lang l;
	struct simulated s = { .run = &run,
		               .model = doc_text(json_object_get(doc, "model"), "name"),
		               .used_seed = json_object_get(doc, "seed") != NULL,
		               .random = json_is_true(json_object_get(doc, "random")),
		               .seed = (uint64_t)doc_number(doc, "seed"),
		               .runs = (uint64_t)doc_number(doc, "runs"),
		               .steps = (uint64_t)doc_number(doc, "steps_each") };
	lang_init(&l);
	while (sim_end_names[s.end] && !doc_is(doc, "end", sim_end_names[s.end]))
		s.end++;
	bool ok = sim_end_names[s.end] && !document_model(&l, doc, true) && check_read_run(l.ir, doc, &run) &&
	          (s.end == END_FAULT) == run_faulted(&run);
	if (ok)
		simulated_text(&s, &to, out);
	run_free(&run);
	lang_free(&l);
	return ok;
}

static bool explore(const json_t *doc, const struct render_text_options *o, struct buf *out)
{
	struct explore_confirmation c;
	struct explore_report r;
	struct explore_cases cases;
	struct arena a;
	arena_init(&a, 0);
	if (explore_cases_read(doc, &a, &cases)) {
		explore_cases_text(&cases, &a, out, o->color, o->width);
	} else if (explore_confirmation_read(doc, &a, &c)) {
		explore_confirmation_text(&c, &a, out, o->color);
	} else {
		explore_read(doc, &a, &r);
		explore_text(&r, out, o->color, o->width);
	}
	arena_free(&a);
	return true;
}

static bool verify(const json_t *doc, const struct render_text_options *o, struct buf *out)
{
	(void)o;
	claim_list_text(doc, out);
	return true;
}

static bool trace(const json_t *doc, const struct render_text_options *o, struct buf *out)
{
	const json_t *r;
	size_t i;
	json_array_foreach(json_object_get(doc, "results"), i, r)
		trace_text(r, &(struct trace_text_options){ .width = o->width, .color = o->color, .full = !o->max_rows }, out);
	return true;
}

static bool history(const json_t *doc, const struct render_text_options *o, struct buf *out)
{
	const json_t *r;
	size_t i;
	json_array_foreach(json_object_get(doc, "results"), i, r)
	{
		buf_str(out, i ? "\n" : "");
		history_result_text(r, o->color, out);
	}
	return true;
}

static bool net(const json_t *doc, const struct render_text_options *o, struct buf *out)
{
	(void)o;
	net_result_text(json_array_get(json_object_get(doc, "results"), 0), out);
	return true;
}

static bool run(const json_t *doc, const struct render_text_options *o, struct buf *out)
{
	const char *reason = doc_text(doc, "reason");
	findings_text(doc, &(struct finding_text_options){ .color = o->color }, out);
	if (*reason) {
		buf_safe(out, reason, strlen(reason));
		buf_char(out, '\n');
	} else if (!doc_number(doc, "findings")) {
		buf_str(out, "nothing was found in this run\n");
	}
	return true;
}

static bool diff(const json_t *doc, const struct render_text_options *o, struct buf *out)
{
	(void)o;
	findings_diff_text(doc, out);
	return true;
}

void document_text(const json_t *doc, const struct render_text_options *o, struct buf *out)
{
	assert(doc && o);
	static const struct {
		const char *kind;
		bool (*text)(const json_t *, const struct render_text_options *, struct buf *);
	} kinds[] = {
		{ "check", check }, { "diff", diff }, { "explore", explore }, { "history", history }, { "net", net },
		{ "run", run },     { "sim", sim },   { "trace", trace },     { "verify", verify },
	};
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (doc_is(doc, "kind", kinds[i].kind) && kinds[i].text(doc, o, out))
			return;
	buf_str(out, "(the document does not agree with itself, or with this version: its answers as a list)\n");
	render_list(doc, o, out);
}
