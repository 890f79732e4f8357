/*
 * locks: see locks.h.
 *
 * Representation: up to 63 lock candidates, a set of them is a word. held[n]
 * is what a thread waiting at node n holds on every path; all ones where no
 * path has come yet. A candidate whose use turns out not to be a lock's is
 * struck off; sets of different candidates do not depend on each other, so
 * that is all there is to do.
 */
#include "explore/locks.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"

#define LOCKS_MAX  63u   /* held[] of all ones means that no path has come yet */
#define MAX_VISITS 4096u /* instructions examined after one cas */
#define MAX_KNOWN  16u

struct known { /* registers whose value is certain */
	uint32_t n;
	struct {
		int32_t reg, value;
	} r[MAX_KNOWN];
};

struct analysis {
	const struct ir *p;
	bool (*busy_wait)(const void *arg, uint32_t node);
	const void *arg;
	uint32_t lock_var[LOCKS_MAX], nlocks;
	uint32_t *lock_of; /* by variable: candidate or IR_NONE */
	uint64_t good;     /* candidates not struck off */
	uint64_t *held;    /* by node */
	uint64_t *common;  /* by variable: locks held at every access */
	uint32_t *owner;   /* by variable: template that alone touches it; IR_NONE */
	bool *written;     /* by variable */
	bool *touched;
	bool *mixed;       /* by variable: it is read, or not always set to the same constant */
	int32_t *constant; /* what it is set to */
};

/* What is known of a cas node: which successors follow a success. */
struct locks_attempt {
	const struct ir *p;
	const struct ir_template *t;
	uint32_t node, var;
	bool fine; /* used as a lock's should be */
	uint32_t visits;
	uint64_t *after; /* held[] of successors is narrowed with this ... */
	uint64_t set;    /* ... set, when the attempt succeeds */
	bool change;
};

/* ---- following an attempt to take a lock --------------------------------- */

static bool know(const struct known *k, int32_t reg, int32_t *value)
{
	for (uint32_t i = 0; i < k->n; i++)
		if (k->r[i].reg == reg) {
			*value = k->r[i].value;
			return true;
		}
	return false;
}

static void learn(struct known *k, int32_t reg, bool certain, int32_t value)
{
	assert(k->n <= MAX_KNOWN);
	for (uint32_t i = 0; i < k->n; i++)
		if (k->r[i].reg == reg)
			k->r[i] = k->r[--k->n];
	if (certain && k->n < MAX_KNOWN) {
		k->r[k->n].reg = reg;
		k->r[k->n++].value = value;
	}
}

static bool operand(const struct known *k, const struct ir_ins *x, bool is_b, int32_t *value)
{
	int32_t v = is_b ? x->b : x->c;
	if (x->imm & (is_b ? IR_IMM_B : IR_IMM_C)) {
		*value = v;
		return true;
	}
	return know(k, v, value);
}

/* Is the slot reset when the thread arrives at the node? */
static bool is_killed(const struct ir *p, uint32_t node, int32_t slot)
{
	const struct ir_node *n = &p->nodes[node];
	for (uint32_t i = 0; i < n->nkill; i++)
		if ((int32_t)p->kills[n->kill + i] == slot)
			return true;
	return false;
}

enum fate { UNTRIED, TAKEN, FAILED };

static void follow(struct locks_attempt *a, uint32_t ins, struct known k, enum fate fate);

/* The step has arrived at a node. */
static void arrive(struct locks_attempt *a, uint32_t to, enum fate fate)
{
	assert(to >= a->t->node && to < a->t->node + a->t->nnode);
	if (fate == UNTRIED || (fate == FAILED && to != a->node))
		a->fine = false;
	if (fate == TAKEN && (a->after[to] & a->set) != a->after[to]) {
		a->after[to] &= a->set;
		a->change = true;
	}
}

/* A register is written. When the attempt has failed (or has not been made),
 * it must be scratch or reset at the node it leads back to. */
static void writes(struct locks_attempt *a, int32_t reg, enum fate fate)
{
	if (fate != TAKEN && reg < (int32_t)a->t->nslots && !is_killed(a->p, a->node, reg))
		a->fine = false;
}

/* Both ways on from the access itself. */
static void try_it(struct locks_attempt *a, uint32_t ins, struct known k)
{
	const struct ir_ins *x = &a->p->code[ins];
	int32_t want = 0, put = 0;
	bool cas = x->op == IR_CAS;
	bool ok = (uint32_t)x->b == a->var && know(&k, cas ? x->e : x->d, &put) && put == 1;
	if (cas)
		ok = ok && know(&k, x->d, &want) && want == 0;
	if (!ok) {
		a->fine = false;
		return;
	}
	writes(a, x->a, FAILED);
	struct known failed = k;
	learn(&k, x->a, true, cas ? 1 : 0);
	learn(&failed, x->a, true, cas ? 0 : 1);
	follow(a, ins + 1, k, TAKEN);
	follow(a, ins + 1, failed, FAILED);
}

