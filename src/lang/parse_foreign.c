#include "lang/parse_foreign.h"

#include <string.h>

struct word {
	const char *word, *hint;
};

#define COUNT(a) (sizeof(a) / sizeof *(a))

#define SHARED        "omit it: a variable declared outside the threads is shared, one inside is local"
#define FOREIGN_SIZES "use int, or a range of what it holds: int[0..255]; u8 i8 u16 i16 are such ranges, and wrap u8 wraps"
#define RWLOCK        "use rwlock r; declared outside the threads"
#define CONDITION     "use cond c; declared outside the threads, and wait(c, l), signal(c), broadcast(c)"
#define POOL          "declare a pool: pool node[4] { ... }; and use alloc(node)"
#define TLS_WORD      "write thread_local int x; outside the threads: each thread has its own"
#define TLS           "declare it outside the threads: thread_local int x; each thread has its own"
#define ORDERS        "omit the memory order: accesses are sequentially consistent, and one access is one step"
#define FENCE         "omit it: accesses are sequentially consistent (intact explore --memory=tso checks programs on weaker machines)"
#define COUNTER       "use semaphore s = 1; declared outside the threads"

static const struct word qualifiers[] = {
	{ "unsigned", FOREIGN_SIZES },
	{ "signed", FOREIGN_SIZES },
	{ "long", FOREIGN_SIZES },
	{ "short", FOREIGN_SIZES },
	{ "static", SHARED },
	{ "extern", SHARED },
	{ "register", SHARED },
	{ "auto", SHARED },
	{ "volatile", "omit it: every access to a shared variable is a separate step" },
	{ "_Thread_local", TLS_WORD },
	{ "__thread", TLS_WORD },
	{ "inline", "omit it: procedures are inlined" },
	{ "_Atomic", "omit it: every access to a shared variable is atomic; cas and fetch_add are one access" },
};

static const struct word types[] = {
	{ "unsigned", FOREIGN_SIZES },
	{ "signed", FOREIGN_SIZES },
	{ "long", FOREIGN_SIZES },
	{ "short", FOREIGN_SIZES },
	{ "char", FOREIGN_SIZES },
	{ "size_t", FOREIGN_SIZES },
	{ "int8_t", "use i8, for which a value that does not fit is a fault, or wrap i8" },
	{ "int16_t", "use i16, for which a value that does not fit is a fault, or wrap i16" },
	{ "int32_t", FOREIGN_SIZES },
	{ "int64_t", FOREIGN_SIZES },
	{ "uint8_t", "use u8, for which a value that does not fit is a fault, or wrap u8" },
	{ "uint16_t", "use u16, for which a value that does not fit is a fault, or wrap u16" },
	{ "uint32_t", FOREIGN_SIZES },
	{ "uint64_t", FOREIGN_SIZES },
	{ "atomic_int", "use int: every access to a shared variable is atomic" },
	{ "atomic_bool", "use bool: every access to a shared variable is atomic" },
	{ "float", "use int: only integers are supported" },
	{ "double", "use int: only integers are supported" },
	{ "mutex", "use lock" },
	{ "pthread_mutex_t", "use lock" },
	{ "mtx_t", "use lock" },
	{ "spinlock", "use lock" },
	{ "pthread_spinlock_t", "use lock" },
	{ "rwlock", RWLOCK },
	{ "pthread_rwlock_t", RWLOCK },
	{ "rwlock_t", RWLOCK },
	{ "shared_mutex", RWLOCK },
	{ "semaphore", COUNTER },
	{ "sem_t", COUNTER },
	{ "counting_semaphore", COUNTER },
	{ "cond", CONDITION },
	{ "condition", CONDITION },
	{ "condition_variable", CONDITION },
	{ "pthread_cond_t", CONDITION },
	{ "cnd_t", CONDITION },
	{ "barrier", "use barrier b = 2; declared outside the threads" },
	{ "pthread_barrier_t", "use barrier b = 2; with the number of threads it waits for" },
	{ "once", "use once o; declared outside the threads" },
	{ "pthread_once_t", "use once o;" },
	{ "once_flag", "use once o;" },
	{ "channel", "use chan int c[2]; with what it carries and how many" },
	{ "mqd_t", "use chan int c[2]; with what it carries and how many" },
	{ "atomic_flag", "use bool: every access to a shared variable is atomic" },
	{ "atomic_uint", "use an int or a range: every access to a shared variable is atomic" },
	{ "atomic_size_t", "use an int or a range: every access to a shared variable is atomic" },
	{ "ssize_t", FOREIGN_SIZES },
	{ "intptr_t", "a reference to a cell of a pool has the pool's name as its type: node n;" },
	{ "uintptr_t", "a reference to a cell of a pool has the pool's name as its type: node n;" },
	{ "pthread_key_t", TLS },
	{ "tss_t", TLS },
	{ "thrd_t", "omit it: thread name * 2 { ... } runs two of them from the start" },
	{ "spinlock_t", "use lock" },
	{ "pthread_t", "omit it: thread name * 2 { ... } runs two of them from the start" },
};

