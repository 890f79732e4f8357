/* toml_dump: a project file's entries as JSON, or its messages: for tests/differential/test_toml.py. */
#include <stdio.h>
#include <string.h>

#include "project/toml.h"

static void quoted(struct buf *out, const char *s)
{
	buf_json(out, s, strlen(s));
}

static void show(struct buf *out, const struct toml_entry *e)
{
	buf_str(out, "[");
	quoted(out, e->table);
	buf_str(out, ", ");
	quoted(out, e->key);
	buf_str(out, ", ");
	if (e->kind == TOML_STRING) {
		quoted(out, e->text);
	} else if (e->kind == TOML_INTEGER) {
		buf_printf(out, "%lld", (long long)e->number);
	} else if (e->kind == TOML_BOOLEAN) {
		buf_str(out, e->truth ? "true" : "false");
	} else {
		buf_char(out, '[');
		for (uint32_t i = 0; i < e->items.len; i++) {
			buf_str(out, i ? ", " : "");
			quoted(out, e->items.data[i].text);
		}
		buf_char(out, ']');
	}
	buf_str(out, "]");
}

int main(int argc, char **argv)
{
	struct arena a;
	struct diags d;
	struct source src;
	struct toml t;
	struct buf out;
	struct why why;
	for (int i = 1; i < argc; i++) {
		arena_init(&a, 0);
		diags_init(&d, &a);
		buf_init(&out);
		if (!source_read(&src, &a, argv[i], &why)) {
			fprintf(stderr, "%s: %s\n", argv[i], why.text);
			return 2;
		}
		bool ok = toml_read(&t, &src, &d);
		if (ok) {
			buf_str(&out, "[");
			for (uint32_t k = 0; k < t.entries.len; k++) {
				buf_str(&out, k ? ", " : "");
				show(&out, &t.entries.data[k]);
			}
			buf_str(&out, "]");
		} else {
			struct buf said;
			buf_init(&said);
			diags_render(&d, &said, false);
			quoted(&out, buf_cstr(&said));
			buf_free(&said);
		}
		printf("%s\n", buf_cstr(&out));
		buf_free(&out);
		arena_free(&a);
	}
	return 0;
}
