/*
 * promela_shadow: the instrumented semantics (commit-atomicity paper, Section
 * 4) as Promela.
 *
 * The step that commits also runs the thread's block on the shadow, from where
 * the shadow's thread waits (h0, a node) until it is outside, in the same
 * d_step. n_in counts threads inside blocks and n_diff those outside whose
 * frame is not the shadow's: both are functions of the rest of the state, so
 * they add no states. When n_in is 0 after a step, n_diff must be 0 and the
 * globals equal.
 *
 * Choices: k[0..kn) are those a thread has made since it was last outside,
 * and the shadow repeats them (kp is where it is). Choices after the commit
 * would have to be guessed when it happens, which a d_step cannot: refused.
 */
#include "base/invariant.h"
#include "report/promela_put.h"

#include <stdlib.h>

static bool is_dead(const struct ir *p, const struct ir_node *n, uint32_t r)
{
	assert(n->dead + n->ndead <= p->nkills);
	for (uint32_t i = 0; i < n->ndead; i++)
		if (p->kills[n->dead + i] == r)
			return true;
	return false;
}

/* n_diff: is the frame at this node the shadow's? */
static void put_compare(struct pml *m, uint32_t node)
{
	assert(node < m->p->nnodes);
	buf_printf(m->out, "d = (h0 != %u", node);
	for (uint32_t r = 1; r < m->t->nslots; r++) {
		if (is_dead(m->p, &m->p->nodes[node], r))
			continue;
		buf_str(m->out, " || ");
		pml_reg(m, r);
		buf_str(m->out, " != ");
		m->shadow = true;
		pml_reg(m, r);
		m->shadow = false;
	}
	buf_str(m->out, ")");
}

/* Does a step from here to there commit a block that has no marks? */
static bool is_labelled(const struct pml *m, uint32_t from, uint32_t to)
{
	assert(from < m->p->nnodes && to < m->p->nnodes);
	const struct ir_node *n = &m->p->nodes[from];
	uint32_t b = m->p->nodes[to].block;
	if (n->block == IR_NONE)
		return b != IR_NONE && m->o->at_entry && m->o->at_entry[b] && !m->p->blocks[b].has_commit;
	for (uint32_t k = 0; m->o->edge && !m->p->blocks[n->block].has_commit && k < n->nsucc; k++)
		if (m->p->succs[n->succ + k] == to)
			return m->o->edge[n->succ + k];
	return false;
}

static bool is_choice(const struct pml *m, const struct pins *at)
{
	if (at->ins == IR_NONE)
		return false;
	const struct ir_ins *i = &m->p->code[at->ins];
	return i->op == IR_CHOOSE && i->c > i->b;
}

/* The choices of a step, for the shadow to repeat. */
static void record_choices(const struct pml *m, const struct path *path)
{
	for (uint32_t k = 0; path->nchoices && k < path->ncode; k++)
		if (is_choice(m, &path->code[k])) {
			buf_str(m->out, "k[kn] = ");
			pml_const(m->out, path->code[k].choice);
			buf_str(m->out, "; kn++; ");
		}
}

static void put_run(const struct pml *m)
{
	buf_printf(m->out, "shadow_%s();", m->t->name);
	if (m->choices)
		buf_str(m->out, " kn = 0;");
	for (uint32_t i = 0; i < m->choices; i++)
		buf_printf(m->out, " k[%u] = 0;", i);
}

/* Runs the shadow if the step is the commit action: of the marks, a step
 * outside, or the first labelled step of the block (`c` remembers it). */
static void put_commit(const struct pml *m, uint32_t from, const struct path *path)
{
	assert(m->instrumented && from < m->p->nnodes);
	bool was = pml_inside(m, from), now = pml_inside(m, path->node);
	uint32_t b = m->p->nodes[was ? from : path->node].block;
	bool marks = (was || now) && m->p->blocks[b].has_commit;
	buf_str(m->out, "\n\t\t");
	if ((!was && !now) || (marks && path->commits)) {
		put_run(m);
	} else if (!marks && now && is_labelled(m, from, path->node)) {
		buf_str(m->out, "if :: !c -> ");
		put_run(m);
		buf_str(m->out, " c = 1 :: else fi;");
	} else if (!marks && !now) {
		buf_str(m->out, "if :: !c -> ");
		put_run(m);
		buf_str(m->out, " :: else fi; c = 0;");
	}
}

