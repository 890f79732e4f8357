/*
 * live: which registers live across which nodes; the frame's layout.
 *
 * Backward liveness over the template's code. Sets are bit vectors, kept only
 * where control flow joins or stops (jump targets and IR_STOPs); between them
 * one running set is walked backward. Passes repeat until nothing changes,
 * which takes the loop nesting plus two. A register that is live at some node
 * becomes a frame slot; the others are scratch. Pinned registers (holder and
 * phase bits) are always slots and never reset: their instructions do that.
 *
 * What an instruction reads is live before it only when the instruction is
 * needed: it can go wrong, it does something besides writing registers, or one
 * of those is live after it. So a local that is read only to compute what is
 * never read is dead too (a faint variable), and the instruction is dropped.
 *
 * Then forward, which registers may be non-zero on arrival at a node: those
 * that are dead there are the node's kill list. With keep_dead, named locals
 * in scope are spared, as is what they are computed from, and the full dead
 * list is kept beside (ir_clear_dead).
 */
#include <string.h>

#include "base/invariant.h"
#include "ir/build.h"

/* ---- endless local loops ------------------------------------------------ */

/*
 * `while (true) { }` with nothing in it: a jump that leads back to itself over
 * jumps alone. It parks the thread. Local loops that compute are left as they
 * are; one that never ends spends IR_FUEL and is reported as that.
 */
void ir_pass_endless(struct ir_builder *b)
{
	uint32_t n = b->code.len - b->code0;
	for (uint32_t i = 0; i < n; i++) {
		struct ir_ins *code = b->code.data + b->code0;
		uint32_t at = i, hops = 0;
		if (code[i].op != IR_JMP)
			continue;
		do
			at = code[at].op == IR_JMP ? (uint32_t)code[at].a - b->code0 : at + 1;
		while (at != i && (code[at].op == IR_JMP || code[at].op == IR_NOP) && ++hops < 64);
		if (at != i)
			continue;
		struct ir_node stuck = { .kind = IRN_STUCK, .span = b->spans.data[b->code0 + i] };
		b->block = b->inside.data[b->code0 + i].block;
		b->oper = b->inside.data[b->code0 + i].oper;
		uint32_t id = ir_stuck_node(b, stuck);
		code[i] = (struct ir_ins){ .op = IR_STUCK, .imm = IR_IMM_B, .a = (int32_t)id };
	}
}

/* ---- nodes that matter -------------------------------------------------- */

/* Keeps the nodes reachable from the start, in code order, and renames. The
 * start itself goes when it does nothing before the next node. */
void ir_pass_reach(struct ir_builder *b)
{
	assert(b->code.len > b->code0 && b->nodes.len > b->node0 && b->code.data[b->code0].op == IR_STOP);
	uint32_t n = b->code.len - b->code0, nn = b->nodes.len - b->node0;
	struct ir_ins *code = b->code.data + b->code0;
	uint8_t *seen = arena_array(b->arena, uint8_t, n);
	uint8_t *keep = arena_array(b->arena, uint8_t, nn);
	uint32_t *work = arena_array(b->arena, uint32_t, n + 1), top = 0;
	uint32_t at = 1; /* after the first IR_STOP */
	for (uint32_t hops = 0; (code[at].op == IR_JMP || code[at].op == IR_NOP) && hops < n; hops++)
		at = code[at].op == IR_JMP ? (uint32_t)code[at].a - b->code0 : at + 1;
	uint32_t entry = code[at].op == IR_STOP ? at : 0;
	work[top++] = entry;
	seen[entry] = 1;
	while (top) {
		uint32_t i = work[--top];
		uint8_t op = code[i].op;
		assert(i < n && top < n);
		if (op == IR_STOP || op == IR_STUCK)
			keep[(uint32_t)code[i].a - b->node0] = 1;
		uint32_t next[2], k = 0;
		if (ir_is_jump(op))
			next[k++] = (uint32_t)code[i].a - b->code0;
		bool end = op == IR_STOP && b->nodes.data[code[i].a].kind == IRN_END;
		if (op != IR_JMP && !end && i + 1 < n)
			next[k++] = i + 1;
		assert(k <= 2 && (!k || next[k - 1] < n));
		while (k--)
			if (!seen[next[k]]) {
				seen[next[k]] = 1;
				work[top++] = next[k];
			}
	}
	uint32_t *renamed = arena_array(b->arena, uint32_t, nn), out = b->node0;
	for (uint32_t i = 0; i < nn; i++) {
		renamed[i] = out;
		if (keep[i])
			b->nodes.data[out++] = b->nodes.data[b->node0 + i];
	}
	b->nodes.len = out;
	assert(out > b->node0);
	for (uint32_t i = 0; i < n; i++) {
		if (!seen[i])
			code[i] = (struct ir_ins){ .op = IR_NOP };
		else if (code[i].op == IR_STOP || code[i].op == IR_STUCK)
			code[i].a = (int32_t)renamed[(uint32_t)code[i].a - b->node0];
	}
	assert(code[entry].op == IR_STOP && (uint32_t)code[entry].a >= b->node0 && (uint32_t)code[entry].a < out);
	b->templates.data[b->tmpl].entry = (uint32_t)code[entry].a;
}

