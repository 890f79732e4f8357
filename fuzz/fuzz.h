/*
 * fuzz: what the targets share. A target runs a command of intact in this
 * process, as main would, on a file that exists in memory only.
 */
#ifndef INTACT_FUZZ_H
#define INTACT_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);

/* A file with these bytes; its path holds until file_close. */
struct memory_file {
	int fd;
	char path[40];
};
void file_make(struct memory_file *f, const void *data, size_t size);
void file_close(struct memory_file *f);

/* What a command said, and its exit code. */
struct said {
	int rc;
	struct buf out, err;
};
/* `intact NAME WORDS...`; the words end with NULL. The exit code is one of
 * 0 to 3, and 2 comes with a message: anything else aborts. */
void command(struct said *s, const char *name, const char *const *words);
void said_free(struct said *s);

/* Prints what went wrong, and aborts. */
void bad(const char *what, const char *detail) __attribute__((noreturn));

/* A saved result, which must be one: it is held against the schema and
 * rendered in every form; what renderers make as JSON must be JSON. With
 * `strict` a document that is refused aborts. Returns whether it is one. */
bool look_at_document(const char *text, size_t len, bool strict);
/* `history` on a file in memory: its result is a document that verify does not
 * reject. `format` and `spec` (a path) may be NULL. */
void look_at_history(const void *data, size_t size, const char *format, const char *spec);

/* Checksums of a trace file's blocks made right, in place. */
void mend_trace(uint8_t *p, size_t size);

#endif
