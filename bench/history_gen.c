/*
 * history_gen: large histories to measure with, as EDN on standard output.
 *
 *   history_gen N OBJECT VALUES VIOLATION [CLIENTS]
 *     OBJECT     register (client 0 writes), writers (all do), queue, stack,
 *                priority-queue
 *     VALUES     distinct, bit (registers only)
 *     VIOLATION  none, middle, end: one answer made wrong there
 *
 * Operations take effect at a random moment between invocation and response.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"

#define MAX_CLIENTS 64

struct client {
	int state; /* 0 idle, 1 invoked, 2 took effect */
	int update;
	int clean; /* no write has overlapped it */
	long value;
};

static struct client cl[MAX_CLIENTS];
static long *items, nitems, first, next_value, held, before[4];
static char kind; /* r w q s p */

static void heap_push(long v)
{
	long i = nitems++;
	for (; i > 0 && items[(i - 1) / 2] > v; i = (i - 1) / 2)
		items[i] = items[(i - 1) / 2];
	items[i] = v;
}

static long heap_pop(void)
{
	long top = items[0], v = items[--nitems], i = 0;
	for (;;) {
		long c = 2 * i + 1;
		if (c >= nitems)
			break;
		if (c + 1 < nitems && items[c + 1] < items[c])
			c++;
		if (items[c] >= v)
			break;
		items[i] = items[c];
		i = c;
	}
	items[i] = v;
	return top;
}

static void effect(struct client *c)
{
	if (kind == 'r' || kind == 'w') {
		if (c->update) {
			before[3] = before[2], before[2] = before[1], before[1] = before[0], before[0] = held;
			held = c->value;
		} else {
			c->value = held;
		}
		return;
	}
	if (c->update) {
		if (kind == 'p')
			heap_push(c->value);
		else
			items[nitems++] = c->value;
		return;
	}
	if (kind == 'q' ? first == nitems : nitems == 0)
		c->value = -1;
	else
		c->value = kind == 'q' ? items[first++] : kind == 's' ? items[--nitems] : heap_pop();
}

int main(int argc, char **argv)
{
	if (argc < 5) {
		fputs("usage: history_gen N OBJECT distinct|bit none|middle|end [CLIENTS]\n", stderr);
		return 2;
	}
	long n = atol(argv[1]), started = 0, done = 0;
	kind = argv[2][0] == 'p' ? 'p' : argv[2][0];
	int bit = !strcmp(argv[3], "bit");
	long wrong = !strcmp(argv[4], "middle") ? n / 2 : !strcmp(argv[4], "end") ? n - n / 100 - 10 : -1;
	int clients = argc > 5 ? atoi(argv[5]) : 8;
	static const char *const in[] = { ['r'] = "write", ['w'] = "write", ['q'] = "enqueue", ['s'] = "push", ['p'] = "insert" };
	static const char *const out[] = { ['r'] = "read", ['w'] = "read", ['q'] = "dequeue", ['s'] = "pop", ['p'] = "poll" };
	items = malloc(((size_t)n + 1) * sizeof *items);
	struct rng r;
	rng_seed(&r, 7);
	static char buffer[1 << 20];
	setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
	while (done < n) {
		uint32_t p = rng_below(&r, (uint32_t)clients);
		struct client *c = &cl[p];
		if (c->state == 0) {
			if (started == n)
				continue;
			started++;
			c->update = kind == 'r' ? p == 0 : (int)rng_below(&r, 2);
			long mixed = ++next_value;
			for (long k = mixed, b = 0; kind == 'p' && b < 29; b++, k >>= 1) /* its bits turned round */
				mixed = b ? mixed << 1 | (k & 1) : k & 1;
			c->value = c->update ? bit ? next_value & 1 : mixed : 0;
			c->state = 1;
			c->clean = cl[0].state == 0;
			for (int i = 0; i < clients && c->update; i++)
				cl[i].clean = 0;
			if (c->update)
				printf("{:process %u, :type :invoke, :f :%s, :value %ld}\n", p, in[(int)kind], c->value);
			else
				printf("{:process %u, :type :invoke, :f :%s, :value nil}\n", p, out[(int)kind]);
		} else if (c->state == 1) {
			effect(c);
			c->state = 2;
		} else {
			/* the wrong answer: a value long overwritten, or never there */
			if (wrong >= 0 && done >= wrong && !c->update && (!bit || c->clean)) {
				c->value = kind == 'r' || kind == 'w' ? bit ? 1 - held : before[3] : 1 << 29;
				wrong = -1;
			}
			done++;
			c->state = 0;
			if (c->value < 0)
				printf("{:process %u, :type :ok, :f :%s, :value nil}\n", p, out[(int)kind]);
			else
				printf("{:process %u, :type :ok, :f :%s, :value %ld}\n", p,
				       c->update ? in[(int)kind] : out[(int)kind], c->value);
		}
	}
	free(items);
	return 0;
}
