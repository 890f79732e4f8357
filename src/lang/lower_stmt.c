/*
 * lower_stmt: statements, block boundaries, and where steps end.
 */
#include "base/invariant.h"
#include "lang/lower.h"

void stop(struct lower *l, enum ir_node_kind kind)
{
	if (l->in_step)
		return;
	ir_stop(&l->b, (struct ir_node){ .kind = kind, .span = l->stmt }, l->stmt);
}

/* One SML statement is one step: its node, then everything inside it. */
static void sml_step(struct lower *l, const struct expr *e1, const struct expr *e2)
{
	assert(l->u->sml);
	bool shared = (e1 && e1->shared) || (e2 && e2->shared);
	stop(l, shared ? IRN_STEP : IRN_LOCAL);
	l->in_step++;
}

/* A procedure inlined ten times gets its message once. */
static bool told_before(struct stmt *s)
{
	bool before = s->told;
	s->told = true;
	return before;
}

void note_calls(struct lower *l)
{
	uint32_t n = 0;
	for (struct inline_ctx *c = l->inl; c && c->outer && n < 8; c = c->outer, n++)
		diag_note(l->d, l->u->src, c->call, "called here");
}

bool lower_nest(struct lower *l, struct span at)
{
	assert(l->depth <= LOWER_DEPTH);
	if (l->depth < LOWER_DEPTH) {
		l->depth++;
		return true;
	}
	if (!l->failed) {
		diag_error(l->d, "too-deep", l->u->src, at, "calls, statements and expressions are nested more than %d levels deep",
		           LOWER_DEPTH);
		note_calls(l);
	}
	l->failed = true;
	return false;
}

/* type.c reports what is directly in a step; this is for what is called. */
void not_in_step(struct lower *l, struct span at, const char *what)
{
	if (!l->in_step || l->u->sml || l->told_step)
		return;
	l->told_step = true;
	diag_error(l->d, "not-in-step", l->u->src, at, "%s: it is not allowed inside step { }", what);
	note_calls(l);
}

/* ---- assignments -------------------------------------------------------- */

static void lower_update(struct lower *l, struct stmt *s)
{
	assert(s->form != ASSIGN_PLAIN && s->target->decl);
	struct expr *t = s->target;
	struct decl *d = meant(l, t->decl);
	struct val index = place_index(l, t);
	struct val old = d->is_shared ? shared_load(l, d, index, t->span) : local_load(l, d, index, t->span);
	struct val by = s->value ? lower_expr(l, s->value) : imm(1);
	enum op op = s->form == ASSIGN_INC ? OP_ADD : s->form == ASSIGN_DEC ? OP_SUB : s->op;
	static const uint8_t ops[] = {
		[OP_ADD] = IR_ADD, [OP_SUB] = IR_SUB, [OP_MUL] = IR_MUL, [OP_DIV] = IR_DIV, [OP_MOD] = IR_MOD,
		[OP_SHL] = IR_SHL, [OP_SHR] = IR_SHR, [OP_AND] = IR_AND, [OP_OR] = IR_OR,   [OP_XOR] = IR_XOR,
	};
	uint32_t r = ir_reg(&l->b, INT32_MIN, INT32_MAX, false);
	emit3(l, (enum ir_op)ops[op], r, old, by, s->span);
	if (d->type->kind == TY_BOOL)
		emit2(l, IR_BOOL, r, reg(r), s->span);
	struct val now = d->type->wrap ? lower_wrapped(l, reg(r), d->type, s->span) : reg(r);
	if (d->is_shared)
		shared_store(l, d, index, now, s->span);
	else
		store_local(l, d, index, now, s->span);
}

