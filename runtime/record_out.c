/*
 * record_out: where a recording goes, its beginning and its end.
 *
 * With a listening parent (record=-PID), records are written to memory shared
 * with it: it is made here and its descriptor sent to the parent's socket, so
 * that no descriptor stays in the program and a forked child can do the same.
 * Without one (record=FILE) they are written to the file, packed but not
 * compressed, a block when there are 64 KB. If the parent exits or the disk
 * is full the recording ends and the program continues.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "record_int.h"

enum { FILE_BLOCK = 1 << 16, FILE_ROOM = FILE_BLOCK + REC_OWN + 64, HEAD = 40 };

struct rec_shm *rec_shm;
bool rec_to_file;
static uint32_t forks;
static int reader; /* pid of the one who takes; 0: a file */
static int file = -1;
static uint64_t blocks;     /* written to it */
static unsigned char *held; /* the next one */
static size_t nheld;
static uint32_t crc_table[256];

/* From here on no message says what is no longer only read: then `reads` end. */
static void record_no_more(void)
{
	rt.recording = false;
	__atomic_fetch_add(&rt.reads_era, 1, __ATOMIC_SEQ_CST);
}

void rec_stop(const char *why)
{
	record_no_more();
	rt_sayf("Intact: recording stopped: %s\n", why);
}

void rec_doze(long ns)
{
	struct timespec ts = { 0, ns };
	int keep = errno;
	syscall(SYS_nanosleep, &ts, NULL);
	errno = keep;
}

void rec_wait_for_reader(unsigned times)
{
	int keep = errno;
	if (times % 256 == 255 && reader && syscall(SYS_kill, reader, 0) && errno == ESRCH)
		rec_stop("the recording process has exited");
	errno = keep;
	rec_doze(200000);
}

/* ---- the file of a program that runs by itself ---- */

static uint32_t crc(const void *data, size_t n)
{
	const unsigned char *p = data;
	uint32_t c = ~0u;
	while (n--)
		c = crc_table[(c ^ *p++) & 0xff] ^ c >> 8;
	return ~c;
}

static bool write_all(struct iovec *v, int n)
{
	while (n) {
		long w = syscall(SYS_writev, file, v, n);
		if (w < 0 && errno == EINTR)
			continue;
		if (w <= 0)
			return false;
		while (n && (size_t)w >= v->iov_len) {
			w -= (long)v->iov_len;
			v++, n--;
		}
		if (n) {
			v->iov_base = (char *)v->iov_base + w;
			v->iov_len -= (size_t)w;
		}
	}
	return true;
}

/* One block (event/itr.h): type RECORDS (5) of STREAMS (2), or END (4). */
static void file_block(bool end)
{
	uint32_t n = end ? 0 : (uint32_t)nheld;
	uint32_t h[HEAD / 4] = { 0x4B4C4249, end ? 4 : 5 | 2 << 8, n, n };
	struct iovec v[2] = { { h, HEAD }, { held, n } };
	int keep = errno;
	if (!n && !end)
		return;
	blocks += !end;
	h[4] = (uint32_t)blocks;
	h[5] = (uint32_t)(blocks >> 32);
	h[6] = !end;
	h[7] = crc(held, n);
	h[9] = crc(h, 36);
	if (!write_all(v, n ? 2 : 1))
		rec_stop(errno == ENOSPC ? "the disk is full" : "the file cannot be written");
	nheld = 0;
	errno = keep;
}

void rec_file_look(void)
{
	if (nheld >= FILE_BLOCK && rt.recording)
		file_block(false);
}

void rec_file_plain(struct rec r)
{
	unsigned char *s = put_varint(put_varint(held + nheld, 1), 1);
	rt_copy(s, &r, sizeof r);
	nheld = (size_t)(s - held) + sizeof r;
}

