/* print: the program, its values and its faults as text. */
#include <string.h>

#include "base/invariant.h"
#include "ir/ir.h"

/* ---- names and values --------------------------------------------------- */

void ir_print_value(const struct ir *p, enum ir_value_kind kind, uint32_t enum_id, int32_t value, struct buf *out)
{
	switch (kind) {
	case IR_VALUE_BOOL:
		buf_str(out, value ? "true" : "false");
		break;
	case IR_VALUE_LOCK:
		buf_str(out, value ? "held" : "free");
		break;
	case IR_VALUE_ENUM:
		if (value >= 0 && (uint32_t)value < p->enums[enum_id].n) {
			buf_str(out, p->enums[enum_id].members[value]);
			break;
		}
		/* fall through */
	case IR_VALUE_INT:
		buf_printf(out, "%d", value);
		break;
	}
}

void ir_print_thread(const struct ir *p, uint32_t thread, struct buf *out)
{
	const struct ir_template *t = &p->templates[p->threads[thread].tmpl];
	buf_str(out, t->name);
	if (t->count > 1)
		buf_printf(out, " %u", p->threads[thread].index);
}

/* The first line of a span of the source, white space folded. */
static void print_source(const struct ir *p, struct span s, struct buf *out)
{
	struct buf line;
	bool space = false;
	buf_init(&line);
	for (uint32_t i = s.start; i < s.end && i < p->src->len; i++) {
		char c = p->src->text[i];
		if (c == '\n')
			break;
		if (c == ' ' || c == '\t' || c == '\r') {
			space = true;
			continue;
		}
		if (space && line.len)
			buf_char(&line, ' ');
		space = false;
		buf_char(&line, c);
	}
	buf_safe(out, buf_cstr(&line), line.len);
	buf_free(&line);
}

const char *ir_mode_name(uint32_t mode)
{
	static const struct {
		enum ir_access_mode mode;
		const char *name;
	} names[] = { { IRA_READ, "read" },          { IRA_WRITE, "write" },           { IRA_RMW, "update" },
		      { IRA_ACQUIRE, "acquire" },    { IRA_RELEASE, "release" },       { IRA_READ_INV, "begin-read" },
		      { IRA_READ_RESP, "end-read" }, { IRA_WRITE_INV, "begin-write" }, { IRA_WRITE_RESP, "end-write" } };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (names[i].mode == mode)
			return names[i].name;
	return "?";
}

/* The indices of element `elem` in the brackets of the pattern, row by row. */
static void put_element(const char *name, bool is_array, const struct ir_shape *s, uint32_t elem, const char *any, struct buf *out)
{
	if (!s) {
		buf_str(out, name);
		if (is_array && elem == IR_NONE)
			buf_str(out, any);
		else if (is_array)
			buf_printf(out, "[%u]", elem);
		return;
	}
	uint32_t k = 0;
	for (const char *c = s->pattern; *c; c++) {
		if (*c != '[') {
			buf_char(out, *c);
			continue;
		}
		uint32_t below = 1;
		for (uint32_t i = k + 1; i < s->n; i++)
			below *= s->dim[i];
		if (elem == IR_NONE)
			buf_str(out, any);
		else
			buf_printf(out, "[%u]", elem / below % s->dim[k]);
		k++;
		c++; /* ] */
	}
	assert(k == s->n);
}

void ir_print_element(const struct ir_var *v, uint32_t elem, const char *any, struct buf *out)
{
	put_element(v->name, v->is_array, v->shape, elem, any, out);
}

void ir_print_local(const struct ir_local *l, uint32_t elem, struct buf *out)
{
	put_element(l->name, l->is_array, l->shape, elem, "", out);
}

static void print_access(const struct ir *p, const struct ir_access *a, struct buf *out)
{
	const struct ir_var *v = &p->vars[a->var];
	for (const char *m = ir_mode_name(a->mode); *m; m++)
		buf_char(out, *m == '-' ? ' ' : *m);
	buf_char(out, ' ');
	ir_print_element(v, a->index, "[...]", out);
}

