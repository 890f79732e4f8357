/*
 * step: the one definition of the semantics.
 *
 * ir_exec runs the code after a thread's node until the next node. The
 * thread's frame is copied into a register file on the stack together with
 * the scratch registers, so that operands need no case distinction, and
 * copied back at the end. Nothing is allocated. Costs a few nanoseconds an
 * instruction; a typical step has three to six.
 *
 * Faults and disabled steps leave the caller's globals half-changed: callers
 * step a copy (ir_step does).
 */
#include <string.h>

#include "base/invariant.h"
#include "ir/ir.h"

struct machine {
	const struct ir *p;
	const struct ir_template *t;
	uint32_t thread;
	int32_t *g;
	int32_t *r; /* registers */
	struct ir_choices *ch;
	struct ir_effect *eff;
	uint32_t pc;
};

static enum ir_result fault(struct machine *m, enum ir_fault f, int64_t value)
{
	assert(f != IRF_NONE && m->pc >= m->t->code && m->pc < m->t->code + m->t->ncode);
	if (m->eff) {
		m->eff->fault = f;
		m->eff->fault_ins = m->pc;
		m->eff->fault_value = value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : (int32_t)value;
	}
	return IR_FAULT;
}

static inline void record(struct machine *m, uint32_t mode, uint32_t var, uint32_t elem, int32_t before, int32_t after)
{
	assert(var < m->p->nvars && elem < m->p->vars[var].len && mode);
	struct ir_effect *e = m->eff;
	if (e->nevents < IR_MAX_EVENTS)
		e->events[e->nevents++] = (struct ir_event){ mode, var, elem, before, after, m->pc };
}

/* The next choice among n outcomes; IR_NONE when there are too many. */
static uint32_t choose(struct machine *m, uint32_t n)
{
	struct ir_choices *ch = m->ch;
	if (!ch || n <= 1)
		return 0;
	if (ch->n >= IR_MAX_CHOICES)
		return IR_NONE;
	assert(ch->n <= ch->fixed && ch->fixed <= IR_MAX_CHOICES);
	uint32_t k = ch->n++;
	if (k >= ch->fixed) {
		ch->pick[k] = 0;
		ch->fixed = k + 1;
	}
	ch->size[k] = n;
	return ch->pick[k] < n ? ch->pick[k] : n - 1;
}

/* ---- safe and regular variables ----------------------------------------- */

static inline int32_t *reg_aux(const struct machine *m, const struct ir_var *v, uint32_t elem)
{
	return m->g + v->aux + elem * v->aux_stride;
}

static inline int32_t *reg_record(const struct machine *m, const struct ir_var *v, uint32_t elem, uint32_t rank)
{
	assert(rank != IR_NONE && 1 + rank * v->aux_record < v->aux_stride); /* the thread touches the variable */
	return reg_aux(m, v, elem) + 1 + rank * v->aux_record;
}

static void mask_add(const struct ir_var *v, int32_t *mask, int32_t value)
{
	assert(value >= v->lo && value <= v->hi && (uint32_t)(value - v->lo) / 31 < v->aux_record - 1);
	uint32_t bit = (uint32_t)(value - v->lo);
	mask[bit / 31] |= 1 << bit % 31;
}

static bool mask_empty(const struct ir_var *v, const int32_t *mask)
{
	for (uint32_t i = 0; i + 1 < v->aux_record; i++)
		if (mask[i])
			return false;
	return true;
}

static void read_invoke(struct machine *m, const struct ir_var *v, uint32_t elem)
{
	assert(v->kind == IRV_SAFE || v->kind == IRV_REGULAR);
	int32_t *aux = reg_aux(m, v, elem);
	int32_t *rec = reg_record(m, v, elem, v->rank[m->thread]);
	if (v->kind == IRV_SAFE) {
		rec[0] = aux[0] ? 2 : 1;
		return;
	}
	assert(mask_empty(v, rec + 1)); /* no read of this thread is in progress */
	mask_add(v, rec + 1, m->g[v->slot + elem]);
	for (uint32_t i = 0; aux[0] && i < (v->aux_stride - 1) / v->aux_record; i++) {
		int32_t pending = aux[1 + i * v->aux_record];
		if (pending)
			mask_add(v, rec + 1, pending - 1 + v->lo);
	}
}

