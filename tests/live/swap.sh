#!/bin/bash
# A program exceeds its cgroup's limit, with swap on zram: the pages that are swapped out at the end, and the paths by which they were
# swapped out and in, agree with /proc.
. "$(dirname "$0")/../lib.sh"
needs_mtrec
"$mtrec" --list kmem:rss_stat >/dev/null 2>&1 || skip_all 'this kernel has no kmem:rss_stat'
needs_compiler
report=$MT_BUILD/mtreport
cd "$TMPDIR" || exit 1
cat >swaps.c <<'END2'
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#define MIB (1 << 20)
__attribute__((noinline)) static void fill(char *p)
{
	for (int i = 0; i < 64 * MIB; i += 4096)
		memset(p + i, i >> 12, 4096);
}
__attribute__((noinline)) static int back(const char *p)
{
	int sum = 0;

	for (int i = 0; i < 4 * MIB; i += 4096)
		sum += p[i];
	return sum;
}
int main(void)
{
	char *p = mmap(NULL, 64 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), go;
	int sum;

	if (read(0, &go, 1) != 1)
		return 1;
	madvise(p, 64 * MIB, MADV_NOHUGEPAGE);
	fill(p);
	sum = back(p);
	if (!vfork()) { /* in its parent's memory */
		for (int i = 0; i < 100; i++)
			sum += p[40 * MIB + i * 4096];
		execlp("true", "true", NULL);
		_exit(1);
	}
	wait(NULL);
	munmap(p + 8 * MIB, 8 * MIB);
	puts(sum ? "done" : "done.");
	fflush(stdout);
	return (int)read(0, &go, 1) - 1;
}
END2
# shellcheck disable=SC2086
check 'a program that is larger than its cgroup' ${CC:-cc} -O1 -g -o swaps swaps.c || finish
swap_group swap 16M

mkfifo go
swaps=
# attempt: records the program $swaps, which continues to run. $swapped is the number of its bytes that are swapped out at the end.
attempt() {
	if [ -n "$swaps" ]; then
		exec 3>&-
		wait "$swaps"
	fi
	rm -f s.mtr said
	# shellcheck disable=SC2016 # the inner shell's
	sh -c 'echo $$ >"$0/cgroup.procs"; exec ./swaps' "$group" <go >said &
	swaps=$!
	exec 3>go
	"$mtrec" -e swap -a -o s.mtr 2>why &
	recorder=$!
	until_recording "$recorder" s.mtr
	echo >&3
	until_true grep -q done said
	until_true grep -q '^State:.*sleeping' "/proc/$swaps/status"
	sh -c 'echo 0 >"$0/memory.force_empty"' "$group" 2>/dev/null # swaps out as much as possible, for another process
	swapped=$(awk '$1 == "Swap:" { print $2 * 1024 }' "/proc/$swaps/smaps_rollup")
	kill -TERM "$recorder"
	wait "$recorder"
}
until_none_lost why attempt
says 'it is recorded without losses, in one of three attempts' ', 0 lost -> ' why
"$report" -q --swap --csv --by process s.mtr >by_process.csv
"$report" -q --swap --csv s.mtr >by_path.csv
check '... as FORMAT.md says' "$MT_TOP/scripts/mtdump" --check s.mtr
# sums COLUMN: prints a figure of the program's row
sums() {
	awk -F, -v name="$1" -v pid="$swaps" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i; next } $1 == pid { print $at }' by_process.csv
}
is 'the swapped pages at the end are those of /proc, to the page' "$(sums bytes)" "$swapped"
is '... of one process, whose memory a child of vfork read, too' "$(grep -cE '^[0-9]+,(swaps|true)' by_process.csv)" 1
between 'at least the memory above its limit was swapped out' $((48 << 8)) "$(sums out)" $((96 << 8))
between 'the pages that it read again were swapped in' 900 "$(sums in)" 1400
between 'the swapped pages that it unmapped were freed' 1500 "$(sums freed)" 2048
is 'the sums agree' "$(sums bytes)" $((($(sums out) - $(sums in) - $(sums freed)) * 4096))
says 'the path that fills swaps out' "^$swaps,swaps,[^,]*;main;fill;" by_path.csv
says 'the path that reads again brings in' "^$swaps,swaps,[^,]*;main;back;.*do_swap_page[^,]*,-[0-9]+,0,[0-9]+,0" by_path.csv
says 'what another process swapped out is its own' "^$swaps,swaps,[^,]*(mem_cgroup_force_empty|try_to_free_mem_cgroup_pages)[^,]*,[0-9]+,[0-9]{3,},0,0" by_path.csv
says 'munmap frees' "^$swaps,swaps,[^,]*;main;.*unmap_page_range[^,]*,-[0-9]+,0,0,[0-9]+" by_path.csv

# The first reading of a running process includes the memory that was swapped out before, from VmSwap. The arguments of a process may
# be swapped out; reading them swaps them in.
cat "/proc/$swaps/cmdline" >/dev/null
swapped=$(awk '$1 == "VmSwap:" { print $2 * 1024 }' "/proc/$swaps/status")
"$mtrec" -q -e swap -p "$swaps" -o later.mtr 2>why &
recorder=$!
until_recording "$recorder" later.mtr
kill -TERM "$recorder"
wait "$recorder"
"$report" -q --swap --csv later.mtr >later.csv 2>why
says 'memory that was swapped out before is reported as such' "^$swaps,swaps,.*before.*,$swapped,0,0,0" later.csv
exec 3>&-
wait "$swaps"
finish