/* Where a jump leads, as far as is known; else there first, then straight on. */
static uint32_t jump(struct locks_attempt *a, uint32_t ins, const struct known *k, enum fate fate)
{
	const struct ir_ins *x = &a->p->code[ins];
	int32_t v = 0;
	if (x->op == IR_JMP)
		return (uint32_t)x->a;
	if (operand(k, x, true, &v)) {
		bool taken = x->op == IR_JZ ? v == 0 : v != 0;
		return taken ? (uint32_t)x->a : ins + 1;
	}
	follow(a, (uint32_t)x->a, *k, fate);
	return ins + 1;
}

static bool compute(const struct ir_ins *x, const struct known *k, int32_t *v)
{
	int32_t b, c = 0;
	if (!operand(k, x, true, &b))
		return false;
	if (x->op != IR_MOV && x->op != IR_NOT && x->op != IR_BOOL && !operand(k, x, false, &c))
		return false;
	switch (x->op) {
	case IR_MOV:
		*v = b;
		return true;
	case IR_NOT:
		*v = !b;
		return true;
	case IR_BOOL:
		*v = b != 0;
		return true;
	case IR_EQ:
		*v = b == c;
		return true;
	case IR_NE:
		*v = b != c;
		return true;
	default:
		return false;
	}
}

/* Follows the code of the step from here, one way at a time. */
static void follow(struct locks_attempt *a, uint32_t ins, struct known k, enum fate fate)
{
	while (a->fine) {
		const struct ir_ins *x = &a->p->code[ins];
		int32_t v = 0;
		assert(ins >= a->t->code && ins < a->t->code + a->t->ncode);
		if (++a->visits > MAX_VISITS) {
			a->fine = false;
			return;
		}
		switch (x->op) {
		case IR_STOP:
			arrive(a, (uint32_t)x->a, fate);
			return;
		case IR_NOP:
			ins++;
			break;
		case IR_JMP:
		case IR_JZ:
		case IR_JNZ:
			ins = jump(a, ins, &k, fate);
			break;
		case IR_CAS:
		case IR_XCHG:
			if (fate != UNTRIED)
				a->fine = false;
			else
				try_it(a, ins, k);
			return;
		case IR_MOV:
		case IR_NOT:
		case IR_BOOL:
		case IR_EQ:
		case IR_NE: {
			bool certain = compute(x, &k, &v);
			writes(a, x->a, fate);
			learn(&k, x->a, certain, v);
			ins++;
			break;
		}
		default: /* computes, asserts, assumes, chooses: only after a success */
			a->fine &= fate == TAKEN;
			k.n = 0;
			ins++;
			break;
		}
	}
}

/* ---- candidates ---------------------------------------------------------- */

static bool single(const struct ir_node *n)
{
	return n->naccess == 1 && (n->kind == IRN_ACCESS || n->kind == IRN_LOCK);
}

static bool is_attempt(const struct ir *p, const struct ir_access *acc)
{
	return p->code[acc->ins].op == IR_CAS || p->code[acc->ins].op == IR_XCHG;
}

static bool is_reset(const struct ir *p, const struct ir_access *acc)
{
	const struct ir_ins *x = &p->code[acc->ins];
	return x->op == IR_STORE && (x->imm & IR_IMM_B) && x->b == 0;
}

/* Could the variable be a lock, as far as its accesses show? */
static bool lock_like(const struct analysis *a, uint32_t var)
{
	assert(var < a->p->nvars);
	const struct ir *p = a->p;
	const struct ir_var *v = &p->vars[var];
	bool found = false;
	if (v->len != 1 || v->is_array)
		return false;
	if (v->kind == IRV_LOCK)
		return true;
	if (v->kind != IRV_PLAIN || p->init[v->slot] != 0)
		return false;
	for (uint32_t i = 0; i < p->nnodes; i++) {
		const struct ir_node *n = &p->nodes[i];
		for (uint32_t k = 0; k < n->naccess; k++) {
			const struct ir_access *acc = &p->accesses[n->access + k];
			if (acc->var != var)
				continue;
			if (!single(n) || (!is_attempt(p, acc) && !is_reset(p, acc)))
				return false;
			if (is_attempt(p, acc) && !a->busy_wait(a->arg, i))
				return false;
			found |= is_attempt(p, acc);
		}
	}
	return found;
}

static void find_locks(struct analysis *a)
{
	for (uint32_t v = 0; v < a->p->nvars; v++) {
		a->lock_of[v] = IR_NONE;
		if (a->nlocks < LOCKS_MAX && lock_like(a, v)) {
			a->lock_of[v] = a->nlocks;
			a->lock_var[a->nlocks++] = v;
		}
	}
	assert(a->nlocks <= LOCKS_MAX);
	a->good = ((uint64_t)1 << a->nlocks) - 1;
}

