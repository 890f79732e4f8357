/* confirm: finds process -- the lock is let go for the work, and what was read is used behind it. */
#include <mutex>
#include <thread>

class Job {
	std::mutex m;
	int next = 0, finished = 0;

public:
	void process()
	{
		std::unique_lock<std::mutex> l(m);
		int mine = next;
#ifndef FIXED
		l.unlock();
		l.lock();
#endif
		next = mine + 1;
		finished++;
	}
};

static Job job;

static void worker()
{
	job.process();
}

int main()
{
	std::thread a(worker), b(worker);
	a.join();
	b.join();
	return 0;
}