/* ---- liveness ----------------------------------------------------------- */

struct live {
	struct ir_builder *b;
	struct ir_ins *code;
	uint32_t n, nregs, words;
	uint32_t narray0, npinned0; /* first bit of arrays, of pinned */
	uint32_t *set_of;           /* instruction -> kept set + 1 */
	uint64_t *sets;             /* what must be kept: with keep_dead, faint registers too */
	uint64_t *needed;           /* what is live; the same unless keep_dead */
	uint32_t nsets;
};

static uint32_t bit_of(const struct live *l, uint32_t vreg)
{
	assert(vreg < VREG_PINNED ? vreg < VREG_ARRAY ? vreg < l->narray0 : vreg - VREG_ARRAY < l->npinned0 - l->narray0
	                          : vreg - VREG_PINNED < l->nregs - l->npinned0);
	if (vreg >= VREG_PINNED)
		return l->npinned0 + (vreg - VREG_PINNED);
	if (vreg >= VREG_ARRAY)
		return l->narray0 + (vreg - VREG_ARRAY);
	return vreg;
}

static struct vreg_info *info_of(const struct live *l, uint32_t bit)
{
	assert(bit < l->nregs);
	if (bit >= l->npinned0)
		return &l->b->pinned_regs.data[bit - l->npinned0];
	if (bit >= l->narray0)
		return &l->b->array_regs.data[bit - l->narray0];
	return &l->b->stack_regs.data[bit];
}

static uint64_t *set_in(const struct live *l, uint64_t *sets, uint32_t ins)
{
	return l->set_of[ins] ? sets + (size_t)(l->set_of[ins] - 1) * l->words : NULL;
}

static uint64_t *set_at(const struct live *l, uint32_t ins)
{
	return set_in(l, l->sets, ins);
}

static void bits_set(uint64_t *s, uint32_t from, uint32_t n, bool on)
{
	for (uint32_t i = from; i < from + n; i++) {
		if (on)
			s[i / 64] |= (uint64_t)1 << i % 64;
		else
			s[i / 64] &= ~((uint64_t)1 << i % 64);
	}
}

static bool bit_test(const uint64_t *s, uint32_t i)
{
	return s[i / 64] >> i % 64 & 1;
}

static void live_init(struct live *l, struct ir_builder *b)
{
	memset(l, 0, sizeof *l);
	l->b = b;
	l->code = b->code.data + b->code0;
	l->n = b->code.len - b->code0;
	l->narray0 = b->stack_regs.len;
	l->npinned0 = l->narray0 + b->array_regs.len;
	l->nregs = l->npinned0 + b->pinned_regs.len;
	l->words = (l->nregs + 63) / 64;
	assert(l->nregs >= 1 && l->narray0 <= l->npinned0 && l->npinned0 <= l->nregs);
	l->set_of = arena_array(b->arena, uint32_t, l->n + 1);
	for (uint32_t i = 0; i < l->n; i++) {
		if (l->code[i].op == IR_STOP && !l->set_of[i])
			l->set_of[i] = ++l->nsets;
		if (ir_is_jump(l->code[i].op)) {
			uint32_t t = (uint32_t)l->code[i].a - b->code0;
			if (!l->set_of[t])
				l->set_of[t] = ++l->nsets;
		}
	}
	assert(l->nsets >= 1 && l->nsets <= l->n);
	l->sets = l->needed = arena_array(b->arena, uint64_t, (size_t)l->nsets * l->words);
	if (b->keep_dead)
		l->needed = arena_array(b->arena, uint64_t, (size_t)l->nsets * l->words);
}