static enum ir_result read_respond(struct machine *m, const struct ir_var *v, uint32_t elem, int32_t *out)
{
	int32_t *rec = reg_record(m, v, elem, v->rank[m->thread]);
	if (v->kind == IRV_SAFE) {
		assert(rec[0] == 1 || rec[0] == 2);
		if (rec[0] == 2) {
			uint32_t k = choose(m, (uint32_t)(v->hi - v->lo + 1));
			if (k == IR_NONE)
				return fault(m, IRF_LIMIT, 0);
			*out = v->lo + (int32_t)k;
		} else {
			*out = m->g[v->slot + elem];
		}
		rec[0] = 0;
		return IR_OK;
	}
	uint32_t n = 0;
	for (uint32_t w = 0; w + 1 < v->aux_record; w++)
		n += (uint32_t)__builtin_popcount((unsigned)rec[1 + w]);
	assert(n); /* the value at its invocation, at least */
	uint32_t k = choose(m, n);
	if (k == IR_NONE)
		return fault(m, IRF_LIMIT, 0);
	for (uint32_t w = 0; w + 1 < v->aux_record; w++) {
		for (uint32_t bit = 0; bit < 31; bit++)
			if (rec[1 + w] >> bit & 1 && k-- == 0)
				*out = v->lo + (int32_t)(w * 31 + bit);
		rec[1 + w] = 0;
	}
	return IR_OK;
}

static void write_invoke(struct machine *m, const struct ir_var *v, uint32_t elem, int32_t value)
{
	assert(value >= v->lo && value <= v->hi);
	int32_t *aux = reg_aux(m, v, elem);
	assert((uint32_t)aux[0] < (v->aux_stride - 1) / v->aux_record); /* one a thread */
	aux[0]++;
	for (uint32_t i = 0; i < (v->aux_stride - 1) / v->aux_record; i++) {
		int32_t *rec = aux + 1 + i * v->aux_record;
		if (v->kind == IRV_SAFE) {
			if (rec[0] == 1)
				rec[0] = 2;
		} else if (!mask_empty(v, rec + 1)) {
			mask_add(v, rec + 1, value);
		}
	}
	if (v->kind == IRV_REGULAR)
		reg_record(m, v, elem, v->rank[m->thread])[0] = value - v->lo + 1;
}

static void write_respond(struct machine *m, const struct ir_var *v, uint32_t elem, int32_t value)
{
	assert(reg_aux(m, v, elem)[0] > 0 && value >= v->lo && value <= v->hi);
	reg_aux(m, v, elem)[0]--;
	m->g[v->slot + elem] = value;
	if (v->kind == IRV_REGULAR)
		reg_record(m, v, elem, v->rank[m->thread])[0] = 0;
}

/* ---- arithmetic --------------------------------------------------------- */

static enum ir_result arith(struct machine *m, const struct ir_ins *i, int64_t b, int64_t c)
{
	int64_t v;
	switch (i->op) {
	case IR_ADD:
		v = b + c;
		break;
	case IR_SUB:
		v = b - c;
		break;
	case IR_MUL:
		v = b * c;
		break;
	case IR_DIV:
	case IR_MOD:
		if (c == 0)
			return fault(m, IRF_DIVISION, b);
		v = i->op == IR_DIV ? b / c : b % c;
		break;
	default: /* shifts */
		assert(i->op == IR_SHL || i->op == IR_SHR);
		if (c < 0 || c > 31)
			return fault(m, IRF_SHIFT, c);
		v = i->op == IR_SHL ? b * ((int64_t)1 << c) : b >> c;
		break;
	}
	if (v < INT32_MIN || v > INT32_MAX)
		return fault(m, IRF_OVERFLOW, v);
	assert(i->a >= 1 && (uint32_t)i->a < m->t->nregs);
	m->r[i->a] = (int32_t)v;
	return IR_OK;
}

/* ---- the interpreter ---------------------------------------------------- */

