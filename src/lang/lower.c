/* lower: declarations, threads, and the warnings that need the program. */
#include "lang/lower.h"

#include <string.h>

#include "base/invariant.h"

/* ---- variables ---------------------------------------------------------- */

struct init_values {
	AVEC(int32_t) v;
};

#define ENUM_LOWERED 2 /* in decl.mark; 1 means declared */

void lower_enum(struct lower *l, struct decl *e)
{
	if (e->mark == ENUM_LOWERED)
		return;
	e->mark = ENUM_LOWERED;
	struct ir_enum out = { .name = intern_str(l->names, e->name), .n = (uint32_t)e->value };
	uint32_t i = 0;
	if (e->is_pool) {
		out.members = (const char **)arena_calloc(l->arena, out.n, sizeof *out.members);
		out.members[i++] = "null";
		for (; i < out.n; i++)
			out.members[i] = arena_printf(l->arena, "%s[%u]", out.name, i - 1);
		e->id = l->b.enums.len;
		avec_push(l->arena, &l->b.enums, out);
		return;
	}
	out.members = (const char **)arena_calloc(l->arena, out.n + 1, sizeof *out.members);
	for (struct decl *m = e->members; m; m = m->next)
		out.members[i++] = intern_str(l->names, m->name);
	e->id = l->b.enums.len;
	assert(i == out.n);
	avec_push(l->arena, &l->b.enums, out);
}

static enum ir_value_kind value_kind(const struct type_ref *ty)
{
	if (ty->kind == TY_CHAN)
		ty = ty->of;
	switch (ty->kind) {
	case TY_BOOL:
		return IR_VALUE_BOOL;
	case TY_ENUM:
		return IR_VALUE_ENUM;
	case TY_LOCK:
		return IR_VALUE_LOCK;
	default:
		return IR_VALUE_INT;
	}
}

/* One variable of the program: a variable, or the part of one that is stored. */
static void lower_stored(struct lower *l, struct decl *d, struct decl *object, struct init_values *init)
{
	assert(d->kind == D_VAR && d->type->min <= d->type->max && d->array_len >= 1);
	const struct type_ref *ty = d->type;
	const char *name = d->full ? d->full : intern_str(l->names, d->name), *prefix = NULL;
	if (object) {
		prefix = arena_printf(l->arena, "%s.", intern_str(l->names, object->name));
		name = arena_printf(l->arena, "%s%s", prefix, name);
	}
	struct ir_var v = {
		.name = name,
		.kind = ty->kind == TY_LOCK           ? IRV_LOCK
		        : d->var_class == VAR_SAFE    ? IRV_SAFE
		        : d->var_class == VAR_REGULAR ? IRV_REGULAR
		                                      : IRV_PLAIN,
		.value = value_kind(ty),
		.enum_id = ty->enum_decl ? ty->enum_decl->id : 0,
		.lo = ty->min,
		.hi = ty->max,
		.len = d->array_len,
		.is_array = d->is_array,
		.ghost = (d->whole ? d->whole : d)->is_ghost,
		.object = object ? object->id : IR_NONE,
		.span = (d->whole ? d->whole : d)->name_span,
		.shape = part_shape(l, d, prefix),
		.refers1 = ty->enum_decl && ty->enum_decl->is_pool ? pool_number(l, ty->enum_decl) + 1 : 0,
		.cell1 = pool_of(d) ? pool_number(l, pool_of(d)) + 1 : 0,
	};
	if (ty->kind > TY_LOCK)
		v = sync_var(l, d, v);
	d->id = l->b.vars.len;
	d->value = init->v.len; /* where its initial values are */
	avec_push(l->arena, &l->b.vars, v);
	int32_t dflt = ty->min > 0 || ty->max < 0 ? ty->min : 0;
	struct expr *e = d->ndims > 1 ? NULL : d->init;
	for (uint32_t i = 0; i < v.len; i++) {
		int32_t x = ty->kind > TY_LOCK ? sync_initial(d, e) : e ? (int32_t)e->value : dflt;
		if (ty->kind == TY_BOOL)
			x = x != 0;
		avec_push(l->arena, &init->v, x);
		e = e ? e->next : NULL;
	}
	if (ty->kind != TY_CHAN)
		return;
	struct ir_var used = chan_used(l, d, &l->b.vars.data[d->id]);
	d->used = l->b.vars.len;
	avec_push(l->arena, &l->b.vars, used);
	for (uint32_t i = 0; i < used.len; i++)
		avec_push(l->arena, &init->v, 0);
}

static void lower_parts(struct lower *l, struct decl *d, struct decl *object, struct init_values *init)
{
	assert(d->kind == D_VAR && (!d->parts || d->type->kind == TY_STRUCT));
	if (!d->parts)
		lower_stored(l, d, object, init);
	for (struct decl *part = d->parts; part; part = part->next)
		lower_parts(l, part, object, init);
}

