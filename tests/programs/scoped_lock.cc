/* Two locks at once, two phases. To get both, std::scoped_lock lets go of one when
 * the other is taken, and tries again.
 * intact: none
 * intact: restarts */
#include <intact/annotate.h>
#include <mutex>
#include <thread>
struct Account {
	std::mutex m;
	int balance = 100;
};
static void transfer(Account &a, Account &b, int n)
{
	INTACT_ATOMIC("transfer");
	std::scoped_lock g(a.m, b.m);
	a.balance -= n;
	b.balance += n;
}
int main()
{
	Account a, b;
	std::thread x([&] { for (int i = 0; i < 30; i++) transfer(a, b, 1); });
	std::thread y([&] { for (int i = 0; i < 30; i++) transfer(b, a, 1); });
	x.join();
	y.join();
	return a.balance == 100 && b.balance == 100 ? 0 : 1;
}
