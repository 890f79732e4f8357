/*
 * type_struct: structs, arrays of several dimensions, and places in them.
 *
 * A variable of struct type has a tree of parts, one for each field; the leaves are what is stored. A leaf is a variable like
 * any other, with the dimensions of everything around it: the field `v` of `point p[4]` is one array of 4 elements. So a place
 * is a leaf and an index into it, and nothing after this file but lower_struct.c knows of structs.
 *
 * Structs can multiply (struct a { b x; b y; }, and so on), so the parts of a model are bounded by MANY_PARTS.
 */
#include <string.h>

#include "base/invariant.h"
#include "lang/type.h"

#define MANY_PARTS    65536u /* of all variables of a model together */
#define MANY_LEVELS   64u    /* of structs inside structs */
#define MANY_FIELDS   4096u  /* of one struct */
#define MANY_ELEMENTS 65536u

const char *var_name(const struct checker *c, const struct decl *d)
{
	return d->full ? d->full : name_of(c, d->name);
}

/* ---- declarations of structs -------------------------------------------- */

static const char *struct_name(const struct checker *c, const struct decl *s)
{
	return s->name ? name_of(c, s->name) : "";
}

/* How often the field is there: its dimensions, into d->dims. */
void check_dims(struct checker *c, struct decl *d)
{
	assert(d->kind == D_VAR && !d->parts);
	uint64_t all = 1;
	uint32_t n = 0;
	for (struct expr *e = d->length; e; e = e->next)
		n++;
	uint32_t *dims = arena_array(c->arena, uint32_t, n + 1ull);
	n = 0;
	for (struct expr *e = d->length; e; e = e->next) {
		int64_t len = 1;
		if (check_const(c, e, "an array's length", &len) && (len < 1 || len > MANY_ELEMENTS)) {
			diag_error(c->d, "array-length", c->src, e->span, "an array has 1 to 65536 elements, not %lld",
			           (long long)len);
			len = 1;
		}
		dims[n++] = (uint32_t)(len < 1 ? 1 : len);
		all *= dims[n - 1];
		if (all > MANY_ELEMENTS) {
			diag_error(c->d, "array-length", c->src, e->span, "an array has 1 to 65536 elements, not %llu",
			           (unsigned long long)all);
			all = dims[n - 1] = 1;
		}
	}
	d->dims = dims;
	d->ndims = d->own_dims = n;
	d->array_len = (uint32_t)all;
	assert(d->array_len >= 1 && d->array_len <= MANY_ELEMENTS);
}

static void check_field(struct checker *c, struct decl *s, struct decl *f, uint32_t depth)
{
	if (f->first_of_group && !check_sync_type(c, f->type))
		check_type_ref(c, f->type);
	check_dims(c, f);
	enum type_kind k = f->type->kind;
	if (k == TY_VOID && f->first_of_group)
		diag_error(c->d, "type", c->src, f->type->span, "a field cannot be void");
	if (k == TY_BARRIER && f->first_of_group) {
		diag_error(c->d, "type", c->src, f->type->span, "a barrier cannot be in a struct");
		diag_hint(c->d, "declare it at the top level: barrier b = 2;");
	}
	if (k == TY_CHAN && !f->is_array) {
		diag_error(c->d, "type", c->src, f->name_span, "the chan '%s' does not say how many values it holds",
		           name_of(c, f->name));
		diag_hint(c->d, "chan int %s[2]; holds two", name_of(c, f->name));
	}
	s->has_sync |= is_sync(k);
	if (k != TY_STRUCT || !f->type->struct_decl)
		return;
	struct decl *of = f->type->struct_decl;
	if (of->mark == 1) {
		diag_error(c->d, "recursion", c->src, f->type->span, "the struct '%s' contains itself", struct_name(c, of));
		diag_hint(c->d, "put them into an array, and keep an index in the struct: int[0..7] next;");
		f->type->struct_decl = NULL;
		return;
	}
	check_struct(c, of, depth + 1);
	s->has_sync |= of->has_sync;
}

