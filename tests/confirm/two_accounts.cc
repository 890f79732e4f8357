/* confirm: finds move -- the balance is checked under one lock, the money moved under both. */
#include <mutex>
#include <thread>

struct Account {
	std::mutex m;
	int sum = 15;
};

static Account one, two;

static bool move(Account &from, Account &to, int sum)
{
#ifdef FIXED
	std::lock(from.m, to.m);
	std::lock_guard<std::mutex> a(from.m, std::adopt_lock), b(to.m, std::adopt_lock);
	if (from.sum < sum)
		return false;
#else
	{
		std::lock_guard<std::mutex> g(from.m);
		if (from.sum < sum)
			return false;
	}
	std::lock(from.m, to.m);
	std::lock_guard<std::mutex> a(from.m, std::adopt_lock), b(to.m, std::adopt_lock);
#endif
	from.sum -= sum;
	to.sum += sum;
	return true;
}

int main()
{
	std::thread a([] { move(one, two, 7); }), b([] { move(one, two, 6); });
	a.join();
	b.join();
	return 0;
}
