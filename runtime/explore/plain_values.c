/*
 * plain_values: in a run that is told in detail, the plain accesses that are no
 * points, with their values: between two steps of the schedule they say what the
 * threads read and wrote (the tool shows those of data that several use).
 *
 * And the blocks of memory that are given out, so that what has no name can be told by them.
 *
 * The last CONTROL_ACCESSES are kept. A read's value is there when the hook is called; a
 * write's is not before the thread's next access or step, when it is looked up. What
 * is on the thread's own stack is left out, and so are ranges of more than a few words.
 */
#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>

#include "base/invariant.h"
#include "runtime/explore/explorer.h"

/* The program may be about to fail here: that must be its own doing. The kernel reads the set before it rejects what
 * should be done with it; no set at all is accepted. */
static bool readable(uintptr_t addr)
{
	return addr >= 8 && x_sys(SYS_rt_sigprocmask, ~0, (long)(addr & ~(uintptr_t)7), 0, 8, 0, 0) != -EFAULT;
}

static void look_up(struct control_access *a)
{
	a->known = !(a->size & (a->size - 1)) && readable(a->addr);
	if (a->known)
		a->value = x_value_at(a->addr, a->size);
}

void x_tell_access(uintptr_t addr, unsigned mask, bool write, uintptr_t pc)
{
	assert(X.detail && mask && mask <= 0xff);
	struct control *c = X.ctl;
	x_report_written();
	if (x_own_stack(addr))
		return;
	unsigned from = (unsigned)__builtin_ctz(mask), size = 32 - (unsigned)__builtin_clz(mask) - from;
	struct control_access *a = &c->access[c->naccesses % CONTROL_ACCESSES];
	*a = (struct control_access){ .addr = (addr & ~(uintptr_t)7) + from,
		                      .pc = pc,
		                      .thread = (uint16_t)X.current,
		                      .size = (uint8_t)size,
		                      .write = write };
	sched_events(X.sched, &a->step);
	if (!write)
		look_up(a);
	c->naccesses++;
	X.pending_plain = write;
}

void x_tell_range(uintptr_t addr, unsigned mask, bool write, uintptr_t pc)
{
	x_tell_access(addr, mask, write, pc);
	X.pending_plain = false; /* it is written after all its words were told */
}

void x_tell_written(void)
{
	struct control_access *a = &X.ctl->access[(X.ctl->naccesses - 1) % CONTROL_ACCESSES];
	assert(X.pending_plain && X.ctl->naccesses && a->write);
	look_up(a);
	X.pending_plain = false;
}

void x_tell_block(uintptr_t p, size_t size, uintptr_t pc)
{
	assert(X.detail && p);
	struct control *c = X.ctl;
	if (X.ready) /* main's stack is known */
		pc = x_program_place(pc);
	c->block[c->nblocks_given++ % CONTROL_BLOCKS] = (struct control_block){
		.addr = p, .size = size, .pc = pc, .thread = (uint16_t)X.current
	};
}