void ir_print_node(const struct ir *p, uint32_t node, struct buf *out)
{
	const struct ir_node *n = &p->nodes[node];
	switch (n->kind) {
	case IRN_END:
		buf_str(out, "finished");
		return;
	case IRN_STUCK:
		buf_str(out, "stuck at ");
		print_source(p, n->span, out);
		return;
	case IRN_ENTER:
		buf_printf(out, "enter %s", p->blocks[p->code[n->ins + 1].a].name);
		return;
	case IRN_EXIT:
		buf_printf(out, "leave %s", p->blocks[n->block].name);
		return;
	case IRN_INVOKE:
		buf_str(out, "invoke ");
		print_source(p, n->span, out);
		return;
	case IRN_RESPOND:
		buf_str(out, "return from ");
		print_source(p, n->span, out);
		return;
	case IRN_ACCESS:
	case IRN_REGISTER:
		if (n->naccess) {
			print_access(p, &p->accesses[n->access], out);
			buf_str(out, " in ");
		}
		break;
	case IRN_START:
	case IRN_LOCK:
	case IRN_STEP:
	case IRN_LOCAL:
	case IRN_AWAIT:
		break;
	}
	struct buf text;
	buf_init(&text);
	print_source(p, n->span, &text);
	if (text.len && text.data[text.len - 1] == ';')
		text.len--;
	buf_add(out, buf_cstr(&text), text.len);
	buf_free(&text);
}

/* ---- faults ------------------------------------------------------------- */

const char *ir_fault_name(enum ir_fault f)
{
	switch (f) {
	case IRF_NONE:
		return "none";
	case IRF_RANGE:
		return "range";
	case IRF_OVERFLOW:
		return "overflow";
	case IRF_DIVISION:
		return "division";
	case IRF_SHIFT:
		return "shift";
	case IRF_INDEX:
		return "index";
	case IRF_RELEASE:
		return "release";
	case IRF_ASSERT:
		return "assert";
	case IRF_COMMIT:
		return "commit";
	case IRF_NULL:
		return "null";
	case IRF_FREED:
		return "freed";
	case IRF_DOUBLE_FREE:
		return "double-free";
	case IRF_EXHAUSTED:
		return "exhausted";
	case IRF_LIMIT:
		return "limit";
	}
	return "?";
}

static void print_cell_fault(const struct ir *p, const struct ir_pool *pool, const struct ir_effect *eff, struct buf *out)
{
	if (eff->fault == IRF_EXHAUSTED) {
		buf_printf(out, "all %u cells of the pool %s are live", pool->ncells, pool->name);
		return;
	}
	print_source(p, p->spans[eff->fault_ins], out);
	buf_str(out, eff->fault == IRF_NULL    ? ": the reference is null"
	             : eff->fault == IRF_FREED ? ": use after free, the cell of "
	                                       : ": double free, the cell of ");
	if (eff->fault != IRF_NULL)
		buf_printf(out, "%s was freed before", pool->name);
}

void ir_print_fault(const struct ir *p, const struct ir_effect *eff, struct buf *out)
{
	const struct ir_ins *i = &p->code[eff->fault_ins];
	switch (eff->fault) {
	case IRF_RANGE: {
		if (i->op == IR_RANGE) {
			buf_printf(out, "the value %d is outside the range %d..%d", eff->fault_value, i->b, i->c);
			break;
		}
		bool stores = i->op == IR_STORE || i->op == IR_WINV;
		const struct ir_var *v = &p->vars[stores ? i->a : i->b];
		buf_printf(out, "the value %d is outside the range %d..%d of %s", eff->fault_value, v->lo, v->hi, v->name);
		break;
	}
	case IRF_OVERFLOW:
		buf_str(out, "the result does not fit into 32 bits");
		break;
	case IRF_DIVISION:
		buf_str(out, "division by zero");
		break;
	case IRF_SHIFT:
		buf_printf(out, "shift by %d; it must be 0 to 31", eff->fault_value);
		break;
	case IRF_INDEX:
		buf_printf(out, "the index %d is outside the array", eff->fault_value);
		break;
	case IRF_RELEASE:
		buf_printf(out, "the lock %s is released by a thread that does not hold it", p->vars[i->a].name);
		break;
	case IRF_ASSERT:
		buf_str(out, "the assertion fails: ");
		print_source(p, p->spans[eff->fault_ins], out);
		break;
	case IRF_COMMIT:
		buf_str(out, "the block commits a second time");
		break;
	case IRF_NULL:
	case IRF_FREED:
	case IRF_DOUBLE_FREE:
	case IRF_EXHAUSTED:
		print_cell_fault(p, &p->pools[i->a], eff, out);
		break;
	case IRF_LIMIT:
		buf_printf(out, "the step takes more than %u operations or %u choices", IR_FUEL, IR_MAX_CHOICES);
		break;
	case IRF_NONE:
		break;
	}
}

