/*
 * run_report: what is reported to the tool: the run that failed, its threads, what was
 * printed, data races; in detail also stacks and values of every step.
 */
#include <link.h>

#include "runtime/explore/explorer.h"

/* ---- stacks: only kept in a run in detail, or when functions are marked blocks ---- */

enum { FRAMES = 512 };

/* The frames from `to` on are left. */
static void drop(struct x_thread *t, uint32_t to)
{
	if (unlikely(X.surveying))
		x_survey_left(to);
	while (t->top > to)
		if (X.thread_more[X.current].frame[--t->top].marked) {
			x_block_end(0);
			t->gaps = X.thread_more[X.current].frame[t->top].gaps;
			t->in_gap &= t->gaps;
		}
}

void x_enter(uintptr_t fn, uintptr_t site, uintptr_t pc, uintptr_t sp)
{
	if ((!X.detail && !rt.atomic_fns && !X.hooked) || !X.active)
		return;
	struct x_thread *t = x_me();
	struct x_thread_more *m = &X.thread_more[X.current];
	while (t->top && m->frame[t->top - 1].sp + 8 < sp) /* left by longjmp or an exception */
		drop(t, t->top - 1);
	if (t->top == FRAMES)
		return;
	uint64_t gaps = X.ngaps ? x_gap_blocks(fn, pc) : 0;
	bool marked = gaps || (rt.atomic_fns && !X.ctl->only_gaps && rt_is_atomic(fn));
	m->frame[t->top].marked = marked;
	m->frame[t->top].gaps = t->gaps;
	m->frame[t->top].fn = fn;
	m->frame[t->top].pc = pc;
	m->frame[t->top].site = site;
	m->frame[t->top++].sp = sp;
	if (marked)
		x_function_begin(gaps, fn, pc);
}

void x_leave(uintptr_t fn)
{
	if ((!X.detail && !rt.atomic_fns && !X.hooked) || !X.active)
		return;
	struct x_thread *t = x_me();
	for (uint32_t i = t->top; i-- > 0;)
		if (X.thread_more[X.current].frame[i].fn == fn) {
			drop(t, i);
			return;
		}
}

extern const char __start_intact_text[], __stop_intact_text[];

/* Of the program's file, and not the runtime in it. */
static bool in_program(uintptr_t pc)
{
	return pc >= X.text_lo && pc < X.text_hi && (pc < (uintptr_t)__start_intact_text || pc >= (uintptr_t)__stop_intact_text);
}

/* A call from the program's own file into a library that has no hooks leaves its
 * return address on the stack: the first word there that points after a call. */
static uintptr_t called_from(uintptr_t library, uintptr_t sp, uintptr_t hi)
{
	if (hi - sp > 16384)
		hi = sp + 16384;
	uintptr_t above = hi; /* our own frames, which may have copies of it */
	for (uintptr_t p = sp; p + 8 <= hi && p < sp + 8192; p += 8)
		if (*(uintptr_t *)p == library)
			above = p + 8 +
			        (p == X.thread_more[X.current].trap_at ? 128 : 0); /* in the red zone are words of earlier calls */
	sp = above;
	for (; sp + 8 <= hi; sp += 8) {
		uintptr_t pc = *(uintptr_t *)sp;
		if (!in_program(pc - 8))
			continue;
		const uint8_t *p = (const uint8_t *)pc;
		if (p[-5] == 0xe8 || (p[-2] == 0xff && (p[-1] & 0x38) == 0x10) || (p[-6] == 0xff && p[-5] == 0x15) ||
		    (p[-3] == 0xff && (p[-2] & 0x38) == 0x10))
			return pc;
	}
	return 0;
}

static uintptr_t stack_end(void)
{
	return X.current ? (uintptr_t)X.slot[x_me()->slot].start : (uintptr_t)X.main_sp;
}

uintptr_t x_program_place(uintptr_t pc)
{
	uintptr_t at = in_program(pc) ? pc : called_from(pc, (uintptr_t)__builtin_frame_address(0), stack_end());
	return at ? at : pc;
}

