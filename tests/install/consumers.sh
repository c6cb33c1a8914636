#!/bin/sh
# SPDX-License-Identifier: MIT
# consumers.sh CMAKE BUILD-DIR VERSION: install into a scratch prefix, move it,
# then build and run a C and a C++ program by pkg-config and by find_package.
set -eu

cmake=$1
build=$2
version=$3
source=$(cd "$(dirname "$0")/consumer" && pwd)
tmp=${TASKQ_TEST_TMP:?run by tests/with_scratch.sh}

"$cmake" --install "$build" --prefix "$tmp/first" >"$tmp/log"
# Nothing in it may remember where it was installed.
mv "$tmp/first" "$tmp/prefix"
prefix=$tmp/prefix
pc=$(find "$prefix" -name taskq.pc)
libdir=$(dirname "$(dirname "$pc")")
export PKG_CONFIG_PATH="${pc%/*}"

fail()
{
	echo "$*" >&2
	exit 1
}

# check PROGRAM [ENVIRONMENT]: it runs, uses the API and knows the version.
check()
{
	program=$1
	shift
	printed=$(env "$@" "$program" "$TASKQ_TEST_ID-${program##*/}") || fail "$program: exit $?"
	[ "$printed" = "$version" ] || fail "$program printed '$printed', not $version"
}

[ "$(pkg-config --modversion taskq)" = "$version" ] || fail 'pkg-config has another version'

# fault.L13: pkg-config, shared, in a prefix in which the loader does not look by itself; its
# output is meant to be split.
# shellcheck disable=SC2046
cc -std=c99 -Wall -Werror "$source/consumer.c" -o "$tmp/pc-c" $(pkg-config --cflags --libs taskq)
check "$tmp/pc-c"
# shellcheck disable=SC2046
c++ -std=c++11 -Wall -Werror "$source/consumer.cc" -o "$tmp/pc-cc" \
	$(pkg-config --cflags --libs taskq)
check "$tmp/pc-cc"

# pkg-config, static.
# shellcheck disable=SC2046
cc -std=c99 "$source/consumer.c" -o "$tmp/pc-static" $(pkg-config --cflags taskq) \
	"$libdir/libtaskq.a" $(pkg-config --static --libs-only-l taskq | sed 's/-ltaskq//') -pthread
check "$tmp/pc-static"

# find_package, from a folder of its own.
cp -r "$source" "$tmp/consumer"
"$cmake" -G Ninja -S "$tmp/consumer" -B "$tmp/consumer-build" -DCMAKE_PREFIX_PATH="$prefix" \
	-DWANTED="${version%.*}" >"$tmp/log" 2>&1 || { cat "$tmp/log"; fail 'find_package'; }
"$cmake" --build "$tmp/consumer-build" >"$tmp/log" 2>&1 || { cat "$tmp/log"; fail 'build'; }
for program in shared-c shared-cc static-c; do
	check "$tmp/consumer-build/$program"
done

# The program finds its library without help.
if [ -x "$prefix/bin/taskq" ]; then
	"$prefix/bin/taskq" --version | grep -qF "$version" || fail 'taskq --version'
fi
# And the other program, where that was built.
if [ -x "$prefix/bin/taskq-exporter" ]; then
	"$prefix/bin/taskq" exporter --version | grep -qF "$version" || fail 'taskq exporter --version'
fi
# fault.C8: each public function has its page of the manual.
nm -D --defined-only "$libdir/libtaskq.so" | sed -n 's/.* T \(tq_[a-z0-9_]*\).*/\1/p' | sort -u \
	>"$tmp/exported"
[ -s "$tmp/exported" ] || fail 'no functions'
find "$prefix/share/man/man3" -name 'tq_*.3' -printf '%f\n' | sed 's/\.3$//' | sort >"$tmp/pages"
diff "$tmp/exported" "$tmp/pages" || fail 'functions and their pages of the manual differ'
for name in $(cat "$tmp/pages"); do
	grep -qx '.so man3/libtaskq.3' "$prefix/share/man/man3/$name.3" || fail "$name(3) leads nowhere"
	grep -qE "^\\.Fo $name( |\$)" "$prefix/share/man/man3/libtaskq.3" || fail "libtaskq(3) lacks $name"
done

[ -s "$prefix/share/taskq/grafana/taskq.json" ] || fail 'no dashboard'
