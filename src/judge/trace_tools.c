#include "base/invariant.h"
#include "judge/trace.h"

#include <string.h>

#include "base/console.h"
#include "base/json_out.h"
#include "event/order.h"
#include "report/trace_stats.h"

static bool ends_with(const char *s, const char *suffix)
{
	size_t n = strlen(s), m = strlen(suffix);
	return n >= m && !strcmp(s + n - m, suffix);
}

void trace_choose(const char *path, int to, int compress, struct writer_opts *o)
{
	assert(to >= 0 && to <= 2 && compress >= 0 && compress <= 3);
	bool zst = ends_with(path, ".zst"), gz = ends_with(path, ".gz");
	bool std = strstr(path, ".std") || strstr(path, ".txt") || !strcmp(path, "-");
	o->format = to == 1 || (to == 0 && std) ? FORMAT_STD : FORMAT_ITR;
	if (compress)
		o->codec = compress == 1 ? CODEC_NONE : compress == 2 ? CODEC_ZSTD : CODEC_GZIP;
	else if (o->format == FORMAT_ITR)
		o->codec = CODEC_ZSTD;
	else
		o->codec = zst ? CODEC_ZSTD : gz ? CODEC_GZIP : CODEC_NONE;
}

int trace_copy(const char *in, const char *to, const struct writer_opts *wo, struct msgs *m, uint64_t *events)
{
	struct trace_reader *r = trace_open(in, msgs_add, m);
	struct why why = { "" };
	struct event *ev;
	size_t n;
	if (!r)
		return EXIT_USAGE;
	struct trace_writer *w = writer_open(to, wo, trace_reader_names(r), &why);
	while (w && (n = trace_next(r, &ev)) && writer_put(w, ev, n))
		*events += n;
	bool ok = w && writer_close(w, &why);
	int rc = trace_failed(r) ? EXIT_USAGE : EXIT_HOLDS;
	trace_close(r);
	if (!ok) {
		buf_safe(m->err, to, strlen(to));
		buf_printf(m->err, ": error: cannot write: %s\n", why.text);
		rc = EXIT_USAGE;
	}
	return rc;
}

int trace_count_file(const char *file, bool json, uint32_t top, struct msgs *m, struct buf *out)
{
	struct trace_reader *r = trace_open(file, msgs_add, m);
	if (!r)
		return EXIT_USAGE;
	trace_lives(r, LIVES_REUSED);
	struct order *ord = order_new(file, true, NULL, NULL);
	struct trace_stats *s = stats_new();
	struct event *ev;
	size_t n;
	bool ok = ord && s;
	while (ok && (n = trace_next(r, &ev))) {
		const struct trace_names *t = trace_reader_names(r);
		ok = order_check(ord, ev, n, t) == n && stats_feed(s, ev, n);
	}
	bool failed = trace_failed(r);
	if (ok && !failed) {
		if (json) {
			struct json_out j;
			json_out_init(&j, out, true);
			json_begin_object(&j, NULL);
			json_text(&j, "schema", "intact-trace-stats-1");
			json_text(&j, "file", file);
			json_text(&j, "format", trace_reader_format(r) == FORMAT_STD ? "std" : "intact");
			json_text(&j, "compression", trace_reader_codec(r));
			json_bool(&j, "complete", !trace_damaged(r));
			stats_json(s, trace_reader_names(r), top, "stats", &j);
			json_end(&j);
			buf_char(out, '\n');
		} else {
			stats_text(s, trace_reader_names(r), top, out);
		}
	}
	if (!ok)
		buf_str(m->err, "intact trace stats: out of memory\n");
	stats_free(s);
	order_free(ord);
	trace_close(r);
	return failed ? EXIT_USAGE : ok ? EXIT_HOLDS : EXIT_UNKNOWN;
}
