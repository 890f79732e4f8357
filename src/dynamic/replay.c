#include "dynamic/replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "dynamic/message.h"
#include "dynamic/reduction.h"

enum { MAX_UIDS = 1 << 16, MAX_FRAMES = 1 << 20, MAX_MODULES = 1 << 16 };

struct watched {
	struct thread t;
	uint32_t cap; /* frames */
	bool live;
};

struct replay {
	struct dynamic d;
	struct watched *threads[REC_SLOTS];
	uint32_t slot_epoch[REC_SLOTS];
	uint32_t *created, *parent;
	uint32_t live, uids;
	int pid;
	uintptr_t freed; /* where memory is given back, if that was told */
	bool loops, nomem;
	char text[REC_TEXT_MAX + 1];
	struct message_module *modules;
	uint32_t nmodules;
	char **names; /* of marks, each once */
	uint32_t nnames;
};

struct replay *replay_new(void)
{
	struct replay *r = calloc(1, sizeof *r);
	if (!r)
		return NULL;
	r->created = calloc(MAX_UIDS, sizeof *r->created);
	r->parent = calloc(MAX_UIDS, sizeof *r->parent);
	r->modules = calloc(MAX_MODULES, sizeof *r->modules);
	if (r->created && r->parent && r->modules && dynamic_init(&r->d))
		return r;
	replay_free(r);
	return NULL;
}

void replay_free(struct replay *r)
{
	if (!r)
		return;
	for (uint32_t i = 0; i < REC_SLOTS; i++)
		if (r->threads[i]) {
			free(r->threads[i]->t.frames);
			free(r->threads[i]);
		}
	for (uint32_t i = 0; i < r->nmodules; i++)
		free((char *)(uintptr_t)r->modules[i].path);
	for (uint32_t i = 0; i < r->nnames; i++)
		free(r->names[i]);
	free(r->names);
	free(r->modules);
	free(r->created);
	free(r->parent);
	dynamic_free(&r->d);
	free(r);
}

/* ---- threads ------------------------------------------------------------ */

static bool frames_grow(struct watched *w, uint32_t cap)
{
	assert(cap >= 2 && (!w->t.frames || (size_t)(w->t.top - w->t.frames) < cap));
	size_t used = w->t.frames ? (size_t)(w->t.top - w->t.frames) : 0;
	struct frame *v = realloc(w->t.frames, cap * sizeof *v);
	if (!v)
		return false;
	w->t.frames = v;
	w->t.top = v + used;
	w->t.limit = v + cap - 2;
	w->cap = cap;
	return true;
}

static struct watched *begin(struct replay *r, uint32_t slot, uint32_t uid, struct watched *parent, uint64_t pc)
{
	assert(slot < REC_SLOTS && (!r->threads[slot] || !r->threads[slot]->live));
	struct watched *w = r->threads[slot];
	if (!w) {
		w = calloc(1, sizeof *w);
		if (!w || !frames_grow(w, 64)) {
			free(w);
			r->nomem = true;
			return NULL;
		}
		r->threads[slot] = w;
	}
	red_thread_begin(&r->d, &w->t, parent ? &parent->t : NULL, slot, uid, r->slot_epoch[slot] + 1, (uintptr_t)pc);
	if (uid < MAX_UIDS) {
		r->created[uid] = w->t.created;
		r->parent[uid] = w->t.parent;
	}
	if (uid > r->uids)
		r->uids = uid;
	if (!w->live)
		r->live++;
	w->live = true;
	return w;
}

/* The thread of a record; one that began before the recording is made up. */
static struct watched *thread_of(struct replay *r, uint32_t slot)
{
	assert(slot < REC_SLOTS);
	struct watched *w = r->threads[slot];
	return w && w->live ? w : begin(r, slot, r->uids + 1, NULL, 0);
}

static void create(struct replay *r, struct rec rec)
{
	uint32_t slot = (uint32_t)(rec_addr(rec) >> 32) & (REC_SLOTS - 1);
	if (!slot) /* no thread's: no recording of ours has it */
		return;
	struct watched *old = r->threads[slot];
	struct watched *by = rec_slot(rec) && rec_slot(rec) != slot ? thread_of(r, rec_slot(rec)) : NULL;
	if (old && old->live) { /* no such thing, unless records are missing */
		old->live = false;
		r->slot_epoch[slot] = old->t.acc.epoch + 1;
		r->live--;
	}
	begin(r, slot, (uint32_t)rec_addr(rec), by, rec_pc(rec));
}

