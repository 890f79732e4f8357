/*
 * finding_words: the words of a finding: what locks, data and threads are called,
 * what was done to them, and the sentence.
 */
#include <string.h>

#include "event/finding.h"
#include "report/finding_int.h"

/* " (made in f, file:line)"; NULL: unknown. */
static const char *made_at(struct writer *w, const struct raw_stack *made, bool first)
{
	struct stacks *s = arena_new(w->arena, struct stacks);
	const struct src_frame *f = NULL;
	finding_resolve(w, s, made);
	for (uint32_t i = 0; i < s->n && !f; i++)
		if (!s->v[i].system && s->v[i].function)
			f = &s->v[i];
	if (!f)
		return NULL;
	const char *slash = f->file ? strrchr(f->file, '/') : NULL;
	size_t bare = strcspn(f->function, "(");
	if (!f->file || !f->line)
		return arena_printf(w->arena, "%s in %.*s", first ? "first taken" : "made", (int)bare, f->function);
	return arena_printf(w->arena, "%s in %.*s, %s:%u", first ? "first taken" : "made", (int)bare, f->function,
	                    slash ? slash + 1 : f->file, f->line);
}

/* A lock with what is known of its making: by the variable, else by that. */
static const char *lock_name(struct writer *w, uint32_t id, uint64_t addr, const struct raw_stack *made, bool first)
{
	uint64_t off;
	const char *var = symbols_data(w->sym, addr, &off);
	if (var && off)
		return arena_printf(w->arena, "M%u ('%s'+%llu)", id, var, (unsigned long long)off);
	if (var)
		return arena_printf(w->arena, "M%u ('%s')", id, var);
	const char *at = made && made->n ? made_at(w, made, first) : NULL;
	if (at)
		return arena_printf(w->arena, "M%u (%s)", id, at);
	return arena_printf(w->arena, "M%u", id);
}

const char *finding_lock(struct writer *w, const struct raw_finding *f, uint32_t id, uint64_t addr)
{
	if (f && id == f->lock)
		return lock_name(w, id, addr, &f->made, f->made_first != 0);
	if (f && id == f->lock2)
		return lock_name(w, id, addr, &f->made2, f->made2_first != 0);
	return lock_name(w, id, addr, NULL, false);
}

/* The number of data that has no name. */
static uint32_t number_of(struct finding_log *log, uint64_t addr)
{
	for (uint32_t i = 0; i < log->unnamed.len; i++)
		if (log->unnamed.data[i] == addr)
			return i + 1;
	avec_push(log->arena, &log->unnamed, addr);
	return log->unnamed.len;
}

const char *finding_data(struct writer *w, uint64_t addr)
{
	uint64_t off;
	const char *var = symbols_data(w->sym, addr, &off);
	if (var && off)
		return arena_printf(w->arena, "'%s'+%llu", var, (unsigned long long)off);
	if (var)
		return arena_printf(w->arena, "'%s'", var);
	return arena_printf(w->arena, "data D%u", number_of(w->o->json, addr)); /* addresses change from run to run */
}

const char *finding_thread(struct writer *w, uint32_t uid)
{
	if (uid == RACE_SOMEONE)
		return "another thread";
	return uid == 1 ? "main thread" : arena_printf(w->arena, "thread T%u", uid - 1);
}

static const char *op_words(struct writer *w, const struct raw_finding *f, uint32_t op, uint32_t lock, uint64_t addr)
{
	const char *how = f->kind == FIND_CYCLE ? "" : "unprotected ";
	switch (op) {
	case OP_RELEASE:
		return arena_printf(w->arena, "lock release of %s", finding_lock(w, f, lock, addr));
	case OP_ACQUIRE:
		return arena_printf(w->arena, "lock acquire of %s", finding_lock(w, f, lock, addr));
	case OP_WAIT:
		return arena_printf(w->arena, "condition wait with %s", finding_lock(w, f, lock, addr));
	case OP_ATOMIC:
		return arena_printf(w->arena, "atomic access to %s", finding_data(w, addr));
	case OP_READ:
		return arena_printf(w->arena, "%sread of %s", how, finding_data(w, addr));
	case OP_JOIN:
		return "join of a thread";
	case OP_ENTER:
		return "the start of a thread";
	default:
		return arena_printf(w->arena, "%swrite of %s", how, finding_data(w, addr));
	}
}

const char *finding_commit(struct writer *w, const struct view *v)
{
	const struct raw_finding *f = v->f;
	return op_words(w, f, f->commit_op, f->lock2 ? f->lock2 : f->lock, f->address2 ? f->address2 : f->address);
}

const char *finding_violation(struct writer *w, const struct view *v)
{
	return op_words(w, v->f, v->f->violation_op, v->f->lock, v->f->address);
}

const char *finding_other(const struct view *v)
{
	bool did = v->f->confirmed;
	bool data = v->f->kind == FIND_RACE || (v->f->kind == FIND_MARKED && !v->f->lock);
	if (!v->owrite.n && !data)
		return did ? "took the lock" : "can take the lock";
	if (v->oacquire.n)
		return did ? "wrote under the lock" : "can write under the lock";
	switch (v->f->other_op) {
	case OP_READ:
		return did ? "read the same data" : "can read the same data";
	case OP_WRITE:
		return did ? "wrote the same data" : "can write the same data";
	case OP_ATOMIC:
		return did ? "changed the same data" : "can change the same data";
	default:
		return did ? "intervened" : "can access the same data";
	}
}