/* ---- instructions that cannot go wrong ----------------------------------- */

struct interval {
	int64_t lo, hi;
};

static struct interval value_before(const struct live *l, uint32_t ins, int32_t vreg, int depth);

static struct interval operand(const struct live *l, uint32_t ins, bool imm, int32_t v, int depth)
{
	return imm ? (struct interval){ v, v } : value_before(l, ins, v, depth);
}

/* What the register may hold before the instruction: by what has just been
 * written to it, else by its declaration. */
static struct interval value_before(const struct live *l, uint32_t ins, int32_t vreg, int depth)
{
	const struct vreg_info *v = info_of(l, bit_of(l, (uint32_t)vreg));
	struct interval all = { v->lo, v->hi };
	for (uint32_t i = ins, n = 0; i > 0 && n < 8 && depth < 4 && !l->set_of[i]; n++) {
		const struct ir_ins *k = &l->code[--i];
		struct ir_uses u = ir_ins_uses(k);
		bool writes = false;
		for (uint32_t w = 0; w < u.nwrite; w++)
			writes |= (uint32_t)vreg - u.write[w].reg < u.write[w].n;
		if (!writes)
			continue;
		if (k->op != IR_MOV && k->op != IR_ADD && k->op != IR_SUB)
			return all;
		struct interval a = operand(l, i, k->imm & IR_IMM_B, k->b, depth + 1);
		if (k->op == IR_MOV)
			return a;
		struct interval b = operand(l, i, k->imm & IR_IMM_C, k->c, depth + 1);
		return k->op == IR_ADD ? (struct interval){ a.lo + b.lo, a.hi + b.hi }
		                       : (struct interval){ a.lo - b.hi, a.hi - b.lo };
	}
	return all;
}

static bool within(struct interval v, int64_t lo, int64_t hi)
{
	return v.lo >= lo && v.hi <= hi;
}

/* Does the instruction at most write registers, whatever its operands are? */
static bool harmless(const struct live *l, uint32_t ins)
{
	const struct ir_ins *i = &l->code[ins];
	struct interval a, b;
	int64_t ends[4];
	switch ((enum ir_op)i->op) {
	case IR_MOV:
	case IR_NOT:
	case IR_BITNOT:
	case IR_BOOL:
	case IR_AND ... IR_GE:
		return true;
	case IR_RANGE:
		return within(value_before(l, ins, i->a, 0), i->b, i->c);
	case IR_LGET:
	case IR_LSET:
		return within(operand(l, ins, i->imm & IR_IMM_C, i->c, 0), 0, i->d - 1);
	case IR_NEG:
		return operand(l, ins, i->imm & IR_IMM_B, i->b, 0).lo > INT32_MIN;
	case IR_DIV:
	case IR_MOD:
		return (i->imm & IR_IMM_C) && i->c > 0;
	case IR_ADD:
	case IR_SUB:
	case IR_MUL:
		a = operand(l, ins, i->imm & IR_IMM_B, i->b, 0);
		b = operand(l, ins, i->imm & IR_IMM_C, i->c, 0);
		if (i->op == IR_ADD)
			return within((struct interval){ a.lo + b.lo, a.hi + b.hi }, INT32_MIN, INT32_MAX);
		if (i->op == IR_SUB)
			return within((struct interval){ a.lo - b.hi, a.hi - b.lo }, INT32_MIN, INT32_MAX);
		if (!within(a, INT32_MIN, INT32_MAX) || !within(b, INT32_MIN, INT32_MAX))
			return false;
		ends[0] = a.lo * b.lo;
		ends[1] = a.lo * b.hi;
		ends[2] = a.hi * b.lo;
		ends[3] = a.hi * b.hi;
		for (int k = 0; k < 4; k++)
			if (ends[k] < INT32_MIN || ends[k] > INT32_MAX)
				return false;
		return true;
	default:
		return false;
	}
}

