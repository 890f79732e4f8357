#include "program/explore_story.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/invariant.h"
#include "event/event.h"
#include "program/explore_accesses.h"
#include "report/finding.h"
#include "sched/call_names.h"

_Static_assert(EVENT_READ == 0 && EVENT_END == 7, "link_text() has a verb for each kind of event");

struct explore_story {
	const struct control *c;
	struct arena *a;
	struct symbols *symbols;
	struct explore_failure *f;
	const char *root; /* files below it are named relative to it */
	size_t nroot;
	struct {
		uint64_t addr;
		const char *name;
		bool unnamed;
	} named[512];
	uint32_t nnamed, nunnamed;
};

/* ---- places ---- */

static const char *relative(const struct explore_story *s, const char *file)
{
	return s->nroot && !strncmp(file, s->root, s->nroot) && file[s->nroot] == '/' ? file + s->nroot + 1 : file;
}

/* Frames of a stack of return addresses, innermost first. */
static uint32_t frames(struct explore_story *s, const uint64_t *pcs, uint32_t n, struct explore_place *out, uint32_t max)
{
	struct src_frame f[64];
	uint64_t copy[CONTROL_STACK];
	if (n > CONTROL_STACK)
		n = CONTROL_STACK;
	memcpy(copy, pcs, n * sizeof *copy);
	struct raw_stack st = { copy, n };
	uint32_t k = symbols_stack(s->symbols, &st, f, 64), m = 0;
	for (uint32_t i = 0; i < k && m < max; i++) {
		if (f[i].function && (!strcmp(f[i].function, "x_thread_main") || !strncmp(f[i].function, "x_object_", 9)))
			break;
		if ((f[i].system || !f[i].file) && m == 0 && i + 1 < k) /* a library's: where it is called */
			continue;
		out[m++] = (struct explore_place){ f[i].function, f[i].file ? relative(s, f[i].file) : NULL, f[i].line, f[i].module,
			                           f[i].offset };
	}
	assert(m <= max);
	return m;
}

static struct explore_place place(struct explore_story *s, uint64_t pc)
{
	struct explore_place p = { 0 };
	if (pc)
		frames(s, &pc, 1, &p, 1);
	return p;
}

static bool same_place(const struct explore_place *a, const struct explore_place *b)
{
	return a->line == b->line && !strcmp(a->function ? a->function : "", b->function ? b->function : "") &&
	       !strcmp(a->file ? a->file : "", b->file ? b->file : "") && (a->file || a->offset == b->offset);
}

/* ---- names of objects ---- */

static const char *name_of(struct explore_story *s, uint64_t addr, char letter)
{
	for (uint32_t i = 0; i < s->nnamed; i++)
		if (s->named[i].addr == addr)
			return s->named[i].name;
	const char *n = symbols_datum(s->symbols, addr);
	bool unnamed = !n;
	if (!n)
		n = arena_printf(s->a, "%c%u", letter, ++s->nunnamed);
	if (s->nnamed < 512) {
		s->named[s->nnamed].addr = addr;
		s->named[s->nnamed].unnamed = unnamed;
		s->named[s->nnamed++].name = n;
	}
	assert(n && s->nnamed <= sizeof s->named / sizeof *s->named);
	return n;
}

/* Agents of store buffers have ids among those of the threads: the number of a thread is what it would be without them,
 * and the steps of an agent are told as its thread's. */
static bool is_agent(const struct explore_story *s, uint32_t t)
{
	return t < s->c->nthreads && t < CONTROL_THREADS && s->c->thread[t].state == CONTROL_AGENT;
}

static uint32_t shown(const struct explore_story *s, uint32_t t)
{
	uint32_t n = is_agent(s, t) ? s->c->thread[t].parent : t, less = 0;
	for (uint32_t i = 0; i < n && i < CONTROL_THREADS; i++)
		less += is_agent(s, i);
	return n - less;
}

static const char *thread_name(struct explore_story *s, uint64_t t)
{
	return t ? arena_printf(s->a, "T%u", shown(s, (uint32_t)t)) : "main";
}

/* ---- operations as text ---- */

