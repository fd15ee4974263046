#!/bin/bash
# If calls occur that no recording has, mtrec reports it: a 32-bit program, an io_uring, process_madvise.
# together: it looks only at what it starts itself
. "$(dirname "$0")/../lib.sh"
needs_mtrec
needs_root 'tracepoints'
cd "$TMPDIR" || exit 1
report=$MT_BUILD/mtreport
source=$MT_TOP/tests/workloads/unseen.c
${CC:-cc} -D_GNU_SOURCE -O1 -g -o unseen "$source" || exit 1

# low FILE: prints how many of the resident bytes of the program are certain.
low() {
	"$report" -q --resident --csv --by process "$1" | awk -F, '
		NR == 1 { for (i = 1; i <= NF; i++) if ($i == "bytes_low") at = i }
		NR > 1 && $2 == "unseen [exited]" { print !at ? "all" : $at <= 0 ? "none" : "some" }'
}

# name_unseen WHAT REGEX: checks that the reports say so if the program does WHAT.
name_unseen() {
	if ! ./unseen "$1"; then
		skip "$1 is said to go unseen" 'this kernel refuses it'
		return
	fi
	check "$1: is recorded" "$mtrec" -q -e vm,rss -o "$1.mtr" ./unseen "$1"
	check '... --growth' "$report" --growth --csv "$1.mtr"
	says '... says so' "unseen \([0-9]+\) has $2"
	check '... --outstanding' "$report" --outstanding --csv "$1.mtr"
	says '... says so' "unseen \([0-9]+\) has $2"
	check '... the summary' "$report" "$1.mtr"
	says '... says so' "^! unseen \([0-9]+\) has $2" "$out"
	is '... and no page is certain to be resident' "$(low "$1.mtr")" none
}

name_unseen ring io_uring
name_unseen advise 'used process_madvise'
expect 0 'a program that does nothing of the kind' "$mtrec" -q -e vm,rss -o plain.mtr true
check '... is reported' "$report" --growth --csv plain.mtr
is '... and nothing is said' "$(grep -c 'go unseen\|goes unseen' "$err")" 0

if ${CC:-cc} -m32 -DNARROW -O1 -nostdlib -static -fno-pie -no-pie -fno-stack-protector -o narrow "$source" 2>why &&
	./narrow 2>>why; then
	check 'a 32-bit program is recorded' "$mtrec" -q -e vm -o narrow.mtr sh -c './narrow; true'
	check '... --growth' "$report" --growth --csv --by process narrow.mtr
	says '... says that it is one' 'narrow \([0-9]+\) is 32-bit'
	is '... and that it may have grown, or shrunk, by all that it can address' "$(awk -F, '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
		$2 == "narrow [exited]" { print ($(at["bytes_high"]) - $(at["bytes_low"])) / 2 ^ 33 }' "$out")" 1
	check '... the summary' "$report" narrow.mtr
	says '... says that it is one' '^! narrow \([0-9]+\) is 32-bit' "$out"
else
	skip 'a 32-bit program is said to be one' 'none can be built or run here'
fi
finish
