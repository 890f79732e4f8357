/* explore: find exit
 * explore: says exit status 3
 * A pipe between two threads, in memory that is restored: what is read was written, but not by whom. */
#include <pthread.h>
#include <unistd.h>

static int fd[2];

static void *writer(void *arg)
{
	char c = (char)(long)arg;
	return write(fd[1], &c, 1) == 1 ? NULL : arg;
}

int main(void)
{
	pthread_t t, u;
	char c = 0;
	if (pipe(fd))
		return 2;
	pthread_create(&t, NULL, writer, (void *)1L);
#ifdef FIXED
	pthread_join(t, NULL);
#endif
	pthread_create(&u, NULL, writer, (void *)2L);
	if (read(fd[0], &c, 1) != 1)
		return 4;
#ifndef FIXED
	pthread_join(t, NULL);
#endif
	pthread_join(u, NULL);
	close(fd[0]);
	close(fd[1]);
	return c == 1 ? 0 : 3;
}
