/* A write under a shared lock.
 * intact: race x */
#include <mutex>
#include <thread>
#include <shared_mutex>
#include "race.h"
static std::mutex m;
static std::shared_mutex s;
static volatile int x, y;
int main()
{
	
	std::thread t([&] {
		{ RACY(std::shared_lock<std::shared_mutex> g(s);) FIX(std::unique_lock<std::shared_mutex> g(s);) x = 1; /* @race */ }
		at(1);
	});
	std::thread u([&] {
		at(2);
		{ std::shared_lock<std::shared_mutex> g(s); y = x; /* @race */ }
	});
	t.join();
	u.join();
	return 0;
}
