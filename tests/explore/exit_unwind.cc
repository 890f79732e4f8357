// explore: find deadlock
// pthread_exit unwinds: what holds the lock gives it back, what was released by hand does not.
#include <mutex>
#include <pthread.h>
#include <thread>

int main()
{
	std::mutex m;
	std::thread t([&] {
		std::unique_lock<std::mutex> l(m);
#ifndef FIXED
		l.release();
#endif
		pthread_exit(nullptr);
	});
	m.lock();
	m.unlock();
	t.join();
	return 0;
}