static void lower_var(struct lower *l, struct decl *d, struct decl *object, struct init_values *init)
{
	lower_parts(l, d, object, init);
	for (const struct part_init *i = d->inits; i; i = i->next) {
		int32_t x = (int32_t)i->value->value;
		assert(i->value->is_const && i->elem < i->part->array_len);
		init->v.data[i->part->value + i->elem] = i->part->type->kind == TY_BOOL ? x != 0 : x;
	}
}

static void lower_pool(struct lower *l, struct decl *pool, struct init_values *init)
{
	lower_var(l, pool->cells, NULL, init);
	struct ir_var v = pool_cells(l, pool);
	avec_push(l->arena, &l->b.vars, v);
	for (uint32_t i = 0; i < v.len; i++)
		avec_push(l->arena, &init->v, IR_CELL_FRESH);
}

static void lower_object(struct lower *l, struct decl *o, struct init_values *init)
{
	assert(o->kind == D_OBJECT && o->spec_type && o->spec_type->min <= o->spec_type->max);
	const struct type_ref *ty = o->spec_type;
	struct ir_object obj = {
		.name = intern_str(l->names, o->name),
		.spec = IR_SPEC_REGISTER,
		.value = value_kind(ty),
		.enum_id = ty->enum_decl ? ty->enum_decl->id : 0,
		.lo = ty->min,
		.hi = ty->max,
		.init = (int32_t)o->value,
		.span = o->name_span,
	};
	o->id = l->b.objects.len;
	avec_push(l->arena, &l->b.objects, obj);
	for (struct decl *f = o->fields; f; f = f->next)
		lower_var(l, f, o, init);
}

static void lower_enums_of(struct lower *l, struct type_ref *ty)
{
	if (ty && ty->enum_def)
		lower_enum(l, ty->enum_def);
	if (ty && ty->of)
		lower_enums_of(l, ty->of);
	for (struct decl *f = ty && ty->struct_def ? ty->struct_def->fields : NULL; f; f = f->next)
		lower_enums_of(l, f->type);
}

/* Enums get their ids before anything refers to them. */
static void lower_enums(struct lower *l)
{
	assert(!l->b.enums.len);
	for (struct decl *d = l->u->decls; d; d = d->next) {
		if (d->kind == D_ENUM)
			lower_enum(l, d);
		if (d->kind != D_VAR || d->first_of_group)
			lower_enums_of(l, d->type);
		lower_enums_of(l, d->result);
		lower_enums_of(l, d->spec_type);
		for (struct decl *p = d->params; p; p = p->next)
			lower_enums_of(l, p->type);
		for (struct decl *p = d->fields; p; p = p->next)
			if (p->first_of_group)
				lower_enums_of(l, p->type);
		for (struct decl *m = d->methods; m; m = m->next) {
			lower_enums_of(l, m->result);
			for (struct decl *p = m->params; p; p = p->next)
				lower_enums_of(l, p->type);
		}
	}
}

/* ---- threads ------------------------------------------------------------ */

static uint32_t thread_count(struct lower *l, struct decl *t, bool *any)
{
	assert(t->value >= 0 && t->value <= UINT32_MAX);
	uint32_t n = (uint32_t)t->value;
	*any = false;
	for (uint32_t i = 0; l->opts && i < l->opts->nthreads; i++)
		if (!strcmp(l->opts->threads[i].name, intern_str(l->names, t->name))) {
			uint32_t asked = l->opts->threads[i].count;
			*any = l->opts->threads[i].any || !asked;
			n = asked ? asked : n;
		}
	return n;
}

/* Of the whole program, up to what ir_finish accepts. */
static uint32_t all_threads(struct lower *l)
{
	uint64_t n = 0;
	bool any;
	for (struct decl *t = l->u->decls; t; t = t->next)
		if (t->kind == D_THREAD)
			n += thread_count(l, t, &any);
	return n < IR_MAX_THREADS ? (uint32_t)n : IR_MAX_THREADS;
}

static void check_thread_names(struct lower *l)
{
	for (uint32_t i = 0; l->opts && i < l->opts->nthreads; i++) {
		const char *name = l->opts->threads[i].name;
		const char *known[64];
		int n = 0;
		bool found = false;
		for (struct decl *t = l->u->decls; t; t = t->next)
			if (t->kind == D_THREAD) {
				const char *k = intern_str(l->names, t->name);
				found |= !strcmp(k, name);
				if (n < 64)
					known[n++] = k;
			}
		if (found)
			continue;
		diag_error(l->d, "unknown-thread", NULL, (struct span){ 0, 0 }, "--threads: the model has no thread '%s'", name);
		int best = nearest_name(name, known, n);
		if (best >= 0)
			diag_hint(l->d, "did you mean '%s'?", known[best]);
	}
}