static bool needs_operands(const struct live *l, uint32_t ins, const struct ir_uses *u, const uint64_t *live_after)
{
	for (uint32_t k = 0; k < u->nwrite; k++)
		for (uint32_t i = 0; i < u->write[k].n; i++)
			if (bit_test(live_after, bit_of(l, u->write[k].reg) + i))
				return true;
	return !harmless(l, ins);
}

/* ---- the backward pass ---------------------------------------------------- */

/* One pass; true when a set grew. `faint`: what only faint registers are
 * computed from is dead. `useless` (NULL: not asked) gets what is not needed. */
static bool live_pass(struct live *l, uint64_t *sets, bool faint, bool *useless, uint64_t *cur)
{
	bool grew = false;
	memset(cur, 0, l->words * sizeof *cur);
	for (uint32_t i = l->n; i-- > 0;) {
		const struct ir_ins *ins = &l->code[i];
		if (ins->op == IR_JMP)
			memset(cur, 0, l->words * sizeof *cur);
		if (ir_is_jump(ins->op)) {
			const uint64_t *t = set_in(l, sets, (uint32_t)ins->a - l->b->code0);
			assert(t); /* a jump's target keeps a set */
			for (uint32_t w = 0; w < l->words; w++)
				cur[w] |= t[w];
		}
		struct ir_uses u = ir_ins_uses(ins);
		bool needed = !faint || !u.nread || needs_operands(l, i, &u, cur);
		if (useless)
			useless[i] = !needed;
		for (uint32_t k = 0; k < u.nwrite && !u.partial; k++)
			bits_set(cur, bit_of(l, u.write[k].reg), u.write[k].n, false);
		for (uint32_t k = 0; k < u.nread && needed; k++)
			bits_set(cur, bit_of(l, u.read[k].reg), u.read[k].n, true);
		uint64_t *keep = set_in(l, sets, i);
		if (!keep)
			continue;
		for (uint32_t w = 0; w < l->words; w++) {
			grew |= (cur[w] & ~keep[w]) != 0;
			cur[w] = keep[w] |= cur[w];
		}
	}
	return grew;
}

/* Takes out the instructions that only faint registers are computed by: what
 * they read need not be there. */
static void drop_useless(struct live *l, uint64_t *cur)
{
	bool *useless = arena_array(l->b->arena, bool, l->n + 1);
	live_pass(l, l->needed, true, useless, cur);
	for (uint32_t i = 0; i < l->n; i++)
		if (useless[i])
			l->code[i] = (struct ir_ins){ .op = IR_NOP };
}

/* ---- which registers may be non-zero on arrival -------------------------- */

/* Bits of the named locals in scope at a node. */
static void scope_bits(const struct live *l, uint32_t scope, uint64_t *s)
{
	for (; scope != IR_NONE; scope = l->b->scopes.data[scope].parent) {
		const struct ir_scope *sc = &l->b->scopes.data[scope];
		for (uint32_t i = 0; i < sc->nlocal; i++) {
			const struct build_local *bl = &l->b->locals.data[sc->local + i];
			bits_set(s, bit_of(l, bl->vreg), bl->l.len, true);
		}
	}
}

/* What may stay non-zero at this node: the live, and with keep_dead the named
 * locals in scope. */
static void kept_at(const struct live *l, uint32_t ins, uint64_t *out)
{
	memcpy(out, set_at(l, ins), l->words * sizeof *out);
	if (l->b->keep_dead)
		scope_bits(l, l->b->nodes.data[l->code[ins].a].scope, out);
	for (uint32_t i = l->npinned0; i < l->nregs; i++)
		bits_set(out, i, 1, true);
}

struct dirty {
	uint64_t *sets; /* by kept set: what may be dirty on arrival */
	uint64_t *cur, *kept;
	bool changed;
};

