/*
 * litmus: executes a small litmus program, given as an argument, and adds its outcome to the set of outcomes in the file
 * LITMUS_OUT: shared memory that is mapped before main, so that it is left alone when a schedule begins again.
 *
 *   litmus 'Wx1r Ryr | Wy1r Rxr'
 *
 * Threads are separated by '|', instructions by spaces: what it is, where, the value if it writes, its order.
 *   W store, R load, X exchange (reads and writes), C compare-and-swap of 0 (reads; writes if it was 0),
 *   F fence (no location), M lock and unlock a mutex, A wait until it is not 0
 *   where: x y z, a variable of two bytes; xl xh, one of its bytes
 *   value: a digit, which is put into each byte
 *   order: r relaxed, a acquire or release, s seq_cst, p plain
 * The outcome is what was read, in order of threads and instructions, then the bytes of the variables.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { THREADS = 4, OPS = 8, OUTCOMES = 4096, BYTES = 48 };
struct out {
	uint32_t n, full;
	char text[OUTCOMES][2 * BYTES];
};
static struct out *out;

struct op {
	char what, part, order; /* part: 0 all, l, h */
	int at;
	uint16_t value, seen;
};
static struct op program[THREADS][OPS];
static int n_ops[THREADS], n_threads;
static union variable {
	uint16_t all;
	uint8_t byte[2];
	char line[64];
} variable[3] __attribute__((aligned(64)));
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void map_outcomes(void)
{
	const char *path = getenv("LITMUS_OUT");
	int fd = path ? open(path, O_RDWR | O_CREAT, 0600) : -1;
	if (fd < 0 || ftruncate(fd, sizeof *out))
		abort();
	out = mmap(NULL, sizeof *out, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
}

#define STORES(p, v)                                                        \
	switch (o->order) {                                                 \
	case 'p': *(p) = (v); break;                                        \
	case 'r': __atomic_store_n(p, v, __ATOMIC_RELAXED); break;          \
	case 'a': __atomic_store_n(p, v, __ATOMIC_RELEASE); break;          \
	default: __atomic_store_n(p, v, __ATOMIC_SEQ_CST);                  \
	}
#define LOADS(p)                                                            \
	switch (o->order) {                                                 \
	case 'p': o->seen = *(p); break;                                    \
	case 'r': o->seen = __atomic_load_n(p, __ATOMIC_RELAXED); break;    \
	case 'a': o->seen = __atomic_load_n(p, __ATOMIC_ACQUIRE); break;    \
	default: o->seen = __atomic_load_n(p, __ATOMIC_SEQ_CST);            \
	}
#define SWAPS(p, v)                                                         \
	switch (o->order) {                                                 \
	case 'r': o->seen = __atomic_exchange_n(p, v, __ATOMIC_RELAXED); break; \
	case 'a': o->seen = __atomic_exchange_n(p, v, __ATOMIC_ACQ_REL); break; \
	default: o->seen = __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);     \
	}

static void fence(char order)
{
	if (order == 's')
		atomic_thread_fence(memory_order_seq_cst);
	else if (order == 'a')
		atomic_thread_fence(memory_order_acq_rel);
}

static void execute(struct op *o)
{
	union variable *v = &variable[o->at];
	uint8_t *byte = &v->byte[o->part == 'h'], small = (uint8_t)o->value;
	uint16_t none = 0;
	switch (o->what) {
	case 'W':
		if (o->part) {
			STORES(byte, small);
		} else {
			STORES(&v->all, o->value);
		}
		break;
	case 'R':
		if (o->part) {
			LOADS(byte);
		} else {
			LOADS(&v->all);
		}
		break;
	case 'X':
		if (o->part) {
			SWAPS(byte, small);
		} else {
			SWAPS(&v->all, o->value);
		}
		break;
	case 'C':
		__atomic_compare_exchange_n(&v->all, &none, o->value, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
		o->seen = none;
		break;
	case 'A':
		while (!__atomic_load_n(&v->all, __ATOMIC_ACQUIRE))
			;
		break;
	case 'F':
		fence(o->order);
		break;
	default:
		pthread_mutex_lock(&m);
		pthread_mutex_unlock(&m);
	}
}

static void *thread(void *arg)
{
	long t = (long)arg;
	for (int i = 0; i < n_ops[t]; i++)
		execute(&program[t][i]);
	return NULL;
}

static void parse(const char *s)
{
	n_threads = 1;
	for (; *s; s++) {
		if (*s == ' ')
			continue;
		if (*s == '|') {
			n_threads++;
			continue;
		}
		if (n_threads > THREADS || n_ops[n_threads - 1] == OPS)
			abort();
		struct op *o = &program[n_threads - 1][n_ops[n_threads - 1]++];
		o->what = *s;
		if (o->what == 'M')
			continue;
		if (o->what != 'F') {
			o->at = *++s - 'x';
			if (s[1] == 'l' || s[1] == 'h')
				o->part = *++s;
			if (o->what != 'R' && o->what != 'A') {
				int digit = *++s - '0';
				o->value = (uint16_t)(o->part ? digit : digit * 0x101);
			}
		}
		o->order = *++s;
	}
}

static void tell(void)
{
	char text[2 * BYTES] = "";
	int n = 0;
	for (int t = 0; t < n_threads; t++)
		for (int i = 0; i < n_ops[t]; i++)
			if (strchr("RXC", program[t][i].what))
				n += snprintf(text + n, sizeof text - (size_t)n, program[t][i].part ? "%02x," : "%04x,", program[t][i].seen);
	for (int i = 0; i < 3; i++)
		n += snprintf(text + n, sizeof text - (size_t)n, "%04x", variable[i].all);
	for (uint32_t i = 0; i < out->n; i++)
		if (!strcmp(out->text[i], text))
			return;
	if (out->n == OUTCOMES)
		out->full = 1;
	else
		memcpy(out->text[out->n++], text, sizeof text);
}

int main(int argc, char **argv)
{
	pthread_t id[THREADS];
	parse(argc > 1 ? argv[1] : "");
	for (long t = 0; t < n_threads; t++)
		pthread_create(&id[t], NULL, thread, (void *)t);
	for (int t = 0; t < n_threads; t++)
		pthread_join(id[t], NULL);
	tell();
	return 0;
}
