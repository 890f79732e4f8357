/*
 * history_gen: large histories to measure with, as EDN on standard output.
 *
 *   history_gen N OBJECT VALUES VIOLATION [CLIENTS [CRASHES [SEED]]]
 *     OBJECT     register (client 0 writes), writers (all do), cas (all do,
 *                and compare and set), queue, stack, priority-queue
 *     VALUES     distinct, bit (registers only), or a number: so many values
 *                that are used again and again
 *     VIOLATION  none, middle, end: one answer made wrong there; with a number
 *                of values: middle, a read of a value that is not there and was
 *                not while it ran (which another order may explain); end, what
 *                nothing can explain, when everybody has finished
 *     CRASHES    so many of a thousand operations never answer
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
	int update; /* 2: cas */
	int clean; /* no write has overlapped it */
	int ok;    /* cas: it compared equal */
	long value, from;
	unsigned seen; /* few values: those held while it ran */
	uint32_t name; /* a new one after each crash */
};

static struct client cl[MAX_CLIENTS];
static long *items, nitems, first, next_value, held, before[64], nwrites, few, lost[32];
static char kind; /* r w c q s p */
static uint32_t names;

static int is_register(void)
{
	return kind == 'r' || kind == 'w' || kind == 'c';
}

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
	if (is_register()) {
		if (c->update == 2)
			c->ok = held == c->from;
		if (c->update == 1 || (c->update == 2 && c->ok)) {
			before[nwrites++ % 64] = held;
			held = c->value;
		} else if (!c->update) {
			c->value = held;
		}
		for (int i = 0; i < MAX_CLIENTS && few; i++)
			cl[i].seen |= 1u << held;
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

static const char *const in[] = { ['r'] = "write", ['w'] = "write", ['c'] = "write", ['q'] = "enqueue", ['s'] = "push", ['p'] = "insert" };
static const char *const out[] = { ['r'] = "read", ['w'] = "read", ['c'] = "read", ['q'] = "dequeue", ['s'] = "pop", ['p'] = "poll" };

static const char *op_name(const struct client *c)
{
	return c->update == 2 ? "cas" : c->update ? in[(int)kind] : out[(int)kind];
}

static void say(const struct client *c, const char *type, int value)
{
	printf("{:process %u, :type :%s, :f :%s, :value ", c->name, type, op_name(c));
	if (value && c->update == 2)
		printf("[%ld %ld]}\n", c->from, c->value);
	else if (value && c->value >= 0)
		printf("%ld}\n", c->value);
	else
		printf("nil}\n");
}

static void invoke(struct client *c, struct rng *r, int writer, int bit)
{
	c->update = kind == 'r' ? writer : kind == 'c' ? (int)rng_below(r, 3) : (int)rng_below(r, 2);
	long mixed = ++next_value;
	for (long k = mixed, b = 0; kind == 'p' && b < 29; b++, k >>= 1) /* its bits turned round */
		mixed = b ? mixed << 1 | (k & 1) : k & 1;
	c->value = c->update ? bit ? next_value & 1 : few ? (long)rng_below(r, (uint32_t)few) : mixed : 0;
	c->from = few ? (long)rng_below(r, (uint32_t)few) : held;
	c->state = 1;
	c->seen = few ? 1u << held : 0;
	say(c, "invoke", c->update);
}

/* The wrong answer: a value long overwritten, or never there. */
static int spoil(struct client *c, struct rng *r, int bit)
{
	if (c->update || (bit && !c->clean))
		return 0;
	if (few && is_register()) {
		long v = (long)rng_below(r, (uint32_t)few);
		if (c->seen >> v & 1)
			return 0;
		c->value = v;
	} else {
		c->value = !is_register() ? few ? (c->value + 1) % few : 1 << 29 : bit ? 1 - held : before[nwrites % 64];
	}
	return 1;
}

/* When everybody has finished: what nothing can explain. A register is written
 * and read as another value once more than operations that never answered
 * could have brought that one; a queue is emptied, with a value in its middle
 * made another one. */
static void wrong_end(void)
{
	struct client *c = &cl[0];
	long v = 1;
	for (long k = 2; k < few; k++)
		v = lost[k] < lost[v] ? k : v;
	for (long i = 0; i <= lost[v] && is_register(); i++) {
		c->update = 1;
		c->value = 0;
		say(c, "invoke", 1);
		say(c, "ok", 1);
		c->update = 0;
		say(c, "invoke", 0);
		c->value = v;
		say(c, "ok", 1);
	}
	for (long i = first; i < nitems && kind == 'q'; i++) {
		c->update = 0;
		say(c, "invoke", 0);
		c->value = i == first + (nitems - first) / 2 ? (items[i] + 1) % few : items[i];
		say(c, "ok", 1);
	}
}

int main(int argc, char **argv)
{
	if (argc < 5) {
		fputs("usage: history_gen N OBJECT distinct|bit|VALUES none|middle|end [CLIENTS [CRASHES [SEED]]]\n", stderr);
		return 2;
	}
	long n = atol(argv[1]), started = 0, done = 0;
	kind = argv[2][0];
	int bit = !strcmp(argv[3], "bit");
	few = atol(argv[3]) < 30 ? atol(argv[3]) : 30;
	int wrong_last = few && !strcmp(argv[4], "end");
	long wrong = !strcmp(argv[4], "middle") ? n / 2 : !strcmp(argv[4], "end") && !few ? n - n / 100 - 10 : -1;
	int clients = argc > 5 && atoi(argv[5]) > 0 && atoi(argv[5]) <= MAX_CLIENTS ? atoi(argv[5]) : 8;
	uint32_t crashes = argc > 6 ? (uint32_t)atoi(argv[6]) : 0;
	items = malloc(((size_t)n + 2) * sizeof *items);
	struct rng r;
	rng_seed(&r, argc > 7 ? (uint64_t)atol(argv[7]) : 7);
	static char buffer[1 << 20];
	setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
	for (int i = 0; i < clients; i++)
		cl[i].name = names++;
	while (done < n) {
		uint32_t p = rng_below(&r, (uint32_t)clients);
		struct client *c = &cl[p];
		if (c->state == 0) {
			if (started == n)
				continue;
			started++;
			invoke(c, &r, p == 0, bit);
			c->clean = cl[0].state == 0;
			for (int i = 0; i < clients && c->update; i++)
				cl[i].clean = 0;
		} else if (c->state == 1) {
			int crash = crashes && rng_below(&r, 1000) < crashes;
			if (!crash || rng_below(&r, 2)) /* else it never happens */
				effect(c);
			c->state = 2;
			if (crash) {
				say(c, "info", 0);
				lost[few && c->update ? c->value : 31]++;
				c->state = 0;
				c->name = names++;
				done++;
			}
		} else {
			if (wrong >= 0 && done >= wrong && spoil(c, &r, bit))
				wrong = -1;
			done++;
			c->state = 0;
			say(c, c->update == 2 && !c->ok ? "fail" : "ok", 1);
		}
	}
	if (wrong_last)
		wrong_end();
	free(items);
	return 0;
}
