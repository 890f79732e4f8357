/*
 * Libraries with marked blocks, each loaded where the one before was, and all gone
 * when the program ends. Names and places must still be those of each. With
 * `abort` behind them the program dies in the end.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void (*bump)(void);

static void *worker(void *arg)
{
	bump();
	return arg;
}

static void two_threads(void)
{
	for (int i = 0; i < 2; i++) {
		pthread_t t;
		pthread_create(&t, 0, worker, 0);
		pthread_join(t, 0);
	}
}

int main(int argc, char **argv)
{
	void *first = NULL;
	int same = 1;
	for (int i = 1; i < argc; i++) {
		void *h = strcmp(argv[i], "abort") ? dlopen(argv[i], RTLD_NOW) : NULL;
		if (!h)
			break;
		*(void **)&bump = dlsym(h, "plugin_bump");
		first = first ? first : (void *)bump;
		same &= first == (void *)bump;
		two_threads();
		dlclose(h);
	}
	puts(same ? "one address" : "several addresses");
	fflush(stdout);
	if (!strcmp(argv[argc - 1], "abort"))
		abort();
	return 0;
}