static void end(struct replay *r, struct watched *w)
{
	assert(w->live && r->live);
	r->slot_epoch[w->t.tid] = w->t.acc.epoch + 1;
	red_thread_end(&w->t);
	w->live = false;
	r->live--;
}

static void pop(struct thread *t, uint64_t keep)
{
	assert(t->top >= t->frames);
	if (keep < (uint64_t)(t->top - t->frames))
		t->top = t->frames + keep;
	red_mark_drop(t);
}

/* Stack pointers are not recorded, only whether a call was inlined. */
static void push(struct replay *r, struct watched *w, struct rec rec)
{
	assert(w->live && w->t.top < w->t.frames + w->cap);
	struct thread *t = &w->t;
	pop(t, rec_keep(rec));
	if (t->top >= t->limit && (w->cap >= MAX_FRAMES || !frames_grow(w, w->cap * 2))) {
		r->nomem |= w->cap < MAX_FRAMES;
		return;
	}
	struct frame *f = ++t->top;
	bool inlined = rec_arg(rec) & REC_INLINED && f > t->frames + 1;
	*f = (struct frame){
		.pc = (uintptr_t)rec_pc(rec), .site = (uintptr_t)rec_addr(rec), .sp = f[-1].sp - (inlined ? 0 : 64), .log = t->nlog
	};
	if (inlined) { /* the address is that of the function, unless it is as below (recordings before that) */
		f->fn = f->site == f[-1].site || !f->site ? 0 : f->site - 1;
		f->site = f[-1].site;
	}
}

/* ---- texts -------------------------------------------------------------- */

static const char *name_of(struct replay *r)
{
	assert(strlen(r->text) <= REC_TEXT_MAX);
	for (uint32_t i = 0; i < r->nnames; i++)
		if (!strcmp(r->names[i], r->text))
			return r->names[i];
	char **v = r->nnames < 65536 ? realloc(r->names, (r->nnames + 1) * sizeof *v) : NULL;
	if (!v)
		return "?";
	r->names = v;
	v[r->nnames] = strdup(r->text);
	return v[r->nnames] ? v[r->nnames++] : "?";
}

static void take_text(struct replay *r, struct rec rec, const struct rec *letters)
{
	assert(rec_addr(rec) <= REC_TEXT_MAX);
	size_t n = rec_addr(rec);
	memcpy(r->text, letters, n);
	r->text[n] = 0;
	for (size_t i = 0; i < n; i++)
		if (r->text[i] == '\n' || !r->text[i])
			r->text[i] = '?'; /* it goes into a message of lines */
	if (rec_arg(rec) == REC_TEXT_OPTIONS) {
		unsigned pid = 0, history = 0, loops = 0, races = 0, locks = 0;
		if (sscanf(r->text, "%u %u %u %u %u", &pid, &history, &loops, &races, &locks) >= 3) {
			r->pid = (int)(pid & INT32_MAX);
			r->loops = loops != 0;
			if (history >= 4 && history <= RED_LOG)
				r->d.history = history;
			if (races && !r->d.races.dir)
				r->nomem |= !races_init(&r->d.races);
			if (locks && !r->d.order.edges)
				r->nomem |= !lock_order_init(&r->d);
			if ((races || locks) && !r->d.hazards.list)
				r->nomem |= !hazards_init(&r->d.hazards);
		}
	}
}

/* It is gone, and what is loaded there from now on is another. */
static void move_module(struct replay *r, uintptr_t lo, uint64_t page)
{
	uint64_t delta = rec_moved_to(lo, page) - lo;
	for (uint32_t i = 0; i < r->nmodules; i++) {
		struct message_module *m = &r->modules[i];
		if (m->lo != lo)
			continue;
		dynamic_move(&r->d, m->lo, m->hi, delta);
		m->lo += delta;
		m->hi += delta;
		m->base += delta;
	}
	for (uint32_t i = 0; i < REC_SLOTS; i++)
		if (r->threads[i])
			red_moved(&r->threads[i]->t);
}

