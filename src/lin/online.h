/*
 * online: judging a history while it happens.
 *
 * Events come one at a time; what is kept depends on how many operations
 * overlap, not on how many there were. At every moment the monitor holds the
 * set of all configurations the object may be in: its state, which open
 * operations have already taken effect, and for those whose answer is not
 * known yet what the answer would be. When the set becomes empty, no order
 * exists whatever the open operations will answer: the violation is certain,
 * and it was not certain before.
 *
 * Representation: a configuration is a row of 32-bit words: the state, a mask
 * of the slots that took effect, and for each slot what it saw: a reader's
 * interned set of the states since its invocation, a changing operation's
 * state just before it took effect. Operations take effect as late as
 * possible, when a response asks for it. Rows that differ only in having used
 * more of the operations that will never answer, or in what their readers may
 * have seen when it is less, are dropped: what can happen from them on can
 * happen without them.
 */
#ifndef INTACT_LIN_ONLINE_H
#define INTACT_LIN_ONLINE_H

#include "lin/lin.h"
#include "history/spec.h"

struct slot {
	struct hop op;
	uint32_t id; /* the caller's number */
	bool used, crashed, observer;
};

struct online_rows {
	uint32_t *w;
	uint32_t n, cap;
};

struct online {
	struct limits *lim;
	struct spec_ctx obj, sets; /* states; sets of states */
	struct slot *slots;
	uint32_t nslots; /* a multiple of 8 */
	uint32_t nopen, ncrashed;
	struct online_rows cur, out;
	uint32_t *heads, nheads, *link, clink; /* of `out`: rows by hash */
	uint32_t *scratch;
	uint64_t steps;
	uint32_t peak;     /* rows at most */
	uint32_t max_rows; /* 0: no bound but lim */
	bool failed;       /* a limit was reached: ask lim */
	bool over;         /* the bound on rows: it cannot go on */
};

/* `user`: the specification when spec is user_spec (one without choices: an
 * answer that comes later must not tell states apart). */
bool online_open(struct online *o, const struct spec *spec, const struct values *vals, val init, uint32_t k, struct limits *lim,
                 const void *user);
void online_close(struct online *o);
/* An invocation; answers in op are not looked at. The slot, or RANK_INF. */
uint32_t online_call(struct online *o, const struct hop *op, uint32_t id);
/* The response, with the answer in op: 1 fine, 0 violated, -1 limit. */
int online_return(struct online *o, uint32_t slot, const struct hop *op);
/* It will never answer. */
int online_crash(struct online *o, uint32_t slot);
/* It answered that it did not happen. */
int online_fail(struct online *o, uint32_t slot);
/* Is one state possible, in which nothing that is open has taken effect, and
 * the open observations have seen no other? */
bool online_settled(const struct online *o, uint32_t *state);

#endif
