/* promela_put: see promela_put.h. */
#include "report/promela_put.h"

#include <stdlib.h>

#include "base/invariant.h"

/* ---- names -------------------------------------------------------------- */

void pml_const(struct buf *out, int64_t v)
{
	assert(v >= INT32_MIN && v <= INT32_MAX);
	if (v == INT32_MIN)
		buf_str(out, "(-2147483647 - 1)");
	else
		buf_printf(out, v < 0 ? "(%d)" : "%d", (int)v);
}

void pml_var(const struct pml *m, const struct ir_var *v)
{
	buf_str(m->out, m->shadow ? "h_" : "g_");
	for (const char *s = v->name; *s; s++)
		buf_str(m->out, *s == '.' ? "_0_" : (char[]){ *s, 0 }); /* no part of a name begins with a digit */
}

uint32_t pml_array_of(const struct pml *m, uint32_t r, uint32_t *first)
{
	assert(r && r <= IR_MAX_REGS);
	uint32_t a = r, b = r;
	while (a > 1 && m->join[a - 1])
		a--;
	while (m->join[b])
		b++;
	*first = a;
	assert(a <= r && r <= b);
	return b - a + 1;
}

bool pml_is_state(const struct pml *m, uint32_t r)
{
	uint32_t first;
	pml_array_of(m, r, &first);
	return first < m->t->nslots;
}

static void put_array(const struct pml *m, uint32_t first)
{
	assert(first && first < m->t->nregs);
	if (pml_is_state(m, first))
		buf_printf(m->out, "%ca%u", m->shadow ? 'h' : 's', first);
	else
		buf_printf(m->out, "ra%u_%u", m->tmpl, first);
}

void pml_reg(const struct pml *m, uint32_t r)
{
	assert(r < m->t->nregs);
	uint32_t first;
	if (pml_array_of(m, r, &first) > 1) {
		put_array(m, first);
		buf_printf(m->out, "[%u]", r - first);
	} else {
		buf_printf(m->out, "%c%u", !pml_is_state(m, r) ? 'r' : m->shadow ? 'h' : 's', r);
	}
}

static const char *op_text(enum ir_op op)
{
	/* clang-format off */
	static const char *const text[IR_OP_COUNT] = {
		[IR_ADD] = "+", [IR_SUB] = "-", [IR_MUL] = "*", [IR_DIV] = "/", [IR_MOD] = "%", [IR_SHL] = "<<", [IR_SHR] = ">>",
		[IR_AND] = "&", [IR_OR] = "|", [IR_XOR] = "^", [IR_EQ] = "==", [IR_NE] = "!=", [IR_LT] = "<", [IR_LE] = "<=",
		[IR_GT] = ">", [IR_GE] = ">=", [IR_NEG] = "-", [IR_NOT] = "!", [IR_BITNOT] = "~",
	};
	/* clang-format on */
	return text[op] ? text[op] : "";
}

/* INT_MIN % -1 is 0; C does not say so. */
static bool risky_mod(const struct pml *m, enum ir_op op, uint32_t a, uint32_t b)
{
	assert(a < m->x.nex && b < m->x.nex);
	return op == IR_MOD && m->x.ex[a].lo == INT32_MIN && m->x.ex[b].lo <= -1 && m->x.ex[b].hi >= -1;
}

