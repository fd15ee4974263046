#!/bin/bash
# mtrec --stat counts the same events as perf stat, writes the same columns, and records no samples.
. "$(dirname "$0")/../lib.sh"
needs_mtrec
needs_root 'counting tracepoints'
needs_command perf
cd "$TMPDIR" || exit 1

cat >maps.c <<-'END'
	#include <sys/mman.h>
	#include <unistd.h>
	int main(void)
	{
		for (int i = 0; i < 500; i++) {
			char *p = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			p[0] = p[4096] = 1;
			munmap(p, 8192);
			sbrk(4096);
			usleep(400);
		}
		return 7;
	}
END
# shellcheck disable=SC2086
${CC:-cc} -O1 -o maps maps.c || exit 1

# counts FILE: prints name and count of each line of a CSV, without times.
counts() {
	awk -F, '{ print $3, $1 }' "$1"
}

events=page-faults,minor-faults:u,syscalls:sys_exit_brk,syscalls:sys_enter_mmap,syscalls:sys_enter_munmap,cycles
setarch -R perf stat -x, -e $events -o perf.csv ./maps
expect 7 'a command is counted, and its status is ours' setarch -R "$mtrec" --stat -x, -e $events -o our.csv ./maps
grep , perf.csv >perf.rows
check 'there are rows for all events' test "$(wc -l <our.csv)" -eq 6
check 'the counts of calls are those of perf stat' diff <(counts perf.rows | grep -v faults) <(counts our.csv | grep -v faults)
# Two runs may have different faults, because these depend on the pages of libc in the page cache. Below, both tools count one run.
check '... and those of faults, but for a few' awk '
	NR == FNR { perf[$1] = $2; next }
	/faults/ { n++; apart = $2 - perf[$1]; bad += $2 < 1000 || apart < -5 || apart > 5 }
	END { exit bad || n != 2 }' <(counts perf.rows) <(counts our.csv)
# Tracepoints take longer to open and to close than this command runs: the command's own clock separates its time from theirs.
# A busy host may delay either clock: the best of three attempts counts.
elapsed_is_own() {
	local i
	for i in 1 2 3; do
		"$mtrec" --stat -o elapsed.txt bash -c 'from=${EPOCHREALTIME/./}; sleep 0.2; echo $((${EPOCHREALTIME/./} - from))' >own.txt
		awk -v own="$(cat own.txt)" '/elapsed/ { exit !($1 * 1e6 < own + 150000) }' elapsed.txt && return
	done
	return 1
}
check 'the time elapsed is that of the command, without opening and closing' elapsed_is_own
check 'nothing is recorded' test ! -e mtrec.mtr

# The columns are compared without the digits of the counts, which differ in time and clock.
shape() {
	sed -E 's/[0-9]+\.[0-9]+/T/g; s/[0-9]+/N/g; s/ +/ /g; s/N,T,.*/N,T,/; s/ #.*//; s/ $//' "$1" | grep page-faults | head -n 1
}
perf stat -x, -I 100 -e page-faults -o perf.csv ./maps
"$mtrec" --stat -x, -I 100 -e page-faults ./maps 2>our.csv
is 'fields at intervals are in the order of perf stat' "$(shape our.csv)" "$(shape perf.csv)"
perf stat -I 100 -e page-faults -o perf.text ./maps
"$mtrec" --stat -I 100 -e page-faults ./maps 2>our.text
is 'columns, too' "$(shape our.text)" "$(shape perf.text)"
is '... below the same heading' "$(head -n 1 our.text | xargs)" "$(grep time perf.text | xargs)"

expect 7 'aliases count calls' "$mtrec" --stat -x, -I 50 -e brk,mmap,munmap -o intervals.csv ./maps
is 'the intervals sum up to all calls of brk' "$(awk -F, '$4 == "brk" { n += $2 } END { print n }' intervals.csv)" \
	"$(awk -F, '$3 == "syscalls:sys_exit_brk" { print $1 }' perf.rows)"
between '... and there are several' 2 "$(grep -c ,brk, intervals.csv)" 1000

# Both tools are attached to one process and to the processes that it starts.
events=page-faults,minor-faults:u,context-switches,syscalls:sys_exit_brk,sched:sched_process_exec,task-clock
mkfifo go
bash -c ': >ready; read -r _ <go; ./maps; ./maps; exec ./maps' &
target=$!
waits() { [ -e ready ] && grep -q '^State:.*sleeping' "/proc/$target/status"; }
until_true waits # What it does while it starts would count for one of them only.
perf stat -x, -e $events -p $target -o perf.csv &
counter=$!
"$mtrec" --stat -x, -e $events -p $target -o our.csv &
recorder=$!
attached() { [ "$(find "/proc/$1/fd" -lname '*perf_event*' 2>/dev/null | wc -l)" -ge 6 ]; }
until_true attached $recorder
until_true attached $counter
until_true grep -q '^State:.*sleeping' "/proc/$counter/status" # perf stat: it waits for the target's end
echo >go
wait
grep , perf.csv >perf.rows
is 'two programs and what they become count' "$(awk -F, '/process_exec/ { print $1 }' our.csv)" 3
check '... as in perf stat' diff <(counts perf.rows | grep -v clock) <(counts our.csv | grep -v clock)
rm our.csv

# For a process that only sleeps, the word is "not counted", as in perf; for a PMU that does not exist, "not supported".
sleep 20 &
sleeper=$!
expect 0 'a running process is counted' "$mtrec" --stat -x, -I 100 --duration 250ms -e page-faults,brk -p $sleeper
says '... not at all while it sleeps' '^ *0[.]1[0-9]*,<not counted>,,page-faults,0,100.00,,$' "$err"
kill $sleeper
if perf stat -x, -e cycles true 2>&1 | grep -q '<not supported>'; then
	expect 0 'an event that this machine does not have' "$mtrec" --stat -x, -e cycles -t $$ --duration 50ms
	says '... is not supported' '^<not supported>,,cycles,0,100.00,,$' "$err"
else
	skip 'an event that this machine does not have' 'this machine has a PMU'
fi
expect 7 'every process is counted' "$mtrec" --stat -e page-faults,context-switches -a -- ./maps
expect 0 '... for as long as it is to' "$mtrec" --stat -e page-faults,context-switches -a --duration 100ms
says '... and a title says so' "^ Performance counter stats for 'system wide':$" "$err"
between 'context switches, too' 1 "$(awk '/context-switches/ { print $1 }' "$err")" 100000000
expect 5 'a full disk is reported' "$mtrec" --stat -e page-faults -a --duration 50ms -o /dev/full
finish
