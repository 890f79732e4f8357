/*
 * type_pool: pools (a bounded heap) and references to their cells.
 *
 * `pool node[4] { ... };` declares the type `node`, whose values are references: null, or one of four cells. For the rest of the
 * front end a reference is an enumerator: 0 is null, k is cell k - 1; and the cells are a shared array of structs with a name
 * that no text can have. `n.next.value` is rewritten here to cells[*cells[*n].next].value, where * (E_DEREF) makes the
 * number of a cell of a reference; every access to a cell then checks that it is live (lower_pool.c).
 */
#include <string.h>

#include "base/invariant.h"
#include "lang/type.h"

#define MANY_CELLS 64

bool is_reference(const struct expr *e)
{
	return e->is_null || (e->type == TY_ENUM && e->enum_decl && e->enum_decl->is_pool);
}

static bool is_pool_type(const struct type_ref *ty)
{
	return ty->kind == TY_ENUM && ty->enum_decl && ty->enum_decl->is_pool;
}

/* ---- declarations -------------------------------------------------------- */

void check_pool_size(struct checker *c, struct decl *pool)
{
	assert(pool->is_pool && pool->length);
	int64_t n = 1;
	if (check_const(c, pool->length, "the number of a pool's cells", &n) && (n < 1 || n > MANY_CELLS)) {
		diag_error(c->d, "array-length", c->src, pool->length->span, "a pool has 1 to %d cells, not %lld", MANY_CELLS,
		           (long long)n);
		n = 1;
	}
	if (pool->length->next)
		diag_error(c->d, "array-length", c->src, pool->length->next->span, "a pool has one dimension");
	pool->length->next = NULL;
	pool->value = n + 1;
}

void check_pool(struct checker *c, struct decl *pool)
{
	struct decl *cells = pool->cells;
	assert(cells && cells->pool == pool);
	check_var(c, cells);
	for (struct decl *f = pool->fields; f; f = f->next) {
		if (!f->first_of_group || !is_sync(f->type->kind) || f->type->kind == TY_LOCK)
			continue;
		diag_error(c->d, "type", c->src, f->type->span, "the cells of a pool can have locks, but no %s",
		           sync_word(f->type->kind));
		diag_hint(c->d, "declare it at the top level");
	}
}

/* ---- references ---------------------------------------------------------- */

bool check_null(struct checker *c, struct expr *e)
{
	if (e->kind != E_NAME || c->bound[e->name] || strcmp(name_of(c, e->name), "null"))
		return false;
	e->is_null = e->is_const = true;
	e->value = 0;
	e->type = TY_INT;
	return true;
}

/* Is what is stored in a variable of this type a reference where it must be, and only there? */
bool check_reference_fits(struct checker *c, struct expr *e, const struct type_ref *to, const char *what)
{
	if (e->kind == E_ERROR || (is_place(e) && !e->decl && !e->is_null) || (e->kind == E_CALL && !e->decl && !e->sync))
		return true; /* reported */
	if (is_pool_type(to)) {
		if (e->is_null || (is_reference(e) && e->enum_decl == to->enum_decl))
			return true;
		diag_error(c->d, "type", c->src, e->span, "%s is a reference to a cell of '%s', but the value is %s", what,
		           name_of(c, to->enum_decl->name), type_text(c, e->type, e->enum_decl));
		diag_hint(c->d, "alloc(%s) is a new one, null is none", name_of(c, to->enum_decl->name));
		return false;
	}
	if (!is_reference(e) || to->kind == TY_BOOL)
		return true;
	diag_error(c->d, "type", c->src, e->span, "%s holds no reference, but the value is %s", what,
	           e->is_null ? "null" : type_text(c, e->type, e->enum_decl));
	if (!e->is_null)
		diag_hint(c->d, "declare it with the pool's type: %s n;", name_of(c, e->enum_decl->name));
	return false;
}

void check_reference_operands(struct checker *c, struct expr *e)
{
	const struct expr *ref = is_reference(e->a) ? e->a : e->b && is_reference(e->b) ? e->b : NULL;
	if (!ref || e->op == OP_NOT || e->op == OP_LAND || e->op == OP_LOR)
		return;
	if (e->op != OP_EQ && e->op != OP_NE) {
		diag_error(c->d, "type", c->src, ref->span, "a reference is no number: it is compared with == and !=");
		return;
	}
	if (is_reference(e->a) && is_reference(e->b) && (e->a->is_null || e->b->is_null || e->a->enum_decl == e->b->enum_decl))
		return;
	if (!is_reference(e->a) || !is_reference(e->b))
		diag_error(c->d, "type", c->src, e->op_span, "a reference is compared with %s",
		           type_text(c, (is_reference(e->a) ? e->b : e->a)->type, (is_reference(e->a) ? e->b : e->a)->enum_decl));
	/* references to cells of different pools: as for two enums */
}

