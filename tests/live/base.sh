#!/bin/bash
# --base: a program before and after its leak is fixed, with stacks matched by names; then xorenc, which keeps or frees its chunks.
# timeout: 120
# together: it looks only at what it starts itself
. "$(dirname "$0")/../lib.sh"
needs_mtrec
needs_calls
needs_compiler
cd "$TMPDIR" || exit 1
mtreport=$MT_BUILD/mtreport

# With -DMENDED, a function is added in front of the others, so that their addresses differ.
cat >prog.c <<'END'
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#ifdef MENDED
__attribute__((used)) int before(int x) { return x * x % 7 + x / 3; }
#endif
__attribute__((noinline)) static char *take(size_t size)
{
	return memset(mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 1, size);
}
__attribute__((noinline)) static void keep(size_t size)
{
	char *piece = take(size);
#ifdef MENDED
	munmap(piece, size);
#endif
	__asm__ volatile("" ::"r"(piece));
}
__attribute__((noinline)) static void grow(size_t size) { take(size)[0] = 2; }
int main(void)
{
	for (int i = 0; i < 100; i++)
		keep(65536);
#ifdef MENDED
	grow(300000);
#endif
	grow(100000);
	return 0;
}
END
mkdir before after
# shellcheck disable=SC2086
${CC:-cc} -D_GNU_SOURCE -O1 -g -fno-optimize-sibling-calls -o before/prog prog.c &&
	${CC:-cc} -D_GNU_SOURCE -DMENDED -O1 -g -fno-optimize-sibling-calls -o after/prog prog.c || exit 1
expect 0 'a program is recorded' "$mtrec" -q -e vm -o before.mtr -- before/prog
expect 0 '... and recorded again, with the leak fixed' "$mtrec" -q -e vm -o after.mtr -- after/prog

# rows FILE FUNCTION: prints state and figures of the rows whose stack has FUNCTION
rows() {
	grep -E ";$2;" "$1" | sed 's/^\([a-z]*\),.*",\([^"]*\)$/\1 \2/'
}
expect 0 'the two recordings are compared' "$mtreport" -q --outstanding --base before.mtr --csv after.mtr
cp "$out" changes.csv
is '... the memory that keep() kept is gone' "$(rows changes.csv keep)" 'gone 6553600,0,-6553600'
is '... other memory has grown' "$(rows changes.csv grow)" 'grown 102400,405504,303104'
expect 0 'they are compared the other way round' "$mtreport" -q --outstanding --base after.mtr --csv before.mtr
is '... the memory that keep() kept is new' "$(rows "$out" keep)" 'new 0,6553600,6553600'
expect 0 'a recording is compared with itself' "$mtreport" -q --outstanding --base after.mtr --csv after.mtr
is '... nothing changed' "$(sed 1d "$out" | cut -d, -f1 | sort -u)" same
expect 0 'the comparison is written by --folded' "$mtreport" -q --outstanding --base before.mtr --folded after.mtr
is '... with two columns of figures' "$(grep ';keep;' "$out" | sed 's/.* \([0-9]* [0-9]*\)$/\1/')" '6553600 0'
is '... on each line' "$(grep -vcE '^[^ ].* [0-9]+ [0-9]+$' "$out")" 0
expect 0 'figures are compared per munmap' "$mtreport" -q --samples -e mmap --per munmap --base after.mtr --by comm --csv after.mtr
is '... a recording does not differ from itself' "$(sed 1d "$out" | cut -d, -f1)" same
expect 2 '--per of an event that was not recorded is a usage error' "$mtreport" -q --samples --per minor-faults --base before.mtr after.mtr
says '... that names the event' 'minor-faults'

# One recording at two times: its end against its beginning, then its last part against all of it.
expect 0 'the end of a recording is compared with its beginning' "$mtreport" -q --outstanding --base-time=,0.000001 --by comm --csv before.mtr
is '... all of it is new' "$(sed 1d "$out" | cut -d, -f1 | sort -u)" new
expect 0 'the last part of a recording is compared with all of it' "$mtreport" -q --outstanding --base-time=0%- --time 99%- --by comm --csv before.mtr
is '... both end at the same time, so outstanding memory is the same' "$(sed 1d "$out" | cut -d, -f1 | sort -u)" same
expect 2 '--summary cannot be compared with a base' "$mtreport" --summary --base before.mtr after.mtr
expect 2 '--script cannot be compared with a base' "$mtreport" --script --base before.mtr after.mtr
expect 2 'verdicts are not sums: --verdict cannot be compared with a base' "$mtreport" --verdict --base before.mtr after.mtr
expect 2 '--per without a base is a usage error' "$mtreport" --per time after.mtr

if [ ! -e "$MT_SHARED/targets/xorenc.cpp" ] || ! command -v g++ >/dev/null; then
	skip 'xorenc with its chunk freed' 'no xorenc.cpp in ../shared/targets, or no g++'
	finish
fi
g++ -O2 -g -std=c++17 -o before/xorenc "$MT_SHARED/targets/xorenc.cpp" &&
	sed 's/chunks\.push_back(std::move(out));//' "$MT_SHARED/targets/xorenc.cpp" >freed.cpp &&
	g++ -O2 -g -std=c++17 -o after/xorenc freed.cpp || exit 1
check 'xorenc that frees its chunks is another program' test "$(cksum <freed.cpp)" != "$(cksum <"$MT_SHARED/targets/xorenc.cpp")"
head -c 33554432 /dev/zero >in.bin
# compare: records both programs, and writes the changes below encryptChunk to chunk.csv
compare() {
	expect 0 'xorenc keeps its chunks' "$mtrec" -q -e vm -o before.mtr -- before/xorenc in.bin 262144 8
	expect 0 'xorenc frees them' "$mtrec" -q -e vm -o after.mtr -- after/xorenc in.bin 262144 8
	expect 0 '... and the two are compared' "$mtreport" -q --outstanding --base before.mtr --csv after.mtr
	grep 'XOREncryptor::encryptChunk' "$out" >chunk.csv
	between '... before, it kept eight times its input' 268435456 "$(sum 1)" 280000000
}
sum() { # sum COLUMN: base 1, now 2
	sed 's/.*",//' chunk.csv | awk -F, -v column="$1" '{ n += $column } END { print n }'
}
# part OPTION...: prints the share of outstanding memory below encryptChunk, in tenths of a per cent
part() {
	"$mtreport" -q --outstanding "$@" --csv before.mtr >part.csv 2>/dev/null
	python3 - <<'END'
import csv
rows = list(csv.DictReader(open("part.csv")))
print(1000 * sum(int(r["bytes"]) for r in rows if "encryptChunk" in r["stack"]) // sum(int(r["bytes"]) for r in rows))
END
}
compare
between '... at least 99.2 % of the memory that it reserved is below encryptChunk' 992 "$(part)" 1000
# A share of the memory that system calls reserved. The program's own mappings (0.15 %) were made by exec, not by a call;
# only --all shows them.
between '... at least 97.9 % if the files that the loader mapped are included' 979 "$(part --by kind,stack)" 992
is '... and --all shows the same share for these calls' "$(part --all -e vm)" "$(part --by kind,stack)"
# malloc() keeps one freed chunk and its padding at the top of the heap, for the next chunk.
between '... after, malloc keeps at most one chunk' 0 "$(sum 2)" 1000000
# With this threshold, malloc() maps each chunk with mmap() and keeps none.
export MALLOC_MMAP_THRESHOLD_=131072
compare
is '... every path through encryptChunk is gone' "$(cut -d, -f1 chunk.csv | sort -u) $(sum 2)" 'gone 0'
finish