static const char *value(struct explore_story *s, uint64_t v, uint32_t size)
{
	int64_t n = size == 1 ? (int8_t)v : size == 2 ? (int16_t)v : size == 4 ? (int32_t)v : (int64_t)v;
	if (n > 1000000000 || n < -1000000000)
		return arena_printf(s->a, "0x%llx", (unsigned long long)v);
	return arena_printf(s->a, "%lld", (long long)n);
}

static const char *memory_text(struct explore_story *s, const struct sched_event *e, const struct control_step *d)
{
	if (e->op.a < 4096) { /* all descriptors: runtime/explore/io.c */
		const char *call = d->flags & STEP_CALL ? sched_call_name(d->flags >> STEP_CALL_SHIFT) : NULL;
		bool looks = e->op.kind == SCHED_LOAD;
		if (!call)
			return looks ? "looks at descriptors" : "input or output";
		return looks ? arena_printf(s->a, "%s: looks", call) : call;
	}
	const char *n = name_of(s, e->op.a, 'D'), *atomic = e->op.kind == SCHED_READ || e->op.kind == SCHED_WRITE ? "" : "atomic ";
	bool known = d->flags & STEP_VALUES;
	const char *before = value(s, d->before, e->op.size), *after = value(s, d->after, e->op.size);
	if (known && d->flags & STEP_OLDER)
		return e->op.kind == SCHED_LOAD ? arena_printf(s->a, "atomic read %s -> %s, an older store", n, before)
		       : e->op.kind == SCHED_RMW && d->before == d->after
		               ? arena_printf(s->a, "atomic %s: %s, an older store", n, before)
		       : e->op.kind == SCHED_RMW ? arena_printf(s->a, "atomic %s: %s -> %s, before a newer store", n, before, after)
		                                 : arena_printf(s->a, "atomic %s = %s, before a newer store", n, after);
	if (e->op.kind == SCHED_READ || e->op.kind == SCHED_LOAD)
		return known ? arena_printf(s->a, "%sread %s -> %s", atomic, n, before)
		             : arena_printf(s->a, "%sread %s", atomic, n);
	if (e->op.kind == SCHED_RMW)
		return known ? arena_printf(s->a, "atomic %s: %s -> %s", n, before, after)
		             : arena_printf(s->a, "atomic update of %s", n);
	if (e->op.kind == SCHED_FLUSH)
		return known ? arena_printf(s->a, "%s = %s reaches memory", n, after) : arena_printf(s->a, "%s reaches memory", n);
	if (e->op.kind == SCHED_BUFFER)
		return known ? arena_printf(s->a, "%s = %s, buffered", n, after) : arena_printf(s->a, "write %s, buffered", n);
	return known ? arena_printf(s->a, "%s%s = %s", atomic, n, after) : arena_printf(s->a, "%swrite %s", atomic, n);
}

static const char *tried(struct explore_story *s, const struct sched_event *e, const char *text)
{
	return e->result & SCHED_RES_FAILED ? arena_printf(s->a, "%s: %s", text, e->op.flags & SCHED_TIMED ? "times out" : "fails")
	                                    : text;
}

