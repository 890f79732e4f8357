#include "lang/spec.h"

#include <stdlib.h>
#include <string.h>

#define PREFIX "spec__" /* of the names that are appended to the text */

/* ---- is it a specification? ----------------------------------------------------------- */

static bool fail(struct lang *l, struct span at, const char *text, const char *hint)
{
	diag_error(&l->diags, "not-a-specification", at.end ? &l->src : NULL, at, "%s", text);
	if (hint)
		diag_hint(&l->diags, "%s", hint);
	return false;
}

static bool check_methods(struct lang *l, const struct decl *o)
{
	uint32_t n = 0;
	for (const struct decl *m = o->methods; m; m = m->next) {
		if (m->nparams > SEQSPEC_MAX_PARAMS)
			return fail(l, m->name_span, "an operation has at most 8 parameters", NULL);
		if (++n > SEQSPEC_MAX_METHODS)
			return fail(l, m->name_span, "a specification has at most 200 operations", NULL);
	}
	return n ? true : fail(l, o->name_span, "the object has no operations", NULL);
}

/* The object, or NULL after an error. */
static const struct decl *find_object(struct lang *l)
{
	const struct decl *o = NULL;
	for (const struct decl *d = l->unit->decls; d; d = d->next) {
		if (d->kind == D_THREAD) {
			fail(l, d->name_span, "a specification has no threads", "its operations run sequentially");
			return NULL;
		}
		if (d->kind != D_OBJECT)
			continue;
		if (!d->no_spec) {
			fail(l, d->spec_span, "a specification implements nothing",
			     "omit ': register(...)': object name { fields, operations }");
			return NULL;
		}
		if (o) {
			fail(l, d->name_span, "a specification is one object", NULL);
			diag_note(&l->diags, &l->src, o->name_span, "the first one");
			return NULL;
		}
		o = d;
	}
	if (!o) {
		fail(l, (struct span){ 0, 0 }, "the file has no object to be the specification",
		     "object name { fields, operations }");
		return NULL;
	}
	return check_methods(l, o) ? o : NULL;
}

/* ---- the text that is loaded ------------------------------------------------------------ */

static void blank(char *text, uint32_t from, uint32_t to)
{
	for (; from < to; from++)
		if (text[from] != '\n')
			text[from] = ' ';
}

static void write_text(const struct lang *l, const struct decl *o, struct buf *out)
{
	buf_add(out, l->src.text, l->src.len);
	blank(out->data, o->span.start, o->spec_span.end);
	blank(out->data, o->span.end - 1, o->span.end);
	buf_str(out, "\nint " PREFIX "r;");
	for (uint32_t i = 0; i < SEQSPEC_MAX_PARAMS; i++)
		buf_printf(out, " int " PREFIX "a%u;", i);
	uint32_t n = 0;
	for (const struct decl *m = o->methods; m; m = m->next) {
		buf_printf(out, "\nthread " PREFIX "t%u { step { ", n++);
		buf_str(out, m->result ? PREFIX "r = " : "");
		buf_printf(out, "%s(", intern_str(&l->names, m->name));
		for (uint32_t i = 0; i < m->nparams; i++)
			buf_printf(out, "%s" PREFIX "a%u", i ? ", " : "", i);
		buf_str(out, "); } }");
	}
	buf_char(out, '\n');
}

/* ---- what came of it ------------------------------------------------------------------------ */

static uint32_t slot_of(const struct ir *p, const char *name)
{
	for (uint32_t i = 0; i < p->nvars; i++)
		if (!strcmp(p->vars[i].name, name))
			return p->vars[i].slot;
	return 0;
}

static struct seqspec_type type_of(const struct lang *l, const struct type_ref *t)
{
	struct seqspec_type out = { .kind = t->kind == TY_BOOL   ? IR_VALUE_BOOL
		                            : t->kind == TY_ENUM ? IR_VALUE_ENUM
		                                                 : IR_VALUE_INT,
		                    .enum_id = IR_NONE,
		                    .lo = t->min,
		                    .hi = t->max };
	for (uint32_t e = 0; t->kind == TY_ENUM && t->enum_decl && e < l->ir->nenums; e++)
		if (!strcmp(l->ir->enums[e].name, intern_str(&l->names, t->enum_decl->name)))
			out.enum_id = e;
	return out;
}

