/*
 * valid: every invariant of ir.h, checked after the program is built (and by
 * the tests after every pass). A violation is our bug, never the user's.
 */
#include "base/invariant.h"
#include "ir/build.h"

struct valid {
	const struct ir *p;
	struct arena *a;
	const char *why;
};

#define REQUIRE(cond, ...)                                        \
	do {                                                      \
		if (!(cond)) {                                    \
			v->why = arena_printf(v->a, __VA_ARGS__); \
			return;                                   \
		}                                                 \
	} while (0)

static void check_vars(struct valid *v)
{
	const struct ir *p = v->p;
	for (uint32_t i = 0; i < p->nvars; i++) {
		const struct ir_var *x = &p->vars[i];
		REQUIRE(x->len >= 1 && x->slot + x->len <= p->nglobals, "variable %u is outside the globals", i);
		REQUIRE(x->lo <= x->hi, "variable %u has an empty range", i);
		REQUIRE(x->value != IR_VALUE_ENUM || x->enum_id < p->nenums, "variable %u has no enum", i);
		for (uint32_t j = 0; j < x->len; j++)
			REQUIRE(p->init[x->slot + j] >= x->lo && p->init[x->slot + j] <= x->hi,
			        "variable %u starts outside its range", i);
		if (x->kind == IRV_SAFE || x->kind == IRV_REGULAR)
			REQUIRE(x->aux + x->len * x->aux_stride <= p->nglobals,
			        "variable %u's auxiliary slots are outside the globals", i);
	}
}

/* Is an operand that names something within its table? */
static bool operand_ok(const struct ir *p, const struct ir_template *t, const struct ir_ins *i)
{
	int64_t a = i->a, b = i->b;
	switch ((enum ir_op)i->op) {
	case IR_STOP:
	case IR_STUCK:
		return a >= t->node && a < t->node + t->nnode;
	case IR_JMP:
	case IR_JZ:
	case IR_JNZ:
		return a >= t->code && a < t->code + t->ncode;
	case IR_LOAD:
	case IR_CAS:
	case IR_XCHG:
	case IR_FADD:
	case IR_RINV:
	case IR_RRESP:
		return b >= 0 && b < p->nvars && p->vars[b].kind != IRV_LOCK &&
		       (p->vars[b].kind == IRV_PLAIN) == (i->op != IR_RINV && i->op != IR_RRESP);
	case IR_STORE:
	case IR_WINV:
	case IR_WRESP:
		return a >= 0 && a < p->nvars && p->vars[a].kind != IRV_LOCK &&
		       (p->vars[a].kind == IRV_PLAIN) == (i->op == IR_STORE);
	case IR_ACQ:
	case IR_REL:
		return a >= 0 && a < p->nvars && p->vars[a].kind == IRV_LOCK && i->d > 0 &&
		       (uint32_t)i->d + p->vars[a].len <= t->nslots;
	case IR_ENTER:
	case IR_EXIT:
	case IR_COMMIT:
		return a >= 0 && a < p->nblocks;
	case IR_INVOKE:
	case IR_RESPOND:
		return a >= 0 && a < p->nopers;
	case IR_CHOOSE:
		return i->b <= i->c;
	default:
		return i->op < IR_OP_COUNT;
	}
}

static void check_code(struct valid *v, const struct ir_template *t)
{
	const struct ir *p = v->p;
	REQUIRE(t->code + t->ncode <= p->ncode && t->ncode > 0, "template has no code");
	for (uint32_t i = t->code; i < t->code + t->ncode; i++) {
		const struct ir_ins *ins = &p->code[i];
		REQUIRE(operand_ok(p, t, ins), "instruction %u has a bad operand", i);
		struct ir_uses u = ir_ins_uses(ins);
		for (uint32_t k = 0; k < u.nread; k++)
			REQUIRE(u.read[k].reg >= 1 && u.read[k].reg + u.read[k].n <= t->nregs,
			        "instruction %u reads a register outside the frame", i);
		for (uint32_t k = 0; k < u.nwrite; k++)
			REQUIRE(u.write[k].reg >= 1 && u.write[k].reg + u.write[k].n <= t->nregs,
			        "instruction %u writes a register outside the frame", i);
	}
	uint8_t last = p->code[t->code + t->ncode - 1].op;
	REQUIRE(last == IR_STOP || last == IR_JMP || last == IR_NOP, "control runs off the end of template %s", t->name);
}