void pml_instrument(struct pml *m, uint32_t from, const struct path *path)
{
	assert(m->instrumented);
	bool was = pml_inside(m, from), now = pml_inside(m, path->node);
	record_choices(m, path);
	put_commit(m, from, path);
	if (was && now)
		return;
	buf_char(m->out, ' ');
	if (was != now)
		buf_str(m->out, now ? "n_in++; " : "n_in--; ");
	if (!was)
		buf_str(m->out, "n_diff = n_diff - d; d = 0; ");
	if (!now) {
		put_compare(m, path->node);
		buf_str(m->out, "; n_diff = n_diff + d; quiescent();");
	}
}

void pml_shadow_frame(const struct pml *m, int32_t first_node)
{
	buf_printf(m->out, "\tbool d = 0, c = 0;\n\tint h0 = %d;\n", first_node);
	if (m->choices)
		buf_printf(m->out, "\tint k[%u] = 0;\n\tbyte kn = 0;\n", m->choices);
}

/* ---- choices ------------------------------------------------------------ */

struct count {                  /* of a node */
	uint32_t most, longest; /* choices of a step; of the steps up to here since outside */
	bool after;             /* reachable after the commit, inside the block */
};

static bool refuse(const struct pml *m, struct diags *d, uint32_t node, const char *why)
{
	diag_error(d, "not-exported", m->p->src, m->p->nodes[node].span,
	           "a choice %s is not exported with --semantics=instrumented", why);
	diag_hint(d, "--semantics=standard exports it; 'intact check' decides it");
	return false;
}

/* One round over the template's steps; returns whether something grew. */
static bool count_round(struct pml *m, struct count *c)
{
	const struct ir_template *t = m->t;
	bool grew = false;
	for (uint32_t n = t->node; n < t->node + t->nnode; n++) {
		if (!paths_of(&m->x, m->tmpl, n))
			return false;
		struct count *from = &c[n - t->node];
		for (uint32_t k = 0; k < m->x.n; k++) {
			const struct path *path = &m->x.list[k];
			if (path->nchoices > from->most)
				from->most = path->nchoices;
			if (path->end == PATH_FAULT || !pml_inside(m, path->node))
				continue;
			struct count *to = &c[path->node - t->node];
			uint32_t sum = (pml_inside(m, n) ? from->longest : 0) + path->nchoices;
			bool after = from->after || path->commits || is_labelled(m, n, path->node);
			if (sum > to->longest && !after)
				to->longest = sum, grew = true;
			if (after && !to->after)
				to->after = grew = true;
		}
	}
	return grew;
}

bool pml_count_choices(struct pml *m, struct diags *d)
{
	const struct ir_template *t = m->t;
	bool any = false, ok = true;
	m->choices = 0;
	for (uint32_t i = t->code; i < t->code + t->ncode; i++)
		any |= m->p->code[i].op == IR_CHOOSE && m->p->code[i].c > m->p->code[i].b;
	if (!any)
		return true;
	struct count *c = calloc(t->nnode + 1, sizeof *c);
	if (!c)
		return false;
	uint32_t round = 0;
	while (round <= t->nnode && count_round(m, c) && !m->x.error)
		round++;
	for (uint32_t i = 0; ok && !m->x.error && i < t->nnode; i++) {
		if (c[i].most && c[i].after)
			ok = refuse(m, d, t->node + i, "after the commit point");
		else if (c[i].most && round > t->nnode && pml_inside(m, t->node + i))
			ok = refuse(m, d, t->node + i, "in a loop of a block");
		else if (c[i].longest + c[i].most > m->choices)
			m->choices = c[i].longest + c[i].most;
	}
	free(c);
	return ok && !m->x.error;
}

/* ---- the serial run of a block on the shadow ---------------------------- */

/* The shadow chooses as the thread did. */
static void match_choices(const struct pml *m, const struct path *path)
{
	uint32_t n = 0;
	if (path->nchoices)
		buf_printf(m->out, " && kp + %u <= kn", path->nchoices);
	for (uint32_t k = 0; path->nchoices && k < path->ncode; k++)
		if (is_choice(m, &path->code[k])) {
			buf_printf(m->out, " && k[kp + %u] == ", n++);
			pml_const(m->out, path->code[k].choice);
		}
}

/* The serial run has a label (h0) only where it can branch, meet or wait: a
 * step that always goes one way, to which one step leads, follows that step
 * at once. SPIN bounds the length of a d_step. */
struct promela_shape {
	uint32_t *preds; /* by node of the template: steps that lead to it */
	bool *plain;     /* goes one way, without a condition */
};

