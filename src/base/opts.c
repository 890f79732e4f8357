#include "base/opts.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/invariant.h"

static bool is_option(const struct opt *t)
{
	return t->kind != OPT_GROUP;
}

static const struct opt *find_long(const struct opt *t, const char *name, size_t len)
{
	for (; t->help; t++)
		if (is_option(t) && t->name && strlen(t->name) == len && !memcmp(t->name, name, len))
			return t;
	return NULL;
}

static const struct opt *find_short(const struct opt *t, char c)
{
	for (; t->help; t++)
		if (is_option(t) && t->short_name == c)
			return t;
	return NULL;
}

static void unknown(const struct opt *table, const char *arg, size_t len, struct buf *err)
{
	char name[72];
	snprintf(name, sizeof name, "%.*s", (int)(len > 70 ? 70 : len), arg);
	buf_str(err, "unknown option '--");
	buf_safe(err, name, strlen(name));
	buf_str(err, "'");
	const char *names[128];
	int n = 0;
	for (const struct opt *t = table; t->help && n < 127; t++)
		if (is_option(t) && t->name)
			names[n++] = t->name;
	names[n++] = "help";
	int best = nearest_name(name, names, n);
	if (best >= 0)
		buf_printf(err, "; did you mean '--%s'?", names[best]);
}

static bool parse_uint(const char *s, bool size, uint64_t *out)
{
	char *end;
	if (!isdigit((unsigned char)*s))
		return false;
	errno = 0;
	unsigned long long v = strtoull(s, &end, 10);
	if (errno)
		return false;
	if (size && *end) {
		const char *units = "KMGT", *u = strchr(units, toupper((unsigned char)*end));
		if (!u)
			return false;
		unsigned shift = 10u * (unsigned)(u - units + 1);
		if (v > UINT64_MAX >> shift)
			return false;
		v <<= shift;
		end++;
		if (*end == 'i')
			end++;
		if (*end == 'B' || *end == 'b')
			end++;
	}
	*out = v;
	return *end == 0;
}

static void bad_choice(const struct opt *t, const char *val, struct buf *err)
{
	assert(t->kind == OPT_CHOICE && t->choices && t->choices[0]);
	int n = 0;
	buf_printf(err, "--%s: '", t->name);
	buf_safe(err, val, strlen(val));
	buf_str(err, "' is not one of ");
	for (; t->choices[n]; n++)
		buf_printf(err, "%s%s", n ? ", " : "", t->choices[n]);
	int best = nearest_name(val, t->choices, n);
	if (best >= 0)
		buf_printf(err, "; did you mean '%s'?", t->choices[best]);
}

static bool store(const struct opt *t, const char *val, struct buf *err)
{
	assert(t->kind == OPT_FLAG || val);
	assert(t->kind == OPT_GROUP || t->target);
	uint64_t v;
	switch (t->kind) {
	case OPT_FLAG:
		*(bool *)t->target = true;
		return true;
	case OPT_STR:
	case OPT_FILE:
		*(const char **)t->target = val;
		return true;
	case OPT_LIST: {
		struct opt_list *l = t->target;
		assert(l->items && l->n >= 0);
		l->items[l->n++] = val;
		return true;
	}
	case OPT_UINT:
	case OPT_SEED:
	case OPT_SIZE:
		if (!parse_uint(val, t->kind == OPT_SIZE, &v)) {
			buf_printf(err, "--%s: expected %s, found '", t->name,
			           t->kind == OPT_SIZE ? "a size such as 512M or 8G" : "a whole number");
			buf_safe(err, val, strlen(val));
			buf_char(err, '\'');
			return false;
		}
		if (v < t->min || (t->max && v > t->max)) {
			buf_printf(err, "--%s: %s is out of range (%llu to %llu)", t->name, val, (unsigned long long)t->min,
			           (unsigned long long)(t->max ? t->max : UINT64_MAX));
			return false;
		}
		*(uint64_t *)t->target = v;
		return true;
	case OPT_CHOICE:
		for (int i = 0; t->choices[i]; i++)
			if (!strcmp(t->choices[i], val)) {
				*(int *)t->target = i;
				return true;
			}
		bad_choice(t, val, err);
		return false;
	case OPT_GROUP:
		UNREACHABLE(); /* a heading is no option */
		break;
	}
	return false;
}

bool opts_value_fits(const struct opt *t, const char *val, struct buf *err)
{
	union {
		bool truth;
		const char *text;
		uint64_t number;
		int choice;
	} nowhere;
	struct opt copy = *t;
	copy.target = &nowhere;
	return t->kind == OPT_LIST || store(&copy, val, err);
}

