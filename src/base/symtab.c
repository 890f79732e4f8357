#include "base/symtab.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"

/* ---- writing ------------------------------------------------------------ */

static void put_text(struct buf *out, const char *s)
{
	buf_char(out, '\t');
	if (!s || !*s)
		s = "-";
	for (; *s; s++)
		buf_char(out, (unsigned char)*s < 32 ? '?' : *s);
}

static void put_number(struct buf *out, uint64_t v)
{
	buf_printf(out, "\t%llx", (unsigned long long)v);
}

void symtab_put_addr(struct buf *out, uint64_t addr, uint64_t start, const char *symbol)
{
	buf_char(out, 'a');
	put_number(out, addr);
	put_number(out, start);
	put_text(out, symbol);
	buf_char(out, '\n');
}

void symtab_put_frame(struct buf *out, const struct sym_frame *f)
{
	buf_char(out, 'f');
	put_text(out, f->function);
	put_text(out, f->file);
	put_number(out, f->line);
	put_number(out, f->column);
	put_number(out, f->decl);
	put_text(out, f->decl_file);
	put_text(out, f->module);
	put_number(out, f->offset);
	put_number(out, f->system);
	buf_char(out, '\n');
}

void symtab_put_data(struct buf *out, const struct sym_data *d)
{
	buf_char(out, 'd');
	put_number(out, d->addr);
	put_number(out, d->size);
	put_text(out, d->name);
	buf_char(out, '\n');
}

void symtab_put_file(struct buf *out, const char *file)
{
	buf_char(out, 'w');
	put_text(out, file);
	buf_char(out, '\n');
}

void symtab_put_use(struct buf *out, const struct sym_use *u)
{
	assert(u->kind > ' ' && u->kind < 127);
	buf_char(out, 'u');
	put_number(out, u->line);
	put_number(out, u->column);
	put_number(out, u->line2);
	put_number(out, u->column2);
	buf_printf(out, "\t%c\n", u->kind);
}

/* ---- reading ------------------------------------------------------------ */

/* The next field, ended in place; "" when there is none. */
static char *field(char **at)
{
	char *s = *at, *end = s + strcspn(s, "\t");
	*at = *end ? end + 1 : end;
	*end = 0;
	return s;
}

static const char *text_of(char **at)
{
	const char *s = field(at);
	return !strcmp(s, "-") || !*s ? NULL : s;
}

static uint64_t number_of(char **at)
{
	return strtoull(field(at), NULL, 16);
}

static void read_frame(struct symtab *t, char *at)
{
	struct sym_frame *f = &t->frames[t->nframes];
	if (!t->naddrs)
		return;
	f->function = text_of(&at);
	f->file = text_of(&at);
	f->line = (uint32_t)number_of(&at);
	f->column = (uint32_t)number_of(&at);
	f->decl = (uint32_t)number_of(&at);
	f->decl_file = text_of(&at);
	f->module = text_of(&at);
	f->offset = number_of(&at);
	f->system = number_of(&at) != 0;
	assert(t->addrs[t->naddrs - 1].first + t->addrs[t->naddrs - 1].n == t->nframes); /* a frame follows its address */
	t->nframes++;
	t->addrs[t->naddrs - 1].n++;
}

static void read_use(struct symtab *t, char *at, const char *file)
{
	struct sym_use *u = &t->uses[t->nuses];
	u->file = file;
	u->line = (uint32_t)number_of(&at);
	u->column = (uint32_t)number_of(&at);
	u->line2 = (uint32_t)number_of(&at);
	u->column2 = (uint32_t)number_of(&at);
	u->kind = *field(&at);
	t->nuses += file && u->kind && strchr("civdj", u->kind);
}

static void read_line(struct symtab *t, char *line, const char **file)
{
	char *at = line + 2;
	if (line[0] && line[1] != '\t')
		return;
	if (line[0] == 'a') {
		struct sym_addr *a = &t->addrs[t->naddrs++];
		a->addr = number_of(&at);
		a->start = number_of(&at);
		a->symbol = text_of(&at);
		a->first = t->nframes;
		a->n = 0;
	} else if (line[0] == 'f') {
		read_frame(t, at);
	} else if (line[0] == 'd') {
		struct sym_data *d = &t->data[t->ndata];
		d->addr = number_of(&at);
		d->size = number_of(&at);
		d->name = text_of(&at);
		t->ndata += d->name != NULL;
	} else if (line[0] == 'w') {
		*file = text_of(&at);
	} else if (line[0] == 'u') {
		read_use(t, at, *file);
	}
}

/* Updates by file and store, then load; then pairs of calls, by both. */
static int by_places(const struct sym_use *x, const struct sym_use *y)
{
	const uint32_t a[] = { x->line2, x->column2, x->line, x->column }, b[] = { y->line2, y->column2, y->line, y->column };
	bool p = strchr("dj", x->kind) != NULL, q = strchr("dj", y->kind) != NULL;
	int c = p != q ? p - q : strcmp(x->file, y->file);
	for (int i = 0; !c && i < 4; i++)
		c = a[i] < b[i] ? -1 : a[i] > b[i];
	return c;
}