static bool lower_thread(struct lower *l, struct decl *t)
{
	assert(t->kind == D_THREAD && !l->inl && !l->loop && !l->in_step);
	struct inline_ctx ctx = { .proc = t, .call = t->name_span };
	bool any;
	uint32_t count = thread_count(l, t, &any);
	ir_template_begin(&l->b, intern_str(l->names, t->name), t->name_span, count);
	l->b.templates.data[l->b.tmpl].any_count = any;
	l->b.templates.data[l->b.tmpl].declared = (uint32_t)t->value;
	l->inl = &ctx;
	l->loop = NULL;
	l->in_step = 0;
	l->stmt = t->name_span;
	ctx.end_label = ir_label(&l->b);
	stop(l, IRN_START);
	sync_begin_thread(l);
	for (struct decl *d = l->u->decls; d; d = d->next)
		if (d->kind == D_VAR && d->is_thread_local && !l->b.error)
			lower_local(l, d, t->name_span);
	lower_stmt(l, t->body);
	ir_place(&l->b, ctx.end_label);
	l->b.block = IR_NONE;
	l->stmt = t->name_span;
	stop(l, IRN_END);
	l->inl = NULL; /* it is this function's */
	if (l->failed)
		return false;
	if (ir_template_end(&l->b)) {
		lower_ghost_steps(l);
		return true;
	}
	struct span at = l->b.error_at.end ? l->b.error_at : t->name_span;
	diag_error(l->d, "too-large", l->u->src, at, "%s", l->b.error);
	return false;
}

/* ---- warnings that need the program ------------------------------------- */

static void warn_no_access(struct lower *l, struct span at)
{
	diag_warn(l->d, "no-shared-access", l->u->src, at, "the block touches nothing shared, so nothing can interfere with it");
	diag_hint(l->d, "%s",
	          l->u->sml ? "names that begin with a lower-case letter are local"
	                    : "is a shared variable shadowed by a local of the same name?");
}

static void warn_blocks(struct lower *l, const struct ir *p)
{
	assert(p->nblocks == l->b.blocks.len);
	uint32_t *accesses = arena_array(l->arena, uint32_t, p->nblocks + 1);
	bool *entered = arena_array(l->arena, bool, p->nblocks + 1);
	for (uint32_t i = 0; i < p->nnodes; i++) {
		const struct ir_node *n = &p->nodes[i];
		if (n->kind == IRN_ENTER)
			entered[p->code[n->ins + 1].a] = true;
		if (n->block != IR_NONE)
			accesses[n->block] += n->naccess;
	}
	for (uint32_t i = 0; i < p->nblocks; i++) {
		if (!entered[i] && !diag_is_at(l->d, "dead-code", p->blocks[i].span.start))
			diag_warn(l->d, "dead-code", l->u->src, p->blocks[i].span, "this block can never be reached");
		else if (entered[i] && !accesses[i])
			warn_no_access(l, p->blocks[i].span);
	}
}

static void warn_spins(struct lower *l, const struct ir *p)
{
	assert(p->ncode == l->b.code.len);
	for (uint32_t i = 0; i < p->ncode; i++)
		if (p->code[i].op == IR_STUCK && (p->code[i].imm & IR_IMM_B) && !p->code[i].b)
			diag_warn(l->d, "endless-loop", l->u->src, p->nodes[p->code[i].a].span,
			          "the thread waits here forever: the loop reads no shared variable, so no other "
			          "thread can end it");
}

const struct ir *lower(struct unit *u, struct intern *names, struct arena *a, struct diags *d, const struct lang_options *o)
{
	assert(u && names && !d->errors);
	struct lower l = { .u = u, .names = names, .arena = a, .d = d, .opts = o };
	struct init_values init = { { 0 } };
	ir_builder_init(&l.b, a, o && o->keep_dead);
	l.b.alone1 = o ? o->alone1 : 0;
	avec_push(a, &l.local_reg, 0u); /* id 0: not declared yet */
	struct binding nothing = { 0 };
	avec_push(a, &l.refs, nothing);
	check_thread_names(&l);
	lower_enums(&l);
	l.threads = all_threads(&l);
	for (struct decl *x = u->decls; x; x = x->next) {
		if (x->kind == D_VAR && x->is_shared)
			lower_var(&l, x, NULL, &init);
		else if (x->kind == D_ENUM && x->is_pool)
			lower_pool(&l, x, &init);
		else if (x->kind == D_OBJECT)
			lower_object(&l, x, &init);
	}
	for (struct decl *x = u->decls; x; x = x->next)
		if (x->kind == D_THREAD && !lower_thread(&l, x))
			return NULL;
	lower_properties(&l);
	if (d->errors)
		return NULL;
	const struct ir *p = ir_finish(&l.b, u->src, u->sml, init.v.data);
	if (!p) {
		diag_error(d, "too-large", u->src, l.b.error_at, "%s", l.b.error);
		return NULL;
	}
	warn_blocks(&l, p);
	warn_spins(&l, p);
	assert(p->src == u->src);
	return p;
}
