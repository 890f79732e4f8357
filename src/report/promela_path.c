/* promela_path: see promela_path.h. */
#include "report/promela_path.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "report/promela_ex.h"
#include "base/grow.h"

#define MAX_PATHS        4096u
#define PROMELA_MAX_WORK 4000000u /* instructions on all paths of a node */
#define MAX_FORKS        2000u

struct promela_cell { /* a global that the path has written */
	uint32_t slot, value;
};

struct walk { /* a path being made */
	struct path path;
	uint32_t *reg; /* expression of each register */
	struct promela_cell *cells;
	uint32_t ncells, cap_cells;
	uint32_t pc, forks;
};

struct walker {
	struct paths *x;
	const struct ir_template *t;
};

void paths_init(struct paths *x, const struct ir *ir)
{
	memset(x, 0, sizeof *x);
	x->ir = ir;
}

static void forget(struct paths *x)
{
	for (uint32_t i = 0; i < x->n; i++) {
		free(x->list[i].cond);
		free(x->list[i].code);
	}
	x->n = x->nex = 0;
	x->work = 0;
}

void paths_free(struct paths *x)
{
	forget(x);
	free(x->list);
	free(x->ex);
	memset(x, 0, sizeof *x);
}

bool paths_fail(struct paths *x, const char *what, uint32_t ins)
{
	assert(what);
	if (!x->error) {
		x->error = what;
		x->error_ins = ins;
	}
	assert(x->error);
	return false;
}

/* ---- walks -------------------------------------------------------------- */

static void walk_free(struct walk *w)
{
	free(w->path.cond);
	free(w->path.code);
	free(w->reg);
	free(w->cells);
	free(w);
}

static void *copy(const void *data, size_t bytes)
{
	void *q = malloc(bytes ? bytes : 1);
	if (q && bytes)
		memcpy(q, data, bytes);
	return q;
}

static struct walk *walk_copy(struct walker *k, const struct walk *w)
{
	assert(w->path.ncond <= w->path.cap_cond && w->path.ncode <= w->path.cap_code);
	struct walk *c = copy(w, sizeof *w);
	if (!c)
		return NULL;
	c->path.cond = copy(w->path.cond, w->path.ncond * sizeof *w->path.cond);
	c->path.code = copy(w->path.code, w->path.ncode * sizeof *w->path.code);
	c->path.cap_cond = w->path.ncond;
	c->path.cap_code = w->path.ncode;
	c->reg = copy(w->reg, k->t->nregs * sizeof *w->reg);
	c->cells = copy(w->cells, w->ncells * sizeof *w->cells);
	c->cap_cells = w->ncells;
	if (c->path.cond && c->path.code && c->reg && c->cells)
		return c;
	walk_free(c);
	return NULL;
}

static void assume(struct walker *k, struct walk *w, uint32_t cond)
{
	assert(cond < k->x->nex);
	if (!GROW(w->path.cond, w->path.cap_cond, w->path.ncond + 1ull))
		paths_fail(k->x, "the step needs too much memory", w->pc);
	else
		w->path.cond[w->path.ncond++] = cond;
}

static void executed(struct walker *k, struct walk *w, struct pins i)
{
	if (!GROW(w->path.code, w->path.cap_code, w->path.ncode + 1ull))
		paths_fail(k->x, "the step needs too much memory", w->pc);
	else
		w->path.code[w->path.ncode++] = i;
}

/* The path is complete: it goes to the list. */
static void finish(struct walker *k, struct walk *w, enum path_end end, uint32_t node)
{
	assert(node == IR_NONE || node < k->x->ir->nnodes);
	struct paths *x = k->x;
	if (x->n >= MAX_PATHS) {
		paths_fail(x, "the step has too many outcomes", w->pc);
		return;
	}
	if (!GROW(x->list, x->cap, x->n + 1ull)) {
		paths_fail(x, "the step needs too much memory", w->pc);
		return;
	}
	w->path.end = end;
	w->path.node = node;
	for (uint32_t i = 0; end != PATH_FAULT && i < x->ir->nodes[node].nkill; i++) {
		uint32_t r = x->ir->kills[x->ir->nodes[node].kill + i];
		executed(k, w, (struct pins){ .ins = IR_NONE, .choice = (int32_t)r });
	}
	x->list[x->n++] = w->path;
	memset(&w->path, 0, sizeof w->path);
}

