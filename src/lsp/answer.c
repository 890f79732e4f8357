/* answer: messages to the client. */
#include <stdarg.h>
#include <string.h>

#include "base/invariant.h"
#include "lsp/server.h"

static struct json_out *begin(struct lsp *s)
{
	buf_clear(&s->message);
	json_out_init(&s->j, &s->message, true);
	json_begin_object(&s->j, NULL);
	json_text(&s->j, "jsonrpc", "2.0");
	return &s->j;
}

static void end(struct lsp *s)
{
	assert(s->j.out == &s->message && s->j.depth == 1);
	json_end(&s->j);
	json_out_end(&s->j);
	if (s->message.failed) { /* an answer that is too large for memory is left out: the stream stays whole */
		s->message.failed = false;
		return;
	}
	frame_write(&s->out, &s->message);
}

static void put_id(struct json_out *j, const json_t *id)
{
	if (json_is_integer(id))
		json_int(j, "id", json_integer_value(id));
	else if (json_is_string(id))
		json_text_n(j, "id", json_string_value(id), json_string_length(id));
	else
		json_nothing(j, "id");
}

struct json_out *reply_begin(struct lsp *s, const json_t *id)
{
	struct json_out *j = begin(s);
	put_id(j, id);
	return j;
}

void reply_end(struct lsp *s)
{
	end(s);
}

void reply_null(struct lsp *s, const json_t *id)
{
	json_nothing(reply_begin(s, id), "result");
	reply_end(s);
}

void reply_error(struct lsp *s, const json_t *id, enum lsp_error code, const char *fmt, ...)
{
	struct buf text;
	va_list ap;
	buf_init(&text);
	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	struct json_out *j = reply_begin(s, id);
	json_begin_object(j, "error");
	json_int(j, "code", code);
	json_text_buf(j, "message", &text);
	json_end(j);
	reply_end(s);
	buf_free(&text);
}

struct json_out *notify_begin(struct lsp *s, const char *method)
{
	assert(s->state != LSP_ENDED);
	struct json_out *j = begin(s);
	json_text(j, "method", method);
	json_begin_object(j, "params");
	return j;
}

struct json_out *request_begin(struct lsp *s, const char *method)
{
	struct json_out *j = begin(s);
	struct buf id;
	buf_init(&id);
	buf_printf(&id, "intact-%u", ++s->requests);
	json_text_buf(j, "id", &id);
	buf_free(&id);
	json_text(j, "method", method);
	json_begin_object(j, "params");
	return j;
}

void notify_end(struct lsp *s)
{
	json_end(&s->j);
	end(s);
}

void show_message(struct lsp *s, enum lsp_severity type, const char *fmt, ...)
{
	struct buf text;
	va_list ap;
	buf_init(&text);
	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	struct json_out *j = notify_begin(s, "window/showMessage");
	json_int(j, "type", type);
	json_text_buf(j, "message", &text);
	notify_end(s);
	buf_free(&text);
}

void put_position(struct json_out *j, const char *key, struct text_pos p)
{
	json_begin_object(j, key);
	json_uint(j, "line", p.line);
	json_uint(j, "character", p.unit);
	json_end(j);
}

void put_range(struct json_out *j, const char *key, const struct doc_text *t, struct span at)
{
	assert(at.start <= at.end);
	json_begin_object(j, key);
	put_position(j, "start", text_pos(t, at.start));
	put_position(j, "end", text_pos(t, at.end));
	json_end(j);
}

void put_location(struct json_out *j, const char *key, const struct document *d, struct span at)
{
	json_begin_object(j, key);
	json_text(j, "uri", d->uri);
	put_range(j, "range", &d->text, at);
	json_end(j);
}

const char *step_who(const struct intact_document *r, size_t answer, size_t step)
{
	const char *who = intact_step_thread(r, answer, step), *name = strstr(who, ": ");
	return name && !strncmp(who, "thread ", strlen("thread ")) ? name + 2 : who;
}
