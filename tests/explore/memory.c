/* explore: find misuse
 * explore: says freed
 * explore: watched
 * Every way to get memory and to copy it: sizes, alignment and contents. The bug: one thread grows a buffer while the other still
 * reads the old one. */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static char *shared;

static int aligned(const void *p, size_t n)
{
	return p && (uintptr_t)p % n == 0;
}

static void allocations(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), huge = SIZE_MAX / 2;
	char *p = malloc(3), *q = NULL;
	void *r = NULL;
	__asm__("" : "+r"(huge)); /* the compiler need not know that these fail */
	memcpy(p, "ab", 3);
	p = realloc(p, 5000);
	assert(p && !strcmp(p, "ab") && malloc_usable_size(p) >= 5000);
	p = realloc(p, 4);
	assert(p && !strcmp(p, "ab"));
	free(p);
	q = realloc(NULL, 8);
	assert(q && aligned(q, 16));
	q = reallocarray(q, 10, 10);
	assert(q && malloc_usable_size(q) >= 100 && !reallocarray(q, huge, 16) && errno == ENOMEM);
	free(q);
	q = calloc(10, 10);
	for (int i = 0; i < 100; i++)
		assert(!q[i]);
	free(q);
	void *volatile none = calloc(huge, 16);
	assert(!none);
	assert(!posix_memalign(&r, 256, 10) && aligned(r, 256) && posix_memalign(&r, 3, 10) == EINVAL);
	free(r);
	r = aligned_alloc(64, 128);
	assert(aligned(r, 64));
	free(r);
	r = memalign(1024, 1);
	assert(aligned(r, 1024));
	free(r);
	r = valloc(1);
	assert(aligned(r, page));
	free(r);
	r = pvalloc(1);
	assert(aligned(r, page) && malloc_usable_size(r) >= page);
	free(r);
	free(NULL);
}

static void copies(void)
{
	char a[16] = "0123456789", b[16], c[16];
	volatile size_t n = 5;
	memmove(a + 2, a, n);
	assert(!memcmp(a, "0101234789", 10) && memcmp(a, "02", 2) < 0);
	memmove(a, a + 2, n);
	assert(!strcmp(a, "0123434789"));
	memset(b, 'x', sizeof b);
	assert(strncpy(b, "ab", n) == b && !memcmp(b, "ab\0\0\0x", 6));
	assert(strcpy(c, a) == c && !strcmp(a, c) && strlen(c) == 10);
	memcpy(c, "zy", 2);
	assert(!strcmp(c, "zy23434789"));
}

static void *grows(void *arg)
{
	pthread_mutex_lock(&m);
	char *bigger = malloc(1000);
	strcpy(bigger, shared);
	free(shared);
	shared = bigger;
	pthread_mutex_unlock(&m);
	return arg;
}

static void *reads(void *arg)
{
	pthread_mutex_lock(&m);
	char *mine = shared;
#ifndef FIXED
	pthread_mutex_unlock(&m);
	pthread_mutex_lock(&m);
#endif
	assert(mine[0] == 'h');
	pthread_mutex_unlock(&m);
	return arg;
}

int main(void)
{
	pthread_t t, u;
	allocations();
	copies();
	shared = strdup("hello");
	pthread_create(&t, NULL, grows, NULL);
	pthread_create(&u, NULL, reads, NULL);
	pthread_join(t, NULL);
	pthread_join(u, NULL);
	assert(!strcmp(shared, "hello"));
	free(shared);
	return 0;
}
