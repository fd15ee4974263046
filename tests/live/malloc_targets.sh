#!/bin/bash
# -e malloc with targets that change: a libc replaced on disk, a root directory of their own, exec, an end by SIGKILL.
# slow: the kernel takes a tenth of a second to take each probe off, and an allocator has seventeen
# together: it looks only at what it starts itself
. "$(dirname "$0")/../lib.sh"
needs_mtrec
needs_uprobes
needs_compiler
cd "$TMPDIR" || exit 1

cat >keeps.c <<'C'
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void *volatile kept;
__attribute__((noinline)) void keep(void)
{
	for (int i = 0; i < 50; i++) {
		kept = malloc(100);
		free(malloc(100));
		kept = calloc(3, 50);
	}
}
int main(int argc, char **argv)
{
	char word;

	if (read(0, &word, 1) != 1) /* until a byte arrives */
		return 1;
	if (argc > 1 && !strcmp(argv[1], "exec")) {
		argv[1] = "0";
		execv(argv[0], argv);
	}
	keep();
	return write(1, "kept\n", 5) == 5 ? (int)read(0, &word, 1) : 1;
}
C
${CC:-cc} -O1 -g -fno-builtin -fno-optimize-sibling-calls -o keeps keeps.c || exit 1
mkdir root
put_program root keeps
cp -r root replaced
mkfifo begin

# record GO COMMAND...: the command waits, is recorded, allocates when it reads GO, and is killed.
record() {
	local go=$1
	shift
	rm -f m.mtr ran
	"$@" <begin >ran 3>&- &
	target=$!
	exec 3>begin
	until_runs $target '(keeps|ld\.so)' 'libc\.so'
	[ ! -e replace_with ] || mv replace_with replaced/libc.so.6
	"$mtrec" -o m.mtr -e malloc --malloc-sample all -p $target >"$out" 2>"$err" 3>&- &
	recorder=$!
	until_recording $recorder m.mtr
	printf %s "$go" >&3
	until_true grep -q kept ran
	kill -KILL $target
	wait $target 2>/dev/null
	exec 3>&-
	wait $recorder
	status=$?
}
# check_blocks TITLE: checks that the recording has 100 blocks.
check_blocks() {
	is "$1: recorded" $status 0
	says '... nothing is lost' ', 0 lost' "$err"
	is '... has the blocks that remained when it was killed' "$("$MT_BUILD/mtreport" --blocks --csv m.mtr 2>"$TMPDIR/said" |
		awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) is[$i] = i } /;keep"/ { print $is["blocks"] "," $is["bytes"] }')" 100,12500
}
record g "$PWD/keeps"
check_blocks 'a process that is killed'
cp replaced/libc.so.6 replace_with
record g "$PWD/replaced/ld.so" --library-path "$PWD/replaced" "$PWD/replaced/keeps"
check_blocks 'a libc that was replaced on disk'
says '... is named' "functions of $PWD/replaced/libc.so.6 are" "$err"
record g unshare -m chroot root /ld.so --library-path / /keeps
check_blocks 'a process with a root of its own'
record gg "$PWD/keeps" exec
check_blocks 'a process that calls exec'

# One of two allocators is too busy for the budget; the other one is recorded all the same.
cat >busy.c <<'C'
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
static char arena[1 << 20];
static size_t used;
void *malloc(size_t size) { used = (used + size + 31) & ~15ul; if (used > sizeof(arena) / 2) used = 0; return arena + used; }
void free(void *block) { (void)block; }
void *calloc(size_t count, size_t size) { return memset(malloc(count * size), 0, count * size); }
void *realloc(void *block, size_t size) { return block ? memmove(malloc(size), block, size) : malloc(size); }
C
cat >loops.c <<'C'
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	(void)argv;
	for (;;) {
		for (int i = 0; i < 1000; i++)
			free(malloc(argc * 10));
		usleep(argc > 1 ? 1000000 : 1000);
	}
}
C
${CC:-cc} -O1 -fno-builtin -shared -fPIC -o libbusy.so busy.c && ${CC:-cc} -O1 -fno-builtin -o loops loops.c || exit 1
LD_PRELOAD=$PWD/libbusy.so ./loops &
busy=$!
./loops slowly &
quiet=$!
until_runs $busy loops 'libbusy\.so'
until_runs $quiet loops 'libc\.so'
expect 0 'an allocator that is too busy for the budget does not refuse the other' "$mtrec" -o m.mtr -e malloc --budget 5 -p $busy,$quiet --duration 3s
says '... and is named' "functions of [^ ]*libc[^ ]* are probed;.* left out: $PWD/libbusy.so, [0-9]+ blocks a second cost [0-9]+ % of a CPU"
expect 3 '... alone it refuses' "$mtrec" -o m.mtr -e malloc --budget 5 -p $busy --duration 1s
says '... and says what it would cost' 'more than --budget 5'
kill $busy $quiet
wait $busy $quiet 2>/dev/null

check 'nothing is left in tracefs' probes_are_gone $recorder
finish
