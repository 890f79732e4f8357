/*
 * own_memory: copying and clearing for the explorer itself (own_memory.h).
 */
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)
void *x_memcpy(void *to, const void *from, size_t n);
void *x_memmove(void *to, const void *from, size_t n);
void *x_memset(void *to, int c, size_t n);
int x_memcmp(const void *a, const void *b, size_t n);
size_t x_strlen(const char *s);
#pragma GCC visibility pop

typedef uint64_t __attribute__((may_alias, aligned(1))) word;

void *x_memcpy(void *to, const void *from, size_t n)
{
	char *d = to;
	const char *s = from;
	if (n >= 512) {
		__asm__ volatile("rep movsb" : "+D"(d), "+S"(s), "+c"(n) : : "memory");
		return to;
	}
	for (; n >= 8; n -= 8, d += 8, s += 8)
		*(word *)d = *(const word *)s;
	for (; n; n--)
		*(volatile char *)d++ = *s++;
	return to;
}

void *x_memmove(void *to, const void *from, size_t n)
{
	if ((uintptr_t)to - (uintptr_t)from >= n)
		return x_memcpy(to, from, n);
	for (volatile char *d = to; n; n--)
		d[n - 1] = ((const char *)from)[n - 1];
	return to;
}

void *x_memset(void *to, int c, size_t n)
{
	char *d = to;
	if (n >= 512) {
		__asm__ volatile("rep stosb" : "+D"(d), "+c"(n) : "a"(c) : "memory");
		return to;
	}
	uint64_t w = (uint8_t)c * 0x0101010101010101ull;
	for (; n >= 8; n -= 8, d += 8)
		*(word *)d = w;
	for (; n; n--)
		*(volatile char *)d++ = (char)c;
	return to;
}

int x_memcmp(const void *a, const void *b, size_t n)
{
	const uint8_t *p = a, *q = b;
	for (size_t i = 0; i < n; i++)
		if (p[i] != q[i])
			return p[i] - q[i];
	return 0;
}

size_t x_strlen(const char *s)
{
	size_t n = 0;
	while (((const volatile char *)s)[n])
		n++;
	return n;
}
