/*
 * lower_sync: semaphores, reader-writer locks, condition variables, barriers and once flags, made of plain shared variables
 * and steps. docs/language.md has the same in the model language, and tests/differential/test_words.py compares the two.
 *
 *   semaphore   its value. wait: one step that waits until it is positive and takes one.
 *   rwlock      the number of readers, or -1 while it is held for writing; how a thread holds it is in registers of the
 *               thread, so that releasing what it does not hold is a fault.
 *   cond        an array of places for waiting threads, as many as there are threads: free, waiting or woken. wait takes the
 *               first free place and releases the lock in one step; goes on when its place is woken; acquires the lock. A
 *               signal wakes any one of those waiting, and no thread that comes later: a count of signals would let a late
 *               comer take one that is not for it.
 *   barrier     the same array. The thread that makes the number full wakes all others instead of waiting.
 *   once        idle, running or done.
 *
 * No value names a thread: threads of one template stay interchangeable. The arrays are as long as there are threads, so a
 * program with a cond or barrier has fixed_counts.
 */
#include "base/invariant.h"
#include "lang/lower.h"

enum { PLACE_FREE, PLACE_WAITING, PLACE_WOKEN };
enum { ONCE_IDLE, ONCE_RUNNING, ONCE_DONE };

#define MAX_HOLDERS 65535 /* readers of one rwlock at a time */
#define MAX_HELD    4     /* of them by one thread */

/* ---- declarations ------------------------------------------------------- */

static uint32_t enum_of(struct lower *l, bool once)
{
	static const char *const places[] = { "free", "waiting", "woken" }, *const flags[] = { "idle", "running", "done" };
	if (!l->enums1[once]) {
		struct ir_enum e = { .name = once ? "once" : "place", .n = 3 };
		e.members = (const char **)arena_calloc(l->arena, e.n, sizeof *e.members);
		for (uint32_t i = 0; i < e.n; i++)
			e.members[i] = once ? flags[i] : places[i];
		avec_push(l->arena, &l->b.enums, e);
		l->enums1[once] = l->b.enums.len;
	}
	return l->enums1[once] - 1;
}

struct ir_var sync_var(struct lower *l, struct decl *d, struct ir_var v)
{
	v.kind = IRV_PLAIN;
	if (d->type->kind != TY_CHAN)
		v.value = IR_VALUE_INT;
	switch (d->type->kind) {
	case TY_RWLOCK:
		v.lo = -1;
		v.hi = MAX_HOLDERS;
		break;
	case TY_COND:
	case TY_BARRIER:
		v.value = IR_VALUE_ENUM;
		v.enum_id = enum_of(l, false);
		v.hi = PLACE_WOKEN;
		v.lo = 0;
		v.is_array = true;
		v.len = (uint64_t)d->array_len * l->threads > IR_MAX_GLOBALS ? IR_MAX_GLOBALS + 1 : d->array_len * l->threads;
		l->b.fixed_counts = true;
		break;
	case TY_ONCE:
		v.value = IR_VALUE_ENUM;
		v.enum_id = enum_of(l, true);
		v.hi = ONCE_DONE;
		break;
	default:
		break;
	}
	if (d->type->kind == TY_BARRIER && d->init && d->init->value > l->threads) {
		diag_warn(l->d, "barrier-count", l->u->src, d->init->span,
		          "the barrier waits for %lld threads, but the model has %u: no thread passes it",
		          (long long)d->init->value, l->threads);
	}
	return v;
}

int32_t sync_initial(const struct decl *d, const struct expr *init)
{
	if (d->type->kind == TY_CHAN)
		return d->type->min > 0 || d->type->max < 0 ? d->type->min : 0;
	return d->type->kind == TY_SEMAPHORE && init ? (int32_t)init->value : 0;
}

static void clear_holds(struct lower *l, struct decl *d)
{
	for (struct decl *part = d->parts; part; part = part->next)
		clear_holds(l, part);
	if (d->kind != D_VAR || d->type->kind != TY_RWLOCK)
		return;
	d->hold = ir_array_reg(&l->b, d->array_len, -1, MAX_HELD);
	if (l->b.error && !l->b.error_at.end)
		l->b.error_at = d->name_span;
	ir_emit(&l->b, (struct ir_ins){ .op = IR_LZERO, .a = (int32_t)d->hold, .d = (int32_t)d->array_len }, d->span);
}

