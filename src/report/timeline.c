/*
 * timeline: Chrome's format is an object with "traceEvents"; a group is a process, a track a thread of it. Perfetto's is a
 * sequence of packets (perfetto/trace/trace_packet.proto: timestamp 8, sequence 10, track_event 11, flags 13, track_descriptor
 * 60), with the fields of TrackDescriptor (uuid 1, name 2, parent_uuid 5) and TrackEvent (debug_annotations 4, type 9,
 * track_uuid 11, categories 22, name 23). No value in it is zero, so the bytes contain no NUL.
 */
#include "report/timeline.h"

#include <string.h>

#include "base/invariant.h"

static const char *const groups[] = { "threads", "locks", "findings" };
enum { GROUPS = 3, SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3, SEQUENCE = 1 };

/* ---- Chrome ---------------------------------------------------------------------- */

static void chrome_event(struct timeline *t, const char *phase, enum timeline_group group, uint32_t id)
{
	json_line(&t->json, 1);
	json_begin_object(&t->json, NULL);
	json_text(&t->json, "ph", phase);
	json_uint(&t->json, "pid", (uint64_t)group + 1);
	json_uint(&t->json, "tid", (uint64_t)id + 1);
}

static void chrome_name(struct timeline *t, const char *what, enum timeline_group group, uint32_t id, const char *name)
{
	chrome_event(t, "M", group, id);
	json_text(&t->json, "name", what);
	json_begin_object(&t->json, "args");
	json_text(&t->json, "name", name);
	json_end(&t->json);
	json_end(&t->json);
}

static void chrome_at(struct timeline *t, const char *phase, enum timeline_group group, uint32_t id, uint64_t time,
                      const char *name, const char *detail)
{
	chrome_event(t, phase, group, id);
	json_uint(&t->json, "ts", time);
	if (name) {
		json_text(&t->json, "name", name);
		json_text(&t->json, "cat", groups[group]);
	}
	if (*phase == 'i')
		json_text(&t->json, "s", "t");
	if (detail) {
		json_begin_object(&t->json, "args");
		json_text(&t->json, "detail", detail);
		json_end(&t->json);
	}
	json_end(&t->json);
}

/* ---- Perfetto -------------------------------------------------------------------- */

static void varint(struct buf *b, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		buf_char(b, (char)(v | 0x80));
	buf_char(b, (char)v);
}

static void number(struct buf *b, uint32_t field, uint64_t v)
{
	assert(v);
	varint(b, (uint64_t)field << 3);
	varint(b, v);
}

static void bytes(struct buf *b, uint32_t field, const char *s, size_t n)
{
	varint(b, (uint64_t)field << 3 | 2);
	varint(b, n);
	buf_add(b, s, n);
}

static void text(struct buf *b, uint32_t field, const char *s)
{
	bytes(b, field, *s ? s : "?", *s ? strlen(s) : 1);
}

static uint64_t uuid(enum timeline_group group, uint32_t id)
{
	return ((uint64_t)group + 1) << 40 | ((uint64_t)id + 1);
}

/* A packet around a message; `time` 0: none. */
static void packet(struct timeline *t, uint64_t time, uint32_t field, const struct buf *message)
{
	struct buf p;
	buf_init(&p);
	if (time)
		number(&p, 8, time * 1000);
	number(&p, 10, SEQUENCE);
	bytes(&p, field, buf_cstr(message), message->len);
	bytes(t->out, 1, buf_cstr(&p), p.len);
	t->out->failed |= p.failed | message->failed;
	buf_free(&p);
}

static void descriptor(struct timeline *t, uint64_t id, uint64_t parent, const char *name)
{
	struct buf m;
	buf_init(&m);
	number(&m, 1, id);
	text(&m, 2, name);
	if (parent)
		number(&m, 5, parent);
	packet(t, 0, 60, &m);
	buf_free(&m);
}

static void track_event(struct timeline *t, uint64_t type, enum timeline_group group, uint32_t id, uint64_t time, const char *name,
                        const char *detail)
{
	struct buf m, note;
	buf_init(&m);
	buf_init(&note);
	if (detail) {
		text(&note, 10, "detail");
		text(&note, 6, detail);
		bytes(&m, 4, buf_cstr(&note), note.len);
	}
	number(&m, 9, type);
	number(&m, 11, uuid(group, id));
	if (name) {
		text(&m, 22, groups[group]);
		text(&m, 23, name);
	}
	m.failed |= note.failed;
	packet(t, time, 11, &m);
	buf_free(&m);
	buf_free(&note);
}

/* ---- both ------------------------------------------------------------------------ */

void timeline_begin(struct timeline *t, enum timeline_format format, struct buf *out)
{
	*t = (struct timeline){ .format = format, .out = out };
	if (format == TIMELINE_PERFETTO) {
		descriptor(t, 1, 0, TIMELINE_MARK);
		for (uint64_t g = 0; g < GROUPS; g++)
			descriptor(t, (g + 1) << 40, 1, groups[g]);
		return;
	}
	json_out_init(&t->json, out, true);
	json_begin_object(&t->json, NULL);
	json_begin_object(&t->json, "otherData");
	json_text(&t->json, "format", TIMELINE_MARK);
	json_text(&t->json, "unit", "one microsecond is one event of the trace");
	json_end(&t->json);
	json_line(&t->json, 0);
	json_text(&t->json, "displayTimeUnit", "ms");
	json_begin_array(&t->json, "traceEvents");
	for (uint32_t g = 0; g < GROUPS; g++)
		chrome_name(t, "process_name", (enum timeline_group)g, 0, groups[g]);
}

void timeline_end(struct timeline *t)
{
	if (t->format == TIMELINE_PERFETTO)
		return;
	json_line(&t->json, 0);
	json_end(&t->json);
	json_end(&t->json);
	json_out_end(&t->json);
	buf_char(t->out, '\n');
}

void timeline_track(struct timeline *t, enum timeline_group group, uint32_t id, const char *name)
{
	if (t->format == TIMELINE_PERFETTO)
		descriptor(t, uuid(group, id), ((uint64_t)group + 1) << 40, name);
	else
		chrome_name(t, "thread_name", group, id, name);
}

static void put(struct timeline *t, uint64_t type, enum timeline_group group, uint32_t id, uint64_t time, const char *name,
                const char *detail)
{
	static const char *const phases[] = { [SLICE_BEGIN] = "B", [SLICE_END] = "E", [INSTANT] = "i" };
	if (t->written++ >= TIMELINE_MAX && type != SLICE_END) {
		t->cut++;
		return;
	}
	if (t->format == TIMELINE_PERFETTO)
		track_event(t, type, group, id, time, name, detail);
	else
		chrome_at(t, phases[type], group, id, time, name, detail);
}

void timeline_open(struct timeline *t, enum timeline_group group, uint32_t id, uint64_t time, const char *name, const char *detail)
{
	put(t, SLICE_BEGIN, group, id, time, name, detail);
}

void timeline_close(struct timeline *t, enum timeline_group group, uint32_t id, uint64_t time)
{
	put(t, SLICE_END, group, id, time, NULL, NULL);
}

void timeline_instant(struct timeline *t, enum timeline_group group, uint32_t id, uint64_t time, const char *name,
                      const char *detail)
{
	put(t, INSTANT, group, id, time, name, detail);
}
