#!/usr/bin/env bash
# make lint: the layout of the sources (.clang-format), then clang-tidy with the checks of .clang-tidy over src/ and
# runtime/, as clang compiles them in build-clang.
# FILES="src/ir/step.c ..." for some of them. Prints nothing but findings; about two minutes of two idle cores.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! find src runtime include -name '*.[ch]' -print0 | xargs -0 clang-format --dry-run --Werror; then
	echo "lint: clang-format -i mends the layout of these files" >&2
	exit 1
fi
CC=clang tools/build.sh build-clang '' -Dwerror=true -Db_ndebug=false
# shellcheck disable=SC2086
if ! { [ -n "${FILES:-}" ] && printf '%s\n' $FILES || find src runtime -name '*.c'; } |
	xargs -P "$(nproc)" -n 4 clang-tidy -p build-clang --quiet >build-clang/lint.log 2>/dev/null; then
	grep -E ' (error|warning): ' build-clang/lint.log | sort -u
	exit 1
fi
echo "lint: nothing found"
