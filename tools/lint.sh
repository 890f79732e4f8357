#!/usr/bin/env bash
# make lint: the layout of the sources (.clang-format), then clang-tidy with the checks of .clang-tidy over src/ and
# runtime/, with the options that clang compiles them with in build-clang (set up, not built).
# FILES="src/ir/step.c ..." for some of them. Prints nothing but findings; about 20 seconds of one idle core.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! find src runtime include -name '*.[ch]' -print0 | xargs -0 clang-format --dry-run --Werror; then
	echo "lint: clang-format -i mends the layout of these files" >&2
	exit 1
fi
[ -f build-clang/build.ninja ] || CC=clang meson setup build-clang -Dwerror=true -Db_ndebug=false >/dev/null
# shellcheck disable=SC2086
if ! { [ -n "${FILES:-}" ] && printf '%s\n' $FILES || find src runtime -name '*.c' ! -path runtime/coverage.c; } |
	xargs -P "$(nproc)" -n 4 clang-tidy -p build-clang --quiet >build-clang/lint.log 2>/dev/null; then
	grep -E ' (error|warning): ' build-clang/lint.log | sort -u
	exit 1
fi
echo "lint: nothing found"
