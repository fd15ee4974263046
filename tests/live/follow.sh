#!/bin/bash
# Reports of a recording while mtrec writes it: lines and updates appear before its end, and are right; through a pipe as well.
# together: it looks only at what it starts itself
. "$(dirname "$0")/../lib.sh"
needs_mtrec
needs_root 'tracepoints'
cd "$TMPDIR" || exit 1
report=$MT_BUILD/mtreport

cat >grow.py <<'END'
import mmap, sys
keep = []
for line in sys.stdin:
    memory = mmap.mmap(-1, int(line) << 20)
    for at in range(0, len(memory), 65536):
        memory[at] = 1
    keep.append(memory)
    print(len(keep), flush=True)
END
coproc grower { exec python3 grow.py; }
pid=$grower_PID
grow() {
	echo "$1" >&"${grower[1]}"
	read -r _ <&"${grower[0]}"
}
grow 1

"$mtrec" -q -e vm,rss -p "$pid" -o live.mtr &
recorder=$!
until_recording $recorder live.mtr
"$report" -q --follow --mmaps --csv live.mtr >lines &
lines=$!
"$report" -q --follow=300ms --outstanding --csv live.mtr >updates &
updates=$!
grow 11
check 'a call is listed while mtrec records' until_true grep -q ',mmap,[^,]*,11534336,' lines
check '... and in an update' until_true grep -q 11534336 updates
grow 12
check 'the next call is listed, too' until_true grep -q ',mmap,[^,]*,12582912,' lines
check '... and in an update with the first' until_true grep -q "24117248\|12582912" updates
check 'the recording has not ended' kill -0 $recorder
kill -INT $recorder
wait $recorder
expect 0 'the listing ends with the recording' wait $lines
expect 0 'the updates end with it, too' wait $updates
"$report" -q --mmaps --csv live.mtr >want
check 'the listing has every call' diff <(cut -d, -f2- want) <(cut -d, -f2- lines)
"$report" -q --outstanding --csv live.mtr >want
check 'the last update is the report of the recording' diff want <(tac updates | sed '/^--- /,$d' | tac)

mkfifo pipe
"$report" -q --follow=300ms --growth --csv - <pipe >piped &
piped=$!
"$mtrec" -q -e vm,rss -p "$pid" -o - 2>said > >(tee copy.mtr >pipe) &
recorder=$!
until_recording $recorder copy.mtr
grow 13
check 'a pipe: the call is in an update' until_true grep -q 13631488 piped
kill -INT $recorder
wait $recorder
expect 0 '... which ends with the pipe' wait $piped
"$report" -q --growth --csv - <copy.mtr >want
check '... and the last one is the report of what went through' diff want <(tac piped | sed '/^--- /,$d' | tac)
kill "$pid"

expect 0 'each update of it equals a report of the recording cut there' "$MT_TOP/tests/cli/follow.py" copy.mtr
finish
