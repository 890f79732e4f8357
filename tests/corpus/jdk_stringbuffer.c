/* JDK 1.4 StringBuffer.append: the length of the argument is asked in one section, its characters are copied in
 * the next (Flanagan and Freund, Atomizer).
 * corpus: finds sb_append -- stale value, torn read */
#include "corpus.h"
struct sb {
	pthread_mutex_t lock;
	int count;
	char value[32];
};
static struct sb from = { MUTEX, 5, "hello" }, to = { MUTEX, 0, "" };
static int sb_length(struct sb *b)
{
	LOCK(b->lock);
	int n = b->count;
	UNLOCK(b->lock);
	return n;
}
static void sb_get_chars(struct sb *b, int n, char *dst)
{
	LOCK(b->lock);
	memcpy(dst, b->value, (size_t)n);
	UNLOCK(b->lock);
}
static void sb_append(struct sb *dst, struct sb *src)
{
#ifdef FIXED
	char copy[32];
	LOCK(src->lock);
	int n = src->count;
	memcpy(copy, src->value, (size_t)n);
	UNLOCK(src->lock);
	LOCK(dst->lock);
	memcpy(dst->value + dst->count, copy, (size_t)n);
	dst->count += n;
	UNLOCK(dst->lock);
#else
	char copy[32];
	int n = sb_length(src);
	GAP();
	sb_get_chars(src, n, copy);
	LOCK(dst->lock);
	memcpy(dst->value + dst->count, copy, (size_t)n);
	dst->count += n;
	UNLOCK(dst->lock);
#endif
}
static void sb_set_length(struct sb *b, int n)
{
	LOCK(b->lock);
	b->count = n;
	UNLOCK(b->lock);
}
static void *first(void *arg)
{
	sb_append(&to, &from);
	return arg;
}
static void *second(void *arg)
{
	INTRUDE();
	sb_set_length(&from, 0);
	INTRUDED();
	return arg;
}
int main(void)
{
	return run_both(first, second);
}
