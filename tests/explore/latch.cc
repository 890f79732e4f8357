// explore: find assertion
// explore: says parts == 2
// explore: flags -std=c++20
// explore: large
// std::latch: one of the parts is counted before it is made.
#include <atomic>
#include <cassert>
#include <latch>
#include <thread>

int main()
{
	std::latch both{ 2 };
	std::atomic<int> parts{ 0 };
	auto work = [&](bool early) {
#ifdef FIXED
		early = false;
#endif
		if (early)
			both.count_down();
		parts++;
		if (!early)
			both.count_down();
	};
	std::thread t(work, false), u(work, true);
	both.wait();
	assert(parts == 2);
	t.join();
	u.join();
	return 0;
}