static bool find_shape(struct pml *m, struct promela_shape *s)
{
	const struct ir_template *t = m->t;
	s->preds = calloc(t->nnode + 1, sizeof *s->preds);
	s->plain = calloc(t->nnode + 1, sizeof *s->plain);
	if (!s->preds || !s->plain)
		return false;
	for (uint32_t n = 0; n < t->nnode; n++) {
		if (!paths_of(&m->x, m->tmpl, t->node + n))
			return false;
		const struct path *only = m->x.list;
		s->plain[n] = m->x.n == 1 && !only->ncond && !only->nchoices && only->end == PATH_NODE &&
		              pml_inside(m, t->node + n);
		for (uint32_t k = 0; k < m->x.n; k++)
			if (m->x.list[k].end != PATH_FAULT)
				s->preds[m->x.list[k].node - t->node]++;
	}
	return true;
}

static bool follows(const struct pml *m, const struct promela_shape *s, uint32_t node)
{
	assert(node >= m->t->node && node < m->t->node + m->t->nnode);
	uint32_t n = node - m->t->node;
	return s->plain[n] && s->preds[n] == 1;
}

/* The rest of a run from `node` as long as it goes on by itself. */
static bool put_chain(struct pml *m, const struct promela_shape *s, uint32_t node)
{
	while (follows(m, s, node)) {
		if (!paths_of(&m->x, m->tmpl, node) || !pml_code(m, &m->x.list[0]))
			return false;
		node = m->x.list[0].node;
	}
	buf_printf(m->out, "h0 = %u; start = 0; fuel++; assert(fuel < 1000000)\n", node);
	return true;
}

static bool put_shadow_node(struct pml *m, const struct promela_shape *s, uint32_t node)
{
	uint32_t n = 1;
	for (uint32_t k = 0; k < n; k++) {
		if (!paths_of(&m->x, m->tmpl, node)) /* again: the chain used it */
			return false;
		n = m->x.n;
		if (k >= n)
			break;
		const struct path *path = &m->x.list[k];
		buf_printf(m->out, "\t:: %sh0 == %u && ", pml_inside(m, node) ? "" : "start && ", node);
		pml_conds(m, path);
		match_choices(m, path);
		buf_str(m->out, " -> ");
		if (path->end == PATH_FAULT) {
			pml_fault(m, path);
			buf_str(m->out, "; break\n");
			continue;
		}
		if (!pml_code(m, path))
			return false;
		if (path->nchoices)
			buf_printf(m->out, "kp = kp + %u; ", path->nchoices);
		if (!put_chain(m, s, path->node))
			return false;
	}
	return true;
}

bool pml_shadow(struct pml *m)
{
	struct promela_shape s = { NULL, NULL };
	bool ok = find_shape(m, &s);
	buf_printf(m->out,
	           "/* %s: from where the shadow waits until it is outside its block */\n"
	           "inline shadow_%s() {\n\tstart = 1; fuel = 0; kp = 0;\n\tdo\n",
	           m->t->name, m->t->name);
	m->shadow = true;
	for (uint32_t n = m->t->node; ok && n < m->t->node + m->t->nnode; n++)
		if (!follows(m, &s, n))
			ok = put_shadow_node(m, &s, n);
	m->shadow = false;
	for (uint32_t n = m->t->node; n < m->t->node + m->t->nnode; n++)
		if (!pml_inside(m, n))
			buf_printf(m->out, "\t:: !start && h0 == %u -> break\n", n);
	buf_str(m->out, "\t:: else -> assert(false) /* the serial run cannot go on */; break\n\tod\n}\n\n");
	free(s.preds);
	free(s.plain);
	return ok;
}

void pml_quiescent(struct pml *m)
{
	buf_str(m->out, "inline quiescent() {\n\tif\n\t:: n_in == 0 -> assert(n_diff == 0");
	for (uint32_t v = 0; v < m->p->nvars; v++)
		for (uint32_t i = 0; i < m->p->vars[v].len; i++)
			for (int side = 0; side < 2; side++) {
				m->shadow = side;
				buf_str(m->out, side ? " == " : " && ");
				pml_var(m, &m->p->vars[v]);
				if (m->p->vars[v].is_array)
					buf_printf(m->out, "[%u]", i);
			}
	m->shadow = false;
	buf_str(m->out, ") /* the shadow differs */\n\t:: else\n\tfi\n}\n\n");
}
