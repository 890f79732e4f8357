/* Clang since 15 calls __tsan_memcpy, __tsan_memmove and __tsan_memset where the
 * source copies a structure or calls memcpy: they do it, and are accesses.
 * intact: find update any */
#include <pthread.h>
#include <stddef.h>
#include <string.h>
void *__tsan_memcpy(void *d, const void *s, size_t n);
void *__tsan_memmove(void *d, const void *s, size_t n);
void *__tsan_memset(void *d, int c, size_t n);
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static char shared[64];
static void get(char *to)
{
	pthread_mutex_lock(&m);
	__tsan_memcpy(to, shared, sizeof shared);
	pthread_mutex_unlock(&m); /* @commit */
}
static void set(const char *from)
{
	pthread_mutex_lock(&m); /* @violation */
	__tsan_memmove(shared, from, sizeof shared);
	pthread_mutex_unlock(&m);
}
static void update(void)
{ /* @entered */
	char own[64];
	get(own);
	__tsan_memset(own + 1, own[0] + 1, sizeof own - 1);
	set(own);
}
static void *worker(void *arg)
{
	update();
	return arg;
}
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, NULL, worker, NULL);
	pthread_create(&b, NULL, worker, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	char want[64];
	memset(want + 1, 1, sizeof want - 1);
	want[0] = 0;
	return memcmp(shared, want, sizeof want) != 0;
}
