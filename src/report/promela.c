/*
 * promela: see promela.h.
 *
 * Names: g_x is the global x and s3 slot 3 of a frame (sa3[] when it is
 * indexed); h_x, h3 and ha3[] are the same in the shadow store. r5 is scratch
 * that every d_step writes before it reads it: hidden, so no part of SPIN's
 * state. A node is a label; END nodes have an end label, so that SPIN's invalid
 * end states are deadlocks.
 *
 * Instrumented (commit-atomicity paper, Section 4): the step that commits also
 * runs the thread's block on the shadow, from where the shadow's thread waits
 * (h0, a node) until it is outside, in the same d_step. n_in counts threads
 * inside blocks and n_diff those outside whose frame is not the shadow's: both
 * are functions of the rest of the state, so they add no states. When n_in is
 * 0 after a step, n_diff must be 0 and the globals equal.
 */
#include "report/promela.h"

#include <stdlib.h>
#include <string.h>

#include "report/promela_path.h"

#define MAX_PROCESSES 255u        /* SPIN's */
#define MAX_OUTPUT    ((size_t)64 << 20)

struct pml {
	const struct ir *p;
	const struct ir_template *t;
	uint32_t tmpl;
	struct paths x;
	bool instrumented;
	bool *join;  /* registers r and r + 1 lie in one array */
	bool shadow; /* names are those of the shadow store */
	struct buf *out;
};

/* ---- names -------------------------------------------------------------- */

static void put_const(struct buf *out, int64_t v)
{
	if (v == INT32_MIN)
		buf_str(out, "(-2147483647 - 1)");
	else
		buf_printf(out, v < 0 ? "(%d)" : "%d", (int)v);
}

static void put_var(const struct pml *m, const struct ir_var *v)
{
	buf_str(m->out, m->shadow ? "h_" : "g_");
	for (const char *s = v->name; *s; s++)
		buf_char(m->out, *s == '.' ? '_' : *s);
}

/* The registers of r's array: *first and the number of them; 1: a scalar. */
static uint32_t array_of(const struct pml *m, uint32_t r, uint32_t *first)
{
	uint32_t a = r, b = r;
	while (a > 1 && m->join[a - 1])
		a--;
	while (m->join[b])
		b++;
	*first = a;
	return b - a + 1;
}

/* Lives across steps. (Scratch in one array with slots is kept too, zeroed.) */
static bool is_state(const struct pml *m, uint32_t r)
{
	uint32_t first;
	array_of(m, r, &first);
	return first < m->t->nslots;
}

static void put_array(const struct pml *m, uint32_t first)
{
	if (is_state(m, first))
		buf_printf(m->out, "%ca%u", m->shadow ? 'h' : 's', first);
	else
		buf_printf(m->out, "ra%u_%u", m->tmpl, first);
}

static void put_reg(const struct pml *m, uint32_t r)
{
	uint32_t first;
	if (array_of(m, r, &first) > 1) {
		put_array(m, first);
		buf_printf(m->out, "[%u]", r - first);
	} else {
		buf_printf(m->out, "%c%u", !is_state(m, r) ? 'r' : m->shadow ? 'h' : 's', r);
	}
}

static const char *op_text(enum ir_op op)
{
	switch (op) {
	case IR_ADD: return "+";
	case IR_SUB: return "-";
	case IR_MUL: return "*";
	case IR_DIV: return "/";
	case IR_MOD: return "%";
	case IR_SHL: return "<<";
	case IR_SHR: return ">>";
	case IR_AND: return "&";
	case IR_OR: return "|";
	case IR_XOR: return "^";
	case IR_EQ: return "==";
	case IR_NE: return "!=";
	case IR_LT: return "<";
	case IR_LE: return "<=";
	case IR_GT: return ">";
	case IR_GE: return ">=";
	case IR_NEG: return "-";
	case IR_NOT: return "!";
	case IR_BITNOT: return "~";
	default: return "";
	}
}

