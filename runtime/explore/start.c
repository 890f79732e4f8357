/*
 * start: the explorer inside the program: it is set up before the first constructor,
 * takes control after the last one, right before main, and runs main again and
 * again, each time as the scheduler's next run.
 *
 * The controller has its own stack, which restarts at the end of every run; what a
 * run left on the program's stacks is simply abandoned.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/invariant.h"
#include "runtime/explore/explorer.h"

/* ---- words ---- */

static void text_set(char *text, const char *fmt, va_list ap)
{
	message_format(text, CONTROL_TEXT, fmt, ap);
}

NOINLINE void x_failed(void)
{
	__asm__ volatile("" ::: "memory");
}

void x_fail(unsigned end, const char *fmt, ...)
{
	assert(end != CONTROL_OK && X.active);
	va_list ap;
	va_start(ap, fmt);
	text_set(X.text, fmt, ap);
	va_end(ap);
	X.end = end;
	x_failed();
	x_end_run();
}

void x_give_up(unsigned why, const char *fmt, ...)
{
	struct control *c = X.ctl;
	va_list ap;
	va_start(ap, fmt);
	text_set(c->text, fmt, ap);
	va_end(ap);
	c->pc = X.active && X.end_pc ? x_program_place(X.end_pc) : X.end_pc;
	c->why = why;
	c->state = CONTROL_GIVEN_UP;
	for (;;)
		x_sys(SYS_exit_group, 3, 0, 0, 0, 0, 0);
}

/* ---- before the first constructor ---- */

static void refuse(const char *why)
{
	rt_sayf("Intact: explore: %s\n", why);
	x_sys(SYS_exit_group, 70, 0, 0, 0, 0, 0);
}

static void map_control(long fd)
{
	long p = x_sys(SYS_mmap, 0, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p < 0)
		refuse("the memory shared with `intact explore` cannot be mapped");
	struct control *c = (struct control *)p;
	x_sys(SYS_close, fd, 0, 0, 0, 0, 0);
	if (c->magic != CONTROL_MAGIC || c->version != CONTROL_VERSION || c->size != sizeof *c)
		refuse("this program was linked by another version of intact; link it again");
	if (x_sys(SYS_mmap, (long)X_AT, sizeof(struct x), PROT_READ | PROT_WRITE,
	          MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0) != (long)X_AT ||
	    x_sys(SYS_mmap, (long)X_SAVED, (long)X_PAGES * 4096, PROT_READ | PROT_WRITE,
	          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0) != (long)X_SAVED ||
	    x_sys(SYS_mmap, (long)X_SCRATCH_AT, (long)X_SCRATCH, PROT_READ | PROT_WRITE,
	          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0) != (long)X_SCRATCH_AT)
		refuse("not enough address space (ulimit -v)");
	X.ctl = c;
	X.real = c->mode == CONTROL_REAL;
}

/* Virtual time begins an hour after the machine's start: programs do not expect a monotonic clock of 0. */
#define UPTIME 3600000000000ull

static void thread_zero(void)
{
	X.nthreads = X.live = 1;
	X.current = 0;
	X.alone = true;
	X.thread[0] = (struct x_thread){ .state = XT_LIVE,
		                         .joiner = X_THREADS,
		                         .now = UPTIME,
		                         .fs = X.slot[0].fs,
		                         .op = X.sched ? sched_op_at(X.sched, 0) : &X.no_op };
	x_clock_begin(X.clock[0], NULL);
	X.clock[0][0] = 1;
	X.held[0] = 0;
	if (X.fences) {
		x_clock_begin(X.thread_more[0].fence_rel, NULL);
		x_clock_begin(X.thread_more[0].fence_acq, NULL);
	}
}

void x_begin(long fd)
{
	map_control(fd);
	x_survey_map();
	X.run = 1;
	thread_zero();
	X.map_top = X_MAPPED;
	X.detail = X.ctl->detail;
	X.tso = X.ctl->memory == CONTROL_TSO;
	X.c11 = X.ctl->memory == CONTROL_C11;
	X.weak = X.tso || X.c11;
	if (!x_heap_init())
		refuse("not enough address space (ulimit -v), or the heap layout of this C library is not supported");
	rt_use_heap(x_malloc, x_calloc, x_realloc, x_memalign);
	rt.explore = true;
	rt.marks = RT_BLOCKS;
	rt_load_atomic_fns();
	X.active = true;
}

/* ---- a run ---- */