static void dirty_flow(struct live *l, struct dirty *d, uint32_t to)
{
	assert(l->set_of[to] && l->set_of[to] <= l->nsets);
	uint64_t *s = d->sets + (size_t)(l->set_of[to] - 1) * l->words;
	for (uint32_t w = 0; w < l->words; w++) {
		d->changed |= (d->cur[w] & ~s[w]) != 0;
		s[w] |= d->cur[w];
	}
}

static void dirty_pass(struct live *l, struct dirty *d)
{
	memset(d->cur, 0, l->words * sizeof *d->cur);
	for (uint32_t i = 0; i < l->n; i++) {
		const struct ir_ins *ins = &l->code[i];
		if (l->set_of[i]) {
			dirty_flow(l, d, i);
			memcpy(d->cur, d->sets + (size_t)(l->set_of[i] - 1) * l->words, l->words * sizeof *d->cur);
		}
		if (ins->op == IR_STOP) {
			kept_at(l, i, d->kept);
			for (uint32_t w = 0; w < l->words; w++)
				d->cur[w] &= d->kept[w];
		}
		struct ir_uses u = ir_ins_uses(ins);
		for (uint32_t k = 0; k < u.nwrite; k++)
			bits_set(d->cur, bit_of(l, u.write[k].reg), u.write[k].n, ins->op != IR_LZERO);
		if (ir_is_jump(ins->op))
			dirty_flow(l, d, (uint32_t)ins->a - l->b->code0);
		if (ins->op == IR_JMP)
			memset(d->cur, 0, l->words * sizeof *d->cur);
	}
}

/* ---- slots and renaming ------------------------------------------------- */

static void assign_registers(struct live *l, const uint64_t *slots)
{
	struct ir_builder *b = l->b;
	struct ir_template *t = &b->templates.data[b->tmpl];
	uint32_t next = 1;
	t->slot = b->slots.len;
	struct ir_slot node = { .lo = (int32_t)b->node0, .hi = (int32_t)b->nodes.len - 1, .var = IR_NONE };
	avec_push(b->arena, &b->slots, node);
	for (uint32_t i = 1; i < l->nregs; i++) {
		struct vreg_info *v = info_of(l, i);
		if (!bit_test(slots, i))
			continue;
		struct ir_slot s = {
			.lo = v->lo, .hi = v->hi, .is_lock = v->is_lock, .var = v->is_lock ? v->var : IR_NONE, .elem = v->elem
		};
		avec_push(b->arena, &b->slots, s);
		v->final = next++;
	}
	assert(next == b->slots.len - t->slot);
	t->nslots = next;
	for (uint32_t i = 1; i < l->nregs; i++)
		if (!bit_test(slots, i))
			info_of(l, i)->final = next++;
	assert(next == l->nregs); /* each register has one place */
	t->nregs = next;
	if (t->nslots > IR_MAX_SLOTS || t->nregs > IR_MAX_REGS) {
		b->error = "a thread has too many local values";
		b->error_at = t->span;
	}
}

static int32_t final_of(const struct live *l, int32_t vreg)
{
	assert(info_of(l, bit_of(l, (uint32_t)vreg))->final < l->nregs);
	return (int32_t)info_of(l, bit_of(l, (uint32_t)vreg))->final;
}

static void rename_ins(const struct live *l, struct ir_ins *i)
{
	int32_t *reg[IR_COLUMNS];
	for (uint32_t k = 0, n = ir_ins_registers(i, reg); k < n; k++)
		*reg[k] = final_of(l, *reg[k]);
}

static void list_bits(struct live *l, const uint64_t *s, uint32_t *first, uint32_t *count)
{
	struct ir_builder *b = l->b;
	uint32_t nslots = b->templates.data[b->tmpl].nslots;
	*first = b->kills.len;
	for (uint32_t i = 1; i < l->nregs; i++)
		if (bit_test(s, i) && info_of(l, i)->final < nslots)
			avec_push(b->arena, &b->kills, info_of(l, i)->final);
	*count = b->kills.len - *first;
	assert(*count < nslots);
}

