/*
 * measure: runs a command and writes "CPU seconds, peak memory in KB, exit
 * code" as the last line of standard error. A small process of its own,
 * because the peak a child reports includes what its parent had at the fork.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct rusage u;
	int status;
	if (argc < 2)
		return 2;
	pid_t pid = fork();
	if (pid == 0) {
		execvp(argv[1], argv + 1);
		perror(argv[1]);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &u) != pid)
		return 1;
	double cpu = (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	             (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
	int rc = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	fprintf(stderr, "\n%.4f %ld %d\n", cpu, u.ru_maxrss, rc);
	return 0;
}
