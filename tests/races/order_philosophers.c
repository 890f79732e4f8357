/* Five philosophers; in the twin the last takes the right fork first.
 * intact: locks lock order */
#include "race.h"
static pthread_mutex_t fork_[5];
static void *dine(void *p)
{
	int i = (int)(size_t)p, l = i, r = (i + 1) % 5;
	FIX(if (i == 4) { l = 0; r = 4; })
	at(i + 1);
	pthread_mutex_lock(&fork_[l]); /* @race */
	pthread_mutex_lock(&fork_[r]); /* @race */
	pthread_mutex_unlock(&fork_[r]);
	pthread_mutex_unlock(&fork_[l]);
	return p;
}
int main(void)
{
	pthread_t t[5];
	for (int i = 0; i < 5; i++)
		pthread_mutex_init(&fork_[i], NULL);
	for (size_t i = 0; i < 5; i++)
		pthread_create(&t[i], NULL, dine, (void *)i);
	for (int i = 0; i < 5; i++)
		pthread_join(t[i], NULL);
	return 0;
}
