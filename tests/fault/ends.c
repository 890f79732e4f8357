/* A lost update in a process that ends, or came to be, in an unusual way: it
 * must be told of all the same. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int balance;

static int get(void)
{
	pthread_mutex_lock(&m);
	int r = balance;
	pthread_mutex_unlock(&m);
	return r;
}

static void set(int v)
{
	pthread_mutex_lock(&m);
	balance = v;
	pthread_mutex_unlock(&m);
}

static void deposit(int n)
{
	set(get() + n);
}

static void *worker(void *arg)
{
	deposit(1);
	return arg;
}

static void *two(void *how)
{
	pthread_t t;
	for (int i = 0; i < 2; i++) {
		pthread_create(&t, NULL, worker, NULL);
		pthread_join(t, NULL);
	}
	if (how && !strcmp(how, "exit"))
		exit(3);
	return NULL;
}

pid_t _Fork(void);

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	pthread_t t;
	int status = 0;
	if (!strcmp(how, "daemon") && daemon(1, 1))
		return 9;
	if (!strcmp(how, "_Fork")) {
		pid_t pid = _Fork();
		if (pid)
			return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 8;
	}
	if (!strcmp(how, "exit") || !strcmp(how, "pthread_exit")) {
		pthread_create(&t, NULL, two, argv[1]);
		if (!strcmp(how, "exit"))
			pthread_join(t, NULL);
		else
			pthread_detach(t);
		pthread_exit(NULL);
	}
	two(NULL);
	if (!strcmp(how, "quick_exit"))
		quick_exit(0);
	if (!strcmp(how, "_exit"))
		_exit(0);
	return 0;
}
