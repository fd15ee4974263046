#!/bin/bash
# What /proc says of the targets and the host while it is recorded: exact at both ends, cheap in between.
. "$(dirname "$0")/../lib.sh"
needs_mtrec
needs_root 'tracepoints'
cd "$TMPDIR" || exit 1
report=$MT_BUILD/mtreport

# column NAME PID FILE: a figure of a process as --processes has it.
column() {
	"$report" -q --processes --csv "$3" | awk -F, -v name="$1" -v pid="$2" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
		NR > 1 && $at["pid"] == pid { print $at[name] }'
}

# status NAME PID: a line of its status, in bytes.
status() {
	awk -v name="$1:" '$1 == name { printf "%.0f", $2 * 1024 }' "/proc/$2/status"
}

cat >grow.py <<'END'
import os, sys, time
keep = []
for line in sys.stdin:
    keep.append(bytearray(int(line) << 20))
    print(len(keep), flush=True)
END
coproc grower { exec python3 grow.py; }
pid=$grower_PID
echo 10 >&"${grower[1]}"
read -r _ <&"${grower[0]}"
kill -STOP "$pid"
rss=$(status VmRSS "$pid") size=$(status VmSize "$pid")
expect 4 'a stopped process is recorded, without a sample' "$mtrec" -q -e vm,rss -p "$pid" -o still.mtr --duration 1s
is '... resident, before, as /proc has it' "$(column before "$pid" still.mtr)" "$rss"
is '... and at the end' "$(column now "$pid" still.mtr)" "$rss"
is '... mapped, too' "$(column 'mapped now' "$pid" still.mtr)" "$size"

"$mtrec" -q -e vm,rss -p "$pid" -o grows.mtr --duration 6s &
recorder=$!
sleep 1
kill -CONT "$pid"
for i in 1 2 3 4; do
	echo 20 >&"${grower[1]}"
	read -r _ <&"${grower[0]}"
	sleep 1
done
kill -STOP "$pid"
expect 0 'one that grows is recorded' wait "$recorder"
is '... what it had before' "$(column before "$pid" grows.mtr)" "$rss"
is '... and has now, as /proc has it' "$(column now "$pid" grows.mtr)" "$(status VmRSS "$pid")"
is '... by how much it grew' "$(column change "$pid" grows.mtr)" "$(($(status VmRSS "$pid") - rss))"
is '... and what is mapped' "$(column mapped "$pid" grows.mtr)" "$(($(status VmSize "$pid") - size))"
is '... steadily' "$(column trend "$pid" grows.mtr)" steady
kill -CONT "$pid"
exec {grower[1]}>&-
wait "$pid"

check 'a process that begins and ends is recorded' "$mtrec" -q -e vm,rss -o ends.mtr \
	python3 -c 'import time; x = bytearray(30 << 20); time.sleep(2.5)'
check '... is in --processes' "$report" --processes --csv ends.mtr
is '... had nothing before' "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
	$at["process"] == "python3" { print $at["before"], $at["life"], ($at["now"] > 30 * 2 ^ 20) }' "$out")" '0 began 1'

check 'without readings in between' "$mtrec" -q -e vm --gauges none -o none.mtr sleep 2.5
is '... there are two of the host' "$("$MT_TOP/scripts/mtdump" --records none.mtr | grep -c 'meminfo MemTotal')" 2
check 'every half second' "$mtrec" -q -e vm --gauges 500ms -o often.mtr sleep 2.2
between '... there are more' 3 "$("$MT_TOP/scripts/mtdump" --records often.mtr | grep -c 'name="meminfo MemFree"')" 99
expect 2 'not a time' "$mtrec" --gauges soon -e vm true
says '... is told' "--gauges: 'soon' is not a time"

check 'the whole host' "$mtrec" -q -a -e vm -o host.mtr sleep 1
check '... dump' "$MT_TOP/scripts/mtdump" --records host.mtr
for name in 'meminfo MemAvailable' 'meminfo SwapFree' 'meminfo Committed_AS' 'vmstat pgfault' 'vmstat oom_kill' 'loadavg 1'; do
	between "... has $name" 1 "$(grep -c "pid=0 .*name=\"$name\"" "$out")" 99
done
is '... MemTotal is the host'\''s' "$(grep -m1 'meminfo MemTotal' "$out" | grep -o 'value=[0-9]*')" \
	"value=$(awk '$1 == "MemTotal:" { printf "%.0f", $2 * 1024 }' /proc/meminfo)"
is '... the kernel'\''s own threads are no processes' \
	"$("$report" -q --processes --csv host.mtr | awk -F, '$1 == 2' | wc -l)" 0
expect 4 'a recording without gauges' "$report" --processes "$MT_TOP/tests/golden/recorded/attached.mtr"
says '... says so' 'no sizes of processes in it'
finish