static void make_kill_lists(struct live *l, struct dirty *d)
{
	struct ir_builder *b = l->b;
	uint64_t *s = arena_array(b->arena, uint64_t, l->words);
	for (uint32_t i = 0; i < l->n; i++) {
		if (l->code[i].op != IR_STOP)
			continue;
		struct ir_node *nd = &b->nodes.data[l->code[i].a];
		assert(l->set_of[i] && nd->ins == b->code0 + i);
		kept_at(l, i, d->kept);
		const uint64_t *dirty = d->sets + (size_t)(l->set_of[i] - 1) * l->words;
		for (uint32_t w = 0; w < l->words; w++)
			s[w] = dirty[w] & ~d->kept[w];
		list_bits(l, s, &nd->kill, &nd->nkill);
		if (!b->keep_dead)
			continue;
		const uint64_t *live = set_in(l, l->needed, i);
		for (uint32_t w = 0; w < l->words; w++)
			s[w] = ~live[w];
		for (uint32_t k = l->npinned0; k < l->nregs; k++)
			bits_set(s, k, 1, false);
		list_bits(l, s, &nd->dead, &nd->ndead);
	}
}

/* An IRN_STUCK node zeroes everything but the pinned: it is never read. */
static void make_stuck_lists(struct live *l)
{
	struct ir_builder *b = l->b;
	uint64_t *s = arena_array(b->arena, uint64_t, l->words);
	memset(s, 0xFF, l->words * sizeof *s);
	for (uint32_t k = l->npinned0; k < l->nregs; k++)
		bits_set(s, k, 1, false);
	for (uint32_t i = b->node0; i < b->nodes.len; i++) {
		struct ir_node *nd = &b->nodes.data[i];
		if (nd->kind != IRN_STUCK)
			continue;
		list_bits(l, s, &nd->kill, &nd->nkill);
		nd->dead = nd->kill;
		nd->ndead = nd->nkill;
	}
}

void ir_pass_live(struct ir_builder *b)
{
	struct live l;
	live_init(&l, b);
	uint64_t *cur = arena_array(b->arena, uint64_t, l.words);
	while (live_pass(&l, l.needed, true, NULL, cur))
		;
	if (b->keep_dead) {
		while (live_pass(&l, l.sets, false, NULL, cur))
			;
	} else {
		drop_useless(&l, cur);
	}
	struct dirty d = { arena_array(b->arena, uint64_t, (size_t)l.nsets * l.words), cur,
		           arena_array(b->arena, uint64_t, l.words), true };
	while (d.changed) {
		d.changed = false;
		dirty_pass(&l, &d);
	}
	uint64_t *slots = arena_array(b->arena, uint64_t, l.words);
	for (uint32_t i = 0; i < l.n; i++) {
		if (l.code[i].op != IR_STOP)
			continue;
		kept_at(&l, i, d.kept);
		const uint64_t *dirty = d.sets + (size_t)(l.set_of[i] - 1) * l.words;
		for (uint32_t w = 0; w < l.words; w++)
			slots[w] |= d.kept[w] & (dirty[w] | set_at(&l, i)[w]);
	}
	for (uint32_t i = l.npinned0; i < l.nregs; i++)
		bits_set(slots, i, 1, true);
	assign_registers(&l, slots);
	if (b->error)
		return;
	make_kill_lists(&l, &d);
	make_stuck_lists(&l);
	for (uint32_t i = 0; i < l.n; i++)
		rename_ins(&l, &l.code[i]);
	uint32_t nslots = b->templates.data[b->tmpl].nslots;
	for (uint32_t i = b->local0; i < b->locals.len; i++) {
		struct build_local *bl = &b->locals.data[i];
		uint32_t f = info_of(&l, bit_of(&l, bl->vreg))->final;
		bl->l.slot = f < nslots ? f : IR_NONE;
	}
	for (uint32_t i = b->block0; i < b->blocks.len; i++)
		if (b->blocks.data[i].phase != IR_NONE)
			b->blocks.data[i].phase = (uint32_t)final_of(&l, (int32_t)b->blocks.data[i].phase);
}