/* Does the argument after --json look like the file to write? */
static bool names_output(const struct opt *t, const char *s)
{
	static const struct {
		const char *option, *suffix;
	} usual[] = {
		{ "json", ".json" },  { "html", ".html" }, { "html", ".htm" }, { "sarif", ".sarif" },
		{ "sarif", ".json" }, { "junit", ".xml" }, { "dot", ".dot" },  { "dot", ".gv" },
	};
	size_t n = strlen(s);
	if (!strcmp(s, "-") || !strncmp(s, "/dev/", 5))
		return true;
	for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
		size_t k = strlen(usual[i].suffix);
		if (!strcmp(t->name, usual[i].option) && n > k && !strcmp(s + n - k, usual[i].suffix))
			return true;
	}
	return false;
}

/* One option at argv[*i]; advances *i past a separate value. */
static bool parse_one(struct opts *o, int argc, char **argv, int *i, struct buf *err)
{
	const char *a = argv[*i], *val = NULL;
	const struct opt *t;
	if (a[1] == '-') {
		const char *name = a + 2, *eq = strchr(name, '=');
		size_t len = eq ? (size_t)(eq - name) : strlen(name);
		t = find_long(o->table, name, len);
		if (!t && len == 4 && !memcmp(name, "help", 4)) {
			o->help = true;
			return true;
		}
		if (!t) {
			unknown(o->table, name, len, err);
			return false;
		}
		val = eq ? eq + 1 : NULL;
		if (t->kind == OPT_FLAG && val) {
			buf_printf(err, "--%s takes no value", t->name);
			return false;
		}
	} else {
		t = find_short(o->table, a[1]);
		if (!t && a[1] == 'h') {
			o->help = true;
			return true;
		}
		if (!t || (t->kind == OPT_FLAG && a[2])) {
			buf_str(err, "unknown option '");
			buf_safe(err, a, strlen(a));
			buf_char(err, '\'');
			return false;
		}
		val = a[2] ? a + 2 : NULL;
	}
	if (t->kind == OPT_FILE && !val && (*i + 1 >= argc || !names_output(t, argv[*i + 1])))
		val = "-";
	if (t->kind == OPT_SEED && !val)
		val = "1";
	if (t->kind != OPT_FLAG && !val) {
		if (*i + 1 >= argc) {
			buf_printf(err, "--%s needs a value: --%s=%s", t->name, t->name, t->arg);
			return false;
		}
		val = argv[++*i];
	}
	assert(*i < argc && (t->kind == OPT_FLAG) == !val);
	return store(t, val, err);
}

bool opts_parse(struct opts *o, int argc, char **argv, struct buf *err)
{
	bool ended = false;
	for (int i = 0; i < argc; i++) {
		const char *a = argv[i];
		if (ended || a[0] != '-' || !a[1]) {
			assert(o->nargs <= i);
			o->args[o->nargs++] = a;
		} else if (!strcmp(a, "--")) {
			ended = true;
		} else if (!parse_one(o, argc, argv, &i, err)) {
			return false;
		}
	}
	return true;
}

void opts_help(const struct opt *table, struct buf *out)
{
	for (const struct opt *t = table; t->help; t++) {
		if (t->kind == OPT_GROUP) {
			buf_printf(out, "\n%s:\n", t->help);
			continue;
		}
		assert(t->name && (t->kind == OPT_FLAG || t->arg) && (t->kind == OPT_CHOICE) == (t->choices != NULL));
		assert(t->max == 0 || t->min <= t->max);
		char left[128];
		char sh[8] = "    ";
		if (t->short_name)
			snprintf(sh, sizeof sh, "-%c, ", t->short_name);
		if (t->kind == OPT_FLAG)
			snprintf(left, sizeof left, "  %s--%s", sh, t->name);
		else if (opt_optional(t))
			snprintf(left, sizeof left, "  %s--%s[=%s]", sh, t->name, t->arg);
		else
			snprintf(left, sizeof left, "  %s--%s=%s", sh, t->name, t->arg);
		if (strlen(left) > 30)
			buf_printf(out, "%s\n%32s%s\n", left, "", t->help);
		else
			buf_printf(out, "%-32s%s\n", left, t->help);
		if (t->kind == OPT_CHOICE) {
			buf_printf(out, "%32s(", "");
			for (int i = 0; t->choices[i]; i++)
				buf_printf(out, "%s%s", i ? ", " : "", t->choices[i]);
			buf_str(out, ")\n");
		}
	}
	buf_printf(out, "%-32s%s\n", "  -h, --help", "show this help");
}

int opts_first_word(const struct opt *table, int argc, char **argv)
{
	for (int i = 0; i < argc; i++) {
		if (!strcmp(argv[i], "--"))
			return i + 1;
		if (argv[i][0] != '-')
			return i;
		for (const struct opt *t = table; t->help; t++) {
			if (!t->name || t->kind == OPT_FLAG || t->kind == OPT_GROUP || t->kind == OPT_SEED)
				continue;
			bool is_short = t->short_name && argv[i][1] == t->short_name && !argv[i][2];
			if (is_short || !strcmp(argv[i] + (argv[i][1] == '-' ? 2 : 1), t->name)) {
				i++;
				break;
			}
		}
	}
	return argc;
}