/* ---- the whole program -------------------------------------------------- */

static const char *const op_name[IR_OP_COUNT] = {
	"nop",  "stop",  "mov",    "neg",    "not",   "bitnot", "bool",  "add",  "sub",    "mul",    "div",     "mod",  "shl",
	"shr",  "and",   "or",     "xor",    "eq",    "ne",     "lt",    "le",   "gt",     "ge",     "range",   "jmp",  "jz",
	"jnz",  "lget",  "lset",   "lzero",  "load",  "store",  "cas",   "xchg", "fadd",   "acq",    "rel",     "rinv", "rresp",
	"winv", "wresp", "choose", "assume", "stuck", "assert", "enter", "exit", "commit", "invoke", "respond",
};
static const char *const node_name[] = {
	"end", "stuck", "start", "access", "lock", "register", "step", "local", "enter", "exit", "invoke", "respond", "await",
};

static void operand(struct buf *out, bool is_imm, int32_t v)
{
	buf_printf(out, is_imm ? " %d" : " r%d", v);
}

static void print_ins(const struct ir *p, const struct ir_ins *i, struct buf *out)
{
	bool ib = i->imm & IR_IMM_B, ic = i->imm & IR_IMM_C;
	buf_printf(out, "%-7s", op_name[i->op]);
	switch ((enum ir_op)i->op) {
	case IR_STOP:
		buf_printf(out, " n%d", i->a);
		break;
	case IR_JMP:
		buf_printf(out, " @%d", i->a);
		break;
	case IR_JZ:
	case IR_JNZ:
		operand(out, ib, i->b);
		buf_printf(out, " @%d", i->a);
		break;
	case IR_LOAD:
	case IR_RINV:
	case IR_RRESP:
	case IR_CAS:
	case IR_XCHG:
	case IR_FADD:
		buf_printf(out, " r%d %s[", i->a, p->vars[i->b].name);
		buf_printf(out, ic ? "%d]" : "r%d]", i->c);
		if (i->op == IR_CAS || i->op == IR_XCHG || i->op == IR_FADD)
			buf_printf(out, " r%d", i->d);
		if (i->op == IR_CAS)
			buf_printf(out, " r%d", i->e);
		break;
	case IR_STORE:
	case IR_WINV:
	case IR_WRESP:
	case IR_ACQ:
	case IR_REL:
		buf_printf(out, " %s[", p->vars[i->a].name);
		buf_printf(out, ic ? "%d]" : "r%d]", i->c);
		if (i->op != IR_ACQ && i->op != IR_REL)
			operand(out, ib, i->b);
		break;
	case IR_RANGE:
	case IR_CHOOSE:
		buf_printf(out, " r%d %d..%d", i->a, i->b, i->c);
		break;
	case IR_ASSUME:
	case IR_ASSERT:
		operand(out, ib, i->b);
		break;
	case IR_STUCK:
		operand(out, ib, i->b);
		buf_printf(out, " n%d", i->a);
		break;
	case IR_ENTER:
	case IR_EXIT:
	case IR_COMMIT:
		buf_printf(out, " %s", p->blocks[i->a].name);
		break;
	case IR_INVOKE:
	case IR_RESPOND:
		buf_printf(out, " %s.%s", p->objects[p->opers[i->a].object].name, p->opers[i->a].method);
		if (i->op == IR_RESPOND)
			operand(out, ib, i->b);
		break;
	case IR_LGET:
		buf_printf(out, " r%d r%d[", i->a, i->b);
		buf_printf(out, ic ? "%d]" : "r%d]", i->c);
		break;
	case IR_LSET:
		buf_printf(out, " r%d[", i->a);
		buf_printf(out, ic ? "%d]" : "r%d]", i->c);
		operand(out, ib, i->b);
		break;
	case IR_LZERO:
		buf_printf(out, " r%d..r%d", i->a, i->a + i->d - 1);
		break;
	case IR_NOP:
	case IR_OP_COUNT:
		break;
	default:
		buf_printf(out, " r%d", i->a);
		operand(out, ib, i->b);
		if (i->op >= IR_ADD && i->op <= IR_GE)
			operand(out, ic, i->c);
	}
	buf_char(out, '\n');
}