/* INT_MIN % -1 is 0; C does not say so. */
static bool risky_mod(const struct pml *m, enum ir_op op, uint32_t a, uint32_t b)
{
	return op == IR_MOD && m->x.ex[a].lo == INT32_MIN && m->x.ex[b].lo <= -1 && m->x.ex[b].hi >= -1;
}

static void put_ex(const struct pml *m, uint32_t id)
{
	const struct ex e = m->x.ex[id];
	if (m->out->len > MAX_OUTPUT)
		return; /* reported at the end */
	switch ((enum ex_kind)e.kind) {
	case EX_CONST:
		put_const(m->out, e.a);
		return;
	case EX_REG:
		put_reg(m, (uint32_t)e.a);
		return;
	case EX_GLOBAL:
	case EX_ELEM:
		put_var(m, &m->p->vars[e.a]);
		if (!m->p->vars[e.a].is_array)
			return;
		buf_char(m->out, '[');
		if (e.kind == EX_ELEM)
			put_ex(m, (uint32_t)e.b);
		else
			buf_printf(m->out, "%d", e.b);
		buf_char(m->out, ']');
		return;
	case EX_UNARY:
		buf_printf(m->out, "(%s", op_text((enum ir_op)e.op));
		put_ex(m, (uint32_t)e.a);
		buf_str(m->out, e.op == IR_BOOL ? " != 0)" : ")");
		return;
	case EX_BINARY:
		buf_char(m->out, '(');
		if (risky_mod(m, (enum ir_op)e.op, (uint32_t)e.a, (uint32_t)e.b)) {
			put_ex(m, (uint32_t)e.b);
			buf_str(m->out, " == -1 -> 0 : ");
		}
		put_ex(m, (uint32_t)e.a);
		buf_printf(m->out, " %s ", op_text((enum ir_op)e.op));
		put_ex(m, (uint32_t)e.b);
		buf_char(m->out, ')');
		return;
	case EX_ITE:
		buf_char(m->out, '(');
		put_ex(m, (uint32_t)e.a);
		buf_str(m->out, " -> ");
		put_ex(m, (uint32_t)e.b);
		buf_str(m->out, " : ");
		put_ex(m, (uint32_t)e.c);
		buf_char(m->out, ')');
		return;
	}
}

/* Text of the source inside a comment. */
static void put_comment(const struct pml *m, const char *s)
{
	for (; *s; s++)
		if ((*s == '*' && s[1] == '/') || (*s == '/' && s[1] == '*') || *s == '\\')
			buf_char(m->out, '.');
		else
			buf_char(m->out, *s);
}

/* ---- statements --------------------------------------------------------- */

/* An operand in straight-line code: a constant where it is known. */
static void put_operand(const struct pml *m, bool imm, int32_t v, uint32_t ex)
{
	if (imm)
		put_const(m->out, v);
	else if (m->x.ex[ex].kind == EX_CONST)
		put_const(m->out, m->x.ex[ex].a);
	else
		put_reg(m, (uint32_t)v);
}

static void put_place(const struct pml *m, uint32_t var, const struct ir_ins *i, const struct pins *at)
{
	put_var(m, &m->p->vars[var]);
	if (!m->p->vars[var].is_array)
		return;
	buf_char(m->out, '[');
	put_operand(m, i->imm & IR_IMM_C, i->c, at->c);
	buf_char(m->out, ']');
}

/* reg[base + index] */
static void put_indexed(const struct pml *m, int32_t base, const struct ir_ins *i, const struct pins *at)
{
	const struct ex *e = &m->x.ex[at->c];
	uint32_t first;
	if (e->kind == EX_CONST) {
		put_reg(m, (uint32_t)(base + e->a));
		return;
	}
	if (array_of(m, (uint32_t)base, &first) == 1) { /* one element */
		put_reg(m, (uint32_t)base);
		return;
	}
	put_array(m, first);
	buf_printf(m->out, "[%u + ", (uint32_t)base - first);
	put_reg(m, (uint32_t)i->c);
	buf_char(m->out, ']');
}

