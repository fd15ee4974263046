#!/bin/bash
# A storm of page faults from deep stacks at the default settings: every one is recorded, and none is lost.
# timeout: 180
. "$(dirname "$0")/../lib.sh"
needs_mtrec
cd "$TMPDIR" || exit 1

# samples: prints the number of samples in the closing line.
samples() {
	sed -n 's/.* s, \([0-9,]*\) samples.*/\1/p' "$err" | tr -d ,
}

if [ -n "$MT_SHARED" ] && [ -f "$MT_SHARED/targets/Makefile" ] && command -v g++ >/dev/null; then
	mkdir targets && cp "$MT_SHARED"/targets/* targets 2>/dev/null
	expect 0 'the targets build' make -s -C targets B=.
	program=(env -C targets ./faulter 60000 20000 1)
else
	build_steps
	program=("$steps" faults 60000)
fi
wide=()
[ "$(id -u)" -ne 0 ] || wide=(-a)
record_without_losses 'a storm of page faults' "$mtrec" -e page-faults "${wide[@]}" -o storm.mtr -- "${program[@]}"
between '... every one' 60000 "$(samples)" 10000000
if [ -x "$MT_BUILD/mtreport" ]; then
	pattern=faulter
	[ "${program[0]}" = env ] || pattern=steps
	"$MT_BUILD/mtreport" -q --folded --comm $pattern storm.mtr >folded
	between '... all in the file' 60000 "$(awk '{ n += $NF } END { print n + 0 }' folded)" 62000
else
	skip '... all in the file' 'mtreport is not built'
fi
rm -f storm.mtr

if [ -x targets/brker ] && "$mtrec" --list syscalls:sys_exit_brk >/dev/null 2>&1; then
	record_without_losses 'a storm of brk' "$mtrec" -e brk -o brk.mtr -- targets/brker 20000 4096
	between '... every call' 20000 "$(samples)" 20020
	if [ -x "$MT_BUILD/mtreport" ]; then
		"$MT_BUILD/mtreport" -q --folded -e brk brk.mtr >folded
		# the C library's first sbrk() asks where the heap ends, which is one more call
		is '... 20,001 of them below grow' "$(grep 'grow<' folded | awk '{ n += $NF } END { print n + 0 }')" 20001
	fi
else
	skip 'a storm of brk' 'no ../shared/targets next to the tree, or no syscall tracepoints'
fi
finish
