#!/bin/sh
# SPDX-License-Identifier: MIT
# Every lint can fail: each is shown a small clean tree and must be green, then
# the same tree with one planted fault and must be red.
set -eu

lint_dir=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/taskq-selftest.XXXXXX")
trap 'rm -rf "$work"' EXIT
failed=0
count=0
head='/* SPDX-License-Identifier: MIT */
/* A file of the lint self-test. */'

# fresh: a clean tree in $work/tree.
fresh()
{
	rm -rf "$work/tree"
	mkdir -p "$work/tree"
	cd "$work/tree"
	mkdir -p include/taskq shm scheduler/record scheduler/order client/core tools/taskq/options tests/unit
	echo 'T1   a toy' >tests/faults.list
	{ echo '# SPDX-License-Identifier: MIT'; echo '# Toy.'; echo '@test "fault.T1: a toy" {'; } >tests/unit/named.bats
	cp "$lint_dir/../../.clang-format" .
	echo 'project(toy VERSION 1.2.3 LANGUAGES C)' >version
	{ echo '# SPDX-License-Identifier: MIT'; echo '# Toy.'; cat version; } >CMakeLists.txt
	rm version
	mkdir -p docs
	echo '- **PF-1** A fact.' >docs/platform.md
	echo '- **B7** A requirement.' >docs/requirements.md
	printf '# Changes\n\n## 1.2.3\n' >CHANGELOG.md
	printf '%s\n#ifndef TOY_H\n#define TOY_H\n%s\n#endif\n' "$head" \
		'__attribute__((visibility("default"))) const char *tq_task_toy(void);' >include/taskq/toy.h
	c_file client/toy.c '#include <taskq/toy.h>' 'static const char *const names[] = { "toy" };' \
		'const char *tq_task_toy(void)' '{' '	return names[0]; /* abort() */' '}'
	c_file scheduler/pure.c '#include "shm/base.h"' 'int tqi_pure(int a);' 'int tqi_pure(int a)' \
		'{' '	return a + 1;' '}'
	c_file scheduler/order/low.c 'int tqi_low(int a);' 'int tqi_low(int a)' '{' '	return a + 1;' '}'
	c_file scheduler/order/high.c 'int tqi_low(int a);' 'int tqi_high(int a);' 'int tqi_high(int a)' \
		'{' '	return tqi_low(a);' '}'
	c_file tests/unit/rows.c 'void rows(void);'
	c_file shm/base.h '#include <unistd.h>'
	c_file client/core/probes.h '#define TOY_PROBES 0'
}

# c_file FILE LINE...
c_file()
{
	file=$1
	shift
	{ echo "$head"; printf '%s\n' "$@"; } >"$file"
}

# compile: the library and the objects that some lints read.
compile()
{
	flags='-O2 -fPIC -fvisibility=hidden -I. -Iinclude'
	for source in client/toy.c scheduler/pure.c scheduler/order/low.c scheduler/order/high.c; do
		# shellcheck disable=SC2086
		gcc $flags -w -c "$source" -o "${source%.c}.o"
	done
	gcc -shared client/toy.o -o libtoy.so
	rm -f libtoy.a
	ar rc libtoy.a client/toy.o
}

# lint NAME: runs it on the tree with the arguments that it takes.
lint()
{
	case $1 in
	headers) set -- headers "$work/tree/include" ;;
	exports) compile && set -- exports "$work/tree/libtoy.so" "$work/tree/include" ;;
	nulls) set -- nulls "$work/tree/tests/unit/rows.c" "$work/tree/include" ;;
	globals) compile && set -- globals "$work/tree/libtoy.a" ;;
	cycles) compile && set -- cycles "$work/tree/scheduler/order/low.o" "$work/tree/scheduler/order/high.o" ;;
	purity) compile && set -- purity "$work/tree/scheduler/pure.o" ;;
	probes) compile && set -- probes "$work/tree/libtoy.so" ;;
	esac
	name=$1
	shift
	LINT_ROOT=$work/tree "$lint_dir/$name.sh" "$@" >"$work/out" 2>&1
}

