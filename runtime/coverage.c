/*
 * coverage: gcov's counters of the runtime itself. Only in builds with -Db_coverage=true (`make coverage`).
 *
 * A watched program may end by a signal, _exit or exec, and the explorer restores its memory; what libgcov writes at
 * exit would miss most of that. Instead coverage.ld puts all counters between two marks, and each process maps one
 * file over them, shared: every increment is in the file at once, and the explorer's snapshot passes over mappings
 * that are shared. A program started with INTACT_COVERAGE_DUMP=1 writes the sums as .gcda files and ends.
 */
#include <fcntl.h>
#include <gcov.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/rt.h"

enum { PAGE = 4096 };
__attribute__((section(".bss.intact_coverage_first"), aligned(PAGE))) static char first[PAGE];
__attribute__((section(".bss.intact_coverage_last"), aligned(PAGE))) static char last[PAGE];
extern const struct gcov_info *const __start_intact_gcov_info[], *const __stop_intact_gcov_info[];

static void open_file(const char *name, void *fd)
{
	*(long *)fd = syscall(SYS_openat, AT_FDCWD, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
}

static void put(const void *bytes, unsigned n, void *fd)
{
	for (long got; n && (got = syscall(SYS_write, *(long *)fd, bytes, n)) > 0; n -= (unsigned)got)
		bytes = (const char *)bytes + got;
}

static void *no_memory(unsigned n, void *fd)
{
	(void)n, (void)fd; /* asked for by counters of values alone, which -fprofile-arcs does not have */
	return NULL;
}

static void dump(void)
{
	for (const struct gcov_info *const *i = __start_intact_gcov_info; i < __stop_intact_gcov_info; i++) {
		long fd = -1;
		__gcov_info_to_gcda(*i, open_file, put, no_memory, &fd);
		syscall(SYS_close, fd);
	}
	syscall(SYS_exit_group, 0);
}

void rt_coverage_init(void)
{
	size_t bytes = (uintptr_t)last - (uintptr_t)first;
	uint64_t *counts = (uint64_t *)first;
	long fd = syscall(SYS_openat, AT_FDCWD, INTACT_COVERAGE_FILE, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	/* Only the first process makes the file: a later one may run with a limit on files' sizes. */
	if (fd < 0 || (syscall(SYS_lseek, fd, 0L, SEEK_END) != (long)bytes && syscall(SYS_ftruncate, fd, bytes)))
		return;
	uint64_t *shared = (uint64_t *)syscall(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0L);
	if ((uintptr_t)shared >= (uintptr_t)-PAGE)
		return;
	for (size_t i = 0; i < bytes / sizeof *counts; i++)
		__atomic_fetch_add(&shared[i], counts[i], __ATOMIC_RELAXED);
	syscall(SYS_mmap, first, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0L);
	syscall(SYS_munmap, shared, bytes);
	syscall(SYS_close, fd);
	const char *asked = rt_env("INTACT_COVERAGE_DUMP");
	if (asked && rt_same(asked, "1"))
		dump();
}
