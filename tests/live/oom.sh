#!/bin/bash
# A cgroup at its limit: --oom names victim, killer, cgroup and the path that grew, with the figures of the kernel's log.
. "$(dirname "$0")/../lib.sh"
needs_mtrec
needs_root 'cgroups'
build_steps
memory=/sys/fs/cgroup/memory
[ -w "$memory/cgroup.procs" ] || skip_all 'no cgroup of version 1 that accounts for memory, or not root'
grep -q oom_kill "$memory/memory.oom_control" || skip_all 'this kernel does not count the kills of a cgroup'
report=$MT_BUILD/mtreport
group=$memory/mtrec-oom-$$
cd "$TMPDIR" || exit 1
trap 'rmdir "$group" 2>/dev/null' EXIT
mkdir "$group" && echo 16M >"$group/memory.limit_in_bytes"
mkfifo go
kills() {
	awk '$1 == "oom_kill" { print $2 }' "$group/memory.oom_control"
}
# The shell is in the cgroup before recording begins; its children are in the cgroup from their start.
attempt() {
	( echo "$BASHPID" >"$group/cgroup.procs"; read -r _ <go; "$steps" faults 20000 >/dev/null 2>&1; exit 0 ) 2>/dev/null &
	shell=$!
	killed=$(kills)
	# shellcheck disable=SC2016 # the inner shell's
	record_once "$mtrec" -e oom,vm,rss -a -o oom.mtr -- sh -c 'echo >go; while kill -0 "$0" 2>/dev/null; do sleep 0.1; done' "$shell"
	local status=$?
	wait "$shell"
	killed=$(($(kills) - killed))
	return $status
}
until_none_lost "$err" attempt
is 'a kill is recorded' $? 0
says '... without losses, in one of three attempts' ', 0 lost -> '
is 'the kernel killed one' "$killed" 1
check '--oom' "$report" -q --oom --csv oom.mtr
cp "$out" oom.csv

# fact NAME COLUMN: prints a fact about the victim
fact() {
	python3 - "$1" "$2" <<'END'
import csv, sys
rows = [row for row in csv.DictReader(open("oom.csv")) if row["fact"] == sys.argv[1]]
print(rows[0][sys.argv[2]] if rows else f"no {sys.argv[1]}")
END
}
is '... the victim' "$(fact 'killed for' process)" steps
pid=$(fact 'killed for' pid)
is '... the process that asked for memory: the victim itself' "$(fact 'killed for' figure)" "steps $pid"
says '... on which path' '"[^"]*touch;[^"]*mem_cgroup_out_of_memory' oom.csv
is '... the cgroup' "$(fact cgroup figure)" "/${group##*/}"
is '... its limit' "$(fact "cgroup's limit" value)" $((16 << 20))
says '... the load' '^[0-9.]+$' <(fact 'load average' figure)
# the growth is the memory that the victim touched, without the memory that it began with
between '... the path that grew' $((13 << 20)) "$(fact grew value)" $((16 << 20))
says '... by name' '^[^,]*,'"$pid"',steps,grew,[^,]*,"[^"]*main;[^"]*touch[;"]' oom.csv
if line=$(dmesg 2>/dev/null | grep "Killed process $pid (steps)") && grep -q anon_rss /sys/kernel/tracing/events/oom/mark_victim/format; then
	said() { sed -n "s/.*[ ,]$1:\([0-9]*\)kB.*/\1/p" <<<"$line"; }
	for pair in total_vm=total-vm anon=anon-rss file=file-rss shmem=shmem-rss 'page tables=pgtables'; do
		is "the kernel's log and --oom: ${pair%=*}" "$(($(fact "${pair%=*}" value) / 1024))" "$(said "${pair#*=}")"
	done
	is '... oom_score_adj' "$(fact oom_score_adj value)" "$(sed -n 's/.*oom_score_adj:\(-*[0-9]*\).*/\1/p' <<<"$line")"
	is '... uid' "$(fact uid value)" "$(sed -n 's/.*UID:\([0-9]*\).*/\1/p' <<<"$line")"
else
	skip "the kernel's log and --oom" 'no access to it, or its event has the pid alone'
fi
"$report" -q oom.mtr >first
says 'the first screen names the victim' "^ +OOM-killed: steps $pid( \(peak [0-9.]+ MB\))?\$" first
says '... and --oom' '^ +mtreport --oom oom.mtr( |$)' first
"$report" -q --oom oom.mtr >screen
check '... within 80 columns, except for names' awk 'length > 80 && !/^ / { exit 1 }' screen
"$report" -q --host oom.mtr >host
says '--host counts it' '^errors +memory: OOM kills +1' host
says '... and that the cgroup was at its limit' "^saturated +cgroup: at its limit .* cgroup failures /${group##*/}\$" host
# A process that moves to the cgroup during recording, before it does anything.
( read -r _ <go; echo "$BASHPID" >"$group/cgroup.procs"; exec "$steps" faults 20000 >/dev/null 2>&1 ) 2>/dev/null &
moved=$!
# shellcheck disable=SC2016 # the inner shell's
check 'a process is moved, and killed' "$mtrec" -q -e oom,vm,rss -a -o moved.mtr -- \
	sh -c 'echo >go; while kill -0 "$0" 2>/dev/null; do sleep 0.1; done' "$moved"
wait "$moved" 2>/dev/null
"$report" -q --oom --csv moved.mtr >oom.csv
is '... the victim' "$(fact 'killed for' pid)" "$moved"
if [ -e /sys/kernel/tracing/events/cgroup/cgroup_attach_task ]; then
	is '... its cgroup' "$(fact cgroup figure)" "/${group##*/}"
	is '... and its limit, reached too late for a gauge' "$(fact "cgroup's limit" value)" $((16 << 20))
	says '--host has an error of the cgroup' "^errors +cgroup: OOM kills +1, 1 before +cgroup oom_kills /${group##*/}\$" \
		<("$report" -q --host moved.mtr)
	"$report" -q --by cgroup --csv --samples moved.mtr >by.csv
	says '... to which its samples are attributed, too' "^page-faults,/${group##*/}," by.csv
else
	skip '... its cgroup' 'this kernel does not report who is moved'
fi
expect 4 'a time without the kill' "$report" -q --oom --time 0,0.000001 moved.mtr
says '... is reported with the number of kills' 'of 1 OOM kills in it none matches the selectors'
# A cgroup is created, has a kill and is removed between two readings of the gauges.
expect 0 'a cgroup that exists for a moment' "$mtrec" -q -e oom,vm,rss --gauges none -a -o brief.mtr -- \
	sh -c 'sleep 0.5 # the first gauge is read
		mkdir "$1" && echo 16M >"$1/memory.limit_in_bytes"
		sh -c "echo \$\$ >\"$1/cgroup.procs\"; exec \"$0\" faults 20000" >/dev/null 2>&1; rmdir "$1"' "$steps" "$group-brief"
"$report" -q --oom --csv brief.mtr >oom.csv
is '... its limit' "$(fact "cgroup's limit" figure)" 'not known'
if [ -e /sys/kernel/tracing/events/cgroup/cgroup_attach_task ]; then
	says '... its kill' "^errors +cgroup: OOM kills +1 +oom:mark_victim /${group##*/}-brief\$" <("$report" -q --host brief.mtr)
fi
expect 2 'stacks of facts are not added up' "$report" -q --oom --folded oom.mtr
expect 4 'a recording without a kill' "$report" -q --oom "$MT_TOP/tests/golden/recorded/attached.mtr"
says '... is reported with the command that records one' 'mtrec -e oom,vm,rss -a'
finish
