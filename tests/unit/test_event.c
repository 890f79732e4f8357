/*
 * Trace files: both formats written and read back, every kind of damage read
 * up to it and never past it, syntax errors placed, impossible orders named.
 */
#include "check.h"

#include <unistd.h>

#include "base/rng.h"
#include "event/itr.h"
#include "event/order.h"
#include "event/reader.h"
#include "event/record_pack.h"
#include "report/trace_stats.h"
#include "event/std.h"
#include "event/writer.h"

static char path[64];

struct heard {
	int errors, warnings;
	char code[64], text[256];
	uint64_t line, event;
	uint32_t col;
};

static void hear(void *ctx, const struct trace_msg *m)
{
	struct heard *h = ctx;
	if (m->error)
		h->errors++;
	else
		h->warnings++;
	snprintf(h->code, sizeof h->code, "%s", m->code ? m->code : "");
	snprintf(h->text, sizeof h->text, "%s", m->text);
	h->line = m->line;
	h->col = m->col;
	h->event = m->event;
	struct buf b;
	buf_init(&b);
	trace_msg_render(m, &b, false);
	CHECK(b.len > 0 && !b.failed);
	buf_free(&b);
}

static void spit(const void *data, size_t n)
{
	FILE *f = fopen(path, "wb");
	CHECK(f && fwrite(data, 1, n, f) == n);
	if (f)
		fclose(f);
}

static char *slurp(size_t *n)
{
	FILE *f = fopen(path, "rb");
	char *p = malloc(1 << 20);
	*n = f ? fread(p, 1, 1 << 20, f) : 0;
	if (f)
		fclose(f);
	return p;
}

/* The whole file as STD text. */
static char *as_text(struct heard *h, size_t *events)
{
	struct buf b;
	struct event *ev;
	size_t n;
	buf_init(&b);
	memset(h, 0, sizeof *h);
	*events = 0;
	struct trace_reader *r = trace_open(path, hear, h);
	while (r && (n = trace_next(r, &ev))) {
		for (size_t i = 0; i < n; i++) {
			CHECK_EQ(ev[i].index, *events + i + 1);
			std_print(&ev[i], trace_reader_names(r), false, &b);
		}
		*events += n;
	}
	if (r)
		CHECK_EQ(trace_failed(r), h->errors > 0);
	trace_close(r);
	char *s = strdup(buf_cstr(&b));
	buf_free(&b);
	return s;
}

static const char SAMPLE[] =
	"T1|begin(deposit)|a.c:10\n"
	"T1|acq(m)|1\n"
	"T1|r(a.very.long.variable.name)|2147483647\n"
	"T2|w(V1)|0\n"
	"T1|w(12345678)|\n"
	"T1|w(123456789)|7\n"
	"T1|rel(m)|3\n"
	"T1|fork(T3)|a.c:11\n"
	"T1|end(deposit)|a.c:12\n"
	"T3|r(V1)|2\n"
	"T1|begin|1\n"
	"T1|join(T3)|99\n"
	"T1|end|4\n";

/* Converts what is in `path` to what the options say, in place. */
static void rewrite(struct writer_opts o)
{
	char to[80];
	struct why why;
	struct event *ev;
	size_t n;
	snprintf(to, sizeof to, "%s.2", path);
	struct trace_reader *r = trace_open(path, NULL, NULL);
	struct trace_writer *w = writer_open(to, &o, trace_reader_names(r), &why);
	CHECK(w != NULL);
	while ((n = trace_next(r, &ev)))
		CHECK(writer_put(w, ev, n));
	CHECK(writer_close(w, &why));
	trace_close(r);
	CHECK_EQ(rename(to, path), 0);
}

static void test_round_trips(void)
{
	static const struct writer_opts ways[] = {
		{ .format = FORMAT_STD }, { .format = FORMAT_STD, .codec = CODEC_ZSTD },
		{ .format = FORMAT_STD, .codec = CODEC_GZIP }, { .format = FORMAT_ITR },
		{ .format = FORMAT_ITR, .codec = CODEC_ZSTD },
		{ .format = FORMAT_ITR, .codec = CODEC_ZSTD, .block_events = 2, .level = 9 },
	};
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
		for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
			struct heard h;
			size_t n;
			spit(SAMPLE, sizeof SAMPLE - 1);
			rewrite(ways[i]);
			rewrite(ways[k]);
			char *s = as_text(&h, &n);
			CHECK_STR(s, SAMPLE);
			CHECK_EQ(n, 13);
			CHECK_EQ(h.errors + h.warnings, 0);
			free(s);
		}
}

/* Names that are the same in STD, or the same anyway (two static variables of
 * one name), stay different objects. */