static void run_begin(void)
{
	assert(X.ready);
	X.run++;
	if (!(X.run & 0xfffff)) { /* cells carry so many of its bits */
		X.run++;
		__builtin_memset(X.cell, 0, sizeof X.cell);
	}
	for (uint32_t i = 1; i < X.nthreads; i++)
		X.held[i] = 0;
	for (uint32_t i = 0; i < X_WORDS; i++)
		X.slots[i] = 0;
	for (uint32_t k = 0; k < X.thread[0].nkeys; k++)
		X.thread_more[0].keys[k] = NULL;
	thread_zero();
	X.nclocks = X.nmore = 0;
	X.nout = 0;
	X.ctl->out_total = 0;
	X.end = CONTROL_OK;
	X.code = 0;
	X.end_pc = X.end_addr = X.gone_pc = 0;
	X.text[0] = 0;
	X.atexits = X.atexits0;
	X.pending_write = 0;
	X.pending_plain = false;
	X.ctl->naccesses = X.ctl->nblocks_given = 0;
	X.solo = false;
	X.forced = X.nbeats = 0;
	X.ctl->nblocks += X.blocks;
	X.blocks = X.open_blocks = X.nlog = 0;
	X.logging = X.detail ? X_LOG_DETAIL : 0;
	X.log_full = false;
	X.cycle = X.raced = X.race_points = X.race_unseen = false;
	x_objects_restore();
	sched_run_begin(X.sched);
	if (X.tso)
		x_buffer_begin(0);
	if (X.ngaps)
		x_gaps_run();
	x_survey_run();
}

static _Noreturn void enter_main(void)
{
	void *here;
	run_begin();
	x_set_fs(X.slot[0].fs);
	X.active = true;
	X.selector = 1;
	x_switch(&here, X.main_sp);
	__builtin_trap();
}

