#!/bin/bash
# A program whose only build id is the one that Go's linker writes: inlined calls and lines come from a file of the same
# build id, wherever that file is, and not from another.
# together: it looks only at what it starts itself
. "$(dirname "$0")/../lib.sh"
needs_mtrec
needs_command "${CC:-gcc}"
cd "$TMPDIR" || exit 1
report=$MT_BUILD/mtreport

# build OUT HASH: builds the program; its build id ends in HASH.
build() {
	cat >program.c <<-EOS
		#include <stdlib.h>
		__asm__(".pushsection .note.go.buildid, \"a\", @note\n.long 4, 83, 4\n.ascii \"Go\\\\0\\\\0\"\n"
			".ascii \"aaaaaaaaaaaaaaaaaaaa/bbbbbbbbbbbbbbbbbbbb/cccccccccccccccccccc/$2\"\n.balign 4\n.popsection");
		volatile char *kept[64];
		static inline __attribute__((always_inline)) void touch_inlined(int i)
		{
			for (size_t at = 0; at < 65536; at += 4096)
				kept[i][at] = 1;
		}
		__attribute__((noinline)) void outer(int i)
		{
			kept[i] = malloc(65536);
			touch_inlined(i);
		}
		int main(void)
		{
			for (int i = 0; i < 64; i++)
				outer(i);
			return 0;
		}
	EOS
	"${CC:-gcc}" -g -O2 -Wl,--build-id=none program.c -o "$1"
}
mkdir there same other
build there/program 0123456789ABCDEFGHIJ || skip_all 'the compiler cannot build it'
build other/program zzzzzzzzzzzzzzzzzzzz
cp there/program same/program
check 'the program is recorded' "$mtrec" -q -e page-faults -o go.mtr there/program
"$report" --info go.mtr >info
check '--info has the build id' grep -q 'build id go:\.\.cccccccccc*/0123456789ABCDEFGHIJ' info
check 'debuginfod would not be asked for it' sh -c '! grep -A2 "/program$" info | grep -q debuginfod'

# inlined OPTION...: true if the folded stacks have the inlined function.
inlined() {
	"$report" -q --folded "$@" go.mtr >folded
	grep -q ';main;outer;touch_inlined ' folded
}
check 'with the program present inlined calls have names' inlined
rm there/program
check 'without it functions have names' sh -c "'$report' -q --folded go.mtr | grep -q ';main;outer '"
check 'a file of the same build id has inlined calls' inlined --symfs same
"$report" -q --summary --symfs same go.mtr >summary
check '... and lines' grep -q 'touch_inlined .*program\.c' summary
check 'one of another has not' sh -c "'$report' -q --folded --symfs other go.mtr | grep -q ';main;outer '"
finish
