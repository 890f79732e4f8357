/*
 * exec: see exec.h.
 */
#include "cc/exec.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/console.h"
#include "base/invariant.h"

static void show_line(const struct args *a)
{
	assert(a->n && a->v[0]);
	const char *verbose = getenv("INTACT_CC_VERBOSE");
	if (!verbose || !*verbose)
		return;
	for (size_t i = 0; i < a->n; i++)
		fprintf(stderr, "%s%s", i ? " " : "intact: ", a->v[i]);
	fputc('\n', stderr);
}

static _Noreturn void replace(struct args *a)
{
	assert(a->n && a->v[0] && !a->v[a->n]);
	execvp(a->v[0], a->v);
	fprintf(stderr,
	        "intact: cannot run the compiler '%s': %s\n"
	        "hint: INTACT_CC and INTACT_CXX select the compiler\n",
	        a->v[0], strerror(errno));
	_exit(127);
}

_Noreturn void cc_become(struct args *a)
{
	show_line(a);
	fflush(NULL);
	replace(a);
}

static volatile pid_t compiler;
static void forward(int sig)
{
	if (compiler > 0)
		kill(compiler, sig);
}

int cc_spawn(struct args *a, int err)
{
	assert(err >= -1 && !a->v[a->n]);
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct sigaction act = { .sa_handler = forward, .sa_flags = SA_RESTART }, old[4];
	for (int i = 0; i < 4; i++) {
		sigaction(signals[i], &act, &old[i]);
		if (old[i].sa_handler == SIG_IGN)
			sigaction(signals[i], &old[i], NULL);
	}
	show_line(a);
	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0) {
		for (int i = 0; i < 4; i++)
			sigaction(signals[i], &old[i], NULL);
		if (err >= 0)
			dup2(err, STDERR_FILENO);
		replace(a);
	}
	compiler = pid;
	int status = 1;
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	compiler = 0;
	for (int i = 0; i < 4; i++)
		sigaction(signals[i], &old[i], NULL);
	if (pid < 0)
		return EXIT_INTERNAL;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int cc_temp(char *path, size_t size, const char *suffix)
{
	assert(size > 64 && suffix);
	const char *tmp = getenv("TMPDIR");
	if (!tmp || !*tmp || access(tmp, W_OK) || strlen(tmp) + strlen(suffix) > size - 32)
		tmp = "/tmp";
	snprintf(path, size, "%s/intact-XXXXXX%s", tmp, suffix);
	return mkstemps(path, (int)strlen(suffix));
}