static void lower_assign(struct lower *l, struct stmt *s)
{
	assert(s->kind == S_ASSIGN && s->target->decl);
	struct expr *t = s->target;
	struct decl *d = meant(l, t->decl);
	if (l->u->sml)
		sml_step(l, t, s->value);
	if (d->type->kind == TY_STRUCT) {
		lower_struct_copy(l, t, s->value, s->span);
	} else if (s->form != ASSIGN_PLAIN) {
		lower_update(l, s);
	} else if (d->is_shared) {
		struct val index = place_index(l, t);
		struct val v = lower_converted(l, s->value, d->type);
		shared_store(l, d, index, v, s->span);
	} else if (!d->is_array && !d->type->wrap && (d->type->kind != TY_BOOL || s->value->type == TY_BOOL)) {
		uint32_t r = l->local_reg.data[d->id];
		lower_into(l, s->value, r);
		store_local(l, d, imm(0), s->value->is_const ? imm(s->value->value) : reg(r), s->value->span);
	} else {
		struct val index = place_index(l, t);
		struct val v = lower_converted(l, s->value, d->type);
		store_local(l, d, index, v, s->value->span);
	}
	if (l->u->sml)
		l->in_step--;
}

static int32_t default_of(const struct type_ref *ty)
{
	return ty->min > 0 || ty->max < 0 ? ty->min : 0;
}

static void lower_local_array(struct lower *l, struct decl *d)
{
	assert(d->is_array && d->array_len >= 1);
	uint32_t i = 0;
	int32_t dflt = default_of(d->type);
	uint32_t given = 0;
	for (struct expr *e = d->init; e; e = e->next)
		given++;
	struct val *values = arena_array(l->arena, struct val, given);
	for (struct expr *e = d->init; e; e = e->next)
		values[i++] = lower_converted(l, e, d->type);
	uint32_t r = declare_local(l, d);
	ir_emit(&l->b, (struct ir_ins){ .op = IR_LZERO, .a = (int32_t)r, .d = (int32_t)d->array_len }, d->span);
	for (i = 0; i < d->array_len; i++)
		if (i < given || dflt)
			store_local(l, d, imm(i), i < given ? values[i] : imm(dflt), d->span);
}

void lower_local(struct lower *l, struct decl *d, struct span all)
{
	assert(d->kind == D_VAR && !d->is_shared);
	if (d->type->enum_def)
		lower_enum(l, d->type->enum_def);
	l->stmt = d->init ? all : l->stmt;
	if (d->type->kind == TY_STRUCT || d->ndims > 1) {
		lower_shaped_local(l, d);
		return;
	}
	if (d->is_array) {
		lower_local_array(l, d);
		return;
	}
	if (!d->init) {
		declare_local(l, d);
		store_local(l, d, imm(0), imm(default_of(d->type)), d->span);
		return;
	}
	/* the register first, so that temporaries lie above it; the name
	 * only afterwards, so that `int x = x;` means the outer x */
	uint32_t at = ir_reg(&l->b, d->type->min, d->type->max, true);
	uint32_t mark = l->b.top;
	struct val v = lower_converted(l, d->init, d->type);
	l->b.top = at;
	declare_local(l, d);
	l->b.top = mark;
	store_local(l, d, imm(0), v, d->init->span);
	l->b.top = at + 1;
}

static void lower_decls(struct lower *l, struct stmt *s)
{
	assert(s->kind == S_DECL);
	for (struct decl *d = s->decls; d; d = d->next)
		lower_local(l, d, s->span);
}

/* ---- control ------------------------------------------------------------ */

void jmp(struct lower *l, uint32_t label, struct span at)
{
	emit2(l, IR_JMP, label, imm(0), at);
}

/* The condition of if and while; in SML it is a step of its own. */
void lower_test(struct lower *l, struct stmt *s, uint32_t no)
{
	assert(s->value);
	l->stmt = (struct span){ s->kind == S_FOR ? s->value->span.start : s->head.start, s->value->span.end };
	if (s->kind != S_FOR && s->value->span.end < l->u->src->len && l->u->src->text[s->value->span.end] == ')')
		l->stmt.end++;
	if (l->u->sml)
		sml_step(l, s->value, NULL);
	lower_branch(l, s->value, no, false);
	if (l->u->sml)
		l->in_step--;
}

static void lower_if(struct lower *l, struct stmt *s)
{
	assert(s->kind == S_IF);
	uint32_t no = ir_label(&l->b), end = ir_label(&l->b);
	lower_test(l, s, no);
	lower_stmt(l, s->body);
	if (s->other)
		jmp(l, end, s->head);
	ir_place(&l->b, no);
	if (s->other)
		lower_stmt(l, s->other);
	ir_place(&l->b, end);
}