static uint32_t stack_of(const struct x_thread *t, uintptr_t pc, uint64_t *out)
{
	uint32_t n = 0;
	const struct x_thread_more *m = &X.thread_more[t - X.thread];
	if (pc)
		out[n++] = pc;
	for (uint32_t i = t->top; i-- > 0 && n < CONTROL_STACK;)
		out[n++] = m->frame[i].site;
	return n;
}

/* ---- steps ---- */

uint64_t x_value_at(uintptr_t addr, uint32_t size)
{
	switch (size) {
	case 1:
		return *(volatile uint8_t *)addr;
	case 2:
		return *(volatile uint16_t *)addr;
	case 4:
		return *(volatile uint32_t *)addr;
	default:
		return *(volatile uint64_t *)addr;
	}
}

void x_report_written(void)
{
	if (X.pending_plain)
		x_tell_written();
	if (!X.pending_write)
		return;
	const struct sched_event *e = &sched_events(X.sched, &(uint32_t){ 0 })[X.pending_write - 1];
	X.ctl->steps[X.pending_write - 1].after = x_value_at(e->op.a, e->op.size);
	X.pending_write = 0;
}

void x_report_step(void)
{
	uint32_t n;
	const struct sched_event *e = sched_events(X.sched, &n);
	x_report_written();
	if (!n || n > CONTROL_STEPS || (X.forced && X.forced_steps)) /* those are no events: progress.c */
		return;
	e += n - 1;
	struct control_step *s = &X.ctl->steps[n - 1];
	s->flags = n > 1 && e[-1].thread != e->thread && x_can_go_on(&X.thread[e[-1].thread]) ? STEP_PREEMPTS : 0;
	bool call = e->op.a < 4096 && e->op.a >= X_IO && (e->op.kind == SCHED_LOAD || e->op.kind == SCHED_RMW);
	if (call)
		s->flags |= STEP_CALL | (uint32_t)x_me()->call << STEP_CALL_SHIFT;
	/* The function of libc is the call's name. */
	s->nstack = stack_of(x_me(), call ? x_program_place(e->op.pc) : e->op.pc, s->stack);
	if (e->op.pc && !call && !in_program(e->op.pc) && s->nstack && s->nstack < CONTROL_STACK && e->op.kind != SCHED_START) {
		uintptr_t pc = called_from(e->op.pc, (uintptr_t)__builtin_frame_address(0), stack_end());
		for (uint32_t i = s->nstack; i > 1; i--)
			s->stack[i] = s->stack[i - 1];
		s->stack[1] = pc;
		s->nstack += pc != 0;
	}
	bool sized = e->op.size == 1 || e->op.size == 2 || e->op.size == 4 || e->op.size == 8;
	bool memory = (e->op.kind >= SCHED_READ && e->op.kind <= SCHED_RMW) || e->op.kind == SCHED_BUFFER;
	if (!memory || !sized || e->op.a < 4096 /* descriptors */)
		return;
	s->flags |= STEP_VALUES;
	s->before = s->after = x_value_at(e->op.a, e->op.size);
	if (e->op.kind != SCHED_READ && e->op.kind != SCHED_LOAD)
		X.pending_write = n;
}

/* ---- a run ---- */

static void tell_threads(void)
{
	struct control *c = X.ctl;
	c->nthreads = X.nthreads;
	for (uint32_t i = 0; i < X.nthreads; i++) {
		const struct x_thread *t = &X.thread[i];
		struct control_thread *o = &c->thread[i];
		*o = (struct control_thread){ .created_pc = t->created_pc,
			                      .fn = (uintptr_t)t->fn,
			                      .parent = t->parent,
			                      .state = t->state,
			                      .pc = t->waits_io ? X.thread_more[i].waits_at : t->op->pc,
			                      .obj = t->op->a,
			                      .obj2 = t->op->b,
			                      .op = t->op->kind,
			                      .holder = 0xffff };
		o->nstack = stack_of(t, t->op->pc, o->stack);
		const struct x_object *w = t->pends;
		if (t->op->kind == SCHED_JOIN)
			o->holder = (uint16_t)t->op->a;
		else if (w && w->owner >= 0)
			o->holder = (uint16_t)w->owner;
		sched_thread_origin(X.sched, i, &c->origins[i].parent, &c->origins[i].ordinal);
	}
	c->norigins = X.nthreads;
}

