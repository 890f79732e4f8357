/* JDK 1.4 Vector.lastIndexOf(elem): the size is read in one section, the array searched in the next;
 * removeAllElements in between.
 * corpus: finds lastIndexOf -- torn read, stale value */
#include "corpus.h"
static pthread_mutex_t lock = MUTEX;
static int elementCount = 4, elementData[4] = { 1, 2, 3, 4 };
static volatile int found;
static int size(void)
{
	LOCK(lock);
	int n = elementCount;
	UNLOCK(lock);
	return n;
}
static int search(int elem, int from)
{
	LOCK(lock);
	int i = from;
	while (i >= 0 && elementData[i] != elem)
		i--;
	UNLOCK(lock);
	return i;
}
static int lastIndexOf(int elem)
{
#ifdef FIXED
	LOCK(lock);
	int i = elementCount - 1;
	while (i >= 0 && elementData[i] != elem)
		i--;
	UNLOCK(lock);
	return i;
#else
	int n = size();
	GAP();
	return search(elem, n - 1);
#endif
}
static void removeAllElements(void)
{
	LOCK(lock);
	for (int i = 0; i < 4; i++)
		elementData[i] = 0;
	elementCount = 0;
	UNLOCK(lock);
}
static void *first(void *arg)
{
	found = lastIndexOf(2);
	return arg;
}
static void *second(void *arg)
{
	INTRUDE();
	removeAllElements();
	INTRUDED();
	return arg;
}
int main(void)
{
	return run_both(first, second);
}
