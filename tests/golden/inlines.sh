#!/bin/bash
# Five functions inlined at one address, and their lines, as elfutils and perf have them.
. "$(dirname "$0")/../lib.sh"
data=${MT_DATA:-${MT_SHARED:-$MT_TOP/../shared}/data}/inlines
[ -d "$data" ] || skip_all "no $data"
report() {
	"$MT_BUILD/mtreport" -q "$@" --symfs "$data" "$data/perf.data"
}
report --script --inline --srcline >"$TMPDIR/script"
grep -A1 '^	' "$TMPDIR/script" | sed -n 's/^.* \([0-9a-f]*\) \([a-z]*\)+0x[0-9a-f]*\(.*\)$/\1 \2\3/p; s/^  //p' |
	sed '/testfile/s/ (.*//' | paste -sd' ' - >"$TMPDIR/got"
echo '4006c8 fubar (inlined) dwarfinlines.cpp:6 4006c8 foobar (inlined) dwarfinlines.cpp:14' \
	'4006c8 bar (inlined) dwarfinlines.cpp:21 4006c8 foo (inlined) dwarfinlines.cpp:27' \
	'4006c8 fu dwarfinlines.cpp:33 4004c4 main dwarfinlines.cpp:39' >"$TMPDIR/want"
check '--script --srcline has five functions at one address' diff "$TMPDIR/want" "$TMPDIR/got"
report --folded >"$TMPDIR/folded"
check '--folded has them as frames' grep -qx 'testfiledwarfin;\[libc-2.18.so\];main;fu;foo;bar;foobar;fubar 1' "$TMPDIR/folded"
report --folded --srcline >"$TMPDIR/folded"
check '--folded --srcline adds the lines' grep -q 'foo dwarfinlines.cpp:27;bar dwarfinlines.cpp:21;' "$TMPDIR/folded"
report --folded --no-inline >"$TMPDIR/folded"
check '--no-inline leaves the function that was called' grep -qx 'testfiledwarfin;\[libc-2.18.so\];main;fu 1' "$TMPDIR/folded"
report --summary >"$TMPDIR/summary"
check '--summary has file and line' grep -q 'fubar  (testfiledwarfinlines, dwarfinlines.cpp:6)' "$TMPDIR/summary"
finish
