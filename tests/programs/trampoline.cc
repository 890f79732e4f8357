/* The thread's own function is the one that std::thread calls, or that a lambda
 * given to it calls through a pointer.
 * intact: none */
#include <functional>
#include <mutex>
#include <thread>
static std::mutex m;
static int x;
static void worker(int n)
{
	for (int i = 0; i < n; i++) {
		{
			std::lock_guard<std::mutex> g(m);
			x++;
		}
		std::lock_guard<std::mutex> g(m);
		x++;
	}
}
struct Task {
	int n;
	virtual ~Task() {}
	virtual void run()
	{
		{
			std::lock_guard<std::mutex> g(m);
			x += n;
		}
		std::lock_guard<std::mutex> g(m);
		x -= n;
	}
};
struct Other : Task {
	void run() override { Task::run(); }
};
static void start(std::function<void()> f)
{
	std::thread a(f), b(f);
	a.join();
	b.join();
}
int main(int argc, char **)
{
	void (*volatile through)(int) = worker;
	Task t, o;
	t.n = o.n = argc;
	std::thread a(worker, 1), b(&Task::run, &t);
	a.join();
	b.join();
	start([&] { through(1); });
	start([&] { (argc > 5 ? &o : &t)->run(); });
	return x == 6 ? 0 : 1;
}
