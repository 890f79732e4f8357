/*
 * token: locks that a program makes itself of a mutex and a condition.
 *
 *   take: lock m; while (!n) wait(c, m); n--; unlock m
 *   give: lock m; n++; signal c; unlock m        (or the signal after the unlock)
 *
 * A function that takes and gives back releases m in between, and others change n;
 * but that is all they do, and it is what n is for. So the two sections around such
 * a gap are recognised by what they do: the first reads and writes one word and
 * nothing else, and does not signal; the second writes that word and nothing else,
 * and signals. A section of another thread that only takes or gives back is then no
 * evidence: one that reads the word before it writes it, or ends what the same
 * thread took. (`busy = false` does not read. A thread that writes the word out of
 * turn, `n = 0`, is evidence; so is one that writes anything else under m.)
 *
 * What lies between is judged by what orders it: m hands over whatever the
 * token protects, and when several hold a token of a counting semaphore at once,
 * data they share is unprotected data as any.
 *
 * All this is looked at from the time on that a condition was waited for or
 * signalled with the lock (`monitor`). Before, the first word that a section writes
 * represents all it does, and is no evidence against what is taken and given back.
 * Who took is noted before, too: it may be given back when others wait for it.
 * So other locks cost next to nothing, and what is excused in error, the first time,
 * is judged the next.
 *
 * While the thread is in the second section, its finding is *unsettled*: it is
 * reported only if the program ends there. A signal that comes after the release
 * counts until the thread's next lock operation.
 */
#ifndef INTACT_DYNAMIC_TOKEN_H
#define INTACT_DYNAMIC_TOKEN_H

#include "dynamic/reduction.h"

/* Words are known by 32 bits of a hash. TOKEN_MANY: of a section, more than one; of
 * evidence, not known. */
enum { TOKEN_MANY = 1 };

/* The word of an access, by its first byte. */
static inline uint32_t token_word(uintptr_t addr, unsigned mask)
{
	uint64_t at = (addr & ~(uintptr_t)7) + (mask ? (unsigned)__builtin_ctz(mask) : 0);
	return (uint32_t)(at * 0x9e3779b97f4a7c15ull >> 32) | 2;
}

/* What the section takes; 0: it is no taking. */
static inline uint32_t token_taken(const struct held *h)
{
	return h->word > TOKEN_MANY && !h->blind && !h->signalled && !h->read ? h->word : 0;
}

/* What the section, of thread t on lock l, takes or gives back; 0: it does more, or
 * another thread took it. */
static inline uint32_t token_of(const struct thread *t, const struct lock *l, const struct held *h)
{
	if (!h->monitor)
		return TOKEN_MANY;
	return h->word > TOKEN_MANY && !h->read && (!h->blind || l->taker == t->uid) ? h->word : 0;
}

#endif
