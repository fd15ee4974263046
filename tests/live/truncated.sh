#!/bin/bash
# A compiler's stacks from dumps of 16 KiB, after joining, are equal to those from dumps of 64 KiB of the same samples.
# timeout: 300
# together: it looks only at what it starts itself
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../oracle/lib.sh"
. "$(dirname "$0")/../oracle/truncated.sh"
needs_mtrec
needs_command python3
find_compiler
if ! build_tool cut_dumps tests/oracle/cut_dumps.c; then
	fail 'the tool that cuts dumps builds' "$TMPDIR/why"
	finish
fi
printf '#include <map>\n#include <string>\nint main() { std::map<std::string, int> m; return m["a"]; }\n' >"$TMPDIR/a.cpp"
check "$compiler is recorded with dumps of 64 KiB" record_whole "$compiler" -std=c++17 -fsyntax-only "$TMPDIR/a.cpp"
"$TMPDIR/cut_dumps" 65528 "$TMPDIR/whole.mtr" "$TMPDIR/same.mtr" >"$TMPDIR/seeds"
"$MT_BUILD/mtreport" -q --script --no-inline --no-join "$TMPDIR/same.mtr" >"$TMPDIR/same.walked"
is '... a copy that nothing is cut from has the same stacks' "$(cmp "$TMPDIR"/{whole,same}.walked 2>&1)" ''

check '... cut to 16 KiB, with seeds' truncate_stacks 65528
figures | sed 's/^/# /'
# Shares in a thousand. The joined stacks depend on the places of the samples, on losses and on the compiler, so the limits are lower
# than the measured figures.
[ "$compiler" != clang++ ] || between '... which many are too large for' 100 $((1000 * shortened / samples)) 1000
between '... most stacks are the same' 750 $((1000 * identical / samples)) 1000
if [ "$joined" -ge 200 ]; then
	between '... and what is joined is right to the address' 950 $((1000 * right / joined)) 1000
	between '... and by function' 970 $((1000 * right_functions / joined)) 1000
else
	skip '... and what is joined is right' "only $joined stacks of $compiler were cut and joined"
fi
finish
