#!/bin/bash
# --malloc-sample: the kernel chooses blocks by address, for allocations and frees alike; the intervals of the estimates contain the
# true figures.
# slow: the kernel takes a tenth of a second to take each probe off, and an allocator has seventeen
. "$(dirname "$0")/../lib.sh"
needs_mtrec
needs_uprobes
needs_compiler
cd "$TMPDIR" || exit 1

# 20,000 blocks of 104 bytes are kept, as many freed; 3 of 200,000 bytes are kept; each function's blocks are freed 1,000 times.
cat >keeps.c <<'C'
#include <stdlib.h>
#include <unistd.h>
static void *volatile kept;
static volatile size_t too_large = (size_t)-1 / 2 + 10;
__attribute__((noinline)) static void keep_small(void)
{
	for (int i = 0; i < 20000; i++) {
		kept = malloc(104);
		free(malloc(104));
	}
}
__attribute__((noinline)) static void keep_large(void)
{
	for (int i = 0; i < 3; i++) {
		kept = malloc(200000);
		free(malloc(200000));
	}
}
__attribute__((noinline)) static void keep_none(void)
{
	void *block = NULL;

	for (int i = 0; i < 1000; i++) {
		kept = malloc(1000);
		kept = realloc(kept, 5000);
		kept = realloc(kept, 300000);
		kept = realloc(kept, 2000);
		free(kept);
		kept = malloc(too_large); /* fails */
		if (!posix_memalign(&block, 64, 1024))
			free(block);
	}
}
int main(int argc, char **argv)
{
	static void *volatile ring[1000];
	int next = 0;

	while (argc > 1) { /* as many a hundredth of a second, or fewer */
		for (int i = 0; i < atoi(argv[1]); i++) {
			free(ring[next]);
			ring[next] = malloc(16 + next);
			next = (next + 1) % 1000;
		}
		usleep(10000);
	}
	keep_small();
	keep_large();
	keep_none();
	return 0;
}
C
# shellcheck disable=SC2086
${CC:-cc} -D_GNU_SOURCE -O1 -fno-builtin -fno-optimize-sibling-calls -o keeps keeps.c || exit 1

record() { # N
	record_without_losses "1 in $1 is recorded" setarch -R "$mtrec" -o "$1.mtr" -e malloc --malloc-sample "$1" -- ./keeps
}
# field FUNCTION NAME: prints a field of the row of a path
field() { awk -F, -v path=";$1\"" -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i } index($0, path) { print $at }' csv; }
kept() { # N: checks the live blocks of N.mtr
	"$MT_BUILD/mtreport" --blocks --csv "$1.mtr" >csv 2>"$err"
	says "1 in $1: reported" "1 in $1 blocks was sampled" "$err"
	between '... the interval holds the blocks that are kept' "$(field keep_small blocks_low)" 20000 "$(field keep_small blocks_high)"
	between '... and their bytes' "$(field keep_small bytes_low)" 2080000 "$(field keep_small bytes_high)"
	is '... large blocks are counted one by one' "$(field keep_large blocks),$(field keep_large blocks_low)" 3,3
	is '... freed blocks are gone, also after realloc and posix_memalign' "$(field keep_none blocks)" 0
	is '... each call that failed is counted' "$(field keep_none failed)" 1000
}
addresses() { "$MT_BUILD/mtreport" --script "$1.mtr" 2>/dev/null | sed -n 's/.*:malloc[/:].* ptr=\(0x[1-9a-f][0-9a-f]*\) .*/\1/p' | sort -u; }

record 4
says '... and reported' '^mtrec: malloc: 1 in 4 blocks is recorded' "$err"
record 15
says 'a number is rounded to a power of two' '1 in 16 blocks' "$err"
mv 15.mtr 16.mtr
kept 4
kept 16
addresses 4 >four
addresses 16 >sixteen
is 'all blocks of 1 in 16 are among those of 1 in 4' "$(comm -13 four sixteen | wc -l)" 0
between '... which is about four times as much' 300 "$(($(wc -l <four) * 100 / $(wc -l <sixteen)))" 500
expect 2 'a rate that is not a number' "$mtrec" -e malloc --malloc-sample some -- ./keeps
says '... is reported with the valid ones' "'some' is neither auto nor all nor a number"

# auto: mtrec first counts the calls of a running process.
started() { # BLOCKS A HUNDREDTH OF A SECOND
	./keeps "$1" &
	pid=$!
	until_runs "$pid" keeps libc.so
}
started 10
check 'few blocks' "$mtrec" -o few.mtr -e malloc -p $pid --duration 300ms
says '... are counted first, and each is recorded' '^mtrec: malloc: [0-9]+ blocks a second; the probes cost [0-9.]+ % of a CPU; each is' "$err"
kill $pid
started 100
# The cost of a stop depends on the machine and on the moment: each attempt sets the budget to the last reported cost of the probes and
# half of the records, until mtrec samples.
said_between() {
	sed -nE -e 's/^mtrec: malloc: .*probes cost ([0-9.]+) % of a CPU; .* recorded, for ([0-9.]+) %.*/\1 \2/p' \
		-e 's/^mtrec: .*probes .* would cost ([0-9]+) % of a CPU.*/\1 \1.9/p' "$err" | awk '{ printf "%.1f", $1 + $2 / 2 }'
}
check 'more blocks, with room for all' "$mtrec" -o all.mtr -e malloc --budget 90 -p $pid --duration 300ms
says '... whose price is reported' 'the probes cost [0-9.]+ % of a CPU; each is'
for _ in 1 2 3 4 5 6 7 8; do
	"$mtrec" -v -o more.mtr -e malloc --budget "$(said_between)" -p $pid --duration 300ms >"$out" 2>again
	status=$?
	cp again "$err"
	! grep -q '; 1 in [0-9]* is recorded' "$err" || break
done
is 'more blocks' "$status" 0
says '... by measured costs' 'a stop at a probe costs [0-9.]+ us, [0-9.]+ us where .* \(measured\)' "$err"
says '... are sampled' '; 1 in (2|4|8) is recorded, for [0-9.]+ %' "$err"
"$MT_BUILD/mtreport" --info more.mtr >info 2>&1
is '... with one event for each function' "$(grep -Ec '^  malloc = .*: sample, ' info)" 2
kill $pid
started 5000
expect 3 'a load that is too high' "$mtrec" -o storm.mtr -e malloc -p $pid --duration 300ms
says '... is refused, with its cost' '[0-9]+ blocks a second: probes alone would cost [0-9]+ % of a CPU, more than --budget 5'
says '... and what to do' '--budget [0-9]+ allows that, --malloc-sample 64 takes any price'
check '... and that advice works' "$mtrec" -o storm.mtr -e malloc --malloc-sample 64 -p $pid --duration 300ms
kill $pid
wait 2>/dev/null
expect 2 'a budget for a command' "$mtrec" -o no.mtr -e malloc --budget 5 -- ./keeps
says '... is refused, because its rate is not known' 'of what runs already'
check 'nothing is left in tracefs' probes_are_gone
finish
