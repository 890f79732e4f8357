#!/bin/sh
# Runs a command beside busy processes, so that threads run when chance has it
# and not as on an idle machine: no test may depend on that.
#
#   tools/load.sh [-n PROCESSES] COMMAND...      20 processes unless told
#
# The exit status is the command's. The busy processes end with it, and, if this
# script is killed, within a second.
set -u
n=20
usage() {
	echo "usage: tools/load.sh [-n PROCESSES] COMMAND..." >&2
	exit 2
}
while getopts n: opt; do
	case $opt in
	n) n=$OPTARG ;;
	*) usage ;;
	esac
done
shift $((OPTIND - 1))
case $n in
'' | *[!0-9]*) usage ;;
esac
[ $# -gt 0 ] || usage

busy= i=0 me=$$
while [ "$i" -lt "$n" ]; do
	# 20,000 rounds are some 10 ms: then it looks whether it is still wanted.
	sh -c 'while kill -0 "$0" 2>/dev/null; do
		i=0
		while [ "$i" -lt 20000 ]; do i=$((i + 1)); done
	done' "$me" </dev/null >/dev/null 2>&1 &
	busy="$busy $!"
	i=$((i + 1))
done
# shellcheck disable=SC2086
trap '[ -z "$busy" ] || kill $busy 2>/dev/null' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
"$@"
