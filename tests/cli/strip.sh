#!/bin/bash
# mtreport --strip: the copy has no byte of a stack and says what the original says.
# slow: strips and reports every made recording
# timeout: 300
. "$(dirname "$0")/../lib.sh"

report=$MT_BUILD/mtreport
dump=$MT_TOP/scripts/mtdump
mkdir "$TMPDIR/made"
"$MT_TOP/tests/golden/recording/corpus.py" "$TMPDIR/made" >/dev/null || exit 1

# say FILE: what mtreport says about FILE, but for its name, its size and that it was stripped
say() {
	local output
	for output in --script --unwind-report --growth '--folded --by thread,event'; do
		# shellcheck disable=SC2086
		"$report" $output "$1" 2>&1 | sed "s,$1,FILE,g"
		echo "exit status ${PIPESTATUS[0]}"
	done
	"$report" --info "$1" 2>&1 | sed "s,$1,FILE,g; /^  stripped /d; /^  file .* chunks, .* unpacked/d"
}

# raw FILE: it has a sample with a raw stack
raw() {
	"$dump" --json "$1" 2>/dev/null | grep -Eq '"type": "(SAMPLE|PACKED)"'
}

same() {
	local file
	for file; do
		[ -f "$file" ] || continue
		# what is damaged or not known is left out, and then not missed
		"$report" --info "$file" >"$TMPDIR/info" 2>&1
		[ $? = 3 ] && continue
		grep -q -e '^  missing' -e 'could not be decoded' "$TMPDIR/info" && continue
		"$report" -q --strip "$TMPDIR/copy.mtr" "$file" 2>"$TMPDIR/said" || {
			fail "stripping $(basename "$file")" "$TMPDIR/said"
			continue
		}
		say "$file" >"$TMPDIR/before"
		say "$TMPDIR/copy.mtr" | sed "s,$TMPDIR/copy.mtr,FILE,g" >"$TMPDIR/after"
		diff "$TMPDIR/before" "$TMPDIR/after" >"$TMPDIR/differ" ||
			fail "$(basename "$file"): its copy says something else" "$TMPDIR/differ"
		compared=$((compared + 1))
	done
}

compared=0
same "$TMPDIR"/made/*.mtr "$MT_TOP"/tests/golden/recorded/*.mtr
check 'recordings say the same before and after' test $compared -gt 15

stacks=$MT_TOP/tests/golden/recorded/stacks.mtr
"$report" -q --strip "$TMPDIR/once.mtr" "$stacks"
"$report" -q --strip "$TMPDIR/twice.mtr" "$TMPDIR/once.mtr"
check 'stripping twice is stripping once' cmp <(say "$TMPDIR/once.mtr" | sed "s,$TMPDIR/once,F,") \
	<(say "$TMPDIR/twice.mtr" | sed "s,$TMPDIR/twice,F,")
"$dump" --json "$TMPDIR/once.mtr" >"$TMPDIR/once.json"
check 'frames are there' grep -q '"type": "FRAMES"' "$TMPDIR/once.json"
check 'mtdump --check finds nothing wrong' "$dump" --check "$TMPDIR/once.mtr"

# every damaged recording too: the copy can be read, or nothing is written
broken=0
for file in "$TMPDIR"/made/*.mtr; do
	rm -f "$TMPDIR/copy.mtr"
	"$report" -q --strip "$TMPDIR/copy.mtr" "$file" >/dev/null 2>"$TMPDIR/said"
	status=$?
	[ $status = 0 ] || [ $status = 3 ] || { broken=1 && fail "$(basename "$file"): exit status $status" "$TMPDIR/said"; }
	[ $status = 0 ] || continue
	"$report" --info "$TMPDIR/copy.mtr" >/dev/null 2>"$TMPDIR/said"
	[ $? -le 4 ] || { broken=1 && fail "$(basename "$file"): the copy cannot be read" "$TMPDIR/said"; }
	cat "$TMPDIR/copy.mtr" >>"$TMPDIR/copies.mtr"
done
for file in "$MT_TOP"/tests/golden/recorded/*.mtr; do
	"$report" -q --strip - "$file" >>"$TMPDIR/copies.mtr"
done
raw "$TMPDIR/copies.mtr" && broken=1 && fail 'raw stacks are left'
check 'damaged recordings are copied as far as they are good' test $broken = 0

check 'it tells what it did' bash -c "'$report' --strip '$TMPDIR/copy.mtr' '$stacks' 2>&1 | grep -q 'in the place of their raw bytes'"
check '... and where there was nothing to do' bash -c "'$report' --strip '$TMPDIR/copy.mtr' '$TMPDIR/once.mtr' 2>&1 | grep -q 'no stack had raw bytes'"
check '--info tells who stripped it, and how' bash -c "'$report' --info '$TMPDIR/copy.mtr' | grep -q 'stripped .*--unwind auto'"
expect 2 'no selectors' "$report" --strip "$TMPDIR/copy.mtr" -p 1 "$stacks"
expect 2 'no report' "$report" --strip "$TMPDIR/copy.mtr" --folded "$stacks"
expect 2 'one file' "$report" --strip "$TMPDIR/copy.mtr" "$stacks" "$stacks"
expect 2 'not over the recording itself' "$report" --strip "$TMPDIR/once.mtr" "$TMPDIR/once.mtr"
expect 2 'not from standard input' "$report" --strip "$TMPDIR/copy.mtr" - <"$stacks"
expect 3 'not what is no recording' "$report" --strip "$TMPDIR/copy.mtr" "$0"
expect 5 'a full disk' "$report" --strip /dev/full "$stacks"
mkdir "$TMPDIR/perf"
"$MT_TOP/tests/golden/make_perfdata.py" "$TMPDIR/perf" >/dev/null || exit 1
for file in "$TMPDIR"/perf/*; do
	expect 2 'not what perf recorded' "$report" --strip "$TMPDIR/copy.mtr" "$file"
	break
done
finish
