/* The thread it makes touches nothing: nobody came in between.
 * intact: none */
#include <intact/annotate.h>
#include <pthread.h>
static int question;
static void *idle(void *arg)
{
	return arg;
}
static int ask(int q)
{
	INTACT_ATOMIC("ask");
	pthread_t t;
	question = q;
	pthread_create(&t, NULL, idle, NULL);
	pthread_join(t, NULL);
	return question;
}
int main(void)
{
	return ask(21) == 21 ? 0 : 1;
}
