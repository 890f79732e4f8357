#include "ir/build.h"

#include <string.h>

#include "base/invariant.h"

void ir_builder_init(struct ir_builder *b, struct arena *a, bool keep_dead)
{
	memset(b, 0, sizeof *b);
	b->arena = a;
	b->keep_dead = keep_dead;
	b->scope = b->block = b->oper = IR_NONE;
}

static void fail(struct ir_builder *b, struct span at, const char *why)
{
	if (!b->error) {
		b->error = why;
		b->error_at = at;
	}
}

/* ---- a template --------------------------------------------------------- */

uint32_t ir_template_begin(struct ir_builder *b, const char *name, struct span span, uint32_t count)
{
	assert(b->code.len == b->spans.len && b->code.len == b->inside.len);
	assert(!b->templates.len || b->templates.data[b->tmpl].ncode || b->error); /* the last one was ended */
	struct ir_template t = {
		.name = name, .span = span, .count = count, .entry = IR_NONE, .node = b->nodes.len, .code = b->code.len
	};
	avec_push(b->arena, &b->templates, t);
	b->tmpl = b->templates.len - 1;
	b->code0 = b->code.len;
	b->node0 = b->nodes.len;
	b->block0 = b->blocks.len;
	b->scope0 = b->scopes.len;
	b->local0 = b->locals.len;
	b->labels.len = 0;
	b->stack_regs.len = b->array_regs.len = b->pinned_regs.len = 0;
	b->top = 1;
	b->scope = b->block = b->oper = IR_NONE;
	struct vreg_info node = { 0 };
	avec_push(b->arena, &b->stack_regs, node); /* register 0 is the node */
	assert(b->stack_regs.len == 1 && b->top == 1);
	return b->tmpl;
}

uint32_t ir_label(struct ir_builder *b)
{
	avec_push(b->arena, &b->labels, IR_NONE);
	return b->labels.len - 1;
}

void ir_place(struct ir_builder *b, uint32_t label)
{
	assert(label < b->labels.len && b->labels.data[label] == IR_NONE); /* placed once */
	b->labels.data[label] = b->code.len;
}

uint32_t ir_emit(struct ir_builder *b, struct ir_ins ins, struct span at)
{
	assert(ins.op < IR_OP_COUNT && !(ins.imm & ~(IR_IMM_B | IR_IMM_C)));
	assert(!ir_is_jump(ins.op) || (uint32_t)ins.a < b->labels.len);
	assert(b->block == IR_NONE || (b->block >= b->block0 && b->block < b->blocks.len));
	assert(b->oper == IR_NONE || b->oper < b->opers.len);
	if (b->code.len >= IR_MAX_CODE) {
		fail(b, at, "the program is too large after inlining");
		return b->code.len - 1;
	}
	avec_push(b->arena, &b->code, ins);
	avec_push(b->arena, &b->spans, at);
	struct ir_inside in = { b->block, b->oper };
	avec_push(b->arena, &b->inside, in);
	return b->code.len - 1;
}

uint32_t ir_stop(struct ir_builder *b, struct ir_node node, struct span at)
{
	uint32_t id = ir_stuck_node(b, node);
	b->nodes.data[id].ins = ir_emit(b, (struct ir_ins){ .op = IR_STOP, .a = (int32_t)id }, at);
	return id;
}

uint32_t ir_stuck_node(struct ir_builder *b, struct ir_node node)
{
	assert(b->nodes.len >= b->node0 && (b->scope == IR_NONE || b->scope < b->scopes.len));
	node.ins = IR_NONE;
	node.scope = b->scope;
	node.block = b->block;
	node.oper = b->oper;
	avec_push(b->arena, &b->nodes, node);
	return b->nodes.len - 1;
}

/* ---- registers ---------------------------------------------------------- */

static void widen(struct vreg_info *v, int32_t lo, int32_t hi)
{
	assert(lo <= hi && v->lo <= 0 && v->hi >= 0);
	if (lo < v->lo)
		v->lo = lo;
	if (hi > v->hi)
		v->hi = hi;
}

uint32_t ir_reg(struct ir_builder *b, int32_t lo, int32_t hi, bool named)
{
	assert(b->top >= 1 && b->top <= b->stack_regs.len); /* a stack: one further at most */
	uint32_t r = b->top++;
	if (r >= IR_MAX_REGS) {
		fail(b, (struct span){ 0, 0 }, "too many local values at once");
		b->top = r = IR_MAX_REGS - 1;
	}
	if (r >= b->stack_regs.len) {
		struct vreg_info v = { 0 };
		avec_push(b->arena, &b->stack_regs, v);
	}
	widen(&b->stack_regs.data[r], lo, hi);
	b->stack_regs.data[r].named |= named;
	return r;
}