void check_struct(struct checker *c, struct decl *s, uint32_t depth)
{
	assert(s->kind == D_STRUCT);
	uint32_t n = 0;
	if (s->mark)
		return;
	s->mark = 1;
	if (depth > MANY_LEVELS) {
		diag_error(c->d, "too-deep", c->src, s->name_span, "structs are nested more than %u levels deep", MANY_LEVELS);
		s->fields = NULL;
	}
	uint32_t mark;
	scope_open(c, &mark); /* for names that are there twice */
	for (struct decl *f = s->fields; f; f = f->next) {
		scope_declare(c, f);
		if (++n == MANY_FIELDS && f->next) {
			diag_error(c->d, "too-large", c->src, f->next->name_span, "a struct has at most %u fields", MANY_FIELDS);
			f->next = NULL;
		}
	}
	scope_close(c, mark);
	for (struct decl *f = s->fields; f; f = f->next)
		check_field(c, s, f, depth);
	s->mark = 2;
}

/* ---- variables and their parts ------------------------------------------ */

static const char *with_brackets(struct checker *c, const char *text, const char *name, uint32_t n)
{
	size_t a = strlen(text), b = strlen(name);
	char *s = arena_array(c->arena, char, a + b + 2ull * n + 2);
	memcpy(s, text, a);
	if (a)
		s[a++] = '.';
	memcpy(s + a, name, b);
	for (uint32_t i = 0; i < n; i++)
		memcpy(s + a + b + 2ull * i, "[]", 2);
	return s;
}

static struct decl *new_part(struct checker *c, struct decl *of, struct decl *f)
{
	struct decl *root = of->whole ? of->whole : of, *d = arena_new(c->arena, struct decl);
	d->kind = D_VAR;
	d->name = f->name;
	d->span = d->name_span = f->name_span;
	d->type = f->type;
	d->field = f;
	d->whole = root;
	d->up = of;
	d->var_class = root->var_class;
	d->class_span = root->class_span;
	d->is_shared = root->is_shared;
	d->is_param = root->is_param;
	d->is_field = root->is_field;
	d->own_dims = f->own_dims;
	d->ndims = of->ndims + f->own_dims;
	d->is_array = d->ndims > 0;
	d->full = with_brackets(c, var_name(c, of), name_of(c, f->name), 0);
	d->pattern = with_brackets(c, of->pattern, name_of(c, f->name), f->own_dims);
	uint32_t *dims = arena_array(c->arena, uint32_t, d->ndims + 1ull);
	uint64_t all = (uint64_t)of->array_len * f->array_len;
	for (uint32_t i = 0; i < d->ndims; i++)
		dims[i] = i < of->ndims ? of->dims[i] : f->dims[i - of->ndims];
	if (all > MANY_ELEMENTS) {
		diag_error(c->d, "array-length", c->src, root->name_span, "'%s' has more than %u elements '%s'",
		           name_of(c, root->name), MANY_ELEMENTS, d->full);
		all = 1;
		d->ndims = d->own_dims = 0;
	}
	d->dims = dims;
	d->array_len = (uint32_t)all;
	assert(d->own_dims <= d->ndims && d->array_len <= MANY_ELEMENTS);
	return d;
}

static void make_parts(struct checker *c, struct decl *of)
{
	assert(of->type->kind == TY_STRUCT && !of->parts);
	struct decl **tail = &of->parts;
	const struct decl *s = of->type->struct_decl;
	for (struct decl *f = s ? s->fields : NULL; f; f = f->next) {
		if (c->parts >= MANY_PARTS) {
			if (c->parts == MANY_PARTS)
				diag_error(c->d, "too-large", c->src, (of->whole ? of->whole : of)->name_span,
				           "the variables of the model have more than %u fields", MANY_PARTS);
			c->parts = MANY_PARTS + 1;
			return;
		}
		c->parts++;
		struct decl *d = *tail = new_part(c, of, f);
		tail = &d->next;
		if (f->type->kind == TY_STRUCT)
			make_parts(c, d);
		else if (d->var_class != VAR_PLAIN)
			check_class(c, d);
	}
}

