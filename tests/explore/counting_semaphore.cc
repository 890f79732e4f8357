// explore: find assertion
// explore: says inside == 1
// explore: flags -std=c++20
// explore: large
// std::counting_semaphore that lets in one too many. (The fixed one does not wait in acquire: that of libstdc++ 12 can
// miss a wake-up, docs/findings.md.)
#include <atomic>
#include <cassert>
#include <semaphore>
#include <thread>

int main()
{
#ifdef FIXED
	std::counting_semaphore<4> s{ 1 };
#else
	std::counting_semaphore<4> s{ 2 };
#endif
	std::atomic<int> inside{ 0 };
	auto work = [&] {
#ifdef FIXED
		while (!s.try_acquire())
			std::this_thread::yield();
#else
		s.acquire();
#endif
		inside++;
		assert(inside == 1);
		inside--;
		s.release();
	};
	std::thread t(work), u(work);
	t.join();
	u.join();
	return 0;
}
