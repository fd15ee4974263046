#!/bin/bash
# Measures the first sample in a file of 100 MB with 400,000 functions that was not read before. The limit is 1 ms, with a warm page
# cache. It is measured with .eh_frame_hdr, as linkers write it, and without it, so that all FDEs have to be read once.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../oracle/lib.sh"
build_tool first_sample tests/bench/first_sample.c || {
	cat "$TMPDIR/why" >&2
	exit 1
}
cat >"$TMPDIR/large.S" <<'END'
	.text
	.p2align 8
	.rept 400000
	.cfi_startproc
	push %rbp
	.cfi_adjust_cfa_offset 8
	.fill 253, 1, 0x90
	pop %rbp
	ret
	.cfi_endproc
	.endr
END
"${CC:-cc}" -shared -nostdlib -Wl,--eh-frame-hdr -o "$TMPDIR/large.so" "$TMPDIR/large.S" || exit 1
objcopy -R .eh_frame_hdr "$TMPDIR/large.so" "$TMPDIR/without.so" 2>"$TMPDIR/why" || cat "$TMPDIR/why" >&2
for file in large without; do
	offset=$(readelf -SW "$TMPDIR/$file.so" | sed -n 's/.* \.text *PROGBITS *[0-9a-f]* \([0-9a-f]*\) .*/0x\1/p')
	echo "$file.so, $(($(stat -c %s "$TMPDIR/$file.so") / 1000000)) MB: $("$TMPDIR/first_sample" "$TMPDIR/$file.so" "$offset")"
done
