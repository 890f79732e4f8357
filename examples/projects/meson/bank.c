#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int balance = 100;

static int get(void)
{
	pthread_mutex_lock(&lock);
	int now = balance;
	pthread_mutex_unlock(&lock);
	return now;
}

static void set(int value)
{
	pthread_mutex_lock(&lock);
	balance = value;
	pthread_mutex_unlock(&lock);
}

static void deposit(int amount)
{
	set(get() + amount);
}

static void *customer(void *arg)
{
	deposit(*(int *)arg);
	return NULL;
}

int main(void)
{
	pthread_t a, b;
	int ten = 10, twenty = 20;
	pthread_create(&a, NULL, customer, &ten);
	pthread_create(&b, NULL, customer, &twenty);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("balance = %d\n", balance);
	return 0;
}
