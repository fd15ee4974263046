#!/bin/bash
# The first screen on real recordings of scenes: scenes/NAME.txt is what it says of scenes/NAME.mtr, and a person has
# read it: it names what grows, or says that this is not known. UPDATE=1 writes the texts anew.
. "$(dirname "$0")/../lib.sh"

scenes=$MT_TOP/tests/golden/scenes
cd "$scenes" || exit 1
mkdir "$TMPDIR/files"
ln -s "$scenes/program.elf" "$TMPDIR/files/scenes" # of which a recording carries no lines
ln -s "$scenes/blocks.elf" "$TMPDIR/files/blocks"
ln -s "$scenes/traps.elf" "$TMPDIR/files/traps"
ln -s "$scenes"/*.mtr "$TMPDIR"
cd "$TMPDIR" || exit 1 # the screen names the folder
for recording in *.mtr; do
	name=${recording%.mtr}
	check "$name is shown" "$MT_BUILD/mtreport" -q --symfs files "$recording"
	[ -z "${UPDATE:-}" ] || cp "$out" "$scenes/$name.txt"
	cp "$out" "$TMPDIR/got"
	check '... as it was read' diff "$scenes/$name.txt" "$TMPDIR/got"
done
cd "$scenes" || exit 1
for key in process image cgroup container; do
	"$MT_BUILD/mtreport" -q --summary --by $key forks.mtr >"$TMPDIR/want"
	"$MT_BUILD/mtreport" -q --by $key forks.mtr >"$TMPDIR/got"
	check "--by $key groups the screen" diff "$TMPDIR/want" "$TMPDIR/got"
	check '... which is one' grep -q '^WHO GREW' "$TMPDIR/got"
done
export LC_ALL=C.UTF-8 # wc -L counts columns of a terminal
for recording in *.mtr ../recorded/*.mtr; do
	for options in '' --all '--by image --summary' '--by cgroup --summary'; do
		# shellcheck disable=SC2086 # options are words
		"$MT_BUILD/mtreport" -q $options "$recording" >"$TMPDIR/got" || echo "$recording $options: exit status $?"
		[ "$(wc -L <"$TMPDIR/got")" -le 80 ] || grep -E '.{81}' "$TMPDIR/got" || echo "$recording $options: wide characters"
	done
done >"$TMPDIR/wide"
check 'no line of any screen is wider than 80 columns' test ! -s "$TMPDIR/wide"
head -n 20 "$TMPDIR/wide"
cat leak.mtr | "$MT_BUILD/mtreport" -q - >"$TMPDIR/got"
check 'commands to go on with read standard input where that was read' grep -q 'mtreport --outstanding -  # mappings still held$' "$TMPDIR/got"
head -c 40000 leak.mtr >"$TMPDIR/a-name-that-is-long-enough.mtr"
tail -c 20000 leak.mtr >>"$TMPDIR/a-name-that-is-long-enough.mtr"
"$MT_BUILD/mtreport" -q "$TMPDIR/a-name-that-is-long-enough.mtr" >"$TMPDIR/got"
check 'a note that is too long for a line goes on below' test "$(grep -A 1 '^! .* left out' "$TMPDIR/got" | grep -c '^  [a-z]')" -eq 1
given=(--pid 5222,7 --comm 'scenes,a b' --time ,14 --max-stack 30 --no-inline --debug-dir=.)
"$MT_BUILD/mtreport" -q "${given[@]}" leak.mtr >"$TMPDIR/got"
sed -n '/^NEXT/,$p' "$TMPDIR/got" | sed 's/^NEXT//; s/^ *//' | sed -e ':a' -e '/\\$/N; s/ *\\\n */ /; ta' >"$TMPDIR/next"
check 'commands to go on with keep what was given' test 2 -eq \
	"$(grep -c -- " -p 5222,7 --comm 'scenes,a b' --time ,14 --max-stack 30 --no-inline --debug-dir \\. leak.mtr *# [a-z ]*\$" "$TMPDIR/next")"
"$MT_BUILD/mtreport" -q --outstanding "${given[@]}" leak.mtr >"$TMPDIR/want"
sed -n 's/^mtreport \(--outstanding\)/"$MT_BUILD\/mtreport" -q \1/p' "$TMPDIR/next" >"$TMPDIR/command"
check '... and print the same as they are' sh -c 'cd "$1" && . "$2" | diff "$3" -' - "$PWD" "$TMPDIR/command" "$TMPDIR/want"
check '--all shows what is small, too' "$MT_BUILD/mtreport" -q --all --symfs "$TMPDIR/files" nothing.mtr
cp "$out" "$TMPDIR/got"
check '... of a program that only starts what the loader touched' grep -q 'scenes: \[ld-linux-x86-64.so.2\]' "$TMPDIR/got"
check '... in rows below the floor' grep -Eq '^ +\+[0-9.]+ kB  scenes: ' "$TMPDIR/got"
check '--verdict' "$MT_BUILD/mtreport" -q --verdict --symfs "$TMPDIR/files" maps.mtr
cp "$out" "$TMPDIR/got"
check '... has a path with its figures and verdict in a line' \
	grep -Eq '^8,192,000 +549,316  +67  6606 scenes grows steadily: map_segment' "$TMPDIR/got"
check '... and what it rests on below' grep -q '^ *15.00 s, 50 reservations, nothing given back$' "$TMPDIR/got"
check '... in lines that a terminal holds' sh -c '! grep -Eq ".{101}" "$1"' - "$TMPDIR/got"

# Most stacks of node lack what called main, as its dumps of 16 KiB end before it.
"$MT_BUILD/mtreport" --folded node.mtr >/dev/null 2>"$TMPDIR/said"
check 'data says exactly how many stacks end early' grep -q '1,295 of 2,136 user stacks end early (60.6 %)' "$TMPDIR/said"
finish
