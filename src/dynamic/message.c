#include "dynamic/message.h"

#include "dynamic/findings.h"

enum { MAX_FRAMES = 64, LAST_ROOM = 48 << 10 };

static size_t put_number(char *out, size_t at, size_t max, uint64_t v, unsigned base)
{
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
	va_end(ap);
}

void message_begin(struct message *m, int pid, bool final)
{
	m->n = 0;
	put(m, "INTACT 1\npid %d\nfinal %u\n", pid, final);
}

void message_module(struct message *m, const struct message_module *mod)
{
	put(m, "module %lx %lx %lx %s\n", mod->lo, mod->hi, mod->base, mod->path);
}

static void put_stack(struct message *m, const struct dynamic *d, const char *name, uint32_t id)
{
	uint64_t pcs[MAX_FRAMES];
	uint32_t n = stack_walk(&d->stacks, id, pcs, MAX_FRAMES);
	if (!n)
		return;
	put(m, "stack %s", name);
	for (uint32_t i = 0; i < n; i++)
		put(m, " %lx", (unsigned long)pcs[i]);
	put(m, "\n");
}

static void put_locks(struct message *m, const struct dynamic *d, const char *name, uint32_t set)
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

static void put_thread(struct message *m, const struct dynamic *d, uint32_t uid)
{
	for (int depth = 0; uid && uid < m->nthreads && depth < 3; depth++) {
		put(m, "thread %u %u\n", uid, m->parent[uid]);
		put_stack(m, d, "created", m->created[uid]);
		uid = m->parent[uid];
	}
}

static void put_finding(struct message *m, const struct dynamic *d, const struct finding *f)
{
	put(m, "finding %lx\n", (unsigned long)f->key);
	put(m, "set kind %u\nset confirmed %u\nset count %u\nset loop %u\n", f->kind,
	    f->confirmed, f->count, f->loop);
	put(m, "set commit_op %u\nset violation_op %u\nset thread %u\nset other %u\n",
	    f->commit_op, f->violation_op, f->uid, f->other);
	put(m, "set lock %u\nset lock2 %u\nset address %lx\n", f->lock, f->lock2,
	    (unsigned long)f->address);
	if (f->lock2 || f->address2)
		put(m, "set address2 %lx\n",
		    (unsigned long)(f->lock2 ? d->locks.locks[f->lock2].addr : f->address2));
	if (f->other_op)
		put(m, "set other_op %u\n", f->other_op);
	if (f->apart && !f->confirmed)
		put(m, "set apart 1\n");
	if (f->name)
		put(m, "name %s\n", f->name);
	put_stack(m, d, "entered", f->entered);
	put_stack(m, d, "section", f->section);
	put_stack(m, d, "commit", f->commit);
	put_stack(m, d, "violation", f->violation);
	put_stack(m, d, "other_acquire", f->other_acquire);
	put_stack(m, d, "other_write", f->other_write);
	put_locks(m, d, "commit", f->commit_held);
	put_locks(m, d, "violation", f->held);
	put_locks(m, d, "other", f->other_held);
	put_thread(m, d, f->uid);
	put_thread(m, d, f->other);
	put(m, "end\n");
}

bool message_findings(struct message *m, struct dynamic *d, bool final, bool loops)
{
	bool any = false;
	for (uint32_t i = 1; i < d->nfindings; i++) {
		struct finding *f = &d->findings[i];
		if (!finding_counts(f, final) || (f->sent && !final))
			continue;
		if (f->loop && !loops && !f->name)
			continue;
		if (m->n > MESSAGE_SIZE - LAST_ROOM) {
			put(m, "dropped 1\n");
			break;
		}
		put_finding(m, d, f);
		f->sent = true;
		any = true;
	}
	put(m, "done\n");
	return any;
}