struct decl *check_follow(struct checker *c, struct expr *e, struct expr *sel, struct decl *d)
{
	struct decl *pool = d->type->enum_decl;
	assert(pool->is_pool && e->kind == E_PATH && sel->kind == E_FIELD);
	struct expr *base = arena_new(c->arena, struct expr), *deref = arena_new(c->arena, struct expr);
	struct expr *at = arena_new(c->arena, struct expr), **end = &e->args;
	*base = *e;
	base->next = NULL;
	base->span.end = sel->span.start;
	while (base->span.end > base->span.start + 1 &&
	       (c->src->text[base->span.end - 1] == ' ' || c->src->text[base->span.end - 1] == '.'))
		base->span.end--;
	for (base->nargs = 0; *end != sel; end = &(*end)->next)
		base->nargs++;
	*end = NULL;
	base->args = base->nargs ? e->args : NULL;
	base->kind = base->nargs ? E_PATH : E_NAME;
	base->decl = d;
	base->type = TY_ENUM;
	base->enum_decl = pool;
	base->struct_decl = NULL;
	base->shared = e->shared || d->is_shared || whole_of(d)->is_ref;
	whole_of(d)->reads++;
	check_ghost_use(c, base);
	*deref = (struct expr){
		.kind = E_DEREF, .a = base, .span = base->span, .type = TY_INT, .enum_decl = pool, .shared = base->shared
	};
	deref->height = base->height + 1;
	*at = (struct expr){ .kind = E_AT, .a = deref, .span = base->span, .next = sel };
	e->args = at;
	e->nargs -= base->nargs - 1;
	e->name_span = (struct span){ 0, 0 }; /* what is written there is in `base` */
	e->name = pool->name;
	e->shared = true;
	return base->decl ? pool->cells : NULL;
}

/* ---- alloc, try_alloc, free, leaked --------------------------------------- */

static const struct {
	const char *word;
	enum sync_op op;
} words[] = { { "alloc", SYNC_ALLOC }, { "try_alloc", SYNC_TRY_ALLOC }, { "free", SYNC_FREE } };

const char *pool_call_word(uint32_t i)
{
	return i < sizeof words / sizeof *words ? words[i].word : NULL;
}

static bool has_pools(const struct checker *c)
{
	for (const struct decl *d = c->u->decls; d; d = d->next)
		if (d->kind == D_ENUM && d->is_pool)
			return true;
	return false;
}

/* The argument that names a pool. */
static struct decl *pool_named(struct checker *c, struct expr *e, const char *word)
{
	struct expr *arg = e->args;
	struct decl *d = arg && arg->kind == E_NAME ? c->bound[arg->name] : NULL;
	if (d && d->kind == D_ENUM && d->is_pool && e->nargs == 1) {
		arg->decl = d;
		return d;
	}
	diag_error(c->d, "type", c->src, arg ? arg->span : e->span, "%s needs the name of a pool", word);
	if (d && d->kind == D_VAR && is_pool_type(d->type))
		diag_hint(c->d, "write %s(%s)", word, name_of(c, d->type->enum_decl->name));
	else
		diag_hint(c->d, "pool node[4] { ... }; and %s(node)", word);
	return NULL;
}

bool check_pool_call(struct checker *c, struct expr *e)
{
	const char *word = name_of(c, e->name);
	enum sync_op op = c->property && !strcmp(word, "leaked") ? SYNC_LEAKED : SYNC_NONE;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (!strcmp(words[i].word, word))
			op = words[i].op;
	if (op == SYNC_NONE || c->bound[e->name] || !has_pools(c))
		return false;
	e->shared = true;
	e->type = op == SYNC_FREE ? TY_VOID : TY_INT;
	if (op == SYNC_FREE && e->nargs != 1) {
		diag_error(c->d, "argument-count", c->src, e->span, "free takes 1 argument, not %u", e->nargs);
		return true;
	}
	if (op == SYNC_FREE) {
		check_value(c, e->args, "a reference");
		if (!is_reference(e->args) && e->args->kind != E_ERROR && !(is_place(e->args) && !e->args->decl))
			diag_error(c->d, "type", c->src, e->args->span,
			           "free needs a reference to a cell of a pool, but this is %s",
			           type_text(c, e->args->type, e->args->enum_decl));
		e->sync = op;
		return true;
	}
	struct decl *pool = pool_named(c, e, word);
	if (!pool)
		return true;
	e->sync = op;
	pool->leaked |= op == SYNC_LEAKED;
	if (op != SYNC_LEAKED) {
		pool->reads++;
		e->type = TY_ENUM;
		e->enum_decl = pool;
	}
	return true;
}