static void print_node(const struct ir *p, const struct ir_template *t, uint32_t id, struct buf *out)
{
	const struct ir_node *n = &p->nodes[id];
	buf_printf(out, "  n%u %s%s", id, node_name[n->kind], id == t->entry ? " (entry)" : "");
	if (n->block != IR_NONE)
		buf_printf(out, " in %s", p->blocks[n->block].name);
	buf_printf(out, " line %u: ", source_line_of(p->src, n->span.start));
	ir_print_node(p, id, out);
	buf_char(out, '\n');
	for (uint32_t k = 0; k < n->naccess; k++) {
		buf_str(out, "      ");
		print_access(p, &p->accesses[n->access + k], out);
		buf_char(out, '\n');
	}
	if (n->nkill) {
		buf_str(out, "      reset");
		for (uint32_t k = 0; k < n->nkill; k++)
			buf_printf(out, " r%u", p->kills[n->kill + k]);
		buf_char(out, '\n');
	}
	if (n->nsucc) {
		buf_str(out, "      to");
		for (uint32_t k = 0; k < n->nsucc; k++)
			buf_printf(out, " n%u", p->succs[n->succ + k]);
		buf_char(out, '\n');
	}
}

static void print_vars(const struct ir *p, struct buf *out)
{
	static const char *const kinds[] = { "", "lock ", "safe ", "regular " };
	for (uint32_t i = 0; i < p->nvars; i++) {
		const struct ir_var *v = &p->vars[i];
		buf_printf(out, "shared %s%s", kinds[v->kind], v->name);
		if (v->is_array)
			buf_printf(out, "[%u]", v->len);
		buf_printf(out, " %d..%d at %u =", v->lo, v->hi, v->slot);
		for (uint32_t j = 0; j < v->len && j < 16; j++)
			buf_printf(out, " %d", p->init[v->slot + j]);
		buf_str(out, v->len > 16 ? " ...\n" : "\n");
	}
}

void ir_print(const struct ir *p, struct buf *out)
{
	print_vars(p, out);
	for (uint32_t i = 0; i < p->nobjects; i++)
		buf_printf(out, "object %s: register %d..%d = %d\n", p->objects[i].name, p->objects[i].lo, p->objects[i].hi,
		           p->objects[i].init);
	for (uint32_t t = 0; t < p->ntemplates; t++) {
		const struct ir_template *tm = &p->templates[t];
		buf_printf(out, "\nthread %s * %u: %u slots, %u registers, %u nodes\n", tm->name, tm->count, tm->nslots, tm->nregs,
		           tm->nnode);
		for (uint32_t i = tm->node; i < tm->node + tm->nnode; i++)
			print_node(p, tm, i, out);
		for (uint32_t i = tm->code; i < tm->code + tm->ncode; i++) {
			if (p->code[i].op == IR_NOP)
				continue;
			buf_printf(out, "  @%-5u ", i);
			print_ins(p, &p->code[i], out);
		}
	}
	buf_printf(out, "\nstate: %u slots, %u of them global\n", p->nstate, p->nglobals);
}