static void assign_reg(const struct pml *m, int32_t r)
{
	put_reg(m, (uint32_t)r);
	buf_str(m->out, " = ");
}

static void end_statement(const struct pml *m)
{
	buf_str(m->out, "; ");
}

static void put_binary(const struct pml *m, const struct ir_ins *i, const struct pins *at)
{
	bool risky = risky_mod(m, (enum ir_op)i->op, at->b, at->c);
	assign_reg(m, i->a);
	if (risky) {
		buf_char(m->out, '(');
		put_operand(m, i->imm & IR_IMM_C, i->c, at->c);
		buf_str(m->out, " == -1 -> 0 : ");
	}
	put_operand(m, i->imm & IR_IMM_B, i->b, at->b);
	buf_printf(m->out, " %s ", op_text((enum ir_op)i->op));
	put_operand(m, i->imm & IR_IMM_C, i->c, at->c);
	if (risky)
		buf_char(m->out, ')');
	end_statement(m);
}

/* cas, exchange, fetch_add; `result`: is it wanted? */
static void put_rmw(const struct pml *m, const struct ir_ins *i, const struct pins *at, bool result)
{
	bool cas = i->op == IR_CAS;
	if (!cas) {
		buf_str(m->out, "r0 = ");
		put_place(m, (uint32_t)i->b, i, at);
		end_statement(m);
	}
	if (!cas || at->choice) {
		put_place(m, (uint32_t)i->b, i, at);
		buf_str(m->out, i->op == IR_FADD ? " = r0 + " : " = ");
		put_operand(m, false, cas ? i->e : i->d, cas ? at->e : at->d);
		end_statement(m);
	}
	if (!result)
		return;
	assign_reg(m, i->a);
	buf_str(m->out, !cas ? "r0" : at->choice ? "1" : "0");
	end_statement(m);
}

/* One executed instruction; `result`: is what it puts into a register used? */
static void put_ins(const struct pml *m, const struct pins *at, bool result)
{
	const struct ir_ins *i = &m->p->code[at->ins];
	switch ((enum ir_op)i->op) {
	case IR_MOV: case IR_NEG: case IR_NOT: case IR_BITNOT: case IR_BOOL:
		assign_reg(m, i->a);
		buf_str(m->out, op_text((enum ir_op)i->op));
		put_operand(m, i->imm & IR_IMM_B, i->b, at->b);
		buf_str(m->out, i->op == IR_BOOL ? " != 0; " : "; ");
		break;
	case IR_ADD: case IR_SUB: case IR_MUL: case IR_DIV: case IR_MOD: case IR_SHL: case IR_SHR:
	case IR_AND: case IR_OR: case IR_XOR:
	case IR_EQ: case IR_NE: case IR_LT: case IR_LE: case IR_GT: case IR_GE:
		put_binary(m, i, at);
		break;
	case IR_LGET:
		assign_reg(m, i->a);
		put_indexed(m, i->b, i, at);
		end_statement(m);
		break;
	case IR_LSET:
		put_indexed(m, i->a, i, at);
		buf_str(m->out, " = ");
		put_operand(m, i->imm & IR_IMM_B, i->b, at->b);
		end_statement(m);
		break;
	case IR_LZERO:
		for (int32_t r = i->a; r < i->a + i->d; r++) {
			assign_reg(m, r);
			buf_str(m->out, "0; ");
		}
		break;
	case IR_LOAD:
		assign_reg(m, i->a);
		put_place(m, (uint32_t)i->b, i, at);
		end_statement(m);
		break;
	case IR_STORE:
		put_place(m, (uint32_t)i->a, i, at);
		buf_str(m->out, " = ");
		put_operand(m, i->imm & IR_IMM_B, i->b, at->b);
		end_statement(m);
		break;
	case IR_CAS: case IR_XCHG: case IR_FADD:
		put_rmw(m, i, at, result);
		break;
	case IR_ACQ: case IR_REL:
		put_place(m, (uint32_t)i->a, i, at);
		buf_printf(m->out, " = %d; ", i->op == IR_ACQ);
		put_indexed(m, i->d, i, at);
		buf_printf(m->out, " = %d; ", i->op == IR_ACQ);
		break;
	case IR_CHOOSE:
		assign_reg(m, i->a);
		put_const(m->out, at->choice);
		end_statement(m);
		break;
	case IR_EXIT:
		if (m->p->blocks[i->a].has_commit) {
			assign_reg(m, (int32_t)m->p->blocks[i->a].phase);
			buf_str(m->out, "0; ");
		}
		break;
	case IR_COMMIT:
		assign_reg(m, i->b);
		buf_str(m->out, "1; ");
		break;
	default: /* checks and marks: the conditions have them */
		break;
	}
}