/* The call made by the block on the way to a place: "get()"; NULL when the
 * block does it itself. */
static const char *callee(struct writer *w, const struct view *v, const struct stacks *s)
{
	uint32_t around = v->entered.n - v->block;
	if (s->n <= around)
		return NULL;
	const struct src_frame *f = &s->v[s->n - around - 1];
	/* A wrapper around the lock says less than the line that calls it. */
	if (!f->function || f->system || strstr(f->function, "lock") || strstr(f->function, "Lock") || strstr(f->function, "LOCK"))
		return NULL;
	size_t bare = strcspn(f->function, "(");
	return arena_printf(w->arena, "%.*s()", (int)bare, f->function);
}

const struct src_frame *finding_in_block(const struct view *v, const struct stacks *s)
{
	uint32_t around = v->entered.n - v->block;
	const struct src_frame *f = s->n >= around && around ? &s->v[s->n - around] : NULL;
	return f && f->file && f->line ? f : NULL;
}

static const char *where(struct writer *w, const struct view *v, const struct stacks *s)
{
	const char *c = callee(w, v, s);
	const struct src_frame *f = finding_in_block(v, s);
	if (c)
		return c;
	if (f)
		return arena_printf(w->arena, "line %u", f->line);
	if (s->n && !s->v[0].file)
		return frame_function(w->arena, &(struct src_frame){ .module = s->v[0].module, .offset = s->v[0].offset });
	return "the first part";
}

bool finding_round(const struct view *v)
{
	const struct src_frame *a = finding_in_block(v, &v->commit), *b = finding_in_block(v, &v->violation);
	if (!a || !b || strcmp(a->file, b->file) != 0 || v->f->kind == FIND_CYCLE)
		return false;
	return b->line < a->line || (b->line == a->line && b->offset <= a->offset);
}

uint32_t finding_line(const struct view *v)
{
	const struct src_frame *f = finding_in_block(v, &v->violation);
	return f ? f->line : 0;
}

/* Which call, or line, comes before the gap and which after it. */
void finding_gap(struct writer *w, const struct view *v, struct buf *out)
{
	const char *a = where(w, v, &v->commit), *b = where(w, v, &v->violation);
	bool round = finding_round(v), update = v->f->commit_op == OP_READ && v->f->violation_op == OP_WRITE;
	if (!strcmp(a, b) && !round && update)
		buf_printf(out, "etween the read and the write at %s ", a);
	else if (!strcmp(a, b))
		buf_printf(out, "etween two %s at %s ", round ? "iterations of the loop, both" : "times", a);
	else if (round)
		buf_printf(out, "etween %s and, in the next iteration of the loop, %s ", a, b);
	else
		buf_printf(out, "etween %s and %s ", a, b);
}

void finding_sentence(struct writer *w, const struct view *v, struct buf *out)
{
	const struct raw_finding *f = v->f;
	const char *other = f->other ? finding_thread(w, f->other) : "another thread";
	const char *can = f->confirmed ? "did (in this run)" : "can";
	buf_str(out, "  B");
	finding_gap(w, v, out);
	if (f->violation_op == OP_ACQUIRE && f->commit_op == OP_RELEASE && (f->lock == f->lock2 || !f->lock2))
		buf_printf(out,
		           "the lock %s is released: %s %s take it and %s what the "
		           "first part relied on.\n",
		           finding_lock(w, f, f->lock, f->address), other, can,
		           f->confirmed && !v->owrite.n ? "see or change" : "change");
	else if (f->bare)
		buf_printf(out,
		           "the lock %s is not held yet when %s is read: %s %s take it and change what "
		           "was read.\n",
		           finding_lock(w, f, f->lock, f->address), finding_data(w, f->address2), other, can);
	else if (f->wrong && f->commit_locks.n && f->other_locks.n)
		buf_printf(out,
		           "%s is protected by %s, but %s, which writes it too, holds %s: no lock is common to both, and the value "
		           "written "
		           "here is computed from the old one.\n",
		           finding_data(w, f->address), finding_lock(w, f, f->commit_locks.v[0].id, f->commit_locks.v[0].addr),
		           other, finding_lock(w, f, f->other_locks.v[0].id, f->other_locks.v[0].addr));
	else if (f->kind == FIND_RACE)
		buf_printf(out,
		           "%s is not protected: %s %s write it, and the value written "
		           "here is computed from the old one.\n",
		           finding_data(w, f->address), other, can);
	else if (f->kind == FIND_CYCLE)
		buf_printf(out,
		           "%s intervened: it followed the first and preceded the second, so no serial order of "
		           "the block gives the same result.\n",
		           other);
	else
		buf_printf(out, "the block has released its protection: %s %s intervene and see or change an intermediate state.\n",
		           other, can);
	if (f->apart)
		buf_printf(out, "  These two threads never ran concurrently: one was created after the other was "
		                "joined. Two concurrent threads can interleave this way.\n");
}
