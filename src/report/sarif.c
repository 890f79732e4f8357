/*
 * sarif: issues as SARIF 2.1.0 (OASIS, static analysis results interchange).
 *
 * One run. Violated issues are results; what was not decided is a
 * notification of the invocation (a result would show up as an alert); what
 * holds is not mentioned. A story is a code flow with one thread flow per
 * thread and executionOrder across them, counted from 1.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/doc.h"
#include "report/issue.h"
#include "report/render.h"
#include "version.h"

/* Longer stories keep their beginning and end: an editor shows no more. */
enum { MAX_STEPS = 1000 };

static json_t *text_of(const char *s)
{
	return json_pack("{s:s}", "text", *s ? s : " ");
}

static void uri(struct buf *out, const char *path)
{
	if (path[0] == '/')
		buf_str(out, "file://");
	while (path[0] == '.' && path[1] == '/')
		path += 2;
	/* a colon before the first slash would read as a scheme */
	bool slash = false;
	for (; *path; path++) {
		unsigned char c = (unsigned char)*path;
		slash |= c == '/';
		if (isalnum(c) || strchr("-._~/!$&'()*+,;=@", c) || (c == ':' && slash))
			buf_char(out, (char)c);
		else
			buf_printf(out, "%%%02X", c);
	}
}

static json_t *artifact(const char *file)
{
	struct buf b;
	buf_init(&b);
	uri(&b, file);
	json_t *a = json_pack("{s:s}", "uri", buf_cstr(&b));
	if (file[0] != '/')
		json_object_set_new(a, "uriBaseId", json_string("%SRCROOT%"));
	buf_free(&b);
	return a;
}

static json_t *location(const struct place *p, const char *message)
{
	json_t *l = json_object();
	if (p->file && *p->file) {
		json_t *phys = json_pack("{s:o}", "artifactLocation", artifact(p->file));
		if (p->line) {
			json_t *region = json_pack("{s:I}", "startLine", (json_int_t)p->line);
			if (p->column)
				json_object_set_new(region, "startColumn", json_integer(p->column));
			json_object_set_new(phys, "region", region);
		}
		json_object_set_new(l, "physicalLocation", phys);
	}
	if (p->function)
		json_object_set_new(l, "logicalLocations",
		                    json_pack("[{s:s, s:s}]", "fullyQualifiedName", p->function, "kind", "function"));
	if (message)
		json_object_set_new(l, "message", text_of(message));
	return l;
}

static json_t *state(const json_t *vars)
{
	json_t *out = json_object(), *v;
	const char *name;
	json_object_foreach((json_t *)(uintptr_t)vars, name, v)
	{
		char *t = json_is_string(v) ? NULL : json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT);
		json_object_set_new(out, name, text_of(t ? t : json_is_string(v) ? json_string_value(v) : "?"));
		free(t);
	}
	return out;
}

static json_t *flow_location(const struct flow_step *f, uint32_t order)
{
	json_t *l = json_pack("{s:o, s:I, s:I, s:s}", "location", location(&f->at, f->text), "executionOrder",
	                      (json_int_t)order + 1, "nestingLevel", (json_int_t)f->depth, "importance",
	                      f->essential ? "essential" : "important");
	if (json_object_size(f->state))
		json_object_set_new(l, "state", state(f->state));
	return l;
}

static json_t *code_flow(const struct issue *i)
{
	json_t *flows = json_array();
	for (uint32_t t = 0; t < i->flows.len; t++) {
		json_t *places = json_array();
		for (uint32_t k = 0; k < i->steps.len; k++) {
			bool middle = k >= MAX_STEPS / 2 && k + MAX_STEPS / 2 < i->steps.len;
			if (i->steps.data[k].flow == t && (!middle || i->steps.data[k].essential))
				json_array_append_new(places, flow_location(&i->steps.data[k], k));
		}
		if (!json_array_size(places)) {
			json_decref(places);
			continue;
		}
		json_array_append_new(flows, json_pack("{s:s, s:o, s:o}", "id", i->flows.data[t], "message",
		                                       text_of(i->flows.data[t]), "locations", places));
	}
	return json_pack("{s:o, s:o}", "message", text_of(i->title), "threadFlows", flows);
}

static json_t *stacks(const struct issue *i)
{
	json_t *all = json_array(), *f;
	for (uint32_t k = 0; k < i->stacks.len; k++) {
		json_t *frames = json_array();
		size_t n;
		json_array_foreach((json_t *)(uintptr_t)i->stacks.data[k].frames, n, f)
		{
			struct place p = { .file = *doc_text(f, "file") ? doc_text(f, "file") : NULL,
				           .line = (uint32_t)doc_number(f, "line"),
				           .column = (uint32_t)doc_number(f, "column"),
				           .function = *doc_text(f, "function") ? doc_text(f, "function") : NULL };
			json_t *frame = json_pack("{s:o}", "location", location(&p, p.function ? p.function : "?"));
			if (*doc_text(f, "module"))
				json_object_set_new(frame, "module", json_string(doc_text(f, "module")));
			json_array_append_new(frames, frame);
		}
		json_array_append_new(all, json_pack("{s:o, s:o}", "message", text_of(i->stacks.data[k].title), "frames", frames));
	}
	return all;
}

