#!/bin/bash
# mtreport --seal: the copy, without any other file, gives the same reports as the recording with all files, and lists missing files.
# golden/sweep seals every recording.
. "$(dirname "$0")/../lib.sh"

report=$MT_BUILD/mtreport
dump=$MT_TOP/scripts/mtdump
recorded=$MT_TOP/tests/golden/recorded
cd "$TMPDIR" || exit 1
mkdir nothing

# folded FILE OPTION...: prints folded stacks, without files that this machine may have at the same path
folded() {
	local file=$1
	shift
	"$report" -q --folded --symfs nothing "$@" "$file"
}

for name in stacks attached chains; do
	file=$recorded/$name.mtr
	check "$name is sealed" "$report" --seal sealed.mtr --symfs "$recorded" --kallsyms "$recorded/$name.kallsyms.txt" "$file"
	says '... and --seal says what was added' 'images, kernels and perf maps: [1-9][0-9]* added, ' "$err"
	check '... and the copy follows FORMAT.md' "$dump" --check sealed.mtr
	"$report" -q --folded --symfs "$recorded" --kallsyms "$recorded/$name.kallsyms.txt" --no-inline "$file" >before
	folded sealed.mtr --no-inline >after
	check '... and gives the same report without files as with them' diff before after
	check '... which has names' grep -q ';touch[; ]' after
	"$report" --seal again.mtr --symfs nothing sealed.mtr 2>said
	says '... and carried files are not added again' ': 0 added, ' said
	check '... and the rest is the same, byte for byte' test "$(($(stat -c %s again.mtr) - $(stat -c %s sealed.mtr)))" -lt 400
done

file=$recorded/stacks.mtr
"$report" -q --seal names.mtr --embed symbols --symfs "$recorded" --kallsyms "$recorded/stacks.kallsyms.txt" "$file"
"$report" --info names.mtr --symfs nothing >info
check '--embed symbols adds only names' grep -q 'unwind tables: none, names: carried' info
"$report" -q --seal more.mtr --symfs "$recorded" names.mtr
folded more.mtr --no-inline >after
"$report" -q --folded --symfs "$recorded" --kallsyms "$recorded/stacks.kallsyms.txt" --no-inline "$file" >before
check 'images that are carried in part are completed' diff before after

# another file with the same name, whose build id differs
mkdir other
cp "$(type -P true)" other/grow.elf
"$report" --seal refused.mtr --symfs other "$file" 2>said
says 'a file with another build id is not taken' 'grow.elf is not carried: .*build id differs' said
says '... and that is counted' ' [1-9][0-9]* not to be had; ' said
"$report" --info refused.mtr >info
says '... and the copy says so' 'warning .*grow.elf is not carried' info
says '--info reports who sealed it' 'sealed .*--embed unwind' info
"$report" -q --seal quiet.mtr --symfs other "$file" 2>said
check '-q prints nothing' test ! -s said

expect 2 '--seal with a selector is a usage error' "$report" --seal copy.mtr -p 1 "$file"
expect 2 '--seal with an analysis is a usage error' "$report" --seal copy.mtr --folded "$file"
expect 2 '--seal of two files is a usage error' "$report" --seal copy.mtr "$file" "$file"
expect 2 '--seal together with --strip is a usage error' "$report" --seal copy.mtr --strip other.mtr "$file"
expect 2 '--embed without --seal is a usage error' "$report" --embed lines "$file"
expect 2 'an unknown --embed' "$report" --seal copy.mtr --embed nothing "$file"
says '... lists the known ones' 'symbols, unwind and lines'
expect 2 '--seal does not overwrite the recording itself' "$report" --seal more.mtr more.mtr
expect 2 '--seal does not read standard input' "$report" --seal copy.mtr - <"$file"
expect 2 '... nor a named pipe' "$report" --seal copy.mtr <(cat "$file")
says '... with the reason' 'cannot be copied: it is read twice'
expect 3 '--seal of a file that is not a recording is an error' "$report" --seal copy.mtr "$0"
expect 5 '--seal to a full disk is an error' "$report" --seal /dev/full "$file"
"$report" -q --perfdata perf.data "$file"
expect 2 '--seal of a perf.data file is a usage error' "$report" --seal copy.mtr perf.data
says '... and the message says what works' 'take the files that --info lists along .* with --symfs DIR' "$err"
finish
