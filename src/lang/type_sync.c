/*
 * type_sync: semaphores, reader-writer locks, condition variables, barriers and once flags.
 *
 * Their words are not reserved. The name of a type is one of these when the model declares no type of that name; a call is
 * one of a primitive when the model declares no procedure of that name. lower_sync.c says what they do.
 */
#include <string.h>

#include "lang/parse_foreign.h"
#include "lang/type.h"

/* ---- types -------------------------------------------------------------- */

static const struct {
	enum type_kind kind;
	const char *word, *a_word, *hint;
	int32_t min, max;
} types[] = {
	{ TY_LOCK, "lock", "a lock", "use acquire(l) and release(l)", 0, 1 },
	{ TY_SEMAPHORE, "semaphore", "a semaphore", "use wait(s), trywait(s) and post(s)", 0, INT32_MAX },
	{ TY_RWLOCK, "rwlock", "an rwlock", "use acquire_read(r) or acquire_write(r), and release(r)", 0, 0 },
	{ TY_COND, "cond", "a cond", "use wait(c, l), signal(c) and broadcast(c)", 0, 0 },
	{ TY_BARRIER, "barrier", "a barrier", "use wait(b)", 1, INT32_MAX },
	{ TY_ONCE, "once", "a once flag", "use call_once(o, procedure)", 0, 0 },
	{ TY_CHAN, "chan", "a chan", "use send(c, v), recv(c), try_send(c, v) and try_recv(c, x)", 0, 0 },
};

#define SYNC_COUNT(a) (sizeof(a) / sizeof *(a))

const char *sync_word(enum type_kind k)
{
	assert(is_sync(k) && types[k - TY_LOCK].kind == k);
	return types[k - TY_LOCK].word;
}

const char *sync_a_word(enum type_kind k)
{
	assert(is_sync(k) && types[k - TY_LOCK].kind == k);
	return types[k - TY_LOCK].a_word;
}

void sync_hint(struct checker *c, enum type_kind k)
{
	diag_hint(c->d, "%s", types[k - TY_LOCK].hint);
}

/* What a chan carries: one value at a time. */
static bool check_chan(struct checker *c, struct type_ref *ty)
{
	struct type_ref *of = ty->of;
	if (ty->kind != TY_CHAN)
		return false;
	if (!of) {
		diag_error(c->d, "type", c->src, ty->span, "a chan says what it carries");
		diag_hint(c->d, "chan int[0..3] c[2]; for two values of 0..3");
		of = ty->of = arena_new(c->arena, struct type_ref);
		of->kind = TY_INT;
	} else if (check_sync_type(c, of) || is_sync(of->kind)) {
		diag_error(c->d, "type", c->src, of->span, "a chan carries values, not %s", sync_a_word(of->kind));
		of->kind = TY_INT;
	}
	check_type_ref(c, of);
	if (of->kind == TY_STRUCT || of->kind == TY_VOID) {
		diag_error(c->d, "type", c->src, of->span, "a chan carries one value at a time");
		diag_hint(c->d, "send the fields one by one, or an index into an array of structs");
		of->kind = TY_INT;
	}
	ty->min = of->min;
	ty->max = of->max;
	ty->enum_decl = of->enum_decl;
	return true;
}

bool check_sync_type(struct checker *c, struct type_ref *ty)
{
	if (check_chan(c, ty))
		return true;
	size_t i = 1; /* lock is reserved: the parser knows it */
	if (ty->kind != TY_ENUM || ty->enum_def || !ty->name)
		return false;
	if (c->bound[ty->name]) {
		if (ty->spurious)
			diag_error(c->d, "type", c->src, ty->name_span, "only a cond can be spurious");
		return false;
	}
	while (i < SYNC_COUNT(types) && strcmp(types[i].word, name_of(c, ty->name)))
		i++;
	if (ty->spurious && (i == SYNC_COUNT(types) || types[i].kind != TY_COND)) {
		diag_error(c->d, "type", c->src, ty->name_span, "only a cond can be spurious");
		diag_hint(c->d, "spurious cond c; may wake a waiting thread that was not signalled");
	}
	if (i == SYNC_COUNT(types))
		return false;
	ty->kind = types[i].kind;
	check_wrap(c, ty);
	ty->min = types[i].min;
	ty->max = types[i].max;
	check_chan(c, ty);
	return true;
}

