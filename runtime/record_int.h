/*
 * record_int: between record.c (what is sent, and in which order), record_data.c
 * (about data and memory), and record_out.c (where to: shared memory or a file).
 */
#ifndef INTACT_RUNTIME_RECORD_INT_H
#define INTACT_RUNTIME_RECORD_INT_H

#include "event/record.h"
#include "event/record_stream.h"
#include "rt.h"

#pragma GCC visibility push(hidden)

extern struct rec_shm *rec_shm;
extern bool rec_to_file; /* no reader: it is written here */

/* The lock of the common ring. */
void rec_lock_wait(void);
static inline void rec_lock(void)
{
	uint32_t want = 0;
	if (!__atomic_compare_exchange_n(&rec_shm->lock, &want, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		rec_lock_wait();
}
static inline void rec_unlock(void)
{
	__atomic_store_n(&rec_shm->lock, 0, __ATOMIC_RELEASE);
}

/* All of these under the lock. One record into the common ring; so many bytes of
 * a slot's into the file; the file's block is written when it is large. */
void rec_plain(struct rec r);
void rec_file_plain(struct rec r);
void rec_file_span(uint32_t slot, uint64_t n);
void rec_file_look(void);
void rec_tell_all(void);
void rec_tell_of(uint32_t slot);
/* Takes the lock, unless it is held, for the rest of a lock event. */
void rec_alone(struct thread *t);
/* In a forked child: what was packed before is not known to its reader. */
void rec_restart(void);
void rec_text(uint32_t slot, unsigned what, const char *s);

void rec_stop(const char *why);
void rec_doze(long ns);
/* The reader of the records is slower: sleeps a moment, or ends the recording
 * if the reader is gone. `times`: that one has slept already. */
void rec_wait_for_reader(unsigned times);

/* ---- a slot's own bytes, written without the lock ---- */

/* Program counters that were new to a slot: for their names. */
void rec_note_pcs(struct recenc *e, unsigned kind);
/* The functions that were left and entered since the thread's last record, with
 * or without the lock; false when that cannot be said without. */
bool rec_tell_frames(struct rt_thread *th, bool locked);
/* The same without the lock, when likely one function was entered. */
bool rec_tell_frame(struct rt_thread *th);
/* As quick_at, after waiting or making room. */
unsigned char *rec_make_quick(struct rt_thread *th, bool locked);

static inline bool has_room(const struct rec_own *o, uint64_t n, uint64_t want)
{
	return n + want - __atomic_load_n(&o->taken, __ATOMIC_ACQUIRE) <= REC_OWN;
}

/* From before an object shows what a thread did to it until its note is there. */
static inline void note_begin(struct rec_own *o)
{
	__atomic_store_n(&o->seq, o->seq + 1, __ATOMIC_RELAXED);
	__asm__ volatile("" ::: "memory");
}

static inline void note_end(struct rec_own *o)
{
	__atomic_store_n(&o->seq, o->seq + 1, __ATOMIC_RELEASE);
}

/* Where the thread's next record goes, when there is nothing to wait or to make
 * room for; else NULL. */
static inline unsigned char *quick_at(const struct rt_thread *th)
{
	struct rec_own *o = th->own;
	if (unlikely(!th->own_end || o->n >= th->own_end))
		return NULL;
	return o->bytes + o->n % REC_OWN;
}

/* Is it in the same function as the thread's record before? */
static inline bool same_function(const struct rt_thread *th)
{
	return likely(th->t.top == th->told_top && th->t.top->node & FRAME_TOLD);
}

enum { AHEAD = 256 };

/* One or the other: what is written apart cannot be read as one soon after. */
static inline __attribute__((always_inline)) void rec_count(struct rec_own *o, unsigned kind)
{
	if (kind > REC_ATOMIC_WRITE)
		o->others++;
	else
		o->accesses++;
}

static inline __attribute__((always_inline)) void quick_put(struct rt_thread *th, unsigned char *s, unsigned kind, unsigned arg,
                                                            uint64_t addr, uint64_t pc)
{
	struct rec_own *o = th->own;
	struct recenc *e = th->enc;
	unsigned char *end = recenc_put(e, s, kind, arg, addr & REC_LOW, pc & REC_LOW);
	__asm__ volatile("prefetchw %0" : : "m"(s[AHEAD])); /* the reader has had that line */
	rec_count(o, kind);
	if (unlikely(e->nnews))
		rec_note_pcs(e, kind);
	__atomic_store_n(&o->n, o->n + (uint64_t)(end - s), __ATOMIC_RELEASE);
}

/* Without the lock: the recording knows the functions that the thread is in. When
 * some were only left, that is said here. */
static inline bool frames_told(struct rt_thread *th)
{
	struct frame *f = th->t.top;
	if (!(f->node & FRAME_TOLD))
		return rec_tell_frame(th);
	if (f == th->told_top)
		return true;
	uint32_t depth = (uint32_t)(f - th->t.frames);
	unsigned char *s = quick_at(th);
	if (unlikely(!s || depth >= 0x80))
		return rec_tell_frame(th);
	if (depth < th->told) {
		s[0] = RECORD_STREAM_LEAVE;
		s[1] = (unsigned char)depth; /* recenc_leave, of a small number */
		th->own->others++;
		__atomic_store_n(&th->own->n, th->own->n + 2, __ATOMIC_RELEASE);
		th->told = depth;
	}
	th->told_top = f;
	return true;
}

/* Where to write without the lock; NULL: it cannot be done. */
static inline unsigned char *note_at(struct rt_thread *th)
{
	if (!frames_told(th))
		return NULL;
	unsigned char *s = quick_at(th);
	return likely(s) ? s : rec_make_quick(th, false);
}

#pragma GCC visibility pop

#endif
