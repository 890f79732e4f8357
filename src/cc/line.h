/*
 * line: a compiler's command line as data: what it asks for.
 */
#ifndef INTACT_CC_LINE_H
#define INTACT_CC_LINE_H

#include <stdbool.h>
#include <stddef.h>

/* Words for exec, followed by a NULL. */
struct args {
	char **v;
	size_t n, cap;
};

void args_add(struct args *a, const char *s);
void args_addf(struct args *a, const char *fmt, const char *s) __attribute__((format(printf, 2, 0)));
void args_free(struct args *a);

/* What a command line asks for. */
struct task {
	bool source, input; /* something to compile; anything at all */
	bool no_link;       /* -c -S -E -M ... */
	bool shared, relocatable, is_static, no_lib;
	bool debug, off;     /* -g given; instrumentation refused */
	bool optimised;      /* -O1 and up: small functions are inlined */
	bool header, other;  /* inputs that are headers, and that are not */
	bool thread;         /* -fsanitize=thread given: that is our part */
	bool narrow;         /* -m32 and the like */
	unsigned sanitizers; /* those of `foreign` that are asked for */
};

/* They interpose malloc and the thread functions, like Intact. */
enum { NFOREIGN = 8 };
extern const char *const foreign_sanitizers[NFOREIGN];

void task_look(struct task *t, char **v, int n);
/* A file in C, C++ or Objective-C, by its name. */
bool line_is_source(const char *s);
/* An option whose value is the next word. */
bool line_takes_value(const char *s);

#endif
