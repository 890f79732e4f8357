/* A marked block that makes a thread and waits for its end: what the thread
 * does stands between.
 * intact: find ask confirmed */
#include <intact/annotate.h>
#include <pthread.h>
static int question, answer;
static void *think(void *arg)
{
	answer = question * 2;
	return arg;
}
static int ask(int q)
{
	INTACT_ATOMIC("ask"); /* @entered */
	pthread_t t;
	question = q;
	pthread_create(&t, NULL, think, NULL);
	pthread_join(t, NULL);
	return answer;
}
int main(void)
{
	return ask(21) == 42 ? 0 : 1;
}
