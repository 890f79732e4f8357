#include "explore/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/invariant.h"

#define NAME_TRIES 100

bool scratch_fail(struct scratch *s, enum scratch_trouble t, int error)
{
	int fine = SCRATCH_FINE;
	assert(t != SCRATCH_FINE);
	if (__atomic_compare_exchange_n(&s->trouble, &fine, (int)t, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		s->error = error;
	return false;
}

const char *scratch_why(const struct scratch *s)
{
	switch (scratch_trouble(s)) {
	case SCRATCH_FINE:
		break;
	case SCRATCH_FULL:
		return "the limit --disk-size was reached";
	case SCRATCH_FAILED:
		return strerror(s->error);
	case SCRATCH_DAMAGED:
		return "a file is damaged: its checksum is wrong";
	case SCRATCH_MEMORY:
		return "out of memory";
	}
	return NULL;
}

/* A file without a name; where the file system has none, a name that is removed at once. */
static int create(const struct scratch *s)
{
	int fd = openat(s->dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	for (unsigned i = 0; fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EEXIST) && i < NAME_TRIES; i++) {
		char name[64];
		snprintf(name, sizeof name, "intact-%ld-%u.tmp", (long)getpid(), i);
		fd = openat(s->dir, name, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
		if (fd >= 0)
			unlinkat(s->dir, name, 0);
	}
	return fd;
}

bool scratch_write(struct scratch *s, struct scratch_file *f, const void *bytes, size_t n)
{
	if (scratch_trouble(s))
		return false;
	uint64_t used = __atomic_add_fetch(&s->used, n, __ATOMIC_RELAXED), most = __atomic_load_n(&s->most, __ATOMIC_RELAXED);
	while (used > most && !__atomic_compare_exchange_n(&s->most, &most, used, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	bool ok = !s->limit || used <= s->limit || scratch_fail(s, SCRATCH_FULL, 0);
	if (ok && f->fd < 0)
		ok = (f->fd = create(s)) >= 0 || scratch_fail(s, SCRATCH_FAILED, errno);
	for (size_t done = 0; ok && done < n;) {
		ssize_t k = pwrite(f->fd, (const char *)bytes + done, n - done, (off_t)(f->length + done));
		if (k < 0 && errno == EINTR)
			continue;
		ok = k > 0 || scratch_fail(s, SCRATCH_FAILED, k < 0 ? errno : ENOSPC);
		done += ok ? (size_t)k : 0;
	}
	f->length += n; /* counted, whether it is there or not: scratch_drop gives it back */
	return ok;
}

bool scratch_read(struct scratch *s, const struct scratch_file *f, void *bytes, size_t n, uint64_t offset)
{
	assert(offset + n <= f->length);
	for (size_t done = 0; done < n;) {
		ssize_t k = pread(f->fd, (char *)bytes + done, n - done, (off_t)(offset + done));
		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return k < 0 ? scratch_fail(s, SCRATCH_FAILED, errno) : scratch_fail(s, SCRATCH_DAMAGED, 0);
		done += (size_t)k;
	}
	return true;
}

void scratch_drop(struct scratch *s, struct scratch_file *f)
{
	assert(f->length <= s->used);
	if (f->fd >= 0)
		close(f->fd);
	__atomic_sub_fetch(&s->used, f->length, __ATOMIC_RELAXED);
	*f = (struct scratch_file){ .fd = -1 };
}
