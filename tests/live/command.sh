#!/bin/bash
# A command under mtrec: mtrec has its exit status, counts its events to the last call, and leaves its output alone.
# together: it looks only at what it starts itself
. "$(dirname "$0")/../lib.sh"
needs_mtrec
build_steps
cd "$TMPDIR" || exit 1

expect 0 'a command that succeeds' "$mtrec" -e page-faults -- true
says '... is closed by one line' \
	'^mtrec: [0-9]+\.[0-9]+ s, [0-9,]+ samples, stacks [0-9.]+ [kMG]?B -> file [0-9.]+ [kMG]?B, 0 lost -> mtrec.mtr$'
is '... and only one' "$(wc -l <"$err")" 1
expect 0 'a command in which nothing happens' "$mtrec" -e page-faults -D 10000 -o none.mtr -- true
says '... is reported, too' '^mtrec: no sample came while it recorded$'
is 'the file is private' "$(stat -c %a mtrec.mtr)" 600
check 'the file follows FORMAT.md' "$MT_TOP/scripts/mtdump" --check mtrec.mtr
cp mtrec.mtr first.mtr
expect 3 "a command's status" "$mtrec" -e page-faults -- sh -c 'exit 3'
check 'the earlier file is kept' cmp first.mtr mtrec.mtr.old
expect 143 'a command that a signal ends' "$mtrec" -e page-faults -- sh -c 'kill -TERM $$'
expect 139 'a command that crashes' "$mtrec" -e page-faults -- sh -c 'kill -SEGV $$'
dump mtrec.mtr
says 'how it ended is in the file' ' END .* how=2 status=11' "$dump"
expect 126 'a command that does not start' "$mtrec" -e page-faults -- "$MT_TOP/Makefile"
expect 0 '-q' "$mtrec" -q -e page-faults -- true
is '... prints nothing' "$(cat "$err")" ''
expect 0 "a command's own output" "$mtrec" -e page-faults -- sh -c 'cat; echo out; echo err >&2; ulimit -n' <<<'input'
is '... and input' "$(head -n 2 "$out")" $'input\nout'
says '... and errors are its own' '^err$'
is '... and its limits' "$(sed -n 3p "$out")" "$(ulimit -n)"
expect 0 'the command has the signal settings that mtrec was started with' "$mtrec" -q -e page-faults -- grep -E '^Sig(Blk|Ign)' /proc/self/status
grep -E '^Sig(Blk|Ign)' /proc/self/status >status
is '... both blocked and ignored signals' "$(cat "$out")" "$(cat status)"
expect 0 'the command inherits no file of mtrec' "$mtrec" -q -e page-faults,cpu-clock -- sh -c 'ls /proc/self/fd'
is '... except its standard streams' "$(tr '\n' ' ' <"$out")" '0 1 2 3 '

expect 0 'page faults' "$mtrec" -q -e page-faults -- "$steps" faults 500
read -r _ tid start end < <(grep region "$out")
faults=$(sed -n 's/^faults //p' "$out")
dump mtrec.mtr
is '... every touched page has one' "$(faults_in "$start" "$end" "$tid")" 500
between '... as many as getrusage counts, plus those of exec and exit' "$faults" "$(samples_of 1)" $((faults + 300))
is '... and none is lost' "$(sed -n 's/.* END .* lost=\([0-9]*\) .*/\1/p' "$dump")" 0
is '... where each page has its own fault' "$(samples_of 1)" \
	"$(grep -c ' event=1 .* kernel=SAMPLE .* addr=0x' "$dump")"

expect 0 'threads' "$mtrec" -q -e page-faults -- "$steps" threads 3 60
cp "$out" regions
dump mtrec.mtr
while read -r _ tid start end; do
	is '... each with its faults' "$(faults_in "$start" "$end" "$tid")" 60
done <regions
for name in worker0 worker1 worker2; do
	says "... and its name" "kernel=COMM .* comm=\"$name\"" "$dump"
done

expect 0 'a child' "$mtrec" -q -e page-faults -- "$steps" fork 40
cp "$out" said
child=$(sed -n 's/^child //p' said)
dump mtrec.mtr
while read -r _ tid start end; do
	is '... is followed before and after exec' "$tid: $(faults_in "$start" "$end" "$tid")" "$child: 40"
done < <(grep region said)
says '... its fork is recorded' "kernel=FORK .* pid=$child ppid=" "$dump"
says '... its name' "kernel=COMM misc=0x0 .* pid=$child tid=$child comm=\"forked\"" "$dump"
says '... its exec' "kernel=COMM misc=0x2000 .* pid=$child tid=$child comm=\"steps\"" "$dump"
says '... its image' "kernel=MMAP2 .* pid=$child .* prot=0x5 .* filename=\"$steps\"" "$dump"
says '... its exit' "kernel=EXIT .* pid=$child " "$dump"
says '... the build id of the image' " IMAGE .* path=\"$steps\" build_id=[0-9a-f]{16,} " "$dump"
says '... the vdso' ' IMAGE .* path="\[vdso\]" build_id=[0-9a-f]{16,} ' "$dump"
finish
