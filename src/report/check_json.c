#include "report/check_json.h"

#include <stdio.h>
#include <string.h>

#include "report/causal_json.h"
#include "report/check_text.h"
#include "report/doc.h"
#include "report/run_json.h"
#include "report/story_json.h"
#include "verdict/object_history.h"
#include "verdict/replay.h"

static const char *const problems[] = {
	[PROBLEM_NONE] = "none",         [PROBLEM_ATOMICITY] = "atomicity",
	[PROBLEM_STUCK] = "stuck",       [PROBLEM_ENDLESS] = "endless",
	[PROBLEM_FAULT] = "fault",       [PROBLEM_DEADLOCK] = "deadlock",
	[PROBLEM_COMMIT] = "commit",     [PROBLEM_QUIESCENCE] = "quiescence",
	[PROBLEM_HISTORY] = "history",
};

const char *problem_name(enum verdict_problem p)
{
	return problems[p];
}

enum verdict_problem problem_from(const char *name)
{
	for (size_t i = 0; i < sizeof problems / sizeof *problems; i++)
		if (!strcmp(problems[i], name))
			return (enum verdict_problem)i;
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

void check_json_model(const struct ir *p, const char *name, bool keep_dead, struct buf *out)
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
	buf_printf(out, "}%s},\n", keep_dead ? ", \"dead\": \"kept\"" : "");
}

void check_json_run(const struct run *r, struct buf *out)
{
	run_json(r, out);
}

/* The operations of the object, in the order of their calls; steps from 1. */
void check_json_history(const struct run *r, uint32_t object, struct buf *out)
{
	struct object_history h;
	struct buf name;
	buf_init(&name);
	buf_char(out, '[');
	bool ok = object_history_init(&h, r, object);
	for (uint32_t i = 0; ok && i < h.n; i++) {
		const struct object_op *o = &h.ops[i];
		buf_clear(&name);
		object_op_name(o, &name);
		buf_printf(out, "%s\n      {\"name\": \"%s\", \"thread\": %u, \"method\": \"%s\"", i ? "," : "",
		           buf_cstr(&name), o->thread + 1, o->is_write ? "write" : "read");
		if (o->is_write || o->ret != OBJECT_OPEN)
			buf_printf(out, ", \"value\": %d", o->value);
		buf_printf(out, ", \"call\": %u", o->call_step + 1);
		if (o->ret != OBJECT_OPEN)
			buf_printf(out, ", \"return\": %u", o->ret_step + 1);
		buf_char(out, '}');
	}
	buf_char(out, ']');
	object_history_free(&h);
	buf_free(&name);
}

/* The concrete run of a causal counterexample, when it is one of these threads. */
static void causal_counterexample(const struct ir *p, const struct causal_run *c, struct buf *out)
{
	struct run r;
	for (uint32_t t = 0; t < p->ntemplates; t++)
		if (c->count[t] != p->templates[t].count)
			return;
	if (c->concrete != CAUSAL_POSSIBLE)
		return;
	if (run_init(&r, p) && replay(&r, c->path, c->npath)) {
		buf_str(out, ",\n     \"counterexample\": {\n");
		check_json_run(&r, out);
		buf_str(out, "}");
	}
	run_free(&r);
}

static void counterexample(const struct ir *p, const struct verdict *v, struct buf *out)
{
	struct run r;
	if (run_init(&r, p) && replay(&r, v->path, v->npath)) {
		buf_str(out, ",\n     \"counterexample\": {\n");
		check_json_run(&r, out);
		buf_str(out, "}");
		story_json(&r, v, out);
		if (v->object1) {
			buf_str(out, ",\n     \"history\": ");
			check_json_history(&r, v->object1 - 1, out);
		}
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
		           a->engine->name, answer_name(a->answer), (unsigned long long)a->states);
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
	if (v->object1) {
		const struct ir_object *o = &p->objects[v->object1 - 1];
		buf_str(out, "null, \"object\": ");
		string(out, o->name);
		buf_printf(out, ", \"line\": %u, \"condition\": \"%s\"",
		           source_pos(p->src, o->span.start).line, v->condition);
	} else if (v->block == VERDICT_PROGRAM) {
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
	           answer_name(v->answer), v->causal ? "causality" : problem_name(v->problem), v->engine->name);
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
	causal_json(p, v, out);
	if (v->causal)
		causal_counterexample(p, v->causal, out);
	if (v->path)
		counterexample(p, v, out);
	buf_char(out, '}');
}

/* What was asked: everything, unless a member says else. */
static void asked(const struct ir *p, const struct check_json_options *o, struct buf *out)
{
	bool any = false;
	buf_str(out, "  \"asked\": {\"engine\": ");
	string(out, o->engine);
	if (o->block) {
		buf_str(out, ", \"block\": ");
		string(out, o->block);
	}
	buf_str(out, o->faults ? ", \"faults\": true" : "");
	buf_str(out, o->deadlock ? ", \"deadlock\": true" : "");
	for (uint32_t t = 0; t < p->ntemplates; t++) {
		if (!p->templates[t].any_count)
			continue;
		buf_str(out, any ? ", " : ", \"any\": [");
		string(out, p->templates[t].name);
		any = true;
	}
	buf_str(out, any ? "]},\n" : "},\n");
}

void check_json(const struct ir *p, const struct verdict *v, uint32_t n,
                const struct check_json_options *o, struct buf *out)
{
	buf_str(out, "{\n  ");
	doc_begin(out, "check");
	buf_str(out, ",\n");
	check_json_model(p, o->model, o->keep_dead, out);
	asked(p, o, out);
	buf_printf(out, "  \"verdict\": \"%s\",\n", answer_name(worst(v, n)));
	if (o->quiescence)
		buf_printf(out, "  \"quiescence\": \"%s\",\n", o->quiescence);
	buf_str(out, "  \"results\": [\n");
	for (uint32_t i = 0; i < n; i++) {
		result(p, &v[i], out);
		buf_str(out, i + 1 < n ? ",\n" : "\n");
	}
	buf_str(out, "  ]\n}\n");
}