static const char *op_text(struct explore_story *s, uint32_t i)
{
	assert(i < s->c->nevents && i < CONTROL_STEPS);
	const struct sched_event *e = &s->c->events[i];
	bool object = e->op.kind >= SCHED_LOCK && e->op.kind <= SCHED_DESTROY;
	const char *m = object ? name_of(s, e->op.a, 'L') : "";
	switch (e->op.kind) {
	case SCHED_READ:
	case SCHED_WRITE:
	case SCHED_LOAD:
	case SCHED_STORE:
	case SCHED_FLUSH:
	case SCHED_BUFFER:
	case SCHED_RMW:
		return memory_text(s, e, &s->c->steps[i]);
	case SCHED_START:
		return "begins";
	case SCHED_CREATE:
		return arena_printf(s->a, "create %s", thread_name(s, e->op.a));
	case SCHED_JOIN:
		return arena_printf(s->a, "join %s", thread_name(s, e->op.a));
	case SCHED_TRYJOIN:
		return tried(s, e, arena_printf(s->a, "try join %s", thread_name(s, e->op.a)));
	case SCHED_EXIT:
		return "ends";
	case SCHED_PROCESS_EXIT:
		return "exit";
	case SCHED_FENCE:
		return "fence";
	case SCHED_FENCE_SC:
		return "fence (seq_cst)";
	case SCHED_DRAIN:
		return "store buffer empty";
	case SCHED_LOCK:
		return arena_printf(s->a, "lock %s", m);
	case SCHED_TRYLOCK:
		return tried(s, e, arena_printf(s->a, "%slock %s", e->op.flags & SCHED_TIMED ? "timed " : "try", m));
	case SCHED_UNLOCK:
	case SCHED_RDUNLOCK:
	case SCHED_WRUNLOCK:
		return arena_printf(s->a, "unlock %s", m);
	case SCHED_RDLOCK:
		return arena_printf(s->a, "read-lock %s", m);
	case SCHED_WRLOCK:
		return arena_printf(s->a, "write-lock %s", m);
	case SCHED_TRYRD:
		return tried(s, e, arena_printf(s->a, "try read-lock %s", m));
	case SCHED_TRYWR:
		return tried(s, e, arena_printf(s->a, "try write-lock %s", m));
	case SCHED_COND_WAIT:
		return arena_printf(s->a, "wait %s, unlock %s", m, name_of(s, e->op.b, 'L'));
	case SCHED_COND_WAKE:
		return arena_printf(s->a, "%s %s, lock %s", e->result & SCHED_RES_TIMEOUT ? "time out on" : "woken on", m,
		                    name_of(s, e->op.b, 'L'));
	case SCHED_COND_SIGNAL:
		return arena_printf(s->a, "signal %s", m);
	case SCHED_COND_BROADCAST:
		return arena_printf(s->a, "broadcast %s", m);
	case SCHED_SEM_WAIT:
		return arena_printf(s->a, "wait %s (%u)", m, e->value);
	case SCHED_SEM_TRY:
		return tried(s, e, arena_printf(s->a, "try wait %s (%u)", m, e->value));
	case SCHED_SEM_POST:
		return arena_printf(s->a, "post %s (%u)", m, e->value);
	case SCHED_SEM_VALUE:
		return arena_printf(s->a, "value of %s (%u)", m, e->value);
	case SCHED_BARRIER_ARRIVE:
		return arena_printf(s->a, "barrier %s%s", m, e->result & SCHED_RES_OPENED ? ": opens" : "");
	case SCHED_BARRIER_LEAVE:
		return arena_printf(s->a, "leave barrier %s", m);
	case SCHED_ONCE:
		return arena_printf(s->a, "once %s%s", m, e->result & SCHED_RES_PASSED ? ": done" : "");
	case SCHED_ONCE_END:
		return arena_printf(s->a, "once %s done", m);
	case SCHED_FUTEX_WAIT:
		return arena_printf(s->a, "futex wait %s%s", m, e->result & SCHED_RES_FAILED ? ": changed" : "");
	case SCHED_FUTEX_WOKEN:
		return arena_printf(s->a, "futex %s: %s", m, e->result & SCHED_RES_TIMEOUT ? "times out" : "woken");
	case SCHED_FUTEX_WAKE:
		return arena_printf(s->a, "futex wake %s", m);
	case SCHED_FREE:
		return arena_printf(s->a, "free %s", name_of(s, e->op.a, 'D'));
	case SCHED_YIELD:
		return "yield";
	case SCHED_SLEEP:
		return "sleep";
	default:
		return sched_kind_name(e->op.kind);
	}
}

/* ---- the failure ---- */

struct story_kind {
	const char *name, *title;
};
static const struct story_kind kinds[CONTROL_ENDS] = {
	[CONTROL_CRASH] = { "crash", "CRASH" },
	[CONTROL_ASSERT] = { "assertion", "FAILED ASSERTION" },
	[CONTROL_ABORT] = { "abort", "ABORT" },
	[CONTROL_EXIT] = { "exit", "FAILURE" },
	[CONTROL_DEADLOCK] = { "deadlock", "DEADLOCK" },
	[CONTROL_LOST_WAKEUP] = { "lost-wakeup", "LOST WAKE-UP" },
	[CONTROL_ENDLESS] = { "endless", "ENDLESS LOOP" },
	[CONTROL_RACE] = { "race", "DATA RACE" },
	[CONTROL_MISUSE] = { "misuse", "MISUSE" },
	[CONTROL_NOT_ATOMIC] = { "atomicity", "NOT ATOMIC" },
	[CONTROL_NOT_LINEARIZABLE] = { "linearizability", "NOT LINEARIZABLE" },
	[CONTROL_NOT_OBSTRUCTION_FREE] = { "obstruction-freedom", "NOT OBSTRUCTION-FREE" },
	[CONTROL_NOT_LOCK_FREE] = { "lock-freedom", "NOT LOCK-FREE" },
};

