/*
 * lower_pool: the cells of pools, made of plain shared variables and steps (docs/language.md has the same in words).
 *
 * A pool is an array for each field and one, `NAME.cell`, that says what each cell is:
 *
 *   fresh   never given out. All fresh cells are alike: no reference to one exists. So alloc takes the first of them only, which
 *           leaves out nothing but a renaming of cells.
 *   live    between alloc and free. An access to a field of a cell that is not live is a fault, found in the step of the access.
 *   freed   given back. alloc takes any of these too, each is tried: so a reference from before can name a new object (ABA).
 *
 * free sets the fields to their default values again: no thread can look at them, and fewer states differ.
 */
#include <string.h>

#include "base/invariant.h"
#include "lang/lower.h"

/* ---- declarations -------------------------------------------------------- */

uint32_t pool_number(const struct lower *l, const struct decl *pool)
{
	uint32_t n = 0;
	for (const struct decl *d = l->u->decls; d && d != pool; d = d->next)
		n += d->kind == D_ENUM && d->is_pool;
	return n;
}

static uint32_t cell_enum(struct lower *l)
{
	static const char *const names[] = { [IR_CELL_FRESH] = "fresh", [IR_CELL_LIVE] = "live", [IR_CELL_FREED] = "freed" };
	if (!l->enums1[2]) {
		struct ir_enum e = { .name = "cell", .n = 3 };
		e.members = (const char **)arena_calloc(l->arena, e.n, sizeof *e.members);
		for (uint32_t i = 0; i < e.n; i++)
			e.members[i] = names[i];
		avec_push(l->arena, &l->b.enums, e);
		l->enums1[2] = l->b.enums.len;
	}
	return l->enums1[2] - 1;
}

struct ir_var pool_cells(struct lower *l, struct decl *pool)
{
	const char *name = intern_str(l->names, pool->name);
	struct ir_var v = { .name = arena_printf(l->arena, "%s.cell", name),
		            .kind = IRV_PLAIN,
		            .value = IR_VALUE_ENUM,
		            .enum_id = cell_enum(l),
		            .hi = IR_CELL_FREED,
		            .len = pool->cells->array_len,
		            .is_array = true,
		            .object = IR_NONE,
		            .span = pool->name_span };
	pool->used = l->b.vars.len;
	struct ir_pool p = { .name = name, .ncells = v.len, .state = pool->used, .span = pool->name_span };
	avec_push(l->arena, &l->b.pools, p);
	return v;
}

const struct decl *pool_of(const struct decl *d)
{
	return (d->whole ? d->whole : d)->pool;
}

/* ---- accesses ------------------------------------------------------------ */

static uint32_t temp(struct lower *l, int64_t lo, int64_t hi)
{
	return ir_reg(&l->b, (int32_t)lo, (int32_t)hi, false);
}

static void require(struct lower *l, const struct decl *pool, struct val ok, enum ir_fault f, struct span at)
{
	emit3(l, IR_ASSERT, pool_number(l, pool), ok, imm(f), at);
}

static uint32_t load_cell(struct lower *l, const struct decl *pool, struct val cell, struct span at)
{
	uint32_t t = temp(l, 0, IR_CELL_FREED);
	emit3(l, IR_LOAD, t, imm(pool->used), cell, at);
	return t;
}

void lower_deref(struct lower *l, struct expr *e, uint32_t dest)
{
	assert(e->kind == E_DEREF);
	struct val v = lower_expr(l, e->a);
	uint32_t mark = l->b.top, some = temp(l, 0, 1);
	emit3(l, IR_NE, some, v, imm(0), e->span);
	require(l, e->enum_decl, reg(some), IRF_NULL, e->span);
	l->b.top = mark;
	emit3(l, IR_SUB, dest, v, imm(1), e->span);
}

void check_cell(struct lower *l, const struct decl *d, struct val index, struct span at)
{
	const struct decl *pool = pool_of(d);
	uint32_t mark = l->b.top, each = d->array_len / pool->cells->array_len;
	struct val cell = index;
	if (each > 1 && index.imm)
		cell = imm(index.v / (int32_t)each);
	else if (each > 1) {
		cell = reg(temp(l, 0, pool->cells->array_len - 1));
		emit3(l, IR_DIV, (uint32_t)cell.v, index, imm(each), at);
	}
	uint32_t live = load_cell(l, pool, cell, at);
	emit3(l, IR_EQ, live, reg(live), imm(IR_CELL_LIVE), at);
	require(l, pool, reg(live), IRF_FREED, at);
	l->b.top = mark;
}

/* ---- alloc and free ------------------------------------------------------ */

static void begin_step(struct lower *l, struct span at)
{
	if (!l->in_step)
		ir_stop(&l->b, (struct ir_node){ .kind = IRN_STEP, .primitive = IR_PRIMITIVE, .span = at }, at);
}

