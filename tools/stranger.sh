#!/bin/sh
# A newcomer's first minutes: Intact is installed; the program of the README's first screen is reported; then a CMake
# project of their own, which knows nothing of Intact, is set up by `intact init`, built with the wrappers, its test
# watched, and the finding is there with function, file and line; repaired, it is silent.
# Each step is timed: "stranger: SECONDS what". Exit status 0 when each did what a newcomer is told.
# Needs: intact with its examples, gcc, cmake, make. tools/packages.sh runs it in a clean chroot.
# Usage: stranger.sh [EXAMPLES]      EXAMPLES: default: those that are installed beside the command
set -eu
examples=${1:+$(cd "$1" && pwd)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
begin=$(date +%s) at=$begin
passed() {
	now=$(date +%s)
	echo "stranger: $((now - at)) s: $1"
	at=$now
}
fail() { cat out; echo "stranger: FAILED: $1"; exit 1; }
expect() { # expect STATUS COMMAND...
	want=$1 status=0
	shift
	echo "\$ $*"
	"$@" >out 2>&1 || status=$?
	[ "$status" = "$want" ] || fail "status $status, expected $want: $*"
}

# ---- the README's first screen ----
share=$(dirname "$(command -v intact)")/../share/doc
[ -n "$examples" ] || for d in intact intact-doc; do [ ! -d "$share/$d/examples" ] || examples=$share/$d/examples; done
[ -n "$examples" ] || { echo "stranger.sh: no examples beside $(command -v intact)" >&2; exit 2; }
cp -r "$examples" examples
expect 0 intact cc -g examples/c/lost-update.c -o lost-update -pthread
expect 66 intact run ./lost-update
grep -q 'increment is not atomic' out || fail "the README's finding"
passed "the README's program is reported"
expect 1 intact check examples/lost-update.atm
grep -q 'The update of count' out || fail "the README's counterexample"
expect 0 intact check examples/lost-update-fixed.atm
passed "the README's models are decided"

# ---- a project of their own ----
mkdir shop
cat >shop/stock.c <<'END'
#include "stock.h"
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int items = 100;

int stock_left(void)
{
	pthread_mutex_lock(&lock);
	int n = items;
	pthread_mutex_unlock(&lock);
	return n;
}

static void stock_set(int n)
{
	pthread_mutex_lock(&lock);
	items = n;
	pthread_mutex_unlock(&lock);
}

int stock_sell(int n)
{
	int left = stock_left();
	if (left < n)
		return 0;
	stock_set(left - n);
	return n;
}
END
printf 'int stock_left(void);\nint stock_sell(int n);\n' >shop/stock.h
cat >shop/test.c <<'END'
#include "stock.h"
#include <pthread.h>
#include <stdio.h>

static void *customer(void *arg)
{
	for (int i = 0; i < 5; i++)
		stock_sell(2);
	return arg;
}

int main(void)
{
	pthread_t t[3];
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, customer, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	printf("%d left\n", stock_left());
	return 0;
}
END
cat >shop/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.16)
project(shop C)
find_package(Threads REQUIRED)
enable_testing()
add_executable(shop-test stock.c test.c)
target_link_libraries(shop-test Threads::Threads)
add_test(NAME shop COMMAND shop-test)
END
cd shop
expect 0 cmake -S . -B plain
expect 0 cmake --build plain
expect 0 ctest --test-dir plain
passed "their project builds, and its test passes"
expect 0 intact doctor --quick
expect 0 intact init --write
for said in "cmake --preset intact" "cmake --build --preset intact" "ctest --preset intact"; do
	grep -q -e "$said" out || fail "intact init does not say: $said"
done
expect 0 cmake --preset intact
expect 0 cmake --build --preset intact
expect 66 intact run -- ctest --preset intact
grep -q 'stock_sell is not atomic' out || fail "stock_sell"
grep -q 'stock.c:' out || fail "file and line of stock_sell"
passed "its lost update is reported, with file and line"
sed -i 's/^static void stock_set/void stock_set/; /^int stock_sell/,$d' stock.c
cat >>stock.c <<'END'
int stock_sell(int n)
{
	int sold = 0;
	pthread_mutex_lock(&lock);
	if (items >= n) {
		items -= n;
		sold = n;
	}
	pthread_mutex_unlock(&lock);
	return sold;
}
END
expect 0 cmake --build --preset intact
expect 0 intact run -- ctest --preset intact
passed "repaired, nothing is reported"
echo "stranger: $(($(date +%s) - begin)) s in all"
