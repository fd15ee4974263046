#!/bin/bash
# docs/recipes.md: each mtrec and mtreport command runs, and reports the same figures as the classic tools.
# slow: records a dozen times
# timeout: 120
. "$(dirname "$0")/../lib.sh"
needs_mtrec
needs_root 'tracepoints'
report=$MT_BUILD/mtreport
cd "$TMPDIR" || exit 1
PATH=$MT_BUILD:$PATH
sleep 300 &
PID=$!
export PID
trap 'kill "$PID"' EXIT

# Exit status 4 (nothing to report) is right if the host had no such event.
ran=0
while read -r line; do
	status=0
	bash -c "$(sed 's/sleep 10/sleep 0.3/; s/--time 2,4/--time 0,0.2/; s/--at 5/--at 0.2/' <<<"$line")" >said 2>&1 || status=$?
	if [ "$status" = 0 ] || { [ "$status" = 4 ] && grep -Eq -- '--(reclaim|oom|swap|shm|counts huge)' <<<"$line"; } ||
		{ [ "$status" = 4 ] && [[ $line == *huge.mtr ]]; }; then
		ran=$((ran + 1))
	else
		fail "$line: exit status $status" said
	fi
done < <(awk '/^```sh/ { on = 1; next } /^```/ { on = 0 } on' "$MT_TOP/docs/recipes.md")
between 'the commands of docs/recipes.md run' 25 "$ran" 99
for tool in shmsnoop hfaults swapin vmscan drsnoop oomkill memleak free 'sar -B -r -S' vmstat top 'pmap -x' swapon dmesg stackcount funccount trace; do
	says "... which has $tool" "^## .*$tool" "$MT_TOP/docs/recipes.md"
done

if command -v pmap >/dev/null; then
	kill -STOP "$PID"
	mtrec -q -e vm,rss -p "$PID" -o still.mtr --duration 200ms
	"$report" -q --maps -p "$PID" --csv still.mtr >maps.csv
	is 'pmap -x and --maps: KiB mapped, of a process without a sample' \
		"$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { n += $at["bytes"] } END { printf "%d", n / 1024 }' maps.csv)" \
		"$(pmap -x "$PID" | awk 'END { print $3 }')"
	pmap -x "$PID" >pmap.txt
	"$report" -q --maps --csv still.mtr >map.csv
	awk -F, '
		FNR == NR && FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		FNR == NR { key = $at["start"]; sub(/^0x0*/, "", key)
			ours[key] = $at["bytes"] / 1024 " " $at["resident"] / 1024 " " $at["dirty"] / 1024; next }
		{ split($0, word, " "); sub(/^0+/, "", word[1]) }
		word[2] ~ /^[0-9]+$/ && word[1] ~ /^[0-9a-f]+$/ { lines++
			if (ours[word[1]] != word[2] " " word[3] " " word[4]) print $0 " ours: " ours[word[1]] }
		END { if (lines < 10) print "only " lines " lines" }' map.csv pmap.txt >wrong
	is '... each mapping with its KiB mapped, resident and dirty' "$(cat wrong)" ''
	"$report" -q --processes --csv still.mtr >sizes.csv
	is '... resident, which --processes has' "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { print $at["now"] / 1024 }' sizes.csv)" \
		"$(awk '/^VmRSS/ { print $2 }' "/proc/$PID/status")"
	kill -CONT "$PID"
else
	skip 'pmap -x and --maps' 'procps is not installed'
fi
if command -v strace >/dev/null; then
	strace -o calls.txt -e trace=openat cat /dev/null
	mtrec -q -e syscalls:sys_enter_openat -o open.mtr cat /dev/null
	is 'strace and --counts: calls of openat' "$("$report" -q --counts --csv open.mtr | awk -F, 'NR == 2 { print $2 }')" "$(grep -c ^openat calls.txt)"
else
	skip 'strace and --counts' 'strace is not installed'
fi
if command -v perf >/dev/null && perf stat -e syscalls:sys_enter_openat true 2>/dev/null; then
	mtrec -q -e syscalls:sys_exit_read -o read.mtr wc /etc/passwd /etc/group >said
	is 'perf stat and --counts: calls of read' "$("$report" -q --counts --csv read.mtr | awk -F, 'NR == 2 { print $2 }')" \
		"$(perf stat -x, -e syscalls:sys_exit_read wc /etc/passwd /etc/group 2>&1 >said | awk -F, '/sys_exit_read/ { print $1 }')"
	"$report" -q --counts --by value --weight ret --csv read.mtr >values.csv
	for file in /etc/passwd /etc/group; do
		says "... one of them read all of $file" ",$(stat -c %s "$file")," values.csv
	done
else
	skip 'perf stat and --counts' 'perf is not here, or counts no tracepoints'
fi
finish
