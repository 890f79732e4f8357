#!/bin/sh
# build.sh DIR TARGETS MESON-OPTIONS...: sets DIR up (with the compiler CC) when
# it is new and builds TARGETS ('' for all) there. One line says what is built,
# with what and how much of it; ninja's own line when there is a terminal; the
# whole output only when it fails. Says nothing when there is nothing to do.
set -eu
cd "$(dirname "$0")/.."
dir=$1 targets=$2
shift 2
cc=${CC:-cc}

if [ ! -f "$dir/build.ninja" ]; then
	meson setup "$dir" "$@" >"$dir.setup.log" 2>&1 || { cat "$dir.setup.log"; rm -f "$dir.setup.log"; exit 1; }
	rm -f "$dir.setup.log"
fi
# shellcheck disable=SC2086
steps=$(ninja -C "$dir" -n $targets 2>/dev/null | sed -n 's|^\[[0-9]*/\([0-9]*\)\].*|\1|p' | tail -1)
[ -n "$steps" ] || exit 0
case " $* " in *sanitize=address*) with=", ASan and UBSan" ;; *) with= ;; esac
# shellcheck disable=SC2086
case $targets in '') what=everything ;; tool) what="intact and its runtime" ;; fuzz/*) what="the fuzz targets" ;; *) what=$targets ;; esac
echo "building: $what in $dir with $cc $($cc -dumpfullversion 2>/dev/null || $cc -dumpversion)$with ($steps steps)"
if [ -t 1 ]; then
	# shellcheck disable=SC2086
	exec ninja --quiet -C "$dir" $targets
fi
# shellcheck disable=SC2086
ninja -C "$dir" $targets >"$dir/build.log" 2>&1 || { cat "$dir/build.log"; exit 1; }
