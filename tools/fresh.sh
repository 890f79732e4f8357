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
die() { echo "fresh.sh: $*" >&2; exit 2; }

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
case $release in *[!a-z]*) die "$release is not the name of a release" ;; esac
[ "$(id -u)" = 0 ] || die "a chroot needs root"
[ $reuse = no ] || [ -n "$dir" ] || die "--reuse needs --dir=DIR"
[ "$who" != user ] || [ $reuse = yes ] || die "--user needs a chroot in which the packages are: --reuse --dir=DIR"

# Mounts and processes end with this namespace, however this script ends.
if [ -z "${INTACT_FRESH_INSIDE:-}" ]; then
	command -v mmdebstrap >/dev/null || command -v debootstrap >/dev/null || die "install mmdebstrap or debootstrap"
	export INTACT_FRESH_INSIDE=1
	[ -n "$dir" ] || { dir=$(mktemp -d "${TMPDIR:-/tmp}/intact-fresh.XXXXXX"); set -- "--dir=$dir" "$@"; }
	mkdir -p "$dir"
	dir=$(cd "$dir" && pwd)
	# the chroot is removed from out here: its mounts are gone by then
	clean() { [ $keep = yes ] || rm -rf --one-file-system "${dir:?}/root"; }
	trap clean EXIT
	trap 'exit 130' INT TERM HUP
	unshare --mount --pid --fork --kill-child --propagation private "$0" "$@" &
	child=$!
	status=0
	trap 'kill -TERM $child 2>/dev/null; wait $child; exit 130' INT TERM HUP
	wait $child || status=$?
	[ $keep = no ] || echo "$release: the chroot is $dir/root"
	[ $status = 0 ] || echo "$release: the logs are in $dir"
	exit $status
fi
root=$dir/root
say() { echo "$release: $*"; }
since() { echo "$(($(date +%s) - $1)) s"; }

# ---- the chroot ----

# The host's sources for its own release, as "deb" lines for the one asked for.
sources() {
	local own
	if [ -n "$mirror" ]; then
		echo "deb $mirror $release main"
		return
	fi
	own=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
	# shellcheck disable=SC2016
	apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Identifier: Packages' |
		awk -v own="$own" -v want="$release" 'own != "" && ($2 == own || index($2, own "-") == 1) && !seen[$0]++ {
			sub("^" own, want, $2); print "deb", $1, $2, $3 }'
}
# How the host's apt reaches them: proxies, certificates, patience.
apt_options() { apt-config dump | grep -E '^Acquire::(http|https|Check-Valid-Until|Check-Date|Retries|ForceIPv4|ForceIPv6)\b' | grep -v '""' || true; }

make_root() {
	local t log=$dir/chroot.log lines
	t=$(date +%s)
	[ ! -e "$root" ] || [ -z "$(ls -A "$root")" ] || die "$root is not empty (--reuse uses it)"
	lines=$(sources)
	[ -n "$lines" ] || die "the host has no sources of a Debian release; give --mirror=URI"
	apt_options >"$dir/apt.conf"
	if command -v mmdebstrap >/dev/null; then
		echo "$lines" | mmdebstrap --variant=minbase --include=git,make,ca-certificates --aptopt="$dir/apt.conf" \
			"$release" "$root" - >"$log" 2>&1 || { tail -20 "$log"; say "could not make the chroot"; exit 1; }
	else
		debootstrap --variant=minbase --include=git,make,ca-certificates "$release" "$root" \
			"$(echo "$lines" | awk 'NR == 1 { print $2 }')" >"$log" 2>&1 || { tail -20 "$log"; say "could not make the chroot"; exit 1; }
		echo "$lines" >"$root/etc/apt/sources.list"
		cp "$dir/apt.conf" "$root/etc/apt/apt.conf.d/99host"
	fi
	# certificates that the host's administrator has added
	if ls /usr/local/share/ca-certificates/*.crt >/dev/null 2>&1; then
		cp /usr/local/share/ca-certificates/*.crt "$root/usr/local/share/ca-certificates/"
		chroot "$root" update-ca-certificates >>"$log" 2>&1
	fi
	chroot "$root" useradd --create-home --shell /bin/bash tester
	say "a chroot with git, make and ca-certificates: $(chroot "$root" dpkg-query -f '.\n' -W | wc -l) packages, $(since "$t")"
}

mount_all() {
	cp -L /etc/resolv.conf "$root/etc/resolv.conf"
	mount -t proc proc "$root/proc"
	mount -t sysfs -o ro sysfs "$root/sys" || mount --rbind /sys "$root/sys"
	mount -t tmpfs -o mode=755 tmpfs "$root/dev"
	for d in null zero full random urandom tty; do
		touch "$root/dev/$d"
		mount --bind "/dev/$d" "$root/dev/$d"
	done
	mkdir "$root/dev/pts" "$root/dev/shm"
	mount -t devpts -o newinstance,ptmxmode=666,gid=5,mode=620 devpts "$root/dev/pts"
	mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
	ln -s pts/ptmx "$root/dev/ptmx"
	ln -s /proc/self/fd "$root/dev/fd"
	ln -s fd/0 "$root/dev/stdin"
	ln -s fd/1 "$root/dev/stdout"
	ln -s fd/2 "$root/dev/stderr"
}

# ---- the commands ----

# What the commands see of the host: how to reach the network, nothing else.
environment() {
	local v n
	for v in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY NODE_EXTRA_CA_CERTS SSL_CERT_FILE SSL_CERT_DIR; do
		[ -z "${!v:-}" ] || echo "$v=${!v}"
	done
	if command -v npm >/dev/null; then
		for n in registry cafile proxy https-proxy noproxy; do
			v=$(npm config get $n 2>/dev/null) || continue
			case $v in '' | null | undefined | true | false) ;; *) echo "npm_config_${n//-/_}=$v" ;; esac
		done
	fi
	[ -z "$cc" ] || printf '%s\n' "CC=$cc" "INTACT_CC=$cc"
	[ -z "$tests" ] || echo "TESTS=$tests"
	echo LANG=C.UTF-8
	echo PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
}

failed=0
# run USER COMMAND...: in USER's clone, with a line on how it went
run() {
	local user=$1 t log status=0 home=/root env
	shift
	[ "$user" = root ] || home=/home/$user
	log=$dir/${user}-$(echo "$*" | tr ' ' '-').log
	mapfile -t env < <(environment)
	t=$(date +%s)
	# shellcheck disable=SC2016
	chroot "$root" setpriv --reuid="$user" --regid="$user" --init-groups env -i "${env[@]}" HOME="$home" USER="$user" \
		sh -c 'cd "$HOME/intact" && exec "$@"' sh "$@" >"$log" 2>&1 </dev/null || status=$?
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
	make_root
fi
mount_all
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