static void test_names_stay_apart(void)
{
	static const char *const vars[] = { "x|y", "x_y", "x y", "x_y~1", "", "_", "x\ny", "x", "x" };
	enum { N = sizeof vars / sizeof *vars };
	struct trace_names t;
	struct heard h;
	struct why why;
	size_t n, back = 0;
	trace_names_init(&t);
	names_add_safe(&t.ns[NS_LABEL], "", 0);
	for (size_t i = 0; i < N; i++)
		for (int ns = NS_THREAD; ns <= NS_LOCK; ns++)
			CHECK(names_append(&t.ns[ns], vars[i], strlen(vars[i])));
	for (int format = 0; format < 2; format++) {
		struct event ev[3 * N];
		size_t k = 0;
		for (uint32_t i = 0; i < N; i++) {
			ev[k++] = (struct event){ .index = 3 * i + 1, .thread = i, .target = i, .kind = EVENT_WRITE, .loc = LOC_NONE };
			ev[k++] = (struct event){ .index = 3 * i + 2, .thread = i, .target = i, .kind = EVENT_ACQ, .loc = 7 };
			ev[k++] = (struct event){ .index = 3 * i + 3, .thread = i, .target = i, .kind = EVENT_REL, .loc = 7 };
		}
		struct trace_writer *w = writer_open(path, &(struct writer_opts){ .format = format ? FORMAT_ITR : FORMAT_STD },
		                                     &t, &why);
		CHECK(w && writer_put(w, ev, k) && writer_close(w, &why));
		struct event *got;
		struct trace_reader *r = trace_open(path, hear, &h);
		CHECK(r != NULL);
		back = 0;
		while ((n = trace_next(r, &got)))
			for (size_t i = 0; i < n; i++, back++)
				CHECK(got[i].thread == ev[back].thread && got[i].target == ev[back].target &&
				      got[i].kind == ev[back].kind && got[i].loc == ev[back].loc);
		CHECK_EQ(back, k);
		trace_close(r);
	}
	trace_names_free(&t);
}

static void test_recorder_blocks(void)
{
	/* 16 bytes an event: names are lost, all else stays */
	struct heard h;
	size_t n;
	spit(SAMPLE, sizeof SAMPLE - 1);
	rewrite((struct writer_opts){ .format = FORMAT_ITR, .fixed = true });
	char *s = as_text(&h, &n);
	/* text places and labels need the tables: that block is refused */
	CHECK_EQ(n, 0);
	CHECK_EQ(h.warnings, 1);
	CHECK_STR(h.code, "damaged-trace");
	free(s);
	spit("a|begin|1\na|w(x)|2\nb|acq(m)|3\nb|w(y)|4\nb|rel(m)|5\na|fork(b)|6\na|end|7\n", 71);
	rewrite((struct writer_opts){ .format = FORMAT_ITR, .fixed = true });
	s = as_text(&h, &n);
	CHECK_STR(s, "T0|begin|1\nT0|w(0x0)|2\nT1|acq(0x0)|3\nT1|w(0x1)|4\nT1|rel(0x0)|5\n"
	             "T0|fork(T1)|6\nT0|end|7\n");
	CHECK_EQ(h.errors + h.warnings, 0);
	free(s);
	/* and through a converter into packed blocks: addresses stay */
	rewrite((struct writer_opts){ .format = FORMAT_ITR, .codec = CODEC_ZSTD });
	s = as_text(&h, &n);
	CHECK_EQ(n, 7);
	CHECK(strstr(s, "T1|w(0x1)|4\n") != NULL);
	free(s);
}

/* The versions before are read, one to come is refused with a word. */
static void test_versions(void)
{
	size_t size, n;
	struct heard h;
	spit(SAMPLE, sizeof SAMPLE - 1);
	rewrite((struct writer_opts){ .format = FORMAT_ITR, .codec = CODEC_ZSTD });
	char *whole = slurp(&size);
	for (char version = 0; version <= ITR_VERSION + 1; version++) {
		whole[8] = version;
		spit(whole, size);
		char *s = as_text(&h, &n);
		bool good = version == 1 || version == 2 || version == ITR_VERSION;
		CHECK_EQ(h.errors, !good);
		if (good)
			CHECK_STR(s, SAMPLE);
		else
			CHECK_STR(h.code, "bad-trace");
		free(s);
	}
	free(whole);
}