static const struct word calls[] = {
	{ "unlock", "use release(l)" },
	{ "pthread_mutex_lock", "use acquire(l), with lock l; declared outside the threads" },
	{ "pthread_mutex_unlock", "use release(l)" },
	{ "pthread_mutex_trylock", "implement the lock: bool l; cas(l, false, true) takes it, and fails if it is taken" },
	{ "pthread_spin_lock", "use acquire(l), with lock l; declared outside the threads" },
	{ "pthread_spin_unlock", "use release(l)" },
	{ "mtx_lock", "use acquire(l), with lock l; declared outside the threads" },
	{ "mtx_unlock", "use release(l)" },
	{ "pthread_rwlock_rdlock", "use acquire_read(r), with rwlock r; declared outside the threads" },
	{ "pthread_rwlock_wrlock", "use acquire_write(r), with rwlock r; declared outside the threads" },
	{ "pthread_rwlock_unlock", "use release(r)" },
	{ "sem_init", "give it where it is declared: semaphore s = 1;" },
	{ "sem_wait", "use wait(s), with semaphore s = 1; declared outside the threads" },
	{ "sem_trywait", "use trywait(s)" },
	{ "sem_post", "use post(s)" },
	{ "pthread_cond_wait", "use wait(c, l), with cond c; and lock l; declared outside the threads" },
	{ "pthread_cond_signal", "use signal(c)" },
	{ "pthread_cond_broadcast", "use broadcast(c)" },
	{ "cnd_wait", "use wait(c, l), with cond c; and lock l; declared outside the threads" },
	{ "cnd_signal", "use signal(c)" },
	{ "cnd_broadcast", "use broadcast(c)" },
	{ "notify_one", "use signal(c)" },
	{ "notify_all", "use broadcast(c)" },
	{ "pthread_barrier_init", "give the number of threads where it is declared: barrier b = 2;" },
	{ "pthread_barrier_wait", "use wait(b), with barrier b = 2; declared outside the threads" },
	{ "pthread_once", "use call_once(o, procedure), with once o; declared outside the threads" },
	{ "mq_send", "use send(c, v), with chan int c[2]; declared outside the threads" },
	{ "mq_receive", "use recv(c), with chan int c[2]; declared outside the threads" },
	{ "pthread_create", "omit it: thread name * 2 { ... } runs two of them from the start" },
	{ "pthread_join", "set a variable at the end of the thread, and assume it here" },
	{ "await", "use assume(e): it waits until e holds" },
	{ "CAS", "use cas(x, expected, new)" },
	{ "compare_and_swap", "use cas(x, expected, new)" },
	{ "compare_exchange", "use cas(x, expected, new)" },
	{ "atomic_compare_exchange_strong", "use cas(x, expected, new)" },
	{ "atomic_fetch_add", "use fetch_add(x, v)" },
	{ "atomic_load", "read the variable: one access is one step" },
	{ "atomic_store", "assign the variable: one access is one step" },
	{ "swap", "use exchange(x, v)" },
	{ "test_and_set", "use exchange(x, true)" },
	{ "fetch_sub", "use fetch_add(x, -v)" },
	{ "choose", "use any(lo..hi)" },
	{ "nondet", "use any(bool) or any(lo..hi)" },
	{ "yield", "omit it: any thread may run between two steps" },
	{ "sleep", "omit it: any thread may run between two steps" },
	{ "printf", "omit it; intact sim shows every step" },
	{ "malloc", POOL },
	{ "calloc", POOL },
	{ "kmalloc", POOL },
	{ "free", "declare a pool: pool node[4] { ... };, alloc(node) and free(n)" },
	{ "kfree", "use free(n), with pool node[4] { ... };" },
	{ "realloc", "a cell of a pool has one size: alloc another and copy the fields" },
	{ "delete", "use free(n), with pool node[4] { ... };" },
	{ "pthread_mutex_init", "omit it: a lock is free at the start" },
	{ "pthread_mutex_destroy", "omit it" },
	{ "pthread_mutex_timedlock", "a time-out is a choice: either { acquire(l); ... } or { ... }" },
	{ "mtx_trylock", "implement the lock: bool l; cas(l, false, true) takes it, and fails if it is taken" },
	{ "mtx_init", "omit it: a lock is free at the start" },
	{ "spin_lock", "use acquire(l), with lock l; declared outside the threads" },
	{ "spin_unlock", "use release(l)" },
	{ "mutex_lock", "use acquire(l), with lock l; declared outside the threads" },
	{ "mutex_unlock", "use release(l)" },
	{ "read_lock", "use acquire_read(r), with rwlock r; declared outside the threads" },
	{ "write_lock", "use acquire_write(r), with rwlock r; declared outside the threads" },
	{ "read_unlock", "use release(r)" },
	{ "write_unlock", "use release(r)" },
	{ "lock_guard", "use acquire(l) here, and release(l) on every path out" },
	{ "pthread_cond_timedwait", "a time-out is a choice: either { wait(c, l); } or { skip; }" },
	{ "pthread_cond_init", "omit it: no thread waits at a cond at the start" },
	{ "cnd_timedwait", "a time-out is a choice: either { wait(c, l); } or { skip; }" },
	{ "sem_getvalue", "its value is not read: use trywait(s)" },
	{ "sem_destroy", "omit it" },
	{ "pthread_exit", "use return;" },
	{ "exit", "use return; it ends this thread, the others go on" },
	{ "abort", "use assert(false)" },
	{ "pthread_detach", "omit it" },
	{ "pthread_self", "threads have no number: take one with fetch_add(next, 1)" },
	{ "thrd_create", "omit it: thread name * 2 { ... } runs two of them from the start" },
	{ "thrd_join", "set a variable at the end of the thread, and assume it here" },
	{ "thrd_yield", "omit it: any thread may run between two steps" },
	{ "sched_yield", "omit it: any thread may run between two steps" },
	{ "usleep", "omit it: any thread may run between two steps" },
	{ "nanosleep", "omit it: any thread may run between two steps" },
	{ "pthread_key_create", TLS },
	{ "pthread_getspecific", TLS },
	{ "pthread_setspecific", TLS },
	{ "atomic_exchange", "use exchange(x, v)" },
	{ "atomic_fetch_sub", "use fetch_add(x, -v)" },
	{ "atomic_fetch_or", "one step of its own: step { old = x; x = old | v; }" },
	{ "atomic_fetch_and", "one step of its own: step { old = x; x = old & v; }" },
	{ "atomic_fetch_xor", "one step of its own: step { old = x; x = old ^ v; }" },
	{ "atomic_init", "give it where the variable is declared" },
	{ "atomic_flag_test_and_set", "use exchange(x, true), with bool x;" },
	{ "atomic_flag_clear", "use x = false;" },
	{ "atomic_compare_exchange_weak",
	  "use cas(x, expected, new); it does not fail spuriously: either { cas(...) } or { ... } does" },
	{ "atomic_load_explicit", ORDERS },
	{ "atomic_store_explicit", ORDERS },
	{ "atomic_fetch_add_explicit", ORDERS },
	{ "atomic_exchange_explicit", ORDERS },
	{ "atomic_compare_exchange_strong_explicit", ORDERS },
	{ "atomic_thread_fence", FENCE },
	{ "smp_mb", FENCE },
	{ "__sync_synchronize", FENCE },
	{ "__sync_fetch_and_add", "use fetch_add(x, v)" },
	{ "__sync_bool_compare_and_swap", "use cas(x, expected, new)" },
	{ "__sync_lock_test_and_set", "use exchange(x, v)" },
	{ "__atomic_load_n", "read the variable: one access is one step" },
	{ "__atomic_store_n", "assign the variable: one access is one step" },
	{ "cmpxchg", "use cas(x, expected, new), which says whether it did" },
	{ "READ_ONCE", "read the variable: one access is one step" },
	{ "WRITE_ONCE", "assign the variable: one access is one step" },
	{ "rcu_read_lock", "count the readers: fetch_add(readers, 1); examples/rcu-grace-period.atm has the whole" },
	{ "synchronize_rcu", "wait for the readers that were there: examples/rcu-grace-period.atm has the whole" },
	{ "memcpy", "assign the struct: a = b; copies field by field" },
	{ "rand", "use any(lo..hi): every value is tried" },
	{ "fprintf", "omit it; intact sim shows every step" },
};