static void pml_ex(const struct pml *m, uint32_t id)
{
	assert(id < m->x.nex);
	const struct ex e = m->x.ex[id];
	if (m->out->len > PML_MAX_OUTPUT)
		return; /* reported at the end */
	switch ((enum ex_kind)e.kind) {
	case EX_CONST:
		pml_const(m->out, e.a);
		return;
	case EX_REG:
		pml_reg(m, (uint32_t)e.a);
		return;
	case EX_GLOBAL:
	case EX_ELEM:
		pml_var(m, &m->p->vars[e.a]);
		if (!m->p->vars[e.a].is_array)
			return;
		buf_char(m->out, '[');
		if (e.kind == EX_ELEM)
			pml_ex(m, (uint32_t)e.b);
		else
			buf_printf(m->out, "%d", e.b);
		buf_char(m->out, ']');
		return;
	case EX_UNARY:
		buf_printf(m->out, "(%s", op_text((enum ir_op)e.op));
		pml_ex(m, (uint32_t)e.a);
		buf_str(m->out, e.op == IR_BOOL ? " != 0)" : ")");
		return;
	case EX_BINARY:
		buf_char(m->out, '(');
		if (risky_mod(m, (enum ir_op)e.op, (uint32_t)e.a, (uint32_t)e.b)) {
			pml_ex(m, (uint32_t)e.b);
			buf_str(m->out, " == -1 -> 0 : ");
		}
		pml_ex(m, (uint32_t)e.a);
		buf_printf(m->out, " %s ", op_text((enum ir_op)e.op));
		pml_ex(m, (uint32_t)e.b);
		buf_char(m->out, ')');
		return;
	case EX_ITE:
		buf_char(m->out, '(');
		pml_ex(m, (uint32_t)e.a);
		buf_str(m->out, " -> ");
		pml_ex(m, (uint32_t)e.b);
		buf_str(m->out, " : ");
		pml_ex(m, (uint32_t)e.c);
		buf_char(m->out, ')');
		return;
	}
}

void pml_comment(const struct pml *m, const char *s)
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
	assert(imm || ex < m->x.nex);
	if (imm)
		pml_const(m->out, v);
	else if (m->x.ex[ex].kind == EX_CONST)
		pml_const(m->out, m->x.ex[ex].a);
	else
		pml_reg(m, (uint32_t)v);
}

static void put_place(const struct pml *m, uint32_t var, const struct ir_ins *i, const struct pins *at)
{
	assert(var < m->p->nvars);
	pml_var(m, &m->p->vars[var]);
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
		pml_reg(m, (uint32_t)(base + e->a));
		return;
	}
	if (pml_array_of(m, (uint32_t)base, &first) == 1) { /* one element */
		pml_reg(m, (uint32_t)base);
		return;
	}
	put_array(m, first);
	buf_printf(m->out, "[%u + ", (uint32_t)base - first);
	pml_reg(m, (uint32_t)i->c);
	buf_char(m->out, ']');
}

/* "r5 = " */
static void pml_assign(const struct pml *m, int32_t r)
{
	pml_reg(m, (uint32_t)r);
	buf_str(m->out, " = ");
}

static void end_statement(const struct pml *m)
{
	buf_str(m->out, "; ");
}

static void put_binary(const struct pml *m, const struct ir_ins *i, const struct pins *at)
{
	bool risky = risky_mod(m, (enum ir_op)i->op, at->b, at->c);
	pml_assign(m, i->a);
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
	pml_assign(m, i->a);
	buf_str(m->out, !cas ? "r0" : at->choice ? "1" : "0");
	end_statement(m);
}

/* One executed instruction; `result`: is what it puts into a register used? */
static void put_ins(const struct pml *m, const struct pins *at, bool result)
{
	assert(at->ins < m->p->ncode);
	const struct ir_ins *i = &m->p->code[at->ins];
	switch ((enum ir_op)i->op) {
	case IR_MOV ... IR_BOOL:
		pml_assign(m, i->a);
		buf_str(m->out, op_text((enum ir_op)i->op));
		put_operand(m, i->imm & IR_IMM_B, i->b, at->b);
		buf_str(m->out, i->op == IR_BOOL ? " != 0; " : "; ");
		break;
	case IR_ADD ... IR_GE:
		put_binary(m, i, at);
		break;
	case IR_LGET:
		pml_assign(m, i->a);
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
			pml_assign(m, r);
			buf_str(m->out, "0; ");
		}
		break;
	case IR_LOAD:
		pml_assign(m, i->a);
		put_place(m, (uint32_t)i->b, i, at);
		end_statement(m);
		break;
	case IR_STORE:
		put_place(m, (uint32_t)i->a, i, at);
		buf_str(m->out, " = ");
		put_operand(m, i->imm & IR_IMM_B, i->b, at->b);
		end_statement(m);
		break;
	case IR_CAS:
	case IR_XCHG:
	case IR_FADD:
		put_rmw(m, i, at, result);
		break;
	case IR_ACQ:
	case IR_REL:
		put_place(m, (uint32_t)i->a, i, at);
		buf_printf(m->out, " = %d; ", i->op == IR_ACQ);
		put_indexed(m, i->d, i, at);
		buf_printf(m->out, " = %d; ", i->op == IR_ACQ);
		break;
	case IR_CHOOSE:
		pml_assign(m, i->a);
		pml_const(m->out, at->choice);
		end_statement(m);
		break;
	case IR_EXIT:
		if (m->p->blocks[i->a].has_commit) {
			pml_assign(m, (int32_t)m->p->blocks[i->a].phase);
			buf_str(m->out, "0; ");
		}
		break;
	case IR_COMMIT:
		pml_assign(m, i->b);
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
	case IR_MOV ... IR_GE:
	case IR_LGET:
	case IR_LOAD:
	case IR_CHOOSE:
	case IR_CAS:
	case IR_XCHG:
	case IR_FADD:
		return (uint32_t)i->a;
	default:
		return 0;
	}
}