/* Every prefix of a file gives a prefix of its events and a warning. */
static void test_truncation(void)
{
	size_t size, n;
	struct heard h;
	spit(SAMPLE, sizeof SAMPLE - 1);
	rewrite((struct writer_opts){ .format = FORMAT_ITR, .codec = CODEC_ZSTD, .block_events = 3 });
	char *whole = slurp(&size);
	for (size_t cut = 1; cut < size; cut++) {
		spit(whole, cut);
		char *s = as_text(&h, &n);
		CHECK(!strncmp(s, SAMPLE, strlen(s)));
		if (cut < 8) /* not even the magic: taken for text */
			CHECK_EQ(h.errors, 1);
		else if (cut < ITR_HEADER)
			CHECK_STR(h.code, "bad-trace");
		else
			CHECK_STR(h.code, "damaged-trace");
		CHECK_EQ(n % 3 == 0 || n == 13, 1);
		free(s);
	}
	free(whole);
}

/* One wrong bit anywhere: a prefix and a warning, never other events. */
static void test_flipped_bits(void)
{
	size_t size, n;
	struct heard h;
	spit(SAMPLE, sizeof SAMPLE - 1);
	rewrite((struct writer_opts){ .format = FORMAT_ITR, .block_events = 4 });
	char *whole = slurp(&size);
	for (size_t bit = 0; bit < size * 8; bit++) {
		whole[bit / 8] = (char)(whole[bit / 8] ^ (1 << bit % 8));
		spit(whole, size);
		whole[bit / 8] = (char)(whole[bit / 8] ^ (1 << bit % 8));
		char *s = as_text(&h, &n);
		CHECK(!strncmp(s, SAMPLE, strlen(s)));
		if (bit / 8 < 12 || bit / 8 >= ITR_HEADER)
			CHECK_EQ(h.errors + h.warnings, 1);
		free(s);
	}
	free(whole);
}

/* Blocks whose checksums are right and whose contents are not. */
static void test_hostile_blocks(void)
{
	struct rng r;
	struct heard h;
	size_t size, n;
	rng_seed(&r, 11);
	spit(SAMPLE, sizeof SAMPLE - 1);
	rewrite((struct writer_opts){ .format = FORMAT_ITR, .block_events = 4 });
	char *whole = slurp(&size);
	char *copy = malloc(size);
	for (int round = 0; round < 3000; round++) {
		memcpy(copy, whole, size);
		for (uint32_t k = 0; k < 1 + rng_below(&r, 4); k++)
			copy[ITR_HEADER + rng_below(&r, (uint32_t)(size - ITR_HEADER))] =
				(char)rng_next(&r);
		/* mend the checksums, block by block, as far as the lengths go */
		for (size_t at = ITR_HEADER; at + ITR_HEAD <= size;) {
			struct itr_head head = { 0 };
			unsigned char *p = (unsigned char *)copy + at;
			uint32_t stored;
			memcpy(&stored, p + 8, 4);
			if (stored > size - at - ITR_HEAD)
				break;
			uint32_t crc = itr_crc(p + ITR_HEAD, stored);
			memcpy(p + 28, &crc, 4);
			crc = itr_crc(p, 36);
			memcpy(p + 36, &crc, 4);
			(void)itr_get_head(p, &head);
			at += ITR_HEAD + stored;
		}
		spit(copy, size);
		free(as_text(&h, &n));
	}
	free(copy);
	free(whole);
}

static void test_broken_compression(void)
{
	size_t size, n;
	struct heard h;
	for (int codec = CODEC_ZSTD; codec <= CODEC_GZIP; codec++) {
		spit(SAMPLE, sizeof SAMPLE - 1);
		rewrite((struct writer_opts){ .format = FORMAT_STD, .codec = (enum writer_codec)codec });
		char *whole = slurp(&size);
		for (size_t cut = 4; cut < size; cut++) {
			spit(whole, cut);
			char *s = as_text(&h, &n);
			CHECK(!strncmp(s, SAMPLE, strlen(s)));
			CHECK_EQ(h.errors, 0);
			/* only a checksum at the end may be missing unseen */
			CHECK(h.warnings == 1 || n == 13);
			free(s);
		}
		free(whole);
	}
}

static void bad(const char *text, const char *code, uint64_t line, uint32_t col)
{
	struct heard h;
	size_t n;
	spit(text, strlen(text));
	free(as_text(&h, &n));
	CHECK_EQ(h.errors, 1);
	CHECK_STR(h.code, code);
	CHECK_EQ(h.line, line);
	CHECK_EQ(h.col, col);
}

