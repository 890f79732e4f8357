/* Loads, uses and unloads an instrumented library, again and again. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
static void (*bump)(void);
static void *worker(void *arg)
{
	bump();
	return arg;
}
int main(int argc, char **argv)
{
	for (int i = 0; i < 3; i++) {
		void *h = dlopen(argc > 1 ? argv[1] : "./plugin.so", RTLD_NOW);
		if (!h) {
			puts(dlerror());
			return 1;
		}
		*(void **)&bump = dlsym(h, "plugin_bump");
		pthread_t a, b;
		pthread_create(&a, 0, worker, 0);
		pthread_join(a, 0);
		pthread_create(&b, 0, worker, 0);
		pthread_join(b, 0);
		dlclose(h);
	}
	return 0;
}