static void module(struct replay *r, struct rec rec)
{
	assert(rec_kind(rec) == REC_MODULE && r->nmodules <= MAX_MODULES);
	if (rec_arg(rec) == 2) {
		move_module(r, (uintptr_t)rec_addr(rec), rec_pc(rec));
		return;
	}
	if (rec_arg(rec)) {
		if (r->nmodules)
			r->modules[r->nmodules - 1].base = (uintptr_t)rec_addr(rec);
		return;
	}
	struct message_module m = { (uintptr_t)rec_addr(rec), (uintptr_t)rec_pc(rec), 0, NULL };
	for (uint32_t i = 0; i < r->nmodules; i++)
		if (r->modules[i].lo == m.lo && r->modules[i].hi == m.hi && !strcmp(r->modules[i].path, r->text))
			return;
	if (!r->nmodules) { /* the program's own comes first */
		r->d.static_lo = m.lo;
		r->d.static_hi = m.hi;
	}
	if (r->nmodules < MAX_MODULES && (m.path = strdup(r->text)))
		r->modules[r->nmodules++] = m;
}

/* ---- the calls ---------------------------------------------------------- */

static void access(struct replay *r, struct watched *w, struct rec rec)
{
	assert(w->live && rec_kind(rec) <= REC_ATOMIC_WRITE);
	struct thread *t = &w->t;
	unsigned kind = rec_kind(rec), mask = rec_arg(rec);
	bool write = kind == REC_WRITE || kind == REC_ATOMIC_WRITE;
	bool atomic = kind >= REC_ATOMIC_READ;
	uintptr_t addr = (uintptr_t)rec_addr(rec);
	uint64_t *c = shadow_cell(r->d.shadow.dir, addr);
	uint64_t need = write ? mask * 0x101ull : (uint64_t)mask << 8;
	if (mask && r->d.races.on && !atomic)
		races_access(&r->d, t, addr, mask, write ? RACE_WRITE : 0, (uintptr_t)rec_pc(rec));
	if (!mask || (c && !atomic && red_own(t, CELL_KEY(t->acc.tid, t->acc.epoch), c, need, write, addr, (uintptr_t)rec_pc(rec))))
		return;
	t->acc.atomic = atomic;
	red_access(&r->d, t, addr, mask, write, (uintptr_t)rec_pc(rec), NULL);
	t->acc.atomic = false;
}

static void renew(struct replay *r, struct thread *t, uintptr_t addr, uintptr_t pc)
{
	uint32_t id = lock_id(&r->d.locks, addr);
	if (id)
		red_renew(&r->d, t, id, pc);
}

static void forget(struct replay *r, struct thread *t, uintptr_t addr, uint64_t size)
{
	if (r->d.races.on)
		races_forget(&r->d, t, addr, size, r->freed);
	r->freed = 0;
	red_forget(&r->d, t, addr, size);
	shadow_reset(&r->d.shadow, addr, size);
	if (r->d.locks.n > 1)
		lock_forget(&r->d.locks, addr, size);
}

static void call(struct replay *r, struct watched *w, struct rec rec)
{
	assert(w->live);
	struct thread *t = &w->t;
	uintptr_t addr = (uintptr_t)rec_addr(rec), pc = (uintptr_t)rec_pc(rec);
	unsigned arg = rec_arg(rec);
	t->acc.live = r->live;
	switch (rec_kind(rec)) {
	case REC_READ:
	case REC_WRITE:
	case REC_ATOMIC_READ:
	case REC_ATOMIC_WRITE:
		access(r, w, rec);
		break;
	case REC_ACQUIRE:
		t->trying = arg & REC_TRIED;
		t->delayed = arg & REC_DELAYED ? addr : 0;
		red_acquire(&r->d, t, addr, arg & REC_SHARED, arg & REC_WAIT, pc);
		break;
	case REC_RELEASE:
		if (arg & REC_UNHELD)
			lock_order_unheld(&r->d, t, addr, pc);
		else
			red_release(&r->d, t, addr, arg & REC_WAIT, pc);
		break;
	case REC_TRY_FAILED:
		if (arg)
			red_cas(t, addr, arg == REC_CAS_FAILED);
		else
			red_try_failed(t);
		break;
	case REC_SYNC_RELEASE:
		if (arg & REC_WAIT)
			red_signal(&r->d, t);
		if (!(arg & REC_WAIT) || !r->d.races.dir)
			red_sync_release(&r->d, t, addr);
		break;
	case REC_SYNC_ACQUIRE:
		red_sync_acquire(&r->d, t, addr);
		break;
	case REC_RENEW:
		if (arg & REC_UNHELD)
			lock_order_busy(&r->d, t, addr, pc);
		else
			renew(r, t, addr, pc);
		break;
	case REC_FORGET:
		forget(r, t, addr, rec_pc(rec));
		break;
	case REC_STACK:
		if (arg == REC_CALLED) {
			red_called(t, (uint32_t)addr);
			break;
		}
		t->stack_lo = addr;
		t->stack_hi = pc;
		if (r->d.races.on && t->uid != 1)
			races_forget(&r->d, NULL, addr, pc - addr, 0);
		break;
	case REC_END:
		end(r, w);
		break;
	case REC_JOIN:
		if (addr < REC_SLOTS && r->threads[addr] && r->threads[addr] != w)
			red_join(&r->d, t, &r->threads[addr]->t, pc);
		break;
	case REC_POP:
		pop(t, addr);
		break;
	case REC_PUSH:
		push(r, w, rec);
		break;
	case REC_MARK:
		red_mark_begin(&r->d, t, arg & REC_NAMED ? name_of(r) : NULL, pc);
		break;
	case REC_MARK_END:
		red_mark_end(t);
		break;
	case REC_FREE:
		r->freed = pc;
		break;
	case REC_ATOMIC:
		if (arg >> 5 <= 4) /* of at most 16 bytes; else the recording is damaged */
			red_atomic(&r->d, t, addr, 1u << (arg >> 5), arg & 3, arg >> 2 & 7, pc);
		break;
	}
}