/* ---- which register writes are used ------------------------------------- */

/* The register an instruction writes and that alone matters; 0: none. */
static uint32_t writes(const struct ir_ins *i)
{
	switch ((enum ir_op)i->op) {
	case IR_MOV: case IR_NEG: case IR_NOT: case IR_BITNOT: case IR_BOOL:
	case IR_ADD: case IR_SUB: case IR_MUL: case IR_DIV: case IR_MOD: case IR_SHL: case IR_SHR:
	case IR_AND: case IR_OR: case IR_XOR:
	case IR_EQ: case IR_NE: case IR_LT: case IR_LE: case IR_GT: case IR_GE:
	case IR_LGET: case IR_LOAD: case IR_CHOOSE: case IR_CAS: case IR_XCHG: case IR_FADD:
		return (uint32_t)i->a;
	default:
		return 0;
	}
}

static bool has_b(const struct ir_ins *i)
{
	return i->op == IR_STORE || i->op == IR_LSET ||
	       (i->op >= IR_MOV && i->op <= IR_GE); /* a:r = b op c and its kin */
}

static bool has_c(const struct ir_ins *i)
{
	return (i->op >= IR_ADD && i->op <= IR_GE) || i->op == IR_LGET || i->op == IR_LSET ||
	       i->op == IR_LOAD || i->op == IR_STORE || i->op == IR_CAS || i->op == IR_XCHG ||
	       i->op == IR_FADD || i->op == IR_ACQ || i->op == IR_REL;
}

static void need(const struct pml *m, bool *live, bool yes, int32_t r, uint32_t ex)
{
	if (yes && m->x.ex[ex].kind != EX_CONST)
		live[r] = true;
}

/* Marks the operands of `at` as needed before it. */
static void need_operands(const struct pml *m, const struct pins *at, bool *live)
{
	const struct ir_ins *i = &m->p->code[at->ins];
	need(m, live, has_b(i) && !(i->imm & IR_IMM_B), i->b, at->b);
	need(m, live, has_c(i) && !(i->imm & IR_IMM_C), i->c, at->c);
	need(m, live, i->op == IR_XCHG || i->op == IR_FADD, i->d, at->d);
	need(m, live, i->op == IR_CAS, i->e, at->e);
	for (int32_t r = 0; i->op == IR_LGET && r < i->d; r++)
		live[i->b + r] = true;
}

/* used[k]: is the register that instruction k writes read later? */
static void find_used(const struct pml *m, const struct path *path, bool *used, bool *live)
{
	for (uint32_t r = 0; r < m->t->nregs; r++)
		live[r] = r && is_state(m, r);
	for (uint32_t k = path->ncode; k-- > 0;) {
		const struct pins *at = &path->code[k];
		if (at->ins == IR_NONE) {
			live[at->choice] = false;
			used[k] = true;
			continue;
		}
		const struct ir_ins *i = &m->p->code[at->ins];
		uint32_t w = writes(i);
		bool shared = i->op == IR_CAS || i->op == IR_XCHG || i->op == IR_FADD;
		used[k] = !w || live[w];
		if (w)
			live[w] = false;
		if (used[k] || shared)
			need_operands(m, at, live);
	}
}

