/* A reference that is taken and dropped, then a value that is read in one section
 * and written in the next: of the three gaps the last leads, behind which what was
 * read is used. In front of it what was lent is given back, and data only read.
 * intact: find renew predicted
 * intact: says Between line 30 and line 31
 * intact: says Also between line 24 and line 25
 * intact: says Also between line 27 and line 28 */
#include <pthread.h>
#include "sched.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int references, value;
static void touch(void)
{
	pthread_mutex_lock(&m);
	references = 0;
	value = 1;
	pthread_mutex_unlock(&m);
}
static void renew(void)
{
	int v;
	pthread_mutex_lock(&m);
	references++;
	pthread_mutex_unlock(&m); /* line 24 */
	pthread_mutex_lock(&m); /* line 25 */
	references--;
	pthread_mutex_unlock(&m); /* line 27 */
	pthread_mutex_lock(&m); /* line 28 */
	v = value;
	pthread_mutex_unlock(&m); /* line 30 */
	pthread_mutex_lock(&m); /* line 31 */
	value = v + 1;
	pthread_mutex_unlock(&m);
}
static void *worker(void *arg)
{
	at(2);
	renew();
	return arg;
}
int main(void)
{
	pthread_t t;
	touch();
	pthread_create(&t, NULL, worker, NULL);
	touch();
	at(1);
	pthread_join(t, NULL);
	return 0;
}
