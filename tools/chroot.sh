#!/bin/bash
# chroot.sh: sourced by the scripts of tools/ that work in a chroot of a Debian
# release (fresh.sh, packages.sh, cross.sh): making it, mounts, what of the host it sees.
#
# Before: `release` and `mirror` (or empty) are set, and `dir` (an absolute path after chroot_alone).
# apt's sources, proxies and keys and npm's registry are the host's; the mounts
# live in a namespace of their own, so that nothing stays behind when the script
# is interrupted. Needs root, and mmdebstrap or debootstrap.
# shellcheck shell=bash disable=SC2154,SC2317,SC1091

die() { echo "$(basename "$0"): $*" >&2; exit 2; }
say() { echo "$release: $*"; }
since() { echo "$(($(date +%s) - $1)) s"; }

chroot_wanted() { # a RELEASE, and the rights to make one
	case $release in *[!a-z]*) die "$release is not the name of a release" ;; esac
	[ "$(id -u)" = 0 ] || die "a chroot needs root"
}

# chroot_alone KEEP ROOTS ARGUMENTS...: the script again, with its arguments, in a namespace of its own, with which mounts
# and processes end, however it ends; then the directories ROOTS of `dir` are removed unless KEEP is yes. Returns in there.
chroot_alone() {
	local status=0
	chroot_kept=$1 chroot_roots=$2 # not local: the traps read them
	shift 2
	if [ -n "${INTACT_CHROOT_INSIDE:-}" ]; then
		return
	fi
	command -v mmdebstrap >/dev/null || command -v debootstrap >/dev/null || die "install mmdebstrap or debootstrap"
	export INTACT_CHROOT_INSIDE=1
	[ -n "$dir" ] || { dir=$(mktemp -d "${TMPDIR:-/tmp}/intact-chroot.XXXXXX"); set -- "--dir=$dir" "$@"; }
	mkdir -p "$dir"
	dir=$(cd "$dir" && pwd)
	# they are removed from out here: their mounts are gone by then
	chroot_clean() {
		local r
		for r in $chroot_roots; do [ "$chroot_kept" = yes ] || rm -rf --one-file-system "${dir:?}/$r"; done
	}
	trap chroot_clean EXIT
	trap 'exit 130' INT TERM HUP
	unshare --mount --pid --fork --kill-child --propagation private "$0" "$@" &
	chroot_child=$!
	trap 'kill -TERM $chroot_child 2>/dev/null; wait $chroot_child; exit 130' INT TERM HUP
	wait $chroot_child || status=$?
	[ "$chroot_kept" = no ] || echo "$release: the chroots are in $dir"
	[ $status = 0 ] || echo "$release: the logs are in $dir"
	exit $status
}

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

# chroot_make ROOT PACKAGES [OPTIONS...]: minbase with these, separated by commas, and a user `tester`; OPTIONS of mmdebstrap.
chroot_make() {
	local t log=$dir/chroot.log lines root=$1 include=$2
	shift 2
	[ $# = 0 ] || command -v mmdebstrap >/dev/null || die "install mmdebstrap"
	t=$(date +%s)
	[ ! -e "$root" ] || [ -z "$(ls -A "$root")" ] || die "$root is not empty (--reuse uses it)"
	lines=$(sources)
	[ -n "$lines" ] || die "the host has no sources of a Debian release; give --mirror=URI"
	apt_options >"$dir/apt.conf"
	if command -v mmdebstrap >/dev/null; then
		echo "$lines" | mmdebstrap --variant=minbase --include="$include" --aptopt="$dir/apt.conf" --dpkgopt=force-unsafe-io "$@" \
			"$release" "$root" - >"$log" 2>&1 || { tail -20 "$log"; say "could not make the chroot"; exit 1; }
	else
		debootstrap --variant=minbase --include="$include" "$release" "$root" \
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
	say "a chroot with ${include//,/, }: $(chroot "$root" dpkg-query -f '.\n' -W | wc -l) packages, $(since "$t")"
}

chroot_mount() { # chroot_mount ROOT
	local root=$1 d
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

# What the commands see of the host: how to reach the network, nothing else.
chroot_environment() {
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
	echo LANG=C.UTF-8
	echo PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
}

# chroot_as ROOT USER DIRECTORY COMMAND...: there, with that environment and nothing to read
chroot_as() {
	local root=$1 user=$2 where=$3 home=/root env
	shift 3
	[ "$user" = root ] || home=/home/$user
	mapfile -t env < <(chroot_environment)
	# shellcheck disable=SC2016
	chroot "$root" setpriv --reuid="$user" --regid="$user" --init-groups env -i "${env[@]}" HOME="$home" USER="$user" \
		sh -c 'cd "$1" && shift && exec "$@"' sh "$where" "$@" </dev/null
}