static inline void reset_effect(struct ir_effect *e)
{
	e->fault = IRF_NONE;
	e->entered = e->exited = e->committed = e->invoked = e->responded = IR_NONE;
	e->stuck = false;
	e->nevents = 0;
}

static void arrive(struct machine *m, uint32_t node)
{
	assert(node >= m->t->node && node < m->t->node + m->t->nnode);
	const struct ir_node *n = &m->p->nodes[node];
	const uint32_t *kill = m->p->kills + n->kill;
	for (uint32_t i = 0; i < n->nkill; i++)
		m->r[kill[i]] = 0;
	m->r[0] = (int32_t)node;
}

/* Where the machine is, for faults and records: kept in a register else. */
#define HERE        (m->pc = (uint32_t)(i - p->code))
#define FAULT(f, v) (HERE, fault(m, (f), (v)))
#define RECORD(...)                             \
	do {                                    \
		if (recording) {                \
			HERE;                   \
			record(m, __VA_ARGS__); \
		}                               \
	} while (0)
#define JUMP                                        \
	do {                                        \
		if (--fuel == 0)                    \
			return FAULT(IRF_LIMIT, 0); \
		i = p->code + i->a - 1;             \
	} while (0)
#define B ((i->imm & IR_IMM_B) ? i->b : r[i->b])
#define C ((i->imm & IR_IMM_C) ? i->c : r[i->c])
#define ELEM(v)                         \
	int32_t elem = C;               \
	if ((uint32_t)elem >= (v)->len) \
	return FAULT(IRF_INDEX, elem)
#define FIT(v, x)                           \
	if ((x) < (v)->lo || (x) > (v)->hi) \
	return FAULT(IRF_RANGE, (x))

