/*
 * finding: what a watched program and the tool both know of a finding: the kinds, the operations and the marks in
 * stacks, and their names in the message that crosses from one to the other (dynamic/message.h writes it,
 * report/finding_parse.c reads it). A program may have been built with another version of Intact than the one that
 * watches it: the message begins with its version, and enumerations are names.
 */
#ifndef INTACT_EVENT_FINDING_H
#define INTACT_EVENT_FINDING_H

#include <stdint.h>

/* The first line of a message. The number is raised when older tools would misread what follows. */
#define FINDING_MESSAGE "INTACT "
#define FINDING_VERSION "2"
#define FINDING_HEADER  FINDING_MESSAGE FINDING_VERSION "\n"

enum finding_kind {
	FIND_LOCK,   /* a lock taken again after being released */
	FIND_RACE,   /* a racing read, then a write that relies on it */
	FIND_MARKED, /* a marked block that is not reducible */
	FIND_CYCLE,  /* a marked block on a cycle, though it may be reducible */
	/* Not about blocks (dynamic/hazards.h): all is in the parts. */
	FIND_DATA_RACE,       /* two accesses without an order */
	FIND_LOCK_ORDER,      /* threads that take locks in a circle */
	FIND_LOCK_DESTROYED,  /* destroyed while it is held, or used afterwards */
	FIND_UNLOCK_FOREIGN,  /* released by a thread that does not hold it; another one does */
	FIND_UNLOCK_UNLOCKED, /* ... no thread does */
	FIND_KINDS
};
#define FIND_HAZARD FIND_DATA_RACE /* the first of them */
#define FINDING_KIND_NAMES                                                                                                  \
	{                                                                                                                   \
		[FIND_LOCK] = "lock", [FIND_RACE] = "race", [FIND_MARKED] = "marked", [FIND_CYCLE] = "cycle",               \
		[FIND_DATA_RACE] = "data-race", [FIND_LOCK_ORDER] = "lock-order", [FIND_LOCK_DESTROYED] = "lock-destroyed", \
		[FIND_UNLOCK_FOREIGN] = "unlock-foreign", [FIND_UNLOCK_UNLOCKED] = "unlock-unlocked"                        \
	}

/* What a thread did in a part of such a finding. HOLD: it has the lock since there. */
enum part_op {
	PART_READ,
	PART_WRITE,
	PART_ATOMIC_READ,
	PART_ATOMIC_WRITE,
	PART_FREE,
	PART_HOLD,
	PART_ACQUIRE,
	PART_RELEASE,
	PART_DESTROY,
	PART_OPS
};
#define PART_OP_NAMES                                                                                                         \
	{                                                                                                                     \
		[PART_READ] = "read", [PART_WRITE] = "write", [PART_ATOMIC_READ] = "atomic-read",                             \
		[PART_ATOMIC_WRITE] = "atomic-write", [PART_FREE] = "free", [PART_HOLD] = "hold", [PART_ACQUIRE] = "acquire", \
		[PART_RELEASE] = "release", [PART_DESTROY] = "destroy"                                                        \
	}

enum finding_op { OP_RELEASE, OP_ACQUIRE, OP_READ, OP_WRITE, OP_ATOMIC, OP_WAIT, OP_JOIN, OP_ENTER, OP_KINDS };
#define FINDING_OP_NAMES                                                                                      \
	{                                                                                                     \
		[OP_RELEASE] = "release", [OP_ACQUIRE] = "acquire", [OP_READ] = "read", [OP_WRITE] = "write", \
		[OP_ATOMIC] = "atomic", [OP_WAIT] = "wait", [OP_JOIN] = "join", [OP_ENTER] = "enter"          \
	}

/* What the section after a gap does, the maximum of all its occurrences. */
enum uses {
	USES_READ, /* it only reads */
	USES_BACK, /* it writes first what an earlier section of the block wrote first: a
	               count, most often, that is given back */
	USES_WRITE,
	USES_KINDS
};
#define FINDING_USE_NAMES                                                          \
	{                                                                          \
		[USES_READ] = "read", [USES_BACK] = "back", [USES_WRITE] = "write" \
	}

/* What is known of a variable that a finding is about (dynamic/facts.h): of the block before and after the gap, and of
 * another thread's section. */
enum fact_side { FACT_BEFORE, FACT_AFTER, FACT_OTHER, FACT_SIDES };
enum fact_use { FACT_READ = 1, FACT_WRITE = 2, FACT_BLIND = 4 /* written without having been read on this side */ };

/* A thread that is known by its slot only (dynamic/shadow.h). */
#define RACE_SOMEONE UINT32_MAX

/* Bits of a program counter in a stack: see dynamic/stack.h. */
#define STACK_MARK    (1ull << 63)
/* A return address of a call through a pointer, made before the thread had done
 * anything that is judged: the called function may be the thread's first in all but
 * name (a trampoline in front of it). */
#define STACK_THROUGH (1ull << 62)
/* Innermost in a block's stack: the address after that of the first byte of the function
 * that the block is. It is inlined, and what debug information says of the place of its
 * entry may be about another one that is inlined there. */
#define STACK_NAME    (1ull << 61)
#define STACK_PC      (~(STACK_MARK | STACK_THROUGH | STACK_NAME))

#endif
