#!/bin/bash
# Calls that move memory: as many as strace counts, and each with its arguments, its result and its time mark.
# together: it looks only at what it starts itself
. "$(dirname "$0")/../lib.sh"
needs_mtrec
needs_calls
build_steps
cd "$TMPDIR" || exit 1

record_without_losses 'brk' "$mtrec" -e brk -- "$steps" brk 1000 4096
dump mtrec.mtr
exits=$(samples_of 1)
between '... every call' 1000 "$exits" 1010
is '... has a time mark' "$(samples_of 2)" "$exits"
is '... and a stack' "$(grep -c ' event=1 .* callchain=.* regs_abi=2 .* dump_crc32=' "$dump")" "$exits"
is '... marks have none' "$(grep -Ec ' event=2 .*(regs_abi|callchain)' "$dump")" 0
if command -v strace >/dev/null; then
	strace -f -c -e trace=brk -o counts "$steps" brk 1000 4096
	is '... as strace counts' "$exits" "$(awk '$NF == "brk" { print $4 }' counts)"
else
	skip '... as strace counts' 'strace is not installed'
fi
is '... each mark before its exit' "$(awk '/ event=[12] / {
	for (i = 1; i <= NF; i++) if ($i ~ /^time=/) t = substr($i, 6)
	event = / event=2 / ? 2 : 1
	if (event == last || t < before) wrong++
	last = event; before = t } END { print wrong + 0 }' "$dump")" 0

record_without_losses 'brk, thinned' "$mtrec" -e brk -c 10 -- "$steps" brk 1000 4096
dump mtrec.mtr
between '... one in ten' 99 "$(samples_of 1)" 102
is '... with every mark' "$(samples_of 2)" "$exits"

expect 0 'mmap, mremap and munmap' "$mtrec" -q -e mmap,munmap -e mremap -- "$steps" calls
cp "$out" calls
dump mtrec.mtr
declare -A event=([mmap]=1 [munmap]=3 [mremap]=5)
while read -r name words; do
	pattern=" event=${event[$name]} .* regs=\{"
	if [ "$(uname -m)" != x86_64 ]; then
		skip "... $name: $words" 'the registers are those of x86_64'
		continue
	fi
	# in the order of the registers: ax dx si di r10
	for register in ax dx si di r10; do
		value=$(tr ' ' '\n' <<<"$words" | sed -n "s/^$register://p")
		[ -z "$value" ] || pattern+=".*\b$register:0x$value\b"
	done
	says "... $name $words" "$pattern" "$dump"
done <calls
is '... as many exits as enters' "$(samples_of 1) $(samples_of 3) $(samples_of 5)" \
	"$(samples_of 2) $(samples_of 4) $(samples_of 6)"
check 'the file is as the page has it' "$MT_TOP/scripts/mtdump" --check mtrec.mtr

record_without_losses 'calls and faults together' "$mtrec" -e brk,page-faults -- "$steps" brk 300 8192
dump mtrec.mtr
between '... the calls' 300 "$(samples_of 1)" 310
is '... their marks' "$(samples_of 2)" "$(samples_of 1)"
between '... the faults' 30 "$(samples_of 3)" 1000
finish
