#!/bin/bash
# mtreport --unwind-report, --max-stack and every --unwind: which method unwound which frames, why stacks end, and that libunwind finds
# the same functions.
. "$(dirname "$0")/../lib.sh"

report=$MT_BUILD/mtreport
file=$MT_SHARED/data/cores/perf.data
"$MT_TOP/tests/golden/recording/corpus.py" "$TMPDIR" stored >/dev/null || exit 1
check 'a report of a recording' "$report" --unwind-report "$TMPDIR/stored.mtr"
says '... says why stacks end, and what helps' '^/bin/worker +stacks end +image not at hand +[0-9]+ +--symfs DIR' "$out"
expect 2 'it has no stacks to show' "$report" --unwind-report --folded "$TMPDIR/stored.mtr"
says '... and says so' '--folded adds up stacks, and --unwind-report has none'
check '--table shows sums of samples too' "$report" --samples --table "$TMPDIR/stored.mtr"
expect 2 'an unknown oracle is a usage error' "$report" --unwind magic "$TMPDIR/stored.mtr"
if ! [ -f "$file" ]; then
	skip 'the unwinders on a static binary' "no $file"
	finish
fi

# stacks WORDS...: prints the two stacks, sorted, without counts; ends WORDS...: prints "REASON,HELP,COUNT" of each end
stacks() {
	"$report" -q --symfs "$(dirname "$file")" --folded "$@" "$file" | sed 's/^[^;]*;//; s/ [0-9]*$//'
}
ends() {
	"$report" -q --symfs "$(dirname "$file")" --unwind-report --csv "$@" "$file" | sed -n 's/^[^,]*,stacks end,//p'
}
both='__clone;start_thread;start;backtracegen;stdarg;sigusr2;raise
_start;__libc_start_main;main;pthread_join'
is '--unwind auto: whole stacks' "$(stacks --unwind auto)" "$both"
is '... that ended at their roots' "$(ends --unwind auto)" 'root,,2'
is '--unwind dwarf: the same, with CFI for every frame' "$(stacks --unwind dwarf)|$(ends --unwind dwarf)" "$both|root,,2"
is '--unwind fp: as far as there are frame pointers' "$(stacks --unwind fp)" 'pthread_join
start_thread;start;backtracegen;stdarg;sigusr2;raise'
is '... and it says why, and what helps' "$(ends --unwind fp | cut -c1-48)" \
	'frame-pointer chain ends,"record stack dumps: mt'
is '--max-stack 3: the three innermost frames' "$(stacks --max-stack 3)" '__libc_start_main;main;pthread_join
stdarg;sigusr2;raise'
is '... and it says so, and what helps' "$(ends --max-stack 3)" 'frame limit,--max-stack N,2'
"$report" -q --symfs "$(dirname "$file")" --folded "$file" >"$TMPDIR/ours"
if ! "$report" --help all | grep -q '^ *libunwind '; then
	skip 'libunwind sees the same leaves' 'built without libunwind'
	finish
fi
"$report" -q --symfs "$(dirname "$file")" --unwind libunwind --folded "$file" >"$TMPDIR/theirs"
check 'libunwind sees the same leaves' cmp <(sed 's/ [0-9]*$//; s/.*;//' "$TMPDIR/ours" | sort -u) \
	<(sed 's/ [0-9]*$//; s/.*;//' "$TMPDIR/theirs" | sort -u)
finish
