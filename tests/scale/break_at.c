/*
 * break_at: a preload library that breaks a process at one of the moments at which it changes files: writes, syncs,
 * renames, removals, in the order in which they happen.
 *
 *   BREAK_AT=N            at the N-th, from 1
 *   BREAK_HOW=kill        SIGKILL before it happens
 *   BREAK_HOW=torn        SIGKILL after the first half of the bytes of a write, or after anything else
 *   BREAK_HOW=full        it fails with ENOSPC, and so do all that follow, for BREAK_FOR of them (0: for ever)
 *   BREAK_HOW=flip        a bit of what is written is another one
 *   BREAK_HOW=term, int   the process is sent SIGTERM or SIGINT, and it happens
 *   BREAK_COUNT=FILE      how many there were is written there at the end
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned long count;

static void *next(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

enum what { GO, HALF, FAIL, FLIP };

/* What is to become of the change that is about to happen. */
static enum what moment(void)
{
	const char *at = getenv("BREAK_AT"), *how = getenv("BREAK_HOW"), *span = getenv("BREAK_FOR");
	unsigned long n = ++count, from = at ? strtoul(at, NULL, 10) : 0, for_ = span ? strtoul(span, NULL, 10) : 0;
	if (!from || !how)
		return GO;
	if (!strcmp(how, "full"))
		return n >= from && (!for_ || n < from + for_) ? FAIL : GO;
	if (n != from)
		return GO;
	if (!strcmp(how, "kill"))
		kill(getpid(), SIGKILL);
	if (!strcmp(how, "torn"))
		return HALF;
	if (!strcmp(how, "flip"))
		return FLIP;
	raise(!strcmp(how, "int") ? SIGINT : SIGTERM);
	return GO;
}

static int fails(void)
{
	errno = ENOSPC;
	return -1;
}

static void die(void)
{
	kill(getpid(), SIGKILL);
}

ssize_t pwrite64(int fd, const void *p, size_t n, off64_t at)
{
	ssize_t (*real)(int, const void *, size_t, off64_t) = next("pwrite64");
	enum what w = moment();
	if (w == FAIL)
		return n > 1 && count % 2 ? real(fd, p, n / 2, at) : fails();
	if (w == HALF) {
		real(fd, p, n / 2, at);
		die();
	}
	if (w == FLIP && n) {
		unsigned char bad = (unsigned char)(((const unsigned char *)p)[n / 3] ^ 1 << n % 8);
		ssize_t done = real(fd, p, n, at);
		return done <= (ssize_t)(n / 3) || real(fd, &bad, 1, at + (off64_t)(n / 3)) == 1 ? done : -1;
	}
	return real(fd, p, n, at);
}

ssize_t write(int fd, const void *p, size_t n)
{
	ssize_t (*real)(int, const void *, size_t) = next("write");
	enum what w = fd > 2 ? moment() : GO;
	if (w == FAIL)
		return fails();
	if (w == HALF) {
		real(fd, p, n / 2);
		die();
	}
	return real(fd, p, n);
}

int fsync(int fd)
{
	int (*real)(int) = next("fsync");
	enum what w = moment();
	int r = w == FAIL ? fails() : real(fd);
	if (w == HALF)
		die();
	return r;
}

int renameat(int a, const char *from, int b, const char *to)
{
	int (*real)(int, const char *, int, const char *) = next("renameat");
	enum what w = moment();
	int r = w == FAIL ? fails() : real(a, from, b, to);
	if (w == HALF)
		die();
	return r;
}

int unlinkat(int dir, const char *name, int flags)
{
	int (*real)(int, const char *, int) = next("unlinkat");
	if (moment() == HALF) {
		real(dir, name, flags);
		die();
	}
	return real(dir, name, flags);
}

__attribute__((destructor)) static void tell(void)
{
	const char *to = getenv("BREAK_COUNT");
	FILE *f = to ? fopen(to, "w") : NULL;
	if (f) {
		fprintf(f, "%lu\n", count);
		fclose(f);
	}
}
