/* explore: find assertion
 * explore: option --races=no
 * A byte lock: the reader announces itself by a plain byte, the writer waits until it is 0. In the first schedule the
 * plain store is no point yet; that the writer waits for it must not be taken for a loop without end. The bug:
 * a reader does not look again for the writer. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static volatile unsigned char reading;
static atomic_int writer;
static volatile int data;

static void *reader(void *arg)
{
	for (;;) {
		reading = 1;
#ifdef FIXED
		if (!atomic_load(&writer))
			break;
		reading = 0;
		while (atomic_load(&writer))
			;
#else
		break;
#endif
	}
	assert(data == 0);
	reading = 0;
	return arg;
}

int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, reader, NULL);
	atomic_store(&writer, 1);
	while (reading)
		;
	data = 1;
	data = 0;
	atomic_store(&writer, 0);
	pthread_join(t, NULL);
	return 0;
}