uint32_t ir_array_reg(struct ir_builder *b, uint32_t len, int32_t lo, int32_t hi)
{
	assert(len >= 1 && b->array_regs.len < VREG_PINNED - VREG_ARRAY);
	uint32_t first = b->array_regs.len;
	if (len > IR_MAX_SLOTS || first + len > IR_MAX_SLOTS) {
		fail(b, (struct span){ 0, 0 }, "a thread's local arrays have too many elements (at most 4096 together)");
		len = 1;
	}
	for (uint32_t i = 0; i < len; i++) {
		struct vreg_info v = { .named = true };
		widen(&v, lo, hi);
		avec_push(b->arena, &b->array_regs, v);
	}
	return VREG_ARRAY + first;
}

uint32_t ir_lock_reg(struct ir_builder *b, uint32_t var)
{
	assert(var < b->vars.len && b->vars.data[var].kind == IRV_LOCK);
	for (uint32_t i = 0; i < b->pinned_regs.len; i++)
		if (b->pinned_regs.data[i].is_lock && b->pinned_regs.data[i].var == var)
			return VREG_PINNED + i;
	uint32_t first = b->pinned_regs.len;
	for (uint32_t i = 0; i < b->vars.data[var].len; i++) {
		struct vreg_info v = { .hi = 1, .var = var, .elem = i, .is_lock = true };
		avec_push(b->arena, &b->pinned_regs, v);
	}
	return VREG_PINNED + first;
}

uint32_t ir_pinned_reg(struct ir_builder *b)
{
	struct vreg_info v = { .hi = 1, .var = IR_NONE };
	avec_push(b->arena, &b->pinned_regs, v);
	return VREG_PINNED + b->pinned_regs.len - 1;
}

/* ---- finishing a template ----------------------------------------------- */

static void resolve_labels(struct ir_builder *b)
{
	for (uint32_t i = b->code0; i < b->code.len; i++)
		if (ir_is_jump(b->code.data[i].op)) {
			b->code.data[i].a = (int32_t)b->labels.data[b->code.data[i].a];
			assert((uint32_t)b->code.data[i].a >= b->code0 && (uint32_t)b->code.data[i].a < b->code.len);
		}
}

bool ir_template_end(struct ir_builder *b)
{
	if (b->error)
		return false;
	resolve_labels(b);
	ir_pass_endless(b);
	ir_pass_reach(b);
	ir_pass_live(b);
	if (b->error)
		return false;
	ir_pass_footprint(b);
	struct ir_template *t = &b->templates.data[b->tmpl];
	t->nnode = b->nodes.len - t->node;
	t->ncode = b->code.len - t->code;
	assert(t->nnode && t->ncode && t->entry >= t->node && t->entry < b->nodes.len);
	assert(t->nslots >= 1 && t->nslots <= t->nregs && b->slots.len == t->slot + t->nslots);
	return true;
}

/* ---- the whole program -------------------------------------------------- */

/* Threads of templates that touch the register get a record each. */
static void lay_out_register(struct ir *p, struct ir_var *v, uint32_t var, struct arena *a)
{
	assert(v == &p->vars[var] && v->lo <= v->hi);
	uint32_t *rank = arena_array(a, uint32_t, p->nthreads), n = 0;
	bool *uses = arena_array(a, bool, p->ntemplates);
	for (uint32_t t = 0; t < p->ntemplates; t++) {
		const struct ir_template *tm = &p->templates[t];
		for (uint32_t i = 0; i < tm->nnode && !uses[t]; i++) {
			const struct ir_node *nd = &p->nodes[tm->node + i];
			for (uint32_t k = 0; k < nd->naccess; k++)
				uses[t] |= p->accesses[nd->access + k].var == var;
		}
		if (uses[t])
			p->templates[t].names_threads = true;
	}
	for (uint32_t i = 0; i < p->nthreads; i++)
		rank[i] = uses[p->threads[i].tmpl] ? n++ : IR_NONE;
	uint64_t values = (uint64_t)((int64_t)v->hi - v->lo + 1);
	v->rank = rank;
	v->aux_record = v->kind == IRV_SAFE ? 1 : 1 + (uint32_t)((values + 30) / 31);
	v->aux_stride = 1 + n * v->aux_record;
	assert(n <= p->nthreads && v->aux_record >= 1 && (v->aux_stride - 1) / v->aux_record == n);
}

static bool too_large(struct ir_builder *b, struct span at, const char *why)
{
	fail(b, at, why);
	return false;
}

static bool lay_out_globals(struct ir *p, struct ir_builder *b)
{
	struct arena *a = b->arena;
	uint64_t at = 0;
	for (uint32_t i = 0; i < p->nvars; i++) {
		p->vars[i].slot = (uint32_t)at;
		assert(p->vars[i].len >= 1 && p->vars[i].lo <= p->vars[i].hi);
		at += p->vars[i].len;
		if (at > IR_MAX_GLOBALS)
			return too_large(b, p->vars[i].span, "the shared variables are too large");
	}
	for (uint32_t i = 0; i < p->nvars; i++) {
		struct ir_var *v = &p->vars[i];
		if (v->kind != IRV_SAFE && v->kind != IRV_REGULAR)
			continue;
		lay_out_register(p, v, i, a);
		v->aux = (uint32_t)at;
		at += (uint64_t)v->len * v->aux_stride;
		if (at > IR_MAX_GLOBALS)
			return too_large(b, v->span,
			                 "the safe and regular variables are too "
			                 "large for this many threads");
	}
	assert(at <= IR_MAX_GLOBALS);
	p->nglobals = (uint32_t)at;
	return true;
}

