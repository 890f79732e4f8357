#include "lang/lang.h"

#include <stdlib.h>
#include <string.h>

#include "lang/lower.h"
#include "lang/parse.h"
#include "lang/type.h"

#define FRONT_END_BUDGET ((size_t)8 << 30)

void lang_init(struct lang *l)
{
	memset(l, 0, sizeof *l);
	arena_init(&l->arena, FRONT_END_BUDGET);
}

void lang_free(struct lang *l)
{
	arena_free(&l->arena);
}

static bool is_sml(const char *name, const struct lang_options *o)
{
	size_t n = strlen(name);
	if (o && o->sml >= 0)
		return o->sml;
	return n >= 4 && !strcmp(name + n - 4, ".sml");
}

/* Tree and, when `whole`, program. */
static bool process(struct lang *l, const struct lang_options *o, bool whole)
{
	intern_init(&l->names, &l->arena);
	l->unit = is_sml(l->src.name, o) ? parse_sml(&l->src, &l->names, &l->arena, &l->diags, &l->tokens)
	                                 : parse_atm(&l->src, &l->names, &l->arena, &l->diags, &l->tokens);
	if (!whole)
		return !l->diags.errors;
	type_check(l->unit, &l->names, &l->arena, &l->diags);
	if (l->diags.errors)
		return false;
	l->ir = lower(l->unit, &l->names, &l->arena, &l->diags, o);
	if (!l->ir)
		return false;
	const char *bad = ir_validate(l->ir, &l->arena);
	if (bad) {
		diag_error(&l->diags, "internal", NULL, (struct span){ 0, 0 }, "internal error: %s", bad);
		l->ir = NULL;
	}
	return l->ir != NULL;
}

static bool run(struct lang *l, const char *name, const char *text, size_t len, const struct lang_options *o, bool whole)
{
	jmp_buf oom;
	struct why why;
	if (setjmp(oom)) {
		l->arena.oom = NULL;
		l->out_of_memory = true;
		l->ir = NULL;
		return false;
	}
	l->arena.oom = &oom;
	diags_init(&l->diags, &l->arena);
	bool ok = true;
	if (text)
		source_from_text(&l->src, &l->arena, name, text, len);
	else
		ok = source_read(&l->src, &l->arena, name, &why);
	if (!ok)
		diag_error(&l->diags, "cannot-read", NULL, (struct span){ 0, 0 }, "%s: %s", name, why.text);
	else
		ok = process(l, o, whole);
	l->arena.oom = NULL;
	return ok;
}

bool lang_load(struct lang *l, const char *path, const struct lang_options *o)
{
	return run(l, path, NULL, 0, o, true);
}

bool lang_load_text(struct lang *l, const char *name, const char *text, size_t len, const struct lang_options *o)
{
	return run(l, name, text, len, o, true);
}

bool lang_load_again(struct lang *l, const struct ir *p, uint32_t alone, const uint32_t *counts)
{
	struct lang_threads *threads = calloc(p->ntemplates + 1ull, sizeof *threads);
	struct lang_options o = { .keep_dead = p->keep_dead,
		                  .threads = threads,
		                  .nthreads = p->ntemplates,
		                  .sml = p->sml,
		                  .alone1 = alone == IR_NONE ? 0 : alone + 1 };
	if (!threads)
		return false;
	for (uint32_t t = 0; t < p->ntemplates; t++)
		threads[t] = (struct lang_threads){ p->templates[t].name, counts ? counts[t] : p->templates[t].count,
			                            p->templates[t].any_count };
	bool ok = lang_load_text(l, p->src->name, p->src->text, p->src->len, &o);
	free(threads);
	return ok;
}

bool lang_parse(struct lang *l, const char *path, const struct lang_options *o)
{
	return run(l, path, NULL, 0, o, false);
}

bool lang_parse_text(struct lang *l, const char *name, const char *text, size_t len, const struct lang_options *o)
{
	return run(l, name, text, len, o, false);
}
