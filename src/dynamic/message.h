/*
 * message: findings as text with raw addresses, the form in which they leave
 * the program (runtime/report.c), or the replay of its recording. The reader
 * is report/finding_parse.c.
 *
 * A message goes out in pieces of at most MESSAGE_SIZE bytes, each with the
 * process's number, and is never cut: a finding, or a module, that does not fit
 * the piece begins the next one. The messages of a process are cumulative:
 * modules are sent once, a finding that is sent again replaces the earlier one,
 * and a line `count` says that a finding was met again and is otherwise
 * unchanged.
 */
#ifndef INTACT_DYNAMIC_MESSAGE_H
#define INTACT_DYNAMIC_MESSAGE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dynamic/reduction.h"

enum { MESSAGE_SIZE = 96 << 10 };

struct message_module {
	uintptr_t lo, hi, base;
	const char *path;
};

struct message {
	char *text; /* MESSAGE_SIZE bytes */
	size_t n;
	const uint32_t *created, *parent; /* by thread: stack and parent */
	uint32_t nthreads;
	/* Takes a piece away, followed by a NUL; false: it could not. Then
	 * nothing more is sent. */
	bool (*send)(void *arg, const char *text, size_t n);
	void *arg;
	int pid;
	uint64_t image; /* tells programs of one process number apart */
	bool final, failed;
};

/* %s %c %d %u %x (unsigned long with l), %%; always ends with a NUL. Returns
 * the length. */
size_t message_format(char *out, size_t max, const char *fmt, va_list ap);

/* text, created, parent, nthreads, send, arg, pid, image and final are set. */
void message_begin(struct message *m);
void message_module(struct message *m, const struct message_module *mod);
/* All that are ready and new since they were sent last (mere loops only if
 * wanted), marked as sent; with `all` those sent before, too. At the end of the
 * program (final) also how often those sent before were met. Tells whether
 * there was anything to tell. */
bool message_findings(struct message *m, struct dynamic *d, bool all, bool loops);
/* So many of something the reader cannot know of. */
void message_lost(struct message *m, const char *what, uint32_t n);
/* Parts of a message, for what has a table of its own (hazards.h): room for so many bytes in this
 * piece or the next, then lines. */
void message_room(struct message *m, size_t need);
void message_put(struct message *m, const char *fmt, ...);
void message_stack(struct message *m, const struct dynamic *d, const char *name, uint32_t id, uint32_t max);
void message_locks(struct message *m, const struct dynamic *d, const char *name, uint32_t set);
void message_thread(struct message *m, const struct dynamic *d, uint32_t uid);
/* The rest goes out. False when a piece could not be sent. */
bool message_end(struct message *m);

#endif
