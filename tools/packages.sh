#!/bin/bash
# packages.sh: the Debian packages, from the tarball to a user, in clean chroots of a release.
#
# One chroot with what debian/control asks for builds the source and binary packages of what is committed, from the tarball
# of `make dist`, as an ordinary user, and runs lintian, which may find no error. Another, with nothing but a minimal
# system, installs them, runs the commands of debian/tests with their dependencies as autopkgtest does, and a newcomer's
# first quarter of an hour (tools/stranger.sh), timed. See chroot.sh for what of the host they see.
set -euo pipefail

usage() {
	cat <<'END'
usage: tools/packages.sh [OPTIONS] RELEASE      RELEASE: bookworm, trixie, ...
  --dir=DIR      make the chroots in DIR (default: a new directory in $TMPDIR or /tmp)
  --keep         keep the chroots
  --reuse        use the build chroot that an earlier run left in DIR; that of the user is always new
  --nocheck      build without the unit tests
  --debs=DIR     do not build: take the packages in DIR
  --mirror=URI   take packages from URI, not from the host's sources
Logs and packages stay in DIR. Exit status: 0 when all passed, 1 when not, 2 on a usage error.
END
}
# shellcheck source=tools/chroot.sh
. "$(dirname "$0")/chroot.sh"

tree=$(cd "$(dirname "$0")/.." && pwd)
dir='' keep=no reuse=no nocheck='' debs='' mirror='' release=''
for a in "$@"; do
	case $a in
	--dir=*) dir=${a#*=} ;;
	--keep) keep=yes ;;
	--reuse) reuse=yes keep=yes ;;
	--nocheck) nocheck=nocheck ;;
	--debs=*) debs=${a#*=} ;;
	--mirror=*) mirror=${a#*=} ;;
	-h | --help) usage; exit 0 ;;
	-*) usage >&2; die "unknown option $a" ;;
	*) [ -z "$release" ] || die "one RELEASE at a time"; release=$a ;;
	esac
done
[ -n "$release" ] || { usage >&2; exit 2; }
chroot_wanted
[ $reuse = no ] || [ -n "$dir" ] || die "--reuse needs --dir=DIR"
[ -z "$debs" ] || ls "$debs"/intact_*.deb >/dev/null 2>&1 || die "$debs has no intact_*.deb"
chroot_alone $keep "build user" "$@"

failed=0
# step NAME ROOT USER DIRECTORY COMMAND...: with a line on how it went, the log in NAME.log
step() {
	local name=$1 t status=0
	shift
	t=$(date +%s)
	chroot_as "$@" >"$dir/$name.log" 2>&1 || status=$?
	say "$name: $([ $status = 0 ] && echo passed || echo "FAILED (status $status)"), $(since "$t")"
	[ $status = 0 ] || { failed=1; tail -15 "$dir/$name.log" | sed 's/^/    /'; }
	return $status
}
apt_install() { # apt_install NAME ROOT PACKAGES...
	local name=$1 root=$2
	shift 2
	step "$name" "$root" root / env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@"
}

