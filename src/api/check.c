/* check: struct intact_check of include/intact/intact.h: options by name, then check/check.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "api/check_document.h"
#include "base/clock.h"
#include "base/opts.h"

#define MAX_NAMES 256 /* of track and of abstract */

struct intact_check {
	struct check_options options;
	char **words; /* the texts that options point to */
	size_t nwords;
	const char *engines[ENGINE_MAX_CHOICES], *judges[ENGINE_MAX_CHOICES];
	int engine, judge;
	const char *track_names[MAX_NAMES], *abstract_names[MAX_NAMES];
	struct opt_list track, abstract;
	uint64_t timeout, jobs;
	struct buf messages;
};

EXPORT struct intact_check *intact_check_new(void)
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

EXPORT void intact_check_free(struct intact_check *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->nwords; i++)
		free(c->words[i]);
	free(c->words);
	buf_free(&c->messages);
	free(c);
}

EXPORT const char *intact_check_messages(const struct intact_check *c)
{
	return buf_cstr(&c->messages);
}

/* "--option=value", kept as long as c is; NULL: out of memory. */
static char *option_word(struct intact_check *c, const char *option, const char *value)
{
	char **words = realloc(c->words, (c->nwords + 1) * sizeof *words);
	if (!words)
		return NULL;
	c->words = words;
	if ((value ? asprintf(&words[c->nwords], "--%s=%s", option, value) : asprintf(&words[c->nwords], "--%s", option)) < 0)
		return NULL;
	return words[c->nwords++];
}

EXPORT enum intact_status intact_check_set(struct intact_check *c, const char *option, const char *value)
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
	const char *args[2];
	struct opts parsed = { table, args, 0, false };
	buf_clear(&c->messages);
	option = option ? option : "";
	if (strchr(option, '=') || !*option || c->track.n == MAX_NAMES || c->abstract.n == MAX_NAMES) {
		buf_str(&c->messages, *option && !strchr(option, '=') ? "too many names" : "unknown option");
		return INTACT_INVALID;
	}
	char *line[] = { option_word(c, option, value), NULL };
	if (!line[0])
		return INTACT_NO_MEMORY;
	return opts_parse(&parsed, 1, line, &c->messages) && !parsed.help ? INTACT_OK : INTACT_INVALID;
}

/* ---- running ------------------------------------------------------------------------------- */

static bool ready(struct intact_check *c, const struct intact_model *m)
{
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

EXPORT enum intact_status intact_check_run(struct intact_check *c, const struct intact_model *m, struct intact_document *d)
{
	static const enum intact_status codes[] = { [CHECK_OK] = INTACT_OK, [CHECK_WRONG_OPTIONS] = INTACT_INVALID,
		                                    [CHECK_NO_BLOCK] = INTACT_INVALID, [CHECK_NO_MEMORY] = INTACT_NO_MEMORY };
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
		check_document(&r, &c->options, m->lang.ir->src->name, false, &doc);
		status = doc.failed ? INTACT_NO_MEMORY : api_document_set(d, "the result", buf_cstr(&doc), doc.len);
		if (status != INTACT_OK)
			buf_str(&c->messages, intact_document_messages(d));
	}
	check_result_free(&r);
	arena_free(&a);
	buf_free(&doc);
	return status;
}