/* ---- calls -------------------------------------------------------------- */

static const struct primitive {
	const char *word;
	enum sync_op op;
	enum type_kind on;
	uint32_t nargs;
	const char *shape;
} primitives[] = {
	{ "wait", SYNC_WAIT, TY_SEMAPHORE, 1, "wait(s)" },
	{ "wait", SYNC_WAIT, TY_BARRIER, 1, "wait(b)" },
	{ "wait", SYNC_WAIT, TY_COND, 2, "wait(c, l), with the lock l that the thread holds" },
	{ "trywait", SYNC_TRYWAIT, TY_SEMAPHORE, 1, "trywait(s)" },
	{ "post", SYNC_POST, TY_SEMAPHORE, 1, "post(s)" },
	{ "signal", SYNC_SIGNAL, TY_COND, 1, "signal(c)" },
	{ "broadcast", SYNC_BROADCAST, TY_COND, 1, "broadcast(c)" },
	{ "acquire_read", SYNC_READ, TY_RWLOCK, 1, "acquire_read(r)" },
	{ "acquire_write", SYNC_WRITE, TY_RWLOCK, 1, "acquire_write(r)" },
	{ "call_once", SYNC_ONCE, TY_ONCE, 2, "call_once(o, procedure)" },
	{ "send", SYNC_SEND, TY_CHAN, 2, "send(c, value)" },
	{ "recv", SYNC_RECV, TY_CHAN, 1, "recv(c)" },
	{ "try_send", SYNC_TRY_SEND, TY_CHAN, 2, "try_send(c, value)" },
	{ "try_recv", SYNC_TRY_RECV, TY_CHAN, 2, "try_recv(c, variable)" },
};

const char *sync_type_word(uint32_t i)
{
	return i + 1 < SYNC_COUNT(types) ? types[i + 1].word : NULL; /* lock is reserved */
}

const char *sync_call_word(uint32_t i)
{
	for (size_t k = 0; k < SYNC_COUNT(primitives); k++)
		if ((!k || strcmp(primitives[k].word, primitives[k - 1].word)) && !i--)
			return primitives[k].word;
	return NULL;
}

static const struct primitive *find(const char *word, enum type_kind on)
{
	for (size_t i = 0; i < SYNC_COUNT(primitives); i++)
		if (!strcmp(primitives[i].word, word) && (on == TY_NONE || primitives[i].on == on))
			return &primitives[i];
	return NULL;
}

/* The object of the call: a name or an element. NULL after a message. */
static struct decl *check_object_of(struct checker *c, struct expr *e, const struct primitive **which)
{
	struct expr *arg = e->args;
	const char *word = name_of(c, e->name);
	const char *needs = (*which)->op == SYNC_WAIT ? "a semaphore, a cond or a barrier" : sync_a_word((*which)->on);
	if (!arg) {
		diag_error(c->d, "argument-count", c->src, e->span, "%s needs %s", word, needs);
		diag_hint(c->d, "it is written %s", (*which)->shape);
		return NULL;
	}
	check_expr(c, arg);
	bool place = is_place(arg);
	struct decl *d = place ? arg->decl : NULL;
	if (place && !d)
		return NULL; /* reported */
	if (d && d->kind == D_VAR && is_sync(d->type->kind) && find(word, d->type->kind)) {
		*which = find(word, d->type->kind);
		return d;
	}
	if (place && d)
		diag_error(c->d, "wrong-primitive", c->src, arg->span, "%s needs %s; '%s' is %s", word, needs, var_name(c, d),
		           d->kind == D_VAR ? type_text(c, d->type->kind, d->type->enum_decl) : "a constant");
	else
		diag_error(c->d, "wrong-primitive", c->src, arg->span, "%s needs %s", word, needs);
	if (d && d->kind == D_VAR && is_sync(d->type->kind))
		sync_hint(c, d->type->kind);
	else if ((*which)->op == SYNC_WAIT)
		diag_hint(c->d, "to wait until a condition holds, use assume(e)");
	return NULL;
}