void sync_begin_thread(struct lower *l)
{
	for (struct decl *d = l->u->decls; d; d = d->next) {
		clear_holds(l, d);
		for (struct decl *f = d->kind == D_OBJECT ? d->fields : NULL; f; f = f->next)
			clear_holds(l, f);
	}
}

/* ---- instructions ------------------------------------------------------- */

static uint32_t temp(struct lower *l, int32_t lo, int32_t hi)
{
	return ir_reg(&l->b, lo, hi, false);
}

/* Within a step: no node of their own. */
static uint32_t load(struct lower *l, const struct decl *d, struct val index, struct span at)
{
	const struct ir_var *v = &l->b.vars.data[d->id];
	uint32_t t = temp(l, v->lo, v->hi);
	emit3(l, IR_LOAD, t, imm(d->id), index, at);
	return t;
}

static void store(struct lower *l, const struct decl *d, struct val index, struct val x, struct span at)
{
	emit3(l, IR_STORE, d->id, x, index, at);
}

/* A register that is 1 when a op b. */
static uint32_t test(struct lower *l, enum ir_op op, struct val a, struct val b, struct span at)
{
	uint32_t t = temp(l, 0, 1);
	emit3(l, op, t, a, b, at);
	return t;
}

static void assume(struct lower *l, enum ir_op op, struct val a, struct val b, struct span at)
{
	emit2(l, IR_ASSUME, 0, reg(test(l, op, a, b, at)), at);
}

/* A node for the call itself, not for the statement around it. */
static void stop_at(struct lower *l, enum ir_node_kind kind, enum ir_primitive primitive, struct span at)
{
	if (!l->in_step)
		ir_stop(&l->b, (struct ir_node){ .kind = kind, .primitive = primitive, .span = at }, at);
}

static void begin_step(struct lower *l, struct span at)
{
	stop_at(l, IRN_STEP, IR_PRIMITIVE, at);
	l->in_step++;
}

static void end_step(struct lower *l)
{
	assert(l->in_step);
	l->in_step--;
}

static void lock_access(struct lower *l, enum ir_op op, const struct decl *d, struct val index, struct span at)
{
	ir_emit(&l->b,
	        (struct ir_ins){ .op = (uint8_t)op,
	                         .imm = (uint8_t)(IR_IMM_B | (index.imm ? IR_IMM_C : 0)),
	                         .a = (int32_t)d->id,
	                         .c = index.v,
	                         .d = (int32_t)ir_lock_reg(&l->b, d->id) },
	        at);
}

/* ---- semaphores --------------------------------------------------------- */

static void wait_semaphore(struct lower *l, struct decl *d, struct val index, struct span at)
{
	begin_step(l, at);
	uint32_t n = load(l, d, index, at);
	assume(l, IR_GT, reg(n), imm(0), at);
	emit3(l, IR_SUB, n, reg(n), imm(1), at);
	store(l, d, index, reg(n), at);
	end_step(l);
}

static void try_semaphore(struct lower *l, struct decl *d, struct val index, uint32_t dest, struct span at)
{
	uint32_t end = ir_label(&l->b), won = dest ? dest : temp(l, 0, 1);
	begin_step(l, at);
	uint32_t n = load(l, d, index, at);
	emit3(l, IR_GT, won, reg(n), imm(0), at);
	emit2(l, IR_JZ, end, reg(won), at);
	emit3(l, IR_SUB, n, reg(n), imm(1), at);
	store(l, d, index, reg(n), at);
	ir_place(&l->b, end);
	end_step(l);
}

static void post(struct lower *l, struct decl *d, struct val index, struct span at)
{
	stop_at(l, IRN_ACCESS, IR_PRIMITIVE, at);
	uint32_t one = temp(l, 0, 1), old = temp(l, 0, 0);
	emit2(l, IR_MOV, one, imm(1), at);
	ir_emit(&l->b,
	        (struct ir_ins){ .op = IR_FADD,
	                         .imm = (uint8_t)(IR_IMM_B | (index.imm ? IR_IMM_C : 0)),
	                         .a = (int32_t)old,
	                         .b = (int32_t)d->id,
	                         .c = index.v,
	                         .d = (int32_t)one },
	        at);
}

