#include "lsp/protection.h"

#include <stdlib.h>

#include "base/invariant.h"
#include "reduce/flow.h"

enum { MAX_NODES = 200000 }; /* of a program that is looked at while an editor waits */

static int by_place(const void *pa, const void *pb)
{
	const struct protected_access *a = pa, *b = pb;
	if (a->span.start != b->span.start)
		return a->span.start < b->span.start ? -1 : 1;
	return a->span.end < b->span.end ? -1 : a->span.end > b->span.end;
}

/* Accesses at one place are one: what is held by all that come there. */
static void merge(struct protection *out)
{
	uint32_t n = 0;
	struct protected_access *list = out->accesses.data;
	if (out->accesses.len)
		qsort(list, out->accesses.len, sizeof *list, by_place);
	for (uint32_t i = 0; i < out->accesses.len; i++) {
		if (!n || by_place(&list[n - 1], &list[i])) {
			list[n++] = list[i];
			continue;
		}
		struct protected_access *a = &list[n - 1];
		a->modes |= list[i].modes;
		a->set = held_locks_meet(&out->flow->sets, a->set, list[i].set);
		if (a->threads != list[i].threads)
			a->threads = IR_NONE;
	}
	out->accesses.len = n;
}

static void collect(struct protection *out, const struct ir *p, uint32_t var, struct arena *a)
{
	for (uint32_t t = 0; t < p->ntemplates; t++)
		for (uint32_t n = p->templates[t].node; n < p->templates[t].node + p->templates[t].nnode; n++) {
			const struct ir_node *node = &p->nodes[n];
			if (out->flow->set[n] == FLOW_UNREACHED)
				continue;
			for (uint32_t k = node->access; k < node->access + node->naccess; k++) {
				struct protected_access x = { p->spans[p->accesses[k].ins], p->accesses[k].mode, out->flow->set[n],
					                      t };
				if (p->accesses[k].var == var)
					avec_push(a, &out->accesses, x);
			}
		}
}

bool protection_find(struct protection *out, const struct ir *p, uint32_t var, struct arena *a)
{
	assert(var < p->nvars);
	*out = (struct protection){ .thread = IR_NONE };
	if (p->nnodes > MAX_NODES)
		return false;
	out->flow = arena_new(a, struct flow);
	flow_run(out->flow, p, a);
	collect(out, p, var, a);
	merge(out);
	for (uint32_t i = 0; i < out->accesses.len; i++) {
		const struct protected_access *x = &out->accesses.data[i];
		out->common = i ? held_locks_meet(&out->flow->sets, out->common, x->set) : x->set;
		out->thread = i && out->thread != x->threads ? IR_NONE : x->threads;
		out->written |= (x->modes & (IRA_WRITE | IRA_WRITE_INV | IRA_WRITE_RESP)) != 0;
	}
	if (out->thread != IR_NONE && p->templates[out->thread].count != 1)
		out->thread = IR_NONE;
	return true;
}

void protection_locks(const struct protection *pr, uint32_t set, struct buf *out)
{
	const struct ir *p = pr->flow->ir;
	assert(set < pr->flow->sets.sets.len);
	uint32_t n;
	const uint32_t *members = held_locks_members(&pr->flow->sets, set, &n);
	if (!n)
		buf_str(out, "no lock");
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t v = 0; v < p->nvars; v++) {
			const struct ir_var *var = &p->vars[v];
			if (members[i] < var->slot || members[i] - var->slot >= var->len)
				continue;
			buf_str(out, i ? ", `" : "`");
			ir_print_element(var, members[i] - var->slot, "", out);
			buf_char(out, '`');
		}
}