static enum ir_result run(struct machine *m)
{
	const struct ir *p = m->p;
	int32_t *const r = m->r, *const g = m->g;
	const bool recording = m->eff && m->eff->events;
	uint32_t fuel = IR_FUEL; /* every loop jumps: counting jumps is enough */
	for (const struct ir_ins *i = p->code + m->pc;; i++) {
		switch ((enum ir_op)i->op) {
		case IR_NOP:
		case IR_OP_COUNT:
			break;
		case IR_STOP:
			arrive(m, (uint32_t)i->a);
			return IR_OK;
		case IR_MOV:
			r[i->a] = B;
			break;
		case IR_NEG:
			if (B == INT32_MIN)
				return FAULT(IRF_OVERFLOW, -(int64_t)INT32_MIN);
			r[i->a] = -B;
			break;
		case IR_NOT:
			r[i->a] = !B;
			break;
		case IR_BITNOT:
			r[i->a] = ~B;
			break;
		case IR_BOOL:
			r[i->a] = B != 0;
			break;
		case IR_ADD ... IR_SHR:
			HERE;
			if (arith(m, i, B, C) != IR_OK)
				return IR_FAULT;
			break;
		case IR_AND:
			r[i->a] = B & C;
			break;
		case IR_OR:
			r[i->a] = B | C;
			break;
		case IR_XOR:
			r[i->a] = B ^ C;
			break;
		case IR_EQ:
			r[i->a] = B == C;
			break;
		case IR_NE:
			r[i->a] = B != C;
			break;
		case IR_LT:
			r[i->a] = B < C;
			break;
		case IR_LE:
			r[i->a] = B <= C;
			break;
		case IR_GT:
			r[i->a] = B > C;
			break;
		case IR_GE:
			r[i->a] = B >= C;
			break;
		case IR_RANGE:
			if (r[i->a] < i->b || r[i->a] > i->c)
				return FAULT(i->d == IR_RANGE_INDEX ? IRF_INDEX : IRF_RANGE, r[i->a]);
			break;
		case IR_JMP:
			JUMP;
			break;
		case IR_JZ:
			if (!B)
				JUMP;
			break;
		case IR_JNZ:
			if (B)
				JUMP;
			break;
		case IR_LGET: {
			int32_t elem = C;
			if ((uint32_t)elem >= (uint32_t)i->d)
				return FAULT(IRF_INDEX, elem);
			r[i->a] = r[i->b + elem];
			break;
		}
		case IR_LSET: {
			int32_t elem = C;
			if ((uint32_t)elem >= (uint32_t)i->d)
				return FAULT(IRF_INDEX, elem);
			r[i->a + elem] = B;
			break;
		}
		case IR_LZERO:
			memset(&r[i->a], 0, (size_t)i->d * sizeof *r);
			break;
		case IR_LOAD: {
			const struct ir_var *v = &p->vars[i->b];
			ELEM(v);
			int32_t x = g[v->slot + (uint32_t)elem];
			assert(x >= v->lo && x <= v->hi);
			RECORD(IRA_READ, (uint32_t)i->b, (uint32_t)elem, x, x);
			r[i->a] = x;
			break;
		}
		case IR_STORE: {
			const struct ir_var *v = &p->vars[i->a];
			ELEM(v);
			int32_t x = B;
			FIT(v, x);
			int32_t *at = &g[v->slot + (uint32_t)elem];
			RECORD(IRA_WRITE, (uint32_t)i->a, (uint32_t)elem, *at, x);
			*at = x;
			break;
		}
		case IR_CAS: {
			const struct ir_var *v = &p->vars[i->b];
			ELEM(v);
			int32_t *at = &g[v->slot + (uint32_t)elem], old = *at;
			bool won = old == r[i->d];
			if (won) {
				FIT(v, r[i->e]);
				*at = r[i->e];
			}
			RECORD(won ? IRA_RMW : IRA_READ, (uint32_t)i->b, (uint32_t)elem, old, *at);
			r[i->a] = won;
			break;
		}
		case IR_XCHG:
		case IR_FADD: {
			const struct ir_var *v = &p->vars[i->b];
			ELEM(v);
			int32_t *at = &g[v->slot + (uint32_t)elem], old = *at;
			int64_t x = i->op == IR_XCHG ? r[i->d] : (int64_t)old + r[i->d];
			FIT(v, x);
			*at = (int32_t)x;
			RECORD(IRA_RMW, (uint32_t)i->b, (uint32_t)elem, old, *at);
			r[i->a] = old;
			break;
		}
		case IR_ACQ: {
			const struct ir_var *v = &p->vars[i->a];
			ELEM(v);
			int32_t *at = &g[v->slot + (uint32_t)elem];
			if (*at)
				return IR_BLOCKED;
			assert(!r[i->d + elem]);
			*at = 1;
			r[i->d + elem] = 1;
			RECORD(IRA_ACQUIRE, (uint32_t)i->a, (uint32_t)elem, 0, 1);
			break;
		}
		case IR_REL: {
			const struct ir_var *v = &p->vars[i->a];
			ELEM(v);
			if (!r[i->d + elem])
				return FAULT(IRF_RELEASE, elem);
			assert(g[v->slot + (uint32_t)elem] == 1); /* the holder's bit and the lock agree */
			g[v->slot + (uint32_t)elem] = 0;
			r[i->d + elem] = 0;
			RECORD(IRA_RELEASE, (uint32_t)i->a, (uint32_t)elem, 1, 0);
			break;
		}
		case IR_RINV: {
			const struct ir_var *v = &p->vars[i->b];
			ELEM(v);
			read_invoke(m, v, (uint32_t)elem);
			RECORD(IRA_READ_INV, (uint32_t)i->b, (uint32_t)elem, 0, 0);
			break;
		}
		case IR_RRESP: {
			const struct ir_var *v = &p->vars[i->b];
			int32_t x = 0;
			ELEM(v);
			HERE;
			if (read_respond(m, v, (uint32_t)elem, &x) != IR_OK)
				return IR_FAULT;
			r[i->a] = x;
			RECORD(IRA_READ_RESP, (uint32_t)i->b, (uint32_t)elem, x, x);
			break;
		}
		case IR_WINV: {
			const struct ir_var *v = &p->vars[i->a];
			int32_t x = B;
			ELEM(v);
			FIT(v, x);
			write_invoke(m, v, (uint32_t)elem, x);
			RECORD(IRA_WRITE_INV, (uint32_t)i->a, (uint32_t)elem, g[v->slot + (uint32_t)elem], x);
			break;
		}
		case IR_WRESP: {
			const struct ir_var *v = &p->vars[i->a];
			int32_t x = B;
			ELEM(v);
			RECORD(IRA_WRITE_RESP, (uint32_t)i->a, (uint32_t)elem, g[v->slot + (uint32_t)elem], x);
			write_respond(m, v, (uint32_t)elem, x);
			break;
		}
		case IR_CHOOSE: {
			uint32_t k = choose(m, (uint32_t)(i->c - i->b) + 1);
			if (k == IR_NONE)
				return FAULT(IRF_LIMIT, 0);
			r[i->a] = i->b + (int32_t)k;
			break;
		}
		case IR_ASSUME:
			if (!B)
				return IR_BLOCKED;
			break;
		case IR_STUCK:
			if (!B) {
				if (m->eff) {
					assert(p->nodes[i->a].kind == IRN_STUCK);
					m->eff->stuck = true;
				}
				arrive(m, (uint32_t)i->a);
				return IR_OK;
			}
			break;
		case IR_ASSERT:
			if (!B)
				return FAULT((enum ir_fault)i->c, 0);
			break;
		case IR_ENTER:
			if (m->eff)
				m->eff->entered = (uint32_t)i->a;
			break;
		case IR_EXIT: {
			const struct ir_block *blk = &p->blocks[i->a];
			if (m->eff)
				m->eff->exited = (uint32_t)i->a;
			if (!blk->has_commit)
				break;
			if (!r[blk->phase] && m->eff)
				m->eff->committed = (uint32_t)i->a;
			r[blk->phase] = 0;
			break;
		}
		case IR_COMMIT:
			if (r[i->b])
				return FAULT(IRF_COMMIT, 0);
			r[i->b] = 1;
			if (m->eff)
				m->eff->committed = (uint32_t)i->a;
			break;
		case IR_INVOKE:
			if (m->eff) {
				m->eff->invoked = (uint32_t)i->a;
				m->eff->arg = i->c ? r[i->b] : 0;
			}
			break;
		case IR_RESPOND:
			if (m->eff) {
				m->eff->responded = (uint32_t)i->a;
				m->eff->result = B;
			}
			break;
		}
	}
}

