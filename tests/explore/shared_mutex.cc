// explore: find assertion
// explore: large
// explore: flags -std=c++20
// std::shared_mutex, std::latch and std::counting_semaphore: a shared lock does not keep other readers out.
#include <atomic>
#include <cassert>
#include <latch>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <thread>

int main()
{
	std::shared_mutex m;
	std::latch both(2);
	std::counting_semaphore<4> done(0);
	std::atomic<int> inside{ 0 };
	auto work = [&] {
		both.arrive_and_wait();
		{
#ifdef FIXED
			std::unique_lock l(m);
#else
			std::shared_lock l(m);
#endif
			assert(inside.fetch_add(1) == 0);
			inside.fetch_sub(1);
		}
		done.release();
	};
	std::thread t(work), u(work);
	done.acquire();
	done.acquire();
	t.join();
	u.join();
	return 0;
}