static bool put_code(const struct pml *m, const struct path *path)
{
	bool *used = calloc((size_t)path->ncode + m->t->nregs + 1, sizeof *used);
	if (!used)
		return false;
	find_used(m, path, used, used + path->ncode);
	for (uint32_t k = 0; k < path->ncode; k++) {
		const struct pins *at = &path->code[k];
		if (at->ins == IR_NONE) {
			assign_reg(m, at->choice);
			buf_str(m->out, "0; ");
			continue;
		}
		uint8_t op = m->p->code[at->ins].op;
		if (used[k] || op == IR_CAS || op == IR_XCHG || op == IR_FADD)
			put_ins(m, at, used[k]);
	}
	for (uint32_t r = m->t->nslots; r < m->t->nregs; r++)
		if (is_state(m, r)) {
			assign_reg(m, (int32_t)r);
			buf_str(m->out, "0; ");
		}
	free(used);
	return true;
}

/* ---- a node ------------------------------------------------------------- */

static void put_label(const struct pml *m, uint32_t node)
{
	buf_printf(m->out, m->p->nodes[node].kind == IRN_END ? "end_N%u" : "N%u", node);
}

static void put_conds(const struct pml *m, const struct path *path)
{
	for (uint32_t k = 0; k < path->ncond; k++) {
		buf_str(m->out, k ? " && " : "");
		put_ex(m, path->cond[k]);
	}
	if (!path->ncond)
		buf_str(m->out, "true");
}

/* A choice that `assume` forbade: counts only when nothing else is enabled. */
static bool is_forbidden(const struct path *path)
{
	return path->end == PATH_STUCK && path->nchoices > 0;
}

static void put_guard(const struct pml *m, uint32_t which)
{
	const struct path *path = &m->x.list[which];
	put_conds(m, path);
	for (uint32_t k = 0; is_forbidden(path) && k < m->x.n; k++) {
		if (is_forbidden(&m->x.list[k]) && k >= which)
			continue;
		buf_str(m->out, " && !(");
		put_conds(m, &m->x.list[k]);
		buf_char(m->out, ')');
	}
}

static void put_fault(const struct pml *m, const struct path *path)
{
	struct span s = m->p->spans[path->fault_ins];
	struct source_pos pos = source_pos(m->p->src, s.start);
	buf_printf(m->out, "assert(false) /* %s: line %u, column %u%s */", ir_fault_name(path->fault),
	           pos.line, pos.column, m->shadow ? ", in the serial run" : "");
}

static bool inside(const struct pml *m, uint32_t node)
{
	return m->p->nodes[node].block != IR_NONE;
}

static bool is_dead(const struct ir *p, const struct ir_node *n, uint32_t r)
{
	for (uint32_t i = 0; i < n->ndead; i++)
		if (p->kills[n->dead + i] == r)
			return true;
	return false;
}

/* n_diff: is the frame at this node the shadow's? */
static void put_compare(struct pml *m, uint32_t node)
{
	buf_printf(m->out, "d = (h0 != %u", node);
	for (uint32_t r = 1; r < m->t->nslots; r++) {
		if (is_dead(m->p, &m->p->nodes[node], r))
			continue;
		buf_str(m->out, " || ");
		put_reg(m, r);
		buf_str(m->out, " != ");
		m->shadow = true;
		put_reg(m, r);
		m->shadow = false;
	}
	buf_str(m->out, ")");
}

