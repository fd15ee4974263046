#!/bin/bash
# mtreport --strip on one recording; golden/sweep strips every recording.
. "$(dirname "$0")/../lib.sh"

report=$MT_BUILD/mtreport
dump=$MT_TOP/scripts/mtdump

# say FILE: prints what mtreport reports about FILE, without its name, its size and the line that says that it was stripped
say() {
	local output
	for output in --script --unwind-report --growth '--folded --by thread,event'; do
		# shellcheck disable=SC2086
		"$report" $output "$1" 2>&1 | sed "s,$1,FILE,g"
		echo "exit status ${PIPESTATUS[0]}"
	done
	"$report" --info "$1" 2>&1 | sed "s,$1,FILE,g; /^  stripped /d; /^  file .* chunks, .* unpacked/d"
}

stacks=$MT_TOP/tests/golden/recorded/stacks.mtr
"$report" -q --strip "$TMPDIR/once.mtr" "$stacks"
"$report" -q --strip "$TMPDIR/twice.mtr" "$TMPDIR/once.mtr"
check 'stripping twice is stripping once' cmp <(say "$TMPDIR/once.mtr" | sed "s,$TMPDIR/once,F,") \
	<(say "$TMPDIR/twice.mtr" | sed "s,$TMPDIR/twice,F,")
"$dump" --json "$TMPDIR/once.mtr" >"$TMPDIR/once.json"
check 'frames are there' grep -q '"type": "FRAMES"' "$TMPDIR/once.json"
check 'mtdump --check finds nothing wrong' "$dump" --check "$TMPDIR/once.mtr"

check '--strip reports what it did' bash -c "'$report' --strip '$TMPDIR/copy.mtr' '$stacks' 2>&1 | grep -q 'in the place of their raw bytes'"
check '... and if there was nothing to do, it says so' bash -c "'$report' --strip '$TMPDIR/copy.mtr' '$TMPDIR/once.mtr' 2>&1 | grep -q 'no stack had raw bytes'"
check '--info reports who stripped it, and how' bash -c "'$report' --info '$TMPDIR/copy.mtr' | grep -q 'stripped .*--unwind auto'"
expect 2 '--strip with a selector is a usage error' "$report" --strip "$TMPDIR/copy.mtr" -p 1 "$stacks"
expect 2 '--strip with an analysis is a usage error' "$report" --strip "$TMPDIR/copy.mtr" --folded "$stacks"
expect 2 '--strip of two files is a usage error' "$report" --strip "$TMPDIR/copy.mtr" "$stacks" "$stacks"
expect 2 '--strip does not overwrite the recording itself' "$report" --strip "$TMPDIR/once.mtr" "$TMPDIR/once.mtr"
expect 2 '--strip does not read standard input' "$report" --strip "$TMPDIR/copy.mtr" - <"$stacks"
expect 3 '--strip of a file that is not a recording is an error' "$report" --strip "$TMPDIR/copy.mtr" "$0"
expect 5 '--strip to a full disk is an error' "$report" --strip /dev/full "$stacks"
"$report" -q --perfdata "$TMPDIR/perf.data" "$stacks"
expect 2 '--strip of a perf.data file is a usage error' "$report" --strip "$TMPDIR/copy.mtr" "$TMPDIR/perf.data"
finish