/* ---- what is held where --------------------------------------------------- */

static bool narrow(uint64_t *held, uint64_t set)
{
	uint64_t old = *held;
	*held &= set;
	return *held != old;
}

static bool to_all(struct analysis *a, const struct ir_node *n, uint64_t set)
{
	bool change = false;
	for (uint32_t i = 0; i < n->nsucc; i++)
		change |= narrow(&a->held[a->p->succs[n->succ + i]], set);
	return change;
}

/* One node: what its successors can count on. True when that has become less. */
static bool transfer(struct analysis *a, const struct ir_template *t, uint32_t node)
{
	assert(a->held[node] != UINT64_MAX);
	const struct ir *p = a->p;
	const struct ir_node *n = &p->nodes[node];
	uint64_t set = a->held[node];
	for (uint32_t i = 0; i < n->naccess; i++) {
		const struct ir_access *acc = &p->accesses[n->access + i];
		uint32_t lock = a->lock_of[acc->var];
		if (lock == IR_NONE || !(a->good >> lock & 1))
			continue;
		uint64_t bit = (uint64_t)1 << lock;
		if (!single(n) || acc->mode == IRA_RELEASE || is_reset(p, acc)) {
			set &= ~bit; /* freed, or too involved to follow */
		} else if (acc->mode == IRA_ACQUIRE) {
			set |= bit;
		} else {
			struct locks_attempt at = { p, t, node, acc->var, true, 0, a->held, set | bit, false };
			follow(&at, n->ins + 1, (struct known){ 0 }, UNTRIED);
			if (!at.fine) {
				a->good &= ~bit;
				return to_all(a, n, set & ~bit) | at.change;
			}
			/* a failure leads back here with what was held before */
			return at.change;
		}
	}
	return to_all(a, n, set);
}

static void find_held(struct analysis *a)
{
	const struct ir *p = a->p;
	memset(a->held, 0xff, sizeof *a->held * (p->nnodes + 1));
	for (uint32_t i = 0; i < p->nthreads; i++)
		a->held[p->init[p->threads[i].frame]] = 0;
	for (bool change = true; change;) {
		change = false;
		for (uint32_t t = 0; t < p->ntemplates; t++)
			for (uint32_t i = 0; i < p->templates[t].nnode; i++) {
				uint32_t node = p->templates[t].node + i;
				if (a->held[node] != UINT64_MAX)
					change |= transfer(a, &p->templates[t], node);
			}
	}
	for (uint32_t i = 0; i < p->nnodes; i++)
		assert(a->held[i] == UINT64_MAX || !(a->held[i] >> a->nlocks)); /* candidates only */
	/* a variable that is reset where it may not be held is not a lock */
	for (uint32_t i = 0; i < p->nnodes; i++) {
		const struct ir_node *n = &p->nodes[i];
		for (uint32_t k = 0; k < n->naccess && a->held[i] != UINT64_MAX; k++) {
			const struct ir_access *acc = &p->accesses[n->access + k];
			uint32_t lock = a->lock_of[acc->var];
			if (lock != IR_NONE && is_reset(p, acc) && !(a->held[i] >> lock & 1))
				a->good &= ~((uint64_t)1 << lock);
		}
	}
}

/* ---- variables and nodes -------------------------------------------------- */

/* Is the access just another write of the constant that all others write? */
static bool same_constant(struct analysis *a, const struct ir_access *acc)
{
	const struct ir_ins *x = &a->p->code[acc->ins];
	if (x->op != IR_STORE || !(x->imm & IR_IMM_B) || a->p->vars[acc->var].len != 1)
		return false;
	if (!a->touched[acc->var])
		a->constant[acc->var] = x->b;
	return a->constant[acc->var] == x->b;
}

static void find_protected(struct analysis *a)
{
	const struct ir *p = a->p;
	for (uint32_t v = 0; v < p->nvars; v++)
		a->common[v] = a->good;
	for (uint32_t t = 0; t < p->ntemplates; t++)
		for (uint32_t i = 0; i < p->templates[t].nnode; i++) {
			uint32_t node = p->templates[t].node + i;
			const struct ir_node *n = &p->nodes[node];
			for (uint32_t k = 0; k < n->naccess && a->held[node] != UINT64_MAX; k++) {
				const struct ir_access *acc = &p->accesses[n->access + k];
				uint32_t v = acc->var;
				a->common[v] &= a->held[node];
				a->written[v] |= acc->mode != IRA_READ;
				a->mixed[v] |= !same_constant(a, acc);
				if (!a->touched[v])
					a->owner[v] = p->templates[t].count == 1 ? t : IR_NONE;
				else if (a->owner[v] != t)
					a->owner[v] = IR_NONE;
				a->touched[v] = true;
			}
		}
}