build() {
	local root=$dir/build version d home=/home/tester
	if [ $reuse = yes ] && [ -d "$root/etc" ]; then
		say "the build chroot of an earlier run"
		rm -rf "${root:?}$home"/intact*
	else
		chroot_make "$root" build-essential,debhelper,lintian,ca-certificates
	fi
	chroot_mount "$root"
	step lists "$root" root / apt-get update -q || exit 1
	step tarball / root "$tree" python3 tools/release.py dist "$dir" || exit 1
	version=$(sed -n "s/^ *version: '\(.*\)',/\1/p" "$tree/meson.build")
	cp "$dir/intact-$version.tar.gz" "$root$home/intact_$version.orig.tar.gz"
	tar -xzf "$dir/intact-$version.tar.gz" -C "$root$home"
	chroot "$root" chown -R tester:tester "$home"
	step build-dependencies "$root" root "$home/intact-$version" env DEBIAN_FRONTEND=noninteractive \
		apt-get build-dep -y -q --no-install-recommends . || exit 1
	step build "$root" tester "$home/intact-$version" env DEB_BUILD_OPTIONS="parallel=2 $nocheck" dpkg-buildpackage -us -uc || exit 1
	[ -n "$nocheck" ] || say "the unit tests of the build: $(sed -n 's/^\(Ok\|Fail\): *\([0-9]*\)/\1 \2/p' "$dir/build.log" | tr '\n' ' ')"
	debs=$dir/packages
	mkdir -p "$debs"
	cp "$root$home"/*.deb "$root$home"/*.dsc "$root$home"/*.changes "$root$home"/*.debian.tar.* "$debs"
	for d in "$debs"/*.deb; do say "  $(basename "$d"), $(($(stat -c %s "$d") / 1024)) KiB"; done
	step lintian "$root" tester "$home" sh -c 'lintian --fail-on error --info *.changes' || true
	say "lintian: $(grep -c '^E:' "$dir/lintian.log" || true) errors, $(grep -c '^W:' "$dir/lintian.log" || true) warnings"
}

# A stanza of debian/tests/control: its dependencies, its commands; what they write to stderr fails a test that does not allow it.
autopkgtests() {
	local root=$1 name depends allowed
	while IFS=$'\t' read -r name depends allowed; do
		# shellcheck disable=SC2086
		apt_install "depends-$name" "$root" ${depends//,/ } || continue
		chroot_as "$root" tester /home/tester sh -c "rm -rf tests-$name && mkdir tests-$name"
		# shellcheck disable=SC2016
		step "autopkgtest-$name" "$root" tester /home/tester/intact env AUTOPKGTEST_TMP="/home/tester/tests-$name" sh -c '
			if [ "$2" = allowed ]; then exec "debian/tests/$1"; fi
			"debian/tests/$1" 2>/tmp/stderr || exit
			[ ! -s /tmp/stderr ] || { cat /tmp/stderr; echo "written to stderr"; exit 1; }' sh "$name" "$allowed" || true
	done < <(awk -v RS= -F'\n' '{ name = depends = ""; allowed = "no"
		for (i = 1; i <= NF; i++) {
			if (sub(/^Tests: */, "", $i)) name = $i
			else if (sub(/^Depends: */, "", $i)) depends = $i
			else if ($i ~ /^Restrictions:.*allow-stderr/) allowed = "allowed"
		}
		print name "\t" depends "\t" allowed }' "$tree/debian/tests/control")
}

[ -z "$(git -C "$tree" status --porcelain)" ] || say "note: what is not committed is not in the packages"
say "commit $(git -C "$tree" rev-parse --short HEAD)"
[ -n "$debs" ] || build
root=$dir/user
[ $reuse = no ] || rm -rf --one-file-system "${root:?}"
chroot_make "$root" ca-certificates
chroot_mount "$root"
step lists "$root" root / apt-get update -q || exit 1
mkdir "$root/debs"
cp "$debs"/*.deb "$root/debs"
rm -f "$root"/debs/*-dbgsym_*
# of the source only what the tests are
mkdir "$root/home/tester/intact"
git -C "$tree" archive HEAD debian tools/stranger.sh README.md | tar -x -C "$root/home/tester/intact"
mapfile -t files < <(cd "$root" && printf '/%s\n' debs/*.deb)
apt_install install "$root" "${files[@]}" || exit 1
say "the packages bring $(grep -c '^Setting up ' "$dir/install.log") packages in all"
autopkgtests "$root"
apt_install depends-stranger "$root" cmake make gcc libc6-dev || exit 1
step stranger "$root" tester /home/tester sh intact/tools/stranger.sh && sed -n 's/^stranger: /    /p' "$dir/stranger.log"
step remove "$root" root / env DEBIAN_FRONTEND=noninteractive apt-get purge -y -q intact libintact1 libintact-dev python3-intact intact-doc || true
left=$(chroot "$root" sh -c 'find /usr /etc /var/lib -name "*intact*" -not -path "/var/lib/dpkg/*" -not -path "/var/lib/apt/*" | head') || true
[ -z "$left" ] || { failed=1; say "FAILED: left behind by purge:"; echo "    ${left//$'\n'/$'\n'    }"; }
exit $failed
