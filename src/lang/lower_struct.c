/*
 * lower_struct: places in structs and in arrays of several dimensions, and whole structs.
 *
 * The elements of a leaf are numbered row by row over all its dimensions (type_struct.c). Where there are several indices,
 * each is checked as soon as it is evaluated; a single one is checked by the access itself, as it is for a plain array. A
 * whole struct is copied element by element: reading and writing each element are two steps, as they are in C.
 */
#include <string.h>

#include "base/invariant.h"
#include "lang/lower.h"

const struct ir_shape *part_shape(struct lower *l, const struct decl *d, const char *prefix)
{
	if (!d->ndims || (d->ndims == 1 && d->own_dims == 1))
		return NULL;
	struct ir_shape *s = arena_new(l->arena, struct ir_shape);
	s->pattern = prefix ? arena_printf(l->arena, "%s%s", prefix, d->pattern) : d->pattern;
	s->n = d->ndims;
	s->dim = d->dims;
	return s;
}

/* ---- indices ------------------------------------------------------------ */

static uint32_t temp(struct lower *l, uint64_t max)
{
	return ir_reg(&l->b, 0, max > INT32_MAX ? INT32_MAX : (int32_t)max, false);
}

static struct val checked(struct lower *l, struct expr *e, uint32_t n)
{
	assert(n >= 1);
	struct val v = lower_expr(l, e);
	if (v.imm && v.v >= 0 && (uint32_t)v.v < n)
		return v;
	uint32_t r = temp(l, n - 1);
	emit2(l, IR_MOV, r, v, e->span);
	ir_emit(&l->b,
	        (struct ir_ins){ .op = IR_RANGE,
	                         .imm = IR_IMM_B | IR_IMM_C,
	                         .a = (int32_t)r,
	                         .b = 0,
	                         .c = (int32_t)n - 1,
	                         .d = IR_RANGE_INDEX },
	        e->span);
	return reg(r);
}

/* base * n + v, where base < `before` and v < n */
static struct val row(struct lower *l, struct val base, uint64_t before, uint32_t n, struct val v, struct span at)
{
	assert(before >= 1 && n >= 1);
	if (base.imm && v.imm)
		return imm((int64_t)base.v * n + v.v);
	if (base.imm && !base.v)
		return v;
	uint32_t r = temp(l, before * n - 1);
	if (base.imm) {
		emit3(l, IR_ADD, r, v, imm((int64_t)base.v * n), at);
		return reg(r);
	}
	emit3(l, IR_MUL, r, base, imm(n), at);
	if (!v.imm || v.v)
		emit3(l, IR_ADD, r, reg(r), v, at);
	return reg(r);
}

static struct binding *binding_of(struct lower *l, const struct decl *d)
{
	const struct decl *root = d->whole ? d->whole : d;
	assert(!root->is_ref || (root->id && root->id < l->refs.len));
	return root->is_ref ? &l->refs.data[root->id] : NULL;
}

struct decl *meant(struct lower *l, const struct decl *d)
{
	struct binding *b = binding_of(l, d);
	if (!b)
		return (struct decl *)d;
	if (!d->up)
		return b->decl;
	struct decl *x = meant(l, d->up)->parts; /* as deep as structs are nested */
	while (x->field != d->field)
		x = x->next;
	return x;
}

/* The number of the element, among those over the dimensions that the place has indices for; each index is checked. */
static struct val flat_index(struct lower *l, struct expr *place, uint32_t *given)
{
	const struct binding *b = binding_of(l, place->decl);
	const uint32_t *dims = meant(l, place->decl)->dims;
	struct val at = b ? b->base : imm(0);
	uint64_t before = 1;
	uint32_t k = b ? b->given : 0;
	for (uint32_t i = 0; i < k; i++)
		before *= dims[i];
	if (place->kind == E_INDEX) {
		at = row(l, at, before, dims[k], checked(l, place->a, dims[k]), place->span);
		k++;
	}
	for (struct expr *sel = place->kind == E_PATH ? place->args : NULL; sel; sel = sel->next) {
		if (sel->kind != E_AT)
			continue;
		at = row(l, at, before, dims[k], checked(l, sel->a, dims[k]), sel->span);
		before *= dims[k++];
	}
	*given = k;
	assert(is_place(place) && k <= meant(l, place->decl)->ndims);
	return at;
}