static bool is_protected(const struct analysis *a, uint32_t var)
{
	return a->p->vars[var].kind == IRV_PLAIN &&
	       (a->common[var] || !a->written[var] || !a->mixed[var] || a->owner[var] != IR_NONE);
}

/* Can the step wait? Looks at all code up to the next nodes. */
static bool may_wait(const struct ir *p, uint32_t node, uint32_t *stack, uint8_t *seen)
{
	uint32_t n = 0, nseen = 0;
	bool waits = false;
	uint32_t *visited = stack + p->ncode + 2;
	stack[n++] = p->nodes[node].ins + 1;
	while (n) {
		uint32_t ins = stack[--n];
		assert(n <= p->ncode + 1 && ins < p->ncode);
		if (seen[ins])
			continue;
		seen[ins] = 1;
		visited[nseen++] = ins;
		const struct ir_ins *x = &p->code[ins];
		waits |= x->op == IR_ASSUME || x->op == IR_STUCK || x->op == IR_ACQ;
		if (x->op == IR_STOP)
			continue;
		if (x->op == IR_JMP || x->op == IR_JZ || x->op == IR_JNZ)
			stack[n++] = (uint32_t)x->a;
		if (x->op != IR_JMP)
			stack[n++] = ins + 1;
	}
	for (uint32_t i = 0; i < nseen; i++)
		seen[visited[i]] = 0;
	return waits;
}

static uint8_t mover(const struct analysis *a, uint32_t node)
{
	const struct ir *p = a->p;
	const struct ir_node *n = &p->nodes[node];
	uint8_t m = LOCKS_RIGHT | LOCKS_LEFT;
	if (a->held[node] == UINT64_MAX ||
	    (n->kind != IRN_ACCESS && n->kind != IRN_LOCK && n->kind != IRN_STEP && n->kind != IRN_LOCAL))
		return 0;
	for (uint32_t i = 0; i < n->naccess; i++) {
		const struct ir_access *acc = &p->accesses[n->access + i];
		uint32_t lock = a->lock_of[acc->var];
		if (lock != IR_NONE && (a->good >> lock & 1) && single(n))
			m = acc->mode == IRA_RELEASE || is_reset(p, acc) ? m & LOCKS_LEFT : m & LOCKS_RIGHT;
		else if (!is_protected(a, acc->var))
			return 0;
	}
	return m;
}

static bool make_movers(struct analysis *a, struct locks *l)
{
	const struct ir *p = a->p;
	uint32_t *stack = malloc(sizeof *stack * (3 * (size_t)p->ncode + 8));
	uint8_t *seen = calloc(p->ncode + 1, 1);
	bool ok = stack && seen;
	for (uint32_t i = 0; ok && i < p->nnodes; i++) {
		l->mover[i] = mover(a, i);
		if ((l->mover[i] & LOCKS_LEFT) && may_wait(p, i, stack, seen))
			l->mover[i] = l->mover[i] & LOCKS_RIGHT;
		l->nmovers += l->mover[i] != 0;
	}
	free(stack);
	free(seen);
	return ok;
}

bool locks_init(struct locks *l, const struct ir *p, bool (*busy_wait)(const void *arg, uint32_t node), const void *arg)
{
	struct analysis a = { .p = p, .busy_wait = busy_wait, .arg = arg };
	memset(l, 0, sizeof *l);
	l->mover = calloc(p->nnodes + 1, 1);
	a.lock_of = calloc(p->nvars + 1, sizeof *a.lock_of);
	a.held = calloc(p->nnodes + 1, sizeof *a.held);
	a.common = calloc(p->nvars + 1, sizeof *a.common);
	a.owner = calloc(p->nvars + 1, sizeof *a.owner);
	a.written = calloc(p->nvars + 1, 1);
	a.touched = calloc(p->nvars + 1, 1);
	a.mixed = calloc(p->nvars + 1, 1);
	a.constant = calloc(p->nvars + 1, sizeof *a.constant);
	bool ok = l->mover && a.lock_of && a.held && a.common && a.owner && a.written && a.touched && a.mixed && a.constant;
	if (ok) {
		find_locks(&a);
		find_held(&a);
		find_protected(&a);
		ok = make_movers(&a, l);
	}
	assert(!ok || l->nmovers <= p->nnodes);
	free(a.lock_of);
	free(a.held);
	free(a.common);
	free(a.owner);
	free(a.written);
	free(a.touched);
	free(a.mixed);
	free(a.constant);
	return ok;
}

void locks_free(struct locks *l)
{
	free(l->mover);
	l->mover = NULL;
}
