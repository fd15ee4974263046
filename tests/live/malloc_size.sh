#!/bin/bash
# --malloc-size: mtrec records only blocks of those sizes, and all their frees, with every allocator.
# slow: the kernel takes a tenth of a second to take each probe off, and an allocator has seventeen
# together: it looks only at what it starts itself
. "$(dirname "$0")/../lib.sh"
needs_mtrec
needs_uprobes
needs_compiler
cd "$TMPDIR" || exit 1

cat >sizes.c <<'C'
#include <stdlib.h>
static void *volatile kept;
__attribute__((noinline)) static void keep_small(void)
{
	for (int i = 0; i < 2000; i++)
		kept = malloc(100);
}
__attribute__((noinline)) static void keep_middle(void)
{
	for (int i = 0; i < 100; i++) {
		kept = malloc(4096);
		kept = malloc(4095);
		kept = malloc(65536);
		kept = malloc(65537);
		kept = calloc(10, 500);
		kept = aligned_alloc(4096, 8192);
		free(malloc(5000));
	}
}
__attribute__((noinline)) static void keep_moved(void)
{
	void *block;

	for (int i = 0; i < 10; i++) {
		block = realloc(malloc(5000), 100);
		kept = realloc(block, 7000);
		block = realloc(malloc(5000), 70);
		kept = realloc(block, 300000);
		if (!posix_memalign(&block, 64, 5000))
			kept = block;
		if (!posix_memalign(&block, 64, 500))
			kept = block;
	}
}
__attribute__((noinline)) static void keep_large(void)
{
	for (int i = 0; i < 10; i++) {
		kept = malloc(300000);
		kept = aligned_alloc(1 << 20, 150000);
		free(malloc(300000));
	}
}
int main(void)
{
	keep_small();
	keep_middle();
	keep_moved();
	keep_large();
	return 0;
}
C
# shellcheck disable=SC2086
${CC:-cc} -D_GNU_SOURCE -O1 -fno-builtin -fno-optimize-sibling-calls -o sizes sizes.c || exit 1

record() { # TITLE OPTION...
	record_without_losses "$1" "$mtrec" -o m.mtr -e malloc "${@:2}" -- ./sizes
	"$MT_BUILD/mtreport" --blocks --csv m.mtr >csv 2>"$err"
}
# kept FUNCTION FIGURE
kept() { awk -F, -v path=";$1\"" -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i } index($0, path) { print $at }' csv; }
middle() {
	is '... has the blocks of those sizes' "$(kept keep_middle blocks)" 400
	is '... with the bytes asked for' "$(kept keep_middle bytes)" $((100 * (4096 + 65536 + 5000 + 8192)))
	is '... what realloc and posix_memalign keep of them' "$(kept keep_moved blocks),$(kept keep_moved bytes)" '20,120000'
	is '... and no others' "$(kept keep_small blocks)$(kept keep_large blocks)" ''
}

record 'glibc' --malloc-size 4K-64K
says '... the sizes are reported' 'any other size was not recorded: only blocks of 4,096 to 65,536 bytes' "$err"
middle
between '... the kernel keeps the others out' 500 "$("$MT_BUILD/mtreport" --script m.mtr 2>/dev/null | grep -c ':malloc/.* ptr=0x[1-9a-f]')" 600

record 'large blocks' --malloc-size 128K-
is '... without an upper limit' "$(kept keep_large blocks),$(kept keep_large bytes)" '20,4500000'
is '... and those that realloc makes' "$(kept keep_moved blocks)" 10
is '... no others' "$(kept keep_small blocks)$(kept keep_middle blocks)" ''

record 'sampled' --malloc-size 1-104 --malloc-sample 2
says '... both are reported' 'only blocks of 1 to 104 bytes' "$err"
says '... at once' '1 in 2 blocks was sampled' "$err"
between '... the interval holds the blocks' "$(kept keep_small blocks_low)" 2000 "$(kept keep_small blocks_high)"
is '... and there are no others' "$(kept keep_middle blocks)$(kept keep_large blocks)" ''

if PATH=$PATH:/sbin ldconfig -p | grep -q '[[:space:]]libjemalloc.so.2 '; then
	export LD_PRELOAD=libjemalloc.so.2
	record 'jemalloc, whose blocks have no size before them' --malloc-size 4K-64K
	unset LD_PRELOAD
	middle
else
	skip 'jemalloc' 'it is not here: scripts/install-deps ci'
fi

for range in 5 64K-4K -4K 4K-x 0-0; do
	expect 2 "'$range' is no range" "$mtrec" -o no.mtr -e malloc --malloc-size "$range" -- ./sizes
done
says '... an error says what is one' "not a range of bytes like 4K-64K"
expect 2 'without -e malloc' "$mtrec" -o no.mtr -e page-faults --malloc-size 4K- -- ./sizes
says '... it limits nothing' 'which is not recorded'
finish
