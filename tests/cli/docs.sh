#!/bin/bash
# --help all, the man pages and the bash completion have the same options; the numbers in them are equal to those in the code.
. "$(dirname "$0")/../lib.sh"

# options_in_help PROGRAM: prints the options of its --help all, one per line.
options_in_help() {
	"$MT_BUILD/$1" --help all | sed -n 's/^ *\(-[^ ]*\(,* --*[[:alpha:]][^ ]*\)*\).*/\1/p' | tr ', ' '\n\n' |
		sed -n 's/^\(--*[[:alnum:]-]*\).*/\1/p' | sort -u
}

# groups_in_help PROGRAM, groups_in_man PROGRAM: print the headings of the options, in order.
groups_in_help() {
	"$MT_BUILD/$1" --help all | sed -n '/^Methods of/q; /^Examples:/q; s/^\([A-Z][^,]*\)\(,.*\)*:$/\1/p'
}
groups_in_man() {
	sed -n '/^\.SH OPTIONS/,/^\.SH [^O]/s/^\.SS //p' "$MT_TOP/docs/$1.1"
}

# options_in_man PROGRAM: prints the options that have an entry of their own, on the line after .TP.
options_in_man() {
	sed -n '/^\.TP/{n;p;}' "$MT_TOP/docs/$1.1" | sed 's/\\-/-/g; s/\\f.//g; s/"//g' | grep '^\.BR\? -' | tr ' ,[' '\n\n\n' |
		grep -- '^-[[:alnum:]-]' | sort -u
}

# completions PROGRAM LINE-WORD...: prints the shell's completions of the last word of the line.
completions() (
	program=$1
	shift
	PATH=$MT_BUILD:$PATH
	# shellcheck disable=SC1090
	. "$MT_TOP/scripts/completion/$program"
	COMP_WORDS=("$@")
	COMP_CWORD=$(($# - 1))
	COMP_LINE=$*
	COMP_POINT=${#COMP_LINE}
	COMP_WORDBREAKS=' :='
	"_$program" "$program" "${@: -1}" "${*: -2:1}"
	printf '%s\n' "${COMPREPLY[@]}"
)

for program in mtrec mtreport; do
	options_in_help $program >"$TMPDIR/help"
	options_in_man $program >"$TMPDIR/man"
	groups_in_help $program >"$TMPDIR/groups"
	groups_in_man $program >"$TMPDIR/groups_in_man"
	"$MT_BUILD/$program" --help >"$TMPDIR/brief"
	completions $program $program - | sort -u >"$TMPDIR/completion"
	check "$program --help has options" test "$(wc -l <"$TMPDIR/help")" -gt 5
	check "$program --help is two screens" test "$(wc -l <"$TMPDIR/brief")" -le 48
	check '... of 80 columns' test "$(wc -L <"$TMPDIR/brief")" -le 80
	check "$program --help and $program(1) have the same groups" diff "$TMPDIR/groups" "$TMPDIR/groups_in_man"
	check '... and the same options' diff "$TMPDIR/help" "$TMPDIR/man"
	check "$program --help and its completion have the same options" diff "$TMPDIR/help" "$TMPDIR/completion"
	if command -v mandoc >/dev/null; then
		check "$program(1) is well formed" mandoc -T lint -W error "$MT_TOP/docs/$program.1"
	elif command -v man >/dev/null; then
		expect 0 "$program(1) renders" env MANROFFSEQ= man --warnings -l -E UTF-8 "$MT_TOP/docs/$program.1"
		check '... without a warning' test ! -s "$err"
	else
		skip "$program(1) is well formed" 'neither mandoc nor man is installed'
	fi
done

# shellcheck disable=SC2016 # what is in backquotes
grep -o '`[^`]*`' "$MT_TOP/docs/where.md" | tr -d '`' | grep / | sort -u >"$TMPDIR/named"
while read -r file; do
	[ -e "$MT_TOP/$file" ] || echo "$file"
done <"$TMPDIR/named" >"$TMPDIR/missing"
check 'docs/where.md names files' test "$(wc -l <"$TMPDIR/named")" -gt 30
check '... that exist' diff /dev/null "$TMPDIR/missing"

seeds=$(sed -n 's/^\tEVERY = \([0-9]*\),$/\1/p' "$MT_TOP/record/plan/variants.c")
check 'record/plan/variants.c has the rate of seeds' test -n "$seeds"
for page in docs/mtrec.1 docs/joining.md; do
	says "$page has the rate of seeds" "one in $seeds[, ]" "$MT_TOP/$page"
done

completions mtrec mtrec -e page-faults,br >"$TMPDIR/events"
says 'events complete after a comma' '^page-faults,brk$' "$TMPDIR/events"
completions mtrec mtrec -e sched:sched_wak >"$TMPDIR/events"
if [ -r /sys/kernel/tracing/events/sched ]; then
	says 'tracepoints complete after a colon' '^sched_wakeup$' "$TMPDIR/events"
else
	skip 'tracepoints complete after a colon' 'no tracepoints to be seen here'
fi
completions mtrec mtrec --help '' >"$TMPDIR/topics"
says 'the topics of help complete' '^all$' "$TMPDIR/topics"
completions mtrec mtrec record -k '' >"$TMPDIR/clocks"
says 'the only clock completes, also after the word record' '^mono$' "$TMPDIR/clocks"
completions mtrec mtrec --call-graph dw >"$TMPDIR/modes"
says 'ways to record stacks complete' '^dwarf$' "$TMPDIR/modes"
finish