static const char *text_of(const struct explore_story *s)
{
	return arena_strndup(s->a, s->c->text, strnlen(s->c->text, CONTROL_TEXT));
}

static const char *block_name(struct explore_story *s)
{
	const struct control *c = s->c;
	/* an entry may be placed in a function that is inlined behind it: the address that its hook tells is that of the block */
	uint64_t stack[2] = { (c->block_fn + 1) | STACK_NAME, c->block_pc };
	struct explore_place at = { 0 };
	frames(s, c->block_fn ? stack : stack + 1, c->block_fn ? 2 : 1, &at, 1);
	if (*c->block_name)
		return arena_printf(s->a, "block '%.*s' in %s", (int)strnlen(c->block_name, sizeof c->block_name), c->block_name,
		                    at.function ? at.function : "?");
	return at.function ? at.function : "a block";
}

static const char *sentence(struct explore_story *s)
{
	const struct control *c = s->c;
	const char *who = thread_name(s, c->end_thread);
	switch (c->end) {
	case CONTROL_CRASH:
		return arena_printf(s->a, "%s: SIG%s%s", who, sigabbrev_np(c->code) ? sigabbrev_np(c->code) : "?",
		                    c->code == SIGSEGV || c->code == SIGBUS
		                            ? arena_printf(s->a, " at address 0x%llx", (unsigned long long)c->addr)
		                            : "");
	case CONTROL_EXIT:
		return arena_printf(s->a, "exit status %d", c->code);
	case CONTROL_ABORT:
		return arena_printf(s->a, "%s aborts", who);
	case CONTROL_MISUSE:
		return c->addr ? arena_printf(s->a, "%s (%s, by %s)", text_of(s), name_of(s, c->addr, 'L'), who)
		               : arena_printf(s->a, "%s (by %s)", text_of(s), who);
	case CONTROL_RACE:
		return "two accesses to the same data, at least one of which writes, and neither happens before the other";
	case CONTROL_DEADLOCK:
		return "threads wait for each other";
	case CONTROL_NOT_LINEARIZABLE:
		return "the results of the calls have no explanation";
	case CONTROL_NOT_ATOMIC:
		return arena_printf(s->a, "%s of %s: no serial order of the blocks gives what this schedule did", block_name(s),
		                    thread_name(s, c->block_thread));
	default:
		return text_of(s);
	}
}

static const char *link_text(struct explore_story *s, const struct control_end_of_link *e)
{
	static const char *const verbs[] = { "reads", "writes", "acquires", "releases", "creates", "joins", "begins", "ends" };
	const char *verb = e->kind < 8 ? verbs[e->kind] : "?", *who = thread_name(s, e->thread);
	if (e->kind == EVENT_FORK || e->kind == EVENT_JOIN)
		return arena_printf(s->a, "%s %s %s", who, verb, thread_name(s, e->addr));
	if (e->kind > EVENT_JOIN)
		return arena_printf(s->a, "%s %s a block", who, verb);
	return arena_printf(s->a, "%s %s %s", who, verb, name_of(s, e->addr, 'D'));
}

static void tell_cycle(struct explore_story *s)
{
	const struct control *c = s->c;
	if (c->end != CONTROL_NOT_ATOMIC && c->nlinks)
		s->f->cause = arena_printf(s->a, "In this schedule %s of %s is not atomic (the conflicts are listed below).",
		                           block_name(s), thread_name(s, c->block_thread));
	for (uint32_t i = 0; i < c->nlinks && i < CONTROL_LINKS; i++) {
		struct explore_link l;
		for (int k = 0; k < 2; k++) {
			l.what[k] = link_text(s, &c->link[i].end[k]);
			l.at[k] = place(s, c->link[i].end[k].pc);
			l.step[k] = c->link[i].end[k].step;
		}
		avec_push(s->a, &s->f->cycle, l);
	}
	assert(s->f->cycle.len <= CONTROL_LINKS);
}

