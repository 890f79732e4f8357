/* replace: a file gets new contents by renaming a finished one over it: a reader sees the old text or the new one. */
#ifndef INTACT_BASE_REPLACE_H
#define INTACT_BASE_REPLACE_H

#include <stdbool.h>

#include "base/buf.h"

/* The permissions stay; a link is followed, so that it stays one. False: errno says why, and the file is as it was. */
bool file_replace(const char *path, const struct buf *text);

#endif
