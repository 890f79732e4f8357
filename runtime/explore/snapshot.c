/*
 * snapshot: memory as it was right before main, restored in place.
 *
 * When it is taken all that is writable is write-protected. The first write to a
 * page faults; the page is copied aside and stays writable from then on. A restart
 * copies those pages back: after the first few runs nothing faults any more, and a
 * restart costs the copies alone (about 0.1 us a page). The cost of a page that is
 * written in one run only is paid in all later ones; programs write the same pages
 * in nearly every run.
 *
 * Left out: what is the explorer's own, the lent stacks (fiber.c) and the part of
 * the heap that was not given out before main (heap.c fills it again). The main
 * thread's stack is saved from the frame on that called main; below is nothing yet.
 *
 * The kernel does not fault: a system call that is to write to a protected page
 * fails with EFAULT, so syscalls.c touches those pages first.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/invariant.h"
#include "runtime/explore/explorer.h"

enum { PAGE = 4096 };

static void copy_page(void *to, const void *from)
{
	void *d = to;
	const void *s = from;
	uint64_t n = PAGE / 8;
	__asm__ volatile("rep movsq" : "+D"(d), "+S"(s), "+c"(n) : : "memory");
}

/* ---- what is there ---- */

static uintptr_t hex(const char **s)
{
	uintptr_t v = 0;
	for (; (**s >= '0' && **s <= '9') || (**s >= 'a' && **s <= 'f'); ++*s)
		v = v * 16 + (uintptr_t)(**s <= '9' ? **s - '0' : **s - 'a' + 10);
	return v;
}

static void add_region(uintptr_t lo, uintptr_t hi)
{
	if (lo >= hi)
		return;
	assert(!X.nregions || X.region[X.nregions - 1].hi <= lo); /* in order, none twice */
	if (X.nregions == X_REGIONS)
		x_give_up(CONTROL_WHY_INTERNAL, "the program has more than %d mappings", X_REGIONS);
	X.region[X.nregions].lo = lo;
	X.region[X.nregions++].hi = hi;
}

/* Adjacent stacks of the pool are one line of the file, or several. */
static void add_between_stacks(uintptr_t lo, uintptr_t hi)
{
	while (lo < hi) {
		uintptr_t next = hi, end = hi;
		for (uint32_t i = 1; i < X_THREADS && X.slot[i].lo; i++) {
			uintptr_t a = (uintptr_t)X.slot[i].lo, b = (uintptr_t)X.slot[i].hi;
			if (b > lo && a < next) {
				next = a > lo ? a : lo;
				end = b;
			}
		}
		if (next > lo)
			add_region(lo, next);
		lo = end;
	}
}

static void line(const char *s)
{
	uintptr_t lo = hex(&s);
	s++;
	uintptr_t hi = hex(&s);
	s++;
	if (s[1] != 'w' || s[3] != 'p') /* shared ones are ours, or another process's too */
		return;
	bool is_stack = false, special = false;
	for (const char *p = s; *p; p++) {
		is_stack |= !__builtin_strncmp(p, "[stack]", 7);
		special |= !__builtin_strncmp(p, "[v", 2);
	}
	if (special || (lo >= X_SAVED && lo < X_HEAP)) /* struct x is shared */
		return;
	if (is_stack) { /* the first page is shared with what runs; see x_snapshot_take */
		X.stack_hi = (char *)hi;
		return;
	}
	if (lo >= X_HEAP && lo < X_MAPPED) { /* only main's has anything yet */
		uintptr_t top = (uintptr_t)(lo == X_HEAP ? X.heap[0].top : X.heap[0].large);
		if (lo == X_HEAP || lo == X_LARGE)
			add_region(lo, (top + PAGE - 1) & ~(uintptr_t)(PAGE - 1));
		return;
	}
	add_between_stacks(lo, hi);
}

static bool look(void)
{
	static char text[16384];
	size_t n = 0;
	long fd = x_sys(SYS_openat, AT_FDCWD, (long)"/proc/self/maps", O_RDONLY | O_CLOEXEC, 0, 0, 0), got;
	if (fd < 0)
		return false;
	while ((got = x_sys(SYS_read, fd, (long)(text + n), (long)(sizeof text - 1 - n), 0, 0, 0)) > 0) {
		n += (size_t)got;
		text[n] = 0;
		char *at = text, *end;
		while ((end = __builtin_strchr(at, '\n'))) {
			*end = 0;
			line(at);
			at = end + 1;
		}
		n = (size_t)(text + n - at);
		__builtin_memmove(text, at, n);
	}
	x_sys(SYS_close, fd, 0, 0, 0, 0, 0);
	return true;
}

/* ---- taking, saving, restoring ---- */

static void save(uintptr_t page)
{
	assert(page % PAGE == 0);
	if (X.npages == X_PAGES)
		x_give_up(CONTROL_WHY_RESTORE, "a run changes more than 1 GiB of memory");
	copy_page((char *)X_SAVED + (size_t)X.npages * PAGE, (void *)page);
	X.page[X.npages++] = page;
	x_sys(SYS_mprotect, (long)page, PAGE, PROT_READ | PROT_WRITE, 0, 0, 0);
}

static bool inside(uintptr_t addr)
{
	for (uint32_t i = 0; i < X.nregions; i++)
		if (addr >= X.region[i].lo && addr < X.region[i].hi)
			return true;
	return false;
}

bool x_snapshot_fault(uintptr_t addr)
{
	uintptr_t page = addr & ~(uintptr_t)(PAGE - 1);
	if (!X.ready || !X.nregions || !inside(addr))
		return false;
	for (uint32_t i = X.npages; i-- > 0 && i + 8 > X.npages;)
		if (X.page[i] == page)
			return false; /* it is writable: the fault has another cause */
	save(page);
	return true;
}

/* A write of each page's first byte by itself, so that it faults here. */
void x_snapshot_touch(uintptr_t addr, size_t n)
{
	if (!X.ready || !X.nregions || !n)
		return;
	for (uintptr_t p = addr & ~(uintptr_t)(PAGE - 1); p < addr + n; p += PAGE)
		if (inside(p))
			__asm__ volatile("lock orb $0, (%0)" : : "r"(p) : "memory", "cc");
}

/* X.main_sp is set: nothing below it is of the program's. */
bool x_snapshot_take(void)
{
	if (!look() || !X.stack_hi)
		return false;
	X.stack_size = (size_t)(X.stack_hi - (char *)X.main_sp);
	long at = x_sys(SYS_mmap, 0, (long)X.stack_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (at < 0)
		return false;
	/* Whole pages of it, with arguments and environment, are seldom written. */
	uintptr_t whole = ((uintptr_t)X.main_sp + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
	if (whole < (uintptr_t)X.stack_hi)
		add_region(whole, (uintptr_t)X.stack_hi);
	X.stack_size = whole - (uintptr_t)X.main_sp;
	X.stack_saved = (char *)at;
	rt_copy(X.stack_saved, X.main_sp, X.stack_size);
	X.ready = true;
	for (uint32_t i = 0; i < X.nregions; i++)
		x_sys(SYS_mprotect, (long)X.region[i].lo, (long)(X.region[i].hi - X.region[i].lo), PROT_READ, 0, 0, 0);
	return true;
}

void x_snapshot_restore(void)
{
	assert(X.ready && X.npages <= X_PAGES);
	for (uint32_t i = 0; i < X.npages; i++)
		copy_page((void *)X.page[i], (char *)X_SAVED + (size_t)i * PAGE);
	rt_copy(X.main_sp, X.stack_saved, X.stack_size);
}