static void go(struct walker *k, struct walk *w);

static struct walk *branch(struct walker *k, struct walk *w)
{
	if (++w->forks > MAX_FORKS) {
		paths_fail(k->x, "the step branches too often", w->pc);
		return NULL;
	}
	struct walk *c = walk_copy(k, w);
	if (!c)
		paths_fail(k->x, "the step needs too much memory", w->pc);
	return c;
}

/* Goes on only when `ok`; the other way is a fault. */
static bool require(struct walker *k, struct walk *w, uint32_t ok, enum ir_fault f)
{
	assert(ok < k->x->nex);
	struct paths *x = k->x;
	if (ex_is_const(x, ok) && x->ex[ok].a)
		return true;
	struct walk *bad = ex_is_const(x, ok) ? w : branch(k, w);
	if (!bad)
		return false;
	bad->path.fault = f;
	bad->path.fault_ins = w->pc;
	if (bad == w) {
		finish(k, w, PATH_FAULT, IR_NONE);
		return false;
	}
	assume(k, bad, ex_unary(x, IR_NOT, ok));
	finish(k, bad, PATH_FAULT, IR_NONE);
	walk_free(bad);
	assume(k, w, ok);
	return true;
}

/* Decides a condition, exploring the false side first when it is open. */
static bool decide(struct walker *k, struct walk *w, uint32_t cond, uint32_t pc_if_false)
{
	assert(cond < k->x->nex && pc_if_false < k->x->ir->ncode);
	struct paths *x = k->x;
	if (ex_is_const(x, cond))
		return x->ex[cond].a != 0;
	struct walk *no = branch(k, w);
	if (!no)
		return true;
	assume(k, no, ex_unary(x, IR_NOT, cond));
	no->pc = pc_if_false;
	go(k, no);
	walk_free(no);
	assume(k, w, cond);
	return true;
}

/* ---- globals and arrays ------------------------------------------------- */

static uint32_t cell_value(struct walker *k, const struct walk *w, const struct ir_var *v, uint32_t elem)
{
	assert(elem < v->len);
	for (uint32_t i = w->ncells; i-- > 0;)
		if (w->cells[i].slot == v->slot + elem)
			return w->cells[i].value;
	return ex_add(
		k->x,
		(struct ex){ .kind = EX_GLOBAL, .a = (int32_t)(v - k->x->ir->vars), .b = (int32_t)elem, .lo = v->lo, .hi = v->hi });
}

static bool untouched(const struct walk *w, const struct ir_var *v)
{
	for (uint32_t i = 0; i < w->ncells; i++)
		if (w->cells[i].slot >= v->slot && w->cells[i].slot < v->slot + v->len)
			return false;
	return true;
}

static uint32_t load(struct walker *k, struct walk *w, const struct ir_var *v, uint32_t index)
{
	assert(index < k->x->nex);
	struct paths *x = k->x;
	if (ex_is_const(x, index))
		return cell_value(k, w, v, (uint32_t)x->ex[index].a);
	if (untouched(w, v))
		return ex_add(x, (struct ex){ .kind = EX_ELEM,
		                              .a = (int32_t)(v - x->ir->vars),
		                              .b = (int32_t)index,
		                              .lo = v->lo,
		                              .hi = v->hi,
		                              .depth = ex_deeper(x, index, index) });
	uint32_t e = cell_value(k, w, v, v->len - 1);
	for (uint32_t i = v->len - 1; i-- > 0 && !x->error;)
		e = ex_ite(x, ex_binary(x, IR_EQ, index, ex_const(x, i)), cell_value(k, w, v, i), e);
	return e;
}

static void set_cell(struct walker *k, struct walk *w, uint32_t slot, uint32_t value)
{
	assert(value < k->x->nex);
	if (!GROW(w->cells, w->cap_cells, w->ncells + 1ull))
		paths_fail(k->x, "the step needs too much memory", w->pc);
	else
		w->cells[w->ncells++] = (struct promela_cell){ slot, value };
}

