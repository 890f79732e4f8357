#include "base/replace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static bool write_all(int fd, const char *p, size_t n)
{
	while (n) {
		ssize_t k = write(fd, p, n);
		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return false;
		p += k;
		n -= (size_t)k;
	}
	return true;
}

bool file_replace(const char *path, const struct buf *text)
{
	struct stat st;
	char *real = realpath(path, NULL), *tmp = NULL;
	bool ok = real && asprintf(&tmp, "%s.XXXXXX", real) > 0;
	int fd = ok && stat(real, &st) == 0 ? mkstemp(tmp) : -1;
	ok = fd >= 0 && write_all(fd, buf_cstr(text), text->len) && fchmod(fd, st.st_mode & 07777) == 0 && fsync(fd) == 0;
	if (ok && fchown(fd, st.st_uid, st.st_gid) != 0)
		errno = 0; /* someone else's file stays readable, but becomes ours */
	if (fd >= 0 && close(fd) != 0)
		ok = false;
	ok = ok && rename(tmp, real) == 0;
	int why = errno;
	if (!ok && fd >= 0)
		unlink(tmp);
	free(tmp);
	free(real);
	errno = why;
	return ok;
}