static void check_node(struct valid *v, const struct ir_template *t, uint32_t id)
{
	const struct ir *p = v->p;
	const struct ir_node *n = &p->nodes[id];
	bool idle = n->kind == IRN_END || n->kind == IRN_STUCK;
	REQUIRE(n->kind == IRN_STUCK || (n->ins < p->ncode && p->code[n->ins].op == IR_STOP && (uint32_t)p->code[n->ins].a == id),
	        "node %u is not at its IR_STOP", id);
	REQUIRE(n->block == IR_NONE || (n->block < p->nblocks && &p->templates[p->blocks[n->block].tmpl] == t),
	        "node %u is inside a block of another template", id);
	REQUIRE(n->kind != IRN_ENTER || n->block == IR_NONE, "node %u enters inside a block", id);
	REQUIRE(n->kind != IRN_EXIT || n->block != IR_NONE, "node %u leaves no block", id);
	REQUIRE(n->kind != IRN_END || n->block == IR_NONE, "node %u ends inside a block", id);
	REQUIRE(idle || n->nsucc > 0, "node %u leads nowhere", id);
	REQUIRE(n->scope == IR_NONE || n->scope < p->nscopes, "node %u has no scope", id);
	for (uint32_t k = 0; k < n->nsucc; k++)
		REQUIRE(p->succs[n->succ + k] >= t->node && p->succs[n->succ + k] < t->node + t->nnode,
		        "node %u leads into another template", id);
	for (uint32_t k = 0; k < n->nkill; k++)
		REQUIRE(p->kills[n->kill + k] >= 1 && p->kills[n->kill + k] < t->nslots,
		        "node %u kills something outside the frame", id);
	uint32_t limit = n->kind == IRN_ACCESS || n->kind == IRN_LOCK || n->kind == IRN_REGISTER || n->kind == IRN_AWAIT ? 1
	                 : n->kind == IRN_STEP ? UINT32_MAX
	                                       : 0;
	/* assume(a ? x : y) is one access, with two places where it may be */
	REQUIRE(n->naccess <= limit || n->kind == IRN_AWAIT, "node %u makes %u accesses in one step", id, n->naccess);
	for (uint32_t k = 0; k < n->naccess; k++)
		REQUIRE(p->accesses[n->access + k].var < p->nvars, "node %u accesses no variable", id);
}

static void check_template(struct valid *v, uint32_t t)
{
	const struct ir_template *tm = &v->p->templates[t];
	REQUIRE(tm->node + tm->nnode <= v->p->nnodes && tm->nnode > 0, "template %u has no nodes", t);
	REQUIRE(tm->entry >= tm->node && tm->entry < tm->node + tm->nnode, "template %u starts nowhere", t);
	REQUIRE(tm->nslots >= 1 && tm->nslots <= tm->nregs && tm->nregs <= IR_MAX_REGS, "template %u has a bad frame", t);
	check_code(v, tm);
	for (uint32_t i = tm->node; i < tm->node + tm->nnode && !v->why; i++)
		check_node(v, tm, i);
}

static void check_threads(struct valid *v)
{
	const struct ir *p = v->p;
	uint32_t at = p->nglobals;
	for (uint32_t i = 0; i < p->nthreads; i++) {
		REQUIRE(p->threads[i].tmpl < p->ntemplates, "thread %u has no template", i);
		REQUIRE(p->threads[i].frame == at, "thread %u's frame is misplaced", i);
		at += p->templates[p->threads[i].tmpl].nslots;
	}
	REQUIRE(at == p->nstate, "the state has %u slots, not %u", at, p->nstate);
}

