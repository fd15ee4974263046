#!/bin/bash
# Gauges from /proc of the targets and the host during recording: exact at both ends, cheap in between.
# timeout: 120
# slow: readings once a second, of a host at rest and of storms
. "$(dirname "$0")/../lib.sh"
needs_mtrec
needs_root 'tracepoints'
cd "$TMPDIR" || exit 1
report=$MT_BUILD/mtreport

# column NAME PID FILE: prints a figure of a process from --processes.
column() {
	"$report" -q --processes --csv "$3" | sed 's/"[^"]*"/trend/g' | awk -F, -v name="$1" -v pid="$2" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
		NR > 1 && $at["pid"] == pid { print $at[name] }'
}

# status NAME PID: prints the value of a line of /proc/PID/status, in bytes.
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
is '... its resident memory before is that of /proc' "$(column before "$pid" still.mtr)" "$rss"
is '... and at the end' "$(column now "$pid" still.mtr)" "$rss"
is '... and its mapped memory' "$(column 'mapped now' "$pid" still.mtr)" "$size"

"$mtrec" -q -e vm,rss -p "$pid" -o grows.mtr &
recorder=$!
until_recording "$recorder" grows.mtr
kill -CONT "$pid"
for i in 1 2 3 4; do
	echo 20 >&"${grower[1]}"
	read -r _ <&"${grower[0]}"
	sleep 1
done
kill -STOP "$pid"
kill -INT "$recorder"
expect 0 'a process that grows is recorded' wait "$recorder"
is '... with its memory before' "$(column before "$pid" grows.mtr)" "$rss"
is '... and its memory now, as in /proc' "$(column now "$pid" grows.mtr)" "$(status VmRSS "$pid")"
is '... and its growth' "$(column change "$pid" grows.mtr)" "$(($(status VmRSS "$pid") - rss))"
is '... and its mapped memory' "$(column mapped "$pid" grows.mtr)" "$(($(status VmSize "$pid") - size))"
is '... which is called steady' "$(column trend "$pid" grows.mtr)" steady
kill -CONT "$pid"
exec {grower[1]}>&-
wait "$pid"

# Three processes stop, grow when they are continued, and stop again.
cat >steps.py <<'END'
import os, signal, sys
keep = [bytearray(int(sys.argv[1]) << 20)]
os.kill(os.getpid(), signal.SIGSTOP)
keep.append(bytearray(int(sys.argv[2]) << 20))
os.kill(os.getpid(), signal.SIGSTOP)
END
stopped() { # stopped PID...: waits until all of them are stopped
	local pid
	for pid; do
		until grep -q '^State:.*T' "/proc/$pid/status"; do sleep 0.05; done
	done
}
pids=() before=()
for sizes in '20 30' '5 90' '150 4'; do
	# shellcheck disable=SC2086
	python3 steps.py $sizes &
	pids+=($!)
done
stopped "${pids[@]}"
for pid in "${pids[@]}"; do
	before+=("$(status VmRSS "$pid") $(status VmSize "$pid")")
done
"$mtrec" -q -e vm,rss -p "$(IFS=,; echo "${pids[*]}")" -o three.mtr &
recorder=$!
until_recording "$recorder" three.mtr
kill -CONT "${pids[@]}"
sleep 0.2
stopped "${pids[@]}"
kill -INT "$recorder"
expect 0 'three that grow are recorded' wait "$recorder"
for i in 0 1 2; do
	pid=${pids[$i]}
	now="$(status VmRSS "$pid") $(status VmSize "$pid")"
	is "... VmRSS of the $i. at both ends, as /proc has it" "$(column before "$pid" three.mtr) $(column now "$pid" three.mtr)" \
		"${before[$i]% *} ${now% *}"
	is '... and VmSize' "$(($(column 'mapped now' "$pid" three.mtr) - $(column mapped "$pid" three.mtr))) $(column 'mapped now' "$pid" three.mtr)" \
		"${before[$i]#* } ${now#* }"
done
"$report" -q three.mtr >screen
is '... and all are on the screen, the largest first' "$(awk '/python3/ && $4 == "MB" { printf "%s ", $1 }' screen)" \
	"${pids[1]} ${pids[0]} ${pids[2]} "

