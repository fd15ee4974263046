#!/bin/bash
# A program exceeds its cgroup's limit, with swap on zram: the reclaimed pages of each waiting process add up to the kernel's counts.
. "$(dirname "$0")/../lib.sh"
needs_mtrec
build_steps
report=$MT_BUILD/mtreport
cd "$TMPDIR" || exit 1
swap_group reclaim 16M

counted() {
	awk -v name="$1" '$1 == name { print $2 }' /proc/vmstat
}

# reclaim: records one program above its limit. $before and $after are the kernel's counts.
reclaim() {
	before=$(counted pgsteal_anon)
	# shellcheck disable=SC2016 # the inner shell's
	record_once "$mtrec" -e reclaim -a -o r.mtr -- sh -c 'echo $$ >"$0/cgroup.procs"; exec "$1" faults 20000' "$group" "$steps"
	local status=$?
	after=$(counted pgsteal_anon)
	return $status
}
until_none_lost "$err" reclaim
is 'reclaim is recorded' $? 0
says '... without losses, in one of three attempts' ', 0 lost -> '
check '... as FORMAT.md says' "$MT_TOP/scripts/mtdump" --check r.mtr

# sums COLUMN OPTION...: prints the sum of a column of --csv
sums() {
	local column=$1
	shift
	"$report" -q --reclaim -e vmscan:mm_vmscan_memcg_reclaim_end --csv "$@" r.mtr |
		awk -F, -v name="$column" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i; next } { n += $at } END { printf "%d\n", n }'
}

pages=$(sums pages --by process)
# pages of mtrec itself may be reclaimed, too
between 'its pages are those that the kernel counted' $(((after - before) * 98 / 100)) "$pages" $(((after - before) * 102 / 100 + 8))
calls=$("$report" -q --folded --by event -e vmscan:mm_vmscan_memcg_reclaim_end r.mtr | awk '{ n += $NF } END { print n }')
is 'each reclaim that ended is counted' "$calls" "$(sums calls --by process)"
is '... and the histogram has all of them' "$calls" "$(sums calls --by took)"
is '... and their time' "$(sums ns --by process)" "$(sums ns --by took)"
"$report" -q --reclaim --folded --weight pages r.mtr >folded
says 'the path is the one that touched the pages: its stack itself may be swapped out' 'steps;.*touch;.*try_to_free_mem_cgroup_pages [0-9]' folded
expect 4 'nothing was compacted' "$report" -q --compaction r.mtr
finish
