#include "dynamic/message.h"

#include "base/invariant.h"
#include "dynamic/facts.h"
#include "dynamic/findings.h"

/* FINDING_ROOM: more than any finding takes: 12 stacks of 64 counters, 17 bytes
 * each, three lists of 16 locks, a name of RED_NAME letters, and FACTS_MAX facts. */
enum { MAX_FRAMES = 64, FINDING_ROOM = 32 << 10 };
_Static_assert(FINDING_ROOM * 2 < MESSAGE_SIZE, "a finding fits a piece");

static size_t put_number(char *out, size_t at, size_t max, uint64_t v, unsigned base)
{
	assert(base == 10 || base == 16);
	char tmp[24];
	unsigned n = 0;
	do {
		tmp[n++] = "0123456789abcdef"[v % base];
		v /= base;
	} while (v);
	while (n && at < max)
		out[at++] = tmp[--n];
	return at;
}

/* %s %c %d %u %x (unsigned long with l), %%; always ends with a NUL. */
size_t message_format(char *out, size_t max, const char *fmt, va_list ap)
{
	size_t at = 0;
	if (!max--)
		return 0;
	for (; *fmt && at < max; fmt++) {
		if (*fmt != '%') {
			out[at++] = *fmt;
			continue;
		}
		bool wide = *++fmt == 'l';
		fmt += wide;
		if (*fmt == 's') {
			for (const char *s = va_arg(ap, const char *); *s && at < max;)
				out[at++] = *s++;
		} else if (*fmt == 'd') {
			int64_t v = wide ? va_arg(ap, long) : va_arg(ap, int);
			if (v < 0)
				out[at++] = '-';
			at = put_number(out, at, max, (uint64_t)(v < 0 ? -v : v), 10);
		} else if (*fmt == 'u' || *fmt == 'x') {
			uint64_t v = wide ? va_arg(ap, unsigned long) : va_arg(ap, unsigned);
			at = put_number(out, at, max, v, *fmt == 'u' ? 10 : 16);
		} else {
			out[at++] = *fmt;
		}
	}
	out[at] = 0;
	return at;
}

static void put(struct message *m, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	m->n += message_format(m->text + m->n, MESSAGE_SIZE - m->n, fmt, ap);
	assert(m->n < MESSAGE_SIZE);
	va_end(ap);
}

static void open_piece(struct message *m)
{
	m->n = 0;
	put(m, FINDING_HEADER "pid %d\nimage %lx\nfinal %u\n", m->pid, (unsigned long)m->image, m->final);
}

static void send_piece(struct message *m)
{
	m->failed = m->failed || !m->send(m->arg, m->text, m->n);
}

/* Room for so many bytes, in this piece or the next. */
static void room(struct message *m, size_t need)
{
	if (m->n + need < MESSAGE_SIZE)
		return;
	send_piece(m);
	open_piece(m);
}

void message_begin(struct message *m)
{
	m->failed = false;
	open_piece(m);
}

void message_module(struct message *m, const struct message_module *mod)
{
	room(m, 8192);
	put(m, "module %lx %lx %lx %s\n", mod->lo, mod->hi, mod->base, mod->path);
}

void message_lost(struct message *m, const char *what, uint32_t n)
{
	room(m, 128);
	put(m, "lost %s %u\n", what, n);
}

bool message_end(struct message *m)
{
	room(m, 16);
	put(m, "done\n");
	send_piece(m);
	return !m->failed;
}

void message_room(struct message *m, size_t need)
{
	assert(need < MESSAGE_SIZE - 1024);
	room(m, need);
}

void message_put(struct message *m, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	m->n += message_format(m->text + m->n, MESSAGE_SIZE - m->n, fmt, ap);
	va_end(ap);
}

void message_stack(struct message *m, const struct dynamic *d, const char *name, uint32_t id, uint32_t max)
{
	uint64_t pcs[MAX_FRAMES];
	uint32_t n = stack_walk(&d->stacks, id, pcs, max < MAX_FRAMES ? max : MAX_FRAMES);
	if (!n)
		return;
	put(m, "stack %s", name);
	for (uint32_t i = 0; i < n; i++)
		put(m, " %lx", (unsigned long)pcs[i]);
	put(m, "\n");
}

static void put_stack(struct message *m, const struct dynamic *d, const char *name, uint32_t id)
{
	message_stack(m, d, name, id, MAX_FRAMES);
}

void message_locks(struct message *m, const struct dynamic *d, const char *name, uint32_t set)
{
	uint32_t n;
	const uint32_t *e = lockset_members(&d->sets, set, &n);
	if (!n)
		return;
	put(m, "locks %s", name);
	for (uint32_t i = 0; i < n && i < 16; i++)
		put(m, " %u:%lx", e[i], (unsigned long)d->locks.locks[e[i]].addr);
	put(m, "\n");
}

