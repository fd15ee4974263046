# A compiler's stacks as dumps of 64 KiB give them, and as the same dumps give them cut to 16 KiB; source tests/lib.sh and
# tests/oracle/lib.sh first.
# shellcheck shell=bash

# find_compiler: $compiler is clang++, whose stacks are the deepest, or what else there is; or the whole file is skipped.
find_compiler() {
	for compiler in clang++ "${CXX:-g++}" c++; do
		command -v "$compiler" >/dev/null && return
	done
	skip_all 'no C++ compiler'
}

# listings NAME: $TMPDIR/NAME.mtr's samples with their stacks, as walked and joined
listings() {
	"$MT_BUILD/mtreport" -q --script --no-inline --no-join "$TMPDIR/$1.mtr" >"$TMPDIR/$1.walked" &&
		"$MT_BUILD/mtreport" -q --script --no-inline "$TMPDIR/$1.mtr" >"$TMPDIR/$1.joined"
}

# record_whole COMMAND...: $TMPDIR/whole.mtr, with dumps of 64 KiB, and its listings
record_whole() {
	"$MT_BUILD/mtrec" -q -e page-faults --call-graph dwarf,65528 -o "$TMPDIR/whole.mtr" -- "$@" && listings whole
}

# truncate_stacks [LARGER]: the same cut to 16 KiB, with LARGER bytes left in seeds. Sets samples, identical, shortened, joined,
# right and right_functions: counts, of tests/oracle/stacks.py.
truncate_stacks() {
	local name value
	"$TMPDIR/cut_dumps" 16384 "$TMPDIR/whole.mtr" "$TMPDIR/cut.mtr" "$@" >"$TMPDIR/seeds" && listings cut || return
	"$MT_TOP/tests/oracle/stacks.py" "$TMPDIR/seeds" "$TMPDIR"/{whole,cut}.{walked,joined} 3 >"$TMPDIR/compared" || return
	while read -r name value; do
		[ "$name" = '#' ] || declare -g "${name//-/_}=$value"
	done <"$TMPDIR/compared"
}

# percent PART WHOLE
percent() {
	awk -v part="$1" -v whole="$2" 'BEGIN { printf "%.2f\n", whole ? 100 * part / whole : 0 }'
}

# figures: the last comparison in words
figures() {
	echo "$samples samples, $shortened cut short at 16 KiB, $joined joined"
	echo "identical to those of 64 KiB: $(percent "$identical" "$samples") % (bar: 90)"
	echo "of the joined right: $(percent "$right" "$joined") % to the address, $(percent "$right_functions" "$joined") % by function" \
		"(bar: 98.5)"
}
