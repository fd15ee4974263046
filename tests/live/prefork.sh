#!/bin/bash
# A prefork server: mtrec -p MASTER says which children it does not record, --children records them, and each has a name.
# together: it looks only at what it starts itself
. "$(dirname "$0")/../lib.sh"
needs_mtrec
needs_root 'tracepoints'
cd "$TMPDIR" || exit 1

# A master with two workers; the second keeps 4 MB once it gets the signal to begin.
cat >prefork.c <<'C'
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile sig_atomic_t go;
static void on_signal(int number)
{
	go = number;
}
__attribute__((noinline)) static void leak(void)
{
	for (int i = 0; i < 64; i++)
		memset(malloc(65536), 1, 65536);
}
int main(void)
{
	signal(SIGUSR1, on_signal);
	for (int worker = 0; worker < 2; worker++) {
		if (fork())
			continue;
		for (int i = 0; i < 3000; i++) {
			if (worker && go)
				leak();
			go = 0;
			usleep(10000);
		}
		_exit(0);
	}
	while (wait(NULL) > 0)
		;
}
C
${CC:-cc} -g -O1 -o prefork prefork.c || skip_all "no compiler: ${CC:-cc}"
./prefork &
master=$!
two_workers() { [ "$(wc -w <"/proc/$master/task/$master/children")" = 2 ]; }
until_true two_workers
read -r first second <"/proc/$master/task/$master/children"

record() { # NAME WORDS... of mtrec: while the second worker leaks
	local name=$1
	shift
	"$mtrec" -o "$name.mtr" -e vm,rss -p $master --duration 3 "$@" 2>"$name.err" &
	recorder=$!
	until_recording $recorder "$name.mtr"
	kill -USR1 "$second"
	wait $recorder
}
record alone
says 'the children that run already are not recorded, and named' \
	"^mtrec: 2 existing children are not recorded: --children, or -p $master,$first,$second\$" alone.err
"$MT_BUILD/mtreport" --processes --csv alone.mtr >processes
is '... their gauges have names' "$(grep -cE "^($first|$second),\"?prefork" processes)" 2
is '... all of them' "$(grep -c unknown processes)" 0
record all --children
is '--children records them' "$(grep -c 'not recorded' all.err)" 0
"$MT_BUILD/mtreport" all.mtr >screen 2>&1
says '... by which path the worker grew' 'prefork: leak ' screen
"$mtrec" -o i.mtr -i -e vm,rss -p $master --duration 0.2 2>"$err"
is 'with -i nothing is said of children' "$(grep -c children "$err")" 0
expect 2 '--children without -p' "$mtrec" -o no.mtr --children -e vm -- true
says '... is refused' '--children goes with -p'
kill "$first" "$second"
wait
finish
