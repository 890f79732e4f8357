/* CVE-2019-6974 (KVM): the device is published in the table before its reference is taken; another thread closes
 * it in between.
 * corpus: finds kvm_ioctl_create_device -- lost update, stale value, broken invariant, check-then-act */
#include "corpus.h"
static pthread_mutex_t lock = MUTEX;
static int fd_of_device;
static volatile int users_count;
static void anon_inode_getfd(int fd)
{
	LOCK(lock);
	fd_of_device = fd;
	UNLOCK(lock);
}
static void kvm_get_kvm(void)
{
	LOCK(lock);
	users_count = 1;
	UNLOCK(lock);
}
static void kvm_ioctl_create_device(int fd)
{
#ifdef FIXED
	LOCK(lock);
	users_count = 1;
	fd_of_device = fd;
	UNLOCK(lock);
#else
	anon_inode_getfd(fd);
	GAP();
	kvm_get_kvm();
#endif
}
static void close_device(void)
{
	LOCK(lock);
	if (fd_of_device) {
		users_count = 0;
		fd_of_device = 0;
	}
	UNLOCK(lock);
}
static void *first(void *arg)
{
	kvm_ioctl_create_device(4);
	return arg;
}
static void *second(void *arg)
{
	INTRUDE();
	close_device();
	INTRUDED();
	return arg;
}
int main(void)
{
	return run_both(first, second);
}