struct val place_index(struct lower *l, struct expr *place)
{
	const struct decl *d = meant(l, place->decl);
	const struct binding *b = binding_of(l, place->decl);
	uint32_t given;
	assert(is_place(place) && !d->parts);
	if (d->ndims > 1 || (b && b->given))
		return flat_index(l, place, &given);
	if (place->kind == E_INDEX)
		return lower_expr(l, place->a);
	for (struct expr *sel = place->kind == E_PATH ? place->args : NULL; sel; sel = sel->next)
		if (sel->kind == E_AT)
			return lower_expr(l, sel->a);
	return imm(0);
}

struct val chan_number(struct lower *l, struct expr *place)
{
	uint32_t given;
	struct val number = flat_index(l, place, &given);
	assert(given + 1 == meant(l, place->decl)->ndims);
	return number;
}

/* ---- references --------------------------------------------------------- */

struct binding lower_reference(struct lower *l, struct expr *arg)
{
	struct binding b = { .decl = meant(l, arg->decl) };
	b.base = flat_index(l, arg, &b.given);
	return b;
}

void bind_reference(struct lower *l, struct decl *param, struct binding b)
{
	assert(param->is_ref && b.decl);
	if (!param->id) {
		avec_push(l->arena, &l->refs, b);
		param->id = l->refs.len - 1;
	}
	l->refs.data[param->id] = b;
}

/* ---- whole structs ------------------------------------------------------ */

/* A scalar inside a struct: element j of those that the struct has of the leaf. */
struct piece {
	struct decl *leaf;
	uint32_t j;
};

struct pieces { /* in the order in which they lie in memory */
	struct piece *list;
	uint32_t n;
};

static uint64_t count_elements(const struct decl *d)
{
	uint64_t n = d->parts ? 0 : d->array_len;
	for (const struct decl *x = d->parts; x; x = x->next)
		n += count_elements(x);
	return n;
}

static void add_pieces(struct pieces *p, struct decl *d, uint32_t j)
{
	uint32_t n = 1;
	for (uint32_t k = d->ndims - d->own_dims; k < d->ndims; k++)
		n *= d->dims[k];
	for (uint32_t i = 0; i < n; i++) {
		if (!d->parts)
			p->list[p->n++] = (struct piece){ d, j * n + i };
		for (struct decl *x = d->parts; x; x = x->next)
			add_pieces(p, x, j * n + i);
	}
}

/* Of one struct: an element of d. */
static struct pieces pieces_of(struct lower *l, const struct decl *d)
{
	uint64_t many = count_elements(d) / d->array_len;
	struct pieces p = { arena_array(l->arena, struct piece, many + 1), 0 };
	for (struct decl *x = d->parts; x; x = x->next)
		add_pieces(&p, x, 0);
	assert(p.n == many);
	return p;
}

/* The index of a piece in its leaf, when the struct is element `base` of `of`. */
static struct val piece_index(struct lower *l, const struct decl *of, struct val base, struct piece p, struct span at)
{
	return row(l, base, of->array_len, p.leaf->array_len / of->array_len, imm(p.j), at);
}

static struct val load_piece(struct lower *l, const struct decl *of, struct val base, struct piece p, struct span at)
{
	struct val index = piece_index(l, of, base, p, at);
	return p.leaf->is_shared ? shared_load(l, p.leaf, index, at) : local_load(l, p.leaf, index, at);
}