static void store(struct walker *k, struct walk *w, const struct ir_var *v, uint32_t index, uint32_t value)
{
	assert(index < k->x->nex && value < k->x->nex);
	struct paths *x = k->x;
	if (ex_is_const(x, index)) {
		set_cell(k, w, v->slot + (uint32_t)x->ex[index].a, value);
		return;
	}
	for (uint32_t i = 0; i < v->len && !x->error; i++)
		set_cell(k, w, v->slot + i, ex_ite(x, ex_binary(x, IR_EQ, index, ex_const(x, i)), value, cell_value(k, w, v, i)));
}

static uint32_t get_reg(struct walker *k, struct walk *w, uint32_t base, uint32_t index, uint32_t len)
{
	assert(len && base + len <= k->t->nregs && index < k->x->nex);
	struct paths *x = k->x;
	if (ex_is_const(x, index))
		return w->reg[base + (uint32_t)x->ex[index].a];
	uint32_t e = w->reg[base + len - 1];
	for (uint32_t i = len - 1; i-- > 0 && !x->error;)
		e = ex_ite(x, ex_binary(x, IR_EQ, index, ex_const(x, i)), w->reg[base + i], e);
	return e;
}

static void set_reg(struct walker *k, struct walk *w, uint32_t base, uint32_t index, uint32_t len, uint32_t value)
{
	assert(len && base + len <= k->t->nregs && value < k->x->nex);
	struct paths *x = k->x;
	if (ex_is_const(x, index)) {
		w->reg[base + (uint32_t)x->ex[index].a] = value;
		return;
	}
	for (uint32_t i = 0; i < len && !x->error; i++)
		w->reg[base + i] = ex_ite(x, ex_binary(x, IR_EQ, index, ex_const(x, i)), value, w->reg[base + i]);
}

static bool within(struct walker *k, struct walk *w, uint32_t e, int64_t lo, int64_t hi, enum ir_fault f)
{
	assert(lo <= hi);
	struct paths *x = k->x;
	return require(k, w, ex_binary(x, IR_GE, e, ex_const(x, lo)), f) &&
	       require(k, w, ex_binary(x, IR_LE, e, ex_const(x, hi)), f);
}

static bool in_array(struct walker *k, struct walk *w, uint32_t index, uint32_t len)
{
	return within(k, w, index, 0, (int64_t)len - 1, IRF_INDEX);
}

/* ---- arithmetic that may fault ------------------------------------------ */

static bool arith(struct walker *k, struct walk *w, const struct ir_ins *i, uint32_t b, uint32_t c)
{
	struct paths *x = k->x;
	enum ir_op op = (enum ir_op)i->op;
	if ((op == IR_DIV || op == IR_MOD) && !require(k, w, ex_binary(x, IR_NE, c, ex_const(x, 0)), IRF_DIVISION))
		return false;
	if ((op == IR_SHL || op == IR_SHR) && !within(k, w, c, 0, 31, IRF_SHIFT))
		return false;
	int64_t lo, hi;
	ex_interval(op, &x->ex[b], &x->ex[c], &lo, &hi);
	bool wide = lo < INT32_MIN || hi > INT32_MAX;
	if (wide && ex_is_const(x, b) && ex_is_const(x, c)) {
		int64_t v = ex_fold(op, x->ex[b].a, x->ex[c].a);
		if (!require(k, w, ex_const(x, v >= INT32_MIN && v <= INT32_MAX), IRF_OVERFLOW))
			return false;
	} else if (wide && !require(k, w, ex_fits(x, op, b, c), IRF_OVERFLOW)) {
		return false;
	}
	uint32_t r = ex_binary(x, op, b, c);
	if (x->ex[r].lo < INT32_MIN)
		x->ex[r].lo = INT32_MIN;
	if (x->ex[r].hi > INT32_MAX)
		x->ex[r].hi = INT32_MAX;
	w->reg[i->a] = r;
	return true;
}