/* ---- initial values ----------------------------------------------------- */

struct filling { /* of a variable, from the list after its '=' */
	struct checker *c;
	struct decl *d;
	struct part_init **tail;
};

static void fill(struct filling *f, struct decl *part, uint32_t k, uint64_t at, struct expr *list);

/* One value: of an element after k of the part's own dimensions. */
static void fill_one(struct filling *f, struct decl *part, uint32_t k, uint64_t at, struct expr *e)
{
	struct checker *c = f->c;
	assert(k <= part->own_dims);
	bool whole = k == part->own_dims && !part->parts;
	if (!whole && e->kind == E_LIST) {
		fill(f, part, k, at, e->args);
		return;
	}
	if (e->kind == E_LIST) {
		diag_error(c->d, "type", c->src, e->span, "'%s' takes one initial value, not a list", var_name(c, part));
		return;
	}
	if (!whole) {
		diag_error(c->d, "type", c->src, e->span, "the initial values of '%s' are written in braces", var_name(c, part));
		diag_hint(c->d, part->parts && k == part->own_dims ? "one pair for each struct: { { 1, 2 }, { 3, 4 } }"
		                                                   : "one pair for each dimension: { { 1, 2 }, { 3, 4 } }");
		return;
	}
	enum type_kind type = part->type->kind;
	if (is_sync(type) && type != TY_SEMAPHORE) {
		diag_error(c->d, "type", c->src, e->span, "'%s' is %s and takes no initial value", var_name(c, part),
		           sync_a_word(type));
		diag_hint(c->d, "name the fields that have one: { .x = 1 }");
		return;
	}
	if (part->is_shared)
		check_init_value(c, part, e);
	else
		check_fits(c, e, part->type, arena_printf(c->arena, "'%s'", var_name(c, part)));
	struct part_init *i = arena_new(c->arena, struct part_init);
	i->part = part;
	i->elem = (uint32_t)at;
	i->value = e;
	*f->tail = i;
	f->tail = &i->next;
	assert(at < part->array_len || c->d->errors);
}

static void fill_fields(struct filling *f, struct decl *part, uint64_t at, struct expr *list)
{
	struct checker *c = f->c;
	struct decl *field = part->parts;
	uint32_t n = 0, pos = 0;
	for (struct decl *x = part->parts; x; x = x->next)
		n++;
	bool *set = arena_array(c->arena, bool, n + 1ull);
	for (struct expr *e = list; e; e = e->next) {
		if (e->designator) {
			for (field = part->parts, pos = 0; field && field->name != e->designator; field = field->next)
				pos++;
			if (!field) {
				report_no_field(c, part->type->struct_decl, e->designator, e->designator_span);
				return;
			}
		}
		if (!field) {
			diag_error(c->d, "array-length", c->src, e->span, "more initial values than the %u field%s of '%s'", n,
			           n == 1 ? "" : "s", var_name(c, part));
			return;
		}
		if (set[pos])
			diag_error(c->d, "declared-twice", c->src, e->designator ? e->designator_span : e->span,
			           "a second initial value for '%s'", field->full);
		set[pos++] = true;
		e->designated = field->field;
		fill_one(f, field, 0, at, e);
		field = field->next;
	}
}

/* The values of all elements after k dimensions; `at` numbers the elements so far. */
static void fill(struct filling *f, struct decl *part, uint32_t k, uint64_t at, struct expr *list)
{
	if (k == part->own_dims) {
		fill_fields(f, part, at, list);
		return;
	}
	struct checker *c = f->c;
	uint32_t n = part->dims[part->ndims - part->own_dims + k], i = 0;
	for (struct expr *e = list; e; e = e->next, i++) {
		if (e->designator) {
			diag_error(c->d, "type", c->src, e->designator_span, "'%s' is an array: its elements have no names",
			           var_name(c, part));
			return;
		}
		if (i == n) {
			diag_error(c->d, "array-length", c->src, e->span, "more initial values than the %u elements of '%s'", n,
			           var_name(c, part));
			return;
		}
		uint64_t elem = at * n + i; /* of this dimension */
		fill_one(f, part, k + 1, elem, e);
	}
}

