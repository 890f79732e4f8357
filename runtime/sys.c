/*
 * sys: the little of a C library that the runtime brings itself, because the
 * program's may be interposed, locked or broken when it is needed.
 */
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rt.h"

void rt_copy(void *dst, const void *src, size_t n)
{
	__asm__ volatile("rep movsb" : "+D"(dst), "+S"(src), "+c"(n) : : "memory");
}

size_t rt_length(const char *s)
{
	size_t n = 0;
	while (s[n])
		n++;
	return n;
}

bool rt_same(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

char *rt_strdup(const char *s, size_t n)
{
	char *p = bump_alloc(&rt_dyn.bump, n + 1);
	if (!p)
		return "";
	rt_copy(p, s, n);
	p[n] = 0;
	return p;
}

static size_t put_number(char *out, size_t at, size_t max, uint64_t v, unsigned base)
{
	char tmp[24];
	unsigned n = 0;
	do {
		tmp[n++] = "0123456789abcdef"[v % base];
		v /= base;
	} while (v);
	while (n && at < max)
		out[at++] = tmp[--n];
	return at;
}

/* %s %c %d %u %x (unsigned long with l), %%; always ends with a NUL. */
size_t rt_format(char *out, size_t max, const char *fmt, va_list ap)
{
	size_t at = 0;
	if (!max--)
		return 0;
	for (; *fmt && at < max; fmt++) {
		if (*fmt != '%') {
			out[at++] = *fmt;
			continue;
		}
		bool wide = *++fmt == 'l';
		fmt += wide;
		if (*fmt == 's') {
			for (const char *s = va_arg(ap, const char *); *s && at < max;)
				out[at++] = *s++;
		} else if (*fmt == 'd') {
			int64_t v = wide ? va_arg(ap, long) : va_arg(ap, int);
			if (v < 0)
				out[at++] = '-';
			at = put_number(out, at, max, (uint64_t)(v < 0 ? -v : v), 10);
		} else if (*fmt == 'u' || *fmt == 'x') {
			uint64_t v = wide ? va_arg(ap, unsigned long) : va_arg(ap, unsigned);
			at = put_number(out, at, max, v, *fmt == 'u' ? 10 : 16);
		} else {
			out[at++] = *fmt;
		}
	}
	out[at] = 0;
	return at;
}

void rt_say(const char *text)
{
	int keep = errno;
	size_t n = rt_length(text);
	while (n) {
		long w = syscall(SYS_write, 2, text, n);
		if (w <= 0)
			break;
		text += w;
		n -= (size_t)w;
	}
	errno = keep;
}

void rt_sayf(const char *fmt, ...)
{
	char line[1024];
	va_list ap;
	va_start(ap, fmt);
	rt_format(line, sizeof line, fmt, ap);
	va_end(ap);
	rt_say(line);
}

void *rt_real(const char *name, const char *version)
{
	void *p = version ? dlvsym(RTLD_NEXT, name, version) : NULL;
	if (!p)
		p = dlsym(RTLD_NEXT, name);
	if (!p) {
		rt_sayf("Intact: this C library has no %s\n", name);
		syscall(SYS_exit_group, 127);
	}
	return p;
}

const char *rt_env(const char *name)
{
	size_t n = rt_length(name);
	for (char **e = environ ? environ : rt_environ; e && *e; e++) {
		size_t i = 0;
		while (i < n && (*e)[i] == name[i])
			i++;
		if (i == n && (*e)[n] == '=')
			return *e + n + 1;
	}
	return NULL;
}