static const struct decl *find_proc(const struct lang *l, const char *name)
{
	for (const struct decl *d = l->unit->decls; d; d = d->next)
		if (d->kind == D_PROC && !strcmp(intern_str(&l->names, d->name), name))
			return d;
	return NULL;
}

static const struct seqspec *describe(struct lang *l, const char *object, char **names, uint32_t n)
{
	struct seqspec *s = arena_new(&l->arena, struct seqspec);
	*s = (struct seqspec){
		.ir = l->ir, .name = arena_strdup(&l->arena, object), .path = l->src.name, .nmethods = n, .narg = SEQSPEC_MAX_PARAMS
	};
	s->methods = arena_array(&l->arena, struct seqspec_method, n);
	memset(s->methods, 0, n * sizeof *s->methods);
	s->result = slot_of(l->ir, PREFIX "r");
	for (uint32_t i = 0; i < SEQSPEC_MAX_PARAMS; i++)
		s->arg[i] = slot_of(l->ir, arena_printf(&l->arena, PREFIX "a%u", i));
	for (uint32_t i = 0; i < n; i++) {
		struct seqspec_method *m = &s->methods[i];
		const struct decl *d = find_proc(l, names[i]);
		m->name = arena_strdup(&l->arena, names[i]);
		for (uint32_t t = 0; t < l->ir->nthreads; t++)
			if (!strcmp(l->ir->templates[l->ir->threads[t].tmpl].name, arena_printf(&l->arena, PREFIX "t%u", i)))
				m->thread = t;
		for (const struct decl *p = d ? d->params : NULL; p; p = p->next)
			m->params[m->nparams++] = type_of(l, p->type);
		m->has_result = d && d->result;
		if (m->has_result)
			m->result = type_of(l, d->result);
	}
	for (uint32_t i = 0; i < l->ir->ncode; i++)
		s->choices |= l->ir->code[i].op == IR_CHOOSE;
	return s;
}

/* Messages about the appended text are not for the user: notes that point
 * there go, and so do warnings. */
static void forget_ours(struct lang *l, uint32_t len)
{
	struct diag *list = l->diags.list.data;
	for (uint32_t i = 1; i < l->diags.list.len; i++) {
		struct diag *d = &list[i];
		bool ours = d->src && d->span.start >= len;
		for (uint32_t *c = &d->first_child; *c;) {
			if (list[*c].src && list[*c].span.start >= len)
				*c = list[*c].next;
			else
				c = &list[*c].next;
		}
		if (ours && d->level == DIAG_WARNING) {
			l->diags.warnings--;
			d->level = DIAG_NOTE; /* notes are shown with their message only */
		}
	}
}

/* ---- all of it ------------------------------------------------------------------------------- */

static const struct seqspec *load(struct lang *l, const char *name)
{
	static const struct lang_options o = { .sml = 0 };
	const struct decl *object = find_object(l);
	const struct seqspec *s = NULL;
	char *names[SEQSPEC_MAX_METHODS], *object_name, *file;
	struct buf text;
	uint32_t n = 0, len = (uint32_t)l->src.len;
	if (!object)
		return NULL;
	buf_init(&text);
	write_text(l, object, &text);
	object_name = strdup(intern_str(&l->names, object->name));
	file = strdup(name);
	for (const struct decl *m = object->methods; m; m = m->next)
		names[n++] = strdup(intern_str(&l->names, m->name));
	lang_free(l); /* the text is self-contained from here on */
	lang_init(l);
	if (object_name && file) {
		const char *own = arena_strdup(&l->arena, file);
		const char *copy = arena_strndup(&l->arena, buf_cstr(&text), text.len);
		if (lang_load_text(l, own, copy, text.len, &o))
			s = describe(l, object_name, names, n);
		else
			forget_ours(l, len);
	}
	while (n)
		free(names[--n]);
	free(object_name);
	free(file);
	buf_free(&text);
	return s;
}

const struct seqspec *lang_load_spec(struct lang *l, const char *path)
{
	static const struct lang_options o = { .sml = 0 };
	return lang_parse(l, path, &o) ? load(l, path) : NULL;
}

const struct seqspec *lang_load_spec_text(struct lang *l, const char *name, const char *text, size_t len)
{
	static const struct lang_options o = { .sml = 0 };
	return lang_parse_text(l, name, text, len, &o) ? load(l, name) : NULL;
}
