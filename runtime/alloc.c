/*
 * alloc: the state of freed memory is reset; so the next owner starts fresh.
 * they call glibc's __libc_* functions.
 */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/explore/explorer.h"
#include "rt.h"

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void *__libc_valloc(size_t);
extern void *__libc_pvalloc(size_t);
extern void __libc_free(void *);

/* Not by name: glibc has them under another one as well. */
RT_STANDS(free);
RT_STANDS(realloc);

/* Others under `intact explore`. */
static void *(*real_malloc)(size_t) = __libc_malloc;
static void *(*real_calloc)(size_t, size_t) = __libc_calloc;
static void *(*real_realloc)(void *, size_t) = __libc_realloc;
static void *(*real_memalign)(size_t, size_t) = __libc_memalign;

void rt_use_heap(void *(*m)(size_t), void *(*c)(size_t, size_t), void *(*r)(void *, size_t), void *(*a)(size_t, size_t))
{
	real_malloc = m;
	real_calloc = c;
	real_realloc = r;
	real_memalign = a;
}

void rt_give_back(void *p)
{
	if (rt.explore)
		x_free(p, 0);
	else
		__libc_free(p);
}

EXPORT void *malloc(size_t n)
{
	return real_malloc(n);
}

EXPORT void *calloc(size_t n, size_t size)
{
	return real_calloc(n, size);
}

EXPORT void free(void *p)
{
	if (p && !me->busy)
		rt_forget((uintptr_t)p, malloc_usable_size(p), CALLER);
	else if (unlikely(rt.explore)) {
		x_free(p, CALLER);
		return;
	}
	__libc_free(p);
}

EXPORT void *realloc(void *p, size_t n)
{
	size_t old = p && !me->busy ? malloc_usable_size(p) : 0;
	void *q = real_realloc(p, n);
	if (old && (q || !n) && q != p)
		rt_forget((uintptr_t)p, old, CALLER);
	return q;
}

EXPORT void *reallocarray(void *p, size_t n, size_t size)
{
	size_t bytes;
	if (__builtin_mul_overflow(n, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(p, bytes);
}

EXPORT void *memalign(size_t align, size_t n)
{
	return real_memalign(align, n);
}

EXPORT void *aligned_alloc(size_t align, size_t n)
{
	return real_memalign(align, n);
}

EXPORT int posix_memalign(void **out, size_t align, size_t n)
{
	if (align % sizeof(void *) || !align || align & (align - 1))
		return EINVAL;
	int keep = errno;
	void *p = real_memalign(align, n);
	errno = keep;
	if (!p)
		return ENOMEM;
	*out = p;
	return 0;
}

EXPORT void *valloc(size_t n)
{
	return rt.explore ? real_memalign(4096, n) : __libc_valloc(n);
}

EXPORT void *pvalloc(size_t n)
{
	return rt.explore ? real_memalign(4096, (n + 4095) & ~(size_t)4095) : __libc_pvalloc(n);
}

/* ---- mappings ---- */

static void *map(void *at, size_t n, int prot, int flags, int fd, off_t off, uintptr_t pc)
{
	long p = syscall(SYS_mmap, at, n, prot, flags, fd, off);
	if (p != -1 && flags & MAP_FIXED)
		rt_forget((uintptr_t)p, n, pc);
	return (void *)p;
}

static void *map_checked(void *at, size_t n, int prot, int flags, int fd, off_t off, uintptr_t pc)
{
	if (off & 4095) {
		errno = EINVAL;
		return MAP_FAILED;
	}
	return map(at, n, prot, flags, fd, off, pc);
}

EXPORT void *mmap(void *at, size_t n, int prot, int flags, int fd, off_t off)
{
	return map_checked(at, n, prot, flags, fd, off, CALLER);
}

EXPORT void *mmap64(void *at, size_t n, int prot, int flags, int fd, off_t off)
{
	return map_checked(at, n, prot, flags, fd, off, CALLER);
}

EXPORT int munmap(void *p, size_t n)
{
	if ((uintptr_t)p % 4096 == 0 && n)
		rt_forget((uintptr_t)p, n, CALLER);
	return (int)syscall(SYS_munmap, p, n);
}