# red NAME WHAT TEXT: the lint must fail and say TEXT.
red()
{
	count=$((count + 1))
	if lint "$1"; then
		echo "not ok: $1 lets pass: $2"
		failed=1
	elif ! grep -qF -e "$3" "$work/out"; then
		echo "not ok: $1 is red for another reason than: $2"
		cat "$work/out"
		failed=1
	fi
	fresh
}

fresh
for name in layering banned spdx format functions names changelog docs rules faults patience headers exports nulls globals purity cycles probes; do
	count=$((count + 1))
	lint "$name" || { echo "not ok: $name is red on a clean tree"; cat "$work/out"; failed=1; }
done

printf '/*\n * TX-1  A rule.\n * TX-1  Again.\n */\n' >>shm/base.h
red rules 'a rule that is defined twice' TX-1
printf '/*\n * TX-1  A rule.\n */\n/* TX-2. */\n' >>shm/base.h
red rules 'a rule that stands nowhere' TX-2
echo '/* B9. */' >>shm/base.h
red rules 'a requirement that stands nowhere' B9

echo 'T2   another toy' >>tests/faults.list
red faults 'a fault without a test' T2
echo '@test "fault.T3: a toy" {' >>tests/unit/named.bats
red faults 'a test of no fault' T3
c_file tests/unit/named.c '/* fault.T1 is meant */'
rm tests/unit/named.bats
red faults 'a fault that is only spoken of' 'T1'

echo '	timeout 20 true' >>tests/unit/named.bats
red patience 'a limit that a busy machine may reach' tests/unit/named.bats
c_file tests/unit/named.c '#define PATIENCE_NS (20 * S)'
red patience 'the same in C' tests/unit/named.c

echo '#include "scheduler/pure.h"' >>shm/base.h
red layering 'upward include' shm/base.h
echo '#include <client/toy.h>' >>scheduler/pure.c
red layering 'upward include in angle brackets' scheduler/pure.c
echo '#include <sys/mman.h>' >>scheduler/pure.c
red layering 'operating system in the scheduler' scheduler/pure.c
c_file scheduler/order/low.c '#include "scheduler/check/high.h"'
red layering 'a room of the scheduler that looks into check' scheduler/order/low.c
c_file scheduler/order/low.c '#include "scheduler/time/high.h"'
red layering 'a room of the scheduler that looks into one above it' scheduler/order/low.c
c_file tools/taskq/main.c '#include "../../shm/base.h"'
red layering 'a tool with internals' tools/taskq/main.c
mkdir bench
c_file bench/bench_lock.c '#include "shm/base.h"'
c_file bench/bench_life.c '#include "shm/base.h"'
red layering 'a bench with internals' bench/bench_life.c
echo '#include <stdio.h>' >>include/taskq/toy.h
red layering 'a system header in a public one' toy.h

for call in 'pthread_mutex_lock(m)' 'pthread_cond_wait(c, m)' 'sem_post(s)' 'usleep (1)' \
	'system("ls")' 'strcpy(a, b)' 'sprintf(a, b)' 'gets(a)' 'alloca(4)' 'abort()' 'exit(1)' \
	'printf("x")' 'fprintf(stderr, "x")'; do
	echo "int f(void) { return (int)/* why */$call; }" >>client/toy.c
	red banned "$call" client/toy.c
done
word=pk
word=${word}ill
echo "$word -f taskq" >tests/unit/end.sh
red banned "$word" tests/unit/end.sh

echo '	! is_gone 1' >tests/unit/toy.bats
red banned 'an assertion that cannot fail' toy.bats
echo '	command -v toy || skip' >tests/unit/toy.bats
red banned 'a program that may be a function' toy.bats

echo 'int x;' >client/bare.c
red spdx 'no licence' client/bare.c
printf '/* SPDX-License-Identifier: MIT */\n\nint x;\n' >client/bare.c
red spdx 'no purpose' client/bare.c
printf '#!/bin/sh\necho\n' >tests/unit/bare.sh
red spdx 'a script without licence' tests/unit/bare.sh

echo 'int f(void) {return 1;}' >>client/toy.c
red format 'a function on one line' client/toy.c
printf 'int f(void)\n{\n    return 1; /* four blanks */\n}\n' >>client/toy.c
red format 'blanks for a tab' client/toy.c

