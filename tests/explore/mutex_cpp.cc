// explore: find assertion
// std::thread, std::mutex, std::condition_variable: notify_one for two waiters.
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

int main()
{
	std::mutex m;
	std::condition_variable c;
	int tickets = 0, served = 0;
	std::vector<std::thread> all;
	for (int i = 0; i < 2; i++)
		all.emplace_back([&] {
			std::unique_lock<std::mutex> l(m);
#ifdef FIXED
			c.wait(l, [&] { return tickets > 0; });
#else
			if (tickets == 0)
				c.wait(l);
#endif
			assert(tickets > 0);
			tickets--;
			served++;
		});
	for (int i = 0; i < 2; i++)
		all.emplace_back([&] {
			std::lock_guard<std::mutex> l(m);
			tickets++;
			c.notify_all();
		});
	for (auto &t : all)
		t.join();
	return served == 2 ? 0 : 1;
}
