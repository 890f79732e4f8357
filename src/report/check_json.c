#include "report/check_json.h"

#include <stdio.h>
#include <string.h>

#include "report/check_text.h"
#include "report/doc.h"
#include "report/run_json.h"
#include "report/story_json.h"
#include "verdict/replay.h"

static const char *const problems[] = {
	[PROBLEM_NONE] = "none",         [PROBLEM_ATOMICITY] = "atomicity",
	[PROBLEM_STUCK] = "stuck",       [PROBLEM_ENDLESS] = "endless",
	[PROBLEM_FAULT] = "fault",       [PROBLEM_DEADLOCK] = "deadlock",
	[PROBLEM_COMMIT] = "commit",
};

const char *problem_name(enum problem p)
{
	return problems[p];
}

enum problem problem_from(const char *name)
{
	for (size_t i = 0; i < sizeof problems / sizeof *problems; i++)
		if (!strcmp(problems[i], name))
			return (enum problem)i;
	return PROBLEM_NONE;
}

void text_hash(const char *text, size_t len, char out[17])
{
	uint64_t h = 0xCBF29CE484222325u;
	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)text[i]) * 0x100000001B3u;
	snprintf(out, 17, "%016llx", (unsigned long long)h);
}

static void string(struct buf *out, const char *s)
{
	buf_json(out, s, strlen(s));
}

static const char *answer_name(enum answer a)
{
	return a == ANSWER_HOLDS ? "holds" : a == ANSWER_VIOLATED ? "violated" : "unknown";
}

static enum answer worst(const struct verdict *v, uint32_t n)
{
	enum answer a = ANSWER_HOLDS;
	for (uint32_t i = 0; i < n; i++) {
		if (v[i].answer == ANSWER_VIOLATED)
			return ANSWER_VIOLATED;
		if (v[i].answer == ANSWER_UNKNOWN)
			a = ANSWER_UNKNOWN;
	}
	return a;
}

void check_json_model(const struct ir *p, const char *name, struct buf *out)
{
	char hash[17];
	text_hash(p->src->text, p->src->len, hash);
	buf_str(out, "  \"model\": {\"name\": ");
	string(out, name);
	buf_printf(out, ", \"language\": \"%s\", \"hash\": \"%s\",\n    \"text\": ",
	           p->sml ? "sml" : "atm", hash);
	buf_json(out, p->src->text, p->src->len);
	buf_str(out, ",\n    \"threads\": {");
	for (uint32_t i = 0; i < p->ntemplates; i++) {
		buf_str(out, i ? ", " : "");
		string(out, p->templates[i].name);
		buf_printf(out, ": %u", p->templates[i].count);
	}
	buf_str(out, "}},\n");
}

void check_json_run(const struct run *r, struct buf *out)
{
	run_json(r, out);
}

static void counterexample(const struct ir *p, const struct verdict *v, struct buf *out)
{
	struct run r;
	if (run_init(&r, p) && replay(&r, v->path, v->npath)) {
		buf_str(out, ",\n     \"counterexample\": {\n");
		check_json_run(&r, out);
		buf_str(out, "}");
		story_json(&r, v, out);
	}
	run_free(&r);
}

/* For how many threads, and what it rests on. */
static void proof(const struct ir *p, const struct verdict *v, struct buf *out)
{
	bool first = true;
	buf_str(out, ", \"any_number_of\": [");
	for (uint32_t t = 0; t < p->ntemplates && v->scope != SCOPE_DECLARED; t++) {
		const struct ir_template *tm = &p->templates[t];
		if (v->scope == SCOPE_ANY_OF && tm->count == 1 && !tm->any_count)
			continue;
		buf_str(out, first ? "" : ", ");
		string(out, tm->name);
		first = false;
	}
	buf_char(out, ']');
	if (v->as_part)
		buf_str(out, ", \"as_part\": true");
	if (v->notes) {
		buf_str(out, ", \"notes\": ");
		string(out, v->notes);
	}
}

/* What each engine said, in the order they were asked. */
static void attempts(const struct verdict *v, struct buf *out)
{
	buf_str(out, ",\n     \"attempts\": [");
	for (uint32_t i = 0; i < v->nattempts; i++) {
		const struct attempt *a = &v->attempts[i];
		buf_printf(out, "%s{\"engine\": \"%s\", \"verdict\": \"%s\", \"states\": %llu", i ? ", " : "",
		           a->engine, answer_name(a->answer), (unsigned long long)a->states);
		if (a->limit) {
			buf_str(out, ", \"limit\": ");
			string(out, a->limit);
		}
		if (a->why) {
			buf_str(out, ", \"why\": ");
			string(out, a->why);
		}
		buf_char(out, '}');
	}
	buf_char(out, ']');
}

static void result(const struct ir *p, const struct verdict *v, struct buf *out)
{
	buf_str(out, "    {\"block\": ");
	if (v->block == VERDICT_PROGRAM) {
		buf_str(out, "null");
	} else {
		struct buf name;
		buf_init(&name);
		check_text_name(p, v->block, &name);
		buf_json(out, buf_cstr(&name), name.len);
		buf_printf(out, ", \"line\": %u",
		           source_pos(p->src, p->blocks[v->block].span.start).line);
		buf_free(&name);
	}
	buf_printf(out, ", \"verdict\": \"%s\", \"problem\": \"%s\", \"engine\": \"%s\"",
	           answer_name(v->answer), problem_name(v->problem), v->engine);
	if (v->commits) {
		buf_str(out, ", \"commits\": ");
		string(out, v->commits);
	}
	if (v->answer == ANSWER_UNKNOWN && v->limit) {
		buf_str(out, ", \"limit\": ");
		string(out, v->limit);
	}
	if (v->answer == ANSWER_UNKNOWN && v->reason) {
		buf_str(out, ", \"reason\": ");
		string(out, v->reason);
	}
	buf_printf(out, ", \"states\": %llu, \"transitions\": %llu", (unsigned long long)v->states,
	           (unsigned long long)v->transitions);
	if (v->answer == ANSWER_HOLDS)
		proof(p, v, out);
	if (v->nattempts)
		attempts(v, out);
	if (v->path)
		counterexample(p, v, out);
	buf_char(out, '}');
}

void check_json(const struct ir *p, const struct verdict *v, uint32_t n,
                const struct check_json_options *o, struct buf *out)
{
	buf_str(out, "{\n  ");
	doc_begin(out, "check");
	buf_str(out, ",\n");
	check_json_model(p, o->model, out);
	buf_printf(out, "  \"verdict\": \"%s\",\n  \"results\": [\n", answer_name(worst(v, n)));
	for (uint32_t i = 0; i < n; i++) {
		result(p, &v[i], out);
		buf_str(out, i + 1 < n ? ",\n" : "\n");
	}
	buf_str(out, "  ]\n}\n");
}