{ printf 'int tqi_long(void)\n{\n'; yes '	;' | head -n 120; echo '}'; } >>client/toy.c
red functions 'a long function' tqi_long

host=deb.debian
echo "see https://$host.org/" >README.md
red names 'a registry' README.md
folder=/home
echo "cd $folder/someone/taskq" >README.md
red names 'a home directory' README.md

printf '# Changes\n\n## 1.2.4\n' >CHANGELOG.md
red changelog 'another version' 1.2.4

echo 'see [there](docs/missing.md)' >README.md
red docs 'a broken link' docs/missing.md
# shellcheck disable=SC2016
echo 'it is done in `shm/missing.c`' >README.md
red docs 'a file that is not there' shm/missing.c
# shellcheck disable=SC2016
echo '`tqi_missing()` does it' >README.md
red docs 'a function that is not there' tqi_missing
mkdir man
echo 'TQ_API int tq_missing(void);' >>include/taskq/toy.h
: >man/libtaskq.3
red docs 'a function without its page' tq_missing
mkdir man
echo '.Fo tq_gone' >man/libtaskq.3
red docs 'a page without its function' tq_gone
mkdir man
c_file include/taskq/task.h '#define TQ_STATE_MAP(X) \' '	X(TQ_READY, 1, "ready") \' '	X(TQ_IDLE, 2, "idle")'
echo '.It Sy ready' >man/taskq.7
red docs 'a state without explanation' idle
mkdir man
c_file tools/taskq/options/verbs.h '#define VERB_MAP(X) \' '	X(lend, verb_lend, "", "lend", "")'
: >man/taskq.1
red docs 'a verb without its page' lend
mkdir man
c_file tools/taskq/verb.c 'static const struct option_row rows[] = {' "	{ 'x', \"extra\", NULL, \"more\" }," '};'
: >man/taskq.1
red docs 'an option without its page' extra
mkdir man tools/taskq-top
c_file tools/taskq-top/options.c "	{ \"extra\", no_argument, NULL, 'x' },"
: >man/taskq-top.1
red docs 'an option of taskq-top without its page' extra
mkdir man tools/taskq-top
c_file tools/taskq-top/view.h '#define VIEW_MAP(X) \' '	X(view_extra)'
: >man/taskq-top.1
red docs 'a view without its page' extra

echo 'struct tq_new { bool class; };' >>include/taskq/toy.h
red headers 'C++ keyword, unknown type' 'taskq/toy.h by clang++'

echo '__attribute__((visibility("default"))) int tq_missing(void);' >>include/taskq/toy.h
red exports 'declared only' tq_missing
echo '__attribute__((visibility("default"))) int tq_extra(void) { return 1; }' >>client/toy.c
red exports 'exported only' tq_extra

echo '__attribute__((visibility("default"))) int tq_task_null(int a, const char *text);' >>include/taskq/toy.h
red nulls 'a pointer without a row' 'tq_task_null text'
echo 'ROW(tq_task_gone, buf, REFUSED, 0);' >>tests/unit/rows.c
red nulls 'a row without a pointer' 'tq_task_gone buf'

echo 'int counter = 1;' >>client/toy.c
red globals 'initialised' counter
echo 'int tally(void) { static int calls; return ++calls; }' >>client/toy.c
red globals 'static in a function' calls
echo '__thread int depth; int deep(void) { return ++depth; }' >>client/toy.c
red globals 'of each thread' depth

echo 'int getpid(void); int f(void) { return getpid(); }' >>scheduler/pure.c
red purity 'a system call' getpid

echo 'int tqi_high(int a); int tqi_back(int a) { return tqi_high(a); }' >>scheduler/order/low.c
red cycles 'two files that call each other' 'order/high+order/low 2 files'
mkdir -p tests/lint
echo 'order/gone+order/low  it was once so' >tests/lint/cycles.allow
red cycles 'a circle that is gone' 'matches nothing: order/gone+order/low'

printf '%s\n' '/*' ' *   move     id, from' ' */' >>client/core/probes.h
red probes 'a probe that is not there' 'move 2'

echo "$count checks of the lints"
exit "$failed"
