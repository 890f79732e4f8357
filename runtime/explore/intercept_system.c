/*
 * intercept_system: the two interposed functions whose names the rest of the runtime
 * uses itself. Its references are redirected to plain.c, so these are separate
 * (runtime/meson.build).
 */
#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <unistd.h>

#include "runtime/explore/explorer.h"

EXPORT int sched_yield(void)
{
	if (likely(!rt.explore))
		return REAL(sched_yield)();
	x_yield(CALLER);
	return 0;
}

EXPORT long syscall(long nr, ...)
{
	va_list ap;
	long a[6];
	va_start(ap, nr);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	long r = unlikely(rt.explore) && X.active ? x_syscall(nr, a, CALLER) : x_sys(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (r < 0 && r > -4096) {
		errno = (int)-r;
		return -1;
	}
	return r;
}
