/* explore: find exit
 * explore: says exit status 3
 * A flag is set before what it stands for. */
#include <pthread.h>
#include <stdatomic.h>

static atomic_int flag, data;

static void *writer(void *arg)
{
#ifdef FIXED
	data = 1;
	flag = 1;
#else
	flag = 1;
	data = 1;
#endif
	return arg;
}

int main(void)
{
	pthread_t t;
	int status = 0;
	pthread_create(&t, NULL, writer, NULL);
	if (flag && !data)
		status = 3;
	pthread_join(t, NULL);
	return status;
}
