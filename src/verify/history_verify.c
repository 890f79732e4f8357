#include "base/invariant.h"
#include "verify/verify.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "lang/spec.h"
#include "history/read.h"

/* The one result of the report, or NULL. */
static json_t *result_of(json_t *root)
{
	json_t *results = json_object_get(root, "results");
	return json_array_size(results) == 1 ? json_array_get(results, 0) : NULL;
}

static enum format format_of(const json_t *root)
{
	const char *name = json_string_value(json_object_get(root, "format"));
	for (int i = 1; name && format_names[i]; i++)
		if (!strcmp(format_names[i], name))
			return (enum format)i;
	return FORMAT_GUESS;
}

static int no_memory(struct claim_list *l, const char *path)
{
	claim_list_add(l, &(struct claim){ .name = path, .answer = CLAIM_UNKNOWN, .why = "out of memory for the history" });
	return CLAIM_OPEN;
}

static int judge(struct claim_list *l, json_t *root, struct history *h, const char *path, struct diags *d)
{
	static const enum claim_answer answers[] = { CLAIM_ACCEPTED, CLAIM_REJECTED, CLAIM_UNKNOWN };
	struct read_options ro = { .format = format_of(result_of(root)) };
	struct why why = { "" };
	if (json_object_get(result_of(root), "levels"))
		return txn_verify(l, result_of(root), h, path, ro.format, d);
	if (!history_read(h, path, &ro, d))
		return d->errors ? CLAIM_INPUT : no_memory(l, path);
	char *text = json_dumps(root, JSON_COMPACT);
	enum verify_answer v = text ? verify_history_json(h, text, strlen(text), &why) : VERIFY_UNDECIDED;
	free(text);
	assert(v <= VERIFY_UNDECIDED);
	const json_t *result = result_of(root);
	const char *verdict = json_string_value(json_object_get(result, "verdict"));
	const char *condition = json_string_value(json_object_get(result, "condition"));
	struct buf said;
	buf_init(&said);
	verdict = !strcmp(verdict ? verdict : "", "holds")      ? "holds"
	          : !strcmp(verdict ? verdict : "", "violated") ? "violated"
	                                                        : NULL;
	if (v == VERIFY_ACCEPTED)
		buf_printf(&said, "%s (%s)", verdict ? verdict : "violated", condition ? condition : "atomic");
	else
		buf_str(&said, why.text);
	claim_list_add(l, &(struct claim){ .name = path, .claimed = verdict, .answer = answers[v], .why = buf_cstr(&said) });
	buf_free(&said);
	return claim_list_code(l);
}

/* The specification that the report names, if it does; false after a message. */
static bool load_spec(struct claim_list *led, json_t *root, struct lang *l, struct history *h)
{
	const char *path = json_string_value(json_object_get(result_of(root), "spec"));
	if (!path)
		return true;
	h->user = lang_load_spec(l, path);
	if (!h->user)
		diags_render(&l->diags, led->err, led->color);
	return h->user != NULL;
}

static int verify_file(struct claim_list *l, json_t *root, const char *path)
{
	struct arena arena;
	struct limits lim = { 0 };
	struct history h;
	struct diags d;
	struct lang lang;
	jmp_buf oom;
	arena_init(&arena, (size_t)8 << 30);
	arena.oom = &oom;
	if (setjmp(oom)) {
		arena_free(&arena);
		return no_memory(l, path);
	}
	history_init(&h, &arena, &lim);
	diags_init(&d, &arena);
	lang_init(&lang);
	int rc = load_spec(l, root, &lang, &h) ? judge(l, root, &h, path, &d) : CLAIM_INPUT;
	diags_render(&d, l->err, l->color);
	history_free(&h);
	arena_free(&arena);
	lang_free(&lang);
	return rc;
}

int history_verify_report(struct claim_list *l, json_t *root, const char *history)
{
	const json_t *result = result_of(root);
	if (!history)
		history = json_string_value(json_object_get(result, "file"));
	if (!result || !history || !strcmp(history, "-")) {
		buf_str(l->err, result ? "intact verify: the report names no file: intact verify REPORT.json HISTORY\n"
		                       : "intact verify: the report must be about one history\n");
		return CLAIM_INPUT;
	}
	l->subject = history;
	return verify_file(l, root, history);
}