/* ---- the walk ----------------------------------------------------------- */

static bool shared_rmw(struct walker *k, struct walk *w, const struct ir_ins *i, struct pins *now)
{
	assert((uint32_t)i->b < k->x->ir->nvars);
	struct paths *x = k->x;
	const struct ir_var *v = &x->ir->vars[i->b];
	if (!in_array(k, w, now->c, v->len))
		return false;
	uint32_t old = load(k, w, v, now->c), set = now->d, got = old;
	if (i->op == IR_CAS) {
		uint32_t eq = ex_binary(x, IR_EQ, old, now->d);
		set = now->e;
		if (now->choice < 0) { /* not decided yet: the loser goes first */
			struct walk *no = ex_is_const(x, eq) ? NULL : branch(k, w);
			if (no) {
				assume(k, no, ex_unary(x, IR_NOT, eq));
				no->reg[i->a] = ex_const(x, 0);
				struct pins lost = *now;
				lost.choice = 0;
				executed(k, no, lost);
				no->pc++;
				go(k, no);
				walk_free(no);
				assume(k, w, eq);
			}
			now->choice = ex_is_const(x, eq) ? x->ex[eq].a : 1;
		}
		got = ex_const(x, now->choice);
		if (!now->choice) {
			w->reg[i->a] = got;
			return true;
		}
	} else if (i->op == IR_FADD) {
		set = ex_binary(x, IR_ADD, old, now->d);
		if ((x->ex[set].lo < INT32_MIN || x->ex[set].hi > INT32_MAX) &&
		    !require(k, w, ex_fits(x, IR_ADD, old, now->d), IRF_RANGE))
			return false;
	}
	if (!within(k, w, set, v->lo, v->hi, IRF_RANGE))
		return false;
	store(k, w, v, now->c, set);
	w->reg[i->a] = got;
	return true;
}

static bool lock_step(struct walker *k, struct walk *w, const struct ir_ins *i, struct pins *now)
{
	assert(i->op == IR_ACQ || i->op == IR_REL);
	struct paths *x = k->x;
	const struct ir_var *v = &x->ir->vars[i->a];
	if (!in_array(k, w, now->c, v->len))
		return false;
	if (i->op == IR_ACQ) {
		uint32_t isfree = ex_binary(x, IR_EQ, load(k, w, v, now->c), ex_const(x, 0));
		if (ex_is_const(x, isfree) && !x->ex[isfree].a)
			return false; /* blocked: no path */
		if (!ex_is_const(x, isfree))
			assume(k, w, isfree);
	} else {
		uint32_t held = get_reg(k, w, (uint32_t)i->d, now->c, v->len);
		if (!require(k, w, ex_unary(x, IR_BOOL, held), IRF_RELEASE))
			return false;
	}
	uint32_t value = ex_const(x, i->op == IR_ACQ);
	store(k, w, v, now->c, value);
	set_reg(k, w, (uint32_t)i->d, now->c, v->len, value);
	return true;
}

static bool choose(struct walker *k, struct walk *w, const struct ir_ins *i, struct pins *now)
{
	assert(i->op == IR_CHOOSE && i->b <= i->c);
	w->path.nchoices += i->c > i->b;
	if (w->path.nchoices > IR_MAX_CHOICES)
		return paths_fail(k->x, "the step makes too many choices", w->pc);
	if ((int64_t)i->c - i->b >= MAX_PATHS)
		return paths_fail(k->x, "the step has too many outcomes", w->pc);
	for (int32_t v = i->b; v < i->c && !k->x->error; v++) {
		struct walk *c = walk_copy(k, w);
		if (!c)
			return paths_fail(k->x, "the step needs too much memory", w->pc);
		now->choice = v;
		c->reg[i->a] = ex_const(k->x, v);
		executed(k, c, *now);
		c->pc++;
		c->forks++;
		if (c->forks > MAX_FORKS)
			paths_fail(k->x, "the step branches too often", w->pc);
		else
			go(k, c);
		walk_free(c);
	}
	now->choice = i->c;
	w->reg[i->a] = ex_const(k->x, i->c);
	return true;
}