static void test_syntax_errors(void)
{
	bad("T1|w(x)|1\nT1\n", "no-operation", 2, 1);
	bad("# fine\n\n|w(x)|1", "no-thread", 3, 1);
	bad("T1|write_(x)|1\n", "unknown-operation", 1, 4);
	bad("T1|w|1\n", "no-target", 1, 4);
	bad("T1|w()|1\n", "no-target", 1, 4);
	bad("T1|w(x|1\n", "no-parenthesis", 1, 5);
	bad("T1|w(x)y|1\n", "no-parenthesis", 1, 5);
	bad("T1|w(x)|1|2\n", "trailing-text", 1, 10);
	bad("T1|begin x|1\n", "trailing-text", 1, 10);
	bad("\x7f" "ELF garbage", "no-operation", 1, 1);
	char *big = malloc(300000);
	memset(big, 'x', 300000);
	spit(big, 300000);
	struct heard h;
	size_t n;
	free(as_text(&h, &n));
	CHECK_STR(h.code, "line-too-long");
	memcpy(big, "T1|w(", 5);
	memcpy(big + 9000, ")|1\n", 4);
	spit(big, 9004);
	free(as_text(&h, &n));
	CHECK_STR(h.code, "name-too-long");
	free(big);
}

static void test_forms_people_write(void)
{
	struct heard h;
	size_t n;
	static const char text[] = " T1 | read( x ) | 12 \r\n\n# note\nT1|lock(m)|a b\n"
	                           "T1|unlock(m)\nT1|dummy|1\nT1|begin()|2\nT1|w(f(g)[0])|3";
	spit(text, sizeof text - 1);
	char *s = as_text(&h, &n);
	CHECK_STR(s, "T1|r(x)|12\nT1|acq(m)|a_b\nT1|rel(m)|\nT1|begin|2\nT1|w(f(g)[0])|3\n");
	CHECK_EQ(h.errors, 0);
	free(s);
	spit("", 0);
	s = as_text(&h, &n);
	CHECK_EQ(n + (size_t)h.errors, 0);
	free(s);
}

/* What order_check says about a trace: code of the last message, if any. */
static void order(const char *text, const char *code, bool error, uint64_t line)
{
	struct heard h = { 0 };
	struct event *ev;
	size_t n, good = 0, all = 0;
	spit(text, strlen(text));
	struct trace_reader *r = trace_open(path, hear, &h);
	struct order *o = order_new(path, false, hear, &h);
	while ((n = trace_next(r, &ev))) {
		good += order_check(o, ev, n, trace_reader_names(r));
		all += n;
	}
	CHECK_STR(h.code, code);
	CHECK_EQ(h.errors, error);
	CHECK_EQ(good == all, !error);
	if (*code)
		CHECK_EQ(h.line, line);
	order_free(o);
	trace_close(r);
}

static void test_impossible_orders(void)
{
	order("A|acq(m)|1\nB|acq(m)|2\n", "lock-held", true, 2);
	order("A|acq(m)|1\nB|rel(m)|2\n", "lock-not-held", true, 2);
	order("A|acq(m)|1\nA|rel(m)|2\nA|rel(m)|3\n", "lock-not-held", true, 3);
	order("A|fork(B)|1\nC|fork(B)|2\n", "forked-twice", true, 2);
	order("B|w(x)|1\nA|fork(B)|1\n", "forked-late", true, 2);
	order("A|fork(A)|1\n", "fork-self", true, 1);
	order("A|join(A)|1\n", "join-self", true, 1);
	order("A|w(x)|0\nA|join(B)|1\nB|w(x)|1\n", "after-join", true, 3);
	order("A|fork(B)|1\nB|end|2\n", "end-without-begin", true, 2);
	/* a past that was not recorded explains these */
	order("A|rel(m)|1\n", "lock-held-before", false, 1);
	order("A|w(x)|1\nA|end|2\n", "begun-before", false, 2);
	order("A|join(B)|1\n", "", false, 0);
	order("A|join(B)|1\nC|join(B)|1\n", "joined-twice", false, 2);
	order("B|begin|1\nA|join(B)|1\n", "joined-in-block", false, 2);
	/* and these are no fault at all */
	order("A|acq(m)|1\nA|acq(m)|1\nA|rel(m)|1\nA|rel(m)|1\nB|acq(m)|1\n", "", false, 0);
	order("A|begin|1\nA|begin|1\nA|end|1\n", "", false, 0);
}

static void test_inner_flags(void)
{
	static const char text[] = "A|begin|1\nA|begin|1\nA|acq(m)|1\nA|acq(m)|1\nA|rel(m)|1\n"
	                           "A|rel(m)|1\nA|end|1\nA|end|1\n";
	static const uint8_t want[] = { 0, 1, 0, 1, 1, 0, 1, 0 };
	struct event *ev;
	spit(text, sizeof text - 1);
	struct trace_reader *r = trace_open(path, NULL, NULL);
	struct order *o = order_new(path, false, NULL, NULL);
	size_t n = trace_next(r, &ev);
	CHECK_EQ(order_check(o, ev, n, trace_reader_names(r)), 8);
	for (size_t i = 0; i < n; i++)
		CHECK_EQ(ev[i].flags, want[i]);
	order_free(o);
	trace_close(r);
}