static const char *waits_for(struct explore_story *s, const struct control_thread *t)
{
	const char *n = t->obj ? name_of(s, t->obj, 'L') : "";
	const char *holder = "";
	if (t->holder < s->c->nthreads)
		holder = arena_printf(s->a, ", which %s holds", thread_name(s, t->holder));
	switch (t->op) {
	case SCHED_LOCK:
	case SCHED_RDLOCK:
	case SCHED_WRLOCK:
		return arena_printf(s->a, "lock %s%s", n, holder);
	case SCHED_COND_WAKE:
		return arena_printf(s->a, "a signal on %s", n);
	case SCHED_SEM_WAIT:
		return arena_printf(s->a, "semaphore %s", n);
	case SCHED_BARRIER_LEAVE:
		return arena_printf(s->a, "the others at barrier %s", n);
	case SCHED_ONCE:
		return arena_printf(s->a, "the end of once %s", n);
	case SCHED_FUTEX_WOKEN:
		return arena_printf(s->a, "a wake-up on %s", n);
	case SCHED_JOIN:
		return arena_printf(s->a, "the end of %s", thread_name(s, t->obj));
	case SCHED_LOAD:
		return t->obj < 4096 ? "a descriptor" : NULL;
	default:
		return NULL;
	}
}

static void tell_threads(struct explore_story *s)
{
	const struct control *c = s->c;
	bool blocked = c->end == CONTROL_DEADLOCK || c->end == CONTROL_LOST_WAKEUP || c->end == CONTROL_ENDLESS;
	for (uint32_t i = 0; i < c->nthreads && i < CONTROL_THREADS; i++) {
		const struct control_thread *t = &c->thread[i];
		if (is_agent(s, i))
			continue;
		struct explore_thread o = { .name = i ? "" : "main",
			                    .parent = shown(s, t->parent),
			                    .created = place(s, t->created_pc) };
		o.state = t->state == 1 ? "runs" : "ended";
		bool runs = c->end == CONTROL_ENDLESS && c->pc && i == c->end_thread;
		if (t->state == 1 && blocked && !runs) {
			o.waits = waits_for(s, t);
			o.at = place(s, t->pc);
			o.state = o.waits ? "waits" : "runs";
		}
		if (i && t->fn) {
			struct explore_place f = place(s, t->fn + 1);
			o.name = f.function ? f.function : "";
		}
		avec_push(s->a, &s->f->threads, o);
	}
	assert(s->f->threads.len <= CONTROL_THREADS);
}

static void tell_steps(struct explore_story *s)
{
	assert(!s->f->steps.len);
	const struct control *c = s->c;
	uint32_t n = c->nevents < CONTROL_STEPS ? c->nevents : CONTROL_STEPS, last = 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct sched_event *e = &c->events[i];
		const struct control_step *d = &c->steps[i];
		struct explore_place at[16];
		uint32_t k = frames(s, d->nstack ? d->stack : &e->op.pc, d->nstack ? d->nstack : e->op.pc != 0, at, 16);
		uint32_t thread = shown(s, e->thread);
		struct explore_step o = { .thread = thread,
			                  .op = sched_kind_name(e->op.kind),
			                  .text = op_text(s, i),
			                  .enabled = e->enabled,
			                  .nstack = k > 1 ? k - 1 : 0 };
		if (k)
			o.at = at[0];
		if (e->op.kind == SCHED_START && e->thread < CONTROL_THREADS && c->thread[e->thread].fn)
			o.at = place(s, c->thread[e->thread].fn + 1);
		if (o.nstack) {
			o.stack = arena_alloc(s->a, o.nstack * sizeof *o.stack);
			memcpy(o.stack, at + 1, o.nstack * sizeof *o.stack);
		}
		/* The one before could have gone on when its next operation was possible here. */
		if (i && thread != last && c->events[i - 1].op.kind != SCHED_EXIT) {
			s->f->switches++;
			o.preempts = d->flags & STEP_PREEMPTS;
			s->f->preemptions += o.preempts;
		}
		last = thread;
		avec_push(s->a, &s->f->steps, o);
	}
	assert(s->f->steps.len <= n);
}

