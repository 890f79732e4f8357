// explore: find lost-wakeup
// explore: flags -std=c++20
// explore: large
// condition_variable_any with a lock of the reader's side of a shared_mutex: the flag is set outside of the lock.
#include <condition_variable>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <atomic>

int main()
{
	std::shared_mutex m;
	std::condition_variable_any c;
	std::atomic<bool> ready{ false };
	std::thread t([&] {
		std::shared_lock l(m);
		while (!ready)
			c.wait(l);
	});
#ifdef FIXED
	{
		std::unique_lock l(m);
		ready = true;
	}
#else
	ready = true;
#endif
	c.notify_one();
	t.join();
	return 0;
}
