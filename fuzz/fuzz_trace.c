/*
 * fuzz_trace: any bytes as a trace: STD, Intact's own (with its checksums
 * mended, so that the fuzzer gets past them), or compressed. Whatever can be
 * read goes through both algorithms, which must agree, and the predictions;
 * every cycle must be accepted by the independent checker.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dynamic/predict.h"
#include "dynamic/serial.h"
#include "event/order.h"
#include "event/reader.h"
#include "fuzz.h"
#include "verdict/verify_cycle.h"

#define MAX 4096

struct found {
	const struct event *ev;
	size_t n;
	uint64_t sum, count; /* of the begin events of violating blocks */
};

static void on_cycle(void *ctx, const struct cycle *c)
{
	struct found *f = ctx;
	uint32_t link;
	f->count++;
	f->sum += c->closing.block * c->closing.block;
	if (c->lost)
		return;
	struct cycle_judge *j = judge_new();
	if (!judge_want_cycle(j, c) || !judge_feed(j, f->ev, f->n) ||
	    judge_cycle(j, c, &link)) {
		fprintf(stderr, "fuzz_trace: a cycle is rejected\n");
		abort();
	}
	judge_free(j);
}

static void judge_all(struct event *ev, size_t n)
{
	struct found a = { .ev = ev, .n = n }, b = a;
	struct serial_opts oa = { .found = on_cycle, .ctx = &a }, ob = { .found = on_cycle, .ctx = &b };
	struct serial *s = serial_new(&oa);
	struct graph *g = graph_new(&ob);
	struct predict *p = predict_new(&(struct predict_opts){ .window = 64, .limit = 10 });
	if (serial_feed(s, ev, n) || graph_feed(g, ev, n) || !predict_feed(p, ev, n) ||
	    !predict_finish(p) || a.sum != b.sum || a.count != b.count) {
		fprintf(stderr, "fuzz_trace: the algorithms disagree\n");
		abort();
	}
	serial_free(s);
	graph_free(g);
	predict_free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct event all[MAX];
	char path[64];
	size_t n, have = 0;
	struct event *ev;
	int fd = memfd_create("trace", 0);
	uint8_t *copy = malloc(size + 1);
	memcpy(copy, data, size);
	mend_trace(copy, size);
	if (fd < 0 || write(fd, copy, size) != (ssize_t)size)
		abort();
	free(copy);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	struct trace_reader *r = trace_open(path, NULL, NULL);
	struct order *o = order_new(path, true, NULL, NULL);
	bool small = true; /* ids small enough to be array indices many times over */
	while (r && have < MAX && (n = trace_next(r, &ev))) {
		n = n < MAX - have ? n : MAX - have;
		memcpy(all + have, ev, n * sizeof *ev);
		if (order_check(o, all + have, n, trace_reader_names(r)) != n)
			abort();
		for (size_t i = 0; i < n; i++)
			small &= all[have + i].thread < 70000 && all[have + i].target < 70000;
		have += n;
	}
	if (small)
		judge_all(all, have);
	order_free(o);
	trace_close(r);
	close(fd);
	return 0;
}