bool ir_frame_valid(const struct ir *p, uint32_t thread, const int32_t *f)
{
	const struct ir_template *t = &p->templates[p->threads[thread].tmpl];
	for (uint32_t i = 0; i < t->nslots; i++)
		if (f[i] < p->slots[t->slot + i].lo || f[i] > p->slots[t->slot + i].hi)
			return false;
	return true;
}

/* How often each element of the locks is held, by the holders' bits. */
static bool locks_valid(const struct ir *p, const int32_t *state)
{
	for (uint32_t i = 0; i < p->nvars; i++)
		for (uint32_t e = 0; p->vars[i].kind == IRV_LOCK && e < p->vars[i].len; e++) {
			int32_t held = 0;
			for (uint32_t k = 0; k < p->nthreads; k++) {
				const struct ir_template *t = &p->templates[p->threads[k].tmpl];
				for (uint32_t s = 1; s < t->nslots; s++) {
					const struct ir_slot *slot = &p->slots[t->slot + s];
					held += slot->is_lock && slot->var == i && slot->elem == e &&
					        state[p->threads[k].frame + s];
				}
			}
			if (held != state[p->vars[i].slot + e])
				return false;
		}
	return true;
}

bool ir_state_valid(const struct ir *p, const int32_t *state)
{
	for (uint32_t i = 0; i < p->nvars; i++)
		for (uint32_t e = 0; e < p->vars[i].len; e++)
			if (state[p->vars[i].slot + e] < p->vars[i].lo || state[p->vars[i].slot + e] > p->vars[i].hi)
				return false;
	for (uint32_t k = 0; k < p->nthreads; k++)
		if (!ir_frame_valid(p, k, state + p->threads[k].frame))
			return false;
	return locks_valid(p, state);
}

bool ir_globals_valid(const struct ir *p, const int32_t *g)
{
	for (uint32_t i = 0; i < p->nvars; i++) {
		const struct ir_var *v = &p->vars[i];
		bool records = v->kind == IRV_SAFE || v->kind == IRV_REGULAR;
		for (uint32_t e = 0; e < v->len; e++) {
			if (g[v->slot + e] < v->lo || g[v->slot + e] > v->hi)
				return false;
			const int32_t *aux = g + v->aux + (size_t)e * v->aux_stride;
			uint32_t n = records ? (v->aux_stride - 1) / v->aux_record : 0;
			if (records && (aux[0] < 0 || (uint32_t)aux[0] > n))
				return false;
			for (uint32_t k = 0; k < n * v->aux_record; k++) {
				bool mask = v->kind == IRV_REGULAR && k % v->aux_record;
				uint32_t left = (uint32_t)(v->hi - v->lo + 1) - (mask ? (k % v->aux_record - 1) * 31 : 0);
				int64_t most = v->kind == IRV_SAFE ? 2
				               : !mask             ? left
				               : left < 31         ? (INT64_C(1) << left) - 1
				                                   : INT32_MAX;
				if (aux[1 + k] < 0 || aux[1 + k] > most)
					return false;
			}
		}
	}
	return true;
}

/* The thread's own record of an element: is a read of it in progress, or a write? */
static bool in_progress(const struct ir_var *v, const int32_t *g, uint32_t e, uint32_t thread, bool write)
{
	const int32_t *aux = g + v->aux + (size_t)e * v->aux_stride, *rec = aux + 1 + (size_t)v->rank[thread] * v->aux_record;
	bool any = v->kind == IRV_SAFE && rec[0];
	for (uint32_t k = 1; k < v->aux_record && v->kind == IRV_REGULAR; k++)
		any |= rec[k] != 0;
	return write ? aux[0] > 0 : any;
}

