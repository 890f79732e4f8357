/* explore: find lost-wakeup
 * A futex by direct system calls: the waker wakes before it writes. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_uint word;

static void *waiter(void *arg)
{
	while (!atomic_load(&word))
		syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	return arg;
}

int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, waiter, NULL);
#ifdef FIXED
	atomic_store(&word, 1);
	syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
#else
	syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	atomic_store(&word, 1);
#endif
	pthread_join(t, NULL);
	return 0;
}
