#!/bin/bash
# Each output of a known recording, byte for byte: tests/golden/reports/OUTPUT.txt. UPDATE=1 writes them anew.
. "$(dirname "$0")/../lib.sh"

"$MT_TOP/tests/golden/make_recording.py" "$TMPDIR" stored || exit 1
cd "$TMPDIR" || exit 1
compare() { # compare NAME OPTION...: golden text NAME.txt
	local output=$1
	shift
	want=$MT_TOP/tests/golden/reports/$output.txt
	"$MT_BUILD/mtreport" "$@" stored.mtr >"$output" 2>"$output.err"
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
compare by-process --by process
compare by-thread --by thread,cpu,cgroup --weight period
compare by-image --by image,mode --csv
compare by-stack --by stack
compare by-folded --by cgroup,process --folded
compare timeline --timeline=1ms --by comm
finish