# AnonPages counts a page once. After a fork, RssAnon counts it once for each process that shares it, Pss_Anon only the process's part.
anonymous() { # all processes' part of the host's AnonPages in percent, with the recorder and without
	"$mtrec" -q -a -e vm -o host.mtr true
	"$MT_TOP/scripts/mtdump" --records host.mtr | awk '
		!/GAUGE/ { next }
		{
			for (i = 1; i <= NF; i++)
				if (split($i, a, "=") > 1) at[a[1]] = a[2]
			name = $0; sub(/.* name="/, "", name); sub(/".*/, "", name)
		}
		name == "RssAnon" { of[at["pid"]] = at["value"] }
		name == "smaps_rollup Pss_Anon" { part[at["pid"]] = at["value"] }
		name == "recorder smaps_rollup Pss_Anon" { own = at["value"] }
		name == "meminfo AnonPages" { host = at["value"] }
		END {
			for (pid in of) sum += pid in part ? part[pid] : of[pid]
			printf "%.2f %.2f\n", 100 * (sum + own) / host, 100 * sum / host
		}'
}
if grep -q Pss_Anon /proc/self/smaps_rollup; then
	anon_pages() { awk '/^AnonPages:/ { print $2 }' /proc/meminfo; }
	for try in 1 2 3 4 5 6; do # others come and go meanwhile
		anon=$(anon_pages)
		share=$(anonymous)
		still=$(awk -v before="$anon" -v after="$(anon_pages)" 'BEGIN { print (after - before) ^ 2 < (before / 500) ^ 2 }')
		same() { awk -v with="${share% *}" -v without="${share#* }" \
			'BEGIN { exit !(with > 99 && with < 101 && (with - 100) ^ 2 < (without - 100) ^ 2) }'; }
		same && break
		sleep 1
	done
	if [ "$still" = 1 ] || same; then
		check "the anonymous memory of all processes is the host's within 1 %, with mtrec's ($share, attempt $try)" same
	else
		skip "the anonymous memory of all processes is the host's within 1 %" "other programs changed the host's by more than 0.2 % meanwhile"
	fi
fi
kill -KILL "${pids[@]}"
wait "${pids[@]}" 2>/dev/null

check 'a process that frees all before it exits is recorded' "$mtrec" -q -e vm,rss -o frees.mtr \
	python3 -c 'import time; keep = [bytes(1000) for _ in range(60000)]; time.sleep(2.2); del keep'
"$report" -q frees.mtr >screen
check '... its path counts at its peak' awk '/^BY WHICH/ { getline; exit !($2 == "MB" && $1 > 50) }' screen
check '... and has a verdict' awk '/^IS IT/ { verdicts = 1 } verdicts && $2 == "MB" { found = $1 > 50; exit } END { exit !found }' screen

# shellcheck disable=SC2016
check 'a storm of forks is recorded' "$mtrec" -q -e vm,rss -o storm.mtr bash -c 'for i in {1..200}; do /bin/true; done; sleep 0.6'
"$report" -q storm.mtr >screen
check '... and all processes that ended are counted' grep -Eq '^ +ended: (true x200( |$)|.*, 200 others$)' screen

check 'a command that ends before a gauge is read is recorded' "$mtrec" -q -e vm,rss -o brief.mtr \
	python3 -c 'x = bytearray(30 << 20); print(open("/proc/self/status").read())'
hwm=$(awk '/^VmHWM/ { print $2 * 1024 }' "$out")
"$report" -q --summary --json brief.mtr >brief.json
check '... grew to its peak, within 2 %' python3 -c '
import json, sys
rows = json.load(open("brief.json"))["summary"]["who_grew"]["rows"]
now = [row["now"] for row in rows if row["process"] == "python3"]
sys.exit(f"{now} {sys.argv[1]}" if len(now) != 1 or abs(now[0] / int(sys.argv[1]) - 1) > 0.02 else 0)' "$hwm"

check 'a process that begins and ends is recorded' "$mtrec" -q -e vm,rss -o ends.mtr \
	python3 -c 'import time; x = bytearray(30 << 20); time.sleep(2.5)'
check '... is in --processes' "$report" --processes --csv ends.mtr
is '... had nothing before' "$(sed 's/"[^"]*"/trend/g' "$out" | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
	$at["process"] == "python3" { print $at["before"], $at["life"], ($at["now"] > 30 * 2 ^ 20) }')" '0 ended last 1'

check 'a recording without readings in between' "$mtrec" -q -e vm --gauges none -o none.mtr sleep 2.5
is '... has two readings of the host' "$("$MT_TOP/scripts/mtdump" --records none.mtr | grep -c 'meminfo MemTotal')" 2
check 'a recording with readings every half second' "$mtrec" -q -e vm --gauges 500ms -o often.mtr sleep 2.2
between '... has more readings' 3 "$("$MT_TOP/scripts/mtdump" --records often.mtr | grep -c 'name="meminfo MemFree"')" 99
expect 2 'not a time' "$mtrec" --gauges soon -e vm true
says '... is reported' "--gauges: 'soon' is not a time"

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