/* Are both of one struct type, and may it be copied? `to` is what the value is for. */
bool check_struct_value(struct checker *c, struct expr *e, const struct decl *of, const char *to)
{
	uint32_t before = c->d->errors;
	check_expr(c, e);
	if (c->d->errors > before || e->kind == E_ERROR)
		return false;
	if (e->type != TY_STRUCT || !of || e->struct_decl != of) {
		diag_error(c->d, "type", c->src, e->span, "%s is struct %s, but the value is %s", to, of ? struct_name(c, of) : "?",
		           type_text(c, e->type, e->type == TY_STRUCT ? e->struct_decl : e->enum_decl));
		return false;
	}
	if (of->has_sync) {
		diag_error(c->d, "type", c->src, e->span, "the struct '%s' contains a synchronisation object and cannot be copied",
		           struct_name(c, of));
		diag_hint(c->d, "copy the fields that you need, one by one");
		return false;
	}
	return true;
}

/* Anything but a scalar or an array of one dimension. */
void check_shaped_var(struct checker *c, struct decl *d)
{
	const struct decl *s = d->type->struct_decl;
	d->pattern = with_brackets(c, "", name_of(c, d->name), d->own_dims);
	if (d->type->kind == TY_STRUCT) {
		if (d->type->struct_decl)
			check_struct(c, d->type->struct_decl, 0);
		if (s && s->has_sync && d->is_param && !d->is_ref) {
			diag_error(c->d, "type", c->src, d->type->span,
			           "the struct '%s' contains a synchronisation object and is passed by reference",
			           struct_name(c, s));
			diag_hint(c->d, "write & before the name: %s &%s", struct_name(c, s), name_of(c, d->name));
		} else if (s && s->has_sync && !d->is_shared && !d->is_ref) {
			diag_error(c->d, "misplaced", c->src, d->type->span,
			           "the struct '%s' contains a synchronisation object and is shared: declare '%s' at the top level",
			           struct_name(c, s), name_of(c, d->name));
		}
		make_parts(c, d);
	}
	if (!d->init)
		return;
	d->writes++;
	if (!d->init_list && d->type->kind == TY_STRUCT && !d->is_array && !d->is_shared) {
		check_struct_value(c, d->init, s, arena_printf(c->arena, "'%s'", name_of(c, d->name)));
		return;
	}
	if (!d->init_list) {
		diag_error(c->d, "type", c->src, d->init->span, "%s initial values are written in braces: %s",
		           d->is_array ? "an array's" : "a struct's",
		           d->is_array ? "{ { 1, 2 }, { 3, 4 } }" : "{ 1, 2 } or { .x = 1 }");
		return;
	}
	struct filling f = { c, d, &d->inits };
	fill(&f, d, 0, 0, d->init);
}

/* ---- places ------------------------------------------------------------- */

void report_no_field(struct checker *c, const struct decl *s, name_id name, struct span at)
{
	const char *text = name_of(c, name), *best = NULL;
	unsigned slack = edit_slack(strlen(text)) + 1;
	if (!s)
		return; /* reported */
	diag_error(c->d, "undeclared-name", c->src, at, "the struct '%s' has no field '%s'", struct_name(c, s), text);
	for (const struct decl *f = s->fields; f; f = f->next) {
		unsigned dist = edit_distance(text, name_of(c, f->name), slack);
		if (dist < slack) {
			slack = dist;
			best = name_of(c, f->name);
		}
	}
	if (best)
		diag_hint(c->d, "did you mean '%s'?", best);
	else
		diag_note(c->d, c->src, s->name_span, "the struct is declared here");
}