void lower_struct_copy(struct lower *l, struct expr *to, struct expr *from, struct span at)
{
	assert(to->decl->type->kind == TY_STRUCT && from->struct_decl == to->struct_decl);
	struct decl *x_of = meant(l, to->decl), *y_of = meant(l, from->decl);
	struct pieces x = pieces_of(l, x_of), y = pieces_of(l, y_of);
	uint32_t given;
	struct val x0 = flat_index(l, to, &given);
	struct val y0 = flat_index(l, from, &given);
	assert(x.n == y.n);
	for (uint32_t i = 0; i < x.n && !l->failed && !l->b.error; i++) {
		uint32_t mark = l->b.top;
		struct val v = load_piece(l, y_of, y0, y.list[i], at);
		struct val index = piece_index(l, x_of, x0, x.list[i], at);
		if (x_of->is_shared)
			shared_store(l, x.list[i].leaf, index, v, at);
		else
			store_local(l, x.list[i].leaf, index, v, at);
		l->b.top = mark;
	}
}

struct val *lower_struct_values(struct lower *l, struct expr *from)
{
	struct decl *of = meant(l, from->decl);
	struct pieces p = pieces_of(l, of);
	uint32_t given;
	struct val base = flat_index(l, from, &given), *values = arena_array(l->arena, struct val, p.n + 1ull);
	for (uint32_t i = 0; i < p.n && !l->failed && !l->b.error; i++)
		values[i] = load_piece(l, of, base, p.list[i], from->span);
	return values;
}

/* ---- locals ------------------------------------------------------------- */

static void declare_parts(struct lower *l, struct decl *d)
{
	for (struct decl *x = d->parts; x; x = x->next)
		declare_parts(l, x);
	if (!d->parts)
		declare_local(l, d);
}

static void default_parts(struct lower *l, struct decl *d, struct span at)
{
	for (struct decl *x = d->parts; x; x = x->next)
		default_parts(l, x, at);
	if (d->parts || l->b.error)
		return;
	int32_t dflt = d->type->min > 0 || d->type->max < 0 ? d->type->min : 0;
	if (!d->is_array) {
		store_local(l, d, imm(0), imm(dflt), at);
		return;
	}
	ir_emit(&l->b, (struct ir_ins){ .op = IR_LZERO, .a = (int32_t)l->local_reg.data[d->id], .d = (int32_t)d->array_len }, at);
	for (uint32_t i = 0; dflt && i < d->array_len; i++)
		store_local(l, d, imm(i), imm(dflt), at);
}

void bind_struct(struct lower *l, struct decl *d, const struct val *values, struct span at)
{
	struct pieces p = pieces_of(l, d);
	assert(d->array_len == 1);
	if (l->b.error || l->failed)
		return;
	declare_parts(l, d);
	default_parts(l, d, at); /* all of an array is written before its elements are */
	for (uint32_t i = 0; i < p.n && !l->b.error; i++)
		store_local(l, p.list[i].leaf, imm(p.list[i].j), values[i], at);
}

void lower_shaped_local(struct lower *l, struct decl *d)
{
	uint32_t n = 0;
	if (d->init && !d->init_list) { /* another struct */
		bind_struct(l, d, lower_struct_values(l, d->init), d->span);
		return;
	}
	assert(!d->is_shared && !d->is_ref);
	for (const struct part_init *i = d->inits; i; i = i->next)
		n++;
	struct val *values = arena_array(l->arena, struct val, n + 1ull);
	n = 0;
	for (const struct part_init *i = d->inits; i; i = i->next)
		values[n++] = lower_converted(l, i->value, i->part->type);
	if (l->b.error)
		return;
	declare_parts(l, d);
	default_parts(l, d, d->span);
	n = 0;
	for (const struct part_init *i = d->inits; i && !l->b.error; i = i->next)
		store_local(l, i->part, imm(i->elem), values[n++], i->value->span);
}
