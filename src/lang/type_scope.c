/* type_scope: what a name means, constants, and types as they are written. */
#include <string.h>

#include "base/invariant.h"
#include "lang/parse_foreign.h"
#include "lang/type.h"

/* ---- scopes ------------------------------------------------------------- */

void scope_open(struct checker *c, uint32_t *mark)
{
	*mark = c->undo.len;
	c->depth++;
}

void scope_close(struct checker *c, uint32_t mark)
{
	assert(c->depth && mark <= c->undo.len);
	while (c->undo.len > mark) {
		c->undo.len--;
		name_id n = c->undo.data[c->undo.len].name;
		c->bound[n] = c->undo.data[c->undo.len].old;
		c->bound_depth[n] = c->undo.data[c->undo.len].old_depth;
	}
	c->depth--;
}

const char *name_of(const struct checker *c, name_id n)
{
	return intern_str(c->names, n);
}

void scope_declare(struct checker *c, struct decl *d)
{
	assert(d->name < c->names->strs.len);
	struct decl *old = c->bound[d->name];
	if (!d->name)
		return;
	if (old && c->bound_depth[d->name] == c->depth) {
		diag_error(c->d, "declared-twice", c->src, d->name_span, "'%s' is declared twice", name_of(c, d->name));
		diag_note(c->d, c->src, old->name_span, "first declared here");
		return;
	}
	struct shadowed s = { d->name, c->bound_depth[d->name], old };
	avec_push(c->arena, &c->undo, s);
	c->bound[d->name] = d;
	c->bound_depth[d->name] = c->depth;
}

struct decl *scope_find(struct checker *c, name_id name, struct span at, const char *what)
{
	assert(name < c->names->strs.len);
	struct decl *d = c->bound[name];
	if (d)
		return d;
	const char *text = name_of(c, name);
	diag_error(c->d, "undeclared-name", c->src, at, "%s '%s' is not declared", what, text);
	if (!c->d->last)
		return NULL;                                    /* one too many: dropped, and so is the search */
	static const char *const words[] = { "true", "false" }; /* names of values, and no declarations */
	const char *word = NULL;
	unsigned best = edit_slack(strlen(text)) + 1;
	struct decl *near = NULL;
	for (unsigned i = 0; i < 2; i++) {
		unsigned dist = edit_distance(text, words[i], best);
		if (dist < best) {
			best = dist;
			word = words[i];
		}
	}
	for (uint32_t i = 1; i < c->undo.len + 1; i++) {
		name_id n = c->undo.data[i - 1].name;
		unsigned dist = edit_distance(text, name_of(c, n), best);
		if (c->bound[n] && dist < best) {
			best = dist;
			near = c->bound[n];
		}
	}
	if (!strcmp(text, "NULL") || !strcmp(text, "nullptr"))
		diag_hint(c->d, "the reference to no cell is written null");
	else if (!near && word)
		diag_hint(c->d, "did you mean '%s'?", word);
	else if (near)
		diag_hint(c->d, "did you mean '%s', declared on line %u?", name_of(c, near->name),
		          source_line_of(c->src, near->name_span.start));
	return NULL;
}

const char *type_text(struct checker *c, enum type_kind k, const struct decl *en)
{
	switch (k) {
	case TY_BOOL:
		return "bool";
	case TY_INT:
		return "int";
	case TY_LOCK:
	case TY_SEMAPHORE:
	case TY_RWLOCK:
	case TY_COND:
	case TY_BARRIER:
	case TY_ONCE:
	case TY_CHAN:
		return sync_a_word(k);
	case TY_VOID:
		return "no value";
	case TY_ENUM:
		if (en && en->is_pool)
			return arena_printf(c->arena, "a reference to a cell of '%s'", name_of(c, en->name));
		return arena_printf(c->arena, "enum %s", en ? name_of(c, en->name) : "?");
	case TY_STRUCT:
		return en && en->kind == D_STRUCT && en->name ? arena_printf(c->arena, "struct %s", name_of(c, en->name))
		                                              : "a struct";
	default:
		return "?";
	}
}

/* ---- constants ---------------------------------------------------------- */

/* Applies op; false when the result is a fault or leaves 32 bits. */
bool const_fold(enum op op, int64_t a, int64_t b, int64_t *out)
{
	assert(op != OP_NONE && op <= OP_LOR);
	int64_t v;
	switch (op) {
	case OP_NEG:
		v = -a;
		break;
	case OP_PLUS:
		v = a;
		break;
	case OP_NOT:
		v = !a;
		break;
	case OP_BITNOT:
		v = ~a;
		break;
	case OP_ADD:
		v = a + b;
		break;
	case OP_SUB:
		v = a - b;
		break;
	case OP_MUL:
		v = a * b;
		break;
	case OP_DIV:
		if (!b)
			return false;
		v = a / b;
		break;
	case OP_MOD:
		if (!b)
			return false;
		v = a % b;
		break;
	case OP_SHL:
		if (b < 0 || b > 31)
			return false;
		v = a * ((int64_t)1 << b);
		break;
	case OP_SHR:
		if (b < 0 || b > 31)
			return false;
		v = a >> b;
		break;
	case OP_AND:
		v = a & b;
		break;
	case OP_OR:
		v = a | b;
		break;
	case OP_XOR:
		v = a ^ b;
		break;
	case OP_EQ:
		v = a == b;
		break;
	case OP_NE:
		v = a != b;
		break;
	case OP_LT:
		v = a < b;
		break;
	case OP_LE:
		v = a <= b;
		break;
	case OP_GT:
		v = a > b;
		break;
	case OP_GE:
		v = a >= b;
		break;
	case OP_LAND:
		v = a && b;
		break;
	case OP_LOR:
		v = a || b;
		break;
	default:
		return false;
	}
	if (v < INT32_MIN || v > INT32_MAX)
		return false;
	*out = v;
	return true;
}

