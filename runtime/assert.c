/*
 * assert: the end of a program in which an invariant of the runtime is broken (base/invariant.h). It allocates nothing, takes no
 * lock and calls nothing that can be interposed: the message goes out in one raw write, and the process ends by
 * SIGABRT with the handler that the kernel has by default. Not in a build with NDEBUG.
 */
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/invariant.h"
#include "runtime/explore/explorer.h"
#include "rt.h"

#ifndef NDEBUG
void rt_assert_failed(const char *expression, const char *file, unsigned line)
{
	char text[512];
	rt_print(text, sizeof text, "Intact: internal error: %s:%u: assertion failed: %s\n", file, line, expression);
	x_sys(SYS_write, 2, (long)text, (long)rt_length(text), 0, 0, 0);
	uint64_t by_default[4] = { 0 }; /* the kernel's struct sigaction: SIG_DFL, no flags */
	x_sys(SYS_rt_sigaction, SIGABRT, (long)by_default, 0, 8, 0, 0);
	uint64_t none = 0;
	x_sys(SYS_rt_sigprocmask, SIG_SETMASK, (long)&none, 0, 8, 0, 0);
	x_sys(SYS_tgkill, x_sys(SYS_getpid, 0, 0, 0, 0, 0, 0), x_sys(SYS_gettid, 0, 0, 0, 0, 0, 0), SIGABRT, 0, 0, 0);
	for (;;)
		x_sys(SYS_exit_group, 70, 0, 0, 0, 0, 0);
}
#endif