/* ---- reader-writer locks ------------------------------------------------ */

static uint32_t get_hold(struct lower *l, const struct decl *d, struct val index, struct span at)
{
	uint32_t t = temp(l, -1, MAX_HELD + 1);
	ir_emit(&l->b,
	        (struct ir_ins){ .op = IR_LGET,
	                         .imm = index.imm ? IR_IMM_C : 0,
	                         .a = (int32_t)t,
	                         .b = (int32_t)d->hold,
	                         .c = index.v,
	                         .d = (int32_t)d->array_len },
	        at);
	return t;
}

static void set_hold(struct lower *l, const struct decl *d, struct val index, struct val x, struct span at)
{
	ir_emit(&l->b,
	        (struct ir_ins){ .op = IR_LSET,
	                         .imm = (uint8_t)((x.imm ? IR_IMM_B : 0) | (index.imm ? IR_IMM_C : 0)),
	                         .a = (int32_t)d->hold,
	                         .b = x.v,
	                         .c = index.v,
	                         .d = (int32_t)d->array_len },
	        at);
}

static void acquire_rwlock(struct lower *l, struct decl *d, struct val index, bool write, struct span at)
{
	begin_step(l, at);
	uint32_t n = load(l, d, index, at);
	assume(l, write ? IR_EQ : IR_GE, reg(n), imm(0), at);
	if (write) {
		store(l, d, index, imm(-1), at);
		set_hold(l, d, index, imm(-1), at);
	} else {
		emit3(l, IR_ADD, n, reg(n), imm(1), at);
		store(l, d, index, reg(n), at);
		uint32_t held = get_hold(l, d, index, at);
		emit3(l, IR_ADD, held, reg(held), imm(1), at);
		emit3(l, IR_RANGE, held, imm(-1), imm(MAX_HELD), at);
		set_hold(l, d, index, reg(held), at);
	}
	end_step(l);
}

void lower_release_rwlock(struct lower *l, struct stmt *s)
{
	struct decl *d = meant(l, s->target->decl);
	struct val index = place_index(l, s->target);
	uint32_t reading = ir_label(&l->b), end = ir_label(&l->b);
	begin_step(l, s->span);
	uint32_t held = get_hold(l, d, index, s->span);
	emit3(l, IR_ASSERT, d->id, reg(test(l, IR_NE, reg(held), imm(0), s->span)), imm(IRF_RELEASE), s->span);
	emit2(l, IR_JZ, reading, reg(test(l, IR_LT, reg(held), imm(0), s->span)), s->span);
	store(l, d, index, imm(0), s->span);
	set_hold(l, d, index, imm(0), s->span);
	jmp(l, end, s->span);
	ir_place(&l->b, reading);
	uint32_t n = load(l, d, index, s->span);
	emit3(l, IR_SUB, n, reg(n), imm(1), s->span);
	store(l, d, index, reg(n), s->span);
	emit3(l, IR_SUB, held, reg(held), imm(1), s->span);
	set_hold(l, d, index, reg(held), s->span);
	ir_place(&l->b, end);
	end_step(l);
}

/* ---- places of waiting threads ------------------------------------------ */

struct places { /* of one cond or barrier: from `first` on, as many as there are threads */
	struct decl *d;
	struct val first;
};

static struct places places_of(struct lower *l, struct decl *d, struct val index, struct span at)
{
	int32_t n = (int32_t)l->threads;
	if (index.imm && index.v >= 0 && (uint32_t)index.v < d->array_len)
		return (struct places){ d, imm((int64_t)index.v * n) };
	uint32_t r = temp(l, 0, (int32_t)(d->array_len * l->threads));
	emit2(l, IR_MOV, r, index, at);
	emit3(l, IR_RANGE, r, imm(0), imm(d->array_len - 1), at);
	emit3(l, IR_MUL, r, reg(r), imm(n), at);
	return (struct places){ d, reg(r) };
}

