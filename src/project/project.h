/*
 * project: the project file intact.toml: where it is, and its entries.
 *
 * It is looked for in the current directory and upwards, not above the root of a repository (a directory with .git). A
 * file above the current directory counts only when its owner is the user, root, or the owner of the current directory:
 * strangers' files in /tmp say nothing about a project. What its keys mean is decided where the option tables are
 * (cli/project_options.h).
 */
#ifndef INTACT_PROJECT_PROJECT_H
#define INTACT_PROJECT_PROJECT_H

#include <limits.h>
#include <stdbool.h>

#include "base/buf.h"
#include "project/toml.h"

#define PROJECT_FILE "intact.toml"

struct project {
	struct source src; /* its name is shown in messages */
	struct toml toml;
	char dir[PATH_MAX]; /* of the file; "" when it is the current one */
};

/* The path of the file that holds here, as it is shown: relative when it is in the current directory. False: there is none;
 * `err` gets a warning about a file that does not count. */
bool project_find(char path[PATH_MAX], struct buf *err);
/* Reads it. Messages and memory are in `d` and its arena; false when it cannot be read or has errors. */
bool project_read(struct project *p, const char *path, struct diags *d);

#endif
