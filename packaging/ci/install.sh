#!/bin/sh
# Installs Intact on a CI machine: nothing to do when the command is there; else builds this tree.
#   install.sh [PREFIX]      default: $HOME/.local/intact
# Writes PREFIX/bin to $GITHUB_PATH where that exists.
set -eu
tree=$(cd "$(dirname "$0")/../.." && pwd)
prefix=${1:-${HOME:-/root}/.local/intact}
if command -v intact >/dev/null 2>&1; then
	intact version
	exit 0
fi
sudo=
[ "$(id -u)" = 0 ] || sudo=sudo
if command -v apt-get >/dev/null 2>&1 && ! { pkg-config --exists jansson libzstd zlib libdw && command -v meson; } >/dev/null 2>&1; then
	$sudo apt-get update
	$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
		gcc libc6-dev libdw-dev libjansson-dev libzstd-dev meson ninja-build pkg-config python3 zlib1g-dev
fi
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
meson setup "$build" "$tree" --prefix="$prefix" --libdir=lib -Dtests=false
meson install -C "$build" --quiet
[ -z "${GITHUB_PATH:-}" ] || echo "$prefix/bin" >>"$GITHUB_PATH"
"$prefix/bin/intact" version
