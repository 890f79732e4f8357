/*
 * record_int: between record.c (what is told, and in which order), and
 * record_out.c (where to: shared memory or a file).
 */
#ifndef INTACT_RUNTIME_RECORD_INT_H
#define INTACT_RUNTIME_RECORD_INT_H

#include "event/record.h"
#include "event/recstream.h"
#include "rt.h"

#pragma GCC visibility push(hidden)

extern struct rec_shm *rec_shm;
extern bool rec_to_file;    /* no reader: it is written here */

/* The lock of the common ring. */
void rec_lock_wait(void);
static inline void rec_lock(void)
{
	uint32_t want = 0;
	if (!__atomic_compare_exchange_n(&rec_shm->lock, &want, 1, 0, __ATOMIC_ACQUIRE,
	                                 __ATOMIC_RELAXED))
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
/* Takes the lock, unless it is held, for the rest of a lock event. */
void rec_alone(struct thread *t);
/* In a forked child: what was packed before is not known to its reader. */
void rec_restart(void);
void rec_text(uint32_t slot, unsigned what, const char *s);

void rec_stop(const char *why);
void rec_doze(long ns);
/* Whoever takes the records is slower: sleeps a moment, or ends the recording
 * when nobody is there. `times`: that one has slept already. */
void rec_wait_for_reader(unsigned times);

#pragma GCC visibility pop

#endif
