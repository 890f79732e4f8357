/*
 * lower_control: for, do and switch. Each is what its spelling with while, if and break would be: no step of its own, only
 * the steps of its conditions and statements.
 */
#include "base/invariant.h"
#include "lang/lower.h"

void lower_for(struct lower *l, struct stmt *s)
{
	assert(s->kind == S_FOR);
	uint32_t head = ir_label(&l->b), again = ir_label(&l->b), end = ir_label(&l->b), scope = l->b.scope;
	for (struct stmt *i = s->init; i; i = i->next)
		lower_stmt(l, i);
	ir_place(&l->b, head);
	if (s->value)
		lower_test(l, s, end);
	lower_loop_body(l, s, again, end);
	ir_place(&l->b, again);
	for (struct stmt *i = s->advance; i; i = i->next)
		lower_stmt(l, i);
	jmp(l, head, s->head);
	ir_place(&l->b, end);
	l->b.scope = scope;
}

void lower_do(struct lower *l, struct stmt *s)
{
	assert(s->kind == S_DO && s->value);
	uint32_t head = ir_label(&l->b), again = ir_label(&l->b), end = ir_label(&l->b);
	ir_place(&l->b, head);
	lower_loop_body(l, s, again, end);
	ir_place(&l->b, again);
	l->stmt = (struct span){ s->tail.start, s->span.end };
	lower_branch(l, s->value, head, true);
	ir_place(&l->b, end);
}

/* Jumps to the label of the case with this value. When every value of the type has one, the last needs no test. */
static void lower_labels(struct lower *l, struct stmt *s, struct val v, const uint32_t *labels, uint32_t end)
{
	uint32_t same = ir_reg(&l->b, 0, 1, false), otherwise = end, n = 0;
	for (struct stmt *c = s->body; c; c = c->next, n++) {
		bool last = s->exhaustive && !c->next;
		if (c->is_default || last)
			otherwise = labels[n];
		if (c->is_default || last)
			continue; /* its values go there anyhow */
		for (struct expr *e = c->labels; e; e = e->next) {
			emit3(l, IR_EQ, same, v, imm(e->value), e->span);
			emit2(l, IR_JNZ, labels[n], reg(same), e->span);
		}
	}
	jmp(l, otherwise, s->head);
}

void lower_switch(struct lower *l, struct stmt *s)
{
	assert(s->kind == S_SWITCH && s->body);
	uint32_t end = ir_label(&l->b), n = 0, mark = l->b.top;
	for (struct stmt *c = s->body; c; c = c->next)
		n++;
	uint32_t *labels = arena_array(l->arena, uint32_t, n);
	for (uint32_t i = 0; i < n; i++)
		labels[i] = ir_label(&l->b);
	l->stmt = (struct span){ s->head.start, s->tail.start };
	while (l->stmt.end > s->value->span.end && l->u->src->text[l->stmt.end - 1] != ')')
		l->stmt.end--;
	lower_labels(l, s, lower_expr(l, s->value), labels, end);
	l->b.top = mark;
	bool inside = l->b.block != IR_NONE;
	struct loop_ctx ctx = { end, l->loop ? l->loop->continue_label : end, inside, l->loop ? l->loop->continue_in_block : inside,
		                l->loop };
	l->loop = &ctx;
	n = 0;
	for (struct stmt *c = s->body; c; c = c->next) {
		ir_place(&l->b, labels[n++]);
		lower_list(l, c->body);
		if (c->next)
			jmp(l, end, s->head);
	}
	l->loop = ctx.outer;
	ir_place(&l->b, end);
}
