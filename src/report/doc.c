#include "report/doc.h"

#include <string.h>

#include "report/embed.h"
#include "version.h"

void doc_begin(struct json_out *j, const char *kind, unsigned indent)
{
	json_begin_object(j, NULL);
	if (indent)
		json_line(j, indent);
	json_text(j, "intact", INTACT_VERSION);
	json_text(j, "schema", DOC_SCHEMA);
	json_text(j, "kind", kind);
}

void doc_results(struct json_out *j, const struct buf *results)
{
	json_begin_array(j, "results");
	json_line(j, 0);
	json_items(j, results);
	json_line(j, 0);
	json_end(j);
}

void doc_end(struct json_out *j)
{
	json_end(j);
	json_out_end(j);
	buf_char(j->out, '\n');
}

const char *doc_text(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));
	return s ? s : "";
}

const char *doc_safe(struct arena *a, const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));
	struct buf b;
	buf_init(&b);
	if (s)
		buf_safe(&b, s, strlen(s));
	const char *kept = s ? arena_strdup(a, buf_cstr(&b)) : NULL;
	buf_free(&b);
	return kept;
}

json_int_t doc_number(const json_t *o, const char *key)
{
	return json_integer_value(json_object_get(o, key));
}

bool doc_is(const json_t *o, const char *key, const char *text)
{
	return !strcmp(doc_text(o, key), text);
}

const char *doc_schema(size_t *len)
{
	*len = embed_schema_len;
	return (const char *)embed_schema;
}

/* Said before the schema is asked: what people get wrong first. */
static const char *not_a_document(const json_t *doc)
{
	if (!json_is_object(doc))
		return "a result is an object";
	if (!json_object_get(doc, "kind") || !json_object_get(doc, "schema"))
		return "this is not a result of intact (\"schema\" and \"kind\" are missing)";
	if (!doc_is(doc, "schema", DOC_SCHEMA))
		return "this result does not have the schema \"" DOC_SCHEMA "\"";
	return NULL;
}

json_t *doc_parse(const char *text, size_t len, struct buf *why)
{
	json_error_t err;
	if (len > DOC_MAX_BYTES) {
		buf_str(why, "the result is larger than 256 MiB");
		return NULL;
	}
	json_t *doc = json_loadb(text, len, JSON_REJECT_DUPLICATES, &err);
	if (!doc) {
		buf_printf(why, "%d:%d: error: not JSON: ", err.line, err.column);
		buf_safe(why, err.text, strlen(err.text));
		buf_str(why, "\n  hint: results are written by --json, as in 'intact check --json=RESULT.json MODEL'");
		return NULL;
	}
	const char *no = not_a_document(doc);
	json_t *schema = NULL;
	bool ok = false;
	if (no) {
		buf_str(why, no);
	} else if (!(schema = json_loadb((const char *)embed_schema, embed_schema_len, 0, &err))) {
		buf_str(why, "out of memory");
	} else {
		ok = schema_check(schema, doc, why);
	}
	json_decref(schema);
	if (!ok) {
		json_decref(doc);
		return NULL;
	}
	return doc;
}
