#!/bin/bash
# Events that are counted together: {a,b} and, with the first one sampled and the others read, {a,b}:S.
# together: it looks only at what it starts itself
. "$(dirname "$0")/../lib.sh"
needs_mtrec
build_steps
report=$MT_BUILD/mtreport
cd "$TMPDIR" || exit 1

# grown FILE EVENT: prints by how much the count grew over all samples
grown() {
	"$report" -q --folded --by event -e "$2" "$1" | awk '{ n += $NF } END { print n + 0 }'
}

record_without_losses 'a group is recorded' "$mtrec" -e '{page-faults,minor-faults}:S' -o g.mtr -- "$steps" faults 2000
check '... as FORMAT.md says' "$MT_TOP/scripts/mtdump" --check g.mtr
faults=$(grown g.mtr page-faults)
between '... its leader is sampled' 2000 "$faults" 4000
# the fault of a sample is counted as a minor fault only after the sample; a fault that waits for a disk never is
between '... and the other only counted' $((faults * 80 / 100)) "$(grown g.mtr minor-faults)" "$faults"
"$report" -q --script -e minor-faults --symbol touch_pages,touch,main g.mtr >script
check '... where the sample was' grep -q minor-faults script
"$report" -q --summary g.mtr >summary
says '... a count, not samples' 'minor-faults: [0-9,]+ faults, counted beside' summary
stacks=$(sed -n 's/^stacks .* of \([0-9,]*\) user stacks.*/\1/p' summary | tr -d ,)
between '... and each stack counts once' 2000 "$stacks" "$faults"
expect 0 'a clock leads too' "$mtrec" -e '{cpu-clock,page-faults,context-switches}:S' -c 100000 -o c.mtr -- "$steps" faults 20000
between '... and all are read' 10000 "$(grown c.mtr page-faults)" 24000
expect 0 'a group without :S' "$mtrec" -e '{page-faults,context-switches}:u,cpu-clock' -o u.mtr -- "$steps" faults 2000
"$report" -q --info u.mtr >info
says '... has samples of each' 'page-faults: sample' info
says '... and nothing is only counted' 'context-switches: sample' info
expect 0 'threads have counts of their own' "$mtrec" -e '{page-faults,minor-faults}:S' -o t.mtr -- "$steps" threads 3 500
faults=$(grown t.mtr page-faults)
between '... and none counts twice' 0 "$(grown t.mtr minor-faults)" "$faults"
record_without_losses 'an event read on its own, :S' "$mtrec" -e page-faults:S -o s.mtr -- "$steps" faults 2000
between '... counts each once' 2000 "$(grown s.mtr page-faults)" 4000
check '... as FORMAT.md says' "$MT_TOP/scripts/mtdump" --check s.mtr
record_without_losses 'a group whose first event says :S' "$mtrec" -e '{page-faults:S,minor-faults}' -o f.mtr -- "$steps" faults 2000
faults=$(grown f.mtr page-faults)
between '... is read as a whole' $((faults * 80 / 100)) "$(grown f.mtr minor-faults)" "$faults"
record_without_losses 'a weak group, exclusive' "$mtrec" -e '{page-faults,context-switches}:We' -o w.mtr -- "$steps" faults 2000
between '... is recorded' 2000 "$(grown w.mtr page-faults)" 4000
is '... as a group, which it can be' "$(grep -c 'on its own' "$err")" 0
# The next fault of a CPU holds the counts that are only read: each CPU has one.
needs_command taskset
elsewhere="for cpu in $(seq -s ' ' 0 $(($(nproc --all) - 1))); do taskset -c \$cpu true; done 2>/dev/null"
# events of two PMUs, on whole CPUs: they are scheduled there only when they are enabled
for group in '{page-faults,syscalls:sys_enter_brk}' '{page-faults,syscalls:sys_enter_brk}:S' '{syscalls:sys_enter_brk,page-faults}:S'; do
	expect 0 "$group of every process" "$mtrec" -e "$group" -a -o a.mtr -- sh -c "'$steps' brk 300 4096; $elsewhere"
	between '... has faults' 40 "$(grown a.mtr page-faults)" 10000000
	between '... and a tracepoint' 200 "$(grown a.mtr syscalls:sys_enter_brk)" 10000000
	expect 0 '... and again after a pause' "$mtrec" -e "$group" -D 20 -a -o a.mtr -- sh -c "sleep 0.5; '$steps' brk 300 4096; $elsewhere"
	between '... has faults' 40 "$(grown a.mtr page-faults)" 10000000
	between '... and a tracepoint' 200 "$(grown a.mtr syscalls:sys_enter_brk)" 10000000
done
expect 2 'an unclosed group' "$mtrec" -e '{page-faults,cpu-clock' -o x.mtr -- true
says '... is reported' 'bad group' "$err"
expect 2 'a system call in a group' "$mtrec" -e '{page-faults,brk}:S' -o x.mtr -- true
says '... is reported' "'brk' cannot be part of a group" "$err"
if command -v perf >/dev/null && perf record -q -e '{page-faults,context-switches}:S' -o p.data -- "$steps" faults 2000 2>why; then
	for event in page-faults context-switches; do
		perf script -i p.data -F event,period 2>/dev/null | awk -v e="$event:" '$2 == e { n += $1 } END { print n + 0 }' >want
		"$report" -q --script p.data | awk -v e="$event:" '/^[^ \t]/ && $5 == e { n += $4 } END { print n + 0 }' >got
		is "perf's $event are as many as perf says" "$(cat got)" "$(cat want)"
	done
else
	skip "perf's groups are read" 'no perf that records them'
fi
finish