/* A TEXT and its letters are one row: no block ends inside. */
static void file_text(struct rec r, const char *text)
{
	uint64_t letters = rec_letters(r);
	unsigned char *s = put_varint(put_varint(held + nheld, 1), 1 + letters);
	rt_copy(s, &r, sizeof r);
	rt_copy(s + sizeof r, text, rec_addr(r));
	for (uint64_t i = rec_addr(r); i < letters * 16; i++)
		s[sizeof r + i] = 0;
	nheld = (size_t)(s - held) + (1 + letters) * sizeof r;
	rec_file_look();
}

void rec_file_span(uint32_t slot, uint64_t n)
{
	struct rec_own *o = &rec_shm->own[slot];
	uint64_t at = o->taken % REC_OWN, first = n < REC_OWN - at ? n : REC_OWN - at;
	unsigned char *s = put_varint(put_varint(held + nheld, (uint64_t)slot << 1), n);
	rt_copy(s, &o->bytes[at], first);
	rt_copy(s + first, o->bytes, n - first);
	nheld = (size_t)(s - held) + n;
	__atomic_store_n(&o->taken, o->taken + n, __ATOMIC_RELEASE);
	rec_file_look();
}

void rec_text(uint32_t slot, unsigned what, const char *s)
{
	size_t n = rt_length(s);
	if (n > REC_TEXT_MAX)
		n = REC_TEXT_MAX;
	struct rec head = rec_make(REC_TEXT, what, n, slot, 0);
	if (rec_to_file) {
		file_text(head, s);
		return;
	}
	rec_plain(head);
	for (size_t i = 0; i < n; i += 16) {
		struct rec r = { 0, 0 };
		rt_copy(&r, s + i, n - i < 16 ? n - i : 16);
		rec_plain(r);
	}
}

/* ---- beginning and end ---- */

static struct rec_shm *map_shared(long fd)
{
	int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED;
	long p = syscall(SYS_mmap, NULL, sizeof *rec_shm, PROT_READ | PROT_WRITE, flags, fd, 0L);
	return p == -1 ? NULL : (struct rec_shm *)p;
}

static bool send_descriptor(int fd)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	char text[] = "INTACT-RECORD";
	struct iovec v = { text, sizeof text - 1 };
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { { 0 } };
	struct msghdr m = { .msg_name = &to,
		            .msg_namelen = sizeof to,
		            .msg_iov = &v,
		            .msg_iovlen = 1,
		            .msg_control = &control,
		            .msg_controllen = sizeof control };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	size_t len = rt_length(rt.opt.socket);
	if (!len || len >= sizeof to.sun_path)
		return false;
	rt_copy(to.sun_path, rt.opt.socket, len);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	rt_copy(CMSG_DATA(c), &fd, sizeof fd);
	long s = syscall(SYS_socket, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), r;
	if (s < 0)
		return false;
	do
		r = syscall(SYS_sendmsg, s, &m, MSG_NOSIGNAL);
	while (r < 0 && errno == EINTR);
	syscall(SYS_close, s);
	return r >= 0;
}

/* Memory shared with the listening process; false if there is none. */
static bool share(uint32_t parent)
{
	long fd = syscall(SYS_memfd_create, "intact-record", 1 /* MFD_CLOEXEC */);
	bool ok = fd >= 0 && !syscall(SYS_ftruncate, fd, (long)sizeof *rec_shm);
	rec_shm = ok ? map_shared(fd) : NULL;
	if (rec_shm) {
		rec_shm->pid = (uint32_t)rt.pid;
		rec_shm->parent = parent;
		rec_shm->room = REC_RING;
		__atomic_store_n(&rec_shm->magic, REC_MAGIC, __ATOMIC_RELEASE);
		ok = send_descriptor((int)fd);
	}
	if (fd >= 0)
		syscall(SYS_close, fd);
	if (rec_shm && !ok)
		syscall(SYS_munmap, rec_shm, sizeof *rec_shm);
	return ok && rec_shm;
}