void x_report_run(void)
{
	struct control *c = X.ctl;
	uint32_t n;
	if (X.detail)
		x_report_written();
	const struct sched_event *e = sched_events(X.sched, &n);
	c->nevents = n < CONTROL_STEPS ? n : CONTROL_STEPS;
	rt_copy(c->events, e, c->nevents * sizeof *e);
	c->end = X.end;
	c->end_thread = X.current;
	c->code = X.code;
	c->pc = X.end_pc;
	c->addr = X.end_addr;
	c->gone_pc = X.gone_pc;
	c->gone_thread = X.gone_thread;
	c->nout = X.nout;
	rt_copy(c->text, X.text, CONTROL_TEXT);
	const struct sched_divergence *d = sched_divergence(X.sched);
	if (d)
		c->divergence = *d;
	tell_threads();
	c->nend_stack = stack_of(x_me(), X.end_pc, c->end_stack);
}

void x_report_race(const struct x_past *was, uintptr_t addr, unsigned bytes, unsigned kind, uint32_t place)
{
	struct control *c = X.ctl;
	if (!c->races)
		return;
	uintptr_t a = X.place[was->place].pc, b = X.place[place].pc;
	for (uint32_t i = 0; i < c->nraces; i++)
		if ((c->race[i].pc[0] == a && c->race[i].pc[1] == b) || (c->race[i].pc[0] == b && c->race[i].pc[1] == a))
			return;
	if (c->nraces == CONTROL_RACES)
		return;
	uint32_t n;
	sched_events(X.sched, &n);
	unsigned first = (unsigned)__builtin_ctz(bytes), size = 32 - (unsigned)__builtin_clz(bytes) - first;
	c->race[c->nraces++] = (struct control_race){ .pc = { a, b },
		                                      .addr = (addr & ~(uintptr_t)7) + first,
		                                      .run = X.run - 1,
		                                      .thread = { was->thread, (uint16_t)X.current },
		                                      .write = { was->kind & XA_WRITE, kind & XA_WRITE },
		                                      .atomic = { (was->kind & XA_ATOMIC) != 0, (kind & XA_ATOMIC) != 0 },
		                                      .size = (uint8_t)size,
		                                      .step = n };
}

/* ---- modules ---- */

static int module(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct control *c = arg;
	uintptr_t lo = ~(uintptr_t)0, hi = 0;
	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		if (p->p_type != PT_LOAD)
			continue;
		uintptr_t at = info->dlpi_addr + p->p_vaddr;
		lo = at < lo ? at : lo;
		hi = at + p->p_memsz > hi ? at + p->p_memsz : hi;
	}
	const char *name = info->dlpi_name && *info->dlpi_name ? info->dlpi_name : c->nmodules ? NULL : rt.exe;
	if (hi <= lo || !name || c->nmodules == CONTROL_MODULES)
		return 0;
	if (!c->nmodules)
		for (unsigned i = 0; i < info->dlpi_phnum; i++)
			if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X) {
				X.text_lo = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
				X.text_hi = X.text_lo + info->dlpi_phdr[i].p_memsz;
			}
	struct control_module *m = &c->modules[c->nmodules++];
	m->lo = lo;
	m->hi = hi;
	m->base = info->dlpi_addr;
	rt_print(m->path, sizeof m->path, "%s", name);
	return 0;
}

void x_report_modules(void)
{
	X.ctl->nmodules = 0;
	dl_iterate_phdr(module, X.ctl);
}
