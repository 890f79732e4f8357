/* A mutex destroyed while held, freed, and the memory used again. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
int main(void)
{
	for (int i = 0; i < 1000; i++) {
		pthread_mutex_t *m = malloc(sizeof *m);
		pthread_mutex_init(m, 0);
		pthread_mutex_lock(m);
		pthread_mutex_destroy(m);
		memset(m, 0, sizeof *m);
		free(m);
	}
	return 0;
}
