/*
 * schedule_write: a schedule as text. See schedule.h for the format.
 */
#include "base/invariant.h"
#include "sched/schedule.h"

struct schedule_out {
	char *text;
	size_t room, n; /* n counts on when the room is used up */
};

static void put(struct schedule_out *o, char c)
{
	if (o->n < o->room)
		o->text[o->n] = c;
	o->n++;
}

static void puts_(struct schedule_out *o, const char *s)
{
	while (*s)
		put(o, *s++);
}

static void put_number(struct schedule_out *o, uint64_t x)
{
	char digit[24];
	int n = 0;
	do
		digit[n++] = (char)('0' + x % 10);
	while (x /= 10);
	while (n)
		put(o, digit[--n]);
}

static void put_hex(struct schedule_out *o, uint64_t x)
{
	static const char hex[] = "0123456789abcdef";
	int n = 60;
	puts_(o, "0x");
	while (n && !(x >> n))
		n -= 4;
	for (; n >= 0; n -= 4)
		put(o, hex[x >> n & 15]);
}

static void put_string(struct schedule_out *o, const char *s)
{
	static const char hex[] = "0123456789abcdef";
	put(o, '"');
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;
		if (c == '"' || c == '\\') {
			put(o, '\\');
			put(o, (char)c);
		} else if (c == '\n')
			puts_(o, "\\n");
		else if (c == '\t')
			puts_(o, "\\t");
		else if (c < 32 || c == 127) {
			puts_(o, "\\x");
			put(o, hex[c >> 4]);
			put(o, hex[c & 15]);
		} else
			put(o, (char)c);
	}
	put(o, '"');
}

static void put_line(struct schedule_out *o, const char *word, const char *string)
{
	puts_(o, word);
	put(o, ' ');
	put_string(o, string);
	put(o, '\n');
}

static struct schedule_place place_of(const struct schedule *f, uint64_t pc)
{
	assert(f->n_modules < SCHEDULE_NOWHERE);
	for (uint32_t i = 0; i < f->n_modules && pc; i++)
		if (pc >= f->modules[i].from && pc < f->modules[i].to)
			return (struct schedule_place){ i, pc - f->modules[i].from };
	return (struct schedule_place){ SCHEDULE_NOWHERE, pc };
}

static void put_place(struct schedule_out *o, struct schedule_place p)
{
	if (p.module == SCHEDULE_NOWHERE)
		put(o, '-');
	else {
		put_number(o, p.module);
		put(o, '+');
		put_hex(o, p.offset);
	}
}

static void put_head(struct schedule_out *o, const struct schedule *f)
{
	puts_(o, "intact-schedule 1\n");
	put_line(o, "program", f->program ? f->program : "");
	for (uint32_t i = 0; i < f->n_arguments; i++)
		put_line(o, "argument", f->arguments[i]);
	for (uint32_t i = 0; i < f->n_environment; i++)
		put_line(o, "environment", f->environment[i]);
	if (f->mode) {
		puts_(o, "mode ");
		puts_(o, f->mode);
		put(o, '\n');
	}
	puts_(o, "seed ");
	put_number(o, f->seed);
	put(o, '\n');
	for (uint32_t i = 0; i < f->n_settings; i++) {
		puts_(o, "setting ");
		put_string(o, f->settings[i].name);
		put(o, ' ');
		put_string(o, f->settings[i].value);
		put(o, '\n');
	}
	for (uint32_t i = 0; i < f->n_modules; i++) {
		puts_(o, "module ");
		put_number(o, i);
		put(o, ' ');
		put_string(o, f->modules[i].name);
		if (f->modules[i].build_id && *f->modules[i].build_id) {
			puts_(o, " build-id ");
			puts_(o, f->modules[i].build_id);
		}
		put(o, '\n');
	}
}

size_t schedule_write(const struct schedule *f, char *text, size_t room)
{
	struct schedule_out o = { text, room, 0 };
	put_head(&o, f);
	for (uint32_t i = 0; i < f->n_points; i++) {
		puts_(&o, "point ");
		put_place(&o, f->points[i]);
		put(&o, '\n');
	}
	for (uint32_t t = 1; t < f->n_threads; t++) {
		puts_(&o, "thread ");
		put_number(&o, t);
		puts_(&o, " parent ");
		put_number(&o, f->origins[t].parent);
		puts_(&o, " child ");
		put_number(&o, f->origins[t].ordinal);
		put(&o, '\n');
	}
	for (uint32_t i = 0; i < f->n_steps; i++) {
		const struct sched_event *e = &f->steps[i];
		puts_(&o, "step ");
		put_number(&o, e->thread);
		put(&o, ' ');
		puts_(&o, sched_kind_name(e->op.kind));
		put(&o, ' ');
		put_place(&o, f->places ? f->places[i] : place_of(f, e->op.pc));
		if (e->choices) {
			puts_(&o, " choice ");
			put_number(&o, e->choice);
			put(&o, '/');
			put_number(&o, e->choices);
		}
		put(&o, '\n');
	}
	puts_(&o, "end ");
	put_number(&o, f->n_steps);
	put(&o, '\n');
	return o.n;
}
