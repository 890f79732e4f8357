/* The paper's StringBuffer.append: the argument's lock is released between
 * length and getChars. The window is not exploited here.
 * intact: find sb_append predicted
 * intact: pattern stale value of 'b'+40
 * explore: none -- its threads never overlap */
#include <pthread.h>
#include <string.h>
struct sb {
	pthread_mutex_t lock;
	int count;
	char value[64];
};
static void sb_init(struct sb *b, const char *s)
{
	pthread_mutex_init(&b->lock, NULL);
	b->count = (int)strlen(s);
	memcpy(b->value, s, (size_t)b->count);
}
static int sb_length(struct sb *b)
{
	pthread_mutex_lock(&b->lock);
	int n = b->count;
	pthread_mutex_unlock(&b->lock); /* @commit */
	return n;
}
static void sb_get_chars(struct sb *b, int n, char *dst)
{
	pthread_mutex_lock(&b->lock); /* @violation */
	memcpy(dst, b->value, (size_t)n);
	pthread_mutex_unlock(&b->lock);
}
static void sb_append(struct sb *to, struct sb *from)
{ /* @entered */
	pthread_mutex_lock(&to->lock);
	int len = sb_length(from);
	sb_get_chars(from, len, to->value + to->count);
	to->count += len;
	pthread_mutex_unlock(&to->lock);
}
static void sb_clear(struct sb *b)
{
	pthread_mutex_lock(&b->lock);
	b->count = 0;
	pthread_mutex_unlock(&b->lock);
}
static struct sb a, b;
static void *appender(void *arg)
{
	sb_append(&a, &b);
	return arg;
}
static void *clearer(void *arg)
{
	sb_clear(&b);
	return arg;
}
int main(void)
{
	pthread_t t;
	sb_init(&a, "abc");
	sb_init(&b, "def");
	pthread_create(&t, NULL, appender, NULL);
	pthread_join(t, NULL);
	pthread_create(&t, NULL, clearer, NULL);
	pthread_join(t, NULL);
	return a.count == 6 ? 0 : 1;
}
