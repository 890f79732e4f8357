/*
 * heap: malloc under exploration.
 *
 * Addresses and the contents of new blocks must be the same whenever a thread
 * does the same: so each thread has a part of its own and takes from its end; a
 * block that was freed is not given out again, which also makes its later use
 * visible, until a thread has used FULL bytes. Memory is filled with a pattern
 * when it is given out, because it contains the last run's data.
 *
 * A block has 16 bytes in front: whose it is and its state, and its size in the
 * form that libc's malloc_usable_size reads (of a block that was mapped by
 * itself); x_heap_init tries whether this libc does.
 *
 * Large blocks come from a second area, zero from the kernel: their pages are
 * released at the restart.
 */
#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/invariant.h"
#include "runtime/explore/explorer.h"

extern void *__libc_realloc(void *, size_t);
extern void __libc_free(void *);

struct x_chunk {
	uint64_t state;
	uint64_t size; /* of the whole, and 2: see above */
};

enum { LARGE = 256 << 10, MAPPED = 2 };
#define FULL    (256ull << 20)
#define LIVE    0x6c69766500000000ull
#define FREED   0x6672656500000000ull
#define PATTERN 0xbebebebebebebebeull
#define HIGH    0xffffffff00000000ull

bool x_owns(const void *p)
{
	return (uintptr_t)p >= X_HEAP && (uintptr_t)p < X_MAPPED;
}

static struct x_chunk *chunk_of(void *p)
{
	assert(x_owns(p));
	return (struct x_chunk *)p - 1;
}

static size_t room_of(const struct x_chunk *c)
{
	assert(c->size > sizeof *c);
	return (size_t)(c->size & ~(uint64_t)MAPPED) - sizeof *c;
}

static unsigned class_of(size_t n) /* n: a multiple of 16, below 2048 */
{
	assert(n % 16 == 0 && n / 16 < X_CLASSES);
	return (unsigned)(n / 16);
}

static void fill(void *p, size_t n, uint64_t with)
{
	uint64_t words = n / 8;
	__asm__ volatile("rep stosq" : "+D"(p), "+c"(words) : "a"(with) : "memory");
}

static void *make(char *at, size_t room, uint64_t with)
{
	struct x_chunk *c = (struct x_chunk *)at;
	c->state = LIVE;
	c->size = (room + sizeof *c) | MAPPED;
	if (with != PATTERN + 1)
		fill(c + 1, room, with);
	return c + 1;
}

static void *no_memory(void)
{
	errno = ENOMEM;
	return NULL;
}

static void *large(struct x_heap *h, size_t room, size_t align)
{
	assert(align && !(align & (align - 1)) && h >= X.heap && h < X.heap + X_THREADS);
	uintptr_t at = ((uintptr_t)h->large + sizeof(struct x_chunk) + align - 1) & ~(uintptr_t)(align - 1);
	at -= sizeof(struct x_chunk);
	unsigned t = (unsigned)(h - X.heap);
	if (room >= X_LARGE_EACH || at + room + 64 > X_LARGE + (t + 1) * X_LARGE_EACH)
		return no_memory();
	h->large = (char *)((at + room + sizeof(struct x_chunk) + 4095) & ~(uintptr_t)4095);
	return make((char *)at, room, PATTERN + 1); /* zero */
}

static void *allocate(size_t n, size_t align, uint64_t with)
{
	assert(X.current < X_THREADS && !(align & (align - 1)));
	struct x_heap *h = &X.heap[X.current];
	if (n > (1ull << 40))
		return no_memory();
	size_t room = n ? (n + 15) & ~(size_t)15 : 16;
	if (room >= LARGE)
		return large(h, room, align < 16 ? 16 : align);
	if (unlikely(h->full) && room < 16 * X_CLASSES && align <= 16 && h->free[class_of(room)]) {
		struct x_chunk *c = h->free[class_of(room)];
		h->free[class_of(room)] = *(struct x_chunk **)(c + 1);
		x_objects_freed((uintptr_t)(c + 1), room, 0);
		x_forget((uintptr_t)(c + 1), room);
		return make((char *)c, room, with);
	}
	char *at = h->top;
	if (align > 16)
		at = (char *)((((uintptr_t)at + sizeof(struct x_chunk) + align - 1) & ~(uintptr_t)(align - 1)) -
		              sizeof(struct x_chunk));
	char *end = at + sizeof(struct x_chunk) + room;
	uintptr_t base = X_HEAP + (uintptr_t)X.current * X_HEAP_EACH;
	if ((uintptr_t)end > base + X_HEAP_EACH)
		return no_memory();
	h->top = end;
	h->full = (uintptr_t)end > base + FULL;
	return make(at, room, with);
}

/* In detail: where it was allocated is told. */
static NOINLINE void *told(void *p, size_t n, uintptr_t pc)
{
	if (p && X.active)
		x_tell_block((uintptr_t)p, n, pc);
	return p;
}

