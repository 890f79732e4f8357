/*
 * lower_call: calls of procedures and of objects' operations.
 *
 * A procedure is inlined: its parameters become locals of the place of the call, its result a register.
 */
#include "base/invariant.h"
#include "lang/lower.h"

/* Arguments into fresh parameters, in order. */
static void bind_arguments(struct lower *l, struct expr *e, struct decl *proc)
{
	assert(e->nargs == proc->nparams);
	struct val **values = arena_array(l->arena, struct val *, proc->nparams + 1ull);
	struct binding *refs = arena_array(l->arena, struct binding, proc->nparams + 1ull);
	struct decl *param = proc->params;
	uint32_t n = 0;
	for (struct expr *arg = e->args; arg && param; arg = arg->next, param = param->next) {
		if (param->is_ref) {
			refs[n++] = lower_reference(l, arg);
			continue;
		}
		if (param->type->kind == TY_STRUCT) {
			values[n++] = lower_struct_values(l, arg);
			continue;
		}
		values[n] = arena_new(l->arena, struct val);
		*values[n++] = lower_converted(l, arg, param->type);
	}
	param = proc->params;
	n = 0;
	for (struct expr *arg = e->args; arg && param; arg = arg->next, param = param->next, n++) {
		if (param->is_ref) {
			bind_reference(l, param, refs[n]);
			continue;
		}
		if (param->type->kind == TY_STRUCT) {
			bind_struct(l, param, values[n], arg->span);
			continue;
		}
		declare_local(l, param);
		store_local(l, param, imm(0), *values[n], arg->span);
	}
}

static uint32_t begin_operation(struct lower *l, struct expr *e, struct decl *m)
{
	assert(m->owner && m->owner->kind == D_OBJECT);
	struct ir_oper op = {
		.object = m->owner->id,
		.tmpl = l->b.tmpl,
		.method = intern_str(l->names, m->name),
		.is_write = !m->result,
		.outer = l->b.oper,
		.nargs = m->nparams,
		.has_result = m->result != NULL,
		.span = e->span,
	};
	not_in_step(l, e->span, "an operation takes time");
	avec_push(l->arena, &l->b.opers, op);
	uint32_t id = l->b.opers.len - 1;
	stop(l, IRN_INVOKE);
	ir_emit(&l->b,
	        (struct ir_ins){ .op = IR_INVOKE,
	                         .a = (int32_t)id,
	                         .b = m->nparams ? (int32_t)l->local_reg.data[m->params->id] : 0,
	                         .c = m->nparams != 0 },
	        e->span);
	l->b.oper = id;
	assert(id < l->b.opers.len);
	return id;
}

/* The result is kept in a register of its own until the response, so that it
 * is stored only when the caller has it. */
void lower_call(struct lower *l, struct expr *e, uint32_t dest)
{
	if (e->sync >= SYNC_ALLOC) {
		lower_pool_call(l, e, dest);
		return;
	}
	if (e->sync) {
		lower_sync(l, e, dest);
		return;
	}
	assert(e->decl && e->decl->kind == D_PROC);
	struct decl *proc = e->decl;
	uint32_t mark = l->b.top, scope = l->b.scope, oper = l->b.oper, id = IR_NONE;
	struct inline_ctx ctx = {
		.proc = proc, .call = e->span, .in_block = l->b.block != IR_NONE, .outer = l->inl, .depth = l->inl->depth + 1
	};
	if (ctx.depth > LOWER_INLINE_DEPTH) {
		if (!l->failed)
			diag_error(l->d, "too-deep", l->u->src, e->span, "calls are nested more than %d levels deep",
			           LOWER_INLINE_DEPTH);
		l->failed = true;
		return;
	}
	if (l->failed || l->b.error)
		return;
	const struct type_ref *rt = proc->result;
	ctx.result = rt ? ir_reg(&l->b, rt->min, rt->max, false) : 0;
	bind_arguments(l, e, proc);
	if (e->kind == E_METHOD)
		id = begin_operation(l, e, proc);
	ctx.end_label = ir_label(&l->b);
	struct loop_ctx *loop = l->loop;
	l->loop = NULL;
	l->inl = &ctx;
	lower_stmt(l, proc->body);
	l->inl = ctx.outer;
	l->loop = loop;
	ir_place(&l->b, ctx.end_label);
	if (e->kind == E_METHOD) {
		l->stmt = e->span;
		stop(l, IRN_RESPOND);
		emit2(l, IR_RESPOND, id, ctx.result ? reg(ctx.result) : imm(0), e->span);
		l->b.oper = oper;
	}
	if (dest && ctx.result)
		emit2(l, IR_MOV, dest, reg(ctx.result), e->span);
	l->b.top = mark;
	l->b.scope = scope;
}
