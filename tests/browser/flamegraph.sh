#!/bin/bash
# A flame graph in a browser, from a file: zoom, search, reset, and names that are shown as plain text.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/pages/lib.sh"
needs_browser
needs_command cc

recorded=$MT_TOP/tests/golden/recorded
report=("$MT_BUILD/mtreport" -q --symfs "$recorded" --kallsyms "$recorded/stacks.kallsyms.txt")
"${report[@]}" --flamegraph "$TMPDIR/stacks.svg" "$recorded/stacks.mtr" || exit 1
"${report[@]}" --folded "$recorded/stacks.mtr" >"$TMPDIR/stacks.folded" || exit 1
"${report[@]}" --faults --base-time 0%-60% --time 40%-100% --per none --flamegraph "$TMPDIR/changes.svg" "$recorded/stacks.mtr" || exit 1
"$MT_TOP/tests/browser/pages/odd_names.py" "$TMPDIR" || exit 1
"$MT_BUILD/mtreport" -q --symfs "$TMPDIR/symfs" --flamegraph "$TMPDIR/names.svg" "$TMPDIR/names.mtr" || exit 1
exec node "$MT_TOP/tests/browser/pages/flamegraph.js"