/* What the instrumented semantics adds to a step. */
static void put_instrument(struct pml *m, uint32_t from, const struct path *path)
{
	bool was = inside(m, from), now = inside(m, path->node);
	if (path->commits || (!was && !now))
		buf_printf(m->out, "\n\t\tshadow_%s();", m->t->name);
	if (was && now)
		return;
	buf_str(m->out, "\n\t\t");
	if (was != now)
		buf_str(m->out, now ? "n_in++; " : "n_in--; ");
	if (!was)
		buf_str(m->out, "n_diff = n_diff - d; d = 0; ");
	if (!now) {
		put_compare(m, path->node);
		buf_str(m->out, "; n_diff = n_diff + d; quiescent();");
	}
}

static bool put_step(struct pml *m, uint32_t node, uint32_t which)
{
	const struct path *path = &m->x.list[which];
	buf_str(m->out, "\t:: d_step { ");
	put_guard(m, which);
	buf_str(m->out, " -> ");
	if (path->end == PATH_FAULT) {
		put_fault(m, path);
		buf_str(m->out, " }; goto wrong\n");
		return true;
	}
	if (!put_code(m, path))
		return false;
	if (m->instrumented)
		put_instrument(m, node, path);
	/* a d_step must have something to do behind its guard */
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
	put_comment(m, buf_cstr(&text));
	buf_str(m->out, " */\n");
	buf_free(&text);
}

static bool put_node(struct pml *m, uint32_t node)
{
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

/* ---- the serial run of a block on the shadow ---------------------------- */

static bool put_shadow_node(struct pml *m, uint32_t node)
{
	if (!paths_of(&m->x, m->tmpl, node))
		return false;
	for (uint32_t k = 0; k < m->x.n; k++) {
		const struct path *path = &m->x.list[k];
		buf_printf(m->out, "\t:: %sh0 == %u && ", inside(m, node) ? "" : "start && ", node);
		put_conds(m, path);
		buf_str(m->out, " -> ");
		if (path->end == PATH_FAULT) {
			put_fault(m, path);
			buf_str(m->out, "; break\n");
			continue;
		}
		if (!put_code(m, path))
			return false;
		buf_printf(m->out, "h0 = %u; start = 0; fuel++; assert(fuel < 1000000)\n", path->node);
	}
	return true;
}

static bool put_shadow(struct pml *m)
{
	buf_printf(m->out, "/* %s: from where the shadow waits until it is outside its block */\n"
	                   "inline shadow_%s() {\n\tstart = 1; fuel = 0;\n\tdo\n", m->t->name, m->t->name);
	m->shadow = true;
	bool ok = true;
	for (uint32_t n = m->t->node; ok && n < m->t->node + m->t->nnode; n++)
		ok = put_shadow_node(m, n);
	m->shadow = false;
	for (uint32_t n = m->t->node; n < m->t->node + m->t->nnode; n++)
		if (!inside(m, n))
			buf_printf(m->out, "\t:: !start && h0 == %u -> break\n", n);
	buf_str(m->out, "\t:: else -> assert(false) /* the serial run cannot go on */; break\n\tod\n}\n\n");
	return ok;
}

static void put_global_equal(struct pml *m)
{
	buf_str(m->out, "inline quiescent() {\n\tif\n\t:: n_in == 0 -> assert(n_diff == 0");
	for (uint32_t v = 0; v < m->p->nvars; v++)
		for (uint32_t i = 0; i < m->p->vars[v].len; i++)
			for (int side = 0; side < 2; side++) {
				m->shadow = side;
				buf_str(m->out, side ? " == " : " && ");
				put_var(m, &m->p->vars[v]);
				if (m->p->vars[v].is_array)
					buf_printf(m->out, "[%u]", i);
			}
	m->shadow = false;
	buf_str(m->out, ") /* the shadow differs */\n\t:: else\n\tfi\n}\n\n");
}

/* ---- declarations ------------------------------------------------------- */

static const char *type_for(int64_t lo, int64_t hi)
{
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
		put_var(m, v);
		if (v->is_array)
			buf_printf(m->out, "[%u]", v->len);
		buf_str(m->out, " = ");
		for (uint32_t i = 0; i < v->len && (!i || !same); i++) {
			buf_str(m->out, i ? ", " : same ? "" : "{ ");
			put_const(m->out, init[i]);
		}
		buf_str(m->out, same ? ";\n" : " };\n");
	}
	m->shadow = false;
	if (m->instrumented)
		buf_str(m->out, "short n_in = 0, n_diff = 0;\nhidden byte start;\nhidden int fuel;\n");
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
			n = array_of(m, r, &first);
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
				put_const(m->out, init[r]);
				buf_str(m->out, ";\n");
				continue;
			}
			buf_printf(m->out, "a%u[%u] = { ", r, n);
			for (uint32_t i = r; i < r + n; i++) {
				buf_str(m->out, i > r ? ", " : "");
				put_const(m->out, i < m->t->nslots ? init[i] : 0);
			}
			buf_str(m->out, " };\n");
		}
	}
	m->shadow = false;
	if (m->instrumented)
		buf_printf(m->out, "\tbool d = 0;\n\tint h0 = %d;\n", init[0]);
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
			n = array_of(m, r, &first);
			if (is_state(m, r))
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
	uint32_t first = (uint32_t)m->p->init[m->p->threads[m->t->first_thread].frame];
	if (m->instrumented && !put_shadow(m))
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
static bool exportable(const struct ir *p, bool instrumented, struct diags *d)
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
		diag_error(d, "not-exported", p->src, p->templates[0].span,
		           "%u threads: SPIN runs at most %u processes", p->nthreads, MAX_PROCESSES);
		diag_hint(d, "--threads name=N sets their number");
		return false;
	}
	for (uint32_t i = 0; instrumented && i < p->ncode; i++)
		if (p->code[i].op == IR_CHOOSE && p->code[i].c > p->code[i].b) {
			diag_error(d, "not-exported", p->src, p->spans[i],
			           "a choice is not exported with --semantics=instrumented: "
			           "the shadow would have to repeat it");
			diag_hint(d, "--semantics=standard exports it; 'intact check' decides it");
			return false;
		}
	return true;
}

