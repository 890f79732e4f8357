/* A lock of std::atomic_flag, cleared with a relaxed order.
 * intact: race data */
#include <mutex>
#include <thread>
#include <atomic>
#include "race.h"
static std::mutex m;
static volatile int data;
static std::atomic_flag l = ATOMIC_FLAG_INIT;
static void take() { while (l.test_and_set(std::memory_order_acquire)); }
static void give() { l.clear(RACY(std::memory_order_relaxed) FIX(std::memory_order_release)); }
int main()
{
	
	std::thread t([&] {
		take(); data++; /* @race */ give();
		at(1);
	});
	std::thread u([&] {
		at(2);
		take(); data++; /* @race */ give();
	});
	t.join();
	u.join();
	return 0;
}