static int32_t last_place(const struct lower *l, const struct decl *d)
{
	return (int32_t)(d->array_len * l->threads) - 1;
}

/* One round of a loop over the places: `at_place` is the next one; goes back to `head` unless it was the last. */
static void next_place(struct lower *l, const struct places *p, uint32_t at_place, uint32_t head, struct span at)
{
	uint32_t mark = l->b.top, past = temp(l, 0, last_place(l, p->d) + 1);
	emit3(l, IR_ADD, at_place, reg(at_place), imm(1), at);
	emit3(l, IR_SUB, past, reg(at_place), p->first, at);
	emit2(l, IR_JNZ, head, reg(test(l, IR_LT, reg(past), imm(l->threads), at)), at);
	l->b.top = mark;
}

/* The first free place, taken: every thread waits in one place at most, so there is one. */
static void take_place(struct lower *l, const struct places *p, uint32_t place, struct span at)
{
	uint32_t head = ir_label(&l->b), found = ir_label(&l->b);
	emit2(l, IR_MOV, place, p->first, at);
	ir_place(&l->b, head);
	emit2(l, IR_JZ, found, reg(load(l, p->d, reg(place), at)), at);
	emit3(l, IR_ADD, place, reg(place), imm(1), at);
	jmp(l, head, at);
	ir_place(&l->b, found);
	store(l, p->d, reg(place), imm(PLACE_WAITING), at);
}

static void leave_place(struct lower *l, const struct places *p, uint32_t place, bool spurious, struct span at)
{
	stop_at(l, IRN_STEP, IR_PRIMITIVE_RESUMES, at);
	l->in_step++;
	if (!spurious)
		assume(l, IR_EQ, reg(load(l, p->d, reg(place), at)), imm(PLACE_WOKEN), at);
	store(l, p->d, reg(place), imm(PLACE_FREE), at);
	end_step(l);
}

static void wake_all(struct lower *l, const struct places *p, struct span at)
{
	uint32_t head = ir_label(&l->b), skip = ir_label(&l->b), i = temp(l, 0, last_place(l, p->d) + 1);
	emit2(l, IR_MOV, i, p->first, at);
	ir_place(&l->b, head);
	uint32_t waits = test(l, IR_EQ, reg(load(l, p->d, reg(i), at)), imm(PLACE_WAITING), at);
	emit2(l, IR_JZ, skip, reg(waits), at);
	store(l, p->d, reg(i), imm(PLACE_WOKEN), at);
	ir_place(&l->b, skip);
	next_place(l, p, i, head, at);
}

/* Any one of those waiting; nothing when no thread is. */
static void wake_one(struct lower *l, const struct places *p, struct span at)
{
	uint32_t head = ir_label(&l->b), some = ir_label(&l->b), end = ir_label(&l->b), i = temp(l, 0, last_place(l, p->d) + 1);
	emit2(l, IR_MOV, i, p->first, at);
	ir_place(&l->b, head);
	uint32_t waits = test(l, IR_EQ, reg(load(l, p->d, reg(i), at)), imm(PLACE_WAITING), at);
	emit2(l, IR_JNZ, some, reg(waits), at);
	next_place(l, p, i, head, at);
	jmp(l, end, at);
	ir_place(&l->b, some);
	emit3(l, IR_CHOOSE, i, imm(0), imm(l->threads - 1), at);
	emit3(l, IR_ADD, i, reg(i), p->first, at);
	assume(l, IR_EQ, reg(load(l, p->d, reg(i), at)), imm(PLACE_WAITING), at);
	store(l, p->d, reg(i), imm(PLACE_WOKEN), at);
	ir_place(&l->b, end);
}

/* ---- condition variables and barriers ----------------------------------- */

static void wait_cond(struct lower *l, struct expr *e, struct decl *d, struct val index)
{
	struct expr *with = e->args->next;
	not_in_step(l, e->span, "waiting at a cond is more than one step");
	struct places p = places_of(l, d, index, e->span);
	struct decl *held = meant(l, with->decl);
	struct val lock = place_index(l, with);
	uint32_t place = temp(l, 0, last_place(l, d));
	begin_step(l, e->span);
	lock_access(l, IR_REL, held, lock, e->span);
	take_place(l, &p, place, e->span);
	end_step(l);
	leave_place(l, &p, place, d->type->spurious, e->span);
	stop_at(l, IRN_LOCK, IR_NO_PRIMITIVE, e->span);
	lock_access(l, IR_ACQ, held, lock, e->span);
}

