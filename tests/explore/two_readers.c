/* explore: find assertion
 * explore: says got[0] == 'a'
 * Two threads read from one pipe that has data for both: who comes first gets the first byte. Nothing else orders them, so a search
 * that takes reads for independent finds one trace and no bug. */
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

static int fd[2], file;
static char got[2];

static void *reads(void *arg)
{
	char byte;
	assert(read(fd[0], arg, 1) == 1);
	assert(read(file, &byte, 1) == 1 && (byte == '\177' || byte == 'E')); /* one offset for both, too */
	return arg;
}

int main(void)
{
	pthread_t t, u;
	file = open("/proc/self/exe", O_RDONLY);
	assert(!pipe(fd) && write(fd[1], "ab", 2) == 2);
	pthread_create(&t, NULL, reads, &got[0]);
#ifdef FIXED
	pthread_join(t, NULL);
#endif
	pthread_create(&u, NULL, reads, &got[1]);
#ifndef FIXED
	pthread_join(t, NULL);
#endif
	pthread_join(u, NULL);
	assert(got[0] == 'a');
	return 0;
}
