#!/bin/bash
# Memory on huge pages: faults add it, unmapping a part splits it, madvise collapses it; the sum is AnonHugePages of smaps.
# together: it looks only at what it starts itself
. "$(dirname "$0")/../lib.sh"
needs_mtrec
needs_root
"$mtrec" --list kmem:rss_stat >/dev/null 2>&1 || skip_all 'this kernel has no kmem:rss_stat'
grep -Eq '\[(madvise|always)\]' /sys/kernel/mm/transparent_hugepage/enabled 2>/dev/null || skip_all 'huge pages are not enabled'
needs_compiler
report=$MT_BUILD/mtreport
cd "$TMPDIR" || exit 1
cat >huge.c <<'END2'
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#define MIB (1 << 20)
static char *map(long size, int advice)
{
	char *p = mmap(NULL, size + 2 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	p = (char *)(((unsigned long)p + 2 * MIB - 1) & ~(2ul * MIB - 1));
	madvise(p, size, advice);
	return p;
}
__attribute__((noinline)) static void fill(char *p, long size)
{
	for (long i = 0; i < size; i += 4096)
		p[i] = 1;
}
int main(void)
{
	char *huge, *small, go;

	if (read(0, &go, 1) != 1)
		return 1;
	huge = map(64 * MIB, MADV_HUGEPAGE);
	small = map(8 * MIB, MADV_NOHUGEPAGE);
	fill(huge, 64 * MIB);
	fill(small, 8 * MIB);
	system("true"); /* faults in this space, too, and ends */
	munmap(huge + 8 * MIB, 4 * MIB);
	madvise(huge + 21 * MIB, MIB / 2, MADV_DONTNEED);
	mprotect(huge + 31 * MIB, 4 * MIB, PROT_READ);
	puts("filled");
	fflush(stdout);
	if (read(0, &go, 1) != 1)
		return 1;
	madvise(small, 8 * MIB, MADV_HUGEPAGE);
	madvise(small, 8 * MIB, 25 /* MADV_COLLAPSE, Linux 6.1 */);
	puts("collapsed");
	fflush(stdout);
	return (int)read(0, &go, 1) - 1;
}
END2
# shellcheck disable=SC2086
check 'a program with huge pages' ${CC:-cc} -O1 -g -o huge huge.c || finish

# on_huge_pages: prints the bytes that smaps reports
on_huge_pages() {
	awk '$1 == "AnonHugePages:" { print $2 * 1024 }' "/proc/$holder/smaps_rollup"
}

# reported: prints the bytes that mtreport reports
reported() {
	"$report" -q --hugepages --csv --by process "$@" | awk -F, -v pid="$holder" '$1 == pid { n += $3 } END { printf "%d\n", n }'
}

mkfifo go
# attempt: records the program. $filled and $collapsed are its AnonHugePages of smaps at those times.
attempt() {
	rm -f h.mtr said
	./huge <go >said &
	holder=$!
	exec 3>go
	"$mtrec" -e hugepages -p "$holder" -o h.mtr 2>why &
	recorder=$!
	until_recording "$recorder" h.mtr
	printf . >&3
	until_true grep -q filled said
	filled=$(on_huge_pages)
	printf . >&3
	until_true grep -q collapsed said
	collapsed=$(on_huge_pages)
	kill -TERM "$recorder"
	wait "$recorder"
	exec 3>&-
	wait "$holder"
}
until_none_lost why attempt
says 'it is recorded without losses, in one of three attempts' ', 0 lost -> ' why
check '... as FORMAT.md says' "$MT_TOP/scripts/mtdump" --check h.mtr
"$mtrec" -q -e hugepages -o none.mtr -- true 2>why
expect 0 'a recording without huge pages has exit status 0' "$report" --hugepages none.mtr
says '... and a line says so' '^mtreport: --hugepages: none was seen$' "$err"
"$report" -q --hugepages --csv h.mtr >paths.csv
if [ "$filled" -lt $((50 << 20)) ]; then
	skip 'huge pages of faults' "the kernel had few to give: $filled bytes"
	finish
fi
is 'huge pages of faults, less those unmapped and split, are what smaps had' \
	"$(awk -F, '/;main;fill/ { n += $(NF - 2) } END { printf "%d\n", n }' paths.csv)" "$filled"
is 'with those that were collapsed they are AnonHugePages at the end' "$(reported h.mtr)" "$collapsed"
if [ "$collapsed" -gt "$filled" ]; then
	says 'what was collapsed is reported as such' "\[collapsed\].*,$((collapsed - filled))," paths.csv
else
	skip 'what was collapsed is reported as such' 'this kernel has no MADV_COLLAPSE'
fi
says 'by the path that touched them' '^[0-9]+,huge[^,]*,[^,]*;main;fill"?,[0-9]{8},' paths.csv
finish