/* Leaving a block that has not passed its commit; commits it. */
static void leave(struct walker *k, struct walk *w, const struct ir_ins *i)
{
	assert((uint32_t)i->a < k->x->ir->nblocks);
	const struct ir_block *b = &k->x->ir->blocks[i->a];
	if (!b->has_commit) {
		w->path.commits = true;
		return;
	}
	uint32_t done = w->reg[b->phase];
	if (!ex_is_const(k->x, done)) {
		struct walk *other = branch(k, w);
		if (!other)
			return;
		assume(k, other, ex_unary(k->x, IR_BOOL, done));
		other->reg[b->phase] = ex_const(k->x, 1);
		go(k, other); /* this instruction again, decided */
		walk_free(other);
		assume(k, w, ex_unary(k->x, IR_NOT, done));
		done = ex_const(k->x, 0);
	}
	w->path.commits |= !k->x->ex[done].a;
	w->reg[b->phase] = ex_const(k->x, 0);
}

/* One instruction that is no jump and no stop; false: the walk is over. */
static bool step(struct walker *k, struct walk *w, const struct ir_ins *i, struct pins *now)
{
	struct paths *x = k->x;
	const struct ir_var *v;
	switch ((enum ir_op)i->op) {
	case IR_MOV:
		w->reg[i->a] = now->b;
		return true;
	case IR_NEG:
		if (!require(k, w, ex_binary(x, IR_NE, now->b, ex_const(x, INT32_MIN)), IRF_OVERFLOW))
			return false;
		/* fall through */
	case IR_NOT:
	case IR_BITNOT:
	case IR_BOOL:
		w->reg[i->a] = ex_unary(x, (enum ir_op)i->op, now->b);
		return true;
	case IR_ADD ... IR_SHR:
		return arith(k, w, i, now->b, now->c);
	case IR_AND ... IR_GE:
		w->reg[i->a] = ex_binary(x, (enum ir_op)i->op, now->b, now->c);
		return true;
	case IR_RANGE:
		return within(k, w, w->reg[i->a], i->b, i->c, i->d == IR_RANGE_INDEX ? IRF_INDEX : IRF_RANGE);
	case IR_LGET:
		if (!in_array(k, w, now->c, (uint32_t)i->d))
			return false;
		w->reg[i->a] = get_reg(k, w, (uint32_t)i->b, now->c, (uint32_t)i->d);
		return true;
	case IR_LSET:
		if (!in_array(k, w, now->c, (uint32_t)i->d))
			return false;
		set_reg(k, w, (uint32_t)i->a, now->c, (uint32_t)i->d, now->b);
		return true;
	case IR_LZERO:
		for (int32_t r = i->a; r < i->a + i->d; r++)
			w->reg[r] = ex_const(x, 0);
		return true;
	case IR_LOAD:
		v = &x->ir->vars[i->b];
		if (!in_array(k, w, now->c, v->len))
			return false;
		w->reg[i->a] = load(k, w, v, now->c);
		return true;
	case IR_STORE:
		v = &x->ir->vars[i->a];
		if (!in_array(k, w, now->c, v->len) || !within(k, w, now->b, v->lo, v->hi, IRF_RANGE))
			return false;
		store(k, w, v, now->c, now->b);
		return true;
	case IR_CAS:
	case IR_XCHG:
	case IR_FADD:
		return shared_rmw(k, w, i, now);
	case IR_ACQ:
	case IR_REL:
		return lock_step(k, w, i, now);
	case IR_CHOOSE:
		return choose(k, w, i, now);
	case IR_ASSERT:
		return require(k, w, ex_unary(x, IR_BOOL, now->b), (enum ir_fault)i->c);
	case IR_EXIT:
		leave(k, w, i);
		return true;
	case IR_COMMIT:
		if (!require(k, w, ex_unary(x, IR_NOT, w->reg[i->b]), IRF_COMMIT))
			return false;
		w->reg[i->b] = ex_const(x, 1);
		w->path.commits = true;
		return true;
	case IR_ENTER:
	case IR_NOP:
	case IR_INVOKE:
	case IR_RESPOND:
		return true;
	default:
		return paths_fail(x, "the step uses a safe or regular variable", w->pc);
	}
}