static void declared_here(struct checker *c, const struct decl *d)
{
	diag_note(c->d, c->src, d->name_span, "declared here");
}

/* [a] after k others. False after a message. */
static bool check_index(struct checker *c, struct expr *e, const struct decl *d, uint32_t k, const struct expr *index,
                        struct span at)
{
	if (k >= d->own_dims) {
		if (d->own_dims)
			diag_error(c->d, "type", c->src, at, "'%s' has %u dimension%s: there is nothing to index", var_name(c, d),
			           d->own_dims, d->own_dims == 1 ? "" : "s");
		else
			diag_error(c->d, "type", c->src, e->span, "'%s' is not an array", var_name(c, d));
		declared_here(c, d);
		return false;
	}
	uint32_t n = d->dims[d->ndims - d->own_dims + k];
	e->shared |= index->shared;
	if (index->is_const && (index->value < 0 || index->value >= n))
		diag_warn(c->d, "always-faults", c->src, index->span,
		          "the index %lld is outside '%s', which has %u element%s: "
		          "the access is a fault",
		          (long long)index->value, var_name(c, d), n, n == 1 ? "" : "s");
	return true;
}

static bool report_array(struct checker *c, const struct expr *e, const struct decl *d, uint32_t k)
{
	if (d->own_dims == 1)
		diag_error(c->d, "type", c->src, e->span, "'%s' is an array: name an element, as in %s[0]", var_name(c, d),
		           var_name(c, d));
	else
		diag_error(c->d, "type", c->src, e->span,
		           "'%s' is an array of %u dimensions, and %u index%s given: name an element", var_name(c, d), d->own_dims,
		           k, k == 1 ? " is" : "es are");
	declared_here(c, d);
	return false;
}

static struct decl *check_field_of(struct checker *c, struct expr *sel, struct decl *d)
{
	if (d->type->kind != TY_STRUCT) {
		diag_error(c->d, "type", c->src, sel->span, "'%s' is %s, not a struct", var_name(c, d),
		           type_text(c, d->type->kind, d->type->enum_decl));
		declared_here(c, d);
		return NULL;
	}
	struct decl *f = d->parts;
	while (f && f->name != sel->name)
		f = f->next;
	if (!f)
		report_no_field(c, d->type->struct_decl, sel->name, sel->name_span);
	else
		sel->decl = (struct decl *)f->field;
	return f;
}

/* e is a place in the variable d. */
void check_var_place(struct checker *c, struct expr *e, struct decl *d, bool arrays)
{
	assert(is_place(e) && d->kind == D_VAR && !d->whole);
	uint32_t k = 0;
	bool ok = e->kind != E_INDEX || check_index(c, e, d, k++, e->a, e->span);
	for (struct expr *sel = e->kind == E_PATH ? e->args : NULL; sel && ok; sel = sel->next) {
		if (sel->kind == E_AT) {
			ok = check_index(c, e, d, k++, sel->a, sel->span);
		} else if (k < d->own_dims) {
			ok = report_array(c, e, d, k);
		} else if (d->type->kind == TY_ENUM && d->type->enum_decl && d->type->enum_decl->is_pool) {
			struct decl *cells = check_follow(c, e, sel, d);
			ok = cells != NULL;
			d = ok ? cells : d;
			struct decl *f = ok ? check_field_of(c, sel, d) : NULL;
			ok = f != NULL;
			d = f ? f : d;
			k = 0;
		} else {
			struct decl *f = check_field_of(c, sel, d);
			ok = f != NULL;
			d = f ? f : d;
			k = 0;
		}
	}
	bool chan = d->type->kind == TY_CHAN; /* its last dimension is how many values it holds */
	if (ok && chan && k == d->own_dims) {
		diag_error(c->d, "type", c->src, e->span, "the values in a chan have no index");
		sync_hint(c, TY_CHAN);
		ok = false;
	}
	if (ok && k + chan < d->own_dims && !arrays)
		ok = report_array(c, e, d, k);
	if (!ok) {
		e->decl = NULL;
		e->type = TY_INT;
		return;
	}
	e->decl = d;
	e->type = d->type->kind == TY_NONE ? TY_INT : d->type->kind;
	e->enum_decl = d->type->enum_decl;
	e->struct_decl = d->type->struct_decl;
	e->shared |= d->is_shared || whole_of(d)->is_ref;
}

