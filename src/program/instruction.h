/*
 * instruction: the length of an x86-64 instruction, and whether it is an atomic
 * access to memory. Enough to walk the code that compilers write; what is not known
 * ends the walk.
 */
#ifndef INTACT_PROGRAM_INSTRUCTION_H
#define INTACT_PROGRAM_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct instruction {
	uint32_t length; /* 0: not known, or longer than the n bytes given */
	bool atomic;     /* a lock prefix, or an exchange with memory; not on the stack (a fence) */
};

struct instruction instruction_at(const uint8_t *code, size_t n);

#endif