void message_thread(struct message *m, const struct dynamic *d, uint32_t uid)
{
	for (int depth = 0; uid && uid < m->nthreads && depth < 3; depth++) {
		put(m, "thread %u %u\n", uid, m->parent[uid]);
		put_stack(m, d, "created", m->created[uid]);
		uid = m->parent[uid];
	}
}

/* Where a lock was made. */
static void put_made(struct message *m, const struct dynamic *d, const char *name, uint32_t made)
{
	put_stack(m, d, name, made & ~LOCK_FIRST_USE);
	if (made & LOCK_FIRST_USE)
		put(m, "set %s_first 1\n", name);
}

/* What is known of variables: a line each. */
static void put_facts(struct message *m, const struct facts *x)
{
	for (uint32_t i = 0; i < x->n; i++) {
		const struct fact *f = &x->v[i];
		put(m, "fact %lx %u %u %u %u %u", (unsigned long)f->address, f->size, f->shared, f->changed, f->section, f->span);
		for (unsigned s = 0; s < FACT_SIDES; s++)
			put(m, " %u %lx %lx", f->use[s], (unsigned long)f->read[s], (unsigned long)f->write[s]);
		put(m, "\n");
	}
}

static const char *const kinds[] = FINDING_KIND_NAMES, *const ops[] = FINDING_OP_NAMES, *const uses[] = FINDING_USE_NAMES;
_Static_assert(sizeof kinds / sizeof *kinds == FIND_KINDS && sizeof ops / sizeof *ops == OP_KINDS, "each has a name");

static void put_finding(struct message *m, const struct dynamic *d, const struct finding *f)
{
	assert(f > d->findings && f < d->findings + d->nfindings && f->kind < FIND_KINDS);
	put(m, "finding %lx %u\n", (unsigned long)f->key, (unsigned)(f - d->findings));
	put(m, "set kind %s\nset confirmed %u\nset count %u\nset loop %u\n", kinds[f->kind], f->confirmed, f->count, f->loop);
	put(m, "set commit_op %s\nset violation_op %s\nset thread %u\nset other %u\n", ops[f->commit_op], ops[f->violation_op],
	    f->uid, f->other);
	put(m, "set lock %u\nset lock2 %u\nset address %lx\n", f->lock, f->lock2, (unsigned long)f->address);
	if (f->lock2 || f->address2)
		put(m, "set address2 %lx\n", (unsigned long)(f->lock2 ? d->locks.locks[f->lock2].addr : f->address2));
	if (f->uses)
		put(m, "set uses %s\n", uses[f->uses]);
	if (f->other_op)
		put(m, "set other_op %s\n", ops[f->other_op]);
	if (f->apart && !f->confirmed)
		put(m, "set apart 1\n");
	if (f->inherited)
		put(m, "set inherited 1\n");
	if (f->crossed)
		put(m, "set crossed 1\n");
	if (f->bare)
		put(m, "set bare 1\n");
	if (f->wrong)
		put(m, "set wrong 1\n");
	if (f->came)
		put(m, "set came %u\n", f->came);
	if (facts_known(d, f))
		put(m, "set known 1\n");
	if (f->facts)
		put_facts(m, f->facts);
	if (f->name)
		put(m, "name %s\n", f->name);
	put_stack(m, d, "entered", f->entered);
	put_stack(m, d, "section", f->section);
	put_stack(m, d, "commit", f->commit);
	put_stack(m, d, "violation", f->violation);
	put_stack(m, d, "other_acquire", f->other_acquire);
	put_stack(m, d, "other_write", f->other_write);
	put_made(m, d, "made", f->made);
	put_made(m, d, "made2", f->made2);
	message_locks(m, d, "commit", f->commit_held);
	message_locks(m, d, "violation", f->held);
	message_locks(m, d, "other", f->other_held);
	message_thread(m, d, f->uid);
	message_thread(m, d, f->other);
	put(m, "end\n");
}

bool message_findings(struct message *m, struct dynamic *d, bool all, bool loops)
{
	bool any = false;
	for (uint32_t i = 1; i < d->nfindings; i++) {
		struct finding *f = &d->findings[i];
		if (!finding_counts(f, m->final) || (f->loop && !loops && !f->name))
			continue;
		bool known = facts_known(d, f);
		bool fresh = known != f->told_known || (f->facts && f->facts->fresh);
		if (!f->sent || all || (m->final && fresh)) {
			room(m, FINDING_ROOM);
			f->told_known = known;
			if (f->facts)
				f->facts->fresh = false;
			put_finding(m, d, f);
		} else if (m->final && f->told != f->count) {
			room(m, 128);
			put(m, "count %lx %u %u\n", (unsigned long)f->key, f->count, f->came);
		} else {
			continue;
		}
		f->sent = true;
		f->told = f->count;
		any = true;
	}
	if (d->nlost) {
		message_lost(m, "findings", d->nlost);
		any = true;
	}
	return hazards_message(m, d, all) || any;
}
