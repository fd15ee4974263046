#!/bin/bash
# Recordings that earlier versions of mtrec made of recorded/grow.c give the same reports today: recorded/NAME.OUTPUT.txt. A version
# that reads them differently changes the reports on users' old files. UPDATE=1 writes the texts anew.
. "$(dirname "$0")/../lib.sh"

recorded=$MT_TOP/tests/golden/recorded
cd "$recorded" || exit 1

# reads_as OUTPUT FILE KALLSYMS: this output of the file is equal to the file's NAME.OUTPUT.txt.
reads_as() {
	local name want
	name=$(basename "$2" .mtr)
	want=$recorded/$name.$1.txt
	expect 0 "$name: --$1" "$MT_BUILD/mtreport" "--$1" --symfs "$recorded" --kallsyms "$recorded/$3.kallsyms.txt" "$2"
	# the vdso, and the code in it, depend on this machine
	sed -e "s|$(dirname "$2")|DIR|g; s|$recorded|DIR|g" -e '/^mtreport: recorded on /d' -e '/^mtreport: recorded on /d; /^  \[vdso\]/,+1d' -e '/^    unwind tables:/d; /^    --debuginfod would/d' "$out" "$err" >"$TMPDIR/got"
	[ -z "${UPDATE:-}" ] || cp "$TMPDIR/got" "$want"
	check "$name: --$1 says what it said" diff "$want" "$TMPDIR/got"
}

for recording in *.mtr; do
	name=${recording%.mtr}
	for output in folded script info; do
		[ "$name $output" = 'thinned script' ] || reads_as "$output" "$recorded/$recording" "$name"
	done
	"$MT_BUILD/mtreport" -q "$recording" >"$TMPDIR/screen"
	check "$name: its screen has no two empty lines in a row" diff "$TMPDIR/screen" <(cat -s "$TMPDIR/screen")
	check "$name follows FORMAT.md" "$MT_TOP/scripts/mtdump" --check "$recording"
done

# As its writer would have left it: cut in the last chunk but one.
head -c $(($(stat -c %s stacks.mtr) - 300)) stacks.mtr >"$TMPDIR/cut.mtr"
for output in folded info; do
	reads_as "$output" "$TMPDIR/cut.mtr" stacks
done
finish