static void tell_accesses(struct explore_story *s)
{
	uint32_t n;
	const struct control_access **list = explore_accesses(s->c, s->a, &n);
	for (uint32_t i = 0; i < n; i++) {
		const struct control_access *x = list[i];
		const char *name = name_of(s, x->addr, 'D'), *v = x->known ? value(s, x->value, x->size) : NULL;
		struct explore_access o = { .step = x->step, .thread = shown(s, x->thread), .at = place(s, x->pc) };
		if (x->write)
			o.text = v ? arena_printf(s->a, "%s = %s", name, v) : arena_printf(s->a, "write %s", name);
		else
			o.text = v ? arena_printf(s->a, "read %s -> %s", name, v) : arena_printf(s->a, "read %s", name);
		const struct explore_access *last = s->f->accesses.len ? &s->f->accesses.data[s->f->accesses.len - 1] : NULL;
		/* a loop that reads the same again */
		if (!x->write && last && last->step == o.step && last->thread == o.thread && !strcmp(last->text, o.text) &&
		    same_place(&last->at, &o.at))
			continue;
		avec_push(s->a, &s->f->accesses, o);
	}
}

/* Where what has a number for a name was allocated: the last block that was given out there. */
static void tell_blocks(struct explore_story *s)
{
	const struct control *c = s->c;
	uint32_t kept = c->nblocks_given < CONTROL_BLOCKS ? (uint32_t)c->nblocks_given : CONTROL_BLOCKS;
	for (uint32_t i = 0; i < s->nnamed; i++)
		for (uint32_t k = 1; s->named[i].unnamed && k <= kept; k++) {
			const struct control_block *b = &c->block[(c->nblocks_given - k) % CONTROL_BLOCKS];
			if (s->named[i].addr - b->addr >= b->size)
				continue;
			struct explore_block o = { .name = s->named[i].name,
				                   .offset = s->named[i].addr - b->addr,
				                   .size = b->size,
				                   .thread = shown(s, b->thread),
				                   .at = place(s, b->pc) };
			avec_push(s->a, &s->f->blocks, o);
			break;
		}
}

static void tell_failure(struct explore_story *s, const struct explore_got *got)
{
	const struct control *c = s->c;
	struct explore_failure *f = s->f;
	const struct story_kind *k = &kinds[c->end < CONTROL_ENDS ? c->end : CONTROL_OK];
	f->kind = k->name ? k->name : "?";
	f->title = k->title ? k->title : "?";
	f->schedule = got->schedule;
	tell_steps(s);
	tell_accesses(s);
	tell_threads(s);
	f->sentence = sentence(s);
	tell_cycle(s);
	for (uint32_t i = 0; c->end == CONTROL_RACE && i < c->nraces && i < CONTROL_RACES && !f->step; i++)
		if (c->race[i].pc[0] == c->pc || c->race[i].pc[1] == c->pc)
			f->step = c->race[i].step;
	struct explore_place at[16];
	uint32_t n = c->pc ? frames(s, c->end_stack, c->nend_stack, at, 16) : 0;
	for (uint32_t i = 0; i < n; i++)
		avec_push(s->a, &f->stack, at[i]);
	if (n)
		f->at = at[0];
	else if (f->steps.len)
		f->at = f->steps.data[f->steps.len - 1].at;
	if (c->gone_pc) {
		struct explore_place g = place(s, c->gone_pc);
		f->gone = arena_printf(s->a, "it was freed or destroyed by %s at %s %s:%u", thread_name(s, c->gone_thread),
		                       g.function ? g.function : "?", g.file ? g.file : "?", g.line);
	}
	uint32_t nout = c->nout < CONTROL_OUTPUT ? c->nout : CONTROL_OUTPUT;
	f->output = arena_strndup(s->a, c->out, nout);
	f->output_bytes = c->out_total;
}

/* ---- all ---- */

static void open_symbols(struct explore_story *s, struct raw_report *raw)
{
	const struct control *c = s->c;
	for (uint32_t i = 0; i < c->nmodules && i < CONTROL_MODULES; i++) {
		const struct control_module *m = &c->modules[i];
		struct raw_module r = { m->lo, m->hi, m->base, arena_strndup(s->a, m->path, strnlen(m->path, CONTROL_PATH)) };
		avec_push(s->a, &raw->modules, r);
	}
	s->symbols = symbols_open(s->a);
	symbols_use(s->symbols, raw);
	assert(s->symbols && raw->modules.len <= CONTROL_MODULES);
}