bool const_resolve(struct checker *c, struct decl *d, struct span use)
{
	assert(d->kind == D_CONST || d->kind == D_ENUMERATOR);
	if (d->mark == 2)
		return true;
	if (d->mark == 1) {
		diag_error(c->d, "recursive-constant", c->src, use, "the constant '%s' depends on itself", name_of(c, d->name));
		diag_note(c->d, c->src, d->name_span, "declared here");
		d->mark = 2;
		return false;
	}
	d->mark = 1;
	int64_t v = 0;
	if (d->init)
		check_const(c, d->init, "a constant's value", &v);
	d->value = v;
	d->mark = 2;
	return true;
}

/* Says why e has no constant value: the first operand that is not constant,
 * or an operation on constants that fails. */
static void report_not_constant(struct checker *c, const struct expr *e, const char *what)
{
	const struct expr *part = e;
	for (;;) {
		if (part->kind == E_BINARY || part->kind == E_UNARY || part->kind == E_COND)
			part = !part->a->is_const              ? part->a
			       : part->b && !part->b->is_const ? part->b
			       : part->c && !part->c->is_const ? part->c
			                                       : NULL;
		else
			break;
		if (!part)
			break;
		e = part;
	}
	if (part) {
		diag_error(c->d, "not-constant", c->src, e->span, "%s must be a constant", what);
		if (is_place(e) && e->decl && e->decl->kind == D_VAR && !e->decl->whole && e->kind == E_NAME)
			diag_note(c->d, c->src, e->decl->name_span, "'%s' is a variable", name_of(c, e->name));
	} else if ((e->op == OP_DIV || e->op == OP_MOD) && e->b->value == 0) {
		diag_error(c->d, "not-constant", c->src, e->span, "%s: division by zero", what);
	} else if (e->op == OP_SHL || e->op == OP_SHR) {
		diag_error(c->d, "not-constant", c->src, e->span, "%s: the shift leaves 32 bits, or its count is not in 0..31",
		           what);
	} else {
		diag_error(c->d, "not-constant", c->src, e->span, "%s: the result does not fit into 32 bits", what);
	}
}

bool check_const(struct checker *c, struct expr *e, const char *what, int64_t *value)
{
	uint32_t before = c->d->errors;
	check_value(c, e, what);
	if (e->is_const) {
		*value = e->value;
		return true;
	}
	if (c->d->errors == before && e->kind != E_ERROR)
		report_not_constant(c, e, what);
	*value = 0;
	return false;
}

/* ---- types as written --------------------------------------------------- */

void check_range(struct checker *c, struct type_ref *ty)
{
	assert(ty->lo && ty->hi);
	int64_t lo = 0, hi = 0;
	bool ok = check_const(c, ty->lo, "a range's lower bound", &lo);
	ok &= check_const(c, ty->hi, "a range's upper bound", &hi);
	if (ok && lo > hi) {
		diag_error(c->d, "empty-range", c->src, ty->span, "the range %lld..%lld is empty", (long long)lo, (long long)hi);
		diag_hint(c->d, "the lower bound comes first");
		hi = lo;
	}
	ty->min = (int32_t)lo;
	ty->max = (int32_t)hi;
	assert(ty->min <= ty->max);
}

static void resolve_type(struct checker *c, struct type_ref *ty)
{
	if (check_sized_type(c, ty))
		return;
	switch (ty->kind) {
	case TY_BOOL:
	case TY_LOCK:
		ty->min = 0;
		ty->max = 1;
		break;
	case TY_INT:
		if (ty->ranged && ty->name)
			break; /* a sized one, resolved before */
		ty->min = INT32_MIN;
		ty->max = INT32_MAX;
		if (ty->ranged && ty->lo && ty->hi)
			check_range(c, ty);
		break;
	case TY_STRUCT:
	case TY_ENUM: {
		struct decl *d = ty->enum_def ? ty->enum_def : ty->struct_def;
		if (!d && ty->name) {
			d = scope_find(c, ty->name, ty->name_span, "the type");
			const char *hint = d ? NULL : foreign_type_hint(name_of(c, ty->name));
			if (hint)
				diag_hint(c->d, "%s", hint);
		}
		if (d && d->kind == D_ENUM && ty->kind == TY_STRUCT) {
			diag_error(c->d, "not-a-type", c->src, ty->name_span, "'%s' is an enum, not a struct",
			           name_of(c, ty->name));
			diag_note(c->d, c->src, d->name_span, "declared here");
			d = NULL;
		} else if (d && d->kind == D_STRUCT) {
			ty->kind = TY_STRUCT;
			ty->struct_decl = d;
			ty->min = ty->max = 0;
			break;
		} else if (d && d->kind != D_ENUM) {
			diag_error(c->d, "not-a-type", c->src, ty->name_span, "'%s' is not a type", name_of(c, ty->name));
			diag_note(c->d, c->src, d->name_span, "declared here");
			d = NULL;
		}
		ty->enum_decl = d;
		ty->min = 0;
		ty->max = d && d->value > 0 ? (int32_t)d->value - 1 : 0;
		if (!d)
			ty->kind = TY_INT, ty->max = INT32_MAX, ty->min = INT32_MIN, ty->wrap = false; /* one message is enough */
		break;
	}
	default:
		break;
	}
}

void check_type_ref(struct checker *c, struct type_ref *ty)
{
	resolve_type(c, ty);
	check_wrap(c, ty);
}
