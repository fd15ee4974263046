#!/bin/bash
# mtreport --scan guesses callers of code without CFI and frame pointers, and marks each; without --scan, mtreport guesses none.
# together: it looks only at what it starts itself
. "$(dirname "$0")/../lib.sh"
needs_mtrec
needs_command "${CC:-cc}"
[ "$(uname -m)" = x86_64 ] || skip_all 'not an x86-64 machine'
report=$MT_BUILD/mtreport
cd "$TMPDIR" || exit 1
"${CC:-cc}" -O2 -g -o uncharted "$MT_TOP/tests/workloads/uncharted.c" || exit 1

check 'faults below code without CFI are recorded' "$mtrec" -e page-faults -o small.mtr -- ./uncharted 200
# folded FILE OPTION...: prints the stacks that end in touch()
folded() {
	local file=$1
	shift
	"$report" -q --folded --no-inline "$@" "$file" | grep ';touch '
}
# samples_of PATTERN: prints the number of samples of the folded stacks that match
samples_of() {
	grep -E "$1" "$TMPDIR/stacks" | awk '{ n += $NF } END { print n + 0 }'
}

folded small.mtr >stacks
between '... whose callers are not known' 190 "$(samples_of 'small_frame;callback;touch ')" 210
is '... and are not guessed' "$(samples_of 'main;|outer;|[?] ')" 0
folded small.mtr --scan >stacks
between '--scan finds the caller' 190 "$(samples_of ';[?] main;[?] outer;small_frame;callback;touch ')" 210
is '... each of them marked' "$(samples_of '(^|;)(main|outer);')" 0
"$report" -q --script --scan --no-inline small.mtr |
	awk 'BEGIN { RS = "" } /small_frame\+/ && / (main|outer)\+/ { n += !/[?] outer\+/ || !/[?] main\+/ } END { print n + 0 }' >unmarked
is '... in every output' "$(cat unmarked)" 0
"$report" -q --unwind-report --csv --comm uncharted small.mtr | grep 'stacks end' >before
"$report" -q --unwind-report --csv --comm uncharted --scan small.mtr >table
says '... counted as what it is' 'frames,scanned,,[1-9]' table
grep 'stacks end' table >after
check '... and no stack is the more complete for it' cmp before after
"$report" -q --strip stripped.mtr --scan small.mtr
folded stripped.mtr >stacks
between '... the mark is kept by --strip' 190 "$(samples_of ';[?] main;[?] outer;small_frame;callback;touch ')" 210
check '... as FORMAT.md says' "$MT_TOP/scripts/mtdump" --check stripped.mtr

check 'a frame larger than what is looked at is recorded' "$mtrec" -e page-faults -o large.mtr -- ./uncharted 200 large
folded large.mtr --scan >stacks
between '... and its caller is not found' 190 "$(samples_of 'large_frame;callback;touch ')" 210
is '... though what is left over in it may be taken for one' "$(samples_of 'outer')" 0

check 'a frame over what other calls left over is recorded' "$mtrec" -e page-faults -o left.mtr -- ./uncharted 200 leftovers
folded left.mtr --scan >stacks
between '... and guessed by the call that leads there' 190 "$(samples_of ';[?] main;[?] direct;small_frame;callback;touch ')" 210
is '... and never otherwise' "$(samples_of 'sum|compare|sort|leave_over')" 0
mv uncharted elsewhere
folded left.mtr --scan >stacks
between '... and not found where its code is missing' 190 "$(samples_of 'uncharted;small_frame;callback;touch ')" 210

expect 2 'other ways to unwind do not guess' "$report" --scan --unwind dwarf small.mtr
says '... it says so' '--scan goes with --unwind auto' "$err"
finish
