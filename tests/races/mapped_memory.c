/* Memory of mmap.
 * intact: race heap */
#include "race.h"
#include <sys/mman.h>
static volatile int *map;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *first(void *p)
{
	FIX(pthread_mutex_lock(&m);)
	map[100] = 1; /* @race */
	FIX(pthread_mutex_unlock(&m);)
	at(1);
	return p;
}
static void *second(void *p)
{
	at(2);
	FIX(pthread_mutex_lock(&m);)
	map[100] = 2; /* @race */
	FIX(pthread_mutex_unlock(&m);)
	return p;
}
int main(void)
{
	map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_mutex_lock(&m);
	pthread_mutex_unlock(&m);
	run2(first, second);
	munmap((void *)map, 4096);
	return 0;
}
