#!/bin/bash
# --base: a program before and after its leak was mended, stacks matched by names; xorenc with its chunk freed.
# timeout: 120
# together: it looks at what it starts itself, and at nothing else
. "$(dirname "$0")/../lib.sh"
needs_mtrec
needs_calls
needs_compiler
cd "$TMPDIR" || exit 1
mtreport=$MT_BUILD/mtreport

# With -DMENDED other code comes first, so that addresses differ.
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
expect 0 '... and when it is mended' "$mtrec" -q -e vm -o after.mtr -- after/prog

# rows FILE FUNCTION: state and figures of the rows whose stack has it
rows() {
	grep -E ";$2;" "$1" | sed 's/^\([a-z]*\),.*",\([^"]*\)$/\1 \2/'
}
expect 0 'they are compared' "$mtreport" -q --outstanding --base before.mtr --csv after.mtr
cp "$out" changes.csv
is '... what it kept is gone' "$(rows changes.csv keep)" 'gone 6553600,0,-6553600'
is '... other memory has grown' "$(rows changes.csv grow)" 'grown 102400,405504,303104'
expect 0 'the other way round' "$mtreport" -q --outstanding --base after.mtr --csv before.mtr
is '... it is new' "$(rows "$out" keep)" 'new 0,6553600,6553600'
expect 0 'with itself' "$mtreport" -q --outstanding --base after.mtr --csv after.mtr
is '... nothing changed' "$(sed 1d "$out" | cut -d, -f1 | sort -u)" same
expect 0 'folded' "$mtreport" -q --outstanding --base before.mtr --folded after.mtr
is '... has two columns' "$(grep ';keep;' "$out" | sed 's/.* \([0-9]* [0-9]*\)$/\1/')" '6553600 0'
is '... on each line' "$(grep -vcE '^[^ ].* [0-9]+ [0-9]+$' "$out")" 0
expect 0 'for each munmap' "$mtreport" -q --samples -e mmap --per munmap --base after.mtr --by comm --csv after.mtr
is '... the same recording is the same' "$(sed 1d "$out" | cut -d, -f1)" same
expect 2 'an event that is not there' "$mtreport" -q --samples --per minor-faults --base before.mtr after.mtr
says '... is named' 'minor-faults'

# samples of the second half of the time against the first, and each half's part
expect 0 'its end and its beginning' "$mtreport" -q --outstanding --base-time=,0.000001 --by comm --csv before.mtr
is '... all of it is new' "$(sed 1d "$out" | cut -d, -f1 | sort -u)" new
expect 0 'its last part and its whole' "$mtreport" -q --outstanding --base-time=0%- --time 99%- --by comm --csv before.mtr
is '... end alike, and so what remains is the same' "$(sed 1d "$out" | cut -d, -f1 | sort -u)" same
expect 2 'a screenful compares nothing' "$mtreport" --summary --base before.mtr after.mtr
expect 2 'nor does a listing' "$mtreport" --script --base before.mtr after.mtr
expect 2 'judgements are no sums' "$mtreport" --verdict --base before.mtr after.mtr
expect 2 'without a base there is nothing to measure' "$mtreport" --per time after.mtr

if [ ! -e "$MT_SHARED/targets/xorenc.cpp" ] || ! command -v g++ >/dev/null; then
	skip 'xorenc with its chunk freed' 'no xorenc.cpp in ../shared/targets, or no g++'
	finish
fi
g++ -O2 -g -std=c++17 -o before/xorenc "$MT_SHARED/targets/xorenc.cpp" &&
	sed 's/chunks\.push_back(std::move(out));//' "$MT_SHARED/targets/xorenc.cpp" >freed.cpp &&
	g++ -O2 -g -std=c++17 -o after/xorenc freed.cpp || exit 1
check '... is another program' test "$(cksum <freed.cpp)" != "$(cksum <"$MT_SHARED/targets/xorenc.cpp")"
head -c 33554432 /dev/zero >in.bin
# compare: records both, and writes the memory reserved below encryptChunk to chunk.csv
compare() {
	expect 0 'xorenc keeps its chunks' "$mtrec" -q -e vm -o before.mtr -- before/xorenc in.bin 262144 8
	expect 0 'xorenc frees them' "$mtrec" -q -e vm -o after.mtr -- after/xorenc in.bin 262144 8
	expect 0 '... and the two are compared' "$mtreport" -q --outstanding --base before.mtr --csv after.mtr
	grep 'XOREncryptor::encryptChunk' "$out" >chunk.csv
	between '... it had kept all it read, eight times' 268435456 "$(sum 1)" 280000000
}
sum() { # sum COLUMN: base 1, now 2
	sed 's/.*",//' chunk.csv | awk -F, -v column="$1" '{ n += $column } END { print n }'
}
# part OPTION...: prints how many tenths of a per cent of the outstanding memory is below encryptChunk
part() {
	"$mtreport" -q --outstanding "$@" --csv before.mtr >part.csv 2>/dev/null
	python3 - <<'END'
import csv
rows = list(csv.DictReader(open("part.csv")))
print(1000 * sum(int(r["bytes"]) for r in rows if "encryptChunk" in r["stack"]) // sum(int(r["bytes"]) for r in rows))
END
}
compare
between '... 99.2 % and more of what it reserved is below encryptChunk' 992 "$(part)" 1000
# Of all memory that calls reserved. The 0.15 % that exec mapped of the program belongs to no call; --all adds it.
between '... 97.9 % with the files that the loader mapped' 979 "$(part --by kind,stack)" 992
is '... which is what --all has of such calls' "$(part --all -e vm)" "$(part --by kind,stack)"
# What malloc() keeps for the next chunk: one and its padding, at the top of the heap.
between '... of which malloc keeps one chunk' 0 "$(sum 2)" 1000000
# So it takes each chunk by mmap, and keeps none.
export MALLOC_MMAP_THRESHOLD_=131072
compare
is '... every path through encryptChunk is gone' "$(cut -d, -f1 chunk.csv | sort -u) $(sum 2)" 'gone 0'
finish