/* wait(c, l) */
static void check_lock_of_wait(struct checker *c, struct expr *e)
{
	struct expr *arg = e->args->next;
	check_expr(c, arg);
	if (!arg->decl)
		return;
	if (arg->decl->kind == D_VAR && arg->decl->type->kind == TY_LOCK && is_place(arg))
		return;
	diag_error(c->d, "wrong-primitive", c->src, arg->span, "wait(c, l) needs a lock that the thread holds; '%s' is %s",
	           var_name(c, arg->decl),
	           arg->decl->kind == D_VAR ? type_text(c, arg->decl->type->kind, arg->decl->type->enum_decl) : "a constant");
	diag_note(c->d, c->src, arg->decl->name_span, "declared here");
}

/* call_once(o, f) */
static void check_procedure_of_once(struct checker *c, struct expr *e)
{
	struct expr *arg = e->args->next;
	struct decl *f = arg->kind == E_NAME ? scope_find(c, arg->name, arg->name_span, "the procedure") : NULL;
	if (arg->kind == E_NAME && !f)
		return;
	if (!f || f->kind != D_PROC || f->nparams || f->result) {
		diag_error(c->d, "wrong-primitive", c->src, arg->span,
		           "call_once needs the name of a procedure without parameters and result");
		if (f)
			diag_note(c->d, c->src, f->name_span, "declared here");
		diag_hint(c->d, "proc init() { ... } and call_once(%s, init)", name_of(c, e->args->name));
		return;
	}
	arg->decl = f;
	f->reads++;
	struct call_edge edge = { c->proc, f, arg->span, c->proc ? c->proc->id : 0 };
	avec_push(c->arena, &c->calls, edge);
	if (c->proc)
		c->proc->id = c->calls.len - 1;
}

/* send(c, v), try_send(c, v), try_recv(c, x), recv(c) */
static void check_chan_call(struct checker *c, struct expr *e, const struct decl *d, enum sync_op op)
{
	struct type_ref *of = d->type->of;
	struct expr *arg = e->args->next;
	if (op == SYNC_RECV) {
		e->type = of->kind;
		e->enum_decl = of->enum_decl;
		return;
	}
	if (op != SYNC_TRY_RECV) {
		check_fits(c, arg, of, arena_printf(c->arena, "what '%s' carries", var_name(c, d)));
		return;
	}
	check_value(c, arg, "a variable");
	struct decl *to = is_place(arg) ? arg->decl : NULL;
	if (to && to->kind == D_VAR) {
		whole_of(to)->writes++;
		return;
	}
	if (arg->kind != E_ERROR && (to || !is_place(arg)))
		diag_error(c->d, "wrong-primitive", c->src, arg->span, "try_recv(c, x) needs the variable that receives the value");
}

bool check_sync_call(struct checker *c, struct expr *e)
{
	const struct primitive *which = c->bound[e->name] ? NULL : find(name_of(c, e->name), TY_NONE);
	if (!which)
		return false;
	bool asks = which->op == SYNC_TRYWAIT || which->op == SYNC_TRY_SEND || which->op == SYNC_TRY_RECV;
	e->type = asks ? TY_BOOL : which->op == SYNC_RECV ? TY_INT : TY_VOID;
	e->shared = true;
	struct decl *d = check_object_of(c, e, &which);
	if (!d) {
		for (struct expr *arg = e->args ? e->args->next : NULL; arg; arg = arg->next)
			if (which->op != SYNC_ONCE)
				check_expr(c, arg);
		return true;
	}
	whole_of(d)->writes++;
	if (e->nargs != which->nargs) {
		diag_error(c->d, "argument-count", c->src, e->span, "on %s, %s takes %u argument%s, not %u", sync_a_word(which->on),
		           which->word, which->nargs, which->nargs == 1 ? "" : "s", e->nargs);
		diag_hint(c->d, "it is written %s", which->shape);
		return true;
	}
	if (which->on == TY_COND && which->op == SYNC_WAIT)
		check_lock_of_wait(c, e);
	if (which->op == SYNC_ONCE)
		check_procedure_of_once(c, e);
	if (which->on == TY_CHAN)
		check_chan_call(c, e, d, which->op);
	if (c->steps && which->op == SYNC_WAIT && which->on != TY_SEMAPHORE)
		diag_error(c->d, "not-in-step", c->src, e->span,
		           "waiting at %s is more than one step: it is not allowed inside step { }", sync_a_word(which->on));
	e->sync = which->op;
	return true;
}
