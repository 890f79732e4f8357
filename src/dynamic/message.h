/*
 * message: findings as text with raw addresses, the form in which they leave
 * the program (runtime/report.c), or the replay of its recording. The reader
 * is report/finding_parse.c.
 */
#ifndef INTACT_DYNAMIC_MESSAGE_H
#define INTACT_DYNAMIC_MESSAGE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dynamic/reduction.h"

enum { MESSAGE_SIZE = 256 << 10 };

struct message_module {
	uintptr_t lo, hi, base;
	const char *path;
};

struct message {
	char *text;            /* MESSAGE_SIZE bytes */
	size_t n;
	const uint32_t *created, *parent; /* by thread: stack and parent */
	uint32_t nthreads;
};

/* %s %c %d %u %x (unsigned long with l), %%; always ends with a NUL. Returns
 * the length. */
size_t message_format(char *out, size_t max, const char *fmt, va_list ap);

void message_begin(struct message *m, int pid, bool final);
void message_module(struct message *m, const struct message_module *mod);
/* All that are ready (and not sent before, unless final; nor mere loops, unless
 * wanted), marked as sent. Tells whether there were any. */
bool message_findings(struct message *m, struct dynamic *d, bool final, bool loops);

#endif