void lower_loop_body(struct lower *l, struct stmt *s, uint32_t again, uint32_t end)
{
	bool inside = l->b.block != IR_NONE;
	struct loop_ctx ctx = { end, again, inside, inside, l->loop };
	l->loop = &ctx;
	lower_stmt(l, s->body);
	l->loop = ctx.outer;
	assert(l->loop == ctx.outer);
}

static void lower_while(struct lower *l, struct stmt *s)
{
	assert(s->kind == S_WHILE);
	uint32_t head = ir_label(&l->b), end = ir_label(&l->b);
	ir_place(&l->b, head);
	lower_test(l, s, end);
	lower_loop_body(l, s, head, end);
	jmp(l, head, s->head);
	ir_place(&l->b, end);
}

static void lower_repeat(struct lower *l, struct stmt *s)
{
	assert(s->kind == S_REPEAT && s->value);
	uint32_t head = ir_label(&l->b), again = ir_label(&l->b), end = ir_label(&l->b);
	l->stmt = (struct span){ s->head.start, s->value->span.end };
	int32_t hi = s->value->is_const && s->value->value > 0 ? (int32_t)s->value->value : INT32_MAX;
	uint32_t count = ir_reg(&l->b, s->value->is_const ? 0 : INT32_MIN, hi, false);
	uint32_t mark = l->b.top;
	lower_into(l, s->value, count);
	ir_place(&l->b, head);
	uint32_t more = ir_reg(&l->b, 0, 1, false);
	emit3(l, IR_GT, more, reg(count), imm(0), s->head);
	emit2(l, IR_JZ, end, reg(more), s->head);
	l->b.top = mark;
	lower_loop_body(l, s, again, end);
	ir_place(&l->b, again);
	emit3(l, IR_SUB, count, reg(count), imm(1), s->head);
	jmp(l, head, s->head);
	ir_place(&l->b, end);
}

static void lower_either(struct lower *l, struct stmt *s)
{
	assert(s->kind == S_EITHER);
	uint32_t end = ir_label(&l->b), n = 0, mark = l->b.top;
	for (struct stmt *i = s->body; i; i = i->next)
		n++;
	uint32_t pick = ir_reg(&l->b, 0, (int32_t)n - 1, false);
	uint32_t same = ir_reg(&l->b, 0, 1, false);
	emit3(l, IR_CHOOSE, pick, imm(0), imm((int32_t)n - 1), s->head);
	uint32_t *labels = arena_array(l->arena, uint32_t, n);
	for (uint32_t i = 0; i < n; i++)
		labels[i] = ir_label(&l->b);
	for (uint32_t i = 1; i < n; i++) {
		emit3(l, IR_EQ, same, reg(pick), imm((int32_t)i), s->head);
		emit2(l, IR_JNZ, labels[i], reg(same), s->head);
	}
	l->b.top = mark;
	n = 0;
	for (struct stmt *i = s->body; i; i = i->next) {
		ir_place(&l->b, labels[n++]);
		lower_stmt(l, i);
		if (i->next)
			jmp(l, end, s->head);
	}
	ir_place(&l->b, end);
}

/* Is an access in e one to a cell of a pool, which looks whether the cell is live too? */
static bool follows(const struct expr *e)
{
	if (!e)
		return false;
	if (is_place(e) && e->decl && e->decl->kind == D_VAR && pool_of(e->decl))
		return true;
	return follows(e->a) || follows(e->b) || follows(e->c);
}

/* Waits: see IRN_AWAIT, IR_STUCK and docs/language.md. */
static void lower_assume(struct lower *l, struct stmt *s)
{
	assert(s->kind == S_ASSUME);
	struct expr *e = s->value;
	if (l->in_step) {
		emit2(l, IR_ASSUME, 0, lower_expr(l, e), s->span);
	} else if (!count_accesses(l, e)) {
		uint32_t id = ir_stuck_node(&l->b, (struct ir_node){ .kind = IRN_STUCK, .span = s->span });
		emit2(l, IR_STUCK, id, lower_expr(l, e), s->span);
	} else if (count_accesses(l, e) == 1) {
		stop(l, follows(e) ? IRN_STEP : IRN_AWAIT);
		l->in_step++;
		emit2(l, IR_ASSUME, 0, lower_expr(l, e), s->span);
		l->in_step--;
	} else {
		uint32_t head = ir_label(&l->b);
		ir_place(&l->b, head);
		lower_branch(l, e, head, false);
	}
}

