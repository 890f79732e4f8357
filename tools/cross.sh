#!/bin/bash
# cross.sh: builds for another machine in a chroot of a Debian release, and tests what was built under qemu-user.
#
# The chroot has Debian's cross compiler and the libraries of the other architecture. Built is what is committed: everything but the runtime of
# watched programs, which is for x86-64 (docs/install.md). Run are the unit tests, which compare every engine with its naive twin, and every
# example, whose result as JSON must be that of this machine's command, byte by byte. See chroot.sh for what of the host they see.
set -euo pipefail

usage() {
	cat <<'END'
usage: tools/cross.sh [OPTIONS] RELEASE      RELEASE: bookworm, trixie, ...
  --arch=ARCH      arm64 (default), or another of Debian's that qemu-user runs
  --tests=NAMES    unit tests to run, as meson names them (default: all)
  --intact=FILE    this machine's command, for comparison (default: build/src/cli/intact)
  --dir=DIR        make the chroot in DIR (default: a new directory in $TMPDIR or /tmp)
  --keep           keep the chroot
  --reuse          use the chroot that an earlier run left in DIR, and its build
  --mirror=URI     take packages from URI, not from the host's sources
The logs stay in DIR. Exit status: 0 when all passed, 1 when not, 2 on a usage error.
END
}
# shellcheck source=tools/chroot.sh
. "$(dirname "$0")/chroot.sh"

tree=$(cd "$(dirname "$0")/.." && pwd)
arch=arm64 tests='' intact=$tree/build/src/cli/intact dir='' keep=no reuse=no mirror='' release=''
for a in "$@"; do
	case $a in
	--arch=*) arch=${a#*=} ;;
	--tests=*) tests=${a#*=} ;;
	--intact=*) intact=${a#*=} ;;
	--dir=*) dir=${a#*=} ;;
	--keep) keep=yes ;;
	--reuse) reuse=yes keep=yes ;;
	--mirror=*) mirror=${a#*=} ;;
	-h | --help) usage; exit 0 ;;
	-*) usage >&2; die "unknown option $a" ;;
	*) [ -z "$release" ] || die "one RELEASE at a time"; release=$a ;;
	esac
done
[ -n "$release" ] || { usage >&2; exit 2; }
chroot_wanted
[ $reuse = no ] || [ -n "$dir" ] || die "--reuse needs --dir=DIR"
[ -x "$intact" ] || die "$intact is not there: make, or --intact=FILE"
case $arch in
arm64) cpu=aarch64 family=aarch64 endian=little triplet=aarch64-linux-gnu ;;
riscv64) cpu=riscv64 family=riscv64 endian=little triplet=riscv64-linux-gnu ;;
ppc64el) cpu=ppc64le family=ppc64 endian=little triplet=powerpc64le-linux-gnu ;;
*) die "--arch: arm64, riscv64 or ppc64el" ;;
esac
chroot_alone $keep cross "$@"

failed=0
root=$dir/cross home=/home/tester/intact
# step NAME USER DIRECTORY COMMAND...: with a line on how it went, the log in NAME.log
step() {
	local name=$1 t status=0
	shift
	t=$(date +%s)
	chroot_as "$root" "$@" >"$dir/$name.log" 2>&1 || status=$?
	say "$arch: $name: $([ $status = 0 ] && echo passed || echo "FAILED (status $status)"), $(since "$t")"
	[ $status = 0 ] || { failed=1; tail -15 "$dir/$name.log" | sed 's/^/    /'; }
	return $status
}

if [ $reuse = yes ] && [ -d "$root/etc" ]; then
	say "the chroot of an earlier run"
else
	chroot_make "$root" "gcc-$triplet,gcc,libc6-dev,meson,ninja-build,pkg-config,python3,qemu-user-static,ca-certificates,$(
	)libc6-dev:$arch,libjansson-dev:$arch,libzstd-dev:$arch,zlib1g-dev:$arch,libdw-dev:$arch" "--architectures=$(dpkg --print-architecture),$arch"
fi
chroot_mount "$root"
say "commit $(git -C "$tree" rev-parse --short HEAD)"
mkdir -p "$root$home"
git -C "$tree" archive HEAD | tar -x -C "$root$home"
cat >"$root$home/cross.ini" <<END
[binaries]
c = '$triplet-gcc'
ar = '$triplet-gcc-ar'
ld = '$triplet-ld'
objcopy = '$triplet-objcopy'
strip = '$triplet-strip'
pkg-config = 'pkg-config'
pkgconfig = 'pkg-config'
exe_wrapper = ['qemu-$cpu-static']
[properties]
pkg_config_libdir = '/usr/lib/$triplet/pkgconfig:/usr/share/pkgconfig'
[host_machine]
system = 'linux'
cpu_family = '$family'
cpu = '$cpu'
endian = '$endian'
END
chroot "$root" chown -R tester:tester "$home"
[ -f "$root$home/build/build.ninja" ] || step configure tester "$home" meson setup build --cross-file cross.ini -Dwerror=true -Db_ndebug=false || exit 1
step build tester "$home" ninja -C build -j2 || exit 1
# shellcheck disable=SC2086
step unit tester "$home" meson test -C build --no-rebuild -j2 --suite unit --timeout-multiplier 20 --print-errorlogs $tests || true
say "$arch: unit tests: $(sed -n 's/^\(Ok\|Fail\|Timeout\): *\([0-9]*\)/\1 \2/p' "$dir/unit.log" | tr '\n' ' ')"

# every example: the same bytes on both machines
t=$(date +%s) n=0
differ=''
for f in "$tree"/examples/*.atm "$tree"/examples/*.sml "$tree"/examples/separating/*.atm "$tree"/examples/history/*.{edn,json,csv} "$tree"/examples/traces/*.std; do
	name=${f#"$tree"/}
	case $name in *.atm | *.sml) argv="check -q" ;; *.std) argv="trace --predict" ;; *) argv=history ;; esac
	# shellcheck disable=SC2086
	here=$(cd "$tree" && "$intact" $argv --json=- "$name" 2>/dev/null) && here="0 $here" || here="$? $here"
	# shellcheck disable=SC2086
	there=$(chroot_as "$root" tester "$home" "qemu-$cpu-static" build/src/cli/intact $argv --json=- "$name" 2>/dev/null) && there="0 $there" || there="$? $there"
	[ "$here" = "$there" ] || differ="$differ $name"
	n=$((n + 1))
done
say "$arch: $n examples: $([ -z "$differ" ] && echo "the results are those of this machine, byte by byte" || echo "FAILED: other results:$differ"), $(since "$t")"
[ -z "$differ" ] || failed=1
exit $failed