static json_t *result(struct issues *s, const struct issue *i, json_t *seen, bool suppressing)
{
	char print[40];
	json_int_t times = json_integer_value(json_object_get(seen, i->fingerprint)) + 1;
	json_object_set_new(seen, i->fingerprint, json_integer(times));
	snprintf(print, sizeof print, times > 1 ? "%s:%lld" : "%s", i->fingerprint, (long long)times);
	struct place at = i->at;
	if (at.file && !at.line)
		at.line = 1; /* the file as a whole: viewers want a region */
	const char *message = *i->message ? arena_printf(&s->arena, "%s. %s", i->title, i->message) : i->title;
	json_t *r = json_pack("{s:s, s:I, s:s, s:s, s:o, s:[o], s:{s:s}}", "ruleId", i->rule->id, "ruleIndex",
	                      (json_int_t)(i->rule - issue_rules), "kind", "fail", "level", i->rule->level, "message",
	                      text_of(message), "locations", location(&at, NULL), "partialFingerprints", "intact/v1", print);
	if (i->steps.len)
		json_object_set_new(r, "codeFlows", json_pack("[o]", code_flow(i)));
	if (i->stacks.len)
		json_object_set_new(r, "stacks", stacks(i));
	if (suppressing)
		json_object_set_new(r, "suppressions",
		                    i->suppressed ? json_pack("[{s:s, s:s}]", "kind", "external", "justification", i->suppressed)
		                                  : json_array());
	if (i->next)
		json_object_set_new(r, "properties", json_pack("{s:s}", "next", i->next));
	return r;
}

static json_t *rules(void)
{
	json_t *all = json_array();
	for (const struct rule *r = issue_rules; r->id; r++) {
		struct buf md, help;
		buf_init(&md);
		buf_init(&help);
		buf_printf(&help, "%sreport.md#%s", INTACT_HOMEPAGE, r->id);
		buf_printf(&md, "**%s**\n\n%s", r->brief, r->help);
		json_array_append_new(all, json_pack("{s:s, s:s, s:s, s:o, s:o, s:{s:s, s:s}, s:{s:s}, s:{s:[s,s], s:s}}", "id",
		                                     r->id, "name", r->name, "helpUri", buf_cstr(&help), "shortDescription",
		                                     text_of(r->brief), "fullDescription", text_of(r->help), "help", "text",
		                                     r->help, "markdown", buf_cstr(&md), "defaultConfiguration", "level", r->level,
		                                     "properties", "tags", "concurrency", "atomicity", "precision",
		                                     !strcmp(r->level, "error") ? "very-high" : "high"));
		buf_free(&md);
		buf_free(&help);
	}
	return all;
}

static json_t *notification(struct issues *s, const struct issue *i)
{
	const char *text = *i->message ? arena_printf(&s->arena, "%s. %s", i->title, i->message) : i->title;
	json_t *n = json_pack("{s:s, s:o}", "level", s->failed ? "error" : "warning", "message", text_of(text));
	if (i->at.file)
		json_object_set_new(n, "locations", json_pack("[o]", location(&i->at, NULL)));
	return n;
}

void render_sarif(const json_t *doc, struct buf *out)
{
	struct issues s;
	issues_init(&s, doc);
	json_t *results = json_array(), *notes = json_array(), *seen = json_object();
	bool suppressing = false;
	for (uint32_t k = 0; k < s.list.len; k++)
		suppressing |= s.list.data[k]->suppressed != NULL;
	for (uint32_t k = 0; k < s.list.len; k++) {
		const struct issue *i = s.list.data[k];
		if (!strcmp(i->verdict, "violated") && i->rule)
			json_array_append_new(results, result(&s, i, seen, suppressing));
		else if (!strcmp(i->verdict, "unknown"))
			json_array_append_new(notes, notification(&s, i));
	}
	json_t *log = json_pack(
		"{s:s, s:s, s:[{s:{s:{s:s, s:s, s:s, s:s, s:o}}, s:[{s:b, s:o}], s:{s:s}, s:s, s:{s:{s:{s:s}}}, s:o}]}", "version",
		"2.1.0", "$schema", "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
		"runs", "tool", "driver", "name", "Intact", "version", INTACT_VERSION, "semanticVersion", INTACT_VERSION,
		"informationUri", INTACT_HOMEPAGE, "rules", rules(), "invocations", "executionSuccessful", !s.failed,
		"toolExecutionNotifications", notes, "automationDetails", "id", arena_printf(&s.arena, "intact/%s/", s.kind),
		"columnKind", "unicodeCodePoints", "originalUriBaseIds", "%SRCROOT%", "description", "text",
		"The directory in which intact was run.", "results", results);
	char *text = log ? json_dumps(log, JSON_INDENT(1) | JSON_ENSURE_ASCII) : NULL;
	if (text)
		buf_str(out, text);
	else
		out->failed = true;
	buf_char(out, '\n');
	free(text);
	json_decref(log);
	json_decref(seen);
	issues_free(&s);
}