void *x_malloc(size_t n)
{
	void *p = allocate(n, 16, PATTERN);
	return unlikely(X.detail) ? told(p, n, CALLER) : p;
}

void *x_calloc(size_t n, size_t size)
{
	size_t bytes;
	if (__builtin_mul_overflow(n, size, &bytes))
		return no_memory();
	void *p = allocate(bytes, 16, 0);
	return unlikely(X.detail) ? told(p, bytes, CALLER) : p;
}

void *x_memalign(size_t align, size_t n)
{
	if (!align || align & (align - 1)) {
		errno = EINVAL;
		return NULL;
	}
	void *p = allocate(n, align, PATTERN);
	return unlikely(X.detail) ? told(p, n, CALLER) : p;
}

static NOINLINE void wrong(void *p, const struct x_chunk *c, uintptr_t pc)
{
	X.end_pc = pc;
	X.end_addr = (uintptr_t)p;
	if ((c->state & HIGH) == FREED)
		x_fail(CONTROL_MISUSE, "a block of memory is freed twice");
	x_fail(CONTROL_MISUSE, "free of an address that malloc did not return, or of a block whose header was overwritten");
}

void x_free(void *p, uintptr_t pc)
{
	if (!p)
		return;
	if (!x_owns(p)) { /* libc's own, from before the runtime came alive */
		if (!X.active)
			__libc_free(p);
		return;
	}
	struct x_chunk *c = chunk_of(p);
	if (unlikely((c->state & HIGH) != LIVE || !(c->size & MAPPED))) {
		if (!X.active)
			return;
		wrong(p, c, pc);
	}
	size_t room = room_of(c);
	if (X.active) {
		if (unlikely(X.tso) && x_buffer_since_drain((uintptr_t)p, room))
			x_drain(pc);
		x_free_point((uintptr_t)p, room, pc);
		if (unlikely((c->state & HIGH) != LIVE)) /* another thread was quicker */
			wrong(p, c, pc);
	}
	c->state = FREED;
	if (!X.active)
		return;
	bool objects = x_objects_freed((uintptr_t)p, room, pc);
	x_freed((uintptr_t)p, room, objects, pc);
	struct x_heap *h = &X.heap[X.current];
	if (unlikely(h->full) && room < 16 * X_CLASSES) {
		*(struct x_chunk **)p = h->free[class_of(room)];
		h->free[class_of(room)] = c;
	}
}

void *x_realloc(void *p, size_t n)
{
	if (!p)
		return x_malloc(n);
	if (!n) {
		x_free(p, CALLER);
		return NULL;
	}
	size_t old = malloc_usable_size(p);
	if (x_owns(p) && n <= old && n >= old / 2)
		return p;
	void *q = x_malloc(n);
	if (q) {
		rt_copy(q, p, old < n ? old : n);
		x_free(p, CALLER);
	}
	return q;
}

/* ---- beginning, saving ---- */

void x_heap_begin(unsigned t)
{
	assert(t < X_THREADS);
	struct x_heap *h = &X.heap[t];
	if (unlikely(h->full))
		for (unsigned i = 0; i < X_CLASSES; i++)
			h->free[i] = NULL;
	h->full = false;
	h->top = (char *)(X_HEAP + t * X_HEAP_EACH);
	char *large_lo = (char *)(X_LARGE + t * X_LARGE_EACH);
	if (unlikely(h->large > large_lo))
		x_sys(SYS_madvise, (long)large_lo, (long)(h->large - large_lo), MADV_DONTNEED, 0, 0, 0);
	h->large = large_lo;
}

static bool map(uintptr_t at, size_t size)
{
	return x_sys(SYS_mmap, (long)at, (long)size, PROT_READ | PROT_WRITE,
	             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0) == (long)at;
}

bool x_heap_init(void)
{
	if (!map(X_HEAP, X_THREADS * X_HEAP_EACH) || !map(X_LARGE, X_THREADS * X_LARGE_EACH))
		return false;
	for (unsigned i = 0; i < X_THREADS; i++)
		x_heap_begin(i);
	void *p = x_malloc(40);
	return p && malloc_usable_size(p) == 48;
}

/* What comes later begins on pages of its own, which are not saved. */
void x_heap_save(void)
{
	struct x_heap *h = &X.heap[0];
	h->top = (char *)(((uintptr_t)h->top + 4095) & ~(uintptr_t)4095);
	X.heap0 = *h;
}

void x_heap_restore(void)
{
	assert(X.heap0.top && X.heap[0].large >= X.heap0.large);
	struct x_heap *h = &X.heap[0];
	if (unlikely(h->large > X.heap0.large))
		x_sys(SYS_madvise, (long)X.heap0.large, (long)(h->large - X.heap0.large), MADV_DONTNEED, 0, 0, 0);
	if (unlikely(h->full))
		*h = X.heap0;
	h->top = X.heap0.top;
	h->large = X.heap0.large;
}
