/*
 * stack: call stacks as 32-bit ids: a tree of calling contexts.
 *
 * A node is a program counter and a parent; the path to the root is a stack,
 * innermost first. Equal stacks are equal ids, a stack costs one node beyond
 * the longest prefix already known. Node 0 is the root: the empty stack.
 *
 * A counter with STACK_MARK set is no return address: it says that the
 * function around it is active at this level, in case code without hooks lies
 * between it and what it called. The function is the one that was called, not
 * one inlined in it: compilers give entry hooks no place of their own, so that
 * they seem to lie in whatever inlined code is scheduled around them.
 *
 * Look-ups take no lock; insertions hold one of 64 spins, chosen by hash.
 * When the table is full, stack_push returns the parent: stacks get shorter,
 * nothing breaks.
 */
#ifndef INTACT_DYNAMIC_STACK_H
#define INTACT_DYNAMIC_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "dynamic/pages.h"
#include "event/finding.h"

#define STACK_MAX_NODES (1u << 20)

struct stack_node {
	uint64_t pc;
	uint32_t parent, next;
};

struct stack_tree {
	struct stack_node *nodes;
	uint32_t *heads;
	uint32_t n; /* nodes handed out, root included; may pass the capacity */
	struct spin lock[64];
};

bool stack_init(struct stack_tree *t);
void stack_free(struct stack_tree *t);
/* The stack `parent` with `pc` called innermost. */
uint32_t stack_push(struct stack_tree *t, uint32_t parent, uint64_t pc);
/*
 * The code at lo to hi is gone: its return addresses (lo excluded, hi included)
 * get `delta` added, which must lead where no code is, so that other code at the
 * same place has stacks of its own. Returns how many there were. For when no
 * thread runs there: ids stay, look-ups by the old addresses find nothing.
 */
uint32_t stack_move(struct stack_tree *t, uint64_t lo, uint64_t hi, uint64_t delta);
/* Writes at most `max` program counters, innermost first; returns how many. */
uint32_t stack_walk(const struct stack_tree *t, uint32_t id, uint64_t *pcs, uint32_t max);

#endif
