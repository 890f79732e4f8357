#include "dynamic/pages.h"

#include <errno.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/relax.h"

/* Raw system calls: mmap itself is interposed in programs under test. */
void *pages_map(size_t size)
{
	long p = syscall(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0L);
	if (p == -1)
		return NULL;
	/* Large pages would turn a touched cell into two megabytes (pages_dense). */
	syscall(SYS_madvise, p, size, MADV_NOHUGEPAGE);
	return (void *)p;
}

void pages_unmap(void *p, size_t size)
{
	syscall(SYS_munmap, p, size);
}

void *pages_map_large(size_t size)
{
	char *p = pages_map(size + PAGES_LARGE);
	if (!p)
		return pages_map(size); /* the address space is nearly used up */
	size_t before = -(uintptr_t)p % PAGES_LARGE;
	if (before)
		pages_unmap(p, before);
	pages_unmap(p + before + size, PAGES_LARGE - before);
	return p + before;
}

/* So many of its small pages must be there already: memory grows four times there
 * at most, and stays below that of the sanitizers on what bench/run.py measures. */
#define DENSE (PAGES_LARGE / 4096 / 4)

void pages_dense(void *p)
{
	int keep = errno;
	uintptr_t at = (uintptr_t)p & ~(uintptr_t)(PAGES_LARGE - 1);
	unsigned char there[PAGES_LARGE / 4096] = { 0 };
	unsigned n = 0;
	if (!syscall(SYS_mincore, at, PAGES_LARGE, there))
		for (unsigned i = 0; i < sizeof there; i++)
			n += there[i] & 1;
	if (n >= DENSE && !syscall(SYS_madvise, at, PAGES_LARGE, MADV_HUGEPAGE))
		syscall(SYS_madvise, at, PAGES_LARGE, 25 /* MADV_COLLAPSE, Linux 6.1 */);
	errno = keep;
}

bool pages_there(void *p, size_t n, unsigned char *there)
{
	int keep = errno;
	bool ok = !syscall(SYS_mincore, p, n * 4096, there);
	errno = keep;
	return ok;
}

void pages_clear(void *p, size_t size)
{
	uintptr_t a = (uintptr_t)p, e = a + size;
	uintptr_t pa = (a + 4095) & ~(uintptr_t)4095, pe = e & ~(uintptr_t)4095;
	if (pe > pa && pe - pa >= (64u << 10) && syscall(SYS_madvise, pa, pe - pa, MADV_DONTNEED) == 0) {
		for (uint64_t *q = p; (uintptr_t)q < pa; q++)
			*q = 0;
		for (uint64_t *q = (uint64_t *)pe; (uintptr_t)q < e; q++)
			*q = 0;
		return;
	}
	/* Reading first leaves untouched pages untouched. */
	for (uint64_t *q = p; (uintptr_t)q < e; q++)
		if (*q)
			*(volatile uint64_t *)q = 0;
}

void spin_wait(struct spin *s)
{
	for (unsigned n = 0;; n++) {
		uint32_t want = 0;
		if (!__atomic_load_n(&s->held, __ATOMIC_RELAXED) &&
		    __atomic_compare_exchange_n(&s->held, &want, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return;
		if (n < 64)
			cpu_relax();
		else
			sched_yield();
	}
}
