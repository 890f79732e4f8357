#!/bin/sh
# Makes sure the packages a target needs are there: installs them when run as
# root, names them otherwise. Usage: setup.sh build|demo|test|lint|coverage|fuzz|bench|playground, from
# the root of the source. One line on stderr for each thing that takes time;
# silent when nothing is missing. Nothing is written outside the tree but what
# apt installs.
set -eu
target=${1:-build}

need=
want() { # want PACKAGE TEST...
	pkg=$1
	shift
	"$@" >/dev/null 2>&1 || need="$need $pkg"
}
has_lib() { pkg-config --exists "$1"; }

# clang's sanitizers and libFuzzer are a package of their own that carries
# clang's version: of the clang that is here, or else of the one that `clang`
# will bring. Fails when neither is known.
clang_rt() {
	v=$(clang -dumpversion 2>/dev/null | cut -d. -f1) || v=
	[ -n "$v" ] || v=$(apt-cache depends --important clang 2>/dev/null | sed -n 's/.*Depends: clang-\([0-9]*\)$/\1/p' | head -1)
	[ -n "$v" ] && echo "libclang-rt-$v-dev"
}
has_clang_rt() { [ -n "$(ls "$(clang -print-resource-dir)"/lib/*/libclang_rt.fuzzer[-.]*a)" ]; }

# clang -fopenmp links it; tests/explore has a program that does
has_libomp() { [ -e "$(clang -print-resource-dir)/../../libomp.so" ]; }

want ninja-build command -v ninja
if [ "$target" != playground ]; then
	want gcc command -v gcc
	want libc6-dev test -f /usr/include/stdio.h
	want pkg-config command -v pkg-config
	want meson command -v meson
	if command -v pkg-config >/dev/null 2>&1; then
		want libjansson-dev has_lib jansson
		want libzstd-dev has_lib libzstd
		want zlib1g-dev has_lib zlib
		want libdw-dev has_lib libdw
	else
		need="$need libjansson-dev libzstd-dev zlib1g-dev libdw-dev"
	fi
fi
case $target in
playground)
	want emscripten command -v emcc
	want nodejs command -v node
	want python3 command -v python3
	;;
test | fuzz)
	want g++ command -v g++
	want clang command -v clang
	want CLANG_RT has_clang_rt
	want python3 command -v python3
	;;
esac
case $target in
test)
	want spin command -v spin
	want chromium command -v chromium
	want libomp-dev has_libomp
	want libgtest-dev test -f /usr/include/gtest/gtest.h
	want npm command -v npm
	want python3-pytest test -f /usr/lib/python3/dist-packages/pytest/__init__.py
	want python3-jsonschema test -f /usr/lib/python3/dist-packages/jsonschema/__init__.py
	;;
lint)
	want clang command -v clang
	want clang-tidy command -v clang-tidy
	want clang-format command -v clang-format
	;;
coverage)
	want python3 command -v python3
	want gcovr command -v gcovr
	;;
bench)
	want valgrind command -v valgrind
	want time test -x /usr/bin/time
	want clang command -v clang
	want python3 command -v python3
	want spin command -v spin
	;;
esac

# CLANG_RT in the list becomes the package's name; before `apt-get update` it
# can be unknown.
name_packages() {
	case $need in
	*CLANG_RT*)
		rt=$(clang_rt) || return 1
		need=$(echo "$need" | sed "s/CLANG_RT/$rt/")
		;;
	esac
}

install() {
	export DEBIAN_FRONTEND=noninteractive
	log=$(mktemp)
	trap 'rm -f "$log"' EXIT
	echo "installing: package lists" >&2
	apt-get update >"$log" 2>&1 || { cat "$log" >&2; echo "could not update the package lists" >&2; exit 1; }
	name_packages || { echo "apt knows no package clang: is there a Debian or Ubuntu mirror in /etc/apt?" >&2; exit 1; }
	# shellcheck disable=SC2086
	n=$(apt-get install -s --no-install-recommends $need 2>/dev/null | grep -c '^Inst ' || true)
	echo "installing:$need ($n packages in all)" >&2
	# shellcheck disable=SC2086
	apt-get install -y --no-install-recommends $need >"$log" 2>&1 || {
		cat "$log" >&2
		echo "could not install:$need" >&2
		exit 1
	}
}

# The browser tests drive Chromium with the packages of tests/browser's lock
# file, kept beside the builds. Without them they are skipped, and say so.
browser() {
	[ "$target" = test ] || return 0
	lock=tests/browser/package-lock.json
	cmp -s $lock build-browser/package-lock.json && [ -f build-browser/installed ] && return 0
	command -v npm >/dev/null 2>&1 || return 0
	echo "installing: $(sed -n 's/^ *"\([a-z-]*\)": "\([0-9.]*\)",*$/\1 \2/p' tests/browser/package.json | tr '\n' ',' | sed 's/,$//; s/,/, /g') from npm" >&2
	rm -rf build-browser
	mkdir build-browser
	cp tests/browser/package.json $lock build-browser
	if (cd build-browser && npm_config_cache=$PWD/cache npm_config_update_notifier=false npm ci --no-audit --no-fund --ignore-scripts) >build-browser/install.log 2>&1; then
		rm -rf build-browser/cache
		touch build-browser/installed
	else
		sed -n 's/^npm \(ERR!\|error\) /npm: /p' build-browser/install.log | head -3 >&2
		echo "could not install them: the browser tests will be skipped (build-browser/install.log)" >&2
	fi
}

if [ -n "$need" ]; then
	if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
		name_packages || need=$(echo "$need" | sed 's/CLANG_RT/libclang-rt-dev/')
		echo "missing packages; install them with" >&2
		echo "  sudo apt-get update && sudo apt-get install$need" >&2
		exit 1
	fi
	install
fi
browser