/* Any freed cell, or the first fresh one. */
static void lower_alloc(struct lower *l, struct expr *e, uint32_t dest)
{
	const struct decl *pool = e->args->decl;
	struct span at = e->span;
	int32_t n = (int32_t)pool->cells->array_len;
	uint32_t head = ir_label(&l->b), next = ir_label(&l->b), all = ir_label(&l->b), end = ir_label(&l->b),
		 found = ir_label(&l->b);
	begin_step(l, at);
	uint32_t i = temp(l, 0, n), fresh = temp(l, 0, n), free_ = temp(l, 0, n), is = temp(l, 0, IR_CELL_FREED), t = temp(l, 0, 1);
	emit2(l, IR_MOV, i, imm(0), at);
	emit2(l, IR_MOV, fresh, imm(n), at);
	emit2(l, IR_MOV, free_, imm(0), at);
	ir_place(&l->b, head); /* the first fresh cell, and whether one is freed */
	emit3(l, IR_LOAD, is, imm(pool->used), reg(i), at);
	emit3(l, IR_EQ, t, reg(is), imm(IR_CELL_FREED), at);
	emit3(l, IR_OR, free_, reg(free_), reg(t), at);
	emit3(l, IR_ADD, i, reg(i), imm(1), at);
	emit2(l, IR_JNZ, next, reg(is), at);
	emit3(l, IR_SUB, fresh, reg(i), imm(1), at);
	jmp(l, all, at); /* those behind a fresh cell are fresh */
	ir_place(&l->b, next);
	emit3(l, IR_LT, t, reg(i), imm(n), at);
	emit2(l, IR_JNZ, head, reg(t), at);
	ir_place(&l->b, all);
	emit3(l, IR_LT, t, reg(fresh), imm(n), at);
	emit3(l, IR_OR, t, reg(t), reg(free_), at);
	if (e->sync == SYNC_TRY_ALLOC) {
		emit2(l, IR_JNZ, found, reg(t), at);
		if (dest)
			emit2(l, IR_MOV, dest, imm(0), at);
		jmp(l, end, at);
		ir_place(&l->b, found);
	} else {
		require(l, pool, reg(t), IRF_EXHAUSTED, at);
	}
	emit3(l, IR_CHOOSE, i, imm(0), imm(n - 1), at);
	emit3(l, IR_LOAD, is, imm(pool->used), reg(i), at);
	emit3(l, IR_EQ, is, reg(is), imm(IR_CELL_FREED), at);
	emit3(l, IR_EQ, t, reg(i), reg(fresh), at);
	emit3(l, IR_OR, t, reg(t), reg(is), at);
	emit2(l, IR_ASSUME, 0, reg(t), at);
	emit3(l, IR_STORE, pool->used, imm(IR_CELL_LIVE), reg(i), at);
	if (dest)
		emit3(l, IR_ADD, dest, reg(i), imm(1), at);
	ir_place(&l->b, end);
}

/* All fields of the cell as they were before alloc. */
static void clear_fields(struct lower *l, const struct decl *d, uint32_t ncells, uint32_t cell, struct span at)
{
	for (const struct decl *part = d->parts; part; part = part->next)
		clear_fields(l, part, ncells, cell, at);
	if (d->parts || d->type->kind == TY_LOCK)
		return;
	uint32_t mark = l->b.top, each = d->array_len / ncells;
	int32_t dflt = d->type->min > 0 || d->type->max < 0 ? d->type->min : 0;
	for (uint32_t j = 0; j < each; j++) {
		uint32_t at_elem = temp(l, 0, d->array_len - 1);
		emit3(l, IR_MUL, at_elem, reg(cell), imm(each), at);
		emit3(l, IR_ADD, at_elem, reg(at_elem), imm(j), at);
		emit3(l, IR_STORE, d->id, imm(dflt), reg(at_elem), at);
		l->b.top = mark;
	}
}

/* free(null) does nothing, as in C. */
static void lower_free(struct lower *l, struct expr *e)
{
	const struct decl *pool = e->args->enum_decl;
	struct span at = e->span;
	uint32_t end = ir_label(&l->b);
	struct val v = lower_expr(l, e->args);
	if (v.imm)
		return;
	begin_step(l, at);
	uint32_t cell = temp(l, 0, pool->cells->array_len);
	emit2(l, IR_JZ, end, v, at);
	emit3(l, IR_SUB, cell, v, imm(1), at);
	uint32_t live = load_cell(l, pool, reg(cell), at);
	emit3(l, IR_EQ, live, reg(live), imm(IR_CELL_LIVE), at);
	require(l, pool, reg(live), IRF_DOUBLE_FREE, at);
	emit3(l, IR_STORE, pool->used, imm(IR_CELL_FREED), reg(cell), at);
	clear_fields(l, pool->cells, pool->cells->array_len, cell, at);
	ir_place(&l->b, end);
}

void lower_pool_call(struct lower *l, struct expr *e, uint32_t dest)
{
	uint32_t mark = l->b.top;
	if (e->sync == SYNC_FREE)
		lower_free(l, e);
	else
		lower_alloc(l, e, dest);
	l->b.top = mark;
}