static void wait_barrier(struct lower *l, struct expr *e, struct decl *d)
{
	struct places p = { d, imm(0) };
	struct span at = e->span;
	uint32_t head = ir_label(&l->b), wait = ir_label(&l->b), end = ir_label(&l->b);
	not_in_step(l, e->span, "waiting at a barrier is more than one step");
	uint32_t place = temp(l, 0, last_place(l, d)), n = temp(l, 0, (int32_t)l->threads), i = temp(l, 0, (int32_t)l->threads);
	begin_step(l, at);
	emit2(l, IR_MOV, n, imm(1), at); /* this thread */
	emit2(l, IR_MOV, i, imm(0), at);
	ir_place(&l->b, head);
	emit3(l, IR_ADD, n, reg(n), reg(test(l, IR_EQ, reg(load(l, d, reg(i), at)), imm(PLACE_WAITING), at)), at);
	next_place(l, &p, i, head, at);
	emit2(l, IR_JZ, wait, reg(test(l, IR_EQ, reg(n), imm(d->init->value), at)), at);
	wake_all(l, &p, at);
	jmp(l, end, at);
	ir_place(&l->b, wait);
	take_place(l, &p, place, at);
	end_step(l);
	leave_place(l, &p, place, false, at);
	ir_place(&l->b, end);
}

/* ---- once --------------------------------------------------------------- */

static void call_once(struct lower *l, struct expr *e, struct decl *d, struct val index)
{
	uint32_t end = ir_label(&l->b);
	struct expr *call = arena_new(l->arena, struct expr);
	*call = *e->args->next;
	call->kind = E_CALL;
	call->next = NULL;
	call->span = e->span;
	begin_step(l, e->span);
	uint32_t was = load(l, d, index, e->span);
	assume(l, IR_NE, reg(was), imm(ONCE_RUNNING), e->span);
	emit2(l, IR_JNZ, end, reg(was), e->span); /* done */
	store(l, d, index, imm(ONCE_RUNNING), e->span);
	end_step(l);
	lower_call(l, call, 0);
	stop_at(l, IRN_ACCESS, IR_PRIMITIVE_RESUMES, e->span);
	store(l, d, index, imm(ONCE_DONE), e->span);
	ir_place(&l->b, end);
}

void lower_sync(struct lower *l, struct expr *e, uint32_t dest)
{
	assert(e->sync && e->args && e->args->decl);
	if (e->sync >= SYNC_SEND) {
		lower_chan(l, e, dest);
		return;
	}
	struct decl *d = meant(l, e->args->decl);
	uint32_t mark = l->b.top;
	struct val index = place_index(l, e->args);
	switch (e->sync) {
	case SYNC_WAIT:
		if (d->type->kind == TY_SEMAPHORE)
			wait_semaphore(l, d, index, e->span);
		else if (d->type->kind == TY_COND)
			wait_cond(l, e, d, index);
		else
			wait_barrier(l, e, d);
		break;
	case SYNC_TRYWAIT:
		try_semaphore(l, d, index, dest, e->span);
		break;
	case SYNC_POST:
		post(l, d, index, e->span);
		break;
	case SYNC_READ:
	case SYNC_WRITE:
		acquire_rwlock(l, d, index, e->sync == SYNC_WRITE, e->span);
		break;
	case SYNC_SIGNAL:
	case SYNC_BROADCAST: {
		struct places p = places_of(l, d, index, e->span);
		begin_step(l, e->span);
		if (e->sync == SYNC_SIGNAL)
			wake_one(l, &p, e->span);
		else
			wake_all(l, &p, e->span);
		end_step(l);
		break;
	}
	case SYNC_ONCE:
		call_once(l, e, d, index);
		break;
	default: /* SYNC_NONE, and those of a chan */
		break;
	}
	l->b.top = mark;
}
