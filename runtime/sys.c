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

void rt_print(char *out, size_t max, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	message_format(out, max, fmt, ap);
	va_end(ap);
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
	message_format(line, sizeof line, fmt, ap);
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

extern struct rt_lazy *__start_intact_real[] __attribute__((visibility("hidden")));
extern struct rt_lazy *__stop_intact_real[] __attribute__((visibility("hidden")));

struct rt_lazy **rt_lazy_table(struct rt_lazy ***end)
{
	*end = __stop_intact_real;
	return __start_intact_real;
}

/* Functions that this C library lacks are reported when they are called. */
void rt_real_all(void)
{
	struct rt_lazy **end;
	for (struct rt_lazy **at = rt_lazy_table(&end); at < end; at++) {
		struct rt_lazy *l = *at;
		void *p = l->version ? dlvsym(RTLD_NEXT, l->name, l->version) : NULL;
		if (l->slot && !*l->slot)
			*l->slot = p ? p : dlsym(RTLD_NEXT, l->name);
	}
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