/* Random names of all lengths against what was written. */
static void test_many_names(void)
{
	struct rng r;
	struct buf b;
	struct heard h;
	size_t n;
	rng_seed(&r, 5);
	buf_init(&b);
	for (int i = 0; i < 20000; i++) {
		buf_printf(&b, "T%u|w(", rng_below(&r, 300));
		uint32_t len = 1 + rng_below(&r, 20);
		for (uint32_t k = 0; k < len; k++)
			buf_char(&b, (char)('a' + rng_below(&r, len < 4 ? 3 : 26)));
		buf_printf(&b, ")|%u\n", rng_below(&r, 2) ? rng_below(&r, 100) : 1000000 + rng_below(&r, 1u << 30));
	}
	spit(b.data, b.len);
	char *s = as_text(&h, &n);
	CHECK_EQ(n, 20000);
	CHECK(!strcmp(s, b.data));
	free(s);
	rewrite((struct writer_opts){ .format = FORMAT_ITR, .codec = CODEC_ZSTD, .block_events = 700 });
	s = as_text(&h, &n);
	CHECK(!strcmp(s, b.data));
	free(s);
	buf_free(&b);
}

static void test_stats(void)
{
	struct trace_stats *s = stats_new();
	struct buf b;
	struct event *ev;
	size_t n;
	buf_init(&b);
	spit(SAMPLE, sizeof SAMPLE - 1);
	struct trace_reader *r = trace_open(path, NULL, NULL);
	struct order *o = order_new(path, false, NULL, NULL);
	while ((n = trace_next(r, &ev))) {
		order_check(o, ev, n, trace_reader_names(r));
		CHECK(stats_feed(s, ev, n));
	}
	struct json_out j;
	json_out_init(&j, &b, true);
	stats_json(s, trace_reader_names(r), 2, NULL, &j);
	CHECK(strstr(b.data, "{\"events\":13,\"kinds\":{\"r\":2,\"w\":3,") == b.data);
	CHECK(strstr(b.data, "\"hot_variables\":[{\"name\":\"V1\",\"reads\":1,\"writes\":1,\"shared\":true}"));
	CHECK(strstr(b.data, "\"outermost\":2,\"nested\":0,\"deepest\":1,\"open_at_end\":0,\"events_in_ended_blocks\":11,\"longest\":8"));
	buf_free(&b);
	stats_free(s);
	order_free(o);
	trace_close(r);
}

/* Bit by bit, as it is defined. */
static uint32_t slow_crc(const unsigned char *p, size_t n)
{
	uint32_t c = ~0u;
	while (n--) {
		c ^= *p++;
		for (int k = 0; k < 8; k++)
			c = c & 1 ? 0xEDB88320u ^ c >> 1 : c >> 1;
	}
	return ~c;
}

static void test_checksum(void)
{
	unsigned char bytes[700];
	uint32_t x = 1;
	for (size_t i = 0; i < sizeof bytes; i++) {
		x = x * 1664525u + 1013904223u;
		bytes[i] = (unsigned char)(x >> 24);
	}
	CHECK_EQ(itr_crc("123456789", 9), 0xCBF43926);
	for (size_t from = 0; from < 17; from++)
		for (size_t n = 0; from + n <= sizeof bytes; n++)
			if (itr_crc(bytes + from, n) != slow_crc(bytes + from, n)) {
				CHECK_EQ(n, SIZE_MAX); /* this many bytes */
				return;
			}
}

int main(void)
{
	/* thousands of small files: in memory where there is such a place */
	snprintf(path, sizeof path, "%s/intact-event-XXXXXX",
	         access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	int fd = mkstemp(path);
	if (fd < 0)
		return 1;
	close(fd);
	RUN(test_round_trips);
	RUN(test_names_stay_apart);
	RUN(test_recorder_blocks);
	RUN(test_versions);
	RUN(test_truncation);
	RUN(test_flipped_bits);
	RUN(test_hostile_blocks);
	RUN(test_broken_compression);
	RUN(test_syntax_errors);
	RUN(test_forms_people_write);
	RUN(test_impossible_orders);
	RUN(test_inner_flags);
	RUN(test_many_names);
	RUN(test_stats);
	RUN(test_checksum);
	unlink(path);
	return check_done();
}