bool ir_frame_fits(const struct ir *p, uint32_t thread, const int32_t *g, const int32_t *f)
{
	assert(thread < p->nthreads && (uint32_t)f[0] < p->nnodes);
	const struct ir_template *t = &p->templates[p->threads[thread].tmpl];
	const struct ir_node *n = &p->nodes[f[0]];
	for (uint32_t i = 1; i < t->nslots; i++) {
		const struct ir_slot *slot = &p->slots[t->slot + i];
		if (slot->is_lock && f[i] && g[p->vars[slot->var].slot + slot->elem] != 1)
			return false;
	}
	for (uint32_t i = 0; i < n->naccess; i++) {
		const struct ir_access *a = &p->accesses[n->access + i];
		const struct ir_var *v = &p->vars[a->var];
		if (v->kind != IRV_SAFE && v->kind != IRV_REGULAR)
			continue;
		bool some = false, reading = false, full = false;
		for (uint32_t e = 0; e < v->len; e++) {
			reading |= in_progress(v, g, e, thread, false);
			full |= (uint32_t)g[v->aux + e * v->aux_stride] >= (v->aux_stride - 1) / v->aux_record;
			if (a->index == IR_NONE || a->index == e)
				some |= in_progress(v, g, e, thread, a->mode & IRA_WRITE_RESP);
		}
		if ((a->mode & (IRA_READ_RESP | IRA_WRITE_RESP) && !some) || (a->mode & IRA_READ_INV && reading) ||
		    (a->mode & IRA_WRITE_INV && full))
			return false;
	}
	return true;
}

/* Terms refer to earlier ones, so that looking at them ends; what they name is there. */
static void check_properties(struct valid *v)
{
	const struct ir *p = v->p;
	for (uint32_t i = 0; i < p->nterms; i++) {
		const struct ir_term *t = &p->terms[i];
		bool one = t->kind == IRT_INDEX || t->kind == IRT_OP || t->kind == IRT_AND || t->kind == IRT_OR ||
		           t->kind == IRT_COND;
		bool two = t->kind == IRT_AND || t->kind == IRT_OR || t->kind == IRT_COND || (t->kind == IRT_OP && t->op >= IR_ADD);
		REQUIRE(t->kind != IRT_LEAKED || (uint32_t)t->value < p->npools, "term %u names no pool", i);
		REQUIRE(t->kind <= IRT_LEAKED && (!one || t->a < i) && (!two || t->b < i) && (t->kind != IRT_COND || t->c < i),
		        "term %u refers to a later one", i);
		REQUIRE(t->kind != IRT_OP || (t->op >= IR_NEG && t->op <= IR_GE), "term %u has no operator", i);
		REQUIRE(t->kind != IRT_VAR || ((uint32_t)t->value < p->nvars && p->vars[t->value].kind != IRV_SAFE &&
		                               p->vars[t->value].kind != IRV_REGULAR && (t->a == IR_NONE || t->a < i)),
		        "term %u looks at no variable", i);
		REQUIRE(t->kind != IRT_INSIDE || (uint32_t)t->value < p->nblocks, "term %u names no block", i);
	}
	for (uint32_t i = 0; i < p->npools; i++)
		REQUIRE(p->pools[i].state < p->nvars && p->vars[p->pools[i].state].len == p->pools[i].ncells,
		        "pool %u has no cells", i);
	for (uint32_t i = 0; i < p->nvars; i++)
		REQUIRE(p->vars[i].refers1 <= p->npools && p->vars[i].cell1 <= p->npools, "variable %u is of no pool", i);
	REQUIRE(p->nproperties <= IR_MAX_PROPERTIES, "%u properties", p->nproperties);
	for (uint32_t i = 0; i < p->nproperties; i++)
		REQUIRE(p->properties[i].term < p->nterms && p->properties[i].text, "property %u has no condition", i);
}

const char *ir_validate(const struct ir *p, struct arena *a)
{
	struct valid v = { p, a, NULL };
	check_vars(&v);
	for (uint32_t t = 0; t < p->ntemplates && !v.why; t++)
		check_template(&v, t);
	if (!v.why)
		check_threads(&v);
	if (!v.why)
		check_properties(&v);
	return v.why;
}
