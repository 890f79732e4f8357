/*
 * random_object: a small random object, made from a seed: what its operations do, step by step. The object test executes it with
 * real atomics and locks, the brute force simulates it.
 */
#include <stdint.h>

enum { VARS = 2, OPS = 3, STEPS = 4, VALUES = 3 };
enum kind { LOAD, STORE, ADD, CAS, LOCK, UNLOCK, WAIT, POST }; /* WAIT, POST: of the semaphore */

struct step {
	enum kind kind;
	int var, value; /* STORE: value < 0 stores the accumulator; CAS: from the accumulator to value */
};

struct operation {
	int n;
	struct step step[STEPS];
};

struct object {
	struct operation op[OPS];
	int threads, each;          /* the scenario */
	int call[4][4];             /* operations */
	int semaphore;              /* its first value */
};

static uint64_t random_state;
static unsigned draw(unsigned n)
{
	random_state += 0x9e3779b97f4a7c15u;
	uint64_t z = random_state;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return (unsigned)((z ^ (z >> 31)) % n);
}

static struct step draw_step(int waits)
{
	struct step s = { (enum kind)draw(4), (int)draw(VARS), (int)draw(VALUES) };
	if (waits && draw(3) == 0)
		s.kind = draw(2) ? WAIT : POST;
	if (s.kind == STORE && draw(3) == 0)
		s.value = -1;
	return s;
}

static struct object make_object(uint64_t seed)
{
	struct object o;
	random_state = seed * 0x2545f4914f6cdd1du + 1;
	int waits = seed % 4 == 3; /* every fourth has a semaphore, so that calls may wait forever */
	o.semaphore = waits ? (int)draw(2) : 0;
	for (int i = 0; i < OPS; i++) {
		struct operation *p = &o.op[i];
		int locked = draw(3) == 0; /* one that holds the lock for all of it, or for a part */
		p->n = 0;
		if (locked)
			p->step[p->n++] = (struct step){ LOCK, 0, 0 };
		int body = 1 + (int)draw(2);
		for (int k = 0; k < body; k++)
			p->step[p->n++] = draw_step(waits);
		if (locked)
			p->step[p->n++] = (struct step){ UNLOCK, 0, 0 };
	}
	int shape = (int)draw(3);
	o.threads = shape == 2 ? 3 : 2;
	o.each = shape == 0 ? 2 : shape == 1 ? 2 : 1;
	for (int t = 0; t < o.threads; t++)
		for (int k = 0; k < o.each; k++)
			o.call[t][k] = (int)draw(OPS);
	return o;
}
