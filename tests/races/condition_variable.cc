/* What is written after the notification.
 * intact: race data */
#include <condition_variable>
#include <mutex>
#include <thread>
#include "race.h"
static std::mutex m;
static std::condition_variable c;
static bool ready;
static volatile int data, y;
int main()
{
	std::thread t([] {
		std::unique_lock<std::mutex> g(m);
		at(1);
		c.wait(g, [] { return ready; });
		g.unlock();
		at(3);
		y = data; /* @race */
	});
	std::thread u([] {
		while (sched_step < 1)
			sched_yield();
		FIX(data = 1;)
		{
			std::lock_guard<std::mutex> g(m);
			ready = true;
		}
		c.notify_one();
		RACY(data = 1; /* @race */)
		at(2);
	});
	t.join();
	u.join();
	return 0;
}
