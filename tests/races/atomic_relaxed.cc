/* std::atomic with a relaxed store.
 * intact: race data */
#include <mutex>
#include <thread>
#include <atomic>
#include "race.h"
static std::mutex m;
static volatile int data, y;
static std::atomic<bool> flag;
int main()
{
	
	std::thread t([&] {
		data = 1; /* @race */ flag.store(true, RACY(std::memory_order_relaxed) FIX(std::memory_order_release));
		at(1);
	});
	std::thread u([&] {
		at(2);
		if (flag.load(std::memory_order_acquire)) y = data; /* @race */
	});
	t.join();
	u.join();
	return 0;
}
