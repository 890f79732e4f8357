/*
 * memory: memcpy and related functions, which compilers leave uninstrumented
 * (clang since 15 calls __tsan_memcpy and the like instead of them): the bytes
 * they read and write are accesses of the caller.
 *
 * Before libc's own can be looked up (and while that happens) a plain loop
 * does the work.
 */
#include <stddef.h>
#include <string.h>

#include "rt.h"

static void *first_copy(void *d, const void *s, size_t n)
{
	rt_copy(d, s, n);
	return d;
}

static void *first_move(void *d, const void *s, size_t n)
{
	if ((uintptr_t)d - (uintptr_t)s >= n) {
		rt_copy(d, s, n);
	} else {
		for (volatile char *p = d; n; n--)
			p[n - 1] = ((const char *)s)[n - 1];
	}
	return d;
}

static void *first_set(void *d, int c, size_t n)
{
	void *p = d;
	__asm__ volatile("rep stosb" : "+D"(p), "+c"(n) : "a"(c) : "memory");
	return d;
}

rt_copier *rt_copy_fn = first_copy, *rt_move_fn = first_move;
rt_setter *rt_set_fn = first_set;

__attribute__((constructor(101))) static void look_up(void)
{
	rt_copier *c = (rt_copier *)rt_real("memcpy", "GLIBC_2.14");
	rt_copier *m = (rt_copier *)rt_real("memmove", NULL);
	rt_setter *s = (rt_setter *)rt_real("memset", NULL);
	rt_copy_fn = c;
	rt_move_fn = m;
	rt_set_fn = s;
	rt_real_all();
}

static inline void touch(const void *p, size_t n, bool write, uintptr_t pc)
{
	if (n && (!me->busy || rt.explore))
		rt_range((uintptr_t)p, n, write, pc);
}

EXPORT void *memcpy(void *restrict d, const void *restrict s, size_t n)
{
	touch(s, n, false, CALLER);
	touch(d, n, true, CALLER);
	return rt_copy_fn(d, s, n);
}

EXPORT void *memmove(void *d, const void *s, size_t n)
{
	touch(s, n, false, CALLER);
	touch(d, n, true, CALLER);
	return rt_move_fn(d, s, n);
}

EXPORT void *memset(void *d, int c, size_t n)
{
	touch(d, n, true, CALLER);
	return rt_set_fn(d, c, n);
}

void *__tsan_memcpy(void *d, const void *s, size_t n);
void *__tsan_memmove(void *d, const void *s, size_t n);
void *__tsan_memset(void *d, int c, size_t n);

HOOK void *__tsan_memcpy(void *d, const void *s, size_t n)
{
	touch(s, n, false, CALLER);
	touch(d, n, true, CALLER);
	return rt_copy_fn(d, s, n);
}

HOOK void *__tsan_memmove(void *d, const void *s, size_t n)
{
	touch(s, n, false, CALLER);
	touch(d, n, true, CALLER);
	return rt_move_fn(d, s, n);
}

HOOK void *__tsan_memset(void *d, int c, size_t n)
{
	touch(d, n, true, CALLER);
	return rt_set_fn(d, c, n);
}

void *__memcpy_chk(void *d, const void *s, size_t n, size_t room);
void *__memmove_chk(void *d, const void *s, size_t n, size_t room);
void *__memset_chk(void *d, int c, size_t n, size_t room);
extern void __chk_fail(void) __attribute__((noreturn));

EXPORT void *__memcpy_chk(void *d, const void *s, size_t n, size_t room)
{
	if (n > room)
		__chk_fail();
	touch(s, n, false, CALLER);
	touch(d, n, true, CALLER);
	return rt_copy_fn(d, s, n);
}

EXPORT void *__memmove_chk(void *d, const void *s, size_t n, size_t room)
{
	if (n > room)
		__chk_fail();
	touch(s, n, false, CALLER);
	touch(d, n, true, CALLER);
	return rt_move_fn(d, s, n);
}

EXPORT void *__memset_chk(void *d, int c, size_t n, size_t room)
{
	if (n > room)
		__chk_fail();
	touch(d, n, true, CALLER);
	return rt_set_fn(d, c, n);
}

/* ---- strings ---- */

EXPORT size_t strlen(const char *s)
{
	size_t n = REAL(strlen)(s);
	touch(s, n + 1, false, CALLER);
	return n;
}

EXPORT char *strcpy(char *restrict d, const char *restrict s)
{
	size_t n = REAL(strlen)(s) + 1;
	touch(s, n, false, CALLER);
	touch(d, n, true, CALLER);
	return rt_copy_fn(d, s, n);
}

EXPORT char *strncpy(char *restrict d, const char *restrict s, size_t n)
{
	size_t len = 0;
	while (len < n && s[len])
		len++;
	touch(s, len < n ? len + 1 : n, false, CALLER);
	touch(d, n, true, CALLER);
	rt_copy_fn(d, s, len);
	if (len < n)
		rt_set_fn(d + len, 0, n - len);
	return d;
}

EXPORT int memcmp(const void *a, const void *b, size_t n)
{
	int r = REAL(memcmp)(a, b, n);
	touch(a, n, false, CALLER);
	touch(b, n, false, CALLER);
	return r;
}