bool promela_export(const struct ir *p, enum promela_semantics semantics, struct diags *d,
                    struct buf *out)
{
	struct pml m = { .p = p, .instrumented = semantics == PROMELA_INSTRUMENTED, .out = out };
	if (!exportable(p, m.instrumented, d))
		return false;
	m.join = calloc(IR_MAX_REGS + 1, sizeof *m.join);
	if (!m.join)
		return false;
	paths_init(&m.x, p);
	buf_printf(out, "/*\n * %s semantics. Check with\n *   spin -a FILE && gcc -O2 -DSAFETY -o pan pan.c"
	                " && ./pan -m1000000\n * A failed assertion is a fault%s; an invalid end state is a"
	                " deadlock\n * (pan -E does not look for them).\n */\n",
	           m.instrumented ? "Instrumented" : "Standard",
	           m.instrumented ? " or a commit point that does not fit" : "");
	put_globals(&m);
	if (m.instrumented)
		put_global_equal(&m);
	bool ok = put_scratch(&m);
	for (uint32_t t = 0; ok && t < p->ntemplates; t++) {
		use_template(&m, t);
		ok = !m.t->count || put_template(&m);
	}
	if (m.x.error)
		diag_error(d, "not-exported", p->src, p->spans[m.x.error_ins],
		           "%s to be exported to Promela", m.x.error);
	else if (ok && out->len > MAX_OUTPUT) {
		diag_error(d, "not-exported", p->src, p->templates[0].span,
		           "the Promela model would be larger than %zu MiB", MAX_OUTPUT >> 20);
		ok = false;
	}
	paths_free(&m.x);
	free(m.join);
	return ok;
}
