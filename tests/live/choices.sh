#!/bin/bash
# Options that limit a recording: by filter, thread name, user, cgroup, time, size, and by commands of another program.
# slow: records a dozen times
. "$(dirname "$0")/../lib.sh"
needs_mtrec
needs_root 'recording the whole host'
build_steps
cd "$TMPDIR" || exit 1

# regions NAME: reads the regions that the steps printed into NAME to the array $region ("START END TID" each).
regions() {
	mapfile -t region < <(awk '/^region/ { print $3, $4, $2 }' "$1")
}

# shellcheck disable=SC2086
faults() {
	faults_in $1
}

# --filter
expect 0 '--filter of a system call' "$mtrec" -e brk --filter 'ret > 0' -o f.mtr -- "$steps" brk 20 4096
dump f.mtr
between '... keeps matching calls' 20 "$(samples_of 1)" 40
expect 0 '... and another' "$mtrec" -e brk --filter 'ret == 1' --filter 'ret > 0' -o f.mtr -- "$steps" brk 20 4096
dump f.mtr
is '... leaves out other calls' "$(samples_of 1)" 0
expect 0 '--filter of a tracepoint by arguments' \
	"$mtrec" -e syscalls:sys_enter_mmap --filter 'len == 16384000' -o f.mtr -- "$steps" faults 4000
dump f.mtr
is '... keeps the one call' "$(samples_of 1)" 1
expect 2 'a filter with an unknown field is a usage error' "$mtrec" -e brk --filter 'len > 5' -a --duration 1s
says '... with the message of the kernel'"'"'s words' \
	"^mtrec: --filter: the kernel refuses 'len > 5' for syscalls:sys_exit_brk: Field not found" "$err"
says '... and a hint where arguments are' 'arguments stand in the tracepoint syscalls:sys_enter_brk' "$err"
check '... and no tracing instance is left' test -z "$(ls /sys/kernel/tracing/instances 2>/dev/null | grep mtrec)"
expect 2 'a filter for an event that is not a tracepoint is a usage error' "$mtrec" -e page-faults --filter 'x > 1' -a --duration 1s
says '... is reported' '^mtrec: --filter: page-faults is no tracepoint$' "$err"

# --comm: steps names its threads worker0, worker1
expect 0 '--comm' "$mtrec" -e page-faults --comm '^worker1$' -o f.mtr -- "$steps" threads 3 200
says '... and reports the size of the kept stacks' 'stacks ([0-9.]+ kB|[0-5]\.[0-9] MB) -> ' "$err"
cp "$out" told
regions told
dump f.mtr
# the threads print their regions in any order: one of the three is worker1
kept=0 dropped=0
for one in "${region[@]}"; do
	count=$(faults "$one")
	if [ "$count" -ge 199 ]; then kept=$((kept + 1)); fi
	if [ "$count" -le 2 ]; then dropped=$((dropped + 1)); fi
done
is '... keeps that thread, and not the others' "$kept $dropped" '1 2'
expect 0 '--comm of a heap' "$mtrec" -e vm --comm '^worker1$' -o f.mtr -- "$steps" threads 3 200
expect 0 '... whose other threads are not recorded' "$MT_BUILD/mtreport" -q --outstanding f.mtr
is '... is reported before the figures' "$(head -1 "$out")" 'what threads of other names did was not recorded: figures are off'
expect 0 '-i of a heap' "$mtrec" -e vm -i -o f.mtr -- "$steps" threads 3 200
expect 0 '... whose threads are not recorded' "$MT_BUILD/mtreport" -q --outstanding f.mtr
is '... is reported before the figures' "$(head -1 "$out")" 'what children and later threads did was not recorded: figures are without them'
expect 2 'a bad expression' "$mtrec" -e page-faults --comm '(' -a
says '... is reported' "^mtrec: --comm: '\\(': " "$err"

# -u. setuid() causes no event, so mtrec reads a thread's user again after a quarter of a second
expect 0 '-u' "$mtrec" -e page-faults -u 65534 -o f.mtr -- \
	bash -c "'$steps' faults 300; setpriv --reuid 65534 --clear-groups '$steps' late 200"
cp "$out" told
regions told
dump f.mtr
is '... keeps that user' "$(faults "${region[1]}")" 200
is '... and not root' "$(faults "${region[0]}")" 0
expect 2 'an unknown user' "$mtrec" -e page-faults -u nobody-of-that-name
says '... is reported' "^mtrec: -u: there is no user 'nobody-of-that-name'" "$err"

