/*
 * promela: see promela.h.
 *
 * A node is a label; END nodes have an end label, so that SPIN's invalid end
 * states are deadlocks. promela_put.h has the names.
 */
#include "report/promela.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "report/promela_put.h"

#define MAX_PROCESSES 255u /* SPIN's */

/* ---- a node ------------------------------------------------------------- */

static void put_label(const struct pml *m, uint32_t node)
{
	assert(node < m->p->nnodes);
	buf_printf(m->out, m->p->nodes[node].kind == IRN_END ? "end_N%u" : "N%u", node);
}

/* A choice that `assume` forbade: counts only when nothing else is enabled. */
static bool is_forbidden(const struct path *path)
{
	return path->end == PATH_STUCK && path->nchoices > 0;
}

static void put_guard(const struct pml *m, uint32_t which)
{
	assert(which < m->x.n);
	const struct path *path = &m->x.list[which];
	pml_conds(m, path);
	for (uint32_t k = 0; is_forbidden(path) && k < m->x.n; k++) {
		if (is_forbidden(&m->x.list[k]) && k >= which)
			continue;
		buf_str(m->out, " && !(");
		pml_conds(m, &m->x.list[k]);
		buf_char(m->out, ')');
	}
}

static bool put_step(struct pml *m, uint32_t node, uint32_t which)
{
	assert(which < m->x.n);
	const struct path *path = &m->x.list[which];
	buf_str(m->out, "\t:: d_step { ");
	put_guard(m, which);
	buf_str(m->out, " -> ");
	if (path->end == PATH_FAULT) {
		pml_fault(m, path);
		buf_str(m->out, " }; goto wrong\n");
		return true;
	}
	if (!pml_code(m, path))
		return false;
	if (m->instrumented)
		pml_instrument(m, node, path);
	/* a d_step must have something to do after its guard */
	buf_str(m->out, "skip }; goto ");
	put_label(m, path->node);
	buf_char(m->out, '\n');
	return true;
}

static void put_node_comment(const struct pml *m, uint32_t node)
{
	struct buf text;
	buf_init(&text);
	ir_print_node(m->p, node, &text);
	buf_printf(m->out, "\t/* line %u: ", source_line_of(m->p->src, m->p->nodes[node].span.start));
	pml_comment(m, buf_cstr(&text));
	buf_str(m->out, " */\n");
	buf_free(&text);
}

static bool put_node(struct pml *m, uint32_t node)
{
	assert(node >= m->t->node && node < m->t->node + m->t->nnode);
	if (!paths_of(&m->x, m->tmpl, node))
		return false;
	put_label(m, node);
	buf_char(m->out, ':');
	put_node_comment(m, node);
	if (!m->x.n) {
		buf_str(m->out, "\tfalse;\n");
		return true;
	}
	buf_str(m->out, "\tif\n");
	for (uint32_t k = 0; k < m->x.n; k++)
		if (!put_step(m, node, k))
			return false;
	buf_str(m->out, "\tfi;\n");
	return true;
}

/* ---- declarations ------------------------------------------------------- */

static const char *type_for(int64_t lo, int64_t hi)
{
	assert(lo <= hi);
	if (lo >= 0 && hi <= 1)
		return "bool";
	if (lo >= 0 && hi <= 255)
		return "byte";
	return lo >= -32768 && hi <= 32767 ? "short" : "int";
}