/* ASSUME and STUCK; false: the walk is over. */
static bool wait_for(struct walker *k, struct walk *w, const struct ir_ins *i, uint32_t b)
{
	assert(b < k->x->nex);
	struct paths *x = k->x;
	uint32_t ok = ex_unary(x, IR_BOOL, b);
	bool known = ex_is_const(x, ok);
	if (i->op == IR_STUCK && !(known && x->ex[ok].a)) {
		struct walk *no = known ? w : branch(k, w);
		if (!no)
			return false;
		if (!known)
			assume(k, no, ex_unary(x, IR_NOT, ok));
		finish(k, no, PATH_STUCK, (uint32_t)i->a);
		if (no != w)
			walk_free(no);
	}
	if (known)
		return x->ex[ok].a != 0;
	assume(k, w, ok);
	return true;
}

static uint32_t operand(struct walker *k, const struct walk *w, bool imm, int32_t v)
{
	return imm ? ex_const(k->x, v) : (uint32_t)v < k->t->nregs ? w->reg[v] : 0;
}

static void go(struct walker *k, struct walk *w)
{
	struct paths *x = k->x;
	while (!x->error) {
		const struct ir_ins *i = &x->ir->code[w->pc];
		assert(w->pc < x->ir->ncode);
		if (++x->work > PROMELA_MAX_WORK) {
			paths_fail(x, "the step is too large", w->pc);
			return;
		}
		struct pins now = { .ins = w->pc, .choice = -1 };
		now.b = operand(k, w, i->imm & IR_IMM_B, i->b);
		now.c = operand(k, w, i->imm & IR_IMM_C, i->c);
		now.d = operand(k, w, false, i->d);
		now.e = operand(k, w, false, i->e);
		switch ((enum ir_op)i->op) {
		case IR_STOP:
			finish(k, w, PATH_NODE, (uint32_t)i->a);
			return;
		case IR_JMP:
			w->pc = (uint32_t)i->a;
			continue;
		case IR_JZ:
			w->pc = decide(k, w, ex_unary(x, IR_BOOL, now.b), (uint32_t)i->a) ? w->pc + 1 : (uint32_t)i->a;
			continue;
		case IR_JNZ:
			w->pc = decide(k, w, ex_unary(x, IR_BOOL, now.b), w->pc + 1) ? (uint32_t)i->a : w->pc + 1;
			continue;
		case IR_ASSUME:
		case IR_STUCK:
			if (!wait_for(k, w, i, now.b))
				return;
			break;
		default:
			if (!step(k, w, i, &now))
				return;
			executed(k, w, now);
		}
		w->pc++;
	}
}

bool paths_of(struct paths *x, uint32_t tmpl, uint32_t node)
{
	assert(tmpl < x->ir->ntemplates && node < x->ir->nnodes);
	const struct ir *p = x->ir;
	struct walker k = { x, &p->templates[tmpl] };
	const struct ir_node *n = &p->nodes[node];
	forget(x);
	if (n->kind == IRN_END || n->kind == IRN_STUCK)
		return true;
	struct walk *w = calloc(1, sizeof *w);
	if (w)
		w->reg = calloc(k.t->nregs + 1, sizeof *w->reg);
	if (!w || !w->reg) {
		free(w);
		return paths_fail(x, "the step needs too much memory", n->ins);
	}
	uint32_t zero = ex_const(x, 0);
	for (uint32_t r = 1; r < k.t->nregs; r++) {
		const struct ir_slot *s = &p->slots[k.t->slot + r];
		w->reg[r] = r >= k.t->nslots ? zero
		                             : ex_add(x, (struct ex){ .kind = EX_REG, .a = (int32_t)r, .lo = s->lo, .hi = s->hi });
	}
	w->pc = n->ins + 1;
	go(&k, w);
	walk_free(w);
	if (x->error && x->error_ins == IR_NONE)
		x->error_ins = n->ins;
	return !x->error;
}