/* Would it read the same? Several accesses of one line race. */
static bool same_race(const struct explore_race *a, const struct explore_race *b)
{
	for (int k = 0; k < 2; k++)
		if (a->thread[k] != b->thread[k] || a->write[k] != b->write[k] || a->atomic[k] != b->atomic[k] ||
		    !same_place(&a->at[k], &b->at[k]))
			return false;
	return a->size == b->size && !strcmp(a->what, b->what);
}

static void tell_races(struct explore_story *s, const struct explore_got *got, struct explore_report *out)
{
	assert(got->nraces <= CONTROL_RACES);
	for (uint32_t i = 0; i < got->nraces; i++) {
		const struct control_race *r = &got->race[i];
		struct explore_race o = { .what = name_of(s, r->addr, 'D'), .size = r->size, .schedule = r->run };
		for (int k = 0; k < 2; k++) {
			o.thread[k] = shown(s, r->thread[k]);
			o.write[k] = r->write[k];
			o.atomic[k] = r->atomic[k];
			o.at[k] = place(s, r->pc[k]);
		}
		uint32_t old = 0;
		while (old < out->races.len && !same_race(&out->races.data[old], &o))
			old++;
		if (old == out->races.len)
			avec_push(s->a, &out->races, o);
	}
}

/* What the program did instead of what it had done with the same choices. */
static const char *difference(struct explore_story *s, const struct sched_divergence *d)
{
	static const char *const what[] = { "",
		                            "cannot run",
		                            "does not exist",
		                            "does something else",
		                            "is at another place",
		                            "uses another object",
		                            "has other choices",
		                            "ends earlier" };
	struct explore_place e = place(s, d->expected.pc), f = place(s, d->found.pc);
	return arena_printf(s->a, "at step %u %s %s (before: %s at %s:%u, now: %s at %s:%u)", d->step + 1,
	                    thread_name(s, d->thread), d->what < 8 ? what[d->what] : "?", sched_kind_name(d->expected.kind),
	                    e.file ? e.file : "?", e.line, sched_kind_name(d->found.kind), f.file ? f.file : "?", f.line);
}

static const char *diverged(struct explore_story *s, const struct sched_divergence *d)
{
	return arena_printf(s->a, "the program is not deterministic under the same schedule: %s", difference(s, d));
}

static const char *const strategies[] = { "mix of partial-order sampling and PCT",
	                                  "random",
	                                  "PCT",
	                                  "partial-order sampling",
	                                  "delay bounding",
	                                  "preemption bounding",
	                                  "all schedules",
	                                  "optimal DPOR",
	                                  "replay",
	                                  "replay" };