static _Noreturn void leave(int status)
{
	for (;;)
		x_sys(SYS_exit_group, status, 0, 0, 0, 0, 0);
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t = { 0, 0 };
	x_sys(SYS_clock_gettime, clock, (long)&t, 0, 0, 0, 0);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

static void restore(void)
{
	x_syscalls_restore();
	x_heap_restore();
	if (X.sigs_dirty)
		for (int i = 0; i < 65; i++)
			X.sig[i] = X.sig0[i];
	X.sigs_dirty = false;
	for (int i = 0; i < X_KEYS && X.keys_dirty; i++)
		X.key_used[i] = X.key_used0[i];
	X.keys_dirty = false;
	x_snapshot_restore();
}

/* One process a run; all that must be known next time is in memory that is shared. */
static _Noreturn void fork_runs(void)
{
	x_server_pid = x_sys(SYS_getpid, 0, 0, 0, 0, 0, 0);
	x_offsets_note();
	for (;;) {
		X.finished = false;
		long pid = x_child_pid = x_sys(SYS_clone, SIGCHLD, 0, 0, 0, 0, 0);
		if (pid == 0) {
			x_sys(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0, 0);
			if (x_sys(SYS_getppid, 0, 0, 0, 0, 0, 0) != x_server_pid) /* it has ended before that */
				leave(0);
			if (X.traps)
				x_traps();
			enter_main();
		}
		int status = 0;
		if (pid < 0)
			x_give_up(CONTROL_WHY_INTERNAL, "cannot create a process for a run (error %d)", (int)-pid);
		while (x_sys(SYS_wait4, pid, (long)&status, 0, 0, 0, 0) == -EINTR)
			;
		x_offsets_restore();
		if (X.ctl->state == CONTROL_GIVEN_UP)
			leave(3);
		if (!X.finished) { /* killed from outside, or by what we cannot catch */
			X.ctl->code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
			x_give_up(CONTROL_WHY_INTERNAL, "the process of a run exited unexpectedly");
		}
		if (X.ctl->state != CONTROL_RUNNING)
			leave(0);
	}
}

/* A program that has had one thread and one trace in so many sampled runs has no others. */
static bool alone(void)
{
	enum { RUNS = 32 };
	struct sched_stats stats;
	if (X.ctl->runs_done != RUNS || X.ctl->most_threads > 1 || X.tests)
		return false;
	sched_stats(X.sched, &stats);
	return stats.traces <= 1;
}

/* Is this the last run? Fills in the control block if so. */
static bool last(bool failed, unsigned verdict)
{
	struct control *c = X.ctl;
	c->verdict = verdict;
	if (verdict == SCHED_EXHAUSTED && X.new_places) /* of fewer points than there are from now on */
		verdict = SCHED_GO_ON;
	if (!failed && verdict == SCHED_GO_ON && !alone() && !__atomic_load_n(&c->stop, __ATOMIC_RELAXED))
		return false;
	sched_stats(X.sched, &c->stats);
	if (sched_divergence(X.sched))
		c->divergence = *sched_divergence(X.sched);
	c->pages = X.npages;
	c->cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	c->state = CONTROL_DONE;
	return true;
}

static bool is_failure(unsigned end)
{
	return end != CONTROL_OK && end != CONTROL_LIMIT && end != CONTROL_PRUNED && end != CONTROL_DIVERGED;
}

/* Of a run that has ended: is it a failure? Judges its blocks, if `judge`. When gaps are to be
 * confirmed, another failure counts only in a run that had entered one of them. A block that
 * is not atomic in a run that failed otherwise is told with it in detail: it may be the cause. */
static bool run_failed(bool judge)
{
	struct control *c = X.ctl;
	bool failed = is_failure(X.end);
	if (X.detail)
		c->nlinks = 0;
	if (c->only_gaps)
		c->gaps = X.gap_hit;
	if (judge && X.blocks && !X.survey && (X.end == CONTROL_OK || (failed && (c->only_gaps || X.detail))))
		x_judge();
	if (X.cycle && X.end == CONTROL_OK) {
		X.end = CONTROL_NOT_ATOMIC;
		X.end_pc = X.cycle_pc;
		return true;
	}
	if (X.end == CONTROL_OK && X.raced && c->races && (X.detail || c->goal == CONTROL_RACE)) {
		X.end = CONTROL_RACE;
		X.end_pc = X.race_pc;
		return true;
	}
	if (failed && c->only_gaps && !X.cycle && !X.gap_hit) {
		c->aside++;
		X.end = CONTROL_OK;
		return false;
	}
	return failed;
}

/*
 * The run has shown that an unmarked function is not atomic. It is told, but the program's own failures
 * say more: they are looked for in some more runs.
 */
static bool keeps_on(void)
{
	struct control *c = X.ctl;
	struct sched_stats stats;
	if (X.end != CONTROL_NOT_ATOMIC || !c->gaps || c->only_gaps)
		return false;
	sched_stats(X.sched, &stats);
	X.kept = true;
	X.kept_until = X.run + 1000;
	c->kept_run = stats.runs;
	c->kept_places = c->nplaces;
	X.end = CONTROL_OK;
	return true;
}

/* The first run with a data race is told, unless another fails; the search goes on. */
static void keep_race(void)
{
	struct control *c = X.ctl;
	struct sched_stats stats;
	if (!X.raced || X.end != CONTROL_OK || !c->races || X.kept || (X.race_kept && (X.race_shown || !X.race_points)))
		return; /* better one whose accesses are steps of the schedule */
	X.end = CONTROL_RACE;
	X.end_pc = X.race_pc;
	x_report_run();
	X.end = CONTROL_OK;
	X.race_kept = true;
	X.race_shown = X.race_points;
	sched_stats(X.sched, &stats);
	c->kept_run = stats.runs;
	c->kept_places = c->nplaces;
}

/* The minimiser's turn: true when it has nothing left to try. */
static bool minimised(void)
{
	struct control *c = X.ctl;
	bool same = !c->late && run_failed(true) && X.end == c->goal && (!c->goal_pc || X.end_pc == c->goal_pc);
	if (!c->late) {
		sched_run_end(X.sched, same ? SCHED_BUG : X.end == CONTROL_OK ? SCHED_FINE : SCHED_CUT);
		minimize_result(X.minimiser, X.sched, same);
	}
	X.new_places = false; /* the points stay those of the schedule */
	c->beat++;
	if (!__atomic_load_n(&c->stop, __ATOMIC_RELAXED) && minimize_next(X.minimiser, X.sched))
		return false;
	uint32_t n;
	const struct sched_event *best = minimize_best(X.minimiser, &n);
	c->nevents = n < CONTROL_STEPS ? n : CONTROL_STEPS;
	rt_copy(c->events, best, c->nevents * sizeof *best);
	c->tried = minimize_tried(X.minimiser);
	c->end = c->goal;
	c->state = CONTROL_DONE;
	return true;
}

static _Noreturn void next_run(void)
{
	restore(); /* of a process that ends now: what is in shared memory */
	if (X.ctl->mode == CONTROL_FORK)
		leave(0);
	enter_main();
}

static void make_sched(void)
{
	size_t good = 0;
	const struct sched_options *o = &X.ctl->sched;
	sched_memory(o, &good);
	long at = x_sys(SYS_mmap, 0, (long)good, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	X.sched = at > 0 ? sched_begin((void *)at, good, true, o) : NULL;
	X.sched_at = (uintptr_t)at;
	X.sched_size = good;
	if (!X.sched)
		x_give_up(CONTROL_WHY_INTERNAL, "not enough memory for the scheduler");
}

/* The sequential oracle of an object test: the order was executed; another one comes. */
static _Noreturn void after_order(void)
{
	sched_run_end(X.sched, X.end == CONTROL_OK ? SCHED_FINE : SCHED_CUT);
	X.ctl->beat++;
	X.finished = true;
	x_object_order();
	next_run();
}

/* Another scenario of an object test: the session is a new one, the places that are points stay. */
static _Noreturn void next_scenario(void)
{
	if (X.new_places)
		x_places_next();
	x_sys(SYS_munmap, (long)X.sched_at, (long)X.sched_size, 0, 0, 0, 0);
	make_sched();
	X.ctl->state = CONTROL_RUNNING;
	next_run();
}

static _Noreturn __attribute__((used)) void after_run(void)
{
	struct control *c = X.ctl;
	x_set_fs(X.slot[0].fs);
	x_survey_end();
	if (c->object.mode == OBJTEST_SERIAL)
		after_order();
	if (X.tests && X.end == CONTROL_OK)
		x_object_judge();
	if (c->goal) {
		X.finished = true;
		if (minimised())
			leave(0);
		next_run();
	}
	bool judged = X.detail || X.end != CONTROL_OK, failed = run_failed(judged);
	if (failed || X.detail || X.end == CONTROL_DIVERGED)
		x_report_run();
	if (X.end == CONTROL_NOT_LINEARIZABLE && c->object.history.partial == OBJTEST_TRACE)
		x_object_reorder();
	enum sched_outcome outcome = is_failure(X.end) ? SCHED_BUG : X.end == CONTROL_OK ? SCHED_FINE : SCHED_CUT;
	if (c->late) /* wherever it was: what it has left behind is not used */
		judged = true;
	enum sched_verdict verdict = c->late ? SCHED_GO_ON : sched_run_end(X.sched, outcome);
	c->runs_done += !c->late;
	uint32_t threads = X.nthreads;
	for (uint32_t i = 1; X.tso && i < X.nthreads; i++)
		threads -= X.thread[i].state == XT_AGENT;
	if (threads > c->most_threads)
		c->most_threads = threads;
	if (!judged && X.blocks && x_trace_is_new(sched_trace_hash(X.sched))) {
		failed = run_failed(true);
		if (failed)
			x_report_run();
	}
	if (failed && !X.detail && keeps_on())
		failed = false;
	else if (!failed && !X.detail)
		keep_race();
	c->beat++;
	if (!(c->beat & 255))
		sched_stats(X.sched, &c->stats); /* for a line of progress */
	c->cut += X.end == CONTROL_LIMIT;
	X.finished = true;
	if (last(failed || X.detail || (X.kept && X.run >= X.kept_until), verdict)) {
		bool kept = (X.kept || X.race_kept) && !failed;
		bool over = verdict == SCHED_EXHAUSTED || verdict == SCHED_LIMIT;
		if (X.tests && over && !failed && !X.detail && !kept && x_object_next())
			next_scenario();
		if (kept)
			c->nplaces = c->kept_places;
		else
			c->kept_run = 0;
		if (!failed && !X.detail && !kept)
			x_report_run();
		leave(0);
	}
	if (X.new_places) {
		x_places_next();
		sched_restart(X.sched);
	}
	next_run();
}

/* From whatever stack: the controller's stack restarts. */
void x_end_run(void)
{
	assert(X.current < X_THREADS);
	X.active = false;
	X.selector = 0;
	if (X.real)
		after_run();
	__asm__ volatile("mov %0, %%rsp\n\txor %%ebp, %%ebp\n\tcall after_run\n"
	                 :
	                 : "r"((uintptr_t)X.controller_sp & ~(uintptr_t)15)
	                 : "memory");
	__builtin_unreachable();
}

/* ---- after the last constructor ---- */

static _Noreturn void controller(void)
{
	struct control *c = X.ctl;
	X.active = false;
	x_heap_save();
	x_objects_save();
	for (int i = 0; i < 65; i++)
		X.sig0[i] = X.sig[i];
	for (int i = 0; i < X_KEYS; i++)
		X.key_used0[i] = X.key_used[i];
	X.atexits0 = X.atexits;
	c->state = CONTROL_RUNNING;
	X.ready = true;
	if (c->mode == CONTROL_SNAPSHOT && !x_snapshot_take())
		x_give_up(CONTROL_WHY_INTERNAL, "the list of mappings (/proc/self/maps) cannot be read");
	if (X.minimiser && !minimize_next(X.minimiser, X.sched))
		x_give_up(CONTROL_WHY_INTERNAL, "there is nothing to minimise");
	if (c->object.mode == OBJTEST_SERIAL)
		x_object_order();
	if (c->mode == CONTROL_FORK)
		fork_runs();
	enter_main();
}

static void make_controller(void)
{
	enum { SIZE = 256 << 10 };
	/* Shared, the snapshot leaves it out; with one process per run, each needs its own. */
	long kind = X.ctl->mode == CONTROL_FORK ? MAP_PRIVATE : MAP_SHARED;
	long at = x_sys(SYS_mmap, 0, SIZE, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS, -1, 0);
	if (at < 0)
		x_give_up(CONTROL_WHY_INTERNAL, "no memory");
	X.controller_sp = (char *)at + SIZE - 256;
}

/* A place of another process, by the name of its file; 0: not known here. */
static uint64_t rebase(uint64_t pc)
{
	const struct control *c = X.ctl;
	for (uint32_t i = 0; pc && i < c->ngiven && i < CONTROL_MODULES; i++) {
		const struct control_module *g = &c->given[i];
		if (pc < g->lo || pc >= g->hi)
			continue;
		for (uint32_t k = 0; k < c->nmodules; k++) {
			const char *a = g->path, *b = c->modules[k].path, *s, *t;
			for (s = a; *s; s++)
				a = *s == '/' ? s + 1 : a;
			for (t = b; *t; t++)
				b = *t == '/' ? t + 1 : b;
			if (rt_same(a, b))
				return pc - g->base + c->modules[k].base;
		}
	}
	return 0;
}

static void rebase_all(void)
{
	struct control *c = X.ctl;
	for (uint32_t i = 0; c->ngiven && i < c->nreplay && i < CONTROL_STEPS; i++)
		c->replay[i].op.pc = rebase(c->replay[i].op.pc);
	for (uint32_t i = 0; c->ngiven && i < c->nplaces && i < CONTROL_PLACES; i++)
		c->places[i] = rebase(c->places[i]);
	if (c->ngiven)
		c->goal_pc = rebase(c->goal_pc);
}

static void make_minimiser(void)
{
	struct control *c = X.ctl;
	size_t n = minimize_memory(c->nreplay);
	long at = x_sys(SYS_mmap, 0, (long)n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	X.minimiser = at > 0 ? minimize_begin((void *)at, n, c->replay, c->nreplay, 3000) : NULL;
	if (!X.minimiser)
		x_give_up(CONTROL_WHY_INTERNAL, "out of memory while minimising the schedule");
}

static void make_session(void)
{
	rebase_all();
	if (X.ctl->goal)
		make_minimiser();
	make_sched();
	const struct sched_options *o = &X.ctl->sched;
	struct control *c = X.ctl;
	bool ids = o->strategy == SCHED_REPLAY || (c->goal && c->memory); /* buffers' agents come in another order, too */
	if (ids && !sched_replay(X.sched, c->replay, c->nreplay, c->origins, c->norigins))
		x_give_up(CONTROL_WHY_INTERNAL, "the schedule cannot be replayed");
	for (uint32_t i = 0; i < c->nplaces && i < CONTROL_PLACES; i++)
		if (c->places[i])
			X.place[x_place(c->places[i])].flags = XP_POINT;
	x_gaps_begin();
}

extern int program_main(int, char **, char **) __asm__("main") __attribute__((weak));

/* Never returns to the frames that libc began the program with: main's own are above this one. */
static NOINLINE void go(int argc, char **argv, char **envp)
{
	x_switch(&X.main_sp, x_fiber_frame((char *)((uintptr_t)X.controller_sp & ~(uintptr_t)15), controller));
	/* Every run begins here. */
	exit(X.tests ? x_object_main() : program_main(argc, argv, envp));
}

/* The archive comes last on the linker's line, and so this one among the constructors. */
__attribute__((constructor)) static void take_over(int argc, char **argv, char **envp)
{
	if (likely(!rt.explore))
		return;
	if (x_object_is_test() && X.ctl->object.mode <= OBJTEST_DESCRIBE)
		x_object_describe();
	x_object_begin();
	if (!program_main)
		x_give_up(CONTROL_WHY_UNSUPPORTED, "the program has no main");
	X.slot[0].id = pthread_self();
	X.slot[0].fs = X.thread[0].fs = (uintptr_t)__builtin_thread_pointer();
	X.slot[0].go = 1;
	if (!x_pool(X.ctl->threads))
		x_give_up(CONTROL_WHY_INTERNAL, "cannot create a pool of %u threads", X.ctl->threads);
	x_report_modules();
	x_unwind_init();
	make_controller();
	make_session();
	x_signals();
	x_traps();
	go(argc, argv, envp);
}
