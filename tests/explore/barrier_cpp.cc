// explore: find assertion
// explore: says second == 2
// explore: flags -std=c++20
// explore: large
// std::barrier: the second phase is looked at behind the first.
#include <atomic>
#include <barrier>
#include <cassert>
#include <thread>

int main()
{
	std::barrier<> both{ 2 };
	std::atomic<int> second{ 0 };
	auto work = [&] {
		both.arrive_and_wait();
		second++;
#ifdef FIXED
		both.arrive_and_wait();
#endif
		assert(second == 2);
	};
	std::thread t(work), u(work);
	t.join();
	u.join();
	return 0;
}