void explore_story(const struct explore_ask *ask, const struct explore_got *got, struct arena *a, struct explore_report *out)
{
	assert(ask->argv && ask->argv[0] && ask->strategy >= 0 && ask->strategy < (int)(sizeof strategies / sizeof *strategies));
	memset(out, 0, sizeof *out);
	out->program = ask->argv[0];
	out->arguments = (const char **)ask->argv + 1;
	while (out->arguments[out->narguments])
		out->narguments++;
	out->strategy = strategies[ask->strategy];
	out->mode = got->mode == CONTROL_FORK ? "fork" : "snapshot";
	out->seed = ask->seed;
	out->shard = ask->shards ? ask->shard + 1 : 0;
	out->shards = ask->shards;
	out->replayed = ask->replay != NULL;
	out->schedules = got->stats.runs;
	out->cut = got->cut;
	out->points = got->stats.points;
	out->traces = got->stats.traces;
	out->traces_full = got->stats.traces_full;
	out->exhausted = got->verdict == SCHED_EXHAUSTED;
	out->bounded = got->stats.left_out > 0;
	out->estimate_known = got->stats.estimate_known;
	out->estimate_seen = got->stats.estimate_seen;
	out->estimate_total = got->stats.estimate_total;
	out->blocks = got->blocks;
	out->awaits = got->awaits > 0;
	out->memory = (enum explore_memory)ask->memory;
	out->buffered = got->buffered;
	out->buffers_full = got->buffers_full;
	out->bounded |= got->buffers_full > 0;
	out->cancels = got->cancels > 0;
	out->judged = got->judged;
	out->unjudged = got->unjudged;
	out->pairs = got->stats.pairs;
	out->pairs_both = got->stats.pairs_both;
	out->threads = got->most_threads;
	out->seconds = got->seconds;
	out->cpu = (double)got->cpu_ns * 1e-9;
	if (got->late)
		out->stopped = out->schedules ? "the time limit (--time) was reached in the middle of a schedule, which was cut off"
		                              : "the time limit (--time) was reached in the middle of the first schedule";
	else if (ask->strategy == SCHED_DPOR && !ask->tests && !out->exhausted && !got->failed)
		out->stopped = got->verdict == SCHED_LIMIT ? "the limit on schedules (--schedules) was reached"
		                                           : "the time limit (--time) was reached";
	if (got->verdict == SCHED_FULL)
		out->stopped = "the search is out of memory";
	out->why_fork = *got->why_fork ? arena_strdup(a, got->why_fork) : NULL;
	if (!got->modules)
		return;
	struct explore_story *s = arena_new(a, struct explore_story);
	struct raw_report raw = { 0 };
	char *cwd = getcwd(NULL, 0);
	s->root = cwd ? arena_strdup(a, cwd) : "";
	s->nroot = strlen(s->root);
	free(cwd);
	s->a = a;
	s->c = got->modules;
	open_symbols(s, &raw);
	if (got->failed) {
		s->f = out->failure = arena_new(a, struct explore_failure);
		tell_failure(s, got);
	}
	if (got->verdict == SCHED_NONDETERMINISTIC)
		out->stopped = diverged(s, &got->divergence);
	tell_races(s, got, out);
	if (s->f)
		tell_blocks(s);
	symbols_close(s->symbols);
}

static struct explore_story *begin_saying(const struct control *c, struct arena *a)
{
	arena_init(a, 0);
	struct explore_story *s = arena_new(a, struct explore_story);
	s->a = a;
	s->c = c;
	s->root = "";
	open_symbols(s, arena_new(a, struct raw_report));
	return s;
}

void explore_say_repeated(struct buf *out, const struct control *found, const struct control *again)
{
	struct arena a;
	struct explore_story *s = begin_saying(again, &a);
	const char *first = found->end < CONTROL_ENDS ? kinds[found->end].name : NULL,
		   *then = again->end < CONTROL_ENDS ? kinds[again->end].name : NULL;
	buf_printf(out, "intact: a schedule ended with '%s', but when it was repeated in a fresh process ", first ? first : "?");
	if (again->state != CONTROL_DONE)
		buf_str(out, "that process ended early");
	else if (again->late)
		buf_str(out, "it did not end within the time limit (--time)");
	else if (again->end == CONTROL_DIVERGED)
		buf_str(out, difference(s, &again->divergence));
	else if (then)
		buf_printf(out, "it ended with '%s'", then);
	else
		buf_str(out, again->end == CONTROL_LIMIT ? "it reached the limit on steps" : "it did not fail");
	buf_str(out, ": the program is not deterministic, or it corrupted its process\n"
	             "hint: --fork runs each schedule in its own process\n");
	symbols_close(s->symbols);
	arena_free(&a);
}

void explore_say_place(struct buf *out, const struct control *c)
{
	struct arena a;
	if (!c->pc)
		return;
	struct explore_story *s = begin_saying(c, &a);
	struct explore_place p = place(s, c->pc);
	if (p.function || p.file)
		buf_str(out, " at ");
	if (p.function)
		buf_safe(out, p.function, strlen(p.function));
	if (p.file) {
		buf_char(out, ' ');
		buf_safe(out, p.file, strlen(p.file));
		buf_printf(out, ":%u", p.line);
	}
	symbols_close(s->symbols);
	arena_free(&a);
}

int explore_code(const struct explore_ask *ask, const struct explore_report *r)
{
	const char *v = explore_verdict(r);
	if (!strcmp(v, "violated"))
		return EXIT_VIOLATED;
	if (strcmp(v, "holds") != 0 || r->stopped)
		return EXIT_UNKNOWN;
	return ask->strategy == SCHED_DPOR && (!r->exhausted || r->cut) ? EXIT_UNKNOWN : EXIT_HOLDS;
}
