/* An exception leaves the lock; the handler writes.
 * intact: race x */
#include <mutex>
#include <thread>
#include "race.h"
static std::mutex m;
static volatile int x;
int main()
{
	
	std::thread t([&] {
		try { std::lock_guard<std::mutex> g(m); throw 1; } catch (int) { FIX(std::lock_guard<std::mutex> g(m);) x = 1; /* @race */ }
		at(1);
	});
	std::thread u([&] {
		at(2);
		{ std::lock_guard<std::mutex> g(m); x = 2; /* @race */ }
	});
	t.join();
	u.join();
	return 0;
}
