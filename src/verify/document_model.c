#include "verify/document_model.h"

#include <string.h>

#include "report/check_json.h"
#include "report/doc.h"

enum { MAX_THREADS = 10000 };

/* Was any number of these asked about? */
static bool asked_any(const json_t *doc, const char *name)
{
	const json_t *any = json_object_get(json_object_get(doc, "asked"), "any"), *one;
	size_t i;
	json_array_foreach(any, i, one) if (json_is_string(one) && !strcmp(json_string_value(one), name)) return true;
	return false;
}

const char *document_model(struct lang *l, const json_t *doc, bool any)
{
	const json_t *m = json_object_get(doc, "model"), *text = json_object_get(m, "text");
	json_t *threads = json_object_get(m, "threads"), *n;
	const char *name;
	char hash[17];
	if (!json_is_string(text) || !json_is_object(threads))
		return "the result contains no model";
	text_hash(json_string_value(text), json_string_length(text), hash);
	if (strcmp(hash, doc_text(m, "hash")))
		return "the hash of its text does not match";
	struct lang_threads *counts = arena_array(&l->arena, struct lang_threads, json_object_size(threads) + 1);
	struct lang_options o = { .threads = counts, .sml = doc_is(m, "language", "sml"), .keep_dead = doc_is(m, "dead", "kept") };
	json_object_foreach(threads, name, n)
	{
		json_int_t count = json_integer_value(n);
		if (count < 1 || count > MAX_THREADS)
			return "a number of threads is out of range";
		counts[o.nthreads++] = (struct lang_threads){ name, (uint32_t)count, any && asked_any(doc, name) };
	}
	return lang_load_text(l, doc_text(m, "name"), json_string_value(text), json_string_length(text), &o)
	               ? NULL
	               : "it cannot be loaded";
}
