/* A library whose constructor starts a thread and waits for it: what that
 * thread calls first must not wait for the loading to end. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	void *h = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	if (!h) {
		fprintf(stderr, "%s\n", dlerror());
		return 2;
	}
	int (*done)(void) = (int (*)(void))dlsym(h, "waiter_done");
	return done && done() == 1 ? 0 : 1;
}