/* ---- blocks ------------------------------------------------------------- */

/* Leaves the open block on a jump that goes outside of it. */
static void exit_block(struct lower *l, struct span at)
{
	assert(l->b.block != IR_NONE);
	uint32_t block = l->b.block;
	struct span stmt = l->stmt;
	l->stmt = at;
	stop(l, IRN_EXIT);
	l->b.block = IR_NONE;
	ir_emit(&l->b, (struct ir_ins){ .op = IR_EXIT, .a = (int32_t)block }, at);
	l->stmt = stmt;
}

static uint32_t block_for(struct lower *l, struct stmt *s)
{
	assert(s->kind == S_ATOMIC);
	if (s->block_tmpl1 == l->b.tmpl + 1)
		return s->block; /* inlined here before */
	struct ir_block blk = { .tmpl = l->b.tmpl, .span = s->head, .phase = IR_NONE, .named = s->name != 0 };
	blk.name = s->name ? intern_str(l->names, s->name)
	                   : arena_printf(l->arena, "%s@%u", l->u->sml ? "block" : "atomic",
	                                  source_line_of(l->u->src, s->head.start));
	avec_push(l->arena, &l->b.blocks, blk);
	s->block_tmpl1 = l->b.tmpl + 1;
	return s->block = l->b.blocks.len - 1;
}

static void lower_atomic(struct lower *l, struct stmt *s)
{
	not_in_step(l, s->head, "an atomic block is more than one step");
	if (l->b.block != IR_NONE || l->in_step || l->ignoring) {
		/* type.c has warned of those nested in the text */
		if (l->inl->in_block && l->inl->outer && !told_before(s)) {
			diag_warn(l->d, "nested-atomic", l->u->src, s->head,
			          "atomic inside an atomic block: it belongs to the outer one");
			note_calls(l);
		}
		lower_stmt(l, s->body);
		return;
	}
	uint32_t block = block_for(l, s);
	if (l->opts && l->opts->alone1 && l->opts->alone1 != block + 1) {
		l->ignoring = true;
		lower_stmt(l, s->body);
		l->ignoring = false;
		return;
	}
	l->stmt = s->head;
	stop(l, IRN_ENTER);
	l->b.block = block;
	ir_emit(&l->b, (struct ir_ins){ .op = IR_ENTER, .a = (int32_t)block }, s->head);
	lower_stmt(l, s->body);
	l->b.block = block;
	exit_block(l, s->head);
}

static void lower_commit(struct lower *l, struct stmt *s)
{
	assert(s->kind == S_COMMIT);
	if (l->ignoring)
		return;
	if (l->b.block == IR_NONE) {
		if (!told_before(s)) {
			diag_error(l->d, "misplaced", l->u->src, s->head, "commit outside an atomic block");
			note_calls(l);
			diag_hint(l->d, "commit marks the step at which a block takes effect: "
			                "atomic { ...; commit; ... }");
		}
		return;
	}
	struct ir_block *b = &l->b.blocks.data[l->b.block];
	if (!b->has_commit) {
		b->has_commit = true;
		b->phase = ir_pinned_reg(&l->b);
	}
	ir_emit(&l->b, (struct ir_ins){ .op = IR_COMMIT, .a = (int32_t)l->b.block, .b = (int32_t)b->phase }, s->head);
}

/* A jump out of `was_in`: through the block's exit when one is left by it. */
static void leave_to(struct lower *l, uint32_t label, bool was_in, struct span at)
{
	uint32_t block = l->b.block, in_step = l->in_step;
	if (block != IR_NONE && !was_in) {
		l->in_step = 0; /* a step { } inside the block ends before it */
		exit_block(l, at);
		l->in_step = in_step;
	}
	jmp(l, label, at);
	l->b.block = block;
	assert(l->b.block == block && l->in_step == in_step);
}