/* The file, or FILE.PID when another program that was told the same writes it. */
static int open_alone(const char *path)
{
	char other[4096 + 16];
	int fd = (int)syscall(SYS_open, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (fd >= 0 && syscall(SYS_flock, fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) {
		syscall(SYS_close, fd);
		if (rt_length(path) > 4096)
			return -1;
		rt_print(other, sizeof other, "%s.%d", path, rt.pid);
		fd = (int)syscall(SYS_open, other, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	}
	if (fd >= 0)
		syscall(SYS_ftruncate, fd, 0L);
	return fd;
}

static bool open_file(const char *path)
{
	static const char magic[16] = "INTACTTR\4";
	struct iovec v = { (void *)(uintptr_t)magic, sizeof magic };
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t c = i;
		for (int k = 0; k < 8; k++)
			c = c & 1 ? 0xEDB88320u ^ c >> 1 : c >> 1;
		crc_table[i] = c;
	}
	file = open_alone(path);
	if (file < 0)
		return false;
	/* Out of the way of a program that counts on low numbers. */
	long high = syscall(SYS_fcntl, file, F_DUPFD_CLOEXEC, 500);
	if (high >= 0) {
		syscall(SYS_close, file);
		file = (int)high;
	}
	held = write_all(&v, 1) ? pages_map(FILE_ROOM) : NULL;
	rec_shm = held ? map_shared(-1) : NULL;
	rec_to_file = true;
	return rec_shm != NULL;
}

static void put_options(void)
{
	char text[64];
	rt_print(text, sizeof text, "%d %u %d %d %d", rt.pid, rt_dyn.history, rt.opt.report_loops, rt_dyn.races.dir != NULL,
	         rt_dyn.order.edges != NULL);
	rec_text(0, REC_TEXT_OPTIONS, text);
}

void rec_init(void)
{
	const char *to = rt.opt.record;
	bool shared = *to == '-';
	int keep = errno;
	if (!*to)
		return;
	for (to++; shared && *to >= '0' && *to <= '9'; to++)
		reader = reader * 10 + (*to - '0');
	if (shared ? !share(0) : !open_file(rt.opt.record)) {
		rt_sayf("Intact: not recording: %s\n", shared ? "no process is listening" : "the file cannot be written");
		errno = keep;
		return;
	}
	errno = keep;
	rt.reads_era = 1;
	rt.recording = true;
	rt_dyn.reach.whole |= REACH_WHOLE;
	rt_dyn.alone = rec_alone;
	put_options();
	__atomic_store_n(&rec_shm->head, rec_shm->put, __ATOMIC_RELEASE);
}

/* Before a fork: the child begins with all that is known here. Held until
 * rec_after_fork. */
bool rec_before_fork(struct rt_thread *th)
{
	if (!rt.recording || !rec_begin(th))
		return false;
	rec_tell_all();
	rec_put(th, REC_FORK, 0, ++forks, 0);
	rec_tell_all();
	__atomic_store_n(&rec_shm->head, rec_shm->put, __ATOMIC_RELEASE);
	return true;
}

void rec_after_fork(bool child, int parent)
{
	if (!child) {
		rec_unlock();
		return;
	}
	struct rec_shm *old = rec_shm;
	record_no_more();
	/* A file is the parent's alone. */
	if (parent && !rec_to_file && share((uint32_t)parent)) {
		rec_restart();
		rt.recording = true;
		rec_plain(rec_make(REC_FORKED, 0, forks, 0, (uint64_t)parent));
		put_options();
		__atomic_store_n(&rec_shm->head, rec_shm->put, __ATOMIC_RELEASE);
	}
	if (rec_shm != old)
		syscall(SYS_munmap, old, sizeof *old);
}

/* The program ends: a file is completed. */
void rec_finish(void)
{
	if (!rt.recording || !rec_to_file)
		return;
	rec_lock();
	rec_tell_all();
	file_block(false);
	if (rt.recording)
		file_block(true);
	record_no_more();
	syscall(SYS_close, file);
	rec_unlock();
}
