/* confirm: finds append -- room is looked for in one section, the text goes in in the next. */
#include <pthread.h>
#include <string.h>

static struct {
	pthread_mutex_t m;
	char text[16];
	int used;
} buffer = { .m = PTHREAD_MUTEX_INITIALIZER };

static int room(void)
{
	pthread_mutex_lock(&buffer.m);
	int n = (int)sizeof buffer.text - buffer.used;
	pthread_mutex_unlock(&buffer.m);
	return n;
}

static int append(const char *s, int n)
{
#ifdef FIXED
	pthread_mutex_lock(&buffer.m);
	int ok = (int)sizeof buffer.text - buffer.used >= n;
#else
	int ok = room() >= n;
	pthread_mutex_lock(&buffer.m);
#endif
	if (ok && buffer.used + n <= (int)sizeof buffer.text) {
		memcpy(buffer.text + buffer.used, s, (size_t)n);
		buffer.used += n;
	}
	pthread_mutex_unlock(&buffer.m);
	return ok;
}

static void *worker(void *arg)
{
	append(arg, 6);
	append(arg, 6);
	return NULL;
}

int main(void)
{
	pthread_t t[2];
	if (room() < 6)
		return 1;
	pthread_create(&t[0], NULL, worker, "first.");
	pthread_create(&t[1], NULL, worker, "second");
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return 0;
}
