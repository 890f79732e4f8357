/*
 * bench_front: lines per second of the front end (text to validated program)
 * on generated models of growing size; the last column shows that the cost a
 * line stays the same.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/buf.h"
#include "base/rng.h"
#include "lang/lang.h"

static double cpu(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Threads of about 500 lines each: blocks, locks, loops, locals, arrays. */
static unsigned generate(struct buf *b, unsigned lines, uint64_t seed)
{
	struct rng r;
	rng_seed(&r, seed);
	unsigned n = 0;
	buf_str(b, "lock l[8];\nint[0..7] x[16];\nbool flag;\nint total;\n");
	buf_str(b, "proc bump(int[0..15] i) {\n  x[i] = (x[i] + 1) % 8;\n}\n");
	n += 7;
	for (unsigned t = 0; n < lines; t++) {
		buf_printf(b, "thread t%u {\n  int s = 0;\n", t);
		n += 2;
		for (unsigned k = 0; k < 50 && n < lines; k++) {
			unsigned lk = rng_below(&r, 8), v = rng_below(&r, 16);
			buf_printf(b, "  atomic block%u_%u {\n    acquire(l[%u]);\n", t, k, lk);
			buf_printf(b, "    int[0..7] t = x[%u];\n    s = s + t;\n", v);
			buf_printf(b, "    if (t > %u && flag) {\n      bump(%u);\n", rng_below(&r, 8), v);
			buf_printf(b, "    } else {\n      x[%u] = (t * 2 + 1) %% 8;\n    }\n", v);
			buf_printf(b, "    release(l[%u]);\n  }\n", lk);
			n += 11;
		}
		buf_str(b, "  total = s;\n}\n");
		n += 2;
	}
	return n;
}

int main(void)
{
	printf("%10s %10s %10s %14s %12s\n", "lines", "bytes", "CPU s", "lines/s", "ns/line");
	for (unsigned lines = 1000; lines <= 400000; lines *= lines == 100000 ? 4 : 10) {
		struct buf b;
		buf_init(&b);
		unsigned n = generate(&b, lines, 1);
		unsigned rounds = lines < 10000 ? 20 : 3;
		double best = 1e9;
		for (unsigned k = 0; k < rounds; k++) {
			struct lang l;
			struct lang_options o = { .sml = 0 };
			double t0 = cpu();
			lang_init(&l);
			bool ok = lang_load_text(&l, "generated.atm", b.data, b.len, &o);
			double sec = cpu() - t0;
			best = sec < best ? sec : best;
			if (!ok) {
				struct buf out;
				buf_init(&out);
				diags_render(&l.diags, &out, false);
				fputs(buf_cstr(&out), stderr);
				return 1;
			}
			lang_free(&l);
		}
		printf("%10u %10zu %10.4f %14.0f %12.0f\n", n, b.len, best, n / best, 1e9 * best / n);
		buf_free(&b);
	}
	return 0;
}