static void lower_return(struct lower *l, struct stmt *s)
{
	assert(l->inl);
	struct inline_ctx *c = l->inl;
	if (s->value && c->result) {
		const struct type_ref *rt = c->proc->result;
		struct val v = lower_converted(l, s->value, rt);
		emit2(l, IR_MOV, c->result, v, s->span);
		if (rt->kind != TY_BOOL && (rt->min != INT32_MIN || rt->max != INT32_MAX) &&
		    !(v.imm && v.v >= rt->min && v.v <= rt->max))
			emit3(l, IR_RANGE, c->result, imm(rt->min), imm(rt->max), s->value->span);
	}
	leave_to(l, c->end_label, c->in_block, s->span);
}

/* ---- the rest ----------------------------------------------------------- */

static void lower_lock(struct lower *l, struct stmt *s)
{
	if (s->target->decl->type->kind == TY_RWLOCK) {
		lower_release_rwlock(l, s);
		return;
	}
	assert(s->target->decl->type->kind == TY_LOCK);
	struct decl *d = meant(l, s->target->decl);
	struct val index = place_index(l, s->target);
	stop_access(l, d, IRN_LOCK, index, s->span);
	ir_emit(&l->b,
	        (struct ir_ins){ .op = s->kind == S_ACQUIRE ? IR_ACQ : IR_REL,
	                         .imm = (uint8_t)(IR_IMM_B | (index.imm ? IR_IMM_C : 0)),
	                         .a = (int32_t)d->id,
	                         .c = index.v,
	                         .d = (int32_t)ir_lock_reg(&l->b, d->id) },
	        s->span);
}

void lower_list(struct lower *l, struct stmt *first)
{
	uint32_t top = l->b.top, scope = l->b.scope;
	for (struct stmt *i = first; i && !l->failed && !l->b.error; i = i->next)
		lower_stmt(l, i);
	l->b.top = top;
	l->b.scope = scope;
}

static void lower_simple(struct lower *l, struct stmt *s)
{
	switch (s->kind) {
	case S_ASSIGN:
		lower_assign(l, s);
		break;
	case S_EXPR:
		if (s->value->kind == E_CALL || s->value->kind == E_METHOD)
			lower_call(l, s->value, 0);
		else
			lower_expr(l, s->value);
		break;
	case S_BREAK:
		leave_to(l, l->loop->break_label, l->loop->in_block, s->span);
		break;
	case S_CONTINUE:
		leave_to(l, l->loop->continue_label, l->loop->continue_in_block, s->span);
		break;
	case S_RETURN:
		lower_return(l, s);
		break;
	case S_ACQUIRE:
	case S_RELEASE:
		lower_lock(l, s);
		break;
	case S_ASSUME:
		lower_assume(l, s);
		break;
	case S_ASSERT:
		emit3(l, IR_ASSERT, 0, lower_expr(l, s->value), imm(IRF_ASSERT), s->span);
		break;
	case S_COMMIT:
		lower_commit(l, s);
		break;
	case S_SKIP:
		if (l->u->sml) {
			sml_step(l, NULL, NULL);
			l->in_step--;
		}
		break;
	default:
		break;
	}
}

void lower_stmt(struct lower *l, struct stmt *s)
{
	uint32_t top = l->b.top;
	if (!lower_nest(l, s->span))
		return;
	l->stmt = s->span;
	switch (s->kind) {
	case S_BLOCK:
		lower_list(l, s->body);
		break;
	case S_DECL:
		lower_decls(l, s);
		top = l->b.top; /* keeps its registers and scope */
		break;
	case S_IF:
		lower_if(l, s);
		break;
	case S_WHILE:
		lower_while(l, s);
		break;
	case S_REPEAT:
		lower_repeat(l, s);
		break;
	case S_FOR:
		lower_for(l, s);
		break;
	case S_DO:
		lower_do(l, s);
		break;
	case S_SWITCH:
		lower_switch(l, s);
		break;
	case S_EITHER:
		lower_either(l, s);
		break;
	case S_ATOMIC:
		lower_atomic(l, s);
		break;
	case S_STEP:
		l->stmt = (struct span){ s->head.start, s->body->span.end };
		stop(l, IRN_STEP);
		l->in_step++;
		lower_stmt(l, s->body);
		l->in_step--;
		break;
	default:
		lower_simple(l, s);
	}
	l->depth--;
	l->b.top = top;
	assert(l->depth < LOWER_DEPTH && l->b.top == top);
}
