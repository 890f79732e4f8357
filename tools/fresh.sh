#!/bin/bash
# fresh.sh: the README's two commands on a bare machine.
#
# Makes a chroot of a Debian release with nothing but git, make and
# ca-certificates, clones this tree into it (what is committed), and runs `make
# demo` and `make test` there as root, then in another clone as an ordinary user.
# apt's sources, proxies and keys and npm's registry are the host's; the mounts
# live in a namespace of their own, so that nothing stays behind when this is
# interrupted. Needs root, and mmdebstrap or debootstrap.
set -euo pipefail

usage() {
	cat <<'EOF'
usage: tools/fresh.sh [OPTIONS] RELEASE      RELEASE: bookworm, trixie, ...
  --dir=DIR      make the chroot in DIR (default: a new directory in $TMPDIR or /tmp)
  --keep         keep the chroot
  --reuse        use the chroot that an earlier run left in DIR, with new clones
  --demo         make demo only
  --root         as root only          --user  as an ordinary user only (with --reuse)
  --cc=COMPILER  the compiler behind `intact cc` and of the demo's build (INTACT_CC, CC)
  --tests=NAMES  the tests that make test runs (TESTS)
  --mirror=URI   take packages from URI, not from the host's sources
The logs stay in DIR. Exit status: 0 when all passed, 1 when not, 2 on a usage error.
EOF
}
# shellcheck source=tools/chroot.sh
. "$(dirname "$0")/chroot.sh"

tree=$(cd "$(dirname "$0")/.." && pwd)
dir='' keep=no reuse=no demo_only=no who='root user' cc='' tests='' mirror='' release=''
for a in "$@"; do
	case $a in
	--dir=*) dir=${a#*=} ;;
	--keep) keep=yes ;;
	--reuse) reuse=yes keep=yes ;;
	--demo) demo_only=yes ;;
	--root) who=root ;;
	--user) who=user ;;
	--cc=*) cc=${a#*=} ;;
	--tests=*) tests=${a#*=} ;;
	--mirror=*) mirror=${a#*=} ;;
	-h | --help) usage; exit 0 ;;
	-*) usage >&2; die "unknown option $a" ;;
	*) [ -z "$release" ] || die "one RELEASE at a time"; release=$a ;;
	esac
done
[ -n "$release" ] || { usage >&2; exit 2; }
chroot_wanted
[ $reuse = no ] || [ -n "$dir" ] || die "--reuse needs --dir=DIR"
[ "$who" != user ] || [ $reuse = yes ] || die "--user needs a chroot in which the packages are: --reuse --dir=DIR"

chroot_alone $keep root "$@"
root=$dir/root

failed=0
# run USER COMMAND...: in USER's clone, with a line on how it went
run() {
	local user=$1 t log status=0 home=/root more=()
	shift
	[ "$user" = root ] || home=/home/$user
	[ -z "$cc" ] || more+=("CC=$cc" "INTACT_CC=$cc")
	[ -z "$tests" ] || more+=("TESTS=$tests")
	log=$dir/${user}-$(echo "$*" | tr ' ' '-').log
	t=$(date +%s)
	chroot_as "$root" "$user" "$home/intact" env "${more[@]}" "$@" >"$log" 2>&1 || status=$?
	local line
	line=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$log" | tail -1 || true)
	say "$* as $user: $([ $status = 0 ] && echo passed || echo "FAILED (status $status)"), $(since "$t")${line:+: $line}"
	if [ $status != 0 ]; then
		failed=1
		{ grep -E '^FAILED' "$log" || tail -15 "$log"; } | head -40 | sed 's/^/    /'
	fi
}

clone() { # clone USER: the tree, committed, as the user's own
	local home=/root
	[ "$1" = root ] || home=/home/$1
	rm -rf "${root:?}$home/intact"
	git clone -q --no-hardlinks "$tree" "$root$home/intact"
	chroot "$root" chown -R "$1:$1" "$home/intact"
}

if [ $reuse = yes ] && [ -d "$root/etc" ]; then
	say "the chroot of an earlier run"
else
	chroot_make "$root" git,make,ca-certificates
fi
chroot_mount "$root"
[ -z "$(git -C "$tree" status --porcelain)" ] || say "note: what is not committed is not in the clone"
say "commit $(git -C "$tree" rev-parse --short HEAD)"
for w in $who; do
	[ "$w" = root ] || w=tester
	clone "$w"
	before=$(date +%s)
	run "$w" make demo
	[ $demo_only = yes ] || run "$w" make test
	if [ "$w" = tester ]; then # an ordinary user's build writes into the tree and to /tmp
		strays=$(find "$root/home/tester" -path "$root/home/tester/intact" -prune -o -newermt "@$before" -type f -print | sed "s|^$root||")
		[ -z "$strays" ] || { failed=1; say "FAILED: written outside the tree:"; echo "$strays" | head -10 | sed 's/^/    /'; }
	fi
done
version() {
	local v
	v=$(chroot "$root" sh -c "$1" 2>/dev/null | sed -n '1{s/.* //;p}') || true
	echo "${v:-not installed}"
}
say "gcc $(version 'gcc -dumpfullversion'), clang $(version 'clang -dumpversion'), glibc $(version 'ldd --version'), python $(version 'python3 --version'), meson $(version 'meson --version'), node $(version 'node --version')"
exit $failed
