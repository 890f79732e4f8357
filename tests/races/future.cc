/* The result of std::async, or a variable beside it.
 * intact: race beside */
#include <future>
#include "race.h"
static volatile int beside, y;
int main()
{
	std::future<int> f = std::async(std::launch::async, [] {
		beside = 1; /* @race */
		at(1);
		return 2;
	});
	at(2);
	RACY(y = beside; /* @race */)
	int v = f.get();
	y = beside;
	return v != 2;
}
