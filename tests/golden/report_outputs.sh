#!/bin/bash
# Each output of a known recording, byte for byte: tests/golden/reports/OUTPUT.txt. UPDATE=1 writes them anew.
. "$(dirname "$0")/../lib.sh"

"$MT_TOP/tests/golden/recording/corpus.py" "$TMPDIR" stored memory_calls || exit 1
cd "$TMPDIR" || exit 1
recording=stored.mtr
compare() { # compare NAME OPTION...: golden text NAME.txt
	local output=$1
	shift
	want=$MT_TOP/tests/golden/reports/$output.txt
	"$MT_BUILD/mtreport" "$@" "$recording" >"$output" 2>"$output.err"
	if [ -n "${UPDATE:-}" ]; then
		cp "$output" "$want"
		cp "$output.err" "${want%.txt}.err.txt"
	fi
	check "$* says what it should" diff "$want" "$output"
	check "$* remarks on what is missing" diff "${want%.txt}.err.txt" "$output.err"
}

for output in summary folded script info unwind-report table csv json; do
	compare $output --$output
done
compare by-process --table --by process
compare by-thread --by thread,cpu,cgroup --weight period
compare by-image --by image,mode --csv
compare by-stack --by stack
compare by-folded --by cgroup,process --folded
compare timeline --timeline=1ms --by comm
recording=memory_calls.mtr
for output in table csv json; do
	compare mmaps-$output --mmaps --$output
	compare brks-$output --brks --$output
done
compare mmaps-munmap --mmaps -e munmap
compare growth --growth
compare growth-paths --growth --paths --by process,stack --top 1
compare outstanding --outstanding
compare memory-summary
compare memory-summary-json --summary --json
compare memory-summary-by --summary --by container
compare faults --faults
compare faults-kind --faults --by kind,mode --csv
compare files --files
compare files-json --files --json --weight count
recording=stored.mtr
expect 4 'a recording without calls to list' "$MT_BUILD/mtreport" --mmaps stored.mtr
says '... says what would have had some' 'mtrec -e mmap,munmap,mremap' "$err"
for words in '--mmaps --folded' '--mmaps --by process' '--mmaps --timeline' '--samples --by kind' '--summary --by cpu' \
	'--by nosuch' '--by ,' '--timeline=0' '--timeline=1x' '--csv --weight bytes' '--unwind-report --stacks'; do
	# shellcheck disable=SC2086
	expect 2 "$words is a usage error" "$MT_BUILD/mtreport" $words stored.mtr
done
"$MT_BUILD/mtreport" -q --json stored.mtr >json
check '--json is JSON' python3 -m json.tool json /dev/null
"$MT_BUILD/mtreport" -q --json --summary memory_calls.mtr >json
check '--summary --json is JSON, in any order' python3 -m json.tool json /dev/null
finish