bool replay_feed(struct replay *r, const struct rec *rec, size_t n)
{
	for (size_t i = 0; i < n && !r->nomem; i++) {
		unsigned kind = rec_kind(rec[i]);
		if (kind == REC_TEXT) {
			take_text(r, rec[i], rec + i + 1);
			i += rec_letters(rec[i]);
		} else if (kind == REC_CREATE) {
			create(r, rec[i]);
		} else if (kind == REC_MODULE) {
			module(r, rec[i]);
		} else if (rec_slot(rec[i]) && (kind < REC_FORK || kind == REC_ATOMIC || kind == REC_FREE)) {
			struct watched *w = thread_of(r, rec_slot(rec[i]));
			if (w)
				call(r, w, rec[i]);
		} else if (kind == REC_FORGET) {
			forget(r, NULL, (uintptr_t)rec_addr(rec[i]), rec_pc(rec[i]));
		}
	}
	return !r->nomem;
}

bool replay_until_fork(struct replay *r, const struct rec *rec, size_t n, uint64_t fork, size_t *used, uint32_t *slot)
{
	size_t i = 0;
	while (i < n && !(rec_kind(rec[i]) == REC_FORK && rec_addr(rec[i]) == fork))
		i += rec_kind(rec[i]) == REC_TEXT ? 1 + rec_letters(rec[i]) : 1;
	*used = i < n ? i + 1 : n;
	replay_feed(r, rec, *used);
	if (i < n)
		*slot = rec_slot(rec[i]);
	assert(*used <= n);
	return i < n;
}

void replay_forked(struct replay *r, uint32_t slot)
{
	for (uint32_t i = 0; i < REC_SLOTS; i++) {
		struct watched *w = r->threads[i];
		if (!w || i == slot)
			continue;
		if (w->live)
			r->slot_epoch[i] = w->t.acc.epoch + 1;
		w->live = false;
	}
	r->live = 1;
	reach_forked(&r->d.reach, slot);
	races_forked(&r->d.races);
	hazards_forked(&r->d.hazards);
	r->d.nlost = 0;
	for (uint32_t i = 1; i < r->d.nfindings; i++) {
		r->d.findings[i].sent = false;
		r->d.findings[i].count = 0;
	}
}

/* ---- what came of it ---------------------------------------------------- */

static bool add_piece(void *arg, const char *text, size_t n)
{
	buf_add(arg, text, n);
	return true;
}

bool replay_message(struct replay *r, struct buf *out)
{
	assert(r->nmodules <= MAX_MODULES);
	struct message m = { .text = malloc(MESSAGE_SIZE),
		             .created = r->created,
		             .parent = r->parent,
		             .nthreads = MAX_UIDS,
		             .send = add_piece,
		             .arg = out,
		             .pid = r->pid,
		             .final = true };
	if (!m.text) {
		r->nomem = true;
		return false;
	}
	message_begin(&m);
	for (uint32_t i = 0; i < r->nmodules; i++)
		message_module(&m, &r->modules[i]);
	bool any = message_findings(&m, &r->d, true, r->loops);
	message_end(&m);
	free(m.text);
	return any;
}

bool replay_degraded(const struct replay *r)
{
	return r->nomem || r->d.shadow.degraded || r->d.locks.n >= r->d.locks.max;
}
