/*
 * init: what a project needs to be built with the wrappers: which build system it has, the files that are to be written
 * (small ones of our own, never a change of a file that exists), and the commands that build and test it then.
 */
#ifndef INTACT_PROJECT_INIT_H
#define INTACT_PROJECT_INIT_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"

enum build_system { BUILD_AUTO, BUILD_CMAKE, BUILD_MESON, BUILD_AUTOTOOLS, BUILD_MAKE };
extern const char *const build_systems[]; /* names, ended by NULL; "auto" first */

struct init_file {
	const char *name, *text;
	const char *instead; /* when the file exists: what to add to it by hand; NULL: nothing is missing */
	bool exists;
};

struct init_plan {
	enum build_system system;
	const char *found; /* the file that told */
	struct init_file files[4];
	int nfiles;
	const char *commands[6]; /* ended by NULL */
};

/* Looks at a directory. False: none of the build systems was found, or not the one that was asked for. */
bool init_look(struct init_plan *p, enum build_system asked, const char *dir, struct arena *a);
/* Creates the files of the plan that do not exist; false when one cannot be written: `err` says why. Sets `exists` of those that
 * appeared meanwhile: they are not changed. */
bool init_write(struct init_plan *p, const char *dir, struct buf *err);

#endif
