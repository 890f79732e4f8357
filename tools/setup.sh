#!/bin/sh
# Makes sure the packages a target needs are there: installs them when run as
# root, names them otherwise. Usage: setup.sh build|test|fuzz|bench, from the
# root of the source.
set -eu

need=
want() { # want PACKAGE TEST...
	pkg=$1
	shift
	"$@" >/dev/null 2>&1 || need="$need $pkg"
}
has_lib() { pkg-config --exists "$1"; }

want gcc command -v gcc
want pkg-config command -v pkg-config
want meson command -v meson
want ninja-build command -v ninja
if command -v pkg-config >/dev/null 2>&1; then
	want libjansson-dev has_lib jansson
	want libzstd-dev has_lib libzstd
	want zlib1g-dev has_lib zlib
	want libdw-dev has_lib libdw
else
	need="$need libjansson-dev libzstd-dev zlib1g-dev libdw-dev"
fi
case "${1:-build}" in
test | fuzz)
	want clang command -v clang
	want libclang-rt-14-dev test -n "$(ls -d /usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.fuzzer-*.a 2>/dev/null)"
	want python3 command -v python3
	want spin command -v spin
	want chromium command -v chromium
	want npm command -v npm
	want python3-jsonschema test -f /usr/lib/python3/dist-packages/jsonschema/__init__.py
	;;
bench)
	want valgrind command -v valgrind
	want time test -x /usr/bin/time
	want clang command -v clang
	want python3 command -v python3
	want spin command -v spin
	;;
esac

# The browser tests drive Chromium with playwright-core, kept beside the builds.
# Without it they are skipped, and say so.
playwright() {
	[ "${1:-build}" = test ] || return 0
	[ -f build-browser/node_modules/playwright-core/package.json ] && return 0
	command -v npm >/dev/null 2>&1 || return 0
	mkdir -p build-browser
	npm install --prefix build-browser --no-audit --no-fund --silent playwright-core@1 >/dev/null 2>&1 ||
		echo "could not install playwright-core: the browser tests will be skipped" >&2
}

[ -n "$need" ] || { playwright "$@"; exit 0; }
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
	echo "installing:$need" >&2
	export DEBIAN_FRONTEND=noninteractive
	log=$(mktemp)
	# shellcheck disable=SC2086
	{ apt-get update && apt-get install -y --no-install-recommends $need; } >"$log" 2>&1 || {
		cat "$log" >&2
		rm -f "$log"
		echo "could not install:$need" >&2
		exit 1
	}
	rm -f "$log"
	playwright "$@"
else
	echo "missing packages; install them with" >&2
	echo "  sudo apt-get install$need" >&2
	exit 1
fi
