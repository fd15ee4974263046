#!/bin/bash
# timeout: 120
# mtrec on a host in need: threads that come and go, thousands of them, and memory that runs out.
# slow: thousands of threads, and memory that runs out
. "$(dirname "$0")/../lib.sh"
needs_mtrec
build_steps
cd "$TMPDIR" || exit 1
threads=$TMPDIR/threads
# shellcheck disable=SC2086
${CC:-cc} -O1 -g -pthread -o "$threads" "$MT_TOP/tests/workloads/threads.c" || exit 1

# with_threads WORD...: starts a process with threads, sets $pid, and waits until all threads run.
with_threads() {
	"$threads" "$@" >ready &
	pid=$!
	until_true grep -q ready ready
}

# Threads that start and end while mtrec attaches, over and over.
with_threads 50 churn
failed=0
for i in 1 2 3 4 5 6 7 8 9 10; do
	"$mtrec" -q -e page-faults -p "$pid" --duration 100ms -o f.mtr 2>>said || failed=$((failed + 1))
done
is 'attaching to a process whose threads come and go' "$failed" 0
check '... says nothing' test ! -s said
"$mtrec" -e page-faults -p "$pid" --duration 500ms -o f.mtr 2>said
dump f.mtr
between '... and has their faults' 1 "$(samples_of 1)" 10000000
kill "$pid"
wait "$pid" 2>/dev/null

# A process of 2,000 threads.
with_threads 2000
begun=$(date +%s%N)
"$mtrec" -e page-faults -p "$pid" --duration 1ms -o f.mtr 2>said
took=$((($(date +%s%N) - begun) / 1000000))
echo "# attaching to 2,000 threads and leaving again took $took ms"
between 'attaching to 2,000 threads takes less than a second (two on a busy machine)' 0 "$took" 2000
(
	ulimit -Sn 1000 && ulimit -Hn 1000
	"$mtrec" -e page-faults -p "$pid" --duration 100ms -o f.mtr 2>said
)
if [ "$(id -u)" -eq 0 ]; then
	says '... with too few files: by whole CPUs' 'whole CPUs are recorded' said
fi
kill "$pid"
wait "$pid" 2>/dev/null

# Short-lived processes need only as many images of stacks as run at a time.
# shellcheck disable=SC2016
"$mtrec" --stats -e page-faults -o f.mtr --embed none -- \
	bash -c 'for ((i = 0; i < 600; i++)); do /bin/true; done' 2>said
dump f.mtr
between 'hundreds of processes are recorded' 20000 "$(samples_of 1)" 10000000
images=$(sed -n 's/^spool .* \([0-9]*\) of [0-9]* stack images.*/\1/p' said)
between '... and images of stacks are fetched for few' 1 "${images:-0}" 20

# A hog that drives its cgroup to the OOM killer, with mtrec in the same cgroup.
mount=$(awk '$3 == "cgroup" && $4 ~ /(^|,)memory(,|$)/ { print $2; exit }' /proc/mounts)
mine=$(awk -F: '$2 == "memory" { print $3 }' /proc/self/cgroup)
group=$mount$mine/mtrec-oom.$$
if [ -n "$mount" ] && mkdir "$group" 2>/dev/null; then
	echo $((200 << 20)) >"$group/memory.limit_in_bytes"
	hog() {
		bash -c "echo 0 >'$group/cgroup.procs'; exec '$mtrec' -e page-faults -o oom.mtr -- '$steps' faults 100000" >told 2>said
	}
	until_none_lost said hog
	is 'a hog is killed, and mtrec ends with its status' $? 137
	rmdir "$group"
	says '... reports what it recorded' '^mtrec: .* 0 lost -> oom.mtr' said
	"$MT_BUILD/mtreport" oom.mtr >report 2>&1
	faults=$(awk '$1 == "page-faults" { gsub(",", "", $2); print $2; exit }' report)
	between '... holds the faults of the hog' 30000 "${faults:-0}" 52000
	says '... and its stacks' 'touch|do_faults' report
else
	skip 'a hog that is killed for memory' 'no memory cgroup of version 1 can be made here'
fi
finish