static const char *find(const struct word *list, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(list[i].word, name))
			return list[i].hint;
	return NULL;
}

const char *foreign_type_hint(const char *name)
{
	return find(types, COUNT(types), name);
}

const char *foreign_call_hint(const char *name)
{
	return find(calls, COUNT(calls), name);
}

static const char *name_at(const struct parser *p)
{
	return peek_kind(p) == T_NAME ? intern_str(p->names, peek(p)->value) : "";
}

static void report(struct parser *p, const char *hint)
{
	diag_error(p->d, "foreign-word", p->src, tok_span(peek(p)), "the model language has no '%s'", name_at(p));
	diag_hint(p->d, "%s", hint);
}

/* Over "{" ... "}" at the cursor. */
static void skip_braces(struct parser *p)
{
	uint32_t open = 0;
	do {
		open += peek_kind(p) == T_LBRACE;
		open -= peek_kind(p) == T_RBRACE;
		p->pos++;
	} while (open && peek_kind(p) != T_EOF);
}

bool foreign_declaration(struct parser *p)
{
	const char *word = name_at(p);
	bool is_typedef = !strcmp(word, "typedef");
	enum tok next = peek_at(p, 1);
	if (!is_typedef && strcmp(word, "union"))
		return false;
	if (!is_typedef && next != T_LBRACE &&
	    !(next == T_NAME && (peek_at(p, 2) == T_LBRACE || peek_at(p, 2) == T_NAME || peek_at(p, 2) == T_STAR)))
		return false; /* a type or a variable of that name */
	if (is_typedef && next != T_NAME && next != T_INT_TYPE && next != T_BOOL && next != T_ENUM)
		return false;
	bool of_struct = is_typedef && next == T_NAME && !strcmp(intern_str(p->names, p->toks.list[p->pos + 1].value), "struct");
	report(p, of_struct    ? "struct name { ... }; declares the type 'name'"
	          : is_typedef ? "name the type where it is used; enum e { A, B }; and struct s { ... }; declare types"
	                       : "use a struct: its fields do not share memory");
	while (peek_kind(p) != T_SEMI && peek_kind(p) != T_RBRACE && peek_kind(p) != T_EOF) {
		if (peek_kind(p) == T_LBRACE)
			skip_braces(p);
		else
			p->pos++;
	}
	if (peek_kind(p) == T_SEMI)
		p->pos++;
	return true;
}

void foreign_qualifiers(struct parser *p)
{
	for (;;) {
		const char *hint = find(qualifiers, COUNT(qualifiers), name_at(p));
		enum tok next = peek_at(p, 1);
		bool other = next == T_NAME &&
		             find(qualifiers, COUNT(qualifiers), intern_str(p->names, p->toks.list[p->pos + 1].value));
		if (!hint || (next != T_INT_TYPE && next != T_BOOL && next != T_ENUM && next != T_LOCK && !other))
			return;
		report(p, hint);
		p->pos++;
	}
}

void foreign_pointer(struct parser *p)
{
	if (peek_kind(p) != T_STAR)
		return;
	diag_error(p->d, "foreign-word", p->src, tok_span(peek(p)), "the model language has no pointers");
	diag_hint(p->d, "a reference to a cell of a pool is declared without *: pool node[4] { ... }; node n;");
	while (peek_kind(p) == T_STAR)
		p->pos++;
}

void foreign_address(struct parser *p)
{
	if (peek_kind(p) != T_AMP)
		return;
	diag_error(p->d, "foreign-word", p->src, tok_span(peek(p)), "the model language has no addresses");
	diag_hint(p->d, "name the variable itself, or use an index into an array");
	p->pos++;
}
