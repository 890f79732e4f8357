/*
 * paths: where this program and its runtime are: beside each other in a build
 * tree, or bin/ and lib/intact/ when installed. INTACT_RUNTIME_DIR overrides.
 */
#ifndef INTACT_BASE_PATHS_H
#define INTACT_BASE_PATHS_H

#include <stdbool.h>
#include <stddef.h>

/* This executable's own path. */
bool self_path(char *out, size_t size);
/* The directory that holds libintact_rt.a. */
bool runtime_dir(char *out, size_t size);
/* Not a command's path, but an executable of the current directory: what ./NAME would mean. */
bool only_here(const char *name);
/* The file that a command name means. */
bool find_in_path(const char *name, char *out, size_t size);

#endif