# -G
group=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)/mtrec-test.$$
if mkdir "$group" 2>/dev/null; then
	expect 0 '-G' "$mtrec" -e page-faults -G "${group##*/}" -o f.mtr -- \
		bash -c "'$steps' faults 300; echo 0 >'$group/cgroup.procs'; '$steps' faults 200"
	if grep -q 'its perf_event part does not exist' "$err"; then
		skip '... keeps that cgroup' 'subtree_control of the root was never written to'
	else
		cp "$out" told
		regions told
		dump f.mtr
		is '... keeps that cgroup' "$(faults "${region[1]}")" 200
		is '... and not the others' "$(faults "${region[0]}")" 0
	fi
	rmdir "$group"
else
	skip '-G' 'no cgroup of version 2 can be made here'
fi
expect 3 'a cgroup that does not exist' "$mtrec" -e page-faults -G no/such/group
says '... is reported with the place where mtrec looked for it' '^mtrec: names are those below |^mtrec: mount ' "$err"

# --no-inherit
expect 0 '--no-inherit' "$mtrec" -i -e page-faults -o f.mtr -- "$steps" threads 2 200
cp "$out" told
regions told
dump f.mtr
is '... leaves out the faults of the threads' "$(faults "${region[0]}")" 0

# --duration, -D
expect 7 '--duration, with a command that runs longer' \
	"$mtrec" -e page-faults --duration 1s -o f.mtr -- bash -c "'$steps' faults 100; sleep 2; '$steps' faults 200; exit 7"
cp "$out" told
cp "$err" said
regions told
says '... ends in time' '^mtrec: 1\.[0-4][0-9]* s, ' said
dump f.mtr
is '... has the faults before the end' "$(faults "${region[0]}")" 100
is '... and not the later ones' "$(faults "${region[1]}")" 0
expect 0 '-D' "$mtrec" -e page-faults -D 1000 -o f.mtr -- bash -c "'$steps' faults 100; sleep 2; '$steps' faults 200"
cp "$out" told
cp "$err" said
regions told
says '... says when events start' '^mtrec: events enabled 1\.[0-4][0-9]* s after the start' said
dump f.mtr
is '... has no faults from before' "$(faults "${region[0]}")" 0
is '... and all faults from then on' "$(faults "${region[1]}")" 200

# --control
mkfifo ctl ack words answers
"$steps" serve <words >answers &
exec 7>words 8<answers
read -r _ served <&8
"$mtrec" -e page-faults -D -1 --control fifo:ctl,ack -p "$served" -o f.mtr 2>said &
recorder=$!
exec 5<>ctl 6<>ack
# order WORD: sends the command to mtrec, and prints the answer
order() {
	local answer=none
	echo "$1" >&5
	read -r -t 5 answer <&6
	echo "$answer"
}
# touch_pages PAGES: has the program touch as many pages, and sets $touched to their region
touch_pages() {
	local tid start end
	echo "touch $1" >&7
	read -r _ tid start end <&8
	touched="$start $end"
}
is 'ping' "$(order ping)" ack
touch_pages 100
before=$touched
is 'enable' "$(order enable)" ack
touch_pages 200
during=$touched
is 'disable' "$(order disable)" ack
touch_pages 300
after=$touched
echo nonsense >&5
is 'stop' "$(order stop)" ack
wait "$recorder"
is '... ends the recording' $? 0
echo quit >&7
says 'an unknown command is reported' "^mtrec: --control: 'nonsense' is none of " said
dump f.mtr
is 'no fault is recorded before enable' "$(faults "$before")" 0
is 'all faults are recorded while events are enabled' "$(faults "$during")" 200
is 'no fault is recorded after disable' "$(faults "$after")" 0
expect 2 'a file as --control' "$mtrec" -e page-faults -a --control fifo:said
says '... is reported' '^mtrec: --control: said is no FIFO$' "$err"
expect 2 'a closed descriptor as --control' "$mtrec" -e page-faults -a --control fd:77
says '... is reported' '^mtrec: --control: descriptor 77: ' "$err"

# --max-size
expect 0 '--max-size' "$mtrec" -e page-faults -z 0 --max-size 1M -o f.mtr -- "$steps" faults 30000
cp "$err" said
says '... says that it stops' '^mtrec: --max-size: the recording ends here' said
between '... before the file is larger' 300000 "$(stat -c %s f.mtr)" 1048576
dump f.mtr
says '... and the file has its end' ' END ' "$dump"

# --stats, and the file descriptors that the command inherits
expect 0 '--stats' "$mtrec" -e page-faults --stats -o f.mtr -- cat /proc/self/oom_score_adj
cp "$out" adjusted
cp "$err" said
is 'the command inherits the oom_score_adj of the test' "$(cat adjusted)" "$(cat /proc/self/oom_score_adj)"
for line in 'CPU ring ' 'drains ' 'spool ' 'writer ' 'memory ' 'CPU '; do
	says "... has a line of '$line'" "^ *$line" said
done
says "... and which threads used the CPU" "of it drains 0[.][0-9]+ s, writer 0[.][0-9]+ s, carrying images 0[.][0-9]+ s, the rest 0[.][0-9]+ s" said
finish