static void put_globals(struct pml *m)
{
	const struct ir *p = m->p;
	for (uint32_t k = 0; k < p->nvars * (m->instrumented ? 2u : 1u); k++) {
		const struct ir_var *v = &p->vars[k % p->nvars];
		const int32_t *init = p->init + v->slot;
		bool same = true;
		m->shadow = k >= p->nvars;
		for (uint32_t i = 1; i < v->len; i++)
			same &= init[i] == init[0];
		buf_printf(m->out, "%s ", type_for(v->lo, v->hi));
		pml_var(m, v);
		if (v->is_array)
			buf_printf(m->out, "[%u]", v->len);
		buf_str(m->out, " = ");
		for (uint32_t i = 0; i < v->len && (!i || !same); i++) {
			buf_str(m->out, i ? ", " : same ? "" : "{ ");
			pml_const(m->out, init[i]);
		}
		buf_str(m->out, same ? ";\n" : " };\n");
	}
	m->shadow = false;
	if (m->instrumented)
		buf_str(m->out, "short n_in = 0, n_diff = 0;\nhidden byte start, kp;\nhidden int fuel;\n");
}

/* Marks the registers that are indexed as arrays. */
static void find_arrays(struct pml *m)
{
	const struct ir_template *t = m->t;
	memset(m->join, 0, (IR_MAX_REGS + 1) * sizeof *m->join);
	for (uint32_t k = t->code; k < t->code + t->ncode; k++) {
		const struct ir_ins *i = &m->p->code[k];
		int32_t base = 0, len = 0;
		if (i->imm & IR_IMM_C)
			continue;
		if (i->op == IR_LGET || i->op == IR_LSET) {
			base = i->op == IR_LGET ? i->b : i->a;
			len = i->d;
		} else if (i->op == IR_ACQ || i->op == IR_REL) {
			base = i->d;
			len = (int32_t)m->p->vars[i->a].len;
		}
		for (int32_t r = base; r + 1 < base + len; r++)
			m->join[r] = true;
	}
}

static void use_template(struct pml *m, uint32_t t)
{
	assert(t < m->p->ntemplates);
	m->tmpl = t;
	m->t = &m->p->templates[t];
	find_arrays(m);
}

static void put_frame(struct pml *m)
{
	const struct ir *p = m->p;
	const int32_t *init = p->init + p->threads[m->t->first_thread].frame;
	for (int side = 0; side < (m->instrumented ? 2 : 1); side++) {
		m->shadow = side;
		for (uint32_t r = 1, n, first; r < m->t->nslots; r += n) {
			int64_t lo = 0, hi = 0;
			n = pml_array_of(m, r, &first);
			for (uint32_t i = r; i < r + n; i++) {
				bool slot = i < m->t->nslots;
				int64_t l = slot ? p->slots[m->t->slot + i].lo : INT32_MIN;
				int64_t h = slot ? p->slots[m->t->slot + i].hi : INT32_MAX;
				lo = l < lo ? l : lo;
				hi = h > hi ? h : hi;
			}
			buf_printf(m->out, "\t%s %s", type_for(lo, hi), side ? "h" : "s");
			if (n == 1) {
				buf_printf(m->out, "%u = ", r);
				pml_const(m->out, init[r]);
				buf_str(m->out, ";\n");
				continue;
			}
			buf_printf(m->out, "a%u[%u] = { ", r, n);
			for (uint32_t i = r; i < r + n; i++) {
				buf_str(m->out, i > r ? ", " : "");
				pml_const(m->out, i < m->t->nslots ? init[i] : 0);
			}
			buf_str(m->out, " };\n");
		}
	}
	m->shadow = false;
	if (m->instrumented)
		pml_shadow_frame(m, init[0]);
}

/* Scratch is shared by all: a step leaves nothing in it. */
static bool put_scratch(struct pml *m)
{
	bool *seen = calloc(IR_MAX_REGS + 1, sizeof *seen);
	if (!seen)
		return false;
	buf_str(m->out, "hidden int r0;\n");
	for (uint32_t t = 0; t < m->p->ntemplates; t++) {
		use_template(m, t);
		for (uint32_t r = 1, n, first; r < m->t->nregs; r += n) {
			n = pml_array_of(m, r, &first);
			if (pml_is_state(m, r))
				continue;
			if (n > 1)
				buf_printf(m->out, "hidden int ra%u_%u[%u];\n", t, r, n);
			else if (!seen[r])
				buf_printf(m->out, "hidden int r%u;\n", r);
			seen[r] |= n == 1;
		}
	}
	free(seen);
	buf_char(m->out, '\n');
	return true;
}