/* Do the dimensions of the parameter follow those that the place has indices for? */
static bool same_dims(const struct expr *e, const struct decl *param)
{
	const struct decl *d = e->decl;
	uint32_t given = e->kind == E_INDEX ? 1 : 0;
	for (const struct expr *sel = e->kind == E_PATH ? e->args : NULL; sel; sel = sel->next)
		given = sel->kind == E_AT ? given + 1 : 0;
	if (d->own_dims - given != param->own_dims)
		return false;
	for (uint32_t i = 0; i < param->own_dims; i++)
		if (d->dims[d->ndims - param->own_dims + i] != param->dims[i])
			return false;
	return true;
}

static const char *ref_text(struct checker *c, const struct decl *d, const uint32_t *dims, uint32_t n)
{
	const struct type_ref *ty = d->type;
	if (ty->kind == TY_CHAN)
		ty = ty->of;
	const char *s = ty->kind == TY_INT && (ty->min != INT32_MIN || ty->max != INT32_MAX)
	                        ? arena_printf(c->arena, "int[%d..%d]", ty->min, ty->max)
	                : is_sync(ty->kind) ? sync_word(ty->kind)
	                                    : type_text(c, ty->kind, ty->kind == TY_STRUCT ? ty->struct_decl : ty->enum_decl);
	if (ty->wrap)
		s = arena_printf(c->arena, "wrap %s", s);
	if (d->type->kind == TY_CHAN)
		s = arena_printf(c->arena, "chan %s", s);
	for (uint32_t i = 0; i < n; i++)
		s = arena_printf(c->arena, i ? "%s[%u]" : "%s [%u]", s, dims[i]);
	return s;
}

void check_ref_arg(struct checker *c, struct expr *e, const struct decl *param)
{
	assert(param->is_ref);
	uint32_t before = c->d->errors;
	c->whole_arrays = is_place(e);
	check_expr(c, e);
	c->whole_arrays = false;
	if (c->d->errors > before || e->kind == E_ERROR)
		return;
	struct decl *d = is_place(e) ? e->decl : NULL;
	if (!d || d->kind != D_VAR) {
		diag_error(c->d, "type", c->src, e->span, "parameter '%s' is a reference: it needs a variable, not a value",
		           name_of(c, param->name));
		diag_note(c->d, c->src, param->name_span, "declared here");
		return;
	}
	const struct type_ref *a = d->type, *b = param->type;
	if (a->kind != b->kind || a->min != b->min || a->max != b->max || a->enum_decl != b->enum_decl ||
	    a->struct_decl != b->struct_decl || (a->of && b->of && (a->of->kind != b->of->kind || a->of->wrap != b->of->wrap)) ||
	    a->spurious != b->spurious || a->wrap != b->wrap || !same_dims(e, param)) {
		diag_error(c->d, "type", c->src, e->span,
		           "parameter '%s' is a reference to %s; '%s' is declared with another type, %s", name_of(c, param->name),
		           ref_text(c, param, param->dims, param->own_dims), var_name(c, d),
		           ref_text(c, d, d->dims + d->ndims - d->own_dims, d->own_dims));
		diag_note(c->d, c->src, param->name_span, "declared here");
		return;
	}
	if (d->var_class != VAR_PLAIN) {
		diag_error(c->d, "type", c->src, e->span, "'%s' is a %s register and cannot be passed by reference", var_name(c, d),
		           d->var_class == VAR_SAFE ? "safe" : "regular");
		return;
	}
	struct decl *whole = whole_of(d);
	whole->writes++;
	if (!whole->is_shared && !whole->is_ref)
		c->u->refs_to_locals = true;
}
