#!/bin/bash
# speedscope loads our profiles and folded stacks, and shows the same figures for each function.
# slow: a browser loads each kind of profile
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/pages/lib.sh"
needs_browser
SPEEDSCOPE=$NODE_PATH/speedscope/dist/release/index.html
[ -f "$SPEEDSCOPE" ] || skip_all 'no speedscope: scripts/install-deps ci installs it'
export SPEEDSCOPE

recorded=$MT_TOP/tests/golden/recorded
report=("$MT_BUILD/mtreport" -q --symfs "$recorded" --kallsyms "$recorded/stacks.kallsyms.txt" "$recorded/stacks.mtr" --by stack)
while read -r name words; do
	# shellcheck disable=SC2086
	"${report[@]}" $words --folded >"$TMPDIR/$name.folded" && "${report[@]}" $words --pprof "$TMPDIR/$name.pb.gz" || exit 1
done <<'END'
faults --samples -e page-faults
held --outstanding
END
exec node "$MT_TOP/tests/browser/pages/speedscope.js" faults held