static bool has_b(const struct ir_ins *i)
{
	return i->op == IR_STORE || i->op == IR_LSET || (i->op >= IR_MOV && i->op <= IR_GE); /* a:r = b op c and its kin */
}

static bool has_c(const struct ir_ins *i)
{
	return (i->op >= IR_ADD && i->op <= IR_GE) || i->op == IR_LGET || i->op == IR_LSET || i->op == IR_LOAD ||
	       i->op == IR_STORE || i->op == IR_CAS || i->op == IR_XCHG || i->op == IR_FADD || i->op == IR_ACQ || i->op == IR_REL;
}

static void need(const struct pml *m, bool *live, bool yes, int32_t r, uint32_t ex)
{
	if (yes && m->x.ex[ex].kind != EX_CONST)
		live[r] = true;
}

/* Marks the operands of `at` as needed before it. */
static void need_operands(const struct pml *m, const struct pins *at, bool *live)
{
	assert(at->ins < m->p->ncode);
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
		live[r] = r && pml_is_state(m, r);
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

bool pml_code(const struct pml *m, const struct path *path)
{
	assert(path->ncode <= path->cap_code);
	bool *used = calloc((size_t)path->ncode + m->t->nregs + 1, sizeof *used);
	if (!used)
		return false;
	find_used(m, path, used, used + path->ncode);
	for (uint32_t k = 0; k < path->ncode; k++) {
		const struct pins *at = &path->code[k];
		if (at->ins == IR_NONE) {
			pml_assign(m, at->choice);
			buf_str(m->out, "0; ");
			continue;
		}
		uint8_t op = m->p->code[at->ins].op;
		if (used[k] || op == IR_CAS || op == IR_XCHG || op == IR_FADD)
			put_ins(m, at, used[k]);
	}
	for (uint32_t r = m->t->nslots; r < m->t->nregs; r++)
		if (pml_is_state(m, r)) {
			pml_assign(m, (int32_t)r);
			buf_str(m->out, "0; ");
		}
	free(used);
	return true;
}

/* ---- paths -------------------------------------------------------------- */

void pml_conds(const struct pml *m, const struct path *path)
{
	assert(path->ncond <= path->cap_cond);
	for (uint32_t k = 0; k < path->ncond; k++) {
		buf_str(m->out, k ? " && " : "");
		pml_ex(m, path->cond[k]);
	}
	if (!path->ncond)
		buf_str(m->out, "true");
}

void pml_fault(const struct pml *m, const struct path *path)
{
	assert(path->end == PATH_FAULT && path->fault_ins < m->p->ncode);
	struct span s = m->p->spans[path->fault_ins];
	struct source_pos pos = source_pos(m->p->src, s.start);
	buf_printf(m->out, "assert(false) /* %s: line %u, column %u%s */", ir_fault_name(path->fault), pos.line, pos.column,
	           m->shadow ? ", in the serial run" : "");
}
