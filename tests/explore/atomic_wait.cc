// explore: find lost-wakeup
// explore: flags -std=c++20
// std::atomic::wait: the flag is changed, but nobody is told.
#include <atomic>
#include <thread>

int main()
{
	std::atomic<int> flag{ 0 };
	std::thread t([&] { flag.wait(0); });
	flag.store(1);
#ifdef FIXED
	flag.notify_one();
#endif
	t.join();
	return 0;
}
