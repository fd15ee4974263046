#!/bin/bash
# mtreport --unwind-report and --unwind libdw, libunwind: who unwound what, and that the oracles see the same functions.
. "$(dirname "$0")/../lib.sh"

report=$MT_BUILD/mtreport
file=$MT_SHARED/data/cores/perf.data
"$MT_TOP/tests/golden/make_recording.py" "$TMPDIR" stored >/dev/null || exit 1
check 'a report of a recording' "$report" --unwind-report "$TMPDIR/stored.mtr"
says '... says why stacks end, and what helps' '^/bin/worker +stacks end +image not at hand +[0-9]+ +--symfs DIR' "$out"
expect 2 'it has no stacks to show' "$report" --unwind-report --folded "$TMPDIR/stored.mtr"
says '... and says so' '--folded shows stacks, and --unwind-report has none'
check '--table shows sums of samples too' "$report" --samples --table "$TMPDIR/stored.mtr"
expect 2 'an oracle that is none is a usage error' "$report" --unwind magic "$TMPDIR/stored.mtr"
if ! [ -f "$file" ]; then
	skip 'the oracles on a static binary' "no $file"
	finish
fi
"$report" -q --symfs "$(dirname "$file")" --folded "$file" >"$TMPDIR/ours"
for oracle in libdw libunwind; do
	if ! "$report" --help | grep -q "^ *$oracle "; then
		skip "$oracle sees the same leaves" "built without $oracle"
		continue
	fi
	"$report" -q --symfs "$(dirname "$file")" --unwind $oracle --folded "$file" >"$TMPDIR/theirs"
	check "$oracle sees the same leaves" cmp <(sed 's/ [0-9]*$//; s/.*;//' "$TMPDIR/ours" | sort -u) \
		<(sed 's/ [0-9]*$//; s/.*;//' "$TMPDIR/theirs" | sort -u)
done
finish
