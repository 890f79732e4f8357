/* confirm: finds deposit -- two scopes, two guards, one gap. */
#include <mutex>
#include <thread>

class Account {
	std::mutex m;
	int sum = 0;

public:
	void deposit(int by)
	{
		int old;
#ifdef FIXED
		std::lock_guard<std::mutex> g(m);
		old = sum;
		sum = old + by;
#else
		{
			std::lock_guard<std::mutex> g(m);
			old = sum;
		}
		{
			std::lock_guard<std::mutex> g(m);
			sum = old + by;
		}
#endif
	}
};

static Account account;

static void teller(int by)
{
	account.deposit(by);
}

int main()
{
	std::thread a(teller, 1), b(teller, 2);
	a.join();
	b.join();
	return 0;
}
