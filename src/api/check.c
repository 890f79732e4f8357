/* check: struct intact_check of include/intact/intact.h: options by name, then check/check.h. */
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "api/check_read.h"
#include "base/clock.h"
#include "base/invariant.h"
#include "report/check_json.h"

#define MAX_NAMES 256 /* of track and of abstract */

struct intact_check {
	struct check_options options;
	struct api_words words;
	const char *engines[ENGINE_MAX_CHOICES], *judges[ENGINE_MAX_CHOICES];
	int engine, judge;
	const char *track_names[MAX_NAMES], *abstract_names[MAX_NAMES];
	struct opt_list track, abstract;
	uint64_t timeout, jobs;
	struct buf messages;
};

API_EXPORT struct intact_check *intact_check_new(void)
{
	struct intact_check *c = calloc(1, sizeof *c);
	if (!c)
		return NULL;
	struct search_options *s = &c->options.search;
	s->symmetry = s->merge_local = s->drop_pure = s->transactions = true;
	engine_choices(c->engines);
	engine_names(ENGINE_OBJECTS, c->judges);
	c->track.items = c->track_names;
	c->abstract.items = c->abstract_names;
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
	struct check_options *o = &c->options;
	const struct opt table[] = {
		{ OPT_CHOICE, "engine", 0, "ENGINE", &c->engine, "", 0, 0, c->engines },
		{ OPT_STR, "block", 0, "NAME", &o->block, "", 0, 0, NULL },
		{ OPT_LIST, "track", 0, "NAME", &c->track, "", 0, 0, NULL },
		{ OPT_LIST, "abstract", 0, "NAME", &c->abstract, "", 0, 0, NULL },
		{ OPT_FLAG, "reduced", 0, NULL, &o->reduced, "", 0, 0, NULL },
		{ OPT_FLAG, "deadlock", 0, NULL, &o->deadlock, "", 0, 0, NULL },
		{ OPT_FLAG, "faults", 0, NULL, &o->faults, "", 0, 0, NULL },
		{ OPT_UINT, "jobs", 0, "N", &c->jobs, "", 1, 32, NULL },
		{ OPT_CHOICE, "condition", 0, "NAME", &o->objects.condition, "", 0, 0, object_conditions },
		{ OPT_CHOICE, "assertion", 0, "NAME", &c->judge, "", 0, 0, c->judges },
		{ OPT_UINT, "max-states", 0, "N", &o->search.max_states, "", 1, 0, NULL },
		{ OPT_SIZE, "max-memory", 0, "SIZE", &o->search.max_bytes, "", 1 << 20, 0, NULL },
		{ OPT_UINT, "timeout", 0, "SECONDS", &c->timeout, "", 1, 0, NULL },
		{ 0 },
	};
	if (c->track.n == MAX_NAMES || c->abstract.n == MAX_NAMES) {
		buf_clear(&c->messages);
		buf_str(&c->messages, "too many names");
		return INTACT_INVALID;
	}
	return api_option(&c->words, table, option, value, &c->messages);
}

/* ---- running ------------------------------------------------------------------------------- */

static bool ready(struct intact_check *c, const struct intact_model *m)
{
	assert(c->engine >= 0 && c->engine < ENGINE_MAX_CHOICES && c->judge >= 0 && c->judge < ENGINE_MAX_CHOICES);
	struct check_options *o = &c->options;
	engine_choose(c->engines[c->engine], &o->engine, &o->all);
	o->objects.assertion = engine_find(c->judges[c->judge]);
	o->search.jobs = (uint32_t)c->jobs;
	o->search.deadline = c->timeout ? clock_seconds() + (double)c->timeout : 0;
	o->track = c->track.items;
	o->ntrack = (uint32_t)c->track.n;
	o->abstract = c->abstract.items;
	o->nabstract = (uint32_t)c->abstract.n;
	if (!m->loaded)
		buf_str(&c->messages, "no model is loaded");
	else if (o->faults && (o->block || c->engine))
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
	enum check_status got = check_run(m->lang.ir, &c->options, &e, &r);
	enum intact_status status = codes[got];
	diags_render(&e, &c->messages, false);
	if (got == CHECK_NO_BLOCK) {
		buf_str(&c->messages, "block: the model has no block '");
		buf_safe(&c->messages, c->options.block, strlen(c->options.block));
		buf_str(&c->messages, "'");
	}
	if (status == INTACT_OK && r.contradiction) {
		buf_str(&c->messages, "one engine proves what another refutes: this is a bug in intact");
		status = INTACT_INTERNAL;
	}
	if (status == INTACT_OK) {
		struct checked told;
		if (check_result_told(&r, &c->options, m->lang.ir->src->name, false, &told))
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
