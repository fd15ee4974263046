#!/bin/bash
# Each output of a known recording, byte for byte: tests/golden/reports/OUTPUT.txt. UPDATE=1 writes them anew.
. "$(dirname "$0")/../lib.sh"

"$MT_TOP/tests/golden/make_recording.py" "$TMPDIR" stored || exit 1
cd "$TMPDIR" || exit 1
for output in summary folded script info unwind-report; do
	want=$MT_TOP/tests/golden/reports/$output.txt
	"$MT_BUILD/mtreport" --$output stored.mtr >"$output" 2>"$output.err"
	if [ -n "${UPDATE:-}" ]; then
		cp "$output" "$want"
		cp "$output.err" "${want%.txt}.err.txt"
	fi
	check "--$output says what it should" diff "$want" "$output"
	check "--$output remarks on what is missing" diff "${want%.txt}.err.txt" "$output.err"
done
finish