static int by_use(const void *a, const void *b)
{
	const struct sym_use *x = a, *y = b;
	int c = by_places(x, y);
	return c ? c : x->kind - y->kind;
}

/* The first that is not before the key. */
static uint32_t first_use(const struct symtab *t, const struct sym_use *key)
{
	uint32_t lo = 0, hi = t->nuses;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (by_places(&t->uses[mid], key) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static int by_addr(const void *a, const void *b)
{
	uint64_t x = ((const struct sym_addr *)a)->addr, y = ((const struct sym_addr *)b)->addr;
	return x < y ? -1 : x > y;
}

static int by_data(const void *a, const void *b)
{
	uint64_t x = ((const struct sym_data *)a)->addr, y = ((const struct sym_data *)b)->addr;
	return x < y ? -1 : x > y;
}

bool symtab_read(struct symtab *t, const char *text, size_t len)
{
	size_t count[4] = { 1, 1, 1, 1 };
	const char *file = NULL;
	memset(t, 0, sizeof *t);
	t->text = malloc(len + 1);
	if (!t->text)
		return false;
	if (len)
		memcpy(t->text, text, len);
	t->text[len] = 0;
	for (size_t i = 0; i < len; i++)
		if (!i || t->text[i - 1] == '\n') {
			count[0] += t->text[i] == 'a';
			count[1] += t->text[i] == 'f';
			count[2] += t->text[i] == 'd';
			count[3] += t->text[i] == 'u';
		}
	t->addrs = calloc(count[0], sizeof *t->addrs);
	t->frames = calloc(count[1], sizeof *t->frames);
	t->data = calloc(count[2], sizeof *t->data);
	t->uses = calloc(count[3], sizeof *t->uses);
	if (!t->addrs || !t->frames || !t->data || !t->uses) {
		symtab_free(t);
		return false;
	}
	for (char *p = t->text, *end = t->text + len; p < end;) {
		char *nl = memchr(p, '\n', (size_t)(end - p));
		if (!nl)
			break; /* cut */
		*nl = 0;
		read_line(t, p, &file);
		p = nl + 1;
	}
	assert(t->naddrs < count[0] && t->nframes < count[1] && t->ndata < count[2] && t->nuses < count[3]);
	qsort(t->uses, t->nuses, sizeof *t->uses, by_use);
	qsort(t->addrs, t->naddrs, sizeof *t->addrs, by_addr);
	qsort(t->data, t->ndata, sizeof *t->data, by_data);
	return true;
}

void symtab_free(struct symtab *t)
{
	free(t->text);
	free(t->addrs);
	free(t->frames);
	free(t->data);
	free(t->uses);
	memset(t, 0, sizeof *t);
}

const struct sym_addr *symtab_addr(const struct symtab *t, uint64_t addr)
{
	PARANOID(!t->naddrs || t->addrs[0].addr <= t->addrs[t->naddrs - 1].addr);
	struct sym_addr key = { .addr = addr };
	return t->naddrs ? bsearch(&key, t->addrs, t->naddrs, sizeof key, by_addr) : NULL;
}

const struct sym_data *symtab_data(const struct symtab *t, uint64_t addr)
{
	uint32_t lo = 0, hi = t->ndata;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (t->data[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	assert((!lo || t->data[lo - 1].addr <= addr) && (lo == t->ndata || t->data[lo].addr > addr));
	/* Symbols may lie in each other: the nearest that reaches far enough. */
	for (uint32_t i = lo; i && lo - i < 8; i--)
		if (addr - t->data[i - 1].addr < t->data[i - 1].size)
			return &t->data[i - 1];
	return NULL;
}

char symtab_update(const struct symtab *t, const char *file, uint32_t line2, uint32_t column2, uint32_t *line, uint32_t *column)
{
	struct sym_use key = { .file = file, .line2 = line2, .column2 = column2, .kind = SYM_COMMUTES };
	char kind = SYM_UNKNOWN;
	assert(file && line && column);
	for (uint32_t i = first_use(t, &key); i < t->nuses; i++) {
		const struct sym_use *u = &t->uses[i];
		if (u->line2 != line2 || u->column2 != column2 || strcmp(u->file, file) != 0 || strchr("dj", u->kind))
			break;
		if (kind && (u->kind != kind || u->line != *line || u->column != *column))
			return SYM_UNKNOWN;
		kind = u->kind;
		*line = u->line;
		*column = u->column;
	}
	return kind;
}

char symtab_calls(const struct symtab *t, const struct sym_use *pair)
{
	assert(pair->file);
	struct sym_use key = *pair;
	key.kind = SYM_DEPENDS;
	uint32_t i = first_use(t, &key);
	return i < t->nuses && !by_places(&t->uses[i], &key) ? t->uses[i].kind : SYM_UNKNOWN;
}
