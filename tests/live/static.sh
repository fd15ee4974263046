#!/bin/bash
# make static builds one file that needs no library, for hosts that have none; it records here.
# together: it looks only at what it starts itself
. "$(dirname "$0")/../lib.sh"
needs_perf
expect 0 'make static' make_here -s static
ldd "$MT_BUILD/static/mtrec" >"$TMPDIR/ldd" 2>&1
says 'ldd finds no library' 'not a dynamic executable|statically linked' "$TMPDIR/ldd"
expect 0 'it records' "$MT_BUILD/static/mtrec" -e page-faults -o "$TMPDIR/static.mtr" -- /bin/true
says 'and says so' '^mtrec: .* samples, .* 0 lost -> ' "$err"
expect 0 'mtreport reads it' "$MT_BUILD/mtreport" --folded "$TMPDIR/static.mtr"
says 'and finds the faults' '^true;.* [0-9]+$' "$out"
finish
