#!/bin/sh
# One CI job: build with the wrappers, run the tests, write the reports. The GitHub action and the GitLab template call it.
# From the environment:
#   INTACT_CI_BUILD      commands that build the tests; CC and CXX are the wrappers
#   INTACT_CI_RUN        commands that run them (required); every process is watched
#   INTACT_CI_OPTIONS    further options of `intact run`, separated by blanks
#   INTACT_CI_BASELINE   a file for --baseline
#   INTACT_CI_REPORTS    a directory for intact.json, .sarif, .xml (JUnit) and .html; default: intact-reports
#   INTACT_CI_ANNOTATE   github: annotations on standard output
# Exit status: that of `intact run`: 66 when something is found, 70 when nothing was watched, else the tests' own.
set -eu
reports=${INTACT_CI_REPORTS:-intact-reports}
[ -n "${INTACT_CI_RUN:-}" ] || { echo "check.sh: INTACT_CI_RUN is empty: nothing to watch" >&2; exit 2; }
intact doctor --quick || { echo "check.sh: this machine cannot watch programs" >&2; exit 2; }
if [ -n "${INTACT_CI_BUILD:-}" ]; then
	echo "check.sh: build: $INTACT_CI_BUILD"
	CC=intact-cc CXX=intact-c++ sh -e -c "$INTACT_CI_BUILD"
fi
mkdir -p "$reports"
set -- --json="$reports/intact.json" --sarif="$reports/intact.sarif" --junit="$reports/intact.xml" --html="$reports/intact.html"
[ "${INTACT_CI_ANNOTATE:-}" != github ] || set -- "$@" --github
[ -z "${INTACT_CI_BASELINE:-}" ] || set -- "$@" --baseline="$INTACT_CI_BASELINE"
# shellcheck disable=SC2086
set -- "$@" ${INTACT_CI_OPTIONS:-}
status=0
echo "check.sh: run: $INTACT_CI_RUN"
intact run "$@" -- sh -e -c "$INTACT_CI_RUN" || status=$?
if [ -n "${GITHUB_STEP_SUMMARY:-}" ] && [ -f "$reports/intact.json" ]; then
	{
		echo '### Intact'
		echo '```'
		intact report "$reports/intact.json" | head -200 || true
		echo '```'
	} >>"$GITHUB_STEP_SUMMARY"
fi
case $status in
66) echo "check.sh: findings: see $reports" >&2 ;;
70) echo "check.sh: nothing was watched: were the tests built with CC=intact-cc?" >&2 ;;
esac
exit "$status"
