/* vfork, exec and wait: the program's children are its own. */
#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
int main(void)
{
	for (int i = 0; i < 20; i++) {
		char *argv[] = { "true", 0 };
		pid_t p = vfork();
		if (p == 0) {
			execve("/bin/true", argv, environ);
			_exit(9);
		}
		int st;
		if (waitpid(p, &st, 0) != p || st)
			return 1;
	}
	if (system("exit 3") != 3 << 8)
		return 2;
	return waitpid(-1, 0, 0) == -1 && errno == ECHILD ? 0 : 3;
}