static bool put_template(struct pml *m)
{
	assert(m->t->count);
	uint32_t first = (uint32_t)m->p->init[m->p->threads[m->t->first_thread].frame];
	if (m->instrumented && !pml_shadow(m))
		return false;
	buf_printf(m->out, "active [%u] proctype t_%s() {\n", m->t->count, m->t->name);
	put_frame(m);
	/* SPIN starts at the first statement: that of the node threads begin at */
	bool ok = put_node(m, first);
	for (uint32_t n = m->t->node; ok && n < m->t->node + m->t->nnode; n++)
		if (n != first)
			ok = put_node(m, n);
	buf_str(m->out, "wrong:\tfalse\n}\n\n");
	return ok;
}

/* ---- the whole ---------------------------------------------------------- */

/* What SPIN cannot be told; false after a message. */
static bool exportable(const struct ir *p, struct diags *d)
{
	for (uint32_t v = 0; v < p->nvars; v++)
		if (p->vars[v].kind == IRV_SAFE || p->vars[v].kind == IRV_REGULAR) {
			diag_error(d, "not-exported", p->src, p->vars[v].span,
			           "safe and regular variables are not exported to Promela");
			return false;
		}
	if (p->nobjects) {
		diag_error(d, "not-exported", p->src, p->objects[0].span,
		           "objects are not exported to Promela: SPIN cannot judge histories");
		return false;
	}
	if (p->nthreads > MAX_PROCESSES) {
		diag_error(d, "not-exported", p->src, p->templates[0].span, "%u threads: SPIN runs at most %u processes",
		           p->nthreads, MAX_PROCESSES);
		diag_hint(d, "--threads name=N sets their number");
		return false;
	}
	return true;
}

bool promela_export(const struct ir *p, const struct promela_options *o, struct diags *d, struct buf *out)
{
	assert(o->semantics <= PROMELA_INSTRUMENTED);
	struct pml m = { .p = p, .o = o, .instrumented = o->semantics == PROMELA_INSTRUMENTED, .out = out };
	if (!exportable(p, d))
		return false;
	m.join = calloc(IR_MAX_REGS + 1, sizeof *m.join);
	if (!m.join)
		return false;
	paths_init(&m.x, p);
	buf_printf(out,
	           "/*\n * %s semantics. Check with\n *   spin -a FILE && gcc -O2 -DSAFETY -o pan pan.c"
	           " && ./pan -m1000000\n * A failed assertion is a fault%s; an invalid end state is a"
	           " deadlock\n * (pan -E does not look for them).\n */\n",
	           m.instrumented ? "Instrumented" : "Standard", m.instrumented ? " or a commit point that does not fit" : "");
	for (uint32_t i = 0; i < p->nproperties; i++) {
		buf_str(out, "/* not exported: ");
		pml_comment(&m, p->properties[i].text);
		buf_str(out, " */\n");
	}
	put_globals(&m);
	if (m.instrumented)
		pml_quiescent(&m);
	bool ok = put_scratch(&m);
	for (uint32_t t = 0; ok && t < p->ntemplates; t++) {
		use_template(&m, t);
		ok = !m.t->count || ((!m.instrumented || pml_count_choices(&m, d)) && put_template(&m));
	}
	if (m.x.error)
		diag_error(d, "not-exported", p->src, p->spans[m.x.error_ins], "%s to be exported to Promela", m.x.error);
	else if (ok && out->len > PML_MAX_OUTPUT) {
		diag_error(d, "not-exported", p->src, p->templates[0].span, "the Promela model would be larger than %zu MiB",
		           PML_MAX_OUTPUT >> 20);
		ok = false;
	}
	paths_free(&m.x);
	free(m.join);
	return ok;
}
