/* check: struct intact_check of include/intact/intact.h: options by name, then check/check.h. */
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "api/check_read.h"
#include "base/invariant.h"
#include "check/args.h"
#include "report/check_json.h"

#define MAX_NAMES 256 /* of track and of abstract */

struct intact_check {
	struct check_args args;
	struct api_words words;
	const char *track_names[MAX_NAMES], *abstract_names[MAX_NAMES];
	struct buf messages;
};

API_EXPORT struct intact_check *intact_check_new(void)
{
	struct intact_check *c = calloc(1, sizeof *c);
	if (!c)
		return NULL;
	check_args_init(&c->args);
	c->args.track.items = c->track_names;
	c->args.abstract.items = c->abstract_names;
	buf_init(&c->messages);
	return c;
}

API_EXPORT void intact_check_free(struct intact_check *c)
{
	if (!c)
		return;
	api_words_free(&c->words);
	buf_free(&c->messages);
	free(c);
}

API_EXPORT const char *intact_check_messages(const struct intact_check *c)
{
	return buf_cstr(&c->messages);
}

API_EXPORT enum intact_status intact_check_set(struct intact_check *c, const char *option, const char *value)
{
	struct check_args *a = &c->args;
	const struct opt table[] = {
		CHECK_ENGINE_OPTION(a), CHECK_QUESTION_OPTIONS(a), CHECK_OBJECT_OPTIONS(a), CHECK_LIMIT_OPTIONS(a), { 0 }
	};
	if (a->track.n == MAX_NAMES || a->abstract.n == MAX_NAMES) {
		buf_clear(&c->messages);
		buf_str(&c->messages, "too many names");
		return INTACT_INVALID;
	}
	return api_option(&c->words, table, option, value, &c->messages);
}

/* ---- running ------------------------------------------------------------------------------- */

static bool ready(struct intact_check *c, const struct intact_model *m)
{
	const struct check_options *o = &c->args.options;
	check_args_done(&c->args);
	if (!m->loaded)
		buf_str(&c->messages, "no model is loaded");
	else if (o->faults && (o->block || c->args.engine))
		buf_str(&c->messages, "'faults' checks no block: it cannot be combined with 'block' or 'engine'");
	return !c->messages.len;
}

API_EXPORT enum intact_status intact_check_run(struct intact_check *c, const struct intact_model *m, struct intact_document *d)
{
	static const enum intact_status codes[] = { [CHECK_OK] = INTACT_OK,
		                                    [CHECK_WRONG_OPTIONS] = INTACT_INVALID,
		                                    [CHECK_NO_BLOCK] = INTACT_INVALID,
		                                    [CHECK_NO_MEMORY] = INTACT_NO_MEMORY };
	struct check_result r;
	struct arena a;
	struct diags e;
	struct buf doc;
	buf_clear(&c->messages);
	if (!ready(c, m))
		return INTACT_INVALID;
	arena_init(&a, 0);
	diags_init(&e, &a);
	buf_init(&doc);
	enum check_status got = check_run(m->lang.ir, &c->args.options, &e, &r);
	enum intact_status status = codes[got];
	diags_render(&e, &c->messages, false);
	if (got == CHECK_NO_BLOCK) {
		buf_str(&c->messages, "block: the model has no block '");
		buf_safe(&c->messages, c->args.options.block, strlen(c->args.options.block));
		buf_str(&c->messages, "'");
	}
	if (status == INTACT_OK && r.contradiction) {
		buf_str(&c->messages, "one engine proves what another refutes: this is a bug in intact");
		status = INTACT_INTERNAL;
	}
	if (status == INTACT_OK) {
		struct checked told;
		if (check_result_told(&r, &c->args.options, m->lang.ir->src->name, false, &told))
			check_json(&told, &doc);
		doc.failed |= !told.stories;
		stories_free(told.stories, told.n);
		status = doc.failed ? INTACT_NO_MEMORY : api_document_set(d, "the result", buf_cstr(&doc), doc.len);
		if (status != INTACT_OK)
			buf_str(&c->messages, intact_document_messages(d));
	}
	check_result_free(&r);
	arena_free(&a);
	buf_free(&doc);
	return status;
}
