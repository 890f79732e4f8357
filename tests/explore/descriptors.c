/* explore: find assertion
 * explore: says second == 'b'
 * explore: watched
 * Descriptors of every kind between threads, in memory that is restored: each run finds what the first one found (numbers of
 * descriptors, offsets of files, mappings). The bug: two that read from one socket each take the half of a pair. */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static int early, pair[2];
static char second;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void before_main(void)
{
	early = open("/proc/self/exe", O_RDONLY);
}

/* A file that was open before main: its offset is at the beginning in each run. */
static void files(void)
{
	char head[4], more[2][2];
	struct iovec v[2] = { { more[0], 2 }, { more[1], 2 } };
	struct stat st;
	assert(read(early, head, 4) == 4 && !memcmp(head, "\177ELF", 4));
	assert(pread(early, head, 3, 1) == 3 && !memcmp(head, "ELF", 3));
	assert(lseek(early, 0, SEEK_CUR) == 4 && lseek(early, 0, SEEK_SET) == 0);
	assert(readv(early, v, 2) == 4 && !memcmp(more[0], "\177E", 2) && !memcmp(more[1], "LF", 2));
	assert(preadv(early, v, 2, 2) == 4 && !memcmp(more[0], "LF", 2));
	assert(!fstat(early, &st) && st.st_size > 4 && !access("/proc/self/exe", R_OK));
	int null = open("/dev/null", O_WRONLY), copy = dup(null);
	assert(null > early && copy > null && write(copy, "x", 1) == 1);
	assert(!close(copy) && !close(null) && close(null) == -1 && errno == EBADF);
	assert(openat(AT_FDCWD, "/dev/null/none", O_RDONLY) == -1 && errno == ENOTDIR);
	int limit = fcntl(early, F_DUPFD_CLOEXEC, 100);
	assert(limit >= 100 && fcntl(limit, F_GETFD) == FD_CLOEXEC && !close(limit));
}

static void mappings(void)
{
	size_t n = 3 * 4096;
	char *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert(p != MAP_FAILED && !p[0] && !p[n - 1]);
	memset(p, 7, n);
	assert(!madvise(p + 4096, 4096, MADV_DONTNEED) && p[0] == 7 && !p[4096] && p[8192] == 7);
	assert(!mprotect(p, 4096, PROT_READ) && p[0] == 7 && !munmap(p, n));
	unsigned char random[16] = { 0 }, none[16] = { 0 };
	assert(getrandom(random, sizeof random, 0) == sizeof random && memcmp(random, none, sizeof none));
}

/* Nothing is there, something is there. */
static void waits(void)
{
	int e = eventfd(0, EFD_NONBLOCK);
	uint64_t n = 0;
	struct pollfd p = { e, POLLIN, 0 };
	assert(e >= 0 && read(e, &n, sizeof n) == -1 && errno == EAGAIN);
	assert(poll(&p, 1, 0) == 0 && poll(&p, 1, 2) == 0 && poll(NULL, 0, 1) == 0);
	n = 3;
	assert(write(e, &n, sizeof n) == sizeof n && poll(&p, 1, -1) == 1 && p.revents == POLLIN);
	assert(!eventfd_read(e, &n) && n == 3 && !eventfd_write(e, 1) && !close(e));
}

static void writes(void)
{
	struct iovec v = { "a", 1 };
	assert(writev(pair[0], &v, 1) == 1);
	assert(write(pair[0], "b", 1) == 1);
}

static void *reads(void *arg)
{
	char a = 0, b = 0;
	struct iovec v = { &b, 1 };
#ifdef FIXED
	pthread_mutex_lock(&m);
#endif
	assert(read(pair[1], &a, 1) == 1);
	assert(readv(pair[1], &v, 1) == 1);
#ifdef FIXED
	pthread_mutex_unlock(&m);
#endif
	pthread_mutex_lock(&m);
	second = b;
	pthread_mutex_unlock(&m);
	return arg;
}

int main(void)
{
	pthread_t t[2];
	files();
	mappings();
	waits();
	assert(!socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) && pair[0] > early);
	writes();
	writes();
	pthread_create(&t[0], NULL, reads, NULL);
	pthread_create(&t[1], NULL, reads, NULL);
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
	assert(second == 'b');
	return 0;
}