enum ir_result ir_exec(const struct ir *p, uint32_t thread, int32_t *g, int32_t *f, struct ir_choices *ch, struct ir_effect *eff)
{
	assert(thread < p->nthreads && (uint32_t)f[0] < p->nnodes);
	int32_t regs[IR_MAX_REGS];
	const struct ir_template *t = &p->templates[p->threads[thread].tmpl];
	const struct ir_node *n = &p->nodes[f[0]];
	if (eff)
		reset_effect(eff);
	if (ch)
		ch->n = 0;
	if (n->kind == IRN_END || n->kind == IRN_STUCK)
		return IR_BLOCKED;
	assert((uint32_t)f[0] >= t->node && (uint32_t)f[0] < t->node + t->nnode && p->code[n->ins].op == IR_STOP);
	PARANOID(ir_frame_valid(p, thread, f));
	memcpy(regs, f, t->nslots * sizeof *f);
	struct machine m = { p, t, thread, g, regs, ch, eff, n->ins + 1 };
	enum ir_result r = run(&m);
	assert(r != IR_FAULT || !eff || (eff->fault != IRF_NONE && eff->fault_ins < p->ncode));
	if (r == IR_OK)
		memcpy(f, regs, t->nslots * sizeof *f);
	PARANOID(r != IR_OK || ir_frame_valid(p, thread, f));
	return r;
}

enum ir_result ir_step(const struct ir *p, const int32_t *state, uint32_t thread, struct ir_choices *ch, int32_t *out,
                       struct ir_effect *eff)
{
	PARANOID(ir_state_valid(p, state));
	if (out != state)
		memcpy(out, state, p->nstate * sizeof *out);
	return ir_exec(p, thread, out, out + p->threads[thread].frame, ch, eff);
}