static bool make_threads(struct ir *p, struct ir_builder *b)
{
	struct arena *a = b->arena;
	uint64_t n = 0;
	for (uint32_t t = 0; t < p->ntemplates; t++) {
		p->templates[t].first_thread = (uint32_t)n;
		n += p->templates[t].count;
		if (n > IR_MAX_THREADS)
			return too_large(b, p->templates[t].span, "the model has too many threads");
	}
	p->nthreads = (uint32_t)n;
	p->threads = arena_array(a, struct ir_thread, n);
	for (uint32_t t = 0, i = 0; t < p->ntemplates; t++)
		for (uint32_t k = 0; k < p->templates[t].count; k++, i++) {
			p->threads[i].tmpl = t;
			p->threads[i].index = k + 1;
			assert(i == p->templates[t].first_thread + k);
		}
	return true;
}

static bool lay_out_frames(struct ir *p, struct ir_builder *b)
{
	uint64_t at = p->nglobals;
	for (uint32_t i = 0; i < p->nthreads; i++) {
		p->threads[i].frame = (uint32_t)at;
		at += p->templates[p->threads[i].tmpl].nslots;
		if (at > 1u << 28)
			return too_large(b, p->templates[p->threads[i].tmpl].span,
			                 "the threads' local values are too large together");
	}
	assert(at >= p->nglobals + (uint64_t)p->nthreads);
	p->nstate = (uint32_t)at;
	return true;
}

/*
 * Local computation before a thread's first access belongs to the initial
 * state: it is run here, unless it makes a choice or goes wrong; then it
 * stays a step (IRN_START) that every engine sees.
 */
static void start_thread(const struct ir *p, uint32_t thread, int32_t *s)
{
	assert(thread < p->nthreads);
	struct ir_choices ch = { 0 };
	int32_t *f = s + p->threads[thread].frame, was = f[0];
	if (p->nodes[was].kind != IRN_START)
		return;
	if (ir_exec(p, thread, s, f, &ch, NULL) != IR_OK || ch.n) {
		memset(f, 0, p->templates[p->threads[thread].tmpl].nslots * sizeof *f);
		f[0] = was;
	}
}

static const int32_t *initial_state(const struct ir *p, struct arena *a, const int32_t *init)
{
	int32_t *s = arena_array(a, int32_t, p->nstate);
	uint32_t k = 0;
	for (uint32_t i = 0; i < p->nvars; i++)
		for (uint32_t j = 0; j < p->vars[i].len; j++)
			s[p->vars[i].slot + j] = init[k++];
	for (uint32_t i = 0; i < p->nthreads; i++) {
		s[p->threads[i].frame] = (int32_t)p->templates[p->threads[i].tmpl].entry;
		start_thread(p, i, s);
	}
	return s;
}

const struct ir *ir_finish(struct ir_builder *b, const struct source *src, bool sml, const int32_t *init)
{
	assert(!b->error && b->code.len == b->spans.len && b->code.len == b->inside.len);
	struct ir *p = arena_new(b->arena, struct ir);
	p->src = src;
	p->sml = sml;
	p->keep_dead = b->keep_dead;
	p->alone1 = b->alone1;
	p->fixed_counts = b->fixed_counts;
#define TAKE(field, count) (p->field = b->field.data, p->count = b->field.len)
	TAKE(vars, nvars);
	TAKE(enums, nenums);
	TAKE(templates, ntemplates);
	TAKE(blocks, nblocks);
	TAKE(objects, nobjects);
	TAKE(opers, nopers);
	TAKE(nodes, nnodes);
	TAKE(code, ncode);
	TAKE(accesses, naccesses);
	TAKE(succs, nsuccs);
	TAKE(kills, nkills);
	TAKE(scopes, nscopes);
	TAKE(slots, nslots);
	TAKE(properties, nproperties);
	TAKE(terms, nterms);
	TAKE(pools, npools);
#undef TAKE
	p->spans = b->spans.data;
	if (!p->kills)
		p->kills = arena_array(b->arena, uint32_t, 1); /* never a null pointer */
	p->locals = arena_array(b->arena, struct ir_local, b->locals.len);
	p->nlocals = b->locals.len;
	for (uint32_t i = 0; i < b->locals.len; i++)
		p->locals[i] = b->locals.data[i].l;
	if (!make_threads(p, b) || !lay_out_globals(p, b) || !lay_out_frames(p, b))
		return NULL;
	p->init = initial_state(p, b->arena, init);
	assert(p->nstate >= p->nglobals && p->nthreads <= IR_MAX_THREADS && p->nglobals <= IR_MAX_GLOBALS);
	PARANOID(!ir_validate(p, b->arena) && ir_state_valid(p, p->init));
	return p;
}
