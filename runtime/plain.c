/*
 * plain: what the runtime's own code calls instead of the C library's functions
 * of these names. The rest of the runtime is compiled as any C; when its objects
 * are made one, its references are given the names below (plain.syms). So a
 * program that defines a `memcpy`, `syscall` or `strchr` of its own is neither
 * called by us nor, instrumented, led back into us.
 */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

#include "rt.h"

void *rt_plain_memcpy(void *restrict d, const void *restrict s, size_t n);
void *rt_plain_memmove(void *d, const void *s, size_t n);
void *rt_plain_memset(void *d, int c, size_t n);
int rt_plain_memcmp(const void *a, const void *b, size_t n);
size_t rt_plain_strlen(const char *s);
char *rt_plain_strchr(const char *s, int c);
long rt_plain_syscall(long number, ...);
int rt_plain_sched_yield(void);

void *rt_plain_memcpy(void *restrict d, const void *restrict s, size_t n)
{
	return rt_copy_fn(d, s, n);
}

void *rt_plain_memmove(void *d, const void *s, size_t n)
{
	return rt_move_fn(d, s, n);
}

void *rt_plain_memset(void *d, int c, size_t n)
{
	return rt_set_fn(d, c, n);
}

int rt_plain_memcmp(const void *a, const void *b, size_t n)
{
	const unsigned char *x = a, *y = b;
	while (n && *x == *y)
		n--, x++, y++;
	return n ? *x - *y : 0;
}

size_t rt_plain_strlen(const char *s)
{
	return rt_length(s);
}

char *rt_plain_strchr(const char *s, int c)
{
	for (; *s != (char)c; s++)
		if (!*s)
			return NULL;
	return (char *)(uintptr_t)s;
}

long rt_plain_syscall(long number, ...)
{
	va_list ap;
	va_start(ap, number);
	long a = va_arg(ap, long), b = va_arg(ap, long), c = va_arg(ap, long);
	register long d __asm__("r10") = va_arg(ap, long);
	register long e __asm__("r8") = va_arg(ap, long);
	register long f __asm__("r9") = va_arg(ap, long);
	va_end(ap);
	__asm__ volatile("syscall" : "+a"(number) : "D"(a), "S"(b), "d"(c), "r"(d), "r"(e), "r"(f) : "rcx", "r11", "memory");
	if (number < 0 && number > -4096) {
		errno = (int)-number;
		return -1;
	}
	return number;
}

int rt_plain_sched_yield(void)
{
	return (int)rt_plain_syscall(SYS_sched_yield);
}
