#!/bin/bash
# Records six programs whose memory takes a known course at once; mtreport gives no verdict on their first seconds.
# timeout: 120
# together: it looks only at what it starts itself
# slow: a verdict on growth takes 12 s
. "$(dirname "$0")/../lib.sh"
needs_mtrec
needs_calls
needs_compiler
cd "$TMPDIR" || exit 1
# shellcheck disable=SC2086
${CC:-cc} -D_GNU_SOURCE -O1 -g -o programs "$MT_TOP/tests/workloads/verdict_programs.c" -lm || exit 1

# 14 s are a little more than the minimum time that --verdict needs.
expect 0 'six programs are recorded' "$mtrec" -q -e vm,page-faults -- ./programs all 14
expect 0 'they are judged' "$MT_BUILD/mtreport" -q --verdict --csv
cp "$out" verdicts.csv
# If a busy host loses page faults, the retained memory is unknown.
lost=$("$MT_BUILD/mtreport" --verdict mtrec.mtr 2>&1 >/dev/null | grep -c 'records were lost')
while read -r process want; do
	if [ "$lost" != 0 ] && [ "$process" = arena ]; then
		skip "$process: $want" 'records were lost'
		continue
	fi
	is "$process: $want" "$(grep "^[0-9]*,$process,.*;reserve;\|^[0-9]*,$process,.*run_mode;\|^[0-9]*,$process,.*,\"\[heap\]\"," verdicts.csv | cut -d, -f3)" "$want"
done <<'END'
plateau plateau
leak grows steadily
sawtooth sawtooth
one-off one-off
cache plateau
arena arena retention
END
expect 0 'their first 4 s' "$MT_BUILD/mtreport" -q --verdict --csv --time 0,4
is '... are too little data for anything' "$(sed 1d "$out" | cut -d, -f3 | sort -u)" 'undecided'
finish
