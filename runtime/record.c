/*
 * record: tells `intact run` what the analyses are told (event/record.h).
 *
 * With a parent that listens (record=-PID), records go through memory shared
 * with it: it is made here and its descriptor sent to the parent's socket, so
 * that no descriptor stays in the program and a forked child can do the same.
 * Without one (record=FILE) they are written to the file, sixteen bytes each.
 *
 * Every call of the analyses that is not about data of the thread's own is
 * made between rec_begin and rec_end, which hold the ring's lock. It is held
 * for tens of nanoseconds, except when the ring is full: then whoever wants it
 * sleeps. When the parent goes away or the disk is full the recording ends and
 * the program goes on.
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

#include "event/record.h"
#include "rt.h"

enum { FILE_BLOCK = 1 << 16, HEAD = 40 };

static struct rec_shm *shm;
static uint32_t forks;
static int reader;          /* pid of the one who takes; 0: a file */
static int file = -1;
static uint64_t filed;      /* records written to it */
static uint32_t crc_table[256];

static void stop(const char *why)
{
	rt.recording = false;
	rt_sayf("Intact: the recording ends here: %s\n", why);
}

/* ---- the file of a program that runs by itself ---- */

static uint32_t crc(uint32_t c, const void *data, size_t n)
{
	const unsigned char *p = data;
	c = ~c;
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

/* One block (event/itr.h): type RECORDS (5), or END (4) without records. */
static void file_block(bool end)
{
	uint64_t n = end ? 0 : shm->put - filed, at = filed % REC_RING;
	uint64_t first = n < REC_RING - at ? n : REC_RING - at;
	struct iovec v[3] = { { NULL, HEAD },
		              { &shm->ring[at], first * sizeof(struct rec) },
		              { shm->ring, (n - first) * sizeof(struct rec) } };
	uint32_t h[HEAD / 4] = { 0x4B4C4249, end ? 4 : 5, (uint32_t)n * 16, (uint32_t)n * 16 };
	uint64_t number = filed + !end;
	int keep = errno;
	if (!n && !end)
		return;
	h[4] = (uint32_t)number;
	h[5] = (uint32_t)(number >> 32);
	h[6] = (uint32_t)n;
	h[7] = crc(crc(0, v[1].iov_base, v[1].iov_len), v[2].iov_base, v[2].iov_len);
	h[9] = crc(0, h, 36);
	v[0].iov_base = h;
	if (!write_all(v, 3))
		stop(errno == ENOSPC ? "the disk is full" : "the file cannot be written");
	filed += n;
	__atomic_store_n(&shm->tail, filed, __ATOMIC_RELEASE);
	errno = keep;
}

/* ---- the ring ---- */

static void doze(long ns)
{
	struct timespec ts = { 0, ns };
	int keep = errno;
	syscall(SYS_nanosleep, &ts, NULL);
	errno = keep;
}

static NOINLINE void lock_wait(void)
{
	for (unsigned n = 0;; n++) {
		uint32_t want = 0;
		if (!__atomic_load_n(&shm->lock, __ATOMIC_RELAXED) &&
		    __atomic_compare_exchange_n(&shm->lock, &want, 1, 0, __ATOMIC_ACQUIRE,
		                                __ATOMIC_RELAXED))
			return;
		if (n < 100)
			__builtin_ia32_pause();
		else
			doze(n < 200 ? 20000 : 200000);
	}
}

static inline void lock_ring(void)
{
	uint32_t want = 0;
	if (!__atomic_compare_exchange_n(&shm->lock, &want, 1, 0, __ATOMIC_ACQUIRE,
	                                 __ATOMIC_RELAXED))
		lock_wait();
}

static inline void unlock_ring(void)
{
	__atomic_store_n(&shm->lock, 0, __ATOMIC_RELEASE);
}

/* The reader is slower; is it there at all? */
static void wait_for_reader(unsigned times)
{
	int keep = errno;
	if (times % 256 == 255 && reader && syscall(SYS_kill, reader, 0) && errno == ESRCH)
		stop("nobody listens any more");
	errno = keep;
	doze(200000);
}

static NOINLINE bool wait_for_room(void)
{
	for (unsigned n = 0; rt.recording; n++) {
		shm->room = __atomic_load_n(&shm->tail, __ATOMIC_ACQUIRE) + REC_RING;
		if (shm->put < shm->room)
			return true;
		if (file >= 0) {
			file_block(false);
			continue;
		}
		/* Only whole calls show: it may be this one that fills the ring. */
		__atomic_store_n(&shm->head, shm->put, __ATOMIC_RELEASE);
		wait_for_reader(n);
	}
	return false;
}

static inline void ring_put(struct rec r)
{
	uint64_t at = shm->put;
	if (unlikely(at >= shm->room) && !wait_for_room())
		return;
	shm->ring[at % REC_RING] = r;
	shm->put = at + 1;
}

/* What a thread noted comes here: told of, or with a file copied. */
static void tell(struct rec_own *o, uint64_t n)
{
	if (file < 0) {
		ring_put(rec_make(REC_SPAN, 0, n - o->told, (unsigned)(o - shm->own), 0));
	} else {
		for (uint64_t i = o->told; i < n; i++)
			ring_put(o->list[i % REC_OWN]);
		__atomic_store_n(&o->taken, n, __ATOMIC_RELEASE);
	}
	o->told = n;
}

static void tell_of(uint32_t slot)
{
	struct rec_own *o = &shm->own[slot];
	uint32_t seq = __atomic_load_n(&o->seq, __ATOMIC_ACQUIRE);
	for (unsigned k = 0; seq & 1 && __atomic_load_n(&o->seq, __ATOMIC_ACQUIRE) == seq; k++)
		if (k < 100)
			__builtin_ia32_pause();
		else
			doze(20000);
	uint64_t n = __atomic_load_n(&o->n, __ATOMIC_ACQUIRE);
	if (n != o->told)
		tell(o, n);
}

static void tell_all(void)
{
	for (uint32_t i = 1; i < rt.nslots; i++)
		tell_of(i);
}

/* Nothing is told twice: what a thread's last record left is known. */
static struct frame *told_below(const struct rt_thread *th)
{
	struct frame *f = th->t.top;
	while (f > th->t.frames && !(f->node & FRAME_TOLD))
		f--;
	return f;
}

static struct rec push_of(const struct rt_thread *th, const struct frame *f)
{
	bool inl = f > th->t.frames + 1 && red_inlined(f);
	return rec_make(REC_PUSH, inl ? REC_INLINED : 0, f->site, th->t.tid, f->pc);
}

/* Where the next of a thread's records goes: its own ring, or the common one. */
struct pen {
	struct rec_own *own;
	uint64_t n;
};

static inline void pen_put(struct pen *p, struct rec r)
{
	if (p->own)
		p->own->list[p->n++ % REC_OWN] = r;
	else
		ring_put(r);
}

/* The functions the thread has left and entered since its last record. */
static void put_frames(struct rt_thread *th, struct frame *f, struct pen *p)
{
	uint32_t keep = (uint32_t)(f - th->t.frames);
	unsigned left = 0;
	if (keep < th->told) {
		if (f < th->t.top && keep < REC_KEEP_MAX)
			left = (keep + 1) << 1;
		else
			pen_put(p, rec_make(REC_POP, 0, keep, th->t.tid, 0));
	}
	while (f < th->t.top) {
		struct rec r = push_of(th, ++f);
		r.a |= (uint64_t)left << 48;
		left = 0;
		pen_put(p, r);
		f->node |= FRAME_TOLD;
	}
	th->told = (uint32_t)(f - th->t.frames);
}

bool rec_begin(struct rt_thread *th)
{
	lock_ring();
	if (unlikely(!rt.recording)) {
		unlock_ring();
		return false;
	}
	th->t.acc.live = __atomic_load_n(&rt.live, __ATOMIC_RELAXED);
	struct rec_own *o = &shm->own[th->t.tid];
	if (o->n != o->told)
		tell(o, o->n);
	return true;
}

void rec_end(void)
{
	if (unlikely(shm->slots != rt.nslots))
		shm->slots = rt.nslots;
	__atomic_store_n(&shm->head, shm->put, __ATOMIC_RELEASE);
	if (unlikely(file >= 0) && shm->put - filed >= FILE_BLOCK && rt.recording)
		file_block(false);
	unlock_ring();
}

void rec_put(struct rt_thread *th, unsigned kind, unsigned arg, uint64_t addr, uint64_t pc)
{
	if (th->t.top != th->t.frames + th->told || !(th->t.top->node & FRAME_TOLD))
		put_frames(th, told_below(th), &(struct pen){ NULL, 0 });
	ring_put(rec_make(kind, arg, addr, th->t.tid, pc));
}

static void put_text(uint32_t slot, unsigned what, const char *s)
{
	size_t n = rt_length(s);
	if (n > REC_TEXT_MAX)
		n = REC_TEXT_MAX;
	ring_put(rec_make(REC_TEXT, what, n, slot, 0));
	for (size_t i = 0; i < n; i += 16) {
		struct rec r = { 0, 0 };
		rt_copy(&r, s + i, n - i < 16 ? n - i : 16);
		ring_put(r);
	}
}

/* ---- accesses ---- */

/* The thread's own ring is full: it waits, holding nothing. */
static NOINLINE void wait_for_own(struct rt_thread *th, struct rec_own *o, uint64_t want)
{
	if (!rec_begin(th)) /* it tells of what is there */
		return;
	rec_end();
	for (unsigned n = 0; rt.recording; n++) {
		if (o->n + want - __atomic_load_n(&o->taken, __ATOMIC_ACQUIRE) <= REC_OWN)
			return;
		wait_for_reader(n);
	}
}

/* A thread's own data, noted in its own ring. */
static inline bool note_own(struct rt_thread *th, uint64_t *c, uint64_t need, struct rec r,
                     bool write)
{
	struct rec_own *o = &shm->own[th->t.tid];
	struct frame *f = told_below(th);
	uint64_t n = o->n, want = (uint64_t)(th->t.top - f) + 2;
	if (unlikely(n + want - __atomic_load_n(&o->taken, __ATOMIC_ACQUIRE) > REC_OWN)) {
		if (want > REC_OWN / 2)
			return false;
		wait_for_own(th, o, want);
		if (!rt.recording)
			return false;
	}
	/* rt_own is one locked instruction: what stands before it in the program
	 * is seen by whoever sees the cell changed. */
	__atomic_store_n(&o->seq, o->seq + 1, __ATOMIC_RELAXED);
	__asm__ volatile("" ::: "memory");
	bool own = rt_own(th, c, need, write);
	__asm__ volatile("" ::: "memory");
	if (own) {
		struct pen p = { o, n };
		if (f != th->t.top || f != th->t.frames + th->told)
			put_frames(th, f, &p);
		o->list[p.n % REC_OWN] = r;
		__atomic_store_n(&o->n, p.n + 1, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&o->seq, o->seq + 1, __ATOMIC_RELEASE);
	return own;
}

/* The commonest of all, from the hook: signals stay out meanwhile. */
bool rec_note(struct rt_thread *th, uint64_t *c, uintptr_t addr, unsigned mask, bool write,
              uintptr_t pc)
{
	uint64_t need = write ? mask * 0x101 : mask << 8;
	if (th->busy || __atomic_load_n(c, __ATOMIC_RELAXED) >> CELL_TAG != CELL_EXCL)
		return false;
	th->busy = 1;
	__asm__ volatile("" ::: "memory");
	bool own = note_own(th, c, need, rec_make(write ? REC_WRITE : REC_READ, mask, addr,
	                                          th->t.tid, pc), write);
	__asm__ volatile("" ::: "memory");
	th->busy = 0;
	if (unlikely(th->pending))
		rt_deliver(th);
	return own;
}

/* Thread `th` is inside the runtime; the recording is on. */
void rec_access(struct rt_thread *th, uintptr_t addr, unsigned mask, bool write, uintptr_t pc)
{
	uint64_t *leaf = rt_dir[addr >> SHADOW_LEAF_BITS & rt_dir_mask];
	uint64_t *c = leaf + ((addr & ((1u << SHADOW_LEAF_BITS) - 1)) >> 3);
	bool atomic = th->t.acc.atomic;
	unsigned kind = (write ? REC_WRITE : REC_READ) | (atomic ? REC_ATOMIC_READ : 0u);
	uint64_t need = write ? mask * 0x101 : mask << 8;
	if (leaf && !atomic) {
		uint64_t w0 = __atomic_load_n(c, __ATOMIC_RELAXED);
		if (w0 >> CELL_TAG == CELL_READ && !write) {
			uint32_t locks = (uint32_t)__atomic_load_n(c + SHADOW_SECOND, __ATOMIC_RELAXED);
			if ((w0 & need) == need && (!locks || locks == th->t.acc.all)) {
				if (rec_read_known(th, need, addr))
					return;
				th->reads[(addr >> 3) % RT_READS] = rec_read_of(th, need, addr);
			}
		} else if (w0 >> CELL_TAG == CELL_EXCL &&
		           note_own(th, c, need, rec_make(kind, mask, addr, th->t.tid, pc), write)) {
			return;
		}
	}
	uint64_t was = 0;
	bool on = rec_begin(th);
	/* As the replay does: the ring may only have been full. */
	if (atomic || !leaf || !rt_own(th, c, need, write))
		red_access(&rt_dyn, &th->t, addr, mask, write, pc, &was);
	if (!on)
		return;
	uint32_t owner = (uint32_t)(was >> 48);
	if (was >> CELL_TAG == CELL_EXCL && owner && owner != th->t.tid)
		tell_of(owner);
	rec_put(th, kind, mask, addr, pc);
	rec_end();
}

/* Memory goes: what its owners noted of it comes before. */
void rec_forget(struct rt_thread *th, uintptr_t addr, size_t size)
{
	uintptr_t end = (addr + size) & ~(uintptr_t)7;
	if (size > 4096)
		tell_all();
	else
		for (uintptr_t at = (addr + 7) & ~(uintptr_t)7; at < end; at += 8) {
			uint64_t *c = shadow_cell(rt_dyn.shadow.dir, at);
			uint64_t w0 = c ? __atomic_load_n(c, __ATOMIC_RELAXED) : 0;
			uint32_t owner = (uint32_t)(w0 >> 48);
			if (w0 >> CELL_TAG == CELL_EXCL && owner && owner != th->t.tid)
				tell_of(owner);
		}
	rec_put(th, REC_FORGET, 0, addr, size);
}

void rec_mark(struct rt_thread *th, const char *name, uintptr_t pc)
{
	if (name)
		put_text(th->t.tid, REC_TEXT_MARK, name);
	rec_put(th, REC_MARK, name ? REC_NAMED : 0, 0, pc);
}

void rec_module(const struct rt_module *m)
{
	put_text(0, REC_TEXT_PATH, m->path);
	ring_put(rec_make(REC_MODULE, 0, m->lo, 0, m->hi));
	ring_put(rec_make(REC_MODULE, 1, m->base, 0, 0));
}

/* ---- beginning and end ---- */

static struct rec_shm *map_shared(long fd)
{
	int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED;
	long p = syscall(SYS_mmap, NULL, sizeof *shm, PROT_READ | PROT_WRITE, flags, fd, 0L);
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
	struct msghdr m = { .msg_name = &to, .msg_namelen = sizeof to, .msg_iov = &v,
		            .msg_iovlen = 1, .msg_control = &control,
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

/* Memory shared with whoever listens; false when there is nobody. */
static bool share(uint32_t parent)
{
	long fd = syscall(SYS_memfd_create, "intact-record", 1 /* MFD_CLOEXEC */);
	bool ok = fd >= 0 && !syscall(SYS_ftruncate, fd, (long)sizeof *shm);
	shm = ok ? map_shared(fd) : NULL;
	if (shm) {
		shm->pid = (uint32_t)rt.pid;
		shm->parent = parent;
		__atomic_store_n(&shm->magic, REC_MAGIC, __ATOMIC_RELEASE);
		ok = send_descriptor((int)fd);
	}
	if (fd >= 0)
		syscall(SYS_close, fd);
	if (shm && !ok)
		syscall(SYS_munmap, shm, sizeof *shm);
	return ok && shm;
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
	static const char magic[16] = "INTACTTR\1";
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
	shm = write_all(&v, 1) ? map_shared(-1) : NULL;
	return shm != NULL;
}

static void put_options(void)
{
	char text[64];
	rt_print(text, sizeof text, "%d %u %d", rt.pid, rt_dyn.history, rt.opt.report_loops);
	put_text(0, REC_TEXT_OPTIONS, text);
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
		rt_sayf("Intact: nothing is recorded: %s\n",
		        shared ? "nobody listens" : "the file cannot be written");
		errno = keep;
		return;
	}
	errno = keep;
	rt.recording = true;
	rt_dyn.reach.whole |= REACH_WHOLE;
	shm->room = REC_RING;
	put_options();
	__atomic_store_n(&shm->head, shm->put, __ATOMIC_RELEASE);
}

/* Before a fork: the child begins with all that is known here. Held until
 * rec_after_fork. */
bool rec_before_fork(struct rt_thread *th)
{
	if (!rt.recording || !rec_begin(th))
		return false;
	tell_all();
	forks++;
	rec_put(th, REC_FORK, 0, forks, 0);
	__atomic_store_n(&shm->head, shm->put, __ATOMIC_RELEASE);
	return true;
}

void rec_after_fork(bool child, int parent)
{
	if (!child) {
		unlock_ring();
		return;
	}
	struct rec_shm *old = shm;
	rt.recording = false;
	/* A file is the parent's alone. */
	if (parent && file < 0 && share((uint32_t)parent)) {
		rt.recording = true;
		shm->room = REC_RING;
		ring_put(rec_make(REC_FORKED, 0, forks, 0, (uint64_t)parent));
		put_options();
		__atomic_store_n(&shm->head, shm->put, __ATOMIC_RELEASE);
	}
	if (shm != old)
		syscall(SYS_munmap, old, sizeof *old);
}

/* The program ends: a file is completed. */
void rec_finish(void)
{
	if (!rt.recording || file < 0)
		return;
	lock_ring();
	tell_all();
	file_block(false);
	if (rt.recording)
		file_block(true);
	rt.recording = false;
	syscall(SYS_close, file);
	unlock_ring();
}
