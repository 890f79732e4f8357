/* A library with a marked block that is not atomic; NAME says which one it is. */
#include <intact/annotate.h>
#include <pthread.h>

#define TEXT2(x) #x
#define TEXT(x) TEXT2(x)
#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)

static pthread_mutex_t JOIN(NAME, _lock) = PTHREAD_MUTEX_INITIALIZER;
static int x;

static int get(void)
{
	pthread_mutex_lock(&JOIN(NAME, _lock));
	int r = x;
	pthread_mutex_unlock(&JOIN(NAME, _lock));
	return r;
}

static void set(int v)
{
	pthread_mutex_lock(&JOIN(NAME, _lock));
	x = v;
	pthread_mutex_unlock(&JOIN(NAME, _lock));
}

static void JOIN(NAME, _step)(void)
{
	char name[64] = "block of " TEXT(NAME); /* not even the library's own memory: the stack's */
	INTACT_ATOMIC(name);
	set(get() + 1);
}

void plugin_bump(void);
void plugin_bump(void)
{
	JOIN(NAME, _step)();
}
