/* A server's table by descriptor: the number is closed by one thread, given
 * out again, and its entry used by another. Nobody else is there by then.
 * intact: none */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>
static pthread_mutex_t stats = PTHREAD_MUTEX_INITIALIZER;
static long total;
static struct { long bytes, uses; } conns[64];
static void count(long n)
{
	pthread_mutex_lock(&stats);
	total += n;
	pthread_mutex_unlock(&stats);
}
static void serve(int fd)
{
	conns[fd].bytes = conns[fd].bytes + 10;
	count(1);
	conns[fd].uses++;
}
static void *worker(void *arg)
{
	int fd, *in = arg;
	while (read(in[0], &fd, sizeof fd) == (ssize_t)sizeof fd) {
		serve(fd);
		close(fd);
	}
	return NULL;
}
int main(void)
{
	int in[2][2], first = -1;
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		if (pipe(in[i]) || pthread_create(&t[i], NULL, worker, in[i]))
			return 2;
	for (int i = 0; i < 6; i++) {
		int fd = open("/dev/null", O_RDONLY);
		if (first < 0)
			first = fd;
		if (fd != first || fd >= 64)
			return 3;
		if (write(in[i % 2][1], &fd, sizeof fd) != (ssize_t)sizeof fd)
			return 4;
		while (fcntl(fd, F_GETFD) >= 0) /* until it is closed */
			sched_yield();
	}
	for (int i = 0; i < 2; i++) {
		close(in[i][1]);
		pthread_join(t[i], NULL);
	}
	return conns[first].uses == 6 && total == 6 ? 0 : 5;
}
