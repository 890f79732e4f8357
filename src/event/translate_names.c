/*
 * translate_names: names for variables and locks, and places made of stacks.
 *
 * A stack is a number: the one below it and a program counter. Its text is made
 * when it is first needed.
 */
#include <string.h>

#include "event/translate_int.h"

/* `what` and the variable's name or its address, `life` when it is not the
 * first there. */
uint32_t tr_name(struct translate *t, enum name_space ns, const char *what, uint64_t addr, uint32_t life)
{
	struct names *n = &t->names->ns[ns];
	const struct sym_data *d = t->symbols ? symtab_data(t->symbols, addr) : NULL;
	struct buf b;
	bool ok;
	if (t->lives != LIVES_NAMED)
		life = 0;
	if (!d && !life && !*what) {
		ok = names_append_addr(n, addr);
	} else {
		buf_init(&b);
		buf_str(&b, what);
		if (d)
			buf_str(&b, d->name);
		else
			buf_printf(&b, "0x%llx", (unsigned long long)addr);
		if (d && addr != d->addr)
			buf_printf(&b, "+%llu", (unsigned long long)(addr - d->addr));
		if (life)
			buf_printf(&b, "#%u", life + 1);
		size_t len = b.len < NAMES_MAX_LEN ? b.len : NAMES_MAX_LEN;
		ok = names_append(n, buf_cstr(&b), len) && !b.failed;
		buf_free(&b);
	}
	t->nomem |= !ok;
	return ok ? n->len - 1 : 0;
}

uint32_t tr_push_stack(struct translate *t, uint32_t stack, uint64_t pc)
{
	uint32_t number = t->npcs, id = t->nstacks;
	if (id >= MAX_STACKS)
		return stack;
	if (!map_intern(&t->pc_at, pc, &number)) {
		t->nomem = true;
		return stack;
	}
	if (number == t->npcs) {
		t->pcs = tr_grow(t, t->pcs, &t->pcs_cap, t->npcs, sizeof *t->pcs);
		if (t->nomem)
			return stack;
		t->pcs[t->npcs++] = pc;
	}
	if (!map_intern(&t->stacks, (uint64_t)stack << 32 | number, &id)) {
		t->nomem = true;
		return stack;
	}
	if (id < t->nstacks)
		return id;
	uint32_t cap = t->stacks_cap, cap2 = cap, cap3 = cap;
	t->stack_up = tr_grow(t, t->stack_up, &cap, id, sizeof *t->stack_up);
	t->stack_pc = tr_grow(t, t->stack_pc, &cap2, id, sizeof *t->stack_pc);
	t->loc = tr_grow(t, t->loc, &cap3, id, sizeof *t->loc);
	if (t->nomem)
		return stack;
	t->stacks_cap = cap;
	t->stack_up[id] = stack;
	t->stack_pc[id] = number;
	t->nstacks++;
	return id;
}

static void show_pc(const struct translate *t, uint64_t pc, struct buf *b)
{
	const struct sym_addr *a = t->symbols ? symtab_addr(t->symbols, pc - 1) : NULL;
	bool any = false;
	for (uint32_t i = 0; a && i < a->n; i++) {
		const struct sym_frame *f = &t->symbols->frames[a->first + i];
		if (f->system || !f->file)
			continue;
		if (b->len)
			buf_char(b, '\n');
		const char *slash = strrchr(f->file, '/');
		buf_printf(b, "%s:%u %s", slash ? slash + 1 : f->file, f->line, f->function ? f->function : "?");
		any = true;
	}
	if (!any && !a) {
		if (b->len)
			buf_char(b, '\n');
		buf_printf(b, "0x%llx", (unsigned long long)pc);
	}
}

/* The place for a stack, made into text when it is first needed. */
uint32_t tr_loc(struct translate *t, uint32_t stack)
{
	struct buf b;
	if (!stack || t->nomem)
		return LOC_NONE;
	if (t->loc[stack])
		return LOC_TEXT | (t->loc[stack] - 1);
	buf_init(&b);
	uint32_t s = stack;
	for (unsigned n = 0; s && n < FRAMES && b.len < NAMES_MAX_LEN - 512; n++, s = t->stack_up[s])
		show_pc(t, t->pcs[t->stack_pc[s]], &b);
	uint32_t id = names_add_safe(&t->names->ns[NS_LOC], buf_cstr(&b), b.len < NAMES_MAX_LEN ? b.len : NAMES_MAX_LEN);
	buf_free(&b);
	if (id == NAME_FULL || id >= LOC_TEXT - 1)
		return LOC_NONE;
	t->loc[stack] = id + 1;
	return LOC_TEXT | id;
}
