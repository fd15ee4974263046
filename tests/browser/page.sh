#!/bin/bash
# The page of a whole recording in a browser, from a file: it shows, selects and copies the same figures that mtreport prints.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/pages/lib.sh"
needs_browser
needs_command cc

scenes=$MT_TOP/tests/golden/scenes
report=("$MT_BUILD/mtreport" -q)
"${report[@]}" --html "$TMPDIR/leak.html" "$scenes/leak.mtr" || exit 1
"${report[@]}" --html "$TMPDIR/lru.html" "$scenes/lru.mtr" || exit 1
"${report[@]}" --html "$TMPDIR/forks.html" "$scenes/forks.mtr" || exit 1
"${report[@]}" --html "$TMPDIR/changes.html" --base "$scenes/leak.mtr" "$scenes/sawtooth.mtr" || exit 1
"$MT_TOP/tests/browser/pages/odd_names.py" "$TMPDIR" || exit 1
"${report[@]}" --symfs "$TMPDIR/symfs" --html "$TMPDIR/names.html" "$TMPDIR/names.mtr" || exit 1
compiled=$("${report[@]}" --callgrind - "$scenes/container.mtr" | sed -n 's|^[a-z]*=([0-9]*) \(.*\)/scenes\.c$|\1|p' | head -1)
for line in {1..400}; do printf 'text of line %d <b>&\n' "$line"; done >"$TMPDIR/scenes.c"
"${report[@]}" --html "$TMPDIR/sources.html" --source-path "$compiled=$TMPDIR" "$scenes/container.mtr" || exit 1
export LEAK=$scenes/leak.mtr SOURCES=$scenes/container.mtr CHANGES="--base $scenes/leak.mtr $scenes/sawtooth.mtr"
exec node "$MT_TOP/tests/browser/pages/page.js"
