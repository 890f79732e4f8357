/* Calls one hook of the runtime again and again, for counting instructions
 * (hooks.py). Not instrumented itself. argv: case, how often. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void __tsan_read1(void *p);
void __tsan_read4(void *p);
void __tsan_read8(void *p);
void __tsan_read16(void *p);
void __tsan_write4(void *p);
void __tsan_write8(void *p);
void __tsan_unaligned_read8(void *p);
void __tsan_read_range(void *p, size_t n);
void __tsan_write_range(void *p, size_t n);
void __intact_begin(const char *name);
void __intact_end(void);
void __cyg_profile_func_enter(void *fn, void *site);
void __cyg_profile_func_exit(void *fn, void *site);

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static char *data;
static volatile int turn; /* orders what the runtime must not know of */

static void pass(int from)
{
	while (turn != from)
		usleep(1000); /* few instructions: callgrind counts all threads' */
	turn = from + 1;
}

__attribute__((noinline)) static void nothing(void *p)
{
	__asm__ volatile("" :: "r"(p) : "memory");
}

/* Another thread reads it all; this one, too, without being ordered. */
static void *other(void *arg)
{
	if (arg)
		pthread_rwlock_rdlock(&rw);
	__tsan_read_range(data, 4096);
	if (arg)
		pthread_rwlock_unlock(&rw);
	pass(0);
	while (turn != 2)
		usleep(1000);
	return arg;
}

static pthread_t shared_with(void *arg)
{
	pthread_t t;
	pthread_create(&t, 0, other, arg);
	while (turn != 1)
		usleep(1000);
	if (arg)
		pthread_rwlock_rdlock(&rw);
	__tsan_read_range(data, 4096);
	return t;
}

#define CASE(name, call)                                                       \
	if (!strcmp(which, name)) {                                            \
		known = 1;                                                     \
		for (long i = 0; i < n; i++) {                                 \
			call;                                                  \
			__asm__ volatile("" ::: "memory");                     \
		}                                                              \
	}

int main(int argc, char **argv)
{
	const char *which = argc > 1 ? argv[1] : "";
	long n = argc > 2 ? atol(argv[2]) : 1;
	int known = 0;
	pthread_t t = 0;
	data = aligned_alloc(4096, 1 << 24);
	if (!data)
		return 2;
	if (!strncmp(which, "open", 4))
		t = shared_with(NULL);
	else if (!strncmp(which, "locked", 6))
		t = shared_with(data);
	else
		__tsan_write_range(data, 4096);
	if (strstr(which, "marked"))
		__intact_begin("count");
	CASE("nothing", nothing(data))
	CASE("read1", __tsan_read1(data + 8))
	CASE("read4", __tsan_read4(data + 8))
	CASE("read8", __tsan_read8(data + 8))
	CASE("read16", __tsan_read16(data + 16))
	CASE("write4", __tsan_write4(data + 8))
	CASE("write8", __tsan_write8(data + 8))
	CASE("unaligned8", __tsan_unaligned_read8(data + 11))
	CASE("open read4", __tsan_read4(data + 8))
	CASE("open unaligned8", __tsan_unaligned_read8(data + 11))
	CASE("locked read4", __tsan_read4(data + 8))
	CASE("first write8", __tsan_write8(data + 8192 + i * 8))
	CASE("first read1 of 8", __tsan_read1(data + 8192 + i))
	CASE("range of 4096, known", __tsan_read_range(data, 4096))
	CASE("range of 64, first", __tsan_write_range(data + 8192 + i * 64, 64))
	CASE("function", (__cyg_profile_func_enter((void *)main, data), __cyg_profile_func_exit((void *)main, data)))
	CASE("lock, unlock", (pthread_mutex_lock(&m), pthread_mutex_unlock(&m)))
	CASE("marked read4, known", __tsan_read4(data + 8))
	CASE("marked first write8", __tsan_write8(data + 8192 + i * 8))
	if (strstr(which, "marked"))
		__intact_end();
	if (t) {
		turn = 2;
		pthread_join(t, 0);
	}
	if (!known)
		fprintf(stderr, "no such case: %s\n", which);
	return !known;
}
